//! A run as metrics. [`families`] says what there is; it is written as Prometheus' text 0.0.4 or OpenMetrics 1.0 ([`text`]), as
//! Prometheus' protocol buffers with native histograms ([`protobuf`]), and as OTLP ([`otlp`]).
//!
//! Counters are cumulative, times in seconds, labels bounded: phase, step, outcome, kind and stage, never a URL.

mod families;
mod native;
pub mod otlp;
mod protobuf;

pub use families::{Family, FamilyValue, Kind, Names, Sample, families};
pub use native::Native;
pub use protobuf::protobuf;

use measure::{Head, Histogram, RunResult};
use std::fmt::{Display, Write};

/// Upper bounds of the buckets of all classic histograms, in µs.
const BOUNDS_US: [u64; 18] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000,
];

/// Which text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Prometheus' own, 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0, which has an end.
    OpenMetrics,
}

/// The run as far as it is known.
pub fn text(result: &RunResult, head: &Head, format: Format) -> String {
    text_of(&families(result, head, Names::Wringer), format)
}

/// Families as text.
pub fn text_of(families: &[Family], format: Format) -> String {
    let mut page = Page { text: String::new() };
    families.iter().for_each(|family| page.family(family, format));
    if format == Format::OpenMetrics {
        page.text += "# EOF\n";
    }
    page.text
}

/// The page that is written.
struct Page {
    text: String,
}

impl Page {
    fn family(&mut self, family: &Family, format: Format) {
        let total = family.sample_name();
        // Prometheus names the samples, OpenMetrics what they are samples of.
        let name = if format == Format::Prometheus { &total } else { &family.name };
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "# HELP {name} {}\n# TYPE {name} {}", family.help, family.kind.name());
        for sample in &family.samples {
            match &sample.value {
                FamilyValue::Number(value) => self.sample(&total, &sample.labels, None, value),
                FamilyValue::Times(times) => self.histogram(&family.name, &sample.labels, times),
            }
        }
    }

    fn histogram(&mut self, name: &str, labels: &[(&'static str, String)], times: &Histogram) {
        let bucket = format!("{name}_bucket");
        for (bound, below) in classic(times) {
            self.sample(&bucket, labels, Some(&bound.to_string()), below);
        }
        self.sample(&bucket, labels, Some("+Inf"), times.len());
        self.sample(&format!("{name}_sum"), labels, None, sum(times));
        self.sample(&format!("{name}_count"), labels, None, times.len());
    }

    fn sample(
        &mut self,
        name: &str,
        labels: &[(&'static str, String)],
        le: Option<&str>,
        value: impl Display,
    ) {
        let own = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
        let all: Vec<String> = own.chain(le.map(|le| format!("le=\"{le}\""))).collect();
        let labels = if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) };
        let _ = writeln!(self.text, "{name}{labels} {value}");
    }
}

/// Classic buckets: upper bound in seconds, and how many there are up to it.
fn classic(times: &Histogram) -> Vec<(f64, u64)> {
    let mut below = 0;
    let mut steps = times.iter_recorded().peekable();
    let counted = BOUNDS_US.into_iter().map(|bound| {
        while let Some(step) = steps.next_if(|step| step.value_iterated_to() <= bound) {
            below += step.count_at_value();
        }
        (bound as f64 / 1e6, below)
    });
    counted.collect()
}

/// The sum of all times in seconds.
fn sum(times: &Histogram) -> f64 {
    times.mean() * times.len() as f64 / 1e6
}

/// The value of a label: quotes, backslashes and line ends escaped, other control characters made visible.
fn escaped(value: &str) -> String {
    let shown = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    crate::harmless(&shown).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::TimeMetric;
    use measure::stream::PhasePlan;
    use measure::{MeasureEnd, PhaseEnd, RunEvent, RunState, Second};

    fn result() -> (RunResult, Head) {
        let phases = vec![PhasePlan { name: "a\"b\\c\n".to_owned(), measured: true, ..PhasePlan::default() }];
        let head = Head { phases, version: "1".to_owned(), ..Head::default() };
        let mut second = Second::default();
        second.clients.counts.requests = 3;
        second.clients.counts.ok = 2;
        let mut times = Histogram::new(3).unwrap();
        [90, 240, 70_000_000].into_iter().for_each(|us| times.record(us).unwrap());
        let buckets = measure::Buckets::of(&times, measure::Digits::Two);
        second.metrics.insert(TimeMetric::Service, buckets);
        let mut state = RunState::default();
        state.apply(&RunEvent::Head(Box::new(head.clone())));
        state.apply(&RunEvent::Second(Box::new(second)));
        let phases = vec![PhaseEnd::default()];
        state.apply(&RunEvent::End(Box::new(MeasureEnd { phases, ..MeasureEnd::default() })));
        (state.result(), head)
    }

    #[test]
    fn samples_are_cumulative_and_labels_cannot_break_out() {
        let (result, head) = result();
        let text = text(&result, &head, Format::Prometheus);
        let phase = r#"phase="a\"b\\c\n""#;
        for line in [
            "# TYPE wringer_requests_total counter".to_owned(),
            format!("wringer_requests_total{{{phase},outcome=\"ok\"}} 2"),
            format!("wringer_service_time_seconds_bucket{{{phase},le=\"0.0001\"}} 1"),
            format!("wringer_service_time_seconds_bucket{{{phase},le=\"0.00025\"}} 2"),
            format!("wringer_service_time_seconds_bucket{{{phase},le=\"60\"}} 2"),
            format!("wringer_service_time_seconds_bucket{{{phase},le=\"+Inf\"}} 3"),
            format!("wringer_service_time_seconds_count{{{phase}}} 3"),
        ] {
            assert!(text.lines().any(|one| one == line), "{line} in {text}");
        }
    }

    #[test]
    fn openmetrics_names_families_without_total_and_ends() {
        let (result, head) = result();
        let text = text(&result, &head, Format::OpenMetrics);
        assert!(text.contains("# TYPE wringer_requests counter\n"));
        assert!(text.contains("\nwringer_requests_total{") && text.ends_with("\n# EOF\n"));
    }

    /// The board of docs/src/grafana, whose queries are also asked of a Prometheus where one is installed (crates/wringer/tests).
    #[test]
    fn every_metric_that_the_board_asks_for_is_exported() {
        let board = include_str!("../../../../docs/src/grafana/wringer.json");
        let (result, head) = result();
        let families = families(&result, &head, Names::Wringer);
        let names = families.iter().flat_map(|family| {
            // Native histograms are asked for by their name, classic ones by that of their buckets.
            let bucket = (family.kind == Kind::Histogram).then(|| format!("{}_bucket", family.name));
            bucket.into_iter().chain([family.sample_name()])
        });
        let known: Vec<String> = names.collect();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let asked: Vec<&str> =
            board.split(|c| !is_word(c)).filter(|word| word.starts_with("wringer_")).collect();
        assert!(asked.len() > 20);
        for name in asked {
            assert!(known.iter().any(|known| known == name), "{name} is in the board and not exported");
        }
    }

    #[test]
    fn protocol_buffers_have_native_and_classic_buckets_and_otlp_the_same_count() {
        let (result, head) = result();
        let families = families(&result, &head, Names::Wringer);
        let bytes = protobuf(&families);
        let holds = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
        assert!(holds(b"wringer_service_time_seconds") && holds(b"wringer_requests_total"));
        // Field 5, schema 4 as zigzag.
        assert!(holds(&[5 << 3, 8]), "a native histogram");
        let span = otlp::Span { began_ns: 1, now_ns: 2 };
        let traced = |phase: &str, trace_id: &str| measure::TracedRequest {
            trace_id: trace_id.to_owned(),
            phase: phase.to_owned(),
            ..measure::TracedRequest::default()
        };
        let id = b"0123456789abcdef";
        let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let elsewhere = b"fedcba9876543210";
        let of_elsewhere: String = elsewhere.iter().map(|byte| format!("{byte:02x}")).collect();
        let slowest = [traced(&head.phases[0].name, &hex), traced("elsewhere", &of_elsewhere)];
        let otlp = otlp::request(&families, &head, span, &slowest);
        let holds = |needle: &[u8]| otlp.windows(needle.len()).any(|window| window == needle);
        assert!(
            holds(b"http.client.request.duration")
                && holds(b"wringer.send.lateness")
                && holds(b"service.name")
        );
        // Field 5 of an exemplar, of both metrics of service times.
        let exemplars = |id: &[u8]| {
            let field = [&[5 << 3 | 2, 16][..], id].concat();
            otlp.windows(field.len()).filter(|window| *window == field).count()
        };
        assert_eq!((exemplars(id), exemplars(elsewhere)), (2, 0));
    }

    #[test]
    fn k6s_boards_find_their_names() {
        let (result, head) = result();
        let text = text_of(&families(&result, &head, Names::K6), Format::Prometheus);
        for name in [
            "k6_http_reqs_total 3",
            "k6_http_req_duration_seconds_count 3",
            "k6_http_req_duration_p99 ",
            "k6_http_req_failed_rate ",
            "k6_dropped_iterations_total 0",
            "k6_vus 0",
        ] {
            assert!(text.contains(&format!("\n{name}")), "{name} in {text}");
        }
    }
}
