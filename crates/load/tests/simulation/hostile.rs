//! Servers that do what they should not: each is told apart, and the run goes on.

use crate::server::{Move, Script, answer};
use crate::world::{Case, Ran, Server, page, phase, requests};
use measure::{FailureKind, Stage};
use plan::{Http, Pace, Protocol, Request, RequestStep, Step};
use std::time::Duration;

/// Longer than what the network holds.
const LONG: usize = 400_000;

/// Uploads of a long body.
fn upload() -> Step {
    let upload = Request {
        method: "POST".to_owned(),
        body: "x".repeat(LONG).into(),
        ..Request::get("http://server/upload")
    };
    Step::Requests(RequestStep { requests: vec![upload].into(), ..RequestStep::default() })
}

fn ran(step: Step, count: u64, script: Script) -> Ran {
    let ran = Case::new(vec![phase(step, Pace::Users(2), requests(count))], Server::Script(script)).run();
    let counts = ran.counts();
    assert_eq!(counts.requests, counts.ok + counts.failed, "{counts:?}");
    assert_eq!(counts.requests, count);
    ran
}

#[test]
fn a_server_that_stops_reading_runs_into_the_time_limit() {
    let script = Script { at_head: true, ..Script::new(|_| vec![Move::Freeze]) };
    assert_eq!(ran(upload(), 6, script).failures(), [(FailureKind::Timeout, Stage::Send, 6)]);
}

#[test]
fn a_server_that_stops_answering_runs_into_the_time_limit() {
    let silent = Script::new(|_| vec![Move::Freeze]);
    assert_eq!(ran(page(), 6, silent).failures(), [(FailureKind::Timeout, Stage::Head, 6)]);
    let half = Script::new(|_| {
        vec![Move::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf".to_vec()), Move::Freeze]
    });
    assert_eq!(ran(page(), 6, half).failures(), [(FailureKind::Timeout, Stage::Body, 6)]);
}

/// It answers when it has seen the head, and takes the body afterwards: an answer like any other.
#[test]
fn a_server_that_answers_early_and_reads_on_is_heard() {
    let script = Script { at_head: true, ..Script::new(|_| vec![Move::Send(answer(b"thanks"))]) };
    let ran = ran(upload(), 6, script);
    assert_eq!((ran.counts().ok, ran.counts().connections), (6, 2));
}

/// It answers when it has seen the head, and closes on the rest: what is still sent is answered by a reset.
#[test]
fn a_server_that_answers_early_and_closes_resets() {
    let script = Script { at_head: true, ..Script::new(|_| vec![Move::Send(answer(b"no")), Move::Close]) };
    assert_eq!(ran(upload(), 6, script).failures(), [(FailureKind::Reset, Stage::Send, 6)]);
}

/// Bytes that come when the next request is on its way already cannot be told from its answer.
#[test]
fn garbage_behind_the_next_request_is_no_answer() {
    let script = Script::new(move |asked| {
        let mut moves = vec![Move::Send(answer(b"page"))];
        if asked.number < 2 {
            moves.extend([Move::Wait(Duration::from_micros(20)), Move::Send(b"!?\r\n\r\n".to_vec())]);
        }
        moves
    });
    let ran = ran(page(), 10, script);
    assert_eq!(ran.failures(), [(FailureKind::NotHttp, Stage::Head, 2)]);
    assert_eq!(ran.counts().stray, 0);
}

/// The first bytes are not HTTP, wherever they end.
#[test]
fn a_server_of_another_protocol_is_not_http() {
    let script = Script::new(|_| vec![Move::Send(b"220 mail.example ESMTP\r\n".to_vec()), Move::Freeze]);
    assert_eq!(ran(page(), 6, script).failures(), [(FailureKind::NotHttp, Stage::Head, 6)]);
}

/// One request a connection, and the server says otherwise: the client's word holds.
#[test]
fn connections_are_not_kept_beyond_what_was_asked_for() {
    let script = Script::new(|_| vec![Move::Send(answer(b"page"))]);
    let mut case = Case::new(vec![phase(page(), Pace::Users(2), requests(20))], Server::Script(script));
    case.load.protocol = Protocol::Http(Http { requests_per_connection: Some(1), ..Http::default() });
    let ran = case.run();
    assert_eq!((ran.counts().ok, ran.counts().connections), (20, 20));
    assert_eq!((ran.then.open_sockets, ran.then.tasks), (1, 1), "the listener and its task");
}
