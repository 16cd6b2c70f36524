//! The commands: what is done for each, and what is printed.

mod around;
pub mod cache;
pub mod capture;
pub mod compare;
pub mod doctor;
pub mod explain;
pub mod find;
mod folder;
mod har;
pub mod http;
pub mod jmeter;
pub mod jmx;
mod leg;
pub mod links;
pub mod manual;
pub mod origin;
pub mod plan;
pub mod record;
pub mod report;
pub mod rig;
pub mod rig_log;
pub mod runs;
pub mod serve;
mod show;
pub mod start;
pub mod tcp;
mod verbose;

use crate::problem::{Exit, Problem};
use std::net::SocketAddr;
use tools::Tool;

/// JMeter's door, which knows its scripts.
static JMETER: Tool = Tool::of::<jmeter::Jmeter>();

/// Every old tool, in the order of the help.
pub fn tools() -> impl Iterator<Item = &'static Tool> {
    tools::ALL.iter().chain([&JMETER])
}

/// The old tool of this name.
pub fn tool(name: &str) -> Option<&'static Tool> {
    tools().find(|tool| tool.name == name)
}

/// The names of all tools, and the line of each in the help.
pub fn tool_lines() -> Vec<(&'static str, &'static str)> {
    tools().map(|tool| (tool.name, tool.about)).collect()
}

/// The demonstration cache, as a process of its own.
pub fn demo_cache(listen: SocketAddr, origin: SocketAddr, memory_bytes: u64) -> Result<Exit, Problem> {
    proxies::demo::run(proxies::demo::Options { listen, origin, memory_bytes })
        .map_err(|error| Problem::impossible(format!("the demonstration cache ended: {error}")))?;
    Ok(Exit::Ok)
}
