//! The work of the hot path, again and again: `cargo xtask instructions` runs these under callgrind with two numbers of times,
//! and the difference is what one time costs. As tests they show that it is done as often as said, and right.

use crate::world::{Case, Server, phase, requests};
use measure::{CacheResult, Exchange, Outcome, Tally, TimeMetric};
use plan::answer::{Check, IsoForm, Must, Selector};
use plan::data::Data;
use plan::message::{Framing, Message, MessageService};
use plan::site::Size;
use plan::{MessageStep, ObjectStep, Origin, Pace, Popularity, Protocol, Request, RequestStep, Step};
use std::env;
use std::time::Duration;
use wire::http1::{Expect, Http1Limits, ResponseHead, ResponseReader, ResponseSink};

/// How often, where nobody says.
const TIMES: u64 = 100;

fn times() -> u64 {
    env::var("WRINGER_TIMES").ok().map_or(TIMES, |text| text.parse().expect("a number"))
}

#[derive(Default)]
struct Seen {
    heads: u64,
    body_bytes: u64,
}

impl ResponseSink for Seen {
    fn head(&mut self, head: &ResponseHead, _raw: &[u8]) {
        self.heads += u64::from(head.status == 200);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body_bytes += bytes.len() as u64;
    }
}

#[test]
fn parse() {
    let answer = b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 08:00:00 GMT\r\n\
        Content-Type: text/plain\r\nContent-Length: 100\r\nLast-Modified: Sat, 21 Nov 2026 07:00:00 GMT\r\n\
        Connection: keep-alive\r\nETag: \"6740c0f0-64\"\r\nAccept-Ranges: bytes\r\n\r\n";
    let answer = [&answer[..], &[b'x'; 100]].concat();
    let mut reader = ResponseReader::new(Http1Limits::default());
    let mut seen = Seen::default();
    for _ in 0..times() {
        reader.begin(Expect::Body);
        assert!(reader.read(&answer, &mut seen).expect("it is well-formed").done);
    }
    assert_eq!((seen.heads, seen.body_bytes), (times(), 100 * times()));
}

#[test]
fn record() {
    let mut tally = Tally::new();
    for number in 0..times() {
        let took = Duration::from_micros(100 + number % 1_000);
        tally.exchange(&Exchange {
            status: 200,
            cache: CacheResult::Hit,
            reused: true,
            service: took,
            response: took,
            first_byte: Some(took),
            sent_bytes: 100,
            head_bytes: 200,
            body_bytes: 1_000,
            ..Exchange::new(Outcome::Ok, Duration::from_micros(number))
        });
    }
    assert_eq!((tally.counts.ok, tally.metric(TimeMetric::Service).len()), (times(), times()));
}

/// All of it on both sides: drawing, composing, the worker, the origin, parsing, comparing each byte, recording. The
/// simulated network is in it, too.
#[test]
fn request() {
    let popularity = Popularity { hot: 100, one_timers: 0.0, ..Popularity::default() };
    let step = Step::Object(ObjectStep { popularity, ..ObjectStep::default() });
    let phases = vec![phase(step, Pace::Users(8), requests(times()))];
    let mut case = Case::new(phases, Server::Origin(Box::default()));
    case.site.size = Size::Fixed(1_000);
    let counts = case.run().counts();
    assert_eq!((counts.requests, counts.ok), (times(), times()));
}

/// The same for a request that is the same bytes each time, on its fast path.
#[test]
fn list() {
    let requests_of_list = vec![Request::get("http://peer:1/w/1/1000")].into();
    let step = Step::Requests(RequestStep { requests: requests_of_list, ..RequestStep::default() });
    let phases = vec![phase(step, Pace::Users(8), requests(times()))];
    let counts = Case::new(phases, Server::Origin(Box::default())).run().counts();
    assert_eq!((counts.requests, counts.ok), (times(), times()));
}

/// The same for TCP messages, each with a number and a time and a code in its answer.
#[test]
fn message() {
    let framing = Framing::parse("ascii:8").expect("a framing");
    let field = |name, source| Data::parse(name, source).expect("a source");
    let at = Selector::parse("fixed 1 2", IsoForm::default()).expect("a place");
    let step = MessageStep {
        framing: framing.clone(),
        messages: vec![Message::of(format!("PAY{{{{n}}}}{{{{t}}}}{}", "x".repeat(64)))],
        data: vec![field("n", "counter:1..99999999 as %08d"), field("t", "time:%Y%m%d%H%M%S%3f")],
        code: Some(Check::of(at, Must::BeOneOf(vec!["00".into()]))),
        ..MessageStep::default()
    };
    let service = MessageService { framing, ..MessageService::default() };
    let origin = Origin { messages: Some(service), ..Origin::default() };
    let phases = vec![phase(Step::Messages(step), Pace::Users(8), requests(times()))];
    let mut case = Case::new(phases, Server::Origin(Box::new(origin)));
    case.load.protocol = Protocol::Messages(Default::default());
    let counts = case.run().counts();
    assert_eq!((counts.requests, counts.ok), (times(), times()));
}
