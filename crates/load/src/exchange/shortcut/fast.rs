//! The fast path: a request that is the same bytes each time, over a connection that was kept, and an answer that comes in one
//! piece with a head that is known.
//!
//! It counts what [`run`] would count. Whatever else comes instead of such an answer is left on the connection, unread, and
//! the driver goes on with it: what an odd answer means is said there alone. Start reading at [`fast`].

use crate::channel::{self, Connection};
use crate::exchange::ending::settle;
use crate::exchange::idle;
use crate::exchange::kind::RequestExchanges;
use crate::exchange::own::{attempt, run};
use crate::exchange::report::{PlainAnswer, report_plain};
use crate::exchange::types::{
    Client, ClientTurn, Context, Due, Exchanges, Loss, SHORT, SentRequest, ShortQueue, Worker,
};
use crate::failure;
use crate::request::{Filling, Slots};
use crate::step::{Line, WantedLength};
use measure::{Answered, Exchange, Failure, Outcome, Stage};
use net::Buffer;
use plan::data::Moment;
use std::future::poll_fn;
use std::io;
use std::time::{Duration, Instant};
use transport::Received;
use wire::http1::{Expect, Version};

/// True if a request may go it now.
#[inline]
pub(crate) fn is_fast(context: Context<'_>, client: &mut Client, line: &Line<'_>) -> bool {
    let worker = context.worker;
    let Some(connection) = &mut client.slot.connection else { return false };
    worker.has_fast_path
        && line.is_plain(SHORT)
        // Its label in records may be another each time.
        && (line.varying.is_none() || !worker.load.trace.requests)
        && !worker.account.wanted.first.get()
        && connection.answered > 0
        && connection.leads_to(line.destination())
        && idle::is_clean(context, connection, |_| false)
}

/// A request that was begun, and whose answer, or the end of its send, is for the driver.
pub(crate) struct Begun {
    sent: Result<(), Failure>,
    at: Instant,
    bytes: u64,
}

/// Sends a request for which [`is_fast`] holds and reads its answer.
pub(crate) async fn fast(context: Context<'_>, client: &mut Client, line: &Line<'_>, turn: &ClientTurn) {
    let _under_way = context.under_way(|| context.unanswered(turn, line.title()));
    let message = FastMessage { line, bytes: line.bytes() };
    if let Some(begun) = try_fast(context, client, message, turn, |_| true).await {
        // On the heap, so that users need no room for what is rare.
        Box::pin(go_on_listed(context, client, begun, line, turn)).await;
    }
}

async fn go_on_listed(
    context: Context<'_>,
    client: &mut Client,
    begun: Begun,
    line: &Line<'_>,
    turn: &ClientTurn,
) {
    let exchanges = RequestExchanges::plain(context, client.user);
    go_on(context, client, exchanges, begun, Due { item: *line, turn: *turn }).await;
}

/// A request, and its bytes where it has some already.
#[derive(Clone, Copy)]
pub(crate) struct FastMessage<'a, 'l> {
    pub line: &'a Line<'l>,
    pub bytes: Option<&'a [u8]>,
}

/// Sends a request for which [`is_fast`] holds, and reads its answer. `None`: it is
/// accounted for. `takes`: statuses that lead to nothing else.
pub(crate) async fn try_fast(
    context: Context<'_>,
    client: &mut Client,
    message: FastMessage<'_, '_>,
    turn: &ClientTurn,
    takes: impl Fn(u16) -> bool,
) -> Option<Begun> {
    let connection = client.slot.connection.as_deref_mut()?;
    let mut flight = begin(context.worker, connection, message, turn);
    if let Some(rest) = flight.rest.take() {
        // On the heap, as is what waits for more over TLS: users need no room for it.
        flight.sent = Box::pin(channel::send(connection, rest, 0, false)).await;
    }
    if flight.sent.is_err() {
        return Some(flight.leave(context.worker));
    }
    let arrived = match poll_fn(|_| connection.stream.poll_recv()).await {
        Some(arrived) => arrived,
        None => Box::pin(connection.stream.recv()).await,
    };
    end(context, client, message.line, flight, arrived, takes)
}

/// A request on its way.
struct Flight<'a> {
    turn: &'a ClientTurn,
    /// Its place among those under way.
    place: usize,
    at: Instant,
    bytes: u64,
    /// Bytes that did not go at once.
    rest: Option<Buffer>,
    sent: Result<(), Failure>,
}

impl Flight<'_> {
    /// The driver goes on with it.
    fn leave(self, worker: &Worker) -> Begun {
        worker.account.leave_fast(self.place);
        Begun { sent: self.sent, at: self.at, bytes: self.bytes }
    }
}

/// Begins a request, and sends as much of it as goes at once.
#[inline]
fn begin<'a>(
    worker: &Worker,
    connection: &mut Connection,
    FastMessage { line, bytes }: FastMessage<'_, '_>,
    turn: &'a ClientTurn,
) -> Flight<'a> {
    let place = worker.account.begin_fast(turn.due);
    connection.carried += 1;
    // Those of a request before it.
    (connection.cut, connection.due) = (None, None);
    let at = worker.net.recently();
    connection.stream.set_deadline(Some(worker.channels.first_deadline(at)));
    let mut out = None;
    let message = bytes.unwrap_or_else(|| {
        let out = out.insert(worker.net.buffer());
        line.write(false, &Filling { at: &Moment::default(), draws: &[], slots: &Slots::default() }, out);
        out
    });
    connection.last.note(message);
    let (rest, sent) = match connection.stream.try_send(message) {
        Ok(count) if count < message.len() => {
            let mut rest = worker.net.buffer();
            rest.extend_from_slice(&message[count..]);
            (Some(rest), Ok(()))
        }
        Ok(_) => (None, Ok(())),
        Err(error) => (None, Err(failure::of_io(&error, Stage::Send))),
    };
    Flight { turn, place, at, bytes: message.len() as u64, rest, sent }
}

/// Something has come. `None`: it was a known answer, which is accounted for.
#[inline]
fn end(
    context: Context<'_>,
    client: &mut Client,
    line: &Line<'_>,
    flight: Flight<'_>,
    arrived: io::Result<Received>,
    takes: impl Fn(u16) -> bool,
) -> Option<Begun> {
    let worker = context.worker;
    let connection = client.slot.connection.as_deref_mut()?;
    let ended = worker.net.recently();
    let known = arrived.as_ref().ok().and_then(|bytes| known(line, bytes));
    let Some((answer, version)) = known.filter(|(answer, _)| takes(answer.status)) else {
        connection.arrived = Some(Box::new(arrived));
        return Some(flight.leave(worker));
    };
    worker.account.received(1, ended);
    let took = ended.saturating_duration_since(flight.at);
    let waited = if flight.turn.due == flight.at {
        Duration::ZERO
    } else {
        flight.at.saturating_duration_since(flight.turn.due)
    };
    let answer = Answered { waited, took, sent_bytes: flight.bytes, ..answer };
    account(worker, line, &flight, &answer);
    let told = PlainAnswer {
        line,
        turn: flight.turn,
        user: client.user,
        branch: client.branch,
        connection: connection.number,
        sent: flight.at,
        version,
        answer,
    };
    report_plain(context, &told);
    if connection.secure.is_some() {
        worker.net.spent();
    }
    connection.count_answer(true, None, ended);
    (client.ended, client.failed, client.status) = (Some(ended), false, answer.status);
    client.refusals = 0;
    None
}

/// Accounts for a good answer.
#[inline]
fn account(worker: &Worker, line: &Line<'_>, flight: &Flight<'_>, answer: &Answered) {
    let Flight { turn, place, .. } = *flight;
    let version = worker.version.get();
    let is_alike = turn.lateness.is_none() && line.label.is_none() && version.is_none();
    if is_alike && worker.account.end_alike(place, answer) {
        return;
    }
    let exchange = Exchange {
        status: answer.status,
        service: answer.took,
        response: answer.took + answer.waited,
        first_byte: Some(answer.took),
        reused: true,
        lateness: turn.lateness,
        sent_bytes: answer.sent_bytes,
        head_bytes: answer.head_bytes,
        body_bytes: answer.body_bytes,
        label: line.label,
        version,
        // Known from what is under way.
        ..Exchange::new(Outcome::Ok, Duration::ZERO)
    };
    worker.account.end_fast(place, &exchange);
}

/// The answer that `bytes` are, where it is good and whole, and nothing has to be looked up to say so.
#[inline]
fn known(line: &Line<'_>, bytes: &[u8]) -> Option<(Answered, Version)> {
    let mut memo = line.memo.borrow_mut();
    let (head_bytes, head) = memo.whole(bytes, Expect::Body)?;
    let body_bytes = (bytes.len() - head_bytes) as u64;
    let has_length = match line.wanted_length() {
        WantedLength::Any => true,
        WantedLength::Only(length) => body_bytes == length,
        WantedLength::NotKnown => false,
    };
    let is_good = head.keep_alive && has_length && line.expect.takes(head.status);
    let answer = Answered {
        status: head.status,
        waited: Duration::ZERO,
        took: Duration::ZERO,
        sent_bytes: 0,
        head_bytes: head_bytes as u64,
        body_bytes,
    };
    is_good.then_some((answer, head.version))
}

/// The driver takes over a request that was begun.
pub(crate) async fn go_on<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    mut exchanges: C,
    Begun { sent, at, bytes }: Begun,
    Due { item, turn }: Due<C::Item>,
) -> C {
    let mut due = ShortQueue::default();
    let mut window = ShortQueue::default();
    let Some(connection) = client.slot.connection.take() else { return exchanges };
    window.push(SentRequest::again(item, turn, at, bytes, connection.number));
    match sent {
        Ok(()) => attempt(context, client, &mut exchanges, &mut due, connection, window).await,
        Err(failure) => {
            settle(context, client, &mut exchanges, &mut due, &mut window, Loss { failure, unread: None });
            context.worker.channels.put_back(&mut client.slot, connection, false).await;
        }
    }
    run(context, client, &mut exchanges, due).await;
    exchanges
}
