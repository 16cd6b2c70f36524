//! The worker runtime: a single-threaded executor, TCP and datagrams, for one core.
//!
//! Its purpose: code that reads as one task per connection and costs what a bare epoll loop costs. A task is polled
//! directly when the event of its socket arrives or its timer fires; there is no run queue for I/O and there are no wakers.
//!
//! The surface is completion-shaped, so that readiness, io_uring and a simulation can stand behind it: [`Stream::recv`]
//! lends bytes that go back when the guard drops, [`Stream::send`] owns the bytes until they are gone. Readiness is known
//! to `backend/` only.
//!
//! It must not know: HTTP, plans, recorders. It is the only crate with sockets and a clock.
//!
//! Where to start: [`run`] (one turn of the loop), then `turn.rs` (what tasks and sockets share) and `stream.rs`.
//!
//! Because there are no wakers, a task may await only what this crate hands out (and combinations that poll all their
//! parts whenever they are polled, such as a join or a select): a channel of another runtime would never wake it. In
//! return each future here tolerates being polled without cause.

mod backend;
mod buffer;
mod clock;
pub mod command_line;
mod datagrams;
mod ended;
mod event;
mod handle;
mod listener;
mod lookup;
mod options;
pub mod packets;
pub mod ports;
mod run;
#[cfg(feature = "sim")]
mod simulation;
mod sleep;
mod standstills;
mod stream;
mod tasks;
mod timers;
mod turn;
mod udp;
mod usage;
mod worker;

#[cfg(feature = "sim")]
pub use backend::sim::{Faults, Log, Simulation};
pub use buffer::{Buffer, Lent};
pub use clock::thread_cpu;
pub use datagrams::{Datagrams, Outgoing};
pub use ended::exit_status;
pub use event::Event;
pub use handle::Net;
pub use listener::Listener;
pub use options::{Close, ConnectOptions, Io, Limits, ListenOptions, UdpOptions};
pub use run::{probe, run};
#[cfg(feature = "sim")]
pub use simulation::Simulated;
pub use sleep::Sleep;
pub use standstills::Standstills;
pub use stream::{RecvHalf, SendHalf, Stream};
pub use tasks::TaskId;
pub use udp::{Came, UdpSocket};
pub use usage::Usage;
pub use worker::panic_text;
