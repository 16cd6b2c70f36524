//! Answers that are HTTP's, to requests that are written as messages.

use crate::pieces::{Pieces, serve};
use crate::run::{Case, Ran, spot};
use measure::Fault;
use plan::Pace;
use plan::answer::{Check, Must};
use plan::message::{Framing, Message, MessageStep};
use std::rc::Rc;

fn get(method: &str) -> MessageStep {
    let request = format!("{method} /{{{{request}}}} HTTP/1.1\r\nHost: x\r\n\r\n");
    MessageStep {
        framing: Framing::Http,
        messages: vec![Message::of(request)],
        longest_answer: 500,
        ..MessageStep::default()
    }
}

fn run(step: MessageStep, count: u64, closes: bool, answer: impl Fn(u64) -> String + 'static) -> Ran {
    let answer = Rc::new(move |number| answer(number).into_bytes());
    let pieces = Pieces { answer, cut: None, end: b"\r\n\r\n", closes };
    let case = Case { pace: Pace::Users(1), ..Case::new(step, count) };
    case.run_against(|net, listener, seen| serve(net, listener, pieces, seen))
}

#[test]
fn a_status_decides_where_no_rule_does() {
    let ran = run(get("GET"), 30, false, |number| {
        let status = ["200 OK", "302 Found", "503 No"][number as usize % 3];
        format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nhi")
    });
    let counts = ran.counts();
    assert_eq!((counts.ok, counts.check_failed, counts.failed, counts.connections), (20, 10, 0, 1));
    assert_eq!(ran.faults(), [(Fault::BadCode, 10)]);
    let mut codes = ran.codes();
    codes.sort();
    let code = |code: &str, good| (code.to_owned(), good, 10);
    assert_eq!(codes, [code("200", true), code("302", true), code("503", false)]);
}

#[test]
fn a_bad_status_goes_before_the_code() {
    for at in ["json /code", "status"] {
        let must = Must::BeOneOf(vec![if at == "status" { "201".into() } else { "00".into() }]);
        let step = MessageStep { code: Some(Check::of(spot(at), must)), ..get("GET") };
        let ran = run(step, 30, false, |number| {
            let (status, code) = [(201, "00"), (200, "51"), (500, "00")][number as usize % 3];
            let body = format!("{{\"code\":\"{code}\"}}");
            format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        });
        assert_eq!((ran.counts().ok, ran.counts().check_failed), (10, 20), "{at}");
        assert!(ran.codes().contains(&("500".to_owned(), false, 10)), "{at}: {:?}", ran.codes());
    }
}

#[test]
fn answers_to_head_have_no_body() {
    let ran = run(get("HEAD"), 20, false, |_| "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_owned());
    assert_eq!((ran.counts().ok, ran.counts().body_bytes), (20, 0), "{:?}", ran.counts());
}

#[test]
fn a_connection_that_the_answer_ends_is_not_used_again() {
    for answer in [
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
    ] {
        // The peer leaves the connection open: what ends it is the client.
        let counts = run(get("GET"), 10, false, |_| answer.to_owned()).counts();
        assert_eq!((counts.ok, counts.connections, counts.resent), (10, 10, 0), "{answer}: {counts:?}");
    }
    let counts = run(get("GET"), 10, true, |_| "HTTP/1.1 200 OK\r\n\r\nhi".to_owned()).counts();
    assert_eq!((counts.ok, counts.connections, counts.resent, counts.body_bytes), (10, 10, 0, 20));
}

#[test]
fn what_is_no_http_or_too_long_fails() {
    for (answer, said) in [
        ("+OK\r\n\r\n", "BadFrame"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 501\r\n\r\n", "TooLong"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", "ClosedEarly"),
    ] {
        let ran = run(get("GET"), 5, true, |_| answer.to_owned());
        let kinds: Vec<_> = ran.tally.failures().map(|(failure, _)| format!("{:?}", failure.kind)).collect();
        assert_eq!((ran.counts().failed, kinds), (5, vec![said.to_owned()]), "{answer}");
    }
}
