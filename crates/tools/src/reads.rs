//! Reading the files that a command line names.

use plan::Body;
use session::files::{self, Meant};
use std::io;
use std::path::Path;

/// Gives what stands in files. A function that reads one whole is such a thing.
pub trait Reads {
    /// All bytes of a file.
    ///
    /// # Errors
    /// Those of reading it.
    fn bytes(&self, file: &Path) -> io::Result<Vec<u8>>;

    /// A file as the body of requests, byte for byte.
    ///
    /// # Errors
    /// Those of reading it.
    fn body(&self, file: &Path) -> io::Result<Body> {
        self.bytes(file).map(Body::from)
    }

    /// A file of text as the body of requests, without blanks at either end.
    ///
    /// # Errors
    /// Those of reading it.
    fn trimmed(&self, file: &Path) -> io::Result<Body> {
        self.bytes(file).map(|bytes| Body::from(bytes.trim_ascii().to_vec()))
    }
}

impl<F: Fn(&Path) -> io::Result<Vec<u8>>> Reads for F {
    fn bytes(&self, file: &Path) -> io::Result<Vec<u8>> {
        self(file)
    }
}

/// The files of this machine. Long bodies are only named: whoever sends them reads them in pieces.
pub struct Disk;

impl Reads for Disk {
    fn bytes(&self, file: &Path) -> io::Result<Vec<u8>> {
        files::read(file, files::LONGEST)
    }

    fn body(&self, file: &Path) -> io::Result<Body> {
        files::body(file, Meant::Bytes)
    }

    fn trimmed(&self, file: &Path) -> io::Result<Body> {
        match files::ends(file)? {
            Some(ends) if ends.iter().any(u8::is_ascii_whitespace) => {
                self.bytes(file).map(|bytes| Body::from(bytes.trim_ascii().to_vec()))
            }
            _ => self.body(file),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_bodies_are_only_named() {
        let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock"));
        let bytes = Disk.bytes(file).expect("it is there");
        let named = Disk.body(file).expect("it is there");
        assert_eq!((named.length(), named.is_filed()), (Some(bytes.len() as u64), true));
        let whole = |file: &Path| Disk.bytes(file);
        assert_eq!(whole.body(file).expect("it is there"), Body::from(bytes.clone()));
        let trimmed = Body::from(bytes.trim_ascii().to_vec());
        assert_ne!(trimmed.length(), Some(bytes.len() as u64), "it ends with a line feed");
        assert_eq!(Disk.trimmed(file).expect("it is there"), trimmed);
        assert_eq!(whole.trimmed(file).expect("it is there"), trimmed);
    }

    #[test]
    fn long_texts_without_blanks_at_their_ends_are_only_named() {
        let folder = tempfile::tempdir().expect("there is room");
        let file = folder.path().join("body.txt");
        std::fs::write(&file, "x".repeat(Body::TOLD + 1)).expect("there is room");
        assert!(Disk.trimmed(&file).expect("it is there").is_filed());
    }
}
