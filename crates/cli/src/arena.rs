//! The options of `wringer arena`: which proxies, which events, how often.

use super::KeepArgs;
use super::values::{assignment, count32, rig_workers, seed};
use clap::Args;
use std::path::PathBuf;

/// The options of `wringer arena`.
#[derive(Debug, Clone, Args)]
pub struct ArenaArgs {
    /// A proxy that takes part: ats, nginx, varnish, vinyl, squid, haproxy, httpd, envoy, souin, h2o or caddy; several times [default: all caches that are installed]
    #[arg(long, value_name = "NAME")]
    pub rig: Vec<String>,
    /// A build of one's own that takes part as well, such as nginx=/home/me/nginx; several times
    #[arg(long, value_name = "NAME=DIR", value_parser = assignment)]
    pub from: Vec<(String, String)>,
    /// Worker threads of each proxy
    #[arg(long, value_name = "N", default_value = "1", value_parser = rig_workers)]
    pub rig_workers: u16,
    /// Only these events, with commas: speed, truth, stampede, purge, decay, memory
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How often each proxy goes through each event [default: 3, with --quick 1]
    #[arg(long, value_name = "N", value_parser = rounds)]
    pub rounds: Option<u32>,
    /// Short runs, once each: whether it works, not how fast anything is
    #[arg(long)]
    pub quick: bool,
    /// Seed: order and requests [default: taken from the clock and printed]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Only tell what is run, and how long it takes
    #[arg(long)]
    pub forecast: bool,
    /// Write it as a page that can be published
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write it as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Storage of the runs: whether they are kept, and where.
    #[command(flatten)]
    pub keep: KeepArgs,
}

impl ArenaArgs {
    /// Rounds, as asked for or as usual.
    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 1 } else { 3 })
    }
}

/// At least one.
fn rounds(text: &str) -> Result<u32, String> {
    match count32(text)? {
        0 => Err("'0' would be nothing: give at least 1".to_owned()),
        count => Ok(count),
    }
}
