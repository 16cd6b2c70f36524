//! Settles where the origin listens before anything depends on it.

use crate::problem::Problem;
use net::ports::free_address;
use plan::{Plan, Protocol};
use std::net::{SocketAddr, ToSocketAddrs};

/// Resolves an address to listen at.
pub(super) fn bindable(listen: &str) -> Result<SocketAddr, Problem> {
    let mut found = listen
        .to_socket_addrs()
        .map_err(|error| Problem::impossible(format!("{listen} is no address to listen at: {error}")))?;
    found.next().ok_or_else(|| Problem::impossible(format!("{listen} is no address to listen at")))
}

/// Finds the port that the origin will have, trying further ones where the plan allows, and writes it into the plan:
/// into the origin, and into the URLs, so that they lead to this origin.
///
/// # Errors
/// The address is taken or not of this machine.
pub fn settle(plan: &mut Plan) -> Result<(), Problem> {
    let Some(origin) = &mut plan.origin else { return Ok(()) };
    let wanted = bindable(&origin.listen)?;
    let ports = (0..=origin.further_ports).filter_map(|further| wanted.port().checked_add(further));
    let mut why = None;
    let found =
        ports.map(|port| free_address(SocketAddr::new(wanted.ip(), port))).find_map(|tried| match tried {
            Ok(address) => Some(address),
            Err(error) => {
                why.get_or_insert(error);
                None
            }
        });
    let Some(address) = found else {
        let why = why.map_or_else(String::new, |error| error.to_string());
        return Err(Problem::impossible(format!(
            "the origin cannot listen at {wanted}: {why}; stop what listens there, or choose another port"
        )));
    };
    origin.listen = address.to_string();
    if address.port() != wanted.port()
        && let Some(load) = &mut plan.load
        && let Protocol::Http(http) = &mut load.protocol
    {
        let old = format!(":{}", wanted.port());
        if let Some(host) = http.authority.strip_suffix(&old) {
            http.authority = format!("{host}:{}", address.port());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn plan(listen: &str, further_ports: u16) -> Plan {
        let origin = plan::Origin { listen: listen.to_owned(), further_ports, ..plan::Origin::default() };
        let load = plan::Load {
            protocol: Protocol::Http(plan::Http { authority: listen.to_owned(), ..plan::Http::default() }),
            ..plan::Load::default()
        };
        Plan {
            version: 1,
            seed: 1,
            threads: None,
            io: plan::Io::Auto,
            site: plan::Site::default(),
            load: Some(load),
            origin: Some(origin),
        }
    }

    #[test]
    fn a_taken_port_is_refused_or_left_for_the_next_and_the_urls_follow() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap().to_string();
        let refused = settle(&mut plan(&address, 0)).unwrap_err().to_string();
        assert!(refused.contains(&address) && refused.contains("another port"), "{refused}");
        let mut moved = plan(&address, 19);
        settle(&mut moved).unwrap();
        let http = moved.load.as_ref().unwrap().protocol.http().unwrap();
        let origin = moved.origin.as_ref().unwrap();
        assert_ne!(origin.listen, address);
        assert_eq!(http.authority, origin.listen);
    }
}
