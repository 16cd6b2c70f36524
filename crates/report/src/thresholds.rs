//! A run's figures held to conditions.

use measure::run::ratio;
use measure::verdict::errors;
use measure::{Bound, Clock, Judged, PhaseResult};
use plan::{As, Metric, Statistic, Threshold, Timed};

/// Holds the figures of a phase to each condition.
pub fn judge(thresholds: &[Threshold], phase: &PhaseResult) -> Vec<Judged> {
    let judged = |threshold: &Threshold| {
        let bound = value(threshold.metric, phase);
        let (value, at_least) = (bound.map(|bound| bound.value), bound.is_some_and(|bound| bound.at_least));
        // What may be anything from here on is violated unless any such value keeps it.
        let violated =
            threshold.is_violated_by(value) || at_least && threshold.is_violated_by(Some(f64::INFINITY));
        Judged { condition: threshold.to_string(), value, at_least, violated }
    };
    thresholds.iter().map(judged).collect()
}

fn value(metric: Metric, phase: &PhaseResult) -> Option<Bound> {
    let counts = phase.counts();
    let counted = |count: u64, how| match how {
        As::Count => Some(count as f64),
        As::Share => ratio(count, counts.requests + counts.overflow),
    };
    let value = match metric {
        Metric::Time(timed, statistic) => return time(timed, statistic, phase),
        Metric::Errors(how) => counted(errors(counts), how),
        Metric::Failed(how) => counted(counts.failed, how),
        Metric::Faulty(how) => counted(counts.faulty, how),
        Metric::Overflow(how) => counted(counts.overflow, how),
        Metric::Rate => Some(phase.per_second(counts.requests)),
        Metric::Unfinished(how) => counted(counts.unfinished, how),
        Metric::HitRatio => phase.hit_ratio(),
    };
    value.map(exact)
}

fn exact(value: f64) -> Bound {
    Bound { value, at_least: false }
}

fn time(timed: Timed, statistic: Statistic, phase: &PhaseResult) -> Option<Bound> {
    let clock = match timed {
        Timed::Response => return response(statistic, phase),
        Timed::Service => Clock::Service,
        Timed::FirstByte => Clock::FirstByte,
        Timed::Connect => Clock::Connect,
        Timed::Tls => Clock::Tls,
        Timed::Lateness => Clock::Lateness,
    };
    let histogram = phase.tally.clock(clock);
    let value = match statistic {
        Statistic::Quantile(share) => phase.percentile_us(clock, share) as f64,
        Statistic::Mean => histogram.mean(),
        Statistic::Max => histogram.max() as f64,
    };
    (!histogram.is_empty()).then(|| exact(value))
}

fn response(statistic: Statistic, phase: &PhaseResult) -> Option<Bound> {
    let times = phase.response();
    let value = match statistic {
        Statistic::Quantile(share) => times.quantile(share),
        Statistic::Mean => times.mean(),
        Statistic::Max => times.longest(),
    };
    (!times.times().is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::Counts;
    use std::time::Duration;

    #[test]
    fn figures_are_held_to_conditions() {
        let mut phase = PhaseResult::new("measure", true);
        phase.took = Duration::from_secs(2);
        phase.tally.counts = Counts { requests: 1000, failed: 3, faulty: 2, ..Counts::default() };
        (1..=100).for_each(|ms| phase.tally.time(Clock::Response, Duration::from_millis(ms)));
        for (condition, violated) in [
            ("p50>49ms", true),
            ("p50>51ms", false),
            ("max>=100ms", true),
            ("mean>60ms", false),
            ("errors>0.5%", false),
            ("errors>=5", true),
            ("failed>3", false),
            ("faulty>1", true),
            ("rate<501", true),
            ("rate<500", false),
            ("tls.p50>1h", true),
        ] {
            let judged = judge(&[Threshold::parse(condition).unwrap()], &phase);
            assert_eq!(judged[0].violated, violated, "{judged:?}");
        }
    }
}
