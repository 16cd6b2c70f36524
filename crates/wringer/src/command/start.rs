//! `wringer plan new`: commented plans to begin with.

use super::show;
use crate::problem::Exit;
use cli::Start;

/// Prints a plan to begin with.
pub fn print(kind: Start) -> Exit {
    show::write(match kind {
        Start::Http => include_str!("start/http.toml"),
        Start::Cache => include_str!("start/cache.toml"),
        Start::Tcp => include_str!("start/tcp.toml"),
        Start::Journey => include_str!("start/journey.toml"),
    });
    Exit::Ok
}
