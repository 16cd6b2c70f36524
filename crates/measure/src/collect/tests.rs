//! Figures of workers, in time and late: what becomes of them.

use super::*;
use crate::counts::Counts;
use crate::fold::RunState;
use crate::run::PhaseResult;
use crate::stream::{Head, PhasePlan};
use crate::timeline::{Row, Timeline};
use proptest::prelude::*;

fn snapshot(worker: u32, interval: u64, phase: u32, requests: u64, last: bool) -> Snapshot {
    let mut tally = Box::new(Tally::new());
    tally.counts = Counts { requests, ..Counts::default() };
    Snapshot {
        worker,
        phase,
        interval,
        tally,
        peak: 0,
        in_flight: 1,
        cpu: Duration::from_millis(500),
        closes_interval: true,
        last,
        span: (Duration::ZERO, Duration::from_secs(interval + 1)),
        paced_until: Duration::from_secs(interval + 1),
        due_until: Duration::from_secs(interval + 1),
    }
}

/// A collector, and what is made of its records.
struct Whole {
    collector: Collector,
    state: RunState,
}

impl Whole {
    fn with_intervals_per_row(mut self, intervals: u32) -> Whole {
        self.collector = self.collector.with_intervals_per_row(intervals);
        self
    }

    fn origin_before(&mut self, counts: OriginCounts) {
        self.collector.origin_before(counts);
    }

    fn take(&mut self, events: &[RunEvent]) -> Vec<Row> {
        events.iter().for_each(|event| self.state.apply(event));
        let rows = events.iter().filter_map(|event| match event {
            RunEvent::Second(second) => Some(second.row()),
            _ => None,
        });
        rows.collect()
    }

    fn add(&mut self, snapshot: Snapshot, origin: Option<OriginCounts>) -> (Vec<Row>, Box<Tally>) {
        let (events, tally) = self.collector.add(snapshot, origin);
        (self.take(&events), tally)
    }

    fn overdue(&mut self, now: Duration) -> Vec<Row> {
        let events = self.collector.tell_overdue(now, None);
        self.take(&events)
    }

    fn finish(mut self, origin: Option<OriginCounts>) -> (Vec<PhaseResult>, Timeline, Vec<WorkerUse>) {
        let collector = std::mem::replace(&mut self.collector, Collector::new(std::iter::empty(), 0));
        let (events, phases, workers) = collector.finish(origin);
        self.take(&events);
        self.take(&[RunEvent::End(Box::new(crate::stream::MeasureEnd { phases, ..Default::default() }))]);
        let result = self.state.result();
        (result.phases, result.timeline, workers)
    }
}

fn collector(workers: u32) -> Whole {
    let plan = |name: &str, measured| PhasePlan { name: name.to_owned(), measured, ..PhasePlan::default() };
    let phases = vec![plan("fill", false), plan("measure", true)];
    let mut state = RunState::default();
    state.apply(&RunEvent::Head(Box::new(Head { phases, ..Head::default() })));
    Whole { collector: named(workers), state }
}

fn named(workers: u32) -> Collector {
    Collector::new([("fill", false), ("measure", true)].into_iter(), workers)
}

#[test]
fn a_row_waits_for_every_worker() {
    let mut collector = collector(2);
    assert!(collector.add(snapshot(0, 0, 1, 5, false), None).0.is_empty());
    let (rows, tally) = collector.add(snapshot(1, 0, 1, 7, false), None);
    assert_eq!((rows.len(), rows[0].counts.requests, rows[0].in_flight), (1, 12, 2));
    assert_eq!(tally.counts, Counts::default());
}

#[test]
fn a_worker_that_has_gone_is_not_waited_for() {
    let mut collector = collector(2);
    collector.add(snapshot(0, 0, 1, 5, true), None);
    let (rows, _) = collector.add(snapshot(1, 0, 1, 7, false), None);
    assert_eq!(rows.len(), 1);
    assert_eq!(collector.add(snapshot(1, 1, 1, 3, false), None).0[0].counts.requests, 3);
}

#[test]
fn several_intervals_make_a_row_and_its_last_one_tells_what_is_in_flight() {
    let mut collector = collector(2).with_intervals_per_row(2);
    assert!(collector.add(snapshot(0, 0, 1, 5, false), None).0.is_empty());
    assert!(collector.add(snapshot(1, 0, 1, 7, false), None).0.is_empty());
    assert!(collector.add(snapshot(0, 1, 1, 1, false), None).0.is_empty());
    let (rows, _) = collector.add(snapshot(1, 1, 1, 2, false), None);
    assert_eq!((rows.len(), rows[0].counts.requests, rows[0].in_flight), (1, 15, 2));
    assert_eq!((rows[0].at_s, rows[0].seconds), (2.0, 2.0));
    collector.add(snapshot(0, 2, 1, 4, true), None);
    let (rows, _) = collector.add(snapshot(1, 2, 1, 4, true), None);
    assert_eq!((rows.len(), rows[0].counts.requests), (1, 8), "the rest of a run is a row, too");
}

#[test]
fn the_mean_of_a_row_is_that_of_all_whole_answers() {
    let mut told = snapshot(0, 0, 1, 3, true);
    told.tally.time(TimeMetric::Service, Duration::from_micros(100));
    told.tally.time(TimeMetric::Service, Duration::from_micros(200));
    told.tally.time(TimeMetric::CheckFailed, Duration::from_micros(600));
    let (rows, _) = collector(1).add(told, None);
    assert_eq!((rows[0].mean_us, rows[0].max_us), (300.0, 200));
}

#[test]
fn workers_may_change_phase_in_different_intervals() {
    let mut collector = collector(2);
    collector.add(snapshot(0, 0, 0, 5, false), None);
    collector.add(snapshot(1, 0, 0, 5, false), None);
    collector.add(snapshot(1, 1, 0, 2, false), None);
    collector.add(snapshot(0, 0, 1, 1, false), None);
    collector.add(snapshot(0, 1, 1, 1, true), None);
    let (rows, _) = collector.add(snapshot(1, 1, 1, 4, true), None);
    assert!(!rows.is_empty());
    let (phases, timeline, _) = collector.finish(None);
    assert_eq!((phases[0].counts().requests, phases[1].counts().requests), (12, 6));
    let told: u64 = timeline.rows.iter().map(|row| row.counts.requests).sum();
    assert_eq!(told, 18);
}

#[test]
fn the_origin_is_accounted_by_row_and_by_phase() {
    let at = |full| Some(OriginCounts { full, ..OriginCounts::default() });
    let mut collector = collector(1);
    collector.origin_before(at(100).unwrap());
    let (rows, _) = collector.add(snapshot(0, 0, 0, 5, false), at(105));
    assert_eq!(rows[0].origin.unwrap().full, 5);
    collector.add(snapshot(0, 1, 1, 5, true), at(112));
    let (phases, ..) = collector.finish(at(115));
    assert_eq!(phases[0].origin.unwrap().full, 12);
    assert_eq!(phases[1].origin.unwrap().full, 3);
}

#[test]
fn the_origin_of_a_phase_is_accounted_when_the_phase_ends_and_not_when_the_next_one_first_tells() {
    let at = |full| Some(OriginCounts { full, ..OriginCounts::default() });
    let mut collector = collector(2);
    collector.origin_before(at(0).unwrap());
    for (worker, full) in [(0, 40), (1, 41)] {
        let ends = Snapshot { closes_interval: false, ..snapshot(worker, 0, 0, 20, false) };
        collector.add(ends, at(full));
    }
    collector.add(snapshot(0, 0, 1, 5, true), at(100));
    collector.add(snapshot(1, 0, 1, 5, true), at(110));
    let (phases, ..) = collector.finish(at(110));
    assert_eq!((phases[0].origin.unwrap().full, phases[1].origin.unwrap().full), (40, 70));
}

#[test]
fn a_worker_without_work_is_not_busy() {
    let mut collector = collector(2);
    for interval in 0..4 {
        collector.add(snapshot(0, interval, 1, 5, interval == 3), None);
        let mut idle = snapshot(1, interval, 1, 0, interval == 3);
        idle.span.1 = Duration::from_micros(200);
        idle.cpu = Duration::from_millis(1);
        collector.add(idle, None);
    }
    let (_, _, workers) = collector.finish(None);
    assert!((workers[0].share - 0.5).abs() < 1e-9 && workers[1].share < 0.01, "{workers:?}");
}

#[test]
fn only_measured_time_counts_for_the_cpu() {
    let mut collector = collector(1);
    collector.add(snapshot(0, 0, 0, 5, false), None);
    collector.add(snapshot(0, 1, 1, 5, true), None);
    let (_, _, workers) = collector.finish(None);
    assert!((workers[0].share - 0.5).abs() < 1e-9 && (workers[0].cpu_s - 0.5).abs() < 1e-9);
}

#[test]
fn a_row_waits_for_a_silent_worker_no_longer_than_three_seconds_and_what_comes_later_is_added_to_it() {
    let ms = Duration::from_millis;
    let mut collector = collector(3);
    let timed = |worker, interval, requests: u64, us| {
        let mut told = snapshot(worker, interval, 1, requests, interval == 2);
        (0..requests).for_each(|_| told.tally.time(TimeMetric::Service, Duration::from_micros(us)));
        told
    };
    assert!(collector.add(timed(0, 0, 50, 100), None).0.is_empty());
    assert!(collector.overdue(ms(7_000)).is_empty() && collector.overdue(ms(9_999)).is_empty());
    let rows = collector.overdue(ms(10_000));
    assert_eq!((rows.len(), rows[0].counts.requests, rows[0].p99_us), (1, 50, 100));
    assert!(collector.overdue(ms(20_000)).is_empty(), "it is told once");
    collector.add(timed(1, 0, 25, 100), None);
    collector.add(timed(0, 1, 4, 100), None);
    // The last one comes, with the next row as well.
    collector.add(timed(2, 0, 25, 900), None);
    collector.add(timed(2, 1, 4, 100), None);
    assert_eq!(collector.add(timed(1, 1, 4, 100), None).0[0].counts.requests, 12);
    (0..3).for_each(|worker| drop(collector.add(timed(worker, 2, 1, 100), None)));
    let (phases, timeline, _) = collector.finish(None);
    let rows: Vec<_> = timeline
        .rows
        .iter()
        .map(|row| (row.counts.requests, row.in_flight, row.p50_us, row.p99_us))
        .collect();
    assert_eq!(rows, [(100, 3, 100, 900), (12, 3, 100, 100), (3, 3, 100, 100)]);
    let told = phases[1].tally.metric(TimeMetric::Service);
    assert_eq!((phases[1].counts().requests, told.len(), told.max()), (115, 115, 900));
}

/// The result of three workers whose figures come in this order, with a look at what is overdue before each of them.
fn told(order: &[usize], looks: &[bool]) -> (Vec<PhaseResult>, Vec<Row>) {
    let mut collector = collector(3);
    let mut next = [0; 3];
    let mut now = Duration::ZERO;
    for (turn, worker) in order.iter().enumerate() {
        let interval = next[*worker];
        next[*worker] += 1;
        let mut told = snapshot(*worker as u32, interval, u32::from(interval >= 9), 3, interval == 19);
        told.closes_interval = interval != 8;
        let us = (interval + 1) * 100 * (*worker as u64 + 1);
        (0..3).for_each(|nth| told.tally.time(TimeMetric::Service, Duration::from_micros(us + nth)));
        collector.add(told, None);
        if looks[turn % looks.len()] {
            now += Duration::from_secs(3);
            collector.overdue(now);
        }
    }
    let (phases, timeline, _) = collector.finish(None);
    (phases, timeline.rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_comes_late_the_result_is_the_same(
        earlier in proptest::collection::vec(0..24_usize, 59),
        looks in proptest::collection::vec(proptest::bool::weighted(0.5), 16),
    ) {
        let in_time: Vec<usize> = (0..60).map(|turn| turn % 3).collect();
        let expected = told(&in_time, &[false]);
        prop_assert_eq!(expected.1.len(), 20);
        let mut order = in_time;
        for (turn, earlier) in (1..order.len()).rev().zip(&earlier) {
            order.swap(turn, turn.saturating_sub(*earlier));
        }
        let found = told(&order, &looks);
        prop_assert_eq!(found.1, expected.1);
        for (found, expected) in found.0.iter().zip(&expected.0) {
            prop_assert_eq!(&found.tally.counts, &expected.tally.counts);
            let [found, expected] =
                [found, expected].map(|phase| phase.tally.metric(TimeMetric::Service));
            prop_assert_eq!(found, expected);
        }
    }
}
