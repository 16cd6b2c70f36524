//! Listeners: they have no part in what is sent, but some stop the test, and those that send or write elsewhere are listed.

use super::Converter;
use super::scope::Scope;
use crate::element::Element;
use crate::role::Role;
use plan::StopIf;
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

impl Converter<'_> {
    /// The listeners of a sampler.
    pub(super) fn listeners(&mut self, scope: &Scope<'_>) {
        self.auto_stops.samplers += 1;
        for element in scope.outermost_first(Role::Listener) {
            match element.class.as_str() {
                "ResultCollector" | "Summariser" => {
                    if let Some(file) = element.properties.filled("filename").map(str::to_owned) {
                        self.different(
                            element,
                            format!("its file '{file}' is not written: results go to -l FILE"),
                        );
                    }
                }
                "BackendListener" => {
                    self.missing(element, "results are not sent to another system while the run goes on")
                }
                "kg.apc.jmeter.reporters.AutoStop" => self.auto_stop(element),
                "BeanShellListener" | "JSR223Listener" | "ResultSaver" => {
                    self.missing(element, "a listener of this kind cannot run")
                }
                class
                    if class.contains("Collector")
                        || class.contains("Visualizer")
                        || class.contains("Gui") => {}
                _ => self.missing(element, "a listener of this kind cannot run"),
            }
        }
    }

    /// Stops the test when an average has been above its limit for a time.
    fn auto_stop(&mut self, of: &Element) {
        if let Some((_, samplers)) = self.auto_stops.met.get_mut(&of.path) {
            *samplers += 1;
            return;
        }
        self.auto_stops.met.insert(of.path.clone(), (of.clone(), 1));
        for (name, metric, unit) in LIMITS {
            let Some(limit) = self.limit(of, name) else { continue };
            if name == LATENCY {
                self.different(of, "the latency that stops is that of answers that came, from the send on, without connecting");
            }
            let seconds = self.number_at_start(of, of.properties.text(&format!("{name}_length"))).max(1);
            match StopIf::parse(&format!("{metric}>{limit}{unit} for {seconds}s")) {
                Ok(stop) => self.auto_stops.stops.push(stop),
                Err(why) => self.missing(of, why),
            }
        }
        for name in OTHER_LIMITS {
            if self.limit(of, name).is_some() {
                self.missing(of, format!("it does not stop by its {name}: give an average or an error rate"));
            }
        }
    }

    /// A limit; none where it is 0 or no number, as in the listener.
    fn limit(&mut self, of: &Element, name: &str) -> Option<f64> {
        let written = of.properties.filled(name)?;
        let text = self.evaluate_at_start(of, written);
        let limit = text.trim().parse::<f64>().ok().filter(|limit| limit.is_finite());
        if limit.is_none() {
            self.different(
                of,
                format!("its limit '{text}' is no number, so it does not stop by it, as in JMeter"),
            );
        }
        limit.filter(|limit| *limit > 0.0)
    }

    /// The conditions that end the run. One that is meant for some samplers is held against all, which is told.
    pub(super) fn stop_if(&mut self) -> Vec<StopIf> {
        let AutoStops { samplers, met, stops } = std::mem::take(&mut self.auto_stops);
        for (element, of) in met.into_values().filter(|(_, of)| *of < samplers) {
            self.different(
                &element,
                format!("it stands beside {of} of {samplers} samplers, and stops the run by the figures of all of them"),
            );
        }
        stops
    }
}
