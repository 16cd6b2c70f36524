//! `cargo xtask fuzz`: the targets of `fuzz/`, with LLVM's fuzzer and the toolchain that is there. `cargo fuzz run -s none`
//! does the same where it is installed; here nothing has to be.

use crate::{Result, root, shell};
use std::fs;

/// The targets, files of `fuzz/fuzz_targets`.
const TARGETS: [&str; 16] = [
    "ini",
    "framing",
    "http1",
    "http2",
    "http3",
    "jmx",
    "script",
    "plan",
    "har",
    "expression",
    "csv",
    "wrun",
    "logs",
    "rec",
    "fleet",
    "packets",
];
/// Inputs that each target tries where the command line does not say: some seconds.
const RUNS: u64 = 200_000;
/// Of run files, each of which is laid out as reports, and of logs, each of which becomes a recording.
const RUNS_OF_FILES: u64 = 10_000;
/// Flags that cargo-fuzz gives the compiler without a sanitizer: counters on edges, which the fuzzer watches.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                     -Cllvm-args=-sanitizer-coverage-pc-table --cfg fuzzing";

/// How long, and which.
#[derive(Debug, PartialEq)]
pub struct Options {
    seconds: Option<u64>,
    targets: Vec<String>,
}

/// Reads the arguments after `fuzz`.
pub fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options { seconds: None, targets: Vec::new() };
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--seconds" => {
                let seconds = rest.next().and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0);
                options.seconds = Some(seconds.ok_or("--seconds needs a whole number from 1")?);
            }
            target if TARGETS.contains(&target) => options.targets.push(target.to_owned()),
            unknown => {
                return Err(format!("fuzz knows no '{unknown}': --seconds N, or {}", TARGETS.join(", ")));
            }
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.map(str::to_owned).to_vec();
    }
    Ok(options)
}

/// Builds all targets and runs those that are wanted, each until its bound or its first finding.
pub fn run(options: &Options) -> Result<()> {
    let host = host()?;
    let fuzz = root().join("fuzz");
    // With a target of its own the flags are not those of build scripts and macros, which have no fuzzer to link with.
    let mut build = shell::cargo(["build", "--release", "--target", &host, "--manifest-path"]);
    build.arg(fuzz.join("Cargo.toml")).arg("--target-dir").arg(fuzz.join("target"));
    shell::run(build.env("RUSTFLAGS", FLAGS))?;
    for target in &options.targets {
        let corpus = fuzz.join("corpus").join(target);
        let found = fuzz.join("artifacts").join(target);
        for folder in [&corpus, &found] {
            fs::create_dir_all(folder)
                .map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
        }
        let program = fuzz.join("target").join(&host).join("release").join(target);
        let mut command = std::process::Command::new(program);
        command.arg(match options.seconds {
            Some(seconds) => format!("-max_total_time={seconds}"),
            None => format!("-runs={}", runs(target)),
        });
        // The end is told in any case; what is new on the way would be hundreds of lines.
        command.args(["-verbosity=0", "-print_final_stats=0", "-timeout=10", "-rss_limit_mb=2048"]);
        command.arg(format!("-artifact_prefix={}/", found.display())).arg(corpus);
        command.arg(fuzz.join("seeds").join(target));
        println!("fuzz: {target} …");
        let again = || format!("fuzz: {target} has found something: its input is in fuzz/artifacts/{target}");
        shell::run(&mut command).map_err(|problem| format!("{problem}\n{}", again()))?;
    }
    Ok(())
}

/// Inputs that a target tries.
fn runs(target: &str) -> u64 {
    if matches!(target, "wrun" | "logs") { RUNS_OF_FILES } else { RUNS }
}

/// The triple of this machine.
fn host() -> Result<String> {
    let about = shell::output(std::process::Command::new("rustc").arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed() {
        let parsed = |line: &str| parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(parsed("").unwrap().targets, TARGETS);
        let one = Options { seconds: Some(9), targets: vec!["ini".to_owned()] };
        assert_eq!(parsed("--seconds 9 ini"), Ok(one));
        for line in ["--seconds", "--seconds 0", "nothing"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn each_target_is_a_file() {
        for target in TARGETS {
            assert!(root().join("fuzz/fuzz_targets").join(format!("{target}.rs")).is_file(), "{target}");
            assert!(root().join("fuzz/seeds").join(target).is_dir(), "{target}");
        }
    }
}
