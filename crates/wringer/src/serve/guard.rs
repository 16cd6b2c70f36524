//! Who may ask the server for what. Everything is decided from the head of a request, before anything is done.
//!
//! In this order: the Host field, which stops pages of others that have their name point here (DNS rebinding); the method, as only a POST
//! may change anything; the token; then where the request comes from; of a POST, that it says so, and what it brings.

use hyper::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::{Method, StatusCode};
use session::httpd::is_equal;
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong tokens within [`WHILE`] from which on nobody is heard.
const FAILURES: u32 = 10;
const WHILE: Duration = Duration::from_secs(1);
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// State that each request is checked against.
pub struct Guard {
    token: String,
    /// Hosts by which this server may be called, with the port.
    hosts: Vec<String>,
    cookie: String,
    failures: Mutex<(Instant, u32)>,
}

/// Decision on a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is answered.
    Pass,
    /// It brought the token in its address: it gets the cookie, and the address without.
    Enter,
    /// It is refused, with a reason.
    Refuse(StatusCode, &'static str),
}

/// 128 bits of the system's chance in hexadecimal digits.
///
/// # Errors
/// The system gives none.
pub fn new_token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Guard {
    /// For a server at this port. `names`: hosts beside those of this machine by which it may be called.
    pub fn new(token: String, port: u16, address: &str, names: &[String]) -> Guard {
        let own = ["127.0.0.1", "[::1]", "localhost", address].map(str::to_owned);
        let hosts = own.iter().chain(names).map(|name| format!("{}:{port}", name.to_ascii_lowercase()));
        let hosts = hosts.collect();
        Guard { token, hosts, cookie: format!("wringer_{port}"), failures: Mutex::new((Instant::now(), 0)) }
    }

    /// The field that gives the token to a browser, for this server alone and out of reach of scripts.
    pub fn set_cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, self.token)
    }

    /// Judges a request by its head. `query`: what stands behind `?`, or nothing.
    pub fn judge(
        &self,
        method: &Method,
        path: &str,
        query: &str,
        fields: &HeaderMap,
        now: Instant,
    ) -> Verdict {
        let text = |name: HeaderName| fields.get(name).and_then(|value| value.to_str().ok());
        let host = text(HOST).map(str::to_ascii_lowercase).unwrap_or_default();
        if fields.get_all(HOST).iter().count() != 1 || !self.hosts.contains(&host) {
            return Verdict::Refuse(StatusCode::FORBIDDEN, "this server is not called so: see --host-name");
        }
        if !matches!(*method, Method::GET | Method::HEAD | Method::POST) {
            return Verdict::Refuse(
                StatusCode::METHOD_NOT_ALLOWED,
                "only GET, and POST for what changes something",
            );
        }
        let is_post = *method == Method::POST;
        match self.entry(path, is_post, query, fields, now) {
            Verdict::Pass => {}
            other => return other,
        }
        let is_ours =
            |origin: &str| self.hosts.iter().any(|host| origin.strip_prefix("http://") == Some(host));
        if text(ORIGIN).is_some_and(|origin| !is_ours(origin)) {
            return Verdict::Refuse(StatusCode::FORBIDDEN, "asked by another page");
        }
        let site = text(SEC_FETCH_SITE).unwrap_or("same-origin");
        let may_ask = site == "same-origin" || site == "none" && !is_post;
        if (path.starts_with("/api/") || is_post) && !may_ask {
            return Verdict::Refuse(StatusCode::FORBIDDEN, "asked by another page");
        }
        // A form of another page cannot send JSON without being asked first, and is refused then.
        if is_post && text(CONTENT_TYPE) != Some("application/json") {
            return Verdict::Refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "only application/json");
        }
        Verdict::Pass
    }

    fn entry(&self, path: &str, is_post: bool, query: &str, fields: &HeaderMap, now: Instant) -> Verdict {
        if self.is_flooded(now) {
            return Verdict::Refuse(StatusCode::TOO_MANY_REQUESTS, "too many wrong tokens: wait a second");
        }
        let in_address = query.split('&').find_map(|pair| pair.strip_prefix("token="));
        let found =
            in_address.map(str::to_owned).or_else(|| bearer(fields)).or_else(|| self.in_cookie(fields));
        match found {
            Some(found) if is_equal(&found, &self.token) => {
                if in_address.is_some() && path == "/" && !is_post { Verdict::Enter } else { Verdict::Pass }
            }
            found => {
                if found.is_some() {
                    self.count_failure(now);
                }
                Verdict::Refuse(
                    StatusCode::UNAUTHORIZED,
                    "open the address that wringer printed: it carries a token",
                )
            }
        }
    }

    fn in_cookie(&self, fields: &HeaderMap) -> Option<String> {
        let all = fields.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(name, _)| *name == self.cookie).map(|(_, value)| value.to_owned())
    }

    fn is_flooded(&self, now: Instant) -> bool {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        now.saturating_duration_since(failures.0) < WHILE && failures.1 >= FAILURES
    }

    fn count_failure(&self, now: Instant) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(failures.0) >= WHILE {
            *failures = (now, 0);
        }
        failures.1 += 1;
    }
}

fn bearer(fields: &HeaderMap) -> Option<String> {
    fields.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    /// A request's line, its fields, and the status that it gets.
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], u16);

    fn judged(line: &str, fields: &[(&str, &str)]) -> Verdict {
        judged_by(
            &Guard::new(TOKEN.to_owned(), 8123, "127.0.0.1", &["box.lan".to_owned()]),
            line,
            fields,
            Instant::now(),
        )
    }

    fn judged_by(guard: &Guard, line: &str, fields: &[(&str, &str)], now: Instant) -> Verdict {
        let (method, target) = line.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        guard.judge(&method.parse().unwrap(), path, query, &map, now)
    }

    fn status(verdict: Verdict) -> u16 {
        match verdict {
            Verdict::Pass => 200,
            Verdict::Enter => 303,
            Verdict::Refuse(status, _) => status.as_u16(),
        }
    }

    #[test]
    fn each_rule_has_its_status() {
        let cookie = ("cookie", "a=b; wringer_8123=0123456789abcdef0123456789abcdef");
        let bearer = ("authorization", "Bearer 0123456789abcdef0123456789abcdef");
        let host = ("host", "127.0.0.1:8123");
        let entered = format!("GET /?token={TOKEN}&run=1");
        let posted = format!("POST /?token={TOKEN}");
        let json = ("content-type", "application/json");
        let form = ("content-type", "application/x-www-form-urlencoded");
        let cases: &[Case<'_>] = &[
            ("GET /", &[host, cookie], 200),
            ("GET /api/runs", &[host, bearer], 200),
            ("GET /api/runs", &[("host", "LOCALHOST:8123"), bearer], 200),
            ("GET /api/runs", &[("host", "[::1]:8123"), bearer], 200),
            ("GET /api/runs", &[("host", "box.lan:8123"), bearer], 200),
            (&entered, &[host], 303),
            ("GET /", &[host], 401),
            ("GET /api/runs", &[host], 401),
            ("GET /?token=0123456789abcdef0123456789abcdee", &[host], 401),
            ("GET /?token=", &[host], 401),
            ("GET /", &[host, ("cookie", "wringer_8124=0123456789abcdef0123456789abcdef")], 401),
            ("GET /", &[host, ("authorization", "Basic 0123456789abcdef0123456789abcdef")], 401),
            // Names that point here but are others'.
            ("GET /", &[("host", "rebind.example:8123"), cookie], 403),
            ("GET /", &[("host", "127.0.0.1:80"), cookie], 403),
            ("GET /", &[("host", "127.0.0.1"), cookie], 403),
            ("GET /", &[("host", "127.0.0.1:8123.evil.example"), cookie], 403),
            ("GET /", &[cookie], 403),
            ("GET /", &[host, ("host", "rebind.example:8123"), cookie], 403),
            // Before anything else.
            ("POST /", &[("host", "rebind.example:8123")], 403),
            ("PUT /", &[host, cookie], 405),
            ("DELETE /api/runs/x", &[host, cookie], 405),
            // What changes something: JSON, from this page or a script with the token.
            ("POST /api/runs/x/stop", &[host, cookie, json], 200),
            ("POST /api/runs/x/stop", &[host, bearer, json], 200),
            ("POST /api/runs/x/stop", &[host, json], 401),
            ("POST /api/runs/x/stop", &[host, cookie], 415),
            ("POST /api/runs/x/stop", &[host, cookie, form], 415),
            ("POST /api/runs/x/stop", &[host, cookie, ("content-type", "text/plain")], 415),
            ("POST /api/runs/x/stop", &[host, cookie, json, ("origin", "http://127.0.0.1:8123")], 200),
            ("POST /api/runs/x/stop", &[host, cookie, json, ("origin", "http://evil.example")], 403),
            ("POST /api/runs/x/stop", &[host, cookie, json, ("origin", "null")], 403),
            ("POST /api/runs/x/stop", &[host, cookie, json, ("sec-fetch-site", "none")], 403),
            ("POST /api/runs/x/stop", &[host, cookie, json, ("sec-fetch-site", "same-site")], 403),
            ("POST /api/runs/x/stop", &[host, cookie, json, ("sec-fetch-site", "same-origin")], 200),
            (&posted, &[host, json], 200),
            // Other pages, with the browser's own word for them.
            ("GET /api/runs", &[host, cookie, ("origin", "http://evil.example")], 403),
            ("GET /api/runs", &[host, cookie, ("origin", "null")], 403),
            ("GET /api/runs", &[host, cookie, ("origin", "https://127.0.0.1:8123")], 403),
            ("GET /api/runs", &[host, cookie, ("origin", "http://127.0.0.1:8123")], 200),
            ("GET /api/runs", &[host, cookie, ("sec-fetch-site", "cross-site")], 403),
            ("GET /api/runs", &[host, cookie, ("sec-fetch-site", "same-site")], 403),
            ("GET /api/runs", &[host, cookie, ("sec-fetch-site", "same-origin")], 200),
            ("GET /api/runs/x/report?as=csv", &[host, cookie, ("sec-fetch-site", "none")], 200),
        ];
        for (line, fields, expected) in cases {
            assert_eq!(status(judged(line, fields)), *expected, "{line} {fields:?}");
        }
    }

    #[test]
    fn ten_wrong_tokens_in_a_second_shut_the_door_for_its_rest() {
        let guard = Guard::new(TOKEN.to_owned(), 1, "127.0.0.1", &[]);
        let now = Instant::now();
        let host = ("host", "127.0.0.1:1");
        let right = ("authorization", "Bearer 0123456789abcdef0123456789abcdef");
        let wrong = ("authorization", "Bearer wrong");
        for _ in 0..10 {
            assert_eq!(status(judged_by(&guard, "GET /", &[host, wrong], now)), 401);
        }
        assert_eq!(status(judged_by(&guard, "GET /", &[host, right], now)), 429);
        assert_eq!(status(judged_by(&guard, "GET /", &[host, right], now + WHILE)), 200);
        // Those without any are no guesses.
        (0..20).for_each(|_| assert_eq!(status(judged_by(&guard, "GET /", &[host], now + WHILE)), 401));
    }

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let [one, other] = [new_token().unwrap(), new_token().unwrap()];
        assert!(one.len() == 32 && one != other);
        assert!(!is_equal(&one, &other) && is_equal(&one, &one.clone()) && !is_equal(&one, &one[..31]));
    }
}
