//! A working set with the hits that it had, and the share of the memory that works by it. The model is that of `plan::predict` (Che's approximation).

use crate::words;
use plan::predict::{Observed, hit_ratio};
use plan::site::Size;
use plan::{Law, Popularity, Site};
use serde::{Deserialize, Serialize};

/// A working set, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Point {
    /// Bytes of each object.
    pub object_bytes: u64,
    /// Objects of the set.
    pub objects: u64,
    /// Exponent of their popularity.
    pub alpha: f64,
    /// Memory that the cache was configured to hold.
    pub memory_bytes: u64,
    /// All objects were asked for in order before.
    #[serde(default = "filled")]
    pub is_filled: bool,
    /// Requests before those that count, behind that.
    pub warm_requests: u64,
    /// Requests that count, with an answer that tells whether it is a hit.
    pub requests: u64,
    /// Those of them that were hits.
    pub hits: u64,
    /// Seconds that they took.
    pub seconds: f64,
}

/// Sets of files that do not say it were filled.
fn filled() -> bool {
    true
}

/// The share of the configured memory that works.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// So much, and between these bounds.
    Is {
        /// The figure.
        share: f64,
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// All of the set was there: it is at least this.
    AtLeast(f64),
    /// Next to nothing was a hit: objects of this size are not kept.
    Nothing,
}

/// The model is good to so much of a hit ratio.
const MODEL: f64 = 0.02;
/// Standard errors of a bound.
const ERRORS: f64 = 2.0;
/// Below this hit ratio nothing is kept.
const NOTHING: f64 = 0.01;
/// No share is looked for beyond this.
const MOST: f64 = 4.0;
/// More requests than any run has.
pub const ENDLESS: f64 = 1e9;
/// Steps of halving.
pub const STEPS: usize = 50;

impl Point {
    /// Bytes of the whole set.
    pub fn set_bytes(&self) -> f64 {
        self.object_bytes as f64 * self.objects as f64
    }

    /// Its hit ratio.
    pub fn hit_ratio(&self) -> f64 {
        self.hits as f64 / self.requests.max(1) as f64
    }

    /// The hit ratio of an LRU cache that holds so many bytes.
    pub fn predicted(&self, cache_bytes: f64) -> f64 {
        self.model(Observed {
            warm_requests: self.warm_requests as f64,
            filled: f64::from(u8::from(self.is_filled)),
            requests: self.requests as f64,
            seconds: self.seconds,
            cache_bytes: Some(cache_bytes),
        })
    }

    /// The hit ratio of an LRU cache of the configured memory in the end, however it began.
    pub fn predicted_in_the_end(&self) -> f64 {
        self.model(Observed { warm_requests: ENDLESS, filled: 1.0, ..self.next_request() })
    }

    /// That of the request behind so many of them, the first of which found none of the set.
    pub fn predicted_after(&self, requests: f64) -> f64 {
        self.model(Observed { warm_requests: requests, filled: 0.0, ..self.next_request() })
    }

    fn next_request(&self) -> Observed {
        Observed {
            warm_requests: 0.0,
            filled: 0.0,
            requests: 1.0,
            seconds: self.seconds,
            cache_bytes: Some(self.memory_bytes as f64),
        }
    }

    fn model(&self, observed: Observed) -> f64 {
        let site = Site { size: Size::Fixed(self.object_bytes), ..Site::default() };
        let popularity = Popularity {
            hot: self.objects,
            law: Law::Zipf { alpha: self.alpha },
            one_timers: 0.0,
            ..Popularity::default()
        };
        hit_ratio(&site, &popularity, &observed)
    }

    /// Bytes with which the model gives this ratio.
    pub fn bytes_for(&self, ratio: f64) -> f64 {
        let mut low = 0.0;
        let mut high = MOST * (self.memory_bytes as f64).max(self.set_bytes());
        for _ in 0..STEPS {
            let middle = (low + high) / 2.0;
            if self.predicted(middle) < ratio { low = middle } else { high = middle }
        }
        high
    }
}

/// The effective share by a point.
pub fn share(point: &Point) -> Share {
    let ratio = point.hit_ratio();
    let memory = point.memory_bytes as f64;
    let error = MODEL + ERRORS * (ratio * (1.0 - ratio) / point.requests.max(1) as f64).sqrt();
    if ratio < NOTHING {
        return Share::Nothing;
    }
    let all = point.predicted(point.set_bytes());
    if ratio + error >= all {
        return Share::AtLeast(point.bytes_for(ratio - error) / memory);
    }
    let of = |ratio: f64| point.bytes_for(ratio.clamp(0.0, 1.0)) / memory;
    Share::Is { share: of(ratio), low: of(ratio - error), high: of(ratio + error) }
}

impl Share {
    /// In words.
    pub fn text(self) -> String {
        match self {
            Share::Is { share, low, high } => {
                let [share, low, high] = [share, low, high].map(words::percent);
                format!("{share} ({low} to {high})")
            }
            Share::AtLeast(share) => format!("at least {}", words::percent(share)),
            Share::Nothing => "NOTHING IS KEPT".to_owned(),
        }
    }

    /// The figure, as far as it is one.
    pub fn figure(self) -> Option<f64> {
        match self {
            Share::Is { share, .. } => Some(share),
            Share::AtLeast(_) | Share::Nothing => None,
        }
    }
}
