//! The engine: a plan's load goes in, snapshots come out. It never prints, never exits, and knows no door.
//!
//! One [`drive`] runs on each worker (one thread, one core). It walks the phases of the plan; in each, users send
//! requests when the pace says so ([`pace`]), judge what comes back (`answer`), and count it (`account`). Workers share
//! nothing but [`Control`]: the word to stop, and a common start of each phase.
//!
//! Each module may use only those that stand before it:
//! `failure` `control` `account` `auth` `channel` `code` `request` `answer` `script` `step` `pace` `exchange` `session` `program` `run`.
//!
//! Start reading at [`drive`] in `run/mod.rs`, then `run/user.rs` (one user), then `exchange/mod.rs` (one request).

// A new variant is looked at wherever its enum is matched.
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod account;
mod answer;
mod auth;
mod channel;
pub mod code;
mod control;
mod exchange;
mod failure;
pub mod pace;
mod program;
mod request;
mod run;
pub mod script;
mod session;
mod step;

pub use channel::{Hosts, UNIX};
pub use control::{Control, PassedOver, PurgeDone, PurgeOrder, RateChange, Resume};
pub use exchange::{OnBrokenOff, OnPhase};
pub use failure::of_connect as failure_of_connect;
pub use run::{Job, drive, drive_script};
pub use step::messages;
