//! [`Request`]: one request, described: what `wringer http` and the doors of web server testers send.

pub mod answer;
pub(crate) mod expect;
pub(crate) mod field;
pub(crate) mod list;
pub mod message;
pub(crate) mod session;

use crate::address::{Address, split_userinfo};
use crate::data::body::{Body, with_files};
use crate::data::secret::Secret;
use crate::http::credentials::Credentials;
use crate::request::answer::Extract;
use crate::request::expect::Status;
use crate::request::field::{Field, FieldValue};
use crate::request::message::Tcp;
use serde::{Deserialize, Serialize};

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// It goes out as it stands, whether it is HTTP or not: nothing of it is checked, and a field without a name is a line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw: bool,
    /// It is a unary call of gRPC: its body is a message, which goes out in gRPC's frame, and good are answers whose `grpc-status`
    /// is 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grpc: bool,
    /// It is a message over TCP, and not HTTP. In journeys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Tcp>,
    /// The body of the request.
    #[serde(default, skip_serializing_if = "Body::is_empty", deserialize_with = "with_files")]
    pub body: Body,
    /// Statuses of its answers that are good, instead of the step's; empty: the step's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<Status>,
    /// Values of its answers that later requests of the same user hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extract: Vec<Extract>,
    /// Its label: figures of requests with one name are told apart from the others; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its label in records of single requests, with placeholders; empty: `name`. In journeys.
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub title: Body,
    /// Scheme, host and port, with placeholders, instead of those of the URL. In journeys.
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub place: Body,
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
    /// A plain GET. A name and password in the URL become Basic authentication (RFC 7617).
    pub fn get(url: &str) -> Request {
        let (url, userinfo) = split_userinfo(url);
        let authorization = userinfo.map(|(name, password)| {
            let credentials = Credentials::new(&name, Secret::typed(password));
            Field::new("Authorization", FieldValue::basic(credentials))
        });
        Request {
            method: get(),
            url,
            target: None,
            raw: false,
            grpc: false,
            tcp: None,
            fields: authorization.into_iter().collect(),
            body: Body::default(),
            statuses: Vec::new(),
            extract: Vec::new(),
            name: String::new(),
            title: Body::default(),
            place: Body::default(),
            weight: 1,
        }
    }

    /// True if two differ in their URLs at most.
    pub(crate) fn is_like(&self, other: &Request) -> bool {
        let rest =
            |of: &Request| ((of.raw, of.grpc), of.weight, of.name == other.name, of.method == other.method);
        rest(self) == ((other.raw, other.grpc), other.weight, true, true)
            && self.target == other.target
            && self.fields == other.fields
            && self.body == other.body
            && self.statuses == other.statuses
            && self.extract == other.extract
            && (&self.title, &self.place, &self.tcp) == (&other.title, &other.place, &other.tcp)
    }

    /// True if nothing of it takes a journey.
    pub fn is_plain(&self) -> bool {
        self.title.is_empty() && self.place.is_empty() && self.tcp.is_none()
    }

    /// Where it leads; `None` for what is no `http://` URL, or no `tcp://` one where it is a message over TCP.
    pub fn address(&self) -> Option<Address> {
        self.address_of(&self.url)
    }

    /// Where another URL would lead it.
    pub fn address_of(&self, url: &str) -> Option<Address> {
        if self.tcp.is_some() { Address::parse_tcp(url) } else { Address::parse(url) }
    }
}
