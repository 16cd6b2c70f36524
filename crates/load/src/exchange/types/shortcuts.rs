//! Which loads may go which short cut: decided once, from the plan.

use plan::Load;
use plan::load::KeptContents;

/// True if requests of a load can go the fast path: nobody wants to hear more of single ones than their figures, and a connection carries
/// one at a time, any number of them.
pub(crate) fn has_fast_path(load: &Load) -> bool {
    let http = load.protocol.http();
    is_plain(load) && http.is_some_and(|http| http.h1.pipeline <= 1 && http.streams().is_none())
}

/// True if requests of a load that are the same each time may follow each other on connections of HTTP/2 by themselves: see `shortcut/repeat.rs`.
pub(crate) fn may_repeat(load: &Load) -> bool {
    !load.trace.requests
        && is_plain(load)
        && load.protocol.http().is_some_and(|http| http.streams().is_some())
}

/// True if nobody wants to hear more of single requests than their figures, none carries a field of its own, and a connection carries any number of them.
fn is_plain(load: &Load) -> bool {
    let trace = &load.trace;
    let limits = &load.limits;
    !(trace.urls || trace.heads || trace.bodies || trace.distributions)
        && trace.contents == KeptContents::Nothing
        && trace.values.is_empty()
        && trace.keep.is_nothing()
        && limits.first_byte.is_none()
        && limits.idle.is_none()
        && load.protocol.http().is_none_or(|http| http.traceparent.is_none())
        && load.protocol.connections().requests_per_connection.is_none()
}

/// Bytes of a body that comes along with its head; a longer one is worth a system call of its own that drains it.
pub(crate) const SHORT: u64 = 4 * 1024;
