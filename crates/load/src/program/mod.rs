//! A scenario, compiled for a phase: a list of operations, and the place that a user has come to in it. It must not know
//! connections or bytes; time is an argument.
//!
//! Names are slots, templates are pieces, expressions are taken apart, and every loop and branch is a jump, so that a step
//! costs what it does and no more. Start reading at [`Program::next`]; `compile.rs` makes the operations.

mod code;
mod compile;
mod feed;
mod rhythm;
#[cfg(test)]
mod tests;
mod together;
mod turn;

pub(crate) use code::CodeWork;
pub(crate) use compile::{CompileKnown, is_watched};
pub(crate) use rhythm::RhythmWork;
pub(crate) use together::TogetherWork;

use crate::control::{Deck, Lock, LockHeld, Meeting};
use crate::request::{Filling, RequestPart, Scrap, SlotNames, Slots, Values, write_all};
use feed::{FeedRow, FeedWork};
use measure::Label;
use plan::data::Moment;
use plan::draw::{Draw, hash};
use plan::expression::{Fact, Facts, Node};
use plan::{Delay, Flow, OnFailure};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use together::BranchPlace;

/// Operations that a user does in a row before others get their turn.
const IN_A_ROW: u32 = 10_000;

/// A compiled journey.
pub(crate) struct Program {
    ops: Vec<Op>,
    /// The loop around each operation.
    around: Vec<Option<usize>>,
    loops: Vec<LoopWork>,
    /// Where walks begin, behind what is done for a user once.
    body: usize,
    counters: usize,
    orders: usize,
    names: SlotNames,
    on_failure: OnFailure,
    /// Some of its values depend on the time.
    pub tells_time: bool,
    /// Programs run in it, or records of it hold more than figures.
    pub watches: bool,
    /// Records are told of single requests and transactions.
    tells: bool,
    pub keep: plan::Keep,
    seed: u64,
}

type Condition = Node<usize>;

/// A loop: while, until, for each; where it begins its rounds and where it ends, and the transactions open around it.
#[derive(Default)]
struct LoopWork {
    times: Option<Condition>,
    lasts: Option<Duration>,
    goes_on: Option<Condition>,
    until: Option<Condition>,
    each: Option<EachWork>,
    index: Option<usize>,
    next: usize,
    exit: usize,
    open: usize,
}

struct EachWork {
    list: String,
    into: usize,
    skip: Condition,
    last: Option<Condition>,
}

enum Op {
    Send(usize),
    Pause(Delay),
    Wait(Condition),
    Rhythm(Rc<RhythmWork>),
    Barrier(MeetingWork),
    Jump(usize),
    Unless(Condition, usize),
    /// A loop is entered; a round of it begins; a round has ended.
    Enter(usize),
    Round(usize),
    Again(usize),
    Once {
        of: Option<usize>,
        exit: usize,
    },
    Share(ShareWork),
    Choose {
        by: By,
        counter: usize,
        weights: Vec<u64>,
        to: Vec<usize>,
    },
    Switch {
        on: ProgramText,
        names: Vec<String>,
        to: Vec<usize>,
        exit: usize,
    },
    /// All branches are laid out in a random order; the next one of them is taken.
    Shuffle {
        order: usize,
        of: usize,
    },
    Shuffled {
        order: usize,
        to: Vec<usize>,
        exit: usize,
    },
    Begin(BeginWork),
    /// Whatever was begun last ends: a transaction or a lock.
    End,
    Lock(Arc<Lock>),
    Together(Box<TogetherWork>),
    /// A branch has ended.
    BranchEnd,
    Run(Box<CodeWork>),
    Log(ProgramText),
    Set(usize, ProgramText),
    Compute(usize, Condition),
    Count(CountWork),
    Feed(FeedWork),
    Flow(Flow),
}

/// A transaction, as it begins.
struct BeginWork {
    label: Label,
    /// Its label in records, where those are told.
    title: Option<ProgramText>,
    pauses: bool,
    parent: bool,
}

enum By {
    Weight,
    Turn,
    TurnOfAll(Cell<u64>),
    /// The weight of each branch; the counters are the turns that it has had.
    WeightedTurn(Vec<u64>),
}

/// A template, and what it is dealt its values of.
struct ProgramText {
    parts: Vec<RequestPart>,
    decks: Vec<Arc<Deck>>,
}

/// A share of the times, counted for each user (two counters) or for all of the worker.
struct ShareWork {
    percent: Option<Condition>,
    times: Option<Condition>,
    /// The worker's part, where they are counted for all together.
    part: Option<plan::Part>,
    counter: usize,
    all: Option<Cell<(u64, u64)>>,
    exit: usize,
}

struct CountWork {
    slot: usize,
    start: i64,
    step: i64,
    round: u64,
    digits: usize,
    counter: usize,
    deck: Option<Arc<Deck>>,
    each_iteration: bool,
}

/// A barrier, as users wait at it.
pub(crate) struct MeetingWork {
    pub meeting: Arc<Meeting>,
    /// How many wait for each other; `None`: all users of the group.
    pub users: Option<u64>,
    pub timeout: Option<Duration>,
}

/// Where a user stands in a program, and what it has counted there.
#[derive(Default)]
pub(crate) struct Position {
    at: usize,
    counters: Vec<u64>,
    frames: Vec<Frame>,
    orders: Vec<Vec<usize>>,
    open: Vec<Open>,
    /// Transactions that are closed down to so many, before anything else is done.
    unwind: Option<usize>,
    stopping: Option<Flow>,
    drawn: Cell<u64>,
    iterations: u64,
    pub last: Last,
    /// It is that of a branch.
    branch: Option<Box<BranchPlace>>,
}

/// Facts known of the last request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Last {
    pub failed: bool,
    pub status: u16,
    pub took: Duration,
}

impl Default for Last {
    fn default() -> Last {
        Last { failed: false, status: 0, took: Duration::ZERO }
    }
}

#[derive(Clone, Copy, Default)]
struct Frame {
    round: u64,
    times: u64,
    ends: Option<Instant>,
}

/// A transaction or a lock under way.
struct Open {
    label: Label,
    title: Option<String>,
    parent: bool,
    began: Instant,
    pauses: bool,
    paused: Duration,
    good: bool,
    /// It is a lock, and no transaction.
    lock: Option<LockHeld>,
}

/// A transaction that begins or has ended.
pub(crate) struct Mark {
    pub label: Label,
    /// Its label in records, where those are told.
    pub title: Option<String>,
    pub parent: bool,
}

impl Open {
    /// Something in it has failed.
    fn fail(&mut self) {
        self.good = false;
    }
}

impl Position {
    /// The user has waited.
    pub fn paused(&mut self, time: Duration) {
        self.open.iter_mut().filter(|open| !open.pauses).for_each(|open| open.paused += time);
    }
}

/// The next action of a user.
pub(crate) enum Next<'a> {
    /// Send the next request of a step.
    Send(usize),
    Pause(Duration),
    /// Wait until then.
    Until(Instant),
    /// Wait for others.
    Meet(&'a MeetingWork),
    /// A transaction begins, of which records are told.
    Began(Mark),
    /// A transaction has ended: whether all in it was good, and how long it took.
    Ended(Mark, bool, Duration),
    /// Wait for a lock, and then hold it.
    Lock(&'a Arc<Lock>),
    /// Walk the branches of the user.
    Together(&'a TogetherWork),
    /// Run a program.
    Run(&'a CodeWork),
    /// Tell a line.
    Log(String),
    /// Let others have their turn.
    Yield,
    /// The walk is over, or the branch.
    Over,
    /// The user ends, or more than the user.
    Stop(Flow),
}

/// Facts that an operation may depend on beside the user's own values.
#[derive(Clone, Copy)]
pub(crate) struct Around {
    /// The user's number in its group.
    pub user: u64,
    /// The number of the worker, from 0.
    pub worker: u32,
    /// Users of the group that are there now, on all workers.
    pub users: u64,
    /// When the group began.
    pub opens: Instant,
    pub now: Instant,
    pub moment: Moment,
}

impl Program {
    /// A walk begins; choices that take turns go on where they were.
    pub fn begin(&self, position: &mut Position) {
        position.at = if position.iterations == 0 { 0 } else { self.body };
        position.counters.resize(self.counters, 0);
        position.frames.resize(self.loops.len(), Frame::default());
        position.orders.resize(self.orders, Vec::new());
        (position.unwind, position.stopping) = (None, None);
        position.open.clear();
    }

    /// The last request was not good: the walk goes on where the scenario says.
    pub fn failed(&self, position: &mut Position) {
        position.open.iter_mut().for_each(Open::fail);
        position.branch.iter_mut().for_each(|branch| branch.fail());
        if let Some(flow) = self.on_failure.flow() {
            self.flow(flow, position.at.saturating_sub(1), position);
        }
    }

    fn flow(&self, flow: Flow, from: usize, position: &mut Position) {
        let around = self.around.get(from).copied().flatten().map(|id| &self.loops[id]);
        let (at, open) = match (flow, around) {
            (Flow::NextRound, Some(around)) => (around.next, around.open),
            (Flow::BreakLoop, Some(around)) => (around.exit, around.open),
            _ => (self.ops.len(), 0),
        };
        if let Some(end) = position.branch.as_mut().and_then(|branch| branch.left(flow, at)) {
            (position.at, position.unwind) = (end, Some(0));
            return;
        }
        position.at = at;
        position.unwind = Some(open);
        match flow {
            Flow::StopUser | Flow::StopRun | Flow::StopNow => position.stopping = Some(flow),
            // Outside of any loop it is that of the user's iterations.
            Flow::BreakLoop if around.is_none() => position.stopping = Some(Flow::StopUser),
            Flow::NextIteration | Flow::NextRound | Flow::BreakLoop => {}
        }
    }

    /// Goes on until there is something to do.
    pub fn next(&self, around: &Around, position: &mut Position, values: &mut Values) -> Next<'_> {
        for _ in 0..IN_A_ROW {
            if let Some(open) = position.unwind {
                if position.open.len() > open {
                    match end(around, position) {
                        Some(next) => return next,
                        None => continue,
                    }
                }
                position.unwind = None;
            }
            let Some(op) = self.ops.get(position.at) else {
                position.iterations += 1;
                return position.stopping.map_or(Next::Over, Next::Stop);
            };
            position.at += 1;
            if let Some(next) = self.step(op, around, position, values) {
                return next;
            }
        }
        Next::Yield
    }

    fn step<'a>(
        &'a self,
        op: &'a Op,
        around: &Around,
        position: &mut Position,
        values: &mut Values,
    ) -> Option<Next<'a>> {
        match op {
            Op::Send(step) => return Some(Next::Send(*step)),
            Op::Pause(delay) => {
                return Some(Next::Pause(delay.draw(&mut self.draw(around, position))));
            }
            Op::Wait(time) => {
                let time = self.number(time, around, position, &values.slots);
                let time = Duration::from_micros((time.max(0.0) * 1e3) as u64);
                return Some(Next::Pause(time.min(Delay::MAX)));
            }
            Op::Rhythm(rhythm) => match rhythm.due(around, &mut position.counters) {
                Some(due) => return Some(Next::Until(due)),
                None => self.flow(Flow::StopUser, position.at - 1, position),
            },
            Op::Barrier(meeting) => return Some(Next::Meet(meeting)),
            Op::Jump(to) => position.at = *to,
            Op::Unless(condition, _) if self.holds(condition, around, position, &values.slots) => {}
            Op::Unless(_, to) => position.at = *to,
            Op::Choose { by, counter, weights, to } => {
                position.at = to[self.choose(by, *counter, weights, around, position)];
            }
            Op::Switch { on, names, to, exit } => {
                let mut text = Vec::new();
                on.write(around, values, position, &mut text);
                position.at = branch(&text, names).map_or(*exit, |nth| to[nth]);
            }
            Op::Shuffle { order, of } => self.shuffle(*order, *of, around, position),
            Op::Shuffled { order, to, exit } => {
                position.at = position.orders[*order].pop().map_or(*exit, |nth| to[nth]);
            }
            Op::Begin(begin) => return self.begin_transaction(begin, around, position, values),
            Op::End => return end(around, position),
            Op::Lock(lock) => return Some(Next::Lock(lock)),
            Op::Together(work) => return Some(Next::Together(work)),
            Op::BranchEnd => return Some(Next::Over),
            Op::Run(work) => return Some(Next::Run(work)),
            Op::Log(line) => return Some(Next::Log(line.text(around, values, position))),
            Op::Set(slot, value) => {
                let mut text = Vec::new();
                value.write(around, values, position, &mut text);
                values.slots.set(*slot, &text);
            }
            Op::Compute(slot, expression) => {
                let mut text = Vec::new();
                let facts = Surrounded { slots: &values.slots, around, position, seed: self.seed };
                expression.value(&facts).write(&mut text);
                values.slots.set(*slot, &text);
            }
            Op::Count(count) => count.step(around, position, &mut values.slots),
            Op::Feed(feed) => match feed.next(around, &mut position.counters) {
                FeedRow::Cells(row) => feed.keep(row, &mut values.slots),
                FeedRow::Value(value) => feed.fill(value, &mut values.slots),
                FeedRow::Stop => self.flow(Flow::StopUser, position.at - 1, position),
            },
            Op::Flow(flow) => self.flow(*flow, position.at - 1, position),
            Op::Enter(id) => self.enter(*id, around, position, &values.slots),
            Op::Round(id) => self.round(*id, around, position, &mut values.slots),
            Op::Again(id) => self.again(*id, around, position, &values.slots),
            Op::Once { of, exit } => once(*of, *exit, position),
            Op::Share(share) => self.share(share, around, position, &values.slots),
        }
        None
    }

    fn begin_transaction(
        &self,
        begin: &BeginWork,
        around: &Around,
        position: &mut Position,
        values: &mut Values,
    ) -> Option<Next<'static>> {
        let title = begin.title.as_ref().map(|title| title.text(around, values, position));
        position.open.push(Open {
            label: begin.label,
            title: title.clone(),
            parent: begin.parent,
            began: around.now,
            pauses: begin.pauses,
            paused: Duration::ZERO,
            good: true,
            lock: None,
        });
        let mark = Mark { label: begin.label, title, parent: begin.parent };
        self.tells.then_some(Next::Began(mark))
    }

    /// Ends a round of a loop, and the loop where its condition says so.
    fn again(&self, id: usize, around: &Around, position: &mut Position, slots: &Slots) {
        let work = &self.loops[id];
        if work.until.as_ref().is_some_and(|until| self.holds(until, around, position, slots)) {
            position.at = work.exit;
        }
        position.frames[id].round += 1;
    }

    fn draw(&self, around: &Around, position: &Position) -> Draw {
        position.drawn.set(position.drawn.get() + 1);
        Draw::new(hash(self.seed, around.user), position.drawn.get())
    }

    fn holds(&self, condition: &Condition, around: &Around, position: &Position, slots: &Slots) -> bool {
        condition.value(&Surrounded { slots, around, position, seed: self.seed }).is_true()
    }

    /// Returns the value of a condition as a number; anything else counts as 0.
    fn number(&self, of: &Condition, around: &Around, position: &Position, slots: &Slots) -> f64 {
        of.value(&Surrounded { slots, around, position, seed: self.seed }).number().unwrap_or(0.0)
    }

    fn share(&self, work: &ShareWork, around: &Around, position: &mut Position, slots: &Slots) {
        let number = |of: &Condition| self.number(of, around, position, slots);
        let percent = work.percent.as_ref().map(number);
        let times = work.times.as_ref().map_or(0.0, number).max(0.0) as u64;
        work.step(percent, times, position);
    }

    /// Keeps the value of a round; false where there is none.
    fn take(
        &self,
        each: &EachWork,
        round: u64,
        around: &Around,
        position: &Position,
        slots: &mut Slots,
    ) -> bool {
        let number = |of: &Condition| self.number(of, around, position, slots).max(0.0) as u64;
        let nth = number(&each.skip).saturating_add(round + 1);
        if each.last.as_ref().is_some_and(|last| nth > number(last)) {
            return false;
        }
        let name = format!("{}{nth}", each.list);
        let value = slots.named(&self.names, &name).filter(|value| !self.names.is_unset(&name, value));
        let Some(value) = value.map(<[u8]>::to_vec) else { return false };
        slots.set(each.into, &value);
        true
    }

    fn enter(&self, id: usize, around: &Around, position: &mut Position, slots: &Slots) {
        let work = &self.loops[id];
        let times = |times| self.number(times, around, position, slots).max(0.0) as u64;
        let times = work.times.as_ref().map_or(u64::MAX, times);
        position.frames[id] = Frame { round: 0, times, ends: work.lasts.map(|lasts| around.now + lasts) };
    }

    fn round(&self, id: usize, around: &Around, position: &mut Position, slots: &mut Slots) {
        let work = &self.loops[id];
        let frame = position.frames[id];
        let mut goes_on = frame.round < frame.times
            && frame.ends.is_none_or(|ends| around.now < ends)
            && work.each.as_ref().is_none_or(|each| self.take(each, frame.round, around, position, slots));
        if goes_on {
            // The condition may ask for the number of the round that it decides on.
            work.index.iter().for_each(|index| slots.set(*index, frame.round.to_string().as_bytes()));
            let holds = |condition| self.holds(condition, around, position, slots);
            goes_on = work.goes_on.as_ref().is_none_or(holds);
        }
        if !goes_on {
            position.at = work.exit;
        }
    }

    fn choose(
        &self,
        by: &By,
        counter: usize,
        weights: &[u64],
        around: &Around,
        position: &mut Position,
    ) -> usize {
        match by {
            By::Turn => {
                let turn = position.counters[counter];
                position.counters[counter] = turn.wrapping_add(1);
                turn as usize % weights.len()
            }
            By::TurnOfAll(turn) => turn.replace(turn.get().wrapping_add(1)) as usize % weights.len(),
            By::WeightedTurn(weights) => {
                let turns = &mut position.counters[counter..counter + weights.len()];
                let next = turn::furthest_behind(weights, turns);
                turns[next] += 1;
                next
            }
            By::Weight => {
                let all = weights.last().copied().unwrap_or(1).max(1);
                let drawn = self.draw(around, position).below(all);
                weights.partition_point(|upto| *upto <= drawn).min(weights.len() - 1)
            }
        }
    }

    /// Fisher and Yates's.
    fn shuffle(&self, order: usize, of: usize, around: &Around, position: &mut Position) {
        let mut all: Vec<usize> = (0..of).collect();
        for nth in (1..of).rev() {
            all.swap(nth, self.draw(around, position).below(nth as u64 + 1) as usize);
        }
        position.orders[order] = all;
    }
}

/// Ends what began last; of a lock nothing is told.
fn end<'a>(around: &Around, position: &mut Position) -> Option<Next<'a>> {
    let Open { label, title, parent, began, paused, good, lock, .. } = position.open.pop()?;
    let took = around.now.saturating_duration_since(began).saturating_sub(paused);
    if lock.is_some() { None } else { Some(Next::Ended(Mark { label, title, parent }, good, took)) }
}

/// Goes past what is walked in the first round of the loop, or of the iterations, alone.
fn once(of: Option<usize>, exit: usize, position: &mut Position) {
    let first = of.map_or(position.iterations == 0, |id| position.frames[id].round == 0);
    if !first {
        position.at = exit;
    }
}

/// The branch that a switch means.
fn branch(text: &[u8], names: &[String]) -> Option<usize> {
    let named = |wanted: &[u8]| names.iter().position(|name| !name.is_empty() && name.as_bytes() == wanted);
    let text = text.trim_ascii();
    named(text).or_else(|| match std::str::from_utf8(text).ok()?.parse::<usize>() {
        Ok(number) if number < names.len() => Some(number),
        Ok(_) => Some(0),
        Err(_) => named(b"default"),
    })
}

impl ProgramText {
    fn text(&self, around: &Around, values: &mut Values, position: &Position) -> String {
        let mut text = Vec::new();
        self.write(around, values, position, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    fn write(&self, around: &Around, values: &mut Values, position: &Position, to: &mut Vec<u8>) {
        // Each text is a number of its own, so that no two have the same random values.
        position.drawn.set(position.drawn.get() + 1);
        let number = hash(around.user, position.drawn.get());
        let draws: Vec<u64> = self.decks.iter().map(|deck| deck.draw(around.worker)).collect();
        let at = Moment { number, ..around.moment };
        let filling = Filling { at: &at, draws: &draws, slots: &values.slots };
        write_all(&self.parts, &filling, &mut Scrap::default(), to);
    }
}

impl ShareWork {
    /// `percent` and `times`: as they are now.
    fn step(&self, percent: Option<f64>, times: u64, position: &mut Position) {
        let own = (position.counters[self.counter], position.counters[self.counter + 1]);
        let (runs, visits) = self.all.as_ref().map_or(own, Cell::get);
        let goes = match percent {
            Some(percent) => (100.0 * runs as f64 + 50.0) / (visits as f64 + 1.0) < percent,
            None => runs < self.part.map_or(times, |part| part.share(times)),
        };
        let now = (runs + u64::from(goes), visits + 1);
        match &self.all {
            Some(all) => all.set(now),
            None => (position.counters[self.counter], position.counters[self.counter + 1]) = now,
        }
        if !goes {
            position.at = self.exit;
        }
    }
}

impl CountWork {
    fn step(&self, around: &Around, position: &mut Position, slots: &mut Slots) {
        let nth = match &self.deck {
            Some(deck) => deck.draw(around.worker),
            None => {
                let anew = self.each_iteration && position.counters[self.counter + 1] != position.iterations;
                let nth = if anew { 0 } else { position.counters[self.counter] };
                position.counters[self.counter] = nth + 1;
                position.counters[self.counter + 1] = position.iterations;
                nth
            }
        };
        let number = i128::from(self.start) + i128::from(self.step) * i128::from(nth % self.round);
        slots.set(self.slot, format!("{number:0width$}", width = self.digits).as_bytes());
    }
}

/// Facts that expressions are evaluated with.
struct Surrounded<'a> {
    slots: &'a Slots,
    around: &'a Around,
    position: &'a Position,
    seed: u64,
}

impl Facts<usize> for Surrounded<'_> {
    fn kept(&self, slot: &usize) -> Option<&[u8]> {
        self.slots.kept(*slot)
    }

    fn fact(&self, fact: Fact) -> f64 {
        let last = &self.position.last;
        match fact {
            Fact::LastOk => f64::from(u8::from(!last.failed)),
            Fact::LastStatus => f64::from(last.status),
            Fact::LastMilliseconds => last.took.as_secs_f64() * 1e3,
            Fact::User => self.around.user as f64,
            Fact::Iteration => self.position.iterations as f64,
        }
    }

    fn chance(&self) -> f64 {
        let drawn = &self.position.drawn;
        drawn.set(drawn.get() + 1);
        Draw::new(hash(self.seed, self.around.user), drawn.get()).unit()
    }

    fn now(&self) -> u64 {
        self.around.moment.unix_us / 1000
    }
}
