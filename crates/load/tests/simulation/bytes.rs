//! A connection that ends after each possible byte of an answer: each time it is counted as what it was.

use crate::server::{Move, Script, answer};
use crate::world::{Case, Ran, Server, page, phase, requests};
use measure::{FailureKind, Stage};
use net::Faults;
use plan::Pace;
use std::time::Duration;

/// How an answer says where it ends.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Length,
    Chunked,
    /// By the end of the connection.
    Close,
}

fn written(form: Form) -> (Vec<u8>, usize) {
    let bytes = match form {
        Form::Length => answer(b"all of the page"),
        Form::Chunked => {
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nall o\r\na\r\nf the page\r\n0\r\n\r\n"
                .to_vec()
        }
        Form::Close => b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of the page".to_vec(),
    };
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    (bytes, head)
}

/// The connection's `which`th request gets the first `count` bytes and then the end; others are answered. The end comes
/// when all bytes have arrived.
fn cut(bytes: Vec<u8>, count: usize, which: u64, end: Move) -> Script {
    Script::new(move |asked| {
        if asked.number != which {
            return vec![Move::Send(answer(b"fine"))];
        }
        vec![Move::Send(bytes[..count].to_vec()), Move::Wait(Duration::from_millis(20)), end.clone()]
    })
}

fn ran(script: Script, count: u64, segment: usize) -> Ran {
    let mut case = Case::new(vec![phase(page(), Pace::Users(1), requests(count))], Server::Script(script));
    case.faults = Faults { segment: (segment, segment), ..Faults::default() };
    case.run()
}

/// Returns the outcome that the cut request must have: the failure, or nothing where it is fine.
fn expected(form: Form, end: &Move, count: usize, head: usize, all: usize) -> Option<(FailureKind, Stage)> {
    let kind = if matches!(end, Move::Reset) { FailureKind::Reset } else { FailureKind::ClosedEarly };
    match count {
        _ if count < head => Some((kind, Stage::Head)),
        // The end of the connection is the end of the answer, unless it is a reset.
        _ if form == Form::Close && kind == FailureKind::ClosedEarly => None,
        _ if form != Form::Close && count == all => None,
        _ => Some((kind, Stage::Body)),
    }
}

fn check_each_byte(form: Form, segment: usize) {
    let (bytes, head) = written(form);
    for end in [Move::Close, Move::Reset] {
        for count in 0..=bytes.len() {
            let what = format!("{form:?}, {count} bytes in segments of {segment}, then {end:?}");
            let expected = expected(form, &end, count, head, bytes.len());
            let failures: Vec<_> = expected.map(|(kind, stage)| (kind, stage, 1)).into_iter().collect();
            // The first request of its connection.
            let first = ran(cut(bytes.clone(), count, 0, end.clone()), 1, segment);
            assert_eq!(first.failures(), failures, "{what}");
            assert_eq!(first.counts().ok, u64::from(expected.is_none()), "{what}");
            // The second one: its server has read it, so it is not sent again.
            let second = ran(cut(bytes.clone(), count, 1, end.clone()), 2, segment);
            let counts = second.counts();
            assert_eq!((second.failures(), counts.resent), (failures, 0), "kept: {what}");
            assert_eq!(counts.requests, counts.ok + counts.failed, "kept: {what}");
        }
    }
}

#[test]
fn an_answer_with_a_length_that_ends_anywhere() {
    check_each_byte(Form::Length, 65_536);
    check_each_byte(Form::Length, 1);
}

#[test]
fn an_answer_in_chunks_that_ends_anywhere() {
    check_each_byte(Form::Chunked, 65_536);
    check_each_byte(Form::Chunked, 1);
}

#[test]
fn an_answer_up_to_the_end_of_its_connection_that_ends_anywhere() {
    check_each_byte(Form::Close, 65_536);
    check_each_byte(Form::Close, 1);
}
