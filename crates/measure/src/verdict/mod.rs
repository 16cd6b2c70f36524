//! The verdict on a run, in two halves: what its figures are worth, and how the target did. Either says nothing of the other: a
//! target may fail in a valid measurement, and answer to the end in one that the generator limited.
//!
//! Start reading at [`RunResult::verdict`]; what is found of the target is `target.rs`, and what the process returns for it `exit.rs`.

mod exit;
mod names;
mod target;

pub use exit::ExitCode;
pub use names::VerdictNames;
pub use target::{Conduct, FindingKind, TargetVerdict, VerdictFinding};

use crate::agents::{AgentUse, OriginUse};
use crate::counts::Counts;
use crate::notes;
use crate::processes::Happened;
use crate::run::{PhaseResult, RunResult};
use serde::Serialize;

/// The verdict on a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunVerdict {
    /// Worth of its figures.
    pub measurement: Measurement,
    /// How the target did, as far as they tell.
    pub target: TargetVerdict,
}

/// Worth of the figures, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measurement {
    /// In one word.
    pub state: Worth,
    /// Why they are not valid, one sentence each, with what to try.
    pub reasons: Vec<String>,
}

/// Worth of a run's figures, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Worth {
    /// Wringer's own code failed, and the run ended there.
    BrokenOff,
    /// No request was sent.
    NothingSent,
    /// The run, or one of the machines that made it, ended without a word, so that nothing is known of the generator.
    CutOff,
    /// The generator was the limit.
    GeneratorBound,
    /// Other programs, or the host, had the CPU that wringer or the target wanted, or another program took the target's place.
    Disturbed,
    /// Nothing says that they speak of anything but the target.
    Valid,
}

impl Worth {
    /// Every one, the gravest first.
    pub const ALL: [Worth; 6] = [
        Worth::BrokenOff,
        Worth::NothingSent,
        Worth::CutOff,
        Worth::GeneratorBound,
        Worth::Disturbed,
        Worth::Valid,
    ];

    /// Short name for machines.
    pub fn name(self) -> &'static str {
        match self {
            Worth::BrokenOff => "broken_off",
            Worth::NothingSent => "nothing_sent",
            Worth::CutOff => "cut_off",
            Worth::GeneratorBound => "generator_bound",
            Worth::Disturbed => "disturbed",
            Worth::Valid => "valid",
        }
    }

    /// Returns the words that people read.
    pub fn text(self) -> &'static str {
        match self {
            Worth::BrokenOff => "broken off",
            Worth::NothingSent => "no result",
            Worth::CutOff => "cut off",
            Worth::GeneratorBound => "bound by the generator",
            Worth::Disturbed => "disturbed",
            Worth::Valid => "valid",
        }
    }
}

impl RunVerdict {
    /// True if the figures speak of the target.
    pub fn is_valid(&self) -> bool {
        self.measurement.state == Worth::Valid
    }

    /// Both words, as records and lists have them.
    pub fn names(&self) -> VerdictNames {
        VerdictNames {
            measurement: self.measurement.state.name().to_owned(),
            target: self.target.state.name().to_owned(),
        }
    }
}

impl RunResult {
    /// Judges the run. `measured`: the figures that count.
    pub fn verdict(&self, measured: &PhaseResult) -> RunVerdict {
        let target = self.target_verdict(measured);
        RunVerdict { measurement: self.measurement(target.is_silent()), target }
    }

    /// `silent`: the target answered no more, so what could not be sent then is not the generator's fault.
    fn measurement(&self, silent: bool) -> Measurement {
        let check = &self.self_check;
        let mut reasons = check.limits(silent);
        let of_agents = |agent: &AgentUse| {
            let name = agent.name.clone();
            agent.reasons.clone().into_iter().map(move |reason| format!("{name}: {reason}"))
        };
        reasons.extend(self.agents.iter().flat_map(of_agents));
        let of_origins = self.origins.iter().filter_map(OriginUse::loss);
        let losses: Vec<String> = self.agents.iter().filter_map(AgentUse::loss).chain(of_origins).collect();
        let disturbances = check.disturbances();
        let mixed = self.processes.mixed();
        let state = match () {
            () if !check.panics.is_empty() => Worth::BrokenOff,
            () if check.requests == 0 => Worth::NothingSent,
            () if check.untold || !losses.is_empty() => Worth::CutOff,
            () if !reasons.is_empty() => Worth::GeneratorBound,
            () if !disturbances.is_empty() || mixed.is_some() => Worth::Disturbed,
            () => Worth::Valid,
        };
        reasons.splice(0..0, losses);
        reasons.extend(mixed.map(Happened::sentence));
        reasons.extend(disturbances);
        reasons.extend(check.untold.then(|| notes::UNTOLD.with(&[])));
        reasons.extend((state == Worth::NothingSent).then(|| notes::NOTHING_SENT.with(&[])));
        Measurement { state, reasons }
    }
}

/// True if requests failed, or were left without an answer, and not one had the end that it should have had. A failure
/// that the plan asked for is such an end.
pub fn nothing_good(counts: &Counts) -> bool {
    let good = counts.ok + counts.check_failed + counts.injected + counts.aborted;
    counts.failed + counts.unfinished > 0 && good == 0
}

/// Requests that did not end as they should have.
pub fn errors(counts: &Counts) -> u64 {
    counts.failed + counts.check_failed + counts.unfinished
}

#[cfg(test)]
mod tests;
