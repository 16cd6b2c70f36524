//! Requests that `wringer http` sends when it is told more than a URL, and what it finds in answers: against a small server that
//! writes down what it gets and answers as the path asks.

use crate::support::{Ran, run, shell, start};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Requests as the server saw them.
type Seen = Arc<Mutex<Vec<String>>>;

/// A server that ends with the test's process.
fn server() -> (SocketAddr, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let seen = Seen::default();
    let writes_to = seen.clone();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = writes_to.clone();
            thread::spawn(move || serve(stream, &seen));
        }
    });
    (address, seen)
}

fn serve(mut stream: TcpStream, seen: &Seen) {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let length = |head: &str| {
            let found = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            found.map_or(0, |length| length.parse().expect("a number"))
        };
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && body.len() >= length(head)
        {
            let answer = answer(head);
            seen.lock().expect("nobody panics with it").push(text.clone());
            if stream.write_all(&answer).is_err() {
                return;
            }
            bytes.clear();
            continue;
        }
        match stream.read(&mut piece) {
            Ok(count @ 1..) => bytes.extend_from_slice(&piece[..count]),
            _ => return,
        }
    }
}

/// "hello hello hello hello\n" as gzip writes it.
const ZIPPED: &[u8] = &[
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8,
    0x40, 0x27, 0xb9, 0x00, 0x00, 0x88, 0x59, 0x0b, 0x18, 0x00, 0x00, 0x00,
];

fn answer(head: &str) -> Vec<u8> {
    let (status, fields, body): (_, _, &[u8]) = match head.split(' ').nth(1).unwrap_or_default() {
        "/json" => ("200 OK", "", br#"{"user": {"id": 7, "roles": ["admin"]}}"#),
        "/zipped" => ("200 OK", "Content-Encoding: gzip\r\n", ZIPPED),
        "/missing" => ("404 Not Found", "", b"no"),
        _ => ("200 OK", "X-Kind: plain\r\n", b"hello"),
    };
    let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Runs `wringer http` with these words.
fn http(words: &[&str]) -> Ran {
    let common =
        ["http", "-q", "--json", "{}/result.json", "--evidence-file", "{}/evidence.txt", "--seed", "7"];
    start(common.into_iter().chain(words.iter().copied())).end()
}

fn requests(seen: &Seen) -> Vec<String> {
    seen.lock().expect("nobody panics with it").clone()
}

fn targets(seen: &Seen) -> BTreeSet<String> {
    requests(seen).iter().filter_map(|request| request.split(' ').nth(1).map(str::to_owned)).collect()
}

#[test]
fn the_same_plan_sends_the_same_requests_whatever_the_number_of_workers() {
    let sent = |threads: &str| {
        let (address, seen) = server();
        let url = format!("{address}/{{{{request}}}}/{{{{int:1..1000000}}}}?{{{{uuid}}}}");
        http(&[&url, "-n", "60", "-c", "4", "-t", threads]).ended_with(0);
        targets(&seen)
    };
    let one = sent("1");
    assert_eq!(one.len(), 60);
    assert_eq!(sent("2"), one);
}

#[test]
fn rows_of_a_file_are_sent_once_each_and_end_the_run() {
    let (address, seen) = server();
    let script = format!(
        "printf 'name,word\\nAda L,a&b\\nBob,\"c\"\"d\"\\nCy,e\\n' > u.csv
         $WRINGER http -q {address}/login --data-file u=u.csv,once --form 'n={{{{u.name}}}}' --form 'w={{{{u.word}}}}' \
         -H 'X-Name: {{{{u.name}}}}' -d 30s -c 2"
    );
    shell(&script).ended_with(0);
    let requests = requests(&seen);
    let bodies: BTreeSet<_> = requests.iter().filter_map(|request| request.split_once("\r\n\r\n")).collect();
    let mut bodies: Vec<&str> = bodies.iter().map(|(_, body)| *body).collect();
    bodies.sort_unstable();
    assert_eq!(bodies, ["n=Ada%20L&w=a%26b", "n=Bob&w=c%22d", "n=Cy&w=e"]);
    for request in &requests {
        assert!(request.starts_with("POST /login HTTP/1.1\r\n"), "{request}");
        assert!(request.contains("Content-Type: application/x-www-form-urlencoded\r\n"), "{request}");
    }
    assert!(requests.iter().any(|request| request.contains("X-Name: Ada L\r\n")));
}

#[test]
fn lists_are_sent_and_their_mistakes_named() {
    let (address, seen) = server();
    let script = format!(
        "printf '# list\\n{address}/a\\nPUT {address}/b data=x\\n{address}/missing status=404\\n' | \
         $WRINGER http -q --urls - -n 6 -c 1"
    );
    shell(&script).ended_with(0);
    let targets: Vec<String> = targets(&seen).into_iter().collect();
    assert_eq!(targets, ["/a", "/b", "/missing"]);
    assert!(
        requests(&seen).iter().any(|request| request.starts_with("PUT /b") && request.ends_with("\r\n\r\nx"))
    );
    shell("printf 'ftp://h/\\nh/ y\\n' > l; $WRINGER http --urls l").refused_with(2, &["l:1:", "l:2:"]);
    run("http --urls no-such-list").refused_with(2, &["no-such-list", "cannot be read"]);
}

#[test]
fn answers_are_held_to_checks() {
    let (address, _seen) = server();
    for (path, words, fault) in [
        (
            "/",
            &["--expect-header", "X-Kind: plain", "--expect-text", "hell", "--expect-length", "5"][..],
            None,
        ),
        ("/", &["--expect-match", "^h.*o$", "--expect-header", "!Via"], None),
        ("/", &["--expect-header", "X-Kind~^p", "--expect-header", "Age"], Some("wrong_header")),
        ("/", &["--expect-text", "holla"], Some("wrong_content")),
        ("/", &["--expect-length", "6..7"], Some("wrong_length")),
        ("/json", &["--expect-json", "user.id=7", "--expect-json", "user.roles[0]~^adm"], None),
        ("/json", &["--expect-json", "user.id=8"], Some("wrong_content")),
        ("/zipped", &["--compressed", "--expect-text", "hello hello"], None),
        ("/zipped", &["--expect-text", "hello hello"], Some("wrong_content")),
    ] {
        let url = format!("{address}{path}");
        let ran = http(&[&[url.as_str(), "-n", "20", "-c", "2"], words].concat());
        let ran = ran.ended_with(if fault.is_some() { 3 } else { 0 });
        let faults: Vec<_> = ran.report().faults().into_iter().collect();
        let expected: Vec<_> = fault.map(|fault| (fault.to_owned(), 20)).into_iter().collect();
        assert_eq!(faults, expected, "{words:?}");
        assert_eq!(ran.file("evidence.txt").is_empty(), fault.is_none(), "{words:?}");
    }
}

#[test]
fn thresholds_decide_the_exit_code() {
    let (address, _seen) = server();
    let url = format!("{address}/");
    let kept = http(&[&url, "-n", "20", "--fail-if", "p99>1h,errors>0"]).ended_with(0);
    assert!(kept.stdout.contains("Thresholds") && kept.stdout.contains("kept"), "{}", kept.stdout);
    let violated = http(&[&url, "-n", "20", "--fail-if", "max>=0s", "--fail-if", "rate<1"]).ended_with(3);
    let judged = violated.report().list("thresholds");
    let found: Vec<_> =
        judged.iter().map(|one| (one.text("condition").to_owned(), one.at("violated").clone())).collect();
    assert_eq!(found, [("max>=0s".to_owned(), true.into()), ("rate<1".to_owned(), false.into())]);
    run("http h/ --fail-if speed>1").refused_with(2, &["speed", "p99.99"]);
}

#[test]
fn requests_are_signed_and_secrets_kept() {
    let (address, seen) = server();
    let url = format!("{address}/x");
    let words =
        [&url, "-n", "1", "-c", "1", "--aws-sigv4", "eu-1:s3", "--aws-key", "ID", "--aws-secret", "geheim"];
    let ran = http(&words).ended_with(0);
    let signed = requests(&seen).pop().expect("one request");
    assert!(
        signed.contains("authorization: AWS4-HMAC-SHA256 Credential=ID/") && signed.contains("/eu-1/s3/"),
        "{signed}"
    );
    assert!(!ran.stdout.contains("geheim") && !ran.file("result.json").contains("geheim"));
    run("http h/ --aws-sigv4 a:b --aws-key x").refused_with(2, &["--aws-secret"]);
}

#[test]
fn what_a_template_cannot_mean_is_one_clear_line() {
    run("http h/{{nobody}}").refused_with(2, &["{{nobody}}", "counter"]);
    run("http {{h}}/x").refused_with(2, &["placeholder in its host"]);
    shell("printf 'a,b\\n1,2\\n' > u.csv; $WRINGER http 127.0.0.1:1/{{u.c}} --data-file u=u.csv")
        .refused_with(2, &["{{u.c}}", "a, b"]);
    run("http h/{{u}} --data-file u=none.csv").refused_with(2, &["none.csv", "cannot be read"]);
}
