//! Bad input and bad luck: each gives a clear line or a counted outcome, never a panic, a hang or a lost report.

use crate::faulty_proxy::{FaultKind, start as faulty_proxy};
use crate::support::{Report, folder, free_address, program, run, shell, start, wringer};
use crate::web::{Web, ok};
use rustix::process::{Signal, kill_process};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Refused before anything is sent, with a line that names the thing and what would do.
#[test]
fn what_cannot_be_meant_is_a_usage_error() {
    for (line, words) in [
        ("", &["wringer URL ", "wringer --help"][..]),
        ("press", &["press", "subcommand"]),
        ("cache --speed 9", &["--speed", "unexpected"]),
        ("cache -d soon", &["'soon'", "500ms"]),
        ("cache -c many", &["'many'", "whole number"]),
        ("cache -c -5", &["'-5'", "whole number"]),
        ("cache -t 99999999", &["'99999999'", "65535"]),
        ("cache --range 1.5", &["'1.5'", "share", "25%"]),
        ("cache --hit-ratio 120%", &["'120%'"]),
        ("cache --size 3furlongs", &["'3furlongs'", "4KiB"]),
        ("cache --size 2KB..1KB", &["size"]),
        ("cache --rate 0", &["'0'", "10k/s"]),
        ("cache --hot 0", &["hot is 0"]),
        ("cache -c 0", &["users is 0"]),
        ("cache -t 0", &["threads is 0"]),
        ("cache --zipf -1", &["'-1'", "Zipf exponent", "0 to 10"]),
        ("cache --zipf 11", &["'11'", "Zipf exponent"]),
        ("cache --phase x,zipf=x", &["'x'", "Zipf exponent"]),
        ("cache --size heavyx", &["'heavyx'", "heavy:8KB"]),
        ("cache --arrivals even", &["--arrivals", "--rate"]),
        ("cache --in-flight 5", &["--in-flight", "--rate"]),
        ("cache --lifetime 500ms", &["'500ms'", "whole seconds"]),
        ("cache -n 0", &["'0'", "at least 1"]),
        ("cache -d 0", &["'0'", "500ms"]),
        ("cache --timeout 0", &["'0'", "500ms"]),
        ("cache --memory 0", &["'0'", "100MB"]),
        ("cache --cache-memory 0", &["'0'", "100MB"]),
        ("cache --rig nginx --rig-workers 100", &["'100'", "1 to 64"]),
        ("cache --seed x", &["'x'", "42", "0x2a"]),
        ("cache --drift often", &["'often'", "per hour"]),
        ("cache --origin here", &["'here'", "127.0.0.1:9080"]),
        ("cache 127.0.0.1:80 --origin 0.0.0.0:9080", &["0.0.0.0:9080", "--host"]),
        ("origin -d 0", &["'0'", "500ms"]),
        ("cache --rig iis", &["iis", "varnish"]),
        ("size --rig iis --forecast", &["iis", "varnish"]),
        ("stress --rig iis --forecast", &["iis", "varnish"]),
        ("probe --rig iis --forecast", &["iis", "varnish"]),
        ("compare --rig iis --rig nginx --show-plan", &["iis", "varnish"]),
        ("find --rig iis --slo p99<1s --show-plan", &["iis", "varnish"]),
        ("cache 127.0.0.1:80 --rig ats", &["--rig"]),
        ("cache --rig ats --clients-only", &["--clients-only", "--rig"]),
        ("cache somewhere", &["'somewhere'", "HOST:PORT"]),
        ("cache --phase x,sets=B", &["'sets'", "set"]),
        ("cache --fill --shift", &["--shift"]),
        ("cache --form sideways", &["sideways", "transparent"]),
        ("cache -H nonsense", &["--header", "Name: value"]),
        ("origin --origin-errors 1% --origin-error-status 200", &["error_status is 200"]),
        ("origin --listen nowhere", &["nowhere"]),
        ("origin --haterm --lifetime 1h", &["--lifetime describes objects", "leave it out"]),
        ("origin --haterm --origin-chunked 1%", &["--origin-chunked", "k=1"]),
        ("origin --haterm --tcp", &["haterm speaks HTTP"]),
        ("rig iis", &["iis", "haproxy"]),
        ("run", &["PLAN"]),
        ("plan dance x.toml", &["dance"]),
    ] {
        run(line).refused_with(2, words);
    }
    start(["cache", "-H", "Host: a.example"]).end().refused_with(2, &["--host a.example"]);
}

/// A number alone is a port of this machine, a seed may be hexadecimal, and what follows from a share reads like one.
#[test]
fn short_ways_to_say_it_are_understood() {
    let plan = run("cache 127.0.0.1:8080 --origin 9081 --seed 0x10 --show-plan").ended_with(0).stdout;
    for word in ["listen = \"127.0.0.1:9081\"", "seed = 16\n", "one_timers = 0.2\n"] {
        assert!(plan.contains(word), "{word} in {plan}");
    }
}

/// A proxy that is started here connects to an origin that listens on all addresses on this machine's loopback.
#[test]
fn a_rig_connects_to_an_origin_on_all_addresses() {
    let printed = run("rig nginx --origin 0.0.0.0:9080 --print").ended_with(0).stdout;
    assert!(printed.contains("127.0.0.1:9080") && !printed.contains("0.0.0.0"), "{printed}");
}

#[test]
fn help_is_help_for_jtest_too() {
    let help = run("help jtest").ended_with(0);
    assert!(help.stdout.contains("--hitrate") && help.stdout.contains("Usage"), "{}", help.stdout);
    assert_eq!(help.stderr, "");
    // Each old tool has its line, which says how it describes itself.
    let all = run("--help").ended_with(0).stdout;
    let all = all.split_whitespace().collect::<Vec<_>>().join(" ");
    let tools = [
        "jtest",
        "ab",
        "siege",
        "h1load",
        "haload",
        "h2load",
        "http_load",
        "wrk",
        "wrk2",
        "jmeter",
        "wrktcp",
        "hey",
        "bombardier",
        "vegeta",
        "fortio",
    ];
    for tool in tools {
        assert!(all.contains(&format!("(wringer help {tool})")), "{tool}: {all}");
        assert!(run(&format!("help {tool}")).ended_with(0).stdout.contains("sage"), "{tool}");
    }
    assert!(run("help cache").ended_with(0).stdout.contains("--hit-ratio"));
}

#[test]
fn what_cannot_be_done_here_is_one_clear_line() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = taken.local_addr().expect("it is bound").to_string();
    for (line, words) in [
        (format!("origin --listen {taken}"), &["in use", "another port"][..]),
        (format!("cache {} --origin {taken}", free_address()), &["in use", "--origin"]),
        ("origin --listen 192.0.2.1:9080".to_string(), &["192.0.2.1:9080", "cannot listen"]),
        (
            "cache no-such-host.invalid:80 --origin 127.0.0.1:0".to_string(),
            &["no-such-host.invalid", "resolve"],
        ),
    ] {
        let ran = run(&line).refused_with(1, words);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn a_proxy_that_does_not_listen_is_said_at_once() {
    let begun = Instant::now();
    let proxy = free_address();
    let line = format!("cache {proxy} --origin {}", free_address());
    run(&line).refused_with(1, &["nothing answers", &proxy.to_string(), "start the proxy"]);
    run(&format!("cache {proxy} --clients-only")).refused_with(1, &["nothing answers", &proxy.to_string()]);
    assert!(begun.elapsed() < Duration::from_secs(120));
}

/// Killed while it is being pressed.
#[test]
fn a_rig_that_dies_is_counted_and_leaves_nothing() {
    if program("haproxy").is_none() {
        skip!("haproxy is not installed");
    }
    let mut running = wringer("cache --rig haproxy -c 4 -d 3s --hot 50 --size 1KB --json {}/result.json");
    running.wait_for("\n     1 ");
    for (process, line) in running.processes() {
        if line.contains("haproxy") && !line.contains("wringer ") {
            kill_process(process, Signal::KILL).expect("it runs");
        }
    }
    let ran = running.end().ended_with(1);
    let report = ran.report();
    assert!(report.sum("ok") > 0 && report.failures().contains_key("refused"), "{:?}", report.failures());
    assert_eq!(report.faults().len(), 0);
}

/// The proxy answers, but says that it cannot reach the origin.
#[test]
fn an_origin_that_the_proxy_cannot_reach_is_noted() {
    let proxy = faulty_proxy(free_address(), FaultKind::MixVariants);
    let origin = free_address();
    let line = format!("cache {} --origin {origin} -n 100 -c 4 -q --json {{}}/result.json", proxy.address);
    let ran = run(&line).ended_with(1);
    let report = ran.report();
    assert_eq!(report.failures().get("bad_status"), Some(&100), "{:?}", report.failures());
    let first = ran.stdout.split("\n\nLoad").next().unwrap_or_default();
    let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["no good answer", "status 502", "fetch from", "--origin"] {
        assert!(first.contains(words), "{words} in {first}");
    }
    assert!(first.contains(" 100 % bad ") && !first.contains("hits"), "{first}");
    assert_eq!(report.text("verdict/target/state"), "no_good_answer");
    assert!(report.at("measured/cache/offload").is_null());
    let notes = report.notes();
    assert!(notes.contains("never asked") && notes.contains(&origin.to_string()), "{notes}");
    assert!(ran.stdout.contains("never asked"), "{}", ran.stdout);
}

#[test]
fn more_workers_than_the_cores_can_use_are_refused() {
    let ran = shell("exec $WRINGER http -t 65000 -d 1s http://127.0.0.1:1/");
    ran.refused_with(2, &["65000 workers", "ask for at most"]);
}

#[test]
fn too_few_descriptors_for_the_users_are_refused() {
    let ran = shell("ulimit -n 60; exec $WRINGER cache -c 100 -d 1s");
    ran.refused_with(1, &["100 connections", "the 60 allowed", "ulimit -n"]);
}

/// It cannot be known before how many will be under way: what cannot be opened is counted, and the run goes on. The server has a
/// process of its own, so it is the client that has no descriptor left.
#[test]
fn too_few_descriptors_under_a_rate_are_counted() {
    let web = Web::start(|_| {
        thread::sleep(Duration::from_millis(600));
        ok("late")
    });
    let ran = shell(&format!(
        "ulimit -n 100; exec $WRINGER http http://{}/ --rate 400 -d 1s -q --json result.json",
        web.address
    ));
    let report = ran.report();
    assert!(report.failures().contains_key("no_descriptor"), "{:?}", report.failures());
    assert!(report.sum("ok") > 0, "{:?}", report.failures());
    assert_eq!(report.text("verdict/measurement/state"), "generator_bound");
    assert_ne!(report.text("verdict/target/state"), "silent", "{}", ran.stdout);
    assert!(report.count("self_check/starved") > 0);
    assert!(report.notes().contains("descriptors"), "{}", report.notes());
}

#[test]
fn a_plan_with_mistakes_is_refused_with_all_of_them() {
    let folder = folder();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the folder is ours");
        path.display().to_string()
    };
    let missing = folder.path().join("missing.toml").display().to_string();
    let unknown = file("unknown.toml", "version = 1\nseed = 7\nspeed = 9\n");
    let broken = file("broken.toml", "version = 1\nseed = = 7\n");
    let sound = run("cache 127.0.0.1:8080 --show-plan --seed 7").ended_with(0).stdout;
    let wrong = sound
        .replace("users = 50", "users = 0")
        .replace("range = 0.0", "range = 1.5")
        .replace("127.0.0.1:8080", "nowhere");
    let wrong = file("wrong.toml", &wrong);
    for command in ["run", "plan check", "plan show"] {
        run(&format!("{command} {missing}")).refused_with(2, &["missing.toml", "No such file"]);
        run(&format!("{command} {unknown}")).refused_with(2, &["unknown.toml", "line 3, column 1", "speed"]);
        run(&format!("{command} {broken}")).refused_with(2, &["broken.toml", "line 2, column 8"]);
        run(&format!("{command} {}", folder.path().display())).refused_with(2, &["cannot be read"]);
    }
    for command in ["run", "plan check"] {
        run(&format!("{command} {wrong}")).refused_with(2, &["users is 0", "range is 1.5", "'nowhere'"]);
    }
    let sound = file("sound.toml", &sound);
    assert!(run(&format!("plan check {sound}")).ended_with(0).stdout.contains("nothing wrong"));
    let ini = "[common]\nhost = h\nport = x\n[request]\nreq_body = $(A)\n";
    let wrong = file("wrong.ini", ini);
    for command in ["plan check", "plan show"] {
        run(&format!("{command} {wrong}"))
            .refused_with(2, &["wrong.ini: line 3: port 'x'", "line 5: there is no parameter A"]);
    }
    let sound = ini.replace("= x", "= 1").replace("$(A)", "A");
    let reaches = file("reaches.ini", &format!("{sound}[response]\nrsp_headlen = 4\n"));
    run(&format!("plan check {reaches}"))
        .refused_with(2, &["reaches.ini: line 7: the length field of answers"]);
    let sound = file("sound.ini", &sound);
    assert!(run(&format!("plan check {sound}")).ended_with(0).stdout.contains("nothing wrong"));
    let shown = file("shown.toml", &run(&format!("plan show {sound}")).ended_with(0).stdout);
    assert!(run(&format!("plan check {shown}")).ended_with(0).stdout.contains("nothing wrong"));
}

/// The plan that `--show-plan` prints is the same test as the command line that printed it.
#[test]
fn a_shown_plan_runs() {
    let origin = free_address();
    let proxy = faulty_proxy(origin, FaultKind::MixVariants);
    let line = format!(
        "cache {} --origin {origin} -n 200 -c 4 --hot 20 --range 0.1 --phase warm,requests=40,measured=no \
         --phase hard,requests=200 --seed 7",
        proxy.address
    );
    let plan = run(&format!("{line} --show-plan")).ended_with(0).stdout;
    let folder = folder();
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, &plan).expect("the folder is ours");
    let file = file.display();
    assert_eq!(run(&format!("plan show {file}")).ended_with(0).stdout, plan);
    let by_plan = run(&format!("run {file} -q --json {{}}/result.json")).ended_with(0).report();
    assert_eq!((by_plan.sum("ok"), by_plan.count("run/seed")), (240, 7));
    let by_line = run(&format!("{line} -q --json {{}}/result.json")).ended_with(0).report();
    for counter in ["requests", "ranges", "body_bytes"] {
        assert_eq!(by_plan.sum(counter), by_line.sum(counter), "{counter}");
    }
}

/// It stands where `wringer rig` without options puts the proxy and looks for the origin.
#[test]
fn a_shown_plan_of_a_rig_is_one_for_wringer_rig() {
    for line in ["cache --show-plan", "cache --rig ats --show-plan"] {
        let plan = run(line).ended_with(0).stdout;
        for word in
            ["target = \"127.0.0.1:8080\"", "authority = \"127.0.0.1:9080\"", "listen = \"127.0.0.1:9080\""]
        {
            assert!(plan.contains(word), "{word} in {plan}");
        }
    }
}

/// As from a terminal, where the signal goes to wringer and to all that it started.
#[test]
fn one_interrupt_ends_the_run_and_gives_the_whole_report() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut running = wringer("cache -c 4 -d 50s --hot 50 --size 1KB --json {}/result.json");
        running.wait_for("\n     1 ");
        running.signal_all(signal);
        let ran = running.end().ended_with(128 + signal.as_raw());
        let report = ran.report();
        assert_eq!(report.at("run/interrupted").as_bool(), Some(true));
        assert!(report.number("run/duration_s") < 30.0 && report.sum("ok") > 0);
        assert_eq!(report.failures().len(), 0, "nothing fails because of the end: {:?}", report.failures());
        for part in ["Latency", "Oracle", "Generator", "To repeat this run"] {
            assert!(ran.stdout.contains(part), "{part} is missing in {}", ran.stdout);
        }
    }
}

/// Requests under way are waited for, here for long; the second one comes meanwhile.
#[test]
fn a_second_interrupt_ends_it_at_once() {
    let origin = free_address();
    let proxy = faulty_proxy(origin, FaultKind::Slow);
    let line = format!("cache {} --origin {origin} -c 4 -d 50s --show-plan", proxy.address);
    let plan = run(&line).ended_with(0).stdout.replace("grace = \"1s\"", "grace = \"300s\"");
    let folder = folder();
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, plan).expect("the folder is ours");
    let begun = Instant::now();
    let mut running = wringer(&format!("run {}", file.display()));
    running.wait_for("\n     1 ");
    // What follows at once is taken for the same wish: some senders signal a process and its group.
    while running.is_running() {
        running.signal(Signal::INT);
        thread::sleep(Duration::from_millis(700));
    }
    let ran = running.end().ended_with(130);
    assert!(begun.elapsed() < Duration::from_secs(120));
    assert!(!ran.stdout.contains("To repeat this run"), "{}", ran.stdout);
}

#[test]
fn an_origin_alone_ends_with_a_report_too() {
    let address = free_address();
    let mut origin = wringer(&format!("origin --listen {address} --json {{}}/result.json"));
    origin.wait_for("listens at");
    let mut client = TcpStream::connect(address).expect("it listens");
    client.write_all(b"GET /w/1f/300 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).expect("an orderly end");
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"));
    origin.signal(Signal::INT);
    let report = origin.end().ended_with(0).report();
    assert_eq!(report.count("origin/full"), 1);
    assert!(report.at("verdict").is_null());
}

#[test]
fn what_a_reader_that_goes_away_has_missed_is_told() {
    for line in
        ["cache -n 500 -c 4", "cache -n 500 -c 4 --json -", "plan show plan.toml", "--help", "cache --help"]
    {
        let ran = shell(&format!(
            "$WRINGER cache --show-plan > plan.toml; $WRINGER {line} | head -n 1; exit ${{PIPESTATUS[0]}}"
        ));
        // A short text may be written before its reader goes.
        let code = ran.code();
        assert!(
            code == 0 || code == 1 && ran.stderr.contains("cannot be written"),
            "{line}: {code} {}",
            ran.stderr
        );
        assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    }
    shell("$WRINGER cache -n 500 -c 4 > /dev/full").ended_with(1);
}

/// Neither a closed standard error nor one whose reader has gone is a reason to panic, which would be exit code 101.
#[test]
fn a_refusal_that_nobody_reads_is_no_panic() {
    for line in ["cache somewhere", "run missing.toml", "cache 127.0.0.1:1 --clients-only", "jtest -p x"] {
        let code = if line.contains("clients-only") { 1 } else { 2 };
        let code = if line.starts_with("jtest") { 64 } else { code };
        shell(&format!("exec $WRINGER {line} 2>&-")).ended_with(code);
        let gone = format!("exec 3> >(true); wait $!; $WRINGER {line} 2>&3");
        shell(&gone).ended_with(code);
    }
}

/// `[load.trace]` of a plan has single requests told, here as jtest does.
#[test]
fn a_plan_can_have_single_requests_told() {
    let origin = free_address();
    let proxy = faulty_proxy(origin, FaultKind::MixVariants);
    let line = format!("cache {} --origin {origin} -n 20 -c 2 --hot 5 --seed 7 --show-plan", proxy.address);
    let plan = run(&line).ended_with(0).stdout;
    let told = plan.replace("urls = false", "urls = true").replace("heads = false", "heads = true");
    assert_ne!(told, plan, "{plan}");
    let folder = folder();
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, told).expect("the folder is ours");
    let ran = run(&format!("run {} -q", file.display())).ended_with(0);
    assert!(ran.stdout.lines().any(|line| line.contains("/w/")), "{}", ran.stdout);
    for title in ["Request to Proxy: {", "Response From Proxy: {", "Request from Proxy: {"] {
        assert!(ran.stdout.contains(title), "{title} in {}", ran.stdout);
    }
}

/// It would be for nothing where a stall of the proxy's fits the limit.
#[test]
fn a_rate_is_no_reason_to_speak_of_descriptors() {
    let report = run("cache --rate 100 -d 1s --size 1KB -q --json {}/result.json").ended_with(0).report();
    assert_eq!(report.notes(), "");
}

#[test]
fn json_on_standard_output_is_nothing_but_json() {
    let ran = run("cache -n 300 -c 4 --json -").ended_with(0);
    assert_eq!(Report::of(&ran.stdout).sum("ok"), 300);
    assert!(ran.stderr.contains("phase measure"), "lines go elsewhere: {}", ran.stderr);
}

/// Before anything is sent, so that no run is for nothing.
#[test]
fn a_file_that_cannot_be_written_is_said_at_once() {
    for option in ["--json", "--evidence-file"] {
        let line = format!("cache -n 50 -c 4 -q {option} {{}}/no/such/folder.file");
        let ran = run(&line).refused_with(1, &["cannot be written", "folder.file"]);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
    // Nobody chose this one, and it may not be needed.
    let ran = shell("cd /proc; exec $WRINGER cache -n 50 -c 4 -q").ended_with(0);
    assert!(ran.stderr.contains("--evidence-file") && ran.stdout.contains("50 requests"), "{}", ran.stderr);
    // Trying leaves nothing behind.
    shell("$WRINGER cache -n 50 -c 4 -q --evidence-file mine.txt && test ! -e mine.txt").ended_with(0);
}

/// As when a disk is full.
#[test]
fn a_file_that_cannot_be_written_in_the_end_loses_no_report() {
    let ran = run("cache -n 50 -c 4 -q --json /dev/full").ended_with(1);
    assert!(ran.stderr.contains("cannot be written") && ran.stderr.contains("/dev/full"), "{}", ran.stderr);
    assert!(ran.stdout.contains("50 requests"), "{}", ran.stdout);
    let origin = free_address();
    let proxy = faulty_proxy(origin, FaultKind::MixVariants);
    let line = format!(
        "cache {} --origin {origin} -n 300 --hot 20 --hit-ratio 1 --variants 3 --size 3000 -q --evidence-file /dev/full",
        proxy.address
    );
    // That answers were wrong weighs more than that their evidence is lost.
    let ran = run(&line).ended_with(3);
    assert!(ran.stderr.contains("evidence of failed checks cannot be written"), "{}", ran.stderr);
    assert!(ran.stdout.contains("wrong variant"), "{}", ran.stdout);
}

/// Headers with spaces cannot be part of a line of words.
#[test]
fn fields_are_added_to_requests_and_answers() {
    let server = Recorder::start();
    let target = server.address.to_string();
    let words = ["cache", &target, "--clients-only", "-n", "3", "-c", "1", "-q", "-H", "X-Mine: a b"];
    start(words).end();
    let fields =
        server.requests.lock().expect("no panic").iter().filter(|line| line.contains("x-mine: a b")).count();
    assert_eq!(fields, 3);
}

/// The same seed sends the same requests, whatever the number of threads; another one sends others.
#[test]
fn one_seed_is_one_set_of_requests_on_any_number_of_threads() {
    let sent = |threads: u32, seed: u32| {
        let server = Recorder::start();
        // The recorder is no origin: its answers are all found false, which is of no interest here.
        let line = format!(
            "cache {} --clients-only --host h:1 -c 6 -n 500 --hot 100 --zipf 0.9 --range 0.3 --variants 4 --reload 0.1 -q \
             -t {threads} --seed {seed} --json {{}}/result.json",
            server.address
        );
        let report = run(&line).report();
        assert_eq!(
            (report.sum("requests"), report.count("run/threads")),
            (500, u64::from(threads)),
            "{}",
            report.notes()
        );
        assert!(report.notes().contains("could not be joined"), "{}", report.notes());
        let mut requests = server.requests.lock().expect("no panic").clone();
        requests.sort();
        assert_eq!(requests.len(), 500);
        requests
    };
    let [one, two, three] = [1, 2, 3].map(|threads| sent(threads, 5));
    assert!(one == two && one == three, "the number of threads changes what is sent");
    let kinds: BTreeSet<&String> = one.iter().collect();
    assert!(kinds.len() > 100, "only {} different requests", kinds.len());
    assert_ne!(one, sent(2, 6));
}

/// A server that answers everything with nothing and writes down what it was asked for, nonces and questions to the
/// origin left out.
struct Recorder {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    fn start() -> Recorder {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let recorder = Recorder { address, requests: Arc::clone(&requests) };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let requests = Arc::clone(&requests);
                thread::spawn(move || record(stream, &requests));
            }
        });
        recorder
    }
}

fn record(mut stream: TcpStream, requests: &Mutex<Vec<String>>) -> Option<()> {
    let mut input = BufReader::new(stream.try_clone().ok()?).lines();
    loop {
        let lines = input.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty());
        let head: Vec<String> = lines.map(|line| line.to_lowercase()).collect();
        let first = head.first()?;
        if !first.contains("/.wringer/") {
            let told = head.iter().filter(|line| !line.starts_with("wringer-request:"));
            requests.lock().ok()?.push(told.map(|line| format!("{line}\n")).collect());
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()?;
        if head.iter().any(|line| line == "connection: close") {
            return None;
        }
    }
}

#[test]
fn an_unknown_name_keeps_no_other_from_being_explained() {
    let ran = run("explain h1_field_name no_such_name ENHANCE_YOUR_CALM").ended_with(2);
    assert!(
        ran.stdout.contains("h1_field_name") && ran.stdout.contains("ENHANCE_YOUR_CALM"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr.contains("\"no_such_name\"") && !ran.stderr.contains("h1_field_name"),
        "{}",
        ran.stderr
    );
}
