//! Agents as child processes: on this machine, behind the system's ssh, or behind any command that carries standard input and output;
//! and those on a bus, from where their stream is open. Each has a thread that reads what it says, and one that writes.

use crate::bus::BusAt;
use fleet::OnLoss;
use fleet::frame::{Frame, Reader};
use fleet::message::{Hello, Up};
use plan::SourceRange;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where an agent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentAt {
    /// A process of this machine.
    Local,
    /// Behind the system's ssh.
    Ssh(SshAt),
    /// Behind a command of the shell that carries standard input and output.
    Command(String),
    /// On a bus, by its name.
    Bus(String),
}

/// A machine behind ssh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshAt {
    /// The destination as ssh takes it, which may have a port behind a colon.
    pub host: String,
    /// The program that is copied there; `None`: this one.
    pub binary: Option<PathBuf>,
    /// The folder there that keeps it, of letters that no shell reads otherwise; `None`: in the cache of its user.
    pub folder: Option<String>,
}

impl SshAt {
    /// The program that is copied there.
    fn program(&self) -> &Path {
        self.binary.as_deref().unwrap_or(Path::new(SELF))
    }

    fn unreadable(&self, error: &std::io::Error) -> String {
        match &self.binary {
            Some(file) => format!("--binary {} cannot be read: {error}", file.display()),
            None => format!("this program cannot be read: {error}"),
        }
    }
}

impl AgentAt {
    /// Its name on the bus, where it is on one.
    pub(crate) fn on_bus(&self) -> Option<&String> {
        match self {
            AgentAt::Bus(name) => Some(name),
            AgentAt::Local | AgentAt::Ssh(_) | AgentAt::Command(_) => None,
        }
    }
}

impl fmt::Display for AgentAt {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentAt::Local => to.write_str("local"),
            AgentAt::Ssh(at) => write!(to, "ssh:{}", at.host),
            AgentAt::Command(line) => write!(to, "cmd:{line}"),
            AgentAt::Bus(_) => to.write_str("bus"),
        }
    }
}

/// An agent that is wanted, and what is its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedAgent {
    /// Where it is.
    pub at: AgentAt,
    /// Its name; `None`: one by its number.
    pub name: Option<String>,
    /// Its workers; `None`: as many as the plan says, or its machine has cores.
    pub threads: Option<u16>,
    /// Local addresses that its connections come from; none: those of the plan.
    pub sources: Vec<SourceRange>,
    /// Where it listens as the origin; `None`: it carries a part of the load.
    pub listen: Option<SocketAddr>,
}

impl WantedAgent {
    /// One that has nothing of its own.
    pub fn at(at: AgentAt) -> WantedAgent {
        WantedAgent { at, name: None, threads: None, sources: Vec::new(), listen: None }
    }
}

/// The machines that carry a load.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// Those that are started; those on a bus are found there.
    pub agents: Vec<WantedAgent>,
    /// The bus, where they are on one.
    pub bus: Option<OnBus>,
    /// Loss of one, and what it means for the others.
    pub on_loss: OnLoss,
    /// So many may be lost before the run counts as failed.
    pub tolerate_loss: u32,
    /// An agent from which nothing came for so long is lost; and one that heard nothing for so long ends by itself.
    pub lease: Duration,
}

/// Agents that are to be the origin of a run.
#[derive(Debug, Clone)]
pub struct OriginAgents {
    /// The origin as the plan has it; each listens at an address of its own.
    pub origin: plan::Origin,
    /// Where they are, each with where it listens.
    pub agents: Vec<WantedAgent>,
    /// The bus of those that are on one.
    pub bus: Option<BusAt>,
    /// One that says nothing for so long is lost, and one that hears nothing for so long ends.
    pub lease: Duration,
}

impl OriginAgents {
    /// The same as a fleet, with names by their numbers.
    pub fn fleet(&self) -> Fleet {
        let name = |number: usize, agent: &WantedAgent| match &agent.at {
            AgentAt::Bus(name) => name.clone(),
            AgentAt::Local | AgentAt::Ssh(_) | AgentAt::Command(_) => format!("o{}", number + 1),
        };
        let named = |(number, agent): (usize, &WantedAgent)| WantedAgent {
            name: Some(agent.name.clone().unwrap_or_else(|| name(number, agent))),
            ..agent.clone()
        };
        Fleet {
            agents: self.agents.iter().enumerate().map(named).collect(),
            bus: self.bus.clone().map(|at| OnBus { at, expect: None }),
            on_loss: OnLoss::GoOn,
            tolerate_loss: 0,
            lease: self.lease,
        }
    }
}

/// Agents on a bus.
#[derive(Debug, Clone)]
pub struct OnBus {
    /// Where it is.
    pub at: BusAt,
    /// How many are wanted; `None`: those that are there.
    pub expect: Option<u32>,
}

/// Something came from an agent.
pub enum Came {
    /// It is there; and the way to it.
    Hello(Hello, Sender<Vec<u8>>),
    /// It said something.
    Said(Up),
    /// Nothing more will come, and why.
    Closed(String),
}

/// Bytes of what a child says on standard error that are remembered.
const REMEMBERED: usize = 4 << 10;
/// The exit code by which the other side says that wringer is not there yet.
const NOT_THERE: i32 = 41;
/// Exit codes of a shell for a program that may not be run, and for one that misses something.
const CANNOT_RUN: [i32; 2] = [126, 127];
/// Letters of a line of its that are quoted.
const LONGEST_LINE: usize = 300;
/// Time within which all that a child said on standard error is read, once it has ended.
const STDERR: Duration = Duration::from_millis(500);
/// A child that was told to end has so long for it.
const PATIENCE: Duration = Duration::from_secs(2);
/// The executable of this process, also where another file has taken its place since.
const SELF: &str = "/proc/self/exe";

/// A child process that is, or leads to, an agent.
#[derive(Debug, Default)]
pub struct Process(Mutex<Option<Child>>);

impl Process {
    fn child(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        // Each change of it is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it at once.
    pub fn kill(&self) {
        if let Some(mut child) = self.child().take() {
            // All that it has started, too; it may have ended already.
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            let _ = child.wait();
        }
    }

    /// Waits until it has ended by itself, for a moment.
    pub fn finish(&self) {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            match self.child().as_mut().map(Child::try_wait) {
                Some(Ok(None)) => std::thread::sleep(Duration::from_millis(5)),
                Some(Ok(Some(_)) | Err(_)) | None => break,
            }
        }
        self.kill();
    }

    /// How it ended, which is known a moment after its output has.
    fn status(&self) -> Option<ExitStatus> {
        let until = Instant::now() + Duration::from_millis(500);
        loop {
            match self.child().as_mut()?.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => {}
                Ok(None) | Err(_) => return None,
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Starts an agent. What comes of it is told with its number.
pub fn start(number: usize, at: AgentAt, to: Sender<(usize, Came)>) -> Arc<Process> {
    let process = Arc::new(Process::default());
    let own = process.clone();
    std::thread::spawn(move || {
        let why = talk(number, &at, &own, &to).unwrap_or_else(|why| why);
        // Whoever wanted to know may have gone.
        let _ = to.send((number, Came::Closed(why)));
    });
    process
}

/// Starts it, and tells what it says to the end. Returns why it ended.
fn talk(
    number: usize,
    at: &AgentAt,
    process: &Process,
    to: &Sender<(usize, Came)>,
) -> Result<String, String> {
    let mut placed = false;
    loop {
        let mut heard = begin(at, process)?;
        let why = heard.listen(number, to);
        let status = process.status();
        // Where something was wrong with what came, that is quoted already.
        let said = if why.is_empty() { heard.all_said() } else { heard.said() };
        let ended = || why_ended(status, &why, &said);
        let AgentAt::Ssh(at) = at else { return Ok(ended()) };
        let code = status.and_then(|status| status.code());
        if code.is_some_and(|code| CANNOT_RUN.contains(&code)) {
            return Ok(format!(
                "{}; the program is there and cannot be run: give one made for that machine with --binary FILE, a folder where programs may run \
                 with --copy-to DIR, or reach one that is there with cmd:'ssh {} wringer agent --stdio'",
                ended(),
                at.host
            ));
        }
        if placed || code != Some(NOT_THERE) {
            return Ok(ended());
        }
        placed = true;
        place(at, heard.reader.greeting())?;
    }
}

/// Hears an agent on a bus, over a stream that is open. What comes of it is told with its number.
pub fn hear(
    number: usize,
    from: impl Read + Send + 'static,
    into: impl Write + Send + 'static,
    to: Sender<(usize, Came)>,
) {
    std::thread::spawn(move || {
        let mut heard = Heard {
            stdout: Box::new(from),
            reader: Reader::behind_greeting(),
            stderr: Arc::default(),
            hears_stderr: None,
            stdin: Some(Box::new(into)),
        };
        let why = heard.listen(number, &to);
        // Whoever wanted to know may have gone.
        let _ = to.send((number, Came::Closed(why_ended(None, &why, ""))));
    });
}

/// An agent that talks.
struct Heard {
    stdout: Box<dyn Read + Send>,
    reader: Reader,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// The thread that reads its standard error.
    hears_stderr: Option<JoinHandle<()>>,
    stdin: Option<Box<dyn Write + Send>>,
}

impl Heard {
    /// Tells what comes until nothing more does. Returns why.
    fn listen(&mut self, number: usize, to: &Sender<(usize, Came)>) -> String {
        let mut bytes = vec![0; 64 << 10];
        loop {
            match self.stdout.read(&mut bytes) {
                Ok(0) => return String::new(),
                Ok(count) => self.reader.push(&bytes[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return error.to_string(),
            }
            loop {
                match self.reader.next_frame() {
                    Ok(Some(frame)) => match self.take(number, &frame, to) {
                        Ok(()) => {}
                        Err(why) => return why,
                    },
                    Ok(None) => break,
                    Err(bad) => return bad.to_string(),
                }
            }
        }
    }

    fn take(&mut self, number: usize, frame: &Frame, to: &Sender<(usize, Came)>) -> Result<(), String> {
        let came = match (Up::of(frame), self.stdin.take()) {
            (Ok(Up::Hello(hello)), Some(stdin)) => Came::Hello(hello, writer(stdin)),
            (Ok(said), None) => Came::Said(said),
            (Ok(_), Some(_)) => return Err("it said something before it said who it is".to_owned()),
            (Err(bad), _) => return Err(bad.to_string()),
        };
        to.send((number, came)).map_err(|_| "nobody listens to it any more".to_owned())
    }

    /// The last line that it said on standard error.
    fn said(&self) -> String {
        // It may be read a moment after its end is known, and others that it has started may hold it open.
        let until = Instant::now() + STDERR;
        while Instant::now() < until && self.hears_stderr.as_ref().is_some_and(|thread| !thread.is_finished())
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        last_line(&self.stderr.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The same, with what came where an agent was expected.
    fn all_said(&self) -> String {
        let error = self.said();
        let greeting = last_line(self.reader.greeting());
        if greeting.is_empty() {
            return error;
        }
        let said = format!("no agent answered; what came was: {greeting}");
        if error.is_empty() { said } else { format!("{error}; {said}") }
    }
}

/// The last line of a text that says something.
fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    line.chars().filter(|letter| !letter.is_control()).take(LONGEST_LINE).collect()
}

/// A thread that writes, so that an agent which does not read holds up nobody.
fn writer(mut stdin: Box<dyn Write + Send>) -> Sender<Vec<u8>> {
    let (to, bytes): (Sender<Vec<u8>>, Receiver<Vec<u8>>) = channel();
    std::thread::spawn(move || {
        for piece in bytes {
            if stdin.write_all(&piece).and_then(|()| stdin.flush()).is_err() {
                // Its end is told by whoever reads.
                return;
            }
        }
    });
    to
}

fn begin(at: &AgentAt, process: &Process) -> Result<Heard, String> {
    let mut command = match at {
        AgentAt::Local => {
            let mut own = Command::new(SELF);
            own.args(["agent", "--stdio"]);
            own
        }
        AgentAt::Ssh(at) => ssh(&at.host, &start_script(&kept(at)?)),
        AgentAt::Command(line) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", line]);
            shell
        }
        AgentAt::Bus(name) => return Err(format!("{name} is on a bus, and no process of this machine")),
    };
    // Ctrl-C is for the controller, which ends its agents with grace.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| match at {
        AgentAt::Ssh(_) => format!("ssh cannot be started: {error}; install OpenSSH's client"),
        AgentAt::Local | AgentAt::Command(_) | AgentAt::Bus(_) => format!("it cannot be started: {error}"),
    })?;
    let stdin = child.stdin.take();
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    *process.child() = Some(child);
    let (Some(stdin), Some(stdout), Some(mut stderr)) = (stdin, stdout, stderr) else {
        return Err("it has no standard input and output".to_owned());
    };
    let said: Arc<Mutex<Vec<u8>>> = Arc::default();
    let remembered = said.clone();
    let hears_stderr = std::thread::spawn(move || {
        let mut bytes = [0; 1024];
        while let Ok(count @ 1..) = stderr.read(&mut bytes) {
            let mut all = remembered.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(&bytes[..count]);
            let over = all.len().saturating_sub(REMEMBERED);
            all.drain(..over);
        }
    });
    Ok(Heard {
        stdout: Box::new(stdout),
        reader: Reader::behind_greeting(),
        stderr: said,
        hears_stderr: Some(hears_stderr),
        stdin: Some(Box::new(stdin)),
    })
}

fn why_ended(status: Option<ExitStatus>, why: &str, said: &str) -> String {
    let how = match status.map(|status| (status.code(), status.signal())) {
        Some((_, Some(signal))) => format!("its process was ended by signal {signal}"),
        Some((Some(code), None)) => format!("its process ended with exit code {code}"),
        Some((None, None)) | None => "its channel was closed".to_owned(),
    };
    let all = [how.as_str(), why, said];
    all.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ")
}

/// The system's ssh with a line for the other side's shell, whichever that is: what runs is `sh`.
fn ssh(host: &str, script: &str) -> Command {
    let mut command = Command::new("ssh");
    command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
    command.args(["-o", "ServerAliveInterval=2", "-o", "ServerAliveCountMax=3"]);
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.parse::<u16>().is_ok() => {
            command.args(["-p", port, "--", name])
        }
        Some(_) | None => command.args(["--", host]),
    };
    command.arg(format!("exec sh -c '{script}'"));
    command
}

/// Where the other side keeps the program, by its digest. There may be no apostrophe and no exclamation mark in scripts.
fn kept(at: &SshAt) -> Result<String, String> {
    let folder = at.folder.as_deref().unwrap_or("${XDG_CACHE_HOME:-$HOME/.cache}/wringer");
    Ok(format!("d=\"{folder}\"; f=\"$d/agent-{}\"", digest(at)?))
}

fn start_script(kept: &str) -> String {
    format!("{kept}; test -x \"$f\" || {{ uname -sm; exit {NOT_THERE}; }}; exec \"$f\" agent --stdio")
}

fn place_script(kept: &str, length: u64) -> String {
    format!(
        "{kept}; umask 077; mkdir -p \"$d\" && cat > \"$f.$$\" && test \"$(wc -c < \"$f.$$\")\" -eq {length} && chmod 700 \"$f.$$\" && \
         mv \"$f.$$\" \"$f\""
    )
}

/// Digest of a machine's program, as far as names need it.
fn digest(at: &SshAt) -> Result<String, String> {
    static KNOWN: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    // Agents that want the same one wait for it. Each change of the map is whole.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(digest) = known.get(at.program()) {
        return Ok(digest.clone());
    }
    let bytes = std::fs::read(at.program()).map_err(|error| at.unreadable(&error))?;
    let digest = plan::digest::Sha256::of([&bytes[..]])[..16].to_owned();
    known.insert(at.program().to_owned(), digest.clone());
    Ok(digest)
}

/// Copies its program to a machine that does not have it. `said`: what kind of machine that says it is.
fn place(at: &SshAt, said: &[u8]) -> Result<(), String> {
    let there = String::from_utf8_lossy(said);
    let here = format!("Linux {}", std::env::consts::ARCH);
    if at.binary.is_none() && !there.trim_end().ends_with(&here) {
        return Err(format!(
            "it is another kind of machine ({}, and this program is for {here}): give a wringer made for it with --binary FILE, or reach one \
             that is there with cmd:'ssh {} wringer agent --stdio'",
            there.trim(),
            at.host
        ));
    }
    let mut program = std::fs::File::open(at.program()).map_err(|error| at.unreadable(&error))?;
    let length = program.metadata().map_err(|error| at.unreadable(&error))?.len();
    let failed = |why: String| format!("the program cannot be copied there: {why}");
    let mut child = ssh(&at.host, &place_script(&kept(at)?, length))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let sent = child.stdin.take().map(|mut stdin| std::io::copy(&mut program, &mut stdin));
    let ended = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    match (ended.status.success(), sent) {
        (true, Some(Ok(_))) => Ok(()),
        (true, Some(Err(error))) => Err(failed(error.to_string())),
        _ => Err(failed(String::from_utf8_lossy(&ended.stderr).trim().to_owned())),
    }
}
