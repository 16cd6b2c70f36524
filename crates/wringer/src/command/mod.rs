//! The commands: what is done for each, and what is printed.

pub mod arena;
mod around;
pub mod cache;
pub mod capture;
pub mod compare;
pub mod config;
mod decided;
pub mod doctor;
mod dry;
pub mod explain;
pub mod find;
mod findings;
pub mod fit;
pub mod fleet;
mod foreign;
pub mod guided;
mod har;
pub mod http;
mod jmx;
mod leg;
pub mod links;
pub mod manual;
pub mod mcp;
pub mod origin;
pub mod plan;
mod pressed;
pub mod probe;
pub mod record;
pub mod replay;
pub mod report;
pub mod rig;
pub mod rig_log;
pub mod runs;
pub mod schema;
pub mod serve;
mod show;
pub mod size;
pub mod start;
pub mod stress;
pub mod survey;
pub mod tcp;
mod trend;
mod verbose;

use crate::problem::{Exit, Problem};
use std::net::SocketAddr;

/// The demonstration cache, as a process of its own.
pub fn demo_cache(listen: SocketAddr, origin: SocketAddr, memory_bytes: u64) -> Result<Exit, Problem> {
    proxies::demo::run(proxies::demo::DemoOptions { listen, origin, memory_bytes })
        .map_err(|error| Problem::impossible(format!("the demonstration cache ended: {error}")))?;
    Ok(Exit::Ok)
}
