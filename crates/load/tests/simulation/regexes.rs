//! Regular expressions over large answers: whoever shares the worker with them waits for nothing but their own work, which is
//! linear. In virtual time that work takes none, so the times of the others are the same with it and without.

use crate::server::{Move, Script, answer};
use crate::world::{Case, Server, phase};
use plan::answer::{By, Extract, Part, Selector, Which};
use plan::{Expression, Group, If, Pace, Phase, Request, RequestStep, Scenario, Set, Step, Stop};
use std::time::Duration;

/// As many as an extractor keeps of one answer.
const RECORDS: usize = 10_000;

/// 1 MB, of which a backtracking engine would never come to an end with `(x+x+)+y`.
fn large() -> Vec<u8> {
    let records = (0..RECORDS).map(|nth| format!("id={nth:05};{}", "x".repeat(91)));
    records.collect::<String>().into_bytes()
}

fn named(name: &str, after: Vec<Step>) -> Step {
    let request = Request { name: name.to_owned(), ..Request::get("http://server/page") };
    Step::Requests(RequestStep { requests: vec![request].into(), after, ..RequestStep::default() })
}

fn matches_of(name: &str, pattern: &str) -> Step {
    let at = Selector { part: Part::Body, by: By::Regex(pattern.to_owned()) };
    Step::Extract(Extract { which: Which::Every, optional: true, ..Extract::of(name, at, None) })
}

/// One user with the large answer, who asks again where all was found in it that is there.
fn searching(after: Vec<Step>) -> Scenario {
    let all = Expression(format!("id_matchNr == {RECORDS} and no_matchNr == 0"));
    let found =
        If { condition: all, before_each: false, steps: vec![named("found", vec![])], otherwise: vec![] };
    let variables = vec![Set::of("id_matchNr", "0"), Set::of("no_matchNr", "9")];
    Scenario { variables, ..Scenario::of(vec![named("large", after), Step::If(found)]) }
}

/// Returns the count of good requests of each label, in order of its first use, with their response times in microseconds.
fn ran(after: Vec<Step>) -> Vec<(u64, Vec<(u64, u64)>)> {
    let pauses = Step::Pause(plan::Delay::Fixed { delay: Duration::from_millis(1) });
    let group = |name: &str, scenario, pace, stop| Group {
        name: name.to_owned(),
        scenario,
        pace,
        stop,
        ..Group::default()
    };
    let once = Stop { turns_per_user: Some(1), ..Stop::default() };
    let second = Stop { after: Some(Duration::from_secs(1)), ..Stop::default() };
    let others = Group {
        start: Duration::from_micros(300),
        ..group("others", Scenario::of(vec![named("small", vec![]), pauses]), Pace::Users(20), second)
    };
    let groups = vec![group("one", searching(after), Pace::Users(1), once), others];
    let phase = Phase {
        scenario: Scenario::default(),
        groups,
        ..phase(crate::world::page(), Pace::default(), Stop::default())
    };
    let body = large();
    let script =
        Script::new(move |asked| vec![Move::Send(answer(if asked.number == 0 { &body } else { b"small" }))]);
    let tally = Case::new(vec![phase], Server::Script(script)).run().tally();
    let times = |figures: &measure::LabelFigures| {
        figures
            .response
            .iter_recorded()
            .map(|value| (value.value_iterated_to(), value.count_at_value()))
            .collect()
    };
    tally.labels.iter().map(|(_, figures)| (figures.ok, times(figures))).collect()
}

#[test]
fn others_do_not_wait_for_a_search_in_a_large_answer() {
    let searched = ran(vec![matches_of("id", "id=([0-9]+)"), matches_of("no", "(x+x+)+y")]);
    let plain = ran(Vec::new());
    let [(1, _), (1, _), (small, times)] = searched.as_slice() else { panic!("{searched:?}") };
    assert!(*small > 1_000, "{small}");
    let [(1, _), (plain_small, plain_times)] = plain.as_slice() else {
        panic!("nothing was found: {plain:?}")
    };
    assert_eq!((small, times), (plain_small, plain_times));
}
