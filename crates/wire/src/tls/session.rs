//! [`Session`]: one end of one connection, from its first message to its last.

use super::error::{Error, ErrorKind};
use super::record::{HEADER, Kernel, Traffic, whole_record};
use super::settings::{TlsClient, TlsServer};
use super::verify::PeerCertificate;
use super::x509::key_bits;
use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData, UnbufferedStatus};
use rustls::{CommonState, HandshakeKind};
use std::mem;
use std::ops::Range;

/// Early data offered at most: one record, of a size that rustls, as a server that does not take it, passes over four
/// times. It allows for 16 KiB and sees the record again with each one that comes before the client's Finished.
const EARLY_MAX: usize = 4_000;
/// Bytes of the record with EndOfEarlyData, its header left out: four of the message, one of its type, 16 of the tag. A
/// client sends it if and only if the server took the early data (RFC 8446 section 4.5).
const END_OF_EARLY_DATA: usize = 4 + 1 + 16;
/// Bytes that a record of TLS 1.3 adds to its content: header, type and tag.
const EARLY_OVERHEAD: usize = HEADER + 1 + 16;
/// Records of alerts and of encrypted content, by their first byte.
const ALERT: u8 = 21;
const ENCRYPTED: u8 = 23;

/// One end of a TLS connection.
///
/// Bytes that arrive go to [`open`](Session::open); what it appends to `out` must go to the peer. While
/// [`is_handshaking`](Session::is_handshaking), a client may send nothing but early data; a server may answer early data.
pub struct Session {
    state: TlsState,
    handshake: Option<Handshake>,
    keeps_peer: bool,
    peer: Option<PeerCertificate>,
}

enum TlsState {
    Handshake(Box<Hands>),
    Traffic(Box<Traffic>),
    /// It failed.
    Over,
}

/// Outcome of a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    /// It resumed a session; otherwise it was a full one.
    pub resumed: bool,
    /// True if the server took the early data, where some were sent (client) or some came (server).
    pub early: Option<bool>,
    /// It is TLS 1.3, otherwise 1.2.
    pub tls13: bool,
    /// Number of the cipher suite (IANA).
    pub suite: u16,
    /// Number of the group of the key exchange (IANA), where there was one.
    pub group: Option<u16>,
    /// Bits of the public key in the peer's certificate, where it showed one of a known kind.
    pub key_bits: Option<u32>,
    /// Protocol that was agreed on (ALPN, RFC 7301).
    pub protocol: Agreed,
}

/// A protocol that a handshake agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Agreed {
    /// None: the other end took none of those that were offered, or does not speak ALPN.
    #[default]
    Nothing,
    /// `http/1.1`.
    Http1,
    /// `h2`.
    Http2,
    /// Another one.
    Other,
}

impl Agreed {
    fn of(name: Option<&[u8]>) -> Agreed {
        match name {
            None => Agreed::Nothing,
            Some(b"http/1.1") => Agreed::Http1,
            Some(b"h2") => Agreed::Http2,
            Some(_) => Agreed::Other,
        }
    }
}

/// Result of [`Session::open`] for its input.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// Bytes at the front that are done with. The others must be there again next time, followed by what came since.
    pub consumed: usize,
    /// Where in the input the plaintext now stands.
    pub plain: Range<usize>,
    /// The peer will send nothing more.
    pub closed: bool,
    /// Failure behind the plaintext; the session is over.
    pub failed: Option<Error>,
}

/// A handshake under way.
struct Hands {
    conn: TlsConnection,
    /// Bytes at the front of the input that rustls has seen and wants to see again.
    fed: usize,
    /// It goes on when it has seen another record.
    waits: bool,
    early: Early,
    /// EndOfEarlyData was sent, or early data was read.
    early_taken: bool,
    /// A server may answer before the client's last message.
    may_send: bool,
    resumes: bool,
}

/// Early data: the client's to send, or what came to the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Early {
    /// The first message is not written yet.
    Unknown,
    /// It is, and early data may follow it.
    Possible,
    /// So many bytes.
    Sent(usize),
    No,
}

enum TlsConnection {
    Client(UnbufferedClientConnection),
    Server(UnbufferedServerConnection),
}

/// Where rustls stopped.
enum TlsStep {
    /// It wrote something, and goes on.
    Wrote,
    /// It needs more of the peer's bytes.
    Blocked,
    /// Early data may be sent now.
    MayGoEarly,
    /// Data may be sent.
    MaySend,
    /// Early data.
    Plain(Vec<u8>),
    Closed,
}

impl Session {
    /// Begins as a client of a host; its first message is appended to `out`.
    ///
    /// # Errors
    /// The host's name is none that a certificate can have.
    pub fn client(client: &TlsClient, host: &str, out: &mut Vec<u8>) -> Result<Session, Error> {
        let begun = |error: String| Error::new(ErrorKind::WrongName, true, error);
        let name = client.name(host).map_err(|error| begun(error.to_string()))?;
        let conn = UnbufferedClientConnection::new(client.config.clone(), name)
            .map_err(|error| Error::of(&error, true))?;
        let mut session = Session::new(TlsConnection::Client(conn), client.resumes());
        session.keeps_peer = client.keeps_peer();
        session.open(&mut [], out)?;
        Ok(session)
    }

    /// Begins as a server.
    ///
    /// # Errors
    /// A fault that rustls finds in its settings.
    pub fn server(server: &TlsServer) -> Result<Session, Error> {
        let conn = UnbufferedServerConnection::new(server.config.clone())
            .map_err(|error| Error::of(&error, true))?;
        Ok(Session::new(TlsConnection::Server(conn), false))
    }

    fn new(conn: TlsConnection, resumes: bool) -> Session {
        let hands = Hands {
            conn,
            fed: 0,
            waits: false,
            early: Early::Unknown,
            early_taken: false,
            may_send: false,
            resumes,
        };
        Session {
            state: TlsState::Handshake(Box::new(hands)),
            handshake: None,
            keeps_peer: false,
            peer: None,
        }
    }

    /// True if the handshake goes on.
    pub fn is_handshaking(&self) -> bool {
        matches!(self.state, TlsState::Handshake(_))
    }

    /// True if [`seal`](Session::seal) would do something.
    pub fn may_send(&self) -> bool {
        match &self.state {
            TlsState::Handshake(hands) => hands.may_send,
            TlsState::Traffic(_) => true,
            TlsState::Over => false,
        }
    }

    /// True if [`seal_early`](Session::seal_early) would do something.
    pub fn may_send_early(&self) -> bool {
        matches!(&self.state, TlsState::Handshake(hands) if hands.early == Early::Possible)
    }

    /// Outcome of the handshake, once it is complete.
    pub fn handshake(&self) -> Option<Handshake> {
        self.handshake
    }

    /// The server's certificate, once the handshake is complete, where the client [keeps](Client::with_peers_kept) it; once.
    pub fn take_peer(&mut self) -> Option<PeerCertificate> {
        self.peer.take()
    }

    /// Opens what arrived, as many whole records as there are; the plaintext then stands in the input, in one piece. What
    /// it appends to `out` must go to the peer, also where it fails: it is the alert.
    ///
    /// # Errors
    /// The peer's alert, or what is wrong with what it sent; behind plaintext that is told by [`Opened::failed`].
    pub fn open(&mut self, input: &mut [u8], out: &mut Vec<u8>) -> Result<Opened, Error> {
        let opened = match &mut self.state {
            TlsState::Traffic(traffic) => traffic.open(input, out),
            TlsState::Handshake(_) => self.shake_hands(input, out),
            TlsState::Over => Err(Error::broken("it failed before")),
        };
        if opened.as_ref().map_or(true, |opened| opened.failed.is_some()) {
            self.state = TlsState::Over;
        }
        opened
    }

    /// Seals pieces as if they were one and appends them to `out`.
    ///
    /// # Errors
    /// The handshake is not that far.
    pub fn seal(&mut self, pieces: &[&[u8]], out: &mut Vec<u8>) -> Result<(), Error> {
        match &mut self.state {
            TlsState::Traffic(traffic) => traffic.seal(pieces, out),
            TlsState::Handshake(hands) if hands.may_send => {
                pieces.iter().try_for_each(|piece| hands.seal(piece, out))
            }
            _ => Err(too_soon()),
        }
    }

    /// Seals bytes as early data behind the first message and returns how many of them; the others are to be sealed when
    /// the handshake is complete, and all of them if [`Handshake::early`] then says that the server did not take them.
    pub fn seal_early(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        match &mut self.state {
            TlsState::Handshake(hands) => hands.seal_early(bytes, out),
            _ => 0,
        }
    }

    /// Tells the peer that nothing more will be sent (close_notify).
    pub fn close(&mut self, out: &mut Vec<u8>) {
        if let TlsState::Traffic(traffic) = &mut self.state {
            traffic.close(out);
        }
    }

    fn shake_hands(&mut self, input: &mut [u8], out: &mut Vec<u8>) -> Result<Opened, Error> {
        let mut opened = Opened::default();
        while let TlsState::Handshake(hands) = &mut self.state {
            if hands.waits && !hands.feed(&input[opened.consumed..])? {
                return Ok(opened);
            }
            let at = opened.consumed;
            let (discard, step) = hands.step(&mut input[at..at + hands.fed], out);
            hands.fed -= discard;
            opened.consumed += discard;
            match step {
                Ok(TlsStep::Wrote) => {}
                Ok(TlsStep::Plain(bytes)) => opened.put(input, at, &bytes),
                Ok(TlsStep::MayGoEarly) => return Ok(opened),
                Ok(TlsStep::Closed) => {
                    opened.closed = true;
                    return Ok(opened);
                }
                Ok(TlsStep::MaySend) if !hands.conn.common().is_handshaking() => self.complete()?,
                Ok(step @ (TlsStep::MaySend | TlsStep::Blocked)) => {
                    (hands.may_send, hands.waits) = (matches!(step, TlsStep::MaySend), true);
                }
                Err(error) => {
                    let at = opened.consumed;
                    if !matches!(error, rustls::Error::AlertReceived(_)) {
                        hands.flush(&mut input[at..at + hands.fed], out);
                    }
                    return Err(Error::of(&error, true));
                }
            }
        }
        let rest = opened.consumed;
        let after = self.open(&mut input[rest..], out)?;
        opened.join(input, rest, after);
        Ok(opened)
    }

    /// The handshake is complete: its keys go to the record layer.
    fn complete(&mut self) -> Result<(), Error> {
        let TlsState::Handshake(hands) = mem::replace(&mut self.state, TlsState::Over) else { return Ok(()) };
        let common = hands.conn.common();
        let suite = common.negotiated_cipher_suite();
        self.handshake = Some(Handshake {
            resumed: common.handshake_kind() == Some(HandshakeKind::Resumed),
            early: matches!(hands.early, Early::Sent(_)).then_some(hands.early_taken),
            tls13: suite.is_some_and(|suite| suite.tls13().is_some()),
            suite: suite.map_or(0, |suite| u16::from(suite.suite())),
            group: common.negotiated_key_exchange_group().map(|group| u16::from(group.name())),
            key_bits: common
                .peer_certificates()
                .and_then(|chain| chain.first())
                .and_then(|certificate| key_bits(certificate)),
            protocol: Agreed::of(common.alpn_protocol()),
        });
        if self.keeps_peer {
            self.peer = common.peer_certificates().and_then(PeerCertificate::of_chain);
        }
        let failed = |error: rustls::Error| Error::of(&error, true);
        let (secrets, kernel) = match hands.conn {
            TlsConnection::Client(conn) => {
                let (secrets, kernel) = conn.dangerous_into_kernel_connection().map_err(failed)?;
                (secrets, Kernel::Client(kernel))
            }
            TlsConnection::Server(conn) => {
                let (secrets, kernel) = conn.dangerous_into_kernel_connection().map_err(failed)?;
                (secrets, Kernel::Server(kernel))
            }
        };
        self.state = TlsState::Traffic(Box::new(Traffic::new(kernel, secrets, hands.resumes)));
        Ok(())
    }
}

impl Hands {
    /// Shows rustls one record more, so that none that comes after the handshake is opened by it; false if there is none.
    fn feed(&mut self, input: &[u8]) -> Result<bool, Error> {
        let next = whole_record(&input[self.fed..])
            .map_err(|kind| Error::new(kind, true, "what came is no TLS record"))?;
        self.fed += next.unwrap_or(0);
        self.waits = next.is_none();
        Ok(next.is_some())
    }

    /// One step of rustls; returns also how many bytes of the input are done with.
    fn step(&mut self, input: &mut [u8], out: &mut Vec<u8>) -> (usize, Result<TlsStep, rustls::Error>) {
        match &mut self.conn {
            TlsConnection::Client(conn) => {
                let UnbufferedStatus { discard, state, .. } = conn.process_tls_records(input);
                let step = state.map(|state| match state {
                    ConnectionState::TransmitTlsData(mut transmit) => {
                        let possible =
                            self.early == Early::Unknown && transmit.may_encrypt_early_data().is_some();
                        if possible {
                            self.early = Early::Possible;
                            return TlsStep::MayGoEarly;
                        }
                        self.early = self.early.past();
                        transmit.done();
                        TlsStep::Wrote
                    }
                    ConnectionState::EncodeTlsData(encode) => {
                        self.early_taken |= is_end_of_early_data(encoded(encode, out));
                        TlsStep::Wrote
                    }
                    state => step(state),
                });
                (discard, step)
            }
            TlsConnection::Server(conn) => {
                let UnbufferedStatus { discard, state, .. } = conn.process_tls_records(input);
                let step = state.map(|state| match state {
                    ConnectionState::TransmitTlsData(transmit) => {
                        transmit.done();
                        TlsStep::Wrote
                    }
                    ConnectionState::EncodeTlsData(encode) => {
                        encoded(encode, out);
                        TlsStep::Wrote
                    }
                    ConnectionState::ReadEarlyData(mut read) => {
                        self.early_taken = true;
                        let mut bytes = Vec::new();
                        while let Some(Ok(record)) = read.next_record() {
                            bytes.extend_from_slice(record.payload);
                        }
                        self.early = Early::Sent(bytes.len());
                        TlsStep::Plain(bytes)
                    }
                    state => step(state),
                });
                (discard, step)
            }
        }
    }

    /// Writes what rustls still wants to send, up to its alert. It must not go on to what came after that.
    fn flush(&mut self, input: &mut [u8], out: &mut Vec<u8>) {
        let mut at = 0;
        loop {
            let from = out.len();
            at += match &mut self.conn {
                TlsConnection::Client(conn) => write(conn.process_tls_records(&mut input[at..]), out),
                TlsConnection::Server(conn) => write(conn.process_tls_records(&mut input[at..]), out),
            };
            if out.len() == from || is_alert(&out[from..]) {
                return;
            }
        }
    }

    fn seal(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let TlsConnection::Server(conn) = &mut self.conn else { return Err(too_soon()) };
        // With a handshake message half read, rustls wants to see that half again.
        if self.fed > 0 {
            return Err(too_soon());
        }
        match conn.process_tls_records(&mut []).state {
            Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                append(out, sealed_size(piece.len()), |room| traffic.encrypt(piece, room).ok());
                Ok(())
            }
            _ => Err(too_soon()),
        }
    }

    fn seal_early(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let TlsConnection::Client(conn) = &mut self.conn else { return 0 };
        if self.early != Early::Possible {
            return 0;
        }
        let bytes = &bytes[..bytes.len().min(EARLY_MAX)];
        let Ok(ConnectionState::TransmitTlsData(mut transmit)) = conn.process_tls_records(&mut []).state
        else {
            return 0;
        };
        let Some(mut early) = transmit.may_encrypt_early_data() else { return 0 };
        let size = append(out, sealed_size(bytes.len()), |room| early.encrypt(bytes, room).ok());
        // The ticket may allow less than was offered, and only the size of the record tells.
        let taken = size.saturating_sub(EARLY_OVERHEAD);
        self.early = Early::Sent(taken);
        taken
    }
}

impl Early {
    /// The first message is on its way.
    fn past(self) -> Early {
        match self {
            Early::Unknown | Early::Possible => Early::No,
            other => other,
        }
    }
}

impl TlsConnection {
    fn common(&self) -> &CommonState {
        match self {
            TlsConnection::Client(conn) => conn,
            TlsConnection::Server(conn) => conn,
        }
    }
}

/// Handles, for both ends, a state that is of interest to neither alone.
fn step<Data>(state: ConnectionState<'_, '_, Data>) -> TlsStep {
    match state {
        ConnectionState::WriteTraffic(_) => TlsStep::MaySend,
        ConnectionState::PeerClosed | ConnectionState::Closed => TlsStep::Closed,
        ConnectionState::ReadTraffic(mut read) => {
            let mut bytes = Vec::new();
            while let Some(Ok(record)) = read.next_record() {
                bytes.extend_from_slice(record.payload);
            }
            TlsStep::Plain(bytes)
        }
        _ => TlsStep::Blocked,
    }
}

/// Appends what rustls wants to send, if it does; returns how much of the input is done with.
fn write<Data>(status: UnbufferedStatus<'_, '_, Data>, out: &mut Vec<u8>) -> usize {
    if let Ok(ConnectionState::EncodeTlsData(encode)) = status.state {
        encoded(encode, out);
    }
    status.discard
}

/// Appends what rustls wants to send, and returns it.
fn encoded<'o, Data>(mut encode: EncodeTlsData<'_, Data>, out: &'o mut Vec<u8>) -> &'o [u8] {
    let from = out.len();
    let size = match encode.encode(&mut []) {
        Err(EncodeError::InsufficientSize(size)) => size.required_size,
        _ => 0,
    };
    append(out, size, |room| encode.encode(room).ok());
    &out[from..]
}

/// In clear, or encrypted by TLS 1.3: two bytes, with a type and a tag then.
fn is_alert(record: &[u8]) -> bool {
    match record.first() {
        Some(&ALERT) => true,
        Some(&ENCRYPTED) => record.len() == HEADER + 2 + 1 + 16,
        _ => false,
    }
}

fn is_end_of_early_data(record: &[u8]) -> bool {
    record.first() == Some(&ENCRYPTED) && record.len() == HEADER + END_OF_EARLY_DATA
}

/// Bytes of records that hold so many bytes, at most.
fn sealed_size(bytes: usize) -> usize {
    bytes + (bytes / 16_384 + 2) * 64
}

/// Appends what `write` writes into room for `size` bytes, and returns how much that was.
fn append(out: &mut Vec<u8>, size: usize, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> usize {
    let from = out.len();
    out.resize(from + size, 0);
    let written = write(&mut out[from..]).unwrap_or(0);
    out.truncate(from + written);
    written
}

fn too_soon() -> Error {
    Error::new(ErrorKind::Broken, true, "sent before the handshake was complete")
}

impl Opened {
    /// Adds plaintext that stands in the input already.
    pub(super) fn gather(&mut self, input: &mut [u8], plain: Range<usize>) {
        if self.plain.is_empty() {
            self.plain = plain;
            return;
        }
        let length = plain.len();
        input.copy_within(plain, self.plain.end);
        self.plain.end += length;
    }

    /// Adds plaintext whose ciphertext stood in the input from `at` and was longer.
    fn put(&mut self, input: &mut [u8], at: usize, plain: &[u8]) {
        let from = if self.plain.is_empty() { at } else { self.plain.end };
        if self.plain.is_empty() {
            self.plain = from..from;
        }
        input[from..from + plain.len()].copy_from_slice(plain);
        self.plain.end += plain.len();
    }

    /// Adds what was opened from `rest` on.
    fn join(&mut self, input: &mut [u8], rest: usize, after: Opened) {
        self.consumed = rest + after.consumed;
        (self.closed, self.failed) = (after.closed, after.failed);
        self.gather(input, after.plain.start + rest..after.plain.end + rest);
    }
}
