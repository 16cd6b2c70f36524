//! When requests are sent, until when, and which latency says what.

use crate::peer::Act;
use crate::run::{Case, millis, phase, requests};
use measure::{Clock, Counts};
use plan::{Arrivals, Pace, Stop};
use std::time::Duration;

fn rate(per_second: f64, in_flight: u32) -> Pace {
    Pace::Rate { per_second, arrivals: Arrivals::Even, in_flight }
}

#[test]
fn an_open_pace_sends_what_is_due_and_no_more() {
    let counts = Case::new(vec![phase(rate(500.0, 100), millis(1_000))], |_| Act::Answer).run().counts();
    assert_eq!((counts.requests, counts.overflow), (500, 0));
}

#[test]
fn a_stall_hides_in_a_closed_pace_and_costs_one_request_of_an_open_one() {
    // One request in the middle takes 200 ms. A closed pace sends nothing meanwhile, an open one goes on.
    let script = |number| if number == 50 { Act::Stall(Duration::from_millis(200)) } else { Act::Answer };
    let stop = requests(200);
    let users = Case::new(vec![phase(Pace::Users(1), stop)], script).run().tally();
    let open = Case::new(vec![phase(rate(200.0, 1_000), stop)], script).run().tally();
    let slow = |tally: &measure::Tally, clock| tally.clock(clock).count_between(50_000, u64::MAX);
    assert_eq!(
        slow(&users, Clock::Response),
        1,
        "a closed pace waits: whoever would have come meanwhile is not seen"
    );
    assert_eq!(slow(&open, Clock::Service), 1, "an open pace uses other connections meanwhile");
}

#[test]
fn what_is_due_beyond_the_limit_is_counted_as_overflow_and_not_hidden() {
    let case =
        Case::new(vec![phase(rate(200.0, 3), millis(500))], |_| Act::Stall(Duration::from_millis(250)));
    let counts = case.run().counts();
    assert!(counts.overflow > 50, "{counts:?}");
    assert_eq!(counts.requests + counts.overflow, 100, "{counts:?}");
}

#[test]
fn phases_follow_each_other_with_figures_of_their_own() {
    let phases = vec![phase(Pace::Users(2), requests(30)), phase(Pace::Users(3), requests(50))];
    let ran = Case::new(phases, |_| Act::Answer).run();
    let of_phase = |index| {
        let mut sum = Counts::default();
        let snapshots = ran.snapshots.iter().filter(|snapshot| snapshot.phase == index);
        snapshots.for_each(|snapshot| sum.merge(&snapshot.tally.counts));
        sum.fine
    };
    assert_eq!((of_phase(0), of_phase(1)), (30, 50));
    assert_eq!(ran.snapshots.iter().filter(|snapshot| snapshot.last).count(), 1);
}

#[test]
fn a_stop_ends_the_run_and_unfinished_requests_are_counted() {
    let endless = Stop::default();
    let mut case =
        Case::new(vec![phase(Pace::Users(5), endless)], |n| if n < 100 { Act::Answer } else { Act::Silence });
    case.load.limits.request = Duration::from_secs(60);
    case.stop_after = Some(Duration::from_millis(400));
    let counts = case.run().counts();
    assert_eq!((counts.fine, counts.unfinished), (100, 5), "{counts:?}");
}

#[test]
fn intervals_are_told_as_they_pass() {
    let ran = Case::new(vec![phase(Pace::Users(1), millis(450))], |_| Act::Answer).run();
    let intervals: Vec<u64> = ran.snapshots.iter().map(|snapshot| snapshot.interval).collect();
    assert!(intervals.len() >= 4, "{intervals:?}");
    assert!(intervals.windows(2).all(|pair| pair[0] <= pair[1]), "{intervals:?}");
}
