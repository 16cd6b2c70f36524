//! `wire::http2::Server` against h2spec, which knows the sections of RFC 7540 and 7541 as cases. It is looked for in PATH and in Go's
//! folder (`go install github.com/summerwind/h2spec/cmd/h2spec@latest`); where it is not, the test says so and passes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use wire::http2::{After, BodySource, Code, Indexing, Limits, Server, ServerSink, Settings};

/// Cases of RFC 7540 that RFC 9113 no longer has: priorities (section 5.3).
const GONE: [&str; 2] = ["http2/5.3.1/1", "http2/5.3.1/2"];

#[derive(Default)]
struct Whole(Vec<u32>);

impl ServerSink for Whole {
    fn field(&mut self, _stream: u32, _name: &[u8], _value: &[u8]) {}
    fn head(&mut self, _stream: u32, _bytes: usize, _content: bool) {}
    fn whole(&mut self, stream: u32) {
        self.0.push(stream);
    }
    fn reset(&mut self, stream: u32, _code: Code) {
        self.0.retain(|whole| *whole != stream);
    }
}

struct Letters;

impl BodySource for Letters {
    fn piece(&mut self, _stream: u32, _from: u64, length: usize, out: &mut Vec<u8>) {
        out.resize(out.len() + length, b'x');
    }
}

fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let settings = Settings {
        max_concurrent_streams: Some(100),
        max_header_list_size: Some(65_536),
        ..Settings::default()
    };
    let mut server = Server::new(Limits { settings, connection_window: 65_535, ..Limits::default() });
    let (mut buffer, mut out, mut whole) = (vec![0; 65_536], Vec::new(), Whole::default());
    server.open(&mut out);
    loop {
        stream.write_all(&out)?;
        out.clear();
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let ended = server.read(&buffer[..length], &mut whole, &mut out);
        for request in whole.0.drain(..) {
            let fields = [(":status", "200"), ("content-length", "10")];
            let fields =
                fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes(), Indexing::Insert));
            server.respond(request, fields, Some((10, After::End)), &mut out);
        }
        server.send(&mut Letters, &mut out);
        if ended.is_err() {
            stream.write_all(&out)?;
            return stream.shutdown(std::net::Shutdown::Write);
        }
    }
}

fn h2spec() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    folders.extend(std::env::var_os("GOPATH").map(|path| PathBuf::from(path).join("bin")));
    folders.extend(std::env::var_os("HOME").map(|path| PathBuf::from(path).join("go/bin")));
    folders.into_iter().map(|folder| folder.join("h2spec")).find(|path| path.is_file())
}

#[test]
fn the_server_passes_h2spec() {
    let Some(program) = h2spec() else {
        return eprintln!("h2spec is not installed: its cases are skipped");
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    let report = tempfile::NamedTempFile::new().expect("a file");
    let arguments = ["--host", "127.0.0.1", "--port", &port, "--timeout", "10", "--junit-report"];
    let output = Command::new(program).args(arguments).arg(report.path()).output().expect("h2spec runs");
    let report = std::fs::read_to_string(report.path()).expect("its report");
    let (tested, failed) = read(&report);
    let unexpected: Vec<&String> = failed.iter().filter(|case| !GONE.contains(&case.as_str())).collect();
    assert!(tested > 100, "h2spec ran {tested} cases:\n{}", String::from_utf8_lossy(&output.stdout));
    eprintln!("h2spec: {tested} cases, failed: {failed:?}");
    assert!(unexpected.is_empty(), "{unexpected:?}\n{}", String::from_utf8_lossy(&output.stdout));
}

/// Cases that ran, and the ids `package/place` of those that failed.
fn read(report: &str) -> (usize, Vec<String>) {
    let (mut tested, mut failed) = (0, Vec::new());
    for suite in report.split("<testsuite ").skip(1) {
        let package = attribute(suite, "package");
        for (place, case) in suite.split("<testcase ").skip(1).enumerate() {
            tested += 1;
            if case.contains("<failure") || case.contains("<error") {
                failed.push(format!("{package}/{}", place + 1));
            }
        }
    }
    (tested, failed)
}

fn attribute<'t>(text: &'t str, name: &str) -> &'t str {
    let from = text.find(&format!("{name}=\"")).map_or(0, |at| at + name.len() + 2);
    text[from..].split('"').next().unwrap_or_default()
}
