//! A run for Graphite in its plaintext protocol (`path value seconds`), with the names of JMeter's Graphite listener: times in ms, of
//! the interval.

use crate::interval::{EndedRequests, Interval, histogram};
use measure::Buckets;
use std::fmt::Write;

/// Its lines, for a moment in seconds since 1970. `prefix` stands before each path, with its dot.
pub fn lines(interval: &Interval, prefix: &str, now_s: u64) -> String {
    let mut lines = GraphiteLines { text: String::new(), prefix, now_s };
    for (name, times) in &interval.steps {
        lines.requests(&node(name), times);
    }
    if interval.all.ended > 0 {
        lines.requests("all", &interval.all);
    }
    lines.value("test.minAT", interval.in_flight);
    lines.value("test.maxAT", interval.most_in_flight);
    lines.text
}

struct GraphiteLines<'a> {
    text: String,
    prefix: &'a str,
    now_s: u64,
}

impl GraphiteLines<'_> {
    fn value(&mut self, path: &str, value: impl std::fmt::Display) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{}{path} {value} {}", self.prefix, self.now_s);
    }

    fn requests(&mut self, name: &str, times: &EndedRequests) {
        let bad = times.ended.saturating_sub(times.ok);
        self.value(&format!("{name}.a.count"), times.ended);
        self.value(&format!("{name}.ok.count"), times.ok);
        self.value(&format!("{name}.ko.count"), bad);
        self.value(&format!("{name}.h.count"), times.ended);
        self.times(&format!("{name}.a"), &times.both());
        self.times(&format!("{name}.ok"), &times.good);
        self.times(&format!("{name}.ko"), &times.bad);
    }

    /// Times of nothing are left out.
    fn times(&mut self, path: &str, times: &Buckets) {
        let Some(of) = histogram(times) else { return };
        let ms = |us: f64| format!("{:.3}", us / 1000.0);
        self.value(&format!("{path}.min"), ms(of.min() as f64));
        self.value(&format!("{path}.max"), ms(of.max() as f64));
        self.value(&format!("{path}.avg"), ms(of.mean()));
        for percent in [90_u32, 95, 99] {
            let at = of.value_at_quantile(f64::from(percent) / 100.0);
            self.value(&format!("{path}.pct{percent}"), ms(at as f64));
        }
    }
}

/// A name as one node of a path: dots, blanks and what is no text would cut it.
fn node(name: &str) -> String {
    let harmless = crate::harmless(name);
    harmless.chars().map(|c| if c == '.' || c.is_whitespace() || c.is_control() { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::stream::PhasePlan;
    use measure::{Digits, Head, Histogram, Second, TimeMetric};

    fn times(values: &[u64]) -> Buckets {
        let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000, 3).unwrap();
        values.iter().for_each(|us| histogram.record(*us).unwrap());
        Buckets::of(&histogram, Digits::Two)
    }

    #[test]
    fn paths_are_those_of_jmeters_listener() {
        let mut second = Second { in_flight: 7, ..Second::default() };
        second.clients.counts.ok = 2;
        second.clients.counts.failed = 1;
        second.metrics.insert(TimeMetric::Service, times(&[1_000, 3_000]));
        second.metrics.insert(TimeMetric::Failure, times(&[50_000]));
        let phase = PhasePlan { name: "a page/v1.2\n".to_owned(), ..PhasePlan::default() };
        let head = Head { phases: vec![phase], ..Head::default() };
        let mut interval = Interval::default();
        interval.take(&second, &head);
        let text = lines(&interval, "wringer.", 1_700_000_000);
        for line in [
            "wringer.a_page/v1_2_.ok.count 2 1700000000",
            "wringer.all.a.count 3 1700000000",
            "wringer.all.ko.count 1 1700000000",
            "wringer.test.maxAT 7 1700000000",
        ] {
            assert!(text.lines().any(|have| have == line), "{line} is missing in {text}");
        }
        assert!(
            text.contains("wringer.all.ok.avg 2.0") && text.contains("wringer.all.ko.pct99 50."),
            "{text}"
        );
        assert!(text.lines().all(|line| line.split(' ').count() == 3), "{text}");
        let idle = lines(&Interval::default(), "wringer.", 1);
        assert_eq!(idle, "wringer.test.minAT 0 1\nwringer.test.maxAT 0 1\n");
    }
}
