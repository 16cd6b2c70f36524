//! Bad input and bad luck of a load on several machines: shells that talk, agents that are none, processes that stand still, and what
//! only a note is lost of.

use crate::fleet::{Asked, agents, wait_for_agents};
use crate::support::{Ran, Running, folder, program, run, shell, start};
use fleet::PROTOCOL;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A program of ours.
const WRINGER: &str = env!("CARGO_BIN_EXE_wringer");

/// Stands in for the system's ssh: the host's name says how its machine answers, and what is asked of it is `$line`.
const SSH: &str = r#"#!/bin/sh
while [ "$1" != -- ]; do shift; done
host=$2; line=$3; cd "${0%/*}"
case $host in
  silent-*) exec "${host#silent-}" -c "$line" ;;
  chatty-*)
    echo "Welcome to $host."; head -c 40000 /dev/zero | tr '\0' 'm'; echo
    echo "the rc file is not happy" >&2
    exec "${host#chatty-}" -c "$line" ;;
  restricted) echo "Last login: today"; exec bash -r -c "$line" ;;
  nologin) echo "This account is currently not available."; exit 1 ;;
  arm)
    case "$line" in
      *"d=\"$PWD/there\""*) exec sh -c "$line" ;;
      *) echo "Welcome."; echo "Linux aarch64"; exit 41 ;;
    esac ;;
  full|noexec)
    case "$line" in
      *"cat >"*) test $host = noexec && exec cat > /dev/null
        cat > /dev/null; echo "cat: write error: No space left on device" >&2; exit 1 ;;
      *) test $host = noexec && test -e placed-$host && { echo "sh: 1: exec: $host: Permission denied" >&2; exit 126; }
        touch placed-$host; uname -sm; exit 41 ;;
    esac ;;
  many)
    echo x >> begun
    while [ "$(wc -l < begun)" -lt 8 ]; do sleep 0.01; done
    # Whoever is one too many has a while to come.
    sleep 0.3
    begun=$(wc -l < begun); ended=$(wc -l < ended)
    [ $((begun - ended)) -gt 8 ] && echo "$((begun - ended))" >> over
    echo x >> ended; echo "kex_exchange_identification: Connection reset by peer" >&2; exit 255 ;;
esac
"#;

/// A folder with that ssh in it.
fn with_ssh() -> TempDir {
    let place = folder();
    let ssh = place.path().join("ssh");
    fs::write(&ssh, SSH).expect("a file");
    fs::set_permissions(&ssh, Permissions::from_mode(0o755)).expect("it is ours");
    fs::write(place.path().join("ended"), "").expect("a file");
    place
}

/// Runs wringer where that is the system's ssh.
fn behind(place: &Path, line: &str) -> Ran {
    let place = place.display();
    shell(&format!("XDG_CACHE_HOME={place}/cache PATH={place}:$PATH exec $WRINGER {line}"))
}

#[test]
fn login_shells_of_any_kind_lead_to_an_agent_whatever_they_print_before_it() {
    let place = with_ssh();
    let shells = ["sh", "bash", "dash", "ksh", "zsh", "fish", "tcsh", "csh"];
    let (there, missing): (Vec<&str>, Vec<&str>) =
        shells.into_iter().partition(|name| program(name).is_some());
    if !missing.is_empty() {
        crate::support::tell(&format!("login shells that are not there: {}", missing.join(" ")));
    }
    for shell in there {
        for how in ["silent", "chatty"] {
            let found = behind(place.path(), &format!("fleet check --agents ssh:{how}-{shell}"));
            let found = found.ended_with(0);
            assert!(found.stdout.starts_with(&format!("a1  ssh:{how}-{shell}  ")), "{}", found.stdout);
        }
    }
    for (host, said) in [
        ("restricted", &["agent a1 (ssh:restricted)", "restricted", "Last login: today"][..]),
        ("nologin", &["agent a1 (ssh:nologin)", "This account is currently not available."]),
    ] {
        behind(place.path(), &format!("fleet check --agents ssh:{host}")).refused_with(1, said);
    }
}

#[test]
fn a_machine_that_cannot_have_the_program_is_named_with_what_it_said() {
    let place = with_ssh();
    for (host, said) in [
        (
            "arm",
            &[
                "another kind of machine",
                "Linux aarch64",
                "--binary FILE",
                "cmd:'ssh arm wringer agent --stdio'",
            ][..],
        ),
        ("full", &["cannot be copied there", "No space left on device"]),
        (
            "noexec",
            &[
                "exit code 126",
                "Permission denied",
                "--copy-to DIR",
                "cmd:'ssh noexec wringer agent --stdio'",
            ],
        ),
    ] {
        let ran = behind(place.path(), &format!("fleet check --agents ssh:{host}"));
        let named = format!("agent a1 (ssh:{host})");
        ran.refused_with(1, said).refused_with(1, &[&named]);
    }
}

#[test]
fn another_program_is_copied_to_another_folder() {
    let place = with_ssh();
    let there = place.path().join("there");
    let other = place.path().join("other");
    // Like this one, and another file: bytes behind a program change nothing of it.
    let mut bytes = fs::read(WRINGER).expect("it is built");
    bytes.extend(b"of another kind");
    fs::write(&other, bytes).expect("a file");
    let line =
        format!("fleet check --agents ssh:arm --binary {} --copy-to {}", other.display(), there.display());
    let ran = behind(place.path(), &line).ended_with(0);
    assert!(ran.stdout.starts_with("a1  ssh:arm  "), "{}", ran.stdout);
    let kept: Vec<_> =
        fs::read_dir(&there).expect("a folder").map(|file| file.expect("a file").path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(fs::read(&kept[0]).expect("a file"), fs::read(&other).expect("a file"));
    for (words, code, said) in [
        ("--agents ssh:arm --binary nowhere", 1, "--binary nowhere cannot be read"),
        ("--agents ssh:arm --copy-to ~/w", 2, "absolute path"),
        ("--agents local:1 --copy-to /w", 2, "--copy-to is for machines behind ssh"),
        ("--agents local:1 --binary nowhere", 2, "--binary is for machines behind ssh"),
    ] {
        behind(place.path(), &format!("fleet check '{}'", words.replace(' ', "' '")))
            .refused_with(code, &[said]);
    }
}

/// Beyond ten connections that have not proven who they are, sshd drops some by chance.
#[test]
fn of_many_agents_behind_ssh_eight_are_begun_at_once_and_all_troubles_are_told() {
    let place = with_ssh();
    let ran = behind(place.path(), &format!("fleet check {}", "--agents ssh:many ".repeat(30)));
    let ran =
        ran.refused_with(1, &["agent a1 (ssh:many)", "agent a30 (ssh:many)", "Connection reset by peer"]);
    let lines = |name: &str| fs::read_to_string(place.path().join(name)).unwrap_or_default().lines().count();
    assert_eq!((lines("begun"), lines("ended")), (30, 30), "{}", ran.stderr);
    assert!(!place.path().join("over").exists(), "{:?}", fs::read_to_string(place.path().join("over")));
}

/// The bytes of a frame for `printf` of the shell.
fn frame(kind: u8, body: &str) -> String {
    let length = (body.len() as u32 + 1).to_be_bytes();
    let octal = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\{byte:03o}")).collect::<String>();
    format!("{}{}{}", octal(&length), octal(&[kind]), octal(body.as_bytes()))
}

const MAGIC: &str = "\\000\\377wringer\\376agent\\n";

/// An agent that says it is this version of this protocol.
fn hello(protocol: u32, version: &str) -> String {
    let body =
        format!("{{\"protocol\":{protocol},\"version\":\"{version}\",\"host\":\"h\",\"cores\":1,\"pid\":1}}");
    format!("{MAGIC}{}", frame(1, &body))
}

#[test]
fn what_is_no_agent_of_this_version_is_refused_with_what_it_said() {
    let server = Asked::begin();
    let url = format!("http://{}/", server.at);
    let own = env!("CARGO_PKG_VERSION");
    let another = format!("{{\"sha256\":\"{}\",\"warnings\":[]}}", "0".repeat(64));
    for (agent, said) in [
        (
            format!("printf '{}'; cat", hello(PROTOCOL, "0.0.1")),
            format!(
                "it is wringer 0.0.1 (protocol {PROTOCOL}), and this is {own} (protocol {PROTOCOL}): figures of two versions"
            ),
        ),
        (
            format!("printf '{}'; cat", hello(2, own)),
            format!("it is wringer {own} (protocol 2), and this is"),
        ),
        (format!("printf '{MAGIC}\\377\\377\\377\\377'; cat"), "a frame of 4294967295 bytes".to_owned()),
        (
            format!("printf '{MAGIC}{}'; cat", frame(77, "x")),
            "a message of kind 77 cannot be read".to_owned(),
        ),
        (
            format!("printf '{MAGIC}{}'; cat", frame(8, "")),
            "it said something before it said who it is".to_owned(),
        ),
        (format!("printf '{MAGIC}{}'; cat", frame(1, "{}")), "a message of kind 1 cannot be read".to_owned()),
        ("head -c 70000 /dev/zero; cat".to_owned(), "no agent answered".to_owned()),
        (
            // It has begun to read the plan, and says that it had another one.
            format!(
                "printf '{}'; head -c 20 >/dev/null; printf '{}'; cat",
                hello(PROTOCOL, own),
                frame(2, &another)
            ),
            "the plan that came to it is not the one that was sent".to_owned(),
        ),
    ] {
        let agent = format!("cmd:{agent} >/dev/null");
        let agent = agent.replace("; cat >/dev/null", "; exec cat >/dev/null");
        start(["http", &url, "--agents", &agent, "-n", "5"])
            .end()
            .refused_with(1, &["agent a1 (cmd:", &said]);
    }
    assert_eq!(server.take(), BTreeMap::new(), "nothing was sent");
}

#[test]
fn a_machine_with_too_little_is_named_before_anything_is_sent() {
    let server = Asked::begin();
    let url = format!("http://{}/", server.at);
    let poor = format!("cmd:ulimit -n 60; exec {WRINGER} agent --stdio");
    let words =
        ["http", &url, "--agents", "local:1", "--agents", &poor, "--threads", "1", "-c", "400", "-n", "800"];
    let ran = start(words).end().refused_with(1, &["agent a2 (cmd:ulimit", "descriptors"]);
    assert!(!ran.stderr.contains("agent a1"), "{}", ran.stderr);
    assert_eq!(server.take(), BTreeMap::new(), "nothing was sent");
}

/// Asserts that all agents told what the server was asked for, and that none of them is lost.
fn assert_whole(ran: &Ran, asked: &BTreeMap<String, u64>) {
    let told = agents(ran);
    assert!(told.iter().all(|agent| agent["lost"].is_null()), "{told:?}");
    let sum: u64 = told.iter().map(|agent| agent["requests"].as_u64().expect("a count")).sum();
    let counted = ran.report().count("measured/counts/requests");
    assert_eq!((sum, counted), (counted, asked.values().sum()));
}

#[test]
fn an_agent_that_stands_still_for_less_than_its_lease_loses_nothing() {
    let server = Asked::begin();
    let line = format!(
        "http http://{}/ --agents local:3 --rate 150 -d 9s --lease 100s --ignore-exit --json {{}}/result.json",
        server.at
    );
    let mut ran = start(line.split_whitespace());
    let found = wait_for_agents(&mut ran, 3);
    server.wait_for(100, &mut ran);
    kill_process(found[1], Signal::STOP).expect("it runs");
    ran.wait_for("says nothing any more");
    ran.wait_for("  2/3\n");
    kill_process(found[1], Signal::CONT).expect("it is there");
    ran.wait_for("is back");
    let ran = ran.end().ended_with(0);
    assert_whole(&ran, &server.take());
    // Rows were shown without it, and have its part in the end: each is of all three, and none is missing.
    let rows = ran.report().list("timeline");
    assert!(rows.iter().all(|row| !row.has("agents")), "{}", ran.stdout);
    let in_rows: u64 = rows.iter().map(|row| row.count("counts/requests")).sum();
    assert_eq!(in_rows, ran.report().count("measured/counts/requests"));
    let at: Vec<f64> = rows.iter().map(|row| row.number("at_s")).collect();
    assert!(at.windows(2).all(|two| two[0] < two[1]), "{at:?}");
}

#[test]
fn a_controller_that_stands_still_for_less_than_the_lease_loses_nothing() {
    let server = Asked::begin();
    let line = format!(
        "http http://{}/ --agents local:2 --rate 200 -d 12s --lease 100s --ignore-exit --json {{}}/result.json",
        server.at
    );
    let mut ran = start(line.split_whitespace());
    wait_for_agents(&mut ran, 2);
    server.wait_for(100, &mut ran);
    ran.signal(Signal::STOP);
    // Ten seconds of this load.
    server.wait_for(2_100, &mut ran);
    ran.signal(Signal::CONT);
    let ran = ran.end().ended_with(0);
    assert_whole(&ran, &server.take());
    assert!(ran.stdout.contains("the controller of the agents itself did not run for"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("says nothing any more"), "{}", ran.stdout);
}

/// Agents end their load without it. That is its own doing, and nobody else's.
#[test]
fn a_controller_that_stands_still_for_longer_than_the_lease_blames_nobody() {
    let server = Asked::begin();
    let line = format!(
        "http http://{}/ --agents local:2 --rate 200 -d 60s --lease 3s --json {{}}/result.json",
        server.at
    );
    let mut ran = start(line.split_whitespace());
    let found = wait_for_agents(&mut ran, 2);
    server.wait_for(100, &mut ran);
    ran.signal(Signal::STOP);
    let begun = Instant::now();
    while found.iter().any(|agent| is_running(*agent)) {
        assert!(begun.elapsed() < Duration::from_secs(60), "they go on without a controller");
        thread::sleep(Duration::from_millis(20));
    }
    ran.signal(Signal::CONT);
    let ran = ran.end().ended_with(1);
    let report = ran.report();
    let told = agents(&ran);
    for agent in &told {
        let why = agent["lost"]["why"].as_str().expect("a reason");
        assert!(why.contains("this controller itself had not run for"), "{why}");
    }
    assert_eq!(report.text("verdict/target/state"), "answered", "{}", ran.stdout);
    assert!(!ran.stdout.contains("says nothing any more"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("no whole answer"), "{}", ran.stdout);
    // What they had told before counts.
    let counted = report.count("measured/counts/requests");
    assert!(counted >= 100 && counted <= server.take().values().sum(), "{counted}");
}

/// True unless it has ended, its parent not knowing yet included.
fn is_running(process: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn begun(url: &str, agent: &str, more: &str) -> Running {
    let words = ["http", url, "--agents", agent, "--rate", "50", "--json", "{}/result.json"];
    start(words.into_iter().chain(more.split_whitespace()))
}

/// A disk that takes nothing costs a run nothing; only what nobody took is then nowhere.
#[test]
fn an_agent_that_cannot_write_a_file_tells_all_it_has_and_ends_without_a_controller() {
    let server = Asked::begin();
    let url = format!("http://{}/", server.at);
    let agent = format!(
        "cmd:XDG_STATE_HOME=/dev/null/x XDG_CACHE_HOME=/dev/null/x TMPDIR=/dev/null/x exec {WRINGER} agent --stdio"
    );
    let mut ran = begun(&url, &agent, "-d 2s --threads 1 --ignore-exit");
    server.wait_for(1, &mut ran);
    let ran = ran.end().ended_with(0);
    assert_whole(&ran, &server.take());
    let said = "agent a1: it could not keep its result if the controller went away: /dev/null/x/wringer/agents cannot be written";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let mut ran = begun(&url, &agent, "-d 100s --threads 1");
    server.wait_for(110, &mut ran);
    ran.signal(Signal::KILL);
    // That nobody stays is looked for there.
    assert_eq!(ran.end().code(), 137);
}

/// A second hand that jumps: the agent's wall clock is an hour ahead from some moment of the run on.
#[test]
fn a_wall_clock_that_is_set_during_a_run_changes_no_figure() {
    let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
    if !Path::new(library).exists() {
        skip!("a wall clock that is set: there is no libfaketime");
    }
    let server = Asked::begin();
    let url = format!("http://{}/", server.at);
    let place = folder();
    let clock = place.path().join("clock");
    fs::write(&clock, "+0").expect("a file");
    let agent = format!(
        "cmd:LD_PRELOAD={library} FAKETIME_TIMESTAMP_FILE={} FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 exec {WRINGER} agent \
         --stdio",
        clock.display()
    );
    let mut ran = begun(&url, &agent, "-d 4s --threads 1 --ignore-exit");
    server.wait_for(60, &mut ran);
    fs::write(&clock, "+3600").expect("a file");
    server.wait_for(120, &mut ran);
    fs::write(&clock, "-3600").expect("a file");
    let ran = ran.end().ended_with(0);
    assert_whole(&ran, &server.take());
    let report = ran.report();
    let at: Vec<f64> = report.list("timeline").iter().map(|row| row.number("at_s")).collect();
    assert!(at.windows(2).all(|two| two[0] < two[1]) && at.iter().all(|at| *at < 600.0), "{at:?}");
    assert_eq!(report.count("measured/counts/requests"), 200);
    let notes = report.notes();
    assert!(notes.contains("agent a1: its wall clock was set 2 times during the run"), "{notes}");
    assert!(!notes.contains("this machine's"), "it was right before the start: {notes}");
    // And one that is off from the beginning.
    let mut ran = begun(&url, &agent, "-d 1s --threads 1 --ignore-exit");
    server.wait_for(1, &mut ran);
    let ran = ran.end().ended_with(0);
    assert_whole(&ran, &server.take());
    let notes = ran.report().notes();
    assert!(notes.contains("agent a1: its wall clock is 3600.0 s behind this machine's"), "{notes}");
    assert!(!notes.contains("was set"), "{notes}");
}

/// An agent that would judge or serve by another clock does not begin.
#[test]
fn an_agent_whose_wall_clock_is_off_is_refused_where_objects_change_by_it() {
    let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
    if !Path::new(library).exists() {
        skip!("a wall clock that is off: there is no libfaketime");
    }
    let server = Asked::begin();
    let agent = format!(
        "cmd:LD_PRELOAD={library} FAKETIME=-3600 FAKETIME_DONT_FAKE_MONOTONIC=1 exec {WRINGER} agent --stdio"
    );
    let at = server.at.to_string();
    let run = |more: &[&str]| {
        let words = [
            "cache",
            &at,
            "--clients-only",
            "--host",
            &at,
            "-n",
            "5",
            "--threads",
            "1",
            "-q",
            "--agents",
            &agent,
        ];
        start(words.iter().chain(more).copied()).end()
    };
    for more in [["--change-every", "4s"], ["--drift", "60"]] {
        // The time that it took to hear of it is taken off.
        let why = "s behind this machine's, and objects of the plan change by the clock";
        run(&more).refused_with(1, &["agent a1 (cmd:LD_PRELOAD", "its wall clock is at least 3", why]);
    }
    assert!(server.take().is_empty(), "nothing was sent");
    // Its answers are none of our origin's, so that it ends as it may; it is begun.
    assert!(!run(&[]).stderr.contains("objects of the plan change"));
    assert!(!server.take().is_empty());
}

/// A disk that is full is known before the run, and its result comes all the same.
#[test]
fn a_full_disk_of_an_agent_is_noted_and_its_result_comes_over_the_channel() {
    let place = folder();
    let mounted = format!("mount -t tmpfs -o size=8k none {}", place.path().display());
    if shell(&format!("unshare -Urm sh -c '{mounted}'")).code() != 0 {
        skip!("a full disk: nothing can be mounted here");
    }
    let server = Asked::begin();
    let url = format!("http://{}/", server.at);
    let agent = format!(
        "cmd:unshare -Urm sh -c '{mounted} && XDG_STATE_HOME={} exec {WRINGER} agent --stdio'",
        place.path().display()
    );
    let ran = begun(&url, &agent, "-d 1s --threads 1 --ignore-exit").end().ended_with(0);
    assert_whole(&ran, &server.take());
    assert!(ran.stderr.contains("agent a1: it could not keep its result"), "{}", ran.stderr);
    assert!(ran.stderr.contains("No space left on device"), "{}", ran.stderr);
}

#[test]
fn agents_for_which_a_phase_has_nothing_are_named_in_the_report() {
    let server = Asked::begin();
    let line = format!(
        "http http://{}/ -n 20 --ignore-exit --agents local:4 --threads 1 --json {{}}/result.json",
        server.at
    );
    let ran = run(&format!("{line} -c 2")).ended_with(0);
    let said =
        "agents a3, a4 had nothing to do: there are 2 users or connections for 4 workers of all agents";
    assert!(ran.report().notes().contains(said), "{}", ran.report().notes());
    assert!(ran.stdout.contains("agents a3, a4 had nothing to do"), "{}", ran.stdout);
    let ran = run(&format!("{line} -c 4")).ended_with(0);
    assert!(!ran.report().notes().contains("nothing to do"), "{}", ran.report().notes());
}

#[test]
fn two_agents_with_one_source_address_are_noted() {
    let server = Asked::begin();
    let place = folder();
    let file = place.path().join("fleet.toml");
    let entry = |name: &str, sources: &str| {
        format!("[[agents]]\nat = \"local\"\nname = \"{name}\"\nsources = [\"{sources}\"]\n")
    };
    let line = format!("http http://{}/ -n 20 -c 4 --ignore-exit --agents {}", server.at, file.display());
    let text = entry("c1", "127.0.0.2-127.0.0.4") + &entry("c2", "127.0.0.5") + &entry("c3", "127.0.0.4");
    fs::write(&file, text).expect("a file");
    let ran = run(&line).ended_with(0);
    let all = ran.stderr + &ran.stdout;
    assert!(all.contains("agents c1 and c3 both connect from 127.0.0.4"), "{all}");
    assert!(!all.contains("c2 both") && !all.contains("and c2"), "{all}");
    let text = entry("c1", "127.0.0.2-127.0.0.4") + &entry("c2", "127.0.0.5");
    fs::write(&file, text).expect("a file");
    let ran = run(&line).ended_with(0);
    assert!(!(ran.stderr + &ran.stdout).contains("both connect from"));
}
