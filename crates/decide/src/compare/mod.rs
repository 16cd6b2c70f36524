//! Two sides of one work, A and B: which legs to run, and what may be concluded from them.
//!
//! Start reading at [`Compare`], the schedule; `difference` makes figures of pairs of legs, `outcome` says them in words.
//!
//! Evidence is counted in pairs of legs whose order was drawn, never in requests or seconds: by those, identical sides differ in 20 to 90 % of
//! comparisons, because a machine is not the same from minute to minute.

mod control;
mod difference;
mod kept;
mod leg;
mod machine;
mod outcome;
mod settings;
mod steady;
mod usual;
mod written;

pub use control::Control;
pub use difference::{Difference, Judgement, Shown, Word};
pub use kept::{
    OF_RUNS, RunSets, RunsDiffer, RunsWord, Stretch, TwoRuns, of_headline, run_sets, stretches, two_runs,
};
pub use leg::{Half, Hits, Leg, LegResult, Pace, Side};
pub use machine::Compare;
pub use outcome::{BisectStep, End, Finding, Forecast, Outcome, Sees};
pub use settings::{Lengths, Metric, Settings};
pub use written::{COMPARISON, COMPARISON_OF_RUNS, Decision, OfRuns, RunsDecision, SideSeen};
