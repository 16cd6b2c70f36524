//! Fetching an object of the site: the fast path. Start reading at [`object`].

use super::patience::Patience;
use super::tell::{Told, show_request, tell};
use super::{
    Attempt, DRAIN_FROM, Ended, Moments, Repeating, Turn, decide, drain, keeps, note_arrival, note_end,
    note_refusal, put_back, ready, take,
};
use crate::asked::{Asked, Laws};
use crate::connection::Connection;
use crate::failure;
use crate::judge::Judge;
use crate::user::User;
use crate::worker::{PhaseWork, Worker};
use measure::{CacheResult, Exchange, Failure, FailureKind, Fault, Outcome, Stage};
use net::Buffer;
use plan::Reading;
use plan::content::Content;
use std::io;
use std::rc::Rc;
use transport::Stream;
use wire::http1::{Expect, Stage as Progress};

/// Fetches an object of the site.
pub(crate) async fn object(worker: &Rc<Worker>, work: &PhaseWork, user: &mut User, laws: &Laws, turn: Turn) {
    let asked = laws.draw(&worker.job.site, turn.number, worker.net.unix_micros_at(turn.due));
    worker.begin();
    count_kind(worker, &asked);
    let fetch = Fetch { worker, work, asked, reading: laws.step().reading, turn };
    while fetch.attempt(user).await == Attempt::Outdated {}
}

/// One request for an object.
struct Fetch<'a> {
    worker: &'a Rc<Worker>,
    work: &'a PhaseWork,
    asked: Asked,
    reading: Reading,
    turn: Turn,
}

impl Fetch<'_> {
    /// One try, over the user's connection or a new one.
    async fn attempt(&self, user: &mut User) -> Attempt {
        let worker = self.worker;
        let Some(mut connection) = ready(worker, user, worker.target(), &self.turn).await else {
            return Attempt::Over;
        };
        let last = worker.is_last(&connection);
        let message = self.compose(user, last);
        let sent_bytes = message.len() as u64 + worker.composer.post_bytes(&self.asked).unwrap_or(0);
        let mut moments = Moments::at_send(self.turn.due, worker.net.now());
        let mut judge = self.judge(user, &moments);
        let ended = self.transfer(&mut connection, message, &mut judge, &mut moments).await;
        if let Ended::Outdated = ended {
            return Attempt::Outdated;
        }
        if let Some(serial) = judge.unattributed()
            && worker.count_unattributed(serial)
        {
            judge.seen_again();
        }
        let outcome = outcome(ended, &judge, &self.asked);
        worker.end(&Exchange {
            status: judge.said.status,
            cache: judge.cache(),
            sent_bytes,
            head_bytes: judge.said.head_bytes,
            body_bytes: judge.body_bytes,
            ..moments.exchange(outcome, &self.turn, &mut connection)
        });
        self.count_answer(judge.said.status);
        let keep = keeps(ended, last, judge.said.keep_alive);
        let worth_telling = !matches!(outcome, Outcome::Fine) || worker.job.load.trace.heads;
        let told = worth_telling.then(|| Told::of(&judge, outcome, &moments, &connection));
        drop(judge);
        user.ended = Some(moments.ended);
        note_refusal(user, ended, &moments, &connection);
        if let Some(told) = told {
            tell(worker, self.work, user, &self.asked, told);
        }
        put_back(worker, user, connection, keep).await;
        Attempt::Over
    }

    /// Writes the request, and the path into the user's memory: jtest's bodies begin with it.
    fn compose(&self, user: &mut User, last: bool) -> Buffer {
        let mut message = self.worker.net.buffer();
        let path = self.worker.composer.head(&mut message, &self.worker.job.site, &self.asked, last);
        user.path.clear();
        user.path.extend_from_slice(&message[path]);
        show_request(self.worker, &message);
        message
    }

    /// The judge of the answer; it keeps the answer's head where somebody may want to see it.
    fn judge<'j>(&'j self, user: &'j mut User, moments: &Moments) -> Judge<'j> {
        let worker = self.worker;
        let trace = &worker.job.load.trace;
        let keep_head = worker.evidence_left.get() > 0 || trace.heads || trace.errors;
        let kept_head = keep_head.then_some(&mut user.answer_head);
        let sent_us = worker.net.unix_micros_at(moments.sent);
        Judge::new(&worker.job.site, &worker.job.load.check, &self.asked, &user.path, sent_us, kept_head)
    }

    async fn transfer(
        &self,
        connection: &mut Connection,
        message: Buffer,
        judge: &mut Judge<'_>,
        moments: &mut Moments,
    ) -> Ended {
        connection.begin(self.worker.first_deadline(moments.sent), Expect::Body);
        let post_bytes = self.worker.composer.post_bytes(&self.asked);
        let ended = match send(&mut connection.stream, message, post_bytes).await {
            Err(error) => Ended::Failed(failure::of_io(&error, Stage::Send)),
            Ok(()) => read_answer(self.worker, connection, judge, &self.asked, &self.reading, moments).await,
        };
        let what = if post_bytes.is_some() { Repeating::Harmful } else { Repeating::Safe };
        decide(self.worker, ended, connection, what).await
    }

    fn count_answer(&self, status: u16) {
        if status == 304 {
            self.worker.count(|counts| counts.unchanged += 1);
        } else if status == 200 && self.asked.range.is_some() {
            self.worker.count(|counts| counts.ranges_ignored += 1);
        }
    }
}

fn count_kind(worker: &Worker, asked: &Asked) {
    if asked.reload || asked.range.is_some() || asked.has_version.is_some() {
        worker.count(|counts| {
            counts.reloads += u64::from(asked.reload);
            counts.ranges += u64::from(asked.range.is_some());
            counts.conditional += u64::from(asked.has_version.is_some());
        });
    }
}

async fn send(stream: &mut Stream, message: Buffer, post_bytes: Option<u64>) -> io::Result<()> {
    match post_bytes {
        None | Some(0) => stream.send(message).await,
        Some(bytes) => {
            let body: Vec<&'static [u8]> = Content::counting().pieces(0, bytes).collect();
            stream.send_with(message, &body).await
        }
    }
}

/// Reads until the answer is complete, fails, or is broken off.
async fn read_answer(
    worker: &Worker,
    connection: &mut Connection,
    judge: &mut Judge<'_>,
    asked: &Asked,
    reading: &Reading,
    moments: &mut Moments,
) -> Ended {
    let changing = worker.job.site.change_every.is_some();
    let mut patience = Patience::new(asked, reading, moments.sent);
    loop {
        if connection.reader.stage() == Progress::Body {
            if patience.lost(&connection.reader, judge.body_bytes, worker) {
                return Ended::BrokenOff;
            }
            if !patience.is_needed()
                && let Some(ended) = drain(connection, judge, DRAIN_FROM).await
            {
                moments.ended = worker.net.now();
                if let Ended::Complete = ended {
                    judge.complete();
                }
                return ended;
            }
        }
        let received = patience.recv(&mut connection.stream, worker, judge.body_bytes).await;
        note_arrival(worker, connection, moments);
        if changing {
            judge.now_us = worker.net.unix_micros_at(moments.ended);
        }
        match take(&mut connection.reader, received, judge) {
            Some(Ended::Complete) => {
                judge.complete();
                return Ended::Complete;
            }
            Some(ended) => return note_end(worker, connection, moments, ended),
            None => {}
        }
    }
}

fn outcome(ended: Ended, judge: &Judge<'_>, asked: &Asked) -> Outcome {
    // What the origin was told to spoil is no fault of the cache, unless the cache kept it and serves it as good.
    let spoilt = judge.injected();
    let kept = judge.cache() == CacheResult::Hit;
    match ended {
        Ended::BrokenOff => Outcome::Aborted,
        Ended::Failed(_) if spoilt && kept => Outcome::Faulty(Fault::Truncated),
        Ended::Failed(_) if spoilt => Outcome::Injected,
        Ended::Failed(failure) if judge.may_be_cut(failure) => Outcome::Injected,
        Ended::Failed(failure) => Outcome::Failed(failure),
        Ended::Complete | Ended::Outdated => match judge.said.status {
            200 | 206 => match judge.finding {
                Some((Fault::Truncated, _)) if spoilt && !kept => Outcome::Injected,
                Some((fault, _)) => Outcome::Faulty(fault),
                None => Outcome::Fine,
            },
            304 if asked.has_version.is_some() => match judge.finding {
                Some((fault, _)) => Outcome::Faulty(fault),
                None => Outcome::Fine,
            },
            status => match judge.finding {
                Some((fault, _)) if status >= 400 => Outcome::Faulty(fault),
                _ if spoilt => Outcome::Injected,
                _ => {
                    Outcome::Failed(Failure { kind: FailureKind::BadStatus, stage: Stage::Head, errno: None })
                }
            },
        },
    }
}
