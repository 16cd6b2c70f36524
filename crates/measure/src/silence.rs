//! Whether the target stopped answering before the run was over.

use crate::clock::Clock;
use crate::run::RunResult;
use std::time::Duration;

/// Less than this may be a pause.
const SHORTEST_SILENCE: Duration = Duration::from_millis(500);
/// Share of a phase in which nothing but failures came before the target is said to have stopped answering.
const FAILING_SHARE: f64 = 0.05;

/// The end of a run in which a target that was asked said nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Silence {
    /// When bytes last came from it, since the start of the run; `None`: never.
    pub since: Option<Duration>,
    /// How long it had been silent when the run was over.
    pub lasted: Duration,
    /// Requests that were left without an answer.
    pub unfinished: u64,
}

impl Silence {
    /// A sentence part.
    pub fn text(&self) -> String {
        let lasted = self.lasted.as_secs_f64();
        match self.since {
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
        let waited = Duration::from_micros(last.tally.clock(Clock::Unfinished).max());
        let hangs = unfinished > 0 && 2 * unfinished >= last.peak();
        let hung = last.until.saturating_sub(since).min(waited);
        let failed = last.tally.last_failed().unwrap_or_default().saturating_sub(since);
        // Where nothing ever came, the failures themselves say what is wrong.
        let fails = heard.is_some()
            && 2 * last.counts().failed >= last.peak()
            && failed >= shortest
            && failed.as_secs_f64() >= FAILING_SHARE * last.took.as_secs_f64();
        (hangs && hung >= shortest || fails).then(|| Silence {
            since: heard,
            lasted: last.until.saturating_sub(since),
            unfinished,
        })
    }

    /// When measuring began, and the longest response time of a good answer.
    fn before_silence(&self) -> (Duration, Duration) {
        let measured = self.phases.iter().filter(|phase| phase.measured);
        let longest = measured.clone().map(|phase| phase.tally.clock(Clock::Response).max()).max();
        let began = measured.map(|phase| phase.began).min().unwrap_or_default();
        (began, Duration::from_micros(longest.unwrap_or(0)))
    }
}
