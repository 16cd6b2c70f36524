//! Sending messages that are no HTTP and judging their answers: one at a time, or several under way on one connection.
//! Start reading at [`messages`].

use super::resend::{Repeating, resends};
use super::{Attempt, Moments, Turn, close, put_back, ready};
use crate::connection::Connection;
use crate::failure;
use crate::messages::{Messages, Prepared, Scratch, Verdict, Who};
use crate::user::User;
use crate::worker::{PhaseWork, Worker};
use measure::event::Wrong;
use measure::{
    CacheResult, Event, Evidence, Exchange, Failure, FailureKind, Fault, Outcome, Said, Stage, Talk, Trouble,
};
use plan::data::Moment;
use plan::draw::hash;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};
use transport::Received;
use wire::http1::Expect;
use wire::message::{Error, Message, Reader};

/// What a user keeps of messages from one request to the next.
#[derive(Default)]
pub(crate) struct Mine {
    reader: Option<Reader>,
    /// What is under way, in the order in which it was sent.
    window: VecDeque<Sent>,
    /// The place that it has come to in a sequence.
    next: usize,
    /// Values taken from answers.
    taken: Vec<Vec<u8>>,
    scratch: Scratch,
    /// When the first byte came of the message that is not complete.
    began: Option<Instant>,
    /// What has ended last and is not counted yet, and how many were like it: of what comes at once, most are.
    done: Option<(Done, u64)>,
}

/// A request that is under way.
struct Sent {
    turn: Turn,
    at: Instant,
    /// Which message of the list.
    index: usize,
    bytes: u64,
    /// What its answer will share with it.
    key: u64,
    /// Whether its connection had carried a request before.
    reused: bool,
    /// How long its connection took to open, where it was opened for it.
    connect: Option<Duration>,
    /// What its answer may be, where that is HTTP.
    expect: Expect,
}

/// All that is counted of a request that has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Done {
    moments: Moments,
    outcome: Outcome,
    lateness: Option<Duration>,
    connect: Option<Duration>,
    reused: bool,
    sent_bytes: u64,
    head_bytes: u64,
    body_bytes: u64,
}

impl Done {
    /// One that came to an end without an answer.
    fn new(sent: &Sent, outcome: Outcome, ended: Instant) -> Done {
        Done {
            moments: Moments { due: sent.turn.due, sent: sent.at, first_byte: None, ended },
            outcome,
            lateness: sent.turn.lateness,
            connect: sent.connect,
            reused: sent.reused,
            sent_bytes: sent.bytes,
            head_bytes: 0,
            body_bytes: 0,
        }
    }

    fn exchange(&self) -> Exchange {
        Exchange {
            outcome: self.outcome,
            status: 0,
            cache: CacheResult::NotAsked,
            service: self.moments.service(),
            response: self.moments.response(),
            first_byte: self.moments.to_first_byte(),
            connect: self.connect,
            reused: self.reused,
            lateness: self.lateness,
            sent_bytes: self.sent_bytes,
            head_bytes: self.head_bytes,
            body_bytes: self.body_bytes,
        }
    }
}

/// How the exchange over one connection went on.
enum Read {
    /// At least one answer was complete.
    Answered,
    /// All that was under way has failed.
    Failed(Failure),
    /// The peer closed, as the framing has it, and that completed the answer.
    Closed,
}

/// Sends the message whose turn it is and, where several may be under way, those that come next.
pub(crate) async fn messages(
    worker: &Rc<Worker>,
    work: &PhaseWork,
    user: &mut User,
    messages: &Messages,
    turn: Turn,
) {
    worker.begin();
    let mut mine = user.messages.take().unwrap_or_default();
    let who = who(worker, work, user);
    let call = Call { worker, work, messages, who };
    while call.attempt(user, &mut mine, turn).await == Attempt::Outdated {}
    user.messages = Some(mine);
}

/// Numbers from 1, as people count; users of a worker up to ten thousand have numbers of their own.
fn who(worker: &Worker, work: &PhaseWork, user: &User) -> Who {
    let index = u64::from(worker.job.part.index) + 1;
    let nth = user.number / u64::from(work.part.of.max(1)) + 1;
    Who { connection: index * 10_000 + nth, worker: index }
}

struct Call<'a> {
    worker: &'a Rc<Worker>,
    work: &'a PhaseWork,
    messages: &'a Messages,
    who: Who,
}

impl Call<'_> {
    /// One try, over the user's connection or a new one, until nothing is under way and nothing more is to be sent.
    async fn attempt(&self, user: &mut User, mine: &mut Mine, turn: Turn) -> Attempt {
        if user.connection.is_none() {
            self.say(|| Said::Connecting);
        }
        let Some(mut connection) = ready(self.worker, user, self.worker.target(), &turn).await else {
            mine.start_again();
            return Attempt::Over;
        };
        self.get_ready(mine, connection.opened_in.is_some());
        let (carried_before, mut first) = (connection.carried, Some(turn));
        let ended = loop {
            let sent = self.send(user, mine, &mut connection, &mut first).await;
            if let Err(failure) = sent {
                break Some(Read::Failed(failure));
            }
            if mine.window.is_empty() {
                break None;
            }
            match self.read(user, mine, &mut connection).await {
                Read::Answered => {}
                ended => break Some(ended),
            }
        };
        if let Some(Read::Failed(failure)) = ended {
            let untouched = carried_before > 0 && mine.is_untouched(carried_before, &connection);
            if untouched && resends(self.worker, failure, &mut connection, Repeating::Message).await {
                self.worker.count(|counts| counts.resent += 1);
                mine.window.clear();
                close(self.worker, connection).await;
                return Attempt::Outdated;
            }
            self.fail(user, mine, failure, &connection);
        }
        let keep = ended.is_none() && !self.messages.closes && !self.is_used_up(&connection);
        // What is put back has carried one more than it is told here.
        connection.carried = connection.carried.saturating_sub(1);
        put_back(self.worker, user, connection, keep).await;
        Attempt::Over
    }

    fn get_ready(&self, mine: &mut Mine, fresh: bool) {
        if mine.reader.is_none() {
            // A plan's check has refused what no reader could be made for.
            mine.reader = Reader::new(self.messages.answers.clone(), self.messages.longest_answer).ok();
            mine.taken.resize(self.messages.taken, Vec::new());
            mine.window.reserve(self.messages.depth);
        }
        if let Some(reader) = &mut mine.reader
            && fresh
        {
            reader.reset();
            mine.began = None;
            self.say(|| Said::Connected);
        }
    }

    /// Tells a step of the exchange, where the plan wants to know of them.
    fn say(&self, said: impl FnOnce() -> Said) {
        if self.worker.job.load.trace.heads {
            let talk = Talk { connection: self.who.connection, said: said() };
            self.worker.show(Event::Talk(Box::new(talk)));
        }
    }

    /// Whether a connection has carried all that it may.
    fn is_used_up(&self, connection: &Connection) -> bool {
        let most = self.worker.job.load.protocol.connections().requests_per_connection;
        most.is_some_and(|most| connection.carried >= most)
    }

    /// Fills what may be under way, in one send.
    async fn send(
        &self,
        user: &mut User,
        mine: &mut Mine,
        connection: &mut Connection,
        first: &mut Option<Turn>,
    ) -> Result<(), Failure> {
        let now = self.worker.net.now();
        let (mut bytes, goes_on) = (None, first.is_some() || self.work.pipelines);
        while mine.window.len() < self.messages.depth {
            let next = || self.next(user, connection, now).filter(|_| goes_on);
            let Some(turn) = first.take().or_else(next) else { break };
            let buffer = bytes.get_or_insert_with(|| self.worker.net.buffer());
            if !self.write(user, mine, connection, turn, now, buffer) {
                break;
            }
        }
        let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
        self.say(|| Said::Sent(bytes.to_vec()));
        self.set_deadline(mine, connection);
        let sent = connection.stream.send(bytes).await;
        sent.map_err(|error| failure::of_io(&error, Stage::Send))?;
        if self.messages.closes {
            let closed = connection.stream.shutdown_write().await;
            closed.map_err(|error| failure::of_io(&error, Stage::Send))?;
        }
        if self.messages.unanswered {
            self.end_unanswered(user, mine);
        }
        Ok(())
    }

    /// What is sent beside what is under way already.
    fn next(&self, user: &mut User, connection: &Connection, now: Instant) -> Option<Turn> {
        let may = self.work.turns_per_user.is_none_or(|most| user.turns + 1 < most);
        if self.messages.depth == 1 || self.is_used_up(connection) || !may {
            return None;
        }
        let number = self.worker.next_number(self.work, now)?;
        self.worker.begin();
        self.worker.count(|counts| counts.reused += 1);
        user.turns += 1;
        Some(Turn { number, due: now, lateness: None })
    }

    /// Writes a request; `false` where it does not fit, which has then been counted.
    fn write(
        &self,
        user: &mut User,
        mine: &mut Mine,
        connection: &mut Connection,
        turn: Turn,
        now: Instant,
        buffer: &mut Vec<u8>,
    ) -> bool {
        let index = self.messages.choose(turn.number, mine.next);
        let prepared = self.messages.at(index);
        let moment = self.moment(user, &turn, now, prepared);
        let begin = buffer.len();
        let values = (&moment, &self.who);
        let written = self.messages.write(prepared, values, &mine.taken, &mut mine.scratch, buffer);
        let bytes = (buffer.len() - begin) as u64;
        let sent = Sent {
            turn,
            at: now,
            index,
            bytes,
            key: self.key_of_request(&buffer[begin..]),
            reused: connection.carried > 0,
            connect: connection.opened_in.take(),
            expect: self.expect(&buffer[begin..]),
        };
        match written {
            Ok(()) => {
                connection.carried += 1;
                mine.window.push_back(sent);
                true
            }
            Err(_) => {
                let failure = Failure { kind: FailureKind::Unwritable, stage: Stage::Send, errno: None };
                // The user waits before the next one, or it would only count the same again and again.
                user.refusals += 1;
                mine.start_again();
                self.count(user, &Done::new(&sent, Outcome::Failed(failure), now), 1);
                self.tell(&sent, Wrong::Failed(failure), String::new(), now);
                false
            }
        }
    }

    fn expect(&self, request: &[u8]) -> Expect {
        if self.messages.http && request.starts_with(b"HEAD ") { Expect::NoBody } else { Expect::Body }
    }

    /// What the values depend on of a message that is sent at this moment.
    fn moment(&self, user: &User, turn: &Turn, at: Instant, prepared: &Prepared) -> Moment {
        let unix_us = if prepared.is_fixed() { 0 } else { self.worker.net.unix_micros_at(at) };
        Moment { number: turn.number, user: user.number, unix_us }
    }

    /// What was sent first must be answered first, or at least in time.
    fn set_deadline(&self, mine: &Mine, connection: &mut Connection) {
        let limit = self.worker.job.load.limits.request;
        connection.stream.set_deadline(mine.window.front().map(|oldest| oldest.at + limit));
    }

    /// What nobody answers is done when it is sent.
    fn end_unanswered(&self, user: &mut User, mine: &mut Mine) {
        let now = self.worker.net.now();
        let unanswered = |sent: &Sent| self.messages.at(sent.index).unanswered;
        while let Some(place) = mine.window.iter().position(unanswered) {
            let Some(sent) = mine.window.remove(place) else { break };
            self.count(user, &Done::new(&sent, Outcome::Fine, now), 1);
            mine.next += 1;
        }
    }

    /// Receives once and deals with all messages that are complete with it.
    async fn read(&self, user: &mut User, mine: &mut Mine, connection: &mut Connection) -> Read {
        loop {
            self.set_deadline(mine, connection);
            let received = connection.stream.recv().await;
            let now = self.worker.net.now();
            let bytes: Received = match received {
                Ok(bytes) => bytes,
                Err(error) => return Read::Failed(failure::of_io(&error, stage(mine))),
            };
            // The reader is taken out, so that its message and all the rest of a user may be used together.
            let Some(mut reader) = mine.reader.take() else { return Read::Failed(bad_frame()) };
            let ended = self.take(user, mine, &mut reader, &bytes, now);
            mine.reader = Some(reader);
            self.count_done(user, mine);
            if let Some(ended) = ended {
                return ended;
            }
        }
    }

    /// Deals with what was received; `None` while no answer is complete.
    fn take(
        &self,
        user: &mut User,
        mine: &mut Mine,
        reader: &mut Reader,
        bytes: &[u8],
        now: Instant,
    ) -> Option<Read> {
        if bytes.is_empty() {
            return Some(match reader.end_of_stream() {
                Ok(message) => {
                    self.message(user, mine, &message, now);
                    self.closed(mine)
                }
                Err(_) => Read::Failed(closed_early(mine)),
            });
        }
        let (mut rest, mut answered) = (bytes, false);
        while !rest.is_empty() {
            mine.began.get_or_insert(now);
            reader.begin(mine.window.front().map_or(Expect::Body, |sent| sent.expect));
            match reader.read(rest) {
                Ok(found) => {
                    rest = &rest[found.consumed..];
                    if let Some(message) = found.message {
                        answered |= self.message(user, mine, &message, now);
                        mine.began = None;
                        if !reader.keeps_connection() {
                            return Some(self.closed(mine));
                        }
                    }
                }
                Err(error) => return Some(Read::Failed(of_framing(&error))),
            }
        }
        answered.then_some(Read::Answered)
    }

    /// The peer has closed or will, as it should.
    fn closed(&self, mine: &Mine) -> Read {
        if mine.window.is_empty() { Read::Closed } else { Read::Failed(closed_early(mine)) }
    }

    /// A message has come. Whether it was an answer.
    fn message(&self, user: &mut User, mine: &mut Mine, message: &Message<'_>, now: Instant) -> bool {
        self.say(|| Said::Received {
            head: message.head().to_vec(),
            body: message.body().to_vec(),
            bytes: message.bytes.to_vec(),
        });
        let place = if self.messages.is_pushed(message) { None } else { self.place(mine, message) };
        let sent = match place {
            Some(0) => mine.window.pop_front(),
            place => place.and_then(|place| mine.window.remove(place)),
        };
        let Some(sent) = sent else {
            self.worker.count(|counts| {
                counts.pushed += 1;
                counts.body_bytes += message.bytes.len() as u64;
            });
            return false;
        };
        let prepared = self.messages.at(sent.index);
        let outcome = self.judge(mine, prepared, message);
        self.say(|| self.judged(outcome, message));
        let mut done = Done::new(&sent, outcome, now);
        done.moments.first_byte = mine.began;
        done.head_bytes = message.body.start as u64;
        done.body_bytes = (message.bytes.len() - message.body.start) as u64;
        self.end(user, mine, done);
        if let Outcome::Faulty(fault) = outcome {
            self.tell_faulty(user, mine, &sent, fault, (message, now));
            mine.start_again();
        } else {
            mine.next += 1;
        }
        true
    }

    /// Which request under way a message answers.
    fn place(&self, mine: &Mine, message: &Message<'_>) -> Option<usize> {
        match &self.messages.correlation {
            None => (!mine.window.is_empty()).then_some(0),
            Some((_, answer)) => {
                let key = key(answer.find(message)?);
                mine.window.iter().position(|sent| sent.key == key)
            }
        }
    }

    fn key_of_request(&self, bytes: &[u8]) -> u64 {
        let Some((request, _)) = &self.messages.correlation else { return 0 };
        let message = Message { bytes, body: self.messages.body_of(bytes) };
        request.find(&message).map_or(0, key)
    }

    fn judge(&self, mine: &mut Mine, prepared: &Prepared, message: &Message<'_>) -> Outcome {
        if let Some(verdict) = self.messages.verdict(message) {
            let (code, good) = match verdict {
                Verdict::Good(code) => (code, true),
                Verdict::Bad(code) => (code, false),
            };
            self.worker.code(code, good);
            if !good {
                return Outcome::Faulty(if code.is_some() { Fault::BadCode } else { Fault::NoCode });
            }
        }
        for (slot, at) in &prepared.takes {
            let Some(value) = at.find(message) else { return Outcome::Faulty(Fault::NoValue) };
            mine.taken[*slot].clear();
            mine.taken[*slot].extend_from_slice(value);
        }
        Outcome::Fine
    }

    /// An answer has come. It is counted together with those that come at the same time and are like it.
    fn end(&self, user: &mut User, mine: &mut Mine, done: Done) {
        match &mut mine.done {
            Some((last, times)) if *last == done => *times += 1,
            _ => {
                self.count_done(user, mine);
                mine.done = Some((done, 1));
            }
        }
    }

    fn count_done(&self, user: &mut User, mine: &mut Mine) {
        if let Some((done, times)) = mine.done.take() {
            user.refusals = 0;
            self.count(user, &done, times);
        }
    }

    fn count(&self, user: &mut User, done: &Done, times: u64) {
        user.ended = Some(done.moments.ended);
        self.worker.end_alike(&done.exchange(), times);
    }

    /// All that is under way has failed with its connection.
    fn fail(&self, user: &mut User, mine: &mut Mine, failure: Failure, connection: &Connection) {
        let now = self.worker.net.now();
        let silent = mine.began.is_none() && connection.carried as usize <= mine.window.len();
        // As good as refused, where it is not the clock that has paced the user already.
        user.refusals = match failure.kind {
            FailureKind::Timeout => 0,
            _ if silent => user.refusals + 1,
            _ => 0,
        };
        while let Some(sent) = mine.window.pop_front() {
            self.count(user, &Done::new(&sent, Outcome::Failed(failure), now), 1);
            self.tell(&sent, Wrong::Failed(failure), String::new(), now);
        }
        mine.start_again();
        mine.began = None;
    }

    fn tell(&self, sent: &Sent, what: Wrong, status_line: String, now: Instant) {
        if !self.worker.job.load.trace.errors {
            return;
        }
        self.worker.tell(Event::Trouble(Trouble {
            what,
            request: self.messages.at(sent.index).name.clone(),
            status_line,
            range: (0, 0),
            after: now.saturating_duration_since(sent.turn.due),
            connection: self.who.connection,
            reused: sent.reused,
        }));
    }

    /// An answer that came whole was wrong. Not on the plain path.
    fn tell_faulty(
        &self,
        user: &User,
        mine: &mut Mine,
        sent: &Sent,
        fault: Fault,
        (message, now): (&Message<'_>, Instant),
    ) {
        let worker = self.worker;
        self.tell(sent, Wrong::Faulty(fault), shown(message.bytes), now);
        if worker.evidence_left.get() == 0 {
            return;
        }
        worker.evidence_left.set(worker.evidence_left.get() - 1);
        let (mut request, prepared) = (Vec::new(), self.messages.at(sent.index));
        let moment = self.moment(user, &sent.turn, sent.at, prepared);
        // It was written before, so it can be again.
        let _ =
            self.messages.write(prepared, (&moment, &self.who), &mine.taken, &mut mine.scratch, &mut request);
        worker.tell(Event::Evidence(Box::new(Evidence {
            fault,
            detail: self.detail(fault, message),
            serial: None,
            at_us: worker.since_start().as_micros() as u64,
            phase: self.work.name.clone(),
            request: shown(&request),
            response: shown(message.bytes),
            origin_request: None,
            origin_response: None,
        })));
    }

    fn judged(&self, outcome: Outcome, message: &Message<'_>) -> Said {
        let fault = match outcome {
            Outcome::Faulty(fault) => Some(fault),
            _ => None,
        };
        let code = self.messages.verdict(message).and_then(|verdict| {
            let (Verdict::Good(code) | Verdict::Bad(code)) = verdict;
            code.map(<[u8]>::to_vec)
        });
        Said::Judged { code, fault }
    }

    fn detail(&self, fault: Fault, message: &Message<'_>) -> String {
        if let Some(status) = self.messages.bad_status(message) {
            return format!("status {}, where one below 400 is wanted", shown(status));
        }
        match (&self.messages.code, fault) {
            (Some(judge), Fault::BadCode | Fault::NoCode) => {
                let (Verdict::Good(code) | Verdict::Bad(code)) = judge.judge(message);
                let code = code.map_or("no code".to_owned(), |code| format!("code '{}'", shown(code)));
                format!("{code}, where {} is wanted", judge.wanted())
            }
            _ => "the answer lacks a value that the next message holds".to_owned(),
        }
    }
}

/// Bytes as people may read them, at most a few lines of them.
fn shown(bytes: &[u8]) -> String {
    let most = bytes.len().min(2048);
    bytes[..most].escape_ascii().to_string()
}

fn key(value: &[u8]) -> u64 {
    value.chunks(8).fold(hash(value.len() as u64, 0xC0DE), |sum, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash(sum, u64::from_le_bytes(word))
    })
}

impl Mine {
    /// A sequence begins anew.
    fn start_again(&mut self) {
        self.next = 0;
        self.taken.iter_mut().for_each(Vec::clear);
    }

    /// Whether nothing was answered of what this attempt has sent, which is one request: it may be sent again.
    fn is_untouched(&self, carried_before: u32, connection: &Connection) -> bool {
        self.began.is_none() && self.window.len() == 1 && connection.carried == carried_before + 1
    }
}

fn stage(mine: &Mine) -> Stage {
    if mine.began.is_some() { Stage::Body } else { Stage::Head }
}

fn closed_early(mine: &Mine) -> Failure {
    Failure { kind: FailureKind::ClosedEarly, stage: stage(mine), errno: None }
}

fn bad_frame() -> Failure {
    Failure { kind: FailureKind::BadFrame, stage: Stage::Body, errno: None }
}

fn of_framing(error: &Error) -> Failure {
    match error {
        Error::TooLong { .. } => Failure { kind: FailureKind::TooLong, ..bad_frame() },
        _ => bad_frame(),
    }
}
