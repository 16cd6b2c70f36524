//! `wringer.toml`, found upward from the folder, and `WRINGER_*`: defaults and guards of this process. What they mean is `cli`'s.

use crate::problem::Problem;
use cli::{CliSettings, Guards};
use plan::Plan;
use std::env;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The file's name.
const NAME: &str = "wringer.toml";
/// Names another file, or none with `-`.
const VARIABLE: &str = "WRINGER_CONFIG";

/// Settings of this process.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// Defaults and guards.
    pub settings: CliSettings,
    /// The file.
    pub file: Option<PathBuf>,
}

static HELD: OnceLock<Result<Held, String>> = OnceLock::new();

/// Settings that hold, read once.
///
/// # Errors
/// Mistakes in the file or a variable, a line each.
pub fn held() -> Result<&'static Held, Problem> {
    HELD.get_or_init(read).as_ref().map_err(|why| Problem::Usage(why.clone()))
}

fn read() -> Result<Held, String> {
    let file = file()?;
    let settings = match &file {
        None => CliSettings::default(),
        Some((file, text)) => {
            let all = CliSettings::of_file(&file.display().to_string(), text);
            all.map_err(|mistakes| mistakes.join("\nwringer: "))?
        }
    };
    let variables = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Ok(Held { settings: settings.and_environment(variables)?, file: file.map(|(file, _)| file) })
}

/// The file and what is in it.
fn file() -> Result<Option<(PathBuf, String)>, String> {
    let read = |file: PathBuf| match std::fs::read_to_string(&file) {
        Ok(text) => Ok(Some((file, text))),
        Err(error) => Err(format!("{} cannot be read: {error}; {VARIABLE}=- does without", file.display())),
    };
    match env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        Some(named) if named == "-" => return Ok(None),
        Some(named) => return read(PathBuf::from(named)),
        None => {}
    }
    // Where there is no folder any more, there is no file in it.
    let Ok(folder) = env::current_dir() else { return Ok(None) };
    let is_there = |file: &PathBuf| match std::fs::symlink_metadata(file) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    };
    let found = folder.ancestors().map(|folder| folder.join(NAME)).find(is_there);
    found.map_or(Ok(None), |file| read(shown(&file, &folder)))
}

/// The file as messages name it: by its name where it lies in this folder.
fn shown(file: &Path, folder: &Path) -> PathBuf {
    file.strip_prefix(folder).unwrap_or(file).to_owned()
}

/// Refuses a plan beyond the guards.
///
/// # Errors
/// The limit that it breaks.
pub fn refuse(plan: &Plan) -> Result<(), session::Problem> {
    let held = held().map_err(|problem| session::Problem::Usage(problem.to_string()))?;
    let checked = held.settings.guards.as_ref().map_or(Ok(()), |guards| guards.check(plan));
    checked.map_err(session::Problem::Usage)
}

/// True if connections go nowhere but to the hosts that plans name. A mistake in the file is told by [`refuse`].
pub fn confined() -> bool {
    held().is_ok_and(|held| held.settings.guards.as_ref().is_some_and(Guards::confines))
}
