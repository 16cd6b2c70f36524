//! News of an agent that must not be lost: figures, records of single requests, and its last word.

use measure::seen::CacheSeen;
use measure::{CarriedSnapshot, Counts, RunEvent, Snapshot};
use serde::{Deserialize, Serialize};

/// A piece of what an agent tells.
#[derive(Debug)]
pub enum Delta {
    /// Figures of one of its workers since the ones before.
    Figures(Snapshot),
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

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    Figures(Box<CarriedSnapshot>),
    Record(Box<RunEvent>),
    Last(Box<Last>),
}

impl Delta {
    /// It as bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        let form = match self {
            Delta::Figures(snapshot) => Form::Figures(Box::new(CarriedSnapshot::of(&snapshot))),
            Delta::Record(record) => Form::Record(record),
            Delta::Last(last) => Form::Last(last),
        };
        // Numbers, texts and lists: nothing in them can fail.
        serde_json::to_vec(&form).expect("figures are plain values")
    }

    /// Reads what bytes say.
    ///
    /// # Errors
    /// Why they say nothing.
    pub fn of_bytes(bytes: &[u8]) -> Result<Delta, String> {
        let form: Form = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        Ok(match form {
            Form::Figures(carried) => Delta::Figures(carried.snapshot()),
            Form::Record(record) => Delta::Record(record),
            Form::Last(last) => Delta::Last(last),
        })
    }

    /// Takes the next one in, where both are figures of one worker and one phase: no count is lost, but the row between them is.
    /// Gives it back where they are not.
    pub(crate) fn take_in(&mut self, next: Delta) -> Option<Delta> {
        match (self, next) {
            (Delta::Figures(mine), Delta::Figures(theirs))
                if mine.worker == theirs.worker && mine.phase == theirs.phase && !mine.last =>
            {
                mine.tally.merge(&theirs.tally);
                mine.interval = theirs.interval;
                mine.in_flight = theirs.in_flight;
                mine.peak = mine.peak.max(theirs.peak);
                mine.cpu += theirs.cpu;
                mine.closes_interval = theirs.closes_interval;
                mine.last = theirs.last;
                mine.span.1 = theirs.span.1;
                mine.paced_until = theirs.paced_until;
                mine.due_until = theirs.due_until;
                None
            }
            (_, next) => Some(next),
        }
    }
}
