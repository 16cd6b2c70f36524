//! Both ends of a connection on one worker, over real sockets, plain and over TLS.

mod allocations;
mod early;
mod helpers;
mod streams;
