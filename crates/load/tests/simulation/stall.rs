//! Response time counts from the intended send: while a server stalls, each request that was due meanwhile waits for the
//! rest of the stall. The clock is virtual, so the whole distribution is known, not only its shape.

use crate::server::{Move, Script, answer};
use crate::world::{Case, Server, page, phase, recorded, requests};
use measure::{FailureKind, Stage, Tally, TimeMetric};
use net::Faults;
use plan::{Arrivals, Pace};
use std::time::Duration;

/// One way through the network.
const WAY: Duration = Duration::from_micros(50);
/// The first request is due so long after the server has begun: the gate's head start.
const BEGIN: Duration = Duration::from_millis(2);
/// Between two requests: 100 per second.
const GAP: Duration = Duration::from_millis(10);
const COUNT: u32 = 300;
/// The server answers nothing from the first to the second.
const STALL: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(2));

fn stalling() -> Script {
    Script::new(|asked| {
        let at = asked.at.saturating_sub(BEGIN);
        let stalls = STALL.0 <= at && at < STALL.1;
        let wait = if stalls { STALL.1 - at } else { Duration::ZERO };
        vec![Move::Wait(wait), Move::Send(answer(b"page"))]
    })
}

fn ran(pace: Pace) -> crate::world::Ran {
    let phase = phase(page(), pace, requests(u64::from(COUNT)));
    let phase = plan::Phase { preconnect: Some(0), ..phase };
    let mut case = Case::new(vec![phase], Server::Script(stalling()));
    case.load.limits.request = Duration::from_secs(30);
    case.faults = Faults { delay: (WAY, WAY), ..Faults::default() };
    case.run()
}

/// Due at 0, 10, 20 … ms. Whatever arrives during the stall is answered at its end; all but the first of those need a
/// connection of their own, because the users before them still wait.
#[test]
fn a_stalled_second_is_in_the_response_times_of_all_that_were_due_in_it() {
    let ran = ran(Pace::Rate { per_second: 100.0, arrivals: Arrivals::Even, in_flight: 1_000 });
    let mut expected = Tally::new();
    // Their users have not heard yet when the first is due after the stall.
    let late = |due| STALL.0 < due && due <= STALL.1;
    for number in 0..COUNT {
        let due = GAP * number;
        let stalled = STALL.0 <= due && due < STALL.1;
        let connects = if number == 0 || late(due) { 2 * WAY } else { Duration::ZERO };
        let response = if stalled { STALL.1 + WAY - due } else { connects + 2 * WAY };
        expected.time(TimeMetric::Response, response);
        expected.time(TimeMetric::Service, response - connects);
        expected.time(TimeMetric::Lateness, Duration::ZERO);
    }
    assert_eq!(ran.counts().ok, u64::from(COUNT));
    for clock in [TimeMetric::Response, TimeMetric::Service, TimeMetric::Lateness] {
        assert_eq!(ran.recorded(clock), recorded(&expected, clock), "{}", clock.name());
    }
    let tally = ran.tally();
    let response = tally.metric(TimeMetric::Response);
    let slow = response.len()
        - response
            .iter_recorded()
            .take_while(|value| value.value_iterated_to() < 9_000)
            .map(|value| value.count_at_value())
            .sum::<u64>();
    assert_eq!(slow, 100, "a hundred were due in the second that was lost");
    let longest = STALL.1 - STALL.0 + WAY;
    assert!(response.equivalent(response.max(), longest.as_micros() as u64), "{}", response.max());
}

/// Requests under way when a stop is asked for are waited for, but not as long as a plan would.
#[test]
fn a_stop_ends_soon_whatever_the_time_of_grace() {
    let silent = Script::new(|_| vec![Move::Wait(Duration::from_secs(3600))]);
    let mut case = Case::new(vec![phase(page(), Pace::Users(2), requests(9))], Server::Script(silent));
    (case.load.limits.request, case.load.limits.grace) = (Duration::from_secs(900), Duration::from_secs(600));
    case.stop_after = Some(Duration::from_secs(3));
    let ran = case.run();
    assert_eq!((ran.counts().requests, ran.counts().unfinished), (2, 2));
    assert!(ran.took < Duration::from_secs(9), "{:?}", ran.took);
}

/// The same stall under a closed pace: one user waits, once. That is what an open pace is for.
#[test]
fn a_closed_pace_sees_the_stall_once() {
    let stall = Script::new(|asked| {
        let wait = if asked.number == 100 { Duration::from_secs(1) } else { Duration::ZERO };
        vec![Move::Wait(wait), Move::Send(answer(b"page"))]
    });
    let mut case = Case::new(vec![phase(page(), Pace::Users(1), requests(300))], Server::Script(stall));
    case.load.limits.request = Duration::from_secs(30);
    let ran = case.run();
    let slow: u64 =
        ran.recorded(TimeMetric::Response).iter().filter(|(us, _)| *us > 1_000).map(|(_, count)| count).sum();
    assert_eq!((ran.counts().ok, slow), (300, 1));
}

/// With room for ten at a time, ten wait out the stall and the others that were due are told as such, the one included
/// that is due as it ends.
#[test]
fn what_could_not_be_sent_is_counted() {
    let ran = ran(Pace::Rate { per_second: 100.0, arrivals: Arrivals::Even, in_flight: 10 });
    let counts = ran.counts();
    assert_eq!((counts.ok, counts.overflow), (u64::from(COUNT), 91));
}

/// A time limit ends a request when it is reached, neither sooner nor later.
#[test]
fn a_time_limit_is_kept_to_the_microsecond() {
    let never = Script::new(|_| vec![Move::Freeze]);
    let ran = Case::new(vec![phase(page(), Pace::Users(3), requests(30))], Server::Script(never)).run();
    let mut expected = Tally::new();
    (0..30).for_each(|_| expected.time(TimeMetric::Failure, Duration::from_millis(300)));
    assert_eq!(ran.recorded(TimeMetric::Failure), recorded(&expected, TimeMetric::Failure));
    assert_eq!(ran.failures(), [(FailureKind::Timeout, Stage::Head, 30)]);
}
