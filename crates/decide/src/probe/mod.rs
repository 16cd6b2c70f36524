//! Probe: what a cache does with answers, case by case, without a load and beside one; and what it makes of requests whose end is not clear.
//!
//! [`cases`] are data. [`origin`] is the origin's part of one, [`judge`] its checks, and [`sweep`] holds several runs of all of them against each other: pure
//! functions all, over values. Sockets are the command's. Start reading at [`cases::CacheCase`].

pub mod cases;
mod date;
pub mod framing;
pub mod judge;
pub mod origin;
mod report;
pub mod sweep;

pub use report::{BaselineAbout, BesideAbout, DoneSweeps, ProbeOptions, ProbeReport, cases_text};
