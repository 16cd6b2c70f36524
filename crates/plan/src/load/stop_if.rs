//! Conditions that end a run early: `errors>50% for 60s` is a threshold that is held against each second of the run.

use crate::load::threshold::{Metric, Threshold};
use crate::units;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// A condition that ends the run when it has held for a time without a break; as text `errors>50% for 60s`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct StopIf {
    /// Held against the figures of each second.
    pub condition: Threshold,
    /// For so long.
    pub lasts: Duration,
}

const WANTED: &str = "give CONDITION for DURATION, such as 'errors>50% for 60s' or 'mean>2s for 10s'";

impl StopIf {
    /// Reads a condition with its time.
    ///
    /// # Errors
    /// The text is no such condition; the error says what would do.
    pub fn parse(text: &str) -> Result<StopIf, String> {
        let no_time = || format!("'{text}' does not say for how long: {WANTED}");
        let (condition, lasts) = text.rsplit_once(" for ").ok_or_else(no_time)?;
        let condition = Threshold::parse(condition.trim())?;
        let lasts = units::duration(lasts).map_err(|error| format!("'{text}': {error}"))?;
        if condition.label.is_some() {
            return Err(format!(
                "'{text}': a run is stopped by the figures of all requests, not of one label"
            ));
        }
        if !is_of_seconds(condition.metric) {
            return Err(format!("'{text}': a run is stopped by times, errors, failed, check-failed or rate"));
        }
        Ok(StopIf { condition, lasts })
    }
}

/// True if it is known of each second.
fn is_of_seconds(metric: Metric) -> bool {
    !matches!(metric, Metric::Unfinished(_) | Metric::Overflow(_) | Metric::HitRatio | Metric::Decay)
}

crate::units::as_text!(StopIf, StopIf::parse);

impl fmt::Display for StopIf {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} for {}", self.condition, units::show_duration(self.lasts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_have_a_time() {
        let read = StopIf::parse("errors>50% for 1m").unwrap();
        assert_eq!((read.condition.text.as_str(), read.lasts.as_secs()), ("errors>50%", 60));
        assert_eq!(StopIf::parse(&read.to_string()), Ok(read));
        for (text, said) in [
            ("errors>50%", "for how long"),
            ("errors>50% for ever", "'ever'"),
            ("errors for 1s", "no condition"),
            ("p99{a}>1s for 1s", "not of one label"),
            ("hit-ratio<1% for 1s", "by times"),
        ] {
            assert!(StopIf::parse(text).unwrap_err().contains(said), "{text}");
        }
    }
}
