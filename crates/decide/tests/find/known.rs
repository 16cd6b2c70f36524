//! Servers whose knee is known by a formula: half of the searches come within 1 % of it, nine of ten within 4 %, and nine of ten intervals cover it.

use super::bench::Bench;
use super::search;
use super::servers::{Moody, Queue, Server, Service};
use decide::find::{Arrivals, FindFinding, FindSettings, Limit, Recovery};

/// A server and its knee.
struct Known {
    name: &'static str,
    knee: f64,
    settings: FindSettings,
    make: fn() -> Box<dyn Server>,
    /// Searches of each test run, and of a full one.
    few: u64,
    many: u64,
}

fn queue(servers: usize, service: Service) -> Box<dyn Server> {
    Box::new(Queue::new(servers, 1_000.0, service))
}

fn quantile(quantile: f64, limit_ms: f64) -> FindSettings {
    FindSettings::new(0, vec![Limit::Quantile { quantile, limit_ms }])
}

fn mean(limit_ms: f64) -> FindSettings {
    FindSettings::new(0, vec![Limit::Mean { limit_ms }])
}

fn minutes(minutes: f64, settings: FindSettings) -> FindSettings {
    FindSettings { budget_s: minutes * 60.0, ..settings }
}

fn evenly(settings: FindSettings) -> FindSettings {
    FindSettings { arrivals: Arrivals::Even, ..settings }
}

/// Sixteen slots of 100/s each, and whoever finds none is refused.
fn slots() -> Box<dyn Server> {
    let mut queue = Queue::new(16, 100.0, Service::Exponential);
    queue.room = 16;
    Box::new(queue)
}

fn failed(share: f64) -> FindSettings {
    FindSettings::new(0, vec![Limit::Failed { share }])
}

fn table() -> Vec<Known> {
    let row = |name, knee, settings, make| Known { name, knee, settings, make, few: 20, many: 200 };
    let single = || queue(1, Service::Exponential);
    vec![
        row("M/M/1, p99 < 50 ms", 907.9, quantile(0.99, 50.0), single),
        // In 6 minutes there are about five bursts over such a limit.
        Known {
            few: 12,
            ..row("M/M/1, p99.9 < 50 ms, 15 min", 861.8, minutes(15.0, quantile(0.999, 50.0)), single)
        },
        row("M/M/1, p50 < 5 ms", 861.4, quantile(0.5, 5.0), single),
        Known {
            few: 12,
            ..row("M/M/4, p99 < 10 ms", 3_500.9, quantile(0.99, 10.0), || queue(4, Service::Exponential))
        },
        Known {
            few: 4,
            many: 60,
            ..row("M/M/16, p99 < 10 ms", 15_482.7, quantile(0.99, 10.0), || queue(16, Service::Exponential))
        },
        row("D/M/1, p99 < 50 ms", 953.2, evenly(quantile(0.99, 50.0)), single),
        row("D/M/1, p99 < 10 ms", 746.2, evenly(quantile(0.99, 10.0)), single),
        row("M/D/1, mean < 5 ms", 888.9, mean(5.0), || queue(1, Service::Fixed)),
        row("M/M/1, mean < 5 ms", 800.0, mean(5.0), single),
        row(
            "M/H/1 with a squared variation of 4, mean < 5 ms, 12 min",
            615.4,
            minutes(12.0, mean(5.0)),
            || queue(1, Service::Hyper(4.0)),
        ),
        // The mean of such services is known to 4 % after 6 minutes, and the knee is a fifth less sure than that.
        Known {
            few: 3,
            many: 60,
            ..row(
                "M/H/1 with a squared variation of 16, mean < 5 ms, 1 h",
                320.0,
                minutes(60.0, mean(5.0)),
                || queue(1, Service::Hyper(16.0)),
            )
        },
        row("leaky bucket, p99 < 50 ms", 955.0, quantile(0.99, 50.0), || queue(1, Service::Fixed)),
        row("M/M/16/16, failed < 1 %", 887.0, failed(0.01), slots),
        row("M/M/16/16, failed < 0.1 %", 672.0, failed(0.001), slots),
    ]
}

/// Shares of searches.
#[derive(Debug)]
struct Found {
    median: f64,
    within_4_percent: f64,
    covered: f64,
}

fn find(known: &Known, seeds: u64) -> Found {
    let mut knees = Vec::new();
    let mut covered = 0;
    for seed in 0..seeds {
        let settings = FindSettings { seed: 1 + 7 * seed, ..known.settings.clone() };
        let (outcome, _) = search(&mut Bench::new((known.make)()), &settings);
        match &outcome.finding {
            FindFinding::Knee(knee) => {
                knees.push(knee.rate / known.knee);
                covered += u64::from(knee.interval.covers(known.knee));
            }
            _ => println!("{}, seed {}: {}", known.name, settings.seed, outcome.headline()),
        }
    }
    knees.sort_by(f64::total_cmp);
    let within = knees.iter().filter(|knee| (**knee - 1.0).abs() <= 0.04).count();
    let found = Found {
        median: knees[knees.len() / 2],
        within_4_percent: within as f64 / seeds as f64,
        covered: covered as f64 / knees.len() as f64,
    };
    let all = format!("{} of {seeds} searches found a knee", knees.len());
    println!(
        "{}: {all}, median {:.4}, {:.1} % within 4 %, covered {:.1} %",
        known.name,
        found.median,
        found.within_4_percent * 100.0,
        found.covered * 100.0
    );
    found
}

/// A few searches each: the bounds are those of the full test, less three deviations of so few.
#[test]
fn a_few_searches_find_known_knees() {
    for known in table() {
        let found = find(&known, known.few);
        let chance = 3.0 * (0.09 / known.few as f64).sqrt();
        assert!(
            (found.median - 1.0).abs() < 0.01 + 0.03 / (known.few as f64).sqrt(),
            "{}: {found:?}",
            known.name
        );
        assert!(found.within_4_percent >= 0.9 - chance, "{}: {found:?}", known.name);
        assert!(found.covered >= 0.9 - chance, "{}: {found:?}", known.name);
    }
}

#[test]
#[ignore = "takes some minutes: cargo test --release -p decide -- --ignored"]
fn many_searches_find_known_knees() {
    let mut missed = Vec::new();
    for known in table() {
        let found = find(&known, known.many);
        // Of 200 searches, 90 % may be 88 % by chance of one deviation.
        let chance = (0.09 / known.many as f64).sqrt();
        if (found.median - 1.0).abs() > 0.01
            || found.within_4_percent < 0.9 - chance
            || found.covered < 0.9 - chance
        {
            missed.push(format!("{}: {found:?}", known.name));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Outcomes of ten searches, by the name of the finding.
fn findings(settings: &FindSettings, make: impl Fn() -> Bench) -> Vec<(FindFinding, String)> {
    let one = |seed: u64| {
        let (outcome, _) = search(&mut make(), &FindSettings { seed: 1 + 7 * seed, ..settings.clone() });
        (outcome.finding.clone(), outcome.headline())
    };
    (0..10).map(one).collect()
}

fn with_moods(change: impl Fn(&mut Queue)) -> Bench {
    let mut queue = Queue::new(1, 1_000.0, Service::Exponential);
    change(&mut queue);
    Bench::new(Box::new(queue))
}

#[track_caller]
/// The ways back of those searches that had time to look for one.
fn recoveries(findings: &[(FindFinding, String)]) -> Vec<Recovery> {
    let found: Vec<Recovery> = findings
        .iter()
        .filter_map(|(finding, _)| match finding {
            FindFinding::Knee(knee) => knee.recovery,
            _ => None,
        })
        .collect();
    assert!(found.len() >= 5, "{} of {}: {findings:#?}", found.len(), findings.len());
    found
}

fn at_least(findings: &[(FindFinding, String)], wanted: usize, is: impl Fn(&FindFinding) -> bool) {
    let count = findings.iter().filter(|(finding, _)| is(finding)).count();
    assert!(count >= wanted, "{count} of {}: {findings:#?}", findings.len());
}

#[test]
fn a_server_that_pauses_too_long_has_no_knee() {
    // 2 % of the requests of each 10 s fall into a pause, whatever the rate.
    let found = findings(&quantile(0.99, 50.0), || {
        with_moods(|queue| (queue.moods.pause, queue.moods.every) = (0.2, 10.0))
    });
    at_least(&found, 8, |finding| matches!(finding, FindFinding::NoRate { .. }));
    // At a few requests a second half a minute sees a handful of them, and chance may let it pass: rarely, and widely.
    at_least(&found, 9, |finding| !matches!(finding, FindFinding::Knee(_)));
}

#[test]
fn a_server_that_refuses_or_is_slow_at_once_has_no_knee() {
    let found = findings(&quantile(0.99, 50.0), || with_moods(|queue| queue.room = 0));
    at_least(&found, 10, |finding| matches!(finding, FindFinding::NoRate { lowest: None, .. }));
    let found = findings(&quantile(0.99, 0.5), || with_moods(|_| {}));
    at_least(&found, 10, |finding| matches!(finding, FindFinding::NoRate { lowest: None, .. }));
}

#[test]
fn a_server_that_tires_has_drifted() {
    let found = findings(&quantile(0.99, 50.0), || with_moods(|queue| queue.moods.drift = 0.02 / 60.0));
    at_least(
        &found,
        8,
        |finding| matches!(finding, FindFinding::Drifted { per_minute, .. } if (-0.035..-0.01).contains(per_minute)),
    );
}

#[test]
fn a_noisy_server_has_a_wider_interval() {
    let widths = |noise: f64| -> f64 {
        let found = findings(&quantile(0.5, 5.0), || with_moods(|queue| queue.moods.noise = noise));
        let mut widths: Vec<f64> = found
            .iter()
            .filter_map(|(finding, _)| match finding {
                FindFinding::Knee(knee) => Some(knee.interval.relative_width()),
                _ => None,
            })
            .collect();
        widths.sort_by(f64::total_cmp);
        widths[widths.len() / 2]
    };
    let quiet = widths(0.0);
    let noisy = widths(0.02);
    assert!(noisy > 1.3 * quiet, "{noisy} and {quiet}");
}

#[test]
fn a_slow_generator_gives_at_least() {
    let found = findings(&quantile(0.99, 50.0), || Bench { generator: 700.0, ..with_moods(|_| {}) });
    at_least(
        &found,
        10,
        |finding| matches!(finding, FindFinding::AtLeast { rate, .. } if (625.0..700.0).contains(rate)),
    );
}

/// Below what it serves nobody waits, and above it all do after a while.
#[test]
fn a_wall_is_halved_until_it_is_narrow() {
    let settings = evenly(quantile(0.99, 50.0));
    let found = findings(&settings, || Bench::new(queue(1, Service::Fixed)));
    at_least(&found, 8, |finding| {
        matches!(finding, FindFinding::Knee(knee) if (0.97..1.04).contains(&(knee.rate / 1_000.0))
            && knee.interval.relative_width() <= 0.031)
    });
}

#[test]
fn a_server_that_stays_slow_after_a_surge_does_not_recover() {
    // Half as fast from 200 waiting on, until nobody waits.
    let metastable =
        || Bench::new(Box::new(Moody::new(|_, bad| if bad { 500.0 } else { 1_000.0 }, 200, 0, 0.0)));
    let ways_back = recoveries(&findings(&quantile(0.99, 50.0), metastable));
    assert!(ways_back.iter().all(|back| back.after_s.is_none()), "{ways_back:#?}");
    // A sixth slower for a minute.
    let sulking =
        || Bench::new(Box::new(Moody::new(|_, bad| if bad { 850.0 } else { 1_000.0 }, 200, 0, 60.0)));
    let ways_back = recoveries(&findings(&quantile(0.99, 50.0), sulking));
    assert!(ways_back.iter().all(|back| back.carries_again == Some(false)), "{ways_back:#?}");
    let healthy = || with_moods(|_| {});
    let ways_back = recoveries(&findings(&quantile(0.99, 50.0), healthy));
    assert!(ways_back.iter().all(|back| back.carries_again == Some(true)), "{ways_back:#?}");
}

#[test]
fn a_server_that_gets_slower_the_more_wait_has_a_knee_below_its_peak_and_none_above() {
    let retrograde = || {
        let rate = |there: usize, _| {
            let there = there as f64;
            300.0 * there / (1.0 + 0.2 * (there - 1.0) + 0.0004 * there * (there - 1.0))
        };
        Bench::new(Box::new(Moody::new(rate, usize::MAX, 0, 0.0)))
    };
    // The peak is 1271/s with 45 there.
    let found = findings(&quantile(0.99, 50.0), retrograde);
    at_least(&found, 8, |finding| {
        matches!(finding, FindFinding::Knee(knee) if (1_050.0..1_230.0).contains(&knee.rate)
            && knee.recovery.is_none_or(|recovery| recovery.after_s.is_none()))
    });
}
