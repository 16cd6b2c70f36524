//! What a scenario must keep to that is more than a list of things to send.

use super::{check_delay, share};
use crate::data::{Data, Names, is_name};
use crate::load::Phase;
use crate::scenario::{
    Barrier, Choice, ChoiceBy, Feed, Group, If, Loop, Rhythm, Scenario, Set, Share, Step, Transaction,
};
use crate::template::{Encode, Piece, pieces};

/// Most steps within each other.
const MAX_DEPTH: usize = 32;

/// All violations of a phase's scenarios, each a sentence.
pub(super) fn check(phase: &Phase, found: &mut Vec<String>) {
    let mut said = Vec::new();
    if phase.groups.is_empty() {
        check_scenario(&phase.scenario, &mut said);
    } else {
        check_groups(phase, &mut said);
    }
    found.extend(said.into_iter().map(|why| format!("phase '{}': {why}", phase.name)));
}

fn check_groups(phase: &Phase, found: &mut Vec<String>) {
    if !phase.scenario.is_empty() {
        found.push("it has groups and a scenario of its own: give one of both".to_owned());
    }
    found.push(not_yet("groups"));
    for Group { name, scenario, .. } in &phase.groups {
        let mut said = Vec::new();
        if scenario.steps.is_empty() {
            said.push("it has no step: nothing would be sent".to_owned());
        }
        check_scenario(scenario, &mut said);
        found.extend(said.into_iter().map(|why| format!("group '{name}': {why}")));
    }
}

/// Said of what plans can say and this build cannot run.
fn not_yet(what: &str) -> String {
    format!("{what}: this build reads it and cannot run it yet: leave it out")
}

fn check_scenario(scenario: &Scenario, found: &mut Vec<String>) {
    check_steps(&scenario.steps, 0, found);
    if !scenario.is_journey() {
        return;
    }
    if !scenario.variables.is_empty()
        || *scenario != (Scenario { steps: scenario.steps.clone(), ..Scenario::default() })
    {
        found.push(not_yet("variables, on_failure and keep"));
    }
    let odd = |step: &&Step| !matches!(step, Step::Requests(_));
    if scenario.sends().iter().any(odd) {
        found.push(
            "a journey sends steps of the kind requests: give the others a phase of their own".to_owned(),
        );
    }
    if scenario.sends().is_empty() {
        found.push("the journey sends nothing: give it a step of the kind requests".to_owned());
    }
    let (kept, data): (_, &[Data]) = (scenario.kept(), &[]);
    let names = Names { data, extracted: &kept };
    scenario.each(&mut |step| {
        if let Step::Set(set) = step {
            check_set(set, &names, found);
        }
    });
}

fn check_steps(steps: &[Step], depth: usize, found: &mut Vec<String>) {
    if depth > MAX_DEPTH {
        return found.push(format!("steps lie in each other more than {MAX_DEPTH} deep"));
    }
    for step in steps {
        check_step(step, found);
        let lists = step.lists();
        if !matches!(step, Step::Choice(_) | Step::If(_)) && lists.iter().any(|steps| steps.is_empty()) {
            found.push("a sequence, loop or transaction without steps does nothing: leave it out".to_owned());
        }
        lists.into_iter().for_each(|steps| check_steps(steps, depth + 1, found));
    }
}

fn check_step(step: &Step, found: &mut Vec<String>) {
    match step {
        Step::Pause(delay) => check_delay("pause", delay, found),
        Step::Transaction(Transaction { name, .. }) if name.is_empty() => {
            found.push("a transaction has no name: give one, which the report shows".to_owned());
        }
        Step::Transaction(Transaction { pauses, parent, .. }) if !pauses || *parent => {
            found.push(not_yet("pauses = false and parent = true of a transaction"));
        }
        Step::Choice(Choice { by: ChoiceBy::Weight, branches })
            if branches.iter().all(|branch| branch.weight == 0) =>
        {
            found.push("a choice has no branch with a weight above 0".to_owned());
        }
        Step::Choice(Choice { by: ChoiceBy::Weight | ChoiceBy::Turn, .. }) => {}
        Step::Choice(_) => found.push(not_yet("a choice by anything but weight and turn")),
        Step::Share(Share { percent, times, .. }) => {
            if percent.is_some() == times.is_some() {
                found.push("a share needs percent or times, and not both".to_owned());
            }
            share(found, "a hundredth of percent", percent.unwrap_or(0.0) / 100.0);
            found.push(not_yet("share"));
        }
        Step::Loop(looped) => check_loop(looped, found),
        Step::If(If { steps, otherwise, .. }) => {
            if steps.is_empty() && otherwise.is_empty() {
                found.push("an if without steps does nothing: leave it out".to_owned());
            }
            found.push(not_yet("if"));
        }
        Step::Rhythm(Rhythm { per_second, stages, .. }) => {
            if per_second.is_some() != stages.is_empty() {
                found.push("a rhythm needs per_second or stages, and not both".to_owned());
            }
            found.push(not_yet("rhythm"));
        }
        Step::Barrier(Barrier { .. }) => found.push(not_yet("barrier")),
        Step::Feed(Feed { .. }) => found.push(not_yet("feed")),
        Step::Once(_) => found.push(not_yet("once")),
        Step::Lock(_) => found.push(not_yet("lock")),
        Step::Wait(_) => found.push(not_yet("wait")),
        Step::Counter(_) => found.push(not_yet("counter")),
        Step::Extract(_) | Step::Check(_) => found.push(not_yet("extract and check as steps")),
        Step::Code(_) => found.push(not_yet("code")),
        Step::Log(_) => found.push(not_yet("log")),
        Step::Flow(_) => found.push(not_yet("flow")),
        Step::Requests(step) if !step.after.is_empty() => found.push(not_yet("after")),
        _ => {}
    }
}

fn check_loop(looped: &Loop, found: &mut Vec<String>) {
    let Loop { times, goes_on, until, each, lasts, index, .. } = looped;
    match times {
        Some(crate::scenario::Amount::Number(0)) => {
            found.push("a loop of 0 times does nothing: leave it out".to_owned());
        }
        Some(crate::scenario::Amount::Number(_)) => {}
        _ => found.push(not_yet("a loop without a number of times")),
    }
    if goes_on.is_some() || until.is_some() || each.is_some() || lasts.is_some() || index.is_some() {
        found.push(not_yet("a loop by anything but times"));
    }
}

fn check_set(set: &Set, names: &Names<'_>, found: &mut Vec<String>) {
    if !is_name(&set.name) {
        found.push(format!("set: '{}' is no name: give letters, digits, - and _", set.name));
    }
    if set.expression.is_some() {
        found.push(not_yet("set with an expression"));
    }
    match pieces(&set.value, Encode::Raw) {
        Err(why) => found.push(format!("set {}: {why}", set.name)),
        Ok(pieces) => {
            let used = pieces.iter().filter_map(|piece| match piece {
                Piece::Value { name, .. } => names.meaning(name).err(),
                Piece::Text(_) => None,
            });
            found.extend(used.map(|why| format!("set {}: {why}", set.name)));
        }
    }
}
