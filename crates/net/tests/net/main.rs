//! The runtime against real loopback sockets. One binary; one file per part of the surface.

mod allocations;
mod executor;
mod helpers;
mod lookup;
mod tcp;
mod timers;
