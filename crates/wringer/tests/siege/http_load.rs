//! `wringer http_load` from outside: its report, its lines and its ends.

use crate::refusing::Refusing;
use crate::server::Server;
use crate::support::{self, Ran, WRINGER, folder, start};
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;

/// Runs it with the words of a line; `urls` are paths of the server, with blanks between.
fn http_load(server: &Server, urls: &str, line: &str) -> Ran {
    let home = folder();
    let urls: String = urls.split(' ').map(|path| format!("{}\n", server.url(path))).collect();
    std::fs::write(home.path().join("urls"), format!("# ours\n\n{urls}")).expect("the folder is ours");
    let words: Vec<&str> = ["http_load"].into_iter().chain(line.split_whitespace()).chain(["urls"]).collect();
    support::run(WRINGER, &words, home.path())
}

/// A report, its times masked.
fn masked(report: &str) -> String {
    let mut masked = String::new();
    for line in report.lines() {
        let line = match line.split_once(": ") {
            Some((label, _)) if label.starts_with("msecs/") => format!("{label}: #"),
            _ if line.contains("fetches/sec") => "# fetches/sec".to_owned(),
            _ => line.split(", in ").next().unwrap_or(line).to_owned(),
        };
        if line != "# fetches/sec" {
            masked += &line;
            masked.push('\n');
        }
    }
    masked
}

#[test]
fn the_report_of_the_original() {
    let server = Server::start();
    let ran = http_load(&server, "/ok", "-p 2 -f 10");
    assert_eq!(
        masked(&ran.out),
        "10 fetches, 2 max parallel, 130 bytes\n13 mean bytes/connection\nmsecs/connect: #\nmsecs/first-response: #\n\
         HTTP response codes:\n  code 200 -- 10\n"
    );
    assert_eq!((ran.err.as_str(), ran.code), ("", Some(0)));
    let host = format!("Host: {}\r\n", server.address);
    let wanted = format!("GET /ok HTTP/1.0\r\n{host}User-Agent: http_load 12mar2006\r\n\r\n");
    assert_eq!(server.take_requests(), vec![wanted; 10]);
}

#[test]
fn the_report_of_the_fork() {
    let server = Server::start();
    let ran = http_load(&server, "/ok /404", "-seq -h Connection:keep-alive -k 9 -v -p 1 -f 10");
    assert_eq!(
        masked(&ran.out),
        "10 fetches on 1 conns, 1 max parallel, 100 bytes\n10 mean bytes/fetch\nmsecs/connect: #\n\
         msecs/first-response: #\nHTTP response codes:\n  code 200 -- 5\n  code 404 -- 5\n\
         Socket slot stats:\n  slot 0000 -- 1 connections, 10 requests, 10 responses\n"
    );
    assert!(server.take_requests()[0].starts_with("GET /ok HTTP/1.1\r\n"));
}

#[test]
fn the_first_response_is_that_of_all_answers() {
    let server = Server::start();
    let ran = http_load(&server, "/404", "-p 1 -f 5");
    assert!(ran.out.contains("\nmsecs/first-response: "), "{}", ran.out);
    assert!(!http_load(&server, "/empty", "-p 1 -f 5").out.contains("first-response"), "nobody answered");
}

#[test]
fn bodies_are_held_to_the_first() {
    let server = Server::start();
    let ran = http_load(&server, "/varies", "-p 1 -f 10");
    assert!(ran.out.contains("\n5 bad byte counts\n"), "{}", ran.out);
    let line = format!("{}: byte count wrong (expected 5, got 13)\n", server.url("/varies"));
    assert_eq!(ran.err, line.repeat(5));
    let quiet = http_load(&server, "/varies", "-i -p 1 -f 10");
    assert!(quiet.out.contains("\n5 bad byte counts\n") && quiet.err.is_empty());
    assert!(!http_load(&server, "/alters", "-p 1 -f 10").out.contains("bad"));
    let sums = http_load(&server, "/alters", "-checksum -p 1 -f 10");
    assert!(sums.out.contains("\n5 bad checksums\n"), "{}", sums.out);
    assert_eq!(sums.err, format!("{}: checksum wrong\n", server.url("/alters")).repeat(5));
}

#[test]
fn each_request_has_its_number() {
    let server = Server::start();
    http_load(&server, "/ok", "-u -p 3 -f 30");
    let requests = server.take_requests();
    let number = |request: &String| request.split("X-ID: ").nth(1).map(|rest| rest[..11].to_owned());
    let mut numbers: Vec<String> = requests.iter().filter_map(number).collect();
    numbers.sort();
    let wanted: Vec<String> = (1..=30).map(|number| format!("{number:09}\r\n")).collect();
    assert_eq!(numbers, wanted);
}

#[test]
fn fetches_that_come_to_nothing() {
    let server = Server::start();
    let late = http_load(&server, "/silent", "-timeout 1 -p 2 -f 2");
    assert!(late.out.contains("\n2 timeouts\n"), "{}", late.out);
    assert_eq!(late.err, format!("{}: timed out in state 2\n", server.url("/silent")).repeat(2));
    let reset = http_load(&server, "/rst", "-p 1 -f 2");
    assert_eq!(reset.err.matches("Connection reset by peer").count(), 2, "{}", reset.err);
    assert!(reset.out.starts_with("2 fetches, "));
    let home = folder();
    let nobody = Refusing::new();
    std::fs::write(home.path().join("urls"), format!("http://{nobody}/")).expect("the folder is ours");
    let line = ["http_load", "-p", "1", "-max", "3", "-f", "99", "urls"];
    let refused = support::run(WRINGER, &line, home.path());
    assert_eq!(refused.err.matches("Connection refused").count(), 3, "{}", refused.err);
    assert!(refused.out.starts_with("3 fetches on 0 conns, ") && refused.code == Some(0), "{}", refused.out);
}

#[test]
fn slow_readers_take_their_time() {
    let server = Server::start();
    let ran = http_load(&server, "/long", "-throttle -p 1 -f 1 --json result.json");
    let seconds = ran.out.split(", in ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    // 3000 bytes at 3360 a second.
    assert!(seconds.is_some_and(|seconds| seconds > 0.7), "{}", ran.out);
}

#[test]
fn a_signal_ends_it_with_its_report() {
    let server = Server::start();
    let home = folder();
    std::fs::write(home.path().join("urls"), server.url("/ok")).expect("the folder is ours");
    let running = start(WRINGER, &["http_load", "-r", "100", "-s", "20", "urls"], home.path());
    while server.take_requests().is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&running.child), Signal::INT).expect("it runs");
    let ran = running.end();
    assert!(ran.out.contains(" fetches, ") && ran.out.contains("HTTP response codes:"), "{}", ran.out);
    assert_eq!(ran.code, Some(0));
}
