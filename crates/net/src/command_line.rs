//! The words of this process's command line where the kernel shows them to other users of the machine.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

/// Overwrites pieces of the command line with asterisks, so that lists of processes (`ps`, `/proc/PID/cmdline`) no longer show
/// them. `places` is shown the words, a NUL behind each, and says which bytes to overwrite.
///
/// Returns how many bytes were overwritten: 0 also where the system does not say where the words are.
pub fn overwrite(places: impl FnOnce(&[u8]) -> Vec<Range<usize>>) -> usize {
    let Some(words) = words() else { return 0 };
    let read: Vec<u8> = words.iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
    let hidden = places(&read).into_iter().filter_map(|place| words.get(place)).flatten();
    hidden.map(|byte| byte.store(b'*', Ordering::Relaxed)).count()
}

/// The bytes themselves, which lie above the stack of the first thread for as long as the process runs.
#[expect(
    unsafe_code,
    reason = "only the kernel knows where the words lie; no library offers them for writing"
)]
fn words() -> Option<&'static [AtomicU8]> {
    // Fields 48 and 49 of proc(5)'s stat. The name of the program, the second, may hold blanks and brackets.
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let field = |nth: usize| fields.get(nth - 3)?.parse::<usize>().ok();
    let begin = field(48)?;
    let end = field(49)?;
    let length = end.checked_sub(begin).filter(|_| begin != 0)?;
    // SAFETY: the kernel has mapped these bytes readable and writable for the life of the process (execve(2)); a process that
    // has moved them says so in the same fields (PR_SET_MM). They are only touched as atomics here. The standard library copies
    // them (`args_os`) and never holds a reference to them.
    Some(unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(begin), length) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lists_of_processes_show_is_overwritten() {
        let shown = || std::fs::read("/proc/self/cmdline").unwrap();
        let before = shown();
        // The name of the test program: nobody needs it any more.
        let beyond = |words: &[u8]| std::iter::once(words.len()..words.len() + 1).collect();
        assert_eq!(overwrite(beyond), 0);
        let two = |words: &[u8]| {
            assert_eq!(words, before);
            std::iter::once(1..3).collect()
        };
        assert_eq!(overwrite(two), 2);
        assert_eq!(&shown()[1..3], b"**");
        assert_eq!(&shown()[3..], &before[3..]);
    }
}
