//! The runtime against real loopback sockets. One binary; one file per part of the surface.

mod allocations;
mod both_ways;
mod executor;
mod forbidden;
mod helpers;
mod lookup;
mod pressure;
mod tcp;
mod timers;
mod udp;
#[cfg(feature = "sim")]
mod udp_simulated;
