//! Requests that are sent in two parts: a head, and a body in pieces behind it, where the plan wants it so only once the server has
//! asked for it (RFC 9110 section 10.1.1).

use super::{begin_sent, trace};
use crate::channel::{self, Connection, OpenBody};
use crate::exchange::ending::unsent;
use crate::exchange::report;
use crate::exchange::types::{
    Client, Context, Due, Exchanges, HeadWritten, Moments, SentRequest, ShortQueue, Worker,
};
use crate::failure;
use measure::{Failure, FailureKind, Stage};
use net::Lent;
use std::io;
use std::time::Duration;
use transport::Received;

/// Bytes of a body that are sent at a time.
const PIECE: u64 = 256 * 1024;

/// Bytes of interim answers that are looked through for a 100 (Continue).
const MOST_INTERIM: usize = 64 * 1024;

/// Sends a request that [`Exchanges::is_parted`], and adds it to what is under way, of which there is nothing.
pub(super) async fn send<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    mut next: Due<C::Item>,
    connection: &mut Connection,
    window: &mut ShortQueue<SentRequest<C::Item>>,
) -> Result<(), Failure> {
    let worker = context.worker;
    let now = worker.net.recently();
    let last = worker.channels.is_last(connection);
    let mut out = worker.net.buffer();
    let HeadWritten { expect, body } = match exchanges.begin(&mut next, now, last, &mut out) {
        Ok(begun) => begun,
        Err(failure) => {
            client.refusals += 1;
            let moments = Moments::at_send(next.turn.due, now);
            unsent(context, client, exchanges, next, failure, moments);
            return Ok(());
        }
    };
    let traced = trace(context, exchanges, &next, &mut out, 0);
    report::show_request(worker, &out);
    connection.last.note(&out);
    let waits = exchanges.waits(&next.item);
    let head_bytes = out.len() as u64;
    let answers = exchanges.answers(&next.item);
    window.push(SentRequest {
        traced,
        ..begin_sent(worker, connection, next, expect, now, head_bytes, answers)
    });
    (connection.cut, connection.due) = (client.cut(now), client.due(now));
    connection.set_deadline(worker.channels.first_deadline(now));
    if let Some(limit) = waits {
        channel::send(connection, out, 0, false).await?;
        if !is_asked_for(worker, connection, limit).await? {
            // Its head has announced a body that nobody gets, so nothing can follow over this connection.
            window.front_mut().into_iter().for_each(|sent| sent.last = true);
            return Ok(());
        }
        connection.set_deadline(worker.channels.first_deadline(now));
        out = worker.net.buffer();
    }
    window.front_mut().into_iter().for_each(|sent| sent.bytes += body.length());
    send_body(worker, connection, &body, out, exchanges.half_closes()).await
}

/// Sends what was written, and the body behind it.
async fn send_body(
    worker: &Worker,
    connection: &mut Connection,
    body: &OpenBody,
    mut out: net::Buffer,
    half_closes: bool,
) -> Result<(), Failure> {
    let length = body.length();
    let mut from = 0;
    loop {
        let piece = PIECE.min(length - from);
        let read = body.read(from, piece as usize, &mut out);
        read.map_err(|_| Failure::new(FailureKind::Unwritable, Stage::Send))?;
        from += piece;
        channel::send(connection, out, 0, half_closes && from == length).await?;
        if from == length {
            return Ok(());
        }
        out = worker.net.buffer();
    }
}

/// Conclusion from the bytes that have come.
#[derive(Debug, PartialEq, Eq)]
enum Interim {
    /// The body is wanted; the next answer begins here.
    Continue(usize),
    /// An answer that needs no body.
    Final,
    /// Not enough yet.
    More,
}

/// Waits until the server asks for the body, or for so long; `false`: it has answered without, or has closed the connection. What came
/// beside a 100 (Continue) is left for whoever reads the answer.
async fn is_asked_for(
    worker: &Worker,
    connection: &mut Connection,
    limit: Duration,
) -> Result<bool, Failure> {
    connection.stream.set_deadline(Some(worker.net.now() + limit));
    let mut seen = worker.net.buffer();
    loop {
        let received = match connection.take_arrived() {
            Some(arrived) => arrived,
            None => connection.stream.recv().await.map(|bytes| (bytes, 0)),
        };
        let said = match received {
            // Servers may know nothing of it.
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Interim::Continue(0),
            Err(error) => return Err(failure::of_io(&error, Stage::Head)),
            Ok((bytes, _)) if bytes.is_empty() => {
                connection.arrived = Some(Box::new(Ok(Received::end_of_stream())));
                Interim::Final
            }
            Ok((bytes, from)) => {
                worker.account.received(bytes.len() - from, worker.net.now());
                seen.extend_from_slice(&bytes[from..]);
                said(&seen)
            }
        };
        let from = match said {
            Interim::More => continue,
            Interim::Continue(from) => from,
            Interim::Final => 0,
        };
        if from < seen.len() {
            connection.leftover = Some((Received::from(Lent::from(seen)), from));
        }
        return Ok(said != Interim::Final);
    }
}

/// Reads interim answers up to the first that is 100 (Continue).
fn said(seen: &[u8]) -> Interim {
    let mut from = 0;
    while seen.len() < MOST_INTERIM {
        let rest = &seen[from..];
        let Some((start, status)) = rest.get(..7).zip(rest.get(9..12)) else { return Interim::More };
        if start != b"HTTP/1." || status[0] != b'1' || status == b"101" {
            return Interim::Final;
        }
        let Some(end) = rest.windows(4).position(|four| four == b"\r\n\r\n") else { return Interim::More };
        from += end + 4;
        if status == b"100" {
            return Interim::Continue(from);
        }
    }
    Interim::Final
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_follows_upon_100_and_upon_nothing_else() {
        let go = "HTTP/1.1 100 Continue\r\n\r\n";
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        for (seen, expected) in [
            (go.to_owned(), Interim::Continue(go.len())),
            (format!("{go}HTTP/1.1 200 OK\r\n"), Interim::Continue(go.len())),
            (format!("{hints}{go}"), Interim::Continue(hints.len() + go.len())),
            ("HTTP/1.1 100 C\r\nA: b\r\n\r\n".to_owned(), Interim::Continue(24)),
            (hints.to_owned(), Interim::More),
            (go[..go.len() - 1].to_owned(), Interim::More),
            ("HTTP/1.1 10".to_owned(), Interim::More),
            (String::new(), Interim::More),
            ("HTTP/1.1 417 Expectation Failed\r\n".to_owned(), Interim::Final),
            ("HTTP/1.1 101 Switching Protocols\r\n".to_owned(), Interim::Final),
            (format!("{hints}HTTP/1.1 200 OK"), Interim::Final),
            ("SSH-2.0-OpenSSH_9".to_owned(), Interim::Final),
        ] {
            assert_eq!(super::said(seen.as_bytes()), expected, "{seen:?}");
        }
        let endless = hints.repeat(MOST_INTERIM / hints.len() + 1);
        assert_eq!(super::said(endless.as_bytes()), Interim::Final);
    }
}
