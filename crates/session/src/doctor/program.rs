//! A process by its program: name, file, build, and when it began.

use super::elf::{self, Build};
use super::owners::stat;
use measure::processes::Process;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Programs that run others' texts, whose names do not say what is run; a version may follow.
const INTERPRETERS: [&str; 14] = [
    "python", "pypy", "node", "nodejs", "ruby", "perl", "php", "java", "bash", "dash", "sh", "lua", "deno",
    "bun",
];
/// Most characters of a script's name.
const LONGEST_SCRIPT: usize = 80;

/// A process as its program shows it; `None`: it is gone.
pub fn process(pid: u32) -> Option<Process> {
    let stat = stat(pid)?;
    let exe = format!("/proc/{pid}/exe");
    let executable = fs::read_link(&exe).ok().map(|file| file.to_string_lossy().into_owned());
    let file = executable.as_deref().map(|file| file.strip_suffix(" (deleted)").unwrap_or(file));
    let program =
        file.and_then(|file| Path::new(file).file_name()).map(|name| name.to_string_lossy().into_owned());
    let program = program.unwrap_or(stat.name);
    let Build { id, version } = build_of(&exe);
    Some(Process {
        pid,
        name: with_script(&program, &fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()),
        executable,
        version,
        build_id: id,
        started_unix_s: started(stat.started),
    })
}

/// The build of a program's file, also of one that was replaced since.
fn build_of(exe: &str) -> Build {
    let Ok(file) = File::open(exe) else { return Build::default() };
    elf::build(|at, length| {
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
    })
}

/// The name of a program, and of the script or module where it is an interpreter.
fn with_script(program: &str, command_line: &[u8]) -> String {
    let version = |rest: &str| rest.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    let interprets = |name: &&str| program.strip_prefix(*name).is_some_and(version);
    if !INTERPRETERS.iter().any(interprets) {
        return program.to_owned();
    }
    let words = command_line.split(|byte| *byte == 0).skip(1).map(String::from_utf8_lossy);
    // Options with a value that names what is run: `-m module`, `-jar file`.
    let mut words =
        words.skip_while(|word| word.starts_with('-') && word != "-m" && word != "-jar" && word != "-c");
    let script = match words.next() {
        // A program on the command line may hold anything.
        Some(word) if word == "-c" => None,
        Some(word) if word == "-m" || word == "-jar" => words.next(),
        word => word,
    };
    let script = script.filter(|word| !word.is_empty());
    let base =
        |word: &str| word.rsplit('/').next().unwrap_or(word).chars().take(LONGEST_SCRIPT).collect::<String>();
    script.map_or(program.to_owned(), |script| format!("{program} {}", base(&script)))
}

/// When a process began, in seconds since 1970; `ticks`: since the machine did.
fn started(ticks: u64) -> Option<f64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let boot = stat.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse::<u64>().ok())?;
    Some(boot as f64 + ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_named_with_what_they_run() {
        for (program, words, name) in [
            ("nginx", "nginx: master process /usr/sbin/nginx\0", "nginx"),
            ("python3.11", "python3\0-u\0/srv/app/server.py\0--key=s3cret\0", "python3.11 server.py"),
            ("python3.11", "python3\0-m\0http.server\08000\0", "python3.11 http.server"),
            ("java", "java\0-Xmx1g\0-jar\0/opt/a.jar\0", "java a.jar"),
            ("bash", "bash\0-c\0echo secret\0", "bash"),
            ("node", "node\0", "node"),
            ("nodemon", "nodemon\0x.js\0", "nodemon"),
            ("python3-config", "python3-config\0x.py\0", "python3-config"),
        ] {
            assert_eq!(with_script(program, words.as_bytes()), name, "{program}");
        }
    }

    #[test]
    fn a_process_is_known_by_its_file_and_its_time() {
        let found = process(std::process::id()).unwrap();
        let own = std::env::current_exe().unwrap();
        assert_eq!(found.executable.as_deref(), own.to_str());
        assert_eq!(
            (found.pid, found.name.as_str()),
            (std::process::id(), own.file_name().unwrap().to_str().unwrap())
        );
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
        assert!(
            found.started_unix_s.is_some_and(|began| began <= now + 2.0 && began > now - 1e6),
            "{found:?}"
        );
        assert_eq!(process(u32::MAX), None);
    }
}
