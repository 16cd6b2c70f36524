//! [`Field`]: a header field of a request or an answer.

use serde::{Deserialize, Serialize};

/// A header field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Name without colon.
    pub name: String,
    /// Value without line end.
    pub value: String,
}
