//! Sending what a script says, and telling it the answers. Start reading at [`script`].

use super::{Attempt, Ended, Moments, Repeating, Turn, decide, keeps, note_refusal, put_back, ready};
use crate::connection::Connection;
use crate::failure;
use crate::script::{Halt, Heard, Playing};
use crate::user::User;
use crate::worker::{PhaseWork, Worker};
use measure::{CacheResult, Exchange, Failure, FailureKind, Outcome, Stage};
use net::Buffer;
use std::rc::Rc;
use std::time::Duration;
use wire::http1::batch::Batch;
use wire::http1::{ResponseHead, ResponseSink, Stage as Progress};

/// Asks the script what to send, sends it and reads the answers.
pub(crate) async fn script(
    worker: &Rc<Worker>,
    work: &PhaseWork,
    user: &mut User,
    playing: &Playing,
    mut turn: Turn,
) {
    let Some(delay) = playing.delay() else { return halt(worker, playing) };
    if !delay.is_zero() {
        worker.net.sleep(delay).await;
        turn.due = worker.net.now();
        if worker.over(work, turn.due) {
            return;
        }
    }
    let mut message = std::mem::take(&mut user.message);
    if let Some(batch) = playing.request(&mut message) {
        (0..batch.count).for_each(|_| worker.begin());
        let call = Call { worker, playing, turn, batch };
        while call.attempt(user, &message).await == Attempt::Outdated {}
    }
    user.message = message;
    if playing.halted.get().is_some() {
        halt(worker, playing);
    }
}

/// The script has had enough: this worker ends, and where the script has failed, all do.
fn halt(worker: &Worker, playing: &Playing) {
    worker.halted.set(true);
    if playing.halted.get() == Some(Halt::Failed) {
        worker.job.control.stop();
    }
}

struct Call<'a> {
    worker: &'a Rc<Worker>,
    playing: &'a Playing,
    turn: Turn,
    batch: Batch,
}

impl Call<'_> {
    /// One try, over the user's connection or a new one.
    async fn attempt(&self, user: &mut User, message: &[u8]) -> Attempt {
        let worker = self.worker;
        let Some(mut connection) = ready(worker, user, self.playing.place(), &self.turn).await else {
            // The first has been counted.
            self.fail_others(user.not_connected.map(|said| said.failure), self.batch.count - 1);
            return Attempt::Over;
        };
        let mut out = worker.net.buffer();
        out.extend_from_slice(message);
        let moments = Moments::at_send(self.turn.due, worker.net.now());
        let mut reading = Reading {
            call: self,
            answer: Answer::new(std::mem::take(&mut user.heard), self.playing.responds()),
            moments,
            answered: 0,
        };
        let ended = reading.exchange(&mut connection, out).await;
        let Reading { answer, moments, answered, .. } = reading;
        user.heard = answer.heard;
        let what = Repeating::of_text(message, self.batch.count);
        let ended = if answered == 0 { decide(worker, ended, &mut connection, what).await } else { ended };
        if let Ended::Outdated = ended {
            return Attempt::Outdated;
        }
        if let Ended::Failed(failure) = ended {
            let outcome = Outcome::Failed(failure);
            if answered < self.batch.count {
                worker.end(&moments.exchange(outcome, &self.turn, &mut connection));
            }
            self.fail_others(Some(failure), (self.batch.count - answered).saturating_sub(1));
        }
        user.ended = Some(moments.ended);
        note_refusal(user, ended, &moments, &connection);
        put_back(worker, user, connection, keeps(ended, false, answer.keep_alive)).await;
        Attempt::Over
    }

    /// The rest of a batch has failed with its first failure.
    fn fail_others(&self, failure: Option<Failure>, count: u32) {
        let unknown = Failure { kind: FailureKind::System, stage: Stage::Connect, errno: None };
        let outcome = Outcome::Failed(failure.unwrap_or(unknown));
        for _ in 0..count {
            self.worker.end(&blank(outcome));
        }
    }
}

/// An exchange of which nothing is known but its outcome.
fn blank(outcome: Outcome) -> Exchange {
    Exchange {
        outcome,
        status: 0,
        cache: CacheResult::NotAsked,
        service: Duration::ZERO,
        response: Duration::ZERO,
        first_byte: None,
        connect: None,
        reused: true,
        lateness: None,
        sent_bytes: 0,
        head_bytes: 0,
        body_bytes: 0,
    }
}

/// A batch under way.
struct Reading<'a> {
    call: &'a Call<'a>,
    answer: Answer,
    moments: Moments,
    /// Answers that are complete.
    answered: u32,
}

impl Reading<'_> {
    async fn exchange(&mut self, connection: &mut Connection, out: Buffer) -> Ended {
        let worker = self.call.worker;
        let sent_bytes = out.len() as u64;
        connection.begin(self.moments.sent + worker.job.load.limits.request, self.call.batch.expect);
        if let Err(error) = connection.stream.send(out).await {
            return Ended::Failed(failure::of_io(&error, Stage::Send));
        }
        worker.count(|counts| counts.sent_bytes += sent_bytes);
        loop {
            let received = connection.stream.recv().await;
            self.moments.ended = worker.net.now();
            self.moments.first_byte.get_or_insert(self.moments.ended);
            let stage = match connection.reader.stage() {
                Progress::Idle | Progress::Head => Stage::Head,
                Progress::Body | Progress::Done => Stage::Body,
            };
            let ended = match received {
                Ok(bytes) if bytes.is_empty() => self.end_of_stream(connection),
                Ok(bytes) => self.take(connection, &bytes),
                Err(error) => Some(Ended::Failed(failure::of_io(&error, stage))),
            };
            if let Some(ended) = ended {
                if connection.reader.stage() == Progress::Idle {
                    self.moments.first_byte = None;
                }
                return ended;
            }
        }
    }

    fn end_of_stream(&mut self, connection: &mut Connection) -> Option<Ended> {
        if let Err(error) = connection.reader.end_of_stream(&mut self.answer) {
            return Some(Ended::Failed(failure::of_codec(&error, connection.reader.stage())));
        }
        let more = self.complete(connection);
        let closed = Failure { kind: FailureKind::ClosedEarly, stage: Stage::Head, errno: None };
        Some(if more { Ended::Failed(closed) } else { Ended::Complete })
    }

    /// Reads what came, which may be several answers; `None` while some are missing.
    fn take(&mut self, connection: &mut Connection, bytes: &[u8]) -> Option<Ended> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let progress = match connection.reader.read(rest, &mut self.answer) {
                Ok(progress) => progress,
                Err(error) => {
                    return Some(Ended::Failed(failure::of_codec(&error, connection.reader.stage())));
                }
            };
            rest = &rest[progress.consumed..];
            if !progress.done {
                return None;
            }
            if self.complete(connection) {
                connection.reader.begin(self.call.batch.expect);
            } else if rest.is_empty() {
                return Some(Ended::Complete);
            } else {
                // Nobody has asked for what follows; the connection is of no further use.
                self.answer.keep_alive = false;
                return Some(Ended::Complete);
            }
        }
        None
    }

    /// An answer is complete: counts it and tells the script. Returns whether more are to come.
    fn complete(&mut self, connection: &mut Connection) -> bool {
        let call = self.call;
        self.answered += 1;
        let more = self.answered < call.batch.count;
        let exchange = Exchange {
            status: self.answer.status,
            cache: CacheResult::NotAsked,
            head_bytes: self.answer.head_bytes,
            body_bytes: self.answer.body_bytes,
            ..self.moments.exchange(Outcome::Fine, &call.turn, connection)
        };
        if more && call.playing.time_batches {
            call.worker.end_untimed(&exchange);
        } else {
            call.worker.end(&exchange);
        }
        if call.playing.responds() && call.playing.halted.get().is_none() {
            self.answer.heard.status = self.answer.status;
            call.playing.response(&self.answer.heard);
        }
        self.answer.clear();
        more
    }
}

/// Reads one answer.
struct Answer {
    /// What a script is told.
    heard: Heard,
    wanted: bool,
    status: u16,
    keep_alive: bool,
    head_bytes: u64,
    body_bytes: u64,
}

impl Answer {
    fn new(mut heard: Heard, wanted: bool) -> Answer {
        heard.clear();
        Answer { heard, wanted, status: 0, keep_alive: false, head_bytes: 0, body_bytes: 0 }
    }

    /// Gets ready for the next answer; whether the connection is kept, the last one says.
    fn clear(&mut self) {
        self.heard.clear();
        (self.head_bytes, self.body_bytes) = (0, 0);
    }
}

impl ResponseSink for Answer {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        if self.wanted {
            self.heard.add_field(name, value);
        }
    }

    fn head(&mut self, head: &ResponseHead, raw: &[u8]) {
        self.status = head.status;
        self.keep_alive = head.keep_alive;
        self.head_bytes = raw.len() as u64;
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body_bytes += bytes.len() as u64;
        if self.wanted {
            self.heard.body.extend_from_slice(bytes);
        }
    }
}
