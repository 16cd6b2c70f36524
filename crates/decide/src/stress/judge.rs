//! The verdict on a scenario, from what was seen.

use super::resources::Resources;
use super::windows::{HEALTHY_S, Window};
use crate::words;
use measure::Counts;
use serde::{Deserialize, Serialize};

/// Facts of a scenario that was run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Seen {
    /// The bystander before, during and after.
    pub before: Window,
    /// While it pressed.
    pub during: Window,
    /// After that, until it was well, or the time was up.
    pub after: Window,
    /// The pressure itself.
    pub pressed: Pressed,
    /// How the target died.
    pub died: Option<String>,
    /// Seconds until the bystander was well again; `None`: it was not.
    pub back_s: Option<f64>,
    /// Seconds that the way back was watched.
    pub watched_s: f64,
    /// The target before, at most while it pressed, and at the end.
    pub held_before: Resources,
    /// The most of each while it pressed.
    pub held_most: Resources,
    /// When the way back was over.
    pub held_after: Resources,
    /// Why it did not press as it should: the generator was the limit. Nothing passes then.
    pub weak: Option<String>,
    /// It says something only of a target that caches.
    pub of_caches: bool,
    /// Bytes that it may keep, where that is known.
    pub cache_bytes: Option<u64>,
}

/// The pressure, as the clients that made it saw it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Pressed {
    /// Seconds that it pressed.
    pub seconds: f64,
    /// Their counters.
    pub counts: Counts,
    /// Objects of its hot set.
    #[serde(default)]
    pub objects: u64,
    /// The 99th percentile of the response time of good answers.
    pub p99_ms: Option<f64>,
    /// The most connections, or requests under way, that it meant to have.
    pub connections: u64,
    /// Bytes of bodies that the origin sent meanwhile, to whomever.
    pub origin_bytes: Option<u64>,
}

/// Result of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StressState {
    /// It could not be run, or says nothing.
    NotRun,
    /// Nothing came of it.
    Pass,
    /// The bystander suffered, or something stayed behind.
    Degraded,
    /// The bystander failed, somebody got a wrong answer, or the scenario's own rule was broken.
    Failed,
    /// The target died, or did not come back.
    Broken,
}

impl StressState {
    /// As people read it.
    pub fn text(self) -> &'static str {
        match self {
            StressState::NotRun => "not run",
            StressState::Pass => "pass",
            StressState::Degraded => "degraded",
            StressState::Failed => "FAILED",
            StressState::Broken => "BROKEN",
        }
    }
}

/// A verdict with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verdict {
    /// In a word.
    pub state: StressState,
    /// Sentences; for a pass none.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// It could not be run, or says nothing.
    pub fn not_run(why: impl Into<String>) -> Verdict {
        Verdict { state: StressState::NotRun, reasons: vec![why.into()] }
    }
}

/// The bystander is degraded where its p99 is so many times that of before, and above this.
const SLOWER: f64 = 5.0;
const SLOW_MS: f64 = 50.0;
/// Shares of its requests without a good answer.
const DEGRADED: f64 = 0.001;
const FAILED: f64 = 0.05;
/// Lateness that may be all there is to a symptom, also as a share of the bystander's p99.
const LATE_MS: f64 = 10.0;
const LATE_SHARE: f64 = 0.25;
/// With more than that before anything presses, nothing can be told.
const UNWELL: f64 = 0.01;
/// A target that caches answers more than this of the bystander's requests itself.
const CACHED: f64 = 0.5;

/// Judges. `rule`: what the scenario's own rule says against it. `left`: what has not been given back.
pub fn judge(seen: &Seen, rule: Option<String>, left: &[String]) -> Verdict {
    // What is wrong, or gone, is so whoever was the limit, and however it was before.
    let is_fact = seen.died.is_some() || faulty(seen).is_some();
    if let Some(why) = unwell_before(seen).filter(|_| !is_fact) {
        return Verdict::not_run(why);
    }
    // What is slow may be the generator's doing, but nobody is refused, and nothing is counted more often, by being late.
    let is_fact = is_fact || failing(seen).is_some() || rule.is_some();
    let broken = broken(seen);
    let failed: Vec<String> = faulty(seen).into_iter().chain(failing(seen)).chain(rule).collect();
    let degraded: Vec<String> = degraded(seen).into_iter().chain(left.iter().cloned()).collect();
    let worst =
        [(StressState::Broken, broken), (StressState::Failed, failed), (StressState::Degraded, degraded)];
    let state = worst.iter().find(|(_, reasons)| !reasons.is_empty()).map(|(state, _)| *state);
    let reasons: Vec<String> = worst.into_iter().flat_map(|(_, reasons)| reasons).collect();
    match (state, &seen.weak, late(seen)) {
        (None, Some(why), _) => Verdict::not_run(format!("it was not pressed as it should be: {why}")),
        (None, None, _) => Verdict { state: StressState::Pass, reasons },
        (Some(_), _, Some(why)) if !is_fact => {
            Verdict::not_run(format!("it cannot be told from a busy machine ({}): {why}", reasons.join("; ")))
        }
        (Some(state), _, _) => Verdict { state, reasons },
    }
}

fn unwell_before(seen: &Seen) -> Option<String> {
    if seen.before.due == 0 || seen.before.p99_ms.is_none() {
        return Some("the bystander got no answer before anything pressed".to_owned());
    }
    if seen.before.failed_share() > UNWELL {
        let share = words::percent(seen.before.failed_share());
        return Some(format!("the bystander was not well before anything pressed: {share} failed"));
    }
    let uncached = seen.before.hit_ratio.is_none_or(|ratio| ratio < CACHED);
    (seen.of_caches && uncached).then(|| {
        let share = words::percent(seen.before.hit_ratio.unwrap_or(0.0));
        format!("it is about caches, and {share} of the bystander's answers came out of one")
    })
}

/// The bystander was itself sent late, so that what is slow may not be the target. What passes all the same has passed.
fn late(seen: &Seen) -> Option<String> {
    let late = seen.during.late_ms?;
    let is_much = late > LATE_MS && seen.during.p99_ms.is_none_or(|p99| late > LATE_SHARE * p99);
    is_much.then(|| {
        let late = words::time(late / 1e3);
        format!("the bystander was sent {late} late (p99): press from another machine, or less (--capacity)")
    })
}

fn broken(seen: &Seen) -> Vec<String> {
    let silent = seen.died.is_none() && seen.back_s.is_none();
    let not_back =
        || format!("the bystander was not well for {HEALTHY_S} s in a row within {:.0} s", seen.watched_s);
    seen.died.iter().cloned().chain(silent.then(not_back)).collect()
}

fn faulty(seen: &Seen) -> Option<String> {
    let bystander = seen.before.faulty + seen.during.faulty + seen.after.faulty;
    let count = bystander + seen.pressed.counts.check_failed;
    let of = if bystander > 0 { format!(", {bystander} of them to the bystander") } else { String::new() };
    (count > 0).then(|| format!("{} wrong{of}", words::count(count as usize, "answer")))
}

fn failing(seen: &Seen) -> Option<String> {
    let share = seen.during.failed_share();
    (share > FAILED).then(|| format!("{} of the bystander's requests failed", words::percent(share)))
}

fn degraded(seen: &Seen) -> Vec<String> {
    let share = seen.during.failed_share();
    let few = (share > DEGRADED && share <= FAILED)
        .then(|| format!("{} of the bystander's requests failed", words::percent(share)));
    let before = seen.before.p99_ms.unwrap_or(0.0);
    let now = seen.during.p99_ms.filter(|now| *now > SLOW_MS && *now > SLOWER * before);
    let slow = now.map(|now| {
        format!("the bystander's p99 rose from {} to {}", words::time(before / 1e3), words::time(now / 1e3))
    });
    few.into_iter().chain(slow).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target that minds nothing.
    fn well() -> Seen {
        let window = Window {
            due: 1000,
            not_good: 0,
            faulty: 0,
            p99_ms: Some(1.0),
            late_ms: None,
            hit_ratio: Some(1.0),
        };
        Seen {
            before: window.clone(),
            during: window.clone(),
            after: window,
            back_s: Some(0.0),
            watched_s: 60.0,
            ..Seen::default()
        }
    }

    fn check(
        change: impl FnOnce(&mut Seen),
        rule: Option<&str>,
        left: &[&str],
        expected: (StressState, &str),
    ) {
        let mut seen = well();
        change(&mut seen);
        let left: Vec<String> = left.iter().map(|left| (*left).to_owned()).collect();
        let verdict = judge(&seen, rule.map(str::to_owned), &left);
        assert_eq!(verdict.state, expected.0, "{verdict:?}");
        assert!(verdict.reasons.join("; ").contains(expected.1), "{verdict:?}");
    }

    #[test]
    fn each_state_has_its_reason() {
        check(|_| {}, None, &[], (StressState::Pass, ""));
        check(|seen| seen.during.p99_ms = Some(51.0), None, &[], (StressState::Degraded, "1 ms to 51"));
        check(|seen| seen.during.p99_ms = Some(49.0), None, &[], (StressState::Pass, ""));
        check(|seen| seen.during.not_good = 2, None, &[], (StressState::Degraded, "0.2 %"));
        check(|seen| seen.during.not_good = 51, None, &[], (StressState::Failed, "5.1 %"));
        check(
            |seen| seen.after.faulty = 1,
            None,
            &[],
            (StressState::Failed, "1 answer wrong, 1 of them to the"),
        );
        check(
            |seen| seen.pressed.counts.check_failed = 2,
            None,
            &[],
            (StressState::Failed, "2 answers wrong"),
        );
        check(|seen| seen.back_s = None, None, &[], (StressState::Broken, "within 60 s"));
        check(|seen| seen.died = Some("it crashed".into()), None, &[], (StressState::Broken, "crashed"));
        check(|_| {}, Some("too many fetches"), &[], (StressState::Failed, "fetches"));
        check(|_| {}, None, &["300 descriptors"], (StressState::Degraded, "300"));
    }

    #[test]
    fn what_says_nothing_never_passes() {
        let weak = |seen: &mut Seen| seen.weak = Some("the generator was busy".into());
        check(weak, None, &[], (StressState::NotRun, "generator"));
        // What suffers from less suffers from more.
        check(weak, Some("too many fetches"), &[], (StressState::Failed, "fetches"));
        let late = |seen: &mut Seen| seen.during.late_ms = Some(150.0);
        check(late, None, &[], (StressState::Pass, ""));
        let slow = |seen: &mut Seen| {
            late(seen);
            seen.during.p99_ms = Some(500.0);
        };
        check(slow, None, &[], (StressState::NotRun, "sent 150 ms late"));
        check(slow, Some("the origin was asked 400 times"), &[], (StressState::Failed, "400 times"));
        let slower = |seen: &mut Seen| {
            late(seen);
            seen.during.p99_ms = Some(900.0);
        };
        check(slower, None, &[], (StressState::Degraded, "900 ms"));
        // A wrong answer is one, whoever was busy.
        let wrong = |seen: &mut Seen| {
            slow(seen);
            seen.during.faulty = 1;
        };
        check(wrong, None, &[], (StressState::Failed, "wrong"));
        check(|seen| seen.before.not_good = 11, None, &[], (StressState::NotRun, "not well before"));
        check(|seen| seen.before.due = 0, None, &[], (StressState::NotRun, "no answer before"));
        check(
            |seen| (seen.of_caches, seen.before.hit_ratio) = (true, Some(0.1)),
            None,
            &[],
            (StressState::NotRun, "10 %"),
        );
    }
}
