//! When requests are sent and until when, as typed: the same options for each command that sends.

use super::values::{arrivals, at_least_one, count32, some_time};
use clap::Args;
use plan::units;
use plan::{Arrivals, Delay, Pace, Stage, Stop};
use std::time::Duration;

/// How long a run takes when nothing is said.
pub(super) const DEFAULT_DURATION: Duration = Duration::from_secs(10);
/// Users when nothing is said.
const DEFAULT_USERS: u32 = 50;
/// Most requests under way at an open pace when nothing is said.
const DEFAULT_IN_FLIGHT: u32 = 10_000;

/// When requests are sent, and until when.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Pace")]
pub struct PaceArgs {
    /// Users, each with one request under way at a time [default: 50]
    #[arg(long, short = 'c', value_name = "N", value_parser = count32)]
    pub users: Option<u32>,
    /// How long users think between two requests: 1s, 0.5s..2s, exp:1s, or lognormal:MEDIAN[:SIGMA] [default: not at all]
    #[arg(
        long,
        value_name = "LAW",
        value_parser = Delay::parse,
        conflicts_with_all = ["rate", "stages", "connection_rate"]
    )]
    pub think: Option<Delay>,
    /// Requests per second instead of users, sent when they are due
    #[arg(long, value_name = "RATE", value_parser = units::rate, conflicts_with_all = ["stages", "connection_rate"])]
    pub rate: Option<f64>,
    /// Requests per second that change: DURATION:RATE or DURATION:FROM..TO, such as 10s:100,30s:100..1k
    #[arg(
        long,
        value_name = "STAGES",
        value_delimiter = ',',
        action = clap::ArgAction::Set,
        conflicts_with = "connection_rate"
    )]
    pub stages: Vec<Stage>,
    /// Connections per second instead of users, opened when they are due; each carries --keep-alive requests [default: 1]
    #[arg(long, value_name = "RATE", value_parser = units::rate)]
    pub connection_rate: Option<f64>,
    /// With a rate: how arrivals are spread: even, poisson, bursts:N or each-second [default: even]
    #[arg(long, value_name = "LAW", value_parser = arrivals)]
    pub arrivals: Option<Arrivals>,
    /// With a rate: most requests (or connections) under way; what is due beyond is counted as overflow [default: 10k]
    #[arg(long, value_name = "N", value_parser = count32)]
    pub in_flight: Option<u32>,
    /// Connections opened before the load begins [default: with a rate, what it needs where answers take 1ms; otherwise none]
    #[arg(long, value_name = "N", value_parser = count32)]
    pub preconnect: Option<u32>,
    /// For how long [default: 10s or as long as the stages, unless --requests is given]
    #[arg(long, short = 'd', value_name = "DURATION", value_parser = some_time)]
    pub duration: Option<Duration>,
    /// Exactly so many requests
    #[arg(long, short = 'n', value_name = "N", value_parser = at_least_one)]
    pub requests: Option<u64>,
}

impl PaceArgs {
    /// Refuses combinations of options that cannot be meant. `rate_elsewhere`: whether a rate is given other than by these.
    ///
    /// # Errors
    /// One sentence that names the option and what to try.
    pub fn check(&self, rate_elsewhere: bool) -> Result<(), String> {
        let open = self.is_open();
        for (given, option) in
            [(self.arrivals.is_some(), "--arrivals"), (self.in_flight.is_some(), "--in-flight")]
        {
            if given && !open && !rate_elsewhere {
                return Err(format!(
                    "{option} is of a pace in requests per second: give --rate, --stages or --connection-rate too"
                ));
            }
        }
        Ok(())
    }

    /// Refuses `--users` beside a rate: where a rate is all there is, nobody looks at the number of users.
    ///
    /// # Errors
    /// One sentence that says what to try.
    pub fn check_users(&self) -> Result<(), String> {
        match self.users.filter(|_| self.is_open()) {
            Some(users) => Err(format!(
                "--users {users} has no place beside a rate, which is kept by as many connections as it takes: \
                 leave it out, or give --in-flight {users} for the most requests under way"
            )),
            None => Ok(()),
        }
    }

    /// Neither how many nor for how long was said.
    pub(super) fn says_nothing(&self) -> bool {
        !self.is_open() && self.users.is_none() && self.duration.is_none() && self.requests.is_none()
    }

    /// The run ends when so many requests have ended, however long that takes.
    pub(super) fn ends_by_count_alone(&self) -> bool {
        self.requests.is_some() && self.duration.is_none()
    }

    fn is_open(&self) -> bool {
        self.rate.is_some() || self.connection_rate.is_some() || !self.stages.is_empty()
    }

    /// How many users there are.
    pub fn users(&self) -> u32 {
        self.users.unwrap_or(DEFAULT_USERS)
    }

    /// The pace.
    pub fn pace(&self) -> Pace {
        let (arrivals, in_flight) = self.open();
        if let Some(per_second) = self.connection_rate {
            return Pace::Connections { per_second, arrivals, in_flight };
        }
        match (self.rate, self.stages.is_empty()) {
            (Some(per_second), _) => self.at_rate(per_second),
            (None, false) => Pace::Stages { stages: self.stages.clone(), arrivals, in_flight },
            (None, true) => closed(self.users(), self.think),
        }
    }

    /// A constant rate with these options' law of arrivals.
    pub(super) fn at_rate(&self, per_second: f64) -> Pace {
        let (arrivals, in_flight) = self.open();
        Pace::Rate { per_second, arrivals, in_flight }
    }

    fn open(&self) -> (Arrivals, u32) {
        (self.arrivals.unwrap_or_default(), self.in_flight.unwrap_or(DEFAULT_IN_FLIGHT))
    }

    /// Until when a phase with this pace goes on.
    pub fn stop(&self, pace: &Pace) -> Stop {
        let after = match pace {
            _ if self.duration.is_some() || self.requests.is_some() => self.duration,
            Pace::Stages { stages, .. } => Some(Stage::sum(stages)),
            _ => Some(DEFAULT_DURATION),
        };
        Stop { after, requests: self.requests, ..Stop::default() }
    }

    /// Requests per connection: as `--keep-alive` says, where 0 is without end; connections that arrive at a rate need an
    /// end.
    pub fn requests_per_connection(&self, keep_alive: u32) -> Option<u32> {
        let one = self.connection_rate.map(|_| 1);
        Some(keep_alive).filter(|requests| *requests > 0).or(one)
    }
}

/// A closed pace.
pub(super) fn closed(users: u32, think: Option<Delay>) -> Pace {
    match think {
        None | Some(Delay::None) => Pace::Users(users),
        Some(think) => Pace::Thinking { users, think },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        pace: PaceArgs,
    }

    fn typed(line: &str) -> Result<PaceArgs, String> {
        let words = std::iter::once("x").chain(line.split_whitespace());
        Typed::try_parse_from(words).map(|typed| typed.pace).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_typed_becomes_a_pace() {
        let stages = Stage::parse_list("10s:100,30s:100..1000").unwrap();
        let arrivals = Arrivals::Even;
        let in_flight = DEFAULT_IN_FLIGHT;
        for (line, pace) in [
            ("", Pace::Users(50)),
            ("-c 7 --think 0", Pace::Users(7)),
            ("-c 7 --think exp:1s", closed(7, Some(Delay::Exponential { mean: Duration::from_secs(1) }))),
            ("--rate 1k/s", Pace::Rate { per_second: 1000.0, arrivals, in_flight }),
            (
                "--rate 60/m --arrivals bursts:5 --in-flight 9",
                Pace::Rate { per_second: 1.0, arrivals: Arrivals::Bursts(5), in_flight: 9 },
            ),
            ("--stages 10s:100,30s:100..1k", Pace::Stages { stages, arrivals, in_flight }),
            ("--connection-rate 20", Pace::Connections { per_second: 20.0, arrivals, in_flight }),
        ] {
            assert_eq!(typed(line).unwrap().pace(), pace, "{line}");
        }
    }

    #[test]
    fn a_run_lasts_as_long_as_its_stages_unless_told_otherwise() {
        for (line, after, requests) in [
            ("", Some(10), None),
            ("--stages 10s:1,30s:2", Some(40), None),
            ("--stages 10s:1,30s:2 -d 5s", Some(5), None),
            ("--stages 10s:1 -n 7", None, Some(7)),
            ("-d 3s -n 7", Some(3), Some(7)),
        ] {
            let typed = typed(line).unwrap();
            let stop = Stop { after: after.map(Duration::from_secs), requests, ..Stop::default() };
            assert_eq!(typed.stop(&typed.pace()), stop, "{line}");
        }
    }

    #[test]
    fn connections_that_arrive_have_an_end() {
        let per_connection = |line, keep_alive| typed(line).unwrap().requests_per_connection(keep_alive);
        assert_eq!([per_connection("", 0), per_connection("", 3)], [None, Some(3)]);
        let line = "--connection-rate 5";
        assert_eq!([per_connection(line, 0), per_connection(line, 3)], [Some(1), Some(3)]);
    }

    #[test]
    fn paces_that_exclude_each_other_are_refused() {
        for line in [
            "--think 1s --rate 5",
            "--think 1s --stages 1s:5",
            "--rate 5 --stages 1s:5",
            "--rate 5 --connection-rate 5",
            "--stages 1s:5 --connection-rate 5",
        ] {
            assert!(typed(line).unwrap_err().contains("cannot be used with"), "{line}");
        }
        for (line, said) in [
            ("--stages 1s", "DURATION:RATE"),
            ("--stages 1s:x", "'x' is not a rate"),
            ("--think soon", "'soon' is not a duration"),
            ("--think lognormal:1s:x", "lognormal:20ms:0.5"),
            ("--arrivals bursts:0 --rate 1", "bursts:N"),
        ] {
            let error = typed(line).unwrap_err();
            assert!(error.contains(said), "{line}: {error}");
        }
        for rate in ["--rate 5", "--stages 1s:5", "--connection-rate 5"] {
            let said = typed(&format!("-c 7 {rate}")).unwrap().check_users().unwrap_err();
            assert!(said.contains("--users 7") && said.contains("--in-flight 7"), "{said}");
            typed(rate).unwrap().check_users().unwrap();
        }
        typed("-c 7").unwrap().check_users().unwrap();
        for option in ["--arrivals even", "--in-flight 5"] {
            let said = typed(option).unwrap().check(false).unwrap_err();
            assert!(said.contains("--rate") && said.contains(option.split(' ').next().unwrap()), "{said}");
            for rate in ["--rate 5", "--stages 1s:5", "--connection-rate 5"] {
                typed(&format!("{option} {rate}")).unwrap().check(false).unwrap();
            }
            typed(option).unwrap().check(true).unwrap();
        }
    }
}
