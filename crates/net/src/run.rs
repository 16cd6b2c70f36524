//! The loop of a worker.
//!
//! One turn: wait for events; poll the task of each socket that has one; poll the tasks of due timers; poll what became
//! ready meanwhile (new tasks, raised signals). It must not know how the backend learns of events.
//!
//! Start reading at [`run`], then `Runner::drive`.

use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::time::Instant;

use crate::backend::{Driver, Happened, Occurrences};
use crate::buffer::Pool;
use crate::handle::Net;
use crate::options::{Io, Limits};
use crate::tasks::TaskId;
use crate::worker::Worker;

/// Polls of ready tasks between two waits at most, so that tasks which keep waking each other leave room for I/O.
const READY_POLLS_MAX: usize = 4096;

/// In a long batch of events, due timers are looked for after this many of them, and what is to be sent is handed over: else
/// a request would wait for the others of its batch, and its latency would show that.
const EVENTS_BETWEEN_TIMERS: usize = 16;

/// Tries whether a worker could use this system interface here.
///
/// # Errors
///
/// It could not; the text says why, and what else would do.
pub fn probe(io: Io) -> io::Result<()> {
    let limits = Limits::default();
    let pool = Pool::new(limits.buffer_bytes);
    Driver::new(io, &limits, &pool).map(drop)
}

/// Runs `main` and the tasks it spawns on this thread until `main` ends. The other tasks are then dropped where they
/// stand, and their sockets close.
///
/// A panic of `main` is passed on; that of a task too, unless [`Net::on_panic`] says what is to be done.
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
    let _end = NetEnd(&worker);
    let mut result = None;
    {
        // The loop is one, whatever the future: it is compiled here, as everything that is polled often.
        let main = pin!(async { result = Some(main(Net(worker.clone())).await) });
        let runner = Runner { worker: &worker, main, is_over: false };
        runner.drive(worker.driver.occurrences(&limits))?;
    }
    Ok(result.expect("the loop ends with the future"))
}

/// Drops the tasks when the run ends, by whatever way: they hold the worker, which holds them. Then what they had under way
/// in the kernel is ended.
struct NetEnd<'a>(&'a Worker);

impl Drop for NetEnd<'_> {
    fn drop(&mut self) {
        self.0.drop_tasks();
        self.0.driver.finish();
    }
}

/// The loop, and the main future, which alone may borrow from outside.
struct Runner<'a> {
    worker: &'a Worker,
    main: Pin<&'a mut dyn Future<Output = ()>>,
    is_over: bool,
}

impl Runner<'_> {
    fn drive(mut self, mut occurrences: Occurrences) -> io::Result<()> {
        let worker = self.worker;
        self.poll(TaskId::MAIN);
        loop {
            self.poll_ready();
            if self.is_over {
                return Ok(());
            }
            let rest = worker.rest();
            let due = worker.wait_ends(&rest);
            worker.driver.wait(&mut occurrences, rest)?;
            let now = worker.driver.now();
            worker.note_standstill(due, now);
            worker.turn.begin(now);
            self.handle(&occurrences);
            self.fire_timers(worker.turn.began());
            worker.driver.sweep(worker.turn.began(), |task| worker.turn.make_ready(task));
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
                Happened::WakesBoth(receives, sends) => {
                    self.poll(receives);
                    self.poll(sends);
                }
                Happened::Answers => worker.lookups.collect(&worker.turn),
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
        let earliest = self.worker.turn.timers.borrow_mut().earliest();
        if earliest.is_some() {
            self.fire_timers(self.worker.driver.now());
        }
    }

    fn fire_timers(&mut self, now: Instant) {
        self.worker.turn.note_clock(now);
        loop {
            let due = self.worker.turn.timers.borrow_mut().pop_due(now);
            match due {
                Some(task) => self.poll(task),
                None => return,
            }
        }
    }

    fn poll_ready(&mut self) {
        let turn = &self.worker.turn;
        if turn.is_over() {
            return;
        }
        turn.readmit_yielded();
        for _ in 0..READY_POLLS_MAX {
            match turn.next_ready() {
                Some(task) => self.poll(task),
                None => return,
            }
        }
    }

    fn poll(&mut self, id: TaskId) {
        if id != TaskId::MAIN {
            return self.worker.poll_task(id);
        }
        if !self.is_over {
            self.is_over = self.worker.poll(id, self.main.as_mut()).is_ready();
        }
    }
}
