//! [`LiveFeed`]: requests that become known while a load goes on, as a live copy of traffic has them. Whoever reads the traffic lays them down,
//! and the load takes them up by their numbers.
//!
//! Its memory is bounded: what has no room is refused, and whoever brought it counts that.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Requests that are kept at most.
const MOST: usize = 1 << 18;
/// Bytes of texts that are kept at most.
const MOST_BYTES: usize = 64 << 20;
/// A request may be looked up for so long after it was due, as long as there is room: by then it was sent, or given up.
const KEPT: Duration = Duration::from_secs(120);
/// Requests that become known while a load goes on. A clone shares them.
#[derive(Debug, Clone)]
pub struct LiveFeed(Arc<PaceShared>);

#[derive(Debug, Default)]
struct PaceShared {
    ring: Mutex<Ring>,
    opened: OnceLock<Instant>,
    /// Requests that were not sent, for they were too old.
    passed: AtomicU64,
}

#[derive(Debug, Default)]
struct Ring {
    lines: VecDeque<LiveLine>,
    /// The number of the first line that is kept.
    first: u64,
    bytes: usize,
    closed: bool,
}

impl Ring {
    fn oldest(&self) -> Option<Instant> {
        self.lines.front().map(|oldest| oldest.due)
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.lines.len() < MOST && self.bytes + bytes <= MOST_BYTES
    }

    fn forget_first(&mut self) {
        if let Some(oldest) = self.lines.pop_front() {
            self.bytes -= oldest.bytes();
            self.first += 1;
        }
    }
}

/// A request of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveLine {
    /// When it is due; lines come in this order.
    pub due: Instant,
    /// Place among the descriptions that the load was given.
    pub kind: u32,
    /// The object, where objects are asked for.
    pub object: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Part of the body, in ten thousandths, after which the client breaks off; 0: it does not.
    pub broken_off: u16,
    /// First byte and number of bytes (0: to the end) of a range.
    pub range: Option<[u64; 2]>,
    /// Path and query, where URLs are asked for.
    pub target: Box<str>,
    /// The Host field of it.
    pub host: Box<str>,
    /// The Cookie field of it.
    pub cookie: Box<str>,
}

impl LiveLine {
    /// Bytes of its texts.
    fn bytes(&self) -> usize {
        self.target.len() + self.host.len() + self.cookie.len()
    }
}

/// A text of a feed's line, as templates name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LiveText {
    /// Path and query.
    Target,
    /// The Host field.
    Host,
    /// The Cookie field.
    Cookie,
    /// The Range field.
    Range,
}

/// Why a request was not laid down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveFull {
    /// There is no room for it.
    NoRoom,
    /// The feed is closed.
    Closed,
}

impl Default for LiveFeed {
    /// One that is over: the requests of a live copy cannot be had again.
    fn default() -> LiveFeed {
        let feed = LiveFeed::new();
        feed.close();
        feed
    }
}

impl LiveFeed {
    /// A request that was due so long ago is not sent any more.
    pub const OLDEST: Duration = Duration::from_secs(30);

    /// Nothing yet.
    pub fn new() -> LiveFeed {
        LiveFeed(Arc::default())
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // No line is ever half laid down.
        self.0.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lays a request down, which must not be due before the one before it. `now` tells what nobody will look up any more.
    ///
    /// # Errors
    /// There is no room, or the load is over.
    pub fn push(&self, line: LiveLine, now: Instant) -> Result<(), LiveFull> {
        let mut ring = self.ring();
        if ring.closed {
            return Err(LiveFull::Closed);
        }
        debug_assert!(ring.lines.back().is_none_or(|last| last.due <= line.due), "lines are in order");
        let wanted = line.bytes();
        while ring
            .oldest()
            .is_some_and(|due| due + KEPT < now || !ring.has_room(wanted) && due + LiveFeed::OLDEST < now)
        {
            ring.forget_first();
        }
        if !ring.has_room(wanted) {
            return Err(LiveFull::NoRoom);
        }
        ring.bytes += wanted;
        ring.lines.push_back(line);
        Ok(())
    }

    /// Nothing more will come.
    pub fn close(&self) {
        self.ring().closed = true;
    }

    /// True if nothing more will come.
    pub fn is_closed(&self) -> bool {
        self.ring().closed
    }

    /// How many have come.
    pub fn count(&self) -> u64 {
        let ring = self.ring();
        ring.first + ring.lines.len() as u64
    }

    /// The phase begins, from which moments count.
    pub fn open(&self, at: Instant) {
        let _ = self.0.opened.set(at);
    }

    /// When a request is due after the beginning of the phase, at once where it is gone; `None`: it has not come.
    pub fn moment(&self, number: u64) -> Option<Duration> {
        let opened = self.0.opened.get()?;
        if number < self.ring().first {
            return Some(Duration::ZERO);
        }
        self.look(number, |line| line.due.saturating_duration_since(*opened))
    }

    /// True if a request that has come is not to be sent any more: it was due too long ago. It is counted then.
    pub fn passes_by(&self, number: u64, now: Instant) -> bool {
        let passes = self.look(number, |line| line.due + LiveFeed::OLDEST < now).unwrap_or(true);
        if passes {
            self.0.passed.fetch_add(1, Ordering::Relaxed);
        }
        passes
    }

    /// How many were not sent, for they were too old.
    pub fn passed_by(&self) -> u64 {
        self.0.passed.load(Ordering::Relaxed)
    }

    /// Looks at a request; `None`: it has not come, or is gone.
    pub fn look<T>(&self, number: u64, at: impl FnOnce(&LiveLine) -> T) -> Option<T> {
        let ring = self.ring();
        let place = usize::try_from(number.checked_sub(ring.first)?).ok()?;
        ring.lines.get(place).map(at)
    }

    /// Gives a text of a request to `put`; nothing for one that is gone.
    pub fn text(&self, which: LiveText, of: u64, put: &mut impl FnMut(&[u8])) {
        self.look(of, |line| match which {
            LiveText::Target => put(line.target.as_bytes()),
            LiveText::Host => put(line.host.as_bytes()),
            LiveText::Cookie => put(line.cookie.as_bytes()),
            LiveText::Range => {
                let Some([from, length]) = line.range else { return };
                let last =
                    if length > 0 { from.saturating_add(length - 1).to_string() } else { String::new() };
                put(format!("bytes={from}-{last}").as_bytes());
            }
        });
    }
}

impl PartialEq for LiveFeed {
    fn eq(&self, other: &LiveFeed) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.is_closed() && other.is_closed())
    }
}

impl Eq for LiveFeed {}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(due: Instant, target: &str) -> LiveLine {
        LiveLine {
            due,
            kind: 0,
            object: 0,
            size: 0,
            broken_off: 0,
            range: None,
            target: target.into(),
            host: "h".into(),
            cookie: "".into(),
        }
    }

    #[test]
    fn requests_are_found_by_their_numbers_until_nobody_looks_for_them() {
        let began = Instant::now();
        let at = |seconds: u64| began + Duration::from_secs(seconds);
        let feed = LiveFeed::new();
        feed.push(line(at(1), "/a"), began).unwrap();
        assert_eq!(feed.moment(0), None, "the phase has not begun");
        feed.open(began);
        assert_eq!((feed.moment(0), feed.moment(1)), (Some(Duration::from_secs(1)), None));
        feed.push(line(at(20), "/b"), at(121)).unwrap();
        assert_eq!(feed.count(), 2);
        feed.push(line(at(130), "/c"), at(122)).unwrap();
        assert_eq!(feed.moment(0), Some(Duration::ZERO), "it is gone, and not to come");
        let target = |number| feed.look(number, |line| line.target.to_string());
        assert_eq!([0, 1, 2].map(target), [None, Some("/b".to_owned()), Some("/c".to_owned())]);
        feed.close();
        assert_eq!(feed.push(line(at(131), "/d"), at(122)), Err(LiveFull::Closed));
        assert_eq!((feed.count(), feed.clone() == LiveFeed::default()), (3, true));
    }

    #[test]
    fn what_was_due_too_long_ago_is_passed_by_and_counted() {
        let began = Instant::now();
        let feed = LiveFeed::new();
        feed.open(began);
        feed.push(line(began, "/a"), began).unwrap();
        assert!(!feed.passes_by(0, began + LiveFeed::OLDEST));
        assert!(feed.passes_by(0, began + LiveFeed::OLDEST + Duration::from_millis(1)));
        feed.push(line(began + KEPT, "/b"), began + KEPT + LiveFeed::OLDEST).unwrap();
        assert!(feed.passes_by(0, began + KEPT + LiveFeed::OLDEST), "it is gone");
        assert!(!feed.passes_by(1, began + KEPT + LiveFeed::OLDEST));
        assert_eq!(feed.passed_by(), 2);
    }

    #[test]
    fn its_memory_is_bounded() {
        let began = Instant::now();
        let feed = LiveFeed::new();
        let long = "x".repeat(MOST_BYTES / 4);
        let laid = (0..6).filter(|_| feed.push(line(began, &long), began).is_ok()).count();
        assert_eq!(laid, 3, "each has a host, too");
        assert_eq!(feed.push(line(began, &long), began), Err(LiveFull::NoRoom));
        let later = began + LiveFeed::OLDEST + Duration::from_secs(1);
        assert_eq!(feed.push(line(later, &long), later), Ok(()), "the first ones are gone");
        let full = LiveFeed::new();
        let laid = (0..=MOST).filter(|_| full.push(line(began, ""), began).is_ok()).count();
        assert_eq!(laid, MOST);
    }

    #[test]
    fn ranges_are_written_as_fields() {
        let began = Instant::now();
        let feed = LiveFeed::new();
        for range in [None, Some([5, 0]), Some([0, 100])] {
            feed.push(LiveLine { range, ..line(began, "/a") }, began).unwrap();
        }
        let text = |number| {
            let mut text = Vec::new();
            feed.text(LiveText::Range, number, &mut |piece| text.extend_from_slice(piece));
            String::from_utf8(text).unwrap()
        };
        assert_eq!([0, 1, 2].map(text), ["", "bytes=5-", "bytes=0-99"]);
    }
}
