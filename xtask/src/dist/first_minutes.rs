//! The first minutes of whoever has a bare system: one command unpacks the archive, the next one gives a verdict. The system is a folder
//! with the C library and nothing else: no shell, no home, no `/proc`, no `/dev`, no environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::{PACKAGE, layout};
use crate::{Result, shell};

/// From the package to the first verdict.
const LIMIT: Duration = Duration::from_secs(60);

/// Words that the first run must say: whether its figures can be trusted, and how its target did.
const SAID: [&str; 2] = ["measurement", "target"];

/// Goes from the archive to the first verdict in an empty system below `folder`.
pub fn run(archive: &Path, folder: &Path) -> Result<()> {
    if !nix::unistd::geteuid().is_root() {
        println!("package: the first minutes were not tried, because a system of one's own takes root");
        return Ok(());
    }
    let Some([chroot, ldd]) = shell::find("chroot").zip(shell::find("ldd")).map(<[PathBuf; 2]>::from) else {
        println!("package: the first minutes were not tried, because chroot or ldd is not installed");
        return Ok(());
    };
    fs::create_dir_all(folder).map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
    let began = Instant::now();
    shell::output(
        Command::new("tar").arg("--extract").arg("--file").arg(archive).arg("--directory").arg(folder),
    )?;
    let unpacked = began.elapsed();
    for library in libraries(&ldd, &folder.join(layout::BINARY))? {
        let inside = folder.join(library.strip_prefix("/").unwrap_or(&library));
        let bytes =
            fs::read(&library).map_err(|error| format!("{} cannot be read: {error}", library.display()))?;
        layout::put(&inside, &bytes, 0o755)?;
    }
    let began = Instant::now();
    let mut command = Command::new(chroot);
    command.arg(folder).arg(Path::new("/").join(layout::BINARY)).args(["cache", "-c", "2", "-d", "1s"]);
    let said = shell::output(command.env_clear().current_dir("/"))?;
    let took = unpacked + began.elapsed();
    if let Some(missing) = SAID.iter().find(|word| !said.contains(**word)) {
        return Err(format!(
            "package: the first run in an empty system says nothing of its {missing}:\n{said}"
        ));
    }
    if took > LIMIT {
        return Err(format!(
            "package: the first verdict in an empty system took {took:.0?}, more than {LIMIT:?}"
        ));
    }
    println!(
        "package: {PACKAGE} in an empty system, from the archive to the first verdict in {took:.1?}, by two commands"
    );
    Ok(())
}

/// The libraries that a program is loaded with, as files of this system.
fn libraries(ldd: &Path, program: &Path) -> Result<Vec<PathBuf>> {
    let listed = shell::output(Command::new(ldd).arg(program))?;
    let words = listed.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
    Ok(words.map(PathBuf::from).collect())
}
