//! One walk of a user through its journey.

use super::phase::PhaseWork;
use super::user::User;
use crate::control::Lock;
use crate::exchange::{Busy, ClientTurn, Context, Worker};
use crate::program::{Around, Last, MeetingWork, Next, Position, Program};
use measure::Event;
use plan::Flow;
use plan::data::Moment;
use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two looks at a barrier.
const LOOK_UP: Duration = Duration::from_millis(1);

/// After a walk that neither sent nor waited, so that the worker gets to do other things.
const NOTHING_DONE: Duration = Duration::from_millis(1);

/// A walk under way.
pub(super) struct Walk<'a> {
    pub worker: &'a Rc<Worker>,
    pub work: &'a Rc<PhaseWork>,
    pub program: &'a Program,
    /// The first turn, where a schedule has said it, until it is taken.
    pub first: &'a Cell<Option<ClientTurn>>,
    /// Where the user has come to in time: when the last request ended, or the last wait.
    pub at: Instant,
    /// It has sent something, or waited.
    pub did: bool,
}

impl User {
    /// Walks through a journey once. `turn`: the number and the moment of its first request, where a schedule has said them.
    pub(super) async fn walk(
        &mut self,
        worker: &Rc<Worker>,
        work: &Rc<PhaseWork>,
        program: &Program,
        turn: Option<ClientTurn>,
    ) {
        let _busy = Busy::new(worker);
        if self.turns > 0 {
            self.forget(program.keep);
        }
        let mut position = self.position.take().unwrap_or_default();
        program.begin(&mut position);
        let at = turn.map_or_else(|| worker.net.now(), |turn| turn.due);
        let walk = Walk { worker, work, program, first: &Cell::new(turn), at, did: false };
        walk.run(self, &mut position).await;
        self.position = Some(position);
    }

    fn forget(&mut self, keep: plan::Keep) {
        if !keep.connections {
            self.client.slot.forget();
            self.client.slot.tls = None;
            self.branches = None;
        }
        self.memory.iter().for_each(|memory| memory.forget(keep));
    }
}

impl Walk<'_> {
    async fn run(mut self, user: &mut User, position: &mut Position) {
        self.watch(user);
        self.go(user, position).await;
        if !self.did {
            self.worker.net.sleep(NOTHING_DONE).await;
        }
    }

    /// Goes on until the walk is over, or the branch.
    pub(super) async fn go(&mut self, user: &mut User, position: &mut Position) {
        loop {
            let around = self.around(user);
            let values = user.client.values.get_or_insert_default();
            match self.program.next(&around, position, values) {
                Next::Over => break,
                Next::Stop(flow) => {
                    self.stop(flow);
                    user.ended = true;
                    break;
                }
                Next::Began(mark) => self.mark(user, mark, None),
                Next::Ended(mark, good, took) => {
                    self.worker.account.transaction(mark.label, good, took);
                    self.mark(user, mark, Some(took));
                }
                Next::Run(work) => {
                    if self.run_program(user, position, work).await.is_break() {
                        user.ended = true;
                        break;
                    }
                }
                Next::Lock(lock) => self.lock(position, lock).await,
                Next::Together(work) => {
                    // On the heap, and without its type, which holds that of this walk.
                    let branches: Pin<Box<dyn Future<Output = ()> + '_>> =
                        Box::pin(self.together(user, position, work));
                    branches.await;
                    if user.ended {
                        break;
                    }
                }
                Next::Log(text) => self.worker.account.tell(Event::Log { serious: false, text }),
                Next::Yield => self.wait(position, self.worker.net.now()).await,
                Next::Pause(time) => self.wait(position, self.worker.net.now() + time).await,
                Next::Until(moment) => self.wait(position, moment).await,
                Next::Meet(meeting) => self.meet(position, meeting).await,
                Next::Send(step) => {
                    let Some(turn) = self.turn(user, self.first.take()) else {
                        user.ended = true;
                        break;
                    };
                    self.send(user, position, step, turn).await;
                }
            }
            if self.worker.over(&self.work.phase, self.at) {
                user.ended = true;
                break;
            }
        }
    }

    pub(super) fn around(&self, user: &User) -> Around {
        let worker = self.worker;
        let phase = &self.work.phase;
        let moment = Context { worker, phase }.moment(user.turns, user.client.user);
        let unix_us = if self.program.tells_time { worker.net.unix_micros_at(self.at) } else { 0 };
        Around {
            user: user.client.user,
            worker: worker.part.index,
            users: u64::from(self.work.users.get()) * u64::from(phase.part.of),
            opens: phase.opens,
            now: self.at,
            moment: Moment { unix_us, ..moment },
        }
    }

    /// The number of the next request; `None` where there is to be none.
    pub(super) fn turn(&self, user: &User, first: Option<ClientTurn>) -> Option<ClientTurn> {
        if user.ends.is_some_and(|ends| self.at >= ends) {
            return None;
        }
        let number = || self.worker.next_number(&self.work.phase, self.at);
        first.or_else(|| Some(ClientTurn { number: number()?, due: self.at, lateness: None }))
    }

    async fn send(&mut self, user: &mut User, position: &mut Position, step: usize, turn: ClientTurn) {
        // On the heap, so that users who wait need no room for it.
        Box::pin(user.send(self.worker, self.work, step, turn)).await;
        let ended = user.client.ended.unwrap_or_else(|| self.worker.net.now());
        let took = ended.saturating_duration_since(turn.due);
        position.last = Last { failed: user.client.failed, status: user.client.status, took };
        (self.at, self.did) = (ended, true);
        if user.client.failed {
            if user.client.refusals > 0 {
                // A target that refuses is not hammered, whatever the journey goes on with.
                self.worker.net.sleep(user.pause(self.worker.load.limits.pause)).await;
            }
            self.program.failed(position);
        }
        self.heed(user, position).await;
    }

    /// Waits for a lock, at most until the end of the phase.
    async fn lock(&mut self, position: &mut Position, lock: &Arc<Lock>) {
        let net = &self.worker.net;
        loop {
            if let Some(held) = lock.take() {
                self.waited(position);
                return self.program.hold(held, position, self.at);
            }
            if self.worker.over(&self.work.phase, net.now()) {
                return;
            }
            net.sleep(LOOK_UP).await;
        }
    }

    /// Waits until a moment, at most until the end of the phase.
    pub(super) async fn wait(&mut self, position: &mut Position, until: Instant) {
        self.worker.net.sleep_until(self.work.phase.ends_before(until)).await;
        self.waited(position);
    }

    pub(super) fn waited(&mut self, position: &mut Position) {
        let now = self.worker.net.now();
        position.paused(now.saturating_duration_since(self.at));
        (self.at, self.did) = (now, true);
    }

    async fn meet(&mut self, position: &mut Position, barrier: &MeetingWork) {
        let net = &self.worker.net;
        let gives_up = barrier.timeout.map(|timeout| net.now() + timeout);
        let of = barrier.users.unwrap_or(self.work.phase.max_users);
        if let Some(number) = barrier.meeting.arrive(of) {
            while !barrier.meeting.is_over(number) {
                let now = net.now();
                if gives_up.is_some_and(|gives_up| now >= gives_up) || self.worker.over(&self.work.phase, now)
                {
                    barrier.meeting.leave(number);
                    break;
                }
                net.sleep(LOOK_UP).await;
            }
        }
        self.waited(position);
    }

    pub(super) fn stop(&self, flow: Flow) {
        match flow {
            Flow::StopRun => self.worker.control.stop(),
            Flow::StopNow => self.worker.control.stop_now(),
            Flow::NextIteration | Flow::NextRound | Flow::BreakLoop | Flow::StopUser => {}
        }
    }
}
