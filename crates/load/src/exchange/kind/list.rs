//! Requests of a list: one at a time, or several sent at once over a connection (RFC 9112 section 9.3.2).
//!
//! All of a batch are sent at the same moment, and each is timed from it. Where the connection is lost, the request whose
//! answer was due next has failed, and so have those behind it, but for those that may be sent again over a new one
//! (`exchange/ending.rs`). Where time runs out it does so for all of the batch.

use crate::answer::{AnswerEnd, Settled};
use crate::channel::{Connection, Destination, OpenBody};
use crate::exchange::driver;
use crate::exchange::own::{self, run};
use crate::exchange::report::request_line;
use crate::exchange::types::{
    AnswerRead, AnswerReading, Client, ClientTurn, Context, Described, Due, Exchanges, Head, HeadWritten,
    HttpExchanges, Pacing, Repeating, SHORT, SentRequest, ShortQueue, Written,
};
use crate::request::{Filling, Slots, Values};
use crate::step::{Line, RequestAnswer, Requests};
use measure::{CacheResult, Cause, Failure, FailureKind, Label, Outcome, Stage};
use plan::data::Moment;
use plan::draw::{Draw, hash};
use std::cell::RefCell;
use std::io;
use std::time::{Duration, Instant};
use wire::http1::{Expect, HeadMemo};

/// Sends a request of a list and reads its answer.
pub(crate) async fn request(context: Context<'_>, client: &mut Client, prepared: Line<'_>, turn: ClientTurn) {
    context.worker.account.begin(turn.due);
    let _under_way = context.under_way(|| context.unanswered(&turn, prepared.title()));
    let values = take_values(client, prepared, 1);
    let mut exchanges = RequestExchanges { context, depth: 1, user: client.user, values };
    driver::run(context, client, &mut exchanges, [Due { item: prepared, turn }].into_iter().collect()).await;
    exchanges.give_back(client);
}

/// Sends `first` and as many more requests as there are to be, at most so many as the plan sends at once. `turns`: those
/// that the user has had, to which all but the first are added.
pub(crate) async fn pipeline(
    context: Context<'_>,
    client: &mut Client,
    requests: &Requests,
    first: ClientTurn,
    turns: &mut u64,
) {
    let due = gather(context, client.user, requests, first, turns);
    due.iter().for_each(|due| context.worker.account.begin(due.turn.due));
    let first_line = due.front().map(|due| due.item);
    let _under_way =
        context.under_way(|| context.unanswered(&first, first_line.map_or_else(String::new, Line::title)));
    let holder = due.iter().find(|due| due.item.has_values()).or(due.front());
    let values = holder.map_or_else(RefCell::default, |due| take_values(client, due.item, depth(context)));
    let mut exchanges = RequestExchanges { context, depth: due.len(), user: client.user, values };
    run(context, client, &mut exchanges, due).await;
    exchanges.give_back(client);
}

/// Requests that are sent at once.
fn depth(context: Context<'_>) -> usize {
    context.worker.channels.http().h1.pipeline as usize
}

/// Takes the numbers of a batch.
fn gather<'a>(
    context: Context<'_>,
    user: u64,
    requests: &'a Requests,
    first: ClientTurn,
    turns: &mut u64,
) -> ShortQueue<Due<Line<'a>>> {
    let worker = context.worker;
    let phase = context.phase;
    let depth = depth(context);
    let mut due = ShortQueue::default();
    let mut turn = first;
    loop {
        let placing = phase.placing(turn.number, user, *turns);
        due.push(Due { item: requests.at(placing), turn });
        // The user counts the turn that is under way itself.
        let more = due.len() < depth && phase.turns_of(user).is_none_or(|most| *turns + 1 < most);
        let Some(number) = more.then(|| worker.next_number(phase, first.due)).flatten() else { return due };
        *turns += 1;
        turn = ClientTurn { number, due: first.due, lateness: None };
    }
}

pub(crate) struct RequestExchanges<'a> {
    context: Context<'a>,
    depth: usize,
    user: u64,
    /// Values that the user keeps, where its requests hold any of it.
    values: RefCell<Option<Box<Values>>>,
}

/// Values that the user keeps for its requests, where this one holds any of it. `depth`: requests under way at once.
fn take_values(client: &mut Client, prepared: Line<'_>, depth: usize) -> RefCell<Option<Box<Values>>> {
    RefCell::new(prepared.has_values().then(|| {
        let mut values = client.values.take().unwrap_or_default();
        values.draws.reserve(depth);
        values
    }))
}

impl<'a> RequestExchanges<'a> {
    /// Of requests that hold no values.
    pub(crate) fn plain(context: Context<'a>, user: u64) -> RequestExchanges<'a> {
        RequestExchanges { context, depth: 1, user, values: RefCell::default() }
    }

    /// The moment that the values of a request depend on; the clock is read only where they do.
    fn moment(&self, prepared: Line<'_>, turn: &ClientTurn, at: Instant) -> Moment {
        let unix_us = if prepared.is_fixed() { 0 } else { self.context.worker.net.unix_micros_at(at) };
        Moment { unix_us, ..self.context.moment(turn.number, self.user) }
    }

    /// Appends the head, and returns the body, of a request that is sent in two parts.
    fn open(&self, prepared: Line<'_>, last: bool, at: &Moment, to: &mut Vec<u8>) -> io::Result<OpenBody> {
        match self.values.borrow_mut().as_deref_mut() {
            None => prepared.begin(last, &Filling { at, draws: &[], slots: &Slots::default() }, to),
            Some(values) => prepared.begin_with(last, at, self.context.worker.part.index, values, to),
        }
    }

    fn put(&self, prepared: Line<'_>, last: bool, at: &Moment, to: &mut Vec<u8>) {
        match self.values.borrow_mut().as_deref_mut() {
            None => prepared.write(last, &Filling { at, draws: &[], slots: &Slots::default() }, to),
            Some(values) => {
                prepared.write_with(last, at, self.context.worker.part.index, values, to);
            }
        }
    }

    fn give_back(self, client: &mut Client) {
        if let Some(values) = self.values.into_inner() {
            client.values = Some(values);
        }
    }
}

impl<'a> Exchanges for RequestExchanges<'a> {
    type Item = Line<'a>;

    fn destination<'s>(&'s self, prepared: &'s Line<'a>) -> Destination<'s> {
        prepared.destination()
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn write(
        &mut self,
        due: &mut Due<Line<'a>>,
        now: Instant,
        last: bool,
        to: &mut Vec<u8>,
    ) -> Result<Written, Failure> {
        self.put(due.item, last, &self.moment(due.item, &due.turn, now), to);
        Ok(Written { expect: due.item.framing, payload: 0 })
    }

    fn is_parted(&self, prepared: &Line<'a>) -> bool {
        prepared.is_parted()
    }

    fn waits(&self, prepared: &Line<'a>) -> Option<Duration> {
        prepared.waits()
    }

    fn begin(
        &mut self,
        due: &mut Due<Line<'a>>,
        now: Instant,
        last: bool,
        to: &mut Vec<u8>,
    ) -> Result<HeadWritten, Failure> {
        let body = self.open(due.item, last, &self.moment(due.item, &due.turn, now), to);
        let unwritable = |_| Failure::new(FailureKind::Unwritable, Stage::Send);
        Ok(HeadWritten { expect: due.item.framing, body: body.map_err(unwritable)? })
    }

    async fn read(
        &mut self,
        client: &mut Client,
        connection: &mut Connection,
        window: &mut ShortQueue<SentRequest<Line<'a>>>,
    ) -> AnswerRead {
        own::read(self.context, self, client, connection, window).await
    }

    fn repeating(&self, prepared: &Line<'a>) -> Repeating {
        Repeating::of_method(prepared.method.as_bytes())
    }

    fn label(&self, prepared: &Line<'a>, _: Outcome, _: CacheResult) -> Option<Label> {
        prepared.label
    }

    fn describe<'s>(&'s self, prepared: &'s Line<'a>) -> Described<'s> {
        Described {
            method: &prepared.method,
            url: prepared.url(),
            title: prepared.title().into(),
            range: (0, 0),
            place: prepared.index,
            cause: Cause::Listed,
        }
    }

    fn sent_url(&self, sent: &SentRequest<Line<'a>>) -> Option<String> {
        let address = sent.item.address();
        if !address.text.contains("{{") {
            return None;
        }
        let bytes = self.bytes(&sent.item, &sent.turn, sent.at);
        let head = String::from_utf8_lossy(&bytes);
        let target = request_line(&head).split_once(' ')?.1;
        let scheme = if address.secure { "https" } else { "http" };
        Some(match target.starts_with('/') {
            true => format!("{scheme}://{}{target}", address.authority),
            false => target.to_owned(),
        })
    }

    fn bytes(&self, prepared: &Line<'a>, turn: &ClientTurn, at: Instant) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.put(*prepared, false, &self.moment(*prepared, turn, at), &mut bytes);
        bytes
    }
}

impl<'a> HttpExchanges for RequestExchanges<'a> {
    type Sink<'s>
        = RequestAnswer<'s>
    where
        Self: 's;

    fn sink<'s>(
        &'s self,
        sent: &'s SentRequest<Line<'a>>,
        kept: Option<&'s mut Vec<u8>>,
    ) -> RequestAnswer<'s> {
        RequestAnswer::new(sent.item, kept)
    }

    fn head(&mut self, due: &mut Due<Line<'a>>, now: Instant, to: &mut Head) -> bool {
        let prepared = due.item;
        let at = self.moment(due.item, &due.turn, now);
        let listed = match self.values.get_mut().as_deref_mut() {
            None => {
                let filling = Filling { at: &at, ..Filling::NOTHING };
                prepared.list(&filling, &mut to.fields, &mut to.body)
            }
            Some(values) => {
                let worker = self.context.worker.part.index;
                prepared.list_with(&at, worker, values, &mut to.fields, &mut to.body)
            }
        };
        listed.is_ok()
    }

    fn head_key(&self, prepared: &Line<'a>) -> Option<usize> {
        prepared.head_key()
    }

    fn expects(&self, prepared: &Line<'a>) -> Expect {
        prepared.framing
    }

    fn reading(&self, sent: &SentRequest<Line<'a>>) -> AnswerReading {
        let worker = self.context.worker;
        let reading = &sent.item.reading;
        // Which answers are read slowly belongs to the request's number.
        let seed = hash(worker.seed, 0x510);
        let is_slow =
            reading.bytes_per_second.is_some() && Draw::new(seed, sent.turn.number).chance(reading.slow);
        match Pacing::new(worker, reading, is_slow, None, sent.at) {
            Some(pacing) => AnswerReading::paced(pacing),
            None => AnswerReading::plain(sent.item.unread.get() > SHORT),
        }
    }

    fn memo<'s>(&'s self, sent: &'s SentRequest<Line<'a>>) -> Option<&'s RefCell<HeadMemo>> {
        Some(&sent.item.memo)
    }

    fn settle(
        &self,
        sent: &SentRequest<Line<'a>>,
        ended: AnswerEnd,
        answer: &mut RequestAnswer<'_>,
    ) -> Settled {
        let outcome = answer.outcome(ended);
        if let (Some((code, good)), AnswerEnd::Complete) = (answer.grpc_code(), ended) {
            self.context.worker.account.code(code.as_deref(), good);
        }
        match self.values.borrow_mut().as_deref_mut() {
            None => outcome.into(),
            Some(values) => {
                let took = self.context.worker.net.recently().saturating_duration_since(sent.at);
                answer.extract(outcome, took, values).into()
            }
        }
    }
}
