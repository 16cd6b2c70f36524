//! One request from its turn to its account, whatever kind it is. Each room uses only those above it:
//!
//! | room | holds |
//! |---|---|
//! | `types` | the nouns: client, turn, what was sent, the traits of exchanges |
//! | `report` | single requests as they are told of |
//! | `resend`, `idle` | what was lost with a connection; bytes that nobody asked for |
//! | `ending` | what an exchange counts as when it has ended, and whether it is sent again |
//! | `own`, `shared` | the two loops: over a connection of one's own, and over streams of one that is shared |
//! | `driver` | which of the two |
//! | `kind` | what is sent and what an answer means: an object, a request of a list, a URL, a script's, a message |
//! | `shortcut` | the two short cuts past the loops |

mod driver;
mod ending;
mod idle;
mod kind;
mod own;
mod report;
mod resend;
mod shared;
mod shortcut;
mod types;

pub(crate) use driver::run as run_http;
pub(crate) use ending::unsent;
pub(crate) use kind::{
    Arrivals, MessageState, ScriptScratch, messages, object, pipeline, request, script, url,
};
pub(crate) use own::read;
pub(crate) use shortcut::{
    Begun, FastMessage as ReadyMessage, fast, go_on, is_fast, lease_repeating, repeat, try_fast,
};
pub(crate) use types::{
    AnswerRead, AnswerReading, Busy, Client, ClientTurn, Context, Described, Due, Ending, Exchanges, Head,
    HeadWritten, HttpExchanges, Moments, Repeating, SentRequest, ShortQueue, Unanswered, Worker, Written,
    has_fast_path, may_repeat,
};
pub use types::{OnBrokenOff, OnPhase};
