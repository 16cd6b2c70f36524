//! New connections: TCP or a Unix socket, a tunnel where one is asked for, TLS inside it.

use super::connection::{Connection, Opened};
use super::usage::Usage;
use super::{Channels, Destination, Slot, tunnel};
use crate::failure;
use measure::{Failure, Stage, TimeMetric};
use net::ConnectOptions;
use plan::CloseBy;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;
use transport::Stream;
use wire::http1::Limits;

/// A connection that could not be opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NotConnected {
    pub failure: Failure,
    pub began: Instant,
    pub ended: Instant,
}

/// A connection on which nothing was said.
pub(super) struct Connected {
    pub stream: net::Stream,
    to: SocketAddr,
    number: u64,
}

impl Channels {
    /// Opens a connection, and tells of it.
    pub(super) async fn open(
        &self,
        slot: &mut Slot,
        destination: Destination<'_>,
        began: Instant,
    ) -> Result<Connection, Failure> {
        let until = began + self.load.limits.connect;
        let mut opened = self.reach(slot, destination, began, until).await;
        self.tell(opened.as_mut().ok());
        opened
    }

    /// Opens a connection before a phase begins, for whoever will send over it. It is counted by [`Self::tell_opened_ahead`]. False
    /// if it cannot be opened until then, which whoever needs it finds out.
    pub async fn open_ahead(&self, slot: &mut Slot, destination: Destination<'_>, until: Instant) -> bool {
        self.ahead.set(self.ahead.get().or(Some(0)));
        let began = self.net.now();
        let until = until.min(began + self.load.limits.connect);
        let Ok(mut connection) = self.reach(slot, destination, began, until).await else { return false };
        connection.begun = None;
        // The end of a handshake would wait for the first request.
        if connection.stream.flush().await.is_ok() {
            slot.connection = Some(Box::new(connection));
        }
        !slot.is_empty()
    }

    /// A phase has begun: connections that were opened ahead are among its figures.
    pub fn tell_opened_ahead(&self, slots: &mut [Slot]) {
        let opened = self.ahead.take().unwrap_or(0);
        self.account.count(|counts| {
            counts.connections += opened;
            counts.preconnected += opened;
        });
        for connection in slots.iter_mut().filter_map(|slot| slot.connection.as_deref_mut()) {
            self.account.time(TimeMetric::Connect, connection.round_trip);
            self.tell(Some(connection));
        }
    }

    /// Tells of certificates that servers showed, and of a handshake.
    fn tell(&self, opened: Option<&mut Connection>) {
        let shown = self.tls.iter().flat_map(wire::tls::Client::take_certificates);
        shown.for_each(|certificate| self.account.certificate(certificate));
        if let Some(handshake) = opened.and_then(|opened| opened.stream.take_handshake()) {
            self.account.handshake(&handshake);
        }
    }

    async fn reach(
        &self,
        slot: &mut Slot,
        destination: Destination<'_>,
        began: Instant,
        until: Instant,
    ) -> Result<Connection, Failure> {
        let deadline = Some(until);
        let connected = match destination.tunnel {
            None => self.connect(destination, deadline).await?,
            Some(authority) => {
                let credentials = slot.authenticator.as_deref();
                tunnel::open(self, credentials, destination, authority, deadline).await?
            }
        };
        let (Connected { mut stream, to, number }, took) = (connected, self.net.now() - began);
        let mut stream = match (destination.secure, &self.tls) {
            (Some(host), Some(client)) => {
                stream.set_deadline(deadline);
                let client = slot.tls.get_or_insert_with(|| Rc::new(client.with_own_memory()));
                let stream = Stream::client(&self.net, stream, client, host).await;
                stream.map_err(|error| failure::of_io(&error, Stage::Tls))?
            }
            _ => stream.into(),
        };
        // Of what goes over it, each request has its own; a connection that is shared has none.
        stream.set_deadline(None);
        let mut usage = Usage::of(&self.account, began);
        if let Some(usage) = &mut usage {
            usage.opened(self.net.now());
        }
        let opened = Opened { stream, to, number, began, took, usage };
        Ok(Connection::new(opened, destination))
    }

    /// Connects, to a Unix socket where the plan says so.
    pub(super) async fn connect(
        &self,
        destination: Destination<'_>,
        deadline: Option<Instant>,
    ) -> Result<Connected, Failure> {
        let (to, source) = self.ends(destination.to);
        let connected = match &self.http.unix_socket {
            Some(path) => self.net.connect_unix(Path::new(path), deadline).await,
            None => {
                let abortive_close = self.plan().close == CloseBy::Reset;
                let buffer = self.http.socket_buffer.map(|bytes| bytes as usize);
                let options = ConnectOptions {
                    source,
                    deadline,
                    abortive_close,
                    receive_buffer: buffer,
                    send_buffer: buffer,
                };
                self.net.connect(to, &options).await
            }
        };
        let stream = connected.map_err(|error| failure::of_connect(&error))?;
        Ok(Connected { stream, to, number: self.next_connection() })
    }

    /// The number of a connection that is open, which is counted. Where TLS then fails it counts as opened all the same.
    pub(super) fn next_connection(&self) -> u64 {
        let number = self.opened.get();
        self.opened.set(number + 1);
        match self.ahead.get() {
            Some(opened) => self.ahead.set(Some(opened + 1)),
            None => self.account.count(|counts| counts.connections += 1),
        }
        number
    }

    /// Where the next connection goes and comes from. Addresses take turns, sources take turns for each address, and
    /// workers begin apart.
    pub(super) fn ends(&self, to: &[SocketAddr]) -> (SocketAddr, Option<IpAddr>) {
        let turn = self.turn.get();
        self.turn.set(turn + 1);
        let count = to.len().max(1) as u64;
        let target = to[(turn % count) as usize];
        (target, self.sources.pick(target, turn / count + u64::from(self.part.index)))
    }

    /// Limits of the heads of answers.
    pub fn limits(&self) -> Limits {
        let limits = &self.load.limits;
        Limits { head_bytes: limits.head_bytes as usize, fields: usize::from(limits.fields) }
    }
}
