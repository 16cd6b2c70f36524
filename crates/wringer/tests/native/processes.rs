//! The target's processes: who answers, and what is told when they crash, are reloaded, or are replaced within a run.

use crate::support::{Ran, Running, folder, free_address, program, run, start, start_in, wringer};
use rustix::process::{Pid, Signal, kill_process};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Long enough for anything that is to happen within a run, which ends it.
const LONG: &str = "-d 90s -c 2 -t 1 --json {}/result.json";

/// A server of its own process: an origin.
fn server(at: SocketAddr) -> Running {
    let mut server = wringer(&format!("origin --listen {at} --size 1KB -t 1 -q"));
    server.wait_for("listens at");
    server
}

fn pid(running: &Running) -> Pid {
    running.processes()[0].0
}

/// The first process of a run whose command line holds these words, once there is one.
fn process(running: &mut Running, words: &str) -> Pid {
    loop {
        let found = running.processes().into_iter().find(|(_, line)| line.contains(words));
        if let Some((pid, _)) = found {
            return pid;
        }
        assert!(running.is_running(), "{}", running.said());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn kill(process: Pid, signal: Signal) {
    kill_process(process, signal).expect("it runs");
}

/// A listener at the address of a server that was killed: the kernel may clear up after it for a moment.
fn bound(at: SocketAddr) -> TcpListener {
    let tries = (0..500).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        TcpListener::bind(at).ok()
    });
    tries.expect("the port is free within ten seconds")
}

/// The changes of the target's processes, in their order.
fn changes(ran: &Ran) -> Vec<serde_json::Value> {
    ran.report().at("processes/during").as_array().expect("a list").clone()
}

/// Asserts that a run was ended by the target's death, and returns the change.
fn died(ran: Ran) -> (Ran, serde_json::Value) {
    let ran = ran.ended_with(1);
    assert!(ran.report().number("run/duration_s") < 80.0, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("The run was ended there; a single run goes on with --ignore-exit"),
        "{}",
        ran.stderr
    );
    let changes = changes(&ran);
    let fatal = changes.iter().find(|change| change["fatal"] == true).expect("a death").clone();
    assert_eq!(fatal["ended_run"], true);
    (ran, fatal)
}

#[test]
fn a_crash_ends_the_run_with_pid_signal_and_build() {
    let at = free_address();
    let server = server(at);
    let its_pid = pid(&server);
    let mut run = wringer(&format!("cache {at} --host {at} --clients-only {LONG}"));
    run.wait_for("in flight");
    kill(its_pid, Signal::ABORT);
    let (ran, change) = died(run.end());
    server.end();
    let number = its_pid.as_raw_pid();
    assert_eq!((&change["change"], &change["how"]["signal"]), (&"ended".into(), &6.into()));
    assert_eq!(change["process"]["pid"], number);
    let sentence = format!("process wringer (pid {number}) was ended by SIGABRT");
    assert!(
        ran.stdout.contains("Target\n") && ran.stderr.contains(&sentence),
        "{}\n{}",
        ran.stderr,
        ran.stdout
    );
    let report = ran.report();
    assert_eq!(report.text("processes/before/0/processes/0/executable"), env!("CARGO_BIN_EXE_wringer"));
    assert!(report.text("processes/before/0/processes/0/build_id").len() >= 16);
    assert_eq!(report.text("processes/after/0/unknown/why"), "nobody_here");
}

#[test]
fn a_run_goes_on_where_that_is_asked_for_and_the_target_has_died_all_the_same() {
    let at = free_address();
    let server = server(at);
    let its_pid = pid(&server);
    let line = "-d 6s -c 2 -t 1 --json {}/result.json --ignore-exit --no-keep";
    let mut run = wringer(&format!("cache {at} --host {at} --clients-only {line}"));
    run.wait_for("in flight");
    kill(its_pid, Signal::KILL);
    run.wait_for("was ended by SIGKILL");
    // Somebody else takes its place: this test.
    let listener = bound(at);
    let ran = run.end().ended_with(1);
    server.end();
    drop(listener);
    assert!(ran.report().number("run/duration_s") > 2.5, "{}", ran.stdout);
    let changes = changes(&ran);
    assert_eq!(
        (&changes[0]["fatal"], &changes[0]["ended_run"]),
        (&true.into(), &false.into()),
        "{changes:?}"
    );
    let replaced = changes.iter().find(|change| change["change"] == "replaced").expect("it is told");
    assert_eq!(
        (&replaced["by"]["pid"], &replaced["same_program"]),
        (&std::process::id().into(), &false.into())
    );
    assert!(ran.stdout.contains("another program answers"), "{}", ran.stdout);
}

#[test]
fn a_program_that_takes_the_place_of_one_that_was_asked_to_end_is_told() {
    let at = free_address();
    let first = server(at);
    let its_pid = pid(&first);
    let mut run = wringer(&format!("http http://{at}/ {LONG} --rate 20 --no-keep").replace("-c 2 ", ""));
    run.wait_for("in flight");
    kill(its_pid, Signal::TERM);
    first.end();
    let second = server(at);
    run.wait_for("a new start of wringer");
    run.signal(Signal::INT);
    let ran = run.end();
    let second_pid = pid(&second);
    second.signal(Signal::INT);
    second.end();
    let told: Vec<String> = changes(&ran).iter().map(|change| change["change"].to_string()).collect();
    assert_eq!(told, ["\"ended\"", "\"replaced\""]);
    let changes = changes(&ran);
    assert_eq!((&changes[0]["fatal"], &changes[1]["same_program"]), (&false.into(), &true.into()));
    assert_eq!(ran.report().count("processes/after/0/processes/0/pid"), second_pid.as_raw_pid() as u64);
}

/// A server that starts wringer itself, as a test does, has children that are none of its workers: programs, and copies of its own.
#[test]
fn children_of_a_server_that_started_wringer_are_none_of_its_workers() {
    if program("python3").is_none() {
        skip!("python3 is not installed");
    }
    let at = free_address();
    let place = folder();
    let server = format!(
        "import os, signal, socket, subprocess, sys, threading, time\n\
         child = os.fork()\n\
         if not child:\n\
         \x20   time.sleep(60)\n\
         \x20   os._exit(0)\n\
         s = socket.create_server(('127.0.0.1', {port}))\n\
         asked = []\n\
         def serve():\n\
         \x20   while True:\n\
         \x20       c = s.accept()[0]\n\
         \x20       if c.recv(65536): asked.append(1)\n\
         \x20       c.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 1\\r\\nConnection: close\\r\\n\\r\\nx')\n\
         \x20       c.close()\n\
         threading.Thread(target=serve, daemon=True).start()\n\
         time.sleep(1)\n\
         ran = subprocess.Popen(sys.argv[1:])\n\
         while len(asked) < 10: time.sleep(0.02)\n\
         os.kill(child, signal.SIGKILL)\n\
         os.waitpid(child, 0)\n\
         sys.exit(ran.wait())\n",
        port = at.port()
    );
    std::fs::write(place.path().join("server.py"), server).expect("the folder is ours");
    let script = place.path().join("server.py").display().to_string();
    let line = format!("http http://{at}/ --rate 20 -d 3s --json result.json --no-keep");
    let ran = crate::support::shell(&format!("python3 {script} $WRINGER {line}")).ended_with(0);
    assert_eq!(changes(&ran), Vec::<serde_json::Value>::new());
    assert_eq!(ran.report().count("processes/before/0/workers"), 0);
}

/// A server in Perl at a socket that it was given the number of.
const SECOND: &str = "use IO::Socket::INET; open(my $h, '+<&=', $ARGV[0]); my $s = IO::Socket::INET->new_from_fd(fileno($h), '+<'); \
                      while (my $c = $s->accept) { sysread($c, my $b, 65536); \
                      syswrite($c, \"HTTP/1.1 200 OK\\r\\nContent-Length: 1\\r\\nConnection: close\\r\\n\\r\\nx\"); close $c }";

/// A process that becomes another program keeps its number and its sockets, so nobody who looks at those alone would see it.
#[test]
fn a_program_that_becomes_another_one_in_its_place_is_told() {
    if program("python3").is_none() || program("perl").is_none() {
        skip!("python3 or perl is not installed");
    }
    let at = free_address();
    let place = folder();
    // The socket outlives the exec, with its number; the other program answers as the first one did.
    let first = format!(
        "import os, socket, time\n\
         s = socket.create_server(('127.0.0.1', {port}))\n\
         os.set_inheritable(s.fileno(), True)\n\
         s.settimeout(0.05)\n\
         until = None\n\
         while until is None or time.monotonic() < until:\n\
         \x20   try: c = s.accept()[0]\n\
         \x20   except TimeoutError: continue\n\
         \x20   until = until or time.monotonic() + 2\n\
         \x20   c.settimeout(1)\n\
         \x20   try: c.recv(65536); c.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 1\\r\\nConnection: close\\r\\n\\r\\nx')\n\
         \x20   except OSError: pass\n\
         \x20   c.close()\n\
         s.setblocking(True)\n\
         os.execvp('perl', ['perl', 'second.pl', str(s.fileno())])\n",
        port = at.port()
    );
    std::fs::write(place.path().join("first.py"), first).expect("the folder is ours");
    std::fs::write(place.path().join("second.pl"), SECOND).expect("the folder is ours");
    let mut server =
        Command::new("python3").arg("first.py").current_dir(place.path()).spawn().expect("python3");
    while std::net::TcpStream::connect(at).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let mut run = wringer(&format!("http http://{at}/ {LONG} --rate 20 --no-keep").replace("-c 2 ", ""));
    run.wait_for("another program answers");
    run.signal(Signal::INT);
    let ran = run.end();
    server.kill().expect("it is ours");
    server.wait().expect("it is ours");
    let changes = changes(&ran);
    assert_eq!(changes.len(), 1, "{changes:?}");
    let old = &changes[0]["process"];
    let new = &changes[0]["by"];
    assert_eq!((&changes[0]["change"], &changes[0]["same_program"]), (&"replaced".into(), &false.into()));
    assert_eq!((&old["pid"], &new["pid"]), (&server.id().into(), &server.id().into()));
    assert!(old["name"].as_str().is_some_and(|name| name.starts_with("python3")), "{old}");
    assert!(new["name"].as_str().is_some_and(|name| name.contains("second.pl")), "{new}");
    assert!(ran.stdout.contains("another program answers"), "{}", ran.stdout);
}

/// The same of a worker, which its parent does not notice either.
#[test]
fn a_worker_that_becomes_another_program_is_told() {
    if program("python3").is_none() || program("perl").is_none() {
        skip!("python3 or perl is not installed");
    }
    let at = free_address();
    let place = folder();
    let first = format!(
        "import os, signal, socket\n\
         s = socket.create_server(('127.0.0.1', {port}))\n\
         child = os.fork()\n\
         if child:\n\
         \x20   with open('begun', 'w') as f: f.write(str(child))\n\
         \x20   os.rename('begun', 'child')\n\
         \x20   os.wait()\n\
         \x20   os._exit(0)\n\
         os.set_inheritable(s.fileno(), True)\n\
         s.settimeout(0.05)\n\
         told = []\n\
         signal.signal(signal.SIGUSR1, lambda *_: told.append(1))\n\
         while not told:\n\
         \x20   try: c = s.accept()[0]\n\
         \x20   except TimeoutError: continue\n\
         \x20   c.settimeout(1)\n\
         \x20   try: c.recv(65536); c.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 1\\r\\nConnection: close\\r\\n\\r\\nx')\n\
         \x20   except OSError: pass\n\
         \x20   c.close()\n\
         s.setblocking(True)\n\
         os.execvp('perl', ['perl', 'second.pl', str(s.fileno())])\n",
        port = at.port()
    );
    std::fs::write(place.path().join("first.py"), first).expect("the folder is ours");
    std::fs::write(place.path().join("second.pl"), SECOND).expect("the folder is ours");
    let mut server =
        Command::new("python3").arg("first.py").current_dir(place.path()).spawn().expect("python3");
    let child = loop {
        if let Ok(number) = std::fs::read_to_string(place.path().join("child")) {
            break number.parse::<i32>().expect("a number");
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    // Younger ones may still be about to become what they shall be.
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let mut run = wringer(&format!("http http://{at}/ {LONG} --rate 20 --no-keep").replace("-c 2 ", ""));
    run.wait_for("in flight");
    kill(Pid::from_raw(child).expect("a number"), Signal::USR1);
    run.wait_for("is another program");
    run.signal(Signal::INT);
    let ran = run.end();
    kill(Pid::from_raw(child).expect("a number"), Signal::KILL);
    server.wait().expect("it is ours");
    let changes = changes(&ran);
    assert_eq!(changes.len(), 1, "{changes:?}");
    let parent = &changes[0]["process"];
    let now = &changes[0]["by"];
    assert_eq!((&changes[0]["change"], &changes[0]["fatal"]), (&"worker_became".into(), &false.into()));
    assert_eq!((&parent["pid"], &now["pid"]), (&server.id().into(), &child.into()));
    assert!(parent["name"].as_str().is_some_and(|name| name.starts_with("python3")), "{parent}");
    assert!(now["name"].as_str().is_some_and(|name| name.contains("second.pl")), "{now}");
    assert!(now["executable"].as_str().is_some_and(|file| file.contains("perl")), "{now}");
    assert!(ran.stdout.contains("is another program"), "{}", ran.stdout);
}

#[test]
fn a_rig_that_crashes_is_told_with_its_log() {
    if program("haproxy").is_none() {
        skip!("haproxy is not installed");
    }
    let mut run = wringer(&format!("cache --rig haproxy {LONG} --no-keep --origin 127.0.0.1:0"));
    run.wait_for("in flight");
    kill(process(&mut run, "haproxy -db"), Signal::SEGV);
    let (ran, change) = died(run.end());
    assert_eq!((&change["change"], &change["how"]["signal"]), (&"ended".into(), &11.into()), "{change}");
    assert_eq!(change["process"]["name"], "haproxy");
    assert!(change["process"]["version"].as_str().is_some_and(|version| version.contains('.')), "{change}");
    assert!(change["log"].as_array().is_some_and(|lines| !lines.is_empty()), "{change}");
    assert!(ran.stdout.contains("its log"), "{}", ran.stdout);
}

#[test]
fn a_worker_that_crashes_and_is_replaced_is_a_crash() {
    if program("nginx").is_none() {
        skip!("nginx is not installed");
    }
    let mut run = wringer(&format!("cache --rig nginx {LONG} --no-keep --origin 127.0.0.1:0"));
    run.wait_for("in flight");
    let [master, worker] = ["nginx: master", "nginx: worker"].map(|words| process(&mut run, words));
    // It is busy for a while, so it says only then what has ended.
    kill(master, Signal::STOP);
    kill(worker, Signal::SEGV);
    thread::sleep(Duration::from_millis(400));
    kill(master, Signal::CONT);
    let (_, change) = died(run.end());
    assert_eq!(
        (&change["change"], &change["how"]["signal"]),
        (&"worker_ended".into(), &11.into()),
        "{change}"
    );
    let log = change["log"].to_string();
    assert!(log.contains("exited on signal 11"), "{change}");
}

#[test]
fn the_child_of_varnish_is_a_worker() {
    if program("varnishd").is_none() {
        skip!("varnish is not installed");
    }
    let mut run = wringer(&format!("cache --rig varnish {LONG} --no-keep --origin 127.0.0.1:0"));
    run.wait_for("in flight");
    // The manager comes before its child.
    let children =
        run.processes().into_iter().filter(|(_, line)| line.contains("varnishd -")).map(|(pid, _)| pid);
    let child = children.max_by_key(|pid| pid.as_raw_pid()).expect("it runs");
    kill(child, Signal::KILL);
    let (ran, change) = died(run.end());
    assert_eq!(
        (&change["change"], &change["worker"]),
        (&"worker_ended".into(), &child.as_raw_pid().into()),
        "{change}"
    );
    // A busy manager has not said yet how it died.
    assert!(change["log"].to_string().contains("Child ("), "{change}");
    assert!(!ran.stderr.contains("nobody listens"), "{}", ran.stderr);
}

#[test]
fn a_reload_is_told_as_one_and_ends_nothing() {
    if program("nginx").is_none() {
        skip!("nginx is not installed");
    }
    let mut run = wringer(&format!("cache --rig nginx {LONG} --no-keep --origin 127.0.0.1:0"));
    run.wait_for("in flight");
    let master = process(&mut run, "nginx: master");
    kill(master, Signal::HUP);
    run.wait_for("a reload, or workers that are replaced in turn");
    run.signal(Signal::INT);
    let ran = run.end();
    let changes = changes(&ran);
    assert!(
        changes.iter().all(|change| change["change"] == "reloaded" && change["fatal"] == false),
        "{changes:?}"
    );
}

#[test]
fn a_watched_process_that_crashes_ends_runs_of_every_command() {
    let at = free_address();
    let server = server(at);
    let plan = run(&format!("http http://{at}/ -d 90s -c 2 -t 1 --show-plan")).ended_with(0).stdout;
    for command in ["run {}/plan.toml".to_owned(), format!("tcp {at} -m x -d 90s -c 1 -t 1")] {
        let place = folder();
        std::fs::write(place.path().join("plan.toml"), &plan).expect("the folder is ours");
        let mut watched = Command::new("sleep").arg("120").spawn().expect("sleep");
        let line = format!("{command} --json {{}}/result.json --no-keep --watch-pid {}", watched.id());
        let mut run = start_in(place, line.split_whitespace());
        run.wait_for("in flight");
        kill(Pid::from_child(&watched), Signal::SEGV);
        let ran = run.end();
        watched.wait().expect("it is ours");
        let (_, change) = died(ran);
        assert_eq!(
            change["process"]["name"].as_str().map(|name| name.contains("sleep") || name == "coreutils"),
            Some(true)
        );
    }
    server.signal(Signal::INT);
    server.end();
}

#[test]
fn doors_go_on_and_say_a_line() {
    let at = free_address();
    let server = server(at);
    let its_pid = pid(&server);
    let mut run = start(["wrk", "-t1", "-c2", "-d8s", &format!("http://{at}/")]);
    run.wait_for("connections");
    // Lines that tell when the run is under way are not wrk's.
    std::thread::sleep(std::time::Duration::from_secs(2));
    kill(its_pid, Signal::ABORT);
    let ran = run.end().ended_with(0);
    server.end();
    let line = format!("wrk: process wringer (pid {}) was ended by SIGABRT", its_pid.as_raw_pid());
    assert!(ran.stderr.contains(&line) && !ran.stderr.contains("--ignore-exit"), "{}", ran.stderr);
    assert!(ran.stdout.contains("Requests/sec:") && !ran.stdout.contains("SIGABRT"), "{}", ran.stdout);
}

#[test]
fn a_unix_socket_s_process_is_known() {
    let place = folder();
    let path = place.path().join("socket");
    let listener = UnixListener::bind(&path).expect("the folder is ours");
    let line = format!(
        "http http://a/ --unix-socket {} -n 1 --timeout 200ms -q --json {{}}/result.json",
        path.display()
    );
    let ran = run(&line).ended_with(1);
    drop(listener);
    assert_eq!(ran.report().count("processes/before/0/processes/0/pid"), u64::from(std::process::id()));
}

#[test]
fn another_user_s_process_is_said_not_to_be_known() {
    if !rustix::process::geteuid().is_root() {
        skip!("only root can be somebody else");
    }
    let at = free_address();
    let server = server(at);
    let mut command = Command::new(env!("CARGO_BIN_EXE_wringer"));
    command.args(["http", &format!("http://{at}/"), "-n", "10", "-t", "1", "--no-keep", "--json", "-"]);
    let told =
        command.uid(65534).gid(65534).current_dir("/").stderr(Stdio::null()).stdin(Stdio::null()).output();
    server.signal(Signal::INT);
    server.end();
    let Ok(told) = told else {
        skip!("nobody may not run this build");
    };
    let report = crate::support::Report::of(&String::from_utf8_lossy(&told.stdout));
    let unknown = report.at("processes/before/0/unknown");
    assert_eq!((&unknown["why"], &unknown["uid"]), (&"another_user".into(), &0.into()));
}
