//! Checks of answers, and what is kept of them: HTTP's and TCP messages' alike. Nothing here knows sockets,
//! connections, or when anything is sent.
//!
//! Start reading at `find.rs`, which finds one value; `check.rs` has what is done with it, while an answer of HTTP
//! comes or once a TCP message is there.

mod after;
mod canaries;
mod check;
pub(crate) mod coding;
mod find;
mod grpc;
mod judge;
mod oracle;
mod page;
mod sink;

pub(crate) use after::{After, is_of_sample};
pub(crate) use check::{Checks, Code, Extractor, Look};
pub(crate) use find::{Finder, View};
pub(crate) use judge::Judge;
pub(crate) use oracle::Serials;
pub(crate) use page::PageReader;
pub(crate) use sink::{Answer, Body, Ended, Found, Settled, Summary};
