//! A request as it is derived from one that was written before: its fields stay, and what an answer changed is changed.
//!
//! It works on the written bytes, so it need not know who wrote them, or why.

use crate::channel::Route;
use crate::request::chunked;
use plan::{Address, Http1};

/// A request that can be led on.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub method: String,
    pub address: Address,
    /// `HTTP/1.1` or `HTTP/1.0`.
    version: String,
    /// Field lines as written, each with its line end.
    fields: Vec<u8>,
    body: Vec<u8>,
    /// It goes elsewhere than what was written.
    moved: bool,
    /// It goes to another host: what was meant for the first one stays behind.
    foreign: bool,
    /// The body stayed behind, and with it what describes it.
    bodiless: bool,
}

/// What a session adds, and what it takes the place of.
#[derive(Debug, Default)]
pub(crate) struct Additions {
    /// Whole field lines.
    pub lines: Vec<u8>,
    /// Names of fields of the plan that are left out.
    pub instead_of: Vec<&'static str>,
}

impl Additions {
    /// Adds a field, instead of the plan's own.
    pub fn add(&mut self, name: &'static str, value: &str) {
        self.lines.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        self.instead_of.push(name);
    }
}

impl Message {
    /// Of the bytes of a request.
    pub fn of(written: &[u8], method: &str, address: &Address) -> Message {
        let head = written.windows(4).position(|four| four == b"\r\n\r\n").map_or(written.len(), |at| at + 2);
        let line = written.iter().position(|byte| *byte == b'\n').map_or(head, |at| at + 1);
        let first = String::from_utf8_lossy(&written[..line]);
        let version = first.trim_end().rsplit(' ').next().unwrap_or("HTTP/1.1").to_owned();
        // What stands in the line may have been filled with values; the URL as it was described has not.
        let target = first.split(' ').nth(1).filter(|target| *target != address.path);
        let filled = target.and_then(|target| address.join(target));
        Message {
            method: method.to_owned(),
            address: filled.unwrap_or_else(|| address.clone()),
            version,
            fields: written.get(line..head).unwrap_or_default().to_vec(),
            body: written.get(head + 2..).unwrap_or_default().to_vec(),
            moved: false,
            foreign: false,
            bodiless: false,
        }
    }

    /// Where an answer of this status leads (RFC 9110 section 15.4). `to_get`: as [`plan::Redirects::to_get`] has it.
    pub fn led_on(&self, to: Address, status: u16, to_get: bool) -> Message {
        let becomes_get = match status {
            307 | 308 => false,
            _ if to_get => true,
            301 | 302 => self.method == "POST",
            _ => self.method != "HEAD",
        };
        let foreign = self.foreign || (&to.host, to.port) != (&self.address.host, self.address.port);
        let mut next = Message { address: to, moved: true, foreign, ..self.clone() };
        if becomes_get {
            next.method = "GET".to_owned();
            next.body = Vec::new();
            next.bodiless = true;
        }
        next
    }

    /// A GET of what a page needs.
    pub fn resource(&self, at: Address) -> Message {
        Message { method: "GET".to_owned(), body: Vec::new(), bodiless: true, ..self.led_on(at, 200, false) }
    }

    /// The value of a field of the plan, where it goes along.
    pub fn given(&self, name: &str) -> Option<String> {
        let line = self.lines().find(|line| name_of(line).eq_ignore_ascii_case(name))?;
        let value = String::from_utf8_lossy(line).split_once(':')?.1.trim().to_owned();
        (!self.foreign).then_some(value)
    }

    /// The body without its framing.
    pub fn payload(&self) -> &[u8] {
        match self.lines().any(|line| chunked::is_named(name_of(line))) {
            true => chunked::body(&self.body),
            false => &self.body,
        }
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.fields.split_inclusive(|byte| *byte == b'\n')
    }

    /// Appends the request as it is sent. What is added follows the Host field, or the request line where there is none.
    pub fn write(&self, out: &mut Vec<u8>, route: &Route, http: &Http1, more: &Additions, last: bool) {
        let line = route.line(&self.address, http);
        out.extend_from_slice(format!("{} {line} {}\r\n", self.method, self.version).as_bytes());
        let is_host = |line: &[u8]| name_of(line).eq_ignore_ascii_case("Host");
        if !self.lines().any(is_host) {
            out.extend_from_slice(&more.lines);
        }
        for line in self.lines() {
            let name = name_of(line);
            if is_host(line) {
                match self.moved {
                    true => {
                        out.extend_from_slice(format!("{name}: {}\r\n", self.address.authority).as_bytes())
                    }
                    false => out.extend_from_slice(line),
                }
                out.extend_from_slice(&more.lines);
            } else if self.keeps(name, more) && route.carries(name) {
                out.extend_from_slice(line);
            }
        }
        if last && !http.bare {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&self.body);
    }

    fn keeps(&self, name: &str, more: &Additions) -> bool {
        let is = |other: &&'static str| name.eq_ignore_ascii_case(other);
        let private = ["Authorization", "Cookie"].iter().any(is);
        let of_body = name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("Content-"))
            || chunked::is_named(name);
        !(self.foreign && private || self.bodiless && of_body || more.instead_of.iter().any(is))
    }
}

fn name_of(line: &[u8]) -> &str {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    std::str::from_utf8(name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POST: &str = "POST /form HTTP/1.1\r\nHost: h\r\nX-A: b\r\nAuthorization: Basic eA==\r\n\
        Content-Type: text/plain\r\nContent-Length: 3\r\nProxy-Authorization: x\r\n\r\na=1";

    fn route(tunnel: Option<&str>) -> Route {
        Route { to: Vec::new(), secure: None, tunnel: tunnel.map(str::to_owned) }
    }

    fn text(message: &Message, added: &str, tunnel: Option<&str>) -> String {
        let more = Additions { lines: added.as_bytes().to_vec(), instead_of: Vec::new() };
        let mut out = Vec::new();
        message.write(&mut out, &route(tunnel), &Http1::default(), &more, false);
        String::from_utf8(out).unwrap()
    }

    fn post() -> Message {
        Message::of(POST.as_bytes(), "POST", &Address::parse("http://h/form").unwrap())
    }

    #[test]
    fn what_is_added_follows_host() {
        assert_eq!(text(&post(), "", None), POST);
        let added = text(&post(), "Cookie: a=b\r\n", None);
        assert!(added.contains("Host: h\r\nCookie: a=b\r\nX-A: b\r\n"), "{added}");
        let old =
            Message::of(b"GET / HTTP/1.0\r\nX: y\r\n\r\n", "GET", &Address::parse("http://h/").unwrap());
        assert_eq!(text(&old, "Cookie: a=b\r\n", None), "GET / HTTP/1.0\r\nCookie: a=b\r\nX: y\r\n\r\n");
    }

    #[test]
    fn methods_and_bodies_follow_the_status() {
        let to = Address::parse("http://h/next").unwrap();
        for (status, method) in [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")] {
            let next = post().led_on(to.clone(), status, false);
            let written = text(&next, "", None);
            assert!(written.starts_with(&format!("{method} /next HTTP/1.1\r\nHost: h\r\n")), "{written}");
            assert_eq!(written.ends_with("a=1"), method == "POST", "{written}");
            assert_eq!(written.contains("Content-"), method == "POST", "{written}");
            assert!(written.contains("Authorization: Basic"), "{written}");
        }
        let put =
            Message::of(b"PUT / HTTP/1.1\r\nHost: h\r\n\r\nx", "PUT", &to).led_on(to.clone(), 302, false);
        assert_eq!(text(&put, "", None), "PUT /next HTTP/1.1\r\nHost: h\r\n\r\nx");
        for (status, method) in [(201, "GET"), (301, "GET"), (302, "GET"), (307, "PUT"), (308, "PUT")] {
            let next = put.led_on(to.clone(), status, true);
            assert_eq!((next.method.as_str(), next.body.is_empty()), (method, method == "GET"), "{status}");
        }
    }

    #[test]
    fn payloads_are_bodies_without_framing() {
        assert_eq!(post().payload(), b"a=1");
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na=1\r\n0\r\n\r\n";
        let chunked = Message::of(chunked.as_bytes(), "POST", &Address::parse("http://h/").unwrap());
        assert_eq!(chunked.payload(), b"a=1");
        let next = chunked.led_on(Address::parse("http://h/next").unwrap(), 303, false);
        assert_eq!(text(&next, "", None), "GET /next HTTP/1.1\r\n\r\n");
    }

    #[test]
    fn secrets_stay_with_their_host() {
        let there = post().led_on(Address::parse("http://other:81/").unwrap(), 307, false);
        let written = text(&there, "", None);
        assert!(
            written.contains("Host: other:81\r\n") && !written.contains("\r\nAuthorization"),
            "{written}"
        );
        assert_eq!(there.given("authorization"), None);
        let back = there.led_on(Address::parse("http://h/").unwrap(), 307, false);
        assert!(!text(&back, "", None).contains("\r\nAuthorization"), "what was left behind stays there");
        assert!(!text(&post(), "", Some("h:443")).contains("Proxy-"));
    }
}
