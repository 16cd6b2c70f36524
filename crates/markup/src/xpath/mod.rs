//! XPath 1.0 over a document: all of its axes but those of namespaces, all operators, and the functions of its core library but
//! `id` and `lang`.

mod evaluate;
mod function;
mod lexer;
mod parse;

use crate::tree::{Document, Node};
use function::Function;

/// An expression, read.
#[derive(Debug, Clone, PartialEq)]
pub struct XPath {
    expression: Expression,
}

/// The kinds of value that an expression has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XpathKind {
    /// Nodes, in document order.
    Nodes,
    /// True or false.
    Boolean,
    /// A number.
    Number,
    /// A text.
    Text,
}

/// One of the values that an expression has found.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// A node.
    Node(Node),
    /// A text: an attribute's value, or that of an expression that gives no nodes.
    Text(String),
}

impl XPath {
    /// Reads an expression.
    ///
    /// # Errors
    /// Why it is none that is understood.
    pub fn parse(text: &str) -> Result<XPath, String> {
        parse::parse(text).map(|expression| XPath { expression })
    }

    /// The kind of its value.
    pub fn kind(&self) -> XpathKind {
        self.expression.kind()
    }

    /// Returns its results for a document, at most so many. An expression that would take too long finds nothing.
    pub fn find(&self, document: &Document, most: usize) -> Vec<Found> {
        evaluate::evaluate(&self.expression, document, most)
    }
}

/// An expression of XPath.
#[derive(Debug, Clone, PartialEq)]
enum Expression {
    Or(Box<Expression>, Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Compare(Comparison, Box<Expression>, Box<Expression>),
    Compute(Operation, Box<Expression>, Box<Expression>),
    Negate(Box<Expression>),
    Union(Box<Expression>, Box<Expression>),
    Number(f64),
    Text(String),
    Call(Function, Vec<Expression>),
    /// Steps from the root.
    Absolute(Vec<XpathStep>),
    /// Steps from where one stands.
    Relative(Vec<XpathStep>),
    /// Steps from each of the nodes that are found.
    From(Box<Expression>, Vec<XpathStep>),
    /// The nodes that are found for which these hold.
    Filter(Box<Expression>, Vec<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Debug, Clone, PartialEq)]
struct XpathStep {
    axis: Axis,
    test: NodeTest,
    predicates: Vec<Expression>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Parent,
    Preceding,
    PrecedingSibling,
    Itself,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum NodeTest {
    /// `*`, or `prefix:*`.
    Any(Option<String>),
    Name(String),
    Node,
    Text,
    Comment,
    Instruction(Option<String>),
}

impl Expression {
    fn kind(&self) -> XpathKind {
        match self {
            Expression::Or(..) | Expression::And(..) | Expression::Compare(..) => XpathKind::Boolean,
            Expression::Compute(..) | Expression::Negate(_) | Expression::Number(_) => XpathKind::Number,
            Expression::Text(_) => XpathKind::Text,
            Expression::Call(function, _) => function.kind(),
            _ => XpathKind::Nodes,
        }
    }
}
