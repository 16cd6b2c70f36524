//! Sends an answer: at once in as few system calls as it takes, or at the speed that the plan wants.
//!
//! Must not know what a body means, only its bytes and their framing. Start at [`Sending::send`].

use crate::answer::AnswerBody;
use crate::worker::Worker;
use net::Buffer;
use plan::site::write_hex;
use std::io;
use std::time::{Duration, Instant};
use transport::TransportStream;

/// Pieces handed over in one call.
const BATCH: usize = 16;
/// Bytes of a chunk. A chunk never has more, except the first (see [`Sending::in_chunks`]).
const CHUNK: u64 = 16 * 1024;
/// The line before each such chunk but the first, with the end of the one before it.
const NEXT_CHUNK: &[u8] = b"\r\n4000\r\n";
/// Content up to this is copied behind the head: cheaper than a second piece in the system call.
const COPIED: u64 = 2048;
/// Slices per second where a speed is set; rounder than this the receiver's window would show.
const SLICES_PER_SECOND: u64 = 100;

/// One answer on its way out.
pub(crate) struct Sending<'a> {
    pub(crate) worker: &'a Worker,
    pub(crate) stream: &'a mut TransportStream,
    /// The clear text over the beginning of the object.
    pub(crate) text: &'a [u8],
}

/// A part of what is sent.
#[derive(Clone, Copy)]
enum SendPiece {
    Content(&'static [u8]),
    Framing(&'static [u8]),
}

impl Sending<'_> {
    /// Sends a head and what follows it.
    pub(crate) async fn send(&mut self, head: Buffer, body: Option<AnswerBody>) -> io::Result<()> {
        let speed = self.worker.behaviour().bytes_per_second;
        match (body, speed) {
            (None, _) => self.stream.send(head).await,
            (Some(body), Some(speed)) => self.slowly(head, body, speed).await,
            (Some(body), None) if body.chunked => self.in_chunks(head, body).await,
            (Some(body), None) => self.at_once(head, body).await,
        }
    }

    async fn at_once(&mut self, mut head: Buffer, body: AnswerBody) -> io::Result<()> {
        let overlay = body.overlay(self.text);
        head.extend_from_slice(overlay);
        let from = body.from + overlay.len() as u64;
        let pieces = body.content.pieces(from, body.to);
        if body.to - from <= COPIED {
            pieces.for_each(|piece| head.extend_from_slice(piece));
            self.stream.send(head).await?;
            self.worker.counts().body_bytes.add(body.to - body.from);
            return Ok(());
        }
        self.pieces(head, overlay.len(), pieces.map(SendPiece::Content)).await
    }

    /// All chunks but the first have one size, so that their lines are written in advance; the first takes the odd bytes
    /// and is large enough for the clear text.
    async fn in_chunks(&mut self, mut head: Buffer, body: AnswerBody) -> io::Result<()> {
        let overlay = body.overlay(self.text);
        let total = body.to - body.from;
        let odd = total % CHUNK;
        let first = if odd > overlay.len() as u64 { odd } else { (odd + CHUNK).min(total) };
        // A body that is laid over as a whole is one chunk.
        let first = first.max(overlay.len() as u64);
        if total > 0 {
            write_hex(&mut head, first);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(overlay);
        let begun = body.from + overlay.len() as u64;
        let rest = body.from + first;
        let content = body.content;
        let chunks = (rest..body.to).step_by(CHUNK as usize).flat_map(move |at| {
            let data = content.pieces(at, at + CHUNK).map(SendPiece::Content);
            std::iter::once(SendPiece::Framing(NEXT_CHUNK)).chain(data)
        });
        let end = last_chunk(total > 0, body.cut).map(SendPiece::Framing);
        let pieces = content.pieces(begun, rest).map(SendPiece::Content).chain(chunks).chain(end);
        self.pieces(head, overlay.len(), pieces).await
    }

    /// Sends a head, of which `counted` bytes are content, and then the pieces in batches.
    async fn pieces(
        &mut self,
        head: Buffer,
        mut counted: usize,
        pieces: impl Iterator<Item = SendPiece>,
    ) -> io::Result<()> {
        let mut pieces = pieces.peekable();
        let mut head = Some(head);
        while head.is_some() || pieces.peek().is_some() {
            let mut batch: [&'static [u8]; BATCH] = [&[]; BATCH];
            let mut length = 0;
            for (place, piece) in batch.iter_mut().zip(&mut pieces) {
                length += 1;
                *place = match piece {
                    SendPiece::Content(bytes) => {
                        counted += bytes.len();
                        bytes
                    }
                    SendPiece::Framing(bytes) => bytes,
                };
            }
            match head.take() {
                Some(head) => self.stream.send_with(head, &batch[..length]).await?,
                None => self.stream.send_static(&batch[..length]).await?,
            }
            self.worker.counts().body_bytes.add(counted as u64);
            counted = 0;
        }
        Ok(())
    }

    /// The head at once, then in each slice the bytes that are due by then.
    async fn slowly(&mut self, head: Buffer, body: AnswerBody, speed: u64) -> io::Result<()> {
        self.stream.send(head).await?;
        let pace = Speed::new(self.worker.net.now(), speed);
        let mut at = body.from;
        while at < body.to {
            let slice = (speed / SLICES_PER_SECOND).clamp(1, body.to - at);
            self.worker.net.sleep_until(pace.due_at(at - body.from + slice)).await;
            let due = body.from + pace.due(self.worker.net.now());
            let to = due.clamp(at + slice, body.to);
            self.slice(&AnswerBody { from: at, to, ..body }).await?;
            at = to;
        }
        if !body.chunked || body.cut {
            return Ok(());
        }
        self.stream.send_static(&[b"0\r\n\r\n"]).await
    }

    async fn slice(&mut self, slice: &AnswerBody) -> io::Result<()> {
        let mut head = self.worker.net.buffer();
        if slice.chunked {
            write_hex(&mut head, slice.to - slice.from);
            head.extend_from_slice(b"\r\n");
        }
        let overlay = slice.overlay(self.text);
        head.extend_from_slice(overlay);
        let content = slice.content.pieces(slice.from + overlay.len() as u64, slice.to);
        let end: Option<&'static [u8]> = slice.chunked.then_some(b"\r\n");
        let pieces = content.map(SendPiece::Content).chain(end.map(SendPiece::Framing));
        self.pieces(head, overlay.len(), pieces).await
    }
}

/// The end of chunked content (RFC 9112 section 7.1), after a chunk or without any; none where it is cut.
fn last_chunk(after_data: bool, cut: bool) -> Option<&'static [u8]> {
    match (cut, after_data) {
        (true, _) => None,
        (false, true) => Some(b"\r\n0\r\n\r\n"),
        (false, false) => Some(b"0\r\n\r\n"),
    }
}

/// A smooth speed: when bytes are due, and how many are due by when.
pub(crate) struct Speed {
    started: Instant,
    bytes_per_second: u64,
}

impl Speed {
    pub(crate) fn new(started: Instant, bytes_per_second: u64) -> Speed {
        Speed { started, bytes_per_second: bytes_per_second.max(1) }
    }

    fn due_at(&self, bytes: u64) -> Instant {
        let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_second);
        self.started + Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }

    pub(crate) fn due(&self, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.started).as_nanos();
        let bytes = elapsed * u128::from(self.bytes_per_second) / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}
