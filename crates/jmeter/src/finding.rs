//! Findings: parts of a plan that do not run as JMeter would run them.

use crate::element::Element;
use std::fmt;

/// An element that runs differently, or not at all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// How far it is from JMeter.
    pub grade: Grade,
    /// The names from the test plan down to the element: `/Test Plan/Users/Login`.
    pub path: String,
    /// Its class.
    pub class: String,
    /// Where it begins in its file, counted from 1.
    pub line: usize,
    /// The reason, and what to do instead where there is something.
    pub why: String,
}

/// How far something is from JMeter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// It cannot run.
    Missing,
    /// It runs, but not as in JMeter.
    Different,
}

impl Finding {
    pub(crate) fn new(grade: Grade, of: &Element, why: impl Into<String>) -> Finding {
        Finding { grade, path: of.path.clone(), class: of.class.clone(), line: of.line, why: why.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} ({}, line {}): {}", self.path, self.class, self.line, self.why)
    }
}
