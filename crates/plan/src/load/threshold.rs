//! Thresholds: conditions that the figures of a run are held to, such as `p99>50ms`. Where one stands says whether it must be so when
//! the run is over or must not.

use crate::units;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A condition on a figure of a run; as text `p99>50ms` or, of one label, `p99{checkout}>50ms`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct Threshold {
    /// As it was typed.
    pub text: String,
    /// The name of requests or of a transaction, whose figure it is; `None`: that of the whole run.
    pub label: Option<String>,
    /// The figure.
    pub metric: Metric,
    /// The relation to the limit.
    pub relation: Relation,
    /// The limit, in the metric's unit.
    pub limit: f64,
}

/// How a figure stands to its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

/// A figure of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// A time in microseconds.
    Time(Timed, Statistic),
    /// Failed and unfinished requests and answers that failed a check.
    Errors(As),
    /// Failed requests.
    Failed(As),
    /// Answers that failed a check.
    CheckFailed(As),
    /// Requests without an answer when their part of the run was over.
    Unfinished(As),
    /// Requests that were due but not sent.
    Overflow(As),
    /// Times that bytes came which no request had asked for.
    Stray(As),
    /// Requests per second.
    Rate,
    /// Good answers per second.
    OkRate,
    /// Good answers as a share of the requests that should have got one.
    OkShare,
    /// Share of answers that came from the cache.
    HitRatio,
    /// Part of its hits among due requests that a cache lost which stopped storing; 0 where it did not.
    Decay,
}

/// Which time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timed {
    /// From the intended send.
    Response,
    /// From the actual send.
    Service,
    /// From the actual send to the first byte.
    FirstByte,
    /// Connecting.
    Connect,
    /// TLS handshakes.
    Tls,
    /// How late requests were sent.
    Lateness,
}

/// The statistic that is taken of many times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// The least time that this share of all does not exceed, 0 to 1.
    Quantile(f64),
    /// The mean.
    Mean,
    /// The longest.
    Max,
}

/// How a count is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum As {
    /// As it is.
    Count,
    /// As a share of all requests, 0 to 1.
    Share,
}

const WANTED: &str = "give METRIC>LIMIT or METRIC<LIMIT, such as 'p99>50ms', 'errors>0.1%' or 'rate<1k/s'";
const OF_LABELS: &str = "p50 to p99.99, mean, max, errors, failed, ok-rate and rate";
const METRICS: &str = "p50 to p99.99, mean and max, also of service. first-byte. connect. tls. and lateness., errors, \
                       failed, check-failed, unfinished, stray, overflow, rate, ok-rate, hit-ratio and decay";

const DECAY: &str = "decay";

impl Threshold {
    /// Reads a condition.
    ///
    /// # Errors
    /// The text is no such condition; the error says what would do.
    pub fn parse(text: &str) -> Result<Threshold, String> {
        let no_condition = || format!("'{text}' is no condition: {WANTED}");
        let (label, unlabelled) = match text.split_once('{') {
            Some((name, rest)) => {
                let (label, rest) = rest.rsplit_once('}').ok_or_else(no_condition)?;
                (Some(label.to_owned()), format!("{name}{rest}"))
            }
            None => (None, text.to_owned()),
        };
        // A cache has stopped storing or has not, so the word alone is a condition.
        let unlabelled = if unlabelled.trim() == DECAY { format!("{DECAY}>0%") } else { unlabelled };
        let at = unlabelled.find(['>', '<']).ok_or_else(no_condition)?;
        let (name, rest) = unlabelled.split_at(at);
        let (relation, limit) = match (rest.strip_prefix(">="), rest.strip_prefix("<=")) {
            (Some(limit), _) => (Relation::AtLeast, limit),
            (_, Some(limit)) => (Relation::AtMost, limit),
            _ if rest.starts_with('>') => (Relation::Above, &rest[1..]),
            _ => (Relation::Below, &rest[1..]),
        };
        let (metric, limit) = metric(name.trim(), limit.trim()).map_err(|why| format!("'{text}': {why}"))?;
        if label.is_some() && !metric.is_of_labels() {
            return Err(format!("'{text}': of a label {OF_LABELS} are known"));
        }
        Ok(Threshold { text: text.to_owned(), label, metric, relation, limit })
    }

    /// True if the condition is so of a figure.
    pub fn holds(&self, value: f64) -> bool {
        match self.relation {
            Relation::Above => value > self.limit,
            Relation::AtLeast => value >= self.limit,
            Relation::Below => value < self.limit,
            Relation::AtMost => value <= self.limit,
        }
    }

    /// True if it speaks of requests without a good answer.
    pub fn is_of_failures(&self) -> bool {
        self.metric.is_of_failures()
    }

    /// True if what it names is what people want: a short time, few failures, a high rate.
    pub fn names_what_is_wanted(&self) -> bool {
        let is_upper = matches!(self.relation, Relation::Below | Relation::AtMost);
        is_upper != self.metric.is_wanted_high()
    }

    /// Returns a line for a condition of what must not be that names what people want.
    pub fn forbids_what_is_wanted(&self) -> Option<String> {
        self.names_what_is_wanted().then(|| {
            format!("fail_if '{self}' fails the run where it is so; if it must be so, give it as --require '{self}' (require)")
        })
    }

    /// Returns a line for a condition of what must be that names what people do not want.
    pub fn requires_what_is_not_wanted(&self) -> Option<String> {
        (!self.names_what_is_wanted()).then(|| {
            format!("require '{self}' fails the run where it is not so; if it must not be so, give it as --fail-if '{self}' (fail_if)")
        })
    }
}

impl Metric {
    /// True if it is known of single labels.
    fn is_of_labels(self) -> bool {
        matches!(
            self,
            Metric::Time(Timed::Response, _)
                | Metric::Errors(_)
                | Metric::Failed(_)
                | Metric::Rate
                | Metric::OkRate
                | Metric::OkShare
        )
    }

    fn is_of_failures(self) -> bool {
        match self {
            Metric::Errors(_)
            | Metric::Failed(_)
            | Metric::CheckFailed(_)
            | Metric::Unfinished(_)
            | Metric::OkRate
            | Metric::OkShare => true,
            Metric::Time(..)
            | Metric::Stray(_)
            | Metric::Overflow(_)
            | Metric::Rate
            | Metric::HitRatio
            | Metric::Decay => false,
        }
    }

    /// True if more of it is better.
    fn is_wanted_high(self) -> bool {
        match self {
            Metric::Rate | Metric::OkRate | Metric::OkShare | Metric::HitRatio => true,
            Metric::Time(..)
            | Metric::Errors(_)
            | Metric::Failed(_)
            | Metric::CheckFailed(_)
            | Metric::Unfinished(_)
            | Metric::Stray(_)
            | Metric::Overflow(_)
            | Metric::Decay => false,
        }
    }
}

crate::units::as_text!(Threshold, Threshold::parse);

impl fmt::Display for Threshold {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.text)
    }
}

fn metric(name: &str, limit: &str) -> Result<(Metric, f64), String> {
    let said = |error: units::UnitError| error.to_string();
    let counted = |metric: fn(As) -> Metric| {
        if limit.ends_with('%') || limit.contains('.') {
            Ok((metric(As::Share), units::share(limit).map_err(said)?))
        } else {
            Ok((metric(As::Count), units::count(limit).map_err(said)? as f64))
        }
    };
    match name {
        "errors" => counted(Metric::Errors),
        "failed" => counted(Metric::Failed),
        // `faulty`: the word of version 0.1.
        "check-failed" | "check_failed" | "faulty" => counted(Metric::CheckFailed),
        "unfinished" => counted(Metric::Unfinished),
        "stray" => counted(Metric::Stray),
        "overflow" => counted(Metric::Overflow),
        "rate" | "rps" => Ok((Metric::Rate, units::rate(limit).map_err(said)?)),
        // As with counts, a percentage or a part of one is a share.
        "ok-rate" | "ok_rate" if is_share(limit) => Ok((Metric::OkShare, units::share(limit).map_err(said)?)),
        "ok-rate" | "ok_rate" => Ok((Metric::OkRate, units::rate(limit).map_err(said)?)),
        DECAY => Ok((Metric::Decay, units::share(limit).map_err(said)?)),
        "hit-ratio" => Ok((Metric::HitRatio, units::share(limit).map_err(said)?)),
        _ => {
            let unknown = || format!("'{name}' is no metric: give {METRICS}");
            let (timed, statistic) = time(name).ok_or_else(unknown)?;
            if limit != "0" && limit.parse::<f64>().is_ok() {
                return Err(format!("'{limit}' has no unit: give {limit}ms or {limit}s"));
            }
            let limit = units::duration(limit).map_err(said)?;
            Ok((Metric::Time(timed, statistic), limit.as_secs_f64() * 1e6))
        }
    }
}

/// True for a percentage, and for a plain number with a point that is no more than 1.
fn is_share(limit: &str) -> bool {
    let is_part = || limit.parse::<f64>().is_ok_and(|number| (0.0..=1.0).contains(&number));
    limit.ends_with('%') || limit.contains('.') && is_part()
}

fn time(name: &str) -> Option<(Timed, Statistic)> {
    let metrics = [
        ("response.", Timed::Response),
        ("service.", Timed::Service),
        ("first-byte.", Timed::FirstByte),
        ("connect.", Timed::Connect),
        ("tls.", Timed::Tls),
        ("lateness.", Timed::Lateness),
    ];
    let named = metrics.iter().find_map(|(metric, timed)| Some((*timed, name.strip_prefix(metric)?)));
    let (timed, statistic) = named.unwrap_or((Timed::Response, name));
    let statistic = match statistic {
        "mean" => Statistic::Mean,
        "max" => Statistic::Max,
        _ => {
            let digits = statistic.strip_prefix('p')?;
            let percent: f64 = digits.parse().ok().filter(|percent| (0.0..=100.0).contains(percent))?;
            Statistic::Quantile(percent / 100.0)
        }
    };
    Some((timed, statistic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let quantile = |timed, share| Metric::Time(timed, Statistic::Quantile(share));
        for (text, metric, relation, limit) in [
            ("p99>50ms", quantile(Timed::Response, 0.99), Relation::Above, 50_000.0),
            ("service.p50 >= 1s", quantile(Timed::Service, 0.5), Relation::AtLeast, 1e6),
            ("connect.max>2ms", Metric::Time(Timed::Connect, Statistic::Max), Relation::Above, 2_000.0),
            ("max>0", Metric::Time(Timed::Response, Statistic::Max), Relation::Above, 0.0),
            ("mean<1us", Metric::Time(Timed::Response, Statistic::Mean), Relation::Below, 1.0),
            ("errors>0.1%", Metric::Errors(As::Share), Relation::Above, 0.001),
            ("errors>0", Metric::Errors(As::Count), Relation::Above, 0.0),
            ("overflow>=5", Metric::Overflow(As::Count), Relation::AtLeast, 5.0),
            ("rps<1k/s", Metric::Rate, Relation::Below, 1000.0),
            ("decay", Metric::Decay, Relation::Above, 0.0),
            ("decay>60%", Metric::Decay, Relation::Above, 0.6),
            ("hit-ratio<=90%", Metric::HitRatio, Relation::AtMost, 0.9),
            ("ok-rate>=99.9%", Metric::OkShare, Relation::AtLeast, 0.999),
            ("ok-rate>0.5", Metric::OkShare, Relation::Above, 0.5),
            ("ok-rate>=1k/s", Metric::OkRate, Relation::AtLeast, 1000.0),
            ("ok-rate<2.5/s", Metric::OkRate, Relation::Below, 2.5),
        ] {
            let expected = Threshold { text: text.to_owned(), label: None, metric, relation, limit };
            assert_eq!(Threshold::parse(text), Ok(expected), "{text}");
        }
        for (text, said) in [
            ("p99", "no condition"),
            ("p101>1s", "no metric"),
            ("speed>1", "no metric"),
            ("p99>fast", "'fast'"),
            ("p99>50", "50ms"),
            ("mean<=0.5", "no unit"),
            ("errors>many", "'many'"),
            ("p99{a>1s", "no condition"),
            ("hit-ratio{a}<1%", "of a label p50"),
        ] {
            assert!(Threshold::parse(text).unwrap_err().contains(said), "{text}");
        }
    }

    #[test]
    fn a_condition_may_be_of_one_label() {
        let read = Threshold::parse("p99{pay > {now}} >= 1s").unwrap();
        let quantile = Metric::Time(Timed::Response, Statistic::Quantile(0.99));
        assert_eq!((read.label.as_deref(), read.metric), (Some("pay > {now}"), quantile));
        assert_eq!((read.relation, read.limit), (Relation::AtLeast, 1e6));
    }

    #[test]
    fn conditions_hold_or_not() {
        let holds = |text: &str, value| Threshold::parse(text).unwrap().holds(value);
        assert!(holds("rate<10", 9.0) && !holds("rate<10", 10.0) && !holds("rate>10", 10.0));
        assert!(holds("rate<=10", 10.0) && holds("rate>=10", 10.0));
    }

    #[test]
    fn a_condition_that_stands_in_the_wrong_place_is_told() {
        for (text, wanted) in [
            ("p99<50ms", true),
            ("p99>50ms", false),
            ("errors<=1%", true),
            ("errors>0", false),
            ("rate>=1k/s", true),
            ("rate<1k/s", false),
            ("ok-rate>99%", true),
            ("ok-rate<99%", false),
            ("hit-ratio>80%", true),
            ("lateness.max<1ms", true),
        ] {
            let threshold = Threshold::parse(text).unwrap();
            let told = [threshold.forbids_what_is_wanted(), threshold.requires_what_is_not_wanted()];
            assert_eq!(told.map(|line| line.is_some()), [wanted, !wanted], "{text}");
        }
        let line = Threshold::parse("p99<50ms").unwrap().forbids_what_is_wanted().unwrap();
        assert!(line.contains("--require 'p99<50ms'"), "{line}");
    }

    #[test]
    fn some_conditions_speak_of_failures() {
        let speaks = |text| Threshold::parse(text).unwrap().is_of_failures();
        assert!(
            ["errors>1%", "failed>0", "check-failed>0", "unfinished>0", "ok-rate<99%", "ok-rate<9/s"]
                .into_iter()
                .all(speaks)
        );
        assert!(!["p99>1s", "rate<1", "overflow>0", "hit-ratio<1%"].into_iter().any(speaks));
    }
}
