//! Targets that stop answering, or never begin: what is left unfinished is told, and nobody takes it for a good run.

use crate::support::{Report, free_address, run, start, wringer};
use crate::web::{Web, answer, ok};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// A server that accepts and says nothing.
fn silent() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it listens");
    thread::spawn(move || {
        let _kept: Vec<TcpStream> = listener.incoming().flatten().collect();
    });
    address
}

/// How the target did; what the figures are worth depends on what else this machine does.
fn conduct(report: &Report) -> &str {
    report.text("verdict/target/state")
}

#[test]
fn a_server_that_never_answers_is_no_good_target() {
    let url = silent().to_string();
    let line = ["http", &url, "-c", "4", "-d", "1s", "--json", "{}/result.json"];
    let ran = start(line).end().ended_with(1);
    let report = ran.report();
    assert_eq!((report.sum("requests"), report.sum("unfinished"), report.sum("failed")), (4, 4, 0));
    assert_eq!(conduct(&report), "no_good_answer");
    let waited = report.number("measured/latency/unfinished/min_us");
    assert!(waited >= 1e6, "{waited} µs, and the run took a second");
    assert_eq!(report.number("measured/latency/response/at_least_from_us"), waited);
    for said in ["4 unfinished", "≥", "nothing came from it in"] {
        assert!(ran.stdout.contains(said), "{said:?} is missing in {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("bound by the generator"), "{}", ran.stdout);
}

/// Answers take longer than the second of grace, and those under way at the end come as soon as the others did.
#[test]
fn answers_under_way_at_the_end_are_waited_for_as_long_as_others_took() {
    let web = Web::start(|_| {
        thread::sleep(Duration::from_millis(2_500));
        ok("x")
    });
    let url = web.address.to_string();
    let report =
        start(["http", &url, "-c", "4", "-d", "3s", "--json", "{}/result.json"]).end().ended_with(0).report();
    assert_eq!((report.sum("unfinished"), report.sum("failed")), (0, 0));
    assert!(report.sum("ok") >= 4, "{}", report.sum("ok"));
    assert_eq!(conduct(&report), "answered");
    // Whoever wants to wait for nobody is obeyed.
    let line = ["http", &url, "-c", "4", "-d", "3s", "--grace", "0s", "--json", "{}/result.json"];
    let report = start(line).end().report();
    assert_eq!(report.sum("unfinished"), 4);
}

/// All the others were answered, and nothing else was asked for any more.
#[test]
fn a_request_that_hangs_at_the_end_is_not_the_target() {
    let served = AtomicUsize::new(0);
    let web = Web::start(move |_| {
        if served.fetch_add(1, Ordering::Relaxed) == 500 {
            thread::sleep(Duration::from_secs(10));
        }
        ok("x")
    });
    let url = web.address.to_string();
    let line =
        ["http", &url, "-c", "8", "-t", "1", "-n", "600", "--timeout", "2s", "--json", "{}/result.json"];
    let ran = start(line.into_iter().chain(["--fail-if", "p99>50s"])).end().ended_with(0);
    let report = ran.report();
    assert_eq!((report.sum("ok"), report.sum("failed")), (599, 1));
    assert_eq!(conduct(&report), "flawed");
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "1 request failed, 1 of them as their time ran out, and no time above tells of those";
    assert!(words.contains(said), "a threshold of times that was kept: {words}");
}

/// The old tools say nothing of it; whoever wants to be told is.
#[test]
fn strict_runs_of_old_tools_fail_where_nothing_comes() {
    let url = format!("http://{}/", silent());
    let line = ["siege", "--strict", "-q", "-b", "-c", "2", "-t", "1S", &url];
    start(line).end().ended_with(1);
}

#[test]
fn thresholds_are_not_kept_by_silence() {
    let url = silent().to_string();
    let conditions = ["errors>0", "unfinished>3", "p99>900ms", "mean>1h", "failed>0"];
    let options = conditions.iter().flat_map(|condition| ["--fail-if", condition]);
    let line = ["http", &url, "-c", "4", "-d", "1s", "--json", "{}/result.json"].into_iter().chain(options);
    let ran = start(line).end().ended_with(3);
    let report = ran.report();
    let thresholds = report.list("thresholds");
    let found = thresholds.iter().map(|one| {
        let yes = |name| one.at(name).as_bool().expect("yes or no");
        (one.text("condition"), yes("violated"), yes("at_least"))
    });
    // Nothing shows that the mean would have been below an hour.
    let expected = [true, true, true, true, false].into_iter().zip([false, false, true, true, false]);
    let expected = conditions
        .into_iter()
        .zip(expected)
        .map(|(condition, (violated, at_least))| (condition, violated, at_least));
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn a_target_that_stops_answering_is_named_with_the_moment() {
    let address = free_address();
    let mut origin = wringer(&format!("origin --listen {address} -t 1 -q"));
    origin.wait_for("listens at");
    let url = format!("{address}/w/1/500");
    let line = ["http", &url, "-c", "8", "-d", "6s", "--json", "{}/result.json"];
    let mut clients = start(line);
    // The first line comes after a second.
    clients.wait_for("phase");
    origin.signal(Signal::STOP);
    let ran = clients.end();
    origin.signal(Signal::CONT);
    let ran = ran.ended_with(1);
    let report = ran.report();
    assert_eq!((report.sum("unfinished"), report.sum("failed")), (8, 0));
    assert!(report.sum("ok") > 0);
    assert_eq!(conduct(&report), "silent");
    for said in ["8 unfinished", "silent from", "longest ≥"] {
        assert!(ran.stdout.contains(said), "{said:?} is missing in {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("bound by the generator"), "{}", ran.stdout);
}

/// As a proxy whose origin is gone: it answers, and never well, and all that is less than one request in a hundred.
#[test]
fn a_target_that_gives_nothing_but_errors_is_not_valid() {
    let served = AtomicUsize::new(0);
    let web = Web::start(move |_| match served.fetch_add(1, Ordering::Relaxed) {
        0..4000 => ok("x"),
        _ => {
            thread::sleep(Duration::from_millis(500));
            answer("503 Service Unavailable", "", "")
        }
    });
    let url = web.address.to_string();
    let ran = start(["http", &url, "-c", "4", "-t", "1", "-d", "6s", "--json", "{}/result.json"]).end();
    let ran = ran.ended_with(1);
    let report = ran.report();
    assert_eq!((report.sum("ok"), conduct(&report)), (4000, "silent"));
    assert!(ran.stdout.contains("no good answer from"), "{}", ran.stdout);
}

/// A stop of wringer itself is not the target's slowness.
#[test]
fn a_generator_that_was_stopped_says_so_and_blames_nobody() {
    let web = Web::start(|_| {
        thread::sleep(Duration::from_millis(300));
        ok("x")
    });
    let url = web.address.to_string();
    for interface in ["auto", "epoll"] {
        let line =
            format!("http {url} -c 2 -t 1 -d 5s --timeout 2s --io {interface} --json {{}}/result.json");
        let mut clients = start(line.split(' '));
        clients.wait_for("phase");
        clients.signal(Signal::STOP);
        thread::sleep(Duration::from_millis(3_500));
        clients.signal(Signal::CONT);
        let ran = clients.end().ended_with(0);
        let report = ran.report();
        assert!(report.number("self_check/contention/paused_s") > 3.0, "{}", ran.stdout);
        assert!(ran.stdout.contains("wringer itself did not run for"), "{}", ran.stdout);
        assert_ne!(report.text("verdict/measurement/state"), "valid", "{}", ran.stdout);
        assert_eq!((report.sum("failed"), report.sum("unfinished")), (0, 0), "{}", ran.stdout);
        assert_eq!(conduct(&report), "answered", "{}", ran.stdout);
    }
}

/// Who does not run does not wait: an answer that comes when wringer runs again is in time.
#[test]
fn no_answer_is_lost_to_a_stop_of_wringer_itself() {
    let answers = Arc::new(AtomicBool::new(false));
    let may_answer = answers.clone();
    let web = Web::start(move |_| {
        while !may_answer.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        ok("x")
    });
    let url = web.address.to_string();
    let line = ["http", &url, "-c", "1", "-t", "1", "-d", "1s", "--grace", "4s", "--json", "{}/result.json"];
    let mut clients = start(line);
    clients.wait_for("phase");
    // The second of the run is over, and much of the time of grace is left.
    thread::sleep(Duration::from_millis(1500));
    clients.signal(Signal::STOP);
    thread::sleep(Duration::from_secs(5));
    clients.signal(Signal::CONT);
    answers.store(true, Ordering::Relaxed);
    let ran = clients.end().ended_with(0);
    let report = ran.report();
    assert_eq!((report.sum("ok"), report.sum("unfinished")), (1, 0), "{}", ran.stdout);
}

/// A body that is longer than the run is no silence, and its bytes count.
#[test]
fn bytes_of_answers_that_are_not_whole_are_received() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = listener.local_addr().expect("it listens").to_string();
    thread::spawn(move || {
        let mut kept = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
            let _ = stream.write_all(&[b'x'; 70_000]);
            kept.push(stream);
        }
    });
    for (limit, end) in [("10s", "unfinished"), ("500ms", "failed")] {
        for check in ["", "--expect-body same"] {
            let line =
                format!("http {url} -c 2 -t 1 -d 1s --timeout {limit} {check} -q --json {{}}/result.json");
            let ran = run(&line).ended_with(1);
            let report = ran.report();
            // On a busy machine the last of it may come too late.
            let most = 70_000 * report.sum("requests");
            assert!(
                (1..=most).contains(&report.sum("body_bytes")),
                "{} of {most}: {line}",
                report.sum("body_bytes")
            );
            assert_eq!(report.sum(end), report.sum("requests"), "{line}");
            let said = if end == "failed" { "raise --timeout" } else { "no whole answer" };
            assert!(ran.stdout.contains(said), "{}", ran.stdout);
        }
    }
}
