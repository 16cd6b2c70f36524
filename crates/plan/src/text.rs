//! The text form of a plan: TOML, the same for reading and printing.

use crate::Plan;
use thiserror::Error;

/// A plan that could not be read: the reason with its line and column.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct TextError(#[from] toml::de::Error);

impl Plan {
    /// The plan as text that [`Plan::from_text`] reads back to an equal plan.
    pub fn to_text(&self) -> String {
        // Each part of a plan is a struct, enum, number or string, all of which TOML can hold.
        toml::to_string_pretty(self)
            .unwrap_or_else(|error| format!("# this plan has no text form: {error}\n"))
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// Unknown names, wrong types and missing parts, each with line and column.
    pub fn from_text(text: &str) -> Result<Plan, TextError> {
        Ok(toml::from_str(text)?)
    }
}
