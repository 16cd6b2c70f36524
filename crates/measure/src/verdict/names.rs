//! The verdict in short names, as the last record of a run and lists of runs have it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The two words of a verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "VerdictWords")]
pub struct VerdictNames {
    /// Worth of the figures: [`super::Worth::name`].
    pub measurement: String,
    /// How the target did: [`super::Conduct::name`].
    pub target: String,
}

impl VerdictNames {
    /// Of these words.
    pub fn new(measurement: &str, target: &str) -> VerdictNames {
        VerdictNames { measurement: measurement.to_owned(), target: target.to_owned() }
    }
}

impl fmt::Display for VerdictNames {
    /// As lists show it.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [&self.measurement, &self.target].map(|name| name.replace('_', " "));
        let known: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
        to.write_str(&known.join(", "))
    }
}

/// A verdict as it is written: in one word until version 0.1.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum VerdictWords {
    One(String),
    Two {
        #[serde(default)]
        measurement: String,
        #[serde(default)]
        target: String,
    },
}

impl From<VerdictWords> for VerdictNames {
    fn from(told: VerdictWords) -> VerdictNames {
        match told {
            VerdictWords::Two { measurement, target } => VerdictNames { measurement, target },
            VerdictWords::One(word) => of_one_word(&word),
        }
    }
}

/// One word said the gravest of both, and nothing of the other half.
fn of_one_word(word: &str) -> VerdictNames {
    match word {
        "valid" => VerdictNames::new("valid", "answered"),
        "target_failed" => VerdictNames::new("valid", "failed"),
        "stopped_answering" => VerdictNames::new("", "silent"),
        "no_good_answer" => VerdictNames::new("", "no_good_answer"),
        "no_result" => VerdictNames::new("nothing_sent", ""),
        other => VerdictNames::new(other, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_of_one_word_are_read() {
        for (written, shown) in [
            (r#""valid""#, "valid, answered"),
            (r#""target_failed""#, "valid, failed"),
            (r#""stopped_answering""#, "silent"),
            (r#""generator_bound""#, "generator bound"),
            (r#"{"measurement":"valid","target":"silent"}"#, "valid, silent"),
            (r#"{"measurement":"","target":""}"#, ""),
        ] {
            let read: VerdictNames = serde_json::from_str(written).unwrap();
            assert_eq!(read.to_string(), shown, "{written}");
            let again: VerdictNames = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
            assert_eq!(again, read);
        }
    }
}
