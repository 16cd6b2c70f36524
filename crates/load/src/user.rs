//! Users: a virtual client walks the steps of a scenario, one request after the other.
//!
//! Under a closed pace each user begins its next request when the last one has ended. Under an open pace one task
//! watches the schedule and hands each request that is due to an idle user, or to a new one.

use crate::connection::Connection;
use crate::exchange::{self, Turn};
use crate::pace::Schedule;
use crate::worker::{PhaseWork, StepWork, Worker};
use net::{Event as Signal, TaskId};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What a user keeps from one request to the next.
#[derive(Default)]
pub(crate) struct User {
    pub connection: Option<Connection>,
    /// What begins TLS, with this user's memory of earlier connections.
    pub tls: Option<wire::tls::Client>,
    /// The path last asked for.
    pub path: Vec<u8>,
    /// The head of the last answer, where evidence may be wanted.
    pub answer_head: Vec<u8>,
    /// Connections that could not be opened, or ended without a byte of an answer, one after the other.
    pub refusals: u32,
    /// When the last request ended, where it got as far as being sent.
    pub ended: Option<Instant>,
    /// The step that comes next.
    step: usize,
}

/// Longest pause of a user whom the target refuses.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

impl User {
    /// How long to wait before the next try, so that a target that refuses is not hammered.
    pub fn pause(&self) -> Duration {
        Duration::from_millis(1 << self.refusals.min(7)).min(LONGEST_PAUSE)
    }

    /// Does the next step.
    async fn request(&mut self, worker: &Rc<Worker>, work: &Rc<PhaseWork>, turn: Turn) {
        let step = self.step;
        self.step = (step + 1) % work.steps.len();
        match &work.steps[step] {
            StepWork::Object(laws) => exchange::object(worker, work, self, laws, turn).await,
            StepWork::Urls(frontier) => exchange::url(worker, self, frontier, turn).await,
            StepWork::Requests(requests) => {
                exchange::request(worker, work, self, requests.at(turn.number), turn).await;
            }
        }
        if self.refusals > 0 && turn.lateness.is_none() {
            worker.net.sleep(self.pause()).await;
            // Nobody meant to send meanwhile.
            self.ended = None;
        }
    }
}

/// Closed pace: `users` users until there is nothing more to begin.
pub(crate) async fn run_closed(worker: &Rc<Worker>, work: &Rc<PhaseWork>, users: u32) -> Vec<TaskId> {
    let mut tasks: Vec<TaskId> = (0..users).map(|_| spawn_closed(worker, work)).collect();
    while !finished(worker, work) {
        if worker.over(work, worker.net.now()) {
            break;
        }
        worker.net.sleep(Duration::from_millis(if work.users.get() == 0 { 1 } else { 10 })).await;
        // Links that were found meanwhile may have given work to users who had ended for want of it.
        let missing = users - work.users.get();
        if missing > 0 && waiting(work) > 0 {
            tasks.extend((0..missing.min(waiting(work))).map(|_| spawn_closed(worker, work)));
        }
    }
    tasks
}

/// Whether all users have ended and nothing is left to fetch.
fn finished(worker: &Worker, work: &PhaseWork) -> bool {
    work.users.get() == 0 && worker.in_flight.get() == 0 && waiting(work) == 0
}

/// URLs that wait to be fetched, and may be.
fn waiting(work: &PhaseWork) -> u32 {
    if work.is_spent() {
        return 0;
    }
    let waiting = work.steps.iter().map(|step| match step {
        StepWork::Object(_) | StepWork::Requests(_) => 0,
        StepWork::Urls(frontier) => frontier.waiting(),
    });
    waiting.sum()
}

/// Whether the scenario comes to the end of its lists, with so many requests that were handed out and have not begun.
fn exhausted(work: &PhaseWork, handed: u32) -> bool {
    work.steps.iter().any(|step| match step {
        StepWork::Object(_) => false,
        StepWork::Urls(frontier) => frontier.exhausted_after(handed),
        StepWork::Requests(requests) => requests.is_empty(),
    })
}

fn spawn_closed(worker: &Rc<Worker>, work: &Rc<PhaseWork>) -> TaskId {
    let (worker, work) = (worker.clone(), work.clone());
    work.users.set(work.users.get() + 1);
    worker.net.clone().spawn(async move {
        let mut user = User::default();
        let mut due = worker.net.now();
        while !exhausted(&work, 0)
            && let Some(number) = worker.next_number(&work, due)
        {
            user.request(&worker, &work, Turn { number, due, lateness: None }).await;
            // The next request is meant to go out when the last one has ended.
            due = user.ended.take().unwrap_or_else(|| worker.net.now());
        }
        work.users.set(work.users.get() - 1);
        work.user_ended.set();
    })
}

/// A request that is due, in the hands of a user.
type Handed = Rc<(Cell<Option<(u64, Instant)>>, Signal)>;

/// The users of an open pace.
#[derive(Default)]
struct Pool {
    idle: RefCell<Vec<Handed>>,
    tasks: RefCell<Vec<TaskId>>,
    /// Requests that were handed out and have not begun.
    handed: Cell<u32>,
}

/// Open pace: requests are sent when they are due, by at most `in_flight` users.
pub(crate) async fn run_open(
    worker: &Rc<Worker>,
    work: &Rc<PhaseWork>,
    schedule: Schedule,
    in_flight: u32,
) -> Vec<TaskId> {
    let pool = Rc::new(Pool::default());
    let begin = worker.net.now();
    for at in schedule {
        let due = begin + at;
        if work.is_spent() || !wait_until(worker, work, due).await {
            break;
        }
        if exhausted(work, pool.handed.get()) {
            // What is under way may lead on. A moment that comes meanwhile passes unused, and no request is counted.
            if worker.in_flight.get() == 0 && pool.handed.get() == 0 {
                break;
            }
            continue;
        }
        // What cannot be sent takes no number, so that the stream of requests has no holes.
        let Some(user) = free_user(worker, work, &pool, in_flight) else {
            worker.count(|counts| counts.overflow += 1);
            continue;
        };
        let Some(number) = worker.next_number(work, due) else { break };
        pool.handed.set(pool.handed.get() + 1);
        user.0.set(Some((number, due)));
        user.1.set();
    }
    while pool.handed.get() > 0 {
        worker.net.sleep(Duration::from_millis(1)).await;
    }
    pool.tasks.take()
}

/// Waits for a moment, looking up now and then whether the phase is over; false if it is.
async fn wait_until(worker: &Worker, work: &PhaseWork, due: Instant) -> bool {
    const LOOK_UP: Duration = Duration::from_millis(20);
    loop {
        let now = worker.net.now();
        if worker.over(work, now) {
            return false;
        }
        if now >= due {
            return true;
        }
        worker.net.sleep_until(due.min(now + LOOK_UP)).await;
    }
}

/// An idle user, or a new one; `None` where there may be no more.
fn free_user(worker: &Rc<Worker>, work: &Rc<PhaseWork>, pool: &Rc<Pool>, most: u32) -> Option<Handed> {
    let idle = pool.idle.borrow_mut().pop();
    let room = (pool.tasks.borrow().len() as u32) < most;
    idle.or_else(|| room.then(|| spawn_open(worker, work, pool)))
}

fn spawn_open(worker: &Rc<Worker>, work: &Rc<PhaseWork>, pool: &Rc<Pool>) -> Handed {
    let hands: Handed = Rc::new((Cell::new(None), worker.net.event()));
    let (worker, work, pool_of_user, mine) = (worker.clone(), work.clone(), pool.clone(), hands.clone());
    let task = worker.net.clone().spawn(async move {
        let mut user = User::default();
        loop {
            mine.1.wait().await;
            let Some((number, due)) = mine.0.take() else { continue };
            pool_of_user.handed.set(pool_of_user.handed.get() - 1);
            let lateness = Some(worker.net.now().saturating_duration_since(due));
            user.request(&worker, &work, Turn { number, due, lateness }).await;
            pool_of_user.idle.borrow_mut().push(mine.clone());
        }
    });
    pool.tasks.borrow_mut().push(task);
    hands
}
