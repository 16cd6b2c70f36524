//! Detection of a target that stopped answering, or answering well, before the run was over.

use crate::counts::Counts;
use crate::run::{PhaseResult, Row, RunResult};
use crate::time_metric::TimeMetric;
use std::time::Duration;

/// Less than this may be a pause.
const SHORTEST_SILENCE: Duration = Duration::from_millis(500);
/// Share of a phase in which nothing but failures came before the target is said to have stopped answering.
const FAILING_SHARE: f64 = 0.05;
/// Seconds without a good answer may be chance: how unlikely they must be by the share of failures before.
const CHANCE: f64 = 1e-3;
/// Fewer failures than these are no end.
const FEW: u64 = 3;

/// The end of a run in which a target that was asked said nothing, or nothing good.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Silence {
    /// When bytes last came from it, or good answers where failures came after them, since the start of the run; `None`: never.
    pub since: Option<Duration>,
    /// How long it had been silent when the run was over.
    pub lasted: Duration,
    /// Requests that were left without an answer.
    pub unfinished: u64,
    /// Requests that failed or were left in that time, where bytes came; 0: nothing came.
    pub failures: u64,
}

impl Silence {
    /// A sentence part.
    pub fn text(&self) -> String {
        let lasted = self.lasted.as_secs_f64();
        match self.since {
            Some(since) if self.failures > 0 => format!(
                "the target gave no good answer after {:.1} s: none of the {} requests of the {lasted:.1} s after that got one",
                since.as_secs_f64(),
                self.failures
            ),
            None => format!("the target never answered: nothing came in {lasted:.1} s"),
            Some(since) => format!(
                "the target stopped answering {:.1} s into the run: nothing came in the {lasted:.1} s after that",
                since.as_secs_f64()
            ),
        }
    }
}

impl RunResult {
    /// The end of the run in which nothing came from the target any more although it was asked; `None` where it answered
    /// until the end.
    pub fn silence(&self) -> Option<Silence> {
        // Where our own code broke off, the silence is ours.
        let last = self.phases.iter().rfind(|phase| phase.measured && self.self_check.panics.is_empty())?;
        let (began, longest) = self.before_silence();
        let heard = self.phases.iter().filter_map(|phase| phase.tally.last_heard()).max();
        let since = heard.unwrap_or_default().max(began);
        let shortest = SHORTEST_SILENCE.max(longest * 2);
        // Some requests may hang where the target answers others: not half of those that were under way at once.
        let unfinished = last.counts().unfinished;
        let waited = Duration::from_micros(last.tally.metric(TimeMetric::Unfinished).max());
        let hangs = unfinished > 0 && 2 * unfinished >= last.peak();
        let hung = last.until.saturating_sub(since).min(waited);
        let failed = last.tally.last_failed().unwrap_or_default().saturating_sub(since);
        // Where nothing ever came, the failures themselves say what is wrong.
        let fails = heard.is_some()
            && 2 * last.counts().failed >= last.peak()
            && failed >= shortest
            && failed.as_secs_f64() >= FAILING_SHARE * last.took.as_secs_f64();
        let silence = (hangs && hung >= shortest || fails).then(|| Silence {
            since: heard,
            lasted: last.until.saturating_sub(since),
            unfinished,
            failures: 0,
        });
        let nothing_good = self.nothing_good_at_the_end(last, longest);
        match (silence, nothing_good) {
            // Failures came between the last good answer and the silence.
            (Some(silence), Some(nothing_good)) if nothing_good.since < silence.since => Some(nothing_good),
            (silence, nothing_good) => silence.or(nothing_good),
        }
    }

    /// The end of the last measured phase in which requests ended, and not one of them well; `longest`: response time of a
    /// good answer.
    fn nothing_good_at_the_end(&self, last: &PhaseResult, longest: Duration) -> Option<Silence> {
        let is_last =
            |row: &&Row| self.phases.get(row.phase as usize).is_some_and(|phase| std::ptr::eq(phase, last));
        let rows = self.timeline.rows.iter().filter(is_last).rev();
        let since = rows.clone().find(|row| good_ends(&row.counts))?.at_s;
        let failures =
            rows.take_while(|row| !good_ends(&row.counts)).map(|row| failed(&row.counts)).sum::<u64>();
        let since = Duration::from_secs_f64(since);
        let lasted = last.until.saturating_sub(since);
        let all = last.counts();
        let before = |count: u64| count.saturating_sub(failures) as f64;
        let share = (before(failed(all)) + 1.0) / (before(all.requests) + 2.0);
        let is_end = failures >= FEW.max(last.peak())
            && lasted >= SHORTEST_SILENCE.max(longest * 2)
            && lasted.as_secs_f64() >= FAILING_SHARE * last.took.as_secs_f64()
            && share.powf(failures as f64) < CHANCE;
        is_end.then_some(Silence { since: Some(since), lasted, unfinished: all.unfinished, failures })
    }

    /// When measuring began, and the longest response time of a good answer.
    fn before_silence(&self) -> (Duration, Duration) {
        let measured = self.phases.iter().filter(|phase| phase.measured);
        let longest = measured.clone().map(|phase| phase.tally.metric(TimeMetric::Response).max()).max();
        let began = measured.map(|phase| phase.began).min().unwrap_or_default();
        (began, Duration::from_micros(longest.unwrap_or(0)))
    }
}

fn failed(counts: &Counts) -> u64 {
    counts.failed + counts.unfinished
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
            silence.text().contains("no good answer after 2.0 s: none of the 20 requests of the 3.0 s"),
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
