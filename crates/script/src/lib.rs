//! wrk's scripts: LuaJIT states, what scripts find in them, and how those of several threads speak to each other.
//!
//! It runs scripts and knows no socket, no clock and no plan beyond the step: what a script says goes to the engine through
//! [`load::script::Script`], and names are looked up by whoever implements [`Network`].
//!
//! One state per worker ([`Seat`], which becomes a script on the worker's thread) and one for `setup` and `done`
//! ([`Stage`], on the thread of whoever runs the test). A state never leaves its thread: values travel between them as
//! messages. Start reading at [`Stage`].

mod failure;
mod message;
mod player;
mod stage;
mod state;
mod stats;
mod thread;
mod value;

pub use failure::Failure;
pub use player::Seat;
pub use stage::{Network, Stage};
