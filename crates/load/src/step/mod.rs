//! Steps made ready: what is sent, and what its answers are held to. Here `request` and `answer` meet; nothing here knows
//! when anything is sent, or who sends it.

mod message;
pub mod messages;
mod objects;
mod requests;

pub(crate) use message::TcpReader;
pub(crate) use messages::{Messages, Prepared as PreparedMessage};
pub(crate) use objects::Objects;
pub(crate) use requests::{
    Line, Models, Placing, Prepared, RequestAnswer, RequestShared, Requests, WantedLength,
};
