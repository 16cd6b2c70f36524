//! The origin's own accounts: plain sums that join the clients' figures.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that one thread writes and any thread may read while it grows.
#[derive(Debug, Default)]
pub struct Live(AtomicU64);

impl Live {
    /// Adds to the counter. For the one writer only: load and store cost what a plain sum costs, and a second writer's
    /// additions would be lost.
    #[inline]
    pub fn add(&self, count: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
    }

    /// The sum so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Declares the origin's counters once: fields, sum, difference, list, and their twins that are live.
macro_rules! origin_counts {
    ($($(#[$doc:meta])* $field:ident,)+) => {
        /// Counters of the origin; each is a plain sum.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(default)]
        pub struct OriginCounts { $($(#[$doc])* pub $field: u64,)+ }

        impl OriginCounts {
            /// Names of the counters, in order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($field),)+];

            /// The counters as a list in the order of [`OriginCounts::NAMES`].
            pub fn list(&self) -> Vec<u64> { vec![$(self.$field,)+] }

            /// Adds another part's counters.
            pub fn merge(&mut self, other: &OriginCounts) { $(self.$field += other.$field;)+ }

            /// Returns the counts since `earlier`; never below zero, should the origin have been restarted.
            pub fn since(&self, earlier: &OriginCounts) -> OriginCounts {
                OriginCounts { $($field: self.$field.saturating_sub(earlier.$field),)+ }
            }
        }

        /// The same counters while they grow: one worker writes, any thread may read.
        #[derive(Debug, Default)]
        pub struct LiveOriginCounts { $($(#[$doc])* pub $field: Live,)+ }

        impl LiveOriginCounts {
            /// The counters as they are now; each by itself, not all at one instant.
            pub fn read(&self) -> OriginCounts { OriginCounts { $($field: self.$field.get(),)+ } }
        }
    };
}

origin_counts! {
    /// Connections accepted.
    connections,
    /// Connections closed, by whichever side.
    closed,
    /// Requests understood and answered, of whatever kind.
    requests,
    /// Answers with a whole object.
    full,
    /// Answers 206 with a range.
    partial,
    /// Answers 304.
    unchanged,
    /// Answers 416, 404, 405 and 400.
    refused,
    /// Answers 404, 410 and 301 about objects that are gone in a version, because the plan says so.
    gone,
    /// Answers to POST, PUT, PATCH and DELETE.
    accepted,
    /// Errors given because the plan says so.
    errors,
    /// Bodies cut short because the plan says so.
    cut,
    /// TCP messages that were never answered because the plan says so.
    silent,
    /// TCP messages sent that nobody asked for, because the plan says so.
    pushes,
    /// Answers to TCP messages that lack their last byte because the plan says so.
    wrong_lengths,
    /// Bytes of requests received.
    received_bytes,
    /// Bytes of header fields sent.
    head_bytes,
    /// Bytes of bodies sent.
    body_bytes,
    /// Requests with a validator.
    conditional,
    /// Requests with Range.
    ranges,
    /// Answers that no shared cache may store.
    unstorable,
    /// Requests that began while another for the same object was being answered.
    concurrent,
    /// Requests that are not HTTP, too long, or otherwise not to be understood.
    malformed,
    /// Connections that broke while an answer was being sent.
    broken,
    /// Connections that speak HTTP/2.
    http2_connections,
    /// Requests over HTTP/2, among all of them.
    http2_requests,
    /// Connections that speak HTTP/3.
    http3_connections,
    /// Requests over HTTP/3, among all of them.
    http3_requests,
    /// Datagrams of HTTP/3 that came marked CE: congestion experienced (RFC 3168).
    ecn_marked,
    /// Times that ECN was given up on a connection of HTTP/3, because the path or the client does not carry it.
    ecn_failed,
    /// Streams of HTTP/2 and HTTP/3 that the client reset, or broke.
    streams_reset,
    /// Streams of HTTP/2 and HTTP/3 that were refused, because the plan asked for it.
    streams_refused,
    /// GOAWAYs that were sent.
    goaways,
    /// Interim answers (103) that were sent, because the plan asked for them.
    early_hints,
    /// Answers 421 that were given, because the plan asked for them, to authorities that are not the connection's own.
    misdirected,
    /// Requests that carried a canary.
    canaries,
    /// Those of them with the canary of another request, or a damaged one.
    canaries_foreign,
    /// Those of them that had come before: somebody sent one request twice.
    doubled,
    /// TLS handshakes completed.
    handshakes,
    /// Those of them that resumed a session.
    handshakes_resumed,
    /// Those of them with early data that was taken.
    early_accepted,
    /// Connections that ended within the TLS handshake.
    handshakes_failed,
    /// Times that no connection could be accepted, for want of descriptors mostly.
    accept_failures,
}

impl OriginCounts {
    /// Answers with a document: whole, in part, or cut short.
    pub fn documents(&self) -> u64 {
        self.full + self.partial + self.cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_and_sums_agree() {
        let early = OriginCounts { requests: 5, full: 4, ..OriginCounts::default() };
        let late = OriginCounts { requests: 9, full: 6, broken: 1, ..OriginCounts::default() };
        let mut sum = late.since(&early);
        sum.merge(&early);
        assert_eq!(sum, late);
        assert_eq!(early.since(&late), OriginCounts::default());
        assert_eq!(late.list().len(), OriginCounts::NAMES.len());
        let live = LiveOriginCounts::default();
        live.requests.add(4);
        live.requests.add(5);
        live.full.add(6);
        live.broken.add(1);
        assert_eq!(live.read(), late);
    }
}
