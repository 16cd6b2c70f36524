//! Objects of the site: what is asked for is drawn from the plan's laws, and the judge knows what each answer must be.

use crate::answer::{AnswerEnd, DueHit, Judge, Remarks, Settled};
use crate::channel::{Connection, Destination};
use crate::exchange::types::{
    AnswerRead, AnswerReading, Client, ClientTurn, Context, Described, Due, Exchanges, Head, HttpExchanges,
    Pacing, Repeating, SentRequest, ShortQueue, Written,
};
use crate::exchange::{driver, own};
use crate::request::asked::RequestAsked;
use crate::step::Objects;
use measure::{CacheResult, Cause, Event, Failure, FailureKind, Fault, Label, Outcome, Stage};
use plan::{Law, Purge};
use std::borrow::Cow;
use std::cell::RefCell;
use std::time::Instant;
use wire::http1::{Expect, HeadMemo};

/// Fetches an object of the site.
pub(crate) async fn object(context: Context<'_>, client: &mut Client, objects: &Objects, turn: ClientTurn) {
    let worker = context.worker;
    let asked = objects.laws.draw(&worker.site, turn.number, worker.net.unix_micros_at(turn.due));
    let asked = purge_in_its_stead(context, objects, &asked).unwrap_or(asked);
    worker.account.begin(turn.due);
    count_kind(context, &asked);
    let _under_way = context.under_way(|| context.unanswered(&turn, title(context, objects, turn)));
    let mut fetch = ObjectExchanges { context, objects, path: worker.buffer() };
    driver::run(context, client, &mut fetch, [Due { item: asked, turn }].into_iter().collect()).await;
    worker.give_back(fetch.path);
}

/// A purge of the object, where one is due. One by a command is ordered, and the request goes its way.
fn purge_in_its_stead(context: Context<'_>, objects: &Objects, asked: &RequestAsked) -> Option<RequestAsked> {
    let step = objects.laws.step();
    let purge = step.purge.as_ref().filter(|_| step.popularity.law != Law::InOrder)?;
    let worker = context.worker;
    let mut given = worker.given.borrow_mut();
    if purge.command.is_some() {
        let heard = given.purges.hear();
        worker.account.count(|counts| {
            counts.purges += heard.all;
            counts.purges_acknowledged += heard.good;
        });
    }
    let purged = asked.purged()?;
    if !given.purges.are_due(purge, worker.net.unix_micros_at(worker.net.now())) {
        return None;
    }
    let Some(command) = &purge.command else { return Some(purged) };
    let order = given.purges.order(&purged, command, worker.composer.path(&purged));
    order.into_iter().for_each(|order| worker.control.purge(order));
    None
}

/// The request line of an object, which is drawn again: it follows from the number of the request.
fn title(context: Context<'_>, objects: &Objects, turn: ClientTurn) -> String {
    let worker = context.worker;
    let asked = objects.laws.draw(&worker.site, turn.number, worker.net.unix_micros_at(turn.due));
    let fetch = ObjectExchanges { context, objects, path: Vec::new() };
    fetch.describe(&asked).title.into_owned()
}

fn count_kind(context: Context<'_>, asked: &RequestAsked) {
    if asked.reload || asked.range.is_some() || asked.has_version.is_some() || asked.head || asked.purge {
        context.worker.account.count(|counts| {
            counts.reloads += u64::from(asked.reload);
            counts.ranges += u64::from(asked.range.is_some());
            counts.conditional += u64::from(asked.has_version.is_some());
            counts.heads += u64::from(asked.head);
            counts.purges += u64::from(asked.purge);
        });
    }
}

struct ObjectExchanges<'a> {
    context: Context<'a>,
    objects: &'a Objects,
    /// The path asked for: jtest's bodies begin with it.
    path: Vec<u8>,
}

impl Exchanges for ObjectExchanges<'_> {
    type Item = RequestAsked;

    const CACHE: CacheResult = CacheResult::Unknown;

    fn destination<'s>(&'s self, asked: &'s RequestAsked) -> Destination<'s> {
        self.context.worker.channels.targets().of(|| asked.key())
    }

    fn write(
        &mut self,
        due: &mut Due<RequestAsked>,
        _: Instant,
        last: bool,
        to: &mut Vec<u8>,
    ) -> Result<Written, Failure> {
        let worker = self.context.worker;
        let path = worker.composer.head(to, &worker.site, &due.item, self.purge(), last);
        self.path.clear();
        self.path.extend_from_slice(&to[path]);
        if worker.load.trace.urls {
            let line = to.split(|byte| *byte == b'\r').next().unwrap_or(to);
            worker.account.show(Event::Url(String::from_utf8_lossy(line).into_owned()));
        }
        let payload = worker.composer.post_bytes(&due.item).unwrap_or(0);
        let expect = if due.item.head { Expect::NoBody } else { Expect::Body };
        Ok(Written { expect, payload })
    }

    async fn read(
        &mut self,
        client: &mut Client,
        connection: &mut Connection,
        window: &mut ShortQueue<SentRequest<RequestAsked>>,
    ) -> AnswerRead {
        own::read(self.context, self, client, connection, window).await
    }

    fn repeating(&self, item: &RequestAsked) -> Repeating {
        match self.context.worker.composer.post_bytes(item) {
            Some(_) => Repeating::Harmful,
            None => Repeating::Safe,
        }
    }

    fn label(&self, item: &RequestAsked, outcome: Outcome, cache: CacheResult) -> Option<Label> {
        self.objects.label(item, outcome, cache)
    }

    fn nonce(&self, item: &RequestAsked) -> Option<u64> {
        Some(item.nonce)
    }

    fn describe<'s>(&'s self, item: &'s RequestAsked) -> Described<'s> {
        let head = self.head(item);
        let line = head.lines().next().unwrap_or("").to_owned();
        let method = match (self.repeating(item) == Repeating::Safe, self.purge()) {
            (true, Some(purge)) if item.purge => &purge.method,
            (true, _) if item.head => "HEAD",
            (true, _) => "GET",
            (false, _) => "POST",
        };
        let url = line.split(' ').nth(1).unwrap_or("").to_owned();
        let range = item.range.unwrap_or((0, 0));
        Described { method, url: url.into(), title: line.into(), range, place: 0, cause: Cause::Listed }
    }

    fn bytes(&self, item: &RequestAsked, _: &ClientTurn, _: Instant) -> Vec<u8> {
        self.head(item).into_owned().into_bytes()
    }
}

impl ObjectExchanges<'_> {
    /// The form of a purge, where the step has any.
    fn purge(&self) -> Option<&Purge> {
        self.objects.laws.step().purge.as_ref()
    }

    /// An answer to a purge: the proxy has done it, or had nothing to do, or it is no answer to that.
    fn settle_purge(&self, sent: &SentRequest<RequestAsked>, ended: AnswerEnd, judge: &Judge<'_>) -> Settled {
        let outcome = match ended {
            AnswerEnd::BrokenOff => Outcome::Aborted,
            AnswerEnd::Failed(failure) => Outcome::Failed(failure),
            AnswerEnd::Complete if !matches!(judge.head.status, 200..=299 | 404) => {
                Outcome::Failed(Failure::new(FailureKind::BadStatus, Stage::Head))
            }
            AnswerEnd::Complete => {
                let worker = self.context.worker;
                let now_us = worker.net.unix_micros_at(worker.net.now());
                worker.given.borrow_mut().purges.acknowledged(&sent.item, judge.sent_us, now_us);
                worker.account.count(|counts| counts.purges_acknowledged += 1);
                Outcome::Ok
            }
        };
        outcome.into()
    }

    /// Holds a good answer to the purges of its object.
    fn judge_purged(&self, asked: &RequestAsked, judge: &mut Judge<'_>) -> Option<Outcome> {
        let purge = self.purge()?;
        let worker = self.context.worker;
        let outdated = worker.given.borrow_mut().purges.outdated(asked, judge)?;
        if u128::from(outdated.after_us) > purge.within.as_micros() {
            judge.was_purged(outdated, &purge.method);
            return Some(Outcome::CheckFailed(Fault::NotPurged));
        }
        worker.account.count(|counts| {
            counts.purged_hits += 1;
            counts.purged_hits_us += outdated.after_us;
        });
        None
    }

    /// The request's head, composed again: it is a pure function of what was asked.
    fn head(&self, asked: &RequestAsked) -> Cow<'static, str> {
        let mut bytes = Vec::new();
        self.context.worker.composer.head(&mut bytes, &self.context.worker.site, asked, self.purge(), false);
        String::from_utf8_lossy(&bytes).into_owned().into()
    }
}

impl HttpExchanges for ObjectExchanges<'_> {
    type Sink<'s>
        = Judge<'s>
    where
        Self: 's;

    fn sink<'s>(&'s self, sent: &'s SentRequest<RequestAsked>, kept: Option<&'s mut Vec<u8>>) -> Judge<'s> {
        let worker = self.context.worker;
        let sent_us = worker.net.unix_micros_at(sent.at);
        let mut judge = Judge::new(&worker.site, &worker.load.check, &sent.item, &self.path, sent_us, kept);
        judge.conditional |= worker.composer.has_validator();
        judge.standstills = Some(worker.net.standstills());
        judge
    }

    fn head(&mut self, due: &mut Due<RequestAsked>, _: Instant, to: &mut Head) -> bool {
        let worker = self.context.worker;
        let secure = worker.channels.target().secure.is_some();
        worker.composer.fields(&mut to.fields, &worker.site, &due.item, self.purge(), secure);
        self.path.clear();
        self.path.extend_from_slice(to.fields.get(":path").unwrap_or_default());
        true
    }

    fn memo<'s>(&'s self, sent: &'s SentRequest<RequestAsked>) -> Option<&'s RefCell<HeadMemo>> {
        self.objects.memo(&sent.item)
    }

    fn reading(&self, sent: &SentRequest<RequestAsked>) -> AnswerReading {
        let asked = &sent.item;
        let abort = asked.abort_at.map(|share| (share, asked.body_bytes()));
        let reading = &self.objects.laws.step().reading;
        match Pacing::new(self.context.worker, reading, asked.slow, abort, sent.at) {
            Some(pacing) => AnswerReading::paced(pacing),
            None => AnswerReading::plain(false),
        }
    }

    fn settle(&self, sent: &SentRequest<RequestAsked>, ended: AnswerEnd, judge: &mut Judge<'_>) -> Settled {
        if sent.item.purge {
            return self.settle_purge(sent, ended, judge);
        }
        let worker = self.context.worker;
        // It may have been sent before, over a connection that was lost, so it counts from when it was due.
        let first_sent_us = worker.net.unix_micros_at(sent.turn.due.min(sent.at));
        worker.given.borrow_mut().asked(&sent.item, judge, first_sent_us);
        if let AnswerEnd::Complete = ended {
            judge.complete();
            judge.judge_age(&worker.given.borrow());
        }
        if let Some(serial) = judge.unattributed()
            && worker.count_unattributed(serial)
        {
            judge.seen_again();
        }
        if judge.head.status == 304 {
            worker.account.count(|counts| counts.unchanged += 1);
        } else if judge.head.status == 200 && sent.item.range.is_some() {
            worker.account.count(|counts| counts.ranges_ignored += 1);
        }
        let mut outcome = outcome(ended, judge, &sent.item);
        if let Outcome::Failed(failure) = outcome
            && worker.given.borrow_mut().broke_off_before(judge, failure)
        {
            judge.lacks_its_end();
            outcome = Outcome::CheckFailed(Fault::Partial);
        }
        if outcome == Outcome::Ok {
            outcome = self.judge_purged(&sent.item, judge).unwrap_or(outcome);
        }
        let past = worker.given.borrow_mut().ended(&worker.site, &sent.item, judge, outcome);
        let remarks = match ended {
            AnswerEnd::Complete => Remarks::of(judge, &worker.site),
            AnswerEnd::BrokenOff | AnswerEnd::Failed(_) => Remarks::default(),
        };
        if past.due != DueHit::NotDue || past.older || !remarks.is_empty() {
            worker.account.count(|counts| {
                counts.due += u64::from(past.due != DueHit::NotDue);
                counts.due_hits += u64::from(past.due == DueHit::Hit);
                counts.older += u64::from(past.older);
                remarks.count(counts);
            });
        }
        outcome.into()
    }
}

fn outcome(ended: AnswerEnd, judge: &Judge<'_>, asked: &RequestAsked) -> Outcome {
    // What the origin was told to spoil is no fault of the cache, unless the cache kept it and serves it as good.
    let spoilt = judge.injected();
    let kept = judge.is_stored();
    match ended {
        AnswerEnd::BrokenOff => Outcome::Aborted,
        AnswerEnd::Failed(_) if spoilt && kept => Outcome::CheckFailed(Fault::Truncated),
        AnswerEnd::Failed(_) if spoilt => Outcome::Injected,
        AnswerEnd::Failed(failure) if judge.may_be_cut(failure) => Outcome::Injected,
        AnswerEnd::Failed(failure) => {
            judge.wrong_before(failure).map_or(Outcome::Failed(failure), Outcome::CheckFailed)
        }
        AnswerEnd::Complete => match judge.head.status {
            200 | 206 => match judge.finding {
                // Only where a body ends with its connection or stream, without a length, could nobody know that it was cut. All
                // others who say that it is whole have made that up, whoever cut it.
                Some((Fault::Truncated, _)) if spoilt && !kept && judge.head.until_close => Outcome::Injected,
                Some((fault, _)) => Outcome::CheckFailed(fault),
                None => Outcome::Ok,
            },
            304 if asked.has_version.is_some() => match judge.finding {
                Some((fault, _)) => Outcome::CheckFailed(fault),
                None => Outcome::Ok,
            },
            _ if judge.good_without_body => Outcome::Ok,
            _ => match judge.finding {
                Some((fault, _)) => Outcome::CheckFailed(fault),
                _ if spoilt => Outcome::Injected,
                _ => Outcome::Failed(Failure::new(FailureKind::BadStatus, Stage::Head)),
            },
        },
    }
}
