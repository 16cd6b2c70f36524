//! A client and a server with a network between them that delays, loses, doubles and reorders, from a seed.

use super::super::{
    Arrival, Client, ConnectionError, Datagram, Key, Limits, Listener, Received, Server, Template, Transmit,
};
use crate::http2::{After, BodySource, ClientSink, Code, FieldList, Http2End, Indexing, ServerSink};
use crate::tls;
use breach::{Breach, Scope};
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Faults between the ends: shares of datagrams.
#[derive(Clone, Copy, Default)]
pub struct Faults {
    pub lost: f64,
    pub doubled: f64,
    /// Longest time that one datagram takes more than another.
    pub jitter: Duration,
    /// Those of an ECN-capable transport that get the mark CE.
    pub marked: f64,
    /// The ECN field is cleared.
    pub bleached: bool,
}

/// A datagram under way.
struct Flying {
    to_server: bool,
    from: SocketAddr,
    ecn: u8,
    bytes: Vec<u8>,
}

/// Numbers from a seed (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    pub fn chance(&mut self, share: f64) -> bool {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64 <= share && share > 0.0
    }

    pub fn below(&mut self, most: u64) -> u64 {
        self.bits() % most.max(1)
    }
}

/// Names and values, by request.
pub type Fields<K> = HashMap<K, Vec<(Vec<u8>, Vec<u8>)>>;

/// Events that a client has been told, by request.
#[derive(Default)]
pub struct Events {
    pub heads: HashMap<u64, (u16, Option<u64>)>,
    pub fields: Fields<u64>,
    pub bodies: HashMap<u64, Vec<u8>>,
    pub interims: HashMap<u64, Vec<u16>>,
    pub trailers: Fields<u64>,
    pub ended: HashMap<u64, Http2End>,
    pub broke: Vec<(Breach, Scope)>,
}

fn scope(of_stream: bool) -> Scope {
    if of_stream { Scope::Stream } else { Scope::Connection }
}

impl ClientSink for Events {
    fn field(&mut self, request: u64, name: &[u8], value: &[u8]) {
        self.fields.entry(request).or_default().push((name.to_vec(), value.to_vec()));
    }

    fn interim(&mut self, request: u64, status: u16) {
        self.interims.entry(request).or_default().push(status);
        self.fields.remove(&request);
    }

    fn head(&mut self, request: u64, status: u16, content_length: Option<u64>, _bytes: usize) {
        assert!(self.heads.insert(request, (status, content_length)).is_none(), "one head each");
    }

    fn body(&mut self, request: u64, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        self.bodies.entry(request).or_default().extend_from_slice(bytes);
    }

    fn trailer(&mut self, request: u64, name: &[u8], value: &[u8]) {
        self.trailers.entry(request).or_default().push((name.to_vec(), value.to_vec()));
    }

    fn broke(&mut self, request: Option<u64>, breach: Breach, _sample: &[u8]) {
        self.broke.push((breach, scope(request.is_some())));
    }

    fn ended(&mut self, request: u64, end: Http2End) {
        assert!(self.ended.insert(request, end).is_none(), "each ends once");
    }
}

/// Events that a server has been told, by stream.
#[derive(Default)]
pub struct Asked {
    pub fields: Fields<u32>,
    pub bodies: HashMap<u32, Vec<u8>>,
    pub whole: Vec<u32>,
    pub resets: Vec<(u32, Code)>,
    pub broke: Vec<(Breach, Scope)>,
}

impl ServerSink for Asked {
    fn field(&mut self, stream: u32, name: &[u8], value: &[u8]) {
        self.fields.entry(stream).or_default().push((name.to_vec(), value.to_vec()));
    }

    fn head(&mut self, _stream: u32, _bytes: usize, _content: bool) {}

    fn body(&mut self, stream: u32, bytes: &[u8]) {
        self.bodies.entry(stream).or_default().extend_from_slice(bytes);
    }

    fn whole(&mut self, stream: u32) {
        self.whole.push(stream);
    }

    fn broke(&mut self, stream: Option<u32>, breach: Breach, _sample: &[u8]) {
        self.broke.push((breach, scope(stream.is_some())));
    }

    fn reset(&mut self, stream: u32, code: Code) {
        self.resets.push((stream, code));
    }
}

/// Bytes that tell their place.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

/// Content of any stream.
pub struct Pattern;

impl BodySource for Pattern {
    fn piece(&mut self, _stream: u32, from: u64, length: usize, out: &mut Vec<u8>) {
        out.extend((from..from + length as u64).map(|at| (at % 251) as u8));
    }
}

/// Reaction of a server to a request.
pub enum Reply {
    /// An answer with so many bytes, and what follows.
    Content(u64, After),
    Reset(Code),
    Nothing,
}

type Answering = Box<dyn FnMut(&mut Server, u32, &Asked) -> Reply>;

/// A client and a server.
pub struct World {
    pub now: Instant,
    pub dice: Dice,
    pub faults: Faults,
    pub client: Client,
    pub told: Events,
    pub listener: Listener,
    pub server: Option<(Key, Box<Server>)>,
    pub asked: Asked,
    pub answering: Answering,
    /// Violations of the protocol, by end.
    pub client_error: Option<ConnectionError>,
    pub server_error: Option<ConnectionError>,
    /// Where the client is now.
    pub at: SocketAddr,
    pub there: SocketAddr,
    under_way: BTreeMap<(Instant, u64), Flying>,
    number: u64,
    /// Number of answers that the listener has sent back by itself.
    pub sent_back: u64,
    pub tls: tls::TlsClient,
    /// The server opens its control stream and says SETTINGS there.
    pub says_settings: bool,
}

pub fn server_tls(resumption: tls::Resumption) -> (tls::TlsServer, tls::Certificates) {
    // One for all, so that a client who knows one server trusts another.
    static IDENTITY: OnceLock<tls::Identity> = OnceLock::new();
    let made = || tls::Identity::throw_away(&["localhost".to_owned()]).unwrap();
    let identity = IDENTITY.get_or_init(made).clone();
    let roots = identity.certificates();
    let settings = tls::ServerSettings {
        identity,
        client_roots: None,
        versions: Vec::new(),
        suites: Vec::new(),
        alpn: vec!["h2".to_owned()],
        resumption,
    };
    (tls::TlsServer::new(&settings).unwrap(), roots)
}

pub fn client_tls(roots: tls::Certificates, resumption: tls::Resumption) -> tls::TlsClient {
    let settings = tls::ClientSettings {
        trust: tls::Trust::Roots(roots),
        identity: None,
        versions: Vec::new(),
        suites: Vec::new(),
        alpn: vec!["h3".to_owned()],
        sni: None,
        resumption,
        keep_certificates: false,
    };
    tls::TlsClient::new(&settings).unwrap()
}

impl World {
    pub fn new(seed: u64, faults: Faults) -> World {
        World::with(seed, faults, Limits::real(), server_limits(), tls::Resumption::Sessions)
    }

    pub fn with(
        seed: u64,
        faults: Faults,
        client: Limits,
        server: Limits,
        resumption: tls::Resumption,
    ) -> World {
        let (server_tls, roots) = server_tls(resumption);
        let tls = client_tls(roots, resumption);
        let now = Instant::now();
        let at = address(1, 40_000);
        let there = address(2, 443);
        World {
            now,
            dice: Dice(seed),
            faults,
            client: Client::new(&tls, "localhost", there, client, seed, now, None).unwrap(),
            told: Events::default(),
            listener: Listener::new(&server_tls, server, seed + 1).unwrap(),
            server: None,
            asked: Asked::default(),
            answering: Box::new(|_, _, _| Reply::Content(5, After::End)),
            client_error: None,
            server_error: None,
            at,
            there,
            under_way: BTreeMap::new(),
            number: 0,
            sent_back: 0,
            tls,
            says_settings: true,
        }
    }

    /// Another connection of the same client to the same server.
    pub fn connect_again(&mut self, limits: Limits) {
        self.at = address(1, self.at.port() + 1);
        self.client =
            Client::new(&self.tls, "localhost", self.there, limits, self.dice.bits(), self.now, None)
                .unwrap();
        (self.told, self.asked, self.server) = (Events::default(), Asked::default(), None);
        self.under_way.clear();
    }

    pub fn ask(&mut self, request: u64, method: &str, body: Option<u64>) -> u32 {
        let path = format!("/{request}");
        let mut fields = FieldList::default();
        for (name, value) in
            [(":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", &path)]
        {
            fields.push(name, value, Indexing::Insert);
        }
        if let Some(length) = body {
            fields.push("content-length", length.to_string(), Indexing::Literal);
        }
        self.client.request(request, &mut Template::default(), fields.iter(), body)
    }

    fn post(&mut self, to_server: bool, from: SocketAddr, bytes: &[u8], transmit: &Transmit) {
        for datagram in bytes.chunks(transmit.segment.unwrap_or(usize::MAX)) {
            if self.dice.chance(self.faults.lost) {
                continue;
            }
            let ecn = match transmit.ecn {
                _ if self.faults.bleached => 0,
                1 | 2 if self.dice.chance(self.faults.marked) => 3,
                ecn => ecn,
            };
            for _ in 0..1 + u32::from(self.dice.chance(self.faults.doubled)) {
                let late = self.dice.below(self.faults.jitter.as_micros() as u64 + 1);
                let due = self.now + Duration::from_millis(5) + Duration::from_micros(late);
                self.number += 1;
                let flying = Flying { to_server, from, ecn, bytes: datagram.to_vec() };
                self.under_way.insert((due, self.number), flying);
            }
        }
    }

    /// Sends what both ends have to send.
    pub fn flush(&mut self) {
        let mut out = Vec::new();
        while self.client.send(&mut Pattern) {}
        while let Some(transmit) = self.client.transmit(self.now, 10, &mut out) {
            let bytes = std::mem::take(&mut out);
            assert_eq!(transmit.bytes, bytes.len());
            self.post(true, self.at, &bytes, &transmit);
        }
        let Some((key, mut server)) = self.server.take() else { return };
        for stream in std::mem::take(&mut self.asked.whole) {
            match (self.answering)(&mut server, stream, &self.asked) {
                Reply::Nothing => {}
                Reply::Reset(code) => server.reset(stream, code),
                Reply::Content(length, after) => respond(&mut server, stream, length, after),
            }
        }
        while server.send(&mut Pattern) {}
        while let Some(transmit) = server.transmit(self.now, 10, &mut out) {
            let bytes = std::mem::take(&mut out);
            // Where the client was before, nobody is.
            if transmit.to == self.at {
                self.post(false, self.there, &bytes, &transmit);
            }
        }
        self.listener.settle(&mut server);
        self.server = Some((key, server));
    }

    /// Lets the next thing happen that does by a moment: a datagram arrives, or a timer is due. `false`: there is none.
    pub fn step(&mut self, end: Instant) -> bool {
        self.flush();
        let timers = [self.client.deadline(), self.server.as_mut().and_then(|(_, server)| server.deadline())];
        let due = self.under_way.keys().next().map(|(at, _)| *at);
        let Some(next) = timers.into_iter().chain([due]).flatten().min().filter(|next| *next <= end) else {
            self.now = end;
            return false;
        };
        self.now = self.now.max(next);
        if due == Some(next)
            && let Some((_, came)) = self.under_way.pop_first()
        {
            match came.to_server {
                true => self.server_takes(Datagram { from: came.from, ecn: came.ecn, bytes: &came.bytes }),
                false => {
                    let Flying { from, ecn, bytes, .. } = &came;
                    let came = Received { from: *from, bytes, segment: None, ecn: *ecn };
                    let read = self.client.read(self.now, came, &mut self.told);
                    self.client_error = self.client_error.or(read.err());
                }
            }
            return true;
        }
        let ticked = self.client.tick(self.now, &mut self.told);
        self.client_error = self.client_error.or(ticked.err());
        if let Some((_, server)) = &mut self.server {
            let ticked = server.tick(self.now, &mut self.asked);
            self.server_error = self.server_error.or(ticked.err());
        }
        true
    }

    fn server_takes(&mut self, datagram: Datagram<'_>) {
        let mut out = Vec::new();
        match self.listener.read(self.now, datagram, &mut out) {
            Arrival::Nothing => {}
            Arrival::Answer(transmit) => {
                self.sent_back += 1;
                self.post(false, self.there, &out, &transmit);
            }
            Arrival::New(key, mut server) => {
                if !self.says_settings {
                    server.say_nothing();
                }
                let ticked = server.tick(self.now, &mut self.asked);
                self.server_error = self.server_error.or(ticked.err());
                self.server = Some((key, server));
            }
            Arrival::For(key, input) => {
                if let Some((known, server)) = &mut self.server
                    && *known == key
                {
                    let took = server.take(self.now, input, &mut self.asked);
                    self.server_error = self.server_error.or(took.err());
                }
            }
        }
    }

    /// Goes on until something is so, at most for so long.
    pub fn until(&mut self, most: Duration, so: impl Fn(&World) -> bool) -> bool {
        let end = self.now + most;
        while !so(self) {
            if !self.step(end) {
                return so(self);
            }
        }
        true
    }

    pub fn connect(&mut self) {
        assert!(
            self.until(Duration::from_secs(60), |world| world.client.is_settled()),
            "{:?}",
            self.client.lost()
        );
    }
}

pub fn respond(server: &mut Server, stream: u32, length: u64, after: After) {
    let mut fields = FieldList::default();
    fields.push(":status", "200", Indexing::Insert);
    fields.push("content-length", length.to_string(), Indexing::Literal);
    fields.push("x-stream", stream.to_string(), Indexing::Literal);
    server.respond(stream, &fields, Some((length, after)));
}

fn address(host: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], port))
}

pub fn server_limits() -> Limits {
    Limits { streams: 256, ..Limits::real() }
}
