//! How connections are reached and used: tunnels, Unix sockets, other addresses, pipelines and time limits.

use crate::refusing::Refusing;
use crate::support::{Report, Running, folder, free_address, start, wringer};
use crate::tunnels::Tunnels;
use crate::web::{Web, answer, at_unix_socket, ok};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

fn http(code: i32, line: &str) -> Report {
    let first = "http -q --json {}/result.json --seed 7 -t 1";
    start(first.split(' ').chain(line.split_whitespace())).end().ended_with(code).report()
}

fn sums<const N: usize>(report: &Report, counters: [&str; N]) -> [u64; N] {
    counters.map(|counter| report.sum(counter))
}

/// Stages of the failures of one kind.
fn stages(report: &Report, kind: &str) -> Vec<String> {
    let phases = report.list("phases");
    let failures = phases.iter().flat_map(|phase| phase.list("failures"));
    failures
        .filter(|failure| failure.text("kind") == kind)
        .map(|failure| failure.text("stage").to_owned())
        .collect()
}

/// Our origin over TLS.
fn secure_origin() -> (SocketAddr, Running) {
    let address = free_address();
    let mut origin = wringer(&format!("origin --tls --listen {address} -t 1 -q"));
    origin.wait_for("listens at");
    (address, origin)
}

#[test]
fn https_goes_through_a_tunnel_of_the_proxy() {
    let (origin, _running) = secure_origin();
    let proxy = Tunnels::start(None);
    for io in ["epoll", "auto"] {
        let line = format!("https://{origin}/w/1/5000 --proxy {} -k -c 2 -n 20 --io {io}", proxy.address);
        let report = http(0, &line);
        assert_eq!(sums(&report, ["requests", "ok", "connections"]), [20, 20, 2], "{io}");
        assert_eq!(report.sum("handshakes_full") + report.sum("handshakes_resumed"), 2);
    }
    let heads = proxy.heads();
    assert!(
        heads
            .iter()
            .all(|head| head.starts_with(&format!("CONNECT {origin} HTTP/1.1\r\nHost: {origin}\r\n")))
    );
}

#[test]
fn tunnels_that_are_refused_say_so() {
    let (origin, _running) = secure_origin();
    let proxy = Tunnels::start(Some("Proxy-Authorization: Basic dTpw\r\n"));
    let line = format!("https://{origin}/w/1/500 --proxy {} -k -c 1 -n 3", proxy.address);
    let report = http(1, &line);
    assert_eq!(sums(&report, ["requests", "failed"]), [3, 3]);
    assert_eq!(stages(&report, "tunnel"), ["tunnel"]);
    let failures = report.list("phases")[0].list("failures");
    assert_eq!(failures[0].count("proxy_status"), 407, "the proxy's status is told");
    let report = http(0, &format!("{line} --proxy-user u:p"));
    assert_eq!(sums(&report, ["requests", "ok"]), [3, 3]);
    let nobody = Refusing::new();
    let report =
        http(1, &format!("https://{nobody}/ --proxy {} -k -c 1 -n 1 --proxy-user u:p", proxy.address));
    assert_eq!(report.list("phases")[0].list("failures")[0].count("proxy_status"), 502);
}

#[test]
fn proxies_are_told_who_it_is_and_hosts_are_not() {
    let web = Web::start(|_| ok(""));
    // An absolute URL shows that it went to the proxy.
    let report =
        http(0, &format!("http://h.invalid/x --proxy {} -c 1 -n 2 --proxy-user u:p --follow", web.address));
    assert_eq!(sums(&report, ["requests", "ok"]), [2, 2]);
    for asked in web.seen() {
        assert_eq!(asked.target, "http://h.invalid/x");
        assert_eq!(asked.field("Proxy-Authorization"), Some("Basic dTpw"));
    }
}

#[test]
fn unix_sockets_are_reached_by_both_interfaces() {
    let folder = folder();
    let path = folder.path().join("web");
    let long = "x".repeat(100_000);
    let seen = at_unix_socket(&path, move |_| ok(&long));
    for (io, more) in
        [("epoll", ""), ("auto", ""), ("epoll", "--keep-alive 1"), ("auto", "--keep-alive 1 --cookies")]
    {
        let line =
            format!("http://any.invalid/p --unix-socket {} --io {io} -c 3 -n 30 {more}", path.display());
        let report = http(0, &line);
        assert_eq!(sums(&report, ["requests", "ok", "body_bytes"]), [30, 30, 3_000_000], "{io} {more}");
    }
    assert!(seen.lock().unwrap().iter().all(|asked| asked.field("Host") == Some("any.invalid")));
    let line = format!("http http://h/ --unix-socket {}/none -n 1", folder.path().display());
    wringer(&line).end().refused_with(1, &["Unix socket", "/none"]);
}

#[test]
fn connections_go_where_they_are_sent() {
    let web = Web::start(|_| ok(""));
    let port = web.address.port();
    let line = format!("http://a.invalid/x http://b.invalid:81/y --connect-to a.invalid:80:127.0.0.1:{port}");
    let report = http(0, &format!("{line} --connect-to ::localhost:{port} -c 1 -n 4"));
    assert_eq!(sums(&report, ["requests", "ok"]), [4, 4]);
    let hosts: Vec<String> = web.seen().iter().map(|asked| asked.field("Host").unwrap().to_owned()).collect();
    assert_eq!(hosts, ["a.invalid", "b.invalid:81", "a.invalid", "b.invalid:81"]);
}

#[test]
fn ipv6_addresses_stand_in_brackets() {
    if TcpListener::bind("[::1]:0").is_err() {
        skip!("no IPv6 on this machine");
    }
    let web = Web::at("[::1]:0", |_| ok(""));
    let report = http(0, &format!("http://{}/x -c 1 -n 2 --cookies", web.address));
    assert_eq!(sums(&report, ["requests", "ok"]), [2, 2]);
    assert_eq!(web.seen()[0].field("Host"), Some(web.address.to_string().as_str()));
}

/// A server that answers only when so many requests are there, and closes after so many answers.
fn hoarder(at_once: usize, closes_after: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                let mut piece = [0; 4096];
                let mut answered = 0;
                while let Ok(count @ 1..) = stream.read(&mut piece) {
                    bytes.extend_from_slice(&piece[..count]);
                    let heads = bytes.windows(4).filter(|four| four == b"\r\n\r\n").count();
                    if heads < at_once {
                        continue;
                    }
                    bytes.clear();
                    for _ in 0..heads.min(closes_after - answered) {
                        answered += 1;
                        let last = if answered == closes_after { "Connection: close\r\n" } else { "" };
                        let _ = stream.write_all(answer("200 OK", last, "body").as_bytes());
                    }
                    if answered == closes_after {
                        return;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn pipelined_requests_are_sent_at_once_and_answered_in_order() {
    let server = hoarder(5, usize::MAX);
    let report = http(0, &format!("{server} --pipeline 5 -c 2 -n 40 --timeout 5s"));
    assert_eq!(sums(&report, ["requests", "ok", "resent", "connections"]), [40, 40, 0, 2]);
    assert_eq!(sums(&report, ["reused", "body_bytes"]), [38, 160]);
    let report = http(0, &format!("{server} --pipeline 5 --keep-alive 5 -c 1 -n 20 --timeout 5s"));
    assert_eq!(sums(&report, ["ok", "connections"]), [20, 4], "a batch ends its connection");
}

#[test]
fn pipelined_requests_behind_an_announced_end_are_sent_again() {
    let server = hoarder(1, 3);
    let report = http(0, &format!("{server} --pipeline 4 -c 1 -n 12"));
    assert_eq!(sums(&report, ["requests", "ok", "failed"]), [12, 12, 0]);
    assert!(report.sum("resent") > 0, "a server that closes leaves some unanswered");
    let report = http(3, &format!("{server} --pipeline 4 -c 1 -n 12 --resend never"));
    assert_eq!(sums(&report, ["requests", "ok", "failed", "resent"]), [12, 9, 3, 0]);
}

/// A server that says nothing but this.
fn mute(says: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        let mut kept = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(says);
            kept.push(stream);
        }
    });
    address
}

#[test]
fn each_time_limit_has_its_own_stage() {
    let silent = mute(b"");
    let halting = mute(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody");
    for more in ["", "--cookies", "--pipeline 2"] {
        let of = |server: SocketAddr, limits: &str| {
            let report = http(1, &format!("{server} -c 2 -n 4 {limits} {more}"));
            assert_eq!(sums(&report, ["requests", "failed"]), [4, 4], "{limits} {more}");
            stages(&report, "timeout")
        };
        assert_eq!(of(silent, "--first-byte-timeout 200ms"), ["first_byte"], "{more}");
        assert_eq!(of(silent, "--timeout 200ms"), ["head"], "{more}");
        assert_eq!(of(halting, "--first-byte-timeout 200ms --timeout 500ms"), ["body"], "{more}");
    }
}
