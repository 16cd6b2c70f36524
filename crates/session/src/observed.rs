//! Observations that come to the notes of a run when it is over.

use super::{Session, after};
use measure::{Counts, OriginCounts, PhaseResult, notes};
use plan::site::NONCE_FIELD;
use std::sync::PoisonError;

impl Session<'_, '_> {
    /// Returns the observations that a reader should know to make sense of the figures.
    pub(super) fn observations(&self, origin: Option<&OriginCounts>) -> Vec<String> {
        let phases = self.outlets.state().result().phases;
        let mut notes = Vec::new();
        let requests: u64 = phases.iter().map(|phase| phase.counts().requests).sum();
        let bad = phases.iter().flat_map(|phase| phase.tally.statuses()).filter(|(status, _)| *status >= 500);
        let bad: u64 = bad.map(|(_, count)| count).sum();
        let asked = origin.map(|origin| origin.requests);
        notes.extend(
            self.plan
                .origin_as_reached()
                .and_then(|behind| after::never_asked(asked?, requests, bad, behind)),
        );
        notes.extend(
            self.workers
                .control
                .all_passed_over()
                .iter()
                .map(|(address, one)| notes::PASSED_OVER.with(&[address, &one.times, &one.why.text()])),
        );
        notes.extend(self.ran_out(&phases));
        let unattributed: u64 = phases.iter().map(|phase| phase.counts().unattributed).sum();
        if unattributed > 0 {
            notes.push(notes::UNATTRIBUTED.with(&[&NONCE_FIELD, &unattributed]));
        }
        let mut counts = Counts::default();
        phases.iter().for_each(|phase| counts.merge(phase.counts()));
        notes.extend(self.of_the_cache(&counts));
        notes.append(&mut self.around.later.lock().unwrap_or_else(PoisonError::into_inner));
        let canaries = self.plan.load.as_ref().is_some_and(|load| load.check.canaries);
        if let Some(origin) = origin.filter(|_| canaries) {
            let resent = phases.iter().map(|phase| phase.counts().resent).sum();
            notes.extend(after::split(origin, resent));
        }
        notes
    }

    /// Phases that ended by themselves before their number of requests.
    fn ran_out(&self, phases: &[PhaseResult]) -> Vec<String> {
        let planned = self.plan.load.iter().flat_map(|load| &load.phases);
        let early = planned.zip(phases).filter_map(|(planned, phase)| {
            let stop = &planned.stop;
            let has_other_end = stop.failures.or(stop.unconnected).or(stop.turns_per_user).is_some();
            let wanted = stop.requests.filter(|_| !has_other_end)?;
            let sent = phase.counts().requests;
            let in_time = stop.after.is_none_or(|after| phase.took < after);
            (sent > 0 && sent < wanted && in_time).then(|| notes::RAN_OUT.with(&[&sent, &wanted]))
        });
        let died = self.outlets.state().result().processes.died().is_some();
        if self.ended_by_signal || self.met.is_some() || died { Vec::new() } else { early.collect() }
    }

    /// Observations on what a cache said, kept, forgot and cost.
    fn of_the_cache(&self, counts: &Counts) -> Vec<String> {
        let commanded = self.plan.purge_commands().next().is_some();
        let mut notes = after::of_answers(counts, self.plan.origin.as_ref(), commanded);
        notes.extend(self.workers.purges());
        let seen = self.workers.control.all_seen();
        notes.extend(after::of_purges(&self.plan.site, &seen.late));
        notes.extend(after::of_fetches(&seen.fetches));
        let undisturbed = self.cpu.found().reasons().is_empty();
        notes.extend(after::of_time(&self.outlets.state().result(), self.watch.course(), undisturbed));
        notes
    }
}
