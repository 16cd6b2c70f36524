//! Order, seeds, repeats and ends of comparisons.

use crate::compare;
use crate::world::World;
use decide::Void;
use decide::compare::{BisectStep, Compare, Finding, Leg, LegResult, Metric, Outcome, Pace, Settings, Side};
use decide::machine::{DecideStep, Next, Record, Recorded};
use std::collections::{BTreeMap, BTreeSet};

fn steps(world: &mut World, settings: &Settings) -> Vec<DecideStep<Leg, LegResult>> {
    compare(world, settings).1.record().steps.clone()
}

#[test]
fn blocks_are_abba_or_baab_and_both_come() {
    let settings = Settings { pairs: 20, ..Settings::new(7) };
    let steps = steps(&mut World::quiet(7), &settings);
    let closed = |pair_from: u32, pair_to: u32| -> String {
        let legs = steps.iter().map(|step| &step.asked);
        let legs = legs.filter(|leg| {
            leg.pair >= pair_from && leg.pair <= pair_to && matches!(leg.pace, Pace::Closed { .. })
        });
        legs.map(|leg| leg.side.name()).collect()
    };
    let blocks: BTreeSet<String> = (0..10).map(|block| closed(2 * block + 1, 2 * block + 2)).collect();
    assert_eq!(blocks, BTreeSet::from(["ABBA".to_owned(), "BAAB".to_owned()]));
    assert!(["ABBA", "BAAB"].contains(&closed(0, 0).as_str()));
    assert_eq!(steps.len(), 8 + 4 * 20);
}

#[test]
fn both_sides_of_a_pair_get_the_same_requests_and_no_other_pair_does() {
    let steps = steps(&mut World { void: 0.05, ..World::quiet(3) }, &Settings::new(3));
    let legs: Vec<&Leg> =
        steps.iter().filter(|step| step.answer.void.is_none()).map(|step| &step.asked).collect();
    for leg in &legs {
        let same: Vec<&&Leg> = legs.iter().filter(|other| other.seed == leg.seed).collect();
        assert!(same.iter().all(|other| other.pair == leg.pair && other.pace == leg.pace));
        assert!(same.iter().filter(|other| other.side == leg.side).count() == 1);
    }
}

#[test]
fn open_legs_have_one_rate_below_what_the_slower_side_carries() {
    let steps = steps(&mut World { slower: 0.5, ..World::quiet(4) }, &Settings::new(4));
    let rates: Vec<f64> = steps
        .iter()
        .filter_map(|step| match step.asked.pace {
            Pace::Open { rate } => Some(rate),
            Pace::Closed { .. } => None,
        })
        .collect();
    assert!(rates.windows(2).all(|two| two[0] == two[1]));
    assert!((rates[0] - 400.0).abs() < 20.0, "{}", rates[0]);
}

#[test]
fn void_legs_are_repeated_and_too_many_give_no_verdict() {
    let (outcome, recorded) = compare(&mut World { void: 0.05, ..World::quiet(5) }, &Settings::new(5));
    assert_eq!(outcome.finding, Finding::Compared);
    assert_eq!(outcome.pairs, 12);
    assert!(outcome.void > 0);
    assert_eq!(outcome.legs, recorded.record().steps.len());
    let settings = Settings { require_within: Some(0.05), ..Settings::new(5) };
    let (outcome, _) = compare(&mut World { void: 0.5, ..World::quiet(5) }, &settings);
    assert!(outcome.headline().contains("legs were void: swap ("), "{}", outcome.headline());
    assert_eq!(outcome.end().code(), 3);
    let (outcome, _) = compare(&mut World { void: 0.5, ..World::quiet(5) }, &Settings::new(5));
    assert_eq!(outcome.end().code(), 1);
}

/// However many legs are void, each has a number of those that there will be, and the last one is the last.
#[test]
fn legs_are_counted_with_those_that_are_run_again() {
    for void in [0.0, 0.04] {
        let mut world = World { void, ..World::quiet(5) };
        let mut compare = Recorded::<Compare>::start(Settings::new(5)).expect("good settings");
        let mut last = (0, 0);
        while let Next::Run(leg) = compare.next().clone() {
            last = compare.machine().progress();
            assert!(last.0 as u32 == leg.number && last.0 <= last.1, "{last:?} of {}", leg.number);
            compare.take(world.run(&leg));
        }
        let Next::Done(outcome) = compare.next() else { panic!("it is over") };
        assert!(outcome.finding != Finding::Compared || last.0 == last.1, "{last:?} with {void}");
    }
}

#[test]
fn a_side_without_a_good_answer_ends_it() {
    let refused: BTreeMap<String, u64> = [("bad status".to_owned(), 9)].into();
    let disturbed = Some(Void::Disturbed { why: "swap".to_owned() });
    let generator = Some(Void::Generator { why: "ports".to_owned() });
    for (void, failures, is_over) in [
        (None, BTreeMap::new(), true),
        (None, refused.clone(), true),
        (disturbed.clone(), refused.clone(), true),
        (disturbed, BTreeMap::new(), false),
        (generator, refused, false),
    ] {
        let mut compare = Recorded::<Compare>::start(Settings::new(6)).expect("good settings");
        let Next::Run(leg) = compare.next().clone() else { panic!("there is a first leg") };
        compare.take(LegResult { good: 0, void, failures, ..World::quiet(6).run(&leg) });
        let Next::Done(outcome) = compare.next() else {
            assert!(!is_over, "it goes on");
            continue;
        };
        assert!(is_over, "{}", outcome.headline());
        assert_eq!(outcome.finding, Finding::Silent { side: leg.side, leg: 1 });
        assert_eq!(outcome.end().code(), 1);
    }
}

#[test]
fn conditions_and_wrong_answers_decide_the_exit_code() {
    for (slower, fail_if, within, faulty, code) in [
        (0.0, Some(0.05), Some(0.05), 0, 0),
        (0.08, Some(0.05), None, 0, 3),
        (0.03, Some(0.06), None, 0, 0),
        (0.08, None, Some(0.05), 0, 3),
        (0.08, None, None, 0, 0),
        (0.0, None, None, 2, 3),
    ] {
        // A p99 is too noisy here to show that it is within 5 %.
        let figures = vec![Metric::Throughput, Metric::P50, Metric::Failed];
        let settings =
            Settings { fail_if_slower: fail_if, require_within: within, figures, ..Settings::new(8) };
        let (outcome, _) = compare(&mut World { slower, faulty, ..World::quiet(8) }, &settings);
        assert_eq!(outcome.end().code(), code, "{}", outcome.text());
    }
}

#[test]
fn texts_say_what_is_known() {
    let (outcome, _) = compare(&mut World { slower: 0.08, ..World::quiet(9) }, &Settings::new(9));
    let text = outcome.text();
    assert!(
        text.starts_with(
            "of these two processes B is, against A: worse in throughput, CPU per answer, p50 and p99"
        ),
        "{text}"
    );
    assert!(text.contains("slower by more than 2.0 %: -7."), "{text}");
    let settings = Settings { forecast_only: true, ..Settings::new(9) };
    let (outcome, _) = compare(&mut World::quiet(9), &settings);
    assert!(
        outcome.headline().starts_with("only a forecast: 12 pairs take 10 min and can see about"),
        "{}",
        outcome.headline()
    );
    assert_eq!(outcome.legs, 8);
    // Short legs have too few answers above a p99, and too little CPU.
    let settings =
        Settings { lengths: decide::compare::Lengths::QUICK, require_within: Some(0.05), ..Settings::new(9) };
    let (outcome, _) = compare(&mut World::quiet(9), &settings);
    assert!(outcome.text().contains("3000 are wanted"), "{}", outcome.text());
    assert_eq!(outcome.end().code(), 3);
}

#[test]
fn causes_are_one_whatever_their_figures() {
    let mut compare = Recorded::<Compare>::start(Settings::new(3)).expect("good settings");
    let mut cpu = 80;
    loop {
        let leg = match compare.next().clone() {
            Next::Run(leg) => leg,
            Next::Done(outcome) => {
                assert_eq!(
                    outcome.headline(),
                    "no verdict: 4 of 4 legs were void: a worker used 81 % of its core (4)"
                );
                return;
            }
        };
        cpu += 1;
        let why = format!("a worker used {cpu} % of its core");
        compare.take(LegResult { void: Some(Void::Generator { why }), ..World::quiet(3).run(&leg) });
    }
}

/// A comparison on a machine that takes a share of the CPU from each leg, and is late by a tenth of a second for the whole of it; of the uncounted block
/// and of later legs.
fn on_a_shared_host(usual: f64, later: f64) -> (Outcome, usize) {
    let mut compare = Recorded::<Compare>::start(Settings::new(14)).expect("good settings");
    let mut world = World::quiet(14);
    let mut voids = 0;
    loop {
        let leg = match compare.next().clone() {
            Next::Run(leg) => leg,
            Next::Done(outcome) => return (outcome, voids),
        };
        let share = if leg.pair == 0 { usual } else { later };
        let result = LegResult { stolen: Some(share), ..world.run(&leg) };
        let late = LegResult { late_ms: Some(100.0 * share), ..world.run(&leg) };
        let result = if leg.number % 2 == 0 { result } else { late };
        let void = compare.machine().void_beyond_usual(&result);
        voids += usize::from(void.is_some());
        compare.take(LegResult { void, ..result });
    }
}

#[test]
fn a_machine_that_is_always_shared_leaves_a_verdict_and_says_so() {
    for (usual, later, is_judged) in [
        (0.0, 0.019, true),
        (0.0, 0.049, true),
        (0.0, 0.101, false),
        (0.04, 0.119, true),
        (0.04, 0.121, false),
        (0.15, 0.19, true),
        (0.15, 0.51, false),
        (0.51, 0.0, false),
    ] {
        let (outcome, voids) = on_a_shared_host(usual, later);
        assert_eq!(
            (outcome.finding == Finding::Compared, voids == 0),
            (is_judged, is_judged),
            "{usual} {later} {}",
            outcome.headline()
        );
        let told = |what: &str| outcome.notes.iter().any(|note| note.contains(what));
        assert_eq!(told("(steal)"), is_judged && later >= 0.02, "{:?}", outcome.notes);
        assert_eq!(told("sends were late by up to"), is_judged && later > 0.05, "{:?}", outcome.notes);
    }
}

#[test]
fn what_was_started_anew_is_no_two_processes() {
    let settings = Settings { anew: true, ..Settings::new(9) };
    let (outcome, _) = compare(&mut World::quiet(9), &settings);
    let text = outcome.text();
    assert!(text.starts_with("of both sides, started anew for each pair, B is, against A: "), "{text}");
    assert!(!text.contains("were not started anew"), "{text}");
}

#[test]
fn exchanged_sides_negate_the_interval() {
    let settings = Settings { figures: vec![Metric::P50], ..Settings::new(10) };
    let (outcome, _) = compare(&mut World { slower: 0.03, ..World::quiet(10) }, &settings);
    let there = &outcome.figures[0].differences;
    let back: Vec<f64> = there.iter().map(|difference| -difference).collect();
    let walsh = decide::statistics::walsh::Walsh::of;
    let one = walsh(there).interval(0.05).unwrap();
    let other = walsh(&back).interval(0.05).unwrap();
    assert_eq!((one.low, one.high), (-other.high, -other.low));
}

#[test]
fn a_record_alone_gives_the_verdict_again() {
    let (outcome, recorded) = compare(&mut World { void: 0.05, ..World::quiet(11) }, &Settings::new(11));
    let text = serde_json::to_string(recorded.record()).expect("a record is data");
    let record: Record<Settings, Leg, LegResult> =
        serde_json::from_str(&text).expect("it is read as written");
    let again = Recorded::<Compare>::resume(record).expect("it is a record of this machine");
    assert_eq!(*again.next(), Next::Done(outcome));
    assert_eq!(Side::A.other(), Side::B);
}

#[test]
fn a_control_is_a_against_itself_a_third_as_often() {
    let settings = Settings { control: true, ..Settings::new(12) };
    let (outcome, recorded) = compare(&mut World { slower: 0.08, ..World::quiet(12) }, &settings);
    let legs: Vec<&Leg> = recorded.record().steps.iter().map(|step| &step.asked).collect();
    let controls: Vec<&&Leg> = legs.iter().filter(|leg| leg.control).collect();
    assert_eq!((controls.len(), legs.len()), (16, 8 + 4 * (12 + 4)));
    assert!(controls.iter().all(|leg| leg.asked() == Side::A));
    let labels: BTreeSet<Side> = controls.iter().map(|leg| leg.side).collect();
    assert_eq!(labels, BTreeSet::from([Side::A, Side::B]));
    let seeds: BTreeSet<u64> = legs.iter().filter(|leg| !leg.control).map(|leg| leg.seed).collect();
    assert!(controls.iter().all(|leg| !seeds.contains(&leg.seed)), "a control's requests are its own");
    let throughput = &outcome.control[0];
    assert_eq!((throughput.metric, throughput.differences.len()), (Metric::Throughput, 4));
    assert!(throughput.change.abs() < 0.03 && !throughput.as_much, "{throughput:?}");
    let text = outcome.text();
    assert!(text.contains("\nA against itself, 4 pairs: throughput ") && !text.contains("BUT"), "{text}");
    // The figures of both sides are those without a control.
    assert_eq!((outcome.pairs, outcome.figures[0].differences.len()), (12, 12));
    let (without, _) = compare(&mut World::quiet(12), &Settings::new(12));
    assert!(without.control.is_empty() && !without.text().contains("itself"));
}

/// Where A differs from itself by more than B from A, that is no word on B.
#[test]
fn a_control_that_differs_as_much_stands_in_the_headline() {
    let settings = Settings { control: true, figures: vec![Metric::Throughput], ..Settings::new(13) };
    let mut world = World { slower: 0.03, ..World::quiet(13) };
    let mut compare = Recorded::<Compare>::start(settings).expect("good settings");
    let outcome = loop {
        match compare.next().clone() {
            Next::Run(leg) => {
                let mut result = world.run(&leg);
                if leg.control && leg.side == Side::B {
                    result.good = result.good * 9 / 10;
                }
                compare.take(result);
            }
            Next::Done(outcome) => break outcome,
        }
    };
    let headline = outcome.headline();
    assert!(
        headline.contains("worse in throughput")
            && headline.ends_with("BUT A AGAINST ITSELF differs by as much in throughput"),
        "{headline}"
    );
}

#[test]
fn a_search_for_a_commit_is_told_good_bad_or_that_nobody_can_tell() {
    let figures = vec![Metric::Throughput, Metric::P50];
    let settings = |slower: f64| Settings {
        fail_if_slower: Some(slower),
        figures: figures.clone(),
        ..Settings::new(14)
    };
    for (slower, noise, margin, step) in [
        (0.08, 0.008, 0.04, BisectStep::Bad),
        (0.0, 0.008, 0.04, BisectStep::Good),
        (0.0, 0.2, 0.04, BisectStep::CannotTell),
    ] {
        let mut world = World { slower, noise: [noise; 2], ..World::quiet(14) };
        let (outcome, _) = compare(&mut world, &settings(margin));
        assert_eq!(outcome.step(), step, "{}", outcome.text());
    }
    let (wrong, _) = compare(&mut World { faulty: 1, ..World::quiet(14) }, &settings(0.04));
    assert_eq!(wrong.step().code(), 1);
    let (void, _) = compare(&mut World { void: 0.5, ..World::quiet(5) }, &settings(0.04));
    assert_eq!(void.step().code(), 125);
}

/// The sides still warm up in the uncounted block: it is run again with longer warm-ups, once.
#[test]
fn a_block_that_is_not_steady_is_run_again_with_longer_warm_ups_once() {
    let settings = Settings::new(11);
    for (rise, blocks, notes) in [(None, 1, 0), (Some(0.06), 1, 0), (Some(0.11), 2, 1), (Some(9.0), 2, 3)] {
        let (outcome, recorded) = compare(&mut World { rise, ..World::quiet(11) }, &settings);
        let legs: Vec<&Leg> = recorded.record().steps.iter().map(|step| &step.asked).collect();
        let uncounted: Vec<&&Leg> = legs.iter().filter(|leg| leg.pair == 0).collect();
        assert_eq!(uncounted.len(), 8 * blocks, "{rise:?}");
        let first = legs[0].warm_s;
        let last = legs[legs.len() - 2].warm_s;
        assert_eq!((first, last), (3.0, if blocks == 1 { 3.0 } else { 6.0 }), "{rise:?}");
        let seeds: BTreeSet<u64> = uncounted.iter().map(|leg| leg.seed).collect();
        assert_eq!(seeds.len(), 4 * blocks, "a block that is run again asks for other objects");
        let steadiness = outcome.notes.iter().filter(|note| note.contains("not steady")).count();
        assert_eq!((steadiness, outcome.pairs), (notes, 12), "{:?}", outcome.notes);
    }
}

#[test]
fn hit_ratios_are_compared_with_an_interval() {
    let figures = vec![Metric::Throughput, Metric::Hits];
    let settings = Settings { figures, ..Settings::new(12) };
    for (hits, words) in [
        (Some([0.90, 0.90]), "no difference that matters (1.0 %)"),
        (Some([0.90, 0.87]), "fewer hits by more than 1.0 %: -3.0 % (-3."),
        (Some([0.90, 0.93]), "more hits by more than 1.0 %: +3."),
        (None, "not judged: of 0 answers in a leg"),
    ] {
        let (outcome, _) = compare(&mut World { hits, ..World::quiet(12) }, &settings);
        assert!(outcome.text().contains(words), "{}", outcome.text());
    }
}
