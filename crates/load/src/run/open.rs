//! An open pace: one task watches the schedule and hands each arrival that is due to an idle user, or to a new one.
//!
//! An arrival is a request, or a connection with several requests on it. What comes due while as many are served as may be
//! is counted as overflow and passes; where each number has a moment of its own, the number passes with it.

use super::phase::{GroupWork, PhaseWork, Side};
use super::user::{User, exhausted};
use crate::exchange::{Arrivals, ClientTurn, Worker};
use crate::pace::Schedule;
use net::{Event as Signal, TaskId};
use plan::{Open, Part};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

/// Arrivals handed out in a row before users get to send them: whoever comes last waits for all before.
const BATCH: u64 = 32;
/// How often is looked up whether the run is stopped, or its rate changed.
const LOOK_UP: Duration = Duration::from_millis(20);
/// How often is looked up whether something more of a live copy has come.
const LIVE: Duration = Duration::from_millis(2);

/// Requests that are due, in the hands of a user.
struct Hands {
    due: RefCell<VecDeque<(u64, Instant)>>,
    /// Raised when there is one.
    signal: Signal,
    /// How many it may have under way at once.
    depth: usize,
    /// How many more it may be handed: those under way are in its hands, too.
    room: Cell<usize>,
    pool: Weak<Pool>,
}

impl Hands {
    /// Takes out what was handed over first. It is late from now on, if at all: what connecting takes is the target's.
    fn take(&self, now: Instant) -> Option<ClientTurn> {
        let (number, due) = self.due.borrow_mut().pop_front()?;
        if let Some(pool) = self.pool.upgrade().filter(|pool| pool.depth == 1) {
            pool.handed.set(pool.handed.get() - 1);
        }
        Some(ClientTurn { number, due, lateness: Some(now.saturating_duration_since(due)) })
    }

    /// So many are under way. Whoever has room again may be handed more.
    fn free(self: &Rc<Self>, under_way: usize) {
        let Some(pool) = self.pool.upgrade() else { return };
        let room = self.depth.saturating_sub(under_way + self.due.borrow().len());
        if self.room.replace(room) == 0 && room > 0 {
            pool.free.borrow_mut().push(self.clone());
        }
    }
}

/// The same for who has several under way.
struct Several(Rc<Hands>);

impl Arrivals for Several {
    fn next(&self, now: Instant) -> Option<ClientTurn> {
        self.0.take(now)
    }

    fn signal(&self) -> &Signal {
        &self.0.signal
    }

    fn left(&self, count: usize) {
        self.0.free(count);
    }
}

/// The users of an open pace who speak one version of HTTP.
struct Pool {
    worker: Rc<Worker>,
    work: Rc<PhaseWork>,
    /// Its place among the versions of its group.
    place: Part,
    /// Users with room for a request; the last one is handed the next, so that as few connections as will do are in use.
    free: RefCell<Vec<Rc<Hands>>>,
    tasks: RefCell<Vec<TaskId>>,
    /// Requests that were handed out and have not begun.
    handed: Cell<u32>,
    /// Requests under way at once, at most.
    in_flight: usize,
    /// Requests that a user may have under way at once.
    depth: usize,
    /// True if connections arrive, or requests.
    connections: bool,
}

impl Pool {
    /// `in_flight`: arrivals served at once, at most.
    fn new(side: &Side, place: Part, in_flight: u32, connections: bool) -> Rc<Pool> {
        let (worker, work) = side.clone();
        let in_flight = in_flight as usize;
        let depth = work.depth().min(in_flight);
        Rc::new(Pool {
            worker,
            work,
            place,
            free: RefCell::default(),
            tasks: RefCell::default(),
            handed: Cell::new(0),
            in_flight,
            depth,
            connections,
        })
    }

    /// Users at most; the last of them may have fewer requests under way than the others.
    fn most(&self) -> usize {
        self.in_flight.div_ceil(self.depth)
    }

    /// True if any user serves an arrival. Connections come one by one.
    fn is_busy(&self) -> bool {
        self.free.borrow().len() < self.tasks.borrow().len()
    }

    /// Hands a request that is due to a user with room for it, an idle one or a new one; false where there may be no more.
    fn hand(self: &Rc<Self>, number: impl FnOnce() -> Option<u64>, due: Instant) -> Handed {
        let has_room = !self.free.borrow().is_empty();
        if !has_room && self.tasks.borrow().len() == self.most() {
            return Handed::NoRoom;
        }
        let Some(number) = number() else { return Handed::NoNumber };
        if !has_room {
            let user = spawn_open(self);
            self.free.borrow_mut().push(user);
        }
        let mut free = self.free.borrow_mut();
        if let Some(user) = free.last().cloned() {
            user.room.set(user.room.get() - 1);
            if user.room.get() == 0 {
                free.pop();
            }
            match self.depth {
                1 => self.handed.set(self.handed.get() + 1),
                // It may have to wait for a connection, and nobody waits for that to have begun.
                _ => self.worker.account.begin(due),
            }
            user.due.borrow_mut().push_back((number, due));
            user.signal.set();
        }
        Handed::Over
    }
}

/// Result of handing over a request that was due.
enum Handed {
    /// A user has it.
    Over,
    /// As many are under way as may be.
    NoRoom,
    /// As many have begun as there are to be.
    NoNumber,
}

/// Runs an open pace until there is nothing more to begin, and returns the tasks of its users.
pub(super) async fn run(group: &GroupWork, open: Open, seed: u64) -> Vec<TaskId> {
    let pool = |(place, side): (Part, &Side)| {
        let in_flight = place.share(open.in_flight.into()).max(1) as u32;
        Pool::new(side, place, in_flight, open.connections)
    };
    let pools: Vec<Rc<Pool>> = Part::all(group.sides().len() as u32).zip(group.sides()).map(pool).collect();
    for pool in &pools {
        // They wait for something to do, with the connections that are there.
        let ready = pool.work.ahead.borrow().len().min(pool.most());
        let users: Vec<Rc<Hands>> = (0..ready).map(|_| spawn_open(pool)).collect();
        pool.free.borrow_mut().extend(users);
    }
    let (worker, work) = group.first();
    let connections = open.connections;
    let schedule = Schedule::new(open, work.phase.part, seed);
    schedule.open(work.phase.opens);
    let came_to_nothing = hand_out(worker, work, &pools, schedule).await;
    let over = || worker.over(&work.phase, worker.net.now());
    // A phase lasts as long as it is to, also where nothing is sent towards its end.
    let idles = || came_to_nothing && work.phase.ends_after().is_some() && !over();
    let goes_on = || connections && pools.iter().any(|pool| pool.is_busy()) && !over();
    while handed(&pools) > 0 || idles() || goes_on() {
        worker.net.sleep(Duration::from_millis(1)).await;
    }
    pools.iter().flat_map(|pool| pool.tasks.take()).collect()
}

/// Requests that were handed out and have not begun.
fn handed(pools: &[Rc<Pool>]) -> u32 {
    pools.iter().map(|pool| pool.handed.get()).sum()
}

/// Hands out what is due before the phase ends, however late it is noticed; true if the schedule came to its end, or to that of
/// the phase.
async fn hand_out(
    worker: &Rc<Worker>,
    work: &Rc<PhaseWork>,
    pools: &[Rc<Pool>],
    mut schedule: Schedule,
) -> bool {
    let mut nth = 0u64;
    let mut known = 0;
    pass_by(worker, work, &mut known, &mut schedule);
    loop {
        let due = match schedule.is_live() {
            true => {
                // With the copy the phase is over, however long it was to last.
                let Some(due) = next_of_copy(worker, work, &mut schedule).await else { return false };
                Some(due)
            }
            false => schedule.next().map(|at| work.phase.opens + at),
        };
        let due = due.filter(|due| work.phase.is_before_end(*due));
        if due.is_some() && work.phase.is_spent() {
            return false;
        }
        let due = match wait_for_arrival(worker, work, due, &mut known, &mut schedule).await {
            Waited::Due(due) => due,
            Waited::Changed => continue,
            Waited::Nothing => return true,
            Waited::Over => return false,
        };
        // Versions take turns, whoever of their users is free.
        let pool = &pools[(nth % pools.len() as u64) as usize];
        nth += 1;
        let is_over = work.phase.is_over_at(worker.net.now());
        if nth.is_multiple_of(BATCH) && !is_over {
            // However far behind the schedule is, users get to send.
            worker.net.sleep_until(worker.net.now()).await;
        }
        if exhausted(work, handed(pools)) {
            // What is under way may lead on. A moment that comes meanwhile passes unused, and no request is counted.
            if is_over || worker.account.in_flight() == 0 && handed(pools) == 0 {
                return false;
            }
            continue;
        }
        if schedule.passes_by(worker.net.now()) {
            worker.account.count(|counts| counts.overflow += 1);
            if worker.next_number(&work.phase, due).is_none() {
                return false;
            }
            continue;
        }
        // What cannot be sent takes no number, so that the stream of requests has no holes.
        match pool.hand(|| worker.next_number(&work.phase, due), due) {
            Handed::Over => {}
            Handed::NoNumber => return false,
            Handed::NoRoom => {
                // What was recorded has a moment of its own: the next one keeps its own, too.
                if schedule.is_recorded() && !is_over && worker.next_number(&work.phase, due).is_none() {
                    return false;
                }
                // Once the phase is over nobody waits for a user: what is left of it is counted at once.
                let left = || schedule.due_before(work.phase.ends_after().unwrap_or_default());
                let left = if is_over { left() } else { 0 };
                worker.account.count(|counts| counts.overflow += 1 + left);
                if is_over {
                    return true;
                }
            }
        }
    }
}

/// Waits for the next arrival of a live copy; `None`: the copy is over, or the phase, which may have all its requests.
async fn next_of_copy(worker: &Worker, work: &PhaseWork, schedule: &mut Schedule) -> Option<Instant> {
    loop {
        // Asked first, so that what came just before the end is not missed.
        let may_come = schedule.may_come();
        if let Some(at) = schedule.next() {
            return Some(work.phase.opens + at);
        }
        schedule.take_back();
        let now = worker.net.now();
        if !may_come || worker.over(&work.phase, now) || work.phase.is_spent() {
            return None;
        }
        worker.net.sleep_until(now + LIVE).await;
    }
}

/// Leaves out what was due before this part went on, where somebody else has begun it: nobody knows whether that was sent, and nothing is
/// sent twice.
fn pass_by(worker: &Worker, work: &PhaseWork, known: &mut usize, schedule: &mut Schedule) {
    let resumed = worker.control.resumed(worker.part.index);
    let Some(resumed) = resumed.filter(|resumed| resumed.phase == worker.account.phase()) else { return };
    has_changed(worker, known, schedule);
    let passed = schedule.pass_until(worker.net.now().saturating_duration_since(work.phase.opens));
    work.phase.resume_behind(passed);
    worker.control.passed_by(passed.saturating_sub(resumed.done));
}

/// Waits for a moment of the phase, looking up now and then whether the run is stopped; false if it is.
pub(super) async fn wait_until(worker: &Worker, work: &PhaseWork, due: Instant) -> bool {
    loop {
        let now = worker.net.now();
        if worker.over(&work.phase, due) {
            return false;
        }
        if now >= due {
            return true;
        }
        worker.net.sleep_until(due.min(now + LOOK_UP)).await;
    }
}

/// Why an arrival is not waited for any longer.
enum Waited {
    /// It is due.
    Due(Instant),
    /// The rate has changed: its moment is another one.
    Changed,
    /// Nothing more comes in this phase.
    Nothing,
    /// The run is stopped.
    Over,
}

/// Waits for the next arrival, looking up now and then whether the run is stopped or the rate has changed. Without an arrival, and
/// where the phase has an end, a change may still bring one.
async fn wait_for_arrival(
    worker: &Worker,
    work: &PhaseWork,
    due: Option<Instant>,
    known: &mut usize,
    schedule: &mut Schedule,
) -> Waited {
    loop {
        let now = worker.net.now();
        if worker.over(&work.phase, due.unwrap_or(now)) {
            return if due.is_some() { Waited::Over } else { Waited::Nothing };
        }
        if has_changed(worker, known, schedule) {
            return Waited::Changed;
        }
        match due {
            Some(due) if now >= due => return Waited::Due(due),
            None if work.phase.ends_after().is_none() => return Waited::Nothing,
            _ => {}
        }
        let until = due.unwrap_or_else(|| work.phase.ends_before(now + LOOK_UP));
        worker.net.sleep_until(until.min(now + LOOK_UP)).await;
    }
}

/// Takes changes of the rate in that are not `known` yet; true if there are any: the last arrival comes again.
fn has_changed(worker: &Worker, known: &mut usize, schedule: &mut Schedule) -> bool {
    let Some((changes, now)) = worker.control.rate_changes(worker.account.phase(), *known) else {
        return false;
    };
    *known = now;
    if changes.is_empty() {
        return false;
    }
    schedule.take_back();
    changes.iter().for_each(|change| schedule.change(change.at, change.per_second));
    true
}

fn spawn_open(pool: &Rc<Pool>) -> Rc<Hands> {
    let worker = &pool.worker;
    let work = &pool.work;
    let before = pool.tasks.borrow().len();
    let number = work.phase.part.number(pool.place.number(before as u64));
    let depth = pool.depth.min(pool.in_flight - before * pool.depth);
    let hands = Rc::new(Hands {
        due: RefCell::default(),
        signal: worker.net.event(),
        depth,
        room: Cell::new(depth),
        pool: Rc::downgrade(pool),
    });
    let slot = work.ahead.borrow_mut().pop();
    let several = pool.depth > 1;
    let connections = pool.connections;
    let worker = worker.clone();
    let work = work.clone();
    let mine = hands.clone();
    let task = worker.net.clone().spawn(async move {
        let mut user = User::new(number, worker.net.now());
        user.client.slot = slot.unwrap_or_default();
        if several {
            user.receive_arrivals(Rc::new(Several(mine.clone())));
        }
        loop {
            let Some(turn) = mine.take(worker.net.now()) else {
                mine.signal.wait().await;
                continue;
            };
            // On the heap, so that a user that waits needs no room for it.
            Box::pin(user.request(&worker, &work, turn)).await;
            if connections {
                use_up(&worker, &work, &mut user).await;
            }
            mine.free(0);
        }
    });
    pool.tasks.borrow_mut().push(task);
    hands
}

/// Sends what else a connection is to carry, each request when the last one has ended. A connection that was lost is not
/// replaced.
async fn use_up(worker: &Rc<Worker>, work: &Rc<PhaseWork>, user: &mut User) {
    while user.client.slot.connection.is_some() && !exhausted(work, 0) {
        let due = user.client.ended.take().unwrap_or_else(|| worker.net.now());
        let Some(number) = worker.next_number(&work.phase, due) else { break };
        user.request(worker, work, ClientTurn { number, due, lateness: None }).await;
    }
    user.client.slot.forget();
}
