//! The origin against h2spec, which has the sections of RFC 7540 and 7541 as cases. It is looked for in PATH and in Go's folder (`go
//! install github.com/summerwind/h2spec/cmd/h2spec@latest`); where it is not, the test says so and passes.

use crate::helpers::TestOrigin;
use std::path::PathBuf;
use std::process::Command;

/// Cases that ask for what RFC 9113 no longer has (priorities, section 5.3), and one that does not expect HTTP/1 on the same port:
/// what begins with another preface is answered 400 as a request of HTTP/1 would be.
const NOT_OURS: [&str; 3] = ["http2/5.3.1/1", "http2/5.3.1/2", "http2/3.5/2"];

fn h2spec() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    folders.extend(std::env::var_os("GOPATH").map(|path| PathBuf::from(path).join("bin")));
    folders.extend(std::env::var_os("HOME").map(|path| PathBuf::from(path).join("go/bin")));
    folders.into_iter().map(|folder| folder.join("h2spec")).find(|path| path.is_file())
}

#[test]
fn the_origin_passes_h2spec() {
    let Some(program) = h2spec() else {
        return eprintln!("h2spec is not installed: its cases are skipped");
    };
    let origin = TestOrigin::native();
    let port = origin.at.port().to_string();
    let report = tempfile::NamedTempFile::new().unwrap();
    let arguments =
        ["--host", "127.0.0.1", "--port", &port, "--path", "/w/1/100", "--timeout", "10", "--junit-report"];
    let output = Command::new(program).args(arguments).arg(report.path()).output().unwrap();
    let (tested, failed) = read(&std::fs::read_to_string(report.path()).unwrap());
    let unexpected: Vec<&String> = failed.iter().filter(|case| !NOT_OURS.contains(&case.as_str())).collect();
    assert!(tested > 100, "h2spec ran {tested} cases:\n{}", String::from_utf8_lossy(&output.stdout));
    assert!(unexpected.is_empty(), "{unexpected:?}\n{}", String::from_utf8_lossy(&output.stdout));
}

/// Cases that ran, and the ids `package/place` of those that failed.
fn read(report: &str) -> (usize, Vec<String>) {
    let mut tested = 0;
    let mut failed = Vec::new();
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
