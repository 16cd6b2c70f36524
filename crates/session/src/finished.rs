//! A run that is over: its figures, its verdict, and the one end that it is told.

use crate::keep::Recorder;
use crate::live::Live;
use crate::scripts::Scripts;
use crate::sink::Sinks;
use measure::stream::MeasureEnd;
use measure::{ExitCode, Head, Judged, RunEvent, RunResult, RunVerdict};
use plan::Plan;
use report::page::Gathered;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A finished run. What became of it is settled: figures, conditions and verdict do not change any more. Its last record is told once,
/// by [`Finished::end`], when everything has been shown and written that may still fail.
pub struct Finished {
    /// Its figures.
    pub result: RunResult,
    /// The verdict on them; `None` where only an origin ran.
    pub verdict: Option<RunVerdict>,
    /// Its first record.
    pub head: Head,
    /// Its last record, as far as it is known before the process is about to end.
    pub(super) end: MeasureEnd,
    pub(super) recorder: Option<Recorder>,
    /// Somebody asked for its file by name.
    pub(super) file_wanted: bool,
    /// Failures to write or send something that were told while it went on.
    pub(super) failures_told: Vec<String>,
    pub(super) sinks: Sinks,
    /// Its scripts, to be told how it was.
    pub scripts: Scripts,
}

impl Finished {
    /// CPU seconds of the watched processes while measuring.
    pub fn target_cpu(&self) -> Option<f64> {
        self.end.target_cpu_s
    }

    /// Its run file, where one is being written.
    pub fn file(&self) -> Option<&Path> {
        self.recorder.as_ref().map(Recorder::file)
    }

    /// Exit code of a command whose run this was, as far as the run decides it.
    pub fn exit(&self) -> ExitCode {
        self.verdict.as_ref().map_or(ExitCode::Fine, |verdict| ExitCode::of_run(&self.result, verdict))
    }

    /// The run as the page shows it when it is over, where somebody wanted to see it.
    pub fn gathered(&self) -> Option<Gathered> {
        let live = self.sinks.live.as_ref()?;
        live.settle();
        let mut gathered = live.gathered();
        gathered.apply(&RunEvent::End(Box::new(self.end.clone())));
        Some(gathered)
    }

    /// True if a file that was asked for by its name, of the run or of its records, does not hold all of it so far.
    pub fn has_lost(&self) -> bool {
        let failed = self.recorder.as_ref().is_some_and(|recorder| recorder.failure().is_some());
        self.file_wanted && failed || self.sinks.have_lost()
    }

    /// Tells the last record, completes the run file, and sends the last figures to those who are sent them. `exit`: the code that
    /// the process ends with, as far as is known before. `say`: told what people should know meanwhile, such as what could not be
    /// written or sent since the report.
    pub fn end(self, exit: u8, evidence_file: Option<String>, say: &dyn Fn(&str)) -> Ended {
        let end = Arc::new(RunEvent::End(Box::new(MeasureEnd { exit, evidence_file, ..self.end })));
        if let Some(recorder) = &self.recorder {
            recorder.put(&end);
        }
        self.sinks.put(&end);
        self.sinks.live.iter().for_each(Live::settle);
        self.sinks.finish(say);
        let closed = self.recorder.map(Recorder::close).transpose();
        let mut failures = self.sinks.failures();
        let lost = self.file_wanted && closed.is_err() || self.sinks.have_lost();
        let file = closed.unwrap_or_else(|failure| {
            failures.push(failure);
            None
        });
        let untold = failures.into_iter().filter(|text| !self.failures_told.contains(text));
        untold.for_each(|text| say(&format!("note: {text}")));
        Ended { file, lost }
    }
}

/// Remains of a run that was told its end.
pub struct Ended {
    /// The run file, where it holds all of the run.
    pub file: Option<PathBuf>,
    /// A file that was asked for by its name, of the run or of its records, does not hold all of it.
    pub lost: bool,
}

/// Holds a run to the conditions of its plan, and judges it; what comes of that stands in its last record.
pub fn judge(plan: &Plan, result: &mut RunResult, end: &mut MeasureEnd) -> Option<RunVerdict> {
    result.thresholds.extend(report::thresholds::judge(result, plan));
    if result.was_ended_by_hand() {
        result.thresholds.iter_mut().for_each(Judged::leave_open);
    }
    let verdict = plan.load.as_ref().map(|_| result.verdict(&result.measured()));
    end.thresholds.clone_from(&result.thresholds);
    // Where there is no load, there is none.
    end.verdict = verdict.as_ref().map(RunVerdict::names).unwrap_or_default();
    end.figures = result.headline();
    verdict
}
