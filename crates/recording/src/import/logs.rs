//! Reads a log into an import.

use super::{Import, ImportError, Scratch};
use crate::entry::Entry;
use crate::file::{Input, Note};
use crate::format::{Format, RecordingLine};
use crate::left_out::Reason;
use crate::read::lines::{Go, LinePiece, lines};
use std::cell::Cell;
use std::io::Read;
use std::rc::Rc;

/// How far an input is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Bytes, unpacked.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
    /// Requests that came of them.
    pub requests: u64,
    /// Lines that were left out.
    pub left_out: u64,
}

/// Reads a stream and remembers what must be said where it ends early.
pub(super) struct LogWatched<'a> {
    read: &'a mut dyn Read,
    failed: Option<String>,
    /// True once it failed, for those who see its lines meanwhile.
    broken: Rc<Cell<bool>>,
}

impl<'a> LogWatched<'a> {
    pub fn new(read: &'a mut dyn Read) -> LogWatched<'a> {
        LogWatched { read, failed: None, broken: Rc::default() }
    }

    /// True once it has ended early.
    fn broken(&self) -> Rc<Cell<bool>> {
        self.broken.clone()
    }
}

/// The failure of an input that ended early; none where it did not.
///
/// # Errors
/// It did, and that is not to be kept.
pub(super) fn ended(
    keep_broken: bool,
    name: &str,
    watched: LogWatched<'_>,
    told: Progress,
) -> Result<Option<String>, ImportError> {
    match watched.failed {
        Some(why) if !keep_broken => {
            Err(ImportError::Input { input: name.to_owned(), bytes: told.bytes, lines: told.lines, why })
        }
        broken => Ok(broken),
    }
}

impl Read for LogWatched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.read.read(buffer) {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                self.failed = Some(error.to_string());
                self.broken.set(true);
                Ok(0)
            }
            other => other,
        }
    }
}

impl<S: Scratch> Import<S> {
    /// Reads a log to its end. `progress` is told after each piece of it, and says whether to go on.
    ///
    /// # Errors
    /// Where the stream ends early and that is not to be kept; where another input had the same content; those of the scratch file.
    pub fn log(
        &mut self,
        name: &str,
        format: &mut Format,
        read: &mut dyn Read,
        progress: &mut dyn FnMut(Progress) -> Go,
    ) -> Result<(), ImportError> {
        self.options.urls &= !format.is_trace();
        self.begin_input(name, format.is_trace());
        let requests = self.requests();
        let left = self.left_out().total();
        let mut watched = LogWatched::new(read);
        let is_broken = watched.broken();
        let mut seen = Progress::default();
        let mut digest = crc32fast::Hasher::new();
        let told = Cell::new(Progress::default());
        let each = |piece: LinePiece<'_>| {
            seen.lines += 1;
            self.line(format, piece, seen.lines, is_broken.get())?;
            let lines = seen.lines;
            told.set(Progress {
                lines,
                requests: self.requests() - requests,
                left_out: self.left_out().total() - left,
                ..told.get()
            });
            Ok(())
        };
        lines::<ImportError>(&mut watched, each, |chunk| {
            digest.update(chunk);
            told.set(Progress { bytes: told.get().bytes + chunk.len() as u64, ..told.get() });
            progress(told.get())
        })?;
        let Progress { bytes, lines, .. } = told.get();
        let broken = ended(self.options.keep_broken, name, watched, told.get())?;
        if format.zone_is_missing() {
            self.note(Note::ZoneMissing { input: name.to_owned() });
        }
        let keys = format.unseen_keys();
        if lines > 0 && !keys.is_empty() {
            self.note(Note::KeysUnseen { input: name.to_owned(), keys });
        }
        self.end_input(Input {
            name: name.to_owned(),
            format: format.name().to_owned(),
            bytes,
            lines,
            digest: u64::from(digest.finalize()) << 32 ^ bytes,
            broken,
            ..Input::default()
        })
    }

    /// Reads one line; the last one of a stream that broke off is lost, however whole it looks: `200 23` may have been `200 2326`.
    #[inline]
    fn line(
        &mut self,
        format: &mut Format,
        piece: LinePiece<'_>,
        number: u64,
        is_broken: bool,
    ) -> Result<(), ImportError> {
        let (line, ends) = match piece {
            LinePiece::Line(line) => (line, true),
            LinePiece::Last(line) if is_broken => {
                self.leave_out(Reason::Cut, number, 0, line);
                return Ok(());
            }
            LinePiece::Last(line) => (line, false),
            LinePiece::TooLong(line) => {
                self.leave_out(Reason::TooLong, number, 0, line);
                return Ok(());
            }
        };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut entry = Entry::default();
        match format.read(line, &mut entry) {
            Ok(RecordingLine::Entry) => self.take(&entry, number, line),
            Ok(RecordingLine::Directive) => Ok(()),
            Err(_) if line.trim_ascii().is_empty() => Ok(()),
            Err(misfit) => {
                let reason = match (memchr::memchr(0, line), ends) {
                    (Some(_), _) => Reason::Nul,
                    (None, false) => Reason::Cut,
                    (None, true) => Reason::Unparsed,
                };
                self.leave_out(reason, number, misfit.column, line);
                Ok(())
            }
        }
    }
}
