//! Reading run files, whole, cut or damaged.

use crate::member::{self, HEADER, Header, MAJOR, OLDEST};
use measure::RunEvent;
use memchr::memmem::Finder;
use std::collections::VecDeque;
use std::sync::{LazyLock, OnceLock};
use std::thread;

/// Members that are unpacked at once, at most.
const TOGETHER: usize = 2048;
/// Fewer are not worth a thread.
const WORTH_A_THREAD: usize = 128;
/// Threads that unpack, at most: what is done with the records afterwards is one thread's work.
const THREADS: usize = 4;

/// The version since which minutes tell the times of labels.
const TELLS_LABELS: (u8, u8) = (1, 2);

/// Kinds of records.
const SECOND: u8 = 3;
const END: u8 = 9;

/// Reads the records of a run file that lies in memory.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Sequence of the next member, where nothing is missing.
    next: u32,
    /// Only what lists of runs are made of is wanted.
    borders: bool,
    /// Times of seconds are left out, since minutes hold them.
    sums: bool,
    /// Threads that unpack.
    threads: usize,
    /// Records that were unpacked together, up to the place reached.
    ahead: VecDeque<RunEvent>,
}

/// Item that is found next.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A record.
    Event(RunEvent),
    /// Something that is not there or cannot be read.
    Gap(Gap),
}

/// A part of a file without a record that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Where it begins, in bytes from the beginning of the file.
    pub at: usize,
    /// Bytes of it.
    pub bytes: usize,
    /// It reaches to the end of the file: writing stopped there.
    pub at_end: bool,
}

/// Why a file is no run file that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// No member of ours is in it.
    #[error("it is no run file: no record is in it")]
    NoRun,
    /// It was written by a version that this one does not understand.
    #[error(
        "it was written in version {major}.{minor} of the format, and this program reads {OLDEST} to {MAJOR}: use the one that wrote it"
    )]
    Newer {
        /// Major version of the file.
        major: u8,
        /// Minor version of the file.
        minor: u8,
    },
}

impl<'a> Reader<'a> {
    /// Reads these bytes.
    ///
    /// # Errors
    /// There is no member of a run file in them, or it is of a version that is not understood.
    pub fn new(bytes: &'a [u8]) -> Result<Reader<'a>, ReadError> {
        // To ask takes some files of the system each time, and lists read hundreds of runs.
        static CORES: OnceLock<usize> = OnceLock::new();
        let threads = *CORES
            .get_or_init(|| thread::available_parallelism().map_or(1, |cores| cores.get().min(THREADS)));
        let mut reader =
            Reader { bytes, at: 0, next: 0, borders: false, sums: false, threads, ahead: VecDeque::new() };
        let (_, first) = reader.member().ok_or(ReadError::NoRun)?;
        if !(OLDEST..=MAJOR).contains(&first.major) {
            return Err(ReadError::Newer { major: first.major, minor: first.minor });
        }
        reader.at = 0;
        Ok(reader)
    }

    /// Passes by all records but those that lists of runs are made of: head, control and end. Damage among the others is not
    /// noticed.
    #[must_use]
    pub fn borders(mut self) -> Reader<'a> {
        self.borders = true;
        self
    }

    /// Leaves out the times of seconds, which a run that came to its end has once more in its minutes: most of a long file is
    /// not read then. `None` where members are missing, or the last one that every run has, and of files whose minutes do not
    /// tell the times of labels.
    #[must_use]
    pub fn sums(mut self) -> Option<Reader<'a>> {
        let mut at = self.at;
        let mut next = self.next;
        let mut ended = false;
        while at < self.bytes.len() {
            let whole =
                |header: &Header| header.sequence == next && (header.major, header.minor) >= TELLS_LABELS;
            let header = self.bytes.get(at..).and_then(Header::read).filter(whole)?;
            (at, next) = (at.saturating_add(header.length as usize), next.wrapping_add(1));
            ended |= header.kind == END;
        }
        self.sums = ended;
        (ended && at == self.bytes.len()).then_some(self)
    }

    /// Unpacks on so many threads.
    #[must_use]
    pub fn on_threads(mut self, threads: usize) -> Reader<'a> {
        self.threads = threads;
        self
    }

    /// Unpacks the next members on several threads, as far as they are whole and follow each other.
    fn unpack_ahead(&mut self) {
        let mut at = self.at;
        let mut next = self.next;
        let mut members = Vec::new();
        while let Some(header) = self.bytes.get(at..).and_then(Header::read) {
            let end = at.saturating_add(header.length as usize);
            if header.sequence != next || end > self.bytes.len() || members.len() == TOGETHER {
                break;
            }
            members.push((at, header));
            (at, next) = (end, next.wrapping_add(1));
        }
        if members.len() < WORTH_A_THREAD {
            return;
        }
        let of_thread = members.len().div_ceil(self.threads);
        let unpack = |members: &[(usize, Header)]| {
            members.iter().map(|(at, header)| self.record(*at, header)).collect::<Vec<_>>()
        };
        let records: Vec<Option<RunEvent>> = thread::scope(|scope| {
            let mut parts = members.chunks(of_thread);
            let own = parts.next().unwrap_or_default();
            let others: Vec<_> = parts.map(|part| (part.len(), scope.spawn(|| unpack(part)))).collect();
            let mut records = unpack(own);
            for (length, other) in others {
                // What could not be unpacked there is looked at again, one by one.
                records.extend(other.join().unwrap_or_else(|_| vec![None; length]));
            }
            records
        });
        for ((at, header), record) in members.iter().zip(records) {
            let Some(record) = record else {
                // What follows damage is read one by one, so that nothing is unpacked again and again.
                self.threads = 1;
                return;
            };
            self.ahead.push_back(record);
            (self.at, self.next) = (at + header.length as usize, header.sequence.wrapping_add(1));
        }
    }

    /// Passes by whole members that nobody wants.
    fn pass_by(&mut self) {
        while let Some(header) = self.bytes.get(self.at..).and_then(Header::read) {
            let next = self.at.saturating_add(header.length as usize);
            if header.sequence != self.next || is_border(header.kind) || next > self.bytes.len() {
                return;
            }
            (self.at, self.next) = (next, header.sequence.wrapping_add(1));
        }
    }

    /// The next header at or behind the place reached, and where it stands.
    fn member(&self) -> Option<(usize, Header)> {
        let rest = &self.bytes[self.at..];
        if let Some(header) = Header::read(rest) {
            return Some((self.at, header));
        }
        let begins = |at: usize| rest[at] == 0x1f && rest[at + 1] == 0x8b;
        let places = (0..rest.len().saturating_sub(HEADER - 1)).filter(|at| begins(*at));
        places.filter_map(|at| Some((self.at + at, Header::read(&rest[at..])?))).next()
    }

    /// The record of a member that begins here, where all of it is there.
    fn record(&self, at: usize, header: &Header) -> Option<RunEvent> {
        let end = at.checked_add(header.length as usize)?;
        let line = member::unpacked(self.bytes.get(at..end)?)?;
        let untimed = (self.sums && header.kind == SECOND).then(|| without_times(&line));
        RunEvent::read(untimed.as_deref().unwrap_or(&line)).ok()
    }
}

impl Iterator for Reader<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        if self.borders {
            self.pass_by();
        } else if self.ahead.is_empty() && self.threads > 1 {
            self.unpack_ahead();
        }
        if let Some(event) = self.ahead.pop_front() {
            return Some(Item::Event(event));
        }
        if self.at >= self.bytes.len() {
            return None;
        }
        let begins = self.at;
        let Some((at, header)) = self.member() else {
            self.at = self.bytes.len();
            return Some(Item::Gap(Gap { at: begins, bytes: self.bytes.len() - begins, at_end: true }));
        };
        let skipped = at > begins || header.sequence != self.next;
        if skipped {
            (self.at, self.next) = (at, header.sequence);
            return Some(Item::Gap(Gap { at: begins, bytes: at - begins, at_end: false }));
        }
        self.next = header.sequence.wrapping_add(1);
        if let Some(event) = self.record(at, &header) {
            self.at = at + header.length as usize;
            return Some(Item::Event(event));
        }
        self.at = at + HEADER;
        // What is damaged ends where the next member begins.
        self.at = self.member().map_or(self.bytes.len(), |(next, header)| {
            self.next = header.sequence;
            next
        });
        let bytes = self.at - begins;
        let at_end = self.at == self.bytes.len();
        Some(Item::Gap(Gap { at: begins, bytes, at_end }))
    }
}

/// Names of times in the line of a second, and what stands for none.
static TIMES: LazyLock<[(Finder<'static>, &[u8]); 3]> = LazyLock::new(|| {
    // `clocks`: in files of version 1.
    let [metrics, old, response] = ["\"metrics\":", "\"clocks\":", "\"response\":"].map(Finder::new);
    [(metrics, b"{}"), (old, b"{}"), (response, b"[]")]
});

/// A second's line without its times: those of metrics, and of labels. Such a name stands in no text, where its quotes are escaped.
fn without_times(line: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(line.len());
    let mut rest = line;
    loop {
        let found =
            TIMES.iter().filter_map(|(name, none)| Some((name.find(rest)? + name.needle().len(), none)));
        let Some((from, none)) = found.min_by_key(|(from, _)| *from) else { break };
        // What they are is made of numbers, and of names of metrics, which have no brackets.
        let mut depth = 0;
        let end = rest[from..].iter().position(|byte| {
            depth += i32::from(matches!(byte, b'{' | b'[')) - i32::from(matches!(byte, b'}' | b']'));
            depth == 0
        });
        let Some(end) = end else { break };
        kept.extend_from_slice(&rest[..from]);
        kept.extend_from_slice(none);
        rest = &rest[from + end + 1..];
    }
    kept.extend_from_slice(rest);
    kept
}

/// Head, control and end.
fn is_border(kind: u8) -> bool {
    matches!(kind, 1 | 8 | END)
}
