//! One request of a session to its answer, the rounds of challenges included. Start reading at [`UserTurn::fetch`].

use super::message::{Additions, Redirection, SessionMessage, TCP};
use super::reply::Reply;
use super::{BegunBy, UserTurn, needs::Needs};
use crate::answer::{AnswerEnd, Settled};
use crate::auth::Rounds;
use crate::channel::{Connection, Destination, OpenBody, OwnedDestination, UNIX, show_beginning};
use crate::exchange::{
    self, AnswerRead, AnswerReading, Client, ClientTurn, Described, Due, Ending, Exchanges, Head,
    HeadWritten, HttpExchanges, Moments, Repeating, SentRequest, ShortQueue, Unanswered, Worker, Written,
};
use crate::request::FieldLine;
use crate::step::{Line, RequestAnswer};
use measure::{
    CacheResult, Cause, Contents, Exchange, ExchangeKind, Failure, FailureKind, Fetch, Label, Outcome,
    Remark, Stage, TimeMetric,
};
use plan::{Address, Elements};
use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::time::Instant;
use wire::http1::{Expect as Framing, HeadMemo};

/// Why a request is sent, and what it may lead to.
#[derive(Clone, Copy)]
pub(super) struct Purpose<'a> {
    pub cause: Cause,
    /// The request of the list that it goes back to.
    pub prepared: Line<'a>,
    /// Redirections that may still follow.
    pub redirects_left: u32,
    /// It belongs to the main line of the user's turn, and not to what a page needs.
    pub main: bool,
    /// Its place among all that the turn fetches.
    pub fetch: Fetch,
    /// How many frames it stands in, one within the other.
    pub depth: u32,
    pub chain: &'a Chain,
}

/// Frames within each other whose own needs are fetched, as JMeter and browsers bound them.
const FRAMES: u32 = 5;

/// A chain of redirections. It fails as a whole where it does not end, or leads nowhere: each of its requests has brought
/// its user no nearer to an answer.
#[derive(Default)]
pub(super) struct Chain {
    /// Requests that were led on, which are accounted for when the chain has ended.
    held: RefCell<Vec<Exchange>>,
    broken: Cell<Option<Failure>>,
}

impl Chain {
    /// The chain has ended.
    pub fn account(&self, worker: &Worker) {
        let broken = self.broken.take();
        for held in self.held.take() {
            let outcome = broken.map_or(held.outcome, Outcome::Failed);
            worker.account.end(&Exchange { outcome, ..held });
        }
    }
}

/// Why there is no way to a host.
struct Unreached(Failure);

impl From<FailureKind> for Unreached {
    fn from(kind: FailureKind) -> Unreached {
        Unreached(Failure::new(kind, Stage::Lookup))
    }
}

impl From<io::Error> for Unreached {
    fn from(error: io::Error) -> Unreached {
        let kind = FailureKind::Lookup;
        let errno = error.raw_os_error();
        Unreached(Failure::new(kind, Stage::Lookup).with_errno(errno))
    }
}

/// Outcome of a request.
pub(super) enum Fetched {
    /// It leads nowhere.
    Over,
    /// It leads on to another one.
    LedOn(Box<SessionMessage>),
    /// It is a page, and these resources are wanted.
    Page(Vec<Address>),
}

/// One request of a user's turn.
pub(super) struct SessionExchanges<'a> {
    pub(super) user_turn: &'a UserTurn<'a>,
    pub(super) message: &'a SessionMessage,
    pub(super) purpose: Purpose<'a>,
    destination: OwnedDestination,
    /// Challenges to it so far.
    rounds: RefCell<Rounds>,
    /// The bytes as they were sent, where evidence may be wanted.
    pub(super) sent: Vec<u8>,
    conditional: bool,
    /// Outcome of the last answer; `None`: it was a challenge that is answered next.
    fetched: Cell<Option<Fetched>>,
    /// When it began, looking up the host included.
    pub(super) began: Instant,
    /// The last answer led on.
    led_on: Cell<bool>,
    /// Resources of the last answer are fetched next.
    has_needs: Cell<bool>,
}

impl UserTurn<'_> {
    /// Sends a request until it has an answer that is no challenge. `begun`: it was sent already.
    pub(super) async fn fetch(
        &self,
        message: &SessionMessage,
        purpose: Purpose<'_>,
        turn: ClientTurn,
        mut begun: Option<BegunBy>,
    ) -> Fetched {
        let worker = self.worker;
        if begun.is_none() {
            worker.account.begin(turn.due);
        }
        let _under_way = self.context().under_way(|| {
            let request = self.context().unanswered(&turn, message.title());
            let is_http = purpose.prepared.tcp.is_none();
            Unanswered { trace_id: request.trace_id.filter(|_| is_http), ..request }
        });
        let began = worker.net.now();
        let found = match message.refused {
            true => Err(FailureKind::BadUrl.into()),
            false => self.destination(message).await.map_err(Unreached::from),
        };
        let looked_up = found.as_ref().err().map(|unreached| unreached.0);
        let destination = found.unwrap_or_default();
        let mut exchanges = SessionExchanges {
            user_turn: self,
            message,
            purpose,
            destination,
            rounds: RefCell::default(),
            sent: Vec::new(),
            conditional: false,
            fetched: Cell::new(Some(Fetched::Over)),
            began,
            led_on: Cell::new(false),
            has_needs: Cell::new(false),
        };
        if let Some(failure) = looked_up {
            let moments = Moments { due: turn.due, sent: began, first_byte: None, ended: worker.net.now() };
            let mut client = Client { branch: self.branch, ..Client::new(self.user) };
            exchange::unsent(
                self.context(),
                &mut client,
                &mut exchanges,
                Due { item: (), turn },
                failure,
                moments,
            );
            return Fetched::Over;
        }
        loop {
            let client;
            (client, exchanges) = self.send(exchanges, turn, begun.take()).await;
            if purpose.main {
                self.refusals.set(client.refusals);
                self.failed.set(client.failed);
                self.status.set(client.status);
            }
            // What has asked for an end of its connection is not followed by another request over it.
            let closes = |field: &FieldLine| field.value().eq_ignore_ascii_case("close");
            let ends = purpose.prepared.tcp.as_ref().is_some_and(|tcp| tcp.closes);
            if !ends && !message.request.field("Connection").is_some_and(closes) {
                self.memory.put_back(client);
            }
            if let Some(fetched) = exchanges.fetched.replace(Some(Fetched::Over)) {
                return fetched;
            }
        }
    }

    /// Sends a request, or goes on with one that was sent already.
    async fn send<'s>(
        &self,
        mut exchanges: SessionExchanges<'s>,
        turn: ClientTurn,
        begun: Option<BegunBy>,
    ) -> (Client, SessionExchanges<'s>) {
        if let Some(begun) = begun {
            let (mut client, begun) = *begun;
            exchanges =
                exchange::go_on(self.context(), &mut client, exchanges, begun, Due { item: (), turn }).await;
            return (client, exchanges);
        }
        let mut client = self.memory.client(self.worker, self.user, exchanges.destination.borrowed());
        client.branch = self.branch;
        // Resources that come side by side are left alone.
        let side_by_side = exchanges.purpose.cause == Cause::Resource
            && self.session.plan.resources.as_ref().is_some_and(|resources| resources.parallel > 1);
        client.cut = self.cut.filter(|_| !side_by_side);
        client.answer_within = self.session.plan.answer_within;
        let due = [Due { item: (), turn }].into_iter().collect();
        exchange::run_http(self.context(), &mut client, &mut exchanges, due).await;
        (client, exchanges)
    }

    /// Records may hold requests and answers.
    pub(super) fn keeps_contents(&self) -> bool {
        self.worker.load.trace.contents != plan::load::KeptContents::Nothing
    }

    /// The way to a host, looked up once.
    async fn destination(&self, message: &SessionMessage) -> io::Result<OwnedDestination> {
        let worker = self.worker;
        let address = &message.address;
        // A message over TCP goes to its host itself.
        if !message.address.text.starts_with(TCP)
            && let Some(destination) =
                OwnedDestination::by_target(address, worker.channels.http(), worker.channels.targets())
        {
            return Ok(destination);
        }
        if let Some(known) = OwnedDestination::known(address, &self.session.plan) {
            return Ok(known);
        }
        let key = (address.host.clone(), address.port);
        if let Some(known) = self.session.hosts.borrow().get(&key) {
            return Ok(OwnedDestination::direct(address, known.clone()));
        }
        let to = match worker.channels.http().unix_socket {
            Some(_) => vec![UNIX],
            None => self.look_up(address).await?,
        };
        self.session.hosts.borrow_mut().insert(key, to.clone());
        Ok(OwnedDestination::direct(address, to))
    }

    async fn look_up(&self, address: &Address) -> io::Result<Vec<SocketAddr>> {
        let worker = self.worker;
        let began = worker.net.now();
        let (host, port) =
            plan::ConnectTo::apply(&worker.channels.http().connect_to, &address.host, address.port);
        let mut found = worker.net.lookup(&host, port).await?;
        worker.account.time(TimeMetric::Lookup, worker.net.now() - began);
        let first = found.first().ok_or(io::ErrorKind::NotFound)?.is_ipv4();
        found.retain(|address| address.is_ipv4() == first);
        Ok(found)
    }

    /// Seconds since 1970.
    pub(super) fn now_s(&self) -> i64 {
        (self.worker.net.unix_micros_at(self.worker.net.now()) / 1_000_000) as i64
    }
}

impl Exchanges for SessionExchanges<'_> {
    type Item = ();

    fn destination<'s>(&'s self, _: &'s ()) -> Destination<'s> {
        self.destination.borrowed()
    }

    fn write(
        &mut self,
        _: &mut Due<()>,
        _: Instant,
        last: bool,
        to: &mut Vec<u8>,
    ) -> Result<Written, Failure> {
        let begin = to.len();
        match &self.purpose.prepared.tcp {
            Some(tcp) => tcp.write(&self.message.request.body, to)?,
            None => {
                let more = self.additions();
                let worker = self.user_turn.worker;
                self.message.write(to, &self.destination, worker.channels.http(), &more, last);
            }
        }
        if self.is_the_same_each_time() && !last {
            self.purpose.prepared.written.get_or_init(|| to[begin..].into());
        }
        self.sent.clear();
        if self.keeps_sent() {
            self.sent.extend_from_slice(&to[begin..]);
        }
        Ok(Written { expect: self.framing(), payload: 0 })
    }

    fn is_parted(&self, _: &()) -> bool {
        self.message.request.long.is_some()
    }

    fn begin(
        &mut self,
        due: &mut Due<()>,
        now: Instant,
        last: bool,
        to: &mut Vec<u8>,
    ) -> Result<HeadWritten, Failure> {
        let opened = self.message.request.open();
        let body = opened.map_err(|_| Failure::new(FailureKind::Unwritable, Stage::Send))?;
        let body = body.expect("only long bodies are sent in parts");
        let written = self.write(due, now, last, to)?;
        if self.keeps_sent() {
            self.show_body(&body);
        }
        Ok(HeadWritten { expect: written.expect, body })
    }

    fn takes_fields(&self, _: &()) -> bool {
        self.purpose.prepared.tcp.is_none()
    }

    fn half_closes(&self) -> bool {
        self.purpose.prepared.tcp.as_ref().is_some_and(|tcp| tcp.half_closes)
    }

    async fn read(
        &mut self,
        client: &mut Client,
        connection: &mut Connection,
        window: &mut ShortQueue<SentRequest<()>>,
    ) -> AnswerRead {
        exchange::read(self.user_turn.context(), self, client, connection, window).await
    }

    fn holds(&self, exchange: &Exchange) -> bool {
        let fetched = self.fetched.take();
        let leads_on = matches!(fetched, Some(Fetched::LedOn(_)));
        self.fetched.set(fetched);
        if leads_on {
            self.purpose.chain.held.borrow_mut().push(*exchange);
        }
        leads_on
    }

    fn repeating(&self, _: &()) -> Repeating {
        match self.purpose.prepared.tcp {
            Some(_) => Repeating::Message,
            None => Repeating::of_method(self.message.request.method.as_bytes()),
        }
    }

    fn label(&self, _: &(), _: Outcome, _: CacheResult) -> Option<Label> {
        self.purpose.prepared.label
    }

    fn describe<'s>(&'s self, _: &'s ()) -> Described<'s> {
        let is_tcp = self.purpose.prepared.tcp.is_some();
        let method = if is_tcp { "" } else { &*self.message.request.method };
        let url = self.message.address.text.as_str();
        Described {
            method,
            url: url.into(),
            title: self.message.title().into(),
            range: (0, 0),
            place: self.purpose.prepared.index,
            cause: self.purpose.cause,
        }
    }

    fn bytes(&self, _: &(), _: &ClientTurn, _: Instant) -> Vec<u8> {
        self.sent.clone()
    }

    fn failed(&mut self) {
        self.fail_sample();
    }

    fn remark(&self) -> Option<Box<Remark>> {
        self.remark_of_sample()
    }

    fn contents(&self, ending: &Ending) -> Option<Box<Contents>> {
        self.contents_of_sample(ending)
    }

    fn leads_on(&self) -> bool {
        self.led_on.get()
    }

    fn place_in_page(&self) -> Fetch {
        let redirects = self.user_turn.session.plan.redirects.as_ref();
        let joins = redirects.is_some_and(|redirects| redirects.as_one);
        Fetch { has_needs: self.has_needs.get(), joins, ..self.purpose.fetch }
    }
}

impl HttpExchanges for SessionExchanges<'_> {
    type Sink<'s>
        = Reply<'s>
    where
        Self: 's;

    /// Reads the answer; it is judged as the plan says where it is to a request of the list, or what that leads to.
    fn sink<'s>(&'s self, _: &'s SentRequest<()>, kept: Option<&'s mut Vec<u8>>) -> Reply<'s> {
        let plan = &self.user_turn.session.plan;
        let refreshes = plan.redirects.as_ref().is_some_and(|redirects| redirects.refresh);
        let reads_pages = match self.purpose.main {
            true => plan.resources.is_some() || refreshes,
            // siege does not look into frames.
            false => self.elements() != Elements::Sieges && self.purpose.depth <= FRAMES,
        };
        let answer = self.purpose.main.then(|| RequestAnswer::new(self.purpose.prepared, None));
        let keeps_contents = self.user_turn.keeps_contents();
        let shows = self.user_turn.worker.load.trace.bodies || keeps_contents;
        let mut reply = Reply::new(answer, reads_pages.then(|| self.elements()), shows, kept);
        reply.decodes = keeps_contents;
        reply.status_line = self.user_turn.values.borrow().code.is_some().then(String::new);
        reply
    }

    fn head(&mut self, _: &mut Due<()>, _: Instant, to: &mut Head) -> bool {
        let more = self.additions();
        self.message.list(&mut to.fields, &self.destination, &more);
        to.body.bytes.extend_from_slice(&self.message.request.body);
        to.body.long = match self.message.request.open() {
            Ok(long) => long,
            Err(_) => return false,
        };
        self.sent.clear();
        if self.keeps_sent() {
            to.show(&mut self.sent);
        }
        true
    }

    fn is_tcp(&self, _: &()) -> bool {
        self.purpose.prepared.tcp.is_some()
    }

    fn reading(&self, _: &SentRequest<()>) -> AnswerReading {
        let reader = self.purpose.prepared.tcp.as_ref().and_then(|tcp| tcp.reader());
        reader.map_or_else(|| AnswerReading::plain(false), AnswerReading::of_tcp)
    }

    fn expects(&self, _: &()) -> Framing {
        self.framing()
    }

    fn memo<'s>(&'s self, _: &'s SentRequest<()>) -> Option<&'s RefCell<HeadMemo>> {
        self.is_the_same_each_time().then(|| &*self.purpose.prepared.memo)
    }

    /// Remembers what the answer said, and finds out what follows: the same again, where it is a challenge that is answered.
    fn settle(&self, sent: &SentRequest<()>, ended: AnswerEnd, reply: &mut Reply<'_>) -> Settled {
        let user_turn = self.user_turn;
        let from = &self.message.address;
        user_turn.worker.account.count(|counts| {
            counts.conditional += u64::from(self.conditional);
            counts.unchanged += u64::from(reply.summary.status == 304);
        });
        if let AnswerEnd::Complete = ended {
            user_turn.memory.note(self.message, reply, user_turn.now_s());
            if user_turn.memory.answers(reply, from, &mut self.rounds.borrow_mut()) {
                self.fetched.set(None);
                return Settled { outcome: Outcome::Ok, kind: ExchangeKind::Challenge };
            }
        }
        self.note_sample(sent, reply);
        let (outcome, fetched) = self.judge(ended, sent.at, reply);
        if matches!(ended, AnswerEnd::Failed(_) | AnswerEnd::BrokenOff) {
            self.fail_sample();
        }
        self.led_on.set(matches!(fetched, Fetched::LedOn(_)));
        self.has_needs.set(matches!(&fetched, Fetched::Page(wanted) if !wanted.is_empty()));
        self.fetched.set(Some(fetched));
        outcome.into()
    }
}

impl SessionExchanges<'_> {
    /// The request of the list, as it is sent each time.
    fn is_the_same_each_time(&self) -> bool {
        let user_turn = self.user_turn;
        let purpose = &self.purpose;
        user_turn.session.only_redirects
            && purpose.cause == Cause::Listed
            && purpose.prepared.is_plain(u64::MAX)
            && self.message.request.long.is_none()
            && user_turn.values.borrow().code.is_none()
    }

    /// Fields that the session adds.
    fn additions(&mut self) -> Additions {
        let user_turn = self.user_turn;
        let worker = self.user_turn.worker;
        let http = worker.channels.http();
        let (more, conditional) =
            user_turn.memory.additions(self.message, &self.destination, http, user_turn.now_s());
        self.conditional = conditional;
        more
    }

    /// Somebody may want to see what was sent.
    /// Keeps a body that was sent in pieces: all of it where contents are kept, of evidence its beginning.
    fn show_body(&mut self, body: &OpenBody) {
        if !self.user_turn.keeps_contents() {
            return show_beginning(body, &mut self.sent);
        }
        let begin = self.sent.len();
        if body.read(0, body.length() as usize, &mut self.sent).is_err() {
            self.sent.truncate(begin);
        }
    }

    fn keeps_sent(&self) -> bool {
        let user_turn = self.user_turn;
        user_turn.worker.account.wanted.evidence.get() > 0
            || user_turn.values.borrow().code.is_some()
            || user_turn.keeps_contents()
    }

    fn framing(&self) -> Framing {
        if &*self.message.request.method == "HEAD" { Framing::NoBody } else { Framing::Body }
    }

    /// Its outcome, and the request that it leads to.
    fn judge(&self, ended: AnswerEnd, at: Instant, reply: &mut Reply<'_>) -> (Outcome, Fetched) {
        match ended {
            AnswerEnd::Failed(failure) => return (Outcome::Failed(failure), Fetched::Over),
            AnswerEnd::BrokenOff => return (Outcome::Aborted, Fetched::Over),
            AnswerEnd::Complete => {}
        }
        if let Some(location) = self.redirection(reply) {
            return self.led_on(&location, reply.summary.status);
        }
        let outcome = self.judge_answer(at, reply);
        if outcome != Outcome::Ok {
            return (outcome, Fetched::Over);
        }
        let Some(mut needs) = reply.take_needs() else { return (outcome, Fetched::Over) };
        let refreshes = self.purpose.main && self.elements() == Elements::Browsers;
        match self.refreshed(&mut needs).filter(|_| refreshes) {
            Some(to) => {
                (outcome, Fetched::LedOn(Box::new(self.message.led_on(to, 303, Redirection::STANDARD))))
            }
            None => (outcome, self.page(&mut needs)),
        }
    }

    /// Where the answer leads, if it is a redirection that is followed.
    fn redirection(&self, reply: &mut Reply<'_>) -> Option<String> {
        let redirects = self.user_turn.session.plan.redirects.as_ref()?;
        let safe = matches!(&*self.message.request.method, "GET" | "HEAD");
        match reply.summary.status {
            status if !redirects.statuses.contains(&status) => None,
            307 if redirects.as_jmeter && !safe => None,
            _ if redirects.as_jmeter => Some(reply.location.take().unwrap_or_default()),
            201 => reply.location.take().or_else(|| reply.content_location.take()),
            _ => reply.location.take(),
        }
    }

    fn led_on(&self, location: &str, status: u16) -> (Outcome, Fetched) {
        let failed = |kind| {
            let failure = Failure::new(kind, Stage::Head);
            self.purpose.chain.broken.set(Some(failure));
            (Outcome::Failed(failure), Fetched::Over)
        };
        let to = Some(location).filter(|location| !location.is_empty());
        let to = to.and_then(|location| self.message.address.join(location));
        let to = to.filter(|to| self.user_turn.speaks(to));
        let Some(to) = to else { return failed(FailureKind::BadRedirect) };
        if self.purpose.redirects_left == 0 {
            return failed(FailureKind::TooManyRedirects);
        }
        self.user_turn.worker.account.count(|counts| counts.redirects += 1);
        let redirection = Redirection::of(self.user_turn.session.plan.redirects.as_ref());
        (Outcome::Ok, Fetched::LedOn(Box::new(self.message.led_on(to, status, redirection))))
    }

    /// `at`: when the request was sent.
    fn judge_answer(&self, at: Instant, reply: &mut Reply<'_>) -> Outcome {
        let good = match self.purpose.main {
            true => self.purpose.prepared.expect.takes(reply.summary.status),
            false => reply.summary.status < 400,
        };
        let worker = self.user_turn.worker;
        let took = worker.net.recently().saturating_duration_since(at);
        let mut values = self.user_turn.values.borrow_mut();
        if let Some(sample) = values.code.as_mut().and_then(|code| code.last.as_mut()) {
            sample.success = good;
        }
        if !good {
            let failure = Failure::new(FailureKind::BadStatus, Stage::Head);
            let outcome = Outcome::Failed(failure);
            return match reply.answer.as_mut() {
                Some(answer) => answer.extract(outcome, took, &mut values),
                None => outcome,
            };
        }
        if let Some((code, good)) = reply.answer.as_ref().and_then(|answer| answer.grpc_code()) {
            worker.account.code(code.as_deref(), good);
        }
        // An answer that says nothing has changed has no body to compare.
        let unchanged = reply.summary.status == 304;
        let Some(answer) = reply.answer.as_mut() else { return Outcome::Ok };
        let outcome = match unchanged {
            true => Outcome::Ok,
            false => answer.complete().map_or(Outcome::Ok, Outcome::CheckFailed),
        };
        let outcome = answer.extract(outcome, took, &mut values);
        match values.code.as_mut().and_then(|code| code.broken.take()) {
            Some(_) if outcome == Outcome::Ok => {
                Outcome::Failed(Failure::new(FailureKind::Script, Stage::Send))
            }
            _ => outcome,
        }
    }

    /// Where the page leads by itself, as long as redirections are left.
    fn refreshed(&self, needs: &mut Needs) -> Option<Address> {
        let redirects = self.user_turn.session.plan.redirects.as_ref()?;
        let follows = redirects.refresh && self.purpose.redirects_left > 0;
        let to = follows.then(|| needs.refresh(&self.message.address, self.elements())).flatten()?;
        self.user_turn.speaks(&to).then_some(to)
    }

    fn page(&self, needs: &mut Needs) -> Fetched {
        let Some(resources) = &self.user_turn.session.plan.resources else { return Fetched::Over };
        let mut wanted = needs.wanted(&self.message.address, resources);
        if let Some(urls) = &self.user_turn.session.urls {
            wanted.retain(|address| urls.takes(Some(address.text.as_bytes())));
        }
        // siege fetches what a page leads to as well as what it needs.
        let refreshed = self.refreshed(needs).filter(|_| resources.elements == Elements::Sieges);
        wanted.splice(..0, refreshed);
        let user_turn = self.user_turn;
        let now_s = user_turn.now_s();
        let is_fresh = |address: &Address| user_turn.memory.is_fresh(&address.text, now_s);
        wanted.retain(|address| user_turn.speaks(address));
        let before = wanted.len();
        wanted.retain(|address| !is_fresh(address));
        let fresh = (before - wanted.len()) as u64;
        user_turn.worker.account.count(|counts| counts.fresh += fresh);
        Fetched::Page(wanted)
    }

    fn elements(&self) -> Elements {
        self.user_turn.session.plan.resources.as_ref().map(|resources| resources.elements).unwrap_or_default()
    }
}
