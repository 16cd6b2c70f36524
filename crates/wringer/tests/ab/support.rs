//! Runs `wringer ab` and the real one with a time limit, and takes their reports apart.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// No run takes longer than this, unless something hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// Says that a test was left out and why, and leaves it.
macro_rules! skip {
    ($($why:tt)*) => {{
        println!("skipped: {}", format!($($why)*));
        return;
    }};
}

/// The real ab, where it is installed.
pub fn real() -> Option<PathBuf> {
    program("ab")
}

/// Where a program is, in the usual places.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|program| program.exists())
}

/// Output of a run, its exit code and its folder.
#[derive(Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub exit: Option<i32>,
    pub folder: TempDir,
}

/// A run under way. It is killed when dropped, and at the time limit.
pub struct Running {
    child: Child,
    folder: Option<TempDir>,
    since: Instant,
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `wringer ab` with the words of a line to its end; `_` stands for a blank within a word.
pub fn ours(line: &str) -> Ran {
    start_ours(line).end()
}

pub fn start_ours(line: &str) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wringer"));
    command.arg("ab");
    Running::start(command, line)
}

/// Runs the real one.
pub fn theirs(real: &Path, line: &str) -> Ran {
    let mut command = Command::new(real);
    // Its messages begin with it.
    command.arg0("ab");
    Running::start(command, line).end()
}

impl Running {
    fn start(mut command: Command, line: &str) -> Running {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        std::fs::write(folder.path().join("body"), b"a=1&b=\xC3\xA4").expect("the folder is ours");
        let file = |name| File::create(folder.path().join(name)).expect("the folder is ours");
        let child = command
            .args(line.split_whitespace().map(|word| word.replace('_', " ")))
            .current_dir(folder.path())
            .env_remove("WRINGER_THREADS")
            .stdin(Stdio::null())
            .stdout(file("stdout"))
            .stderr(file("stderr"))
            .spawn()
            .expect("the program exists");
        Running { child, folder: Some(folder), since: Instant::now() }
    }

    pub fn interrupt(&self) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::INT).expect("it runs");
    }

    pub fn end(mut self) -> Ran {
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                break status;
            }
            assert!(self.since.elapsed() < LIMIT, "it hangs");
            thread::sleep(Duration::from_millis(5));
        };
        let folder = self.folder.take().expect("there until the end");
        let read = |name| {
            let bytes = std::fs::read(folder.path().join(name)).expect("it was made");
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ran { stdout: read("stdout"), stderr: read("stderr"), exit: status.code(), folder }
    }
}

/// Lines of the report whose values do not depend on time, by their label.
const TIMELESS: [&str; 14] = [
    "Server Software",
    "Server Hostname",
    "Server Port",
    "TLS Server Name",
    "Document Path",
    "Document Length",
    "Concurrency Level",
    "Complete requests",
    "Failed requests",
    "Non-2xx responses",
    "Keep-Alive requests",
    "Total transferred",
    "Total body sent",
    "HTML transferred",
];

impl Ran {
    /// The values of the report that do not depend on time.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let facts = self.stdout.lines().filter_map(|line| line.split_once(':'));
        let facts = facts.filter(|(label, _)| TIMELESS.contains(label));
        facts.map(|(label, value)| (label.to_owned(), value.trim().to_owned())).collect()
    }

    /// One of them.
    pub fn fact(&self, label: &str) -> String {
        self.facts().remove(label).unwrap_or_else(|| panic!("no {label} in {self:?}"))
    }

    /// The report with each number as `#` and each run of blanks as one, its banner and the warnings about deviations
    /// left out.
    pub fn layout(&self) -> Vec<String> {
        let lines = self.stdout.lines().skip(3);
        let varying = ["WARNING: The", "ERROR: The", "       deviation apart", "        These results"];
        let lines = lines.filter(|line| !varying.iter().any(|front| line.starts_with(front)));
        lines.map(masked).collect()
    }
}

fn masked(line: &str) -> String {
    let mut mask = String::new();
    for c in line.chars() {
        let c = if c.is_ascii_digit() { '#' } else { c };
        let repeats = mask.ends_with(c) && "# ".contains(c);
        let within = c == '.' && mask.ends_with('#');
        if !repeats && !within {
            mask.push(c);
        }
    }
    mask.replace("#_", "#")
}
