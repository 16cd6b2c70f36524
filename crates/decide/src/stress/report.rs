//! Findings in words and as data.

use super::catalogue;
use super::causes::{Cause, Counters, Moved};
use super::judge::{Seen, StressState, Verdict};
use super::scenario::{Ground, Scenario};
use crate::Findings;
use crate::words;
use serde::{Deserialize, Serialize};

/// A scenario with what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StressFinding {
    /// The scenario.
    pub scenario: String,
    /// The pressure, in words.
    pub about: String,
    /// Verdict in the end.
    pub verdict: Verdict,
    /// Causes whose counters moved; told where it does not pass.
    pub moved: Vec<Moved>,
    /// Facts; `None`: it was not run.
    pub seen: Option<Seen>,
    /// Counters beside them.
    pub counters: Option<Counters>,
    /// The verdict of a second time on a fresh target, where the first was no pass.
    pub again: Option<Verdict>,
    /// Run files: of the bystander and of the pressure.
    pub files: Vec<String>,
}

/// Options that all scenarios of a report were run with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StressOptions {
    /// The target, as it was typed.
    pub target: String,
    /// All chance comes from it.
    pub seed: u64,
    /// Seconds that each presses.
    pub press_s: f64,
    /// Seconds that the way back is watched, at most.
    pub back_s: f64,
    /// Its capacity, where it was given.
    pub capacity: Option<f64>,
    /// Bytes that it may keep, where that is known.
    pub cache_bytes: Option<u64>,
    /// TLS is spoken to it.
    pub is_secure: bool,
    /// The target is theirs who ask.
    pub is_owned: bool,
}

/// All findings on a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// The target, as people read it.
    pub target: String,
    /// Options of all scenarios.
    pub asked: StressOptions,
    /// Facts that scenarios were fitted to.
    pub ground: Ground,
    /// The capacity was given, and not measured.
    pub assumed: bool,
    /// It was ended by hand before all were run.
    pub ended_early: bool,
    /// In the order in which they were run.
    pub findings: Vec<StressFinding>,
}

impl Report {
    /// This scenario has a finding.
    pub fn has(&self, scenario: &str) -> bool {
        self.findings.iter().any(|finding| finding.scenario == scenario)
    }

    fn count(&self, state: StressState) -> usize {
        self.findings.iter().filter(|finding| finding.verdict.state == state).count()
    }

    fn table(&self) -> String {
        let head = ["scenario", "verdict", "bystander's p99", "failed", "well after", "memory at most"];
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(self.findings.iter().map(StressFinding::row));
        words::aligned(&rows)
    }
}

impl Findings for Report {
    const SCHEMA: &'static str = "wringer.stress";

    // 3 where something failed or broke, 1 where nothing could be run.
    fn code(&self) -> u8 {
        match (
            self.count(StressState::Failed) + self.count(StressState::Broken),
            self.count(StressState::NotRun),
        ) {
            (0, not_run) if not_run == self.findings.len() => 1,
            (0, _) => 0,
            _ => 3,
        }
    }

    fn text(&self) -> String {
        let how = if self.assumed { "as given" } else { "measured at the start" };
        let ground = format!(
            "it carries {} over kept connections and {} with one for each request ({how})\n",
            words::rate(self.ground.capacity),
            words::rate(self.ground.connections),
        );
        let reasons: String = self.findings.iter().map(StressFinding::reasons).collect();
        let gap = if reasons.is_empty() { "" } else { "\n" };
        format!("{}\n{ground}\n{}{gap}{reasons}", self.headline(), self.table())
    }

    fn headline(&self) -> String {
        let told = [
            (StressState::Broken, "broke it"),
            (StressState::Failed, "failed"),
            (StressState::Degraded, "degraded it"),
            (StressState::Pass, "passed"),
            (StressState::NotRun, "NOT RUN or void"),
        ];
        let counts = told.into_iter().map(|(state, word)| (self.count(state), word));
        let parts: Vec<String> =
            counts.filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        let early = if self.ended_early { ", ENDED BY HAND before all were run" } else { "" };
        if parts.is_empty() {
            return format!("{}: no scenario was run{early}", self.target);
        }
        let all = words::count(self.findings.len(), "scenario");
        format!("{}: of {all} {}{early}", self.target, words::list(&parts))
    }
}

fn milliseconds(time: Option<f64>) -> String {
    time.map_or_else(|| "–".to_owned(), |ms| words::time(ms / 1e3))
}

impl StressFinding {
    fn row(&self) -> [String; 6] {
        let state = self.verdict.state.text().to_owned();
        let name = self.scenario.clone();
        let Some(seen) = &self.seen else {
            return [name, state, String::new(), String::new(), String::new(), String::new()];
        };
        let back = match seen.back_s {
            Some(seconds) if seconds > 0.0 => words::time(seconds),
            Some(_) => "at once".to_owned(),
            None => format!("not in {:.0} s", seen.watched_s),
        };
        let memory =
            seen.held_most.memory_bytes.map_or_else(|| "–".to_owned(), |most| words::bytes(most as f64));
        let p99 = format!("{} → {}", milliseconds(seen.before.p99_ms), milliseconds(seen.during.p99_ms));
        [name, state, p99, words::percent(seen.during.failed_share()), back, memory]
    }

    /// Reasons and causes, where it did not pass.
    fn reasons(&self) -> String {
        if self.verdict.state == StressState::Pass {
            return String::new();
        }
        let mut text = format!(
            "{}: {}: {}\n",
            self.scenario,
            self.verdict.state.text(),
            self.verdict.reasons.join("; ")
        );
        if self.verdict.state == StressState::NotRun {
            return text;
        }
        let again = self.again.as_ref().map(|again| again.state);
        if let Some(state) = again {
            text += &format!("    a second time, on a fresh target: {}\n", state.text());
        }
        for moved in &self.moved {
            text += &format!("    moved meanwhile: {}: {}\n", moved.cause.text(), moved.evidence);
        }
        let likely = catalogue::named(&self.scenario).map_or(&[][..], |scenario| scenario.causes);
        let is_other = |cause: &&Cause| !self.moved.iter().any(|moved| moved.cause == **cause);
        for cause in likely.iter().filter(is_other) {
            text += &format!("    also possible: {}: {}\n", cause.text(), cause.look());
        }
        text
    }

    /// In a line, as soon as it is known.
    pub fn line(&self, number: usize, all: usize) -> String {
        let why = match self.verdict.reasons.first() {
            Some(why) => format!(": {why}"),
            None => String::new(),
        };
        format!("{number} of {all} {}: {}{why}", self.scenario, self.verdict.state.text())
    }
}

/// The scenarios as a list.
pub fn catalogue_text() -> String {
    let fails = |scenario: &Scenario| match scenario.fails_if {
        "" => String::new(),
        rule => format!("; fails if {rule}"),
    };
    let row =
        |scenario: &Scenario| [scenario.name.to_owned(), format!("{}{}", scenario.about, fails(scenario))];
    words::aligned(&catalogue::all().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::Cause;

    fn finding(state: StressState, reasons: &[&str]) -> StressFinding {
        let reasons = reasons.iter().map(|reason| (*reason).to_owned()).collect();
        StressFinding {
            scenario: "bursts".into(),
            about: "bursts".into(),
            verdict: Verdict { state, reasons },
            moved: vec![Moved { cause: Cause::Threads, evidence: "its busiest thread used 99 %".into() }],
            seen: Some(Seen { back_s: Some(2.0), ..Seen::default() }),
            counters: None,
            again: None,
            files: Vec::new(),
        }
    }

    fn report(findings: Vec<StressFinding>) -> Report {
        let ground = Ground {
            capacity: 20_000.0,
            connections: 4_000.0,
            press_s: 30.0,
            descriptors: 20_000,
            is_secure: false,
            is_owned: true,
            cache_bytes: Some(64 << 20),
            knows_processes: true,
            reloads: true,
            has_disk: true,
        };
        let asked = StressOptions {
            target: "nginx".into(),
            seed: 1,
            press_s: 30.0,
            back_s: 60.0,
            capacity: None,
            cache_bytes: Some(64 << 20),
            is_secure: false,
            is_owned: true,
        };
        Report { target: "nginx".into(), asked, ground, assumed: false, ended_early: false, findings }
    }

    #[test]
    fn the_headline_tells_the_worst_first_and_what_was_not_run() {
        let findings = vec![
            finding(StressState::Pass, &[]),
            finding(StressState::NotRun, &["no TLS"]),
            finding(StressState::Failed, &["6 % failed"]),
        ];
        let report = report(findings);
        let expected = "nginx: of 3 scenarios 1 failed, 1 passed and 1 NOT RUN or void";
        assert_eq!((report.headline().as_str(), report.code()), (expected, 3));
        let text = report.text();
        assert!(text.contains("moved meanwhile: its threads: its busiest thread used 99 %"), "{text}");
        assert!(text.contains("also possible: the accept queue: ss -ltn"), "{text}");
        assert!(text.contains("bursts: not run: no TLS\n"), "{text}");
    }

    #[test]
    fn exit_codes() {
        for (states, code) in [
            (&[StressState::Pass, StressState::NotRun][..], 0),
            (&[StressState::Degraded], 0),
            (&[StressState::NotRun], 1),
            (&[StressState::Broken, StressState::Pass], 3),
            (&[], 1),
        ] {
            let findings = states.iter().map(|state| finding(*state, &["why"])).collect();
            assert_eq!(report(findings).code(), code, "{states:?}");
        }
    }
}
