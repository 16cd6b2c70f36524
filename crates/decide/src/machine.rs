//! The shape that all step-wise decisions share: a machine says what is to be run next, is told what came of it, and at last says what may be
//! concluded. It is a pure function of its settings and what it was told, so its record is enough to go on after a crash,
//! to look at a decision again, and to have it made by somebody else.

use serde::{Deserialize, Serialize};

/// A decision that is made step by step.
pub trait Machine: Sized {
    /// Aim of the decision, and how long it may take.
    type Settings: Clone + std::fmt::Debug;
    /// Something to be run, with the reason.
    type Ask: Clone + PartialEq + std::fmt::Debug;
    /// Outcome of what was run.
    type Answer: Clone + std::fmt::Debug;
    /// The conclusion.
    type Outcome: Clone + std::fmt::Debug;

    /// Starts from nothing.
    ///
    /// # Errors
    /// Nothing can come of these settings; the text says why, and what to try.
    fn start(settings: &Self::Settings) -> Result<Self, Refusal>;

    /// The next thing to do. It stays the same until the answer is taken in.
    fn next(&self) -> &Next<Self::Ask, Self::Outcome>;

    /// Takes in what came of the last thing that was asked for. After the end nothing is taken in.
    fn take(&mut self, answer: Self::Answer);
}

/// Next thing to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Next<Ask, Outcome> {
    /// Run this, and tell what came of it.
    Run(Ask),
    /// It is decided.
    Done(Outcome),
}

/// Settings from which nothing can come; says why, and what to try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// One step of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DecideStep<Ask, Answer> {
    /// The request for a run.
    pub asked: Ask,
    /// Its outcome.
    pub answer: Answer,
}

/// All that a decision rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Record<Settings, Ask, Answer> {
    /// Aim of the decision.
    pub settings: Settings,
    /// Each step, in order.
    pub steps: Vec<DecideStep<Ask, Answer>>,
}

/// The record of a machine.
pub type RecordOf<M> = Record<<M as Machine>::Settings, <M as Machine>::Ask, <M as Machine>::Answer>;

/// A machine with its record.
#[derive(Debug, Clone)]
pub struct Recorded<M: Machine> {
    machine: M,
    record: RecordOf<M>,
}

/// Why a record cannot be gone on with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// Its settings are refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Step `0` of the record is not what would be asked for.
    #[error(
        "step {0} of the record is not what this version asks for at that point: the record is damaged, or of another version; start anew"
    )]
    Differs(usize),
    /// The record goes on after the decision.
    #[error(
        "the record goes on after step {0}, where the decision was made: it is damaged, or of another version; start anew"
    )]
    TooLong(usize),
}

impl<M: Machine> Recorded<M> {
    /// Starts from nothing.
    ///
    /// # Errors
    /// Nothing can come of these settings.
    pub fn start(settings: M::Settings) -> Result<Recorded<M>, Refusal> {
        Ok(Recorded { machine: M::start(&settings)?, record: Record { settings, steps: Vec::new() } })
    }

    /// Goes on where a record ends, by taking all of its steps again.
    ///
    /// # Errors
    /// The record is not one that this machine would have made.
    pub fn resume(record: RecordOf<M>) -> Result<Recorded<M>, ResumeError> {
        let mut resumed: Recorded<M> = Recorded::start(record.settings)?;
        for (place, step) in record.steps.into_iter().enumerate() {
            match resumed.next() {
                Next::Run(asked) if *asked == step.asked => resumed.take(step.answer),
                Next::Run(_) => return Err(ResumeError::Differs(place + 1)),
                Next::Done(_) => return Err(ResumeError::TooLong(place)),
            }
        }
        Ok(resumed)
    }

    /// The next thing to do.
    pub fn next(&self) -> &Next<M::Ask, M::Outcome> {
        self.machine.next()
    }

    /// Takes in what came of it.
    pub fn take(&mut self, answer: M::Answer) {
        if let Next::Run(asked) = self.machine.next() {
            self.record.steps.push(DecideStep { asked: asked.clone(), answer: answer.clone() });
            self.machine.take(answer);
        }
    }

    /// All that was asked for and told so far; to be saved after each step.
    pub fn record(&self) -> &RecordOf<M> {
        &self.record
    }

    /// The machine itself, which may know more than what is next.
    pub fn machine(&self) -> &M {
        &self.machine
    }
}
