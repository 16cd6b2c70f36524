//! Users: a virtual client walks the steps of a scenario, one request after the other.
//!
//! Under a closed pace each user begins its next request when the last one has ended and the user has thought. Under an
//! open pace ([`super::open`]) users are handed what is due.

use super::phase::{GroupWork, PhaseWork, StepWork};
use crate::channel::Slot;
use crate::exchange::{self, Arrivals, Client, ClientTurn, Context, MessageState, ScriptScratch, Worker};
use crate::program::Position;
use crate::session::{self, Memory};
use crate::step::Requests;
use net::TaskId;
use plan::draw::hash;
use plan::{Delay, Pace, UserRow};
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// A user, and what it keeps from one request to the next.
pub(super) struct User {
    /// Its connection.
    pub client: Client,
    /// Turns that it has had.
    pub turns: u64,
    /// The step that comes next.
    step: u32,
    /// Where it stands in its journey, and what it has counted there.
    pub position: Option<Box<Position>>,
    /// When it begins nothing more.
    pub ends: Option<Instant>,
    /// It begins nothing more.
    pub ended: bool,
    /// It has begun, and is counted.
    is_present: bool,
    /// The time before its next request.
    rest: Rest,
    /// Memory for a script's requests.
    script: Option<Box<ScriptScratch>>,
    /// Its state in TCP messages, where it sends any.
    messages: Option<Box<exchange::MessageState>>,
    /// Its memory, in steps with a session.
    pub memory: Option<Rc<Memory>>,
    /// Connections of its branches, by their numbers, between two walks of them.
    #[expect(clippy::box_collection, reason = "most users have no branches, and hold a word for them")]
    pub branches: Option<Box<HashMap<u32, Slot>>>,
}

impl User {
    /// The user of this number in the phase, and when its first request is due.
    pub fn new(number: u64, first: Instant) -> User {
        User {
            client: Client::new(number),
            turns: 0,
            step: 0,
            position: None,
            ends: None,
            ended: false,
            is_present: false,
            rest: Rest::None(first),
            script: None,
            messages: None,
            memory: None,
            branches: None,
        }
    }

    /// Requests come to it while others are under way.
    pub fn receive_arrivals(&mut self, arrivals: Rc<dyn Arrivals>) {
        self.messages = Some(Box::new(MessageState::with_arrivals(arrivals)));
    }

    /// It begins: from now on it is one of those who are there.
    fn arrive(&mut self, worker: &Worker, work: &PhaseWork) {
        if !std::mem::replace(&mut self.is_present, true) {
            worker.users().into_iter().for_each(|users| users.came(work.phase.group));
        }
    }

    /// True if the plan leaves it another turn.
    fn has_turns(&self, work: &PhaseWork) -> bool {
        let place = || work.phase.placing(0, self.client.user, self.turns);
        let is_over =
            |step: &StepWork| matches!(step, StepWork::Requests(list, _) if list.is_over_for(place()));
        !self.ended
            && work.phase.turns_of(self.client.user).is_none_or(|most| self.turns < most)
            && !work.phase.timetable.as_ref().is_some_and(|table| table.is_over(self.client.user, self.turns))
            && !work.steps.iter().any(is_over)
    }

    /// True if it may begin another turn that is due then.
    fn goes_on(&self, worker: &Worker, work: &PhaseWork, due: Instant) -> bool {
        let stays = self.ends.is_none_or(|ends| due < ends);
        self.has_turns(work) && stays && !work.phase.is_spent() && !worker.over(&work.phase, due)
    }

    /// Time to wait before the next try, so that a target that refuses is not hammered.
    pub fn pause(&self, longest: Duration) -> Duration {
        Duration::from_millis(1 << self.client.refusals.min(7)).min(longest)
    }

    /// Does the next step, or walks through the journey once.
    pub async fn request(&mut self, worker: &Rc<Worker>, work: &Rc<PhaseWork>, turn: ClientTurn) {
        if work.program.is_some() {
            return self.journey(worker, work, Some(turn)).await;
        }
        let step = self.step as usize;
        self.step = ((step + 1) % work.steps.len()) as u32;
        self.turns += self.send(worker, work, step, turn).await;
    }

    /// Walks through the journey once, if there is one.
    async fn journey(&mut self, worker: &Rc<Worker>, work: &Rc<PhaseWork>, turn: Option<ClientTurn>) {
        let Some(program) = &work.program else { return };
        // On the heap, so that users of a plain list need no room for it.
        Box::pin(self.walk(worker, work, program, turn)).await;
        self.turns += 1;
    }

    /// Does what the scenario says, turn by turn, until there is nothing more to begin.
    async fn run(
        &mut self,
        worker: &Rc<Worker>,
        work: &Rc<PhaseWork>,
        mut request: impl AsyncFnMut(&mut User, ClientTurn),
    ) {
        let due = work.phase.timetable.as_ref().and_then(|table| table.due(self.client.user, 0));
        if let Some(due) = due {
            self.rest = Rest::until_turn(due, worker.net.now());
        }
        loop {
            let (due, lateness) = self.pass_rest(worker).await;
            if !self.goes_on(worker, work, due) {
                break;
            }
            self.arrive(worker, work);
            let thought = if work.program.is_some() {
                self.journey(worker, work, None).await;
                work.phase.think.after(hash(self.client.user, self.turns))
            } else if !exhausted(work, 0)
                && let Some(number) = worker.next_number(&work.phase, due)
            {
                request(self, ClientTurn { number, due, lateness }).await;
                work.phase.think.after(number)
            } else {
                break;
            };
            self.rest = self.rest(worker, work, thought);
        }
    }

    /// Waits until its rest is over: when the next request is due, and how late it then is, where that was set beforehand.
    async fn pass_rest(&self, worker: &Worker) -> (Instant, Option<Duration>) {
        if let Some(until) = self.rest.until() {
            worker.net.sleep_until(until).await;
        }
        self.rest.over(|| worker.net.now())
    }

    /// Sends the requests of a list one after the other, without time between them; the first is due at a moment.
    async fn send_list(
        &mut self,
        worker: &Rc<Worker>,
        work: &Rc<PhaseWork>,
        requests: &Requests,
        mut due: Instant,
    ) {
        let context = Context { worker, phase: &work.phase };
        // Nothing but the end of the phase ends this user, and it sends one and the same request.
        let has_turns = work.phase.turns_of(self.client.user).is_some();
        let repeats = requests.is_one() && self.ends.is_none() && !has_turns;
        while self.goes_on(worker, work, due)
            && let Some(number) = work.phase.next_number(due)
        {
            let user = self.client.user;
            let line = requests.at(work.phase.placing(number, user, self.turns));
            let turn = ClientTurn { number, due, lateness: None };
            if exchange::is_fast(context, &mut self.client, &line) {
                exchange::fast(context, &mut self.client, &line, &turn).await;
            } else if let Some(lease) =
                exchange::lease_repeating(context, &self.client, line).filter(|_| repeats)
            {
                let repeat = exchange::repeat(worker, &work.phase, &mut self.client, lease, line, turn);
                let more = Box::pin(repeat).await;
                self.turns += more - 1;
            } else {
                Box::pin(exchange::request(context, &mut self.client, line, turn)).await;
            }
            self.turns += 1;
            due = match self.client.ended.take_if(|_| self.client.refusals == 0) {
                Some(ended) => ended,
                None => {
                    self.rest = self.rest(worker, work, Duration::ZERO);
                    self.pass_rest(worker).await.0
                }
            };
        }
    }

    /// Sends the next request of a step; how many turns that was.
    pub async fn send(
        &mut self,
        worker: &Rc<Worker>,
        work: &Rc<PhaseWork>,
        step: usize,
        turn: ClientTurn,
    ) -> u64 {
        let context = Context { worker, phase: &work.phase };
        let client = &mut self.client;
        match &work.steps[step] {
            StepWork::Object(objects) => exchange::object(context, client, objects, turn).await,
            StepWork::Urls(urls) => exchange::url(context, client, urls, turn).await,
            StepWork::Requests(requests, _) if worker.channels.http().h1.pipeline > 1 => {
                Box::pin(exchange::pipeline(context, client, requests, turn, &mut self.turns)).await;
            }
            StepWork::Requests(requests, session) => {
                let placing = work.phase.placing(turn.number, client.user, self.turns);
                let prepared = requests.at(placing);
                match session {
                    None if exchange::is_fast(context, client, &prepared) => {
                        exchange::fast(context, client, &prepared, &turn).await;
                    }
                    None => exchange::request(context, client, prepared, turn).await,
                    // On the heap, so that users without a memory need no room for it.
                    Some(session) => {
                        Box::pin(session::user_turn(
                            context,
                            client,
                            &mut self.memory,
                            session,
                            prepared,
                            turn,
                        ))
                        .await;
                    }
                }
            }
            StepWork::Script(script) => {
                // A timetable counts requests, of which a script may say several at once.
                return exchange::script(context, client, self.script.get_or_insert_default(), script, turn)
                    .await;
            }
            StepWork::Messages(messages) => {
                let mine = self.messages.get_or_insert_default();
                exchange::messages(context, client, mine, messages, turn, &mut self.turns).await;
            }
        }
        1
    }

    /// The time before the next request of a closed pace: until the last one has ended and the user has thought, or until the
    /// timetable says so.
    fn rest(&mut self, worker: &Worker, work: &PhaseWork, thought: Duration) -> Rest {
        let table = work.phase.timetable.as_ref();
        let turn = table.and_then(|table| table.due(self.client.user, self.turns));
        let thought = table.and_then(|table| table.pause(self.client.user, self.turns)).unwrap_or(thought);
        if self.client.refusals == 0 {
            let now = || worker.net.now();
            return match turn {
                Some(due) => Rest::until_turn(due, now()),
                None => Rest::thinking(self.client.ended.take().unwrap_or_else(now), thought),
            };
        }
        let pause = self.pause(worker.load.limits.pause);
        let until = worker.net.now() + if turn.is_some() { pause } else { pause.max(thought) };
        match turn {
            Some(due) if due > until => Rest::Until(due),
            _ => {
                // Nobody meant to send meanwhile.
                self.client.ended = None;
                Rest::Pause { until, turn }
            }
        }
    }
}

/// The time between two requests of a user.
#[derive(Debug, Clone, Copy)]
enum Rest {
    /// None: the next one is due at this moment.
    None(Instant),
    /// Until the moment at which it is due.
    Until(Instant),
    /// Of a target that refuses, until a moment; the next one is due then, or was when its turn came.
    Pause { until: Instant, turn: Option<Instant> },
}

impl Rest {
    /// Until a user has thought.
    fn thinking(from: Instant, thought: Duration) -> Rest {
        if thought.is_zero() { Rest::None(from) } else { Rest::Until(from + thought) }
    }

    /// Until a turn is due. Where it is past, the answer before it took longer, which is no lateness of ours.
    fn until_turn(due: Instant, now: Instant) -> Rest {
        if now >= due { Rest::None(due) } else { Rest::Until(due) }
    }

    /// The end of it, if there is a wait at all.
    fn until(self) -> Option<Instant> {
        match self {
            Rest::None(_) => None,
            Rest::Until(until) | Rest::Pause { until, .. } => Some(until),
        }
    }

    /// When the request after it is due, and how late that is now, where it was set beforehand.
    fn over(self, now: impl Fn() -> Instant) -> (Instant, Option<Duration>) {
        match self {
            Rest::None(due) => (due, None),
            Rest::Until(due) => (due, Some(now().saturating_duration_since(due))),
            Rest::Pause { turn, .. } => (turn.unwrap_or_else(now), None),
        }
    }
}

/// When a user begins, counted from when it is made, and when it begins nothing more.
#[derive(Debug, Clone, Copy, Default)]
struct Stay {
    first: Duration,
    ends: Option<Instant>,
}

/// When the users of a worker begin and end.
fn stays(work: &PhaseWork, pace: &Pace, users: u32) -> Vec<Stay> {
    let part = work.phase.part;
    let think = work.phase.think;
    let rows = pace.rows();
    if rows.is_empty() {
        let first = |user: u32| think.before(part.number(u64::from(user)));
        return (0..users).map(|user| Stay { first: first(user), ends: None }).collect();
    }
    let all = rows.iter().flat_map(|row| (0..row.users).map(move |nth| (row, nth)));
    let mine = all.skip(part.index as usize).step_by(part.of.max(1) as usize);
    let stay = |(row, nth): (&UserRow, u32)| Stay {
        first: row.begins(nth),
        ends: row.ends(nth).map(|ends| work.phase.opens + ends),
    };
    mine.map(stay).collect()
}

/// Closed pace: its users until there is nothing more to begin.
pub(super) async fn run_closed(group: &GroupWork, pace: &Pace) -> Vec<TaskId> {
    let (worker, work) = group.first();
    let users = pace.closed().map_or(0, |(users, _)| users);
    let stays = stays(work, pace, users);
    let users = stays.len() as u32;
    let mut tasks: Vec<TaskId> =
        (0..users).zip(stays).map(|(user, stay)| spawn_closed(group, user, stay)).collect();
    while !finished(group) {
        if worker.over(&work.phase, worker.net.now()) {
            break;
        }
        let pause = Duration::from_millis(if work.users.get() == 0 { 1 } else { 10 });
        user_ends_before(worker, work, work.phase.ends_before(worker.net.now() + pause)).await;
        // Links that were found meanwhile may have given work to users who had ended for want of it.
        let missing = users - work.users.get();
        if missing > 0 && waiting(work) > 0 {
            let more = 0..missing.min(waiting(work));
            tasks.extend(more.map(|user| spawn_closed(group, user, Stay::default())));
        }
    }
    tasks
}

/// Waits until a user has ended, at most until a moment: a run that is over must not last until somebody looks up.
async fn user_ends_before(worker: &Worker, work: &PhaseWork, moment: Instant) {
    let mut moment = pin!(worker.net.sleep_until(moment));
    let mut ended = pin!(work.user_ended.wait());
    poll_fn(|context| match ended.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => moment.as_mut().poll(context),
    })
    .await;
}

/// True if nothing is left to fetch, and nobody fetches: users who only think may be let go once the last request was
/// begun.
fn finished(group: &GroupWork) -> bool {
    let at_rest = !group.is_busy();
    let (_, work) = group.first();
    (work.users.get() == 0 || work.phase.is_spent()) && at_rest && waiting(work) == 0
}

/// URLs that wait to be fetched, and may be: not those of a list beside one that has come to its end.
fn waiting(work: &PhaseWork) -> u32 {
    if work.phase.is_spent() || exhausted(work, 0) {
        return 0;
    }
    let waiting = work.steps.iter().map(|step| match step {
        StepWork::Object(_) | StepWork::Requests(..) | StepWork::Script(_) | StepWork::Messages(_) => 0,
        StepWork::Urls(urls) => urls.waiting(),
    });
    waiting.sum()
}

/// True if the scenario comes to the end of its lists, with so many requests that were handed out and have not begun.
pub(super) fn exhausted(work: &PhaseWork, handed: u32) -> bool {
    work.steps.iter().any(|step| match step {
        StepWork::Object(_) | StepWork::Script(_) => false,
        StepWork::Urls(urls) => urls.exhausted_after(handed),
        StepWork::Requests(requests, _) => requests.is_empty(),
        StepWork::Messages(messages) => messages.is_empty(),
    })
}

/// `user`: its number on this worker.
fn spawn_closed(group: &GroupWork, user: u32, stay: Stay) -> TaskId {
    let (worker, work) = group.of_user(u64::from(user)).clone();
    let net = worker.net.clone();
    work.users.set(work.users.get() + 1);
    let user = work.phase.part.number(u64::from(user));
    let now = net.now();
    let mut user = User { ends: stay.ends, rest: Rest::thinking(now, stay.first), ..User::new(user, now) };
    user.client.slot = work.ahead.borrow_mut().pop().unwrap_or_default();
    let thinks = work.phase.think.law != Delay::None;
    let sends_list = !thinks && worker.channels.http().h1.pipeline <= 1 && work.plain_list().is_some();
    // A task has the room that its largest future needs: users of each kind have one of their own.
    match (sends_list, thinks) {
        (true, _) => net.spawn(async move {
            let (due, _) = user.pass_rest(&worker).await;
            user.arrive(&worker, &work);
            if let Some(requests) = work.plain_list() {
                user.send_list(&worker, &work, requests, due).await;
            }
            leave(&worker, &work, user.is_present);
        }),
        (false, false) => net.spawn(async move {
            let request = async |user: &mut User, turn| user.request(&worker, &work, turn).await;
            user.run(&worker, &work, request).await;
            leave(&worker, &work, user.is_present);
        }),
        (false, true) => net.spawn(async move {
            let request = async |user: &mut User, turn| Box::pin(user.request(&worker, &work, turn)).await;
            user.run(&worker, &work, request).await;
            leave(&worker, &work, user.is_present);
        }),
    }
}

/// A user has ended. `was_present`: it had begun.
fn leave(worker: &Worker, work: &PhaseWork, was_present: bool) {
    work.users.set(work.users.get() - 1);
    worker.users().filter(|_| was_present).into_iter().for_each(|users| users.left(work.phase.group));
    work.user_ended.set();
}
