//! Detection of a target that was silent, or gave no good answer any more, while requests were due.
//!
//! Silence counts until the end of the pace. What comes after only waits for answers: a request that hangs there is lost, and says
//! nothing of a target that has answered all others.

use crate::counts::Counts;
use crate::notes;
use crate::run::{PhaseResult, RunResult};
use crate::time_metric::TimeMetric;
use crate::timeline::Row;
use std::time::Duration;

/// Less than this may be a pause.
const SHORTEST_SILENCE: Duration = Duration::from_millis(500);
/// After so long it is told, however long the longest answer took, where it is no chance.
const TOLD_IN_ANY_CASE: Duration = Duration::from_secs(1);
/// Share of a phase in which nothing but failures came before the target is said to give no good answer any more.
const FAILING_SHARE: f64 = 0.05;
/// Seconds without an answer, or a good one, may be chance: how unlikely they must be by what came before.
const CHANCE: f64 = 1e-3;
/// Fewer than these are no end.
const FEW: u64 = 3;

/// The end of a pace in which a target that was asked said nothing, or nothing good.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Silence {
    /// When bytes last came from it, or good answers where failures came after them, since the start of the run; `None`: never.
    pub since: Option<Duration>,
    /// How long it had been silent when the pace was over.
    pub lasted: Duration,
    /// Requests that were left without an answer.
    pub unfinished: u64,
    /// Requests that failed or were left in that time, where bytes came; 0: nothing came.
    pub failures: u64,
}

impl Silence {
    /// A sentence part.
    pub fn text(&self) -> String {
        let lasted = format!("{:.1}", self.lasted.as_secs_f64());
        let Some(since) = self.since else { return notes::NEVER_ANSWERED.with(&[&lasted]) };
        let since = format!("{:.1}", since.as_secs_f64());
        match self.failures {
            0 => notes::SILENT.with(&[&since, &lasted]),
            failures => notes::NOTHING_GOOD_SINCE.with(&[&since, &failures, &lasted]),
        }
    }
}

impl RunResult {
    /// The end of the pace in which nothing came from the target any more although requests were due; `None` where it answered
    /// until then.
    pub fn silence(&self) -> Option<Silence> {
        // Where our own code broke off, the silence is ours.
        let last = self.phases.iter().rfind(|phase| phase.measured && self.self_check.panics.is_empty())?;
        let before = Before::of(self);
        let heard = self.phases.iter().filter_map(|phase| phase.tally.last_heard()).max();
        let since = heard.unwrap_or(before.began).max(before.began);
        let silent = last.due_until.saturating_sub(since);
        let unfinished = last.counts().unfinished;
        let is_silent = hangs(last, &before, silent) || fails(last, &before, since, heard.is_some());
        let silence = is_silent.then_some(Silence { since: heard, lasted: silent, unfinished, failures: 0 });
        let nothing_good = self.nothing_good_at_the_end(last, before.longest);
        match (silence, nothing_good) {
            // Failures came between the last good answer and the silence.
            (Some(silence), Some(nothing_good)) if nothing_good.since < silence.since => Some(nothing_good),
            (silence, nothing_good) => silence.or(nothing_good),
        }
    }

    /// The end of the pace of the last measured phase in which requests ended, and not one of them well; `longest`: response
    /// time of a good answer.
    fn nothing_good_at_the_end(&self, last: &PhaseResult, longest: Duration) -> Option<Silence> {
        let is_last =
            |row: &&Row| self.phases.get(row.phase as usize).is_some_and(|phase| std::ptr::eq(phase, last));
        // A row that begins after that only waits for answers.
        let due_s = last.due_until.as_secs_f64();
        let is_due = |row: &&Row| row.at_s - row.seconds < due_s;
        let rows = self.timeline.rows.iter().filter(is_last).filter(is_due).rev();
        let since = rows.clone().find(|row| good_ends(&row.counts))?.at_s;
        let failures = rows.take_while(|row| !good_ends(&row.counts)).map(failed).sum::<u64>();
        let since = Duration::from_secs_f64(since);
        let lasted = last.due_until.saturating_sub(since);
        let all = last.counts();
        let all_failed = (all.failed + all.unfinished).saturating_sub(last.starved());
        let before = |count: u64| count.saturating_sub(failures) as f64;
        let share = (before(all_failed) + 1.0) / (before(all.requests) + 2.0);
        let is_end = failures >= FEW.max(last.peak())
            && lasted >= SHORTEST_SILENCE.max(longest * 2)
            && lasted.as_secs_f64() >= FAILING_SHARE * last.took.as_secs_f64()
            && share.powf(failures as f64) < CHANCE;
        is_end.then_some(Silence { since: Some(since), lasted, unfinished: all.unfinished, failures })
    }
}

/// Facts of the measured phases before a silence.
struct Before {
    /// When measuring began.
    began: Duration,
    /// The longest response time of a good answer.
    longest: Duration,
    /// Answers per second until bytes last came.
    answers_per_s: f64,
}

impl Before {
    fn of(run: &RunResult) -> Before {
        let measured = run.phases.iter().filter(|phase| phase.measured);
        let longest = measured.clone().map(|phase| phase.tally.metric(TimeMetric::Response).max()).max();
        let began = measured.clone().map(|phase| phase.began).min();
        let began = began.expect("there is a measured phase wherever a silence is looked for");
        let heard = measured.clone().filter_map(|phase| phase.tally.last_heard()).max();
        let seconds = heard.map_or(0.0, |heard| heard.saturating_sub(began).as_secs_f64());
        let answers: u64 = measured.map(|phase| phase.counts().ended).sum();
        Before {
            began,
            longest: Duration::from_micros(longest.unwrap_or(0)),
            answers_per_s: if seconds > 0.0 { answers as f64 / seconds } else { 0.0 },
        }
    }

    /// A silence no shorter than this is told whatever was under way.
    fn shortest(&self) -> Duration {
        SHORTEST_SILENCE.max(self.longest * 2)
    }

    /// True if by what came before it is no chance that nothing came for so long.
    fn is_no_chance(&self, silent: Duration) -> bool {
        (-self.answers_per_s * silent.as_secs_f64()).exp() < CHANCE
    }
}

/// True if requests were left waiting, and nothing came until the pace was over.
fn hangs(last: &PhaseResult, before: &Before, silent: Duration) -> bool {
    let unfinished = last.counts().unfinished;
    let waited = Duration::from_micros(last.tally.metric(TimeMetric::Unfinished).max());
    // Some requests may hang where the target answers others: not half of those that were under way at once.
    let many = unfinished > 0 && 2 * unfinished >= last.peak();
    if many && silent.min(waited) >= before.shortest() {
        return true;
    }
    let none_came = silent >= TOLD_IN_ANY_CASE && before.is_no_chance(silent);
    let due = match last.open {
        // Others came due all the time, and nothing came to any of them.
        true => unfinished >= FEW,
        // A closed pace waits with its target: users say nothing until they have waited half as long again as they ever had to.
        false => many && waited >= before.longest * 3 / 2,
    };
    none_came && due
}

/// True if requests failed until the pace was over, and no byte came.
fn fails(last: &PhaseResult, before: &Before, since: Duration, heard: bool) -> bool {
    let failed_at = last.tally.last_failed().map_or(Duration::ZERO, |at| at.min(last.due_until));
    let failing = failed_at.saturating_sub(since);
    // Where nothing ever came, the failures themselves say what is wrong.
    heard
        && 2 * last.counts().failed.saturating_sub(last.starved()) >= last.peak()
        && failing >= before.shortest()
        && failing.as_secs_f64() >= FAILING_SHARE * last.took.as_secs_f64()
}

fn failed(row: &Row) -> u64 {
    (row.counts.failed + row.counts.unfinished).saturating_sub(row.starved)
}

/// True if some request had the end that it should have had, or an answer that can be judged.
fn good_ends(counts: &Counts) -> bool {
    counts.ok + counts.injected + counts.aborted + counts.check_failed > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SelfCheck;

    /// Ten users; in each second so many good answers and so many failures.
    fn run(seconds: &[(u64, u64)]) -> RunResult {
        let mut phase = PhaseResult { peaks: vec![10], ..PhaseResult::new("measure", true) };
        let mut result = RunResult {
            self_check: SelfCheck { requests: 1, ..SelfCheck::default() },
            ..RunResult::default()
        };
        for (second, (ok, failed)) in seconds.iter().enumerate() {
            let at = Duration::from_secs(second as u64 + 1);
            let counts = Counts { ok: *ok, failed: *failed, requests: ok + failed, ..Counts::default() };
            phase.tally.counts.merge(&counts);
            result.timeline.push(Row { at_s: at.as_secs_f64(), seconds: 1.0, counts, ..Row::default() });
            phase.tally.heard(at);
            phase.extend(Duration::ZERO, at, at);
        }
        result.phases = vec![phase];
        result
    }

    #[test]
    fn a_target_that_only_fails_at_the_end_has_stopped_answering_well() {
        let silence = run(&[(1000, 0), (800, 3), (0, 10), (0, 0), (0, 10)]).silence().unwrap();
        assert_eq!((silence.since, silence.failures), (Some(Duration::from_secs(2)), 20));
        assert!(
            silence.text().contains("no good answer from 2.0 s on: none of the 20 requests of the 3.0 s"),
            "{}",
            silence.text()
        );
    }

    #[test]
    fn failures_that_come_now_and_then_are_no_end() {
        for seconds in [
            // One that comes again.
            &[(1000, 0), (0, 100), (900, 0)][..],
            // Too few, of a long list.
            &[(10, 0), (10, 0), (9, 0), (0, 9)],
            // As often as before.
            &[(3, 200), (0, 150), (2, 210), (0, 100)],
            &[(0, 100), (0, 100)],
            &[(10, 0), (0, 0)],
        ] {
            assert_eq!(run(seconds).silence(), None, "{seconds:?}");
        }
    }
}
