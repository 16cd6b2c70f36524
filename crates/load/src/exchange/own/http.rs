//! Reads the answers of HTTP/1: each is pushed into a sink of its exchanges' own as it arrives.

use super::tcp;
use crate::account::Coming;
use crate::answer::{AnswerEnd, AnswerFound, AnswerSink, Body, Summary, WithBody};
use crate::channel::Connection;
use crate::exchange::ending::finish;
use crate::exchange::idle::{self, SWITCHING};
use crate::exchange::report;
use crate::exchange::resend::is_lost;
use crate::exchange::types::{
    AnswerRead, AnswerReading, Client, Context, Ending, HttpExchanges, KeptBytes, Moments, OffendingBytes,
    SentRequest, ShortQueue, Worker, note_arrival,
};
use crate::failure;
use measure::{Failure, FailureKind, Stage};
use std::cell::RefCell;
use wire::http1::{HeadMemo, Http1Stage as Progress, ResponseReader};

/// Bytes of the first read of an answer whose body is to be drained: enough for a usual head.
const HEAD_READ: usize = 1024;

/// Reads the answer to the oldest request under way and accounts for it.
pub(crate) async fn read<C: HttpExchanges>(
    context: Context<'_>,
    exchanges: &C,
    client: &mut Client,
    connection: &mut Connection,
    window: &mut ShortQueue<SentRequest<C::Item>>,
) -> AnswerRead {
    let worker = context.worker;
    let alone = window.len() == 1;
    let Some(sent) = window.front_mut() else { return AnswerRead::Over { peer_closes: false } };
    sent.answers = sent.answers.saturating_sub(1);
    let mut reader = ResponseReader::new(worker.channels.limits());
    reader.begin(sent.expect);
    let mut moments = Moments::at_send(sent.turn.due, sent.at);
    let mut kept = KeptBytes::begin(worker);
    let wanted = kept.wanted(worker);
    let mut sink = WithBody::new(exchanges.sink(sent, wanted.head), wanted.body);
    let mut reading = exchanges.reading(sent);
    let memo = exchanges.memo(sent);
    let mut ended = match &mut reading.tcp {
        None => transfer(worker, connection, &mut reader, &mut sink, memo, &mut reading, &mut moments).await,
        // On the heap: users of HTTP need no room for it.
        Some(reader) => Box::pin(tcp::receive(worker, connection, &mut sink, reader, &mut moments)).await,
    };
    ended = ended.or_cut_short(connection.cut, moments.ended);
    if reading.is_idle(&reader) {
        moments.first_byte = None;
        ended = without_answer(worker, ended);
        if let AnswerEnd::Failed(failure) = ended
            && connection.answered > 0
            && is_lost(failure)
        {
            drop(sink);
            return without_end(worker, window, kept, AnswerRead::Lost(failure));
        }
    } else if matches!(ended, AnswerEnd::Complete)
        && idle::is_last_word(&sink.summary(), sent.reused || connection.begun.is_none())
        && exchanges.repeating(&sent.item).may_be_resent(worker.channels.plan().resend, true)
        && Box::pin(idle::has_crossed(worker, connection)).await
    {
        drop(sink);
        return without_end(worker, window, kept, AnswerRead::GivenUp);
    }
    let surplus = alone && sent.answers == 0 && idle::note_surplus(context, connection, &sink.summary());
    sink.reader.followed_by(surplus);
    let settled = exchanges.settle(sent, ended, &mut sink.reader);
    let summary = reading.summary(sink.summary());
    let wanted = report::is_wanted(worker, settled.outcome) || worker.account.wanted.first.get();
    let found = if wanted { sink.found(settled.outcome) } else { AnswerFound::default() };
    drop(sink);
    let offending = offending(&reader, &mut kept.head);
    let ending = Ending::of(&settled, moments, summary, found, kept, offending);
    let last = sent.last;
    let whole = sent.answers == 0;
    connection.count_answer(matches!(ended, AnswerEnd::Complete), moments.first_byte, moments.ended);
    finish(context, client, exchanges, sent, &ending, settled.kind);
    ending.kept().end(worker);
    // What it took to send them all has been counted with the first.
    (sent.bytes, sent.connect, sent.begun, sent.reused) = (0, None, None, true);
    if whole {
        window.pop();
    }
    read_by(ended, &summary, whole, last || surplus)
}

/// The outcome of a read, by the end of its answer; `is_last` where no further request goes over it.
fn read_by(ended: AnswerEnd, summary: &Summary, whole: bool, is_last: bool) -> AnswerRead {
    match ended {
        AnswerEnd::Complete if summary.keep_alive && !is_last => AnswerRead::Answered,
        AnswerEnd::Complete => {
            AnswerRead::Over { peer_closes: !summary.keep_alive && summary.status != SWITCHING }
        }
        AnswerEnd::BrokenOff => AnswerRead::Over { peer_closes: false },
        AnswerEnd::Failed(failure) if failure.kind == FailureKind::Timeout || !whole => {
            AnswerRead::Failed(failure)
        }
        AnswerEnd::Failed(failure) => AnswerRead::Broken(failure),
    }
}

/// The request at the front of the window has not ended: something else was read than an answer to it.
fn without_end<I>(
    worker: &Worker,
    window: &mut ShortQueue<SentRequest<I>>,
    kept: KeptBytes,
    read: AnswerRead,
) -> AnswerRead {
    kept.end(worker);
    if let Some(sent) = window.front_mut() {
        sent.answers += 1;
    }
    read
}

/// Fault of an answer that was refused; of a head that is malformed, that is the head to be shown.
fn offending(reader: &ResponseReader, head: &mut Vec<u8>) -> Option<Box<OffendingBytes>> {
    let seen = reader.error_context()?;
    if head.is_empty() {
        head.extend_from_slice(&seen.head);
    }
    Some(Box::new(OffendingBytes { at: seen.at.clone() }))
}

/// Names the limit that ran out where nothing came at all.
fn without_answer(worker: &Worker, ended: AnswerEnd) -> AnswerEnd {
    let limits = &worker.load.limits;
    if let AnswerEnd::Failed(failure) = ended
        && failure.kind == FailureKind::Timeout
        && failure.errno().is_none()
        && limits.first_byte.is_some_and(|limit| limit < limits.request)
    {
        return AnswerEnd::Failed(Failure { stage: Stage::FirstByte, ..failure });
    }
    ended
}

/// Receives until the answer is complete, has failed, or is broken off.
async fn transfer(
    worker: &Worker,
    connection: &mut Connection,
    reader: &mut ResponseReader,
    sink: &mut impl Body,
    memo: Option<&RefCell<HeadMemo>>,
    reading: &mut AnswerReading,
    moments: &mut Moments,
) -> AnswerEnd {
    let mut coming = worker.account.coming();
    loop {
        if reader.stage() == Progress::Body {
            if let Some(pacing) = &mut reading.pacing {
                if pacing.is_over(reader.remaining(), sink.body_bytes(), worker) {
                    return AnswerEnd::BrokenOff;
                }
            } else if let Some(ended) =
                drain(worker, connection, reader, sink, reading.drain_from, &mut coming).await
            {
                moments.ended = worker.net.now();
                return ended;
            }
        }
        let received = match (connection.take_arrived(), &mut reading.pacing) {
            (Some(received), _) => received,
            (None, Some(pacing)) => {
                let received = pacing.recv(&mut connection.stream, worker, sink.body_bytes()).await;
                received.map(|bytes| (bytes, 0))
            }
            (None, None) => {
                let bytes = match reading.head_first && reader.stage() != Progress::Body {
                    true => connection.stream.recv_at_most(HEAD_READ).await,
                    false => connection.stream.recv().await,
                };
                bytes.map(|bytes| (bytes, 0))
            }
        };
        note_arrival(worker, connection, moments);
        worker.account.received(received.as_ref().map_or(0, |(bytes, _)| bytes.len()), moments.ended);
        sink.arrived(moments.service());
        let (bytes, from) = match received {
            Ok(received) => received,
            Err(error) => return AnswerEnd::Failed(failure::of_io(&error, stage(reader))),
        };
        let refused =
            |error, reader: &ResponseReader| AnswerEnd::Failed(failure::of_codec(&error, reader.stage()));
        if bytes.is_empty() {
            let closed = reader.end_of_stream(sink);
            return closed.map_or_else(|error| refused(error, reader), |()| AnswerEnd::Complete);
        }
        let progress = match memo {
            Some(memo) => reader.read_remembering(&bytes[from..], sink, &mut memo.borrow_mut()),
            None => reader.read(&bytes[from..], sink),
        };
        if sink.wants_body() || connection.secure.is_some() {
            worker.net.spent();
        }
        match progress {
            Ok(progress) => {
                if progress.done {
                    let to = from + progress.consumed;
                    connection.leftover = (to < bytes.len()).then_some((bytes, to));
                    return AnswerEnd::Complete;
                }
                coming.came(sink.body_bytes());
            }
            Err(error) => return refused(error, reader),
        }
    }
}

fn stage(reader: &ResponseReader) -> Stage {
    match reader.stage() {
        Progress::Idle | Progress::Head => Stage::Head,
        Progress::Body | Progress::Done => Stage::Body,
    }
}

/// Drains the rest of a body that nobody looks at, where that is at least `from` bytes long; `None` where there is none.
async fn drain(
    worker: &Worker,
    connection: &mut Connection,
    reader: &mut ResponseReader,
    sink: &mut impl Body,
    from: u64,
    coming: &mut Coming<'_>,
) -> Option<AnswerEnd> {
    if sink.wants_body() || connection.leftover.is_some() {
        return None;
    }
    while let Some(left) = reader.remaining().filter(|left| *left >= from) {
        match connection.stream.discard(left).await {
            Ok(0) => {
                let refusal = reader.end_of_stream(sink).err()?;
                return Some(AnswerEnd::Failed(failure::of_codec(&refusal, reader.stage())));
            }
            Ok(count) => {
                worker.account.received(count as usize, worker.net.now());
                sink.skipped(count);
                if reader.skip(count) {
                    return Some(AnswerEnd::Complete);
                }
                coming.came(sink.body_bytes());
            }
            Err(error) => return Some(AnswerEnd::Failed(failure::of_io(&error, Stage::Body))),
        }
    }
    None
}
