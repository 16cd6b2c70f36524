//! Connections that go elsewhere than a URL says.

use crate::masked::Masked;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Connections for a host and port go to another one. What is sent, and the name that TLS asks for, stays as it is.
///
/// Its text form is curl's, `HOST:PORT:TO:TOPORT`, IPv6 addresses in brackets: an empty HOST or PORT stands for any, an
/// empty TO or TOPORT for that of the URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct ConnectTo {
    /// Host of the URL; `None`: any.
    pub host: Option<String>,
    /// Port of the URL; `None`: any.
    pub port: Option<u16>,
    /// Host to connect to, IPv6 without brackets; `None`: that of the URL.
    pub to_host: Option<String>,
    /// Port to connect to; `None`: that of the URL.
    pub to_port: Option<u16>,
}

impl ConnectTo {
    /// Where connections for a host and port go, by the first of a list that fits; otherwise to themselves.
    pub fn apply(list: &[ConnectTo], host: &str, port: u16) -> (String, u16) {
        let fits = |entry: &&ConnectTo| {
            entry.host.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(host))
                && entry.port.is_none_or(|wanted| wanted == port)
        };
        let Some(entry) = list.iter().find(fits) else { return (host.to_owned(), port) };
        (entry.to_host.clone().unwrap_or_else(|| host.to_owned()), entry.to_port.unwrap_or(port))
    }
}

/// The first part of `text` up to a colon, IPv6 without its brackets, and what follows.
fn host(text: &str) -> Option<(Option<String>, &str)> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(bracketed) => {
            let (host, rest) = bracketed.split_once(']')?;
            (host, rest.strip_prefix(':')?)
        }
        None => text.split_once(':')?,
    };
    Some(((!host.is_empty()).then(|| host.to_owned()), rest))
}

fn port(text: &str) -> Option<Option<u16>> {
    if text.is_empty() { Some(None) } else { text.parse().ok().filter(|port| *port > 0).map(Some) }
}

fn parse(text: &str) -> Option<ConnectTo> {
    let (from, rest) = host(text)?;
    let (from_port, rest) = rest.split_once(':')?;
    let (to, to_port) = host(rest)?;
    if text.contains(['@', '/']) {
        return None;
    }
    Some(ConnectTo { host: from, port: port(from_port)?, to_host: to, to_port: port(to_port)? })
}

impl FromStr for ConnectTo {
    type Err = String;

    fn from_str(text: &str) -> Result<ConnectTo, String> {
        parse(text).ok_or_else(|| {
            let shown = Masked::address(text);
            format!("'{shown}' is not HOST:PORT:TO:TOPORT, such as example.com:443:127.0.0.1:8443")
        })
    }
}

crate::units::as_text!(ConnectTo, str::parse);

impl fmt::Display for ConnectTo {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = |host: &Option<String>| match host {
            Some(host) if host.contains(':') => format!("[{host}]"),
            Some(host) => host.clone(),
            None => String::new(),
        };
        let port = |port: Option<u16>| port.map_or_else(String::new, |port| port.to_string());
        let from = host(&self.host);
        let into = host(&self.to_host);
        write!(to, "{from}:{}:{into}:{}", port(self.port), port(self.to_port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_read_as_they_are_shown() {
        for text in ["h:80:127.0.0.1:8080", "::[::1]:", "[2001:db8::1]:443:h:", ":::9", "h:::"] {
            assert_eq!(text.parse::<ConnectTo>().unwrap().to_string(), text);
        }
        for text in ["", "h", "h:80", "h:80:g", "h:x:g:1", "h:1:g:0", "[::1:80:g:1"] {
            assert!(text.parse::<ConnectTo>().unwrap_err().contains("HOST:PORT:TO:TOPORT"), "{text}");
        }
    }

    #[test]
    fn the_first_that_fits_is_taken() {
        let list = ["a:1:b:2", "a::c:", "::d:9"].map(|text| text.parse().unwrap());
        for (host, port, to) in [("A", 1, ("b", 2)), ("a", 3, ("c", 3)), ("x", 1, ("d", 9))] {
            assert_eq!(ConnectTo::apply(&list, host, port), (to.0.to_owned(), to.1));
        }
        assert_eq!(ConnectTo::apply(&list[..1], "x", 5), ("x".to_owned(), 5));
    }
}
