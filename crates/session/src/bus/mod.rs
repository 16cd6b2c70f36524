//! Agents over a bus of messages: a server of NATS, which they dial as the controller does. What is said is what pipes carry; here
//! are the connection, and streams of bytes over it that outlive it when the server goes and comes back.

mod end;
mod gather;
mod line;
mod pipe;

pub(crate) use end::End;
pub use gather::{Bus, Offered};
pub use line::BusAt;
pub(crate) use line::{Line, drain, publish};
pub(crate) use pipe::{Saying, ends};
