//! Rules for a scenario that is more than a list of things to send.

use super::phase::{check_delay, check_pace, lists};
use super::{ViolationFound, ViolationPart, share};
use crate::data::Names;
use crate::data::template::{Encode, TemplatePiece, pieces};
use crate::load::Phase;
use crate::request::answer::By;
use crate::scenario::expression::{Expression, Node};
use crate::scenario::{
    Amount, Choice, ChoiceBy, Code, CounterStep, Feed, If, Loop, Percent, Rhythm, Scenario, Set, Share, Step,
    Together, Transaction,
};

/// Most steps within each other.
const MAX_DEPTH: usize = 32;

/// All violations of a phase's scenarios, each a sentence.
pub(super) fn check(phase: &Phase, found: &mut ViolationFound) {
    found.of(&format!("phase '{}'", phase.name), |found| {
        if phase.groups.is_empty() {
            found.within("scenario", |found| {
                check_scenario(&phase.scenario, phase.scenario.is_journey(), found);
            });
        } else {
            found.within("groups", |found| check_groups(phase, found));
        }
    });
}

fn check_groups(phase: &Phase, found: &mut ViolationFound) {
    if !phase.scenario.is_empty() {
        found.push("it has groups and a scenario of its own: give one of both".to_owned());
    }
    if phase.stop.requests.is_some() || phase.stop.turns_per_user.is_some() {
        found.push("requests and turns_per_user stand in the stop of each group".to_owned());
    }
    check_shares(phase, found);
    for (nth, (group, part)) in phase.groups.iter().zip(phase.parts()).enumerate() {
        found.within(nth, |found| {
            let whose = format!("group '{}'", group.name);
            found.of(&whose, |found| check_group(&group.scenario, found));
            check_pace(&part, found);
        });
    }
}

fn check_group(scenario: &Scenario, found: &mut ViolationFound) {
    if scenario.steps.is_empty() {
        found.push("it has no step: nothing would be sent".to_owned());
    }
    found.within("scenario", |found| check_scenario(scenario, true, found));
}

/// Groups have shares of the phase's pace, all of them and all of it, or none.
fn check_shares(phase: &Phase, found: &mut ViolationFound) {
    let shares: Vec<f64> = phase.groups.iter().filter_map(|group| group.share).collect();
    let sum: f64 = shares.iter().sum();
    if shares.is_empty() {
        return;
    }
    if shares.len() < phase.groups.len() || phase.groups.iter().any(|group| !group.pace.is_default()) {
        found.push("share: each of its groups has one in place of a pace, or none has".to_owned());
    } else if shares.iter().any(|share| !(0.0..=1.0).contains(share)) || (sum - 1.0).abs() > 1e-6 {
        found.push(format!("the shares of its groups add up to {sum}: they must be 1 together"));
    }
}

fn check_scenario(scenario: &Scenario, is_journey: bool, found: &mut ViolationFound) {
    let kept = scenario.kept();
    let names = Names { data: &[], extracted: &kept };
    found.within("steps", |found| check_steps(&scenario.steps, 0, &names, found));
    if !is_journey {
        return;
    }
    let odd = |step: &&Step| !matches!(step, Step::Requests(_));
    if scenario.sends().iter().any(odd) {
        found.push(
            "a journey sends steps of the kind requests: give the others a phase of their own".to_owned(),
        );
    }
    let mut counts = false;
    scenario.each(&mut |step| counts |= matches!(step, Step::Code(code) if !code.sample.is_empty()));
    if scenario.sends().is_empty() && !counts {
        found.push("the journey sends nothing: give it a step of the kind requests".to_owned());
    }
    for (nth, set) in scenario.variables.iter().enumerate() {
        found.along([ViolationPart::from("variables"), ViolationPart::Item(nth)], |found| {
            check_set(set, &names, found)
        });
    }
}

fn check_steps(steps: &[Step], depth: usize, names: &Names<'_>, found: &mut ViolationFound) {
    if depth > MAX_DEPTH {
        return found.push(format!("steps lie in each other more than {MAX_DEPTH} deep"));
    }
    for (nth, step) in steps.iter().enumerate() {
        found.along([ViolationPart::Item(nth), ViolationPart::Choice], |found| {
            check_step(step, names, found);
            check_lists(step, depth, names, found);
        });
    }
}

/// Violations of the steps in a step.
fn check_lists(step: &Step, depth: usize, names: &Names<'_>, found: &mut ViolationFound) {
    let lists = lists(step);
    if !matches!(step, Step::Choice(_) | Step::If(_)) && lists.iter().any(|(_, steps)| steps.is_empty()) {
        found.push("a sequence, loop or transaction without steps does nothing: leave it out".to_owned());
    }
    if matches!(step, Step::Requests(_) | Step::Code(_)) {
        return;
    }
    for (way, steps) in lists {
        found.along(way, |found| check_steps(steps, depth + 1, names, found));
    }
}

fn check_step(step: &Step, names: &Names<'_>, found: &mut ViolationFound) {
    match step {
        Step::Pause(delay) => check_delay("pause", delay, found),
        Step::Transaction(Transaction { name, .. }) if name.is_empty() => {
            found.push("a transaction has no name: give one, which the report shows".to_owned());
        }
        Step::Choice(choice) => check_choice(choice, names, found),
        Step::Share(share) => check_share(share, names, found),
        Step::Loop(looped) => check_loop(looped, names, found),
        Step::If(If { condition, steps, otherwise, .. }) => {
            if steps.is_empty() && otherwise.is_empty() {
                found.push("an if without steps does nothing: leave it out".to_owned());
            }
            found.within("condition", |found| check_expression(condition, names, found));
        }
        Step::Wait(time) => check_expression(time, names, found),
        Step::Rhythm(rhythm) => check_rhythm(rhythm, found),
        Step::Set(set) => check_set(set, names, found),
        Step::Counter(counter) => check_counter(counter, found),
        Step::Feed(feed) => check_feed(feed, found),
        Step::Lock(lock) if lock.name.is_empty() => {
            found.push("a lock has no name: give one; locks with one name are one".to_owned());
        }
        Step::Together(together) => check_together(together, found),
        Step::Extract(_) | Step::Check(_) => {
            found.push(
                "extract and check stand in after, in the step of the requests that they look at".to_owned(),
            );
        }
        Step::Code(code) => check_code(code, names, found),
        Step::Log(log) => found.within("text", |found| check_text("log", &log.text, names, found)),
        Step::Requests(step) => found.within("after", |found| check_after(&step.after, names, found)),
        Step::Object(_)
        | Step::Urls(_)
        | Step::Script(_)
        | Step::Messages(_)
        | Step::Sequence(_)
        | Step::Once(_)
        | Step::Transaction(_)
        | Step::Lock(_)
        | Step::Barrier(_)
        | Step::Flow(_) => {}
    }
}

/// A user branches once: its records name one branch.
fn check_together(together: &Together, found: &mut ViolationFound) {
    let mut inner = false;
    let mut look = |step: &Step| inner |= matches!(step, Step::Together(_));
    together.steps.iter().for_each(|step| step.collect(&mut look));
    if inner {
        found.push(
            "a together stands within another: give its steps to the one around, or make it a sequence"
                .to_owned(),
        );
    }
}

/// Checks the steps that work on answers: those that take values and those that make checks.
fn check_after(steps: &[Step], names: &Names<'_>, found: &mut ViolationFound) {
    for (nth, step) in steps.iter().enumerate() {
        found.along([ViolationPart::Item(nth), ViolationPart::Choice], |found| {
            check_one_after(step, names, found)
        });
    }
}

fn check_one_after(step: &Step, names: &Names<'_>, found: &mut ViolationFound) {
    let at = if let Step::Extract(extract) = step {
        check_name("extract", &extract.name, found);
        found.extend(extract.at.by.violation());
        &extract.at
    } else if let Step::Check(check) = step {
        found.extend(check.violation());
        &check.at
    } else if let Step::Code(code) = step {
        return check_code(code, names, found);
    } else {
        return found.push("after holds steps of the kinds extract, check and code alone".to_owned());
    };
    if let By::Kept { name, .. } = &at.by
        && !names.extracted.contains(&name.as_str())
    {
        found.push(format!("after: no step keeps a value '{name}'"));
    }
}

/// Languages of program text.
const LANGUAGES: [&str; 9] =
    ["groovy", "beanshell", "javascript", "jexl", "jmeter", "file", "values", "follow", "rewrite"];

fn check_code(code: &Code, names: &Names<'_>, found: &mut ViolationFound) {
    if !LANGUAGES.contains(&code.language.as_str()) {
        let known = LANGUAGES.join(", ");
        found.at(
            "language",
            format!("code: '{}' is no language that is known: give one of {known}", code.language),
        );
    }
    code.into.iter().chain(&code.sets).for_each(|name| check_name("code", name, found));
    found.within("parameters", |found| check_text("code", &code.parameters, names, found));
    check_text("code", &code.title, names, found);
    if !code.after.is_empty() && code.sample.is_empty() {
        found.push("code: after belongs to what is counted: give it a sample".to_owned());
    }
    found.within("after", |found| check_after(&code.after, names, found));
}

fn check_choice(Choice { by, branches }: &Choice, names: &Names<'_>, found: &mut ViolationFound) {
    if branches.is_empty() {
        found.at("branches", "a choice has no branch: give at least one".to_owned());
    }
    if matches!(by, ChoiceBy::Weight | ChoiceBy::WeightedTurn)
        && branches.iter().all(|branch| branch.weight == 0)
    {
        found.at("branches", "a choice has no branch with a weight above 0".to_owned());
    }
    if let ChoiceBy::Switch(on) = by {
        check_text("switch", on, names, found);
    }
}

fn check_share(Share { percent, times, .. }: &Share, names: &Names<'_>, found: &mut ViolationFound) {
    if percent.is_some() == times.is_some() {
        found.push("a share needs percent or times, and not both".to_owned());
    }
    let computed = times.iter().filter_map(Amount::computed);
    let computed = computed.chain(match percent {
        Some(Percent::Computed(expression)) => Some(expression),
        Some(Percent::Number(percent)) => {
            share(found, "a hundredth of percent", percent / 100.0);
            None
        }
        None => None,
    });
    computed.for_each(|expression| check_expression(expression, names, found));
}

fn check_rhythm(Rhythm { per_second, stages, .. }: &Rhythm, found: &mut ViolationFound) {
    if per_second.is_some() != stages.is_empty() {
        found.push("a rhythm needs per_second or stages, and not both".to_owned());
    }
    if per_second.is_some_and(|rate| !(rate > 0.0 && rate <= 1e9)) {
        found.push("a rhythm has a per_second of more than 0, at most 1e9".to_owned());
    }
}

fn check_loop(looped: &Loop, names: &Names<'_>, found: &mut ViolationFound) {
    let Loop { times, goes_on, until, each, index, .. } = looped;
    let bounds = each.iter().flat_map(|each| each.last.iter().chain([&each.skip]));
    let amounts = times.iter().chain(bounds).filter_map(Amount::computed);
    amounts.chain(goes_on).chain(until).for_each(|expression| check_expression(expression, names, found));
    index.iter().for_each(|name| check_name("loop: index", name, found));
    each.iter().for_each(|each| check_name("for-each: into", &each.into, found));
}

fn check_counter(counter: &CounterStep, found: &mut ViolationFound) {
    check_name("counter", &counter.name, found);
    let backwards =
        counter.end.is_some_and(|end| (end < counter.start) != (counter.step < 0) && end != counter.start);
    if counter.step == 0 || backwards {
        found.push(format!("counter {}: its step does not lead from start to end", counter.name));
    }
}

fn check_feed(feed: &Feed, found: &mut ViolationFound) {
    if feed.file.is_empty() || feed.names.is_empty() {
        found.push("a feed needs a file, and names for its columns".to_owned());
    }
    feed.names.iter().for_each(|name| check_name("feed", name, found));
}

fn check_set(set: &Set, names: &Names<'_>, found: &mut ViolationFound) {
    check_name("set", &set.name, found);
    match &set.expression {
        Some(_) if !set.value.is_empty() => {
            found.push(format!("set {}: it has a value and an expression: give one of both", set.name));
        }
        Some(expression) => found.within("expression", |found| check_expression(expression, names, found)),
        None => {
            let whose = format!("set {}", set.name);
            found.within("value", |found| check_text(&whose, &set.value, names, found));
        }
    }
}

/// Names of values have letters, digits, `_`, `-` and `.`, as placeholders have.
fn check_name(what: &str, name: &str, found: &mut ViolationFound) {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if name.is_empty() || !name.bytes().all(good) {
        found.push(format!("{what}: '{name}' is no name: give letters, digits, -, _ and ."));
    }
}

fn check_expression(expression: &Expression, names: &Names<'_>, found: &mut ViolationFound) {
    let node = match expression.parse() {
        Ok(node) => node,
        Err(error) => return found.push(error.to_string()),
    };
    let mut unknown = Vec::new();
    Node::names(&node, &mut |name| {
        if !names.extracted.contains(&name.as_str()) && !unknown.contains(&name) {
            unknown.push(name);
        }
    });
    let known = names.extracted.join(", ");
    found.extend(unknown.into_iter().map(|name| {
        format!("expression '{}': no step keeps a value '{name}'; there are: {known}", expression.0)
    }));
}

fn check_text(what: &str, text: &[u8], names: &Names<'_>, found: &mut ViolationFound) {
    match pieces(text, Encode::Raw) {
        Err(why) => found.push(format!("{what}: {why}")),
        Ok(pieces) => {
            let used = pieces.iter().filter_map(|piece| match piece {
                TemplatePiece::Value { name, .. } => names.meaning(name).err(),
                TemplatePiece::Text(_) => None,
            });
            found.extend(used.map(|why| format!("{what}: {why}")));
        }
    }
}
