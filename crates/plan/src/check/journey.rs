//! What a scenario must keep to that is more than a list of things to send.

use super::check_delay;
use crate::data::{Data, Names, is_name};
use crate::load::Phase;
use crate::scenario::{Choice, Loop, Set, Step, Transaction};
use crate::template::{Encode, Piece, pieces};

/// Most steps within each other.
const MAX_DEPTH: usize = 32;

/// All violations of a scenario's nodes, each a sentence.
pub(super) fn check(phase: &Phase, found: &mut Vec<String>) {
    let mut said = Vec::new();
    check_steps(&phase.scenario.steps, 0, &mut said);
    if phase.scenario.is_journey() {
        let odd = |step: &&Step| !matches!(step, Step::Requests(_));
        if phase.scenario.sends().iter().any(odd) {
            said.push(
                "a journey sends steps of the kind requests: give the others a phase of their own".to_owned(),
            );
        }
        if phase.scenario.sends().is_empty() {
            said.push("the journey sends nothing: give it a step of the kind requests".to_owned());
        }
        let (kept, data): (_, &[Data]) = (phase.scenario.kept(), &[]);
        let names = Names { data, extracted: &kept };
        phase.scenario.steps.iter().for_each(|step| {
            step.collect(&mut |step| {
                if let Step::Set(set) = step {
                    check_set(set, &names, &mut said);
                }
            });
        });
    }
    found.extend(said.into_iter().map(|why| format!("phase '{}': {why}", phase.name)));
}

fn check_steps(steps: &[Step], depth: usize, found: &mut Vec<String>) {
    if depth > MAX_DEPTH {
        return found.push(format!("steps lie in each other more than {MAX_DEPTH} deep"));
    }
    for step in steps {
        match step {
            Step::Loop(Loop { times: 0, .. }) => {
                found.push("a loop of 0 times does nothing: leave it out".to_owned())
            }
            Step::Pause(delay) => check_delay("pause", delay, found),
            Step::Transaction(Transaction { name, .. }) if name.is_empty() => {
                found.push("a transaction has no name: give one, which the report shows".to_owned());
            }
            Step::Choice(Choice { branches, .. }) if branches.iter().all(|branch| branch.weight == 0) => {
                found.push("a choice has no branch with a weight above 0".to_owned());
            }
            _ => {}
        }
        let lists = step.lists();
        if !matches!(step, Step::Choice(_)) && lists.iter().any(|steps| steps.is_empty()) {
            found.push("a sequence, loop or transaction without steps does nothing: leave it out".to_owned());
        }
        lists.into_iter().for_each(|steps| check_steps(steps, depth + 1, found));
    }
}

fn check_set(set: &Set, names: &Names<'_>, found: &mut Vec<String>) {
    if !is_name(&set.name) {
        found.push(format!("set: '{}' is no name: give letters, digits, - and _", set.name));
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
