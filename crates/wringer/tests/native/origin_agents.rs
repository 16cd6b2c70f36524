//! Origins that agents serve: N clients, N proxies and N origins of one command, whose accounts agree, and of which nothing is left.

use crate::faulty_proxy::{FaultKind, start as faulty_proxy};
use crate::fleet::wait_for_agents;
use crate::support::{Running, folder, free_address, run, start};
use rustix::process::{Signal, kill_process};
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

/// A fault that needs variants to show leaves an honest cache where there are none.
const HONEST: FaultKind = FaultKind::MixVariants;

/// Two proxies, each in front of an address at which nobody listens yet: both in a list, and those addresses.
struct Row {
    targets: String,
    origins: [SocketAddr; 2],
    _proxies: Vec<crate::faulty_proxy::FaultyProxy>,
}

impl Row {
    fn new() -> Row {
        let origins = [free_address(), free_address()];
        let proxies: Vec<_> = origins.iter().map(|origin| faulty_proxy(*origin, HONEST)).collect();
        let targets = proxies.iter().map(|proxy| proxy.address.to_string()).collect::<Vec<_>>().join(",");
        Row { targets, origins, _proxies: proxies }
    }

    fn agents(&self) -> String {
        format!("local={},local={}", self.origins[0], self.origins[1])
    }

    /// Nobody listens any more.
    fn assert_free(&self) {
        for origin in self.origins {
            TcpListener::bind(origin).expect("nobody listens there");
        }
    }
}

fn wait_for_a_second(ran: &mut Running) {
    while ran.lines_of_seconds() < 1 {
        assert!(ran.is_running(), "{}", ran.said());
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn clients_and_origins_of_one_command_agree_on_what_was_fetched() {
    let row = Row::new();
    let line = format!(
        "cache --targets {} --spread own --agents local:2 --origin-agents {} -c 4 -q --json {{}}/result.json --seed 7 --size 3000 \
         --phase x,requests=600 --hit-ratio 1 --hot 40 --ignore-exit",
        row.targets,
        row.agents()
    );
    let ran = run(&line).ended_with(0);
    let report = ran.report();
    assert_eq!(report.sum("ok"), 600, "{}", ran.stdout);
    let origins = report.list("origins");
    let sum: u64 = origins.iter().map(|origin| origin.count("full")).sum();
    assert!(
        origins.len() == 2 && origins.iter().all(|origin| origin.count("full") > 20),
        "{}",
        report.notes()
    );
    assert_eq!(origins[1].text("listens_at"), row.origins[1].to_string());
    assert_eq!((report.count("origin/full"), report.sum("misses")), (sum, sum), "{}", report.notes());
    assert!(report.notes().contains("the sum of 2 origins"), "{}", report.notes());
    row.assert_free();
}

#[test]
fn a_plan_and_a_file_of_agents_say_who_is_what() {
    let row = Row::new();
    let place = folder();
    let [plan, agents] =
        ["plan.toml", "fleet.toml"].map(|name| place.path().join(name).display().to_string());
    let target = row.targets.split(',').next().expect("a first");
    let shown = run(&format!(
        "cache {target} --origin {} -c 4 --phase x,requests=200 --size 3000 --show-plan",
        row.origins[0]
    ));
    fs::write(&plan, shown.ended_with(0).stdout.as_str()).expect("a file");
    let listen = row.origins[0];
    fs::write(
        &agents,
        format!("[[agents]]\nat = \"local\"\nname = \"x\"\nrole = \"both\"\nlisten = \"{listen}\"\n"),
    )
    .expect("a file");
    let ran = start(["fleet", "check", &plan, "--agents", &agents]).end().ended_with(0);
    assert!(
        ran.stdout
            .contains(&format!("x-origin  local  would be its origin at {listen} with 1 worker\nx  local  ")),
        "{}",
        ran.stdout
    );
    let ran = start(["fleet", "run", &plan, "--agents", &agents, "-q"]).end().ended_with(0);
    assert!(ran.stdout.contains("x-origin  local  ") && ran.stdout.contains("told all"), "{}", ran.stdout);
    row.assert_free();
    // Another one has its address.
    let _taken = TcpListener::bind(listen).expect("it is free");
    start(["fleet", "run", &plan, "--agents", &agents, "-q"])
        .end()
        .refused_with(1, &["agent x-origin (local)", "cannot listen"]);
}

#[test]
fn an_origin_that_is_lost_is_the_first_thing_to_be_said() {
    let row = Row::new();
    let line = format!(
        "cache --targets {} --origin-agents {} -c 2 --rate 200 -d 100s --hot 20",
        row.targets,
        row.agents()
    );
    let mut ran = start(line.split_whitespace());
    let found = wait_for_agents(&mut ran, 2);
    wait_for_a_second(&mut ran);
    kill_process(found[0], Signal::KILL).expect("it runs");
    while !ran.said().contains("is lost: its process was ended by signal 9") {
        assert!(ran.is_running(), "{}", ran.said());
        thread::sleep(Duration::from_millis(10));
    }
    ran.signal(Signal::INT);
    let ran = ran.end();
    assert!(ran.stdout.contains("incomplete: origin o"), "{}", ran.stdout);
    row.assert_free();
    // Where it comes to its own end.
    let line = line.replace("-d 100s", "-d 4s");
    let mut ran = start(line.split_whitespace());
    let found = wait_for_agents(&mut ran, 2);
    wait_for_a_second(&mut ran);
    kill_process(found[1], Signal::KILL).expect("it runs");
    let ran = ran.end().ended_with(1);
    assert!(ran.stdout.contains("lost at "), "{}", ran.stdout);
    row.assert_free();
}

#[test]
fn origins_without_a_controller_end_by_themselves() {
    let row = Row::new();
    let line = format!(
        "cache --targets {} --agents local:1 --origin-agents {} -c 2 --rate 50 -d 100s",
        row.targets,
        row.agents()
    );
    let mut ran = start(line.split_whitespace());
    wait_for_agents(&mut ran, 3);
    wait_for_a_second(&mut ran);
    ran.signal(Signal::KILL);
    // That nobody stays is looked for there.
    assert_eq!(ran.end().code(), 137);
    row.assert_free();
}

/// One that is stopped keeps its channels open and says nothing any more.
#[test]
fn origins_whose_controller_is_silent_end_with_their_lease() {
    let row = Row::new();
    let line = format!(
        "cache --targets {} --agents local:1 --origin-agents {} --lease 4s -c 2 --rate 50 -d 100s",
        row.targets,
        row.agents()
    );
    let mut ran = start(line.split_whitespace());
    wait_for_agents(&mut ran, 3);
    wait_for_a_second(&mut ran);
    ran.signal(Signal::STOP);
    let listens = |origin: &SocketAddr| TcpListener::bind(origin).is_err();
    let began = Instant::now();
    while row.origins.iter().any(listens) {
        // Much more than the lease, and less than what the load goes on for.
        assert!(began.elapsed() < Duration::from_secs(60), "an origin still listens");
        thread::sleep(Duration::from_millis(100));
    }
    ran.signal(Signal::KILL);
    assert_eq!(ran.end().code(), 137);
}

/// The origins end without it: its own doing, which it says.
#[test]
fn a_controller_that_stood_still_blames_no_origin() {
    let row = Row::new();
    let line = format!(
        "cache --targets {} --agents local:1 --origin-agents {} --lease 4s -c 2 --rate 50 -d 12s --json {{}}/result.json",
        row.targets,
        row.agents()
    );
    let mut ran = start(line.split_whitespace());
    wait_for_agents(&mut ran, 3);
    wait_for_a_second(&mut ran);
    ran.signal(Signal::STOP);
    let listens = |origin: &SocketAddr| TcpListener::bind(origin).is_err();
    let began = Instant::now();
    while row.origins.iter().any(listens) {
        assert!(began.elapsed() < Duration::from_secs(60), "an origin still listens");
        thread::sleep(Duration::from_millis(100));
    }
    ran.signal(Signal::CONT);
    let ran = ran.end().ended_with(1);
    let lost = ran.report().list("origins");
    let why: Vec<&str> = lost.iter().map(|origin| origin.text("lost/why")).collect();
    assert_eq!(why.len(), 2);
    assert!(why.iter().all(|why| why.contains("this controller itself had not run for")), "{why:?}");
}

#[test]
fn what_origins_of_agents_cannot_be_is_refused() {
    let row = Row::new();
    let targets = &row.targets;
    let at = row.origins[0];
    for (words, said) in [
        (format!("--origin-agents local={at}"), "give the proxies before them with PROXY or --targets"),
        (format!("--targets {targets} --origin-agents local={at} --clients-only"), "cannot be used with"),
        (format!("--targets {targets} --origin-agents local={at},local={at}"), "two origins of one machine"),
        (format!("--targets {targets} --origin-agents local=0.0.0.0:9080"), "--host"),
        (format!("--targets {targets} --origin-agents local"), "does not say where it listens"),
        (
            format!("--targets {targets} --origin-agents local={at} --phase x:1s,origin-errors=1%"),
            "the plan has no origin",
        ),
    ] {
        run(&format!("cache {words} -n 5 -q")).refused_with(2, &[said]);
    }
    run(&format!("cache --targets {targets} --origin-agents local={at},cmd:false={at} -n 5 -q"))
        .refused_with(1, &["agent o2 (cmd:false)", "exit code 1"]);
    row.assert_free();
}

#[test]
fn an_origin_listens_only_where_the_owner_of_its_machine_allows() {
    let row = Row::new();
    let place = folder();
    let [plan, agents, rules] =
        ["plan.toml", "fleet.toml", "agent.toml"].map(|name| place.path().join(name).display().to_string());
    let listen = row.origins[0];
    let target = row.targets.split(',').next().expect("a first");
    let shown =
        run(&format!("cache {target} --origin {listen} -c 2 --phase x,requests=20 --size 3000 --show-plan"));
    fs::write(&plan, shown.ended_with(0).stdout.as_str()).expect("a file");
    let command = format!("{} agent --stdio --rules {rules}", env!("CARGO_BIN_EXE_wringer"));
    let text = format!(
        "[[agents]]\nat = \"local\"\n[[agents]]\nat = \"cmd:{command}\"\nrole = \"origin\"\nlisten = \"{listen}\"\n"
    );
    fs::write(&agents, text).expect("a file");
    let another = if listen.port() == 9 { 10 } else { 9 };
    for (allow, allowed) in [
        ("192.0.2.0/24".to_owned(), false),
        (format!("127.0.0.0/8:{another}"), false),
        (String::new(), false),
        (format!("127.0.0.0/8:{}", listen.port()), true),
    ] {
        let list = if allow.is_empty() { String::new() } else { format!("\"{allow}\"") };
        fs::write(&rules, format!("allow = [{list}]\n")).expect("a file");
        let ran = start(["fleet", "run", &plan, "--agents", &agents, "-q"]).end();
        match allowed {
            true => drop(ran.ended_with(0)),
            false => drop(ran.refused_with(
                1,
                &["it is to listen where it may not", "is not among what the owner of this machine allows"],
            )),
        }
        row.assert_free();
    }
}
