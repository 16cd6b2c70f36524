//! `cargo xtask test --quick`: the tests of what was changed, for whoever changes one crate; all of CI runs all tests.

use crate::{Result, root, shell};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// Where only quick tests are wanted: the tests of the binary start hundreds of processes.
const SLOW: &str = "wringer";

/// Checks that everything still compiles, and runs the tests of these crates; of those that were changed where none is named.
pub fn run(named: &[String]) -> Result<()> {
    let crates: BTreeSet<String> =
        if named.is_empty() { of_files(&changed()?) } else { named.iter().cloned().collect() };
    if let Some(unknown) = crates.iter().find(|name| !root().join("crates").join(name).is_dir()) {
        return Err(format!("there is no crate {unknown}; they are the folders of crates/"));
    }
    shell::run(&mut shell::cargo(["check", "--workspace", "--all-targets"]))?;
    for name in &crates {
        let mut command = shell::cargo(["test", "--package", name]);
        if name == SLOW && named.is_empty() {
            command.arg("--bins");
        }
        shell::run(&mut command)?;
    }
    let names = crates.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    println!(
        "test: only those of {}; cargo xtask test runs all",
        if names.is_empty() { "nothing" } else { &names }
    );
    Ok(())
}

/// Files that differ from the last commit; of the last commit where none does.
fn changed() -> Result<String> {
    let git = |words: &[&str]| shell::output(Command::new("git").args(words).current_dir(root()));
    let untracked = git(&["ls-files", "--others", "--exclude-standard"])?;
    let uncommitted = git(&["diff", "--name-only", "HEAD"])? + &untracked;
    if uncommitted.trim().is_empty() {
        git(&["show", "--name-only", "--format=", "HEAD"])
    } else {
        Ok(uncommitted)
    }
}

/// The crates that these files belong to, one a line.
fn of_files(files: &str) -> BTreeSet<String> {
    let of =
        |file: &str| file.strip_prefix("crates/").and_then(|rest| rest.split('/').next()).map(str::to_owned);
    let exists = |name: &String| fs::exists(root().join("crates").join(name)).unwrap_or(false);
    files.lines().filter_map(of).filter(exists).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_belong_to_crates() {
        let files = "README.md\ncrates/plan/src/lib.rs\ncrates/plan/Cargo.toml\ncrates/load/tests/engine/run.rs\ncrates/gone/src/lib.rs\n";
        assert_eq!(of_files(files), BTreeSet::from(["load".to_owned(), "plan".to_owned()]));
        assert!(of_files("docs/src/http.md\n").is_empty());
    }
}
