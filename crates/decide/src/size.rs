//! The memory of a cache that works: what it would have to hold, by the model of an LRU cache, to have the hits that it has, beside what it was
//! configured to hold; and how much memory a hit ratio wants.
//!
//! The model is that of `plan::predict` (Che's approximation). It knows no overhead, no rounding and no policy, so all of these are in one figure: the effective share. Start
//! reading at [`share`].

use crate::Findings;
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
    /// Requests before those that count, behind a fill in order.
    pub warm_requests: u64,
    /// Requests that count, with an answer that tells whether it is a hit.
    pub requests: u64,
    /// Those of them that were hits.
    pub hits: u64,
    /// Seconds that they took.
    pub seconds: f64,
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
/// Steps of halving.
const STEPS: usize = 50;

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
        let site = Site { size: Size::Fixed(self.object_bytes), ..Site::default() };
        let popularity = Popularity {
            hot: self.objects,
            law: Law::Zipf { alpha: self.alpha },
            one_timers: 0.0,
            ..Popularity::default()
        };
        let observed = Observed {
            warm_requests: self.warm_requests as f64,
            filled: 1.0,
            requests: self.requests as f64,
            seconds: self.seconds,
            cache_bytes: Some(cache_bytes),
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

/// Points of objects of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Class {
    /// Bytes of each object.
    pub object_bytes: u64,
    /// Points, from the smallest set, each with its share.
    pub points: Vec<(Point, Share)>,
}

/// Options that say which working sets there are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SizeOptions {
    /// The cache, as it was typed.
    pub target: String,
    /// All chance comes from it.
    pub seed: u64,
    /// Memory that the cache was configured to hold.
    pub memory_bytes: u64,
    /// Sizes of objects, each a class.
    pub sizes: Vec<u64>,
    /// Working sets as multiples of that memory, the smallest first.
    pub sets: Vec<f64>,
    /// Exponent of the objects' popularity.
    pub alpha: f64,
    /// Seconds that each part of a working set may take.
    pub limit_s: f64,
    /// A hit ratio whose memory is told, too.
    pub for_hits: Option<f64>,
}

/// The next working set that is to be asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkingSet {
    /// Its place among all, counted from 0.
    pub number: usize,
    /// Bytes of each object.
    pub object_bytes: u64,
    /// The set as a multiple of the memory.
    pub times: f64,
}

/// All working sets of a cache, and what follows from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sizes {
    /// The cache, as people read it.
    pub target: String,
    /// Options that say which working sets there are.
    pub asked: SizeOptions,
    /// Each size of objects, in the order in which they were asked for.
    pub classes: Vec<Class>,
    /// Run files, where they are kept.
    pub files: Vec<String>,
}

impl Sizes {
    /// Nothing was asked for yet.
    pub fn new(asked: SizeOptions) -> Sizes {
        Sizes { target: asked.target.clone(), asked, classes: Vec::new(), files: Vec::new() }
    }

    /// The next working set; `None`: all were asked for.
    pub fn next(&self) -> Option<WorkingSet> {
        let number = self.classes.iter().map(|class| class.points.len()).sum();
        let of_each = self.asked.sets.len();
        let object_bytes = *self.asked.sizes.get(number / of_each.max(1))?;
        let times = *self.asked.sets.get(number % of_each.max(1))?;
        Some(WorkingSet { number, object_bytes, times })
    }

    /// Takes in what came of it.
    pub fn take(&mut self, point: Point) -> Share {
        let share = share(&point);
        let of_each = self.asked.sets.len();
        match self.classes.last_mut().filter(|class| class.points.len() < of_each) {
            Some(class) => class.points.push((point, share)),
            None => {
                self.classes.push(Class { object_bytes: point.object_bytes, points: vec![(point, share)] });
            }
        }
        share
    }
}

impl Findings for Sizes {
    const SCHEMA: &'static str = "wringer.size";

    fn code(&self) -> u8 {
        0
    }

    fn text(&self) -> String {
        self.headline()
    }

    fn headline(&self) -> String {
        let memory = words::bytes(self.asked.memory_bytes as f64);
        let mut text = format!("{}: of {memory}, so much works:\n\n", self.target);
        for class in &self.classes {
            let share = class.share().map_or_else(|| "not known".to_owned(), Share::text);
            text += &format!("objects of {:>9}: {share}\n", words::bytes(class.object_bytes as f64));
        }
        text += "\nset, hits, hits by the model at that memory:\n";
        for (point, _) in self.classes.iter().flat_map(|class| &class.points) {
            text += &format!(
                "{:>9} of {:>9}: {:>6} {:>6}\n",
                words::bytes(point.set_bytes()),
                words::bytes(point.object_bytes as f64),
                words::percent(point.hit_ratio()),
                words::percent(point.predicted(point.memory_bytes as f64)),
            );
        }
        let wanted = self.asked.for_hits.into_iter();
        let memory: Vec<String> = wanted
            .flat_map(|ratio| self.classes.iter().filter_map(move |class| class.memory_for(ratio)))
            .collect();
        if !memory.is_empty() {
            text += &format!("\n{}\n", memory.join("\n"));
        }
        text
    }
}

impl Class {
    /// The share that the class is told by: of the smallest set that does not fit, as hits tell most there; otherwise of the largest.
    pub fn share(&self) -> Option<Share> {
        let figure = self.points.iter().find(|(_, share)| !matches!(share, Share::AtLeast(_)));
        figure.or(self.points.last()).map(|(_, share)| *share)
    }

    /// Memory for a hit ratio of its largest set, in words.
    pub fn memory_for(&self, ratio: f64) -> Option<String> {
        let (point, _) = self.points.last()?;
        let model = point.bytes_for(ratio);
        let wanted = format!(
            "{} of the requests for {} of objects of {}: {} by the model",
            words::percent(ratio),
            words::bytes(point.set_bytes()),
            words::bytes(self.object_bytes as f64),
            words::bytes(model)
        );
        let configured = match self.share()? {
            Share::Is { share, low, high } => {
                let [middle, least, most] = [share, high, low].map(|share| words::bytes(model / share));
                format!("configured as {middle} ({least} to {most})")
            }
            Share::AtLeast(share) => format!("configured as {} at most", words::bytes(model / share)),
            Share::Nothing => "no memory does it: objects of that size are not kept".to_owned(),
        };
        Some(format!("{wanted}, {configured}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;
    use plan::popularity::Sampler;
    use std::collections::{BTreeMap, HashMap};

    /// A point of a cache that was really simulated: it drops the least recently used until what it holds, with so much for each object, fits.
    fn simulated(object_bytes: u64, objects: u64, memory_bytes: u64, each: u64) -> Point {
        let popularity = Popularity {
            hot: objects,
            law: Law::Zipf { alpha: 0.9 },
            one_timers: 0.0,
            ..Popularity::default()
        };
        let sampler = Sampler::new(&popularity);
        let (mut held, mut order): (HashMap<u64, u64>, BTreeMap<u64, u64>) =
            (HashMap::new(), BTreeMap::new());
        let (mut clock, mut hits) = (0, 0);
        let mut ask = |object: u64| {
            clock += 1;
            let was = held.insert(object, clock);
            if let Some(was) = was {
                order.remove(&was);
            }
            order.insert(clock, object);
            while held.len() as u64 * each > memory_bytes {
                let (_, oldest) = order.pop_first().expect("something is held");
                held.remove(&oldest);
            }
            was.is_some()
        };
        let (warm_requests, requests) = (60_000, 60_000);
        for number in 0..warm_requests + requests {
            let hit = ask(sampler.pick(&mut Draw::new(5, number), number, 0).object(0));
            hits += u64::from(hit && number >= warm_requests);
        }
        Point {
            object_bytes,
            objects,
            alpha: 0.9,
            memory_bytes,
            warm_requests,
            requests,
            hits,
            seconds: 10.0,
        }
    }

    fn check(point: &Point, expected: f64) {
        let Share::Is { share, low, high } = share(point) else { panic!("{:?}", share(point)) };
        assert!((share - expected).abs() < 0.03, "{share} ({low} to {high}), and {expected} was expected");
        assert!(low <= expected && expected <= high, "{low} to {high}, {expected}");
    }

    #[test]
    fn shares_of_simulated_caches_are_known() {
        // All of it works.
        check(&simulated(10_000, 4_000, 20_000_000, 10_000), 1.0);
        // Each object takes a power of two: 16384 bytes.
        check(&simulated(10_000, 4_000, 20_000_000, 16_384), 10_000.0 / 16_384.0);
        // A kilobyte for each small object.
        check(&simulated(1_000, 20_000, 10_000_000, 2_024), 1_000.0 / 2_024.0);
    }

    #[test]
    fn a_set_that_fits_tells_a_bound_and_objects_that_are_never_kept_are_told() {
        let fits = simulated(10_000, 1_000, 20_000_000, 10_000);
        assert!(
            matches!(share(&fits), Share::AtLeast(least) if (0.3..=0.51).contains(&least)),
            "{:?}",
            share(&fits)
        );
        let never = Point { hits: 3, ..simulated(950_000, 40, 20_000_000, 950_000) };
        assert_eq!(share(&never), Share::Nothing);
        let class = Class { object_bytes: 950_000, points: vec![(never, Share::Nothing)] };
        assert!(
            class.memory_for(0.9).is_some_and(|text| text.ends_with("objects of that size are not kept"))
        );
    }

    #[test]
    fn sets_are_asked_for_one_after_the_other() {
        let asked = SizeOptions {
            target: "nginx".to_owned(),
            seed: 1,
            memory_bytes: 20_000_000,
            sizes: vec![10_000, 20_000],
            sets: vec![0.5, 2.0],
            alpha: 0.9,
            limit_s: 20.0,
            for_hits: None,
        };
        let mut sizes = Sizes::new(asked);
        let mut wanted = Vec::new();
        while let Some(next) = sizes.next() {
            wanted.push((next.number, next.object_bytes, next.times));
            sizes.take(Point {
                object_bytes: next.object_bytes,
                ..simulated(10_000, 1_000, 20_000_000, 10_000)
            });
        }
        assert_eq!(wanted, [(0, 10_000, 0.5), (1, 10_000, 2.0), (2, 20_000, 0.5), (3, 20_000, 2.0)]);
        assert_eq!(sizes.classes.iter().map(|class| class.points.len()).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn memory_for_a_ratio_is_divided_by_what_works() {
        let point = simulated(10_000, 4_000, 20_000_000, 16_384);
        let text =
            Class { object_bytes: 10_000, points: vec![(point.clone(), share(&point))] }.memory_for(0.9);
        assert!(text.as_ref().is_some_and(|text| text.contains("configured as")), "{text:?}");
        let (model, back) = (point.bytes_for(0.9), point.predicted(point.bytes_for(0.9)));
        assert!(model > 20_000_000.0 && (back - 0.9).abs() < 0.01, "{model} {back}");
    }
}
