//! Reads captures of packets, pcap and pcapng: HTTP/1.1 over TCP, requests with status, times and bytes of their answers.

use super::gor::{answered, request};
use super::logs::{LogWatched, ended};
use super::{Import, ImportError, Progress, Scratch};
use crate::entry::{Edge, Entry, Logged, Sent, Text};
use crate::file::{Input, Note};
use crate::left_out::Reason;
use crate::packets::file::Packets;
use crate::packets::frame::{Other, PacketEnd, Segment, segment};
use crate::packets::http::{Connection, HttpExchange, Lost, Taker, is_answer, is_request};
use crate::packets::stream::{Stream, StreamPiece};
use crate::read::lines::Go;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::Read;

/// Connections that are followed at the same time.
const CONNECTIONS: usize = 50_000;
/// Packets after which is told how far it is.
const TELL: u64 = 10_000;

/// A connection by its ends, the client's first.
type Key = [PacketEnd; 2];

/// A connection with its two directions.
#[derive(Default)]
struct Followed {
    connection: Connection,
    client: Stream,
    server: Stream,
    closed: [bool; 2],
}

/// Exchanges and losses of connections that were not taken yet.
#[derive(Default)]
struct PcapFound {
    exchanges: Vec<HttpExchange>,
    lost: Vec<(Lost, u64)>,
    holes: u64,
    missing: u64,
}

impl Taker for PcapFound {
    fn exchange(&mut self, exchange: HttpExchange) {
        self.exchanges.push(exchange);
    }

    fn lost(&mut self, lost: Lost, packet: u64) {
        self.lost.push((lost, packet));
    }
}

/// All connections of a capture.
#[derive(Default)]
struct Capture {
    connections: HashMap<Key, Followed>,
    order: VecDeque<Key>,
    found: PcapFound,
    packets: u64,
    cut: u64,
    untimed: u64,
    others: BTreeMap<Other, u64>,
    encrypted: u64,
}

impl<S: Scratch> Import<S> {
    /// Reads a capture of packets to its end; as [`Import::log`].
    ///
    /// # Errors
    /// As of [`Import::log`].
    pub fn pcap(
        &mut self,
        name: &str,
        read: &mut dyn Read,
        progress: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<(), ImportError> {
        self.begin_input(name, false);
        let requests = self.requests();
        let left = self.left_out().total();
        let mut watched = LogWatched::new(read);
        let mut counted = Counted { read: &mut watched, bytes: 0, digest: crc32fast::Hasher::new() };
        let mut capture = Capture::default();
        let why = match Packets::new(&mut counted) {
            Ok(mut packets) => self.packets(&mut packets, &mut capture, requests, progress)?,
            Err(error) => Some(error.to_string()),
        };
        capture.end();
        self.take_found(&mut capture)?;
        let Counted { bytes, digest, .. } = counted;
        let told = Progress {
            bytes,
            lines: self.requests() - requests + self.left_out().total() - left,
            requests: self.requests() - requests,
            left_out: self.left_out().total() - left,
        };
        let broken = ended(self.options.keep_broken, name, watched, told)?;
        if let Some(why) = why.as_ref().filter(|_| broken.is_none() && !self.options.keep_broken) {
            let why = why.clone();
            return Err(ImportError::Input { input: name.to_owned(), bytes, lines: told.lines, why });
        }
        self.tell(&capture);
        self.end_input(Input {
            name: name.to_owned(),
            format: "pcap".to_owned(),
            bytes,
            lines: told.lines,
            digest: u64::from(digest.finalize()) << 32 ^ bytes,
            broken: broken.or(why),
            ..Input::default()
        })
    }

    /// Reads all packets; why they end early, if they do.
    fn packets(
        &mut self,
        packets: &mut Packets<impl Read>,
        capture: &mut Capture,
        requests: u64,
        progress: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<Option<String>, ImportError> {
        loop {
            let packet = match packets.read_next() {
                Ok(Some(packet)) => packet,
                Ok(None) => return Ok(None),
                Err(error) => return Ok(Some(error.to_string())),
            };
            capture.packets += 1;
            let captured = segment(packet.link, packet.bytes, packet.length);
            match (captured, packet.at_ns) {
                (Ok(segment), Some(at_ns)) => capture.take(&segment, at_ns),
                (Ok(_), None) => capture.untimed += 1,
                (Err(other), _) => *capture.others.entry(other).or_default() += 1,
            }
            if !capture.found.exchanges.is_empty() || !capture.found.lost.is_empty() {
                self.take_found(capture)?;
            }
            if capture.packets.is_multiple_of(TELL) {
                let lines = self.requests() - requests;
                let told = Progress { lines, requests: lines, ..Progress::default() };
                if progress(told) == Go::Stop {
                    return Ok(None);
                }
            }
        }
    }

    fn take_found(&mut self, capture: &mut Capture) -> Result<(), ImportError> {
        for exchange in std::mem::take(&mut capture.found.exchanges) {
            self.exchanged(&exchange)?;
        }
        for (lost, packet) in std::mem::take(&mut capture.found.lost) {
            let reason = match lost {
                Lost::Request | Lost::Answer => Reason::Hole,
                Lost::Encrypted => Reason::Encrypted,
                Lost::Other => Reason::Other,
            };
            capture.encrypted += u64::from(lost == Lost::Encrypted);
            self.leave_out(reason, packet, 0, b"");
        }
        Ok(())
    }

    fn exchanged(&mut self, exchange: &HttpExchange) -> Result<(), ImportError> {
        let mut entry = Entry::default();
        let client = exchange.client.map(|end| end.address.to_string());
        if !request(&exchange.request, &mut entry) {
            self.leave_out(Reason::Unparsed, exchange.packet, 0, &exchange.request);
            return Ok(());
        }
        // Bodies are counted and not kept.
        entry.body = &[];
        let time = Logged { us: exchange.began_ns.div_euclid(1_000), resolution: 1, edge: Edge::Begin };
        entry.time = Some(time);
        let since = |ns: Option<i64>| u64::try_from((ns? - exchange.began_ns) / 1_000).ok();
        if !exchange.answer.is_empty() {
            answered(&exchange.answer, &mut entry);
            entry.first_byte_us = since(exchange.answered_ns);
            entry.duration_us = since(exchange.ended_ns);
            entry.sent = exchange.body.map_or(Sent::Unknown, Sent::Body);
        }
        let address = client.as_deref().unwrap_or("");
        if entry.address.is_empty() {
            entry.address = Text::plain(address.as_bytes());
        }
        let connection = exchange.client.map(|end| format!("{}:{}", end.address, end.port));
        entry.connection = Text::plain(connection.as_deref().unwrap_or("").as_bytes());
        self.take(&entry, exchange.packet, &exchange.request)
    }

    /// Says what was not seen, and what was passed by.
    fn tell(&mut self, capture: &Capture) {
        let Capture { found, others, cut, untimed, encrypted, .. } = capture;
        if found.holes > 0 {
            self.note(Note::Missing { holes: found.holes, bytes: found.missing });
        }
        if *cut > 0 {
            self.note(Note::Truncated { packets: *cut });
        }
        if *encrypted > 0 {
            self.note(Note::Encrypted { connections: *encrypted });
        }
        let why = |other: &Other| match other {
            Other::Link => "of a link that is not known",
            Other::Protocol => "that are no TCP over IP",
            Other::Fragment => "that are fragments of IP",
            Other::Head => "that are cut within their heads",
        };
        let passed = others.iter().map(|(other, packets)| (*packets, why(other)));
        let untimed = (*untimed > 0).then_some((*untimed, "without a time"));
        for (packets, why) in passed.chain(untimed) {
            self.note(Note::PassedBy { packets, why: why.to_owned() });
        }
    }
}

/// A stream whose bytes are counted.
struct Counted<'a, 'b> {
    read: &'a mut LogWatched<'b>,
    bytes: u64,
    digest: crc32fast::Hasher,
}

impl Read for Counted<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let got = self.read.read(buffer)?;
        self.bytes += got as u64;
        self.digest.update(&buffer[..got]);
        Ok(got)
    }
}

impl Capture {
    fn take(&mut self, segment: &Segment<'_>, at_ns: i64) {
        self.cut += u64::from(segment.missing > 0);
        let keys = [[segment.from, segment.to], [segment.to, segment.from]];
        let known = keys.iter().position(|key| self.connections.contains_key(key));
        // The same ends again: a new connection.
        if let Some(place) = known.filter(|_| segment.syn && !segment.ack) {
            let is_closed = self.connections.get(&keys[place]).is_some_and(|one| one.closed.contains(&true));
            if is_closed {
                self.finish(&keys[place]);
            }
        }
        let by_client = match known.filter(|place| self.connections.contains_key(&keys[*place])) {
            Some(place) => place == 0,
            None => {
                let carries = !segment.payload.is_empty() || segment.missing > 0;
                if !segment.syn && !carries {
                    return;
                }
                let by_client = is_by_client(segment);
                let followed = match segment.syn {
                    true => Followed::default(),
                    false => Followed { connection: Connection::joined(), ..Followed::default() },
                };
                self.begin(keys[usize::from(!by_client)], followed);
                by_client
            }
        };
        let key = keys[usize::from(!by_client)];
        if self.followed(&key, by_client, segment, at_ns) {
            self.finish(&key);
        }
    }

    fn begin(&mut self, key: Key, followed: Followed) {
        if self.connections.len() >= CONNECTIONS {
            while let Some(oldest) = self.order.pop_front() {
                if self.connections.contains_key(&oldest) {
                    self.finish(&oldest);
                    break;
                }
            }
        }
        if self.order.len() > 2 * CONNECTIONS {
            self.order.retain(|key| self.connections.contains_key(key));
        }
        self.order.push_back(key);
        self.connections.insert(key, followed);
    }

    /// Takes a segment of a connection; true if that is over.
    fn followed(&mut self, key: &Key, by_client: bool, segment: &Segment<'_>, at_ns: i64) -> bool {
        let Some(followed) = self.connections.get_mut(key) else { return false };
        let packet = self.packets;
        let found = &mut self.found;
        let Followed { connection, client, server, closed } = followed;
        let stream = if by_client { client } else { server };
        let mut sequence = segment.sequence;
        if segment.syn {
            sequence = sequence.wrapping_add(1);
            stream.begin(sequence);
        }
        let first = found.exchanges.len();
        stream.take(sequence, segment.payload, segment.missing, at_ns, &mut |piece| {
            hand(connection, by_client, piece, packet, found);
        });
        closed[usize::from(!by_client)] |= segment.fin;
        found.exchanges[first..].iter_mut().for_each(|exchange| exchange.client = Some(key[0]));
        segment.reset || *closed == [true, true]
    }

    /// A connection is over.
    fn finish(&mut self, key: &Key) {
        let Some(mut followed) = self.connections.remove(key) else { return };
        let packet = self.packets;
        let found = &mut self.found;
        let first = found.exchanges.len();
        let connection = &mut followed.connection;
        followed.client.end(&mut |piece| hand(connection, true, piece, packet, found));
        followed.server.end(&mut |piece| hand(connection, false, piece, packet, found));
        connection.end(packet, found);
        found.exchanges[first..].iter_mut().for_each(|exchange| exchange.client = Some(key[0]));
    }

    /// The capture is over.
    fn end(&mut self) {
        while let Some(key) = self.order.pop_front() {
            self.finish(&key);
        }
    }
}

/// Hands a piece of a direction to its connection.
fn hand(
    connection: &mut Connection,
    by_client: bool,
    piece: StreamPiece<'_>,
    packet: u64,
    found: &mut PcapFound,
) {
    if let StreamPiece::Hole(bytes) = piece {
        found.holes += 1;
        found.missing += bytes;
    }
    match by_client {
        true => connection.client(piece, packet, found),
        false => connection.server(piece, packet, found),
    }
}

/// True if a connection's first segment that is seen was sent by the client.
fn is_by_client(segment: &Segment<'_>) -> bool {
    match (segment.syn, segment.ack) {
        (true, ack) => !ack,
        (false, _) if is_request(segment.payload) => true,
        (false, _) if is_answer(segment.payload) => false,
        // Servers have the lower ports.
        (false, _) => segment.to.port <= segment.from.port,
    }
}
