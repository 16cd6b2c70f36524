//! A run as JSON for programs: everything that was counted, in a documented and versioned schema.
//!
//! `docs/src/json.md` describes every field; a test compares the two. Names tell units: counts are plain, rates end
//! in `_per_s`, times in `_s` or `_us`, sizes in `_bytes`, ratios lie between 0 and 1. What is not known is null.

use crate::good;
use crate::labels::{self, LabelLine};
use crate::text::{Context, measured};
use measure::http3::CloseCount;
use measure::shared::{Compressed, GoAwayCount};
use measure::shares::received_bytes;
use measure::{
    AfterReset, AgentUse, Censored, CodeKind, CountedCode, Counts, Evidence, Failure, Fairness, Histogram,
    Http2Counts, Http3Counts, Judged, LostRequest, OriginCounts, OriginUse, PhaseResult, QuicCounts, Row,
    RunResult, RunVerdict, SelfCheck, SharedCounts, TargetProcesses, TimeMetric, TracedRequest, Watched,
    WorkerUse, http2, http3,
};
use serde::{Serialize, Serializer};

/// Name of the schema.
pub const SCHEMA: &str = "wringer-run";
/// Version of the schema: raised when a field changes its meaning or goes away, not when one is added.
pub const SCHEMA_VERSION: u32 = 4;

/// The run as indented JSON with a line end.
pub fn report(result: &RunResult, context: &Context<'_>) -> String {
    let measured = measured(result, context.plan);
    let document = JsonDocument::new(result, context, &measured);
    // Keys are strings and numbers that JSON lacks become null, so nothing here can fail.
    let text =
        serde_json::to_string_pretty(&document).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
    crate::harmless_json(text) + "\n"
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct JsonDocument<'a> {
    schema: &'static str,
    schema_version: u32,
    run: JsonRun<'a>,
    target: JsonTarget<'a>,
    verdict: Option<RunVerdict>,
    exit: Option<u8>,
    thresholds: &'a [Judged],
    measured: JsonPhase<'a>,
    phases: Vec<JsonPhase<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<LabelLine>,
    timeline: Vec<Second<'a>>,
    origin: Option<&'a OriginCounts>,
    workers: &'a [WorkerUse],
    #[serde(skip_serializing_if = "<[AgentUse]>::is_empty")]
    agents: &'a [AgentUse],
    #[serde(skip_serializing_if = "<[OriginUse]>::is_empty")]
    origins: &'a [OriginUse],
    self_check: &'a SelfCheck,
    watched: &'a [Watched],
    processes: &'a TargetProcesses,
    evidence_file: Option<&'a str>,
    evidence: &'a [Evidence],
    lost: &'a [LostRequest],
    #[serde(skip_serializing_if = "<[TracedRequest]>::is_empty")]
    slowest: &'a [TracedRequest],
    notes: &'a [String],
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, serde_json::Value>"))]
    plan: plan::Tree,
}

impl<'a> JsonDocument<'a> {
    fn new(result: &'a RunResult, context: &Context<'a>, measured: &'a PhaseResult) -> JsonDocument<'a> {
        JsonDocument {
            schema: SCHEMA,
            schema_version: SCHEMA_VERSION,
            run: JsonRun::new(result, context),
            target: JsonTarget::new(context, measured),
            verdict: context.plan.load.as_ref().map(|_| result.verdict(measured)),
            exit: context.exit,
            thresholds: &result.thresholds,
            measured: JsonPhase::new(measured),
            phases: result.phases.iter().map(JsonPhase::new).collect(),
            labels: labels::lines(result, context.plan),
            timeline: result.timeline.rows.iter().map(Second::new).collect(),
            origin: result.origin.as_ref(),
            workers: &result.workers,
            agents: &result.agents,
            origins: &result.origins,
            self_check: &result.self_check,
            watched: &result.watched,
            processes: &result.processes,
            evidence_file: context.evidence_file,
            evidence: &result.evidence,
            lost: &result.lost,
            slowest: &result.slowest,
            notes: &result.notes,
            plan: context.plan.told().tree(),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct JsonRun<'a> {
    version: &'a str,
    command: &'a str,
    seed: u64,
    started_unix_s: f64,
    duration_s: f64,
    interrupted: bool,
    /// False where somebody ended the run before its time, or its last record is missing.
    complete: bool,
    threads: u32,
    backend: &'a str,
    cpu_us_per_request: Option<f64>,
}

impl<'a> JsonRun<'a> {
    fn new(result: &'a RunResult, context: &Context<'a>) -> JsonRun<'a> {
        JsonRun {
            version: context.version,
            command: context.command,
            seed: context.plan.seed,
            started_unix_s: context.started_unix_s,
            duration_s: result.took.as_secs_f64(),
            interrupted: result.interrupted,
            complete: !result.was_ended_by_hand(),
            threads: context.threads,
            backend: &result.backend,
            cpu_us_per_request: result.cpu_us_per_request(),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct JsonTarget<'a> {
    name: Option<&'a str>,
    address: Option<&'a str>,
    cpu_s: Option<f64>,
    cpu_us_per_answer: Option<f64>,
}

impl<'a> JsonTarget<'a> {
    fn new(context: &Context<'a>, measured: &PhaseResult) -> JsonTarget<'a> {
        JsonTarget {
            name: context.target,
            address: context.plan.load.as_ref().and_then(|load| load.target.as_deref()),
            cpu_s: context.target_cpu,
            cpu_us_per_answer: context.target_cpu.and_then(|cpu_s| measured.cpu_us_per_answer(cpu_s)),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct JsonPhase<'a> {
    name: &'a str,
    measured: bool,
    began_s: f64,
    duration_s: f64,
    paced_s: f64,
    counts: &'a Counts,
    rates: Rates,
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, TimeSummary>"))]
    latency: Latency<'a>,
    statuses: Vec<StatusCount>,
    failures: Vec<FailureCount>,
    faults: Vec<FaultCount>,
    codes: Vec<CodeCount>,
    http2: Option<JsonHttp2<'a>>,
    http3: Option<Http3<'a>>,
    cache: Cache,
    origin: Option<&'a OriginCounts>,
    origin_until_s: Option<f64>,
    after_reset: Option<AfterResetFigures>,
}

impl<'a> JsonPhase<'a> {
    fn new(phase: &'a PhaseResult) -> JsonPhase<'a> {
        let tally = &phase.tally;
        JsonPhase {
            name: &phase.name,
            measured: phase.measured,
            began_s: phase.began.as_secs_f64(),
            duration_s: phase.took.as_secs_f64(),
            paced_s: phase.paced_time().as_secs_f64(),
            counts: &tally.counts,
            rates: Rates::new(phase),
            latency: Latency(phase),
            statuses: tally.statuses().map(|(status, count)| StatusCount { status, count }).collect(),
            failures: tally.failures().map(|(failure, count)| FailureCount::new(failure, count)).collect(),
            faults: tally.faults().map(|(fault, count)| FaultCount { fault: fault.name(), count }).collect(),
            codes: tally.codes.list().iter().map(CodeCount::new).collect(),
            http2: tally.http2().map(JsonHttp2::new),
            http3: tally.http3().map(Http3::new),
            cache: Cache::new(phase),
            origin: phase.origin.as_ref(),
            origin_until_s: phase.origin_until.map(|until| until.as_secs_f64()),
            after_reset: phase.after_reset.as_ref().map(AfterResetFigures::new),
        }
    }
}

/// Figures of the origin's work on requests that clients had broken off.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct AfterResetFigures {
    broken_off: u64,
    ended_early: u64,
    ended_early_p50_us: Option<u64>,
    ended_early_max_us: Option<u64>,
    whole_after: u64,
    whole_after_bytes: u64,
    whole_before: u64,
    under_way: u64,
    not_seen: u64,
}

impl AfterResetFigures {
    fn new(seen: &AfterReset) -> AfterResetFigures {
        let delay = seen.delay_us();
        AfterResetFigures {
            broken_off: seen.broken_off,
            ended_early: seen.ended_early,
            ended_early_p50_us: delay.map(|(median, _)| median),
            ended_early_max_us: delay.map(|(_, longest)| longest),
            whole_after: seen.whole_after,
            whole_after_bytes: seen.whole_after_bytes,
            whole_before: seen.whole_before,
            under_way: seen.under_way,
            not_seen: seen.not_seen,
        }
    }
}

/// Counts that only HTTP/2 has, under the names of RFC 9113.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct JsonHttp2<'a> {
    frames_received: JsonNamed<'a>,
    frames_sent: JsonNamed<'a>,
    resets_received: JsonNamed<'a>,
    resets_sent: JsonNamed<'a>,
    #[serde(flatten)]
    shared: JsonShared<'a>,
}

impl<'a> JsonHttp2<'a> {
    fn new(counts: &'a Http2Counts) -> JsonHttp2<'a> {
        JsonHttp2 {
            frames_received: JsonNamed(&http2::FRAMES, &counts.received),
            frames_sent: JsonNamed(&http2::FRAMES, &counts.sent),
            resets_received: JsonNamed(&http2::CODES, &counts.resets_received),
            resets_sent: JsonNamed(&http2::CODES, &counts.resets_sent),
            shared: JsonShared::new(&counts.shared),
        }
    }
}

/// Counts that only HTTP/3 has, under the names of RFC 9114, and those of QUIC below.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Http3<'a> {
    frames_received: JsonNamed<'a>,
    frames_sent: JsonNamed<'a>,
    resets_received: JsonNamed<'a>,
    resets_sent: JsonNamed<'a>,
    #[serde(flatten)]
    shared: JsonShared<'a>,
    quic: Quic,
    closes: Vec<NamedClose<'a>>,
}

impl<'a> Http3<'a> {
    fn new(counts: &'a Http3Counts) -> Http3<'a> {
        let closes = counts.closes.iter().map(|close| NamedClose { name: close.code_name(), close });
        Http3 {
            frames_received: JsonNamed(&http3::FRAMES, &counts.received),
            frames_sent: JsonNamed(&http3::FRAMES, &counts.sent),
            resets_received: JsonNamed(&http3::CODES, &counts.resets_received),
            resets_sent: JsonNamed(&http3::CODES, &counts.resets_sent),
            shared: JsonShared::new(&counts.shared),
            quic: Quic::new(&counts.quic),
            closes: closes.collect(),
        }
    }
}

/// Connections that were closed alike, with the name of the code.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct NamedClose<'a> {
    name: String,
    #[serde(flatten)]
    close: &'a CloseCount,
}

/// Counts that HTTP/2 and HTTP/3 have.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct JsonShared<'a> {
    blocks: u64,
    known_blocks: u64,
    received_fields: &'a Compressed,
    sent_fields: &'a Compressed,
    opened_for_want: u64,
    stream_limit_us: u64,
    stream_window_us: u64,
    connection_window_us: u64,
    coalesced: u64,
    misdirected: u64,
    fairness: Option<FairnessFigures>,
    goaways: &'a [GoAwayCount],
}

impl<'a> JsonShared<'a> {
    fn new(counts: &'a SharedCounts) -> JsonShared<'a> {
        JsonShared {
            blocks: counts.blocks,
            known_blocks: counts.known_blocks,
            received_fields: &counts.received_fields,
            sent_fields: &counts.sent_fields,
            opened_for_want: counts.opened_for_want,
            stream_limit_us: counts.stream_limit_us,
            stream_window_us: counts.stream_window_us,
            connection_window_us: counts.connection_window_us,
            coalesced: counts.coalesced,
            misdirected: counts.misdirected,
            fairness: FairnessFigures::new(&counts.fairness),
            goaways: &counts.goaways,
        }
    }
}

/// How evenly answers shared their connections.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FairnessFigures {
    windows: u64,
    jain_mean: Option<f64>,
    jain_worst: Option<f64>,
    starved_ms: u64,
}

impl FairnessFigures {
    /// `None`: no answer lasted long enough.
    fn new(fairness: &Fairness) -> Option<FairnessFigures> {
        (!fairness.is_none()).then(|| FairnessFigures {
            windows: fairness.windows,
            jain_mean: fairness.mean(),
            jain_worst: fairness.worst.map(|millionths| millionths as f64 / 1e6),
            starved_ms: fairness.starved_ms,
        })
    }
}

/// Figures of QUIC: its counts, and the round-trip time.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Quic {
    datagrams_sent: u64,
    datagrams_received: u64,
    lost_packets: u64,
    congestion_events: u64,
    ecn_marked: u64,
    ecn_failed: u64,
    overflowed: u64,
    rtt_mean_us: Option<u64>,
    rtt_max_us: Option<u64>,
}

impl Quic {
    fn new(counts: &QuicCounts) -> Quic {
        Quic {
            datagrams_sent: counts.datagrams_sent,
            datagrams_received: counts.datagrams_received,
            lost_packets: counts.lost_packets,
            congestion_events: counts.congestion_events,
            ecn_marked: counts.ecn_marked,
            ecn_failed: counts.ecn_failed,
            overflowed: counts.overflowed,
            rtt_mean_us: counts.mean_rtt_us(),
            rtt_max_us: counts.mean_rtt_us().map(|_| counts.rtt_max_us),
        }
    }
}

/// Counts that are not zero, under their names.
struct JsonNamed<'a>(&'a [&'static str], &'a [u64]);

#[cfg(test)]
impl schemars::JsonSchema for JsonNamed<'_> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Named".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        std::collections::BTreeMap::<String, u64>::json_schema(generator)
    }
}

impl Serialize for JsonNamed<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().zip(self.1).filter(|(_, count)| **count > 0))
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Rates {
    requests_per_s: f64,
    ok_per_s: f64,
    connections_per_s: f64,
    sent_bytes_per_s: f64,
    received_bytes_per_s: f64,
    origin_requests_per_s: Option<f64>,
    origin_body_bytes_per_s: Option<f64>,
}

impl Rates {
    fn new(phase: &PhaseResult) -> Rates {
        let counts = phase.counts();
        let origin = phase.origin.as_ref();
        Rates {
            requests_per_s: phase.per_second(counts.requests),
            ok_per_s: phase.per_second(counts.ok),
            connections_per_s: phase.per_second(counts.connections),
            sent_bytes_per_s: phase.per_second(counts.sent_bytes),
            received_bytes_per_s: phase.per_second(received_bytes(counts)),
            origin_requests_per_s: origin.map(|origin| phase.per_second(origin.requests)),
            origin_body_bytes_per_s: origin.map(|origin| phase.per_second(origin.body_bytes)),
        }
    }
}

/// Every metric under its name.
struct Latency<'a>(&'a PhaseResult);

impl Serialize for Latency<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let times = |metric| match metric {
            TimeMetric::Response => TimeSummary::of_responses(&self.0.response()),
            _ => TimeSummary::new(&self.0.tally.metric(metric)),
        };
        to.collect_map(TimeMetric::ALL.into_iter().map(|metric| (metric.name(), times(metric))))
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TimeSummary {
    count: u64,
    /// Null, as all below, where nothing was timed.
    min_us: Option<u64>,
    mean_us: Option<f64>,
    p50_us: Option<u64>,
    p90_us: Option<u64>,
    p95_us: Option<u64>,
    p99_us: Option<u64>,
    p999_us: Option<u64>,
    max_us: Option<u64>,
    /// Figures from here on are lower bounds: requests that had waited so long were unfinished.
    at_least_from_us: Option<u64>,
}

impl TimeSummary {
    fn new(histogram: &Histogram) -> TimeSummary {
        let known = Some(histogram).filter(|histogram| !histogram.is_empty());
        let at = |quantile| known.map(|histogram| histogram.value_at_quantile(quantile));
        TimeSummary {
            count: histogram.len(),
            min_us: known.map(|histogram| histogram.min()),
            mean_us: known.map(|histogram| histogram.mean()),
            p50_us: at(0.5),
            p90_us: at(0.9),
            p95_us: at(0.95),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: known.map(|histogram| histogram.max()),
            at_least_from_us: None,
        }
    }

    fn of_responses(responses: &Censored) -> TimeSummary {
        TimeSummary { at_least_from_us: responses.bound_from_us(), ..TimeSummary::new(responses.times()) }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StatusCount {
    status: u16,
    count: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FailureCount {
    kind: &'static str,
    stage: &'static str,
    errno: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alert: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    breach: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed: Option<ClosedWith>,
    count: u64,
}

/// Who ended a stream or a connection, and with which code.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ClosedWith {
    by: &'static str,
    ended: &'static str,
    protocol: &'static str,
    code: u64,
    name: Option<&'static str>,
}

impl FailureCount {
    fn new(failure: Failure, count: u64) -> FailureCount {
        FailureCount {
            kind: failure.kind.name(),
            stage: failure.stage.name(),
            errno: failure.errno(),
            alert: failure.alert(),
            proxy_status: failure.proxy_status(),
            breach: failure.broken().map(|broken| broken.breach.name()),
            rule: failure.broken().and_then(|broken| broken.rules().next()).map(|rule| rule.to_string()),
            closed: failure.closed().map(|closed| ClosedWith {
                by: closed.by.name(),
                ended: closed.ended.name(),
                protocol: closed.code.protocol.name(),
                code: closed.code.number,
                name: closed.code.name(),
            }),
            count,
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FaultCount {
    fault: &'static str,
    count: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CodeCount {
    code: Option<String>,
    which: &'static str,
    good: bool,
    count: u64,
}

impl CodeCount {
    fn new(code: &CountedCode<'_>) -> CodeCount {
        let which = match code.kind {
            CodeKind::Seen => "seen",
            CodeKind::Other => "other",
            CodeKind::Missing => "missing",
        };
        let text = (code.kind == CodeKind::Seen).then(|| code.text.escape_ascii().to_string());
        CodeCount { code: text, which, good: code.good, count: code.count }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Cache {
    hit_ratio: Option<f64>,
    unjudged: u64,
    least_hit_ratio: Option<f64>,
    byte_hit_ratio: Option<f64>,
    predicted_hit_ratio: Option<f64>,
    collapse_factor: Option<f64>,
    offload: Option<f64>,
    byte_offload: Option<f64>,
}

impl Cache {
    fn new(phase: &PhaseResult) -> Cache {
        Cache {
            hit_ratio: phase.hit_ratio(),
            unjudged: phase.unjudged(),
            least_hit_ratio: phase.least_hit_ratio(),
            byte_hit_ratio: phase.byte_hit_ratio(),
            predicted_hit_ratio: phase.predicted_hit_ratio,
            collapse_factor: phase.collapse_factor(),
            offload: good::offload(phase),
            byte_offload: good::byte_offload(phase),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Second<'a> {
    #[serde(flatten)]
    row: &'a Row,
    hit_ratio: Option<f64>,
}

impl<'a> Second<'a> {
    fn new(row: &'a Row) -> Second<'a> {
        Second { row, hit_ratio: row.hit_ratio() }
    }
}
