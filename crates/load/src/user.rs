//! Users: a virtual client walks the steps of a scenario, one request after the other.
//!
//! Under a closed pace each user begins its next request when the last one has ended and the user has thought. Under an
//! open pace ([`crate::open`]) users are handed what is due.

use crate::connection::Connection;
use crate::exchange::{self, Turn};
use crate::requests::Placing;
use crate::worker::{PhaseWork, StepWork, Worker};
use measure::Failure;
use net::TaskId;
use plan::Delay;
use plan::draw::{Draw, hash};
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
    /// Why the last connection could not be opened.
    pub not_connected: Option<Failure>,
    /// When the last request ended, where it got as far as being sent.
    pub ended: Option<Instant>,
    /// What it keeps of messages that are no HTTP.
    pub messages: exchange::Mine,
    /// Its number in the phase.
    pub number: u64,
    /// Turns that it has had.
    pub turns: u64,
    /// The step that comes next.
    step: usize,
}

/// Longest pause of a user whom the target refuses.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

impl User {
    /// The user of this number in the phase.
    pub fn new(number: u64) -> User {
        User { number, ..User::default() }
    }

    /// How long to wait before the next try, so that a target that refuses is not hammered.
    pub fn pause(&self) -> Duration {
        Duration::from_millis(1 << self.refusals.min(7)).min(LONGEST_PAUSE)
    }

    /// Does the next step.
    pub async fn request(&mut self, worker: &Rc<Worker>, work: &Rc<PhaseWork>, turn: Turn) {
        let step = self.step;
        self.step = (step + 1) % work.steps.len();
        match &work.steps[step] {
            StepWork::Object(laws) => exchange::object(worker, work, self, laws, turn).await,
            StepWork::Urls(frontier) => exchange::url(worker, self, frontier, turn).await,
            StepWork::Requests(requests) => {
                let placing =
                    Placing { number: turn.number, user: self.number, of: work.crowd, turn: self.turns };
                exchange::request(worker, work, self, requests.at(placing), turn).await;
            }
            StepWork::Messages(messages) => exchange::messages(worker, work, self, messages, turn).await,
        }
        self.turns += 1;
    }

    /// When the next request of a closed pace is meant to go out: when the last one has ended and the user has thought.
    /// Waits that long; the second value is how late it then is, where a moment was set beforehand.
    async fn rest(&mut self, worker: &Worker, thought: Duration) -> (Instant, Option<Duration>) {
        if self.refusals > 0 {
            worker.net.sleep(self.pause().max(thought)).await;
            // Nobody meant to send meanwhile.
            self.ended = None;
            return (worker.net.now(), None);
        }
        let ended = self.ended.take().unwrap_or_else(|| worker.net.now());
        wait_for(worker, ended + thought, thought).await
    }
}

/// Waits until a request is due, where there is anything to wait for.
async fn wait_for(worker: &Worker, due: Instant, thought: Duration) -> (Instant, Option<Duration>) {
    if thought.is_zero() {
        return (due, None);
    }
    worker.net.sleep_until(due).await;
    (due, Some(worker.net.now().saturating_duration_since(due)))
}

/// How long users think, drawn for each request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Think {
    pub law: Delay,
    pub seed: u64,
}

impl Think {
    /// The time after request `number`.
    fn after(&self, number: u64) -> Duration {
        match self.law {
            Delay::None => Duration::ZERO,
            law => law.draw(&mut Draw::new(self.seed, number)),
        }
    }

    /// The time before a user's first request: a part of a thought, so that users who come together do not stay together.
    fn before(&self, user: u64) -> Duration {
        match self.law {
            Delay::None => Duration::ZERO,
            law => {
                let mut draw = Draw::new(hash(self.seed, 0xF1), user);
                law.draw(&mut draw).mul_f64(draw.unit())
            }
        }
    }
}

/// Closed pace: `users` users until there is nothing more to begin.
pub(crate) async fn run_closed(
    worker: &Rc<Worker>,
    work: &Rc<PhaseWork>,
    users: u32,
    think: Think,
) -> Vec<TaskId> {
    let first = |user: u32| think.before(work.part.number(u64::from(user)));
    let mut tasks: Vec<TaskId> =
        (0..users).map(|user| spawn_closed(worker, work, think, user, first(user))).collect();
    while !finished(worker, work) {
        if worker.over(work, worker.net.now()) {
            break;
        }
        worker.net.sleep(Duration::from_millis(if work.users.get() == 0 { 1 } else { 10 })).await;
        // Links that were found meanwhile may have given work to users who had ended for want of it.
        let missing = users - work.users.get();
        if missing > 0 && waiting(work) > 0 {
            let more = 0..missing.min(waiting(work));
            tasks.extend(more.map(|user| spawn_closed(worker, work, think, user, Duration::ZERO)));
        }
    }
    tasks
}

/// Whether nothing is left to fetch, and nobody fetches: users who only think may be let go once the last request was
/// begun.
fn finished(worker: &Worker, work: &PhaseWork) -> bool {
    (work.users.get() == 0 || work.is_spent()) && worker.in_flight.get() == 0 && waiting(work) == 0
}

/// URLs that wait to be fetched, and may be.
fn waiting(work: &PhaseWork) -> u32 {
    if work.is_spent() {
        return 0;
    }
    let waiting = work.steps.iter().map(|step| match step {
        StepWork::Object(_) | StepWork::Requests(_) | StepWork::Messages(_) => 0,
        StepWork::Urls(frontier) => frontier.waiting(),
    });
    waiting.sum()
}

/// Whether the scenario comes to the end of its lists, with so many requests that were handed out and have not begun.
pub(crate) fn exhausted(work: &PhaseWork, handed: u32) -> bool {
    work.steps.iter().any(|step| match step {
        StepWork::Object(_) => false,
        StepWork::Urls(frontier) => frontier.exhausted_after(handed),
        StepWork::Requests(requests) => requests.is_empty(),
        StepWork::Messages(messages) => messages.is_empty(),
    })
}

/// `user`: its number on this worker. `first`: what it waits before its first request.
fn spawn_closed(
    worker: &Rc<Worker>,
    work: &Rc<PhaseWork>,
    think: Think,
    user: u32,
    first: Duration,
) -> TaskId {
    let (worker, work) = (worker.clone(), work.clone());
    work.users.set(work.users.get() + 1);
    worker.net.clone().spawn(async move {
        let mut user = User::new(work.part.number(u64::from(user)));
        let (mut due, mut lateness) = wait_for(&worker, worker.net.now() + first, first).await;
        while !exhausted(&work, 0)
            && work.turns_per_user.is_none_or(|most| user.turns < most)
            && let Some(number) = worker.next_number(&work, due)
        {
            user.request(&worker, &work, Turn { number, due, lateness }).await;
            (due, lateness) = user.rest(&worker, think.after(number)).await;
        }
        work.users.set(work.users.get() - 1);
        work.user_ended.set();
    })
}
