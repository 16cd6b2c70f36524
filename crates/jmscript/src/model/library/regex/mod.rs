//! `java.util.regex`.

pub(crate) mod matcher;
pub(crate) mod pattern;
