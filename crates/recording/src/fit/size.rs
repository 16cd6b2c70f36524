//! Sizes of objects: one size, or lognormal with or without a Pareto tail, whichever lies closest.

use super::FitAsked;
use super::numbers::{highest, normal_below, rounded};
use foldhash::quality::FixedState;
use plan::draw::hash;
use plan::site::{MAX_SIZE, Size};
use serde::Serialize;
use std::collections::HashMap;
use std::f64::consts::TAU;

/// Objects that a law draws to be compared.
const DRAWN: u64 = 20_000;
/// Salt of what laws draw.
const DRAWS: u64 = 0x5349_5a45;
/// Where the tail of [`Size::Heavy`] begins, in standard deviations.
const TAIL: f64 = 1.2816;
/// Sizes that likelihoods are taken of at most, evenly among the sorted ones.
const LOOKED_AT: usize = 5_000;

/// Sizes of objects.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sizes {
    /// The law.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::laws::size"))]
    pub law: Size,
    /// The largest difference of shares of objects up to a size (Kolmogorov and Smirnov).
    pub error: f64,
    /// Deciles of the recording, 10 % to 90 %, in bytes.
    #[serde(rename = "recorded_deciles")]
    pub recorded: [u64; 9],
    /// Those of the law.
    #[serde(rename = "law_deciles")]
    pub drawn: [u64; 9],
    /// Mean size of the objects in bytes.
    pub mean: f64,
    /// That of what requests asked for: larger if large objects are popular.
    pub mean_asked: f64,
    /// That of the law's objects.
    #[serde(rename = "law_mean")]
    pub mean_drawn: f64,
}

pub(super) fn fit(asked: &[FitAsked]) -> Sizes {
    let mut by_object: HashMap<u32, u64, FixedState> = HashMap::default();
    by_object.extend(asked.iter().map(|asked| (asked.object, asked.size)));
    let mut sizes: Vec<u64> = by_object.into_values().map(|size| size.clamp(1, MAX_SIZE)).collect();
    sizes.sort_unstable();
    let judged = candidates(&sizes).into_iter().map(|law| {
        let mut drawn: Vec<u64> = (0..DRAWN).map(|number| law.of(hash(DRAWS, number))).collect();
        drawn.sort_unstable();
        Sizes {
            law,
            error: difference(&sizes, &drawn),
            recorded: deciles(&sizes),
            drawn: deciles(&drawn),
            mean: mean(&sizes),
            mean_asked: asked.iter().map(|asked| asked.size as f64).sum::<f64>() / asked.len() as f64,
            mean_drawn: mean(&drawn),
        }
    });
    judged.min_by(|one, other| one.error.total_cmp(&other.error)).expect("there are candidates")
}

/// One size, a lognormal, and one with a tail.
fn candidates(sizes: &[u64]) -> Vec<Size> {
    let logs: Vec<f64> = sizes.iter().map(|size| (*size as f64).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let deviation = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64).sqrt();
    let max = sizes[sizes.len() - 1];
    let body = Mixture { mean, sigma: deviation.clamp(0.01, 5.0), tail: 0.0, shape: 1.5 };
    let step = logs.len().div_ceil(LOOKED_AT);
    let looked_at: Vec<f64> = logs.iter().copied().skip(step / 2).step_by(step).collect();
    let beyond =
        if sizes.iter().filter(|size| **size == max).count() > 1 { (max as f64).ln() } else { f64::INFINITY };
    let start = [(sizes[sizes.len() / 2] as f64).ln(), body.sigma.ln(), 0.05, 0.3];
    let found =
        highest(start, [0.2, -0.3, 0.05, 0.3], 400, |axes| Mixture::at(axes).likelihood(&looked_at, beyond));
    let again =
        highest(found, [-0.1, 0.1, 0.02, -0.2], 200, |axes| Mixture::at(axes).likelihood(&looked_at, beyond));
    vec![Size::Fixed(sizes[sizes.len() / 2]), body.law(max), Mixture::at(&again).law(max)]
}

/// The numbers of [`Size::Heavy`]: a lognormal body, and a share of Pareto tail beyond its 90th percentile.
struct Mixture {
    mean: f64,
    sigma: f64,
    tail: f64,
    shape: f64,
}

impl Mixture {
    fn at(axes: &[f64; 4]) -> Mixture {
        Mixture {
            mean: axes[0].max(0.0),
            sigma: axes[1].exp().clamp(0.01, 5.0),
            tail: axes[2].clamp(0.0, 1.0),
            shape: axes[3].exp().clamp(0.3, 10.0),
        }
    }

    fn law(&self, max: u64) -> Size {
        Size::Heavy {
            median: (self.mean.exp().round() as u64).clamp(1, MAX_SIZE),
            sigma: rounded(self.sigma, 4),
            tail: (self.tail * 1e4).round() / 1e4,
            shape: rounded(self.shape, 4),
            max,
        }
    }

    /// How likely the logarithms of sizes are; those from `beyond` on are only known to be no smaller.
    fn likelihood(&self, logs: &[f64], beyond: f64) -> f64 {
        let begins = self.mean + TAIL * self.sigma;
        let likely = logs.iter().map(|log| {
            let off = (log - self.mean) / self.sigma;
            let likely = if *log >= beyond {
                let tail = if beyond > begins { (-self.shape * (beyond - begins)).exp() } else { 1.0 };
                (1.0 - self.tail) * (1.0 - normal_below(off)) + self.tail * tail
            } else {
                let tail =
                    if *log >= begins { self.shape * (-self.shape * (log - begins)).exp() } else { 0.0 };
                (1.0 - self.tail) * (-off * off / 2.0).exp() / (self.sigma * TAU.sqrt()) + self.tail * tail
            };
            likely.max(1e-300).ln()
        });
        likely.sum()
    }
}

/// The largest difference of two sorted samples' shares up to a value.
fn difference(one: &[u64], other: &[u64]) -> f64 {
    let share =
        |sample: &[u64], upto: u64| sample.partition_point(|size| *size <= upto) as f64 / sample.len() as f64;
    let all = one.iter().chain(other);
    all.map(|size| (share(one, *size) - share(other, *size)).abs()).fold(0.0, f64::max)
}

fn mean(sizes: &[u64]) -> f64 {
    sizes.iter().map(|size| *size as f64).sum::<f64>() / sizes.len() as f64
}

fn deciles(sorted: &[u64]) -> [u64; 9] {
    std::array::from_fn(|tenth| sorted[(tenth + 1) * sorted.len() / 10])
}
