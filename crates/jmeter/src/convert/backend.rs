//! Backend Listeners: those for InfluxDB and Graphite become exports of the run.

use super::Converter;
use super::scope::Scope;
use crate::element::{Element, Value};
use crate::role::Role;
use std::collections::BTreeMap;

/// Somebody who is sent figures while the run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    /// Which system it is.
    pub system: System,
    /// Its address: a URL, or host and port.
    pub to: String,
    /// The application or prefix that figures bear.
    pub name: String,
    /// A token in the plan.
    pub token: Option<String>,
    /// Labels whose figures it is sent: those of what it stands beside; `None`: all.
    pub only: Option<Vec<String>>,
}

/// A system that takes figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// InfluxDB, over HTTP.
    Influx,
    /// Graphite, in its plaintext protocol.
    Graphite,
}

/// Parameters that are obeyed only with this value.
type Usual = (&'static str, &'static [&'static str]);

const CLASS: &str = "BackendListener";

const INFLUX: &str = "influxdb.InfluxdbBackendListenerClient";
const INFLUX_USUAL: [Usual; 6] = [
    ("influxdbMetricsSender", &["", "org.apache.jmeter.visualizers.backend.influxdb.HttpMetricsSender"]),
    ("measurement", &["", "jmeter"]),
    ("summaryOnly", &["", "false"]),
    ("samplersRegex", &["", ".*"]),
    ("percentiles", &["", "99;95;90", "90;95;99"]),
    ("eventTags", &[""]),
];

const GRAPHITE: &str = "graphite.GraphiteBackendListenerClient";
const GRAPHITE_USUAL: [Usual; 5] = [
    (
        "graphiteMetricsSender",
        &["", "org.apache.jmeter.visualizers.backend.graphite.TextGraphiteMetricsSender"],
    ),
    ("summaryOnly", &["false"]),
    ("useRegexpForSamplersList", &["", "false", "true"]),
    ("samplersList", &["", ".*"]),
    ("percentiles", &["", "99;95;90", "90;95;99"]),
];

/// Backend Listeners that were met, and the labels of the samplers of a plan.
#[derive(Default)]
pub(super) struct BackendsMet {
    by_path: BTreeMap<String, BackendMet>,
    /// How many samplers have each label.
    labels: BTreeMap<String, usize>,
}

/// A Backend Listener with what it stands beside.
struct BackendMet {
    element: Element,
    /// Its place among those that are sent figures, where it is one of them.
    place: Option<usize>,
    samplers: usize,
    /// How many samplers in its scope have each label; 0: it is a transaction's.
    labels: BTreeMap<String, usize>,
}

/// A sampler has this label.
pub(super) fn sampler(c: &mut Converter<'_>, label: &str) {
    *c.backends_met.labels.entry(label.to_owned()).or_default() += 1;
}

/// A listener stands beside a sampler with this label.
pub(super) fn beside(c: &mut Converter<'_>, of: &Element, label: &str) {
    if let Some(met) = c.backends_met.by_path.get_mut(&of.path) {
        met.samplers += 1;
        *met.labels.entry(label.to_owned()).or_default() += 1;
    }
}

/// A listener stands beside a transaction, or in it.
pub(super) fn beside_transaction(c: &mut Converter<'_>, scope: &Scope<'_>, label: &str) {
    for element in scope.outermost_first(Role::Listener).filter(|of| of.class == CLASS) {
        convert(c, element);
        if let Some(met) = c.backends_met.by_path.get_mut(&element.path) {
            met.labels.entry(label.to_owned()).or_default();
        }
    }
}

/// Notes who is sent figures; the listener of another system is listed.
pub(super) fn convert(c: &mut Converter<'_>, of: &Element) {
    if c.backends_met.by_path.contains_key(&of.path) {
        return;
    }
    let backend = backend(c, of);
    let place = backend.is_some().then_some(c.backends.len());
    c.backends.extend(backend);
    let met = BackendMet { element: of.clone(), place, samplers: 0, labels: BTreeMap::new() };
    c.backends_met.by_path.insert(of.path.clone(), met);
}

/// Who a listener sends figures to; none where it is one of another system, or names no address, which is listed.
fn backend(c: &mut Converter<'_>, of: &Element) -> Option<Backend> {
    let class = of.properties.text("classname").to_owned();
    let given = parameters(c, of);
    let given = |name: &str| given.get(name).map_or("", |text| text.trim());
    let system = match class {
        _ if class.ends_with(INFLUX) => System::Influx,
        _ if class.ends_with(GRAPHITE) => System::Graphite,
        _ => {
            let why = format!("results are not sent to another system ({class}) while the run goes on");
            c.different(of, why);
            return None;
        }
    };
    let usual: &[Usual] = match system {
        System::Influx => &INFLUX_USUAL,
        System::Graphite => &GRAPHITE_USUAL,
    };
    let backend = match system {
        System::Influx => {
            let token = Some(given("influxdbToken").to_owned()).filter(|token| !token.is_empty());
            let to = given("influxdbUrl").to_owned();
            Backend { system, to, name: or(given("application"), "wringer"), token, only: None }
        }
        System::Graphite => {
            let host = given("graphiteHost");
            let port = or(given("graphitePort"), "2003");
            let to = if host.is_empty() { String::new() } else { format!("{host}:{port}") };
            let name = or(given("rootMetricsPrefix"), "jmeter.");
            Backend { system, to, name, token: None, only: None }
        }
    };
    if backend.to.is_empty() {
        c.different(of, "it names no address, so nothing is sent");
        return None;
    }
    for (name, taken) in usual {
        let value = given(name);
        if !taken.contains(&value) {
            c.different(
                of,
                format!("its {name} '{value}' is not obeyed: all steps, with percentiles 90, 95, 99"),
            );
        }
    }
    Some(backend)
}

/// Those that stand beside some of a plan's samplers are sent the figures of these labels.
pub(super) fn limit(c: &mut Converter<'_>, samplers: usize) {
    let BackendsMet { by_path, labels: all } = std::mem::take(&mut c.backends_met);
    for BackendMet { element, place, samplers: of, labels } in by_path.into_values() {
        let Some(place) = place.filter(|_| of < samplers) else { continue };
        c.different(
            &element,
            format!(
                "it stands beside {of} of {samplers} samplers: it is sent the figures of their labels, without bytes and codes, which are known of all together alone"
            ),
        );
        let elsewhere = |(label, count): &(&String, &usize)| all.get(*label).is_some_and(|all| all > *count);
        if let Some((label, _)) = labels.iter().find(elsewhere) {
            c.different(
                &element,
                format!("samplers that it does not stand beside are called '{label}', too, and it is sent their figures as well: names of their own tell them apart"),
            );
        }
        c.backends[place].only = Some(labels.into_keys().collect());
    }
}

fn or(text: &str, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
}

/// The values of its table as they are when the run begins.
fn parameters(c: &mut Converter<'_>, of: &Element) -> BTreeMap<String, String> {
    let table = of.properties.object("arguments");
    let rows = table.iter().flat_map(|table| table.properties.list("Arguments.arguments"));
    let mut given = BTreeMap::new();
    for row in rows {
        let Value::Object(row) = row else { continue };
        let name = row.properties.text("Argument.name").trim();
        let name = if name.is_empty() { row.name.as_str() } else { name };
        let value = c.evaluate_at_start(of, row.properties.text("Argument.value"));
        given.insert(name.to_owned(), value);
    }
    given
}
