//! Data that a stream still has to send: the rest of a head, content as it is asked for, and what follows it.

use super::error;
use super::frame;
use super::qpack;
use super::quic::{Quic, QuicWritten};
use crate::http2::{After, BodySource, Code, Indexing};

/// Bytes of content that are asked for at once.
const PIECE: usize = 16 << 10;
/// Bytes that a stream sends before others have their turn.
const SHARE: u64 = 64 << 10;

/// Data still to be sent on a stream.
#[derive(Debug, Default)]
pub(super) struct Upload {
    /// Bytes that no window had room for, from this one on.
    rest: Vec<u8>,
    taken: usize,
    /// Content that follows, and what follows it.
    content: Option<UploadContent>,
    /// True if it waits in the queue of those that may send.
    pub queued: bool,
    /// All of it is sent.
    pub done: bool,
}

#[derive(Debug)]
struct UploadContent {
    sent: u64,
    length: u64,
    /// Bytes that may be sent by now, for senders that are slow on purpose.
    released: u64,
    after: After,
}

/// Why a stream sends no more for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// All is sent.
    Done,
    /// A window is used up; the peer says when it goes on.
    Blocked,
    /// Nothing more was released.
    Held,
    /// Others have their turn.
    Turn,
    /// Nobody wants it any more.
    Stopped,
    /// All is sent, and the stream is to be reset.
    Resets(Code),
}

impl Upload {
    /// Content goes no further than `bytes` until more is released.
    pub(super) fn release(&mut self, bytes: u64) {
        if let Some(content) = &mut self.content {
            content.released = bytes;
        }
    }

    /// Sends a head; content of so many bytes follows, and what follows it. `None`: the head ends the stream.
    pub(super) fn head(
        &mut self,
        quic: &mut Quic,
        stream: u64,
        bytes: &[u8],
        content: Option<(u64, After)>,
    ) -> Pause {
        let count = match quic.write(stream, bytes) {
            QuicWritten::Bytes(count) => count,
            QuicWritten::Stopped => return Pause::Stopped,
        };
        self.rest.extend_from_slice(&bytes[count..]);
        if let Some((length, after)) = content {
            if length > 0 {
                frame::head(0x0, length, &mut self.rest);
            }
            self.content = Some(UploadContent { sent: 0, length, released: u64::MAX, after });
            return Pause::Turn;
        }
        if self.rest.is_empty() {
            quic.finish(stream);
            self.done = true;
            return Pause::Done;
        }
        Pause::Blocked
    }

    /// Sends an interim head, which ends nothing.
    pub(super) fn interim(&mut self, quic: &mut Quic, stream: u64, bytes: &[u8]) {
        if let QuicWritten::Bytes(count) = quic.write(stream, bytes) {
            self.rest.extend_from_slice(&bytes[count..]);
        }
    }

    /// Sends as much as windows, and the stream's share, allow.
    pub(super) fn pump(
        &mut self,
        quic: &mut Quic,
        stream: u64,
        number: u32,
        source: &mut impl BodySource,
        scratch: &mut Vec<u8>,
    ) -> Pause {
        let mut share = SHARE;
        loop {
            while self.taken < self.rest.len() {
                match quic.write(stream, &self.rest[self.taken..]) {
                    QuicWritten::Bytes(0) => return Pause::Blocked,
                    QuicWritten::Bytes(count) => self.taken += count,
                    QuicWritten::Stopped => return Pause::Stopped,
                }
            }
            self.rest.clear();
            self.taken = 0;
            let Some(content) = &mut self.content else {
                quic.finish(stream);
                self.done = true;
                return Pause::Done;
            };
            if content.sent == content.length {
                return self.end(quic, stream);
            }
            let end = content.length.min(content.released);
            if content.sent >= end {
                return Pause::Held;
            }
            if share == 0 {
                return Pause::Turn;
            }
            let length = (end - content.sent).min(PIECE as u64) as usize;
            scratch.clear();
            source.piece(number, content.sent, length, scratch);
            match quic.write(stream, scratch) {
                QuicWritten::Bytes(0) => return Pause::Blocked,
                QuicWritten::Bytes(count) => {
                    content.sent += count as u64;
                    share = share.saturating_sub(count as u64);
                }
                QuicWritten::Stopped => return Pause::Stopped,
            }
        }
    }

    /// All content is sent: sends what follows it.
    fn end(&mut self, quic: &mut Quic, stream: u64) -> Pause {
        match self.content.take().map(|content| content.after) {
            Some(After::Trailers(trailers)) => {
                let mut block = Vec::new();
                qpack::begin(&mut block);
                trailers
                    .iter()
                    .for_each(|(name, value)| qpack::encode(name, value, Indexing::Literal, &mut block));
                frame::head(0x1, block.len() as u64, &mut self.rest);
                self.rest.extend_from_slice(&block);
                Pause::Turn
            }
            Some(After::Reset(code)) => {
                self.done = true;
                Pause::Resets(code)
            }
            Some(After::End) | None => {
                quic.finish(stream);
                self.done = true;
                Pause::Done
            }
        }
    }
}

/// The code that ends a stream whose answer is not wanted any more.
pub(super) const UNWANTED: Code = error::REQUEST_CANCELLED;
