//! Branches of a user, walked at once within the user's one task.

use super::phase::StepWork;
use super::user::User;
use super::walk::Walk;
use crate::channel::Slot;
use crate::exchange::Client;
use crate::program::{Position, TogetherWork};
use crate::request::Slots;
use crate::session::{self, together};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// A branch of a user: one more user with the same number and memory, whose values and counts are its own until it ends.
struct Branch {
    number: u32,
    user: User,
    position: Position,
}

impl<'a> Walk<'a> {
    /// Walks all branches, and takes over what has come of them.
    pub(super) async fn together(&mut self, user: &mut User, position: &mut Position, work: &TogetherWork) {
        self.remember(user, work);
        let branches = position.branches(work).into_iter();
        let branches = branches.map(|(number, position)| self.branch(user, number, position));
        let waiting = RefCell::new(branches.collect::<VecDeque<Branch>>());
        let ended = RefCell::new(Vec::new());
        let at = Cell::new(self.at);
        let did = Cell::new(self.did);
        let walk = &*self;
        let walkers = (0..work.at_once).map(|_| async {
            let mut own = walk.beside();
            loop {
                let Some(mut branch) = waiting.borrow_mut().pop_front() else { break };
                own.go(&mut branch.user, &mut branch.position).await;
                // What ends more than this user does so at once.
                branch.position.leads_out().into_iter().for_each(|flow| own.stop(flow));
                ended.borrow_mut().push(branch);
            }
            at.set(at.get().max(own.at));
            did.set(did.get() || own.did);
        });
        together::all(walkers.collect()).await;
        let mut ended = ended.into_inner();
        ended.sort_by_key(|branch| branch.number);
        (self.at, self.did) = (at.get(), did.get());
        self.join(user, position, work, ended);
    }

    /// The memory that branches share is made before they begin.
    fn remember(&self, user: &mut User, work: &TogetherWork) {
        let session = self.work.steps[work.sends.clone()].iter().find_map(|step| match step {
            StepWork::Requests(_, session) => session.as_deref(),
            StepWork::Object(_) | StepWork::Urls(_) | StepWork::Script(_) | StepWork::Messages(_) => None,
        });
        if let Some(session) = session {
            session::remember(&mut user.memory, session, user.client.user);
        }
    }

    /// A walk that begins where this one has come to.
    fn beside(&self) -> Walk<'a> {
        let Walk { worker, work, program, first, at, .. } = *self;
        Walk { worker, work, program, first, at, did: false }
    }

    fn branch(&self, of: &mut User, number: u32, position: Position) -> Branch {
        let mut client = Client {
            branch: number,
            refusals: of.client.refusals,
            failed: of.client.failed,
            status: of.client.status,
            values: of.client.values.as_ref().map(|values| Box::new(values.branched(number))),
            ..Client::new(of.client.user)
        };
        if let Some(slot) = of.branches.as_mut().and_then(|slots| slots.remove(&number)) {
            client.slot = slot;
        }
        let mut user = User::new(of.client.user, self.at);
        user.client = client;
        user.memory.clone_from(&of.memory);
        (user.turns, user.ends) = (of.turns, of.ends);
        Branch { number, user, position }
    }

    /// All branches have ended, here in the order of the plan.
    fn join(&self, user: &mut User, position: &mut Position, work: &TogetherWork, ended: Vec<Branch>) {
        let began = user.client.values.as_ref().map_or_else(Slots::default, |values| values.slots.clone());
        let turns = user.turns;
        let mut positions = Vec::new();
        user.client.refusals = 0;
        for Branch { number, user: branch, position } in ended {
            let Client { slot, refusals, failed, status, ended, values, .. } = branch.client;
            keep(user, number, slot);
            user.turns += branch.turns - turns;
            user.ended |= branch.ended;
            let client = &mut user.client;
            client.refusals = client.refusals.max(refusals);
            client.ended = client.ended.max(ended);
            if ended.is_some() {
                (client.failed, client.status) = (failed, status);
            }
            if let (Some(own), Some(values)) = (&mut client.values, values) {
                own.join(&began, *values);
            }
            positions.push(position);
        }
        self.program.join(work, position, &positions);
    }
}

/// Keeps the connection of a branch for the next time.
fn keep(user: &mut User, number: u32, slot: Slot) {
    if !slot.is_empty() || slot.tls.is_some() {
        user.branches.get_or_insert_default().insert(number, slot);
    }
}
