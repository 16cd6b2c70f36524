//! The probe in words.

use super::cases::{CaseFamily, CaseKind};
use super::framing::FramingRecord;
use super::judge::CaseState;
use super::sweep::{CaseChange, CaseRecord, Sweep, add_beside, records};
use crate::Findings;
use crate::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// All that was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProbeReport {
    /// The target, as people read it.
    pub target: String,
    /// Options that say what is run.
    #[serde(default)]
    pub asked: ProbeOptions,
    /// Idle sweeps.
    pub sweeps: usize,
    /// The baseline that it is held against.
    #[serde(default)]
    pub baseline: Option<BaselineAbout>,
    /// The load beside which it was swept again.
    #[serde(default)]
    pub beside: Option<BesideAbout>,
    /// Cases, in the order of their families.
    pub cases: Vec<CaseRecord>,
    /// Framing probes; empty: none were sent.
    #[serde(default)]
    pub framing: Vec<FramingRecord>,
    /// It was ended by hand before all was done.
    pub ended_early: bool,
    /// Each sweep, of which the cases' states were made.
    #[serde(default)]
    pub done: DoneSweeps,
}

/// Options that say what is run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProbeOptions {
    /// The target, as it was typed.
    pub target: String,
    /// Bytes that it may keep, where wringer starts it.
    pub memory_bytes: u64,
    /// Families and cases; empty: all.
    pub only: Vec<String>,
    /// Idle sweeps.
    pub sweeps: u16,
    /// Requests per second of the load beside which they are run again.
    pub beside: Option<f64>,
    /// Framing probes are sent.
    pub framing: bool,
}

/// Sweeps that have ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DoneSweeps {
    /// Without a load.
    pub idle: Vec<Sweep>,
    /// Beside the load.
    pub beside: Vec<Sweep>,
    /// Without a load afterwards.
    pub after: Option<Sweep>,
}

/// An earlier probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BaselineAbout {
    /// Its file.
    pub file: String,
    /// Its target.
    pub target: String,
}

/// The load beside which cases were run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BesideAbout {
    /// Requests per second that were asked for.
    pub rate: f64,
    /// Good answers of it per second.
    pub good_per_second: f64,
    /// Share of its requests that failed.
    pub failed_share: f64,
    /// Why the load was not what was asked for.
    pub weak: Option<String>,
}

impl ProbeReport {
    /// Makes the cases' states of the sweeps so far.
    pub fn settle(&mut self, families: &[CaseFamily]) {
        self.sweeps = self.done.idle.len();
        self.cases = records(families, &self.done.idle);
        if self.beside.is_some() {
            add_beside(&mut self.cases, &self.done.beside, self.done.after.as_ref());
        }
    }

    /// No case says anything.
    fn is_mute(&self) -> bool {
        let says = |case: &CaseRecord| {
            case.states.iter().any(|state| matches!(state, CaseState::Pass | CaseState::Fail))
        };
        !self.cases.iter().any(says) && self.framing.is_empty()
    }

    fn of(&self, kind: CaseKind) -> impl Iterator<Item = &CaseRecord> {
        self.cases.iter().filter(move |case| case.kind == kind)
    }

    /// As in `115 of 160`.
    fn share(&self, kind: CaseKind) -> String {
        let passed = self.of(kind).filter(|case| case.state == Some(CaseState::Pass)).count();
        format!("{passed} of {}", self.of(kind).count())
    }

    /// A row for each family.
    fn table(&self) -> String {
        let families: Vec<&str> = self.cases.iter().map(|case| case.family.as_str()).collect();
        let mut seen = BTreeSet::new();
        let families = families.into_iter().filter(|family| seen.insert(*family));
        let mut rows = vec![["family", "required", "optimal", "checks: yes"].map(str::to_owned)];
        for family in families {
            let share = |kind: CaseKind| {
                let cases = || self.of(kind).filter(|case| case.family == family);
                let passed = cases().filter(|case| case.state == Some(CaseState::Pass)).count();
                match cases().count() {
                    0 => String::new(),
                    all => format!("{passed} of {all}"),
                }
            };
            let [required, optimal, check] =
                [CaseKind::Required, CaseKind::Optimal, CaseKind::Check].map(share);
            rows.push([family.to_owned(), required, optimal, check]);
        }
        words::aligned(&rows)
    }

    fn not_passed(&self) -> Vec<[String; 2]> {
        let wanted = |case: &&CaseRecord| !matches!(case.state, None | Some(CaseState::Pass));
        self.of(CaseKind::Required).filter(wanted).map(|case| row(case, case.why.as_deref())).collect()
    }

    fn unlike_baseline(&self) -> Vec<[String; 2]> {
        let differs = self.cases.iter().filter(|case| case.differs_from_baseline());
        differs
            .map(|case| {
                let [before, now] =
                    [case.baseline, case.state].map(|state| state.map_or("–", CaseState::text));
                let why = case.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
                [format!("  {}", case.id), format!("{}: {before} → {now}{why}", case.kind.text())]
            })
            .collect()
    }

    fn unsteady(&self) -> Vec<[String; 2]> {
        let unsteady = self.cases.iter().filter(|case| case.state.is_none());
        unsteady.map(|case| [format!("  {}", case.id), states(&case.states)]).collect()
    }

    fn changed_beside(&self) -> Vec<[String; 2]> {
        let changed = self.cases.iter().filter_map(|case| {
            let beside = case.beside.as_ref()?;
            let word = match beside.change {
                CaseChange::Same | CaseChange::NotSteady => return None,
                CaseChange::Worse if case.breaks_beside() => "FAILS",
                CaseChange::Worse => "fails, and may",
                CaseChange::Other => "is another",
                CaseChange::TooSlow => "too slow to judge",
            };
            let why = beside.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            let stays = match (beside.after, case.state) {
                (Some(after), Some(before)) if after != before => ", and stays so without the load",
                (Some(_) | None, _) => "",
            };
            let states = states(&beside.states);
            Some([format!("  {}", case.id), format!("{word} ({}; {states}{stays}){why}", case.kind.text())])
        });
        changed.collect()
    }
}

impl Findings for ProbeReport {
    const SCHEMA: &'static str = "wringer.probe";

    // 3 where a required case fails that passed, or a request was smuggled; 1 where no case got an answer.
    fn code(&self) -> u8 {
        let is_wrong = self.cases.iter().any(|case| case.breaks_beside() || case.breaks_baseline())
            || self.framing.iter().any(FramingRecord::is_wrong);
        if is_wrong { 3 } else { u8::from(self.is_mute()) }
    }

    fn text(&self) -> String {
        let sweeps = words::count(self.sweeps, "idle sweep");
        let mut text = format!("{}\n", self.headline());
        if !self.cases.is_empty() {
            text += &format!("{} in {sweeps}\n\n{}", words::count(self.cases.len(), "case"), self.table());
        }
        text += &section("required, and not passed:", &self.not_passed());
        let mut unlike = self.unlike_baseline();
        if self.baseline.is_some() && unlike.is_empty() {
            unlike.push(nothing());
        }
        text += &section("not as in the baseline:", &unlike);
        text += &section("not steady from sweep to sweep:", &self.unsteady());
        if let Some(beside) = &self.beside {
            let title = format!(
                "changed beside {} ({} good, {} failed):",
                words::rate(beside.rate),
                words::rate(beside.good_per_second),
                words::percent(beside.failed_share),
            );
            let mut changed = self.changed_beside();
            if changed.is_empty() {
                changed.push(nothing());
            }
            text += &section(&title, &changed);
        }
        text += &super::framing::text(&self.framing);
        text
    }

    fn headline(&self) -> String {
        let mut parts = Vec::new();
        if self.is_mute() {
            parts.push("NO CASE SAYS ANYTHING: no answer came as the origin gave it".to_owned());
        } else if !self.cases.is_empty() {
            let [required, optimal] = [CaseKind::Required, CaseKind::Optimal].map(|kind| self.share(kind));
            parts.push(format!("required {required} passed, optimal {optimal}"));
        }
        let count = |what: &dyn Fn(&CaseRecord) -> bool| self.cases.iter().filter(|case| what(case)).count();
        let unsteady = count(&|case| case.state.is_none());
        let told = [
            (unsteady, "NOT STEADY".to_owned()),
            (
                count(&|case| self.baseline.is_some() && case.baseline.is_none()),
                "NOT IN THE BASELINE".to_owned(),
            ),
            (count(&CaseRecord::breaks_baseline), "required that passed in the baseline FAIL".to_owned()),
            (count(&CaseRecord::breaks_beside), "required FAIL BESIDE THE LOAD".to_owned()),
            (
                count(&|case| case.beside.as_ref().is_some_and(|b| b.change == CaseChange::TooSlow)),
                "too slow to judge".to_owned(),
            ),
            (
                self.framing.iter().filter(|record| record.is_wrong()).count(),
                "framing probes went WRONG".to_owned(),
            ),
        ];
        parts.extend(
            told.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")),
        );
        if let Some(baseline) = self.baseline.as_ref().filter(|baseline| baseline.target != self.target) {
            parts.push(format!("the baseline is OF ANOTHER TARGET, {}", baseline.target));
        }
        if let Some(weak) = self.beside.as_ref().and_then(|beside| beside.weak.as_ref()) {
            parts.push(format!("the load WAS NOT as asked for: {weak}"));
        }
        if self.ended_early {
            parts.push("ENDED BY HAND before all was done".to_owned());
        }
        format!("{}: {}", self.target, parts.join("; "))
    }
}

fn nothing() -> [String; 2] {
    ["  nothing".to_owned(), String::new()]
}

fn row(case: &CaseRecord, why: Option<&str>) -> [String; 2] {
    let state = match case.state {
        Some(CaseState::Fail) | None => String::new(),
        Some(other) => format!("{}: ", other.text()),
    };
    [format!("  {}", case.id), format!("{state}{}", why.unwrap_or("no reason is known"))]
}

fn states(states: &[CaseState]) -> String {
    states.iter().map(|state| state.text()).collect::<Vec<_>>().join(", ")
}

/// A title and its rows; nothing, where there is none.
pub(super) fn section(title: &str, rows: &[[String; 2]]) -> String {
    if rows.is_empty() { String::new() } else { format!("\n{title}\n{}", words::aligned(rows)) }
}

impl CaseState {
    /// In a word.
    pub fn text(self) -> &'static str {
        match self {
            CaseState::Pass => "pass",
            CaseState::Fail => "fail",
            CaseState::Setup => "not prepared",
            CaseState::Retry => "asked twice",
            CaseState::Silent => "no answer in time",
            CaseState::Dependency => "depends on a failure",
        }
    }
}

impl CaseKind {
    /// In a word.
    pub fn text(self) -> &'static str {
        match self {
            CaseKind::Required => "required",
            CaseKind::Optimal => "optimal",
            CaseKind::Check => "check",
        }
    }
}

/// The list of cases, as people read it.
pub fn cases_text(families: &[CaseFamily]) -> String {
    let mut text = String::new();
    for family in families {
        text += &format!("{}: {}\n", family.id, family.name);
        let rows: Vec<[String; 3]> = family
            .cases
            .iter()
            .map(|case| [format!("  {}", case.id), case.kind.text().to_owned(), case.name.clone()])
            .collect();
        text += &words::aligned(&rows);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::super::sweep::{CaseRun, add_baseline};
    use super::*;

    fn sweep(state: CaseState) -> Sweep {
        let why = (state != CaseState::Pass).then(|| "response 2 comes from the cache".to_owned());
        Sweep::from([("freshness-max-age-stale".to_owned(), CaseRun { state, why, slowest_ms: 3.0 })])
    }

    fn report(idle: CaseState) -> ProbeReport {
        let families = cases::only(&["freshness-max-age-stale".to_owned()]).expect("it is there");
        let cases = records(&families, &[sweep(idle), sweep(idle)]);
        ProbeReport { target: "nginx".to_owned(), sweeps: 2, cases, ..ProbeReport::default() }
    }

    #[test]
    fn a_failure_without_anything_beside_it_is_told_and_is_no_error() {
        let report = report(CaseState::Fail);
        assert_eq!(report.code(), 0);
        assert_eq!(report.headline(), "nginx: required 0 of 1 passed, optimal 0 of 0");
        assert!(
            report.text().contains("freshness-max-age-stale  response 2 comes from the cache"),
            "{}",
            report.text()
        );
    }

    #[test]
    fn what_passed_and_fails_is_an_error() {
        let mut found = report(CaseState::Fail);
        add_baseline(&mut found.cases, &report(CaseState::Pass).cases);
        found.baseline = Some(BaselineAbout { file: "a.json".to_owned(), target: "varnish".to_owned() });
        assert_eq!(found.code(), 3);
        let text = found.text();
        assert!(
            text.contains("1 required that passed in the baseline FAIL")
                && text.contains("OF ANOTHER TARGET, varnish"),
            "{text}"
        );
        assert!(!text.contains("NOT IN"), "{text}");
        found.cases[0].baseline = None;
        assert!(found.headline().contains("1 NOT IN THE BASELINE"), "{}", found.headline());
        let mut same = report(CaseState::Fail);
        add_baseline(&mut same.cases, &report(CaseState::Fail).cases);
        same.baseline = Some(BaselineAbout { file: "a.json".to_owned(), target: "nginx".to_owned() });
        assert!(same.text().contains("not as in the baseline:\n  nothing"), "{}", same.text());
        let mut found = report(CaseState::Pass);
        let beside = [CaseState::Fail, CaseState::Fail, CaseState::Pass].map(sweep);
        add_beside(&mut found.cases, &beside, Some(&sweep(CaseState::Pass)));
        found.beside =
            Some(BesideAbout { rate: 100.0, good_per_second: 99.0, failed_share: 0.0, weak: None });
        assert_eq!(found.code(), 3);
        assert!(found.text().contains("FAILS (required; fail, fail, pass)"), "{}", found.text());
    }

    #[test]
    fn a_target_that_answers_nothing_has_passed_nothing() {
        let mut found = report(CaseState::Silent);
        assert_eq!(found.code(), 1);
        assert!(found.headline().contains("NO CASE SAYS ANYTHING"));
        found.cases.clear();
        assert_eq!(found.code(), 1);
    }
}
