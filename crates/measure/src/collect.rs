//! Puts the snapshots of all workers together: records of the run as soon as every worker has told its part.

use crate::accounts::OriginCounts;
use crate::buckets::{Buckets, Digits};
use crate::figures::{Figures, metrics};
use crate::pending::{EarlyRows, Key, Pending};
use crate::rates::{Measured, Rates};
use crate::run::WorkerUse;
use crate::self_check::{CPU_WATER_MARK, LATENESS_LIMIT};
use crate::snapshot::Snapshot;
use crate::stream::{BoundBy, Minute, PhaseBegun, PhaseEnd, RunEvent, Second};
use crate::tally::Tally;
use crate::time_metric::TimeMetric;
use std::collections::BTreeMap;
use std::time::Duration;

/// CPU of a piece shorter than this says nothing of it.
const SHORTEST: Duration = Duration::from_millis(50);

/// Times in three digits are told at least so often.
const MINUTE: Duration = Duration::from_secs(60);

/// Collects the snapshots of a run.
#[derive(Debug)]
pub struct Collector {
    phases: Vec<CollectPhase>,
    pending: BTreeMap<Key, Pending>,
    /// Rows that were told before every worker had told its part.
    early: EarlyRows,
    /// The last row that was told.
    told: Option<Key>,
    /// A tally that is not in use.
    spare: Option<Tally>,
    workers: Vec<CollectProgress>,
    origin: OriginMarks,
    /// Intervals that make a row.
    intervals_per_row: u64,
    /// When the last row ended.
    told_until: Duration,
    minute: MinuteBegun,
}

/// State of a phase: what has not been told of it yet, and what is told of it at the end.
#[derive(Debug)]
struct CollectPhase {
    name: String,
    measured: bool,
    begun: bool,
    rates: Rates,
    peaks: Vec<u64>,
    /// Until when requests were due, by worker.
    due_until: Vec<Duration>,
    /// There is something of it that no minute has told.
    untold: bool,
    end: PhaseEnd,
}

/// The minute under way: of one phase.
#[derive(Debug, Default)]
struct MinuteBegun {
    phase: u32,
    began: Duration,
    times: Tally,
}

#[derive(Debug, Clone, Default)]
struct CollectProgress {
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
            phases: phases.map(|(name, measured)| CollectPhase::new(name, measured)).collect(),
            pending: BTreeMap::new(),
            early: EarlyRows::default(),
            told: None,
            spare: None,
            workers: vec![CollectProgress::default(); workers as usize],
            origin: OriginMarks::default(),
            intervals_per_row: 1,
            told_until: Duration::ZERO,
            minute: MinuteBegun::default(),
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

    /// Takes a snapshot and the origin's counters as they are now; returns the records that are complete with it, and the
    /// snapshot's tally, emptied, for the worker to use again.
    pub fn add(
        &mut self,
        mut snapshot: Snapshot,
        origin: Option<OriginCounts>,
    ) -> (Vec<RunEvent>, Box<Tally>) {
        let key = (snapshot.interval / self.intervals_per_row, snapshot.phase);
        let closes_row = self.closes_row(&snapshot);
        let interval = snapshot.span.1.saturating_sub(self.workers[snapshot.worker as usize].at);
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
        let mut events = if self.told >= Some(key) {
            self.add_late(key, &snapshot, closes_row)
        } else {
            let spare = &mut self.spare;
            let pending = self
                .pending
                .entry(key)
                .or_insert_with(|| Pending::new(spare.take().unwrap_or_default(), snapshot.span.0));
            pending.add(&snapshot, interval, closes_row);
            Vec::new()
        };
        events.extend(self.complete_rows(origin));
        snapshot.tally.clear();
        (events, snapshot.tally)
    }

    /// Tells rows that have waited so long for some of the workers; what those tell later is added. `now`: of any clock that goes on.
    pub fn tell_overdue(&mut self, now: Duration, origin: Option<OriginCounts>) -> Vec<RunEvent> {
        let closed = self.pending.iter().rev().find(|(_, pending)| pending.is_closed()).map(|(key, _)| *key);
        let Some(closed) = closed else { return Vec::new() };
        self.pending.range_mut(..=closed).for_each(|(_, pending)| pending.wait(now));
        let workers = &self.workers;
        self.early.retain(|key| workers.iter().any(|worker| worker.owes(key)));
        let mut events = Vec::new();
        while let Some(entry) = self.pending.first_entry().filter(|entry| entry.get().is_overdue(now)) {
            let (key, pending) = entry.remove_entry();
            self.tell(key, &pending, origin.as_ref(), &mut events);
            self.spare = self.early.keep(key, pending).or(self.spare.take());
        }
        events
    }

    /// Tells figures of a row that was told before.
    fn add_late(&mut self, key: Key, snapshot: &Snapshot, closes_row: bool) -> Vec<RunEvent> {
        let number = snapshot.phase;
        let missing = self.missing(key);
        let mut late = self.early.add(key, snapshot, closes_row).unwrap_or_else(|| Second {
            // It is of no row that is remembered: times of the whole are not known.
            at: snapshot.span.1.min(self.told_until),
            ..Second::default()
        });
        late.late = true;
        late.phase = number;
        (late.began, late.paced_until) = (snapshot.span.0, snapshot.paced_until);
        late.in_flight = if closes_row { snapshot.in_flight } else { 0 };
        late.clients = Figures::of(&snapshot.tally);
        late.metrics = metrics(&snapshot.tally, Digits::Two);
        if missing.is_empty() {
            self.spare = self.early.forget(key).or(self.spare.take());
        }
        late.missing = missing;
        let at = late.at;
        let requests = late.clients.counts.requests;
        let mut events = vec![RunEvent::Second(Box::new(late))];
        if number == self.minute.phase {
            self.minute.times.merge_times(&snapshot.tally);
        }
        if let Some(phase) = self.phases.get_mut(number as usize) {
            phase.end.requests += requests;
            if number != self.minute.phase {
                // All minutes of that phase are told.
                events.push(RunEvent::Minute(Box::new(phase.minute(number, at, &snapshot.tally))));
            }
        }
        events
    }

    /// Workers of which more of a row is to come.
    fn missing(&self, key: Key) -> Vec<u32> {
        let workers = self.workers.iter().zip(0..);
        let missing = workers.filter(|(worker, _)| worker.owes(key));
        missing.map(|(_, index)| index).collect()
    }

    /// True if its worker tells no more of the row that a snapshot belongs to.
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
        let time = snapshot.span.1.saturating_sub(worker.at);
        // Once its part of a phase is over, a worker waits for the others.
        if measured && !time.is_zero() {
            worker.measured_cpu += snapshot.cpu;
            worker.measured_time += time;
        }
        worker.at = snapshot.span.1;
    }

    fn close_origin_phase(&mut self, now: &OriginCounts, next: u32) {
        if let Some(phase) = self.phases.get_mut(self.origin.phase as usize)
            && self.origin.known
        {
            phase.end.origin = Some(now.since(&self.origin.at_phase));
        }
        self.origin.at_phase = *now;
        self.origin.phase = next;
    }

    fn complete_rows(&mut self, origin: Option<OriginCounts>) -> Vec<RunEvent> {
        let mut events = Vec::new();
        while let Some((&key, _)) = self.pending.first_key_value() {
            if self.workers.iter().any(|worker| worker.owes(key)) {
                break;
            }
            let Some(pending) = self.pending.remove(&key) else { break };
            self.tell(key, &pending, origin.as_ref(), &mut events);
            self.spare = Some(pending.into_tally());
        }
        events
    }

    /// Tells a row, and what begins or ends with it.
    fn tell(
        &mut self,
        key: Key,
        pending: &Pending,
        origin: Option<&OriginCounts>,
        events: &mut Vec<RunEvent>,
    ) {
        let phase = key.1;
        self.told = Some(key);
        if phase != self.minute.phase {
            self.end_minute(phase, self.told_until, events);
        }
        self.begin_phase(phase, pending.began, events);
        if let Some(told) = self.phases.get_mut(phase as usize) {
            told.untold = true;
        }
        self.minute.times.merge_times(&pending.tally);
        let mut second = self.second(phase, pending, origin);
        second.missing = self.missing(key);
        events.push(RunEvent::Second(Box::new(second)));
        if self.told_until.saturating_sub(self.minute.began) >= MINUTE {
            self.end_minute(phase, self.told_until, events);
        }
    }

    fn begin_phase(&mut self, number: u32, at: Duration, events: &mut Vec<RunEvent>) {
        if let Some(phase) = self.phases.get_mut(number as usize).filter(|phase| !phase.begun) {
            phase.begun = true;
            let name = phase.name.clone();
            let measured = phase.measured;
            events.push(RunEvent::Phase(PhaseBegun { at, phase: number, name, measured }));
        }
    }

    /// Ends the minute under way; the next one is of this phase.
    fn end_minute(&mut self, next: u32, at: Duration, events: &mut Vec<RunEvent>) {
        let number = self.minute.phase;
        if let Some(phase) = self.phases.get_mut(number as usize).filter(|phase| phase.untold) {
            events.push(RunEvent::Minute(Box::new(phase.minute(number, at, &self.minute.times))));
        }
        self.minute.times.clear();
        (self.minute.phase, self.minute.began) = (next, at);
    }

    fn second(&mut self, phase: u32, pending: &Pending, origin: Option<&OriginCounts>) -> Second {
        let worker_cpu = worker_shares(&pending.cpu);
        let second = Second {
            at: pending.ends,
            took: pending.ends.saturating_sub(self.told_until),
            phase,
            began: pending.began,
            paced_until: pending.paced_until,
            in_flight: pending.in_flight,
            clients: Figures::of(&pending.tally),
            origin: origin.filter(|_| self.origin.known).map(|now| now.since(&self.origin.at_row)),
            metrics: metrics(&pending.tally, Digits::Two),
            bound: bound(&pending.tally, &worker_cpu),
            worker_cpu,
            ..pending.times()
        };
        self.told_until = pending.ends.max(self.told_until);
        if let Some(now) = origin {
            self.origin.at_row = *now;
        }
        if let Some(told) = self.phases.get_mut(phase as usize) {
            told.end.requests += second.clients.counts.requests;
        }
        second
    }

    /// Tells the rest, what lost workers have left unfinished included: the last records but one, what is known of each
    /// phase when all is over, and CPU of each worker while measuring.
    pub fn finish(mut self, origin: Option<OriginCounts>) -> (Vec<RunEvent>, Vec<PhaseEnd>, Vec<WorkerUse>) {
        let mut events = Vec::new();
        while let Some((key, pending)) = self.pending.pop_first() {
            self.tell(key, &pending, origin.as_ref(), &mut events);
        }
        let phases = self.phases.len() as u32;
        // Rates and peaks may have come after the last minute of their phase.
        (0..=phases).for_each(|next| self.end_minute(next, self.told_until, &mut events));
        if let Some(origin) = origin {
            self.close_origin_phase(&origin, phases);
        }
        let longest = self.workers.iter().map(|worker| worker.measured_time).max().unwrap_or_default();
        let workers = self.workers.iter().enumerate().map(|(index, worker)| WorkerUse {
            worker: index as u32,
            cpu_s: worker.measured_cpu.as_secs_f64(),
            // A worker that had next to nothing to do waited for the others the rest of the time.
            share: match worker.measured_time < SHORTEST {
                true => share(worker.measured_cpu, longest),
                false => share(worker.measured_cpu, worker.measured_time),
            },
        });
        let workers = workers.collect();
        (events, self.phases.into_iter().map(CollectPhase::end).collect(), workers)
    }
}

impl CollectProgress {
    /// True if it has more to tell of a row.
    fn owes(&self, key: Key) -> bool {
        !self.gone && self.told < Some(key)
    }
}

impl CollectPhase {
    fn new(name: &str, measured: bool) -> CollectPhase {
        CollectPhase {
            name: name.to_owned(),
            measured,
            begun: false,
            rates: Rates::default(),
            peaks: Vec::new(),
            due_until: Vec::new(),
            untold: false,
            end: PhaseEnd::default(),
        }
    }

    fn add(&mut self, snapshot: &Snapshot) {
        self.untold = true;
        let worker = snapshot.worker as usize;
        self.peaks.resize(self.peaks.len().max(worker + 1), 0);
        self.peaks[worker] = self.peaks[worker].max(snapshot.peak);
        self.due_until.resize(self.peaks.len(), Duration::ZERO);
        self.due_until[worker] = snapshot.due_until;
    }

    /// Facts of it that are known now that all is over.
    fn end(self) -> PhaseEnd {
        PhaseEnd { due_until: self.due_until.into_iter().max(), ..self.end }
    }

    fn minute(&mut self, number: u32, at: Duration, times: &Tally) -> Minute {
        self.untold = false;
        Minute {
            at,
            phase: number,
            metrics: metrics(times, Digits::Three),
            labels: times
                .labels
                .iter()
                .map(|(label, of)| (label.0, Buckets::of(&of.response, Digits::Two)))
                .collect(),
            distributions: times.distributions().map(|distributions| Box::new(distributions.kept())),
            rates: std::mem::take(&mut self.rates).kept(),
            peaks: self.peaks.clone(),
        }
    }
}

/// Shares of a core that workers used; none of pieces so short that what is cleared up after them shows in their CPU.
fn worker_shares(cpu: &[(Duration, Duration)]) -> Vec<f64> {
    if cpu.iter().any(|(_, time)| *time < SHORTEST) {
        return Vec::new();
    }
    cpu.iter().map(|(cpu, time)| share(*cpu, *time)).collect()
}

fn share(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 0.0 } else { part.as_secs_f64() / whole.as_secs_f64() }
}

/// Why the generator may have been the limit, as far as workers know.
fn bound(tally: &Tally, worker_cpu: &[f64]) -> Vec<BoundBy> {
    let lateness = tally.metric(TimeMetric::Lateness);
    let late = !lateness.is_empty() && lateness.value_at_quantile(0.99) > LATENESS_LIMIT.as_micros() as u64;
    let busy = worker_cpu.iter().any(|share| *share > CPU_WATER_MARK);
    let limits =
        [(busy, BoundBy::Cpu), (late, BoundBy::Lateness), (tally.counts.overflow > 0, BoundBy::Overflow)];
    limits.into_iter().filter(|(is_so, _)| *is_so).map(|(_, limit)| limit).collect()
}

#[cfg(test)]
mod tests {
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
        let plan =
            |name: &str, measured| PhasePlan { name: name.to_owned(), measured, ..PhasePlan::default() };
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
}
