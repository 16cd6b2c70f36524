//! Rigs from outside: `wringer rig NAME` is started in front of a small origin of the test's own, asked in all forms of
//! request, and ended in all ways. A proxy that is not installed is skipped with a line that says so.

mod client;
mod origin;
mod started;

use client::{Client, ask};
use origin::{Origin, body_len};
use started::{Rig, children_of, kill, processes_naming, wringer};
use std::fs::Permissions;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Abilities of a proxy, where they differ.
struct Expected {
    name: &'static str,
    program: &'static str,
    /// The most fetches that 50 simultaneous misses may cause.
    fetches_of_50: usize,
    /// True if an expired object is asked for with its ETag.
    revalidates: bool,
    /// True if several variants of an answer are kept, by whatever field it varies. Where not, the right one must come
    /// all the same.
    keeps_variants: bool,
}

const ATS: Expected = Expected {
    name: "ats",
    program: "traffic_server",
    fetches_of_50: 1,
    revalidates: true,
    keeps_variants: true,
};
const NGINX: Expected =
    Expected { name: "nginx", program: "nginx", fetches_of_50: 1, revalidates: true, keeps_variants: true };
const VARNISH: Expected = Expected {
    name: "varnish",
    program: "varnishd",
    fetches_of_50: 1,
    revalidates: true,
    keeps_variants: true,
};
const SQUID: Expected =
    Expected { name: "squid", program: "squid", fetches_of_50: 1, revalidates: true, keeps_variants: false };
const HTTPD: Expected = Expected {
    name: "httpd",
    program: "apache2",
    fetches_of_50: 50,
    revalidates: true,
    keeps_variants: true,
};
const HAPROXY: Expected = Expected {
    name: "haproxy",
    program: "haproxy",
    fetches_of_50: 50,
    revalidates: false,
    keeps_variants: false,
};

const VINYL: Expected = Expected { name: "vinyl", program: "vinyld", ..VARNISH };
const ENVOY: Expected =
    Expected { name: "envoy", program: "envoy", fetches_of_50: 50, revalidates: true, keeps_variants: true };

/// Those without a cache, of which only their name and program are asked for here.
const H2O: Expected = Expected { name: "h2o", program: "h2o", ..HAPROXY };
const CADDY: Expected = Expected { name: "caddy", program: "caddy", ..HAPROXY };

#[test]
fn ats_caches() {
    caches(&ATS);
}

#[test]
fn nginx_caches() {
    caches(&NGINX);
}

#[test]
fn varnish_caches() {
    caches(&VARNISH);
}

#[test]
fn vinyl_caches() {
    caches(&VINYL);
}

#[test]
fn envoy_caches() {
    caches(&ENVOY);
}

/// As Caddy it takes no whole URLs. A Caddy without its module is named as that, and started by no means.
#[test]
fn souin_caches_where_caddy_has_it() {
    let Some(caddy) = program("caddy") else {
        println!("skipped: caddy is not installed");
        return;
    };
    let listed = Command::new(caddy).arg("list-modules").output().expect("it runs").stdout;
    if !String::from_utf8_lossy(&listed).lines().any(|line| line == "http.handlers.cache") {
        let output = wringer().args(["rig", "souin"]).output().expect("wringer is built");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("Souin is a module of caddy, and no caddy in PATH"), "{said}");
        return;
    }
    let origin = Origin::start();
    let rig = Rig::start("souin", origin.address, &[]);
    header_fields_pass_both_ways(&rig, &origin);
    lifetimes_are_the_origins(&rig, &origin);
    connections_to_the_origin_are_reused(&rig, &origin);
    for (path, fetches) in [("/x", 1), ("/form8?query=1&other=2", 1), ("/big", 1)] {
        for _ in 0..2 {
            let answer = rig.ask(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n"));
            assert_eq!((answer.status, answer.body.len()), (200, body_len(path)), "{path}");
        }
        assert_eq!(origin.fetches(path), fetches, "{path}");
    }
}

#[test]
fn squid_caches() {
    caches(&SQUID);
}

/// Debian's package starts one. Its shared memory has the name of the service, and belongs to another user.
#[test]
fn squid_starts_beside_another_squid() {
    if !is_installed(&SQUID) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let _other = OtherSquid::start(folder.path());
    let origin = Origin::start();
    let rig = Rig::start("squid", origin.address, &[]);
    assert_eq!(rig.ask("GET /x HTTP/1.1\r\nHost: a\r\n").status, 200);
    assert!(!shared_memory(&rig.folder).is_empty());
    let main = processes_naming(&rig.folder).into_iter().find(|(_, line)| line.contains(" -N "));
    kill("KILL", main.expect("there is a squid").0);
    let folder = rig.folder.clone();
    drop(rig);
    assert!(shared_memory(&folder).is_empty(), "{:?}", shared_memory(&folder));
}

/// Whoever comes first, the first request is answered by the origin.
#[test]
fn squid_may_be_started_before_its_origin() {
    if !is_installed(&SQUID) {
        return;
    }
    let address = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
    let rig = Rig::start("squid", address, &[]);
    let origin = Origin::start_at(address);
    for path in ["/a", "/b", "/c"] {
        assert_eq!(rig.ask(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n")).status, 200, "{path}");
        assert_eq!(origin.fetches(path), 1);
    }
}

/// A Squid under the default name of its service. Where root runs the test it has a user of its own.
struct OtherSquid(Child);

impl OtherSquid {
    fn start(folder: &Path) -> OtherSquid {
        let listen =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
        let place = folder.display();
        let text = format!(
            "http_port {listen}\ncollapsed_forwarding on\nmemory_cache_shared off\naccess_log none\n\
             cache_log {place}/cache.log\npid_filename {place}/squid.pid\ncoredump_dir {place}\n\
             netdb_filename none\npinger_enable off\nicp_port 0\nsnmp_port 0\nshutdown_lifetime 0 seconds\n"
        );
        std::fs::set_permissions(folder, Permissions::from_mode(0o777)).expect("it is ours");
        std::fs::write(folder.join("squid.conf"), text).expect("the folder is ours");
        let program = program("squid").expect("it is installed");
        let mut arguments = vec!["-N".to_string(), "-f".to_string()];
        arguments.push(format!("{place}/squid.conf"));
        let mut child =
            Command::new(program).args(arguments).stderr(Stdio::null()).spawn().expect("it is a program");
        let deadline = Instant::now() + Duration::from_secs(60);
        // One that ends has met a Squid of that name that is none of ours, which serves as well.
        while TcpStream::connect(listen).is_err() && child.try_wait().expect("it is ours").is_none() {
            assert!(Instant::now() < deadline, "the other squid does not listen");
            thread::sleep(Duration::from_millis(20));
        }
        OtherSquid(child)
    }
}

impl Drop for OtherSquid {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            kill("TERM", self.0.id());
        }
        let _ = self.0.wait();
    }
}

/// Files of shared memory that a rig's Squid has.
fn shared_memory(rig: &Path) -> Vec<String> {
    let name: String = rig.display().to_string().rsplit('/').next().unwrap_or_default().replace('-', "");
    let files = std::fs::read_dir("/dev/shm").expect("this is Linux").flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    names.filter(|file| file.starts_with(&name)).collect()
}

#[test]
fn haproxy_caches() {
    caches(&HAPROXY);
}

#[test]
fn httpd_caches() {
    caches(&HTTPD);
}

/// Whoever has no cache fetches each time, and changes nothing.
#[test]
fn h2o_and_caddy_pass_everything_on() {
    for proxy in [H2O, CADDY].iter().filter(|proxy| is_installed(proxy)) {
        let origin = Origin::start();
        let rig = Rig::start(proxy.name, origin.address, &[]);
        let asked = origin.state.lock().expect("no panic").fetches.len();
        assert_eq!(asked, 0, "{}: the probe must not reach the origin", proxy.name);
        for path in ["/x", "/form8?query=1&other=2", "/big"] {
            for fetches in 1..=2 {
                let answer = rig.ask(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n"));
                assert_eq!(
                    (answer.status, answer.body.len()),
                    (200, body_len(path)),
                    "{} {path}",
                    proxy.name
                );
                assert_eq!(origin.fetches(path), fetches, "{} {path}", proxy.name);
            }
        }
        header_fields_pass_both_ways(&rig, &origin);
        connections_to_the_origin_are_reused(&rig, &origin);
    }
}

#[test]
fn a_reload_forces_a_fetch_where_asked_for() {
    for proxy in [ATS, NGINX, VARNISH, SQUID, HAPROXY, HTTPD].iter().filter(|proxy| is_installed(proxy)) {
        let origin = Origin::start();
        let rig = Rig::start(proxy.name, origin.address, &["--honour-reload"]);
        let reload = "GET /x HTTP/1.1\r\nHost: a\r\nCache-Control: no-cache\r\n";
        rig.ask("GET /x HTTP/1.1\r\nHost: a\r\n");
        rig.ask(reload);
        assert_eq!(origin.fetches("/x"), 2, "{}", proxy.name);
    }
}

/// SIGTERM is how it is ended in scripts, SIGINT is Ctrl-C, SIGHUP is a closed terminal; SIGKILL asks nobody.
#[test]
fn nothing_stays_however_it_ends() {
    for proxy in
        [ATS, NGINX, VARNISH, SQUID, HAPROXY, HTTPD, H2O, CADDY].iter().filter(|proxy| is_installed(proxy))
    {
        for signal in ["TERM", "INT", "HUP", "KILL"] {
            let origin = Origin::start();
            let mut rig = Rig::start(proxy.name, origin.address, &[]);
            rig.ask("GET /x HTTP/1.1\r\nHost: a\r\n");
            rig.signal(signal);
            let status = rig.process.wait().expect("it is ours");
            assert_eq!(
                status.code(),
                if signal == "KILL" { None } else { Some(0) },
                "{} {signal}",
                proxy.name
            );
            rig.assert_gone();
        }
    }
}

#[test]
fn a_proxy_that_dies_is_reported() {
    for proxy in
        [ATS, NGINX, VARNISH, SQUID, HAPROXY, HTTPD, H2O, CADDY].iter().filter(|proxy| is_installed(proxy))
    {
        let origin = Origin::start();
        let mut rig = Rig::start(proxy.name, origin.address, &[]);
        let guard = processes_naming(&rig.folder).into_iter().find(|(_, line)| line.contains("rig-guard"));
        let main = children_of(guard.expect("there is a guard").0)[0];
        kill("KILL", main);
        let status = rig.process.wait().expect("it is ours");
        assert_eq!(status.code(), Some(1), "{}", proxy.name);
        let said = io::read_to_string(rig.process.stderr.take().expect("it is piped")).expect("text");
        assert!(said.contains(&format!("{} ended by signal 9", proxy.name)), "{said}");
        rig.assert_gone();
    }
}

#[test]
fn a_taken_port_is_an_error_that_says_so() {
    if !is_installed(&NGINX) {
        return;
    }
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let output = wringer().args(["rig", "nginx", "--listen", &address]).output().expect("wringer is built");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&format!("nginx cannot listen on {address}: Address already in use")), "{said}");
}

/// One rig per proxy, and every question in turn. Each uses paths of its own.
fn caches(proxy: &Expected) {
    if !is_installed(proxy) {
        return;
    }
    let origin = Origin::start();
    let rig = Rig::start(proxy.name, origin.address, &[]);
    assert_eq!(
        origin.state.lock().expect("no panic").fetches.len(),
        0,
        "the probe must not reach the origin"
    );

    every_form_is_a_miss_then_a_hit(&rig, &origin);
    header_fields_pass_both_ways(&rig, &origin);
    lifetimes_are_the_origins(&rig, &origin);
    an_expired_object_is_fetched_or_revalidated(proxy, &rig, &origin);
    variants_are_told_apart(proxy, &rig, &origin);
    simultaneous_misses_collapse(proxy, &rig, &origin);
    connections_to_the_origin_are_reused(&rig, &origin);
}

fn every_form_is_a_miss_then_a_hit(rig: &Rig, origin: &Origin) {
    let port = origin.address.port();
    let forms = [
        format!("GET http://localhost:{port}/form0 HTTP/1.0\r\nProxy-Connection: keep-alive\r\n"),
        format!("GET http://localhost:{port}/form1 HTTP/1.0\r\nHost: localhost:{port}\r\n"),
        format!("GET http://localhost:{port}/form2 HTTP/1.1\r\nHost: localhost:{port}\r\n"),
        "GET http://no.such.host.example:1/form3 HTTP/1.1\r\nHost: no.such.host.example:1\r\n".to_string(),
        "GET http://no.such.host.example/form4 HTTP/1.1\r\nHost: no.such.host.example\r\n".to_string(),
        "GET /form5 HTTP/1.1\r\nHost: no.such.host.example\r\n".to_string(),
        "GET /form6 HTTP/1.0\r\nHost: 127.0.0.1\r\n".to_string(),
        "GET /form7 HTTP/1.0\r\n".to_string(),
        "GET /form8?query=1&other=2 HTTP/1.1\r\nHost: a\r\n".to_string(),
        // 2 MB.
        "GET /big HTTP/1.1\r\nHost: a\r\n".to_string(),
    ];
    for (number, form) in forms.iter().enumerate() {
        let path = match number {
            8 => "/form8?query=1&other=2".to_string(),
            9 => "/big".to_string(),
            _ => format!("/form{number}"),
        };
        let miss = rig.ask(form);
        assert_eq!((miss.status, miss.body.len()), (200, body_len(&path)), "{form} {:?}", miss.fields);
        let hit = rig.ask(form);
        assert_eq!((hit.status, hit.body.len()), (200, body_len(&path)), "{form} {:?}", hit.fields);
        assert_eq!(hit.fields["wringer"], miss.fields["wringer"], "{form}");
        assert_eq!(origin.fetches(&path), 1, "{form}");
    }
}

fn header_fields_pass_both_ways(rig: &Rig, origin: &Origin) {
    let request = "GET /fields HTTP/1.1\r\nHost: some.host:81\r\nWringer-Request: 7\r\n";
    let answer = rig.ask(request);
    let again = rig.ask(request);
    for answer in [answer, again] {
        assert_eq!(answer.fields["etag"], "\"v1\"");
        assert_eq!(answer.fields["cache-control"], "max-age=60");
    }
    let asked = origin.last_request("/fields");
    assert_eq!(asked["wringer-request"], "7");
    assert_eq!(asked["host"], "some.host:81");
}

fn lifetimes_are_the_origins(rig: &Rig, origin: &Origin) {
    for (path, fetches) in [("/private", 2), ("/nostore", 2), ("/unspoken", 2), ("/expires", 1)] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n");
        rig.ask(&request);
        rig.ask(&request);
        assert_eq!(origin.fetches(path), fetches, "{path}");
    }
    // A client's reload is ignored unless the rig was told to honour it.
    rig.ask("GET /reload HTTP/1.1\r\nHost: a\r\n");
    rig.ask("GET /reload HTTP/1.1\r\nHost: a\r\nCache-Control: no-cache\r\nPragma: no-cache\r\n");
    assert_eq!(origin.fetches("/reload"), 1);
}

fn an_expired_object_is_fetched_or_revalidated(proxy: &Expected, rig: &Rig, origin: &Origin) {
    let request = "GET /second HTTP/1.1\r\nHost: a\r\n";
    rig.ask(request);
    thread::sleep(Duration::from_millis(2200));
    let answer = rig.ask(request);
    assert_eq!((answer.status, answer.body.len()), (200, body_len("/second")));
    assert_eq!(origin.fetches("/second"), 2, "nothing stale may be served");
    let conditional = origin.last_request("/second").contains_key("if-none-match");
    assert_eq!(conditional, proxy.revalidates);
    // And is fresh again for its second.
    rig.ask(request);
    assert_eq!(origin.fetches("/second"), 2);
}

fn variants_are_told_apart(proxy: &Expected, rig: &Rig, origin: &Origin) {
    for (variant, fetches_if_kept) in [("a", 1), ("b", 2), ("a", 2), ("b", 2)] {
        let answer = rig.ask(&format!("GET /vary HTTP/1.1\r\nHost: a\r\nX-Variant: {variant}\r\n"));
        assert_eq!(answer.fields["variant"], variant);
        if proxy.keeps_variants {
            assert_eq!(origin.fetches("/vary"), fetches_if_kept);
        }
    }
}

fn simultaneous_misses_collapse(proxy: &Expected, rig: &Rig, origin: &Origin) {
    let address = rig.address;
    let clients: Vec<_> =
        (0..50).map(|_| thread::spawn(move || ask(address, "GET /slow HTTP/1.1\r\nHost: a\r\n"))).collect();
    for client in clients {
        assert_eq!(client.join().expect("no panic").status, 200);
    }
    let fetches = origin.fetches("/slow");
    println!("{}: 50 simultaneous misses made {fetches} fetches", proxy.name);
    assert!(fetches <= proxy.fetches_of_50, "{fetches} fetches");
}

fn connections_to_the_origin_are_reused(rig: &Rig, origin: &Origin) {
    let before = origin.state.lock().expect("no panic").connections;
    let mut client = Client::connect(rig.address);
    for number in 0..50 {
        client.ask(&format!("GET /each{number} HTTP/1.1\r\nHost: a\r\n"));
    }
    let connections = origin.state.lock().expect("no panic").connections - before;
    assert!(connections <= 2, "50 fetches in a row took {connections} new connections");
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.find(|folder| folder.join(name).exists()).map(|folder| folder.join(name))
}

fn is_installed(proxy: &Expected) -> bool {
    let found = program(proxy.program).is_some();
    if !found {
        println!("skipped: {} is not installed", proxy.name);
    }
    found
}
