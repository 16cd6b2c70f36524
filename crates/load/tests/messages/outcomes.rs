//! However a request ends, it is counted once, in its kind, and the run goes on.

use crate::peer::Act;
use crate::run::{Case, step};
use measure::{FailureKind, Stage};
use plan::message::{Message, MessageStep};
use plan::{MessageConnections, Pace, Stop};
use std::time::Duration;

#[test]
fn kept_connections_carry_all() {
    let ran = Case::new(step(), 500).run(|_| Act::Answer("00"));
    let counts = ran.counts();
    assert_eq!((counts.requests, counts.ok, counts.ended, ran.seen), (500, 500, 500, 500));
    assert_eq!(counts.connections, 4);
    assert_eq!(ran.codes(), [("00".to_owned(), true, 500)]);
}

#[test]
fn connections_carry_as_many_as_they_may() {
    for (most, connections, pipeline) in [(1, 60, 1), (3, 20, 1), (3, 20, 8), (1, 60, 4)] {
        let case = Case {
            connections: MessageConnections {
                requests_per_connection: Some(most),
                ..MessageConnections::default()
            },
            pace: Pace::Users(1),
            ..Case::new(MessageStep { pipeline, ..step() }, 60)
        };
        let counts = case.run(|_| Act::Answer("00")).counts();
        assert_eq!((counts.ok, counts.connections), (60, connections), "{most} {pipeline}: {counts:?}");
    }
}

#[test]
fn each_misbehaviour_is_a_failure_of_its_kind_and_the_run_goes_on() {
    for (act, kind, stage) in [
        (Act::Cut, FailureKind::ClosedEarly, Stage::Body),
        (Act::Garbage, FailureKind::BadFrame, Stage::Body),
        (Act::TooLong, FailureKind::TooLong, Stage::Body),
        (Act::Silence, FailureKind::Timeout, Stage::Head),
    ] {
        let ran = Case::new(step(), 60).run(move |number| match number % 10 {
            3 => act,
            _ => Act::Answer("00"),
        });
        let failures: Vec<_> =
            ran.tally.failures().map(|(failure, n)| (failure.kind, failure.stage, n)).collect();
        let counts = ran.counts();
        assert_eq!((counts.requests, failures), (60, vec![(kind, stage, counts.failed)]), "{act:?}");
        assert!((4..=6).contains(&counts.failed), "{act:?}: {counts:?}");
    }
}

/// A payment that is booked twice is worse than one that failed.
#[test]
fn no_message_is_sent_twice() {
    for act in [Act::Close, Act::Reset, Act::AnswerThenClose] {
        let ran = Case::new(step(), 200).run(move |number| match number {
            number if number >= 8 && number % 7 == 0 => act,
            _ => Act::Answer("00"),
        });
        let counts = ran.counts();
        assert_eq!((counts.requests, counts.resent), (200, 0), "{act:?}");
        assert_eq!(counts.ok + counts.failed, 200, "{act:?}: {counts:?}");
        assert!(ran.seen <= 200, "{act:?}: the service has read {}", ran.seen);
        if act != Act::AnswerThenClose {
            assert_eq!((counts.failed, ran.seen), (27, 200), "{act:?}: {counts:?}");
        }
    }
}

/// Whatever its end: it closes, resets, or is not there at all: users come again ever more slowly.
#[test]
fn a_dead_service_is_not_hammered() {
    for act in [Act::Close, Act::Reset] {
        for refused in [false, true] {
            let stop = Stop { after: Some(Duration::from_millis(400)), ..Stop::default() };
            let counts = Case { refused, stop, ..Case::new(step(), 0) }.run(move |_| act).counts();
            assert_eq!(counts.ok, 0);
            // 2 + 4 + … + 64 ms are six tries; then there is one each 100 ms, of each user.
            assert!((4..=4 * 12).contains(&counts.failed), "{act:?} {refused}: {counts:?}");
        }
    }
}

/// Requests under way fail with their connection, each once.
#[test]
fn a_silent_peer_times_out_all_that_is_under_way() {
    let case = Case { pace: Pace::Users(1), ..Case::new(MessageStep { pipeline: 5, ..step() }, 10) };
    let ran = case.run(|number| if number == 0 { Act::Silence } else { Act::Answer("00") });
    let counts = ran.counts();
    assert_eq!((counts.failed, counts.ok, counts.connections), (5, 5, 2), "{counts:?}");
    let kinds: Vec<_> = ran.tally.failures().map(|(failure, n)| (failure.kind, n)).collect();
    assert_eq!(kinds, [(FailureKind::Timeout, 5)]);
}

#[test]
fn what_does_not_fit_its_framing_is_counted_and_paced() {
    let long = MessageStep { messages: vec![Message::of("{{text:10000}}")], ..step() };
    let stop = Stop { after: Some(Duration::from_millis(300)), ..Stop::default() };
    let ran = Case { stop, ..Case::new(long, 0) }.run(|_| Act::Answer("00"));
    let kinds: Vec<_> = ran.tally.failures().map(|(failure, _)| failure.kind).collect();
    assert_eq!((kinds, ran.seen), (vec![FailureKind::Unwritable], 0));
    assert!(ran.counts().failed <= 4 * 12, "{:?}", ran.counts());
}

#[test]
fn messages_that_nobody_answers_are_done_when_they_are_sent() {
    let message = Message { unanswered: true, ..Message::of("{{request}}") };
    let step = MessageStep { messages: vec![message], code: None, ..step() };
    let counts = Case::new(step, 100).run(|_| Act::Reverse(1_000)).counts();
    assert_eq!((counts.ok, counts.body_bytes), (100, 0));
}

#[test]
fn a_request_allocates_nothing() {
    for pipeline in [1, 8] {
        let run = |count| {
            let measured = allocation_counter::measure(|| {
                let messages = vec![Message::of("{{counter:1..9}} {{uuid}} {{length:4}}")];
                let case = Case::new(MessageStep { messages, pipeline, ..step() }, count);
                // The peer's own allocations per request are what it is.
                assert_eq!(case.run(|_| Act::Answer("00")).counts().ok, count);
            });
            measured.count_total
        };
        run(100);
        let short = run(500);
        let long = run(1_500);
        // The peer makes three of each request: what was asked, the list of it, and its answer.
        let of_peer = 1_000 * 3;
        assert!(long <= short + of_peer + 200, "{pipeline}: {short} for 500 requests, {long} for 1,500");
    }
}
