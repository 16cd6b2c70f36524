//! HTTP/1.1 in both directions of a connection: requests, each with what is told of its answer. Bodies are counted and not kept.

use super::frame::PacketEnd;
use super::stream::StreamPiece;
use std::collections::VecDeque;

/// The longest head that is read.
const HEAD: usize = 64 << 10;
/// Requests that wait for their answers on one connection.
const WAITING: usize = 256;
/// Fields of a message that are looked at.
const FIELDS: usize = 128;

/// A request with its answer, as far as both were seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpExchange {
    /// The client, where it is known.
    pub client: Option<PacketEnd>,
    /// Head of the request.
    pub request: Vec<u8>,
    /// Number of the packet with its first byte.
    pub packet: u64,
    /// When its first byte came, in nanoseconds.
    pub began_ns: i64,
    /// Head of the answer; empty: none was seen.
    pub answer: Vec<u8>,
    /// When the first byte of that came.
    pub answered_ns: Option<i64>,
    /// When its last byte came; `None`: it was not seen.
    pub ended_ns: Option<i64>,
    /// Bytes of its body; `None`: nobody knows, as some of them were not seen.
    pub body: Option<u64>,
}

/// Things that came of a connection besides exchanges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lost {
    /// A request was not seen whole.
    Request,
    /// An answer to nothing that was seen.
    Answer,
    /// The connection is encrypted.
    Encrypted,
    /// The connection speaks something else.
    Other,
}

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PacketBody {
    None,
    Length(u64),
    Chunked,
    UntilClose,
}

/// Place within the messages of one direction.
#[derive(Debug)]
enum PacketState {
    /// A head is gathered.
    Head(Vec<u8>),
    /// So many bytes of a body are still to come.
    Body(u64),
    /// A chunk's size or the lines behind the last one are gathered.
    ChunkHead(Vec<u8>),
    /// So many bytes of a chunk, with its line end, are still to come.
    Chunk(u64),
    /// All that comes is body.
    UntilClose,
    /// Bytes were lost: the next message is looked for where a segment begins.
    Lost,
}

impl Default for PacketState {
    fn default() -> PacketState {
        PacketState::Head(Vec::new())
    }
}

/// An event of a direction.
enum PacketStep {
    /// The head of a message is whole.
    Head(Vec<u8>),
    /// The message has ended; its body had so many bytes.
    End(u64),
}

/// One direction.
#[derive(Debug, Default)]
struct OneWay {
    state: PacketState,
    /// Bytes of the body so far.
    bytes: u64,
    /// Some of them were counted and not seen.
    uncertain: bool,
}

/// A connection, whose client is known.
#[derive(Debug, Default)]
pub struct Connection {
    client: OneWay,
    server: OneWay,
    waiting: VecDeque<HttpExchange>,
    /// The request whose body comes.
    current: Option<HttpExchange>,
    /// The answer whose body comes belongs to the first that waits.
    answering: bool,
    /// It is not HTTP, or not any more.
    over: bool,
    begun: bool,
    /// Its beginning was not seen.
    joined: bool,
}

/// Whoever takes what a connection has come to.
pub trait Taker {
    /// An exchange.
    fn exchange(&mut self, exchange: HttpExchange);
    /// Something that is none.
    fn lost(&mut self, lost: Lost, packet: u64);
}

/// True if bytes may be the beginning of a request.
pub fn is_request(bytes: &[u8]) -> bool {
    let method = bytes.iter().take_while(|byte| byte.is_ascii_uppercase() || **byte == b'-').count();
    (3..=20).contains(&method) && bytes.get(method) == Some(&b' ') && !bytes.starts_with(b"PRI ")
}

/// True if bytes may be the beginning of an answer.
pub fn is_answer(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HTTP/1.")
}

impl Connection {
    /// A connection whose beginning was not seen.
    pub fn joined() -> Connection {
        let server = OneWay { state: PacketState::Lost, ..OneWay::default() };
        Connection { joined: true, server, ..Connection::default() }
    }

    /// Takes a piece of what the client sends. `packet`: the number of the packet that has brought it.
    pub fn client(&mut self, piece: StreamPiece<'_>, packet: u64, to: &mut impl Taker) {
        if self.over {
            return;
        }
        let (bytes, at_ns) = match piece {
            StreamPiece::Bytes(bytes, at_ns) => (bytes, at_ns),
            StreamPiece::Hole(hole) => return self.client_hole(hole, packet, to),
        };
        if !self.begun {
            self.begun = true;
            let is_tls = matches!(bytes, [0x14..=0x17, 3, ..]);
            match (is_request(bytes), self.joined && !is_tls) {
                (true, _) => {}
                (false, true) => self.client.state = PacketState::Lost,
                (false, false) => {
                    self.over = true;
                    return to.lost(if is_tls { Lost::Encrypted } else { Lost::Other }, packet);
                }
            }
        }
        let mut rest = bytes;
        while !rest.is_empty() && !self.over {
            if matches!(self.client.state, PacketState::Lost) {
                if !is_request(rest) {
                    return;
                }
                self.client.state = PacketState::default();
            }
            // The rest of a body whose request was answered early belongs to none.
            if self.current.is_none() && self.client.is_between() {
                self.current = Some(HttpExchange { packet, began_ns: at_ns, ..HttpExchange::default() });
            }
            match self.client.step(&mut rest) {
                Ok(Some(PacketStep::Head(head))) => self.requested(head, packet, to),
                Ok(Some(PacketStep::End(_))) => self.sent(to),
                Ok(None) => {}
                Err(()) => {
                    (self.current, self.client.state) = (None, PacketState::Lost);
                    to.lost(Lost::Request, packet);
                }
            }
        }
    }

    fn client_hole(&mut self, hole: u64, packet: u64, to: &mut impl Taker) {
        self.begun = true;
        match (self.client.pass(hole), self.current.take()) {
            (true, current) if self.client.is_between() => {
                self.current = current;
                self.sent(to);
            }
            (true, current) => self.current = current,
            (false, _) => to.lost(Lost::Request, packet),
        }
    }

    /// The head of a request is whole.
    fn requested(&mut self, head: Vec<u8>, packet: u64, to: &mut impl Taker) {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut read = httparse::Request::new(&mut fields);
        let Ok(httparse::Status::Complete(_)) = read.parse(&head) else {
            (self.current, self.client.state) = (None, PacketState::Lost);
            return to.lost(Lost::Request, packet);
        };
        let body = framing(read.headers).unwrap_or(PacketBody::None);
        // Behind the head of CONNECT is a tunnel.
        let tunnel = read.method == Some("CONNECT");
        if let Some(current) = &mut self.current {
            current.request = head;
        }
        self.client.expect(body);
        if self.client.is_between() || tunnel {
            self.sent(to);
        }
    }

    /// A request has been seen whole.
    fn sent(&mut self, to: &mut impl Taker) {
        self.waiting.extend(self.current.take());
        if self.waiting.len() > WAITING {
            self.answering = false;
            self.waiting.pop_front().into_iter().for_each(|exchange| to.exchange(exchange));
        }
    }

    /// Takes a piece of what the server sends.
    pub fn server(&mut self, piece: StreamPiece<'_>, packet: u64, to: &mut impl Taker) {
        if self.over {
            return;
        }
        let (bytes, at_ns) = match piece {
            StreamPiece::Bytes(bytes, at_ns) => (bytes, at_ns),
            StreamPiece::Hole(hole) => return self.server_hole(hole, to),
        };
        let mut rest = bytes;
        while !rest.is_empty() && !self.over {
            if matches!(self.server.state, PacketState::Lost) {
                if !is_answer(rest) {
                    return;
                }
                self.server.state = PacketState::default();
                // Answers may have been lost as well: this one is that of the newest request.
                while self.waiting.len() > 1 {
                    self.waiting.pop_front().into_iter().for_each(|exchange| to.exchange(exchange));
                }
            }
            let first =
                !self.answering && matches!(&self.server.state, PacketState::Head(head) if head.is_empty());
            if let Some(waiting) = self.waiting.front_mut().filter(|_| first) {
                waiting.answered_ns = Some(at_ns);
            }
            match self.server.step(&mut rest) {
                Ok(Some(PacketStep::Head(head))) => self.answered(head, packet, at_ns, to),
                Ok(Some(PacketStep::End(bytes))) => self.complete(Some(bytes), Some(at_ns), to),
                Ok(None) => self.note_last(at_ns),
                Err(()) => {
                    self.server.state = PacketState::Lost;
                    self.complete(None, None, to);
                }
            }
        }
    }

    /// Where a body ends with its connection, its last byte so far may be the last one.
    fn note_last(&mut self, at_ns: i64) {
        let ends_with_it = matches!(self.server.state, PacketState::UntilClose);
        if let Some(front) = self.waiting.front_mut().filter(|_| ends_with_it) {
            front.ended_ns = Some(at_ns);
        }
    }

    fn server_hole(&mut self, hole: u64, to: &mut impl Taker) {
        if !self.server.pass(hole) {
            self.complete(None, None, to);
        } else if self.server.is_between() {
            // Its last byte was not seen, but how many there were is known.
            let bytes = std::mem::take(&mut self.server.bytes);
            self.complete(Some(bytes), None, to);
        }
    }

    /// The head of an answer is whole.
    fn answered(&mut self, head: Vec<u8>, packet: u64, at_ns: i64, to: &mut impl Taker) {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut read = httparse::Response::new(&mut fields);
        let Ok(httparse::Status::Complete(_)) = read.parse(&head) else {
            self.server.state = PacketState::Lost;
            return self.complete(None, None, to);
        };
        let status = read.code.unwrap_or(0);
        if (100..200).contains(&status) && status != 101 {
            return;
        }
        let Some(front) = self.waiting.front_mut() else {
            // A request whose body still comes may be answered early.
            match self.current.take() {
                Some(current) if !current.request.is_empty() => self.waiting.push_back(current),
                other => {
                    self.current = other;
                    self.server.expect(framing(read.headers).unwrap_or(PacketBody::UntilClose));
                    return to.lost(Lost::Answer, packet);
                }
            }
            return self.answered(head, packet, at_ns, to);
        };
        let is_head = front.request.starts_with(b"HEAD ");
        let connects = front.request.starts_with(b"CONNECT ") && (200..300).contains(&status);
        let bodiless = is_head || matches!(status, 101 | 204 | 304) || connects;
        let body =
            if bodiless { PacketBody::None } else { framing(read.headers).unwrap_or(PacketBody::UntilClose) };
        front.answered_ns = front.answered_ns.or(Some(at_ns));
        front.answer = head;
        self.answering = true;
        self.server.expect(body);
        if self.server.is_between() {
            self.complete(Some(0), Some(at_ns), to);
        }
        self.over |= status == 101 || connects;
    }

    /// The first that waits has its answer, or what was seen of it.
    fn complete(&mut self, body: Option<u64>, ended_ns: Option<i64>, to: &mut impl Taker) {
        self.answering = false;
        let uncertain = std::mem::take(&mut self.server.uncertain);
        if let Some(mut exchange) = self.waiting.pop_front() {
            exchange.body = body.filter(|_| !uncertain);
            exchange.ended_ns = ended_ns;
            to.exchange(exchange);
        }
    }

    /// The connection is over.
    pub fn end(&mut self, packet: u64, to: &mut impl Taker) {
        if matches!(self.server.state, PacketState::UntilClose) && self.answering {
            let ended = self.waiting.front().and_then(|front| front.ended_ns);
            self.complete(Some(self.server.bytes), ended, to);
        }
        self.waiting.drain(..).for_each(|exchange| to.exchange(exchange));
        match self.current.take() {
            Some(current) if !current.request.is_empty() => to.exchange(current),
            Some(_) if !self.over && !self.client.is_between() => to.lost(Lost::Request, packet),
            Some(_) | None => {}
        }
        self.over = true;
    }
}

/// How the body of a message ends; `None`: no field says so.
fn framing(fields: &[httparse::Header<'_>]) -> Option<PacketBody> {
    let is_chunked = |field: &httparse::Header<'_>| {
        field.name.eq_ignore_ascii_case("transfer-encoding")
            && field.value.to_ascii_lowercase().ends_with(b"chunked")
    };
    if fields.iter().any(is_chunked) {
        return Some(PacketBody::Chunked);
    }
    let length = fields.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"))?;
    let number = std::str::from_utf8(length.value).ok()?.trim().parse().ok()?;
    Some(if number == 0 { PacketBody::None } else { PacketBody::Length(number) })
}

impl OneWay {
    /// True if no message is under way.
    fn is_between(&self) -> bool {
        matches!(&self.state, PacketState::Head(head) if head.is_empty())
    }

    /// A body follows the head that was whole.
    fn expect(&mut self, body: PacketBody) {
        (self.bytes, self.uncertain) = (0, false);
        self.state = match body {
            PacketBody::None => PacketState::default(),
            PacketBody::Length(length) => {
                self.bytes = length;
                PacketState::Body(length)
            }
            PacketBody::Chunked => PacketState::ChunkHead(Vec::new()),
            PacketBody::UntilClose => PacketState::UntilClose,
        };
    }

    /// Passes by bytes that were not seen; false where nobody knows what they were.
    fn pass(&mut self, hole: u64) -> bool {
        match &mut self.state {
            PacketState::Body(left) if *left > hole => *left -= hole,
            PacketState::Body(left) if *left == hole => self.state = PacketState::default(),
            PacketState::Chunk(left) if *left > hole => *left -= hole,
            PacketState::UntilClose => {
                self.bytes += hole;
                self.uncertain = true;
            }
            PacketState::Head(_)
            | PacketState::Body(_)
            | PacketState::Chunk(_)
            | PacketState::ChunkHead(_)
            | PacketState::Lost => {
                self.state = PacketState::Lost;
                return false;
            }
        }
        true
    }

    /// Reads on up to the next event.
    ///
    /// # Errors
    /// What comes is not HTTP, or too long.
    fn step(&mut self, rest: &mut &[u8]) -> Result<Option<PacketStep>, ()> {
        match &mut self.state {
            PacketState::Head(head) => {
                // Line ends between messages are passed by (RFC 9112 section 2.2).
                if head.is_empty() {
                    let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
                    *rest = &rest[blank..];
                }
                let whole = gather(head, rest, ends_head)?;
                Ok(whole.then(|| PacketStep::Head(std::mem::take(head))))
            }
            PacketState::Body(left) => {
                if pass_by(left, rest) {
                    self.state = PacketState::default();
                    return Ok(Some(PacketStep::End(self.bytes)));
                }
                Ok(None)
            }
            PacketState::Chunk(left) => {
                if pass_by(left, rest) {
                    self.state = PacketState::ChunkHead(Vec::new());
                }
                Ok(None)
            }
            PacketState::ChunkHead(head) => {
                if !gather(head, rest, ends_chunk_head)? {
                    return Ok(None);
                }
                let Ok(httparse::Status::Complete((_, size))) = httparse::parse_chunk_size(head) else {
                    return Err(());
                };
                self.bytes += size;
                match size {
                    0 => {
                        self.state = PacketState::default();
                        Ok(Some(PacketStep::End(self.bytes)))
                    }
                    size => {
                        self.state = PacketState::Chunk(size.saturating_add(2));
                        Ok(None)
                    }
                }
            }
            PacketState::UntilClose => {
                self.bytes += rest.len() as u64;
                *rest = &[];
                Ok(None)
            }
            PacketState::Lost => {
                *rest = &[];
                Ok(None)
            }
        }
    }
}

/// Takes bytes off what is left; true where nothing is left.
fn pass_by(left: &mut u64, rest: &mut &[u8]) -> bool {
    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
    *left -= count as u64;
    *rest = &rest[count..];
    *left == 0
}

/// Gathers bytes up to an end; true where it was found.
fn gather(head: &mut Vec<u8>, rest: &mut &[u8], ends: fn(&[u8], usize) -> Option<usize>) -> Result<bool, ()> {
    let before = head.len();
    head.extend_from_slice(&rest[..rest.len().min(HEAD + 1 - before.min(HEAD))]);
    match ends(head, before.saturating_sub(3)) {
        Some(end) if end <= HEAD => {
            *rest = &rest[end.saturating_sub(before)..];
            head.truncate(end);
            Ok(true)
        }
        None if head.len() <= HEAD => {
            *rest = &[];
            Ok(false)
        }
        Some(_) | None => Err(()),
    }
}

/// The end of a head: an empty line.
fn ends_head(head: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = memchr::memchr(b'\n', &head[at..]) {
        let line_end = at + found;
        match (head.get(line_end + 1), head.get(line_end + 2)) {
            (Some(b'\n'), _) => return Some(line_end + 2),
            (Some(b'\r'), Some(b'\n')) => return Some(line_end + 3),
            _ => at = line_end + 1,
        }
    }
    None
}

/// The end of a chunk's size; behind the last chunk that of its trailers.
fn ends_chunk_head(head: &[u8], from: usize) -> Option<usize> {
    let line_end = memchr::memchr(b'\n', head)? + 1;
    let is_last = matches!(httparse::parse_chunk_size(head), Ok(httparse::Status::Complete((_, 0))));
    if is_last { ends_head(head, from.min(line_end - 1)) } else { Some(line_end) }
}
