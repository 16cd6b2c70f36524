//! Runs wringer in a folder of its own and with a time limit, reads what it reported, and sees to it that nothing stays
//! behind. Start at [`wringer`].

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// No run takes longer than this, unless something hangs.
const LIMIT: Duration = Duration::from_secs(300);
/// Processes that a run has started are gone by then.
const GOODBYE: Duration = Duration::from_secs(60);

/// Says that a test was left out and why, where people see it, and leaves it.
macro_rules! skip {
    ($($why:tt)*) => {{
        $crate::support::tell(&format!($($why)*));
        return;
    }};
}

/// A line that cargo does not hold back.
pub fn tell(why: &str) {
    let _ = writeln!(std::io::stderr().lock(), "skipped: {why}");
}

/// Starts wringer with the words of a line; the JSON of its report goes to the run's folder.
pub fn wringer(line: &str) -> Running {
    start(line.split_whitespace())
}

/// Runs wringer to its end.
pub fn run(line: &str) -> Ran {
    wringer(line).end()
}

/// Checks that a file fits the schema that `wringer schema` prints for its command.
#[track_caller]
pub fn fits_schema(of: &str, written: &Value) {
    let schema: Value =
        serde_json::from_str(&run(&format!("schema {of}")).ended_with(0).stdout).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<_> =
        validator.iter_errors(written).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{of}: {wrong:#?}");
    let mut other = written.clone();
    other["schema"] = "wringer.other".into();
    assert!(!validator.is_valid(&other), "{of}: another form fits");
}

/// The block of this name that a page holds, unpacked.
#[track_caller]
pub fn inlined(page: &str, name: &str) -> Value {
    let begin = format!("<template id=\"{name}\">");
    let (_, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("no {name} is in the page"));
    let (block, _) = rest.split_once("</template>").expect("the block ends");
    let packed = STANDARD.decode(block).expect("base64");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("gzip");
    serde_json::from_str(&text).expect("JSON")
}

/// Checks that a page holds a decision, that `report` writes the same page of its file, and the text that stands in it.
#[track_caller]
pub fn drawn(written: &str, page: &str) {
    let decision: Value = serde_json::from_str(written).expect("JSON");
    assert!(inlined(page, "decision") == decision, "the page holds something else");
    let folder = folder();
    let file = folder.path().join("decision.json");
    std::fs::write(&file, written).expect("it is ours");
    let file = file.display().to_string();
    let again = start(["report", &file, "--as", "html"]).end().ended_with(0);
    assert!(inlined(&again.stdout, "decision") == decision, "report draws something else");
    let told = start(["report", &file]).end().ended_with(0).stdout;
    let text = decision["text"].as_str().expect("text");
    assert!(told.contains(text) && page.contains("<noscript><pre>"), "{told}");
    let other = start(["report", &file, "--as", "csv"]).end().ended_with(2);
    assert!(other.stderr.contains("--as csv lays out runs"), "{}", other.stderr);
}

/// Starts wringer with these words. `{}` in a word stands for the run's folder.
pub fn start<'a>(words: impl IntoIterator<Item = &'a str>) -> Running {
    start_in(folder(), words)
}

/// As [`start`], in a folder that may hold files already; see [`folder`].
pub fn start_in<'a>(folder: TempDir, words: impl IntoIterator<Item = &'a str>) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wringer"));
    command.args(words.into_iter().map(|word| word.replace("{}", &folder.path().display().to_string())));
    Running::start(command, folder)
}

/// Runs a script of the shell in which `$WRINGER` is wringer.
pub fn shell(script: &str) -> Ran {
    let mut command = Command::new("bash");
    command.args(["-c", script]).env("WRINGER", env!("CARGO_BIN_EXE_wringer"));
    Running::start(command, folder()).end()
}

/// A folder that rigs can reach as another user, too.
pub fn folder() -> TempDir {
    let folder =
        tempfile::Builder::new().prefix("wringer-test-").tempdir().expect("a folder for temporary files");
    fs::create_dir(folder.path().join("tmp")).expect("a folder");
    for path in [folder.path(), &folder.path().join("tmp")] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).expect("it is ours");
    }
    folder
}

/// An address on which nobody listens: outside the range from which the system takes ports by itself, and outside that
/// from which wringer does, whose other runs would take it before it is listened at.
pub fn free_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = (std::process::id() * 97 % 10_000) as u16;
    loop {
        let port = 10_000 + (first + NEXT.fetch_add(1, Ordering::SeqCst)) % 10_000;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

/// Where a program is, in the usual places.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|program| program.exists())
}

/// wringer while it runs. It is killed when dropped, and at the time limit.
pub struct Running {
    child: Child,
    folder: Option<TempDir>,
    since: Instant,
}

impl Running {
    fn start(mut command: Command, folder: TempDir) -> Running {
        let file = |name| File::create(folder.path().join(name)).expect("the folder is ours");
        let child = command
            .current_dir(folder.path())
            // Whoever descends from this has the folder's name in its environment, and so can be found.
            .env("TMPDIR", folder.path().join("tmp"))
            // Runs are kept there.
            .env("XDG_STATE_HOME", folder.path().join("state"))
            // A build's own, which these runs are no part of.
            .env_remove("GITHUB_STEP_SUMMARY")
            .stdin(Stdio::null())
            .stdout(file("stdout.txt"))
            .stderr(file("stderr.txt"))
            .process_group(0)
            .spawn()
            .expect("the program exists");
        Running { child, folder: Some(folder), since: Instant::now() }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.folder.as_ref().expect("there until the end").path()
    }

    /// All that it has said so far.
    pub fn said(&self) -> String {
        let read = |name| fs::read_to_string(self.folder().join(name)).unwrap_or_default();
        read("stderr.txt") + &read("stdout.txt")
    }

    /// Waits for a line with this beginning, and returns the rest of it.
    pub fn wait_for_rest(&mut self, beginning: &str) -> String {
        loop {
            self.wait_for(beginning);
            let said = self.said();
            // A line without its end is still being written.
            let rest = said.split_once(beginning).and_then(|(_, rest)| rest.split_once('\n'));
            if let Some((rest, _)) = rest {
                return rest.to_owned();
            }
        }
    }

    /// Lines of seconds that it has printed.
    pub fn lines_of_seconds(&self) -> usize {
        let out = fs::read_to_string(self.folder().join("stdout.txt")).unwrap_or_default();
        let number =
            |line: &&str| line.split_whitespace().next().is_some_and(|word| word.parse::<u32>().is_ok());
        out.lines().filter(number).count()
    }

    /// Waits until it has said something.
    pub fn wait_for(&mut self, text: &str) {
        while !self.said().contains(text) {
            let ended = self.child.try_wait().expect("it is ours");
            assert!(ended.is_none(), "it ended without having said {text:?}: {}", self.said());
            self.check_time();
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// wringer and what it has started, with their command lines.
    pub fn processes(&self) -> Vec<(Pid, String)> {
        processes_of(self.folder())
    }

    /// Sends a signal to wringer alone.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it runs");
    }

    /// Sends a signal to wringer and all it started, as a terminal does.
    pub fn signal_all(&self, signal: Signal) {
        kill_process_group(self.pid(), signal).expect("it runs");
    }

    /// True if it has not yet ended.
    pub fn is_running(&mut self) -> bool {
        self.check_time();
        self.child.try_wait().expect("it is ours").is_none()
    }

    /// Waits for its end and that of everything it started.
    pub fn end(mut self) -> Ran {
        let status = self.wait();
        let folder = self.folder.take().expect("there until the end");
        assert_nothing_stays(folder.path());
        let read =
            |name| String::from_utf8_lossy(&fs::read(folder.path().join(name)).expect("a file")).into_owned();
        let ran = Ran { status, stdout: read("stdout.txt"), stderr: read("stderr.txt"), folder };
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        ran
    }

    fn wait(&mut self) -> ExitStatus {
        loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                return status;
            }
            self.check_time();
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Dropping kills it.
    fn check_time(&self) {
        assert!(self.since.elapsed() < LIMIT, "still running after {LIMIT:?}: {}", self.said());
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = kill_process_group(self.pid(), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// No process is left that belongs to a run, nor a file of a rig.
fn assert_nothing_stays(folder: &Path) {
    let until = Instant::now() + GOODBYE;
    loop {
        let processes = processes_of(folder);
        let files = fs::read_dir(folder.join("tmp")).expect("it is ours").count();
        if processes.is_empty() && files == 0 {
            return;
        }
        assert!(Instant::now() < until, "{files} files and these processes stay: {processes:#?}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Processes whose command line, working folder or environment names the folder, with their command lines.
fn processes_of(folder: &Path) -> Vec<(Pid, String)> {
    let name = folder.display().to_string();
    let text =
        |path: PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).replace('\0', " ");
    let entries = fs::read_dir("/proc").expect("this is Linux").flatten();
    let processes = entries.filter_map(|entry| {
        let process = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        let line = text(entry.path().join("cmdline"));
        let place = fs::read_link(entry.path().join("cwd")).unwrap_or_default().display().to_string();
        let named =
            [&line, &place, &text(entry.path().join("environ"))].iter().any(|said| said.contains(&name));
        named.then_some((process, line))
    });
    processes.collect()
}

/// wringer when it has ended.
pub struct Ran {
    status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    pub folder: TempDir,
}

impl Ran {
    /// Its exit code, or 128 and the signal that ended it, as shells have it.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// Asserts how it ended.
    pub fn ended_with(self, code: i32) -> Ran {
        assert_eq!(self.code(), code, "{}\n{}", self.stderr, self.stdout);
        self
    }

    /// Asserts that it refused with a code and one line on standard error that holds all these words.
    pub fn refused_with(self, code: i32, words: &[&str]) -> Ran {
        let ran = self.ended_with(code);
        for word in words {
            assert!(ran.stderr.contains(word), "{word:?} is missing in {}", ran.stderr);
        }
        assert_eq!(ran.stdout, "", "{}", ran.stderr);
        ran
    }

    /// The permissions of a file of its folder.
    pub fn mode(&self, name: &str) -> u32 {
        let about = fs::metadata(self.folder.path().join(name)).expect("it is there");
        about.permissions().mode() & 0o777
    }

    /// A file of its folder as text; none is empty.
    pub fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Reads the report that it wrote to `result.json`, checked for being consistent in itself.
    pub fn report(&self) -> Report {
        let text = self.file("result.json");
        assert!(!text.is_empty(), "there is no report: {}\n{}", self.stderr, self.stdout);
        Report::of(&text)
    }
}

/// The JSON of a run, or a part of it.
pub struct Report(Value);

impl Report {
    /// Reads it.
    pub fn of(text: &str) -> Report {
        let report = Report(serde_json::from_str(text).expect("JSON"));
        assert_eq!((report.text("schema"), report.count("schema_version")), ("wringer-run", 4));
        let labels = report.0.get("labels").and_then(Value::as_array);
        let is_journey = labels.is_some_and(|labels| !labels.is_empty());
        for phase in report.list("phases") {
            phase.assert_each_request_ended_once(is_journey);
        }
        report
    }

    /// The value at a path such as `measured/counts/hits`.
    pub fn at(&self, path: &str) -> &Value {
        self.0.pointer(&format!("/{path}")).unwrap_or_else(|| panic!("no {path} in {:#}", self.0))
    }

    /// True if something stands there.
    pub fn has(&self, path: &str) -> bool {
        self.0.pointer(&format!("/{path}")).is_some()
    }

    /// A part by itself.
    pub fn part(&self, path: &str) -> Report {
        Report(self.at(path).clone())
    }

    /// A counter.
    pub fn count(&self, path: &str) -> u64 {
        self.at(path).as_u64().unwrap_or_else(|| panic!("{path} is no count: {}", self.at(path)))
    }

    /// A number that is known.
    pub fn number(&self, path: &str) -> f64 {
        self.at(path).as_f64().unwrap_or_else(|| panic!("{path} is no number: {}", self.at(path)))
    }

    /// A text that is known.
    pub fn text(&self, path: &str) -> &str {
        self.at(path).as_str().unwrap_or_else(|| panic!("{path} is no text: {}", self.at(path)))
    }

    /// A list of parts.
    pub fn list(&self, path: &str) -> Vec<Report> {
        let list = self.at(path).as_array().unwrap_or_else(|| panic!("{path} is no list"));
        list.iter().cloned().map(Report).collect()
    }

    /// The sum of a counter over all phases.
    pub fn sum(&self, counter: &str) -> u64 {
        self.list("phases").iter().map(|phase| phase.count(&format!("counts/{counter}"))).sum()
    }

    /// Returns the faults that the oracle found, over all phases: fault and count.
    pub fn faults(&self) -> BTreeMap<String, u64> {
        self.tally("faults", "fault")
    }

    /// Failed requests over all phases: kind and count.
    pub fn failures(&self) -> BTreeMap<String, u64> {
        self.tally("failures", "kind")
    }

    fn tally(&self, list: &str, name: &str) -> BTreeMap<String, u64> {
        let mut tally = BTreeMap::new();
        for entry in self.list("phases").iter().flat_map(|phase| phase.list(list)) {
            *tally.entry(entry.text(name).to_string()).or_default() += entry.count("count");
        }
        tally
    }

    /// The notes as one text.
    pub fn notes(&self) -> String {
        self.list("notes").iter().map(|note| note.0.as_str().unwrap_or_default().to_string() + "\n").collect()
    }

    /// The notes that do not have these words.
    pub fn notes_but(&self, words: &str) -> String {
        self.notes().lines().filter(|note| !note.contains(words)).map(|note| note.to_owned() + "\n").collect()
    }

    fn assert_each_request_ended_once(&self, is_journey: bool) {
        let count = |name: &str| self.count(&format!("counts/{name}"));
        let ends = ["ok", "check_failed", "injected", "aborted", "failed", "unfinished"];
        assert_eq!(count("requests"), ends.map(count).iter().sum::<u64>(), "{:#}", self.at("counts"));
        let sum = |list| self.list(list).iter().map(|entry| entry.count("count")).sum::<u64>();
        assert_eq!((count("failed"), count("check_failed")), (sum("failures"), sum("faults")));
        // TCP messages have no status, and may stand among requests, of which then each kind has its label.
        let ended = count("ended") + count("challenges");
        assert!(sum("statuses") == ended || sum("statuses") == 0 || is_journey && sum("statuses") < ended);
    }
}
