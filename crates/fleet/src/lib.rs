//! One load on several machines: what is said between the controller and its agents, who has which part, and what a loss means.
//!
//! Nothing here reads a clock or a socket. Both sides are state machines: [`Controller`] and [`Agent`] take what came and what time
//! it is, and say what is to be sent and done. Times are those since each side's own beginning.
//!
//! Start reading at [`message`], what is said, then `agent.rs` and `controller.rs`.

mod agent;
mod awake;
pub mod bus;
mod changing;
mod clock;
mod controller;
mod delta;
pub mod frame;
mod given_out;
mod idle;
mod inbox;
pub mod kept;
pub mod message;
mod outbox;
pub mod owner;
pub mod placing;
mod shared_out;
mod split;
pub mod stream;
pub mod token;

pub use agent::{Agent, Task};
pub use awake::Awake;
pub use changing::changes_by_the_clock;
pub use controller::{Controller, News, OnLoss, Rules};
pub use delta::{Delta, Last};
pub use given_out::not_given_out;
pub use idle::idle;
pub use outbox::{Numbered, Outbox};
pub use shared_out::not_shared_out;
pub use split::{Share, split};

/// Version of what is said between controller and agents; both must have the same.
pub const PROTOCOL: u32 = 6;
