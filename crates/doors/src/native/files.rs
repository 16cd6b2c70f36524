//! The files that a command line names, as whoever may read files has read them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Contents by path; `-` is standard input.
#[derive(Debug, Clone, Default)]
pub struct Files(HashMap<PathBuf, Vec<u8>>);

impl<const N: usize> From<[(PathBuf, Vec<u8>); N]> for Files {
    fn from(files: [(PathBuf, Vec<u8>); N]) -> Files {
        Files(files.into())
    }
}

impl Files {
    /// Adds what a file holds.
    pub fn add(&mut self, file: PathBuf, bytes: Vec<u8>) {
        self.0.insert(file, bytes);
    }

    /// True if a file was read.
    pub fn has(&self, file: &Path) -> bool {
        self.0.contains_key(file)
    }

    pub(super) fn bytes(&self, file: &Path) -> Result<&[u8], String> {
        let found = self.0.get(file).map(Vec::as_slice);
        found.ok_or_else(|| format!("{} was not read; check its name", file.display()))
    }

    /// Returns the contents of a file, which must be text. `otherwise`: what to try where it is not.
    pub(super) fn text(&self, file: &Path, otherwise: &str) -> Result<&str, String> {
        std::str::from_utf8(self.bytes(file)?)
            .map_err(|_| format!("{} is not UTF-8 text: {otherwise}", file.display()))
    }
}
