//! A request on its way into a recording, and runs of them: sorted pieces that wait in a scratch file until all have been read.

use crate::entry::Range;
use crate::file::{put, take};
use crate::request::{UNTOLD, UNTOLD_BYTES};
use crate::words::Storage;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// No user is known.
pub const NO_USER: u32 = u32::MAX;

/// A request on its way into a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// When it began, in microseconds since 1970.
    pub begin_us: i64,
    /// Bytes of the body that were sent.
    pub sent: u64,
    /// Size of the whole object, where the input knows it.
    pub size: u64,
    /// The range that was asked for; a length of 0 and a first byte of 0: none.
    pub range: Range,
    /// Number of the object.
    pub object: u32,
    /// Number of the user.
    pub user: u32,
    /// Duration in microseconds.
    pub duration_us: u32,
    /// Time to the first byte in microseconds.
    pub first_byte_us: u32,
    /// Lifetime in seconds.
    pub lifetime_s: u32,
    /// [`crate::words::Kind`], packed.
    pub kind: u32,
    /// Number of a text that was kept, plus one.
    pub text: u32,
    /// Status.
    pub status: u16,
    /// Kind of content.
    pub media: u8,
    /// Who may store it.
    pub storage: u8,
}

impl Default for Row {
    fn default() -> Row {
        Row {
            begin_us: 0,
            sent: UNTOLD_BYTES,
            size: UNTOLD_BYTES,
            range: Range::default(),
            object: 0,
            user: NO_USER,
            duration_us: UNTOLD,
            first_byte_us: UNTOLD,
            lifetime_s: UNTOLD,
            kind: 0,
            text: 0,
            status: 0,
            media: 0,
            storage: Storage::Shared as u8,
        }
    }
}

const HAS_SIZE: u8 = 1;
const HAS_RANGE: u8 = 2;
const HAS_TEXT: u8 = 4;
const HAS_LIFETIME: u8 = 8;
const HAS_TIMES: u8 = 16;

impl Row {
    fn write(&self, before_us: i64, out: &mut Vec<u8>) {
        let has_range = self.range != Range::default();
        let has_times = self.duration_us != UNTOLD || self.first_byte_us != UNTOLD;
        let flags = [
            (self.size != UNTOLD_BYTES, HAS_SIZE),
            (has_range, HAS_RANGE),
            (self.text != 0, HAS_TEXT),
            (self.lifetime_s != UNTOLD || self.storage != 0, HAS_LIFETIME),
            (has_times, HAS_TIMES),
        ];
        let flags = flags.iter().filter(|(has, _)| *has).fold(0, |sum, (_, flag)| sum | flag);
        out.extend_from_slice(&[flags, self.media]);
        put(out, self.begin_us.wrapping_sub(before_us) as u64);
        put(out, u64::from(self.user.wrapping_add(1)));
        put(out, u64::from(self.object));
        put(out, self.sent.wrapping_add(1));
        put(out, u64::from(self.kind));
        put(out, u64::from(self.status));
        if flags & HAS_SIZE != 0 {
            put(out, self.size);
        }
        if has_range {
            put(out, self.range.from);
            put(out, self.range.length);
        }
        if flags & HAS_TEXT != 0 {
            put(out, u64::from(self.text));
        }
        if flags & HAS_LIFETIME != 0 {
            put(out, u64::from(self.lifetime_s));
            out.push(self.storage);
        }
        if has_times {
            put(out, u64::from(self.duration_us.wrapping_add(1)));
            put(out, u64::from(self.first_byte_us.wrapping_add(1)));
        }
    }

    fn read(bytes: &mut &[u8], before_us: i64) -> Option<Row> {
        let [flags, media, rest @ ..] = bytes else { return None };
        let flags = *flags;
        let media = *media;
        *bytes = rest;
        let mut row = Row {
            begin_us: before_us.wrapping_add(take(bytes)? as i64),
            user: (take(bytes)? as u32).wrapping_sub(1),
            object: take(bytes)? as u32,
            sent: take(bytes)?.wrapping_sub(1),
            kind: take(bytes)? as u32,
            status: take(bytes)? as u16,
            media,
            ..Row::default()
        };
        if flags & HAS_SIZE != 0 {
            row.size = take(bytes)?;
        }
        if flags & HAS_RANGE != 0 {
            row.range = Range { from: take(bytes)?, length: take(bytes)? };
        }
        if flags & HAS_TEXT != 0 {
            row.text = take(bytes)? as u32;
        }
        if flags & HAS_LIFETIME != 0 {
            row.lifetime_s = take(bytes)? as u32;
            let (storage, rest) = bytes.split_first()?;
            (row.storage, *bytes) = (*storage, rest);
        }
        if flags & HAS_TIMES != 0 {
            row.duration_us = (take(bytes)? as u32).wrapping_sub(1);
            row.first_byte_us = (take(bytes)? as u32).wrapping_sub(1);
        }
        Some(row)
    }
}

/// Storage in which runs and texts wait: a file of the caller's, which nobody else uses.
pub trait Scratch: Read + Write + Seek {}

impl<T: Read + Write + Seek> Scratch for T {}

/// A piece of a scratch file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportPiece {
    /// Where it begins.
    pub offset: u64,
    /// Its bytes.
    pub length: u64,
}

/// Bytes of rows that are sorted at once.
pub const RUN_BYTES: usize = 64 << 20;
/// Bytes that all runs together are read ahead by.
const AHEAD: u64 = 96 << 20;

/// Gathers rows, sorts them in runs, and reads them back in order.
#[derive(Debug)]
pub struct Runs {
    rows: Vec<Row>,
    limit: usize,
    runs: Vec<ImportPiece>,
    end: u64,
    out: Vec<u8>,
}

impl Runs {
    /// Nothing yet; a run has as many bytes of rows as this.
    pub fn new(run_bytes: usize) -> Runs {
        let limit = (run_bytes / size_of::<Row>()).max(16);
        Runs { rows: Vec::new(), limit, runs: Vec::new(), end: 0, out: Vec::new() }
    }

    /// Takes a row; a full run goes to the scratch file.
    ///
    /// # Errors
    /// Those of the scratch file.
    #[inline]
    pub fn push(&mut self, row: Row, scratch: &mut dyn Scratch) -> io::Result<()> {
        self.rows.push(row);
        if self.rows.len() >= self.limit { self.flush(scratch) } else { Ok(()) }
    }

    /// Appends bytes of the caller's own to the scratch file.
    ///
    /// # Errors
    /// Those of the scratch file.
    pub fn append(&mut self, bytes: &[u8], scratch: &mut dyn Scratch) -> io::Result<ImportPiece> {
        let piece = ImportPiece { offset: self.end, length: bytes.len() as u64 };
        scratch.seek(SeekFrom::Start(self.end))?;
        scratch.write_all(bytes)?;
        self.end += piece.length;
        Ok(piece)
    }

    fn flush(&mut self, scratch: &mut dyn Scratch) -> io::Result<()> {
        // Stable: of two that began in the same moment the first in the input stays the first.
        self.rows.sort_by_key(|row| row.begin_us);
        let mut run = ImportPiece { offset: self.end, length: 0 };
        let mut out = std::mem::take(&mut self.out);
        scratch.seek(SeekFrom::Start(self.end))?;
        let mut before = 0;
        for row in &self.rows {
            row.write(before, &mut out);
            before = row.begin_us;
            if out.len() >= 1 << 20 {
                scratch.write_all(&out)?;
                run.length += out.len() as u64;
                out.clear();
            }
        }
        scratch.write_all(&out)?;
        run.length += out.len() as u64;
        out.clear();
        self.out = out;
        self.end += run.length;
        self.runs.push(run);
        self.rows.clear();
        Ok(())
    }

    /// Ends the gathering. Where all fits into one run, the scratch file is never used.
    ///
    /// # Errors
    /// Those of the scratch file.
    pub fn finish(&mut self, scratch: &mut dyn Scratch) -> io::Result<()> {
        if self.runs.is_empty() {
            self.rows.sort_by_key(|row| row.begin_us);
        } else if !self.rows.is_empty() {
            self.flush(scratch)?;
            self.rows = Vec::new();
        }
        Ok(())
    }

    /// Hands over all rows in order; this can be done as often as need be.
    ///
    /// # Errors
    /// Those of the scratch file, or of `each`.
    pub fn each(
        &self,
        scratch: &mut dyn Scratch,
        mut each: impl FnMut(&Row) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.runs.is_empty() {
            return self.rows.iter().try_for_each(each);
        }
        let ahead = (AHEAD / self.runs.len() as u64).clamp(4 << 10, 4 << 20) as usize;
        let mut cursors: Vec<Cursor> = self.runs.iter().map(|run| Cursor::new(*run, ahead)).collect();
        let mut heads = BinaryHeap::with_capacity(cursors.len());
        for (number, cursor) in cursors.iter_mut().enumerate() {
            if cursor.next(scratch)? {
                heads.push(Reverse((cursor.row.begin_us, number)));
            }
        }
        while let Some(mut head) = heads.peek_mut() {
            let Reverse((_, number)) = *head;
            let cursor = &mut cursors[number];
            each(&cursor.row)?;
            if cursor.next(scratch)? {
                *head = Reverse((cursor.row.begin_us, number));
            } else {
                PeekMut::pop(head);
            }
        }
        Ok(())
    }

    /// When the first row began; only after [`Runs::finish`].
    ///
    /// # Errors
    /// Those of the scratch file.
    pub fn first_us(&self, scratch: &mut dyn Scratch) -> io::Result<Option<i64>> {
        let mut first = self.rows.first().map(|row| row.begin_us);
        for run in &self.runs {
            let mut cursor = Cursor::new(*run, 4 << 10);
            if cursor.next(scratch)? {
                first = first.into_iter().chain([cursor.row.begin_us]).min();
            }
        }
        Ok(first)
    }
}

/// Reads one run.
#[derive(Debug)]
struct Cursor {
    left: ImportPiece,
    buffer: Vec<u8>,
    at: usize,
    ahead: usize,
    row: Row,
}

/// The longest row.
const ROW_MOST: usize = 128;

impl Cursor {
    fn new(run: ImportPiece, ahead: usize) -> Cursor {
        let row = Row { begin_us: 0, ..Row::default() };
        Cursor { left: run, buffer: Vec::new(), at: 0, ahead, row }
    }

    /// Moves on to the next row; false at the end.
    fn next(&mut self, scratch: &mut dyn Scratch) -> io::Result<bool> {
        if self.buffer.len() - self.at < ROW_MOST && self.left.length > 0 {
            self.fill(scratch)?;
        }
        if self.at == self.buffer.len() {
            return Ok(false);
        }
        let mut bytes = &self.buffer[self.at..];
        let row = Row::read(&mut bytes, self.row.begin_us);
        self.at = self.buffer.len() - bytes.len();
        self.row = row.ok_or_else(|| io::Error::other("the scratch file was changed by somebody else"))?;
        Ok(true)
    }

    fn fill(&mut self, scratch: &mut dyn Scratch) -> io::Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let kept = self.buffer.len();
        let more = (self.ahead as u64).min(self.left.length) as usize;
        self.buffer.resize(kept + more, 0);
        scratch.seek(SeekFrom::Start(self.left.offset))?;
        scratch.read_exact(&mut self.buffer[kept..])?;
        self.left.offset += more as u64;
        self.left.length -= more as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;
    use std::io::Cursor as Memory;

    fn any_row(draw: &mut Draw) -> Row {
        let mut either = |value: u64| if draw.chance(0.5) { Some(value) } else { None };
        Row {
            begin_us: either(1_700_000_000_000_000).unwrap_or(5) as i64,
            sent: either(3).unwrap_or(UNTOLD_BYTES),
            size: either(9).unwrap_or(UNTOLD_BYTES),
            range: either(1).map_or(Range::default(), |_| Range { from: 7, length: 9 }),
            object: either(4_000_000_000).unwrap_or(1) as u32,
            user: either(1).map_or(NO_USER, |user| user as u32),
            duration_us: either(1).map_or(UNTOLD, |us| us as u32),
            first_byte_us: either(1).map_or(UNTOLD, |us| us as u32),
            lifetime_s: either(1).map_or(UNTOLD, |s| s as u32),
            kind: 77,
            text: either(1).unwrap_or(0) as u32,
            status: 200,
            media: 3,
            storage: either(1).unwrap_or(0) as u8,
        }
    }

    #[test]
    fn rows_come_back_in_order_whatever_their_runs() {
        for run_rows in [16, 100, 1_000_000] {
            let mut scratch = Memory::new(Vec::new());
            let mut runs = Runs::new(run_rows * size_of::<Row>());
            let mut draw = Draw::new(run_rows as u64, 0);
            let mut rows = Vec::new();
            for number in 0..1_000 {
                let row = Row { begin_us: draw.below(300) as i64, kind: number, ..any_row(&mut draw) };
                rows.push(row);
                runs.push(row, &mut scratch).unwrap();
                if number % 100 == 7 {
                    runs.append(b"a text of the caller's", &mut scratch).unwrap();
                }
            }
            runs.finish(&mut scratch).unwrap();
            rows.sort_by_key(|row| row.begin_us);
            for _ in 0..2 {
                let mut found = Vec::new();
                runs.each(&mut scratch, |row| {
                    found.push(*row);
                    Ok(())
                })
                .unwrap();
                assert_eq!(found, rows, "runs of {run_rows}");
            }
            assert_eq!(runs.first_us(&mut scratch).unwrap(), Some(rows[0].begin_us));
        }
    }
}
