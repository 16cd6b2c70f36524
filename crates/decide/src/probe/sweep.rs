//! Sweeps: each is one run of all cases. What several of them agree on is steady, and only what is steady is held against anything.

use super::cases::{CacheCase, CaseFamily, CaseKind};
use super::judge::CaseState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CaseRun {
    /// Its state.
    pub state: CaseState,
    /// Why it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Milliseconds of its slowest answer, without what the origin waited.
    pub slowest_ms: f64,
}

/// One run of each case, by its name.
pub type Sweep = BTreeMap<String, CaseRun>;

/// Cases that depend on one that did not pass say nothing. What is not in the sweep is taken to have passed.
pub fn settle(families: &[CaseFamily], sweep: &mut Sweep) {
    let cases: BTreeMap<&str, &CacheCase> =
        families.iter().flat_map(|family| &family.cases).map(|case| (case.id.as_str(), case)).collect();
    let by = |case: &&CacheCase| blocked_by(&cases, sweep, case, DEEPEST).map(str::to_owned);
    let blocked: BTreeMap<String, String> =
        cases.values().filter_map(|case| Some((case.id.clone(), by(case)?))).collect();
    for (id, run) in sweep {
        if let Some(by) = blocked.get(id) {
            run.state = CaseState::Dependency;
            run.why = Some(format!("it depends on {by}, which did not pass"));
        }
    }
}

/// Cases depend on others, and these on others, so deep at most.
const DEEPEST: usize = 16;

/// The case that one depends on and that did not pass.
fn blocked_by<'a>(
    cases: &BTreeMap<&str, &'a CacheCase>,
    sweep: &Sweep,
    case: &'a CacheCase,
    deep: usize,
) -> Option<&'a str> {
    case.depends_on.iter().map(String::as_str).find(|id| {
        let has_failed = sweep.get(*id).is_some_and(|run| run.state != CaseState::Pass);
        let is_blocked = || {
            cases.get(id).is_some_and(|case| deep > 0 && blocked_by(cases, sweep, case, deep - 1).is_some())
        };
        has_failed || is_blocked()
    })
}

/// A case and its states, in JSON and in a baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CaseRecord {
    /// Its name.
    pub id: String,
    /// Its family.
    pub family: String,
    /// Its weight.
    pub kind: CaseKind,
    /// The behaviour that is asked for.
    pub about: String,
    /// The state of all idle sweeps; `None`: they do not agree.
    pub state: Option<CaseState>,
    /// Its states, sweep by sweep.
    pub states: Vec<CaseState>,
    /// Why it did not pass, in the last sweep in which it did not.
    pub why: Option<String>,
    /// The same beside the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<BesideRecord>,
    /// Its state in the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<CaseState>,
}

/// A case beside a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BesideRecord {
    /// Its states, sweep by sweep.
    pub states: Vec<CaseState>,
    /// Milliseconds of its slowest answer.
    pub slowest_ms: f64,
    /// Its state in the idle sweep afterwards.
    pub after: Option<CaseState>,
    /// The conclusion.
    pub change: CaseChange,
    /// Why it did not pass.
    pub why: Option<String>,
}

/// A case beside a load, against itself without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CaseChange {
    /// As it was.
    Same,
    /// It passed, and does not.
    Worse,
    /// It did not pass, and does; or it says nothing now.
    Other,
    /// It was not steady without the load.
    NotSteady,
    /// It changed, and its answers took so long that its clocks say nothing.
    TooSlow,
}

/// Answers of a case that are later than this are too late for its clocks, which count seconds.
pub const SLOW_MS: f64 = 500.0;

/// Records of all cases after idle sweeps.
pub fn records(families: &[CaseFamily], idle: &[Sweep]) -> Vec<CaseRecord> {
    let cases = families.iter().flat_map(|family| family.cases.iter().map(move |case| (family, case)));
    cases
        .map(|(family, case)| {
            let runs = runs(idle, &case.id);
            let states: Vec<CaseState> = runs.iter().map(|run| run.state).collect();
            CaseRecord {
                id: case.id.clone(),
                family: family.id.clone(),
                kind: case.kind,
                about: case.name.clone(),
                state: steady(&states),
                why: why(&runs),
                states,
                beside: None,
                baseline: None,
            }
        })
        .collect()
}

fn runs<'a>(sweeps: &'a [Sweep], id: &str) -> Vec<&'a CaseRun> {
    sweeps.iter().filter_map(|sweep| sweep.get(id)).collect()
}

fn steady(states: &[CaseState]) -> Option<CaseState> {
    let first = *states.first()?;
    states.iter().all(|state| *state == first).then_some(first)
}

fn why(runs: &[&CaseRun]) -> Option<String> {
    runs.iter().rev().find_map(|run| run.why.clone())
}

/// Adds sweeps beside a load, and the idle one afterwards.
pub fn add_beside(records: &mut [CaseRecord], beside: &[Sweep], after: Option<&Sweep>) {
    for record in records {
        let runs = runs(beside, &record.id);
        if runs.is_empty() {
            continue;
        }
        record.beside = Some(BesideRecord {
            states: runs.iter().map(|run| run.state).collect(),
            slowest_ms: runs.iter().map(|run| run.slowest_ms).fold(0.0, f64::max),
            after: after.and_then(|sweep| sweep.get(&record.id)).map(|run| run.state),
            change: change(record.state, &runs),
            why: why(&runs),
        });
    }
}

/// A case has changed where two of three sweeps say so.
fn change(idle: Option<CaseState>, runs: &[&CaseRun]) -> CaseChange {
    let Some(idle) = idle else { return CaseChange::NotSteady };
    let others: Vec<&&CaseRun> = runs.iter().filter(|run| run.state != idle).collect();
    if 3 * others.len() < 2 * runs.len() {
        return CaseChange::Same;
    }
    let in_time = others.iter().filter(|run| run.slowest_ms < SLOW_MS);
    let has_failed = in_time.clone().filter(|run| run.state == CaseState::Fail).count();
    if 3 * in_time.count() < 2 * runs.len() {
        return CaseChange::TooSlow;
    }
    let is_worse = idle == CaseState::Pass && 3 * has_failed >= 2 * runs.len();
    if is_worse { CaseChange::Worse } else { CaseChange::Other }
}

impl CaseRecord {
    /// Families whose cases may differ under load without being wrong.
    fn is_of_taste(&self) -> bool {
        matches!(self.family.as_str(), "interim" | "heuristic")
    }

    /// A required case that passed without the load and fails beside it.
    pub fn breaks_beside(&self) -> bool {
        let is_worse = self.beside.as_ref().is_some_and(|beside| beside.change == CaseChange::Worse);
        is_worse && self.kind == CaseKind::Required && !self.is_of_taste()
    }

    /// It is another one than in the baseline; both must be steady.
    pub fn differs_from_baseline(&self) -> bool {
        matches!((self.baseline, self.state), (Some(before), Some(now)) if before != now)
    }

    /// A required case that passes in the baseline and fails now.
    pub fn breaks_baseline(&self) -> bool {
        let was = self.baseline == Some(CaseState::Pass);
        was && self.state == Some(CaseState::Fail) && self.kind == CaseKind::Required
    }
}

/// Adds what a baseline says of each case.
pub fn add_baseline(records: &mut [CaseRecord], baseline: &[CaseRecord]) {
    let known: BTreeMap<&str, CaseState> =
        baseline.iter().filter_map(|record| Some((record.id.as_str(), record.state?))).collect();
    for record in records {
        record.baseline = known.get(record.id.as_str()).copied();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(state: CaseState, slowest_ms: f64) -> CaseRun {
        CaseRun { state, why: None, slowest_ms }
    }

    /// The change of a case that was this when idle.
    fn changed(idle: Option<CaseState>, runs: &[CaseRun]) -> CaseChange {
        change(idle, &runs.iter().collect::<Vec<_>>())
    }

    #[test]
    fn two_of_three_sweeps_decide_and_slow_ones_say_nothing() {
        use CaseState::{Fail, Pass, Setup};
        let quick = |state| run(state, 10.0);
        let slow = |state| run(state, 900.0);
        let pass = Some(Pass);
        assert_eq!(changed(pass, &[quick(Fail), quick(Pass), quick(Pass)]), CaseChange::Same);
        assert_eq!(changed(pass, &[quick(Fail), quick(Fail), quick(Pass)]), CaseChange::Worse);
        assert_eq!(changed(pass, &[slow(Fail), quick(Fail), slow(Fail)]), CaseChange::TooSlow);
        assert_eq!(changed(pass, &[quick(Setup), quick(Setup), quick(Fail)]), CaseChange::Other);
        assert_eq!(changed(Some(Fail), &[quick(Pass), quick(Pass), quick(Pass)]), CaseChange::Other);
        assert_eq!(changed(None, &[quick(Fail), quick(Fail), quick(Fail)]), CaseChange::NotSteady);
    }

    #[test]
    fn what_depends_on_a_failure_says_nothing() {
        let families = super::super::cases::all();
        let mut sweep = Sweep::new();
        // The second depends on the first, and the third on the second.
        for id in ["freshness-none", "freshness-max-age", "freshness-max-age-stale"] {
            sweep.insert(id.to_owned(), run(CaseState::Pass, 1.0));
        }
        settle(&families, &mut sweep);
        assert!(sweep.values().all(|run| run.state == CaseState::Pass));
        sweep.insert("freshness-none".to_owned(), run(CaseState::Fail, 1.0));
        settle(&families, &mut sweep);
        assert_eq!(sweep["freshness-max-age"].state, CaseState::Dependency);
        assert_eq!(sweep["freshness-max-age-stale"].state, CaseState::Dependency);
    }

    #[test]
    fn only_steady_cases_are_held_against_a_baseline() {
        let families =
            super::super::cases::only(&["freshness-max-age-stale".to_owned()]).expect("it is there");
        let sweep = |state| Sweep::from([("freshness-max-age-stale".to_owned(), run(state, 1.0))]);
        let [pass, fail] = [CaseState::Pass, CaseState::Fail];
        let baseline = records(&families, &[sweep(pass), sweep(pass)]);
        let judged = |sweeps: &[Sweep]| {
            let mut records = records(&families, sweeps);
            add_baseline(&mut records, &baseline);
            records[0].breaks_baseline()
        };
        assert!(judged(&[sweep(fail), sweep(fail)]));
        assert!(!judged(&[sweep(fail), sweep(pass)]));
        assert!(!judged(&[sweep(pass), sweep(pass)]));
        let mut records = records(&families, &[sweep(pass)]);
        add_beside(&mut records, &[sweep(fail), sweep(fail), sweep(pass)], Some(&sweep(pass)));
        assert!(records[0].breaks_beside());
    }
}
