//! URLs as ab reads them: the scheme may be missing, the slash after the authority may not, and what follows is sent as it
//! stands.

/// A URL, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    /// It begins with `https://`.
    pub secure: bool,
    /// Name or address, IPv6 without brackets.
    pub host: String,
    /// The port, also where the URL names none.
    pub port: u16,
    /// From the slash on, nothing changed.
    pub path: String,
    /// All of it, nothing changed.
    pub text: String,
}

impl Url {
    /// Takes a URL apart; `None` for what ab calls invalid.
    pub fn parse(text: &str) -> Option<Url> {
        let after = |scheme: &str| {
            let (front, rest) = text.split_at_checked(scheme.len())?;
            front.eq_ignore_ascii_case(scheme).then_some(rest)
        };
        let (secure, rest) = match (after("https://"), after("http://")) {
            (Some(rest), _) => (true, rest),
            (None, rest) => (false, rest.unwrap_or(text)),
        };
        let (authority, path) = rest.split_at(rest.find('/')?);
        let (host, port) = host_and_port(authority)?;
        let port = port.unwrap_or(if secure { 443 } else { 80 });
        Some(Url { secure, host, port, path: path.to_owned(), text: text.to_owned() })
    }

    /// True if the host is a name or an address, and not something that no name server knows.
    pub fn has_host(&self) -> bool {
        self.host.parse::<std::net::Ipv6Addr>().is_ok() || is_name(&self.host)
    }

    /// The host as it stands before a port: IPv6 in brackets.
    pub fn authority_host(&self) -> String {
        bracketed(&self.host)
    }

    /// The Host field: the port only where it is not the scheme's.
    pub fn host_field(&self) -> String {
        let usual = if self.secure { 443 } else { 80 };
        match self.port {
            port if port == usual => self.authority_host(),
            port => format!("{}:{port}", self.authority_host()),
        }
    }
}

/// An authority as the library of ab takes it apart: digits behind the last colon are the port, and everything else is
/// the host, whatever it is.
fn host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    if text.starts_with('[') {
        return split_authority(text);
    }
    let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (front, number) = text.split_at(text.len() - digits);
    let (host, port) = match front.strip_suffix(':').filter(|_| digits > 0) {
        Some(host) => (host, Some(number.parse::<u16>().ok().filter(|port| *port > 0)?)),
        None => (text, None),
    };
    // Digits alone are a port without a host.
    let is_host = !host.is_empty() && !front.is_empty();
    is_host.then(|| (host.to_owned(), port))
}

fn is_name(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

/// IPv6 in brackets.
pub(super) fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

/// `host`, `host:port` or `[address]:port`.
pub(super) fn split_authority(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            // Zones mean something on this machine alone.
            host.parse::<std::net::Ipv6Addr>().ok()?;
            let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) };
            (host, port)
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    if host.is_empty() || !host.bytes().all(is_name) {
        return None;
    }
    let port = match port {
        None => None,
        Some(digits) => {
            let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
            Some(digits.parse::<u16>().ok().filter(|port| *port > 0 && all_digits)?)
        }
    };
    Some((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_as_they_stand() {
        for (text, secure, host, port, path) in [
            ("http://h/", false, "h", 80, "/"),
            ("h:81/a?b#c", false, "h", 81, "/a?b#c"),
            ("HTTPS://h/../x", true, "h", 443, "/../x"),
            ("http://[::1]:8/", false, "::1", 8, "/"),
            ("[::1]/", false, "::1", 80, "/"),
        ] {
            let url = Url::parse(text).unwrap();
            let parts = (url.secure, url.host.as_str(), url.port, url.path.as_str());
            assert_eq!(parts, (secure, host, port, path), "{text}");
        }
        assert_eq!(Url::parse("http://[::1]:8/").unwrap().host_field(), "[::1]:8");
        assert_eq!(Url::parse("https://h:443/").unwrap().host_field(), "h");
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in [
            "",
            "http://h",
            "h:80",
            "http:///",
            "http://8080/",
            "http://:80/",
            "http://h:0/",
            "http://h:65536/",
            "http://[::1/",
            "http://[fe80::1%eth0]/",
            "http://[::1]x/",
        ] {
            assert_eq!(Url::parse(text), None, "{text}");
        }
        for text in ["http://h:/", "http://h:+5/", "http://h:8x/", "http://h h/", "ftp://h/", "http://me@h/"]
        {
            assert!(!Url::parse(text).unwrap().has_host(), "{text}");
        }
        assert_eq!(Url::parse("http://h/a b\t").unwrap().path, "/a b\t");
    }
}
