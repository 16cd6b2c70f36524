//! The lines of a file that grows, through its rotation and truncation.

use recording::read::lines::{LONGEST, LinePiece};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes that are read at once.
const CHUNK: usize = 256 << 10;
/// Chunks of one look at most, so that whoever looks gets to do something else.
const CHUNKS: usize = 16;
/// A rotated file is read for so long beside the new one: processes of a server turn to that one after the other.
const GRACE: Duration = Duration::from_millis(500);
/// Bytes before the end that tell a log's format.
pub const LAST: u64 = 256 << 10;

/// Changes of a file that is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turns {
    /// Another file came in its place.
    pub rotated: u64,
    /// It became shorter.
    pub truncated: u64,
    /// Lines without an end that were lost with either.
    pub halves: u64,
}

/// A file that is followed.
pub struct Tail {
    path: PathBuf,
    file: File,
    at: u64,
    id: (u64, u64),
    rest: Vec<u8>,
    passing: bool,
    chunk: Vec<u8>,
    /// Since when another file is in its place.
    replaced: Option<Instant>,
    /// Changes of it so far.
    pub turns: Turns,
}

fn id(about: &Metadata) -> (u64, u64) {
    (about.dev(), about.ino())
}

impl Tail {
    /// Begins behind the last whole line.
    ///
    /// # Errors
    /// Those of opening it.
    pub fn new(path: &Path) -> io::Result<Tail> {
        let mut file = File::open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::other("it is no file: give one, or - for standard input"));
        }
        let at = file.seek(SeekFrom::End(0))?;
        let mut tail = Tail {
            path: path.to_owned(),
            file,
            at,
            id: id(&about),
            rest: Vec::new(),
            passing: false,
            chunk: vec![0; CHUNK],
            replaced: None,
            turns: Turns::default(),
        };
        // A line that is being written now is not whole yet.
        tail.passing = !tail.last(1)?.is_empty() && tail.last(1)? != b"\n";
        Ok(tail)
    }

    /// Its last bytes before where it is read.
    ///
    /// # Errors
    /// Those of reading.
    pub fn last(&mut self, most: u64) -> io::Result<Vec<u8>> {
        let from = self.at.saturating_sub(most);
        self.file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        (&mut self.file).take(self.at - from).read_to_end(&mut bytes)?;
        self.file.seek(SeekFrom::Start(self.at))?;
        Ok(bytes)
    }

    /// Hands over the lines that have come, and returns how many bytes that were.
    ///
    /// # Errors
    /// Those of reading.
    pub fn look(&mut self, now: Instant, each: &mut dyn FnMut(LinePiece<'_>)) -> io::Result<u64> {
        let mut came = 0;
        for _ in 0..CHUNKS {
            let got = match self.file.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                got => got?,
            };
            if got == 0 {
                break;
            }
            came += got as u64;
            self.at += got as u64;
            cut(&self.chunk[..got], &mut self.rest, &mut self.passing, each);
        }
        if came == 0 {
            self.turn(now)?;
        }
        Ok(came)
    }

    /// Looks whether it was truncated, or another file is in its place.
    fn turn(&mut self, now: Instant) -> io::Result<()> {
        if self.file.metadata()?.len() < self.at {
            self.turns.truncated += 1;
            self.at = self.file.seek(SeekFrom::Start(0))?;
            self.forget_rest();
            return Ok(());
        }
        let other = match std::fs::metadata(&self.path) {
            Ok(about) if id(&about) != self.id && about.is_file() => about,
            // Between the two steps of a rotation there may be none.
            Ok(_) | Err(_) => {
                self.replaced = None;
                return Ok(());
            }
        };
        let since = *self.replaced.get_or_insert(now);
        if now.saturating_duration_since(since) < GRACE {
            return Ok(());
        }
        // It may have gone again: then the next look tells.
        let Ok(file) = File::open(&self.path) else { return Ok(()) };
        self.turns.rotated += 1;
        self.file = file;
        self.id = id(&other);
        self.at = 0;
        self.replaced = None;
        self.forget_rest();
        Ok(())
    }

    fn forget_rest(&mut self) {
        self.turns.halves += u64::from(!self.rest.is_empty());
        self.rest.clear();
        self.passing = false;
    }
}

/// Cuts a chunk into lines; `rest` is the beginning of a line whose end has not come, and `passing` says that nobody wants it.
pub fn cut(chunk: &[u8], rest: &mut Vec<u8>, passing: &mut bool, each: &mut dyn FnMut(LinePiece<'_>)) {
    for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
        let Some(line) = piece.strip_suffix(b"\n") else {
            if !*passing {
                rest.extend_from_slice(piece);
            }
            break;
        };
        if std::mem::take(passing) {
            continue;
        }
        if rest.is_empty() {
            whole(line, each);
        } else {
            rest.extend_from_slice(line);
            whole(rest, each);
            rest.clear();
        }
    }
    if rest.len() > LONGEST {
        each(LinePiece::TooLong(rest));
        rest.clear();
        *passing = true;
    }
}

fn whole(line: &[u8], each: &mut dyn FnMut(LinePiece<'_>)) {
    each(if line.len() > LONGEST { LinePiece::TooLong(line) } else { LinePiece::Line(line) });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    struct Log {
        folder: tempfile::TempDir,
        tail: Tail,
        now: Instant,
    }

    impl Log {
        fn new(before: &str) -> Log {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.log");
            std::fs::write(&path, before).unwrap();
            Log { tail: Tail::new(&path).unwrap(), folder, now: Instant::now() }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("a.log")
        }

        fn append(&self, text: &str) {
            let mut file = File::options().append(true).create(true).open(self.path()).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        /// The lines of a few looks, after some time.
        fn lines(&mut self) -> Vec<String> {
            let mut lines = Vec::new();
            for _ in 0..4 {
                self.now += GRACE;
                let mut each = |piece: LinePiece<'_>| match piece {
                    LinePiece::Line(line) | LinePiece::Last(line) => {
                        lines.push(String::from_utf8_lossy(line).into_owned())
                    }
                    LinePiece::TooLong(_) => lines.push("too long".to_owned()),
                };
                self.tail.look(self.now, &mut each).unwrap();
            }
            lines
        }
    }

    #[test]
    fn only_whole_lines_that_come_are_told() {
        let mut log = Log::new("old\nhal");
        assert!(log.lines().is_empty());
        log.append("f\none\ntw");
        assert_eq!(log.lines(), ["one"], "the half line had begun before");
        log.append("o\n\n");
        assert_eq!(log.lines(), ["two", ""]);
        log.append(&format!("{}\nthree\n", "x".repeat(3 * LONGEST)));
        assert_eq!(log.lines(), ["too long", "three"]);
        assert_eq!(log.tail.turns, Turns::default());
    }

    #[test]
    fn a_rotated_log_is_read_to_its_end_and_the_new_one_from_its_beginning() {
        let mut log = Log::new("old\n");
        log.append("one\n");
        let rotated = log.folder.path().join("a.log.1");
        std::fs::rename(log.path(), &rotated).unwrap();
        assert_eq!(log.lines(), ["one"]);
        let mut late = File::options().append(true).open(&rotated).unwrap();
        late.write_all(b"two\nhalf").unwrap();
        log.append("three\n");
        assert_eq!(log.lines(), ["two", "three"]);
        assert_eq!(log.tail.turns, Turns { rotated: 1, truncated: 0, halves: 1 });
        log.append("four\n");
        assert_eq!(log.lines(), ["four"]);
    }

    #[test]
    fn a_truncated_log_is_read_from_its_beginning() {
        let mut log = Log::new("old\n");
        log.append("one\nhalf of a line");
        assert_eq!(log.lines(), ["one"]);
        File::options().write(true).truncate(true).open(log.path()).unwrap();
        assert!(log.lines().is_empty());
        log.append("two\n");
        assert_eq!(log.lines(), ["two"]);
        assert_eq!(log.tail.turns, Turns { rotated: 0, truncated: 1, halves: 1 });
    }
}
