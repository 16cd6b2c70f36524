//! A whole run as data: phases, a timeline, both sides' accounts, and the generator's own state.

use crate::accounts::OriginCounts;
use crate::after_reset::AfterReset;
use crate::agents::{AgentUse, OriginUse};
use crate::censored::Censored;
use crate::counts::Counts;
use crate::event::{Evidence, LostRequest, TracedRequest};
use crate::judged::{Judged, JudgedNames};
use crate::machine::Watched;
use crate::processes::TargetProcesses;
use crate::rates::Rates;
use crate::self_check::SelfCheck;
use crate::shares::{answered, offload, ratio, unjudged};
use crate::stored::{self, DeadObjects, Decay, Storing};
use crate::tally::Tally;
use crate::time_metric::TimeMetric;
use crate::timeline::{Row, Timeline, unless_zero, zero_if_null};
use serde::{Deserialize, Serialize};
use std::time::Duration;

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
    /// Until when requests were due, since the start of the run: until then a target that says nothing is silent. What comes
    /// after waits for answers only.
    pub due_until: Duration,
    /// The pace is open: requests are due whether or not earlier ones have ended.
    pub open: bool,
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
            due_until: Duration::ZERO,
            open: false,
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
        self.due_until = self.due_until.max(paced_until);
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

    /// Requests that should have told what the cache did, and did not: they got no answer, or none that the origin has made.
    pub fn unjudged(&self) -> u64 {
        unjudged(self.counts())
    }

    /// Hit ratio by requests if none of those that could not be judged had been a hit.
    pub fn least_hit_ratio(&self) -> Option<f64> {
        let counts = self.counts();
        self.hit_ratio()?;
        ratio(counts.hits, answered(counts) + unjudged(counts))
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Headline {
    /// Requests begun.
    pub requests: u64,
    /// Requests per second.
    pub requests_per_s: f64,
    /// Median of the response time in µs; `null`: nothing was timed.
    #[serde(serialize_with = "unless_zero", deserialize_with = "zero_if_null")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub p50_us: u64,
    /// 99th percentile of it.
    #[serde(serialize_with = "unless_zero", deserialize_with = "zero_if_null")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub p99_us: u64,
    /// 99.9th percentile of it.
    #[serde(serialize_with = "unless_zero", deserialize_with = "zero_if_null")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub p999_us: u64,
    /// Percentiles from here on are what they are at least, since requests were unfinished; `None`: there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_from_us: Option<u64>,
    /// Share of requests without a good answer.
    pub failed_share: f64,
    /// Hit ratio by requests, where known.
    pub hit_ratio: Option<f64>,
    /// Share of answers that cost the origin no body, where known.
    pub offload: Option<f64>,
    /// CPU time of the generator for each request in µs, where known.
    pub cpu_us_per_request: Option<f64>,
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
    /// The first requests that no answer came to.
    pub lost: Vec<LostRequest>,
    /// The slowest requests of the measured phases that carried a trace context, the slowest first; at most
    /// [`TracedRequest::SLOWEST`].
    pub slowest: Vec<TracedRequest>,
    /// Objects that the cache did not serve although it was given them.
    pub dead: Option<DeadObjects>,
    /// Share of requests whose answers may fail a check before the target counts as failed.
    pub tolerated: f64,
    /// Observations that the generator made of itself.
    pub self_check: SelfCheck,
    /// Resources that watched processes used, the target's among them.
    pub watched: Vec<Watched>,
    /// Who answered at the target's addresses, and what happened to these processes.
    pub processes: TargetProcesses,
    /// True if it was interrupted.
    pub interrupted: bool,
    /// The I/O backend that was used.
    pub backend: String,
    /// The machines that made it, where they were several.
    pub agents: Vec<AgentUse>,
    /// The origins that agents served.
    pub origins: Vec<OriginUse>,
    /// Conditions that the figures were held to.
    pub thresholds: Vec<Judged>,
    /// Sentences for the reader: falls-back, mismatches, and what could not be had.
    pub notes: Vec<String>,
}

impl RunResult {
    /// Unfinished requests of a phase that were under way at an agent when that was lost: nobody knows what became of them.
    pub fn untold(&self, phase: &PhaseResult) -> u64 {
        let told = phase.tally.times_of(TimeMetric::Unfinished).count();
        if self.has_losses() { phase.counts().unfinished.saturating_sub(told) } else { 0 }
    }

    /// True if an agent or an origin was lost.
    pub fn has_losses(&self) -> bool {
        let agents = self.agents.iter().map(|agent| &agent.lost);
        agents.chain(self.origins.iter().map(|origin| &origin.lost)).any(Option::is_some)
    }

    /// How the hits among requests that were due to be hits went through the measured time.
    pub fn storing(&self) -> Storing {
        let measured = |row: &&Row| self.phases.get(row.phase as usize).is_some_and(|phase| phase.measured);
        stored::storing(&self.timeline.rows.iter().filter(measured).collect::<Vec<_>>())
    }

    /// The rows of the one measured phase, where there is just one.
    pub fn rows_of_one_phase(&self) -> Vec<&Row> {
        let measured = |row: &&Row| self.phases.get(row.phase as usize).is_some_and(|phase| phase.measured);
        let rows: Vec<&Row> = self.timeline.rows.iter().filter(measured).collect();
        if rows.windows(2).all(|pair| pair[0].phase == pair[1].phase) { rows } else { Vec::new() }
    }

    /// The cache stopped storing while it was measured.
    pub fn decay(&self) -> Option<Decay> {
        match self.storing() {
            Storing::Stopped(decay) => Some(decay),
            Storing::Unknown | Storing::Kept => None,
        }
    }

    /// True if somebody ended the run before its time, or its last record is missing; not where its plan or its target's end did.
    pub fn was_ended_by_hand(&self) -> bool {
        self.interrupted && !self.thresholds.iter().any(|one| one.names == JudgedNames::Stop && one.violated)
    }

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
            sum.due_until = sum.due_until.max(phase.due_until);
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
        let response = measured.response();
        let percentile = |of| response.quantile(of).value as u64;
        Headline {
            requests: counts.requests,
            requests_per_s: measured.per_second(counts.requests),
            p50_us: percentile(0.5),
            p99_us: percentile(0.99),
            p999_us: percentile(0.999),
            bound_from_us: response.bound_from_us(),
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
    use crate::exchange::Exchange;
    use crate::outcome::Outcome;

    /// A run whose target stalled is listed with the times that its requests have waited, not with those of its good answers alone.
    #[test]
    fn headlines_have_what_unfinished_requests_have_waited() {
        let mut phase = PhaseResult::new("measure", true);
        let due = Duration::from_secs(1);
        let good = Exchange { response: Duration::from_millis(1), ..Exchange::new(Outcome::Ok, due) };
        phase.tally.exchange(&Exchange { times: 50, ..good });
        phase.tally.exchange(&Exchange::unfinished(due, Duration::from_secs(2), 50));
        let run = RunResult { phases: vec![phase], ..RunResult::default() };
        let headline = run.headline();
        assert!(headline.p50_us < 2_000 && headline.p99_us >= 1_990_000, "{headline:?}");
        assert!(headline.bound_from_us.is_some_and(|from| (1_990_000..=headline.p99_us).contains(&from)));
        assert!(run.measured().response().quantile(0.99).at_least);
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
