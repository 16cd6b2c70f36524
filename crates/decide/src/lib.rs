//! Conclusions from runs: statistics with known error, and decisions that are made step by step.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "what is no number must not pass for a positive one")]

pub mod arena;
mod buckets;
pub mod compare;
pub mod find;
mod findings;
mod kept;
pub mod machine;
pub mod probe;
pub mod schema;
pub mod size;
pub mod statistics;
pub mod stress;
pub mod trend;
mod void;
pub mod words;

pub use findings::{Findings, Written};
pub use kept::KeptDecision;
pub use void::Void;
