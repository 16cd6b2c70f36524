//! The content of an answer, as far as checks ask for it, and what they say where it is not as it should be.

use super::find::{AnswerView, Finder};
use super::oracle::Finding;
use super::test::{Test, hex, range, short};
use measure::Fault;
use plan::answer::{By, Check, Part};
use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::io::{self, Write};

/// Bytes of a body that are gathered at most, decoded where that is asked for.
pub(super) const MOST: usize = 8 * 1024 * 1024;

/// As much of a body as the checks ask for.
#[derive(Default)]
pub(super) struct ContentSeen {
    pub length: u64,
    pub digest: Option<Sha256>,
    /// The beginning, where that is gathered.
    pub text: Vec<u8>,
    gathers: bool,
}

impl ContentSeen {
    /// Begins anew. `gathers`: its bytes are kept; `digests`: its digest is made.
    pub fn begin(&mut self, gathers: bool, digests: bool) {
        self.text.clear();
        (self.length, self.gathers) = (0, gathers);
        self.digest = digests.then(Sha256::default);
    }

    /// True if all of it is kept.
    pub fn is_whole(&self) -> bool {
        self.text.len() as u64 == self.length
    }
}

impl Write for ContentSeen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.length += bytes.len() as u64;
        if let Some(digest) = &mut self.digest {
            digest.update(bytes);
        }
        if self.gathers {
            let room = bytes.len().min(MOST - self.text.len());
            self.text.extend_from_slice(&bytes[..room]);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A check of anything but a header field.
pub(super) struct Content {
    place: ContentPlace,
    at: Finder,
    test: Test,
}

/// The part that a check looks at, for its messages.
enum ContentPlace {
    Body,
    Json(String),
    Other(String),
}

impl Content {
    /// Gets ready.
    pub fn new(check: &Check) -> Content {
        let place = match (&check.at.by, check.at.part) {
            (By::All, Part::Body) => ContentPlace::Body,
            (By::Json(path), Part::Body) => ContentPlace::Json(path.clone()),
            (by, part) => ContentPlace::Other(format!("{by:?} of the {part:?}").to_lowercase()),
        };
        Content { place, at: Finder::new(&check.at), test: Test::new(&check.must) }
    }

    /// True if a length or a digest of the body will do, so that nothing need be kept of it.
    pub fn is_figure(&self) -> bool {
        matches!((&self.place, &self.test), (ContentPlace::Body, Test::HaveLength(..) | Test::HaveSha256(_)))
    }

    /// True if the body is held to a digest.
    pub fn is_digest(&self) -> bool {
        self.is_figure() && matches!(self.test, Test::HaveSha256(_))
    }

    /// True if it looks at the body.
    pub fn reads_body(&self) -> bool {
        self.at.reads_body()
    }

    /// The fault that is found, with how.
    pub fn wrong(&self, answer: &AnswerView<'_>, body: &ContentSeen) -> Option<Finding> {
        let text = &body.text;
        let how = match (&self.place, &self.test) {
            (ContentPlace::Body, Test::HaveLength(min, max)) => return wrong_length(body.length, *min, *max),
            (ContentPlace::Body, Test::HaveSha256(wanted)) => {
                return wrong_digest(body.digest.clone(), wanted);
            }
            _ if self.reads_body() && !body.is_whole() => {
                let why = format!("it is longer than {} MiB, so what it says was not checked", MOST >> 20);
                return Some((Fault::TooLarge, why));
            }
            (ContentPlace::Body, test) if test.takes(Some(text)) => return None,
            (ContentPlace::Body, test) => test.text(),
            (ContentPlace::Json(path), test) => wrong_json(&self.at, answer, path, test)?,
            (ContentPlace::Other(place), test) => wrong_value(self.at.find(answer).as_deref(), place, test)?,
        };
        Some((Fault::WrongContent, format!("the body {how}; it begins '{}'", short(text))))
    }
}

fn wrong_length(length: u64, min: u64, max: u64) -> Option<Finding> {
    let wrong = !(min..=max).contains(&length);
    wrong.then(|| (Fault::WrongLength, format!("the body has {length} bytes, not {}", range(min, max))))
}

fn wrong_digest(digest: Option<Sha256>, wanted: &str) -> Option<Finding> {
    let digest = hex(&digest.unwrap_or_default().finalize());
    (digest != wanted).then(|| (Fault::WrongBytes, format!("the body's SHA-256 digest is {digest}")))
}

/// The difference from the JSON that is wanted.
fn wrong_json(at: &Finder, answer: &AnswerView<'_>, path: &str, test: &Test) -> Option<String> {
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(answer.body) {
        return Some(format!("is not JSON ({error})"));
    }
    let found = at.find(answer).map(without_blanks);
    wrong_value(found.as_deref(), path, test)
}

fn wrong_value(value: Option<&[u8]>, place: &str, test: &Test) -> Option<String> {
    match value {
        value if test.takes(value) => None,
        None => Some(format!("has nothing at {place}")),
        Some(value) => Some(format!("has '{}' at {place}, which {}", short(value), test.text())),
    }
}

/// An object or an array as JSON is written without blanks.
fn without_blanks(value: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if !value.starts_with(b"{") && !value.starts_with(b"[") {
        return value;
    }
    let mut compact = Vec::with_capacity(value.len());
    let mut quoted = false;
    let mut escaped = false;
    for byte in value.iter() {
        if quoted || !byte.is_ascii_whitespace() {
            compact.push(*byte);
        }
        quoted ^= *byte == b'"' && !escaped;
        escaped = quoted && *byte == b'\\' && !escaped;
    }
    Cow::Owned(compact)
}
