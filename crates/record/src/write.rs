//! Writing run files: a member with one write, cut back to the last whole one where it fails.

use crate::member;
use measure::RunEvent;
use measure::stream::{Head, Note};
use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

/// Destination that a run file is written to.
pub trait Place {
    /// Writes all bytes at the end.
    ///
    /// # Errors
    /// The system's; some of the bytes may have been written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Cuts it to so many bytes.
    ///
    /// # Errors
    /// The system's.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Sees to it that what was written is there after a loss of power.
    ///
    /// # Errors
    /// The system's.
    fn sync(&mut self) -> io::Result<()>;
}

impl Place for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Once a write has failed, the next is tried after so much of the run.
const BETWEEN_TRIES: Duration = Duration::from_secs(30);
/// Longest time between syncs, which force written bytes to the disk.
const BETWEEN_SYNCS: Duration = Duration::from_secs(10);

/// Writes the records of one run.
#[derive(Debug)]
pub struct Writer<P> {
    place: P,
    /// Bytes of whole members.
    length: u64,
    sequence: u32,
    /// How far the run has come.
    now: Duration,
    synced: Duration,
    failed: Option<Failed>,
}

/// Writing has failed, and records are left out.
#[derive(Debug, Clone, Copy)]
struct Failed {
    since: Duration,
    next_try: Duration,
    lost: u64,
}

/// Outcome of writing a record.
#[derive(Debug)]
pub enum RecordKept {
    /// It is written.
    Written,
    /// It is not, and it is the first.
    Failed(io::Error),
    /// It is not, like others before it.
    Lost,
}

impl<P: Place> Writer<P> {
    /// Writes to an empty place.
    pub fn new(place: P) -> Writer<P> {
        let zero = Duration::ZERO;
        Writer { place, length: 0, sequence: 0, now: zero, synced: zero, failed: None }
    }

    /// Goes on behind so many bytes and members.
    pub fn after(place: P, length: u64, members: u32) -> Writer<P> {
        Writer { length, sequence: members, ..Writer::new(place) }
    }

    /// Returns the place that was written to.
    pub fn into_place(self) -> P {
        self.place
    }

    /// Bytes written so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Writes a record, or says why not. A run goes on without its file; each 30 s, and for its last record, one more try
    /// is made.
    pub fn put(&mut self, event: &RunEvent) -> RecordKept {
        self.now = self.now.max(at(event).unwrap_or_default());
        let last = matches!(event, RunEvent::End(_));
        let tries = self.failed.is_none_or(|failed| last || self.now >= failed.next_try);
        let written = if tries { self.try_to(event) } else { Ok(false) };
        match written {
            Ok(true) => RecordKept::Written,
            Ok(false) => self.lose(None),
            Err(error) => self.lose(Some(error)),
        }
    }

    /// Writes a record, and before it how many are missing.
    fn try_to(&mut self, event: &RunEvent) -> io::Result<bool> {
        let missing = self.failed.map(|failed| {
            let text = format!(
                "this file could not be written from {:.0} s into the run on: {} records are missing",
                failed.since.as_secs_f64(),
                failed.lost
            );
            RunEvent::Note(Note { at: self.now, text })
        });
        let mut bytes = Vec::new();
        let mut sequence = self.sequence;
        for event in missing.iter().chain([event]) {
            bytes.extend(packed(event, sequence, self.now)?);
            sequence = sequence.wrapping_add(1);
        }
        if let Err(error) = self.place.append(&bytes) {
            // A reader finds its way past half a member, too.
            let _ = self.place.cut(self.length);
            return Err(error);
        }
        (self.failed, self.sequence) = (None, sequence);
        self.length += bytes.len() as u64;
        let border = matches!(event, RunEvent::Head(_) | RunEvent::Phase(_) | RunEvent::End(_));
        if border || self.now.saturating_sub(self.synced) >= BETWEEN_SYNCS {
            self.synced = self.now;
            // It is written; whether it outlives a loss of power is up to the disk.
            let _ = self.place.sync();
        }
        Ok(true)
    }

    fn lose(&mut self, error: Option<io::Error>) -> RecordKept {
        self.sequence = self.sequence.wrapping_add(1);
        let first = self.failed.is_none();
        let failed = self.failed.get_or_insert(Failed { since: self.now, next_try: self.now, lost: 0 });
        failed.lost += 1;
        match error {
            Some(error) => {
                failed.next_try = self.now + BETWEEN_TRIES;
                if first { RecordKept::Failed(error) } else { RecordKept::Lost }
            }
            None => RecordKept::Lost,
        }
    }
}

/// A record as a member; one that is too long in a shorter form, so that the others of the run are kept.
fn packed(event: &RunEvent, sequence: u32, now: Duration) -> io::Result<Vec<u8>> {
    match member::packed(event, sequence) {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            member::packed(&shortened(event, now), sequence)
        }
        packed => packed,
    }
}

/// The record in the place of one that is too long: the first one without its plan, and a note instead of any other.
fn shortened(event: &RunEvent, now: Duration) -> RunEvent {
    let most = member::LONGEST_LINE >> 20;
    let RunEvent::Head(head) = event else {
        return RunEvent::Note(Note {
            at: now,
            text: format!("a record of more than {most} MiB is left out"),
        });
    };
    let megabytes = head.plan.len() / 1_000_000;
    let plan = format!("# The plan has {megabytes} MB: a run file holds {most} MiB of one.\n");
    RunEvent::Head(Box::new(Head { plan, ..(**head).clone() }))
}

/// When in the run a record was made.
fn at(event: &RunEvent) -> Option<Duration> {
    match event {
        RunEvent::Phase(phase) => Some(phase.at),
        RunEvent::Second(second) => Some(second.at),
        RunEvent::Minute(minute) => Some(minute.at),
        RunEvent::Note(note) => Some(note.at),
        RunEvent::Control(control) => Some(control.at),
        RunEvent::Process(happened) => Some(happened.at),
        RunEvent::End(end) => Some(end.took),
        RunEvent::Head(_)
        | RunEvent::Exchanges(_)
        | RunEvent::Evidence(_)
        | RunEvent::Lost(_)
        | RunEvent::Traced(_)
        | RunEvent::Unknown => None,
    }
}
