//! A package is installed, run and removed: in the system where that may be done, otherwise below a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{PACKAGE, layout, version};
use crate::{Result, shell};

/// Some of the files that the package brings.
const BROUGHT: [&str; 6] = [
    layout::BINARY,
    layout::COMPLETIONS[0].1,
    layout::COMPLETIONS[1].1,
    layout::COMPLETIONS[2].1,
    "usr/share/man/man1/wringer-cache.1.gz",
    "usr/share/man/man1/wringer-ab.1.gz",
];

/// Where a package is installed.
enum Place {
    /// As anybody would.
    System,
    /// Below a folder with a database of its own.
    Below(PathBuf),
}

/// Installs the package, tries it, and removes it, whatever came of the trial. `folder`: may be filled.
pub fn run(deb: &Path, folder: &Path) -> Result<()> {
    let place = match reason_against_system() {
        None => Place::System,
        Some(reason) => {
            println!("package: installed below a folder, because {reason}");
            Place::below(folder.join("system"))?
        }
    };
    let tried = place.install(deb).and_then(|()| place.try_out());
    let removed = place.remove();
    tried.and(removed)?;
    place.is_clean()
}

/// Why the system is left alone.
fn reason_against_system() -> Option<&'static str> {
    if !nix::unistd::geteuid().is_root() {
        return Some("installing takes root");
    }
    if shell::find("apt-get").is_none() {
        return Some("apt-get is not installed");
    }
    let known = shell::output(Command::new("dpkg-query").args(["--show", PACKAGE]));
    (known.is_ok() || Path::new("/").join(layout::BINARY).exists())
        .then_some("one is installed here already, which would be lost")
}

impl Place {
    fn below(folder: PathBuf) -> Result<Place> {
        let database = folder.join("var/lib/dpkg");
        for part in ["info", "updates", "triggers"] {
            let part = database.join(part);
            fs::create_dir_all(&part)
                .map_err(|error| format!("{} cannot be made: {error}", part.display()))?;
        }
        layout::put(&database.join("status"), b"", 0o644)?;
        Ok(Place::Below(folder))
    }

    fn root(&self) -> &Path {
        match self {
            Place::System => Path::new("/"),
            Place::Below(folder) => folder,
        }
    }

    fn install(&self, deb: &Path) -> Result<()> {
        match self {
            Place::System => apt(&["install", "--no-install-recommends"], deb),
            Place::Below(folder) => dpkg(folder, "--install", deb),
        }
    }

    fn remove(&self) -> Result<()> {
        match self {
            Place::System => apt(&["purge"], Path::new(PACKAGE)),
            Place::Below(folder) => dpkg(folder, "--purge", Path::new(PACKAGE)),
        }
    }

    fn try_out(&self) -> Result<()> {
        let lacking = BROUGHT.iter().find(|file| !self.root().join(file).exists());
        lacking.map_or(Ok(()), |file| Err(format!("package: {file} was not installed")))?;
        let binary = self.root().join(layout::BINARY);
        println!("package: {PACKAGE} {}", version(&binary)?);
        shell::output(Command::new(&binary).args(["cache", "--users", "2", "-d", "1s"]))?;
        let script = self.root().join(layout::COMPLETIONS[0].1);
        shell::output(Command::new("bash").arg("-n").arg(script)).map(drop)
    }

    /// Nothing of the package is left.
    fn is_clean(&self) -> Result<()> {
        let mut left = BROUGHT.to_vec();
        left.push(layout::DOCS);
        left.retain(|file| self.root().join(file).exists());
        match left.as_slice() {
            [] => Ok(()),
            left => Err(format!("package: after the removal there is still {}", left.join(", "))),
        }
    }
}

fn apt(words: &[&str], what: &Path) -> Result<()> {
    let mut apt = Command::new("apt-get");
    // Somebody else may be installing.
    apt.args(["--quiet=2", "--assume-yes", "--option=DPkg::Lock::Timeout=300"]).args(words).arg(what);
    shell::output(apt.env("DEBIAN_FRONTEND", "noninteractive")).map(drop)
}

/// Runs dpkg on the folder. The package's dependencies are in the system and not below the folder.
fn dpkg(folder: &Path, action: &str, what: &Path) -> Result<()> {
    let mut dpkg = Command::new("dpkg");
    dpkg.arg("--root").arg(folder).arg("--log").arg(folder.join("log"));
    dpkg.args(["--force-not-root", "--force-bad-path", "--force-depends", action]).arg(what);
    shell::output(&mut dpkg).map(drop)
}
