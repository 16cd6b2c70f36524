//! Exchanges over HTTP/2 and HTTP/3: a request is a stream of a connection that its user shares with others. What is sent and what an
//! answer means is the business of [`HttpExchanges`], as over HTTP/1.

use super::ending::{finish, settle, unsent};
use super::report;
use super::types::{
    AnswerRead, Client, Context, Due, Ending, HttpExchanges, KeptBytes, Moments, OffendingBytes, Pacing,
    SentRequest, ShortQueue, Worker, closed_early,
};
use crate::answer::{AnswerEnd, AnswerFound, AnswerSink, Body, WithBody};
use crate::channel::{Asker, Lease, Letter, StreamEnded};
use breach::{Protocol, Scope, Side};
use measure::{Broken, Closed, Failure, FailureKind, Reason, Stage};
use std::time::{Duration, Instant};
use wire::http1::{Expect, Http1Framing, ResponseHead, ResponseSink, Version};
use wire::http2::{Code, Http2End};
use wire::http3::error;

/// Status of an answer to a request for another authority than the server has on this connection.
const MISDIRECTED: u16 = 421;

/// Sends what is due over the connection that the user shares, until every request has ended in one way.
pub(crate) async fn run<C: HttpExchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    mut due: ShortQueue<Due<C::Item>>,
) {
    // Requests in a row that the server did not process.
    let mut turned_away = 0;
    while let Some(mut next) = due.pop() {
        let channels = &context.worker.channels;
        let part = context.phase.group;
        let user = client.user / context.phase.versions;
        let asker = Asker { part, user, by_need: context.phase.by_need };
        let leased = channels.lease_stream(&mut client.slot, asker, exchanges.destination(&next.item)).await;
        let mut lease = match leased {
            Ok(lease) => lease,
            Err(seen) => {
                client.refusals += 1;
                let moments =
                    Moments { due: next.turn.due, sent: seen.began, first_byte: None, ended: seen.ended };
                unsent(context, client, exchanges, next, seen.failure, moments);
                continue;
            }
        };
        let now = context.worker.net.recently();
        let mut head = client.head.take().unwrap_or_default();
        head.clear();
        head.version = lease.version();
        // What the connection has sent before needs no fields: its block is known.
        let traced = context.trace_context(next.turn.number);
        let key = exchanges.head_key(&next.item).filter(|_| traced.is_none());
        let shows = context.worker.load.trace.heads;
        let known = !shows && key.is_some_and(|key| lease.knows(key));
        if !known && !exchanges.head(&mut next, now, &mut head) {
            let failure = Failure::new(FailureKind::Unwritable, Stage::Send);
            let moments = Moments::at_send(next.turn.due, now);
            unsent(context, client, exchanges, next, failure, moments);
            continue;
        };
        let traced = traced.filter(|traced| traced.add_to_fields(&mut head.fields)).map(Box::new);
        if shows {
            let mut text = Vec::new();
            head.show(&mut text);
            report::show_request(context.worker, &text);
        }
        let expect = exchanges.expects(&next.item);
        let mut sent = SentRequest { traced, ..sent(&lease, next, expect, now) };
        let pacing = exchanges.reading(&sent).pacing;
        let slow = pacing.as_ref().is_some_and(|pacing| pacing.is_slow());
        let body_bytes = head.body.length();
        let head_bytes = lease.send(&head.fields, key, &mut head.body, slow);
        sent.bytes = head_bytes as u64 + body_bytes;
        client.head = Some(head);
        if follow(context, client, exchanges, &lease, &mut due, Flight { sent, pacing, turned_away }).await {
            turned_away += 1;
        } else {
            turned_away = 0;
        }
    }
}

/// Goes on with a request that is under way, and with what follows it, as [`run`] does.
pub(super) async fn go_on<C: HttpExchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    lease: Lease,
    sent: SentRequest<C::Item>,
) {
    let mut due = ShortQueue::default();
    follow(context, client, exchanges, &lease, &mut due, Flight { sent, pacing: None, turned_away: 0 }).await;
    drop(lease);
    run(context, client, exchanges, due).await;
}

/// A request that was sent.
struct Flight<I> {
    sent: SentRequest<I>,
    pacing: Option<Box<Pacing>>,
    /// How often in a row the server did not process what was sent before it.
    turned_away: u32,
}

/// Waits for the end of a request that was sent. Returns whether the server did not process it, so that it is due again.
async fn follow<C: HttpExchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    lease: &Lease,
    due: &mut ShortQueue<Due<C::Item>>,
    Flight { sent, pacing, turned_away }: Flight<C::Item>,
) -> bool {
    let mut window: ShortQueue<SentRequest<C::Item>> = ShortQueue::default();
    window.push(sent);
    let mut head = client.head.take().unwrap_or_default();
    let came = read(context, client, exchanges, lease, &mut window, pacing, &mut head.answer).await;
    client.head = Some(head);
    match came {
        None => false,
        Some(ExchangeArrival::Misdirected) => {
            if let Some(sent) = window.front() {
                lease.misdirected(exchanges.destination(&sent.item));
            }
            send_again(&mut window, due);
            false
        }
        Some(ExchangeArrival::Nothing(AnswerRead::Lost(failure)))
            if failure.kind == FailureKind::StreamRefused
                && may_be_repeated(context, &window, turned_away) =>
        {
            // Nothing of it was processed, so that whatever it does is done once (RFC 9113 section 8.7).
            context.worker.account.count(|counts| counts.resent += 1);
            if turned_away > 0 {
                // A server that turns everything away is not hammered.
                context.worker.net.sleep(Duration::from_millis(1 << (turned_away + 1).min(7))).await;
            }
            send_again(&mut window, due);
            true
        }
        Some(ExchangeArrival::Nothing(read)) => {
            // Its time is up, or the plan sends nothing again.
            let read = if let AnswerRead::Lost(failure) = read
                && failure.kind == FailureKind::StreamRefused
            {
                AnswerRead::Failed(failure)
            } else {
                read
            };
            if let Some(loss) = read.loss(false) {
                settle(context, client, exchanges, due, &mut window, loss);
            }
            false
        }
    }
}

/// Makes all that was sent due again.
fn send_again<I>(window: &mut ShortQueue<SentRequest<I>>, due: &mut ShortQueue<Due<I>>) {
    while let Some(sent) = window.pop() {
        due.push(Due { item: sent.item, turn: sent.turn });
    }
}

/// Times in a row that a request is sent again where GOAWAY alone counts: old tools have no limit of time that would end it.
const MOST_TURNED_AWAY: u32 = 10;

/// True if what the peer did not process is sent again: the plan allows it, and there is still time for it.
fn may_be_repeated<I>(context: Context<'_>, window: &ShortQueue<SentRequest<I>>, turned_away: u32) -> bool {
    let worker = context.worker;
    let due = window.front().map_or_else(|| worker.net.now(), |sent| sent.turn.due);
    let is_allowed = match worker.channels.plan().resend {
        plan::Resend::Never => false,
        plan::Resend::Goaway => turned_away < MOST_TURNED_AWAY,
        plan::Resend::Idle | plan::Resend::Safe => true,
    };
    is_allowed && worker.net.now() < due + worker.load.limits.request
}

fn sent<I>(lease: &Lease, due: Due<I>, expect: Expect, at: Instant) -> SentRequest<I> {
    SentRequest {
        item: due.item,
        turn: due.turn,
        at,
        bytes: 0,
        expect,
        reused: lease.reused,
        connect: lease.opened.map(|(_, took)| took),
        begun: lease.opened.map(|(began, _)| began),
        last: false,
        answers: 1,
        connection: lease.connection(),
        traced: None,
    }
}

/// Reads the answer and accounts for it; where there is none, says what became of the request.
async fn read<C: HttpExchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &C,
    lease: &Lease,
    window: &mut ShortQueue<SentRequest<C::Item>>,
    pacing: Option<Box<Pacing>>,
    raw: &mut Vec<u8>,
) -> Option<ExchangeArrival> {
    let worker = context.worker;
    let sent = window.front_mut()?;
    let mut moments = Moments::at_send(sent.turn.due, sent.at);
    let mut kept = KeptBytes::begin(worker);
    let wanted = kept.wanted(worker);
    let mut sink = WithBody::new(exchanges.sink(sent, wanted.head), wanted.body);
    if pacing.is_none() && sink.never_wants_body() {
        lease.look(|letter| letter.only_counted = true);
    }
    let cut = client.cut(sent.at);
    let until = [cut, client.due(sent.at)].into_iter().flatten().min();
    let received = receive(worker, lease, &mut sink, &mut moments, pacing, until, raw).await;
    client.offending = lease.look(|letter| OffendingBytes::of(&mut letter.wrong));
    let ended = match received {
        Reception::Answer(ended) => ended.or_cut_short(cut, moments.ended),
        Reception::Nothing(came) => {
            drop(sink);
            kept.end(worker);
            return Some(came);
        }
    };
    let settled = exchanges.settle(sent, ended, &mut sink.reader);
    let mut summary = sink.summary();
    summary.head_bytes = lease.look(|letter| letter.head_bytes) as u64;
    let wanted = report::is_wanted(worker, settled.outcome) || worker.account.wanted.first.get();
    let found = if wanted { sink.found(settled.outcome) } else { AnswerFound::default() };
    drop(sink);
    let offending = client.offending.take();
    let ending = Ending::of(&settled, moments, summary, found, kept, offending);
    finish(context, client, exchanges, sent, &ending, settled.kind);
    ending.kept().end(worker);
    window.pop();
    None
}

/// Result of a request.
enum Reception {
    /// An answer, or a part of one, after which it has ended so.
    Answer(AnswerEnd),
    /// Nothing to be accounted for.
    Nothing(ExchangeArrival),
}

/// Result of a request that is not accounted for yet.
enum ExchangeArrival {
    /// No byte of an answer.
    Nothing(AnswerRead),
    /// 421 over a connection of another host: nothing was done for it (RFC 9110 section 15.5.20).
    Misdirected,
}

/// Pushes what comes of an answer into its sink until it has ended, at the pace of the client, or until it is cut short.
async fn receive(
    worker: &Worker,
    lease: &Lease,
    sink: &mut impl AnswerSink,
    moments: &mut Moments,
    mut pacing: Option<Box<Pacing>>,
    cut: Option<Instant>,
    raw: &mut Vec<u8>,
) -> Reception {
    let mut length = None;
    let mut head_told = false;
    let mut coming = worker.account.coming();
    loop {
        let deadline = deadline(worker, moments.sent, head_told, cut);
        let deadline = pacing.as_ref().map_or(deadline, |pacing| pacing.deadline(worker, deadline));
        if !lease.news(deadline).await {
            lease.ran_out(moments.sent);
            return timed_out(worker, head_told, moments, sink);
        }
        moments.ended = lease.look(|letter| letter.latest).unwrap_or_else(|| worker.net.recently());
        moments.first_byte = lease.look(|letter| letter.first_byte);
        sink.arrived(moments.service());
        let status = lease.look(|letter| letter.status);
        if status == MISDIRECTED && lease.coalesced {
            return Reception::Nothing(ExchangeArrival::Misdirected);
        }
        if !head_told && status != 0 {
            head_told = true;
            let version = lease.version();
            length = lease.look(|letter| {
                let length = account_head(worker, letter, version, &mut *raw, sink);
                letter.only_counted |= pacing.is_none() && !sink.wants_body();
                length
            });
        }
        let left = |got: u64| length.map(|length: u64| length.saturating_sub(got));
        // How much is wanted follows from what is to come.
        let got = sink.body_bytes();
        if let Some(pacing) = pacing.as_mut().filter(|_| head_told)
            && pacing.is_over(left(got), got, worker)
        {
            return Reception::Answer(AnswerEnd::BrokenOff);
        }
        let wanted = pacing.as_ref().and_then(|pacing| pacing.wanted(got));
        let ended = lease.look(|letter| pass_on(letter, wanted, sink));
        coming.came(sink.body_bytes());
        if sink.wants_body() {
            worker.net.spent();
        }
        if let Some(pacing) = pacing.as_mut().filter(|_| head_told) {
            let got = sink.body_bytes();
            if pacing.is_over(left(got), got, worker) {
                return Reception::Answer(AnswerEnd::BrokenOff);
            }
            if ended.is_none() && pacing.is_slow() {
                pacing.rest(worker, got).await;
                lease.grant();
            }
        }
        match ended {
            None => {}
            Some(ended) if head_told => return behind_head(lease, ended),
            Some(ended) => {
                moments.first_byte = None;
                return nothing(lease, ended, worker.channels.plan().resend);
            }
        }
    }
}

/// Until when something of an answer must come.
fn deadline(worker: &Worker, sent: Instant, head_told: bool, cut: Option<Instant>) -> Instant {
    let latest = match head_told {
        false => worker.channels.first_deadline(sent),
        true => worker.channels.last_deadline(sent),
    };
    cut.map_or(latest, |cut| cut.min(latest))
}

/// Tells the head of an answer and counts it; the length of the content, where that is announced.
fn account_head(
    worker: &Worker,
    letter: &Letter,
    version: Version,
    raw: &mut Vec<u8>,
    sink: &mut impl ResponseSink,
) -> Option<u64> {
    raw.clear();
    tell_head(letter, version, raw, sink);
    // The status counts with its name: seven bytes and three.
    let bytes = letter.fields.bytes() as u64 + 10;
    worker.account.count(|counts| {
        counts.interims += u64::from(letter.interims);
        counts.field_bytes += bytes;
    });
    letter.content_length
}

/// Pushes content and trailers, of the content at most so much as is wanted; how the request has ended.
fn pass_on(letter: &mut Letter, wanted: Option<u64>, sink: &mut impl AnswerSink) -> Option<StreamEnded> {
    match std::mem::take(&mut letter.skipped) {
        0 => {}
        bytes => sink.skipped(bytes),
    }
    let most = wanted.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let body = &letter.body[..letter.body.len().min(most)];
    if !body.is_empty() {
        sink.body(body);
    }
    letter.body.clear();
    letter.trailers.iter().for_each(|(name, value, _)| sink.trailer(name, value));
    letter.trailers.clear();
    letter.end
}

/// Tells the head in the form that sinks know; the text of it is what evidence shows.
fn tell_head(letter: &Letter, version: Version, raw: &mut Vec<u8>, sink: &mut impl ResponseSink) {
    raw.extend_from_slice(version.as_bytes());
    raw.push(b' ');
    raw.extend_from_slice(itoa::Buffer::new().format(letter.status).as_bytes());
    raw.extend_from_slice(b"\r\n");
    for (name, value, _) in letter.fields.iter() {
        sink.field(name, value);
        [name, b": ", value, b"\r\n"].iter().for_each(|part| raw.extend_from_slice(part));
    }
    raw.extend_from_slice(b"\r\n");
    let framing = letter.content_length.map_or(Http1Framing::UntilClose, Http1Framing::Length);
    let head = ResponseHead {
        version,
        status: letter.status,
        framing,
        content_length: letter.content_length,
        keep_alive: true,
    };
    sink.head(&head, raw);
}

fn timed_out(worker: &Worker, head_told: bool, moments: &mut Moments, sink: &impl AnswerSink) -> Reception {
    moments.ended = worker.net.now();
    let first_byte = worker.load.limits.first_byte.is_some();
    let stage = match head_told {
        true => Stage::Body,
        false if first_byte && sink.body_bytes() == 0 => Stage::FirstByte,
        false => Stage::Head,
    };
    Reception::Answer(AnswerEnd::Failed(Failure::new(FailureKind::Timeout, stage)))
}

/// The failure of a request whose stream has ended otherwise than by a whole answer.
fn failure(lease: &Lease, ended: StreamEnded, stage: Stage) -> Failure {
    let is_http3 = lease.version() == Version::Http3;
    let protocol = if is_http3 { Protocol::Http3 } else { Protocol::Http2 };
    let closed = |kind, ended, code: Code| {
        let code = breach::Code { protocol, number: code.0.into() };
        Failure::new(kind, stage).because(Reason::Closed(Closed { by: Side::Peer, ended, code }))
    };
    match ended {
        StreamEnded::Lost(failure) => Failure { stage, ..failure },
        StreamEnded::Stream(Http2End::Reset(Code::REFUSED_STREAM) | Http2End::Unprocessed) => match lease
            .goaway()
        {
            Some(code) => closed(FailureKind::StreamRefused, Scope::Connection, code),
            None if is_http3 => closed(FailureKind::StreamRefused, Scope::Stream, error::REQUEST_REJECTED),
            None => closed(FailureKind::StreamRefused, Scope::Stream, Code::REFUSED_STREAM),
        },
        StreamEnded::Stream(Http2End::Reset(code)) => closed(FailureKind::StreamReset, Scope::Stream, code),
        StreamEnded::Stream(Http2End::Broken(breach)) => {
            let protocol = Some(protocol);
            Failure::of_breach(Broken { breach, ended: Scope::Stream, protocol }, stage)
        }
        StreamEnded::Stream(Http2End::Whole) => closed_early(),
    }
}

/// A stream has ended behind the head of an answer.
fn behind_head(lease: &Lease, ended: StreamEnded) -> Reception {
    Reception::Answer(match ended {
        StreamEnded::Stream(Http2End::Whole) => AnswerEnd::Complete,
        StreamEnded::Stream(_) | StreamEnded::Lost(_) => {
            AnswerEnd::Failed(failure(lease, ended, Stage::Body))
        }
    })
}

/// A stream has ended before any byte of an answer.
fn nothing(lease: &Lease, ended: StreamEnded, resend: plan::Resend) -> Reception {
    let left = lease.goaway().is_some();
    let failure = failure(lease, ended, Stage::Head);
    Reception::Nothing(ExchangeArrival::Nothing(match ended {
        StreamEnded::Stream(Http2End::Reset(_)) if resend == plan::Resend::Goaway => {
            AnswerRead::Failed(failure)
        }
        StreamEnded::Stream(Http2End::Unprocessed) if resend == plan::Resend::Goaway && !left => {
            AnswerRead::Failed(failure)
        }
        StreamEnded::Stream(Http2End::Unprocessed | Http2End::Reset(Code::REFUSED_STREAM)) => {
            AnswerRead::Lost(failure)
        }
        StreamEnded::Lost(_) if super::resend::is_lost(failure) => AnswerRead::Lost(failure),
        StreamEnded::Stream(_) | StreamEnded::Lost(_) => AnswerRead::Failed(failure),
    }))
}
