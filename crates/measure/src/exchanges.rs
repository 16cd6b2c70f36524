//! Single requests as they are kept: columns, and texts that come again told once.

use crate::event::Record;
use crate::outcome::{Failure, Outcome};
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashMap;
use std::time::Duration;

/// Single requests of one phase, a column each; all columns but that of trace ids are equally long.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct KeptExchanges {
    /// Which are kept: `failures`, `exchanges` (all) or `1/N`.
    pub keep: String,
    /// Place of their phase, from 0.
    pub phase: u32,
    /// Method and URL of requests; `request` says which.
    pub requests: Vec<String>,
    /// Ends of requests: `ok`, or what went wrong; `outcome` says which.
    #[serde(deserialize_with = "outcomes")]
    pub outcomes: Vec<String>,
    /// The requests, by their figures.
    #[serde(flatten)]
    pub columns: Columns,
}

/// A column for each figure of a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Columns {
    /// When each began, in µs since the start of the run.
    pub began_us: Vec<u64>,
    /// Its number within the phase.
    pub number: Vec<u64>,
    /// The user that sent it.
    pub user: Vec<u64>,
    /// Number of its connection within the worker.
    pub connection: Vec<u64>,
    /// Its label, a place in the phase's list of labels; -1 without any.
    pub label: Vec<i32>,
    /// Its method and URL, a place in `requests`.
    pub request: Vec<u32>,
    /// How it ended, a place in `outcomes`.
    pub outcome: Vec<u32>,
    /// Status of the answer, 0 without any.
    pub status: Vec<u16>,
    /// Opening its connection in µs; 0 over a kept one.
    pub connect_us: Vec<u64>,
    /// From the send to the first byte in µs; 0 where none came.
    pub first_byte_us: Vec<u64>,
    /// From the send to the end in µs.
    pub service_us: Vec<u64>,
    /// Bytes of the answer's head.
    pub head_bytes: Vec<u64>,
    /// Bytes of the answer's body.
    pub body_bytes: Vec<u64>,
    /// The trace id that each carried, empty without one; those behind the last that carried one are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace_id: Vec<String>,
}

/// A single request that was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeKept<'a> {
    /// Place of its phase.
    pub phase: u32,
    /// When it began, in µs since the start of the run.
    pub began_us: u64,
    /// Its number within the phase.
    pub number: u64,
    /// The user that sent it.
    pub user: u64,
    /// Number of its connection within the worker.
    pub connection: u64,
    /// Its place in the phase's list of labels.
    pub label: Option<usize>,
    /// The method.
    pub method: &'a str,
    /// The URL.
    pub url: &'a str,
    /// `ok`, or what went wrong.
    pub outcome: &'a str,
    /// Status of the answer, 0 without any.
    pub status: u16,
    /// Opening its connection in µs; 0 over a kept one.
    pub connect_us: u64,
    /// From the send to the first byte in µs; 0 where none came.
    pub first_byte_us: u64,
    /// From the send to the end in µs.
    pub service_us: u64,
    /// Bytes of the answer's head.
    pub head_bytes: u64,
    /// Bytes of the answer's body.
    pub body_bytes: u64,
    /// The trace id that it carried.
    pub trace_id: Option<&'a str>,
}

impl ExchangeKept<'_> {
    /// Returns what is known of it as a record of a run that goes on. An end of which the name is not known counts as unfinished.
    pub fn record(&self) -> Record {
        let micros = |us: u64| (us > 0).then(|| Duration::from_micros(us));
        Record {
            number: self.number,
            user: self.user,
            phase: self.phase as usize,
            connection: self.connection,
            began: Duration::from_micros(self.began_us),
            status: self.status,
            method: crate::event::method_name(self.method),
            url: self.url.into(),
            connect: micros(self.connect_us),
            first_byte: micros(self.first_byte_us),
            service: Duration::from_micros(self.service_us),
            head_bytes: self.head_bytes,
            body_bytes: self.body_bytes,
            trace_id: self.trace_id.map(str::to_owned),
            ..Record::new(outcome(self.outcome).unwrap_or(Outcome::Unfinished))
        }
    }
}

impl KeptExchanges {
    /// The requests, one by one. Of columns that are not equally long, as no version writes them, the rest is left out.
    pub fn iter(&self) -> impl Iterator<Item = ExchangeKept<'_>> {
        (0..self.columns.began_us.len()).map_while(|nth| self.nth(nth))
    }

    fn nth(&self, nth: usize) -> Option<ExchangeKept<'_>> {
        let of = &self.columns;
        let request = self.requests.get(*of.request.get(nth)? as usize)?;
        let (method, url) = request.split_once(' ').unwrap_or(("", request));
        Some(ExchangeKept {
            phase: self.phase,
            began_us: *of.began_us.get(nth)?,
            number: *of.number.get(nth)?,
            user: *of.user.get(nth)?,
            connection: *of.connection.get(nth)?,
            label: usize::try_from(*of.label.get(nth)?).ok(),
            method,
            url,
            outcome: self.outcomes.get(*of.outcome.get(nth)? as usize)?,
            status: *of.status.get(nth)?,
            connect_us: *of.connect_us.get(nth)?,
            first_byte_us: *of.first_byte_us.get(nth)?,
            service_us: *of.service_us.get(nth)?,
            head_bytes: *of.head_bytes.get(nth)?,
            body_bytes: *of.body_bytes.get(nth)?,
            trace_id: of.trace_id.get(nth).map(String::as_str).filter(|id| !id.is_empty()),
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.columns.began_us.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Gathers single requests until they are told.
#[derive(Debug, Clone, Default)]
pub struct Gathering {
    told: KeptExchanges,
    requests: HashMap<String, u32>,
    outcomes: HashMap<String, u32>,
}

impl Gathering {
    /// Those that are kept are called so.
    pub fn new(keep: String) -> Gathering {
        let told = KeptExchanges { keep, ..KeptExchanges::default() };
        Gathering { told, ..Gathering::default() }
    }

    /// How many wait to be told.
    pub fn waiting(&self) -> usize {
        self.told.len()
    }

    /// True if one of this phase must wait until the others have been told.
    pub fn is_of_another(&self, phase: u32) -> bool {
        !self.told.is_empty() && self.told.phase != phase
    }

    /// Takes a request of the phase of those that wait.
    pub fn push(&mut self, record: &Record) {
        let micros = |time: Option<std::time::Duration>| time.unwrap_or_default().as_micros() as u64;
        let request = format!("{} {}", record.method, record.url);
        let request = place(&mut self.requests, &mut self.told.requests, request);
        let outcome = place(&mut self.outcomes, &mut self.told.outcomes, name(record.outcome));
        // Phases are few.
        self.told.phase = record.phase as u32;
        let of = &mut self.told.columns;
        if let Some(trace_id) = &record.trace_id {
            of.trace_id.resize(of.began_us.len(), String::new());
            of.trace_id.push(trace_id.clone());
        }
        of.began_us.push(record.began.as_micros() as u64);
        of.number.push(record.number);
        of.user.push(record.user);
        of.connection.push(record.connection);
        of.label.push(record.label.map_or(-1, |label| i32::from(label.0)));
        of.request.push(request);
        of.outcome.push(outcome);
        of.status.push(record.status);
        of.connect_us.push(micros(record.connect));
        of.first_byte_us.push(micros(record.first_byte));
        of.service_us.push(micros(Some(record.service)));
        of.head_bytes.push(record.head_bytes);
        of.body_bytes.push(record.body_bytes);
    }

    /// Those that wait, where there are any; afterwards there are none.
    pub fn take(&mut self) -> Option<KeptExchanges> {
        if self.told.is_empty() {
            return None;
        }
        self.requests.clear();
        self.outcomes.clear();
        let next = KeptExchanges { keep: self.told.keep.clone(), ..KeptExchanges::default() };
        Some(std::mem::replace(&mut self.told, next))
    }
}

/// The place of a text in a list, at its end where it is new.
fn place(known: &mut HashMap<String, u32>, list: &mut Vec<String>, text: String) -> u32 {
    if let Some(place) = known.get(&text) {
        return *place;
    }
    // A record holds some thousands.
    let place = list.len() as u32;
    list.push(text.clone());
    known.insert(text, place);
    place
}

/// How a request ended, in a few words for machines.
pub fn name(outcome: Outcome) -> String {
    match outcome {
        Outcome::Ok => "ok".to_owned(),
        Outcome::Injected => "injected".to_owned(),
        Outcome::Aborted => "aborted".to_owned(),
        Outcome::Unfinished => "unfinished".to_owned(),
        Outcome::CheckFailed(fault) => format!("check_failed {}", fault.name()),
        Outcome::Failed(failure) => format!("failed {} {}", failure.kind.name(), failure.stage.name()),
    }
}

/// The end that a name tells; `None` for what no version writes.
fn outcome(name: &str) -> Option<Outcome> {
    let mut words = name.split(' ');
    let outcome = match (words.next()?, words.next(), words.next()) {
        ("ok", None, None) => Outcome::Ok,
        ("injected", None, None) => Outcome::Injected,
        ("aborted", None, None) => Outcome::Aborted,
        ("unfinished", None, None) => Outcome::Unfinished,
        ("check_failed", Some(fault), None) => Outcome::CheckFailed(of_name(fault)?),
        ("failed", Some(kind), Some(stage)) => Outcome::Failed(Failure::new(of_name(kind)?, of_name(stage)?)),
        _ => return None,
    };
    words.next().is_none().then_some(outcome)
}

/// The value that is written by this name.
fn of_name<'a, T: Deserialize<'a>>(name: &'a str) -> Option<T> {
    T::deserialize(StrDeserializer::<serde::de::value::Error>::new(name)).ok()
}

/// Reads names of ends, those of version 0.1 too: it called `fine` what is `ok`, and `faulty` what is `check_failed`.
fn outcomes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let mut names = Vec::<String>::deserialize(from)?;
    for name in &mut names {
        if name == "fine" {
            "ok".clone_into(name);
        } else if let Some(fault) = name.strip_prefix("faulty ") {
            *name = format!("check_failed {fault}");
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Label;
    use crate::outcome::{FailureKind, Fault, Stage};

    fn record(number: u64, phase: usize) -> Record {
        let failure = Failure::new(FailureKind::Reset, Stage::Body);
        Record {
            number,
            user: 3,
            phase,
            connection: 9,
            label: number.is_multiple_of(2).then_some(Label(4)),
            began: Duration::from_micros(number * 10),
            status: 200,
            method: "GET".into(),
            url: format!("http://h/{}", number % 5).into(),
            first_byte: Some(Duration::from_micros(7)),
            service: Duration::from_micros(70),
            head_bytes: 100,
            body_bytes: number,
            trace_id: (number % 4 == 1).then(|| format!("{number:032x}")),
            ..Record::new(if number.is_multiple_of(3) { Outcome::Failed(failure) } else { Outcome::Ok })
        }
    }

    #[test]
    fn ends_are_read_by_their_names() {
        let failed = FailureKind::ALL
            .iter()
            .flat_map(|kind| Stage::ALL.iter().map(|stage| Outcome::Failed(Failure::new(*kind, *stage))));
        let faults = Fault::ALL.iter().map(|fault| Outcome::CheckFailed(*fault));
        let plain = [Outcome::Ok, Outcome::Injected, Outcome::Aborted, Outcome::Unfinished];
        for end in failed.chain(faults).chain(plain) {
            assert_eq!(outcome(&name(end)), Some(end), "{}", name(end));
        }
        for other in ["", "failed", "check_failed x", "ok ok", "failed reset head x"] {
            assert_eq!(outcome(other), None, "{other}");
        }
    }

    #[test]
    fn requests_are_read_as_they_were_told_and_texts_are_told_once() {
        let mut gathering = Gathering::new("1/7".to_owned());
        assert_eq!(gathering.take(), None);
        (0..30).for_each(|number| gathering.push(&record(number, 1)));
        assert!(gathering.is_of_another(0) && !gathering.is_of_another(1));
        let told = gathering.take().unwrap();
        assert_eq!((told.requests.len(), told.outcomes.len(), told.len(), told.phase), (5, 2, 30, 1));
        let text = serde_json::to_string(&told).unwrap();
        let read: KeptExchanges = serde_json::from_str(&text).unwrap();
        assert_eq!(read, told);
        let ninth = read.iter().nth(9).unwrap();
        assert_eq!((ninth.url, ninth.method, ninth.label), ("http://h/4", "GET", None));
        assert_eq!((ninth.outcome, ninth.began_us, ninth.connection), ("failed reset body", 90, 9));
        gathering.push(&record(31, 2));
        let next = gathering.take().unwrap();
        assert_eq!((next.requests.len(), next.keep.as_str()), (1, "1/7"));
    }

    #[test]
    fn columns_that_do_not_fit_end_where_the_shortest_does() {
        let mut gathering = Gathering::new("exchanges".to_owned());
        (0..3).for_each(|number| gathering.push(&record(number, 0)));
        let mut told = gathering.take().unwrap();
        told.columns.status.pop();
        told.columns.request[1] = 99;
        assert_eq!(told.iter().count(), 1);
    }
}
