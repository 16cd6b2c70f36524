//! Thresholds: what a run's figures must keep to, such as `p99>50ms`, which names what must not be.

use crate::units;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A condition that must not hold when the run is over; as text `p99>50ms` or, of one label, `p99{checkout}>50ms`.
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
    /// The relation to the limit that must not hold.
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
    /// Share of answers that came from the cache.
    HitRatio,
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
const OF_LABELS: &str = "p50 to p99.99, mean, max, errors, failed and rate";
const METRICS: &str = "p50 to p99.99, mean and max, also of service. first-byte. connect. tls. and lateness., errors, \
                       failed, check-failed, unfinished, stray, overflow, rate and hit-ratio";

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

    /// True if a figure is what must not be. One that is not known is, since nothing shows that it was kept.
    pub fn is_violated_by(&self, value: Option<f64>) -> bool {
        let Some(value) = value else { return true };
        match self.relation {
            Relation::Above => value > self.limit,
            Relation::AtLeast => value >= self.limit,
            Relation::Below => value < self.limit,
            Relation::AtMost => value <= self.limit,
        }
    }
}

impl Metric {
    /// True if it is known of single labels.
    fn is_of_labels(self) -> bool {
        matches!(
            self,
            Metric::Time(Timed::Response, _) | Metric::Errors(_) | Metric::Failed(_) | Metric::Rate
        )
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
            ("hit-ratio<=90%", Metric::HitRatio, Relation::AtMost, 0.9),
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
    fn limits_are_kept_or_not() {
        let violated = |text: &str, value| Threshold::parse(text).unwrap().is_violated_by(value);
        assert!(violated("rate<10", Some(9.0)) && !violated("rate<10", Some(10.0)));
        assert!(violated("rate<=10", Some(10.0)) && violated("rate>=10", Some(10.0)));
        assert!(!violated("rate>10", Some(10.0)) && violated("rate>10", None));
    }
}
