//! Metrics of a run, whoever reads them.

use measure::{Head, Histogram, MAX_LABELS, PhaseResult, RunResult, TimeMetric};

/// Metrics of one name.
#[derive(Debug, Clone)]
pub struct Family {
    /// Their name, of counters without `_total`.
    pub name: String,
    /// Their description.
    pub help: &'static str,
    /// How they behave.
    pub kind: Kind,
    /// One for each set of labels.
    pub samples: Vec<Sample>,
}

/// How metrics behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Times.
    Histogram,
}

/// A metric.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Names and values.
    pub labels: Labels,
    /// Its value.
    pub value: FamilyValue,
}

/// The value of a metric.
#[derive(Debug, Clone)]
pub enum FamilyValue {
    /// Of counters and gauges.
    Number(f64),
    /// Times in µs.
    Times(Histogram),
}

/// Whose names metrics have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Names {
    /// Our own.
    #[default]
    Wringer,
    /// Those of k6's output for Prometheus, for boards made for it.
    K6,
}

type Labels = Vec<(&'static str, String)>;

impl Kind {
    /// As Prometheus calls it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}

impl Family {
    /// The name of its samples.
    pub fn sample_name(&self) -> String {
        if self.kind == Kind::Counter { format!("{}_total", self.name) } else { self.name.clone() }
    }
}

/// All metrics of a run as far as it is known.
pub fn families(result: &RunResult, head: &Head, names: Names) -> Vec<Family> {
    let mut all = Gathered(Vec::new());
    match names {
        Names::Wringer => {
            all.run(result, head);
            all.requests(result);
            all.connections(result);
            all.times(result);
            all.steps(result, head);
            all.cache(result);
            all.now(result, head);
        }
        Names::K6 => all.k6(result),
    }
    all.0
}

struct Gathered(Vec<Family>);

/// Kinds of times with a family of their own, and what they are.
const TIMES: [(&str, TimeMetric, &str); 8] = [
    ("wringer_service_time_seconds", TimeMetric::Service, "From the send to the end of good answers."),
    (
        "wringer_response_time_seconds",
        TimeMetric::Response,
        "From the intended send to the end of good answers.",
    ),
    ("wringer_first_byte_seconds", TimeMetric::FirstByte, "From the send to the first byte of good answers."),
    ("wringer_connect_seconds", TimeMetric::Connect, "Opening connections."),
    ("wringer_tls_handshake_seconds", TimeMetric::Tls, "TLS handshakes."),
    ("wringer_lookup_seconds", TimeMetric::Lookup, "Looking up names."),
    ("wringer_failure_time_seconds", TimeMetric::Failure, "From the send until requests had failed."),
    (
        "wringer_send_lateness_seconds",
        TimeMetric::Lateness,
        "From when requests were due until they were taken up.",
    ),
];

impl Gathered {
    fn run(&mut self, result: &RunResult, head: &Head) {
        let about = vec![("version", head.version.clone()), ("io", result.backend.clone())];
        self.gauges("wringer_build_info", "The program.", [(about, 1.0)]);
        let about = vec![
            ("run", head.id.clone()),
            ("command", head.door.clone()),
            ("target", head.target.clone().unwrap_or_default()),
            ("seed", head.seed.to_string()),
        ];
        self.gauges("wringer_run_info", "The run.", [(about, 1.0)]);
        let began = [(vec![], head.started_unix_s)];
        self.gauges("wringer_run_start_time_seconds", "When it began, since 1970.", began);
    }

    fn requests(&mut self, result: &RunResult) {
        self.count("wringer_requests_begun", "Requests begun.", result, |counts| counts.requests);
        self.counters("wringer_requests", "Requests that have ended, by how.", result, |phase| {
            let counts = phase.counts();
            let ends = [
                ("ok", counts.ok),
                ("check_failed", counts.check_failed),
                ("injected", counts.injected),
                ("aborted", counts.aborted),
                ("failed", counts.failed),
                ("unfinished", counts.unfinished),
            ];
            ends.map(|(outcome, count)| (vec![("outcome", outcome.to_owned())], count)).into()
        });
        self.count("wringer_overflow", "Requests that were due and not sent.", result, |counts| {
            counts.overflow
        });
        self.count("wringer_resent", "Requests sent again.", result, |counts| counts.resent);
        self.count(
            "wringer_stray",
            "Times that bytes came which no request had asked for.",
            result,
            |counts| counts.stray,
        );
        self.count(
            "wringer_stray_bytes",
            "Bytes that came and that no request had asked for.",
            result,
            |counts| counts.stray_bytes,
        );
        self.count(
            "wringer_idle_timeouts",
            "Connections that the server ended with 408 while nothing was under way.",
            result,
            |counts| counts.idle_timeouts,
        );
        let help = "Requests without a good answer, by kind and stage.";
        self.counters("wringer_failures", help, result, |phase| {
            let failures = phase.tally.failures_by_stage().into_iter().map(|(failure, count)| {
                let labels = [("kind", failure.kind.name()), ("stage", failure.stage.name())];
                (labels.map(|(name, value)| (name, value.to_owned())).into(), count)
            });
            failures.collect()
        });
        self.counters("wringer_faults", "Answers that were false, by fault.", result, |phase| {
            let faults = phase.tally.faults();
            faults.map(|(fault, count)| (vec![("fault", fault.name().to_owned())], count)).collect()
        });
        self.counters("wringer_answers", "Answers by status.", result, |phase| {
            let statuses = phase.tally.statuses();
            statuses.map(|(status, count)| (vec![("status", status.to_string())], count)).collect()
        });
        self.counters("wringer_codes", "Answers by the code in them.", result, |phase| {
            let codes = phase.tally.codes.list().into_iter().map(|code| {
                let text = crate::harmless(&String::from_utf8_lossy(code.text)).into_owned();
                (vec![("code", text), ("good", code.good.to_string())], code.count)
            });
            codes.collect()
        });
    }

    fn connections(&mut self, result: &RunResult) {
        self.count("wringer_connections", "Connections opened.", result, |counts| counts.connections);
        self.counters("wringer_tls_handshakes", "TLS handshakes, by kind.", result, |phase| {
            let counts = phase.counts();
            let kinds = [("full", counts.handshakes_full), ("resumed", counts.handshakes_resumed)];
            kinds.map(|(kind, count)| (vec![("kind", kind.to_owned())], count)).into()
        });
        self.count("wringer_sent_bytes", "Bytes of requests.", result, |counts| counts.sent_bytes);
        self.counters("wringer_received_bytes", "Bytes of answers.", result, |phase| {
            let counts = phase.counts();
            let parts = [("head", counts.head_bytes), ("body", counts.body_bytes)];
            parts.map(|(part, bytes)| (vec![("part", part.to_owned())], bytes)).into()
        });
    }

    fn cache(&mut self, result: &RunResult) {
        self.counters("wringer_cache_answers", "Answers by what the cache did.", result, |phase| {
            let counts = phase.counts();
            let results = [
                ("hit", counts.hits),
                ("miss", counts.misses),
                ("revalidated", counts.revalidated),
                ("collapsed", counts.collapsed),
            ];
            results.map(|(result, count)| (vec![("result", result.to_owned())], count)).into()
        });
        self.counters("wringer_origin_requests", "Requests that the origin saw.", result, |phase| {
            phase.origin.iter().map(|origin| (vec![], origin.requests)).collect()
        });
        self.counters("wringer_origin_body_bytes", "Body bytes that the origin sent.", result, |phase| {
            phase.origin.iter().map(|origin| (vec![], origin.body_bytes)).collect()
        });
        self.counters("wringer_origin_connections", "Connections that the origin took.", result, |phase| {
            phase.origin.iter().map(|origin| (vec![], origin.connections)).collect()
        });
    }

    fn times(&mut self, result: &RunResult) {
        for (name, metric, help) in TIMES {
            let samples = result.phases.iter().map(|phase| {
                (vec![("phase", phase.name.clone())], FamilyValue::Times(phase.tally.metric(metric)))
            });
            self.family(name, help, Kind::Histogram, samples);
        }
    }

    /// Requests and transactions with a label. They are part of those of the phase, and sum to it only where all have one.
    fn steps(&mut self, result: &RunResult, head: &Head) {
        let mut ends = Vec::new();
        let mut times = Vec::new();
        for (nth, phase) in result.phases.iter().enumerate() {
            let names = head.phases.get(nth).map_or(&[][..], |phase| &phase.labels);
            for (label, figures) in phase.tally.labels.iter() {
                let place = usize::from(label.0);
                let name = names.get(place).filter(|_| place < MAX_LABELS).map_or("other", String::as_str);
                let labels = vec![("phase", phase.name.clone()), ("step", name.to_owned())];
                let bad = figures.ended.saturating_sub(figures.ok);
                for (outcome, count) in [("ok", figures.ok), ("other", bad)] {
                    let labels = labels.iter().cloned().chain([("outcome", outcome.to_owned())]).collect();
                    ends.push((labels, FamilyValue::Number(count as f64)));
                }
                times.push((labels, FamilyValue::Times(figures.response.clone())));
            }
        }
        self.family("wringer_step_requests", "What has ended of each step, by how.", Kind::Counter, ends);
        let help = "From the intended send to the end, of each step.";
        self.family("wringer_step_response_time_seconds", help, Kind::Histogram, times);
    }

    /// Adds the values at the end of the last second.
    fn now(&mut self, result: &RunResult, head: &Head) {
        let last = result.timeline.rows.last();
        let in_flight = last.map_or(0, |row| row.in_flight) as f64;
        self.gauges("wringer_requests_in_flight", "Requests under way.", [(vec![], in_flight)]);
        let planned = last.and_then(|row| head.phases.get(row.phase as usize)).map(|phase| {
            let measured = phase.measured.to_string();
            (vec![("phase", phase.name.clone()), ("measured", measured)], 1.0)
        });
        self.gauges("wringer_phase", "The phase under way.", planned);
        let predicted = result
            .phases
            .iter()
            .filter_map(|phase| Some((vec![("phase", phase.name.clone())], phase.predicted_hit_ratio?)));
        let predicted: Vec<_> = predicted.collect();
        self.gauges(
            "wringer_predicted_hit_ratio",
            "Hit ratio to be expected, once the run is over.",
            predicted,
        );
        let cpu =
            result.workers.iter().map(|worker| (vec![("worker", worker.worker.to_string())], worker.share));
        let cpu: Vec<_> = cpu.collect();
        self.gauges(
            "wringer_worker_cpu_ratio",
            "Share of a core that each worker used while measuring.",
            cpu,
        );
    }

    /// The metrics that k6's boards look for. Its duration leaves out connecting, as our service time does.
    fn k6(&mut self, result: &RunResult) {
        let measured = result.measured();
        let counts = measured.counts();
        let received = measure::shares::received_bytes(counts);
        for (name, help, count) in [
            ("k6_http_reqs", "Requests begun.", counts.requests),
            ("k6_iterations", "Requests that have ended.", measure::shares::finished(counts)),
            ("k6_dropped_iterations", "Requests that were due and not sent.", counts.overflow),
            ("k6_data_sent", "Bytes of requests.", counts.sent_bytes),
            ("k6_data_received", "Bytes of answers.", received),
        ] {
            self.family(name, help, Kind::Counter, [(vec![], FamilyValue::Number(count as f64))]);
        }
        for (name, p99, metric) in [
            ("k6_http_req_duration_seconds", "k6_http_req_duration_p99", TimeMetric::Service),
            ("k6_http_req_waiting_seconds", "k6_http_req_waiting_p99", TimeMetric::FirstByte),
            ("k6_http_req_connecting_seconds", "k6_http_req_connecting_p99", TimeMetric::Connect),
            ("k6_http_req_tls_handshaking_seconds", "k6_http_req_tls_handshaking_p99", TimeMetric::Tls),
        ] {
            let times = measured.tally.metric(metric);
            let at_99 = if times.is_empty() { 0.0 } else { times.value_at_quantile(0.99) as f64 / 1e6 };
            self.gauges(p99, "99th percentile in seconds.", [(vec![], at_99)]);
            self.family(name, "Times in seconds.", Kind::Histogram, [(vec![], FamilyValue::Times(times))]);
        }
        let ended = measure::shares::finished(counts);
        let failed = ended.saturating_sub(counts.ok) as f64 / ended.max(1) as f64;
        self.gauges(
            "k6_http_req_failed_rate",
            "Share of requests without a good answer.",
            [(vec![], failed)],
        );
        let users = result.timeline.rows.last().map_or(0, |row| row.in_flight) as f64;
        self.gauges("k6_vus", "Requests under way.", [(vec![], users)]);
    }

    fn gauges(&mut self, name: &str, help: &'static str, samples: impl IntoIterator<Item = (Labels, f64)>) {
        let samples = samples.into_iter().map(|(labels, value)| (labels, FamilyValue::Number(value)));
        self.family(name, help, Kind::Gauge, samples);
    }

    fn count(
        &mut self,
        name: &str,
        help: &'static str,
        result: &RunResult,
        count: impl Fn(&measure::Counts) -> u64,
    ) {
        self.counters(name, help, result, |phase| vec![(vec![], count(phase.counts()))]);
    }

    /// A counter of each phase.
    fn counters(
        &mut self,
        name: &str,
        help: &'static str,
        result: &RunResult,
        samples: impl Fn(&PhaseResult) -> Vec<(Labels, u64)>,
    ) {
        let of_phase = |phase: &PhaseResult| {
            let own = samples(phase).into_iter();
            let all = own.map(|(labels, count)| {
                let labels = [("phase", phase.name.clone())].into_iter().chain(labels).collect();
                (labels, FamilyValue::Number(count as f64))
            });
            all.collect::<Vec<(Labels, FamilyValue)>>()
        };
        let samples: Vec<_> = result.phases.iter().flat_map(of_phase).collect();
        self.family(name, help, Kind::Counter, samples);
    }

    fn family(
        &mut self,
        name: &str,
        help: &'static str,
        kind: Kind,
        samples: impl IntoIterator<Item = (Labels, FamilyValue)>,
    ) {
        let samples = samples.into_iter().map(|(labels, value)| Sample { labels, value }).collect();
        self.0.push(Family { name: name.to_owned(), help, kind, samples });
    }
}
