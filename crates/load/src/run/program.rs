//! Programs in a walk: it runs them, counts those that are samples, and heeds what they ask for.

use super::user::User;
use super::walk::Walk;
use crate::code::{CodePlace, CodeUser, Sample, SampleTimes};
use crate::exchange::ClientTurn;
use crate::program::{CodeWork, Last, Mark, Position};
use crate::request::contents;
use measure::{
    Contents, Event, Exchange, Failure, FailureKind, Outcome, Record, Remark, Stage, TransactionMark,
};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

impl Walk<'_> {
    /// Keeps what programs and records need of a user, where there are any.
    pub(super) fn watch(&self, user: &mut User) {
        if !self.program.watches {
            return;
        }
        let work = self.work;
        let number = user.client.user;
        let turns = user.turns;
        let values = user.client.values.get_or_insert_default();
        let code = values.code.get_or_insert_with(|| {
            let planned = |groups: &[u32]| groups.iter().map(|users| u64::from(*users)).sum::<u64>();
            let phases = self.worker.load.phases.iter().map(plan::Phase::users_at_once);
            let begun: Vec<Vec<u32>> = phases.take(self.worker.account.phase() + 1).collect();
            let of_phase = begun.last().map_or(&[][..], Vec::as_slice);
            let place = CodePlace {
                users_planned: of_phase.get(work.phase.group).copied().unwrap_or(0).into(),
                all_users_planned: begun.iter().map(|groups| planned(groups)).sum(),
                user: number,
                user_name: work.user_name.clone(),
                group_name: work.phase.name.as_str().into(),
                group: (work.phase.group, self.worker.account.phase()),
                seed: self.worker.seed,
                ..CodePlace::default()
            };
            let mut code = CodeUser::new(work.programs.clone(), place);
            code.told = self.program.placed(&self.worker.load.trace.values);
            Box::new(code)
        });
        code.place.iteration = turns + 1;
        let users = self.worker.present(work.phase.group);
        (code.place.users, code.place.all_users) = (users.of_group.into(), users.of_all.into());
        code.place.users_begun = self.worker.control.users_begun();
    }

    /// Tells that a transaction begins or has ended, where records are told.
    pub(super) fn mark(&self, user: &User, mark: Mark, took: Option<Duration>) {
        if !self.worker.load.trace.requests {
            return;
        }
        let label = self.work.labels.get(usize::from(mark.label.0)).cloned().unwrap_or_default();
        let values = user.client.values.as_ref().filter(|_| took.is_some());
        self.worker.account.show(Event::Transaction(Box::new(TransactionMark {
            user: user.client.user,
            branch: user.client.branch,
            group: self.work.phase.group,
            phase: self.worker.account.phase(),
            label: mark.title.unwrap_or(label),
            parent: mark.parent,
            at: self.worker.account.since(self.at),
            took,
            values: values.map_or(Vec::new(), |values| values.told()),
            present: self.worker.present(self.work.phase.group),
        })));
    }

    /// Runs a program. `Break`: the user is to begin nothing more.
    pub(super) async fn run_program(
        &mut self,
        user: &mut User,
        position: &mut Position,
        work: &CodeWork,
    ) -> ControlFlow<()> {
        if work.sample.is_some() {
            let Some(turn) = self.turn(user, None) else { return ControlFlow::Break(()) };
            self.sample(user, position, work, turn).await;
            // Programs that follow each other without a request let others have their turn.
            self.wait(position, self.worker.net.now()).await;
        } else {
            let around = self.around(user);
            let values = user.client.values.get_or_insert_default();
            self.tell_time(values.code.as_deref_mut());
            self.program.run(work, &around, position, values, None);
        }
        self.heed(user, position).await;
        ControlFlow::Continue(())
    }

    fn tell_time(&self, code: Option<&mut CodeUser>) {
        let unix_us = self.worker.net.unix_micros();
        code.into_iter().for_each(|code| code.place.unix_us = unix_us);
    }

    /// Does what programs have asked for: lines, a wait, another way.
    pub(super) async fn heed(&mut self, user: &mut User, position: &mut Position) {
        let Some(code) = user.client.values.as_mut().and_then(|values| values.code.as_mut()) else { return };
        for (serious, text) in code.lines.drain(..) {
            self.worker.account.tell(Event::Log { serious, text });
        }
        let pause = std::mem::take(&mut code.pause);
        let flow = code.flow.take();
        if !pause.is_zero() {
            self.wait(position, self.worker.net.now() + pause).await;
        }
        if let Some(flow) = flow {
            self.program.lead(flow, position);
        }
    }

    /// A program that is timed and counted like a request. A wait that it asks for is a part of it.
    async fn sample(&mut self, user: &mut User, position: &mut Position, work: &CodeWork, turn: ClientTurn) {
        let around = self.around(user);
        let values = user.client.values.get_or_insert_default();
        self.tell_time(values.code.as_deref_mut());
        let began = self.worker.net.now();
        let title = self.program.title(work, &around, position, values);
        let mut own = Sample {
            label: title.unwrap_or_else(|| work.name.clone()),
            code: "200".to_owned(),
            message: "OK".to_owned(),
            success: true,
            began_ms: self.worker.net.unix_micros() / 1000,
            ..Sample::default()
        };
        let ran = self.program.run(work, &around, position, values, Some(&mut own));
        match ran.failed {
            Some(refusal) => {
                (own.success, own.is_edited) = (false, true);
                (own.code, own.message) = ("500".to_owned(), refusal.text);
            }
            None => own.body = own.body.or(ran.value),
        }
        let pause = values.code.as_mut().map_or(Duration::ZERO, |code| std::mem::take(&mut code.pause));
        if !pause.is_zero() {
            let until = self.work.phase.ends_before(self.worker.net.now() + pause);
            self.worker.net.sleep_until(until).await;
        }
        let ended = self.worker.net.now();
        let took = ended.saturating_duration_since(began);
        own.times = SampleTimes { elapsed: took, ..own.times };
        own.bytes.1 = own.body.as_ref().map_or(0, |body| body.len() as u64);
        let Some(code) = values.code.as_mut() else { return };
        code.last = Some(own);
        let wrong = self.program.after(work, took, values);
        let good = values.code.as_ref().and_then(|code| code.last.as_ref()).is_none_or(|last| last.success);
        let good = good && wrong.is_none();
        self.count(user, work, turn, began, ended, good);
        (self.at, self.did) = (ended, true);
        position.last = Last { failed: !good, status: 0, took };
        if !good {
            self.program.failed(position);
        }
    }

    /// Counts a sample, and tells a record of it; not of one that its program has dropped.
    fn count(
        &self,
        user: &User,
        work: &CodeWork,
        turn: ClientTurn,
        began: Instant,
        ended: Instant,
        good: bool,
    ) {
        let account = &self.worker.account;
        let last = user.client.values.as_ref().and_then(|values| values.code.as_ref()?.last.as_ref());
        let Some(last) = last.filter(|last| !last.ignored) else { return };
        let outcome = match good {
            true => Outcome::Ok,
            false => Outcome::Failed(Failure::new(FailureKind::Script, Stage::Body)),
        };
        let took = ended.saturating_duration_since(began);
        account.begin(turn.due);
        account.end(&Exchange {
            service: took,
            response: ended.saturating_duration_since(turn.due),
            body_bytes: last.bytes.1,
            label: work.sample,
            ..Exchange::new(outcome, account.since(turn.due))
        });
        if !self.worker.load.trace.requests {
            return;
        }
        account.show(Event::Request(Box::new(Record {
            number: turn.number,
            user: user.client.user,
            branch: user.client.branch,
            phase: account.phase(),
            label: work.sample,
            began: account.since(began),
            service: took,
            body_bytes: last.bytes.1,
            group: self.work.phase.group,
            present: self.worker.present(self.work.phase.group),
            remark: Some(Box::new(remark(last))),
            contents: contents(&self.worker.load.trace, good, user.client.values.as_deref(), || Contents {
                request: last.request_body.clone(),
                body: last.body.as_ref().map_or(Vec::new(), Clone::clone),
                ..Contents::default()
            }),
            ..Record::new(outcome)
        })));
    }
}

fn remark(sample: &Sample) -> Remark {
    Remark {
        label: Some(sample.label.clone()),
        code: Some(sample.code.clone()),
        message: Some(sample.message.clone()),
        ignored: sample.ignored,
        failed: sample.failed.clone(),
    }
}
