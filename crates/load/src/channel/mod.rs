//! Channels: connections, where they lead, and how they are opened, kept and closed. Nothing here knows what a good answer is,
//! or when anything is due.
//!
//! Start reading at [`Channels::lease`]. [`OwnedDestination`] says how a host is reached, `connect.rs` opens, `tunnel.rs` asks a proxy
//! to lead on, `shared.rs` has the connections that users share, and `pool.rs` says who shares which.

mod connect;
mod connection;
mod destination;
mod long;
mod pool;
mod shared;
mod source;
mod spare;
mod tunnel;
mod usage;

pub(crate) use connect::NotConnected;
pub(crate) use connection::Connection;
pub(crate) use destination::{Destination, OwnedDestination, Targets};
pub use destination::{Hosts, UNIX};
pub(crate) use long::{LongBody, OpenBody, RequestContent, held, show_beginning};
pub(crate) use pool::Asker;
pub(crate) use shared::{Lease, Letter, LetterEnded as StreamEnded, Repeated, Repeats};

use crate::account::Account;
use crate::auth::Authenticator;
use crate::failure;
use measure::{Failure, Stage};
use net::{Buffer, Close, Net};
use plan::content::Content;
use plan::{CloseBy, Http, Load, Part, TargetSpread};
use source::Sources;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::http3::QlogWriter;

/// Time that a server may take to close a connection after its last answer.
const PEER_CLOSES: Duration = Duration::from_secs(1);

/// The connections of one worker.
pub(crate) struct Channels {
    net: Net,
    account: Rc<Account>,
    load: Arc<Load>,
    /// HTTP as the plan has it spoken; where messages are, the defaults, which nothing reads.
    http: Http,
    /// Addresses of the target, where there is one.
    target: Vec<SocketAddr>,
    /// Each object belongs to one of them.
    by_object: bool,
    /// Begins TLS, where the plan or a URL wants it.
    tls: Option<wire::tls::TlsClient>,
    /// Local addresses that connections come from.
    sources: Sources,
    part: Part,
    /// Connections opened so far; gives each a number.
    opened: Rc<Cell<u64>>,
    /// While connections are opened before a phase: how many there are that are not counted yet.
    ahead: Cell<Option<u64>>,
    /// Connections begun so far, whatever became of them: whose turn it is among targets and sources.
    turn: Rc<Cell<u64>>,
    /// Connections that users share.
    pool: pool::Pool,
    /// Where the first connections of QUIC write what they do.
    qlogs: Rc<RefCell<VecDeque<QlogWriter>>>,
    /// Bytes that the slowest of the plan's clients reads at once, where there are such.
    trickle: Option<u32>,
}

/// A place for one connection.
#[derive(Default)]
pub(crate) struct Slot {
    /// On the heap, because it is handed on and given back for each request.
    pub connection: Option<Box<Connection>>,
    /// Its connections to other targets, where objects choose among several.
    aside: Option<Box<Aside>>,
    /// Begins TLS, with a memory of earlier connections.
    pub tls: Option<Rc<wire::tls::TlsClient>>,
    /// The connection that is shared with others, where HTTP/2 or HTTP/3 is spoken.
    pub shared: Option<Rc<shared::ChannelShared>>,
    /// Answers a proxy that asks who wants a tunnel.
    pub authenticator: Option<Rc<Authenticator>>,
}

/// Connections that wait for an object of their target.
#[expect(clippy::vec_box, reason = "connections are handed on and given back in their boxes")]
struct Aside(Vec<Box<Connection>>);

impl Slot {
    /// Lays a connection aside.
    fn lay_aside(&mut self, connection: Box<Connection>) {
        self.aside.get_or_insert_with(|| Box::new(Aside(Vec::new()))).0.push(connection);
    }

    /// One that was laid aside and leads there.
    fn take_aside(&mut self, destination: Destination<'_>) -> Option<Box<Connection>> {
        let Aside(waiting) = self.aside.as_deref_mut()?;
        let place = waiting.iter().position(|connection| connection.leads_to(destination))?;
        Some(waiting.swap_remove(place))
    }

    /// Ends all its connections.
    pub fn forget(&mut self) {
        (self.connection, self.aside) = (None, None);
    }

    /// True if its connection leads there.
    pub fn leads_to(&self, destination: Destination<'_>) -> bool {
        let own = self.connection.as_ref().is_some_and(|connection| connection.leads_to(destination));
        own || self.shared.as_ref().is_some_and(|shared| shared.leads_to(destination))
    }

    /// True if it has no connection.
    pub fn is_empty(&self) -> bool {
        self.connection.is_none() && self.shared.is_none()
    }
}

impl Channels {
    /// `target`: where all connections go; without addresses, they go to the host that each URL names.
    pub fn new(
        net: Net,
        account: Rc<Account>,
        load: Arc<Load>,
        part: Part,
        target: Vec<SocketAddr>,
        tls: Option<wire::tls::TlsClient>,
        qlogs: Vec<QlogWriter>,
    ) -> Channels {
        let steps = load.phases.iter().flat_map(plan::Phase::sends);
        let trickle = steps.filter_map(|step| step.reading().trickle()).min();
        let http = load.protocol.http().cloned().unwrap_or_default();
        let by_object = load.spread == TargetSpread::Hash;
        let trickle = trickle.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
        if tls.is_some() {
            wire::tls::seed_random();
        }
        let tls = if http.coalesces() { tls.map(wire::tls::TlsClient::with_peers_kept) } else { tls };
        Channels {
            http,
            sources: Sources::new(&load.sources),
            net,
            account,
            load,
            target,
            by_object,
            tls,
            part,
            opened: Rc::default(),
            ahead: Cell::default(),
            turn: Rc::default(),
            pool: pool::Pool::default(),
            qlogs: Rc::new(RefCell::new(qlogs.into())),
            trickle,
        }
    }

    /// The same with the version of HTTP alone that `load` has, and with connections of their own.
    pub fn speaking(&self, load: Arc<Load>) -> Channels {
        let alpn = load.protocol.connections().tls.map_or(&[][..], |tls| &tls.alpn[..]);
        let tls = self.tls.as_ref().map(|tls| tls.offering(alpn));
        let net = self.net.clone();
        let account = self.account.clone();
        let target = self.target.clone();
        Channels {
            opened: self.opened.clone(),
            turn: self.turn.clone(),
            qlogs: self.qlogs.clone(),
            ..Channels::new(net, account, load, self.part, target, tls, Vec::new())
        }
    }

    /// HTTP as the plan has it spoken.
    pub fn http(&self) -> &Http {
        &self.http
    }

    /// The plan of connections.
    pub fn plan(&self) -> plan::Connections<'_> {
        self.load.protocol.connections()
    }

    /// Connections opened so far.
    pub fn opened(&self) -> u64 {
        self.opened.get()
    }

    /// True if a connection ends with its next request.
    pub fn is_last(&self, connection: &Connection) -> bool {
        self.plan().requests_per_connection == Some(connection.carried + 1)
    }

    /// True if a connection has carried all that it may.
    pub fn is_used_up(&self, connection: &Connection) -> bool {
        self.plan().requests_per_connection.is_some_and(|most| connection.carried >= most)
    }

    /// The target, as it is spoken to.
    pub fn target(&self) -> Destination<'_> {
        let name = self.load.target.as_deref().filter(|_| self.plan().tls.is_some());
        let secure = name.map(|name| name.rsplit_once(':').map_or(name, |(host, _)| host));
        let secure = secure.filter(|_| !self.http.tunnel);
        Destination { to: &self.target, in_order: false, host: None, secure, tunnel: None }
    }

    /// The targets, of which a request goes to one.
    pub fn targets(&self) -> Targets<'_> {
        Targets { all: self.target(), by_object: self.by_object }
    }

    /// TLS with a memory of its own, where it is spoken.
    pub fn own_tls(&self) -> Option<Rc<wire::tls::TlsClient>> {
        self.tls.as_ref().map(|tls| Rc::new(tls.with_own_memory()))
    }

    /// True if `https` URLs can be fetched: with TLS and, by way of a target, through a tunnel.
    pub fn speaks_https(&self) -> bool {
        self.tls.is_some() && (self.load.target.is_none() || self.http.tunnel)
    }

    /// The slot's connection, or a new one. One that was kept may have ended, or bytes may have come over it, since: whoever is about to
    /// send looks.
    pub async fn lease(
        &self,
        slot: &mut Slot,
        destination: Destination<'_>,
    ) -> Result<Box<Connection>, NotConnected> {
        if let Some(connection) = slot.connection.take() {
            if connection.leads_to(destination) {
                return Ok(connection);
            }
            if self.by_object {
                slot.lay_aside(connection);
            } else {
                self.close(connection).await;
            }
        }
        if let Some(connection) = slot.take_aside(destination) {
            return Ok(connection);
        }
        let began = self.net.now();
        // On the heap: users whose connections are kept need no room for it.
        let opened = Box::pin(self.open(slot, destination, began)).await;
        opened.map(Box::new).map_err(|failure| NotConnected { failure, began, ended: self.net.now() })
    }

    /// Gives a connection back to its slot, or closes it.
    pub async fn put_back(&self, slot: &mut Slot, mut connection: Box<Connection>, keep: bool) {
        if let Some(handshake) = connection.stream.take_handshake() {
            self.account.handshake(&handshake);
        }
        if keep {
            slot.connection = Some(connection);
        } else {
            self.close(connection).await;
        }
    }

    /// Closes a connection as the plan has clients end them.
    async fn close(&self, connection: Box<Connection>) {
        let how = match self.plan().close {
            CloseBy::Fin | CloseBy::Peer => Close::Graceful,
            CloseBy::Reset => Close::Reset,
        };
        connection.stream.close(how).await;
    }

    /// Waits for the end of a stream of which the server has said that it will close it, so that its end closes first. What
    /// else comes is nobody's.
    pub async fn await_close(&self, connection: &mut Connection) {
        connection.stream.set_deadline(Some(self.net.now() + PEER_CLOSES));
        while connection.stream.recv().await.is_ok_and(|bytes| !bytes.is_empty()) {}
    }

    /// The latest moment for the first byte of an answer to what was sent at this one.
    pub fn first_deadline(&self, sent: Instant) -> Instant {
        let limits = &self.load.limits;
        self.after(sent, limits.first_byte.map_or(limits.request, |limit| limit.min(limits.request)))
    }

    /// The latest moment for the end of an answer to what was sent at this one.
    pub fn last_deadline(&self, sent: Instant) -> Instant {
        self.after(sent, self.load.limits.request)
    }

    /// So long after a moment, without the time in which this worker stood still.
    pub(super) fn after(&self, moment: Instant, limit: Duration) -> Instant {
        moment + limit + self.net.stood_still_since(moment)
    }
}

/// Sends what was written, `payload` bytes of a counting body behind it, and the end of the stream where it ends there.
pub(crate) async fn send(
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
