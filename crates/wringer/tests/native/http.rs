//! A web server pressed by the clients alone.

use crate::refusing::Refusing;
use crate::support::{Ran, Report, Running, free_address, run, shell, start, wringer};
use crate::web::{Web, answer, gzipped, ok};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

/// An origin of ours as the web server.
fn origin(options: &str) -> (SocketAddr, Running) {
    let address = free_address();
    let mut origin = wringer(&format!("origin --listen {address} -t 1 -q {options}"));
    origin.wait_for("listens at");
    (address, origin)
}

fn http(line: &str) -> Ran {
    run(&format!("http -q --json {{}}/result.json --evidence-file {{}}/evidence.txt --seed 7 {line}"))
}

/// Returns the counts of requests, good answers, ones that failed a check and failed ones.
fn counts(report: &Report) -> [u64; 4] {
    ["requests", "ok", "check_failed", "failed"].map(|counter| report.sum(counter))
}

#[test]
fn urls_are_fetched_in_turn_and_counted() {
    let (address, _origin) = origin("--origin-chunked 50%");
    let report =
        http(&format!("{address}/w/1/5000 http://{address}/w/2/100000 -c 4 -n 1000")).ended_with(0).report();
    assert_eq!(counts(&report), [1_000, 1_000, 0, 0]);
    assert_eq!(report.sum("body_bytes"), 500 * 105_000);
    assert_eq!(report.sum("connections"), 4, "users keep their connections");
}

/// Answers of a web server to plain HTTP at its port for TLS, and of one to a client that it does not want.
#[test]
fn a_server_that_refuses_everything_may_want_tls() {
    for (status, hint) in [
        ("400 Bad Request", "It may speak TLS there: try https://."),
        ("403 Forbidden", "It refuses such requests: look at method"),
        ("404 Not Found", "look at the URL"),
    ] {
        let web = Web::start(move |_| answer(status, "", ""));
        let ran = http(&format!("{} -n 3 -c 1", web.address)).ended_with(1);
        let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(hint) && !said.contains("--form"), "{said}");
    }
}

#[test]
fn a_connection_carries_as_many_requests_as_asked() {
    let (address, _origin) = origin("");
    for (keep_alive, connections) in [(1, 60), (5, 12)] {
        let line = format!("{address}/w/1/500 -t 1 -c 1 -n 60 --keep-alive {keep_alive}");
        let report = http(&line).ended_with(0).report();
        assert_eq!((counts(&report), report.sum("connections")), ([60, 60, 0, 0], connections));
    }
}

#[test]
fn statuses_are_held_to_what_is_expected() {
    let (address, _origin) = origin("--origin-errors 1 --origin-error-status 418");
    let report = http(&format!("{address}/w/1/500 -c 4 -n 50")).report();
    assert_eq!(counts(&report), [50, 0, 0, 50]);
    assert_eq!(report.failures()["bad_status"], 50);
    let report =
        http(&format!("{address}/w/1/500 -c 4 -n 50 --expect-status 200,418")).ended_with(0).report();
    assert_eq!(counts(&report), [50, 50, 0, 0]);
}

#[test]
fn a_failing_run_names_url_and_status_and_keeps_an_answer() {
    let (address, _origin) = origin("--origin-errors 0.5 --origin-error-status 418");
    let ran = run(&format!(
        "http --json {{}}/result.json --evidence-file {{}}/evidence.txt --seed 7 {address}/w/1/500 -t 1 -c 2 -n 200"
    ));
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let sample = format!("status 418 to GET http://{address}/w/1/500");
    // On a machine that others use, the verdict's word is another one.
    for words in
        [sample.as_str(), "of 200 requests with status 418, not expected", "1 answer to failed requests kept"]
    {
        assert!(said.contains(words), "{words:?} is missing in {}", ran.stdout);
    }
    let kept = ran.file("evidence.txt");
    assert!(kept.contains("HTTP/1.1 418") && kept.contains("GET /w/1/500 HTTP/1.1"), "{kept}");
    let evidence = &ran.report().list("evidence")[0];
    assert_eq!((evidence.text("failure/kind"), evidence.count("status")), ("bad_status", 418));
    // The code that the process ended with stands beside the verdict.
    assert_eq!(ran.report().count("exit"), u64::try_from(ran.code()).unwrap());
}

/// The words of a server that fails are the first thing that people want to read.
#[test]
fn bad_answers_keep_the_beginning_of_their_bodies() {
    let body = format!("{{\"error\":\"no room\",\"token\":\"geheim71\"}}\n{}", "x".repeat(60_000));
    let web = Web::start(move |_| answer("507 Insufficient Storage", "", &body));
    for version in ["", "--compressed"] {
        let line =
            format!("$WRINGER http {} -t 1 -c 1 -n 3 -q --json result.json {version}; ls", web.address);
        let ran = shell(&line);
        let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("507 said: '{\"error\":\"no room\",\"token\":\"***\"}…'"), "{}", ran.stdout);
        assert_eq!(ran.report().list("evidence")[0].text("body").len(), 512 - "geheim71".len() + "***".len());
        // Nobody chose a file: it has the run's name.
        let name = ran.stdout.split_whitespace().find(|word| word.starts_with("wringer-evidence-")).unwrap();
        let kept = ran.file(name);
        assert!(kept.contains("no room") && !kept.contains("geheim71"), "{kept}");
    }
}

/// RFC 9110 section 8.4 and RFC 9112 section 7: several codings, and those of the message.
#[test]
fn codings_of_message_and_content_are_removed() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = server.local_addr().expect("it is bound");
    let chunked = |fields: &str| {
        let content = gzipped("hello world");
        let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n{:x}\r\n", content.len());
        [head.as_bytes(), &content, b"\r\n0\r\n\r\n"].concat()
    };
    let answers = [
        chunked("Transfer-Encoding: gzip, chunked"),
        chunked("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"),
        chunked("Content-Encoding: identity, gzip\r\nTransfer-Encoding: chunked"),
    ];
    let count = answers.len();
    let serving = thread::spawn(move || {
        let mut served = 0;
        // Whoever looks whether somebody listens sends nothing.
        while served < count {
            let (mut stream, _) = server.accept().expect("a connection");
            let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
            while served < count && reader.by_ref().lines().map_while(Result::ok).any(|line| line.is_empty())
            {
                stream.write_all(&answers[served]).expect("it is read");
                served += 1;
            }
        }
    });
    let line = format!(
        "http --json {{}}/result.json {address} -t 1 -c 1 -n {count} --compressed --expect-text world"
    );
    let report = run(&line).ended_with(0).report();
    assert_eq!(counts(&report), [3, 3, 0, 0]);
    serving.join().expect("it has served");
}

#[test]
fn bodies_that_change_are_told_from_the_first_one() {
    let (address, _origin) = origin("--change-every 1s --lifetime 1s");
    let line = format!("{address}/w/1/5000 -d 2500ms --rate 200");
    let report = http(&line).ended_with(0).report();
    assert_eq!(report.sum("check_failed"), 0, "nobody asked for the same body");
    let ran = http(&format!("{line} --expect-body same"));
    let report = ran.report();
    assert_eq!(report.sum("check_failed"), report.faults()["wrong_bytes"]);
    assert!(report.sum("check_failed") > 0, "two versions of three were not the first");
    assert!(ran.file("evidence.txt").contains("differs from that of the first answer"));
}

/// Method, fields and body as the server saw them.
#[test]
fn requests_are_sent_as_described() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = server.local_addr().expect("it is bound");
    let seen = thread::spawn(move || {
        // The first connection only finds out whether somebody listens.
        for stream in server.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = Vec::new();
            let mut piece = [0; 1024];
            while !request.ends_with(b"x=1") {
                match stream.read(&mut piece) {
                    Ok(count @ 1..) => request.extend_from_slice(&piece[..count]),
                    _ => break,
                }
            }
            if !request.is_empty() {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").expect("it listens");
                return String::from_utf8(request).expect("text");
            }
        }
        unreachable!("incoming never ends")
    });
    let words = ["http", &format!("{address}/p?q"), "-X", "PUT", "-H", "Host: other", "-H", "X-A: b c"];
    let more = ["--data", "x=1", "-n", "1", "-c", "1", "--keep-alive", "1", "-q"];
    start(words.into_iter().chain(more)).end().ended_with(0);
    assert_eq!(
        seen.join().expect("it ended"),
        "PUT /p?q HTTP/1.1\r\nHost: other\r\nX-A: b c\r\nContent-Length: 3\r\nConnection: close\r\n\r\nx=1"
    );
}

#[test]
fn what_cannot_be_pressed_is_one_clear_line() {
    run("http").refused_with(2, &["URL"]);
    run("http ftp://h/").refused_with(2, &["'ftp://h/' begins with ftp:, which is not spoken here"]);
    run("http localhost:1 --expect-body roughly").refused_with(2, &["roughly", "same-length"]);
    let nobody = Refusing::new();
    run(&format!("http {nobody}")).refused_with(1, &["nothing answers", &nobody.to_string()]);
    run("http no-such-host.invalid").refused_with(1, &["no-such-host.invalid", "resolve"]);
}

/// A device has no end: it is refused before it is read, whatever asks for it.
#[test]
fn files_without_end_are_refused() {
    for line in [
        "http --urls /dev/zero http://localhost:1",
        "http --data @/dev/zero http://localhost:1",
        "http --body-file /dev/zero http://localhost:1",
        "http -u a:file:/dev/zero http://localhost:1",
        "run /dev/zero",
        "plan check /dev/zero",
        "report /dev/zero",
        "ab -p /dev/zero http://localhost:1/",
        "siege -f /dev/zero -r 1",
        "http_load -rate 1 -seconds 1 /dev/zero",
        "jtest -u /dev/zero -t 1",
        "wrk -s /dev/zero http://localhost:1/",
    ] {
        let ran = run(line);
        // siege ends so without a failure.
        assert_eq!(ran.code() == 0, line.starts_with("siege"), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("it is a device"), "{line}: {}", ran.stderr);
    }
}

/// As curl's `-v` has it: both heads, times and checks, without secrets.
#[test]
fn single_requests_are_told() {
    let web = Web::start(|_| answer("200 OK", "X-A: b\r\n", "hello"));
    let url = format!("http://{}/p", web.address);
    let ran = start(["http", "-v", &url, "-u", "u:geheim", "--expect-text", "hallo"]).end().ended_with(3);
    assert_eq!(web.seen().len(), 1, "one request unless more are asked for");
    let head = format!("> GET /p HTTP/1.1\n> Host: {}\n", web.address);
    for words in [
        head.as_str(),
        "> Authorization: ***\n",
        "< HTTP/1.1 200 OK\n",
        "< X-A: b\n",
        "status 200, 5 B of body\n*   connected in ",
        "first byte after ",
        "*   check failed: ",
        "* check failed: the body does not contain 'hallo'",
    ] {
        assert!(ran.stdout.contains(words), "{words} in {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("dTpnZWhlaW0="), "{}", ran.stdout);
}

/// The server begins to listen, and then to answer, while it is waited for.
#[test]
fn targets_are_waited_for() {
    let address = free_address();
    let url = format!("http://{address}/");
    let running = start(["http", &url, "-n", "5", "-c", "1", "--ready", "60s", "--json", "{}/result.json"]);
    let tries = std::sync::atomic::AtomicU32::new(0);
    let web = Web::at(&address.to_string(), move |_| {
        match tries.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0..3 => answer("503 Service Unavailable", "", ""),
            _ => ok("up"),
        }
    });
    let report = running.end().ended_with(0).report();
    assert_eq!([report.sum("requests"), report.sum("ok")], [5, 5]);
    assert_eq!(web.seen().len(), 3 + 1 + 5, "three refusals, an answer, and the run");
    let refusing = Refusing::new();
    let late = refusing.to_string();
    let url = format!("http://{late}/");
    for words in [vec!["http", &url], vec!["cache", &late, "--clients-only"], vec!["tcp", &late, "-m", "x"]] {
        let words = words.into_iter().chain(["--ready", "200ms"]);
        start(words).end().refused_with(1, &["nothing answers"]);
    }
}

#[test]
fn a_warm_up_is_not_counted() {
    let web = Web::start(|_| ok("x"));
    let url = format!("http://{}/", web.address);
    let words = ["http", &url, "-n", "5", "-c", "1", "--warm-up", "300ms", "--json", "{}/result.json"];
    let ran = start(words).end().ended_with(0);
    assert!(web.seen().len() > 5);
    let report = ran.report();
    assert_eq!(report.list("phases").len(), 2);
    assert_eq!(report.list("phases")[1].count("counts/requests"), 5);
}
