//! On the plain path, after warm-up, a request allocates nothing.

use crate::peer::Act;
use crate::run::{Case, phase, phase_of_requests, requests};
use plan::{ExpectBody, Pace, Phase};
use std::time::Duration;

#[test]
fn a_plain_request_allocates_nothing() {
    allocates_nothing(|count| phase(Pace::Users(4), requests(count)));
}

#[test]
fn a_described_request_allocates_nothing() {
    allocates_nothing(|count| phase_of_requests(ExpectBody::Complete, Pace::Users(4), requests(count)));
}

fn allocates_nothing(phase_of: fn(u64) -> Phase) {
    let run = |count| {
        let measured = allocation_counter::measure(|| {
            // Intervals are long, so that no snapshot is made in between.
            let mut case = Case::new(vec![phase_of(count)], |_| Act::Answer);
            case.load.limits.request = Duration::from_secs(30);
            case.interval = Duration::from_secs(3_600);
            assert_eq!(case.run().counts().ok, count);
        });
        measured.count_total
    };
    // The first run of all also makes the bytes that bodies consist of.
    run(100);
    let short = run(500);
    let long = run(3_500);
    assert!(short > 0, "the counter counts");
    // What this thread allocates when it waits, the peer too, depends on how often it does; a request that allocated would cost 3,000.
    let waits = 750;
    assert!(long <= short + waits, "{short} allocations for 500 requests, {long} for 3,500");
}
