//! Numbers of the streams that requests have: QUIC's, those that callers know, and the keys of tables.

/// The place in a table of streams, whose keys are odd.
pub(super) fn key(number: u32) -> u32 {
    2 * number + 1
}

/// The number of a stream among those that a client opens for requests; there are fewer than 2^32 of them.
pub(super) fn number(stream: u64) -> u32 {
    (stream / 4) as u32
}

/// The identifier that QUIC has for it (RFC 9000 section 2.1).
pub(super) fn id(number: u32) -> u64 {
    u64::from(number) * 4
}
