//! The commands: what is done for each, and what is printed.

pub mod ab;
mod around;
pub mod cache;
pub mod capture;
mod clock;
pub mod compare;
pub mod doctor;
mod door;
mod ending;
mod error_lines;
pub mod explain;
pub mod find;
mod folder;
pub mod h2load;
mod har;
pub mod http;
pub mod http_load;
pub mod jmeter;
pub mod jmx;
pub mod jtest;
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
pub mod siege;
pub mod start;
pub mod tcp;
mod verbose;
pub mod wrk;
pub mod wrktcp;

use crate::problem::{Exit, Problem};
use door::Door;
use std::ffi::OsString;
use std::net::SocketAddr;

/// An old tool's command line, by its name.
pub struct Entry {
    /// The tool's name: first word after wringer's, or the name of a link.
    pub name: &'static str,
    /// Runs it with the words after the name.
    pub run: fn(&[OsString]) -> Result<Exit, Problem>,
    /// Its usage, as `--help` prints it.
    pub usage: fn() -> String,
}

impl Entry {
    const fn of<D: Door>() -> Entry {
        Entry { name: D::NAME, run: door::run::<D>, usage: D::help }
    }

    /// The door of this name.
    pub fn named(name: &str) -> Option<&'static Entry> {
        DOORS.iter().find(|door| door.name == name)
    }

    /// Prints its usage, as the help of a native command: on standard output, and it is no error.
    pub fn help(&self) -> Exit {
        crate::output::write(&(self.usage)());
        Exit::Ok
    }
}

/// Every door; each has its line in the native help, too.
pub const DOORS: &[Entry] = &[
    Entry::of::<ab::Ab>(),
    Entry::of::<h2load::H2load>(),
    Entry::of::<http_load::HttpLoad>(),
    Entry::of::<jmeter::Jmeter>(),
    Entry::of::<jtest::Jtest>(),
    Entry::of::<siege::Siege>(),
    Entry::of::<wrk::Wrk>(),
    Entry::of::<wrk::Wrk2>(),
    Entry::of::<wrktcp::Wrktcp>(),
];

/// The demonstration cache, as a process of its own.
pub fn demo_cache(listen: SocketAddr, origin: SocketAddr, memory_bytes: u64) -> Result<Exit, Problem> {
    proxies::demo::run(proxies::demo::Options { listen, origin, memory_bytes })
        .map_err(|error| Problem::impossible(format!("the demonstration cache ended: {error}")))?;
    Ok(Exit::Ok)
}
