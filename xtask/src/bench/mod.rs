//! `cargo xtask bench`: what a request costs the generator in CPU time, through real proxies and beside other tools.
//!
//! Measured in rounds, each of which runs all cases once, so that what disturbs the machine disturbs all; a ratio is formed
//! within a round. Start reading at [`run`]. `cases` says what is measured, `run` starts and ends programs, `measure` reads
//! their CPU time, `report` shows and saves. docs/src/bench.md is the page for people.

mod cases;
mod measure;
mod report;
mod run;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::{Result, shell};

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    rounds: u32,
    /// How long each case runs in each round.
    time: Duration,
    /// Where the figures go; `bench.json` in the target folder unless given.
    out: Option<PathBuf>,
    /// Measured instead of a release build of the tree, to compare two states.
    binary: Option<PathBuf>,
}

/// Reads the arguments of `cargo xtask bench`; later ones count.
pub fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options { rounds: 5, time: Duration::from_secs(4), out: None, binary: None };
    let mut arguments = arguments.iter();
    while let Some(option) = arguments.next() {
        if option == "--quick" {
            (options.rounds, options.time) = (2, Duration::from_secs(2));
            continue;
        }
        let value = arguments
            .next()
            .ok_or_else(|| format!("bench: what about '{option}'? It wants a value, or is unknown"));
        match option.as_str() {
            "--rounds" => options.rounds = number(option, value?)?,
            "--seconds" => options.time = Duration::from_secs(number(option, value?)?.into()),
            "--out" => options.out = Some(value?.into()),
            "--binary" => options.binary = Some(value?.into()),
            _ => {
                return Err(format!(
                    "bench: '{option}' is unknown; there are --quick, --rounds N, --seconds N, --out FILE, --binary FILE"
                ));
            }
        }
    }
    Ok(options)
}

fn number(option: &str, value: &str) -> Result<u32> {
    let number = value.parse().ok().filter(|number| (1..=1000).contains(number));
    number.ok_or_else(|| format!("bench: {option} wants a number from 1 to 1000, not '{value}'"))
}

/// Builds, measures, shows and saves.
pub fn run(options: &Options) -> Result<()> {
    let target = target_folder()?;
    let wringer = match &options.binary {
        Some(binary) => {
            binary.canonicalize().map_err(|error| format!("bench: {}: {error}", binary.display()))?
        }
        None => build(&target)?,
    };
    let machine = report::Machine::look(&wringer);
    machine.print();
    let bench = cases::Bench::start(wringer, options.time)?;
    let mut rounds = Vec::new();
    for round in 0..options.rounds {
        eprintln!("bench: round {} of {}", round + 1, options.rounds);
        rounds.push(bench.round(round));
    }
    drop(bench);
    let out = options.out.clone().unwrap_or_else(|| target.join("bench.json"));
    report::print(&rounds);
    report::save(&out, &machine, options, &rounds)?;
    println!("\nsaved as {}", out.display());
    match report::failures(&rounds) {
        0 => Ok(()),
        failures => Err(format!("bench: {failures} runs failed; what they said is above")),
    }
}

fn build(target: &Path) -> Result<PathBuf> {
    shell::run(&mut shell::cargo(["build", "--release", "--package", "wringer"]))?;
    Ok(target.join("release/wringer"))
}

fn target_folder() -> Result<PathBuf> {
    let mut command: Command = shell::cargo(["metadata", "--format-version", "1", "--no-deps"]);
    let text = shell::output(&mut command)?;
    let metadata: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| format!("cargo metadata cannot be understood: {error}"))?;
    let folder = metadata["target_directory"].as_str().ok_or("cargo metadata names no target_directory")?;
    Ok(folder.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn command_line() {
        let quick = Options { rounds: 2, time: Duration::from_secs(2), out: None, binary: None };
        assert_eq!(parsed("--quick"), Ok(quick));
        let chosen =
            Options { rounds: 3, time: Duration::from_secs(10), out: Some("a.json".into()), binary: None };
        assert_eq!(parsed("--rounds 3 --seconds 10 --out a.json"), Ok(chosen));
        for wrong in ["--rounds", "--rounds 0", "--rounds many", "--fast", "--fast 3"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
