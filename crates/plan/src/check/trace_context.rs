//! Rules for the trace context that a share of requests carries.

use super::{ViolationFound, share};
use crate::load::Load;
use crate::load::http::Http;
use crate::request::field::Field;
use crate::scenario::Step;

/// The field that carries it (W3C Trace Context, section 3.2).
const TRACEPARENT: &str = "traceparent";

/// Refuses a share that is none, and requests that cannot carry a context or have one of their own.
pub(super) fn check(load: &Load, http: &Http, found: &mut ViolationFound) {
    let Some(wanted) = http.traceparent else { return };
    share(found, TRACEPARENT, wanted);
    let mut refuse = |why: String| found.at(TRACEPARENT, format!("traceparent: {why}"));
    if wanted == 0.0 {
        refuse(
            "a share of 0 adds no field: leave it out, or give 0.01 for one request of a hundred".to_owned(),
        );
    }
    if http.h1.listed_fields_only {
        refuse("requests carry the listed fields and no others: leave out listed_fields_only".to_owned());
    }
    if http.fields.iter().any(is_it) {
        refuse("all requests have such a field already: leave out the field, or traceparent".to_owned());
    }
    for phase in &load.phases {
        for step in phase.sends() {
            if let Some(why) = violation(step) {
                refuse(format!("phase '{}': {why}", phase.name));
            }
        }
    }
}

fn is_it(field: &Field) -> bool {
    field.name.eq_ignore_ascii_case(TRACEPARENT)
}

fn violation(step: &Step) -> Option<String> {
    if matches!(step, Step::Script(_)) {
        return Some("a script writes its requests itself: have the script add the field".to_owned());
    }
    let Step::Requests(step) = step else { return None };
    let all = step.requests.kinds().iter().chain(step.session.login.iter());
    let own = all.into_iter().find(|request| request.fields.iter().any(is_it))?;
    Some(format!("'{}' has such a field already: leave out the field, or traceparent", own.url))
}
