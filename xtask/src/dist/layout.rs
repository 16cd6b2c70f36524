//! Files in the places where a system looks for them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{PACKAGE, project};
use crate::{Result, shell};

/// Where the shells of Debian look for completions.
pub const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/wringer"),
    ("zsh", ZSH),
    ("fish", "usr/share/fish/vendor_completions.d/wringer.fish"),
];
pub const ZSH: &str = "usr/share/zsh/vendor-completions/_wringer";
pub const BINARY: &str = "usr/bin/wringer";
pub const MANUAL: &str = "usr/share/man/man1";
pub const DOCS: &str = "usr/share/doc/wringer";

/// Files of the project that go to [`DOCS`], and their names there.
const TEXTS: [(&str, &str); 3] =
    [("NOTICE", "copyright"), ("LICENSE", "LICENSE"), ("CHANGELOG.md", "changelog")];

/// Licences of the crates that the program is built with, in [`DOCS`].
pub const NOTICES: &str = "third-party-licences";

/// Lays all files below `stage`, which is emptied first. `notices`: licences of other crates.
pub fn fill(stage: &Path, binary: &Path, notices: &str) -> Result<()> {
    clear(stage)?;
    let installed = stage.join(BINARY);
    put(&installed, &read(binary)?, 0o755)?;
    // Of the build for tests these are most of the file.
    shell::run(Command::new("strip").arg("--strip-debug").arg(&installed))?;
    for (shell_name, file) in COMPLETIONS {
        let script = shell::output(Command::new(binary).args(["completions", shell_name]))?;
        put(&stage.join(file), script.as_bytes(), 0o644)?;
    }
    manual(&stage.join(MANUAL), binary)?;
    for (file, name) in TEXTS {
        put(&stage.join(DOCS).join(name), &read(&project(file))?, 0o644)?;
    }
    compress(&stage.join(DOCS).join("changelog"))?;
    put(&stage.join(DOCS).join(NOTICES), notices.as_bytes(), 0o644)?;
    compress(&stage.join(DOCS).join(NOTICES))
}

/// Writes the parts of a container: the binary, and the Containerfile.
pub fn container(folder: &Path, binary: &Path) -> Result<()> {
    put(&folder.join("Containerfile"), &read(&project("packaging/Containerfile"))?, 0o644)?;
    put(&folder.join(PACKAGE), &read(binary)?, 0o755)
}

/// Removes a folder with all that is in it, where there is one.
pub fn clear(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    fs::remove_dir_all(folder).map_err(|error| cannot("removed", folder, &error))
}

/// Writes a file with these rights; folders that are made for it can be read by everybody.
pub fn put(file: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    make_folder(file.parent().unwrap_or(file))?;
    fs::write(file, bytes).map_err(|error| cannot("written", file, &error))?;
    allow(file, mode)
}

fn make_folder(folder: &Path) -> Result<()> {
    if folder.exists() {
        return Ok(());
    }
    folder.parent().map_or(Ok(()), make_folder)?;
    fs::create_dir(folder).map_err(|error| cannot("made", folder, &error))?;
    allow(folder, 0o755)
}

/// Whatever the umask is: these rights go into the package.
fn allow(file: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(file, Permissions::from_mode(mode)).map_err(|error| cannot("changed", file, &error))
}

/// The manual pages, as the binary writes them.
fn manual(folder: &Path, binary: &Path) -> Result<()> {
    make_folder(folder)?;
    shell::run(Command::new(binary).arg("man-pages").arg(folder))?;
    for page in files(folder)? {
        allow(&page, 0o644)?;
        compress(&page)?;
    }
    Ok(())
}

/// Packs a file, the same each time.
fn compress(file: &Path) -> Result<()> {
    shell::run(Command::new("gzip").args(["--best", "--no-name", "--force"]).arg(file))
}

/// The files below a folder, whatever their depth, as seen from there.
pub fn files_below(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for path in files(&folder)? {
            if path.is_dir() {
                open.push(path);
            } else if let Ok(below) = path.strip_prefix(root) {
                found.push(below.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Files and folders in a folder.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| cannot("read", folder, &error))?;
    let path = |entry: std::io::Result<fs::DirEntry>| entry.map(|entry| entry.path());
    entries.map(|entry| path(entry).map_err(|error| cannot("read", folder, &error))).collect()
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).map_err(|error| cannot("read", file, &error))
}

fn cannot(done: &str, file: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be {done}: {error}", file.display())
}
