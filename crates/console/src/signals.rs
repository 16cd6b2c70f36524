//! Ctrl-C, termination and a terminal that goes away: the first one ends the run, which still gives its whole report; the second one ends the
//! process at once.

use crate::problem::{Exit, Problem};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Signals that follow the first one so soon are the same wish: some senders, such as timeout(1), signal the process and its group. Nobody
/// presses two keys within that time.
const SAME_WISH: Duration = Duration::from_millis(40);

/// The first signal that came; 0 while there was none. Signals are the process's own.
static FIRST: AtomicI32 = AtomicI32::new(0);

/// The number of the first signal that came.
pub fn first() -> Option<i32> {
    Some(FIRST.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// Who looks after signals, once somebody does: they are the process's own, however many runs it has.
static WATCHED: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);

/// The flag that the first signal sets.
///
/// # Errors
/// The system refuses handlers, or a thread.
pub fn interrupted() -> Result<Arc<AtomicBool>, Problem> {
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let flag = watched.clone().map_or_else(watch, Ok)?;
    Ok(watched.insert(flag).clone())
}

fn watch() -> Result<Arc<AtomicBool>, Problem> {
    let refused = |error: std::io::Error| Problem::impossible(format!("signals cannot be handled: {error}"));
    let flag = Arc::new(AtomicBool::new(false));
    let ends =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| *signal != SIGHUP || !is_ignored(SIGHUP));
    let mut signals = Signals::new(ends).map_err(refused)?;
    let set = flag.clone();
    let watch = move || {
        let mut first = None;
        for signal in signals.forever() {
            // Only the first is kept.
            let _ = FIRST.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
            set.store(true, Ordering::Relaxed);
            if first.get_or_insert_with(Instant::now).elapsed() > SAME_WISH {
                crate::tui::restore();
                // What runs for us notices that we are gone: guards and helpers watch a pipe.
                std::process::exit(Exit::of_signal(signal).number().into());
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(watch).map_err(refused)?;
    Ok(flag)
}

/// True if who started us wants a signal to be ignored, as nohup does with that of a terminal that goes away.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0);
    ignored >> (signal - 1) & 1 == 1
}
