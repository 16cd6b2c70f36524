//! The HTML table of ab (`-w`): fewer rows than the text, and no medians.

use super::{AbAsked, AbSeen, mean_ms, ms};
use measure::ExactDistribution;
use std::fmt::{Display, Write};

/// The table. `attributes`: of the table, of its rows and of its cells.
pub fn html(asked: &AbAsked, seen: &AbSeen, attributes: &[String; 3]) -> String {
    let [table, row, cell] = attributes;
    let mut page = HtmlTable { text: format!("\n\n<table {table}>\n"), row, cell };
    facts(&mut page, asked, seen);
    rates(&mut page, asked, seen);
    times(&mut page, seen);
    page.text.push_str("</table>\n");
    page.text
}

struct HtmlTable<'a> {
    text: String,
    row: &'a str,
    cell: &'a str,
}

impl HtmlTable<'_> {
    fn fact(&mut self, label: &str, value: impl Display) {
        let HtmlTable { text, row, cell } = self;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "<tr {row}><th colspan=2 {cell}>{label}:</th><td colspan=2 {cell}>{value}</td></tr>"
        );
    }

    fn further(&mut self, value: impl Display) {
        let HtmlTable { text, row, cell } = self;
        let _ = writeln!(
            text,
            "<tr {row}><td colspan=2 {cell}>&nbsp;</td><td colspan=2 {cell}>{value}</td></tr>"
        );
    }
}

fn facts(page: &mut HtmlTable<'_>, asked: &AbAsked, seen: &AbSeen) {
    let failed = seen.failed();
    page.fact("Server Software", escaped(seen.software()));
    page.fact("Server Hostname", escaped(&asked.hostname));
    page.fact("Server Port", asked.port);
    page.fact("Document Path", escaped(&asked.path));
    page.fact("Document Length", seen.document_length(asked));
    page.fact("Concurrency Level", asked.concurrency);
    page.fact("Time taken for tests", format!("{:.3} seconds", seen.took.as_secs_f64()));
    page.fact("Complete requests", seen.done());
    page.fact("Failed requests", failed.sum());
    if failed.sum() > 0 {
        let HtmlTable { text, row, cell } = page;
        let connect = failed.connect;
        let length = failed.length;
        let others = failed.receive + failed.exceptions;
        let _ = writeln!(
            text,
            "<tr {row}><td colspan=4 {cell} >   (Connect: {connect}, Length: {length}, Exceptions: {others})</td></tr>"
        );
    }
    if seen.not_2xx() > 0 {
        page.fact("Non-2xx responses", seen.not_2xx());
    }
    if asked.keep_alive {
        page.fact("Keep-Alive requests", seen.distributions.kept);
    }
    page.fact("Total transferred", format!("{} bytes", seen.received_bytes()));
    if asked.has_body {
        page.fact("Total body sent", seen.tally.counts.sent_bytes);
    }
    page.fact("HTML transferred", format!("{} bytes", seen.tally.counts.body_bytes));
}

fn rates(page: &mut HtmlTable<'_>, asked: &AbAsked, seen: &AbSeen) {
    let Some(rates) = seen.rates() else { return };
    page.fact("Requests per second", format!("{:.2}", rates.requests));
    page.fact("Transfer rate", format!("{:.2} kb/s received", rates.received));
    if asked.has_body {
        page.further(format!("{:.2} kb/s sent", rates.sent));
        page.further(format!("{:.2} kb/s total", rates.received + rates.sent));
    }
}

fn times(page: &mut HtmlTable<'_>, seen: &AbSeen) {
    let HtmlTable { text, row, cell } = page;
    let _ = writeln!(text, "<tr {row}><th {cell} colspan=4>Connection Times (ms)</th></tr>");
    let _ = writeln!(
        text,
        "<tr {row}><th {cell}>&nbsp;</th> <th {cell}>min</th>   <th {cell}>avg</th>   <th {cell}>max</th></tr>"
    );
    let distributions = &seen.distributions;
    for (label, distribution) in [
        ("Connect", &distributions.connect),
        ("Processing", &distributions.processing),
        ("Total", &distributions.total),
    ] {
        let HtmlFigures { min, mean, max } = HtmlFigures::of(distribution);
        let _ = writeln!(
            text,
            "<tr {row}><th {cell}>{label}:</th><td {cell}>{min:>5}</td><td {cell}>{mean:>5}</td><td {cell}>{max:>5}</td></tr>"
        );
    }
}

struct HtmlFigures {
    min: u64,
    mean: u64,
    max: u64,
}

impl HtmlFigures {
    fn of(distribution: &ExactDistribution) -> HtmlFigures {
        HtmlFigures {
            min: ms(distribution.min_us()),
            mean: mean_ms(distribution),
            max: ms(distribution.max_us()),
        }
    }
}

/// Escapes text that came from elsewhere, which must not become markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
