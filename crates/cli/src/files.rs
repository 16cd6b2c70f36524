//! The files that a command line names, as whoever may read files has read them.

use plan::Body;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Contents by path; `-` is standard input.
#[derive(Debug, Clone, Default)]
pub struct Files(HashMap<PathBuf, Body>);

impl<const N: usize> From<[(PathBuf, Vec<u8>); N]> for Files {
    fn from(files: [(PathBuf, Vec<u8>); N]) -> Files {
        Files(files.into_iter().map(|(file, bytes)| (file, Body::from(bytes))).collect())
    }
}

impl Files {
    /// Adds what a file holds.
    pub fn add(&mut self, file: PathBuf, bytes: Vec<u8>) {
        self.0.insert(file, bytes.into());
    }

    /// True if a file was read.
    pub fn has(&self, file: &Path) -> bool {
        self.0.contains_key(file)
    }

    pub(super) fn bytes(&self, file: &Path) -> Result<&[u8], String> {
        self.body(file).map(|body| &**body)
    }

    /// Contents of a file as a body that shares its bytes.
    pub(super) fn body(&self, file: &Path) -> Result<&Body, String> {
        self.0.get(file).ok_or_else(|| format!("{} was not read; check its name", file.display()))
    }

    /// Returns the contents of a file, which must be text. `otherwise`: what to try where it is not.
    pub(super) fn text(&self, file: &Path, otherwise: &str) -> Result<&str, String> {
        std::str::from_utf8(self.bytes(file)?)
            .map_err(|_| format!("{} is not UTF-8 text: {otherwise}", file.display()))
    }
}
