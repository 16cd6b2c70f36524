//! [`Seen`]: the account of requests as their recording has it, to stand beside what is measured of them.

use super::Lru;
use crate::request::{Request, UNTOLD};
use crate::words::Cache;
use plan::draw::hash;
use std::collections::BTreeMap;

/// The account of requests as their recording has it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Seen {
    /// Requests.
    pub requests: u64,
    /// By the cache's account: requests, and bytes of bodies that were sent.
    pub caches: BTreeMap<Cache, ReplayShare>,
    /// By status.
    pub statuses: BTreeMap<u16, u64>,
    /// Time from a request to its answer's end, where it is told: quantiles 50, 90, 99 and the longest, in microseconds.
    pub durations_us: Option<[u32; 4]>,
    /// How many have such a time.
    pub timed: u64,
    /// Hits of an exact LRU on this very stream, by its bytes.
    pub lru: Vec<Yardstick>,
    /// Bytes of all objects of the recording together.
    pub footprint: u64,
}

/// Requests and bytes of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplayShare {
    /// Requests.
    pub requests: u64,
    /// Bytes of bodies, as far as they are told.
    pub bytes: u64,
}

/// An exact LRU of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Yardstick {
    /// Its size in bytes.
    pub memory: u64,
    /// Requests that it would have answered.
    pub hits: u64,
}

/// Sizes of the yardstick, as parts of all objects together: one of so many.
const PARTS: [u64; 4] = [1, 4, 16, 64];

impl Seen {
    /// Shares of requests and of bytes that the cache had, by its own account; `None` where the log has none.
    pub fn hit_ratios(&self) -> Option<[f64; 2]> {
        let told =
            || self.caches.iter().filter(|(cache, _)| **cache != Cache::Untold).map(|(_, share)| *share);
        let hits = || self.caches.iter().filter(|(cache, _)| cache.is_hit()).map(|(_, share)| *share);
        let of = |count: fn(ReplayShare) -> u64| {
            let all: u64 = told().map(count).sum();
            (all > 0).then(|| hits().map(count).sum::<u64>() as f64 / all as f64)
        };
        Some([of(|share| share.requests)?, of(|share| share.bytes).unwrap_or(0.0)])
    }

    /// Of these requests, in the order in which they are due; the first ones, as many as `warm` says, only fill the yardstick's cache.
    /// `footprint`: bytes of all objects together. `memory`: those of the cache, where they are told.
    /// `generations`: how often the object of each request was renewed.
    pub(super) fn of(
        sent: &[&Request],
        generations: impl Fn(usize) -> u32,
        warm: usize,
        footprint: u64,
        memory: Option<u64>,
    ) -> Seen {
        let requests = &sent[warm..];
        let mut seen = Seen { requests: requests.len() as u64, footprint, ..Seen::default() };
        let mut durations: Vec<u32> = Vec::new();
        for request in requests {
            let share = seen.caches.entry(request.kind.cache).or_default();
            share.requests += 1;
            share.bytes += request.sent().unwrap_or(0);
            *seen.statuses.entry(request.status).or_default() += 1;
            durations.extend(Some(request.duration_us).filter(|us| *us != UNTOLD));
        }
        seen.timed = durations.len() as u64;
        durations.sort_unstable();
        seen.durations_us = (!durations.is_empty())
            .then(|| [0.5, 0.9, 0.99, 1.0].map(|part| durations[place(part, durations.len())]));
        let sizes = memory.map_or_else(|| PARTS.map(|part| footprint / part).to_vec(), |memory| vec![memory]);
        seen.lru = sizes.into_iter().map(|memory| yardstick(sent, &generations, warm, memory)).collect();
        seen
    }
}

/// Place of a quantile among so many.
fn place(part: f64, count: usize) -> usize {
    ((part * count as f64).ceil() as usize).clamp(1, count) - 1
}

fn yardstick(sent: &[&Request], generations: &impl Fn(usize) -> u32, warm: usize, memory: u64) -> Yardstick {
    let mut lru = Lru::new(memory);
    let mut is_hit = |(place, request): (usize, &&Request)| {
        let key =
            u64::from(request.object) << 24 | u64::from(request.version) << 8 | u64::from(request.variant);
        let key = match generations(place) {
            0 => key,
            generation => hash(key, generation.into()),
        };
        lru.ask(key, request.size)
    };
    let hits: Vec<bool> = sent.iter().enumerate().map(&mut is_hit).collect();
    Yardstick { memory, hits: hits[warm..].iter().filter(|hit| **hit).count() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_sorted_list() {
        assert_eq!([0.5, 0.9, 0.99, 1.0].map(|part| place(part, 100)), [49, 89, 98, 99]);
        assert_eq!([0.5, 1.0].map(|part| place(part, 1)), [0, 0]);
    }
}
