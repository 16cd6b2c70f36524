//! One request from its connection to its outcome: what fetching an object ([`object`]), fetching a URL of a list
//! ([`url`]) and sending a request described beforehand ([`request`]) have in common.

mod message;
mod object;
mod patience;
mod pipeline;
mod request;
mod resend;
mod script;
mod tell;
mod tunnel;
mod url;

pub(crate) use message::{Mine, messages};
pub(crate) use object::object;
pub(crate) use pipeline::pipeline;
pub(crate) use request::{request, version_text};
pub(crate) use resend::{Repeating, decide};
pub(crate) use script::script;
pub(crate) use url::{compares, url};

use crate::connection::{Connection, Opened};
use crate::failure;
use crate::user::User;
use crate::worker::Worker;
use measure::event::Wrong;
use measure::{CacheResult, Event, Exchange, Failure, FailureKind, Outcome, Stage, Trouble};
use net::{Close, ConnectOptions};
use plan::{CloseBy, Http1};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};
use transport::{Received, Stream};
use wire::http1::{Limits, ResponseReader, ResponseSink, Stage as Progress};

/// Bodies of which more than this is left are drained unread where nothing looks at them, in bytes.
const DRAIN_FROM: u64 = 32 * 1024;

/// How long a server may take to close a connection after its last answer.
const PEER_CLOSES: Duration = Duration::from_secs(1);

/// How an attempt to get an answer ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ended {
    /// The answer is complete.
    Complete,
    /// The client broke it off on purpose.
    BrokenOff,
    /// It failed.
    Failed(Failure),
    /// A kept connection was lost before the first byte, and the plan has the request sent again.
    Outdated,
}

/// Whether a request is over, or is to be tried again over a new connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    Over,
    Outdated,
}

/// Whose turn it is: the number of the request, when it is due, and, where a schedule says when, how late a user took
/// it up. What comes after that, connecting first of all, takes as long as the target lets it and is not lateness.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    pub number: u64,
    pub due: Instant,
    pub lateness: Option<Duration>,
}

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

/// A connection that could not be opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NotConnected {
    pub failure: Failure,
    pub began: Instant,
    pub ended: Instant,
}

/// The moments of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moments {
    pub due: Instant,
    pub sent: Instant,
    pub first_byte: Option<Instant>,
    pub ended: Instant,
}

impl Moments {
    pub fn at_send(due: Instant, sent: Instant) -> Moments {
        Moments { due, sent, first_byte: None, ended: sent }
    }

    pub fn service(&self) -> Duration {
        self.ended.saturating_duration_since(self.sent)
    }

    pub fn response(&self) -> Duration {
        self.ended.saturating_duration_since(self.due)
    }

    pub fn to_first_byte(self) -> Option<Duration> {
        self.first_byte.map(|at| at.saturating_duration_since(self.sent))
    }

    /// The exchange as far as its times and its connection tell it.
    pub fn exchange(&self, outcome: Outcome, turn: &Turn, connection: &mut Connection) -> Exchange {
        Exchange {
            outcome,
            status: 0,
            cache: CacheResult::Unknown,
            service: self.service(),
            response: self.response(),
            first_byte: self.to_first_byte(),
            connect: connection.opened_in.take(),
            reused: connection.carried > 0,
            lateness: turn.lateness,
            sent_bytes: 0,
            head_bytes: 0,
            body_bytes: 0,
        }
    }
}

impl Worker {
    pub fn http(&self) -> &Http1 {
        &self.http
    }

    fn connections(&self) -> plan::Connections<'_> {
        self.job.load.protocol.connections()
    }

    /// Whether a connection ends with its next request.
    pub fn is_last(&self, connection: &Connection) -> bool {
        self.connections().requests_per_connection == Some(connection.carried + 1)
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

/// The user's connection, or a new one; `None` where none could be opened, which has then been counted.
pub(crate) async fn ready(
    worker: &Rc<Worker>,
    user: &mut User,
    place: Place<'_>,
    turn: &Turn,
) -> Option<Box<Connection>> {
    if let Some(connection) = user.connection.take() {
        // One that has ended would only lose what is sent; over a new one, it is sent once.
        if connection.leads_to(place) && !connection.stream.is_ended() {
            worker.count(|counts| counts.reused += 1);
            return Some(connection);
        }
        close(worker, connection).await;
    }
    let begin = worker.net.now();
    let limits = &worker.job.load.limits;
    match open(worker, user, place, begin).await {
        Ok(opened) => {
            let limits =
                Limits { head_bytes: limits.head_bytes as usize, fields: usize::from(limits.fields) };
            Some(Box::new(Connection::new(opened, limits, place, begin)))
        }
        Err(failure) => {
            not_connected(worker, user, failure, turn, begin);
            None
        }
    }
}

/// Opens a connection. Where TLS then fails it counts as opened all the same.
async fn open(
    worker: &Rc<Worker>,
    user: &mut User,
    place: Place<'_>,
    begin: Instant,
) -> Result<Opened, Failure> {
    let deadline = Some(begin + worker.job.load.limits.connect);
    let connected = match place.tunnel {
        None => connect(worker, place, deadline).await?,
        // On the heap, so that users without tunnels need no room for it.
        Some(authority) => Box::pin(tunnel::open(worker, user, place, authority, deadline)).await?,
    };
    let (Connected { mut stream, to, number }, took) = (connected, worker.net.now() - begin);
    let (Some(host), Some(client)) = (place.secure, &worker.job.tls) else {
        return Ok(Opened { stream: stream.into(), to, number, took });
    };
    stream.set_deadline(deadline);
    let client = user.tls.get_or_insert_with(|| client.with_own_memory());
    let stream = Stream::client(&worker.net, stream, client, host).await;
    let stream = stream.map_err(|error| failure::of_io(&error, Stage::Tls))?;
    Ok(Opened { stream, to, number, took })
}

/// A connection on which nothing was said.
struct Connected {
    stream: net::Stream,
    to: SocketAddr,
    number: u64,
}

/// Connects, to a Unix socket where the plan says so.
async fn connect(worker: &Worker, place: Place<'_>, deadline: Option<Instant>) -> Result<Connected, Failure> {
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

pub(crate) fn not_connected(worker: &Worker, user: &mut User, failure: Failure, turn: &Turn, begin: Instant) {
    user.refusals += 1;
    let now = worker.net.now();
    user.not_connected = Some(NotConnected { failure, began: begin, ended: now });
    worker.end(&Exchange {
        outcome: Outcome::Failed(failure),
        status: 0,
        cache: CacheResult::Unknown,
        service: now - begin,
        response: now.saturating_duration_since(turn.due),
        first_byte: None,
        connect: None,
        reused: false,
        lateness: turn.lateness,
        sent_bytes: 0,
        head_bytes: 0,
        body_bytes: 0,
    });
    if worker.job.load.trace.errors {
        worker.tell(Event::Trouble(Trouble {
            what: Wrong::Failed(failure),
            request: String::from_utf8_lossy(&user.path).into_owned(),
            status_line: String::new(),
            range: (0, 0),
            after: now - begin,
            connection: worker.connections.get(),
            reused: false,
        }));
    }
}

/// What is told of a described request that went wrong. `head`: that of its answer, as far as one came.
pub(crate) fn trouble_of(
    what: Wrong,
    request: String,
    head: &[u8],
    moments: &Moments,
    connection: &Connection,
) -> Event {
    let head = String::from_utf8_lossy(head);
    Event::Trouble(Trouble {
        what,
        request,
        status_line: head.lines().next().unwrap_or("").to_owned(),
        range: (0, 0),
        after: moments.response(),
        connection: connection.number,
        reused: connection.carried > 0,
    })
}

/// Gives what was received to the reader; `None` while the answer goes on.
fn take(
    reader: &mut ResponseReader,
    received: io::Result<Received>,
    sink: &mut impl ResponseSink,
) -> Option<Ended> {
    let stage = match reader.stage() {
        Progress::Idle | Progress::Head => Stage::Head,
        Progress::Body | Progress::Done => Stage::Body,
    };
    let bytes = match received {
        Ok(bytes) => bytes,
        Err(error) => return Some(Ended::Failed(failure::of_io(&error, stage))),
    };
    let refused =
        |error, reader: &ResponseReader| Some(Ended::Failed(failure::of_codec(&error, reader.stage())));
    if bytes.is_empty() {
        return match reader.end_of_stream(sink) {
            Ok(()) => Some(Ended::Complete),
            Err(error) => refused(error, reader),
        };
    }
    match reader.read(&bytes, sink) {
        Ok(progress) if !progress.done => None,
        Ok(progress) if progress.consumed == bytes.len() => Some(Ended::Complete),
        Ok(_) => {
            Some(Ended::Failed(Failure { kind: FailureKind::ExtraBytes, stage: Stage::Body, errno: None }))
        }
        Err(error) => refused(error, reader),
    }
}

/// Something came, or the wait for it is over.
fn note_arrival(worker: &Worker, connection: &mut Connection, moments: &mut Moments) {
    moments.ended = worker.net.now();
    if moments.first_byte.is_none() {
        moments.first_byte = Some(moments.ended);
        if worker.job.load.limits.first_byte.is_some() {
            connection.stream.set_deadline(Some(moments.sent + worker.job.load.limits.request));
        }
    }
}

/// What an end means where nothing may have come before it.
fn note_end(worker: &Worker, connection: &Connection, moments: &mut Moments, ended: Ended) -> Ended {
    if connection.reader.stage() != Progress::Idle {
        return ended;
    }
    moments.first_byte = None;
    let limits = &worker.job.load.limits;
    match ended {
        Ended::Failed(failure)
            if failure.kind == FailureKind::Timeout
                && limits.first_byte.is_some_and(|limit| limit < limits.request) =>
        {
            Ended::Failed(Failure { stage: Stage::FirstByte, ..failure })
        }
        ended => ended,
    }
}

/// Reads an answer to its end.
pub(crate) async fn read_all(
    worker: &Worker,
    connection: &mut Connection,
    answer: &mut impl Body,
    moments: &mut Moments,
) -> Ended {
    loop {
        if connection.reader.stage() == Progress::Body
            && let Some(ended) = drain(connection, answer, DRAIN_FROM).await
        {
            moments.ended = worker.net.now();
            return ended;
        }
        let received = connection.stream.recv().await;
        note_arrival(worker, connection, moments);
        if let Some(ended) = take(&mut connection.reader, received, answer) {
            return note_end(worker, connection, moments, ended);
        }
    }
}

/// A reader of an answer that may have no use for its body.
pub(crate) trait Body: ResponseSink {
    /// Whether body bytes are looked at; where not, they may be drained unread.
    fn wants_body(&self) -> bool;

    /// Counts body bytes that were drained unread.
    fn skipped(&mut self, count: u64);
}

/// Drains the rest of a body that nobody looks at, where that is at least `from` bytes long; `None` where there is none.
async fn drain(connection: &mut Connection, answer: &mut impl Body, from: u64) -> Option<Ended> {
    if answer.wants_body() {
        return None;
    }
    while let Some(left) = connection.reader.remaining().filter(|left| *left >= from) {
        match connection.stream.discard(left).await {
            Ok(0) => {
                let refusal = connection.reader.end_of_stream(answer).err()?;
                return Some(Ended::Failed(failure::of_codec(&refusal, connection.reader.stage())));
            }
            Ok(count) => {
                answer.skipped(count);
                if connection.reader.skip(count) {
                    return Some(Ended::Complete);
                }
            }
            Err(error) => return Some(Ended::Failed(failure::of_io(&error, Stage::Body))),
        }
    }
    None
}

/// A new connection that ends without a byte of an answer is as good as one that was refused: a user who came again at once
/// would only press a dead target, and use a core for it. A time that ran out has paced the user already.
pub(crate) fn note_refusal(user: &mut User, ended: Ended, moments: &Moments, connection: &Connection) {
    let fresh = connection.carried == 0;
    user.refusals = match ended {
        Ended::Failed(failure)
            if fresh && moments.first_byte.is_none() && failure.kind != FailureKind::Timeout =>
        {
            user.refusals + 1
        }
        _ => 0,
    };
}

pub(crate) fn keeps(ended: Ended, last: bool, keep_alive: bool) -> bool {
    matches!(ended, Ended::Complete) && !last && keep_alive
}

/// Waits for the end of a stream of which the server has said that it will close it, so that its end closes first. What
/// else comes is nobody's.
async fn await_close(worker: &Worker, connection: &mut Connection) {
    connection.stream.set_deadline(Some(worker.net.now() + PEER_CLOSES));
    while connection.stream.recv().await.is_ok_and(|bytes| !bytes.is_empty()) {}
}

pub(crate) async fn put_back(worker: &Worker, user: &mut User, mut connection: Box<Connection>, keep: bool) {
    connection.carried += 1;
    if let Some(handshake) = connection.stream.take_handshake() {
        worker.handshake(&handshake);
    }
    if keep {
        user.connection = Some(connection);
    } else {
        close(worker, connection).await;
    }
}

/// As the plan has clients end connections.
async fn close(worker: &Worker, connection: Box<Connection>) {
    let how = match worker.connections().close {
        CloseBy::Fin | CloseBy::Peer => Close::Graceful,
        CloseBy::Reset => Close::Reset,
    };
    connection.stream.close(how).await;
}
