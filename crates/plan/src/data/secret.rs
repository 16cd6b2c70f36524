//! Secrets: passwords, tokens, cookies and keys, which a plan names and never shows.
//!
//! A [`Secret`] knows its source. Its value comes with it where it was typed on a command line; otherwise whoever runs the
//! plan fills it in ([`crate::Inputs::fill`]). Whatever prints or serialises a secret shows its source, never its value.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// Stands where a secret is not shown.
pub const MASK: &str = "***";

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

/// True if the value of a header field is nobody's business: credentials, cookies, tokens, API keys.
pub fn is_secret_field(name: &str) -> bool {
    const WORDS: [&str; 9] = [
        "cookie",
        "token",
        "secret",
        "passw",
        "api-key",
        "apikey",
        "access-key",
        "subscription-key",
        "credential",
    ];
    /// By themselves, between marks: as part of a word they tell nothing (`authority`, `www-authenticate`).
    const ALONE: [&str; 3] = ["auth", "jwt", "pwd"];
    let name = name.trim().to_ascii_lowercase().replace('_', "-");
    name.ends_with("authorization")
        || name.starts_with("x-auth-")
        || name.split(|mark: char| !mark.is_ascii_alphanumeric()).any(|word| ALONE.contains(&word))
        || name == "x-functions-key"
        || WORDS.iter().any(|word| name.contains(word))
}

/// A line that was to be a header field and is none, as its refusal names it: what stands behind its name may be a secret, and
/// so may all of it.
pub fn shown_line(line: &str) -> String {
    line.split_once(':').map_or(MASK.to_owned(), |(name, _)| format!("{name}: {MASK}"))
}

/// True if the value of a URL's parameter is nobody's business, by its name.
pub fn is_secret_parameter(name: &str) -> bool {
    const WORDS: [&str; 7] = ["token", "secret", "passw", "apikey", "accesskey", "credential", "signature"];
    const NAMES: [&str; 8] = ["auth", "authorization", "jwt", "pwd", "session", "sessionid", "sid", "sig"];
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    NAMES.contains(&plain.as_str()) || WORDS.iter().any(|word| plain.contains(word))
}

/// The text as it may be shown: the user names and passwords of its URLs are masked, and in queries and forms the values of
/// parameters whose names tell a secret: `?user=me&api_key=***`.
pub fn without_secrets(text: &str) -> String {
    let text = without_userinfo(text);
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['?', '&']) {
        let (before, after) = rest.split_at(at + 1);
        shown.push_str(before);
        let parameter = &after[..after.find(ENDS_PARAMETER).unwrap_or(after.len())];
        rest = &after[parameter.len()..];
        match parameter.split_once('=') {
            Some((name, value)) if !value.is_empty() && is_secret_parameter(name) => {
                shown.push_str(name);
                shown.push('=');
                shown.push_str(MASK);
            }
            _ => shown.push_str(parameter),
        }
    }
    shown + rest
}

/// A parameter ends before these, in a URL and in what stands around one.
const ENDS_PARAMETER: [char; 13] = ['&', '?', ';', '#', ' ', '"', '\'', '<', '>', '\\', '\r', '\n', '\t'];

/// The text with the user names and passwords of its URLs masked: `http://me:***@host/`.
pub fn without_userinfo(text: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let end = after.find(['/', '?', '#', ' ', '"', '\'', '<', '>', '\r', '\n']).unwrap_or(after.len());
        let authority = &after[..end];
        match authority.rsplit_once('@') {
            Some((user, host)) => {
                let name = user.split_once(':').map_or("", |(name, _)| name);
                shown.push_str(&if name.is_empty() { MASK.to_owned() } else { format!("{name}:{MASK}") });
                shown.push('@');
                shown.push_str(host);
            }
            None => shown.push_str(authority),
        }
        rest = &after[end..];
    }
    shown.push_str(rest);
    shown
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

    #[test]
    fn fields_with_credentials_are_known() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "COOKIE",
            "Set-Cookie",
            "X-Api-Key",
            "apikey",
            "X-Auth-Key",
            "X-Amz-Security-Token",
            "X-CSRF-Token",
            "Ocp-Apim-Subscription-Key",
            "X-Client-Secret",
            "X-Auth",
            "X-Auth-User",
            "My_Auth",
            "X-Vault-Token",
            "X_API_KEY",
            "X-Password",
            "X-JWT",
        ] {
            assert!(is_secret_field(name), "{name}");
        }
        for name in [
            "Accept",
            "WWW-Authenticate",
            "Host",
            "Idempotency-Key",
            "X-Author",
            "Keep-Alive",
            ":authority",
            "Sec-WebSocket-Key",
        ] {
            assert!(!is_secret_field(name), "{name}");
        }
    }

    #[test]
    fn parameters_are_shown_without_secrets() {
        for (text, shown) in [
            ("http://h/a?api_key=k&x=1", "http://h/a?api_key=***&x=1"),
            ("GET /?x=1&X-Amz-Signature=abc HTTP/1.1", "GET /?x=1&X-Amz-Signature=*** HTTP/1.1"),
            ("'http://me:pw@h/?token=t'", "'http://me:***@h/?token=***'"),
            ("user=me&password=p;w#f", "user=me&password=***;w#f"),
            ("/?sig=s==&sv=2&AccessKeyId=id", "/?sig=***&sv=2&AccessKeyId=***"),
            ("/?page=1&key=k&design=d&token=&tokens", "/?page=1&key=k&design=d&token=&tokens"),
            ("{{a?b}} & c?", "{{a?b}} & c?"),
        ] {
            assert_eq!(without_secrets(text), shown);
        }
    }

    #[test]
    fn urls_are_shown_without_passwords() {
        for (text, shown) in [
            ("http://me:pw@h:1/a@b", "http://me:***@h:1/a@b"),
            ("GET https://token@h?x=a:b@c http://h/", "GET https://***@h?x=a:b@c http://h/"),
            ("http://a:b@c@h/", "http://a:***@h/"),
            ("'http://u:p@h'", "'http://u:***@h'"),
            ("http://h/ me:pw@h", "http://h/ me:pw@h"),
            ("no url", "no url"),
        ] {
            assert_eq!(without_userinfo(text), shown);
        }
    }
}
