//! `statistics.json`, as JMeter's dashboard writes it: figures for each label, and for all.

use super::jtl::escaped;
use super::{JmeterKind, Sample};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Samples of each label, gathered one by one.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    apdex: Apdex,
    labels: BTreeMap<Arc<str>, ReportGathered>,
    /// Those of transactions, which are not part of the total.
    transactions: BTreeMap<Arc<str>, ReportGathered>,
}

#[derive(Debug, Clone, Default)]
struct ReportGathered {
    /// How often each time came, in milliseconds: exact percentiles, however long the run.
    times: BTreeMap<u64, u64>,
    samples: u64,
    errors: u64,
    bytes: u64,
    sent_bytes: u64,
    first_ms: u64,
    last_ms: u64,
    /// Good ones within the first threshold of APDEX, and within the second alone.
    satisfied: u64,
    tolerated: u64,
    /// How often each error came.
    errors_by: BTreeMap<String, u64>,
}

/// Thresholds of APDEX, in milliseconds: satisfied up to the first, tolerated up to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apdex {
    /// JMeter's 500.
    pub satisfied_ms: u64,
    /// JMeter's 1500.
    pub tolerated_ms: u64,
}

impl Default for Apdex {
    fn default() -> Apdex {
        Apdex { satisfied_ms: 500, tolerated_ms: 1500 }
    }
}

impl Apdex {
    /// By the properties of a command line.
    ///
    /// # Errors
    /// A threshold that is no whole number.
    pub fn of(properties: &BTreeMap<String, String>) -> Result<Apdex, String> {
        let read = |name: &str, usual: u64| {
            let name = format!("jmeter.reportgenerator.apdex_{name}_threshold");
            match properties.get(&name).map(|text| text.trim()) {
                None | Some("") => Ok(usual),
                Some(text) => text
                    .parse()
                    .map_err(|_| format!("{name} is '{text}', which is no whole number of milliseconds")),
            }
        };
        let usual = Apdex::default();
        Ok(Apdex {
            satisfied_ms: read("satisfied", usual.satisfied_ms)?,
            tolerated_ms: read("tolerated", usual.tolerated_ms)?,
        })
    }
}

/// Words for the error of a sample: an assertion's, or its code and message.
fn error(sample: &Sample) -> String {
    match sample.failed.first() {
        Some((_, says)) => format!("Assertion failed: {says}"),
        None => format!("{}/{}", sample.code, sample.message),
    }
}

impl ReportGathered {
    fn add(&mut self, sample: &Sample, apdex: Apdex) {
        let Sample { began_ms, elapsed_ms, .. } = *sample;
        self.first_ms = if self.samples == 0 { began_ms } else { self.first_ms.min(began_ms) };
        self.last_ms = self.last_ms.max(began_ms + elapsed_ms);
        self.samples += 1;
        if sample.success {
            self.satisfied += u64::from(elapsed_ms <= apdex.satisfied_ms);
            self.tolerated += u64::from((apdex.satisfied_ms + 1..=apdex.tolerated_ms).contains(&elapsed_ms));
        } else {
            self.errors += 1;
            *self.errors_by.entry(error(sample)).or_default() += 1;
        }
        self.bytes += sample.bytes;
        self.sent_bytes += sample.sent_bytes;
        *self.times.entry(elapsed_ms).or_default() += 1;
    }

    fn merge(&mut self, other: &ReportGathered) {
        if other.samples == 0 {
            return;
        }
        self.first_ms = if self.samples == 0 { other.first_ms } else { self.first_ms.min(other.first_ms) };
        self.last_ms = self.last_ms.max(other.last_ms);
        self.samples += other.samples;
        self.errors += other.errors;
        self.satisfied += other.satisfied;
        self.tolerated += other.tolerated;
        other
            .errors_by
            .iter()
            .for_each(|(error, count)| *self.errors_by.entry(error.clone()).or_default() += count);
        self.bytes += other.bytes;
        self.sent_bytes += other.sent_bytes;
        other.times.iter().for_each(|(time, count)| *self.times.entry(*time).or_default() += count);
    }

    /// The time that a share of all samples does not exceed.
    fn percentile(&self, percent: f64) -> u64 {
        let wanted = (self.samples as f64 * percent / 100.0).ceil().max(1.0) as u64;
        let mut seen = 0;
        let reached = self.times.iter().find(|(_, count)| {
            seen += **count;
            seen >= wanted
        });
        reached.map_or(0, |(time, _)| *time)
    }

    fn figures(&self) -> ReportFigures {
        let samples = self.samples.max(1) as f64;
        let sum: u64 = self.times.iter().map(|(time, count)| time * count).sum();
        let seconds = (self.last_ms.saturating_sub(self.first_ms)).max(1) as f64 / 1e3;
        ReportFigures {
            error_percent: self.errors as f64 * 100.0 / samples,
            mean_ms: sum as f64 / samples,
            median_ms: self.percentile(50.0),
            min_ms: self.times.keys().next().copied().unwrap_or(0),
            max_ms: self.times.keys().last().copied().unwrap_or(0),
            percentiles_ms: [90.0, 95.0, 99.0].map(|percent| self.percentile(percent)),
            per_s: self.samples as f64 / seconds,
            received_kb_per_s: self.bytes as f64 / 1024.0 / seconds,
            sent_kb_per_s: self.sent_bytes as f64 / 1024.0 / seconds,
        }
    }

    fn json(&self, label: &str) -> Value {
        let figures = self.figures();
        json!({
            "transaction": label,
            "sampleCount": self.samples,
            "errorCount": self.errors,
            "errorPct": figures.error_percent,
            "meanResTime": figures.mean_ms,
            "medianResTime": figures.median_ms as f64,
            "minResTime": figures.min_ms as f64,
            "maxResTime": figures.max_ms as f64,
            "pct1ResTime": figures.percentiles_ms[0] as f64,
            "pct2ResTime": figures.percentiles_ms[1] as f64,
            "pct3ResTime": figures.percentiles_ms[2] as f64,
            "throughput": figures.per_s,
            "receivedKBytesPerSec": figures.received_kb_per_s,
            "sentKBytesPerSec": figures.sent_kb_per_s,
        })
    }
}

/// Figures of the samples of a label.
struct ReportFigures {
    error_percent: f64,
    mean_ms: f64,
    median_ms: u64,
    min_ms: u64,
    max_ms: u64,
    /// The 90th, 95th and 99th.
    percentiles_ms: [u64; 3],
    per_s: f64,
    received_kb_per_s: f64,
    sent_kb_per_s: f64,
}

impl Statistics {
    /// Without a sample yet.
    pub fn new(apdex: Apdex) -> Statistics {
        Statistics { apdex, ..Statistics::default() }
    }

    /// Adds a sample, and its parts under labels of their own.
    pub fn add(&mut self, sample: &Sample) {
        let labels = match sample.kind {
            JmeterKind::Transaction { .. } => &mut self.transactions,
            JmeterKind::Http | JmeterKind::Script => &mut self.labels,
        };
        if !labels.contains_key(&sample.label) {
            labels.insert(sample.label.clone(), ReportGathered::default());
        }
        if let Some(gathered) = labels.get_mut(&sample.label) {
            gathered.add(sample, self.apdex);
        }
        sample.parts.iter().for_each(|part| self.add(part));
    }

    fn total(&self) -> ReportGathered {
        let mut total = ReportGathered::default();
        self.labels.values().for_each(|gathered| total.merge(gathered));
        total
    }

    /// Each label with its figures, transactions behind the others.
    fn each(&self) -> impl Iterator<Item = (&str, &ReportGathered)> {
        self.labels.iter().chain(&self.transactions).map(|(label, gathered)| (&**label, gathered))
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let mut object: Map<String, Value> =
            self.each().map(|(label, gathered)| (label.to_owned(), gathered.json(label))).collect();
        object.insert("Total".to_owned(), self.total().json("Total"));
        serde_json::to_string_pretty(&Value::Object(object)).unwrap_or_default() + "\n"
    }

    /// A page of the four tables of JMeter's dashboard: APDEX, statistics, errors, and the most frequent errors of each label.
    /// `file`: the results file that they were made of.
    pub fn page(&self, file: &str) -> String {
        let total = self.total();
        let rows = || self.each().chain([("Total", &total)]);
        let file = escaped(file);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{file}</title>\n{STYLE}\n<h1>{file}</h1>\n\
             <p>{} samples, {} of them failed ({:.2} %). Transactions are not part of the total. Percentiles are those of all samples.</p>\n",
            total.samples,
            total.errors,
            total.figures().error_percent
        );
        let Apdex { satisfied_ms, tolerated_ms } = self.apdex;
        let apdex = rows().map(|(label, of)| {
            let index = (of.satisfied as f64 + of.tolerated as f64 / 2.0) / of.samples.max(1) as f64;
            vec![escaped(label), format!("{index:.3}"), satisfied_ms.to_string(), tolerated_ms.to_string()]
        });
        table(&mut page, "APDEX", "Label|Apdex|Satisfied (ms)|Tolerated (ms)", apdex);
        let statistics = rows().map(|(label, of)| statistics_row(label, of));
        let names = "Label|Samples|Failed|Error %|Average (ms)|Min|Max|Median|90th|95th|99th|Per second|Received KB/s|Sent KB/s";
        table(&mut page, "Statistics", names, statistics);
        let share = |count: u64, of: u64| format!("{:.2} %", count as f64 * 100.0 / of.max(1) as f64);
        let errors = by_count(&total.errors_by).into_iter().map(|(error, count)| {
            vec![escaped(error), count.to_string(), share(count, total.errors), share(count, total.samples)]
        });
        table(&mut page, "Errors", "Error|Number|Of errors|Of samples", errors);
        let worst = rows().filter(|(_, of)| of.errors > 0).flat_map(|(label, of)| {
            let top = by_count(&of.errors_by).into_iter().take(TOP);
            top.map(move |(error, count)| vec![escaped(label), escaped(error), count.to_string()])
        });
        table(&mut page, "Most frequent errors of each label", "Label|Error|Number", worst);
        page
    }
}

/// Errors of a label that are shown.
const TOP: usize = 5;

const STYLE: &str = "<style>body{font:14px sans-serif;margin:2em}table{border-collapse:collapse;margin-bottom:2em}\
                     th,td{border:1px solid #bbb;padding:.3em .6em;text-align:right}th:first-child,td:first-child{text-align:left}</style>";

fn statistics_row(label: &str, of: &ReportGathered) -> Vec<String> {
    let figures = of.figures();
    let times = [figures.min_ms, figures.max_ms, figures.median_ms].into_iter().chain(figures.percentiles_ms);
    let rates = [figures.per_s, figures.received_kb_per_s, figures.sent_kb_per_s];
    let begin = [
        escaped(label),
        of.samples.to_string(),
        of.errors.to_string(),
        format!("{:.2} %", figures.error_percent),
        format!("{:.1}", figures.mean_ms),
    ];
    begin
        .into_iter()
        .chain(times.map(|ms| ms.to_string()))
        .chain(rates.map(|rate| format!("{rate:.2}")))
        .collect()
}

/// Errors, the most frequent first.
fn by_count(errors: &BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    let mut errors: Vec<(&str, u64)> = errors.iter().map(|(error, count)| (error.as_str(), *count)).collect();
    errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    errors
}

fn table(page: &mut String, title: &str, names: &str, rows: impl Iterator<Item = Vec<String>>) {
    let row = |cells: &[String], tag: &str| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let names: Vec<String> = names.split('|').map(str::to_owned).collect();
    let body: String = rows.map(|cells| row(&cells, "td")).collect();
    if body.is_empty() {
        return;
    }
    page.push_str(&format!("<h2>{title}</h2>\n<table>\n{}{body}</table>\n", row(&names, "th")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_samples() {
        let mut statistics = Statistics::default();
        let sample = |label: &str, began_ms, elapsed_ms, success, bytes| {
            let label = label.into();
            Sample { label, began_ms, elapsed_ms, success, bytes, ..Sample::default() }
        };
        (1..=100).for_each(|nth| statistics.add(&sample("a", 1000 + nth * 10, nth, nth != 7, 1024)));
        statistics.add(&sample("b", 500, 2000, true, 0));
        let read: Value = serde_json::from_str(&statistics.text()).unwrap();
        let of = |label: &str, key: &str| read[label][key].as_f64().unwrap();
        assert_eq!(
            [
                "sampleCount",
                "errorCount",
                "errorPct",
                "meanResTime",
                "medianResTime",
                "minResTime",
                "maxResTime"
            ]
            .map(|key| of("a", key)),
            [100.0, 1.0, 1.0, 50.5, 50.0, 1.0, 100.0]
        );
        assert_eq!(["pct1ResTime", "pct2ResTime", "pct3ResTime"].map(|key| of("a", key)), [90.0, 95.0, 99.0]);
        // From 1010 ms to 2100 ms.
        assert!((of("a", "throughput") - 100.0 / 1.09).abs() < 1e-9);
        assert_eq!((of("Total", "sampleCount"), of("Total", "maxResTime")), (101.0, 2000.0));
        assert_eq!(read["b"]["transaction"], "b");
    }

    #[test]
    fn the_page_has_the_four_tables() {
        let mut statistics = Statistics::new(Apdex { satisfied_ms: 10, tolerated_ms: 20 });
        let sample = |label: &str, elapsed_ms, success, code: &str| {
            let code = code.to_owned().into();
            Sample {
                label: label.into(),
                code,
                elapsed_ms,
                success,
                message: "no <b>".into(),
                ..Sample::default()
            }
        };
        [10, 11, 20, 21].into_iter().for_each(|ms| statistics.add(&sample("a<b", ms, true, "200")));
        let page = statistics.page("r.jtl");
        assert!(page.contains("<td>a&lt;b</td><td>0.500</td><td>10</td><td>20</td>"), "{page}");
        assert!(!page.contains("<h2>Errors"), "{page}");
        statistics.add(&sample("c", 1, false, "500"));
        let page = statistics.page("r.jtl");
        for part in [
            "5 samples, 1 of them failed (20.00 %)",
            "<td>Total</td><td>0.400</td>",
            "<td>500/no &lt;b&gt;</td><td>1</td><td>100.00 %</td><td>20.00 %</td>",
            "<td>c</td><td>500/no &lt;b&gt;</td><td>1</td>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let given = |text: &str| {
            let name = "jmeter.reportgenerator.apdex_satisfied_threshold".to_owned();
            Apdex::of(&BTreeMap::from([(name, text.to_owned())]))
        };
        assert_eq!(given("70"), Ok(Apdex { satisfied_ms: 70, tolerated_ms: 1500 }));
        assert!(given("fast").unwrap_err().contains("'fast'"));
    }
}
