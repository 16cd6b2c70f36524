//! Rules that a plan must keep to, whoever wrote it: each violation is one sentence that names the thing, the reason and
//! what to try, and knows where in the plan it belongs.

mod http2;
mod journey;
mod load;
mod messages;
mod object;
mod origin;
mod phase;
mod requests;
mod site;
#[cfg(test)]
mod tests;
mod trace_context;

pub use messages::check_step;

use crate::Plan;
use crate::masked::MASK;
use crate::violation::{Violation, ViolationFound, ViolationPart};

/// Most users, connections or requests in flight.
pub const MAX_USERS: u32 = 4_000_000;

impl Plan {
    /// All violations, in the order of the plan; empty for a plan that can run.
    pub fn check(&self) -> Vec<String> {
        self.violations().into_iter().map(|violation| violation.text).collect()
    }

    /// As [`Plan::check`], each with its place.
    pub(crate) fn violations(&self) -> Vec<Violation> {
        let mut found = ViolationFound::default();
        if self.version != Plan::VERSION {
            let version = self.version;
            let own = Plan::VERSION;
            found.at("version", format!("version is {version}: this build reads version {own}"));
        }
        if self.threads == Some(0) {
            found.at(
                "threads",
                "threads is 0: give at least one, or leave it out to use every core".to_owned(),
            );
        }
        if self.load.is_none() && self.origin.is_none() {
            found.push("there is neither a load nor an origin: nothing would run".to_owned());
        }
        if self.secret_values().iter().any(|value| value.contains(MASK)) {
            found.push(format!(
                "a secret is '{MASK}', which stands where one was left out of what was told: put the secret itself there, env:NAME or file:PATH"
            ));
        }
        found.within("site", |found| site::check_site(&self.site, found));
        if let Some(load) = &self.load {
            found.within("load", |found| load::check_load(load, found));
            if self.site.codes() {
                found.within("load", |found| load::check_codings(load, found));
            }
        }
        origin::check_haterm(self, &mut found);
        origin::check_validators(self, &mut found);
        origin::check_phases(self, &mut found);
        if let Some(origin) = &self.origin {
            found.within("origin", |found| origin::check_origin(origin, found));
        }
        found.all()
    }
}

/// Refuses what is no share. The place is the last word of the name.
fn share(found: &mut ViolationFound, name: &str, value: f64) {
    if !(0.0..=1.0).contains(&value) {
        let field = name.rsplit(' ').next().expect("a split has a first part").to_owned();
        found.at(field, format!("{name} is {value}: a share lies between 0 and 1"));
    }
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}
