//! `wringer jtest` from outside: each switch does in a real run what the old tool's did, or what docs/src/jtest.md says
//! instead; requests and answers are byte for byte those recorded of the old tool; and nothing that the old tool fell over
//! makes this one panic, hang, spin or lose a client.
//!
//! The old tool's samples were taken with the proxy's port set to the origin's own, so that the clients press the origin
//! without a proxy; most tests here do the same. Each has ports of its own and a time limit (`support.rs`), and other
//! peers are played by `peer.rs`.

mod peer;
#[macro_use]
mod support;

mod answers;
mod bad_input;
mod command_line;
mod figures;
mod proxies;
mod requests;
mod switches;
mod urls;
