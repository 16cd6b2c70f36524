//! Laws are found again in logs that were made of them.

use crate::support::{import, log, open};
use plan::Arrivals;
use plan::site::{Lifetime, Size};
use recording::fit::{Fit, FitError, Grounds, fit};
use recording::import::Options;
use recording::made::Laws;
use std::time::Duration;

/// The laws of a log that these have made.
fn learnt(laws: &Laws) -> Fit {
    let log = log(laws, "caddy");
    let finished = import(Options::default(), &[("log", "caddy", &log)]).expect("it is a log");
    fit(&mut open(&finished.to), 1).expect("it is long enough")
}

/// Laws of so many requests, with a seed that is told where a test fails.
fn laws(seed: u64, alpha: f64, one_timers: f64, size: Size) -> Laws {
    let mut laws = Laws { seed, requests: 40_000, size, ..Laws::default() };
    laws.popularity.law = plan::Law::Zipf { alpha };
    laws.popularity.one_timers = one_timers;
    laws
}

fn exponent(fit: &Fit) -> f64 {
    match fit.popularity.law.law {
        plan::Law::Zipf { alpha } => alpha,
        plan::Law::Uniform | plan::Law::InOrder => f64::NAN,
    }
}

#[test]
fn popularity_comes_back() {
    let heavy = Size::Heavy { median: 8_000, sigma: 1.2, tail: 0.05, shape: 1.3, max: 10_000_000 };
    let bare = Size::Heavy { median: 20_000, sigma: 0.7, tail: 0.0, shape: 1.5, max: 50_000_000 };
    let sizes = [heavy, bare, Size::Fixed(5_000)];
    for (number, alpha) in [0.6, 0.9, 1.1].into_iter().enumerate() {
        for (more, one_timers) in [0.0, 0.3, 0.6].into_iter().enumerate() {
            let seed = 100 + 10 * number as u64 + more as u64;
            let fit = learnt(&laws(seed, alpha, one_timers, sizes[(number + more) % sizes.len()]));
            let law = &fit.popularity.law;
            let found = format!(
                "seed {seed}, {alpha} and {one_timers}: {law:?}, off by {} and {}",
                fit.curve.error(),
                fit.popularity.error
            );
            assert!(matches!(fit.popularity.grounds, Grounds::Counts(_)), "{found}");
            assert!((exponent(&fit) - alpha).abs() < 0.04, "{found}");
            assert!((law.one_timers - one_timers).abs() < 0.015, "{found}");
            assert!((1_800..2_300).contains(&law.hot), "{found}");
            assert!(fit.popularity.error < 0.015 && !fit.popularity.endless, "{found}");
            // A few objects of the tail are most of the bytes, and which ones these are is chance.
            assert!(fit.curve.error() < 0.05, "{found}");
        }
    }
}

/// Nine in ten would hold the truth; of twelve, three outside would be an unlikely accident, and seeds are fixed.
#[test]
fn intervals_hold_the_truth_mostly() {
    let within =
        |interval: recording::fit::Confidence, truth: f64| (interval.low..=interval.high).contains(&truth);
    let mut outside = Vec::new();
    for seed in 1..=4 {
        let fit = learnt(&laws(seed, 0.8, 0.25, Size::Fixed(1_000)));
        let Grounds::Counts(found) = fit.popularity.grounds else {
            panic!("seed {seed}: {:?}", fit.popularity)
        };
        for (interval, truth) in [(found.alpha, 0.8), (found.one_timers, 0.25), (found.hot, 2_000.0)] {
            if !within(interval, truth) {
                outside.push((seed, truth, interval));
            }
        }
    }
    assert!(outside.len() <= 3, "{outside:?}");
}

#[test]
fn sizes_come_back() {
    for (seed, tail, shape) in [(7, 0.0, 1.5), (8, 0.05, 1.3), (9, 0.2, 1.1)] {
        let truth = Size::Heavy { median: 8_000, sigma: 1.2, tail, shape, max: 10_000_000 };
        let fit = learnt(&laws(seed, 0.7, 0.4, truth));
        let Size::Heavy { median, sigma, tail: found, .. } = fit.sizes.law else { panic!("{:?}", fit.sizes) };
        let told = format!("seed {seed}, tail {tail}: {:?}", fit.sizes);
        assert!((7_300..8_700).contains(&median) && (sigma - 1.2).abs() < 0.1, "{told}");
        assert!((found - tail).abs() < 0.03 && fit.sizes.error < 0.03, "{told}");
    }
    let fit = learnt(&laws(10, 0.7, 0.4, Size::Fixed(4_321)));
    assert_eq!((fit.sizes.law, fit.sizes.error), (Size::Fixed(4_321), 0.0));
    let between = Size::Uniform { min: 1_000, max: 100_000 };
    let fit = learnt(&laws(11, 0.7, 0.4, between));
    assert!(fit.sizes.error > 0.03, "that it is another law is told: {:?}", fit.sizes);
}

#[test]
fn rates_and_arrivals_come_back() {
    let fit = learnt(&Laws { seed: 21, requests: 20_000, per_second: 200.0, ..Laws::default() });
    let rate = &fit.rate;
    assert!((rate.per_second - 200.0).abs() < 6.0, "{rate:?}");
    assert_eq!((rate.arrivals, rate.stages.len()), (Arrivals::Poisson, 3));
    assert!((0.8..1.25).contains(&rate.dispersion) && rate.error < 0.02, "{rate:?}");
}

#[test]
fn what_no_law_is_about_is_counted() {
    let laws = Laws { seed: 31, not_found: 0.1, not_modified: 0.2, ..Laws::default() };
    let fit = learnt(&laws);
    assert_eq!(fit.requests + fit.left.statuses, 10_000);
    assert!((900..1_100).contains(&fit.left.statuses), "{:?}", fit.left);
    let told = 0.2 * 10_000.0 / fit.requests as f64;
    assert!((fit.shares.revalidate - told).abs() < 0.02, "{:?}", fit.shares);
    // Caddy logs Cache-Control of the answers.
    assert_eq!(fit.lifetimes.law, Some(Lifetime::Fixed { max_age: Duration::from_secs(3_600) }));
    assert!(fit.delays.is_none(), "{:?}", fit.delays);
}

/// Each user asks for objects of its own, one after the other: no Zipf law has these hit ratios.
#[test]
fn a_traffic_of_another_kind_is_called_wrong_or_comes_close() {
    let line = |number: u64| {
        let object = if number.is_multiple_of(2) { number / 2 % 300 } else { 1_000 + number / 400 };
        format!(
            "{{\"t\":{},\"m\":\"GET\",\"h\":\"h\",\"p\":\"/{object}\",\"s\":200,\"b\":1000}}\n",
            1_795_746_709_000 + number * 10
        )
    };
    let log: String = (0..20_000).map(line).collect();
    let format = "json:time=t,method=m,host=h,path=p,status=s,bytes=b";
    let finished = import(Options::default(), &[("log", format, log.as_bytes())]).unwrap();
    let fit = fit(&mut open(&finished.to), 1).unwrap();
    let told = format!("{:?} off by {}", fit.popularity, fit.curve.error());
    assert!(
        fit.curve.error() > 0.03,
        "no law of ours has two hundred requests for one object in a row: {told}"
    );
    assert_eq!(fit.rate.arrivals, Arrivals::Even);
}

#[test]
fn a_recording_may_be_too_short() {
    let finished =
        |laws: &Laws| import(Options::default(), &[("log", "caddy", &log(laws, "caddy"))]).unwrap().to;
    let few = finished(&Laws { requests: 50, ..Laws::default() });
    assert!(matches!(fit(&mut open(&few), 1), Err(FitError::Few(50))));
    let short = finished(&Laws { requests: 500, per_second: 1e5, ..Laws::default() });
    assert!(matches!(fit(&mut open(&short), 1), Err(FitError::Short(_))));
}
