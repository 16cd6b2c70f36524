//! `cargo xtask simulate`: more seeds of the simulated tests than each test run tries, or one of them again.

use crate::{Result, shell};

/// Seeds where the command line does not say.
const SEEDS: u64 = 10_000;

/// Which seeds.
#[derive(Debug, PartialEq)]
pub struct Options {
    seeds: u64,
    from: u64,
    log: bool,
}

/// Reads the arguments after `simulate`.
pub fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options { seeds: SEEDS, from: 1, log: false };
    let mut rest = arguments.iter();
    while let Some(option) = rest.next() {
        match option.as_str() {
            "--seeds" => options.seeds = number(option, rest.next())?,
            "--from" => options.from = number(option, rest.next())?,
            "--log" => options.log = true,
            unknown => return Err(format!("simulate knows no '{unknown}': --seeds N, --from SEED, --log")),
        }
    }
    Ok(options)
}

fn number(option: &str, value: Option<&String>) -> Result<u64> {
    let value = value.ok_or_else(|| format!("{option} needs a number"))?;
    value.parse().map_err(|_| format!("{option} {value}: give a whole number"))
}

/// Runs them on all cores; those that fail are named, with the command that runs one again.
pub fn run(options: &Options) -> Result<()> {
    let mut command = shell::cargo(["test", "--package", "load", "--test", "simulation"]);
    command.args(["--", "--exact", "seeds::every_seed_keeps_the_laws", "--nocapture"]);
    command.env("WRINGER_SEEDS", options.seeds.to_string());
    command.env("WRINGER_SEED_FROM", options.from.to_string());
    // The log of one seed is not to be mixed with another's.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    command.env("WRINGER_SEED_JOBS", if options.log { 1 } else { cores }.to_string());
    if options.log {
        command.env("WRINGER_SEED_LOG", "1");
    }
    shell::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed() {
        let parsed = |line: &str| parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(parsed(""), Ok(Options { seeds: SEEDS, from: 1, log: false }));
        assert_eq!(parsed("--from 9 --seeds 1 --log"), Ok(Options { seeds: 1, from: 9, log: true }));
        assert_eq!(parsed("--seeds").unwrap_err(), "--seeds needs a number");
        assert!(parsed("--seeds many").unwrap_err().contains("whole number"));
        assert!(parsed("9").is_err());
    }
}
