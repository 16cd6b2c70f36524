//! See ARCHITECTURE.md.

pub mod jtest;
pub mod native;
