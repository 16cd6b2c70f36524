//! Causes for which what was measured is measured again, whatever its figures are: they are fixed beforehand.

use serde::{Deserialize, Serialize};

/// Why a stretch of load says nothing of whoever was pressed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Void {
    /// The generator was the limit: CPU, lateness, ports, descriptors.
    Generator {
        /// In words.
        why: String,
    },
    /// Something else than the target and the generator had a hand in it: stolen CPU, swap, a clock that jumped.
    Disturbed {
        /// In words.
        why: String,
    },
}
