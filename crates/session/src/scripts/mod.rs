//! The scripts of a plan, wrk's: their stage here, a seat for each worker, and the network that they see.
//!
//! They run in LuaJIT (feature `lua`); a build without it refuses a plan that has one.

#[cfg(feature = "lua")]
mod lua;
mod network;
#[cfg(not(feature = "lua"))]
mod none;
mod step;

#[cfg(feature = "lua")]
pub use lua::{Scripts, Seat};
pub use network::{connect, lookup};
#[cfg(not(feature = "lua"))]
pub use none::{Scripts, Seat};
