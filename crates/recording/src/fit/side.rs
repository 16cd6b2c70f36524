//! Laws beside popularity, size and rate: lifetimes, storage, shares of requests of a kind of their own, the time of the server
//! behind.

use super::FitAsked;
use super::numbers::rounded;
use crate::file::{Class, Known};
use crate::words::Storage;
use foldhash::quality::FixedState;
use plan::Delay;
use plan::site::Lifetime;
use serde::Serialize;
use std::collections::HashMap;
use std::time::Duration;

/// Share of objects whose lifetime must be known, or the law is an assumption.
const ENOUGH: f64 = 0.5;
/// The 84th percentile lies a standard deviation above the median.
const DEVIATION: f64 = 0.8413;

/// For how long, and by whom, objects may be kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lifetimes {
    /// Share of storable objects whose lifetime is told or was bounded by hits.
    pub known: f64,
    /// The law: of those whose lifetime is known the middle eight of ten, evenly; none where less than half are known.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::laws::lifetime"))]
    pub law: Option<Lifetime>,
    /// Deciles of known lifetimes, 10 % to 90 %, in seconds; none where none are.
    #[serde(rename = "recorded_deciles_s")]
    pub recorded_s: Option<[u32; 9]>,
    /// Share of objects for one user only.
    pub private: f64,
    /// Share of objects that nobody may store.
    pub no_store: f64,
}

/// Requests of a kind of their own, as shares.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shares {
    /// For a range.
    pub range: f64,
    /// With a condition, or answered 304.
    pub revalidate: f64,
    /// To be fetched anew.
    pub reload: f64,
    /// Broken off by the client.
    pub abort: f64,
}

/// Time of the server behind: lognormal, or always the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delays {
    /// Its median.
    pub median: Duration,
    /// Standard deviation of its logarithm; 0: always the same.
    pub sigma: f64,
    /// The largest difference of its quantiles to those of the recording, as a factor.
    pub factor: f64,
}

impl Delays {
    /// As a plan has it.
    pub fn law(&self) -> Delay {
        match self.sigma > 0.0 {
            true => Delay::Lognormal { median: self.median, sigma: self.sigma },
            false => Delay::Fixed { delay: self.median },
        }
    }
}

pub(super) fn shares(asked: &[FitAsked]) -> Shares {
    let share = |is: fn(&FitAsked) -> bool| {
        let share = asked.iter().filter(|asked| is(asked)).count() as f64 / asked.len() as f64;
        (share * 1e4).round() / 1e4
    };
    Shares {
        range: share(|asked| asked.range),
        revalidate: share(|asked| asked.condition),
        reload: share(|asked| asked.reload),
        abort: share(|asked| asked.aborted),
    }
}

pub(super) fn lifetimes(asked: &[FitAsked], classes: &[Class]) -> Lifetimes {
    let mut of_objects: HashMap<u32, u8, FixedState> = HashMap::default();
    of_objects.extend(asked.iter().map(|asked| (asked.object, asked.class)));
    let all = of_objects.len() as f64;
    let class_of = |class: &u8| classes.get(usize::from(*class)).copied();
    let objects: Vec<Class> = of_objects.values().filter_map(class_of).collect();
    let stored_by = |storage: Storage| {
        let share = objects.iter().filter(|class| class.storage == storage).count() as f64 / all;
        (share * 1e4).round() / 1e4
    };
    let storable = objects.iter().filter(|class| class.storage != Storage::NoStore);
    let count = storable.clone().count() as f64;
    let mut known: Vec<u32> =
        storable.filter(|class| is_known(class)).filter_map(|class| class.lifetime_s).collect();
    known.sort_unstable();
    let share = if count > 0.0 { known.len() as f64 / count } else { 0.0 };
    let deciles: Option<[u32; 9]> =
        (!known.is_empty()).then(|| std::array::from_fn(|tenth| known[(tenth + 1) * known.len() / 10]));
    Lifetimes {
        known: share,
        law: deciles.filter(|_| share >= ENOUGH).map(|deciles| law(&deciles)),
        recorded_s: deciles,
        private: stored_by(Storage::Private),
        no_store: stored_by(Storage::NoStore),
    }
}

fn is_known(class: &Class) -> bool {
    match class.known {
        Known::Logged | Known::Trace | Known::Inferred => true,
        Known::Unknown | Known::NeverHit => false,
    }
}

fn law(deciles: &[u32; 9]) -> Lifetime {
    let time = |seconds: u32| Duration::from_secs(seconds.into());
    match deciles {
        [least, .., most] if least == most => Lifetime::Fixed { max_age: time(*most) },
        [least, .., most] => Lifetime::Uniform { min: time(*least), max: time(*most) },
    }
}

/// A lognormal law of quantiles, which stand at 1/128, 3/128 and so on of 64; none where half of them are below the steps of the log's
/// times.
/// The law through 64 quantiles of times, in microseconds; `None`: there are none, or half of them are nothing.
pub fn delays(quantiles_us: &[u64]) -> Option<Delays> {
    let last = quantiles_us.len().checked_sub(1)?;
    let place = |share: f64| ((share * quantiles_us.len() as f64) as usize).min(last);
    let at = |share: f64| quantiles_us[place(share)].max(1) as f64;
    if quantiles_us[place(0.5)] == 0 {
        return None;
    }
    let median = at(0.5);
    let sigma = rounded((at(DEVIATION) / at(1.0 - DEVIATION)).ln() / 2.0, 3);
    // Tenths of a lognormal distribution in standard deviations.
    let tenths = [(0.1, -1.2816), (0.25, -0.6745), (0.75, 0.6745), (0.9, 1.2816)];
    let factors = tenths.map(|(share, off)| (at(share) / (median * (sigma * off).exp())).ln().abs().exp());
    let factor = factors.into_iter().fold(1.0, f64::max);
    Some(Delays { median: Duration::from_micros(median as u64), sigma, factor })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of a distribution whose logarithm falls evenly between two values: their middle and ends are known.
    fn quantiles(from: f64, to: f64) -> Vec<u64> {
        (0..64).map(|place| (from + (to - from) * (f64::from(place) + 0.5) / 64.0).exp() as u64).collect()
    }

    #[test]
    fn delays_have_a_median_and_a_spread() {
        let found = delays(&quantiles(8.0, 10.0)).unwrap();
        let median = found.median.as_micros() as f64;
        assert!((median.ln() - 9.0).abs() < 0.05 && (found.sigma - 0.69).abs() < 0.05, "{found:?}");
        assert!(found.factor < 1.25, "{found:?}");
        assert_eq!(delays(&[5_000; 64]).unwrap().law(), Delay::Fixed { delay: Duration::from_millis(5) });
        let unseen = [vec![0; 40], vec![1_000; 24]].concat();
        assert_eq!((delays(&unseen), delays(&[])), (None, None), "below the steps of the log's times");
    }

    #[test]
    fn lifetimes_are_a_law_where_half_of_the_objects_have_one() {
        let asked = |object: u32, class: u8| FitAsked {
            begin_us: 0,
            size: 1,
            user: 0,
            object,
            class,
            condition: false,
            range: false,
            reload: false,
            aborted: false,
        };
        let class = |lifetime_s, known, storage| Class { lifetime_s, known, storage, ..Class::default() };
        let classes = [
            class(Some(60), Known::Logged, Storage::Shared),
            class(None, Known::Unknown, Storage::Shared),
            class(None, Known::NeverHit, Storage::NoStore),
        ];
        let of = |each: &[u8]| {
            let all: Vec<FitAsked> = (0..).zip(each).map(|(object, class)| asked(object, *class)).collect();
            lifetimes(&all, &classes)
        };
        let found = of(&[0, 0, 1, 2]);
        assert_eq!(found.law, Some(Lifetime::Fixed { max_age: Duration::from_secs(60) }));
        assert_eq!((found.no_store, found.private), (0.25, 0.0));
        assert_eq!(of(&[0, 1, 1, 2]).law, None);
    }
}
