//! Reports: results become text, and nothing else happens. Pure; computes no statistics of its own. A layout is a file:
//! [`text`] for people, [`page`] with charts, [`live`] for the line per second, [`json`] for programs. Those of
//! old tools are in `tools`.

mod chinese;
pub mod csv;
pub mod exchange_lines;
pub mod exits;
pub mod explain;
pub mod good;
pub mod graphite;
mod harmless;
pub mod hlog;
pub mod influx;
pub mod interval;
pub mod json;
pub mod junit;
mod labels;
mod language;
pub mod layouts;
pub mod live;
pub mod metrics;
pub mod page;
pub mod protobuf;
mod response_times;
pub mod sarif;
pub mod schema;
pub mod screen;
pub mod show;
mod slowest;
pub mod summary;
pub mod text;
pub mod thresholds;
pub mod verbose;

pub use harmless::{harmless, harmless_json};
pub use language::Language;
pub use text::Context;

/// A record of a run as a line of JSON, with its end.
pub fn record_line(event: &measure::RunEvent) -> String {
    // Records have text and numbers only.
    harmless_json(serde_json::to_string(event).unwrap_or_default()) + "\n"
}
