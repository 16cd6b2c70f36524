//! The origin over HTTP/2: the same truth, many requests at once.

use crate::helpers::TestOrigin;
use plan::site::Stamp;
use plan::{Delay, Origin, Site};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use wire::http2::{Client, ClientSink, Code, Http2End, Http2Limits, Indexing, Template};

#[derive(Debug, Default)]
struct Answer {
    status: u16,
    fields: BTreeMap<String, String>,
    body: Vec<u8>,
    end: Option<Http2End>,
}

#[derive(Debug, Default)]
struct Answers(BTreeMap<u64, Answer>);

impl Answers {
    fn of(&mut self, request: u64) -> &mut Answer {
        self.0.entry(request).or_default()
    }
}

impl ClientSink for Answers {
    fn field(&mut self, request: u64, name: &[u8], value: &[u8]) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.of(request).fields.insert(text(name), text(value));
    }
    fn head(&mut self, request: u64, status: u16, _content_length: Option<u64>, _bytes: usize) {
        self.of(request).status = status;
    }
    fn body(&mut self, request: u64, bytes: &[u8]) {
        self.of(request).body.extend_from_slice(bytes);
    }
    fn ended(&mut self, request: u64, end: Http2End) {
        self.of(request).end = Some(end);
    }
}

/// Status and content of the answers to GET, in the order of their paths.
pub fn ask_over_http2(origin: &TestOrigin, paths: &[String]) -> Vec<(u16, Vec<u8>)> {
    let (answers, _) = ask(origin, "GET", paths);
    answers.0.into_values().map(|answer| (answer.status, answer.body)).collect()
}

/// Asks for all paths at once over one connection, and waits until each has ended or the connection has.
fn ask(origin: &TestOrigin, method: &str, paths: &[String]) -> (Answers, Client) {
    let mut stream = origin.connect().stream;
    let (mut client, mut answers, mut out) =
        (Client::new(Http2Limits::default()), Answers::default(), Vec::new());
    client.open(&mut out);
    for (number, path) in paths.iter().enumerate() {
        let nonce = format!("{:x}", 0xC0FFEE + number);
        let fields = [
            (":method", method),
            (":scheme", "http"),
            (":path", path),
            (":authority", "origin"),
            ("wringer-request", nonce.as_str()),
        ];
        let fields =
            fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes(), Indexing::Literal));
        client.request(number as u64, &mut Template::default(), fields, None, &mut out);
    }
    let mut buffer = vec![0; 65_536];
    while client.under_way() > 0 {
        stream.write_all(&out).unwrap();
        out.clear();
        let length = stream.read(&mut buffer).unwrap();
        if length == 0 {
            break;
        }
        client.read(&buffer[..length], &mut answers, &mut out).unwrap();
    }
    (answers, client)
}

fn paths(count: u64, size: u64) -> Vec<String> {
    (0..count).map(|object| format!("/w/{object:x}/{size}")).collect()
}

#[test]
fn many_requests_at_once_each_get_their_own_answer() {
    let origin = TestOrigin::native();
    let (answers, _) = ask(&origin, "GET", &paths(100, 3000));
    for (number, answer) in &answers.0 {
        assert_eq!(
            (answer.status, answer.body.len(), answer.end),
            (200, 3000, Some(Http2End::Whole)),
            "{number}"
        );
        assert!(answer.body.starts_with(format!("wringer {number:x} 0 0 3000\n").as_bytes()), "{number}");
        assert_eq!(answer.fields["etag"], format!("\"{number:x}-0-0\""));
        assert_eq!(Stamp::read(answer.fields["wringer"].as_bytes()).unwrap().asked_by, 0xC0FFEE + number);
    }
    let counts = origin.counts();
    assert_eq!(
        (counts.http2_connections, counts.http2_requests, counts.requests, counts.full),
        (1, 100, 100, 100)
    );
    assert_eq!(counts.body_bytes, 300_000);
}

#[test]
fn large_answers_share_the_connection() {
    let origin = TestOrigin::native();
    let (answers, client) = ask(&origin, "GET", &paths(5, 2_000_000));
    assert!(
        answers
            .0
            .values()
            .all(|answer| answer.body.len() == 2_000_000 && answer.end == Some(Http2End::Whole))
    );
    assert_eq!(client.counts().data_bytes, 10_000_000);
}

#[test]
fn heads_refusals_and_questions() {
    let origin = TestOrigin::native();
    let (answers, _) = ask(&origin, "HEAD", &paths(1, 500));
    assert_eq!((answers.0[&0].status, answers.0[&0].body.len()), (200, 0));
    assert_eq!(answers.0[&0].fields["content-length"], "500");
    let (answers, _) = ask(&origin, "PURGE", &paths(1, 500));
    let refused = (answers.0[&0].status, answers.0[&0].fields["allow"].as_str());
    assert_eq!(refused, (405, "GET, HEAD, POST, PUT, PATCH, DELETE"));
    let (answers, _) = ask(&origin, "GET", &["/nowhere".to_owned(), "/.wringer/accounts".to_owned()]);
    assert_eq!(answers.0[&0].status, 404);
    let accounts = String::from_utf8_lossy(&answers.0[&1].body).into_owned();
    assert!(accounts.contains("\"http2_requests\": 3"), "{accounts}");
}

#[test]
fn answers_that_are_held_back_do_not_hold_back_others() {
    let behaviour = Origin { delay: Delay::Fixed { delay: Duration::from_millis(200) }, ..Origin::default() };
    let origin = TestOrigin::start(Site::default(), behaviour);
    let began = Instant::now();
    let (answers, _) = ask(&origin, "GET", &paths(50, 100));
    assert!(answers.0.values().all(|answer| answer.end == Some(Http2End::Whole)));
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(200) && took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn what_is_cut_is_reset() {
    let origin = TestOrigin::start(Site::default(), Origin { aborts: 1.0, ..Origin::default() });
    let (answers, _) = ask(&origin, "GET", &paths(20, 10_000));
    for answer in answers.0.values() {
        assert_eq!(answer.end, Some(Http2End::Reset(Code::INTERNAL_ERROR)));
        assert!(answer.body.len() < 10_000 && answer.fields["content-length"] == "10000");
    }
    assert_eq!(origin.counts().cut, 20);
}

#[test]
fn content_has_its_speed() {
    let origin =
        TestOrigin::start(Site::default(), Origin { bytes_per_second: Some(100_000), ..Origin::default() });
    let began = Instant::now();
    let (answers, _) = ask(&origin, "GET", &paths(2, 20_000));
    assert!(
        answers.0.values().all(|answer| answer.body.len() == 20_000 && answer.end == Some(Http2End::Whole))
    );
    assert!(began.elapsed() >= Duration::from_millis(190), "{:?}", began.elapsed());
}

#[test]
fn a_connection_that_had_its_requests_is_left_in_order() {
    let origin =
        TestOrigin::start(Site::default(), Origin { requests_per_connection: Some(3), ..Origin::default() });
    let (answers, client) = ask(&origin, "GET", &paths(3, 100));
    assert!(answers.0.values().all(|answer| answer.end == Some(Http2End::Whole)));
    assert_eq!(client.goaway().map(|goaway| (goaway.code, goaway.last)), Some((Code::NO_ERROR, 5)));
}

#[test]
fn one_port_speaks_both_and_a_preface_may_come_in_pieces() {
    let origin = TestOrigin::native();
    assert_eq!(origin.ask("GET /w/1/5 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").status, 200);
    assert_eq!(origin.ask("PRIVATE /w/1/5 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").status, 405);
    let mut stream = origin.connect().stream;
    for byte in wire::http2::PREFACE.iter().chain(&[0, 0, 0, 4, 0, 0, 0, 0, 0]) {
        stream.write_all(&[*byte]).unwrap();
        stream.flush().unwrap();
    }
    let mut first = [0; 4];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(first[3], 4, "SETTINGS");
}
