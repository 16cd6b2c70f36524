//! The old tools: a folder each, with what was typed (`args`), what it means as a Plan (`plan`), the report as the tool would have
//! printed it (`report`), and its [`Door`], which joins the three over a session. The first three open no socket and print nothing; who
//! runs a door is [`runner`]. A tool is its folder and its line in [`ALL`]. Start at [`wrk`] or [`jtest`].

pub mod ab;
pub mod agents;
pub mod bombardier;
pub mod clock;
mod field;
pub mod fortio;
mod getopt;
mod goflag;
pub mod h1load;
pub mod h2load;
pub mod hey;
pub mod http_load;
pub mod jmeter;
pub mod jtest;
pub mod keep;
pub mod kept;
pub mod layouts;
mod number;
mod openssl;
mod outcome;
pub mod reads;
pub mod runner;
pub mod siege;
#[cfg(test)]
mod tests;
mod url;
pub mod vegeta;
pub mod wrk;
pub mod wrktcp;

pub use outcome::{Run, ToolShown};
pub use runner::{Door, Moment};

use console::output;
use console::problem::{Exit, Problem};
use std::ffi::OsString;

/// An old tool, by its name.
pub struct Tool {
    /// First word after wringer's, or the name of a link.
    pub name: &'static str,
    /// Its line in the help.
    pub about: &'static str,
    /// Runs it with the words after the name.
    pub run: fn(&[OsString]) -> Result<Exit, Problem>,
    /// Its usage, as `--help` prints it.
    pub usage: fn() -> String,
}

impl Tool {
    /// The tool behind a door.
    pub const fn of<D: Door>() -> Tool {
        Tool { name: D::NAME, about: D::ABOUT, run: runner::run::<D>, usage: D::help }
    }

    /// Prints its usage, as the help of a native command: on standard output, and it is no error.
    pub fn help(&self) -> Exit {
        output::write(&(self.usage)());
        Exit::Ok
    }
}

/// Every tool, in the order of the help.
pub static ALL: &[Tool] = &[
    Tool::of::<jtest::Jtest>(),
    Tool::of::<ab::Ab>(),
    Tool::of::<siege::Siege>(),
    Tool::of::<h1load::H1load>(),
    Tool::of::<h1load::Haload>(),
    Tool::of::<h2load::H2load>(),
    Tool::of::<http_load::HttpLoad>(),
    Tool::of::<hey::Hey>(),
    Tool::of::<bombardier::Bombardier>(),
    Tool::of::<vegeta::Vegeta>(),
    Tool::of::<fortio::Fortio>(),
    Tool::of::<wrk::Wrk>(),
    Tool::of::<wrk::Wrk2>(),
    Tool::of::<wrktcp::Wrktcp>(),
    Tool::of::<jmeter::Jmeter>(),
];

/// The tool of this name.
pub fn named(name: &str) -> Option<&'static Tool> {
    ALL.iter().find(|tool| tool.name == name)
}

/// The names of all tools, and the line of each in the help.
pub fn lines() -> Vec<(&'static str, &'static str)> {
    ALL.iter().map(|tool| (tool.name, tool.about)).collect()
}

/// Returns the violation of a plan without the name of the phase, of which old command lines know nothing.
fn without_phase(violation: &str) -> &str {
    let named = violation.strip_prefix("phase '").and_then(|rest| rest.split_once("': "));
    named.map_or(violation, |(_, what)| what)
}
