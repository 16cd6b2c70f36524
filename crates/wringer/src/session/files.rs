//! Reading files whose size nobody has promised.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// All bytes of a file, in a piece of memory of its size.
///
/// # Errors
/// As of reading, also where it has more than `limit` bytes, or is a device, which has no end.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, more) = (File::open(path)?, || io::Error::other(format!("it has more than {limit} bytes")));
    let facts = file.metadata()?;
    if facts.file_type().is_char_device() {
        return Err(io::Error::other("it is a device; give a file"));
    }
    if facts.len() > limit {
        return Err(more());
    }
    let mut bytes = Vec::with_capacity(facts.len() as usize + 1);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(more()) } else { Ok(bytes) }
}

/// As much of an ini file as tells whether it is too long. Of a file with rows that one names it is only asked whether there
/// are any.
///
/// # Errors
/// As of reading.
pub fn read_ini(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(doors::wrktcp::ini::FILE_LIMIT as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_end_are_refused() {
        let error = read(Path::new("/dev/zero"), 1000).unwrap_err().to_string();
        assert_eq!(error, "it is a device; give a file");
        assert_eq!(read_ini(Path::new("/dev/zero")).unwrap().len(), (16 << 20) + 1);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"12345").unwrap();
        let bytes = read(file.path(), 5).unwrap();
        assert_eq!((&bytes[..], bytes.capacity() < 16), (&b"12345"[..], true));
        assert_eq!(read(file.path(), 4).unwrap_err().to_string(), "it has more than 4 bytes");
    }
}
