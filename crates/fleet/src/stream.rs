//! A stream of bytes over a way that loses, doubles, delays and swaps messages, and that may be cut for a while: what a bus is
//! between two processes. Both ends number their bytes, keep them until they are acknowledged, and send them again. So whoever
//! reads from it and writes to it may think that it is a pipe.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Bytes of one message at most, beside its head; larger things are sent in pieces. NATS takes four times as much where nobody
/// has said otherwise.
pub const PIECE: usize = 256 << 10;
/// Bytes of a message's head: its kind, two numbers, and a flag.
pub const HEAD: usize = 18;
/// Bytes that may be under way at once.
const WINDOW: usize = 4 << 20;
/// Messages that may be under way at once.
const UNDER_WAY: usize = 256;
/// Messages that came before their turn and are held; more are left to come again.
const HELD: usize = UNDER_WAY;
/// Time after which bytes that were not acknowledged are sent again.
const AGAIN: Duration = Duration::from_millis(500);
/// An end that has nothing to say says at least so often that it is there.
const ALIVE: Duration = Duration::from_secs(1);
/// The first byte of a segment. Words begin with a brace instead.
const KIND: u8 = 1;

/// A piece of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Number of its first byte.
    pub offset: u64,
    /// All bytes of the other direction before this one have come.
    pub acknowledged: u64,
    /// Nothing follows. The end has a number, too.
    pub last: bool,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Segment {
    /// It as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + self.bytes.len());
        bytes.push(KIND);
        bytes.extend(self.offset.to_be_bytes());
        bytes.extend(self.acknowledged.to_be_bytes());
        bytes.push(u8::from(self.last));
        bytes.extend(&self.bytes);
        bytes
    }

    /// Reads one; nothing where the bytes are none.
    pub fn of_bytes(bytes: &[u8]) -> Option<Segment> {
        let (kind, rest) = bytes.split_first()?;
        let (offset, rest) = rest.split_first_chunk()?;
        let (acknowledged, rest) = rest.split_first_chunk()?;
        let (last, bytes) = rest.split_first()?;
        (*kind == KIND && *last <= 1 && bytes.len() <= PIECE).then(|| Segment {
            offset: u64::from_be_bytes(*offset),
            acknowledged: u64::from_be_bytes(*acknowledged),
            last: *last == 1,
            bytes: bytes.to_vec(),
        })
    }

    fn length(&self) -> u64 {
        self.bytes.len() as u64 + u64::from(self.last)
    }
}

/// Bytes on their way out.
#[derive(Debug)]
struct Piece {
    offset: u64,
    bytes: Vec<u8>,
    last: bool,
    /// When they were sent last.
    sent: Option<Duration>,
}

impl Piece {
    fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64 + u64::from(self.last)
    }
}

/// One end of a stream. Give it all that came with [`Stream::handle`] and all that is to be said with [`Stream::write`]; send what
/// [`Stream::poll`] returns, and take what [`Stream::read`] returns.
#[derive(Debug)]
pub struct Stream {
    /// Pieces that were not acknowledged, in order.
    pieces: VecDeque<Piece>,
    /// The number of the next byte that is written.
    written: u64,
    finished: bool,
    /// All bytes before this one have come.
    came: u64,
    /// Segments that came before their turn, by their number.
    held: BTreeMap<u64, Segment>,
    ready: VecDeque<Vec<u8>>,
    ended: bool,
    /// Something came that was not acknowledged yet.
    owes: bool,
    told: Option<Duration>,
    heard: Duration,
}

impl Stream {
    /// One that begins now.
    pub fn new(now: Duration) -> Stream {
        Stream {
            pieces: VecDeque::new(),
            written: 0,
            finished: false,
            came: 0,
            held: BTreeMap::new(),
            ready: VecDeque::new(),
            ended: false,
            owes: false,
            told: None,
            heard: now,
        }
    }

    /// Bytes are to be sent. Behind its end nothing is.
    pub fn write(&mut self, bytes: &[u8]) {
        if !self.finished {
            bytes.chunks(PIECE).for_each(|piece| self.push(piece.to_vec(), false));
        }
    }

    /// Nothing more will be written.
    pub fn finish(&mut self) {
        if !self.finished {
            self.finished = true;
            self.push(Vec::new(), true);
        }
    }

    fn push(&mut self, bytes: Vec<u8>, last: bool) {
        let piece = Piece { offset: self.written, bytes, last, sent: None };
        self.written = piece.end();
        self.pieces.push_back(piece);
    }

    /// A segment came.
    pub fn handle(&mut self, now: Duration, segment: Segment) {
        self.heard = now;
        // Nobody has what was never written.
        if segment.acknowledged <= self.written {
            while self.pieces.front().is_some_and(|piece| piece.end() <= segment.acknowledged) {
                self.pieces.pop_front();
            }
        }
        if segment.length() == 0 {
            return;
        }
        self.owes = true;
        let is_next = segment.offset == self.came;
        if !self.ended && (is_next || (segment.offset > self.came && self.held.len() < HELD)) {
            self.held.insert(segment.offset, segment);
        }
        while let Some(next) = self.held.remove(&self.came) {
            self.came += next.length();
            self.ended |= next.last;
            if !next.bytes.is_empty() {
                self.ready.push_back(next.bytes);
            }
        }
    }

    /// Bytes that came, in order.
    pub fn read(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
    }

    /// True once all that the other end wrote has been read.
    pub fn is_at_end(&self) -> bool {
        self.ended && self.ready.is_empty()
    }

    /// Returns what is to be sent now. To be asked until there is nothing.
    pub fn poll(&mut self, now: Duration) -> Option<Segment> {
        let mut under_way = 0;
        let due = self.pieces.iter_mut().take(UNDER_WAY).find(|piece| {
            under_way += piece.bytes.len();
            under_way <= WINDOW && piece.sent.is_none_or(|sent| now.saturating_sub(sent) >= AGAIN)
        });
        let (offset, last, bytes) = match due {
            Some(piece) => {
                piece.sent = Some(now);
                (piece.offset, piece.last, piece.bytes.clone())
            }
            None if self.owes || self.told.is_none_or(|told| now.saturating_sub(told) >= ALIVE) => {
                (self.written, false, Vec::new())
            }
            None => return None,
        };
        self.owes = false;
        self.told = Some(now);
        Some(Segment { offset, acknowledged: self.came, last, bytes })
    }

    /// Since when nothing has come.
    pub fn silence(&self, now: Duration) -> Duration {
        now.saturating_sub(self.heard)
    }

    /// True once all was written and acknowledged.
    pub fn is_sent(&self) -> bool {
        self.finished && self.pieces.is_empty()
    }
}
