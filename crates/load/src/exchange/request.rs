//! Sending a request that was described beforehand. Start reading at [`request`].

use super::{
    Attempt, DRAIN_FROM, Ended, Moments, Turn, drain, keeps, note_refusal, put_back, ready, renewable, take,
};
use crate::connection::Connection;
use crate::failure;
use crate::requests::{Answer, Prepared};
use crate::user::User;
use crate::worker::{PhaseWork, Worker};
use measure::event::{HeadTitle, Wrong};
use measure::{
    CacheResult, Event, Evidence, Exchange, Failure, FailureKind, Fault, Outcome, Record, Stage, Trouble,
};
use plan::data::Moment;
use std::rc::Rc;
use std::time::Duration;
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
    while call.attempt(user).await == Attempt::Outdated {
        worker.count(|counts| counts.resent += 1);
    }
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
        let records = worker.job.load.trace.requests;
        let began = if records { worker.since_start() } else { Duration::ZERO };
        let Some(mut connection) = ready(worker, user, prepared.place(), &self.turn).await else {
            if records {
                self.record_unconnected(user, began);
            }
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
        let keep_head = worker.evidence_left.get() > 0 || trace.heads || trace.errors;
        let mut answer = Answer::new(prepared, keep_head.then_some(&mut user.answer_head));
        let mut moments = Moments::at_send(self.turn.due, worker.net.now());
        connection.begin(moments.sent + worker.job.load.limits.request, prepared.framing);
        let ended = match connection.stream.send(message).await {
            Err(error) => Ended::Failed(failure::of_io(&error, Stage::Send)),
            Ok(()) => self.read(&mut connection, &mut answer, &mut moments).await,
        };
        let ended = renewable(ended, &connection);
        if let Ended::Outdated = ended {
            return Attempt::Outdated;
        }
        let outcome = self.outcome(ended, &mut answer);
        worker.end(&Exchange {
            status: answer.status,
            cache: CacheResult::NotAsked,
            sent_bytes,
            head_bytes: answer.head_bytes,
            body_bytes: answer.body_bytes,
            ..moments.exchange(outcome, &self.turn, &mut connection)
        });
        if records {
            let connect = fresh.then(|| worker.since(moments.sent).saturating_sub(began));
            self.record(Record {
                outcome,
                version: answer.version.map(version_text),
                status: answer.status,
                connect,
                first_byte: moments.to_first_byte(),
                service: moments.service(),
                head_bytes: answer.head_bytes,
                body_bytes: answer.body_bytes,
                ..self.blank_record(number, began)
            });
        }
        let keep = keeps(ended, last, answer.keep_alive);
        let detail = matches!(outcome, Outcome::Faulty(_)).then(|| answer.detail());
        drop(answer);
        user.ended = Some(moments.ended);
        note_refusal(user, ended, &moments);
        if trace.heads || !matches!(outcome, Outcome::Fine) {
            self.tell(user, outcome, detail, (&moment, &moments), &connection);
        }
        put_back(worker, user, connection, keep).await;
        Attempt::Over
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
            moments.ended = self.worker.net.now();
            moments.first_byte.get_or_insert(moments.ended);
            if let Some(ended) = take(&mut connection.reader, received, answer) {
                if connection.reader.stage() == Progress::Idle {
                    moments.first_byte = None;
                }
                return ended;
            }
        }
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
            url: self.prepared.url.clone(),
            connect: None,
            first_byte: None,
            service: Duration::ZERO,
            head_bytes: 0,
            body_bytes: 0,
        }
    }

    fn record_unconnected(&self, user: &User, began: Duration) {
        let failure = user.not_connected.unwrap_or(Failure {
            kind: FailureKind::System,
            stage: Stage::Connect,
            errno: None,
        });
        let service = self.worker.since_start().saturating_sub(began);
        let outcome = Outcome::Failed(failure);
        self.record(Record { outcome, service, ..self.blank_record(user.number, began) });
    }

    fn record(&self, record: Record) {
        self.worker.show(Event::Request(Box::new(record)));
    }

    fn outcome(&self, ended: Ended, answer: &mut Answer<'_>) -> Outcome {
        match ended {
            Ended::Failed(failure) => Outcome::Failed(failure),
            Ended::BrokenOff => Outcome::Aborted,
            Ended::Complete | Ended::Outdated if self.prepared.expect.takes(answer.status) => {
                answer.complete().map_or(Outcome::Fine, Outcome::Faulty)
            }
            Ended::Complete | Ended::Outdated => {
                Outcome::Failed(Failure { kind: FailureKind::BadStatus, stage: Stage::Head, errno: None })
            }
        }
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
            let head = String::from_utf8_lossy(&user.answer_head);
            worker.tell(Event::Trouble(Trouble {
                what,
                request: format!("{} {}", self.prepared.method, self.prepared.url),
                status_line: head.lines().next().unwrap_or("").to_owned(),
                range: (0, 0),
                after: moments.response(),
                connection: connection.number,
                reused: connection.carried > 0,
            }));
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

fn version_text(version: Version) -> &'static str {
    match version {
        Version::Http10 => "HTTP/1.0",
        Version::Http11 => "HTTP/1.1",
    }
}
