//! Listeners: they have no part in what is sent, but some stop the test, and those that send or write elsewhere are listed.

use super::backend;
use super::kinds::{self, Convert, ElementKind};
use super::scope::Scope;
use super::{Converter, sampler, users};
use crate::element::Element;
use crate::role::Role;
use plan::{Step, StopIf};
use std::collections::BTreeMap;

/// AutoStop listeners: those met so far with the samplers that each of them looks at, and the samplers of the plan.
#[derive(Default)]
pub(super) struct AutoStops {
    samplers: usize,
    met: BTreeMap<String, (Element, usize)>,
    /// The limits of all of them.
    stops: Vec<StopIf>,
}

const LATENCY: &str = "avg_response_latency";

/// The limits of an AutoStop listener: its property, what it is of, and the unit of the number.
const LIMITS: [(&str, &str, &str); 3] =
    [("avg_response_time", "mean", "ms"), (LATENCY, "first-byte.mean", "ms"), ("error_rate", "errors", "%")];

/// Limits that newer ones have, which are of the whole run so far or of the user's own window.
const OTHER_LIMITS: [&str; 3] = ["percentile_response_time", "rel_percentile_threshold_pct", "error_count"];

pub(super) const KINDS: &[ElementKind] = &[
    ElementKind { class: "ResultCollector", convert: Convert::Listener(results) },
    ElementKind { class: "Summariser", convert: Convert::Listener(results) },
    ElementKind { class: "BackendListener", convert: Convert::Listener(backend::convert) },
    ElementKind { class: "BeanShellListener", convert: Convert::ScriptListener(program) },
    ElementKind { class: "JSR223Listener", convert: Convert::ScriptListener(program) },
    ElementKind { class: "ResultSaver", convert: Convert::Listener(saver) },
    ElementKind { class: "kg.apc.jmeter.reporters.AutoStop", convert: Convert::Listener(auto_stop) },
];

/// The listeners of a sampler with this label.
pub(super) fn listeners(c: &mut Converter<'_>, scope: &Scope<'_>, label: &str) {
    c.auto_stops.samplers += 1;
    backend::sampler(c, label);
    for element in scope.outermost_first(Role::Listener) {
        match kinds::convert(element) {
            Convert::Listener(convert) => {
                convert(c, element);
                backend::beside(c, element, label);
            }
            // Its program runs behind the sampler.
            Convert::ScriptListener(_) => {}
            _ => unreachable!("{} is no listener", element.class),
        }
    }
}

/// A program that is run for each result, behind its assertions.
fn program(c: &mut Converter<'_>, of: &Element) -> Vec<Step> {
    sampler::script(c, of, None)
}

/// The programs that are run for the results of samplers in a scope, the innermost first.
pub(super) fn scripts(c: &mut Converter<'_>, scope: &Scope<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    for element in scope.inner_first(Role::Listener) {
        if let Convert::ScriptListener(convert) = kinds::convert(element) {
            steps.extend(convert(c, element));
        }
    }
    steps
}

/// Listeners of a transaction with this label. Programs that JMeter runs for the results of transactions, too, are listed.
pub(super) fn of_transaction(c: &mut Converter<'_>, scope: &Scope<'_>, label: &str) {
    backend::beside_transaction(c, scope, label);
    for element in scope.inner_first(Role::Listener) {
        if matches!(kinds::convert(element), Convert::ScriptListener(_)) {
            c.different(
                element,
                "it runs for each sampler, and not for transactions: JMeter runs it for these as well, and for samplers within one that is a parent for the transaction alone",
            );
        }
    }
}

fn results(c: &mut Converter<'_>, of: &Element) {
    if let Some(file) = of.properties.filled("filename").map(str::to_owned) {
        c.different(of, format!("its file '{file}' is not written: results go to -l FILE"));
    }
}

/// Answers are not written to files of their own; the run is the same.
fn saver(c: &mut Converter<'_>, of: &Element) {
    c.different(of, "answers are not saved to files: wringer jmeter -l FILE with jmeter.save.saveservice.response_data=true has them in one");
}

/// A listener that is not known: one that only shows something takes no part in a run.
pub(super) fn unknown(c: &mut Converter<'_>, of: &Element) {
    let only_shows = ["Collector", "Visualizer", "Gui"].iter().any(|word| of.class.contains(word));
    if !only_shows {
        c.missing(of, "a listener of this kind cannot run");
    }
}

/// Stops the test when an average has been above its limit for a time.
fn auto_stop(c: &mut Converter<'_>, of: &Element) {
    if let Some((_, samplers)) = c.auto_stops.met.get_mut(&of.path) {
        *samplers += 1;
        return;
    }
    c.auto_stops.met.insert(of.path.clone(), (of.clone(), 1));
    for (name, metric, unit) in LIMITS {
        let Some(limit) = limit(c, of, name) else { continue };
        if name == LATENCY {
            c.different(
                of,
                "the latency that stops is that of answers that came, from the send on, without connecting",
            );
        }
        let seconds = users::number_at_start(c, of, of.properties.text(&format!("{name}_length"))).max(1);
        match StopIf::parse(&format!("{metric}>{limit}{unit} for {seconds}s")) {
            Ok(stop) => c.auto_stops.stops.push(stop),
            Err(why) => c.missing(of, why),
        }
    }
    for name in OTHER_LIMITS {
        if limit(c, of, name).is_some() {
            c.missing(of, format!("it does not stop by its {name}: give an average or an error rate"));
        }
    }
}

/// A limit; none where it is 0 or no number, as in the listener.
pub(super) fn limit(c: &mut Converter<'_>, of: &Element, name: &str) -> Option<f64> {
    let written = of.properties.filled(name)?;
    let text = c.evaluate_at_start(of, written);
    let limit = text.trim().parse::<f64>().ok().filter(|limit| limit.is_finite());
    if limit.is_none() {
        c.different(of, format!("its limit '{text}' is no number, so it does not stop by it, as in JMeter"));
    }
    limit.filter(|limit| *limit > 0.0)
}

/// The conditions that end the run. One that is meant for some samplers is held against all, which is told.
pub(super) fn stop_if(c: &mut Converter<'_>) -> Vec<StopIf> {
    let AutoStops { samplers, met, stops } = std::mem::take(&mut c.auto_stops);
    backend::limit(c, samplers);
    for (element, of) in met.into_values().filter(|(_, of)| *of < samplers) {
        c.different(
            &element,
            format!("it stands beside {of} of {samplers} samplers, and stops the run by the figures of all of them"),
        );
    }
    stops
}
