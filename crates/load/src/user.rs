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
    /// Connections that could not be opened, one after the other.
    pub refusals: u32,
    /// When the last request ended, where it got as far as being sent.
    pub ended: Option<Instant>,
    /// The step that comes next.
    step: usize,
}

/// Longest pause after a connection could not be opened.
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
        }
        if self.refusals > 0 && !turn.paced {
            worker.net.sleep(self.pause()).await;
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
        StepWork::Object(_) => 0,
        StepWork::Urls(frontier) => frontier.waiting(),
    });
    waiting.sum()
}

/// Whether the scenario has come to the end of its lists.
fn exhausted(work: &PhaseWork) -> bool {
    work.steps.iter().any(|step| matches!(step, StepWork::Urls(frontier) if frontier.exhausted()))
}

fn spawn_closed(worker: &Rc<Worker>, work: &Rc<PhaseWork>) -> TaskId {
    let (worker, work) = (worker.clone(), work.clone());
    work.users.set(work.users.get() + 1);
    worker.net.clone().spawn(async move {
        let mut user = User::default();
        let mut due = worker.net.now();
        while !exhausted(&work)
            && let Some(number) = worker.next_number(&work, due)
        {
            user.request(&worker, &work, Turn { number, due, paced: false }).await;
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
struct Pool {
    idle: RefCell<Vec<Handed>>,
    tasks: RefCell<Vec<TaskId>>,
}

/// Open pace: requests are sent when they are due, by at most `in_flight` users.
pub(crate) async fn run_open(
    worker: &Rc<Worker>,
    work: &Rc<PhaseWork>,
    schedule: Schedule,
    in_flight: u32,
) -> Vec<TaskId> {
    let pool = Rc::new(Pool { idle: RefCell::default(), tasks: RefCell::default() });
    let begin = worker.net.now();
    for at in schedule {
        let due = begin + at;
        if work.is_spent() || !wait_until(worker, work, due).await {
            break;
        }
        if exhausted(work) && worker.in_flight.get() == 0 {
            break;
        }
        // What is under way may lead on.
        if exhausted(work) {
            continue;
        }
        let Some(number) = worker.next_number(work, due) else { break };
        if !hand_out(worker, work, &pool, in_flight, number, due) {
            worker.count(|counts| counts.overflow += 1);
        }
    }
    // What was handed out last begins with the next turn.
    worker.net.sleep(Duration::from_millis(1)).await;
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

/// Gives a request to an idle user, or a new one; false where there may be no more.
fn hand_out(
    worker: &Rc<Worker>,
    work: &Rc<PhaseWork>,
    pool: &Rc<Pool>,
    most: u32,
    number: u64,
    due: Instant,
) -> bool {
    let idle = pool.idle.borrow_mut().pop();
    let hands = match idle {
        Some(hands) => hands,
        None if (pool.tasks.borrow().len() as u32) < most => spawn_open(worker, work, pool),
        None => return false,
    };
    hands.0.set(Some((number, due)));
    hands.1.set();
    true
}

fn spawn_open(worker: &Rc<Worker>, work: &Rc<PhaseWork>, pool: &Rc<Pool>) -> Handed {
    let hands: Handed = Rc::new((Cell::new(None), worker.net.event()));
    let (worker, work, pool_of_user, mine) = (worker.clone(), work.clone(), pool.clone(), hands.clone());
    let task = worker.net.clone().spawn(async move {
        let mut user = User::default();
        loop {
            mine.1.wait().await;
            if let Some((number, due)) = mine.0.take() {
                user.request(&worker, &work, Turn { number, due, paced: true }).await;
                pool_of_user.idle.borrow_mut().push(mine.clone());
            }
        }
    });
    pool.tasks.borrow_mut().push(task);
    hands
}
