//! The bystander: a hundred requests a second for twenty small objects, over connections of its own, and every byte is judged.

use super::place::{Addresses, Place};
use cli::StressArgs;
use measure::{RunEvent, Second};
use plan::site::Size;
use plan::{
    Arrivals, Http, Law, LoadLimits, ObjectStep, Origin, Pace, Phase, Plan, Popularity, Protocol, Scenario,
    Site, Step, Stop,
};
use session::Sink;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Its requests per second, and its objects with their size.
const RATE: f64 = 100.0;
const OBJECTS: u64 = 20;
const BYTES: u64 = 1_000;
/// Its working set, which nobody else asks for.
const SET: u8 = 25;
/// Requests that fill the cache, by so many users.
const FILL: u64 = 400;
const FILLERS: u32 = 4;
/// The most of its requests under way.
const IN_FLIGHT: u32 = 1_000;
/// Time limit of its requests.
const PATIENCE: Duration = Duration::from_secs(5);
/// The rows of its run are so long.
pub const ROW: Duration = Duration::from_millis(500);
/// Place of the phase that is watched.
const WATCHED: u32 = 1;
/// Seconds of a scenario beside those that it presses and is watched before, at least.
pub const LEAST_BESIDE_S: f64 = 7.0;
/// It ends by itself so long after its time, should nobody end it.
const SPARE_S: f64 = 30.0;

/// Seconds that it is watched before anything presses.
pub fn before_s(args: &StressArgs) -> f64 {
    (args.scenarios.press.as_secs_f64() / 3.0).clamp(3.0, 10.0)
}

/// Its plan, with the origin of the scenario.
pub fn plan(place: &Place<'_>, at: &Addresses, site: &Site, origin: Origin) -> Plan {
    let site = Site { size: Size::Fixed(BYTES), ..site.clone() };
    let popularity =
        Popularity { hot: OBJECTS, law: Law::Uniform, one_timers: 0.0, drift_per_hour: 0.0, set: SET };
    let scenario = Scenario::of(vec![Step::Object(ObjectStep { popularity, ..ObjectStep::default() })]);
    let fill = Phase {
        name: "fill".to_owned(),
        measured: false,
        scenario: scenario.clone(),
        pace: Pace::Users(FILLERS),
        stop: Stop { requests: Some(FILL), ..Stop::default() },
        ..Phase::default()
    };
    let asked = &place.args.scenarios;
    let most = before_s(place.args) + asked.press.as_secs_f64() + asked.back.as_secs_f64() + SPARE_S;
    let watched = Phase {
        name: "bystander".to_owned(),
        scenario,
        pace: Pace::Rate { per_second: RATE, arrivals: Arrivals::Poisson, in_flight: IN_FLIGHT },
        stop: Stop { after: Some(Duration::from_secs_f64(most)), ..Stop::default() },
        ..Phase::default()
    };
    let protocol = Protocol::Http(Http::default());
    let mut plan = place.plan(at, site, protocol, vec![fill, watched], Some(origin));
    // One is enough for it, and the origin beside it.
    plan.threads = Some(1);
    let load = plan.load.as_mut().expect("it was just made");
    load.limits = LoadLimits { request: PATIENCE, ..LoadLimits::default() };
    plan
}

/// The rows of the bystander so far, its fill left out.
#[derive(Debug, Default)]
pub struct Rows(Mutex<Vec<Second>>);

impl Rows {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Those from a place on, up to another one.
    pub fn between(&self, from: usize, to: usize) -> Vec<Second> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.get(from..to.min(rows.len())).unwrap_or(&[]).to_vec()
    }
}

impl Sink for Rows {
    fn put(&self, event: &Arc<RunEvent>) {
        if let RunEvent::Second(second) = &**event
            && second.phase == WATCHED
        {
            // Each change of them is whole.
            second.as_ref().clone().push_to(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}
