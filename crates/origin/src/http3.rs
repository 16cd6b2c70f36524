//! HTTP/3: the socket that a worker's clients send their datagrams to, and the connections that these belong to.
//!
//! One task owns all of them: what came in a turn is read, answered and sent together. Start at [`serve`].

use crate::http2::HEAD;
use crate::streams::{Requests, Speaks, Streams};
use crate::worker::Worker;
use measure::LiveOriginCounts;
use net::{Came, Datagrams, Net, Outgoing, UdpSocket};
use plan::site::SiteForm;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;
use wire::http1::Version;
use wire::http2::{After, Code, FieldList};
use wire::http3::{Arrival, Datagram, Input, Key, Limits, Listener, Server, Transmit, error};

/// Requests of a connection at once.
const STREAMS: u32 = 256;
/// Bytes of content that a client may send on a stream before they are granted anew.
const WINDOW: u32 = 1 << 20;
/// Bytes of a connection's answers that QUIC holds until they are acknowledged.
const SEND_WINDOW: u64 = 2 << 20;
/// Handshakes under way, each of which holds some 50 kB, from which on strangers are asked to come again with a token: whoever sends with
/// others' addresses never does.
const SHAKING: usize = 1000;
/// Receives in a row before what they lead to is sent.
const BATCH: usize = 64;

impl Speaks for Box<Server> {
    const VERSION: Version = Version::Http3;
    const BROKEN: Code = error::INTERNAL_ERROR;

    fn count(counts: &LiveOriginCounts) {
        counts.http3_requests.add(1);
    }

    fn interim(&mut self, stream: u32, fields: &FieldList) {
        Server::interim(self, stream, fields);
    }

    fn respond(&mut self, stream: u32, fields: &FieldList, content: Option<(u64, After)>) {
        Server::respond(self, stream, fields, content);
    }

    fn release(&mut self, stream: u32, bytes: u64) {
        Server::release(self, stream, bytes);
    }

    fn is_open(&self, stream: u32) -> bool {
        Server::is_open(self, stream)
    }

    fn refuse(&mut self, stream: u32) {
        self.reset(stream, error::REQUEST_REJECTED);
    }

    fn go_away(&mut self, _text: &[u8]) {
        Server::go_away(self);
    }
}

/// A worker's connections.
struct Connections {
    worker: Rc<Worker>,
    listener: Listener,
    /// Raised where an answer that was held back is due.
    wake: net::Event,
    open: HashMap<Key, Streams<Box<Server>>>,
    /// Those of which something came in this turn.
    touched: Vec<Key>,
    /// When each has something to do, if nothing comes before.
    timers: BTreeSet<(Instant, Key)>,
    due: HashMap<Key, Instant>,
    /// Those whose handshake is under way.
    shaking: HashSet<Key>,
    /// Datagrams sent to strangers at once.
    strangers: Vec<(Transmit, Vec<u8>)>,
}

/// Serves what comes to a socket; does not end by itself.
pub(crate) async fn serve(net: Net, socket: UdpSocket, worker: Rc<Worker>, tls: &wire::tls::TlsServer) {
    let limits = Limits {
        streams: STREAMS,
        stream_window: WINDOW,
        send_window: SEND_WINDOW,
        head: Some(HEAD),
        ..Limits::real()
    };
    let seed = net.unix_micros() ^ u64::from(worker.index()) << 48;
    // The settings were tried before.
    let Ok(listener) = Listener::new(tls, limits, seed) else { return };
    let mut connections = Connections {
        listener,
        wake: net.event(),
        open: HashMap::new(),
        touched: Vec::new(),
        timers: BTreeSet::new(),
        due: HashMap::new(),
        shaking: HashSet::new(),
        strangers: Vec::new(),
        worker,
    };
    loop {
        connections.answer(&net, &socket).await;
        let until = connections.timers.first().map(|(at, _)| *at);
        let wake = connections.wake.clone();
        match socket.recv_or_woken(&wake, until, |came| connections.take(&net, came)).await {
            Ok(Came::Datagrams(())) => {
                for _ in 1..BATCH {
                    let Poll::Ready(Ok(())) = socket.poll_recv(|came| connections.take(&net, came)) else {
                        break;
                    };
                }
                connections.tick(net.now());
            }
            // Whose answer is due is not told.
            Ok(Came::Signal) => connections.touched.extend(connections.open.keys().copied()),
            Ok(Came::Time) => connections.tick(net.now()),
            // A socket without a peer is told of nobody's failures.
            Err(_) => connections.worker.counts().broken.add(1),
        }
    }
}

impl Connections {
    fn take(&mut self, net: &Net, came: Datagrams<'_>) {
        let now = net.now();
        for bytes in came.iter() {
            let mut out = Vec::new();
            match self.listener.read(now, Datagram { from: came.from, ecn: came.ecn, bytes }, &mut out) {
                Arrival::Nothing => {}
                Arrival::Answer(transmit) => self.strangers.push((transmit, out)),
                Arrival::New(key, server) => self.begin(now, key, server),
                Arrival::For(key, input) => self.read(now, key, input),
            }
        }
    }

    fn begin(&mut self, now: Instant, key: Key, server: Box<Server>) {
        let counts = self.worker.counts();
        counts.connections.add(1);
        counts.http3_connections.add(1);
        let mut streams = Streams::new(self.worker.clone(), self.wake.clone(), server);
        with(&mut streams, |server, requests| server.tick(now, requests));
        self.shaking.insert(key);
        self.listener.require_retry(self.shaking.len() >= SHAKING);
        self.open.insert(key, streams);
        self.touched.push(key);
    }

    fn read(&mut self, now: Instant, key: Key, input: Input) {
        if let Some(streams) = self.open.get_mut(&key) {
            with(streams, |server, requests| server.take(now, input, requests));
            self.touched.push(key);
        }
    }

    fn tick(&mut self, now: Instant) {
        while let Some((_, key)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            self.due.remove(&key);
            if let Some(streams) = self.open.get_mut(&key) {
                with(streams, |server, requests| server.tick(now, requests));
                self.touched.push(key);
            }
        }
    }

    /// Answers what can be answered, and sends what can be sent.
    async fn answer(&mut self, net: &Net, socket: &UdpSocket) {
        for (transmit, bytes) in self.strangers.drain(..) {
            // Whoever it was may be gone.
            let _ = socket.send(outgoing(&transmit, &bytes)).await;
        }
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        for key in touched.drain(..) {
            let Some(streams) = self.open.get_mut(&key) else { continue };
            answer_one(&self.worker, net, socket, streams).await;
            self.listener.settle(&mut streams.speaks);
            if streams.speaks.is_connected() || streams.speaks.is_drained() {
                self.shaking.remove(&key);
                self.listener.require_retry(self.shaking.len() >= SHAKING);
            }
            let due = streams.speaks.deadline();
            if let Some(before) = self.due.remove(&key) {
                self.timers.remove(&(before, key));
            }
            if streams.speaks.is_drained() {
                self.open.remove(&key);
                self.worker.counts().closed.add(1);
            } else if let Some(due) = due {
                self.due.insert(key, due);
                self.timers.insert((due, key));
            }
        }
        self.touched = touched;
    }
}

/// Reads into the requests of a connection.
fn with(
    streams: &mut Streams<Box<Server>>,
    read: impl FnOnce(&mut Server, &mut Requests) -> Result<(), wire::http3::ConnectionError>,
) {
    let Streams { speaks, requests, worker, .. } = streams;
    if read(speaks, requests).is_err() {
        worker.counts().malformed.add(1);
    }
}

async fn answer_one(worker: &Worker, net: &Net, socket: &UdpSocket, streams: &mut Streams<Box<Server>>) {
    if let Some(opened) = streams.speaks.take_opened() {
        let counts = worker.counts();
        counts.handshakes.add(1);
        counts.handshakes_resumed.add(u64::from(opened.resumed));
        counts.early_accepted.add(u64::from(opened.early == Some(true)));
        if matches!(worker.site().form, SiteForm::Jtest(_)) {
            // jtest's form is HTTP/1 only (RFC 9114 section 8.1).
            streams.speaks.close(net.now(), Code(VERSION_FALLBACK));
        }
    }
    let failed = !streams.speaks.is_connected() && streams.speaks.lost().is_some();
    streams.answer_all();
    loop {
        let more = streams.speaks.send(&mut streams.contents);
        if !send(net, socket, &mut streams.speaks).await {
            worker.counts().broken.add(1);
            break;
        }
        if !more {
            break;
        }
    }
    let ecn = streams.speaks.take_ecn();
    worker.counts().ecn_marked.add(ecn.marked);
    worker.counts().ecn_failed.add(ecn.failed);
    worker.counts().refused.add(streams.speaks.take_late());
    streams.forget_ended();
    if failed && streams.speaks.is_drained() {
        worker.counts().handshakes_failed.add(1);
    }
}

fn outgoing<'a>(transmit: &Transmit, bytes: &'a [u8]) -> Outgoing<'a> {
    Outgoing { to: Some(transmit.to), bytes, segment: transmit.segment, ecn: transmit.ecn }
}

/// `H3_VERSION_FALLBACK`: the request is to be made over HTTP/1.1.
const VERSION_FALLBACK: u32 = 0x110;

/// Sends all that a connection may send now. `false`: the system says no.
async fn send(net: &Net, socket: &UdpSocket, server: &mut Server) -> bool {
    loop {
        let mut out = net.buffer();
        let Some(transmit) = server.transmit(net.now(), socket.most_segments(), &mut out) else {
            return true;
        };
        match socket.send(outgoing(&transmit, &out)).await {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(_) => return false,
        }
    }
}
