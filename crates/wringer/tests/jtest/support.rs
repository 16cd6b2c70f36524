//! Runs jtest with a time limit and reads what it printed. Start at [`jtest`].

use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// No run takes longer than this, unless something hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// Says that a test was left out and why, and leaves it.
macro_rules! skip {
    ($($why:tt)*) => {{
        println!("skipped: {}", format!($($why)*));
        return;
    }};
}

/// Runs jtest with the words of a line to its end.
pub fn jtest(line: &str) -> Ran {
    Running::start(line).end()
}

/// Runs jtest with its own origin in the proxy's place; `line` has the other switches.
pub fn alone(line: &str) -> Ran {
    jtest(&alone_at(free_port(), line))
}

/// The command line with which jtest at a port is its own proxy, with one seed.
pub fn alone_at(port: u16, line: &str) -> String {
    format!("-P 127.0.0.1 -p {port} -s {port} -S localhost -D 11 {line}")
}

/// Runs jtest's clients against a peer that plays the proxy, with one seed; `line` has the other switches.
pub fn against(proxy: SocketAddr, line: &str) -> Ran {
    jtest(&format!("-y -P 127.0.0.1 -p {} -s 9080 -S localhost -D 11 {line}", proxy.port()))
}

/// A port on which nobody listens, outside the range from which the system takes ports by itself.
pub fn free_port() -> u16 {
    free_ports(1)
}

/// The first of so many ports in a row on which nobody listens.
pub fn free_ports(count: u16) -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = (std::process::id() * 89 % 9_000) as u16;
    loop {
        let first = 10_000 + (begin + NEXT.fetch_add(count, Ordering::SeqCst)) % 9_000;
        if (first..first + count).all(|port| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok()) {
            return first;
        }
    }
}

/// A folder that goes with the test.
pub fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("wringer-jtest-").tempdir().expect("a folder for temporary files")
}

/// A file in a folder, as a word for a command line.
pub fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("the folder is ours");
    path.display().to_string()
}

/// wringer while it runs. It is killed when dropped, and at the time limit.
pub struct Running {
    child: Child,
    out: Output,
    err: Output,
    since: Instant,
}

impl Running {
    /// Starts jtest with the words of a line.
    pub fn start(line: &str) -> Running {
        Running::of(wringer().arg("jtest").args(line.split_whitespace()))
    }

    /// Starts a command.
    pub fn of(command: &mut Command) -> Running {
        let pipes = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().expect("the program exists");
        let out = Output::gather(child.stdout.take().expect("it is piped"));
        let err = Output::gather(child.stderr.take().expect("it is piped"));
        Running { child, out, err, since: Instant::now() }
    }

    /// An origin that listens on a port.
    pub fn origin(port: u16, line: &str) -> Running {
        let mut running = Running::start(&format!("-Y -s {port} {line}"));
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            running.check_time();
            assert!(running.child.try_wait().expect("it is ours").is_none(), "the origin has ended");
            thread::sleep(Duration::from_millis(5));
        }
        running
    }

    /// Waits until something holds.
    pub fn until(mut self, holds: impl Fn(&Running) -> bool) -> Running {
        while !holds(&self) {
            self.check_time();
            assert!(self.child.try_wait().expect("it is ours").is_none(), "{}", self.err.so_far());
            thread::sleep(Duration::from_millis(5));
        }
        self
    }

    /// Waits until it has said something on stdout.
    pub fn wait_for(self, text: &str) -> Running {
        self.until(|running| running.out.so_far().contains(text))
    }

    /// The whole lines of the table so far.
    pub fn rows(&self) -> usize {
        let out = self.out.so_far();
        rows(&out[..out.rfind('\n').map_or(0, |end| end + 1)]).len()
    }

    /// Returns its output on stderr so far.
    pub fn complaints(&self) -> String {
        self.err.so_far()
    }

    /// As Ctrl-C does.
    pub fn interrupt(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).expect("it runs");
    }

    /// Waits for its end.
    pub fn end(mut self) -> Ran {
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                break status;
            }
            self.check_time();
            thread::sleep(Duration::from_millis(2));
        };
        let took = self.since.elapsed();
        let ran = Ran { out: self.out.all(), err: self.err.all(), code: status.code(), took };
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran
    }

    fn check_time(&mut self) {
        if self.since.elapsed() > LIMIT {
            let _ = self.child.kill();
            panic!("it hangs");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program, without what the environment of the test sets for jtest.
pub fn wringer() -> Command {
    program(Path::new(env!("CARGO_BIN_EXE_wringer")))
}

/// A program without the old tool's variables.
pub fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    for (name, _) in std::env::vars_os() {
        if name == "TEST_TIME" || name.to_string_lossy().starts_with("JTEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// Bytes that come out of a pipe.
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Output {
    fn gather(mut pipe: impl Read + Send + 'static) -> Output {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = bytes.clone();
        let reader = thread::spawn(move || {
            let mut some = [0; 65_536];
            while let Ok(count @ 1..) = pipe.read(&mut some) {
                into.lock().expect("no panic").extend_from_slice(&some[..count]);
            }
        });
        Output { bytes, reader: Some(reader) }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("no panic")).into_owned()
    }

    /// Everything, once the other end is closed.
    fn all(&mut self) -> String {
        self.reader.take().into_iter().for_each(|reader| reader.join().expect("no panic"));
        self.so_far()
    }
}

/// Output of a run, its exit code and the time it took.
pub struct Ran {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
    pub took: Duration,
}

/// The heads of the columns.
pub const HEAD: &str = " con  new     ops   1B  lat      bytes/per     svrs  new  ops      total   time  err";

impl Ran {
    /// Asserts that it came to its end, with nothing on stderr, and that no request failed.
    pub fn ok(self) -> Ran {
        assert_eq!((self.code, self.err.as_str(), self.last().err), (Some(0), "", 0), "{}", self.out);
        self
    }

    /// Asserts that it came to its end, whatever it said.
    pub fn ended(self) -> Ran {
        assert_eq!(self.code, Some(0), "{}{}", self.err, self.out);
        self
    }

    /// The lines of the table.
    pub fn lines(&self) -> Vec<Line> {
        rows(&self.out)
    }

    /// The last line of the table.
    pub fn last(&self) -> Line {
        *self.lines().last().unwrap_or_else(|| panic!("no table: {}{}", self.err, self.out))
    }

    /// A column summed up over the lines.
    pub fn sum(&self, column: fn(&Line) -> u64) -> u64 {
        self.lines().iter().map(column).sum()
    }

    /// Requests that ended well.
    pub fn ops(&self) -> u64 {
        self.sum(|line| line.ops as u64)
    }

    /// One of the totals.
    pub fn total(&self, name: &str) -> u64 {
        let title = format!("Total {name} Bytes:");
        let line = self.out.lines().find_map(|line| line.strip_prefix(&title));
        line.and_then(|rest| rest.trim().parse().ok()).unwrap_or_else(|| panic!("no {name}: {}", self.out))
    }

    /// The request lines and URLs that `-x` has shown, in order.
    pub fn shown(&self) -> Vec<String> {
        let starts = ["GET ", "POST ", "http://"];
        let shown = self.out.lines().filter(|line| starts.iter().any(|start| line.starts_with(start)));
        shown.map(str::to_owned).collect()
    }
}

fn rows(out: &str) -> Vec<Line> {
    let after_head = out.lines().skip_while(|line| *line != HEAD);
    let rows = after_head.take_while(|line| !line.starts_with("Total"));
    rows.filter(|line| *line != HEAD).filter_map(Line::read).collect()
}

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    pub con: u64,
    pub new: u64,
    pub ops: f64,
    pub first_byte_ms: u64,
    pub latency_ms: u64,
    pub bytes: u64,
    pub per: u64,
    pub origin_open: u64,
    pub origin_new: u64,
    pub origin_ops: u64,
    pub total: u64,
    pub time_s: f64,
    pub err: u64,
}

impl Line {
    fn read(line: &str) -> Option<Line> {
        let words: Vec<&str> = line.split([' ', '/']).filter(|word| !word.is_empty()).collect();
        let [
            con,
            new,
            ops,
            first_byte,
            latency,
            bytes,
            per,
            origin_open,
            origin_new,
            origin_ops,
            total,
            time,
            err,
        ] = words.try_into().ok()?;
        let whole = |word: &str| word.parse().ok();
        Some(Line {
            con: whole(con)?,
            new: whole(new)?,
            ops: ops.parse().ok()?,
            first_byte_ms: whole(first_byte)?,
            latency_ms: whole(latency)?,
            bytes: whole(bytes)?,
            per: whole(per)?,
            origin_open: whole(origin_open)?,
            origin_new: whole(origin_new)?,
            origin_ops: whole(origin_ops)?,
            total: whole(total)?,
            time_s: time.parse().ok()?,
            err: whole(err)?,
        })
    }
}
