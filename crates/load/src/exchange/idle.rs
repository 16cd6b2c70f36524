//! Bytes that come over a connection while nothing is under way on it: they are nobody's answer (RFC 9112 section 6.3). A client looks before it
//! sends, because afterwards they could not be told from an answer.
//!
//! Start reading at [`is_clean`].

use super::types::{Context, Worker, closed_early};
use super::{report, resend};
use crate::answer::Summary;
use crate::channel::Connection;
use measure::{Event, Evidence};
use std::io;
use transport::Received;

/// Bytes that come unasked are read up to this many; the connection is given up in any case.
const READ_MOST: u64 = 256 * 1024;

/// The status by which a server says that it waits no longer (RFC 9110 section 15.5.9).
const TIMEOUT: u16 = 408;

/// The status behind which a connection speaks another protocol (RFC 9110 section 15.2.2).
pub(super) const SWITCHING: u16 = 101;

/// Of these, so many are shown.
const SHOWN: usize = 1024;

/// True if a connection may carry a request: nothing came over it since its last answer, neither bytes nor an end. Bytes are accounted
/// for under the request that it carried last. `takes`: bytes that the protocol lets come at any time are taken there, if it says so.
#[inline]
pub(super) fn is_clean(
    context: Context<'_>,
    connection: &mut Connection,
    takes: impl FnMut(&[u8]) -> bool,
) -> bool {
    connection.is_quiet() || look(context, connection, takes)
}

/// Looks at what has come.
#[cold]
fn look(context: Context<'_>, connection: &mut Connection, mut takes: impl FnMut(&[u8]) -> bool) -> bool {
    let mut stray = Stray::default();
    let has_ended = loop {
        let (bytes, from) = match next(connection) {
            Ok(Some(came)) => came,
            Ok(None) => break false,
            // It has failed while it was idle, which harms nobody: the request goes over another one.
            Err(_) => break true,
        };
        match &bytes[from..] {
            [] => break true,
            more if stray.count == 0 && takes(more) => {}
            more => stray.add(more),
        }
        if stray.count > READ_MOST {
            break true;
        }
    };
    let is_clean = stray.count == 0 && !has_ended;
    if !is_clean {
        // For whoever looks next: what was read is not read again.
        connection.arrived = Some(Box::new(Ok(Received::end_of_stream())));
    }
    stray.tell(context, connection);
    is_clean
}

/// The next bytes that have come, and where they begin; empty: the end of the stream.
fn next(connection: &mut Connection) -> io::Result<Option<(Received, usize)>> {
    match connection.take_arrived() {
        Some(arrived) => arrived.map(Some),
        None => Ok(connection.stream.try_recv()?.map(|bytes| (bytes, 0))),
    }
}

/// The bytes behind the last answer that was due, in one piece with it, are accounted for as if they had come later. True if there
/// are any. Behind 101 another protocol is spoken.
pub(super) fn note_surplus(context: Context<'_>, connection: &mut Connection, answer: &Summary) -> bool {
    if answer.status == SWITCHING {
        connection.leftover = None;
    }
    connection.leftover.is_some() && !look(context, connection, |_| false)
}

/// Bytes that no request had asked for.
#[derive(Default)]
struct Stray {
    count: u64,
    /// The first of them.
    shown: Vec<u8>,
}

impl Stray {
    fn add(&mut self, bytes: &[u8]) {
        self.count += bytes.len() as u64;
        let room = SHOWN.saturating_sub(self.shown.len());
        self.shown.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn tell(self, context: Context<'_>, connection: &Connection) {
        let account = &context.worker.account;
        if self.count == 0 {
            return;
        }
        if is_timeout(&self.shown) {
            return account.count(|counts| counts.idle_timeouts += 1);
        }
        account.count(|counts| {
            counts.stray += 1;
            counts.stray_bytes += self.count;
        });
        let left = account.wanted.stray.get();
        if left == 0 {
            return;
        }
        account.wanted.stray.set(left - 1);
        let request = String::from_utf8_lossy(connection.last.bytes()).into_owned();
        let title = report::request_line(&request);
        account.tell(Event::Evidence(Box::new(Evidence {
            stray: self.count,
            detail: after(title, connection.carried),
            title: title.to_owned(),
            at_us: account.since_start().as_micros() as u64,
            phase: context.phase.name.clone(),
            request,
            response: self.shown.escape_ascii().to_string(),
            ..Evidence::default()
        })));
    }
}

/// An answer of 408: the server says that it will not wait any longer for a request, which is no answer to one that it then gets
/// (RFC 9110 section 15.5.9).
fn is_timeout(bytes: &[u8]) -> bool {
    let status = bytes.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(1..5));
    status == Some(b" 408")
}

/// True if an answer may have crossed the request on the wire, since it says of a connection that has waited that the server waits no longer.
pub(super) fn is_last_word(answer: &Summary, has_waited: bool) -> bool {
    has_waited && answer.status == TIMEOUT && !answer.keep_alive
}

/// True if it did: the peer had given the connection up before it can have read the request.
pub(super) async fn has_crossed(worker: &Worker, connection: &mut Connection) -> bool {
    let crossed = resend::is_unread(worker, closed_early(), connection).await;
    worker.account.count(|counts| counts.idle_timeouts += u64::from(crossed));
    crossed
}

/// When they came.
fn after(title: &str, carried: u32) -> String {
    match (carried, title) {
        (0, _) => "before anything had been sent over a connection that was opened ahead".to_owned(),
        (_, "") => "behind the last answer".to_owned(),
        (_, title) => format!("behind the answer to {title}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_408_is_known_by_its_first_line() {
        for (bytes, is) in [
            (&b"HTTP/1.1 408 Request Time-out\r\n"[..], true),
            (b"HTTP/1.0 408\r\n", true),
            (b"HTTP/1.1 4080 x\r\n", true),
            (b"HTTP/1.1 200 OK\r\n", false),
            (b"HTTP/1.1 40", false),
            (b"HTTP/2 408", false),
            (b"0\r\n\r\n", false),
            (b"", false),
        ] {
            assert_eq!(is_timeout(bytes), is, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn what_is_shown_has_an_end_and_what_is_counted_has_none() {
        let mut stray = Stray::default();
        (0..3).for_each(|_| stray.add(&[b'x'; 1000]));
        assert_eq!((stray.count, stray.shown.len()), (3000, SHOWN));
    }
}
