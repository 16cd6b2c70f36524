//! The origin over real sockets, as any client would see it.

mod allocations;
mod behaviour;
mod control;
mod h2spec;
mod haterm;
mod helpers;
mod hostile;
mod http2;
mod jtest;
mod native;
