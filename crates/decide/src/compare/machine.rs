//! The schedule of legs: an uncounted block, then pairs whose order was drawn, void ones again.

use super::control::Control;
use super::difference::{self, Both, Difference, Pair, for_the_worse};
use super::leg::{Leg, LegResult, Pace, Side};
use super::outcome::{self, Finding, Forecast, Outcome, Sees};
use super::settings::{ALPHA, Lengths, Metric, Settings};
use super::steady;
use super::usual::{self, Disturbance};
use crate::machine::{Machine, Next, Refusal};
use crate::statistics::{detectable, spread};
use crate::void::Void;
use crate::words;
use plan::draw::{Draw, hash};
use std::collections::BTreeMap;

/// Open legs offer this share of what the slower side got from closed ones.
const OPEN_SHARE: f64 = 0.6;
/// Legs may be void in this share, after the first few.
const VOIDS: f64 = 0.2;
const FEW_VOIDS: usize = 3;
/// A kind of failure in so many legs of one side and none of the other is told, whatever p says.
const TELLING_LEGS: usize = 2;
/// Warm-ups are so many times longer where the usual ones were too short.
const LONGER: f64 = 2.0;
/// Far from the number of any repeat.
const AGAIN: u64 = 1 << 32;
/// Salts of what is drawn.
const ORDER: u64 = 0x0ABB;
const REQUESTS: u64 = 0x5EED;
const CONTROLS: u64 = 0xAA;

/// A comparison of two sides.
#[derive(Debug, Clone)]
pub struct Compare {
    settings: Settings,
    /// All that was run.
    log: Vec<(Leg, LegResult)>,
    stage: CompareStage,
    /// Results of the group of legs that is being run; a group is repeated as a whole.
    group: Vec<LegResult>,
    /// How often the group was begun before.
    repeats: u64,
    /// The uncounted legs: closed parts and open ones, in the order of their block.
    warm_up: [Vec<LegResult>; 2],
    open_rate: Option<f64>,
    /// The uncounted block was not steady, so everything warms up for twice as long.
    longer: bool,
    pairs: Vec<Pair>,
    /// Pairs of A against itself.
    controls: Vec<Pair>,
    next: Next<Leg, Outcome>,
}

/// The group of legs that is being run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CompareStage {
    /// Four closed legs that are not counted; they tell the rate of open ones.
    WarmClosed,
    /// Four open legs that are not counted.
    WarmOpen,
    /// A pair: closed and open part of one side, then of the other.
    Pair,
    /// The same of A against itself.
    Control,
}

impl Machine for Compare {
    type Settings = Settings;
    type Ask = Leg;
    type Answer = LegResult;
    type Outcome = Outcome;

    fn start(settings: &Settings) -> Result<Compare, Refusal> {
        settings.check()?;
        let mut compare = Compare {
            settings: settings.clone(),
            log: Vec::new(),
            stage: CompareStage::WarmClosed,
            group: Vec::new(),
            repeats: 0,
            warm_up: [Vec::new(), Vec::new()],
            open_rate: None,
            longer: false,
            pairs: Vec::new(),
            controls: Vec::new(),
            next: Next::Done(nothing_yet()),
        };
        compare.next = compare.leg();
        Ok(compare)
    }

    fn next(&self) -> &Next<Leg, Outcome> {
        &self.next
    }

    fn take(&mut self, answer: LegResult) {
        let Next::Run(leg) = &self.next else { return };
        let leg = leg.clone();
        self.log.push((leg.clone(), answer.clone()));
        self.next = self.after(&leg, answer);
    }
}

impl Compare {
    /// The number of the leg that is next, and of all if none is void from here on.
    pub fn progress(&self) -> (usize, usize) {
        let pairs = self.settings.most_pairs() + self.settings.most_controls();
        let uncounted = if self.longer { 16 } else { 8 };
        let planned = uncounted + if self.settings.forecast_only { 0 } else { 4 * pairs };
        let whole = match self.stage {
            CompareStage::WarmClosed => uncounted - 8,
            CompareStage::WarmOpen => uncounted - 4,
            CompareStage::Pair | CompareStage::Control => {
                uncounted + 4 * (self.pairs.len() + self.controls.len())
            }
        };
        // A void leg takes those of its group along.
        (self.log.len() + 1, self.log.len() + planned - whole - self.group.len())
    }

    /// The reason why the leg that is next is void by what the machine always has, if this is its result.
    pub fn void_beyond_usual(&self, result: &LegResult) -> Option<Void> {
        let usual = match self.stage {
            CompareStage::WarmClosed | CompareStage::WarmOpen => Disturbance::UNKNOWN,
            CompareStage::Pair | CompareStage::Control => Disturbance::usual(self.warm_up.iter().flatten()),
        };
        usual.void(result)
    }

    /// The time that it will take and the differences that it will see, once the uncounted block is over.
    pub fn forecast(&self) -> Option<Forecast> {
        let [closed, open] = &self.warm_up;
        if open.is_empty() {
            return None;
        }
        let legs: Vec<Both> = closed
            .iter()
            .zip(open)
            .map(|(closed, open)| Both { closed: closed.clone(), open: open.clone() })
            .collect();
        let pair_s = 2.0 * self.lengths().leg_s();
        let alpha = ALPHA / self.settings.figures.len() as f64;
        let multiple = detectable::multiple(self.settings.most_pairs(), alpha)?;
        let spreads: Vec<(Metric, f64)> = self
            .settings
            .figures
            .iter()
            .filter_map(|metric| Some((*metric, spread_of(*metric, &legs)?)))
            .collect();
        let sees = spreads.iter().map(|(metric, spread)| Sees {
            metric: *metric,
            difference: for_the_worse(*metric, multiple * spread).abs(),
        });
        let for_one = spreads
            .first()
            .map(|(_, spread)| detectable::pairs_needed(*spread, 0.01, alpha).next_multiple_of(2));
        Some(Forecast {
            pairs: self.settings.most_pairs(),
            takes_s: pair_s * (self.settings.most_pairs() + self.settings.most_controls()) as f64,
            sees: sees.collect(),
            pairs_for_one_percent: for_one,
            seconds_for_one_percent: for_one.map(|pairs| pairs as f64 * pair_s),
        })
    }

    fn after(&mut self, leg: &Leg, answer: LegResult) -> Next<Leg, Outcome> {
        // Whatever disturbed it: a machine that is busy turns no good answer into a bad one.
        let is_refused = !answer.failures.is_empty() && !matches!(answer.void, Some(Void::Generator { .. }));
        if answer.good == 0 && is_refused {
            return self.done(Finding::Silent { side: leg.asked(), leg: leg.number });
        }
        if let Some(why) = self.too_many_voids() {
            return self.done(Finding::NoVerdict { why });
        }
        if answer.void.is_some() {
            // For a cause that was fixed beforehand; the whole group, so that both sides of a pair have the same neighbourhood.
            self.group.clear();
            self.repeats += 1;
            return self.leg();
        }
        if answer.good == 0 {
            return self.done(Finding::Silent { side: leg.asked(), leg: leg.number });
        }
        self.group.push(answer);
        if self.group.len() == 4 {
            self.repeats = 0;
            let group = std::mem::take(&mut self.group);
            if let Some(end) = self.absorb(group) {
                return end;
            }
        }
        self.leg()
    }

    /// Takes in a whole group; the end, if this was the last.
    fn absorb(&mut self, group: Vec<LegResult>) -> Option<Next<Leg, Outcome>> {
        match self.stage {
            CompareStage::WarmClosed => {
                self.open_rate = Some(OPEN_SHARE * slower(&self.order(0), &group));
                self.warm_up[0] = group;
                self.stage = CompareStage::WarmOpen;
                None
            }
            CompareStage::WarmOpen => {
                if !self.longer && steady::still_warms(&self.warm_up[0], &group) {
                    self.longer = true;
                    self.open_rate = None;
                    self.stage = CompareStage::WarmClosed;
                    return None;
                }
                self.warm_up[1] = group;
                self.stage = CompareStage::Pair;
                let forecast = self.settings.forecast_only.then(|| self.forecast()).flatten();
                forecast.map(|forecast| self.done(Finding::Forecast(forecast)))
            }
            CompareStage::Pair => {
                self.pairs.push(pair_of(self.first_of(self.pairs.len()), group));
                if self.settings.is_controlled_after(self.pairs.len()) {
                    self.stage = CompareStage::Control;
                }
                self.is_decided().then(|| self.done(self.compared()))
            }
            CompareStage::Control => {
                self.controls.push(pair_of(self.first_of_control(), group));
                self.stage = CompareStage::Pair;
                None
            }
        }
    }

    /// The next leg of the group.
    fn leg(&self) -> Next<Leg, Outcome> {
        let place = self.group.len();
        let lengths = self.lengths();
        let of_pair = |first: Side| if place < 2 { first } else { first.other() };
        let requests = hash(self.settings.seed, REQUESTS);
        let (pair, side, is_open) = match self.stage {
            CompareStage::WarmClosed => (hash(requests, (place / 2) as u64), self.order(0)[place], false),
            CompareStage::WarmOpen => (hash(requests, (place / 2) as u64), self.order(0)[place], true),
            CompareStage::Pair => {
                let pair = self.pairs.len();
                (hash(requests, pair as u64 + 2), of_pair(self.first_of(pair)), place % 2 == 1)
            }
            CompareStage::Control => {
                let own = hash(hash(requests, CONTROLS), self.controls.len() as u64);
                (own, of_pair(self.first_of_control()), place % 2 == 1)
            }
        };
        let (pace, warm_s, measure_s) = match (is_open, self.open_rate) {
            (true, Some(rate)) => (Pace::Open { rate }, lengths.open_warm_s, lengths.open_s),
            (true, None) | (false, _) => {
                (Pace::Closed { users: self.settings.users }, lengths.closed_warm_s, lengths.closed_s)
            }
        };
        Next::Run(Leg {
            number: self.log.len() as u32 + 1,
            pair: match self.stage {
                CompareStage::WarmClosed | CompareStage::WarmOpen => 0,
                CompareStage::Pair => self.pairs.len() as u32 + 1,
                CompareStage::Control => self.controls.len() as u32 + 1,
            },
            control: self.stage == CompareStage::Control,
            side,
            pace,
            warm_s,
            measure_s,
            // A block that is run again asks for other objects than the one before.
            seed: hash(hash(pair, self.repeats + if self.longer { AGAIN } else { 0 }), u64::from(is_open)),
        })
    }

    /// Lengths of a leg's parts: warm-ups are longer where the usual ones were found too short.
    fn lengths(&self) -> Lengths {
        let usual = self.settings.lengths;
        match self.longer {
            false => usual,
            true => Lengths {
                closed_warm_s: LONGER * usual.closed_warm_s,
                open_warm_s: LONGER * usual.open_warm_s,
                ..usual
            },
        }
    }

    /// The order of a block: ABBA or BAAB. Block 0 is not counted.
    fn order(&self, block: usize) -> [Side; 4] {
        let first = if Draw::new(hash(self.settings.seed, ORDER), block as u64).chance(0.5) {
            Side::A
        } else {
            Side::B
        };
        [first, first.other(), first.other(), first]
    }

    /// The side that is first in a pair, counted from 0.
    fn first_of(&self, pair: usize) -> Side {
        self.order(1 + pair / 2)[2 * (pair % 2)]
    }

    /// The label that is first in the next pair of A against itself.
    fn first_of_control(&self) -> Side {
        let drawn = hash(hash(self.settings.seed, ORDER), CONTROLS);
        if Draw::new(drawn, self.controls.len() as u64).chance(0.5) { Side::A } else { Side::B }
    }

    fn voids(&self) -> impl Iterator<Item = &Void> {
        self.log.iter().filter_map(|(_, result)| result.void.as_ref())
    }

    fn too_many_voids(&self) -> Option<String> {
        let voids = self.voids().count();
        if voids <= FEW_VOIDS || voids as f64 <= VOIDS * self.log.len() as f64 {
            return None;
        }
        // The same cause has other figures in each leg; the first one's are told.
        let mut causes: BTreeMap<String, (&str, usize)> = BTreeMap::new();
        for void in self.voids() {
            let (Void::Generator { why } | Void::Disturbed { why }) = void;
            let kind: String = why.chars().filter(|letter| !letter.is_ascii_digit()).collect();
            causes.entry(kind).or_insert((why, 0)).1 += 1;
        }
        let causes: Vec<String> = causes.values().map(|(why, legs)| format!("{why} ({legs})")).collect();
        Some(format!("{voids} of {} legs were void: {}", self.log.len(), words::list(&causes)))
    }

    fn compared(&self) -> Finding {
        let faulty =
            |of: fn(&Pair) -> &Both| -> u64 { self.pairs.iter().map(|pair| of(pair).faulty()).sum() };
        match (faulty(|pair| &pair.a), faulty(|pair| &pair.b)) {
            (0, 0) => Finding::Compared,
            (0, answers) => Finding::WrongAnswers { side: Side::B, answers },
            (answers, 0) => Finding::WrongAnswers { side: Side::A, answers },
            (_, _) => Finding::Compared,
        }
    }

    /// It is time to look, and nothing more is to be had, or each figure is decided.
    fn is_decided(&self) -> bool {
        let pairs = self.pairs.len();
        self.settings.looks_after(pairs)
            && (pairs == self.settings.most_pairs()
                || difference::all(&self.pairs, &self.settings).iter().all(Difference::is_decided))
    }

    fn done(&self, finding: Finding) -> Next<Leg, Outcome> {
        let is_compared = matches!(finding, Finding::Compared | Finding::WrongAnswers { .. });
        let figures = if is_compared { difference::all(&self.pairs, &self.settings) } else { Vec::new() };
        let mut violated = outcome::violated(&figures, &self.settings);
        if let (Finding::NoVerdict { why }, Some(margin)) = (&finding, self.settings.require_within) {
            violated.push(format!("{}: it is not known: {why}", outcome::condition("within", Some(margin))));
        }
        let void = self.voids().count();
        Next::Done(Outcome {
            notes: if is_compared { self.notes() } else { Vec::new() },
            finding,
            anew: self.settings.anew,
            control: figures.iter().filter_map(|one| Control::of(one, &self.controls)).collect(),
            figures,
            violated,
            pairs: self.pairs.len(),
            legs: self.log.len(),
            void,
            open_rate: self.open_rate,
            took_s: self.log.iter().map(|(_, result)| result.took_s).sum(),
        })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = steady::notes(&self.pairs);
        let both = self.pairs.iter().flat_map(|pair| [&pair.a, &pair.b]);
        notes.extend(usual::notes(both.flat_map(|both| [&both.closed, &both.open])));
        if self.longer {
            notes.push(
                "the first block was not steady: its legs rose or fell together from one half to the other, so that warm-ups are twice as long as \
                 asked for"
                    .to_owned(),
            );
        }
        if !self.settings.anew {
            notes.push(
            "both processes were there before and were not started anew: their luck of the start (hash seeds, memory, who accepts whom) is in \
             the difference, so this speaks of two processes, not of two builds"
                .to_owned(),
            );
        }
        let counts = |leg: &Leg, side: Side| leg.side == side && leg.pair > 0 && !leg.control;
        let legs = |side: Side| self.log.iter().filter(move |(leg, _)| counts(leg, side));
        let faulty = |side: Side| -> u64 { legs(side).map(|(_, result)| result.faulty).sum() };
        if faulty(Side::A) > 0 && faulty(Side::B) > 0 {
            notes.push(format!(
                "both sides give wrong answers: A {}, B {}",
                faulty(Side::A),
                faulty(Side::B)
            ));
        }
        for side in [Side::A, Side::B] {
            let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
            for (_, result) in legs(side) {
                result
                    .failures
                    .iter()
                    .filter(|(_, count)| **count > 0)
                    .for_each(|(kind, _)| *kinds.entry(kind).or_default() += 1);
            }
            let has = |kind: &str| {
                legs(side.other())
                    .any(|(_, result)| result.failures.get(kind).is_some_and(|count| *count > 0))
            };
            for (kind, count) in
                kinds.into_iter().filter(|(kind, count)| *count >= TELLING_LEGS && !has(kind))
            {
                notes.push(format!(
                    "{kind}: in {count} legs of {} and none of {}",
                    side.name(),
                    side.other().name()
                ));
            }
        }
        notes
    }
}

/// A pair from the parts of a whole group; `first`: whose come first.
fn pair_of(first: Side, group: Vec<LegResult>) -> Pair {
    let mut parts = group.into_iter();
    let mut both = || Some(Both { closed: parts.next()?, open: parts.next()? });
    let one = both().expect("a group has four parts");
    let other = both().expect("a group has four parts");
    match first {
        Side::A => Pair { a: one, b: other },
        Side::B => Pair { a: other, b: one },
    }
}

/// The value of `next` while there is nothing; never seen.
fn nothing_yet() -> Outcome {
    Outcome {
        finding: Finding::NoVerdict { why: "nothing was run".to_owned() },
        anew: false,
        control: Vec::new(),
        figures: Vec::new(),
        violated: Vec::new(),
        notes: Vec::new(),
        pairs: 0,
        legs: 0,
        void: 0,
        open_rate: None,
        took_s: 0.0,
    }
}

/// Good answers a second of the side that got fewer.
fn slower(order: &[Side; 4], legs: &[LegResult]) -> f64 {
    let of = |side: Side| {
        let rates: Vec<f64> =
            order.iter().zip(legs).filter(|(of, _)| **of == side).map(|(_, leg)| leg.good_per_s()).collect();
        spread::mean(&rates)
    };
    of(Side::A).min(of(Side::B))
}

/// The spread of a pair's difference, from a block of four legs: outer ones are of one side, inner ones of the other, and two legs of one side
/// differ as those of a pair do without a difference.
fn spread_of(metric: Metric, legs: &[Both]) -> Option<f64> {
    let figures: Vec<f64> = legs.iter().map(|leg| difference::figure(metric, leg)).collect::<Option<_>>()?;
    let [first, second, third, fourth] = figures.as_slice() else { return None };
    let outer = difference::difference(metric, *first, *fourth);
    let inner = difference::difference(metric, *second, *third);
    let spread = f64::midpoint(outer * outer, inner * inner).sqrt();
    (spread > 0.0).then_some(spread)
}
