//! A connection of a user: a stream, the reader of its answers, and how much it has carried.

use crate::exchange::Place;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use transport::{Received, Stream};
use wire::http1::{Limits, ResponseReader};

/// An open connection.
pub(crate) struct Connection {
    pub stream: Stream,
    pub reader: ResponseReader,
    /// Requests sent over it.
    pub carried: u32,
    /// Answers that came whole over it.
    pub answered: u32,
    /// What was received and belongs to the next answer: from the second value on.
    pub leftover: Option<(Received, usize)>,
    /// Its number within the worker, for messages.
    pub number: u64,
    /// Where it goes.
    pub to: SocketAddr,
    /// The host that TLS was begun with; `None`: plain.
    pub secure: Option<Box<str>>,
    /// What the tunnel leads to that TLS is spoken in.
    pub tunnel: Option<Box<str>>,
    /// How long it took to open, until that has been counted.
    pub opened_in: Option<Duration>,
    /// How long it took to open: a round trip.
    pub round_trip: Duration,
    /// When opening it began.
    pub begun: Instant,
}

/// What came of opening a connection.
pub(crate) struct Opened {
    pub stream: Stream,
    /// Where it goes.
    pub to: SocketAddr,
    /// Its number within the worker.
    pub number: u64,
    /// How long connecting took, without TLS.
    pub took: Duration,
}

impl Connection {
    pub fn new(opened: Opened, limits: Limits, place: Place<'_>, begun: Instant) -> Connection {
        Connection {
            stream: opened.stream,
            reader: ResponseReader::new(limits),
            carried: 0,
            answered: 0,
            leftover: None,
            number: opened.number,
            to: opened.to,
            secure: place.secure.map(Box::from),
            tunnel: place.tunnel.map(Box::from),
            opened_in: Some(opened.took),
            round_trip: opened.took,
            begun,
        }
    }

    /// Whether it is one to this place.
    pub fn leads_to(&self, place: Place<'_>) -> bool {
        // Plain connections are never inside a tunnel.
        place.to.contains(&self.to)
            && self.secure.as_deref() == place.secure
            && (place.secure.is_none() || self.tunnel.as_deref() == place.tunnel)
    }
}
