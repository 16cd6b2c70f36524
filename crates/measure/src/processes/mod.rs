//! The target's processes: who answers at its addresses, and what happened to them while a run went on.
//!
//! Facts come from whoever can look (the session); here they are kept, told apart ([`History`]: a crash, a reload, another
//! program in the same place) and said in sentences. Start reading at [`TargetProcesses`].

mod history;
mod sentences;

pub use history::{History, Member};

use crate::seconds;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Facts about the target's processes before, during and after a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TargetProcesses {
    /// Who answered at each address before the first request.
    pub before: Vec<Behind>,
    /// Changes, in their order.
    pub during: Vec<Happened>,
    /// Who answered when the run was over.
    pub after: Vec<Behind>,
}

/// Who answers at an address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Behind {
    /// The address, or the path of a Unix socket.
    pub address: String,
    /// Processes that listen there; those that another one of them has started are its workers.
    pub processes: Vec<Process>,
    /// Workers of these processes, whether they listen themselves or not.
    pub workers: u32,
    /// Why nobody is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Unknown>,
}

/// A program as one of its processes shows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Process {
    /// Its number; 0 of one that cannot be seen.
    pub pid: u32,
    /// Name of its program; of an interpreter with its script: `python3.11 server.py`.
    pub name: String,
    /// Path of the program; `None` where it may not be seen.
    pub executable: Option<String>,
    /// Version of the program: what it says when wringer has started it, else that of its package where the program names it.
    pub version: Option<String>,
    /// Number that the linker gave the program (ELF's note), in hexadecimal digits.
    pub build_id: Option<String>,
    /// When it began, in seconds since 1970.
    pub started_unix_s: Option<f64>,
}

/// Reasons why it is not known who answers at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Unknown {
    /// It is another machine's.
    AnotherMachine,
    /// A process of another user listens, which only that one and root may look at.
    AnotherUser {
        /// The user's number.
        uid: u32,
    },
    /// Nobody listens in this network namespace: a container's port, or one that is passed on.
    NobodyHere,
    /// Somebody listens, but is not among the processes that could be looked at in time.
    NotFound {
        /// Processes looked at.
        looked_at: u32,
    },
    /// Somebody listens, but no process that can be seen here: one of another container.
    OutOfSight,
    /// This run itself listens there.
    Ourselves,
    /// A reason of a later version.
    #[serde(other)]
    Other,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// By a signal, of this number.
    Signal(i32),
    /// With this exit code.
    Code(i32),
    /// Only its parent was told.
    Unknown,
}

/// Change of the target's processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Happened {
    /// When, since the start of the run.
    #[serde(rename = "at_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub at: Duration,
    /// The process that it happened to; of a worker the one that started it.
    pub process: Process,
    /// The change.
    #[serde(flatten)]
    pub change: Change,
    /// The target died by it: it crashed, or is gone.
    #[serde(default)]
    pub fatal: bool,
    /// The run was ended because of it.
    #[serde(default)]
    pub ended_run: bool,
    /// Last lines of its log, where wringer has started it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
}

/// Changes of the target's processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// The process ended.
    Ended {
        /// How.
        how: Ending,
        /// The address at which nobody listens since.
        #[serde(skip_serializing_if = "Option::is_none")]
        address: Option<String>,
    },
    /// A worker of it ended.
    WorkerEnded {
        /// The worker.
        worker: u32,
        /// How.
        how: Ending,
        /// The process that took its place.
        #[serde(skip_serializing_if = "Option::is_none")]
        heir: Option<u32>,
    },
    /// A worker of it has become another program (`exec`).
    WorkerBecame {
        /// The worker as it is now.
        by: Box<Process>,
    },
    /// New workers began, and old ones ended by themselves.
    Reloaded {
        /// New ones.
        began: u32,
        /// Old ones that have ended.
        ended: u32,
    },
    /// Another process answers in its place.
    Replaced {
        /// Where.
        address: String,
        /// The other one.
        by: Box<Process>,
        /// It is the same program.
        same_program: bool,
    },
    /// Another process listens beside it.
    Joined {
        /// Where.
        address: String,
        /// The other one.
        by: Box<Process>,
        /// It is the same program.
        same_program: bool,
    },
    /// Nobody listens any more, though the process lives.
    Closed {
        /// Where.
        address: String,
    },
    /// A change of a later version.
    #[serde(other)]
    Other,
}

impl TargetProcesses {
    /// The change by which the target died: the first crash, or its end.
    pub fn died(&self) -> Option<&Happened> {
        self.during.iter().find(|happened| happened.fatal)
    }

    /// The change from which on the figures are of two programs.
    pub fn mixed(&self) -> Option<&Happened> {
        self.during.iter().find(|happened| match &happened.change {
            Change::Replaced { same_program, .. } | Change::Joined { same_program, .. } => !same_program,
            Change::WorkerBecame { .. } => true,
            Change::Ended { .. }
            | Change::WorkerEnded { .. }
            | Change::Reloaded { .. }
            | Change::Closed { .. }
            | Change::Other => false,
        })
    }
}

impl Process {
    /// True if both run the same program, as far as that can be told: by its build, otherwise by its file and script.
    pub fn is_same_program(&self, other: &Process) -> bool {
        match (&self.build_id, &other.build_id) {
            // Two scripts of one interpreter are two programs.
            (Some(mine), Some(theirs)) => mine == theirs && self.name == other.name,
            _ => self.executable == other.executable && self.name == other.name,
        }
    }
}

/// SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE and SIGTERM: what people and supervisors end processes by.
const POLITE: [i32; 7] = [1, 2, 3, 10, 12, 13, 15];

impl Ending {
    /// True if nobody asked for it: a signal other than the polite ones, or an exit code other than 0 and those that shells give
    /// to polite signals (128 and their number).
    pub fn is_crash(self) -> bool {
        match self {
            Ending::Signal(signal) => !POLITE.contains(&signal),
            Ending::Code(code) => code != 0 && !POLITE.contains(&(code - 128)),
            Ending::Unknown => false,
        }
    }
}
