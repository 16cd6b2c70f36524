//! Limits of this machine as a generator: before a run ([`budget`], `wringer doctor`) and during one ([`Sampler`],
//! [`Watch`]).
//!
//! Facts are read from /proc and /sys into plain values (`facts.rs`, `proc.rs`), and judging them against what a run
//! needs (`need.rs`) is a pure function ([`judge`]). Nothing here changes the machine, but for the soft limit of
//! descriptors. Start reading at [`budget`].

mod contention;
mod elf;
mod facts;
mod family;
mod judge;
mod listening;
mod need;
mod owners;
mod proc;
mod process;
mod program;
mod sampler;
mod show;
mod sockets;
mod sources;

pub use contention::{CpuWatch, THREAD_NAME};
pub use facts::Facts;
pub use family::Family;
pub use judge::{Finding, Level, judge};
pub use listening::{check_listening, has_started_us};
pub use need::Need;
pub use owners::Listeners;
pub use process::{Watch, check_pids, is_left, left_behind};
pub use program::process;
pub use sampler::Sampler;
pub use show::{json, text, worst};
pub use sources::check as check_sources;

use crate::problem::Problem;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::net::{IpAddr, UdpSocket};

/// Raises this process's limit of descriptors as far as it goes without privileges.
pub fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    // Fails only for limits that are not ours to raise; what is left is judged afterwards.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Judges whether this machine has what a run needs, and returns what may fall short, a sentence each.
///
/// # Errors
/// A resource that surely falls short, with what mends it.
pub fn budget(facts: &Facts, need: &Need) -> Result<Vec<String>, Problem> {
    let findings = judge(facts, need);
    let mut budget = findings.iter().filter(|finding| finding.topic.is_budget());
    if let Some(blocks) = budget.clone().find(|finding| finding.level == Level::Blocks) {
        return Err(Problem::Impossible(blocks.sentence()));
    }
    let warnings = budget.by_ref().filter(|finding| finding.level == Level::Warning);
    Ok(warnings.map(Finding::sentence).collect())
}

/// True if an address is this machine's own.
pub fn is_here(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}
