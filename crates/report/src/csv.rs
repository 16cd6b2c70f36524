//! A run second by second as comma-separated values (RFC 4180), for tables.

use measure::exchanges::ExchangeKept;
use measure::{Counts, Head, KeptExchanges, Row, RunResult};

/// A head line, and a line for each row of the timeline: times, every counter of the clients, and the median, 99th
/// percentile, longest and mean service time; in how much of it requests could begin; last, how many agents it is of, where one is missing.
pub fn seconds(result: &RunResult) -> String {
    let columns = ["at_s", "seconds", "phase", "in_flight", "p50_us", "p99_us", "max_us", "mean_us"];
    let columns = columns.into_iter().chain(Counts::NAMES.iter().copied()).chain(["paced_s", "agents"]);
    let mut text = columns.collect::<Vec<_>>().join(",");
    text.push_str("\r\n");
    for row in &result.timeline.rows {
        let phase = result.phases.get(row.phase as usize).map_or("", |phase| &phase.name);
        text.push_str(&line(row, phase));
    }
    text
}

/// A head line, and a line for each single request that was kept.
pub fn requests<'a>(head: &Head, exchanges: impl Iterator<Item = &'a KeptExchanges>) -> String {
    let mut text =
        "began_s,phase,number,user,connection,label,method,url,outcome,status,connect_us,first_byte_us,\
                    service_us,head_bytes,body_bytes,trace_id\r\n"
            .to_owned();
    exchanges.flat_map(KeptExchanges::iter).for_each(|kept| text.push_str(&request(head, &kept)));
    text
}

fn request(head: &Head, kept: &ExchangeKept<'_>) -> String {
    let phase = head.phases.get(kept.phase as usize);
    let label = phase.zip(kept.label).and_then(|(phase, label)| phase.labels.get(label));
    format!(
        "{:.6},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
        kept.began_us as f64 / 1e6,
        quoted(phase.map_or("", |phase| &phase.name)),
        kept.number,
        kept.user,
        kept.connection,
        quoted(label.map_or("", String::as_str)),
        quoted(kept.method),
        quoted(kept.url),
        quoted(kept.outcome),
        kept.status,
        kept.connect_us,
        kept.first_byte_us,
        kept.service_us,
        kept.head_bytes,
        kept.body_bytes,
        kept.trace_id.unwrap_or("")
    )
}

fn line(row: &Row, phase: &str) -> String {
    let mut text = format!("{:.3},{:.3},{}", row.at_s, row.seconds, quoted(phase));
    let figures = [row.in_flight, row.p50_us, row.p99_us, row.max_us].map(|figure| figure.to_string());
    let mean = format!("{:.1}", row.mean_us);
    let counts = row.counts.list().into_iter().map(|count| count.to_string());
    let paced = format!("{:.3}", row.paced_s);
    let agents = row.agents.map_or_else(String::new, |told| told.to_string());
    for cell in figures.into_iter().chain([mean]).chain(counts).chain([paced, agents]) {
        text.push(',');
        text.push_str(&cell);
    }
    text + "\r\n"
}

/// Text that a table takes as text: in quotes, and never as a formula.
fn quoted(text: &str) -> String {
    let shown = crate::harmless(text);
    let guard = if shown.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { "'" } else { "" };
    format!("\"{guard}{}\"", shown.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_are_text_and_no_formula() {
        assert_eq!(quoted("measure"), "\"measure\"");
        assert_eq!(quoted("=1+\"x\""), "\"'=1+\"\"x\"\"\"");
        for formula in
            ["=HYPERLINK(\"//x\")", "+1", "-1+cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "\r=1", "\n=1"]
        {
            assert!(quoted(formula).starts_with("\"'"), "{formula}");
        }
        assert_eq!(quoted("\u{1b}[2J"), "\"\\u{1b}[2J\"", "terminals that show the table are safe, too");
        let counts = Counts { requests: 7, ..Counts::default() };
        let row = Row { at_s: 1.0, seconds: 1.0, counts, p50_us: 9, ..Row::default() };
        assert!(
            line(&row, "fill").starts_with("1.000,1.000,\"fill\",0,9,0,0,0.0,7,0,"),
            "{}",
            line(&row, "fill")
        );
    }
}
