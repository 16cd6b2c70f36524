//! Files: reading those whose size nobody has promised, and opening those that a run writes.

use crate::problem::Problem;
use plan::{Body, BodyFile, FileMeasure, template};
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Bytes of a file at most. Nothing that is read whole needs more.
pub const LONGEST: u64 = 1 << 30;
/// Bytes of a secret at most.
pub const LONGEST_SECRET: u64 = 1 << 20;

/// The device number of `/dev/null` (Linux: major 1, minor 3).
const NULL: u64 = 0x103;

/// All bytes of a file, in a piece of memory of its size.
///
/// # Errors
/// As of reading, also where it has more than `limit` bytes, or is a device, of which only `/dev/null` and terminals have an end.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let facts = file.metadata()?;
    if facts.file_type().is_char_device() && facts.rdev() != NULL && !file.is_terminal() {
        return Err(io::Error::other("it is a device; give a file"));
    }
    if facts.len() > limit {
        return Err(too_long(limit));
    }
    read_from(file, facts.len(), limit)
}

/// All bytes of a stream, such as standard input; a guess of their count spares memory.
///
/// # Errors
/// As of reading, also where it has more than `limit` bytes.
pub fn read_from(stream: impl Read, guess: u64, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(guess as usize + 1);
    stream.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_long(limit)) } else { Ok(bytes) }
}

/// A file that is text.
///
/// # Errors
/// As of [`read`], and where it is none.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?).map_err(|_| io::Error::other("it is no UTF-8 text"))
}

/// How the bytes of a file are meant that is the body of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// As they are.
    Bytes,
    /// As text, in which there may be placeholders.
    Text,
}

/// Bytes of a file that are read at a time.
const PIECE: usize = 1 << 20;

/// A file as the body of a request: short ones, and texts with placeholders, by their bytes; others by name, length and digest, for
/// which they are read once in pieces.
///
/// # Errors
/// As of [`read`]; files that are only named may be of any length.
pub fn body(path: &Path, meant: Meant) -> io::Result<Body> {
    let whole = || Ok(Body::from(read(path, LONGEST)?));
    let mut file = File::open(path)?;
    let facts = file.metadata()?;
    let Some(name) = path.to_str().filter(|_| facts.is_file() && facts.len() > Body::TOLD as u64) else {
        return whole();
    };
    let mut text = TextPieces::default();
    let measured = in_pieces(&mut file, name, |piece| meant == Meant::Bytes || text.goes_on(piece))?;
    match measured.filter(|_| meant == Meant::Bytes || text.is_whole()) {
        Some(measured) => Ok(measured.into()),
        None => whole(),
    }
}

/// The first and the last byte of a file; `None` where it has none, or is no regular file.
///
/// # Errors
/// Those of reading it.
pub fn ends(path: &Path) -> io::Result<Option<[u8; 2]>> {
    let mut file = File::open(path)?;
    let facts = file.metadata()?;
    if !facts.is_file() || facts.len() == 0 {
        return Ok(None);
    }
    let mut ends = [0; 2];
    let [first, last] = &mut ends;
    file.read_exact(std::slice::from_mut(first))?;
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(std::slice::from_mut(last))?;
    Ok(Some(ends))
}

/// Length and digest of a file.
///
/// # Errors
/// Those of reading it.
pub fn measured(path: &Path) -> io::Result<BodyFile> {
    let name = path.to_string_lossy();
    let measured = in_pieces(&mut File::open(path)?, &name, |_| true)?;
    Ok(measured.unwrap_or_else(|| BodyFile::named(&name)))
}

/// Reads a file in pieces, as long as `goes_on`. Returns its length and digest; `None` where it did not go on.
fn in_pieces(
    file: &mut File,
    name: &str,
    mut goes_on: impl FnMut(&[u8]) -> bool,
) -> io::Result<Option<BodyFile>> {
    let mut measured = FileMeasure::default();
    let mut piece = vec![0; PIECE];
    loop {
        let count = file.read(&mut piece)?;
        if count == 0 {
            return Ok(Some(measured.file(name)));
        }
        if !goes_on(&piece[..count]) {
            return Ok(None);
        }
        measured.add(&piece[..count]);
    }
}

/// Text in pieces: UTF-8 in which no placeholder begins.
#[derive(Default)]
struct TextPieces {
    /// The end of what came: a character that is not whole yet, or a brace.
    rest: Vec<u8>,
}

impl TextPieces {
    /// Takes the next piece. False where it is something else.
    fn goes_on(&mut self, piece: &[u8]) -> bool {
        self.rest.extend_from_slice(piece);
        if template::is_template(&self.rest) {
            return false;
        }
        let kept = match std::str::from_utf8(&self.rest) {
            Ok(text) => usize::from(text.ends_with('{')),
            Err(error) if error.error_len().is_none() => self.rest.len() - error.valid_up_to(),
            Err(_) => return false,
        };
        self.rest.drain(..self.rest.len() - kept);
        true
    }

    /// True where it ends with a whole character.
    fn is_whole(&self) -> bool {
        std::str::from_utf8(&self.rest).is_ok()
    }
}

fn too_long(limit: u64) -> io::Error {
    io::Error::other(format!("it has more than {limit} bytes"))
}

/// Opens a file for a result, empty; one that is new can be read by its owner alone.
pub fn create(file: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(OWNER_ALONE).open(file)
}

/// Permissions of files that may hold what others sent or were sent.
pub const OWNER_ALONE: u32 = 0o600;

/// A file cannot be written.
pub fn cannot_keep(what: &str, file: &Path, error: &io::Error) -> Problem {
    Problem::impossible(format!("{what} cannot be written to {}: {error}", file.display()))
}

/// Checks that a file can be written.
pub fn writable(file: &Path) -> io::Result<()> {
    match std::fs::metadata(file) {
        Ok(about) if about.is_file() || about.is_dir() => {
            OpenOptions::new().append(true).open(file).map(drop)
        }
        Ok(_) => Ok(()),
        Err(_) => match OpenOptions::new().write(true).create_new(true).open(file) {
            // It was not there a moment ago, so it is ours.
            Ok(_) => std::fs::remove_file(file),
            // A link that leads to no file yet.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_named_and_texts_with_placeholders_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let of = |bytes: &[u8], meant| {
            std::fs::write(file.path(), bytes).unwrap();
            body(file.path(), meant).unwrap()
        };
        let long = vec![b'a'; Body::TOLD + 1];
        assert_eq!(&*of(&long[1..], Meant::Bytes), &long[1..]);
        let named = of(&long, Meant::Text);
        let sha256 = plan::digest::Sha256::of([&long[..]]);
        let facts: Vec<_> = named.files().map(|file| (file.bytes, file.sha256.clone())).collect();
        assert_eq!(facts, [(Some(long.len() as u64), Some(sha256))]);
        // A character and a pair of braces on the edge between two pieces.
        for (end, is_named) in [("é", true), ("{ {", true), ("{{", false)] {
            let mut text = vec![b'a'; PIECE - 1];
            text.extend_from_slice(end.as_bytes());
            assert_eq!(of(&text, Meant::Text).is_filed(), is_named, "{end}");
            assert!(of(&text, Meant::Bytes).is_filed());
            text.pop();
            assert_eq!(of(&text, Meant::Text).is_filed(), end != "é", "{end}");
        }
    }

    #[test]
    fn files_without_end_are_refused() {
        let error = read(Path::new("/dev/zero"), 1000).unwrap_err().to_string();
        assert_eq!(error, "it is a device; give a file");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"12345").unwrap();
        let bytes = read(file.path(), 5).unwrap();
        assert_eq!((&bytes[..], bytes.capacity() < 16), (&b"12345"[..], true));
        assert_eq!(read(file.path(), 4).unwrap_err().to_string(), "it has more than 4 bytes");
        assert_eq!(read(Path::new("/dev/null"), 4).unwrap(), b"");
        assert_eq!(read_from(io::repeat(0), 0, 4).unwrap_err().to_string(), "it has more than 4 bytes");
        std::fs::write(file.path(), b"\xff").unwrap();
        assert_eq!(read_text(file.path(), 5).unwrap_err().to_string(), "it is no UTF-8 text");
    }
}
