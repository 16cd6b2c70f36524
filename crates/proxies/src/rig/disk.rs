//! A disk of a rig's own: a file system of limited size in memory, over the folder in which the proxy keeps its cache. It can be filled without
//! harm to anybody else, and goes with the rig: its guard takes it down, so that none is left behind by a run that was killed.
//!
//! Mounting is for root alone, and is left to the system's own command.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Who owns the root of such a disk: user and group.
pub type Owner = (u32, u32);

/// Puts a disk of so many bytes over a folder.
///
/// # Errors
/// It may not be done, or the command is not there.
pub fn mount(folder: &Path, bytes: u64, owner: Option<Owner>) -> io::Result<()> {
    let owner = owner.map_or_else(String::new, |(user, group)| format!(",uid={user},gid={group}"));
    let options = format!("size={bytes},mode=0755{owner}");
    let said = Command::new("mount")
        .args(["-t", "tmpfs", "-o", &options, "wringer-rig"])
        .arg(folder)
        .stdin(Stdio::null())
        .output()?;
    match said.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&said.stderr).trim().to_owned())),
    }
}

/// Takes down all disks below a folder.
pub fn unmount_below(folder: &Path) {
    // Without the list of mounts there is no way to know of any.
    let Ok(mounts) = fs::read_to_string("/proc/self/mounts") else { return };
    for at in mounted_below(&mounts, folder) {
        // Lazily: a process that is still ending may have a file open there.
        let _ = Command::new("umount").arg("-l").arg(at).stdin(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// Mount points below a folder, from a list of all of them.
fn mounted_below(mounts: &str, folder: &Path) -> Vec<PathBuf> {
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(1)).map(PathBuf::from);
    points.filter(|point| point.starts_with(folder) && point != folder).collect()
}

/// True if a disk can be mounted by this process, which is tried.
pub fn can_be_mounted() -> bool {
    let Ok(folder) = tempfile::tempdir() else { return false };
    let mounted = mount(folder.path(), 1 << 16, None).is_ok();
    if mounted {
        let _ = Command::new("umount").arg(folder.path()).status();
    }
    mounted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_below_the_folder_is_taken_down() {
        let mounts = "proc /proc proc rw 0 0\nwringer-rig /tmp/rig-a/cache tmpfs rw 0 0\nx /tmp/rig-ab/cache tmpfs rw 0 0\nx /tmp/rig-a tmpfs rw 0 0\n";
        assert_eq!(mounted_below(mounts, Path::new("/tmp/rig-a")), [PathBuf::from("/tmp/rig-a/cache")]);
        assert!(mounted_below("", Path::new("/tmp")).is_empty());
    }

    #[test]
    fn a_disk_is_full_where_it_says_so_and_is_gone_afterwards() {
        if !can_be_mounted() {
            eprintln!("skipped: no disk can be mounted here");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("cache");
        fs::create_dir(&store).unwrap();
        mount(&store, 1 << 20, None).unwrap();
        assert!(fs::write(store.join("half"), vec![0; 1 << 19]).is_ok());
        let full = fs::write(store.join("more"), vec![0; 1 << 20]).unwrap_err();
        assert_eq!(full.raw_os_error(), Some(28), "{full}");
        unmount_below(folder.path());
        assert_eq!(fs::read_dir(&store).unwrap().count(), 0);
    }
}
