//! The run as a stream of records: what is kept of it, what is shown while it goes on, and what its result is folded from.
//!
//! One type for all of it, [`RunEvent`], written as one JSON object per line. Records hold differences: any set of them adds
//! up, and a record that is lost takes only its own part with it. Times are seconds since the start of the run (`_s`) or
//! microseconds (`_us`); what is zero or not known is left out where there is much of it.

use crate::accounts::OriginCounts;
use crate::after_reset::AfterReset;
use crate::agents::{AgentUse, OriginUse, Reporting};
use crate::buckets::Buckets;
use crate::event::{Evidence, LostRequest, TracedRequest};
use crate::exchanges::KeptExchanges;
use crate::figures::Figures;
use crate::judged::Judged;
use crate::machine::Watched;
use crate::notes;
use crate::processes::{Behind, Happened};
use crate::recorded::RecordedFigures;
use crate::request_times::RequestDistributionsKept;
use crate::run::{Headline, WorkerUse};
use crate::seconds::{self, if_any};
use crate::self_check::SelfCheck;
use crate::stored::DeadObjects;
use crate::time_metric::{TimeMetrics, named};
use crate::timeline::{Row, unless_zero, zero_if_null};
use crate::verdict::VerdictNames;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::time::Duration;

/// One record of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunEvent {
    /// First: the run, before anything has happened.
    Head(Box<Head>),
    /// A phase begins.
    Phase(PhaseBegun),
    /// An interval is over, of a second mostly.
    Second(Box<Second>),
    /// A minute, or a phase, is over: times in three digits.
    Minute(Box<Minute>),
    /// Single requests, where they are kept.
    Exchanges(Box<KeptExchanges>),
    /// An answer that failed a check, or one to a request that failed.
    Evidence(Box<EvidenceFound>),
    /// A request that no answer came to.
    Lost(LostRequest),
    /// A request with a trace context that was among the slowest when it ended.
    Traced(Box<TracedRequest>),
    /// Something that a reader had better know.
    Note(Note),
    /// Somebody changed the run while it went on.
    Control(Controlled),
    /// The target's processes changed.
    Process(Box<Happened>),
    /// Last: what is known only when all is over.
    End(Box<MeasureEnd>),
    /// A record of a later version, which this one passes over.
    Unknown,
}

/// The kind of a record, as its line names it.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordKind {
    Head,
    Phase,
    Second,
    Minute,
    Exchanges,
    Evidence,
    Lost,
    Traced,
    Note,
    Control,
    Process,
    End,
    #[serde(other)]
    Unknown,
}

impl RecordKind {
    /// The kind that a line names: with its first word, where that is not elsewhere.
    fn of(line: &[u8]) -> serde_json::Result<RecordKind> {
        #[derive(Deserialize)]
        struct Kinded {
            kind: RecordKind,
        }
        let first = line.strip_prefix(br#"{"kind":"#);
        let named = first
            .and_then(|rest| RecordKind::deserialize(&mut serde_json::Deserializer::from_slice(rest)).ok());
        named.map_or_else(|| serde_json::from_slice::<Kinded>(line).map(|line| line.kind), Ok)
    }
}

impl RunEvent {
    /// Reads the line of a record.
    ///
    /// It is read as the one kind that it names. As one of all kinds, which serde would do by itself, each value would be kept before
    /// anybody knows what it is for, and each crate that reads a record would compile all of them once more.
    ///
    /// # Errors
    /// It is no JSON, names no kind, or has values that its kind cannot have.
    pub fn read(line: &[u8]) -> serde_json::Result<RunEvent> {
        Ok(match RecordKind::of(line)? {
            RecordKind::Head => RunEvent::Head(serde_json::from_slice(line)?),
            RecordKind::Phase => RunEvent::Phase(serde_json::from_slice(line)?),
            RecordKind::Second => RunEvent::Second(serde_json::from_slice(line)?),
            RecordKind::Minute => RunEvent::Minute(serde_json::from_slice(line)?),
            RecordKind::Exchanges => RunEvent::Exchanges(serde_json::from_slice(line)?),
            RecordKind::Evidence => RunEvent::Evidence(serde_json::from_slice(line)?),
            RecordKind::Lost => RunEvent::Lost(serde_json::from_slice(line)?),
            RecordKind::Traced => RunEvent::Traced(serde_json::from_slice(line)?),
            RecordKind::Note => RunEvent::Note(serde_json::from_slice(line)?),
            RecordKind::Control => RunEvent::Control(serde_json::from_slice(line)?),
            RecordKind::Process => RunEvent::Process(serde_json::from_slice(line)?),
            RecordKind::End => RunEvent::End(serde_json::from_slice(line)?),
            RecordKind::Unknown => RunEvent::Unknown,
        })
    }
}

/// Where it is a part of something else, its text is taken out first.
impl<'de> Deserialize<'de> for RunEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RunEvent, D::Error> {
        let text = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
        RunEvent::read(text.get().as_bytes()).map_err(serde::de::Error::custom)
    }
}

/// A run before anything has happened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Head {
    /// The run's own number (UUID, version 7).
    pub id: String,
    /// Version of the program.
    pub version: String,
    /// The command that repeats the run, seed included.
    pub command: String,
    /// The command or old tool: `cache`, `http`, `ab`, …
    pub door: String,
    /// Target of the run, in words.
    pub target: Option<String>,
    /// When it began, in seconds since 1970.
    pub started_unix_s: f64,
    /// Workers.
    pub threads: u32,
    /// The seed of all chance.
    pub seed: u64,
    /// The phases of the plan, in order; none where only an origin runs.
    pub phases: Vec<PhasePlan>,
    /// The whole plan in its text form (TOML); secrets are named, never told.
    pub plan: String,
    /// Words of the user's own: name and value.
    pub labels: BTreeMap<String, String>,
    /// Commit of the folder that the run was made in, where it is one of git's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The machine that the run was made on.
    pub machine: Machine,
    /// Length of an interval, which a second of the records has mostly; older files do not tell it.
    #[serde(rename = "interval_s", with = "if_any", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub interval: Option<Duration>,
    /// Share of requests whose answers may fail a check.
    #[serde(skip_serializing_if = "is_zero")]
    pub tolerated: f64,
    /// Who answered at the target's addresses before the first request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<Behind>,
    /// Figures of the recording whose requests are sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Box<RecordedFigures>>,
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

fn is_false(word: &bool) -> bool {
    !*word
}

/// A phase, as the plan describes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PhasePlan {
    /// Its name.
    pub name: String,
    /// Its figures count.
    pub measured: bool,
    /// The pace is open: requests are due whether or not earlier ones have ended.
    pub open: bool,
    /// How long it is to last, where that is known before it begins.
    #[serde(rename = "lasts_s", with = "crate::seconds::if_any", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub lasts: Option<Duration>,
    /// Names that figures are gathered under, in order of their numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

/// A machine that made a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Machine {
    /// Its name.
    pub host: String,
    /// Cores that this process may use.
    pub cores: u32,
    /// The processor, as it calls itself.
    pub cpu: String,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// The kernel's release.
    pub kernel: String,
}

/// A phase begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PhaseBegun {
    /// When.
    #[serde(rename = "at_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub at: Duration,
    /// Its place among the phases, from 0.
    pub phase: u32,
    /// Its name.
    pub name: String,
    /// Its figures count.
    pub measured: bool,
}

/// Figures of the time since the record before: mostly one second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Second {
    /// When it ends.
    #[serde(rename = "at_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub at: Duration,
    /// How long it is.
    #[serde(rename = "seconds", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub took: Duration,
    /// Place of its phase, from 0.
    pub phase: u32,
    /// When the phase began.
    #[serde(rename = "began_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub began: Duration,
    /// Until when requests could begin so far; what comes after waits for answers only.
    #[serde(rename = "paced_until_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub paced_until: Duration,
    /// Requests under way at its end.
    pub in_flight: u64,
    /// Requests per second that an open pace asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_per_s: Option<f64>,
    /// Median service time of its good answers in µs; `null` without any.
    #[serde(serialize_with = "unless_zero", deserialize_with = "zero_if_null")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub p50_us: u64,
    /// 99th percentile of the same.
    #[serde(serialize_with = "unless_zero", deserialize_with = "zero_if_null")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub p99_us: u64,
    /// Longest of the same.
    #[serde(serialize_with = "unless_zero", deserialize_with = "zero_if_null")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub max_us: u64,
    /// Mean service time in µs of all whole answers, false ones included; `null` without any.
    #[serde(serialize_with = "unless_zero", deserialize_with = "zero_if_null")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub mean_us: f64,
    /// Figures that the clients counted.
    pub clients: Figures,
    /// Counts of the origin, where they are known.
    #[serde(skip_serializing_if = "Option::is_none", with = "sparse_origin")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<std::collections::BTreeMap<String, u64>>"))]
    pub origin: Option<OriginCounts>,
    /// Times in two digits.
    #[serde(with = "named", alias = "clocks")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<String, crate::buckets::Buckets>")
    )]
    pub metrics: TimeMetrics,
    /// CPU of each worker as a share of a core, 0 to 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worker_cpu: Vec<f64>,
    /// Resources that this machine had in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineNow>,
    /// Why the generator, and not the target, may have been the limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bound: Vec<BoundBy>,
    /// The agents whose figures it has, where one was silent or lost by then; left out otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<Reporting>,
    /// Figures that came after the second that ends then had been told, to be added to it. Its times are those of the whole second now;
    /// `null`: they are as they were.
    #[serde(skip_serializing_if = "is_false")]
    pub late: bool,
    /// Workers that had told nothing of it by then.
    #[serde(skip)]
    pub missing: Vec<u32>,
}

/// Resources that a machine had in use at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MachineNow {
    /// Descriptors of this process.
    pub descriptors: u64,
    /// Memory of this process in bytes.
    pub memory_bytes: u64,
    /// TCP sockets of the whole machine.
    pub tcp_sockets: u64,
    /// Of those, the ones in TIME_WAIT.
    pub time_wait: u64,
    /// Local ports in use towards the target, where they may run out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<u64>,
}

/// A limit of the generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BoundBy {
    /// A worker used more of its core than the water mark.
    Cpu,
    /// Sends were late.
    Lateness,
    /// Requests were due and not sent.
    Overflow,
    /// Local ports ran out.
    Ports,
    /// Descriptors ran out.
    Descriptors,
    /// The machine swapped.
    Swap,
    /// A limit of a later version.
    #[serde(other)]
    Other,
}

/// Times since the minute before, in three digits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Minute {
    /// When it ends.
    #[serde(rename = "at_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub at: Duration,
    /// Place of its phase, from 0.
    pub phase: u32,
    /// Times in three digits.
    #[serde(with = "named", alias = "clocks")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<String, crate::buckets::Buckets>")
    )]
    pub metrics: TimeMetrics,
    /// Response times by label in two digits, which seconds may have told before, and do not in the files of long runs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<u16, Buckets>,
    /// Times of all requests that ended, as old tools count them; only where the plan asks for them.
    #[serde(skip_serializing_if = "Option::is_none", alias = "spreads")]
    pub distributions: Option<Box<RequestDistributionsKept>>,
    /// Tenths of a request per second that single workers completed, interval by interval.
    #[serde(skip_serializing_if = "Buckets::is_empty")]
    pub rates: Buckets,
    /// The most requests under way at once, by worker, since the phase began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub peaks: Vec<u64>,
}

/// An answer that is kept with all that is known of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvidenceFound {
    /// The answer.
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// Something that a reader had better know.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Note {
    /// When.
    #[serde(rename = "at_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub at: Duration,
    /// A sentence.
    pub text: String,
}

/// A change of the run while it went on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Controlled {
    /// From when on.
    #[serde(rename = "at_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub at: Duration,
    /// By whom: `page`, `terminal`, `signal`, …
    pub by: String,
    /// Command that changed it.
    #[serde(flatten)]
    pub command: Option<Command>,
}

/// Commands that may be given to a run that goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// From now on so many requests per second; of an open pace.
    Rate {
        /// The rate.
        per_second: f64,
        /// Place of the phase whose rate it is, from 0.
        #[serde(default)]
        phase: u32,
        /// From when on, since that phase began.
        #[serde(default, rename = "since_s", with = "seconds")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        since: Duration,
    },
    /// The run ends.
    Stop,
    /// The run is called so from now on; also long after its end.
    Label {
        /// The name.
        name: String,
        /// The value; empty: none.
        value: String,
    },
    /// Something worth remembering happened.
    Mark {
        /// Description of it.
        text: String,
    },
}

/// Facts that are known only when all is over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MeasureEnd {
    /// How long the run took.
    #[serde(rename = "took_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub took: Duration,
    /// It was interrupted.
    pub interrupted: bool,
    /// The I/O backend that was used.
    pub backend: String,
    /// Facts known of each phase, in order.
    pub phases: Vec<PhaseEnd>,
    /// CPU of each worker while measuring.
    pub workers: Vec<WorkerUse>,
    /// The origin's accounts over the whole run.
    #[serde(skip_serializing_if = "Option::is_none", with = "sparse_origin")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<std::collections::BTreeMap<String, u64>>"))]
    pub origin: Option<OriginCounts>,
    /// Observations that the generator made of itself.
    pub self_check: SelfCheck,
    /// Resources that watched processes used.
    pub watched: Vec<Watched>,
    /// CPU seconds of the target while measuring, where known.
    pub target_cpu_s: Option<f64>,
    /// Objects that the cache did not serve although it was given them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead: Option<DeadObjects>,
    /// Who answered at the target's addresses when the run was over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<Behind>,
    /// The machines that made the run, where they were several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentUse>,
    /// The origins that agents served.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<OriginUse>,
    /// Thresholds that the figures were held to.
    pub thresholds: Vec<Judged>,
    /// Verdict on the figures and on the target.
    pub verdict: VerdictNames,
    /// Figures that lists of runs show.
    pub figures: Headline,
    /// Exit code of the process.
    pub exit: u8,
    /// Where answers that failed a check were written, beside this record.
    pub evidence_file: Option<String>,
}

/// Facts known of a phase when all is over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PhaseEnd {
    /// Requests begun in it, to compare with the sum of its seconds.
    pub requests: u64,
    /// Until when requests were due, since the start of the run: after that only answers were waited for. Older files do not tell it.
    #[serde(rename = "due_until_s", with = "if_any", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub due_until: Option<Duration>,
    /// The origin's accounts, read where the phase ended.
    #[serde(skip_serializing_if = "Option::is_none", with = "sparse_origin")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<std::collections::BTreeMap<String, u64>>"))]
    pub origin: Option<OriginCounts>,
    /// When those end, where the origin was gone before.
    #[serde(rename = "origin_until_s", with = "if_any", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub origin_until: Option<Duration>,
    /// Hit ratio to be expected, where the plan allows a prediction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted_hit_ratio: Option<f64>,
    /// Outcome, at the origin, of requests that clients broke off; `None`: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_reset: Option<AfterReset>,
}

impl Controlled {
    /// Returns a sentence on what was done; nothing for a label, which stands in the head.
    pub fn sentence(&self) -> Option<String> {
        let at = format!("{:.1}", self.at.as_secs_f64());
        let by = &self.by;
        match self.command.as_ref()? {
            Command::Rate { per_second, .. } => {
                Some(notes::RATE_CHANGED.with(&[&at, &((per_second * 1000.0).round() / 1000.0), by]))
            }
            Command::Stop => Some(notes::STOPPED.with(&[&at, by])),
            Command::Mark { text } => Some(notes::MARK.with(&[&at, text])),
            Command::Label { .. } => None,
        }
    }
}

impl Second {
    /// The line of the timeline that it makes.
    pub fn row(&self) -> Row {
        let began = self.at.saturating_sub(self.took);
        let paced = self.paced_until.saturating_sub(began).min(self.took);
        Row {
            at_s: self.at.as_secs_f64(),
            seconds: self.took.as_secs_f64(),
            paced_s: paced.as_secs_f64(),
            phase: self.phase,
            counts: self.clients.counts,
            starved: self.clients.starved(),
            origin: self.origin,
            in_flight: self.in_flight,
            p50_us: self.p50_us,
            p99_us: self.p99_us,
            max_us: self.max_us,
            mean_us: self.mean_us,
            agents: self.agents,
        }
    }

    /// Puts it behind those before it; what is late, into the one that it belongs to.
    pub fn push_to(self, seconds: &mut Vec<Second>) {
        let is_its = |one: &&mut Second| {
            one.phase == self.phase && one.at.saturating_sub(one.took) < self.at && self.late
        };
        match seconds.iter_mut().rev().find(is_its) {
            Some(one) => one.add_late(&self),
            None => seconds.push(self),
        }
    }

    fn add_late(&mut self, late: &Second) {
        let mut row = self.row();
        row.take_late(&late.row(), true);
        self.in_flight = row.in_flight;
        (self.p50_us, self.p99_us, self.max_us, self.mean_us) =
            (row.p50_us, row.p99_us, row.max_us, row.mean_us);
        self.add_figures(late);
        self.agents = row.agents;
    }

    fn add_figures(&mut self, other: &Second) {
        self.clients.merge(&other.clients);
        for (metric, buckets) in &other.metrics {
            self.metrics.entry(*metric).or_default().merge(buckets);
        }
    }

    /// Takes the next one of the same phase in, where there is no time to keep both. Percentiles become the worse of both.
    pub fn merge(&mut self, next: &Second) {
        if next.late && !self.late {
            return self.add_late(next);
        }
        let row = {
            let mut row = self.row();
            row.join(&next.row());
            row
        };
        self.at = self.at.max(next.at);
        self.took += next.took;
        self.late &= next.late;
        self.began = self.began.min(next.began);
        self.paced_until = self.paced_until.max(next.paced_until);
        self.in_flight = next.in_flight;
        self.asked_per_s = next.asked_per_s;
        (self.p50_us, self.p99_us, self.max_us, self.mean_us) =
            (row.p50_us, row.p99_us, row.max_us, row.mean_us);
        self.add_figures(next);
        self.origin = row.origin;
        self.agents = row.agents;
        self.worker_cpu.clone_from(&next.worker_cpu);
        self.machine.clone_from(&next.machine);
        self.bound.extend(&next.bound);
        self.bound.sort_unstable();
        self.bound.dedup();
    }
}

/// The origin's counters that are not zero.
mod sparse_origin {
    use super::*;

    pub fn serialize<S: Serializer>(counts: &Option<OriginCounts>, to: S) -> Result<S::Ok, S::Error> {
        let counts = counts.unwrap_or_default();
        let named = OriginCounts::NAMES.iter().zip(counts.list());
        to.collect_map(named.filter(|(_, count)| *count > 0))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<OriginCounts>, D::Error> {
        Option::<OriginCounts>::deserialize(from)
    }
}
