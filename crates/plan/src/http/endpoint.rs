//! Addresses that are typed: a host and a port, with or without a scheme, a name and a password before them.

use crate::address::{UrlFault, check_authority, split_userinfo};
use crate::data::secret::Secret;
use crate::http::credentials::Credentials;
use std::fmt;

/// An address that was typed, taken apart. Nothing of it but its credentials is a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// It begins with `https://`.
    pub secure: bool,
    /// Name and password that stand before the host.
    pub credentials: Option<Credentials>,
    /// Name or address, IPv6 without brackets.
    pub host: String,
    /// The port, where it names one.
    pub port: Option<u16>,
}

impl Endpoint {
    /// Reads `[http[s]://][NAME:PASSWORD@]HOST[:PORT][/]`.
    ///
    /// # Errors
    /// Why it is none; what stands before the host is masked there.
    pub fn read(text: &str) -> Result<Endpoint, UrlFault> {
        let text = text.trim();
        check_authority(text)?;
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let secure = whole.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
        let (plain, userinfo) = split_userinfo(&whole);
        let rest = plain.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['/', '?', '#']) {
            return Err(UrlFault::more(text));
        }
        let (host, port) = match authority.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
            Some((host, rest)) => (host, rest.strip_prefix(':')),
            None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
        };
        let credentials = userinfo.map(|(name, password)| Credentials::new(&name, Secret::parse(&password)));
        Ok(Endpoint {
            secure,
            credentials,
            host: host.to_owned(),
            port: port.and_then(|port| port.parse().ok()),
        })
    }

    /// A URL without the name and password before its host, and those.
    pub fn split(url: &str) -> (String, Option<Credentials>) {
        let (url, userinfo) = split_userinfo(url);
        (url, userinfo.map(|(name, password)| Credentials::new(&name, Secret::parse(&password))))
    }

    /// `HOST:PORT`, IPv6 in brackets. `otherwise`: the port where it names none.
    pub fn with_port(&self, otherwise: u16) -> String {
        let port = self.port.unwrap_or(otherwise);
        if self.host.contains(':') {
            format!("[{}]:{port}", self.host)
        } else {
            format!("{}:{port}", self.host)
        }
    }
}

impl fmt::Display for Endpoint {
    /// Without its credentials.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https://" } else { "" };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let port = self.port.map_or_else(String::new, |port| format!(":{port}"));
        write!(to, "{scheme}{host}{port}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (typed, with_port, secure, named) in [
            ("h:81", "h:81", false, None),
            ("h", "h:80", false, None),
            ("http://h/", "h:80", false, None),
            ("HTTPS://[::1]:8443", "[::1]:8443", true, None),
            ("[::1]", "[::1]:80", false, None),
            ("http://me:p%40w@h:81/", "h:81", false, Some(("me", "p@w"))),
            ("me:geheim@h:81", "h:81", false, Some(("me", "geheim"))),
            ("me@h", "h:80", false, Some(("me", ""))),
        ] {
            let endpoint = Endpoint::read(typed).unwrap();
            let credentials = endpoint.credentials.as_ref().map(Credentials::reveal);
            assert_eq!(
                (endpoint.with_port(80).as_str(), endpoint.secure, credentials),
                (with_port, secure, named),
                "{typed}"
            );
            assert!(!format!("{endpoint:?} {endpoint}").contains("geheim"), "{endpoint:?}");
        }
    }

    #[test]
    fn a_password_may_be_named() {
        let password = |typed: &str| Endpoint::read(typed).unwrap().credentials.unwrap().password;
        assert_eq!(password("me:env:P@h:81"), Secret::environment("P"));
        let (url, credentials) = Endpoint::split("http://me:file:p.txt@h/");
        assert_eq!((url.as_str(), credentials.unwrap().password), ("http://h/", Secret::file("p.txt")));
    }

    #[test]
    fn what_is_none_is_refused_without_its_password() {
        for (typed, said) in [
            ("", "names no host"),
            ("8080", "for port 8080 of this machine give localhost:8080"),
            ("h:0", "has '0' for a port"),
            ("h:x", "has 'x' for a port"),
            ("::1:80", "write [::1]:80"),
            ("ftp://h", "begins with ftp:"),
            ("http:/h", "write two"),
            ("h:80/path", "is more than a host and a port"),
            ("me:geheim@h:99999", "'me:***@h:99999' has '99999'"),
            ("http://me:geheim@h:80/path", "'http://me:***@h:80/path' is more"),
            ("me:geheim@", "'me:***@' names no host"),
        ] {
            let fault = Endpoint::read(typed).unwrap_err().to_string();
            assert!(fault.contains(said) && !fault.contains("geheim"), "{typed}: {fault}");
        }
    }
}
