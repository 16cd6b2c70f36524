//! Recordings of live traffic: their file, the readers that make one of logs, traces and captures, and what can be learnt of one.
//!
//! A *recording* is traffic as it came, sorted by the moment at which requests began, checked and anonymised. Whatever an input is,
//! it becomes a recording first ([`import`]), so there is one way to replay ([`replay`]) and one to fit ([`fit`]). No clock, no socket, and no file but
//! what is handed in as [`std::io::Read`], [`std::io::Write`] or [`std::io::Seek`].

pub mod cache_words;
pub mod entry;
pub mod file;
pub mod fit;
pub mod format;
pub mod import;
pub mod left_out;
#[cfg(feature = "made")]
pub mod made;
pub mod moment;
pub mod packets;
pub mod private;
pub mod read;
pub mod replay;
pub mod request;
pub mod schema;
pub mod text;
pub mod words;
pub mod written;
