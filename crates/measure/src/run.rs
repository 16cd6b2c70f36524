//! A whole run as data: phases, a timeline, both sides' accounts, and the generator's own state.

use crate::accounts::OriginCounts;
use crate::event::Evidence;
use crate::tally::{Clock, Counts, Snapshot, Tally};
use crate::verdict::SelfCheck;
use serde::Serialize;
use std::time::Duration;

/// One second of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Row {
    /// Seconds since the start of the run at which the row ends.
    pub at_s: f64,
    /// How long the row covers, in seconds.
    pub seconds: f64,
    /// Index of the phase.
    pub phase: u32,
    /// The clients' counters within the row.
    pub counts: Counts,
    /// The origin's counters within the row, where it runs here.
    pub origin: Option<OriginCounts>,
    /// Requests under way at the end.
    pub in_flight: u64,
    /// Median service time in µs.
    pub p50_us: u64,
    /// 99th percentile of the service time in µs.
    pub p99_us: u64,
    /// Longest service time in µs.
    pub max_us: u64,
}

impl Row {
    /// Share of answers that came from the cache (hits, collapsed and revalidated count as answers; only hits as hits).
    pub fn hit_ratio(&self) -> Option<f64> {
        ratio(self.counts.hits, answered(&self.counts))
    }
}

/// Answers of which it is known what the cache did.
pub fn answered(counts: &Counts) -> u64 {
    counts.hits + counts.misses + counts.revalidated + counts.collapsed
}

/// `part` of `whole`, where there is a whole.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Rows of a run, bounded: when there are too many, each two neighbours become one.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Timeline {
    /// The rows, oldest first.
    pub rows: Vec<Row>,
}

impl Timeline {
    /// Rows kept at most.
    pub const LIMIT: usize = 7_200;

    /// Adds a row.
    pub fn push(&mut self, row: Row) {
        if self.rows.len() == Self::LIMIT {
            self.halve();
        }
        self.rows.push(row);
    }

    fn halve(&mut self) {
        let old = std::mem::take(&mut self.rows);
        let mut rows = old.into_iter().peekable();
        while let Some(mut row) = rows.next() {
            if let Some(next) = rows.next_if(|next| next.phase == row.phase) {
                row.join(&next);
            }
            self.rows.push(row);
        }
    }
}

impl Row {
    /// Extends this row by the one after it. Percentiles become the worse of both, as rows hold no histograms.
    fn join(&mut self, next: &Row) {
        self.at_s = next.at_s;
        self.seconds += next.seconds;
        self.counts.merge(&next.counts);
        if let (Some(mine), Some(theirs)) = (&mut self.origin, &next.origin) {
            mine.merge(theirs);
        }
        self.in_flight = next.in_flight;
        self.p50_us = self.p50_us.max(next.p50_us);
        self.p99_us = self.p99_us.max(next.p99_us);
        self.max_us = self.max_us.max(next.max_us);
    }
}

/// The figures of one phase.
#[derive(Debug, Clone)]
pub struct PhaseResult {
    /// Its name.
    pub name: String,
    /// Whether it counts as the result.
    pub measured: bool,
    /// When it began, since the start of the run.
    pub began: Duration,
    /// How long it took.
    pub took: Duration,
    /// All workers' figures.
    pub tally: Tally,
    /// The origin's accounts for the phase, where they are known.
    pub origin: Option<OriginCounts>,
    /// Hit ratio to be expected, where the plan allows a prediction.
    pub predicted_hit_ratio: Option<f64>,
}

impl PhaseResult {
    /// An empty result.
    pub fn new(name: &str, measured: bool) -> PhaseResult {
        PhaseResult {
            name: name.to_owned(),
            measured,
            began: Duration::ZERO,
            took: Duration::ZERO,
            tally: Tally::new(),
            origin: None,
            predicted_hit_ratio: None,
        }
    }

    /// Adds a worker's snapshot.
    pub fn add(&mut self, snapshot: &Snapshot) {
        self.tally.merge(&snapshot.tally);
        self.began = if self.took.is_zero() { snapshot.span.0 } else { self.began.min(snapshot.span.0) };
        self.took = self.took.max(snapshot.span.1.saturating_sub(self.began));
    }

    /// Counters of the clients.
    pub fn counts(&self) -> &Counts {
        &self.tally.counts
    }

    /// Something per second over the phase.
    pub fn per_second(&self, count: u64) -> f64 {
        let seconds = self.took.as_secs_f64();
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    }

    /// Hit ratio by requests as the clients saw it from the stamps.
    pub fn hit_ratio(&self) -> Option<f64> {
        ratio(self.counts().hits, answered(self.counts()))
    }

    /// Hit ratio by bytes as the clients saw it.
    pub fn byte_hit_ratio(&self) -> Option<f64> {
        let counts = self.counts();
        let all = counts.hit_bytes + counts.miss_bytes + counts.revalidated_bytes + counts.collapsed_bytes;
        ratio(counts.hit_bytes, all)
    }

    /// Share of the clients' answered requests that cost the origin no body: from both sides' accounts.
    pub fn origin_offload(&self) -> Option<f64> {
        let origin = self.origin.as_ref()?;
        let answered = self.counts().ended;
        let bodies = origin.full + origin.partial;
        (answered > 0).then(|| 1.0 - (bodies as f64 / answered as f64).min(1.0))
    }

    /// Requests that needed the origin, for each body it sent: 1 where nothing was shared.
    pub fn collapse_factor(&self) -> Option<f64> {
        let counts = self.counts();
        ratio(counts.misses + counts.collapsed, counts.misses)
    }

    /// A percentile of a clock in µs; 0 where nothing was recorded.
    pub fn percentile_us(&self, clock: Clock, quantile: f64) -> u64 {
        let histogram = self.tally.clock(clock);
        if histogram.is_empty() { 0 } else { histogram.value_at_quantile(quantile) }
    }
}

/// CPU of one worker.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WorkerUse {
    /// Which worker.
    pub worker: u32,
    /// CPU time in seconds.
    pub cpu_s: f64,
    /// Share of the run's time, 0 to 1.
    pub share: f64,
}

/// Everything known of a run when it is over.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// Results by phase, in the order of the plan.
    pub phases: Vec<PhaseResult>,
    /// Second by second.
    pub timeline: Timeline,
    /// How long the whole run took.
    pub took: Duration,
    /// CPU of each worker.
    pub workers: Vec<WorkerUse>,
    /// The origin's accounts over the whole run.
    pub origin: Option<OriginCounts>,
    /// Faulty answers that were kept.
    pub evidence: Vec<Evidence>,
    /// What the generator observed of itself.
    pub self_check: SelfCheck,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The I/O backend that was used.
    pub backend: &'static str,
    /// Sentences for the reader: falls-back, mismatches, and what could not be had.
    pub notes: Vec<String>,
}

impl RunResult {
    /// The phases that count, as one.
    pub fn measured(&self) -> PhaseResult {
        let mut phases = self.phases.iter().filter(|phase| phase.measured);
        let Some(first) = phases.next() else { return PhaseResult::new("nothing", true) };
        let mut sum = first.clone();
        for phase in phases {
            sum.tally.merge(&phase.tally);
            sum.took += phase.took;
            sum.name = format!("{} + {}", sum.name, phase.name);
            sum.predicted_hit_ratio = None;
            if let (Some(mine), Some(theirs)) = (&mut sum.origin, &phase.origin) {
                mine.merge(theirs);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at_s: f64, requests: u64) -> Row {
        Row { at_s, seconds: 1.0, counts: Counts { requests, ..Counts::default() }, ..Row::default() }
    }

    #[test]
    fn a_long_timeline_stays_bounded_and_loses_nothing() {
        let mut timeline = Timeline::default();
        let total = Timeline::LIMIT * 3;
        (0..total).for_each(|second| timeline.push(row(second as f64, 2)));
        assert!(timeline.rows.len() <= Timeline::LIMIT);
        let requests: u64 = timeline.rows.iter().map(|row| row.counts.requests).sum();
        let seconds: f64 = timeline.rows.iter().map(|row| row.seconds).sum();
        assert_eq!((requests, seconds), (2 * total as u64, total as f64));
        assert!(timeline.rows.windows(2).all(|pair| pair[0].at_s < pair[1].at_s));
    }

    #[test]
    fn ratios_need_a_whole() {
        let mut phase = PhaseResult::new("measure", true);
        assert_eq!((phase.hit_ratio(), phase.byte_hit_ratio(), phase.collapse_factor()), (None, None, None));
        phase.tally.counts = Counts { hits: 6, misses: 2, collapsed: 2, ended: 10, ..Counts::default() };
        phase.origin = Some(OriginCounts { full: 2, ..OriginCounts::default() });
        assert_eq!(phase.hit_ratio(), Some(0.6));
        assert_eq!(phase.collapse_factor(), Some(2.0));
        assert_eq!(phase.origin_offload(), Some(0.8));
    }
}
