//! Requests and TCP messages as they are written: templates, and the values that fill them.
//!
//! One template language and one set of values for all that is sent. [`Compiler`] takes the texts of one request apart, once,
//! before the first is sent; [`RequestPart::write`] fills them in, allocating nothing once its buffers have grown. What must
//! not come twice is dealt out ([`deal`]). Nothing here knows sockets, connections, or when anything is sent.
//!
//! Start reading at `template.rs`; `message.rs` has what only TCP messages have: lengths and checksums.

pub(crate) mod asked;
mod checksum;
pub(crate) mod chunked;
pub(crate) mod compose;
mod contents;
mod draft;
mod edited;
mod framing;
pub(crate) mod http;
mod message;
pub(crate) mod sign;
mod template;
mod time;
mod trace_context;
pub(crate) mod urls;
mod value;

pub(crate) use contents::contents;
pub(crate) use message::{MessageTemplate, Scratch, number};
pub(crate) use template::{
    Compiler, Filling, RequestNamed, RequestPart, RequestScope, Scrap, SlotNames, Slots, Starts, Values,
    is_fixed, joined, starts, uses_slots, write_all,
};
pub(crate) use trace_context::{Numbered, TraceContext, TraceContexts};
pub(crate) use value::{FieldLine, HttpRequest};

use plan::data::{Source, Time};

/// Why values cannot be made on this machine: time zones, forms of times.
pub(crate) fn violation(source: &Source) -> Option<String> {
    let Source::Time(Time::Text(text)) = source else { return None };
    time::TimeWriter::new(text).err()
}
