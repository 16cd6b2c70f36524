//! TLS from outside: our clients and our origin, nginx between or instead of them, and peers that end the handshake or
//! what follows it in every way there is.

use crate::support::{Ran, Report, Running, free_address, program, run, start, wringer};
use crate::tls_peer::{self, Ending};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustix::process::Signal;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// An origin over TLS; its certificate is in the folder as `origin.pem`.
struct Origin {
    address: SocketAddr,
    running: Running,
    folder: TempDir,
}

impl Origin {
    fn start(options: &str) -> Origin {
        let address = free_address();
        let folder = crate::support::folder();
        let saved = file(folder.path(), "origin.pem");
        let line = format!(
            "origin --tls --listen {address} -t 2 -q --json {{}}/result.json --origin-save-cert {saved} {options}"
        );
        let mut running = wringer(&line);
        running.wait_for("listens at");
        Origin { address, running, folder }
    }

    fn certificate(&self) -> String {
        file(self.folder.path(), "origin.pem")
    }

    fn end(self) -> Report {
        self.running.signal(Signal::INT);
        self.running.end().ended_with(0).report()
    }
}

fn file(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// Clients that press an address over TLS.
fn clients(address: SocketAddr, options: &str) -> Ran {
    run(&format!("cache https://{address} --clients-only -t 2 -q --json {{}}/result.json --seed 7 {options}"))
}

/// How handshakes of the clients were counted: full, resumed, early data taken and refused.
fn handshakes(report: &Report) -> [u64; 4] {
    ["handshakes_full", "handshakes_resumed", "early_accepted", "early_rejected"].map(|name| report.sum(name))
}

/// An authority and a certificate that it vouches for, as files `ca.pem`, `cert.pem` and `key.pem`.
fn certificates(folder: &Path, name: &str) {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "authority of a test");
    let key = KeyPair::generate().expect("a key");
    let authority = params.self_signed(&key).expect("a certificate").pem();
    let issuer = Issuer::new(params, key);
    let own = KeyPair::generate().expect("a key");
    let names = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    let certificate = names.signed_by(&own, &issuer).expect("a certificate").pem();
    for (name, text) in [("ca.pem", authority), ("cert.pem", certificate), ("key.pem", own.serialize_pem())] {
        fs::write(folder.join(name), text).expect("the folder is ours");
    }
}

/// Handshakes are complete at both ends before there is a request to go along with their end.
#[test]
fn connections_that_are_opened_beforehand_have_shaken_hands() {
    let origin = Origin::start("");
    let options = format!("--rate 20 -n 5 --in-flight 4 --preconnect 4 --ca {}", origin.certificate());
    let ran = clients(origin.address, &options).ended_with(0);
    assert!(ran.stdout.contains("4 connections opened, 4 of them before the load began"), "{}", ran.stdout);
    let report = ran.report();
    assert_eq!([report.sum("ok"), report.sum("connections"), report.sum("preconnected")], [5, 4, 4]);
    assert_eq!(handshakes(&report), [4, 0, 0, 0]);
    assert_eq!(report.count("measured/latency/tls/count"), 4);
    // Two more ask the origin whether it is there, and for its figures.
    assert_eq!(origin.end().count("origin/handshakes"), 4 + 2);
}

#[test]
fn our_clients_and_our_origin_agree() {
    let origin = Origin::start("");
    for (versions, suite) in [
        ("1.3", "TLS_AES_128_GCM_SHA256"),
        ("1.3", "TLS_CHACHA20_POLY1305_SHA256"),
        ("1.2", "ECDHE-ECDSA-AES256-GCM-SHA384"),
    ] {
        let options = format!(
            "-n 400 -c 4 --tls-versions {versions} --tls-ciphers {suite} --ca {}",
            origin.certificate()
        );
        let report = clients(origin.address, &options).ended_with(0).report();
        assert_eq!((report.sum("ok"), report.notes()), (400, String::new()), "{suite}");
        assert_eq!(handshakes(&report), [4, 0, 0, 0], "{suite}");
        for metric in ["tls", "connect", "first_byte_new", "service_new"] {
            assert_eq!(report.count(&format!("measured/latency/{metric}/count")), 4, "{metric}");
        }
        assert_eq!(report.count("measured/latency/service_reused/count"), 396);
    }
    let report = origin.end();
    assert!(report.count("origin/handshakes") >= 12 && report.count("origin/malformed") == 0);
}

/// Bodies longer than records, ranges, aborts, slow clients, and an origin that cuts and chunks.
#[test]
fn everything_else_works_over_tls_too() {
    let origin = Origin::start("--origin-chunked 0.3 --origin-aborts 0.05");
    let mix = "-n 600 -c 8 --size 1KB..300KB --range 0.2 --abort 0.1 --client-speed 3MB --slow 0.05";
    for check in ["all", "nothing"] {
        let options = format!("{mix} --check {check} --insecure");
        let report = clients(origin.address, &options).report();
        assert_eq!(report.sum("check_failed") + report.sum("failed"), 0, "{check}: {:?}", report.failures());
        assert!(report.sum("aborted") > 20 && report.sum("injected") > 5, "{check}");
        assert_eq!(report.sum("requests"), 600);
    }
    origin.end();
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused_unless_told_otherwise() {
    let origin = Origin::start("--origin-names origin.test");
    certificates(origin.folder.path(), "origin.test");
    let other = file(origin.folder.path(), "ca.pem");
    let ran = clients(origin.address, &format!("-n 20 -c 2 --ca {other}")).ended_with(1);
    let report = ran.report();
    assert_eq!(report.failures().into_iter().collect::<Vec<_>>(), [("certificate_issuer".to_owned(), 20)]);
    assert_eq!(report.list("measured/failures")[0].text("stage"), "tls");
    assert!(ran.stdout.contains("TLS handshake: certificate of an unknown issuer"), "{}", ran.stdout);
    let ours = origin.certificate();
    for (options, failure) in [
        (format!("--ca {ours}"), Some("certificate_name")),
        (format!("--ca {ours} --sni origin.test"), None),
        ("--insecure".to_owned(), None),
    ] {
        let report = clients(origin.address, &format!("-n 20 -c 2 {options}")).report();
        let failures = report.failures();
        assert_eq!(failures.keys().next().map(String::as_str), failure, "{options}");
        assert_eq!(report.sum("ok"), if failure.is_some() { 0 } else { 20 }, "{options}");
    }
    assert!(origin.end().count("origin/handshakes_failed") >= 40);
}

/// Where the system's certificates are installed, they do not vouch for ours.
#[test]
fn verification_is_the_default() {
    let origin = Origin::start("");
    let ran = clients(origin.address, "-n 10 -c 2").ended_with(1);
    if ran.stderr.contains("trusts no certificate authority") {
        assert!(ran.stderr.contains("--ca") && ran.stderr.contains("--insecure"), "{}", ran.stderr);
    } else {
        assert_eq!(ran.report().failures().get("certificate_issuer"), Some(&10));
    }
    origin.end();
}

#[test]
fn figures_are_sent_over_tls_to_whom_this_machine_trusts() {
    // It takes no POST: its answer is told, which it could not be without a connection.
    let receiver = Origin::start("--origin-names localhost");
    let target = Origin::start("");
    let line = format!(
        "cache https://{} --clients-only -k -n 50 -t 1 --no-keep --otlp=https://localhost:{}",
        target.address,
        receiver.address.port()
    );
    let sent = |authorities: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wringer"));
        let ran = command.args(line.split(' ')).env("SSL_CERT_FILE", authorities).output().expect("it runs");
        String::from_utf8_lossy(&ran.stderr).into_owned()
    };
    let trusted = sent(&receiver.certificate());
    assert!(trusted.contains("could not be sent to OTLP") && trusted.contains("answer 404"), "{trusted}");
    let unknown = sent(&target.certificate());
    assert!(unknown.contains("could not be sent to OTLP") && unknown.contains("certificate"), "{unknown}");
    receiver.end();
    target.end();
}

#[test]
fn a_client_certificate_is_demanded() {
    let folder = crate::support::folder();
    certificates(folder.path(), "a client");
    let at = |name| file(folder.path(), name);
    let origin = Origin::start(&format!("--origin-client-ca {}", at("ca.pem")));
    let without = clients(origin.address, "-n 20 -c 2 --insecure").ended_with(1).report();
    assert_eq!(without.failures().into_iter().collect::<Vec<_>>(), [("tls_alert".to_owned(), 20)]);
    // certificate_required, RFC 8446 section 6.2.
    assert_eq!(without.list("measured/failures")[0].count("alert"), 116);
    let own = format!("--cert {} --key {}", at("cert.pem"), at("key.pem"));
    let with = clients(origin.address, &format!("-n 20 -c 2 --insecure {own}")).ended_with(0).report();
    assert_eq!(with.sum("ok"), 20);
    origin.end();
}

#[test]
fn a_client_certificate_may_lie_in_a_keystore() {
    const STORE: &[u8] = include_bytes!("../../../wire/tests/data/keystores/java.p12");
    let folder = crate::support::folder();
    let at = |name| file(folder.path(), name);
    std::fs::write(at("java.p12"), STORE).unwrap();
    std::fs::write(at("password"), "geheim\n").unwrap();
    for alias in ["first", "second"] {
        let identity = wire::tls::Identity::of_keystore(STORE, "geheim", Some(alias)).unwrap();
        std::fs::write(at("ca.pem"), identity.certificates().to_pem()).unwrap();
        let origin = Origin::start(&format!("--origin-client-ca {}", at("ca.pem")));
        let store = format!("--keystore {} --keystore-password file:{}", at("java.p12"), at("password"));
        let base = format!("-n 20 -c 2 --insecure {store}");
        let with =
            clients(origin.address, &format!("{base} --keystore-alias {alias}")).ended_with(0).report();
        assert_eq!(with.sum("ok"), 20, "{alias}");
        // Without a name it is the first key.
        let first = clients(origin.address, &base).report();
        assert_eq!(first.sum("ok"), if alias == "first" { 20 } else { 0 });
        if alias == "first" {
            let jmx = crate::jmeter::KEYSTORE.replace("PORT", &origin.address.port().to_string());
            std::fs::write(at("plan.jmx"), jmx).unwrap();
            let plan = at("plan.jmx");
            let store = format!("-Djavax.net.ssl.keyStore={}", at("java.p12"));
            let password = format!("-Djavax.net.ssl.keyStorePassword=file:{}", at("password"));
            let ran = start(["jmeter", "-n", "-t", &plan, "-l", "{}/out.jtl", &store, &password])
                .end()
                .ended_with(0);
            assert_eq!(ran.file("out.jtl").matches(",404,").count(), 3, "{}", ran.file("out.jtl"));
            let ran = start(["jmeter", "-n", "-t", &plan]).end();
            assert!(ran.stderr.contains("no keystore is named"), "{}", ran.stderr);
        }
        origin.end();
    }
    let address = "127.0.0.1:1".parse().unwrap();
    for (options, said) in [
        (format!("--keystore {} --keystore-password env:NO_SUCH", at("java.p12")), "NO_SUCH"),
        (
            format!("--keystore {} --keystore-password geheim --keystore-alias third", at("java.p12")),
            "but these: first, second",
        ),
        (format!("--keystore {} --keystore-password wrong", at("java.p12")), "its password is another one"),
        (format!("--keystore {} --keystore-password x", at("ca.pem")), "no keystore of PKCS #12"),
        (format!("--keystore {}", at("java.p12")), "--keystore-password"),
    ] {
        let ran = clients(address, &format!("-n 1 {options}"));
        assert!(ran.stderr.contains(said), "{options}: {}", ran.stderr);
        assert!(!ran.stderr.contains("geheim") && !ran.stderr.contains("wrong"), "{}", ran.stderr);
    }
}

#[test]
fn handshakes_are_counted_as_full_resumed_and_early() {
    for (version, early) in [("1.2", false), ("1.3", true)] {
        let mut taken = 0;
        let origin = Origin::start("--origin-resumption 0-rtt");
        let base = format!("-n 100 -c 4 --keep-alive 1 --insecure --tls-versions {version}");
        let report = |more: &str| clients(origin.address, &format!("{base} {more}")).ended_with(0).report();
        assert_eq!(handshakes(&report("--resumption off")), [100, 0, 0, 0], "{version}");
        assert_eq!(handshakes(&report("--resumption on")), [4, 96, 0, 0], "{version}");
        if early {
            let report = report("--resumption 0-rtt");
            assert_early(&report);
            assert_eq!(report.count("measured/latency/tls/count"), 100);
            taken = report.sum("early_accepted");
        }
        let report = origin.end();
        assert_eq!(report.count("origin/early_accepted"), taken);
        assert!(report.count("origin/handshakes_resumed") >= 96);
    }
}

/// Of a hundred connections most resume, and all of those with early data. Not all do: a server sends new tickets when the
/// handshake is complete, and a client that has its answer before that is gone.
fn assert_early(report: &Report) {
    let [full, resumed, taken, refused] = handshakes(report);
    assert_eq!((full + resumed, taken, refused), (100, resumed, 0));
    assert!(resumed >= 60, "{full} full, {resumed} resumed");
}

/// An origin that lets nobody resume gets a full handshake for each connection, whatever clients hope for.
#[test]
fn an_origin_that_resumes_nothing() {
    let origin = Origin::start("--origin-resumption off");
    for resumption in ["on", "0-rtt"] {
        let options = format!("-n 60 -c 4 --keep-alive 1 --insecure --resumption {resumption}");
        let report = clients(origin.address, &options).ended_with(0).report();
        assert_eq!(handshakes(&report), [60, 0, 0, 0], "{resumption}");
    }
    origin.end();
}

#[test]
fn a_web_server_over_tls() {
    let origin = Origin::start("");
    let url = |host: &str, path: &str| format!("https://{host}:{}{path}", origin.address.port());
    let urls = format!("{} {}", url("127.0.0.1", "/w/1f/300"), url("localhost", "/w/2f/90000"));
    let base = "http -t 1 -c 4 -q --json {}/result.json";
    let trusting = format!("{base} --ca {}", origin.certificate());
    let report = run(&format!("{trusting} -n 400 --expect-body same {urls}")).ended_with(0).report();
    assert_eq!((report.sum("ok"), report.sum("check_failed")), (400, 0));
    let [full, resumed, ..] = handshakes(&report);
    assert_eq!(full + resumed, report.sum("connections"));
    assert!(resumed > 0, "users go from one host to the other and come back");
    let one = url("localhost", "/w/1f/300");
    let report =
        run(&format!("{trusting} -n 100 --keep-alive 1 --resumption off {one}")).ended_with(0).report();
    assert_eq!(handshakes(&report), [100, 0, 0, 0]);
    let refused = run(&format!("{base} -n 10 {}", url("localhost", "/"))).code();
    assert_eq!(refused, 1, "verification is the default");
    let without =
        run(&format!("{base} -n 10 --insecure --expect-status 404 {}", url("localhost", "/"))).ended_with(0);
    assert_eq!(without.report().sum("ok"), 10);
    for (line, words) in [
        ("http http://h/ --ca x", ["--ca", "https://"]),
        ("http https://h/ --proxy https://p:1", ["TLS within the TLS", "proxy"]),
    ] {
        run(line).refused_with(2, &words);
    }
    origin.end();
}

/// jtest goes to https hosts itself, or through a tunnel of the proxy, and verifies nobody.
#[test]
fn jtest_fetches_https_urls() {
    let origin = Origin::start("");
    let urls = format!(
        "https://{0}/w/1f/300 https://localhost:{1}/w/2f/70000",
        origin.address,
        origin.address.port()
    );
    let base = "jtest -c 2 -D 7 -k 9 --urls-order random --json {}/result.json";
    let ran = run(&format!("{base} -p 0 -A 200 {urls}")).ended_with(0);
    let report = ran.report();
    assert_eq!((report.sum("ok"), report.sum("requests")), (200, 200), "{}", ran.stderr);
    let [full, resumed, ..] = handshakes(&report);
    assert!(full + resumed >= 20 && resumed > full, "{full} full, {resumed} resumed");
    let refused = run(&format!("{base} -P 127.0.0.1 -p 1 {urls}")).ended_with(1);
    assert!(refused.stderr.contains("nothing answers at 127.0.0.1:1"), "{}", refused.stderr);
    origin.end();
}

#[test]
fn every_way_to_end_a_connection_has_a_name_and_a_stage() {
    for ending in Ending::ALL {
        let address = tls_peer::start(ending);
        // Users who cannot connect pause, so that few requests take a moment; more would only take longer.
        let options = "-n 12 -c 3 --insecure --connect-timeout 200ms --timeout 400ms";
        let report = clients(address, options).report();
        let found: Vec<(String, String, u64)> = report
            .list("measured/failures")
            .iter()
            .map(|entry| {
                (entry.text("kind").to_owned(), entry.text("stage").to_owned(), entry.count("count"))
            })
            .collect();
        let (kind, stage) = ending.failure();
        assert_eq!(found, [(kind.to_owned(), stage.to_owned(), 12)], "{ending:?}");
        assert_eq!(report.sum("requests"), 12, "{ending:?}");
    }
}

/// Whoever bothers the origin is counted, and others are served meanwhile.
#[test]
fn an_origin_survives_what_is_no_handshake() {
    let origin = Origin::start("");
    let before = clients(origin.address, "-n 10 -c 1 --insecure")
        .ended_with(0)
        .report()
        .count("origin/handshakes_failed");
    let messages: [&[u8]; 6] = [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x00\x05noise",
        // The beginning of a first message.
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        // A record longer than any may be.
        b"\x16\x03\x01\xff\xff",
        // An alert before anything else: user_canceled.
        b"\x15\x03\x01\x00\x02\x01\x5a",
    ];
    for message in messages {
        let mut stream = TcpStream::connect(origin.address).expect("it listens");
        stream.write_all(message).expect("it reads");
        stream.shutdown(Shutdown::Write).expect("it is connected");
        // Its alert, if it has one to send, and the end.
        let mut answer = Vec::new();
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("not zero");
        let ended = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer[0] == 21, "{message:?}: {answer:?}");
        assert!(
            !matches!(&ended, Err(error) if error.kind() == ErrorKind::WouldBlock),
            "{message:?} is never ended"
        );
    }
    let report = clients(origin.address, "-n 50 -c 4 --insecure").ended_with(0).report();
    assert_eq!(report.sum("ok"), 50);
    assert!(origin.end().count("origin/handshakes_failed") >= before + 6);
}

#[test]
fn options_that_mean_nothing_are_refused() {
    for (line, words) in [
        ("cache 127.0.0.1:1 --insecure", ["--insecure", "https://"]),
        ("cache 127.0.0.1:1 --sni x", ["--sni", "https://"]),
        ("cache --origin-tls", ["demonstration cache", "PROXY"]),
        ("cache https://h:1 --insecure --ca x", ["--insecure", "--ca"]),
        ("cache https://h:1 --cert x", ["--key", "--cert"]),
        ("cache https://h:1 --tls-versions 1.1", ["1.1", "1.2"]),
        ("cache https://h:1 --tls-ciphers RC4", ["RC4", "TLS_AES_128_GCM_SHA256"]),
        ("cache https://127.0.0.1:1 --tls-versions 1.2 --resumption 0-rtt", ["0-rtt", "1.3"]),
        ("origin --origin-cert x", ["--origin-key", "--origin-cert"]),
        ("cache https://127.0.0.1:1 --ca /nowhere/ca.pem", ["/nowhere/ca.pem", "cannot be read"]),
        ("origin --tls --origin-cert /nowhere/a --origin-key /nowhere/b", ["/nowhere/a", "cannot be read"]),
    ] {
        run(line).refused_with(2, &words);
    }
    run("origin --tls --origin-client-ca /dev/null -q")
        .refused_with(2, &["/dev/null", "no certificate in it"]);
    run("origin --tls --origin-save-cert /nowhere/x -q")
        .refused_with(1, &["/nowhere/x", "cannot be written"]);
}

#[test]
fn a_plan_keeps_what_was_typed() {
    let line = "cache https://127.0.0.1:1 --cert c.pem --key k.pem --ca a.pem --sni s.test --tls-versions 1.3 \
                --tls-ciphers TLS_AES_128_GCM_SHA256 --resumption 0-rtt --origin-tls --origin-names x.test \
                --origin-client-ca o.pem --origin-save-cert w.pem --origin-resumption off --origin-tls-versions 1.2,1.3 \
                --origin-tls-ciphers TLS_AES_128_GCM_SHA256,ECDHE-ECDSA-AES128-GCM-SHA256 --seed 1 --show-plan";
    let shown = run(line).ended_with(0).stdout;
    let again = crate::support::shell(&format!(
        "cat > p.toml <<'E'\n{shown}E\n$WRINGER plan show p.toml && $WRINGER plan check p.toml"
    ));
    assert_eq!(again.ended_with(0).stdout, format!("{shown}p.toml: nothing wrong\n"));
    for word in
        ["c.pem", "k.pem", "a.pem", "s.test", "\"1.3\"", "\"0-rtt\"", "x.test", "o.pem", "w.pem", "\"off\""]
    {
        assert!(shown.contains(word), "{word} in {shown}");
    }
}

/// nginx ends TLS in front of the origin, and speaks it to the origin, whose certificate it verifies.
/// As curl's `-v` has it: what a server shows is told before the request, and where it is not trusted, too.
#[test]
fn certificates_are_told_of_single_requests() {
    let origin = Origin::start("");
    let url = format!("https://{}/", origin.address);
    let untrusted = run(&format!("http -v {url}")).ended_with(1);
    let trusted = run(&format!("http -v {url} -k --expect-status 2xx,4xx")).ended_with(0);
    for ran in [&untrusted, &trusted] {
        for words in [
            "* certificate that 127.0.0.1 showed\n*   subject CN=",
            " UTC to ",
            "127.0.0.1",
            "EC P-256, 256 bits",
        ] {
            assert!(ran.stdout.contains(words), "{words} in {}", ran.stdout);
        }
    }
    let told = |ran: &Ran, words: &str| {
        ran.stdout.find(words).unwrap_or_else(|| panic!("{words} in {}", ran.stdout))
    };
    told(&untrusted, "no answer\n*   ended after ");
    told(&untrusted, "failed: TLS handshake: certificate of an unknown issuer");
    let order =
        ["* certificate", "* TLS 1.3, ", "> GET / HTTP/1.1", "< HTTP/1.1 ", "*   connected in ", ", TLS in "];
    let places = order.map(|words| told(&trusted, words));
    assert!(places.is_sorted(), "{places:?} in {}", trusted.stdout);
    origin.end();
}

#[test]
fn nginx_is_a_peer_on_both_sides() {
    let Some(nginx) = program("nginx") else { skip!("nginx is not installed") };
    let origin = Origin::start("--variants 2 --size 3KB");
    let listen = free_address();
    let folder = origin.folder.path();
    certificates(folder, "proxy.test");
    let _nginx = Nginx::start(&nginx, folder, &configuration(folder, listen, origin.address));
    let base =
        format!("--ca {} --sni proxy.test --hot 50 --size 3KB --variants 2 -c 4", file(folder, "ca.pem"));
    let report = clients(listen, &format!("{base} -n 400")).ended_with(0).report();
    assert_eq!((report.sum("ok"), report.notes_but("had no Age")), (400, String::new()));
    assert!(report.sum("hits") > 100 && report.count("origin/full") > 10);
    let options = format!("{base} -n 100 --keep-alive 1 --hit-ratio 1");
    let with = |more: &str| clients(listen, &format!("{options} {more}")).ended_with(0).report();
    assert_eq!(handshakes(&with("--tls-versions 1.2 --resumption on")), [4, 96, 0, 0]);
    assert_eq!(handshakes(&with("--tls-versions 1.3 --resumption on")), [4, 96, 0, 0]);
    assert_eq!(handshakes(&with("--resumption off")), [100, 0, 0, 0]);
    assert_early(&with("--resumption 0-rtt"));
    let direct = format!("http https://{listen}/w/1f/3000 -n 200 -c 4 -q --json {{}}/result.json");
    let verified =
        run(&format!("{direct} --ca {} --sni proxy.test", file(folder, "ca.pem"))).ended_with(0).report();
    assert_eq!((verified.sum("ok"), handshakes(&verified)), (200, [4, 0, 0, 0]));
    // OpenSSL takes what the client names first.
    for (options, suite) in [
        ("", "TLS 1.3, TLS_AES_128_GCM_SHA256"),
        ("--tls-versions 1.2", "TLS 1.2, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
        ("--tls-ciphers TLS_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256", "TLS 1.3, TLS_AES_256_GCM_SHA384"),
    ] {
        let shown = run(&format!("http https://{listen}/w/1f/3000 -n 1 -v -k {options}")).ended_with(0);
        let said = [&shown.stdout[..], &shown.stderr].concat();
        assert!(said.contains(suite), "{suite}: {said}");
    }
    let report = origin.end();
    assert!(report.count("origin/handshakes") > 0 && report.count("origin/handshakes_failed") < 3);
}

fn configuration(folder: &Path, listen: SocketAddr, origin: SocketAddr) -> String {
    let at = |name| file(folder, name);
    format!(
        "daemon off;\nmaster_process off;\npid {pid};\nerror_log {log} error;\nevents {{}}\nhttp {{\n\
         access_log off;\nclient_body_temp_path {temp};\nproxy_temp_path {temp};\nfastcgi_temp_path {temp};\n\
         uwsgi_temp_path {temp};\nscgi_temp_path {temp};\nkeepalive_requests 1000000;\n\
         proxy_cache_path {cache} keys_zone=c:8m;\n\
         upstream origin {{ server {origin}; keepalive 16; }}\n\
         server {{\nlisten {listen} ssl;\nssl_certificate {cert};\nssl_certificate_key {key};\n\
         ssl_protocols TLSv1.2 TLSv1.3;\nssl_early_data on;\nssl_session_cache shared:s:1m;\n\
         location / {{\nproxy_pass https://origin;\nproxy_http_version 1.1;\nproxy_set_header Connection \"\";\n\
         proxy_ssl_trusted_certificate {trusted};\nproxy_ssl_verify on;\nproxy_ssl_name localhost;\n\
         proxy_cache c;\nproxy_cache_lock on;\n}}\n}}\n}}\n",
        pid = at("nginx.pid"),
        log = at("nginx.log"),
        temp = at("tmp"),
        cache = at("cache"),
        cert = at("cert.pem"),
        key = at("key.pem"),
        trusted = at("origin.pem"),
    )
}

/// nginx in one process, which ends with this.
struct Nginx(Child);

impl Nginx {
    fn start(program: &Path, folder: &Path, configuration: &str) -> Nginx {
        let path = folder.join("nginx.conf");
        fs::write(&path, configuration).expect("the folder is ours");
        let nginx = Command::new(program)
            .arg("-c")
            .arg(&path)
            .arg("-e")
            .arg(folder.join("nginx.log"))
            .stderr(Stdio::null())
            .spawn()
            .map(Nginx)
            .expect("nginx is installed");
        // Whoever asks too early is refused by the system, and tries again.
        let listens =
            configuration.lines().find_map(|line| line.strip_prefix("listen ")?.strip_suffix(" ssl;"));
        let address: SocketAddr = listens.expect("it listens").parse().expect("an address");
        for _ in 0..500 {
            if TcpStream::connect(address).is_ok() {
                return nginx;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let log = fs::read_to_string(folder.join("nginx.log")).unwrap_or_default();
        panic!("nginx does not listen: {log}");
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
