//! JMeter's plans beside what JMeter 5.6.3 itself sent and recorded for them, field by field.
//!
//! `given.rs` has plans that lie beside the project, where that folder is there; `own.rs` the project's own. Both are run against
//! `server.rs`, which answers by rules, and compared by `compare.rs`. What differs and stays so is listed in `differences.rs`,
//! each with its reason; whatever else differs is a failure.

mod compare;
mod differences;
mod given;
mod own;
mod run;
mod server;
