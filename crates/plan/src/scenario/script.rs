//! Requests that a script makes: the Lua scripts of wrk and wrk2. The plan carries the script whole, so that it can run
//! again from its text form alone.

use crate::request::Request;
use serde::{Deserialize, Serialize};

/// Sends what a script says. A phase with such a step has no other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScriptStep {
    /// Whose scripts they are.
    #[serde(default)]
    pub dialect: Dialect,
    /// Where the script came from, for messages.
    pub file: String,
    /// The script.
    pub text: String,
    /// Words of the command line that the script is given, without the URL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The URL as it was typed, which the script is given too.
    pub url: String,
    /// The request that is sent where the script does not say otherwise. Of its fields the script sees name and value.
    pub request: Request,
    /// Of requests sent in one piece only the last is timed; otherwise each is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub time_batches: bool,
}

impl ScriptStep {
    /// Host and port as the URL has them, without what may stand before an `@`.
    pub fn authority(&self) -> &str {
        authority(&self.url)
    }

    /// The port as it was typed, `None` where the URL names none.
    pub fn port(&self) -> Option<&str> {
        port(self.authority())
    }
}

/// Host and port as a URL has them, without what may stand before an `@`.
pub fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest[..end].rsplit_once('@').map_or(&rest[..end], |(_, host)| host)
}

/// The port of an authority.
pub fn port(authority: &str) -> Option<&str> {
    let (_, port) = authority.rsplit_once(':')?;
    (!port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(port)
}

/// Whose scripts are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Those of wrk.
    #[default]
    Wrk,
    /// Those of wrk2: the same without `delay`, with `wrk.time_us`, and with statistics that are indexed.
    Wrk2,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_taken_as_typed() {
        for (url, expected) in [
            ("http://h:80/a:1?b#c", ("h:80", Some("80"))),
            ("http://h", ("h", None)),
            ("http://u:p@h?x:3", ("h", None)),
            ("http://[::1]/", ("[::1]", None)),
            ("http://[::1]:8080", ("[::1]:8080", Some("8080"))),
        ] {
            assert_eq!((authority(url), port(authority(url))), expected, "{url}");
        }
    }
}
