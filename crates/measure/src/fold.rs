//! The result of a run as a fold over its records: while it goes on, when it is over, and when it is read back.

use crate::accounts::OriginCounts;
use crate::buckets::{Buckets, Digits};
use crate::event::{LostRequest, TracedRequest};
use crate::labels::Label;
use crate::notes;
use crate::processes::{Happened, TargetProcesses};
use crate::request_times::RequestDistributions;
use crate::run::{PhaseResult, RunResult};
use crate::self_check::SelfCheck;
use crate::stream::{Command, Controlled, Head, MeasureEnd, Minute, PhaseEnd, RunEvent, Second};
use crate::time_metric::TimeMetrics;
use crate::timeline::Timeline;
use std::collections::BTreeMap;
use std::time::Duration;

/// All that is known of a run from its records so far.
#[derive(Debug, Clone, Default)]
pub struct RunState {
    head: Head,
    phases: Vec<PhaseState>,
    timeline: Timeline,
    until: Duration,
    evidence: Vec<crate::Evidence>,
    lost: Vec<LostRequest>,
    slowest: Vec<TracedRequest>,
    notes: Vec<String>,
    processes: Vec<Happened>,
    end: Option<MeasureEnd>,
}

/// State of a phase, as far as it is known.
#[derive(Debug, Clone)]
struct PhaseState {
    sum: PhaseResult,
    /// Times since its last minute, in two digits.
    since_minute: TimeMetrics,
    /// Response times by label since its last minute.
    labels_since_minute: BTreeMap<u16, Buckets>,
    /// The sum of its seconds.
    origin: Option<OriginCounts>,
}

impl RunState {
    /// Takes the next record.
    pub fn apply(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Head(head) => self.begin(head),
            RunEvent::Second(second) => self.second(second),
            RunEvent::Minute(minute) => self.minute(minute),
            RunEvent::Evidence(found) => self.evidence.push(found.evidence.clone()),
            RunEvent::Lost(lost) => self.lost.push(lost.clone()),
            RunEvent::Traced(traced) => self.traced(traced),
            RunEvent::Note(note) => self.notes.push(note.text.clone()),
            RunEvent::End(end) => self.end = Some((**end).clone()),
            RunEvent::Control(control) => self.control(control),
            RunEvent::Process(happened) => self.processes.push((**happened).clone()),
            RunEvent::Phase(_) | RunEvent::Exchanges(_) | RunEvent::Unknown => {}
        }
    }

    /// The run's first record; empty before it came.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The run's last record; `None`: it goes on, or ended without a word.
    pub fn end(&self) -> Option<&MeasureEnd> {
        self.end.as_ref()
    }

    /// How far the records reach.
    pub fn until(&self) -> Duration {
        self.until
    }

    fn control(&mut self, control: &Controlled) {
        if let Some(Command::Label { name, value }) = &control.command {
            self.head.labels.insert(name.clone(), value.clone());
        }
        self.notes.extend(control.sentence());
    }

    /// Takes a request in its place among the slowest, where it is one of them.
    fn traced(&mut self, traced: &TracedRequest) {
        let at = self.slowest.partition_point(|other| other.response >= traced.response);
        self.slowest.insert(at, traced.clone());
        self.slowest.truncate(TracedRequest::SLOWEST);
    }

    fn begin(&mut self, head: &Head) {
        self.head = head.clone();
        self.timeline = Timeline::new(head.interval);
        let phases = head
            .phases
            .iter()
            .map(|phase| PhaseResult { open: phase.open, ..PhaseResult::new(&phase.name, phase.measured) });
        self.phases = phases.map(PhaseState::new).collect();
    }

    fn second(&mut self, second: &Second) {
        self.until = self.until.max(second.at);
        if second.late {
            self.timeline.add_late(second.row());
        } else {
            self.timeline.push(second.row());
        }
        let Some(phase) = self.phases.get_mut(second.phase as usize) else { return };
        second.clients.add_counts_to(&mut phase.sum.tally);
        for label in &second.clients.labels {
            phase.labels_since_minute.entry(label.label).or_default().merge(&label.response);
        }
        phase.sum.extend(second.began, second.at, second.paced_until);
        for (metric, buckets) in &second.metrics {
            phase.since_minute.entry(*metric).or_default().merge(buckets);
        }
        if let Some(counts) = &second.origin {
            phase.origin.get_or_insert_default().merge(counts);
        }
    }

    fn minute(&mut self, minute: &Minute) {
        let Some(phase) = self.phases.get_mut(minute.phase as usize) else { return };
        phase.since_minute.clear();
        phase.sum.tally.add_metrics(&minute.metrics, Digits::Three);
        // Minutes of version 1.1 do not tell them.
        if !minute.labels.is_empty() {
            phase.labels_since_minute.clone_from(&minute.labels);
        }
        phase.take_labels_in();
        if let Some(distributions) = &minute.distributions {
            phase.sum.tally.add_distributions(&RequestDistributions::of_kept(distributions));
        }
        phase.sum.rates.add_kept(&minute.rates);
        let peaks = &mut phase.sum.peaks;
        peaks.resize(peaks.len().max(minute.peaks.len()), 0);
        peaks.iter_mut().zip(&minute.peaks).for_each(|(mine, seen)| *mine = (*mine).max(*seen));
    }

    /// The result as far as it is known. Times since the last minute are in two digits.
    pub fn result(&self) -> RunResult {
        let mut result = self.so_far();
        result.notes.extend(self.cut());
        result
    }

    /// The result of a run that goes on: that its last record has not come says nothing.
    pub fn so_far(&self) -> RunResult {
        let none = MeasureEnd {
            interrupted: true,
            took: self.until,
            backend: "unknown".to_owned(),
            ..MeasureEnd::default()
        };
        let end = self.end.as_ref().unwrap_or(&none);
        let ends = end.phases.iter().map(Some).chain(std::iter::repeat(None));
        let mut timeline = self.timeline.clone();
        timeline.mark(&end.agents);
        RunResult {
            phases: self.phases.iter().zip(ends).map(|(phase, end)| phase.result(end)).collect(),
            timeline,
            took: end.took,
            workers: end.workers.clone(),
            origin: end.origin,
            evidence: self.evidence.clone(),
            lost: self.lost.clone(),
            slowest: self.slowest.clone(),
            dead: end.dead.clone(),
            tolerated: self.head.tolerated,
            self_check: if self.end.is_some() { end.self_check.clone() } else { self.self_check() },
            watched: end.watched.clone(),
            processes: TargetProcesses {
                before: self.head.behind.clone(),
                during: self.processes.clone(),
                after: end.behind.clone(),
            },
            interrupted: end.interrupted,
            backend: end.backend.clone(),
            agents: end.agents.clone(),
            origins: end.origins.clone(),
            thresholds: end.thresholds.clone(),
            notes: self.notes.clone(),
        }
    }

    /// Says of a run without a last record how far it is known.
    fn cut(&self) -> Option<String> {
        let until = self.until.as_secs_f64();
        self.end.is_none().then(|| notes::CUT_OFF.with(&[&format!("{until:.1}")]))
    }

    /// Returns what can be said of the generator before it has told itself.
    fn self_check(&self) -> SelfCheck {
        let measured = self.phases.iter().filter(|phase| phase.sum.measured);
        let sum =
            |count: fn(&crate::Counts) -> u64| measured.clone().map(|phase| count(phase.sum.counts())).sum();
        SelfCheck {
            requests: sum(|counts| counts.requests),
            overflow: sum(|counts| counts.overflow),
            ..SelfCheck::default()
        }
    }
}

impl PhaseState {
    fn new(sum: PhaseResult) -> PhaseState {
        PhaseState { sum, since_minute: BTreeMap::new(), labels_since_minute: BTreeMap::new(), origin: None }
    }

    fn take_labels_in(&mut self) {
        for (label, response) in std::mem::take(&mut self.labels_since_minute) {
            self.sum.tally.labels.add_times(Label(label), &response);
        }
    }

    fn result(&self, end: Option<&PhaseEnd>) -> PhaseResult {
        let mut result = self.sum.clone();
        result.tally.add_metrics(&self.since_minute, Digits::Two);
        for (label, response) in &self.labels_since_minute {
            result.tally.labels.add_times(Label(*label), response);
        }
        result.origin = self.origin;
        if let Some(end) = end {
            result.origin = end.origin;
            result.origin_until = end.origin_until;
            result.due_until = end.due_until.unwrap_or(result.due_until);
            result.predicted_hit_ratio = end.predicted_hit_ratio;
            result.after_reset.clone_from(&end.after_reset);
        }
        result
    }
}
