//! Answers that a query asks for, byte for byte but for their date.

use crate::helpers::{Client, Reply, TestOrigin};
use crate::http2::ask_over_http2;
use plan::{Origin, Site};
use std::time::{Duration, Instant};

fn start() -> TestOrigin {
    TestOrigin::start(Site::default(), Origin { haterm: true, ..Origin::default() })
}

/// The head without the line of its date, which must be there.
fn dateless(reply: &Reply) -> String {
    let lines: Vec<&str> = reply.head.split_inclusive("\r\n").collect();
    let kept: String = lines.iter().filter(|line| !line.starts_with("Date: ")).copied().collect();
    assert_eq!(kept.lines().count() + 1, lines.len(), "{}", reply.head);
    kept
}

/// haterm's lines: the last digit of each place, a point at each tenth, a line's end at each fiftieth.
fn lines(size: usize) -> Vec<u8> {
    let byte = |at: usize| match (at % 50, at % 10) {
        (49, _) => b'\n',
        (_, 0) => b'.',
        (_, digit) => b'0' + digit as u8,
    };
    (0..size).map(byte).collect()
}

#[test]
fn answers_are_what_the_query_asks_for() {
    let origin = start();
    for (request, head, body) in [
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", vec![]),
        (
            "GET /a?s=120&c=0 HTTP/1.1\r\nHost: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nCache-Control: no-cache\r\nContent-Length: 120\r\n\r\n",
            lines(120),
        ),
        (
            "GET /?s=20k HTTP/1.1\r\nHost: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 20480\r\n\r\n",
            lines(20_480),
        ),
        (
            "GET /?r=404&s=3 HTTP/1.1\r\nHost: x\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\n",
            lines(3),
        ),
        (
            "GET /?s=5&k=1 HTTP/1.1\r\nHost: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"11111".to_vec(),
        ),
        ("GET /?r=204 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n", vec![]),
        ("HEAD /?s=7 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", vec![]),
        (
            "POST /?s=2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
            lines(2),
        ),
    ] {
        let mut client = origin.connect();
        client.send(request);
        let reply = if request.contains("r=204") {
            Reply { status: 204, head: client.head(), body: Vec::new() }
        } else {
            client.reply(request.starts_with("HEAD"))
        };
        assert_eq!((dateless(&reply).as_str(), reply.body), (head, body), "{request}");
        client.stays_open();
    }
    let counts = origin.counts();
    assert_eq!((counts.requests, counts.full, counts.unstorable), (8, 8, 1));
}

#[test]
fn connections_close_or_stay_as_asked() {
    let origin = start();
    let kept = |client: &mut Client| client.stays_open();
    let closed = |client: &mut Client| assert!(client.rest().is_empty());
    let asked = |request: &str, line: &str| {
        let mut client = origin.connect();
        let reply = client.ask(request);
        assert_eq!(reply.field("Connection").unwrap_or(""), line, "{request}");
        client
    };
    closed(&mut asked("GET /?C=1 HTTP/1.1\r\nHost: x\r\n\r\n", "close"));
    closed(&mut asked("GET /?K=0 HTTP/1.1\r\nHost: x\r\n\r\n", "close"));
    kept(&mut asked("GET /?K=1 HTTP/1.1\r\nHost: x\r\n\r\n", ""));
    closed(&mut asked("GET / HTTP/1.0\r\n\r\n", "close"));
    kept(&mut asked("GET /?K=1 HTTP/1.0\r\n\r\n", "keep-alive"));
}

#[test]
fn noise_and_waiting() {
    let origin = start();
    let noise = origin.ask("GET /?s=4k&R=1 HTTP/1.1\r\nHost: x\r\n\r\n").body;
    assert!(noise.len() == 4096 && noise != lines(4096) && noise.iter().any(|byte| *byte > 127));
    let reply = origin.ask("GET /?s=4k&k=1&R=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(
        (reply.field("Transfer-Encoding"), &reply.body),
        (Some("chunked"), &noise),
        "the same noise in chunks"
    );
    let begun = Instant::now();
    origin.ask("GET /?t=60 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(begun.elapsed() >= Duration::from_millis(60));
}

#[test]
fn what_cannot_be_obeyed_is_refused_with_the_reason() {
    let origin = start();
    for (request, why) in [
        (
            "GET /?x=1 HTTP/1.1\r\nHost: x\r\n\r\n",
            "'x=1' is not known: there are s, r, c, C, K, t, k, R and A\n",
        ),
        (
            "GET /?s=1&k=1 HTTP/1.0\r\n\r\n",
            "k=1: HTTP/1.0 has no chunks (RFC 9112 section 6.1): ask over HTTP/1.1\n",
        ),
        ("GET /?r=304&s=1 HTTP/1.1\r\nHost: x\r\n\r\n", "s: an answer 204 or 304 has no content"),
        (
            "POST /?A=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na",
            "A=1: the content of a request is read before",
        ),
        (
            "GET /?K=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "K=1: the request says that its connection closes",
        ),
        ("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "The target has no path"),
    ] {
        let reply = origin.ask(request);
        let said = String::from_utf8(reply.body.clone()).unwrap();
        assert!(reply.status == 400 && said.starts_with(why), "{request}: {said}");
        assert_eq!(reply.field("Cache-Control"), Some("no-store"), "{request}");
    }
    assert_eq!(origin.counts().refused, 6);
    let help = origin.ask("GET /? HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(help.status == 200 && help.body.starts_with(b"Answers of wringer origin --haterm"), "{help:?}");
}

#[test]
fn http2_has_the_same_answers() {
    let origin = start();
    let paths = ["/?s=70", "/?s=4&k=1", "/?C=1", "/?r=503"].map(str::to_owned);
    let told = ask_over_http2(&origin, &paths);
    let close =
        b"C=1: over HTTP/2 and HTTP/3 other requests share the connection: ask over HTTP/1.1\n".to_vec();
    assert_eq!(told, [(200, lines(70)), (200, b"1111".to_vec()), (400, close), (503, Vec::new())]);
}
