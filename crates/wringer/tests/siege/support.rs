//! Runs a program with a time limit and reads what it printed. Start at [`run`].

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// No run takes longer than this, unless something hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// Output of a program, and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub out: String,
    pub err: String,
    /// `None`: it was ended at the time limit, or by a signal.
    pub code: Option<i32>,
}

/// wringer, and what comes before the words of a line.
pub const WRINGER: &str = env!("CARGO_BIN_EXE_wringer");

/// Runs a program in a folder that is its home, too.
pub fn run(program: &str, words: &[&str], home: &Path) -> Ran {
    start(program, words, home).end()
}

/// A program under way.
pub struct Running {
    pub child: Child,
    out: JoinHandle<String>,
    err: JoinHandle<String>,
}

pub fn start(program: &str, words: &[&str], home: &Path) -> Running {
    let mut command = Command::new(program);
    command.args(words).current_dir(home).env("HOME", home).env_remove("SIEGERC");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program is there");
    let out = gather(child.stdout.take().expect("it is piped"));
    let err = gather(child.stderr.take().expect("it is piped"));
    Running { child, out, err }
}

fn gather(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

impl Running {
    pub fn end(mut self) -> Ran {
        let since = Instant::now();
        let code = loop {
            match self.child.try_wait().expect("it is ours") {
                Some(status) => break status.code(),
                None if since.elapsed() > LIMIT => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    break None;
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        let text = |said: JoinHandle<String>| said.join().unwrap_or_default();
        Ran { out: text(self.out), err: text(self.err), code }
    }
}

/// A folder that goes with the test.
pub fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("wringer-siege-").tempdir().expect("a folder for temporary files")
}

/// Without colours.
pub fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |sum, part| sum + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// The figures of a report of siege, by label.
pub fn figures(report: &str) -> BTreeMap<String, f64> {
    let rows = report.lines().filter_map(|line| {
        let (label, value) = line.split_once(':')?;
        Some((label.trim().to_owned(), value.split_whitespace().next()?.parse().ok()?))
    });
    rows.collect()
}
