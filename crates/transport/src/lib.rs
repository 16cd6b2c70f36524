//! One connection, plain or over TLS, for both rollers: [`TransportStream`] has the surface of [`net::Stream`] either way.
//!
//! It joins [`wire::tls`], which knows no socket, to `net`, which knows no TLS, in the one place that both the engine and
//! the origin use. It must not know HTTP, plans or statistics, and neither of its users.
//!
//! Start reading at [`TransportStream`]; `secure.rs` is what TLS adds.

pub mod one_request;
mod received;
mod secure;
mod stream;

pub use received::Received;
pub use secure::{Handshake, tls_error};
pub use stream::TransportStream;
