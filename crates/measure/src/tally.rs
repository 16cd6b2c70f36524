//! The recorder of a worker: plain integers and histograms of one fixed geometry, so that everything adds up.

use crate::alike::Alike;
use crate::buckets::Digits;
use crate::codes::Codes;
use crate::counts::Counts;
use crate::distribution::{Bucket, Distribution};
use crate::exchange::{Exchange, ExchangeKind};
use crate::failures::Failures;
use crate::http2::Http2Counts;
use crate::http3::Http3Counts;
use crate::labels::Labels;
use crate::outcome::{CacheResult, Failure, FailureKind, Fault, Outcome};
use crate::request_times::{RequestDistributions, RequestTimes};
use crate::time_metric::{TimeMetric, TimeMetrics, micros};
use hdrhistogram::Histogram;
use std::time::Duration;

/// The bucket of the last time: the times of one exchange are often one and the same.
#[derive(Default)]
struct Same(Option<(Duration, Bucket)>);

impl Same {
    #[inline]
    fn bucket(&mut self, time: Duration) -> Bucket {
        match self.0 {
            Some((last, bucket)) if last == time => bucket,
            _ => self.0.insert((time, Bucket::of(micros(time)))).1,
        }
    }
}

/// A worker's counters and histograms since its last snapshot.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Plain counters.
    pub counts: Counts,
    /// Answers by status, 0 to 999.
    statuses: Vec<u64>,
    /// Those of answers that then failed for another reason than their status, ascending.
    cut: Vec<(u16, u64)>,
    failures: Failures,
    /// Faults by kind.
    faults: Vec<u64>,
    metrics: Vec<Distribution>,
    /// Made when the first request's times are to be gathered.
    distributions: Option<Box<RequestDistributions>>,
    /// Codes of answers, where the plan says where they stand.
    pub codes: Codes,
    /// Figures per label, where the plan has any.
    pub labels: Labels,
    /// Made when the first connection of HTTP/2 has anything to tell.
    http2: Option<Box<Http2Counts>>,
    http3: Option<Box<Http3Counts>>,
    /// When bytes last came from the other side, since the start of the run.
    heard: Option<Duration>,
    /// When a request last failed, since the start of the run; for want of a port or descriptor of ours it has never been sent.
    failed_at: Option<Duration>,
    /// When the first and the last of those were due to which no answer came.
    lost: Option<(Duration, Duration)>,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally::new()
    }
}

impl Tally {
    /// An empty tally. Memory for times is taken where some are counted, and kept: a short run's tally has less than 300 kB.
    pub fn new() -> Tally {
        Tally {
            counts: Counts::default(),
            statuses: vec![0; 1000],
            cut: Vec::new(),
            failures: Failures::default(),
            faults: vec![0; Fault::ALL.len()],
            metrics: vec![Distribution::default(); TimeMetric::ALL.len()],
            distributions: None,
            codes: Codes::new(),
            labels: Labels::default(),
            http2: None,
            http3: None,
            heard: None,
            failed_at: None,
            lost: None,
        }
    }

    /// Counts an exchange that has ended.
    #[inline]
    pub fn exchange(&mut self, exchange: &Exchange) {
        let times = u64::from(exchange.times);
        self.count_bytes(exchange, times);
        match exchange.kind {
            ExchangeKind::Request => self.request(exchange, times),
            ExchangeKind::Challenge => self.counts.challenges += times,
            ExchangeKind::Untimed => {
                self.counts.ok += times;
                self.count_ended(exchange, times);
            }
        }
        if exchange.status != 0 {
            self.statuses[usize::from(exchange.status).min(999)] += times;
            let cut = |failure: Failure| failure.kind != FailureKind::BadStatus;
            if matches!(exchange.outcome, Outcome::Failed(failure) if cut(failure)) {
                self.add_cut(exchange.status, times);
            }
        }
        if let Some(connect) = exchange.connect {
            self.times(TimeMetric::Connect, connect, times);
        }
    }

    /// Counts answers that were counted together, as [`Self::exchange`] would have counted each.
    pub fn add_alike(&mut self, alike: &Alike) {
        if alike.count == 0 {
            return;
        }
        let counts = &mut self.counts;
        counts.ok += alike.count;
        counts.ended += alike.count;
        counts.ended_us += alike.took_us;
        counts.first_byte_us += alike.took_us;
        counts.sent_bytes += alike.sent_bytes;
        counts.head_bytes += alike.head_bytes;
        counts.body_bytes += alike.body_bytes;
        self.add_status(alike.status, alike.count);
        for metric in [
            TimeMetric::Service,
            TimeMetric::ServiceReused,
            TimeMetric::Response,
            TimeMetric::FirstByte,
            TimeMetric::FirstByteReused,
        ] {
            self.metrics[metric as usize].merge(&alike.took);
        }
    }

    fn request(&mut self, exchange: &Exchange, times: u64) {
        self.count_outcome(exchange, times);
        for label in [exchange.label, exchange.version].into_iter().flatten() {
            self.labels.count(label, exchange.outcome, exchange.response, times);
        }
        // TCP messages have no status.
        if exchange.status != 0 || matches!(exchange.outcome, Outcome::Ok | Outcome::CheckFailed(_)) {
            self.count_ended(exchange, times);
        }
        if let Some(lateness) = exchange.lateness {
            self.times(TimeMetric::Lateness, lateness, times);
        }
    }

    /// An answer came to an end, good or not.
    fn count_ended(&mut self, exchange: &Exchange, times: u64) {
        self.counts.ended += times;
        self.counts.ended_us += micros(exchange.response) * times;
        let before_send = exchange.response.saturating_sub(exchange.service);
        let first_byte = exchange.first_byte.filter(|_| exchange.kind == ExchangeKind::Request);
        self.counts.first_byte_us += first_byte.map_or(0, |at| micros(before_send + at)) * times;
    }

    /// Bytes came from the other side, at this time since the start of the run.
    pub fn heard(&mut self, at: Duration) {
        self.heard = self.heard.max(Some(at));
    }

    /// When bytes last came from the other side, since the start of the run; `None` where none did.
    pub fn last_heard(&self) -> Option<Duration> {
        self.heard
    }

    /// When the first and the last of those were due, since the start of the run, to which no answer came; `None`: all got one, or
    /// have failed otherwise.
    pub fn lost_due(&self) -> Option<(Duration, Duration)> {
        self.lost
    }

    /// When a request last failed, since the start of the run; `None` where none did.
    pub fn last_failed(&self) -> Option<Duration> {
        self.failed_at
    }

    fn count_bytes(&mut self, exchange: &Exchange, times: u64) {
        self.counts.sent_bytes += exchange.sent_bytes * times;
        self.counts.head_bytes += exchange.head_bytes * times;
        self.counts.body_bytes += exchange.body_bytes * times;
    }

    fn count_outcome(&mut self, exchange: &Exchange, times: u64) {
        match exchange.outcome {
            Outcome::Ok => {
                self.counts.ok += times;
                self.count_cache(exchange, times);
                self.time_good(exchange, times);
            }
            Outcome::CheckFailed(fault) => {
                self.counts.check_failed += times;
                self.faults[fault as usize] += times;
                self.times(TimeMetric::CheckFailed, exchange.service, times);
                self.count_cache(exchange, times);
            }
            Outcome::Injected => self.counts.injected += times,
            Outcome::Aborted => {
                self.counts.aborted += times;
                self.count_cache(exchange, times);
            }
            Outcome::Unfinished => {
                self.counts.unfinished += times;
                self.times(TimeMetric::Unfinished, exchange.response, times);
                self.note_lost(Some((exchange.due, exchange.due)));
            }
            Outcome::Failed(failure) => {
                self.counts.failed += times;
                self.failures.add(failure, times);
                if !failure.kind.is_ours() {
                    self.failed_at = self.failed_at.max(Some(exchange.due + exchange.response));
                }
                if failure.is_lost() {
                    self.note_lost(Some((exchange.due, exchange.due)));
                }
                self.times(TimeMetric::Failure, exchange.service, times);
            }
        }
    }

    fn time_good(&mut self, exchange: &Exchange, times: u64) {
        let mut same = Same::default();
        let (first_byte_of, service_of) = match exchange.reused {
            true => (TimeMetric::FirstByteReused, TimeMetric::ServiceReused),
            false => (TimeMetric::FirstByteNew, TimeMetric::ServiceNew),
        };
        let service = same.bucket(exchange.service);
        self.count_in(TimeMetric::Service, service, times);
        self.count_in(service_of, service, times);
        match exchange.cache {
            CacheResult::Hit => self.count_in(TimeMetric::Hit, service, times),
            CacheResult::Unknown | CacheResult::NotAsked => {}
            CacheResult::Miss | CacheResult::Revalidated | CacheResult::Collapsed => {
                self.count_in(TimeMetric::Miss, service, times)
            }
        }
        self.count_in(TimeMetric::Response, same.bucket(exchange.response), times);
        if let Some(first_byte) = exchange.first_byte {
            let first_byte = same.bucket(first_byte);
            self.count_in(TimeMetric::FirstByte, first_byte, times);
            self.count_in(first_byte_of, first_byte, times);
        }
    }

    fn count_cache(&mut self, exchange: &Exchange, times: u64) {
        let counts = &mut self.counts;
        let (count, bytes) = match exchange.cache {
            CacheResult::Hit => (&mut counts.hits, &mut counts.hit_bytes),
            CacheResult::Miss => (&mut counts.misses, &mut counts.miss_bytes),
            CacheResult::Revalidated => (&mut counts.revalidated, &mut counts.revalidated_bytes),
            CacheResult::Collapsed => (&mut counts.collapsed, &mut counts.collapsed_bytes),
            CacheResult::NotAsked => return,
            CacheResult::Unknown => {
                counts.unstamped += times;
                return;
            }
        };
        *count += times;
        *bytes += exchange.body_bytes * times;
    }

    /// Records a time on a metric; longer than an hour counts as an hour.
    pub fn time(&mut self, metric: TimeMetric, time: Duration) {
        self.times(metric, time, 1);
    }

    fn times(&mut self, metric: TimeMetric, time: Duration, times: u64) {
        self.count_in(metric, Bucket::of(micros(time)), times);
    }

    #[inline]
    fn count_in(&mut self, metric: TimeMetric, bucket: Bucket, times: u64) {
        self.metrics[metric as usize].count_in(bucket, times);
    }

    /// Figures that only HTTP/2 has, where it was spoken.
    pub fn http2(&self) -> Option<&Http2Counts> {
        self.http2.as_deref()
    }

    /// The same, to be added to.
    pub fn http2_mut(&mut self) -> &mut Http2Counts {
        self.http2.get_or_insert_default()
    }

    /// Figures that only HTTP/3 has, where it was spoken.
    pub fn http3(&self) -> Option<&Http3Counts> {
        self.http3.as_deref()
    }

    /// The same, to be added to.
    pub fn http3_mut(&mut self) -> &mut Http3Counts {
        self.http3.get_or_insert_default()
    }

    /// Gathers the times of a request, for plans that ask for it.
    pub fn gather(&mut self, times: &RequestTimes) {
        self.distributions.get_or_insert_default().add(times);
    }

    /// The times that were gathered, where a plan asks for it and there are any.
    pub fn distributions(&self) -> Option<&RequestDistributions> {
        self.distributions.as_deref().filter(|distributions| distributions.total.count() > 0)
    }

    /// Adds times that were kept, as fine as they were kept.
    pub fn add_metrics(&mut self, metrics: &TimeMetrics, digits: Digits) {
        for (metric, buckets) in metrics {
            self.metrics[*metric as usize].add_kept(buckets, digits);
        }
    }

    /// Adds times as old tools count them.
    pub fn add_distributions(&mut self, distributions: &RequestDistributions) {
        self.distributions.get_or_insert_default().merge(distributions);
    }

    /// The histogram of a metric, in µs.
    pub fn metric(&self, metric: TimeMetric) -> Histogram<u64> {
        self.metrics[metric as usize].histogram()
    }

    /// The times of a metric as they were counted.
    pub fn times_of(&self, metric: TimeMetric) -> &Distribution {
        &self.metrics[metric as usize]
    }

    /// Bytes of memory that it takes, but for codes, labels and what old tools want.
    pub fn bytes(&self) -> usize {
        let lists = [self.statuses.capacity(), self.faults.capacity()];
        let metrics: usize = self.metrics.iter().map(Distribution::bytes).sum();
        size_of_val(self)
            + self.failures.bytes()
            + metrics
            + lists.into_iter().sum::<usize>() * size_of::<u64>()
    }

    /// Adds answers with a status.
    pub(crate) fn add_status(&mut self, status: u16, count: u64) {
        self.statuses[usize::from(status).min(999)] += count;
    }

    /// Adds answers with a status that then failed.
    pub(crate) fn add_cut(&mut self, status: u16, count: u64) {
        match self.cut.binary_search_by_key(&status, |(known, _)| *known) {
            Ok(at) => self.cut[at].1 += count,
            Err(at) => self.cut.insert(at, (status, count)),
        }
    }

    /// Adds answers that failed a check.
    pub(crate) fn add_faults(&mut self, fault: Fault, count: u64) {
        self.faults[fault as usize] += count;
    }

    /// Adds requests that failed.
    pub(crate) fn add_failures(&mut self, failure: Failure, count: u64) {
        self.failures.add(failure, count);
    }

    /// Takes in when bytes last came, and when a request last failed.
    pub(crate) fn note_times(&mut self, heard: Option<Duration>, failed: Option<Duration>) {
        self.heard = self.heard.max(heard);
        self.failed_at = self.failed_at.max(failed);
    }

    /// Takes in when requests were due to which no answer came.
    pub(crate) fn note_lost(&mut self, lost: Option<(Duration, Duration)>) {
        let all = [self.lost, lost].into_iter().flatten();
        self.lost = all.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    }

    /// Statuses seen and how often, ascending.
    pub fn statuses(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.statuses
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(status, count)| (status as u16, *count))
    }

    /// Statuses of answers that then failed for another reason, such as one that was cut off, and how often, ascending.
    pub fn cut_statuses(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.cut.iter().copied()
    }

    /// Failures seen and how often, by kind, stage and reason.
    pub fn failures(&self) -> impl Iterator<Item = (Failure, u64)> + use<> {
        self.failures.iter()
    }

    /// The same by kind and stage; each with its reason where all have one and the same.
    pub fn failures_by_stage(&self) -> Vec<(Failure, u64)> {
        let mut sums: Vec<(Failure, u64)> = Vec::new();
        for (failure, count) in self.failures() {
            let Failure { kind, stage, .. } = failure;
            match sums.last_mut().filter(|(last, _)| (last.kind, last.stage) == (kind, stage)) {
                Some((last, sum)) => (last.reason, *sum) = (None, *sum + count),
                None => sums.push((failure, count)),
            }
        }
        sums
    }

    /// Faults seen and how often.
    pub fn faults(&self) -> impl Iterator<Item = (Fault, u64)> + '_ {
        Fault::ALL.iter().map(|fault| (*fault, self.faults[*fault as usize])).filter(|(_, count)| *count > 0)
    }

    /// Adds another tally. Associative and commutative.
    pub fn merge(&mut self, other: &Tally) {
        self.counts.merge(&other.counts);
        add(&mut self.statuses, &other.statuses);
        other.cut.iter().for_each(|(status, count)| self.add_cut(*status, *count));
        self.failures.merge(&other.failures);
        add(&mut self.faults, &other.faults);
        self.codes.merge(&other.codes);
        if let Some(theirs) = &other.http2 {
            self.http2_mut().merge(theirs);
        }
        if let Some(theirs) = &other.http3 {
            self.http3_mut().merge(theirs);
        }
        self.heard = self.heard.max(other.heard);
        self.failed_at = self.failed_at.max(other.failed_at);
        self.note_lost(other.lost);
        self.merge_times(other);
    }

    /// Adds the times of another tally and its labels, and nothing else.
    pub(crate) fn merge_times(&mut self, other: &Tally) {
        for (mine, theirs) in
            self.metrics.iter_mut().zip(&other.metrics).filter(|(_, theirs)| !theirs.is_empty())
        {
            mine.merge(theirs);
        }
        self.labels.merge(&other.labels);
        if let Some(theirs) = &other.distributions {
            self.add_distributions(theirs);
        }
    }

    /// Empties the tally and keeps its memory.
    pub fn clear(&mut self) {
        self.counts = Counts::default();
        self.statuses.fill(0);
        self.cut.clear();
        self.failures.clear();
        self.faults.fill(0);
        self.codes.clear();
        self.labels.clear();
        (self.http2, self.http3) = (None, None);
        (self.heard, self.failed_at, self.lost) = (None, None, None);
        self.metrics.iter_mut().for_each(Distribution::clear);
        if let Some(distributions) = &mut self.distributions {
            distributions.clear();
        }
    }
}

fn add(mine: &mut [u64], theirs: &[u64]) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alike::Answered;
    use crate::outcome::{FailureKind, Stage};

    fn exchange(outcome: Outcome, cache: CacheResult, us: u64) -> Exchange {
        Exchange {
            status: 200,
            cache,
            service: Duration::from_micros(us),
            response: Duration::from_micros(us + 5),
            first_byte: Some(Duration::from_micros(us / 2)),
            reused: us.is_multiple_of(2),
            lateness: Some(Duration::from_micros(5)),
            sent_bytes: 10,
            head_bytes: 20,
            body_bytes: 30,
            ..Exchange::new(outcome, Duration::ZERO)
        }
    }

    fn sample(seed: u64) -> Tally {
        let mut tally = Tally::new();
        for n in 0..100 {
            let us = (n * 7919 + seed * 104_729) % 100_000 + 1;
            tally.exchange(&exchange(Outcome::Ok, CacheResult::ALL[(n % 5) as usize], us));
        }
        let failure = Failure::new(FailureKind::Reset, Stage::Body).with_errno(Some(104));
        tally.exchange(&exchange(Outcome::Failed(failure), CacheResult::Unknown, 9));
        tally.exchange(&exchange(Outcome::CheckFailed(Fault::Stale), CacheResult::Hit, 9));
        tally
    }

    /// All that a tally holds, as text.
    fn picture(tally: &Tally) -> String {
        let percentiles: Vec<u64> =
            TimeMetric::ALL.iter().map(|metric| tally.metric(*metric).value_at_quantile(0.9)).collect();
        let statuses = (tally.statuses().collect::<Vec<_>>(), tally.cut_statuses().collect::<Vec<_>>());
        let lists = (statuses, tally.failures().collect::<Vec<_>>());
        format!("{:?} {lists:?} {:?} {percentiles:?}", tally.counts, tally.faults().collect::<Vec<_>>())
    }

    #[test]
    fn merging_is_associative() {
        let [a, b, c] = [sample(1), sample(2), sample(3)];
        let mut left = a.clone();
        left.merge(&b);
        left.merge(&c);
        let mut right = b.clone();
        right.merge(&c);
        let mut whole = a.clone();
        whole.merge(&right);
        assert_eq!(picture(&left), picture(&whole));
    }

    #[test]
    fn every_request_is_counted_once_by_its_end() {
        let counts = sample(1).counts;
        assert_eq!(counts.ok + counts.check_failed + counts.failed, 102);
        let by_cache = counts.hits + counts.misses + counts.revalidated + counts.collapsed + counts.unstamped;
        assert_eq!(by_cache, 101, "a failed request says nothing of the cache");
        assert_eq!(counts.body_bytes, 102 * 30);
    }

    #[test]
    fn answers_that_fail_behind_their_head_are_told_by_their_status() {
        let mut tally = sample(1);
        let by_status = Failure::new(FailureKind::BadStatus, Stage::Head);
        tally.exchange(&Exchange {
            status: 500,
            ..exchange(Outcome::Failed(by_status), CacheResult::Unknown, 9)
        });
        assert_eq!(tally.cut_statuses().collect::<Vec<_>>(), [(200, 1)]);
        let kept = crate::figures::Figures::of(&tally);
        let mut read = Tally::new();
        kept.add_to(&mut read);
        assert_eq!(read.cut_statuses().collect::<Vec<_>>(), [(200, 1)]);
    }

    #[test]
    fn a_failed_request_does_not_improve_a_percentile() {
        let tally = sample(1);
        assert_eq!(tally.metric(TimeMetric::Service).len(), 100);
        assert_eq!(tally.metric(TimeMetric::Failure).len(), 1);
        assert_eq!(tally.failures().next().unwrap().0.errno(), Some(104));
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        let mut tally = Tally::new();
        let mut list: Vec<u64> = (0..1000).map(|n| (n * 7919) % 50_000 + 1).collect();
        list.iter().for_each(|us| tally.time(TimeMetric::Service, Duration::from_micros(*us)));
        list.sort_unstable();
        for (quantile, index) in [(0.5, 499), (0.9, 899), (0.99, 989)] {
            let measured = tally.metric(TimeMetric::Service).value_at_quantile(quantile) as f64;
            assert!((measured / list[index] as f64 - 1.0).abs() < 0.002, "{quantile}");
        }
    }

    #[test]
    fn alike_is_as_one_after_the_other() {
        let failure = Failure::new(FailureKind::Timeout, Stage::Head);
        let outcomes =
            [Outcome::Ok, Outcome::CheckFailed(Fault::Stale), Outcome::Aborted, Outcome::Failed(failure)];
        let mut together = Tally::new();
        let mut one_by_one = Tally::new();
        for (times, (outcome, cache)) in (1..).zip(outcomes.into_iter().zip(CacheResult::ALL)) {
            let connect = Some(Duration::from_micros(times));
            let exchange = Exchange { connect, ..exchange(outcome, *cache, 1_000 * times) };
            together.exchange(&Exchange { times: times as u32, ..exchange });
            (0..times).for_each(|_| one_by_one.exchange(&exchange));
        }
        assert_eq!(picture(&together), picture(&one_by_one));
        assert_eq!(together.counts.requests, 0, "that is counted when they begin");
    }

    #[test]
    fn alike_answers_count_together_as_they_count_one_by_one() {
        let mut one_by_one = Tally::new();
        let mut together = Tally::new();
        let mut alike = Alike::default();
        for n in 0..300_000u64 {
            let took = Duration::from_nanos((n * 7919) % 70_000_000);
            // Statuses other than the first one are counted by themselves.
            let status = if n % 1000 == 999 { 304 } else { 200 };
            // Some were sent late, by less than a microsecond or more.
            let waited = Duration::from_nanos([0, 0, 300, 5_000][n as usize % 4]);
            let answer = Answered {
                status,
                waited,
                took,
                sent_bytes: 40,
                head_bytes: 90 + n % 3,
                body_bytes: n % 100,
            };
            let exchange = Exchange {
                status,
                service: took,
                response: took + waited,
                first_byte: Some(took),
                reused: true,
                sent_bytes: answer.sent_bytes,
                head_bytes: answer.head_bytes,
                body_bytes: answer.body_bytes,
                ..Exchange::new(Outcome::Ok, Duration::ZERO)
            };
            one_by_one.exchange(&exchange);
            if !alike.add(&answer) {
                together.exchange(&exchange);
            }
        }
        together.add_alike(&alike);
        assert_eq!(picture(&together), picture(&one_by_one));
        for metric in TimeMetric::ALL {
            assert_eq!(together.metric(metric), one_by_one.metric(metric), "{metric:?}");
        }
        alike.clear();
        together.add_alike(&alike);
        assert_eq!(picture(&together), picture(&one_by_one));
    }

    #[test]
    fn a_short_run_takes_little_memory() {
        let mut tally = Tally::new();
        // Answers from 60 µs to 60 ms, in which every bucket occurs.
        for n in 0..200_000u64 {
            let us = 60 + (n * 7919) % 60_000;
            tally.exchange(&exchange(Outcome::Ok, CacheResult::ALL[(n % 5) as usize], us));
        }
        // Codes have room for 256 of 80 bytes.
        let bytes = tally.bytes() + 256 * 80;
        assert!(bytes <= 300_000, "{bytes}");
    }

    #[test]
    fn clearing_leaves_nothing() {
        let mut tally = sample(4);
        tally.clear();
        assert_eq!(picture(&tally), picture(&Tally::new()));
    }
}
