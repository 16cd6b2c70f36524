//! Steps in a history of runs of one plan, target and machine: where a figure changed for good, and which runs are odd.
//!
//! The place of a step is sought as the split with the largest energy distance; its p is that of the whole search, by runs in drawn orders, and not
//! of the split that was found, which would be too small because it was chosen. The draws come from the figures themselves, so the same history
//! tells the same.

use crate::compare::{Metric, OF_RUNS, of_headline};
use crate::statistics::{energy, spread};
use crate::words;
use measure::Headline;
use plan::draw::hash;
use serde::{Deserialize, Serialize};

/// Fewer runs cannot show a step at [`ALPHA`], however large: too few orders of them exist.
pub const FEWEST: usize = 14;
/// Most runs that are looked at, the newest.
pub const MOST: usize = 60;
/// The chance of a step where there is none, of each search.
const ALPHA: f64 = 0.001;
/// Orders that are drawn.
const PERMUTATIONS: usize = 999;
/// Runs on each side of a step.
const BESIDE: usize = 3;
/// A run is odd if it lies so many deviations from the middle of its neighbours.
const ODD: f64 = 6.0;

/// A run of a history.
#[derive(Debug, Clone)]
pub struct Point {
    /// Its short name.
    pub run: String,
    /// Commit of the folder that it was made in.
    pub commit: Option<String>,
    /// Its figures.
    pub figures: Headline,
}

/// A figure's history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Trend {
    /// The figure.
    pub metric: Metric,
    /// Runs that have it.
    pub runs: usize,
    /// Median since the last step.
    pub now: f64,
    /// Steps, the oldest first.
    pub steps: Vec<TrendStep>,
    /// Single runs far from their neighbours.
    pub odd: Vec<Odd>,
}

/// A change that stayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TrendStep {
    /// The last run before it.
    pub after: TrendPlace,
    /// The first run behind it: the change came between both.
    pub before: TrendPlace,
    /// Median before it, since the step before.
    pub was: f64,
    /// Median behind it, until the next step.
    pub is: f64,
    /// The change: of the failed share points, otherwise a share.
    pub change: f64,
    /// The chance of so clear a step in runs that have none.
    pub p: f64,
}

/// A run in a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TrendPlace {
    /// The run's short name.
    pub run: String,
    /// Its commit, where it is known.
    pub commit: Option<String>,
}

/// A run far from its neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Odd {
    /// The run.
    pub at: TrendPlace,
    /// Its figure.
    pub value: f64,
    /// Median of its neighbours.
    pub around: f64,
}

/// The history of each figure that all runs have. `runs`: the oldest first.
pub fn trends(runs: &[Point]) -> Vec<Trend> {
    let newest = &runs[runs.len().saturating_sub(MOST)..];
    OF_RUNS.iter().filter_map(|metric| trend(*metric, newest)).collect()
}

fn trend(metric: Metric, runs: &[Point]) -> Option<Trend> {
    let values: Vec<f64> = runs.iter().map(|run| of_headline(metric, &run.figures)).collect::<Option<_>>()?;
    let scaled: Vec<f64> = values.iter().map(|value| scale(metric, *value)).collect();
    let mut splits = Vec::new();
    split(metric, &scaled, 0, &mut splits);
    splits.sort_by_key(|(at, _)| *at);
    let ends: Vec<usize> =
        std::iter::once(0).chain(splits.iter().map(|(at, _)| *at)).chain([values.len()]).collect();
    let segments: Vec<&[f64]> = ends.windows(2).map(|ends| &values[ends[0]..ends[1]]).collect();
    let place = |at: usize| TrendPlace { run: runs[at].run.clone(), commit: runs[at].commit.clone() };
    let step = |(nth, (at, p)): (usize, &(usize, f64))| {
        let [was, is] = [nth, nth + 1].map(|segment| spread::median(segments[segment]));
        let change = if metric == Metric::Failed { is - was } else { is / was - 1.0 };
        TrendStep { after: place(at - 1), before: place(*at), was, is, change, p: *p }
    };
    let odd = ends.windows(2).flat_map(|ends| odd(metric, &values[ends[0]..ends[1]], ends[0]));
    let odd = odd.map(|(at, value, around)| Odd { at: place(at), value, around }).collect();
    Some(Trend {
        metric,
        runs: values.len(),
        now: spread::median(segments.last().expect("there is one more than steps")),
        steps: splits.iter().enumerate().map(step).collect(),
        odd,
    })
}

/// Of shares the value itself, otherwise its logarithm.
fn scale(metric: Metric, value: f64) -> f64 {
    match metric {
        Metric::Failed | Metric::Hits => value,
        Metric::Throughput | Metric::Cpu | Metric::P50 | Metric::P99 => value.ln(),
    }
}

/// The smallest step that matters, in that scale.
fn margin(metric: Metric) -> f64 {
    let margin = metric.usual_margin();
    if metric == Metric::Failed { margin } else { margin.ln_1p() }
}

/// Seeks a step, then one in each half. `begin`: the place of the first value in the history.
fn split(metric: Metric, values: &[f64], begin: usize, found: &mut Vec<(usize, f64)>) {
    if values.len() < FEWEST {
        return;
    }
    let seed = values.iter().fold(0, |seed, value| hash(seed, value.to_bits()));
    let Some(best) = energy::best_split(values, BESIDE, PERMUTATIONS, seed) else { return };
    let (before, after) = values.split_at(best.at);
    let step = spread::median(after) - spread::median(before);
    if best.p > ALPHA + 1e-9 || step.abs() < margin(metric) {
        return;
    }
    found.push((begin + best.at, best.p));
    split(metric, before, begin, found);
    split(metric, after, begin + best.at, found);
}

/// Single runs of a stretch without a step that lie far from the others: their places, values and the middle of the others.
fn odd(metric: Metric, values: &[f64], begin: usize) -> Vec<(usize, f64, f64)> {
    let scaled: Vec<f64> = values.iter().map(|value| scale(metric, *value)).collect();
    let middle = spread::median(&scaled);
    let deviation = spread::robust_deviation(&scaled);
    let is_odd = |value: f64| (value - middle).abs() > (ODD * deviation).max(margin(metric));
    let places = scaled.iter().enumerate().filter(|(_, value)| is_odd(**value));
    places.map(|(nth, _)| (begin + nth, values[nth], spread::median(values))).collect()
}

impl TrendPlace {
    fn text(&self) -> String {
        match &self.commit {
            Some(commit) => format!("{} (commit {})", self.run, commit.chars().take(10).collect::<String>()),
            None => self.run.clone(),
        }
    }
}

impl Trend {
    /// The figure's history as lines for people.
    pub fn text(&self) -> String {
        let name = self.metric.name();
        let now = self.metric.value(self.now);
        let mut lines = Vec::new();
        if self.steps.is_empty() {
            lines.push(format!("{name:<15} {now}, no step"));
        }
        for step in &self.steps {
            lines.push(format!(
                "{name:<15} {} to {} ({}), between run {} and run {}",
                self.metric.value(step.was),
                self.metric.value(step.is),
                signed(step.change),
                step.after.text(),
                step.before.text()
            ));
        }
        for odd in &self.odd {
            let around = self.metric.value(odd.around);
            lines.push(format!(
                "{name:<15} one odd run: {}, {} where others have {around}",
                odd.at.text(),
                self.metric.value(odd.value)
            ));
        }
        lines.join("\n") + "\n"
    }
}

fn signed(share: f64) -> String {
    let text = words::percent(share);
    if share > 0.0 { format!("+{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;

    fn history(rates: impl Iterator<Item = f64>) -> Vec<Point> {
        let mut draw = Draw::new(5, 1);
        let mut point = |(nth, rate): (usize, f64)| {
            let rate = rate * (1.0 + 0.02 * (draw.unit() - 0.5));
            let figures =
                Headline { requests_per_s: rate, p50_us: 1_000, p99_us: 2_000, ..Headline::default() };
            Point { run: format!("r{nth}"), commit: Some(format!("c{nth}")), figures }
        };
        rates.enumerate().map(&mut point).collect()
    }

    #[test]
    fn a_step_is_placed_between_two_runs_and_told_once() {
        let rates = (0..40).map(|nth| if nth < 30 { 1_000.0 } else { 920.0 });
        let found = trends(&history(rates));
        let throughput = &found[0];
        assert_eq!((found.len(), throughput.steps.len()), (4, 1), "{found:?}");
        let text = throughput.text();
        assert!(
            text.contains("between run r29 (commit c29) and run r30 (commit c30)") && text.contains("(-8."),
            "{text}"
        );
        assert!(found[1..].iter().all(|trend| trend.steps.is_empty() && trend.text().ends_with("no step\n")));
        // Two runs behind it may be chance.
        let young = trends(&history((0..40).map(|nth| if nth < 38 { 1_000.0 } else { 920.0 })));
        assert!(young[0].steps.is_empty(), "{young:?}");
    }

    #[test]
    fn two_steps_are_two_and_an_odd_run_is_none() {
        let rates = (0..60).map(|nth| [1_000.0, 900.0, 1_100.0][nth / 20]);
        let found = trends(&history(rates));
        let places: Vec<&str> = found[0].steps.iter().map(|step| step.before.run.as_str()).collect();
        assert_eq!(places, ["r20", "r40"]);
        let odd = trends(&history((0..30).map(|nth| if nth == 12 { 500.0 } else { 1_000.0 })));
        assert!(odd[0].steps.is_empty() && odd[0].odd.len() == 1, "{odd:?}");
        assert!(odd[0].text().contains("one odd run: r12 (commit c12)"), "{}", odd[0].text());
    }

    /// At 1 in 1,000 and search by search, noise has steps in next to none of 200 histories; steps that do not matter are none either.
    #[test]
    fn noise_has_no_steps() {
        let mut alarms = 0;
        for seed in 0..200 {
            let mut draw = Draw::new(77, seed);
            let points: Vec<Point> = (0..24)
                .map(|nth| {
                    let rate = 1_000.0 * (1.0 + 0.2 * (draw.unit() - 0.5));
                    let figures =
                        Headline { requests_per_s: rate, p50_us: 1, p99_us: 1, ..Headline::default() };
                    Point { run: format!("r{nth}"), commit: None, figures }
                })
                .collect();
            alarms += trends(&points)[0].steps.len();
        }
        assert!(alarms <= 2, "{alarms} of 200");
        let small = trends(&history((0..40).map(|nth| if nth < 20 { 1_000.0 } else { 1_012.0 })));
        assert!(small[0].steps.is_empty(), "{small:?}");
    }
}
