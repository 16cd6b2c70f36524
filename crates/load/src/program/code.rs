//! Programs of a journey, locks, and what both ask of a walk.

use super::{Around, Open, Position, Program, ProgramText};
use crate::answer::{After, AnswerView};
use crate::code::{Ran, Sample};
use crate::control::LockHeld;
use crate::request::{RequestNamed, Values};
use measure::Label;
use plan::Flow;
use std::time::{Duration, Instant};

/// Program text, made ready.
pub(crate) struct CodeWork {
    pub(super) program: usize,
    pub(super) parameters: ProgramText,
    pub(super) into: Option<usize>,
    /// It is timed and counted under this label.
    pub sample: Option<Label>,
    /// The same, as the plan has it.
    pub name: String,
    pub(super) title: Option<ProgramText>,
    pub(super) after: Option<After>,
}

impl Program {
    /// The user holds a lock, up to the end of what it stands around.
    pub fn hold(&self, lock: LockHeld, position: &mut Position, now: Instant) {
        position.open.push(Open {
            label: Label(u16::MAX),
            title: None,
            parent: false,
            began: now,
            pauses: true,
            paused: Duration::ZERO,
            good: true,
            lock: Some(lock),
        });
    }

    /// The walk goes on where a program has asked for it.
    pub fn lead(&self, flow: Flow, position: &mut Position) {
        self.flow(flow, position.at.saturating_sub(1), position);
    }

    /// Names with their slots, where the plan has them.
    pub fn placed(&self, names: &[String]) -> Vec<(String, Option<usize>)> {
        names.iter().map(|name| (name.clone(), self.names.slot(name))).collect()
    }

    /// Runs a program; the sample is what it makes, where it is one.
    pub fn run(
        &self,
        work: &CodeWork,
        around: &Around,
        position: &Position,
        values: &mut Values,
        own: Option<&mut Sample>,
    ) -> Ran {
        let parameters = work.parameters.text(around, values, position);
        let Values { slots, code, .. } = values;
        let Some(code) = code.as_mut() else { return Ran::default() };
        let mut variables = RequestNamed { slots, names: &self.names };
        let ran = code.run(work.program, &mut variables, own, &parameters);
        if let Some(into) = work.into {
            slots.set(into, ran.value.as_deref().unwrap_or_default());
        }
        ran
    }

    /// The label in records of what a program makes.
    pub fn title(
        &self,
        work: &CodeWork,
        around: &Around,
        position: &Position,
        values: &mut Values,
    ) -> Option<String> {
        work.title.as_ref().map(|title| title.text(around, values, position))
    }

    /// Does what is to be done with the result of a program; what is wrong with it.
    pub fn after(&self, work: &CodeWork, took: Duration, values: &mut Values) -> Option<String> {
        let after = work.after.as_ref()?;
        let sample = values.code.as_ref()?.last.clone()?;
        let body = sample.body.unwrap_or_default();
        let view = AnswerView { status: Some(sample.code.as_bytes()), body: &body, ..AnswerView::default() };
        after.run(&view, took, values).map(|(_, how)| how)
    }
}
