//! Findings as text for people and as JSON for programs. `docs/src/doctor.md` describes both.

use super::facts::Facts;
use super::judge::{Finding, Level, port_limit};
use super::need::Need;
use report::show::{self, ShowTable};
use serde::Serialize;

/// Name of the JSON's schema.
pub const SCHEMA: &str = "wringer-doctor";
/// Version of the schema: raised when a field changes its meaning or goes away, not when one is added.
pub const SCHEMA_VERSION: u32 = 2;

/// The worst level among findings.
pub fn worst(findings: &[Finding]) -> Level {
    findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Ok)
}

/// The findings as a table, beneath what they are judged by.
pub fn text(need: &Need, findings: &[Finding]) -> String {
    let mut table = ShowTable::new("lll");
    for finding in findings {
        let mut names = [finding.level.name(), finding.topic.name()];
        for line in finding.lines(show::WIDTH - 24) {
            table.row([names[0], names[1], &line]);
            names = ["", ""];
        }
    }
    let lines: String = table.lines().into_iter().map(|line| format!("  {line}\n")).collect();
    format!("{}\n\n{lines}\n{}\n", asked(need), verdict(findings))
}

fn asked(need: &Need) -> String {
    let unknown = "as many as it gives";
    let per_second = |known: Option<f64>| known.map_or_else(|| unknown.to_owned(), show::rate);
    let place = if need.loopback { "on this machine" } else { "elsewhere" };
    let origin = if need.origin { ", with the origin here" } else { "" };
    let connections = show::counted(need.connections, "connection");
    let new = need.connections_per_s.map_or_else(String::new, |rate| format!(" ({} new)", show::rate(rate)));
    format!(
        "wringer doctor: {connections} at once{new}, {} requests, to a target {place}{origin}",
        per_second(need.requests_per_s)
    )
}

fn verdict(findings: &[Finding]) -> String {
    let of = |level| findings.iter().filter(|finding| finding.level == level).count() as u64;
    match (of(Level::Blocks), of(Level::Warning)) {
        (0, 0) => "This machine has what that needs.".to_owned(),
        (0, warnings) => format!("Nothing blocks it; {}.", show::counted(warnings, "warning")),
        (blocks, warnings) => {
            format!("{} that, and there {} besides.", blocking(blocks), plural(warnings))
        }
    }
}

fn blocking(count: u64) -> String {
    if count == 1 { "1 finding blocks".to_owned() } else { format!("{count} findings block") }
}

fn plural(warnings: u64) -> String {
    if warnings == 1 { "is 1 warning".to_owned() } else { format!("are {warnings} warnings") }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    version: &'static str,
    level: Level,
    need: &'a Need,
    port_limit: Option<u64>,
    facts: &'a Facts,
    findings: &'a [Finding],
}

/// All of it as indented JSON with a line end.
pub fn json(facts: &Facts, need: &Need, findings: &[Finding]) -> String {
    let document = Document {
        schema: SCHEMA,
        schema_version: SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION"),
        level: worst(findings),
        need,
        port_limit: port_limit(facts, need),
        facts,
        findings,
    };
    // Keys are strings and numbers that JSON lacks become null, so nothing here can fail.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::judge;

    #[test]
    fn text_says_what_mends_and_how_many_there_are() {
        let facts = Facts { descriptors: Some(100), somaxconn: Some(10), ..Facts::default() };
        let need = Need { origin: true, ..Need::of_numbers(1_000, 10.0, 5_000.0) };
        let findings = judge(&facts, &need);
        let text = text(&need, &findings);
        for word in [
            "1,000 connections at once (10.0/s new), 5.00k/s requests, to a target elsewhere, with the origin here\n",
            "  blocks   descriptors  1,000 connections at once",
            "-> ulimit -n 4096\n",
            "  warning  backlog      1,000 new connections",
            "1 finding blocks that, and there is 1 warning besides.\n",
        ] {
            assert!(text.contains(word), "{word:?} is missing in\n{text}");
        }
        assert_eq!(worst(&findings), Level::Blocks);
        assert_eq!(worst(&[]), Level::Ok);
    }

    /// Keys of objects at any depth.
    fn keys(value: &serde_json::Value, found: &mut std::collections::BTreeSet<String>) {
        match value {
            serde_json::Value::Object(fields) => fields.iter().for_each(|(key, field)| {
                found.insert(key.clone());
                keys(field, found);
            }),
            serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
            _ => {}
        }
    }

    #[test]
    fn json_and_its_page_name_the_same_fields() {
        let page = include_str!("../../../../docs/src/doctor.md");
        let (_, fields) = page.split_once("## As JSON").unwrap();
        let first_cells = fields.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let documented = first_cells.map(|(name, _)| name.to_owned()).collect();
        let facts = Facts::default();
        let need = Need::of_numbers(1, 1.0, 1.0);
        let mut found = std::collections::BTreeSet::new();
        keys(&serde_json::from_str(&json(&facts, &need, &judge(&facts, &need))).unwrap(), &mut found);
        assert_eq!(found, documented);
    }
}
