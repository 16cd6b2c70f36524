//! The conclusion of a comparison, in figures and in words.

use super::control::Control;
use super::difference::{Difference, Judgement, Shown, Word};
use super::leg::Side;
use super::settings::{Metric, Settings};
use crate::words;
use serde::{Deserialize, Serialize};

/// The end of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The finding.
    pub finding: Finding,
    /// Both sides were started anew for each pair.
    pub anew: bool,
    /// A against itself in each figure that is judged, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control: Vec<Control>,
    /// Each figure; of a comparison that ended early, none.
    pub figures: Vec<Difference>,
    /// Conditions that were not kept, or are not known to be, one sentence each.
    pub violated: Vec<String>,
    /// Whatever must be known beside it, one sentence each.
    pub notes: Vec<String>,
    /// Pairs that are counted.
    pub pairs: usize,
    /// Legs that were run, void ones among them.
    pub legs: usize,
    /// Legs that were void.
    pub void: usize,
    /// Requests a second of open legs, where that is known.
    pub open_rate: Option<f64>,
    /// Seconds that all legs took.
    pub took_s: f64,
}

/// The finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Finding {
    /// The figures tell.
    Compared,
    /// Only one side gave wrong answers: no matter of statistics.
    WrongAnswers {
        /// The side.
        side: Side,
        /// How many.
        answers: u64,
    },
    /// Nothing but the uncounted block was run.
    Forecast(Forecast),
    /// Too many legs said nothing of the sides.
    NoVerdict {
        /// Disturbances.
        why: String,
    },
    /// A side gave not one good answer in a leg.
    Silent {
        /// The side.
        side: Side,
        /// The leg's number.
        leg: u32,
    },
}

/// The time that a comparison will take and the differences that it will see, from the uncounted block: four legs tell a spread within a factor of two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Forecast {
    /// Pairs that are planned.
    pub pairs: usize,
    /// Seconds that they take.
    pub takes_s: f64,
    /// Each figure that is known.
    pub sees: Vec<Sees>,
    /// Pairs for a difference of 1 % in the first of them, and seconds that they take.
    pub pairs_for_one_percent: Option<usize>,
    /// See `pairs_for_one_percent`.
    pub seconds_for_one_percent: Option<f64>,
}

/// The smallest difference in a figure that four of five such comparisons find.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sees {
    /// The figure.
    pub metric: Metric,
    /// A share.
    pub difference: f64,
}

/// How a comparison ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It ran to its end, and no condition is violated.
    Kept,
    /// There is no result.
    NoResult,
    /// A condition is violated or not known to be kept, or one side's answers were wrong.
    Violated,
}

/// A step of a search for a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BisectStep {
    /// B is not slower.
    Good,
    /// B is slower, or gives wrong answers.
    Bad,
    /// Neither is shown.
    CannotTell,
}

impl BisectStep {
    /// The exit code that `git bisect run` knows.
    pub fn code(self) -> u8 {
        match self {
            BisectStep::Good => 0,
            BisectStep::Bad => 1,
            BisectStep::CannotTell => 125,
        }
    }
}

impl End {
    /// The exit code of a command.
    pub fn code(self) -> u8 {
        match self {
            End::Kept => 0,
            End::NoResult => 1,
            End::Violated => 3,
        }
    }
}

impl Outcome {
    /// How it ends.
    pub fn end(&self) -> End {
        match &self.finding {
            Finding::WrongAnswers { .. } => End::Violated,
            Finding::Silent { .. } => End::NoResult,
            Finding::Compared | Finding::Forecast(_) | Finding::NoVerdict { .. }
                if !self.violated.is_empty() =>
            {
                End::Violated
            }
            Finding::NoVerdict { .. } => End::NoResult,
            Finding::Compared | Finding::Forecast(_) => End::Kept,
        }
    }

    /// Conclusion on B for a search for a commit; that it is slower is what `fail_if_slower` says.
    pub fn step(&self) -> BisectStep {
        match &self.finding {
            Finding::WrongAnswers { side: Side::B, .. } => BisectStep::Bad,
            Finding::WrongAnswers { side: Side::A, .. }
            | Finding::Forecast(_)
            | Finding::NoVerdict { .. }
            | Finding::Silent { .. } => BisectStep::CannotTell,
            Finding::Compared if !self.violated.is_empty() => BisectStep::Bad,
            Finding::Compared => {
                let judged = self.figures.iter().filter(|one| one.metric.is_speed());
                let judged = judged.filter_map(|one| match &one.judgement {
                    Judgement::Judged(shown) => Some(shown.word),
                    Judgement::NotKnown | Judgement::NotJudged { .. } => None,
                });
                let words: Vec<Word> = judged.collect();
                // A figure that nobody could judge says nothing; one that was looked at and not seen says that much.
                match words.is_empty() || words.contains(&Word::CannotTell) {
                    true => BisectStep::CannotTell,
                    false => BisectStep::Good,
                }
            }
        }
    }

    /// The finding in one sentence. Where the legs are those of two processes, it says no more than that.
    pub fn headline(&self) -> String {
        match &self.finding {
            Finding::Compared => self.compared(),
            Finding::WrongAnswers { side, answers } => {
                format!(
                    "{} gives wrong answers, {answers} of them, and {} none; {}",
                    side.name(),
                    side.other().name(),
                    self.compared()
                )
            }
            Finding::Forecast(forecast) => format!("only a forecast: {}", forecast.text()),
            Finding::NoVerdict { why } => format!("no verdict: {why}"),
            Finding::Silent { side, leg } => format!(
                "no comparison: {} gave not one good answer in leg {leg}; see that it answers what is asked, by itself",
                side.name()
            ),
        }
    }

    fn compared(&self) -> String {
        let said = sorted(&self.figures);
        let of =
            if self.anew { "of both sides, started anew for each pair," } else { "of these two processes" };
        let as_much = self.control.iter().filter(|one| one.as_much).map(|one| one.metric.name().to_owned());
        let as_much: Vec<String> = as_much.collect();
        let control = match as_much.as_slice() {
            [] => String::new(),
            figures => format!("; BUT A AGAINST ITSELF differs by as much in {}", words::list(figures)),
        };
        format!("{of} B is, against A: {said}{control}")
    }

    /// All of it as lines for people.
    pub fn text(&self) -> String {
        let mut lines = vec![self.headline(), String::new()];
        lines.extend(self.figures.iter().map(Difference::text));
        lines.extend(self.control_text());
        if !self.figures.is_empty() {
            lines.push(String::new());
        }
        lines.extend(self.violated.iter().map(|one| format!("violated: {one}")));
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        let rate =
            self.open_rate.map_or_else(String::new, |rate| format!(", open legs at {}", words::rate(rate)));
        lines.push(format!(
            "{} of {}, {} void, in {}{rate}",
            words::count(self.pairs, "pair"),
            words::count(self.legs, "leg"),
            self.void,
            words::time(self.took_s)
        ));
        lines.join("\n") + "\n"
    }
}

impl Outcome {
    /// A against itself in one line.
    fn control_text(&self) -> Option<String> {
        let pairs = self.control.first()?.differences.len();
        let told = |one: &Control| {
            let ends = [one.range.low, one.range.high].map(|change| one.metric.own_change(change));
            let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])].map(signed);
            let change = signed(one.metric.own_change(one.change));
            format!("{} {change} ({low} to {high})", one.metric.name())
        };
        let told: Vec<String> = self.control.iter().map(told).collect();
        Some(format!("A against itself, {}: {}", words::count(pairs, "pair"), told.join(", ")))
    }
}

impl Difference {
    /// The figure in one line.
    pub fn text(&self) -> String {
        let name = self.metric.name();
        match &self.judgement {
            Judgement::NotKnown => {
                format!("{name:<15} not judged: CPU of the target is not known; it must run on this machine")
            }
            Judgement::NotJudged { why } => format!("{name:<15} not judged: {why}"),
            Judgement::Judged(shown) => {
                let value = |value: Option<f64>| {
                    value.map_or_else(|| "?".to_owned(), |value| self.metric.value(value))
                };
                let sides = format!("A {}  B {}", value(self.a), value(self.b));
                format!("{name:<15} {sides:<30} {}", shown.text(self.metric))
            }
        }
    }
}

impl Metric {
    /// A value of it as people read it.
    pub fn value(self, value: f64) -> String {
        match self {
            Metric::Throughput => words::rate(value),
            Metric::Cpu => format!("{:.1} us", value * 1e6),
            Metric::P50 | Metric::P99 => format!("{:.2} ms", value),
            Metric::Failed | Metric::Hits => words::percent(value),
        }
    }

    /// A change for the worse as that of the figure itself, which is what people read: less throughput is a fall.
    fn own_change(self, for_the_worse: f64) -> f64 {
        match self {
            Metric::Throughput | Metric::Hits => -for_the_worse,
            Metric::Cpu | Metric::P50 | Metric::P99 | Metric::Failed => for_the_worse,
        }
    }

    /// Worse, better.
    fn comparative(self, is_worse: bool) -> &'static str {
        match (self, is_worse) {
            (Metric::Throughput | Metric::P50 | Metric::P99, true) => "slower",
            (Metric::Throughput | Metric::P50 | Metric::P99, false) => "faster",
            (Metric::Cpu, true) => "costlier",
            (Metric::Cpu, false) => "cheaper",
            (Metric::Failed, true) => "fails more",
            (Metric::Failed, false) => "fails less",
            (Metric::Hits, true) => "fewer hits",
            (Metric::Hits, false) => "more hits",
        }
    }
}

impl Shown {
    /// The word with its figures.
    pub fn text(&self, metric: Metric) -> String {
        let margin = words::percent(self.margin);
        let about = words::percent(self.change.abs());
        let seen = words::percent(self.could_have_seen);
        let is_worse = self.change > 0.0;
        let comparative = metric.comparative(is_worse);
        let word = match self.word {
            Word::WorseByMore | Word::BetterByMore => format!("{comparative} by more than {margin}"),
            Word::WorseByLess | Word::BetterByLess => format!("{comparative}, but by less than {margin}"),
            Word::Worse | Word::Better => format!("{comparative}, by about {about}; may pass {margin}"),
            Word::NoneThatMatters => format!("no difference that matters ({margin})"),
            Word::CannotTell => "cannot tell".to_owned(),
        };
        let ends = [self.interval.low, self.interval.high].map(|change| metric.own_change(change));
        let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])].map(signed);
        let change = signed(metric.own_change(self.change));
        format!("{word}: {change} ({low} to {high}); could have seen {seen}")
    }
}

/// Figures by what was concluded of them, in words.
pub(super) fn sorted(figures: &[Difference]) -> String {
    let of = |chosen: fn(Word) -> bool| -> Vec<String> {
        let chosen =
            |one: &&Difference| matches!(&one.judgement, Judgement::Judged(shown) if chosen(shown.word));
        figures.iter().filter(chosen).map(|one| one.metric.name().to_owned()).collect()
    };
    let worse = of(|word| matches!(word, Word::WorseByMore | Word::WorseByLess | Word::Worse));
    let better = of(|word| matches!(word, Word::Better | Word::BetterByLess | Word::BetterByMore));
    let open = of(|word| word == Word::CannotTell);
    let none = of(|word| word == Word::NoneThatMatters);
    let unjudged: Vec<String> = figures
        .iter()
        .filter(|one| matches!(one.judgement, Judgement::NotKnown | Judgement::NotJudged { .. }))
        .map(|one| one.metric.name().to_owned())
        .collect();
    let parts = [
        ("worse in", worse),
        ("better in", better),
        ("cannot tell of", open),
        ("no difference that matters in", none),
        ("not judged:", unjudged),
    ];
    let said = parts.iter().filter(|(_, figures)| !figures.is_empty());
    let said: Vec<String> = said.map(|(word, figures)| format!("{word} {}", words::list(figures))).collect();
    said.join("; ")
}

/// A share in percent with its sign.
pub(super) fn signed(share: f64) -> String {
    let text = words::percent(share);
    if share > 0.0 && text != "0.00 %" { format!("+{text}") } else { text }
}

impl Forecast {
    /// The forecast in one sentence.
    pub fn text(&self) -> String {
        let sees = |one: &Sees| format!("{} of {}", words::percent(one.difference), one.metric.name());
        let sees: Vec<String> = self.sees.iter().map(sees).collect();
        let mut text = format!("{} take {}", words::count(self.pairs, "pair"), words::time(self.takes_s));
        if !sees.is_empty() {
            text += &format!(" and can see about {}, by the spread of four legs", words::list(&sees));
        }
        if let (Some(pairs), Some(seconds), Some(first)) =
            (self.pairs_for_one_percent, self.seconds_for_one_percent, self.sees.first())
        {
            let name = first.metric.name();
            text += &format!("; for 1 % of {name} about {pairs} pairs are wanted, {}", words::time(seconds));
        }
        text
    }
}

/// Conditions that the figures violate, or do not show to be kept.
pub(super) fn violated(figures: &[Difference], settings: &Settings) -> Vec<String> {
    let mut violated = Vec::new();
    for one in figures {
        let is_failed = one.metric == Metric::Failed;
        if !one.metric.is_speed() && !is_failed {
            continue;
        }
        let name = one.metric.name();
        // A condition on speed is no licence to refuse requests instead.
        let of = |asked: Option<f64>| {
            asked.map(|margin| if is_failed { Metric::Failed.usual_margin() } else { margin })
        };
        let slower = of(settings.fail_if_slower);
        let within = of(settings.require_within);
        match &one.judgement {
            Judgement::Judged(shown) => {
                if slower.is_some_and(|margin| shown.is_worse_by(margin)) {
                    violated.push(format!(
                        "{}: {name} {}",
                        condition("slower", settings.fail_if_slower),
                        shown.text(one.metric)
                    ));
                }
                if within.is_some_and(|margin| shown.may_be_worse_by(margin)) {
                    violated.push(format!(
                        "{}: {name} {}",
                        condition("within", settings.require_within),
                        shown.text(one.metric)
                    ));
                }
            }
            Judgement::NotKnown => {}
            Judgement::NotJudged { why } if within.is_some() => {
                violated.push(format!(
                    "{}: {name} is not judged: {why}",
                    condition("within", settings.require_within)
                ));
            }
            Judgement::NotJudged { .. } => {}
        }
    }
    violated
}

/// A condition as it was typed.
pub(super) fn condition(word: &str, margin: Option<f64>) -> String {
    format!("{word}:{}", words::percent(margin.unwrap_or(0.0)).replace(' ', ""))
}
