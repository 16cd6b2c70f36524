//! Laws that hold whatever the seed does: nothing is lost, nothing is counted twice, nothing is left behind, and the same
//! seed does the same again.

use crate::scenario;
use crate::world::{Case, Ran, Server};
use measure::{Clock, Counts};
use net::Faults;
use plan::{Pace, Phase, Step};
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Seeds that each test run tries.
const SEEDS: u64 = 300;
/// One seed in so many is run twice.
const REPLAYED: u64 = 10;

/// `WRINGER_SEEDS` and `WRINGER_SEED_FROM`, as `cargo xtask simulate` sets them; `WRINGER_SEED_LOG` prints the log.
#[test]
fn every_seed_keeps_the_laws() {
    let number = |name| env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let from = number("WRINGER_SEED_FROM").unwrap_or(1);
    let count = number("WRINGER_SEEDS").unwrap_or(SEEDS);
    let log = env::var_os("WRINGER_SEED_LOG").is_some();
    let mut requests = 0;
    for seed in from..from.saturating_add(count) {
        match catch_unwind(AssertUnwindSafe(|| keeps_the_laws(seed, log))) {
            Ok(counts) => requests += counts.requests,
            Err(_) => panic!("seed {seed} fails; again: cargo xtask simulate --from {seed} --seeds 1 --log"),
        }
    }
    println!("{count} seeds from {from}: {requests} requests, each accounted for");
}

fn keeps_the_laws(seed: u64, log: bool) -> Counts {
    let case = || Case { keeps_log: log, ..scenario::of_seed(seed) };
    let ran = case().run();
    ran.log.lines.iter().for_each(|line| println!("{line}"));
    let case = case();
    conserves(&case, &ran);
    agrees_with_the_origin(&case, &ran);
    leaves_nothing(&ran);
    ends_in_time(&case, &ran);
    if seed.is_multiple_of(REPLAYED) {
        let again = scenario::of_seed(seed).run();
        assert_eq!((again.log.hash, again.log.entries), (ran.log.hash, ran.log.entries), "another run");
        assert_eq!(again.counts(), ran.counts(), "another run");
    }
    ran.counts()
}

/// What was begun has ended, in exactly one way.
fn conserves(case: &Case, ran: &Ran) {
    for (phase, tally) in case.load.phases.iter().zip(&ran.phases) {
        let counts = &tally.counts;
        let ended = counts.fine + counts.faulty + counts.injected + counts.aborted + counts.failed;
        assert_eq!(counts.requests, ended + counts.unfinished, "{phase:?}: {counts:?}");
        assert_eq!(tally.failures().map(|(_, count)| count).sum::<u64>(), counts.failed, "{counts:?}");
        for clock in [Clock::Service, Clock::Response] {
            assert_eq!(tally.clock(clock).len(), counts.fine, "{}: {counts:?}", clock.name());
        }
        // Neither the network nor the origin makes bytes up, and there is no cache.
        assert_eq!((counts.faulty, counts.hits), (0, 0), "{:?}", tally.faults().collect::<Vec<_>>());
        is_as_many_as_asked_for(case, phase, counts);
    }
    assert_eq!(ran.left, 0, "under way at the end");
}

fn is_as_many_as_asked_for(case: &Case, phase: &Phase, counts: &Counts) {
    let Some(most) = phase.stop.requests else { return };
    assert!(counts.requests <= most, "{counts:?}");
    if phase.stop.after.is_none() && case.stop_after.is_none() {
        assert_eq!(counts.requests, most, "{counts:?}");
    }
}

/// What one side says it did, the other has seen. Each sending of a request is answered once at most.
fn agrees_with_the_origin(case: &Case, ran: &Ran) {
    let (client, origin) = (ran.counts(), &ran.origin);
    let answered = client.fine + client.injected;
    assert!(answered <= origin.requests, "{client:?} {origin:?}");
    assert!(origin.requests <= client.requests + client.resent, "{client:?} {origin:?}");
    // What could not be sent to its end, because the connection broke or nobody takes it, the origin does not count.
    let sent_all = origin.broken == 0 && origin.closed == origin.connections;
    assert!(!sent_all || client.body_bytes <= origin.body_bytes, "{client:?} {origin:?}");
    assert_eq!(origin.malformed, 0, "{origin:?}");
    if case.faults == scenario::good_network() && client.unfinished + client.aborted + client.failed == 0 {
        assert_eq!(client.requests, origin.requests, "{client:?} {origin:?}");
        assert_eq!(client.head_bytes, origin.head_bytes, "{client:?} {origin:?}");
        assert_eq!(client.body_bytes, origin.body_bytes, "{client:?} {origin:?}");
        assert_eq!(client.sent_bytes, origin.received_bytes, "{client:?} {origin:?}");
    }
}

/// After the run, the engine holds neither a task nor a connection nor a buffer. The origin may still wait for clients whose
/// end was lost on the way, a task and a socket for each of them.
fn leaves_nothing(ran: &Ran) {
    let waiting = (ran.origin.connections - ran.origin.closed) as usize;
    assert_eq!((ran.then.tasks, ran.then.open_sockets), (1 + waiting, 1 + waiting), "{:?}", ran.then);
    let end = &ran.end;
    assert_eq!((end.tasks, end.open_sockets, end.buffers_outstanding), (0, 0, 0), "{end:?}");
}

/// A run ends when it is to end, and the time of grace is its only delay.
fn ends_in_time(case: &Case, ran: &Ran) {
    // The engine looks up whether it is over each 20 ms, and begins a phase within 3 ms; a busy machine delays it more.
    let slack = Duration::from_millis(30) + 4 * case.faults.lag;
    let phases = case.load.phases.iter().map(|phase| phase.stop.after.map(|after| after + slack));
    let by_clock = phases.map(|after| Some(after? + case.load.limits.grace)).sum::<Option<Duration>>();
    let by_order =
        case.stop_after.map(|after| after + (case.load.limits.grace + slack) * case.load.phases.len() as u32);
    let Some(most) = [by_clock, by_order].into_iter().flatten().min() else { return };
    assert!(ran.took <= most, "{:?} instead of {most:?}", ran.took);
}

#[test]
fn a_seed_is_replayed_and_another_one_differs() {
    let hash = |seed| scenario::of_seed(seed).run().log.hash;
    let hashes: Vec<u64> = (1..20).map(hash).collect();
    assert_eq!(hashes, (1..20).map(hash).collect::<Vec<_>>());
    let mut different = hashes.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), hashes.len());
}

/// The seeds are worth running: what they are to find does happen in them.
#[test]
fn the_seeds_meet_all_sorts_of_ends() {
    let (mut sum, mut kinds) = (Counts::default(), Vec::new());
    for seed in 1..=100 {
        let ran = scenario::of_seed(seed).run();
        sum.merge(&ran.counts());
        kinds.extend(ran.failures().into_iter().map(|(kind, stage, _)| (kind.name(), stage.name())));
    }
    kinds.sort_unstable();
    kinds.dedup();
    for count in [sum.fine, sum.injected, sum.aborted, sum.failed, sum.unfinished, sum.overflow, sum.resent] {
        assert!(count > 0, "{sum:?}");
    }
    assert!(kinds.len() >= 10, "{kinds:?}");
}

/// A case that a seed would meet rarely: all users are in the middle of something when the run is stopped.
#[test]
fn a_stop_amid_everything_leaves_nothing() {
    for at_us in (0..20_000).step_by(97) {
        let mut case = scenario::of_seed(3);
        let step = Step::Object(plan::ObjectStep::default());
        let stop = plan::Stop { after: Some(Duration::from_secs(9)), ..plan::Stop::default() };
        case.load.phases = vec![crate::world::phase(step, Pace::Users(10), stop)];
        case.load.limits.grace = Duration::ZERO;
        case.server = Server::Origin(Box::new(plan::Origin { remember: 4, ..plan::Origin::default() }));
        case.faults =
            Faults { delay: (Duration::from_micros(700), Duration::from_millis(3)), ..Faults::default() };
        case.stop_after = Some(Duration::from_micros(at_us));
        let ran = case.run();
        leaves_nothing(&ran);
        let counts = ran.counts();
        assert_eq!(counts.requests, counts.fine + counts.unfinished, "stopped at {at_us} µs: {counts:?}");
    }
}
