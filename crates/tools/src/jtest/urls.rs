//! The URLs to fetch: those given as arguments, then those of the file. What is no URL is skipped and told.

use super::shown;
use crate::ToolShown;
use plan::Masked;
use plan::byte_order as mark;
use std::io;
use std::path::Path;
use url::Url;

/// URLs of one run at most.
const MAX_URLS: usize = 4_000_000;
/// Bytes of one URL at most.
const MAX_LENGTH: usize = 8_192;
/// Lines about skipped URLs at most; the rest is told as a number.
const MAX_COMPLAINTS: usize = 10;

/// The URLs of a run, in the order in which they are fetched.
#[derive(Debug, Default)]
pub(super) struct List {
    pub urls: Vec<String>,
    /// Host that `-J` keeps to: that of the last URL given as an argument, or else of the file's last.
    pub last_host: Option<String>,
    /// Notices about skipped URLs, a line each.
    pub notices: Vec<String>,
    /// True if one of them is an `https://` URL.
    pub https: bool,
    skipped: usize,
    /// True if the proxy is spoken to over TLS, within which there is no second one.
    secure_proxy: bool,
}

impl List {
    /// Gathers `arguments` and the lines of `file`, whose name is empty where there is none. `secure_proxy`: they
    /// are fetched through a proxy that is spoken to over TLS.
    ///
    /// # Errors
    /// The file cannot be read, or there is nothing to fetch.
    pub fn gather(
        arguments: &[String],
        file: &str,
        secure_proxy: bool,
        read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<List, ToolShown> {
        let mut list = List { secure_proxy, ..List::default() };
        for argument in arguments {
            list.take("argument", argument);
        }
        let host_of_arguments = list.last_host.clone();
        if !file.is_empty() {
            let text = read_file(Path::new(file))
                .map_err(|error| shown::failed(format!("cannot read the URL file '{file}': {error}")))?;
            list.take_lines(file, &text, MAX_URLS);
        }
        list.last_host = host_of_arguments.or(list.last_host);
        list.close(file)
    }

    /// Blank lines are passed over; a carriage return before the line end belongs to it.
    fn take_lines(&mut self, file: &str, text: &[u8], limit: usize) {
        for (index, line) in mark::behind_bytes(text).split(|byte| *byte == b'\n').enumerate() {
            let place = format!("{file}:{}", index + 1);
            if self.urls.len() == limit {
                self.notices.push(format!("{place}: only the first {limit} URLs are taken"));
                return;
            }
            match std::str::from_utf8(line) {
                Ok(line) if line.trim().is_empty() => {}
                Ok(line) => self.take(&place, line.trim()),
                Err(_) => self.skip(&place, "is not UTF-8", &String::from_utf8_lossy(line)),
            }
        }
    }

    fn take(&mut self, place: &str, text: &str) {
        match url_of(text) {
            Ok(url) if url.scheme() == "https" && self.secure_proxy => {
                self.skip(place, "https would need TLS within the TLS to the proxy", text);
            }
            Ok(url) => {
                self.https |= url.scheme() == "https";
                self.last_host = url.host_str().map(str::to_owned);
                self.urls.push(text.to_owned());
            }
            Err(reason) => self.skip(place, reason, text),
        }
    }

    fn skip(&mut self, place: &str, reason: &str, text: &str) {
        self.skipped += 1;
        if self.skipped <= MAX_COMPLAINTS {
            let shown = Masked::address(text).to_string();
            let shown: String = shown.chars().take(100).flat_map(char::escape_debug).collect();
            self.notices.push(format!("{place}: skipped, {reason}: '{shown}'"));
        }
    }

    fn close(mut self, file: &str) -> Result<List, ToolShown> {
        if self.skipped > MAX_COMPLAINTS {
            self.notices.push(format!("{} more URLs were skipped", self.skipped - MAX_COMPLAINTS));
        }
        match (self.urls.is_empty(), self.notices.first()) {
            (false, _) => Ok(self),
            (true, None) => Err(shown::failed(format!("the URL file '{file}' holds no URL"))),
            (true, Some(first)) => Err(shown::failed(format!("there is no URL to fetch; {first}"))),
        }
    }
}

/// A URL that can be fetched, or why it cannot.
fn url_of(text: &str) -> Result<Url, &'static str> {
    const NONE: &str = "no http:// URL";
    if text.len() > MAX_LENGTH {
        return Err("longer than 8192 bytes");
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("holds blanks or control characters");
    }
    let url = Url::parse(text).map_err(|_| NONE)?;
    let spoken = ["http", "https"].contains(&url.scheme());
    match url.host_str() {
        // The parser would also take http:/host.
        _ if !spoken || !text[url.scheme().len()..].starts_with("://") => Err(NONE),
        None => Err("names no host"),
        Some(_) => Ok(url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(arguments: &[&str], text: &'static [u8]) -> Result<List, ToolShown> {
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        List::gather(&arguments, "urls.txt", true, &|_| Ok(text.to_vec()))
    }

    #[test]
    fn lines_are_taken_as_people_leave_them_in_files() {
        let list =
            gather(&["http://c/9"], b"http://a/1\r\n\n  \nHTTP://b:81/2?x=y#z\nhttp://[::1]/").unwrap();
        assert_eq!(list.urls, ["http://c/9", "http://a/1", "HTTP://b:81/2?x=y#z", "http://[::1]/"]);
        assert_eq!(list.notices, [""; 0]);
        assert_eq!(list.last_host.as_deref(), Some("c"), "arguments decide before the file");
        assert_eq!(gather(&[], b"http://a/1\nhttp://b:81/2").unwrap().last_host.as_deref(), Some("b"));
    }

    #[test]
    fn what_is_no_url_is_skipped_with_its_line() {
        let text = b"http://a/\n/path\nhttps://a/\nmailto:me@a\nhttp://a b/\nhttp:/a\n\xff\nhttp://\n";
        let list = gather(&["-"], text).unwrap();
        assert_eq!(list.urls, ["http://a/"]);
        let expected = [
            "argument: skipped, no http:// URL: '-'",
            "urls.txt:2: skipped, no http:// URL: '/path'",
            "urls.txt:3: skipped, https would need TLS within the TLS to the proxy: 'https://a/'",
            "urls.txt:4: skipped, no http:// URL: 'mailto:***@a'",
            "urls.txt:5: skipped, holds blanks or control characters: 'http://a b/'",
            "urls.txt:6: skipped, no http:// URL: 'http:/a'",
            "urls.txt:7: skipped, is not UTF-8: '\u{fffd}'",
            "urls.txt:8: skipped, no http:// URL: 'http://'",
        ];
        assert_eq!(list.notices, expected);
    }

    #[test]
    fn https_is_taken_where_the_proxy_is_plain_or_none_is_there() {
        let lines = |_: &Path| Ok(b"http://a/\nHTTPS://b/\nhttps:/c".to_vec());
        let list = List::gather(&[], "urls.txt", false, &lines).unwrap();
        assert_eq!((list.urls.len(), list.last_host.as_deref(), list.https), (2, Some("b"), true));
        assert_eq!(list.notices, ["urls.txt:3: skipped, no http:// URL: 'https:/c'"]);
        assert!(!gather(&["http://a/"], b"").unwrap().https);
    }

    #[test]
    fn a_file_of_rubbish_is_told_in_a_few_lines() {
        let list = gather(&["http://a/"], b"x\ny\nz\nx\ny\nz\nx\ny\nz\nx\ny\nz\n").unwrap();
        assert_eq!(list.notices.len(), MAX_COMPLAINTS + 1);
        assert_eq!(list.notices.last().unwrap(), "2 more URLs were skipped");
    }

    #[test]
    fn nothing_to_fetch_is_an_error() {
        let table: [(&'static [u8], &str); 2] = [
            (b"\n\r\n", "jtest: the URL file 'urls.txt' holds no URL\n"),
            (
                b"\nftp://a/",
                "jtest: there is no URL to fetch; urls.txt:2: skipped, no http:// URL: 'ftp://a/'\n",
            ),
        ];
        for (text, expected) in table {
            let shown = gather(&[], text).unwrap_err();
            assert_eq!((shown.err.as_str(), shown.exit), (expected, 1));
        }
        let missing = List::gather(&[], "gone", true, &|_| Err(io::Error::from(io::ErrorKind::NotFound)));
        assert_eq!(missing.unwrap_err().err, "jtest: cannot read the URL file 'gone': entity not found\n");
    }

    #[test]
    fn a_list_has_a_limit() {
        let mut list = List::default();
        list.take_lines("f", b"http://a/1\nhttp://a/2\nhttp://a/3", 2);
        assert_eq!(list.urls.len(), 2);
        assert_eq!(list.notices, ["f:3: only the first 2 URLs are taken"]);
    }
}
