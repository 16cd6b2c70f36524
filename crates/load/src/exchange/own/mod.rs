//! The loop over connections of one's own, of HTTP/1 and of messages over TCP.
//!
//! *Lease a connection · write what is to be sent · send · read until an answer has ended · account · give the connection back.* Start
//! reading at [`run`].

mod http;
mod parted;
mod tcp;

pub(crate) use http::read;
pub(crate) use tcp::of_framing;

use super::ending::{settle, unsent};
use super::types::{AnswerRead, Client, Context, Due, Exchanges, Moments, SentRequest, ShortQueue, Worker};
use super::{idle, report, resend};
use crate::channel::{self, Connection};
use crate::request::TraceContext;
use measure::Failure;
use plan::CloseBy;
use std::time::Instant;
use wire::http1::Expect;

/// Sends what is due, and what follows it, until every request has ended in one way.
pub(crate) async fn run<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    mut due: ShortQueue<Due<C::Item>>,
) {
    while let Some(first) = due.front() {
        if client.slot.connection.is_none() {
            exchanges.connecting();
        }
        let destination = exchanges.destination(&first.item);
        match context.worker.channels.lease(&mut client.slot, destination).await {
            Ok(connection) => {
                exchanges.connected(connection.carried == 0);
                attempt(context, client, exchanges, &mut due, connection, ShortQueue::default()).await;
            }
            Err(seen) => {
                let Some(first) = due.pop() else { return };
                client.refusals += 1;
                let moments =
                    Moments { due: first.turn.due, sent: seen.began, first_byte: None, ended: seen.ended };
                unsent(context, client, exchanges, first, seen.failure, moments);
                exchanges.left(due.len());
            }
        }
    }
}

/// Goes on over one connection until nothing is under way and nothing more is to be sent over it. `window`: what is under way.
pub(crate) async fn attempt<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    due: &mut ShortQueue<Due<C::Item>>,
    mut connection: Box<Connection>,
    mut window: ShortQueue<SentRequest<C::Item>>,
) {
    let channels = &context.worker.channels;
    let mut is_clean = true;
    let read = loop {
        if window.is_empty() && connection.has_waited() {
            is_clean = idle::is_clean(context, &mut connection, |bytes| exchanges.unasked(client, bytes));
            if !is_clean {
                break None;
            }
        }
        if let Err(failure) = fill(context, client, exchanges, due, &mut connection, &mut window).await {
            break Some(AnswerRead::Failed(failure));
        }
        if window.is_empty() {
            break None;
        }
        match exchanges.read(client, &mut connection, &mut window).await {
            AnswerRead::Answered => exchanges.left(due.len() + window.len()),
            AnswerRead::Due => {}
            ended @ (AnswerRead::Over { .. }
            | AnswerRead::Broken(_)
            | AnswerRead::GivenUp
            | AnswerRead::Lost(_)
            | AnswerRead::Failed(_)) => break Some(ended),
        }
    };
    let keep = is_clean && read.is_none() && !channels.is_used_up(&connection);
    if let Some(read) = read {
        let unread = if let AnswerRead::Lost(failure) = read
            && context.worker.channels.plan().resend.minds_losses()
        {
            resend::is_unread(context.worker, failure, &mut connection).await
        } else {
            true
        };
        if let Some(loss) = read.loss(unread) {
            settle(context, client, exchanges, due, &mut window, loss);
        }
        exchanges.left(due.len());
        if let (AnswerRead::Over { peer_closes: true }, CloseBy::Peer) = (read, channels.plan().close) {
            channels.await_close(&mut connection).await;
        }
    }
    channels.put_back(&mut client.slot, connection, keep).await;
}

/// Fills what may be under way, in one send.
async fn fill<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    due: &mut ShortQueue<Due<C::Item>>,
    connection: &mut Connection,
    window: &mut ShortQueue<SentRequest<C::Item>>,
) -> Result<(), Failure> {
    let worker = context.worker;
    let now = worker.net.recently();
    let mut out = None;
    let mut payload = 0;
    while window.len() < exchanges.depth() && payload == 0 && !worker.channels.is_used_up(connection) {
        let next = match due.front() {
            Some(next) if !connection.leads_to(exchanges.destination(&next.item)) => break,
            Some(_) => due.pop(),
            None => exchanges.next(now),
        };
        let Some(mut next) = next else { break };
        if exchanges.is_parted(&next.item) {
            if !window.is_empty() || out.is_some() {
                // It goes alone, behind what is under way.
                due.push_front(next);
                break;
            }
            // On the heap, so that users need no room for what is rare.
            Box::pin(parted::send(context, client, exchanges, next, connection, window)).await?;
            exchanges.sent(client, connection, window);
            return Ok(());
        }
        let out = out.get_or_insert_with(|| worker.net.buffer());
        let begin = out.len();
        let last = worker.channels.is_last(connection);
        match exchanges.write(&mut next, now, last, out) {
            Ok(written) => {
                payload = written.payload;
                let traced = trace(context, exchanges, &next, out, begin);
                if C::IS_HTTP {
                    report::show_request(worker, &out[begin..]);
                    connection.last.note(&out[begin..]);
                }
                let bytes = (out.len() - begin) as u64 + payload;
                let answers = exchanges.answers(&next.item);
                let sent = begin_sent(worker, connection, next, written.expect, now, bytes, answers);
                window.push(SentRequest { traced, ..sent });
            }
            Err(failure) => {
                // The user waits before the next one, or it would only count the same again and again.
                client.refusals += 1;
                let moments = Moments::at_send(next.turn.due, now);
                unsent(context, client, exchanges, next, failure, moments);
            }
        }
    }
    let Some(out) = out.filter(|out| !out.is_empty()) else { return Ok(()) };
    if let Some(oldest) = window.front() {
        // What begins later than that is not cut short.
        (connection.cut, connection.due) = (client.cut(oldest.at), client.due(oldest.at));
        connection.set_deadline(worker.channels.first_deadline(oldest.at));
    }
    channel::send(connection, out, payload, exchanges.half_closes()).await?;
    exchanges.sent(client, connection, window);
    Ok(())
}

/// Adds the trace context that a request is to carry to its head, which begins there in `out`.
fn trace<C: Exchanges>(
    context: Context<'_>,
    exchanges: &C,
    next: &Due<C::Item>,
    out: &mut Vec<u8>,
    begin: usize,
) -> Option<Box<TraceContext>> {
    let traced = context.trace_context(next.turn.number)?;
    (exchanges.takes_fields(&next.item) && traced.add_to_head(out, begin)).then(|| Box::new(traced))
}

fn begin_sent<I>(
    worker: &Worker,
    connection: &mut Connection,
    due: Due<I>,
    expect: Expect,
    at: Instant,
    bytes: u64,
    answers: u32,
) -> SentRequest<I> {
    let last = worker.channels.is_last(connection);
    let reused = connection.carried > 0;
    worker.account.count(|counts| counts.reused += u64::from(reused));
    connection.carried += 1;
    let begun = connection.begun.filter(|_| !reused);
    let connect = begun.map(|_| connection.round_trip);
    SentRequest {
        item: due.item,
        turn: due.turn,
        at,
        bytes,
        expect,
        reused,
        connect,
        begun,
        last,
        answers,
        connection: connection.number,
        traced: None,
    }
}
