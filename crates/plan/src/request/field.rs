//! Header fields, of which the value may be a secret.

use crate::data::secret::{Secret, is_secret_field};
use crate::http::credentials::Credentials;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// A header field. Made with [`Field::new`], so that no secret stands in clear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct Field {
    /// Name without colon.
    pub name: String,
    /// Value without line end.
    pub value: FieldValue,
}

/// The value of a header field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FieldValue {
    /// Text that anybody may see, and that may hold placeholders.
    Text(String),
    /// A secret, with what stands before it.
    Secret(SecretText),
    /// Basic authentication (RFC 7617).
    Basic(Basic),
}

/// A secret with a text before it, such as `Bearer `.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SecretText {
    /// The text before the secret, which anybody may see.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// The rest.
    pub secret: Secret,
}

/// A name and its password, as Basic authentication sends them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Basic {
    /// The name and the password.
    pub basic: Credentials,
}

/// A cookie whose value comes from elsewhere stands in a list of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cookie from env:VARIABLE or file:PATH stands by itself: --cookie NAME=env:VARIABLE for each")]
pub struct CookieAmongOthers;

impl Field {
    /// A field. A text that is nobody's business by the field's name becomes a secret.
    pub fn new(name: impl Into<String>, value: impl Into<FieldValue>) -> Field {
        let name = name.into();
        let value = value.into();
        if let FieldValue::Text(text) = &value
            && !text.is_empty()
            && is_secret_field(&name)
            && !is_placeholder(&name, text)
        {
            let (before, secret) = split_scheme(&name, text);
            let secret = SecretText { before: before.to_owned(), secret: Secret::typed(secret) };
            return Field { name, value: FieldValue::Secret(secret) };
        }
        Field { name, value }
    }

    /// A field of an old tool, whose value may be `env:NAME` or `file:PATH` where it is nobody's business, also behind a scheme:
    /// `Bearer env:NAME`.
    pub fn typed(name: impl Into<String>, text: &str) -> Field {
        let name = name.into();
        let (before, rest) = split_scheme(&name, text);
        match Secret::named(rest).filter(|_| is_secret_field(&name)) {
            Some(secret) => Field::of_secret(name, before, secret),
            None => Field::new(name, text),
        }
    }

    /// A field whose value may be `env:NAME` or `file:PATH`, whatever it is called; also behind a scheme or the name of a cookie:
    /// `Bearer env:NAME`, `sid=env:NAME`.
    ///
    /// # Errors
    /// Such a cookie among others, which would be one secret of many parts.
    pub fn read(name: impl Into<String>, text: &str) -> Result<Field, CookieAmongOthers> {
        let name = name.into();
        let is_cookie = name.eq_ignore_ascii_case("cookie");
        let split_cookie = |pair: &str| {
            let (cookie, value) = pair.split_once('=').filter(|_| is_cookie)?;
            Some((cookie.len() + 1, Secret::named(value.trim_end())?))
        };
        if text.contains(';') && text.split(';').any(|pair| split_cookie(pair).is_some()) {
            return Err(CookieAmongOthers);
        }
        if let Some((at, secret)) = split_cookie(text) {
            return Ok(Field::of_secret(name, &text[..at], secret));
        }
        let (before, rest) = split_scheme(&name, text);
        Ok(match Secret::named(rest) {
            Some(secret) => Field::of_secret(name, before, secret),
            None => Field::new(name, text),
        })
    }

    fn of_secret(name: String, before: &str, secret: Secret) -> Field {
        Field { name, value: FieldValue::Secret(SecretText { before: before.to_owned(), secret }) }
    }

    /// True if its value is one that nobody else may see: a secret of the plan, or a field that carries credentials.
    pub fn is_secret(&self) -> bool {
        let named = ["Authorization", "Proxy-Authorization", "Cookie"];
        let secret = !matches!(self.value, FieldValue::Text(_));
        secret || named.iter().any(|name| name.eq_ignore_ascii_case(&self.name))
    }

    /// `Name: value` with secrets masked.
    pub fn shown(&self) -> String {
        format!("{}: {}", self.name, self.value.shown())
    }
}

/// True if a value, behind its scheme, is a placeholder and nothing else: then it holds no secret.
fn is_placeholder(name: &str, text: &str) -> bool {
    let (_, rest) = split_scheme(name, text);
    let inside = rest.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    inside.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.|".contains(&byte))
    })
}

/// The scheme of credentials with the blank behind it, and the rest.
fn split_scheme<'a>(name: &str, text: &'a str) -> (&'a str, &'a str) {
    let has_scheme = name.to_ascii_lowercase().ends_with("authorization");
    text.find(' ').filter(|_| has_scheme).map_or(("", text), |at| text.split_at(at + 1))
}

impl FieldValue {
    /// `Bearer` and a token (RFC 6750).
    pub fn bearer(token: Secret) -> FieldValue {
        FieldValue::Secret(SecretText { before: "Bearer ".to_owned(), secret: token })
    }

    /// A secret alone.
    pub fn secret(secret: Secret) -> FieldValue {
        FieldValue::Secret(SecretText { before: String::new(), secret })
    }

    /// Basic authentication.
    pub fn basic(credentials: Credentials) -> FieldValue {
        FieldValue::Basic(Basic { basic: credentials })
    }

    /// The value as it is sent, secrets included.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            FieldValue::Text(text) => text.into(),
            FieldValue::Secret(SecretText { before, secret }) if before.is_empty() => secret.reveal().into(),
            FieldValue::Secret(SecretText { before, secret }) => {
                format!("{before}{}", secret.reveal()).into()
            }
            FieldValue::Basic(Basic { basic }) => format!("Basic {}", STANDARD.encode(basic.pair())).into(),
        }
    }

    /// The value as people see it: secrets by their sources.
    pub fn shown(&self) -> String {
        match self {
            FieldValue::Text(text) => text.clone(),
            FieldValue::Secret(SecretText { before, secret }) => format!("{before}{secret}"),
            FieldValue::Basic(Basic { basic }) => format!("Basic {}", basic.password),
        }
    }

    /// The text that may hold placeholders: what was typed. `None` for what comes from elsewhere, of which braces are
    /// braces.
    pub fn template(&self) -> Option<Cow<'_, str>> {
        match self {
            FieldValue::Secret(SecretText { secret, .. }) if !secret.is_typed() => None,
            FieldValue::Basic(_) => None,
            FieldValue::Text(_) | FieldValue::Secret(_) => Some(self.text()),
        }
    }

    /// The same value with its typed text changed.
    #[must_use]
    pub fn map_text(self, change: impl FnOnce(&str) -> String) -> FieldValue {
        match self {
            FieldValue::Text(text) => FieldValue::Text(change(&text)),
            FieldValue::Secret(SecretText { before, secret }) if secret.is_typed() => {
                let secret = Secret::typed(change(secret.reveal()));
                FieldValue::Secret(SecretText { before, secret })
            }
            other @ (FieldValue::Secret(_) | FieldValue::Basic(_)) => other,
        }
    }
}

impl From<String> for FieldValue {
    fn from(text: String) -> FieldValue {
        FieldValue::Text(text)
    }
}

impl From<&str> for FieldValue {
    fn from(text: &str) -> FieldValue {
        FieldValue::Text(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Field, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Form {
            name: String,
            value: toml::Value,
        }
        let Form { name, value } = Form::deserialize(from)?;
        let wrong = |why: toml::de::Error| {
            let why = why.message().trim_end();
            serde::de::Error::custom(format!("the value of {name}: {why}"))
        };
        let value = if let toml::Value::String(text) = value {
            FieldValue::Text(text)
        } else if value.get("basic").is_some() {
            FieldValue::Basic(value.try_into().map_err(wrong)?)
        } else {
            FieldValue::Secret(value.try_into().map_err(wrong)?)
        };
        Ok(Field::new(name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(field: &Field) -> String {
        toml::to_string(field).unwrap()
    }

    #[test]
    fn what_is_nobodys_business_is_never_written() {
        let user = Credentials::new("me", Secret::typed("geheim"));
        for field in [
            Field::new("Authorization", "Bearer geheim"),
            Field::new("Cookie", "sid=geheim"),
            Field::new("x-api-key", "geheim"),
            Field::new("Authorization", FieldValue::basic(user)),
            Field::new("Authorization", FieldValue::bearer(Secret::typed("geheim"))),
            toml::from_str("name = \"Cookie\"\nvalue = \"a=geheim\"").unwrap(),
        ] {
            let all = written(&field) + &format!("{field:?}{}", field.shown());
            assert!(!all.contains("geheim") && !all.contains("Z2VoZWlt"), "{all}");
            assert!(all.contains("***"), "{all}");
        }
        assert_eq!(Field::new("Authorization", "Bearer geheim").value.text(), "Bearer geheim");
        // The place of a field whose value comes later.
        assert_eq!(Field::new("Cookie", "").value, FieldValue::Text(String::new()));
        assert_eq!(Field::new("Accept", "*/*").value, FieldValue::Text("*/*".to_owned()));
    }

    #[test]
    fn named_secrets_read_back() {
        let user = Credentials::new("me", Secret::environment("P"));
        for field in [
            Field::typed("Authorization", "Bearer env:TOKEN"),
            Field::typed("Cookie", "file:cookies.txt"),
            Field::read("Cookie", "sid=env:SID").unwrap(),
            Field::new("Authorization", FieldValue::basic(user)),
            Field::typed("Accept", "env:TOKEN"),
        ] {
            assert_eq!(toml::from_str::<Field>(&written(&field)).unwrap(), field, "{}", written(&field));
        }
        let shown = |name: &str, text: &str| Field::read(name, text).map(|field| field.shown());
        assert_eq!(shown("Authorization", "Bearer env:T").as_deref(), Ok("Authorization: Bearer env:T"));
        assert_eq!(shown("Cookie", "sid=env:T").as_deref(), Ok("Cookie: sid=env:T"));
        assert_eq!(shown("X-Tenant", "env:T").as_deref(), Ok("X-Tenant: env:T"));
        assert_eq!(Field::read("X-Tenant", "env:T").unwrap().value.template(), None, "it is read from there");
        assert_eq!(Field::typed("X-Tenant", "env:T").shown(), "X-Tenant: env:T");
        assert_eq!(
            Field::typed("X-Tenant", "env:T").value.text(),
            "env:T",
            "an old tool sends it as it stands"
        );
        assert_eq!(shown("Cookie", "a=b; sid=env:T"), Err(CookieAmongOthers));
    }

    #[test]
    fn what_stands_in_a_plan_for_a_typed_secret_says_what_to_write() {
        for (value, said) in [
            ("{ secret = \"***\" }", "env:NAME"),
            ("{ basic = { name = \"a\", password = \"b\" } }", "env:NAME"),
            ("{ secret = \"env:A\", other = 1 }", "other"),
            ("1", "Authorization"),
        ] {
            let text = format!("name = \"Authorization\"\nvalue = {value}");
            let why = toml::from_str::<Field>(&text).unwrap_err().to_string();
            assert!(why.contains(said), "{why}");
        }
    }

    #[test]
    fn basic_authentication_is_that_of_rfc_7617() {
        let of = |basic: Credentials| FieldValue::basic(basic).text().into_owned();
        assert_eq!(
            of(Credentials::new("Aladdin", Secret::typed("open sesame"))),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        );
        assert_eq!(of(Credentials::of_pair(Secret::typed("u:p:w"))), "Basic dTpwOnc=");
    }
}
