//! The exchange driver: one loop that all kinds of requests go through.
//!
//! *Lease a connection · write what is to be sent · send · read until an answer has ended · account · give the connection
//! back.* Resending, deadlines, and what follows from a failure are decided here and nowhere else. What is sent and what an
//! answer means is the business of [`Exchanges`]; those of HTTP have their answers read by [`http`]. Start reading at [`run`].

mod fast;
mod http;
mod idle;
mod message;
mod object;
mod pacing;
mod queue;
mod repeat;
mod report;
mod request;
mod resend;
mod script;
mod shared;
mod tcp;
mod url;
mod worker;

pub(crate) use fast::{Begun, fast, go_on, has_fast_path, is_fast, may_repeat, try_fast};
pub(crate) use http::{HttpExchanges, Reading, read, run as run_http};
pub(crate) use message::{Arrivals, MessageState, messages};
pub(crate) use object::object;
pub(crate) use queue::Queue;
pub(crate) use repeat::{lease_repeating, repeat};
pub(crate) use report::Described;
pub(crate) use request::{pipeline, request};
pub(crate) use resend::Repeating;
pub(crate) use script::{Scratch as ScriptScratch, script};
pub(crate) use shared::Head;
pub(crate) use url::url;
pub use worker::OnBrokenOff;
pub(crate) use worker::{Busy, Context, Worker};

use crate::channel::{self, Connection, Destination, Slot};
use crate::request::Values;
use measure::{CacheResult, Exchange, ExchangeKind, Failure, FailureKind, Label, Outcome, Remark, Stage};
use plan::CloseBy;
use report::{Ending, report};
use std::time::{Duration, Instant};
use wire::http1::Expect;

/// A client of the driver: its place for a connection, and what is kept from one exchange to the next.
#[derive(Default)]
pub(crate) struct Client {
    pub slot: Slot,
    /// Number of its user in the phase.
    pub user: u64,
    /// Connections that could not be opened, or ended without a byte of an answer, one after the other.
    pub refusals: u32,
    /// The last request was not good.
    pub failed: bool,
    /// The status of the last answer; 0: none came.
    pub status: u16,
    /// When the last request ended.
    pub ended: Option<Instant>,
    /// Buffers for requests over HTTP/2.
    pub head: Option<Box<shared::Head>>,
    /// Values that the user keeps for its requests, where they hold any of it.
    pub values: Option<Box<Values>>,
    /// Fault of the answer that has just failed.
    pub offending: Option<Box<report::OffendingBytes>>,
}

impl Client {
    /// Of the user of this number.
    pub fn new(user: u64) -> Client {
        Client { user, ..Client::default() }
    }
}

/// Number of a request, the moment when it is due, and, where a schedule says when, how late a user took it up. Connecting
/// comes after that and takes as long as the target lets it, which is no lateness.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    pub number: u64,
    pub due: Instant,
    pub lateness: Option<Duration>,
}

/// The moments of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moments {
    pub due: Instant,
    pub sent: Instant,
    pub first_byte: Option<Instant>,
    pub ended: Instant,
}

impl Moments {
    pub fn at_send(due: Instant, sent: Instant) -> Moments {
        Moments { due, sent, first_byte: None, ended: sent }
    }

    pub fn service(&self) -> Duration {
        self.ended.saturating_duration_since(self.sent)
    }

    pub fn response(&self) -> Duration {
        self.ended.saturating_duration_since(self.due)
    }

    pub fn to_first_byte(self) -> Option<Duration> {
        self.first_byte.map(|at| at.saturating_duration_since(self.sent))
    }
}

/// A request that is to be sent. It has been counted as begun.
pub(crate) struct Due<I> {
    pub item: I,
    pub turn: Turn,
}

/// A request that was sent and waits for its answer.
pub(crate) struct Sent<I> {
    pub item: I,
    pub turn: Turn,
    pub at: Instant,
    pub bytes: u64,
    /// Framing of its answer.
    pub expect: Expect,
    /// Its connection had carried a request before.
    pub reused: bool,
    /// Opening its connection took so long, where it was opened for it.
    pub connect: Option<Duration>,
    /// When opening its connection began, where it was opened for it.
    pub begun: Option<Instant>,
    /// The connection ends with it.
    pub last: bool,
    /// Answers that are still to come to it.
    pub answers: u32,
    /// Number of its connection within the worker.
    pub connection: u64,
}

impl<I> Sent<I> {
    /// A request like others before it: `bytes` of it, over a connection that has carried one.
    pub fn again(item: I, turn: Turn, at: Instant, bytes: u64, connection: u64) -> Sent<I> {
        Sent {
            item,
            turn,
            at,
            bytes,
            expect: Expect::Body,
            reused: true,
            connect: None,
            begun: None,
            last: false,
            answers: 1,
            connection,
        }
    }

    /// The exchange as far as the request and its connection tell it.
    pub fn exchange(
        &self,
        worker: &Worker,
        outcome: Outcome,
        moments: &Moments,
        cache: CacheResult,
    ) -> Exchange {
        Exchange {
            cache,
            service: moments.service(),
            response: moments.response(),
            first_byte: moments.to_first_byte(),
            connect: self.connect,
            reused: self.reused,
            lateness: self.turn.lateness,
            sent_bytes: self.bytes,
            version: worker.version.get(),
            ..Exchange::new(outcome, worker.account.since(self.turn.due))
        }
    }

    /// Its moments, had it ended now without a byte of an answer.
    pub fn unanswered_at(&self, ended: Instant) -> Moments {
        Moments { due: self.turn.due, sent: self.at, first_byte: None, ended }
    }
}

/// Facts about the bytes written of a request.
pub(crate) struct Written {
    /// Framing of its answer.
    pub expect: Expect,
    /// Bytes of a counting body that follow it.
    pub payload: u64,
}

/// The end of one reading of answers.
pub(crate) enum Read {
    /// At least one answer is complete, and the connection goes on.
    Answered,
    /// Nothing came; there is more to send beside what is under way.
    Due,
    /// The connection is over with an answer that was complete, so nothing that was sent after it was looked at (RFC 9112
    /// section 9.6). `peer_closes`: the peer has said that it will close it.
    Over { peer_closes: bool },
    /// One request has failed and was accounted for; nothing is known of those behind it.
    Broken(Failure),
    /// The peer had given a kept connection up before it can have read what is under way, and said so.
    GivenUp,
    /// A kept connection was lost before a byte of an answer came to what is under way.
    Lost(Failure),
    /// All that is under way has failed.
    Failed(Failure),
}

/// The exchanges of one turn of a user: what is sent, and what its answers mean.
pub(crate) trait Exchanges: Sized {
    /// It speaks HTTP: heads of it may be shown.
    const IS_HTTP: bool = true;

    /// The cache's part where no answer tells.
    const CACHE: CacheResult = CacheResult::NotAsked;

    /// One request.
    type Item;

    /// Where a request goes.
    fn destination<'s>(&'s self, item: &'s Self::Item) -> Destination<'s>;

    /// Requests under way at once, at most.
    fn depth(&self) -> usize {
        1
    }

    /// One more request beside those under way, where the exchanges go on by themselves; it is begun.
    fn next(&mut self, now: Instant) -> Option<Due<Self::Item>> {
        let _ = now;
        None
    }

    /// So many requests are under way still, or are to be sent again, after others have ended.
    fn left(&mut self, count: usize) {
        let _ = count;
    }

    /// Answers that come to a request: it may be several in one piece.
    fn answers(&self, item: &Self::Item) -> u32 {
        let _ = item;
        1
    }

    /// A connection is about to be opened.
    fn connecting(&mut self) {}

    /// A connection is there for what comes next; `fresh`: nothing was sent over it yet.
    fn connected(&mut self, fresh: bool) {
        let _ = fresh;
    }

    /// Bytes came over a connection on which nothing was under way. True if they are what the protocol allows; otherwise the
    /// connection is replaced.
    fn unasked(&mut self, client: &mut Client, bytes: &[u8]) -> bool {
        let _ = (client, bytes);
        false
    }

    /// A request has failed.
    fn failed(&mut self) {}

    /// Takes an exchange that is accounted for later, when it is known what it has led to.
    fn holds(&self, exchange: &Exchange) -> bool {
        let _ = exchange;
        false
    }

    /// Appends a request. `last`: the connection ends with it.
    ///
    /// # Errors
    /// It cannot be written; nothing is appended then.
    fn write(
        &mut self,
        due: &mut Due<Self::Item>,
        now: Instant,
        last: bool,
        to: &mut Vec<u8>,
    ) -> Result<Written, Failure>;

    /// The requests of one send are gone; those that nobody answers are taken out and accounted for.
    fn sent(
        &mut self,
        client: &mut Client,
        connection: &mut Connection,
        window: &mut Queue<Sent<Self::Item>>,
    ) {
        let _ = (client, connection, window);
    }

    /// The sending half of a connection ends with the first send.
    fn half_closes(&self) -> bool {
        false
    }

    /// Receives until at least one answer is complete, and accounts for it.
    async fn read(
        &mut self,
        client: &mut Client,
        connection: &mut Connection,
        window: &mut Queue<Sent<Self::Item>>,
    ) -> Read;

    /// Harm that sending a request a second time may do.
    fn repeating(&self, item: &Self::Item) -> Repeating;

    /// Label of a request's figures.
    fn label(&self, item: &Self::Item) -> Option<Label> {
        let _ = item;
        None
    }

    /// The number that names a request at the origin; `None`: it carries none.
    fn nonce(&self, item: &Self::Item) -> Option<u64> {
        let _ = item;
        None
    }

    /// Returns the remark of checks and scripts on the request that has just ended.
    fn remark(&self) -> Option<Box<Remark>> {
        None
    }

    /// The answer that has just ended leads on to another request.
    fn leads_on(&self) -> bool {
        false
    }

    /// Names of a request in records, errors and evidence.
    fn describe<'s>(&'s self, item: &'s Self::Item) -> Described<'s>;

    /// The bytes of a request once more, for evidence.
    fn bytes(&self, item: &Self::Item, turn: &Turn, at: Instant) -> Vec<u8>;
}

/// Sends what is due, and what follows it, until every request has ended in one way.
pub(crate) async fn run<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    mut due: Queue<Due<C::Item>>,
) {
    while let Some(first) = due.front() {
        if client.slot.connection.is_none() {
            exchanges.connecting();
        }
        let destination = exchanges.destination(&first.item);
        match context.worker.channels.lease(&mut client.slot, destination).await {
            Ok(connection) => {
                exchanges.connected(connection.carried == 0);
                attempt(context, client, exchanges, &mut due, connection, Queue::default()).await;
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
async fn attempt<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    due: &mut Queue<Due<C::Item>>,
    mut connection: Box<Connection>,
    mut window: Queue<Sent<C::Item>>,
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
            break Some(Read::Failed(failure));
        }
        if window.is_empty() {
            break None;
        }
        match exchanges.read(client, &mut connection, &mut window).await {
            Read::Answered => exchanges.left(due.len() + window.len()),
            Read::Due => {}
            ended => break Some(ended),
        }
    };
    let keep = is_clean && read.is_none() && !channels.is_used_up(&connection);
    if let Some(read) = read {
        let unread = match read {
            Read::Lost(failure) if context.worker.channels.plan().resend.minds_losses() => {
                resend::is_unread(context.worker, failure, &mut connection).await
            }
            _ => true,
        };
        settle(context, client, exchanges, due, &mut window, (&read, unread));
        exchanges.left(due.len());
        if let (Read::Over { peer_closes: true }, CloseBy::Peer) = (read, channels.plan().close) {
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
    due: &mut Queue<Due<C::Item>>,
    connection: &mut Connection,
    window: &mut Queue<Sent<C::Item>>,
) -> Result<(), Failure> {
    let worker = context.worker;
    let now = worker.net.recently();
    let (mut out, mut payload) = (None, 0);
    while window.len() < exchanges.depth() && payload == 0 && !worker.channels.is_used_up(connection) {
        let next = match due.front() {
            Some(next) if !connection.leads_to(exchanges.destination(&next.item)) => break,
            Some(_) => due.pop(),
            None => exchanges.next(now),
        };
        let Some(mut next) = next else { break };
        let out = out.get_or_insert_with(|| worker.net.buffer());
        let (begin, last) = (out.len(), worker.channels.is_last(connection));
        match exchanges.write(&mut next, now, last, out) {
            Ok(written) => {
                payload = written.payload;
                if C::IS_HTTP {
                    report::show_request(worker, &out[begin..]);
                    connection.last.note(&out[begin..]);
                }
                let bytes = (out.len() - begin) as u64 + payload;
                let answers = exchanges.answers(&next.item);
                window.push(begin_sent(
                    worker,
                    connection,
                    next,
                    written.expect,
                    (now, bytes, last, answers),
                ));
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
        connection.stream.set_deadline(Some(worker.channels.first_deadline(oldest.at)));
    }
    channel::send(connection, out, payload, exchanges.half_closes()).await?;
    exchanges.sent(client, connection, window);
    Ok(())
}

fn begin_sent<I>(
    worker: &Worker,
    connection: &mut Connection,
    due: Due<I>,
    expect: Expect,
    (at, bytes, last, answers): (Instant, u64, bool, u32),
) -> Sent<I> {
    let reused = connection.carried > 0;
    worker.account.count(|counts| counts.reused += u64::from(reused));
    connection.carried += 1;
    let begun = connection.begun.filter(|_| !reused);
    let connect = begun.map(|_| connection.round_trip);
    Sent {
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
    }
}

/// Decides what becomes of requests whose connection is of no further use.
fn settle<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    due: &mut Queue<Due<C::Item>>,
    window: &mut Queue<Sent<C::Item>>,
    (read, unread): (&Read, bool),
) {
    let (failure, unread) = match *read {
        Read::Answered | Read::Due => return,
        Read::Over { .. } => (closed_early(), Some(true)),
        Read::GivenUp => (closed_early(), Some(true)),
        Read::Broken(failure) => (failure, Some(false)),
        Read::Lost(failure) => (failure, Some(unread)),
        Read::Failed(failure) => (failure, None),
    };
    let plan = context.worker.channels.plan().resend;
    let again = |sent: &Sent<C::Item>, exchanges: &C| {
        unread.is_some_and(|unread| exchanges.repeating(&sent.item).may_be_resent(plan, unread))
    };
    let mut failed = Queue::default();
    while let Some(sent) = window.pop_back() {
        if again(&sent, exchanges) {
            context.worker.account.count(|counts| counts.resent += u64::from(sent.answers));
            due.push_front(Due { item: sent.item, turn: sent.turn });
        } else {
            failed.push_front(sent);
        }
    }
    let now = context.worker.net.now();
    if let Some(first) = failed.front() {
        note_refusal(client, Outcome::Failed(failure), &first.unanswered_at(now), first.reused);
        client.ended = Some(now);
        (client.failed, client.status) = (true, 0);
        exchanges.failed();
    }
    while let Some(sent) = failed.pop() {
        let offending = client.offending.take();
        let ending = Ending { offending, ..Ending::failed(failure, sent.unanswered_at(now)) };
        let exchange = sent.exchange(context.worker, ending.outcome, &ending.moments, C::CACHE);
        let label = exchanges.label(&sent.item);
        context.worker.account.end(&Exchange { label, times: sent.answers, ..exchange });
        tell_broken_off(context.worker, exchanges, &sent, ending.outcome);
        report(context, client, exchanges, &sent, &ending);
    }
}

/// A request has failed before it was sent.
pub(crate) fn unsent<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    due: Due<C::Item>,
    failure: Failure,
    moments: Moments,
) {
    let sent = Sent {
        turn: due.turn,
        at: moments.sent,
        bytes: 0,
        expect: Expect::Body,
        reused: false,
        connect: None,
        begun: None,
        last: false,
        connection: context.worker.channels.opened(),
        answers: exchanges.answers(&due.item),
        item: due.item,
    };
    exchanges.failed();
    let ending = Ending::failed(failure, moments);
    let exchange = sent.exchange(context.worker, ending.outcome, &moments, C::CACHE);
    let label = exchanges.label(&sent.item);
    context.worker.account.end(&Exchange { label, times: sent.answers, ..exchange });
    (client.failed, client.status) = (true, 0);
    report(context, client, exchanges, &sent, &ending);
}

/// The failure of a request whose connection has ended before its answer began.
fn closed_early() -> Failure {
    Failure::new(FailureKind::ClosedEarly, Stage::Head)
}

/// A new connection that ends without a byte of an answer is as good as one that was refused: a user who came again at once
/// would only press a dead target, and use a core for it. A time that ran out has paced the user already.
fn note_refusal(client: &mut Client, outcome: Outcome, moments: &Moments, reused: bool) {
    client.refusals = match outcome {
        Outcome::Failed(failure)
            if !reused && moments.first_byte.is_none() && failure.kind != FailureKind::Timeout =>
        {
            client.refusals + 1
        }
        _ => 0,
    };
}

/// An exchange has come to its end with an answer: accounts for it and tells of it.
fn finish<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &C,
    sent: &Sent<C::Item>,
    ending: &Ending,
    kind: ExchangeKind,
) {
    let worker = context.worker;
    let summary = &ending.summary;
    let exchange = Exchange {
        status: summary.status,
        head_bytes: summary.head_bytes,
        body_bytes: summary.body_bytes,
        kind,
        label: exchanges.label(&sent.item),
        ..sent.exchange(worker, ending.outcome, &ending.moments, summary.cache)
    };
    if !exchanges.holds(&exchange) {
        worker.account.end(&exchange);
    }
    client.ended = Some(ending.moments.ended);
    client.failed = ending.outcome != Outcome::Ok;
    client.status = summary.status;
    note_refusal(client, ending.outcome, &ending.moments, sent.reused);
    tell_broken_off(worker, exchanges, sent, ending.outcome);
    report(context, client, exchanges, sent, ending);
}

/// Tells whoever follows requests of one that its client broke off, on purpose or because its time was up.
fn tell_broken_off<C: Exchanges>(worker: &Worker, exchanges: &C, sent: &Sent<C::Item>, outcome: Outcome) {
    let is_broken_off = match outcome {
        Outcome::Aborted => true,
        Outcome::Failed(failure) => failure.kind == FailureKind::Timeout,
        _ => false,
    };
    if let Some(tell) = worker.broken_off.as_ref().filter(|_| is_broken_off)
        && let Some(nonce) = exchanges.nonce(&sent.item)
    {
        tell(nonce, worker.account.phase(), worker.net.now());
    }
}
