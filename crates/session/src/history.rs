//! Where runs are kept, and how one that was kept is shown again.

use crate::problem::Problem;
use std::path::{Path, PathBuf};

/// The folder of runs where none is named: `wringer/runs` in `$XDG_STATE_HOME` or `~/.local/state`.
///
/// # Errors
/// There is neither of the two.
pub fn folder() -> Result<PathBuf, Problem> {
    state().map(|state| state.join("wringer/runs")).ok_or_else(|| {
        Problem::Impossible(
            "there is no folder for runs, as neither XDG_STATE_HOME nor HOME is set: give one with --keep-in, or --no-keep"
                .to_owned(),
        )
    })
}

/// The folder of what programs of this user keep; nothing where the environment names none.
pub(crate) fn state() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The specification wants a relative path ignored.
    let state = variable("XDG_STATE_HOME").filter(|path| path.is_absolute());
    state.or_else(|| variable("HOME").map(|home| home.join(".local/state")))
}

/// A line that says that a run was kept and how it is shown again.
pub fn kept(file: &Path) -> String {
    let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let short = name.rsplit('-').next().expect("a split has a first part");
    let is_ours = folder().is_ok_and(|folder| file.parent() == Some(&folder));
    let shown = if is_ours { short.to_owned() } else { file.display().to_string() };
    format!("kept: wringer report {shown}")
}
