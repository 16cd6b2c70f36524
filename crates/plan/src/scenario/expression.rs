//! Expressions: small, typed, and without side effects.

use serde::{Deserialize, Serialize};

/// The text of an expression, such as `status == 200 and length(token) > 3`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expression(pub String);

impl From<&str> for Expression {
    fn from(text: &str) -> Expression {
        Expression(text.to_owned())
    }
}
