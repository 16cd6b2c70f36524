//! What stands behind the surface: one file per way of doing I/O.
//!
//! Readiness (`epoll.rs`) is the only one so far; io_uring and the simulation come beside it. A backend offers operations
//! that complete (`poll_recv`, `poll_send`, …) and a wait; nothing above this folder asks whether a socket is ready.

pub(crate) mod epoll;
