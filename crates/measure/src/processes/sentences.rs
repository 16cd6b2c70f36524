//! Sentences on processes: who they are, and what happened to them.

use super::{Behind, Change, Ending, Happened, Process, Unknown};
use crate::notes;

/// Digits of a build's number that people are shown.
const SHOWN_DIGITS: usize = 12;

/// Names of Linux's signals, from 1.
const SIGNALS: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// Name of a signal: `SIGSEGV`; of a real-time signal or an unknown one its number.
pub fn signal_name(signal: i32) -> String {
    let named = usize::try_from(signal).ok().and_then(|number| SIGNALS.get(number.checked_sub(1)?));
    named.map_or_else(|| format!("signal {signal}"), |name| (*name).to_owned())
}

impl Process {
    /// Name, version, number, file and build, in a line.
    pub fn line(&self) -> String {
        if self.pid == 0 {
            return self.name.clone();
        }
        let version = self.version.iter().map(|version| format!(" {version}")).collect::<String>();
        let file = self.executable.iter().map(|file| format!(", {file}")).collect::<String>();
        let build = self.build_id.iter().map(|id| format!(", build {}", short(id))).collect::<String>();
        format!("{}{version} (pid {}{file}{build})", self.name, self.pid)
    }
}

/// The first digits of a build's number, as many as tell builds apart.
fn short(id: &str) -> &str {
    id.get(..SHOWN_DIGITS).unwrap_or(id)
}

impl Behind {
    /// Who answers there, or why that is not known.
    pub fn line(&self) -> String {
        let workers = match self.workers {
            0 => String::new(),
            1 => " and 1 worker".to_owned(),
            count => format!(" and {count} workers"),
        };
        match self.unknown {
            Some(unknown) => unknown.text(),
            None => self.processes.iter().map(Process::line).collect::<Vec<_>>().join("; ") + &workers,
        }
    }
}

impl Unknown {
    /// A sentence part.
    pub fn text(self) -> String {
        match self {
            Unknown::AnotherMachine => "not known: it is another machine".to_owned(),
            Unknown::AnotherUser { uid } => {
                format!("not known: a process of user {uid}, which only that user and root may look at")
            }
            Unknown::NobodyHere => {
                "not known: nobody listens there in this network (a container's port, or one that is passed on)"
                    .to_owned()
            }
            Unknown::NotFound { looked_at } => format!(
                "not known: whoever listens there was not among the {looked_at} processes looked at in time; \
                 name it with --watch-pid"
            ),
            Unknown::OutOfSight => {
                "not known: whoever listens there is no process that can be seen here (another container's)".to_owned()
            }
            Unknown::Ourselves => "this run itself".to_owned(),
            Unknown::Other => "not known".to_owned(),
        }
    }
}

impl Happened {
    /// A sentence without its end, or two.
    pub fn sentence(&self) -> String {
        let sentence = self.what_happened();
        if self.ended_run { notes::RUN_ENDED_THERE.with(&[&sentence]) } else { sentence }
    }

    fn what_happened(&self) -> String {
        let at = format!("{:.1}", self.at.as_secs_f64());
        let Process { name, pid, .. } = &self.process;
        match &self.change {
            Change::Ended { how, address } => {
                let ended = ended(*how, name, *pid, &at);
                match address {
                    Some(address) => notes::NOBODY_LISTENS.with(&[&ended, address]),
                    None => ended,
                }
            }
            Change::WorkerEnded { worker, how, heir } => {
                let ended = worker_ended(*how, *worker, name, *pid, &at);
                match heir {
                    Some(heir) => notes::TOOK_ITS_PLACE.with(&[&ended, heir]),
                    None => ended,
                }
            }
            Change::WorkerBecame { by } => notes::WORKER_REPLACED.with(&[&at, name, pid, &by.line()]),
            Change::Reloaded { began, ended } => {
                notes::WORKERS_RELOADED.with(&[name, pid, began, &at, ended])
            }
            Change::Replaced { address, by, same_program: true } => {
                notes::TARGET_RESTARTED.with(&[&at, &by.pid, address, name, pid])
            }
            Change::Replaced { address, by, same_program: false } => {
                notes::TARGET_REPLACED.with(&[&at, &by.line(), address, &self.process.line()])
            }
            Change::Joined { address, by, .. } => {
                notes::TARGET_JOINED.with(&[&at, &by.line(), address, &self.process.line()])
            }
            Change::Closed { address } => notes::TARGET_CLOSED.with(&[&at, address, name, pid]),
            Change::Other => notes::TARGET_CHANGED.with(&[&at, name, pid]),
        }
    }
}

fn ended(how: Ending, name: &str, pid: u32, at: &str) -> String {
    match how {
        Ending::Signal(signal) => {
            notes::PROCESS_ENDED_BY_SIGNAL.with(&[&name, &pid, &signal_name(signal), &at])
        }
        Ending::Code(code) => notes::PROCESS_ENDED_WITH_CODE.with(&[&name, &pid, &code, &at]),
        Ending::Unknown => notes::PROCESS_ENDED.with(&[&name, &pid, &at]),
    }
}

fn worker_ended(how: Ending, worker: u32, name: &str, pid: u32, at: &str) -> String {
    match how {
        Ending::Signal(signal) => {
            notes::WORKER_ENDED_BY_SIGNAL.with(&[&worker, &name, &pid, &signal_name(signal), &at])
        }
        Ending::Code(code) => notes::WORKER_ENDED_WITH_CODE.with(&[&worker, &name, &pid, &code, &at]),
        Ending::Unknown => notes::WORKER_ENDED.with(&[&worker, &name, &pid, &at]),
    }
}
