//! The same request again and again over HTTP/2 and HTTP/3: as long as answers are good, its connection goes from one to the next by itself, and
//! its user sleeps.
//!
//! It counts what [`shared`] would count. Whatever else comes wakes the user, who goes on there. Start reading at [`repeat`].

use crate::channel::{Lease, Repeated, Repeats};
use crate::exchange::kind::RequestExchanges;
use crate::exchange::shared;
use crate::exchange::types::{Client, ClientTurn, Context, SentRequest, Worker};
use crate::pace::Phase;
use crate::step::{Line, WantedLength};
use measure::{Exchange, Label, Outcome};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Bytes of a body at most: they count when it has ended, those of longer ones as they come.
const MOST_BYTES: u64 = 256 * 1024;

/// The requests that one user repeats.
struct Repetition {
    worker: Rc<Worker>,
    phase: Rc<Phase>,
    /// Of a good answer.
    status: u16,
    label: Option<Label>,
    /// The request that is under way: its turn, when it was sent, and its place in the account.
    turn: Cell<ClientTurn>,
    at: Cell<Instant>,
    place: Cell<usize>,
    /// Requests that have begun.
    begun: Cell<u64>,
}

impl Repetition {
    fn begin(&self, turn: ClientTurn, at: Instant) {
        self.turn.set(turn);
        self.at.set(at);
        self.place.set(self.worker.account.begin_fast(turn.due));
        self.begun.set(self.begun.get() + 1);
    }
}

impl Repeats for Repetition {
    fn ended(&self, answer: &Repeated, goes_on: bool) -> bool {
        let account = &self.worker.account;
        let turn = self.turn.get();
        let at = self.at.get();
        let since = |moment: Instant| answer.ended.saturating_duration_since(moment);
        let exchange = Exchange {
            status: self.status,
            service: since(at),
            response: since(turn.due),
            first_byte: Some(answer.first_byte.saturating_duration_since(at)),
            reused: true,
            lateness: turn.lateness,
            sent_bytes: answer.sent_bytes,
            head_bytes: answer.head_bytes,
            body_bytes: answer.body_bytes,
            label: self.label,
            version: self.worker.version.get(),
            // Known from what is under way.
            ..Exchange::new(Outcome::Ok, Duration::ZERO)
        };
        account.end_fast(self.place.get(), &exchange);
        // The status counts with its name, as in `shared.rs`.
        account.count(|counts| counts.field_bytes += answer.field_bytes + 10);
        let due = answer.ended;
        let number = goes_on.then(|| self.worker.next_number(&self.phase, due)).flatten();
        let Some(number) = number else { return false };
        self.begin(ClientTurn { number, due, lateness: None }, due);
        true
    }
}

/// A place where a request may go on by itself now: `None` where it is to be sent by the driver.
pub(crate) fn lease_repeating(context: Context<'_>, client: &Client, line: Line<'_>) -> Option<Lease> {
    let worker = context.worker;
    let fits = worker.may_repeat
        && line.is_plain(MOST_BYTES)
        && !worker.account.wanted.first.get()
        && !client.failed
        && client.status != 0
        && client.refusals == 0
        && line.wanted_length() != WantedLength::NotKnown;
    let key = line.head_key().filter(|_| fits)?;
    worker.channels.lease_repeating(&client.slot, line.destination(), key)
}

/// Sends a request, for which [`lease_repeating`] has given a place, and those that follow it, until something else comes of one than a
/// good answer, or there is none any more. Returns how many have begun.
pub(crate) async fn repeat(
    worker: &Rc<Worker>,
    phase: &Rc<Phase>,
    client: &mut Client,
    mut lease: Lease,
    line: Line<'_>,
    first: ClientTurn,
) -> u64 {
    let repetition = Rc::new(Repetition {
        worker: worker.clone(),
        phase: phase.clone(),
        status: client.status,
        label: line.label,
        turn: Cell::new(first),
        at: Cell::new(first.due),
        place: Cell::default(),
        begun: Cell::new(0),
    });
    repetition.begin(first, worker.net.recently());
    let now = repetition.clone();
    let context = Context { worker, phase };
    let _under_way = context.under_way(|| context.unanswered(&now.turn.get(), line.title()));
    let length = match line.wanted_length() {
        WantedLength::Only(length) => Some(length),
        WantedLength::Any | WantedLength::NotKnown => None,
    };
    let key = line.head_key().unwrap_or_default();
    let bytes = lease.repeat(key, client.status, length, repetition.clone());
    let deadline = || worker.channels.first_deadline(repetition.at.get());
    // The request that is under way may be a later one than that which was waited for.
    while !lease.news(deadline()).await && worker.net.now() < deadline() {}
    let rests = lease.stop_repeating();
    if rests {
        client.ended = lease.look(|letter| letter.latest);
        return repetition.begun.get();
    }
    worker.account.leave_fast(repetition.place.get());
    let turn = repetition.turn.get();
    let at = repetition.at.get();
    let sent = SentRequest::again(line, turn, at, bytes, lease.connection());
    let context = Context { worker, phase };
    let mut exchanges = RequestExchanges::plain(context, client.user);
    // On the heap, so that users need no room for what is rare.
    Box::pin(shared::go_on(context, client, &mut exchanges, lease, sent)).await;
    repetition.begun.get()
}
