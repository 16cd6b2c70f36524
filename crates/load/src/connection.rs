//! A connection of a user: a stream, the reader of its answers, and how much it has carried.

use net::Stream;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use wire::http1::{Expect, Limits, ResponseReader};

/// An open connection.
pub(crate) struct Connection {
    pub stream: Stream,
    pub reader: ResponseReader,
    /// Requests sent over it.
    pub carried: u32,
    /// Its number within the worker, for messages.
    pub number: u64,
    /// Where it goes.
    pub to: SocketAddr,
    /// How long it took to open, until that has been counted.
    pub opened_in: Option<Duration>,
}

impl Connection {
    pub fn new(
        stream: Stream,
        limits: Limits,
        number: u64,
        to: SocketAddr,
        opened_in: Duration,
    ) -> Connection {
        let reader = ResponseReader::new(limits);
        Connection { stream, reader, carried: 0, number, to, opened_in: Some(opened_in) }
    }

    /// Gets ready for the next request, whose answer must be complete by the deadline.
    pub fn begin(&mut self, deadline: Instant, expect: Expect) {
        self.stream.set_deadline(Some(deadline));
        self.reader.begin(expect);
    }
}
