//! The options of `wringer find`: a web server, the limits that it must keep, and how long one wants to look.

use super::cache::CacheArgs;
use super::fleet::FleetArgs;
use super::http::Work;
use super::sides::{ProxyArgs, StartedSide};
use super::values::{arrivals, count32, some_rate, some_time, url};
use super::{ClientArgs, Files, KeepArgs, SentArgs};
use clap::Args;
use plan::data::{RowOrder, Source};
use plan::{Arrivals, As, Metric, Plan, Relation, Statistic, Threshold, Timed, units};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The options of `wringer find`.
#[derive(Debug, Clone, Args)]
pub struct FindArgs {
    /// The URLs, fetched in turn
    #[arg(value_name = "URL", required_unless_present_any = ["list", "rig", "rig_command"], value_parser = url)]
    pub urls: Vec<String>,
    /// Proxy that wringer starts instead.
    #[command(flatten)]
    pub proxy: ProxyArgs,
    /// The limits, and how they are looked for.
    #[command(flatten)]
    pub sought: SoughtArgs,
    /// Requests, and what is looked for in their answers.
    #[command(flatten)]
    pub sent: SentArgs,
    /// Clients that send them.
    #[command(flatten)]
    pub clients: ClientArgs,
    /// Other machines that carry the load.
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Storage of the trials: whether they are kept, and where.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// The limits, and how they are looked for.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub struct SoughtArgs {
    /// Limit to be kept, such as 'p99<50ms', 'mean<5ms' or 'failed<0.1%'; several times
    #[arg(long = "slo", value_name = "LIMIT", required_unless_present = "throughput", value_parser = slo)]
    pub slos: Vec<Threshold>,
    /// Time that all trials may take together, at least 3m
    #[arg(long, value_name = "DURATION", default_value = "6m", value_parser = some_time, requires = "slos")]
    pub budget: Duration,
    /// The interval may be so wide, as a share of the rate
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = share, requires = "slos")]
    pub within: f64,
    /// Users of the closed trials that tell where to look
    #[arg(long, short = 'c', value_name = "N", default_value = "64", value_parser = count32, requires = "slos")]
    pub users: u32,
    /// How requests follow each other: poisson, or even, which flatters
    #[arg(long, value_name = "HOW", default_value = "poisson", value_parser = poisson_or_even, requires = "slos")]
    pub arrivals: Arrivals,
    /// Exit with 3 unless it is shown that this rate keeps the limits
    #[arg(long, value_name = "RATE", value_parser = some_rate, requires = "slos")]
    pub at_least: Option<f64>,
    /// For the water mark: so many machines share the load, and one of them may fail
    #[arg(long, value_name = "N", value_parser = machines, requires = "slos")]
    pub one_of: Option<u32>,
    /// For the water mark: so many times the usual load may come for a while
    #[arg(long, value_name = "TIMES", value_parser = times, requires = "slos")]
    pub surge: Option<f64>,
    /// Machines that carry this rate together, by the water mark of the one that is measured
    #[arg(long = "for", value_name = "RATE", value_parser = some_rate, requires = "slos", conflicts_with = "one_of")]
    pub for_load: Option<f64>,
    /// One of the machines of --for may fail
    #[arg(long, requires = "for_load")]
    pub one_may_fail: bool,
    /// Line of each machine of --for, such as 10Gbit; it should not be more than 70 % full [default: not looked at]
    #[arg(long, value_name = "BITS", requires = "for_load", value_parser = bits)]
    pub line: Option<f64>,
    /// Also the highest throughput: 1, 2, 4 … users in three rounds, and how it bends, where that may be told; some minutes more
    #[arg(long)]
    pub throughput: bool,
    /// Only the closed trials, and what a search would take and could tell
    #[arg(long, requires = "slos")]
    pub forecast: bool,
    /// Print the plan of the first trial, and send nothing
    #[arg(long)]
    pub show_plan: bool,
    /// Write the conclusion with all that it rests on as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page that draws it, one file that needs no network; - for standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Go on with a search that was ended or killed, from the file of its --json, with the same options
    #[arg(long, value_name = "FILE", requires = "slos", conflicts_with = "forecast")]
    pub resume: Option<PathBuf>,
}

/// A limit that a search can look for.
fn slo(text: &str) -> Result<Threshold, String> {
    let limit = Threshold::parse(text)?;
    let refused = |why: &str| {
        Err(format!("'{text}' {why}: give p50 to p99.99 or mean, such as 'p99<50ms', or 'failed<0.1%'"))
    };
    if limit.label.is_some() {
        return refused("speaks of one label, and a search of all requests");
    }
    if !matches!(limit.relation, Relation::Below | Relation::AtMost) {
        return refused("is kept by being bad: a limit stands behind <");
    }
    match limit.metric {
        Metric::Time(Timed::Response, Statistic::Quantile(share)) if share > 0.0 && share < 1.0 => {}
        Metric::Time(Timed::Response, Statistic::Mean) => {}
        Metric::Failed(As::Share) if limit.limit < 1.0 => {}
        Metric::Failed(As::Count) => {
            return refused("counts, and a longer trial has more: give a share, in percent");
        }
        Metric::Errors(_) | Metric::Unfinished(_) | Metric::CheckFailed(_) => {
            return refused("is part of failed, which is all that got no good answer");
        }
        Metric::Time(..) => return refused("is no limit that a search can look for"),
        Metric::Failed(As::Share)
        | Metric::Overflow(_)
        | Metric::Stray(_)
        | Metric::Rate
        | Metric::OkRate
        | Metric::OkShare
        | Metric::Decay
        | Metric::HitRatio => return refused("is no limit that a search can look for"),
    }
    if limit.limit > 0.0 { Ok(limit) } else { refused("can never be kept") }
}

fn share(text: &str) -> Result<f64, String> {
    units::share(text).map_err(|error| error.to_string())
}

fn poisson_or_even(text: &str) -> Result<Arrivals, String> {
    match arrivals(text) {
        Ok(how @ (Arrivals::Poisson | Arrivals::Even)) => Ok(how),
        _ => Err("a search is made with poisson or even".to_owned()),
    }
}

fn machines(text: &str) -> Result<u32, String> {
    match count32(text)? {
        0 | 1 => Err("where the only machine fails nothing is left: give 2 or more".to_owned()),
        machines => Ok(machines),
    }
}

fn times(text: &str) -> Result<f64, String> {
    let times = text.parse::<f64>().ok().filter(|times| (1.0..=1000.0).contains(times));
    times.ok_or_else(|| {
        format!("'{text}' is not how many times the usual load may come: give a number such as 1.5")
    })
}

/// Bits a second of a line.
fn bits(text: &str) -> Result<f64, String> {
    let wanted =
        || format!("'{text}' is not the speed of a line: give bits a second, such as 1Gbit or 400Mbit");
    let plain = text.strip_suffix("/s").unwrap_or(text).trim();
    let plain = plain.strip_suffix("bit").ok_or_else(wanted)?;
    let unit = plain.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(plain.len());
    let (number, unit) = plain.split_at(unit);
    let factor = match unit.trim() {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => return Err(wanted()),
    };
    number.parse::<f64>().ok().map(|number| number * factor).filter(|bits| *bits > 0.0).ok_or_else(wanted)
}

impl FindArgs {
    /// Checks that the options fit together.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self) -> Result<(), String> {
        if let Some(side) = self.proxy.started()? {
            return self.cache(&side).map(|_| ());
        }
        let is_taken_once =
            |source: &Source| matches!(source, Source::File(rows) if rows.order == RowOrder::Once);
        if self.sent.data.data().iter().any(|data| is_taken_once(&data.source)) {
            return Err(
                "a file whose rows are taken once ends a trial before its time: leave out 'once'".to_owned()
            );
        }
        self.work().check()
    }

    /// The plan, one phase without a pace.
    ///
    /// # Errors
    /// Mistakes in the files and options, a line for each.
    pub fn plan(&self, seed: u64, files: &Files) -> Result<Plan, String> {
        let plan = self.work().plan(seed, files, |phase| vec![phase])?;
        Ok(self.keep.applied(plan))
    }

    /// The same of a proxy that wringer starts; phases that fill it go before. It listens at `listen`, its origin at `origin`.
    ///
    /// # Errors
    /// Options that do not fit together.
    pub fn plan_started(
        &self,
        side: &StartedSide,
        listen: SocketAddr,
        origin: SocketAddr,
        seed: u64,
    ) -> Result<Plan, String> {
        let cache = self.cache(side)?;
        Ok(self.keep.applied(cache.plan(&listen.to_string(), origin, seed)))
    }

    /// The proxy as `wringer cache` would press it.
    ///
    /// # Errors
    /// Options that do not fit together.
    pub fn cache(&self, side: &StartedSide) -> Result<CacheArgs, String> {
        self.proxy.cache(side, &self.clients)
    }

    fn work(&self) -> Work<'_> {
        let keep_alive = self.clients.load.keep_alive;
        let requests_per_connection = (keep_alive > 0).then_some(keep_alive);
        Work { urls: &self.urls, sent: &self.sent, clients: &self.clients, requests_per_connection }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_can_be_looked_for() {
        for text in ["p99<50ms", "p99.9<=1s", "p50<5ms", "mean<5ms", "failed<0.1%", "response.p99<50ms"] {
            assert_eq!(slo(text).map(|limit| limit.text), Ok(text.to_owned()));
        }
        for (text, said) in [
            ("p99>50ms", "stands behind <"),
            ("p99<50", "50ms"),
            ("p99<0ms", "never be kept"),
            ("p100<50ms", "no limit that a search"),
            ("max<50ms", "no limit that a search"),
            ("service.p99<50ms", "no limit that a search"),
            ("failed<5", "in percent"),
            ("failed<0%", "never be kept"),
            ("failed<100%", "no limit that a search"),
            ("errors<1%", "part of failed"),
            ("p99{a}<5ms", "one label"),
            ("fast", "no condition"),
        ] {
            let refused = slo(text).unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }

    #[test]
    fn machines_and_surges() {
        assert!(machines("1").unwrap_err().contains("2 or more") && machines("4") == Ok(4));
        assert!(times("0.5").is_err() && times("x").is_err() && times("1.5") == Ok(1.5));
        assert_eq!(["10Gbit", "400 Mbit/s", "1.5Tbit"].map(bits), [Ok(1e10), Ok(4e8), Ok(1.5e12)]);
        for text in ["10G", "Gbit", "0bit", "5GB", "-1Mbit"] {
            assert!(bits(text).unwrap_err().contains("400Mbit"), "{text}");
        }
        assert!(some_rate("0").is_err() && some_rate("1k/s") == Ok(1_000.0));
        assert!(poisson_or_even("bursts:5").is_err() && poisson_or_even("even") == Ok(Arrivals::Even));
    }
}
