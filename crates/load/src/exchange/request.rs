//! Sending a request that was described beforehand. Start reading at [`request`].

use super::{
    Attempt, DRAIN_FROM, Ended, Moments, NotConnected, Repeating, Turn, await_close, decide, drain, keeps,
    note_arrival, note_end, note_refusal, put_back, ready, take, trouble_of,
};
use crate::connection::Connection;
use crate::failure;
use crate::requests::{Answer, Prepared};
use crate::user::User;
use crate::worker::{PhaseWork, Worker};
use measure::event::{HeadTitle, Wrong};
use measure::{CacheResult, Cause, Event, Evidence, Exchange, Fault, First, Outcome, Record, Stage, Times};
use plan::CloseBy;
use plan::data::Moment;
use plan::draw::{Draw, hash};
use std::rc::Rc;
use std::time::{Duration, Instant};
use wire::http1::{Stage as Progress, Version};

/// Bytes of the first read of an answer whose body is to be drained: enough for a usual head.
const HEAD_READ: usize = 1024;

/// Sends a prepared request and reads its answer.
pub(crate) async fn request(
    worker: &Rc<Worker>,
    work: &PhaseWork,
    user: &mut User,
    prepared: &Prepared,
    turn: Turn,
) {
    worker.begin();
    let call = Call { worker, work, prepared, turn };
    while call.attempt(user).await == Attempt::Outdated {}
}

struct Call<'a> {
    worker: &'a Rc<Worker>,
    work: &'a PhaseWork,
    prepared: &'a Prepared,
    turn: Turn,
}

impl Call<'_> {
    /// One try, over the user's connection or a new one.
    async fn attempt(&self, user: &mut User) -> Attempt {
        let (worker, prepared) = (self.worker, self.prepared);
        let Some(mut connection) = ready(worker, user, prepared.place(), &self.turn).await else {
            self.record_unconnected(user);
            return Attempt::Over;
        };
        let (fresh, number) = (connection.opened_in.is_some(), user.number);
        let last = worker.is_last(&connection);
        let mut message = worker.net.buffer();
        let moment = self.moment(user);
        prepared.write(last, &moment, &mut message);
        let sent_bytes = message.len() as u64;
        self.show(HeadTitle::RequestToProxy, &message);
        let trace = &worker.job.load.trace;
        let keep_head =
            worker.evidence_left.get() > 0 || trace.heads || trace.errors || worker.first_wanted.get();
        let mut answer = Answer::new(prepared, keep_head.then_some(&mut user.answer_head));
        let mut moments = Moments::at_send(self.turn.due, worker.net.now());
        connection.begin(worker.first_deadline(moments.sent), prepared.framing);
        let ended = match connection.stream.send(message).await {
            Err(error) => Ended::Failed(failure::of_io(&error, Stage::Send)),
            Ok(()) => self.read(&mut connection, &mut answer, &mut moments).await,
        };
        let what = Repeating::of_method(prepared.method.as_bytes());
        let ended = decide(worker, ended, &mut connection, what).await;
        if let Ended::Outdated = ended {
            return Attempt::Outdated;
        }
        let outcome = answer.outcome(ended);
        worker.end(&Exchange {
            status: answer.status,
            cache: CacheResult::NotAsked,
            sent_bytes,
            head_bytes: answer.head_bytes,
            body_bytes: answer.body_bytes,
            ..moments.exchange(outcome, &self.turn, &mut connection)
        });
        let keep = keeps(ended, last, answer.keep_alive);
        let tells = self.tells(outcome);
        if trace.spreads || tells {
            let begun = fresh.then_some(connection.begun);
            self.keep_times(number, begun, &moments, keep, (outcome, &answer));
        }
        let peer_closes = matches!(ended, Ended::Complete) && !answer.keep_alive;
        let body_bytes = answer.first_length();
        let detail = matches!(outcome, Outcome::Faulty(_)).then(|| answer.detail());
        drop(answer);
        user.ended = Some(moments.ended);
        note_refusal(user, ended, &moments, &connection);
        if trace.heads || !matches!(outcome, Outcome::Fine) {
            self.tell(user, outcome, detail, (&moment, &moments), &connection);
        }
        if matches!(ended, Ended::Complete) && worker.first_wanted.replace(false) {
            let (at, head) = (worker.since(moments.ended), user.answer_head.clone());
            worker.show(Event::First(Box::new(First { at, head, body_bytes })));
        }
        if !keep && peer_closes && worker.http().close == CloseBy::Peer {
            await_close(worker, &mut connection).await;
        }
        put_back(worker, user, connection, keep).await;
        Attempt::Over
    }

    /// Gathers and records the times of a request, as the plan wants. `begun`: when its connection was, where that was for
    /// this request.
    fn keep_times(
        &self,
        user: u64,
        begun: Option<Instant>,
        moments: &Moments,
        kept: bool,
        (outcome, answer): (Outcome, &Answer<'_>),
    ) {
        let worker = self.worker;
        let connect = begun.map(|begun| moments.sent.saturating_duration_since(begun));
        if worker.job.load.trace.spreads {
            worker.gather(&Times {
                connect: connect.unwrap_or_default(),
                processing: moments.service(),
                waiting: moments.to_first_byte().unwrap_or_default(),
                kept,
                ended: worker.since(moments.ended),
            });
        }
        if self.tells(outcome) {
            self.record(Record {
                outcome,
                version: answer.version.map(version_text),
                status: answer.status,
                connect,
                first_byte: moments.to_first_byte(),
                service: moments.service(),
                head_bytes: answer.head_bytes,
                body_bytes: answer.body_bytes,
                expected_bytes: answer.model_length(),
                ..self.blank_record(user, worker.since(begun.unwrap_or(moments.sent)))
            });
        }
    }

    /// What the values of the request depend on; the clock is read only where they do.
    fn moment(&self, user: &User) -> Moment {
        let unix_us = if self.prepared.is_fixed() { 0 } else { self.worker.net.unix_micros() };
        Moment { number: self.turn.number, user: user.number, unix_us }
    }

    async fn read(
        &self,
        connection: &mut Connection,
        answer: &mut Answer<'_>,
        moments: &mut Moments,
    ) -> Ended {
        if self.is_paced() {
            return self.read_paced(connection, answer, moments).await;
        }
        let long = self.prepared.long.get();
        let from = if long { 1 } else { DRAIN_FROM };
        loop {
            if connection.reader.stage() == Progress::Body
                && let Some(ended) = drain(connection, answer, from).await
            {
                moments.ended = self.worker.net.now();
                return ended;
            }
            let for_head = long && connection.reader.stage() != Progress::Body;
            let received = match for_head {
                true => connection.stream.recv_at_most(HEAD_READ).await,
                false => connection.stream.recv().await,
            };
            note_arrival(self.worker, connection, moments);
            if let Some(ended) = take(&mut connection.reader, received, answer) {
                return note_end(self.worker, connection, moments, ended);
            }
        }
    }

    /// Whether it matters when each part of the answer comes, or is read.
    fn is_paced(&self) -> bool {
        self.worker.job.load.limits.idle.is_some() || self.prepared.reading.bytes_per_second.is_some()
    }

    /// Reads part by part, as slowly as the plan wants; each part must come within the limit of idle time.
    async fn read_paced(
        &self,
        connection: &mut Connection,
        answer: &mut Answer<'_>,
        moments: &mut Moments,
    ) -> Ended {
        let (worker, limits) = (self.worker, &self.worker.job.load.limits);
        let whole = moments.sent + limits.request;
        let speed = self.speed();
        loop {
            if let Some(speed) = speed {
                let read = Duration::from_secs_f64(answer.body_bytes as f64 / speed.max(1) as f64);
                worker.net.sleep_until((moments.sent + read).min(whole)).await;
            }
            let idle = limits.idle.map_or(whole, |idle| (worker.net.now() + idle).min(whole));
            connection.stream.set_deadline(Some(idle));
            let received = match speed {
                // Fifty reads a second, so that the peer sees a steady trickle.
                Some(speed) => connection.stream.recv_at_most((speed / 50).clamp(1, 65_536) as usize).await,
                None => connection.stream.recv().await,
            };
            moments.ended = worker.net.now();
            moments.first_byte.get_or_insert(moments.ended);
            if let Some(ended) = take(&mut connection.reader, received, answer) {
                if connection.reader.stage() == Progress::Idle {
                    moments.first_byte = None;
                }
                return ended;
            }
        }
    }

    /// Bytes per second at which this answer is read, where it is one of the slow ones.
    fn speed(&self) -> Option<u64> {
        let reading = self.prepared.reading;
        let seed = hash(self.worker.job.seed, 0x510);
        let is_slow = || Draw::new(seed, self.turn.number).chance(reading.slow);
        reading.bytes_per_second.filter(|_| is_slow())
    }

    fn blank_record(&self, user: u64, began: Duration) -> Record {
        Record {
            number: self.turn.number,
            user,
            place: self.prepared.index,
            began,
            outcome: Outcome::Fine,
            version: None,
            status: 0,
            method: self.prepared.method.clone(),
            url: self.prepared.address.text.clone(),
            connect: None,
            first_byte: None,
            service: Duration::ZERO,
            head_bytes: 0,
            body_bytes: 0,
            cause: Cause::Listed,
            expected_bytes: None,
        }
    }

    /// Gathers and records the times of a request for which no connection could be opened.
    fn record_unconnected(&self, user: &User) {
        let Some(NotConnected { failure, began, ended }) = user.not_connected else { return };
        let (worker, service) = (self.worker, ended.saturating_duration_since(began));
        if worker.job.load.trace.spreads {
            worker.gather(&Times {
                connect: Duration::ZERO,
                processing: service,
                waiting: Duration::ZERO,
                kept: false,
                ended: worker.since(ended),
            });
        }
        let outcome = Outcome::Failed(failure);
        if self.tells(outcome) {
            self.record(Record { outcome, service, ..self.blank_record(user.number, worker.since(began)) });
        }
    }

    /// Whether a request that ended so is told of.
    fn tells(&self, outcome: Outcome) -> bool {
        let trace = &self.worker.job.load.trace;
        trace.requests || trace.bad_requests && !matches!(outcome, Outcome::Fine)
    }

    fn record(&self, record: Record) {
        self.worker.show(Event::Request(Box::new(record)));
    }

    fn show(&self, title: HeadTitle, bytes: &[u8]) {
        if self.worker.job.load.trace.heads {
            self.worker.show(Event::Head { title, text: bytes.to_vec() });
        }
    }

    /// Tells what the plan wants told of one request. Not on the plain path.
    fn tell(
        &self,
        user: &User,
        outcome: Outcome,
        detail: Option<String>,
        (moment, moments): (&Moment, &Moments),
        connection: &Connection,
    ) {
        let worker = self.worker;
        if connection.reader.stage() != Progress::Idle {
            self.show(HeadTitle::ResponseFromProxy, &user.answer_head);
        }
        let what = match outcome {
            Outcome::Failed(failure) => Wrong::Failed(failure),
            Outcome::Faulty(fault) => Wrong::Faulty(fault),
            Outcome::Fine | Outcome::Injected | Outcome::Aborted => return,
        };
        if let (Outcome::Faulty(fault), true) = (outcome, worker.evidence_left.get() > 0) {
            worker.evidence_left.set(worker.evidence_left.get() - 1);
            let evidence = self.evidence(user, fault, detail.unwrap_or_default(), moment);
            worker.tell(Event::Evidence(Box::new(evidence)));
        }
        if worker.job.load.trace.errors {
            let request = format!("{} {}", self.prepared.method, self.prepared.address.text);
            worker.tell(trouble_of(what, request, &user.answer_head, moments, connection));
        }
    }

    fn evidence(&self, user: &User, fault: Fault, detail: String, moment: &Moment) -> Evidence {
        let mut request = Vec::new();
        self.prepared.write(false, moment, &mut request);
        Evidence {
            fault,
            detail,
            serial: None,
            at_us: self.worker.since_start().as_micros() as u64,
            phase: self.work.name.clone(),
            request: String::from_utf8_lossy(&request).into_owned(),
            response: String::from_utf8_lossy(&user.answer_head).into_owned(),
            origin_request: None,
            origin_response: None,
        }
    }
}

pub(crate) fn version_text(version: Version) -> &'static str {
    match version {
        Version::Http10 => "HTTP/1.0",
        Version::Http11 => "HTTP/1.1",
    }
}
