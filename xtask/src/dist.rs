//! `cargo xtask dist`: what others install: a Debian package with manual pages and completions, an archive, and the folder
//! that a container is made of. `check` is CI's: it installs, runs and removes the package.
//!
//! The binary is linked with the C library of this machine, so that names are looked up as everything else here does; all
//! else is in it. Built on Debian 12 it runs on whatever has that glibc or a newer one, and it is refused where it asks for more.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, root, shell};

/// The C library of Debian 12: major and minor number.
const GLIBC_MAX: (u32, u32) = (2, 36);

/// What packages are made with.
const TOOLS: [&str; 6] = ["dpkg", "dpkg-deb", "objdump", "strip", "gzip", "tar"];

const PACKAGE: &str = "wringer";

/// Where the shells of Debian look for completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/wringer"),
    ("zsh", "usr/share/zsh/vendor-completions/_wringer"),
    ("fish", "usr/share/fish/vendor_completions.d/wringer.fish"),
];

const MANUAL: &str = "usr/share/man/man1";
const DOCS: &str = "usr/share/doc/wringer";

/// `cargo xtask dist`: all of it, from the slow and fast build.
pub fn run() -> Result<()> {
    let binary = build(&["--package", PACKAGE, "--profile", "dist"], "dist")?;
    let made = package(&binary, &target().join("packages"))?;
    for file in [&made.deb, &made.archive, &made.container] {
        println!("dist: {}", file.display());
    }
    Ok(())
}

/// The package of the build that is there for tests: installed, run and removed, where that may be done.
pub fn check() -> Result<()> {
    if let Some(tool) = TOOLS.iter().find(|tool| shell::find(tool).is_none()) {
        println!("package: skipped, because {tool} is not installed");
        return Ok(());
    }
    // As the step before has built it.
    let binary = build(&["--workspace"], "debug")?;
    let folder = tempfile::tempdir().map_err(|error| format!("no folder for packages: {error}"))?;
    let made = package(&binary, folder.path())?;
    match reason_not_to_install() {
        Some(reason) => println!("package: made, and not installed, because {reason}"),
        None => install_and_remove(&made.deb)?,
    }
    Ok(())
}

/// What was made.
struct Made {
    deb: PathBuf,
    archive: PathBuf,
    container: PathBuf,
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn build(arguments: &[&str], folder: &str) -> Result<PathBuf> {
    shell::run(shell::cargo(["build"]).args(arguments))?;
    Ok(target().join(folder).join(PACKAGE))
}

fn package(binary: &Path, folder: &Path) -> Result<Made> {
    let stage = folder.join("stage");
    if stage.exists() {
        fs::remove_dir_all(&stage).map_err(|error| cannot("removed", &stage, &error))?;
    }
    let version = version(binary)?;
    fill(&stage, binary)?;
    let container = folder.join("container");
    put(&container.join("Containerfile"), &read(&root().join("packaging/Containerfile"))?, 0o644)?;
    put(&container.join(PACKAGE), &read(binary)?, 0o755)?;
    let archive = folder.join(format!("{PACKAGE}-{version}-{}-linux.tar.gz", std::env::consts::ARCH));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    shell::run(tar.arg("--file").arg(&archive).arg("--directory").arg(&stage).arg("usr"))?;
    let deb = debian(&stage, folder, &version)?;
    Ok(Made { deb, archive, container })
}

/// What a binary calls its version.
fn version(binary: &Path) -> Result<String> {
    let said = shell::output(Command::new(binary).arg("--version"))?;
    let version = said.split_whitespace().nth(1);
    version.map(ToOwned::to_owned).ok_or_else(|| format!("{} tells no version: {said}", binary.display()))
}

/// All files of the package, in their places.
fn fill(stage: &Path, binary: &Path) -> Result<()> {
    let installed = stage.join("usr/bin").join(PACKAGE);
    put(&installed, &read(binary)?, 0o755)?;
    // Of the build for tests it is most of the file, and packing it would take minutes.
    shell::run(Command::new("strip").arg("--strip-debug").arg(&installed))?;
    for (shell_name, file) in COMPLETIONS {
        let script = shell::output(Command::new(binary).args(["completions", shell_name]))?;
        put(&stage.join(file), script.as_bytes(), 0o644)?;
    }
    let manual = stage.join(MANUAL);
    fs::create_dir_all(&manual).map_err(|error| cannot("made", &manual, &error))?;
    shell::run(Command::new(binary).arg("man-pages").arg(&manual))?;
    for page in files(&manual)? {
        compress(&page)?;
    }
    for (file, name) in [("NOTICE", "copyright"), ("LICENSE", "LICENSE"), ("CHANGELOG.md", "changelog")] {
        put(&stage.join(DOCS).join(name), &read(&root().join(file))?, 0o644)?;
    }
    compress(&stage.join(DOCS).join("changelog"))
}

fn debian(stage: &Path, folder: &Path, version: &str) -> Result<PathBuf> {
    let architecture = shell::output(Command::new("dpkg").arg("--print-architecture"))?;
    let architecture = architecture.trim();
    let binary = stage.join("usr/bin").join(PACKAGE);
    let symbols = shell::output(Command::new("objdump").arg("--dynamic-syms").arg(&binary))?;
    let glibc = newest_glibc(&symbols).ok_or("the binary asks for no glibc at all: was it linked?")?;
    if glibc > GLIBC_MAX {
        let (major, minor) = glibc;
        return Err(format!(
            "the binary needs glibc {major}.{minor}, newer than Debian 12's: build it there"
        ));
    }
    put(&stage.join("DEBIAN/control"), control(version, architecture, glibc).as_bytes(), 0o644)?;
    let deb = folder.join(format!("{PACKAGE}_{version}_{architecture}.deb"));
    let mut build = Command::new("dpkg-deb");
    shell::run(build.args(["--root-owner-group", "-Zgzip", "--build"]).arg(stage).arg(&deb))?;
    fs::remove_dir_all(stage).map_err(|error| cannot("removed", stage, &error))?;
    Ok(deb)
}

fn control(version: &str, architecture: &str, (major, minor): (u32, u32)) -> String {
    format!(
        "Package: {PACKAGE}\n\
         Version: {version}\n\
         Architecture: {architecture}\n\
         Maintainer: the maintainers of wringer <maintainers@wringer.invalid>\n\
         Section: web\n\
         Priority: optional\n\
         Depends: libc6 (>= {major}.{minor}), libgcc-s1\n\
         Description: load tester for proxies, caches and servers\n \
         It is the clients and, where wanted, the origin too, checks every answer, and\n \
         understands the command lines of ab, wrk, siege, http_load and jtest.\n"
    )
}

/// The newest version of glibc among the symbols of `objdump --dynamic-syms`.
fn newest_glibc(symbols: &str) -> Option<(u32, u32)> {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let text = rest.split(|c: char| !(c.is_ascii_digit() || c == '.')).next()?;
        let mut numbers = text.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    versions.max()
}

/// Why the package cannot be installed here without changing more than it may.
fn reason_not_to_install() -> Option<&'static str> {
    if !nix::unistd::geteuid().is_root() {
        return Some("that takes root");
    }
    if shell::find("apt-get").is_none() {
        return Some("this is no Debian");
    }
    let status = shell::output(Command::new("dpkg-query").args(["--show", PACKAGE]));
    (status.is_ok() || Path::new("/usr/bin").join(PACKAGE).exists())
        .then_some("one is installed here already, which would be lost")
}

/// Installs the package, tries it, and removes it, whatever came of the trial.
fn install_and_remove(deb: &Path) -> Result<()> {
    apt(&["install", "--no-install-recommends"], deb.as_os_str())?;
    let tried = try_installed();
    apt(&["purge"], PACKAGE.as_ref())?;
    tried?;
    let mut left = COMPLETIONS.map(|(_, file)| file).to_vec();
    left.extend(["usr/bin/wringer", DOCS, "usr/share/man/man1/wringer.1.gz"]);
    left.retain(|file| Path::new("/").join(file).exists());
    match left.as_slice() {
        [] => Ok(()),
        left => Err(format!("after the removal there is still {}", left.join(", "))),
    }
}

fn try_installed() -> Result<()> {
    let binary = Path::new("/usr/bin").join(PACKAGE);
    println!("package: {} {}", PACKAGE, version(&binary)?);
    for file in COMPLETIONS.map(|(_, file)| file).iter().chain(&["usr/share/man/man1/wringer-cache.1.gz"]) {
        let file = Path::new("/").join(file);
        if !file.exists() {
            return Err(format!("{} was not installed", file.display()));
        }
    }
    shell::output(Command::new(&binary).args(["cache", "--users", "2", "-d", "1s"])).map(drop)
}

fn apt(words: &[&str], what: &std::ffi::OsStr) -> Result<()> {
    let mut apt = Command::new("apt-get");
    // Somebody else may be installing; a package of this name is nowhere else to be had.
    apt.args(["--quiet=2", "--assume-yes", "--option=DPkg::Lock::Timeout=300"]).args(words).arg(what);
    shell::output(apt.env("DEBIAN_FRONTEND", "noninteractive")).map(drop)
}

/// Packs a file, the same each time.
fn compress(file: &Path) -> Result<()> {
    shell::run(Command::new("gzip").args(["--best", "--no-name", "--force"]).arg(file))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| cannot("read", folder, &error))?;
    entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(|error| cannot("read", folder, &error)))
        .collect()
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).map_err(|error| cannot("read", file, &error))
}

/// Writes a file with these rights, and makes its folders.
fn put(file: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).map_err(|error| cannot("made", folder, &error))?;
    fs::write(file, bytes).map_err(|error| cannot("written", file, &error))?;
    fs::set_permissions(file, fs::Permissions::from_mode(mode))
        .map_err(|error| cannot("changed", file, &error))
}

fn cannot(done: &str, file: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be {done}: {error}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_is_found() {
        let symbols =
            "0000 DF *UND* 0000 (GLIBC_2.2.5) read\n0000 DF *UND* 0000 (GLIBC_2.34) open\n(GLIBC_2.4) x";
        assert_eq!(newest_glibc(symbols), Some((2, 34)));
        assert_eq!(newest_glibc("no symbols"), None);
    }

    #[test]
    fn the_control_file_names_what_is_needed() {
        let text = control("0.1.0", "amd64", (2, 34));
        assert!(text.contains("\nDepends: libc6 (>= 2.34), libgcc-s1\n"), "{text}");
        assert!(text.ends_with("jtest.\n") && !text.contains("\n\n"), "{text}");
    }
}
