//! News of an agent that must not be lost: figures, records of single requests, and its last word.

use measure::seen::CacheSeen;
use measure::{CarriedSnapshot, Counts, RunEvent, Snapshot, Tally};
use serde::{Deserialize, Serialize};

/// A piece of what an agent tells.
#[derive(Debug)]
pub enum Delta {
    /// Figures of one of its workers since the ones before.
    Figures(Snapshot),
    /// Figures of several of its workers for one interval: those of the first hold what all of them counted and timed, those of each
    /// other its plain counts, so that the sum is that of all.
    Tick(Vec<Snapshot>),
    /// Something of single requests: evidence, a request that was lost, requests that are kept.
    Record(Box<RunEvent>),
    /// Nothing follows.
    Last(Box<Last>),
}

/// The last word of an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Last {
    /// The sum of all figures that it has told: what the controller has must be the same.
    pub counts: Counts,
    /// Panics of its code.
    pub panics: Vec<String>,
    /// Why its own machine was the limit.
    pub reasons: Vec<String>,
    /// Sentences for the reader.
    pub notes: Vec<String>,
    /// Facts about the cache that its workers have seen.
    pub seen: CacheSeen,
    /// The I/O that was used.
    pub backend: String,
    /// How long behind the agreed moment it began, in µs.
    pub late_us: u64,
}

/// The first byte of figures of one worker, and of several; what is said in JSON begins with a brace.
const FIGURES: u8 = 1;
const TICK: u8 = 2;

/// Workers whose figures go together at most: each takes more memory than bytes.
const MOST_TOGETHER: usize = 4_096;

/// News that are told once, or seldom.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    Record(Box<RunEvent>),
    Last(Box<Last>),
}

impl Form {
    fn into_bytes(self) -> Vec<u8> {
        // Numbers, texts and lists: nothing in them can fail.
        serde_json::to_vec(&self).expect("news are plain values")
    }
}

/// Figures that workers tell each second, as few bytes.
fn packed(kind: u8, all: &[Snapshot]) -> Vec<u8> {
    let mut bytes = vec![kind];
    all.iter().for_each(|snapshot| CarriedSnapshot::of(snapshot).pack(&mut bytes));
    bytes
}

/// Reads figures up to the end of the bytes.
fn unpacked(mut bytes: &[u8]) -> Result<Vec<Snapshot>, String> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        if all.len() == MOST_TOGETHER {
            return Err(format!("it has figures of more than {MOST_TOGETHER} workers"));
        }
        let carried = CarriedSnapshot::unpack(&mut bytes);
        all.push(carried.ok_or("its figures are cut or damaged")?.snapshot());
    }
    Ok(all)
}

impl Delta {
    /// It as bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Delta::Figures(snapshot) => packed(FIGURES, std::slice::from_ref(&snapshot)),
            Delta::Tick(all) => packed(TICK, &all),
            Delta::Record(record) => Form::Record(record).into_bytes(),
            Delta::Last(last) => Form::Last(last).into_bytes(),
        }
    }

    /// Reads what bytes say.
    ///
    /// # Errors
    /// Why they say nothing.
    pub fn of_bytes(bytes: &[u8]) -> Result<Delta, String> {
        match bytes.split_first() {
            Some((&FIGURES, rest)) => match <[Snapshot; 1]>::try_from(unpacked(rest)?) {
                Ok([snapshot]) => Ok(Delta::Figures(snapshot)),
                Err(all) => Err(format!("it has figures of {} workers in the place of one", all.len())),
            },
            Some((&TICK, rest)) => Ok(Delta::Tick(unpacked(rest)?)),
            Some(_) | None => {
                let form: Form = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
                Ok(match form {
                    Form::Record(record) => Delta::Record(record),
                    Form::Last(last) => Delta::Last(last),
                })
            }
        }
    }

    /// The figures in it.
    pub fn figures(&self) -> &[Snapshot] {
        match self {
            Delta::Figures(snapshot) => std::slice::from_ref(snapshot),
            Delta::Tick(all) => all,
            Delta::Record(_) | Delta::Last(_) => &[],
        }
    }

    /// True if figures of this worker are in it.
    pub(crate) fn has(&self, worker: u32) -> bool {
        self.figures().iter().any(|snapshot| snapshot.worker == worker)
    }

    /// Joins figures of another worker for the same interval of the same phase. Gives them back where they are not, or where single times
    /// are told, which may fill a message already.
    pub(crate) fn join(&mut self, mut next: Snapshot) -> Option<Snapshot> {
        let tells_times = |snapshot: &Snapshot| snapshot.tally.distributions().is_some();
        let fits = self.figures().first().is_some_and(|first| {
            (first.interval, first.phase) == (next.interval, next.phase) && !tells_times(first)
        });
        let fits = fits && self.figures().len() < MOST_TOGETHER;
        if !fits || tells_times(&next) || self.has(next.worker) {
            return Some(next);
        }
        if let Delta::Figures(first) = self {
            let empty = Snapshot::empty(first.worker, first.phase, first.span.0, first.span.1);
            *self = Delta::Tick(vec![std::mem::replace(first, empty)]);
        }
        if let Delta::Tick(all) = self {
            give(&mut all[0], &mut next);
            all.push(next);
        }
        None
    }

    /// Takes the next one in, where both are figures of one phase and of one worker: no count is lost, but the row between them is.
    /// Gives it back where they are not.
    pub(crate) fn take_in(&mut self, next: Delta) -> Option<Delta> {
        let mut next = match next {
            Delta::Figures(next) => next,
            Delta::Tick(_) | Delta::Record(_) | Delta::Last(_) => return Some(next),
        };
        let is_same = |mine: &Snapshot| mine.worker == next.worker && mine.phase == next.phase && !mine.last;
        match self {
            Delta::Figures(mine) if is_same(mine) => follow(mine, &next),
            Delta::Tick(all) => match all.iter().position(is_same) {
                Some(0) => follow(&mut all[0], &next),
                Some(nth) => {
                    give(&mut all[0], &mut next);
                    follow(&mut all[nth], &next);
                }
                None => return Some(Delta::Figures(next)),
            },
            Delta::Figures(_) | Delta::Record(_) | Delta::Last(_) => return Some(Delta::Figures(next)),
        }
        None
    }
}

/// Gives all but the plain counts of one to the other.
fn give(to: &mut Snapshot, from: &mut Snapshot) {
    let counts = std::mem::take(&mut from.tally.counts);
    to.tally.merge(&from.tally);
    *from.tally = Tally::new();
    from.tally.counts = counts;
}

/// Figures of a worker go on with its next ones.
fn follow(mine: &mut Snapshot, next: &Snapshot) {
    mine.tally.merge(&next.tally);
    mine.interval = next.interval;
    mine.in_flight = next.in_flight;
    mine.peak = mine.peak.max(next.peak);
    mine.cpu += next.cpu;
    mine.closes_interval = next.closes_interval;
    mine.last = next.last;
    mine.span.1 = next.span.1;
    mine.paced_until = next.paced_until;
    mine.due_until = next.due_until;
}
