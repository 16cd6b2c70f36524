//! Where a container forbids io_uring. A filter of system calls is a thread's own, so each test brings a thread.

use std::io;
use std::thread;

use net::{Io, Limits};
use nix::libc;
use rustix::io::Errno;

/// The same on all architectures.
const IO_URING_SETUP: u32 = libc::SYS_io_uring_setup as u32;

#[test]
fn auto_falls_back_and_a_choice_by_name_says_why() {
    for (errno, reason) in [
        (
            Errno::PERM,
            "io_uring is forbidden here, by a container's seccomp profile or by sysctl kernel.io_uring_disabled",
        ),
        (Errno::NOSYS, "this kernel has no io_uring"),
        (Errno::INVAL, "this kernel's io_uring is too old; Linux 6.1 or newer will do"),
    ] {
        let alone = thread::spawn(move || {
            answer_setup_with(errno).unwrap();
            let backend = net::run(Io::Auto, Limits::default(), |net| async move { net.backend() });
            assert_eq!(backend.unwrap(), "epoll");
            let refused = net::run(Io::Uring, Limits::default(), |net| async move { net.backend() });
            assert_eq!(refused.unwrap_err().to_string(), reason);
            assert_eq!(net::probe(Io::Uring).unwrap_err().to_string(), reason);
        });
        alone.join().unwrap();
    }
}

/// From now on this thread cannot set up io_uring, as in a container.
#[expect(unsafe_code, reason = "no library of ours filters system calls")]
fn answer_setup_with(errno: Errno) -> io::Result<()> {
    let load_number = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let jump_if_equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let give = libc::BPF_RET | libc::BPF_K;
    let statement = |code: u32, k| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let refusal = libc::SECCOMP_RET_ERRNO | errno.raw_os_error() as u32;
    let filter = &mut [
        statement(load_number, 0),
        libc::sock_filter { code: jump_if_equal as u16, jt: 0, jf: 1, k: IO_URING_SETUP },
        statement(give, refusal),
        statement(give, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its filter live until the call has copied them; the other arguments are plain numbers.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) != 0
    };
    if refused { Err(io::Error::last_os_error()) } else { Ok(()) }
}
