//! All automation of the project. `cargo xtask ci` is all of CI, the same on a laptop; `cargo xtask bench` measures.
//!
//! Start reading at [`dispatch`]. Nothing here is part of the product, and the product knows nothing of it.

mod bench;
mod ci;
mod crates;
mod dependencies;
mod dist;
mod docs;
mod fuzz;
mod instructions;
mod memory;
mod quick;
mod setup;
mod shell;
mod simulate;
mod tidy;
mod web;

use std::path::PathBuf;
use std::process::ExitCode;

/// Result whose error is for a person to read, so it is a text: what happened to what, and what to try.
type Result<T> = std::result::Result<T, String>;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  ci                 all of CI: setup, formatting, rules, dependencies, docs, clippy, features, page, build, package, tests, browser,
                     instructions, memory, fuzz
  test [ARGS]        setup where it may, then cargo test --workspace ARGS
  test --quick [CRATE...]
                     that everything compiles, and the tests of these crates, or of those that were changed; of the
                     binary only those that start no process, unless it is named
  setup [--bench]    install from Debian what the tests need; --bench: also the tools that the bench compares with
  tidy               the rules for code and manifests that the compiler does not know
  dependencies       licences, sources and duplicates of the crates of others
  docs [--commands]  links between pages, and whether the summary lists each page; --commands: each command of the docs is tried
  simulate [--seeds N] [--from SEED] [--log]
                     the engine in simulated worlds, 10,000 seeds from 1 unless told otherwise; --log: what happened
  instructions [--update]
                     instructions that the hot path takes, by callgrind, against xtask/instructions.txt
  memory [--binary FILE]
                     long runs of messages whose memory must not grow
  dist [--check]     packages in target/packages: .deb, .rpm, wheel, archive, texts for Homebrew and Nix, digests, and what a
                     container is made of; --check: those of the debug build are installed, run and removed
  fuzz [--seconds N] [TARGET...]
                     the targets of fuzz/, each for N seconds; without: 200,000 inputs each, 10,000 run files
  schema             write the JSON Schemas of plan files and of what is written as JSON; tests see that the committed ones are of today's types
  options            write the index of all options; a test sees that the committed one is of today's
  web [--check|--test|--bench]
                     build the page from web/; --check: that the committed one is up to date; --test: try it in a browser; --bench: how
                     soon it draws a report, and how smoothly
  screenshots        pictures of the page for the docs
  bench [--quick] [--rounds N] [--seconds N] [--out FILE] [--binary FILE]
                     CPU per request, through real proxies and beside other tools; not part of ci";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let Some((command, rest)) = arguments.split_first() else {
        return Err(format!("which command?\n{USAGE}"));
    };
    match command.as_str() {
        "ci" => none_of(rest).and_then(|()| ci::run()),
        "test" => ci::test(rest),
        "setup" => setup::run(setup::parse(rest)?).map(drop),
        "tidy" => none_of(rest).and_then(|()| tidy::run(&root())),
        "dependencies" => none_of(rest).and_then(|()| dependencies::run()),
        "docs" if rest == ["--commands"] => docs::try_commands(&root()),
        "docs" => none_of(rest).and_then(|()| docs::run(&root())),
        "simulate" => simulate::run(&simulate::parse(rest)?),
        "dist" if rest == ["--check"] => dist::check(),
        "dist" => none_of(rest).and_then(|()| dist::run()),
        "fuzz" => fuzz::run(&fuzz::parse(rest)?),
        "instructions" => instructions::run(rest),
        "memory" => memory::run(rest),
        "schema" => none_of(rest).and_then(|()| schema()),
        "options" => none_of(rest).and_then(|()| options()),
        "web" => web::run(rest),
        "screenshots" => none_of(rest).and_then(|()| web::screenshots()),
        "bench" => bench::run(&bench::parse(rest)?),
        // Parts of the bench that are processes of their own.
        bench::bare::COMMAND => bench::bare::run(rest),
        bench::server::COMMAND => bench::server::run(rest),
        "help" | "-h" | "--help" => {
            println!("{USAGE}");
            Ok(())
        }
        unknown => Err(format!("no command '{unknown}'\n{USAGE}")),
    }
}

/// Types say their schemas in tests alone, so that no build of the tool compiles what makes them.
fn schema() -> Result<()> {
    ["plan", "decide", "report", "recording"].into_iter().try_for_each(|package| {
        let mut command = shell::cargo(["test", "--package", package, "--lib", "the_committed_schema"]);
        shell::run(command.env("WRINGER_WRITE_SCHEMA", "1"))
    })
}

/// The command line says its options in tests alone, as plans say their schema.
fn options() -> Result<()> {
    let mut command = shell::cargo(["test", "--package", "cli", "--lib", "the_committed_index"]);
    shell::run(command.env("WRINGER_WRITE_OPTIONS", "1"))
}

fn none_of(rest: &[String]) -> Result<()> {
    match rest.first() {
        None => Ok(()),
        Some(extra) => Err(format!("'{extra}' is not expected here\n{USAGE}")),
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let mut folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    folder.pop();
    folder
}
