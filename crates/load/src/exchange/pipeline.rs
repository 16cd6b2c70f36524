//! Several requests sent at once over a connection, and their answers read in order (RFC 9112 section 9.3.2).
//!
//! All of a batch are sent at the same moment, and each is timed from it. Where the connection is lost, the request whose
//! answer was due next has failed, and so have those behind it, but for those that may be sent again over a new one
//! ([`super::resend`]); what stands behind an answer that said `close` was not looked at (RFC 9112 section 9.6). Where time
//! runs out it does so for all of the batch. Start reading at [`pipeline`].

use super::resend::{is_lost, is_unread};
use super::{
    Ended, Moments, Repeating, Turn, keeps, note_arrival, note_end, note_refusal, put_back, ready,
    version_text,
};
use crate::connection::Connection;
use crate::failure;
use crate::requests::{Answer, Placing, Prepared, Requests};
use crate::user::User;
use crate::worker::{PhaseWork, Worker};
use measure::{CacheResult, Cause, Event, Exchange, Failure, FailureKind, Outcome, Record, Stage};
use plan::data::Moment;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};
use transport::Received;
use wire::http1::Stage as Progress;

/// A request that waits for its answer, or to be sent.
#[derive(Clone, Copy)]
struct Waiting<'a> {
    prepared: &'a Prepared,
    turn: Turn,
}

/// One user's turn: `first` and as many more requests as there are to be, at most so many as the plan sends at once.
pub(crate) async fn pipeline(
    worker: &Rc<Worker>,
    work: &PhaseWork,
    user: &mut User,
    requests: &Requests,
    first: Turn,
) {
    let mut line = Line { worker, waiting: gather(worker, work, user, requests, first) };
    line.waiting.iter().for_each(|_| worker.begin());
    while let Some(next) = line.waiting.front().copied() {
        let began = worker.since_start();
        match ready(worker, user, next.prepared.place(), &next.turn).await {
            Some(connection) => line.batch(user, connection, began).await,
            None => {
                line.waiting.pop_front();
                line.record_unconnected(user, next, began);
            }
        }
    }
}

/// Takes the numbers of a batch.
fn gather<'a>(
    worker: &Worker,
    work: &PhaseWork,
    user: &mut User,
    requests: &'a Requests,
    first: Turn,
) -> VecDeque<Waiting<'a>> {
    let depth = worker.http().pipeline as usize;
    let mut waiting = VecDeque::with_capacity(depth);
    let mut turn = first;
    loop {
        let placing = Placing { number: turn.number, user: user.number, of: work.crowd, turn: user.turns };
        waiting.push_back(Waiting { prepared: requests.at(placing), turn });
        // The user counts the turn that is under way itself.
        let more = waiting.len() < depth && work.turns_per_user.is_none_or(|most| user.turns + 1 < most);
        let Some(number) = more.then(|| worker.next_number(work, first.due)).flatten() else {
            return waiting;
        };
        user.turns += 1;
        turn = Turn { number, due: first.due, lateness: None };
    }
}

struct Line<'a> {
    worker: &'a Rc<Worker>,
    waiting: VecDeque<Waiting<'a>>,
}

/// How a batch goes on after one of its requests.
enum Next {
    /// The next answer follows, and of what was received there is left from here on.
    Answer,
    /// The connection is over.
    Over,
}

/// How a connection was lost, as far as it matters for what was sent over it and not answered.
#[derive(Clone, Copy)]
struct Lost {
    failure: Failure,
    /// The peer cannot have read, or has not looked at, what was not answered.
    unread: bool,
}

/// A batch under way.
struct Batch {
    connection: Box<Connection>,
    sent: Instant,
    began: Duration,
    /// Bytes of each request.
    sizes: VecDeque<u64>,
    /// Received, and read up to the second value.
    received: Option<(Received, usize)>,
    /// A connection was opened for the first of them, which took so long.
    connect: Option<Duration>,
    /// Its last request said that the connection ends with it.
    closes: bool,
    /// One of its requests was answered already.
    follows: bool,
    /// Why the connection is over.
    lost: Option<Lost>,
}

impl Batch {
    async fn note_loss(&mut self, worker: &Worker, ended: Ended, keep_alive: bool) {
        self.lost = match ended {
            Ended::Complete if keep_alive => None,
            // What was sent behind an answer that says close is not processed (RFC 9112 section 9.6).
            Ended::Complete | Ended::Outdated | Ended::BrokenOff => {
                let failure = Failure { kind: FailureKind::ClosedEarly, stage: Stage::Head, errno: None };
                Some(Lost { failure, unread: true })
            }
            Ended::Failed(failure) => {
                let may = !self.follows && self.connection.carried > 0 && is_lost(failure);
                let unread = may && is_unread(worker, failure, &mut self.connection).await;
                Some(Lost { failure, unread })
            }
        };
    }

    /// Whether the connection had been of use and ended before anything came of the next answer.
    fn is_lost_between_answers(&self) -> bool {
        self.lost.is_some_and(|lost| is_lost(lost.failure))
            && self.connection.carried > 0
            && self.connection.reader.stage() == Progress::Idle
    }
}

impl Line<'_> {
    /// Sends as many of those that wait as go to the same place, and reads their answers.
    async fn batch(&mut self, user: &mut User, connection: Box<Connection>, began: Duration) {
        let worker = self.worker;
        let mut message = worker.net.buffer();
        let mut batch = self.compose(user.number, connection, began, &mut message);
        batch.sent = worker.net.now();
        batch.connect = batch.connection.opened_in.map(|_| worker.since(batch.sent).saturating_sub(began));
        batch.connection.stream.set_deadline(Some(worker.first_deadline(batch.sent)));
        let failed = batch.connection.stream.send(message).await.err();
        let mut failed = failed.map(|error| Ended::Failed(failure::of_io(&error, Stage::Send)));
        let answered = loop {
            match self.answer(user, &mut batch, failed.take()).await {
                Next::Answer if batch.sizes.is_empty() => break true,
                Next::Answer => {}
                Next::Over => break false,
            }
        };
        self.settle(user, &mut batch);
        let keep = answered && !batch.closes;
        // It counts the last of its requests itself.
        batch.connection.carried = batch.connection.carried.saturating_sub(1);
        put_back(worker, user, batch.connection, keep).await;
    }

    /// A batch of those that go to the same place, as many as its connection may carry, written to `message`.
    fn compose(
        &self,
        user: u64,
        connection: Box<Connection>,
        began: Duration,
        message: &mut Vec<u8>,
    ) -> Batch {
        let worker = self.worker;
        let most = worker.http().requests_per_connection.unwrap_or(u32::MAX);
        let left = most.saturating_sub(connection.carried).max(1) as usize;
        let together = |waiting: &&Waiting<'_>| connection.leads_to(waiting.prepared.place());
        let count = self.waiting.iter().take(left).take_while(together).count();
        let closes = count == left;
        let (sent, unix_us) = (worker.net.now(), worker.net.unix_micros());
        let sizes = self.waiting.iter().take(count).enumerate().map(|(index, waiting)| {
            let before = message.len();
            let moment = Moment { number: waiting.turn.number, user, unix_us };
            waiting.prepared.write(closes && index + 1 == count, &moment, message);
            (message.len() - before) as u64
        });
        let sizes = sizes.collect();
        Batch {
            connection,
            sent,
            began,
            sizes,
            received: None,
            connect: None,
            closes,
            follows: false,
            lost: None,
        }
    }

    /// Reads the answer to the first of those that wait. `failed`: the batch could not be sent.
    async fn answer(&mut self, user: &mut User, batch: &mut Batch, failed: Option<Ended>) -> Next {
        let Some(Waiting { prepared, turn }) = self.waiting.front().copied() else { return Next::Over };
        let mut answer = Answer::new(prepared, None);
        let mut moments = Moments::at_send(turn.due, batch.sent);
        batch.connection.reader.begin(prepared.framing);
        let ended = match failed {
            Some(ended) => ended,
            None => self.read(batch, &mut answer, &mut moments).await,
        };
        batch.note_loss(self.worker, ended, answer.keep_alive).await;
        if batch.is_lost_between_answers() {
            return Next::Over;
        }
        let outcome = answer.outcome(ended);
        let fresh = batch.connection.opened_in.is_some();
        let (sizes, connection) = (&mut batch.sizes, &mut batch.connection);
        self.worker.end(&Exchange {
            status: answer.status,
            cache: CacheResult::NotAsked,
            sent_bytes: sizes.pop_front().unwrap_or(0),
            head_bytes: answer.head_bytes,
            body_bytes: answer.body_bytes,
            ..moments.exchange(outcome, &turn, connection)
        });
        // That the first one found a connection was counted with it.
        let follows = std::mem::replace(&mut batch.follows, true);
        self.worker.count(|counts| counts.reused += u64::from(follows));
        note_refusal(user, ended, &moments, connection);
        connection.carried += 1;
        user.ended = Some(moments.ended);
        self.waiting.pop_front();
        let record = Record {
            version: answer.version.map(version_text),
            status: answer.status,
            connect: batch.connect.filter(|_| fresh),
            first_byte: moments.to_first_byte(),
            service: moments.service(),
            head_bytes: answer.head_bytes,
            body_bytes: answer.body_bytes,
            ..blank_record(user, Waiting { prepared, turn }, outcome, batch.began)
        };
        self.record(record);
        if keeps(ended, false, answer.keep_alive) { Next::Answer } else { Next::Over }
    }

    /// Reads one answer, and leaves what follows it.
    async fn read(&self, batch: &mut Batch, answer: &mut Answer<'_>, moments: &mut Moments) -> Ended {
        loop {
            let (received, from) = match batch.received.take() {
                Some(left) => left,
                None => match batch.connection.stream.recv().await {
                    Ok(received) => (received, 0),
                    Err(error) => {
                        note_arrival(self.worker, &mut batch.connection, moments);
                        let stage = match batch.connection.reader.stage() {
                            Progress::Idle | Progress::Head => Stage::Head,
                            Progress::Body | Progress::Done => Stage::Body,
                        };
                        let ended = Ended::Failed(failure::of_io(&error, stage));
                        return note_end(self.worker, &batch.connection, moments, ended);
                    }
                },
            };
            note_arrival(self.worker, &mut batch.connection, moments);
            let reader = &mut batch.connection.reader;
            let read = match received.is_empty() {
                true => reader.end_of_stream(answer).map(|()| None),
                false => reader.read(&received[from..], answer).map(Some),
            };
            let ended = match read {
                Ok(Some(progress)) if !progress.done => continue,
                Ok(progress) => {
                    let to = from + progress.map_or(0, |progress| progress.consumed);
                    batch.received = (to < received.len()).then_some((received, to));
                    Ended::Complete
                }
                Err(error) => Ended::Failed(failure::of_codec(&error, reader.stage())),
            };
            return note_end(self.worker, &batch.connection, moments, ended);
        }
    }

    /// Of what was sent and not answered when the connection was lost: what may be is sent again, the rest has failed.
    fn settle(&mut self, user: &User, batch: &mut Batch) {
        let sizes = std::mem::take(&mut batch.sizes);
        let Some(lost) = batch.lost else { return };
        let plan = self.worker.connections().resend;
        let unanswered: Vec<Waiting<'_>> =
            self.waiting.drain(..sizes.len().min(self.waiting.len())).collect();
        let mut again = Vec::new();
        for (waiting, sent_bytes) in unanswered.into_iter().zip(sizes) {
            let what = Repeating::of_method(waiting.prepared.method.as_bytes());
            if lost.failure.kind != FailureKind::Timeout && what.may_be_resent(plan, lost.unread) {
                again.push(waiting);
            } else {
                self.fail(user, batch, waiting, sent_bytes, lost.failure);
            }
        }
        self.worker.count(|counts| counts.resent += again.len() as u64);
        again.into_iter().rev().for_each(|waiting| self.waiting.push_front(waiting));
    }

    /// A request has failed with its connection, or because time ran out for all that were sent at the same moment.
    fn fail(&self, user: &User, batch: &mut Batch, waiting: Waiting<'_>, sent_bytes: u64, failure: Failure) {
        let ended = self.worker.net.now();
        let moments = Moments { ended, ..Moments::at_send(waiting.turn.due, batch.sent) };
        let outcome = Outcome::Failed(failure);
        let exchange = moments.exchange(outcome, &waiting.turn, &mut batch.connection);
        self.worker.end(&Exchange { sent_bytes, cache: CacheResult::NotAsked, ..exchange });
        let service = moments.service();
        self.record(Record { service, ..blank_record(user, waiting, outcome, batch.began) });
    }

    fn record_unconnected(&self, user: &User, waiting: Waiting<'_>, began: Duration) {
        let unknown = Failure { kind: FailureKind::System, stage: Stage::Connect, errno: None };
        let outcome = Outcome::Failed(user.not_connected.map_or(unknown, |said| said.failure));
        let service = self.worker.since_start().saturating_sub(began);
        self.record(Record { service, ..blank_record(user, waiting, outcome, began) });
    }

    fn record(&self, record: Record) {
        if self.worker.job.load.trace.requests {
            self.worker.show(Event::Request(Box::new(record)));
        }
    }
}

fn blank_record(user: &User, waiting: Waiting<'_>, outcome: Outcome, began: Duration) -> Record {
    Record {
        number: waiting.turn.number,
        user: user.number,
        place: waiting.prepared.index,
        began,
        outcome,
        version: None,
        status: 0,
        method: waiting.prepared.method.clone(),
        url: waiting.prepared.address.text.clone(),
        connect: None,
        first_byte: None,
        service: Duration::ZERO,
        head_bytes: 0,
        body_bytes: 0,
        expected_bytes: None,
        cause: Cause::Listed,
    }
}
