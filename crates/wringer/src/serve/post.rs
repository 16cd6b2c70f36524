//! What the page sends: read, and refused in a sentence where it makes no sense.

use measure::stream::Command;
use plan::Plan;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Reads what is asked of a run: `stop`, `rate`, `mark` or `label`.
///
/// # Errors
/// What is missing.
pub fn command(what: &str, body: &[u8]) -> Result<Command, String> {
    match what {
        "stop" => Ok(Command::Stop),
        "rate" => read::<Rate>(body).map(|Rate { per_second }| Command::Rate {
            per_second,
            phase: 0,
            since: Duration::ZERO,
        }),
        "mark" => read::<Mark>(body).map(|Mark { text }| Command::Mark { text }),
        _ => read::<Label>(body).map(|Label { name, value }| Command::Label { name, value }),
    }
}

#[derive(Deserialize)]
struct Rate {
    per_second: f64,
}

#[derive(Deserialize)]
struct Mark {
    text: String,
}

#[derive(Deserialize)]
struct Label {
    name: String,
    #[serde(default)]
    value: String,
}

#[derive(Deserialize)]
struct PlanText {
    plan: String,
}

/// Reads the text of a plan.
///
/// # Errors
/// There is none.
pub fn plan(body: &[u8]) -> Result<String, String> {
    read::<PlanText>(body).map(|PlanText { plan }| plan)
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("not understood: {error}"))
}

/// What is wrong with a plan.
#[derive(Debug, PartialEq, Serialize)]
pub struct Checked {
    mistakes: Vec<Mistake>,
}

/// A mistake of a plan.
#[derive(Debug, PartialEq, Serialize)]
struct Mistake {
    /// Its line, from 1, where that is known.
    line: Option<usize>,
    text: String,
}

/// Checks the text of a plan; no file that it names is read.
pub fn checked(text: &str) -> Checked {
    let mistakes = match Plan::from_text(text) {
        Err(error) => vec![Mistake { line: line_of(&error.to_string()), text: error.to_string() }],
        Ok(plan) => plan.check().into_iter().map(|text| Mistake { line: None, text }).collect(),
    };
    Checked { mistakes }
}

/// The line that a message of the reader names.
fn line_of(message: &str) -> Option<usize> {
    let behind = message.split_once("line ")?.1;
    behind.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_checked_and_the_line_of_a_mistake_named() {
        assert_eq!(checked("version = 1\nseed = 7\n[origin]\n"), Checked { mistakes: vec![] });
        let wrong = checked("version = 1\nseed = 7\nsede = 8\n");
        assert_eq!(wrong.mistakes[0].line, Some(3), "{wrong:?}");
        let load = "version = 1\nseed = 7\n[load]\ntarget = \"127.0.0.1:1\"\nphases = []\n";
        assert!(checked(load).mistakes.iter().all(|mistake| !mistake.text.is_empty()));
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_a_sentence() {
        assert_eq!(command("stop", b""), Ok(Command::Stop));
        assert_eq!(command("mark", br#"{"text":"a"}"#), Ok(Command::Mark { text: "a".to_owned() }));
        for (what, body) in [("rate", r#"{"per_second":"9"}"#), ("rate", "{}"), ("mark", "[]"), ("label", "")]
        {
            assert!(
                command(what, body.as_bytes()).unwrap_err().starts_with("not understood"),
                "{what} {body}"
            );
        }
    }
}
