//! The page: built from `web/` into the one file that the binary embeds, and tried in a browser.
//!
//! The built page is committed, so that `cargo build` needs no Node. A digest of its sources stands beside it; where the two differ,
//! the page is out of date, which CI sees with and without Node.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::{Result, root, shell};

/// The page as the binary embeds it, and the digest of what it was built from.
const PAGE: &str = "crates/report/src/page/page.html.gz";
const SOURCES: &str = "crates/report/src/page/page.sources";
/// Files that the page is built from, beside `web/src`.
const FILES: [&str; 5] =
    ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"];
/// The page may not grow beyond this, in bytes: as it is, and packed.
const MOST: (usize, usize) = (240_000, 88_000);
const NO_NODE: &str =
    "node and npm are not here (on Debian: apt-get install nodejs npm; version 20 or newer)";

/// `cargo xtask web [--check|--test|--bench]`.
pub fn run(arguments: &[String]) -> Result<()> {
    match arguments {
        [] => build(),
        [only] if only == "--check" => check(),
        [only] if only == "--test" => test(),
        [only] if only == "--bench" => bench(),
        _ => Err("web takes nothing but --check, --test or --bench".into()),
    }
}

fn build() -> Result<()> {
    let page = built()?;
    let packed = packed(page.as_bytes())?;
    if page.len() > MOST.0 || packed.len() > MOST.1 {
        return Err(format!(
            "the page takes {} bytes, {} packed: at most {} and {}",
            page.len(),
            packed.len(),
            MOST.0,
            MOST.1
        ));
    }
    write(PAGE, &packed)?;
    write(SOURCES, digest()?.as_bytes())?;
    println!("web: {PAGE}: {} bytes, {} unpacked", packed.len(), page.len());
    Ok(())
}

/// That the committed page is the one that its sources make; without Node, that nobody has changed the sources since.
pub fn check() -> Result<()> {
    let stale =
        "the page is older than its sources: build it with `cargo xtask web` and commit what that writes";
    if read(SOURCES)? != digest()? {
        return Err(stale.into());
    }
    if !has_node() {
        println!("web: not built again, because {NO_NODE}");
        return Ok(());
    }
    let committed = fs::File::open(root().join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
    let mut page = String::new();
    GzDecoder::new(committed).read_to_string(&mut page).map_err(|error| format!("{PAGE}: {error}"))?;
    if page == built()? { Ok(()) } else { Err(stale.into()) }
}

/// The page in a browser; skipped with a line where there is none.
pub fn test() -> Result<()> {
    let Some(chromium) = shell::find("chromium").filter(|_| has_node()) else {
        println!("web: not tried in a browser: that needs node, npm and chromium");
        return Ok(());
    };
    built()?;
    shell::build_with_tests()?;
    let mut command = npm(&["run", "--silent", "test"]);
    shell::run(command.env("CHROMIUM", chromium).env("WRINGER", binary()))
}

/// `cargo xtask screenshots`: pictures of the page for the docs.
pub fn screenshots() -> Result<()> {
    script(&["dev/screenshots.mjs", "../docs/src/img"])
}

/// How soon and how smoothly the page draws.
fn bench() -> Result<()> {
    script(&["dev/bench.mjs"])
}

/// Runs a script beside the page, with a browser, on the page as its sources make it.
fn script(words: &[&str]) -> Result<()> {
    let chromium = shell::find("chromium").ok_or("chromium is not here: cargo xtask setup")?;
    built()?;
    shell::run(Command::new("node").args(words).env("CHROMIUM", chromium).current_dir(folder()))
}

fn binary() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("debug/wringer")
}

/// Builds the page by its lock file and returns it.
fn built() -> Result<String> {
    if !has_node() {
        return Err(format!("the page cannot be built, because {NO_NODE}"));
    }
    if !is_installed() {
        shell::run(&mut npm(&["ci", "--silent", "--no-audit", "--no-fund"]))?;
    }
    shell::run(&mut npm(&["run", "--silent", "build"]))?;
    read("web/dist/index.html")
}

/// True if npm has installed what the lock file says: the installed packages keep a lock file of their own.
fn is_installed() -> bool {
    let time = |file: &str| fs::metadata(folder().join(file)).and_then(|data| data.modified()).ok();
    time("node_modules/.package-lock.json") > time("package-lock.json")
}

fn has_node() -> bool {
    shell::find("node").is_some() && shell::find("npm").is_some()
}

fn npm(arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(folder());
    command
}

fn folder() -> PathBuf {
    root().join("web")
}

/// Digest of all that the page is built from: names, lengths and contents, in order of their names.
fn digest() -> Result<String> {
    let mut files: Vec<PathBuf> = FILES.iter().map(|name| folder().join(name)).collect();
    below(&folder().join("src"), &mut files)?;
    files.sort();
    let mut sum = Sha256::new();
    for file in &files {
        let content = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.strip_prefix(folder()).unwrap_or(file).display();
        sum.update(format!("{name} {}\n", content.len()));
        sum.update(&content);
    }
    let hex: String = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(hex + "\n")
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if path.is_dir() {
            below(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn packed(page: &[u8]) -> Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer
        .write_all(page)
        .and_then(|()| packer.finish())
        .map_err(|error| format!("the page cannot be packed: {error}"))
}

fn read(name: &str) -> Result<String> {
    fs::read_to_string(root().join(name)).map_err(|error| format!("{name}: {error}"))
}

fn write(name: &str, bytes: &[u8]) -> Result<()> {
    fs::write(root().join(name), bytes).map_err(|error| format!("{name}: {error}"))
}
