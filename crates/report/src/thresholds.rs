//! A run's figures held to conditions.

use crate::{labels, show};
use measure::shares::ratio;
use measure::stored::Storing;
use measure::stream::Second;
use measure::verdict::errors;
use measure::{
    Bound, Buckets, Digits, Judged, JudgedNames, LabelFigures, PhaseResult, RunResult, TimeMetric,
};
use plan::{As, Metric, Plan, Statistic, StopIf, Threshold, Timed};

/// Holds the figures of a run to the conditions of its plan.
pub fn judge(result: &RunResult, plan: &Plan) -> Vec<Judged> {
    let Some(load) = &plan.load else { return Vec::new() };
    let measured = result.measured();
    let judged = |threshold: &Threshold, names| held_to(threshold, names, result, &measured, plan);
    let forbidden = load.fail_if.iter().map(|threshold| judged(threshold, JudgedNames::Forbidden));
    forbidden.chain(load.require.iter().map(|threshold| judged(threshold, JudgedNames::Required))).collect()
}

fn held_to(
    threshold: &Threshold,
    names: JudgedNames,
    result: &RunResult,
    measured: &PhaseResult,
    plan: &Plan,
) -> Judged {
    let bound = match &threshold.label {
        None if threshold.metric == Metric::Decay => decay(result).map(exact),
        None => value(threshold.metric, measured),
        Some(label) => {
            let figures = labels::measured(result, plan, label);
            figures.and_then(|figures| of_label(threshold.metric, &figures, measured)).map(exact)
        }
    };
    let value = bound.map(|bound| bound.value);
    let at_least = bound.is_some_and(|bound| bound.at_least);
    let is_so = |value| threshold.holds(value) == (names == JudgedNames::Required);
    // One that is not known is violated, since nothing shows that it was kept; and what may be anything from here on is,
    // unless any such value keeps it.
    let kept = value.is_some_and(|value| is_so(value) && (!at_least || is_so(f64::INFINITY)));
    let condition = threshold.to_string();
    let of_failures = threshold.is_of_failures();
    Judged { condition, names, value, at_least, violated: !kept, unevaluated: false, of_failures }
}

/// The figure of a condition as people read it; `None`: it is not known.
pub fn shown(judged: &Judged) -> Option<String> {
    let condition = match judged.names {
        JudgedNames::Forbidden | JudgedNames::Required => Threshold::parse(&judged.condition).ok(),
        JudgedNames::Stop => StopIf::parse(&judged.condition).ok().map(|stop| stop.condition),
    };
    let value = judged.value?;
    let metric = condition?.metric;
    let text = match metric {
        Metric::Time(..) => show::time(value.round() as u64),
        Metric::Rate | Metric::OkRate => show::rate(value),
        Metric::OkShare | Metric::HitRatio | Metric::Decay => show::percent(value),
        Metric::Errors(how)
        | Metric::Failed(how)
        | Metric::CheckFailed(how)
        | Metric::Unfinished(how)
        | Metric::Stray(how)
        | Metric::Overflow(how) => match how {
            As::Count => show::count(value as u64),
            As::Share => show::percent(value),
        },
    };
    Some(if judged.at_least { format!("≥{text}") } else { text })
}

/// A figure of one label; nothing where it is not gathered for labels.
fn of_label(metric: Metric, figures: &LabelFigures, measured: &PhaseResult) -> Option<f64> {
    let failed = figures.ended - figures.ok;
    match metric {
        Metric::Time(Timed::Response, _) if figures.ended == 0 => None,
        Metric::Time(Timed::Response, Statistic::Quantile(share)) => {
            Some(figures.response.value_at_quantile(share) as f64)
        }
        Metric::Time(Timed::Response, Statistic::Mean) => Some(figures.response.mean()),
        Metric::Time(Timed::Response, Statistic::Max) => Some(figures.response.max() as f64),
        Metric::Errors(As::Count) | Metric::Failed(As::Count) => Some(failed as f64),
        Metric::Errors(As::Share) | Metric::Failed(As::Share) => ratio(failed, figures.ended),
        Metric::Rate => Some(measured.per_second(figures.ended)),
        Metric::OkRate => Some(measured.per_second(figures.ok)),
        Metric::OkShare => ratio(figures.ok, figures.ended),
        Metric::Time(..)
        | Metric::CheckFailed(_)
        | Metric::Unfinished(_)
        | Metric::Stray(_)
        | Metric::Overflow(_)
        | Metric::HitRatio
        | Metric::Decay => None,
    }
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
        Metric::CheckFailed(how) => counted(counts.check_failed, how),
        Metric::Overflow(how) => counted(counts.overflow, how),
        Metric::Rate => Some(phase.per_second(counts.requests)),
        Metric::OkRate => Some(phase.per_second(counts.ok)),
        // What the plan itself has spoilt or broken off should have got none.
        Metric::OkShare => {
            let spoilt = counts.injected + counts.aborted;
            ratio(counts.ok, (counts.requests + counts.overflow).saturating_sub(spoilt))
        }
        Metric::Unfinished(how) => counted(counts.unfinished, how),
        Metric::Stray(how) => counted(counts.stray, how),
        // What could not be judged may have been no hit.
        Metric::HitRatio => phase.least_hit_ratio(),
        // It is known of a whole run alone.
        Metric::Decay => None,
    };
    value.map(exact)
}

/// The part of its hits among due requests that the cache lost; `None`: too few requests were due.
fn decay(result: &RunResult) -> Option<f64> {
    match result.storing() {
        Storing::Unknown => None,
        Storing::Kept => Some(0.0),
        Storing::Stopped(decay) => Some(1.0 - decay.after / decay.before),
    }
}

fn exact(value: f64) -> Bound {
    Bound { value, at_least: false }
}

fn time(timed: Timed, statistic: Statistic, phase: &PhaseResult) -> Option<Bound> {
    let metric = match timed {
        Timed::Response => return response(statistic, phase),
        Timed::Service => TimeMetric::Service,
        Timed::FirstByte => TimeMetric::FirstByte,
        Timed::Connect => TimeMetric::Connect,
        Timed::Tls => TimeMetric::Tls,
        Timed::Lateness => TimeMetric::Lateness,
    };
    let histogram = phase.tally.metric(metric);
    let value = match statistic {
        Statistic::Quantile(share) => phase.percentile_us(metric, share) as f64,
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

/// A figure of one second, of what ended in it; nothing where nothing did. Times from the send to the end are those of failed
/// requests as well: whoever waited for them has waited.
pub fn of_second(metric: Metric, second: &Second) -> Option<f64> {
    let counts = &second.clients.counts;
    let bad = counts.failed + counts.check_failed;
    let ended = counts.ok + bad + counts.injected + counts.aborted;
    let counted = |count: u64, how| match how {
        As::Count => (ended > 0).then_some(count as f64),
        As::Share => ratio(count, ended),
    };
    match metric {
        Metric::Time(timed, statistic) => time_of_second(timed, statistic, second),
        Metric::Errors(how) => counted(bad, how),
        Metric::Failed(how) => counted(counts.failed, how),
        Metric::CheckFailed(how) => counted(counts.check_failed, how),
        Metric::Rate => {
            let seconds = second.took.as_secs_f64();
            (seconds > 0.0).then(|| ended as f64 / seconds)
        }
        Metric::Stray(how) => counted(counts.stray, how),
        Metric::OkRate => {
            let seconds = second.took.as_secs_f64();
            (seconds > 0.0).then(|| counts.ok as f64 / seconds)
        }
        Metric::OkShare => ratio(counts.ok, ended - counts.injected - counts.aborted),
        Metric::Unfinished(_) | Metric::Overflow(_) | Metric::HitRatio | Metric::Decay => None,
    }
}

fn time_of_second(timed: Timed, statistic: Statistic, second: &Second) -> Option<f64> {
    let metrics: &[TimeMetric] = match timed {
        Timed::Response => &[TimeMetric::Response, TimeMetric::Failure, TimeMetric::CheckFailed],
        Timed::Service => &[TimeMetric::Service, TimeMetric::Failure, TimeMetric::CheckFailed],
        Timed::FirstByte => &[TimeMetric::FirstByte],
        Timed::Connect => &[TimeMetric::Connect],
        Timed::Tls => &[TimeMetric::Tls],
        Timed::Lateness => &[TimeMetric::Lateness],
    };
    let mut times = Buckets::default();
    metrics.iter().filter_map(|metric| second.metrics.get(metric)).for_each(|some| times.merge(some));
    let count = times.count();
    if count == 0 {
        return None;
    }
    let us = |(bucket, times): (u32, u64)| (Digits::Two.middle(bucket) as f64, times);
    match statistic {
        Statistic::Mean => {
            Some(times.iter().map(us).map(|(us, times)| us * times as f64).sum::<f64>() / count as f64)
        }
        Statistic::Max => times.iter().last().map(us).map(|(us, _)| us),
        Statistic::Quantile(share) => {
            let rank = ((share * count as f64).ceil() as u64).clamp(1, count);
            let mut seen = 0;
            let reached = |&(_, times): &(f64, u64)| {
                seen += times;
                seen >= rank
            };
            times.iter().map(us).find(reached).map(|(us, _)| us)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Counts, Failure, FailureKind, Label, Outcome, RunState, Stage};
    use std::time::Duration;

    /// True if a run of one phase, with a label `a` and one `b` behind it, violates each condition; a requirement is what the same
    /// condition forbids not to be.
    fn check(phase: PhaseResult, conditions: &[(&str, bool)]) {
        let plan = "version = 1\nseed = 1\n[[load.phases]]\nname = 'measure'\nscenario = { steps = [\
                    { transaction = { name = 'a', steps = [] } }, { transaction = { name = 'b', steps = [] } } ] }";
        let mut plan = Plan::from_text(plan).unwrap();
        let mut result = RunState::default().result();
        result.phases.push(phase);
        let load = plan.load.as_mut().unwrap();
        load.fail_if = conditions.iter().map(|(condition, _)| Threshold::parse(condition).unwrap()).collect();
        load.require.clone_from(&load.fail_if);
        let judged = judge(&result, &plan);
        let (forbidden, required) = judged.split_at(conditions.len());
        for ((_, violated), (forbidden, required)) in conditions.iter().zip(forbidden.iter().zip(required)) {
            assert_eq!(
                (forbidden.violated, forbidden.names),
                (*violated, JudgedNames::Forbidden),
                "{forbidden:?}"
            );
            // What nobody knows violates both.
            let not_required = required.value.is_some() == *violated;
            assert_eq!(
                (!required.violated, required.names),
                (not_required, JudgedNames::Required),
                "{required:?}"
            );
        }
    }

    #[test]
    fn figures_are_held_to_conditions() {
        let mut phase = PhaseResult::new("measure", true);
        phase.took = Duration::from_secs(2);
        phase.tally.counts =
            Counts { requests: 1000, ok: 995, failed: 3, check_failed: 2, ..Counts::default() };
        (1..=100).for_each(|ms| phase.tally.time(TimeMetric::Response, Duration::from_millis(ms)));
        check(
            phase,
            &[
                ("p50>49ms", true),
                ("p50>51ms", false),
                ("max>=100ms", true),
                ("mean>60ms", false),
                ("errors>0.5%", false),
                ("errors>=5", true),
                ("failed>3", false),
                ("check-failed>1", true),
                ("ok-rate<=99.5%", true),
                ("ok-rate<99.5%", false),
                ("ok-rate<99.4%", false),
                ("ok-rate<498/s", true),
                ("rate<501", true),
                ("rate<500", false),
                ("tls.p50>1h", true),
            ],
        );
    }

    #[test]
    fn figures_of_a_second_are_those_of_what_ended_in_it() {
        let mut tally = PhaseResult::new("measure", true).tally;
        tally.counts = Counts { requests: 1, ok: 3, failed: 1, ..Counts::default() };
        [10, 20, 30].iter().for_each(|ms| tally.time(TimeMetric::Response, Duration::from_millis(*ms)));
        tally.time(TimeMetric::Failure, Duration::from_millis(100));
        let metrics = measure::figures::metrics(&tally, Digits::Two);
        let clients = measure::figures::Figures::of(&tally);
        let second = Second { took: Duration::from_secs(2), clients, metrics, ..Second::default() };
        let of = |text: &str| of_second(Threshold::parse(text).unwrap().metric, &second);
        for (text, wanted) in [
            ("mean>1s", 40_000.0),
            ("p50>1s", 20_000.0),
            ("max>1s", 100_000.0),
            ("errors>1%", 0.25),
            ("errors>1", 1.0),
            ("rate<1", 2.0),
        ] {
            let is = of(text).unwrap();
            assert!((is / wanted - 1.0).abs() < 0.01, "{text}: {is}");
        }
        assert_eq!(of("first-byte.mean>1s"), None);
        assert_eq!(of_second(Metric::Errors(As::Share), &Second::default()), None);
    }

    #[test]
    fn figures_of_a_label_are_held_to_conditions_of_it() {
        let failed = Outcome::Failed(Failure::new(FailureKind::Reset, Stage::Head));
        let mut phase = PhaseResult::new("measure", true);
        phase.took = Duration::from_secs(2);
        let labels = &mut phase.tally.labels;
        labels.count(Label(0), Outcome::Ok, Duration::from_millis(500), 7);
        labels.count(Label(1), Outcome::Ok, Duration::from_millis(20), 99);
        labels.count(Label(1), failed, Duration::from_millis(20), 1);
        check(
            phase,
            &[
                ("p99{a}>400ms", true),
                ("p99{b}>400ms", false),
                ("max{b}>19ms", true),
                ("errors{a}>0", false),
                ("errors{b}>0", true),
                ("failed{b}>1%", false),
                ("ok-rate{b}<99%", false),
                ("ok-rate{b}<=99%", true),
                ("rate{b}<50", false),
                ("rate{b}<51", true),
                ("p50{c}>1h", true),
            ],
        );
    }
}
