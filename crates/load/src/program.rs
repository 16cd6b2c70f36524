//! A scenario, compiled for a phase: a list of operations, and the place that a user has come to in it. It must not know
//! connections, bytes or clocks.

use crate::request::Decks;
use crate::request::{Compiler, Filling, Part, Scope, Scrap, SlotNames, Values, write_all};
use measure::Label;
use plan::data::{Moment, Names, Tables};
use plan::draw::{Draw, hash};
use plan::template::Encode;
use plan::{Amount, Choice, ChoiceBy, Delay, Scenario, Set, Step};

/// A compiled journey.
pub(crate) struct Program {
    ops: Vec<Op>,
    /// Places of loops and of choices that take turns.
    counters: usize,
    seed: u64,
}

enum Op {
    Send(usize),
    Pause(Delay),
    /// Jumps, and the counter of the loop goes up, as long as that is below so many.
    Again {
        counter: usize,
        times: u32,
        to: usize,
    },
    Choose {
        by_turn: bool,
        counter: usize,
        weights: Vec<u64>,
        to: Vec<usize>,
    },
    Jump(usize),
    Begin,
    End(Label),
    Set {
        slot: usize,
        value: Vec<Part>,
    },
}

/// Where a user stands in a program, and what it has counted there.
#[derive(Default)]
pub(crate) struct Position {
    at: usize,
    counters: Vec<u32>,
    drawn: u64,
}

impl Position {
    /// A walk begins; choices that take turns go on where they were.
    pub fn begin(&mut self) {
        self.at = 0;
    }
}

/// The next act of a user.
pub(crate) enum Next {
    /// Send the next request of a step.
    Send(usize),
    Pause(Delay),
    /// A transaction begins.
    Begin,
    /// The transaction that began last has ended.
    End(Label),
    /// The walk is over.
    Over,
}

/// All that templates of a scenario may take values from.
pub(crate) struct Known<'a> {
    pub tables: &'a Tables,
    pub decks: &'a Decks,
    pub phase: usize,
    pub seed: u64,
}

impl Program {
    /// Compiles a journey; `None` for a list of things to send, which needs no program.
    pub fn compile(scenario: &Scenario, around: &Known<'_>) -> Option<Program> {
        if !scenario.is_journey() {
            return None;
        }
        let kept = scenario.kept();
        let slots = SlotNames::new(kept.iter().copied());
        let labels = scenario.labels();
        let mut compiling = Compiling { ops: Vec::new(), counters: 0, sends: 0, kept, slots, labels, around };
        compiling.steps(&scenario.steps);
        Some(Program { ops: compiling.ops, counters: compiling.counters, seed: around.seed })
    }

    /// Goes on until there is something to do. `user`: its number, from which choices are drawn.
    pub fn next(&self, user: u64, position: &mut Position, at: &Moment, values: &mut Values) -> Next {
        position.counters.resize(self.counters, 0);
        loop {
            let Some(op) = self.ops.get(position.at) else { return Next::Over };
            position.at += 1;
            match op {
                Op::Send(step) => return Next::Send(*step),
                Op::Pause(delay) => return Next::Pause(*delay),
                Op::Begin => return Next::Begin,
                Op::End(label) => return Next::End(*label),
                Op::Jump(to) => position.at = *to,
                Op::Again { counter, times, to } => {
                    position.counters[*counter] += 1;
                    if position.counters[*counter] < *times {
                        position.at = *to;
                    } else {
                        position.counters[*counter] = 0;
                    }
                }
                Op::Choose { by_turn, counter, weights, to } => {
                    position.at = to[self.choose(*by_turn, *counter, weights, user, position)];
                }
                Op::Set { slot, value } => {
                    let (mut scrap, mut text) = (Scrap::default(), Vec::new());
                    write_all(
                        value,
                        &Filling { at, draws: &[], slots: &values.slots },
                        &mut scrap,
                        &mut text,
                    );
                    values.slots.set(*slot, &text);
                }
            }
        }
    }

    fn choose(
        &self,
        by_turn: bool,
        counter: usize,
        weights: &[u64],
        user: u64,
        position: &mut Position,
    ) -> usize {
        match by_turn {
            true => {
                let turn = position.counters[counter];
                position.counters[counter] = turn.wrapping_add(1);
                turn as usize % weights.len()
            }
            false => {
                position.drawn += 1;
                let all = weights.last().copied().unwrap_or(1).max(1);
                let drawn = Draw::new(hash(self.seed, user), position.drawn).below(all);
                weights.partition_point(|upto| *upto <= drawn).min(weights.len() - 1)
            }
        }
    }
}

struct Compiling<'a> {
    ops: Vec<Op>,
    counters: usize,
    sends: usize,
    kept: Vec<&'a str>,
    slots: SlotNames,
    labels: Vec<String>,
    around: &'a Known<'a>,
}

impl<'a> Compiling<'a> {
    fn steps(&mut self, steps: &'a [Step]) {
        steps.iter().for_each(|step| self.step(step));
    }

    fn step(&mut self, step: &'a Step) {
        match step {
            Step::Sequence(sequence) => self.steps(&sequence.steps),
            Step::Loop(looped) => {
                let (counter, to) = (self.counter(), self.ops.len());
                self.steps(&looped.steps);
                // The plan's check refuses any other loop.
                let times = match looped.times {
                    Some(Amount::Number(times)) => times.min(u32::MAX.into()) as u32,
                    _ => 1,
                };
                self.ops.push(Op::Again { counter, times, to });
            }
            Step::Choice(choice) => self.choice(choice),
            Step::If(_)
            | Step::Share(_)
            | Step::Once(_)
            | Step::Lock(_)
            | Step::Wait(_)
            | Step::Rhythm(_)
            | Step::Barrier(_)
            | Step::Counter(_)
            | Step::Feed(_)
            | Step::Extract(_)
            | Step::Check(_)
            | Step::Code(_)
            | Step::Log(_)
            | Step::Flow(_) => unreachable!("the plan's check refuses it"),
            Step::Pause(delay) => self.ops.push(Op::Pause(*delay)),
            Step::Transaction(transaction) => {
                self.ops.push(Op::Begin);
                self.steps(&transaction.steps);
                let place = self.labels.iter().position(|label| *label == transaction.name);
                self.ops.push(Op::End(Label(place.unwrap_or(usize::MAX).min(u16::MAX.into()) as u16)));
            }
            Step::Set(set) => self.set(set),
            Step::Object(_) | Step::Urls(_) | Step::Requests(_) | Step::Script(_) | Step::Messages(_) => {
                self.ops.push(Op::Send(self.sends));
                self.sends += 1;
            }
        }
    }

    fn counter(&mut self) -> usize {
        self.counters += 1;
        self.counters - 1
    }

    fn choice(&mut self, choice: &'a Choice) {
        let (counter, chosen) = (self.counter(), self.ops.len());
        let mut sum = 0;
        let weights = choice.branches.iter().map(|branch| {
            sum += u64::from(branch.weight);
            sum
        });
        let weights = weights.collect();
        self.ops.push(Op::Choose { by_turn: choice.by == ChoiceBy::Turn, counter, weights, to: Vec::new() });
        let (mut to, mut ends) = (Vec::new(), Vec::new());
        for branch in &choice.branches {
            to.push(self.ops.len());
            self.steps(&branch.steps);
            ends.push(self.ops.len());
            self.ops.push(Op::Jump(0));
        }
        let end = self.ops.len();
        ends.into_iter().for_each(|place| self.ops[place] = Op::Jump(end));
        if let Op::Choose { to: targets, .. } = &mut self.ops[chosen] {
            *targets = to;
        }
    }

    fn set(&mut self, set: &Set) {
        // The plan's check has seen that the name is kept.
        let Some(slot) = self.slots.slot(&set.name) else { return };
        let Known { tables, decks, phase, seed } = *self.around;
        let names = Names { data: &[], extracted: &self.kept };
        let scope = Scope { names, slots: &self.slots, tables, decks, phase, seed };
        let value = Compiler::new(scope).parts(&set.value, Encode::Raw);
        self.ops.push(Op::Set { slot, value });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{Branch, Loop, RequestStep, Sequence, Transaction};

    fn send() -> Step {
        Step::Requests(RequestStep::default())
    }

    fn walk(steps: Vec<Step>, walks: usize) -> String {
        let (tables, decks) = (Tables::default(), Decks::new(1));
        let around = Known { tables: &tables, decks: &decks, phase: 0, seed: 5 };
        let program = Program::compile(&Scenario::of(steps), &around).unwrap();
        let (mut position, mut values, mut seen) = (Position::default(), Values::default(), String::new());
        for _ in 0..walks {
            position.begin();
            loop {
                match program.next(7, &mut position, &Moment::default(), &mut values) {
                    Next::Send(step) => seen += &step.to_string(),
                    Next::Pause(_) => seen += "p",
                    Next::Begin => seen += "(",
                    Next::End(label) => seen += &format!("){}", label.0),
                    Next::Over => break,
                }
            }
            seen += " ";
        }
        seen
    }

    #[test]
    fn loops_nest_and_choices_take_turns() {
        let twice = |steps| Step::Loop(Loop::times(2, steps));
        let branch = |weight, steps| Branch::of(weight, steps);
        assert_eq!(walk(vec![twice(vec![send(), twice(vec![send()])]), send()], 2), "0110112 0110112 ");
        let choice =
            Choice { by: ChoiceBy::Turn, branches: vec![branch(1, vec![send()]), branch(1, vec![])] };
        assert_eq!(walk(vec![Step::Choice(choice), send()], 3), "01 1 01 ");
        let steps = vec![Step::Transaction(Transaction::of("a", vec![send()]))];
        assert_eq!(
            walk(vec![Step::Sequence(Sequence { name: String::new(), steps }), Step::Pause(Delay::None)], 1),
            "(0)0p "
        );
    }

    #[test]
    fn weights_say_how_often() {
        let branches =
            vec![Branch::of(3, vec![send()]), Branch::of(1, vec![send()]), Branch::of(0, vec![send()])];
        let choice = Choice { by: ChoiceBy::Weight, branches };
        let seen = walk(vec![Step::Choice(choice), Step::Pause(Delay::None)], 2_000);
        let count = |what: char| seen.chars().filter(|seen| *seen == what).count();
        assert!((1_400..1_600).contains(&count('0')) && count('2') == 0, "{} {}", count('0'), count('1'));
    }
}
