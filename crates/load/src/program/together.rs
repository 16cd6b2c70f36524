//! Branches of a user: where each begins and ends, and what of them is the user's own once all have ended.

use super::{Open, Position, Program};
use plan::Flow;
use plan::draw::hash;
use std::cell::Cell;
use std::ops::Range;

/// Steps that a user walks at once.
pub(crate) struct TogetherWork {
    /// So many branches at once, at most.
    pub at_once: usize,
    /// The steps in them that send.
    pub sends: Range<usize>,
    pub(super) branches: Vec<BranchWork>,
    /// Behind all of them.
    pub(super) exit: usize,
}

/// One of the branches, from its first operation to the one that ends it.
pub(super) struct BranchWork {
    /// Its number in the scenario, from 1.
    pub number: u32,
    pub begin: usize,
    pub end: usize,
}

/// The branch that a position is in.
pub(super) struct BranchPlace {
    begin: usize,
    end: usize,
    /// The flow that has led out of it.
    leads_out: Option<Flow>,
    failed: bool,
}

impl BranchPlace {
    /// Notes that something in it has failed.
    pub fn fail(&mut self) {
        self.failed = true;
    }

    /// Returns the place where a branch ends that is led out of, to an operation; `None` where that is in it.
    pub fn left(&mut self, flow: Flow, to: usize) -> Option<usize> {
        if (self.begin..=self.end).contains(&to) {
            return None;
        }
        self.leads_out = Some(flow);
        Some(self.end)
    }
}

impl Position {
    /// The flow that has led out of the branch.
    pub fn leads_out(&self) -> Option<Flow> {
        self.branch.as_ref().and_then(|branch| branch.leads_out)
    }

    /// The positions of a user's branches, each with its number. Each has chance of its own, which follows from that of the user.
    pub fn branches(&self, work: &TogetherWork) -> Vec<(u32, Position)> {
        self.drawn.set(self.drawn.get() + 1);
        let branch = |branch: &BranchWork| {
            let place = BranchPlace { begin: branch.begin, end: branch.end, leads_out: None, failed: false };
            let position = Position {
                at: branch.begin,
                counters: self.counters.clone(),
                frames: self.frames.clone(),
                orders: self.orders.clone(),
                open: Vec::new(),
                unwind: None,
                stopping: None,
                // Half of the numbers, so that there is room to count on.
                drawn: Cell::new(hash(branch.number.into(), self.drawn.get()) / 2),
                iterations: self.iterations,
                last: self.last,
                branch: Some(Box::new(place)),
            };
            (branch.number, position)
        };
        work.branches.iter().map(branch).collect()
    }
}

impl Program {
    /// All branches have ended, here in the order of the plan: the user goes on behind them, or where the first of them leads.
    pub fn join(&self, work: &TogetherWork, position: &mut Position, branches: &[Position]) {
        let began = position.counters.clone();
        let last = position.last;
        for branch in branches {
            let counters = position.counters.iter_mut().zip(began.iter().zip(&branch.counters));
            counters.filter(|(_, (began, now))| began != now).for_each(|(own, (_, now))| *own = *now);
            if branch.last != last {
                position.last = branch.last;
            }
        }
        let mut places = branches.iter().filter_map(|branch| branch.branch.as_deref());
        if places.clone().any(|place| place.failed) {
            position.open.iter_mut().for_each(Open::fail);
        }
        position.at = work.exit;
        if let Some(flow) = places.find_map(|place| place.leads_out) {
            self.flow(flow, work.exit - 1, position);
        }
    }
}
