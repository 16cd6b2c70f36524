//! A run as metrics: Prometheus' text format (version 0.0.4) and OpenMetrics 1.0. Counters are cumulative, times in seconds,
//! labels bounded: phase, outcome, kind and stage, never a URL.

use measure::{Clock, Head, Histogram, PhaseResult, RunResult};
use std::fmt::{Display, Write};

/// Upper bounds of the buckets of all histograms, in µs.
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
    let mut page = Page { text: String::new(), format };
    page.run(result, head);
    page.requests(result);
    page.connections(result);
    page.times(result);
    page.cache(result);
    page.now(result);
    if format == Format::OpenMetrics {
        page.text += "# EOF\n";
    }
    page.text
}

/// What is written.
struct Page {
    text: String,
    format: Format,
}

/// Labels of a sample: name and value.
type Labels<'a> = [(&'a str, &'a str)];

impl Page {
    fn run(&mut self, result: &RunResult, head: &Head) {
        self.family("wringer_build_info", "gauge", "The program.");
        self.sample("wringer_build_info", &[("version", &head.version), ("io", &result.backend)], 1);
        self.family("wringer_run_info", "gauge", "The run.");
        let (target, seed) = (head.target.as_deref().unwrap_or_default(), head.seed.to_string());
        let labels = [("run", &*head.id), ("command", &*head.door), ("target", target), ("seed", &*seed)];
        self.sample("wringer_run_info", &labels, 1);
        self.family("wringer_run_start_time_seconds", "gauge", "When it began, since 1970.");
        self.sample("wringer_run_start_time_seconds", &[], head.started_unix_s);
    }

    fn requests(&mut self, result: &RunResult) {
        self.counter("wringer_requests_begun", "Requests begun.", result, |phase| {
            vec![(vec![], phase.counts().requests)]
        });
        self.counter("wringer_requests", "Requests that have ended, by how.", result, |phase| {
            let counts = phase.counts();
            let ends = [
                ("fine", counts.fine),
                ("faulty", counts.faulty),
                ("injected", counts.injected),
                ("aborted", counts.aborted),
                ("failed", counts.failed),
                ("unfinished", counts.unfinished),
            ];
            ends.map(|(outcome, count)| (vec![("outcome", outcome.to_owned())], count)).into()
        });
        self.counter("wringer_overflow", "Requests that were due and not sent.", result, |phase| {
            vec![(vec![], phase.counts().overflow)]
        });
        self.counter("wringer_resent", "Requests sent again.", result, |phase| {
            vec![(vec![], phase.counts().resent)]
        });
        self.counter(
            "wringer_failures",
            "Requests without a good answer, by kind and stage.",
            result,
            |phase| {
                let failures = phase.tally.failures().map(|(failure, count)| {
                    let labels = [("kind", failure.kind.name()), ("stage", failure.stage.name())];
                    (labels.map(|(name, value)| (name, value.to_owned())).into(), count)
                });
                failures.collect()
            },
        );
        self.counter("wringer_faults", "Answers that were false, by fault.", result, |phase| {
            phase
                .tally
                .faults()
                .map(|(fault, count)| (vec![("fault", fault.name().to_owned())], count))
                .collect()
        });
        self.counter("wringer_answers", "Answers by status.", result, |phase| {
            let statuses = phase.tally.statuses();
            statuses.map(|(status, count)| (vec![("status", status.to_string())], count)).collect()
        });
    }

    fn connections(&mut self, result: &RunResult) {
        self.counter("wringer_connections", "Connections opened.", result, |phase| {
            vec![(vec![], phase.counts().connections)]
        });
        self.counter("wringer_tls_handshakes", "TLS handshakes, by kind.", result, |phase| {
            let counts = phase.counts();
            let kinds = [("full", counts.handshakes_full), ("resumed", counts.handshakes_resumed)];
            kinds.map(|(kind, count)| (vec![("kind", kind.to_owned())], count)).into()
        });
        self.counter("wringer_sent_bytes", "Bytes of requests.", result, |phase| {
            vec![(vec![], phase.counts().sent_bytes)]
        });
        self.counter("wringer_received_bytes", "Bytes of answers.", result, |phase| {
            let counts = phase.counts();
            let parts = [("head", counts.head_bytes), ("body", counts.body_bytes)];
            parts.map(|(part, bytes)| (vec![("part", part.to_owned())], bytes)).into()
        });
    }

    fn cache(&mut self, result: &RunResult) {
        self.counter("wringer_cache_answers", "Answers by what the cache did.", result, |phase| {
            let counts = phase.counts();
            let results = [
                ("hit", counts.hits),
                ("miss", counts.misses),
                ("revalidated", counts.revalidated),
                ("collapsed", counts.collapsed),
            ];
            results.map(|(result, count)| (vec![("result", result.to_owned())], count)).into()
        });
        self.counter("wringer_origin_requests", "Requests that the origin saw.", result, |phase| {
            phase.origin.iter().map(|origin| (vec![], origin.requests)).collect()
        });
        self.counter("wringer_origin_body_bytes", "Body bytes that the origin sent.", result, |phase| {
            phase.origin.iter().map(|origin| (vec![], origin.body_bytes)).collect()
        });
    }

    fn times(&mut self, result: &RunResult) {
        let families = [
            ("wringer_service_time_seconds", Clock::Service, "From the send to the end of good answers."),
            (
                "wringer_response_time_seconds",
                Clock::Response,
                "From the intended send to the end of good answers.",
            ),
            (
                "wringer_first_byte_seconds",
                Clock::FirstByte,
                "From the send to the first byte of good answers.",
            ),
            ("wringer_connect_seconds", Clock::Connect, "Opening connections."),
            ("wringer_tls_handshake_seconds", Clock::Tls, "TLS handshakes."),
            ("wringer_lookup_seconds", Clock::Lookup, "Looking up names."),
            ("wringer_failure_time_seconds", Clock::Failure, "From the send until requests had failed."),
            (
                "wringer_send_lateness_seconds",
                Clock::Lateness,
                "From when requests were due until they were taken up.",
            ),
        ];
        for (name, clock, help) in families {
            self.family(name, "histogram", help);
            for phase in &result.phases {
                self.histogram(name, &phase.name, &phase.tally.clock(clock));
            }
        }
    }

    fn histogram(&mut self, name: &str, phase: &str, times: &Histogram) {
        let (bucket, mut below) = (format!("{name}_bucket"), 0);
        let mut steps = times.iter_recorded().peekable();
        for bound in BOUNDS_US {
            while let Some(step) = steps.next_if(|step| step.value_iterated_to() <= bound) {
                below += step.count_at_value();
            }
            let bound = (bound as f64 / 1e6).to_string();
            self.sample(&bucket, &[("phase", phase), ("le", &bound)], below);
        }
        self.sample(&bucket, &[("phase", phase), ("le", "+Inf")], times.len());
        let sum = times.mean() * times.len() as f64 / 1e6;
        self.sample(&format!("{name}_sum"), &[("phase", phase)], sum);
        self.sample(&format!("{name}_count"), &[("phase", phase)], times.len());
    }

    /// What is so at the end of the last second.
    fn now(&mut self, result: &RunResult) {
        let last = result.timeline.rows.last();
        self.family("wringer_requests_in_flight", "gauge", "Requests under way.");
        self.sample("wringer_requests_in_flight", &[], last.map_or(0, |row| row.in_flight));
        self.family(
            "wringer_worker_cpu_ratio",
            "gauge",
            "Share of a core that each worker used while measuring.",
        );
        for worker in &result.workers {
            self.sample("wringer_worker_cpu_ratio", &[("worker", &worker.worker.to_string())], worker.share);
        }
    }

    /// A counter of each phase.
    fn counter(
        &mut self,
        name: &str,
        help: &str,
        result: &RunResult,
        samples: impl Fn(&PhaseResult) -> Vec<(Vec<(&'static str, String)>, u64)>,
    ) {
        let total = format!("{name}_total");
        // Prometheus names the samples, OpenMetrics what they are samples of.
        self.family(if self.format == Format::Prometheus { &total } else { name }, "counter", help);
        for phase in &result.phases {
            for (labels, count) in samples(phase) {
                let own = labels.iter().map(|(name, value)| (*name, value.as_str()));
                let all: Vec<_> = [("phase", phase.name.as_str())].into_iter().chain(own).collect();
                self.sample(&total, &all, count);
            }
        }
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &Labels<'_>, value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.text, "{name}{labels} {value}");
    }
}

/// The value of a label: quotes, backslashes and line ends escaped, other control characters made visible.
fn escaped(value: &str) -> String {
    let shown = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    crate::harmless(&shown).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::stream::PhasePlan;
    use measure::{End, PhaseEnd, RunEvent, RunState, Second};

    fn result() -> (RunResult, Head) {
        let phases = vec![PhasePlan { name: "a\"b\\c\n".to_owned(), measured: true, ..PhasePlan::default() }];
        let head = Head { phases, version: "1".to_owned(), ..Head::default() };
        let mut second = Second::default();
        second.clients.counts.requests = 3;
        second.clients.counts.fine = 2;
        let mut times = Histogram::new(3).unwrap();
        [90, 240, 70_000_000].into_iter().for_each(|us| times.record(us).unwrap());
        let buckets = measure::Buckets::of(&times, measure::Digits::Two);
        second.clocks.insert(Clock::Service, buckets);
        let mut state = RunState::default();
        state.apply(&RunEvent::Head(Box::new(head.clone())));
        state.apply(&RunEvent::Second(Box::new(second)));
        let phases = vec![PhaseEnd::default()];
        state.apply(&RunEvent::End(Box::new(End { phases, ..End::default() })));
        (state.result(), head)
    }

    #[test]
    fn samples_are_cumulative_and_labels_cannot_break_out() {
        let (result, head) = result();
        let text = text(&result, &head, Format::Prometheus);
        let phase = r#"phase="a\"b\\c\n""#;
        for line in [
            "# TYPE wringer_requests_total counter".to_owned(),
            format!("wringer_requests_total{{{phase},outcome=\"fine\"}} 2"),
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
}
