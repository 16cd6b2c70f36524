//! Puts the snapshots of all workers together: rows of the timeline as soon as every worker has told its part, and the
//! figures of each phase.

use crate::accounts::OriginCounts;
use crate::rates::Measured;
use crate::run::{PhaseResult, Row, Timeline, WorkerUse};
use crate::tally::{Clock, Snapshot, Tally};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::time::Duration;

/// A row, by its number, within a phase; keys are told in order by each worker.
type Key = (u64, u32);

/// Collects the snapshots of a run.
#[derive(Debug)]
pub struct Collector {
    phases: Vec<PhaseResult>,
    timeline: Timeline,
    pending: BTreeMap<Key, Pending>,
    workers: Vec<Progress>,
    origin: OriginMarks,
    /// Intervals that make a row.
    intervals_per_row: u64,
    /// When the last row ended.
    told_until: Duration,
}

#[derive(Debug)]
struct Pending {
    tally: Tally,
    in_flight: u64,
    ends: Duration,
}

#[derive(Debug, Clone, Default)]
struct Progress {
    told: Option<Key>,
    gone: bool,
    at: Duration,
    measured: Measured,
    measured_cpu: Duration,
    measured_time: Duration,
}

/// The origin's counters at the borders of rows and phases.
#[derive(Debug, Default)]
struct OriginMarks {
    known: bool,
    at_row: OriginCounts,
    at_phase: OriginCounts,
    phase: u32,
}

impl Collector {
    /// For phases given by name and whether they are measured, on so many workers.
    pub fn new<'a>(phases: impl Iterator<Item = (&'a str, bool)>, workers: u32) -> Collector {
        Collector {
            phases: phases.map(|(name, measured)| PhaseResult::new(name, measured)).collect(),
            timeline: Timeline::default(),
            pending: BTreeMap::new(),
            workers: vec![Progress::default(); workers as usize],
            origin: OriginMarks::default(),
            intervals_per_row: 1,
            told_until: Duration::ZERO,
        }
    }

    /// So many intervals make a row, at least one. Rates of single workers stay those of single intervals.
    #[must_use]
    pub fn with_intervals_per_row(mut self, intervals: u32) -> Collector {
        self.intervals_per_row = u64::from(intervals.max(1));
        self
    }

    /// The origin's counters before the first request, where the origin is known.
    pub fn origin_before(&mut self, counts: OriginCounts) {
        self.origin = OriginMarks { known: true, at_row: counts, at_phase: counts, phase: 0 };
    }

    /// Takes a snapshot and the origin's counters as they are now; returns the rows that are complete with it, and the
    /// snapshot's tally, emptied, for the worker to use again.
    pub fn add(&mut self, mut snapshot: Snapshot, origin: Option<OriginCounts>) -> (Vec<Row>, Box<Tally>) {
        let key = (snapshot.interval / self.intervals_per_row, snapshot.phase);
        let closes_row = self.closes_row(&snapshot);
        self.note_progress(&snapshot, closes_row.then_some(key));
        if let Some(origin) = &origin
            && snapshot.under_way() > self.origin.phase
        {
            self.close_origin_phase(origin, snapshot.under_way());
        }
        if let Some(phase) = self.phases.get_mut(snapshot.phase as usize) {
            phase.add(&snapshot);
            self.workers[snapshot.worker as usize].measured.take(&snapshot, &mut phase.rates);
        }
        let empty = || Pending { tally: Tally::new(), in_flight: 0, ends: Duration::ZERO };
        let pending = self.pending.entry(key).or_insert_with(empty);
        pending.tally.merge(&snapshot.tally);
        pending.in_flight += if closes_row { snapshot.in_flight } else { 0 };
        pending.ends = pending.ends.max(snapshot.span.1);
        snapshot.tally.clear();
        (self.complete_rows(origin), snapshot.tally)
    }

    /// Whether its worker tells no more of the row that a snapshot belongs to.
    fn closes_row(&self, snapshot: &Snapshot) -> bool {
        let is_last_interval = (snapshot.interval + 1).is_multiple_of(self.intervals_per_row);
        is_last_interval || snapshot.last || !snapshot.closes_interval
    }

    /// `told`: the row that is complete with it, as far as its worker is concerned.
    fn note_progress(&mut self, snapshot: &Snapshot, told: Option<Key>) {
        let measured = self.phases.get(snapshot.phase as usize).is_some_and(|phase| phase.measured);
        let worker = &mut self.workers[snapshot.worker as usize];
        worker.told = told.or(worker.told);
        worker.gone = snapshot.last;
        if measured {
            worker.measured_cpu += snapshot.cpu;
            worker.measured_time += snapshot.span.1.saturating_sub(worker.at);
        }
        worker.at = snapshot.span.1;
    }

    fn close_origin_phase(&mut self, now: &OriginCounts, next: u32) {
        if let Some(phase) = self.phases.get_mut(self.origin.phase as usize)
            && self.origin.known
        {
            phase.origin = Some(now.since(&self.origin.at_phase));
        }
        self.origin.at_phase = *now;
        self.origin.phase = next;
    }

    fn complete_rows(&mut self, origin: Option<OriginCounts>) -> Vec<Row> {
        let mut rows = Vec::new();
        while let Some((&key, _)) = self.pending.first_key_value() {
            let all_told = self.workers.iter().all(|worker| worker.gone || worker.told >= Some(key));
            if !all_told {
                break;
            }
            let Some(pending) = self.pending.remove(&key) else { break };
            rows.push(self.row(key.1, &pending, origin.as_ref()));
        }
        rows
    }

    fn row(&mut self, phase: u32, pending: &Pending, origin: Option<&OriginCounts>) -> Row {
        let service = pending.tally.clock(Clock::Service);
        let at = |quantile| if service.is_empty() { 0 } else { service.value_at_quantile(quantile) };
        let mean_us = mean(&[service, pending.tally.clock(Clock::Faulty)]);
        let row = Row {
            at_s: pending.ends.as_secs_f64(),
            seconds: pending.ends.saturating_sub(self.told_until).as_secs_f64(),
            phase,
            counts: pending.tally.counts,
            origin: origin.filter(|_| self.origin.known).map(|now| now.since(&self.origin.at_row)),
            in_flight: pending.in_flight,
            p50_us: at(0.5),
            p99_us: at(0.99),
            max_us: if service.is_empty() { 0 } else { service.max() },
            mean_us,
        };
        self.told_until = pending.ends.max(self.told_until);
        if let Some(now) = origin {
            self.origin.at_row = *now;
        }
        self.timeline.push(row.clone());
        row
    }

    /// The figures so far: phases, timeline, and CPU of each worker while measuring.
    pub fn finish(mut self, origin: Option<OriginCounts>) -> (Vec<PhaseResult>, Timeline, Vec<WorkerUse>) {
        if let Some(origin) = origin {
            let after_the_last = self.phases.len() as u32;
            self.close_origin_phase(&origin, after_the_last);
        }
        let workers = self.workers.iter().enumerate().map(|(index, worker)| {
            let cpu_s = worker.measured_cpu.as_secs_f64();
            let time_s = worker.measured_time.as_secs_f64();
            let share = if time_s > 0.0 { cpu_s / time_s } else { 0.0 };
            WorkerUse { worker: index as u32, cpu_s, share }
        });
        let workers = workers.collect();
        (self.phases, self.timeline, workers)
    }
}

/// The mean over several histograms; 0 where they are empty.
fn mean(histograms: &[&Histogram<u64>]) -> f64 {
    let count: u64 = histograms.iter().map(|values| values.len()).sum();
    let sum: f64 = histograms.iter().map(|values| values.mean() * values.len() as f64).sum();
    if count > 0 { sum / count as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Counts;

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
        }
    }

    fn collector(workers: u32) -> Collector {
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
        told.tally.time(Clock::Service, Duration::from_micros(100));
        told.tally.time(Clock::Service, Duration::from_micros(200));
        told.tally.time(Clock::Faulty, Duration::from_micros(600));
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
    fn only_measured_time_counts_for_the_cpu() {
        let mut collector = collector(1);
        collector.add(snapshot(0, 0, 0, 5, false), None);
        collector.add(snapshot(0, 1, 1, 5, true), None);
        let (_, _, workers) = collector.finish(None);
        assert!((workers[0].share - 0.5).abs() < 1e-9 && (workers[0].cpu_s - 0.5).abs() < 1e-9);
    }
}
