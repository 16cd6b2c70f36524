//! `wringer ab` from outside, beside the real ab where that is installed: both press the same server with the same words,
//! and what they send, print and end with is the same but for what docs/src/ab.md lists.
//!
//! Servers are of the test's own (`server.rs`), with odd behaviour where wanted, and nginx. Each run has a time limit
//! (`support.rs`).

#[macro_use]
mod support;
#[path = "../support/refusing.rs"]
mod refusing;
mod server;

mod bad_input;
mod differences;
mod nginx;
mod odd_servers;
mod parsers;
mod sides;
