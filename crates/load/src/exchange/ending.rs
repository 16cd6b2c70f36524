//! The end of exchanges: whether a request is sent again, what it counts as, and who is told. Both loops end theirs here.

use super::report::report;
use super::types::{Client, Context, Due, Ending, Exchanges, Loss, Moments, SentRequest, ShortQueue, Worker};
use measure::{Exchange, ExchangeKind, Failure, FailureKind, Outcome};
use wire::http1::Expect;

/// Decides what becomes of requests whose connection is of no further use.
pub(crate) fn settle<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    due: &mut ShortQueue<Due<C::Item>>,
    window: &mut ShortQueue<SentRequest<C::Item>>,
    Loss { failure, unread }: Loss,
) {
    let plan = context.worker.channels.plan().resend;
    let again = |sent: &SentRequest<C::Item>, exchanges: &C| {
        unread.is_some_and(|unread| exchanges.repeating(&sent.item).may_be_resent(plan, unread))
    };
    let mut failed = ShortQueue::default();
    while let Some(sent) = window.pop_back() {
        if again(&sent, exchanges) {
            context.worker.account.count(|counts| counts.resent += u64::from(sent.answers));
            due.push_front(Due { item: sent.item, turn: sent.turn });
        } else {
            failed.push_front(sent);
        }
    }
    let now = context.worker.net.now();
    if let Some(first) = failed.front() {
        note_refusal(client, Outcome::Failed(failure), &first.unanswered_at(now), first.reused);
        client.ended = Some(now);
        (client.failed, client.status) = (true, 0);
        exchanges.failed();
    }
    while let Some(sent) = failed.pop() {
        let offending = client.offending.take();
        let ending = Ending { offending, ..Ending::failed(failure, sent.unanswered_at(now)) };
        let exchange = sent.exchange(context.worker, ending.outcome, &ending.moments, C::CACHE);
        let label = exchanges.label(&sent.item, ending.outcome, C::CACHE);
        context.worker.account.end(&Exchange { label, times: sent.answers, ..exchange });
        tell_broken_off(context.worker, exchanges, &sent, ending.outcome);
        report(context, client, exchanges, &sent, &ending);
    }
}

/// A request has failed before it was sent.
pub(crate) fn unsent<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &mut C,
    due: Due<C::Item>,
    failure: Failure,
    moments: Moments,
) {
    let sent = SentRequest {
        turn: due.turn,
        at: moments.sent,
        bytes: 0,
        expect: Expect::Body,
        reused: false,
        connect: None,
        begun: None,
        last: false,
        connection: context.worker.channels.opened(),
        answers: exchanges.answers(&due.item),
        traced: None,
        item: due.item,
    };
    exchanges.failed();
    let ending = Ending::failed(failure, moments);
    let exchange = sent.exchange(context.worker, ending.outcome, &moments, C::CACHE);
    let label = exchanges.label(&sent.item, ending.outcome, C::CACHE);
    context.worker.account.end(&Exchange { label, times: sent.answers, ..exchange });
    (client.failed, client.status) = (true, 0);
    report(context, client, exchanges, &sent, &ending);
}

/// A new connection that ends without a byte of an answer is as good as one that was refused: a user who came again at once
/// would only press a dead target, and use a core for it. A time that ran out has paced the user already.
fn note_refusal(client: &mut Client, outcome: Outcome, moments: &Moments, reused: bool) {
    let has_failed = matches!(outcome, Outcome::Failed(failure) if failure.kind != FailureKind::Timeout);
    let is_refusal = has_failed && !reused && moments.first_byte.is_none();
    client.refusals = if is_refusal { client.refusals + 1 } else { 0 };
}

/// An exchange has come to its end with an answer: accounts for it and tells of it.
pub(crate) fn finish<C: Exchanges>(
    context: Context<'_>,
    client: &mut Client,
    exchanges: &C,
    sent: &SentRequest<C::Item>,
    ending: &Ending,
    kind: ExchangeKind,
) {
    let worker = context.worker;
    let summary = &ending.summary;
    let exchange = Exchange {
        status: summary.status,
        head_bytes: summary.head_bytes,
        body_bytes: summary.body_bytes,
        kind,
        label: exchanges.label(&sent.item, ending.outcome, summary.cache),
        ..sent.exchange(worker, ending.outcome, &ending.moments, summary.cache)
    };
    if !exchanges.holds(&exchange) {
        worker.account.end(&exchange);
    }
    client.ended = Some(ending.moments.ended);
    client.failed = ending.outcome != Outcome::Ok;
    client.status = summary.status;
    note_refusal(client, ending.outcome, &ending.moments, sent.reused);
    tell_broken_off(worker, exchanges, sent, ending.outcome);
    report(context, client, exchanges, sent, ending);
}

/// Tells whoever follows requests of one that its client broke off, on purpose or because its time was up.
fn tell_broken_off<C: Exchanges>(
    worker: &Worker,
    exchanges: &C,
    sent: &SentRequest<C::Item>,
    outcome: Outcome,
) {
    let is_late = matches!(outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Timeout);
    let is_broken_off = is_late || outcome == Outcome::Aborted;
    if let Some(tell) = worker.broken_off.as_ref().filter(|_| is_broken_off)
        && let Some(nonce) = exchanges.nonce(&sent.item)
    {
        tell(nonce, worker.account.phase(), worker.net.now());
    }
}
