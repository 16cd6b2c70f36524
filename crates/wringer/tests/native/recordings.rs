//! Browsers' recordings, and the proxy that makes them.

use crate::plans::with_files;
use crate::support::{Running, folder, free_address, program, run, shell, start_in};
use crate::web::{Asked, Web, answer, ok};
use rustix::process::Signal;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A form whose token is another one for each visitor; only who sends back its own comes in.
fn guarded() -> Web {
    let visits = AtomicUsize::new(0);
    Web::start(move |asked: &Asked| match (asked.method.as_str(), asked.target.as_str()) {
        ("GET", "/") => {
            let visit = visits.fetch_add(1, Ordering::Relaxed);
            let page = format!("<form>\n<input name=\"csrf\" value=\"tok-{visit}-90125\">\n</form>");
            answer("200 OK", &format!("Content-Type: text/html\r\nSet-Cookie: visit={visit}\r\n"), &page)
        }
        ("POST", "/login") => {
            let visit =
                asked.field("Cookie").and_then(|cookie| cookie.strip_prefix("visit=")).unwrap_or("none");
            let body = format!("user=ada&csrf=tok-{visit}-90125");
            if asked.body == body { ok("in") } else { answer("403 Forbidden", "", "") }
        }
        _ => answer("404 Not Found", "", ""),
    })
}

fn har(web: &Web) -> String {
    let at = web.address;
    let entry = |time: &str, method: &str, path: &str, extra: &str, answer: &str| {
        format!(
            "{{\"startedDateTime\": \"2026-11-22T10:00:0{time}Z\", \"time\": 5, \"request\": {{\"method\": \"{method}\", \"url\": \
             \"http://{at}{path}\", \"headers\": [{{\"name\": \"Content-Type\", \"value\": \"application/x-www-form-urlencoded\"}}]{extra}}}, \
             \"response\": {{\"status\": 200, \"headers\": [], \"content\": {{\"mimeType\": \"text/html\", \"text\": \"{answer}\"}}}}}}"
        )
    };
    let page = entry(
        "1.0",
        "GET",
        "/",
        "",
        "<form>\\n<input name=\\\"csrf\\\" value=\\\"tok-77-90125\\\">\\n</form>",
    );
    let posted = ", \"postData\": {\"mimeType\": \"x\", \"text\": \"user=ada&csrf=tok-77-90125\"}";
    format!("{{\"log\": {{\"entries\": [{page}, {}]}}}}", entry("1.5", "POST", "/login", posted, "in"))
}

#[test]
fn a_recording_runs_with_values_of_its_own() {
    let web = guarded();
    let words = ["run", "shop.har", "-q", "--json", "{}/result.json"];
    let report = start_in(with_files(&[("shop.har", &har(&web))]), words).end().ended_with(0).report();
    assert_eq!((report.sum("requests"), report.sum("ok")), (2, 2));
    let convert = "$WRINGER plan convert shop.har > shop.toml && $WRINGER plan check shop.toml && $WRINGER run shop.toml -q";
    let folder = with_files(&[("shop.har", &har(&web))]);
    shell(&format!("cd {}; {convert}; cat shop.toml", folder.path().display())).ended_with(0);
    assert_eq!(web.seen().len(), 4);
    assert!(web.seen()[3].body.starts_with("user=ada&csrf=tok-1-"), "{}", web.seen()[3].body);
}

#[test]
fn what_is_no_recording_is_refused_in_a_line() {
    let folder = with_files(&[("a.har", "{}"), ("b.har", "no")]);
    let at = folder.path().display().to_string();
    for command in ["run", "plan check", "plan convert", "plan show"] {
        shell(&format!("cd {at}; $WRINGER {command} a.har"))
            .refused_with(2, &["a.har: it is JSON and no HAR file"]);
        shell(&format!("cd {at}; $WRINGER {command} b.har")).refused_with(2, &["b.har: it is not JSON"]);
    }
    run("run missing.har").refused_with(2, &["missing.har cannot be read"]);
    run("record --listen 0.0.0.0:0").refused_with(2, &["0.0.0.0:0", "loopback alone"]);
}

/// Starts a recorder, and returns it with the address of its proxy.
fn recorder(words: &[&str]) -> (Running, String) {
    let usual =
        ["record", "--listen", "127.0.0.1:0", "-o", "{}/journey.toml", "--ca-dir", "{}/ca", "--seed", "7"];
    let mut running = start_in(folder(), usual.into_iter().chain(words.iter().copied()));
    running.wait_for("its authority");
    let said = running.said();
    let from = said.find("http://").expect("an address");
    let address = said[from..].split(':').take(3).collect::<Vec<_>>().join(":");
    (running, address)
}

fn curl(proxy: &str, words: &[&str]) -> String {
    let mut command = Command::new("curl");
    command.args(["-sS", "--max-time", "60", "--noproxy", "", "--proxy", proxy]).args(words);
    let ran = command.output().expect("curl runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

#[test]
fn what_goes_through_the_recorder_becomes_a_plan_that_runs() {
    if program("curl").is_none() {
        skip!("curl is not here");
    }
    let web = guarded();
    let (running, proxy) = recorder(&["--no-pauses"]);
    let base = format!("http://{}", web.address);
    let page = curl(&proxy, &[&format!("{base}/")]);
    assert!(page.contains("tok-0-90125"), "{page}");
    let sent =
        curl(&proxy, &["-H", "Cookie: visit=0", "-d", "user=ada&csrf=tok-0-90125", &format!("{base}/login")]);
    assert_eq!(sent, "in");
    running.signal(Signal::INT);
    let ran = running.end().ended_with(0);
    assert!(ran.stderr.contains("2 of 2 requests are in"), "{}", ran.stderr);
    let plan = ran.file("journey.toml");
    assert!(plan.contains("csrf={{csrf|form}}") && !plan.contains("tok-0"), "{plan}");
    assert_eq!((ran.mode("journey.toml"), ran.mode("ca/ca-key.pem")), (0o600, 0o600));
    let again = start_in(with_files(&[("journey.toml", &plan)]), ["run", "journey.toml", "-q"]).end();
    again.ended_with(0);
    assert_eq!(web.seen()[3].body, "user=ada&csrf=tok-1-90125");
}

#[test]
fn tls_goes_through_the_recorder_with_its_own_authority() {
    if program("curl").is_none() {
        skip!("curl is not here");
    }
    let address = free_address();
    let saved = folder();
    let pem = saved.path().join("origin.pem").display().to_string();
    let mut origin = start_in(
        folder(),
        ["origin", "--tls", "--listen", &address.to_string(), "-t", "1", "--origin-save-cert", &pem],
    );
    origin.wait_for("listens at");
    let (running, proxy) = recorder(&["--upstream-ca", &pem]);
    let authority = running.folder().join("ca/ca.pem").display().to_string();
    let url = format!("https://localhost:{}/some/page?x=1", address.port());
    let status = curl(&proxy, &["--cacert", &authority, "-o", "/dev/null", "-w", "%{http_code}", &url]);
    running.signal(Signal::TERM);
    let ran = running.end().ended_with(0);
    origin.signal(Signal::INT);
    origin.end();
    let plan = ran.file("journey.toml");
    assert!(plan.contains(&format!("url = \"{url}\"")) && plan.contains("tls = {}"), "{status}: {plan}");
}
