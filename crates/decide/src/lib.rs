//! Conclusions from runs.
pub mod find;
pub mod machine;
pub mod statistics;
pub mod words;
