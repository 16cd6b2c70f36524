//! One of the target's addresses on this machine, and who answers there.

use crate::doctor::Listeners;
use measure::processes::Unknown;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Where the target is reached.
#[derive(Debug, Clone)]
pub enum Place {
    /// A port.
    Port {
        /// The address.
        address: SocketAddr,
        /// HTTP/3 is spoken there.
        datagrams: bool,
        /// The sockets that were seen last.
        listeners: Listeners,
    },
    /// A Unix socket.
    Path(String),
}

impl Place {
    /// The address in words.
    pub fn name(&self) -> String {
        match self {
            Place::Port { address, .. } => address.to_string(),
            Place::Path(path) => path.clone(),
        }
    }

    /// The sockets, where they are of the network.
    pub fn listeners(&self) -> Option<&Listeners> {
        match self {
            Place::Port { listeners, .. } => Some(listeners),
            Place::Path(_) => None,
        }
    }

    /// Looks whether the sockets are others than before. Of a Unix socket that cannot be seen without connecting.
    pub fn has_changed(&mut self) -> bool {
        let Place::Port { address, datagrams, listeners } = self else { return false };
        let now = Listeners::at(*address, *datagrams);
        let changed = now != *listeners;
        *listeners = now;
        changed
    }

    /// Processes that answer there and were not started by others that do. `likely`: who is looked at first.
    ///
    /// # Errors
    /// Why nobody is known.
    pub fn owners(&self, likely: &[u32], budget: Duration) -> Result<Vec<u32>, Unknown> {
        match self {
            Place::Port { listeners, .. } => listeners.owners(likely, budget),
            Place::Path(path) => listener_of(path).map(|pid| vec![pid]),
        }
    }
}

/// The process that began to listen at a Unix socket, which the kernel remembers.
fn listener_of(path: &str) -> Result<u32, Unknown> {
    let socket = UnixStream::connect(path).map_err(|_| Unknown::NobodyHere)?;
    let peer = rustix::net::sockopt::socket_peercred(&socket).map_err(|_| Unknown::OutOfSight)?;
    let pid = u32::try_from(peer.pid.as_raw_nonzero().get()).map_err(|_| Unknown::OutOfSight)?;
    if pid == std::process::id() { Err(Unknown::Ourselves) } else { Ok(pid) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_unix_socket_tells_who_listens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket").display().to_string();
        let place = Place::Path(path.clone());
        assert_eq!(place.owners(&[], Duration::ZERO), Err(Unknown::NobodyHere));
        let _listener = UnixListener::bind(&path).unwrap();
        assert_eq!(place.owners(&[], Duration::ZERO), Err(Unknown::Ourselves));
    }
}
