//! Rules for the origin.

use super::phase::check_delay;
use super::{ViolationFound, is_address, messages, share};
use crate::Plan;
use crate::load::Origin;
use crate::scenario::Step;
use crate::site::{Site, SiteForm};

pub(super) fn check_origin(origin: &Origin, found: &mut ViolationFound) {
    found.within("delay", |found| check_delay("origin: delay", &origin.delay, found));
    share(found, "origin: errors", origin.errors);
    share(found, "origin: aborts", origin.aborts);
    share(found, "origin: chunked", origin.chunked);
    share(found, "origin: ignores_ranges", origin.ignores_ranges);
    found.within("stream_faults", |found| {
        let faults = origin.stream_faults.shares();
        faults
            .iter()
            .for_each(|(name, value)| share(found, &format!("origin: stream_faults: {name}"), *value));
    });
    if !(400..=599).contains(&origin.error_status) {
        found.at("error_status", format!("origin: error_status is {}: give 400 to 599", origin.error_status));
    }
    if origin.requests_per_connection == Some(0) {
        let text = "origin: requests_per_connection is 0: give 1 for no keep-alive";
        found.at("requests_per_connection", text.to_owned());
    }
    if origin.haterm && origin.messages.is_some() {
        found.at(
            "haterm",
            "origin: haterm speaks HTTP, and messages are others: leave one of them out".to_owned(),
        );
    }
    if origin.haterm && origin.chunked > 0.0 {
        found.at(
            "chunked",
            "origin: chunked: with haterm a request asks for chunks, by k=1: leave it out".to_owned(),
        );
    }
    if origin.haterm && origin.ignores_ranges > 0.0 {
        found.at(
            "ignores_ranges",
            "origin: ignores_ranges: with haterm there are no ranges: leave it out".to_owned(),
        );
    }
    if let Some(service) = &origin.messages {
        found.within("messages", |found| {
            found.of("origin: messages", |found| messages::check_service(service, origin, found));
        });
    }
    if let Some(tls) = &origin.tls {
        found.within("tls", |found| crate::http::tls::check_origin(tls, found));
    }
    if !is_address(&origin.listen) {
        let listen = &origin.listen;
        found.at("listen", format!("origin: listen '{listen}' is not host:port, such as 127.0.0.1:9080"));
    }
}

/// Phases in which the origin is to fail otherwise need one that fails so.
pub(super) fn check_phases(plan: &Plan, found: &mut ViolationFound) {
    let named = ["origin_errors", "origin_aborts"];
    for phase in plan.load.iter().flat_map(|load| &load.phases) {
        for (name, value) in named.into_iter().zip([phase.origin_errors, phase.origin_aborts]) {
            let Some(value) = value else { continue };
            let text = format!("phase '{}': {name}", phase.name);
            share(found, &text, value);
            match &plan.origin {
                None => found.at(name, format!("{text}: the plan has no origin: leave it out, or give one")),
                Some(origin) if origin.messages.is_some() => {
                    found.at(
                        name,
                        format!("{text}: the origin answers messages, which it says of itself: leave it out"),
                    );
                }
                Some(_) => {}
            }
        }
    }
}

/// A validator that the plan adds beside the origin's own would stand in each answer twice, which no cache can take rightly.
pub(super) fn check_validators(plan: &Plan, found: &mut ViolationFound) {
    let Some(origin) = plan.origin.as_ref().filter(|origin| !origin.haterm) else { return };
    if !matches!(plan.site.form, SiteForm::Native) {
        return;
    }
    let own = [("ETag", plan.site.etag, "etag"), ("Last-Modified", plan.site.last_modified, "last_modified")];
    let is_added = |name: &str| origin.fields.iter().any(|field| field.name.eq_ignore_ascii_case(name));
    for (name, _, option) in own.into_iter().filter(|(name, is_sent, _)| *is_sent && is_added(name)) {
        let without = option.replace('_', "-");
        found.at(
            "origin",
            format!(
                "origin: fields: {name}: the origin sends one of its own, and answers would have two: leave it out, or give {option} = \
                 false (--no-{without})"
            ),
        );
    }
}

/// An origin that answers as haterm has no objects.
pub(super) fn check_haterm(plan: &Plan, found: &mut ViolationFound) {
    if !plan.origin.as_ref().is_some_and(|origin| origin.haterm) {
        return;
    }
    if plan.site != Site::default() {
        found.at(
            "site",
            "site: an origin with haterm serves no objects: leave out site, or haterm".to_owned(),
        );
    }
    let phases = plan.load.iter().flat_map(|load| &load.phases);
    if phases.flat_map(|phase| phase.sends()).any(|step| matches!(step, Step::Object(_))) {
        let text =
            "origin: an origin with haterm serves no objects, and the load asks for some: leave haterm out";
        found.at("origin", text.to_owned());
    }
}
