//! The few things that the workers of a run share: the word to stop, and a common start of each phase. Touched at the edges of
//! phases and about fifty times a second, never per request.

mod deal;
mod lock;
mod meeting;
mod present;
mod purge;
mod resume;

pub(crate) use deal::{Deck, Decks, Draws};
pub(crate) use lock::{Lock, LockHeld};
pub(crate) use meeting::Meeting;
pub(crate) use present::Present;
pub use purge::{PurgeDone, PurgeOrder};
pub use resume::Resume;

use measure::FailureKind;
use measure::seen::CacheSeen;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Phase, step and place in the list of a request.
pub(crate) type ModelKey = (usize, usize, usize);

/// The first good answer to a request, which the others must equal.
#[derive(Debug)]
pub(crate) struct Model {
    pub length: u64,
    /// Empty where only the length must be the same.
    pub bytes: Vec<u8>,
}

/// Shared by all workers of a run and by whoever may stop it.
#[derive(Debug)]
pub struct Control {
    stop: AtomicBool,
    /// Nobody waits for what is under way.
    now: AtomicBool,
    failures: AtomicU64,
    unconnected: AtomicU64,
    /// Addresses that took no connection, so that another one of their host was tried; how often, and why the first time.
    passed_over: Mutex<BTreeMap<SocketAddr, PassedOver>>,
    /// Bytes that the cache between clients and origin may keep, where that is known.
    cache_memory: Option<u64>,
    /// Facts about the cache, as far as workers have ended.
    seen: Mutex<CacheSeen>,
    /// Who carries out purges that are no requests.
    purges: Option<SyncSender<PurgeOrder>>,
    /// Purges that found nobody free to carry them out.
    purges_left_out: AtomicU64,
    /// Where parts go on that somebody else has begun.
    resume: Option<Resume>,
    passed_by: AtomicU64,
    /// First good answers, by phase, step and place in the list; each worker looks once.
    models: Mutex<HashMap<ModelKey, Arc<Model>>>,
    /// Barriers, by phase and name.
    meetings: Mutex<HashMap<(usize, String), Arc<Meeting>>>,
    /// Locks, by phase and name.
    locks: Mutex<HashMap<(usize, String), Arc<Lock>>>,
    /// Values that are dealt to the requests of all workers.
    pub(crate) decks: Decks,
    workers: u32,
    /// Gates are opened by somebody outside, who opens those of other machines, too.
    outside: bool,
    started: OnceLock<Instant>,
    phases: Vec<Gate>,
    /// Changes of rates so far, in order; how many there are is looked up for each arrival.
    rates: Mutex<Vec<RateChange>>,
    rates_changed: AtomicUsize,
}

/// An address that took no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassedOver {
    /// How often it was tried.
    pub times: u64,
    /// Why it took the first one not.
    pub why: FailureKind,
}

/// From a moment on, so many requests per second of all workers together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateChange {
    /// The phase, by its number.
    pub phase: usize,
    /// When, since the phase began; far enough ahead that all workers know of it before.
    pub at: Duration,
    /// How many.
    pub per_second: f64,
}

#[derive(Debug, Default)]
struct Gate {
    present: OnceLock<Present>,
    arrived: AtomicU32,
    opens: OnceLock<Instant>,
}

/// A gate opens this long after the last worker has arrived, so that all start together.
const HEAD_START: Duration = Duration::from_millis(2);

impl Control {
    /// For a run of so many phases on so many workers.
    pub fn new(phases: usize, workers: u32) -> Control {
        let phases = (0..phases).map(|_| Gate::default()).collect();
        Control {
            stop: AtomicBool::new(false),
            now: AtomicBool::new(false),
            meetings: Mutex::default(),
            locks: Mutex::default(),
            failures: AtomicU64::new(0),
            unconnected: AtomicU64::new(0),
            passed_over: Mutex::default(),
            cache_memory: None,
            seen: Mutex::default(),
            purges: None,
            purges_left_out: AtomicU64::new(0),
            resume: None,
            passed_by: AtomicU64::new(0),
            models: Mutex::default(),
            decks: Decks::new(workers),
            workers,
            outside: false,
            started: OnceLock::new(),
            phases,
            rates: Mutex::default(),
            rates_changed: AtomicUsize::new(0),
        }
    }

    /// In front of a cache that may keep so many bytes; none: nobody knows.
    #[must_use]
    pub fn with_cache(self, memory: Option<u64>) -> Control {
        Control { cache_memory: memory, ..self }
    }

    /// These workers have some of the parts of a load that other machines share: gates open when [`Control::open`] says so, and values
    /// are dealt so that no part of another machine is dealt the same. `parts`: how many of all send in each phase.
    #[must_use]
    pub fn among(self, parts: Vec<u32>) -> Control {
        Control { outside: true, decks: Decks::among(self.workers, parts), ..self }
    }

    pub(crate) fn cache_memory(&self) -> Option<u64> {
        self.cache_memory
    }

    /// Purges that are no requests are carried out by whoever holds the other end.
    #[must_use]
    pub fn with_purges(self, orders: SyncSender<PurgeOrder>) -> Control {
        Control { purges: Some(orders), ..self }
    }

    /// Orders a purge. Where nobody is free to carry it out it is left out, and counted.
    pub(crate) fn purge(&self, order: PurgeOrder) {
        if self.purges.as_ref().is_none_or(|orders| orders.try_send(order).is_err()) {
            self.purges_left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Purges that nobody was free to carry out.
    pub fn purges_left_out(&self) -> u64 {
        self.purges_left_out.load(Ordering::Relaxed)
    }

    /// A worker, or all those of another machine, have ended and seen this of the cache.
    pub fn seen(&self, seen: &CacheSeen) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).merge(seen);
    }

    /// Facts about the cache that workers have seen, known when all of them have ended.
    pub fn all_seen(&self) -> CacheSeen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks all workers to end now; requests under way still get their time of grace.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// True if the workers were asked to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Asks all workers to end at once, without a time of grace.
    pub fn stop_now(&self) {
        self.now.store(true, Ordering::Relaxed);
        self.stop();
    }

    /// True if nobody waits for what is under way.
    pub fn stopped_now(&self) -> bool {
        self.now.load(Ordering::Relaxed)
    }

    /// Changes the rate of a phase with an open pace.
    pub fn change_rate(&self, change: RateChange) {
        // A worker that panicked while it held the lock has left the list whole.
        let mut rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        rates.push(change);
        self.rates_changed.store(rates.len(), Ordering::Release);
    }

    /// The changes of a phase's rate behind the first `known` of the run, and how many there are now.
    pub(crate) fn rate_changes(&self, phase: usize, known: usize) -> Option<(Vec<RateChange>, usize)> {
        if self.rates_changed.load(Ordering::Acquire) == known {
            return None;
        }
        let rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        let new = rates.iter().skip(known).filter(|change| change.phase == phase);
        Some((new.copied().collect(), rates.len()))
    }

    /// The changes of rates behind the first `known` of the run.
    pub fn rates_since(&self, known: usize) -> Vec<RateChange> {
        if self.rates_changed.load(Ordering::Acquire) <= known {
            return Vec::new();
        }
        let rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        rates.iter().skip(known).copied().collect()
    }

    /// The barrier of this name in a phase, the same for all workers.
    pub(crate) fn meeting(&self, phase: usize, name: String) -> Arc<Meeting> {
        // A worker that panicked while it held the lock has left the map whole.
        let mut meetings = self.meetings.lock().unwrap_or_else(PoisonError::into_inner);
        meetings.entry((phase, name)).or_default().clone()
    }

    /// The users of a phase of so many groups.
    pub(crate) fn present(&self, phase: usize, groups: usize) -> Option<&Present> {
        Some(self.phases.get(phase)?.present.get_or_init(|| Present::new(groups)))
    }

    /// Users that have begun so far, in all phases.
    pub(crate) fn users_begun(&self) -> u64 {
        self.phases.iter().filter_map(|gate| gate.present.get()).map(Present::begun).sum()
    }

    /// The lock of this name in a phase, the same for all workers.
    pub(crate) fn lock(&self, phase: usize, name: &str) -> Arc<Lock> {
        // A worker that panicked while it held the mutex has left the map whole.
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        locks.entry((phase, name.to_owned())).or_default().clone()
    }

    /// A request has failed in a phase that is given up after `limit` failures; the last of them ends the run.
    pub fn failed(&self, limit: u64) {
        if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= limit {
            self.stop();
        }
    }

    /// A request found nobody to connect to, in a phase that is given up after `limit` of them.
    pub fn unconnected(&self, limit: u64) {
        if self.unconnected.fetch_add(1, Ordering::Relaxed) + 1 >= limit {
            self.stop();
        }
    }

    /// An address took no connection, and the next one of its host is tried. Some thousand names are looked up at most, so the list is
    /// short.
    pub(crate) fn passed_over(&self, address: SocketAddr, why: FailureKind) {
        let mut all = self.passed_over.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(address).or_insert(PassedOver { times: 0, why }).times += 1;
    }

    /// Addresses that took no connection, in order.
    pub fn all_passed_over(&self) -> Vec<(SocketAddr, PassedOver)> {
        let all = self.passed_over.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|(address, one)| (*address, *one)).collect()
    }

    /// The model that answers to a request must equal: that of whichever worker came first, or this one.
    pub(crate) fn model(&self, key: ModelKey, mine: Model) -> Arc<Model> {
        // A worker that panicked while it held the lock has left the map whole.
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        models.entry(key).or_insert_with(|| Arc::new(mine)).clone()
    }

    /// Failures noted where a phase has a limit of them.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// When the run started; known from the opening of the first gate.
    pub fn started(&self) -> Option<Instant> {
        self.started.get().copied()
    }

    /// A worker has come to the gate of a phase. To be called once by each worker.
    pub fn arrive(&self, phase: usize, now: Instant) {
        let gate = &self.phases[phase];
        if gate.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.workers && !self.outside {
            self.open(phase, now + HEAD_START);
        }
    }

    /// True once all workers of this process have come to the gate of a phase.
    pub fn have_arrived(&self, phase: usize) -> bool {
        self.phases[phase].arrived.load(Ordering::Acquire) >= self.workers
    }

    /// The gate of a phase opens at this moment. Only the first word counts.
    pub fn open(&self, phase: usize, at: Instant) {
        let _ = self.started.set(at);
        let _ = self.phases[phase].opens.set(at);
    }

    /// When the gate of a phase opens, once that is known.
    pub fn opens(&self, phase: usize) -> Option<Instant> {
        self.phases[phase].opens.get().copied()
    }
}
