//! Runs that were kept as sides: two of them, or a set against a set.
//!
//! Two runs are one leg each, with a start of the server and a mood of the machine between them that nobody knows. So it is told by how much they
//! differ, and by how much such runs usually do where that is known, never whose doing it is. Sets of runs are judged by their ranks.

use super::difference::{self, Difference, Judgement, Raw, Word};
use super::outcome;
use super::settings::{ALPHA, Metric, Settings};
use crate::machine::Refusal;
use crate::statistics::distribution::t_quantile;
use crate::statistics::rank_sum::RankSum;
use crate::statistics::{Interval, moving_blocks, spread};
use crate::words;
use measure::{Buckets, Digits, Headline, Second, TimeMetric};
use plan::draw::hash;
use serde::{Deserialize, Serialize};

/// Figures of single runs: the target's CPU is known of a whole run only.
pub const OF_RUNS: [Metric; 4] = [Metric::Throughput, Metric::P50, Metric::P99, Metric::Failed];
/// Earlier runs that tell how much runs usually differ.
const FEWEST_EARLIER: usize = 8;
/// Fewer stretches tell nothing of a run's own mood.
const FEWEST_STRETCHES: usize = 10;
/// More stretches than these are put together, so that the time to look at a long run has a bound.
const MOST_STRETCHES: usize = 240;
/// Series that are drawn of each run.
const DRAWS: usize = 2_000;
/// Salts of what is drawn.
const OF_A: u64 = 0xA;
const OF_B: u64 = 0xB;

/// A stretch of a kept run in which requests were due.
#[derive(Debug, Clone, Default)]
pub struct Stretch {
    /// Seconds in which requests could begin.
    pub paced_s: f64,
    /// Good answers.
    pub good: u64,
    /// Requests that were due.
    pub due: u64,
    /// Of these, the ones without a good answer.
    pub failed: u64,
    /// Response times.
    pub response: Buckets,
}

/// The stretches of a run, from its measured rows in their order.
pub fn stretches<'a>(rows: impl IntoIterator<Item = &'a Second>) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for row in rows {
        let paced_s = row.row().paced_s;
        // What only waits for answers belongs to what was before.
        if paced_s > 0.0 || all.is_empty() {
            all.push(Stretch::default());
        }
        let last = all.last_mut().expect("one was pushed");
        last.add(row, paced_s);
    }
    // A last one that is shorter than half a second says less than the others.
    let each = all.len().div_ceil(MOST_STRETCHES).max(1);
    let mut whole: Vec<Stretch> = all.chunks(each).map(|part| merged(part.iter())).collect();
    if let [.., before, last] = whole.as_slice()
        && last.paced_s < before.paced_s / 2.0
    {
        let joined = merged([before, last].into_iter());
        whole.truncate(whole.len() - 2);
        whole.push(joined);
    }
    whole
}

fn merged<'a>(parts: impl Iterator<Item = &'a Stretch>) -> Stretch {
    let mut sum = Stretch::default();
    for part in parts {
        sum.paced_s += part.paced_s;
        sum.good += part.good;
        sum.due += part.due;
        sum.failed += part.failed;
        sum.response.merge(&part.response);
    }
    sum
}

impl Stretch {
    fn add(&mut self, row: &Second, paced_s: f64) {
        let counts = &row.clients.counts;
        self.paced_s += paced_s;
        self.good += counts.ok;
        self.due += counts.requests + counts.overflow;
        self.failed += counts.failed + counts.check_failed + counts.unfinished + counts.overflow;
        if let Some(times) = row.metrics.get(&TimeMetric::Response) {
            self.response.merge(times);
        }
    }

    fn figure(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Throughput => Some(self.good as f64 / self.paced_s),
            Metric::P50 => quantile_ms(&self.response, 0.5),
            Metric::P99 => quantile_ms(&self.response, 0.99),
            Metric::Failed => Some(self.failed as f64 / self.due.max(1) as f64),
            Metric::Cpu | Metric::Hits => None,
        }
    }
}

/// A quantile, within a bucket by the line between its ends: a bucket is wider than differences that matter.
fn quantile_ms(times: &Buckets, quantile: f64) -> Option<f64> {
    let wanted = times.count() as f64 * quantile;
    let mut seen = 0.0;
    for (bucket, count) in times.iter() {
        if seen + count as f64 >= wanted {
            let low = Digits::Two.lowest(bucket) as f64;
            let high = Digits::Two.lowest(bucket + 1) as f64;
            return Some((low + (high - low) * (wanted - seen) / count as f64) / 1e3);
        }
        seen += count as f64;
    }
    None
}

/// Two runs in one figure. Changes are of B against A in the figure itself: -0.1 is a tenth less; of the failed share points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunsDiffer {
    /// The figure.
    pub metric: Metric,
    /// That of A: a second, milliseconds, share.
    pub a: f64,
    /// The same of B.
    pub b: f64,
    /// The change.
    pub change: f64,
    /// The changes that the seconds of both do not speak against.
    pub interval: Interval,
    /// Two runs of this plan usually differ by no more than this; `None`: too few earlier ones are known.
    pub usually: Option<f64>,
    /// The conclusion.
    pub word: RunsWord,
}

/// A conclusion from two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunsWord {
    /// They differ, by more than runs usually do where that is known.
    Differ,
    /// They differ by no more than runs of this plan usually do.
    AsUsual,
    /// Their seconds show no difference.
    NotSeen,
}

/// Two runs, compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TwoRuns {
    /// Each figure that both have.
    pub figures: Vec<RunsDiffer>,
    /// Earlier runs of the same plan, target and machine.
    pub earlier: usize,
    /// Seconds from the beginning of A to that of B.
    pub apart_s: f64,
}

/// Compares two runs. `earlier`: figures of earlier runs of the same plan, target and machine; `apart_s`: seconds from A's beginning to B's.
///
/// # Errors
/// A run is too short to tell anything of it.
pub fn two_runs(
    [a, b]: [&[Stretch]; 2],
    earlier: &[Headline],
    apart_s: f64,
    seed: u64,
) -> Result<TwoRuns, Refusal> {
    for (name, run) in [("A", a), ("B", b)] {
        if run.len() < FEWEST_STRETCHES {
            return Err(Refusal(format!(
                "{name} has {} in which requests were due, and {FEWEST_STRETCHES} are wanted: run it longer",
                words::count(run.len(), "second")
            )));
        }
    }
    let figures = OF_RUNS.iter().filter_map(|metric| differ(*metric, [a, b], earlier, seed));
    Ok(TwoRuns { figures: figures.collect(), earlier: earlier.len(), apart_s })
}

fn differ(metric: Metric, [a, b]: [&[Stretch]; 2], earlier: &[Headline], seed: u64) -> Option<RunsDiffer> {
    let of_a = merged(a.iter()).figure(metric)?;
    let of_b = merged(b.iter()).figure(metric)?;
    let drawn = [(a, OF_A), (b, OF_B)].map(|(run, salt)| redrawn(metric, run, hash(seed, salt)));
    let alpha = ALPHA / OF_RUNS.len() as f64;
    let drawn: Vec<f64> = drawn[0]
        .iter()
        .zip(&drawn[1])
        .map(|(a, b)| change_of(metric, *a, *b))
        .filter(|one| one.is_finite())
        .collect();
    if drawn.len() < DRAWS / 2 {
        return None;
    }
    let interval = moving_blocks::percentiles(&drawn, alpha);
    let change = change_of(metric, of_a, of_b);
    let usually = usually(metric, earlier);
    let word = match usually {
        _ if interval.covers(0.0) => RunsWord::NotSeen,
        Some(usually) if change.abs() <= usually => RunsWord::AsUsual,
        Some(_) | None => RunsWord::Differ,
    };
    Some(RunsDiffer { metric, a: of_a, b: of_b, change, interval, usually, word })
}

fn change_of(metric: Metric, a: f64, b: f64) -> f64 {
    match metric {
        Metric::Throughput | Metric::Cpu | Metric::P50 | Metric::P99 => b / a - 1.0,
        Metric::Failed | Metric::Hits => b - a,
    }
}

/// The figure of runs that are drawn from blocks of this one's stretches.
fn redrawn(metric: Metric, run: &[Stretch], seed: u64) -> Vec<f64> {
    let series: Vec<f64> = run.iter().map(|one| one.figure(metric).unwrap_or(0.0)).collect();
    let block = moving_blocks::block_length(&series);
    let statistic =
        |places: &[usize]| merged(places.iter().map(|place| &run[*place])).figure(metric).unwrap_or(f64::NAN);
    moving_blocks::redraw(run.len(), block, DRAWS, seed, statistic)
}

/// By how much two runs differ in 19 of 20 cases, from the spread of earlier ones.
fn usually(metric: Metric, earlier: &[Headline]) -> Option<f64> {
    if earlier.len() < FEWEST_EARLIER {
        return None;
    }
    let ratio = !matches!(metric, Metric::Failed | Metric::Hits);
    let values: Option<Vec<f64>> = earlier.iter().map(|run| of_headline(metric, run)).collect();
    let values: Vec<f64> = values?.into_iter().map(|value| if ratio { value.ln() } else { value }).collect();
    let t = t_quantile(1.0 - ALPHA / 2.0, values.len() as f64 - 1.0);
    let usually = t * spread::variance(&values).sqrt() * std::f64::consts::SQRT_2;
    Some(if ratio { usually.exp_m1() } else { usually })
}

/// A figure of a whole run, as lists of runs have it; `None`: it has none, as where nothing was answered.
pub fn of_headline(metric: Metric, run: &Headline) -> Option<f64> {
    let figure = match metric {
        Metric::Throughput => run.requests_per_s * (1.0 - run.failed_share),
        Metric::P50 => run.p50_us as f64 / 1e3,
        Metric::P99 => run.p99_us as f64 / 1e3,
        Metric::Failed => return Some(run.failed_share),
        Metric::Hits => return run.hit_ratio,
        Metric::Cpu => return None,
    };
    (figure > 0.0).then_some(figure)
}

impl TwoRuns {
    /// The finding in one sentence; it never says whose doing a difference is.
    pub fn headline(&self) -> String {
        let of = |word: RunsWord| -> Vec<String> {
            let chosen = self.figures.iter().filter(|one| one.word == word);
            chosen.map(|one| one.metric.name().to_owned()).collect()
        };
        let parts = [
            ("they differ in", of(RunsWord::Differ)),
            ("they differ no more than runs usually do in", of(RunsWord::AsUsual)),
            ("no difference is seen in", of(RunsWord::NotSeen)),
        ];
        let said = parts.iter().filter(|(_, figures)| !figures.is_empty());
        let said: Vec<String> =
            said.map(|(word, figures)| format!("{word} {}", words::list(figures))).collect();
        format!("of these two runs, whatever made it so: {}", said.join("; "))
    }

    /// All of it as lines for people.
    pub fn text(&self) -> String {
        let mut lines = vec![self.headline(), String::new()];
        lines.extend(self.figures.iter().map(RunsDiffer::text));
        let usual = if self.earlier >= FEWEST_EARLIER {
            format!("what is usual is told by {} earlier runs of this plan, target and machine", self.earlier)
        } else {
            let (kept, are) = match self.earlier {
                0 => ("no earlier run".to_owned(), "is"),
                1 => ("1 earlier run".to_owned(), "is"),
                some => (format!("{some} earlier runs"), "are"),
            };
            format!(
                "by how much runs of this plan usually differ is not known: {kept} with this target and machine {are} kept, and {FEWEST_EARLIER} are wanted"
            )
        };
        let apart = words::time(self.apart_s.abs());
        lines.push(String::new());
        lines.push(format!("note: {usual}"));
        lines.push(format!(
            "note: the runs began {apart} apart; another start of the server, another mood of the machine and whatever else happened between them is in \
             the difference. To compare servers, let wringer compare run both"
        ));
        lines.join("\n") + "\n"
    }
}

impl RunsDiffer {
    /// The figure in one line.
    pub fn text(&self) -> String {
        let word = match self.word {
            RunsWord::Differ => "differ",
            RunsWord::AsUsual => "differ as runs usually do",
            RunsWord::NotSeen => "no difference is seen",
        };
        let sides = format!("A {}  B {}", self.metric.value(self.a), self.metric.value(self.b));
        let [low, high] = [self.interval.low, self.interval.high].map(outcome::signed);
        let usually = self.usually.map_or_else(String::new, |usually| {
            format!("; runs usually differ by up to {}", words::percent(usually))
        });
        let change = outcome::signed(self.change);
        format!("{:<15} {sides:<30} {word}: {change} ({low} to {high}){usually}", self.metric.name())
    }
}

/// A set of runs against a set of others of the same plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunSets {
    /// Runs of each side.
    pub runs: [usize; 2],
    /// Each figure; its differences are those of every run of B to every run of A.
    pub figures: Vec<Difference>,
    /// Conditions that were not kept, or are not known to be, one sentence each.
    pub violated: Vec<String>,
}

/// Compares two sets of runs by their ranks. Only figures, margins and conditions of the settings count.
///
/// # Errors
/// They are too few to show anything.
pub fn run_sets(a: &[Headline], b: &[Headline], settings: &Settings) -> Result<RunSets, Refusal> {
    let known = |runs: &[Headline], metric| -> Option<Vec<f64>> {
        runs.iter().map(|run| of_headline(metric, run)).collect()
    };
    let values = |metric: Metric| Some((metric, known(a, metric)?, known(b, metric)?));
    let all: Vec<(Metric, Vec<f64>, Vec<f64>)> =
        OF_RUNS.iter().filter_map(|metric| values(*metric)).collect();
    let alpha = ALPHA / all.len().max(1) as f64;
    let mut figures = Vec::new();
    let mut raws = Vec::new();
    for (metric, of_a, of_b) in all {
        let scale = |values: &[f64]| -> Vec<f64> {
            let own = |value: &f64| if metric == Metric::Failed { *value } else { value.ln() };
            values.iter().map(own).collect()
        };
        let ranks = RankSum::of(&scale(&of_a), &scale(&of_b));
        let Some(interval) = ranks.interval(alpha) else { return Err(too_few(a.len(), b.len(), alpha)) };
        raws.push(Raw { estimate: ranks.shift(), interval, p: ranks.p_value() });
        let differences =
            of_b.iter().flat_map(|b| of_a.iter().map(move |a| difference::difference(metric, *a, *b)));
        figures.push(Difference {
            metric,
            a: Some(spread::median(&of_a)),
            b: Some(spread::median(&of_b)),
            differences: differences.collect(),
            judgement: Judgement::NotKnown,
        });
    }
    difference::judge(&mut figures, raws.into_iter().map(Some).collect(), settings, ALPHA, alpha);
    let violated = outcome::violated(&figures, settings);
    Ok(RunSets { runs: [a.len(), b.len()], figures, violated })
}

/// How many runs of B it would take.
fn too_few(a: usize, b: usize, alpha: f64) -> Refusal {
    let shows = |b: usize| RankSum::of(&vec![0.0; a], &vec![0.0; b]).interval(alpha).is_some();
    let wanted = (b + 1..=3 * b + 20).find(|more| shows(*more));
    let what = match wanted {
        Some(wanted) => format!("{wanted} of B would, or more of the baseline"),
        None => "take more of both".to_owned(),
    };
    Refusal(format!(
        "{} against {} of the baseline show nothing, however far apart they lie: {what}",
        words::count(b, "run"),
        words::count(a, "run"),
    ))
}

impl RunSets {
    /// The finding in one sentence.
    pub fn headline(&self) -> String {
        let [a, b] = self.runs;
        format!(
            "of {} against {} of the baseline B is: {}",
            words::count(b, "run"),
            a,
            outcome::sorted(&self.figures)
        )
    }

    /// All of it as lines for people.
    pub fn text(&self) -> String {
        let mut lines = vec![self.headline(), String::new()];
        lines.extend(self.figures.iter().map(Difference::text));
        lines.push(String::new());
        lines.extend(self.violated.iter().map(|one| format!("violated: {one}")));
        lines.push(
            "note: runs of one set lie together in time; what changed between both sets, in the server or in the machine, is not told by them"
                .to_owned(),
        );
        lines.join("\n") + "\n"
    }

    /// True if some figure differs, for better or worse.
    pub fn differ(&self) -> bool {
        let differs = |one: &Difference| match &one.judgement {
            Judgement::Judged(shown) => !matches!(shown.word, Word::NoneThatMatters | Word::CannotTell),
            Judgement::NotKnown | Judgement::NotJudged { .. } => false,
        };
        self.figures.iter().any(differs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;

    fn run(seed: u64, seconds: usize, slower: f64) -> Vec<Stretch> {
        let mut draw = Draw::new(seed, 1);
        let mut second = || {
            let rate = (1_000.0 * (1.0 + 0.02 * (draw.unit() - 0.5)) / slower) as u64;
            let times =
                (0..rate).map(|_| (Digits::Two.bucket(((900.0 + 200.0 * draw.unit()) * slower) as u64), 1));
            let mut counted = std::collections::BTreeMap::new();
            times.for_each(|(bucket, count)| *counted.entry(bucket).or_insert(0) += count);
            let mut response = Buckets::EMPTY;
            for (bucket, count) in counted {
                response.merge(&Buckets::of_counts(std::iter::once((bucket, count)), Digits::Two));
            }
            Stretch { paced_s: 1.0, good: rate, due: rate, failed: 0, response }
        };
        (0..seconds).map(|_| second()).collect()
    }

    fn headline(seed: u64, rate: f64) -> Headline {
        let mut draw = Draw::new(seed, 2);
        let rate = rate * (1.0 + 0.02 * (draw.unit() - 0.5));
        Headline {
            requests_per_s: rate,
            p50_us: (1e9 / rate) as u64,
            p99_us: (2e9 / rate) as u64,
            ..Headline::default()
        }
    }

    #[test]
    fn two_runs_differ_or_not_and_nobody_says_why() {
        let one = run(1, 30, 1.0);
        let told = two_runs([&one, &run(2, 30, 1.0)], &[], 60.0, 1).expect("long enough");
        assert!(told.figures.iter().all(|figure| figure.word == RunsWord::NotSeen), "{}", told.text());
        let slower = two_runs([&one, &run(3, 30, 1.1)], &[], 60.0, 1).expect("long enough");
        let text = slower.text();
        assert!(text.starts_with("of these two runs, whatever made it so: they differ in throughput, p50 and p99; no difference is seen in failed\n"), "{text}");
        assert!(
            text.contains("no earlier run with this target") && text.contains("1 min apart")
                || text.contains("60 s apart"),
            "{text}"
        );
        assert!((slower.figures[0].change + 0.09).abs() < 0.01, "{text}");
        let short = two_runs([&one[..5], &one], &[], 60.0, 1).unwrap_err();
        assert!(short.0.contains("A has 5 seconds"), "{short}");
    }

    /// Runs that usually differ by 30 % make one of 10 % nothing to speak of.
    #[test]
    fn what_is_usual_is_told_by_earlier_runs() {
        let earlier: Vec<Headline> =
            (0..9).map(|seed| headline(seed, 1_000.0 * (1.0 + 0.1 * (seed % 3) as f64))).collect();
        let told = two_runs([&run(1, 30, 1.0), &run(3, 30, 1.1)], &earlier, 60.0, 1).expect("long enough");
        assert_eq!(told.figures[0].word, RunsWord::AsUsual, "{}", told.text());
        assert!(told.text().contains("runs usually differ by up to"), "{}", told.text());
        let few =
            two_runs([&run(1, 30, 1.0), &run(3, 30, 1.1)], &earlier[..7], 60.0, 1).expect("long enough");
        assert_eq!((few.figures[0].usually, few.figures[0].word), (None, RunsWord::Differ));
    }

    #[test]
    fn sets_are_judged_by_their_ranks() {
        let a: Vec<Headline> = (0..10).map(|seed| headline(seed, 1_000.0)).collect();
        let b: Vec<Headline> = (20..26).map(|seed| headline(seed, 900.0)).collect();
        let settings = Settings { fail_if_slower: Some(0.05), ..Settings::new(1) };
        let found = run_sets(&a, &b, &settings).expect("enough");
        assert!(
            found
                .headline()
                .starts_with("of 6 runs against 10 of the baseline B is: worse in throughput, p50 and p99"),
            "{}",
            found.text()
        );
        assert!(found.differ() && found.violated.len() == 3, "{}", found.text());
        let same = run_sets(&a, &a, &settings).expect("enough");
        assert!(!same.differ() && same.violated.is_empty(), "{}", same.text());
        let few = run_sets(&a, &b[..1], &settings).unwrap_err();
        assert!(few.0.contains("1 run against 10 runs of the baseline show nothing"), "{few}");
    }

    #[test]
    fn time_after_the_last_request_makes_no_stretch_of_its_own() {
        let second = |paced: f64, at: f64| Second {
            at: std::time::Duration::from_secs_f64(at),
            took: std::time::Duration::from_secs(1),
            paced_until: std::time::Duration::from_secs_f64(paced),
            ..Second::default()
        };
        let rows = [second(1.0, 1.0), second(2.0, 2.0), second(2.2, 3.0), second(2.2, 4.0)];
        let found = stretches(&rows);
        assert_eq!(found.len(), 2);
        assert!((found[1].paced_s - 1.2).abs() < 1e-9);
    }
}
