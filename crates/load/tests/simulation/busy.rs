//! A pace on a machine that is late: whatever is due is sent or counted, exactly.

use crate::server::{Move, Script, answer};
use crate::world::{Case, page, phase};
use net::Faults;
use plan::{Arrivals, Delay, Pace, Request, RequestOrder, RequestStep, Stage, Step, Stop, Walks};
use std::time::Duration;

fn after(duration: Duration) -> Stop {
    Stop { after: Some(duration), ..Stop::default() }
}

fn plain() -> crate::world::Server {
    crate::world::Server::Script(Script::new(|_| vec![Move::Send(answer(b"page"))]))
}

/// Half of all waits end up to 300 ms late.
fn late() -> Faults {
    Faults { lags: 0.5, lag: Duration::from_millis(300), ..Faults::default() }
}

#[test]
fn what_is_due_is_sent_or_counted_however_late_the_worker_is() {
    for seed in 0..40 {
        for (arrivals, in_flight) in
            [(Arrivals::Even, 1_000), (Arrivals::Even, 3), (Arrivals::Bursts(50), 20)]
        {
            let pace = Pace::Rate { per_second: 500.0, arrivals, in_flight };
            let mut case = Case::new(vec![phase(page(), pace, after(Duration::from_secs(1)))], plain());
            (case.seed, case.faults) = (seed, late());
            let counts = case.run().counts();
            assert_eq!(counts.requests + counts.overflow, 500, "seed {seed}, {arrivals:?}: {counts:?}");
            assert!(in_flight < 1_000 || counts.overflow == 0, "seed {seed}: {counts:?}");
        }
    }
}

#[test]
fn the_last_stage_loses_nothing_either() {
    for seed in 0..20 {
        let stages = Stage::parse_list("200ms:100,200ms:0,200ms:0..1000").unwrap();
        let pace = Pace::Stages { stages, arrivals: Arrivals::Even, in_flight: 1_000 };
        let mut case = Case::new(vec![phase(page(), pace, after(Duration::from_millis(600)))], plain());
        (case.seed, case.faults) = (seed, late());
        let counts = case.run().counts();
        assert_eq!((counts.requests, counts.overflow), (120, 0), "seed {seed}");
    }
}

/// 400 users who think for 2 s send 200 requests a second, from the first second on.
#[test]
fn users_who_think_begin_with_the_rate_at_which_they_go_on() {
    let mean = Duration::from_secs(2);
    for think in [
        Delay::Exponential { mean },
        Delay::Fixed { delay: mean },
        Delay::Uniform { min: Duration::ZERO, max: mean * 2 },
        Delay::Lognormal { median: mean.mul_f64((-0.5f64).exp()), sigma: 1.0 },
    ] {
        let pace = Pace::Thinking { users: 400, think };
        let case = Case::new(vec![phase(page(), pace, after(Duration::from_secs(1)))], plain());
        let sent = case.run().counts().requests;
        assert!((155..=245).contains(&sent), "{think}: {sent}");
    }
}

/// A server that takes 50 ms: three requests of one user with two pauses of 100 ms take 350 ms, whoever else is there.
#[test]
fn users_of_a_recording_pause_after_their_answers() {
    let paths = ["a", "b", "c", "d", "e"].map(|path| Request::get(&format!("http://server/{path}")));
    let step = RequestStep {
        requests: paths.to_vec().into(),
        order: RequestOrder::PerUser,
        ..RequestStep::default()
    };
    for workers in [1, 2] {
        let slow = Script::new(|_| vec![Move::Wait(Duration::from_millis(50)), Move::Send(answer(b"page"))]);
        let walks = Walks::new([vec![0, 100_000, 100_000], vec![20_000, 0]]);
        let pace = Pace::Walks { users: 2, walks };
        let walked = phase(Step::Requests(step.clone()), pace, Stop::default());
        let mut case = Case::new(vec![walked], crate::world::Server::Script(slow));
        case.workers = workers;
        let ran = case.run();
        let counts = ran.counts();
        assert_eq!((counts.requests, counts.ok, counts.overflow), (5, 5, 0), "{workers}: {counts:?}");
        assert!((350..420).contains(&ran.took.as_millis()), "{workers}: {:?}", ran.took);
    }
}
