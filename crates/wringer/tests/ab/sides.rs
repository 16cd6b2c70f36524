//! Both tools press the same server with the same words.

use crate::server::{Behaviour, Server};
use crate::support::{Ran, ours, real, start_ours, theirs};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::Command;
use std::thread;
use std::time::Duration;

#[test]
fn requests_are_the_same_byte_for_byte() {
    let Some(real) = real() else { skip!("ab is not installed") };
    let server = Server::start(Behaviour::Good);
    for line in [
        "URL",
        "-k URL",
        "-i URL",
        "-m PATCH -H X-A:_b URL#fragment",
        "-p body URL",
        "-k -u body -T a/b -H Host:_other URL",
        "-C a=1 -C b=2 -A _joe:secret -P p:q -H User-Agent:_zz -H accept:_x URL",
        "-v 0 -s 5 -b 16384 -S -d -q -l -r URL",
        "--foo URL",
    ] {
        let line = line.replace("URL", &server.url("/a/../b?c=d"));
        assert_eq!(theirs(&real, &line).exit, Some(0), "{line}");
        let theirs = server.take_seen();
        assert_eq!(ours(&line).exit, Some(0), "{line}");
        let ours = server.take_seen();
        assert!(!theirs.is_empty());
        // The real one looks first whether anybody listens with its first request, we with a connection of its own.
        assert_eq!(ours, theirs, "{line}");
    }
}

#[test]
fn figures_and_layout_are_the_same() {
    let Some(real) = real() else { skip!("ab is not installed") };
    let server = Server::start(Behaviour::Good);
    for line in [
        "-n 1 URL",
        "-n 40 -c 4 URL",
        "-k -n 40 -c 4 URL",
        "-i -n 20 -c 2 URL",
        "-l -n 20 -c 2 URL",
        "-p body -n 20 -c 2 URL",
        "-S -n 20 URL",
        "-d -n 20 URL",
        "-n 300 -c 3 URL",
        "-q -n 300 -c 3 URL",
        "-w -n 20 URL",
        "-w -k -p body -n 20 -x border=1 -y a -z b URL",
        "-n 20 -X PROXY http://elsewhere.test/x",
        "-v 1 -n 20 HOST/",
    ] {
        let line = line.replace("URL", &server.url("/")).replace("HOST", &server.address.to_string());
        let line = line.replace("PROXY", &server.address.to_string());
        let theirs = theirs(&real, &line);
        let ours = ours(&line);
        assert_eq!((theirs.exit, ours.exit), (Some(0), Some(0)), "{line}: {ours:?}");
        assert_eq!(ours.facts(), theirs.facts(), "{line}");
        let skipped = usize::from(line.contains("-w")) * 2;
        let after = |ran: &Ran| ran.layout().split_off(skipped);
        assert_eq!(after(&ours), after(&theirs), "{line}");
        assert_eq!(ours.stderr, theirs.stderr, "{line}");
    }
}

#[test]
fn other_lengths_than_the_first_fail_on_whichever_worker() {
    let server = Server::start(Behaviour::FirstShorter);
    let ran = ours(&format!("-n 60 -c 6 --threads=3 {}", server.url("/")));
    // Which answer is complete first is up to chance; it is one for all workers.
    let failed = if ran.fact("Document Length") == "5 bytes" { 59 } else { 1 };
    assert_eq!(ran.fact("Failed requests"), failed.to_string(), "{ran:?}");
    let how = format!("   (Connect: 0, Receive: 0, Length: {failed}, Exceptions: 0)\n");
    assert!(ran.stdout.contains(&how), "{ran:?}");
    let alone = Server::start(Behaviour::FirstShorter);
    let ran = ours(&format!("-n 60 {}", alone.url("/")));
    assert_eq!((ran.fact("Document Length"), ran.fact("Failed requests")), ("5 bytes".into(), "59".into()));
    let Some(real) = real() else { skip!("ab is not installed") };
    let server = Server::start(Behaviour::FirstShorter);
    assert_eq!(ran.facts(), with_port(&theirs(&real, &format!("-n 60 {}", server.url("/"))), alone.address));
}

/// The values of a report as they would be for the server at this address.
fn with_port(ran: &Ran, address: SocketAddr) -> BTreeMap<String, String> {
    let mut facts = ran.facts();
    facts.insert("Server Port".to_owned(), address.port().to_string());
    facts
}

#[test]
fn scripts_find_what_they_look_for() {
    let server = Server::start(Behaviour::Good);
    let ran = ours(&format!("-k -n 100 -c 2 -e e.csv -g g.tsv {}", server.url("/")));
    let report = ran.folder.path().join("stdout");
    let awk = |program: &str| {
        let said = Command::new("awk").arg(program).arg(&report).output().expect("awk is everywhere");
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    };
    assert!(awk("/^Requests per second:/ {print $4}").parse::<f64>().unwrap() > 0.0);
    assert!(awk("/^Time per request:.*concurrent/ {print $4}").parse::<f64>().unwrap() > 0.0);
    assert_eq!(awk("/^Failed requests:/ {print $3}"), "0");
    assert_eq!(awk("/^Complete requests:/ {print $3}"), "100");
    assert_eq!(awk("/ 99%/ {print NF}"), "2");
    assert_eq!(awk("/^Total: / {print NF}"), "6");
    let read = |name: &str| std::fs::read_to_string(ran.folder.path().join(name)).unwrap();
    let csv = read("e.csv");
    let tsv = read("g.tsv");
    assert_eq!((csv.lines().count(), tsv.lines().count()), (102, 101));
    let column = |line: &str| line.split('\t').nth(4).and_then(|text| text.parse::<u64>().ok());
    assert!(tsv.lines().skip(1).map(column).is_sorted() && tsv.lines().skip(1).all(|l| column(l).is_some()));
}

#[test]
fn an_interrupt_still_gives_the_report_and_the_files() {
    let server = Server::start(Behaviour::Good);
    let running = start_ours(&format!("-k -t 20 -n 100000000 -c 2 -w -e e.csv {}", server.url("/")));
    // More than the two that may be under way.
    let mut asked = 0;
    while asked < 3 {
        asked += server.take_seen().len();
        thread::sleep(Duration::from_millis(10));
    }
    running.interrupt();
    let ran = running.end();
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    // As text, whatever was asked for.
    assert!(ran.stdout.contains("Connection Times (ms)\n              min  mean"), "{ran:?}");
    assert!(!ran.stderr.contains("Finished"), "{ran:?}");
    assert!(ran.folder.path().join("e.csv").exists());
}

#[test]
fn a_time_limit_is_kept_to_the_millisecond() {
    let server = Server::start(Behaviour::Good);
    let ran = ours(&format!("-t 1 -n 100000000 -c 2 {}", server.url("/")));
    assert!(ran.stdout.contains("Time taken for tests:   1.000 seconds\n"), "{ran:?}");
    assert!(ran.fact("Complete requests").parse::<u64>().unwrap() > 0);
    let hanging = Server::start(Behaviour::Hang);
    let ran = ours(&format!("-t 1 {}", hanging.url("/")));
    assert!(
        ran.stdout.contains("Time taken for tests:   1.000 seconds\nComplete requests:      0\n"),
        "{ran:?}"
    );
}

#[test]
fn requests_and_heads_are_shown_by_level() {
    let server = Server::start(Behaviour::Good);
    let ran = ours(&format!("-v 3 -n 2 {}", server.url("/")));
    for part in [
        "(be patient)...INFO: GET header == \n---\nGET / HTTP/1.0\r\nHost: ",
        "Accept: */*\r\n\r\n\n---\nLOG: header received:\nHTTP/1.1 200 OK\r\nServer: Odd Server/1\r\n",
        "LOG: Response code = 200\n",
    ] {
        assert!(ran.stdout.contains(part), "{part:?} in {}", ran.stdout);
    }
    assert_eq!(ran.stdout.matches("INFO: GET").count(), 1);
    assert_eq!(ran.stdout.matches("LOG: header received").count(), 2);
}
