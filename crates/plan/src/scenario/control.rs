//! Steps that decide on the steps in them: how often, which, when, and what a failure means.

use super::Step;
use crate::data::body::Body;
use crate::scenario::expression::Expression;
use crate::units::duration_text_option;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Steps, walked in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// Told in reports of mistakes; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// At least one.
    pub steps: Vec<Step>,
}

/// Steps, walked several times: as long as everything holds that is said. With nothing said, without end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// So often; computed anew each time the loop is entered. 0: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Amount>,
    /// As long as this is true, looked at before each round.
    #[serde(default, rename = "while", skip_serializing_if = "Option::is_none")]
    pub goes_on: Option<Expression>,
    /// Until this is true, looked at after each round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Expression>,
    /// Once for each value of a list.
    #[serde(default, rename = "for-each", skip_serializing_if = "Option::is_none")]
    pub each: Option<ForEach>,
    /// For so long; looked at before each round.
    #[serde(default, with = "duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub lasts: Option<Duration>,
    /// Kept under this name: the number of the round, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// At least one.
    pub steps: Vec<Step>,
}

impl Loop {
    /// So many times.
    pub fn times(times: u64, steps: Vec<Step>) -> Loop {
        Loop { times: Some(Amount::Number(times)), steps, ..Loop::default() }
    }
}

/// A whole number, or an expression that gives one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a whole number or an expression")]
pub enum Amount {
    /// This one.
    Number(u64),
    /// The result of an expression.
    Computed(Expression),
}

impl Default for Amount {
    fn default() -> Amount {
        Amount::Number(0)
    }
}

impl Amount {
    /// The expression that it is the result of.
    pub fn computed(&self) -> Option<&Expression> {
        match self {
            Amount::Computed(expression) => Some(expression),
            Amount::Number(_) => None,
        }
    }

    fn is_zero(&self) -> bool {
        *self == Amount::Number(0)
    }
}

/// A share of a hundred.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a number or an expression")]
pub enum Percent {
    /// This one.
    Number(f64),
    /// The result of an expression.
    Computed(Expression),
}

/// The values `LIST_1`, `LIST_2` … of a user, in order, up to the first that is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ForEach {
    /// The list's name, as an extract with `which = "every"` keeps it.
    pub list: String,
    /// The name that the value of the round is kept under.
    pub into: String,
    /// So many values are left out at the beginning; none where that is no number.
    #[serde(default, skip_serializing_if = "Amount::is_zero")]
    pub skip: Amount,
    /// The number of the last value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Amount>,
    /// Values are called `LIST1`, `LIST2` …
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_underscore: bool,
}

/// Steps that are walked where something is true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct If {
    /// The condition that must be true.
    pub condition: Expression,
    /// It is looked at before each of the steps, not only before the first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub before_each: bool,
    /// At least one.
    pub steps: Vec<Step>,
    /// Walked where it is not true.
    #[serde(default, rename = "else", skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<Step>,
}

/// One of several branches, or all of them in an order that changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// How one is chosen.
    #[serde(default)]
    pub by: ChoiceBy,
    /// At least one.
    pub branches: Vec<Branch>,
}

/// How a branch is chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceBy {
    /// At random, by the weights of the branches.
    #[default]
    Weight,
    /// Each user takes them in turn.
    Turn,
    /// All users of a worker together take them in turn.
    TurnOfAll,
    /// Each user takes them in turn by their weights: the next is the one that is furthest behind its share, of equals the first.
    WeightedTurn,
    /// All of them, each time in a random order.
    Shuffle,
    /// The branch whose name is this text. Where none has it, the branch with that number, counted from 0, and the first where
    /// there are not so many; for what is no number the branch `default`, or none.
    Switch(Body),
}

/// A branch of a choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// By which a switch finds it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How often it is chosen, beside the others.
    #[serde(default = "one")]
    pub weight: u32,
    /// May be empty: then nothing is done.
    #[serde(default)]
    pub steps: Vec<Step>,
}

impl Branch {
    /// A branch without a name.
    pub fn of(weight: u32, steps: Vec<Step>) -> Branch {
        Branch { name: String::new(), weight, steps }
    }
}

fn one() -> u32 {
    1
}

/// Steps that are walked in a share of the times that a user comes to them. The share is kept exactly, not by chance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// In so many of a hundred times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<Percent>,
    /// So many times in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Amount>,
    /// Whose times are counted.
    #[serde(default)]
    pub of: Scope,
    /// At least one.
    pub steps: Vec<Step>,
}

/// Whom a count, a pace, or a place in a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// To each user.
    #[default]
    User,
    /// To all users of a group together.
    Group,
    /// To all users of the run.
    All,
}

/// Steps that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transaction {
    /// Its label in the report.
    pub name: String,
    /// Its label in records of single requests, with placeholders; empty: `name`.
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub title: Body,
    /// Pauses in it belong to its time.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub pauses: bool,
    /// Its requests are told as parts of it, and have no figures under labels of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub parent: bool,
    /// At least one.
    pub steps: Vec<Step>,
}

impl Transaction {
    /// With its pauses, and with figures of its requests beside its own.
    pub fn of(name: &str, steps: Vec<Step>) -> Transaction {
        Transaction { name: name.to_owned(), title: Body::default(), pauses: true, parent: false, steps }
    }
}

fn yes() -> bool {
    true
}

/// Users wait here until so many are there, and go on together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Barrier {
    /// Barriers with one name are one.
    pub name: String,
    /// How many; 0: as many as the group has.
    pub users: u32,
    /// A user waits no longer than this, and goes on alone. `None`: until the phase is over.
    #[serde(with = "duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub timeout: Option<Duration>,
}

/// Steps that one user at a time walks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Locks with one name are one.
    pub name: String,
    /// At least one.
    pub steps: Vec<Step>,
}

/// Steps that a user walks at once, each of them a branch by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Together {
    /// So many of them at once; 0: all.
    #[serde(default, skip_serializing_if = "is_all")]
    pub at_once: u32,
    /// At least one; none holds steps that are walked at once in their turn.
    pub steps: Vec<Step>,
}

fn is_all(at_once: &u32) -> bool {
    *at_once == 0
}

/// Where a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Flow {
    /// At the beginning: the user's next iteration.
    NextIteration,
    /// At the next round of the innermost loop; outside of any loop at the user's next iteration.
    NextRound,
    /// Behind the innermost loop; outside of any loop the user ends.
    BreakLoop,
    /// Nowhere: this user ends.
    StopUser,
    /// Nowhere: no user begins anything more; what is under way ends as usual.
    StopRun,
    /// Nowhere: the run ends at once.
    StopNow,
}

/// The action of a user after a request, a check or an extraction that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// Goes on as if nothing had happened.
    Continue,
    /// Begins its next iteration: what follows would build on nothing.
    #[default]
    NextIteration,
    /// Begins the next round of the innermost loop; outside of any loop its next iteration.
    NextRound,
    /// Goes on behind the innermost loop; outside of any loop it ends.
    BreakLoop,
    /// Ends.
    StopUser,
    /// Ends, and no user begins anything more.
    StopRun,
    /// Ends, and the run with it, at once.
    StopNow,
}

impl OnFailure {
    pub(super) fn is_usual(&self) -> bool {
        *self == OnFailure::NextIteration
    }

    /// Where the walk goes on then; `None`: where it was.
    pub fn flow(self) -> Option<Flow> {
        Some(match self {
            OnFailure::Continue => return None,
            OnFailure::NextIteration => Flow::NextIteration,
            OnFailure::NextRound => Flow::NextRound,
            OnFailure::BreakLoop => Flow::BreakLoop,
            OnFailure::StopUser => Flow::StopUser,
            OnFailure::StopRun => Flow::StopRun,
            OnFailure::StopNow => Flow::StopNow,
        })
    }
}
