//! Limits of this machine: `wringer doctor`, the budget that is looked at before a run, and what a run's report says of
//! the machine and of the target on it.

use crate::support::{Ran, Report, free_address, run, shell, wringer};
use rustix::process::Signal;
use serde_json::Value;
use std::process::{Command, Stdio};

fn json(line: &str, code: i32) -> Value {
    serde_json::from_str(&run(line).ended_with(code).stdout).expect("JSON")
}

/// Returns the finding on a topic.
fn finding<'a>(found: &'a Value, topic: &str) -> &'a Value {
    let findings = found["findings"].as_array().expect("a list");
    findings
        .iter()
        .find(|finding| finding["topic"] == topic)
        .unwrap_or_else(|| panic!("no {topic} in {found:#}"))
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter))
}

#[test]
fn what_people_read_is_chinese_where_they_want_it_and_json_is_not() {
    let text = run("doctor -c 100 --loopback --lang zh").ended_with(0).stdout;
    let begin = "wringer doctor：同时 100 个连接（新建 100/s），请求 10.0k/s，目标在本机\n\n  ";
    assert!(text.starts_with(begin) && text.contains("  描述符  "), "{text}");
    let json = run("doctor -c 100 --loopback --json --lang zh").ended_with(0).stdout;
    assert!(!is_chinese(&json), "{json}");
    let scenarios = run("stress --list --lang zh").ended_with(0).stdout;
    let english = run("stress --list").ended_with(0).stdout;
    for (line, before) in scenarios.lines().zip(english.lines()) {
        assert!(is_chinese(line) && !line.contains("fails if"), "{line}");
        assert_eq!(line.split(' ').next(), before.split(' ').next());
    }
    let explained = run("explain h1_field_without_colon --lang zh").ended_with(0).stdout;
    assert!(
        explained.starts_with("h1_field_without_colon: ") && explained.contains("\n  规则"),
        "{explained}"
    );
    assert!(explained.lines().next().is_some_and(is_chinese), "{explained}");
}

#[test]
fn doctor_says_the_same_as_text_and_as_json() {
    let text = run("doctor -c 100 --loopback").ended_with(0).stdout;
    assert!(
        text.starts_with("wringer doctor: 100 connections at once (100/s new), 10.0k/s requests, "),
        "{text}"
    );
    let found = json("doctor -c 100 --loopback --json", 0);
    assert_eq!((&found["schema"], &found["schema_version"]), (&"wringer-doctor".into(), &2.into()));
    assert_eq!((&found["need"]["connections"], &found["need"]["loopback"]), (&100.into(), &true.into()));
    assert!(found["facts"]["descriptors"].as_u64().is_some_and(|limit| limit > 0), "{found:#}");
    for topic in ["descriptors", "ports", "time_wait", "backlog", "workers", "cores", "io_uring"] {
        let level = finding(&found, topic)["level"].as_str().expect("text");
        let name = if topic == "time_wait" { "TIME_WAIT" } else { topic };
        let same = |line: &str| line.split_whitespace().take(2).eq([level, name]);
        assert!(text.lines().any(same), "{level} {name} is missing in {text}");
    }
}

#[test]
fn doctor_raises_the_soft_limit_and_names_what_mends_the_hard_one() {
    let soft = shell("ulimit -Sn 60; exec $WRINGER doctor -c 100 --json").ended_with(0).stdout;
    let found: Value = serde_json::from_str(&soft).expect("JSON");
    assert_eq!(finding(&found, "descriptors")["level"], "ok");
    let text = shell("ulimit -n 60; exec $WRINGER doctor -c 100").ended_with(1).stdout;
    for said in
        ["  blocks  descriptors  100 connections at once", "-> ulimit -n 512\n", "1 finding blocks that"]
    {
        assert!(text.contains(said), "{said:?} is missing in {text}");
    }
}

#[test]
fn doctor_judges_by_a_plan() {
    let line = "cache 127.0.0.1:8080 -c 3000000 --keep-alive 1 --source 127.0.0.2-127.0.0.3 --show-plan";
    let plan = run(line).ended_with(0).stdout;
    let folder = crate::support::folder();
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, plan).expect("the folder is ours");
    let found = json(&format!("doctor {} --json", file.display()), 1);
    let need = &found["need"];
    assert_eq!((&need["connections"], &need["sources"]), (&3_000_000.into(), &2.into()));
    assert_eq!((&need["origin"], &need["loopback"]), (&true.into(), &true.into()));
    assert_eq!(finding(&found, "ports")["level"], "blocks");
}

#[test]
fn what_doctor_is_asked_must_make_sense() {
    for (line, words) in [
        ("doctor -c 0", &["--connections is 0"][..]),
        ("doctor -t 0", &["--threads is 0"]),
        ("doctor -c many", &["'many'", "whole number"]),
        ("doctor --conections 5", &["--conections", "--connections"]),
        ("doctor --connection-rate fast", &["'fast'", "10k/s"]),
        ("doctor --close rude", &["'rude'", "fin or reset"]),
        ("doctor --source localhost", &["'localhost'", "127.0.0.2-127.0.0.9"]),
        ("doctor --source ::-ffff::", &["at most 65536"]),
        ("doctor plan.toml -c 5", &["[PLAN]", "--connections"]),
        ("doctor missing.toml", &["missing.toml", "No such file"]),
        ("cache --watch-pid nginx", &["'nginx'", "ps -e"]),
    ] {
        run(line).refused_with(2, words);
    }
    // 192.0.2.0/24 is for documentation: no machine has it.
    for line in ["doctor --source 192.0.2.7", "cache --source 127.0.0.2,192.0.2.7 -d 1s"] {
        run(line).refused_with(1, &["192.0.2.7", "ip address add"]);
    }
    run("cache --source ::1 -d 1s").refused_with(1, &["IPv4", "--source"]);
    run("cache --watch-pid 4294967295 -d 1s").refused_with(1, &["4294967295", "ps -e"]);
}

/// The target's line of text, and what JSON says of it.
fn assert_watched(ran: &Ran, name: &str, pid: u32) {
    let report = ran.report();
    let watched = report.list("watched");
    let found = watched.iter().find(|watched| watched.count("pid") == u64::from(pid)).expect("it is watched");
    assert_eq!((watched.len(), found.text("name")), (1, name));
    assert!(found.number("cpu_s") > 0.0 && found.count("memory_bytes") > 100_000, "{}", ran.stdout);
    assert_eq!(report.number("target/cpu_s"), found.number("cpu_s"));
    // As if no line had been broken.
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, told) =
        said.split_once(&format!("watched {name} (pid {pid}): ")).unwrap_or_else(|| panic!("{said}"));
    let (told, _) = told.split_once(" at most").unwrap_or_else(|| panic!("{said}"));
    assert!(told.contains(" cores, ") && told.ends_with("B of memory") && told.len() < 60, "{told}");
}

/// An origin by itself is the target: a process that is not ours and listens here.
#[test]
fn a_report_has_cpu_and_memory_of_the_target_found_by_its_port() {
    let address = free_address();
    let origin = format!("origin --listen {address} -t 1 -q");
    let mut target = wringer(&origin);
    target.wait_for("listens at");
    let (pid, _) = target.processes()[0];
    let pid = pid.as_raw_pid() as u32;
    let line =
        format!("cache {address} --host {address} --clients-only -n 20000 -c 8 -q --json {{}}/result.json");
    let ran = run(&line).ended_with(0);
    assert_watched(&ran, "wringer", pid);
    target.signal(Signal::INT);
    target.end().ended_with(0);
    let report = ran.report();
    assert_machine(&report);
}

/// Checks the report on the resources that the run held itself.
fn assert_machine(report: &Report) {
    let machine = report.part("self_check/machine");
    assert!(machine.count("descriptors") > 8 && machine.count("memory_bytes") > 1 << 20);
    assert!(machine.count("segments") > 10_000, "{}", machine.count("segments"));
    assert!(machine.count("retransmits") <= machine.count("segments"));
    assert!(machine.count("port_limit") > 0 && machine.count("descriptor_limit") > 0);
    assert!(report.list("workers").iter().all(|worker| worker.number("share") >= 0.0));
}

#[test]
fn a_process_that_is_named_is_watched_instead() {
    let mut busy = Command::new("bash")
        .args(["-c", "while ! read -r -t 0; do :; done"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    let address = free_address();
    let mut origin = wringer(&format!("origin --listen {address} -t 1 -q"));
    origin.wait_for("listens at");
    let watch = format!("--watch-pid {} -q --json {{}}/result.json", busy.id());
    let ran = run(&format!("cache {address} --host {address} --clients-only -d 1s -c 2 {watch}"));
    drop(busy.stdin.take());
    busy.wait().expect("it ends with its input");
    origin.signal(Signal::INT);
    origin.end();
    assert_watched(&ran, "bash", busy.id());
}

/// Runs wringer against a slow origin, in a network of the test's own with a dozen local ports; `None` where none may be
/// made.
fn with_few_ports(line: &str) -> Option<Ran> {
    let network = "unshare --map-root-user --net bash -c";
    let few = "ip link set lo up && echo 40000 40011 > /proc/sys/net/ipv4/ip_local_port_range";
    if shell(&format!("{network} '{few}'")).code() != 0 {
        return None;
    }
    let origin = "$WRINGER origin --listen 127.0.0.1:9080 --origin-delay 200ms --size 1KB -q > origin.out 2> origin.txt & origin=$!; \
                  until grep -q listens origin.txt; do kill -0 $origin || exit 9; sleep 0.01; done";
    let cache = "cache 127.0.0.1:9080 --host 127.0.0.1:9080 --clients-only --size 1KB -q --json result.json";
    let end = "code=$?; kill -INT $origin; wait $origin; exit $code";
    Some(shell(&format!("{network} '{few}; {origin}; $WRINGER {cache} {line}; {end}'")))
}

/// Whoever waits for an answer keeps a port, so forty at a time.
#[test]
fn ports_that_run_out_are_counted_and_more_sources_help() {
    let flow = "--rate 200 -n 100";
    let Some(ran) = with_few_ports(flow) else {
        skip!("no network namespace may be made here");
    };
    let warned = "100 connections at once, but only 12 local ports for them";
    assert!(ran.stderr.contains(&format!("warning: {warned}")), "{}", ran.stderr);
    let report = ran.report();
    assert!(report.failures().contains_key("no_port"), "{:?}", report.failures());
    assert!(report.sum("ok") > 0);
    assert_eq!(report.text("verdict/measurement/state"), "generator_bound");
    let reasons = report.at("verdict/measurement/reasons").to_string();
    assert!(reasons.contains("no free local port") && reasons.contains("--source"), "{reasons}");
    assert!(report.count("self_check/no_port") > 0);
    assert_eq!(report.count("self_check/machine/port_limit"), 12);

    let ran = with_few_ports(&format!("{flow} --source 127.0.0.2-127.0.0.21")).expect("one was made before");
    let report = ran.report();
    assert_eq!((report.failures().get("no_port"), report.sum("ok")), (None, 100), "{}", ran.stdout);
    assert!(!ran.stderr.contains("local ports"), "{}", ran.stderr);
}

#[test]
fn too_few_ports_for_the_users_are_refused() {
    let users = "-c 40 -n 200";
    let Some(ran) = with_few_ports(users) else {
        skip!("no network namespace may be made here");
    };
    let advice = "--source 127.0.0.2-127.0.0.5";
    ran.refused_with(1, &["40 connections at once", "only 12 local ports", advice, "ip_local_port_range"]);
    let ran = with_few_ports(&format!("{users} {advice}")).expect("one was made before").ended_with(0);
    assert_eq!(ran.report().sum("ok"), 200);
}
