//! Each command of the docs does what stands there. Blocks marked `sh` hold commands, one to a line. Those that need nothing
//! but this machine are run for a moment and interrupted; of the others the plan is looked at, so that at least each of
//! their words is understood.
//!
//! They run in a network of their own, where all ports are free and a small server answers at 8080, in a folder that has
//! the files they name. Where the system allows no such network, all are only looked at.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;

use crate::{Result, shell};

/// In the environment of the process that runs within the network of its own.
const INSIDE: &str = "WRINGER_DOCS_INSIDE";

/// Seconds after which a command is interrupted; on a busy machine the first may be over before anything has begun.
const RUNS: [&str; 2] = ["0.7", "10"];

/// Seconds that a command may take which ends by itself, or once it was interrupted.
const AT_MOST: &str = "60";

/// The command lines that wringer stands in for.
const DOORS: [&str; 14] = [
    "ab",
    "h1load",
    "haload",
    "h2load",
    "siege",
    "http_load",
    "wrk",
    "wrk2",
    "wrktcp",
    "jtest",
    "hey",
    "bombardier",
    "vegeta",
    "fortio",
];

/// The files that commands name.
const FILES: [(&str, &str); 10] = [
    ("openapi.yaml", "openapi: 3.0.0\nservers: [{url: 'http://localhost:8080'}]\npaths: {/a: {get: {}}}\n"),
    (
        "shop.json",
        "{\"info\": {\"name\": \"shop\"}, \"item\": [{\"name\": \"a\", \"request\": {\"url\": \"http://{{host}}/a\"}}]}",
    ),
    ("targets.txt", "POST http://localhost:8080/a\nContent-Type: text/plain\n@users.csv\n"),
    (
        "access.log",
        "192.0.2.1 - - [27/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 3 \"-\" \"curl/8\"\n\
         192.0.2.1 - - [27/Nov/2026:10:00:01 +0000] \"GET /a HTTP/1.1\" 200 3 \"-\" \"curl/8\"\n",
    ),
    ("urls.txt", "http://localhost:8080/\n"),
    ("moments.txt", "0\thttp://localhost:8080/\n50\thttp://localhost:8080/\n"),
    ("users.csv", "name,password\na,b\n"),
    ("report.lua", "request = function() return wrk.format('GET', '/') end\n"),
    (
        "service.ini",
        "[common]\nhost = 127.0.0.1\nport = 8000\n\n[request]\nreq_body = ping\n\n[response]\nrsp_code_type = xml\n\
         rsp_code_location_tag = <code>\nrsp_code_success = 0\n",
    ),
    ("plan.toml", "version = 1\nseed = 7\n[site]\n[origin]\nlisten = \"127.0.0.1:9080\"\n"),
];

/// A command of a page.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    /// Where it stands, `docs/src/http.md:11`.
    place: String,
    text: String,
}

/// Treatment of a command.
#[derive(Debug, PartialEq, Eq)]
enum Trial {
    /// It is run.
    Run(String),
    /// It ends by itself: mostly, what it means is looked at.
    Look(String),
    /// It is not one of ours.
    Pass,
}

/// Tries the commands of the pages.
///
/// # Errors
/// Those that do not do what stands there, a line for each.
pub fn run(root: &Path, pages: &[(String, String)]) -> Result<()> {
    let lines: Vec<Line> = pages.iter().flat_map(|(name, text)| commands(name, text)).collect();
    let binary = root.join("target/debug/wringer");
    if !binary.exists() {
        return Err(format!("{} is missing: cargo build", binary.display()));
    }
    if std::env::var_os(INSIDE).is_none() && own_network() {
        let mut inside = Command::new("unshare");
        inside.args(["--map-root-user", "--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]);
        let own = std::env::current_exe().map_err(|error| format!("xtask does not know itself: {error}"))?;
        // A build meanwhile has put another file in its place; Linux then says that this one is deleted.
        let own = own.to_string_lossy().trim_end_matches(" (deleted)").to_owned();
        inside.arg(own);
        return shell::run(inside.args(["docs", "--commands"]).env(INSIDE, "1"));
    }
    let inside = std::env::var_os(INSIDE).is_some();
    let failed = try_all(&lines, &binary, inside)?;
    if failed.is_empty() {
        println!("docs: {} commands do what stands there", lines.len());
        return Ok(());
    }
    Err(format!("docs: {} commands do not do what stands there\n{}", failed.len(), failed.join("\n")))
}

/// True if a network of our own can be had.
fn own_network() -> bool {
    let mut probe = Command::new("unshare");
    probe.args(["--map-root-user", "--net", "ip", "link", "set", "lo", "up"]);
    shell::output(&mut probe).is_ok()
}

fn try_all(lines: &[Line], binary: &Path, inside: bool) -> Result<Vec<String>> {
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let links = folder.path().join("bin");
    let cannot = |error: std::io::Error| format!("{} cannot be filled: {error}", folder.path().display());
    fs::create_dir(&links).map_err(cannot)?;
    for name in DOORS.iter().chain(&["wringer"]) {
        std::os::unix::fs::symlink(binary, links.join(name)).map_err(cannot)?;
    }
    for (name, text) in FILES {
        fs::write(folder.path().join(name), text).map_err(cannot)?;
    }
    if inside {
        serve("127.0.0.1:8080").map_err(|error| format!("no server at 8080: {error}"))?;
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", links.display());
    Ok(lines.iter().filter_map(|line| wrong(line, inside, folder.path(), &path)).collect())
}

/// Returns the problem with a command, if any.
fn wrong(line: &Line, inside: bool, folder: &Path, path: &str) -> Option<String> {
    let (text, times) = match trial(&line.text, inside) {
        Trial::Pass => return None,
        Trial::Run(text) => (text, &RUNS[..]),
        Trial::Look(text) => (text, &[AT_MOST][..]),
    };
    let mut said = None;
    for time in times {
        said = Some(attempt(line, &text, time, folder, path)?);
    }
    said
}

/// Runs a command for so many seconds; returns what is wrong with it.
fn attempt(line: &Line, text: &str, time: &str, folder: &Path, path: &str) -> Option<String> {
    let mut command = Command::new("timeout");
    command.args(["--preserve-status", "-s", "INT", "-k", AT_MOST, time, "bash", "-c"]);
    command.arg(format!("exec {text}")).current_dir(folder).env("PATH", path);
    let ended = match command.stdin(std::process::Stdio::null()).output() {
        Ok(ended) => ended,
        Err(error) => return Some(format!("{}: {error}", line.place)),
    };
    // A threshold may be violated; on a busy machine the interrupt may come before anything was begun; ab says by its code
    // that it was interrupted, and the doctor that this machine falls short.
    let judges = ["ab ", "wringer doctor"].iter().any(|program| line.text.starts_with(program));
    match ended.status.code() {
        Some(0 | 3 | 130) => None,
        Some(1) if judges => None,
        code => {
            let said = String::from_utf8_lossy(&ended.stderr);
            let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
            Some(format!("{}: {}: ended with {code:?}: {last}", line.place, line.text))
        }
    }
}

/// The commands of a page: lines of blocks marked `sh`, with those that go on put together.
fn commands(name: &str, text: &str) -> Vec<Line> {
    let (mut found, mut within): (Vec<Line>, bool) = (Vec::new(), false);
    let mut goes_on = false;
    for (line, number) in text.lines().zip(1..) {
        if line.starts_with("```") {
            within = line.trim_end() == "```sh";
            goes_on = false;
        } else if within && goes_on {
            let last = found.last_mut().expect("a line that goes on was one");
            last.text = format!("{} {}", last.text.trim_end_matches('\\'), line.trim());
            goes_on = line.ends_with('\\');
        } else if within && !line.trim().is_empty() && !line.starts_with('#') {
            found.push(Line { place: format!("{name}:{number}"), text: line.to_owned() });
            goes_on = line.ends_with('\\');
        }
    }
    found
}

/// `inside`: all ports are free, and a server answers.
fn trial(text: &str, inside: bool) -> Trial {
    let text = text.replacen("cargo run --release -- ", "wringer ", 1);
    let words: Vec<&str> = text.split_whitespace().collect();
    let program = words.first().copied().unwrap_or_default();
    let command = words.get(1).copied();
    if program != "wringer" && !DOORS.contains(&program) {
        return Trial::Pass;
    }
    let looked = |with: &str| {
        let at = if program == "wringer" {
            format!("wringer {}", command.unwrap_or_default())
        } else {
            program.to_owned()
        };
        Trial::Look(text.replacen(&at, &format!("{at} {with}"), 1))
    };
    let has = |word: &str| words.contains(&word);
    match (program, command) {
        (
            "wringer",
            Some(
                "plan" | "doctor" | "links" | "help" | "completions" | "capture" | "config" | "fleet"
                | "schema",
            ),
        ) => Trial::Look(text),
        ("wringer", Some("rig")) if has("--print") => Trial::Look(text),
        ("wringer", Some("rig")) => looked("--print"),
        _ if ["--show-plan", "--dry-run", "--forecast", "--list"].into_iter().any(has) => Trial::Look(text),
        // Its plans are many; it tells them all.
        ("wringer", Some("size" | "stress" | "probe" | "arena")) => looked("--forecast"),
        _ if inside && is_local(program, command, &words) => Trial::Run(text),
        _ => looked("--show-plan"),
    }
}

/// True if a command needs nothing but this machine and the small server.
fn is_local(program: &str, command: Option<&str>, words: &[&str]) -> bool {
    match (program, command) {
        // The demonstration cache.
        ("wringer", Some("cache")) => {
            let proxy = words.get(2).is_some_and(|word| !word.starts_with(['-', '#']));
            !proxy && !words.contains(&"--rig")
        }
        ("wringer", Some("origin")) => true,
        ("wringer", Some(url)) if url.starts_with("localhost:8080") => true,
        ("wringer", Some("http")) => {
            let mut urls =
                words[2..].iter().filter(|word| word.contains("localhost") || word.contains("://"));
            urls.next().is_some_and(|url| url.contains("localhost:8080"))
                && !words.iter().any(|word| word.starts_with("--proxy"))
        }
        ("ab" | "siege" | "wrk" | "wrk2" | "hey" | "bombardier" | "fortio" | "h1load" | "haload", _) => {
            words.iter().any(|word| word.contains("localhost:8080"))
        }
        ("http_load", _) => true,
        _ => false,
    }
}

/// Answers every request on a thread for each connection, until the process ends.
fn serve(address: &str) -> std::io::Result<()> {
    let listener = TcpListener::bind(address)?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    Ok(())
}

fn answer(stream: TcpStream) {
    let Ok(mut out) = stream.try_clone() else { return };
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    let mut length = 0;
    while lines.read_line(&mut line).is_ok_and(|count| count > 0) {
        if let Some(bytes) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = bytes.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            let mut body = vec![0; length];
            let read = std::io::Read::read_exact(&mut lines, &mut body);
            let sent =
                out.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\nhi\n");
            if read.and(sent).is_err() {
                return;
            }
            length = 0;
        }
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_the_lines_of_marked_blocks() {
        let page = "```\nwringer no\n```\n```sh\n# comment\nwringer a   # b\n\nwringer tcp x \\\n    -m y\n```\nwringer no\n";
        let line = |number: u32, text: &str| Line { place: format!("p:{number}"), text: text.to_owned() };
        assert_eq!(commands("p", page), [line(6, "wringer a   # b"), line(8, "wringer tcp x  -m y")]);
    }

    #[test]
    fn what_needs_others_is_only_looked_at() {
        for (text, trial_of_it) in [
            ("wringer cache -d 5s  # demo", Trial::Run("wringer cache -d 5s  # demo".to_owned())),
            ("cargo run --release -- cache", Trial::Run("wringer cache".to_owned())),
            (
                "wringer cache proxy.example:80",
                Trial::Look("wringer cache --show-plan proxy.example:80".to_owned()),
            ),
            ("wringer cache --rig ats", Trial::Look("wringer cache --show-plan --rig ats".to_owned())),
            ("wringer rig ats", Trial::Look("wringer rig --print ats".to_owned())),
            ("wringer http localhost:8080/ -n 1", Trial::Run("wringer http localhost:8080/ -n 1".to_owned())),
            ("wringer http https://a/", Trial::Look("wringer http --show-plan https://a/".to_owned())),
            ("siege -g http://h/", Trial::Look("siege --show-plan -g http://h/".to_owned())),
            ("wrk -c1 http://localhost:8080/", Trial::Run("wrk -c1 http://localhost:8080/".to_owned())),
            ("wringer doctor plan.toml", Trial::Look("wringer doctor plan.toml".to_owned())),
            ("curl -i x", Trial::Pass),
        ] {
            assert_eq!(trial(text, true), trial_of_it, "{text}");
        }
        assert_eq!(trial("wringer cache", false), Trial::Look("wringer cache --show-plan".to_owned()));
    }
}
