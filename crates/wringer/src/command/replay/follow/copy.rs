//! The thread that reads a log while it grows and lays its requests down when they are nearly due.
//!
//! It never holds up whoever writes the log, and its memory is bounded: what has no room, or is read too late, is dropped and counted.

use super::tail::{Tail, Turns, cut};
use super::told;
use super::watch::{Processor, Silence, Use};
use crate::command::show;
use plan::{LiveFeed, LiveFull, LiveLine};
use recording::format::Format;
use recording::read::lines::LinePiece;
use recording::replay::live::LiveLog;
use rustix::time::{ClockId, clock_gettime};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Requests that wait for their moment, at most.
const QUEUED: usize = 1 << 17;
/// Requests are laid down so long before they are due.
const AHEAD: Duration = Duration::from_millis(100);
/// Time between two looks at a log that is silent.
const LOOK: Duration = Duration::from_millis(20);
/// Chunks of a stream that are read at once, so that whoever reads gets to do something else.
const CHUNKS: usize = 16;
/// Steps in which it is counted how long after their begin lines came.
const STEP: Duration = Duration::from_millis(100);
/// How many of them.
const STEPS: usize = 6_000;

/// Source of the lines.
pub enum Lines {
    /// A file.
    File(Box<Tail>),
    /// Chunks of a stream, until it ends.
    Stream {
        /// The chunks.
        chunks: Receiver<Vec<u8>>,
        /// The beginning of a line whose end has not come.
        rest: Vec<u8>,
    },
}

/// Bounds of a live copy.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Requests are due so long after they began.
    pub lag: Duration,
    /// Limit of lateness: what is read later than so long after its begin is dropped.
    pub max_lag: Duration,
    /// Share of a core that may be used.
    pub max_cpu: f64,
    /// Part of the requests that may be dropped before they are due; `None`: any.
    pub most_dropped: Option<f64>,
}

/// Fates of requests after they were read.
#[derive(Debug, Clone)]
pub struct Fate {
    /// Laid down.
    pub laid: u64,
    /// Read after their moment, and sent at once.
    pub late: u64,
    /// Read so late that they were dropped.
    pub too_late: u64,
    /// Dropped, for there was no room.
    pub no_room: u64,
    /// Laid down, and not sent, for they were due too long ago then.
    pub too_old: u64,
    /// Waiting for their moment when the copy ended.
    pub waiting: u64,
    /// How long after their begin lines came, in steps.
    pub came_after: Vec<u64>,
    /// The longest of it.
    pub longest: Duration,
    /// Changes of the file.
    pub turns: Turns,
    /// Shares of a core that were used; none before the first second was over.
    pub used: Option<Use>,
    /// Why the copy ended itself; empty: it did not.
    pub ended: String,
}

impl Default for Fate {
    fn default() -> Fate {
        Fate {
            laid: 0,
            late: 0,
            too_late: 0,
            no_room: 0,
            too_old: 0,
            waiting: 0,
            came_after: vec![0; STEPS],
            longest: Duration::ZERO,
            turns: Turns::default(),
            used: None,
            ended: String::new(),
        }
    }
}

impl Fate {
    /// The lag with which so large a part of the lines would have come in time.
    pub fn needed(&self, part: f64) -> Option<Duration> {
        let all: u64 = self.came_after.iter().sum();
        let wanted = (all as f64 * part).ceil() as u64;
        let mut sum = 0;
        let place = self.came_after.iter().position(|count| {
            sum += count;
            sum >= wanted
        });
        place.filter(|_| all > 0).map(|place| STEP * (place as u32 + 1))
    }
}

/// A request that waits for its moment; of two with one moment the first that was read goes first.
struct DueLine {
    due: Instant,
    nth: u64,
    line: LiveLine,
}

impl PartialEq for DueLine {
    fn eq(&self, other: &DueLine) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for DueLine {}

impl PartialOrd for DueLine {
    fn partial_cmp(&self, other: &DueLine) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DueLine {
    fn cmp(&self, other: &DueLine) -> std::cmp::Ordering {
        self.due.cmp(&other.due).then(self.nth.cmp(&other.nth))
    }
}

/// A live copy that goes on.
pub struct Copier {
    pub lines: Lines,
    pub format: Format,
    pub live: LiveLog,
    pub feed: LiveFeed,
    pub bounds: Bounds,
    /// Set when the run is over.
    pub over: Arc<AtomicBool>,
    /// Where what is to be told at the end is laid down.
    pub later: Arc<Mutex<Vec<String>>>,
    /// Fates of the requests.
    pub fate: Fate,
    queue: BinaryHeap<Reverse<DueLine>>,
    last_due: Option<Instant>,
}

/// Where to find the other parts.
pub struct Parts {
    /// Source of the lines.
    pub lines: Lines,
    /// Their format.
    pub format: Format,
    /// The state of the copy.
    pub live: LiveLog,
    /// Where requests are laid down.
    pub feed: LiveFeed,
    /// Its bounds.
    pub bounds: Bounds,
}

impl Copier {
    /// One that has not begun.
    pub fn new(parts: Parts, later: Arc<Mutex<Vec<String>>>) -> Copier {
        let Parts { lines, format, live, feed, bounds } = parts;
        Copier {
            lines,
            format,
            live,
            feed,
            bounds,
            over: Arc::default(),
            later,
            fate: Fate::default(),
            queue: BinaryHeap::new(),
            last_due: None,
        }
    }

    /// Copies until the run is over, or the lines are.
    pub fn run(mut self) -> Copier {
        let begun = Instant::now();
        let mut silence = Silence::new(begun);
        let mut processor = Processor::new(begun, used());
        while !self.over.load(Ordering::Relaxed) {
            let now = Instant::now();
            let came = match self.read(now) {
                Ok(Some(came)) => came,
                Ok(None) if self.queue.is_empty() => break,
                Ok(None) => 0,
                Err(error) => {
                    self.fate.ended = told::unreadable(&error);
                    break;
                }
            };
            self.hand_over(now);
            if silence.is_to_be_told(now, came > 0) {
                show::tell(&told::silent());
            }
            if processor.is_due(now) {
                let share = processor.too_much(now, used(), self.bounds.max_cpu);
                self.fate.used = processor.seen();
                if let Some(share) = share {
                    self.fate.ended = told::too_much(share, self.bounds.max_cpu);
                    break;
                }
            }
            self.tell();
            if came == 0 {
                std::thread::sleep(LOOK);
            }
        }
        self.fate.waiting = self.queue.len() as u64;
        self.tell();
        self.feed.close();
        // What becomes of the requests that were laid down is known when the run is over.
        while !self.over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
            self.tell();
        }
        self
    }

    /// Reads what has come; `None`: nothing more will come.
    fn read(&mut self, now: Instant) -> io::Result<Option<u64>> {
        let clock = Clock::now(now);
        let Copier { lines, format, live, bounds, fate, queue, .. } = self;
        let mut each = |piece: LinePiece<'_>| {
            let line = match piece {
                LinePiece::Line(line) | LinePiece::Last(line) => line,
                LinePiece::TooLong(line) => return live.too_long(line),
            };
            let mut began = now;
            let due = |begin_us: i64| {
                began = clock.at(begin_us);
                began + bounds.lag
            };
            let Some(request) = live.line(format, line, clock.unix_us, due) else { return };
            let after = now.saturating_duration_since(began);
            let step = (after.as_millis() / STEP.as_millis()) as usize;
            fate.came_after[step.min(STEPS - 1)] += 1;
            fate.longest = fate.longest.max(after);
            if after > bounds.max_lag {
                fate.too_late += 1;
                return;
            }
            fate.late += u64::from(after > bounds.lag);
            if queue.len() >= QUEUED {
                fate.no_room += 1;
                return;
            }
            let nth = live.counts().lines;
            queue.push(Reverse(DueLine { due: request.due, nth, line: request }));
        };
        match lines {
            Lines::File(tail) => {
                let came = tail.look(now, &mut each)?;
                fate.turns = tail.turns;
                Ok(Some(came))
            }
            Lines::Stream { chunks, rest } => {
                let mut came = 0;
                for _ in 0..CHUNKS {
                    match chunks.try_recv() {
                        Ok(chunk) => {
                            came += chunk.len() as u64;
                            cut(&chunk, rest, &mut false, &mut each);
                        }
                        Err(TryRecvError::Empty) => return Ok(Some(came)),
                        Err(TryRecvError::Disconnected) => return Ok(Some(came).filter(|came| *came > 0)),
                    }
                }
                Ok(Some(came))
            }
        }
    }

    /// Lays down what is nearly due.
    fn hand_over(&mut self, now: Instant) {
        while self.queue.peek().is_some_and(|Reverse(first)| first.due <= now + AHEAD) {
            let Some(Reverse(DueLine { due, line, .. })) = self.queue.pop() else { return };
            // What is late goes behind what was laid down before.
            let due = self.last_due.map_or(due, |last| last.max(due));
            match self.feed.push(LiveLine { due, ..line }, now) {
                Ok(()) => {
                    self.fate.laid += 1;
                    self.last_due = Some(due);
                }
                Err(LiveFull::NoRoom | LiveFull::Closed) => self.fate.no_room += 1,
            }
        }
    }

    /// Lays down what is to be told when the run is over.
    fn tell(&mut self) {
        self.fate.too_old = self.feed.passed_by();
        let sentences = told::sentences(self.live.counts(), &self.fate, self.bounds);
        *self.later.lock().unwrap_or_else(PoisonError::into_inner) = sentences;
    }
}

/// Two clocks at one moment.
struct Clock {
    now: Instant,
    unix_us: i64,
}

impl Clock {
    fn now(now: Instant) -> Clock {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH);
        Clock { now, unix_us: unix.map_or(0, |since| since.as_micros() as i64) }
    }

    /// A moment of the log.
    fn at(&self, unix_us: i64) -> Instant {
        let apart = Duration::from_micros(self.unix_us.abs_diff(unix_us));
        let moved = match unix_us >= self.unix_us {
            true => self.now.checked_add(apart),
            false => self.now.checked_sub(apart),
        };
        moved.unwrap_or(self.now)
    }
}

/// Processor time that this process has used.
fn used() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// Chunks of standard input, read by a thread of its own, which waits in the system and goes with the process.
pub fn standard_input() -> Lines {
    let (give, chunks) = std::sync::mpsc::sync_channel(64);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut chunk = vec![0; 64 << 10];
        while let Ok(got @ 1..) = input.read(&mut chunk) {
            if give.send(chunk[..got].to_vec()).is_err() {
                return;
            }
        }
    });
    Lines::Stream { chunks, rest: Vec::new() }
}
