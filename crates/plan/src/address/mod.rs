//! Where a URL leads: taken apart once, so that nobody parses it while requests are sent.

mod fault;
mod uri;

pub use fault::UrlFault;
pub(crate) use fault::check_authority;
pub use uri::{UriFault, uri_fault};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::Url;

/// An `http` or `https` URL, taken apart; of messages over TCP, a `tcp` one.
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
        Address::read(text).ok()
    }

    /// Takes a URL apart. Segments of dots stay where they are: what a server or a cache makes of `/a/../b` is part of a test.
    ///
    /// # Errors
    /// Why it is no `http://` or `https://` URL.
    pub fn read(text: &str) -> Result<Address, UrlFault> {
        let text = text.trim();
        let has_scheme = ["http://", "https://"].iter().any(|scheme| begins_with(text, scheme));
        if !has_scheme {
            return Err(UrlFault::of_url(text, None));
        }
        let url = Url::parse(text).map_err(|error| UrlFault::of_url(text, Some(error)))?;
        // The parser of URLs takes numbers for hosts, and any number of slashes before one.
        check_authority(text)?;
        let address = Address::of(url).ok_or_else(|| UrlFault::of_url(text, None))?;
        let address = if has_dots(text) { address.with_dots_of(text) } else { address };
        Ok(if text.contains('\'') { address.with_quotes_of(text) } else { address })
    }

    /// The same with the query of `text`, whose single quotes were encoded: a URI may hold them (RFC 3986 section 3.4), and they are
    /// sent as they were typed.
    fn with_quotes_of(self, text: &str) -> Address {
        let typed = text.split('#').next().and_then(|url| url.split_once('?'));
        let Some((_, typed)) = typed.filter(|(_, query)| query.contains('\'')) else { return self };
        let path = self.path.split('?').next().expect("a split has a part");
        let query = utf8_percent_encode(typed, QUERY);
        self.with_path(&format!("{path}?{query}"))
    }

    /// The same with the path of `text`, whose segments of dots were resolved.
    fn with_dots_of(self, text: &str) -> Address {
        let authority = text.find("://").map_or(0, |at| at + 3);
        let rest = text[authority..].find(['/', '\\', '?', '#']).map_or("", |at| &text[authority + at..]);
        let typed = rest.split(['?', '#']).next().expect("a split has a first part").replace('\\', "/");
        let is_dots =
            |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
        if !typed.split('/').any(is_dots) {
            return self;
        }
        let path = utf8_percent_encode(&typed, PATH).to_string();
        let query = self.path.find('?').map_or("", |at| &self.path[at..]);
        self.with_path(&format!("{path}{query}"))
    }

    /// Takes `tcp://HOST:PORT` apart; `None` for what is something else, or more than that.
    pub fn parse_tcp(text: &str) -> Option<Address> {
        let url = Url::parse(text.trim()).ok().filter(|url| url.scheme() == "tcp")?;
        let host = url.host_str()?.to_owned();
        let port = url.port()?;
        let authority = format!("{host}:{port}");
        let text = format!("tcp://{authority}");
        let is_all = matches!(url.path(), "" | "/") && url.query().is_none() && url.username().is_empty();
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let address = Address { text, host, port, path: String::new(), authority, secure: false };
        (is_all && !address.host.is_empty()).then_some(address)
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

    /// The path of a URL that, for certain, leads to the same host and is sent as it is written, as most lines of a list are.
    /// `None`: to be found out by taking it apart.
    pub fn path_of<'u>(&self, url: &'u str) -> Option<&'u str> {
        let path = url.strip_prefix(self.text.strip_suffix(&self.path)?)?;
        (path.starts_with('/') && is_plain(path)).then_some(path)
    }

    /// The same host's, with a path that [`path_of`](Address::path_of) has found.
    pub fn with_path(&self, path: &str) -> Address {
        let origin = self.text.strip_suffix(&self.path).unwrap_or_default();
        Address { text: format!("{origin}{path}"), path: path.to_owned(), ..self.clone() }
    }

    fn of(mut url: Url) -> Option<Address> {
        let secure = url.scheme() == "https";
        if !secure && url.scheme() != "http" {
            return None;
        }
        url.set_fragment(None);
        // What stands before an @ is never sent as part of a URL (RFC 9110 section 4.2.4). Both can be set where there is
        // a host, as in all http URLs.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
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

/// Characters that are encoded in a path (WHATWG URL, path percent-encode set), beside those that are no ASCII.
const PATH: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`').add(b'#').add(b'?').add(b'{').add(b'}');

/// The same for a query, but for the single quote.
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>');

/// True if a text begins with these letters, in whatever case.
fn begins_with(text: &str, front: &str) -> bool {
    text.get(..front.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(front))
}

/// True if a URL may have segments of dots.
fn has_dots(text: &str) -> bool {
    ["/.", "\\.", "%2e", "%2E"].iter().any(|dots| text.contains(dots))
}

/// True if a path, and a query, stay as they are (WHATWG URL, section 4.4): nothing to be encoded, and no segment of dots.
fn is_plain(path: &str) -> bool {
    let stays = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/?=&%+:,;@!$()*".contains(&byte);
    path.bytes().all(stays) && !has_dots(path)
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

/// A URL without the user name and password before its host, and those, decoded.
pub(crate) fn split_userinfo(text: &str) -> (String, Option<(String, String)>) {
    let begin = text.find("://").map_or(text.len(), |at| at + 3);
    let end = text[begin..].find(['/', '?', '#']).map_or(text.len(), |at| begin + at);
    let Some(at) = text[begin..end].rfind('@').map(|at| begin + at) else { return (text.to_owned(), None) };
    let userinfo = &text[begin..at];
    let (name, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
    let found = (!userinfo.is_empty()).then(|| (decoded(name), decoded(password)));
    (format!("{}{}", &text[..begin], &text[at + 1..]), found)
}

/// Percent-encoding taken away (RFC 3986 section 2.1).
fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        let address = Address::parse("http://[::1]:81/a/../b?c=d#e").unwrap();
        assert_eq!((address.host.as_str(), address.port), ("::1", 81));
        assert_eq!((address.path.as_str(), address.authority.as_str()), ("/a/../b?c=d", "[::1]:81"));
        assert_eq!(address.text, "http://[::1]:81/a/../b?c=d");
        assert_eq!(Address::parse("http://h").unwrap().path, "/");
        let defaults = ["http://h", "https://h"].map(|url| Address::parse(url).unwrap());
        assert_eq!(
            defaults.each_ref().map(|address| (address.port, address.secure)),
            [(80, false), (443, true)]
        );
    }

    #[test]
    fn segments_of_dots_are_sent_as_they_were_typed() {
        for (typed, path) in [
            ("http://h/../x", "/../x"),
            ("http://h/./a/%2e%2E/b?../c#/../d", "/./a/%2e%2E/b?../c"),
            ("http://h/a\\..\\é b/..", "/a/../%C3%A9%20b/.."),
            ("http://h/.hidden/a..b/...", "/.hidden/a..b/..."),
            ("http://h?/../x", "/?/../x"),
        ] {
            let address = Address::parse(typed).unwrap();
            assert_eq!((address.path.as_str(), address.text), (path, format!("http://h{path}")), "{typed}");
        }
        // References are resolved (RFC 3986 section 5.2.4).
        assert_eq!(Address::parse("http://h/a/../b").unwrap().join("../c").unwrap().path, "/c");
    }

    /// A sentence for each kind, and no password in any.
    #[test]
    fn what_is_no_url_is_told_by_its_kind() {
        for (typed, said) in [
            ("http//h:81/x", "'http//h:81/x' has no colon behind its scheme: write http://h:81/x"),
            ("http;//h:81/x", "'http;//h:81/x' has no colon behind its scheme: write http://h:81/x"),
            ("https.//h/x", "has no colon behind its scheme: write https://h/x"),
            ("http:/h:81/x", "'http:/h:81/x' has one slash behind its scheme: write two, http://h:81/x"),
            ("https:h/x", "'https:h/x' has no slashes behind its scheme: write two, https://h/x"),
            ("http:\\\\h\\x", "'http:\\\\h\\x' has backslashes behind its scheme: write http://h\\x"),
            (
                "http:/me:geheim@h/",
                "'http:/me:***@h/' has one slash behind its scheme: write two, http://me:***@h/",
            ),
            ("ftp://h/", "begins with ftp:, which is not spoken here"),
            ("ws://h/", "begins with ws:,"),
            ("htps://h/a", "begins with htps:, which no scheme is called: write https://h/a"),
            ("/path", "begins with no scheme"),
            ("", "begins with no scheme"),
            ("http://h:99999/", "has '99999' for a port: give a number from 1 to 65535"),
            ("http://h:http/", "has 'http' for a port"),
            ("http://h:0/", "has '0' for a port"),
            ("http://me:geheim@h:0/", "'http://me:***@h:0/' has '0' for a port"),
            ("http://me:ge/heim@h/", "'http://me:***@h/' has "),
            ("http://::1:8080/a", "has an IPv6 address without brackets: write http://[::1]:8080/a"),
            ("http://2001:db8::7/", "without brackets: write http://[2001:db8::7]/"),
            ("http://[::1/", "has brackets around"),
            ("http://fe80::1%lo/", "has a zone of IPv6 behind its address"),
            ("http://[fe80::1%25eth0]:80/", "has a zone of IPv6 behind its address"),
            ("http://[h]/", "has brackets around what is no IPv6 address"),
            ("http://", "names no host"),
            ("http:///a", "names no host"),
            ("http://:80/", "names no host"),
            ("http://8080/", "names a number and no host: for port 8080 of this machine give localhost:8080"),
            ("http://123456/", "names a number and no host: give one such as localhost:8080"),
            ("http://a b/", "has a host that no name server knows"),
        ] {
            let fault = Address::read(typed).unwrap_err().to_string();
            assert!(fault.contains(said) && !fault.contains("heim"), "{typed}: {fault}");
        }
    }

    #[test]
    fn messages_go_to_a_host_and_a_port() {
        let address = Address::parse_tcp("tcp://[::1]:9000").unwrap();
        assert_eq!((address.host.as_str(), address.port), ("::1", 9000));
        assert_eq!(address.text, "tcp://[::1]:9000");
        for url in ["tcp://h", "tcp://h:1/a", "tcp://h:1?a", "tcp://u@h:1", "tcp://:1", "http://h:1", "h:1"] {
            assert_eq!(Address::parse_tcp(url), None, "{url}");
        }
        assert_eq!(Address::parse("tcp://h:1"), None);
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
    fn names_and_passwords_are_no_part_of_what_is_sent() {
        let address = Address::parse("http://me:geheim@h:81/a").unwrap();
        assert_eq!((address.text.as_str(), address.authority.as_str()), ("http://h:81/a", "h:81"));
        assert_eq!(Address::parse("http://h/").unwrap().join("//me:geheim@i/x").unwrap().text, "http://i/x");
        for (url, rest, userinfo) in [
            ("http://me:p%40w@h/a@b", "http://h/a@b", Some(("me", "p@w"))),
            ("https://me@h?x", "https://h?x", Some(("me", ""))),
            ("http://a@b:c@h", "http://h", Some(("a@b", "c"))),
            ("http://h/a:b@c", "http://h/a:b@c", None),
            ("http://@h/", "http://h/", None),
        ] {
            let userinfo = userinfo.map(|(name, password)| (name.to_owned(), password.to_owned()));
            assert_eq!(split_userinfo(url), (rest.to_owned(), userinfo), "{url}");
        }
    }

    #[test]
    fn paths_that_need_no_taking_apart() {
        let known = Address::parse("http://h:81/a/b?c").unwrap();
        for (path, is_plain) in [
            ("/", true),
            ("/x.html?a=1&b=%20", true),
            ("", false),
            ("/a/../b", false),
            ("/%2e%2E/b", false),
            ("/é", false),
            ("/a b", false),
            ("/a#b", false),
            ("/a?'", false),
            ("/\\a", false),
            ("0/", false),
            ("@i/", false),
        ] {
            let url = format!("http://h:81{path}");
            assert_eq!(known.path_of(&url), is_plain.then_some(path), "{url}");
            if is_plain {
                let taken_apart = Address::parse(&url).unwrap();
                assert_eq!((taken_apart.path.as_str(), taken_apart.text.as_str()), (path, url.as_str()));
            }
        }
        for url in ["https://h:81/", "http://h/", "http://i:81/", "http://H:81/"] {
            assert_eq!(known.path_of(url), None, "{url}");
        }
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
