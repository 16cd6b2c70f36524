//! The body of a request: bytes, which stand in a plan's text as they are where they are text, and in base64 otherwise; a secret, such as
//! the form of a login; or, in the plan of a result, a long one by its length and digest.

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
pub struct Body(Content);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    /// Shared by all that have it: it may be large.
    Bytes(Arc<Vec<u8>>),
    Secret(Secret),
    /// It stands elsewhere.
    Named(NamedBody),
}

impl Default for Body {
    fn default() -> Body {
        Body(Content::Bytes(Arc::default()))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Content::Bytes(bytes) => String::from_utf8_lossy(bytes).fmt(to),
            Content::Secret(secret) => secret.fmt(to),
            Content::Named(named) => named.fmt(to),
        }
    }
}

impl Deref for Body {
    type Target = [u8];

    /// As it is sent.
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Content::Bytes(bytes) => bytes,
            Content::Secret(secret) => secret.reveal().as_bytes(),
            // A plan with it is never run.
            Content::Named(_) => &[],
        }
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Body {
        Body(Content::Bytes(Arc::new(bytes)))
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
        Body(Content::Secret(secret))
    }
}

impl Body {
    /// Bytes up to which a result tells a body itself.
    const TOLD: usize = 64 * 1024;

    /// This body by its length and digest, where it is long.
    pub(crate) fn told(&self) -> Option<Body> {
        match &self.0 {
            Content::Bytes(bytes) if bytes.len() > Body::TOLD => Some(Body(Content::Named(NamedBody {
                bytes: bytes.len() as u64,
                sha256: Sha256::of([bytes.as_slice()]),
            }))),
            Content::Bytes(_) | Content::Secret(_) | Content::Named(_) => None,
        }
    }

    /// A body that does not stand in this plan.
    pub(crate) fn named(&self) -> Option<&NamedBody> {
        match &self.0 {
            Content::Named(named) => Some(named),
            Content::Bytes(_) | Content::Secret(_) => None,
        }
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Content::Bytes(bytes) if bytes.is_empty())
    }

    /// The bytes that may hold placeholders: what was typed. `None` for a secret from elsewhere, of which braces are
    /// braces.
    pub fn template(&self) -> Option<&[u8]> {
        match &self.0 {
            Content::Secret(secret) if !secret.is_typed() => None,
            _ => Some(self),
        }
    }

    pub(crate) fn secret(&self) -> Option<&Secret> {
        match &self.0 {
            Content::Bytes(_) | Content::Named(_) => None,
            Content::Secret(secret) => Some(secret),
        }
    }

    pub(crate) fn secret_mut(&mut self) -> Option<&mut Secret> {
        match &mut self.0 {
            Content::Bytes(_) | Content::Named(_) => None,
            Content::Secret(secret) => Some(secret),
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
    expecting = "text, { base64 = \"…\" } or { secret = \"env:NAME\" }; in a result's plan { bytes = N, sha256 = \"…\" }"
)]
enum Form<'a> {
    Text(std::borrow::Cow<'a, str>),
    Binary(Binary),
    Secret(Hidden),
    Named(NamedBody),
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Binary {
    base64: String,
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
            Content::Secret(secret) => Form::Secret(Hidden { secret: secret.to_string() }),
            Content::Named(named) => Form::Named(named.clone()),
            Content::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Form::Text(text.into()),
                Err(_) => Form::Binary(Binary { base64: STANDARD.encode(bytes.as_slice()) }),
            },
        };
        form.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Body, D::Error> {
        let wrong = |why: &str| serde::de::Error::custom(format!("body: {why}"));
        match Form::deserialize(from)? {
            Form::Text(text) => Ok(Body::from(text.into_owned())),
            Form::Binary(Binary { base64 }) => {
                STANDARD.decode(base64).map(Body::from).map_err(|_| wrong("base64 is broken"))
            }
            Form::Named(named) => Ok(Body(Content::Named(named))),
            Form::Secret(Hidden { secret }) => Secret::read(&secret).map(Body::from).map_err(wrong),
        }
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Body {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Form::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
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

    proptest! {
        #[test]
        fn any_bytes_read_back_from_a_plans_text(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let holder = Holder { body: Body::from(bytes) };
            let text = toml::to_string(&holder).unwrap();
            prop_assert_eq!(toml::from_str::<Holder>(&text).unwrap(), holder, "{}", text);
        }
    }
}
