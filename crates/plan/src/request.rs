//! Requests that are described one by one: what `wringer http` and the doors of web server testers send.

use crate::address::Address;
use crate::load::Field;
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
    /// What stands in the request line instead of the URL's path and query, as it is; empty: those.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// Fields of this request alone, after those of all requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// What it carries.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
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
            target: String::new(),
            fields: Vec::new(),
            body: String::new(),
            weight: 1,
        }
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
    /// Any status is good.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub any_status: bool,
    /// What bodies must be.
    pub body: ExpectBody,
}

impl Expect {
    /// Whether a status is good.
    pub fn takes(&self, status: u16) -> bool {
        match self.statuses.as_slice() {
            _ if self.any_status => true,
            [] => status < 400,
            listed => listed.contains(&status),
        }
    }
}

/// What bodies must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectBody {
    /// Complete by their own framing; they may be drained unread.
    #[default]
    Complete,
    /// As long as the first good answer to the same request on the same worker.
    SameLength,
    /// Equal to it, byte for byte.
    Same,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_statuses() {
        let any = Expect::default();
        assert_eq!(
            [200, 304, 399, 400, 503].map(|status| any.takes(status)),
            [true, true, true, false, false]
        );
        let only = Expect { statuses: vec![204, 404], ..Expect::default() };
        assert_eq!([200, 204, 404].map(|status| only.takes(status)), [false, true, true]);
        assert!(Expect { any_status: true, ..Expect::default() }.takes(503));
    }
}
