//! `statistics.json`, as JMeter's dashboard writes it: figures for each label, and for all.

use super::{Kind, Sample};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Samples of each label, gathered one by one.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    labels: BTreeMap<String, Gathered>,
    /// Those of transactions, which are not part of the total.
    transactions: BTreeMap<String, Gathered>,
}

#[derive(Debug, Clone, Default)]
struct Gathered {
    /// How often each time came, in milliseconds: exact percentiles, however long the run.
    times: BTreeMap<u64, u64>,
    samples: u64,
    errors: u64,
    bytes: u64,
    sent_bytes: u64,
    first_ms: u64,
    last_ms: u64,
}

impl Gathered {
    fn add(&mut self, sample: &Sample) {
        let Sample { began_ms, elapsed_ms, .. } = *sample;
        self.first_ms = if self.samples == 0 { began_ms } else { self.first_ms.min(began_ms) };
        self.last_ms = self.last_ms.max(began_ms + elapsed_ms);
        self.samples += 1;
        self.errors += u64::from(!sample.success);
        self.bytes += sample.bytes;
        self.sent_bytes += sample.sent_bytes;
        *self.times.entry(elapsed_ms).or_default() += 1;
    }

    fn merge(&mut self, other: &Gathered) {
        if other.samples == 0 {
            return;
        }
        self.first_ms = if self.samples == 0 { other.first_ms } else { self.first_ms.min(other.first_ms) };
        self.last_ms = self.last_ms.max(other.last_ms);
        self.samples += other.samples;
        self.errors += other.errors;
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

    fn json(&self, label: &str) -> Value {
        let samples = self.samples.max(1) as f64;
        let sum: u64 = self.times.iter().map(|(time, count)| time * count).sum();
        let seconds = (self.last_ms.saturating_sub(self.first_ms)).max(1) as f64 / 1e3;
        let ends =
            (self.times.keys().next().copied().unwrap_or(0), self.times.keys().last().copied().unwrap_or(0));
        json!({
            "transaction": label,
            "sampleCount": self.samples,
            "errorCount": self.errors,
            "errorPct": self.errors as f64 * 100.0 / samples,
            "meanResTime": sum as f64 / samples,
            "medianResTime": self.percentile(50.0) as f64,
            "minResTime": ends.0 as f64,
            "maxResTime": ends.1 as f64,
            "pct1ResTime": self.percentile(90.0) as f64,
            "pct2ResTime": self.percentile(95.0) as f64,
            "pct3ResTime": self.percentile(99.0) as f64,
            "throughput": self.samples as f64 / seconds,
            "receivedKBytesPerSec": self.bytes as f64 / 1024.0 / seconds,
            "sentKBytesPerSec": self.sent_bytes as f64 / 1024.0 / seconds,
        })
    }
}

impl Statistics {
    /// Adds a sample, and its parts under labels of their own.
    pub fn add(&mut self, sample: &Sample) {
        let labels = match sample.kind {
            Kind::Transaction { .. } => &mut self.transactions,
            Kind::Http | Kind::Script => &mut self.labels,
        };
        if !labels.contains_key(&sample.label) {
            labels.insert(sample.label.clone(), Gathered::default());
        }
        if let Some(gathered) = labels.get_mut(&sample.label) {
            gathered.add(sample);
        }
        sample.parts.iter().for_each(|part| self.add(part));
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let mut total = Gathered::default();
        let mut object = Map::new();
        for (label, gathered) in &self.labels {
            object.insert(label.clone(), gathered.json(label));
            total.merge(gathered);
        }
        for (label, gathered) in &self.transactions {
            object.insert(label.clone(), gathered.json(label));
        }
        object.insert("Total".to_owned(), total.json("Total"));
        serde_json::to_string_pretty(&Value::Object(object)).unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_samples() {
        let mut statistics = Statistics::default();
        let sample = |label: &str, began_ms, elapsed_ms, success, bytes| {
            let label = label.to_owned();
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
}
