//! Requests that are described one by one, made ready: what is always the same is written once, before the first is sent.
//!
//! [`crate::request::http`] writes them.

mod answer;
mod line;
#[cfg(test)]
mod tests;
mod varying;

pub(crate) use answer::RequestAnswer;
pub(crate) use line::Line;

use super::message::PreparedTcp;
use crate::answer::Checks;
use crate::channel::{Destination, Hosts, OwnedDestination, Targets};
use crate::code::Interpreter;
use crate::control::{Control, Model};
use crate::request::http::{RequestMessage, RequestWriter};
use crate::request::sign::Signer;
use crate::request::{RequestScope, SlotNames, Starts, Values, starts};
use line::{RequestLines, path_place};
use measure::Label;
use plan::data::{Data, Names, RowOrder, Rows, Source, Tables};
use plan::draw::Draw;
use plan::{
    Address, Expect, ExpectBody, Http, LiveFeed, Reading, Request, RequestOrder, RequestStep, Scenario,
};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use varying::Varying;
use wire::http1::{Expect as Framing, HeadMemo};

/// The requests of a step.
pub(crate) struct Requests {
    lines: RequestLines,
    /// Sums of the weights up to and including each request, where they decide.
    weights: Vec<u64>,
    order: RequestOrder,
    seed: u64,
    /// Requests after which the rows of a file are used up.
    rows: Option<u64>,
    /// Requests by which users log in.
    login: Vec<Prepared>,
    /// The live copy that says which request is next.
    feed: Option<LiveFeed>,
}

/// The numbers that decide which request of a list is next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placing {
    /// Number of the request in the phase.
    pub number: u64,
    /// Number of the user in the phase.
    pub user: u64,
    /// Number of users there are.
    pub of: u64,
    /// Turns that the user has had.
    pub turn: u64,
}

/// One request, as bytes; or several of a list, which differ in their paths alone.
pub(crate) struct Prepared {
    /// The way to its host.
    pub destination: OwnedDestination,
    /// Framing of its answer.
    pub framing: Framing,
    /// Expectations of its answer.
    pub expect: Expect,
    /// Speed at which its answer is read.
    pub reading: Reading,
    /// Its place in the step's list; that of the first of several.
    index: usize,
    /// The method.
    pub method: String,
    /// The URL, taken apart; that of the first of several.
    address: Address,
    /// Where its path stands in its bytes; `None`: it is one request alone.
    path: Option<Range<usize>>,
    /// See [`Prepared::is_plain`].
    plain: bool,
    /// Its bytes as a session sends them that adds nothing to them, once it has sent them.
    pub written: OnceCell<Box<[u8]>>,
    /// Bytes of the last body, where nobody looked at it.
    pub unread: Cell<u64>,
    /// Its method and its URL as records hold them, once one was told of.
    told: OnceCell<(Cow<'static, str>, Arc<str>)>,
    /// The first good answer, which the others must equal, once one is known here.
    pub model: RefCell<Option<Arc<Model>>>,
    /// Its name in the plan.
    name: String,
    /// Label of its figures.
    pub label: Option<Label>,
    /// Its label in records, and where it leads, where these hold values.
    pub varying: Option<Box<Varying>>,
    /// The head that answers of the step begin with, where they are alike.
    pub memo: Rc<RefCell<HeadMemo>>,
    models: Models,
    message: RequestMessage,
    /// It is a message over TCP.
    pub tcp: Option<Box<PreparedTcp>>,
    checks: Rc<Checks>,
}

/// A length that bodies must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedLength {
    Any,
    /// That of the first good answer.
    Only(u64),
    /// The first good answer has not come.
    NotKnown,
}

/// All that the requests of a step have in common.
#[derive(Clone, Copy)]
struct Common<'a> {
    writer: &'a RequestWriter<'a>,
    /// Lines that differ in their paths alone may share what is prepared.
    shares: bool,
    checks: &'a Rc<Checks>,
    /// Of it what is done with each answer.
    step: &'a RequestStep,
    models: &'a Models,
    memo: &'a Rc<RefCell<HeadMemo>>,
    reading: Reading,
    targets: Targets<'a>,
    hosts: &'a Hosts,
    /// It may give hosts addresses of its own.
    session: &'a plan::Session,
}

/// Where the models of a step's requests are agreed on by all workers.
#[derive(Clone)]
pub(crate) struct Models {
    pub control: Arc<Control>,
    /// Phase and step.
    pub of: (usize, usize),
    /// Names that the step shares with the others of its scenario.
    pub scenario: Rc<RequestShared>,
}

/// State shared by all steps of a scenario: names, and who interprets its programs.
#[derive(Default)]
pub(crate) struct RequestShared {
    kept: Vec<String>,
    starts: Starts,
    labels: Vec<String>,
    programs: Option<Rc<dyn Interpreter>>,
    /// Requests are values before they are bytes, whatever their session.
    edited: bool,
}

impl RequestShared {
    /// `labels`: those of the whole phase. `edited`: requests are values before they are bytes.
    pub fn new(
        scenario: &Scenario,
        labels: &[String],
        programs: Option<Rc<dyn Interpreter>>,
        edited: bool,
    ) -> RequestShared {
        let kept = scenario.kept().into_iter().map(str::to_owned).collect();
        RequestShared { kept, starts: starts(&scenario.variables), labels: labels.to_vec(), programs, edited }
    }

    /// True if requests are values before they are bytes, whatever their session.
    pub fn is_edited(&self) -> bool {
        self.edited
    }

    /// Labels of the whole phase.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The names under which users keep values; those of the step alone, where nothing is known of others.
    fn kept<'a>(&'a self, step: &'a RequestStep) -> Vec<&'a str> {
        match self.kept.is_empty() {
            true => step.extracted(),
            false => self.kept.iter().map(String::as_str).collect(),
        }
    }

    fn label(&self, name: &str) -> Option<Label> {
        if name.is_empty() {
            return None;
        }
        let place = self.labels.iter().position(|label| label == name)?;
        Some(Label(place.min(u16::MAX.into()) as u16))
    }
}

impl Models {
    fn agree(&self, index: usize, mine: Model) -> Arc<Model> {
        self.control.model((self.of.0, self.of.1, index), mine)
    }
}

impl Prepared {
    /// `None` where its URL leads nowhere.
    fn new(index: usize, request: &Request, expect: Expect, common: &Common<'_>) -> Option<Prepared> {
        let http = common.writer.http;
        let destination = |address: &Address| {
            let direct = || {
                let found = || common.hosts.get(&(address.host.clone(), address.port));
                OwnedDestination::known(address, common.session)
                    .or_else(|| Some(OwnedDestination::direct(address, found()?.clone())))
            };
            // Where the host is a value, users find the way to it.
            let varies = !request.place.is_empty();
            if request.tcp.is_some() {
                return direct().or_else(|| Some(OwnedDestination::default()));
            }
            OwnedDestination::by_target(address, http, common.targets)
                .or_else(direct)
                .or_else(|| varies.then(OwnedDestination::default))
        };
        let (address, destination, message) = common.writer.message(request, destination)?;
        let checks = match request.extract.is_empty() && !request.grpc {
            true => common.checks.clone(),
            false => {
                let slots = common.writer.scope.slots;
                let programs = common.models.scenario.programs.as_deref();
                let checks = Checks::new(&expect, &request.extract, slots).of_grpc(request.grpc);
                Rc::new(checks.and_after(common.step, slots, programs))
            }
        };
        let path = path_place(request, &address, &message, destination.is_forward(http))
            .filter(|_| common.shares && expect.body == ExpectBody::Complete);
        let tcp = request.tcp.as_ref().map(|tcp| Box::new(PreparedTcp::new(tcp)));
        let expect = Expect { any_status: expect.any_status || tcp.is_some(), ..expect };
        let framing = if request.method == "HEAD" { Framing::NoBody } else { Framing::Body };
        let label = common.models.scenario.label(&request.name);
        let is_free = message.is_fixed() && !message.has_values() && checks.is_empty();
        let reads_plainly = framing == Framing::Body && common.reading.is_default();
        Some(Prepared {
            plain: is_free && reads_plainly && expect.body != ExpectBody::Same,
            path,
            framing,
            expect,
            reading: common.reading,
            index,
            method: if tcp.is_some() { String::new() } else { request.method.clone() },
            tcp,
            written: OnceCell::new(),
            unread: Cell::new(0),
            told: OnceCell::new(),
            model: RefCell::new(None),
            name: request.name.clone(),
            label,
            varying: Varying::of(request, common.writer.scope),
            memo: common.memo.clone(),
            models: common.models.clone(),
            message,
            checks,
            address,
            destination,
        })
    }

    /// Its name in the plan.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it goes.
    pub fn destination(&self) -> Destination<'_> {
        self.destination.borrowed()
    }

    /// True if it is the same bytes each time, and nobody looks at more of its answers than status and length, which is at most this.
    #[inline]
    pub fn is_plain(&self, most_bytes: u64) -> bool {
        self.plain && self.unread.get() <= most_bytes
    }

    /// The length that bodies of its answers must have.
    #[inline]
    pub fn wanted_length(&self) -> WantedLength {
        match (self.expect.body, &*self.model.borrow()) {
            (ExpectBody::Complete, _) => WantedLength::Any,
            (_, Some(model)) => WantedLength::Only(model.length),
            (_, None) => WantedLength::NotKnown,
        }
    }

    /// The length of the first good answer, where the others must equal it and it is known.
    pub fn model_length(&self) -> Option<u64> {
        self.model.borrow().as_ref().map(|model| model.length)
    }

    /// Does what is to be done with each answer where none came.
    pub fn without_answer(&self, took: Duration, values: &mut Values) {
        self.checks.without_answer(took, values);
    }

    /// True if it is the same bytes each time, whatever the moment.
    pub fn is_fixed(&self) -> bool {
        self.message.is_fixed()
    }

    /// True if it holds values that a user keeps, or that are dealt to it, or its answers have some that are kept.
    pub fn has_values(&self) -> bool {
        self.message.has_values() || self.checks.extracts()
    }
}

impl Requests {
    /// `targets`: where all connections go; without addresses, they go to the host that each URL names. A URL that leads nowhere, or
    /// whose host is not known, is left out: the plan's check and whoever looks up the names refuse it before.
    pub fn new(
        step: &RequestStep,
        http: &Http,
        targets: Targets<'_>,
        hosts: &Hosts,
        tables: &Tables,
        seed: u64,
        models: Models,
    ) -> Requests {
        let signer = step.aws.as_ref().map(Signer::new).map(Rc::new);
        let known = models.scenario.clone();
        let kept = known.kept(step);
        let slots = &SlotNames::new(kept.iter().copied()).starting(known.starts.clone());
        let names = Names { data: &step.data, extracted: &kept };
        let decks = &models.control.decks;
        let phase = models.of.0;
        let scope = RequestScope { names, slots, tables, decks, phase, seed };
        let edited = !step.session.is_none() || known.edited;
        let writer =
            RequestWriter { templates: step.templates, http, scope, edited, sessions: !known.edited, signer };
        let checks = Checks::new(&step.expect, &[], slots);
        let checks = &Rc::new(checks.and_after(step, slots, known.programs.as_deref()));
        let reading = step.reading;
        let memo = &Rc::default();
        // A session edits each request as a value.
        // Lines of one description that belong to several targets differ in more than their paths.
        let shares = !step.templates && !edited && !targets.by_object;
        let session = &step.session;
        let common = Common {
            writer: &writer,
            shares,
            checks,
            step,
            models: &models,
            memo,
            reading,
            targets,
            hosts,
            session,
        };
        let lines = RequestLines::new(&step.requests, |index, request| {
            Prepared::new(index, request, expectation(&step.expect, request), &common)
        });
        let weights = if step.order == RequestOrder::Weighted { sums(lines.weights()) } else { Vec::new() };
        // Only that it is below 400 is expected of a login's answer.
        let checks = &Rc::new(Checks::default());
        let memo = &Rc::default();
        let plain = RequestStep::default();
        let common = Common { checks, step: &plain, memo, reading: Reading::default(), ..common };
        let login =
            |(index, request): (usize, &Request)| Prepared::new(index, request, Expect::default(), &common);
        let login = step.session.login.iter().enumerate().filter_map(login).collect();
        let rows = rows(step, tables);
        let feed = step.data.iter().find_map(|data| {
            if let Source::Live { feed, .. } = &data.source { Some(feed.clone()) } else { None }
        });
        Requests { weights, lines, order: step.order, seed, login, rows, feed }
    }

    /// Requests of the phase after which the rows of a file that are sent once are used up.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// None at all.
    pub fn of_nothing() -> Requests {
        let lines = RequestLines::default();
        let weights = Vec::new();
        let order = RequestOrder::Loop;
        Requests { lines, weights, order, seed: 0, login: Vec::new(), rows: None, feed: None }
    }

    /// A message that a script made once and for all; none where it is no request.
    pub fn of_message(
        message: &[u8],
        address: Address,
        to: Destination<'_>,
        http: &Http,
        models: Models,
    ) -> Requests {
        let method = String::from_utf8_lossy(
            message.split(|byte| *byte == b' ').next().expect("a split has a first part"),
        );
        let Some(message) = RequestMessage::of(message, http, address.secure) else {
            return Requests::of_nothing();
        };
        let prepared = Prepared {
            destination: OwnedDestination::by_way_of(to),
            plain: method != "HEAD",
            framing: if method == "HEAD" { Framing::NoBody } else { Framing::Body },
            expect: Expect { any_status: true, ..Expect::default() },
            reading: Reading::default(),
            index: 0,
            path: None,
            method: method.into_owned(),
            address,
            written: OnceCell::new(),
            unread: Cell::new(0),
            told: OnceCell::new(),
            model: RefCell::new(None),
            name: String::new(),
            label: None,
            varying: None,
            memo: Rc::default(),
            models,
            message,
            tcp: None,
            checks: Rc::default(),
        };
        Requests { lines: RequestLines::one(prepared), ..Requests::of_nothing() }
    }

    /// The request whose turn it is.
    pub fn at(&self, place: Placing) -> Line<'_> {
        let count = self.lines.len() as u64;
        let index = match self.order {
            _ if count == 1 => 0,
            RequestOrder::Loop => place.number % count,
            RequestOrder::Live => {
                let kind = self.feed.as_ref().and_then(|feed| feed.look(place.number, |line| line.kind));
                u64::from(kind.unwrap_or_default()).min(count - 1)
            }
            RequestOrder::Random => Draw::new(self.seed, place.number).below(count),
            RequestOrder::Weighted => {
                let sum = self.weights.last().copied().unwrap_or(0).max(1);
                let drawn = Draw::new(self.seed, place.number).below(sum);
                self.weights.partition_point(|upto| *upto <= drawn) as u64
            }
            RequestOrder::PerUser => (place.user * (count / place.of.max(1)) + place.turn) % count,
            RequestOrder::Slices => {
                let slice = slice(place, count);
                (slice.start + place.turn).min(slice.end.saturating_sub(1))
            }
        };
        self.lines.at(index as usize)
    }

    /// True if a user has nothing more to send, since its part of the list is over.
    pub fn is_over_for(&self, place: Placing) -> bool {
        self.order == RequestOrder::Slices && {
            let slice = slice(place, self.lines.len() as u64);
            place.turn >= slice.end - slice.start
        }
    }

    /// Takes out the requests by which users log in.
    pub fn take_login(&mut self) -> Vec<Prepared> {
        std::mem::take(&mut self.login)
    }

    /// True if it is one request, which any user may send any number of times.
    pub fn is_one(&self) -> bool {
        self.lines.len() == 1 && !matches!(self.order, RequestOrder::Slices | RequestOrder::Live)
    }

    /// Where all of its requests go, if that is one and the same.
    pub fn only_destination(&self) -> Option<Destination<'_>> {
        let mut all = self.lines.destinations();
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }

    /// True if there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.lines.len() == 0
    }
}

/// A user's part of a list; those of all users together are the list.
fn slice(place: Placing, count: u64) -> Range<u64> {
    let of = place.of.max(1);
    let user = place.user.min(of - 1);
    let at = |user: u64| (u128::from(user) * u128::from(count) / u128::from(of)) as u64;
    at(user)..at(user + 1)
}

/// Sums up to and including each weight.
fn sums(weights: impl Iterator<Item = u32>) -> Vec<u64> {
    let add = |sum: &mut u64, weight: u32| {
        *sum += u64::from(weight);
        Some(*sum)
    };
    weights.scan(0, add).collect()
}

/// Expectations of a request's answers, which may have statuses of its own.
fn expectation(common: &Expect, request: &Request) -> Expect {
    let mut expect = common.clone();
    if !request.statuses.is_empty() {
        expect.statuses.clone_from(&request.statuses);
    }
    expect
}

fn rows(step: &RequestStep, tables: &Tables) -> Option<u64> {
    let once = step.data.iter().filter_map(|Data { source, .. }| {
        let Source::File(Rows { file, order: RowOrder::Once, .. }) = source else { return None };
        tables.get(file)
    });
    once.map(|table| table.rows() as u64).min()
}
