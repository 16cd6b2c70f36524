//! Runs that are changed while they go on, as the page does it.

use crate::support::{Ran, Running, start, start_in};
use crate::web::{Web, ok};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The page's server of a run that goes on.
struct Page {
    address: String,
    token: String,
}

impl Page {
    fn of(running: &mut Running) -> Page {
        Page::at(&running.wait_for_rest("page: http://"))
    }

    fn at(url: &str) -> Page {
        let (address, token) = url.split_once("/?token=").expect("an address with a token");
        Page { address: address.to_owned(), token: token.to_owned() }
    }

    fn ask(&self, method: &str, target: &str, body: &str) -> String {
        let mut socket = TcpStream::connect(&self.address).expect("it listens");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
        let address = &self.address;
        let token = &self.token;
        let length = body.len();
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        socket.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("it answers");
        answer
    }

    /// The number of the run that goes on.
    fn run(&self) -> String {
        loop {
            let listed = self.ask("GET", "/api/runs", "");
            let json = listed.split("\r\n\r\n").nth(1).expect("a body");
            let read: Value = serde_json::from_str(json).expect("JSON");
            if let Some(run) = read["runs"][0]["id"].as_str() {
                return run.to_owned();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Records of the run that was kept in `here`.
fn records(ran: &Ran, words: &str) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_wringer"));
    command.args(words.split_whitespace()).args(["--keep-in", "here"]).current_dir(ran.folder.path());
    let output = command.output().expect("it runs");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_rate_a_mark_and_a_stop_hold_for_all_workers_and_are_records_of_the_run() {
    let web = Web::start(|_| ok("x"));
    let line = format!("http http://{}/ --rate 40/s -d 60s -t 3 --seed 4 --live --keep-in here", web.address);
    let mut running = start(line.split_whitespace());
    let page = Page::of(&mut running);
    let run = page.run();
    running.wait_for("\n     1 ");
    let told = page.ask("POST", &format!("/api/runs/{run}/rate"), r#"{"per_second":400}"#);
    assert!(told.starts_with("HTTP/1.1 200 "), "{told}");
    page.ask("POST", &format!("/api/runs/{run}/mark"), r#"{"text":"deployed 4711"}"#);
    // Two whole seconds at the new rate.
    let lines = running.lines_of_seconds();
    while running.lines_of_seconds() < lines + 4 {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(page.ask("POST", &format!("/api/runs/{run}/stop"), "{}").contains("at_s"));
    let ran = running.end();
    assert!(ran.stdout.contains("deployed 4711") && ran.stdout.contains("set by page"), "{}", ran.stdout);

    let events = records(&ran, "report --as events");
    let of: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let controls: Vec<&str> =
        of.iter().filter(|one| one["kind"] == "control").filter_map(|one| one["command"].as_str()).collect();
    assert_eq!(controls, ["rate", "mark", "stop"]);
    let rate = of.iter().find(|one| one["command"] == "rate").unwrap();
    let from = rate["at_s"].as_f64().unwrap();
    let since = rate["since_s"].as_f64().unwrap();
    assert!((from - since).abs() < 0.5, "the only phase began with the run");
    // However slow this machine is, whole seconds ask for what they should.
    let asked = |second: &&Value| second["asked_per_s"].as_f64();
    let seconds: Vec<&Value> = of.iter().filter(|one| one["kind"] == "second").collect();
    let before = seconds.iter().filter(|one| one["at_s"].as_f64().unwrap() <= from);
    assert!(before.filter_map(asked).all(|asked| (asked - 40.0).abs() < 0.5));
    let behind =
        seconds.iter().filter(|one| one["at_s"].as_f64().unwrap() - one["seconds"].as_f64().unwrap() > from);
    let behind: Vec<f64> = behind.filter_map(asked).collect();
    assert!(
        !behind.is_empty() && behind[..behind.len() - 1].iter().all(|asked| (asked - 400.0).abs() < 1.0),
        "{behind:?}"
    );
    let (ended, begun) = of.iter().fold((0.0, 0u64), |(at, begun), one| {
        let requests = one["clients"]["counts"]["requests"].as_u64().unwrap_or(0);
        let overflow = one["clients"]["counts"]["overflow"].as_u64().unwrap_or(0);
        (
            one["at_s"].as_f64().filter(|_| one["kind"] == "second").map_or(at, |now: f64| now.max(at)),
            begun + requests + overflow,
        )
    });
    // What was due is the integral of both rates, give or take what was due while the stop came about.
    let due = 40.0 * from + 400.0 * (ended - from);
    assert!(begun as f64 <= due + 5.0, "{begun} of {due}");

    let plan = records(&ran, "runs repeat --plan");
    assert!(plan.contains("stages") && plan.contains(":400"), "{plan}");
    let again = start_in(ran.folder, ["runs", "repeat", "--keep-in", "here"]).end();
    assert!(again.stderr.contains("which this command does not repeat"), "{}", again.stderr);
}

#[test]
fn users_that_send_as_answers_come_have_no_rate_that_could_be_changed() {
    let web = Web::start(|_| ok("x"));
    let line = format!("http http://{}/ -c 1 -d 60s -t 1 --live --no-keep", web.address);
    let mut running = start(line.split_whitespace());
    let page = Page::of(&mut running);
    let run = page.run();
    running.wait_for("\n     1 ");
    let told = page.ask("POST", &format!("/api/runs/{run}/rate"), r#"{"per_second":400}"#);
    assert!(told.starts_with("HTTP/1.1 409 ") && told.contains("no rate of requests"), "{told}");
    page.ask("POST", &format!("/api/runs/{run}/stop"), "{}");
    running.end();
}

/// The body of an answer, as JSON.
fn body(answer: &str) -> Value {
    let json = answer.split("\r\n\r\n").nth(1).expect("a body");
    serde_json::from_str(json).unwrap_or_else(|why| panic!("{why}: {answer}"))
}

#[test]
fn a_run_that_the_page_starts_is_kept_and_led_nowhere_else() {
    // Whoever follows this leaves the machine: nobody is there, and nobody may go.
    let away = "HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1:9/\r\nContent-Length: 0\r\n\r\n";
    let web = Web::start(move |_| away.as_bytes().to_vec());
    let words = format!("http http://{}/ -n 3 -c 1 --redirects 3 --seed 1 --show-plan", web.address);
    let shown = start(words.split_whitespace()).end();
    let wish = serde_json::json!({ "plan": shown.stdout }).to_string();

    let mut running = start("serve --keep-in here".split_whitespace());
    let page = Page::at(&running.wait_for_rest("http://"));
    let began = page.ask("POST", "/api/runs", &wish);
    assert!(began.starts_with("HTTP/1.1 200 "), "{began}");
    let id = body(&began)["id"].as_str().expect("a number").to_owned();
    let until = Instant::now() + Duration::from_secs(120);
    while body(&page.ask("GET", "/api/runs", ""))["runs"][0]["state"] != "ended" {
        assert!(Instant::now() < until, "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    let report = body(&page.ask("GET", &format!("/api/runs/{id}/report?as=json"), ""));
    let counts = &report["measured"]["counts"];
    // Each of the three was answered by a redirection, and went no further.
    let count = |name: &str| counts[name].as_u64();
    assert_eq!(
        (count("redirects"), count("failed"), count("connections")),
        (Some(3), Some(3), Some(1)),
        "{counts}"
    );
    assert_eq!(report["measured"]["failures"][0]["kind"], "system", "{}", report["measured"]["failures"]);

    let elsewhere = wish.replace(&web.address.to_string(), "192.0.2.1:80");
    assert!(page.ask("POST", "/api/runs", &elsewhere).starts_with("HTTP/1.1 403 "));
    running.signal(rustix::process::Signal::INT);
    assert_eq!(running.end().code(), 0);
}
