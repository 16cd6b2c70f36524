//! A run as the page reads it: what is inlined in a report, and what the server tells of a run. While a run goes on, the server
//! sends the same shape with the latest rows alone ([`Gathered::change`]), so that the page folds nothing itself. The page's types
//! are made of these (`cargo xtask schema`). Counts are exact unless the run is long, then they have four digits; times over time
//! are in two digits or coarser, those of whole phases in three.

use super::columns::{Column, Values};
use super::gather::{
    Bound, DRAWN, GatherPlace, GatherRow, Gathered, KEPT, Mark, MarkKind, ROWS, failure_column, fault_column,
    joined_rows,
};
use super::spans::{Cells, Spans};
use crate::{good, thresholds};
use measure::processes::Happened;
use measure::recorded::RecordedFigures;
use measure::stream::Machine;
use measure::{
    AgentUse, Censored, Counts, Evidence, Head, Histogram, LostRequest, OriginCounts, OriginUse, PhaseResult,
    RunResult, RunVerdict, TimeMetric, TracedRequest,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Version of the shape; the page refuses others.
const FORMAT: u32 = 3;

/// How much a model may take.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    rows: usize,
    spans: usize,
    /// Buckets with something in them, of each metric that is drawn over time.
    cells: usize,
    evidence: usize,
    /// Steps that are told at most, those with most requests.
    steps: usize,
    /// Bytes of each part of a piece of evidence, and of the plan.
    text: usize,
}

impl Room {
    /// From ample to tight: a report takes the first with which it is small enough.
    pub const ALL: [Room; 4] = [
        Room { rows: 3_600, spans: 720, cells: 60_000, evidence: 100, steps: 2_000, text: 16_384 },
        Room { rows: 3_600, spans: 720, cells: 40_000, evidence: 20, steps: 2_000, text: 1_024 },
        Room { rows: 1_200, spans: 400, cells: 20_000, evidence: 5, steps: 2_000, text: 256 },
        Room { rows: 300, spans: 150, cells: 5_000, evidence: 0, steps: 2_000, text: 256 },
    ];
    /// For whoever is near.
    pub const AMPLE: Room =
        Room { rows: ROWS, spans: 1_440, cells: 400_000, evidence: 1_000, steps: 2_000, text: 65_536 };
    /// For whoever follows a run: steps are told again with each change.
    pub const FOLLOWED: Room = Room { steps: 200, ..Room::AMPLE };
    /// Of a change: the rest is known to whoever follows.
    const CHANGE: Room = Room { evidence: 0, text: 0, ..Room::FOLLOWED };
}

/// A run as the page reads it, or how it has changed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Model {
    format: u32,
    head: HeadLines,
    state: State,
    interrupted: bool,
    took_s: f64,
    verdict: Option<RunVerdict>,
    phases: Vec<Phase>,
    /// Figures of the recording whose requests were sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordedFigures>,
    /// The first row that is told here: those before it are known. 0 of the whole run.
    first_row: usize,
    /// Rows of the run, with those that are known.
    rows: usize,
    at: Column,
    seconds: Column,
    paced: Column,
    interval_s: f64,
    phase: Column,
    columns: BTreeMap<String, Column>,
    metrics: BTreeMap<&'static str, Spans>,
    steps: Vec<Step>,
    steps_left: usize,
    failures: Vec<Failure>,
    evidence: Vec<Piece>,
    evidence_left: usize,
    lost: Vec<LostRequest>,
    slowest: Vec<SlowRequest>,
    marks: Vec<Mark>,
    bound: Vec<Bound>,
    thresholds: Vec<Threshold>,
    /// The machines that carried the load, where they were several.
    agents: Vec<AgentUse>,
    /// The origins that agents served.
    origins: Vec<OriginUse>,
    notes: Vec<Note>,
    text: String,
    /// The place from which the next change is asked for.
    next: String,
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It goes on.
    Live,
    /// It has told its end.
    Ended,
    /// Another process writes its file.
    Open,
    /// Its file ends before the run did.
    Cut,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HeadLines {
    id: String,
    version: String,
    command: String,
    door: String,
    target: String,
    started_unix_s: f64,
    /// As text: a number of JavaScript cannot hold it.
    seed: String,
    labels: Vec<String>,
    threads: u32,
    backend: String,
    machine: Vec<(&'static str, String)>,
    plan: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Phase {
    name: String,
    measured: bool,
    began_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_s: Option<f64>,
    /// When it is to end, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    planned_end_s: Option<f64>,
    paced_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted_hit_ratio: Option<f64>,
    counts: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<OriginCounts>,
    latency: BTreeMap<&'static str, TimeSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offload: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_offload: Option<f64>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TimeSummary {
    count: u64,
    p50_us: u64,
    p90_us: u64,
    p99_us: u64,
    p999_us: u64,
    max_us: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Step {
    name: String,
    requests: u64,
    /// Answers that failed, or in which a check failed.
    not_good: u64,
    times: TimeSummary,
    trend: Vec<u64>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum FailureType {
    Failure,
    Fault,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Failure {
    what: FailureType,
    name: &'static str,
    text: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errno: Option<String>,
    count: u64,
    column: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Piece {
    title: String,
    text: &'static str,
    detail: String,
    at_s: f64,
    status: u16,
    phase: String,
    parts: Vec<(&'static str, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
}

/// One of the slowest requests that carried a trace context.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SlowRequest {
    title: String,
    /// Status, or what went wrong.
    text: String,
    due_s: f64,
    response_us: f64,
    trace_id: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Threshold {
    condition: String,
    names: &'static str,
    /// The figure as people read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
    violated: bool,
    unevaluated: bool,
    at_least: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_us: Option<f64>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Note {
    text: String,
}

/// Sentences for the reader; what happened to the target comes first.
fn notes(result: &RunResult) -> Vec<Note> {
    let happened = result.processes.during.iter().map(Happened::sentence);
    happened.chain(result.notes.iter().cloned()).map(|text| Note { text }).collect()
}

/// A mark for each moment from which on rows have the figures of fewer agents, or of more again.
fn losses(result: &RunResult) -> Vec<Mark> {
    let mut before = None;
    let mut marks = Vec::new();
    for row in &result.timeline.rows {
        if row.agents != before {
            let all = row.agents.or(before).map_or(0, |told| told.of);
            let told = row.agents.map_or(all, |told| told.told);
            let at_s = (row.at_s - row.seconds).max(0.0);
            marks.push(Mark { at_s, text: format!("agents: {told}/{all}"), kind: MarkKind::Mark });
            before = row.agents;
        }
    }
    marks
}

impl Gathered {
    /// The run in its present state. `text`: the report as text.
    pub fn model(&self, text: &str, room: Room) -> Model {
        let state = if self.state.end().is_some() { State::Ended } else { State::Live };
        self.model_from(0, state, text, room)
    }

    /// The same of a run file. `goes_on`: another process writes it; else one without a last record was cut off.
    pub fn kept_model(&self, text: &str, room: Room, goes_on: bool) -> Model {
        let state = match self.state.end() {
            Some(_) => State::Ended,
            None if goes_on => State::Open,
            None => State::Cut,
        };
        self.model_from(0, state, text, room)
    }

    /// How a run that goes on has changed since that place: rows from there on, and what stands once as it stands now. Texts and
    /// evidence come with the whole.
    pub fn change(&self, since: GatherPlace) -> Model {
        let state = if self.state.end().is_some() { State::Ended } else { State::Live };
        self.model_from(self.first_row_after(since), state, "", Room::CHANGE)
    }

    fn model_from(&self, first_row: usize, state: State, text: &str, room: Room) -> Model {
        let result = match state {
            State::Live | State::Open => self.state.so_far(),
            State::Ended | State::Cut => self.state.result(),
        };
        let rows = self.rows(first_row, room.rows);
        let seconds = |of: fn(&GatherRow) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
        let (steps, steps_left) = self.steps(&result, room.steps);
        Model {
            format: FORMAT,
            head: self.head_lines(&result, room),
            state,
            interrupted: result.interrupted && self.state.end().is_some(),
            took_s: result.took.as_secs_f64(),
            verdict: self.verdict(&result),
            phases: self.phases(&result),
            recorded: self.state.head().recorded.as_deref().cloned(),
            first_row,
            rows: first_row + rows.len(),
            at: Column::of_seconds(&seconds(|row| row.at.as_secs_f64())),
            seconds: Column::of_seconds(&seconds(|row| row.took.as_secs_f64())),
            paced: Column::of_seconds(&seconds(|row| row.paced.as_secs_f64())),
            interval_s: self.state.head().interval.map_or(0.0, |interval| interval.as_secs_f64()),
            phase: Column::of(&seconds(|row| f64::from(row.phase)), true),
            columns: self.columns(&rows),
            metrics: spans(&rows, room),
            steps,
            steps_left,
            failures: failures(&result),
            evidence: result
                .evidence
                .iter()
                .take(room.evidence)
                .map(|piece| Piece::of(piece, room.text))
                .collect(),
            evidence_left: result.evidence.len().saturating_sub(room.evidence),
            lost: result.lost.clone(),
            slowest: result.slowest.iter().map(SlowRequest::of).collect(),
            marks: self.marks.iter().cloned().chain(losses(&result)).collect(),
            bound: self.bound.clone(),
            thresholds: judged(&result),
            agents: result.agents.clone(),
            origins: result.origins.clone(),
            notes: notes(&result),
            text: text.to_owned(),
            next: self.place().to_string(),
        }
    }

    fn rows(&self, first: usize, most: usize) -> Vec<GatherRow> {
        let rows = self.rows.get(first..).expect("the first row is one of them, or where they end");
        let group = rows.len().div_ceil(most.max(1)).max(1);
        joined_rows(rows.to_vec(), group, &self.names)
    }

    fn head_lines(&self, result: &RunResult, room: Room) -> HeadLines {
        let head = self.state.head();
        HeadLines {
            id: head.id.clone(),
            version: head.version.clone(),
            command: head.command.clone(),
            door: head.door.clone(),
            target: head.target.clone().unwrap_or_default(),
            started_unix_s: head.started_unix_s,
            seed: head.seed.to_string(),
            labels: head.labels.iter().map(|(name, value)| label(name, value)).collect(),
            threads: head.threads,
            backend: result.backend.clone(),
            machine: machine(&head.machine, head, &result.backend),
            plan: cut(&head.plan, 4 * room.text),
        }
    }

    fn verdict(&self, result: &RunResult) -> Option<RunVerdict> {
        let pressed = !self.state.head().phases.is_empty();
        (self.state.end().is_some() && pressed).then(|| result.verdict(&result.measured()))
    }

    fn phases(&self, result: &RunResult) -> Vec<Phase> {
        let over = self.state.end().is_some();
        let last = self.rows.last().map_or(0, |row| row.phase as usize);
        let begun = result.phases.iter().enumerate().filter(|(place, _)| *place <= last || over);
        let planned = |place: usize| self.state.head().phases.get(place).and_then(|phase| phase.lasts);
        begun
            .filter(|(_, phase)| !phase.until.is_zero())
            .map(|(place, phase)| Phase::of(phase, over || place < last, planned(place)))
            .collect()
    }

    fn columns(&self, rows: &[GatherRow]) -> BTreeMap<String, Column> {
        let exact = rows.len() <= 1_200;
        let all: Vec<_> = self.names.iter().collect();
        let of = |values: &Values, place: usize, counter: bool| {
            values.get(place).unwrap_or(if counter { 0.0 } else { f64::NAN })
        };
        let plain = all.into_iter().map(|(name, place, joined)| {
            let counter = joined == super::columns::Joined::Sum;
            let values: Vec<f64> = rows.iter().map(|row| of(&row.values, place, counter)).collect();
            let column = if counter { Column::of_counts } else { Column::of };
            (name.to_owned(), column(&values, exact))
        });
        let figures = DRAWN.into_iter().flat_map(|metric| times_over_time(rows, metric));
        plain.chain(figures).collect()
    }

    fn steps(&self, result: &RunResult, most: usize) -> (Vec<Step>, usize) {
        let head = self.state.head();
        let mut steps: Vec<Step> = Vec::new();
        for (place, (phase, planned)) in result.phases.iter().zip(&head.phases).enumerate() {
            if !phase.measured {
                continue;
            }
            steps.extend(phase.tally.labels.iter().map(|(label, figures)| {
                let trend = self.trends.get(&(place as u32, label.0)).map_or(&[][..], |trend| trend.counts());
                Step {
                    name: planned
                        .labels
                        .get(usize::from(label.0))
                        .map_or("others", String::as_str)
                        .to_owned(),
                    requests: figures.ended,
                    not_good: figures.ended - figures.ok,
                    times: TimeSummary::of(&figures.response),
                    trend: trend.to_vec(),
                }
            }));
        }
        let left = steps.len().saturating_sub(most);
        if left > 0 {
            steps.sort_by_key(|step| std::cmp::Reverse(step.requests));
            steps.truncate(most);
        }
        (steps, left)
    }
}

/// Median, 99th and 99.9th percentile and longest of each row; rows without any are gaps.
fn times_over_time(rows: &[GatherRow], metric: TimeMetric) -> Vec<(String, Column)> {
    if !rows.iter().any(|row| row.metrics.contains_key(&metric)) {
        return Vec::new();
    }
    let figures = [("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)];
    let column = |quantile| {
        let at = |row: &GatherRow| {
            row.metrics.get(&metric).and_then(|cells| cells.percentile(quantile)).unwrap_or(f64::NAN)
        };
        Column::of(&rows.iter().map(at).collect::<Vec<f64>>(), false)
    };
    figures
        .into_iter()
        .map(|(figure, quantile)| (format!("{}.{figure}", metric.name()), column(quantile)))
        .collect()
}

/// Those of the metric that the heat map shows first are finest; of others only the spectrum of a part of the run is made.
fn spans(rows: &[GatherRow], room: Room) -> BTreeMap<&'static str, Spans> {
    let of = |metric: &TimeMetric| {
        let cells = rows.iter().map(|row| row.metrics.get(metric) as Option<&Cells>);
        let (most, room) = match metric {
            TimeMetric::Service => (room.spans, room.cells),
            TimeMetric::Response => (room.spans, room.cells / 2),
            _ => (room.spans / 6, room.cells / 8),
        };
        Spans::of(cells, most, room)
    };
    let all = KEPT.iter().map(|metric| (metric.name(), of(metric)));
    all.filter(|(_, spans)| !spans.is_empty()).collect()
}

impl Phase {
    fn of(phase: &PhaseResult, over: bool, lasts: Option<Duration>) -> Phase {
        let counts = Counts::NAMES.iter().copied().zip(phase.counts().list());
        Phase {
            name: phase.name.clone(),
            measured: phase.measured,
            began_s: phase.began.as_secs_f64(),
            ended_s: over.then_some(phase.until.as_secs_f64()),
            planned_end_s: lasts.map(|lasts| (phase.began + lasts).as_secs_f64()),
            paced_s: phase.paced_time().as_secs_f64(),
            predicted_hit_ratio: phase.predicted_hit_ratio,
            counts: counts.filter(|(name, count)| *count > 0 || ALWAYS.contains(name)).collect(),
            origin: phase.origin,
            latency: KEPT
                .iter()
                .filter_map(|metric| Some((metric.name(), times_of(phase, *metric)?)))
                .collect(),
            offload: good::offload(phase),
            byte_offload: good::byte_offload(phase),
        }
    }
}

/// Counts that are told even where they are 0: that is what they say.
const ALWAYS: [&str; 4] = ["requests", "ok", "failed", "check_failed"];

fn times_of(phase: &PhaseResult, metric: TimeMetric) -> Option<TimeSummary> {
    let told = match metric {
        // With unfinished requests in it, as the text report has them.
        TimeMetric::Response => TimeSummary::of(response(phase).times()),
        _ => TimeSummary::of(&phase.tally.metric(metric)),
    };
    (told.count > 0).then_some(told)
}

fn response(phase: &PhaseResult) -> Censored {
    phase.response()
}

impl TimeSummary {
    fn of(histogram: &Histogram) -> TimeSummary {
        let at = |quantile| if histogram.is_empty() { 0 } else { histogram.value_at_quantile(quantile) };
        TimeSummary {
            count: histogram.len(),
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: histogram.max(),
        }
    }
}

fn failures(result: &RunResult) -> Vec<Failure> {
    let mut sum = measure::Tally::new();
    result.phases.iter().for_each(|phase| sum.merge(&phase.tally));
    let failed = sum.failures_by_stage().into_iter().map(|(failure, count)| Failure {
        what: FailureType::Failure,
        name: failure.kind.name(),
        text: failure.kind.text(),
        stage: Some(failure.stage.name()),
        errno: failure.reason.map(crate::show::reason),
        count,
        column: failure_column(failure.kind.name(), failure.stage.name()),
    });
    let check_failed = sum.faults().map(|(fault, count)| Failure {
        what: FailureType::Fault,
        name: fault.name(),
        text: fault.text(),
        stage: None,
        errno: None,
        count,
        column: fault_column(fault.name()),
    });
    let mut all: Vec<Failure> = failed.chain(check_failed).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.count));
    all
}

impl Piece {
    fn of(piece: &Evidence, most: usize) -> Piece {
        let parts = [
            ("request", Some(&piece.request)),
            ("response", Some(&piece.response)),
            ("origin_request", piece.origin_request.as_ref()),
            ("origin_response", piece.origin_response.as_ref()),
        ];
        Piece {
            title: cut(&piece.title, most),
            text: piece.text(),
            detail: cut(&piece.detail, most),
            at_s: piece.at_us as f64 / 1e6,
            status: piece.status,
            phase: piece.phase.clone(),
            trace_id: piece.trace_id.clone(),
            parts: parts
                .into_iter()
                .filter_map(|(name, text)| Some((name, cut(text?, most))))
                .filter(|(_, text)| !text.is_empty())
                .collect(),
        }
    }
}

impl SlowRequest {
    fn of(traced: &TracedRequest) -> SlowRequest {
        SlowRequest {
            title: traced.title.clone(),
            text: traced.text(),
            due_s: traced.due.as_secs_f64(),
            response_us: traced.response.as_secs_f64() * 1e6,
            trace_id: traced.trace_id.clone(),
        }
    }
}

fn judged(result: &RunResult) -> Vec<Threshold> {
    let of = |one: &measure::Judged| Threshold {
        condition: one.condition.clone(),
        names: one.names.name(),
        shown: thresholds::shown(one),
        violated: one.violated,
        unevaluated: one.unevaluated,
        at_least: one.at_least,
        limit_us: limit_us(&one.condition),
    };
    result.thresholds.iter().map(of).collect()
}

/// The limit of a condition on a time, such as `p99 > 10ms`, in µs: it is drawn into the chart.
fn limit_us(condition: &str) -> Option<f64> {
    let (_, limit) = condition.split_once(['>', '<'])?;
    let limit = limit.trim_start_matches('=').trim();
    limit.ends_with('s').then(|| plan::units::duration(limit).ok())?.map(|time| time.as_secs_f64() * 1e6)
}

fn label(name: &str, value: &str) -> String {
    if value.is_empty() { name.to_owned() } else { format!("{name} {value}") }
}

fn machine(machine: &Machine, head: &Head, backend: &str) -> Vec<(&'static str, String)> {
    let facts = [
        ("host", machine.host.clone()),
        ("CPU", machine.cpu.clone()),
        ("cores", if machine.cores > 0 { machine.cores.to_string() } else { String::new() }),
        ("workers", head.threads.to_string()),
        (
            "memory",
            if machine.memory_bytes > 0 {
                format!("{:.1} GB", machine.memory_bytes as f64 / 1e9)
            } else {
                String::new()
            },
        ),
        ("kernel", machine.kernel.clone()),
        ("I/O", backend.to_owned()),
        ("seed", head.seed.to_string()),
    ];
    facts.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// The text, or so much of it, whole characters.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_times_are_drawn_and_others_are_not() {
        for (condition, limit) in [
            ("p99 > 10ms", Some(10_000.0)),
            ("p99.9>1s", Some(1e6)),
            ("failed > 1%", None),
            ("rate < 5000", None),
        ] {
            assert_eq!(limit_us(condition), limit, "{condition}");
        }
    }

    #[test]
    fn long_texts_end_at_a_whole_character() {
        assert_eq!(cut("aä中", 2), "a…");
        assert_eq!(cut("aä中", 6), "aä中");
    }
}
