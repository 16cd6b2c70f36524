//! The door of JMeter without a window. What its plans mean says the crate `jmeter`, which opens nothing; here are the files that a plan
//! names (`file`), the programs of its scripts (`programs`), its results (`report`), and what joins them.

mod door;
pub mod file;
mod last;
pub mod programs;
pub mod report;
pub mod results;

pub use door::Jmeter;
