//! Makes a scenario's operations.

use super::feed::FeedWork;
use super::rhythm::RhythmWork;
use super::together::{BranchWork, TogetherWork};
use super::{
    BeginWork, By, CodeWork, Condition, CountWork, EachWork, LoopWork, MeetingWork, Op, Program, ProgramText,
    ShareWork,
};
use crate::answer::{After, is_of_sample};
use crate::code::Interpreter;
use crate::control::{Control, Decks};
use crate::request::{Compiler, RequestScope, SlotNames, starts};
use measure::Label;
use plan::answer::{By as Place, Check, Extract};
use plan::data::{Names, Tables};
use plan::expression::Node;
use plan::template::Encode;
use plan::{
    Amount, Barrier, Body, Choice, ChoiceBy, Code, CounterStep, Expression, ForEach, If, Inputs, Loop, Part,
    Percent, Rhythm, RhythmHow, Scenario, Set, Share, Step, Together, Transaction,
};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// All that templates and steps of a scenario may take values from.
pub(crate) struct CompileKnown<'a> {
    pub tables: &'a Tables,
    pub decks: &'a Decks,
    pub control: &'a Control,
    pub inputs: &'a Inputs,
    /// Labels of the whole phase.
    pub labels: &'a [String],
    /// Rhythms that all groups share, by what they say.
    pub rhythms: &'a RefCell<HashMap<String, Rc<RhythmWork>>>,
    pub phase: usize,
    /// The number of the group in its phase.
    pub group: usize,
    pub part: Part,
    pub seed: u64,
    /// Who interprets programs.
    pub programs: Option<&'a dyn Interpreter>,
    /// Records are told of single requests and transactions.
    pub tells: bool,
}

impl Program {
    /// Compiles a journey; `None` for a list of things to send, which needs no program.
    pub fn compile(scenario: &Scenario, around: &CompileKnown<'_>) -> Option<Program> {
        if !scenario.is_journey() {
            return None;
        }
        let kept = scenario.kept();
        let slots = SlotNames::new(kept.iter().copied()).starting(starts(&scenario.variables));
        let mut compiling = Compiling {
            ops: Vec::new(),
            around_ops: Vec::new(),
            loops: Vec::new(),
            counters: 0,
            orders: 0,
            sends: 0,
            open: 0,
            branches: 0,
            inner: None,
            rhythms: HashMap::new(),
            kept,
            slots,
            around,
        };
        scenario.variables.iter().for_each(|set| compiling.set(set));
        let body = compiling.ops.len();
        compiling.steps(&scenario.steps);
        let Compiling { ops, around_ops, loops, counters, orders, slots, .. } = compiling;
        Some(Program {
            ops,
            around: around_ops,
            loops,
            body,
            counters,
            orders,
            names: slots,
            on_failure: scenario.on_failure,
            tells_time: !scenario.kept().is_empty() || has_expressions(scenario),
            watches: around.tells || is_watched(scenario),
            tells: around.tells,
            keep: scenario.keep,
            seed: plan::draw::hash(around.seed, around.group as u64),
        })
    }
}

/// Texts and expressions may hold times.
fn has_expressions(scenario: &Scenario) -> bool {
    let mut found = false;
    scenario.each(&mut |step| {
        found |= matches!(step, Step::If(_) | Step::Loop(_) | Step::Wait(_) | Step::Choice(_));
    });
    found
}

/// Programs run in it, or something looks at what was sent.
pub(crate) fn is_watched(scenario: &Scenario) -> bool {
    let mut found = false;
    scenario.each(&mut |step| {
        if let Step::Extract(Extract { at, .. }) | Step::Check(Check { at, .. }) = step {
            found |= is_of_sample(at.part) || at.by == Place::Reason;
        }
        found |= matches!(step, Step::Code(_));
    });
    found
}

struct Compiling<'a> {
    ops: Vec<Op>,
    around_ops: Vec<Option<usize>>,
    loops: Vec<LoopWork>,
    counters: usize,
    orders: usize,
    sends: usize,
    /// Transactions around.
    open: usize,
    /// Branches so far.
    branches: u32,
    /// The innermost loop around.
    inner: Option<usize>,
    /// Rhythms of the group, by what they say.
    rhythms: HashMap<String, Rc<RhythmWork>>,
    kept: Vec<&'a str>,
    slots: SlotNames,
    around: &'a CompileKnown<'a>,
}

impl<'a> Compiling<'a> {
    fn push(&mut self, op: Op) -> usize {
        self.ops.push(op);
        self.around_ops.push(self.inner);
        self.ops.len() - 1
    }

    /// Reserves counters and says where the first is.
    fn count(&mut self, counters: usize) -> usize {
        self.counters += counters;
        self.counters - counters
    }

    fn steps(&mut self, steps: &'a [Step]) {
        steps.iter().for_each(|step| self.step(step));
    }

    fn step(&mut self, step: &'a Step) {
        match step {
            Step::Sequence(sequence) => self.steps(&sequence.steps),
            Step::Loop(looped) => self.looped(looped),
            Step::If(one) => self.branch(one),
            Step::Choice(choice) => self.choice(choice),
            Step::Share(share) => self.share(share),
            Step::Once(once) => {
                let of = self.inner;
                let place = self.push(Op::Once { of, exit: 0 });
                self.steps(&once.steps);
                let end = self.ops.len();
                if let Op::Once { exit, .. } = &mut self.ops[place] {
                    *exit = end;
                }
            }
            Step::Transaction(transaction) => self.transaction(transaction),
            Step::Pause(delay) => {
                self.push(Op::Pause(*delay));
            }
            Step::Wait(time) => {
                if let Some(time) = self.condition(time) {
                    self.push(Op::Wait(time));
                }
            }
            Step::Rhythm(rhythm) => {
                let work = self.rhythm(rhythm);
                self.push(Op::Rhythm(work));
            }
            Step::Barrier(barrier) => self.barrier(barrier),
            Step::Set(set) => self.set(set),
            Step::Counter(counter) => self.counter(counter),
            Step::Feed(feed) => {
                let counter = self.count(1);
                let CompileKnown { inputs, decks, phase, group, .. } = *self.around;
                let slots = &self.slots;
                if let Some(work) = FeedWork::new(feed, counter, inputs, decks, phase, group, slots) {
                    self.push(Op::Feed(work));
                }
            }
            Step::Flow(flow) => {
                self.push(Op::Flow(*flow));
            }
            Step::Lock(lock) => self.lock(lock),
            Step::Together(together) => self.together(together),
            Step::Code(code) => self.code(code),
            Step::Log(log) => {
                let text = self.text(&log.text);
                self.push(Op::Log(text));
            }
            Step::Extract(_) | Step::Check(_) => debug_assert!(false, "the plan's check refuses it"),
            Step::Object(_) | Step::Urls(_) | Step::Requests(_) | Step::Script(_) | Step::Messages(_) => {
                self.push(Op::Send(self.sends));
                self.sends += 1;
            }
        }
    }

    /// A rhythm; those that say the same are one, in the group or, where all share it, in the phase.
    fn rhythm(&mut self, rhythm: &Rhythm) -> Rc<RhythmWork> {
        let CompileKnown { part, seed, group, .. } = *self.around;
        let of_all = rhythm.of == plan::Scope::All && rhythm.how != RhythmHow::Divided;
        let said = format!("{rhythm:?}");
        let known = if of_all { self.around.rhythms.borrow().get(&said).cloned() } else { None };
        if let Some(known) = known.or_else(|| self.rhythms.get(&said).cloned()) {
            return known;
        }
        let counter = self.count(1);
        let seed = if of_all { seed } else { plan::draw::hash(seed, group as u64) };
        let work = Rc::new(RhythmWork::new(rhythm, counter, part, seed));
        if of_all {
            self.around.rhythms.borrow_mut().insert(said.clone(), work.clone());
        }
        self.rhythms.insert(said, work.clone());
        work
    }

    /// An expression over slots; `None` for what the plan's check refuses.
    fn condition(&self, expression: &Expression) -> Option<Condition> {
        expression.parse().ok()?.map(&mut |name| self.slots.slot(&name))
    }

    fn amount(&self, amount: &Amount) -> Option<Condition> {
        match amount {
            Amount::Number(number) => Some(Node::Number(*number as f64)),
            Amount::Computed(expression) => self.condition(expression),
        }
    }

    fn looped(&mut self, looped: &'a Loop) {
        let work = LoopWork {
            times: looped.times.as_ref().and_then(|times| self.amount(times)),
            lasts: looped.lasts,
            goes_on: looped.goes_on.as_ref().and_then(|goes_on| self.condition(goes_on)),
            until: looped.until.as_ref().and_then(|until| self.condition(until)),
            each: looped.each.as_ref().and_then(|each| self.each(each)),
            index: looped.index.as_ref().and_then(|index| self.slots.slot(index)),
            open: self.open,
            ..LoopWork::default()
        };
        let id = self.loops.len();
        let outer = self.inner;
        self.loops.push(work);
        self.push(Op::Enter(id));
        self.inner = Some(id);
        // A round that is broken off has ended as well: its number goes up on the way to the next one.
        let first = self.push(Op::Jump(0));
        let next = self.push(Op::Again(id));
        let round = self.push(Op::Round(id));
        self.ops[first] = Op::Jump(round);
        self.steps(&looped.steps);
        self.push(Op::Jump(next));
        self.inner = outer;
        let exit = self.ops.len();
        (self.loops[id].next, self.loops[id].exit) = (next, exit);
    }

    fn each(&self, each: &ForEach) -> Option<EachWork> {
        let between = if each.no_underscore { "" } else { "_" };
        Some(EachWork {
            list: format!("{}{between}", each.list),
            into: self.slots.slot(&each.into)?,
            skip: self.amount(&each.skip)?,
            last: each.last.as_ref().and_then(|last| self.amount(last)),
        })
    }

    fn branch(&mut self, one: &'a If) {
        let Some(condition) = self.condition(&one.condition) else { return };
        let mut tests = Vec::new();
        for (nth, step) in one.steps.iter().enumerate() {
            if nth == 0 || one.before_each {
                tests.push(self.push(Op::Unless(condition.clone(), 0)));
            }
            self.step(step);
        }
        if one.steps.is_empty() {
            tests.push(self.push(Op::Unless(condition, 0)));
        }
        let skip = self.push(Op::Jump(0));
        let otherwise = self.ops.len();
        self.steps(&one.otherwise);
        let end = self.ops.len();
        self.ops[skip] = Op::Jump(end);
        for (nth, place) in tests.into_iter().enumerate() {
            if let Op::Unless(_, to) = &mut self.ops[place] {
                // What stands behind else belongs to the first look alone.
                *to = if nth == 0 { otherwise } else { end };
            }
        }
    }

    fn choice(&mut self, choice: &'a Choice) {
        let mut sum = 0;
        let weights = choice.branches.iter().map(|branch| {
            sum += u64::from(branch.weight);
            sum
        });
        let weights: Vec<u64> = weights.collect();
        let place = match &choice.by {
            ChoiceBy::Shuffle => {
                let order = self.orders;
                self.orders += 1;
                self.push(Op::Shuffle { order, of: weights.len() });
                self.push(Op::Shuffled { order, to: Vec::new(), exit: 0 })
            }
            ChoiceBy::Switch(on) => {
                let on = self.text(on);
                let names = choice.branches.iter().map(|branch| branch.name.clone());
                let names = names.collect();
                self.push(Op::Switch { on, names, to: Vec::new(), exit: 0 })
            }
            ChoiceBy::Weight => self.choose(By::Weight, 1, weights),
            ChoiceBy::Turn => self.choose(By::Turn, 1, weights),
            ChoiceBy::TurnOfAll => self.choose(By::TurnOfAll(Cell::new(0)), 1, weights),
            ChoiceBy::WeightedTurn => {
                let own = choice.branches.iter().map(|branch| branch.weight.into()).collect();
                self.choose(By::WeightedTurn(own), choice.branches.len(), weights)
            }
        };
        self.branches(choice, place);
    }

    /// A choice of one branch, which needs so many counters.
    fn choose(&mut self, by: By, counters: usize, weights: Vec<u64>) -> usize {
        let counter = self.count(counters);
        self.push(Op::Choose { by, counter, weights, to: Vec::new() })
    }

    /// The branches of a choice that stands at a place, and where it leads to.
    fn branches(&mut self, choice: &'a Choice, place: usize) {
        let mut begins = Vec::new();
        let mut ends = Vec::new();
        for branch in &choice.branches {
            begins.push(self.ops.len());
            self.steps(&branch.steps);
            ends.push(self.push(Op::Jump(0)));
        }
        let end = self.ops.len();
        let behind = if choice.by == ChoiceBy::Shuffle { place } else { end };
        ends.into_iter().for_each(|place| self.ops[place] = Op::Jump(behind));
        let op = &mut self.ops[place];
        if let Op::Choose { to, .. } = op {
            *to = begins;
        } else if let Op::Switch { to, exit, .. } | Op::Shuffled { to, exit, .. } = op {
            (*to, *exit) = (begins, end);
        }
    }

    fn share(&mut self, share: &'a Share) {
        let all = (share.of != plan::Scope::User).then(|| Cell::new((0, 0)));
        let percent = share.percent.as_ref().and_then(|percent| match percent {
            Percent::Number(percent) => Some(Node::Number(*percent)),
            Percent::Computed(expression) => self.condition(expression),
        });
        let times = share.times.as_ref().and_then(|times| self.amount(times));
        let part = all.is_some().then_some(self.around.part);
        let counter = self.count(2);
        let place = self.push(Op::Share(ShareWork { percent, times, part, counter, all, exit: 0 }));
        self.steps(&share.steps);
        let end = self.ops.len();
        if let Op::Share(work) = &mut self.ops[place] {
            work.exit = end;
        }
    }

    fn transaction(&mut self, transaction: &'a Transaction) {
        let label = self.label(&transaction.name);
        let name = Body::from(plan::template::escape(transaction.name.as_bytes()));
        let title = self.title(if transaction.title.is_empty() { &name } else { &transaction.title });
        let pauses = transaction.pauses;
        let parent = transaction.parent;
        self.push(Op::Begin(BeginWork { label, title, pauses, parent }));
        self.open += 1;
        self.steps(&transaction.steps);
        self.open -= 1;
        self.push(Op::End);
    }

    fn label(&self, name: &str) -> Label {
        let place = self.around.labels.iter().position(|label| *label == name);
        Label(place.unwrap_or(usize::MAX).min(u16::MAX.into()) as u16)
    }

    /// A label that holds values, where records are told.
    fn title(&self, title: &[u8]) -> Option<ProgramText> {
        (self.around.tells && !title.is_empty()).then(|| self.text(title))
    }

    fn lock(&mut self, lock: &'a plan::Lock) {
        let CompileKnown { control, phase, .. } = *self.around;
        self.push(Op::Lock(control.lock(phase, &lock.name)));
        self.open += 1;
        self.steps(&lock.steps);
        self.open -= 1;
        self.push(Op::End);
    }

    fn together(&mut self, together: &'a Together) {
        // Stands for the operation, whose branches are not known yet.
        let place = self.push(Op::BranchEnd);
        // A branch begins with nothing open.
        let open = std::mem::take(&mut self.open);
        let first = self.sends;
        let mut branches = Vec::new();
        for step in &together.steps {
            self.branches += 1;
            let begin = self.ops.len();
            self.step(step);
            branches.push(BranchWork { number: self.branches, begin, end: self.push(Op::BranchEnd) });
        }
        self.open = open;
        let at_once = match together.at_once {
            0 => branches.len(),
            at_once => branches.len().min(at_once as usize),
        };
        let sends = first..self.sends;
        let exit = self.ops.len();
        self.ops[place] = Op::Together(Box::new(TogetherWork { at_once, sends, branches, exit }));
    }

    fn code(&mut self, code: &'a Code) {
        let Some(programs) = self.around.programs else { return };
        let work = CodeWork {
            program: programs.prepare(code),
            parameters: self.text(&code.parameters),
            into: code.into.as_ref().and_then(|into| self.slots.slot(into)),
            sample: (!code.sample.is_empty()).then(|| self.label(&code.sample)),
            name: code.sample.clone(),
            title: self.title(&code.title),
            after: After::new(&code.after, false, &self.slots, Some(programs)),
        };
        self.push(Op::Run(Box::new(work)));
    }

    fn barrier(&mut self, barrier: &Barrier) {
        let CompileKnown { phase, group, .. } = *self.around;
        let name = if barrier.name.is_empty() {
            format!("{group}/{}", self.ops.len())
        } else {
            barrier.name.clone()
        };
        let meeting: Arc<_> = self.around.control.meeting(phase, name);
        let users = (barrier.users > 0).then(|| barrier.users.into());
        self.push(Op::Barrier(MeetingWork { meeting, users, timeout: barrier.timeout }));
    }

    fn text(&self, text: &[u8]) -> ProgramText {
        let CompileKnown { tables, decks, phase, seed, .. } = *self.around;
        let names = Names { data: &[], extracted: &self.kept };
        let scope = RequestScope { names, slots: &self.slots, tables, decks, phase, seed };
        let mut compiler = Compiler::new(scope);
        let parts = compiler.parts(text, Encode::Raw);
        ProgramText { parts, decks: compiler.decks() }
    }

    fn set(&mut self, set: &Set) {
        // The plan's check has seen that the name is kept.
        let Some(slot) = self.slots.slot(&set.name) else { return };
        let op = match &set.expression {
            None => Some(Op::Set(slot, self.text(&set.value))),
            Some(expression) => self.condition(expression).map(|node| Op::Compute(slot, node)),
        };
        if let Some(op) = op {
            self.push(op);
        }
    }

    fn counter(&mut self, counter: &CounterStep) {
        let Some(slot) = self.slots.slot(&counter.name) else { return };
        let CompileKnown { decks, phase, group, .. } = *self.around;
        let round = counter.end.map_or(u64::MAX, |end| {
            let way = end.abs_diff(counter.start);
            let step = counter.step.unsigned_abs().max(1);
            way / step + 1
        });
        let name = match counter.of {
            plan::Scope::User => None,
            plan::Scope::Group => Some(format!("counter {} of group {group}", counter.name)),
            plan::Scope::All => Some(format!("counter {}", counter.name)),
        };
        let first = self.count(2);
        let work = CountWork {
            slot,
            start: counter.start,
            step: counter.step,
            round,
            digits: counter.digits.into(),
            counter: first,
            deck: name.map(|name| decks.deck(phase, name, Some(round))),
            each_iteration: counter.each_iteration,
        };
        self.push(Op::Count(work));
    }
}
