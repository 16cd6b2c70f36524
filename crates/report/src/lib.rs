//! Reports: results become text, and nothing else happens. Pure; computes no statistics of its own. A layout is a file:
//! [`text`] for people, [`live`] for the line per second, [`json`] for programs, [`jtest`] for the old tool's table.

pub mod ab;
pub mod good;
pub mod http_load;
pub mod json;
pub mod jtest;
pub mod live;
pub mod show;
pub mod siege;
pub mod text;

pub use text::Context;
