//! Popularity: Zipf over so many objects, and a share of requests for objects that nobody asks for again.
//!
//! Ranks are not read off the counts: an object that was asked for often is not therefore popular, and who sorts by counts and then fits
//! the counts is flattered. Instead each law says how many objects should have been asked for once, twice and so on, and the law under
//! which the numbers that were seen are most likely is taken. Where its hit ratios do not come close, which is what caches are tested for,
//! it is moved until they do.

use super::FitAsked;
use super::curve::Judge;
use super::numbers::{highest, normal_below, rounded};
use foldhash::quality::FixedState;
use plan::Law;
use plan::draw::hash;
use plan::popularity::{Popularity, bands};
use std::collections::{HashMap, HashSet};

/// Counts up to this are told apart; above, each step is a quarter longer than the one before.
const EXACT: u64 = 32;
/// Parts of the requests that are left out in turn, to see how much the law moves.
const PARTS: usize = 10;
/// The 95th percentile of Student's distribution with one degree of freedom less than there are parts.
const STUDENT: f64 = 1.833;
/// Users from which on parts are parts of the users.
const ENOUGH_USERS: usize = 100;
/// The most that the hot set may have of the objects that were seen.
const MOST_UNSEEN: f64 = 64.0;
/// Largest exponent.
const MOST_ALPHA: f64 = 3.0;
/// A difference of hit ratios from which on the law is moved.
const FAR: f64 = 0.01;
/// One that makes the moved law worth having; else half of what it was before does.
const CLOSE: f64 = 0.03;
/// Salt that parts users.
const PARTING: u64 = 0x7061_7274;
/// Requests on which moved laws are tried.
const TRIED: usize = 60_000;

/// Popularity, and what it was learnt of.
#[derive(Debug, Clone, PartialEq)]
pub struct Learnt {
    /// The law.
    pub law: Popularity,
    /// Objects that were asked for.
    pub objects: u64,
    /// Objects of them that were asked for once.
    pub once: u64,
    /// The largest difference of hit ratios if all objects were of one size.
    pub error: f64,
    /// How the law was found.
    pub grounds: Grounds,
    /// The law's hot set is as large as was allowed: nobody has seen its end.
    pub endless: bool,
}

/// How a law was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Grounds {
    /// It makes the numbers of objects asked for once, twice and so on most likely.
    Counts(Intervals),
    /// It was moved away from that one, whose exponent and hot set these are, until hit ratios came closer.
    HitRatios {
        /// Exponent by the counts.
        alpha: f64,
        /// Hot set by the counts.
        hot: u64,
        /// One-timers by the counts.
        one_timers: f64,
    },
}

/// Intervals that hold the true numbers nine times out of ten, if the law is of the right kind.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Intervals {
    /// Of the number of objects.
    pub hot: Confidence,
    /// Of the exponent.
    pub alpha: Confidence,
    /// Of the share of one-timers.
    pub one_timers: Confidence,
}

/// From and to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Confidence {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The law that counts, or failing that hit ratios, speak for.
pub(super) fn fit(asked: &[FitAsked], users: bool, judge: &Judge<'_>) -> Learnt {
    let parts = parts_of(asked, users);
    let counts = PopularityCounts::of(asked, &parts);
    let seen = counts.seen(None);
    let found = seen.most_likely();
    let of_counts = found.law();
    // Sizes are another law's matter.
    let judge = judge.of_alike();
    let recorded = judge.recorded();
    let off = |law: &Popularity| judge.beside(&recorded, law).error();
    let error_of_counts = off(&of_counts);
    let mut learnt = Learnt {
        objects: seen.objects,
        once: seen.once,
        endless: found.hot() >= 0.99 * seen.objects as f64 * MOST_UNSEEN,
        grounds: Grounds::Counts(intervals(&counts, &found)),
        error: error_of_counts,
        law: of_counts,
    };
    // As many requests of the same law differ by chance.
    let chance = 2.0 * (0.5 / asked.len() as f64).sqrt();
    if error_of_counts > FAR + chance {
        let moved = closest(&found, &judge.of_first(TRIED)).law();
        let error = off(&moved);
        let is_close = error < error_of_counts && error <= CLOSE;
        if is_close || error < error_of_counts / 2.0 {
            let Popularity { hot, one_timers, .. } = learnt.law;
            learnt.grounds = Grounds::HitRatios { alpha: found.alpha, hot, one_timers };
            learnt.law = moved;
            learnt.error = error;
        }
    }
    learnt
}

/// The part that each request belongs to: that of its user, or, where there are few, that of its time.
fn parts_of(asked: &[FitAsked], users: bool) -> Vec<usize> {
    let mut seen: HashSet<u64, FixedState> = HashSet::default();
    seen.extend(asked.iter().map(|asked| asked.user));
    if users && seen.len() >= ENOUGH_USERS {
        return asked.iter().map(|asked| (hash(PARTING, asked.user) % PARTS as u64) as usize).collect();
    }
    (0..asked.len()).map(|number| number * PARTS / asked.len()).collect()
}

/// How often each object was asked for, by parts of the requests.
struct PopularityCounts {
    objects: Vec<[u32; PARTS]>,
    requests: [u64; PARTS],
}

impl PopularityCounts {
    fn of(asked: &[FitAsked], parts: &[usize]) -> PopularityCounts {
        let mut places: HashMap<u32, usize, FixedState> = HashMap::default();
        let mut counts = PopularityCounts { objects: Vec::new(), requests: [0; PARTS] };
        for (asked, part) in asked.iter().zip(parts) {
            let next = counts.objects.len();
            let place = *places.entry(asked.object).or_insert(next);
            if place == next {
                counts.objects.push([0; PARTS]);
            }
            counts.objects[place][*part] += 1;
            counts.requests[*part] += 1;
        }
        counts
    }

    /// Numbers of objects as they are without one of the parts.
    fn seen(&self, without: Option<usize>) -> PopularitySeen {
        let kept = |part: usize| without != Some(part);
        let requests: u64 = (0..PARTS).filter(|part| kept(*part)).map(|part| self.requests[part]).sum();
        let mut seen =
            PopularitySeen { requests: requests as f64, objects: 0, once: 0, bins: bins(requests) };
        for object in &self.objects {
            let count: u64 = (0..PARTS).filter(|part| kept(*part)).map(|part| u64::from(object[part])).sum();
            if count > 0 {
                seen.objects += 1;
                seen.once += u64::from(count == 1);
                let bin = seen.bins.partition_point(|bin| bin.from <= count) - 1;
                seen.bins[bin].objects += 1.0;
            }
        }
        seen
    }
}

/// Objects that were asked for so often, up to the next bin's beginning.
struct Bin {
    from: u64,
    objects: f64,
}

fn bins(most: u64) -> Vec<Bin> {
    let mut bins = Vec::new();
    let mut from = 1;
    while from <= most.max(1) {
        bins.push(Bin { from, objects: 0.0 });
        from += if from < EXACT { 1 } else { from / 4 };
    }
    bins
}

/// Numbers of objects that were asked for once, twice and so on.
struct PopularitySeen {
    requests: f64,
    objects: u64,
    once: u64,
    bins: Vec<Bin>,
}

/// The three numbers of a law.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PopularityFound {
    log_hot: f64,
    alpha: f64,
    one_timers: f64,
}

impl PopularityFound {
    fn hot(&self) -> f64 {
        self.log_hot.exp().round().clamp(1.0, 4_294_967_296.0)
    }

    fn law(&self) -> Popularity {
        let alpha = (self.alpha * 1e4).round() / 1e4;
        Popularity {
            hot: self.hot() as u64,
            law: if alpha > 0.0 { Law::Zipf { alpha } } else { Law::Uniform },
            one_timers: (self.one_timers * 1e5).round() / 1e5,
            ..Popularity::default()
        }
    }

    fn axes(&self) -> [f64; 3] {
        [self.log_hot, self.alpha, self.one_timers]
    }
}

impl PopularitySeen {
    /// The law of these axes, within what is possible.
    fn found(&self, axes: &[f64; 3]) -> PopularityFound {
        PopularityFound {
            log_hot: axes[0].clamp(0.0, (self.objects as f64 * MOST_UNSEEN).ln()),
            alpha: axes[1].clamp(0.0, MOST_ALPHA),
            one_timers: axes[2].clamp(0.0, self.once as f64 / self.requests),
        }
    }

    /// How likely a law makes what was seen; only differences have a meaning.
    fn likelihood(&self, found: &PopularityFound) -> f64 {
        let mut expected = vec![0.0; self.bins.len()];
        expected[0] = self.requests * found.one_timers;
        let hot = self.requests * (1.0 - found.one_timers);
        for (ranks, share) in bands(&found.law()) {
            self.expect(ranks, hot * share, &mut expected);
        }
        let seen = self.bins.iter().zip(&expected);
        seen.map(|(bin, expected)| bin.objects * expected.max(1e-12).ln() - expected).sum()
    }

    /// Adds so many objects, each of which is asked for so often on average.
    fn expect(&self, objects: f64, mean: f64, expected: &mut [f64]) {
        // The share of a Poisson distribution below the bin.
        let mut below = (-mean).exp();
        let mut exactly = below;
        for (place, bin) in self.bins.iter().enumerate() {
            let up_to = match self.bins.get(place + 1) {
                None => 1.0,
                Some(_) if bin.from < EXACT => {
                    exactly *= mean / bin.from as f64;
                    below + exactly
                }
                Some(next) => poisson_below(next.from as f64, mean),
            };
            expected[place] += objects * (up_to - below).max(0.0);
            below = up_to;
            if below > 1.0 - 1e-12 {
                break;
            }
        }
    }

    fn most_likely(&self) -> PopularityFound {
        let repeated = (self.objects - self.once) as f64 + self.once as f64 / 2.0;
        let single = self.once as f64 / self.requests;
        let starts = [[0.6, 0.2], [0.9, 0.5], [1.2, 0.8]];
        let climbed = starts.map(|[alpha, once]| {
            let start = [repeated.max(2.0).ln(), alpha, single * once];
            self.climb(start, [0.7, 0.2, 0.2 * single + 1e-4], 150)
        });
        let best =
            climbed.into_iter().max_by(|one, other| self.likelihood(one).total_cmp(&self.likelihood(other)));
        let best = best.expect("there are starts");
        // A simplex may have shrunk on a slope: another one begins where it ended.
        self.climb(best.axes(), [-0.2, -0.05, -0.05 * single - 1e-4], 100)
    }

    fn climb(&self, start: [f64; 3], steps: [f64; 3], rounds: u32) -> PopularityFound {
        self.found(&highest(start, steps, rounds, |axes| self.likelihood(&self.found(axes))))
    }
}

/// Share of a Poisson distribution below a number (Wilson and Hilferty, 1931).
fn poisson_below(number: f64, mean: f64) -> f64 {
    if mean <= 0.0 {
        return 1.0;
    }
    let ninth = 1.0 / (9.0 * number);
    normal_below(-3.0 * number.sqrt() * ((mean / number).cbrt() - 1.0 + ninth))
}

/// How much the law moves where a part of the requests is left out in turn (the jackknife).
fn intervals(counts: &PopularityCounts, found: &PopularityFound) -> Intervals {
    let steps = [0.1, 0.03, 0.02];
    let without: Vec<[f64; 3]> = (0..PARTS)
        .map(|part| counts.seen(Some(part)))
        .filter(|seen| seen.objects > 0)
        .map(|seen| seen.climb(found.axes(), steps, 80).axes())
        .collect();
    let parts = without.len() as f64;
    let about = |axis: usize| {
        let mean = without.iter().map(|axes| axes[axis]).sum::<f64>() / parts;
        let squares: f64 = without.iter().map(|axes| (axes[axis] - mean).powi(2)).sum();
        let half = STUDENT * (squares * (parts - 1.0) / parts).sqrt();
        let middle = found.axes()[axis];
        Confidence { low: middle - half, high: middle + half }
    };
    let hot = about(0);
    let at_least_nothing = |interval: Confidence| Confidence { low: interval.low.max(0.0), ..interval };
    Intervals {
        hot: Confidence { low: rounded(hot.low.exp(), 3), high: rounded(hot.high.exp(), 3) },
        alpha: at_least_nothing(about(1)),
        one_timers: at_least_nothing(about(2)),
    }
}

/// The law near one that brings hit ratios closest.
fn closest(found: &PopularityFound, judge: &Judge<'_>) -> PopularityFound {
    let recorded = judge.recorded();
    let asked = judge.asked;
    let counts = PopularityCounts::of(asked, &vec![0; asked.len()]);
    let seen = counts.seen(None);
    let closeness = |axes: &[f64; 3]| -judge.beside(&recorded, &seen.found(axes).law()).error();
    let single = seen.once as f64 / seen.requests;
    seen.found(&highest(found.axes(), [0.7, -0.2, 0.3 * single + 1e-3], 40, closeness))
}
