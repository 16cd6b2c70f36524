//! What the page sends: read, and refused in a sentence where it makes no sense.

use measure::stream::Command;
use plan::{Source, TextError, TextForm, Written};
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
    /// Its line, from 1.
    line: usize,
    text: String,
}

/// Checks the text of a plan; no file that it names is read.
pub fn checked(text: &str) -> Checked {
    let none = |_: &str, _: &str| Err("there are no files here".to_owned());
    let source = Source { name: String::new(), form: TextForm::Toml, text: text.to_owned() };
    let found = match Written::read(source, &[], &none) {
        Err(mistakes) => mistakes,
        Ok(written) => written.check(),
    };
    let mistake = |error: &TextError| Mistake { line: error.line, text: error.to_string() };
    Checked { mistakes: found.iter().map(mistake).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_checked_and_the_line_of_a_mistake_named() {
        assert_eq!(checked("version = 1\nseed = 7\n[origin]\n"), Checked { mistakes: vec![] });
        let wrong = checked("version = 1\nseed = 7\nsede = 8\n");
        assert_eq!(wrong.mistakes[0].line, 3, "{wrong:?}");
        let load = "version = 1\nseed = 7\n[load]\ntarget = \"127.0.0.1:1\"\nphases = []\n";
        assert!(checked(load).mistakes.iter().any(|mistake| mistake.line == 5), "{:?}", checked(load));
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
