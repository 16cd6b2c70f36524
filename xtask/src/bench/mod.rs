//! `cargo xtask bench`: what a request costs the generator in CPU time, through real proxies and beside other tools.
//!
//! Measured in rounds, each of which runs all cases once, so that what disturbs the machine disturbs all; a ratio is formed
//! within a round. Start reading at [`run`]. `proxies`, `engine`, `http2`, `doors`, `messages`, `journeys` and `seeing` say what is measured, `peers` and
//! `redis` know the other tools, `bare` and `server` are yardsticks, `place` and `run` start and end programs, `measure` reads their CPU time, `report` shows and saves. docs/src/bench.md is
//! the page for people.

pub mod bare;
mod doors;
mod engine;
mod http2;
mod journeys;
mod measure;
mod messages;
mod peers;
mod place;
mod proxies;
mod redis;
mod report;
mod run;
mod sample;
mod seeing;
pub mod server;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use self::doors::Doors;
use self::engine::Engine;
use self::http2::Http2;
use self::journeys::Journeys;
use self::messages::Messages;
use self::place::Place;
use self::proxies::Proxies;
pub use self::run::{Server, free_address};
use self::sample::Sample;
use self::seeing::Seeing;
use crate::{Result, shell};

/// Cases that are run one after another.
type Group<'a> = Box<dyn Fn() -> Vec<Sample> + 'a>;

/// A part of the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Through proxies.
    Proxies,
    /// The engine by itself.
    Engine,
    /// The engine over HTTP/2.
    Http2,
    /// Old command lines.
    Doors,
    /// TCP messages.
    Messages,
    /// JMeter's plans.
    Journeys,
    /// Runs that are shown and kept.
    Seeing,
}

/// Options of the command line.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    rounds: u32,
    /// How long each case runs in each round.
    time: Duration,
    /// Where the figures go; `bench.json` in the target folder unless given.
    out: Option<PathBuf>,
    /// Measured instead of a release build of the tree, to compare two states.
    binary: Option<PathBuf>,
    /// Only this; all unless given.
    only: Option<Part>,
}

/// Reads the arguments of `cargo xtask bench`; later ones count.
pub fn parse(arguments: &[String]) -> Result<Options> {
    let mut options =
        Options { rounds: 5, time: Duration::from_secs(4), out: None, binary: None, only: None };
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
            "--only" => options.only = Some(part(value?)?),
            _ => {
                return Err(format!(
                    "bench: '{option}' is unknown; there are --quick, --rounds N, --seconds N, --out FILE, --binary FILE, --only proxies|engine|http2|doors|messages|journeys|seeing"
                ));
            }
        }
    }
    Ok(options)
}

fn part(name: &str) -> Result<Part> {
    match name {
        "proxies" => Ok(Part::Proxies),
        "engine" => Ok(Part::Engine),
        "http2" => Ok(Part::Http2),
        "doors" => Ok(Part::Doors),
        "messages" => Ok(Part::Messages),
        "journeys" => Ok(Part::Journeys),
        "seeing" => Ok(Part::Seeing),
        _ => Err(format!(
            "bench: --only wants proxies, engine, http2, doors, messages, journeys or seeing, not '{name}'"
        )),
    }
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
    let rounds = measure_all(&Place::new(wringer, options.time)?, options)?;
    let out = options.out.clone().unwrap_or_else(|| target.join("bench.json"));
    report::print(&rounds);
    report::save(&out, &machine, options, &rounds)?;
    println!("\nsaved as {}", out.display());
    match report::failures(&rounds) {
        0 => Ok(()),
        failures => Err(format!("bench: {failures} runs failed; what they said is above")),
    }
}

/// All rounds; the servers end with them.
fn measure_all(place: &Place, options: &Options) -> Result<Vec<Vec<Sample>>> {
    for peer in peers::PEERS.iter().filter(|peer| !peer.is_installed()) {
        println!("skipped: {} is not installed (cargo xtask setup --bench)", peer.program());
    }
    let wanted = |part| options.only.is_none_or(|only| only == part);
    let proxies = if wanted(Part::Proxies) { Some(Proxies::start(place)?) } else { None };
    let engine = if wanted(Part::Engine) { Engine::start(place)? } else { None };
    let http2 = if wanted(Part::Http2) { Http2::start(place)? } else { None };
    let doors = if wanted(Part::Doors) { Doors::start(place)? } else { None };
    let messages = if wanted(Part::Messages) { Some(Messages::start(place)?) } else { None };
    let journeys = if wanted(Part::Journeys) { Some(Journeys::start(place)?) } else { None };
    let seeing = if wanted(Part::Seeing) { Some(Seeing::start(place)?) } else { None };
    let mut groups: Vec<Group<'_>> = Vec::new();
    groups.extend(proxies.iter().flat_map(Proxies::groups));
    groups.extend(engine.iter().flat_map(Engine::groups));
    groups.extend(http2.iter().flat_map(Http2::groups));
    groups.extend(doors.iter().flat_map(Doors::groups));
    groups.extend(messages.iter().flat_map(Messages::groups));
    groups.extend(journeys.iter().flat_map(Journeys::groups));
    groups.extend(seeing.iter().flat_map(Seeing::groups));
    let rounds = 0..options.rounds;
    Ok(rounds
        .map(|number| {
            eprintln!("bench: round {} of {}", number + 1, options.rounds);
            round(&mut groups)
        })
        .collect())
}

/// Every case once. The order is turned round for the next, so that a drift of the machine favours nobody.
fn round(groups: &mut [Group<'_>]) -> Vec<Sample> {
    let samples: Vec<Sample> = groups.iter().flat_map(|group| group()).collect();
    for sample in &samples {
        if let Err(problem) = &sample.value {
            eprintln!("bench: {} failed: {problem}", sample.case);
        }
    }
    groups.reverse();
    samples
}

fn build(target: &Path) -> Result<PathBuf> {
    shell::run(&mut shell::cargo(["build", "--release", "--package", "wringer"]))?;
    Ok(target.join("release/wringer"))
}

/// Where cargo builds.
pub fn target_folder() -> Result<PathBuf> {
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
        let quick = Options { rounds: 2, time: Duration::from_secs(2), out: None, binary: None, only: None };
        assert_eq!(parsed("--quick"), Ok(quick));
        let chosen = Options {
            rounds: 3,
            time: Duration::from_secs(10),
            out: Some("a.json".into()),
            binary: None,
            only: Some(Part::Engine),
        };
        assert_eq!(parsed("--rounds 3 --seconds 10 --out a.json --only engine"), Ok(chosen));
        for wrong in
            ["--rounds", "--only", "--only half", "--rounds 0", "--rounds many", "--fast", "--fast 3"]
        {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
