//! Decisions and findings as `--json` of their command has written them, read again: enough to print them, and to draw them.

use crate::compare::{COMPARISON, COMPARISON_OF_RUNS, Outcome};
use crate::find::{Highest, SEARCH, searched};
use crate::machine::Refusal;
use crate::size::Sizes;
use crate::stress;
use crate::{Findings, Written};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Text of what did not come to its end.
const NOT_OVER: &str = "not over yet: give the same command --resume and this file\n";

/// A decision as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptDecision {
    /// All of it.
    pub json: Value,
    /// It, as it was printed.
    pub text: String,
}

impl KeptDecision {
    /// Reads the text of a file; `None`: it is none of ours.
    ///
    /// # Errors
    /// It is of a form that this version does not know.
    pub fn read(text: &str) -> Result<Option<KeptDecision>, Refusal> {
        let Ok(json) = serde_json::from_str::<Value>(text) else { return Ok(None) };
        let Some(schema) = json.get("schema").and_then(Value::as_str) else { return Ok(None) };
        let text = match schema {
            COMPARISON => compared(&json),
            COMPARISON_OF_RUNS => Ok(with_facts(&json, &text_of(&json))),
            SEARCH => found(&json),
            Sizes::SCHEMA => findings::<Sizes>(&json),
            stress::Report::SCHEMA => findings::<stress::Report>(&json),
            _ => return Ok(None),
        };
        let text = text.map_err(|error| {
            Refusal(format!("{schema} is not in the form that this version writes: {error}"))
        })?;
        Ok(Some(KeptDecision { json, text }))
    }
}

fn text_of(json: &Value) -> String {
    json.get("text").and_then(Value::as_str).unwrap_or(NOT_OVER).to_owned()
}

fn with_facts(json: &Value, text: &str) -> String {
    let facts = json.get("facts").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    facts.map(|fact| format!("{fact}\n")).chain([text.to_owned()]).collect()
}

fn compared(json: &Value) -> Result<String, serde_json::Error> {
    let outcome = Option::<Outcome>::deserialize(&json["outcome"])?;
    Ok(with_facts(json, &outcome.map_or_else(|| NOT_OVER.to_owned(), |outcome| outcome.text())))
}

fn found(json: &Value) -> Result<String, serde_json::Error> {
    let highest =
        json.pointer("/throughput/highest").map(Option::<Highest>::deserialize).transpose()?.flatten();
    let has_search = json.get("conclusion").is_some_and(|conclusion| !conclusion.is_null());
    let search = (has_search || highest.is_none()).then(|| text_of(json));
    Ok(searched(search.as_deref(), highest.as_ref()))
}

fn findings<F: Findings + DeserializeOwned>(json: &Value) -> Result<String, serde_json::Error> {
    let written = Written::<F>::deserialize(json)?;
    let left = if written.exit.is_none() { NOT_OVER } else { "" };
    Ok(format!("{}{left}", written.report.text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_ours_is_left_to_others_and_what_is_not_over_says_so() {
        for text in ["", "[]", "{}", "{\"schema\": \"wringer.run\"}", "no json"] {
            assert_eq!(KeptDecision::read(text), Ok(None), "{text}");
        }
        let open = json!({ "schema": COMPARISON, "facts": ["one fact"], "outcome": null });
        let kept = KeptDecision::read(&open.to_string()).expect("ours").expect("known");
        assert_eq!((kept.text, kept.json), (format!("one fact\n{NOT_OVER}"), open));
        let of_runs =
            json!({ "schema": COMPARISON_OF_RUNS, "facts": ["another machine"], "text": "a and b\n" });
        let kept = KeptDecision::read(&of_runs.to_string()).expect("ours").expect("known");
        assert_eq!(kept.text, "another machine\na and b\n");
        let search =
            json!({ "schema": SEARCH, "conclusion": {}, "text": "907/s keeps it\n", "throughput": null });
        let kept = KeptDecision::read(&search.to_string()).expect("ours").expect("known");
        assert_eq!(kept.text, "907/s keeps it\n");
        let highest = crate::find::Highest {
            good_per_s: None,
            users: None,
            law: Err(crate::statistics::usl::Refusal::FewSizes(1)),
            at_least: false,
            curve: Vec::new(),
        };
        let rounds = highest.report();
        assert!(rounds.starts_with("highest throughput: "));
        let both = |search| searched(search, Some(&highest));
        assert_eq!(
            (both(Some("907/s keeps it\n")), both(None)),
            (format!("907/s keeps it\n\n{rounds}"), rounds.clone())
        );
        let rounds_alone =
            json!({ "schema": SEARCH, "conclusion": null, "throughput": { "highest": highest } });
        let kept = KeptDecision::read(&rounds_alone.to_string()).expect("ours").expect("known");
        assert_eq!(kept.text, rounds);
        let odd = json!({ "schema": Sizes::SCHEMA, "exit": 0 }).to_string();
        assert!(
            KeptDecision::read(&odd).is_err_and(|why| why.0.contains("wringer.size is not in the form")),
            "{odd}"
        );
    }
}
