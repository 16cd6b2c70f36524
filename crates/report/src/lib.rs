//! Reports: results become text, and nothing else happens. Pure; computes no statistics of its own. A layout is a file:
//! [`text`] for people, [`html`] with charts, [`live`] for the line per second, [`json`] for programs, [`jtest`] for the old tool's
//! table.

pub mod good;
pub mod html;
pub mod json;
pub mod jtest;
pub mod live;
pub mod show;
pub mod text;
pub mod thresholds;

pub use text::Context;
