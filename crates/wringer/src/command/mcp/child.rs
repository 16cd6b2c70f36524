//! Processes of calls: each is this program with a command line of its own.

use super::super::around;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::HashMap;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes of an output that are kept, at most.
const MOST: u64 = 32 << 20;
/// Time that a process has to end by itself once it was told to.
const GRACE: Duration = Duration::from_secs(5);

/// Outcome of a call's process.
pub struct Ran {
    /// Its exit code; `None`: a signal ended it.
    pub exit: Option<i32>,
    /// All of its standard output, up to a limit.
    pub out: String,
    /// All of its standard error, up to the same.
    pub said: String,
}

/// Processes under way, by the number of their call.
#[derive(Default)]
pub struct Children(Mutex<HashMap<String, Running>>);

struct Running {
    pid: u32,
    cancelled: bool,
}

impl Children {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the process of a call.
    ///
    /// # Errors
    /// A sentence: so many are under way, one bears the same number, or it cannot be started.
    pub fn begin(&self, id: &Value, words: &[String], most: usize) -> Result<Child, String> {
        let mut all = self.all();
        if all.len() >= most {
            return Err(format!("{most} calls are under way: wait for one, or cancel it"));
        }
        if all.contains_key(&id.to_string()) {
            return Err(format!("a call with the id {id} is under way"));
        }
        let failed = |error: std::io::Error| format!("the process of the call did not start: {error}");
        let program = around::own_program().map_err(failed)?;
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(failed)?;
        all.insert(id.to_string(), Running { pid: child.id(), cancelled: false });
        Ok(child)
    }

    /// Waits for its end; `None`: it was cancelled.
    pub fn follow(&self, id: &Value, mut child: Child) -> Option<Ran> {
        let out = child.stdout.take().expect("it was piped");
        let said = child.stderr.take().expect("it was piped");
        let said = thread::spawn(move || text(said));
        let out = text(out);
        let said = said.join().unwrap_or_else(|_| "its words are lost".to_owned());
        // It is not waited for before it is off the list, so its number is no other's while it can be told to end.
        let running = self.all().remove(&id.to_string());
        let status = child.wait().ok();
        let cancelled = running.is_none_or(|running| running.cancelled);
        (!cancelled).then(|| Ran { exit: status.and_then(|status| status.code()), out, said })
    }

    /// Ends the process of a call, where it is under way.
    pub fn cancel(&self, id: &Value) {
        if let Some(running) = self.all().get_mut(&id.to_string()) {
            running.cancelled = true;
            signal(running.pid, Signal::TERM);
        }
    }

    /// Ends all, and waits until they are gone.
    pub fn end_all(&self) {
        let tell = |how: Signal| {
            self.all().values_mut().for_each(|running| {
                running.cancelled = true;
                signal(running.pid, how);
            });
        };
        tell(Signal::TERM);
        for _ in 0..GRACE.as_millis() / 20 {
            if self.all().is_empty() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        tell(Signal::KILL);
    }
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// All that comes, as text; what goes beyond the limit is read and forgotten, so that nobody waits to write it.
fn text(mut from: impl Read) -> String {
    let mut kept = Vec::new();
    let _ = from.by_ref().take(MOST).read_to_end(&mut kept);
    let _ = std::io::copy(&mut from, &mut std::io::sink());
    String::from_utf8_lossy(&kept).into_owned()
}
