//! How often identical sides are said to differ, and how often an interval misses the truth.

use crate::compare;
use crate::world::World;
use decide::compare::{Judgement, Metric, Outcome, Settings, Shown, Side, Word};
use decide::statistics::walsh::Walsh;

/// 5 %, and two deviations of so many comparisons.
fn most_alarms(comparisons: u64) -> usize {
    let comparisons = comparisons as f64;
    (0.05 * comparisons + 2.0 * (0.05 * 0.95 * comparisons).sqrt()).floor() as usize
}

fn shown(outcome: &Outcome, metric: Metric) -> Shown {
    let figure = outcome.figures.iter().find(|one| one.metric == metric).expect("it is judged");
    match &figure.judgement {
        Judgement::Judged(shown) => *shown,
        Judgement::NotKnown | Judgement::NotJudged { .. } => panic!("{figure:?}"),
    }
}

fn is_alarm(outcome: &Outcome) -> bool {
    outcome.figures.iter().any(|one| match &one.judgement {
        Judgement::Judged(shown) => !matches!(shown.word, Word::NoneThatMatters | Word::CannotTell),
        Judgement::NotKnown | Judgement::NotJudged { .. } => panic!("{one:?}"),
    })
}

fn check_alarms(seeds: std::ops::Range<u64>) {
    println!("seeds {seeds:?}");
    let comparisons = seeds.end - seeds.start;
    for kind in 0..8 {
        let mut alarms = 0;
        let mut name = "";
        for seed in seeds.clone() {
            let (called, mut world) = World::identical(seed).into_iter().nth(kind).expect("there are eight");
            name = called;
            alarms += usize::from(is_alarm(&compare(&mut world, &Settings::new(seed)).0));
        }
        println!("{name}: {alarms} alarms in {comparisons}");
        assert!(alarms <= most_alarms(comparisons), "{name}: {alarms} alarms in {comparisons}");
    }
}

fn check_cover(seeds: std::ops::Range<u64>) {
    println!("seeds {seeds:?}");
    let comparisons = seeds.end - seeds.start;
    let mut all = 0;
    let mut one = 0;
    let mut found = 0;
    for seed in seeds {
        let slower = World { slower: 0.03, ..World::quiet(seed) };
        // Less throughput by 1 - 1/1.03.
        let truth = 1.0 - 1.0 / 1.03;
        let (outcome, _) = compare(&mut slower.clone(), &Settings::new(seed));
        let throughput = shown(&outcome, Metric::Throughput);
        all += u64::from(
            throughput.interval.covers(truth) && shown(&outcome, Metric::P50).interval.covers(0.03),
        );
        found += u64::from(throughput.p_of_all <= 0.05);
        let single = Settings { figures: vec![Metric::Throughput], ..Settings::new(seed) };
        let (outcome, _) = compare(&mut slower.clone(), &single);
        one += u64::from(shown(&outcome, Metric::Throughput).interval.covers(truth));
    }
    println!("of {comparisons}: two of five figures covered {all}, one by itself {one}, found {found}");
    for covered in [all, one, found] {
        assert!(covered as f64 >= 0.936 * comparisons as f64, "{covered} of {comparisons}");
    }
}

#[test]
fn identical_sides_rarely_alarm() {
    check_alarms(0..200);
}

#[test]
#[ignore = "a thousand comparisons in each of eight worlds"]
fn identical_sides_rarely_alarm_in_a_thousand_comparisons() {
    check_alarms(1_000..2_000);
}

#[test]
fn a_true_difference_is_covered() {
    check_cover(0..200);
}

#[test]
#[ignore = "two thousand comparisons"]
fn a_true_difference_is_covered_in_a_thousand_comparisons() {
    check_cover(1_000..2_000);
}

/// Looks after 8, 12, 20 and 30 pairs, each at its share of the level.
#[test]
fn until_it_is_sure_takes_as_many_pairs_as_it_needs() {
    let until = |seed| Settings { until_sure: true, ..Settings::new(seed) };
    println!("seeds 0..200");
    let alarms = (0..200).filter(|seed| is_alarm(&compare(&mut World::quiet(*seed), &until(*seed)).0));
    assert!(alarms.count() <= most_alarms(200));
    let mut found = 0;
    let mut pairs = 0;
    for seed in 0..200 {
        let (outcome, _) = compare(&mut World { slower: 0.05, ..World::quiet(seed) }, &until(seed));
        found += usize::from(is_alarm(&outcome));
        assert!([8, 12, 20, 30].contains(&outcome.pairs), "{}", outcome.pairs);
        pairs += outcome.pairs;
    }
    println!("found {found}, {pairs} pairs");
    assert!(found >= 195 && pairs < 200 * 30, "{found} {pairs}");
}

/// The yardstick itself can fail: all of A and then all of B alarms in a machine that drifts.
#[test]
fn one_side_after_the_other_alarms() {
    let alarms = (0..200).filter(|seed| {
        let mut world = World { drift: 2e-4, ..World::quiet(*seed) };
        let mut legs = |side| -> Vec<f64> { (0..12).map(|_| world.slowness(side, 26.0)).collect() };
        let a = legs(Side::A);
        let b = legs(Side::B);
        let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
        Walsh::of(&differences).p_value() <= 0.05
    });
    assert!(alarms.count() > 100);
}
