//! The worker: what one thread's run is made of, and how a task of it is polled.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use crate::backend::{Driver, Rest};
use crate::buffer::Pool;
use crate::clock::WallClock;
use crate::lookup::Lookups;
use crate::options::Limits;
use crate::standstills::{LEAST, Standstills};
use crate::tasks::{TaskId, Tasks};
use crate::turn::Turn;
use crate::usage::Usage;

type PanicHook = Rc<dyn Fn(&str)>;

pub(crate) struct Worker {
    pub(crate) driver: Driver,
    pub(crate) turn: Rc<Turn>,
    pub(crate) lookups: Lookups,
    pub(crate) tasks: RefCell<Tasks>,
    pub(crate) wall_clock: WallClock,
    pub(crate) standstills: Standstills,
    /// Who is told that a task has panicked.
    pub(crate) panic_hook: RefCell<Option<PanicHook>>,
    /// Hosts that may be connected to beside loopback addresses; none: any.
    pub(crate) hosts: OnceCell<Arc<[IpAddr]>>,
}

impl Worker {
    pub(crate) fn new(driver: Driver, pool: Rc<Pool>, limits: &Limits) -> Self {
        Self {
            turn: Turn::new(pool, limits, driver.now()),
            wall_clock: driver.wall_clock(),
            driver,
            standstills: Standstills::default(),
            lookups: Lookups::default(),
            tasks: RefCell::default(),
            panic_hook: RefCell::default(),
            hosts: OnceCell::new(),
        }
    }

    pub(crate) fn poll_task(&self, id: TaskId) {
        let Some(mut task) = self.tasks.borrow_mut().take(id) else {
            return;
        };
        // After a panic the task is dropped unpolled, so nobody sees what the panic has left half done.
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll(id, task.as_mut()).is_ready()));
        let mut tasks = self.tasks.borrow_mut();
        let left_over = match polled {
            Ok(false) => tasks.put_back(id, task),
            Ok(true) | Err(_) => tasks.remove(id).or(Some(task)),
        };
        drop(tasks);
        // Dropping runs the task's own code, which may spawn, cancel and close: no borrow may be held.
        drop(left_over);
        if let Err(panic) = polled {
            self.tell_panic(panic);
        }
    }

    pub(crate) fn poll<T>(
        &self,
        id: TaskId,
        future: Pin<&mut (impl Future<Output = T> + ?Sized)>,
    ) -> Poll<T> {
        self.turn.begin_poll(id);
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[cold]
    fn tell_panic(&self, panic: Box<dyn Any + Send>) {
        let hook = self.panic_hook.borrow().clone();
        match hook {
            Some(hook) => hook(panic_text(&*panic)),
            None => resume_unwind(panic),
        }
    }

    pub(crate) fn rest(&self) -> Rest {
        if !self.turn.is_over() {
            return Rest::None;
        }
        match self.turn.timers.borrow_mut().earliest() {
            Some(at) => Rest::Until(at, self.turn.read()),
            None => Rest::Forever,
        }
    }

    /// When a wait that begins now is to end at the latest. What was done since the last one is part of it: a worker may as well stand
    /// still in the middle of that.
    pub(crate) fn wait_ends(&self, rest: &Rest) -> Option<Instant> {
        let began = self.turn.began();
        let looks = self.driver.longest_wait().map(|longest| began + longest);
        rest.ends(began).into_iter().chain(looks).min()
    }

    /// A wait has returned that was to end at this moment at the latest. One that is over much later has stood still, at some time since
    /// the wait before returned: all of that is taken for it, as nobody saw when it began. Nor was anybody waited for meanwhile.
    pub(crate) fn note_standstill(&self, due: Option<Instant>, now: Instant) {
        let before = self.turn.began();
        let passed = now.saturating_duration_since(before);
        if passed >= LEAST && due.is_some_and(|due| now.saturating_duration_since(due.max(before)) >= LEAST) {
            self.standstills.add(self.wall_clock.unix_micros_at(now), passed);
            self.driver.postpone(passed);
        }
    }

    /// Drops all tasks where they stand, those included that are spawned by dropping others.
    pub(crate) fn drop_tasks(&self) {
        loop {
            let tasks = self.tasks.borrow_mut().remove_all();
            if tasks.is_empty() {
                return;
            }
            drop(tasks);
        }
    }

    /// True if a connection may go there.
    pub(crate) fn may_reach(&self, host: IpAddr) -> bool {
        let host = host.to_canonical();
        self.hosts.get().is_none_or(|hosts| host.is_loopback() || hosts.contains(&host))
    }

    pub(crate) fn usage(&self) -> Usage {
        let turn = &self.turn;
        let shortages = self.driver.shortages();
        Usage {
            turns: turn.counters.turns.get(),
            polls: turn.counters.polls.get(),
            recv_calls: turn.counters.recv_calls.get(),
            send_calls: turn.counters.send_calls.get(),
            alarms: self.driver.alarms(),
            buffer_shortages: shortages.buffers,
            completion_overflows: shortages.completions,
            open_sockets: self.driver.open_sockets(),
            tasks: self.tasks.borrow().len(),
            buffers_outstanding: turn.pool.outstanding(),
        }
    }
}

/// The words of a panic, where it has any.
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without words")
}
