//! TCP samplers → messages over TCP.

use super::control::Titled;
use super::http::Sampler;
use super::kinds::{Convert, ElementKind};
use super::scope::Scope;
use super::text::Converted;
use super::{Converter, config, control, http};
use crate::element::Element;
use plan::data::Number;
use plan::message::{Framing, LengthHead};
use plan::{Body, Request, RequestStep, Session, Step, Tcp};

/// Bytes of the longest answer: JMeter has no limit.
const LONGEST_ANSWER: u32 = 1 << 26;

/// The URL of messages whose place is a value of its own.
const NOWHERE: &str = "tcp://place.invalid:1";

/// How a class of JMeter's talks.
struct Talk {
    framing: Framing,
    answers: Framing,
    hex: bool,
}

pub(super) const KINDS: &[ElementKind] =
    &[ElementKind { class: "TCPSampler", convert: Convert::Sampler(tcp) }];

/// The steps of a TCP sampler: what its texts are computed of, and the message.
pub(super) fn tcp(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>, after: Vec<Step>) -> Vec<Step> {
    let sampler = Sampler::new(of, scope, "TCPConfigGui");
    let Some(talk) = talk(c, of, &sampler) else { return Vec::new() };
    let mut before = Vec::new();
    let mut data = Vec::new();
    let mut keep = |converted: Converted| {
        before.extend(converted.before);
        data.extend(converted.data);
    };
    let Some((url, place)) = tcp_place(c, of, &sampler, &mut keep) else { return Vec::new() };
    let text = c.text(of, sampler.text("TCPSampler.request"));
    let body = text.raw();
    keep(text);
    let Titled { before: titled, title } = control::title(c, of);
    before.extend(titled);
    let close = !sampler.flag("TCPSampler.reUseConnection", true)
        || sampler.flag("TCPSampler.closeConnection", false);
    let Talk { framing, answers, hex } = talk;
    let tcp = Tcp { framing, answers, hex, close, longest_answer: LONGEST_ANSWER };
    let request = Request {
        url,
        body: Body::from(body),
        name: control::label(c, of),
        title,
        place: place.map_or_else(Body::default, Body::from),
        tcp: Some(tcp),
        ..Request::get("http://x/")
    };
    let answer_within = http::note_limits(c, &sampler, "TCPSampler.ctimeout", "TCPSampler.timeout");
    if !matches!(sampler.text("TCPSampler.soLinger").trim(), "" | "-1") {
        c.different(of, "its linger time is not set: connections are closed as those of all samplers");
    }
    let requests = vec![request].into();
    before.push(Step::Requests(RequestStep {
        templates: true,
        after,
        keep_answer: c.looks_back,
        data,
        requests,
        session: Session { answer_within, ..Session::default() },
        ..RequestStep::default()
    }));
    before
}

/// The way it talks, by its class; `None`, which is listed, for classes of others.
fn talk(c: &mut Converter<'_>, of: &Element, sampler: &Sampler<'_>) -> Option<Talk> {
    let class = c.constant(of, sampler.text("TCPSampler.classname"), "its class")?;
    let eol = c.constant(of, sampler.text("TCPSampler.EolByte"), "its end of line")?;
    // What is no byte stands for none, as in JMeter.
    let eol = eol.trim().parse::<i16>().ok().filter(|byte| (-128..=127).contains(byte));
    let answers = match eol {
        Some(byte) => Framing::Delimiter(Body::from(vec![byte as u8])),
        None => Framing::Close,
    };
    if !sampler.text("TCPSampler.filename").trim().is_empty() {
        c.missing(of, "a message that is read from a file is not sent: put it into the element");
        return None;
    }
    let prefix = Framing::Length(LengthHead::only(Number::Binary(2)));
    match class.trim().rsplit('.').next().expect("a split has a part") {
        "" | "TCPClientImpl" => Some(Talk { framing: Framing::Raw, answers, hex: false }),
        "BinaryTCPClientImpl" => Some(Talk { framing: Framing::Raw, answers, hex: true }),
        "LengthPrefixedBinaryTCPClientImpl" => {
            Some(Talk { framing: prefix.clone(), answers: prefix, hex: true })
        }
        _ => {
            c.missing(of, format!("the class '{}' is not known: messages are text or binary", class.trim()));
            None
        }
    }
}

/// The URL, and what takes the place of host and port where those hold values; `None`, which is listed, where there is none.
fn tcp_place(
    c: &mut Converter<'_>,
    of: &Element,
    sampler: &Sampler<'_>,
    keep: &mut dyn FnMut(Converted),
) -> Option<(String, Option<String>)> {
    let mut part = |name: &str| {
        let written = sampler.text(name);
        match config::one_for_all(c, written) {
            Some(same) => c.text(of, &same),
            None => c.text(of, written),
        }
    };
    let host = part("TCPSampler.server");
    let port = part("TCPSampler.port");
    if let (Some(host), Some(port)) = (host.constant(), port.constant()) {
        let host = host.trim();
        let host =
            if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() };
        let url = format!("tcp://{host}:{}", port.trim());
        if plan::Address::parse_tcp(&url).is_none() {
            c.missing(of, format!("'{host}' and '{}' are no host and port to send to", port.trim()));
            return None;
        }
        return Some((url, None));
    }
    let place = format!("tcp://{}:{}", host.raw().trim(), port.raw().trim());
    [host, port].into_iter().for_each(keep);
    Some((NOWHERE.to_owned(), Some(place)))
}
