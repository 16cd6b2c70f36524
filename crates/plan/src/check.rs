//! What a plan must keep to, whoever wrote it: each violation is one sentence that names the thing, the reason and
//! what to try.

mod http2;
mod journey;
mod messages;

pub use messages::check_step;

use crate::Plan;
use crate::address::Address;
use crate::data::{Meaning, Names};
use crate::delay::Delay;
use crate::field::Field;
use crate::load::{Http1, HttpVersion, Load, Origin, Phase, Protocol};
use crate::pace::{Arrivals, Curve, Pace};
use crate::popularity::Law;
use crate::request::Request;
use crate::scenario::{ObjectStep, Step};
use crate::scenario::{RequestOrder, RequestStep};
use crate::script::ScriptStep;
use crate::secret::without_userinfo;
use crate::site::{Form, Lifetime, MAX_SIZE, Site, Size};
use crate::sources::MAX_SOURCES;
use crate::template::Piece;
use crate::text::meant;
use std::collections::HashSet;

/// Most users, connections or requests in flight.
pub const MAX_USERS: u32 = 4_000_000;

/// Most arrivals per second.
const MAX_RATE: f64 = 1e9;

/// Most requests sent at once over a connection.
const MAX_PIPELINE: u32 = 1000;

/// Longest path of a Unix socket, in bytes (unix(7): 108 with the closing zero).
const MAX_UNIX_PATH: usize = 107;

impl Plan {
    /// All violations, in the order of the plan; empty for a plan that can run.
    pub fn check(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.version != Plan::VERSION {
            found.push(format!("version is {}: this build reads version {}", self.version, Plan::VERSION));
        }
        if self.threads == Some(0) {
            found.push("threads is 0: give at least one, or leave it out to use every core".to_owned());
        }
        if self.load.is_none() && self.origin.is_none() {
            found.push("there is neither a load nor an origin: nothing would run".to_owned());
        }
        check_site(&self.site, &mut found);
        if let Some(load) = &self.load {
            check_load(load, &mut found);
        }
        if let Some(origin) = &self.origin {
            check_origin(origin, &mut found);
        }
        found
    }
}

fn share(found: &mut Vec<String>, name: &str, value: f64) {
    if !(0.0..=1.0).contains(&value) {
        found.push(format!("{name} is {value}: a share lies between 0 and 1"));
    }
}

fn check_site(site: &Site, found: &mut Vec<String>) {
    share(found, "private", site.private);
    share(found, "no_store", site.no_store);
    share(found, "private and no_store together", site.private + site.no_store);
    if let Some(every) = site.change_every
        && every.as_millis() < 1000
    {
        found.push("change_every is under 1s: Last-Modified cannot tell versions apart".to_owned());
    }
    check_lifetime(&site.lifetime, found);
    if let Form::Jtest(form) = &site.form {
        share(found, "not_modified", form.not_modified);
    }
    check_size(&site.size, found);
}

fn check_lifetime(lifetime: &Lifetime, found: &mut Vec<String>) {
    let (min, max) = match *lifetime {
        Lifetime::Fixed { max_age } => (max_age, max_age),
        Lifetime::Uniform { min, max } => (min, max),
    };
    if min > max {
        found.push("lifetime: min is greater than max".to_owned());
    }
    if min.subsec_nanos() + max.subsec_nanos() > 0 {
        found.push("lifetime is not in whole seconds, as max-age is: give 1s or more, or 0s".to_owned());
    }
}

fn check_size(size: &Size, found: &mut Vec<String>) {
    match *size {
        Size::Table => {}
        Size::Fixed(bytes) if bytes <= MAX_SIZE => {}
        Size::Uniform { min, max } if min <= max && max <= MAX_SIZE => {}
        Size::Heavy { median, sigma, tail, shape, max } => {
            share(found, "size: tail", tail);
            let positive = median > 0 && sigma > 0.0 && sigma < 10.0 && shape > 0.0;
            if !positive || max > MAX_SIZE {
                found.push(
                    "size: median, sigma (below 10) and shape must be positive, max at most 1 TiB".to_owned(),
                );
            }
        }
        Size::Fixed(_) | Size::Uniform { .. } => {
            found.push("size: min must not exceed max, and max is at most 1 TiB".to_owned());
        }
    }
}

/// Each label of a threshold is one that figures are gathered under.
fn check_thresholds(load: &Load, found: &mut Vec<String>) {
    let measured = load.phases.iter().filter(|phase| phase.measured);
    let labels: Vec<String> = measured.flat_map(|phase| phase.labels()).collect();
    for threshold in &load.fail_if {
        if let Some(label) = threshold.label.as_deref().filter(|label| !labels.iter().any(|one| one == label))
        {
            let meant = meant(label, labels.iter().map(String::as_str));
            let meant = meant.map_or(String::new(), |meant| format!(": did you mean '{meant}'?"));
            found.push(format!(
                "fail_if '{threshold}': no request or transaction of a measured phase is called '{label}'{meant}"
            ));
        }
    }
}

fn check_load(load: &Load, found: &mut Vec<String>) {
    check_protocol(&load.protocol, found);
    if let Some(http) = load.protocol.http1() {
        check_reach(load, http, found);
    }
    share(found, "check: tolerated", load.check.tolerated);
    if let Some(target) = &load.target
        && !is_address(target)
    {
        found.push(format!("target '{target}' is not host:port, such as localhost:8080"));
    }
    let sources = load.sources.iter().fold(0u64, |sum, range| sum.saturating_add(range.count()));
    if sources > MAX_SOURCES {
        found.push(format!("sources are {sources} addresses: give at most {MAX_SOURCES}"));
    }
    check_thresholds(load, found);
    if load.phases.is_empty() {
        found.push("load has no phase: nothing would be sent".to_owned());
    }
    let first_byte = load.limits.first_byte.map(|limit| ("first_byte", limit));
    let idle = load.limits.idle.map(|limit| ("idle", limit));
    let limits = [("connect", load.limits.connect), ("request", load.limits.request)];
    for (name, limit) in limits.into_iter().chain(first_byte).chain(idle) {
        if limit.is_zero() {
            found.push(format!("limits: {name} is 0: every request would fail at once; give 1s or more"));
        }
    }
    for phase in &load.phases {
        check_phase(phase, load, found);
        let remembers = |step: &Step| matches!(step, Step::Requests(step) if !step.session.is_none());
        if matches!(phase.pace, Pace::Connections { .. }) && phase.sends().into_iter().any(remembers) {
            found.push(format!(
                "phase '{}' opens connections per second, which a session has by itself: give a pace of requests or users",
                phase.name
            ));
        }
        if matches!(phase.pace, Pace::Connections { .. })
            && load.protocol.connections().requests_per_connection.is_none()
        {
            found.push(format!(
                "phase '{}' opens connections per second: say in requests_per_connection how many requests each carries",
                phase.name
            ));
        }
    }
}

fn check_protocol(protocol: &Protocol, found: &mut Vec<String>) {
    let connections = protocol.connections();
    if connections.requests_per_connection == Some(0) {
        found.push(
            "requests_per_connection is 0: give 1 for no keep-alive, or leave it out for no limit".to_owned(),
        );
    }
    if let Some(tls) = connections.tls {
        crate::tls::check(tls, found);
    }
    if let Some(http) = protocol.http1() {
        if !(1..=MAX_PIPELINE).contains(&http.pipeline) {
            found.push(format!("pipeline is {}: give 1 to {MAX_PIPELINE} requests", http.pipeline));
        }
        check_fields(&http.fields, found);
        if let Some(two) = &http.http2 {
            http2::check(http, two, found);
        }
    }
}

pub(crate) fn check_fields(fields: &[Field], found: &mut Vec<String>) {
    for field in fields {
        let bad_name =
            field.name.is_empty() || field.name.bytes().any(|byte| !byte.is_ascii_graphic() || byte == b':');
        if bad_name || field.value.text().bytes().any(|byte| byte == b'\r' || byte == b'\n' || byte == 0) {
            found.push(format!("header '{}' cannot be sent", field.shown().escape_default()));
        }
    }
}

/// Where connections go, and through what.
fn check_reach(load: &Load, http: &Http1, found: &mut Vec<String>) {
    if http.tunnel && load.target.is_none() {
        found.push("tunnel needs a target that opens it: give the proxy as target".to_owned());
    }
    match &http.unix_socket {
        Some(path) if path.is_empty() || path.len() > MAX_UNIX_PATH || path.contains('\0') => {
            found.push(format!(
                "unix_socket '{path}' is no path of 1 to {MAX_UNIX_PATH} bytes: give a shorter one"
            ));
        }
        Some(_) if load.target.is_some() => {
            found.push("unix_socket and target are two places to connect to: give one of them".to_owned());
        }
        _ => {}
    }
    if load.target.is_some() && !http.connect_to.is_empty() {
        found.push("connect_to and target are two places to connect to: give one of them".to_owned());
    }
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

fn check_phase(phase: &Phase, load: &Load, found: &mut Vec<String>) {
    let name = &phase.name;
    check_pace(phase, found);
    if phase.stop.requests == Some(0) || phase.stop.after.is_some_and(|after| after.is_zero()) {
        found.push(format!("phase '{name}' stops before it begins: give more than 0 in stop"));
    }
    if [phase.stop.turns_per_user, phase.stop.failures, phase.stop.unconnected].contains(&Some(0)) {
        found.push(format!("phase '{name}': turns_per_user, failures and unconnected must be more than 0"));
    }
    if phase.stop.turns_per_user.is_some() && phase.pace.closed().is_none() {
        found.push(format!("phase '{name}': turns_per_user needs a pace of users"));
    }
    let pipeline = load.protocol.http1().map_or(1, |http| http.pipeline);
    if pipeline > 1 && phase.pace.closed().is_none() {
        found.push(format!(
            "phase '{name}': pipeline needs a pace of users: a schedule hands out one request at a time"
        ));
    }
    if phase.scenario.steps.is_empty() && phase.groups.is_empty() {
        found.push(format!("phase '{name}' has no step: nothing would be sent"));
    }
    journey::check(phase, found);
    for step in phase.sends() {
        if !matches!(step, Step::Messages(_)) && load.protocol.http1().is_none() {
            found
                .push(format!("phase '{name}' speaks HTTP where the protocol is messages: give one of both"));
        }
        match load.protocol.http1().is_some_and(|http| http.http2.is_some()) {
            true => http2::check_step(name, step, found),
            false => http2::check_grpc(name, step, found),
        }
        match step {
            Step::Messages(step) => found.extend(messages::check_step(phase, step, load)),
            Step::Object(step) => check_object(name, step, load.target.is_some(), found),
            Step::Requests(step) => check_requests(name, step, &kept_around(phase, step), load, found),
            Step::Script(step) => check_script(phase, step, load, found),
            Step::Urls(step) => {
                share(found, &format!("phase '{name}': reload"), step.reload);
                let https =
                    |url: &&String| url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
                if let Some(url) = step.urls.iter().find(https) {
                    check_https(name, url, load, found);
                }
            }
            _ => {}
        }
    }
}

/// The names that are kept in the scenario that a step belongs to.
fn kept_around<'a>(phase: &'a Phase, step: &RequestStep) -> Vec<&'a str> {
    let holds = |sent: &&Step| matches!(sent, Step::Requests(other) if std::ptr::eq(other, step));
    let own = phase.scenarios().find(|scenario| scenario.sends().iter().any(holds));
    own.map(|scenario| scenario.kept()).unwrap_or_default()
}

fn check_pace(phase: &Phase, found: &mut Vec<String>) {
    let name = &phase.name;
    let mut limit = |what: &str, value: u32| {
        if value == 0 || value > MAX_USERS {
            found.push(format!("phase '{name}': {what} is {value}: give 1 to {MAX_USERS}"));
        }
    };
    match &phase.pace {
        Pace::Users(users) | Pace::Thinking { users, .. } | Pace::Timetable { users, .. } => {
            limit("users", *users);
        }
        Pace::Ramps(rows) => rows.iter().for_each(|row| limit("users", row.users)),
        Pace::Rate { in_flight, .. }
        | Pace::Stages { in_flight, .. }
        | Pace::Connections { in_flight, .. } => {
            limit("in_flight", *in_flight);
        }
    }
    match &phase.pace {
        Pace::Users(_) => {}
        Pace::Ramps(rows) => {
            if rows.is_empty() {
                found.push(format!("phase '{name}': ramps has no row: give one with users"));
            }
        }
        Pace::Thinking { think, .. } => check_delay(&format!("phase '{name}': think"), think, found),
        Pace::Timetable { per_second, .. } => check_rate(name, *per_second, found),
        Pace::Rate { per_second, arrivals, .. } | Pace::Connections { per_second, arrivals, .. } => {
            check_rate(name, *per_second, found);
            check_arrivals(name, *arrivals, found);
        }
        Pace::Stages { stages, arrivals, .. } => {
            let curve = Curve::of(stages, 0.0);
            if !(curve.highest() > 0.0 && curve.highest() <= MAX_RATE) {
                found.push(format!(
                    "phase '{name}': stages have at most {} arrivals per second: give at least one stage above 0, at most 1e9",
                    curve.highest()
                ));
            }
            check_arrivals(name, *arrivals, found);
        }
    }
}

fn check_rate(phase: &str, per_second: f64, found: &mut Vec<String>) {
    if !(per_second > 0.0 && per_second <= MAX_RATE) {
        found.push(format!("phase '{phase}': per_second is {per_second}: give more than 0, at most 1e9"));
    }
}

fn check_arrivals(phase: &str, arrivals: Arrivals, found: &mut Vec<String>) {
    if matches!(arrivals, Arrivals::Jitter(percent) if percent > 100) {
        found.push(format!("phase '{phase}': jitter is more than 100 percent: give 0 to 100"));
    }
    if arrivals == Arrivals::Bursts(0) {
        found.push(format!("phase '{phase}': bursts is 0: give at least 1 arrival per burst"));
    }
}

fn check_delay(name: &str, law: &Delay, found: &mut Vec<String>) {
    match *law {
        Delay::Uniform { min, max } if min > max => {
            found.push(format!("{name}: min is greater than max: give the shorter time first"));
        }
        Delay::Lognormal { sigma, .. } if !(0.0..=5.0).contains(&sigma) => {
            found.push(format!("{name}: sigma is {sigma}: give 0 to 5"));
        }
        _ => {}
    }
}

fn check_requests(phase: &str, step: &RequestStep, kept: &[&str], load: &Load, found: &mut Vec<String>) {
    if step.requests.is_empty() {
        found.push(match &step.list {
            None => format!("phase '{phase}' has a step without requests: nothing would be sent"),
            Some(list) => format!(
                "phase '{phase}': this plan is a result's, which names its list of {} requests and does not hold it: \
                 run the command again, with {}",
                list.requests,
                list.file.as_deref().unwrap_or("the same list")
            ),
        });
    }
    if step.order == RequestOrder::Weighted && step.requests.kinds().iter().all(|request| request.weight == 0)
    {
        found.push(format!("phase '{phase}': all weights are 0: give at least one request a weight"));
    }
    found.extend(step.expect.violations().iter().map(|said| format!("phase '{phase}': {said}")));
    check_templates(phase, step, kept, load, found);
    let said = |url: &str, to: Option<&Address>| check_url(phase, url, to, load);
    found.extend(step.requests.turns().flat_map(|(listed, to)| said(listed.url, to.as_ref())));
    let login = step.session.login.iter();
    found.extend(login.clone().flat_map(|request| said(&request.url, request.address().as_ref())));
    step.requests.kinds().iter().chain(login).for_each(|request| check_request(phase, request, load, found));
    let pipeline = load.protocol.http1().map_or(1, |http| http.pipeline);
    if pipeline > 1 && !step.session.is_none() {
        found.push(format!(
            "phase '{phase}': a session needs each answer before the next request: leave out pipeline"
        ));
    }
    share(found, &format!("phase '{phase}': slow"), step.reading.slow);
    if step.reading.give_up.is_some() {
        found.push(format!("phase '{phase}': only objects are given up for being slow: leave out give_up"));
    }
    crate::session::check(phase, &step.session, found);
}

/// Placeholders mean something, each with its mistake named once.
fn check_templates(phase: &str, step: &RequestStep, kept: &[&str], load: &Load, found: &mut Vec<String>) {
    let computed = step.data.iter().filter(|data| data.source.computed_bytes().is_some());
    let computed = computed.map(|data| format!("data {}: {}", data.name, ONLY_TCP));
    let said: Vec<String> = step.data.iter().filter_map(|data| data.violation()).chain(computed).collect();
    found.extend(said.iter().map(|said| format!("phase '{phase}': {said}")));
    if !step.templates {
        return;
    }
    let fields = load.protocol.http1().map_or(&[][..], |http| &http.fields);
    let mut known = HashSet::new();
    let names = Names { data: &step.data, extracted: kept };
    for request in step.requests.iter() {
        let said = match RequestStep::placeholders(request, fields.iter()) {
            Err(said) => vec![said],
            Ok(pieces) => {
                let used = pieces.iter().filter_map(|piece| match piece {
                    Piece::Value { name, .. } => Some(name.clone()),
                    Piece::Text(_) => None,
                });
                let fresh: Vec<String> = used.filter(|name| known.insert(name.clone())).collect();
                fresh.iter().filter_map(|name| unknown(&names, name)).collect()
            }
        };
        found.extend(said.iter().map(|said| format!("phase '{phase}': {said}")));
    }
}

const ONLY_TCP: &str =
    "lengths and checksums stand in TCP messages alone: leave it out, Content-Length is said anyway";

/// Why a placeholder means nothing in HTTP.
fn unknown(names: &Names<'_>, name: &str) -> Option<String> {
    match names.meaning(name) {
        Err(why) => Some(why),
        Ok(Meaning::Value(value)) if value.source.computed_bytes().is_some() => {
            Some(format!("{{{{{name}}}}}: {ONLY_TCP}"))
        }
        Ok(_) => None,
    }
}

/// A worker has one script, so a run has one too.
fn check_script(phase: &Phase, step: &ScriptStep, load: &Load, found: &mut Vec<String>) {
    let scripts = load.phases.iter().flat_map(|phase| phase.sends());
    let scripts = scripts.filter(|step| matches!(step, Step::Script(_))).count();
    if scripts > 1 || phase.scenario.steps.len() > 1 {
        found.push(format!("phase '{}': a script must be the only step, and the only script", phase.name));
    }
    if phase.pace.closed().is_none() {
        found.push(format!("phase '{}': a script needs a pace of users", phase.name));
    }
    let to = step.request.address();
    found.extend(check_url(&phase.name, &step.request.url, to.as_ref(), load));
    check_request(&phase.name, &step.request, load, found);
}

/// What is wrong with a URL that leads there.
fn check_url(phase: &str, typed: &str, to: Option<&Address>, load: &Load) -> Vec<String> {
    let (url, mut found) = (&without_userinfo(typed), Vec::new());
    if url != typed {
        found.push(format!(
            "phase '{phase}': '{url}': URLs of a plan hold no passwords: give the field Authorization the value \
             {{ basic = {{ name = \"NAME\", password = \"env:VARIABLE\" }} }}"
        ));
    }
    match to {
        None => found.push(format!(
            "phase '{phase}': '{url}' is no http:// URL: give one such as http://localhost:8080/"
        )),
        Some(address) if address.secure => check_https(phase, url, load, &mut found),
        Some(_) => {}
    }
    found
}

fn check_request(phase: &str, request: &Request, load: &Load, found: &mut Vec<String>) {
    if request.raw {
        return;
    }
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if request.method.is_empty() || !request.method.bytes().all(token) {
        found.push(format!("phase '{phase}': '{}' is no method: give one such as GET", request.method));
    }
    let is_line = |target: &String| !target.is_empty() && !target.bytes().any(|byte| byte <= b' ');
    if let Some(target) = request.target.as_ref().filter(|target| !is_line(target)) {
        found.push(format!("phase '{phase}': target '{}' cannot be sent", target.escape_default()));
    }
    check_fields(&request.fields, found);
    if let Some(http) = load.protocol.http1().filter(|http| !http.bare) {
        check_framing(http, &request.fields, found);
    }
}

/// Fields of the plan that frame bodies (RFC 9112 section 6) must be what a body can be framed by.
fn check_framing(http: &Http1, of_request: &[Field], found: &mut Vec<String>) {
    let named = |name: &str| {
        let mut fields = http.fields.iter().chain(of_request);
        fields
            .find(|field| field.name.eq_ignore_ascii_case(name))
            .and_then(|field| field.value.template())
            .map(|text| text.trim().to_owned())
    };
    let Some(coding) = named("Transfer-Encoding") else { return };
    let last = coding.rsplit(',').next().unwrap_or_default().trim();
    if !last.eq_ignore_ascii_case("chunked") {
        found.push(format!(
            "header 'Transfer-Encoding: {coding}' does not end with chunked: give chunked last"
        ));
    } else if named("Content-Length").is_some() {
        found.push(
            "headers Transfer-Encoding and Content-Length frame a body twice: give one of them".to_owned(),
        );
    } else if http.version == HttpVersion::OneZero {
        found.push(
            "header 'Transfer-Encoding: chunked' needs HTTP/1.1: leave it out, or set the version".to_owned(),
        );
    }
}

/// TLS needs its values, and goes to the host itself or through a tunnel.
fn check_https(phase: &str, url: &str, load: &Load, found: &mut Vec<String>) {
    let tunnel = load.protocol.http1().is_some_and(|http| http.tunnel);
    if load.target.is_some() && !tunnel {
        found.push(format!(
            "phase '{phase}': '{url}' would need a tunnel through the target: leave out the target, give an http:// URL, or set tunnel"
        ));
    } else if load.protocol.connections().tls.is_none() {
        found.push(format!("phase '{phase}': '{url}' needs TLS: give the protocol a table tls"));
    }
}

fn check_object(phase: &str, step: &ObjectStep, has_target: bool, found: &mut Vec<String>) {
    let popularity = &step.popularity;
    let shares = [
        ("one_timers", popularity.one_timers),
        ("reload", step.reload),
        ("revalidate", step.revalidate),
        ("range", step.range),
        ("abort", step.abort),
        ("slow", step.reading.slow),
    ];
    for (name, value) in shares {
        share(found, &format!("phase '{phase}': {name}"), value);
    }
    if popularity.hot == 0 || popularity.hot > 1 << 32 {
        found.push(format!("phase '{phase}': hot is {}: a hot set has 1 to 2^32 objects", popularity.hot));
    }
    if let Law::Zipf { alpha } = popularity.law
        && !(0.0..=10.0).contains(&alpha)
    {
        found.push(format!("phase '{phase}': alpha is {alpha}: give 0 to 10, commonly 0.6 to 1.2"));
    }
    if !(0.0..=1e6).contains(&popularity.drift_per_hour) {
        found
            .push(format!("phase '{phase}': drift_per_hour is {}: give 0 to 1e6", popularity.drift_per_hour));
    }
    if !has_target {
        found.push(format!("phase '{phase}' fetches objects but the load has no target to connect to"));
    }
}

fn check_origin(origin: &Origin, found: &mut Vec<String>) {
    check_delay("origin: delay", &origin.delay, found);
    share(found, "origin: errors", origin.errors);
    share(found, "origin: aborts", origin.aborts);
    share(found, "origin: chunked", origin.chunked);
    let faults = origin.stream_faults.shares();
    faults.iter().for_each(|(name, value)| share(found, &format!("origin: stream_faults: {name}"), *value));
    if !(400..=599).contains(&origin.error_status) {
        found.push(format!("origin: error_status is {}: give 400 to 599", origin.error_status));
    }
    if origin.requests_per_connection == Some(0) {
        found.push("origin: requests_per_connection is 0: give 1 for no keep-alive".to_owned());
    }
    if let Some(service) = &origin.messages {
        found.extend(messages::check_service(service, origin));
    }
    if let Some(tls) = &origin.tls {
        crate::tls::check_origin(tls, found);
    }
    if !is_address(&origin.listen) {
        found.push(format!("origin: listen '{}' is not host:port, such as 127.0.0.1:9080", origin.listen));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Http1;
    use crate::pace::Stage;
    use crate::popularity::Popularity;
    use crate::scenario::Scenario;
    use crate::stop::Stop;
    use std::time::Duration;

    fn plan() -> Plan {
        let step = ObjectStep { popularity: Popularity::default(), ..ObjectStep::default() };
        let phase = Phase {
            name: "measure".to_owned(),
            measured: true,
            groups: Vec::new(),
            always: false,
            scenario: Scenario::of(vec![Step::Object(step)]),
            pace: Pace::Users(10),
            stop: Stop::default(),
        };
        let load = Load {
            fail_if: Vec::new(),
            target: Some("localhost:8080".to_owned()),
            sources: Vec::new(),
            protocol: Protocol::default(),
            check: Default::default(),
            limits: Default::default(),
            phases: vec![phase],
            trace: Default::default(),
        };
        let origin = Some(Origin::default());
        Plan {
            version: 1,
            seed: 7,
            threads: None,
            io: crate::Io::Auto,
            site: Site::default(),
            load: Some(load),
            origin,
        }
    }

    #[test]
    fn a_sound_plan_has_no_violation_and_reads_back() {
        assert_eq!(plan().check(), Vec::<String>::new());
        assert_eq!(Plan::from_text(&plan().to_text()).unwrap(), plan());
    }

    #[test]
    fn https_needs_tls_and_no_target() {
        let https = |target: Option<&str>, tls: Option<crate::Tls>, step: Step| {
            let mut plan = plan();
            let load = plan.load.as_mut().unwrap();
            load.target = target.map(str::to_owned);
            load.protocol = Protocol::Http1(Http1 { tls, ..Http1::default() });
            load.phases[0].scenario.steps = vec![step];
            plan.check()
        };
        let request = crate::Request::get("https://h/");
        let requests =
            Step::Requests(RequestStep { requests: vec![request].into(), ..RequestStep::default() });
        let urls = Step::Urls(crate::UrlStep { urls: vec!["HTTPS://h/".to_owned()], ..Default::default() });
        for step in [requests, urls] {
            assert_eq!(https(None, Some(crate::Tls::default()), step.clone()), Vec::<String>::new());
            assert!(https(None, None, step.clone())[0].contains("needs TLS"));
            assert!(https(Some("p:1"), Some(crate::Tls::default()), step)[0].contains("tunnel"));
        }
    }

    #[test]
    fn placeholders_without_a_meaning_are_named_once() {
        let mut plan = plan();
        let url = "http://h/{{nobody}}?{{nobody}}&{{uuid}}";
        let mut step =
            RequestStep { requests: vec![crate::Request::get(url)].into(), ..RequestStep::default() };
        let mut violations = |step: &RequestStep| {
            plan.load.as_mut().unwrap().phases[0].scenario.steps = vec![Step::Requests(step.clone())];
            plan.check()
        };
        assert_eq!(violations(&step), Vec::<String>::new(), "braces are braces");
        step.templates = true;
        let found = violations(&step);
        assert!(found.len() == 1 && found[0].contains("{{nobody}}"), "{found:?}");
        step.requests =
            vec![crate::Request { body: "{{x".into(), ..crate::Request::get("http://h/") }].into();
        assert!(violations(&step)[0].contains("no }}"));
        let zero =
            crate::data::Source::Counter(crate::data::Counter { step: 0, ..crate::data::Counter::default() });
        step = RequestStep {
            data: vec![crate::data::Data::of("a b", zero.clone()), crate::data::Data::of("z", zero)],
            ..step
        };
        assert_eq!(violations(&step).len(), 3);
    }

    #[test]
    fn sessions_and_ways_to_connect_have_rules() {
        let found = |change: &dyn Fn(&mut Load, &mut RequestStep)| {
            let mut plan = plan();
            let request = Request::get("http://h/");
            let mut step = RequestStep { requests: vec![request].into(), ..RequestStep::default() };
            let load = plan.load.as_mut().unwrap();
            load.target = None;
            change(load, &mut step);
            load.phases[0].scenario.steps = vec![Step::Requests(step)];
            assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan);
            plan.check().join("\n")
        };
        let http = |http: Http1| {
            move |load: &mut Load, _: &mut RequestStep| load.protocol = Protocol::Http1(http.clone())
        };
        let session = |session: crate::Session| {
            move |_: &mut Load, step: &mut RequestStep| step.session = session.clone()
        };
        let with = |version, fields: &[(&str, &str)]| {
            let field = |(name, value): &(&str, &str)| Field::new(*name, *value);
            Http1 { version, fields: fields.iter().map(field).collect(), ..Http1::default() }
        };
        assert_eq!(found(&http(with(HttpVersion::OneOne, &[("Transfer-Encoding", "gzip, Chunked")]))), "");
        let default = crate::Session::default;
        let redirects = |limit| Some(crate::Redirects { limit, ..Default::default() });
        let resources = |parallel| Some(crate::Resources { parallel, ..Default::default() });
        assert_eq!(
            found(&session(crate::Session { redirects: redirects(1), cookies: true, ..default() })),
            ""
        );
        assert_eq!(
            found(&http(Http1 { pipeline: 9, unix_socket: Some("/s".to_owned()), ..Http1::default() })),
            ""
        );
        for (change, said) in [
            (
                &session(crate::Session { redirects: redirects(0), ..default() }) as &dyn Fn(&mut _, &mut _),
                "limit is 0",
            ),
            (&session(crate::Session { resources: resources(0), ..default() }), "parallel is 0"),
            (
                &session(crate::Session { auth: Some(Default::default()), ..default() }),
                "auth needs credentials",
            ),
            (&session(crate::Session { login: vec![Request::get("ftp://h/")], ..default() }), "'ftp://h/'"),
            (&http(Http1 { pipeline: 0, ..Http1::default() }), "pipeline is 0"),
            (&http(Http1 { unix_socket: Some("x".repeat(108)), ..Http1::default() }), "no path of 1 to 107"),
            (&http(Http1 { tunnel: true, ..Http1::default() }), "tunnel needs a target"),
            (&http(with(HttpVersion::OneOne, &[("transfer-encoding", "gzip")])), "give chunked last"),
            (
                &http(with(
                    HttpVersion::OneOne,
                    &[("Transfer-Encoding", "chunked"), ("content-length", "1")],
                )),
                "frame a body twice",
            ),
            (&http(with(HttpVersion::OneZero, &[("Transfer-Encoding", "gzip, Chunked")])), "needs HTTP/1.1"),
        ] {
            let found = found(change);
            assert!(found.contains(said), "{said} in {found}");
        }
    }

    #[test]
    fn every_violation_is_named_at_once() {
        let mut bad = plan();
        bad.site.private = 1.5;
        bad.threads = Some(0);
        let load = bad.load.as_mut().unwrap();
        load.target = Some("nowhere".to_owned());
        load.sources = vec!["10.0.0.0-10.255.255.255".parse().unwrap()];
        load.phases[0].pace = Pace::Users(0);
        load.phases[0].stop.requests = Some(0);
        load.limits.request = Duration::ZERO;
        bad.site.lifetime = Lifetime::Fixed { max_age: Duration::from_millis(500) };
        let found = bad.check().join("\n");
        for word in [
            "private is 1.5",
            "threads is 0",
            "'nowhere'",
            "users is 0",
            "16777216 addresses",
            "stops before",
            "request is 0",
            "whole seconds",
        ] {
            assert!(found.contains(word), "{word} in {found}");
        }
    }

    #[test]
    fn a_pace_that_cannot_be_kept_is_named() {
        let stages = |text: &str| Pace::Stages {
            stages: Stage::parse_list(text).unwrap(),
            arrivals: Arrivals::Even,
            in_flight: 1,
        };
        let rate = |arrivals| Pace::Rate { per_second: 1.0, arrivals, in_flight: 1 };
        let think = |text: &str| Pace::Thinking { users: 1, think: Delay::parse(text).unwrap() };
        for (pace, said) in [
            (stages("1s:0"), "above 0"),
            (rate(Arrivals::Bursts(0)), "bursts is 0"),
            (think("2s..1s"), "shorter time first"),
            (Pace::Thinking { users: 0, think: Delay::None }, "users is 0"),
            (Pace::Connections { per_second: 1.0, arrivals: Arrivals::Even, in_flight: 1 }, "each carries"),
        ] {
            let mut bad = plan();
            bad.load.as_mut().unwrap().phases[0].pace = pace;
            let found = bad.check().join("\n");
            assert!(found.contains(said), "{said} in {found}");
        }
    }

    #[test]
    fn every_pace_reads_back() {
        let stages = Stage::parse_list("10s:100,30s:100..1000").unwrap();
        let think = |text: &str| Pace::Thinking { users: 5, think: Delay::parse(text).unwrap() };
        let arrivals = [
            Arrivals::Even,
            Arrivals::Poisson,
            Arrivals::EachSecond,
            Arrivals::Bursts(50),
            Arrivals::Jitter(10),
        ];
        let mut paces: Vec<Pace> = ["0", "1s", "1s..2s", "exp:1s", "lognormal:1s:0.5"].map(think).into();
        for arrivals in arrivals {
            paces.push(Pace::Stages { stages: stages.clone(), arrivals, in_flight: 9 });
            paces.push(Pace::Connections { per_second: 0.1, arrivals, in_flight: 9 });
        }
        for pace in paces {
            let mut plan = plan();
            plan.load.as_mut().unwrap().phases[0].pace = pace;
            assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan, "{}", plan.to_text());
        }
    }

    #[test]
    fn unknown_names_in_a_plan_are_refused_with_their_line() {
        let text = plan().to_text().replace("seed = 7", "seed = 7\nspeed = 9");
        let error = Plan::from_text(&text).unwrap_err().to_string();
        assert!(error.contains("speed") && error.contains("line"), "{error}");
    }
}
