//! `cargo xtask instructions`: how many instructions the hot path takes, counted by callgrind, against `instructions.txt`.
//! Instructions are the same on a busy machine, so this is part of CI where times could not be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, root, shell};

/// Paths whose instructions are counted: tests in crates/load/tests/simulation/instructions.rs.
const PATHS: [&str; 5] = ["parse", "record", "request", "list", "message"];
/// Two numbers of times; what is done once is in both, and so in neither's difference.
const FEW: u64 = 1_000;
const MANY: u64 = 3_000;
/// How much more than written down is too much, and how much less is worth writing down.
const TOLERANCE: f64 = 0.1;

/// Counts, shows, and fails where the hot path has become longer. `arguments`: `--update` writes the counts down.
pub fn run(arguments: &[String]) -> Result<()> {
    let update = match arguments {
        [] => false,
        [only] if only == "--update" => true,
        _ => return Err("instructions takes nothing but --update".into()),
    };
    let Some(valgrind) = shell::find("valgrind") else {
        println!("instructions: skipped, because valgrind is not installed (cargo xtask setup)");
        return Ok(());
    };
    let program = test_program()?;
    let mut counts = Vec::new();
    for path in PATHS {
        let extra =
            count(&valgrind, &program, path, MANY)?.saturating_sub(count(&valgrind, &program, path, FEW)?);
        counts.push((path, extra / (MANY - FEW)));
    }
    let file = root().join("xtask/instructions.txt");
    if update {
        return write(&file, &counts);
    }
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    compare(&text, &counts)
}

/// Builds the tests, with the features that all tests of the workspace have, and returns the program that holds them.
fn test_program() -> Result<PathBuf> {
    let arguments = ["test", "--workspace", "--test", "simulation", "--no-run", "--message-format", "json"];
    // Incremental builds cut the code into other pieces, and count differently.
    let said = shell::output(shell::cargo(arguments).env("CARGO_INCREMENTAL", "0"))?;
    let mut programs = said.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        (message["target"]["name"] == "simulation")
            .then(|| message["executable"].as_str().map(PathBuf::from))?
    });
    programs.next_back().ok_or_else(|| "cargo did not say where the test program is".into())
}

fn count(valgrind: &Path, program: &Path, path: &str, times: u64) -> Result<u64> {
    let mut command = under_callgrind(valgrind, program);
    command.args(["--exact", &format!("instructions::{path}"), "--test-threads", "1"]);
    command.env("WRINGER_TIMES", times.to_string());
    counted(command).map_err(|problem| format!("{path}: {problem}"))
}

/// A program whose instructions are counted.
pub fn under_callgrind(valgrind: &Path, program: &Path) -> Command {
    let mut command = Command::new(valgrind);
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    command
}

/// Runs what [`under_callgrind`] made to its end: instructions in user space.
pub fn counted(mut command: Command) -> Result<u64> {
    let output = command.output().map_err(|error| format!("valgrind cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = collected(&said).filter(|_| output.status.success());
    collected.ok_or_else(|| format!("it ended under callgrind with {}: {}", output.status, said.trim()))
}

/// `==123== Collected : 4567`
fn collected(said: &str) -> Option<u64> {
    let (_, rest) = said.split_once("Collected :")?;
    rest.split_whitespace().next()?.parse().ok()
}

fn write(file: &Path, counts: &[(&str, u64)]) -> Result<()> {
    let lines: String = counts.iter().map(|(path, count)| format!("{path} {count}\n")).collect();
    let head = "# Instructions of the hot path, each time: cargo xtask instructions --update\n";
    fs::write(file, format!("{head}{lines}")).map_err(|error| format!("{}: {error}", file.display()))
}

/// Returns the count that was written down, by name.
fn known<'a>(text: &'a str, path: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line: &'a str| line.split_once(' '));
    lines.find(|(name, _)| *name == path)?.1.parse().ok()
}

fn compare(text: &str, counts: &[(&str, u64)]) -> Result<()> {
    let mut longer = Vec::new();
    for (path, count) in counts {
        let before = known(text, path).ok_or_else(|| format!("instructions.txt does not have {path}"))?;
        let change = *count as f64 / before as f64 - 1.0;
        println!("instructions: {path} {count}, {:+.1} % of {before}", change * 100.0);
        if change > TOLERANCE {
            longer.push(*path);
        }
        if change < -TOLERANCE {
            println!("instructions: {path} has become shorter: cargo xtask instructions --update");
        }
    }
    if longer.is_empty() {
        return Ok(());
    }
    Err(format!(
        "instructions: {} takes more than it did: find out why, or cargo xtask instructions --update",
        longer.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_callgrind_says() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 123456\n==7== \n"), Some(123_456));
        assert_eq!(collected("==7== Process terminating"), None);
    }

    #[test]
    fn longer_paths_fail() {
        let text = "# a comment\nparse 100\nrecord 50\n";
        assert_eq!(compare(text, &[("parse", 109), ("record", 20)]), Ok(()));
        assert!(compare(text, &[("parse", 111), ("record", 50)]).unwrap_err().contains("parse"));
        assert!(compare(text, &[("other", 1)]).unwrap_err().contains("other"));
    }
}
