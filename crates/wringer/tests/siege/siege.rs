//! `wringer siege` from outside: what it prints and keeps, and how it ends.

use crate::refusing::Refusing;
use crate::server::Server;
use crate::support::{self, Ran, WRINGER, figures, folder, start};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::time::Duration;

fn siege(line: &str, server: &Server, home: &Path) -> Ran {
    let url = server.url("/");
    let words: Vec<String> = line.split_whitespace().map(|word| word.replace("URL/", &url)).collect();
    let words: Vec<&str> = ["siege"].into_iter().chain(words.iter().map(String::as_str)).collect();
    support::run(WRINGER, &words, home)
}

#[test]
fn json_is_alone_on_standard_output() {
    let server = Server::start();
    let home = folder();
    for line in ["-j -c 2 -r 5 URL/ok", "--layout 4.1 -j -c 2 -r 5 URL/ok"] {
        let ran = siege(line, &server, home.path());
        let value: serde_json::Value = serde_json::from_str(&ran.out).expect("it is JSON");
        assert_eq!(
            (value["transactions"].as_u64(), value["failed_transactions"].as_u64()),
            (Some(10), Some(0))
        );
        assert_eq!((ran.err.as_str(), ran.code), ("\n", Some(0)));
    }
    assert_eq!(
        std::fs::read_dir(home.path()).map(Iterator::count).ok(),
        Some(0),
        "nothing is written at home"
    );
}

#[test]
fn a_log_grows_by_a_row() {
    let server = Server::start();
    let home = folder();
    for mark in ["one", "two"] {
        siege(&format!("-q -lsiege.log -m {mark} -c 2 -r 5 URL/ok"), &server, home.path());
    }
    let log = std::fs::read_to_string(home.path().join("siege.log")).expect("it was written");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!((lines.len(), lines[1], lines[3]), (5, "**** one ****", "**** two ****"));
    let columns = |line: &str| line.split(',').map(|column| column.trim().to_owned()).collect::<Vec<_>>();
    let header = columns(lines[0]);
    let row = columns(lines[2]);
    let of = |name: &str| row[header.iter().position(|column| column == name).expect(name)].clone();
    assert_eq!((of("Trans"), of("OKAY"), of("Failed")), ("10".to_owned(), "10".to_owned(), "0".to_owned()));
}

#[test]
fn lines_are_told_only_where_they_are_wanted() {
    let server = Server::start();
    let home = folder();
    let lines = |line: &str| siege(line, &server, home.path()).out.lines().count();
    assert_eq!(lines("-c 2 -r 5 URL/ok"), 10);
    assert_eq!(lines("-q -c 2 -r 5 URL/ok"), 0);
    let quiet = siege("-q -c 2 -r 5 URL/ok", &server, home.path());
    assert_eq!((quiet.err.as_str(), quiet.code), ("", Some(0)));
}

#[test]
fn a_signal_ends_it_with_its_report() {
    let server = Server::start();
    let home = folder();
    let url = server.url("/ok");
    let running = start(WRINGER, &["siege", "-b", "-c", "2", &url], home.path());
    // More than the two that may be under way.
    let mut asked = 0;
    while asked < 3 {
        asked += server.take_requests().len();
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&running.child), Signal::INT).expect("it runs");
    let ran = running.end();
    assert!(ran.err.contains("\nLifting the server siege..."), "{}", ran.err);
    assert!(figures(&ran.err)["Transactions"] > 0.0);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn failures_end_it_and_strict_tells() {
    let server = Server::start();
    let home = folder();
    std::fs::write(home.path().join("rc"), "failures = 3\n").expect("the folder is ours");
    let ran = siege("-R rc -c 1 -r 50 URL/500", &server, home.path());
    assert!(ran.err.contains("siege aborted due to excessive socket failure; you\n"), "{}", ran.err);
    assert_eq!((figures(&ran.err)["Failed transactions"], ran.code), (3.0, Some(0)));
    assert_eq!(siege("--strict -q -c 1 -r 1 URL/500", &server, home.path()).code, Some(1));
    assert_eq!(siege("--strict -q -c 1 -r 1 URL/404", &server, home.path()).code, Some(0));
}

#[test]
fn nobody_there_is_a_failure_and_no_refusal() {
    let home = folder();
    let nobody = Refusing::new();
    let url = format!("http://{nobody}/");
    let ran = support::run(WRINGER, &["siege", "-c", "1", "-r", "2", &url], home.path());
    assert_eq!(ran.err.matches("[error] socket: unable to connect: connection refused").count(), 2);
    assert_eq!((figures(&ran.err)["Failed transactions"], ran.code), (2.0, Some(0)));
    let unknown = support::run(WRINGER, &["siege", "-r", "1", "http://no-such-host.invalid/"], home.path());
    assert!(unknown.err.contains("does not resolve") && unknown.code == Some(1), "{}", unknown.err);
}

#[test]
fn an_answer_that_stalls_is_a_failure_in_its_line_too() {
    let server = Server::start();
    let home = folder();
    std::fs::write(home.path().join("rc"), "verbose = true\ntimeout = 1\n").expect("the folder is ours");
    let ran = siege("-R rc -c 1 -r 1 URL/stalled", &server, home.path());
    assert!(!ran.out.contains("HTTP/1.1 200"), "{}", ran.out);
    assert!(
        ran.err.contains("[error] socket: ") && ran.err.contains("Failed transactions:\t           1"),
        "{}",
        ran.err
    );
}

#[test]
fn the_page_is_shown() {
    let server = Server::start();
    let home = folder();
    let ran = siege("-p URL/long", &server, home.path());
    assert!(ran.out.starts_with("GET /long HTTP/1.0\r\n") && ran.out.contains(&"x".repeat(3000)));
    assert!(!ran.out.contains("200 OK"));
}

#[test]
fn it_is_listed_and_linked() {
    let server = Server::start();
    let home = folder();
    let help = support::run(WRINGER, &["--help"], home.path());
    assert!(help.out.contains("siege") && help.out.contains("http_load"));
    support::run(WRINGER, &["links", "."], home.path());
    let link = home.path().join("siege");
    let url = server.url("/ok");
    let ran =
        support::run(&link.display().to_string(), &["-q", "-j", "-r", "1", "-c", "1", &url], home.path());
    assert!(ran.out.contains("\"transactions\""), "{}", ran.err);
}
