//! The worker: one thread's tasks, timers and sockets, and the loop that turns them.
//!
//! One turn: wait for events; poll the task of each socket that has one; poll the tasks of due timers; poll what became
//! ready meanwhile (new tasks, raised signals). It must not know how the backend learns of events.
//!
//! Start reading at [`run`], then `Runner::drive`.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::backend::{Driver, Happened, Occurrences, Rest, Socket};
use crate::buffer::{Buffer, Pool};
use crate::clock::WallClock;
use crate::event::Event;
use crate::listener::{ListenOptions, Listener};
use crate::lookup::{self, Lookups};
use crate::stream::{ConnectOptions, Stream};
use crate::tasks::{TaskId, Tasks};
use crate::timers::{Sleep, Timers};
use crate::usage::{Counters, Usage, count};

/// Polls of ready tasks between two waits at most, so that tasks which keep waking each other leave room for I/O.
const READY_POLLS_MAX: usize = 4096;

/// In a long batch of events, due timers are looked for after this many of them, and what is to be sent is handed over: else
/// a request would wait for the others of its batch, and its latency would show that.
const EVENTS_BETWEEN_TIMERS: usize = 16;

/// Which system interface carries the I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Io {
    /// The best one that works here.
    #[default]
    Auto,
    /// Completion by io_uring.
    Uring,
    /// Readiness by epoll.
    Epoll,
}

impl fmt::Display for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Uring => "io_uring",
            Self::Epoll => "epoll",
        })
    }
}

/// Whether a worker could use this system interface here.
///
/// # Errors
///
/// It could not; the text says why, and what else would do.
pub fn probe(io: Io) -> io::Result<()> {
    let limits = Limits::default();
    let pool = Pool::new(limits.buffer_bytes);
    Driver::new(io, &limits, &pool).map(drop)
}

/// The bounds of one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of a fresh pooled buffer in bytes: about the most that one receive returns.
    pub buffer_bytes: usize,
    /// Events taken from the system per turn at most.
    pub events: usize,
    /// Operations that may complete at once within one poll of a task, before the other tasks get their turn.
    pub completions_per_poll: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { buffer_bytes: 64 * 1024, events: 1024, completions_per_poll: 64 }
    }
}

/// Runs `main` and the tasks it spawns on this thread until `main` ends. The other tasks are then dropped where they
/// stand, and their sockets close.
///
/// # Errors
///
/// The system interface cannot be set up, or its wait fails. What `main` returns is passed through.
pub fn run<T, F: Future<Output = T>>(io: Io, limits: Limits, main: impl FnOnce(Net) -> F) -> io::Result<T> {
    let pool = Pool::new(limits.buffer_bytes);
    let driver = Driver::new(io, &limits, &pool)?;
    run_on(driver, pool, limits, main)
}

/// The same on a driver that is there already.
pub(crate) fn run_on<T, F: Future<Output = T>>(
    driver: Driver,
    pool: Rc<Pool>,
    limits: Limits,
    main: impl FnOnce(Net) -> F,
) -> io::Result<T> {
    let worker = Rc::new(Worker::new(driver, pool, &limits));
    let _end = End(&worker);
    let main = pin!(main(Net(worker.clone())));
    let runner = Runner { worker: &worker, main, result: None };
    runner.drive(worker.driver.occurrences(&limits))
}

/// The handle of this thread's worker. Clones are cheap and name the same worker.
#[derive(Clone)]
pub struct Net(pub(crate) Rc<Worker>);

impl Net {
    /// The system interface in use, for reports: `"io_uring"` or `"epoll"`.
    pub fn backend(&self) -> &'static str {
        self.0.driver.name()
    }

    /// Starts a task. It is polled for the first time in this turn, after the caller.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) -> TaskId {
        let id = self.0.tasks.borrow_mut().insert(Box::pin(task));
        self.0.make_ready(id);
        id
    }

    /// Drops a task where it stands; a task that cancels itself is dropped when its current poll returns. A task that has
    /// ended is left in peace.
    pub fn cancel(&self, id: TaskId) {
        let task = self.0.tasks.borrow_mut().remove(id);
        drop(task);
    }

    /// The monotonic clock, read now.
    pub fn now(&self) -> Instant {
        self.0.now()
    }

    /// The monotonic clock as it was when this turn's wait returned. Costs nothing.
    pub fn turn(&self) -> Instant {
        self.0.turn()
    }

    /// Microseconds since the Unix epoch, derived from the monotonic clock: it never steps back.
    pub fn unix_micros(&self) -> u64 {
        self.0.wall_clock.unix_micros_at(self.now())
    }

    /// The same for a moment that was read before: no clock is read again.
    pub fn unix_micros_at(&self, at: Instant) -> u64 {
        self.0.wall_clock.unix_micros_at(at)
    }

    /// Waits until an instant, with microsecond resolution.
    pub fn sleep_until(&self, at: Instant) -> Sleep {
        Sleep::new(self.0.clone(), at)
    }

    /// Waits for a while from now, with microsecond resolution.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        self.sleep_until(self.now() + duration)
    }

    /// Opens a TCP connection.
    ///
    /// # Errors
    ///
    /// What the system says (refused, unreachable, no local port or descriptor left), or
    /// [`TimedOut`](io::ErrorKind::TimedOut) at the deadline.
    pub async fn connect(&self, to: SocketAddr, options: &ConnectOptions) -> io::Result<Stream> {
        Stream::connect(&self.0, to, options).await
    }

    /// Opens a connection to a Unix socket. It has no IP addresses: those it tells are unspecified.
    ///
    /// # Errors
    ///
    /// What the system says (no such file, refused, not allowed), or [`TimedOut`](io::ErrorKind::TimedOut) when its queue
    /// is full until the deadline.
    pub async fn connect_unix(&self, path: &Path, deadline: Option<Instant>) -> io::Result<Stream> {
        Stream::connect_unix(self, path, deadline).await
    }

    /// Listens for TCP connections; port 0 takes any free one.
    ///
    /// # Errors
    ///
    /// What the system says: the address is in use, is not of this machine, or is not allowed.
    pub fn listen(&self, at: SocketAddr, options: &ListenOptions) -> io::Result<Listener> {
        Ok(Listener::new(&self.0, Socket::listen(&self.0, at, options)?))
    }

    /// An empty pooled buffer to compose a message in.
    pub fn buffer(&self) -> Buffer {
        self.0.pool.take()
    }

    /// The addresses of a host, by the system's resolver on a helper thread. An IP address (IPv6 with or without brackets)
    /// is returned as it is.
    ///
    /// # Errors
    ///
    /// The resolver's; and [`NotFound`](io::ErrorKind::NotFound) for a name without an address.
    pub async fn lookup(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        lookup::lookup(&self.0, host, port).await
    }

    /// A signal between tasks of this worker.
    pub fn event(&self) -> Event {
        Event::new(&self.0)
    }

    /// What this worker did so far and what it holds now.
    pub fn usage(&self) -> Usage {
        self.0.usage()
    }
}

pub(crate) struct Worker {
    pub(crate) driver: Driver,
    pub(crate) timers: RefCell<Timers>,
    pub(crate) pool: Rc<Pool>,
    pub(crate) lookups: Lookups,
    pub(crate) counters: Counters,
    tasks: RefCell<Tasks>,
    /// To be polled in this turn.
    ready: RefCell<VecDeque<TaskId>>,
    /// Tasks that used up their budget: to be polled once the others had theirs.
    yielded: RefCell<Vec<TaskId>>,
    current: Cell<TaskId>,
    /// Completions that the current poll may still have.
    budget: Cell<u32>,
    completions_per_poll: u32,
    turn: Cell<Instant>,
    wall_clock: WallClock,
}

impl Worker {
    fn new(driver: Driver, pool: Rc<Pool>, limits: &Limits) -> Self {
        Self {
            turn: Cell::new(driver.now()),
            wall_clock: driver.wall_clock(),
            driver,
            timers: RefCell::default(),
            pool,
            lookups: Lookups::default(),
            counters: Counters::default(),
            tasks: RefCell::default(),
            ready: RefCell::default(),
            yielded: RefCell::default(),
            current: Cell::new(TaskId::MAIN),
            budget: Cell::new(0),
            completions_per_poll: limits.completions_per_poll.max(1),
        }
    }

    /// The task being polled: whoever waits for something gives this as the one to poll.
    pub(crate) fn current(&self) -> TaskId {
        self.current.get()
    }

    /// The monotonic clock, read now.
    pub(crate) fn now(&self) -> Instant {
        self.driver.now()
    }

    pub(crate) fn turn(&self) -> Instant {
        self.turn.get()
    }

    /// Has a task polled in this turn.
    pub(crate) fn make_ready(&self, id: TaskId) {
        self.ready.borrow_mut().push_back(id);
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

    fn poll_task(&self, id: TaskId) {
        let Some(mut task) = self.tasks.borrow_mut().take(id) else {
            return;
        };
        let ended = self.poll(id, task.as_mut()).is_ready();
        let mut tasks = self.tasks.borrow_mut();
        let left_over = match ended {
            true => tasks.remove(id).or(Some(task)),
            false => tasks.put_back(id, task),
        };
        drop(tasks);
        // Dropping runs the task's own code, which may spawn, cancel and close: no borrow may be held.
        drop(left_over);
    }

    fn poll<T>(&self, id: TaskId, future: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Poll<T> {
        count(&self.counters.polls);
        self.current.set(id);
        self.budget.set(self.completions_per_poll);
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    fn rest(&self) -> Rest {
        if !self.ready.borrow().is_empty() || !self.yielded.borrow().is_empty() {
            return Rest::None;
        }
        match self.timers.borrow_mut().earliest() {
            Some(at) => Rest::Until(at),
            None => Rest::Forever,
        }
    }

    fn begin_turn(&self) {
        count(&self.counters.turns);
        self.turn.set(self.now());
    }

    fn usage(&self) -> Usage {
        let shortages = self.driver.shortages();
        Usage {
            turns: self.counters.turns.get(),
            polls: self.counters.polls.get(),
            recv_calls: self.counters.recv_calls.get(),
            send_calls: self.counters.send_calls.get(),
            buffer_shortages: shortages.buffers,
            completion_overflows: shortages.completions,
            open_sockets: self.driver.open_sockets(),
            tasks: self.tasks.borrow().len(),
            buffers_outstanding: self.pool.outstanding(),
        }
    }
}

/// Drops the tasks when the run ends, by whatever way: they hold the worker, which holds them. Then what they had under way
/// in the kernel is ended.
struct End<'a>(&'a Worker);

impl Drop for End<'_> {
    fn drop(&mut self) {
        loop {
            let tasks = self.0.tasks.borrow_mut().remove_all();
            if tasks.is_empty() {
                break;
            }
            drop(tasks);
        }
        self.0.driver.finish();
    }
}

/// The loop, and the main future, which alone may borrow from outside.
struct Runner<'a, T, F> {
    worker: &'a Worker,
    main: Pin<&'a mut F>,
    result: Option<T>,
}

impl<T, F: Future<Output = T>> Runner<'_, T, F> {
    fn drive(mut self, mut occurrences: Occurrences) -> io::Result<T> {
        let worker = self.worker;
        self.poll(TaskId::MAIN);
        loop {
            self.poll_ready();
            if let Some(result) = self.result {
                return Ok(result);
            }
            worker.driver.wait(&mut occurrences, worker.rest())?;
            worker.begin_turn();
            self.handle(&occurrences);
            self.fire_timers(worker.turn());
            worker.driver.sweep(worker.turn(), |task| worker.make_ready(task));
        }
    }

    fn handle(&mut self, occurrences: &Occurrences) {
        match (&self.worker.driver, occurrences) {
            (Driver::Epoll(driver), Occurrences::Epoll(events)) => {
                self.handle_each(events.iter().map(|event| driver.note(event)));
            }
            (Driver::Uring(driver), Occurrences::Uring(completions)) => {
                self.handle_each(completions.noted_by(driver));
            }
            #[cfg(feature = "sim")]
            (Driver::Sim(driver), Occurrences::Sim(count)) => {
                self.handle_each((0..*count).map(|_| driver.note()));
            }
            _ => unreachable!("a driver is given what it made room for"),
        }
    }

    /// Polls for one event before the next is taken note of: what a task does may bear on the events behind its own.
    fn handle_each(&mut self, happenings: impl Iterator<Item = Happened>) {
        let worker = self.worker;
        for (number, happened) in happenings.enumerate() {
            match happened {
                Happened::Wakes(task) => self.poll(task),
                Happened::Answers => worker.lookups.collect(worker),
                Happened::Nothing => {}
            }
            if number % EVENTS_BETWEEN_TIMERS == EVENTS_BETWEEN_TIMERS - 1 {
                worker.driver.submit();
                self.fire_timers_mid_turn();
            }
        }
    }

    /// A turn of a thousand events takes milliseconds; a pace is judged in tens of microseconds.
    fn fire_timers_mid_turn(&mut self) {
        let earliest = self.worker.timers.borrow_mut().earliest();
        if earliest.is_some() {
            self.fire_timers(self.worker.now());
        }
    }

    fn fire_timers(&mut self, now: Instant) {
        loop {
            let due = self.worker.timers.borrow_mut().pop_due(now);
            match due {
                Some(task) => self.poll(task),
                None => return,
            }
        }
    }

    fn poll_ready(&mut self) {
        let worker = self.worker;
        worker.ready.borrow_mut().extend(worker.yielded.borrow_mut().drain(..));
        for _ in 0..READY_POLLS_MAX {
            let next = worker.ready.borrow_mut().pop_front();
            match next {
                Some(task) => self.poll(task),
                None => return,
            }
        }
    }

    fn poll(&mut self, id: TaskId) {
        if id != TaskId::MAIN {
            return self.worker.poll_task(id);
        }
        if self.result.is_none()
            && let Poll::Ready(result) = self.worker.poll(id, self.main.as_mut())
        {
            self.result = Some(result);
        }
    }
}
