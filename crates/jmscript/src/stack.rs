//! How much of the thread's stack is in use: recursion ends with an error long before it would overflow, however large the
//! frames of this build are.

use std::hint::black_box;
use std::ptr;

/// Bytes of stack that reading or running one script may take. Threads have two megabytes.
const MOST: usize = 640 << 10;

/// The place on the stack where reading or running began.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    began: usize,
}

impl Stack {
    /// Measures from here.
    pub fn begin() -> Stack {
        Stack { began: here() }
    }

    /// True if too much is in use.
    pub fn is_exhausted(self) -> bool {
        self.began.abs_diff(here()) > MOST
    }
}

#[inline(never)]
fn here() -> usize {
    let marker = 0_u8;
    black_box(ptr::from_ref(&marker).addr())
}
