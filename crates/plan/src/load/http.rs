//! HTTP as a load speaks it: what its versions have in common, and a table for each.

use crate::http::connections::{CloseBy, Resend};
use crate::http::http2::Http2;
use crate::http::http3::Http3;
use crate::http::tls::Tls;
use crate::load::reach::ConnectTo;
use crate::request::field::Field;
use crate::units::duration_text_option;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How requests look and how their connections live.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Http {
    /// `host:port` in URLs and in the Host field.
    pub authority: String,
    /// Requests per connection; `None` without end, 1 for no keep-alive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_connection: Option<u32>,
    /// How the client ends a connection.
    pub close: CloseBy,
    /// Which requests are sent again after a kept connection was lost.
    #[serde(skip_serializing_if = "Resend::is_usual")]
    pub resend: Resend,
    /// Fields added to each request, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// Share of requests that carry a trace context of their own (the field `traceparent`, W3C Trace Context); `None`: none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<f64>,
    /// Requests are POSTs with a body of this many counting bytes; `Some(0)`: of the document's size (jtest).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_bytes: Option<u64>,
    /// The kernel's send buffer and receive buffer of each connection, in bytes; `None`: the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socket_buffer: Option<u32>,
    /// TLS: on connections to the target; where there is none, on those to the hosts of `https://` URLs. `None`: without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// `https://` URLs are reached by way of the target through a tunnel (CONNECT, RFC 9110 section 9.3.6) and `tls` is
    /// spoken inside it; the target itself is then spoken to without. Fields whose names begin with `Proxy-` go to the
    /// target alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tunnel: bool,
    /// Path of a Unix socket that all connections go to, instead of the target and of the hosts of URLs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix_socket: Option<String>,
    /// Where connections go instead of the host that a URL names; the first that fits is taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connect_to: Vec<ConnectTo>,
    /// HTTP/1, spoken where neither of the others is, or by those users of whom `http` of their phase or group says it.
    pub h1: Http1,
    /// HTTP/2 is spoken instead, or by those users of whom `http` of their phase or group says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub h2: Option<Http2>,
    /// HTTP/3 is spoken instead, or by those users of whom `http` of their phase or group says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub h3: Option<Box<Http3>>,
}

impl Http {
    /// Requests that may be under way at once on a connection that users share; `None`: HTTP/1, whose users have connections of
    /// their own.
    pub fn streams(&self) -> Option<u32> {
        let h2 = self.h2.as_ref().map(|h2| h2.streams);
        h2.or(self.h3.as_ref().map(|h3| h3.streams))
    }

    /// A connection carries requests for other hosts, too, where it may.
    pub fn coalesces(&self) -> bool {
        let h2 = self.h2.as_ref().is_some_and(|h2| h2.coalesce);
        h2 || self.h3.as_ref().is_some_and(|h3| h3.coalesce)
    }
}

impl Default for Http {
    fn default() -> Http {
        Http {
            authority: "localhost:9080".to_owned(),
            requests_per_connection: None,
            close: CloseBy::Fin,
            resend: Resend::default(),
            fields: Vec::new(),
            traceparent: None,
            post_bytes: None,
            socket_buffer: None,
            tls: None,
            tunnel: false,
            unix_socket: None,
            connect_to: Vec::new(),
            h1: Http1::default(),
            h2: None,
            h3: None,
        }
    }
}

/// Settings of HTTP/1 alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Http1 {
    /// Form of the request line.
    pub form: RequestForm,
    /// Version of HTTP/1 that requests speak; those for objects speak 1.1.
    #[serde(skip_serializing_if = "Http1Version::is_1_1")]
    pub version: Http1Version,
    /// Requests carry the fields that the plan lists, in their order, and no others: neither Host nor
    /// Content-Length nor Connection is added.
    #[serde(skip_serializing_if = "std::ops::Not::not", alias = "bare")]
    pub listed_fields_only: bool,
    /// Requests that are sent at once over a connection, before the first of them is answered; 1: each waits for
    /// the answer to the one before.
    #[serde(skip_serializing_if = "is_one")]
    pub pipeline: u32,
    /// How long a request with the field `Expect: 100-continue` waits for that before it sends its body (RFC 9110 section 10.1.1);
    /// `None`: not at all.
    #[serde(with = "duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub expect_continue: Option<Duration>,
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

impl Default for Http1 {
    fn default() -> Http1 {
        Http1 {
            form: RequestForm::Reverse,
            version: Http1Version::OneOne,
            listed_fields_only: false,
            pipeline: 1,
            expect_continue: None,
        }
    }
}

/// A version of HTTP/1 (RFC 9112 section 2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Http1Version {
    /// HTTP/1.0: connections are kept only where both sides say so.
    #[serde(rename = "1.0")]
    OneZero,
    /// HTTP/1.1.
    #[default]
    #[serde(rename = "1.1")]
    OneOne,
}

impl Http1Version {
    fn is_1_1(&self) -> bool {
        *self == Http1Version::OneOne
    }

    /// As it stands in a first line.
    pub fn text(self) -> &'static str {
        match self {
            Http1Version::OneZero => "HTTP/1.0",
            Http1Version::OneOne => "HTTP/1.1",
        }
    }
}

/// How a proxy is addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RequestForm {
    /// `GET /path` with a Host field: what a web server or reverse proxy sees.
    Reverse,
    /// `GET http://host:port/path`: what a forward proxy sees.
    Forward,
    /// `GET /path` without Host: what a transparent proxy of old sees (HTTP/1.0).
    Transparent,
}
