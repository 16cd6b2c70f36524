//! Connections as a call leases them: the slot's own where it leads to the same place, or a new one.

use super::{Failure, tunnel};
use crate::connection::{Connection, Opened};
use crate::failure;
use crate::request::Values;
use crate::session::Memory;
use crate::worker::Worker;
use measure::Stage;
use net::{Buffer, Close, ConnectOptions};
use plan::content::Content;
use plan::{CloseBy, Http1};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};
use transport::Stream;
use wire::http1::Limits;

/// How long a server may take to close a connection after its last answer.
const PEER_CLOSES: Duration = Duration::from_secs(1);

/// Where a connection goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Addresses that take turns; there is at least one.
    pub to: &'a [SocketAddr],
    /// The host to begin TLS with; `None`: plain.
    pub secure: Option<&'a str>,
    /// `host:port` that the other end is asked for a tunnel to; only where TLS is spoken inside it.
    pub tunnel: Option<&'a str>,
}

/// A place for one connection, and what is kept from one request over it to the next.
#[derive(Default)]
pub(crate) struct Slot {
    /// On the heap, because it is handed on and given back for each request.
    pub connection: Option<Box<Connection>>,
    /// Begins TLS, with a memory of earlier connections.
    pub tls: Option<wire::tls::Client>,
    /// Connections that could not be opened, or ended without a byte of an answer, one after the other.
    pub refusals: u32,
    /// When the last request ended.
    pub ended: Option<Instant>,
    /// The head of the last answer, where somebody may want to see it.
    pub answer_head: Vec<u8>,
    /// What the user keeps for its requests, where they hold any of it.
    pub values: Option<Box<Values>>,
    /// Number of its user in the phase.
    pub user: u64,
    /// What the user remembers, in steps with a session.
    pub memory: Option<Rc<Memory>>,
}

impl Slot {
    /// A slot of the user of this number.
    pub fn new(user: u64) -> Slot {
        Slot { user, ..Slot::default() }
    }
}

/// A connection that could not be opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NotConnected {
    pub failure: Failure,
    pub began: Instant,
    pub ended: Instant,
}

impl Worker {
    pub fn http(&self) -> &Http1 {
        &self.http
    }

    pub fn connections(&self) -> plan::Connections<'_> {
        self.job.load.protocol.connections()
    }

    /// Whether a connection ends with its next request.
    pub fn is_last(&self, connection: &Connection) -> bool {
        self.connections().requests_per_connection == Some(connection.carried + 1)
    }

    /// Whether a connection has carried all that it may.
    pub fn is_used_up(&self, connection: &Connection) -> bool {
        self.connections().requests_per_connection.is_some_and(|most| connection.carried >= most)
    }

    /// The target, as it is spoken to.
    pub fn target(&self) -> Place<'_> {
        let name = self.job.load.target.as_deref().filter(|_| self.connections().tls.is_some());
        let secure = name.map(|name| name.rsplit_once(':').map_or(name, |(host, _)| host));
        let secure = secure.filter(|_| !self.http().tunnel);
        Place { to: &self.job.target, secure, tunnel: None }
    }

    /// Until when the first byte of an answer must have come.
    pub fn first_deadline(&self, sent: Instant) -> Instant {
        let limits = &self.job.load.limits;
        sent + limits.first_byte.map_or(limits.request, |limit| limit.min(limits.request))
    }

    /// Where the next connection goes and comes from. Addresses take turns, sources take turns for each address, and
    /// workers begin apart.
    fn ends(&self, to: &[SocketAddr]) -> (SocketAddr, Option<IpAddr>) {
        let turn = self.turn.get();
        self.turn.set(turn + 1);
        let count = to.len().max(1) as u64;
        let target = to[(turn % count) as usize];
        (target, self.sources.pick(target, turn / count + u64::from(self.job.part.index)))
    }
}

/// The slot's connection, or a new one.
pub(super) async fn lease(
    worker: &Rc<Worker>,
    slot: &mut Slot,
    place: Place<'_>,
) -> Result<Box<Connection>, NotConnected> {
    if let Some(connection) = slot.connection.take() {
        // One that has ended would only lose what is sent; over a new one, it is sent once.
        if connection.leads_to(place) && !connection.stream.is_ended() {
            return Ok(connection);
        }
        close(worker, connection).await;
    }
    let began = worker.net.now();
    let limits = &worker.job.load.limits;
    // On the heap: users whose connections are kept need no room for it.
    match Box::pin(open(worker, slot, place, began)).await {
        Ok(opened) => {
            let limits =
                Limits { head_bytes: limits.head_bytes as usize, fields: usize::from(limits.fields) };
            Ok(Box::new(Connection::new(opened, limits, place, began)))
        }
        Err(failure) => Err(NotConnected { failure, began, ended: worker.net.now() }),
    }
}

/// Opens a connection. Where TLS then fails it counts as opened all the same.
async fn open(
    worker: &Rc<Worker>,
    slot: &mut Slot,
    place: Place<'_>,
    begin: Instant,
) -> Result<Opened, Failure> {
    let deadline = Some(begin + worker.job.load.limits.connect);
    let connected = match place.tunnel {
        None => connect(worker, place, deadline).await?,
        Some(authority) => tunnel::open(worker, slot.memory.as_deref(), place, authority, deadline).await?,
    };
    let (Connected { mut stream, to, number }, took) = (connected, worker.net.now() - begin);
    let (Some(host), Some(client)) = (place.secure, &worker.job.tls) else {
        return Ok(Opened { stream: stream.into(), to, number, took });
    };
    stream.set_deadline(deadline);
    let client = slot.tls.get_or_insert_with(|| client.with_own_memory());
    let stream = Stream::client(&worker.net, stream, client, host).await;
    let stream = stream.map_err(|error| failure::of_io(&error, Stage::Tls))?;
    Ok(Opened { stream, to, number, took })
}

/// A connection on which nothing was said.
pub(super) struct Connected {
    pub stream: net::Stream,
    to: SocketAddr,
    number: u64,
}

/// Connects, to a Unix socket where the plan says so.
pub(super) async fn connect(
    worker: &Worker,
    place: Place<'_>,
    deadline: Option<Instant>,
) -> Result<Connected, Failure> {
    let (to, source) = worker.ends(place.to);
    let connected = match &worker.http().unix_socket {
        Some(path) => worker.net.connect_unix(Path::new(path), deadline).await,
        None => {
            let abortive_close = worker.connections().close == CloseBy::Reset;
            let buffer = worker.http().socket_buffer.map(|bytes| bytes as usize);
            let options = ConnectOptions {
                source,
                deadline,
                abortive_close,
                receive_buffer: buffer,
                send_buffer: buffer,
            };
            worker.net.connect(to, &options).await
        }
    };
    let stream = connected.map_err(|error| failure::of_connect(&error))?;
    let number = worker.connections.get();
    worker.connections.set(number + 1);
    worker.count(|counts| counts.connections += 1);
    Ok(Connected { stream, to, number })
}

/// Sends what was written, `payload` bytes of a counting body behind it, and the end of the stream where it ends there.
pub(super) async fn send(
    connection: &mut Connection,
    out: Buffer,
    payload: u64,
    half_closes: bool,
) -> Result<(), Failure> {
    let sent = match payload {
        0 => connection.stream.send(out).await,
        bytes => {
            let body: Vec<&'static [u8]> = Content::counting().pieces(0, bytes).collect();
            connection.stream.send_with(out, &body).await
        }
    };
    let ended = match sent {
        Ok(()) if half_closes => connection.stream.shutdown_write().await,
        sent => sent,
    };
    ended.map_err(|error| failure::of_io(&error, Stage::Send))
}

/// Waits for the end of a stream of which the server has said that it will close it, so that its end closes first. What
/// else comes is nobody's.
pub(super) async fn await_close(worker: &Worker, connection: &mut Connection) {
    connection.stream.set_deadline(Some(worker.net.now() + PEER_CLOSES));
    while connection.stream.recv().await.is_ok_and(|bytes| !bytes.is_empty()) {}
}

/// Gives a connection back to its slot, or closes it.
pub(super) async fn put_back(worker: &Worker, slot: &mut Slot, mut connection: Box<Connection>, keep: bool) {
    if let Some(handshake) = connection.stream.take_handshake() {
        worker.handshake(&handshake);
    }
    if keep {
        slot.connection = Some(connection);
    } else {
        close(worker, connection).await;
    }
}

/// Closes a connection as the plan has clients end them.
async fn close(worker: &Worker, connection: Box<Connection>) {
    let how = match worker.connections().close {
        CloseBy::Fin | CloseBy::Peer => Close::Graceful,
        CloseBy::Reset => Close::Reset,
    };
    connection.stream.close(how).await;
}
