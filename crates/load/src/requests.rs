//! Requests that are described one by one, made ready: what is always the same is written once, before the first is sent.
//!
//! `message.rs` writes them, `checks.rs` holds their answers to what the plan wants.

mod checks;
mod coding;
mod message;

use crate::exchange::{Body, Place};
use crate::sign::Signer;
use checks::{Checks, Look};
use message::{Message, Writer};
use plan::data::{Moment, RowOrder, Source, Tables};
use plan::draw::Draw;
use plan::{Expect, ExpectBody, Http1, Request, RequestOrder, RequestStep};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use wire::http1::Expect as Framing;

/// Addresses of hosts, by name and port.
pub type Hosts = HashMap<(String, u16), Vec<SocketAddr>>;

/// The requests of a step.
pub(crate) struct Requests {
    list: Vec<Prepared>,
    /// Sums of the weights up to and including each request.
    weights: Vec<u64>,
    order: RequestOrder,
    seed: u64,
    /// Requests after which the rows of a file are used up.
    rows: Option<u64>,
}

/// What decides which request of a list is next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placing {
    /// Number of the request in the phase.
    pub number: u64,
    /// Number of the user in the phase.
    pub user: u64,
    /// How many users there are.
    pub of: u64,
    /// Turns that the user has had.
    pub turn: u64,
}

/// One request, as bytes.
pub(crate) struct Prepared {
    /// Where it goes; several addresses take turns.
    pub to: Vec<SocketAddr>,
    /// The host to begin TLS with; `None`: plain.
    pub secure: Option<String>,
    /// How its answer is framed.
    pub framing: Framing,
    /// What its answer must be.
    pub expect: Expect,
    /// Its place in the step's list.
    pub index: usize,
    /// The method.
    pub method: String,
    /// The URL, absolute.
    pub url: String,
    /// The last body that nobody looked at was long, so that the next one is worth draining.
    pub long: Cell<bool>,
    /// The first good answer, which the others must equal.
    pub model: RefCell<Option<Model>>,
    message: Message,
    checks: Rc<Checks>,
}

/// The first good answer to a request.
pub(crate) struct Model {
    pub length: u64,
    /// Empty where only the length must be the same.
    pub bytes: Vec<u8>,
}

impl Prepared {
    /// Where it goes.
    pub fn place(&self) -> Place<'_> {
        Place { to: &self.to, secure: self.secure.as_deref() }
    }

    /// Whether it is the same bytes each time, whatever the moment.
    pub fn is_fixed(&self) -> bool {
        self.message.is_fixed()
    }

    /// Appends the bytes to send. `last`: the connection ends with it.
    #[inline]
    pub fn write(&self, last: bool, at: &Moment, to: &mut Vec<u8>) {
        self.message.write(last, at, to);
    }
}

impl Requests {
    /// `target`: where all connections go; without addresses, they go to the host that each URL names. A URL that leads nowhere, or
    /// whose host is not known, is left out: the plan's check and whoever looks up the names refuse it before.
    pub fn new(
        step: &RequestStep,
        http: &Http1,
        target: Place<'_>,
        hosts: &Hosts,
        tables: &Tables,
        seed: u64,
    ) -> Requests {
        let signer = step.aws.as_ref().and_then(Signer::new).map(Rc::new);
        let writer = Writer { step, http, tables, seed, signer };
        let checks = Rc::new(Checks::new(&step.expect));
        let prepared = |(index, request): (usize, &Request)| {
            let (address, message) = writer.message(request)?;
            let (to, secure) = match target.to {
                [] => {
                    let host = address.host.clone();
                    (hosts.get(&(host.clone(), address.port))?.clone(), address.secure.then_some(host))
                }
                to => (to.to_vec(), target.secure.map(str::to_owned)),
            };
            Some(Prepared {
                to,
                secure,
                framing: if request.method == "HEAD" { Framing::NoBody } else { Framing::Body },
                expect: expectation(&step.expect, request),
                index,
                method: request.method.clone(),
                long: Cell::new(false),
                model: RefCell::new(None),
                message,
                checks: checks.clone(),
                url: if step.templates { request.url.clone() } else { address.text },
            })
        };
        let list: Vec<Prepared> = step.requests.iter().enumerate().filter_map(prepared).collect();
        let mut heaviest = 0;
        let weights = list.iter().map(|prepared| {
            heaviest += u64::from(step.requests[prepared.index].weight);
            heaviest
        });
        let rows = rows(step, tables);
        Requests { weights: weights.collect(), list, order: step.order, seed, rows }
    }

    /// Requests of the phase after which the rows of a file that are sent once are used up.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// The request whose turn it is.
    pub fn at(&self, place: Placing) -> &Prepared {
        let count = self.list.len() as u64;
        let index = match self.order {
            _ if count == 1 => 0,
            RequestOrder::Loop => place.number % count,
            RequestOrder::Random => Draw::new(self.seed, place.number).below(count),
            RequestOrder::Weighted => {
                let sum = self.weights.last().copied().unwrap_or(0).max(1);
                let drawn = Draw::new(self.seed, place.number).below(sum);
                self.weights.partition_point(|upto| *upto <= drawn) as u64
            }
            RequestOrder::PerUser => (place.user * (count / place.of.max(1)) + place.turn) % count,
        };
        &self.list[index as usize]
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// What is expected of a request's answers, which may have statuses of its own.
fn expectation(common: &Expect, request: &Request) -> Expect {
    let mut expect = common.clone();
    if !request.statuses.is_empty() {
        expect.statuses.clone_from(&request.statuses);
    }
    expect
}

fn rows(step: &RequestStep, tables: &Tables) -> Option<u64> {
    let once = step.data.iter().filter_map(|data| match &data.source {
        Source::File { file, order: RowOrder::Once } => tables.get(file),
        _ => None,
    });
    once.map(|table| table.rows() as u64).min()
}

/// Reads one answer to a prepared request.
pub(crate) struct Answer<'a> {
    prepared: &'a Prepared,
    pub status: u16,
    pub version: Option<wire::http1::Version>,
    pub keep_alive: bool,
    pub head_bytes: u64,
    pub body_bytes: u64,
    /// The first byte that differs from the model's.
    pub differs_at: Option<u64>,
    /// The body, where it may become the model.
    gathered: Option<Vec<u8>>,
    /// Looks at header fields and content, where the plan has checks of them.
    look: Option<Look<'a>>,
    /// What a look has found, in a sentence.
    found: Option<String>,
    kept_head: Option<&'a mut Vec<u8>>,
}

impl<'a> Answer<'a> {
    /// `kept_head`: where the head is copied to, if somebody may want to see it.
    pub fn new(prepared: &'a Prepared, kept_head: Option<&'a mut Vec<u8>>) -> Answer<'a> {
        let gathers = prepared.expect.body == ExpectBody::Same && prepared.model.borrow().is_none();
        Answer {
            prepared,
            status: 0,
            version: None,
            keep_alive: false,
            head_bytes: 0,
            body_bytes: 0,
            differs_at: None,
            gathered: gathers.then(Vec::new),
            look: prepared.checks.look(),
            found: None,
            kept_head,
        }
    }

    fn is_good(&self) -> bool {
        self.prepared.expect.takes(self.status)
    }

    /// To be called when the answer is complete by its own framing: says what is wrong with its length or bytes.
    pub fn complete(&mut self) -> Option<measure::Fault> {
        self.prepared.long.set(!self.wants_body() && self.body_bytes >= LONG);
        if !self.is_good() {
            return None;
        }
        if let Some(look) = &mut self.look {
            let has_none = self.prepared.framing == Framing::NoBody || matches!(self.status, 204 | 304);
            if let Some((fault, found)) = look.complete((!has_none).then_some(self.body_bytes)) {
                self.found = Some(found);
                return Some(fault);
            }
        }
        if self.prepared.expect.body == ExpectBody::Complete {
            return None;
        }
        let mut model = self.prepared.model.borrow_mut();
        let first = model.get_or_insert_with(|| Model {
            length: self.body_bytes,
            bytes: self.gathered.take().unwrap_or_default(),
        });
        // Users that began before there was a first answer have gathered theirs.
        let gathered = self.gathered.take().filter(|gathered| !gathered.is_empty());
        let differs_at = gathered.and_then(|gathered| difference(&first.bytes, 0, &gathered));
        self.differs_at = self.differs_at.or(differs_at);
        match self.differs_at {
            Some(_) => Some(measure::Fault::WrongBytes),
            None if first.length != self.body_bytes => Some(measure::Fault::WrongLength),
            None => None,
        }
    }

    /// What was expected and what came, in a sentence.
    pub fn detail(&self) -> String {
        if let Some(found) = &self.found {
            return found.clone();
        }
        let model = self.prepared.model.borrow();
        let length = model.as_ref().map_or(0, |model| model.length);
        match self.differs_at {
            Some(at) => format!("byte {at} differs from that of the first answer"),
            None => format!("the body has {} bytes, the first answer's had {length}", self.body_bytes),
        }
    }
}

/// A body at least this long is worth a system call of its own that drains it, in bytes.
const LONG: u64 = 4 * 1024;

impl Body for Answer<'_> {
    fn wants_body(&self) -> bool {
        let looks = || self.look.as_ref().is_some_and(Look::wants_body);
        (self.prepared.expect.body == ExpectBody::Same || looks()) && self.is_good()
    }

    fn skipped(&mut self, count: u64) {
        self.body_bytes += count;
    }
}

impl wire::http1::ResponseSink for Answer<'_> {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        if let Some(look) = &mut self.look {
            look.field(name, value);
        }
    }

    fn head(&mut self, head: &wire::http1::ResponseHead, raw: &[u8]) {
        self.status = head.status;
        self.version = Some(head.version);
        self.keep_alive = head.keep_alive;
        self.head_bytes = raw.len() as u64;
        if let Some(kept) = &mut self.kept_head {
            kept.clear();
            kept.extend_from_slice(raw);
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        let offset = self.body_bytes;
        self.body_bytes += bytes.len() as u64;
        if !self.is_good() || self.differs_at.is_some() {
            return;
        }
        if let Some(look) = &mut self.look {
            look.body(bytes);
        }
        if let Some(gathered) = &mut self.gathered {
            gathered.extend_from_slice(bytes);
        } else if self.prepared.expect.body == ExpectBody::Same
            && let Some(model) = self.prepared.model.borrow().as_ref()
        {
            self.differs_at = difference(&model.bytes, offset, bytes);
        }
    }
}

/// The offset of the first of `bytes`, standing at `offset`, that differs from the model's; a longer body is a matter of
/// its length.
fn difference(model: &[u8], offset: u64, bytes: &[u8]) -> Option<u64> {
    let rest = model.get(offset as usize..).unwrap_or_default();
    let common = rest.len().min(bytes.len());
    if rest[..common] == bytes[..common] {
        return None;
    }
    let at = rest.iter().zip(bytes).position(|(left, right)| left != right)?;
    Some(offset + at as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Field;
    use plan::RequestForm;
    use plan::data::{Data, Table};
    use std::sync::Arc;
    use wire::http1::ResponseSink;

    fn step(requests: Vec<Request>, body: ExpectBody) -> RequestStep {
        RequestStep { requests, expect: Expect { body, ..Expect::default() }, ..RequestStep::default() }
    }

    fn nth(number: u64) -> Placing {
        Placing { number, user: 0, of: 1, turn: number }
    }

    fn plain(to: &[SocketAddr]) -> Place<'_> {
        Place { to, secure: None }
    }

    fn requests(step: &RequestStep) -> Requests {
        let target = ["127.0.0.1:80".parse().unwrap()];
        Requests::new(step, &Http1::default(), plain(&target), &Hosts::new(), &Tables::new(), 1)
    }

    /// What is sent, by user 5 at 3 s after 1970.
    fn written(requests: &Requests, number: u64, last: bool) -> String {
        let mut bytes = Vec::new();
        requests.at(nth(number)).write(last, &Moment { number, user: 5, unix_us: 3_000_000 }, &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn messages_are_written_once_and_say_when_they_are_the_last() {
        let agent = Field { name: "X-A".to_owned(), value: "b".to_owned() };
        let get = Request { fields: vec![agent], ..Request::get("http://h:8/p?q") };
        let post = Request { method: "POST".to_owned(), body: "x=1".into(), ..Request::get("http://h/") };
        let requests = requests(&step(vec![get, post], ExpectBody::Complete));
        let text = |number, last| written(&requests, number, last);
        assert_eq!(text(0, false), "GET /p?q HTTP/1.1\r\nHost: h:8\r\nX-A: b\r\n\r\n");
        assert_eq!(
            text(1, true),
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\n\r\nx=1"
        );
        assert_eq!(text(2, false), text(0, false));
    }

    #[test]
    fn bare_requests_carry_what_is_listed_and_nothing_else() {
        let field = |name: &str| Field { name: name.to_owned(), value: "1".to_owned() };
        let post = Request {
            method: "POST".to_owned(),
            body: "x".into(),
            fields: vec![field("B"), field("A")],
            ..Request::get("http://h/p")
        };
        let http = Http1 { bare: true, version: plan::HttpVersion::OneZero, ..Http1::default() };
        let to = ["127.0.0.1:80".parse().unwrap()];
        let requests = Requests::new(
            &step(vec![post], ExpectBody::Complete),
            &http,
            plain(&to),
            &Hosts::new(),
            &Tables::new(),
            1,
        );
        for last in [false, true] {
            assert_eq!(written(&requests, 0, last), "POST /p HTTP/1.0\r\nB: 1\r\nA: 1\r\n\r\nx");
        }
    }

    #[test]
    fn templates_are_filled_and_counted() {
        let csv = Table::from_csv("name,mail\nAda L,ada@x\nB&b,b@y\n").unwrap();
        let tables = Tables::from([("u.csv".to_owned(), Arc::new(csv))]);
        let file = Source::File { file: "u.csv".to_owned(), order: RowOrder::Once };
        let field = Field { name: "X-{{a}}".to_owned(), value: "{{user}} {{time}}".to_owned() };
        let request = Request {
            method: "POST".to_owned(),
            fields: vec![field],
            body: r#"{"to":"{{u.mail|json}}","n":{{int:1..9}}} {{int:1..9}} \{{"#.into(),
            ..Request::get("http://h/{{u.name}}?n={{request}}")
        };
        let step = RequestStep {
            templates: true,
            data: vec![Data { name: "u".to_owned(), source: file }],
            ..step(vec![request], ExpectBody::Complete)
        };
        let to = ["127.0.0.1:80".parse().unwrap()];
        let requests = Requests::new(&step, &Http1::default(), plain(&to), &Hosts::new(), &tables, 1);
        assert_eq!(requests.rows(), Some(2));
        assert!(!requests.at(nth(0)).is_fixed());
        let first = written(&requests, 0, true);
        let (head, body) = first.split_once("\r\n\r\n").unwrap();
        assert_eq!(
            head,
            format!(
                "POST /Ada%20L?n=0 HTTP/1.1\r\nHost: h\r\nX-{{{{a}}}}: 5 3\r\nContent-Length: {}\r\nConnection: close",
                body.len()
            )
        );
        let drawn = body.split_once("\"n\":").unwrap().1.as_bytes();
        assert!(body.starts_with(r#"{"to":"ada@x","n":"#) && body.ends_with(" {{"), "{body}");
        assert_eq!(drawn[0], drawn[3], "one name, one value: {body}");
        assert!(written(&requests, 1, false).starts_with("POST /B%26b?n=1 "));
        assert_eq!(written(&requests, 0, true), first);
    }

    #[test]
    fn filling_a_template_allocates_nothing_once_its_buffers_have_grown() {
        let request = Request {
            body: "{{uuid}}{{text:100}}{{int:1..5}}{{time:rfc3339}}{{time:http}}".into(),
            ..Request::get("http://h/{{counter}}/{{user}}?{{uuid}}")
        };
        let step = RequestStep { templates: true, ..step(vec![request], ExpectBody::Complete) };
        let requests = requests(&step);
        let mut buffer = Vec::with_capacity(4096);
        let mut fill = |number| {
            buffer.clear();
            let at = Moment { number, user: number, unix_us: number };
            requests.at(nth(number)).write(false, &at, &mut buffer);
        };
        fill(u64::MAX / 2);
        let counted = allocation_counter::measure(|| (0..1000).for_each(&mut fill));
        assert_eq!(counted.count_total, 0);
    }

    #[test]
    fn statuses_of_a_request_replace_those_of_all() {
        let mut step = step(vec![Request::get("http://h/"), Request::get("http://h/")], ExpectBody::Complete);
        step.expect.statuses = vec![200];
        step.requests[1].statuses = vec![404];
        let requests = requests(&step);
        let takes = |number| [200, 404].map(|status| requests.at(nth(number)).expect.takes(status));
        assert_eq!([takes(0), takes(1)], [[true, false], [false, true]]);
    }

    #[test]
    fn orders_of_a_list() {
        let list = |order, weights: &[u32]| {
            let request = |weight: &u32| Request { weight: *weight, ..Request::get("http://h/") };
            let step =
                RequestStep { order, ..step(weights.iter().map(request).collect(), ExpectBody::Complete) };
            requests(&step)
        };
        let drawn = list(RequestOrder::Weighted, &[3, 0, 1]);
        let mut seen = [0.0; 3];
        (0..10_000).for_each(|number| seen[drawn.at(nth(number)).index] += 1e-4);
        assert!((seen[0] - 0.75_f64).abs() < 0.02 && seen[1] == 0.0, "{seen:?}");
        let walked = list(RequestOrder::PerUser, &[1; 7]);
        let of_user = |user| [0, 1, 5].map(|turn| walked.at(Placing { number: 9, user, of: 3, turn }).index);
        assert_eq!([of_user(0), of_user(1), of_user(2)], [[0, 1, 5], [2, 3, 0], [4, 5, 2]]);
        let more_users = Placing { number: 9, user: 8, of: 20, turn: 3 };
        assert_eq!(walked.at(more_users).index, 3);
    }

    #[test]
    fn a_host_field_of_the_users_own_stands_alone_and_proxies_get_whole_urls() {
        let host = Field { name: "host".to_owned(), value: "other".to_owned() };
        let http = Http1 { fields: vec![host], form: RequestForm::Forward, ..Http1::default() };
        let step = step(vec![Request::get("http://h:8/p")], ExpectBody::Complete);
        let requests = Requests::new(
            &step,
            &http,
            plain(&["127.0.0.1:80".parse().unwrap()]),
            &Hosts::new(),
            &Tables::new(),
            1,
        );
        assert_eq!(written(&requests, 0, false), "GET http://h:8/p HTTP/1.1\r\nhost: other\r\n\r\n");
    }

    #[test]
    fn hosts_that_are_not_known_are_left_out() {
        let step = step(vec![Request::get("http://h/"), Request::get("http://i/")], ExpectBody::Complete);
        let hosts = Hosts::from([(("i".to_owned(), 80), vec!["127.0.0.2:80".parse().unwrap()])]);
        let requests = Requests::new(&step, &Http1::default(), plain(&[]), &hosts, &Tables::new(), 1);
        assert_eq!(requests.list.len(), 1);
        assert_eq!(requests.at(nth(5)).to, ["127.0.0.2:80".parse().unwrap()]);
    }

    #[test]
    fn https_urls_begin_tls_with_their_host() {
        let step = step(vec![Request::get("https://h/"), Request::get("http://h/")], ExpectBody::Complete);
        let at = |port| (("h".to_owned(), port), vec![SocketAddr::from(([127, 0, 0, 1], port))]);
        let hosts = Hosts::from([at(80), at(443)]);
        let requests = Requests::new(&step, &Http1::default(), plain(&[]), &hosts, &Tables::new(), 1);
        let seen = [0, 1].map(|number| {
            (requests.at(nth(number)).to[0].port(), requests.at(nth(number)).secure.as_deref())
        });
        assert_eq!(seen, [(443, Some("h")), (80, None)]);
    }

    /// What the second answer is found to be after a first one.
    fn second(expect: ExpectBody, first: &[u8], second: &[u8]) -> (Option<measure::Fault>, String) {
        let requests = requests(&step(vec![Request::get("http://h/")], expect));
        let mut found = (None, String::new());
        for body in [first, second] {
            let mut answer = Answer::new(requests.at(nth(0)), None);
            answer.status = 200;
            body.chunks(2).for_each(|piece| answer.body(piece));
            found = (answer.complete(), answer.detail());
        }
        found
    }

    #[test]
    fn answers_are_compared_with_the_first() {
        use measure::Fault::{WrongBytes, WrongLength};
        for (expect, body, fault) in [
            (ExpectBody::Complete, "other", None),
            (ExpectBody::SameLength, "12346", None),
            (ExpectBody::SameLength, "1234", Some(WrongLength)),
            (ExpectBody::Same, "12345", None),
            (ExpectBody::Same, "12346", Some(WrongBytes)),
            (ExpectBody::Same, "1234", Some(WrongLength)),
            (ExpectBody::Same, "123456", Some(WrongLength)),
        ] {
            assert_eq!(second(expect, b"12345", body.as_bytes()).0, fault, "{expect:?} {body}");
        }
        assert_eq!(
            second(ExpectBody::Same, b"12345", b"12x45").1,
            "byte 2 differs from that of the first answer"
        );
    }
}
