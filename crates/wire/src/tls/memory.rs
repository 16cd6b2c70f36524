//! A client's memory of the servers that it had sessions with: small, since each user may have one of its own.

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls_pki_types::ServerName;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Servers that are remembered at most; beyond, the first is forgotten.
const SERVERS: usize = 32;
/// Tickets of TLS 1.3 that are kept of a server, each to be used once; beyond, the oldest goes.
const TICKETS: usize = 8;

/// The sessions of a client.
#[derive(Debug, Default)]
pub(super) struct MemoryMemory(Mutex<Vec<MemoryServer>>);

/// The sessions with a server.
#[derive(Debug)]
struct MemoryServer {
    name: ServerName<'static>,
    group: Option<NamedGroup>,
    /// Of TLS 1.2, which may be resumed again and again.
    session: Option<Box<Tls12ClientSessionValue>>,
    /// Of TLS 1.3, the oldest first.
    tickets: Vec<Tls13ClientSessionValue>,
}

impl MemoryMemory {
    fn servers(&self) -> MutexGuard<'_, Vec<MemoryServer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at what is known of a server, if anything is.
    fn known<T>(
        &self,
        name: &ServerName<'_>,
        look: impl FnOnce(&mut MemoryServer) -> Option<T>,
    ) -> Option<T> {
        self.servers().iter_mut().find(|server| server.name == *name).and_then(look)
    }

    /// Changes what is known of a server.
    fn learn(&self, name: ServerName<'static>, change: impl FnOnce(&mut MemoryServer)) {
        let mut servers = self.servers();
        if let Some(server) = servers.iter_mut().find(|server| server.name == name) {
            return change(server);
        }
        if servers.len() == SERVERS {
            servers.remove(0);
        }
        // Nearly all users have one.
        servers.reserve_exact(1);
        let mut server = MemoryServer { name, group: None, session: None, tickets: Vec::new() };
        change(&mut server);
        servers.push(server);
    }
}

impl ClientSessionStore for MemoryMemory {
    fn set_kx_hint(&self, name: ServerName<'static>, group: NamedGroup) {
        self.learn(name, |server| server.group = Some(group));
    }

    fn kx_hint(&self, name: &ServerName<'_>) -> Option<NamedGroup> {
        self.known(name, |server| server.group)
    }

    fn set_tls12_session(&self, name: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.learn(name, |server| server.session = Some(Box::new(value)));
    }

    fn tls12_session(&self, name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.known(name, |server| server.session.as_deref().cloned())
    }

    fn remove_tls12_session(&self, name: &ServerName<'static>) {
        self.known(name, |server| server.session.take());
    }

    fn insert_tls13_ticket(&self, name: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.learn(name, |server| {
            if server.tickets.len() == TICKETS {
                server.tickets.remove(0);
            }
            server.tickets.reserve_exact(1);
            server.tickets.push(value);
        });
    }

    fn take_tls13_ticket(&self, name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.known(name, |server| server.tickets.pop())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: usize) -> ServerName<'static> {
        ServerName::try_from(format!("host{number}.test")).unwrap()
    }

    #[test]
    fn the_first_server_is_forgotten_when_there_are_too_many() {
        let memory = MemoryMemory::default();
        for number in 0..=SERVERS {
            memory.set_kx_hint(name(number), NamedGroup::X25519);
        }
        assert_eq!(memory.kx_hint(&name(0)), None);
        assert_eq!(memory.kx_hint(&name(1)), Some(NamedGroup::X25519));
        memory.set_kx_hint(name(1), NamedGroup::secp256r1);
        assert_eq!(memory.kx_hint(&name(1)), Some(NamedGroup::secp256r1));
        assert_eq!(memory.servers().len(), SERVERS);
        assert!(memory.take_tls13_ticket(&name(1)).is_none() && memory.tls12_session(&name(1)).is_none());
    }
}
