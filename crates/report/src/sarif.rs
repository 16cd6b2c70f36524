//! Faults of a run as SARIF 2.1.0, which code hosts show beside the code: a result for each kind of fault, failure, finding and violated
//! condition.

use crate::text::{Context, failure_text, measured, plan_file};
use crate::{harmless_json, show, thresholds};
use measure::{ExitCode, Failure, FindingKind, JudgedNames, PhaseResult, RunResult, RunVerdict};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where a reader finds what the names mean.
const RULES: &str = "wringer explain NAME";

/// A kind of fault, and how often.
struct SarifFound {
    rule: String,
    /// Meaning of the rule's name.
    about: String,
    text: String,
    is_error: bool,
}

/// The report.
pub fn report(result: &RunResult, context: &Context<'_>) -> String {
    let measured = measured(result, context.plan);
    let verdict = result.verdict(&measured);
    let code = ExitCode::of_run(result, &verdict);
    let found = found(result, &measured, &verdict, code);
    let rules: BTreeMap<&str, &str> =
        found.iter().map(|one| (one.rule.as_str(), one.about.as_str())).collect();
    let rules = rules.iter().map(|(id, about)| {
        json!({ "id": id, "shortDescription": { "text": about }, "help": { "text": RULES.replace("NAME", id) } })
    });
    let file = plan_file(context.command);
    // Several targets stand one behind the other.
    let places: Vec<&str> = match (&file, context.target) {
        (Some(file), _) => vec![file],
        (None, targets) => targets.into_iter().flat_map(|targets| targets.split(", ")).collect(),
    };
    let results = found.iter().map(|one| of_found(one, &places));
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "wringer", "version": context.version, "rules": rules.collect::<Vec<_>>() } },
            "invocations": [{
                "commandLine": context.command,
                "executionSuccessful": code != ExitCode::Impossible,
                "exitCode": code.number(),
            }],
            "results": results.collect::<Vec<_>>(),
        }],
    });
    let text = serde_json::to_string_pretty(&document).expect("texts and numbers are JSON");
    harmless_json(text) + "\n"
}

fn of_found(found: &SarifFound, places: &[&str]) -> Value {
    let location = |uri: &&str| json!({ "physicalLocation": { "artifactLocation": { "uri": uri } } });
    json!({
        "ruleId": found.rule,
        "level": if found.is_error { "error" } else { "warning" },
        "message": { "text": found.text },
        "locations": places.iter().map(location).collect::<Vec<_>>(),
    })
}

fn found(
    result: &RunResult,
    measured: &PhaseResult,
    verdict: &RunVerdict,
    code: ExitCode,
) -> Vec<SarifFound> {
    let is_error = code != ExitCode::Fine;
    let mut found = Vec::new();
    for (fault, count) in measured.tally.faults() {
        let first = result.evidence.iter().find(|piece| piece.fault == Some(fault));
        let first =
            first.map_or_else(String::new, |piece| format!("; the first: {}: {}", piece.title, piece.detail));
        let text = format!("{}: {}{first}", show::counted(count, "answer"), fault.text());
        found.push(SarifFound {
            rule: fault.name().to_owned(),
            about: fault.text().to_owned(),
            text,
            is_error,
        });
    }
    let mut failures: BTreeMap<&str, (Failure, u64)> = BTreeMap::new();
    for (failure, count) in measured.tally.failures() {
        let name = failure.broken().map_or(failure.kind.name(), |broken| broken.breach.name());
        failures.entry(name).or_insert((failure, 0)).1 += count;
    }
    for (name, (failure, count)) in failures {
        let text = format!("{}: {}", show::counted(count, "request"), failure_text(failure));
        found.push(SarifFound { rule: name.to_owned(), about: failure.text().to_owned(), text, is_error });
    }
    for finding in verdict.target.findings.iter().filter(|finding| says_more(finding.kind)) {
        let rule = name_of(&finding.kind);
        let text = finding.text.clone();
        found.push(SarifFound { about: rule.replace('_', " "), rule, text, is_error: true });
    }
    for one in result.thresholds.iter().filter(|one| one.violated) {
        let names = match one.names {
            JudgedNames::Forbidden => "must not be",
            JudgedNames::Required => "must be",
            JudgedNames::Stop => "ends the run",
        };
        let value = thresholds::shown(one).unwrap_or_else(|| "not known".to_owned());
        let text = format!("{} {names}, and it is {value}", one.condition);
        let about = "a condition that the run was held to is violated".to_owned();
        found.push(SarifFound { rule: "condition".to_owned(), about, text, is_error: true });
    }
    found
}

/// A finding that is no sum of failures and faults, which are told one by one.
fn says_more(kind: FindingKind) -> bool {
    match kind {
        FindingKind::Died
        | FindingKind::Silent
        | FindingKind::Stray
        | FindingKind::StoppedStoring
        | FindingKind::DeadObjects => true,
        FindingKind::MostlyBad
        | FindingKind::Lost
        | FindingKind::Refused
        | FindingKind::BadStatus
        | FindingKind::Failed
        | FindingKind::CheckFailed => false,
    }
}

/// A kind as JSON names it.
fn name_of(kind: &impl Serialize) -> String {
    let name = serde_json::to_value(kind).expect("a kind is a word");
    name.as_str().expect("a kind is a word").to_owned()
}
