//! See ARCHITECTURE.md.

pub mod json;
pub mod jtest;
pub mod live;
pub mod show;
pub mod text;

pub use text::Context;
