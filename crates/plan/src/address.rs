//! Where a URL leads: taken apart once, so that nobody parses it while requests are sent.

use url::Url;

/// An `http` or `https` URL, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The URL as it is asked for from a proxy, without fragment.
    pub text: String,
    /// Name or IP address, IPv6 without brackets.
    pub host: String,
    /// The port, also where the URL names none.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// `host` or `host:port`, for the Host field.
    pub authority: String,
    /// It is an `https` URL.
    pub secure: bool,
}

impl Address {
    /// Takes a URL apart; `None` for what is no `http://` or `https://` URL.
    pub fn parse(text: &str) -> Option<Address> {
        Address::of(Url::parse(text.trim()).ok()?)
    }

    /// The URL that a reference on this page means (RFC 3986 section 5), where that is one of those, too.
    pub fn join(&self, reference: &str) -> Option<Address> {
        let base = Url::parse(&self.text).ok()?;
        Address::of(base.join(reference.trim()).ok()?)
    }

    /// The host as it stands before a port: IPv6 in brackets.
    pub fn authority_host(&self) -> String {
        if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() }
    }

    fn of(mut url: Url) -> Option<Address> {
        let secure = url.scheme() == "https";
        if !secure && url.scheme() != "http" {
            return None;
        }
        url.set_fragment(None);
        let host = url.host_str()?.to_owned();
        let port = url.port_or_known_default()?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.clone(),
        };
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Some(Address { text: url.into(), host, port, path, authority, secure })
    }
}

/// A reference as it came in a field, such as Location. Bytes that are no text stand for themselves, encoded
/// (RFC 3986 section 2.1).
pub fn reference(bytes: &[u8]) -> String {
    let encoded = |byte: &u8| match byte {
        0x80.. => format!("%{byte:02X}"),
        byte => char::from(*byte).to_string(),
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(encoded).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        let address = Address::parse("http://[::1]:81/a/../b?c=d#e").unwrap();
        assert_eq!((address.host.as_str(), address.port), ("::1", 81));
        assert_eq!((address.path.as_str(), address.authority.as_str()), ("/b?c=d", "[::1]:81"));
        assert_eq!(Address::parse("http://h").unwrap().path, "/");
        let defaults = ["http://h", "https://h"].map(|url| Address::parse(url).unwrap());
        assert_eq!(
            defaults.each_ref().map(|address| (address.port, address.secure)),
            [(80, false), (443, true)]
        );
    }

    #[test]
    fn references_of_bytes_lead_where_their_bytes_say() {
        let page = Address::parse("http://h/dir/page").unwrap();
        let leads = |bytes: &[u8]| page.join(&reference(bytes)).unwrap().path;
        assert_eq!(leads(b"caf\xe9 1?a=\xff#b"), "/dir/caf%E9%201?a=%FF");
        assert_eq!(leads("/é?ü".as_bytes()), "/%C3%A9?%C3%BC");
        assert_eq!(leads(b"/a%e9"), "/a%e9");
    }

    #[test]
    fn only_http_leads_anywhere() {
        let page = Address::parse("http://h/dir/page").unwrap();
        assert_eq!(page.join("x").unwrap().text, "http://h/dir/x");
        for reference in ["ftp://h/x", "mailto:a@b", "javascript:1"] {
            assert!(page.join(reference).is_none(), "{reference}");
        }
        assert!(Address::parse("not a url").is_none());
    }
}
