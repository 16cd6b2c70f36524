//! A cache is asked case by case, against a proxy of the tests' that is right and ones that are wrong on purpose. What a case says is tested in the crate `decide`.

use crate::faulty_proxy::{self, FaultKind, FaultyProxy};
use crate::support::{Ran, fits_schema, free_address, run, start};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

fn proxy(kind: FaultKind) -> (FaultyProxy, SocketAddr) {
    let origin = free_address();
    (faulty_proxy::start(origin, kind), origin)
}

fn found(ran: &Ran) -> Value {
    let text = std::fs::read_to_string(ran.folder.path().join("found.json"));
    let text = text.unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
    let found: Value = serde_json::from_str(&text).expect("JSON");
    fits_schema("probe", &found);
    found
}

/// The record of a case.
fn case<'a>(found: &'a Value, id: &str) -> &'a Value {
    let all = found["cases"].as_array().expect("a list");
    all.iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no {id}"))
}

/// Passes on what comes, each answer after a while, so that stops of the probe come while it waits for one.
fn slow(origin: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it listens");
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            thread::spawn(move || -> io::Result<u64> {
                let mut request = vec![0; 16 << 10];
                let count = client.read(&mut request)?;
                thread::sleep(Duration::from_millis(500));
                let mut server = TcpStream::connect(origin)?;
                server.write_all(&request[..count])?;
                io::copy(&mut server, &mut client)
            });
        }
    });
    address
}

/// Two cases that take three seconds each, at once: an answer that may not be used again by then, and one that may.
const TWO: &str = "--only freshness-max-age-stale,freshness-max-age --sweeps 2 --json {}/found.json";

#[test]
fn what_cannot_be_meant_is_refused() {
    for (line, said) in [
        ("probe --only nosuch", "--list"),
        ("probe https://127.0.0.1:1", "without TLS"),
        ("probe 127.0.0.1:1 --framing", "--i-own-this"),
        ("probe --framing --i-own-this", "PROXY"),
        ("probe 127.0.0.1:1 --i-own-this", "--framing"),
        ("probe 127.0.0.1:1 --cache-memory 1MB", "a PROXY has its own"),
        ("probe -t 1", "--beside"),
        ("probe --rig nosuch", "there is no rig"),
        ("probe --against /nosuch.json", "--against /nosuch.json"),
    ] {
        let ran = run(line).ended_with(2);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
    let ran = run("probe 127.0.0.1:1 --origin 127.0.0.1:0").ended_with(1);
    assert!(ran.stderr.contains("takes no connection"), "{}", ran.stderr);
}

#[test]
fn cases_are_listed_and_forecast_without_sending_any() {
    let listed = run("probe --list").ended_with(0).stdout;
    assert!(listed.contains("freshness-max-age-stale") && listed.lines().count() == 365 + 25, "{listed}");
    let told = run("probe --forecast --only freshness-max-age --sweeps 2 --beside 10/s").ended_with(0).stdout;
    assert!(told.starts_with("6 sweeps of 1 case, some 18 s"), "{told}");
}

#[test]
fn a_cache_that_serves_what_is_stale_fails_against_one_that_does_not() {
    let (right, origin) = proxy(FaultKind::None);
    let ran = run(&format!("probe {} --origin {origin} {TWO}", right.address)).ended_with(0);
    let baseline = found(&ran);
    assert_eq!(case(&baseline, "freshness-max-age-stale")["state"], "pass", "{baseline}");
    assert_eq!(case(&baseline, "freshness-max-age")["state"], "pass", "{baseline}");
    let file = ran.folder.path().join("found.json");
    let (stale, origin) = proxy(FaultKind::Stale);
    let against = file.display();
    let ran =
        run(&format!("probe {} --origin {origin} {TWO} --against {against}", stale.address)).ended_with(3);
    let now = found(&ran);
    assert_eq!(case(&now, "freshness-max-age-stale")["state"], "fail", "{now}");
    assert!(ran.stdout.contains("1 required that passed in the baseline FAIL"), "{}", ran.stdout);
    assert!(ran.stdout.contains("response 2 comes from the cache"), "{}", ran.stdout);
    let ran = run(&format!("probe --only freshness-none --against {against}")).ended_with(2);
    assert!(ran.stderr.contains("none of the cases that are asked for"), "{}", ran.stderr);
}

/// Beside a load the same cases are run against the same cache, and its requests are judged as any.
#[test]
fn cases_are_run_beside_a_load_through_the_same_origin() {
    let (right, origin) = proxy(FaultKind::None);
    let line = format!("probe {} --origin {origin} {TWO} --beside 50/s -t 1 --no-keep", right.address);
    let ran = run(&line).ended_with(0);
    let found = found(&ran);
    let beside = &found["beside"];
    assert!(beside["good_per_second"].as_f64().is_some_and(|good| good > 10.0), "{beside}");
    assert_eq!(beside["failed_share"], 0.0, "{beside}");
    let states =
        case(&found, "freshness-max-age-stale")["beside"]["states"].as_array().expect("a list").len();
    assert_eq!(states, 3, "{found}");
}

#[test]
fn framing_probes_tell_what_becomes_of_each() {
    let ran = run("probe --only freshness-max-age-0 --sweeps 1 --framing --json {}/found.json");
    let found = found(&ran);
    let framing = found["framing"].as_array().expect("a list");
    assert!(framing.len() >= 100, "{}", framing.len());
    let of = |id: &str| framing.iter().find(|probe| probe["id"] == id).expect("it is there");
    // hyper, which the demonstration cache is made of, is right about these.
    assert_eq!(of("length-of-post")["idle"], "normalised", "{}", of("length-of-post"));
    assert_eq!(of("lengths-short-first")["idle"], "rejected", "{}", of("lengths-short-first"));
    assert!(ran.stdout.contains("framing probes:"), "{}", ran.stdout);
}

/// A file as a command leaves it that is killed in its second sweep.
/// A socket with a time limit is not read again by the kernel once its process goes on (signal(7)).
#[test]
fn a_probe_that_was_stopped_finds_what_it_finds_otherwise() {
    let origin = free_address();
    let line = format!(
        "probe {} --origin {origin} --only freshness-max-age --sweeps 1 --json {{}}/found.json",
        slow(origin)
    );
    let undisturbed = found(&run(&line).ended_with(0));
    let probe = start(line.split(' '));
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(100));
        probe.signal(Signal::STOP);
        thread::sleep(Duration::from_millis(20));
        probe.signal(Signal::CONT);
    }
    let disturbed = found(&probe.end().ended_with(0));
    assert_eq!(disturbed["cases"], undisturbed["cases"]);
}

#[test]
fn sweeps_that_were_made_are_not_made_again() {
    let (right, origin) = proxy(FaultKind::None);
    let ran = run(&format!("probe {} --origin {origin} {TWO}", right.address)).ended_with(0);
    let whole = found(&ran);
    let mut cut = whole.clone();
    cut["exit"] = Value::Null;
    cut["done"]["idle"].as_array_mut().expect("a list").pop();
    // A sweep that nothing could make again.
    cut["done"]["idle"][0]["freshness-max-age"]["state"] = Value::from("fail");
    let file = ran.folder.path().join("found.json");
    std::fs::write(&file, cut.to_string()).expect("it is ours");
    let named = file.display();
    let probe = |rest: &str| {
        let only = "--only freshness-max-age-stale,freshness-max-age";
        run(&format!("probe {} --origin {origin} {only} --resume {named} {rest}", right.address))
    };
    let refused = probe("--sweeps 3").ended_with(2);
    assert!(refused.stderr.contains("other options"), "{}", refused.stderr);
    let resumed = probe("--sweeps 2").ended_with(0);
    assert!(resumed.stderr.contains("going on after 1 idle sweep\n"), "{}", resumed.stderr);
    let text = std::fs::read_to_string(&file).expect("it is written");
    let again: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(case(&again, "freshness-max-age")["states"], serde_json::json!(["fail", "pass"]), "{again}");
    assert_eq!(case(&again, "freshness-max-age-stale")["states"], serde_json::json!(["pass", "pass"]));
    assert_eq!(again["exit"], 0);
}
