//! One request of a session to its answer, the rounds of challenges included. Start reading at [`Visit::fetch`].

use super::memory::Rounds;
use super::message::Message;
use super::reply::Reply;
use super::{Visit, needs::Needs};
use crate::connection::Connection;
use crate::exchange::{
    Ended, Moments, Repeating, Turn, decide, keeps, not_connected, note_refusal, put_back, read_all, ready,
    trouble_of, version_text,
};
use crate::failure;
use crate::requests::{Answer, Prepared};
use crate::route::Route;
use crate::user::User;
use measure::event::{HeadTitle, Wrong};
use measure::{
    CacheResult, Cause, Clock, Event, Evidence, Exchange, Failure, FailureKind, Fault, Outcome, Record, Stage,
};
use plan::Address;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use wire::http1::Expect as Framing;

/// Why a request is sent, and what it may lead to.
#[derive(Clone, Copy)]
pub(super) struct Purpose<'a> {
    pub cause: Cause,
    /// The request of the list that it goes back to.
    pub prepared: &'a Prepared,
    /// Redirections that may still follow.
    pub redirects_left: u32,
    /// It belongs to the main line of the visit, and not to what a page needs.
    pub main: bool,
}

/// What came of a request.
pub(super) enum Fetched {
    /// It leads nowhere.
    Over,
    /// It leads on to another one.
    LedOn(Box<Message>),
    /// It is a page, and these resources are wanted.
    Page(Vec<Address>),
}

/// What came of one try.
enum Tried {
    /// To be tried again: the connection was outdated, or a challenge is answered.
    Again,
    Over(Fetched),
}

/// One request.
struct Hop<'a> {
    visit: &'a Visit<'a>,
    message: &'a Message,
    purpose: Purpose<'a>,
    turn: Turn,
    route: Route,
}

impl Visit<'_> {
    /// Sends a request until it has an answer that is no challenge.
    pub(super) async fn fetch(&self, message: &Message, purpose: Purpose<'_>, turn: Turn) -> Fetched {
        let worker = self.worker;
        worker.begin();
        let began = worker.net.now();
        let route = match self.route(&message.address).await {
            Ok(route) => route,
            Err(error) => {
                let failure =
                    Failure { kind: FailureKind::Lookup, stage: Stage::Lookup, errno: error.raw_os_error() };
                not_connected(worker, &mut User::new(self.user), failure, &turn, began);
                return Fetched::Over;
            }
        };
        let hop = Hop { visit: self, message, purpose, turn, route };
        let mut rounds = Rounds::default();
        loop {
            let mut lane = self.memory.lane(worker, self.user, hop.route.place());
            let tried = hop.attempt(&mut lane, &mut rounds).await;
            if purpose.main {
                self.refusals.set(lane.refusals);
            }
            self.memory.put_back(lane);
            if let Tried::Over(fetched) = tried {
                return fetched;
            }
        }
    }

    /// The way to a host, looked up once.
    async fn route(&self, address: &Address) -> io::Result<Route> {
        let worker = self.worker;
        if let Some(route) = Route::by_target(address, worker.http(), worker.target()) {
            return Ok(route);
        }
        let key = (address.host.clone(), address.port);
        if let Some(known) = self.session.hosts.borrow().get(&key) {
            return Ok(Route::direct(address, known.clone()));
        }
        let to = match worker.http().unix_socket {
            Some(_) => vec![crate::route::UNIX],
            None => self.look_up(address).await?,
        };
        self.session.hosts.borrow_mut().insert(key, to.clone());
        Ok(Route::direct(address, to))
    }

    async fn look_up(&self, address: &Address) -> io::Result<Vec<SocketAddr>> {
        let worker = self.worker;
        let began = worker.net.now();
        let (host, port) = plan::ConnectTo::apply(&worker.http().connect_to, &address.host, address.port);
        let mut found = worker.net.lookup(&host, port).await?;
        worker.time(Clock::Lookup, worker.net.now() - began);
        let first = found.first().ok_or(io::ErrorKind::NotFound)?.is_ipv4();
        found.retain(|address| address.is_ipv4() == first);
        Ok(found)
    }

    /// Seconds since 1970.
    pub(super) fn now_s(&self) -> i64 {
        (self.worker.net.unix_micros_at(self.worker.net.now()) / 1_000_000) as i64
    }
}

impl Hop<'_> {
    /// One try, over a connection of the lane or a new one.
    async fn attempt(&self, lane: &mut User, rounds: &mut Rounds) -> Tried {
        let (visit, worker) = (self.visit, self.visit.worker);
        let began = worker.since_start();
        self.message.address.text.as_bytes().clone_into(&mut lane.path);
        let Some(mut connection) = ready(worker, lane, self.route.place(), &self.turn).await else {
            self.record_unconnected(lane, began);
            return Tried::Over(Fetched::Over);
        };
        let fresh = connection.opened_in.is_some();
        let last = worker.is_last(&connection);
        let (more, conditional) =
            visit.memory.additions(self.message, &self.route, worker.http(), visit.now_s());
        let mut message = worker.net.buffer();
        self.message.write(&mut message, &self.route, worker.http(), &more, last);
        self.show(HeadTitle::RequestToProxy, &message);
        let (sent_bytes, sent) = (message.len() as u64, worker.evidence_left.get() > 0);
        let sent = if sent { message.to_vec() } else { Vec::new() };
        let mut reply = self.reply();
        let mut moments = Moments::at_send(self.turn.due, worker.net.now());
        connection.begin(worker.first_deadline(moments.sent), self.framing());
        let ended = match connection.stream.send(message).await {
            Err(error) => Ended::Failed(failure::of_io(&error, Stage::Send)),
            Ok(()) => read_all(worker, &mut connection, &mut reply, &mut moments).await,
        };
        let what = Repeating::of_method(self.message.method.as_bytes());
        let ended = decide(worker, ended, &mut connection, what).await;
        if let Ended::Outdated = ended {
            return Tried::Again;
        }
        worker.count(|counts| {
            counts.conditional += u64::from(conditional);
            counts.unchanged += u64::from(reply.status == 304);
        });
        let (outcome, tried) = self.settle(ended, &mut reply, rounds);
        let exchange = Exchange {
            status: reply.status,
            cache: CacheResult::NotAsked,
            sent_bytes,
            head_bytes: reply.head.len() as u64,
            body_bytes: reply.body_bytes,
            ..moments.exchange(outcome, &self.turn, &mut connection)
        };
        match tried {
            Tried::Again => worker.challenge(&exchange),
            Tried::Over(_) => worker.end(&exchange),
        }
        let connect = fresh.then(|| worker.since(moments.sent).saturating_sub(began));
        self.record(began, connect, outcome, &reply, &moments, matches!(tried, Tried::Again));
        self.tell(outcome, &reply, &moments, &connection, sent);
        note_refusal(lane, ended, &moments, &connection);
        let keep = keeps(ended, last, reply.keep_alive);
        put_back(worker, lane, connection, keep).await;
        tried
    }

    /// Remembers what the answer said, and finds out what follows: the same again, where it is a challenge that is answered.
    fn settle(&self, ended: Ended, reply: &mut Reply<'_>, rounds: &mut Rounds) -> (Outcome, Tried) {
        let (visit, from) = (self.visit, &self.message.address);
        if let Ended::Complete = ended {
            visit.memory.note(self.message, reply, visit.now_s());
            if visit.memory.answers(reply, from, rounds) {
                return (Outcome::Fine, Tried::Again);
            }
        }
        let (outcome, fetched) = self.judge(ended, reply);
        (outcome, Tried::Over(fetched))
    }

    /// Reads the answer; it is judged as the plan says where it is to a request of the list, or what that leads to.
    fn reply(&self) -> Reply<'_> {
        let plan = &self.visit.session.plan;
        let refreshes = plan.redirects.as_ref().is_some_and(|redirects| redirects.refresh);
        let reads_pages = self.purpose.main && (plan.resources.is_some() || refreshes);
        let answer = self.purpose.main.then(|| Answer::new(self.purpose.prepared, None));
        Reply::new(answer, reads_pages, self.visit.worker.job.load.trace.bodies)
    }

    fn framing(&self) -> Framing {
        if self.message.method == "HEAD" { Framing::NoBody } else { Framing::Body }
    }

    /// How it ended, and where it leads.
    fn judge(&self, ended: Ended, reply: &mut Reply<'_>) -> (Outcome, Fetched) {
        match ended {
            Ended::Failed(failure) => return (Outcome::Failed(failure), Fetched::Over),
            Ended::BrokenOff => return (Outcome::Aborted, Fetched::Over),
            Ended::Complete | Ended::Outdated => {}
        }
        if let Some(location) = self.redirection(reply) {
            return self.led_on(&location, reply.status);
        }
        let outcome = self.judge_answer(reply);
        if outcome != Outcome::Fine {
            return (outcome, Fetched::Over);
        }
        let Some(mut needs) = reply.take_needs() else { return (outcome, Fetched::Over) };
        match self.refreshed(&mut needs) {
            Some(to) => (outcome, Fetched::LedOn(Box::new(self.message.led_on(to, 303, false)))),
            None => (outcome, self.page(&mut needs)),
        }
    }

    /// Where the answer leads, if it is a redirection that is followed.
    fn redirection(&self, reply: &mut Reply<'_>) -> Option<String> {
        let redirects = self.visit.session.plan.redirects.as_ref()?;
        match reply.status {
            status if !redirects.statuses.contains(&status) => None,
            201 => reply.location.take().or_else(|| reply.content_location.take()),
            _ => reply.location.take(),
        }
    }

    fn led_on(&self, location: &str, status: u16) -> (Outcome, Fetched) {
        let failed =
            |kind| (Outcome::Failed(Failure { kind, stage: Stage::Head, errno: None }), Fetched::Over);
        let to = self.message.address.join(location).filter(|to| self.visit.speaks(to));
        let Some(to) = to else { return failed(FailureKind::BadRedirect) };
        if self.purpose.redirects_left == 0 {
            return failed(FailureKind::TooManyRedirects);
        }
        self.visit.worker.count(|counts| counts.redirects += 1);
        let to_get = self.visit.session.plan.redirects.as_ref().is_some_and(|redirects| redirects.to_get);
        (Outcome::Fine, Fetched::LedOn(Box::new(self.message.led_on(to, status, to_get))))
    }

    fn judge_answer(&self, reply: &mut Reply<'_>) -> Outcome {
        let good = match self.purpose.main {
            true => self.purpose.prepared.expect.takes(reply.status),
            false => reply.status < 400,
        };
        if !good {
            let failure = Failure { kind: FailureKind::BadStatus, stage: Stage::Head, errno: None };
            return Outcome::Failed(failure);
        }
        // An answer that says nothing has changed has no body to compare.
        let answer = reply.answer.as_mut().filter(|_| reply.status != 304);
        answer.and_then(Answer::complete).map_or(Outcome::Fine, Outcome::Faulty)
    }

    /// Where the page leads by itself, as long as redirections are left.
    fn refreshed(&self, needs: &mut Needs) -> Option<Address> {
        let redirects = self.visit.session.plan.redirects.as_ref()?;
        let follows = redirects.refresh && self.purpose.redirects_left > 0;
        let to = follows.then(|| needs.refresh(&self.message.address)).flatten()?;
        self.visit.speaks(&to).then_some(to)
    }

    fn page(&self, needs: &mut Needs) -> Fetched {
        let Some(resources) = &self.visit.session.plan.resources else { return Fetched::Over };
        let mut wanted = needs.wanted(&self.message.address, resources);
        wanted.retain(|address| self.visit.speaks(address));
        Fetched::Page(wanted)
    }

    fn record_unconnected(&self, lane: &User, began: Duration) {
        let unknown = Failure { kind: FailureKind::System, stage: Stage::Connect, errno: None };
        let outcome = Outcome::Failed(lane.not_connected.map_or(unknown, |seen| seen.failure));
        if !self.tells(outcome) {
            return;
        }
        let service = self.visit.worker.since_start().saturating_sub(began);
        let record = Record { outcome, service, ..self.blank_record(began) };
        self.visit.worker.show(Event::Request(Box::new(record)));
    }

    fn record(
        &self,
        began: Duration,
        connect: Option<Duration>,
        outcome: Outcome,
        reply: &Reply<'_>,
        moments: &Moments,
        challenged: bool,
    ) {
        if !self.tells(outcome) {
            return;
        }
        let record = Record {
            outcome,
            version: reply.version.map(version_text),
            status: reply.status,
            connect,
            first_byte: moments.to_first_byte(),
            service: moments.service(),
            head_bytes: reply.head.len() as u64,
            body_bytes: reply.body_bytes,
            cause: if challenged { Cause::Challenged } else { self.purpose.cause },
            ..self.blank_record(began)
        };
        self.visit.worker.show(Event::Request(Box::new(record)));
    }

    fn blank_record(&self, began: Duration) -> Record {
        Record {
            number: self.visit.number,
            user: self.visit.user,
            place: self.purpose.prepared.index,
            began,
            outcome: Outcome::Fine,
            version: None,
            status: 0,
            method: self.message.method.clone(),
            url: self.message.address.text.clone(),
            connect: None,
            first_byte: None,
            service: Duration::ZERO,
            head_bytes: 0,
            body_bytes: 0,
            cause: self.purpose.cause,
            expected_bytes: None,
        }
    }

    /// Whether a request that ended so is told of.
    fn tells(&self, outcome: Outcome) -> bool {
        let trace = &self.visit.worker.job.load.trace;
        trace.requests || trace.bad_requests && !matches!(outcome, Outcome::Fine)
    }

    fn show(&self, title: HeadTitle, bytes: &[u8]) {
        if self.visit.worker.job.load.trace.heads {
            self.visit.worker.show(Event::Head { title, text: bytes.to_vec() });
        }
    }

    /// Tells what the plan wants told of one request. `sent`: its bytes, where evidence may be wanted.
    fn tell(
        &self,
        outcome: Outcome,
        reply: &Reply<'_>,
        moments: &Moments,
        connection: &Connection,
        sent: Vec<u8>,
    ) {
        let worker = self.visit.worker;
        if reply.status != 0 {
            self.show(HeadTitle::ResponseFromProxy, &reply.head);
        }
        if let Some(body) = &reply.shown {
            worker.show(Event::Body(body.clone()));
        }
        let what = match outcome {
            Outcome::Failed(failure) => Wrong::Failed(failure),
            Outcome::Faulty(fault) => Wrong::Faulty(fault),
            Outcome::Fine | Outcome::Injected | Outcome::Aborted => return,
        };
        if let (Outcome::Faulty(fault), true) = (outcome, worker.evidence_left.get() > 0) {
            worker.evidence_left.set(worker.evidence_left.get() - 1);
            worker.tell(Event::Evidence(Box::new(self.evidence(fault, reply, &sent))));
        }
        if worker.job.load.trace.errors {
            let request = format!("{} {}", self.message.method, self.message.address.text);
            worker.tell(trouble_of(what, request, &reply.head, moments, connection));
        }
    }

    fn evidence(&self, fault: Fault, reply: &Reply<'_>, sent: &[u8]) -> Evidence {
        Evidence {
            fault,
            detail: reply.answer.as_ref().map_or_else(String::new, Answer::detail),
            serial: None,
            at_us: self.visit.worker.since_start().as_micros() as u64,
            phase: self.visit.work.name.clone(),
            request: String::from_utf8_lossy(sent).into_owned(),
            response: String::from_utf8_lossy(&reply.head).into_owned(),
            origin_request: None,
            origin_response: None,
        }
    }
}
