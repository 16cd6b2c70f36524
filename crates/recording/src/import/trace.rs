//! Reads traces of caches in libCacheSim's binary forms, little-endian. Each record of oracleGeneral is a time in seconds (u32), an object
//! (u64), its size (u32), and when it is asked for next (i64), which nobody needs here. LCS has a head before that, and, by its version,
//! sizes of 64 bits, lifetimes and features.

use super::logs::{LogWatched, ended};
use super::{Import, ImportError, Progress, Scratch};
use crate::entry::{Edge, Entry, Logged, Named, WHOLE_SECONDS};
use crate::file::Input;
use crate::left_out::Reason;
use crate::moment::SECOND;
use crate::read::lines::Go;
use std::io::Read;

/// Records that are read at once.
const AT_ONCE: usize = 32_768;
/// The number that a head of LCS begins and ends with.
const MAGIC: [u8; 8] = 0x1234_5678_9abc_def0_u64.to_le_bytes();
/// Bytes of a head: of the newer files, and of the older ones.
const HEADS: [usize; 2] = [8_192, 1_024];

/// Form of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceForm {
    name: &'static str,
    /// Bytes before the first record.
    head: usize,
    /// Bytes of a record.
    record: usize,
    /// Bytes of an object's size.
    size: usize,
    /// Where its lifetime stands, in seconds.
    ttl: Option<usize>,
}

impl TraceForm {
    /// oracleGeneral.
    pub const ORACLE: TraceForm =
        TraceForm { name: "oracle-general", head: 0, record: 24, size: 4, ttl: None };

    /// LCS, by the first bytes of the file, 8 KiB or all of them.
    ///
    /// # Errors
    /// In words: it is none, or of a version that is not known.
    pub fn lcs(first: &[u8]) -> Result<TraceForm, String> {
        let has = |at: usize| first.get(at..at + MAGIC.len()) == Some(&MAGIC[..]);
        let head = HEADS.into_iter().find(|head| has(0) && has(head - MAGIC.len()));
        let head =
            head.ok_or("it does not begin as LCS does: give oracle-general, or csv:time=COLUMN,id=COLUMN,…")?;
        let (record, size, ttl) = match number(&first[8..16]) {
            1 => (24, 4, None),
            2 => (28, 4, None),
            3 => (36, 8, Some(24)),
            version @ 4..=8 => (36 + (4 << (version - 4)), 8, Some(24)),
            version => return Err(format!("it is LCS of version {version}, and this reads 1 to 8")),
        };
        Ok(TraceForm { name: "lcs", head, record, size, ttl })
    }
}

/// True if a file begins as traces in LCS do.
pub fn is_lcs(first: &[u8]) -> bool {
    first.starts_with(&MAGIC)
}

impl<S: Scratch> Import<S> {
    /// Reads a trace to its end; as [`Import::log`]. A recording of traces has no URLs, so an import reads traces or logs, not both.
    ///
    /// # Errors
    /// As of [`Import::log`].
    pub fn trace(
        &mut self,
        name: &str,
        form: TraceForm,
        read: &mut dyn Read,
        progress: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<(), ImportError> {
        self.options.urls = false;
        self.begin_input(name, true);
        let requests = self.requests();
        let left = self.left_out().total();
        let mut watched = LogWatched::new(read);
        let mut digest = crc32fast::Hasher::new();
        let mut told = Progress::default();
        let mut buffer = vec![0; form.record * AT_ONCE + form.head];
        let mut kept = 0;
        let mut head = form.head;
        loop {
            let got = match watched.read(&mut buffer[kept..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                got => got?,
            };
            digest.update(&buffer[kept..kept + got]);
            let filled = kept + got;
            let begins = if filled < head { 0 } else { std::mem::take(&mut head) };
            let whole = if head > 0 { 0 } else { begins + (filled - begins) / form.record * form.record };
            for record in buffer[begins.min(whole)..whole].chunks_exact(form.record) {
                told.lines += 1;
                self.request(form, record, told.lines)?;
            }
            kept = filled - whole;
            buffer.copy_within(whole..filled, 0);
            told.bytes += got as u64;
            told.requests = self.requests() - requests;
            told.left_out = self.left_out().total() - left;
            if progress(told) == Go::Stop || got == 0 {
                break;
            }
        }
        if kept > 0 {
            told.lines += 1;
            self.leave_out(Reason::Cut, told.lines, 0, b"");
        }
        let broken = ended(self.options.keep_broken, name, watched, told)?;
        self.end_input(Input {
            name: name.to_owned(),
            format: form.name.to_owned(),
            bytes: told.bytes,
            lines: told.lines,
            digest: u64::from(digest.finalize()) << 32 ^ told.bytes,
            broken,
            ..Input::default()
        })
    }

    fn request(&mut self, form: TraceForm, record: &[u8], line: u64) -> Result<(), ImportError> {
        let seconds = number(&record[..4]);
        let entry = Entry {
            time: Some(Logged { us: seconds as i64 * SECOND, resolution: WHOLE_SECONDS, edge: Edge::Begin }),
            object: Named::Number(number(&record[4..12])),
            size: Some(number(&record[12..12 + form.size])),
            ttl_s: form.ttl.map(|at| number(&record[at..at + 4])).filter(|ttl| *ttl > 0),
            ..Entry::default()
        };
        self.take(&entry, line, b"")
    }
}

/// A number, little-endian.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian() {
        assert_eq!([number(&[1, 0, 0, 0]), number(&[2, 1, 0, 0, 0, 0, 0, 0x80])], [1, 0x8000_0000_0000_0102]);
    }

    #[test]
    fn a_head_of_lcs_says_how_records_look() {
        let head = |length: usize, version: u64| {
            let mut head = vec![0; length];
            head[..8].copy_from_slice(&MAGIC);
            head[8..16].copy_from_slice(&version.to_le_bytes());
            head[length - 8..].copy_from_slice(&MAGIC);
            head
        };
        let record =
            |length, version| TraceForm::lcs(&head(length, version)).map(|form| (form.head, form.record));
        assert_eq!(record(8_192, 1), Ok((8_192, 24)));
        assert_eq!(record(1_024, 2), Ok((1_024, 28)));
        assert_eq!([3, 4, 8].map(|version| record(8_192, version).unwrap().1), [36, 40, 100]);
        assert!(record(8_192, 9).unwrap_err().contains("version 9"));
        assert!(TraceForm::lcs(b"GET /").is_err() && TraceForm::lcs(&MAGIC).is_err());
    }
}
