//! Runs that were kept: where they lie, how they are called, and how they are read back. Lists of them are made of an index
//! (`index.rs`), searched by a query (`query.rs`), and kept short by `prune.rs`.

mod alike;
mod index;
mod prune;
mod query;

pub use alike::Neutral;
pub use index::{Summary, is_being_written, summaries, summary};
pub use prune::{LOG, PruneLimits, Spare, prune, prune_after_run};
pub use query::Query;

use crate::problem::Problem;
use measure::stream::Note;
use measure::stream::{Command, Controlled};
use measure::{RunEvent, RunState, notes};
use record::{Item, Reader, RecordKept, Writer};
use session::files;
use session::files::cannot_keep;
pub use session::history::{folder, kept};
pub use session::keep::{EXTENSION, short};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The files of a folder of runs, the newest first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == EXTENSION)).collect();
    // Names begin with the second; within one, the file itself tells.
    let key = |path: &PathBuf| {
        let changed = fs::metadata(path).and_then(|about| about.modified()).unwrap_or(UNIX_EPOCH);
        let second: String = path
            .file_name()
            .map(|name| name.to_string_lossy().chars().take(15).collect())
            .unwrap_or_default();
        std::cmp::Reverse((second, changed))
    };
    files.sort_by_cached_key(key);
    files
}

/// The file of a run: `latest`, `latest~N`, the first characters of its short number, or a path.
///
/// # Errors
/// There is no such run, or more than one.
pub fn find(name: &str, folder: &Path) -> Result<PathBuf, Problem> {
    let path = PathBuf::from(name);
    if name.contains('/') || path.extension().is_some_and(|ending| ending == EXTENSION) {
        return Ok(path);
    }
    let files = files(folder);
    if let Some(back) = name.strip_prefix("latest") {
        let back = back.strip_prefix('~').map_or(Some(0), |back| back.parse().ok());
        let back = back.ok_or_else(|| no_run(name, "latest may be followed by ~1, ~2 and so on"))?;
        let kept = format!("{} are kept in {}", files.len(), folder.display());
        return files.into_iter().nth(back).ok_or_else(|| no_run(name, &kept));
    }
    let bears = |path: &PathBuf| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        stem.rsplit('-').next().is_some_and(|short| short.starts_with(name))
    };
    let mut found = files.into_iter().filter(bears);
    match (found.next(), found.next()) {
        (Some(file), None) => Ok(file),
        (None, _) => Err(no_run(name, &format!("none of that number is kept in {}", folder.display()))),
        (Some(one), Some(other)) => {
            let both = format!("{} and {} begin so: give more of it", one.display(), other.display());
            Err(no_run(name, &both))
        }
    }
}

fn no_run(name: &str, why: &str) -> Problem {
    Problem::Usage(format!("there is no run {name}: {why}"))
}

/// Reads the bytes of a run file.
///
/// # Errors
/// It cannot be read.
pub fn bytes(file: &Path) -> Result<Vec<u8>, Problem> {
    files::read(file, files::LONGEST)
        .map_err(|error| Problem::Usage(format!("the run {} cannot be read: {error}", file.display())))
}

/// The records of a run file, one after the other; what is missing becomes a note.
///
/// # Errors
/// It is no run file, or of a version that is not understood.
pub fn events<'a>(bytes: &'a [u8], file: &Path) -> Result<impl Iterator<Item = RunEvent> + use<'a>, Problem> {
    let reader = Reader::new(bytes)
        .map_err(|error| Problem::Usage(format!("{} cannot be shown: {error}", file.display())))?;
    let note = |text| RunEvent::Note(Note { text, ..Note::default() });
    Ok(reader.map(move |item| match item {
        Item::Event(event) => event,
        Item::Gap(gap) if gap.at_end => note(notes::END_MISSING.with(&[&gap.bytes])),
        Item::Gap(gap) => note(notes::RECORDS_MISSING.with(&[&gap.at, &gap.bytes])),
    }))
}

/// Returns the known state of the run of a file.
///
/// # Errors
/// As [`events`].
pub fn state(bytes: &[u8], file: &Path) -> Result<RunState, Problem> {
    if let Some(state) = whole(bytes) {
        return Ok(state);
    }
    let mut state = RunState::default();
    events(bytes, file)?.for_each(|event| state.apply(&event));
    Ok(state)
}

/// The same of a file without damage, in a part of the time.
fn whole(bytes: &[u8]) -> Option<RunState> {
    let mut state = RunState::default();
    for item in Reader::new(bytes).ok()?.sums()? {
        let Item::Event(event) = item else { return None };
        state.apply(&event);
    }
    Some(state)
}

/// Gives a run a label.
///
/// # Errors
/// The file cannot be read or written, or is no run file.
pub fn label(file: &Path, name: &str, value: &str) -> Result<(), Problem> {
    let read = bytes(file)?;
    let written = events(&read, file)?.count() as u32;
    let open = fs::OpenOptions::new().append(true).open(file);
    let open = open.map_err(|error| cannot_keep("the label", file, &error))?;
    let command = Some(Command::Label { name: name.to_owned(), value: value.to_owned() });
    let label = Controlled { by: "runs label".to_owned(), command, ..Controlled::default() };
    match Writer::after(open, read.len() as u64, written).put(&RunEvent::Control(label)) {
        RecordKept::Written => Ok(()),
        RecordKept::Failed(error) => Err(cannot_keep("the label", file, &error).into()),
        RecordKept::Lost => Err(Problem::impossible("the label was not written")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_by_number_age_and_path() {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            "20260101-000000-http-1a2b3c4d",
            "20260102-000000-tcp-1a999999",
            "20260103-000000-http-77000000",
        ];
        for name in names {
            fs::write(folder.path().join(format!("{name}.wrun")), b"").unwrap();
        }
        fs::write(folder.path().join("index.jsonl"), b"").unwrap();
        let named = |name: &str| {
            let found = find(name, folder.path()).map_err(|error| error.to_string());
            found.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        };
        assert_eq!(named("latest").unwrap(), names[2]);
        assert_eq!(named("latest~2").unwrap(), names[0]);
        assert_eq!(named("1a2").unwrap(), names[0]);
        assert_eq!(named("./elsewhere.wrun").unwrap(), "elsewhere");
        assert!(named("1a").unwrap_err().contains("give more of it"));
        assert!(named("zz").unwrap_err().contains("none of that number"));
        assert!(named("latest~3").unwrap_err().contains("3 are kept"));
        assert!(named("latest~x").unwrap_err().contains("~1"));
    }
}
