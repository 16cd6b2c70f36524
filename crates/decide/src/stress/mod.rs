//! Stress: what happens to an innocent bystander, and to the target itself, while something else presses, and how long the way back takes.
//!
//! Scenarios are data ([`catalogue`]): what presses is a plan like any other. What was seen is told in [`Seen`], and judged by [`judge`], a pure function;
//! causes are named in [`causes`] only where their counter moved. Start reading at [`Scenario`].

pub mod catalogue;
mod causes;
mod judge;
mod report;
mod resources;
mod scenario;
mod windows;

pub use causes::{Cause, Counters, Moved, moved};
pub use judge::{Pressed, Seen, StressState, Verdict, judge};
pub use report::{Report, StressFinding, StressOptions, catalogue_text};
pub use resources::{Resources, left_behind};
pub use scenario::{Between, Ground, Press, Scenario, TargetAction};
pub use windows::{HEALTHY_S, Window, back_after};
