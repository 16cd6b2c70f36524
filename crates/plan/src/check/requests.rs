//! Rules for requests: templates, URLs, fields, and a script's request.

use super::{ViolationFound, ViolationPart, share};
use crate::address::Address;
use crate::data::secret::without_userinfo;
use crate::data::template::TemplatePiece;
use crate::data::{Meaning, Names};
use crate::load::http::{Http, Http1Version};
use crate::load::{Load, Phase};
use crate::request::Request;
use crate::request::field::Field;
use crate::request::message::Tcp;
use crate::scenario::script::ScriptStep;
use crate::scenario::{RequestOrder, RequestStep, Step};
use std::collections::HashSet;

pub(super) fn check_requests(
    phase: &str,
    step: &RequestStep,
    kept: &[&str],
    load: &Load,
    found: &mut ViolationFound,
) {
    if step.requests.is_empty() {
        found.at("requests", without_requests(phase, step));
    }
    if step.order == RequestOrder::Weighted && step.requests.kinds().iter().all(|request| request.weight == 0)
    {
        let text = format!("phase '{phase}': all weights are 0: give at least one request a weight");
        found.at("requests", text);
    }
    let violations = step.expect.violations();
    found.within("expect", |found| {
        found.extend(violations.iter().map(|said| format!("phase '{phase}': {said}")));
    });
    check_templates(phase, step, kept, load, found);
    found.within("requests", |found| check_list(phase, step, load, found));
    for (nth, request) in step.session.login.iter().enumerate() {
        found.along(["session".into(), "login".into(), ViolationPart::Item(nth)], |found| {
            if request.tcp.is_some() {
                found.at("tcp", format!("phase '{phase}': users log in by HTTP: give a step of its own"));
            }
            check_url(phase, &request.url, request.address().as_ref(), load, found);
            check_request(phase, request, load, found);
        });
    }
    let pipeline = load.protocol.http().map_or(1, |http| http.h1.pipeline);
    if pipeline > 1 && !step.session.is_none() {
        found.at(
            "session",
            format!(
                "phase '{phase}': a session needs each answer before the next request: leave out pipeline"
            ),
        );
    }
    found.within("reading", |found| share(found, &format!("phase '{phase}': slow"), step.reading.slow));
    if step.reading.give_up.is_some() {
        found.at(
            "reading",
            format!("phase '{phase}': only objects are given up for being slow: leave out give_up"),
        );
    }
    found.within("session", |found| crate::request::session::check(phase, &step.session, found));
}

fn without_requests(phase: &str, step: &RequestStep) -> String {
    match &step.list {
        None => format!("phase '{phase}' has a step without requests: nothing would be sent"),
        Some(list) => format!(
            "phase '{phase}': this plan is a result's, which names its list of {} requests and does not hold it: \
             run the command again, with {}",
            list.requests,
            list.file.as_deref().unwrap_or("the same list")
        ),
    }
}

/// The requests themselves. Those that differ in their URLs alone are one kind, whose other mistakes are told once.
fn check_list(phase: &str, step: &RequestStep, load: &Load, found: &mut ViolationFound) {
    for (nth, (listed, to)) in step.requests.turns().enumerate() {
        found.within(nth, |found| match listed.like.tcp {
            Some(_) if to.is_none() => found.at("url", no_tcp_url(phase, listed.url)),
            Some(_) => {}
            None => check_url(phase, listed.url, to.as_ref(), load, found),
        });
    }
    let kinds = step.requests.kinds();
    let is_one_each = kinds.len() == step.requests.len();
    for (nth, request) in kinds.iter().enumerate() {
        let place = is_one_each.then_some(ViolationPart::Item(nth));
        found.along(place, |found| check_request(phase, request, load, found));
    }
}

/// Placeholders mean something, each with its mistake named once.
fn check_templates(phase: &str, step: &RequestStep, kept: &[&str], load: &Load, found: &mut ViolationFound) {
    for (nth, data) in step.data.iter().enumerate() {
        let computed = data.source.computed_bytes().is_some();
        let computed = computed.then(|| format!("data {}: {ONLY_TCP}", data.name));
        let said = data.violation().into_iter().chain(computed);
        found.along(["data".into(), ViolationPart::Item(nth)], |found| {
            found.extend(said.map(|said| format!("phase '{phase}': {said}")));
        });
    }
    if !step.templates {
        return;
    }
    let fields = load.protocol.http().map_or(&[][..], |http| &http.fields);
    let mut known = HashSet::new();
    let names = Names { data: &step.data, extracted: kept };
    for (nth, request) in step.requests.iter().enumerate() {
        let said = match RequestStep::placeholders(request, fields.iter()) {
            Err(said) => vec![said],
            Ok(pieces) => {
                let used = pieces.iter().filter_map(|piece| match piece {
                    TemplatePiece::Value { name, .. } => Some(name.clone()),
                    TemplatePiece::Text(_) => None,
                });
                let fresh: Vec<String> = used.filter(|name| known.insert(name.clone())).collect();
                fresh.iter().filter_map(|name| unknown(&names, name)).collect()
            }
        };
        found.along(["requests".into(), ViolationPart::Item(nth)], |found| {
            found.extend(said.iter().map(|said| format!("phase '{phase}': {said}")));
        });
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
pub(super) fn check_script(phase: &Phase, step: &ScriptStep, load: &Load, found: &mut ViolationFound) {
    let scripts = load.phases.iter().flat_map(|phase| phase.sends());
    let scripts = scripts.filter(|step| matches!(step, Step::Script(_))).count();
    if scripts > 1 || phase.scenario.steps.len() > 1 {
        found.push(format!("phase '{}': a script must be the only step, and the only script", phase.name));
    }
    if phase.pace.closed().is_none() {
        found.push(format!("phase '{}': a script needs a pace of users", phase.name));
    }
    let to = step.request.address();
    found.within("request", |found| {
        if step.request.body.is_filed() {
            found.at(
                "body",
                format!(
                    "phase '{}': a script cannot take the content of a file: let it read the file",
                    phase.name
                ),
            );
        }
        check_url(&phase.name, &step.request.url, to.as_ref(), load, found);
        check_request(&phase.name, &step.request, load, found);
    });
}

/// Violations of a URL that leads there.
fn check_url(phase: &str, typed: &str, to: Option<&Address>, load: &Load, found: &mut ViolationFound) {
    let is_ok = to.is_some_and(|address| !address.secure);
    let url = &without_userinfo(typed);
    if is_ok && url == typed {
        return;
    }
    found.within("url", |found| {
        if url != typed {
            found.push(format!(
                "phase '{phase}': '{url}': URLs of a plan hold no passwords: give the field Authorization the value \
                 {{ basic = {{ name = \"NAME\", password = \"env:VARIABLE\" }} }}"
            ));
        }
        match to {
            None => found.push(match Address::read(typed) {
                Err(fault) => format!("phase '{phase}': {fault}"),
                // With placeholders it leads somewhere that cannot be taken apart.
                Ok(_) => format!("phase '{phase}': '{url}' is no http:// URL: give one such as http://localhost:8080/"),
            }),
            Some(address) if address.secure => check_https(phase, url, load, found),
            Some(_) => {}
        }
    });
}

fn no_tcp_url(phase: &str, url: &str) -> String {
    format!(
        "phase '{phase}': '{url}' is no URL of a message over TCP: give tcp://HOST:PORT, such as tcp://localhost:9000"
    )
}

/// Checks the rules for a message over TCP, and refuses what it cannot have.
fn check_tcp(phase: &str, request: &Request, tcp: &Tcp, load: &Load, found: &mut ViolationFound) {
    let violations = tcp.violations();
    found.within("tcp", |found| {
        found.extend(violations.iter().map(|said| format!("phase '{phase}': {said}")))
    });
    let has = [
        ("fields", !request.fields.is_empty()),
        ("target", request.target.is_some()),
        ("statuses", !request.statuses.is_empty()),
        ("grpc", request.grpc),
        ("raw", request.raw),
    ];
    for (name, _) in has.iter().filter(|(_, has)| *has) {
        found.at(*name, format!("phase '{phase}': a message over TCP has no {name}: leave it out"));
    }
    if load.protocol.http().is_some_and(|http| http.h1.pipeline > 1) {
        found
            .at("tcp", format!("phase '{phase}': messages over TCP are sent one by one: leave out pipeline"));
    }
}

fn check_request(phase: &str, request: &Request, load: &Load, found: &mut ViolationFound) {
    if let Some(file) = request.body.files().find(|file| file.file.is_empty()) {
        debug_assert!(file.bytes.is_none(), "a file that was read has a name");
        found.at("body", format!("phase '{phase}': file: give the path of the file that is the body"));
    }
    if let Some(named) = request.body.named() {
        let text = format!(
            "phase '{phase}': this plan is a result's, which names a body of {} bytes (SHA-256 {}) and does not hold it: run the \
             command again, with its file",
            named.bytes, named.sha256
        );
        found.at("body", text);
    }
    if let Some(tcp) = &request.tcp {
        return check_tcp(phase, request, tcp, load, found);
    }
    if request.raw {
        return;
    }
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if request.method.is_empty() || !request.method.bytes().all(token) {
        found.at(
            "method",
            format!("phase '{phase}': '{}' is no method: give one such as GET", request.method),
        );
    }
    let is_line = |target: &String| !target.is_empty() && !target.bytes().any(|byte| byte <= b' ');
    if let Some(target) = request.target.as_ref().filter(|target| !is_line(target)) {
        found.at("target", format!("phase '{phase}': target '{}' cannot be sent", target.escape_default()));
    }
    found.within("fields", |found| {
        check_fields(&request.fields, found);
        if let Some(http) = load.protocol.http().filter(|http| !http.h1.listed_fields_only) {
            check_framing(http, &request.fields, found);
        }
    });
}

/// Only a request over a connection of its own, of which nothing else follows from answers, can wait before it sends its body.
pub(super) fn check_continue(phase: &Phase, step: &RequestStep, load: &Load, found: &mut ViolationFound) {
    let Some(http) = load.protocol.http().filter(|http| http.h1.expect_continue.is_some()) else { return };
    let spoken = load.spoken();
    let hindered = [
        (spoken.iter().any(|http| http.streams().is_some()), "over HTTP/2 and HTTP/3"),
        (http.h1.version == Http1Version::OneZero, "over HTTP/1.0"),
        (http.h1.pipeline > 1, "with pipeline"),
        (!step.session.is_none(), "in a session (cookies, redirections, logins, authentication, resources)"),
        (step.aws.is_some(), "in signed requests (aws)"),
        (phase.has_journeys(), "in journeys"),
    ];
    for (_, why) in hindered.iter().filter(|(is, _)| *is) {
        found.push(format!(
            "phase '{}': Expect: 100-continue is not waited for {why}: leave out the field (in plan files expect_continue)",
            phase.name
        ));
    }
}

/// Fields of the plan that frame bodies (RFC 9112 section 6) must be what a body can be framed by.
fn check_framing(http: &Http, of_request: &[Field], found: &mut ViolationFound) {
    let named = |name: &str| {
        let mut fields = http.fields.iter().chain(of_request);
        fields
            .find(|field| field.name.eq_ignore_ascii_case(name))
            .and_then(|field| field.value.template())
            .map(|text| text.trim().to_owned())
    };
    let Some(coding) = named("Transfer-Encoding") else { return };
    let last = coding.rsplit(',').next().expect("a split has a first part").trim();
    if !last.eq_ignore_ascii_case("chunked") {
        found.push(format!(
            "header 'Transfer-Encoding: {coding}' does not end with chunked: give chunked last"
        ));
    } else if named("Content-Length").is_some() {
        found.push(
            "headers Transfer-Encoding and Content-Length frame a body twice: give one of them".to_owned(),
        );
    } else if http.h1.version == Http1Version::OneZero {
        found.push(
            "header 'Transfer-Encoding: chunked' needs HTTP/1.1: leave it out, or set the version".to_owned(),
        );
    }
}

/// TLS needs its values, and goes to the host itself or through a tunnel.
pub(super) fn check_https(phase: &str, url: &str, load: &Load, found: &mut ViolationFound) {
    let tunnel = load.protocol.http().is_some_and(|http| http.tunnel);
    if load.target.is_some() && !tunnel {
        found.push(format!(
            "phase '{phase}': '{url}' would need a tunnel through the target: leave out the target, give an http:// URL, or set tunnel"
        ));
    } else if load.protocol.connections().tls.is_none() {
        found.push(format!("phase '{phase}': '{url}' needs TLS: give the protocol a table tls"));
    }
}

pub(crate) fn check_fields(fields: &[Field], found: &mut ViolationFound) {
    for (nth, field) in fields.iter().enumerate() {
        let bad_name =
            field.name.is_empty() || field.name.bytes().any(|byte| !byte.is_ascii_graphic() || byte == b':');
        if bad_name || field.value.text().bytes().any(|byte| byte == b'\r' || byte == b'\n' || byte == 0) {
            found.at(nth, format!("header '{}' cannot be sent", field.shown().escape_default()));
        }
    }
}
