//! Names with their passwords.

use crate::data::secret::{MASK, Secret};
use serde::{Deserialize, Serialize};

/// A name and its password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// The name; without one, the password's secret is `NAME:PASSWORD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The password.
    pub password: Secret,
    /// The realm they are for; `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub realm: Option<String>,
}

impl Credentials {
    /// For any realm.
    pub fn new(name: &str, password: Secret) -> Credentials {
        Credentials { name: Some(name.to_owned()), password, realm: None }
    }

    /// A secret that holds `NAME:PASSWORD`.
    pub fn of_pair(pair: Secret) -> Credentials {
        Credentials { name: None, password: pair, realm: None }
    }

    /// Reads `NAME:PASSWORD`, `NAME:env:VARIABLE` or `NAME:file:PATH`; a source without a name before it holds both.
    /// `None` for what has no colon.
    pub fn parse(text: &str) -> Option<Credentials> {
        if let Some(pair) = Secret::named(text) {
            return Some(Credentials::of_pair(pair));
        }
        let (name, password) = text.split_once(':')?;
        Some(Credentials::new(name, Secret::parse(password)))
    }

    /// The name and the password, to be sent and never shown.
    pub fn reveal(&self) -> (&str, &str) {
        let secret = self.password.reveal();
        match &self.name {
            Some(name) => (name, secret),
            None => secret.split_once(':').unwrap_or((secret, "")),
        }
    }

    /// `NAME:PASSWORD`, to be sent and never shown.
    pub(crate) fn pair(&self) -> String {
        match &self.name {
            Some(name) => format!("{name}:{}", self.password.reveal()),
            None => self.password.reveal().to_owned(),
        }
    }

    /// Why they cannot be sent; `None` where they can.
    pub(crate) fn violation(&self) -> Option<String> {
        let (name, password) = self.reveal();
        let control = |text: &str| text.bytes().any(|byte| byte.is_ascii_control());
        (control(name) || control(password) || name.contains(':')).then(|| {
            format!(
                "auth: the name '{}' or its password cannot be sent: leave out colons in names, and control characters",
                self.name.as_deref().unwrap_or(MASK).escape_default()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_passwords_are_read_as_typed() {
        for (text, name, password) in [
            ("me:geheim", Some("me"), Secret::typed("geheim")),
            ("me:a:b", Some("me"), Secret::typed("a:b")),
            ("me:env:P", Some("me"), Secret::environment("P")),
            ("me:file:p.txt", Some("me"), Secret::file("p.txt")),
            ("env:PAIR", None, Secret::environment("PAIR")),
            (":geheim", Some(""), Secret::typed("geheim")),
        ] {
            let read = Credentials::parse(text).unwrap();
            assert_eq!((read.name.as_deref(), read.password), (name, password), "{text}");
        }
        assert_eq!(Credentials::parse("nobody"), None);
        assert_eq!(Credentials::of_pair(Secret::typed("me:a:b")).reveal(), ("me", "a:b"));
    }
}
