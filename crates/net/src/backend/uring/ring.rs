//! The pair of queues shared with the kernel: set up, fed, waited at.
//!
//! It must not know what the entries mean. What they point to must outlive them: [`Ring::push`] says for how long.

use std::fmt;
use std::io;
use std::time::Duration;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, squeue};
use rustix::io::Errno;

/// Entries that may be queued for submission; a full queue is submitted.
const SUBMISSIONS: u32 = 256;

/// Completions that the kernel keeps in the shared queue, at least; what is beyond waits in the kernel.
const COMPLETIONS_MIN: u32 = 64;

/// The queue has room for so many times the events of a turn. The kernel sizes the table in which it looks for what is to be
/// cancelled by it, and with tens of thousands of connections a small table costs tens of microseconds per close.
const ROOM: usize = 8;

/// Tries of a submission when the kernel has no memory for it.
const TRIES: u32 = 1000;

/// `IORING_ENTER_GETEVENTS`: also run what completions are due.
const GET_EVENTS: u32 = 1;

pub(super) struct Ring(IoUring);

impl Ring {
    /// A ring for this thread alone.
    pub(super) fn new(events: usize) -> Result<Self, Unavailable> {
        let completions = ((events * ROOM).min(1 << 15) as u32).next_power_of_two().max(COMPLETIONS_MIN);
        let ring = IoUring::builder()
            // An entry that fails must not hold up those behind it.
            .setup_submit_all()
            .setup_single_issuer()
            // Completions are made while this thread waits, and at no other time: no interrupts, warm caches.
            .setup_defer_taskrun()
            .setup_cqsize(completions)
            .build(SUBMISSIONS.min(completions))
            .map_err(Unavailable::Refused)?;
        let params = ring.params();
        let features = [
            (params.is_feature_nodrop(), "completions that are not dropped"),
            (params.is_feature_submit_stable(), "stable submissions"),
            (params.is_feature_ext_arg(), "a timeout of the wait"),
            (params.is_feature_skip_cqe_on_success(), "skipping successes"),
        ];
        match features.iter().find(|(present, _)| !present) {
            Some((_, name)) => Err(Unavailable::Lacks(name)),
            None => Ok(Self(ring)),
        }
    }

    /// Queues an entry. A full queue is submitted first.
    ///
    /// # Errors
    ///
    /// The kernel does not take what is queued.
    ///
    /// # Safety
    ///
    /// Memory that the entry points to must stay valid until its operation has ended or, where the kernel reads it while it takes
    /// the entry, until the next call of [`submit`](Self::submit) or [`wait`](Self::wait) that succeeds.
    #[expect(unsafe_code, reason = "an entry holds addresses; the duty is passed on to the caller")]
    pub(super) unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the caller's duty is that of `SubmissionQueue::push`.
        while unsafe { self.0.submission().push(entry) }.is_err() {
            self.submit()?;
        }
        Ok(())
    }

    /// Hands over what is queued, without waiting and without completing anything.
    pub(super) fn submit(&mut self) -> io::Result<()> {
        for _ in 0..TRIES {
            if self.0.submission().is_empty() {
                return Ok(());
            }
            tolerate(self.0.submit().map(drop))?;
        }
        Err(Errno::AGAIN.into())
    }

    /// Hands over what is queued and waits until something completed, or as long as said.
    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let ended = match timeout {
            None => self.0.submit_and_wait(1).map(drop),
            Some(Duration::ZERO) => self.look(),
            Some(timeout) => {
                let timeout = Timespec::from(timeout);
                let within = SubmitArgs::new().timespec(&timeout);
                self.0.submitter().submit_with_args(1, &within).map(drop)
            }
        };
        tolerate(ended)?;
        self.submit()
    }

    /// Takes over all that completed; says whether the kernel had to keep some of it back for want of room.
    pub(super) fn collect(&mut self, completions: &mut Vec<cqueue::Entry>) -> io::Result<bool> {
        completions.extend(self.0.completion());
        let overflowed = self.0.submission().cq_overflow();
        while self.0.submission().cq_overflow() {
            tolerate(self.look())?;
            completions.extend(self.0.completion());
        }
        Ok(overflowed)
    }

    /// Hands over what is queued, and completes what can be completed now.
    #[expect(unsafe_code, reason = "io-uring offers no safe call that completes without waiting")]
    pub(super) fn look(&mut self) -> io::Result<()> {
        let queued = self.0.submission().len() as u32;
        // SAFETY: no argument is passed by address.
        unsafe { self.0.submitter().enter::<()>(queued, 0, GET_EVENTS, None) }.map(drop)
    }

    pub(super) fn inner(&self) -> &IoUring {
        &self.0
    }
}

/// A signal, a timeout and a shortage that passes are no errors: the caller looks again.
fn tolerate(ended: io::Result<()>) -> io::Result<()> {
    match ended {
        Err(error)
            if matches!(
                Errno::from_io_error(&error),
                Some(Errno::INTR | Errno::TIME | Errno::AGAIN | Errno::BUSY)
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}

/// Why io_uring cannot be used here.
#[derive(Debug)]
pub(crate) enum Unavailable {
    Refused(io::Error),
    Lacks(&'static str),
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Refused(error) = self else {
            let Self::Lacks(feature) = self else { return Ok(()) };
            return write!(f, "this kernel's io_uring lacks {feature}; Linux 6.1 or newer has it");
        };
        match Errno::from_io_error(error) {
            Some(Errno::NOSYS) => f.write_str("this kernel has no io_uring"),
            Some(Errno::PERM | Errno::ACCESS) => f.write_str(
                "io_uring is forbidden here, by a container's seccomp profile or by sysctl kernel.io_uring_disabled",
            ),
            Some(Errno::INVAL) => f.write_str("this kernel's io_uring is too old; Linux 6.1 or newer will do"),
            _ => write!(f, "io_uring cannot be set up: {error}"),
        }
    }
}

impl From<Unavailable> for io::Error {
    fn from(reason: Unavailable) -> Self {
        let kind = match &reason {
            Unavailable::Refused(error) => error.kind(),
            Unavailable::Lacks(_) => io::ErrorKind::Unsupported,
        };
        Self::new(kind, reason.to_string())
    }
}
