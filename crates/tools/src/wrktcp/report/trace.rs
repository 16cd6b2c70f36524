//! The table of `--trace`: what each interval of the run was like.

use crate::wrk::report::units::microseconds;
use measure::Row;
use std::time::Duration;

/// Rows of the table at most.
const POINTS: u64 = 100;

/// Sums over an interval.
#[derive(Debug, Clone, Copy, Default)]
struct TracePoint {
    seconds: f64,
    success: u64,
    answers: u64,
    /// Sum of the latencies in µs.
    latency_us: f64,
}

/// The table of a run that was meant to last so long: successes per second and mean latency of each interval.
pub fn trace(rows: &[Row], lasts: Duration) -> String {
    let lasts_s = lasts.as_secs().max(1);
    let step_s = lasts_s.div_ceil(POINTS);
    let last = lasts_s.div_ceil(step_s) - 1;
    let mut points: Vec<TracePoint> = Vec::new();
    for row in rows {
        // Rows end on full seconds, on a busy machine a little later.
        let second = (row.at_s.round() as u64).saturating_sub(1);
        let index = (second / step_s).min(last) as usize;
        points.resize(points.len().max(index + 1), TracePoint::default());
        points[index].add(row);
    }
    let lines = points.iter().enumerate().filter(|(_, point)| point.seconds > 0.0).map(|(index, point)| {
        let ends_s = ((index as u64 + 1) * step_s).min(lasts_s);
        format!("  {ends_s:4}s  {:9.2}  {:>10}\n", point.per_second(), microseconds(point.mean_us()))
    });
    let titles = "  Trace Details:\n   Time      Tps        Latency\n".to_owned();
    [titles].into_iter().chain(lines).collect()
}

impl TracePoint {
    fn add(&mut self, row: &Row) {
        let answers = row.counts.ok + row.counts.check_failed;
        self.seconds += row.seconds;
        self.success += row.counts.ok;
        self.answers += answers;
        self.latency_us += row.mean_us * answers as f64;
    }

    fn per_second(&self) -> f64 {
        self.success as f64 / self.seconds
    }

    fn mean_us(&self) -> f64 {
        if self.answers > 0 { self.latency_us / self.answers as f64 } else { 0.0 }
    }
}
