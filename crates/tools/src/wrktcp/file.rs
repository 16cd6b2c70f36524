//! wrktcp's files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// As much of an ini file as tells whether it is too long. Of a file with rows that one names it is only asked whether there
/// are any.
///
/// # Errors
/// As of reading.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(super::ini::FILE_LIMIT as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_end_is_read_until_it_is_too_long() {
        assert_eq!(read(Path::new("/dev/zero")).unwrap().len(), (16 << 20) + 1);
    }
}
