//! Results added up: vegeta's text, JSON and histogram.

use super::args::{Report, refused};
use super::results::{Hit, hit};
use crate::ToolShown;
use crate::goflag::{time, written};
use crate::reads::Reads;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Characters of a bar that is all.
const BAR: f64 = 75.0;

/// Reads results and reports them. `files`: `-` is standard input.
pub(super) fn read(asked: &Report, files: &dyn Reads) -> ToolShown {
    match hits(asked, files).and_then(|hits| report(asked, hits)) {
        Ok(text) => ToolShown::told(text),
        Err(why) => refused(&why),
    }
}

fn hits(asked: &Report, files: &dyn Reads) -> Result<Vec<Hit>, String> {
    let standard = ["-".to_owned()];
    let names = if asked.files.is_empty() { &standard[..] } else { &asked.files };
    let mut hits = Vec::new();
    for file in names {
        let file = if file == "stdin" { "-" } else { file };
        let bytes =
            files.bytes(Path::new(file)).map_err(|error| format!("{file} cannot be read: {error}"))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            format!("{file} is no JSON: results of vegeta's own attack become so with vegeta encode")
        })?;
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            hits.push(hit(line).map_err(|why| format!("{file}, line {number}: {why}"))?);
        }
    }
    Ok(hits)
}

fn report(asked: &Report, hits: Vec<Hit>) -> Result<String, String> {
    let (kind, buckets) = match asked.kind.strip_prefix("hist") {
        Some("") => ("hist", asked.buckets.as_str()),
        Some(buckets) => ("hist", buckets),
        None => (asked.kind.as_str(), ""),
    };
    match kind {
        "text" => Ok(Metrics::of(hits).text()),
        "json" => Ok(Metrics::of(hits).json()),
        "hist" => histogram(&bounds(buckets)?, &hits),
        other => Err(format!("-type {other} is not known here: give text, json or hist[0,1ms,10ms]")),
    }
}

/// Figures of all results.
pub(super) struct Metrics {
    /// Latencies, ascending.
    latencies: Vec<Duration>,
    earliest_ns: i128,
    latest_ns: i128,
    end_ns: i128,
    bytes_in: u64,
    bytes_out: u64,
    successes: u64,
    codes: BTreeMap<u16, u64>,
    errors: Vec<String>,
}

impl Metrics {
    pub(super) fn of(hits: Vec<Hit>) -> Metrics {
        let first = hits.iter().map(|hit| hit.at_ns).min().unwrap_or(0);
        let mut metrics = Metrics {
            latencies: hits.iter().map(|hit| hit.latency).collect(),
            earliest_ns: first,
            latest_ns: first,
            end_ns: first,
            bytes_in: 0,
            bytes_out: 0,
            successes: 0,
            codes: BTreeMap::new(),
            errors: Vec::new(),
        };
        metrics.latencies.sort_unstable();
        for hit in hits {
            metrics.latest_ns = metrics.latest_ns.max(hit.at_ns);
            metrics.end_ns = metrics.end_ns.max(hit.at_ns + hit.latency.as_nanos() as i128);
            metrics.bytes_in += hit.bytes_in;
            metrics.bytes_out += hit.bytes_out;
            metrics.successes += u64::from(hit.is_success());
            *metrics.codes.entry(hit.code).or_insert(0) += 1;
            if !hit.error.is_empty() && !metrics.errors.contains(&hit.error) {
                metrics.errors.push(hit.error);
            }
        }
        metrics
    }

    fn requests(&self) -> u64 {
        self.latencies.len() as u64
    }

    /// How long requests were sent.
    fn attack(&self) -> Duration {
        nanoseconds(self.latest_ns - self.earliest_ns)
    }

    /// How long the last answers were waited for.
    fn wait(&self) -> Duration {
        nanoseconds(self.end_ns - self.latest_ns)
    }

    fn rate(&self) -> f64 {
        per_second(self.requests(), self.attack())
    }

    fn throughput(&self) -> f64 {
        per_second(self.successes, self.attack() + self.wait())
    }

    /// A part of all results; 0 of none.
    fn share(&self, of: u64) -> f64 {
        if self.latencies.is_empty() { 0.0 } else { of as f64 / self.requests() as f64 }
    }

    fn at(&self, quantile: f64) -> Duration {
        let rank = (quantile * self.latencies.len() as f64).ceil() as usize;
        self.latencies.get(rank.saturating_sub(1)).copied().unwrap_or(Duration::ZERO)
    }

    fn total(&self) -> Duration {
        self.latencies.iter().sum()
    }

    fn mean(&self) -> Duration {
        match self.requests() {
            0 => Duration::ZERO,
            requests => nanoseconds(self.total().as_nanos() as i128 / i128::from(requests)),
        }
    }

    fn shortest(&self) -> Duration {
        self.latencies.first().copied().unwrap_or(Duration::ZERO)
    }

    fn text(&self) -> String {
        let row = |name: &str, of: &str, value: String| format!("{name:<14}{of:<34}{value}\n");
        let latencies = [
            self.shortest(),
            self.mean(),
            self.at(0.5),
            self.at(0.9),
            self.at(0.95),
            self.at(0.99),
            self.at(1.0),
        ];
        let latencies = latencies.map(|time| written(rounded(time))).join(", ");
        let spans = [self.attack() + self.wait(), self.attack(), self.wait()]
            .map(|time| written(rounded(time)))
            .join(", ");
        let codes: String = self.codes.iter().map(|(code, count)| format!("{code}:{count}  ")).collect();
        let errors: String = self.errors.iter().map(|error| format!("{error}\n")).collect();
        [
            row(
                "Requests",
                "[total, rate, throughput]",
                format!("{}, {:.2}, {:.2}", self.requests(), self.rate(), self.throughput()),
            ),
            row("Duration", "[total, attack, wait]", spans),
            row("Latencies", "[min, mean, 50, 90, 95, 99, max]", latencies),
            row("Bytes In", "[total, mean]", format!("{}, {:.2}", self.bytes_in, self.share(self.bytes_in))),
            row(
                "Bytes Out",
                "[total, mean]",
                format!("{}, {:.2}", self.bytes_out, self.share(self.bytes_out)),
            ),
            row("Success", "[ratio]", format!("{:.2}%", self.share(self.successes) * 100.0)),
            row("Status Codes", "[code:count]", codes),
            format!("Error Set:\n{errors}"),
        ]
        .concat()
    }

    fn json(&self) -> String {
        let ns = |time: Duration| Value::from(time.as_nanos() as u64);
        let moment =
            |ns: i128| Timestamp::from_nanosecond(ns).map_or_else(|_| String::new(), |at| at.to_string());
        let codes: Map<String, Value> =
            self.codes.iter().map(|(code, count)| (code.to_string(), (*count).into())).collect();
        let text = json!({
            "latencies": {
                "total": ns(self.total()), "mean": ns(self.mean()), "50th": ns(self.at(0.5)), "90th": ns(self.at(0.9)),
                "95th": ns(self.at(0.95)), "99th": ns(self.at(0.99)), "max": ns(self.at(1.0)), "min": ns(self.shortest()),
            },
            "bytes_in": { "total": self.bytes_in, "mean": self.share(self.bytes_in) },
            "bytes_out": { "total": self.bytes_out, "mean": self.share(self.bytes_out) },
            "earliest": moment(self.earliest_ns),
            "latest": moment(self.latest_ns),
            "end": moment(self.end_ns),
            "duration": ns(self.attack()),
            "wait": ns(self.wait()),
            "requests": self.requests(),
            "rate": self.rate(),
            "throughput": self.throughput(),
            "success": self.share(self.successes),
            "status_codes": codes,
            "errors": self.errors,
        });
        format!("{text}\n")
    }
}

fn nanoseconds(ns: i128) -> Duration {
    Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}

/// Something per second; where no time passed, all of it.
fn per_second(count: u64, time: Duration) -> f64 {
    if time.is_zero() { count as f64 } else { count as f64 / time.as_secs_f64() }
}

/// To the unit below the one that it is written in.
fn rounded(time: Duration) -> Duration {
    let unit: u128 = match time.as_nanos() {
        0..1_000_000 => 1,
        1_000_000..1_000_000_000 => 1_000,
        1_000_000_000..60_000_000_000 => 1_000_000,
        60_000_000_000..3_600_000_000_000 => 1_000_000_000,
        _ => 60_000_000_000,
    };
    nanoseconds(((time.as_nanos() + unit / 2) / unit * unit) as i128)
}

/// Bounds such as `[0,1ms,10ms]`, ascending.
fn bounds(text: &str) -> Result<Vec<Duration>, String> {
    let wrong = || format!("the bounds '{text}': give ascending times, such as [0,1ms,10ms]");
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or_else(wrong)?;
    let mut bounds = inner
        .split(',')
        .map(|bound| time(bound.trim()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| wrong())?;
    if bounds.first().is_some_and(|first| !first.is_zero()) {
        bounds.insert(0, Duration::ZERO);
    }
    match bounds.windows(2).all(|two| two[0] < two[1]) {
        true => Ok(bounds),
        false => Err(wrong()),
    }
}

/// How latencies are spread over buckets; each has its lower bound and not its upper one.
fn histogram(bounds: &[Duration], hits: &[Hit]) -> Result<String, String> {
    let mut counts = vec![0_u64; bounds.len()];
    for hit in hits {
        let bucket = bounds.iter().rposition(|bound| *bound <= hit.latency).unwrap_or(0);
        counts[bucket] += 1;
    }
    let from: Vec<String> = bounds.iter().map(|bound| format!("[{},", written(*bound))).collect();
    let to: Vec<String> = (1..=bounds.len())
        .map(|next| {
            bounds.get(next).map_or_else(|| "+Inf]".to_owned(), |bound| format!("{}]", written(*bound)))
        })
        .collect();
    let share = |count: u64| if hits.is_empty() { 0.0 } else { count as f64 / hits.len() as f64 };
    let percents: Vec<String> = counts.iter().map(|count| format!("{:.2}%", share(*count) * 100.0)).collect();
    let width =
        |cells: &mut dyn Iterator<Item = usize>, title: &str| cells.max().unwrap_or(0).max(title.len()) + 2;
    let from_width = width(&mut from.iter().map(|cell| cell.chars().count()), "Bucket");
    let to_width = width(&mut to.iter().map(|cell| cell.chars().count()), "");
    let count_width = width(&mut counts.iter().map(|count| count.to_string().len()), "#");
    let percent_width = width(&mut percents.iter().map(String::len), "%");
    let mut text = format!(
        "{:<from_width$}{:<to_width$}{:<count_width$}{:<percent_width$}Histogram\n",
        "Bucket", "", "#", "%"
    );
    for (row, count) in counts.iter().enumerate() {
        let bar = "#".repeat((share(*count) * BAR) as usize);
        text += &format!(
            "{:<from_width$}{:<to_width$}{count:<count_width$}{:<percent_width$}{bar}\n",
            from[row], to[row], percents[row]
        );
    }
    Ok(text)
}
