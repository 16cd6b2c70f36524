//! Agents over a bus of messages: a server of NATS, which they dial as the controller does. What is said is what pipes carry; here
//! are the connection, and streams of bytes over it that outlive it when the server goes and comes back.

//!
//! The client is one of NATS (feature `nats`); a build without it knows where a bus would be, and says that it cannot go there.

mod at;
#[cfg(feature = "nats")]
mod end;
#[cfg(feature = "nats")]
mod gather;
#[cfg(feature = "nats")]
mod line;
#[cfg(not(feature = "nats"))]
mod none;
#[cfg(feature = "nats")]
mod pipe;

pub use at::BusAt;
#[cfg(feature = "nats")]
pub(crate) use end::End;
#[cfg(feature = "nats")]
pub use gather::{Bus, Offered};
#[cfg(feature = "nats")]
pub(crate) use line::{Line, drain, publish};
#[cfg(not(feature = "nats"))]
pub(crate) use none::missing;
#[cfg(not(feature = "nats"))]
pub use none::{Bus, Offered};
#[cfg(feature = "nats")]
pub(crate) use pipe::{Saying, ends};
