//! Facts that only two ends can see of connections that requests share: what the origin does of requests that clients broke off,
//! how evenly answers share a connection, and what hosts share one.

use crate::http2::{JSON, origin};
use crate::support::{Report, folder, free_address, program, run, tell};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Eight requests whose clients lose patience long before the origin answers.
const IMPATIENT: &str = "--timeout 1s --no-store 1 --size 20KB -t 1 -c 8 -n 8";

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
    // So many at a time that two nonces meet wherever each has one place alone.
    let address = free_address();
    let many = IMPATIENT.replace("-c 8 -n 8", "-c 400 -n 400");
    let figures = after_reset(&format!("{address} --origin {address} --origin-delay 30s {many}"));
    assert_eq!((figures.count("broken_off"), figures.count("ended_early")), (400, 400));
}

/// Handshakes that are slow do not have each due request begin another.
#[test]
fn a_rate_opens_so_many_connections_at_once_at_most() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = server.local_addr().expect("it is bound");
    let accepted = Arc::new(Mutex::new(Vec::new()));
    let kept = accepted.clone();
    // It says nothing, so that no handshake ends.
    thread::spawn(move || server.incoming().flatten().for_each(|stream| kept.lock().unwrap().push(stream)));
    let line =
        format!("http https://{address}/ -k --http 2 --rate 400 -d 500ms -t 1 --connect-timeout 20s {JSON}");
    let report = run(&line).report();
    assert_eq!(report.sum("requests"), 200);
    // Sixteen, and who looked before whether somebody listens.
    let opened = accepted.lock().unwrap().len();
    assert!((16..=18).contains(&opened), "{opened} connections for 200 requests");
}

/// Connections that an open pace needs because streams are taken are told as such.
#[test]
fn connections_opened_for_want_of_a_stream_are_told() {
    let address = free_address();
    let mut origin =
        crate::support::wringer(&format!("origin --listen {address} -t 1 -q --origin-delay 300ms"));
    origin.wait_for("listens at");
    for (streams, most) in [(1, 40), (20, 3)] {
        let line = format!(
            "http --http 2c http://{address}/w/1/300 --rate 40 -n 40 -t 1 --streams {streams} {JSON}"
        );
        let ran = run(&line);
        let report = ran.report();
        let opened = report.sum("connections");
        let for_want = report.count("measured/http2/opened_for_want");
        assert_eq!(report.sum("ok"), 40, "{}", ran.stdout);
        assert_eq!(for_want + 1, opened, "{}", ran.stdout);
        assert!(opened <= most, "{opened} of {streams} streams");
        assert_eq!(ran.stdout.contains("opened for want of a free stream"), for_want > 0, "{}", ran.stdout);
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
            assert_eq!(figures.count("broken_off"), 16, "{http}");
            // On a busy machine one may be given up before the proxy has asked.
            assert!(figures.count("not_seen") < 8, "{http}");
            assert!(figures.count("ended_early") > 0, "{http}");
        }
    }
    if program("nginx").is_none() {
        return tell("nginx is not installed, so nobody tried whether its cache goes on");
    }
    let patient = IMPATIENT.replace("--no-store 1 ", "");
    let figures = after_reset(&format!("--rig nginx --origin-delay 1700ms {patient}"));
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

/// Short ones, those that count when they have ended, and those that count as they come.
#[test]
fn bodies_that_nobody_looks_at_are_counted_to_the_byte() {
    for (http, of_origin, any) in [("2c", "", ""), ("2", "--tls", "-k"), ("3", "--http 3", "-k")] {
        let (address, _origin) = origin(of_origin);
        let scheme = if any.is_empty() { "http" } else { "https" };
        for bytes in [3_000, 100_000, 1_000_000_u64] {
            let url = format!("{scheme}://{address}/w/1/{bytes}");
            let line = format!("http --http {http} {url} {any} -t 1 -c 8 --streams 4 -n 80 {JSON}");
            let report = run(&line).ended_with(0).report();
            let counted = (report.sum("ok"), report.sum("body_bytes"));
            assert_eq!(counted, (80, 80 * bytes), "{http}, {bytes} bytes");
        }
    }
}

/// 400 requests for two hosts in turn, both at one address.
fn for_two_hosts(http: &str, address: SocketAddr, options: &str) -> Report {
    let (scheme, any) = if http == "2c" { ("http", "") } else { ("https", "-k") };
    let port = address.port();
    let line = format!(
        "http --http {http} {any} {scheme}://a.test:{port}/w/1/500 {scheme}://b.test:{port}/w/2/500 \
         --connect-to ::{address} -t 1 -c 4 --streams 4 -n 400 {options} {JSON}"
    );
    run(&line).ended_with(0).report()
}

/// Connections, requests over those of another host, and requests that were answered 421.
fn shared(report: &Report, http: &str) -> (u64, u64, u64) {
    let name = if http == "3" { "http3" } else { "http2" };
    let count = |field: &str| report.count(&format!("phases/0/{name}/{field}"));
    assert_eq!((report.sum("ok"), report.sum("failed")), (400, 0), "{http}");
    (report.sum("connections"), count("coalesced"), count("misdirected"))
}

#[test]
fn hosts_share_a_connection_where_that_is_asked_for() {
    for (http, of_origin) in [
        ("2c", ""),
        ("2", "--tls --origin-names a.test,b.test"),
        ("3", "--http 3 --origin-names a.test,b.test"),
    ] {
        let (address, _origin) = origin(of_origin);
        let alone = for_two_hosts(http, address, "");
        let (connections, coalesced, _) = shared(&alone, http);
        assert!(connections >= 2 && coalesced == 0, "{http}: {connections} {coalesced}");
        let together = for_two_hosts(http, address, "--coalesce");
        assert_eq!(shared(&together, http), (1, 200, 0), "{http}");
    }
}

#[test]
fn a_certificate_for_one_host_is_not_enough() {
    let (address, _origin) = origin("--tls --origin-names a.test");
    let report = for_two_hosts("2", address, "--coalesce");
    let (connections, coalesced, _) = shared(&report, "2");
    // b.test's connection, shown the same certificate, is one for a.test, too.
    assert!(connections >= 2 && coalesced <= 200, "{connections} {coalesced}");
}

#[test]
fn what_is_misdirected_goes_over_a_connection_of_its_own() {
    for (http, of_origin) in [
        ("2c", ""),
        ("2", "--tls --origin-names a.test,b.test"),
        ("3", "--http 3 --origin-names a.test,b.test"),
    ] {
        let (address, origin) = origin(&format!("{of_origin} --origin-stream-faults misdirected=1"));
        let report = for_two_hosts(http, address, "--coalesce");
        let (connections, coalesced, misdirected) = shared(&report, http);
        assert!(connections >= 2, "{http}");
        // Until it is known, each request of the group may meet it, in either direction.
        assert!(
            (1..=8).contains(&misdirected) && coalesced == misdirected,
            "{http}: {coalesced} {misdirected}"
        );
        origin.signal(Signal::INT);
        assert_eq!(origin.end().report().count("origin/misdirected"), misdirected, "{http}");
    }
}

/// Where httpd's modules are, by distribution.
const MODULES: [&str; 3] =
    ["/usr/lib/apache2/modules", "/usr/lib64/httpd/modules", "/usr/local/apache2/modules"];

/// An httpd with two hosts over TLS at one address, and one certificate for both; it is ended when dropped.
struct Httpd {
    address: SocketAddr,
    child: Child,
    folder: TempDir,
}

impl Drop for Httpd {
    fn drop(&mut self) {
        // It ends its own children, which a kill would leave behind.
        if let Some(id) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process(id, Signal::TERM);
        }
        let _ = self.child.wait();
    }
}

impl Httpd {
    /// `of_b`: what the second host has of its own.
    fn start(of_b: &str) -> Option<Httpd> {
        let program = program("apache2")?;
        let modules = MODULES.iter().find(|at| Path::new(at).is_dir())?;
        let folder = folder();
        let address = free_address();
        let at = folder.path().display();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it is ours");
        let key = rcgen::KeyPair::generate().expect("a key");
        let names = ["a.test", "b.test"].map(str::to_owned);
        let params = rcgen::CertificateParams::new(names).expect("names");
        write("crt.pem", &params.self_signed(&key).expect("a certificate").pem());
        write("key.pem", &key.serialize_pem());
        write("page", "hello\n");
        let load = ["mpm_event", "authz_core", "ssl", "http2"].map(|name| {
            format!(
                "<IfModule !{name}_module>\nLoadModule {name}_module {modules}/mod_{name}.so\n</IfModule>\n"
            )
        });
        let host = |name: &str, more: &str| {
            format!(
                "<VirtualHost *:{}>\nServerName {name}\nSSLEngine on\nSSLCertificateFile {at}/crt.pem\n\
                 SSLCertificateKeyFile {at}/key.pem\n{more}\n</VirtualHost>\n",
                address.port()
            )
        };
        let text = format!(
            "ServerRoot {at}\nServerName localhost\nPidFile {at}/pid\nDefaultRuntimeDir {at}\nErrorLog {at}/log\n{}\
             User #65534\nGroup #65534\nListen {address}\nProtocols h2 http/1.1\nMaxKeepAliveRequests 0\n\
             SSLSessionCache none\nDocumentRoot {at}\n{}{}",
            load.concat(),
            host("a.test", ""),
            host("b.test", of_b)
        );
        write("conf", &text);
        // Where the test is run by root, httpd serves as nobody.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
        let mut command = Command::new(program);
        command.arg("-f").arg(folder.path().join("conf")).arg("-DFOREGROUND");
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let httpd = Httpd { address, child, folder };
        let since = Instant::now();
        while TcpStream::connect(address).is_err() {
            let log = fs::read_to_string(httpd.folder.path().join("log")).unwrap_or_default();
            assert!(since.elapsed() < Duration::from_secs(60), "httpd does not come up: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(httpd)
    }
}

/// httpd answers 421 by itself where two hosts differ in their TLS.
#[test]
fn httpd_says_which_hosts_may_share_a_connection() {
    for (of_b, shares) in [("", true), ("SSLCipherSuite ECDHE-ECDSA-AES256-GCM-SHA384", false)] {
        let Some(httpd) = Httpd::start(of_b) else {
            return tell("httpd is not installed, so nobody tried what it says of two hosts");
        };
        let port = httpd.address.port();
        let address = httpd.address;
        let line = format!(
            "http --http 2 -k https://a.test:{port}/page https://b.test:{port}/page --connect-to ::{address} \
             -t 1 -c 4 --streams 4 -n 400 --coalesce {JSON}"
        );
        let (connections, coalesced, misdirected) = shared(&run(&line).ended_with(0).report(), "2");
        match shares {
            true => assert_eq!((connections, coalesced, misdirected), (1, 200, 0)),
            false => {
                assert!(connections >= 2 && misdirected > 0 && coalesced == misdirected, "{misdirected}");
            }
        }
    }
}
