//! Response times of a second. The first lines of a report are of response times, so what is shown while a run goes on is, too: under an
//! open pace the service time says nothing of how long requests have waited to be sent.

use measure::{Buckets, Digits, Second, TimeMetric};

/// Response times of a second in µs; 0: nothing was answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ResponseTimes {
    pub p50_us: u64,
    pub p99_us: u64,
    pub max_us: u64,
}

impl ResponseTimes {
    /// Those of a second.
    pub fn of(second: &Second) -> ResponseTimes {
        let times = |metric| second.metrics.get(&metric).filter(|times: &&Buckets| !times.is_empty());
        match times(TimeMetric::Response) {
            // A second knows its service times to three digits.
            Some(response) if times(TimeMetric::Service) != Some(response) => {
                let [p50_us, p99_us, max_us] = [0.5, 0.99, 1.0].map(|share| quantile(response, share));
                ResponseTimes { p50_us, p99_us, max_us }
            }
            Some(_) | None => {
                let Second { p50_us, p99_us, max_us, .. } = *second;
                ResponseTimes { p50_us, p99_us, max_us }
            }
        }
    }
}

/// The time in µs that a share of those in buckets does not exceed.
pub(crate) fn quantile(times: &Buckets, share: f64) -> u64 {
    let wanted = (times.count() as f64 * share).ceil().max(1.0) as u64;
    let mut seen = 0;
    let reached = times.iter().find(|(_, count)| {
        seen += count;
        seen >= wanted
    });
    reached.map_or(0, |(bucket, _)| Digits::Two.middle(bucket))
}
