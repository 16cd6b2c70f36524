//! hey's summary, and its rows as CSV.
//!
//! Differences from the old tool's figures, and their reasons, are in `docs/src/hey.md`.

use crate::wrk::report::rows;
use measure::{Histogram, Outcome, PhaseResult, Record, RequestDistributions, RunResult, TimeMetric};
use std::time::Duration;

/// CsvRows of the histogram, but for the one of the shortest time.
const STEPS: u64 = 10;
/// Characters of the longest bar.
const BAR: u64 = 40;
/// Shares in percent whose times are told.
const PERCENTS: [u64; 7] = [10, 25, 50, 75, 90, 95, 99];
/// CsvRows that are kept at most, as in hey.
const MOST: usize = 1_000_000;

/// Facts of the command line that the summary needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct HeyAsked {
    /// Requests were due at moments.
    pub paced: bool,
}

/// The summary.
pub fn summary(result: &RunResult, asked: &HeyAsked) -> String {
    let measured = result.measured();
    // In a closed pace, opening connections lies between the intended and the actual send, and hey counts it.
    let metric = if asked.paced { TimeMetric::Service } else { TimeMetric::Response };
    let times = measured.tally.metric(metric);
    [
        general(&measured, &times),
        format!("\nResponse time histogram:\n{}\n\n", histogram(&times)),
        format!("Latency distribution:\n{}\n", distribution(&times)),
        details(&measured),
        statuses(&measured),
    ]
    .concat()
}

fn general(measured: &PhaseResult, times: &Histogram) -> String {
    let counts = measured.counts();
    let ended = rows::answered(measured) + measured.tally.failures().map(|(_, count)| count).sum::<u64>();
    let slowest = if times.is_empty() { 0.0 } else { seconds(times.max()) };
    let fastest = if times.is_empty() { 0.0 } else { seconds(times.min()) };
    let total = measured.took.as_secs_f64();
    let rate = if total > 0.0 { ended as f64 / total } else { 0.0 };
    let mut text = format!(
        "\nSummary:\n  Total:\t{total:.4} secs\n  Slowest:\t{slowest:.4} secs\n  Fastest:\t{fastest:.4} secs\n  Average:\t{} secs\n  \
         Requests/sec:\t{rate:.4}\n  \n",
        average((!times.is_empty()).then(|| times.mean()))
    );
    if counts.body_bytes > 0 && !times.is_empty() {
        let each = counts.body_bytes / times.len();
        text += &format!("  Total data:\t{} bytes\n  Size/request:\t{each} bytes\n", counts.body_bytes);
    }
    text
}

/// A mean in µs as seconds; of nothing it is what hey writes.
fn average(us: Option<f64>) -> String {
    us.map_or_else(|| " NaN".to_owned(), |us| format!("{:.4}", us / 1e6))
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

/// Ten even steps from the shortest time to the longest; each row has what is not above it and not in a row before.
fn histogram(times: &Histogram) -> String {
    if times.is_empty() {
        return String::new();
    }
    let shortest = times.min() as f64;
    let longest = times.max() as f64;
    let step = (longest - shortest) / STEPS as f64;
    let until = |row: u64| if row == STEPS { longest } else { shortest + step * row as f64 };
    let mut counts = [0_u64; STEPS as usize + 1];
    for bucket in times.iter_recorded() {
        let value = bucket.value_iterated_to().min(times.max()) as f64;
        // The shortest bucket is wider than its shortest time.
        let value =
            if times.lowest_equivalent(bucket.value_iterated_to()) <= times.min() { shortest } else { value };
        let row = (0..=STEPS).find(|row| value <= until(*row)).unwrap_or(STEPS);
        counts[row as usize] += bucket.count_since_last_iteration();
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let row = |(number, count): (u64, &u64)| {
        let bar = "■".repeat(((count * BAR + most / 2) / most) as usize);
        format!("  {:4.3} [{count}]\t|{bar}\n", until(number) / 1e6)
    };
    (0..).zip(&counts).map(row).collect()
}

/// Percentiles by rank. With few answers the upper ones are of nothing, and zero, as in hey.
fn distribution(times: &Histogram) -> String {
    if times.is_empty() {
        return String::new();
    }
    let mut next = 0;
    let row = |percent: &u64| {
        let rank = (percent * times.len()).div_ceil(100).max(next);
        next = rank + 1;
        match rank < times.len() {
            true => format!("  {percent}%% in {:.4} secs\n", seconds(at(times, rank))),
            false => "  0%% in 0.0000 secs\n".to_owned(),
        }
    };
    PERCENTS.iter().map(row).collect()
}

/// The time of a rank, from 0.
fn at(times: &Histogram, rank: u64) -> u64 {
    let mut seen = 0;
    let of_rank = times.iter_recorded().find(|bucket| {
        seen += bucket.count_since_last_iteration();
        seen > rank
    });
    of_rank.map_or(0, |bucket| bucket.value_iterated_to().min(times.max()))
}

/// Parts of a request. Looking up names is over before the run; writing a request is part of waiting for its answer; how long single
/// bodies took
/// is not known, only all of them.
fn details(measured: &PhaseResult) -> String {
    let nothing = RequestDistributions::default();
    let parts = measured.tally.distributions().unwrap_or(&nothing);
    let count = parts.total.count();
    let mean = |sum_us: u64| average((count > 0).then(|| sum_us as f64 / count as f64));
    let spread = |part: &measure::ExactDistribution| {
        let shortest = seconds(part.min_us());
        let longest = seconds(part.max_us());
        format!("{} secs, {shortest:.4} secs, {longest:.4} secs", mean(part.sum_us()))
    };
    let read = parts.processing.sum_us().saturating_sub(parts.waiting.sum_us());
    format!(
        "Details (average, fastest, slowest):\n  DNS+dialup:\t{}\n  DNS-lookup:\t{} secs, 0.0000 secs, 0.0000 secs\n  \
         req write:\t-, -, -\n  resp wait:\t{}\n  resp read:\t{} secs, -, -\n",
        spread(&parts.connect),
        mean(0),
        spread(&parts.waiting),
        mean(read)
    )
}

fn statuses(measured: &PhaseResult) -> String {
    let mut text = "\nStatus code distribution:\n".to_owned();
    for (status, count) in rows::statuses(measured) {
        text += &format!("  [{status}]\t{count} responses\n");
    }
    text += "\n";
    let mut failures: Vec<_> = measured.tally.failures().collect();
    if !failures.is_empty() {
        failures.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        text += "Error distribution:\n";
        failures
            .iter()
            .for_each(|(failure, count)| text += &format!("  [{count}]\t{}\n", rows::failure(failure)));
    }
    text + if failures.is_empty() { "\n\n" } else { "\n" }
}

/// hey counts a request and all that it was led on to as one.
pub fn redirected(result: &RunResult) -> Option<String> {
    let measured = result.measured();
    let leads_on = |status: u16| matches!(status, 301..=303 | 307 | 308);
    let count: u64 =
        measured.tally.statuses().filter(|(status, _)| leads_on(*status)).map(|(_, count)| count).sum();
    (count > 0)
        .then(|| format!("{count} answers were redirections: each redirected request counts by itself here"))
}

/// A row for each answer.
#[derive(Debug, Default)]
pub struct CsvRows {
    text: String,
    count: usize,
    /// Answers beyond the most that are kept.
    pub left_out: u64,
}

impl CsvRows {
    /// Adds a request that had an answer.
    pub fn add(&mut self, record: &Record) {
        if matches!(record.outcome, Outcome::Failed(_)) || record.status == 0 {
            return;
        }
        if self.count == MOST {
            self.left_out += 1;
            return;
        }
        self.count += 1;
        let connect = record.connect.unwrap_or(Duration::ZERO);
        let wait = record.first_byte.unwrap_or(record.service);
        let read = record.service.saturating_sub(wait);
        self.text += &format!(
            "{:.4},{:.4},0.0000,0.0000,{:.4},{:.4},{},{:.4}\n",
            (connect + record.service).as_secs_f64(),
            connect.as_secs_f64(),
            wait.as_secs_f64(),
            read.as_secs_f64(),
            record.status,
            record.began.as_secs_f64()
        );
    }

    /// All rows, with their titles.
    pub fn text(&self) -> String {
        format!(
            "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n{}",
            self.text
        )
    }
}
