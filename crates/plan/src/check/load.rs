//! Rules for the client side as a whole: protocol, where connections go, limits, thresholds.

use super::requests::check_fields;
use super::{ViolationFound, ViolationPart, http2, is_address, phase, share, trace_context};
use crate::data::template::is_template;
use crate::load::http::Http;
use crate::load::sources::MAX_SOURCES;
use crate::load::targets::{MAX_TARGETS, TargetSpread};
use crate::load::{KeptContents, Load, LoadLimits, Phase, Protocol};
use crate::pace::Pace;
use crate::scenario::{RequestStep, Step};
use crate::text::meant;

/// Most requests sent at once over a connection.
const MAX_PIPELINE: u32 = 1000;

/// Longest path of a Unix socket, in bytes (unix(7): 108 with the closing zero).
const MAX_UNIX_PATH: usize = 107;

pub(super) fn check_load(load: &Load, found: &mut ViolationFound) {
    let protocol = [ViolationPart::from("protocol"), ViolationPart::Choice];
    found.along(protocol.clone(), |found| check_protocol(&load.protocol, found));
    if let Some(http) = load.protocol.http() {
        found.along(protocol, |found| {
            http2::check_versions(load, found);
            check_reach(load, http, found);
            trace_context::check(load, http, found);
        });
    }
    found.within("check", |found| share(found, "check: tolerated", load.check.tolerated));
    if let Some(target) = load.target.as_ref().filter(|target| !is_address(target)) {
        found.at("target", format!("target '{target}' is not host:port, such as localhost:8080"));
    }
    check_targets(load, found);
    let sources = load.sources.iter().fold(0u64, |sum, range| sum.saturating_add(range.count()));
    if sources > MAX_SOURCES {
        found.at("sources", format!("sources are {sources} addresses: give at most {MAX_SOURCES}"));
    }
    check_thresholds(load, found);
    if load.phases.is_empty() {
        found.at("phases", "load has no phase: nothing would be sent".to_owned());
    }
    found.within("limits", |found| check_limits(&load.limits, found));
    found.within("trace", |found| check_contents(load, found));
    for (nth, phase) in load.phases.iter().enumerate() {
        found.along([ViolationPart::from("phases"), ViolationPart::Item(nth)], |found| {
            phase::check_phase(phase, load, found);
            check_rate_of_connections(phase, load, found);
        });
    }
}

/// Several targets are pressed alike, and what is told of one must hold for all.
fn check_targets(load: &Load, found: &mut ViolationFound) {
    if !load.has_several_targets() {
        if load.spread != TargetSpread::Turn {
            found
                .at("spread", "spread is for several targets: give more_targets, or leave it out".to_owned());
        }
        return;
    }
    let all: Vec<&str> = load.targets().collect();
    if let Some(target) = load.more_targets.iter().find(|target| !is_address(target)) {
        found.at("more_targets", format!("target '{target}' is not host:port, such as localhost:8080"));
    }
    if let Some((nth, _)) = all.iter().enumerate().find(|(nth, target)| all[..*nth].contains(target)) {
        found.at("more_targets", format!("target '{}' is given twice", all[nth]));
    }
    let refused = [
        (load.target.is_none(), "more_targets stand beside a target: give the first one as target"),
        (
            load.protocol.connections().tls.is_some(),
            "several targets cannot be spoken to over TLS, as certificates are checked for the name of one: give one target",
        ),
        (
            load.spread != TargetSpread::Hash
                && load
                    .phases
                    .iter()
                    .flat_map(Phase::sends)
                    .any(|step| matches!(step, Step::Object(one) if one.purge.is_some())),
            "purges would reach one of several targets each, and the others would keep what is purged: give one target, or spread hash",
        ),
    ];
    for (_, why) in refused.into_iter().filter(|(is_so, _)| *is_so) {
        found.at("more_targets", why.to_owned());
    }
    if load.spread == TargetSpread::Hash {
        check_hash(load, found);
    }
    if all.len() > MAX_TARGETS {
        found.at("more_targets", format!("{} targets are more than {MAX_TARGETS}", all.len()));
    }
}

/// Where the object decides, it must be known before there is a connection, and users keep one to each target.
fn check_hash(load: &Load, found: &mut ViolationFound) {
    let steps = || load.phases.iter().flat_map(Phase::sends);
    let has_template = |requests: &RequestStep| {
        requests.templates && requests.requests.iter().any(|line| is_template(line.url.as_bytes()))
    };
    let varies = |step: &Step| matches!(step, Step::Requests(requests) if has_template(requests));
    let carries_more = load.protocol.connections().requests_per_connection != Some(1);
    let counts = |phase: &Phase| phase.pace.open().is_some_and(|open| open.connections);
    let by_connection = load.phases.iter().flat_map(Phase::parts).any(|part| counts(&part));
    let refused = [
        (load.protocol.http().is_none(), "messages over TCP are of no object"),
        (
            load.spoken().iter().any(|http| http.streams().is_some()),
            "connections of HTTP/2 and HTTP/3 are shared by users, whatever they ask for",
        ),
        (
            steps().any(|step| matches!(step, Step::Script(_))),
            "a script says what it asks for only when it sends it",
        ),
        (steps().any(varies), "a URL with a placeholder is known only when it is sent"),
        (by_connection && carries_more, "a new connection would carry requests for several targets"),
    ];
    for (_, why) in refused.iter().filter(|(is_so, _)| *is_so) {
        found.at(
            "spread",
            format!("spread hash goes by the object of a request, and {why}: give spread turn or own"),
        );
    }
}

/// Codings choose among forms of whole bodies, by a field that is theirs.
pub(super) fn check_codings(load: &Load, found: &mut ViolationFound) {
    for (nth, phase) in load.phases.iter().enumerate() {
        let ranges =
            phase.scenario.steps.iter().any(|step| matches!(step, Step::Object(one) if one.range > 0.0));
        if ranges {
            found.along([ViolationPart::from("phases"), ViolationPart::Item(nth)], |found| {
                found.push(format!(
                    "phase '{}': range: bytes of a coded body are those of its coding, which each cache may choose: leave out range, or \
                     vary_on coding",
                    phase.name
                ));
            });
        }
    }
    let accepts = |http: &crate::Http| {
        http.fields.iter().any(|field| field.name.eq_ignore_ascii_case("Accept-Encoding"))
    };
    if load.protocol.http().is_some_and(accepts) {
        found.push(
            "vary_on coding: requests have an Accept-Encoding of their own: leave that field out".to_owned(),
        );
    }
}

/// Contents of requests, and values of users, stand in records of single requests of journeys.
fn check_contents(load: &Load, found: &mut ViolationFound) {
    let trace = &load.trace;
    let wanted =
        [("contents", trace.contents != KeptContents::Nothing), ("values", !trace.values.is_empty())];
    let has_journey = load.phases.iter().any(Phase::has_journeys);
    for (key, _) in wanted.into_iter().filter(|(_, is_wanted)| *is_wanted) {
        if !trace.requests {
            found.at(
                key,
                format!(
                    "trace: {key} are kept in records of requests, and none are made: set requests = true"
                ),
            );
        } else if !has_journey {
            found.at(
                key,
                format!(
                    "trace: {key} are kept in records of journeys, and no phase has one: leave {key} out"
                ),
            );
        }
    }
}

fn check_limits(limits: &LoadLimits, found: &mut ViolationFound) {
    if !(1..=LoadLimits::MOST_FIELDS).contains(&limits.fields) {
        found.at(
            "fields",
            format!("limits: fields is {}: give 1 to {}", limits.fields, LoadLimits::MOST_FIELDS),
        );
    }
    if !(1..=LoadLimits::MOST_HEAD_BYTES).contains(&limits.head_bytes) {
        let most = LoadLimits::MOST_HEAD_BYTES;
        found.at("head_bytes", format!("limits: head_bytes is {}: give 1 to {most}", limits.head_bytes));
    }
    let always = [("connect", Some(limits.connect)), ("request", Some(limits.request))];
    for (name, limit) in always.into_iter().chain([("first_byte", limits.first_byte), ("idle", limits.idle)])
    {
        if limit.is_some_and(|limit| limit.is_zero()) {
            found.at(name, format!("limits: {name} is 0: every request would fail at once; give 1s or more"));
        }
    }
}

/// Checks that a pace of connections has what it needs beside it.
fn check_rate_of_connections(phase: &Phase, load: &Load, found: &mut ViolationFound) {
    if !matches!(phase.pace, Pace::Connections { .. }) {
        return;
    }
    let name = &phase.name;
    let remembers = |step: &Step| matches!(step, Step::Requests(step) if !step.session.is_none());
    if phase.sends().into_iter().any(remembers) {
        found.at("pace", format!(
            "phase '{name}' opens connections per second, which a session has by itself: give a pace of requests or users",
        ));
    }
    if load.protocol.connections().requests_per_connection.is_none() {
        found.at("pace", format!(
            "phase '{name}' opens connections per second: say in requests_per_connection how many requests each carries",
        ));
    }
}

/// Each label of a threshold is one that figures are gathered under.
pub(super) fn check_thresholds(load: &Load, found: &mut ViolationFound) {
    let measured = load.phases.iter().filter(|phase| phase.measured);
    let labels: Vec<String> = measured.flat_map(|phase| phase.labels()).collect();
    for (name, conditions) in [("fail_if", &load.fail_if), ("require", &load.require)] {
        for (nth, threshold) in conditions.iter().enumerate() {
            let unknown = |label: &&str| !labels.iter().any(|one| one == label);
            if let Some(label) = threshold.label.as_deref().filter(unknown) {
                let meant = meant(label, labels.iter().map(String::as_str));
                let meant = meant.map_or(String::new(), |meant| format!(": did you mean '{meant}'?"));
                let text = format!(
                    "{name} '{threshold}': no request or transaction of a measured phase is called '{label}'{meant}"
                );
                found.along([ViolationPart::from(name), ViolationPart::Item(nth)], |found| found.push(text));
            }
        }
    }
}

pub(super) fn check_protocol(protocol: &Protocol, found: &mut ViolationFound) {
    let connections = protocol.connections();
    if connections.requests_per_connection == Some(0) {
        let text = "requests_per_connection is 0: give 1 for no keep-alive, or leave it out for no limit";
        found.at("requests_per_connection", text.to_owned());
    }
    if let Some(tls) = connections.tls {
        found.within("tls", |found| crate::http::tls::check(tls, found));
    }
    if let Some(http) = protocol.http() {
        if !(1..=MAX_PIPELINE).contains(&http.h1.pipeline) {
            let depth = http.h1.pipeline;
            let text = format!("pipeline is {depth}: give 1 to {MAX_PIPELINE} requests");
            found.within("h1", |found| found.at("pipeline", text));
        }
        found.within("fields", |found| check_fields(&http.fields, found));
    }
}

/// Where connections go, and through what.
pub(super) fn check_reach(load: &Load, http: &Http, found: &mut ViolationFound) {
    if http.tunnel && load.target.is_none() {
        found.at("tunnel", "tunnel needs a target that opens it: give the proxy as target".to_owned());
    }
    match &http.unix_socket {
        Some(path) if path.is_empty() || path.len() > MAX_UNIX_PATH || path.contains('\0') => {
            let text =
                format!("unix_socket '{path}' is no path of 1 to {MAX_UNIX_PATH} bytes: give a shorter one");
            found.at("unix_socket", text);
        }
        Some(_) if load.target.is_some() => {
            let text = "unix_socket and target are two places to connect to: give one of them";
            found.at("unix_socket", text.to_owned());
        }
        _ => {}
    }
    if load.target.is_some() && !http.connect_to.is_empty() {
        found.at(
            "connect_to",
            "connect_to and target are two places to connect to: give one of them".to_owned(),
        );
    }
}
