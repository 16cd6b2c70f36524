//! How the target did: whether it answered to the end, and what became of the requests that it did not answer well.

use super::nothing_good;
use crate::counts::Counts;
use crate::notes;
use crate::outcome::FailureKind;
use crate::run::{PhaseResult, RunResult};
use crate::silence::Silence;
use crate::time_metric::TimeMetric;
use serde::Serialize;
use std::fmt::Display;
use std::time::Duration;

/// Share of requests without a good answer from which a target has failed.
const FAILED: f64 = 0.01;
/// Share of them from which that is the first thing to be said of a run.
const MOSTLY: f64 = 0.5;
/// Ways of failing, and statuses, that are told one by one.
const WAYS: usize = 3;

/// Verdict on the target.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetVerdict {
    /// In one word.
    pub state: Conduct,
    /// At least half of the requests got no good answer.
    pub mostly_bad: bool,
    /// Since when nothing came from it, or nothing good, in seconds since the start of the run.
    pub silent_since_s: Option<f64>,
    /// Requests of which the findings speak: those that left this machine, and whose end is known.
    pub requests: u64,
    /// Requests that this machine had no port or descriptor for; nothing is known of the target from them.
    pub not_asked: u64,
    /// Of those that left, the ones without a good answer; answers that failed a check only where they are more than are tolerated.
    pub bad: u64,
    /// Findings against it, the gravest first.
    pub findings: Vec<VerdictFinding>,
}

/// How a target did, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Conduct {
    /// No request reached it.
    NotAsked,
    /// Its process ended while it was pressed.
    Died,
    /// Not one answer was good.
    NoGoodAnswer,
    /// It answered no more, or not well any more, while requests were due.
    Silent,
    /// At least one request in a hundred got no good answer, or answers were wrong.
    Failed,
    /// It answered to the end, but for a few requests, or sent what none had asked for.
    Flawed,
    /// It answered to the end.
    Answered,
}

impl Conduct {
    /// Every one, the gravest first.
    pub const ALL: [Conduct; 7] = [
        Conduct::NotAsked,
        Conduct::Died,
        Conduct::NoGoodAnswer,
        Conduct::Silent,
        Conduct::Failed,
        Conduct::Flawed,
        Conduct::Answered,
    ];

    /// Short name for machines.
    pub fn name(self) -> &'static str {
        match self {
            Conduct::NotAsked => "not_asked",
            Conduct::Died => "died",
            Conduct::NoGoodAnswer => "no_good_answer",
            Conduct::Silent => "silent",
            Conduct::Failed => "failed",
            Conduct::Flawed => "flawed",
            Conduct::Answered => "answered",
        }
    }

    /// Returns the words that people read; what was found follows them.
    pub fn text(self) -> &'static str {
        match self {
            Conduct::NotAsked => "nothing is known of it",
            Conduct::Died => "died",
            Conduct::NoGoodAnswer => "no good answer",
            Conduct::Silent => "silent",
            Conduct::Failed => "failed",
            Conduct::Flawed => "answered to the end, but",
            Conduct::Answered => "answered to the end",
        }
    }
}

/// A finding against the target.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerdictFinding {
    /// Its kind.
    pub kind: FindingKind,
    /// Requests that it speaks of.
    pub count: u64,
    /// A sentence part that tells it.
    pub text: String,
}

/// Kind of a finding against the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Its process ended, or one of its workers crashed.
    Died,
    /// Nothing came any more, or nothing good.
    Silent,
    /// At least half of the requests, or all, got no good answer.
    MostlyBad,
    /// Requests were sent, and no whole answer came in the time that they had.
    Lost,
    /// Connections were refused.
    Refused,
    /// Answers had a status that was not expected.
    BadStatus,
    /// Requests failed otherwise.
    Failed,
    /// Answers failed a check.
    CheckFailed,
    /// Bytes came that no request had asked for.
    Stray,
    /// Requests that were due to be hits were hits no more.
    StoppedStoring,
    /// Objects were never a hit although the cache was given them.
    DeadObjects,
}

impl TargetVerdict {
    /// True if it answered no more at the end, or has died.
    pub fn is_silent(&self) -> bool {
        self.state == Conduct::Died
            || self.silent_since_s.is_some()
            || self.findings.iter().any(|finding| finding.kind == FindingKind::Silent)
    }

    /// True if at least half of the requests never left this machine: the others say little of a run.
    pub fn was_mostly_not_asked(&self) -> bool {
        self.not_asked > 0 && self.not_asked >= self.requests
    }

    /// True if it answered to the end, but for few requests: it may be able to do more than was asked of it.
    pub fn answered_to_the_end(&self) -> bool {
        matches!(self.state, Conduct::Answered | Conduct::Flawed)
    }

    /// Returns the verdict as one sentence part.
    pub fn sentence(&self) -> String {
        // How many they were in all says less than what became of them.
        let is_sum =
            |finding: &&VerdictFinding| finding.kind == FindingKind::MostlyBad && self.findings.len() > 1;
        let told = self.findings.iter().filter(|finding| !is_sum(finding));
        let found = told.map(|finding| finding.text.as_str()).collect::<Vec<_>>().join("; ");
        if found.is_empty() {
            return self.state.text().to_owned();
        }
        match self.state {
            Conduct::Answered => self.state.text().to_owned(),
            Conduct::Flawed => format!("{} {found}", self.state.text()),
            Conduct::Silent => found,
            Conduct::NotAsked | Conduct::Died | Conduct::NoGoodAnswer | Conduct::Failed => {
                format!("{}: {found}", self.state.text())
            }
        }
    }
}

impl RunResult {
    /// `measured`: the figures that count.
    pub(super) fn target_verdict(&self, measured: &PhaseResult) -> TargetVerdict {
        let silence = self.silence();
        let died = self.processes.died();
        let found = VerdictFound::new(measured, self.untold(measured), self.has_wrong_answers());
        let not_stored = self.not_stored();
        let state = match () {
            () if died.is_some() => Conduct::Died,
            () if found.requests == 0 => Conduct::NotAsked,
            () if found.is_nothing_good() || self.was_never_good() => Conduct::NoGoodAnswer,
            () if silence.is_some() => Conduct::Silent,
            () if found.has_wrong || found.share() >= FAILED => Conduct::Failed,
            () if found.bad() + found.counts.stray > 0 || !not_stored.is_empty() => Conduct::Flawed,
            () => Conduct::Answered,
        };
        let mut findings: Vec<VerdictFinding> =
            silence.map(|silence| silence.finding()).into_iter().collect();
        let mostly_bad = found.share() >= MOSTLY;
        if mostly_bad {
            findings.insert(0, found.mostly_bad());
        }
        findings.extend(self.lost(measured, &found));
        findings.extend(found.ways(measured));
        findings.extend(found.checks(measured));
        findings.extend(found.stray());
        findings.extend(not_stored);
        if found.requests == 0 && measured.counts().requests > 0 {
            let count = measured.counts().requests;
            findings = vec![VerdictFinding {
                kind: FindingKind::Failed,
                count,
                text: notes::NOT_ASKED.with(&[&count]),
            }];
        }
        if let Some(died) = died {
            let finding =
                VerdictFinding { kind: FindingKind::Died, count: found.bad(), text: died.sentence() };
            findings.insert(0, finding);
        }
        let silent_since_s = silence.and_then(|silence| silence.since).map(|since| since.as_secs_f64());
        TargetVerdict {
            state,
            mostly_bad,
            silent_since_s,
            requests: found.requests,
            not_asked: measured.starved(),
            bad: found.bad(),
            findings,
        }
    }

    /// More answers failed a check than are tolerated, in whichever phase.
    fn has_wrong_answers(&self) -> bool {
        let all = self.all_counts();
        all.check_failed as f64 > self.tolerated * all.requests as f64
    }

    /// Not one request of the whole run got a good answer.
    fn was_never_good(&self) -> bool {
        let all = self.all_counts();
        all.requests > 0 && all.ended == 0 && all.ok == 0 || nothing_good(&all)
    }

    fn all_counts(&self) -> Counts {
        let mut all = Counts::default();
        self.phases.iter().for_each(|phase| all.merge(phase.counts()));
        all
    }

    /// Requests that were sent and to which no whole answer came, by time and by what they were.
    fn lost(&self, measured: &PhaseResult, found: &VerdictFound) -> Option<VerdictFinding> {
        let timed_out: u64 =
            measured.tally.failures().filter(|(failure, _)| failure.is_lost()).map(|(_, count)| count).sum();
        let count = found.unfinished + timed_out;
        if count == 0 {
            return None;
        }
        let longest = |metric| measured.tally.metric(metric).max();
        let failed = if timed_out > 0 { longest(TimeMetric::Failure) } else { 0 };
        let waited = Duration::from_micros(longest(TimeMetric::Unfinished).max(failed)).as_secs_f64();
        // Older files do not tell it.
        let when =
            measured.tally.lost_due().map_or_else(|| "?".to_owned(), |(first, last)| span(first, last));
        let waited = format!("{waited:.2}");
        let titles = self.lost_titles();
        let mut values: Vec<&dyn Display> = vec![&count, &found.requests, &when, &waited];
        let template = if titles.is_empty() { notes::LOST } else { notes::LOST_OF };
        values.extend((!titles.is_empty()).then_some(&titles as &dyn Display));
        let text = template.with(&values);
        Some(VerdictFinding { kind: FindingKind::Lost, count, text })
    }

    /// That the cache stopped storing, or does not serve what it was given.
    fn not_stored(&self) -> Vec<VerdictFinding> {
        let stopped = self.decay().map(|decay| VerdictFinding {
            kind: FindingKind::StoppedStoring,
            count: decay.due - decay.hits,
            text: notes::STOPPED_STORING.with(&[
                &format!("{:.1}", decay.since_s),
                &decay.due,
                &decay.hits,
                &percent(decay.before),
            ]),
        });
        // Of a cache that stores nothing any more all objects are dead.
        let dead = self.dead.as_ref().filter(|_| stopped.is_none());
        let dead = dead.map(|dead| VerdictFinding {
            kind: FindingKind::DeadObjects,
            count: dead.objects,
            text: notes::DEAD_OBJECTS.with(&[
                &dead.objects,
                &dead.missed,
                &percent(dead.others),
                &dead.names.join(", "),
                &dead.broken_off,
                &dead.cut,
                &dead.never,
            ]),
        });
        stopped.into_iter().chain(dead).collect()
    }

    /// The first of the requests that were lost, each once.
    fn lost_titles(&self) -> String {
        let mut titles: Vec<&str> = Vec::new();
        for lost in &self.lost {
            if !titles.contains(&lost.title.as_str()) {
                titles.push(&lost.title);
            }
        }
        let more = if titles.len() > WAYS { ", …" } else { "" };
        titles.truncate(WAYS);
        titles.join(", ") + more
    }
}

/// A share; one that is not whole does not read as if it were.
fn percent(share: f64) -> String {
    match share {
        1.0 => "100 %".to_owned(),
        _ if share > 0.999 => ">99.9 %".to_owned(),
        _ => format!("{:.1} %", 100.0 * share),
    }
}

/// Moments in seconds, as one where they are.
fn span(first: Duration, last: Duration) -> String {
    let [first, last] = [first, last].map(|moment| format!("{:.2}", moment.as_secs_f64()));
    if first == last { first } else { format!("{first}–{last}") }
}

/// Requests of a run by what the target made of them.
struct VerdictFound {
    /// Those that left this machine, and whose end is known.
    requests: u64,
    failed: u64,
    unfinished: u64,
    /// More answers failed a check than are tolerated.
    has_wrong: bool,
    counts: Counts,
}

impl VerdictFound {
    /// `untold`: unfinished ones whose end nobody knows.
    fn new(measured: &PhaseResult, untold: u64, has_wrong: bool) -> VerdictFound {
        let counts = *measured.counts();
        let starved = measured.starved();
        VerdictFound {
            requests: counts.requests.saturating_sub(starved + untold),
            failed: counts.failed.saturating_sub(starved),
            unfinished: counts.unfinished - untold,
            has_wrong,
            counts,
        }
    }

    fn bad(&self) -> u64 {
        self.failed + self.unfinished + if self.has_wrong { self.counts.check_failed } else { 0 }
    }

    fn share(&self) -> f64 {
        self.bad() as f64 / self.requests.max(1) as f64
    }

    fn is_nothing_good(&self) -> bool {
        nothing_good(&Counts { failed: self.failed, ..self.counts })
    }

    fn mostly_bad(&self) -> VerdictFinding {
        let count = self.bad();
        let requests = self.requests;
        let text = match count == requests {
            true => notes::NOT_ONE_GOOD.with(&[&requests]),
            false => notes::MOSTLY_BAD.with(&[&count, &requests]),
        };
        VerdictFinding { kind: FindingKind::MostlyBad, count, text }
    }

    /// The ways in which requests failed, those of most requests first.
    fn ways(&self, measured: &PhaseResult) -> Vec<VerdictFinding> {
        let mut kinds: Vec<(FailureKind, u64)> = Vec::new();
        let others =
            measured.tally.failures().filter(|(failure, _)| !failure.is_lost() && !failure.kind.is_ours());
        for (failure, count) in others {
            match kinds.iter_mut().find(|(kind, _)| *kind == failure.kind) {
                Some((_, sum)) => *sum += count,
                None => kinds.push((failure.kind, count)),
            }
        }
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let rest: u64 = kinds.iter().skip(WAYS).map(|(_, count)| count).sum();
        let told = kinds.into_iter().take(WAYS).map(|(kind, count)| self.way(measured, kind, count));
        let rest = (rest > 0).then(|| VerdictFinding {
            kind: FindingKind::Failed,
            count: rest,
            text: notes::FAILED_OTHERWISE.with(&[&rest, &self.requests]),
        });
        told.chain(rest).collect()
    }

    fn way(&self, measured: &PhaseResult, kind: FailureKind, count: u64) -> VerdictFinding {
        let requests = &self.requests;
        let (kind, text) = if kind == FailureKind::Refused {
            (FindingKind::Refused, notes::REFUSED.with(&[&count, requests]))
        } else if kind == FailureKind::BadStatus {
            (FindingKind::BadStatus, notes::BAD_STATUS.with(&[&count, requests, &statuses(measured)]))
        } else {
            (FindingKind::Failed, notes::FAILED.with(&[&count, requests, &kind.text()]))
        };
        VerdictFinding { kind, count, text }
    }

    /// Answers that failed a check, tolerated or not.
    fn checks(&self, measured: &PhaseResult) -> Option<VerdictFinding> {
        let count = self.counts.check_failed;
        let mut faults: Vec<_> = measured.tally.faults().collect();
        faults.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let names: Vec<&str> = faults.iter().take(WAYS).map(|(fault, _)| fault.text()).collect();
        let text = || notes::CHECKS_FAILED.with(&[&count, &self.requests, &names.join(", ")]);
        (count > 0).then(|| VerdictFinding { kind: FindingKind::CheckFailed, count, text: text() })
    }

    /// Bytes that no request had asked for.
    fn stray(&self) -> Option<VerdictFinding> {
        let count = self.counts.stray;
        (count > 0).then(|| VerdictFinding {
            kind: FindingKind::Stray,
            count,
            text: notes::STRAY.with(&[&count]),
        })
    }
}

/// The statuses that were not expected, as far as they can be told from those that were: those of most answers first.
fn statuses(measured: &PhaseResult) -> String {
    let mut bad = measured.bad_statuses();
    bad.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named: Vec<String> = bad.iter().take(WAYS).map(|(status, _)| status.to_string()).collect();
    if named.is_empty() { "?".to_owned() } else { named.join(", ") }
}

impl PhaseResult {
    /// Failed requests that this machine had no port or descriptor for: the target was never asked.
    pub fn starved(&self) -> u64 {
        self.tally.failures().filter(|(failure, _)| failure.kind.is_ours()).map(|(_, count)| count).sum()
    }

    /// The statuses that were not expected and how often they came, as far as they can be told from those that were.
    pub fn bad_statuses(&self) -> Vec<(u16, u64)> {
        let seen: Vec<(u16, u64)> = self.tally.statuses().collect();
        let is_bad = |status: u16| seen.len() == 1 || !(200..400).contains(&status);
        seen.iter().copied().filter(|(status, _)| is_bad(*status)).collect()
    }
}

impl Silence {
    fn finding(&self) -> VerdictFinding {
        VerdictFinding {
            kind: FindingKind::Silent,
            count: self.failures.max(self.unfinished),
            text: self.text(),
        }
    }
}
