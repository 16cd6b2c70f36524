//! Long runs in files that stay small.

use measure::{Buckets, RunEvent, Second, TimeMetrics};
use std::sync::Arc;
use std::time::Duration;

/// Times of seconds in a run that has gone on for so long are told together: every ten seconds, then every minute.
const LONG: Duration = Duration::from_secs(2 * 3600);
const VERY_LONG: Duration = Duration::from_secs(24 * 3600);

/// Joins the times of seconds in long runs, so that a day stays as small as it may be. Counts stay those of each second.
#[derive(Debug, Default)]
pub struct Thinning {
    held: TimeMetrics,
    told: Duration,
}

impl Thinning {
    /// The record as it is written.
    pub fn take(&mut self, event: Arc<RunEvent>) -> Arc<RunEvent> {
        match &*event {
            // It tells the times of all seconds before it, metrics finer; a phase ends with one.
            RunEvent::Minute(minute) => {
                self.held.clear();
                self.told = minute.at;
                event
            }
            RunEvent::Second(second) if second.at > LONG => Arc::new(self.second((**second).clone())),
            RunEvent::Second(second) => {
                self.told = second.at;
                event
            }
            _ => event,
        }
    }

    fn second(&mut self, mut second: Second) -> RunEvent {
        for (metric, buckets) in std::mem::take(&mut second.metrics) {
            self.held.entry(metric).or_default().merge(&buckets);
        }
        for label in &mut second.clients.labels {
            // The next minute tells them.
            label.response = Buckets::default();
        }
        let every = Duration::from_secs(if second.at > VERY_LONG { 60 } else { 10 });
        if second.at.saturating_sub(self.told) >= every {
            second.metrics = std::mem::take(&mut self.held);
            self.told = second.at;
        }
        RunEvent::Second(Box::new(second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::figures::LabelCount;
    use measure::stream::Minute;

    fn second(requests: u64, phase: u32) -> RunEvent {
        let mut second = Second { phase, ..Second::default() };
        second.clients.counts.requests = requests;
        RunEvent::Second(Box::new(second))
    }

    #[test]
    fn times_of_long_runs_are_told_together_and_none_is_lost() {
        let buckets = |n: u64| measure::Buckets::of_counts([(5, n)].into_iter(), measure::Digits::Three);
        let mut thinning = Thinning::default();
        let mut told = 0;
        let mut kept = 0;
        let mut counts = 0;
        let mut of_labels = 0;
        let mut ended = 0;
        for at in 1..=(LONG.as_secs() + 300) {
            let mut one = second(1, 0);
            if let RunEvent::Second(second) = &mut one {
                second.at = Duration::from_secs(at);
                second.metrics.insert(measure::TimeMetric::Service, buckets(at));
                second.clients.labels = vec![LabelCount { label: 3, ended: 1, ok: 1, response: buckets(at) }];
            }
            let RunEvent::Second(written) = &*thinning.take(Arc::new(one)) else { panic!("it was a second") };
            counts += written.clients.counts.requests;
            of_labels += written.clients.labels.iter().map(|label| label.response.count()).sum::<u64>();
            ended += written.clients.labels[0].ended;
            told += u64::from(!written.metrics.is_empty());
            kept += written.metrics.values().map(measure::Buckets::count).sum::<u64>();
        }
        let all = LONG.as_secs() + 300;
        assert_eq!((counts, told, kept), (all, LONG.as_secs() + 30, all * (all + 1) / 2));
        assert_eq!((ended, of_labels), (all, LONG.as_secs() * (LONG.as_secs() + 1) / 2));
        let minute = Minute { at: Duration::from_secs(all + 5), ..Minute::default() };
        thinning.held.insert(measure::TimeMetric::Service, buckets(1));
        thinning.take(Arc::new(RunEvent::Minute(Box::new(minute))));
        assert!(thinning.held.is_empty(), "the minute has them");
    }
}
