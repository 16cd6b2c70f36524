//! Times in buckets, as the rows of a run hold them.

use measure::{Buckets, Digits};

/// A quantile in milliseconds; `None`: there are no times.
pub fn quantile_ms(times: Option<&Buckets>, quantile: f64) -> Option<f64> {
    let times = times?;
    let wanted = (times.count() as f64 * quantile).ceil().max(1.0) as u64;
    let mut seen = 0;
    let reached = times.iter().find(|(_, count)| {
        seen += count;
        seen >= wanted
    });
    reached.map(|(bucket, _)| Digits::Two.middle(bucket) as f64 / 1e3)
}
