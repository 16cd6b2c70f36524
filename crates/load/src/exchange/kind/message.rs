//! TCP messages and their answers: one at a time, or several under way on one connection.

use crate::answer::{AnswerFound, AnswerView};
use crate::channel::{Connection, Destination};
use crate::exchange::own::{of_framing, run};
use crate::exchange::report::report;
use crate::exchange::resend::is_lost;
use crate::exchange::types::{
    AnswerRead, Client, ClientTurn, Context, Described, Due, Ending, Exchanges, Moments, Repeating,
    SentRequest, ShortQueue, Written,
};
use crate::failure;
use crate::request::{Filling, Scratch, Values};
use crate::step::{Messages, PreparedMessage as Prepared};
use measure::{Cause, Event, Exchange, Failure, FailureKind, Fault, Outcome, Stage, Talk, TalkEvent};
use net::Event as Signal;
use plan::data::Moment;
use plan::draw::hash;
use std::borrow::Cow;
use std::rc::Rc;
use std::time::Instant;
use wire::http1::Expect;
use wire::message::{Message, Reader, WireError};

/// Values that the user keeps of messages from one request to the next.
#[derive(Default)]
pub(crate) struct MessageState {
    reader: Option<Reader>,
    /// The place that it has come to in a sequence.
    next: usize,
    /// Values that the user keeps for its messages.
    values: Values,
    scratch: Scratch,
    /// When the first byte came of the message that is not complete.
    began: Option<Instant>,
    /// Nothing was under way then, so it answers nothing, whatever is sent before its end.
    unasked: bool,
    /// Where more comes from while requests are under way, at an open pace.
    arrivals: Option<Rc<dyn Arrivals>>,
}

/// Requests that a schedule hands to a user while others of its are under way. They have begun, whenever there is a connection for
/// them.
pub(crate) trait Arrivals {
    /// The next one.
    fn next(&self, now: Instant) -> Option<ClientTurn>;

    /// Raised when there is one.
    fn signal(&self) -> &Signal;

    /// So many are under way still.
    fn left(&self, count: usize);
}

/// A message: which one of the list, and what its answer will share with it.
pub(crate) struct Item {
    index: usize,
    key: u64,
    /// Where it is kept what the message was dealt.
    dealt: Option<usize>,
}

impl Item {
    /// One that is not written yet.
    fn new() -> Item {
        Item { index: 0, key: 0, dealt: None }
    }
}

/// Sends the message whose turn it is and, where several may be under way, those that come next. `turns`: those that the
/// user has had, to which all but the first are added.
pub(crate) async fn messages(
    context: Context<'_>,
    client: &mut Client,
    mine: &mut MessageState,
    messages: &Messages,
    turn: ClientTurn,
    turns: &mut u64,
) {
    if mine.arrivals.is_none() {
        context.worker.account.begin(turn.due);
    }
    if mine.reader.is_none() {
        // A plan's check has refused what no reader could be made for.
        mine.reader = Reader::new(messages.answers.clone(), messages.longest_answer).ok();
        mine.values.slots.reserve(messages.taken);
        // Those that are answered late are remembered a while longer than as many can be under way.
        mine.values.draws.reserve(if messages.depth > 1 { 2 * messages.depth } else { 1 });
    }
    let place = messages.choose(turn.number, mine.next);
    let _under_way = context.under_way(|| context.unanswered(&turn, messages.at(place).name.clone()));
    let mut exchanges = MessageExchanges { context, messages, mine, turns, user: client.user, done: None };
    run(context, client, &mut exchanges, [Due { item: Item::new(), turn }].into_iter().collect()).await;
}

struct MessageExchanges<'a> {
    context: Context<'a>,
    messages: &'a Messages,
    mine: &'a mut MessageState,
    turns: &'a mut u64,
    user: u64,
    /// The exchanges that ended last and are not counted yet, alike in all that is counted: of those that end at once, most are.
    done: Option<Exchange>,
}

impl Exchanges for MessageExchanges<'_> {
    type Item = Item;

    const IS_HTTP: bool = false;

    fn destination<'s>(&'s self, _: &'s Item) -> Destination<'s> {
        self.context.worker.channels.target()
    }

    fn depth(&self) -> usize {
        self.messages.depth
    }

    fn next(&mut self, now: Instant) -> Option<Due<Item>> {
        let worker = self.context.worker;
        let phase = self.context.phase;
        if let Some(arrivals) = &self.mine.arrivals {
            let turn = arrivals.next(now)?;
            *self.turns += 1;
            return Some(Due { item: Item::new(), turn });
        }
        let may = phase.turns_of(self.user).is_none_or(|most| *self.turns + 1 < most);
        if self.messages.depth == 1 || !phase.pipelines || !may {
            return None;
        }
        let number = worker.next_number(phase, now)?;
        let turn = ClientTurn { number, due: now, lateness: None };
        worker.account.begin(turn.due);
        *self.turns += 1;
        Some(Due { item: Item::new(), turn })
    }

    fn left(&mut self, count: usize) {
        self.mine.arrivals.iter().for_each(|arrivals| arrivals.left(count));
    }

    fn connecting(&mut self) {
        self.say(|| TalkEvent::Connecting);
    }

    fn connected(&mut self, fresh: bool) {
        if let Some(reader) = &mut self.mine.reader
            && fresh
        {
            reader.reset();
            (self.mine.began, self.mine.unasked) = (None, false);
            self.say(|| TalkEvent::Connected);
        }
    }

    /// Services may speak of themselves; HTTP does not.
    fn unasked(&mut self, client: &mut Client, bytes: &[u8]) -> bool {
        let now = self.context.worker.net.recently();
        let Some(mut reader) = self.mine.reader.take_if(|_| !self.messages.http) else { return false };
        let ended = self.take(client, &mut ShortQueue::default(), &mut reader, bytes, now);
        self.mine.reader = Some(reader);
        ended.is_none()
    }

    /// A sequence begins anew.
    fn failed(&mut self) {
        self.mine.start_again();
    }

    fn write(
        &mut self,
        due: &mut Due<Item>,
        now: Instant,
        _: bool,
        to: &mut Vec<u8>,
    ) -> Result<Written, Failure> {
        due.item.index = self.messages.choose(due.turn.number, self.mine.next);
        let begin = to.len();
        let written = self.compose(&mut due.item, &due.turn, now, to);
        written.map_err(|_| Failure::new(FailureKind::Unwritable, Stage::Send))?;
        due.item.key = self.key_of_request(&to[begin..]);
        self.say(|| TalkEvent::Sent(to[begin..].to_vec()));
        Ok(Written { expect: self.expect(&to[begin..]), payload: 0 })
    }

    fn half_closes(&self) -> bool {
        self.messages.closes
    }

    /// A message that nobody answers is done when it is sent.
    fn sent(
        &mut self,
        client: &mut Client,
        connection: &mut Connection,
        window: &mut ShortQueue<SentRequest<Item>>,
    ) {
        if !self.messages.unanswered {
            return;
        }
        let now = self.context.worker.net.now();
        let messages = self.messages;
        let unanswered = |sent: &SentRequest<Item>| messages.at(sent.item.index).unanswered;
        loop {
            let place = window.iter().position(unanswered);
            let Some(sent) = place.and_then(|place| window.remove(place)) else { break };
            connection.answered += 1;
            self.mine.next += 1;
            self.end(&sent, Outcome::Ok, sent.unanswered_at(now), 0, 0);
        }
        self.count_done(client, now);
    }

    /// Receives until at least one answer is complete, and deals with all messages that are complete with it.
    async fn read(
        &mut self,
        client: &mut Client,
        connection: &mut Connection,
        window: &mut ShortQueue<SentRequest<Item>>,
    ) -> AnswerRead {
        loop {
            // What was sent first must be answered first, or at least in time.
            let channels = &self.context.worker.channels;
            connection.stream.set_deadline(window.front().map(|oldest| channels.last_deadline(oldest.at)));
            let received = match &self.mine.arrivals {
                None => connection.stream.recv().await,
                Some(arrivals) => {
                    match connection.stream.recv_or_woken(arrivals.signal()).await.transpose() {
                        Some(received) => received,
                        None => return AnswerRead::Due,
                    }
                }
            };
            let now = self.context.worker.net.now();
            self.context.worker.account.received(received.as_deref().map_or(0, <[u8]>::len), now);
            let bytes = match received {
                Ok(bytes) => bytes,
                Err(error) => return self.lost(failure::of_io(&error, self.stage()), connection),
            };
            // The reader is taken out, so that its message and all the rest of a user may be used together.
            let Some(mut reader) = self.mine.reader.take() else { return AnswerRead::Failed(bad_frame()) };
            let before = window.len();
            let ended = self.take(client, window, &mut reader, &bytes, now);
            self.mine.reader = Some(reader);
            connection.answered += before.saturating_sub(window.len()) as u32;
            self.count_done(client, now);
            match ended {
                Some(AnswerRead::Lost(failure)) => return self.lost(failure, connection),
                Some(ended) => return ended,
                None => {}
            }
        }
    }

    fn repeating(&self, _: &Item) -> Repeating {
        Repeating::Message
    }

    fn describe<'s>(&'s self, item: &'s Item) -> Described<'s> {
        let name = self.messages.at(item.index).name.as_str();
        Described {
            method: "",
            url: name.into(),
            title: name.into(),
            range: (0, 0),
            place: item.index,
            cause: Cause::Listed,
        }
    }

    fn bytes(&self, item: &Item, turn: &ClientTurn, at: Instant) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut scratch = Scratch::default();
        let prepared = self.messages.at(item.index);
        let moment = self.moment(turn, at, prepared);
        let Values { slots, draws, .. } = &self.mine.values;
        let draws = draws.at(item.dealt.unwrap_or_default(), turn.number);
        // It was written before, so it can be again.
        let _ =
            self.messages.write(prepared, &Filling { at: &moment, draws, slots }, &mut scratch, &mut bytes);
        shown(&bytes).into_bytes()
    }
}

impl MessageExchanges<'_> {
    /// Tells a step of the exchange, where the plan wants to know of them.
    fn say(&self, said: impl FnOnce() -> TalkEvent) {
        if self.context.worker.load.trace.heads {
            let talk = Talk { connection: self.context.moment(0, self.user).connection, said: said() };
            self.context.worker.account.show(Event::Talk(Box::new(talk)));
        }
    }

    fn compose(
        &mut self,
        item: &mut Item,
        turn: &ClientTurn,
        now: Instant,
        to: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let prepared = self.messages.at(item.index);
        let moment = self.moment(turn, now, prepared);
        let MessageState { values: Values { slots, draws, .. }, scratch, .. } = &mut *self.mine;
        let worker = self.context.worker.part.index;
        let place = item.dealt.get_or_insert_with(|| prepared.deal(turn.number, worker, draws));
        let draws = draws.at(*place, turn.number);
        self.messages.write(prepared, &Filling { at: &moment, draws, slots }, scratch, to)
    }

    fn expect(&self, request: &[u8]) -> Expect {
        if self.messages.http && request.starts_with(b"HEAD ") { Expect::NoBody } else { Expect::Body }
    }

    /// The moment that the values depend on of a message that is sent at this moment.
    fn moment(&self, turn: &ClientTurn, at: Instant, prepared: &Prepared) -> Moment {
        let unix_us = if prepared.is_fixed() { 0 } else { self.context.worker.net.unix_micros_at(at) };
        Moment { unix_us, ..self.context.moment(turn.number, self.user) }
    }

    fn stage(&self) -> Stage {
        if self.mine.began.is_some() { Stage::Body } else { Stage::Head }
    }

    fn closed_early(&self) -> Failure {
        Failure::new(FailureKind::ClosedEarly, self.stage())
    }

    /// The connection has failed: before a byte of an answer, where it has carried answers, as its peer may close it.
    fn lost(&mut self, failure: Failure, connection: &Connection) -> AnswerRead {
        let began = self.mine.began.take();
        let alone = self.messages.depth == 1 || connection.carried == connection.answered + 1;
        if is_lost(failure) && alone && began.is_none() && connection.answered > 0 {
            AnswerRead::Lost(failure)
        } else {
            AnswerRead::Failed(failure)
        }
    }

    /// Deals with what was received; `None` while no answer is complete.
    fn take(
        &mut self,
        client: &mut Client,
        window: &mut ShortQueue<SentRequest<Item>>,
        reader: &mut Reader,
        bytes: &[u8],
        now: Instant,
    ) -> Option<AnswerRead> {
        if bytes.is_empty() {
            return Some(match reader.end_of_stream() {
                Ok(message) => {
                    self.message(client, window, &message, now);
                    self.closed(window)
                }
                Err(_) => AnswerRead::Lost(self.closed_early()),
            });
        }
        let mut rest = bytes;
        let mut answered = false;
        while !rest.is_empty() {
            if self.mine.began.is_none() {
                (self.mine.began, self.mine.unasked) = (Some(now), window.is_empty());
            }
            reader.begin(window.front().map_or(Expect::Body, |sent| sent.expect));
            match reader.read(rest) {
                Ok(found) => {
                    rest = &rest[found.consumed..];
                    if let Some(message) = found.message {
                        answered |= self.message(client, window, &message, now);
                        (self.mine.began, self.mine.unasked) = (None, false);
                        if !reader.keeps_connection() {
                            return Some(self.closed(window));
                        }
                    }
                }
                Err(error) => return Some(AnswerRead::Failed(of_framing(&error, Stage::Body))),
            }
        }
        answered.then_some(AnswerRead::Answered)
    }

    /// The peer has closed or will, as it should.
    fn closed(&self, window: &ShortQueue<SentRequest<Item>>) -> AnswerRead {
        match window.is_empty() {
            true => AnswerRead::Over { peer_closes: false },
            false => AnswerRead::Failed(self.closed_early()),
        }
    }

    /// A message has come. Whether it was an answer.
    fn message(
        &mut self,
        client: &mut Client,
        window: &mut ShortQueue<SentRequest<Item>>,
        message: &Message<'_>,
        now: Instant,
    ) -> bool {
        self.say(|| TalkEvent::Received {
            head: message.head().to_vec(),
            body: message.body().to_vec(),
            bytes: message.bytes.to_vec(),
        });
        let is_pushed = self.mine.unasked || self.messages.is_pushed(message);
        let place = if is_pushed { None } else { self.place_of(window, message) };
        let Some(sent) = place.and_then(|place| window.remove(place)) else {
            self.context.worker.account.count(|counts| {
                counts.pushed += 1;
                counts.body_bytes += message.bytes.len() as u64;
            });
            return false;
        };
        let outcome = self.judge(self.messages.at(sent.item.index), message);
        self.say(|| self.judged(outcome, message));
        let moments = Moments { first_byte: self.mine.began, ..sent.unanswered_at(now) };
        let head_bytes = message.body.start as u64;
        let body_bytes = (message.bytes.len() - message.body.start) as u64;
        self.end(&sent, outcome, moments, head_bytes, body_bytes);
        if let Outcome::CheckFailed(fault) = outcome {
            self.tell(client, &sent, moments, fault, message);
            self.mine.start_again();
        } else {
            self.mine.next += 1;
        }
        true
    }

    /// Which request under way a message answers.
    fn place_of(&self, window: &ShortQueue<SentRequest<Item>>, message: &Message<'_>) -> Option<usize> {
        match &self.messages.correlation {
            None => (!window.is_empty()).then_some(0),
            Some((_, answer)) => {
                let key = key(&answer.find(&AnswerView::of(message))?);
                window.iter().position(|sent| sent.item.key == key)
            }
        }
    }

    fn key_of_request(&self, bytes: &[u8]) -> u64 {
        let Some((request, _)) = &self.messages.correlation else { return 0 };
        let message = Message { bytes, body: self.messages.body_of(bytes) };
        request.find(&AnswerView::of(&message)).map_or(0, |value| key(&value))
    }

    fn judge(&mut self, prepared: &Prepared, message: &Message<'_>) -> Outcome {
        if let Some((code, good)) = self.messages.verdict(message) {
            self.context.worker.account.code(code.as_deref(), good);
            if !good {
                return Outcome::CheckFailed(if code.is_some() { Fault::BadCode } else { Fault::NoCode });
            }
        }
        for extractor in &prepared.extractors {
            if extractor.extract(&AnswerView::of(message), &mut self.mine.values.slots).is_err() {
                return Outcome::CheckFailed(Fault::NoValue);
            }
        }
        Outcome::Ok
    }

    /// An exchange has come to its end. It is counted together with those that end at the same time and are like it.
    fn end(
        &mut self,
        sent: &SentRequest<Item>,
        outcome: Outcome,
        moments: Moments,
        head_bytes: u64,
        body_bytes: u64,
    ) {
        let exchange = Exchange {
            head_bytes,
            body_bytes,
            ..sent.exchange(self.context.worker, outcome, &moments, Self::CACHE)
        };
        match &mut self.done {
            Some(last) if Exchange { times: 1, ..*last } == exchange => last.times += 1,
            done => {
                if let Some(exchange) = done.replace(exchange) {
                    self.context.worker.account.end(&exchange);
                }
            }
        }
    }

    fn count_done(&mut self, client: &mut Client, now: Instant) {
        if let Some(exchange) = self.done.take() {
            client.refusals = 0;
            client.ended = Some(now);
            self.context.worker.account.end(&exchange);
        }
    }

    /// Tells of an answer that came whole and was wrong. Not on the plain path.
    fn tell(
        &self,
        client: &Client,
        sent: &SentRequest<Item>,
        moments: Moments,
        fault: Fault,
        message: &Message<'_>,
    ) {
        let found = AnswerFound {
            detail: self.detail(fault, message),
            answer: Some(shown(message.bytes)),
            ..AnswerFound::default()
        };
        let outcome = Outcome::CheckFailed(fault);
        let ending = Ending { outcome, found, ..Ending::failed(bad_frame(), moments) };
        report(self.context, client, self, sent, &ending);
    }

    fn judged(&self, outcome: Outcome, message: &Message<'_>) -> TalkEvent {
        let fault = if let Outcome::CheckFailed(fault) = outcome { Some(fault) } else { None };
        let code = self.messages.verdict(message).and_then(|(code, _)| code.map(Cow::into_owned));
        TalkEvent::Judged { code, fault }
    }

    fn detail(&self, fault: Fault, message: &Message<'_>) -> String {
        if let Some(status) = self.messages.bad_status(message) {
            return format!("status {}, where one below 400 is wanted", shown(status));
        }
        match (&self.messages.code, fault) {
            (Some(rule), Fault::BadCode | Fault::NoCode) => {
                let (code, _) = rule.judge(&AnswerView::of(message));
                let code = code.map_or("no code".to_owned(), |code| format!("code '{}'", shown(&code)));
                format!("{code}, where {} is wanted", rule.wanted())
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

impl MessageState {
    /// Of a user to whom requests are handed while others are under way.
    pub fn with_arrivals(arrivals: Rc<dyn Arrivals>) -> MessageState {
        MessageState { arrivals: Some(arrivals), ..MessageState::default() }
    }

    /// A sequence begins anew.
    fn start_again(&mut self) {
        self.next = 0;
        self.values.slots.clear();
    }
}

fn bad_frame() -> Failure {
    Failure::new(FailureKind::BadFrame, Stage::Body)
}
