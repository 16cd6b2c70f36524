//! A run of an origin by itself: rows from its own counters until interrupted or its time is over.

use super::{POLL, Session, usage};
use measure::{Collector, OriginCounts, Row, WorkerUse};
use std::time::{Duration, Instant};

impl Session<'_, '_> {
    /// Serves, and shows a row for each interval.
    pub(super) fn serve_only(&mut self) -> Collector {
        let mut collector = Collector::new(std::iter::empty(), self.workers.count());
        let interval = self.around.interval_length();
        let began = Instant::now();
        let mut before = Reading::now(self, Duration::ZERO);
        let first = before.clone();
        collector.origin_before(before.counts);
        let mut row_ends = interval;
        let ends_after = self.around.ends_after;
        let goes_on =
            |session: &Session<'_, '_>| !session.ended_by_signal && !session.workers.control.stopped();
        while goes_on(self) && ends_after.is_none_or(|end| began.elapsed() < end) {
            std::thread::sleep(POLL);
            self.look_for_signals();
            self.tell_events();
            self.look_at_the_machine();
            if began.elapsed() >= row_ends {
                let now = Reading::now(self, began.elapsed());
                self.outlets.origin_row(now.row_since(&before), now.busiest_since(&before));
                before = now;
                row_ends += interval;
            }
        }
        let end = Reading::now(self, began.elapsed());
        self.outlets.origin_row(end.row_since(&before), end.busiest_since(&before));
        self.served = end.use_since(&first);
        collector
    }
}

/// The origin's counters and its workers' CPU at one moment.
#[derive(Clone)]
struct Reading {
    at: Duration,
    counts: OriginCounts,
    /// Worker and CPU seconds so far.
    cpu: Vec<(u32, f64)>,
}

impl Reading {
    fn now(session: &Session<'_, '_>, at: Duration) -> Reading {
        let counts = session.origin_now().unwrap_or_default();
        Reading { at, counts, cpu: usage::cpu_of_workers() }
    }

    fn seconds_since(&self, before: &Reading) -> f64 {
        self.at.saturating_sub(before.at).as_secs_f64()
    }

    fn row_since(&self, before: &Reading) -> Row {
        Row {
            at_s: self.at.as_secs_f64(),
            seconds: self.seconds_since(before),
            origin: Some(self.counts.since(&before.counts)),
            ..Row::default()
        }
    }

    fn use_since(&self, before: &Reading) -> Vec<WorkerUse> {
        let seconds = self.seconds_since(before);
        let earlier =
            |worker| before.cpu.iter().find(|(other, _)| *other == worker).map_or(0.0, |(_, cpu)| *cpu);
        let used = self.cpu.iter().map(|(worker, cpu_s)| (*worker, (cpu_s - earlier(*worker)).max(0.0)));
        used.map(|(worker, cpu_s)| {
            let share = if seconds > 0.0 { cpu_s / seconds } else { 0.0 };
            WorkerUse { worker, cpu_s, share }
        })
        .collect()
    }

    /// Share of a core of the busiest worker; the system counts in steps of 10 ms.
    fn busiest_since(&self, before: &Reading) -> Option<f64> {
        let shares = self.use_since(before).into_iter().map(|worker| worker.share.min(1.0));
        shares.reduce(f64::max)
    }
}
