//! siege's layouts: its lines for single requests, its report, its JSON and the lines of its log. Pure: what time it is
//! comes as an argument.

use measure::{FailureKind, Outcome, Record, RunResult, Stage, TimeMetric};
use std::fmt::Write;

/// Whose widths and units hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiegeReportLayout {
    /// siege 4.0.
    V40,
    /// siege 4.1 and later.
    V41,
}

/// The figures of a report, by siege's definitions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figures {
    /// Answers that did not fail: any status but 408 and 5xx, redirections and challenges included.
    pub transactions: u64,
    /// Answers below 400, and 401 and 407.
    pub successful: u64,
    /// Answers 200.
    pub ok: u64,
    /// Requests without an answer, with a bad one, or with 408 or 5xx.
    pub failed: u64,
    /// How long the test took, in seconds.
    pub elapsed_s: f64,
    /// Body bytes in MiB.
    pub megabytes: f64,
    /// Sum of the times of all answers, in seconds.
    pub sum_s: f64,
    /// Longest good transaction, in seconds.
    pub longest_s: f64,
    /// Shortest good transaction, in seconds.
    pub shortest_s: f64,
}

impl Figures {
    /// Of a run. `layout`: 4.1 counts 403 as failed.
    pub fn of(result: &RunResult, layout: SiegeReportLayout) -> Figures {
        let phase = result.measured();
        let tally = &phase.tally;
        let counts = phase.counts();
        let statuses = |wanted: &dyn Fn(u16) -> bool| -> u64 {
            tally.statuses().filter(|(status, _)| wanted(*status)).map(|(_, count)| count).sum()
        };
        let failures = |wanted: &dyn Fn(FailureKind) -> bool| -> u64 {
            tally.failures().filter(|(failure, _)| wanted(failure.kind)).map(|(_, count)| count).sum()
        };
        // Of what is bad by its status, only this is bad here.
        let broken = statuses(&|status| status == 408 || status >= 500);
        let harmless = failures(&|kind| kind == FailureKind::BadStatus).saturating_sub(broken);
        let whole = counts.ok + counts.challenges + harmless;
        let refused = match layout {
            SiegeReportLayout::V40 => 0,
            // 4.1 also counts 403 as failed, and challenges without credentials.
            SiegeReportLayout::V41 => {
                let challenged = statuses(&|status| status == 401 || status == 407);
                statuses(&|status| status == 403) + challenged.saturating_sub(counts.challenges)
            }
        };
        let not_there =
            statuses(&|status| (400..500).contains(&status) && ![401, 407, 408].contains(&status));
        let times = tally.metric(TimeMetric::Response);
        let seconds = |us: u64| if times.is_empty() { 0.0 } else { us as f64 / 1e6 };
        Figures {
            transactions: whole.saturating_sub(refused),
            successful: whole.saturating_sub(not_there),
            ok: statuses(&|status| status == 200),
            failed: counts.failed.saturating_sub(harmless) + counts.check_failed + refused,
            elapsed_s: phase.took.as_secs_f64(),
            megabytes: counts.body_bytes as f64 / f64::from(1 << 20),
            sum_s: counts.ended_us as f64 / 1e6,
            longest_s: seconds(times.max()),
            shortest_s: seconds(times.min()),
        }
    }

    /// Share of requests that did not fail, in percent; 0 where none was answered.
    pub fn availability(&self) -> f64 {
        ratio(self.transactions as f64 * 100.0, (self.transactions + self.failed) as f64)
    }

    fn response_s(&self) -> f64 {
        ratio(self.sum_s, self.transactions as f64)
    }

    fn rate(&self) -> f64 {
        ratio(self.transactions as f64, self.elapsed_s)
    }

    fn throughput(&self) -> f64 {
        ratio(self.megabytes, self.elapsed_s)
    }

    fn concurrency(&self) -> f64 {
        ratio(self.sum_s, self.elapsed_s)
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The report on standard error, without the line break before it. `debug`: with the line that only shows then.
pub fn report(figures: &Figures, layout: SiegeReportLayout, debug: bool) -> String {
    let count = |label: &str, count: u64, unit: &str| match layout {
        SiegeReportLayout::V40 => format!("{label}{count:>12}{unit}\n"),
        SiegeReportLayout::V41 => format!("{label}{count:>9}{}\n", unit.replace(" hits", "    hits")),
    };
    let value = |label: &str, value: f64, unit: &str| format!("{label}{value:>12.2}{unit}\n");
    let time = |label: &str, seconds: f64, unit: &str| match layout {
        SiegeReportLayout::V40 => value(label, seconds, unit),
        SiegeReportLayout::V41 => value(label, seconds * 1e3, " ms"),
    };
    let mut text = count("Transactions:\t\t", figures.transactions, " hits");
    text += &value("Availability:\t\t", figures.availability(), " %");
    text += &value("Elapsed time:\t\t", figures.elapsed_s, " secs");
    text += &value("Data transferred:\t", figures.megabytes, " MB");
    text += &time("Response time:\t\t", figures.response_s(), " secs");
    text += &value("Transaction rate:\t", figures.rate(), " trans/sec");
    text += &value("Throughput:\t\t", figures.throughput(), " MB/sec");
    text += &value("Concurrency:\t\t", figures.concurrency(), "");
    text += &count("Successful transactions:", figures.successful, "");
    if debug {
        text += &count("HTTP OK received:\t", figures.ok, "");
    }
    text += &count("Failed transactions:\t", figures.failed, "");
    text += &time("Longest transaction:\t", figures.longest_s, "");
    text += &time("Shortest transaction:\t", figures.shortest_s, "");
    text + " \n"
}

/// The result as JSON on standard output. Times are in seconds whichever the layout.
pub fn json(figures: &Figures, layout: SiegeReportLayout, debug: bool) -> String {
    let count = |key: &str, tabs: usize, count: u64| (key.to_owned(), tabs, format!("{count:>12}"));
    let value = |key: &str, tabs: usize, value: f64| (key.to_owned(), tabs, format!("{value:>12.2}"));
    let mut rows = vec![
        count("transactions", 3, figures.transactions),
        value("availability", 3, figures.availability()),
        value("elapsed_time", 3, figures.elapsed_s),
        value("data_transferred", 2, figures.megabytes),
        value("response_time", 2, figures.response_s()),
        value("transaction_rate", 2, figures.rate()),
        value("throughput", 3, figures.throughput()),
        value("concurrency", 3, figures.concurrency()),
        count("successful_transactions", 1, figures.successful),
    ];
    if debug {
        rows.push(count("http_ok_received", 2, figures.ok));
    }
    rows.push(count("failed_transactions", 2, figures.failed));
    rows.push(value("longest_transaction", 2, figures.longest_s));
    rows.push(value("shortest_transaction", 2, figures.shortest_s));
    let rows = rows.into_iter().map(|(key, tabs, value)| format!("\t\"{key}\":{}{value}", "\t".repeat(tabs)));
    let open = match layout {
        SiegeReportLayout::V40 => "{",
        SiegeReportLayout::V41 => "{\n",
    };
    format!("{open}{}\n}}\n", rows.collect::<Vec<_>>().join(",\n"))
}

/// The first line of a log.
pub const LOG_HEADER: &str = "      Date & Time,  Trans,  Elap Time,  Data Trans,  Resp Time,  Trans Rate,  Throughput,  Concurrent,    OKAY,   Failed\n";

/// A line of a log. `date`: `%Y-%m-%d %H:%M:%S`. Data are whole megabytes, and throughput is of those.
pub fn log_row(figures: &Figures, date: &str) -> String {
    let megabytes = figures.megabytes.floor();
    format!(
        "{date},{:>7},{:>11.2},{:>12},{:>11.2},{:>12.2},{:>12.2},{:>12.2},{:>8},{:>8}\n",
        figures.transactions,
        figures.elapsed_s,
        megabytes,
        figures.response_s(),
        figures.rate(),
        ratio(megabytes, figures.elapsed_s),
        figures.concurrency(),
        figures.successful,
        figures.failed
    )
}

/// A mark in a log.
pub fn log_mark(mark: &str) -> String {
    format!("**** {mark} ****\n")
}

/// How lines of single requests look.
#[derive(Debug, Clone, Default)]
pub struct LineOptions {
    /// With colours.
    pub color: bool,
    /// Values with commas between.
    pub csv: bool,
    /// Each begins with the time.
    pub timestamp: bool,
    /// Whole URLs.
    pub full_url: bool,
    /// Each begins with the number of the user.
    pub display_id: bool,
    /// A mark among the values.
    pub mark: Option<String>,
}

/// Current time, as lines show it.
#[derive(Debug, Clone, Default)]
pub struct Now {
    /// Three letters.
    pub weekday: String,
    /// `%Y-%m-%d %H:%M:%S`.
    pub date: String,
}

/// The line of a request, with its line end; `None` where no answer came.
pub fn line(record: &Record, options: &LineOptions, now: &Now) -> Option<String> {
    let status = shown_status(record)?;
    let seconds = (record.connect.unwrap_or_default() + record.service).as_secs_f64();
    let target = if options.full_url || record.method != "GET" { &*record.url } else { path(&record.url) };
    let stamp = if options.timestamp { format!("[{}, {}] ", now.weekday, now.date) } else { String::new() };
    let version = record.version.unwrap_or("HTTP/1.1");
    let bytes = record.body_bytes;
    let mut text = if options.csv {
        let id = if options.display_id { format!("{:>4},", record.user) } else { String::new() };
        let mark = options.mark.as_ref().map_or(String::new(), |mark| format!("{mark},"));
        let place = record.place;
        format!("{stamp}{id}{mark}{version},{status},{seconds:>6.2},{bytes:>7},{target},{place},{}", now.date)
    } else if options.display_id {
        format!(
            "{:>4}) {version} {status} {seconds:>6.2} secs: {bytes:>7} bytes ==> {:<4} {target}",
            record.user, record.method
        )
    } else {
        format!(
            "{stamp}{version} {status}    {seconds:>5.2} secs: {bytes:>7} bytes ==> {:<4} {target}",
            record.method
        )
    };
    if options.color {
        text = format!("\u{1b}[0;3{}m{text}\u{1b}[0m", colour(status));
    }
    text.push('\n');
    Some(text)
}

/// An answer that is not valid HTTP/1 is shown as 418.
fn shown_status(record: &Record) -> Option<u16> {
    match record.outcome {
        Outcome::Failed(failure) if failure.kind.is_no_message() => Some(418),
        // An answer that broke off or stalled is none, whatever its status said.
        Outcome::Failed(failure) if failure.kind != FailureKind::BadStatus => None,
        _ => Some(record.status).filter(|status| *status > 0),
    }
}

fn colour(status: u16) -> u8 {
    match status {
        200..=299 => 4,
        300..=399 => 6,
        400..=499 if status != 418 => 5,
        _ => 1,
    }
}

/// Path and query of an absolute URL.
fn path(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |at| &rest[at..])
}

/// The line about a request that got no answer, without line end; `None` where nothing failed but the status.
pub fn error_line(outcome: &Outcome, color: bool) -> Option<String> {
    let Outcome::Failed(failure) = outcome else { return None };
    if failure.kind == FailureKind::BadStatus || failure.kind.is_no_message() {
        return None;
    }
    let tag = if color { "[\u{1b}[1;33merror\u{1b}[0m]" } else { "[error]" };
    let what = match failure.stage {
        Stage::Lookup | Stage::Connect => "unable to connect".to_owned(),
        stage => stage.text().to_owned(),
    };
    Some(format!("{tag} socket: {what}: {}", failure.text()))
}

/// A table of statuses, and of what else became of requests.
pub fn statuses(result: &RunResult) -> String {
    let phase = result.measured();
    let mut text = String::from("Statuses:\n");
    for (status, count) in phase.tally.statuses() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{status:>6}{count:>14}");
    }
    let failures = phase.tally.failures_by_stage();
    for (failure, count) in failures.iter().filter(|(failure, _)| failure.kind != FailureKind::BadStatus) {
        let _ = writeln!(text, "{:>20}  {} ({})", count, failure.kind.text(), failure.stage.text());
    }
    text
}

#[cfg(test)]
mod tests;
