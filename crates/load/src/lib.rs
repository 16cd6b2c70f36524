//! The engine: a plan's load goes in, snapshots come out. It never prints, never exits, and knows no door.
//!
//! One [`drive`] runs on each worker (one thread, one core). It walks the phases of the plan; in each, users send
//! requests when the pace says so ([`pace`]), judge what comes back (`judge`), and count it. Workers share nothing but
//! [`Control`]: the word to stop, and a common start of each phase.
//!
//! Start reading at [`drive`] in `worker.rs`, then `user.rs` (what one user does), then `exchange.rs` (one request).

mod answer;
mod asked;
mod chunked;
mod compose;
mod connection;
mod control;
mod exchange;
mod failure;
mod judge;
pub mod messages;
mod open;
mod oracle;
pub mod pace;
mod page;
mod program;
mod request;
mod requests;
mod route;
pub mod script;
mod session;
mod sign;
mod source;
mod under_way;
mod urls;
mod user;
mod worker;

pub use control::Control;
pub use failure::of_connect as failure_of_connect;
pub use requests::Hosts;
pub use route::UNIX;
pub use worker::{Job, drive, drive_script};
