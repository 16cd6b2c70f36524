//! `cargo xtask dist`: what others install: packages for Debian, for systems with RPM and for pip, with manual pages and completions, an
//! archive of the same files, texts for Homebrew and Nix, and the folder that a container is made of. [`check`] is CI's: packages are
//! installed, run and removed.
//!
//! Start reading at [`run`]. `layout` puts files in their places, `debian`, `rpm`, `wheel` and `texts` make packages of them, `notices`
//! gathers licences, `trial` installs, `first_minutes` begins in an empty system.

mod debian;
mod first_minutes;
mod layout;
mod notices;
mod rpm;
mod texts;
mod trial;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, bench, crates, root, shell};

const PACKAGE: &str = "wringer";

/// Packages are made with these.
const TOOLS: [&str; 6] = ["dpkg", "dpkg-deb", "objdump", "strip", "gzip", "tar"];

/// `cargo xtask dist`: all of it, from the build that is made small where no request passes through.
pub fn run() -> Result<()> {
    missing().map_or(Ok(()), |tools| Err(format!("dist: {tools} not installed")))?;
    let binary = build(&["--package", PACKAGE, "--profile", "dist"], "dist")?;
    let made = make(&binary, &bench::target_folder()?.join("packages"))?;
    for file in made.files.iter().chain([&made.sums, &made.container]) {
        println!("dist: {}", file.display());
    }
    Ok(())
}

/// `cargo xtask dist --check`: packages of the build that is there for tests, which are installed, run and removed.
pub fn check() -> Result<()> {
    if let Some(tools) = missing() {
        println!("package: skipped, because {tools} not installed");
        return Ok(());
    }
    shell::build_with_tests()?;
    let binary = bench::target_folder()?.join("debug").join(PACKAGE);
    let folder = tempfile::tempdir().map_err(|error| format!("no folder for packages: {error}"))?;
    trial::run(&make(&binary, folder.path())?, folder.path())
}

/// Files that were made.
struct Made {
    archive: PathBuf,
    deb: PathBuf,
    /// `None`: rpmbuild is not installed.
    rpm: Option<PathBuf>,
    wheel: PathBuf,
    /// All that people fetch.
    files: Vec<PathBuf>,
    /// The digests of these.
    sums: PathBuf,
    container: PathBuf,
}

fn make(binary: &Path, folder: &Path) -> Result<Made> {
    let version = version(binary)?;
    let container = folder.join("container");
    layout::container(&container, binary)?;
    let stage = folder.join("stage");
    layout::fill(&stage, binary, &notices::text(&crates::all(PACKAGE)?)?)?;
    let glibc = debian::glibc(&stage)?;
    let archive = folder.join(format!("{PACKAGE}-{version}-{}-linux.tar.gz", std::env::consts::ARCH));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    shell::run(tar.arg("--file").arg(&archive).arg("--directory").arg(&stage).arg("usr"))?;
    let deb = debian::package(&stage, folder, &version, glibc)?;
    let rpm = match shell::find(rpm::TOOL) {
        Some(_) => Some(rpm::package(&stage, folder, &version)?),
        None => {
            println!("dist: no RPM package, because {} is not installed", rpm::TOOL);
            None
        }
    };
    let wheel = wheel::package(&stage, folder, &version, glibc)?;
    let mut files = vec![archive.clone(), deb.clone(), wheel.clone()];
    files.extend(rpm.clone());
    files.extend(texts::fill(folder, &archive, &version)?);
    let sums = texts::sums(folder, &files)?;
    layout::clear(&stage)?;
    Ok(Made { archive, deb, rpm, wheel, files, sums, container })
}

fn build(arguments: &[&str], folder: &str) -> Result<PathBuf> {
    shell::run(shell::cargo(["build"]).args(arguments))?;
    Ok(bench::target_folder()?.join(folder).join(PACKAGE))
}

/// The version that a binary tells.
fn version(binary: &Path) -> Result<String> {
    let said = shell::output(Command::new(binary).arg("--version"))?;
    let version = said.split_whitespace().nth(1);
    version.map(ToOwned::to_owned).ok_or_else(|| format!("{} tells no version: {said}", binary.display()))
}

/// The tools that are not installed, `tar and gzip are`.
fn missing() -> Option<String> {
    let missing: Vec<_> = TOOLS.into_iter().filter(|tool| shell::find(tool).is_none()).collect();
    match missing.as_slice() {
        [] => None,
        [one] => Some(format!("{one} is")),
        several => Some(format!("{} are", several.join(", "))),
    }
}

/// Where the project's own file is.
fn project(file: &str) -> PathBuf {
    root().join(file)
}
