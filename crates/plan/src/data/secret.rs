//! Secrets: passwords, tokens, cookies and keys, which a plan names and never shows.
//!
//! A [`Secret`] knows its source. Its value comes with it where it was typed on a command line; otherwise whoever runs the
//! plan fills it in ([`crate::Inputs::fill`]). Whatever prints or serialises a secret shows its source, never its value.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

pub use crate::masked::{
    MASK, Masked, content_without_secrets, form_without_secrets, is_secret_field, is_secret_parameter,
    may_have_secrets, shown_line, without_secrets, without_userinfo,
};

/// Where a secret comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecretSource {
    /// An environment variable.
    Environment(String),
    /// A file, without the line end that it may end with.
    File(String),
    /// The command line, or a plan of somebody who wrote it in clear: its value is known already.
    Typed,
}

/// A secret: its source, and its value once that is known.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    source: SecretSource,
    value: Option<Arc<str>>,
}

impl Secret {
    /// A secret whose value is known.
    pub fn typed(value: impl Into<Arc<str>>) -> Secret {
        Secret { source: SecretSource::Typed, value: Some(value.into()) }
    }

    /// A secret that an environment variable holds.
    pub fn environment(name: &str) -> Secret {
        Secret { source: SecretSource::Environment(name.to_owned()), value: None }
    }

    /// A secret that a file holds.
    pub fn file(path: &str) -> Secret {
        Secret { source: SecretSource::File(path.to_owned()), value: None }
    }

    /// Reads `env:NAME` or `file:PATH`; `None` for what names no source.
    pub fn named(text: &str) -> Option<Secret> {
        let is_name = |name: &&str| !name.is_empty() && !name.contains(['\0', '=']);
        if let Some(name) = text.strip_prefix("env:").filter(is_name) {
            return Some(Secret::environment(name));
        }
        text.strip_prefix("file:").filter(|path| !path.is_empty() && !path.contains('\0')).map(Secret::file)
    }

    /// Reads `env:NAME`, `file:PATH`, or else the secret itself.
    pub fn parse(text: &str) -> Secret {
        Secret::named(text).unwrap_or_else(|| Secret::typed(text))
    }

    /// Reads a secret of a plan's text.
    pub(crate) fn read(text: &str) -> Result<Secret, &'static str> {
        Secret::named(text).ok_or_else(|| not_named(text))
    }

    /// Where it comes from.
    pub fn source(&self) -> &SecretSource {
        &self.source
    }

    /// True if its value came with it.
    pub fn is_typed(&self) -> bool {
        self.source == SecretSource::Typed
    }

    /// Its value, to be sent and never shown; empty as long as nobody has filled it in.
    pub fn reveal(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }

    /// Another source for the same value, which is then no longer part of it.
    pub(crate) fn rename(&mut self, source: SecretSource) {
        *self = Secret { source, value: None };
    }

    /// Gives it its value.
    pub(crate) fn fill(&mut self, value: Arc<str>) {
        self.value = Some(value);
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::Environment(name) => write!(to, "env:{name}"),
            SecretSource::File(path) => write!(to, "file:{path}"),
            SecretSource::Typed => to.write_str(MASK),
        }
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(to)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Secret({})", self.source)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.source)
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Secret {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^(env|file):.",
            "description": "Where a secret stands: env:NAME or file:PATH.",
        })
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
        let text = String::deserialize(from)?;
        Secret::read(&text).map_err(serde::de::Error::custom)
    }
}

/// Why a text of a plan is no secret.
fn not_named(text: &str) -> &'static str {
    if text == MASK {
        "a secret that was typed on a command line is not part of a plan: write env:NAME or file:PATH in place of ***"
    } else {
        "a plan names its secrets and does not hold them: write env:NAME or file:PATH"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_its_source_and_never_its_value() {
        let mut of_file = Secret::named("file:/run/token").unwrap();
        of_file.fill("geheim".into());
        for (secret, shown) in [
            (Secret::parse("env:TOKEN"), "env:TOKEN"),
            (of_file, "file:/run/token"),
            (Secret::parse("geheim"), "***"),
            (Secret::parse("env:"), "***"),
        ] {
            let text = toml::Value::try_from(&secret).unwrap();
            assert_eq!((secret.to_string().as_str(), text.as_str()), (shown, Some(shown)));
            assert_eq!(format!("{secret:?}"), format!("Secret({shown})"));
        }
        assert_eq!(Secret::parse("geheim").reveal(), "geheim");
        assert_eq!(Secret::parse("env:TOKEN").reveal(), "", "nobody has filled it in");
    }

    #[test]
    fn plans_name_secrets() {
        let read = |text: &str| Secret::deserialize(toml::Value::String(text.to_owned()));
        assert_eq!(read("env:A").unwrap(), Secret::environment("A"));
        assert_eq!(read("file:a b").unwrap(), Secret::file("a b"));
        for (text, said) in [("geheim", "env:NAME or file:PATH"), ("***", "was typed"), ("env:", "env:NAME")]
        {
            let why = read(text).unwrap_err().to_string();
            assert!(why.contains(said) && !why.contains("geheim"), "{why}");
        }
    }
}
