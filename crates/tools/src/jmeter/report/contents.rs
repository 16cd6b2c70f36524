//! A request and its answer in a results file of XML: headers, bodies, method and cookies, as JMeter writes them.

use super::{JmeterKind, Sample};
use encoding_rs::{Encoding, UTF_8};
use measure::Contents;
use std::fmt::Write;

/// Parts of a request and its answer that are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WantedContents {
    /// Header fields of the answer.
    pub response_headers: bool,
    /// Header fields of the request.
    pub request_headers: bool,
    /// The answer's body.
    pub response_data: bool,
    /// The answer's body, of samples that failed.
    pub response_data_on_error: bool,
    /// Method, cookies and body of the request.
    pub sampler_data: bool,
}

impl WantedContents {
    /// By the properties of a command line. `flag`: one of them, and its value without one.
    pub fn of(flag: &dyn Fn(&str, bool) -> bool) -> WantedContents {
        WantedContents {
            response_headers: flag("responseHeaders", false),
            request_headers: flag("requestHeaders", false),
            response_data: flag("response_data", false),
            response_data_on_error: flag("response_data.on_error", false),
            sampler_data: flag("samplerData", false),
        }
    }

    /// The requests whose bytes are needed for it.
    pub fn contents(self) -> plan::load::KeptContents {
        let WantedContents { response_headers, request_headers, response_data, sampler_data, .. } = self;
        match response_headers || request_headers || response_data || sampler_data {
            true => plan::load::KeptContents::All,
            false if self.response_data_on_error => plan::load::KeptContents::Failures,
            false => plan::load::KeptContents::Nothing,
        }
    }

    /// Appends the elements of a sample.
    pub fn write(self, sample: &Sample, to: &mut String) {
        let nothing = Contents::default();
        let contents = sample.contents.as_deref().unwrap_or(&nothing);
        if self.response_headers {
            element("responseHeader", &fields(&contents.head, true), to);
        }
        let (head, body) = parted(&contents.request, sample.kind);
        let sent = fields(head, false);
        if self.request_headers {
            let own = |line: &&str| !is_cookie(line);
            element("requestHeader", &sent.split_inclusive('\n').filter(own).collect::<String>(), to);
        }
        if self.response_data || self.response_data_on_error && !sample.success {
            element("responseData", &answer(sample, contents), to);
        }
        if self.sampler_data {
            sampler_data(sample, contents, &sent, body, to);
        }
    }
}

fn sampler_data(sample: &Sample, contents: &Contents, sent: &str, body: &[u8], to: &mut String) {
    let body = String::from_utf8_lossy(body);
    match sample.kind {
        JmeterKind::Transaction { .. } => {}
        JmeterKind::Script if body.is_empty() => {}
        JmeterKind::Script => element("samplerData", &body, to),
        JmeterKind::Http => {
            let cookies = sent.lines().find(|line| is_cookie(line)).and_then(|line| line.split_once(": "));
            element("cookies", cookies.map_or("", |(_, value)| value), to);
            let method = contents.request.split(|byte| *byte == b' ').next().unwrap_or(&[]);
            element("method", &String::from_utf8_lossy(method), to);
            element("queryString", &body, to);
            let leads_to =
                sample.parts.iter().rev().chain([sample]).filter_map(|sample| sample.contents.as_ref());
            if let Some(place) = leads_to.filter_map(|contents| field(&contents.head, "location")).next() {
                element("redirectLocation", &place, to);
            }
        }
    }
}

/// Text between the tags of `responseData`.
fn answer(sample: &Sample, contents: &Contents) -> String {
    let is_nothing = contents.head.is_empty() && contents.body.is_empty();
    if sample.kind == JmeterKind::Http && (is_nothing || has_broken_off(sample)) {
        let class = sample.code.trim_start_matches("Non HTTP response code: ");
        return format!("{class}: {}", sample.message.trim_start_matches("Non HTTP response message: "));
    }
    match data_type(sample) {
        "text" => text(&contents.head, &contents.body),
        other => format!("Non-TEXT response data, cannot record: ({other})"),
    }
}

/// True if there is no whole answer, but an exception of Java's.
fn has_broken_off(sample: &Sample) -> bool {
    sample.code.starts_with("Non HTTP response code: ")
}

/// The body by the encoding that its head names.
fn text(head: &[u8], body: &[u8]) -> String {
    let named = charset(head).and_then(|name| Encoding::for_label(name.as_bytes()));
    named.unwrap_or(UTF_8).decode_without_bom_handling(body).0.into_owned()
}

/// The kind of an answer, as JMeter tells it by its media type; where the answer was not kept, it is taken for text.
pub(super) fn data_type(sample: &Sample) -> &'static str {
    let Some(contents) = sample.contents.as_deref().filter(|contents| contents.has_bytes) else {
        return if matches!(sample.kind, JmeterKind::Transaction { .. }) { "" } else { "text" };
    };
    let is_answer = sample.kind == JmeterKind::Http && !contents.head.is_empty() && !has_broken_off(sample);
    match field(&contents.head, "content-type") {
        None if is_answer => "",
        None => "text",
        Some(media) => {
            let binary = ["image/", "audio/", "video/"].iter().any(|kind| media.starts_with(kind));
            let list = ["audio/x-mpegurl", "audio/mpegurl", "video/f4m"].contains(&media.as_str());
            if binary && !list { "bin" } else { "text" }
        }
    }
}

/// The encoding of an answer, where its head names one.
pub(super) fn encoding(sample: &Sample) -> Option<String> {
    charset(&sample.contents.as_deref()?.head)
}

fn charset(head: &[u8]) -> Option<String> {
    let media = field(head, "content-type")?;
    let (_, behind) = media.split_once("charset=")?;
    let name = behind.split(';').next().unwrap_or(behind).trim().trim_matches(['"', '\'']);
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

/// The first value of a field.
fn field(head: &[u8], name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    Some(value.trim().to_owned())
}

/// A request's head and body; what a program says that it sent has no head.
fn parted(request: &[u8], kind: JmeterKind) -> (&[u8], &[u8]) {
    const END: &[u8] = b"\r\n\r\n";
    if kind != JmeterKind::Http {
        return (&[], request);
    }
    match request.windows(END.len()).position(|window| window == END) {
        Some(end) => (&request[..end], &request[end + END.len()..]),
        None => (request, &[]),
    }
}

/// Lines of a head, without the first where that is a request's.
fn fields(head: &[u8], with_first: bool) -> String {
    let text = String::from_utf8_lossy(head);
    let lines = text.lines().skip(usize::from(!with_first)).filter(|line| !line.is_empty());
    lines.fold(String::new(), |mut all, line| {
        all.push_str(line);
        all.push('\n');
        all
    })
}

fn is_cookie(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, _)| name.eq_ignore_ascii_case("cookie"))
}

fn element(name: &str, text: &str, to: &mut String) {
    let _ = write!(to, "  <{name} class=\"java.lang.String\">");
    for one in text.chars() {
        match one {
            '&' => to.push_str("&amp;"),
            '<' => to.push_str("&lt;"),
            '>' => to.push_str("&gt;"),
            '"' => to.push_str("&quot;"),
            '\'' => to.push_str("&apos;"),
            '\n' | '\t' => to.push(one),
            one if one.is_control() => {
                let _ = write!(to, "&#x{:x};", u32::from(one));
            }
            one => to.push(one),
        }
    }
    let _ = writeln!(to, "</{name}>");
}
