//! Records, taken in one by one, become what the page shows. The memory that it takes is bounded: rows of a long run are joined.

use super::columns::{ColumnNames, Joined, Values};
use super::spans::Cells;
use super::steps::Trend;
use measure::stream::{BoundBy, Command, Controlled};
use measure::timeline::Rests;
use measure::{CodeKind, Head, OriginCounts, RunEvent, RunState, Second, TimeMetric};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Rows that are kept at most; beyond, neighbours are joined.
pub(super) const ROWS: usize = 7_200;
/// Rows at the end of which some may be added to, where an agent was silent.
const LATE_ROWS: usize = 32;
/// Metrics whose times are drawn over time.
pub(super) const DRAWN: [TimeMetric; 3] = [TimeMetric::Service, TimeMetric::Response, TimeMetric::FirstByte];
/// Metrics whose histograms are kept.
pub(super) const KEPT: [TimeMetric; 5] =
    [TimeMetric::Service, TimeMetric::Response, TimeMetric::FirstByte, TimeMetric::Hit, TimeMetric::Miss];

/// A run as far as its records have come.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    pub(super) state: RunState,
    pub(super) rows: Vec<GatherRow>,
    pub(super) names: ColumnNames,
    pub(super) marks: Vec<Mark>,
    pub(super) bound: Vec<Bound>,
    pub(super) trends: BTreeMap<(u32, u16), Trend>,
    /// Records that a row holds once they had to be joined.
    joined: u32,
    rests: Rests,
    /// Records taken in.
    pub(super) records: u64,
}

/// A place in the rows of a run, from which a reader wants to be told more. Written as `1-60`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GatherPlace {
    /// Records that a row held.
    joined: u32,
    /// The last row that was told: it may have grown.
    row: usize,
}

impl fmt::Display for GatherPlace {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}-{}", self.joined, self.row)
    }
}

impl FromStr for GatherPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<GatherPlace, String> {
        let wrong = || format!("{text} is no place in a run: it is written as 1-60");
        let (joined, row) = text.split_once('-').ok_or_else(wrong)?;
        Ok(GatherPlace {
            joined: joined.parse().map_err(|_| wrong())?,
            row: row.parse().map_err(|_| wrong())?,
        })
    }
}

/// A row of the page's time: one second, or a few.
#[derive(Debug, Clone, Default)]
pub(super) struct GatherRow {
    pub at: Duration,
    pub took: Duration,
    /// So long of it requests could begin.
    pub paced: Duration,
    pub phase: u32,
    /// An agent has told nothing of it yet.
    pub waits: bool,
    /// Records that it holds.
    pub holds: u32,
    pub values: Values,
    pub metrics: BTreeMap<TimeMetric, Cells>,
}

/// Something that somebody did while the run went on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Mark {
    pub at_s: f64,
    pub text: String,
    pub kind: MarkKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum MarkKind {
    Mark,
    Rate,
    Stop,
}

/// Seconds in which the generator was the limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Bound {
    pub from_s: f64,
    pub to_s: f64,
    pub reasons: Vec<BoundBy>,
}

impl Gathered {
    /// Takes the next record in.
    pub fn apply(&mut self, event: &RunEvent) {
        self.records += 1;
        self.state.apply(event);
        match event {
            RunEvent::Head(head) => self.rests = Rests::new(head.interval),
            RunEvent::Second(second) if second.late => self.late(second),
            RunEvent::Second(second) => self.second(second),
            RunEvent::Control(control) => self.marks.extend(mark(control)),
            _ => {}
        }
    }

    /// How far its rows have come: the last of them may still grow, and those of which an agent has told nothing yet.
    pub fn place(&self) -> GatherPlace {
        let last = self.rows.len().saturating_sub(1);
        let latest = self.rows.iter().enumerate().skip(self.rows.len().saturating_sub(LATE_ROWS));
        let row = latest.filter(|(_, row)| row.waits).map(|(row, _)| row).next().unwrap_or(last);
        GatherPlace { joined: self.joined.max(1), row }
    }

    /// The first row that a reader who knows those before `since` has to be told. All of them where rows were joined since.
    pub(super) fn first_row_after(&self, since: GatherPlace) -> usize {
        let is_known = since.joined == self.joined.max(1) && since.row < self.rows.len();
        if is_known { since.row } else { 0 }
    }

    /// How many records were taken in.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The result so far.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// The run's first record; empty before it came.
    pub fn head(&self) -> &Head {
        self.state.head()
    }

    fn second(&mut self, second: &Second) {
        let row = self.row(second);
        self.bound(second);
        for one in &second.clients.labels {
            let trend = self.trends.entry((second.phase, one.label)).or_default();
            trend.add(second.at.as_secs_f64(), one.ended);
        }
        let joined = self.joined.max(1);
        let is_rest = self.rests.is_rest(row.took.as_secs_f64());
        match self.rows.last_mut() {
            Some(last) if last.phase == row.phase && is_rest => last.take_rest(&row, &self.names),
            // One before it, where the phase began within an interval.
            Some(last) if last.phase == row.phase && self.rests.is_rest(last.took.as_secs_f64()) => {
                last.join(&row, &self.names);
                last.holds = 1;
            }
            Some(last) if last.phase == row.phase && last.holds < joined => last.join(&row, &self.names),
            _ => self.rows.push(row),
        }
        if self.rows.len() > ROWS {
            self.joined = joined * 2;
            self.rows = joined_rows(std::mem::take(&mut self.rows), 2, &self.names);
        }
    }

    /// Adds what came after its row.
    fn late(&mut self, second: &Second) {
        let late = self.row(second);
        let is_its = |row: &GatherRow| row.phase == late.phase && row.at.saturating_sub(row.took) < late.at;
        let Some(row) = self.rows.iter().rposition(is_its) else { return };
        let place = self.names.place("in_flight", Joined::Last);
        let in_flight = self.rows[row].values.get(place).unwrap_or(0.0) + second.in_flight as f64;
        self.rows[row].take_late(&late, &self.names);
        self.rows[row].values.set(place, in_flight);
    }

    fn row(&mut self, second: &Second) -> GatherRow {
        let began = second.at.saturating_sub(second.took);
        let paced = second.paced_until.saturating_sub(began).min(second.took);
        let at = second.at;
        let took = second.took;
        let phase = second.phase;
        let waits = second.agents.is_some();
        let mut row = GatherRow { at, took, paced, phase, waits, holds: 1, ..GatherRow::default() };
        self.count(second, &mut row.values);
        self.gauge(second, &mut row.values);
        for (metric, buckets) in &second.metrics {
            if KEPT.contains(metric) {
                row.metrics.insert(*metric, Cells::of(buckets));
            } else if *metric == TimeMetric::Lateness {
                let late = Cells::of(buckets).percentile(0.99);
                self.put(&mut row.values, "lateness.p99", Joined::Highest, late);
            }
        }
        row
    }

    fn count(&mut self, second: &Second, values: &mut Values) {
        let clients = &second.clients;
        let counts = measure::Counts::NAMES.iter().zip(clients.counts.list());
        let plain = counts.map(|(name, count)| ((*name).to_owned(), count));
        let statuses = clients.statuses.iter().map(|(status, count)| (format!("status.{status}"), *count));
        let failures = clients
            .failures
            .iter()
            .map(|one| (failure_column(one.failure.kind.name(), one.failure.stage.name()), one.count));
        let faults = clients.faults.iter().map(|one| (fault_column(one.fault.name()), one.count));
        let codes = clients.codes.iter().map(|one| {
            let code = if one.which == CodeKind::Seen {
                crate::harmless(&one.code).into_owned()
            } else {
                "–".to_owned()
            };
            (format!("code.{}{code}", if one.good { "" } else { "bad." }), one.count)
        });
        let origin = second.origin.iter().flat_map(|counts| {
            let named = OriginCounts::NAMES.iter().zip(counts.list());
            named.map(|(name, count)| (format!("origin.{name}"), count))
        });
        for (name, count) in plain.chain(statuses).chain(failures).chain(faults).chain(codes).chain(origin) {
            if count > 0 {
                let place = self.names.place(&name, Joined::Sum);
                values.add(place, count);
            }
        }
    }

    fn gauge(&mut self, second: &Second, values: &mut Values) {
        self.put(values, "in_flight", Joined::Last, Some(second.in_flight as f64));
        self.put(values, "asked", Joined::Last, second.asked_per_s);
        for (worker, share) in second.worker_cpu.iter().enumerate() {
            self.put(values, &format!("cpu.{worker}"), Joined::Highest, Some(*share));
        }
        let ports = second.machine.as_ref().and_then(|machine| machine.ports);
        self.put(values, "ports", Joined::Highest, ports.map(|ports| ports as f64));
    }

    fn put(&mut self, values: &mut Values, name: &str, joined: Joined, value: Option<f64>) {
        if let Some(value) = value {
            let place = self.names.place(name, joined);
            values.set(place, value);
        }
    }

    fn bound(&mut self, second: &Second) {
        if second.bound.is_empty() {
            return;
        }
        let (from_s, to_s) =
            ((second.at - second.took.min(second.at)).as_secs_f64(), second.at.as_secs_f64());
        match self.bound.last_mut() {
            Some(last) if (last.to_s - from_s).abs() < 0.01 && last.reasons == second.bound => {
                last.to_s = to_s
            }
            _ => self.bound.push(Bound { from_s, to_s, reasons: second.bound.clone() }),
        }
    }
}

/// Name of the column of requests that failed so.
pub(super) fn failure_column(kind: &str, stage: &str) -> String {
    format!("failure.{kind}.{stage}")
}

/// Name of the column of answers with this fault.
pub(super) fn fault_column(fault: &str) -> String {
    format!("fault.{fault}")
}

fn mark(control: &Controlled) -> Option<Mark> {
    let (text, kind) = match control.command.as_ref()? {
        Command::Rate { per_second, .. } => {
            (format!("{}/s", crate::show::scaled(*per_second)), MarkKind::Rate)
        }
        Command::Stop => ("stop".to_owned(), MarkKind::Stop),
        Command::Mark { text } => (text.clone(), MarkKind::Mark),
        // A word for the whole run: it stands in the head.
        Command::Label { .. } => return None,
    };
    Some(Mark { at_s: control.at.as_secs_f64(), text, kind })
}

impl GatherRow {
    fn join(&mut self, next: &GatherRow, names: &ColumnNames) {
        self.at = next.at;
        self.took += next.took;
        self.paced += next.paced;
        self.waits |= next.waits;
        self.holds += next.holds;
        self.values.join(&next.values, names);
        for (metric, cells) in &next.metrics {
            self.metrics.entry(*metric).or_default().merge(cells);
        }
    }
}

impl GatherRow {
    /// Takes in what came late of it.
    fn take_late(&mut self, late: &GatherRow, names: &ColumnNames) {
        let at = self.at;
        let holds = self.holds;
        let before = self.values.clone();
        self.join(late, names);
        self.values.keep_last(&before, names);
        (self.at, self.holds, self.waits) = (at, holds, late.waits);
    }

    /// Takes in what is left over after it, which is no row: what was measured last is what was before.
    fn take_rest(&mut self, rest: &GatherRow, names: &ColumnNames) {
        let holds = self.holds;
        let before = self.values.clone();
        self.join(rest, names);
        self.values.keep_last(&before, names);
        self.holds = holds;
    }
}

/// Groups of so many neighbours of one phase, as one row each.
pub(super) fn joined_rows(rows: Vec<GatherRow>, group: usize, names: &ColumnNames) -> Vec<GatherRow> {
    let mut joined: Vec<GatherRow> = Vec::with_capacity(rows.len() / group + 1);
    let mut held = 0;
    for row in rows {
        match joined.last_mut() {
            Some(last) if last.phase == row.phase && held < group => {
                last.join(&row, names);
                held += 1;
            }
            _ => {
                joined.push(row);
                held = 1;
            }
        }
    }
    joined
}
