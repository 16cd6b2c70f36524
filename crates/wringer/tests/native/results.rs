//! Results that cannot be written are never lost in silence: a line, and an exit code that says so.

use crate::support::{shell, start};
use crate::web::{Web, answer, ok};
use std::io::Read;

/// Ends with a code and one line on standard error that holds the words.
fn refused(script: &str, code: i32, words: &[&str]) {
    let ran = shell(script).ended_with(code);
    for word in words {
        let lines = ran.stderr.lines().filter(|line| line.contains(word)).count();
        assert_eq!(lines, 1, "{script}: {word:?} in\n{}", ran.stderr);
    }
}

#[test]
fn standard_output_that_is_full_or_gone() {
    let web = Web::start(|_| ok("x"));
    let press = format!("$WRINGER http -n 2 -c 1 {}", web.address);
    for line in [
        format!("{press} > /dev/full"),
        format!("{press} --json - > /dev/full"),
        format!("{press} --show-plan > /dev/full"),
        "$WRINGER --help > /dev/full".to_owned(),
        "$WRINGER doctor --json > /dev/full".to_owned(),
        "$WRINGER rig nginx --print > /dev/full".to_owned(),
        format!("$WRINGER ab -n 1 http://{}/ > /dev/full", web.address),
        format!("$WRINGER wrk -d 1 -c 1 -t 1 http://{}/ > /dev/full", web.address),
        format!(
            "echo http://{}/ > urls; $WRINGER http_load -parallel 1 -fetches 1 urls > /dev/full",
            web.address
        ),
        format!("$WRINGER siege -c 1 -r 1 -v http://{}/ > /dev/full", web.address),
    ] {
        refused(&line, 1, &["standard output cannot be written: No space left"]);
    }
    refused(&format!("set -o pipefail; {press} | true; exit ${{PIPESTATUS[0]}}"), 1, &["Broken pipe"]);
    refused("$WRINGER wrk --help > /dev/full", 1, &["standard output"]);
}

/// `wringer --help | head -1`: whoever reads may stop when it has seen enough.
#[test]
fn listings_end_quietly_when_nobody_reads_on() {
    for line in [
        "--help",
        "--version",
        "http --help",
        "help ab",
        "doctor",
        "runs",
        "plan schema",
        "plan new http",
        "completions bash",
        "rig nginx --print",
        "siege -C",
        "http 127.0.0.1:9 --show-plan",
    ] {
        // Reading nothing at all is the surest way to stop.
        let ran =
            shell(&format!("$WRINGER {line} 2>said | true; echo ${{PIPESTATUS[0]}}; cat said")).ended_with(0);
        assert!(
            ran.stdout.starts_with("0\n") && !ran.stdout.contains("standard output"),
            "{line}: {}",
            ran.stdout
        );
    }
}

#[test]
fn a_run_goes_on_without_a_home_and_says_that_it_is_not_kept() {
    let web = Web::start(|_| ok("x"));
    let script = format!("env -u HOME -u XDG_STATE_HOME $WRINGER http -n 2 -c 1 -q {}", web.address);
    let ran = shell(&script).ended_with(0);
    let notes = ran.stderr.matches("note: the run is not kept: there is no folder for runs").count();
    assert!(notes == 1 && ran.stdout.contains("2 requests"), "{}{}", ran.stderr, ran.stdout);
}

/// A file that was asked for by name and is not whole makes the exit code 1; one that nobody asked for costs a line.
#[test]
fn files_that_are_cut_off_while_they_are_written() {
    let web = Web::start(|_| ok("x"));
    let press = format!("$WRINGER http -n 3000 -c 1 -q --keep exchanges {}", web.address);
    // Files end after so many KiB, as on a full disk; the report and what is said fit.
    let full = |words: &str| format!("trap '' XFSZ; ulimit -f 2; {words} > /dev/null");
    refused(&format!("{press} --events /dev/full"), 1, &["records cannot be written any more"]);
    refused(&full(&format!("{press} --events e")), 1, &["records cannot be written any more"]);
    refused(&full(&format!("{press} --keep-in k")), 1, &["cannot be written: File too large"]);
    let ran = shell(&full(&press)).ended_with(0);
    assert_eq!(ran.stderr.matches("cannot be written: File too large").count(), 1, "{}", ran.stderr);
    let wrk = format!("WRINGER_KEEP_IN=k $WRINGER wrk -d 1 -c 1 -t 1 http://{}/", web.address);
    refused(
        &full(&wrk.replace("WRINGER_KEEP_IN=k", "ulimit -f 1; WRINGER_KEEP_IN=k")),
        1,
        &["File too large"],
    );
}

/// Links are made again without harm, and what stands in the way of one keeps no other from being made.
#[test]
fn links_are_made_twice() {
    let ran = shell("mkdir l; $WRINGER links l > once; $WRINGER links l | diff - once && readlink l/wrk")
        .ended_with(0);
    assert_eq!(ran.stdout.trim(), env!("CARGO_BIN_EXE_wringer"));
    let ran = shell("mkdir l; echo x > l/ab; ln -s /nowhere l/wrk; $WRINGER links l; echo $?; ls l | wc -l")
        .ended_with(0);
    assert!(ran.stderr.contains("l/ab cannot be made: there is a file of that name"), "{}", ran.stderr);
    assert!(ran.stderr.contains("l/wrk cannot be made: it is a link to /nowhere"), "{}", ran.stderr);
    assert!(ran.stdout.ends_with("1\n15\n"), "{}", ran.stdout);
    shell("$WRINGER links /proc/nowhere").refused_with(1, &["/proc/nowhere/ab cannot be made"]);
}

/// Of a server that takes connections and says nothing, or hangs up, each door tells what became of its requests.
#[test]
fn a_door_that_gets_no_answer_says_why() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_read_timeout(Some(std::time::Duration::from_secs(1))).unwrap();
            // Whoever hangs up over what was not read resets, which would be a second way to get no answer.
            let _read = stream.read(&mut [0; 4096]);
        }
    });
    let ini = format!("[common]\nhost = 127.0.0.1\nport = {}\n[request]\nreq_body = x\n", at.port());
    let ini = ini.replace('\n', "\\n");
    for (line, said) in [
        (format!("wrk -d 1 -c 1 -t 1 http://{at}/"), "x c"),
        (format!("wrk2 -d 1 -c 1 -t 1 -R 5 http://{at}/"), "x c"),
        (format!("h2load -n 2 -c 1 http://{at}/"), "h2load: no answer came to 2 requests: "),
        (format!("h2load --h1 -n 2 -c 1 http://{at}/"), "h2load: no answer came to 2 requests: "),
        (format!("wrktcp -v; printf '{ini}' > i.ini; $WRINGER wrktcp -d 1 i.ini"), "x c"),
        (format!("siege -r 1 -c 1 http://{at}/"), "[error]"),
    ] {
        let ran = shell(&format!("$WRINGER {line}"));
        let told = ran.stderr.lines().filter(|line| line.contains(said)).count();
        assert_eq!(told, 1, "{line}: {}", ran.stderr);
    }
}

/// The same of a server that speaks something else; nobody says that a status came of which none did.
#[test]
fn a_door_whose_target_speaks_no_http_says_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_read_timeout(Some(std::time::Duration::from_secs(1))).unwrap();
            let _read = stream.read(&mut [0; 4096]);
            let _sent = std::io::Write::write_all(&mut stream, b"220 ready\r\n\r\n");
        }
    });
    for line in
        ["siege -r 2 -c 1", "hey -n 2 -c 1", "bombardier -n 2 -c 1", "fortio load -n 2 -c 1", "ab -n 2"]
    {
        let ran = shell(&format!("$WRINGER {line} http://{at}/"));
        let told = ran.stderr.lines().filter(|line| line.contains("h1_not_http")).count();
        assert_eq!(told, 1, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("no answer came to 2 requests: 2 × "), "{line}: {}", ran.stderr);
    }
    let ran = shell(&format!("$WRINGER http http://{at}/ -n 2 -c 1 -q")).ended_with(1);
    let said = format!("The first of these: no answer to GET http://{at}/.");
    assert!(ran.stdout.contains(&said) && !ran.stdout.contains("status 0"), "{}", ran.stdout);
}

/// The first Ctrl-C ends the run with its report, which waits for what is under way; the second, however soon, ends the process.
#[test]
fn a_second_signal_ends_at_once() {
    use rustix::process::Signal;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().to_string();
    let running = start(["http", &at, "-c", "1", "-d", "50s", "--timeout", "50s"]);
    // Whoever only looks whether somebody listens says nothing.
    let asks = |stream: &std::io::Result<std::net::TcpStream>| {
        stream.as_ref().is_ok_and(|mut stream| stream.read(&mut [0]).is_ok_and(|bytes| bytes > 0))
    };
    let _asking = listener.incoming().find(asks);
    running.signal(Signal::INT);
    std::thread::sleep(std::time::Duration::from_millis(120));
    running.signal(Signal::INT);
    let ran = running.end().ended_with(130);
    assert!(!ran.stdout.contains("requests/s"), "{}", ran.stdout);
}

#[test]
fn files_that_cannot_be_written() {
    let web = Web::start(|_| ok("x"));
    let press = format!("$WRINGER http -n 2 -c 1 -q {}", web.address);
    for (words, said) in [
        ("--json /dev/full", "the result cannot be written to /dev/full"),
        ("--html /dev/full", "the page cannot be written to /dev/full"),
        ("--json /proc/nowhere/x", "the result cannot be written to /proc/nowhere/x"),
        ("--html /", "the page cannot be written to /"),
    ] {
        refused(&format!("{press} {words}"), 1, &[said]);
    }
    let asked = web.seen().len();
    refused(&format!("{press} --json /nowhere/x"), 1, &["/nowhere/x"]);
    assert_eq!(web.seen().len(), asked, "it is tried before the run");
    let url = format!("http://{}/", web.address);
    for (line, said) in [
        (format!("$WRINGER ab -n 1 -g /dev/full {url}"), "gnuplot"),
        (format!("$WRINGER ab -n 1 -e /dev/full {url}"), "CSV"),
        (format!("$WRINGER ab -n 1 --json=/dev/full {url}"), "the result"),
        (format!("$WRINGER wrk -d 1 -c 1 -t 1 --json /dev/full {url}"), "the result"),
        (format!("$WRINGER siege -c 1 -r 1 -q -l/dev/full {url}"), "/dev/full"),
    ] {
        refused(&line, 1, &[said]);
    }
}

/// One page lost does not cost the other, nor does it hide what is worse.
#[test]
fn what_can_be_written_is_and_wrong_answers_weigh_more() {
    let web = Web::start(|_| ok("x"));
    let press = format!("$WRINGER http -n 2 -c 1 -q {} --expect-text y", web.address);
    let ran = shell(&format!("{press} --json /dev/full --html page.html")).ended_with(3);
    assert!(ran.stderr.contains("the result cannot be written") && !ran.file("page.html").is_empty());
    refused(&format!("{press} > /dev/full"), 3, &["standard output cannot be written"]);
    refused(
        &format!("{press} --evidence-file /dev/full"),
        3,
        &["evidence of failed checks cannot be written"],
    );
}

#[test]
fn names_that_are_no_text() {
    let web = Web::start(|_| ok("x"));
    let ran = shell(&format!("$WRINGER http -n 2 -c 1 -q --json $'\\xff.json' {} && ls", web.address))
        .ended_with(0);
    assert!(ran.stdout.contains(".json"), "{}", ran.stdout);
}

#[test]
fn a_terminal_that_goes_away_ends_the_run_with_its_report() {
    use rustix::process::Signal;
    let web = Web::start(|_| ok("x"));
    let host = web.address.to_string();
    // Whoever starts the tests may have told them not to hear of it, which programs hand on (signal(7)).
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    let hears_hup = u64::from_str_radix(ignored, 16).unwrap() & 1 == 0;
    let all = [Signal::HUP, Signal::TERM, Signal::INT];
    for signal in all.into_iter().filter(|signal| hears_hup || *signal != Signal::HUP) {
        let before = web.seen().len();
        let gate = ["--fail-if", "p99>0ms"];
        let words =
            ["http", &host, "-d", "50s", "--rate", "20", "--json", "{}/result.json"].into_iter().chain(gate);
        let running = start(words);
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while web.seen().len() == before {
            assert!(std::time::Instant::now() < until, "nothing was sent");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        running.signal(signal);
        let ran = running.end().ended_with(128 + signal.as_raw());
        assert!(ran.stdout.contains("interrupted"), "{}", ran.stdout);
        assert!(
            ran.stdout.contains("1 condition not evaluated: the run was ended before its time"),
            "{}",
            ran.stdout
        );
        let json = ran.file("result.json");
        assert!(json.contains("\"complete\": false") && json.contains("\"unevaluated\": true"), "{json}");
    }
    // Who is started with nohup does not hear of it.
    let script = format!(
        "(trap '' HUP; exec $WRINGER http {host} -q -n 20 --rate 20 --json result.json) & sleep 0.4; kill -HUP $!; wait $!"
    );
    let ran = shell(&script).ended_with(0);
    assert!(!ran.stdout.contains("interrupted"), "{}", ran.stdout);
}

#[test]
fn a_run_is_ended_by_what_it_is_told_to_stop_at() {
    let web = Web::start(|_| answer("500 Broken", "", ""));
    let host = web.address.to_string();
    let stops = ["--stop-if", "errors>50% for 2s,p99>50s for 3s"];
    let words = ["http", &host, "--rate", "50", "-d", "15m", "-q", "--json", "{}/result.json"];
    let ran = start(words.into_iter().chain(stops)).end().ended_with(3);
    let report = ran.report();
    assert_eq!(report.text("thresholds/0/condition"), "errors>50% for 2s");
    let notes = report.notes();
    assert!(notes.contains("by its condition: errors>50% for 2s, since 0.0 s"), "{notes}");
    for words in [&["http", &host][..], &["tcp", &host, "--message", "x"], &["cache", &host]] {
        let ran = start(words.iter().copied().chain(stops).chain(["--show-plan"])).end().ended_with(0);
        assert!(ran.stdout.contains("\"errors>50% for 2s\",\n    \"p99>50s for 3s\""), "{}", ran.stdout);
    }
    start(["http", &host, "--stop-if", "errors>50%"]).end().refused_with(2, &["does not say for how long"]);
}
