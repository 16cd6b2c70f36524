//! The first record of a run: what it is, and the machine that makes it.

use crate::doctor::Facts;
use crate::keep::{Recorder, file_name};
use crate::problem::Problem;
use crate::{About, usage};
use measure::Head;
use measure::processes::Behind;
use measure::stream::{Machine, PhasePlan};
use plan::{Phase, Plan};
use std::path::Path;
use std::time::Duration;
use uuid::Uuid;

/// The head of a run of this plan that is about to begin. `interval`: the length of what its seconds tell of. `behind`: who answers
/// at the target.
pub fn of(plan: &Plan, about: &About, threads: u32, interval: Duration, behind: Vec<Behind>) -> Head {
    Head {
        id: Uuid::now_v7().to_string(),
        command: about.command.clone(),
        door: about.door.to_owned(),
        target: about.target.clone(),
        labels: about.labels.clone(),
        commit: std::env::current_dir().ok().and_then(|folder| commit(&folder)),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_unix_s: usage::unix_seconds(),
        threads,
        seed: plan.seed,
        phases: plan.load.iter().flat_map(|load| &load.phases).map(phase).collect(),
        plan: plan.told().to_text(),
        machine: machine(),
        interval: plan.load.is_some().then_some(interval),
        tolerated: plan.load.as_ref().map_or(0.0, |load| load.check.tolerated),
        behind,
        recorded: about.recorded.clone(),
    }
}

/// Begins the file of a run that is to be kept. One that nobody asked for is only missed in a note.
///
/// # Errors
/// A file that was asked for cannot be made.
pub fn keep(head: &Head, about: &About, notes: &mut Vec<String>) -> Result<Option<Recorder>, Problem> {
    let Some(keep) = &about.keep else { return Ok(None) };
    match Recorder::begin(&keep.folder.join(file_name(head))) {
        Ok(recorder) => Ok(Some(recorder)),
        Err(problem) if keep.wanted => Err(problem),
        Err(problem) => {
            notes.push(format!("{problem}; choose another place with --keep-in, or --no-keep"));
            Ok(None)
        }
    }
}

fn phase(phase: &Phase) -> PhasePlan {
    PhasePlan {
        name: phase.name.clone(),
        measured: phase.measured,
        open: phase.pace.open().is_some(),
        lasts: phase.stop.after,
        labels: phase.labels(),
    }
}

/// The commit that a folder of git's, or one above it, has checked out, as its files say.
fn commit(folder: &Path) -> Option<String> {
    let git = folder.ancestors().map(|folder| folder.join(".git")).find(|git| git.is_dir())?;
    let text = |name: &str| std::fs::read_to_string(git.join(name)).ok();
    let head = text("HEAD")?;
    let commit = match head.trim().strip_prefix("ref: ") {
        None => head.trim().to_owned(),
        Some(name) => text(name).map(|commit| commit.trim().to_owned()).or_else(|| {
            let packed = text("packed-refs")?;
            packed.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' ').map(str::to_owned))
        })?,
    };
    commit.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(commit)
}

fn machine() -> Machine {
    let facts = Facts::read();
    let text = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let after = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let memory = after(&text("/proc/meminfo"), "MemTotal").unwrap_or_default();
    let kilobytes = memory.trim_end_matches(" kB").parse::<u64>().unwrap_or(0);
    Machine {
        host: usage::host_name(),
        cores: facts.cpus.unwrap_or(0) as u32,
        cpu: after(&text("/proc/cpuinfo"), "model name").unwrap_or_default(),
        memory_bytes: kilobytes * 1024,
        kernel: facts.kernel,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commit_is_read_where_git_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(commit(&below), None);
        let git = folder.path().join(".git");
        std::fs::create_dir_all(git.join("refs/heads")).unwrap();
        for (head, packed, loose, found) in [
            ("0123abcd\n", "", "", Some("0123abcd")),
            (
                "ref: refs/heads/main\n",
                "# packed\n77aa refs/heads/main\n88bb refs/heads/main2\n",
                "",
                Some("77aa"),
            ),
            ("ref: refs/heads/main\n", "77aa refs/heads/main\n", "99cc\n", Some("99cc")),
            ("ref: refs/heads/new\n", "", "", None),
            ("<script>", "", "", None),
        ] {
            std::fs::write(git.join("HEAD"), head).unwrap();
            std::fs::write(git.join("packed-refs"), packed).unwrap();
            let file = git.join("refs/heads/main");
            if loose.is_empty() {
                drop(std::fs::remove_file(file))
            } else {
                std::fs::write(file, loose).unwrap()
            }
            assert_eq!(commit(&below).as_deref(), found, "{head}{packed}{loose}");
        }
    }
}
