//! The plain counters of the client side.

use serde::{Deserialize, Serialize};

/// Declares the counters once: their fields, their sum and their names.
macro_rules! counts {
    ($($(#[$attribute:meta])* $field:ident,)+) => {
        /// Counters of the client side; each is a plain sum.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(default)]
        pub struct Counts { $($(#[$attribute])* pub $field: u64,)+ }

        impl Counts {
            /// Names of the counters, in order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($field),)+];

            /// The counters as a list in the order of [`Counts::NAMES`].
            pub fn list(&self) -> Vec<u64> { vec![$(self.$field,)+] }

            /// The counters of such a list; those behind its end are zero.
            pub fn of_list(list: &[u64]) -> Counts {
                let mut list = list.iter().copied();
                Counts { $($field: list.next().unwrap_or(0),)+ }
            }

            /// Adds another part's counters.
            pub fn merge(&mut self, other: &Counts) { $(self.$field += other.$field;)+ }
        }
    };
}

counts! {
    /// Requests begun, whatever became of them.
    requests,
    /// Requests whose answer was good.
    #[serde(alias = "fine")]
    ok,
    /// Requests whose answer came whole and failed a check: the oracle found it false, or it is not what the plan expects.
    #[serde(alias = "faulty")]
    check_failed,
    /// Requests that failed because the origin had been told to fail them.
    injected,
    /// Requests that the client broke off on purpose.
    aborted,
    /// Requests that got no good answer.
    failed,
    /// Requests still under way when their part of the run was over.
    unfinished,
    /// Requests that were due but not sent, because too many were under way.
    overflow,
    /// Requests sent again because a kept connection was lost before any byte of the answer.
    resent,
    /// Connections opened.
    connections,
    /// Of these, connections opened before their phase began.
    preconnected,
    /// Requests sent over a connection that had carried one before.
    reused,
    /// Full TLS handshakes.
    handshakes_full,
    /// TLS handshakes that resumed a session.
    handshakes_resumed,
    /// Requests sent as TLS early data (0-RTT) that the server took.
    early_accepted,
    /// Requests sent as TLS early data that the server did not take; they were sent again.
    early_rejected,
    /// Bytes of requests.
    sent_bytes,
    /// Bytes of header fields received.
    head_bytes,
    /// Bytes of bodies received, transfer coding removed.
    body_bytes,
    /// Answers from the cache.
    hits,
    /// Body bytes of hits.
    hit_bytes,
    /// Answers that the origin made for this request.
    misses,
    /// Body bytes of misses.
    miss_bytes,
    /// Answers from the cache that the origin confirmed for this request.
    revalidated,
    /// Body bytes of revalidated answers.
    revalidated_bytes,
    /// Answers that the origin made for another request under way at the same time.
    collapsed,
    /// Body bytes of collapsed requests.
    collapsed_bytes,
    /// Answers to requests that were due to be hits: the object had been delivered whole before, its lifetime was not over, and the cache had
    /// room for it (see [`crate::stored`]).
    due,
    /// Those of them that the cache did answer, alone, with the origin's word or by a fetch under way.
    due_hits,
    /// Hits of an older version than one that had come before they were asked for.
    older,
    /// Hits without an Age.
    ageless,
    /// Those of them that have a later Date than that at which they were made.
    redated,
    /// Answers that say of themselves whether they were hits (X-Cache, Cache-Status).
    claims,
    /// Those of them that say a hit of a miss, or a miss of a hit.
    false_claims,
    /// Answers with which the origin had set a cookie, and which set none.
    cookies_lost,
    /// Answers that set a cookie, and with which the origin had set none.
    cookies_added,
    /// Whole answers without an ETag, a Last-Modified or a Content-Type that the origin gives with each.
    fields_lost,
    /// Whole answers whose stamp is that of a 304 of the origin: their fields were renewed.
    renewed,
    /// Those of them without a field that the origin gave with the answer or with the 304.
    renewed_lost,
    /// Those of them in which such a field says something else, or with a Set-Cookie that is not the origin's.
    renewed_changed,
    /// Hits for HEAD without the Content-Length that an answer to GET has.
    lengthless,
    /// Answers without a stamp.
    unstamped,
    /// Answers whose stamp names no request, because the proxy did not pass the request field on.
    unattributed,
    /// Requests with `no-cache`.
    reloads,
    /// Requests with a validator.
    conditional,
    /// Requests for the head alone.
    heads,
    /// Purges sent.
    purges,
    /// Those of them that were acknowledged.
    purges_acknowledged,
    /// Hits of what had been purged before they were asked for, within the time that a purge may take.
    purged_hits,
    /// Sum of the times from a purge's acknowledgement to such a request, in microseconds.
    purged_hits_us,
    /// Answers 304 to the client.
    unchanged,
    /// Requests for a range.
    ranges,
    /// Such requests answered with the whole object, as RFC 9110 allows.
    ranges_ignored,
    /// Redirections received.
    redirects,
    /// URLs dropped because too many waited.
    dropped_urls,
    /// Sum of microseconds from the intended send to the first byte, over all answers counted in `ended`.
    first_byte_us,
    /// Sum of microseconds from the intended send to completion, over all answers counted in `ended`.
    ended_us,
    /// Requests that came to an end with an answer, good or not.
    ended,
    /// Challenges (401, 407) that were answered: each a round of its own, and no request.
    challenges,
    /// Pages whose resources were fetched.
    pages,
    /// Resources of pages that were fetched; they are requests.
    resources,
    /// Resources not fetched because an answer seen before still held.
    fresh,
    /// GOAWAYs of HTTP/2 that came.
    goaways,
    /// Streams of HTTP/2 that this side cancelled.
    streams_cancelled,
    /// Times that a request waited for one of its connection's streams to end.
    stream_waits,
    /// Interim answers (1xx) over HTTP/2.
    interims,
    /// Bytes of the fields of answers over HTTP/2, before they were compressed.
    field_bytes,
    /// Messages that nobody had asked for.
    pushed,
    /// Times that bytes came over a connection which no request had asked for: behind the last answer that was due, or while
    /// nothing was under way. They belong to no request (RFC 9112 section 6.3).
    stray,
    /// Bytes that came so.
    stray_bytes,
    /// Connections that the server gave up, by an answer of 408, while nothing was under way on them (RFC 9110 section 15.5.9).
    idle_timeouts,
    /// Requests that carried a trace context.
    traced,
    /// Events that were not told because nobody read them fast enough.
    untold,
}
