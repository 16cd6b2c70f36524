//! Capacity of the target: two short runs of users who wait for each answer, over kept connections and with a connection for each request.

use super::place::{Addresses, Place, Role};
use crate::command::leg;
use crate::problem::Problem;
use decide::stress::{Ground, Press};
use plan::{CloseBy, Origin, Pace, Phase, Protocol, Stop};
use rustix::process::{Resource, getrlimit};
use std::time::Duration;

/// Users, and how long they ask.
const USERS: u32 = 64;
const SECONDS: Duration = Duration::from_secs(3);
/// How long a target may take until it answers.
const READY: Duration = Duration::from_secs(30);
/// Where its capacity is given, so much of it is taken to be left with a connection for each request.
const OF_CONNECTIONS: f64 = 0.2;

/// Measures what the target carries, unless that was said.
///
/// # Errors
/// It cannot be started, or does not answer.
pub fn ground(place: &mut Place<'_>) -> Result<Ground, Problem> {
    session::doctor::raise_descriptors();
    let asked = &place.args.scenarios;
    let mut ground = Ground {
        capacity: 0.0,
        connections: 0.0,
        press_s: asked.press.as_secs_f64(),
        descriptors: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX),
        is_secure: place.args.is_secure(),
        is_owned: place.is_ours() || asked.i_own_this,
        cache_bytes: place.cache_bytes(),
        knows_processes: place.is_ours() || !place.args.pids.is_empty(),
        reloads: place.reloads(),
        has_disk: place.has_disk(),
    };
    if let Some(capacity) = asked.capacity {
        (ground.capacity, ground.connections) = (capacity, OF_CONNECTIONS * capacity);
        return Ok(ground);
    }
    let at = place.addresses(false, "gauge")?;
    let kept = Press::hits(Pace::Users(USERS));
    let single = Press::hits(Pace::Users(USERS)).speaking(|http| {
        http.requests_per_connection = Some(1);
        // Ports that wait would be missed later.
        http.close = CloseBy::Reset;
    });
    ground.capacity = rate(place, &at, &kept)?;
    ground.connections = rate(place, &at, &single)?;
    Ok(ground)
}

/// Good answers per second.
fn rate(place: &mut Place<'_>, at: &Addresses, press: &Press) -> Result<f64, Problem> {
    let phase = Phase {
        stop: Stop { after: Some(SECONDS), ..Stop::default() },
        preconnect: None,
        ..press.phase.clone()
    };
    let protocol: Protocol = press.protocol.clone();
    let plan = place.plan(at, press.site.clone(), protocol, vec![phase], Some(Origin::default()));
    let around = crate::command::around::options(session::SessionOptions {
        ready: place.args.wait.ready.or(Some(READY)),
        ..session::SessionOptions::default()
    })?;
    // The origin comes first: some proxies take an origin that does not answer at once for dead.
    let ready = session::prepare(&plan, &around, false)?;
    let pressed = place.start(at, None)?;
    let about = place.about(&plan, "none", Role::Gauge);
    let finished = ready.about(about).run(None, &mut leg::Quiet)?;
    leg::refuse_broken(&finished)?;
    place.know(&pressed);
    let measured = finished.result.measured();
    let good = measured.per_second(measured.counts().ok);
    leg::end(finished);
    if good <= 0.0 {
        return Err(Problem::impossible(format!(
            "{} gave no good answer: it must pass requests on to the origin at {}; try wringer cache against it first",
            place.title, at.origin
        )));
    }
    Ok(good)
}
