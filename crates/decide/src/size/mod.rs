//! The memory of a cache that works: what it would have to hold, by the model of an LRU cache, to have the hits that it has, beside what it was
//! configured to hold; and how much memory a hit ratio wants.
//!
//! The model is that of `plan::predict` (Che's approximation). It knows no overhead, no rounding and no policy, so all of these are in one figure: the effective share. Start
//! reading at [`share`].

mod curve;
mod point;
mod shift;
#[cfg(test)]
mod simulated;

pub use curve::HitsByMemory;
pub use point::{Point, Share, share};
pub use shift::{Shift, Window, model_requests};

use crate::Findings;
use crate::words;
use serde::{Deserialize, Serialize};

/// Points of objects of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Class {
    /// Bytes of each object.
    pub object_bytes: u64,
    /// Points, from the smallest set, each with its share.
    pub points: Vec<(Point, Share)>,
    /// Objects of another size that came after the largest set, where they were wanted.
    #[serde(default)]
    pub shift: Option<Shift>,
    /// Hits by memory, by the model, of each of these sets.
    #[serde(default)]
    pub curves: Vec<HitsByMemory>,
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
    /// Bytes of objects that are asked for after the largest set of each class.
    #[serde(default)]
    pub shift_to: Option<u64>,
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

    /// The set that follows a working set in the same cache: objects of another size, where they are wanted and the class has no larger set.
    pub fn after(&self, set: WorkingSet) -> Option<WorkingSet> {
        let of_each = self.asked.sets.len();
        let is_last = (set.number + 1).is_multiple_of(of_each.max(1));
        let object_bytes = self.asked.shift_to.filter(|_| is_last)?;
        // Numbers behind those of all the others.
        let number = of_each * self.asked.sizes.len() + set.number / of_each.max(1);
        Some(WorkingSet { number, object_bytes, times: set.times })
    }

    /// Takes in what came of a set, and of the one that followed it, where one did.
    pub fn take(&mut self, point: Point, shift: Option<Shift>) -> Share {
        let share = share(&point);
        let curve = HitsByMemory::of(&point);
        let of_each = self.asked.sets.len();
        match self.classes.last_mut().filter(|class| class.points.len() < of_each) {
            Some(class) => {
                class.points.push((point, share));
                class.curves.push(curve);
                class.shift = shift;
            }
            None => {
                let object_bytes = point.object_bytes;
                self.classes.push(Class {
                    object_bytes,
                    points: vec![(point, share)],
                    shift,
                    curves: vec![curve],
                });
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
        let shifts: Vec<String> =
            self.classes.iter().filter_map(|class| class.shift.as_ref()).map(Shift::text).collect();
        if !shifts.is_empty() {
            text += &format!("\n{}\n", shifts.join("\n"));
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
    use super::simulated::{Evicts, Held, sampled};
    use super::*;

    /// A point of a cache that was really simulated, in which each object takes so much.
    fn simulated(object_bytes: u64, objects: u64, memory_bytes: u64, each: u64) -> Point {
        let mut cache = Held::new(memory_bytes, Evicts::Oldest);
        let warm_requests = 60_000;
        let requests = 60_000;
        let found = sampled(objects, warm_requests + requests).map(|object| cache.ask(object, each));
        let hits = found.skip(warm_requests as usize).filter(|found| *found).count() as u64;
        Point {
            object_bytes,
            objects,
            alpha: 0.9,
            memory_bytes,
            is_filled: true,
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
        let class = Class {
            object_bytes: 950_000,
            points: vec![(never, Share::Nothing)],
            shift: None,
            curves: Vec::new(),
        };
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
            shift_to: Some(5_000),
        };
        let mut sizes = Sizes::new(asked);
        let mut wanted = Vec::new();
        let mut after = Vec::new();
        while let Some(next) = sizes.next() {
            wanted.push((next.number, next.object_bytes, next.times));
            after.extend(sizes.after(next).map(|set| (set.number, set.object_bytes, set.times)));
            let point = simulated(10_000, 1_000, 20_000_000, 10_000);
            sizes.take(Point { object_bytes: next.object_bytes, ..point }, None);
        }
        assert_eq!(after, [(4, 5_000, 2.0), (5, 5_000, 2.0)]);
        assert_eq!(wanted, [(0, 10_000, 0.5), (1, 10_000, 2.0), (2, 20_000, 0.5), (3, 20_000, 2.0)]);
        assert_eq!(sizes.classes.iter().map(|class| class.points.len()).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn memory_for_a_ratio_is_divided_by_what_works() {
        let point = simulated(10_000, 4_000, 20_000_000, 16_384);
        let text = Class {
            object_bytes: 10_000,
            points: vec![(point.clone(), share(&point))],
            shift: None,
            curves: Vec::new(),
        }
        .memory_for(0.9);
        assert!(text.as_ref().is_some_and(|text| text.contains("configured as")), "{text:?}");
        let model = point.bytes_for(0.9);
        let back = point.predicted(point.bytes_for(0.9));
        assert!(model > 20_000_000.0 && (back - 0.9).abs() < 0.01, "{model} {back}");
    }
}
