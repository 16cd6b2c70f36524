//! Figures of a run: this crate counts and cannot print; it holds no lock; merging is associative.
//!
//! A worker fills one [`Tally`] with plain integers and histograms and hands it over at each interval as a
//! [`Snapshot`]; snapshots merge into the figures of an interval, a phase, and the run ([`RunResult`]). What can end a
//! request is an [`Outcome`]; a failed request is data, not an error.

// A new variant is looked at wherever its enum is matched.
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod accounts;
pub mod after_reset;
pub mod agents;
mod alike;
pub mod beside;
pub mod buckets;
mod carried;
pub mod censored;
pub mod codes;
pub mod collect;
pub mod contention;
mod counts;
pub mod dearer;
pub mod distribution;
pub mod event;
mod exchange;
pub mod exchanges;
mod failures;
pub mod figures;
mod fold;
pub mod http2;
pub mod http3;
mod judged;
mod labels;
pub mod machine;
pub mod notes;
pub mod outcome;
mod packed;
mod pending;
pub mod processes;
pub mod purged;
pub mod rates;
pub mod recorded;
pub mod request_times;
pub mod run;
mod seconds;
pub mod seen;
pub mod self_check;
pub mod shared;
pub mod shares;
pub mod silence;
mod snapshot;
pub mod stored;
pub mod stream;
pub mod tally;
pub mod time_metric;
pub mod timeline;
mod untimed;
pub mod verdict;

pub use accounts::{Live, LiveOriginCounts, OriginCounts};
pub use after_reset::AfterReset;
pub use agents::{AgentUse, CarriedOn, LostAgent, OriginUse, Reporting};
pub use alike::{Alike, Answered};
pub use buckets::{Buckets, Digits};
pub use carried::CarriedSnapshot;
pub use censored::{Bound, Censored};
pub use codes::{CodeKind, Codes, CountedCode};
pub use collect::Collector;
pub use time_metric::{TimeMetric, TimeMetrics};
/// The histogram of a [`TimeMetric`], in µs.
pub type Histogram = hdrhistogram::Histogram<u64>;

pub use contention::Contention;
pub use counts::Counts;
pub use distribution::Distribution;
pub use event::{
    Cause, Certificate, ConnectionUse, Contents, Event, Evidence, Fetch, First, FirstTls, LostRequest,
    PageMark, Record, Remark, RequestError, Talk, TalkEvent, TracedRequest, TransactionMark, UsersPresent,
};
pub use exchange::{Exchange, ExchangeKind};
pub use exchanges::KeptExchanges;
pub use figures::Figures;
pub use fold::RunState;
pub use http2::Http2Counts;
pub use http3::{Http3Counts, QuicCounts};
pub use judged::{Judged, JudgedNames};
pub use labels::{Label, LabelFigures, Labels, MAX_LABELS};
pub use machine::{MachineUse, Watched};
pub use outcome::{Broken, CacheResult, Closed, Failure, FailureKind, Fault, Outcome, Reason, Stage};
pub use processes::TargetProcesses;
pub use rates::{Dispersion, Rates};
pub use request_times::{ExactDistribution, RequestDistributions, RequestTimes};
pub use run::{Headline, PhaseResult, RunResult, WorkerUse};
pub use self_check::SelfCheck;
pub use shared::{Fairness, SharedCounts};
pub use silence::Silence;
pub use snapshot::Snapshot;
pub use stream::{Head, MeasureEnd, PhaseEnd, RunEvent, Second};
pub use tally::Tally;
pub use timeline::{Row, Timeline, unless_zero};
pub use verdict::{
    Conduct, ExitCode, FindingKind, RunVerdict, TargetVerdict, VerdictFinding, VerdictNames, Worth,
};
