//! Backend Listeners: those for InfluxDB and Graphite become exports of the run.

use super::Converter;
use crate::element::{Element, Value};
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

/// Notes who is sent figures; the listener of another system is listed.
pub(super) fn convert(c: &mut Converter<'_>, of: &Element) {
    if let Some((_, samplers)) = c.backends_met.get_mut(&of.path) {
        *samplers += 1;
        return;
    }
    c.backends_met.insert(of.path.clone(), (of.clone(), 1));
    let class = of.properties.text("classname").to_owned();
    let given = parameters(c, of);
    let given = |name: &str| given.get(name).map_or("", |text| text.trim());
    let system = match class {
        _ if class.ends_with(INFLUX) => System::Influx,
        _ if class.ends_with(GRAPHITE) => System::Graphite,
        _ => {
            let why = format!("results are not sent to another system ({class}) while the run goes on");
            return c.different(of, why);
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
            Backend { system, to, name: or(given("application"), "wringer"), token }
        }
        System::Graphite => {
            let host = given("graphiteHost");
            let port = or(given("graphitePort"), "2003");
            let to = if host.is_empty() { String::new() } else { format!("{host}:{port}") };
            Backend { system, to, name: or(given("rootMetricsPrefix"), "jmeter."), token: None }
        }
    };
    if backend.to.is_empty() {
        return c.different(of, "it names no address, so nothing is sent");
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
    c.backends.push(backend);
}

/// Lists those that are meant for some of a plan's samplers.
pub(super) fn note_partial(c: &mut Converter<'_>, samplers: usize) {
    for (element, of) in std::mem::take(&mut c.backends_met).into_values() {
        let class = element.properties.text("classname");
        if of < samplers && [INFLUX, GRAPHITE].iter().any(|known| class.ends_with(known)) {
            c.different(
                &element,
                format!(
                    "it stands beside {of} of {samplers} samplers, and the figures of all of them are sent"
                ),
            );
        }
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
