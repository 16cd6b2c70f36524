//! Requests that are described one by one: what `wringer http` and the doors of web server testers send.

use crate::address::Address;
use crate::load::{Field, Reading};
use crate::session::Session;
use serde::{Deserialize, Serialize};

/// Sends requests of a list, again and again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RequestStep {
    /// At least one.
    pub requests: Vec<Request>,
    /// In which order.
    pub order: RequestOrder,
    /// What the answers must be.
    pub expect: Expect,
    /// How fast answers are read.
    #[serde(skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// What users remember from one request to the next, and do of themselves.
    #[serde(skip_serializing_if = "Session::is_none")]
    pub session: Session,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The method.
    #[serde(default = "get", skip_serializing_if = "is_get")]
    pub method: String,
    /// The URL, absolute.
    pub url: String,
    /// The request target, sent as it stands; `None`: what follows from the URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Fields of this request alone, after those of all requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// What it carries.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// What it carries where that is no text, in hexadecimal digits; `body` is then empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body_hex: String,
    /// How often it is sent, beside the others of its list, in the order [`RequestOrder::Weighted`].
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: u32,
}

fn one() -> u32 {
    1
}

fn is_one(weight: &u32) -> bool {
    *weight == one()
}

fn get() -> String {
    "GET".to_owned()
}

fn is_get(method: &str) -> bool {
    method == "GET"
}

impl Request {
    /// A plain GET.
    pub fn get(url: &str) -> Request {
        Request {
            method: get(),
            url: url.to_owned(),
            target: None,
            fields: Vec::new(),
            body: String::new(),
            body_hex: String::new(),
            weight: 1,
        }
    }

    /// The request with a body of these bytes.
    pub fn with_body(self, bytes: &[u8]) -> Request {
        match std::str::from_utf8(bytes) {
            Ok(text) => Request { body: text.to_owned(), body_hex: String::new(), ..self },
            Err(_) => {
                let body_hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                Request { body: String::new(), body_hex, ..self }
            }
        }
    }

    /// The bytes of its body; `None` where `body_hex` is no list of bytes.
    pub fn body_bytes(&self) -> Option<Vec<u8>> {
        if self.body_hex.is_empty() {
            return Some(self.body.clone().into_bytes());
        }
        let (pairs, rest) = self.body_hex.as_bytes().as_chunks::<2>();
        let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
        let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
        if rest.is_empty() { bytes.collect() } else { None }
    }

    /// Where it leads; `None` for what is no `http://` URL.
    pub fn address(&self) -> Option<Address> {
        Address::parse(&self.url)
    }
}

/// In which order the requests of a list are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum RequestOrder {
    /// In the list's order, again and again, by the number of the request.
    #[default]
    Loop,
    /// At random, evenly.
    Random,
    /// At random, by the requests' weights.
    Weighted,
    /// Each user walks the list by itself, again and again; of n users, the one with number i begins at the place
    /// i·⌊length/n⌋.
    PerUser,
}

/// What answers must be to count as good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// Statuses that are good; empty: all below 400.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<u16>,
    /// Every status is good.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub any_status: bool,
    /// What bodies must be.
    pub body: ExpectBody,
}

impl Expect {
    /// Whether a status is good.
    pub fn takes(&self, status: u16) -> bool {
        self.any_status
            || if self.statuses.is_empty() { status < 400 } else { self.statuses.contains(&status) }
    }
}

/// What bodies must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectBody {
    /// Complete by their own framing; they may be drained unread.
    #[default]
    Complete,
    /// As long as the first good answer of the run to the same request.
    SameLength,
    /// Equal to it, byte for byte.
    Same,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_of_any_bytes() {
        let get = || Request::get("http://h/");
        for bytes in [&b""[..], b"text", b"\xff\x00", &[200; 300]] {
            assert_eq!(get().with_body(bytes).body_bytes().as_deref(), Some(bytes));
        }
        assert_eq!(get().with_body(b"text").body, "text");
        for bad in ["f", "fg", "0x00"] {
            assert_eq!(Request { body_hex: bad.to_owned(), ..get() }.body_bytes(), None, "{bad}");
        }
    }

    #[test]
    fn good_statuses() {
        let any = Expect::default();
        assert_eq!(
            [200, 304, 399, 400, 503].map(|status| any.takes(status)),
            [true, true, true, false, false]
        );
        let every = Expect { any_status: true, ..Expect::default() };
        assert!([100, 200, 404, 599].iter().all(|status| every.takes(*status)));
        let only = Expect { statuses: vec![204, 404], ..Expect::default() };
        assert_eq!([200, 204, 404].map(|status| only.takes(status)), [false, true, true]);
    }
}
