//! A rig from outside: its processes, its folder, its end.

use super::client::{Answer, ask};
use std::io::{self, BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub fn wringer() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wringer"));
    // Runs are not kept: there is no home.
    command.env("XDG_STATE_HOME", "/proc/nowhere");
    command
}

/// A running `wringer rig`; killed when dropped, after which its guard cleans up.
pub struct Rig {
    pub process: Child,
    pub address: SocketAddr,
    pub folder: PathBuf,
    /// Time in which it has kept what it has answered.
    pub keeps_in: Duration,
}

impl Rig {
    pub fn start(name: &str, origin: SocketAddr, more: &[&str]) -> Rig {
        let mut process = wringer()
            .args([
                "rig",
                name,
                "--listen",
                "127.0.0.1:0",
                "--memory",
                "64MiB",
                "--origin",
                &origin.to_string(),
            ])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("wringer is built");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("it is piped")).read_line(&mut line).expect("text");
        if line.is_empty() {
            let said = io::read_to_string(process.stderr.take().expect("it is piped")).expect("text");
            panic!("no rig: {said}");
        }
        let after = |word: &str| {
            line.split_once(word).and_then(|(_, rest)| rest.split([' ', ';']).next()).expect(word)
        };
        let (address, folder) =
            (after("listens on ").parse().expect("an address"), PathBuf::from(after("folder ")));
        // Envoy writes to a file behind the answer.
        let keeps_in = Duration::from_millis(if name == "envoy" { 300 } else { 0 });
        Rig { process, address, folder, keeps_in }
    }

    pub fn ask(&self, head: &str) -> Answer {
        let answer = ask(self.address, head);
        thread::sleep(self.keeps_in);
        answer
    }

    pub fn signal(&self, name: &str) {
        kill(name, self.process.id());
    }

    /// The folder and every process that has its name on its command line, or descends from one that has.
    pub fn assert_gone(&self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let left = processes_naming(&self.folder);
            if left.is_empty() && !self.folder.exists() && TcpStream::connect(self.address).is_err() {
                return;
            }
            assert!(Instant::now() < deadline, "still there: {left:?}, folder {}", self.folder.exists());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if !thread::panicking() {
            self.assert_gone();
        }
    }
}

pub fn kill(signal: &str, process: u32) {
    let status = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status();
    assert!(status.expect("kill exists").success());
}

/// Processes whose command line or working directory names the folder.
pub fn processes_naming(folder: &Path) -> Vec<(u32, String)> {
    let name = folder.display().to_string();
    all_processes()
        .filter_map(|process| {
            let line = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            let place = std::fs::read_link(format!("/proc/{process}/cwd")).unwrap_or_default();
            let owner = line.starts_with(env!("CARGO_BIN_EXE_wringer"));
            (!owner && (line.contains(&name) || place.display().to_string().contains(&name)))
                .then_some((process, line))
        })
        .collect()
}

pub fn children_of(parent: u32) -> Vec<u32> {
    let is_child = |process: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let words = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').nth(1).map(str::to_string));
        words.flatten() == Some(parent.to_string())
    };
    all_processes().filter(is_child).collect()
}

pub fn all_processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").expect("this is Linux");
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
