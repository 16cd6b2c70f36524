//! Popularity: which object a request asks for, as a law over a hot set plus objects that are asked for once.

use crate::draw::{Draw, fraction, hash};
use crate::site::{hot_object, one_timer};
use rand_distr::{Distribution, Zipf};
use serde::{Deserialize, Serialize};

/// The law by which requests fall on objects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Popularity {
    /// Number of objects in the hot set, at least 1.
    pub hot: u64,
    /// How requests spread over the hot set.
    pub law: Law,
    /// Share of requests for objects that are never asked for again.
    pub one_timers: f64,
    /// How often per hour each hot object is replaced by a new one, staggered by rank.
    pub drift_per_hour: f64,
    /// Which working set: sets of different numbers share no object.
    pub set: u8,
}

impl Default for Popularity {
    fn default() -> Popularity {
        Popularity { hot: 1000, law: Law::Uniform, one_timers: 0.6, drift_per_hour: 0.0, set: 0 }
    }
}

/// How requests spread over the hot set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Law {
    /// Each object is as likely as any other.
    Uniform,
    /// The object of rank r (from 1) has weight r^-alpha.
    Zipf {
        /// Exponent; 0.6 to 0.8 at proxies, 0.9 to 1.1 at edges (spec/field.md 5c).
        alpha: f64,
    },
    /// Each object once, in order of rank, and then again: what fills a cache.
    InOrder,
}

/// The object that a request asks for: a rank of the hot set, or an object of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// Rank in the hot set, from 0, and how often drift has replaced that rank's object.
    Hot {
        /// From 0, the most popular under Zipf.
        rank: u64,
        /// Number of replacements since 1970.
        generation: u32,
    },
    /// An object that is asked for once; 62 random bits name it.
    Once(u64),
}

impl Pick {
    /// The object's id in the native form.
    pub fn object(self, set: u8) -> u64 {
        match self {
            Pick::Hot { rank, generation } => hot_object(set, generation as u16, rank),
            Pick::Once(bits) => one_timer(bits),
        }
    }
}

/// A [`Popularity`] made ready for drawing; cheap to copy.
#[derive(Debug, Clone)]
pub struct Sampler {
    popularity: Popularity,
    zipf: Option<Zipf<f64>>,
}

impl Sampler {
    /// Prepares a law that [`crate::Plan::check`] has accepted.
    pub fn new(popularity: &Popularity) -> Sampler {
        let zipf = match popularity.law {
            Law::Zipf { alpha } => Zipf::new(popularity.hot.max(1) as f64, alpha).ok(),
            Law::Uniform | Law::InOrder => None,
        };
        Sampler { popularity: popularity.clone(), zipf }
    }

    /// Draws the object that request `number` asks for at `unix_us`; further draws for the same request come from `draw` too.
    pub fn pick(&self, draw: &mut Draw, number: u64, unix_us: u64) -> Pick {
        if draw.chance(self.popularity.one_timers) {
            return Pick::Once(draw.bits() >> 2);
        }
        let rank = match (&self.zipf, self.popularity.law) {
            (Some(zipf), _) => zipf.sample(draw) as u64 - 1,
            (None, Law::InOrder) => number % self.popularity.hot,
            (None, _) => draw.below(self.popularity.hot),
        };
        Pick::Hot { rank, generation: self.generation(rank, unix_us) }
    }

    fn generation(&self, rank: u64, unix_us: u64) -> u32 {
        if self.popularity.drift_per_hour == 0.0 {
            return 0;
        }
        let hours = unix_us as f64 / 3.6e9;
        let stagger = fraction(hash(0xD1, rank));
        (hours * self.popularity.drift_per_hour + stagger) as u64 as u32
    }
}

/// The probability that a hot request falls on each rank, grouped: (number of ranks, probability of one of them).
///
/// Up to 4,096 ranks stand alone; further ones are grouped in bands that double about every 64 bands, whose ranks are
/// alike to within a few percent.
pub fn bands(popularity: &Popularity) -> Vec<(f64, f64)> {
    let hot = popularity.hot.max(1);
    let Law::Zipf { alpha } = popularity.law else { return vec![(hot as f64, 1.0 / hot as f64)] };
    let mut bands = Vec::new();
    let mut rank = 1u64;
    while rank <= hot {
        let width = (rank / 64).max(1).min(hot - rank + 1);
        let middle = rank as f64 + (width as f64 - 1.0) / 2.0;
        bands.push((width as f64, middle.powf(-alpha)));
        rank += width;
    }
    let total: f64 = bands.iter().map(|(count, weight)| count * weight).sum();
    bands.iter().map(|(count, weight)| (*count, weight / total)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn counts(popularity: &Popularity, requests: u64) -> HashMap<Pick, u64> {
        let sampler = Sampler::new(popularity);
        let mut counts = HashMap::new();
        for number in 0..requests {
            *counts.entry(sampler.pick(&mut Draw::new(9, number), number, 0)).or_insert(0) += 1;
        }
        counts
    }

    impl std::hash::Hash for Pick {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            self.object(0).hash(state);
        }
    }

    #[test]
    fn one_timers_never_come_again_and_hot_objects_do() {
        let counts = counts(&Popularity { hot: 10, one_timers: 0.5, ..Popularity::default() }, 10_000);
        let once: Vec<_> = counts.iter().filter(|(pick, _)| matches!(pick, Pick::Once(_))).collect();
        assert!((4_800..5_200).contains(&once.len()));
        assert!(once.iter().all(|(_, count)| **count == 1));
        assert_eq!(counts.len() - once.len(), 10);
    }

    #[test]
    fn zipf_follows_its_law() {
        let law = Law::Zipf { alpha: 1.0 };
        let counts =
            counts(&Popularity { hot: 1000, law, one_timers: 0.0, ..Popularity::default() }, 200_000);
        let of = |rank| *counts.get(&Pick::Hot { rank, generation: 0 }).unwrap_or(&0) as f64;
        assert!((of(0) / of(9) - 10.0).abs() < 1.0, "{} {}", of(0), of(9));
        let expected = 200_000.0 * bands(&Popularity { hot: 1000, law, ..Popularity::default() })[0].1;
        assert!((of(0) / expected - 1.0).abs() < 0.03, "{} {expected}", of(0));
    }

    #[test]
    fn in_order_asks_each_object_once() {
        let popularity = Popularity { hot: 100, law: Law::InOrder, one_timers: 0.0, ..Popularity::default() };
        assert!(counts(&popularity, 100).values().all(|count| *count == 1));
    }

    #[test]
    fn drift_replaces_each_object_at_its_rate() {
        let sampler = Sampler::new(&Popularity { drift_per_hour: 6.0, ..Popularity::default() });
        let changes =
            (0..100).filter(|rank| sampler.generation(*rank, 0) != sampler.generation(*rank, 300_000_000));
        // Five minutes are half of the ten-minute period, so about half of the ranks have changed.
        assert!((35..65).contains(&changes.count()));
    }

    #[test]
    fn bands_are_a_distribution() {
        for law in [Law::Uniform, Law::Zipf { alpha: 0.8 }, Law::Zipf { alpha: 1.2 }] {
            let bands = bands(&Popularity { hot: 123_456, law, ..Popularity::default() });
            let ranks: f64 = bands.iter().map(|(count, _)| count).sum();
            let mass: f64 = bands.iter().map(|(count, p)| count * p).sum();
            assert!((ranks - 123_456.0).abs() < 0.5 && (mass - 1.0).abs() < 1e-9);
        }
    }
}
