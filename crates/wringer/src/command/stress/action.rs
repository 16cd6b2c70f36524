//! Actions to the target itself while something presses: fewer descriptors, reloads, and a full disk.

use super::watch::Watch;
use crate::command::pressed::Pressed;
use decide::stress::TargetAction;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it is looked whether it is over.
const LOOK: Duration = Duration::from_millis(50);

/// Does it until it is over, and undoes what can be undone.
///
/// # Errors
/// The reason why it could not be done: then nothing was learnt about the target.
pub fn run(
    action: Option<TargetAction>,
    pressed: &Pressed,
    watch: &Watch,
    over: &AtomicBool,
) -> Result<(), String> {
    match action {
        None => Ok(()),
        Some(TargetAction::FewDescriptors(spare)) => {
            let limited: Vec<Limited> =
                watch.pids().into_iter().filter_map(|pid| Limited::new(pid, spare)).collect();
            if limited.is_empty() {
                return Err(
                    "no process of the target could be given fewer descriptors: run as its user, or as root"
                        .to_owned(),
                );
            }
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(LOOK);
            }
            drop(limited);
            Ok(())
        }
        Some(TargetAction::FillDisk(_)) => {
            let store = pressed.store().ok_or("the target keeps no files whose disk could be filled")?;
            let mut filler = Filler::new(&store)
                .map_err(|error| format!("the disk of the target's cache could not be filled: {error}"))?;
            while !over.load(Ordering::Relaxed) {
                // What the target has taken away is filled again.
                filler.fill().map_err(|error| format!("the disk could not be kept full: {error}"))?;
                std::thread::sleep(LOOK);
            }
            Ok(())
        }
        Some(TargetAction::Reload(each)) => {
            let mut last = Instant::now();
            let mut are_sent = true;
            while !over.load(Ordering::Relaxed) {
                if last.elapsed() >= each {
                    are_sent &= pressed.reload();
                    last = Instant::now();
                }
                std::thread::sleep(LOOK);
            }
            if are_sent {
                Ok(())
            } else {
                Err("the signal to reload could not be sent to the target".to_owned())
            }
        }
    }
}

/// A file that takes all the room of a disk, until it is dropped.
struct Filler {
    file: File,
    path: PathBuf,
}

impl Filler {
    /// Fills it.
    fn new(folder: &Path) -> io::Result<Filler> {
        let path = folder.join("wringer-fills-this-disk");
        let mut filler = Filler { file: File::create(&path)?, path };
        filler.fill()?;
        Ok(filler)
    }

    /// Writes until there is no room left.
    fn fill(&mut self) -> io::Result<()> {
        let piece = [0; 1 << 16];
        loop {
            match self.file.write(&piece) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        // A disk that is gone needs no room.
        let _ = fs::remove_file(&self.path);
    }
}

/// A process with fewer descriptors, which gets its limit back when this is dropped.
struct Limited {
    pid: Pid,
    before: Rlimit,
}

impl Limited {
    /// Changes the limit; `None`: the process has ended, or is another user's.
    fn new(pid: u32, spare: u64) -> Option<Limited> {
        let held = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as u64;
        let maximum = hard_limit(&fs::read_to_string(format!("/proc/{pid}/limits")).ok()?);
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        let wanted = Rlimit { current: Some(held + spare), maximum };
        let before = prlimit(Some(pid), Resource::Nofile, wanted).ok()?;
        Some(Limited { pid, before })
    }
}

/// The limit of descriptors beyond which none can be set; `None`: there is none.
fn hard_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

impl Drop for Limited {
    fn drop(&mut self) {
        // A process that has ended needs no limit.
        let _ = prlimit(Some(self.pid), Resource::Nofile, self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_disk_is_full_until_the_filler_is_dropped() {
        if !proxies::rig::disk::can_be_mounted() {
            eprintln!("skipped: no disk can be mounted here");
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let store = folder.path().join("cache");
        fs::create_dir(&store).expect("it is ours");
        proxies::rig::disk::mount(&store, 1 << 20, None).expect("it can be");
        fs::write(store.join("kept"), [0; 5_000]).expect("there is room");
        let mut filler = Filler::new(&store).expect("it is ours");
        assert!(fs::write(store.join("more"), [0; 5_000]).is_err());
        fs::remove_file(store.join("kept")).expect("it is ours");
        filler.fill().expect("it is ours");
        assert!(fs::write(store.join("more"), [0; 5_000]).is_err(), "what was freed is filled");
        drop(filler);
        let room = fs::write(store.join("more"), [0; 5_000]);
        proxies::rig::disk::unmount_below(folder.path());
        assert!(room.is_ok(), "{room:?}");
    }

    #[test]
    fn a_process_has_few_descriptors_for_a_while() {
        let mut child = Command::new("sleep").arg("600").spawn().expect("sleep is everywhere");
        let soft = || {
            let limits = fs::read_to_string(format!("/proc/{}/limits", child.id())).expect("it lives");
            let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("a limit");
            line.split_whitespace().nth(3).expect("a figure").to_owned()
        };
        let before = soft();
        let limited = Limited::new(child.id(), 40).expect("it is ours");
        let meanwhile: u64 = soft().parse().expect("a number");
        drop(limited);
        let after = soft();
        child.kill().and_then(|()| child.wait()).expect("it is ours");
        assert!((41..60).contains(&meanwhile) && before == after, "{before} {meanwhile} {after}");
    }
}
