//! Run files: the records of a run ([`measure::RunEvent`]) as bytes, and bytes as records again. No clock, prints nothing.
//!
//! A file is a sequence of gzip members (RFC 1952), so `zcat` reads it; each holds one record as a line of JSON, and its
//! header says how long it is ([`member`]). A [`Writer`] puts each in place with one write; a [`Reader`] finds its way past
//! whatever is cut or damaged, and says so.

pub mod member;
mod read;
mod thin;
mod write;

pub use read::{Gap, Item, ReadError, Reader};
pub use thin::Thinning;
pub use write::{Place, RecordKept, Writer};
