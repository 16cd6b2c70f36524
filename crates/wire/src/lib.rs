//! Wire protocols without I/O: bytes in, events out, and back.
//!
//! One codec serves both rollers: the load engine is the client, the synthetic origin the server. The crate must not
//! know sockets, clocks, plans or statistics; it is handed bytes and tells what they mean.
//!
//! Start reading at [`http1`], [`http2`] or [`http3`]; [`tls`] goes around it. [`message`] frames TCP messages, [`iso8583`] knows one kind of it.

pub mod http1;
pub mod http2;
pub mod http3;
pub mod iso8583;
pub mod message;
pub mod tls;

#[cfg(test)]
mod catalogue;
