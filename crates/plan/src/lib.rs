//! The Plan: one typed, complete, checked, printable description of a test.
//!
//! This crate describes and cannot act: no I/O, no threads, no clock (time is an argument). Whatever both sides of a
//! test must agree on without talking to each other lives here as pure functions: which object a request asks for
//! ([`popularity`]), what that object is ([`site`]), and each byte of its body ([`content`]).
//!
//! Start reading at [`Plan`]; then [`Site`] (what exists) and [`Load`] (what is asked, when, and until when).

pub mod check;
pub mod content;
pub mod draw;
pub mod jtest;
pub mod load;
pub mod popularity;
pub mod predict;
pub mod site;
pub mod units;

mod io;
mod split;
mod text;

pub use io::Io;
pub use load::*;
pub use popularity::{Law, Popularity};
pub use site::Site;
pub use split::Part;

use serde::{Deserialize, Serialize};

/// Everything a run needs to know, whoever described it: a native command line, an old tool's, or a plan file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of the text form; this build reads [`Plan::VERSION`].
    pub version: u32,
    /// The one seed: the same seed and plan send the same requests whatever the number of workers.
    pub seed: u64,
    /// Workers, one per core; `None` means one for each core the process may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u16>,
    /// The system interface that the workers use.
    #[serde(default, skip_serializing_if = "Io::is_auto")]
    pub io: Io,
    /// What exists: the objects and their laws, known to clients and origin alike.
    pub site: Site,
    /// The client side; absent where only the origin runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// The origin side; absent where only the clients run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

impl Plan {
    /// The version of the text form that this build writes and reads.
    pub const VERSION: u32 = 1;
}
