//! Summaries of runs for lists, without reading every file: one line of JSON for each run in `index.jsonl` beside the files. The
//! index is only an index: what it says of a file counts as long as size and time of the file are those it was read at, so
//! whoever deletes, cuts or forges it, or writes it at the same time as others, costs a reading of the files and nothing else.

use super::{bytes, files};
use measure::{Bound, Head, Headline, RunEvent, RunState, VerdictNames};
use record::{Item, Reader};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Its name in the folder of runs.
const NAME: &str = "index.jsonl";
/// First line of an index that this version understands; any other is made anew.
const FIRST_LINE: &str = r#"{"index":"wringer runs","format":1}"#;

/// Summary of a run, as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Its number.
    pub id: String,
    /// Its file.
    #[serde(skip)]
    pub file: PathBuf,
    /// Bytes of its file.
    #[serde(skip)]
    pub bytes: u64,
    /// When it began, in seconds since 1970.
    pub started_unix_s: f64,
    /// The command, or the old tool.
    pub door: String,
    /// The command line that repeats it.
    pub command: String,
    /// Target of the load.
    pub target: Option<String>,
    /// Commit of the folder that it was made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The machine that made it.
    pub host: String,
    /// Words of the user's own, given then or later.
    pub labels: BTreeMap<String, String>,
    /// Its end; `None`: it goes on, or was cut off.
    pub end: Option<Ended>,
}

/// End of a run, as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// How long it took.
    pub took_s: f64,
    /// Verdict on its figures and on the target.
    pub verdict: VerdictNames,
    /// It was interrupted.
    pub interrupted: bool,
    /// Exit code of its process.
    pub exit: u8,
    /// Its figures.
    pub figures: Headline,
}

impl Ended {
    /// A percentile in µs; `None` where no request had an answer that it could be of.
    pub fn time(&self, of: fn(&Headline) -> u64) -> Option<u64> {
        Some(of(&self.figures)).filter(|time| *time > 0)
    }

    /// A percentile, or what it is at least, since requests were unfinished.
    pub fn bound(&self, of: fn(&Headline) -> u64) -> Option<Bound> {
        let us = self.time(of)?;
        let at_least = self.figures.bound_from_us.is_some_and(|from| from <= us);
        Some(Bound { value: us as f64, at_least })
    }

    /// How long it took.
    pub fn took(&self) -> Duration {
        Duration::try_from_secs_f64(self.took_s).unwrap_or_default()
    }
}

impl Summary {
    /// Of a run by its first record.
    pub fn of(head: &Head) -> Summary {
        Summary {
            id: head.id.clone(),
            file: PathBuf::new(),
            bytes: 0,
            started_unix_s: head.started_unix_s,
            door: head.door.clone(),
            command: head.command.clone(),
            target: head.target.clone(),
            commit: head.commit.clone(),
            host: head.machine.host.clone(),
            labels: head.labels.clone(),
            end: None,
        }
    }

    /// Returns its name in commands.
    pub fn short(&self) -> &str {
        super::short(&self.id)
    }

    /// When it began, by the clock of this place.
    pub fn began(&self) -> String {
        let began = jiff::Timestamp::from_second(self.started_unix_s as i64).unwrap_or_default();
        began.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// The verdict on its figures and on the target; of a run without an end, whether it goes on.
    pub fn verdict(&self) -> VerdictNames {
        match &self.end {
            Some(end) => end.verdict.clone(),
            None if self.goes_on() => VerdictNames::new("goes_on", ""),
            None => VerdictNames::new("cut_off", ""),
        }
    }

    /// It has no end, and its file is being written. One without a file is written by this process.
    pub fn goes_on(&self) -> bool {
        self.end.is_none() && (self.file.as_os_str().is_empty() || is_being_written(&self.file))
    }

    /// Its labels as they are typed: `NAME=VALUE`.
    pub fn labels(&self) -> impl Iterator<Item = String> + '_ {
        self.labels.iter().map(|(name, value)| format!("{name}={value}"))
    }
}

/// True if the run of a file goes on: who writes it keeps it locked.
pub fn is_being_written(file: &Path) -> bool {
    let lock = fs::File::open(file).map(|file| flock(file, FlockOperation::NonBlockingLockShared));
    matches!(lock, Ok(Err(Errno::WOULDBLOCK)))
}

/// A line of the index: a file as it was when it was read. `run`: `None` for a file that is no run of ours.
#[derive(Debug, Serialize, Deserialize)]
struct IndexEntry {
    file: String,
    bytes: u64,
    changed_ns: i128,
    run: Option<Summary>,
}

/// The runs of a folder, the newest first. Files that are none of ours are passed by.
pub fn summaries(folder: &Path) -> Vec<Summary> {
    let mut known = read(folder);
    let mut changed = false;
    let mut entries = Vec::new();
    for file in files(folder) {
        let Some((name, bytes, changed_ns)) = facts(&file) else { continue };
        let same = known.remove(&name).filter(|entry| (entry.bytes, entry.changed_ns) == (bytes, changed_ns));
        changed |= same.is_none();
        let run = same.map_or_else(|| summary(&file), |entry| entry.run);
        entries.push(IndexEntry { file: name, bytes, changed_ns, run });
    }
    if changed || !known.is_empty() {
        // Without it the next list takes longer, and that is all.
        let _ = write(folder, &entries);
    }
    let found = |entry: IndexEntry| {
        let file = folder.join(entry.file);
        let bytes = entry.bytes;
        entry.run.map(|run| Summary { file, bytes, ..run })
    };
    entries.into_iter().filter_map(found).collect()
}

/// The summaries of some files of a folder, in their order; `None` of one that is none of ours. What the index did not know yet of them
/// it knows from now on.
pub fn summaries_of(folder: &Path, files: &[&Path]) -> Vec<Option<Summary>> {
    if files.is_empty() {
        return Vec::new();
    }
    let mut known = read(folder);
    let mut changed = false;
    let mut found = Vec::new();
    for file in files {
        let Some((name, bytes, changed_ns)) = facts(file) else {
            found.push(None);
            continue;
        };
        let same = known.get(&name).filter(|entry| (entry.bytes, entry.changed_ns) == (bytes, changed_ns));
        let run = match same {
            Some(entry) => entry.run.clone(),
            None => {
                changed = true;
                let run = summary(file);
                let entry = IndexEntry { file: name.clone(), bytes, changed_ns, run: run.clone() };
                known.insert(name, entry);
                run
            }
        };
        found.push(run.map(|run| Summary { file: file.to_path_buf(), bytes, ..run }));
    }
    if changed {
        // Without it the next time takes longer, and that is all.
        let _ = write(folder, &known.into_values().collect::<Vec<_>>());
    }
    found
}

/// Returns the summary that a list shows of the run in a file; `None`: it is none of ours.
pub fn summary(file: &Path) -> Option<Summary> {
    let bytes = bytes(file).ok()?;
    let mut state = RunState::default();
    let records = Reader::new(&bytes).ok()?.borders();
    records.for_each(|item| {
        if let Item::Event(event @ (RunEvent::Head(_) | RunEvent::Control(_) | RunEvent::End(_))) = item {
            state.apply(&event);
        }
    });
    if state.head().id.is_empty() {
        return None;
    }
    let end = state.end().map(|end| Ended {
        took_s: end.took.as_secs_f64(),
        verdict: end.verdict.clone(),
        interrupted: end.interrupted,
        exit: end.exit,
        figures: end.figures.clone(),
    });
    let file = file.to_owned();
    let bytes = bytes.len() as u64;
    Some(Summary { end, file, bytes, ..Summary::of(state.head()) })
}

/// Name, size and time of change of a file.
fn facts(file: &Path) -> Option<(String, u64, i128)> {
    let about = fs::metadata(file).ok()?;
    let changed_ns = i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec());
    Some((file.file_name()?.to_string_lossy().into_owned(), about.len(), changed_ns))
}

/// The lines of an index that can be read, by the name of the file.
fn read(folder: &Path) -> HashMap<String, IndexEntry> {
    let text = fs::read_to_string(folder.join(NAME)).unwrap_or_default();
    let mut lines = text.lines();
    if lines.next() != Some(FIRST_LINE) {
        return HashMap::new();
    }
    let entries = lines.filter_map(|line| serde_json::from_str::<IndexEntry>(line).ok());
    entries.map(|entry| (entry.file.clone(), entry)).collect()
}

/// Puts a new index in the place of the old one, as a whole; new files are for their owner alone.
fn write(folder: &Path, entries: &[IndexEntry]) -> std::io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".index").tempfile_in(folder)?;
    writeln!(file, "{FIRST_LINE}")?;
    for entry in entries {
        writeln!(file, "{}", serde_json::to_string(entry)?)?;
    }
    file.persist(folder.join(NAME))?;
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use measure::stream::MeasureEnd;
    use record::Writer;

    /// A run that began at this second, with these labels.
    pub fn kept(folder: &Path, second: u32, labels: &[(&str, &str)], ended: bool) -> PathBuf {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let head = Head {
            id: format!("0193551f-7c2e-7000-8000-{second:012x}"),
            started_unix_s: f64::from(second),
            door: "http".to_owned(),
            command: "wringer http http://localhost:8080/".to_owned(),
            target: Some("nginx".to_owned()),
            labels,
            ..Head::default()
        };
        let path = folder.join(session::keep::file_name(&head));
        let file = fs::OpenOptions::new().append(true).create_new(true).open(&path).unwrap();
        let mut writer = Writer::new(file);
        let figures = Headline { p99_us: 4_000, requests_per_s: 12_000.0, ..Headline::default() };
        let end =
            MeasureEnd { verdict: VerdictNames::new("valid", "answered"), figures, ..MeasureEnd::default() };
        writer.put(&RunEvent::Head(Box::new(head)));
        if ended {
            writer.put(&RunEvent::End(Box::new(end)));
        }
        path
    }

    fn seconds(folder: &Path) -> Vec<u64> {
        summaries(folder).iter().map(|run| run.started_unix_s as u64).collect()
    }

    #[test]
    fn an_index_that_is_gone_cut_forged_or_of_the_future_changes_no_list() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join(NAME);
        (1..=4).for_each(|second| drop(kept(folder.path(), second, &[], second != 2)));
        fs::write(folder.path().join("20200101-000000-http-99999999.wrun"), b"none of ours").unwrap();
        let whole = summaries(folder.path());
        assert_eq!(seconds(folder.path()), [4, 3, 2, 1]);
        assert!(whole[2].end.is_none() && whole[0].end.is_some());
        let text = fs::read_to_string(&index).unwrap();
        assert_eq!(text.lines().count(), 6, "{text}");
        let forged = text.replace("\"bytes\":", "\"bytes\":1");
        let future = text.replace("\"format\":1", "\"format\":2");
        for damage in ["", &text[..text.len() / 2], &forged, &future, "\u{0}\u{0}"] {
            fs::write(&index, damage).unwrap();
            assert_eq!(summaries(folder.path()), whole, "{damage}");
        }
        fs::remove_file(&index).unwrap();
        assert_eq!(summaries(folder.path()), whole);
    }

    #[test]
    fn an_index_is_believed_of_files_that_did_not_change_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let file = kept(folder.path(), 1, &[], true);
        assert_eq!(summaries(folder.path())[0].door, "http");
        let index = folder.path().join(NAME);
        let other = fs::read_to_string(&index).unwrap().replace("\"door\":\"http\"", "\"door\":\"index\"");
        fs::write(&index, other).unwrap();
        assert_eq!(summaries(folder.path())[0].door, "index", "the file was not read");
        crate::runs::label(&file, "build", "4711").unwrap();
        let run = &summaries(folder.path())[0];
        assert_eq!((run.door.as_str(), run.labels["build"].as_str()), ("http", "4711"));
        fs::remove_file(file).unwrap();
        assert!(summaries(folder.path()).is_empty());
        assert_eq!(fs::read_to_string(&index).unwrap().lines().count(), 1);
    }

    #[test]
    fn some_files_are_looked_up_without_reading_them_again() {
        let folder = tempfile::tempdir().unwrap();
        let files = [1, 2].map(|second| kept(folder.path(), second, &[], true));
        let some = || summaries_of(folder.path(), &[&files[1], &folder.path().join("nothing.wrun")]);
        let doors =
            |runs: Vec<Option<Summary>>| runs.into_iter().map(|run| Some(run?.door)).collect::<Vec<_>>();
        assert_eq!(doors(some()), [Some("http".to_owned()), None]);
        let index = folder.path().join(NAME);
        let text = fs::read_to_string(&index).unwrap();
        assert_eq!(text.lines().count(), 2, "the first line, and that of one file: {text}");
        fs::write(&index, text.replace("\"door\":\"http\"", "\"door\":\"index\"")).unwrap();
        assert_eq!(doors(some()), [Some("index".to_owned()), None]);
        assert_eq!(summaries(folder.path()).len(), 2, "a list knows what is missing");
    }

    #[test]
    fn ten_at_once_get_the_same_list_and_leave_a_whole_index() {
        let folder = tempfile::tempdir().unwrap();
        (1..=30).for_each(|second| drop(kept(folder.path(), second, &[], true)));
        let expected: Vec<u64> = (1..=30).rev().collect();
        std::thread::scope(|scope| {
            let lists: Vec<_> = (0..10).map(|_| scope.spawn(|| seconds(folder.path()))).collect();
            lists.into_iter().for_each(|list| assert_eq!(list.join().unwrap(), expected));
        });
        assert_eq!(read(folder.path()).len(), 30);
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 31, "nothing but the runs and the index");
    }
}
