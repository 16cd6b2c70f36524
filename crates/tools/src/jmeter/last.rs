//! `-t LAST`: the plan that ran last, kept by its path beside the runs.

use session::history;
use std::path::{Path, PathBuf};

/// The word for the plan that ran last.
const LAST: &str = "LAST";

/// The file that holds the path, beside the folder of runs.
fn file() -> Option<PathBuf> {
    let runs = history::folder().ok()?;
    Some(runs.parent()?.join("jmeter-last-plan"))
}

/// The plan that was named, or the one that ran last.
pub(super) fn plan(named: &Path) -> Result<PathBuf, String> {
    if named != Path::new(LAST) {
        return Ok(named.to_owned());
    }
    let kept = file().and_then(|file| std::fs::read_to_string(file).ok());
    match kept.as_deref().map(str::trim) {
        Some(path) if !path.is_empty() => Ok(path.into()),
        Some(_) | None => Err(format!("-t {LAST}: no plan has run here yet; name one: -t PLAN.jmx")),
    }
}

/// Keeps the path of a plan that is about to run; where that cannot be, LAST is what it was.
pub(super) fn keep(plan: &Path) {
    let Some(file) = file() else { return };
    let Ok(path) = plan.canonicalize() else { return };
    let Some(folder) = file.parent() else { return };
    if std::fs::create_dir_all(folder).is_ok() {
        let _ = std::fs::write(file, format!("{}\n", path.display()));
    }
}
