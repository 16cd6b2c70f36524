//! Controllers → steps that decide on others.

use super::kinds::{self, Convert, ElementKind};
use super::scope::Scope;
use super::text::{operand, quoted};
use super::{Converter, condition as conditions, config, listener, sampler};
use crate::element::{Element, Value};
use crate::role::Role;
use plan::{
    Amount, Body, Branch, Choice, ChoiceBy, Expression, ForEach, If, Lock, Loop, Percent, Scenario,
    Scope as Sharing, Sequence, Share, Step, Together, Transaction,
};
use std::cmp::Ordering;
use std::time::Duration;

/// A label that changes, and what it is computed of.
#[derive(Default)]
pub(super) struct Titled {
    pub(super) before: Vec<Step>,
    pub(super) title: Body,
}

pub(super) const KINDS: &[ElementKind] = &[
    ElementKind { class: "GenericController", convert: Convert::Controller(sequence) },
    ElementKind { class: "RecordingController", convert: Convert::Controller(sequence) },
    ElementKind { class: "TestFragmentController", convert: Convert::Controller(sequence) },
    ElementKind { class: "ModuleController", convert: Convert::Controller(sequence) },
    ElementKind { class: "IncludeController", convert: Convert::Controller(sequence) },
    ElementKind { class: "LoopController", convert: Convert::Controller(looped) },
    ElementKind { class: "OnceOnlyController", convert: Convert::Controller(once) },
    ElementKind { class: "CriticalSectionController", convert: Convert::Controller(locked) },
    ElementKind { class: "IfController", convert: Convert::Controller(condition) },
    ElementKind { class: "WhileController", convert: Convert::Controller(while_loop) },
    ElementKind { class: "ForeachController", convert: Convert::Controller(for_each) },
    ElementKind { class: "RunTime", convert: Convert::Controller(runtime) },
    ElementKind { class: "ThroughputController", convert: Convert::Controller(share) },
    ElementKind {
        class: "RandomController",
        convert: Convert::Controller(|c, of, scope| choice(c, of, scope, ChoiceBy::Weight)),
    },
    ElementKind {
        class: "RandomOrderController",
        convert: Convert::Controller(|c, of, scope| choice(c, of, scope, ChoiceBy::Shuffle)),
    },
    ElementKind { class: "InterleaveControl", convert: Convert::Controller(interleaved) },
    ElementKind { class: "SwitchController", convert: Convert::Controller(switch) },
    ElementKind {
        class: "com.blazemeter.jmeter.control.WeightedSwitchController",
        convert: Convert::Controller(weighted),
    },
    ElementKind { class: "TransactionController", convert: Convert::Controller(transaction) },
    ElementKind {
        class: "com.blazemeter.jmeter.controller.ParallelSampler",
        convert: Convert::Controller(at_once),
    },
];

/// Controllers that only hold others: what ignores them meets their requests one after the other.
const TRANSPARENT: [&str; 4] =
    ["GenericController", "RecordingController", "ModuleController", "IncludeController"];

/// Controllers that take one of their children each time.
const ALWAYS_ONE: [&str; 3] = ["RandomController", "InterleaveControl", "SwitchController"];

/// The steps of a sampler or controller; none where nothing in it runs.
fn child_steps(c: &mut Converter<'_>, of: &Element, around: &Scope<'_>) -> Vec<Step> {
    match kinds::convert(of) {
        Convert::Controller(convert) => convert(c, of, &around.below(of, &[])),
        _ => sampler::sampler(c, of, around),
    }
}

/// The steps of a controller's children, with what begins each of its iterations.
pub(super) fn body(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let mut steps = config::at_iteration(c, of, scope);
    for child in super::walked(of) {
        steps.extend(child_steps(c, child, scope));
    }
    steps
}

fn once(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let name = of.title().to_owned();
    wrapped(c, of, scope, |steps| Step::Once(Sequence { name, steps }))
}

fn locked(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let name = of.properties.text("CriticalSectionController.lockName").to_owned();
    wrapped(c, of, scope, |steps| Step::Lock(Lock { name, steps }))
}

fn sequence(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let name = of.title().to_owned();
    wrapped(c, of, scope, |steps| Step::Sequence(Sequence { name, steps }))
}

/// The body within a step; nothing where the body is empty.
fn wrapped(
    c: &mut Converter<'_>,
    of: &Element,
    scope: &Scope<'_>,
    wrap: impl FnOnce(Vec<Step>) -> Step,
) -> Vec<Step> {
    let steps = body(c, of, scope);
    if steps.is_empty() { Vec::new() } else { vec![wrap(steps)] }
}

fn looped(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let written = of.properties.text("LoopController.loops").to_owned();
    let text = c.text(of, &written);
    let times = match (text.constant(), text.only_value()) {
        (Some(number), _) => match number.trim().parse::<i64>() {
            Ok(-1) => None,
            Ok(times) => Some(Amount::Number(u64::try_from(times).unwrap_or(0))),
            // What is no number is no round at all.
            Err(_) => Some(Amount::Number(0)),
        },
        (None, Some(name)) => Some(Amount::Computed(Expression(operand(name)))),
        (None, None) => {
            c.missing(of, format!("its number of loops '{written}' is not a number or one variable"));
            return Vec::new();
        }
    };
    if times == Some(Amount::Number(0)) {
        return Vec::new();
    }
    let index = index(c, of);
    list_inner(c, of);
    let mut steps = text.steps();
    steps.extend(wrapped(c, of, scope, |steps| Step::Loop(Loop { times, index, steps, ..Loop::default() })));
    if of.properties.flag("LoopController.continue_forever", true) {
        return steps;
    }
    // A loop that does not go on for ever is done for good, once its user has been through it.
    vec![Step::Once(Sequence { name: of.title().to_owned(), steps })]
}

/// Lists loops within one which a user walks through once only: here that is once each time the outer loop is entered.
fn list_inner(c: &mut Converter<'_>, of: &Element) {
    for child in super::walked(of).filter(|child| kinds::role(child) == Role::Controller) {
        let loops =
            matches!(child.class.as_str(), "LoopController" | "WhileController" | "ForeachController");
        if child.class == "LoopController" && !child.properties.flag("LoopController.continue_forever", true)
        {
            c.different(
                child,
                "its continue_forever is false: JMeter runs it once per user, and here it runs in the first round of the loop around it",
            );
        }
        if !loops {
            list_inner(c, child);
        }
    }
}

/// The name that the number of a round is kept under, where some text holds it.
pub(super) fn index(c: &mut Converter<'_>, of: &Element) -> Option<String> {
    Some(c.variables.name(&format!("__jm__{}__idx", of.title())))
}

pub(super) fn condition(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let written = of.properties.text("IfController.condition").trim().to_owned();
    let plain = of.properties.flag("IfController.useExpression", false);
    let Some((before, condition)) = conditions::truth(c, of, &written, plain) else { return Vec::new() };
    let before_each = of.properties.flag("IfController.evaluateAll", false);
    if condition.0 == "false" {
        return Vec::new();
    }
    let steps = body(c, of, scope);
    if steps.is_empty() {
        return Vec::new();
    }
    if condition.0 == "true" {
        return vec![Step::Sequence(Sequence { name: of.title().to_owned(), steps })];
    }
    let guarded = |steps| {
        Step::If(If {
            condition: condition.clone(),
            before_each: before_each && before.is_empty(),
            steps,
            otherwise: Vec::new(),
        })
    };
    if before_each && !before.is_empty() {
        // What the condition is computed of is computed before each step.
        return steps
            .into_iter()
            .flat_map(|step| before.iter().cloned().chain([guarded(vec![step])]))
            .collect();
    }
    before.iter().cloned().chain([guarded(steps)]).collect()
}

fn while_loop(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let written = of.properties.text("WhileController.condition").trim().to_owned();
    let index = index(c, of);
    let failed = || Some(Expression("not last.ok".to_owned()));
    let mut looped = Loop { index, ..Loop::default() };
    let mut before = Vec::new();
    match written.as_str() {
        "" => looped.until = failed(),
        "LAST" => {
            looped.until = failed();
            looped.goes_on = Some(Expression("last.ok".to_owned()));
        }
        text => {
            let Some((computed, condition)) = goes_on(c, of, text) else { return Vec::new() };
            if condition.0 == "false" {
                return Vec::new();
            }
            before = computed;
            looped.goes_on = (condition.0 != "true").then_some(condition);
        }
    }
    list_inner(c, of);
    looped.steps = body(c, of, scope);
    if looped.steps.is_empty() {
        return Vec::new();
    }
    // What the condition is computed of is computed before the first round and after each.
    looped.steps.extend(before.iter().cloned());
    before.push(Step::Loop(looped));
    before
}

pub(super) fn for_each(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let text = |name: &str| of.properties.text(name).to_owned();
    let Some(list) = c.constant(of, &text("ForeachController.inputVal"), "its list") else {
        return Vec::new();
    };
    let Some(into) = c.constant(of, &text("ForeachController.returnVal"), "its variable") else {
        return Vec::new();
    };
    let mut before = Vec::new();
    let skip = bound(c, of, "ForeachController.startIndex", &mut before);
    let last = bound(c, of, "ForeachController.endIndex", &mut before);
    let Some((skip, last)) = skip.zip(last) else {
        c.missing(of, "its start or end is neither a whole number nor one value");
        return Vec::new();
    };
    let each = ForEach {
        list: c.variables.name(&list),
        into: c.variables.name(&into),
        skip: skip.unwrap_or_default(),
        last,
        no_underscore: !of.properties.flag("ForeachController.useSeparator", true),
    };
    let index = index(c, of);
    list_inner(c, of);
    let looped =
        wrapped(c, of, scope, |steps| Step::Loop(Loop { each: Some(each), index, steps, ..Loop::default() }));
    before.into_iter().chain(looped).collect()
}

/// A bound of a list, `Some(None)` where none is given; `None` where it is neither a number nor one value. `before`: takes what it is
/// computed of.
fn bound(c: &mut Converter<'_>, of: &Element, key: &str, before: &mut Vec<Step>) -> Option<Option<Amount>> {
    let text = c.text(of, of.properties.text(key));
    before.extend(text.steps());
    match (text.constant(), text.only_value()) {
        (Some(text), _) if text.trim().is_empty() => Some(None),
        (Some(text), _) => text.trim().parse().ok().map(|number: u32| Some(Amount::Number(number.into()))),
        (None, Some(name)) => Some(Some(Amount::Computed(Expression(operand(name))))),
        (None, None) => None,
    }
}

fn runtime(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let written = of.properties.text("RunTime.seconds").to_owned();
    let Some(text) = c.constant(of, &written, "its time") else { return Vec::new() };
    let Ok(seconds) = text.trim().parse::<u64>() else {
        c.missing(of, format!("its time '{text}' is no number of seconds"));
        return Vec::new();
    };
    let lasts = Some(Duration::from_secs(seconds)).filter(|lasts| !lasts.is_zero());
    if lasts.is_none() {
        return Vec::new();
    }
    wrapped(c, of, scope, |steps| Step::Loop(Loop { lasts, steps, ..Loop::default() }))
}

pub(super) fn share(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let by_percent = of.properties.text("ThroughputController.style").trim() == "1";
    let value = ["ThroughputController.percentThroughput", "ThroughputController.maxThroughput"];
    let value = if by_percent { value[0] } else { value[1] };
    let written = of.properties.filled(value).unwrap_or("1").to_owned();
    let text = c.text(of, &written);
    let computed = text.only_value().map(|name| Expression(operand(name)));
    let constant = text.constant();
    if constant.is_none() && computed.is_none() {
        c.missing(of, format!("its throughput '{written}' is neither a number nor one value"));
        return Vec::new();
    }
    let number = constant.map(|text| {
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        if number.is_none() {
            let taken = if by_percent { "100 %" } else { "1" };
            c.different(of, format!("its throughput '{text}' is no number: taken as {taken}, as in JMeter"));
        }
        number.unwrap_or(if by_percent { 100.0 } else { 1.0 })
    });
    let percent = match (number, &computed) {
        (Some(number), _) => Some(Percent::Number(number.clamp(0.0, 100.0))),
        (None, computed) => computed.clone().map(Percent::Computed),
    };
    let times = match number {
        Some(number) => Some(Amount::Number(number.max(0.0) as u64)),
        None => computed.map(Amount::Computed),
    };
    let per_user = of.properties.flag("ThroughputController.perThread", false);
    let share = Share {
        percent: percent.filter(|_| by_percent),
        times: times.filter(|_| !by_percent),
        of: if per_user { Sharing::User } else { Sharing::Group },
        steps: Vec::new(),
    };
    let steps = wrapped(c, of, scope, |steps| Step::Share(Share { steps, ..share }));
    text.steps().into_iter().chain(steps).collect()
}

/// A branch for each child.
fn branches(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Branch> {
    let children: Vec<&Element> = super::walked(of).collect();
    let branch = |child: &Element| {
        let steps = child_steps(c, child, scope);
        Branch { name: child.title().to_owned(), weight: 1, steps }
    };
    children.into_iter().map(branch).collect()
}

pub(super) fn choice(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>, by: ChoiceBy) -> Vec<Step> {
    let mut steps = config::at_iteration(c, of, scope);
    let branches = branches(c, of, scope);
    if !branches.is_empty() {
        steps.push(Step::Choice(Choice { by, branches }));
    }
    steps
}

/// Each pass takes the next child. Where sub-controllers are ignored, that of a child which is a controller is one request of it,
/// and the next one in the pass in which the child's turn comes again.
fn interleaved(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let all = of.properties.flag("InterleaveControl.accrossThreads", false);
    let by = if all { ChoiceBy::TurnOfAll } else { ChoiceBy::Turn };
    if of.properties.text("InterleaveControl.style").trim() == "1" {
        return choice(c, of, scope, by);
    }
    let mut steps = config::at_iteration(c, of, scope);
    let mut branches = Vec::new();
    for child in super::walked(of) {
        branches.push(Branch { name: child.title().to_owned(), weight: 1, steps: taken(c, child, scope) });
    }
    if !branches.is_empty() {
        steps.push(Step::Choice(Choice { by, branches }));
    }
    steps
}

/// The steps of one turn of a child whose controller is ignored.
fn taken(c: &mut Converter<'_>, child: &Element, scope: &Scope<'_>) -> Vec<Step> {
    if requests(child) < 2 || ALWAYS_ONE.contains(&child.class.as_str()) {
        return child_steps(c, child, scope);
    }
    if is_transparent(child) {
        let mut branches = Vec::new();
        requests_in_turn(c, child, scope, &mut Vec::new(), &mut branches);
        return vec![Step::Choice(Choice { by: ChoiceBy::Turn, branches })];
    }
    c.different(
        child,
        "the Interleave Controller around it takes it as a whole in its turn, where JMeter would take one request of it at a time",
    );
    child_steps(c, child, scope)
}

/// Requests in an element, itself included.
fn requests(of: &Element) -> usize {
    match kinds::role(of) {
        Role::Controller => super::walked(of).map(requests).sum(),
        _ => 1,
    }
}

/// Adds a branch for each request in a controller, at any depth. `begins`: what is done before the next one.
fn requests_in_turn(
    c: &mut Converter<'_>,
    of: &Element,
    around: &Scope<'_>,
    begins: &mut Vec<Step>,
    branches: &mut Vec<Branch>,
) {
    let scope = around.below(of, &[]);
    begins.extend(config::at_iteration(c, of, &scope));
    for child in super::walked(of) {
        if kinds::role(child) == Role::Controller {
            requests_in_turn(c, child, &scope, begins, branches);
            continue;
        }
        let mut steps = std::mem::take(begins);
        steps.extend(child_steps(c, child, &scope));
        branches.push(Branch { name: child.title().to_owned(), weight: 1, steps });
    }
}

/// True if a controller, and each in it, only holds others.
fn is_transparent(of: &Element) -> bool {
    let inner = |child: &Element| kinds::role(child) != Role::Controller || is_transparent(child);
    TRANSPARENT.contains(&of.class.as_str()) && super::walked(of).all(inner)
}

/// The children of a Parallel Controller at once, and within one sample where it asks for that.
fn at_once(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let most = most_at_once(c, of);
    let mut steps = config::at_iteration(c, of, scope);
    let branches = branches(c, of, scope).into_iter().filter(|branch| !branch.steps.is_empty());
    let mut branches: Vec<Step> = branches.map(|Branch { name, steps, .. }| one_step(name, steps)).collect();
    if branches.len() < 2 || most == 1 {
        steps.append(&mut branches);
    } else {
        flatten(c, of, &mut branches);
        list_shared(c, of, &branches);
        steps.push(Step::Together(Together { at_once: most, steps: branches }));
    }
    if steps.is_empty() {
        return steps;
    }
    if !of.properties.flag("PARENT_SAMPLE", false) {
        return vec![Step::Sequence(Sequence { name: of.title().to_owned(), steps })];
    }
    let name = label(c, of);
    let Titled { mut before, title } = title(c, of);
    before.push(Step::Transaction(Transaction { name, title, pauses: true, parent: true, steps }));
    before
}

/// Children of a Parallel Controller that run at once, at most; 0: all.
fn most_at_once(c: &mut Converter<'_>, of: &Element) -> u32 {
    if !of.properties.flag("LIMIT_MAX_THREAD_NUMBER", false) {
        return 0;
    }
    let written = of.properties.filled("MAX_THREAD_NUMBER").unwrap_or("6").to_owned();
    let most = c.text(of, &written).constant().and_then(|text| text.trim().parse::<u32>().ok());
    let most = most.filter(|most| *most > 0);
    if most.is_none() {
        c.different(
            of,
            format!("its limit '{written}' is no number above 0: all of its children run at once"),
        );
    }
    most.unwrap_or(0)
}

fn one_step(name: String, mut steps: Vec<Step>) -> Step {
    match (steps.len(), steps.pop()) {
        (1, Some(step)) => step,
        (_, last) => Step::Sequence(Sequence { name, steps: steps.into_iter().chain(last).collect() }),
    }
}

/// Of a Parallel Controller within another, the children run one after the other.
fn flatten(c: &mut Converter<'_>, of: &Element, branches: &mut Vec<Step>) {
    let mut all = Scenario::of(std::mem::take(branches));
    let mut found = false;
    all.each_mut(&mut |step| {
        if let Step::Together(Together { steps, .. }) = step {
            found = true;
            let steps = std::mem::take(steps);
            *step = Step::Sequence(Sequence { name: String::new(), steps });
        }
    });
    *branches = all.steps;
    if found {
        c.different(
            of,
            "the children of a Parallel Controller within it are sent one after the other, while its own are sent at once",
        );
    }
}

/// Lists values that children keep: in the plugin the others may see them at once.
fn list_shared(c: &mut Converter<'_>, of: &Element, branches: &[Step]) {
    let all = Scenario::of(branches.to_vec());
    let mut kept = all.kept();
    kept.retain(|name| !name.starts_with("__jm__"));
    kept.sort_unstable();
    kept.dedup();
    if !kept.is_empty() {
        let names = kept.join(", ");
        c.different(
            of,
            format!("what a child keeps ({names}) is seen behind all of them; in the plugin the others may see it while they run"),
        );
    }
}

/// One of the children by weights, which the rows of a table give to them in their order.
fn weighted(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let random = of.properties.flag("IsRandomChoice", false);
    let by = if random { ChoiceBy::Weight } else { ChoiceBy::WeightedTurn };
    let Some(weights) = weights(c, of) else { return Vec::new() };
    let mut steps = config::at_iteration(c, of, scope);
    let mut branches = branches(c, of, scope);
    let rows = weights.len();
    let children = branches.len();
    match rows.cmp(&children) {
        Ordering::Less => {
            c.different(
                of,
                format!(
                    "its table weighs {rows} of its {children} children: the others never run, as in JMeter"
                ),
            );
        }
        Ordering::Greater => {
            let text = format!(
                "its table has {rows} rows for {children} children: in the turn of the others nothing runs, for one iteration and not for two as in the plugin"
            );
            c.different(of, text);
        }
        Ordering::Equal => {}
    }
    branches.resize_with(rows.max(children), || Branch::of(0, Vec::new()));
    for (nth, branch) in branches.iter_mut().enumerate() {
        branch.weight = weights.get(nth).copied().unwrap_or(0);
    }
    steps.push(Step::Choice(Choice { by, branches }));
    steps
}

/// The weights of the rows that are not switched off; none where JMeter could not choose by them.
fn weights(c: &mut Converter<'_>, of: &Element) -> Option<Vec<u32>> {
    let mut weights = Vec::new();
    for row in of.properties.list("Weights") {
        let cells = row.as_list();
        if cells.get(2).is_some_and(|cell| cell.as_text() != "true") {
            continue;
        }
        let written = cells.get(1).map_or("", Value::as_text);
        let text = c.constant(of, written, "a weight")?;
        let Ok(weight) = text.parse() else {
            c.missing(of, format!("its weight '{text}' is no whole number"));
            return None;
        };
        weights.push(weight);
    }
    if weights.iter().all(|weight| *weight == 0) {
        c.missing(of, "none of its weights is above 0: give one that is");
        return None;
    }
    Some(weights)
}

fn switch(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let written = of.properties.text("SwitchController.value").trim().to_owned();
    let value = c.text(of, &written);
    let by = ChoiceBy::Switch(Body::from(value.raw()));
    let mut steps = value.steps();
    steps.extend(choice(c, of, scope, by));
    steps
}

fn transaction(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let name = label(c, of);
    let title = title(c, of);
    let pauses = of.properties.flag("TransactionController.includeTimers", false);
    let parent = of.properties.flag("TransactionController.parent", false);
    listener::of_transaction(c, scope, &name);
    let Titled { before, title } = title;
    let steps =
        wrapped(c, of, scope, |steps| Step::Transaction(Transaction { name, title, pauses, parent, steps }));
    if steps.is_empty() {
        c.different(of, "there is nothing in it to run: JMeter records a sample of it all the same");
    }
    if steps.is_empty() { steps } else { before.into_iter().chain(steps).collect() }
}

/// The label of a sampler or transaction, under which figures are gathered: one that changes is written as it stands.
pub(super) fn label(c: &mut Converter<'_>, of: &Element) -> String {
    c.text(of, of.title()).constant().unwrap_or_else(|| of.title().to_owned())
}

/// The label in the results file, where it changes.
pub(super) fn title(c: &mut Converter<'_>, of: &Element) -> Titled {
    let text = c.text(of, of.title());
    match text.constant() {
        Some(_) => Titled::default(),
        None => Titled { before: text.steps(), title: Body::from(text.raw()) },
    }
}

/// Returns the condition under which a While Controller goes on: its text is not `false`.
fn goes_on(c: &mut Converter<'_>, of: &Element, written: &str) -> Option<(Vec<Step>, Expression)> {
    if let Some((before, condition)) = conditions::script_truth(c, of, written) {
        return Some((before, condition));
    }
    let text = c.text(of, written);
    let condition = match text.constant() {
        Some(constant) => Expression((!constant.eq_ignore_ascii_case("false")).to_string()),
        None => Expression(format!("lower({}) != {}", joined(&text.operands()), quoted("false"))),
    };
    Some((text.steps(), condition))
}

/// Operands as one text, as expressions have it.
pub(super) fn joined(operands: &[String]) -> String {
    match operands {
        [one] => one.clone(),
        all => format!("text({})", all.join(", ")),
    }
}
