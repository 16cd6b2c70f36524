//! The origin over real sockets, as any client would see it.

mod allocations;
mod behaviour;
mod control;
mod helpers;
mod hostile;
mod jtest;
mod native;
