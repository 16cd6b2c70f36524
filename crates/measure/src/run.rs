//! A whole run as data: phases, a timeline, both sides' accounts, and the generator's own state.

use crate::accounts::OriginCounts;
use crate::after_reset::AfterReset;
use crate::censored::Censored;
use crate::counts::Counts;
use crate::event::Evidence;
use crate::machine::Watched;
use crate::rates::Rates;
use crate::self_check::SelfCheck;
use crate::tally::Tally;
use crate::time_metric::TimeMetric;
use serde::{Deserialize, Serialize};
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
    /// Mean service time in µs of all whole answers, false ones included; 0 without any.
    pub mean_us: f64,
}

impl Row {
    /// Share of answers that came from the cache (hits, collapsed and revalidated count as answers; only hits as hits).
    pub fn hit_ratio(&self) -> Option<f64> {
        ratio(self.counts.hits, answered(&self.counts))
    }

    /// Share of answers that cost the origin no body, where it runs here; answers and bodies of one second do not
    /// always belong together, so single rows are rough.
    pub fn origin_offload(&self) -> Option<f64> {
        offload(&self.counts, self.origin.as_ref()?)
    }

    /// Something per second over the row.
    pub fn per_second(&self, count: u64) -> f64 {
        if self.seconds > 0.0 { count as f64 / self.seconds } else { 0.0 }
    }
}

/// Answers of which it is known what the cache did.
pub fn answered(counts: &Counts) -> u64 {
    counts.hits + counts.misses + counts.revalidated + counts.collapsed
}

/// Requests that have ended, whichever way; those without an answer at the end of their part of the run have not.
pub fn finished(counts: &Counts) -> u64 {
    counts.ok + counts.check_failed + counts.injected + counts.aborted + counts.failed
}

/// Bytes of answers that came in, header fields and bodies.
pub fn received_bytes(counts: &Counts) -> u64 {
    counts.head_bytes + counts.body_bytes
}

fn offload(counts: &Counts, origin: &OriginCounts) -> Option<f64> {
    ratio(origin.documents().min(counts.ended), counts.ended).map(|cost| 1.0 - cost)
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

    /// The timeline in about `limit` rows: neighbours of one phase are joined, so each phase may add one row.
    pub fn condensed(&self, limit: usize) -> Vec<Row> {
        let group = self.rows.len().div_ceil(limit.max(1));
        let mut condensed: Vec<Row> = Vec::new();
        let mut joined = 0;
        for row in &self.rows {
            match condensed.last_mut() {
                Some(last) if last.phase == row.phase && joined < group => last.join(row),
                _ => {
                    condensed.push(row.clone());
                    joined = 0;
                }
            }
            joined += 1;
        }
        condensed
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
    pub(crate) fn join(&mut self, next: &Row) {
        self.at_s = next.at_s;
        self.seconds += next.seconds;
        self.mean_us = self.mean_with(next);
        self.counts.merge(&next.counts);
        if let (Some(mine), Some(theirs)) = (&mut self.origin, &next.origin) {
            mine.merge(theirs);
        }
        self.in_flight = next.in_flight;
        self.p50_us = self.p50_us.max(next.p50_us);
        self.p99_us = self.p99_us.max(next.p99_us);
        self.max_us = self.max_us.max(next.max_us);
    }

    /// The mean service time over this row and another.
    fn mean_with(&self, other: &Row) -> f64 {
        let [mine, theirs] = [self, other].map(|row| (row.counts.ok + row.counts.check_failed) as f64);
        let sum = self.mean_us * mine + other.mean_us * theirs;
        if mine + theirs > 0.0 { sum / (mine + theirs) } else { 0.0 }
    }
}

/// The figures of one phase.
#[derive(Debug, Clone)]
pub struct PhaseResult {
    /// Its name.
    pub name: String,
    /// True if it counts as the result.
    pub measured: bool,
    /// When it began, since the start of the run.
    pub began: Duration,
    /// How long it took.
    pub took: Duration,
    /// How long requests could begin, which is the time that rates divide by; nothing: as long as it took.
    pub paced: Duration,
    /// When its last worker was done with it, the time of grace included, since the start of the run.
    pub until: Duration,
    /// All workers' figures.
    pub tally: Tally,
    /// The most requests under way at once, by worker.
    pub peaks: Vec<u64>,
    /// The origin's accounts for the phase, where they are known.
    pub origin: Option<OriginCounts>,
    /// When those end, since the start of the run, where the origin was gone before the phase was over.
    pub origin_until: Option<Duration>,
    /// Hit ratio to be expected, where the plan allows a prediction.
    pub predicted_hit_ratio: Option<f64>,
    /// Outcome, at the origin, of requests that clients broke off; `None`: not known.
    pub after_reset: Option<AfterReset>,
    /// Requests that single workers completed per second, interval by interval.
    pub rates: Rates,
}

impl PhaseResult {
    /// An empty result.
    pub fn new(name: &str, measured: bool) -> PhaseResult {
        PhaseResult {
            name: name.to_owned(),
            measured,
            began: Duration::ZERO,
            took: Duration::ZERO,
            paced: Duration::ZERO,
            until: Duration::ZERO,
            tally: Tally::new(),
            peaks: Vec::new(),
            origin: None,
            origin_until: None,
            predicted_hit_ratio: None,
            after_reset: None,
            rates: Rates::default(),
        }
    }

    /// It began then, and has gone on until then; requests could begin until then.
    pub(crate) fn extend(&mut self, began: Duration, until: Duration, paced_until: Duration) {
        self.began = if self.took.is_zero() { began } else { self.began.min(began) };
        self.until = self.until.max(until);
        self.took = self.took.max(until.saturating_sub(self.began));
        self.paced = self.paced.max(paced_until.saturating_sub(self.began));
    }

    /// Counters of the clients.
    pub fn counts(&self) -> &Counts {
        &self.tally.counts
    }

    /// The time in which requests could begin.
    pub fn paced_time(&self) -> Duration {
        if self.paced.is_zero() { self.took } else { self.paced }
    }

    /// Something per second over the time in which requests could begin.
    pub fn per_second(&self, count: u64) -> f64 {
        let seconds = self.paced_time().as_secs_f64();
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    }

    /// The most requests under way at once, at most: each worker's most, which need not have been at the same moment.
    pub fn peak(&self) -> u64 {
        self.peaks.iter().sum()
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
        offload(self.counts(), self.origin.as_ref().filter(|_| self.origin_until.is_none())?)
    }

    /// Share of the body bytes that clients received and the origin did not send.
    pub fn byte_offload(&self) -> Option<f64> {
        let received = self.counts().body_bytes;
        let origin = self.origin.as_ref().filter(|_| self.origin_until.is_none())?;
        ratio(origin.body_bytes.min(received), received).map(|cost| 1.0 - cost)
    }

    /// CPU time in µs for each answer, of somebody who used `cpu_s` seconds of it in this phase.
    pub fn cpu_us_per_answer(&self, cpu_s: f64) -> Option<f64> {
        let answers = self.counts().ended;
        (answers > 0).then(|| cpu_s * 1e6 / answers as f64)
    }

    /// Requests that needed the origin, for each body it sent: 1 where nothing was shared.
    pub fn collapse_factor(&self) -> Option<f64> {
        let counts = self.counts();
        ratio(counts.misses + counts.collapsed, counts.misses)
    }

    /// Response times of good answers and, as far as they had come, of unfinished requests.
    pub fn response(&self) -> Censored {
        Censored::new(&self.tally.metric(TimeMetric::Response), &self.tally.metric(TimeMetric::Unfinished))
    }

    /// A percentile of a metric in µs; 0 where nothing was recorded.
    pub fn percentile_us(&self, metric: TimeMetric, quantile: f64) -> u64 {
        let histogram = self.tally.metric(metric);
        if histogram.is_empty() { 0 } else { histogram.value_at_quantile(quantile) }
    }
}

/// CPU of one worker.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WorkerUse {
    /// Which worker.
    pub worker: u32,
    /// CPU time in seconds.
    pub cpu_s: f64,
    /// Share of the run's time, 0 to 1.
    pub share: f64,
}

/// The figures of the measured phases that lists of runs show.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Headline {
    /// Requests begun.
    pub requests: u64,
    /// Requests per second.
    pub requests_per_s: f64,
    /// Median of the response time in µs.
    pub p50_us: u64,
    /// 99th percentile of it.
    pub p99_us: u64,
    /// 99.9th percentile of it.
    pub p999_us: u64,
    /// Share of requests without a good answer.
    pub failed_share: f64,
    /// Hit ratio by requests, where known.
    pub hit_ratio: Option<f64>,
    /// Share of answers that cost the origin no body, where known.
    pub offload: Option<f64>,
    /// CPU time of the generator for each request in µs, where known.
    pub cpu_us_per_request: Option<f64>,
}

/// A condition that the figures were held to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Condition that must not be, as it was typed.
    pub condition: String,
    /// The figure: times in µs, shares 0 to 1, rates per second; `None` where it is not known.
    pub value: Option<f64>,
    /// The figure is at least this: it is not known how long unfinished requests would have taken.
    pub at_least: bool,
    /// It is what must not be, or nothing shows that it is not.
    pub violated: bool,
}

/// Everything known of a run when it is over.
#[derive(Debug, Clone, Default)]
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
    /// Evidence of answers that failed a check.
    pub evidence: Vec<Evidence>,
    /// Observations that the generator made of itself.
    pub self_check: SelfCheck,
    /// Resources that watched processes used, the target's among them.
    pub watched: Vec<Watched>,
    /// True if it was interrupted.
    pub interrupted: bool,
    /// The I/O backend that was used.
    pub backend: String,
    /// Thresholds that the figures were held to.
    pub thresholds: Vec<Judged>,
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
            sum.rates.merge(&phase.rates);
            sum.took += phase.took;
            sum.paced += phase.paced;
            sum.until = sum.until.max(phase.until);
            sum.origin_until = sum.origin_until.or(phase.origin_until);
            sum.name = format!("{} + {}", sum.name, phase.name);
            sum.predicted_hit_ratio = None;
            if let (Some(mine), Some(theirs)) = (&mut sum.origin, &phase.origin) {
                mine.merge(theirs);
            }
            if let (Some(mine), Some(theirs)) = (&mut sum.after_reset, &phase.after_reset) {
                mine.merge(theirs);
            }
        }
        sum
    }

    /// The figures that lists of runs show.
    pub fn headline(&self) -> Headline {
        let measured = self.measured();
        let counts = measured.counts();
        Headline {
            requests: counts.requests,
            requests_per_s: measured.per_second(counts.requests),
            p50_us: measured.percentile_us(TimeMetric::Response, 0.5),
            p99_us: measured.percentile_us(TimeMetric::Response, 0.99),
            p999_us: measured.percentile_us(TimeMetric::Response, 0.999),
            failed_share: ratio(counts.failed + counts.check_failed + counts.unfinished, counts.requests)
                .unwrap_or(0.0),
            hit_ratio: measured.hit_ratio(),
            offload: measured.origin_offload(),
            cpu_us_per_request: self.cpu_us_per_request(),
        }
    }

    /// CPU time in µs that the workers used for each request of the run, the origin's work included where it runs here.
    pub fn cpu_us_per_request(&self) -> Option<f64> {
        let cpu_s: f64 = self.workers.iter().map(|worker| worker.cpu_s).sum();
        let requests: u64 = self.phases.iter().map(|phase| phase.counts().requests).sum();
        (requests > 0).then(|| cpu_s * 1e6 / requests as f64)
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
    fn a_condensed_timeline_keeps_phases_apart_and_loses_nothing() {
        let rows = (0..100).map(|n| Row { phase: u32::from(n >= 35), ..row(n as f64, 3) }).collect();
        let condensed = Timeline { rows }.condensed(10);
        assert_eq!(condensed.len(), 4 + 7);
        assert_eq!(condensed.iter().map(|row| row.counts.requests).sum::<u64>(), 300);
        assert_eq!(condensed[3].phase, 0);
        assert_eq!((condensed[3].seconds, condensed[4].seconds), (5.0, 10.0));
        assert!(Timeline::default().condensed(0).is_empty());
    }

    #[test]
    fn rows_that_are_joined_have_the_mean_of_all_their_answers() {
        let answered = |mean_us, ok, check_failed| Row {
            mean_us,
            counts: Counts { ok, check_failed, ..Counts::default() },
            ..Row::default()
        };
        let mut row = answered(100.0, 2, 1);
        row.join(&answered(500.0, 1, 0));
        assert_eq!(row.mean_us, 200.0);
        let mut nothing = Row::default();
        nothing.join(&Row::default());
        assert_eq!(nothing.mean_us, 0.0);
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
