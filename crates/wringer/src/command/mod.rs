//! The commands: what is done for each, and what is printed.

pub mod ab;
pub mod cache;
mod clock;
pub mod doctor;
pub mod http;
pub mod http_load;
pub mod jtest;
pub mod links;
pub mod origin;
pub mod plan;
mod show;
pub mod siege;
pub mod tcp;
mod troubles;
mod verbose;
pub mod wrk;
pub mod wrktcp;

use crate::problem::{Exit, Problem};
use crate::rig;
use doors::native::RigArgs;
use std::ffi::OsString;
use std::net::SocketAddr;

/// An old tool's command line.
pub struct Door {
    /// The tool's name: first word after wringer's, or the name of a link.
    pub name: &'static str,
    /// Runs it with the words after the name.
    pub run: fn(&[OsString]) -> Result<Exit, Problem>,
    /// Prints its help on standard output.
    pub help: fn() -> Result<Exit, Problem>,
}

impl Door {
    /// The door of this name.
    pub fn named(name: &str) -> Option<&'static Door> {
        DOORS.iter().find(|door| door.name == name)
    }
}

/// Every door; each has its line in the native help, too.
pub const DOORS: &[Door] = &[
    Door { name: "ab", run: ab::run, help: ab::help },
    Door { name: "http_load", run: http_load::run, help: http_load::help },
    Door { name: "jtest", run: jtest::run, help: jtest::help },
    Door { name: "siege", run: siege::run, help: siege::help },
    Door { name: "wrk", run: wrk::run_wrk, help: wrk::help_wrk },
    Door { name: "wrk2", run: wrk::run_wrk2, help: wrk::help_wrk2 },
    Door { name: "wrktcp", run: wrktcp::run, help: wrktcp::help },
];

/// `wringer rig`.
pub fn rig(args: &RigArgs) -> Result<Exit, Problem> {
    let proxy: rig::Proxy =
        args.name.parse().map_err(|error: rig::RigError| Problem::Usage(error.to_string()))?;
    rig::command::run(proxy, args)?;
    Ok(Exit::Fine)
}

/// The demonstration cache, as a process of its own.
pub fn demo_cache(listen: SocketAddr, origin: SocketAddr, memory_bytes: u64) -> Result<Exit, Problem> {
    crate::demo::run(crate::demo::Options { listen, origin, memory_bytes })
        .map_err(|error| Problem::impossible(format!("the demonstration cache ended: {error}")))?;
    Ok(Exit::Fine)
}

/// A seed where none was given.
pub fn seed_from_clock() -> u64 {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    ::plan::draw::mix(time.as_nanos() as u64) >> 32
}
