//! The body of a request: bytes, which stand in a plan's text as they are where they are text, and in base64 otherwise; a secret, such as
//! the form of a login; the content of files, which are named; or, in the plan of a result, a long one by its length and digest.

use crate::data::filed::{BodyFile, BodyPart, Filed};
use crate::data::secret::Secret;
use crate::digest::Sha256;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The body of a request.
#[derive(Clone, PartialEq, Eq)]
pub struct Body(DataContent);

#[derive(Debug, Clone, PartialEq, Eq)]
enum DataContent {
    /// Shared by all that have it: it may be large.
    Bytes(Arc<Vec<u8>>),
    Secret(Secret),
    /// All or some of it stands in files.
    Filed(Box<Filed>),
    /// It stands elsewhere.
    Named(NamedBody),
}

impl Default for Body {
    fn default() -> Body {
        Body(DataContent::Bytes(Arc::default()))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            DataContent::Bytes(bytes) => String::from_utf8_lossy(bytes).fmt(to),
            DataContent::Secret(secret) => secret.fmt(to),
            DataContent::Filed(filed) => filed.parts.fmt(to),
            DataContent::Named(named) => named.fmt(to),
        }
    }
}

impl Deref for Body {
    type Target = [u8];

    /// As it is sent; of what stands in files, what is held ([`BodyFile::hold`]).
    fn deref(&self) -> &[u8] {
        match &self.0 {
            DataContent::Bytes(bytes) => bytes,
            DataContent::Secret(secret) => secret.reveal().as_bytes(),
            DataContent::Filed(filed) => filed.bytes(),
            // A plan with it is never run.
            DataContent::Named(_) => &[],
        }
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Body {
        Body(DataContent::Bytes(Arc::new(bytes)))
    }
}

impl From<String> for Body {
    fn from(text: String) -> Body {
        text.into_bytes().into()
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Body {
        text.to_owned().into()
    }
}

impl From<Secret> for Body {
    fn from(secret: Secret) -> Body {
        Body(DataContent::Secret(secret))
    }
}

impl From<BodyFile> for Body {
    fn from(file: BodyFile) -> Body {
        Body::of_parts(vec![BodyPart::File(file)])
    }
}

/// A piece of a body.
#[derive(Debug, Clone, Copy)]
pub enum BodyPiece<'a> {
    /// Bytes in which braces may be placeholders.
    Template(&'a Arc<Vec<u8>>),
    /// Text of a secret; `true`: it was typed, and braces may be placeholders.
    Secret(&'a str, bool),
    /// The content of a file, as it is.
    File(&'a BodyFile),
}

impl Body {
    /// Bytes up to which a plan holds what stands in a file, and a result tells a body itself.
    pub const TOLD: usize = 64 * 1024;

    /// The parts one behind the other. Those that stand in no file become one.
    pub fn of_parts(parts: Vec<BodyPart>) -> Body {
        let in_plan = |part: &BodyPart| match part {
            BodyPart::Bytes(bytes) => Some(bytes.clone()),
            BodyPart::File(_) => None,
        };
        match parts.iter().map(in_plan).collect::<Option<Vec<_>>>() {
            Some(all) => all.iter().flat_map(|bytes| bytes.iter().copied()).collect::<Vec<u8>>().into(),
            None => Body(DataContent::Filed(Box::new(Filed::of(parts)))),
        }
    }

    /// Pieces that it is made of; none for one that stands elsewhere.
    pub fn pieces(&self) -> Vec<BodyPiece<'_>> {
        match &self.0 {
            DataContent::Bytes(bytes) => vec![BodyPiece::Template(bytes)],
            DataContent::Secret(secret) => vec![BodyPiece::Secret(secret.reveal(), secret.is_typed())],
            DataContent::Filed(filed) => filed
                .parts
                .iter()
                .map(|part| match part {
                    BodyPart::Bytes(bytes) => BodyPiece::Template(bytes),
                    BodyPart::File(file) => BodyPiece::File(file),
                })
                .collect(),
            DataContent::Named(_) => Vec::new(),
        }
    }

    /// The files it stands in.
    pub fn files(&self) -> impl Iterator<Item = &BodyFile> {
        let parts = if let DataContent::Filed(filed) = &self.0 { filed.parts.as_slice() } else { &[] };
        parts.iter().filter_map(|part| if let BodyPart::File(file) = part { Some(file) } else { None })
    }

    /// As [`files`](Body::files), to change what a plan says of them.
    pub(crate) fn files_mut(&mut self) -> impl Iterator<Item = &mut BodyFile> {
        let parts =
            if let DataContent::Filed(filed) = &mut self.0 { filed.parts.as_mut_slice() } else { &mut [] };
        parts.iter_mut().filter_map(|part| if let BodyPart::File(file) = part { Some(file) } else { None })
    }

    /// True if all or some of it stands in files.
    pub fn is_filed(&self) -> bool {
        self.files().next().is_some()
    }

    /// Bytes that it takes in a plan's text.
    pub(crate) fn told_bytes(&self) -> usize {
        let of_piece = |piece| match piece {
            BodyPiece::Template(bytes) => bytes.len(),
            BodyPiece::Secret(..) | BodyPiece::File(_) => 0,
        };
        self.pieces().into_iter().map(of_piece).sum()
    }

    /// Tells it by its length and digest, where it is bytes.
    pub(crate) fn name(&mut self) {
        if let DataContent::Bytes(bytes) = &self.0
            && !bytes.is_empty()
        {
            *self = Body::named_by(bytes);
        }
    }

    fn named_by(bytes: &[u8]) -> Body {
        Body(DataContent::Named(NamedBody { bytes: bytes.len() as u64, sha256: Sha256::of([bytes]) }))
    }

    /// This body by its length and digest, where it is long.
    pub(crate) fn told(&self) -> Option<Body> {
        match &self.0 {
            DataContent::Bytes(bytes) if bytes.len() > Body::TOLD => Some(Body::named_by(bytes)),
            DataContent::Bytes(_)
            | DataContent::Secret(_)
            | DataContent::Filed(_)
            | DataContent::Named(_) => None,
        }
    }

    /// A body that does not stand in this plan.
    pub(crate) fn named(&self) -> Option<&NamedBody> {
        match &self.0 {
            DataContent::Named(named) => Some(named),
            DataContent::Bytes(_) | DataContent::Secret(_) | DataContent::Filed(_) => None,
        }
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, DataContent::Bytes(bytes) if bytes.is_empty())
    }

    /// Its length as it stands in the plan; `None` where a file has any.
    pub fn length(&self) -> Option<u64> {
        match &self.0 {
            DataContent::Bytes(bytes) => Some(bytes.len() as u64),
            DataContent::Secret(secret) => Some(secret.reveal().len() as u64),
            DataContent::Filed(filed) => filed.parts.iter().map(BodyPart::length).sum(),
            DataContent::Named(named) => Some(named.bytes),
        }
    }

    /// The texts that may hold placeholders: what was typed. None of a secret from elsewhere and of files, of which braces are
    /// braces.
    pub fn templates(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces().into_iter().filter_map(|piece| match piece {
            BodyPiece::Template(bytes) => Some(bytes.as_slice()),
            BodyPiece::Secret(text, true) => Some(text.as_bytes()),
            BodyPiece::Secret(_, false) | BodyPiece::File(_) => None,
        })
    }

    /// True if it is a secret.
    pub fn is_secret(&self) -> bool {
        self.secret().is_some()
    }

    pub(crate) fn secret(&self) -> Option<&Secret> {
        match &self.0 {
            DataContent::Bytes(_) | DataContent::Filed(_) | DataContent::Named(_) => None,
            DataContent::Secret(secret) => Some(secret),
        }
    }

    pub(crate) fn secret_mut(&mut self) -> Option<&mut Secret> {
        match &mut self.0 {
            DataContent::Bytes(_) | DataContent::Filed(_) | DataContent::Named(_) => None,
            DataContent::Secret(secret) => Some(secret),
        }
    }
}

/// A body that a plan does not hold: what a result says of one that is long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedBody {
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of it.
    pub sha256: String,
}

/// The forms in a plan's text.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(
    untagged,
    expecting = "text, { base64 = \"…\" }, { file = \"…\" }, { parts = […] } or { secret = \"env:NAME\" }; in a result's plan \
                 { bytes = N, sha256 = \"…\" }"
)]
enum DataForm<'a> {
    Text(std::borrow::Cow<'a, str>),
    Binary(Binary),
    Secret(Hidden),
    File(BodyFile),
    Parts(PartList),
    Named(NamedBody),
}

/// A body of several parts.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct PartList {
    /// One behind the other: text, bytes, or files.
    parts: Vec<BodyPart>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Binary {
    pub base64: String,
}

impl Binary {
    pub fn bytes(self) -> Result<Vec<u8>, &'static str> {
        STANDARD.decode(self.base64).map_err(|_| "base64 is broken")
    }
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Hidden {
    secret: String,
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let form = match &self.0 {
            DataContent::Secret(secret) => DataForm::Secret(Hidden { secret: secret.to_string() }),
            DataContent::Named(named) => DataForm::Named(named.clone()),
            DataContent::Filed(filed) => match filed.parts.as_slice() {
                [BodyPart::File(file)] => DataForm::File(file.clone()),
                parts => DataForm::Parts(PartList { parts: parts.to_vec() }),
            },
            DataContent::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => DataForm::Text(text.into()),
                Err(_) => DataForm::Binary(Binary { base64: STANDARD.encode(bytes.as_slice()) }),
            },
        };
        form.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Body, D::Error> {
        match with_files(from)? {
            body if body.is_filed() => {
                Err(serde::de::Error::custom("the content of a file can be the body of a request alone"))
            }
            body => Ok(body),
        }
    }
}

/// Reads the body of a request, which alone may stand in files.
pub(crate) fn with_files<'de, D: Deserializer<'de>>(from: D) -> Result<Body, D::Error> {
    let wrong = |why: &str| serde::de::Error::custom(format!("body: {why}"));
    match DataForm::deserialize(from)? {
        DataForm::Text(text) => Ok(Body::from(text.into_owned())),
        DataForm::Binary(binary) => binary.bytes().map(Body::from).map_err(wrong),
        DataForm::File(file) => Ok(file.into()),
        DataForm::Parts(PartList { parts }) => Ok(Body::of_parts(parts)),
        DataForm::Named(named) => Ok(Body(DataContent::Named(named))),
        DataForm::Secret(Hidden { secret }) => Secret::read(&secret).map(Body::from).map_err(wrong),
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Body {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        DataForm::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        #[serde(deserialize_with = "with_files")]
        body: Body,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is never read")]
    struct Other {
        body: Body,
    }

    #[test]
    fn secret_bodies_are_named() {
        let holder = Holder { body: Secret::environment("FORM").into() };
        let text = toml::to_string(&holder).unwrap();
        assert_eq!(toml::from_str::<Holder>(&text).unwrap(), holder, "{text}");
        let typed = toml::to_string(&Holder { body: Secret::typed("a=geheim").into() }).unwrap();
        assert!(!typed.contains("geheim"), "{typed}");
        assert!(toml::from_str::<Holder>(&typed).unwrap_err().to_string().contains("env:NAME"));
    }

    #[test]
    fn bodies_in_files_are_named() {
        let file = BodyFile::measured("big.bin", 7, "ab".repeat(32));
        let parts = vec![b"--x {{id}}".to_vec().into(), BodyPart::File(file.clone()), vec![0xff].into()];
        for (body, said) in [(Body::from(file.clone()), "file = "), (Body::of_parts(parts), "parts = ")] {
            let holder = Holder { body };
            let text = toml::to_string(&holder).unwrap();
            assert!(text.contains(said) || text.contains("[body]"), "{text}");
            assert_eq!(toml::from_str::<Holder>(&text).unwrap(), holder, "{text}");
            assert_eq!(holder.body.files().collect::<Vec<_>>(), [&file]);
            assert!(!holder.body.is_empty() && holder.body.told().is_none());
        }
        let refused = toml::from_str::<Other>("body = { file = 'b' }").unwrap_err().to_string();
        assert!(refused.contains("body of a request alone"), "{refused}");
        let short = toml::from_str::<Holder>("body = { file = 'b' }").unwrap();
        assert_eq!(short.body.files().collect::<Vec<_>>(), [&BodyFile::named("b")]);
        assert_eq!(Body::of_parts(vec![b"a".to_vec().into(), b"b".to_vec().into()]), Body::from("ab"));
    }

    #[test]
    fn files_that_are_held_are_one_piece_of_memory_for_all() {
        let body = Body::of_parts(vec![
            b"<".to_vec().into(),
            BodyPart::File(BodyFile::named("f")),
            b">".to_vec().into(),
        ]);
        let copy = body.clone();
        for file in body.files() {
            assert_eq!(file.hold(|path| Ok::<_, ()>(path.into())), Ok(&b"f"[..]));
            assert_eq!(file.hold(|_| Err(())), Ok(&b"f"[..]), "it is read once");
        }
        assert_eq!((&*body, &*copy), (&b"<f>"[..], &b"<f>"[..]));
    }

    proptest! {
        #[test]
        fn any_bytes_read_back_from_a_plans_text(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let holder = Holder { body: Body::from(bytes) };
            let text = toml::to_string(&holder).unwrap();
            prop_assert_eq!(toml::from_str::<Holder>(&text).unwrap(), holder, "{}", text);
        }
    }
}
