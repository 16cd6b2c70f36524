//! HTTP/2 with programs that were not written here: our client in front of nghttpd and nghttpx, curl, nghttp and h2load in front of our origin.
//! Both sides count the same.

use crate::http2::{JSON, origin};
use crate::support::{Report, free_address, program, run, tell};
use rustix::process::Signal;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server of others; it is ended when dropped.
struct Foreign(Child);

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ = (self.0.kill(), self.0.wait());
    }
}

impl Foreign {
    /// Starts a program and waits until it listens.
    fn start(program: &Path, line: &str, at: SocketAddr) -> Foreign {
        let mut command = Command::new(program);
        command.args(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
        let foreign = Foreign(command.spawn().expect("it starts"));
        let since = Instant::now();
        while TcpStream::connect(at).is_err() {
            assert!(since.elapsed() < Duration::from_secs(60), "{} does not listen", program.display());
            std::thread::sleep(Duration::from_millis(10));
        }
        foreign
    }
}

fn press(url: &str, options: &str) -> Report {
    run(&format!("http --http 2c {url} {options} {JSON}")).ended_with(0).report()
}

#[test]
fn nghttpd_answers_what_it_is_asked() {
    let Some(nghttpd) = program("nghttpd") else {
        return tell("nghttpd is not installed, so nobody else's server was asked over HTTP/2");
    };
    let folder = tempfile::tempdir().unwrap();
    let address = free_address();
    let line =
        format!("--address={} --no-tls -d {} {}", address.ip(), folder.path().display(), address.port());
    for bytes in [0, 100, 100_000, 1_000_000] {
        std::fs::write(folder.path().join(bytes.to_string()), vec![b'x'; bytes]).unwrap();
    }
    let _server = Foreign::start(&nghttpd, &line, address);
    for bytes in [0, 100, 100_000, 1_000_000_u64] {
        let report = press(&format!("http://{address}/{bytes}"), "-c 20 --streams 10 -t 1 -n 200");
        let told = (report.sum("ok"), report.sum("body_bytes"), report.sum("connections"));
        assert_eq!(told, (200, 200 * bytes, 2), "{bytes} bytes");
    }
    let report = press(&format!("http://{address}/none"), "-c 2 --streams 2 -t 1 -n 10 --expect-status 404");
    assert_eq!(report.sum("ok"), 10);
}

/// To its backend it speaks HTTP/1.1, then HTTP/2.
#[test]
fn nghttpx_passes_on_what_it_is_asked() {
    let Some(nghttpx) = program("nghttpx") else {
        return tell("nghttpx is not installed, so its way with HTTP/2 was not seen");
    };
    for behind in ["", ";;proto=h2"] {
        let (backend, origin) = origin("");
        let folder = tempfile::tempdir().unwrap();
        let conf = folder.path().join("conf");
        std::fs::write(&conf, "").unwrap();
        let at = free_address();
        let line = format!(
            "--conf={} --workers=1 --single-process --frontend={},{};no-tls --backend={},{}{behind}",
            conf.display(),
            at.ip(),
            at.port(),
            backend.ip(),
            backend.port()
        );
        let proxy = Foreign::start(&nghttpx, &line, at);
        let report = press(&format!("http://{at}/w/1/20000"), "-c 40 --streams 20 -t 1 -n 1000");
        let told = (report.sum("ok"), report.sum("body_bytes"), report.sum("connections"));
        assert_eq!(told, (1000, 20_000_000, 2), "{behind}");
        drop(proxy);
        origin.signal(Signal::INT);
        let served = origin.end().ended_with(0).report();
        let over_http2 = if behind.is_empty() { 0 } else { 1000 };
        let count = |name: &str| served.count(&format!("origin/{name}"));
        assert_eq!((count("requests"), count("http2_requests")), (1000, over_http2), "{behind}");
    }
}

/// The request of each client comes 200 times. curl speaks HTTP/2 over TLS: without, curl 7.88 cannot use a connection twice,
/// whoever the server is.
#[test]
fn clients_of_others_are_served() {
    let lines = [
        ("curl", "--tls", "-s -S -k --http2 -o /dev/null --parallel --parallel-max 20 https://URL?[1-200]"),
        ("nghttp", "", "--null-out --no-dep --multiply=200 http://URL"),
        ("h2load", "", "-n 200 -c 1 -m 20 -t 1 http://URL"),
        ("h2load", "--tls", "-n 200 -c 1 -m 20 -t 1 https://URL"),
    ];
    for (name, of_origin, line) in lines {
        let Some(client) = program(name) else {
            tell(&format!("{name} is not installed, so it did not ask our origin over HTTP/2"));
            continue;
        };
        let (address, origin) = origin(of_origin);
        let line = line.replace("URL", &format!("{address}/w/1/20000"));
        let ran = Command::new(client).args(line.split_whitespace()).output().unwrap();
        assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stderr));
        origin.signal(Signal::INT);
        let served = origin.end().ended_with(0).report();
        let count = |name: &str| served.count(&format!("origin/{name}"));
        assert_eq!((count("requests"), count("http2_requests")), (200, 200), "{name}");
        assert_eq!(count("body_bytes"), 200 * 20_000, "{name}");
    }
}
