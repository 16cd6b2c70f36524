//! Requests: text in, events out. Each text is also read cut at every place.

use crate::recorder::{self, Recorder};
use wire::http1::{Breach, EMPTY_LINES_LIMIT, Http1Limits, Http1Stage, RequestReader};

#[track_caller]
fn check(input: &str, expected: &str) {
    recorder::check(|| RequestReader::new(Http1Limits::default()), input.as_bytes(), expected);
}

/// A request line with nothing else.
#[track_caller]
fn check_line(line: &str, expected: &str) {
    check(&format!("{line}\r\n\r\n"), &format!("{expected}\ndone"));
}

#[test]
fn four_forms_of_target() {
    check_line("GET / HTTP/1.1", "head GET origin / 1.1 none keep");
    check_line("GET /a?b=c HTTP/1.0", "head GET origin /a?b=c 1.0 none close");
    check_line("GET //a HTTP/1.1", "head GET origin //a 1.1 none keep");
    check_line("GET http://h:80/a?b HTTP/1.1", "head GET absolute http h:80 /a?b 1.1 none keep");
    check_line("GET http://h HTTP/1.1", "head GET absolute http h / 1.1 none keep");
    check_line("GET http://h?b HTTP/1.1", "head GET absolute http h ?b 1.1 none keep");
    check_line("GET HTTPS://[::1]:1/ HTTP/1.1", "head GET absolute HTTPS [::1]:1 / 1.1 none keep");
    check_line("OPTIONS * HTTP/1.1", "head OPTIONS asterisk 1.1 none keep");
    check_line("CONNECT h:443 HTTP/1.1", "head CONNECT authority h:443 1.1 none keep");
    check_line("CONNECT [::1]:443 HTTP/1.1", "head CONNECT authority [::1]:443 1.1 none keep");
}

#[test]
fn malformed_targets() {
    let lines = [
        "GET * HTTP/1.1",
        "GET a HTTP/1.1",
        "GET h:80 HTTP/1.1",
        "GET http:/h HTTP/1.1",
        "GET http:///a HTTP/1.1",
        "GET 1http://h/ HTTP/1.1",
        "GET ://h/ HTTP/1.1",
        "CONNECT / HTTP/1.1",
        "CONNECT h HTTP/1.1",
        "CONNECT h: HTTP/1.1",
        "CONNECT :80 HTTP/1.1",
        "CONNECT h:80/ HTTP/1.1",
        "CONNECT http://h:80 HTTP/1.1",
        "OPTIONS ** HTTP/1.1",
        "GET  / HTTP/1.1",
        "GET /\0 HTTP/1.1",
        "GET /",
    ];
    for line in lines {
        check(&format!("{line}\r\n\r\n"), "error h1_target");
    }
}

#[test]
fn malformed_lines() {
    check("GE(T / HTTP/1.1\r\n\r\n", "error h1_method");
    check("GET\r\n\r\n", "error h1_method");
    check("GET / HTTP/1.2\r\n\r\n", "error h1_minor_version");
    check("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "error h1_is_http2");
    check("GET / HTTP/1.1 \r\n\r\n", "error h1_version");
    check("GET / x HTTP/1.1\r\n\r\n", "error h1_version");
    check("GET / HTTP/1.1\rx\r\n\r\n", "error h1_version");
    check("GET / HTTP/1.1\r\na: b\r\n\rx", "error h1_bare_cr");
    check("GET / HTTP/1.1\r\na : b\r\n\r\n", "error h1_space_before_colon");
    check("GET / HTTP/1.1\r\na: b\r\n c\r\n\r\n", "error h1_folded");
    check("\x16\x03\x01\x02\0\x01", "error h1_is_tls");
    check(" GET / HTTP/1.1\r\n\r\n", "error h1_not_http");
    check("GET / HTTP/1.1\r\n", "error h1_closed_in_head");
}

#[test]
fn empty_lines_before_a_request() {
    check("\r\n\n\r\nGET / HTTP/1.1\r\n\r\n", "head GET origin / 1.1 none keep\ndone");
    check("\r\n", "");
    check("\r\rGET / HTTP/1.1\r\n\r\n", "error h1_bare_cr");
    check("\rGET / HTTP/1.1\r\n\r\n", "error h1_bare_cr");
    let most = "\r\n".repeat(EMPTY_LINES_LIMIT / 2);
    check(&format!("{most}GET / HTTP/1.1\r\n\r\n"), "head GET origin / 1.1 none keep\ndone");
    check(&format!("{most}\n"), "error h1_empty_lines");
    let request = format!("{most}GET / HTTP/1.1\r\n\r\n");
    let told = "head GET origin / 1.1 none keep\ndone\n";
    check(&request.repeat(3), &told.repeat(3));
}

#[test]
fn content() {
    check(
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc\r\nGET / HTTP/1.1\r\n\r\n",
        "field Host=h
         field Content-Length=3
         head POST origin / 1.1 length 3 keep
         body abc
         done
         head GET origin / 1.1 none keep
         done",
    );
    check(
        "PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: 1\r\n\r\n",
        "field Transfer-Encoding=chunked
         head PUT origin /x 1.1 chunked keep
         body abc
         trailer T=1
         done",
    );
    check(
        "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\na",
        "field Content-Length=3
         head POST origin / 1.1 length 3 keep
         body a
         error h1_closed_in_body 2",
    );
    check(
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        "field Content-Length=3
         field Transfer-Encoding=chunked
         error h1_length_and_chunked",
    );
}

#[test]
fn expectations_and_persistence() {
    check(
        "PUT / HTTP/1.1\r\nExpect: 100-Continue\r\nConnection: close\r\n\r\n",
        "field Expect=100-Continue
         field Connection=close
         head PUT origin / 1.1 none close expect
         done",
    );
    check(
        "PUT / HTTP/1.0\r\nExpect: 100-continue\r\nProxy-Connection: Keep-Alive\r\n\r\n",
        "field Expect=100-continue
         field Proxy-Connection=Keep-Alive
         head PUT origin / 1.0 none keep
         done",
    );
}

#[test]
fn raw_leaves_empty_lines_out() {
    let mut reader = RequestReader::new(Http1Limits::default());
    let mut recorder = Recorder::default();
    reader.read(b"\r\nGET / HTTP/1.1\r\nA: b\r\n\r\nGET", &mut recorder).unwrap();
    assert_eq!(recorder.raw, b"GET / HTTP/1.1\r\nA: b\r\n\r\n");
}

#[test]
fn limits() {
    let head = "GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\n\r\n";
    let told = "field A=1\nfield B=2\nhead GET origin / 1.1 none keep\ndone";
    #[track_caller]
    fn check(head_bytes: usize, fields: usize, input: &str, expected: &str) {
        recorder::check(
            || RequestReader::new(Http1Limits { head_bytes, fields }),
            input.as_bytes(),
            expected,
        );
    }
    check(head.len(), 2, head, told);
    check(head.len(), 2, &format!("\r\n{head}{head}"), &format!("{told}\n{told}"));
    check(head.len() - 1, 2, head, "error h1_head_limit");
    check(head.len(), 1, head, "error h1_fields_limit");
    check(40, 2, &"G".repeat(41), "error h1_head_limit");
}

#[test]
fn stages() {
    let mut reader = RequestReader::new(Http1Limits::default());
    let mut sink = Recorder::default();
    let mut stage = |reader: &mut RequestReader, input: &[u8]| {
        reader.read(input, &mut sink).unwrap();
        reader.stage()
    };
    assert_eq!(stage(&mut reader, b"\r\n"), Http1Stage::Idle);
    assert_eq!(stage(&mut reader, b"G"), Http1Stage::Head);
    assert_eq!(stage(&mut reader, b"ET / HTTP/1.1\r\nContent-Length: 1\r\n\r\n"), Http1Stage::Body);
    assert_eq!(stage(&mut reader, b"x"), Http1Stage::Done);
    reader.begin();
    assert_eq!(stage(&mut reader, b""), Http1Stage::Idle);
    assert_eq!(reader.end_of_stream(&mut sink), Err(Breach::ClosedIdle.into()));
}
