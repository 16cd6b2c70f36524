//! Keeping the history short: the oldest runs go, never one that somebody wants to keep.

use super::files;
use super::index::{Summary, summaries_of};
use crate::problem::Problem;
use plan::units;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The label that keeps a run.
const KEEP: &str = "keep";

/// Ending of the name of a log that is kept beside a run, in place of the run file's.
pub const LOG: &str = "log";

/// How much stays.
#[derive(Debug, Clone, Copy)]
pub struct PruneLimits {
    /// So many of the newest runs.
    pub runs: usize,
    /// So many bytes of them.
    pub bytes: u64,
    /// None that is older.
    pub age: Option<Duration>,
}

impl Default for PruneLimits {
    fn default() -> PruneLimits {
        PruneLimits { runs: 500, bytes: 5_000_000_000, age: None }
    }
}

/// Which runs stay however old they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spare {
    /// Those with the label `keep`.
    Kept,
    /// Those with any label: somebody gave it.
    Labelled,
}

/// Result of pruning.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs removed.
    pub runs: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Runs beyond the limits that stay because of a label, or because they go on.
    pub spared: usize,
}

/// Removes the runs of a folder that are beyond the limits, the oldest; the newest always stays. With `dry`, only counts.
///
/// # Errors
/// A file that cannot be removed.
pub fn prune(folder: &Path, limits: PruneLimits, spare: Spare, dry: bool) -> Result<Pruned, Problem> {
    let mut pruned = Pruned::default();
    let beyond = beyond(files(folder), limits);
    let names: Vec<&Path> = beyond.iter().map(|(file, _)| file.as_path()).collect();
    // Those that stay are looked at after each run, and do not change.
    let runs = summaries_of(folder, &names);
    for ((file, bytes), run) in beyond.iter().zip(&runs) {
        if is_spared(run.as_ref(), spare) {
            pruned.spared += 1;
            continue;
        }
        match if dry { Ok(()) } else { fs::remove_file(file) } {
            Ok(()) => {
                if !dry {
                    // Few runs have one.
                    let _ = fs::remove_file(file.with_extension(LOG));
                }
                pruned.runs += 1;
                pruned.bytes += bytes;
            }
            // Somebody else prunes, too.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Problem::impossible(format!("{} cannot be removed: {error}", file.display())));
            }
        }
    }
    Ok(pruned)
}

/// Prunes the folder that runs are kept in by themselves, after one has been. What was done, in a sentence, where anything was.
pub fn prune_after_run(folder: &Path) -> Option<String> {
    let limits = PruneLimits::default();
    match prune(folder, limits, Spare::Labelled, false) {
        Ok(pruned) if pruned.runs == 0 => None,
        Ok(pruned) => Some(format!(
            "pruned: {} of the oldest runs ({}); {} runs and {} are kept, and all with a label: wringer runs label RUN keep=",
            pruned.runs,
            units::show_size(pruned.bytes),
            limits.runs,
            units::show_size(limits.bytes)
        )),
        Err(problem) => Some(format!("note: old runs stay: {problem}")),
    }
}

/// The files that are too many, of those of a folder, the newest first; with their sizes.
fn beyond(files: Vec<PathBuf>, limits: PruneLimits) -> Vec<(PathBuf, u64)> {
    let mut sum = 0u64;
    let now = SystemTime::now();
    let sized = files.into_iter().filter_map(|file| {
        let about = fs::metadata(&file).ok()?;
        Some((file, about.len(), about.modified().ok()))
    });
    let too_many = sized.enumerate().filter_map(|(nth, (file, bytes, changed))| {
        sum = sum.saturating_add(bytes);
        let age = changed.and_then(|changed| now.duration_since(changed).ok()).unwrap_or_default();
        let is_old = limits.age.is_some_and(|limit| age > limit);
        (nth > 0 && (nth >= limits.runs || sum > limits.bytes || is_old)).then_some((file, bytes))
    });
    too_many.collect()
}

/// True for a run that somebody wants to keep, that goes on, or that we know nothing of.
fn is_spared(run: Option<&Summary>, spare: Spare) -> bool {
    let Some(run) = run else { return true };
    let labelled = match spare {
        Spare::Kept => run.labels.contains_key(KEEP),
        Spare::Labelled => !run.labels.is_empty(),
    };
    labelled || run.goes_on()
}

#[cfg(test)]
mod tests {
    use super::super::index::{summaries, tests::kept};
    use super::*;

    fn left(folder: &Path) -> Vec<u64> {
        summaries(folder).iter().map(|run| run.started_unix_s as u64).collect()
    }

    #[test]
    fn the_oldest_go_and_never_one_that_is_kept_or_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut writing = Vec::new();
        for second in 1..=6 {
            let labels: &[(&str, &str)] = match second {
                1 => &[("keep", "")],
                2 => &[("build", "4711")],
                _ => &[],
            };
            let path = kept(folder, second, labels, second != 3);
            // The third goes on: whoever writes a run keeps its file locked.
            writing.extend((second == 3).then(|| fs::File::open(path).unwrap()));
        }
        rustix::fs::flock(&writing[0], rustix::fs::FlockOperation::LockExclusive).unwrap();
        fs::write(folder.join("19700101-000000-http-77777777.wrun"), b"none of ours").unwrap();
        let two = PruneLimits { runs: 2, ..PruneLimits::default() };
        let dry = prune(folder, two, Spare::Labelled, true).unwrap();
        assert_eq!((dry.runs, dry.spared, left(folder).len()), (1, 4, 6));
        let pruned = prune(folder, two, Spare::Labelled, false).unwrap();
        assert_eq!(Pruned { bytes: 0, ..pruned }, Pruned { runs: 1, bytes: 0, spared: 4 });
        assert_eq!(left(folder), [6, 5, 3, 2, 1]);
        prune(folder, two, Spare::Kept, false).unwrap();
        assert_eq!(
            left(folder),
            [6, 5, 3, 1],
            "a label that is not keep protects from what goes by itself only"
        );
        assert!(folder.join("19700101-000000-http-77777777.wrun").exists());
        drop(writing);
        prune(folder, two, Spare::Kept, false).unwrap();
        assert_eq!(left(folder), [6, 5, 1], "it was cut off");
    }

    #[test]
    fn bytes_and_age_are_limits_and_the_newest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let old = kept(folder, 1, &[], true);
        kept(folder, 2, &[], true);
        let month = Duration::from_secs(30 * 86_400);
        let changed = SystemTime::now() - month;
        fs::File::options().append(true).open(&old).unwrap().set_modified(changed).unwrap();
        let aged = PruneLimits { age: Some(month / 2), ..PruneLimits::default() };
        assert_eq!(prune(folder, aged, Spare::Kept, false).unwrap().runs, 1);
        assert_eq!(left(folder), [2]);
        kept(folder, 3, &[], true);
        let none = PruneLimits { runs: 0, bytes: 0, age: None };
        assert_eq!(prune(folder, none, Spare::Kept, false).unwrap().runs, 1);
        assert_eq!(left(folder), [3]);
        assert_eq!(prune_after_run(folder), None);
    }
}
