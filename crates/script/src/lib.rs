//! wrk's scripts: LuaJIT states, what scripts find in them, and how those of several threads speak to each other.
//!
//! It runs scripts and knows no socket, no clock and no plan beyond the step: what a script says goes to the engine through
//! [`load::script::Script`], and names are looked up by whoever implements [`Network`].
//!
//! One state per worker ([`Seat`], which becomes a script on the worker's thread) and one for `setup` and `done`, on a
//! thread of its own. A state never leaves its thread: values travel between them as messages. Start reading at [`Stage`],
//! which is what the conductor of a run has in hand, and waits for no script without a limit.

mod addr;
mod debug;
mod failure;
mod link;
mod main_state;
mod message;
mod modules;
mod network;
mod player;
mod stage;
mod state;
mod stats;
mod thread;
mod value;

pub use failure::Failure;
pub use network::Network;
pub use player::Seat;
pub use stage::{Patience, Stage};
