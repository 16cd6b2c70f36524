//! Reports: results become text, and nothing else happens. Pure; computes no statistics of its own. A layout is a file:
//! [`text`] for people, [`page`] with charts, [`live`] for the line per second, [`json`] for programs, and one for each old
//! tool: [`ab`], [`h2load`], [`http_load`], [`jmeter`], [`jtest`], [`siege`], [`wrk`] and [`wrktcp`].

pub mod ab;
pub mod csv;
pub mod exits;
pub mod explain;
pub mod good;
pub mod h2load;
mod harmless;
pub mod hlog;
pub mod http_load;
pub mod influx;
pub mod jmeter;
pub mod json;
pub mod jtest;
mod labels;
pub mod live;
pub mod metrics;
pub mod old;
pub mod page;
pub mod protobuf;
pub mod screen;
pub mod show;
pub mod siege;
pub mod text;
pub mod thresholds;
pub mod verbose;
pub mod wrk;
pub mod wrktcp;

pub use harmless::{harmless, harmless_json};
pub use text::Context;

/// A record of a run as a line of JSON, with its end.
pub fn record_line(event: &measure::RunEvent) -> String {
    // Records have text and numbers only.
    harmless_json(serde_json::to_string(event).unwrap_or_default()) + "\n"
}
