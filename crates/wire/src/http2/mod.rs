//! HTTP/2 (RFC 9113), without I/O: both ends of a connection, for prior knowledge and for TLS with ALPN `h2`.
//!
//! [`Client`] and [`Server`] are state machines: `read` takes whatever arrived and pushes what it means into a sink as slices of
//! the caller's buffer; what is to be sent is appended to a buffer of the caller's, a batch of frames at a time. Nothing is
//! allocated for a stream, nothing is copied but header blocks that arrive in pieces.
//!
//! It is a tester's codec: what RFC 9113 calls an error is one, with its code and a name in the catalogue ([`breach`]), and every limit is bounded
//! ([`Http2Limits`]). How often each type of frame was sent and received, and what kept data from being sent, is counted ([`Http2Counts`],
//! [`Blocked`]).
//!
//! Must not know who asked, why, or when: no sockets, no clock, no plan. Start at [`Client::read`]; `server.rs` is its twin. Below
//! them: `frame.rs` and `reader.rs` (framing), `part.rs` (which frame goes where), `hpack` (compression), `settings.rs`, `flow.rs` (windows), `streams.rs` (the streams
//! that are open), `message.rs` (what a message may hold), `core.rs` (what both ends do alike).

mod client;
mod core;
mod error;
mod fields;
mod flow;
mod frame;
pub mod hpack;
pub(crate) mod memo;
pub(crate) mod message;
mod part;
mod reader;
mod server;
mod settings;
pub(crate) mod streams;

pub use client::{Client, ClientSink, GoAway, Http2End, Template};
pub use core::{After, Blocked, BodySource, Http2Counts, Trailers};
pub use error::{Code, ConnectionError};
pub use fields::FieldList;
pub use frame::Http2FrameKind;
pub use hpack::Indexing;
pub use server::{Server, ServerSink};
pub use settings::{Http2Limits, Http2Settings};

/// The connection preface, which a client sends first (RFC 9113 section 3.4).
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[cfg(test)]
mod tests;
