//! Results that nobody took, on the machine of an agent: written where a controller has gone, told to whoever collects them, and
//! removed once they are kept elsewhere.

use crate::history;
use crate::problem::Problem;
use crate::usage;
use fleet::kept::{Kept, Sum};
use fleet::message::{Collect, KeptFile, Order};
use fleet::{Last, Share};
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Results that are kept on a machine at most; the oldest go.
const MOST: usize = 50;
/// A result is no longer than this.
pub(crate) const LONGEST: u64 = 64 << 20;
/// Bytes that are written to see that some can be: a result is seldom longer.
const TRIED: usize = 64 << 10;
/// Only the user reads and writes them: they hold parts of answers.
const OWN_FOLDER: u32 = 0o700;
const OWN_FILE: u32 = 0o600;

fn folder() -> Option<PathBuf> {
    history::state().map(|state| state.join("wringer/agents"))
}

/// Name of a run for people.
pub(crate) fn run_name(run: u64) -> String {
    format!("{run:016x}")
}

/// Keeps what came of a load. Returns the file.
pub(crate) fn keep(sum: Sum, order: &Order, share: Share, last: Last) -> Result<PathBuf, Problem> {
    let folder = folder().ok_or_else(|| Problem::impossible("neither XDG_STATE_HOME nor HOME is set"))?;
    let kept = sum.keep(Kept {
        run: run_name(order.run_id),
        name: order.name.clone(),
        host: usage::host_name(),
        plan: order.sha256.clone(),
        share,
        at: usage::unix_seconds() as u64,
        last,
        phases: Vec::new(),
        records: Vec::new(),
        records_left_out: 0,
        log: Vec::new(),
    });
    let file = folder.join(format!("{}-{}-{}.json", kept.run, kept.name, std::process::id()));
    // A plain value, as all that travels.
    let text = serde_json::to_vec(&kept).expect("what is kept is plain values");
    written(&folder, &file, &text)
        .map_err(|error| Problem::impossible(format!("{}: {error}", file.display())))?;
    make_room(&folder);
    Ok(file)
}

fn written(folder: &Path, file: &Path, text: &[u8]) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(OWN_FOLDER).create(folder)?;
    let part = file.with_extension("part");
    let mut open =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(OWN_FILE).open(&part)?;
    io::Write::write_all(&mut open, text)?;
    open.sync_all()?;
    fs::rename(&part, file)
}

/// Why no result could be kept here, where that is known before the run.
pub(crate) fn cannot_keep() -> Option<String> {
    let folder = folder()?;
    let place = folder.ancestors().find(|place| place.exists())?;
    let file = place.join(format!(".wringer-{}.part", std::process::id()));
    let tried = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(OWN_FILE)
        .open(&file)
        .and_then(|mut open| io::Write::write_all(&mut open, &[0; TRIED]).and_then(|()| open.sync_all()));
    // Where it could not be made, there is nothing to remove.
    let _ = fs::remove_file(&file);
    tried.err().map(|error| {
        format!(
            "it could not keep its result if the controller went away: {} cannot be written: {error}; what it does comes over its channel as ever",
            folder.display()
        )
    })
}

fn make_room(folder: &Path) {
    let Ok(mut files) = found(folder) else { return };
    files.sort_by_key(|file| fs::metadata(file).and_then(|facts| facts.modified()).ok());
    // One that another process has removed already is gone as well.
    files.iter().rev().skip(MOST).for_each(|file| drop(fs::remove_file(file)));
}

fn found(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    Ok(files)
}

/// The results that are here, with their bytes.
pub(crate) fn all(asked: &Collect) -> Vec<(KeptFile, Vec<u8>)> {
    let Some(files) = folder().and_then(|folder| found(&folder).ok()) else { return Vec::new() };
    let wanted = |name: &str| asked.run.as_ref().is_none_or(|run| name.starts_with(run.as_str()));
    let read = |file: PathBuf| {
        let name = file.file_name()?.to_str().filter(|name| wanted(name))?.to_owned();
        let bytes = crate::files::read(&file, LONGEST).ok()?;
        Some((KeptFile { name, bytes: bytes.len() as u64 }, bytes))
    };
    files.into_iter().filter_map(read).collect()
}

/// Removes results that are kept elsewhere now.
pub(crate) fn forget(names: &[String]) {
    let Some(files) = folder().and_then(|folder| found(&folder).ok()) else { return };
    // By what is in the folder, so that no name leads out of it.
    let is_named =
        |file: &PathBuf| file.file_name().is_some_and(|own| names.iter().any(|name| *own == **name));
    // One that another process has removed already is gone as well.
    files.iter().filter(|file| is_named(file)).for_each(|file| drop(fs::remove_file(file)));
}
