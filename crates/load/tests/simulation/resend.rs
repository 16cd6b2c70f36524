//! Requests that are sent again: counted by the server, which sees each request that it can have acted upon.

use crate::server::{Move, Script, answer};
use crate::world::{Case, Ran, Server, phase, requests};
use net::Faults;
use plan::{Delay, Http, Pace, Protocol, Request, RequestStep, Resend, Step};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// One way over the wire.
const DELAY: Duration = Duration::from_millis(10);

/// A user who thinks for 100 ms after each answer, and a server that closes so long after the first; the second value is
/// how many requests the server has read.
fn ran(method: &str, resend: Resend, closes_after: Duration) -> (Ran, u64) {
    ran_saying(b"", method, resend, closes_after)
}

/// The server says something before it closes.
fn ran_saying(words: &'static [u8], method: &str, resend: Resend, closes_after: Duration) -> (Ran, u64) {
    let request = Request { method: method.to_owned(), ..Request::get("http://server/page") };
    let step = Step::Requests(RequestStep { requests: vec![request].into(), ..RequestStep::default() });
    let think = Delay::Fixed { delay: Duration::from_millis(100) };
    let seen = Rc::new(Cell::new(0));
    let counted = seen.clone();
    let script = Script::new(move |asked| {
        counted.set(counted.get() + 1);
        let last = Move::Send(words.to_vec());
        let moves = [Move::Send(answer(b"page")), Move::Wait(closes_after), last, Move::Close];
        moves.into_iter().take(if asked.number == 0 { 4 } else { 1 }).collect()
    });
    let pace = Pace::Thinking { users: 1, think };
    let mut case = Case::new(vec![phase(step, pace, requests(5))], Server::Script(script));
    case.faults = Faults { delay: (DELAY, DELAY), ..Faults::default() };
    case.load.protocol = Protocol::Http(Http { resend, ..Http::default() });
    (case.run(), seen.get())
}

/// Nothing is sent on a connection that is known to be closed, so nothing is sent again.
#[test]
fn an_idle_connection_that_was_closed_is_replaced() {
    for method in ["GET", "POST"] {
        for resend in [Resend::Never, Resend::Idle, Resend::Safe] {
            let (ran, seen) = ran(method, resend, Duration::from_millis(50));
            let counts = ran.counts();
            assert_eq!((counts.requests, counts.ok, counts.resent, seen), (5, 5, 0, 5), "{method}");
            assert_eq!((counts.connections, counts.reused), (2, 3), "{method}");
        }
    }
}

/// The end and the second request cross on the wire: nobody has read it, but only what is idempotent is sent again.
#[test]
fn a_close_that_crosses_the_request_is_told_by_its_reset() {
    // The answer arrives after 10 ms, the user sends 100 ms later, and the end is under way from 105 ms on.
    let crosses = Duration::from_millis(105);
    for (method, resend, again) in [
        ("GET", Resend::Idle, 1),
        ("PUT", Resend::Idle, 1),
        ("GET", Resend::Safe, 1),
        ("POST", Resend::Idle, 0),
        ("POST", Resend::Safe, 0),
        ("GET", Resend::Never, 0),
    ] {
        let (ran, seen) = ran(method, resend, crosses);
        let counts = ran.counts();
        let what = format!("{method}, {resend:?}");
        assert_eq!((counts.requests, counts.resent), (5, again), "{what}");
        assert_eq!((counts.ok, counts.failed), (4 + again, 1 - again), "{what}");
        assert_eq!(seen, counts.ok, "{what}: none was read twice");
    }
}

/// An answer of 408 crosses the second request: the reset behind it tells that it is none to that. What could do harm is not sent
/// again, so the answer is all that is known of it.
#[test]
fn a_408_that_crosses_the_request_is_no_answer_to_it() {
    let crosses = Duration::from_millis(105);
    let words = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    for (method, resend, again) in [
        ("GET", Resend::Idle, 1),
        ("PUT", Resend::Safe, 1),
        ("POST", Resend::Idle, 0),
        ("GET", Resend::Never, 0),
    ] {
        let (ran, seen) = ran_saying(words, method, resend, crosses);
        let counts = ran.counts();
        let what = format!("{method}, {resend:?}");
        assert_eq!((counts.requests, counts.resent, counts.idle_timeouts), (5, again, again), "{what}");
        assert_eq!((counts.ok, counts.failed), (4 + again, 1 - again), "{what}");
        assert_eq!(seen, counts.ok, "{what}: none was read twice");
        assert_eq!(ran.tally().statuses().any(|(status, _)| status == 408), again == 0, "{what}");
    }
    // One that comes before the request is seen before it is sent, whatever it is.
    for method in ["GET", "POST"] {
        let (ran, seen) = ran_saying(words, method, Resend::Never, Duration::from_millis(50));
        let counts = ran.counts();
        assert_eq!((counts.ok, counts.resent, counts.idle_timeouts, seen), (5, 0, 1, 5), "{counts:?}");
    }
}

/// A server that answers a request so, having read it, is believed.
#[test]
fn a_408_behind_the_request_is_its_answer() {
    let late = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let script = Script::new(move |asked| match asked.number {
        1 => vec![Move::Send(late.to_vec()), Move::Close],
        _ => vec![Move::Send(answer(b"page"))],
    });
    let pace = Pace::Thinking { users: 1, think: Delay::Fixed { delay: Duration::from_millis(100) } };
    let step = crate::world::page();
    let ran = Case::new(vec![phase(step, pace, requests(5))], Server::Script(script)).run();
    let counts = ran.counts();
    assert_eq!((counts.ok, counts.failed, counts.resent, counts.idle_timeouts), (4, 1, 0, 0), "{counts:?}");
}
