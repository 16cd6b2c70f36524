//! Steps that make, read and tell values, and those that wait for a moment.

use super::{Scope, Step};
use crate::data::body::Body;
use crate::pace::Stage;
use crate::scenario::expression::Expression;
use serde::{Deserialize, Serialize};

/// A value that a user keeps: a text with placeholders, or what an expression gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Set {
    /// As it stands between the braces of later requests.
    pub name: String,
    /// The value, with placeholders.
    #[serde(skip_serializing_if = "Body::is_empty")]
    pub value: Body,
    /// The value is what this gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<Expression>,
}

impl Set {
    /// A text with placeholders.
    pub fn of(name: &str, value: impl Into<Body>) -> Set {
        Set { name: name.to_owned(), value: value.into(), expression: None }
    }
}

/// A number that goes on each time a user comes by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CounterStep {
    /// As it stands between the braces of later requests.
    pub name: String,
    /// The first.
    #[serde(default)]
    pub start: i64,
    /// From each to the next.
    #[serde(default = "one")]
    pub step: i64,
    /// Behind this one it begins anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<i64>,
    /// Who counts together.
    #[serde(default)]
    pub of: Scope,
    /// Digits at least, filled with zeros.
    #[serde(default, skip_serializing_if = "is_none")]
    pub digits: u8,
    /// It begins anew with each iteration of its user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub each_iteration: bool,
}

fn one() -> i64 {
    1
}

fn is_none(digits: &u8) -> bool {
    *digits == 0
}

/// The next row of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Feed {
    /// Its path, as whoever runs the plan reads it.
    pub file: String,
    /// Names that its columns are kept under, in order. Surplus columns are left out, names without a column keep what they had.
    pub names: Vec<String>,
    /// Between columns; empty: a comma, and a tab in files that end in `.tsv`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub delimiter: String,
    /// Columns may stand in quotes (RFC 4180).
    pub quotes: bool,
    /// The first line is no row.
    pub header: bool,
    /// After the last row.
    pub end: FeedEnd,
    /// Who takes rows together: each row goes to one of them.
    pub of: Scope,
}

/// The continuation after the last row of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FeedEnd {
    /// The first one.
    #[default]
    Again,
    /// The end of the user who asks for more.
    StopUser,
    /// Each of the names has this value.
    Value(Body),
}

/// A line for whoever watches the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScenarioLog {
    /// With placeholders.
    pub text: Body,
}

/// Program text that works on the user's values and on the last answer. The interpreter is named; it has no network and no
/// processes, reads files of the plan's folder alone, and has a budget of steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Code {
    /// Of the program text: `groovy`, `beanshell`, `javascript`, `jexl`; `jmeter` for a text with JMeter's functions, whose value
    /// is the result; `file` for the path of a file, whose content is the result; `follow` and `rewrite` make of the last answer what
    /// the next request is: a link like it, or a session in it.
    pub language: String,
    /// The program text.
    pub text: String,
    /// When what stands between `${` and `}` in it is replaced by values.
    #[serde(skip_serializing_if = "Fills::is_never")]
    pub fills: Fills,
    /// Name that stands for the element in messages, such as its path in the plan that it was read from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Parameters of the call, with placeholders.
    #[serde(skip_serializing_if = "Body::is_empty")]
    pub parameters: Body,
    /// Its result is kept under this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// Names that it may set, and that placeholders may therefore hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<String>,
    /// The label of the request that it belongs to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub request: String,
    /// It judges the answer: where it fails, the request has failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asserts: bool,
    /// It is timed and counted like a request, under this label; empty: it is not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sample: String,
    /// The label in records of single requests, with placeholders; empty: `sample`.
    #[serde(skip_serializing_if = "Body::is_empty")]
    pub title: Body,
    /// Steps that work on its result, where it is timed and counted: as behind a request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Step>,
}

/// When the `${…}` of a program text are replaced by values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Fills {
    /// Never: braces are the language's own.
    #[default]
    Never,
    /// When a user first comes by; the text that it then has is that user's for good.
    First,
    /// Each time.
    Each,
}

impl Fills {
    fn is_never(&self) -> bool {
        *self == Fills::Never
    }
}

/// Waits for the next moment of a rhythm: so that requests behind it come no faster. Rhythms that say the same are one,
/// wherever they stand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rhythm {
    /// Moments per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// Moments per second, as they change from the beginning of the phase on. Behind the last stage users end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// Who shares the moments: each goes to one user.
    #[serde(default)]
    pub of: Scope,
    /// How moments lie.
    #[serde(default)]
    pub how: RhythmHow,
}

/// How the moments of a rhythm lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RhythmHow {
    /// Each at least a gap behind the last one; what was missed is not caught up.
    #[default]
    Gap,
    /// Each user has a gap of its own, so many times longer as there are users that share.
    Divided,
    /// At random and evenly over the time, a Poisson process; what was missed is caught up at once.
    Poisson,
}
