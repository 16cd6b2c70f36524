//! Commands to a run while it goes on: done at one instant for all workers, recorded, and told.

use super::Session;
use crate::steer::Asked;
use load::RateChange;
use measure::RunEvent;
use measure::stream::{Command, Controlled};
use plan::{Curve, Phase};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A new rate holds so long after it was asked for: by then every worker has looked up, which they do fifty times a second.
const AHEAD: Duration = Duration::from_millis(100);

/// Rates that were changed, by phase.
#[derive(Debug, Default)]
pub struct Rates(BTreeMap<u32, Curve>);

impl Rates {
    /// The curve of a phase, where it was changed.
    pub fn of(&self, phase: u32) -> Option<&Curve> {
        self.0.get(&phase)
    }
}

impl Session<'_, '_> {
    /// Does what was asked for.
    pub(super) fn obey(&mut self) {
        let Some(steering) = self.steering.clone() else { return };
        while let Some(Asked { by, command, answer }) = steering.next() {
            tracing::info!(by, ?command, "a change is asked for");
            let done = match command {
                Command::Rate { per_second, .. } => self.change_rate(per_second),
                Command::Stop => {
                    self.ended_by_signal = true;
                    self.workers.control.stop();
                    Ok((self.now(), Command::Stop))
                }
                told @ (Command::Mark { .. } | Command::Label { .. }) => Ok((self.now(), told)),
            };
            let told = done.map(|(at, command)| {
                let control = Controlled { at, by: by.to_owned(), command: Some(command) };
                control.sentence().iter().for_each(|text| self.outlets.warn(text));
                self.record(RunEvent::Control(control));
                at
            });
            // Whoever asked may have gone.
            let _ = answer.send(told);
        }
    }

    /// Time since the load began.
    fn now(&self) -> Duration {
        let started = self.workers.control.started();
        started.map_or(Duration::ZERO, |started| started.elapsed())
    }

    /// Changes the rate of the phase under way.
    fn change_rate(&mut self, per_second: f64) -> Result<(Duration, Command), String> {
        let control = self.workers.control.clone();
        let now = Instant::now();
        let phases = self.plan.load.as_ref().map_or(&[][..], |load| &load.phases);
        let opened = |(index, _): &(usize, &Phase)| control.opens(*index).is_some_and(|opens| opens <= now);
        let under_way = phases.iter().enumerate().rev().find(opened).zip(control.started());
        let ((index, phase), started) = under_way.ok_or("no phase has begun yet")?;
        if !phase.groups.is_empty() {
            return Err(format!(
                "the phase {} has groups with a pace each: their rates cannot be changed",
                phase.name
            ));
        }
        let open = phase.pace.open().filter(|open| !open.connections && open.moments.is_none()).ok_or_else(|| {
            format!(
                "the phase {} has no rate of requests that could be changed: its users send when their last answer has come, or its moments are recorded",
                phase.name
            )
        })?;
        let from = now + AHEAD;
        let since = from.saturating_duration_since(control.opens(index).unwrap_or(now));
        control.change_rate(RateChange { phase: index, at: since, per_second });
        // Phases are few.
        let index = index as u32;
        let curve = self.rates.0.entry(index).or_insert(open.curve);
        *curve = curve.changed(since.as_secs_f64(), per_second);
        Ok((from.saturating_duration_since(started), Command::Rate { per_second, phase: index, since }))
    }
}
