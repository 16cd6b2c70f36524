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
        assert_eq!(whole.body(file).expect("it is there"), Body::from(bytes));
    }
}
