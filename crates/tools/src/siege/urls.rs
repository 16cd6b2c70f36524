//! The syntax of URL files: `URL`, `URL METHOD body`, `URL METHOD <file`, and `NAME=value`.

use super::variables::{Variables, is_name};
use crate::reads::Reads;
use plan::byte_order as mark;
use plan::{Address, Body, Masked};
use std::fmt::Write;
use std::path::Path;

/// One request of a list, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UrlLine {
    /// Absolute, without user and password.
    pub url: String,
    pub method: &'static str,
    pub body: Body,
    /// Set by the line itself.
    pub content_type: Option<String>,
    /// `user:password` of the URL.
    pub user: Option<String>,
}

/// Methods that a line may name.
const METHODS: [&str; 5] = ["POST", "PUT", "PATCH", "OPTIONS", "DELETE"];

/// Reads lines.
pub(super) struct UrlReader<'a> {
    /// Unsafe characters are escaped.
    pub escaping: bool,
    pub files: &'a dyn Reads,
    /// Notices about files that could not be had; a line each.
    pub notices: Vec<String>,
}

impl UrlReader<'_> {
    /// Reads a whole file's text.
    ///
    /// # Errors
    /// The first line that cannot be meant.
    pub fn file(&mut self, text: &str, variables: &mut Variables<'_>) -> Result<Vec<UrlLine>, String> {
        let mut lines = Vec::new();
        for line in mark::behind(text).lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match definition(line) {
                Some((name, value)) => {
                    let value = variables.expand(value);
                    variables.set(name, value);
                }
                None => lines.push(self.line(&variables.expand(line))?),
            }
        }
        Ok(lines)
    }

    /// Reads one line whose variables are replaced.
    ///
    /// # Errors
    /// The line has no URL of a kind that is known.
    pub fn line(&mut self, line: &str) -> Result<UrlLine, String> {
        let line = line.trim().trim_matches('"');
        let (url, method, rest) = match with_method(line) {
            Some((url, method, rest)) => (url, method, rest),
            None => (line, "GET", ""),
        };
        let escapes = self.escaping && method == "GET";
        let (url, user) = absolute(url.trim(), escapes)?;
        let (content_type, rest) = own_type(rest.trim_start());
        let body = match rest.strip_prefix('<') {
            Some(file) => self.body(file.trim()),
            None => Body::from(rest),
        };
        Ok(UrlLine { url, method, body, content_type, user })
    }

    /// Returns the content of a file, byte for byte; of texts, without blanks at either end.
    fn body(&mut self, file: &str) -> Body {
        let path = Path::new(file);
        let body = if is_text(file) { self.files.trimmed(path) } else { self.files.body(path) };
        body.unwrap_or_else(|error| {
            self.notices
                .push(format!("unable to open file: {file} ({error}); the request goes out without a body"));
            Body::default()
        })
    }
}

/// True if a file's name says that it holds text.
fn is_text(file: &str) -> bool {
    const TEXTS: [&str; 14] =
        ["txt", "text", "html", "htm", "css", "csv", "xml", "json", "js", "md", "asc", "c", "h", "log"];
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| TEXTS.contains(&extension.to_ascii_lowercase().as_str()))
}

/// `NAME=value`.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    (!name.is_empty() && name.chars().all(is_name)).then(|| (name, value.trim()))
}

/// The URL, the method behind it, and the rest of a line.
fn with_method(line: &str) -> Option<(&str, &'static str, &str)> {
    let found = METHODS.iter().filter_map(|method| {
        let at = line.match_indices(method).map(|(at, _)| at).find(|at| {
            let before = line[..*at].ends_with([' ', '\t']);
            let after = &line[at + method.len()..];
            before && (after.is_empty() || after.starts_with([' ', '\t', '<']))
        })?;
        Some((&line[..at], *method, &line[at + method.len()..]))
    });
    found.min_by_key(|(url, ..)| url.len())
}

/// `-T type;` in front of a body.
fn own_type(rest: &str) -> (Option<String>, &str) {
    let typed = rest.strip_prefix("-T").and_then(|typed| typed.split_once(';'));
    match typed {
        Some((content_type, body)) => (Some(content_type.trim().to_owned()), body.trim_start()),
        None => (None, rest),
    }
}

/// The whole URL, and its user and password.
fn absolute(url: &str, escapes: bool) -> Result<(String, Option<String>), String> {
    let is_scheme = ["http:/", "https:/"].iter().any(|scheme| url.starts_with(scheme));
    let (scheme, rest) = match url.split_once("://") {
        // One slash: the reader of addresses says so.
        None if is_scheme => {
            Address::read(url).map_err(|fault| fault.to_string())?;
            ("http".to_owned(), url)
        }
        Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
        None => ("http".to_owned(), url),
    };
    if scheme == "ftp" {
        let shown = Masked::address(url);
        return Err(format!("'{shown}': FTP is not spoken here; leave the line out, or give an http:// URL"));
    }
    let (authority, path) = match rest.find(['/', '?', '#']) {
        Some(at) => rest.split_at(at),
        None => (rest, "/"),
    };
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user.to_owned()), host),
        None => (None, authority),
    };
    let path = path.split('#').next().unwrap_or("/");
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let path = if escapes { escape(&path) } else { path.replace(' ', "%20") };
    let whole = format!("{scheme}://{host}{path}");
    match Address::read(&whole) {
        Ok(_) => Ok((whole, user)),
        Err(fault) => Err(fault.of(url).to_string()),
    }
}

/// Characters that a URL may hold stand for themselves, all others as %XX; what is escaped without need is not.
fn escape(path: &str) -> String {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let stays = |byte: u8| unreserved(byte) || b"/?&=+%;:@,!$'()*[]".contains(&byte);
    let mut escaped = String::with_capacity(path.len());
    let bytes = path.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let coded =
            bytes.get(at + 1..at + 3).filter(|_| byte == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match coded.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(code) if unreserved(code) => escaped.push(char::from(code)),
            Some(code) => {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "%{code:02X}");
            }
            None if stays(byte) => escaped.push(char::from(byte)),
            None => {
                let _ = write!(escaped, "%{byte:02X}");
            }
        }
        at += if coded.is_some() { 3 } else { 1 };
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    fn read(text: &str) -> Result<Vec<UrlLine>, String> {
        let env = |name: &str| (name == "FROM_ENV").then(|| "env".to_owned());
        let read_file = |file: &Path| match file.to_str() {
            Some("body.json") => Ok(b" {\"a\": 1}\n".to_vec()),
            Some("body.bin") => Ok(b" \xff\0\n".to_vec()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let mut reader = UrlReader { escaping: true, files: &read_file, notices: Vec::new() };
        reader.file(text, &mut Variables::new(&env))
    }

    fn one(text: &str) -> UrlLine {
        let mut lines = read(text).unwrap();
        assert_eq!(lines.len(), 1, "{text}");
        lines.remove(0)
    }

    #[test]
    fn urls_are_made_whole() {
        for (line, url) in [
            ("http://h", "http://h/"),
            ("h:81/a?b", "http://h:81/a?b"),
            ("HTTPS://h?x=1", "https://h/?x=1"),
            ("http://[::1]:8/x", "http://[::1]:8/x"),
            ("http://h/a b", "http://h/a%20b"),
            ("http://h/%41%2fx|y", "http://h/A%2Fx%7Cy"),
            ("http://h/a#frag", "http://h/a"),
            ("\"http://h/q\"", "http://h/q"),
        ] {
            assert_eq!(one(line).url, url, "{line}");
        }
        let with_user = one("http://me:pw@h/x");
        assert_eq!((with_user.url.as_str(), with_user.user.as_deref()), ("http://h/x", Some("me:pw")));
    }

    #[test]
    fn methods_and_bodies_stand_behind_the_url() {
        for (line, method, body, content_type) in [
            ("http://h/p POST a=1&b=2", "POST", "a=1&b=2", None),
            ("http://h/p POST   a b {\"c\": \"PUT \"}", "POST", "a b {\"c\": \"PUT \"}", None),
            ("http://h/p PUT x=y", "PUT", "x=y", None),
            ("http://h/p DELETE", "DELETE", "", None),
            ("http://h/p POST <body.json", "POST", "{\"a\": 1}", None),
            ("http://h/p POST -T application/json; {}", "POST", "{}", Some("application/json")),
            ("http://h/POST", "GET", "", None),
        ] {
            let read = one(line);
            assert_eq!(
                (read.method, &read.body[..], read.content_type.as_deref()),
                (method, body.as_bytes(), content_type),
                "{line}"
            );
        }
        assert_eq!(
            one("http://h/p PATCH < body.bin").body[..],
            b" \xff\0\n"[..],
            "what is no text is sent as it is"
        );
    }

    #[test]
    fn variables_are_known_from_their_line_on() {
        let text = "$(HOST)x\n# note\n\nHOST = h:9\nhttp://$(HOST)/$(FROM_ENV)\n";
        let urls: Vec<String> = read(text).unwrap().into_iter().map(|line| line.url).collect();
        assert_eq!(urls, ["http://x/", "http://h:9/env"]);
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for (line, said) in [
            ("ftp://h/x", "FTP"),
            ("gopher://h/", "begins with gopher:"),
            ("http:///x", "names no host"),
            ("http:/h/", "write two"),
        ] {
            assert!(read(line).unwrap_err().contains(said), "{line}");
        }
    }
}
