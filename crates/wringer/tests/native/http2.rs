//! HTTP/2, client and origin: exact counts on both sides, peers that were not written here, and peers that misbehave.

use crate::http2_peer::{Behaviour, Peer};
use crate::support::{Ran, Running, free_address, program, run, shell, tell, wringer};
use crate::web::{Web, answer, ok};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub const JSON: &str = "-q --json {}/result.json --seed 7";

/// An origin of its own process.
pub fn origin(options: &str) -> (SocketAddr, Running) {
    let address = free_address();
    let mut origin = wringer(&format!("origin --listen {address} -t 1 -q --json {{}}/result.json {options}"));
    origin.wait_for("listens at");
    (address, origin)
}

fn press(address: SocketAddr, path: &str, options: &str) -> Ran {
    run(&format!("http --http 2c http://{address}{path} {options} {JSON}"))
}

#[test]
fn requests_share_connections_and_both_sides_count_the_same() {
    let (address, origin) = origin("");
    let report = press(address, "/w/1/3000", "-c 20 --streams 10 -t 1 -n 1000").ended_with(0).report();
    assert_eq!((report.sum("ok"), report.sum("connections"), report.sum("reused")), (1000, 2, 998));
    assert_eq!(report.sum("body_bytes"), 3_000_000);
    origin.signal(Signal::INT);
    let report = origin.end().ended_with(0).report();
    let count = |name: &str| report.count(&format!("origin/{name}"));
    assert_eq!((count("http2_requests"), count("requests"), count("http2_connections")), (1000, 1000, 2));
}

#[test]
fn the_oracle_judges_answers_as_over_http_1() {
    let (address, _origin) = origin("--size 1KB..100KB --origin-aborts 0.05");
    let line = format!(
        "cache {address} --origin {address} --clients-only --http 2c --streams 8 -c 16 -t 1 -n 2000 --size 1KB..100KB {JSON}"
    );
    let report = run(&line).report();
    assert_eq!((report.sum("requests"), report.sum("check_failed"), report.sum("failed")), (2000, 0, 0));
    let injected = report.sum("injected");
    assert!((20..400).contains(&injected), "{injected} of 2000 were cut by the origin");
}

#[test]
fn over_tls_h2_is_agreed_on() {
    let (address, _origin) = origin("--tls");
    let report = run(&format!("http --http 2 -k https://{address}/w/1/500 -c 4 -t 1 -n 400 {JSON}"))
        .ended_with(0)
        .report();
    assert_eq!((report.sum("ok"), report.sum("connections"), report.sum("handshakes_full")), (400, 4, 4));
}

/// The limit of connecting ends with the handshake; a shared connection waits for an answer as long as its request may.
#[test]
fn an_answer_may_take_longer_than_connecting() {
    let (address, _origin) = origin("--tls --origin-delay 5s");
    let ran = shell(&format!(
        "$WRINGER http --http 2 -k https://{address}/w/1/500 -c 1 -t 1 -n 1 --show-plan > plan.toml && \
         sed -i 's/^connect = .*/connect = \"4s\"/' plan.toml && grep '^connect = \"4s\"' plan.toml && \
         $WRINGER run plan.toml -q --json result.json"
    ));
    let report = ran.ended_with(0).report();
    assert_eq!((report.sum("ok"), report.sum("connections"), report.sum("resent")), (1, 1, 0));
}

#[test]
fn templates_bodies_and_checks_work() {
    let peer = Peer::start(Behaviour::Echo);
    let line = [
        "http",
        "--http",
        "2c",
        "--streams",
        "5",
        "-c",
        "10",
        "-t",
        "1",
        "-n",
        "200",
        "-q",
        "--json",
        "{}/result.json",
        "-X",
        "POST",
        "--data",
        "item {{n}}",
        "-H",
        "X-Number: {{n}}",
        "--var",
        "n=counter:1..1000",
        "--expect-match",
        "^item [0-9]+$",
    ];
    let url = format!("http://{}/echo", peer.address);
    let report = crate::support::start(line.into_iter().chain([url.as_str()])).end().ended_with(0).report();
    assert_eq!((report.sum("ok"), report.sum("failed")), (200, 0));
    let mut seen = peer.seen();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 200, "each value once");
}

/// The windows of a slow client grant what it reads in a second; answers beside it come at once.
#[test]
fn slow_clients_are_granted_what_they_read() {
    let (address, _origin) = origin("--size 4KB");
    let cache = |options: &str| {
        let line = format!(
            "cache {address} --origin {address} --clients-only --http 2c --size 4KB -t 1 {options} {JSON}"
        );
        run(&line).ended_with(0).report()
    };
    let report = cache("-c 2 --streams 2 -n 4 --client-speed 8KB");
    assert_eq!((report.sum("ok"), report.sum("connections")), (4, 1));
    // Forty-nine of fifty parts of half a second, which the last part need not wait for.
    let least = report.number("phases/0/latency/service/min_us");
    assert!(least > 450_000.0, "4 kB at 8 kB/s came in {least} us");
    let report = cache("-c 2 --streams 2 -n 20 --client-speed 8KB --slow 0.2");
    assert_eq!(report.sum("ok"), 20);
    let least = report.number("phases/0/latency/service/min_us");
    assert!(least < 450_000.0, "others are as fast as ever");
}

#[test]
fn clients_that_leave_reset_their_streams() {
    let (address, _origin) = origin("--size 100KB");
    let line = format!(
        "cache {address} --origin {address} --clients-only --http 2c --size 100KB -c 4 --streams 4 -t 1 -n 100 --abort 0.5 {JSON}"
    );
    let report = run(&line).ended_with(0).report();
    let aborted = report.sum("aborted");
    let ok = report.sum("ok");
    assert_eq!((aborted + ok, report.sum("connections")), (100, 1));
    assert!((20..80).contains(&aborted), "{aborted} of 100");
}

/// Resources of a page are streams beside each other, though the user has its connection alone.
#[test]
fn what_a_page_needs_comes_over_one_connection() {
    let web = Web::start(|asked| match asked.target.as_str() {
        "/" => answer("200 OK", "Content-Type: text/html\r\n", "<img src=1><img src=2><img src=3>"),
        _ => ok("image"),
    });
    let line =
        format!("http --http 2c {} -c 2 -t 1 -n 4 --resources --resources-parallel 3 {JSON}", web.address);
    let report = run(&line).ended_with(0).report();
    assert_eq!((report.sum("ok"), report.sum("pages"), report.sum("connections")), (16, 4, 2));
}

#[test]
fn signatures_hold_over_http_2_and_3() {
    for (version, scheme) in [("2c", "http"), ("3 -k", "https")] {
        signatures_hold(version, scheme);
    }
}

fn signatures_hold(version: &str, scheme: &str) {
    let web = Web::start_with_http3(|_| ok("x"));
    let line = format!(
        "http --http {version} {scheme}://{}/a?b={{{{request}}}} -c 1 -t 1 -n 3 --aws-sigv4 eu:s3 --aws-key I --aws-secret S {JSON}",
        web.address
    );
    let report = run(&line).ended_with(0).report();
    assert_eq!(report.sum("ok"), 3);
    let signatures: BTreeSet<String> =
        web.seen().iter().map(|asked| asked.field("Authorization").unwrap().to_owned()).collect();
    assert_eq!(signatures.len(), 3);
    assert!(
        signatures.iter().all(|signature| signature.contains("SignedHeaders=host;x-amz-")),
        "{signatures:?}"
    );
}

/// Misbehaviour of a server, and what it counts as; the run goes on with good answers where the server gives some.
#[test]
fn peers_that_misbehave_are_named() {
    for (behaviour, kind, per) in [
        (Behaviour::ResetThird, "stream_reset", 3),
        (Behaviour::ShortThird, "stream_error", 3),
        (Behaviour::CloseThird, "closed_early", 3),
    ] {
        let peer = Peer::start(behaviour);
        let report = press(peer.address, "/x", "-c 1 -t 1 -n 30 --resend never").report();
        assert_eq!((report.sum("requests"), report.sum("failed")), (30, 30 / per), "{behaviour:?}");
        assert_eq!(report.failures(), [(kind.to_owned(), 30 / per)].into(), "{behaviour:?}");
    }
}

#[test]
fn what_a_server_refused_is_sent_again_posts_too() {
    let peer = Peer::start(Behaviour::RefuseThird);
    let report =
        press(peer.address, "/x", "-c 3 --streams 3 -t 1 -n 60 -X POST --data hello").ended_with(0).report();
    assert_eq!((report.sum("ok"), report.sum("failed")), (60, 0));
    assert_eq!(report.sum("resent"), peer.refused());
    assert!(report.sum("resent") > 0);
}

#[test]
fn frames_resets_and_goaways_are_told() {
    let peer = Peer::start(Behaviour::ResetThird);
    let ran = press(peer.address, "/x", "-c 1 -t 1 -n 30 --resend never");
    let report = ran.report();
    let http2 = report.part("measured/http2");
    assert_eq!((http2.count("frames_sent/HEADERS"), http2.count("frames_received/RST_STREAM")), (30, 10));
    assert_eq!(http2.count("resets_received/INTERNAL_ERROR"), 10);
    assert_eq!((http2.count("blocks"), http2.count("frames_received/HEADERS")), (20, 20));
    let sent = http2.count("sent_fields/fields");
    assert!(sent > 2 * http2.count("sent_fields/blocks"), "{sent}");
    let (address, _origin) = origin("--origin-keep-alive 10");
    let report = press(address, "/w/1/10", "-c 1 -t 1 -n 30").ended_with(0).report();
    let goaways = report.list("measured/http2/goaways");
    assert_eq!((goaways.len(), goaways[0].count("code"), goaways[0].count("count")), (1, 0, 3));
}

#[test]
fn a_silent_server_times_out_and_its_connection_lives_on() {
    let peer = Peer::start(Behaviour::SilentThird);
    let report = press(peer.address, "/x", "-c 1 -t 1 -n 9 --timeout 300ms").report();
    assert_eq!((report.sum("ok"), report.sum("failed"), report.sum("connections")), (6, 3, 1));
    assert_eq!((report.failures(), report.sum("streams_cancelled")), ([("timeout".to_owned(), 3)].into(), 3));
}

/// Ten users share a connection that is never opened: it is tried once for all of them.
#[test]
fn a_silent_server_is_connected_to_once_for_a_group() {
    let listener = Listener::start(|stream, _| stay(stream));
    let report = run(&format!(
        "http --http 2 -k https://{}/ --streams 10 -c 10 -t 1 -n 10 --connect-timeout 500ms {JSON}",
        listener.address
    ))
    .report();
    assert_eq!((report.sum("requests"), report.sum("failed")), (10, 10));
    assert_eq!(listener.connections(), 1);
}

/// Whoever opened the connection for its group is let go with the warm-up, in the middle of it; the next one opens it.
#[test]
fn an_opener_that_is_let_go_leaves_no_one_waiting() {
    let (origin, _running) = origin("--tls");
    let listener = Listener::start(move |stream, number| match number {
        0 => stay(stream),
        _ => pass_on(stream, origin),
    });
    let report = run(&format!(
        "http --http 2 -k https://{}/w/1/100 --streams 10 -c 10 -t 1 --warm-up 300ms -n 50 {JSON}",
        listener.address
    ))
    .ended_with(0)
    .report();
    assert_eq!(report.part("measured").count("counts/ok"), 50);
    assert!(listener.connections() >= 2, "the first one never answered");
}

/// A server that allows fewer streams than users share a connection: each waits about once, in turn.
#[test]
fn users_beyond_the_limit_of_streams_wait_in_turn() {
    let peer = Peer::start(Behaviour::Echo);
    let report = press(peer.address, "/", "-c 300 --streams 300 -t 1 -n 3000").ended_with(0).report();
    assert_eq!((report.sum("ok"), report.sum("connections")), (3000, 1));
    let waits = report.sum("stream_waits");
    assert!((200..=3300).contains(&waits), "{waits} waits for 3000 requests");
}

#[test]
fn a_server_of_http_1_is_told_from_one_of_http_2() {
    let server = Listener::start(|mut stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        stay(stream);
    });
    let ran = press(server.address, "/", "-c 1 -t 1 -n 3");
    assert_eq!(ran.report().failures(), [("not_http2".to_owned(), 3)].into());
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("not speak HTTP/2 there without TLS: leave out --http 2c"), "{said}");
}

#[test]
fn what_does_not_fit_together_is_refused_with_a_way_out() {
    for (line, said) in [
        ("http --http 2 http://127.0.0.1:1/", "--http 2c"),
        ("http --http 2c http://127.0.0.1:1/ --rate 10 --preconnect 2", "leave it out"),
        ("http --http 2c https://127.0.0.1:1/", "--http 2"),
        ("http --http 3 http://127.0.0.1:1/", "give https://"),
        ("http --http 3 --header-table 0 https://127.0.0.1:1/", "--header-table is about HTTP/2"),
        ("http --http 2 --quic lab https://127.0.0.1:1/", "--quic is about HTTP/3"),
        ("http --http 3 --udp-payload 900 https://127.0.0.1:1/", "give 1200 to"),
        ("http --http spdy http://127.0.0.1:1/", "1.1, 2"),
        ("http --streams 5 http://127.0.0.1:1/", "--streams is about HTTP/2"),
        ("http --http 2c --pipeline 5 http://127.0.0.1:1/", "more streams instead"),
        ("http --http 2c -H Connection:close http://127.0.0.1:1/", "belongs to connections of HTTP/1"),
        ("cache --http 2c", "PROXY of your own"),
        ("rig nginx --http spdy", "2c"),
    ] {
        let ran = run(line).ended_with(2);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
}

/// Refused streams, GOAWAYs and 103s cost no request; both sides count them the same.
#[test]
fn what_an_origin_refuses_or_leaves_is_sent_again() {
    for (faults, told, seen) in [
        ("refused=0.1", "streams_refused", "resent"),
        ("goaway=0.02", "goaways", "goaways"),
        ("early-hints=0.3", "early_hints", "interims"),
    ] {
        let (address, origin) = origin(&format!("--origin-stream-faults {faults} --seed 7"));
        let report = press(address, "/w/1/3000", "-c 8 --streams 4 -t 1 -n 1000").ended_with(0).report();
        assert_eq!((report.sum("ok"), report.sum("failed")), (1000, 0), "{faults}");
        origin.signal(Signal::INT);
        let count = origin.end().report().count(&format!("origin/{told}"));
        assert!(count > 0 && report.sum(seen) == count, "{faults}: {count} told, {} seen", report.sum(seen));
    }
}

/// Answers that stall, or end short of their length, are told from others that break: the origin was asked for them, and says so.
#[test]
fn stalls_and_wrong_lengths_are_judged_right() {
    for faults in ["stalled=0.03", "wrong-length=0.1"] {
        let (address, origin) = origin(&format!("--size 1KB..50KB --origin-stream-faults {faults} --seed 7"));
        let line = format!(
            "cache {address} --origin {address} --clients-only --http 2c --streams 8 -c 8 -t 1 -n 500 --size 1KB..50KB --timeout 500ms {JSON}"
        );
        let report = run(&line).report();
        assert_eq!(
            (report.sum("requests"), report.sum("check_failed"), report.sum("failed")),
            (500, 0, 0),
            "{faults}"
        );
        origin.signal(Signal::INT);
        let cut = origin.end().report().count("origin/cut");
        assert!(
            cut > 3 && report.sum("injected") == cut,
            "{faults}: {cut} cut, {} seen",
            report.sum("injected")
        );
    }
}

/// Unary calls: the message goes out in its frame, and grpc-status decides, wherever it stands.
#[test]
fn grpc_calls_are_judged_by_their_status() {
    for (version, scheme) in [("2c", "http"), ("3 -k", "https")] {
        grpc_calls_are_judged(version, scheme);
    }
    run("http --grpc http://127.0.0.1:1/").refused_with(2, &["gRPC", "--http 2"]);
}

fn grpc_calls_are_judged(version: &str, scheme: &str) {
    let web = Web::start_with_http3(|asked| match asked.target.as_str() {
        "/s.S/Ok" => answer("200 OK", "Trailer-Grpc-Status: 0\r\n", "\0\0\0\0\x02ok"),
        "/s.S/Missing" => "HTTP/1.1 200 OK\r\nGrpc-Status: 5\r\nGrpc-Message: no row\r\n\r\n".to_owned(),
        "/s.S/Short" => answer("200 OK", "Trailer-Grpc-Status: 0\r\n", "\0\0\0\0\x05ok"),
        _ => answer("200 OK", "", "\0\0\0\0\x02ok"),
    });
    let call = |method: &str| {
        let url = format!("{scheme}://{}/s.S/{method}", web.address);
        run(&format!("http --http {version} --grpc -c 2 -n 6 -t 1 --data n={{{{request}}}} {url} {JSON}"))
            .report()
    };
    let report = call("Ok");
    assert_eq!((report.sum("ok"), report.sum("check_failed")), (6, 0));
    let codes = report.list("measured/codes");
    assert_eq!((codes[0].text("code"), codes[0].count("count")), ("0 OK", 6));
    let mut bodies: Vec<String> = web.seen().into_iter().map(|asked| asked.body).collect();
    bodies.sort();
    assert_eq!(bodies[5], "\0\0\0\0\x03n=5");
    // An empty message has its frame as well, also where its connection knows the request by heart.
    let before = web.seen().len();
    let url = format!("{scheme}://{}/s.S/Ok", web.address);
    let report = run(&format!("http --http {version} --grpc -c 2 -n 12 -t 1 {url} {JSON}")).report();
    assert_eq!((report.sum("ok"), report.sum("check_failed")), (12, 0));
    let empty = web.seen().split_off(before).into_iter().filter(|asked| asked.body == "\0\0\0\0\0");
    assert_eq!(empty.count(), 12, "{version}");
    let asked = &web.seen()[0];
    assert_eq!(
        (
            asked.method.as_str(),
            asked.field("content-type"),
            asked.field("te"),
            asked.field("content-length")
        ),
        ("POST", Some("application/grpc"), Some("trailers"), None)
    );
    for (method, fault) in [("Missing", "bad_code"), ("Short", "wrong_length"), ("None", "no_code")] {
        let report = call(method);
        assert_eq!(report.faults(), [(fault.to_owned(), 6)].into(), "{version} {method}");
    }
}

/// nginx says GOAWAY after a number of requests: none is lost for it.
#[test]
fn nginx_that_says_goodbye_costs_no_request() {
    let Some(nginx) = Nginx::start() else { return tell("nginx is not installed") };
    let report = press(nginx.address, "/x", "-c 20 --streams 10 -t 1 -n 3000").ended_with(0).report();
    assert_eq!((report.sum("ok"), report.sum("failed")), (3000, 0));
    assert!(report.sum("goaways") >= 20, "{} GOAWAYs", report.sum("goaways"));
    assert!(report.sum("connections") >= 30);
}

/// Real caches that speak HTTP/2 in front, HAProxy to the origin, too: hits and misses equal what the origin counted.
#[test]
fn rigs_speak_http_2() {
    for (name, wants) in
        [("nginx", "nginx"), ("varnish", "varnishd"), ("haproxy", "haproxy"), ("httpd", "apache2")]
    {
        if program(wants).is_none() {
            tell(&format!("{wants} is not installed"));
            continue;
        }
        let line = format!(
            "cache --rig {name} --http 2c --streams 4 -c 16 -t 1 -n 3000 --size 2KB --hot 100 {JSON}"
        );
        let report = run(&line).ended_with(0).report();
        assert_eq!(
            (report.sum("ok"), report.sum("failed"), report.sum("check_failed")),
            (3000, 0, 0),
            "{name}"
        );
        assert!(report.sum("hits") > 1000, "{name}: {} hits", report.sum("hits"));
        let fetched = report.sum("misses") + report.sum("revalidated");
        assert_eq!(report.count("origin/requests"), fetched, "{name}");
        let over_2 = report.count("origin/http2_requests");
        assert_eq!(over_2, if matches!(name, "haproxy" | "httpd") { fetched } else { 0 }, "{name}");
    }
}

/// The door prints what h2load prints, but for the figures.
#[test]
fn the_report_is_laid_out_as_h2load_lays_it_out() {
    let (Some(h2load), Some(nghttpd)) = (program("h2load"), program("nghttpd")) else {
        return tell("h2load and nghttpd are not installed");
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), [b'x'; 100]).unwrap();
    let address = free_address();
    let mut server = Command::new(nghttpd)
        .args(["--no-tls", "-d", &folder.path().display().to_string(), &address.port().to_string()])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let since = Instant::now();
    while TcpStream::connect(address).is_err() {
        assert!(since.elapsed() < Duration::from_secs(60), "nghttpd does not listen");
        std::thread::sleep(Duration::from_millis(10));
    }
    let line = format!("-n 200 -c 4 -m 5 -t 2 http://{address}/a");
    let theirs = Command::new(h2load).args(line.split_whitespace()).output().unwrap();
    let ours = run(&format!("h2load {line}")).ended_with(0);
    let _ = (server.kill(), server.wait());
    let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
    for (ours, theirs) in ours.stdout.lines().zip(theirs.lines()) {
        match ours {
            ours if ours.starts_with("requests:") || ours.starts_with("status codes:") => {
                assert_eq!(ours, theirs)
            }
            ours if ours.starts_with("req/s") => assert_eq!(ours.len(), theirs.len()),
            ours => assert_eq!(shape(ours), shape(theirs)),
        }
    }
    assert_eq!(ours.stdout.lines().count(), theirs.lines().count());
}

/// A listener that counts the connections on which something is said, and gives each with its number to a thread of its own. Before a
/// run, wringer looks whether anybody listens at all.
struct Listener {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Listener {
    fn start(serve: impl Fn(TcpStream, usize) + Send + Sync + 'static) -> Listener {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serve = Arc::new(serve);
        let connections = Arc::<AtomicUsize>::default();
        let count = connections.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serve = serve.clone();
                let count = count.clone();
                std::thread::spawn(move || {
                    if stream.peek(&mut [0]).is_ok_and(|bytes| bytes > 0) {
                        serve(stream, count.fetch_add(1, Ordering::SeqCst));
                    }
                });
            }
        });
        Listener { address, connections }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Says nothing until the client is gone.
fn stay(mut stream: TcpStream) {
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
}

/// Passes on what comes to another server, and its answers back.
fn pass_on(mut stream: TcpStream, to: SocketAddr) {
    let Ok(mut server) = TcpStream::connect(to) else { return };
    let mut back = server.try_clone().unwrap();
    let mut forth = stream.try_clone().unwrap();
    let there = std::thread::spawn(move || {
        let _ = std::io::copy(&mut stream, &mut server);
        let _ = server.shutdown(Shutdown::Write);
    });
    let _ = std::io::copy(&mut back, &mut forth);
    let _ = forth.shutdown(Shutdown::Write);
    let _ = there.join();
}

/// A line without its figures and the units behind them.
fn shape(line: &str) -> String {
    let word = |word: &str| {
        if word.contains(|letter: char| letter.is_ascii_digit()) { "#".to_owned() } else { word.to_owned() }
    };
    line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// nginx that speaks HTTP/2 without TLS and ends each connection after 100 requests. It ends when dropped.
struct Nginx {
    child: Child,
    address: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Nginx {
    fn start() -> Option<Nginx> {
        let program = program("nginx")?;
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display();
        let address = free_address();
        let temps: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {at}/{name};\n"))
            .concat();
        let text = format!(
            "daemon off; master_process off; pid {at}/pid; error_log {at}/log; events {{}}
             http {{ access_log off; {temps} keepalive_requests 100;
             server {{ listen {address} http2; location /x {{ return 200 hello; }} }} }}"
        );
        std::fs::write(folder.path().join("nginx.conf"), text).unwrap();
        let child = Command::new(program)
            .args(["-p", &at.to_string(), "-c", &folder.path().join("nginx.conf").display().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let nginx = Nginx { child, address, _folder: folder };
        let since = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(since.elapsed() < Duration::from_secs(60), "nginx does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(nginx)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
