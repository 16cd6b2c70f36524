//! Rules of this project that neither the compiler nor clippy know, each with its reason. A rule that cannot be kept in one
//! place gets a line in `xtask/tidy-exceptions.txt`, or in `xtask/tidy-circles.txt`: lists that may only get shorter; and
//! `xtask/tidy-habits.txt` has numbers that may only fall.

mod circles;
mod habits;
mod lengths;
mod manifest;
mod map;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;

const EXCEPTIONS: &str = "xtask/tidy-exceptions.txt";

/// One file of the project.
struct File {
    /// Its path from the root of the workspace.
    name: String,
    text: String,
}

/// Fails with all that is wrong, one line each.
pub fn run(root: &Path) -> Result<()> {
    let manifests = manifests(root)?;
    let mut problems: Vec<String> = manifests.iter().flat_map(manifest::unreasoned).collect();
    for manifest in &manifests {
        problems.extend(manifest::forbidden(manifest)?);
    }
    let sources = sources(root)?;
    problems.extend(sources.iter().flat_map(source::unwanted));
    let exceptions = lengths::parse_exceptions(&read(root, EXCEPTIONS)?)?;
    let too_long: Vec<_> = sources.iter().flat_map(lengths::too_long).collect();
    problems.extend(lengths::judge(&too_long, &exceptions));
    let ceilings = habits::parse_ceilings(&read(root, habits::CEILINGS)?)?;
    problems.extend(habits::judge(&habits::counted(&sources), &ceilings));
    let excused = circles::parse_exceptions(&read(root, circles::EXCEPTIONS)?)?;
    problems.extend(circles::judge(&circles::circles(&sources), &excused));
    problems.extend(map::too_long(&File { name: map::MAP.to_owned(), text: read(root, map::MAP)? }));
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!("tidy: {} problems\n{}", problems.len(), problems.join("\n")))
}

fn manifests(root: &Path) -> Result<Vec<File>> {
    let mut names = vec!["Cargo.toml".to_owned(), "xtask/Cargo.toml".to_owned()];
    for folder in entries(&root.join("crates"))? {
        names.push(format!("{}/Cargo.toml", name_of(root, &folder)));
    }
    names.into_iter().map(|name| Ok(File { text: read(root, &name)?, name })).collect()
}

fn sources(root: &Path) -> Result<Vec<File>> {
    let mut found = Vec::new();
    let mut folders = vec![root.join("crates"), root.join("xtask")];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = name_of(root, &path);
                found.push(File { text: read(root, &name)?, name });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = |error: std::io::Error| format!("{} cannot be read: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        // Build output is not ours to judge.
        if path.file_name().is_some_and(|name| name != "target") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn name_of(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

fn read(root: &Path, name: &str) -> Result<String> {
    fs::read_to_string(root.join(name)).map_err(|error| format!("{name} cannot be read: {error}"))
}
