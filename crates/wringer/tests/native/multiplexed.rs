//! What only two ends can see of connections that requests share: what the origin does of requests that clients broke off, and how
//! evenly answers share a connection.

use crate::http2::{JSON, origin};
use crate::support::{Report, free_address, program, run, tell};

/// Eight requests whose clients lose patience long before the origin answers.
const IMPATIENT: &str = "--timeout 100ms --no-store 1 --size 20KB -t 1 -c 8 -n 8";

/// The figures of work after reset, whose counts must add up.
fn after_reset(line: &str) -> Report {
    let figures = run(&format!("cache {line} {JSON}")).report().part("measured/after_reset");
    let counts = ["ended_early", "whole_after", "whole_before", "under_way", "not_seen"];
    let sum: u64 = counts.iter().map(|name| figures.count(name)).sum();
    assert_eq!(sum, figures.count("broken_off"), "{line}");
    figures
}

#[test]
fn requests_that_clients_break_off_end_early_at_the_origin() {
    for http in ["1.1", "2c"] {
        let address = free_address();
        // Long enough for nothing but the client to end it.
        let line = format!("{address} --origin {address} --http {http} --origin-delay 30s {IMPATIENT}");
        let figures = after_reset(&line);
        assert_eq!((figures.count("broken_off"), figures.count("ended_early")), (8, 8), "{http}");
        assert!(figures.count("ended_early_max_us") < 10_000_000, "{http}");
        let line = format!(
            "{address} --origin {address} --http {http} --origin-speed 40KB --abort 1 --size 100KB -t 1 -c 8 -n 16"
        );
        let figures = after_reset(&line);
        assert_eq!(figures.count("broken_off"), 16, "{http}");
        assert!(figures.count("ended_early") > 0, "{http}");
        assert_eq!(figures.count("not_seen"), 0, "{http}");
    }
}

/// Content that sockets take at once has left the origin before the client breaks off.
#[test]
fn answers_that_were_whole_before_are_told_apart() {
    let address = free_address();
    let line = format!("{address} --origin {address} --abort 1 --size 10KB -t 1 -c 1 -n 50");
    let figures = after_reset(&line);
    assert_eq!((figures.count("broken_off"), figures.count("whole_before")), (50, 50));
}

/// HAProxy gives up its own request when the content has nowhere to go; a cache of nginx goes on to fill itself.
#[test]
fn proxies_give_up_their_own_requests_or_go_on() {
    if program("haproxy").is_none() {
        tell("haproxy is not installed, so nobody tried whether it gives up");
    } else {
        for http in ["1.1", "2c"] {
            let line = "--no-store 1 --origin-speed 40KB --abort 1 --size 100KB -t 1 -c 8 -n 16";
            let figures = after_reset(&format!("--rig haproxy --http {http} {line}"));
            assert_eq!((figures.count("broken_off"), figures.count("not_seen")), (16, 0), "{http}");
            assert!(figures.count("ended_early") > 0, "{http}");
        }
    }
    if program("nginx").is_none() {
        return tell("nginx is not installed, so nobody tried whether its cache goes on");
    }
    let patient = IMPATIENT.replace("--no-store 1 ", "");
    let figures = after_reset(&format!("--rig nginx --origin-delay 700ms {patient}"));
    assert_eq!((figures.count("broken_off"), figures.count("ended_early")), (8, 0));
    assert!(figures.count("not_seen") < 8, "the origin saw requests");
    assert_eq!(figures.count("whole_after_bytes"), 20_000 * figures.count("whole_after"));
}

#[test]
fn what_nobody_saw_is_not_known() {
    let (address, _origin) = origin("--size 10KB");
    let line = format!(
        "cache {address} --origin {address} --clients-only --size 10KB --abort 1 -t 1 -c 1 -n 20 --json {{}}/result.json"
    );
    let ran = run(&line);
    assert_eq!(ran.report().sum("aborted"), 20);
    assert!(ran.report().at("measured/after_reset").is_null());
    assert!(ran.stdout.contains("Work after reset: not known."), "{}", ran.stdout);
}

/// Of both protocols: the figures of fairness where there are any.
fn fairness(http: &str, origin_options: &str, options: &str) -> Option<Report> {
    let (address, _origin) = origin(&format!("{origin_options} --seed 7"));
    let (scheme, of_origin) = if http == "http3" { ("https://", "--http 3 -k") } else { ("", "--http 2c") };
    let line = format!(
        "cache {scheme}{address} --origin {address} --clients-only {of_origin} --streams 4 -t 1 -c 4 {options} {JSON}"
    );
    let report = run(&line).report();
    let place = format!("measured/{http}/fairness");
    (!report.at(&place).is_null()).then(|| report.part(&place))
}

#[test]
fn answers_that_last_are_judged_by_their_shares() {
    for (http, of_origin) in [("http2", ""), ("http3", "--http 3")] {
        let slow = format!("--size 100KB --origin-speed 100KB {of_origin}");
        let figures = fairness(http, &slow, "--size 100KB -n 8").expect(http);
        let [mean, worst] = ["jain_mean", "jain_worst"].map(|name| figures.number(name));
        assert!(figures.count("windows") > 0, "{http}");
        assert!((0.25..=1.0).contains(&worst) && worst <= mean && mean <= 1.0, "{http}: {worst} {mean}");
        // Half of the answers stop in the middle, while others go on.
        let stalled = format!("{slow} --origin-stream-faults stalled=0.5");
        let figures = fairness(http, &stalled, "--size 100KB -n 24 --timeout 4s").expect(http);
        assert!(figures.count("starved_ms") >= 500, "{http}: {}", figures.count("starved_ms"));
        assert!(figures.number("jain_worst") < 0.9, "{http}");
    }
}

#[test]
fn small_answers_are_not_judged() {
    assert!(fairness("http2", "--size 100", "--size 100 -n 400").is_none());
}
