//! The highest rate that keeps limits: which trials to run, and what may be concluded from them.
//!
//! Start reading at [`Find`], the search; [`judge`](Verdict) says what a rate's trials mean, `fit` where the knee is. [`Throughput`] looks for the most there is
//! without a limit. From a knee follow the [`WaterMark`] and the [`purchase`].
//!
//! [`result`] makes a trial's result of the rows of its run, and [`Conclusion`] says what follows from a search.
//!
//! A rate is offered by Poisson arrivals and judged by **due** requests: those late, failed or not answered all count, else a target passes by
//! refusing. Evenly spaced requests flatter: M/M/1 at 1000/s keeps a p99 of 10 ms up to 746/s so, and up to 540/s by Poisson's law.

mod conclusion;
mod fit;
mod judge;
mod log;
mod machine;
mod notes;
mod outcome;
mod purchase;
mod recovery;
mod rows;
mod settings;
mod throughput;
mod trial;
mod water_mark;
mod written;

pub use conclusion::{Closed, Conclusion, End, Required, forecast};
pub use judge::Verdict;
pub use machine::Find;
pub use outcome::{FindFinding, Knee, Outcome, RateRow, Recovery};
pub use purchase::{Demand, OfCores, OneMachine, Purchase, Split, purchase, with_cores};
pub use recovery::{HEALTHY_S, recovered_after};
pub use rows::{Beside, Cut, result};
pub use settings::{Arrivals, FindSettings, Limit};
pub use throughput::{ClosedResult, ClosedTrial, Highest, OfUsers, Throughput, ThroughputSettings, searched};
pub use trial::{Pace, Purpose, SLICES, Slice, Trial, TrialResult, WINDOWS};
pub use water_mark::{Burdens, WaterMark, elasticity, steep_from};
pub use written::{Bought, Rounds, SEARCH, Search};
