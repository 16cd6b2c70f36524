//! However a request ends, it is counted once, and no user is lost.

use crate::peer::Act;
use crate::run::{Case, Ran, millis, phase, phase_of_requests, requests};
use measure::{Counts, FailureKind, Fault, Stage};
use plan::site::Size;
use plan::{ExpectBody, ObjectStep, Pace, Popularity, Protocol, Reading, Resend, Step};
use std::time::Duration;

const USERS: u32 = 4;

fn ran(count: u64, script: impl Fn(u64) -> Act + 'static) -> Ran {
    Case::new(vec![phase(Pace::Users(USERS), requests(count))], script).run()
}

/// The same with requests that are described one by one.
fn ran_requests(body: ExpectBody, count: u64, script: impl Fn(u64) -> Act + 'static) -> Ran {
    Case::new(vec![phase_of_requests(body, Pace::Users(USERS), requests(count))], script).run()
}

fn conserved(counts: &Counts) {
    let ended = counts.ok + counts.check_failed + counts.injected + counts.aborted + counts.failed;
    assert_eq!(counts.requests, ended + counts.unfinished, "{counts:?}");
}

#[test]
fn good_answers_are_good() {
    let ran = ran(500, |_| Act::Answer);
    let counts = ran.counts();
    conserved(&counts);
    assert_eq!((counts.requests, counts.ok, ran.seen), (500, 500, 500));
    assert_eq!(counts.connections, u64::from(USERS), "users keep their connections");
    assert_eq!(counts.body_bytes, 500 * 500);
}

#[test]
fn each_misbehaviour_is_a_failure_of_its_kind_and_the_run_goes_on() {
    for (act, kind, stage) in [
        (Act::CutBody, FailureKind::ClosedEarly, Stage::Body),
        (Act::Garbage, FailureKind::NotHttp, Stage::Head),
        (Act::Fail, FailureKind::BadStatus, Stage::Head),
        (Act::Silence, FailureKind::Timeout, Stage::Head),
    ] {
        let script = move |number| if number % 10 == 3 { act } else { Act::Answer };
        for phase in [
            phase(Pace::Users(USERS), requests(60)),
            phase_of_requests(ExpectBody::Complete, Pace::Users(USERS), requests(60)),
        ] {
            let mut case = Case::new(vec![phase], script);
            // So long that no answer is late on a busy machine.
            case.load.limits.request = Duration::from_secs(3);
            let ran = case.run();
            let counts = ran.counts();
            conserved(&counts);
            assert_eq!(counts.requests, 60, "{act:?}");
            let failures: Vec<_> =
                ran.tally().failures().map(|(failure, n)| (failure.kind, failure.stage, n)).collect();
            assert_eq!(failures, [(kind, stage, counts.failed)], "{act:?}");
            assert!((4..=6).contains(&counts.failed), "{act:?}: {counts:?}");
        }
    }
}

/// An answer that is whole by its framing is one, whatever follows it.
#[test]
fn bytes_behind_an_answer_are_counted_and_harm_nobody() {
    let script = move |number| if number % 10 == 3 { Act::SayTooMuch } else { Act::Answer };
    for phase in [
        phase(Pace::Users(USERS), requests(60)),
        phase_of_requests(ExpectBody::Complete, Pace::Users(USERS), requests(60)),
    ] {
        let counts = Case::new(vec![phase], script).run().counts();
        conserved(&counts);
        assert_eq!((counts.ok, counts.stray), (60, 6), "{counts:?}");
        assert!(counts.stray_bytes >= counts.stray && counts.connections >= 6, "{counts:?}");
    }
}

#[test]
fn requests_are_held_to_the_first_answer_as_far_as_asked() {
    for (body, faults) in [(ExpectBody::Complete, 0), (ExpectBody::SameLength, 0), (ExpectBody::Same, 6)] {
        let ran =
            ran_requests(body, 60, |number| if number % 10 == 9 { Act::OtherByte } else { Act::Answer });
        let counts = ran.counts();
        conserved(&counts);
        assert_eq!((counts.requests, counts.failed, counts.check_failed), (60, 0, faults), "{body:?}");
        assert_eq!(counts.body_bytes, 60 * 500, "{body:?}");
        let found: u64 =
            ran.tally().faults().filter(|(fault, _)| *fault == Fault::WrongBytes).map(|(_, n)| n).sum();
        assert_eq!(found, faults, "{body:?}");
    }
}

/// Number of the requests that `spoilt` is for, of the first 200.
const SPOILT: u64 = 27;

fn spoilt(number: u64) -> bool {
    (8..200).contains(&number) && number.is_multiple_of(7)
}

#[test]
fn what_a_server_may_have_read_is_not_sent_again() {
    for act in [Act::Close, Act::Reset] {
        // The first request of each connection is answered, so whatever is refused was sent on a kept one.
        let script = move |number| if spoilt(number) { act } else { Act::Answer };
        for ran in [ran(200, script), ran_requests(ExpectBody::Same, 200, script)] {
            let counts = ran.counts();
            conserved(&counts);
            assert_eq!((counts.requests, ran.seen, counts.resent), (200, 200, 0), "{act:?}");
            assert_eq!(counts.failed, SPOILT, "{act:?}: {counts:?}");
        }
    }
}

#[test]
fn what_is_safe_is_sent_again_where_the_plan_says_so() {
    for act in [Act::Close, Act::Reset] {
        let mut case = Case::new(vec![phase(Pace::Users(USERS), requests(200))], move |number| {
            if spoilt(number) { act } else { Act::Answer }
        });
        let Protocol::Http(http) = &mut case.load.protocol else { panic!() };
        http.resend = Resend::Safe;
        let ran = case.run();
        let counts = ran.counts();
        conserved(&counts);
        assert_eq!((counts.requests, ran.seen), (200, 200 + counts.resent), "{act:?}: {counts:?}");
        assert!(counts.resent + counts.failed >= SPOILT, "{act:?}: {counts:?}");
        // Which numbers are the first of a connection is chance, one in seven of them spoilt.
        assert!(counts.failed < counts.resent, "only the first of a connection fails: {counts:?}");
    }
}

#[test]
fn a_kept_connection_that_was_closed_is_nobodys_failure() {
    let script = |number| if spoilt(number) { Act::AnswerThenClose } else { Act::Answer };
    for ran in [ran(200, script), ran_requests(ExpectBody::Same, 200, script)] {
        let counts = ran.counts();
        conserved(&counts);
        assert_eq!((counts.requests, counts.ok, ran.seen), (200, 200, 200), "{counts:?}");
    }
}

#[test]
fn a_peer_that_only_closes_fails_every_request_without_a_spin() {
    let ran = ran(20, |_| Act::Close);
    let counts = ran.counts();
    conserved(&counts);
    assert_eq!((counts.requests, counts.failed, counts.connections), (20, 20, 20));
}

/// A name may have addresses at which nobody listens, or where a firewall answers.
#[test]
fn a_dead_address_of_a_name_fails_no_request() {
    let mut case = Case::new(vec![phase(Pace::Users(USERS), requests(40))], |_| Act::AnswerThenClose);
    case.dead = vec!["127.0.0.9".parse().unwrap(), "127.0.0.10".parse().unwrap()];
    let ran = case.run();
    let counts = ran.counts();
    conserved(&counts);
    assert_eq!((counts.ok, ran.seen), (40, 40), "{counts:?}");
    // Addresses take turns: of three connections one goes to the first dead address, and then to the second, and one to the second.
    assert_eq!((counts.connections, ran.passed_over), (40, 14 + 13 + 14), "{counts:?}");
}

/// Whatever its end: it refuses, accepts and closes, or answers nothing but a reset: users come again ever more slowly.
#[test]
fn a_target_that_dies_is_not_hammered() {
    for act in [Act::Close, Act::Reset] {
        let script = move |number| if number < 100 { Act::Answer } else { act };
        let counts = Case::new(vec![phase(Pace::Users(USERS), millis(3000))], script).run().counts();
        conserved(&counts);
        assert!(counts.ok >= 90, "{act:?}: {counts:?}");
        // 2 + 4 + … + 64 ms are six tries; then there is one each 100 ms, of each user.
        assert!((4..=4 * (6 + 31)).contains(&counts.failed), "{act:?}: {counts:?}");
    }
}

/// Also where the whole answer fits into one read, and where it is read slowly.
#[test]
fn as_many_are_broken_off_as_is_asked_for_whatever_their_size() {
    for size in [2, 10, 100, 500, 1_000, 2_000, 2_048, 5_000, 10_000, 200_000] {
        for (share, slowly) in [(1.0, false), (1.0, true), (0.3, false)] {
            let mut phase = phase(Pace::Users(USERS), requests(200));
            let reading = Reading {
                bytes_per_second: slowly.then_some(100_000_000),
                slow: if slowly { 1.0 } else { 0.0 },
                ..Reading::default()
            };
            let popularity = Popularity { hot: 50, ..Popularity::default() };
            let step = ObjectStep { popularity, abort: share, reading, ..ObjectStep::default() };
            phase.scenario.steps = vec![Step::Object(step)];
            let mut case = Case::new(vec![phase], |_| Act::Answer);
            case.site.size = Size::Fixed(size);
            let counts = case.run().counts();
            conserved(&counts);
            let aborted = counts.aborted as f64 / 200.0;
            let off = (aborted - share).abs();
            assert!(off <= if share < 1.0 { 0.1 } else { 0.0 }, "{size} B, {share}: {counts:?}");
            assert!(counts.body_bytes < 200 * size, "{size} B: {counts:?}");
        }
    }
}
