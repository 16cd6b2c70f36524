//! Rows of a run: what is known of them beside the workers' figures, and those that some agent is late to tell.

use super::Session;
use measure::{Collector, Second};
use std::time::Duration;

impl Session<'_, '_> {
    /// Adds the figures of a second that the collector cannot know.
    pub(super) fn add_what_is_known(&self, second: &mut Second) {
        let missing = std::mem::take(&mut second.missing);
        let took = if second.late { self.around.interval_length() } else { second.took };
        let began = second.at.saturating_sub(took);
        let crew = self.workers.crew();
        second.agents = crew.and_then(|crew| crew.reporting(&missing, began, second.at));
        if second.late {
            return;
        }
        let phases = self.plan.load.as_ref().map(|load| &load.phases);
        let phase = phases.and_then(|phases| phases.get(second.phase as usize));
        let ends = second.at.saturating_sub(second.began);
        let [begins, ends] = [ends.saturating_sub(second.took), ends].map(|time| time.as_secs_f64());
        second.asked_per_s = phase.and_then(|phase| {
            let planned = || Some(phase.pace.open()?.curve);
            let curve = self.rates.of(second.phase).cloned().or_else(planned)?;
            let due = curve.arrivals_by(ends) - curve.arrivals_by(begins);
            (ends > begins).then(|| due / (ends - begins))
        });
        second.bound.extend(self.sampler.bound());
        second.machine = Some(self.sampler.now());
    }

    /// Tells rows for which some agent is late. Workers of this process are waited for: a stop of theirs is one of the load.
    pub(super) fn tell_overdue(&mut self, collector: &mut Collector, now: Duration) {
        if self.workers.crew().is_some() {
            let origin = self.origin_now();
            collector.tell_overdue(now, origin).into_iter().for_each(|event| self.record(event));
        }
    }
}
