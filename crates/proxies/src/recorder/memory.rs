//! Exchanges that a recorder has seen, bounded in number and in bytes.

use har::Exchange;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Exchanges at most.
pub(super) const MOST: usize = 20_000;
/// Bytes of an answer that are kept.
const OF_ONE: usize = 4 << 20;
/// Bytes of all answers together that are kept.
const OF_ALL: usize = 512 << 20;

/// The exchanges that have ended. Clones are the same one.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory(Arc<Mutex<MemoryKept>>);

#[derive(Debug, Default)]
struct MemoryKept {
    exchanges: Vec<Exchange>,
    bytes: usize,
    dropped: usize,
}

impl Memory {
    fn add(&self, mut exchange: Exchange) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.exchanges.len() >= MOST {
            kept.dropped += 1;
            return;
        }
        if kept.bytes + exchange.answer.len() > OF_ALL {
            exchange.answer = Vec::new();
        }
        kept.bytes += exchange.answer.len();
        kept.exchanges.push(exchange);
    }

    /// Returns the exchanges seen, and how many more there were.
    pub(super) fn take(self) -> (Vec<Exchange>, usize) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut kept.exchanges), kept.dropped)
    }
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// An answer's body on its way to the browser, remembered with its exchange when it ends or is dropped.
pub(super) struct Remembered {
    body: Incoming,
    began: Instant,
    exchange: Option<Exchange>,
    /// The body is as it was encoded, so that nothing can be read in it.
    encoded: bool,
    memory: Memory,
}

impl Remembered {
    pub(super) fn new(body: Incoming, exchange: Exchange, began: Instant, memory: Memory) -> Remembered {
        let coding = exchange.answer_field("Content-Encoding").unwrap_or("identity");
        let encoded = !coding.eq_ignore_ascii_case("identity");
        Remembered { body, began, exchange: Some(exchange), encoded, memory }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if let Some(exchange) = self.exchange.as_mut().filter(|_| !self.encoded) {
            let room = OF_ONE.saturating_sub(exchange.answer.len());
            exchange.answer.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }
}

impl Drop for Remembered {
    fn drop(&mut self) {
        if let Some(mut exchange) = self.exchange.take() {
            exchange.took_ms = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
            self.memory.add(exchange);
        }
    }
}

impl Body for Remembered {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(bytes) = frame.data_ref()
        {
            self.keep(bytes);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
