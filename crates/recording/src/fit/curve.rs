//! Hit ratios of exact LRU caches: those of a recording beside those of a law.

use super::FitAsked;
use crate::replay::Lru;
use foldhash::quality::FixedState;
use plan::draw::{Draw, hash};
use plan::popularity::{Popularity, Sampler};
use plan::site::{Site, Size};
use serde::Serialize;
use std::collections::HashMap;

/// Sizes of caches at which hit ratios are compared.
const SIZES: u32 = 8;
/// Salt of what laws draw.
const DRAWS: u64 = 0x0066_6974;

/// Hit ratios of exact LRU caches.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// By size, the largest first.
    pub points: Vec<CurvePoint>,
}

/// Hit ratios of a cache of one size.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CurvePoint {
    /// Its bytes.
    pub memory: u64,
    /// Of the recording, 0 to 1.
    pub recorded: f64,
    /// Of the laws.
    pub law: f64,
}

impl Curve {
    /// The largest difference.
    pub fn error(&self) -> f64 {
        self.points.iter().map(|point| (point.recorded - point.law).abs()).fold(0.0, f64::max)
    }
}

/// Requests that laws are judged on, and the sizes that their objects have.
#[derive(Clone, Copy)]
pub(super) struct Judge<'a> {
    pub asked: &'a [FitAsked],
    pub size: &'a Size,
    pub seed: u64,
    /// All objects are taken to be of one size: then popularity alone is judged.
    pub alike: bool,
}

impl Judge<'_> {
    /// The same with the first of the requests alone.
    pub fn of_first(&self, requests: usize) -> Judge<'_> {
        Judge { asked: &self.asked[..self.asked.len().min(requests)], ..*self }
    }

    /// The same with objects of one size.
    pub fn of_alike(&self) -> Judge<'_> {
        Judge { alike: true, ..*self }
    }

    fn size_of(&self, asked: &FitAsked) -> u64 {
        if self.alike { 1 } else { asked.size }
    }

    /// Bytes of all objects together, and a half of it, a quarter and so on.
    fn memories(&self) -> Vec<u64> {
        let mut sizes: HashMap<u32, u64, FixedState> = HashMap::default();
        sizes.extend(self.asked.iter().map(|asked| (asked.object, self.size_of(asked))));
        let footprint: u64 = sizes.values().sum();
        (0..SIZES).map(|halves| (footprint >> halves).max(1)).collect()
    }

    /// The curve of the recording, that of no law yet.
    pub fn recorded(&self) -> Curve {
        let memories = self.memories();
        let stream = self.asked.iter().map(|asked| (u64::from(asked.object), self.size_of(asked)));
        let recorded = hit_ratios(stream, &memories);
        let points = memories.iter().zip(recorded);
        Curve {
            points: points
                .map(|(memory, recorded)| CurvePoint { memory: *memory, recorded, law: 0.0 })
                .collect(),
        }
    }

    /// Beside the recorded hit ratios those of as many requests that a law draws itself.
    pub fn beside(&self, recorded: &Curve, law: &Popularity) -> Curve {
        let sampler = Sampler::new(law);
        let site = Site { size: *self.size, ..Site::default() };
        let stream = (0..self.asked.len() as u64).map(|number| {
            let mut draw = Draw::new(hash(self.seed, DRAWS), number);
            let object = sampler.pick(&mut draw, number, 0).object(0);
            (object, if self.alike { 1 } else { site.size_of(object) })
        });
        let memories: Vec<u64> = recorded.points.iter().map(|point| point.memory).collect();
        let points = recorded.points.iter().zip(hit_ratios(stream, &memories));
        Curve { points: points.map(|(point, law)| CurvePoint { law, ..*point }).collect() }
    }

    /// Both.
    pub fn curve(&self, law: &Popularity) -> Curve {
        self.beside(&self.recorded(), law)
    }
}

fn hit_ratios(stream: impl Iterator<Item = (u64, u64)>, memories: &[u64]) -> Vec<f64> {
    let mut caches: Vec<Lru> = memories.iter().map(|memory| Lru::new(*memory)).collect();
    let mut hits = vec![0_u64; memories.len()];
    let mut requests = 0_u64;
    for (object, size) in stream {
        requests += 1;
        for (cache, hits) in caches.iter_mut().zip(&mut hits) {
            *hits += u64::from(cache.ask(object, size));
        }
    }
    hits.iter().map(|hits| *hits as f64 / requests.max(1) as f64).collect()
}
