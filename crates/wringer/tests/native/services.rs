//! Real services pressed over TCP: Redis, and what PostgreSQL says to whoever knocks.

use crate::support::{Report, folder, free_address, program};
use crate::tcp::{counts, tcp};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// `nobody` on Debian.
const NOBODY: u32 = 65_534;

/// A service while a test needs it.
struct Service {
    child: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl Drop for Service {
    fn drop(&mut self) {
        // PostgreSQL leaves nothing behind where it is told to end.
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
        let until = Instant::now() + Duration::from_secs(10);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command that runs without privileges, in a folder of its own.
fn unprivileged(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    if rustix::process::geteuid().is_root() {
        chown(folder, Some(NOBODY), Some(NOBODY)).expect("the folder is ours");
        command.uid(NOBODY).gid(NOBODY);
    }
    command
        .current_dir(folder)
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn wait_for(mut child: Child, address: SocketAddr, folder: TempDir) -> Service {
    let until = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(address).is_err() {
        let ended = child.try_wait().expect("it is ours");
        assert!(ended.is_none() && Instant::now() < until, "the service does not come up: {ended:?}");
        thread::sleep(Duration::from_millis(20));
    }
    Service { child, address, _folder: folder }
}

fn redis() -> Option<Service> {
    let server = program("redis-server")?;
    let folder = folder();
    let address = free_address();
    let port = address.port().to_string();
    let child = unprivileged(&server, folder.path())
        .args(["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .spawn()
        .expect("the program exists");
    Some(wait_for(child, address, folder))
}

/// How often Redis has run a command, by its own account.
fn calls(service: &Service, command: &str) -> u64 {
    let mut stream = TcpStream::connect(service.address).unwrap();
    stream.write_all(b"INFO commandstats\r\nQUIT\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:calls=")));
    line.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
}

#[test]
fn redis_is_pressed_with_one_and_with_many_under_way() {
    let Some(service) = redis() else { skip!("redis-server is not installed: cargo xtask setup") };
    let mut pings = 0;
    for pipeline in ["1", "16"] {
        let words = ["--framing", "resp-line", "-m", "PING", "-c", "8", "-n", "5000", "--pipeline", pipeline];
        let code = ["--code", "fixed 1 5", "--success", "+PONG"];
        let report = tcp(service.address, &[&words[..], &code].concat()).ended_with(0).report();
        assert_eq!((counts(&report), report.sum("connections")), ([5_000, 5_000, 0, 0], 8), "{pipeline}");
        pings += 5_000;
        assert_eq!(calls(&service, "ping"), pings);
        // Redis's own form has line ends within a request.
        let set = "*3\\r\\n$3\\r\\nSET\\r\\n$4\\r\\n{{key}}\\r\\n$20\\r\\n{{text:20}}\\r\\n";
        let words = [
            "--framing",
            "raw",
            "--answer-framing",
            "resp-line",
            "-m",
            set,
            "--data",
            "key=int:0..9999 as %04d",
            "-c",
            "8",
            "-n",
            "5000",
            "--pipeline",
            pipeline,
            "--code",
            "fixed 1 3",
            "--success",
            "+OK",
        ];
        let report = tcp(service.address, &words).ended_with(0).report();
        assert_eq!(counts(&report), [5_000, 5_000, 0, 0], "{pipeline}");
    }
    assert_eq!(calls(&service, "set"), 10_000);
    let report: Report = tcp(
        service.address,
        &["--framing", "resp-line", "-m", "NOSUCH", "-n", "10", "--code", "fixed 1 1", "--failure", "-"],
    )
    .ended_with(3)
    .report();
    assert_eq!(counts(&report), [10, 0, 10, 0]);
}

fn postgres() -> Option<Service> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let bin: PathBuf =
        versions.map(|version| version.path().join("bin")).find(|bin| bin.join("postgres").exists())?;
    let folder = folder();
    let address = free_address();
    let data = folder.path().join("data").display().to_string();
    let made = unprivileged(&bin.join("initdb"), folder.path())
        .args(["-D", &data, "-A", "trust", "-U", "nobody", "-N"])
        .status()
        .expect("the program exists");
    assert!(made.success(), "initdb: {made}");
    let port = address.port().to_string();
    let sockets = folder.path().display().to_string();
    let child = unprivileged(&bin.join("postgres"), folder.path())
        .args(["-D", &data, "-p", &port, "-h", "127.0.0.1", "-k", &sockets, "-F"])
        .spawn()
        .expect("the program exists");
    Some(wait_for(child, address, folder))
}

#[test]
fn postgresql_answers_whoever_knocks() {
    let Some(service) = postgres() else { skip!("PostgreSQL is not installed: cargo xtask setup") };
    // SSLRequest: a length that counts itself, and 80877103; the answer is one byte.
    let ssl = ["--framing", "binary:4,total", "--answer-framing", "fixed:1", "-m", "\\x04\\xd2\\x16\\x2f"];
    let pace = ["-c", "2", "-n", "40", "--keep-alive", "1"];
    let code = ["--code", "fixed 1 1", "--success", "N,S"];
    let report = tcp(service.address, &[&ssl[..], &pace, &code].concat()).ended_with(0).report();
    assert_eq!((counts(&report), report.sum("connections")), ([40, 40, 0, 0], 40));
    // StartupMessage, version 3.0: the answer is a message with a type before its length, which counts itself.
    let startup = ["--framing", "binary:4,total", "--answer-framing", "binary:4,at=1,adjust=4", "-m"];
    let body = ["\\x00\\x03\\x00\\x00user\\x00nobody\\x00database\\x00postgres\\x00\\x00"];
    let code = ["--code", "head fixed 1 1", "--success", "R"];
    let report = tcp(service.address, &[&startup[..], &body, &pace, &code].concat()).ended_with(0).report();
    assert_eq!(counts(&report), [40, 40, 0, 0]);
    assert!(report.sum("pushed") > 0, "what follows the first message was not asked for");
}
