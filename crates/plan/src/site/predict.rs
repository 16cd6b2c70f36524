//! The hit ratio that a cache can be expected to reach, so that the measured one has something to stand beside.
//!
//! Requests are taken as independent draws from the popularity law. A cache that holds everything misses each object
//! once (and again after each expiry); one of a limited size is taken as LRU by Che's approximation (Che, Tung, Wang,
//! 2002): an object is in the cache if it was asked for within the last T, and T is such that the expected content
//! fills the cache.

use crate::site::popularity::{Pick, Popularity, bands};
use crate::site::{Freshness, Lifetime, Site, Storage};

/// The run and the cache that the prediction is made for.
#[derive(Debug, Clone, Copy)]
pub struct Observed {
    /// Requests before the measured ones that asked for the same set (a fill phase), spread by the same law.
    pub warm_requests: f64,
    /// Requests of the set that were asked for once each, in order, before (a fill in order): objects surely present.
    pub filled: f64,
    /// Measured requests.
    pub requests: f64,
    /// Seconds that the measured requests took.
    pub seconds: f64,
    /// Bytes that the cache may hold; `None`: it holds everything.
    pub cache_bytes: Option<f64>,
}

/// The expected share of requests that are answered from the cache, between 0 and 1.
///
/// Reloads and clients' revalidations are not part of the model: whether they reach the origin is the proxy's policy.
/// Objects that may not be shared always miss; which of the hot ones those are follows from their names.
pub fn hit_ratio(site: &Site, popularity: &Popularity, observed: &Observed) -> f64 {
    if observed.requests <= 0.0 {
        return 0.0;
    }
    let hot = 1.0 - popularity.one_timers;
    let variants = f64::from(site.variant_count());
    let mut rank = 0;
    let entries: Vec<Entries> = bands(popularity)
        .into_iter()
        .map(|(count, p)| {
            let first = rank;
            rank += count as u64;
            Entries {
                count: count * storable(site, popularity, first, rank) * variants,
                p: hot * p / variants,
            }
        })
        .collect();
    let reach = residence(site, &entries, popularity, observed);
    entries.iter().map(|Entries { count, p }| count * p * hit_share(*p, site, observed, reach)).sum()
}

/// Entries that a cache may store and that are alike.
struct Entries {
    count: f64,
    /// Probability that a request asks for one of them.
    p: f64,
}

/// Objects of a band that are looked at one by one; of larger ones as many, spread evenly.
const LOOKED_AT: u64 = 1 << 20;

/// Share of the hot objects from one rank up to another that a cache may store.
fn storable(site: &Site, popularity: &Popularity, first: u64, end: u64) -> f64 {
    let share = 1.0 - site.private - site.no_store - site.vary_star;
    // Objects that are replaced all the time have the share that the law says.
    if share >= 1.0 || popularity.drift_per_hour > 0.0 {
        return share;
    }
    let step = (end - first).div_ceil(LOOKED_AT).max(1) as usize;
    let object = |rank| Pick::Hot { rank, generation: 0 }.object(popularity.set);
    let looked_at = (first..end).step_by(step);
    let all = looked_at.clone().count();
    let stored = looked_at.filter(|rank| site.storage_of(object(*rank)) == Storage::Shared).count();
    stored as f64 / all.max(1) as f64
}

/// Requests that pass until an object that is not asked for again leaves the cache; infinite where all fits.
fn residence(site: &Site, entries: &[Entries], popularity: &Popularity, observed: &Observed) -> f64 {
    let Some(bytes) = observed.cache_bytes else { return f64::INFINITY };
    let mean = site.size.mean(popularity.hot).max(1.0);
    let room = bytes / mean;
    let content = |t: f64| -> f64 {
        let hot: f64 = entries.iter().map(|Entries { count, p }| count * (1.0 - (-p * t).exp())).sum();
        hot + popularity.one_timers * t * (1.0 - site.private - site.no_store - site.vary_star)
    };
    if content(observed.warm_requests + observed.requests) <= room {
        return f64::INFINITY;
    }
    let mut low = 0.0;
    let mut high = observed.warm_requests + observed.requests;
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if content(middle) < room { low = middle } else { high = middle }
    }
    high
}

/// Share of the requests for one entry, asked for with probability `p` by each request, that are hits.
fn hit_share(p: f64, site: &Site, observed: &Observed, reach: f64) -> f64 {
    let asked = p * observed.requests;
    // The first request misses unless an earlier one, or the fill, brought the object in.
    let cold = (-p * observed.warm_requests).exp() * (1.0 - observed.filled);
    let known = 1.0 - cold * (1.0 - (-asked).exp()) / asked.max(1e-12);
    let kept = if reach.is_finite() { 1.0 - (-p * reach).exp() } else { 1.0 };
    known.min(kept) * fresh_share(asked, cold, site, observed)
}

/// Lifetimes that are looked at of a law with many.
const LIFETIMES: u64 = 16;

/// Share of requests for what is there that find it still fresh, or may have it all the same. `cold`: the share of entries that nobody had asked for before.
fn fresh_share(asked: f64, cold: f64, site: &Site, observed: &Observed) -> f64 {
    let stale = site.freshness == Freshness::StaleWhileRevalidate;
    let of = |lifetime: f64| {
        let stale = if stale { lifetime } else { 0.0 };
        1.0 - Renewals { asked, cold, lifetime, stale }.missed(observed)
    };
    match site.lifetime {
        Lifetime::Fixed { max_age } => of(max_age.as_secs_f64()),
        Lifetime::Uniform { min, max } => {
            let min = min.as_secs();
            let span = max.as_secs().saturating_sub(min) + 1;
            let points = span.min(LIFETIMES);
            // Whole seconds, each as likely as any other: the middle of each part.
            let point = |number: u64| min as f64 + (number as f64 + 0.5) * span as f64 / points as f64 - 0.5;
            (0..points).map(|number| of(point(number))).sum::<f64>() / points as f64
        }
        Lifetime::Together { every } => fresh_together(asked, every.as_secs_f64(), observed.seconds, stale),
    }
}

/// Fetches of what is there already: one request in each lifetime pays for the others. Where a cache may serve what is stale while it fetches anew, one pays only if it
/// comes after that time, too.
struct Renewals {
    asked: f64,
    cold: f64,
    lifetime: f64,
    stale: f64,
}

impl Renewals {
    /// So many lifetimes are looked at one by one. In more of them the mean of a long time holds.
    const FEW: f64 = 64.0;

    /// Share of the requests for what is there that miss.
    fn missed(&self, observed: &Observed) -> f64 {
        let &Renewals { asked, cold, lifetime, stale } = self;
        let seconds = observed.seconds;
        if lifetime >= seconds || asked <= 0.0 {
            return 0.0;
        }
        let per_second = asked / seconds;
        let late = (-per_second * stale).exp();
        let later = asked - cold * (1.0 - (-asked).exp());
        let endless = later * late / (1.0 + per_second * lifetime);
        if seconds > Renewals::FEW * lifetime {
            return endless / later.max(1e-12);
        }
        // The k-th of them comes behind k lifetimes, and behind k requests that came when one was over; where nobody had asked before, the very first request is one more.
        let counted = |first: u64| {
            (1..)
                .map(|k| (k, seconds - k as f64 * lifetime - stale))
                .take_while(|(_, left)| *left > 0.0)
                .map(move |(k, left)| late * at_least(k + first, per_second * left))
        };
        let filled = observed.filled.clamp(0.0, 1.0);
        let warm = (1.0 - filled - cold).max(0.0);
        let misses = cold * counted(1).sum::<f64>() + filled * counted(0).sum::<f64>() + warm * endless;
        (misses / later.max(1e-12)).min(1.0)
    }
}

/// Probability that so many events or more come where `mean` of them are expected (Poisson).
fn at_least(count: u64, mean: f64) -> f64 {
    let mut term = (-mean).exp();
    let mut fewer = 0.0;
    for number in 0..count {
        fewer += term;
        term *= mean / (number + 1) as f64;
    }
    (1.0 - fewer).max(0.0)
}

/// The same where all expire at moments of the clock: behind each of these the first request pays, if one comes before the next, or before the end. When the first of
/// these moments is depends on when the run begins, so that this is the mean over all beginnings. `stale`: what was made some time before such a moment may be served for as
/// long behind it, while it is fetched anew; then a request pays if those before it and behind it are further apart than that, whichever two moments they lie between.
fn fresh_together(asked: f64, every: f64, seconds: f64, stale: bool) -> f64 {
    if asked <= 0.0 || seconds <= 0.0 {
        return 1.0;
    }
    let per_second = asked / seconds;
    if stale {
        let asked_between = per_second * every;
        return 1.0 - (seconds / every * asked_between * (-asked_between).exp() / asked).min(1.0);
    }
    let asked_within = |time: f64| 1.0 - (-per_second * time).exp();
    let last = every.min(seconds);
    let misses = (last - asked_within(last) / per_second + (seconds - last) * asked_within(every)) / every;
    1.0 - misses / asked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;
    use crate::site::popularity::{Law, Sampler};
    use std::collections::{HashSet, VecDeque};
    use std::time::Duration;

    fn endless(requests: f64) -> Observed {
        Observed { warm_requests: 0.0, filled: 0.0, requests, seconds: 1.0, cache_bytes: None }
    }

    /// The hit ratio of a cache that was really simulated.
    fn simulated(popularity: &Popularity, requests: u64, room: usize) -> f64 {
        let sampler = Sampler::new(popularity);
        let mut held = HashSet::new();
        let mut order = VecDeque::new();
        let mut hits = 0;
        for number in 0..requests {
            let object = sampler.pick(&mut Draw::new(5, number), number, 0).object(0);
            if held.contains(&object) {
                hits += 1;
                order.retain(|other| *other != object);
            } else if held.len() == room {
                held.remove(&order.pop_front().unwrap());
            }
            held.insert(object);
            order.push_back(object);
        }
        hits as f64 / requests as f64
    }

    #[test]
    fn a_cold_endless_cache_misses_each_object_once() {
        for law in [Law::Uniform, Law::Zipf { alpha: 0.9 }] {
            let popularity = Popularity { hot: 500, law, one_timers: 0.3, ..Popularity::default() };
            let measured = simulated(&popularity, 5_000, usize::MAX);
            let predicted = hit_ratio(&Site::default(), &popularity, &endless(5_000.0));
            assert!((measured - predicted).abs() < 0.02, "{law:?}: {measured} {predicted}");
        }
    }

    #[test]
    fn a_small_cache_follows_ches_approximation() {
        let site = Site { size: crate::site::Size::Fixed(1_000), ..Site::default() };
        let law = Law::Zipf { alpha: 0.8 };
        let popularity = Popularity { hot: 2_000, law, one_timers: 0.2, ..Popularity::default() };
        let measured = simulated(&popularity, 40_000, 200);
        let observed = Observed { cache_bytes: Some(200_000.0), ..endless(40_000.0) };
        let predicted = hit_ratio(&site, &popularity, &observed);
        assert!((measured - predicted).abs() < 0.02, "{measured} {predicted}");
    }

    #[test]
    fn a_filled_cache_hits_all_hot_requests() {
        let popularity = Popularity { hot: 1_000, one_timers: 0.2, ..Popularity::default() };
        let observed = Observed { filled: 1.0, ..endless(500.0) };
        assert!((hit_ratio(&Site::default(), &popularity, &observed) - 0.8).abs() < 1e-9);
    }

    /// With few hot objects, the share of them that is private is another one than the law says, and the most popular ones weigh most.
    #[test]
    fn objects_that_nobody_may_store_are_the_ones_that_there_are() {
        let site = Site { private: 0.3, no_store: 0.1, ..Site::default() };
        for (hot, law) in
            [(10, Law::Uniform), (20, Law::Zipf { alpha: 1.0 }), (1_000, Law::Zipf { alpha: 0.8 })]
        {
            let popularity = Popularity { hot, law, one_timers: 0.1, ..Popularity::default() };
            let sampler = Sampler::new(&popularity);
            let mut known = HashSet::new();
            let mut hits = 0;
            let requests = 50_000;
            for number in 0..requests {
                let object = sampler.pick(&mut Draw::new(3, number), number, 0).object(0);
                let stored = site.storage_of(object) == Storage::Shared;
                hits += u64::from(stored && !known.insert(object));
            }
            let measured = hits as f64 / requests as f64;
            let predicted = hit_ratio(&site, &popularity, &endless(requests as f64));
            assert!((measured - predicted).abs() < 0.01, "{hot} {law:?}: {measured} {predicted}");
        }
    }

    /// A cache that really kept one object, over many beginnings of a run.
    #[test]
    fn what_expires_together_is_fetched_behind_each_moment() {
        for (every, per_second) in [(1.0, 3.0), (4.0, 0.5), (7.0, 2.0), (40.0, 1.0)] {
            let seconds = 20.0;
            let mut draw = Draw::new(11, 1);
            let mut requests = 0.0;
            let mut hits = 0.0;
            for _ in 0..4_000 {
                let began = every * draw.unit();
                let mut kept_until = began + every - began % every;
                let mut now = began;
                loop {
                    now -= (1.0 - draw.unit()).ln() / per_second;
                    if now >= began + seconds {
                        break;
                    }
                    requests += 1.0;
                    hits += f64::from(now < kept_until);
                    kept_until = now + every - now % every;
                }
            }
            let lifetime = Lifetime::Together { every: Duration::from_secs_f64(every) };
            let site = Site { lifetime, ..Site::default() };
            let popularity = Popularity { hot: 1, one_timers: 0.0, ..Popularity::default() };
            let observed = Observed { filled: 1.0, seconds, ..endless(per_second * seconds) };
            let predicted = hit_ratio(&site, &popularity, &observed);
            let measured = hits / requests;
            assert!((predicted - measured).abs() < 0.01, "{every} {per_second}: {measured} {predicted}");
        }
    }

    /// The share of hits of a cache that really kept one object, over many runs. `lives`: for how long what is made at a moment lives.
    fn kept_one(per_second: f64, seconds: f64, stale: bool, lives: impl Fn(f64) -> f64) -> f64 {
        let mut draw = Draw::new(12, 1);
        let mut requests = 0.0;
        let mut hits = 0.0;
        for _ in 0..6_000 {
            let began = 1_000.0 * draw.unit();
            let mut now = began;
            // Until when it is fresh, and until when it may be served.
            let mut kept: Option<(f64, f64)> = None;
            loop {
                now -= (1.0 - draw.unit()).ln() / per_second;
                if now >= began + seconds {
                    break;
                }
                requests += 1.0;
                hits += f64::from(kept.is_some_and(|(_, served)| now < served));
                if kept.is_none_or(|(fresh, _)| now >= fresh) {
                    let life = lives(now);
                    kept = Some((now + life, now + life * if stale { 2.0 } else { 1.0 }));
                }
            }
        }
        hits / requests
    }

    /// Seconds that an object lives that is fetched at a second of the run.
    type Lives = fn(f64) -> f64;

    #[test]
    fn what_lives_for_a_while_is_as_predicted_in_short_runs_and_long_ones() {
        let popularity = Popularity { hot: 1, one_timers: 0.0, ..Popularity::default() };
        let fixed = |seconds| Lifetime::Fixed { max_age: Duration::from_secs(seconds) };
        let laws: [(Lifetime, Lives); 3] = [
            (fixed(2), |_| 2.0),
            (fixed(15), |_| 15.0),
            (Lifetime::Together { every: Duration::from_secs(5) }, |now| 5.0 - now % 5.0),
        ];
        for ((lifetime, lives), freshness) in
            laws.iter().flat_map(|law| [(law, Freshness::MaxAge), (law, Freshness::StaleWhileRevalidate)])
        {
            let stale = freshness == Freshness::StaleWhileRevalidate;
            for (per_second, seconds) in [(0.25, 40.0), (1.0, 40.0), (4.0, 20.0), (0.5, 300.0)] {
                let measured = kept_one(per_second, seconds, stale, lives);
                let site = Site { lifetime: *lifetime, freshness, ..Site::default() };
                let observed = Observed { seconds, ..endless(per_second * seconds) };
                let predicted = hit_ratio(&site, &popularity, &observed);
                // Where all expire together, the first and the last moment are not looked at for themselves.
                let within = if matches!(lifetime, Lifetime::Together { .. }) && stale { 0.05 } else { 0.01 };
                assert!(
                    (predicted - measured).abs() < within,
                    "{lifetime:?} {freshness:?} {per_second} {seconds}: {measured} {predicted}"
                );
            }
        }
    }

    /// Many objects of which each has a lifetime of its own: those with short ones cost more than those with long ones save.
    #[test]
    fn lifetimes_that_differ_are_looked_at_one_by_one() {
        let lifetime = Lifetime::Uniform { min: Duration::from_secs(1), max: Duration::from_secs(5) };
        let of = |stale| {
            let each = (1..=5).map(|life| kept_one(0.6, 40.0, stale, move |_| f64::from(life)));
            each.sum::<f64>() / 5.0
        };
        for (freshness, stale) in [(Freshness::MaxAge, false), (Freshness::StaleWhileRevalidate, true)] {
            let site = Site { lifetime, freshness, ..Site::default() };
            let popularity = Popularity { hot: 1, one_timers: 0.0, ..Popularity::default() };
            let predicted = hit_ratio(&site, &popularity, &Observed { seconds: 40.0, ..endless(24.0) });
            assert!((predicted - of(stale)).abs() < 0.01, "{freshness:?}: {} {predicted}", of(stale));
        }
    }

    #[test]
    fn short_lives_cost_hits() {
        let lifetime = crate::site::Lifetime::Fixed { max_age: Duration::from_secs(1) };
        let site = Site { lifetime, ..Site::default() };
        let popularity = Popularity { hot: 100, one_timers: 0.0, ..Popularity::default() };
        let observed = Observed { seconds: 100.0, ..endless(100_000.0) };
        let ratio = hit_ratio(&site, &popularity, &observed);
        // Ten requests a second for each object; one of eleven renews it.
        assert!((ratio - 10.0 / 11.0).abs() < 0.01, "{ratio}");
    }
}
