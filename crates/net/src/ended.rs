//! How a process ended that is not our child, asked of its pidfd. It stands here because the kernel takes this question by
//! an ioctl alone, and no other crate may have unsafe code.

use rustix::fd::BorrowedFd;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// `struct pidfd_info` of linux/pidfd.h, as of its first version (64 bytes).
#[repr(C)]
struct PidfdInfo {
    mask: u64,
    cgroup: u64,
    /// Numbers of process, group, parent and users.
    numbers: [u32; 11],
    exit_code: i32,
}

/// `PIDFD_INFO_EXIT`: the field `exit_code` is asked for, and is there.
const EXIT: u64 = 1 << 3;
/// `PIDFD_GET_INFO`: number 11 of the ioctls of pidfds.
const GET_INFO: Opcode = opcode::read_write::<PidfdInfo>(0xFF, 11);

/// The status that an ended process left. `None`: it lives, or nobody has taken its status yet, or the kernel does not tell
/// (Linux before 6.15).
pub fn exit_status(pidfd: BorrowedFd<'_>) -> Option<ExitStatus> {
    let mut info = PidfdInfo { mask: EXIT, cgroup: 0, numbers: [0; 11], exit_code: 0 };
    // SAFETY: the opcode names a structure of this size, which the kernel fills in; `info` outlives the call.
    #[expect(unsafe_code, reason = "no library asks this")]
    unsafe { ioctl(pidfd, Updater::<GET_INFO, PidfdInfo>::new(&mut info)) }.ok()?;
    (info.mask & EXIT != 0).then(|| ExitStatus::from_raw(info.exit_code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fd::AsFd;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    use std::process::Command;

    #[test]
    fn who_holds_a_pidfd_is_told_how_its_process_ended() {
        for (words, code, signal) in [("exit 7", Some(7), None), ("kill -SEGV $$", None, Some(11))] {
            let mut child = Command::new("sh").args(["-c", words]).spawn().unwrap();
            let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).unwrap();
            poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None).unwrap();
            assert_eq!(exit_status(pidfd.as_fd()), None, "nobody has taken its status");
            child.wait().unwrap();
            // Linux before 6.15 tells nothing.
            if let Some(status) = exit_status(pidfd.as_fd()) {
                assert_eq!((status.code(), status.signal()), (code, signal), "{words}");
            }
        }
    }
}
