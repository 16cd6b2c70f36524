use super::*;
use crate::control::{Control, Decks};
use plan::data::Tables;
use plan::{
    Amount, Branch, Choice, ChoiceBy, CounterStep, Feed, FeedEnd, ForEach, If, Inputs, Loop, NamedFile,
    Percent, RequestStep, Rhythm, RhythmHow, Scenario, Scope, Sequence, Set, Share, Step, Together,
    Transaction,
};
use std::cell::RefCell;

fn send() -> Step {
    Step::Requests(RequestStep::default())
}

fn sequence(steps: Vec<Step>) -> Sequence {
    Sequence { name: String::new(), steps }
}

fn set(name: &str, expression: &str) -> Step {
    Step::Set(Set { expression: Some(expression.into()), ..Set::of(name, "") })
}

/// Shows the value of a name, as a pause of so many milliseconds.
fn show(name: &str) -> Step {
    Step::Wait(name.into())
}

/// One worker's world, with a clock that goes on only where a user waits.
struct World {
    program: Rc<Program>,
    user: u64,
    opens: Instant,
    now: Instant,
    position: Position,
    values: Values,
    /// Requests that fail, by their number in all, from 0.
    fail: Vec<usize>,
    sent: usize,
}

impl World {
    fn new(scenario: &Scenario) -> World {
        World::with(scenario, &Inputs::default(), &Control::new(1, 1))
    }

    fn with(scenario: &Scenario, inputs: &Inputs, control: &Control) -> World {
        let tables = Tables::default();
        let decks = Decks::new(1);
        let rhythms = RefCell::default();
        let known = CompileKnown {
            tables: &tables,
            decks: &decks,
            control,
            inputs,
            labels: &scenario.labels(),
            rhythms: &rhythms,
            phase: 0,
            group: 0,
            part: plan::Part::WHOLE,
            seed: 5,
            programs: None,
            tells: false,
        };
        let program = Program::compile(scenario, &known).unwrap();
        let now = Instant::now();
        World {
            program: Rc::new(program),
            user: 7,
            opens: now,
            now,
            position: Position::default(),
            values: Values::default(),
            fail: Vec::new(),
            sent: 0,
        }
    }

    /// One walk: sends as their steps, waits in milliseconds, transactions with their figures; `!` where the user ends.
    fn walk(&mut self) -> String {
        let mut seen = Vec::new();
        self.program.begin(&mut self.position);
        self.go(&mut seen);
        seen.join(" ")
    }

    /// Up to the end of the walk, or of the branch.
    fn go(&mut self, seen: &mut Vec<String>) {
        let program = self.program.clone();
        loop {
            let around = Around {
                user: self.user,
                worker: 0,
                users: 1,
                opens: self.opens,
                now: self.now,
                moment: Moment::default(),
            };
            match program.next(&around, &mut self.position, &mut self.values) {
                Next::Send(step) => {
                    seen.push(step.to_string());
                    self.now += Duration::from_millis(10);
                    let failed = self.fail.contains(&self.sent);
                    self.sent += 1;
                    self.position.last = Last {
                        failed,
                        status: if failed { 500 } else { 200 },
                        took: Duration::from_millis(10),
                    };
                    if failed {
                        program.failed(&mut self.position);
                    }
                }
                Next::Pause(time) => {
                    seen.push(format!("p{}", time.as_micros() as f64 / 1e3));
                    self.now += time;
                    self.position.paused(time);
                }
                Next::Until(moment) => {
                    seen.push(format!("@{}", (moment - self.opens).as_millis()));
                    self.now = self.now.max(moment);
                }
                Next::Meet(_) => seen.push("meet".to_owned()),
                Next::Ended(label, good, took) => {
                    let good = if good { "" } else { "!" };
                    seen.push(format!("t{}{good}:{}", label.label.0, took.as_millis()));
                }
                Next::Began(_) | Next::Run(_) => {}
                Next::Together(work) => self.branch(work, seen),
                Next::Lock(lock) => {
                    seen.push("lock".to_owned());
                    let held = lock.take().expect("nobody else has it");
                    program.hold(held, &mut self.position, self.now);
                }
                Next::Log(text) => seen.push(format!("'{text}'")),
                Next::Yield => seen.push("yield".to_owned()),
                Next::Over => break,
                Next::Stop(_) => {
                    seen.push("!".to_owned());
                    break;
                }
            }
            if seen.len() > 10_000 {
                break;
            }
        }
    }

    /// The branches of a step, here one after the other: each with its number.
    fn branch(&mut self, work: &TogetherWork, seen: &mut Vec<String>) {
        let branches = self.position.branches(work);
        let of_user = std::mem::take(&mut self.position);
        let mut ended = Vec::new();
        for (number, position) in branches {
            self.position = position;
            seen.push(format!("{number}["));
            self.go(seen);
            seen.push("]".to_owned());
            ended.push(std::mem::take(&mut self.position));
        }
        self.position = of_user;
        self.program.clone().join(work, &mut self.position, &ended);
    }
}

/// Returns the actions of a user in so many walks.
fn walks(steps: Vec<Step>, walks: usize) -> String {
    let mut world = World::new(&Scenario::of(steps));
    (0..walks).map(|_| world.walk()).collect::<Vec<_>>().join(" / ")
}

#[test]
fn loops_nest_and_choices_take_turns() {
    let twice = |steps| Step::Loop(Loop::times(2, steps));
    assert_eq!(
        walks(vec![twice(vec![send(), twice(vec![send()])]), send()], 2),
        "0 1 1 0 1 1 2 / 0 1 1 0 1 1 2"
    );
    let branches = || vec![Branch::of(1, vec![send()]), Branch::of(1, vec![])];
    for by in [ChoiceBy::Turn, ChoiceBy::TurnOfAll] {
        let choice = Step::Choice(Choice { by, branches: branches() });
        assert_eq!(walks(vec![choice, send()], 3), "0 1 / 1 / 0 1");
    }
    let steps = vec![Step::Transaction(Transaction::of("a", vec![send()]))];
    assert_eq!(walks(vec![Step::Sequence(sequence(steps)), Step::Pause(Delay::None)], 1), "0 t0:10 p0");
}

#[test]
fn loops_go_on_as_long_as_all_holds() {
    let of = |looped: Loop| walks(vec![Step::Loop(Loop { steps: vec![send()], ..looped }), show("i")], 1);
    let index = || Some("i".to_owned());
    assert_eq!(of(Loop { index: index(), ..Loop::times(3, vec![]) }), "0 0 0 p2");
    assert_eq!(of(Loop { index: index(), ..Loop::times(0, vec![]) }), "p0");
    let computed = Some(Amount::Computed("1 + 1".into()));
    assert_eq!(of(Loop { index: index(), times: computed, ..Loop::default() }), "0 0 p1");
    let goes_on = Some("i < 2".into());
    assert_eq!(
        of(Loop { index: index(), goes_on, times: Some(Amount::Number(9)), ..Loop::default() }),
        "0 0 p2"
    );
    let until = Some("i >= 2".into());
    assert_eq!(of(Loop { index: index(), until, ..Loop::default() }), "0 0 0 p2");
    let lasts = Some(Duration::from_millis(25));
    assert_eq!(of(Loop { index: index(), lasts, ..Loop::default() }), "0 0 0 p2");
}

#[test]
fn a_list_is_walked_up_to_its_first_gap() {
    let value = |name: &str, value: &str| Step::Set(Set::of(name, value));
    let each =
        |skip, last| ForEach { list: "x".to_owned(), into: "v".to_owned(), skip, last, no_underscore: false };
    let number = Amount::Number;
    let computed = |text: &str| Amount::Computed(text.into());
    let of = |skip, last| {
        let looped = Loop { each: Some(each(skip, last)), steps: vec![show("v")], ..Loop::default() };
        walks(
            vec![
                value("x_1", "5"),
                value("x_2", "6"),
                value("x_3", "7"),
                value("x_5", "9"),
                Step::Loop(looped),
            ],
            1,
        )
    };
    let seen =
        [of(number(0), None), of(number(1), None), of(number(0), Some(number(2))), of(number(3), None)];
    assert_eq!(seen, ["p5 p6 p7", "p6 p7", "p5 p6", ""]);
    assert_eq!(of(computed("x_1 - 4"), Some(computed("x_1 - 2"))), "p6 p7");
}

#[test]
fn conditions_decide() {
    let one = |condition: &str, before_each, steps, otherwise| {
        Step::If(If { condition: condition.into(), before_each, steps, otherwise })
    };
    assert_eq!(walks(vec![one("1 < 2", false, vec![send()], vec![send()])], 1), "0");
    assert_eq!(walks(vec![one("1 > 2", false, vec![send()], vec![send()]), send()], 1), "1 2");
    let changes = vec![
        set("go", "true"),
        one("go", true, vec![send(), set("go", "false"), send()], vec![send()]),
        send(),
    ];
    assert_eq!(walks(changes, 1), "0 3");
    let stays =
        vec![set("go", "true"), one("go", false, vec![send(), set("go", "false"), send()], vec![]), send()];
    assert_eq!(walks(stays, 1), "0 1 2");
}

#[test]
fn weights_say_how_often() {
    let branches = [3, 1, 0].map(|weight| Branch::of(weight, vec![send()])).to_vec();
    let choice = Choice { by: ChoiceBy::Weight, branches };
    let seen = walks(vec![Step::Choice(choice), Step::Pause(Delay::None)], 2_000);
    let count = |what: char| seen.split(' ').filter(|seen| *seen == what.to_string()).count();
    assert!((1_400..1_600).contains(&count('0')) && count('2') == 0, "{} {}", count('0'), count('1'));
}

#[test]
fn a_shuffle_takes_all_in_an_order_that_changes() {
    let branches = (0..4).map(|_| Branch::of(1, vec![send()])).collect();
    let choice = Step::Choice(Choice { by: ChoiceBy::Shuffle, branches });
    let seen = walks(vec![choice], 200);
    let orders: std::collections::HashSet<&str> = seen.split(" / ").collect();
    assert_eq!(orders.len(), 24, "every order of four comes up in 200 walks");
    for order in orders {
        let mut steps: Vec<&str> = order.split(' ').collect();
        steps.sort_unstable();
        assert_eq!(steps, ["0", "1", "2", "3"]);
    }
}

#[test]
fn a_switch_goes_by_name_then_by_number() {
    let branch = |name: &str| Branch { name: name.to_owned(), ..Branch::of(1, vec![send()]) };
    let of = |on: &str, last: &str| {
        let branches = vec![branch("a"), branch("b"), branch(last)];
        walks(vec![Step::Choice(Choice { by: ChoiceBy::Switch(on.into()), branches }), send()], 1)
    };
    for (on, last, seen) in [
        ("b", "c", "1 3"),
        (" a ", "c", "0 3"),
        ("1", "c", "1 3"),
        ("7", "c", "0 3"),
        ("x", "c", "3"),
        ("x", "default", "2 3"),
        ("0", "0", "2 3"),
    ] {
        assert_eq!(of(on, last), seen, "{on} {last}");
    }
}

#[test]
fn shares_may_be_computed_each_time() {
    let set = |name: &str, value: &str| Step::Set(Set::of(name, value));
    let share = |percent: &str| {
        let percent = Some(Percent::Computed(percent.into()));
        Step::Share(Share { percent, times: None, of: Scope::User, steps: vec![send()] })
    };
    assert_eq!(walks(vec![set("p", "100"), share("p"), set("q", "none"), share("q")], 2), "0 / 0");
    let times = Some(Amount::Computed("p".into()));
    let twice = Step::Share(Share { percent: None, times, of: Scope::User, steps: vec![send()] });
    assert_eq!(walks(vec![set("p", "2"), twice], 3), "0 / 0 / ");
}

#[test]
fn shares_are_exact() {
    let share = |percent: Option<f64>, times, of| {
        let percent = percent.map(Percent::Number);
        Step::Share(Share { percent, times, of, steps: vec![send()] })
    };
    for percent in [0.0, 10.0, 25.0, 33.0, 50.0, 99.0, 100.0] {
        for of in [Scope::User, Scope::All] {
            let seen = walks(vec![share(Some(percent), None, of)], 200);
            let count = seen.split(' ').filter(|seen| *seen == "0").count() as f64;
            assert!((count - percent * 2.0).abs() <= 1.0, "{percent}: {count} of 200");
        }
    }
    assert_eq!(
        walks(vec![share(None, Some(Amount::Number(2)), Scope::User), send()], 4),
        "0 1 / 0 1 / 1 / 1"
    );
}

#[test]
fn once_is_the_first_round_of_the_loop_around_it() {
    let once = || Step::Once(sequence(vec![send()]));
    assert_eq!(walks(vec![once(), send()], 3), "0 1 / 1 / 1");
    assert_eq!(walks(vec![Step::Loop(Loop::times(3, vec![once(), send()]))], 2), "0 1 1 1 / 0 1 1 1");
}

#[test]
fn flow_leaves_rounds_loops_and_walks() {
    let flow = |flow| Step::Flow(flow);
    let looped = |at: Flow| Step::Loop(Loop::times(3, vec![send(), flow(at), send()]));
    assert_eq!(walks(vec![looped(Flow::NextRound), send()], 1), "0 0 0 2");
    assert_eq!(walks(vec![looped(Flow::BreakLoop), send()], 1), "0 2");
    assert_eq!(walks(vec![looped(Flow::NextIteration), send()], 2), "0 / 0");
    assert_eq!(walks(vec![looped(Flow::StopUser), send()], 1), "0 !");
    assert_eq!(walks(vec![send(), flow(Flow::NextRound), send()], 2), "0 / 0");
    assert_eq!(walks(vec![send(), flow(Flow::BreakLoop), send()], 1), "0 !", "it leaves the iterations");
    let within = Step::Transaction(Transaction::of("t", vec![looped(Flow::NextIteration)]));
    assert_eq!(walks(vec![within, send()], 1), "0 t0:10");
}

fn together(steps: Vec<Step>) -> Step {
    Step::Together(Together { at_once: 0, steps })
}

#[test]
fn branches_begin_and_end_by_themselves() {
    let two = || Step::Sequence(sequence(vec![send(), send()]));
    assert_eq!(
        walks(vec![together(vec![two(), send()]), send()], 2),
        "1[ 0 1 ] 2[ 2 ] 3 / 1[ 0 1 ] 2[ 2 ] 3"
    );
    // Turns that a branch has taken are the user's: the next walk goes on with them.
    let branches = vec![Branch::of(1, vec![send()]), Branch::of(1, vec![send()])];
    let turns = Step::Choice(Choice { by: ChoiceBy::Turn, branches });
    assert_eq!(walks(vec![together(vec![turns, send()])], 2), "1[ 0 ] 2[ 2 ] / 1[ 1 ] 2[ 2 ]");
    // The round of a loop around them is theirs as well, and what chance says is another in each.
    let once = Step::Once(sequence(vec![send()]));
    let looped = Step::Loop(Loop::times(2, vec![together(vec![once, send()])]));
    assert_eq!(walks(vec![looped], 1), "1[ 0 ] 2[ 1 ] 1[ ] 2[ 1 ]");
    let chance = || show("random() * 1000000");
    let drawn = walks(vec![together(vec![chance(), chance()]), chance()], 2);
    let waits: Vec<&str> = drawn.split(' ').filter(|word| word.starts_with('p')).collect();
    let different: std::collections::BTreeSet<&&str> = waits.iter().collect();
    assert_eq!((waits.len(), different.len()), (6, 6), "{drawn}");
}

#[test]
fn what_leads_out_of_a_branch_is_taken_when_all_have_ended() {
    let flow = |flow| Step::Sequence(sequence(vec![send(), Step::Flow(flow), send()]));
    let around = |flow| vec![Step::Loop(Loop::times(2, vec![together(vec![flow, send()]), send()])), send()];
    assert_eq!(walks(around(flow(Flow::NextRound)), 1), "1[ 0 ] 2[ 2 ] 1[ 0 ] 2[ 2 ] 4");
    assert_eq!(walks(around(flow(Flow::BreakLoop)), 1), "1[ 0 ] 2[ 2 ] 4");
    assert_eq!(walks(around(flow(Flow::NextIteration)), 1), "1[ 0 ] 2[ 2 ]");
    assert_eq!(walks(around(flow(Flow::StopUser)), 1), "1[ 0 ] 2[ 2 ] !");
    // The first of them in the order of the plan counts.
    let both = vec![flow(Flow::NextIteration), flow(Flow::StopUser)];
    assert_eq!(walks(vec![together(both)], 2), "1[ 0 ] 2[ 2 ] / 1[ 0 ] 2[ 2 ]");
    // A loop within a branch is its own.
    let own = Step::Loop(Loop::times(3, vec![send(), Step::Flow(Flow::BreakLoop)]));
    assert_eq!(walks(vec![together(vec![own, send()]), send()], 1), "1[ 0 ] 2[ 1 ] 2");
}

#[test]
fn a_failure_in_a_branch_is_one_of_the_transactions_around_it() {
    let inner = |name: &str| Step::Transaction(Transaction::of(name, vec![send(), send()]));
    let outer = Step::Transaction(Transaction::of("t", vec![together(vec![inner("a"), inner("b")]), send()]));
    let mut world = World::new(&Scenario::of(vec![outer]));
    world.fail = vec![0];
    // The branch ends with what it had begun; the other goes on, and then the walk is over as the scenario says.
    assert_eq!(world.walk(), "1[ 0 t1!:10 ] 2[ 2 3 t2:20 ] t0!:30");
    assert_eq!(world.walk(), "1[ 0 1 t1:20 ] 2[ 2 3 t2:20 ] 4 t0:50");
}

#[test]
fn failures_lead_where_the_scenario_says() {
    let within = |on_failure| {
        let looped = Step::Loop(Loop::times(2, vec![send(), send()]));
        let steps = vec![Step::Transaction(Transaction::of("t", vec![looped])), send()];
        let mut world = World::new(&Scenario { on_failure, ..Scenario::of(steps) });
        world.fail = vec![0];
        world.walk()
    };
    assert_eq!(within(OnFailure::Continue), "0 1 0 1 t0!:40 2");
    assert_eq!(within(OnFailure::NextIteration), "0 t0!:10");
    assert_eq!(within(OnFailure::NextRound), "0 0 1 t0!:30 2");
    assert_eq!(within(OnFailure::BreakLoop), "0 t0!:10 2");
    assert_eq!(within(OnFailure::StopUser), "0 t0!:10 !");
}

#[test]
fn transactions_count_their_pauses_or_not() {
    let pause = || Step::Pause(Delay::Fixed { delay: Duration::from_millis(7) });
    let of = |pauses| {
        Step::Transaction(Transaction { pauses, ..Transaction::of("t", vec![send(), pause(), send()]) })
    };
    assert_eq!(walks(vec![of(true)], 1), "0 p7 1 t0:27");
    assert_eq!(walks(vec![of(false)], 1), "0 p7 1 t0:20");
}

#[test]
fn counters_count_and_begin_anew() {
    let counter = |of, each_iteration| CounterStep {
        name: "n".to_owned(),
        start: 5,
        step: 2,
        end: Some(9),
        of,
        digits: 0,
        each_iteration,
    };
    let of = |of, anew| {
        walks(
            vec![Step::Counter(counter(of, anew)), show("n"), Step::Counter(counter(of, anew)), show("n")],
            2,
        )
    };
    assert_eq!(of(Scope::All, false), "p5 p7 / p9 p5");
    // Each step of the plan counts by itself for a user.
    assert_eq!(of(Scope::User, false), "p5 p5 / p7 p7");
    assert_eq!(of(Scope::User, true), "p5 p5 / p5 p5");
}

#[test]
fn feeds_end_as_they_say() {
    let mut inputs = Inputs::default();
    inputs.add_file(NamedFile::Feed("f.csv".to_owned()), b"a,b\n1,2\n3\n".to_vec()).unwrap();
    let feed = |end, of| Feed {
        file: "f.csv".to_owned(),
        names: vec!["a".to_owned(), "b".to_owned()],
        header: true,
        end,
        of,
        ..Feed::default()
    };
    for of in [Scope::User, Scope::All, Scope::Group] {
        let walks = |end| {
            let scenario = Scenario::of(vec![Step::Feed(feed(end, of)), show("a"), show("b")]);
            let mut world = World::with(&scenario, &inputs, &Control::new(1, 1));
            [world.walk(), world.walk(), world.walk()].join(" / ")
        };
        assert_eq!(walks(FeedEnd::Again), "p1 p2 / p3 p2 / p1 p2");
        assert_eq!(walks(FeedEnd::StopUser), "p1 p2 / p3 p2 / !");
        assert_eq!(walks(FeedEnd::Value("9".into())), "p1 p2 / p3 p2 / p9 p9");
    }
}

#[test]
fn users_begin_with_their_variables() {
    let steps = vec![show("v"), set("v", "v + 1")];
    let mut world = World::new(&Scenario { variables: vec![Set::of("v", "4")], ..Scenario::of(steps) });
    assert_eq!([world.walk(), world.walk()], ["p4", "p5"]);
}

#[test]
fn rhythms_keep_their_gaps_and_catch_up_nothing() {
    let rhythm = |of, how| Step::Rhythm(Rhythm { per_second: Some(10.0), stages: vec![], of, how });
    for of in [Scope::User, Scope::All] {
        let slow = Step::Pause(Delay::Fixed { delay: Duration::from_millis(250) });
        let once = Step::Once(sequence(vec![slow]));
        let steps = vec![Step::Loop(Loop::times(4, vec![rhythm(of, RhythmHow::Gap), once, send()]))];
        // The first lasts 260 ms, so the second is late, and the third a gap behind it.
        assert_eq!(walks(steps, 1), "@0 p250 0 @260 0 @360 0 @460 0");
    }
}

#[test]
fn moments_of_a_poisson_rhythm_come_at_its_rate() {
    let rhythm = Rhythm { per_second: Some(100.0), stages: vec![], of: Scope::All, how: RhythmHow::Poisson };
    let seen = walks(vec![Step::Loop(Loop::times(2_000, vec![Step::Rhythm(rhythm)]))], 1);
    let last: f64 = seen.rsplit('@').next().unwrap().trim().parse().unwrap();
    // 2,000 gaps of 10 ms: 20 s, with a deviation of 0.45 s.
    assert!((17_500.0..22_500.0).contains(&last), "{last} ms");
}

#[test]
fn the_users_end_behind_the_last_stage_of_a_rhythm() {
    let stages = plan::Stage::parse_list("1s:5").unwrap();
    let rhythm = Rhythm { per_second: None, stages, of: Scope::All, how: RhythmHow::Gap };
    let seen = walks(vec![Step::Loop(Loop { steps: vec![Step::Rhythm(rhythm)], ..Loop::default() })], 1);
    let moments = seen.split(' ').filter(|seen| seen.starts_with('@')).count();
    assert!(seen.ends_with('!') && (5..=6).contains(&moments), "{seen}");
}

#[test]
fn a_loop_that_does_nothing_lets_others_have_their_turn() {
    let endless = Step::Loop(Loop { steps: vec![set("x", "1")], ..Loop::default() });
    assert!(walks(vec![endless], 1).starts_with("yield yield"));
}

#[test]
fn locks_are_given_back_however_their_steps_end() {
    let lock = |steps| Step::Lock(plan::Lock { name: "l".to_owned(), steps });
    let log = Step::Log(plan::ScenarioLog { text: "here".into() });
    let next = Step::Flow(Flow::NextIteration);
    assert_eq!(walks(vec![lock(vec![send(), log]), send()], 2), "lock 0 'here' 1 / lock 0 'here' 1");
    assert_eq!(walks(vec![lock(vec![send(), next]), send()], 2), "lock 0 / lock 0");
}
