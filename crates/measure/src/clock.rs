//! What is measured in time, and its histograms as they are kept.

use crate::buckets::Buckets;
use serde::{Deserialize, Deserializer, Serializer};
use std::collections::BTreeMap;

/// Times by what they measure.
pub type Clocks = BTreeMap<Clock, Buckets>;

/// What is measured in time; each has a histogram of microseconds, 1 µs to 1 h, three digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// From the actual send until the answer was complete; good answers only.
    Service,
    /// From the intended send until the answer was complete; good answers only.
    Response,
    /// Service time of hits.
    Hit,
    /// Service time of misses, revalidations and collapsed requests.
    Miss,
    /// From the actual send to the first byte of the answer.
    FirstByte,
    /// Opening a connection.
    Connect,
    /// From the intended send until the generator took the request up, under an open pace; before connecting, which is
    /// the target's to delay.
    Lateness,
    /// From the actual send until a request had failed.
    Failure,
    /// Looking up a name, where users do.
    Lookup,
    /// The TLS handshake, from the first message until a request may be sent; with early data, until it was complete.
    Tls,
    /// [`FirstByte`](Clock::FirstByte) of the first request of a connection.
    FirstByteNew,
    /// [`FirstByte`](Clock::FirstByte) of requests over a connection that had carried one before.
    FirstByteReused,
    /// [`Service`](Clock::Service) of the first request of a connection.
    ServiceNew,
    /// [`Service`](Clock::Service) of requests over a connection that had carried one before.
    ServiceReused,
    /// From the send of a page's request until its last resource was complete.
    Page,
    /// From the actual send until an answer was complete that was then found false.
    Faulty,
    /// From the intended send of a request that had no answer when its part of the run was over until then: its response
    /// time is at least this.
    Unfinished,
}

impl Clock {
    /// Every clock, in order.
    pub const ALL: [Clock; 17] = [
        Clock::Service,
        Clock::Response,
        Clock::Hit,
        Clock::Miss,
        Clock::FirstByte,
        Clock::Connect,
        Clock::Lateness,
        Clock::Failure,
        Clock::Lookup,
        Clock::Tls,
        Clock::FirstByteNew,
        Clock::FirstByteReused,
        Clock::ServiceNew,
        Clock::ServiceReused,
        Clock::Page,
        Clock::Faulty,
        Clock::Unfinished,
    ];

    /// Short name for machines.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Service => "service",
            Clock::Response => "response",
            Clock::Hit => "hit",
            Clock::Miss => "miss",
            Clock::FirstByte => "first_byte",
            Clock::Connect => "connect",
            Clock::Lateness => "lateness",
            Clock::Failure => "failure",
            Clock::Lookup => "lookup",
            Clock::Tls => "tls",
            Clock::FirstByteNew => "first_byte_new",
            Clock::FirstByteReused => "first_byte_reused",
            Clock::ServiceNew => "service_new",
            Clock::ServiceReused => "service_reused",
            Clock::Page => "page",
            Clock::Faulty => "faulty",
            Clock::Unfinished => "unfinished",
        }
    }
}

/// Histograms under the names of their clocks; those of later versions are passed over.
pub(crate) mod named {
    use super::*;

    pub fn serialize<S: Serializer>(clocks: &Clocks, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(clocks.iter().map(|(clock, buckets)| (clock.name(), buckets)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Clocks, D::Error> {
        let named = BTreeMap::<String, Buckets>::deserialize(from)?;
        let known = |name: &str| Clock::ALL.into_iter().find(|clock| clock.name() == name);
        Ok(named.into_iter().filter_map(|(name, buckets)| Some((known(&name)?, buckets))).collect())
    }
}
