//! [`Turn`]: what tasks, sockets and timers of a worker share: which task is polled now, what it may still complete, and
//! which tasks are to be polled next.
//!
//! It must not know sockets or how the worker waits; whoever waits for something leaves [`Turn::current`] as the one to poll.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Instant;

use crate::buffer::Pool;
use crate::options::Limits;
use crate::tasks::TaskId;
use crate::timers::Timers;
use crate::usage::{Counters, count};

pub(crate) struct Turn {
    pub(crate) timers: RefCell<Timers>,
    pub(crate) pool: Rc<Pool>,
    pub(crate) counters: Counters,
    /// To be polled in this turn.
    ready: RefCell<VecDeque<TaskId>>,
    /// Tasks that used up their budget: to be polled once the others had theirs.
    yielded: RefCell<Vec<TaskId>>,
    current: Cell<TaskId>,
    /// Completions that the current poll may still have.
    budget: Cell<u32>,
    completions_per_poll: u32,
    began: Cell<Instant>,
    /// The clock as it was read last.
    read: Cell<Instant>,
    /// How often that reading has been used since.
    uses: Cell<u32>,
}

/// Uses of one reading of the clock, at most: a few short polls follow each other within it.
const USES_OF_A_READING: u32 = 8;

impl Turn {
    pub(crate) fn new(pool: Rc<Pool>, limits: &Limits, now: Instant) -> Rc<Self> {
        Rc::new(Self {
            timers: RefCell::default(),
            pool,
            counters: Counters::default(),
            ready: RefCell::default(),
            yielded: RefCell::default(),
            current: Cell::new(TaskId::MAIN),
            budget: Cell::new(0),
            completions_per_poll: limits.completions_per_poll.max(1),
            began: Cell::new(now),
            read: Cell::new(now),
            uses: Cell::new(0),
        })
    }

    /// A wait has returned.
    pub(crate) fn begin(&self, now: Instant) {
        count(&self.counters.turns);
        self.began.set(now);
        self.note_clock(now);
    }

    /// The clock was read, or may have been: an older reading changes nothing.
    pub(crate) fn note_clock(&self, now: Instant) {
        if now > self.read.get() {
            self.read.set(now);
            self.uses.set(0);
        }
    }

    /// The last reading of the clock, however long ago.
    pub(crate) fn read(&self) -> Instant {
        self.read.get()
    }

    /// Time has passed since the clock was read.
    pub(crate) fn spend(&self) {
        self.uses.set(USES_OF_A_READING);
    }

    /// The last reading of the clock, unless it has been used often enough.
    pub(crate) fn recent(&self) -> Option<Instant> {
        let uses = self.uses.get();
        (uses < USES_OF_A_READING).then(|| {
            self.uses.set(uses + 1);
            self.read.get()
        })
    }

    /// The monotonic clock as it was when this turn's wait returned.
    pub(crate) fn began(&self) -> Instant {
        self.began.get()
    }

    /// A task is about to be polled.
    pub(crate) fn begin_poll(&self, id: TaskId) {
        count(&self.counters.polls);
        self.current.set(id);
        self.budget.set(self.completions_per_poll);
    }

    /// The task being polled: whoever waits for something gives this as the one to poll.
    pub(crate) fn current(&self) -> TaskId {
        self.current.get()
    }

    /// Has a task polled in this turn.
    pub(crate) fn make_ready(&self, id: TaskId) {
        self.ready.borrow_mut().push_back(id);
    }

    /// The next task to be polled in this turn.
    pub(crate) fn next_ready(&self) -> Option<TaskId> {
        self.ready.borrow_mut().pop_front()
    }

    /// Lets the tasks have their turn that made room for others.
    pub(crate) fn readmit_yielded(&self) {
        self.ready.borrow_mut().extend(self.yielded.borrow_mut().drain(..));
    }

    /// True if no task is to be polled before the next wait.
    pub(crate) fn is_over(&self) -> bool {
        self.ready.borrow().is_empty() && self.yielded.borrow().is_empty()
    }

    /// Takes one completion from the current poll's budget. When there is none left, the task is polled again later and
    /// the operation returns `Pending` now.
    pub(crate) fn may_complete(&self) -> bool {
        let left = self.budget.get();
        if left == 0 {
            self.yielded.borrow_mut().push(self.current());
            return false;
        }
        self.budget.set(left - 1);
        true
    }
}
