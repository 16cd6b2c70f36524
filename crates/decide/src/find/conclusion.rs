//! Conclusion from a search: the safe water mark, how steep it is there, and all of it in words.

use super::machine::Find;
use super::outcome::{FindFinding, Knee, Outcome, RateRow};
use super::settings::FindSettings;
use super::trial::{Pace, Purpose};
use super::water_mark::{Burdens, WaterMark, elasticity};
use crate::machine::RecordOf;
use crate::void::Void;
use crate::words;
use serde::Serialize;

/// A search with what follows from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Conclusion {
    /// The finding and all that was seen.
    pub outcome: Outcome,
    /// The rate that it should be given; `None`: there is no knee.
    pub water_mark: Option<WaterMark>,
    /// Percent by which the 99th percentile rises there with each percent of load, where enough rates around it were measured.
    pub elasticity: Option<f64>,
    /// Throughput of many users, each with one request at a time.
    pub closed: Option<Closed>,
    /// The rate that was required, and whether it is shown.
    pub required: Option<Required>,
    /// Limits as they were typed.
    limits: Vec<String>,
}

/// Throughput of many users.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Closed {
    /// Users.
    pub users: u32,
    /// Good answers a second.
    pub good_per_s: f64,
    /// The generator was the limit, so that there may be more.
    pub at_least: bool,
}

/// A rate that was required.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Required {
    /// Requests a second.
    pub rate: f64,
    /// It is shown that they keep the limits.
    pub is_shown: bool,
}

/// How a search ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// There is a figure, and what was required is shown.
    Found,
    /// There is none.
    NoResult,
    /// No rate keeps the limits, or what was required is not shown.
    Missed,
}

impl End {
    /// Exit codes with what they mean, as the docs have them.
    pub const TABLE: [(End, &'static str); 3] = [
        (End::Found, "There is a rate, or one that it is at least; and what `--at-least` requires is shown."),
        (
            End::NoResult,
            "There is no figure: the target drifted or was not steady, the budget was over, too many trials were void, nothing listens, the target died.",
        ),
        (End::Missed, "No rate keeps the limits; or what `--at-least` requires is not shown."),
    ];

    /// The exit code of a command.
    pub fn code(self) -> u8 {
        match self {
            End::Found => 0,
            End::NoResult => 1,
            End::Missed => 3,
        }
    }
}

impl Conclusion {
    /// The conclusion from a search and its record. `required`: a rate that must keep the limits.
    pub fn of(
        outcome: &Outcome,
        record: &RecordOf<Find>,
        burdens: &Burdens,
        required: Option<f64>,
    ) -> Conclusion {
        let water_mark = match &outcome.finding {
            FindFinding::Knee(knee) => Some(WaterMark::under(knee, burdens)),
            FindFinding::AtLeast { .. }
            | FindFinding::NoRate { .. }
            | FindFinding::Drifted { .. }
            | FindFinding::NotSteady { .. }
            | FindFinding::Partial { .. }
            | FindFinding::NoVerdict { .. } => None,
        };
        let elasticity = water_mark.as_ref().and_then(|mark| elasticity(&outcome.rates, mark.rate));
        let sure = match &outcome.finding {
            FindFinding::Knee(knee) => Some(sure(knee)),
            FindFinding::AtLeast { rate, .. } => Some(*rate),
            FindFinding::NoRate { .. }
            | FindFinding::Drifted { .. }
            | FindFinding::NotSteady { .. }
            | FindFinding::Partial { .. }
            | FindFinding::NoVerdict { .. } => None,
        };
        let is_shown = |rate: f64| sure.is_some_and(|sure| sure >= rate);
        Conclusion {
            outcome: outcome.clone(),
            water_mark,
            elasticity,
            closed: closed(record),
            required: required.map(|rate| Required { rate, is_shown: is_shown(rate) }),
            limits: record.settings.limits.iter().map(|limit| limit.text()).collect(),
        }
    }

    /// How it ends.
    pub fn end(&self) -> End {
        let without_figure = match &self.outcome.finding {
            FindFinding::Knee(_) | FindFinding::AtLeast { .. } => None,
            FindFinding::NoRate { .. } => Some(End::Missed),
            FindFinding::Drifted { .. }
            | FindFinding::NotSteady { .. }
            | FindFinding::Partial { .. }
            | FindFinding::NoVerdict { .. } => Some(End::NoResult),
        };
        without_figure.unwrap_or_else(|| {
            let is_missed = self.required.is_some_and(|required| !required.is_shown);
            if is_missed { End::Missed } else { End::Found }
        })
    }

    /// All of it as people read it.
    pub fn text(&self) -> String {
        let mut lines = vec![self.outcome.headline(), String::new()];
        lines.extend(self.required.map(|required| required.text()));
        if let FindFinding::Knee(knee) = &self.outcome.finding {
            lines.extend(knee.recovery.map(|recovery| recovery.text()));
            lines.extend((knee.recovery.is_none()).then(|| {
                "the way back from too much was not looked at: the budget was over, or the surge said nothing of the target"
                    .to_owned()
            }));
        }
        if let Some(mark) = &self.water_mark {
            lines.push(mark.text());
            let more = mark.reasons[1..].iter().map(|reason| format!("  also: {reason}"));
            lines.extend(more);
        }
        lines.extend(
            self.elasticity.map(|steep| {
                format!("there p99 rises by {} % with each percent of load", words::number(steep))
            }),
        );
        lines.extend(self.closed.map(|closed| closed.text()));
        lines.extend(self.outcome.notes.iter().map(|note| format!("note: {note}")));
        lines.push(String::new());
        lines.push(self.table());
        let trials = words::count(self.outcome.trials, "trial");
        lines.push(format!("{trials} in {}", words::time(self.outcome.took_s)));
        lines.join("\n") + "\n"
    }

    /// Observations at each rate, a line each.
    fn table(&self) -> String {
        let is_known =
            |of: fn(&RateRow) -> Option<f64>| self.outcome.rates.iter().any(|row| of(row).is_some());
        let [cpu, hits] = [is_known(|row| row.cpu), is_known(|row| row.hit_ratio)];
        let mut head = vec!["rate".to_owned(), "trials".to_owned()];
        head.extend(self.limits.iter().map(|limit| format!("over {limit}")));
        head.extend(["good".to_owned(), "p99".to_owned()]);
        head.extend(cpu.then(|| "CPU".to_owned()));
        head.extend(hits.then(|| "hits".to_owned()));
        head.push("verdict".to_owned());
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        let row = |row: &RateRow| {
            let mut cells = vec![words::rate(row.rate), row.trials.to_string()];
            let over = row.over.iter().zip(&self.limits);
            cells.extend(over.map(|(over, limit)| match limit.starts_with("mean") {
                true => words::time(over / 1e3),
                false => words::percent(*over),
            }));
            cells.extend([
                words::rate(row.good_per_s),
                or_dash(row.p99_ms.map(|time| words::time(time / 1e3))),
            ]);
            cells.extend(cpu.then(|| or_dash(row.cpu.map(words::percent))));
            cells.extend(hits.then(|| or_dash(row.hit_ratio.map(words::percent))));
            cells.push(row.verdict.clone());
            cells
        };
        aligned(std::iter::once(head).chain(self.outcome.rates.iter().map(row)).collect())
    }
}

/// The rate that surely holds.
fn sure(knee: &Knee) -> f64 {
    knee.interval.low.min(knee.held)
}

/// Throughput of the many users at the beginning.
fn closed(record: &RecordOf<Find>) -> Option<Closed> {
    let first = record.steps.iter().find(|step| step.asked.purpose == Purpose::Saturated)?;
    let Pace::Closed { users } = first.asked.pace else { return None };
    let at_least = match &first.answer.void {
        None => false,
        Some(Void::Generator { .. }) => true,
        Some(Void::Disturbed { .. }) => return None,
    };
    Some(Closed { users, good_per_s: first.answer.good_per_s(), at_least })
}

impl Closed {
    /// In one sentence.
    pub fn text(&self) -> String {
        let users = words::count(self.users as usize, "user");
        let rate = words::rate(self.good_per_s);
        if self.at_least {
            format!(
                "{users} who wait for each answer got {rate}; the generator was the limit, so there may be more"
            )
        } else {
            format!("{users} who wait for each answer got {rate}, whatever the limits")
        }
    }
}

impl Required {
    /// In one sentence.
    pub fn text(&self) -> String {
        let rate = words::rate(self.rate);
        if self.is_shown {
            format!("{rate} were required, and are shown")
        } else {
            format!("{rate} were required, and are not shown to keep the limits")
        }
    }
}

/// Cells in columns, two spaces between.
fn aligned(rows: Vec<Vec<String>>) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// The time that a search of these settings can take, and how much its trials can tell, given the throughput of many users.
pub fn forecast(settings: &FindSettings, closed: &Closed) -> String {
    let rarest = settings.limits.iter().filter(|limit| limit.is_share()).map(|limit| limit.allowed());
    let near_s = settings.budget_s / 18.0;
    let told = rarest.reduce(f64::min).map(|allowed| {
        format!(
            "a trial near the knee takes up to {} and has about {} requests over the limit at {}; 30 or more are wanted",
            words::time(near_s),
            words::number(allowed * closed.good_per_s / 2.0 * near_s),
            words::rate(closed.good_per_s / 2.0),
        )
    });
    let mut lines = vec![
        format!(
            "only a forecast: a search takes {} at most; the rate is looked for from {} up to {}",
            words::time(settings.budget_s),
            words::rate(closed.good_per_s / 64.0),
            words::rate(closed.good_per_s * 4.0),
        ),
        closed.text(),
    ];
    lines.extend(told);
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::{Limit, Recovery, TrialResult};
    use crate::machine::Record;
    use crate::statistics::Interval;

    const LIMIT: Limit = Limit::Quantile { quantile: 0.99, limit_ms: 50.0 };

    fn outcome(finding: FindFinding) -> Outcome {
        let row = |rate: f64, over: f64, verdict: &str| RateRow {
            rate,
            trials: 1,
            over: vec![over],
            good_per_s: rate,
            p99_ms: Some(20.0),
            cpu: None,
            hit_ratio: None,
            verdict: verdict.to_owned(),
        };
        let rates = vec![row(500.0, 0.0, "keeps"), row(1_000.0, 0.5, "breaks: too slow")];
        Outcome { finding, notes: vec!["a note".to_owned()], rates, took_s: 300.0, trials: 20 }
    }

    fn knee() -> FindFinding {
        let recovery =
            Recovery { after_s: Some(3.0), waited_s: 60.0, at_share: 0.5, carries_again: Some(true) };
        FindFinding::Knee(Knee {
            rate: 955.0,
            interval: Interval { low: 948.0, high: 963.0 },
            is_wall: false,
            held: 948.0,
            limit: LIMIT,
            trials: 14,
            recovery: Some(recovery),
        })
    }

    fn concluded(finding: FindFinding, required: Option<f64>) -> Conclusion {
        let record = Record {
            settings: FindSettings::new(1, vec![LIMIT]),
            steps: Vec::<crate::machine::DecideStep<_, TrialResult>>::new(),
        };
        Conclusion::of(&outcome(finding), &record, &Burdens::default(), required)
    }

    #[test]
    fn a_knee_in_words() {
        let told = concluded(knee(), Some(900.0));
        assert_eq!(told.end(), End::Found);
        assert_eq!(
            told.text(),
            "955/s keeps p99 < 50 ms (95 % interval 948/s to 963/s; 948/s held for a minute)\n\n\
             900/s were required, and are shown\n\
             after a surge it takes 3.0 s at 50 % of the knee until the limits are kept again\n\
             give it 711/s, 75 % of what surely holds: 75 % of the knee is the usual reserve\n\
             note: a note\n\n\
             rate    trials  over p99 < 50 ms  good    p99    verdict\n\
             500/s   1       0.00 %            500/s   20 ms  keeps\n\
             1000/s  1       50 %              1000/s  20 ms  breaks: too slow\n\n\
             20 trials in 5 min\n"
        );
    }

    #[test]
    fn ends_have_codes_and_the_docs_have_them() {
        let no_rate = FindFinding::NoRate { lowest: None, why: "slow".to_owned() };
        let partial = FindFinding::Partial { kept: None, broken: None, about: None, why: "over".to_owned() };
        let at_least = FindFinding::AtLeast { rate: 500.0, why: "generator".to_owned() };
        for (finding, required, end) in [
            (knee(), None, End::Found),
            (knee(), Some(950.0), End::Missed),
            (at_least.clone(), Some(500.0), End::Found),
            (at_least, Some(501.0), End::Missed),
            (no_rate, None, End::Missed),
            (partial, Some(1.0), End::NoResult),
        ] {
            assert_eq!(concluded(finding.clone(), required).end(), end, "{finding:?}");
        }
        let page = include_str!("../../../../docs/src/exit-codes.md");
        for (end, meaning) in End::TABLE {
            let row = format!("| {} | {meaning} |", end.code());
            assert!(page.contains(&row), "docs/src/exit-codes.md lacks: {row}");
        }
    }
}
