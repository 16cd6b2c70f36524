//! The exit code of a run: a function of the verdict and of the conditions that the figures were held to, and of nothing else.

use super::{Conduct, RunVerdict, Worth};
use crate::agents::AgentUse;
use crate::judged::Judged;
use crate::run::RunResult;

/// Exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    /// 0
    Fine,
    /// 1
    Impossible,
    /// 2
    Usage,
    /// 3
    Failed,
    /// 130; 128 and the signal's number where that is another.
    EndedByHand,
}

/// The table of exit codes, as `--help` and the docs have it: the first line that holds.
const TABLE: [(ExitCode, &str); 6] = [
    (ExitCode::Usage, "The command line or the plan cannot be meant. Nothing was sent."),
    (
        ExitCode::EndedByHand,
        "Somebody ended the run before its time, by Ctrl-C, on the page or in the terminal: --fail-if and --require were not \
         evaluated. By SIGTERM it is 143, by SIGHUP 129.",
    ),
    (
        ExitCode::Failed,
        "What --fail-if or --stop-if names was so, or what --require names was not, or it is not known.",
    ),
    (
        ExitCode::Impossible,
        "There is no run or no result: nothing listens, a port is taken, a file cannot be written; nothing was sent, or at least \
         half of the requests found no port or descriptor on this machine; not one answer came that had an expected status or code (answers that \
         only fail a check are not meant); the target was silent at the \
         end, or died; an agent (--agents) was lost, and --tolerate-loss does not allow that; or an origin (--origin-agents) was.",
    ),
    (
        ExitCode::Failed,
        "The target failed: at least 1 % of the requests that left this machine got no good answer, or an answer was wrong. Not where a condition of \
         yours speaks of failures (errors, failed, unfinished, check-failed, ok-rate): then it alone decides.",
    ),
    (ExitCode::Fine, "The run came to its end, and none of that holds."),
];

impl ExitCode {
    /// The code of a run with this verdict.
    pub fn of_run(result: &RunResult, verdict: &RunVerdict) -> ExitCode {
        if result.was_ended_by_hand() {
            return ExitCode::EndedByHand;
        }
        // What failed then failed for want of it.
        if result.origins.iter().any(|origin| origin.lost.is_some()) {
            return ExitCode::Impossible;
        }
        let code = ExitCode::of(verdict, &result.thresholds);
        let is_missed = code == ExitCode::Fine && result.agents.iter().any(AgentUse::is_missed);
        if is_missed { ExitCode::Impossible } else { code }
    }

    /// The code of a run that came to its end with this verdict, whose figures were held to these conditions.
    pub(super) fn of(verdict: &RunVerdict, thresholds: &[Judged]) -> ExitCode {
        if thresholds.iter().any(|one| one.violated) {
            return ExitCode::Failed;
        }
        match verdict.measurement.state {
            Worth::BrokenOff | Worth::NothingSent => return ExitCode::Impossible,
            Worth::CutOff | Worth::GeneratorBound | Worth::Disturbed | Worth::Valid => {}
        }
        if verdict.target.was_mostly_not_asked() {
            return ExitCode::Impossible;
        }
        match verdict.target.state {
            Conduct::NotAsked | Conduct::Died | Conduct::NoGoodAnswer | Conduct::Silent => {
                ExitCode::Impossible
            }
            Conduct::Failed if thresholds.iter().any(|one| one.of_failures) => ExitCode::Fine,
            Conduct::Failed => ExitCode::Failed,
            Conduct::Flawed | Conduct::Answered => ExitCode::Fine,
        }
    }

    /// The number that the process returns.
    pub fn number(self) -> u8 {
        match self {
            ExitCode::Fine => 0,
            ExitCode::Impossible => 1,
            ExitCode::Usage => 2,
            ExitCode::Failed => 3,
            ExitCode::EndedByHand => 130,
        }
    }

    /// Each code with what it means, in the order in which they are looked at: the first that holds.
    pub fn table() -> impl Iterator<Item = (u8, &'static str)> {
        TABLE.iter().map(|(code, meaning)| (code.number(), *meaning))
    }
}
