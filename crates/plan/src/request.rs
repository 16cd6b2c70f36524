//! [`Request`]: one request, described: what `wringer http` and the doors of web server testers send.

use crate::address::Address;
use crate::body::Body;
use crate::field::Field;
use serde::{Deserialize, Serialize};

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
    #[serde(default, skip_serializing_if = "Body::is_none")]
    pub body: Body,
    /// Statuses of its answers that are good, instead of the step's; empty: the step's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<u16>,
    /// How often it is sent, beside the others of its list, in the order [`RequestOrder::Weighted`](crate::RequestOrder::Weighted).
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
            body: Body::default(),
            statuses: Vec::new(),
            weight: 1,
        }
    }

    /// Where it leads; `None` for what is no `http://` URL.
    pub fn address(&self) -> Option<Address> {
        Address::parse(&self.url)
    }
}
