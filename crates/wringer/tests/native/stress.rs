//! Scenarios beside a bystander, against a proxy that is wrong on purpose: its scenario does not pass, others do. What follows from figures is tested in the
//! crate `decide`.

use crate::faulty_proxy::{FaultKind, FaultyProxy, start};
use crate::support::{Ran, drawn, fits_schema, free_address, run, tell};
use serde_json::Value;
use std::io::{BufRead, BufReader, Lines};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A proxy before an origin that is not there yet, and the origin's address.
fn proxy(kind: FaultKind) -> (FaultyProxy, SocketAddr) {
    let origin = free_address();
    (start(origin, kind), origin)
}

/// Runs scenarios at little load, for a short time.
fn stress(kind: FaultKind, only: &str) -> (Ran, Value) {
    let (proxy, origin) = proxy(kind);
    // The proxy is this process, and what others of its tests hold says nothing.
    let other = Command::new("sleep").arg("600").spawn().expect("sleep is everywhere");
    pressed(proxy.address, origin, other, &format!("--only {only} --press 3s"))
}

/// Runs scenarios against a proxy; `process`: one that is watched, and ended.
fn pressed(proxy: SocketAddr, origin: SocketAddr, mut process: Child, how: &str) -> (Ran, Value) {
    let pid = process.id();
    let ran = run(&format!(
        "stress {proxy} --origin {origin} {how} --back 12s --capacity 200/s -t 1 --seed 7 --no-keep --json {{}}/found.json --html {{}}/found.html --pid {pid}"
    ));
    process.kill().and_then(|()| process.wait()).expect("it is ours");
    let text = std::fs::read_to_string(ran.folder.path().join("found.json"));
    let text = text.unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert!(!found["exit"].is_null(), "it has not ended: {}", ran.stderr);
    fits_schema("stress", &found);
    (ran, found)
}

/// The finding of a scenario.
fn finding<'a>(found: &'a Value, scenario: &str) -> &'a Value {
    let all = found["findings"].as_array().expect("a list");
    all.iter().find(|finding| finding["scenario"] == scenario).unwrap_or_else(|| panic!("no {scenario}"))
}

/// Milliseconds that the bystander may be late: more, and this machine is so busy that whatever is slow says nothing.
const LATE_MS: f64 = 5.0;

/// Why a scenario says nothing because this machine was busy, which no test can help.
fn busy(found: &Value, scenario: &str) -> Option<String> {
    let finding = finding(found, scenario);
    let late = |window: &str| finding["seen"][window]["late_ms"].as_f64().is_some_and(|late| late > LATE_MS);
    let why = finding["verdict"]["reasons"].to_string();
    let is_weak = why.contains("not pressed as") || why.contains("not well before");
    (is_weak || late("before") || late("during") || late("after")).then_some(why)
}

/// Checks that a scenario ended in one of these states, with a reason that has these words.
fn check(found: &Value, scenario: &str, states: &[&str], words: &str) {
    if let Some(why) = busy(found, scenario) {
        tell(&format!("{scenario}: {why}"));
        return;
    }
    check_fact(found, scenario, states, words);
}

/// Checks that a scenario found nothing wrong. That the bystander waited, or was turned away, may be a busy machine's doing: it is told, and no more than that.
fn check_right(found: &Value, scenario: &str) {
    check_answers(found, scenario);
    let verdict = &finding(found, scenario)["verdict"];
    for reason in verdict["reasons"].as_array().expect("a list") {
        let reason = reason.as_str().expect("a sentence");
        assert!(
            reason.contains("the bystander") || reason.contains("not pressed as"),
            "{scenario}: {verdict}"
        );
        tell(&format!("{scenario}: {reason}"));
    }
}

/// Checks that nobody got a wrong answer, and that the proxy lives.
fn check_answers(found: &Value, scenario: &str) {
    let finding = finding(found, scenario);
    let seen = &finding["seen"];
    assert!(seen["died"].is_null(), "{finding}");
    for window in ["before", "during", "after"] {
        assert_eq!(seen[window]["faulty"], 0, "{finding}");
    }
    assert_eq!(seen["pressed"]["counts"]["check_failed"], 0, "{finding}");
}

/// The same of what is so however busy this machine is.
fn check_fact(found: &Value, scenario: &str, states: &[&str], words: &str) {
    let verdict = &finding(found, scenario)["verdict"];
    let state = verdict["state"].as_str().expect("a word");
    assert!(states.contains(&state), "{scenario}: {verdict}");
    assert!(verdict["reasons"].to_string().contains(words), "{scenario}: {verdict}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (line, said) in [
        ("stress --only surge,flood", "the choices are surge, bursts"),
        ("stress --press 1s", "2 s at least"),
        ("stress --back 2s", "4 s at least"),
        ("stress --i-own-this", "PROXY"),
        ("stress --pid 1 --rig nginx", "PROXY"),
        ("stress 127.0.0.1:1 --tls", "https://HOST:PORT"),
        ("stress 127.0.0.1:1 -k", "https://HOST:PORT"),
        ("stress --capacity 0", "'0' is not a rate"),
        ("stress --rig nosuch", "there is no rig"),
    ] {
        let ran = run(line).ended_with(2);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
    let ran = run(&format!("stress 127.0.0.1:1 --pid {}", std::process::id())).ended_with(2);
    assert!(ran.stderr.contains("wringer comes from this process itself"), "{}", ran.stderr);
    let listed = run("stress --list").ended_with(0).stdout;
    assert!(listed.lines().count() >= 12 && listed.contains("stampede "), "{listed}");
    let told = run("stress --forecast --only surge,bursts --press 30s").ended_with(0).stdout;
    assert!(told.starts_with("2 scenarios: 94 s if"), "{told}");
}

/// Broken requests go only to what is one's own, and TLS cannot be pressed where it is not spoken: neither has passed.
#[test]
fn what_could_not_be_run_has_not_passed() {
    let (ran, found) = stress(FaultKind::None, "malformed,tls-handshakes");
    assert_eq!(ran.code(), 1, "{}", ran.stdout);
    for (scenario, words) in [("malformed", "--i-own-this"), ("tls-handshakes", "--tls")] {
        let verdict = &finding(&found, scenario)["verdict"];
        assert!(verdict["state"] == "not_run" && verdict["reasons"].to_string().contains(words), "{verdict}");
    }
    assert!(ran.stdout.contains("of 2 scenarios 2 NOT RUN or void"), "{}", ran.stdout);
    let [json, page] = ["found.json", "found.html"].map(|name| ran.folder.path().join(name));
    let [json, page] = [json, page].map(|file| std::fs::read_to_string(file).expect("it is written"));
    drawn(&json, &page);
}

#[test]
fn a_cache_that_is_right_passes() {
    let (ran, found) = stress(FaultKind::None, "surge,short-connections,slow-origin,cutting-origin");
    for scenario in ["surge", "short-connections", "slow-origin", "cutting-origin"] {
        check_right(&found, scenario);
    }
    assert!(ran.stdout.contains("(as given)"), "{}", ran.stdout);
}

#[test]
fn cut_answers_that_are_passed_on_as_whole_fail_where_the_origin_cuts() {
    let (ran, found) = stress(FaultKind::CompleteCut, "surge,cutting-origin");
    check_right(&found, "surge");
    check_fact(&found, "cutting-origin", &["failed", "broken"], "wrong");
    ran.ended_with(3);
}

#[test]
fn a_cache_that_is_right_passes_lies_and_drips_too() {
    let (_, found) = stress(FaultKind::None, "lying-origin,dripping-origin,slow-writers,moving-set");
    for scenario in ["lying-origin", "dripping-origin", "slow-writers", "moving-set"] {
        check_right(&found, scenario);
    }
    let lying = finding(&found, "lying-origin");
    assert!(lying["counters"]["origin_disturbed"].as_u64() > Some(0), "{lying}");
    assert!(!lying["verdict"].to_string().contains("wrong"), "{lying}");
}

/// Each believes one of the lies: an answer that nobody asked for, a chunk without a size, a body without its end, the first of two lengths.
#[test]
fn lies_of_the_origin_that_are_believed_fail() {
    for kind in
        [FaultKind::ReadOn, FaultKind::CompleteCutInChunks, FaultKind::CompleteCut, FaultKind::FirstLength]
    {
        let (ran, found) = stress(kind, "surge,lying-origin");
        check_right(&found, "surge");
        check_fact(&found, "lying-origin", &["failed", "broken"], "wrong");
        assert!(
            finding(&found, "lying-origin")["moved"].to_string().contains("framing"),
            "{kind:?}: {found}"
        );
        ran.ended_with(3);
    }
}

/// While the origin drips nobody is answered, and so nothing ends before the pressure does.
#[test]
fn fetches_that_block_all_others_fail_where_the_origin_drips() {
    let (_, found) = stress(FaultKind::OneAtATime, "dripping-origin");
    check(&found, "dripping-origin", &["degraded", "failed", "broken"], "bystander");
}

/// Each says by its name why it has not passed.
#[test]
fn what_cannot_be_done_to_a_proxy_is_told() {
    let (ran, found) = stress(FaultKind::None, "reload,beyond-memory,disk-full");
    assert_eq!(ran.code(), 1, "{}", ran.stdout);
    for (scenario, words) in
        [("reload", "no signal"), ("beyond-memory", "--cache-memory"), ("disk-full", "disk of its own")]
    {
        let verdict = &finding(&found, scenario)["verdict"];
        assert!(verdict["state"] == "not_run" && verdict["reasons"].to_string().contains(words), "{verdict}");
    }
}

#[test]
fn one_variant_for_all_and_private_answers_for_others_are_wrong() {
    let (ran, found) = stress(FaultKind::MixVariants, "variants");
    // The bystander's objects have variants, too, so it is never well.
    check_fact(&found, "variants", &["failed", "broken"], "wrong");
    ran.ended_with(3);
    let (ran, found) = stress(FaultKind::Leak, "private-stampede");
    check_fact(&found, "private-stampede", &["failed", "broken"], "wrong");
    ran.ended_with(3);
}

#[test]
fn hits_that_wait_for_misses_fail_where_the_origin_is_slow() {
    let (_, found) = stress(FaultKind::OneAtATime, "surge,slow-origin");
    check_right(&found, "surge");
    check_fact(&found, "slow-origin", &["degraded", "failed", "broken"], "bystander");
}

#[test]
fn connections_that_are_never_closed_are_told_where_they_are_many() {
    // Alone: on a busy machine a surge leaves so many open that a few hundred more are less than a tenth of them.
    let (_, found) = stress(FaultKind::KeepConnections, "short-connections");
    check(&found, "short-connections", &["degraded", "failed", "broken"], "CLOSE_WAIT");
}

/// It is gone before anything has pressed, or meanwhile.
#[test]
fn a_proxy_that_goes_away_is_broken() {
    let (ran, found) = stress(FaultKind::Die { after: 900 }, "surge");
    check(&found, "surge", &["broken"], "");
    assert!(ran.code() == 3 || ran.code() == 1, "{}", ran.stderr);
}

/// Scenarios that have a finding are not run again; these two are none that could be run here.
#[test]
fn scenarios_that_were_run_are_not_run_again() {
    let (proxy, origin) = proxy(FaultKind::None);
    let line = format!(
        "stress {} --origin {origin} --only malformed,disk-full --capacity 200/s --no-keep",
        proxy.address
    );
    let ran = run(&format!("{line} --json {{}}/found.json")).ended_with(1);
    let file = ran.folder.path().join("found.json");
    let whole: Value = serde_json::from_slice(&std::fs::read(&file).expect("it is written")).expect("JSON");
    let mut cut = whole.clone();
    cut["exit"] = Value::Null;
    let findings = cut["findings"].as_array_mut().expect("a list");
    findings.pop();
    findings[0]["about"] = Value::from("as it was kept");
    std::fs::write(&file, cut.to_string()).expect("it is ours");
    let resume = format!("{line} --resume {}", file.display());
    let refused = run(&format!("{resume} --press 3s")).ended_with(2);
    assert!(refused.stderr.contains("other options"), "{}", refused.stderr);
    let resumed = run(&resume).ended_with(1);
    assert!(resumed.stderr.contains("going on after 1 scenario\n"), "{}", resumed.stderr);
    let again: Value = serde_json::from_slice(&std::fs::read(&file).expect("it is written")).expect("JSON");
    assert_eq!(finding(&again, "malformed")["about"], "as it was kept");
    assert_eq!(finding(&again, "disk-full"), finding(&whole, "disk-full"));
    assert_eq!(again["asked"], whole["asked"]);
}

/// Whoever is slow keeps a worker, and all others wait for one.
#[test]
fn few_workers_fail_where_writers_are_slow() {
    let (proxy, origin) = proxy(FaultKind::FewWorkers { workers: 4 });
    let other = Command::new("sleep").arg("600").spawn().expect("sleep is everywhere");
    // Longer than the bystander waits for an answer; the writers' turns would take most of a minute.
    let (ran, found) = pressed(proxy.address, origin, other, "--only surge,slow-writers --press 8s");
    check_right(&found, "surge");
    if let Some(why) = busy(&found, "slow-writers") {
        tell(&format!("slow-writers: {why}"));
        return;
    }
    check_fact(&found, "slow-writers", &["failed", "broken"], "of the bystander's requests failed");
    assert!(ran.stdout.contains("also possible: its threads: top -H"), "{}", ran.stdout);
    ran.ended_with(3);
}

/// Objects that are scanned push out all others, for good.
#[test]
fn a_cache_that_forgets_fails_a_scan() {
    let (ran, found) = stress(FaultKind::ForgetForGood { room: 60 }, "surge,scan");
    check_right(&found, "surge");
    check_fact(&found, "scan", &["failed", "broken"], "hits of the bystander: 100 % before, 0");
    assert!(ran.stdout.contains("moved meanwhile: eviction: hits of the bystander"), "{}", ran.stdout);
    ran.ended_with(3);
}

#[test]
fn a_cache_without_room_for_newcomers_fails_a_set_that_moves() {
    let (ran, found) = stress(FaultKind::FirstCome { room: 24 }, "surge,moving-set");
    check_right(&found, "surge");
    check_fact(&found, "moving-set", &["failed", "broken"], "the origin was asked");
    assert!(ran.stdout.contains("also possible: eviction: "), "{}", ran.stdout);
    ran.ended_with(3);
}

#[test]
fn a_cache_that_renews_nothing_fails_where_all_expires_at_once() {
    let (proxy, origin) = proxy(FaultKind::NeverRenew);
    let other = Command::new("sleep").arg("600").spawn().expect("sleep is everywhere");
    // Two moments of expiry at least, and requests behind them.
    let (ran, found) = pressed(proxy.address, origin, other, "--only surge,expiry-at-once --press 6s");
    check_right(&found, "surge");
    check_fact(&found, "expiry-at-once", &["failed", "broken"], "the origin was asked");
    assert!(
        ran.stdout.contains("also possible: requests for one object that are not collapsed"),
        "{}",
        ran.stdout
    );
    ran.ended_with(3);
}

#[test]
fn a_cache_that_keeps_nothing_fails_a_stampede_and_variants() {
    let (proxy, origin) = proxy(FaultKind::KeepNothing);
    let other = Command::new("sleep").arg("600").spawn().expect("sleep is everywhere");
    // 200 variants, for each of which it is asked some six times.
    let (ran, found) = pressed(proxy.address, origin, other, "--only stampede,variants --press 6s");
    check_fact(&found, "stampede", &["failed", "broken"], "the origin was asked");
    check_fact(&found, "variants", &["failed", "broken"], "for 200 variants");
    assert!(ran.stdout.contains("requests for one object that are not collapsed"), "{}", ran.stdout);
    ran.ended_with(3);
}

#[test]
fn whoever_fetches_more_than_clients_get_fails_broken_answers_and_ranges() {
    // Half of its answers are new, and of each half goes to clients that stay.
    let (ran, found) = stress(FaultKind::FetchOften { times: 4 }, "surge,aborting-clients");
    check_right(&found, "surge");
    check_fact(&found, "aborting-clients", &["failed", "broken"], "that clients got");
    check_answers(&found, "aborting-clients");
    ran.ended_with(3);

    let (ran, found) = stress(FaultKind::WholeForRange, "surge,range-storm");
    check_right(&found, "surge");
    check_fact(&found, "range-storm", &["failed", "broken"], "that clients got");
    check_answers(&found, "range-storm");
    ran.ended_with(3);
}

#[test]
fn memory_for_each_connection_fails_where_many_wait() {
    let origin = free_address();
    let Apart { process, address, lines } = Apart::start(origin, "large-buffers");
    let (ran, found) =
        pressed(address, origin, process, "--only surge,half-heads,half-uploads --press 3s --i-own-this");
    check_right(&found, "surge");
    for scenario in ["half-heads", "half-uploads"] {
        check_fact(&found, scenario, &["failed", "broken"], "its memory grew by");
    }
    ran.ended_with(3);
    drop(lines);
}

/// Where a process of its own has the address of the origin that it is to be a faulty proxy before, and the fault.
const PROXY_BEFORE: &str = "WRINGER_TEST_PROXY_BEFORE";
const PROXY_FAULT: &str = "WRINGER_TEST_PROXY_FAULT";
/// More than any connection may take that waits.
const BUFFER: usize = 128 << 10;

/// No test of its own: others start it as a process whose descriptors and memory are its own.
#[test]
#[ignore = "it is the process of another test"]
fn proxy_of_another_test() {
    let Ok(origin) = std::env::var(PROXY_BEFORE) else { return };
    let fault = match std::env::var(PROXY_FAULT).expect("it is set beside").as_str() {
        "large-buffers" => FaultKind::LargeBuffers { bytes: BUFFER },
        _ => FaultKind::StuckWithoutDescriptors,
    };
    let proxy = start(origin.parse().expect("an address"), fault);
    println!("\nlistening {}", proxy.address);
    // Until the other test ends it, or has ended.
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// A faulty proxy that is a process.
struct Apart {
    process: Child,
    address: SocketAddr,
    /// Kept to the end: after a minute the other test says that it still runs, and it would end where nobody can read that.
    lines: Lines<BufReader<ChildStdout>>,
}

impl Apart {
    fn start(origin: SocketAddr, fault: &str) -> Apart {
        let mut process = Command::new(std::env::current_exe().expect("it runs"))
            .args(["--ignored", "--exact", "stress::proxy_of_another_test", "--nocapture"])
            .env(PROXY_BEFORE, origin.to_string())
            .env(PROXY_FAULT, fault)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it exists");
        let mut lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let mut told = lines.by_ref().map_while(Result::ok);
        let address = told.find_map(|line| line.strip_prefix("listening ")?.parse().ok());
        Apart { process, address: address.expect("it listens"), lines }
    }
}

#[test]
fn a_proxy_that_does_not_get_over_having_no_descriptors_is_broken() {
    let origin = free_address();
    let Apart { process, address, lines } = Apart::start(origin, "stuck-without-descriptors");
    let (ran, found) = pressed(address, origin, process, "--only surge,few-descriptors --press 3s");
    check_right(&found, "surge");
    check_fact(&found, "few-descriptors", &["broken"], "not well for");
    assert!(ran.stdout.contains("moved meanwhile: descriptors: a process held"), "{}", ran.stdout);
    ran.ended_with(3);
    drop(lines);
}
