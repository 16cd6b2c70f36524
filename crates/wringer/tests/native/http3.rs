//! HTTP/3, client and origin: exact counts on both sides, a server that was not written here, and what goes wrong.

use crate::http2::{JSON, origin};
use crate::support::{Ran, Running, folder, free_address, program, run, shell, tell};
use crate::web::{Web, answer};
use rustix::process::Signal;
use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

fn press(address: SocketAddr, path: &str, options: &str) -> Ran {
    run(&format!("http --http 3 -k https://{address}{path} {options} {JSON}"))
}

fn at_end(origin: Running) -> impl Fn(&str) -> u64 {
    origin.signal(Signal::INT);
    let report = origin.end().ended_with(0).report();
    move |name| report.count(&format!("origin/{name}"))
}

#[test]
fn requests_share_connections_and_both_sides_count_the_same() {
    let (address, origin) = origin("--http 3");
    let report = press(address, "/w/1/3000", "-c 20 --streams 10 -t 1 -n 1000").ended_with(0).report();
    assert_eq!((report.sum("ok"), report.sum("connections"), report.sum("reused")), (1000, 2, 998));
    assert_eq!((report.sum("body_bytes"), report.sum("handshakes_full")), (3_000_000, 2));
    let frames = |name: &str| report.count(&format!("phases/0/http3/{name}"));
    assert_eq!((frames("frames_sent/HEADERS"), frames("frames_received/SETTINGS")), (1000, 2));
    // None of a payload of over 1,452 bytes.
    let datagrams = frames("quic/datagrams_received");
    assert!(datagrams >= 3_000_000 / 1452, "{datagrams} datagrams received");
    assert!(frames("quic/datagrams_sent") > 0 && frames("quic/rtt_mean_us") > 0);
    assert_eq!((frames("quic/ecn_failed"), frames("quic/ecn_marked")), (0, 0), "loopback carries ECN");
    let count = at_end(origin);
    assert_eq!((count("http3_requests"), count("requests"), count("http3_connections")), (1000, 1000, 2));
    assert_eq!((count("ecn_failed"), count("ecn_marked"), count("handshakes_resumed")), (0, 0, 0));
}

#[test]
fn the_oracle_judges_answers_as_over_http_1() {
    let (address, _origin) = origin("--http 3 --size 1KB..100KB --origin-aborts 0.05");
    let line = format!(
        "cache https://{address} -k --origin {address} --clients-only --http 3 --streams 8 -c 16 -t 1 -n 2000 --size 1KB..100KB --canaries {JSON}"
    );
    let report = run(&line).report();
    assert_eq!((report.sum("requests"), report.sum("check_failed"), report.sum("failed")), (2000, 0, 0));
    let injected = report.sum("injected");
    assert!((20..400).contains(&injected), "{injected} of 2000 were cut by the origin");
}

#[test]
fn the_origin_speaks_all_three_versions_at_one_port() {
    let (address, origin) = origin("--http 3");
    for version in ["1.1", "2", "3"] {
        let line = format!("http --http {version} -k https://{address}/w/1/500 -c 4 -t 1 -n 100 {JSON}");
        assert_eq!(run(&line).ended_with(0).report().sum("ok"), 100, "{version}");
    }
    let count = at_end(origin);
    assert_eq!((count("requests"), count("http2_requests"), count("http3_requests")), (300, 100, 100));
}

#[test]
fn what_an_origin_refuses_or_leaves_is_sent_again() {
    for (faults, told, seen) in [
        ("refused=0.1", "streams_refused", "resent"),
        ("goaway=0.02", "goaways", "goaways"),
        ("early-hints=0.3", "early_hints", "interims"),
    ] {
        let (address, origin) = origin(&format!("--http 3 --origin-stream-faults {faults} --seed 7"));
        let report = press(address, "/w/1/3000", "-c 8 --streams 4 -t 1 -n 1000").ended_with(0).report();
        assert_eq!((report.sum("ok"), report.sum("failed")), (1000, 0), "{faults}");
        let told = at_end(origin)(told);
        assert!(told > 0 && report.sum(seen) == told, "{faults}: {told} told, {} seen", report.sum(seen));
    }
}

#[test]
fn stalls_and_wrong_lengths_are_judged_right() {
    for faults in ["stalled=0.03", "wrong-length=0.1"] {
        let (address, _origin) =
            origin(&format!("--http 3 --size 1KB..50KB --origin-stream-faults {faults} --seed 7"));
        let line = format!(
            "cache https://{address} -k --origin {address} --clients-only --http 3 --streams 8 -c 8 -t 1 -n 500 --size 1KB..50KB --timeout 500ms {JSON}"
        );
        let report = run(&line).report();
        let counts = ["requests", "check_failed", "failed"].map(|name| report.sum(name));
        assert_eq!(counts, [500, 0, 0], "{faults}");
        assert!(report.sum("injected") > 0, "{faults}");
    }
}

/// Sessions are resumed, and requests go along with the first message where they may.
#[test]
fn early_requests_are_taken_or_refused_and_all_are_answered() {
    for (taken, server) in [("early_accepted", "0-rtt"), ("early_rejected", "on")] {
        let (address, origin) = origin(&format!("--http 3 --origin-resumption {server}"));
        let options = "-c 1 -t 1 -n 50 --keep-alive 1 --resumption 0-rtt";
        let report = press(address, "/w/1/500", options).ended_with(0).report();
        assert_eq!((report.sum("ok"), report.sum("connections")), (50, 50), "{server}");
        assert!(report.sum("handshakes_resumed") > 0, "{server}");
        // A server that takes no early data gives no ticket for it, so there is nothing to be refused.
        let early = report.sum(taken);
        assert_eq!(early > 0, server == "0-rtt", "{server}: {early} {taken}");
        let count = at_end(origin);
        let resumed = report.sum("handshakes_resumed");
        assert_eq!((count("handshakes"), count("handshakes_resumed")), (50, resumed), "{server}");
    }
}

#[test]
fn connections_may_move_and_bodies_go_both_ways() {
    let (address, origin) = origin("--http 3");
    let ran = shell(&format!(
        "head -c 300000 /dev/zero | tr '\\0' x > body && $WRINGER http --http 3 -k https://{address}/w/1/200000 -c 4 \
         --streams 2 -t 1 -n 400 --migrate-every 20ms --quic lab -X POST --body-file body --expect-status 204 -q --json result.json"
    ));
    let report = ran.ended_with(0).report();
    assert_eq!((report.sum("ok"), report.sum("failed")), (400, 0));
    assert_eq!(report.sum("connections"), 2);
    let count = at_end(origin);
    assert_eq!(count("requests"), 400);
    assert!(count("received_bytes") >= 400 * 300_000);
}

#[test]
fn an_open_pace_sends_what_is_due() {
    let (address, _origin) = origin("--http 3");
    let report = press(address, "/w/1/500", "--rate 500 -d 2s --in-flight 100 --streams 10 -t 1")
        .ended_with(0)
        .report();
    assert_eq!(report.sum("ok") + report.sum("overflow"), 1000);
}

#[test]
fn templates_sessions_and_journeys_work() {
    let (address, _origin) = origin("--http 3");
    let line = format!(
        "http --http 3 -k -c 6 --streams 3 -t 1 -n 200 https://{address}/w/{{{{n}}}}/800 --var n=counter:1..1000 \
         --expect-body same-length --cookies {JSON}"
    );
    let report = run(&line).ended_with(0).report();
    assert_eq!((report.sum("ok"), report.sum("body_bytes")), (200, 160_000));
}

/// Where TLS is not spoken, HTTP/3 is not, and who never answered has no round-trip time.
#[test]
fn redirections_to_plain_http_fail_by_name() {
    let web = Web::start_with_http3(|asked| {
        let to = asked.field("Host").unwrap_or_default();
        answer("302 Found", &format!("Location: http://{to}/\r\n"), "")
    });
    let line = format!("http --http 3 -k https://{}/ -c 1 -t 1 -n 1 --follow {JSON}", web.address);
    let report = run(&line).report();
    assert_eq!((report.sum("ok"), report.failures()), (1, [("not_http3".to_owned(), 1)].into()));
}

/// Nobody there, somebody who is silent, and a server of HTTP/1 and 2 alone.
#[test]
fn what_cannot_be_reached_fails_by_name_and_with_a_way_out() {
    let nobody = free_address();
    let ran = press(nobody, "/", "-c 1 -t 1 -n 2");
    assert_ne!(ran.code(), 0);
    assert!(ran.stderr.contains("nothing answers"), "{}", ran.stderr);

    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = silent.local_addr().unwrap();
    let report = press(at, "/", "-c 1 -t 1 -n 1 --connect-timeout 300ms").ended_with(1).report();
    assert_eq!(report.failures(), [("timeout".to_owned(), 1)].into());
    assert!(
        report.at("phases/0/http3/quic/rtt_mean_us").is_null(),
        "who says nothing has no round-trip time"
    );

    let (address, _origin) = origin("--http 3");
    let ran = run(&format!("http --http 3 https://{address}/w/1/500 -c 1 -t 1 -n 2 {JSON}")).ended_with(1);
    assert_eq!(ran.report().failures(), [("certificate_issuer".to_owned(), 2)].into());
    assert!(ran.stdout.contains("-k"), "{}", ran.stdout);
}

/// The first connections are written down, each a sequence of JSON texts; one that was not opened leaves no file.
#[test]
fn the_first_connections_are_written_down() {
    let (address, _origin) = origin("--http 3");
    for (users, files) in [(3, 3), (6, 4)] {
        let folder = folder();
        let logs = folder.path().join("new/logs");
        let options = format!("-c {users} -t 1 -n 300 --qlog {}", logs.display());
        let report = press(address, "/w/1/3000", &options).ended_with(0).report();
        assert_eq!((report.sum("ok"), report.sum("connections")), (300, users));
        let file_name =
            |file: std::io::Result<fs::DirEntry>| file.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(&logs).unwrap().map(file_name).collect();
        names.sort();
        let expected: Vec<_> = (1..=files).map(|number| format!("connection-{number}.sqlog")).collect();
        assert_eq!(names, expected);
        for name in names {
            let file = logs.join(name);
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            let text = fs::read_to_string(&file).unwrap();
            let records: Vec<serde_json::Value> =
                text.split('\u{1e}').skip(1).map(|record| serde_json::from_str(record).unwrap()).collect();
            assert!(records[0]["trace"]["title"].as_str().unwrap().contains(&address.to_string()));
            let named = |name: &str| records.iter().filter(|record| record["name"] == name).count();
            let told = ["packet_sent", "packet_received"].map(|name| named(&format!("transport:{name}")));
            assert!(told.iter().all(|count| *count > 10), "{told:?} in {text}");
        }
    }
    let ran = press(address, "/w/1/3000", "-c 1 -t 1 -n 1 --qlog /proc/nowhere");
    assert_ne!(ran.code(), 0);
    assert!(ran.stderr.contains("/proc/nowhere") && ran.stderr.contains("give another"), "{}", ran.stderr);
}

/// The origin dies: what was under way fails, and is told.
#[test]
fn a_server_that_dies_is_noticed() {
    let (address, origin) = origin("--http 3");
    let pressing = crate::support::wringer(&format!(
        "http --http 3 -k https://{address}/w/1/500 -c 4 --streams 4 -t 1 -d 3s --timeout 1s {JSON}"
    ));
    std::thread::sleep(Duration::from_millis(1200));
    origin.signal(Signal::KILL);
    let ran = pressing.end();
    assert_ne!(ran.code(), 0);
    let report = ran.report();
    assert!(report.sum("failed") + report.sum("unfinished") > 0, "{}", ran.stdout);
    assert!(!ran.stdout.contains("\n  valid "), "{}", ran.stdout);
}

/// Caddy speaks HTTP/3 by quic-go.
#[test]
fn caddy_answers() {
    let Some(caddy) = program("caddy") else { return tell("caddy is not installed: not tried") };
    let folder = tempfile::tempdir().unwrap();
    let port = free_address().port();
    let path = folder.path().display();
    std::fs::write(
        folder.path().join("Caddyfile"),
        format!(
            "{{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tstorage file_system {path}/data\n}}\n\
             https://localhost:{port} {{\n\ttls internal\n\trespond \"hello from caddy\"\n}}\n"
        ),
    )
    .unwrap();
    let mut server = std::process::Command::new(caddy)
        .args(["run", "--adapter", "caddyfile", "--config"])
        .arg(folder.path().join("Caddyfile"))
        .env("HOME", folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let line =
        format!("http --http 3 -k https://localhost:{port}/ -c 8 --streams 4 -t 1 -n 500 --ready 30s {JSON}");
    let ran = run(&line);
    server.kill().unwrap();
    server.wait().unwrap();
    let report = ran.ended_with(0).report();
    assert_eq!((report.sum("ok"), report.sum("body_bytes"), report.sum("connections")), (500, 8000, 2));
}
