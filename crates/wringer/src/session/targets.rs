//! What a load needs from outside, before any worker counts a thousand failures: the addresses that it connects to, each
//! looked up once, and what its files hold.

use crate::problem::Problem;
use load::Hosts;
use plan::data::Tables;
use plan::{Load, Plan, Step};
use std::collections::hash_map::Entry;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// The addresses of a load.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    /// Of the target; none where each URL names its own.
    pub target: Vec<SocketAddr>,
    /// Of the hosts of described requests, where there is no target.
    pub hosts: Arc<Hosts>,
    /// What the files hold that described requests take values from.
    pub tables: Arc<Tables>,
}

impl Targets {
    /// Looks up what the load of a plan names.
    pub fn of_plan(plan: &Plan) -> Result<Targets, Problem> {
        let Some(load) = &plan.load else { return Ok(Targets::default()) };
        let tables = Arc::new(super::data::tables(load)?);
        Ok(Targets { tables, ..Targets::of(load)? })
    }

    fn of(load: &Load) -> Result<Targets, Problem> {
        if let Some(name) = &load.target {
            return Ok(Targets { target: addresses(name)?, ..Targets::default() });
        }
        let steps = load.phases.iter().flat_map(|phase| &phase.scenario.steps);
        let requests = steps.filter_map(|step| match step {
            Step::Requests(step) => Some(&step.requests),
            Step::Object(_) | Step::Urls(_) | Step::Messages(_) => None,
        });
        let mut hosts = Hosts::new();
        for address in requests.flatten().filter_map(plan::Request::address) {
            let name = format!("{}:{}", address.authority_host(), address.port);
            if let Entry::Vacant(unknown) = hosts.entry((address.host, address.port)) {
                unknown.insert(addresses(&name)?);
            }
        }
        Ok(Targets { hosts: Arc::new(hosts), ..Targets::default() })
    }

    /// The first address, for questions that are asked of one.
    pub fn first(&self) -> Option<SocketAddr> {
        self.target.first().copied()
    }

    /// All addresses that connections go to, as far as they are known beforehand.
    pub fn all(&self) -> Vec<SocketAddr> {
        self.target.iter().chain(self.hosts.values().flatten()).copied().collect()
    }

    /// Refuses a host where nobody listens. `but`: the address of an origin of this process, which is not asked because
    /// that would show in its accounts.
    pub fn refuse_silent(&self, load: &Load, but: Option<SocketAddr>) -> Result<(), Problem> {
        let hosts = self.hosts.iter().map(|((host, port), found)| (format!("{host}:{port}"), found));
        let target = (load.target.clone().unwrap_or_default(), &self.target);
        for (name, found) in hosts.chain([target]) {
            let Some(first) = found.first() else { continue };
            let ours = but.is_some_and(|origin| first.ip().is_loopback() && first.port() == origin.port());
            if !ours {
                answers(load, &name, *first)?;
            }
        }
        Ok(())
    }
}

/// The addresses of `host:port`, of one family.
fn addresses(name: &str) -> Result<Vec<SocketAddr>, Problem> {
    let found: Vec<SocketAddr> = name
        .to_socket_addrs()
        .map_err(|error| {
            Problem::impossible(format!("target {name} does not resolve: {error}; check the name"))
        })?
        .collect();
    // A name such as localhost may stand for two families of which only one is listened on.
    let first =
        found.iter().find(|address| TcpStream::connect_timeout(address, Duration::from_secs(2)).is_ok());
    let family = first.or(found.first()).map(SocketAddr::is_ipv4);
    Ok(found.into_iter().filter(|address| Some(address.is_ipv4()) == family).collect())
}

fn answers(load: &Load, name: &str, address: SocketAddr) -> Result<(), Problem> {
    let limit = load.limits.connect.max(Duration::from_millis(1));
    TcpStream::connect_timeout(&address, limit).map(drop).map_err(|error| {
        let advice = if load.target.is_some() {
            "start the proxy first, for instance with wringer rig"
        } else {
            "start the server first, and check the port"
        };
        Problem::impossible(format!("nothing answers at {name} ({error}); {advice}"))
    })
}
