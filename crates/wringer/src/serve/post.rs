//! Bodies that the page sends: read, and refused in a sentence where they make no sense.

use super::form::{Mistake, Wanted};
use super::rules;
use measure::stream::Command;
use plan::Plan;
use serde::{Deserialize, Serialize};
use session::doctor::{self, Facts};
use session::{self, Reach};
use std::time::Duration;

/// The seed of a form that is only checked; each run gets one of its own.
const SHOWN_SEED: u64 = 1;

/// Reads what is asked of a run: `stop`, `rate`, `mark` or `label`.
///
/// # Errors
/// The part that is missing.
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

/// Reads what is wished.
///
/// # Errors
/// The part that is missing.
pub fn wanted(body: &[u8]) -> Result<Wanted, String> {
    read(body)
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("not understood: {error}"))
}

/// Result of checking a wish before it is run.
#[derive(Debug, PartialEq, Serialize)]
pub struct Checked {
    mistakes: Vec<Mistake>,
    /// Resources that this machine may not have for it, a sentence each.
    warnings: Vec<String>,
    /// The command that does the same.
    command: String,
    /// It as the text of a plan.
    plan: String,
}

/// Checks a wish; no file that it names is read, and no name looked up that it may not press.
pub fn checked(wanted: &Wanted, reach: Option<&Reach>) -> Checked {
    let refused =
        |mistakes| Checked { mistakes, warnings: Vec::new(), command: String::new(), plan: String::new() };
    match wanted.meant(SHOWN_SEED) {
        Err(mistakes) => refused(mistakes),
        Ok(meant) => match allowed(&meant.plan, reach).and_then(|()| warnings(&meant.plan)) {
            Err(why) => {
                Checked { plan: meant.plan.to_text(), command: meant.command, ..refused(vec![why.into()]) }
            }
            Ok(warnings) => {
                Checked { mistakes: Vec::new(), warnings, plan: meant.plan.to_text(), command: meant.command }
            }
        },
    }
}

/// Refuses a plan that the page may not run; `reach`: where it may go, or nothing is run here and all may be checked.
///
/// # Errors
/// The rule that it breaks, in a sentence.
pub fn allowed(plan: &Plan, reach: Option<&Reach>) -> Result<(), String> {
    let Some(reach) = reach else { return Ok(()) };
    rules::refusal(plan).map_or(Ok(()), Err)?;
    reach.check(plan).map_err(|problem| problem.to_string())
}

fn warnings(plan: &Plan) -> Result<Vec<String>, String> {
    let need = session::need(plan, None).map_err(|problem| problem.to_string())?;
    doctor::budget(&Facts::read(), &need).map_err(|problem| problem.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_checked_before_anything_is_looked_up() {
        let reach = Reach::to(&[]).unwrap();
        let check = |json: &str| checked(&wanted(json.as_bytes()).unwrap(), Some(&reach));
        let ok = check(r#"{"form":{"target":"http://127.0.0.1:8000/","users":"2"}}"#);
        assert_eq!(ok.mistakes, [], "{ok:?}");
        assert!(ok.command.starts_with("wringer http http://127.0.0.1:8000/ --users 2"), "{ok:?}");
        assert!(ok.plan.contains("users = 2"), "{ok:?}");
        let other = check(r#"{"form":{"target":"http://no-such-host.invalid/"}}"#);
        assert_eq!(other.mistakes.len(), 1);
        assert!(format!("{other:?}").contains("--allow-target no-such-host.invalid"), "{other:?}");
        assert!(!other.plan.is_empty(), "what it would have done is shown");
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
