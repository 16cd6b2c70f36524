//! `wringer tcp` from outside, against peers of the test's own.

use crate::support::{Ran, Report, Running, free_address, start};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// A peer that answers lines by `answer`, connection by connection, until the test ends.
pub fn lines(answer: fn(&str) -> String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream, answer));
        }
    });
    address
}

fn serve(mut stream: TcpStream, answer: fn(&str) -> String) -> Option<()> {
    let mut held = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        held.extend_from_slice(&buffer[..count]);
        while let Some(end) = held.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = held.drain(..=end).collect();
            let text = answer(String::from_utf8_lossy(&line).trim_end());
            stream.write_all(format!("{text}\n").as_bytes()).ok()?;
        }
    }
}

pub fn tcp(address: SocketAddr, words: &[&str]) -> Ran {
    let address = address.to_string();
    let first =
        ["tcp", "-q", "--json", "{}/result.json", "--evidence-file", "{}/evidence.txt", "--seed", "7"];
    start(first.into_iter().chain([address.as_str()]).chain(words.iter().copied())).end()
}

/// Returns the counts of requests, good answers, ones that failed a check and failed ones.
pub fn counts(report: &Report) -> [u64; 4] {
    ["requests", "ok", "check_failed", "failed"].map(|counter| report.sum(counter))
}

#[test]
fn codes_are_counted_and_told() {
    let address = lines(|line| {
        let code = if line.ends_with('3') { "51" } else { "00" };
        format!("{{\"rspCd\":\"{code}\",\"echo\":\"{line}\"}}")
    });
    let words = ["-m", "{{request}}", "-c", "4", "-n", "100", "--code", "json /rspCd", "--success", "00"];
    let ran = tcp(address, &words).ended_with(3);
    let report = ran.report();
    assert_eq!(counts(&report), [100, 90, 10, 0]);
    assert_eq!(report.faults()["bad_code"], 10);
    let codes = report.list("measured/codes");
    let told: Vec<_> = codes.iter().map(|code| (code.text("code"), code.count("count"))).collect();
    assert_eq!(told, [("00", 90), ("51", 10)]);
    assert!(ran.stdout.contains("Codes"), "{}", ran.stdout);
    let evidence = ran.file("evidence.txt");
    assert!(evidence.contains("code '51', where one of 00 is wanted"), "{evidence}");
    assert!(evidence.contains("-- answer, service to client"), "{evidence}");
    assert!(!evidence.contains("proxy") && !evidence.contains("origin"), "{evidence}");
    // What is tolerated does not fail the run.
    tcp(address, &[&words[..], &["--tolerate", "10%"]].concat()).ended_with(0);
    tcp(address, &[&words[..], &["--tolerate", "9%"]].concat()).ended_with(3);
}

#[test]
fn a_plan_file_does_the_same() {
    let address = lines(str::to_owned);
    let ran =
        tcp(address, &["-m", "{{counter:5..9}}", "-n", "50", "--pipeline", "4", "-c", "2", "--show-plan"]);
    let plan = ran.ended_with(0).stdout;
    assert!(plan.contains("pipeline = 4"), "{plan}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    std::fs::write(&file, &plan).unwrap();
    let file = file.display().to_string();
    let ran = start(["run", "-q", "--json", "{}/result.json", file.as_str()]).end().ended_with(0);
    assert_eq!(counts(&ran.report()), [50, 50, 0, 0]);
    assert!(!ran.stderr.contains("accounts"), "{}", ran.stderr);
}

#[test]
fn names_and_sources() {
    let address = lines(str::to_owned);
    let by_name = format!("localhost:{}", address.port());
    let line = ["tcp", "-q", "-m", "x", "-n", "5", "--source", "127.0.0.9", "--json", "{}/result.json"];
    let ran = start(line.into_iter().chain([by_name.as_str()])).end().ended_with(0);
    assert_eq!(counts(&ran.report()), [5, 5, 0, 0]);
}

#[test]
fn what_cannot_work_is_refused_in_a_line() {
    let address = free_address();
    for (words, code, said) in [
        (&["-m", "{{none}}"][..], 2, "no known data"),
        (&["-m", "x", "--framing", "ascii:99"], 2, "no framing"),
        (&["-m", "x", "--code", "regex ("], 2, "regular expression"),
        (&["-m", "{{k}}", "--data", "k=env:WRINGER_NO_SUCH_VARIABLE"], 2, "WRINGER_NO_SUCH_VARIABLE"),
        (&["-m", "{{t}}", "--data", "t=time@No/Where:%H"], 2, "time zone"),
        (&["-m", "{{f}}", "--data-file", "f=/no/such/file"], 2, "cannot be read"),
        (&["-m", "{{f}}", "--data-file", "f=/dev/zero"], 2, "it is a device"),
        (&["--message-file", "/dev/zero"], 2, "has more than"),
        (&["-m", "x"], 1, "start the service first"),
    ] {
        let ran = tcp(address, words);
        assert_eq!(ran.code(), code, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
    }
}

/// An origin of ours as the service.
fn service(words: &[&str]) -> (SocketAddr, Running) {
    let address = free_address();
    let listen = address.to_string();
    let same = ["origin", "-t", "1", "-q", "--seed", "7", "--json", "{}/result.json"];
    let first = same.into_iter().chain(["--tcp", "--listen", listen.as_str()]);
    let mut origin = start(first.chain(words.iter().copied()));
    origin.wait_for("listens at");
    (address, origin)
}

#[test]
fn the_origin_stands_in_for_a_service() {
    for framing in [
        "ascii:8",
        "hex:4",
        "binary:2",
        "little:4",
        "bcd:2",
        "ascii:4,total",
        "binary:4,total,adjust=2",
        "delimiter:\\x03",
        "lines",
        "resp-line",
        "fixed:38",
        "iso8583:2",
        "iso8583:ascii:4",
    ] {
        let answers = if framing.starts_with("fixed") { "fixed:40" } else { framing };
        let same = ["--framing", framing, "--answer-framing", answers];
        let (address, _origin) = service(&[&same[..], &["--failures", "20%", "--split", "3"]].concat());
        let words = ["-m", "{{uuid}}//", "-c", "4", "-n", "40", "--code", "fixed 1 2", "--success", "00"];
        let report = tcp(address, &[&same[..], &words].concat()).report();
        let [requests, ok, check_failed, failed] = counts(&report);
        assert_eq!((requests, ok + check_failed, failed), (40, 40, 0), "{framing}");
        assert!((1..20).contains(&check_failed), "{framing}: {check_failed}");
    }
}

#[test]
fn a_service_that_misbehaves_is_counted() {
    let line = ["--framing", "ascii:4", "-m", "{{request}}", "-c", "4", "-n", "100", "--timeout", "200ms"];
    for (words, kind, account, named) in [
        (&["--drops", "20%"][..], "closed_early", "cut", "dropped"),
        (&["--silent", "10%"], "timeout", "silent", "silent"),
        (&["--wrong-lengths", "10%"], "timeout", "wrong_lengths", "wrong length"),
    ] {
        let (address, origin) = service(&[&["--framing", "ascii:4"], words].concat());
        let report = tcp(address, &line).report();
        assert_eq!(report.sum("requests"), 100, "{words:?}");
        let seen = report.failures().get(kind).copied().unwrap_or(0);
        assert!(seen > 0, "{words:?}: {:?}", report.failures());
        assert_eq!(report.sum("resent"), 0, "{words:?}");
        assert_accounts(origin, account, named);
    }
    let (address, origin) = service(&["--framing", "ascii:4", "--pushes", "30%", "--origin-delay", "1ms"]);
    let pushed = ["--pushed", "fixed 1 4", "--pushed-is", "push"];
    let report = tcp(address, &[&line[..], &pushed].concat()).ended_with(0).report();
    assert_eq!(counts(&report), [100, 100, 0, 0]);
    assert!(report.sum("pushed") > 10);
    assert_accounts(origin, "pushes", "pushed");
}

/// The origin says itself what it did on purpose, and all that it was asked for is accounted for.
fn assert_accounts(origin: Running, account: &str, named: &str) {
    origin.signal(Signal::INT);
    let ran = origin.end().ended_with(0);
    let report = ran.report();
    let count = |name: &str| report.count(&format!("origin/{name}"));
    assert!(count(account) > 0, "{:#}", report.at("origin"));
    assert_eq!(count("requests"), ["full", "errors", "cut", "silent"].map(count).iter().sum::<u64>());
    let told = ran.stdout.split("To repeat this run").next().unwrap_or_default();
    let wide: Vec<_> = told.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    assert!(count("received_bytes") > 0);
    assert!(ran.stdout.lines().any(|line| line.trim_start().starts_with(named)), "{}", ran.stdout);
}

#[test]
fn tls_and_one_request_per_connection() {
    let (address, _origin) = service(&["--framing", "binary:2", "--tls"]);
    let line =
        ["--framing", "binary:2", "-m", "x", "-n", "20", "-c", "2", "--keep-alive", "1", "--tls", "-k"];
    let report = tcp(address, &line).ended_with(0).report();
    assert_eq!((counts(&report), report.sum("connections")), ([20, 20, 0, 0], 20));
}

#[test]
fn a_message_may_end_with_its_connection() {
    let (address, _origin) = service(&["--framing", "close"]);
    let line = ["--framing", "close", "-m", "{{text:3000}}", "-n", "20", "-c", "2", "--code", "fixed 1 2"];
    let report = tcp(address, &[&line[..], &["--success", "00"]].concat()).ended_with(0).report();
    assert_eq!((counts(&report), report.sum("connections")), ([20, 20, 0, 0], 20));
}
