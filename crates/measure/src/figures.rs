//! Figures of clients, as they are kept and sent: only those not zero, and without histograms of times, which have a place
//! of their own. Figures add up.

use crate::buckets::{Buckets, Digits};
use crate::codes::{CodeKind, CountedCode};
use crate::counts::Counts;
use crate::http2::Http2Counts;
use crate::http3::Http3Counts;
use crate::labels::Label;
use crate::outcome::{Failure, Fault};
use crate::seconds::if_any;
use crate::tally::Tally;
use crate::time_metric::{TimeMetric, TimeMetrics};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

/// Figures that clients counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Figures {
    /// Plain counters.
    #[serde(with = "sparse_counts")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, u64>"))]
    pub counts: Counts,
    /// Answers by status.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<(u16, u64)>,
    /// Those of them that then failed for another reason, by status.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut_statuses: Vec<(u16, u64)>,
    /// Requests that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureCount>,
    /// Answers that failed a check, by fault.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultCount>,
    /// Codes of answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<CodeCount>,
    /// Figures under the plan's labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<LabelCount>,
    /// Counts that only HTTP/2 has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http2: Option<Box<Http2Counts>>,
    /// Counts that only HTTP/3 has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http3: Option<Box<Http3Counts>>,
    /// When bytes last came from the other side.
    #[serde(rename = "heard_s", with = "if_any", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub heard: Option<Duration>,
    /// When a request last failed for want of anything that the target owed.
    #[serde(rename = "failed_s", with = "if_any", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub failed: Option<Duration>,
    /// When the first and the last of those were due to which no answer came, in seconds.
    #[serde(rename = "lost_s", with = "lost", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<[f64; 2]>"))]
    pub lost: Option<(Duration, Duration)>,
}

/// Requests that failed in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureCount {
    /// In which.
    #[serde(flatten)]
    pub failure: Failure,
    /// How many.
    pub count: u64,
}

/// Answers with one fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultCount {
    /// With which.
    pub fault: Fault,
    /// How many.
    pub count: u64,
}

/// Answers with one code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodeCount {
    /// Its bytes, each as the character of that number (ISO 8859-1).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// It is one code, all that found no room, or none.
    #[serde(default)]
    pub which: CodeKind,
    /// It means success.
    pub good: bool,
    /// How many.
    pub count: u64,
}

/// The figures under one label.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LabelCount {
    /// Its place in the phase's list of labels.
    pub label: u16,
    /// Requests, or transactions, that have ended.
    pub ended: u64,
    /// Those of them that were good.
    #[serde(alias = "fine")]
    pub ok: u64,
    /// Response times of all that have ended, in two digits.
    #[serde(skip_serializing_if = "Buckets::is_empty")]
    pub response: Buckets,
}

impl Figures {
    /// Those of a tally.
    pub fn of(tally: &Tally) -> Figures {
        let code = |code: &CountedCode<'_>| CodeCount {
            code: code.text.iter().map(|byte| char::from(*byte)).collect(),
            which: code.kind,
            good: code.good,
            count: code.count,
        };
        Figures {
            counts: tally.counts,
            statuses: tally.statuses().collect(),
            cut_statuses: tally.cut_statuses().collect(),
            failures: tally.failures().map(|(failure, count)| FailureCount { failure, count }).collect(),
            faults: tally.faults().map(|(fault, count)| FaultCount { fault, count }).collect(),
            codes: tally.codes.list().iter().map(code).collect(),
            labels: tally
                .labels
                .iter()
                .map(|(label, figures)| LabelCount {
                    label: label.0,
                    ended: figures.ended,
                    ok: figures.ok,
                    response: Buckets::of(&figures.response, Digits::Two),
                })
                .collect(),
            http2: tally.http2().cloned().map(Box::new),
            http3: tally.http3().cloned().map(Box::new),
            heard: tally.last_heard(),
            failed: tally.last_failed(),
            lost: tally.lost_due(),
        }
    }

    /// Adds them to a tally.
    pub fn add_to(&self, tally: &mut Tally) {
        self.add_counts_to(tally);
        for one in &self.labels {
            tally.labels.add_times(Label(one.label), &one.response);
        }
    }

    /// Adds them to a tally, but for the times of labels.
    pub(crate) fn add_counts_to(&self, tally: &mut Tally) {
        tally.counts.merge(&self.counts);
        self.statuses.iter().for_each(|(status, count)| tally.add_status(*status, *count));
        self.cut_statuses.iter().for_each(|(status, count)| tally.add_cut(*status, *count));
        self.failures.iter().for_each(|one| tally.add_failures(one.failure, one.count));
        self.faults.iter().for_each(|one| tally.add_faults(one.fault, one.count));
        for code in &self.codes {
            let bytes: Vec<u8> = code.code.chars().map(|char| u8::try_from(char).unwrap_or(b'?')).collect();
            tally.codes.add_counted(&bytes, code.which, code.good, code.count);
        }
        for one in &self.labels {
            tally.labels.add_counted(Label(one.label), one.ended, one.ok);
        }
        if let Some(http2) = &self.http2 {
            tally.http2_mut().merge(http2);
        }
        if let Some(http3) = &self.http3 {
            tally.http3_mut().merge(http3);
        }
        tally.note_times(self.heard, self.failed);
        tally.note_lost(self.lost);
    }

    /// Failed requests that this machine had no port or descriptor for.
    pub fn starved(&self) -> u64 {
        self.failures.iter().filter(|one| one.failure.kind.is_ours()).map(|one| one.count).sum()
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: &Figures) {
        let mut sum = Tally::new();
        self.add_to(&mut sum);
        other.add_to(&mut sum);
        *self = Figures::of(&sum);
    }
}

/// The times of a tally.
pub fn metrics(tally: &Tally, digits: Digits) -> TimeMetrics {
    let seen = TimeMetric::ALL.into_iter().filter(|metric| !tally.times_of(*metric).is_empty());
    seen.map(|metric| (metric, Buckets::of_counts(tally.times_of(metric).iter(), digits))).collect()
}

/// Two moments in seconds.
mod lost {
    use super::*;

    pub fn serialize<S: Serializer>(lost: &Option<(Duration, Duration)>, to: S) -> Result<S::Ok, S::Error> {
        lost.map(|(first, last)| [first.as_secs_f64(), last.as_secs_f64()]).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<(Duration, Duration)>, D::Error> {
        let told = Option::<[f64; 2]>::deserialize(from)?;
        let moment = |seconds: f64| Duration::try_from_secs_f64(seconds).map_err(serde::de::Error::custom);
        told.map(|[first, last]| Ok((moment(first)?, moment(last)?))).transpose()
    }
}

/// The counters that are not zero.
mod sparse_counts {
    use super::*;

    pub fn serialize<S: Serializer>(counts: &Counts, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(Counts::NAMES.iter().zip(counts.list()).filter(|(_, count)| *count > 0))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Counts, D::Error> {
        Counts::deserialize(from)
    }
}
