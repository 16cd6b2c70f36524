//! Layouts of old tools, a line each: [`LAYOUTS`].

use crate::ab::report::Gnuplot;
use crate::jmeter::report::{jtl, kept as requests};
use crate::kept::{self, Tool};
use measure::KeptExchanges;
use report::harmless;
use report::layouts::Source::{Requests, Result as Of};
use report::layouts::{LaidOut, Layout, Shown, kept as kept_of, layout, plain};

/// All of them, in the order of help.
pub const LAYOUTS: &[Layout] = &[
    layout(
        "jtl",
        Requests,
        |run| of_jtl(run, false),
        "Single requests that were kept, as JMeter's results file (CSV)",
    ),
    layout("jtl.xml", Requests, |run| of_jtl(run, true), "The same in XML"),
    layout(
        "statistics.json",
        Requests,
        |run| plain(requests::statistics(run.head, run.context.plan, kept_of(run))),
        "JMeter's statistics.json",
    ),
    layout("ab", Of, |run| of_tool(run, Tool::Ab), "As ab would have printed it"),
    layout(
        "ab-e",
        Of,
        |run| {
            let (text, notes) = kept::ab_csv(run.result);
            Ok(LaidOut { text, notes })
        },
        "The file of ab -e: percentiles of the total time, for tables",
    ),
    layout(
        "ab-g",
        Requests,
        |run| plain(gnuplot(run)),
        "The file of ab -g: single requests that were kept, for gnuplot",
    ),
    layout("siege", Of, |run| of_tool(run, Tool::Siege), "As siege would have printed it"),
    layout("http_load", Of, |run| of_tool(run, Tool::HttpLoad), "As http_load would have printed it"),
    layout("wrk", Of, |run| of_tool(run, Tool::Wrk), "As wrk would have printed it"),
    layout("wrk2", Of, |run| of_tool(run, Tool::Wrk2), "As wrk2 would have printed it"),
    layout("wrktcp", Of, |run| of_tool(run, Tool::Wrktcp), "As wrktcp would have printed it"),
    layout("jtest", Of, |run| of_tool(run, Tool::Jtest), "As jtest would have printed it"),
];

fn of_jtl(run: &Shown<'_>, xml: bool) -> Result<LaidOut, String> {
    let property = |name: &str| (xml && name == "output_format").then(|| "xml".to_owned());
    let layout = jtl::Layout::of(&property, run.head.machine.host.clone())?;
    plain(requests::results(&layout, run.head, run.context.plan, kept_of(run)))
}

fn of_tool(run: &Shown<'_>, tool: Tool) -> Result<LaidOut, String> {
    let (text, notes) = kept::report(tool, run.result, run.context);
    Ok(LaidOut { text: harmless(&text).into_owned(), notes })
}

/// ab's rows of the requests of measured phases.
fn gnuplot(run: &Shown<'_>) -> String {
    let phases = &run.head.phases;
    let is_measured =
        |kept: &&KeptExchanges| phases.get(kept.phase as usize).is_none_or(|phase| phase.measured);
    let mut rows = Gnuplot::default();
    for kept in kept_of(run).filter(is_measured) {
        kept.iter().for_each(|request| rows.add_kept(&request));
    }
    rows.text(run.head.started_unix_s, &jiff::tz::TimeZone::system())
}
