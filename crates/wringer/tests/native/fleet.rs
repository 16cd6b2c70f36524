//! A load that several processes carry: the same requests as of one, exact sums, and what a loss leaves.

use crate::support::{Ran, Running, folder, free_address, program, run, shell, start};
use rustix::process::{Pid, Signal, kill_process};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// A server that writes down what it was asked for, in a process of its own.
pub struct Asked {
    pub at: SocketAddr,
    process: Child,
    place: TempDir,
    read: Cell<usize>,
}

/// In the environment of such a process: the folder that it writes to.
const PLACE: &str = "WRINGER_TEST_ASKED";

impl Asked {
    pub fn begin() -> Asked {
        let place = folder();
        let own = std::env::current_exe().expect("this test has a file");
        let mut server = Command::new(own);
        server.args(["--exact", "fleet::a_server_for_the_others", "--ignored", "--nocapture"]);
        let process = server.env(PLACE, place.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.expect("it is there");
        let at = loop {
            match fs::read_to_string(place.path().join("at")).ok().and_then(|text| text.parse().ok()) {
                Some(at) => break at,
                None => thread::sleep(Duration::from_millis(10)),
            }
        };
        Asked { at, process, place, read: Cell::new(0) }
    }

    /// How often it was asked for each path since this was asked last.
    pub fn take(&self) -> BTreeMap<String, u64> {
        let text = fs::read_to_string(self.place.path().join("asked")).unwrap_or_default();
        let mut paths = BTreeMap::new();
        text[self.read.replace(text.len())..]
            .lines()
            .for_each(|path| *paths.entry(path.to_owned()).or_default() += 1);
        paths
    }

    /// How often it was asked in all.
    fn lines(&self) -> usize {
        fs::read_to_string(self.place.path().join("asked")).unwrap_or_default().lines().count()
    }

    /// Waits until it was asked so often in all.
    pub fn wait_for(&self, times: usize, ran: &mut Running) {
        while self.lines() < times {
            assert!(ran.is_running(), "{}", ran.said());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "no test: the server of the others, which start it"]
fn a_server_for_the_others() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let asked = OpenOptions::new().create(true).append(true).open(place.join("asked")).expect("a file");
    let at = listener.local_addr().expect("it is bound").to_string();
    fs::write(place.join("at.new"), at)
        .and_then(|()| fs::rename(place.join("at.new"), place.join("at")))
        .expect("a file");
    for stream in listener.incoming().flatten() {
        let asked = asked.try_clone().expect("a descriptor");
        thread::spawn(move || answer(stream, asked));
    }
}

fn answer(mut stream: TcpStream, mut asked: File) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    loop {
        let first = lines.next()?.ok()?;
        while !lines.next()?.ok()?.is_empty() {}
        asked.write_all(format!("{}\n", first.split(' ').nth(1)?).as_bytes()).ok()?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").ok()?;
    }
}

/// The agents of a run, as its JSON has them.
pub fn agents(ran: &Ran) -> Vec<serde_json::Value> {
    ran.report().at("agents").as_array().expect("a list").clone()
}

#[test]
fn agents_send_the_requests_of_one_machine_with_as_many_workers() {
    let server = Asked::begin();
    let at = server.at;
    for load in [
        format!("http://{at}/a/{{{{int:1..1000000}}}} -n 301 -c 6 --seed 11"),
        format!("http://{at}/b/{{{{counter:1..50}}}} -n 200 -c 6 --seed 11"),
        format!("http://{at}/c/{{{{counter:1..50}}}} -n 200 -c 2 --seed 11"),
        format!("http://{at}/d/{{{{int:1..1000}}}} http://{at}/e -n 100 --rate 400 --seed 11"),
    ] {
        run(&format!("http {load} -t 3 -q")).ended_with(0);
        let alone = server.take();
        let ran = run(&format!("http {load} --agents local:3 -q --json {{}}/result.json")).ended_with(0);
        assert_eq!(server.take(), alone, "{load}");
        let sum: u64 = agents(&ran).iter().map(|agent| agent["requests"].as_u64().expect("a count")).sum();
        assert_eq!(sum, ran.report().count("measured/counts/requests"), "{load}");
        assert!(ran.stdout.is_empty() || ran.stdout.contains("told all"), "{}", ran.stdout);
    }
}

#[test]
fn rows_of_a_file_are_dealt_once_over_all_agents() {
    let server = Asked::begin();
    let place = folder();
    let rows = place.path().join("rows.txt");
    fs::write(&rows, (1..=30).map(|row| format!("row{row}\n")).collect::<String>()).expect("a file");
    let url = format!("http://{}/{{{{rows}}}}", server.at);
    let rows = format!("rows={}", rows.display());
    let words = ["http", &url, "--data-file", &rows, "-n", "90", "-c", "8", "--agents", "local:4", "-q"];
    start(words).end().ended_with(0);
    let asked = server.take();
    assert_eq!((asked.len(), asked.values().sum::<u64>()), (30, 90), "{asked:?}");
    assert!(asked.values().all(|times| *times == 3), "{asked:?}");
}

#[test]
fn a_plan_file_and_an_old_tool_run_on_agents_too() {
    let server = Asked::begin();
    let at = server.at;
    let place = folder();
    let plan = place.path().join("plan.toml");
    let shown = run(&format!("http http://{at}/p -n 60 -c 4 --show-plan")).ended_with(0);
    fs::write(&plan, &shown.stdout).expect("a file");
    let checked =
        start(["fleet", "check", plan.to_str().expect("a name"), "--agents", "local:2"]).end().ended_with(0);
    assert!(checked.stdout.contains("a2  local  would carry it with 1 worker"), "{}", checked.stdout);
    assert_eq!(server.take(), BTreeMap::new(), "a check sends no request");
    let ran = start(["fleet", "run", plan.to_str().expect("a name"), "--agents", "local:2", "-q"]);
    ran.end().ended_with(0);
    assert_eq!(server.take(), BTreeMap::from([("/p".to_owned(), 60)]));
    let ran = run(&format!("wrk --agents local:2 -t1 -c4 -d1s http://{at}/w --json {{}}/result.json"))
        .ended_with(0);
    let told = agents(&ran);
    assert!(told.len() == 2 && told.iter().all(|agent| agent["requests"].as_u64() > Some(0)), "{told:?}");
    assert!(
        ran.stdout.contains("Running 1s test") && ran.stdout.matches("Requests/sec").count() == 1,
        "{}",
        ran.stdout
    );
    assert!(server.take()["/w"] >= ran.report().count("measured/counts/requests"));
}

#[test]
fn a_file_of_agents_says_what_is_each_ones_own() {
    let server = Asked::begin();
    let at = server.at;
    let place = folder();
    let file = place.path().join("fleet.toml");
    let named = file.display();
    let told = |text: &str| fs::write(&file, text).expect("a file");
    told(
        "[defaults]\nthreads = 2\n[[agents]]\nat = \"local\"\nname = \"c1\"\nsources = [\"127.0.0.2-127.0.0.3\"]\n[[agents]]\n\
         at = \"local\"\nthreads = 1\n",
    );
    let url = format!("http://{at}/f/{{{{int:1..1000000}}}}");
    run(&format!("http {url} -n 90 -c 6 --seed 5 -q -t 4")).ended_with(0);
    let alone = server.take();
    // The workers of an entry count, and not those of all.
    let line = format!(
        "http {url} -n 90 -c 6 --seed 5 -q -t 7 --agents {named} --agents local:1 --json {{}}/result.json"
    );
    let ran = run(&line.replace("--agents local:1 ", "")).ended_with(0);
    let short = |agent: &serde_json::Value| {
        (agent["name"].as_str().expect("a name").to_owned(), agent["threads"].as_u64().expect("a count"))
    };
    let found: Vec<_> = agents(&ran).iter().map(short).collect();
    assert_eq!(found, [("c1".to_owned(), 2), ("a2".to_owned(), 1)]);
    let of_three = server.take();
    assert_eq!(of_three.values().sum::<u64>(), alone.values().sum::<u64>());
    let ran = run(&line.replace("-t 7", "-t 1")).ended_with(0);
    assert_eq!(
        (agents(&ran).len(), server.take()),
        (3, alone),
        "four workers send what four of one machine do"
    );
    let checked = start(["fleet", "check", "--agents", &named.to_string()]).end().ended_with(0);
    assert!(checked.stdout.starts_with("c1  local  "), "{}", checked.stdout);
    for (text, code, said) in [
        ("[[agents]]\nat = \"local\"\nsources = [\"192.0.2.7\"]\n", 1, "192.0.2.7"),
        ("[[agents]]\nat = \"local\"\ntreads = 1\n", 2, "fleet.toml, line 3: unknown field `treads`"),
        (
            "[[agents]]\nat = \"local\"\nname = \"a2\"\n[[agents]]\nat = \"local\"\n",
            2,
            "two agents would be called a2",
        ),
        ("[[agents]]\nat = \"local\"\nrole = \"origin\"\nlisten = \"127.0.0.1:9\"\n", 2, "clients alone"),
    ] {
        told(text);
        run(&format!("http http://{at}/ -n 5 --agents {named}")).refused_with(code, &[said]);
    }
    assert_eq!(server.take(), BTreeMap::new());
}

/// The agents of a run, once there are so many.
pub fn wait_for_agents(run: &mut Running, count: usize) -> Vec<Pid> {
    loop {
        let all = run.processes().into_iter().filter(|(_, line)| line.contains("agent --stdio"));
        let found: Vec<Pid> = all.map(|(pid, _)| pid).collect();
        if found.len() == count {
            return found;
        }
        assert!(run.is_running(), "{}", run.said());
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_agent_that_is_killed_is_named_and_what_it_told_counts() {
    let server = Asked::begin();
    let mut ran = start(
        format!(
            "http http://{}/ --agents local:3 --rate 300 -d 6s --json {{}}/result.json --events {{}}/events",
            server.at
        )
        .split_whitespace(),
    );
    let found = wait_for_agents(&mut ran, 3);
    while ran.lines_of_seconds() < 2 {
        assert!(ran.is_running(), "{}", ran.said());
        thread::sleep(Duration::from_millis(10));
    }
    kill_process(found[1], Signal::KILL).expect("it runs");
    let ran = ran.end().ended_with(1);
    assert!(ran.stdout.contains("incomplete: agent"), "{}", ran.stdout);
    let report = ran.report();
    assert_eq!(report.text("verdict/measurement/state"), "cut_off");
    let told = agents(&ran);
    let lost: Vec<_> = told.iter().filter(|agent| !agent["lost"].is_null()).collect();
    assert!(
        lost.len() == 1 && lost[0]["lost"]["why"].as_str().expect("why").contains("signal 9"),
        "{told:?}"
    );
    let sum: u64 = told.iter().map(|agent| agent["requests"].as_u64().expect("a count")).sum();
    let counted = report.count("measured/counts/requests");
    let asked = server.take().values().sum::<u64>();
    // The server saw what it sent after its last word, too.
    assert!(sum == counted && counted <= asked, "{sum} {counted} {asked}");
    assert!(lost[0]["requests"].as_u64() > Some(0), "{told:?}");
    // Rows of which it has not told all are of two agents.
    let told_until = lost[0]["lost"]["told_until_s"].as_f64().expect("a time");
    assert!(Some(told_until) <= lost[0]["lost"]["at_s"].as_f64(), "{lost:?}");
    let written: serde_json::Value = serde_json::from_str(&ran.file("result.json")).expect("JSON");
    let rows = written["timeline"].as_array().expect("a list");
    let two = serde_json::json!({"told": 2, "of": 3});
    let marked = |row: &&serde_json::Value| row["agents"] == two;
    let later = |row: &&serde_json::Value| row["at_s"].as_f64() > Some(told_until + 0.5);
    assert!(
        rows.iter().filter(later).count() > 0 && rows.iter().filter(later).all(|row| marked(&row)),
        "{rows:?}"
    );
    assert!(rows.iter().filter(|row| !later(row)).all(|row| row["agents"].is_null()), "{rows:?}");
    // They said so when they were told.
    let events = ran.file("events");
    let told = events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let seconds: Vec<_> = told.filter(|event| event["kind"] == "second").collect();
    assert!(seconds.iter().filter(|second| later(second)).all(|second| marked(&second)), "{seconds:?}");
    assert!(seconds.iter().any(|second| marked(&second)), "{seconds:?}");
    let is_live =
        |line: &&str| line.split_whitespace().next().is_some_and(|first| first.parse::<u32>().is_ok());
    let live: Vec<&str> =
        ran.stdout.lines().take_while(|line| !line.contains("incomplete: agent")).filter(is_live).collect();
    assert!(live.iter().any(|line| line.ends_with("  2/3")) && !live[0].ends_with("  2/3"), "{live:?}");
}

#[test]
fn a_loss_may_be_allowed_or_end_all() {
    let server = Asked::begin();
    let mut before = 0;
    for (more, code) in [("--tolerate-loss 1 -d 4s", 0), ("--on-loss stop -d 60s", 1)] {
        let mut ran = start(
            format!("http http://{}/ --agents local:2 --rate 50 {more} -q", server.at).split_whitespace(),
        );
        let found = wait_for_agents(&mut ran, 2);
        server.wait_for(20 + before, &mut ran);
        kill_process(found[0], Signal::KILL).expect("it runs");
        ran.end().ended_with(code);
        before += server.take().values().sum::<u64>() as usize;
    }
}

#[test]
fn parts_of_a_lost_agent_are_carried_on_and_nothing_is_sent_twice_by_a_rate() {
    let server = Asked::begin();
    let load = format!("http http://{}/{{{{int:1..1000000}}}} --rate 300 -d 12s --seed 3 -q", server.at);
    run(&format!("{load} -t 3")).ended_with(0);
    let alone = server.take();
    for how in ["take-over", "replace"] {
        let line = format!("{load} --agents local:3 --on-loss {how} --json {{}}/result.json");
        let before = server.lines();
        let mut ran = start(line.split_whitespace());
        let found = wait_for_agents(&mut ran, 3);
        server.wait_for(before + 600, &mut ran);
        kill_process(found[1], Signal::KILL).expect("it runs");
        let ran = ran.end().ended_with(1);
        let asked = server.take();
        let again = asked.iter().find(|(path, times)| alone.get(*path).is_none_or(|once| *times > once));
        assert_eq!(again, None, "{how}: a request that is none of the plan, or was sent twice");
        let told = agents(&ran);
        assert_eq!(told.len(), 4, "{how}: {told:?}");
        let lost: Vec<_> = told.iter().filter(|agent| !agent["lost"].is_null()).collect();
        assert_eq!(lost[0]["lost"]["carried_on"][0]["by"], "a4", "{how}: {told:?}");
        assert!(told[3]["requests"].as_u64() > Some(0) && told[3]["lost"].is_null(), "{how}: {told:?}");
        let sum: u64 = told.iter().map(|agent| agent["requests"].as_u64().expect("a count")).sum();
        assert_eq!(sum, ran.report().count("measured/counts/requests"), "{how}");
        let text = fs::read_to_string(ran.folder.path().join("result.json")).expect("a file");
        assert!(text.contains("a4 went on with 1 part"), "{how}: {text}");
        // Every request of the lost part is told, carried on, or named as left out.
        let left_out =
            text.split("agent a4: ").nth(1).and_then(|note| note.split(' ').next()?.parse::<u64>().ok());
        let count = |agent: &serde_json::Value| agent["requests"].as_u64().expect("a count");
        assert_eq!(count(lost[0]) + count(&told[3]) + left_out.expect("it is noted"), 1_200, "{how}: {text}");
    }
}

#[test]
fn agents_without_a_controller_end_by_themselves() {
    let server = Asked::begin();
    let mut ran =
        start(format!("http http://{}/ --agents local:3 --rate 50 -d 100s -q", server.at).split_whitespace());
    wait_for_agents(&mut ran, 3);
    server.wait_for(60, &mut ran);
    ran.signal(Signal::KILL);
    // That nobody stays is looked for there.
    let ran = ran.end();
    assert_eq!(ran.code(), 137);
    let asked = server.take().values().sum::<u64>();
    let place = ran.folder.path().display().to_string();
    let collect = || {
        shell(&format!(
            "XDG_STATE_HOME={place}/state exec $WRINGER fleet collect --agents local:2 --into {place}/collected"
        ))
    };
    // Agents on one machine have one folder: each result comes once.
    let collected = collect().ended_with(0);
    assert!(collected.stdout.contains("a1 a2 a3  3 of 3 parts: "), "{}", collected.stdout);
    let sum = fs::read_to_string(format!("{place}/collected/sum.json")).expect("a file");
    let sum: serde_json::Value = serde_json::from_str(&sum).expect("JSON");
    // One may have been under way when the load ended, on each of them.
    let told = sum[0]["counts"]["requests"].as_u64().expect("a count");
    assert!(told <= asked + 3 && asked <= told, "{told} told, {asked} asked");
    let files = fs::read_dir(format!("{place}/collected")).expect("a folder").count();
    assert_eq!(files, 4, "three results and their sum");
    collect().refused_with(1, &["no agent has a result that nobody took"]);
}

#[test]
fn ctrl_c_ends_all_agents_with_a_whole_report() {
    let server = Asked::begin();
    let mut ran = start(
        format!("http http://{}/ --agents local:2 --rate 50 -d 100s -q --json {{}}/result.json", server.at)
            .split_whitespace(),
    );
    wait_for_agents(&mut ran, 2);
    server.wait_for(1, &mut ran);
    ran.signal_all(Signal::INT);
    let ran = ran.end().ended_with(130);
    assert!(agents(&ran).iter().all(|agent| agent["lost"].is_null()), "{:?}", agents(&ran));
}

#[test]
fn what_cannot_be_shared_out_or_had_is_refused_before_anything_is_sent() {
    let server = Asked::begin();
    let at = server.at;
    let nobody = free_address();
    for (line, code, words) in [
        (format!("http http://{at}/ -v --agents local:2"), 2, &["telling each request"][..]),
        (format!("http http://{at}/ --agents nats://x"), 2, &["give local:N, ssh:HOST or cmd:'COMMAND'"]),
        (format!("http http://{at}/ --on-loss stop"), 2, &["--agents"]),
        (
            format!("http http://{at}/ --bus nats://127.0.0.1:1 --expect 1 --on-loss replace -n 5"),
            2,
            &["nobody can on a bus"],
        ),
        ("cache --agents local:2".to_owned(), 2, &["an origin of its own"]),
        (
            format!("http http://{at}/ --agents local:1 --agents cmd:false -n 5"),
            1,
            &["a2 (cmd:false)", "exit code 1"],
        ),
        (format!("http http://{at}/ --agents cmd:true -n 5"), 1, &["a1 (cmd:true)", "exit code 0"]),
        (
            format!("http http://{at}/ --agents cmd:/nowhere/wringer -n 5"),
            1,
            &["a1 (cmd:/nowhere/wringer)", "exit code 127", "not found"],
        ),
        (
            format!("http http://{at}/ --agents local:600 --agents local:600 -n 5"),
            2,
            &["1200 agents are more than 1000"],
        ),
        (format!("http http://{at}/ --agents ssh:127.0.0.1:{}", nobody.port()), 1, &["a1 (ssh:127.0.0.1:"]),
        (
            format!("http http://{nobody}/ --agents local:2 -n 5"),
            1,
            &["agent a1", "agent a2", "nothing answers"],
        ),
        ("fleet check".to_owned(), 2, &["no agents are named"]),
        ("fleet run plan.toml".to_owned(), 2, &["no agents are named"]),
        (format!("http http://{at}/ --bus nats://127.0.0.1:1 -n 5"), 2, &["--expect N"]),
        (
            format!("http http://{at}/ --bus nats://192.0.2.1:1 --expect 1 -n 5"),
            2,
            &["in clear", "--insecure-bus"],
        ),
        (format!("http http://{at}/ --bus nats://127.0.0.1:1 --expect 1 -n 5"), 1, &["cannot be used"]),
        (format!("http http://{at}/ --bus nats://127.0.0.1:1 --agents local:1"), 2, &["cannot be used with"]),
        ("agent --bus nats://127.0.0.1:1 --name a.b".to_owned(), 2, &["cannot be the name of an agent"]),
        (format!("wrk --agents local -d1 http://{at}/"), 2, &["wrk: ", "give local:N"]),
        (format!("siege --agents local:2 -b -r1 -c2 http://{at}/"), 1, &["telling each request"]),
    ] {
        run(&line).refused_with(code, words);
    }
    assert_eq!(server.take(), BTreeMap::new());
}

#[test]
fn an_agent_keeps_its_owners_rules() {
    let server = Asked::begin();
    let at = server.at;
    let place = folder();
    let rules = place.path().join("agent.toml");
    let wringer = env!("CARGO_BIN_EXE_wringer");
    let agent = format!("cmd:{wringer} agent --stdio --rules {}", rules.display());
    let url = format!("http://{at}/");
    let words = ["http", &url, "--agents", &agent, "-n", "4", "-c", "2", "-q"];
    for (text, said) in [
        (
            "allow = [\"192.0.2.0/24\"]",
            Some("is not among what the owner of this machine allows: 192.0.2.0/24"),
        ),
        ("max_connections = 1", Some("2 connections are asked of it, and its owner allows 1")),
        ("max_rate = 10.0", Some("has no rate")),
        ("max_duration = \"1h\"", Some("has no time at which it ends")),
        ("nonsense = 1", Some("the rules of this agent")),
        ("allow = [\"127.0.0.0/8\"]", None),
        ("", None),
    ] {
        fs::write(&rules, text).expect("a file");
        let ran = start(words).end();
        match said {
            Some(said) => {
                drop(ran.refused_with(1, &[said]));
                assert_eq!(server.take(), BTreeMap::new(), "{text}");
            }
            None => {
                ran.ended_with(0);
                assert_eq!(server.take().values().sum::<u64>(), 4, "{text}");
            }
        }
    }
}

/// An sshd of our own on a port of loopback, ended when dropped.
pub struct Sshd {
    daemon: std::process::Child,
    pub place: tempfile::TempDir,
    port: u16,
    user: String,
}

impl Sshd {
    /// One that lets us in; or why there is none.
    pub fn start() -> Result<Sshd, String> {
        let sshd = program("sshd").ok_or("there is no sshd")?;
        let keygen = program("ssh-keygen").ok_or("there is no ssh-keygen")?;
        program("ssh").ok_or("there is no ssh")?;
        let place = folder();
        let at = |name: &str| place.path().join(name).display().to_string();
        for key in ["host", "user"] {
            let made = Command::new(&keygen).args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]).status();
            made.ok().filter(|status| status.success()).ok_or("ssh-keygen makes no key")?;
        }
        let port = free_address().port();
        let text = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nPidFile none\nUsePAM no\n\
             MaxStartups 8:100:8\nSetEnv XDG_CACHE_HOME={} TMPDIR={}\n",
            at("host"),
            at("user.pub"),
            at("cache"),
            at("tmp")
        );
        fs::write(at("config"), text).map_err(|error| error.to_string())?;
        let known = fs::read_to_string(at("host.pub")).map_err(|error| error.to_string())?;
        fs::write(at("known"), format!("[127.0.0.1]:{port} {known}")).map_err(|error| error.to_string())?;
        fs::create_dir(at("bin")).map_err(|error| error.to_string())?;
        let wrapper = format!(
            "#!/bin/sh\nexec {} -F none -i {} -o UserKnownHostsFile={} \"$@\"\n",
            program("ssh").expect("looked for above").display(),
            at("user"),
            at("known")
        );
        fs::write(at("bin/ssh"), wrapper).map_err(|error| error.to_string())?;
        fs::set_permissions(at("bin/ssh"), fs::Permissions::from_mode(0o755))
            .map_err(|error| error.to_string())?;
        if rustix::process::geteuid().is_root() {
            fs::create_dir_all("/run/sshd").map_err(|error| error.to_string())?;
        }
        let user = Command::new("id").arg("-un").output().map_err(|error| error.to_string())?;
        let user = String::from_utf8_lossy(&user.stdout).trim().to_owned();
        let daemon = Command::new(sshd).args(["-D", "-e", "-f", &at("config")]).stderr(Stdio::null()).spawn();
        let daemon = daemon.map_err(|error| error.to_string())?;
        let sshd = Sshd { daemon, place, port, user };
        for _ in 0..500 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(sshd);
            }
            thread::sleep(Duration::from_millis(20));
        }
        Err("sshd does not listen".to_owned())
    }

    /// Runs wringer, with HOST in its line for the machine behind this one.
    pub fn run(&self, line: &str) -> Ran {
        let host = format!("ssh:{}@127.0.0.1:{}", self.user, self.port);
        let line = line.replace("HOST", &host);
        shell(&format!("PATH={}/bin:$PATH exec $WRINGER {line}", self.place.path().display()))
    }

    fn copies(&self) -> usize {
        fs::read_dir(self.place.path().join("cache/wringer")).map_or(0, Iterator::count)
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

#[test]
fn a_machine_behind_ssh_needs_nothing_but_sshd() {
    let sshd = match Sshd::start() {
        Ok(sshd) => sshd,
        Err(why) => skip!("agents behind ssh: {why}"),
    };
    let server = Asked::begin();
    if sshd.run("fleet check --agents HOST").code() == 1 && sshd.copies() == 0 {
        skip!("agents behind ssh: this user cannot log in to this machine");
    }
    assert_eq!(sshd.copies(), 1, "the program is there by its digest, and nothing beside it");
    let ran = sshd
        .run(&format!("http http://{}/ --agents HOST --agents HOST --threads 1 -n 50 -c 4 -q", server.at));
    let ran = ran.ended_with(0);
    assert_eq!(server.take().values().sum::<u64>(), 50, "{}", ran.stdout);
    assert_eq!(sshd.copies(), 1, "it is used again");
    // Who begins more than eight at once has some of them dropped by this one, each time.
    let twelve = "--agents HOST ".repeat(12);
    let checked = sshd.run(&format!("fleet check {twelve}")).ended_with(0);
    assert_eq!(checked.stdout.lines().count(), 12, "{}", checked.stdout);
    // Nobody is let in by a key that is not the right one, and a host key that nobody knows is no reason to go on.
    let keys = sshd.place.path().join("user.pub");
    let right = fs::read(&keys).expect("a file");
    fs::write(&keys, "").expect("a file");
    sshd.run("fleet check --agents HOST").refused_with(1, &["agent a1 (ssh:", "Permission denied"]);
    fs::write(&keys, right).expect("a file");
    fs::write(sshd.place.path().join("known"), "").expect("a file");
    sshd.run("fleet check --agents HOST").refused_with(1, &["Host key verification failed"]);
}

/// An agent that only stops is known as lost seconds later: rows are whole seconds all the same.
#[test]
fn rows_stay_seconds_when_an_agent_is_lost_late() {
    let server = Asked::begin();
    let mut ran = start(
        format!(
            "http http://{}/ --agents local:2 --rate 100 -d 9s --lease 4s --json {{}}/result.json",
            server.at
        )
        .split_whitespace(),
    );
    let found = wait_for_agents(&mut ran, 2);
    server.wait_for(200, &mut ran);
    kill_process(found[1], Signal::STOP).expect("it runs");
    let ran = ran.end().ended_with(1);
    let rows = ran.report().list("timeline");
    let at: Vec<f64> = rows.iter().map(|row| row.number("at_s").round()).collect();
    assert!(at.windows(2).all(|two| two[0] < two[1]), "{at:?}");
    let long = rows.iter().find(|row| row.number("seconds") > 1.5);
    assert!(long.is_none(), "a row of more than a second: {:?}", long.map(|row| row.at("").to_string()));
    // Those of its silence are as incomplete as those after it was given up.
    // Which of both it is depends on who has begun first.
    let told = agents(&ran);
    let lost = told.iter().map(|agent| &agent["lost"]).find(|lost| !lost.is_null()).expect("one is lost");
    let [told_until, given_up] = ["told_until_s", "at_s"].map(|name| lost[name].as_f64().expect("a time"));
    assert!(given_up - told_until > 2.5, "{lost}");
    let in_silence = |at: f64| at > told_until + 0.5 && at < given_up;
    assert!(rows.iter().any(|row| in_silence(row.number("at_s"))), "{at:?}, {lost}");
    let is_marked_wrongly =
        |row: &&crate::support::Report| row.has("agents") != (row.number("at_s") > told_until + 0.5);
    let wrong = rows.iter().find(is_marked_wrongly);
    assert!(wrong.is_none(), "{:?}, {lost}", wrong.map(|row| row.at("").to_string()));
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("What it had told by then, up to {told_until:.1} s, counts")), "{words}");
}
