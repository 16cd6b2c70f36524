//! Digests by which files and lists are known again.

use sha2::Digest;

/// SHA-256, as people write it.
#[derive(Default)]
pub struct Sha256(sha2::Sha256);

impl Sha256 {
    /// The digest of these bytes, one behind the other: 64 hexadecimal digits.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut hash = Sha256::default();
        parts.into_iter().for_each(|part| hash.add(part));
        hash.hex()
    }

    /// Adds the next bytes.
    pub fn add(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// The digest of all that was added: 64 hexadecimal digits.
    pub fn hex(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_one_text() {
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Sha256::of([&b"abc"[..]]), abc);
        assert_eq!(Sha256::of([&b"a"[..], b"", b"bc"]), abc);
    }
}
