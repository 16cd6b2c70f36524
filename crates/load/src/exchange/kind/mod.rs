//! The kinds of requests, a file each: what is sent, and what an answer means.

mod list;
mod message;
mod object;
mod script;
mod url;

pub(crate) use list::{RequestExchanges, pipeline, request};
pub(crate) use message::{Arrivals, MessageState, messages};
pub(crate) use object::object;
pub(crate) use script::{Scratch as ScriptScratch, script};
pub(crate) use url::url;
