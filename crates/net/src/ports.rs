//! Ports that are free, for listeners that are bound a moment later, here or by another program; and room at listeners of others'
//! libraries.

use crate::ListenOptions;
use rustix::fd::AsFd;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{SocketAddr, TcpListener};

/// Below 32,768, where Linux by default begins to take ports for outgoing connections: none of the thousands that a
/// load opens can take a port from here between its being chosen and its being listened at.
const QUIET: (u64, u64) = (20_000, 32_000);
/// So many of them are tried before the system chooses.
const TRIES: u64 = 50;

/// An address that is free now: the given one, or with port 0 one with a port that is likely to stay free.
///
/// It is tried alone, whatever shares the port later, so that no stranger does.
pub fn free_address(at: SocketAddr) -> io::Result<SocketAddr> {
    let free = |port| TcpListener::bind(SocketAddr::new(at.ip(), port))?.local_addr();
    let quiet = quiet_ports().filter(|_| at.port() == 0).find_map(|port| free(port).ok());
    quiet.map_or_else(|| free(at.port()), Ok)
}

/// Gives a listener the room that ours have for connections that nobody has accepted yet. Those of the standard library and of
/// tokio keep 128, and of more in a pause of this machine the clients try again after a second.
///
/// # Errors
/// It does not listen.
pub fn deepen(listener: &impl AsFd) -> io::Result<()> {
    Ok(rustix::net::listen(listener, ListenOptions::default().backlog as i32)?)
}

fn quiet_ports() -> impl Iterator<Item = u16> {
    let (first, end) = QUIET;
    // Chance that differs between processes, so that two that begin at once do not want the same ports.
    let chance = RandomState::new();
    (0..TRIES).map(move |number| (first + chance.hash_one(number) % (end - first)) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;
    use std::time::Duration;

    /// Nobody accepts, and nobody is turned away.
    #[test]
    fn a_deep_listener_has_room_for_more_than_128() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        deepen(&listener).unwrap();
        let at = listener.local_addr().unwrap();
        // The 130th would not be connected for as long as nobody accepts.
        let limit = Duration::from_secs(20);
        let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn");
        let most = most.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(128_usize).min(300);
        let connected: Vec<_> = (0..most).map(|_| TcpStream::connect_timeout(&at, limit).unwrap()).collect();
        assert_eq!(connected.len(), most);
    }

    #[test]
    fn a_given_port_is_taken_as_it_is_and_any_port_is_a_quiet_one() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(free_address(taken.local_addr().unwrap()).is_err());
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let found = free_address(any).unwrap();
        assert!((20_000..32_000).contains(&found.port()), "{found}");
        assert_eq!(free_address(found).unwrap(), found);
    }
}
