//! A run second by second. What is left over at the ends of phases is no second: it is a part of the one beside it.

use crate::accounts::OriginCounts;
use crate::agents::{AgentUse, Reporting};
use crate::counts::Counts;
use crate::shares::{answered, offload, ratio};
pub use crate::untimed::{unless_zero, zero_if_null};
use serde::Serialize;
use std::time::Duration;

/// A piece shorter than this share of an interval is a rest: figures per second say nothing of it.
const REST: f64 = 0.25;

/// Moments that are no further apart are the same one, in seconds.
const MOMENT: f64 = 1e-6;

/// Tells rests from seconds: what is left over where a phase begins or ends within an interval, or has ended and waits for answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rests {
    /// Seconds that a whole piece has.
    interval_s: f64,
    /// They are not told, as in older files: as many as the longest piece so far.
    guessed: bool,
}

impl Rests {
    /// Of a run with such intervals; none: it does not tell.
    pub fn new(interval: Option<Duration>) -> Rests {
        Rests {
            interval_s: interval.map_or(0.0, |interval| interval.as_secs_f64()),
            guessed: interval.is_none(),
        }
    }

    /// True if a piece of so many seconds is a rest.
    pub fn is_rest(&mut self, seconds: f64) -> bool {
        if self.guessed {
            self.interval_s = self.interval_s.max(seconds);
        }
        seconds < REST * self.interval_s
    }
}

/// One second of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Seconds since the start of the run at which the row ends.
    pub at_s: f64,
    /// How long the row covers, in seconds.
    pub seconds: f64,
    /// The part of that in which requests could begin, in seconds: what comes after waits for answers only.
    pub paced_s: f64,
    /// Index of the phase.
    pub phase: u32,
    /// The clients' counters within the row.
    pub counts: Counts,
    /// Of the failed requests, those that this machine had no port or descriptor for.
    pub starved: u64,
    /// The origin's counters within the row, where it runs here.
    pub origin: Option<OriginCounts>,
    /// Requests under way at the end.
    pub in_flight: u64,
    /// Median service time in µs.
    #[serde(serialize_with = "unless_zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub p50_us: u64,
    /// 99th percentile of the service time in µs.
    #[serde(serialize_with = "unless_zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub p99_us: u64,
    /// Longest service time in µs.
    #[serde(serialize_with = "unless_zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub max_us: u64,
    /// Mean service time in µs of all whole answers, false ones included; 0 without any.
    #[serde(serialize_with = "unless_zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub mean_us: f64,
    /// The agents whose figures are in the row, where one is missing; left out otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<Reporting>,
}

impl Row {
    /// Share of answers that came from the cache (hits, collapsed and revalidated count as answers; only hits as hits).
    pub fn hit_ratio(&self) -> Option<f64> {
        ratio(self.counts.hits, answered(&self.counts))
    }

    /// Share of answers that cost the origin no body, where it runs here; answers and bodies of one second do not
    /// always belong together, so single rows are rough.
    pub fn origin_offload(&self) -> Option<f64> {
        offload(&self.counts, self.origin.as_ref()?)
    }

    /// Something per second over the row.
    pub fn per_second(&self, count: u64) -> f64 {
        if self.seconds > 0.0 { count as f64 / self.seconds } else { 0.0 }
    }

    /// Requests begun per second of the time in which they could; `None`: there was none.
    pub fn begun_per_second(&self) -> Option<f64> {
        (self.paced_s > 0.0).then(|| self.counts.requests as f64 / self.paced_s)
    }
}

/// Rows of a run, bounded: when there are too many, each two neighbours become one.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timeline {
    /// The rows, oldest first.
    pub rows: Vec<Row>,
    #[serde(skip)]
    rests: Rests,
}

impl Timeline {
    /// Rows kept at most.
    pub const LIMIT: usize = 7_200;

    /// Of a run with such intervals; none: it does not tell.
    pub fn new(interval: Option<Duration>) -> Timeline {
        Timeline { rows: Vec::new(), rests: Rests::new(interval) }
    }

    /// Adds a row; a rest becomes a part of the one beside it in its phase.
    pub fn push(&mut self, row: Row) {
        let is_rest = self.rests.is_rest(row.seconds);
        if let Some(last) = self.rows.last_mut()
            && last.phase == row.phase
            && (is_rest || self.rests.is_rest(last.seconds))
        {
            return last.join_rest(&row);
        }
        if self.rows.len() == Self::LIMIT {
            self.halve();
        }
        self.rows.push(row);
    }

    /// Adds what came after its row had been told to that row.
    pub fn add_late(&mut self, late: Row) {
        let longest = 1.5 * self.rests.interval_s;
        let mut of_phase = self.rows.iter_mut().rev().filter(|row| row.phase == late.phase);
        match of_phase.find(|row| row.at_s - row.seconds + MOMENT < late.at_s) {
            Some(row) => {
                let is_one = row.seconds <= longest;
                row.take_late(&late, is_one);
            }
            None => self.push(late),
        }
    }

    /// Says of each row which of the agents are in it, once that is known.
    pub fn mark(&mut self, agents: &[AgentUse]) {
        // Before the end, rows have what was known when they were told.
        if agents.is_empty() {
            return;
        }
        let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO);
        for row in &mut self.rows {
            row.agents = Reporting::of_row(agents, seconds(row.at_s - row.seconds), seconds(row.at_s));
        }
    }

    /// The timeline in about `limit` rows: neighbours of one phase are joined, so each phase may add one row.
    pub fn condensed(&self, limit: usize) -> Vec<Row> {
        let group = self.rows.len().div_ceil(limit.max(1));
        let mut condensed: Vec<Row> = Vec::new();
        let mut joined = 0;
        for row in &self.rows {
            match condensed.last_mut() {
                Some(last) if last.phase == row.phase && joined < group => last.join(row),
                _ => {
                    condensed.push(row.clone());
                    joined = 0;
                }
            }
            joined += 1;
        }
        condensed
    }

    fn halve(&mut self) {
        let old = std::mem::take(&mut self.rows);
        let mut rows = old.into_iter().peekable();
        while let Some(mut row) = rows.next() {
            if let Some(next) = rows.next_if(|next| next.phase == row.phase) {
                row.join(&next);
            }
            self.rows.push(row);
        }
    }
}

impl Row {
    /// Extends this row by the one after it. Percentiles become the worse of both, as rows hold no histograms.
    pub(crate) fn join(&mut self, next: &Row) {
        self.at_s = next.at_s;
        self.seconds += next.seconds;
        self.paced_s += next.paced_s;
        self.mean_us = self.mean_with(next);
        self.counts.merge(&next.counts);
        self.starved += next.starved;
        if let (Some(mine), Some(theirs)) = (&mut self.origin, &next.origin) {
            mine.merge(theirs);
        }
        self.in_flight = next.in_flight;
        self.p50_us = self.p50_us.max(next.p50_us);
        self.p99_us = self.p99_us.max(next.p99_us);
        self.max_us = self.max_us.max(next.max_us);
        self.agents = match (self.agents, next.agents) {
            (Some(mine), Some(theirs)) => Some(if theirs.told < mine.told { theirs } else { mine }),
            (mine, theirs) => mine.or(theirs),
        };
    }

    /// As [`Row::join`] where one of both is a rest: percentiles, and what is under way, are those of the other one.
    fn join_rest(&mut self, next: &Row) {
        let longer = if self.seconds < next.seconds { next } else { &*self };
        let Row { in_flight, mut p50_us, mut p99_us, .. } = *longer;
        if longer.counts.ok == 0 {
            (p50_us, p99_us) = (self.p50_us.max(next.p50_us), self.p99_us.max(next.p99_us));
        }
        self.join(next);
        (self.in_flight, self.p50_us, self.p99_us) = (in_flight, p50_us, p99_us);
    }

    /// Adds what came late. Its times are those of the whole second, where they are known; `is_one`: this row is that second alone.
    pub(crate) fn take_late(&mut self, late: &Row, is_one: bool) {
        self.counts.merge(&late.counts);
        self.starved += late.starved;
        self.in_flight += late.in_flight;
        let times = [
            (&mut self.p50_us, late.p50_us),
            (&mut self.p99_us, late.p99_us),
            (&mut self.max_us, late.max_us),
        ];
        for (mine, whole) in times {
            *mine = if is_one && late.max_us > 0 { whole } else { whole.max(*mine) };
        }
        if is_one && late.max_us > 0 {
            self.mean_us = late.mean_us;
        }
        if is_one {
            self.agents = late.agents;
        }
    }

    /// The mean service time over this row and another.
    fn mean_with(&self, other: &Row) -> f64 {
        let [mine, theirs] = [self, other].map(|row| (row.counts.ok + row.counts.check_failed) as f64);
        let sum = self.mean_us * mine + other.mean_us * theirs;
        if mine + theirs > 0.0 { sum / (mine + theirs) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::AgentUse;
    use crate::run::Headline;
    use crate::stream::Second;
    use serde_json::{Value, json};

    #[track_caller]
    fn is_null_without<T>(nothing: &T, times: &[&str])
    where
        T: Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
    {
        let mut written = serde_json::to_value(nothing).unwrap();
        assert!(times.iter().all(|time| written[*time] == Value::Null), "{written}");
        assert_eq!(&serde_json::from_value::<T>(written.clone()).unwrap(), nothing);
        // As version 2 of the format has it.
        times.iter().for_each(|time| written[*time] = json!(0));
        assert_eq!(&serde_json::from_value::<T>(written).unwrap(), nothing);
    }

    #[test]
    fn times_of_nothing_are_null_in_records() {
        is_null_without(&Second::default(), &["p50_us", "p99_us", "max_us", "mean_us"]);
        is_null_without(&Headline::default(), &["p50_us", "p99_us", "p999_us"]);
        is_null_without(&AgentUse::default(), &["p99_us"]);
        let timed = Second { p50_us: 7, mean_us: 1.5, ..Second::default() };
        let written = serde_json::to_value(&timed).unwrap();
        assert_eq!((&written["p50_us"], &written["mean_us"]), (&json!(7), &json!(1.5)));
        assert_eq!(serde_json::from_value::<Second>(written).unwrap(), timed);
    }

    #[test]
    fn what_comes_late_is_added_to_its_second_and_to_its_row() {
        let second = |at: u64, requests: u64, p99_us: u64| {
            let took = Duration::from_secs(1);
            let at = Duration::from_secs(at);
            let mut second = Second { at, took, p99_us, max_us: p99_us, in_flight: 2, ..Second::default() };
            second.clients.counts.requests = requests;
            second
        };
        let late = |at, requests, p99_us| Second {
            late: true,
            took: Duration::ZERO,
            ..second(at, requests, p99_us)
        };
        // Of three agents so many had told it by then.
        let of = |told, second| Second { agents: Some(Reporting { told, of: 3 }), ..second };
        let told = [
            of(2, second(1, 10, 7)),
            of(1, second(2, 10, 90)),
            of(2, late(2, 5, 40)),
            second(3, 10, 7),
            of(2, late(2, 3, 0)),
            late(1, 1, 8),
        ];
        let mut seconds = Vec::new();
        let mut timeline = Timeline::new(Some(Duration::from_secs(1)));
        for second in told {
            second.clone().push_to(&mut seconds);
            if second.late { timeline.add_late(second.row()) } else { timeline.push(second.row()) }
        }
        let told = |row: &Row| row.agents.map(|agents| agents.told);
        let rows = |row: &Row| (row.counts.requests, row.p99_us, row.in_flight, row.seconds, told(row));
        let expected = [(11, 8, 4, 1.0, None), (18, 40, 6, 1.0, Some(2)), (10, 7, 2, 1.0, None)];
        assert_eq!(timeline.rows.iter().map(rows).collect::<Vec<_>>(), expected);
        assert_eq!(seconds.iter().map(|second| rows(&second.row())).collect::<Vec<_>>(), expected);
    }

    fn row(at_s: f64, requests: u64) -> Row {
        Row {
            at_s,
            seconds: 1.0,
            paced_s: 1.0,
            counts: Counts { requests, ..Counts::default() },
            ..Row::default()
        }
    }

    #[test]
    fn a_long_timeline_stays_bounded_and_loses_nothing() {
        let mut timeline = Timeline::default();
        let total = Timeline::LIMIT * 3;
        (0..total).for_each(|second| timeline.push(row(second as f64, 2)));
        assert!(timeline.rows.len() <= Timeline::LIMIT);
        let requests: u64 = timeline.rows.iter().map(|row| row.counts.requests).sum();
        let seconds: f64 = timeline.rows.iter().map(|row| row.seconds).sum();
        assert_eq!((requests, seconds), (2 * total as u64, total as f64));
        assert!(timeline.rows.windows(2).all(|pair| pair[0].at_s < pair[1].at_s));
    }

    #[test]
    fn a_condensed_timeline_keeps_phases_apart_and_loses_nothing() {
        let rows = (0..100).map(|n| Row { phase: u32::from(n >= 35), ..row(n as f64, 3) }).collect();
        let condensed = Timeline { rows, ..Timeline::default() }.condensed(10);
        assert_eq!(condensed.len(), 4 + 7);
        assert_eq!(condensed.iter().map(|row| row.counts.requests).sum::<u64>(), 300);
        assert_eq!(condensed[3].phase, 0);
        assert_eq!((condensed[3].seconds, condensed[4].seconds), (5.0, 10.0));
        assert!(Timeline::default().condensed(0).is_empty());
    }

    #[test]
    fn rows_that_are_joined_have_the_mean_of_all_their_answers() {
        let answered = |mean_us, ok, check_failed| Row {
            mean_us,
            counts: Counts { ok, check_failed, ..Counts::default() },
            ..Row::default()
        };
        let mut row = answered(100.0, 2, 1);
        row.join(&answered(500.0, 1, 0));
        assert_eq!(row.mean_us, 200.0);
        let mut nothing = Row::default();
        nothing.join(&Row::default());
        assert_eq!(nothing.mean_us, 0.0);
    }

    /// Rows of phases: phase, seconds, the part of them in which requests could begin, requests.
    fn pushed(pieces: &[(u32, f64, f64, u64)]) -> Vec<Row> {
        let mut timeline = Timeline::new(Some(Duration::from_secs(1)));
        for (phase, seconds, paced_s, requests) in pieces {
            let counts = Counts { requests: *requests, ok: *requests, ..Counts::default() };
            let row = Row { phase: *phase, seconds: *seconds, paced_s: *paced_s, counts, ..Row::default() };
            timeline.push(Row {
                in_flight: u64::from(*seconds >= 1.0) * 7,
                p99_us: (*seconds * 1e3) as u64,
                ..row
            });
        }
        timeline.rows
    }

    #[test]
    fn a_rest_is_no_second() {
        let rows = pushed(&[(0, 1.0, 1.0, 1000), (0, 1.0, 1.0, 1000), (0, 0.02, 0.0001, 1)]);
        assert_eq!(rows.len(), 2);
        let last = &rows[1];
        assert_eq!((last.counts.requests, last.in_flight, last.p99_us), (1001, 7, 1000));
        assert!((last.begun_per_second().unwrap() - 1000.9).abs() < 0.1, "{last:?}");
        // One before a whole second of its phase, between two phases, and alone.
        let rows = pushed(&[
            (0, 1.0, 1.0, 10),
            (0, 0.1, 0.0, 0),
            (1, 0.1, 0.1, 1),
            (1, 1.0, 1.0, 10),
            (2, 0.1, 0.1, 1),
        ]);
        let told: Vec<_> = rows.iter().map(|row| (row.phase, row.counts.requests)).collect();
        assert_eq!(told, [(0, 10), (1, 11), (2, 1)]);
    }

    #[test]
    fn what_only_waits_for_answers_begins_nothing_and_has_no_rate_of_it() {
        let rows = pushed(&[(0, 1.0, 1.0, 10), (0, 0.9, 0.0, 0)]);
        assert_eq!(rows.iter().map(Row::begun_per_second).collect::<Vec<_>>(), [Some(10.0), None]);
    }

    #[test]
    fn a_long_timeline_takes_seconds_for_seconds_after_it_was_joined() {
        let mut timeline = Timeline::new(Some(Duration::from_secs(1)));
        (0..Timeline::LIMIT * 9).for_each(|second| timeline.push(row(second as f64, 2)));
        assert_eq!(timeline.rows.last().unwrap().seconds, 1.0);
        let mut rests = Rests::new(None);
        assert_eq!([0.2, 0.2, 0.01].map(|seconds| rests.is_rest(seconds)), [false, false, true]);
    }
}
