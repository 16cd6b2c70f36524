//! Samplers, with what stands around them: pre-processors, timers, the sampler, post-processors, assertions.

use super::control::Titled;
use super::http::{self, Sampler};
use super::kinds::{self, Convert, ElementKind};
use super::scope::Scope;
use super::{Converter, config, control, interrupt, java, listener};
use crate::element::Element;
use crate::expression::Text;
use crate::function;
use crate::role::Role;
use plan::{Body, Code, Delay, Expression, Fills, Flow, If, Step};
use std::time::Duration;

pub(super) const KINDS: &[ElementKind] = &[
    ElementKind { class: "TestAction", convert: Convert::Action(action) },
    ElementKind { class: "DebugSampler", convert: Convert::Sampler(debug) },
    ElementKind { class: "JSR223Sampler", convert: Convert::Sampler(script_sampler) },
    ElementKind { class: "BeanShellSampler", convert: Convert::Sampler(script_sampler) },
    ElementKind { class: "kg.apc.jmeter.samplers.DummySampler", convert: Convert::Sampler(dummy) },
    ElementKind { class: "BSFSampler", convert: Convert::Sampler(script_sampler) },
    ElementKind { class: "JavaSampler", convert: Convert::Sampler(java::request) },
    ElementKind { class: "JDBCSampler", convert: Convert::Sampler(database) },
    ElementKind { class: "UserParameters", convert: Convert::Pre(user_parameters) },
    ElementKind { class: "JSR223PreProcessor", convert: Convert::Pre(plain_script) },
    ElementKind { class: "BeanShellPreProcessor", convert: Convert::Pre(plain_script) },
    ElementKind { class: "BSFPreProcessor", convert: Convert::Pre(plain_script) },
    ElementKind { class: "JSR223PostProcessor", convert: Convert::Post(plain_script) },
    ElementKind { class: "BeanShellPostProcessor", convert: Convert::Post(plain_script) },
    ElementKind { class: "BSFPostProcessor", convert: Convert::Post(plain_script) },
    ElementKind { class: "DebugPostProcessor", convert: Convert::Post(debug_part) },
    ElementKind { class: "ResultAction", convert: Convert::Reaction(reaction) },
    ElementKind { class: "JSR223Assertion", convert: Convert::Assertion(script_assertion) },
    ElementKind { class: "BeanShellAssertion", convert: Convert::Assertion(script_assertion) },
    ElementKind { class: "BSFAssertion", convert: Convert::Assertion(script_assertion) },
];

/// All that a sampler does, in order.
pub(super) fn sampler(c: &mut Converter<'_>, of: &Element, around: &Scope<'_>) -> Vec<Step> {
    let scope = &around.below(of, &[]);
    let label = control::label(c, of);
    listener::listeners(c, scope, &label);
    interrupt::note(c, of, scope);
    let mut steps = before(c, of, scope);
    let convert = match kinds::convert(of) {
        Convert::Sampler(convert) => convert,
        Convert::Action(convert) => {
            steps.extend(convert(c, of));
            return steps;
        }
        _ => unreachable!("{} is no sampler", of.class),
    };
    let after = after(c, scope);
    for code in steps.iter_mut().filter_map(as_code) {
        code.request.clone_from(&label);
    }
    let mut own = convert(c, of, scope, after);
    // What its texts are computed of knows its name; a program that is a sample has one of its own.
    for code in own.iter_mut().filter_map(as_code).filter(|code| code.sample.is_empty()) {
        code.request.clone_from(&label);
    }
    steps.extend(own);
    steps.extend(reactions(c, scope));
    steps
}

/// Where the user goes on if the sample has failed, once its assertions have judged it.
fn reactions(c: &mut Converter<'_>, scope: &Scope<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    for element in scope.outermost_first(Role::Reaction) {
        let Convert::Reaction(convert) = kinds::convert(element) else {
            unreachable!("{} is no reaction", element.class);
        };
        steps.extend(convert(c, element));
    }
    steps
}

fn reaction(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let flow = match of.properties.text("OnError.action").trim() {
        "" | "0" => return Vec::new(),
        "1" => Flow::StopUser,
        "2" => Flow::StopRun,
        "3" => Flow::StopNow,
        "4" => Flow::NextIteration,
        "5" => Flow::NextRound,
        "6" => Flow::BreakLoop,
        other => {
            c.missing(of, format!("'{other}' is no action that is known"));
            return Vec::new();
        }
    };
    let condition = Expression("not last.ok".to_owned());
    let steps = vec![Step::Flow(flow)];
    vec![Step::If(If { condition, before_each: false, steps, otherwise: Vec::new() })]
}

/// A sampler of a kind that is not known.
pub(super) fn unknown(c: &mut Converter<'_>, of: &Element, _: &Scope<'_>, _: Vec<Step>) -> Vec<Step> {
    c.missing(of, "a sampler of this kind cannot run");
    Vec::new()
}

fn database(c: &mut Converter<'_>, of: &Element, _: &Scope<'_>, _: Vec<Step>) -> Vec<Step> {
    c.missing(of, "requests to databases are not sent");
    Vec::new()
}

fn script_sampler(c: &mut Converter<'_>, of: &Element, _: &Scope<'_>, after: Vec<Step>) -> Vec<Step> {
    let script = script(c, of, None);
    sampled(c, of, script, after)
}

fn debug(c: &mut Converter<'_>, of: &Element, _: &Scope<'_>, after: Vec<Step>) -> Vec<Step> {
    let mut shown = Vec::new();
    if of.properties.flag("displayJMeterVariables", true) {
        shown.push("variables");
    }
    if of.properties.flag("displayJMeterProperties", false) {
        shown.push("properties");
    }
    if of.properties.flag("displaySystemProperties", false) && !after.is_empty() {
        c.different(of, "it shows no properties of the system: nothing is found in them");
    }
    let code = c.code(of, "values", &shown.join(" "), None);
    sampled(c, of, vec![Step::Code(code)], after)
}

/// A part of its output that is no part of a request.
fn debug_part(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    c.different(
        of,
        "it adds no part with variables and properties to its sample, and no bytes of such a part",
    );
    Vec::new()
}

fn plain_script(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    script(c, of, None)
}

fn script_assertion(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let mut steps = script(c, of, None);
    steps.iter_mut().filter_map(as_code).for_each(|code| code.asserts = true);
    steps
}

/// Those that are set once for each iteration are set when it begins.
fn user_parameters(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    if config::is_per_iteration(of) { Vec::new() } else { config::user_parameters(c, of) }
}

/// Pre-processors, then timers.
fn before(c: &mut Converter<'_>, of: &Element, scope: &Scope<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    for element in scope.outermost_first(Role::Pre).chain(scope.inner_first(Role::Timer)) {
        steps.extend(match kinds::convert(element) {
            Convert::Pre(convert) | Convert::Timer(convert) => convert(c, element),
            // Nothing but HTTP follows links.
            Convert::Follow(_) if !http::is_sampler(of) => Vec::new(),
            Convert::Follow(convert) => convert(c, element, &Sampler::new(of, scope, http::DEFAULTS)),
            _ => unreachable!("{} is no pre-processor", element.class),
        });
    }
    steps
}

/// Post-processors, then assertions, then programs of listeners.
fn after(c: &mut Converter<'_>, scope: &Scope<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    for element in scope.outermost_first(Role::Post).chain(scope.outermost_first(Role::Assertion)) {
        steps.extend(match kinds::convert(element) {
            Convert::Post(convert) | Convert::Assertion(convert) => convert(c, element),
            _ => unreachable!("{} is no post-processor", element.class),
        });
    }
    steps.extend(listener::scripts(c, scope));
    steps
}

/// Flow control: a pause, or where the user goes on.
fn action(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    let key = |name: &str| of.properties.text(&format!("ActionProcessor.{name}")).trim().to_owned();
    let whole_run = key("target") == "2";
    match (key("action").as_str(), whole_run) {
        ("1", _) => pause(c, of, &key("duration")),
        ("0", false) => vec![Step::Flow(Flow::StopUser)],
        ("0", true) => vec![Step::Flow(Flow::StopRun)],
        ("2", true) => vec![Step::Flow(Flow::StopNow)],
        ("2", false) => vec![Step::Flow(Flow::StopUser)],
        ("3", _) => vec![Step::Flow(Flow::NextIteration)],
        ("4", _) => vec![Step::Flow(Flow::NextRound)],
        ("5", _) => vec![Step::Flow(Flow::BreakLoop)],
        (other, _) => {
            c.missing(of, format!("'{other}' is no action that is known"));
            Vec::new()
        }
    }
}

fn pause(c: &mut Converter<'_>, of: &Element, written: &str) -> Vec<Step> {
    let text = c.text(of, written);
    match (text.constant().map(|text| text.trim().parse::<u64>()), text.only_value()) {
        (Some(Ok(0)), _) => Vec::new(),
        (Some(Ok(ms)), _) => vec![Step::Pause(Delay::Fixed { delay: Duration::from_millis(ms) })],
        (None, Some(name)) => {
            let wait = Step::Wait(plan::Expression(super::text::operand(name)));
            text.steps().into_iter().chain([wait]).collect()
        }
        _ if written.is_empty() => Vec::new(),
        _ => {
            c.missing(of, format!("its pause '{written}' is not a number or one variable"));
            Vec::new()
        }
    }
}

/// The program of an element as a sample: the last of its steps is timed and counted.
pub(super) fn sampled(
    c: &mut Converter<'_>,
    of: &Element,
    mut steps: Vec<Step>,
    after: Vec<Step>,
) -> Vec<Step> {
    let label = control::label(c, of);
    let Titled { before, title } = control::title(c, of);
    if let Some(code) = steps.last_mut().and_then(as_code) {
        (code.sample, code.title, code.after) = (label, title, after);
    }
    before.into_iter().chain(steps).collect()
}

/// Program text of an element.
pub(super) fn script(c: &mut Converter<'_>, of: &Element, into: Option<String>) -> Vec<Step> {
    let own = matches!(of.class.as_str(), "BeanShellSampler" | "BeanShellAssertion" | "BSFSampler");
    let key = |plain: &str, old: &str| {
        let old = format!("{}.{old}", of.class);
        of.properties.text(if own { &old } else { plain }).to_owned()
    };
    let file = key("filename", "filename");
    let Some(language) = language(c, of) else { return Vec::new() };
    let written = match file.trim() {
        "" => key("script", "query"),
        file => match script_file(c, of, file) {
            Some(text) => text,
            None => return Vec::new(),
        },
    };
    let is_cached = of.class.starts_with("JSR223") && of.properties.text("cacheKey").trim() != "false";
    let of_user = is_cached && language != "beanshell";
    let parameters = c.text(of, &key("parameters", "parameters"));
    let mut code = c.code(of, language, &written, into);
    code.fills = match (written.contains("${"), of_user) {
        (false, _) => Fills::Never,
        (true, true) => Fills::First,
        (true, false) => Fills::Each,
    };
    code.parameters = Body::from(parameters.raw());
    code.sets = put_names(c, &written);
    parameters.steps().into_iter().chain([Step::Code(code)]).collect()
}

/// The text of a script in a file of its own.
fn script_file(c: &mut Converter<'_>, of: &Element, file: &str) -> Option<String> {
    let file = c.constant(of, file, "the file of its script")?;
    let Some(bytes) = (c.settings.included)(&file) else {
        c.missing(of, format!("its script is in the file '{file}', which is not there"));
        return None;
    };
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn language(c: &mut Converter<'_>, of: &Element) -> Option<&'static str> {
    if of.class.starts_with("BeanShell") {
        return Some("beanshell");
    }
    let key = if of.class == "BSFSampler" { "BSFSampler.language" } else { "scriptLanguage" };
    let language = of.properties.filled(key).unwrap_or("groovy").trim().to_lowercase();
    match language.as_str() {
        "java" | "bsh" | "beanshell" => Some("beanshell"),
        "javascript" | "ecmascript" | "js" | "nashorn" | "rhino" => {
            c.different(of, "JMeter has no JavaScript for it with Java 15 or newer, and fails it: it runs");
            Some("javascript")
        }
        "jexl2" | "jexl3" | "jexl" => Some("jexl"),
        "groovy" => Some("groovy"),
        other => {
            c.missing(of, format!("scripts in {other} cannot run"));
            None
        }
    }
}

/// Names that a script puts values under.
fn put_names(c: &mut Converter<'_>, script: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for put in script.split("vars.put").skip(1) {
        let argument = put.trim_start_matches("Object").trim_start().trim_start_matches('(').trim_start();
        let quote = argument.chars().next().filter(|one| matches!(one, '"' | '\''));
        if let Some(name) = quote.and_then(|quote| argument[1..].split(quote).next()) {
            let name = c.variables.name(name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// A sample that sends nothing: what it answers is written in it.
fn dummy(c: &mut Converter<'_>, of: &Element, _: &Scope<'_>, after: Vec<Step>) -> Vec<Step> {
    let text = |name: &str| of.properties.text(name).to_owned();
    let mut steps = Vec::new();
    if of.properties.flag("WAITING", false) {
        steps.extend(pause(c, of, &text("RESPONSE_TIME")));
    }
    c.different(of, "its times are those that it takes here, not those that it names");
    let parsed = Text::parse(&text("RESPONSE_DATA"), &function::is_known).unwrap_or_default();
    let answer = c.rebuilt(&parsed);
    let mut code = c.code(of, "jmeter", &answer, None);
    let status = text("RESPONSE_CODE");
    let message = text("RESPONSE_MESSAGE");
    let says = c.text(of, &format!("{} {} {message}", filled(&status, "200"), text("SUCCESFULL")));
    code.parameters = Body::from(says.raw());
    steps.extend(says.steps());
    steps.extend(sampled(c, of, vec![Step::Code(code)], after));
    steps
}

fn filled<'t>(text: &'t str, otherwise: &'t str) -> &'t str {
    if text.trim().is_empty() { otherwise } else { text.trim() }
}

fn as_code(step: &mut Step) -> Option<&mut Code> {
    match step {
        Step::Code(code) => Some(code),
        _ => None,
    }
}
