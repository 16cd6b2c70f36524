//! Why a run could not start or finish, and which exit code that is: the one table.

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
    /// A rig did not start or went away.
    #[error("{0}")]
    Rig(#[from] proxies::rig::RigError),
}

impl From<session::Problem> for Problem {
    fn from(problem: session::Problem) -> Problem {
        match problem {
            session::Problem::Usage(text) => Problem::Usage(text),
            session::Problem::Impossible(text) => Problem::Impossible(text),
        }
    }
}

impl From<proxies::recorder::RecorderError> for Problem {
    fn from(error: proxies::recorder::RecorderError) -> Problem {
        match error {
            proxies::recorder::RecorderError::Usage(text) => Problem::Usage(text),
            proxies::recorder::RecorderError::Impossible(text) => Problem::Impossible(text),
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
            Problem::Impossible(_) | Problem::Rig(_) => Exit::Impossible,
            Problem::Words { exit, .. } => Exit::Code(ExitCode::from(*exit)),
        }
    }
}

/// How the process ends.
#[derive(Debug)]
pub enum Exit {
    /// 0: all went well.
    Ok,
    /// 1: the run could not start or finish, or not one answer was good.
    Impossible,
    /// 2: the command line or the plan cannot be meant.
    Usage,
    /// 3: it ran, but answers were wrong.
    Wrong,
    /// A door's or a helper's own code.
    Code(ExitCode),
}

impl Exit {
    /// The code as a number; of [`Exit::Code`], which does not tell it, 0 or 1.
    pub fn number(&self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Impossible => 1,
            Exit::Usage => 2,
            Exit::Wrong => 3,
            Exit::Code(code) => u8::from(*code != ExitCode::SUCCESS),
        }
    }

    /// The worse of two ends: that answers were wrong is not hidden by a report that could not be written, and that is not
    /// hidden by a good end.
    #[must_use]
    pub fn or_worse(self, other: Exit) -> Exit {
        match (&self, &other) {
            (Exit::Ok, _) => other,
            (Exit::Code(code), _) if *code == ExitCode::SUCCESS => other,
            (Exit::Impossible, Exit::Wrong) => other,
            _ => self,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        match exit {
            Exit::Ok => ExitCode::SUCCESS,
            Exit::Impossible => ExitCode::from(1),
            Exit::Usage => ExitCode::from(2),
            Exit::Wrong => ExitCode::from(3),
            Exit::Code(code) => code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_answers_outweigh_a_lost_report_and_that_a_good_end() {
        let code = |one: Exit, other: Exit| format!("{:?}", one.or_worse(other));
        assert_eq!(code(Exit::Wrong, Exit::Impossible), "Wrong");
        assert_eq!(code(Exit::Impossible, Exit::Wrong), "Wrong");
        assert_eq!(code(Exit::Ok, Exit::Impossible), "Impossible");
        assert_eq!(code(Exit::Code(ExitCode::SUCCESS), Exit::Impossible), "Impossible");
        assert_eq!(
            code(Exit::Code(ExitCode::from(22)), Exit::Impossible),
            format!("{:?}", Exit::Code(22.into()))
        );
        assert_eq!(code(Exit::Usage, Exit::Impossible), "Usage");
    }
}
