//! The files that a command line names, as whoever may read files has read them.

use plan::{Body, Request};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Contents by path; `-` is standard input.
#[derive(Debug, Clone, Default)]
pub struct Files {
    contents: HashMap<PathBuf, Body>,
    /// Of lists that are in a form of other programs.
    requests: HashMap<PathBuf, Vec<Request>>,
}

impl<const N: usize> From<[(PathBuf, Vec<u8>); N]> for Files {
    fn from(files: [(PathBuf, Vec<u8>); N]) -> Files {
        let contents = files.into_iter().map(|(file, bytes)| (file, Body::from(bytes))).collect();
        Files { contents, requests: HashMap::new() }
    }
}

impl Files {
    /// Adds what a file holds.
    pub fn add(&mut self, file: PathBuf, bytes: Vec<u8>) {
        self.contents.insert(file, bytes.into());
    }

    /// Adds a file that is the body of requests, or a part of it.
    pub fn add_body(&mut self, file: PathBuf, body: Body) {
        self.contents.insert(file, body);
    }

    /// Adds the requests of a list that is in a form of another program.
    pub fn add_requests(&mut self, file: PathBuf, requests: Vec<Request>) {
        self.requests.insert(file, requests);
    }

    /// The requests of such a list.
    pub(super) fn requests(&self, file: &Path) -> Option<&[Request]> {
        self.requests.get(file).map(Vec::as_slice)
    }

    /// True if a file was read.
    pub fn has(&self, file: &Path) -> bool {
        self.contents.contains_key(file)
    }

    /// Contents of a file as a body that shares its bytes.
    pub(super) fn body(&self, file: &Path) -> Result<&Body, String> {
        self.contents.get(file).ok_or_else(|| format!("{} was not read; check its name", file.display()))
    }

    /// Returns the contents of a file, which must be text. `otherwise`: what to try where it is not.
    pub(super) fn text(&self, file: &Path, otherwise: &str) -> Result<&str, String> {
        let body = self.body(file)?;
        if body.is_filed() {
            // Whoever named it has seen that it is text.
            return Ok("");
        }
        std::str::from_utf8(body).map_err(|_| format!("{} is not UTF-8 text: {otherwise}", file.display()))
    }
}
