//! The difference between both sides in one figure: from pairs of legs to an interval, a p value and a word.

use super::leg::{Hits, LegResult};
use super::settings::{Metric, Settings};
use crate::statistics::flips::Flips;
use crate::statistics::walsh::Walsh;
use crate::statistics::{Interval, detectable, holm, spread};
use plan::draw::hash;
use serde::{Deserialize, Serialize};

/// CPU is counted in ticks of 10 ms by some kernels; 500 of them are one part in 250 at worst.
const CPU_S: f64 = 5.0;
/// Answers of which it is known where they came from that make a hit ratio a figure.
const HITS: u64 = 1_000;
/// Answers above a percentile that make it a figure.
const ABOVE: f64 = 30.0;
/// Salt of the drawn signs.
const FLIPS: u64 = 0xF11B;

/// Both parts of one leg.
#[derive(Debug, Clone)]
pub(super) struct Both {
    pub closed: LegResult,
    pub open: LegResult,
}

impl Both {
    pub(super) fn failed(&self) -> u64 {
        self.closed.failed() + self.open.failed()
    }

    /// Hits of both parts; `None`: one does not tell.
    pub(super) fn known_hits(&self) -> Option<Hits> {
        let closed = self.closed.hits?;
        let open = self.open.hits?;
        Some(Hits { hits: closed.hits + open.hits, of: closed.of + open.of })
    }

    pub(super) fn faulty(&self) -> u64 {
        self.closed.faulty + self.open.faulty
    }
}

/// Legs of both sides next to each other.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub a: Both,
    pub b: Both,
}

/// The difference in one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The figure.
    pub metric: Metric,
    /// Median over the legs of A: a second, CPU seconds per answer, milliseconds, share; `None`: not known of each leg.
    pub a: Option<f64>,
    /// The same of B.
    pub b: Option<f64>,
    /// Of each pair ln(B/A); of shares (failed, hits) B - A. Empty where a leg does not tell the figure.
    pub differences: Vec<f64>,
    /// The conclusion.
    pub judgement: Judgement,
}

/// The conclusion about a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Judgement {
    /// There is one.
    Judged(Shown),
    /// The target's CPU is not known to whoever ran the legs.
    NotKnown,
    /// There is too little of it.
    NotJudged {
        /// How much more is wanted.
        why: String,
    },
}

/// A figure's conclusion. Changes are of B against A **for the worse**: 0.03 is 3 % slower, of the failed share 3 points more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// The estimate.
    pub change: f64,
    /// The changes that the pairs do not speak against, at a level that holds for all figures together.
    pub interval: Interval,
    /// The chance of such pairs without a difference.
    pub p: f64,
    /// The same over all figures that are judged (Holm).
    pub p_of_all: f64,
    /// The smallest change that matters.
    pub margin: f64,
    /// The change that would have been found in four of five such comparisons.
    pub could_have_seen: f64,
    /// The conclusion.
    pub word: Word,
}

/// The conclusion in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Worse by more than the margin.
    WorseByMore,
    /// Worse, by less than the margin.
    WorseByLess,
    /// Worse; may pass the margin.
    Worse,
    /// Within the margin on both sides.
    NoneThatMatters,
    /// Neither a difference nor its absence is shown.
    CannotTell,
    /// Better; may pass the margin.
    Better,
    /// Better, by less than the margin.
    BetterByLess,
    /// Better by more than the margin.
    BetterByMore,
}

impl Difference {
    /// False if more pairs could still tell what these do not.
    pub(super) fn is_decided(&self) -> bool {
        match &self.judgement {
            Judgement::NotKnown => true,
            // With differences it is pairs that it lacks.
            Judgement::NotJudged { .. } => self.differences.is_empty(),
            Judgement::Judged(shown) => shown.word != Word::CannotTell,
        }
    }
}

impl Shown {
    /// Slower by a share, or more by its estimate: what `slower:m` fails.
    pub(super) fn is_worse_by(&self, margin: f64) -> bool {
        match self.word {
            Word::WorseByMore | Word::WorseByLess | Word::Worse => self.change >= margin,
            Word::NoneThatMatters
            | Word::CannotTell
            | Word::Better
            | Word::BetterByLess
            | Word::BetterByMore => false,
        }
    }

    /// The pairs do not speak against so much: what `within:m` fails.
    pub(super) fn may_be_worse_by(&self, margin: f64) -> bool {
        self.interval.high >= margin
    }
}

/// A figure before it is known what the others show.
pub(super) struct Raw {
    pub estimate: f64,
    pub interval: Interval,
    pub p: f64,
}

/// Judges each figure.
pub(super) fn all(pairs: &[Pair], settings: &Settings) -> Vec<Difference> {
    let mut found: Vec<Difference> = settings.figures.iter().map(|metric| of(*metric, pairs)).collect();
    let judged = found.iter().filter(|one| !one.differences.is_empty()).count();
    let level = settings.level(pairs.len());
    let alpha = level / judged.max(1) as f64;
    let raws: Vec<Option<Raw>> = found.iter().map(|one| raw(one, pairs, settings, alpha)).collect();
    judge(&mut found, raws, settings, level, alpha);
    found
}

/// Judges figures by what each shows by itself. `level`: the chance of any false alarm, `alpha`: that of each figure's interval.
pub(super) fn judge(
    found: &mut [Difference],
    raws: Vec<Option<Raw>>,
    settings: &Settings,
    level: f64,
    alpha: f64,
) {
    let p_values: Vec<f64> = raws.iter().flatten().map(|raw| raw.p).collect();
    let mut of_all = holm::adjusted(&p_values).into_iter();
    for (one, raw) in found.iter_mut().zip(raws) {
        let (Some(raw), Some(p_of_all)) = (raw.as_ref(), raw.as_ref().and_then(|_| of_all.next())) else {
            continue;
        };
        let levels = Levels { all: level, each: alpha };
        one.judgement =
            Judgement::Judged(shown(one.metric, raw, p_of_all, settings.margin(one.metric), levels));
    }
}

/// Figures of each side, and of each pair their difference; not judged yet.
fn of(metric: Metric, pairs: &[Pair]) -> Difference {
    let none = |judgement| Difference { metric, a: None, b: None, differences: Vec::new(), judgement };
    let legs = || pairs.iter().flat_map(|pair| [&pair.a, &pair.b]);
    if metric == Metric::Cpu && legs().any(|leg| leg.closed.cpu_s.is_none()) {
        return none(Judgement::NotKnown);
    }
    if let Some(why) = legs().find_map(|leg| lacks(metric, leg)) {
        return none(Judgement::NotJudged { why });
    }
    let side = |of: fn(&Pair) -> &Both| -> Option<Vec<f64>> {
        pairs.iter().map(|pair| figure(metric, of(pair))).collect()
    };
    let (Some(a), Some(b)) = (side(|pair| &pair.a), side(|pair| &pair.b)) else {
        return none(Judgement::NotJudged { why: "a leg does not tell it".to_owned() });
    };
    let between = |(a, b): (&f64, &f64)| difference(metric, *a, *b);
    let differences = a.iter().zip(&b).map(between).collect();
    let judgement = Judgement::NotJudged { why: "there are too few pairs".to_owned() };
    Difference { metric, a: Some(spread::median(&a)), b: Some(spread::median(&b)), differences, judgement }
}

/// The difference of a pair.
pub(super) fn difference(metric: Metric, a: f64, b: f64) -> f64 {
    match metric {
        Metric::Throughput | Metric::Cpu | Metric::P50 | Metric::P99 => (b / a).ln(),
        Metric::Failed | Metric::Hits => b - a,
    }
}

/// The figure of a leg.
pub(super) fn figure(metric: Metric, leg: &Both) -> Option<f64> {
    let figure = match metric {
        Metric::Throughput => leg.closed.good_per_s(),
        Metric::Cpu => leg.closed.cpu_s? / leg.closed.good as f64,
        Metric::P50 => leg.open.p50_ms?,
        Metric::P99 => leg.open.p99_ms?,
        Metric::Hits => {
            let of = leg.known_hits()?;
            return Some(of.hits as f64 / of.of.max(1) as f64);
        }
        Metric::Failed => {
            return Some(leg.failed() as f64 / (leg.closed.due + leg.open.due).max(1) as f64);
        }
    };
    (figure > 0.0 && figure.is_finite()).then_some(figure)
}

/// Says what a leg lacks for a figure.
fn lacks(metric: Metric, leg: &Both) -> Option<String> {
    let wants = |above: f64| {
        let wanted = (ABOVE / above).round();
        let there = leg.open.good;
        ((there as f64) < wanted)
            .then(|| format!("a leg has {there} answers in its open part, {wanted} are wanted: longer legs"))
    };
    match metric {
        Metric::P50 => wants(0.5),
        Metric::P99 => wants(0.01),
        Metric::Cpu => {
            let used = leg.closed.cpu_s?;
            let text =
                || format!("the target used {used:.2} s of CPU in a leg, {CPU_S} s are wanted: longer legs");
            (used < CPU_S).then(text)
        }
        Metric::Hits => {
            let known = leg.known_hits().map_or(0, |known| known.of);
            let text = || {
                format!(
                    "of {known} answers in a leg it is known where they came from, {HITS} are wanted: longer legs"
                )
            };
            (known < HITS).then(text)
        }
        Metric::Throughput | Metric::Failed => None,
    }
}

fn raw(one: &Difference, pairs: &[Pair], settings: &Settings, alpha: f64) -> Option<Raw> {
    if one.differences.is_empty() {
        return None;
    }
    match one.metric {
        Metric::Throughput | Metric::Cpu | Metric::P50 | Metric::P99 | Metric::Hits => {
            let walsh = Walsh::of(&one.differences);
            Some(Raw { estimate: walsh.estimate(), interval: walsh.interval(alpha)?, p: walsh.p_value() })
        }
        Metric::Failed if pairs.iter().all(|pair| pair.a.failed() + pair.b.failed() == 0) => {
            // None of n: at most 3/n at 95 %, if they come singly.
            let due: u64 = pairs.iter().map(|pair| pair.b.closed.due + pair.b.open.due).sum();
            let most = 3.0 / due.max(1) as f64;
            Some(Raw { estimate: 0.0, interval: Interval { low: -most, high: most }, p: 1.0 })
        }
        Metric::Failed => {
            let flips = Flips::of(&one.differences, hash(settings.seed, FLIPS));
            Some(Raw { estimate: flips.estimate(), interval: flips.interval(alpha)?, p: flips.p_value() })
        }
    }
}

/// A change for the worse, from a difference of pairs.
pub(super) fn for_the_worse(metric: Metric, difference: f64) -> f64 {
    match metric {
        Metric::Throughput => -difference.exp_m1(),
        Metric::Cpu | Metric::P50 | Metric::P99 => difference.exp_m1(),
        Metric::Failed => difference,
        Metric::Hits => -difference,
    }
}

/// The chance of a false alarm: of any figure, and of each by itself.
#[derive(Debug, Clone, Copy)]
struct Levels {
    all: f64,
    each: f64,
}

fn shown(metric: Metric, raw: &Raw, p_of_all: f64, margin: f64, levels: Levels) -> Shown {
    let change = for_the_worse(metric, raw.estimate);
    let ends = [raw.interval.low, raw.interval.high].map(|end| for_the_worse(metric, end));
    let interval = Interval { low: ends[0].min(ends[1]), high: ends[0].max(ends[1]) };
    let word = word(interval, change, margin, p_of_all <= levels.all);
    let could_have_seen = detectable::after(interval, levels.each);
    Shown { change, interval, p: raw.p, p_of_all, margin, could_have_seen, word }
}

/// Holm shows somewhat more than the intervals, which are as wide for each figure as for the first; so a difference may be shown whose interval
/// still touches 0.
fn word(interval: Interval, change: f64, margin: f64, is_shown: bool) -> Word {
    let Interval { low, high } = interval;
    if is_shown && change > 0.0 {
        return match (low >= margin, high < margin) {
            (true, _) => Word::WorseByMore,
            (false, true) => Word::WorseByLess,
            (false, false) => Word::Worse,
        };
    }
    if is_shown && change < 0.0 {
        return match (-high >= margin, -low < margin) {
            (true, _) => Word::BetterByMore,
            (false, true) => Word::BetterByLess,
            (false, false) => Word::Better,
        };
    }
    if -margin < low && high < margin { Word::NoneThatMatters } else { Word::CannotTell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_intervals() {
        for (low, high, change, is_shown, expected) in [
            (0.06, 0.09, 0.07, true, Word::WorseByMore),
            (0.01, 0.03, 0.02, true, Word::WorseByLess),
            (0.02, 0.08, 0.06, true, Word::Worse),
            // Holm shows it, the wider interval does not.
            (-0.001, 0.08, 0.04, true, Word::Worse),
            (-0.02, 0.03, 0.01, false, Word::NoneThatMatters),
            (-0.02, 0.06, 0.01, false, Word::CannotTell),
            (-0.06, 0.02, -0.01, false, Word::CannotTell),
            (-0.08, -0.02, -0.05, true, Word::Better),
            (-0.03, -0.02, -0.025, true, Word::BetterByLess),
            (-0.09, -0.06, -0.07, true, Word::BetterByMore),
        ] {
            assert_eq!(word(Interval { low, high }, change, 0.05, is_shown), expected, "{low} {high}");
        }
    }

    #[test]
    fn conditions_of_intervals() {
        let shown = |low: f64, high: f64, change: f64, is_shown: bool| {
            let interval = Interval { low, high };
            let word = word(interval, change, 0.05, is_shown);
            Shown { change, interval, p: 0.0, p_of_all: 0.0, margin: 0.05, could_have_seen: 0.0, word }
        };
        for (one, fails_slower, fails_within) in [
            (shown(0.06, 0.09, 0.07, true), true, true),
            (shown(0.01, 0.04, 0.02, true), false, false),
            (shown(0.02, 0.08, 0.06, true), true, true),
            (shown(0.02, 0.08, 0.04, true), false, true),
            (shown(-0.02, 0.03, 0.01, false), false, false),
            (shown(-0.02, 0.12, 0.06, false), false, true),
            (shown(-0.09, -0.06, -0.07, true), false, false),
        ] {
            assert_eq!(
                (one.is_worse_by(0.05), one.may_be_worse_by(0.05)),
                (fails_slower, fails_within),
                "{one:?}"
            );
        }
    }
}
