//! h2load's door in front of servers that break off, fall back or count: its figures are those of h2load 1.52 on the same servers.

use crate::http2_odd::{
    BOTH, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, Odd, RST_STREAM, frame, goaway, head,
};
use crate::support::{Ran, program, run};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use wire::tls::{Identity, Resumption, ServerSettings, Session, TlsServer};

/// The line that begins so.
fn line<'a>(text: &'a str, beginning: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(beginning)).unwrap_or_default()
}

/// Requests and statuses as h2load tells them, without how many were started and were done: a client here goes on over another
/// connection where there the client is gone.
fn outcome(text: &str) -> String {
    let parts: Vec<&str> = line(text, "requests: ").split(", ").collect();
    let kept = |part: &&&str| !part.ends_with("started") && !part.ends_with("done");
    let kept: Vec<&str> = parts.iter().filter(kept).copied().collect();
    format!("{}; {}", kept.join(", "), line(text, "status codes: "))
}

/// The time that a run took.
fn seconds(text: &str) -> f64 {
    let time =
        line(text, "finished in ").trim_start_matches("finished in ").split(',').next().unwrap_or_default();
    let (number, unit) =
        time.split_at(time.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(time.len()));
    number.parse::<f64>().unwrap() * if unit == "ms" { 0.001 } else { 1.0 }
}

fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

fn body(stream: u32, flags: u8) -> Vec<u8> {
    frame(DATA, flags, stream, b"hello")
}

type Answer = fn(u32) -> Vec<u8>;

/// Each server answers every request alike; `succeeded failed errored` of six requests, and their statuses by the first digit from 2 on.
const ANSWERS: [(&str, Answer, [u64; 3], [u64; 4]); 17] = [
    ("a status", |id| head(id, BOTH, &[]), [6, 0, 0], [6, 0, 0, 0]),
    (
        "a reset behind the head",
        |id| [head(id, END_HEADERS, &[]), reset(id, 2)].concat(),
        [0, 6, 6],
        [6, 0, 0, 0],
    ),
    (
        "a reset behind a body",
        |id| [head(id, END_HEADERS, &[]), body(id, 0), reset(id, 8)].concat(),
        [0, 6, 6],
        [6, 0, 0, 0],
    ),
    ("a reset alone", |id| reset(id, 2), [0, 6, 6], [0; 4]),
    ("a refusal", |id| reset(id, 7), [0, 6, 6], [0; 4]),
    (
        "less than it said",
        |id| [head(id, END_HEADERS, &[("content-length", "10")]), body(id, END_STREAM)].concat(),
        [0, 6, 6],
        [6, 0, 0, 0],
    ),
    (
        "more than it said",
        |id| [head(id, END_HEADERS, &[("content-length", "3")]), body(id, END_STREAM)].concat(),
        [0, 6, 6],
        [6, 0, 0, 0],
    ),
    ("404", |id| frame(HEADERS, BOTH, id, &[0x8d]), [0, 6, 0], [0, 0, 6, 0]),
    ("500", |id| frame(HEADERS, BOTH, id, &[0x8e]), [0, 6, 0], [0, 0, 0, 6]),
    (
        "500 and a reset",
        |id| [frame(HEADERS, END_HEADERS, id, &[0x8e]), reset(id, 2)].concat(),
        [0, 6, 6],
        [0, 0, 0, 6],
    ),
    (
        "304 with a length",
        |id| frame(HEADERS, BOTH, id, &[&[0x8b, 0, 14][..], b"content-length", &[2], b"10"].concat()),
        [6, 0, 0],
        [0, 6, 0, 0],
    ),
    (
        "trailers",
        |id| {
            let trailers = frame(HEADERS, BOTH, id, b"\0\x01a\x01b");
            [head(id, END_HEADERS, &[]), body(id, 0), trailers].concat()
        },
        [6, 0, 0],
        [6, 0, 0, 0],
    ),
    ("a reset behind the end", |id| [head(id, BOTH, &[]), reset(id, 0)].concat(), [6, 0, 0], [6, 0, 0, 0]),
    ("no status", |id| frame(HEADERS, BOTH, id, b"\0\x01a\x01b"), [0, 6, 6], [0; 4]),
    ("fields that cannot be read", |id| frame(HEADERS, BOTH, id, &[0xff; 6]), [0, 6, 6], [0; 4]),
    ("a frame that is too short", |_| frame(GOAWAY, 0, 0, &[0]), [0, 6, 6], [0; 4]),
    ("data of no stream", |_| body(0, END_STREAM), [0, 6, 6], [0; 4]),
];

#[test]
fn what_did_not_come_whole_has_not_succeeded() {
    for (server, answer, [succeeded, failed, errored], [two, three, four, five]) in ANSWERS {
        let odd = Odd::start(&[], false, answer);
        let ran = run(&format!("h2load -n 6 -c 2 http://{}/", odd.address)).ended_with(0);
        let expected = format!(
            "requests: 6 total, {succeeded} succeeded, {failed} failed, {errored} errored, 0 timeout; status codes: {two} 2xx, {three} 3xx, \
             {four} 4xx, {five} 5xx"
        );
        assert_eq!(outcome(&ran.stdout), expected, "{server}");
        let Some(h2load) = program("h2load") else { continue };
        let theirs = Command::new(h2load).args(["-n6", "-c2", &format!("http://{}/", odd.address)]).output();
        assert_eq!(outcome(&String::from_utf8_lossy(&theirs.unwrap().stdout)), expected, "{server}: h2load");
    }
}

/// There the client is gone with its connection, so that fewer get an answer; none of those that were lost has succeeded.
#[test]
fn connections_that_end_have_failed_what_was_under_way() {
    let cut = Odd::start(&[], true, |id| head(id, END_HEADERS, &[]));
    let ran = run(&format!("h2load -n 6 -c 2 http://{}/", cut.address)).ended_with(0);
    let said = "requests: 6 total, 6 started, 0 done, 0 succeeded, 6 failed, 6 errored, 0 timeout";
    assert_eq!(line(&ran.stdout, "requests: "), said);

    let unprocessed = Odd::start(&[], true, |id| [head(id, BOTH, &[]), goaway(id, 0, "")].concat());
    let ran = run(&format!("h2load -n 6 -c 2 http://{}/", unprocessed.address)).ended_with(0);
    let said = "requests: 6 total, 6 started, 6 done, 6 succeeded, 0 failed, 0 errored, 0 timeout";
    assert_eq!(line(&ran.stdout, "requests: "), said);
}

/// A server that turns away whatever comes ends no run's patience: each request fails after some connections.
#[test]
fn a_server_that_processes_nothing_ends_the_run() {
    let leaves = Odd::start(&[], true, |_| goaway(0, 0, ""));
    let ran = run(&format!("h2load -n 2 -c 1 http://{}/", leaves.address)).ended_with(0);
    assert!(
        outcome(&ran.stdout).starts_with("requests: 2 total, 0 succeeded, 2 failed, 2 errored"),
        "{}",
        ran.stdout
    );
    assert!(leaves.connections.load(Ordering::SeqCst) > 2);
}

/// Server over TLS that speaks HTTP/1.1 and takes these names (ALPN). It counts the connections that asked for something.
fn over_tls(alpn: &[&str]) -> (SocketAddr, Arc<AtomicUsize>) {
    let settings = ServerSettings {
        identity: Identity::throw_away(&["localhost".to_owned()]).unwrap(),
        client_roots: None,
        versions: Vec::new(),
        suites: Vec::new(),
        alpn: alpn.iter().map(|name| (*name).to_owned()).collect(),
        resumption: Resumption::Off,
    };
    let server = TlsServer::new(&settings).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asking = Arc::<AtomicUsize>::default();
    let count = asking.clone();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let server = server.clone();
            let count = count.clone();
            // A client that goes away ends it.
            thread::spawn(move || answer_over_tls(stream, &server, &count).ok());
        }
    });
    (address, asking)
}

fn answer_over_tls(mut stream: TcpStream, server: &TlsServer, asking: &AtomicUsize) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut session = Session::server(server).map_err(io::Error::other)?;
    let mut input = Vec::new();
    let mut out = Vec::new();
    let mut part = [0; 16_384];
    let mut first = true;
    loop {
        let count = stream.read(&mut part)?;
        if count == 0 {
            return Ok(());
        }
        input.extend_from_slice(&part[..count]);
        let opened = session.open(&mut input, &mut out).map_err(io::Error::other)?;
        let asked = !opened.plain.is_empty();
        input.drain(..opened.consumed);
        if asked {
            if std::mem::take(&mut first) {
                asking.fetch_add(1, Ordering::SeqCst);
            }
            let answer: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
            session.seal(&[answer], &mut out).map_err(io::Error::other)?;
        }
        stream.write_all(&out)?;
        out.clear();
    }
}

#[test]
fn what_the_server_takes_is_spoken() {
    let all_well = |ran: &Ran| {
        assert_eq!(
            line(&ran.stdout, "requests: "),
            "requests: 6 total, 6 started, 6 done, 6 succeeded, 0 failed, 0 errored, 0 timeout",
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    };
    for (alpn, told) in [(&["http/1.1"][..], false), (&[], true)] {
        let (address, asking) = over_tls(alpn);
        let ran = run(&format!("h2load -n 6 -c 2 https://{address}/")).ended_with(0);
        all_well(&ran);
        assert_eq!(line(&ran.stdout, "Application protocol"), "Application protocol: http/1.1", "{alpn:?}");
        assert_eq!(ran.stdout.contains("Falling back to HTTP/1.1"), told, "{alpn:?}: {}", ran.stdout);
        assert_eq!(asking.load(Ordering::SeqCst), 2, "{alpn:?}");
    }
    // What was not asked for is not spoken, and why nothing comes is told.
    let (address, _) = over_tls(&["http/1.1"]);
    let ran = run(&format!("h2load -n 2 -c 1 --alpn-list h2 https://{address}/")).ended_with(0);
    assert!(ran.stderr.contains("h2load: no answer came to 2 requests: "), "{}", ran.stderr);
}

#[test]
fn each_period_opens_its_clients() {
    let started = Arc::<AtomicU64>::default();
    let count = started.clone();
    let odd = Odd::start(&[], false, move |id| {
        count.fetch_add(1, Ordering::SeqCst);
        head(id, BOTH, &[])
    });
    let ran = run(&format!("h2load -r 2 --rate-period 200ms -c 5 -n 12 -m 2 http://{}/", odd.address))
        .ended_with(0);
    assert_eq!((odd.connections.load(Ordering::SeqCst), started.load(Ordering::SeqCst)), (5, 12));
    assert!(
        ran.stdout
            .contains("5 total client(s). Up to 2 client(s) will be created every 200ms 12 total requests\n")
    );
    let told: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("progress: ")).collect();
    assert_eq!(told.last(), Some(&"progress: 100% of clients started"), "{}", ran.stdout);
}

/// One connection answers three requests, the other two: its own rate each, of which the row tells.
#[test]
fn rates_are_told_for_each_client() {
    let odd = Odd::start(&[], false, |id| {
        thread::sleep(Duration::from_millis(20));
        head(id, BOTH, &[])
    });
    let ran = run(&format!("h2load -n 8 -c 2 http://{}/", odd.address)).ended_with(0);
    let row: Vec<f64> = line(&ran.stdout, "req/s ")
        .split_whitespace()
        .skip(2)
        .map(|word| word.trim_end_matches('%').parse().unwrap_or_else(|_| panic!("{}", ran.stdout)))
        .collect();
    let [least, most, mean, deviation, within] = row[..] else { panic!("{}", ran.stdout) };
    // No answer comes sooner than 20 ms behind the one before.
    assert!(0.0 < least && least <= mean && mean <= most && most <= 50.0, "{row:?}");
    assert!(deviation >= 0.0 && (0.0..=100.0).contains(&within), "{row:?}");
    for row in ["time for connect:", "time to 1st byte:"] {
        assert_eq!(
            line(&ran.stdout, row).matches("us").count() + line(&ran.stdout, row).matches("ms").count(),
            4,
            "{}",
            ran.stdout
        );
    }
}

/// Two clients send the three lines each; the last of them not before its moment.
#[test]
fn a_timing_script_is_sent_by_each_client() {
    let script = "script=$PWD/t.txt; printf '0\\thttp://ADDRESS/a\\n\\n150\\t/b\\n300\\t/c\\n' > $script; \
                  $WRINGER h2load --timing-script-file $script -c 2 -m 2";
    let odd = Odd::start(&[], false, |id| head(id, BOTH, &[]));
    let ran = crate::support::shell(&script.replace("ADDRESS", &odd.address.to_string())).ended_with(0);
    assert_eq!(
        line(&ran.stdout, "requests: "),
        "requests: 6 total, 6 started, 6 done, 6 succeeded, 0 failed, 0 errored, 0 timeout"
    );
    assert!(ran.stderr.contains("Empty line detected at line 2."), "{}", ran.stderr);
    assert!(seconds(&ran.stdout) >= 0.3, "{}", ran.stdout);
}

#[test]
fn what_1_70_adds_is_printed_and_written() {
    let odd = Odd::start(&[], false, |id| head(id, BOTH, &[]));
    let line = format!("h2load -n 20 -c 2 --histogram --output-file out.json http://{}/", odd.address);
    let ran = run(&line).ended_with(0);
    assert!(ran.stdout.contains("median      p95         p99         mean"), "{}", ran.stdout);
    let told: serde_json::Value = serde_json::from_str(&ran.file("out.json")).unwrap();
    assert_eq!(told["measurements"]["requests"]["succeeded"], 20);
    let samples = told["measurements"]["performance"]["request"]["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 20);
}

#[test]
fn a_run_by_the_clock_tells_its_pieces() {
    let odd = Odd::start(&[], false, |id| head(id, BOTH, &[]));
    let ran =
        run(&format!("h2load -D 1 --warm-up-time 300ms -c 2 -t 1 http://{}/", odd.address)).ended_with(0);
    let said = [
        "Warm-up started for thread #0.",
        "Warm-up phase is over for thread #0.",
        "Main benchmark duration is started for thread #0.",
        "Main benchmark duration is over for thread #0. Stopping all clients.",
        "Stopped all clients for thread #0",
    ];
    let mut rest = ran.stdout.as_str();
    for line in said {
        rest = rest.split_once(line).unwrap_or_else(|| panic!("{line}: {}", ran.stdout)).1;
    }
    assert!(seconds(&ran.stdout) >= 1.3, "{}", ran.stdout);
}
