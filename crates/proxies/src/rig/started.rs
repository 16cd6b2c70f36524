//! A server that a command of somebody's own starts: it belongs to a guard, as a rig does, so it ends with whoever started it.

use super::guard::{self, Guarded, OUTPUT, Order};
use super::{Setting, last_lines, reachable};
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use thiserror::Error;

/// The shell that reads the command.
const SHELL: &str = "/bin/sh";
/// Program text of the shell: the folder of whoever asked, and the command in it.
const IN_FOLDER: &str = "cd \"$0\" && eval \"$1\"";
/// Letters of which the shell makes more than one program, or none. A command without them takes the shell's place, so that the
/// process is the server itself.
const SHELLS_OWN: [char; 12] = [';', '&', '|', '<', '>', '(', ')', '`', '$', '=', '#', '!'];

/// A command that was not started, or a server that has ended.
#[derive(Debug, Error)]
#[error("`{command}` {what}")]
pub struct StartError {
    command: String,
    what: String,
}

/// Values that stand in a command for a proxy, in place of their names in braces.
#[derive(Debug, Clone)]
pub struct Places {
    /// Where it is to listen.
    pub listen: SocketAddr,
    /// Where it is to fetch from.
    pub origin: SocketAddr,
    /// Bytes that its cache may hold.
    pub memory_bytes: u64,
    /// Names and values of somebody's own.
    pub settings: Vec<Setting>,
}

impl Places {
    /// The command with the values; `folder`: one that belongs to the proxy. Other braces are the shell's.
    fn filled(&self, command: &str, folder: &Path) -> String {
        let own = self.settings.iter().map(|setting| (setting.key.clone(), setting.value.clone()));
        let ours = [
            ("listen", self.listen.to_string()),
            ("listen_host", self.listen.ip().to_string()),
            ("listen_port", self.listen.port().to_string()),
            ("origin", self.origin.to_string()),
            ("origin_host", self.origin.ip().to_string()),
            ("origin_port", self.origin.port().to_string()),
            ("memory", self.memory_bytes.to_string()),
            ("dir", folder.display().to_string()),
        ];
        let all = own.chain(ours.map(|(name, value)| (name.to_owned(), value)));
        all.fold(command.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), &value))
    }
}

/// A server while it runs. When this drops, it and all that it has started are asked to end, and made to.
pub struct Started {
    command: String,
    pid: u32,
    /// With the file that takes its output; the guard removes it.
    folder: PathBuf,
    guarded: Guarded,
}

impl Started {
    /// Has a shell run a command in the folder that this process is in.
    ///
    /// # Errors
    /// It has several lines, or there is no folder for it, no guard or no shell.
    pub fn start(command: &str) -> Result<Started, StartError> {
        Started::launch(command, |_| command.to_owned())
    }

    /// The same with a command that starts a proxy.
    ///
    /// # Errors
    /// As of [`Started::start`].
    pub fn rig(command: &str, places: &Places) -> Result<Started, StartError> {
        Started::launch(command, |folder| {
            let text = places.filled(command, folder);
            if text.contains(SHELLS_OWN) { text } else { format!("exec {text}") }
        })
    }

    /// `text`: the command as the shell is to read it, given a folder of its own.
    fn launch(command: &str, text: impl FnOnce(&Path) -> String) -> Result<Started, StartError> {
        let failed = |what: String| StartError { command: command.to_owned(), what };
        if command.trim().is_empty() || command.contains('\n') {
            return Err(failed("is no line of the shell: put several lines into a script".to_owned()));
        }
        let not_started = |error: std::io::Error| failed(format!("cannot be started: {error}"));
        let here = std::env::current_dir().map_err(not_started)?;
        let folder = tempfile::Builder::new().prefix("wringer-start-").tempdir().map_err(not_started)?;
        let mut guarded = Guarded::new(folder.path()).map_err(not_started)?;
        let folder = folder.keep();
        let text = text(&folder);
        let words = ["-c", IN_FOLDER, &here.display().to_string(), &text].map(str::to_owned);
        let order = Order { user: None, program: PathBuf::from(SHELL), arguments: words.to_vec() };
        let pid = guarded.start(&order).map_err(|why| failed(format!("cannot be started: {why}")))?;
        tracing::debug!(text, pid, "a server was started by a command");
        Ok(Started { command: command.to_owned(), pid, folder, guarded })
    }

    /// # Errors
    /// It has ended; with its last words.
    pub fn check(&self) -> Result<(), StartError> {
        let Some(how) = self.guarded.ended(Duration::ZERO) else { return Ok(()) };
        Err(self.error(&format!("ended {how}")))
    }

    /// Waits until somebody takes connections at an address.
    ///
    /// # Errors
    /// It has ended, or nobody listened within `limit`; with its last words.
    pub fn wait_until_ready(&self, address: SocketAddr, limit: Duration) -> Result<(), StartError> {
        const PAUSE: Duration = Duration::from_millis(20);
        const CONNECT: Duration = Duration::from_secs(1);
        let deadline = Instant::now() + limit;
        loop {
            // Before it is asked: a program that is stopped and goes on asks once more.
            let is_last = Instant::now() >= deadline;
            if TcpStream::connect_timeout(&reachable(address), CONNECT).is_ok() {
                break;
            }
            self.check()?;
            if is_last {
                let seconds = limit.as_secs_f64();
                return Err(self.error(&format!(
                    "does not listen on {address} after {seconds} s, wait longer with --ready"
                )));
            }
            std::thread::sleep(PAUSE);
        }
        // Somebody else may listen there while it complains of that.
        self.check()
    }

    fn error(&self, what: &str) -> StartError {
        let said = fs::read(self.log())
            .map_or_else(|error| format!("({error})"), |said| String::from_utf8_lossy(&said).into_owned());
        let words = last_lines(&said);
        StartError { command: self.command.clone(), what: format!("{what}; its last words:\n{words}") }
    }

    /// Its command, as it was given.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The process that was started.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// That process and all that it has started.
    pub fn pids(&self) -> Vec<u32> {
        std::iter::once(self.pid).chain(guard::descendants(self.pid)).collect()
    }

    /// How that process ended; `None`: it has not.
    pub fn status(&self) -> Option<ExitStatus> {
        self.guarded.status()
    }

    /// The file that takes its output.
    pub fn log(&self) -> PathBuf {
        self.folder.join(OUTPUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_places_of_their_names() {
        let places = Places {
            listen: "127.0.0.1:81".parse().unwrap(),
            origin: "[::1]:82".parse().unwrap(),
            memory_bytes: 7,
            settings: vec![Setting { key: "level".to_owned(), value: "3".to_owned() }],
        };
        for (command, wanted) in [
            ("p -l {listen} -o {origin}", "p -l 127.0.0.1:81 -o [::1]:82"),
            ("p {listen_port} {origin_host} {origin_port} {memory}", "p 81 ::1 82 7"),
            ("p {dir}/a {level} {other} ${HOME} {a,b}", "p /d/a 3 {other} ${HOME} {a,b}"),
        ] {
            assert_eq!(places.filled(command, Path::new("/d")), wanted);
        }
    }
}
