//! HPACK: field compression of HTTP/2 (RFC 7541).
//!
//! A [`Decoder`] turns field blocks into fields, strictly: what the RFC calls a decoding error is one. An [`Encoder`] writes
//! fields; what it may insert into the peer's table is the caller's choice, field by field ([`Indexing`]), so that a load
//! client inserts what is constant once and then repeats one and the same block.
//!
//! Must not know frames, streams or what a field means. Start at [`Decoder::decode`].

mod decoder;
mod encoder;
pub(crate) mod huffman;
pub(crate) mod integer;
mod skim;
mod statics;
mod table;

pub use decoder::{DecodeError, Decoder, FieldSink};
pub use encoder::{Encoder, Indexing};
pub use skim::Skim;

/// Bytes that an entry costs beside its name and value (RFC 7541 section 4.1).
pub const ENTRY_OVERHEAD: usize = 32;
/// Size of both tables before a SETTINGS frame changes it (RFC 9113 section 6.5.2).
pub const DEFAULT_TABLE_SIZE: usize = 4096;

#[cfg(test)]
mod tests;
