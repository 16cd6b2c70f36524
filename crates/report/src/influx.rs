//! A run for InfluxDB in the schema of JMeter's backend listener, which boards 5496 and 17472 of Grafana read: line protocol, times in ms,
//! a row for each step and interval. JMeter's percentiles are of its last 100 samples, these are of the interval.

use crate::interval::{EndedRequests, Interval, histogram};
use measure::{Buckets, shares};
use std::fmt::Write;

impl Interval {
    /// Its rows, for a moment in milliseconds since 1970. A step without requests has none.
    pub fn lines(&self, application: &str, now_ms: u64) -> String {
        let mut lines = InfluxLines { text: String::new(), application: tag(application), now_ms };
        for (name, times) in &self.steps {
            lines.step(name, times, &self.counts);
        }
        if self.all.ended > 0 {
            let errors = self.all.ended.saturating_sub(self.all.ok);
            let both = self.all.both();
            // Of some transactions good and bad are not told apart, and bytes are not known.
            let is_partial = !self.all.together.is_empty();
            let good = stats(if is_partial { &both } else { &self.all.good }, true);
            let percentiles = percentiles(&both);
            let bytes = if is_partial { String::new() } else { bytes(&self.counts) };
            let fields = format!(
                "count={},countError={errors}{good},hit={}{bytes}{percentiles}",
                self.all.ended, self.all.ended
            );
            lines.row("transaction=all,statut=all", &fields);
        }
        for (status, count) in &self.bad {
            let reason = tag(crate::show::reason_phrase(*status));
            let reason = if reason.is_empty() { "unknown".to_owned() } else { reason };
            lines.row(
                &format!("transaction=all,responseCode={status},responseMessage={reason}"),
                &format!("count={count}"),
            );
        }
        let most = self.most_in_flight;
        let now = self.in_flight;
        lines.row(
            "transaction=internal",
            &format!("minAT={now},maxAT={most},meanAT={now},startedT={most},endedT=0"),
        );
        lines.text
    }
}

/// The row that says that a run begins or has ended, which boards draw as a line.
pub fn event(application: &str, text: &str, now_ms: u64) -> String {
    let text = crate::harmless(text).replace(['\n', '\r'], " ").replace('\\', "\\\\").replace('"', "\\\"");
    format!("events,application={},title=ApacheJMeter text=\"{text}\" {now_ms}000000\n", tag(application))
}

struct InfluxLines {
    text: String,
    application: String,
    now_ms: u64,
}

impl InfluxLines {
    fn row(&mut self, tags: &str, fields: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(
            self.text,
            "jmeter,application={},{tags} {fields} {}000000",
            self.application, self.now_ms
        );
    }

    fn step(&mut self, name: &str, times: &EndedRequests, counts: &measure::Counts) {
        let name = tag(name);
        let bad = times.ended.saturating_sub(times.ok);
        let both = times.both();
        for (status, count, of) in
            [("all", times.ended, &both), ("ok", times.ok, &times.good), ("ko", bad, &times.bad)]
        {
            if count == 0 {
                continue;
            }
            // Bytes are known of all steps together only.
            let bytes =
                if status == "all" && times.together.is_empty() { bytes(counts) } else { String::new() };
            let fields = format!("count={count}{},hit={count}{bytes}{}", stats(of, false), percentiles(of));
            self.row(&format!("transaction={name},statut={status}"), &fields);
        }
    }
}

fn stats(times: &Buckets, or_zero: bool) -> String {
    let ms = |us: f64| us / 1000.0;
    match histogram(times) {
        Some(of) => {
            format!(",avg={:.3},min={:.3},max={:.3}", ms(of.mean()), ms(of.min() as f64), ms(of.max() as f64))
        }
        None if or_zero => ",avg=0,min=0,max=0".to_owned(),
        None => String::new(),
    }
}

fn percentiles(times: &Buckets) -> String {
    let Some(of) = histogram(times) else { return String::new() };
    let at = |percent: f64| of.value_at_quantile(percent / 100.0) as f64 / 1000.0;
    [99.0, 95.0, 90.0].map(|percent| format!(",pct{percent:.1}={:.3}", at(percent))).concat()
}

fn bytes(counts: &measure::Counts) -> String {
    format!(",sb={},rb={}", counts.sent_bytes, shares::received_bytes(counts))
}

/// A tag's value: blanks, commas and equals signs escaped, control characters made visible.
fn tag(text: &str) -> String {
    let mut escaped = String::new();
    for c in crate::harmless(text).chars() {
        match c {
            ' ' | ',' | '=' => escaped.extend(['\\', c]),
            '\n' | '\r' | '\\' => escaped.push('_'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::figures::LabelCount;
    use measure::stream::PhasePlan;
    use measure::{Digits, Head, Histogram, Second, TimeMetric};

    fn head() -> Head {
        let phase = PhasePlan {
            name: "measure".to_owned(),
            labels: vec!["a page, of=\"x\"\n".to_owned()],
            ..PhasePlan::default()
        };
        Head { phases: vec![phase], ..Head::default() }
    }

    fn times(values: &[u64]) -> Buckets {
        let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000, 3).unwrap();
        values.iter().for_each(|us| histogram.record(*us).unwrap());
        Buckets::of(&histogram, Digits::Two)
    }

    #[test]
    fn of_some_labels_nothing_is_told_that_is_known_of_all_alone() {
        let phase = PhasePlan { labels: ["a", "b", "c"].map(str::to_owned).to_vec(), ..PhasePlan::default() };
        let mut second = Second { in_flight: 7, ..Second::default() };
        second.clients.counts.ok = 9;
        second.clients.counts.sent_bytes = 90;
        second.clients.statuses = vec![(200, 8), (503, 1)];
        let label = |label, ended, us| LabelCount {
            label,
            ended,
            ok: ended - 1,
            response: times(&vec![us; ended as usize]),
        };
        second.clients.labels = vec![label(0, 2, 1_000), label(1, 3, 4_000), label(2, 4, 9_000)];
        let mut all = Interval::default();
        all.take(&second, &Head { phases: vec![phase], ..Head::default() });
        let some = all.only(&["a".to_owned(), "c".to_owned(), "nobody".to_owned()]);
        let text = some.lines("x", 1);
        let begins = |line: &str| text.lines().any(|have| have.starts_with(line));
        assert!(begins("jmeter,application=x,transaction=a,statut=all count=2,avg=1.0"), "{text}");
        assert!(
            begins("jmeter,application=x,transaction=all,statut=all count=6,countError=2,avg=6."),
            "{text}"
        );
        assert!(begins("jmeter,application=x,transaction=internal minAT=7"), "{text}");
        assert!(!["transaction=b", "503", "sb=", "nobody"].iter().any(|word| text.contains(word)), "{text}");
        assert!(all.lines("x", 1).contains("transaction=b,statut=all count=3"));
        let path = crate::graphite::lines(&some, "p.", 1);
        assert!(path.contains("p.all.a.count 6 1") && path.contains("p.c.a.count 4 1"), "{path}");
        assert!(!path.contains("p.b."), "{path}");
    }

    #[test]
    fn rows_are_those_of_jmeters_listener() {
        let mut second = Second { in_flight: 7, ..Second::default() };
        second.clients.counts.ok = 2;
        second.clients.counts.failed = 1;
        second.clients.counts.sent_bytes = 90;
        second.clients.statuses = vec![(200, 2), (503, 1)];
        second.metrics.insert(TimeMetric::Service, times(&[1_000, 3_000]));
        second.metrics.insert(TimeMetric::Failure, times(&[50_000]));
        let mut interval = Interval::default();
        interval.take(&second, &head());
        interval.take(&second, &head());
        let text = interval.lines("my app", 1_700_000_000_000);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6, "{text}");
        assert!(
            lines[0].starts_with("jmeter,application=my\\ app,transaction=measure,statut=all count=6,avg="),
            "{text}"
        );
        assert!(
            lines[0].contains(",hit=6,sb=180,rb=0,pct99.0=") && lines[0].ends_with(" 1700000000000000000")
        );
        assert!(
            lines[1].contains("statut=ok count=4,avg=2.0") && lines[2].contains("statut=ko count=2,avg=50."),
            "{text}"
        );
        assert!(lines[3].contains("transaction=all,statut=all count=6,countError=2,avg=2.0"), "{text}");
        assert!(
            lines[4].contains("responseCode=503,responseMessage=Service\\ Unavailable count=2 "),
            "{text}"
        );
        assert!(lines[5].contains("transaction=internal minAT=7,maxAT=7,"), "{text}");
    }

    #[test]
    fn names_of_steps_stay_in_their_place() {
        let mut second = Second::default();
        second.clients.counts.ok = 1;
        second.clients.labels = vec![LabelCount { label: 0, ended: 1, ok: 1, response: times(&[500]) }];
        let mut interval = Interval::default();
        interval.take(&second, &head());
        let text = interval.lines("a", 1);
        assert!(text.starts_with("jmeter,application=a,transaction=a\\ page\\,\\ of\\=\"x\""), "{text}");
        assert_eq!(text.lines().count(), 4, "{text}");
        assert_eq!(event("a", "x\" y\n", 5).lines().count(), 1);
    }
}
