//! Where the connections of a run may go, when that is not anywhere: this machine's loopback addresses, and hosts that somebody
//! allowed. A plan is checked by the names it holds before any of them is looked up; what users find out later, in a
//! redirection or a value, meets the same limit where the worker connects ([`net::Net::restrict_to`]).

use super::targets::Targets;
use crate::problem::Problem;
use plan::Plan;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;

/// Where connections may go.
#[derive(Debug, Clone)]
pub struct Reach {
    /// As they were allowed, in small letters.
    names: Vec<String>,
    /// Their addresses.
    hosts: Arc<[IpAddr]>,
}

impl Reach {
    /// Loopback addresses, and these hosts: names or addresses, without a port.
    ///
    /// # Errors
    /// A name that does not resolve.
    pub fn to(names: &[String]) -> Result<Reach, Problem> {
        let mut hosts = Vec::new();
        for name in names {
            let found = (without_brackets(name), 0).to_socket_addrs().map_err(|error| {
                Problem::Usage(format!("--allow-target {name} does not resolve: {error}; check the name"))
            })?;
            hosts.extend(found.map(|address| address.ip().to_canonical()));
        }
        Ok(Reach {
            names: names.iter().map(|name| without_brackets(name).to_ascii_lowercase()).collect(),
            hosts: hosts.into(),
        })
    }

    /// The addresses of the allowed hosts.
    pub(super) fn hosts(&self) -> Arc<[IpAddr]> {
        self.hosts.clone()
    }

    /// Refuses a plan that names a host beyond.
    ///
    /// # Errors
    /// The first such host, and how it is allowed.
    pub fn check(&self, plan: &Plan) -> Result<(), Problem> {
        let names = plan.load.as_ref().map(Targets::names).unwrap_or_default();
        match names.into_iter().find(|name| !self.allows(name)) {
            None => Ok(()),
            Some(name) => Err(Problem::Usage(format!(
                "{name} is not this machine, and the page may press nothing else: allow it with wringer serve \
                 --allow-target {name}"
            ))),
        }
    }

    /// True if connections to a host may be made, by its name alone.
    fn allows(&self, name: &str) -> bool {
        let name = without_brackets(name).to_ascii_lowercase();
        match name.parse::<IpAddr>().map(|address| address.to_canonical()) {
            Ok(address) => address.is_loopback() || self.hosts.contains(&address),
            Err(_) => name == "localhost" || self.names.contains(&name),
        }
    }
}

/// A host without the brackets of an IPv6 address.
fn without_brackets(name: &str) -> &str {
    name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_and_what_was_allowed_is_reached() {
        let reach = Reach::to(&["192.0.2.7".to_owned(), "[2001:db8::1]".to_owned()]).unwrap();
        for (name, allowed) in [
            ("127.0.0.1", true),
            ("127.8.9.10", true),
            ("::1", true),
            ("[::1]", true),
            ("::ffff:127.0.0.1", true),
            ("localhost", true),
            ("LOCALHOST", true),
            ("192.0.2.7", true),
            ("::ffff:192.0.2.7", true),
            ("2001:db8::1", true),
            ("192.0.2.8", false),
            ("::ffff:192.0.2.8", false),
            ("0.0.0.0", false),
            // Another spelling of loopback that resolvers know is refused by its name; nobody needs it.
            ("127.1", false),
            ("localhost.example", false),
            ("example.com", false),
            ("", false),
        ] {
            assert_eq!(reach.allows(name), allowed, "{name}");
        }
    }

    #[test]
    fn a_plan_is_refused_by_the_host_it_names() {
        let reach = Reach::to(&[]).unwrap();
        let plan = |url: &str| {
            let text = format!(
                "version = 1\nseed = 7\n[load]\n[load.protocol.http]\n[[load.phases]]\nname = \"measure\"\n\
                 measured = true\npace = {{ users = 1 }}\nstop = {{ requests = 1 }}\n\
                 [[load.phases.scenario.steps]]\nrequests = {{ requests = [{{ url = \"{url}\" }}] }}\n"
            );
            Plan::from_text(&text).unwrap()
        };
        assert!(reach.check(&plan("http://127.0.0.1:8000/")).is_ok());
        let refused = reach.check(&plan("http://192.0.2.1/")).unwrap_err().to_string();
        assert!(refused.contains("--allow-target 192.0.2.1"), "{refused}");
    }
}
