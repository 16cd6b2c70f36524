//! Why a run could not start or finish, and how the process ends. Which code a run's verdict makes is `measure`'s ([`measure::ExitCode`]).

use std::process::ExitCode;
use thiserror::Error;

/// A reason not to start or not to go on; its text names the thing, the reason and what to try.
#[derive(Debug, Error)]
pub enum Problem {
    /// A usage error: what was asked for cannot be meant.
    #[error("{0}")]
    Usage(String),
    /// A task that cannot be done here and now.
    #[error("{0}")]
    Impossible(String),
    /// A door's own words and exit code.
    #[error("{text}")]
    Words {
        /// A line.
        text: String,
        /// The old tool's exit code.
        exit: u8,
    },
}

impl From<session::Problem> for Problem {
    fn from(problem: session::Problem) -> Problem {
        match problem {
            session::Problem::Usage(text) => Problem::Usage(text),
            session::Problem::Impossible(text) => Problem::Impossible(text),
        }
    }
}

impl Problem {
    /// A reason in words.
    pub fn impossible(text: impl Into<String>) -> Problem {
        Problem::Impossible(text.into())
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Problem::Usage(_) => Exit::Usage,
            Problem::Impossible(_) => Exit::Impossible,
            Problem::Words { exit, .. } => Exit::Code(*exit),
        }
    }
}

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: all went well.
    Ok,
    /// 1: the run could not start or finish, or not one answer was good.
    Impossible,
    /// 2: the command line or the plan cannot be meant.
    Usage,
    /// 3: it ran, and what it was held to was not so.
    Wrong,
    /// A door's or a helper's own code.
    Code(u8),
}

impl Exit {
    /// The code as a number.
    pub fn number(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Impossible => 1,
            Exit::Usage => 2,
            Exit::Wrong => 3,
            Exit::Code(code) => code,
        }
    }

    /// The worse of two ends: that answers were wrong is not hidden by a report that could not be written, and that is not
    /// hidden by a good end.
    #[must_use]
    pub fn or_worse(self, other: Exit) -> Exit {
        match (self, other) {
            (Exit::Ok | Exit::Code(0), _) => other,
            (Exit::Impossible, Exit::Wrong) => other,
            (Exit::Impossible | Exit::Usage | Exit::Wrong | Exit::Code(_), _) => self,
        }
    }
}

impl Exit {
    /// Of a process that a signal ended, as shells have it.
    pub fn of_signal(signal: i32) -> Exit {
        Exit::Code(128 + signal as u8)
    }

    /// Of a run with this code. `signal`: the first that came, if one did.
    pub fn of_run(code: measure::ExitCode, signal: Option<i32>) -> Exit {
        match code {
            measure::ExitCode::Fine => Exit::Ok,
            measure::ExitCode::Impossible => Exit::Impossible,
            measure::ExitCode::Usage => Exit::Usage,
            measure::ExitCode::Failed => Exit::Wrong,
            measure::ExitCode::EndedByHand => signal.map_or(Exit::Code(code.number()), Exit::of_signal),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_answers_outweigh_a_lost_report_and_that_a_good_end() {
        assert_eq!(Exit::Wrong.or_worse(Exit::Impossible), Exit::Wrong);
        assert_eq!(Exit::Impossible.or_worse(Exit::Wrong), Exit::Wrong);
        assert_eq!(Exit::Ok.or_worse(Exit::Impossible), Exit::Impossible);
        assert_eq!(Exit::Code(0).or_worse(Exit::Impossible), Exit::Impossible);
        assert_eq!(Exit::Code(22).or_worse(Exit::Impossible), Exit::Code(22));
        assert_eq!(Exit::Usage.or_worse(Exit::Impossible), Exit::Usage);
    }
}
