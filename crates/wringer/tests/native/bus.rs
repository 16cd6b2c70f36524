//! Agents on a bus: a stock nats-server, which may go and come back, and which gives each its own rights.

use crate::faulty_proxy::{FaultKind, start as faulty_proxy};
use crate::fleet::{Asked, agents};
use crate::support::{Ran, folder, free_address, program, run, start};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// A process of ours, ended when dropped.
pub struct Ours(pub Child);

impl Ours {
    pub fn start(program: impl AsRef<Path>, words: &[&str]) -> Ours {
        let mut command = Command::new(program.as_ref());
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ours(command.spawn().expect("it is there"))
    }

    pub fn agent(words: &str) -> Ours {
        let words: Vec<&str> = ["agent"].into_iter().chain(words.split_whitespace()).collect();
        Ours::start(env!("CARGO_BIN_EXE_wringer"), &words)
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server on a port of loopback.
pub struct Nats {
    server: PathBuf,
    config: PathBuf,
    pub port: u16,
    pub place: TempDir,
    process: Option<Ours>,
}

impl Nats {
    /// One with this configuration, or without any; nothing where there is no server.
    pub fn start(config: impl Fn(u16, &Path) -> String) -> Option<Nats> {
        let server = program("nats-server")?;
        let place = folder();
        let port = free_address().port();
        let file = place.path().join("nats.conf");
        fs::write(&file, config(port, place.path())).expect("a file");
        let mut nats = Nats { server, config: file, port, place, process: None };
        nats.begin();
        Some(nats)
    }

    pub fn plain() -> Option<Nats> {
        Nats::start(|port, _| format!("listen: \"127.0.0.1:{port}\"\n"))
    }

    fn begin(&mut self) {
        self.process = Some(Ours::start(&self.server, &["-c", self.config.to_str().expect("a name")]));
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

pub const MISSING: &str = "agents on a bus: there is no nats-server";

/// Names of the agents that are on a bus.
pub fn there(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn agents_on_a_bus_send_the_requests_of_one_machine_and_take_one_controller_at_a_time() {
    let Some(nats) = Nats::plain() else { skip!("{MISSING}") };
    let server = Asked::begin();
    let at = server.at;
    let bus = nats.url();
    let load = format!("http://{at}/{{{{int:1..1000000}}}} --rate 300 -d 1s --seed 5 -q");
    run(&format!("http {load} -t 3")).ended_with(0);
    let alone = server.take();
    let _agents = ["c1", "c2", "c3"].map(|name| Ours::agent(&format!("--bus {bus} --name {name}")));
    // They stay: the second run is one of the same agents.
    for _ in 0..2 {
        let ran = run(&format!("http {load} --bus {bus} --expect 3 --threads 1 --json {{}}/result.json"))
            .ended_with(0);
        assert_eq!(server.take(), alone);
        let told = agents(&ran);
        let names: Vec<_> = told.iter().map(|agent| agent["name"].as_str().expect("a name")).collect();
        assert_eq!(names, ["c1", "c2", "c3"], "{told:?}");
    }
    let found = run(&format!("fleet check --bus {bus}")).ended_with(0);
    assert_eq!(there(&found), ["c1", "c2", "c3"], "{}", found.stdout);
    let line = format!("http http://{at}/ --rate 50 -d 60s -q --bus {bus} --expect 3 --threads 1");
    let mut first = start(line.split_whitespace());
    server.wait_for(905, &mut first);
    run(&line).refused_with(1, &["3 agents are expected", "0 offered themselves", "c1 (carries a load for"]);
    first.signal(Signal::INT);
    first.end().ended_with(130);
    // Beyond private addresses an agent that stays goes nowhere, unless its owner says so.
    run(&format!("http http://198.51.100.1/ -d 1s --bus {bus} --expect 1"))
        .refused_with(1, &["c1 (bus)", "198.51.100.1", "is not among what the owner of this machine allows"]);
    let _other = Ours::agent(&format!("--bus {bus} --name c1"));
    run(&format!("http http://{at}/ -d 1s --bus {bus} --expect 4"))
        .refused_with(1, &["two agents are called c1"]);
}

#[test]
fn a_bus_that_goes_and_comes_back_loses_nothing() {
    let Some(mut nats) = Nats::plain() else { skip!("{MISSING}") };
    let server = Asked::begin();
    let bus = nats.url();
    let _agents = ["c1", "c2"].map(|name| Ours::agent(&format!("--bus {bus} --name {name}")));
    // More than the lease is unlikely even on a machine that does much else.
    let line = format!(
        "http http://{}/ --rate 100 -d 8s -q --bus {bus} --expect 2 --threads 1 --lease 60s --json {{}}/result.json",
        server.at
    );
    let mut ran = start(line.split_whitespace());
    server.wait_for(150, &mut ran);
    nats.process = None;
    server.wait_for(400, &mut ran);
    nats.begin();
    let ran = ran.end().ended_with(0);
    let told = agents(&ran);
    assert!(told.iter().all(|agent| agent["lost"].is_null()), "{told:?}");
    assert_eq!(ran.report().count("measured/counts/requests"), 800);
    assert_eq!(server.take().values().sum::<u64>(), 800);
}

/// An agent that knows the one server which is killed hears of the others from it, as every client of NATS does.
#[test]
fn a_cluster_that_loses_one_of_its_three_servers_loses_nothing_else() {
    let routes = [0; 3].map(|_| free_address().to_string());
    let all = routes.each_ref().map(|route| format!("\"nats://{route}\"")).join(", ");
    let begun = routes.each_ref().map(|route| {
        Nats::start(|port, _| {
            format!(
                "listen: \"127.0.0.1:{port}\"\nserver_name: \"of-{port}\"\n\
                 cluster {{ name: three, listen: \"{route}\", routes: [{all}] }}\n"
            )
        })
    });
    let [Some(mut first), Some(second), Some(third)] = begun else { skip!("{MISSING}") };
    let server = Asked::begin();
    let _agents = [(&first, "c1"), (&second, "c2")]
        .map(|(bus, name)| Ours::agent(&format!("--bus {} --name {name}", bus.url())));
    let line = format!(
        "http http://{}/ --rate 100 -d 8s -q --bus {} --expect 2 --threads 1 --lease 60s --json {{}}/result.json",
        server.at,
        third.url()
    );
    let mut ran = start(line.split_whitespace());
    server.wait_for(150, &mut ran);
    first.process = None;
    let ran = ran.end().ended_with(0);
    let told = agents(&ran);
    assert!(told.iter().all(|agent| agent["lost"].is_null()), "{told:?}");
    assert_eq!(ran.report().count("measured/counts/requests"), 800);
    assert_eq!(server.take().values().sum::<u64>(), 800);
}

#[test]
fn an_agent_on_a_bus_that_is_killed_is_lost_at_the_end_of_its_lease() {
    let Some(nats) = Nats::plain() else { skip!("{MISSING}") };
    let server = Asked::begin();
    let bus = nats.url();
    let place = folder();
    let plan = place.path().join("plan.toml");
    let shown = run(&format!("http http://{}/ --rate 5 -d 1s --show-plan", server.at)).ended_with(0);
    fs::write(&plan, &shown.stdout).expect("a file");
    let agents_there = ["c1", "c2"].map(|name| Ours::agent(&format!("--bus {bus} --name {name} --once")));
    // Who only looks takes from nobody the one load that he waits for.
    run(&format!("fleet check --bus {bus} --expect 2")).ended_with(0);
    let checked = run(&format!("fleet check {} --bus {bus} --expect 2", plan.display())).ended_with(0);
    assert_eq!(there(&checked), ["c1", "c2"], "{}", checked.stdout);
    let line = format!(
        "http http://{}/ --rate 100 -d 12s -q --bus {bus} --expect 2 --threads 1 --lease 4s --json {{}}/result.json",
        server.at
    );
    let mut ran = start(line.split_whitespace());
    server.wait_for(250, &mut ran);
    let pid = Pid::from_child(&agents_there[1].0);
    kill_process(pid, Signal::KILL).expect("it runs");
    let ran = ran.end().ended_with(1);
    let told = agents(&ran);
    assert!(told[0]["lost"].is_null(), "{told:?}");
    let why = told[1]["lost"]["why"].as_str().expect("it is lost");
    assert!(why.contains("nothing came from it for"), "{why}");
    let sum: u64 = told.iter().map(|agent| agent["requests"].as_u64().expect("a count")).sum();
    assert_eq!(sum, ran.report().count("measured/counts/requests"));
    // The other one has carried its load, and was to carry no more.
    let [mut other, _] = agents_there;
    assert!(other.0.wait().expect("its end").success());
}

/// A token in a file that only we may read.
fn token(place: &Path, name: &str, text: &str) -> String {
    let file = place.join(name);
    fs::write(&file, text).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("it is ours");
    file.display().to_string()
}

#[test]
fn an_agent_with_a_token_carries_nothing_for_whoever_has_not_proven_to_have_it() {
    let Some(nats) = Nats::plain() else { skip!("{MISSING}") };
    let server = Asked::begin();
    let bus = nats.url();
    let place = folder();
    let right = token(place.path(), "right", &"a1".repeat(32));
    let wrong = token(place.path(), "wrong", &"b2".repeat(32));
    let short = token(place.path(), "short", "secret");
    let _agent = Ours::agent(&format!("--bus {bus} --name c1 --bus-token {right}"));
    let load = format!("http http://{}/ --rate 50 -d 1s -q --bus {bus} --expect 1 --threads 1", server.at);
    for (more, said) in [
        (String::new(), "c1 (bus): what was asked of it is not signed"),
        (format!("--bus-token {wrong}"), "c1 (bus): what was asked of it is signed with another token"),
        (format!("--bus-token {short}"), "a token has at least 43 characters"),
    ] {
        run(&format!("{load} {more}")).refused_with(1, &[said]);
        run(&format!("fleet collect --bus {bus} {more}")).refused_with(1, &[said]);
    }
    assert_eq!(server.take().len(), 0, "nothing was sent");
    run(&format!("{load} --bus-token {right}")).ended_with(0);
    assert_eq!(server.take().values().sum::<u64>(), 50);
    // An agent that has no token is none for a controller that has one.
    let _other = Ours::agent(&format!("--bus {bus} --name c2"));
    run(&format!("{load} --bus-token {right}").replace("--expect 1", "--expect 2"))
        .refused_with(1, &["c2 (bus): it has not proven that it has the token"]);
    assert_eq!(server.take().len(), 0, "nothing was sent");
}

/// Keys of a user of the bus: its seed in a file that only we may read, and its public name.
fn user(place: &Path, name: &str) -> (PathBuf, String) {
    let keys = nkeys::KeyPair::new_user();
    let file = place.join(format!("{name}.seed"));
    fs::write(&file, format!("{}\n", keys.seed().expect("it has one"))).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("it is ours");
    (file, keys.public_key())
}

#[test]
fn the_configuration_that_is_printed_gives_each_its_rights_and_no_others() {
    let printed = run("fleet print nats --agents 2").ended_with(0).stdout;
    let cert = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let nats = Nats::start(|port, place| {
        fs::write(place.join("cert.pem"), cert.cert.pem()).expect("a file");
        fs::write(place.join("key.pem"), cert.signing_key.serialize_pem()).expect("a file");
        let keys = ["CONTROLLER", "LOAD_0", "LOAD_1"].map(|name| (name, user(place, name).1));
        let keyed = keys.iter().fold(printed.clone(), |text, (name, key)| text.replace(name, key));
        keyed
            .replace("0.0.0.0:4222", &format!("127.0.0.1:{port}"))
            .replace("/etc/nats", place.to_str().expect("a name"))
    });
    let Some(nats) = nats else { skip!("{MISSING}") };
    let place = nats.place.path();
    let seed = |name: &str| place.join(format!("{name}.seed")).display().to_string();
    let bus = format!("--bus tls://localhost:{} --bus-ca {}/cert.pem", nats.port, place.display());
    let _fine = Ours::agent(&format!("{bus} --name load-0 --bus-creds {}", seed("LOAD_0")));
    // One that calls itself as another is called hears and says nothing.
    let _impostor = Ours::agent(&format!("{bus} --name load-9 --bus-creds {}", seed("LOAD_1")));
    let server = Asked::begin();
    run(&format!(
        "http http://{}/ --rate 50 -d 1s -q {bus} --bus-creds {} --expect 1",
        server.at,
        seed("CONTROLLER")
    ))
    .ended_with(0);
    assert_eq!(server.take().values().sum::<u64>(), 50);
    let check = |more: &str| run(&format!("fleet check {bus} {more}"));
    let found = check(&format!("--bus-creds {}", seed("CONTROLLER"))).ended_with(0);
    assert_eq!(there(&found), ["load-0"], "{}", found.stdout);
    // An agent's key is none of a controller's.
    check(&format!("--bus-creds {}", seed("LOAD_1"))).refused_with(1, &["no agent offered itself"]);
    check("").refused_with(1, &["authorization violation"]);
    fs::set_permissions(seed("CONTROLLER"), fs::Permissions::from_mode(0o644)).expect("it is ours");
    check(&format!("--bus-creds {}", seed("CONTROLLER"))).refused_with(1, &["everybody may read it"]);
    // A certificate that nobody vouches for is no reason to go on.
    run(&format!("fleet check --bus tls://localhost:{}", nats.port)).refused_with(1, &["cannot be used"]);
}

/// An agent that keeps what nobody took in this folder.
fn keeping_agent(place: &Path, words: &str) -> Ours {
    let command = format!(
        "XDG_STATE_HOME={}/state exec {} agent {words}",
        place.display(),
        env!("CARGO_BIN_EXE_wringer")
    );
    Ours::start("sh", &["-c", &command])
}

/// Asks again until it goes well: who has lost its controller is busy until it has ended its load.
pub fn until_well(line: &str) -> Ran {
    loop {
        let ran = run(line);
        if ran.code() == 0 {
            return ran;
        }
        assert_eq!(ran.code(), 1, "{}", ran.stderr);
        thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_bus_that_is_gone_for_longer_than_the_lease_ends_both_sides_and_what_was_done_can_be_had() {
    let Some(mut nats) = Nats::plain() else { skip!("{MISSING}") };
    let server = Asked::begin();
    let bus = nats.url();
    let place = folder();
    let _agents = ["c1", "c2"].map(|name| keeping_agent(place.path(), &format!("--bus {bus} --name {name}")));
    let line = format!(
        "http http://{}/ --rate 100 -d 300s -q --bus {bus} --expect 2 --threads 1 --lease 4s --json {{}}/result.json",
        server.at
    );
    let mut ran = start(line.split_whitespace());
    server.wait_for(150, &mut ran);
    nats.process = None;
    let ran = ran.end().ended_with(1);
    assert!(agents(&ran).iter().all(|agent| !agent["lost"].is_null()), "{:?}", agents(&ran));
    let counted = ran.report().count("measured/counts/requests");
    nats.begin();
    let into = place.path().join("collected");
    let collected = until_well(&format!("fleet collect --bus {bus} --expect 2 --into {}", into.display()));
    assert!(collected.stdout.contains("c1 c2  2 of 2 parts: "), "{}", collected.stdout);
    let sum = fs::read_to_string(into.join("sum.json")).expect("a file");
    let sum: serde_json::Value = serde_json::from_str(&sum).expect("JSON");
    let kept = sum[0]["counts"]["requests"].as_u64().expect("a count");
    let asked = server.take().values().sum::<u64>();
    // One may have been under way when the load ended, on each of them.
    assert!(counted <= kept && kept <= asked + 2 && asked <= kept, "{counted} {kept} {asked}");
    // They have ended their load, and are there for the next one.
    until_well(&format!("fleet check --bus {bus} --expect 2"));
    assert_eq!(server.take().len(), 0, "nothing is sent any more");
}

#[test]
fn an_agent_on_a_bus_that_stood_still_for_too_long_finds_that_and_ends_its_load() {
    let Some(nats) = Nats::plain() else { skip!("{MISSING}") };
    let server = Asked::begin();
    let bus = nats.url();
    let place = folder();
    let agents_there =
        ["c1", "c2"].map(|name| keeping_agent(place.path(), &format!("--bus {bus} --name {name}")));
    let line = format!(
        "http http://{}/ --rate 100 -d 12s -q --bus {bus} --expect 2 --threads 1 --lease 4s --json {{}}/result.json",
        server.at
    );
    let mut ran = start(line.split_whitespace());
    server.wait_for(250, &mut ran);
    let pid = Pid::from_child(&agents_there[1].0);
    kill_process(pid, Signal::STOP).expect("it runs");
    let ran = ran.end().ended_with(1);
    let told = agents(&ran);
    assert!(told[0]["lost"].is_null() && !told[1]["lost"].is_null(), "{told:?}");
    kill_process(pid, Signal::CONT).expect("it is there");
    until_well(&format!("fleet check --bus {bus} --expect 2"));
    let _ = server.take();
    until_well(&format!("fleet check --bus {bus} --expect 2"));
    assert_eq!(server.take().len(), 0, "nothing is sent any more");
}

#[test]
fn a_bus_that_takes_too_little_is_named_with_its_setting() {
    let Some(nats) = Nats::start(|port, _| format!("listen: \"127.0.0.1:{port}\"\nmax_payload: 100000\n"))
    else {
        skip!("{MISSING}")
    };
    run(&format!("fleet check --bus {}", nats.url()))
        .refused_with(1, &["takes messages of 100000 bytes", "max_payload"]);
}

#[test]
fn agents_of_a_bus_are_origins_and_leave_their_addresses_behind() {
    let Some(nats) = Nats::plain() else { skip!("{MISSING}") };
    let bus = nats.url();
    let listens = [free_address(), free_address()];
    let proxies = listens.map(|listen| faulty_proxy(listen, FaultKind::MixVariants));
    let targets = proxies.iter().map(|proxy| proxy.address.to_string()).collect::<Vec<_>>().join(",");
    let agents_there = ["o1", "o2", "c1"].map(|name| Ours::agent(&format!("--bus {bus} --name {name}")));
    let load = format!(
        "cache --targets {targets} --spread own -t 2 -c 4 -q --json {{}}/result.json --seed 7 --size 3000 --phase x:60s,requests=400 \
         --hit-ratio 1 --hot 40 --ignore-exit --bus {bus}"
    );
    let origins = format!("--origin-agents bus:o1={},bus:o2={}", listens[0], listens[1]);
    // This process is the clients, and then an agent that is left is.
    for (more, clients) in [("", 0), ("--expect 1", 1)] {
        let ran = run(&format!("{load} {origins} {more}")).ended_with(0);
        let report = ran.report();
        assert_eq!(report.sum("ok"), 400, "{}", ran.stdout);
        let served = report.list("origins");
        assert_eq!(served.iter().map(|origin| origin.text("name")).collect::<Vec<_>>(), ["o1", "o2"]);
        let sum: u64 = served.iter().map(|origin| origin.count("full")).sum();
        assert_eq!((report.count("origin/full"), report.sum("misses")), (sum, sum), "{}", report.notes());
        if clients > 0 {
            assert_eq!(agents(&ran)[0]["name"], "c1");
        }
        listens.iter().for_each(|listen| drop(TcpListener::bind(listen).expect("nobody listens there")));
    }
    a_plan_has_an_origin_on_the_bus(&bus, listens[0], &proxies[0].address.to_string());
    for (words, code, said) in [
        (format!("--origin-agents bus:o9={}", listens[0]), 1, "agent o9 (bus): it did not offer itself"),
        (format!("--origin-agents bus:o1={},bus:o1={}", listens[0], listens[1]), 2, "stands there twice"),
        (
            "--origin-agents bus:o1=198.51.100.1:80".to_owned(),
            1,
            "is not among what the owner of this machine allows",
        ),
    ] {
        run(&format!("{load} {words}")).refused_with(code, &[said]);
    }
    let without = load.replace(&format!("--bus {bus}"), &origins);
    run(&without).refused_with(2, &["bus:o1 is on a bus, and none is named: give --bus URL"]);
    // One that is lost is the first thing to be said.
    let line = format!("{load} {origins} --lease 4s")
        .replace("x:60s,requests=400", "x:14s,rate=100")
        .replace("-q ", "");
    let mut ran = start(line.replace("--ignore-exit", "").split_whitespace());
    while ran.lines_of_seconds() < 1 {
        assert!(ran.is_running(), "{}", ran.said());
        thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&agents_there[1].0), Signal::KILL).expect("it runs");
    let ran = ran.end().ended_with(1);
    assert!(ran.stdout.contains("incomplete: origin o2 (bus)"), "{}", ran.stdout);
    until_well(&format!("fleet check --bus {bus} --expect 2"));
    assert!(TcpListener::bind(listens[0]).is_ok(), "nobody listens there");
}

/// The same by a plan and a file of agents.
fn a_plan_has_an_origin_on_the_bus(bus: &str, listen: SocketAddr, target: &str) {
    let place = folder();
    let [plan, file] = ["plan.toml", "fleet.toml"].map(|name| place.path().join(name).display().to_string());
    let shown = run(&format!(
        "cache {target} --origin {listen} -c 2 --phase x:60s,requests=40 --size 3000 --show-plan"
    ));
    fs::write(&plan, shown.ended_with(0).stdout.as_str()).expect("a file");
    let entry = format!("[[agents]]\nat = \"bus:o1\"\nrole = \"origin\"\nlisten = \"{listen}\"\n");
    for (more, words, clients) in [
        ("", "", None),
        ("", "--expect 1", Some("bus")),
        ("[[agents]]\nat = \"local\"\nname = \"c9\"\n", "", Some("local")),
    ] {
        fs::write(&file, format!("{more}{entry}")).expect("a file");
        let line = format!(
            "fleet run {plan} --agents {file} --bus {bus} {words} -q --ignore-exit --json {{}}/result.json"
        );
        let ran = run(&line).ended_with(0);
        let report = ran.report();
        let served = report.list("origins");
        assert_eq!(served.iter().map(|origin| origin.text("name")).collect::<Vec<_>>(), ["o1"]);
        assert_eq!(report.count("measured/counts/requests"), 40, "{}", ran.stdout);
        if let Some(at) = clients {
            assert_eq!(agents(&ran)[0]["at"], at);
        }
        TcpListener::bind(listen).expect("nobody listens there");
    }
    run(&format!("fleet run {plan} --agents local:1 --bus {bus} --expect 1"))
        .refused_with(2, &["--agents cannot be used with --bus for one load"]);
    run(&format!("fleet run {plan} --agents {file}")).refused_with(2, &["bus:o1", "give --bus URL"]);
}
