//! HTTP/3 (RFC 9114) over QUIC (RFC 9000), without I/O: both ends of a connection.
//!
//! [`Client`] and [`Server`] are state machines: datagrams and the time go in, answers and requests come out through the sinks of
//! [`crate::http2`], and datagrams are asked for ([`Client::transmit`]). QUIC itself is quinn-proto's, and known to `quic.rs` and
//! its neighbours alone; frames, field compression and what a message may hold are ours. Requests and their bodies go through
//! QUIC's own buffers, so memory is bounded and not free of allocation.
//!
//! It is a tester's codec: what RFC 9114 calls an error is one, with its code and a sentence. Field compression has the static
//! table alone (RFC 9204 section 3.1), in both directions: nothing ever waits for another stream.
//!
//! Must not know who asked, or why: no sockets, no clock, no plan. Start at [`Client::read`]; `server.rs` is its twin. Below them:
//! `frame.rs` (framing), `control.rs` (streams that carry no messages), `upload.rs` (what waits to be sent), `qpack`.

mod client;
mod control;
pub mod error;
mod frame;
#[cfg(fuzzing)]
pub mod fuzzed;
mod limits;
mod number;
mod qpack;
mod quic;
mod server;
mod upload;

pub use client::{Client, Template};
pub use control::{GOAWAY, Http3Counts};
pub use error::{ConnectionError, Lost};
pub use limits::{Congestion, Limits};
pub use quic::{EcnCounts, Opened, QlogWriter, Received, Stats, Transmit};
pub use server::{Arrival, Datagram, Input, Key, Listener, Server};

#[cfg(test)]
mod tests;
