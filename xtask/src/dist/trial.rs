//! Packages are installed, run and removed: that of Debian in the system where that may be done, otherwise below a folder; the others
//! below a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Made, PACKAGE, first_minutes, layout, texts, version};
use crate::{Result, shell};

/// Some of the files that the package brings.
const BROUGHT: [&str; 7] = [
    layout::BINARY,
    layout::COMPLETIONS[0].1,
    layout::COMPLETIONS[1].1,
    layout::COMPLETIONS[2].1,
    "usr/share/man/man1/wringer-cache.1.gz",
    "usr/share/man/man1/wringer-ab.1.gz",
    "usr/share/doc/wringer/third-party-licences.gz",
];

/// Where a package is installed.
enum Place {
    /// As anybody would.
    System,
    /// Below a folder with a database of its own.
    Below(PathBuf),
}

/// Tries all that was made. `folder`: where it lies, which may be filled.
pub fn run(made: &Made, folder: &Path) -> Result<()> {
    shell::output(Command::new("sha256sum").args(["--check", "--strict", texts::SUMS]).current_dir(folder))?;
    debian(&made.deb, folder)?;
    if let Some(rpm) = &made.rpm {
        redhat(rpm, &folder.join("redhat"))?;
    }
    python(&made.wheel, &folder.join("python"))?;
    first_minutes::run(&made.archive, &folder.join("empty"))
}

/// Installs the RPM package below a folder, tries it, and removes it. Anybody but root sees only what is in it.
fn redhat(rpm: &Path, folder: &Path) -> Result<()> {
    let listed = shell::output(Command::new("rpm").args(["--query", "--list", "--package"]).arg(rpm))?;
    let is_listed = |file: &&str| listed.lines().any(|line| line.strip_prefix('/') == Some(*file));
    // Such systems have another place for zsh.
    let wanted = BROUGHT.iter().copied().filter(|file| *file != layout::ZSH);
    if let Some(file) = wanted.into_iter().find(|file| !is_listed(file)) {
        return Err(format!("package: {file} is not in the RPM package"));
    }
    if !nix::unistd::geteuid().is_root() {
        println!("package: the RPM package was not installed, because that takes root");
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
    let rpm_below = |words: &[&str], what: &Path| {
        let mut command = Command::new("rpm");
        command.arg("--root").arg(folder).args(words).arg(what);
        shell::output(&mut command).map(drop)
    };
    // Its dependencies are in the system and not below the folder.
    rpm_below(&["--install", "--nodeps"], rpm)?;
    let binary = folder.join(layout::BINARY);
    let tried = version(&binary).map(|version| println!("package: {PACKAGE} {version} from the RPM package"));
    rpm_below(&["--erase"], Path::new(PACKAGE))?;
    tried?;
    match binary.exists() {
        true => Err("package: after the removal of the RPM package its binary is still there".to_owned()),
        false => Ok(()),
    }
}

/// Installs the wheel below a folder and tries it.
fn python(wheel: &Path, folder: &Path) -> Result<()> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--version"]);
    if shell::find("python3").is_none() || shell::output(&mut pip).is_err() {
        println!("package: the wheel was not installed, because pip is not installed");
        return Ok(());
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]);
    shell::output(pip.arg("--root-user-action=ignore").arg("--target").arg(folder).arg(wheel))?;
    println!("package: {PACKAGE} {} from the wheel", version(&folder.join("bin").join(PACKAGE))?);
    Ok(())
}

/// Installs the package, tries it, and removes it, whatever came of the trial.
fn debian(deb: &Path, folder: &Path) -> Result<()> {
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
