//! New connections: TCP or a Unix socket, a tunnel where one is asked for, TLS inside it.

use super::connection::{Connection, Opened};
use super::source::Sources;
use super::usage::Usage;
use super::{Channels, Destination, Slot, tunnel};
use crate::failure;
use measure::{Failure, Stage, TimeMetric};
use net::ConnectOptions;
use plan::CloseBy;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};
use transport::TransportStream;
use wire::http1::Http1Limits;

/// A connection that could not be opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NotConnected {
    pub failure: Failure,
    pub began: Instant,
    pub ended: Instant,
}

/// Both ends of a connection that is to be opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    pub to: SocketAddr,
    pub source: Option<IpAddr>,
}

/// The addresses of a host, each tried once, from the one whose turn it is on.
pub(super) struct Turns<'a> {
    pub now: Ends,
    all: &'a [SocketAddr],
    place: usize,
    tried: usize,
    source_turn: u64,
    first_failure: Option<Failure>,
}

impl Turns<'_> {
    /// Until when the address of now is waited for: all that are left share the time.
    pub fn share_of(&self, now: Instant, until: Instant) -> Instant {
        let left = self.all.len().saturating_sub(self.tried) as u32 + 1;
        now + until.saturating_duration_since(now) / left
    }

    /// Goes on to the next address; false if each was tried.
    fn advance(&mut self, sources: &Sources) -> bool {
        if self.tried >= self.all.len() {
            return false;
        }
        self.tried += 1;
        self.place = (self.place + 1) % self.all.len();
        let to = self.all[self.place];
        self.now = Ends { to, source: sources.pick(to, self.source_turn) };
        true
    }
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
        let mut opened = self.reach(slot, destination, began, self.load.limits.connect).await;
        self.tell(opened.as_mut().ok());
        opened
    }

    /// Opens a connection before a phase begins, for whoever will send over it. It is counted by [`Self::tell_opened_ahead`]. False
    /// if it cannot be opened until then, which whoever needs it finds out.
    pub async fn open_ahead(&self, slot: &mut Slot, destination: Destination<'_>, until: Instant) -> bool {
        self.ahead.set(self.ahead.get().or(Some(0)));
        let began = self.net.now();
        let limit = self.load.limits.connect.min(until.saturating_duration_since(began));
        let Ok(mut connection) = self.reach(slot, destination, began, limit).await else { return false };
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
        let shown = self.tls.iter().flat_map(wire::tls::TlsClient::take_certificates);
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
        limit: Duration,
    ) -> Result<Connection, Failure> {
        let connected = match destination.tunnel {
            None => self.connect(destination, began, limit).await?,
            Some(authority) => {
                let credentials = slot.authenticator.as_deref();
                tunnel::open(self, credentials, destination, authority, began, limit).await?
            }
        };
        let took = self.net.now() - began;
        let Connected { mut stream, to, number } = connected;
        let mut stream = match (destination.secure, &self.tls) {
            (Some(host), Some(client)) => {
                stream.set_deadline(Some(self.after(began, limit)));
                let client = slot.tls.get_or_insert_with(|| Rc::new(client.with_own_memory()));
                let stream = TransportStream::client(&self.net, stream, client, host).await;
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
        began: Instant,
        limit: Duration,
    ) -> Result<Connected, Failure> {
        let mut ends = self.ends(destination);
        loop {
            let until = ends.share_of(self.net.now(), self.after(began, limit));
            let connected = self.connect_to(ends.now, until).await;
            match connected.map_err(|error| failure::of_connect(&error)) {
                Ok(stream) => {
                    return Ok(Connected { stream, to: ends.now.to, number: self.next_connection() });
                }
                Err(failure) => self.take_next(&mut ends, failure)?,
            }
        }
    }

    async fn connect_to(&self, ends: Ends, until: Instant) -> io::Result<net::Stream> {
        if let Some(path) = &self.http.unix_socket {
            return self.net.connect_unix(Path::new(path), Some(until)).await;
        }
        let buffer = self.http.socket_buffer.map(|bytes| bytes as usize);
        let options = ConnectOptions {
            source: ends.source,
            deadline: Some(until),
            abortive_close: self.plan().close == CloseBy::Reset,
            receive_buffer: buffer,
            send_buffer: buffer,
        };
        self.net.connect(ends.to, &options).await
    }

    /// An address of a host took no connection: the next one of it is tried, if there is one.
    ///
    /// # Errors
    /// What went wrong at the address whose turn it was, where no other is left, or where this machine is to blame.
    pub(super) fn take_next(&self, ends: &mut Turns<'_>, failure: Failure) -> Result<(), Failure> {
        let first = *ends.first_failure.get_or_insert(failure);
        let failed = ends.now.to;
        if failure.kind.is_ours() || !ends.advance(&self.sources) {
            return Err(first);
        }
        self.account.passed_over(failed, failure);
        Ok(())
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
    pub(super) fn ends<'a>(&self, destination: Destination<'a>) -> Turns<'a> {
        let to = destination.to;
        let turn = self.turn.get();
        self.turn.set(turn + 1);
        let count = if destination.in_order { 1 } else { to.len().max(1) as u64 };
        let place = (turn % count) as usize;
        let source_turn = turn / count + u64::from(self.part.index);
        let now = Ends { to: to[place], source: self.sources.pick(to[place], source_turn) };
        Turns { now, all: to, place, tried: 1, source_turn, first_failure: None }
    }

    /// Limits of the heads of answers.
    pub fn limits(&self) -> Http1Limits {
        let limits = &self.load.limits;
        Http1Limits { head_bytes: limits.head_bytes as usize, fields: usize::from(limits.fields) }
    }
}
