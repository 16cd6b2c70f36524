//! The boundary to QUIC: quinn-proto behind the few operations that HTTP/3 needs. Nothing above this file and `limits.rs` names it.
//!
//! Chance comes from a seed, so that a simulated run repeats, but for what TLS draws.

use super::error::{self, ConnectionError, Lost};
use super::limits::Limits;
use crate::http2::Code;
use crate::tls;
use bytes::{Bytes, BytesMut};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    Chunk, ClientConfig, Connection, ConnectionEvent, ConnectionHandle, ConnectionId, ConnectionIdGenerator,
    DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event, Incoming, QlogConfig, ReadError,
    ServerConfig, StreamEvent, StreamId, VarInt, WriteError,
};
use rustls_pki_types::CertificateDer;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes that a system sends at once: the payload of one datagram over IPv4.
const MOST_BYTES: usize = 65_507;
/// Bytes of the connection identifiers that this side chooses.
const ID_BYTES: usize = 8;

/// Datagrams to be sent: bytes that were appended to a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// Where to.
    pub to: SocketAddr,
    /// How many bytes.
    pub bytes: usize,
    /// They are datagrams of this size, the last perhaps shorter; `None`: one datagram.
    pub segment: Option<usize>,
    /// The ECN field of their IP headers (RFC 3168 section 5).
    pub ecn: u8,
}

/// Datagrams that came together, as their IP headers have them.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// Who sent them.
    pub from: SocketAddr,
    /// Their payload.
    pub bytes: &'a [u8],
    /// The length of each of them, but perhaps of the last; `None`: there is one.
    pub segment: Option<usize>,
    /// The ECN field that all of them have.
    pub ecn: u8,
}

/// Where a connection's events are written, as a sequence of JSON texts (RFC 7464), in the form of qlog.
pub type QlogWriter = Box<dyn io::Write + Send + Sync>;

/// Explicit Congestion Notification on a connection's path (RFC 9000 section 13.4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// Datagrams that came marked CE: congestion experienced.
    pub marked: u64,
    /// Times that this side gave it up, because the path or the peer does not carry it.
    pub failed: u64,
}

/// A handshake that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// A session was resumed: the server showed no certificate.
    pub resumed: bool,
    /// True if the server took early data, where some were sent.
    pub early: Option<bool>,
}

/// Figures of a connection since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Datagrams that came.
    pub datagrams_received: u64,
    /// Datagrams that were sent.
    pub datagrams_sent: u64,
    /// Packets that were declared lost.
    pub lost_packets: u64,
    /// Times that the congestion window shrank.
    pub congestion_events: u64,
    /// The smoothed round-trip time; `None`: nothing was acknowledged.
    pub rtt: Option<Duration>,
}

/// Outcome of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuicWritten {
    /// So many bytes were taken; fewer than there were: a window is used up.
    Bytes(usize),
    /// The peer does not want them, or the stream is over.
    Stopped,
}

/// An event on a connection.
#[derive(Debug)]
pub(super) enum Happened {
    /// The handshake is complete.
    Connected,
    /// The connection is over.
    Lost(Lost),
    /// The peer opened streams that carry no messages of its own.
    OpenedOneWay,
    /// The peer opened streams for messages.
    OpenedBothWays,
    /// A stream has something to read.
    Readable(u64),
    /// A stream may go on sending.
    Writable(u64),
    /// The peer wants nothing more that a stream sends.
    Stopped(u64, Code),
    /// More streams may be opened.
    Room,
}

/// The end of reading a stream for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuicRead {
    /// Nothing more has come yet.
    Blocked,
    /// All of it has come.
    Ended,
    /// The peer reset it.
    Reset(Code),
    /// The reader wants no more.
    Enough,
    /// It is over, or was stopped.
    Gone,
}

/// One end of a connection.
pub(super) struct Quic {
    pub(super) connection: Connection,
    pub(super) handle: ConnectionHandle,
    ecn: EcnCounts,
    /// Datagrams are sent as of an ECN-capable transport.
    sends_ecn: bool,
}

impl Quic {
    fn new(handle: ConnectionHandle, connection: Connection) -> Quic {
        Quic { connection, handle, ecn: EcnCounts::default(), sends_ecn: false }
    }

    /// Counts what the path did to a datagram that came.
    pub(super) fn note_ecn(&mut self, ecn: u8) {
        self.ecn.marked += u64::from(ecn == EcnCodepoint::Ce as u8);
    }

    /// Takes the ECN counts of the path since this was asked last.
    pub(super) fn take_ecn(&mut self) -> EcnCounts {
        std::mem::take(&mut self.ecn)
    }

    /// Returns the next event; `None`: nothing more.
    pub(super) fn poll(&mut self) -> Option<Happened> {
        loop {
            return Some(match self.connection.poll()? {
                Event::Connected => Happened::Connected,
                Event::ConnectionLost { reason } => Happened::Lost(lost(reason)),
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => Happened::OpenedOneWay,
                Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => Happened::OpenedBothWays,
                Event::Stream(StreamEvent::Readable { id }) => Happened::Readable(id.into()),
                Event::Stream(StreamEvent::Writable { id }) => Happened::Writable(id.into()),
                Event::Stream(StreamEvent::Stopped { id, error_code }) => {
                    Happened::Stopped(id.into(), error::code(error_code.into()))
                }
                Event::Stream(StreamEvent::Available { dir: Dir::Bi }) => Happened::Room,
                Event::HandshakeDataReady
                | Event::Stream(StreamEvent::Available { .. } | StreamEvent::Finished { .. })
                | Event::DatagramReceived
                | Event::DatagramsUnblocked => continue,
            });
        }
    }

    /// Opens a stream; `None`: the peer allows no more for now.
    pub(super) fn open(&mut self, both_ways: bool) -> Option<u64> {
        let dir = if both_ways { Dir::Bi } else { Dir::Uni };
        self.connection.streams().open(dir).map(u64::from)
    }

    /// Takes a stream that the peer opened.
    pub(super) fn accept(&mut self, both_ways: bool) -> Option<u64> {
        let dir = if both_ways { Dir::Bi } else { Dir::Uni };
        self.connection.streams().accept(dir).map(u64::from)
    }

    pub(super) fn write(&mut self, stream: u64, bytes: &[u8]) -> QuicWritten {
        match self.connection.send_stream(id(stream)).write(bytes) {
            Ok(count) => QuicWritten::Bytes(count),
            Err(WriteError::Blocked) => QuicWritten::Bytes(0),
            Err(WriteError::Stopped(_) | WriteError::ClosedStream) => QuicWritten::Stopped,
        }
    }

    /// Nothing more is sent on a stream.
    pub(super) fn finish(&mut self, stream: u64) {
        // Fails where the peer has stopped it, or it is reset: then there is nothing to end.
        let _ = self.connection.send_stream(id(stream)).finish();
    }

    /// Ends a stream's sending before it is whole.
    pub(super) fn reset(&mut self, stream: u64, code: Code) {
        // Fails for a stream that is over.
        let _ = self.connection.send_stream(id(stream)).reset(code.0.into());
    }

    /// Has the peer stop sending on a stream.
    pub(super) fn stop(&mut self, stream: u64, code: Code) {
        // Fails for a stream that is over.
        let _ = self.connection.recv_stream(id(stream)).stop(code.0.into());
    }

    /// Shows what came on a stream to `take`, in order, at most so many bytes at once, as long as it returns true.
    pub(super) fn read(
        &mut self,
        stream: u64,
        most: usize,
        mut take: impl FnMut(&[u8]) -> Result<bool, ConnectionError>,
    ) -> Result<QuicRead, ConnectionError> {
        let mut stream = self.connection.recv_stream(id(stream));
        let Ok(mut chunks) = stream.read(true) else { return Ok(QuicRead::Gone) };
        let read = loop {
            match chunks.next(most) {
                Ok(Some(Chunk { bytes, .. })) => match take(&bytes) {
                    Ok(true) => {}
                    Ok(false) => break Ok(QuicRead::Enough),
                    Err(error) => break Err(error),
                },
                Ok(None) => break Ok(QuicRead::Ended),
                Err(ReadError::Blocked) => break Ok(QuicRead::Blocked),
                Err(ReadError::Reset(code)) => break Ok(QuicRead::Reset(error::code(code.into()))),
            }
        };
        // Whether something is to be sent for it is asked anyway.
        let _ = chunks.finalize().should_transmit();
        read
    }

    pub(super) fn deadline(&mut self) -> Option<Instant> {
        self.connection.poll_timeout()
    }

    pub(super) fn tick(&mut self, now: Instant) {
        self.connection.handle_timeout(now);
    }

    /// Appends datagrams to be sent, at most so many.
    pub(super) fn transmit(&mut self, now: Instant, most: usize, out: &mut Vec<u8>) -> Option<Transmit> {
        let most = most.min(MOST_BYTES / usize::from(self.connection.current_mtu())).max(1);
        let transmit = self.connection.poll_transmit(now, most, out)?;
        // Probes of other paths never have it.
        if transmit.destination == self.connection.remote_address() {
            let sends = transmit.ecn.is_some();
            self.ecn.failed += u64::from(self.sends_ecn && !sends);
            self.sends_ecn = sends;
        }
        Some(of_transmit(transmit))
    }

    /// Closes the connection, with a code of HTTP/3.
    pub(super) fn close(&mut self, now: Instant, code: Code, reason: &[u8]) {
        self.connection.close(now, code.0.into(), Bytes::copy_from_slice(reason));
    }

    /// True if a client's handshake is confirmed (RFC 9001 section 4.1.2).
    pub(super) fn is_confirmed(&self) -> bool {
        self.connection.stats().frame_rx.handshake_done > 0
    }

    pub(super) fn stats(&self) -> Stats {
        let stats = self.connection.stats();
        Stats {
            datagrams_received: stats.udp_rx.datagrams,
            datagrams_sent: stats.udp_tx.datagrams,
            lost_packets: stats.path.lost_packets,
            congestion_events: stats.path.congestion_events,
            rtt: (stats.frame_rx.acks > 0).then_some(stats.path.rtt),
        }
    }

    /// All that is to be known of it at the endpoint is known, and nothing more comes.
    pub(super) fn is_drained(&self) -> bool {
        self.connection.is_drained()
    }

    /// Tells the endpoint what it needs to know, and the connection what it says.
    pub(super) fn settle(&mut self, endpoint: &mut Endpoint) {
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(answer) = endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(answer);
            }
        }
    }
}

/// A client's end, with an endpoint of its own.
pub(super) struct Dialled {
    pub(super) quic: Quic,
    endpoint: Endpoint,
    /// Verdict on the certificates that servers show.
    seen: Arc<tls::QuicSeen>,
    /// The server showed a certificate; what was wrong with it.
    shown: Option<Result<(), tls::ErrorKind>>,
    /// Bytes that an endpoint itself would answer; a client has nothing to say to strangers.
    scrap: Vec<u8>,
}

impl Dialled {
    pub(super) fn new(
        tls: &tls::TlsClient,
        host: &str,
        to: SocketAddr,
        limits: &Limits,
        seed: u64,
        now: Instant,
        qlog: Option<QlogWriter>,
    ) -> Result<Dialled, tls::SettingsError> {
        let (tls, name) = tls.for_quic(host)?;
        let crypto = QuicClientConfig::try_from(tls.config).map_err(tls::refuse)?;
        let mut config = ClientConfig::new(Arc::new(crypto));
        let mut transport = limits.transport();
        transport.qlog_stream(qlog.and_then(|writer| {
            let mut qlog = QlogConfig::default();
            qlog.writer(writer).title(Some(format!("client of {to}"))).start_time(now);
            qlog.into_stream()
        }));
        config.transport_config(Arc::new(transport));
        let first = Ids::new(seed ^ 1).generate_cid();
        config.initial_dst_cid_provider(Arc::new(move || first));
        let mut endpoint = endpoint(limits, seed, None);
        let (handle, connection) = endpoint.connect(now, config, to, &name).map_err(tls::refuse)?;
        Ok(Dialled {
            quic: Quic::new(handle, connection),
            endpoint,
            seen: tls.seen,
            shown: None,
            scrap: Vec::new(),
        })
    }

    /// A datagram, or several of one size, came.
    pub(super) fn read(&mut self, now: Instant, came: Received<'_>) {
        let mut all = BytesMut::from(came.bytes);
        let ecn = EcnCodepoint::from_bits(came.ecn);
        while !all.is_empty() {
            let datagram = all.split_to(came.segment.unwrap_or(usize::MAX).min(all.len()));
            self.scrap.clear();
            let event = self.endpoint.handle(now, came.from, None, ecn, datagram, &mut self.scrap);
            if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                self.quic.note_ecn(came.ecn);
                self.quic.connection.handle_event(event);
            }
        }
        if self.quic.connection.is_handshaking() || self.shown.is_none() {
            self.shown = self.shown.or(self.seen.take());
        }
    }

    pub(super) fn settle(&mut self) {
        self.quic.settle(&mut self.endpoint);
    }

    /// The handshake, once it is complete. `early`: requests were sent before.
    pub(super) fn opened(&self, early: bool) -> Opened {
        Opened { resumed: self.shown.is_none(), early: early.then(|| self.quic.connection.accepted_0rtt()) }
    }

    /// The server's certificate, once it is known.
    pub(super) fn peer(&self) -> Option<tls::PeerCertificate> {
        let identity = self.quic.connection.crypto_session().peer_identity()?;
        let chain = identity.downcast::<Vec<CertificateDer<'static>>>().ok()?;
        tls::PeerCertificate::of_chain(&chain)
    }

    /// Returns the kind of the TLS failure at this end, by the alert that it has sent.
    pub(super) fn tls_failure(&self, alert: u8) -> tls::ErrorKind {
        self.shown.and_then(Result::err).unwrap_or(tls::kind_of_alert(alert))
    }

    /// True if requests may be sent before the handshake is complete.
    pub(super) fn may_be_early(&self) -> bool {
        self.quic.connection.has_0rtt()
    }
}

/// Outcome of a datagram at a server's endpoint.
pub(super) enum Routed {
    Nothing,
    /// To be sent back at once.
    Answer(Transmit),
    New(Box<Incoming>),
    For(ConnectionHandle, Box<ConnectionEvent>),
}

/// A server's endpoint.
pub(super) struct Accepting {
    endpoint: Endpoint,
    /// Clients show first that they are where their packets say (RFC 9000 section 8.1.2).
    pub retry: bool,
    /// Full handshakes of its connections.
    signed: Arc<tls::Signed>,
}

impl Accepting {
    pub(super) fn new(
        tls: &tls::TlsServer,
        limits: &Limits,
        seed: u64,
    ) -> Result<Accepting, tls::SettingsError> {
        let (tls, signed) = tls.for_quic();
        let crypto = QuicServerConfig::try_from(tls).map_err(tls::refuse)?;
        let mut config = ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(Arc::new(limits.transport()));
        let endpoint = endpoint(limits, seed, Some(Arc::new(config)));
        Ok(Accepting { endpoint, retry: limits.retry, signed })
    }

    /// Full handshakes of its connections, one of which is looked at at a time.
    pub(super) fn signed(&self) -> Arc<tls::Signed> {
        self.signed.clone()
    }

    pub(super) fn route(
        &mut self,
        now: Instant,
        from: SocketAddr,
        ecn: u8,
        datagram: BytesMut,
        out: &mut Vec<u8>,
    ) -> Routed {
        match self.endpoint.handle(now, from, None, EcnCodepoint::from_bits(ecn), datagram, out) {
            None => Routed::Nothing,
            Some(DatagramEvent::Response(transmit)) => Routed::Answer(of_transmit(transmit)),
            Some(DatagramEvent::ConnectionEvent(handle, event)) => Routed::For(handle, Box::new(event)),
            Some(DatagramEvent::NewConnection(incoming)) => Routed::New(Box::new(incoming)),
        }
    }

    /// Takes a connection; otherwise what is to be sent back.
    pub(super) fn accept(
        &mut self,
        incoming: Incoming,
        now: Instant,
        out: &mut Vec<u8>,
    ) -> Result<Quic, Option<Transmit>> {
        if self.retry && !incoming.remote_address_validated() {
            return Err(self.endpoint.retry(incoming, out).ok().map(of_transmit));
        }
        match self.endpoint.accept(incoming, now, out, None) {
            Ok((handle, connection)) => Ok(Quic::new(handle, connection)),
            Err(error) => Err(error.response.map(of_transmit)),
        }
    }

    pub(super) fn settle(&mut self, quic: &mut Quic) {
        quic.settle(&mut self.endpoint);
    }
}

fn endpoint(limits: &Limits, seed: u64, server: Option<Arc<ServerConfig>>) -> Endpoint {
    let mut config = EndpointConfig::default();
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    config.rng_seed(Some(bytes));
    config.cid_generator(move || Box::new(Ids::new(seed)));
    if let Some(payload) = limits.payload {
        // Only values below 1,200 are refused.
        let _ = config.max_udp_payload_size(payload.max(1200));
    }
    Endpoint::new(Arc::new(config), server, true, None)
}

/// Connection identifiers from a seed (splitmix64).
struct Ids(u64);

impl Ids {
    fn new(seed: u64) -> Ids {
        Ids(seed)
    }
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ConnectionId::new(&(bits ^ (bits >> 31)).to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        ID_BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

fn id(stream: u64) -> StreamId {
    // Streams are numbered by QUIC itself, below 2^62.
    VarInt::from_u64(stream).map_or(StreamId::from(VarInt::MAX), StreamId::from)
}

fn of_transmit(transmit: quinn_proto::Transmit) -> Transmit {
    Transmit {
        to: transmit.destination,
        bytes: transmit.size,
        segment: transmit.segment_size,
        ecn: transmit.ecn.map_or(0, |ecn| ecn as u8),
    }
}

fn lost(reason: quinn_proto::ConnectionError) -> Lost {
    use quinn_proto::ConnectionError as E;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match reason {
        E::VersionMismatch => Lost::Version,
        E::Reset => Lost::Reset,
        E::TimedOut => Lost::Idle,
        E::LocallyClosed | E::CidsExhausted => Lost::Here,
        E::ApplicationClosed(close) => {
            Lost::Closed { code: close.error_code.into(), text: text(&close.reason) }
        }
        E::ConnectionClosed(close) => match u64::from(close.error_code) {
            alert @ 0x100..=0x1FF => Lost::Alert(alert as u8),
            code => Lost::Aborted { code, text: text(&close.reason) },
        },
        E::TransportError(error) => match u64::from(error.code) {
            alert @ 0x100..=0x1FF => Lost::Refused(alert as u8),
            code => Lost::Broken { code, text: error.reason },
        },
    }
}
