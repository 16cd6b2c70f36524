//! Expressions of conditions and computed values: small, typed, without side effects and without loops, so that each costs what
//! its text says and no more.
//!
//! `status == 200 and length(token) > 3`: names are values that a user keeps, texts stand in quotes, and a name with unusual
//! characters stands in braces, `{{my name}}`. [`Expression`] is the text as plans have it, [`Node`] what it means; whoever
//! evaluates it brings the [`Facts`]. Start reading at `parse.rs` for what can be said, at `evaluate.rs` for what it means.

mod evaluate;
mod parse;

pub use evaluate::{Facts, Value};

use serde::{Deserialize, Serialize};
use std::fmt;

/// The text of an expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Expression(pub String);

impl From<&str> for Expression {
    fn from(text: &str) -> Expression {
        Expression(text.to_owned())
    }
}

impl Expression {
    /// Takes the text apart.
    ///
    /// # Errors
    /// The mistake in it and its character, in words.
    pub fn parse(&self) -> Result<Node<String>, ExpressionError> {
        parse::parse(&self.0)
    }
}

/// Why a text is no expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionError {
    /// The text.
    pub text: String,
    /// The character where it goes wrong, from 1.
    pub column: usize,
    /// The mistake, and what would do.
    pub why: String,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "expression '{}', character {}: {}", self.text, self.column, self.why)
    }
}

/// An expression, taken apart. `N`: what stands for a name.
#[derive(Debug, Clone)]
pub enum Node<N> {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// True or false.
    Truth(bool),
    /// A value that the user keeps.
    Name(N),
    /// Something that is known beside the values.
    Fact(Fact),
    /// The opposite.
    Not(Box<Node<N>>),
    /// The negative.
    Minus(Box<Node<N>>),
    /// Two, and what joins them.
    Two(Box<Node<N>>, Operator, Box<Node<N>>),
    /// A regular expression is found in it.
    Matches(Box<Node<N>>, Box<regex::bytes::Regex>),
    /// A function of its arguments.
    Call(Function, Vec<Node<N>>),
}

/// An operator that joins two expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `or`, `||`
    Or,
    /// `and`, `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    Differs,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `contains`
    Contains,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
    /// `%`
    Modulo,
}

/// A fact known of the last answer or of the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// `last.ok`: the last request was good. True before the first.
    LastOk,
    /// `last.status`
    LastStatus,
    /// `last.milliseconds`
    LastMilliseconds,
    /// `user`: its number, from 0.
    User,
    /// `iteration`: of the user, from 0.
    Iteration,
}

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// `length(TEXT)`: characters.
    Length,
    /// `lower(TEXT)`
    Lower,
    /// `upper(TEXT)`
    Upper,
    /// `trim(TEXT)`
    Trim,
    /// `exists(NAME)`: the user keeps a value under it.
    Exists,
    /// `floor(NUMBER)`
    Floor,
    /// `round(NUMBER)`
    Round,
    /// `abs(NUMBER)`
    Abs,
    /// `min(NUMBER, NUMBER)`
    Min,
    /// `max(NUMBER, NUMBER)`
    Max,
    /// `random()`: a number from 0 up to 1. `random(MIN, MAX)`: a whole number, both included.
    Random,
    /// `normal()`: a number by the normal law with mean 0 and deviation 1.
    Normal,
    /// `now()`: milliseconds since 1970.
    Now,
    /// `text(A, B, …)`: one after the other.
    Text,
}

impl<N> Node<N> {
    /// With something else in the place of names; `None` where a name has none.
    pub fn map<M>(self, to: &mut impl FnMut(N) -> Option<M>) -> Option<Node<M>> {
        let one = |node: Box<Node<N>>, to: &mut _| node.map(to).map(Box::new);
        Some(match self {
            Node::Text(text) => Node::Text(text),
            Node::Number(number) => Node::Number(number),
            Node::Truth(truth) => Node::Truth(truth),
            Node::Name(name) => Node::Name(to(name)?),
            Node::Fact(fact) => Node::Fact(fact),
            Node::Not(node) => Node::Not(one(node, to)?),
            Node::Minus(node) => Node::Minus(one(node, to)?),
            Node::Two(left, operator, right) => Node::Two(one(left, to)?, operator, one(right, to)?),
            Node::Matches(node, pattern) => Node::Matches(one(node, to)?, pattern),
            Node::Call(function, arguments) => {
                let arguments: Option<_> = arguments.into_iter().map(|node| node.map(to)).collect();
                Node::Call(function, arguments?)
            }
        })
    }

    /// Hands over all names in it.
    pub fn names<'a>(&'a self, to: &mut impl FnMut(&'a N)) {
        match self {
            Node::Name(name) => to(name),
            Node::Not(node) | Node::Minus(node) | Node::Matches(node, _) => node.names(to),
            Node::Two(left, _, right) => {
                left.names(to);
                right.names(to);
            }
            Node::Call(_, arguments) => arguments.iter().for_each(|node| node.names(to)),
            Node::Text(_) | Node::Number(_) | Node::Truth(_) | Node::Fact(_) => {}
        }
    }
}
