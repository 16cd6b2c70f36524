//! A file that is read, and where its requests go.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::Url;

/// A file of requests.
#[derive(Clone, Copy)]
pub struct ForeignAsked<'a> {
    /// Its name, as messages name it.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Scheme, host and port that its requests go to, in place of those that it says.
    pub base: Option<&'a str>,
    /// Values of its variables; each must be one of them.
    pub set: &'a [(String, String)],
    /// Values of variables, it may have them or not.
    pub environment: &'a [(String, String)],
    /// Reads a file that it names.
    pub find: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
}

/// Scheme, host and port.
pub(crate) struct Base(String);

impl Base {
    /// Reads it; without a scheme it is `http://`.
    pub(crate) fn parse(text: &str) -> Result<Base, String> {
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let wrong = || format!("'{text}' is no address: give --base-url http://HOST:PORT, without a path");
        let url = Url::parse(&whole).map_err(|_| wrong())?;
        let is_address = matches!(url.scheme(), "http" | "https") && url.host().is_some();
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        match is_address && is_bare && url.username().is_empty() && url.password().is_none() {
            true => Ok(Base(whole.trim_end_matches('/').to_owned())),
            false => Err(wrong()),
        }
    }

    /// A URL, or a path, of this address.
    pub(crate) fn instead_of(&self, url: &str) -> String {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let place = rest.find(['/', '?']).map_or("", |from| &rest[from..]);
        let slash = if place.starts_with('/') { "" } else { "/" };
        format!("{}{slash}{place}", self.0)
    }
}

/// Bytes that no URL has as they are.
const OUTSIDE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A URL whose odd bytes are percent-encoded, without its fragment, which is not sent.
pub(crate) fn encoded_url(url: &str) -> String {
    let url = url.split('#').next().unwrap_or(url);
    utf8_percent_encode(url, OUTSIDE).to_string()
}
