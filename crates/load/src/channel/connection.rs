//! A connection of a user: a stream, and how much it has carried.

use super::Destination;
use super::usage::Usage;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use transport::{Received, TransportStream};

/// An open connection.
pub(crate) struct Connection {
    pub stream: TransportStream,
    /// Requests sent over it.
    pub carried: u32,
    /// Answers that came whole over it.
    pub answered: u32,
    /// Bytes received that belong to the next answer: from the second value on.
    pub leftover: Option<(Received, usize)>,
    /// Bytes that have come before anybody read, or the fact that no more do.
    pub arrived: Option<Box<io::Result<Received>>>,
    /// Its number within the worker, for messages.
    pub number: u64,
    /// Where it goes.
    pub to: SocketAddr,
    /// `None`: plain.
    pub secure: Option<Box<Secured>>,
    /// Time that connecting took, without TLS: a round trip.
    pub round_trip: Duration,
    /// When opening it began; `None`: before there was anything to send.
    pub begun: Option<Instant>,
    pub last: LastRequest,
    /// The moment at which whatever is under way is cut short.
    pub cut: Option<Instant>,
    /// Until when the answer under way must have come, where that is not the limit of the load.
    pub due: Option<Instant>,
    /// Use of it, told when it is over, where anybody wants to hear.
    pub usage: Option<Box<Usage>>,
}

/// Bytes kept of the request that was sent last.
const KEPT: usize = 128;

/// The beginning of the request that a connection has carried last: what comes unasked is told of under its name.
#[derive(Clone, Copy)]
pub(crate) struct LastRequest {
    bytes: [u8; KEPT],
    length: u8,
}

impl LastRequest {
    const NONE: LastRequest = LastRequest { bytes: [0; KEPT], length: 0 };

    /// Takes note of a request that is sent.
    #[inline]
    pub fn note(&mut self, request: &[u8]) {
        let length = request.len().min(KEPT);
        self.bytes[..length].copy_from_slice(&request[..length]);
        self.length = length as u8;
    }

    /// Its bytes, as many as are kept; none before the first.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Whom TLS was begun with.
pub(crate) struct Secured {
    host: Box<str>,
    /// `host:port` at the end of the tunnel that it is spoken in.
    tunnel: Option<Box<str>>,
}

impl Secured {
    fn new(host: &str, tunnel: Option<&str>) -> Box<Secured> {
        Box::new(Secured { host: host.into(), tunnel: tunnel.map(Box::from) })
    }
}

/// Outcome of opening a connection.
pub(crate) struct Opened {
    pub stream: TransportStream,
    /// Where it goes.
    pub to: SocketAddr,
    /// Its number within the worker.
    pub number: u64,
    /// When opening it began.
    pub began: Instant,
    /// Time that connecting took, without TLS.
    pub took: Duration,
    /// Use of it, told when it is over.
    pub usage: Option<Box<Usage>>,
}

impl Connection {
    pub fn new(opened: Opened, destination: Destination<'_>) -> Connection {
        Connection {
            stream: opened.stream,
            carried: 0,
            answered: 0,
            leftover: None,
            arrived: None,
            number: opened.number,
            to: opened.to,
            secure: destination.secure.map(|host| Secured::new(host, destination.tunnel)),
            round_trip: opened.took,
            begun: Some(opened.began),
            last: LastRequest::NONE,
            cut: None,
            due: None,
            usage: opened.usage,
        }
    }

    /// Something must come until then, or until the answer is due, or what is under way is cut short.
    pub fn set_deadline(&mut self, until: Instant) {
        let until = [self.cut, self.due].into_iter().flatten().fold(until, Instant::min);
        self.stream.set_deadline(Some(until));
    }

    /// An answer came over it, whole or not, the first byte of it then.
    #[inline]
    pub fn count_answer(&mut self, whole: bool, first_byte: Option<Instant>, now: Instant) {
        self.answered += 1;
        if let Some(usage) = self.usage.as_mut().filter(|_| whole) {
            usage.answered(first_byte.unwrap_or(now), now);
        }
    }

    /// Takes what has come before anybody read: the bytes, and where the next answer begins in them.
    pub fn take_arrived(&mut self) -> Option<io::Result<(Received, usize)>> {
        let left = self.leftover.take().map(Ok);
        left.or_else(|| Some(self.arrived.take()?.map(|bytes| (bytes, 0))))
    }

    /// True if it has waited for something to carry: it was opened before there was anything, or has carried a request before.
    pub fn has_waited(&self) -> bool {
        self.carried > 0 || self.begun.is_none()
    }

    /// True if nothing has come over it that was not read, as of the worker's last wait; where it takes a call to find out, false.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.leftover.is_none() && self.arrived.is_none() && self.stream.is_quiet()
    }

    /// True if it is one to this destination.
    pub fn leads_to(&self, destination: Destination<'_>) -> bool {
        // Plain connections are never inside a tunnel.
        destination.to.contains(&self.to)
            && match (self.secure.as_deref(), destination.secure) {
                (Some(with), Some(host)) => {
                    *with.host == *host && with.tunnel.as_deref() == destination.tunnel
                }
                (None, None) => true,
                _ => false,
            }
    }
}
