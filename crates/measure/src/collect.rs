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
mod tests;
