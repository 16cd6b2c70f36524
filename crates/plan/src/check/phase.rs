//! Rules for a phase: its pace, when it stops, and what its steps send.

use super::{MAX_USERS, http2, journey, messages, object, requests, share};
use crate::http::version::HttpVersion;
use crate::load::{Load, Phase};
use crate::pace::delay::Delay;
use crate::pace::walks::Walks;
use crate::pace::{Arrivals, Curve, Pace};
use crate::scenario::{RequestOrder, RequestStep, Scenario, Step};
use crate::violation::{ViolationFound, ViolationPart};

/// Most arrivals per second.
const MAX_RATE: f64 = 1e9;

pub(super) fn check_phase(phase: &Phase, load: &Load, found: &mut ViolationFound) {
    let name = &phase.name;
    check_pace(phase, found);
    found.within("stop", |found| check_stop(phase, found));
    let pipeline = load.protocol.http().map_or(1, |http| http.h1.pipeline);
    if pipeline > 1 && phase.pace.closed().is_none() {
        found.at(
            "pace",
            format!(
                "phase '{name}': pipeline needs a pace of users: a schedule hands out one request at a time"
            ),
        );
    }
    if phase.scenario.steps.is_empty() && phase.groups.is_empty() {
        found.at("scenario", format!("phase '{name}' has no step: nothing would be sent"));
    }
    journey::check(phase, found);
    check_preconnect(phase, load, found);
    for (path, step, versions) in sends(phase) {
        found.along(path, |found| {
            check_send(phase, step, load, found);
            http2::check_send(phase, step, versions, load, found);
        });
    }
}

/// Only what goes over a user's own connection finds one that was opened before.
fn check_preconnect(phase: &Phase, load: &Load, found: &mut ViolationFound) {
    let Some(wanted) = phase.preconnect.filter(|wanted| *wanted > 0) else { return };
    let name = &phase.name;
    let parts = phase.parts();
    let most = parts.iter().map(Phase::connections_at_once).min().unwrap_or(0);
    if wanted > most {
        let text = format!(
            "phase '{name}': preconnect is {wanted}, but at most {most} connections are in use at once"
        );
        found.at("preconnect", text);
    }
    if parts.iter().any(|part| matches!(part.pace, Pace::Connections { .. })) {
        found.at("preconnect", format!(
            "phase '{name}': preconnect beside connections per second, which are opened when they are due: leave it out"
        ));
    }
    let shares = load.protocol.http().is_some_and(|http| http.streams().is_some());
    let shares =
        shares || parts.iter().flat_map(|part| &part.http).any(|version| *version != HttpVersion::One);
    let by_itself = |step: &Step| {
        matches!(step, Step::Requests(step) if !step.session.is_none()) || matches!(step, Step::Urls(_))
    };
    let by_itself = phase.has_journeys() || phase.sends().into_iter().any(by_itself);
    if shares || by_itself {
        found.at("preconnect", format!(
            "phase '{name}': preconnect is of connections that users of HTTP/1.1 or of messages have to themselves; \
             HTTP/2, HTTP/3, journeys, sessions and lists of URLs open theirs as they are needed: leave it out"
        ));
    }
}

fn check_stop(phase: &Phase, found: &mut ViolationFound) {
    let name = &phase.name;
    let stop = &phase.stop;
    if stop.requests == Some(0) || stop.after.is_some_and(|after| after.is_zero()) {
        found.push(format!("phase '{name}' stops before it begins: give more than 0 in stop"));
    }
    if [stop.turns_per_user, stop.failures, stop.unconnected].contains(&Some(0)) {
        found.push(format!("phase '{name}': turns_per_user, failures and unconnected must be more than 0"));
    }
    if stop.turns_per_user.is_some() && phase.pace.closed().is_none() {
        found.at("turns_per_user", format!("phase '{name}': turns_per_user needs a pace of users"));
    }
}

fn check_send(phase: &Phase, step: &Step, load: &Load, found: &mut ViolationFound) {
    let name = &phase.name;
    if !matches!(step, Step::Messages(_)) && load.protocol.http().is_none() {
        found.push(format!("phase '{name}' speaks HTTP where the protocol is messages: give one of both"));
    }
    match step {
        Step::Messages(step) => {
            found.of(&format!("phase '{name}'"), |found| messages::check(phase, step, load, found));
        }
        Step::Object(step) => {
            object::check_object(name, step, load.target.is_some(), found);
            if step.head > 0.0 && load.protocol.http().is_some_and(|http| http.post_bytes.is_some()) {
                found
                    .at("head", format!("phase '{name}': head: all requests are POST: leave out post_bytes"));
            }
        }
        Step::Requests(step) => {
            requests::check_requests(name, step, &kept_around(phase, step), load, found);
            requests::check_continue(phase, step, load, found);
        }
        Step::Script(step) => requests::check_script(phase, step, load, found),
        Step::Urls(step) => {
            share(found, &format!("phase '{name}': reload"), step.reload);
            let https =
                |url: &&String| url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
            if let Some(url) = step.urls.iter().find(https) {
                found.within("urls", |found| requests::check_https(name, url, load, found));
            }
        }
        Step::Sequence(_)
        | Step::Loop(_)
        | Step::If(_)
        | Step::Choice(_)
        | Step::Share(_)
        | Step::Once(_)
        | Step::Transaction(_)
        | Step::Lock(_)
        | Step::Together(_)
        | Step::Pause(_)
        | Step::Wait(_)
        | Step::Rhythm(_)
        | Step::Barrier(_)
        | Step::Set(_)
        | Step::Counter(_)
        | Step::Feed(_)
        | Step::Extract(_)
        | Step::Check(_)
        | Step::Code(_)
        | Step::Log(_)
        | Step::Flow(_) => {}
    }
}

/// All that is sent, in the order of the plan, each with its way from the phase and the versions of HTTP that are named for it.
fn sends(phase: &Phase) -> Vec<(Vec<ViolationPart>, &Step, &[HttpVersion])> {
    let mut found = Vec::new();
    let mut add = |scenario, path, versions| {
        let mut sent = Vec::new();
        sends_of(scenario, path, &mut sent);
        found.extend(sent.into_iter().map(|(path, step)| (path, step, versions)));
    };
    if phase.groups.is_empty() {
        add(&phase.scenario, Vec::new(), &phase.http[..]);
    }
    for (nth, group) in phase.groups.iter().enumerate() {
        add(&group.scenario, vec!["groups".into(), nth.into()], phase.versions_of(group));
    }
    found
}

fn sends_of<'a>(
    scenario: &'a Scenario,
    path: Vec<ViolationPart>,
    found: &mut Vec<(Vec<ViolationPart>, &'a Step)>,
) {
    let path = [path, vec!["scenario".into(), "steps".into()]].concat();
    sends_in(&scenario.steps, path, found);
}

fn sends_in<'a>(
    steps: &'a [Step],
    path: Vec<ViolationPart>,
    found: &mut Vec<(Vec<ViolationPart>, &'a Step)>,
) {
    for (nth, step) in steps.iter().enumerate() {
        let path = [path.as_slice(), &[ViolationPart::Item(nth), ViolationPart::Choice]].concat();
        if step.is_send() {
            found.push((path.clone(), step));
        }
        for (way, steps) in lists(step) {
            sends_in(steps, [path.clone(), way].concat(), found);
        }
    }
}

/// The lists of steps in a step, each with its way from there.
pub(super) fn lists(step: &Step) -> Vec<(Vec<ViolationPart>, &[Step])> {
    let lists = step.lists().into_iter();
    if matches!(step, Step::If(_)) {
        return [vec!["steps".into()], vec!["otherwise".into()]].into_iter().zip(lists).collect();
    }
    if matches!(step, Step::Choice(_)) {
        let way = |nth: usize| vec!["branches".into(), nth.into(), "steps".into()];
        return lists.enumerate().map(|(nth, steps)| (way(nth), steps)).collect();
    }
    let name = if matches!(step, Step::Requests(_) | Step::Code(_)) { "after" } else { "steps" };
    lists.map(|steps| (vec![name.into()], steps)).collect()
}

/// The names that are kept in the scenario that a step belongs to.
fn kept_around<'a>(phase: &'a Phase, step: &RequestStep) -> Vec<&'a str> {
    let holds = |sent: &&Step| matches!(sent, Step::Requests(other) if std::ptr::eq(other, step));
    let own = phase.scenarios().find(|scenario| scenario.sends().iter().any(holds));
    own.map(|scenario| scenario.kept()).unwrap_or_default()
}

/// Violations of a phase's or a group's pace.
pub(super) fn check_pace(phase: &Phase, found: &mut ViolationFound) {
    found.along(["pace".into(), ViolationPart::Choice], |found| {
        check_users(phase, found);
        check_law(phase, found);
    });
}

fn check_users(phase: &Phase, found: &mut ViolationFound) {
    let name = &phase.name;
    let mut limit = |what: &'static str, value: u32| {
        if value == 0 || value > MAX_USERS {
            found.at(what, format!("phase '{name}': {what} is {value}: give 1 to {MAX_USERS}"));
        }
    };
    match &phase.pace {
        Pace::Users(users)
        | Pace::Thinking { users, .. }
        | Pace::Timetable { users, .. }
        | Pace::Moments { users, .. }
        | Pace::Walks { users, .. } => {
            limit("users", *users);
        }
        Pace::Ramps(rows) => rows.iter().for_each(|row| limit("users", row.users)),
        Pace::Rate { in_flight, .. }
        | Pace::Stages { in_flight, .. }
        | Pace::Recorded { in_flight, .. }
        | Pace::Connections { in_flight, .. } => {
            limit("in_flight", *in_flight);
        }
    }
}

fn check_law(phase: &Phase, found: &mut ViolationFound) {
    let name = &phase.name;
    match &phase.pace {
        Pace::Users(_) => {}
        Pace::Ramps(rows) => {
            if rows.is_empty() {
                found.push(format!("phase '{name}': ramps has no row: give one with users"));
            }
        }
        Pace::Thinking { think, .. } => {
            found.within("think", |found| check_delay(&format!("phase '{name}': think"), think, found));
        }
        Pace::Timetable { per_second, .. } => check_rate(name, *per_second, found),
        Pace::Moments { share, at, .. } => {
            if *share == 0 {
                found.at("share", format!("phase '{name}': share is 0: give at least 1 user"));
            }
            if at.is_empty() || !at.is_sorted() {
                found.at("at", format!("phase '{name}': at has moments, ascending: give at least one"));
            }
        }
        Pace::Recorded { at_us, .. } => {
            if let Some(fault) = at_us.fault() {
                found.at("at_us", format!("phase '{name}': at_us {fault}"));
            }
            if phase.groups.iter().any(|group| group.share.is_some()) {
                found.push(format!(
                    "phase '{name}': a group has a share of recorded moments, which cannot be dealt out: give each group a pace"
                ));
            }
        }
        Pace::Walks { users, walks } => check_walks(phase, *users, walks, found),
        Pace::Rate { per_second, arrivals, .. } | Pace::Connections { per_second, arrivals, .. } => {
            check_rate(name, *per_second, found);
            check_arrivals(name, *arrivals, found);
        }
        Pace::Stages { stages, arrivals, .. } => {
            let most = Curve::of(stages, 0.0).highest();
            if !(most > 0.0 && most <= MAX_RATE) {
                found.at("stages", format!(
                    "phase '{name}': stages have at most {most} arrivals per second: give at least one stage above 0, at most 1e9",
                ));
            }
            check_arrivals(name, *arrivals, found);
        }
    }
}

/// Walks have a request for each of their turns, and nobody can deal them out.
fn check_walks(phase: &Phase, users: u32, walks: &Walks, found: &mut ViolationFound) {
    let name = &phase.name;
    let mut listed = None;
    if let [Step::Requests(step)] = &phase.scenario.steps[..]
        && step.order == RequestOrder::PerUser
        && phase.groups.is_empty()
    {
        listed = Some(step.requests.len());
    }
    if let Some(fault) = walks.fault(listed) {
        found.at("walks", format!("phase '{name}': walks {fault}"));
    } else if u64::from(users) != walks.users() {
        found.at(
            "users",
            format!("phase '{name}': users is {users}, and there are walks of {}", walks.users()),
        );
    }
    if phase.stop.requests.is_some() {
        found.push(format!("phase '{name}': walks end by themselves: leave out stop.requests"));
    }
}

fn check_rate(phase: &str, per_second: f64, found: &mut ViolationFound) {
    if !(per_second > 0.0 && per_second <= MAX_RATE) {
        found.at(
            "per_second",
            format!("phase '{phase}': per_second is {per_second}: give more than 0, at most 1e9"),
        );
    }
}

fn check_arrivals(phase: &str, arrivals: Arrivals, found: &mut ViolationFound) {
    if matches!(arrivals, Arrivals::Jitter(percent) if percent > 100) {
        found.at("arrivals", format!("phase '{phase}': jitter is more than 100 percent: give 0 to 100"));
    }
    if arrivals == Arrivals::Bursts(0) {
        found.at("arrivals", format!("phase '{phase}': bursts is 0: give at least 1 arrival per burst"));
    }
}

/// Violations of a waiting time.
pub(super) fn check_delay(name: &str, law: &Delay, found: &mut ViolationFound) {
    if matches!(law, Delay::Uniform { min, max } if min > max) {
        found.push(format!("{name}: min is greater than max: give the shorter time first"));
    }
    if let Delay::Lognormal { sigma, .. } = law
        && !(0.0..=5.0).contains(sigma)
    {
        found.push(format!("{name}: sigma is {sigma}: give 0 to 5"));
    }
}
