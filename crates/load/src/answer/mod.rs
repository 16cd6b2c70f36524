//! Checks of answers, and what is kept of them: HTTP's and TCP messages' alike. Nothing here knows sockets,
//! connections, or when anything is sent.
//!
//! Start reading at `find.rs`, which finds one value; `test.rs` says what it must be, `check.rs` what is looked at while an
//! answer of HTTP comes and once it is there.

mod after;
mod beside;
mod canaries;
mod check;
pub(crate) mod coding;
mod content;
mod difference;
mod due;
mod extractor;
mod find;
mod grpc;
mod judge;
mod kept;
mod oracle;
mod page;
mod purged;
mod query;
mod remarks;
mod remembered;
mod sink;
mod test;
mod told;

pub(crate) use after::{After, is_of_sample};
pub(crate) use check::{Checks, Look};
pub(crate) use due::{DueHit, Given};
pub(crate) use extractor::{Extractor, ExtractorCode};
pub(crate) use find::{AnswerView, Finder};
pub(crate) use judge::Judge;
pub(crate) use kept::WithBody;
pub(crate) use oracle::Serials;
pub(crate) use page::PageReader;
pub(crate) use remarks::Remarks;
pub(crate) use sink::{AnswerEnd, AnswerFound, AnswerSink, Body, Settled, Summary};
pub(crate) use test::Test;
