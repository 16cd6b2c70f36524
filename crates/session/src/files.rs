//! Files: reading those whose size nobody has promised, and opening those that a run writes.

use crate::problem::Problem;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Read};
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
