//! Connections that were lost, and if the peer can have read what was sent over them. [`super::ending`] asks, and
//! [`Repeating::may_be_resent`](super::types::Repeating) decides.
//!
//! Closed before any byte can have been read is a connection whose end came before the request met it: the peer's system
//! then answers the request by a reset, which comes behind the end. A reset alone, or an end alone, proves nothing: the
//! peer may have read the request and died of it.

use super::types::Worker;
use crate::channel::Connection;
use measure::{Failure, FailureKind};

/// EPIPE, by which Linux tells a reset that came behind the end of the stream.
const RESET_BEHIND_END: i32 = 32;

/// True if a failure is that of a connection that is gone.
pub(crate) fn is_lost(failure: Failure) -> bool {
    matches!(failure.kind, FailureKind::Reset | FailureKind::ClosedEarly | FailureKind::TlsUnclosed)
}

/// True if the peer had closed before it can have read anything of what was sent last. Its reset takes a round trip, for
/// which the time of connecting stands.
pub(crate) async fn is_unread(worker: &Worker, failure: Failure, connection: &mut Connection) -> bool {
    if failure.errno() == Some(RESET_BEHIND_END) || connection.stream.is_refused() {
        return true;
    }
    if failure.kind == FailureKind::Reset {
        return false;
    }
    let until = worker.net.now() + connection.round_trip * 2;
    while worker.net.now() < until && !connection.stream.is_refused() {
        worker.net.sleep(connection.round_trip / 4).await;
    }
    connection.stream.is_refused()
}
