//! Bodies whose bytes stand in files: a plan names the file, its size and its digest, and whoever sends the body reads it. A file of
//! many megabytes is then in no plan, no run file, and in no worker's memory.

use super::body::Binary;
use crate::digest::Sha256;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// A file that is a body, or a part of one. Two are equal where a plan says the same of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BodyFile {
    /// Its path; in a plan file, from the folder of that.
    pub file: String,
    /// Its length; `None`: whatever it has when the run begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// SHA-256 of it; `None`: whatever it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Its bytes, where somebody needs them all at once; one piece of memory for all who have this file.
    #[serde(skip)]
    held: Arc<OnceLock<Vec<u8>>>,
    /// True if size and digest have just been read from it.
    #[serde(skip)]
    measured: bool,
}

impl PartialEq for BodyFile {
    fn eq(&self, other: &BodyFile) -> bool {
        (&self.file, self.bytes, &self.sha256) == (&other.file, other.bytes, &other.sha256)
    }
}

impl Eq for BodyFile {}

impl BodyFile {
    /// A file as a plan names it.
    pub fn named(file: &str) -> BodyFile {
        BodyFile { file: file.to_owned(), bytes: None, sha256: None, held: Arc::default(), measured: false }
    }

    /// A file whose length and digest have just been read.
    pub fn measured(file: &str, bytes: u64, sha256: String) -> BodyFile {
        BodyFile { bytes: Some(bytes), sha256: Some(sha256), measured: true, ..BodyFile::named(file) }
    }

    /// True if size and digest have just been read from it, so that nobody needs to compare them.
    pub fn is_measured(&self) -> bool {
        self.measured
    }

    /// Its bytes, where they are held.
    pub fn held(&self) -> Option<&[u8]> {
        self.held.get().map(Vec::as_slice)
    }

    /// Its bytes, which are held from now on. `read`: reads the file of a path.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn hold<E>(&self, read: impl FnOnce(&str) -> Result<Vec<u8>, E>) -> Result<&[u8], E> {
        if self.held.get().is_none() {
            // Another thread may have been faster; its bytes are the same.
            let _ = self.held.set(read(&self.file)?);
        }
        Ok(self.held.get().map_or(&[], Vec::as_slice))
    }

    /// Another one of the same content, elsewhere.
    pub(crate) fn rename(&mut self, name: &dyn Fn(&str) -> String) {
        self.file = name(&self.file);
    }
}

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyPart {
    /// Bytes that stand in the plan; braces may be placeholders.
    Bytes(Arc<Vec<u8>>),
    /// The bytes of a file, as they are.
    File(BodyFile),
}

impl From<Vec<u8>> for BodyPart {
    fn from(bytes: Vec<u8>) -> BodyPart {
        BodyPart::Bytes(Arc::new(bytes))
    }
}

impl BodyPart {
    /// A part told by a text that is the same for the same part: its bytes, or the digest of its file.
    pub fn mark(&self) -> Cow<'_, [u8]> {
        match self {
            BodyPart::Bytes(bytes) => Cow::Borrowed(bytes),
            BodyPart::File(file) => Cow::Owned(format!("{:?} {:?}", file.bytes, file.sha256).into_bytes()),
        }
    }

    /// Its length, where that is known.
    pub fn length(&self) -> Option<u64> {
        match self {
            BodyPart::Bytes(bytes) => Some(bytes.len() as u64),
            BodyPart::File(file) => file.bytes.or_else(|| file.held().map(|held| held.len() as u64)),
        }
    }
}

/// The parts of a body of which at least one is a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filed {
    pub parts: Vec<BodyPart>,
    /// All of it in one piece, once somebody has asked for it.
    joined: OnceLock<Vec<u8>>,
}

impl PartialEq for Filed {
    fn eq(&self, other: &Filed) -> bool {
        self.parts == other.parts
    }
}

impl Eq for Filed {}

impl Filed {
    pub fn of(parts: Vec<BodyPart>) -> Filed {
        Filed { parts, joined: OnceLock::new() }
    }

    /// All of it as it is sent, where the files are held; those that are not stand for nothing.
    pub fn bytes(&self) -> &[u8] {
        fn of_part(part: &BodyPart) -> Option<&[u8]> {
            match part {
                BodyPart::Bytes(bytes) => Some(bytes),
                BodyPart::File(file) => file.held(),
            }
        }
        match self.parts.as_slice() {
            [BodyPart::File(file)] => file.held().unwrap_or(&[]),
            parts => {
                self.joined.get_or_init(|| parts.iter().filter_map(of_part).flatten().copied().collect())
            }
        }
    }
}

/// A part in a plan's text.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "text, { base64 = \"…\" } or { file = \"…\" }")]
enum BodyPartForm<'a> {
    Text(Cow<'a, str>),
    Binary(Binary),
    File(BodyFile),
}

impl Serialize for BodyPart {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let form = match self {
            BodyPart::File(file) => BodyPartForm::File(file.clone()),
            BodyPart::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => BodyPartForm::Text(text.into()),
                Err(_) => BodyPartForm::Binary(Binary { base64: STANDARD.encode(bytes.as_slice()) }),
            },
        };
        form.serialize(to)
    }
}

impl<'de> Deserialize<'de> for BodyPart {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<BodyPart, D::Error> {
        Ok(match BodyPartForm::deserialize(from)? {
            BodyPartForm::Text(text) => text.into_owned().into_bytes().into(),
            BodyPartForm::Binary(binary) => binary.bytes().map_err(serde::de::Error::custom)?.into(),
            BodyPartForm::File(file) => BodyPart::File(file),
        })
    }
}

#[cfg(test)]
impl schemars::JsonSchema for BodyPart {
    fn schema_name() -> Cow<'static, str> {
        "BodyPart".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        BodyPartForm::json_schema(generator)
    }
}

/// The length and digest of what is read in pieces.
#[derive(Default)]
pub struct FileMeasure {
    bytes: u64,
    sha256: Sha256,
}

impl FileMeasure {
    /// Adds the next piece.
    pub fn add(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        self.sha256.add(piece);
    }

    /// The file that was read.
    pub fn file(self, path: &str) -> BodyFile {
        BodyFile::measured(path, self.bytes, self.sha256.hex())
    }
}
