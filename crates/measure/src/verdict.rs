//! The verdict on a run: whether its figures are valid, and what they say against the target.

use crate::counts::Counts;
use crate::run::{Judged, PhaseResult, RunResult};
use crate::silence::Silence;
use serde::Serialize;

/// Worth of a run's figures, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// Wringer's own code failed, and the run ended there.
    BrokenOff,
    /// Nothing was sent.
    NoResult,
    /// The run ended without a word, so that nothing is known of the generator.
    CutOff,
    /// Not one answer was good.
    NoGoodAnswer,
    /// The target stopped answering before the run was over.
    StoppedAnswering,
    /// The generator was the limit.
    GeneratorBound,
    /// Other programs, or the host, had the CPU that wringer or the target wanted.
    Disturbed,
    /// The measurement is valid, and shows that the target did not do what was wanted.
    TargetFailed,
    /// The measurement is valid, and nothing is wrong with the target.
    Valid,
}

impl Judgement {
    /// Short name for machines.
    pub fn name(self) -> &'static str {
        match self {
            Judgement::BrokenOff => "broken_off",
            Judgement::NoResult => "no_result",
            Judgement::CutOff => "cut_off",
            Judgement::NoGoodAnswer => "no_good_answer",
            Judgement::StoppedAnswering => "stopped_answering",
            Judgement::GeneratorBound => "generator_bound",
            Judgement::Disturbed => "disturbed",
            Judgement::TargetFailed => "target_failed",
            Judgement::Valid => "valid",
        }
    }
}

/// True if the figures speak of the target, and what they say against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// In one word.
    pub judgement: Judgement,
    /// The measurement is valid: the generator was not the limit, and the target answered until the end.
    pub valid: bool,
    /// Why not, one sentence each, with what to try.
    pub reasons: Vec<String>,
    /// Flaws of the target, a sentence part each.
    pub target: Vec<String>,
}

/// Share of requests without a good answer from which a run is not called valid without naming them.
const BAD_SHARE: f64 = 0.01;

impl RunResult {
    /// Judges the run. `measured`: the figures that count.
    pub fn verdict(&self, measured: &PhaseResult) -> Verdict {
        let silence = self.silence();
        let limits = self.self_check.limits(silence.is_some());
        let disturbances = self.self_check.contention.reasons();
        let target = against_target(measured, &self.thresholds, silence);
        let judgement = match () {
            () if !self.self_check.panics.is_empty() => Judgement::BrokenOff,
            () if self.self_check.requests == 0 => Judgement::NoResult,
            () if nothing_good(measured.counts()) => Judgement::NoGoodAnswer,
            () if self.self_check.untold => Judgement::CutOff,
            () if silence.is_some() => Judgement::StoppedAnswering,
            () if !limits.is_empty() => Judgement::GeneratorBound,
            () if !disturbances.is_empty() => Judgement::Disturbed,
            () if is_bad(measured.counts()) || self.thresholds.iter().any(|one| one.violated) => {
                Judgement::TargetFailed
            }
            () => Judgement::Valid,
        };
        let mut reasons = limits;
        reasons.extend(disturbances);
        let untold = "the run ended without a word: nothing is known of the generator";
        reasons.extend(self.self_check.untold.then(|| untold.to_owned()));
        match judgement {
            Judgement::NoResult => reasons.push("no request was sent".to_owned()),
            Judgement::NoGoodAnswer => {
                reasons.push("not one answer was good: nothing can be said of the target".to_owned());
            }
            _ => {}
        }
        reasons.extend(silence.map(|silence| silence.text()));
        Verdict { judgement, valid: reasons.is_empty(), reasons, target }
    }
}

/// True if requests failed, or were left without an answer, and not one had the end that it should have had. A failure
/// that the plan asked for is such an end.
pub fn nothing_good(counts: &Counts) -> bool {
    let good = counts.ok + counts.check_failed + counts.injected + counts.aborted;
    counts.failed + counts.unfinished > 0 && good == 0
}

/// Requests that did not end as they should have.
pub fn errors(counts: &Counts) -> u64 {
    counts.failed + counts.check_failed + counts.unfinished
}

fn is_bad(counts: &Counts) -> bool {
    errors(counts) as f64 >= BAD_SHARE * counts.requests.max(1) as f64
}

/// Returns the flaws of the target: silence, violated thresholds, and requests without a good answer.
fn against_target(measured: &PhaseResult, thresholds: &[Judged], silence: Option<Silence>) -> Vec<String> {
    let counts = measured.counts();
    let violated = thresholds.iter().filter(|one| one.violated);
    let of = |count: u64| format!("{count} of {} requests", counts.requests);
    let ends = [
        (counts.failed, "failed"),
        (counts.check_failed, "got an answer that failed a check"),
        (counts.unfinished, "had no answer when the time was up"),
    ];
    let ends = ends.into_iter().filter(|(count, _)| *count > 0);
    let mut found: Vec<String> = silence.map(|silence| silence.text()).into_iter().collect();
    found.extend(violated.map(|one| format!("the threshold {} is violated", one.condition)));
    found.extend(ends.map(|(count, how)| format!("{} {how}", of(count))));
    let came = if counts.stray == 1 {
        "answer came that no request had"
    } else {
        "answers came that no request had"
    };
    found.extend((counts.stray > 0).then(|| format!("{} stray {came} asked for", counts.stray)));
    found
}
