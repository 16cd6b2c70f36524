//! `wringer capture` from outside: logs that are whole, packed, broken, or none at all.

use crate::plans::with_files;
use crate::support::{Ran, fits_schema, folder, shell, start_in};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write;
use tempfile::TempDir;

/// A line of a combined log, so many seconds after ten o'clock.
fn combined(second: u32, request: &str, status: u16, bytes: u32) -> String {
    let minute = second / 60;
    let second = second % 60;
    format!(
        "192.0.2.7 - ada [27/Nov/2026:10:{minute:02}:{second:02} +0000] \"{request}\" {status} {bytes} \"-\" \"curl/8\"\n"
    )
}

/// Ten requests in ten seconds.
fn ten(from: u32) -> String {
    (from..from + 10)
        .map(|at| combined(at, &format!("GET /{at}?key=s3cr3t-{at} HTTP/1.1"), 200, 1_000))
        .collect()
}

fn in_folder(folder: TempDir, line: &str) -> Ran {
    start_in(folder, line.split_whitespace()).end()
}

/// The JSON that was written.
fn told(ran: &Ran) -> Value {
    serde_json::from_str(&ran.file("told.json")).expect("JSON")
}

#[test]
fn a_log_becomes_a_recording_that_says_what_it_left_out() {
    let log = ten(0) + &combined(10, "-", 400, 0) + &combined(11, "CONNECT h:443 HTTP/1.1", 200, 0);
    let files = with_files(&[("access.log", &log)]);
    let ran = in_folder(files, "capture {}/access.log -o {}/day.rec --json {}/told.json").ended_with(0);
    assert!(
        ran.stdout.contains("day.rec: 10 requests over ")
            && ran.stdout.contains("; 2 of 12 lines left out\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("each tells of no request: 1 line")
            && ran.stdout.contains("gaps below 1.00 s are invented"),
        "{}",
        ran.stdout
    );
    let told = told(&ran);
    fits_schema("capture", &told);
    assert_eq!((&told["summary"]["requests"], &told["lines"]), (&json!(10), &json!(12)));
    assert_eq!(told["left_out"]["reasons"]["connect"]["count"], json!(1));
    assert_eq!(ran.mode("day.rec"), 0o600);
    let bytes = std::fs::read(ran.folder.path().join("day.rec")).unwrap();
    for private in [&b"s3cr3t"[..], b"192.0.2.7", b"ada", b"curl"] {
        assert!(
            !bytes.windows(private.len()).any(|window| window == private),
            "{private:?} is in the recording"
        );
    }
    let ran =
        in_folder(with_files(&[("access.log", &log)]), "capture {}/access.log -o {}/day.rec --keep query -q")
            .ended_with(0);
    let bytes = std::fs::read(ran.folder.path().join("day.rec")).unwrap();
    assert!(bytes.windows(6).any(|window| window == b"s3cr3t"), "it was to be kept");
}

#[test]
fn logs_come_in_any_order_and_packed() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(ten(10).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let files = with_files(&[("late.log", &ten(20)), ("first.log", &ten(0))]);
    std::fs::write(files.path().join("middle.gz"), &packed).unwrap();
    std::fs::write(files.path().join("cut.gz"), &packed[..packed.len() / 2]).unwrap();
    let line = "capture {}/late.log {}/middle.gz {}/first.log -o {}/day.rec --json {}/told.json";
    let ran = in_folder(files, line).ended_with(0);
    assert_eq!(told(&ran)["summary"]["requests"], json!(30));
    let at = ran.folder.path().display().to_string();
    shell(&format!("cd {at}; $WRINGER capture cut.gz -o cut.rec; code=$?; test ! -e cut.rec && exit $code"))
        .refused_with(1, &["cut.gz cannot be read", "breaks off"]);
    shell(&format!("cd {at}; $WRINGER capture first.log late.log first.log -o twice.rec"))
        .refused_with(2, &["first.log has the same content as first.log"]);
    shell(&format!("cd {at}; cat late.log | $WRINGER capture - -o piped.rec")).ended_with(0);
}

#[test]
fn a_check_writes_nothing_and_shows_what_is_read() {
    let log = ten(0) + "what is this\n";
    let ran = in_folder(with_files(&[("access.log", &log)]), "capture {}/access.log --check").ended_with(1);
    assert!(ran.stdout.starts_with("nothing was written; there are 10 requests over"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("access.log line 11 column 9: what is this")
            && ran.stdout.contains("GET /0?key="),
        "{}",
        ran.stdout
    );
    assert!(ran.stderr.contains("more than --tolerate 1.0 %"), "{}", ran.stderr);
    in_folder(with_files(&[("access.log", &log)]), "capture {}/access.log --check --tolerate 10%")
        .ended_with(0);
    in_folder(with_files(&[("access.log", &log)]), "capture {}/access.log -o {}/day.rec")
        .refused_with(1, &["1 of 11 lines could not be read", "column 9", "--tolerate"]);
}

#[test]
fn files_of_goreplay_are_told_by_their_first_line() {
    let record = |kind: u8, ms: u64, message: &str| {
        let at = 1_795_746_709_000_000_000 + ms * 1_000_000;
        format!("{kind} 8f2a7c11d0e39b4455aa667{kind} {at} 0\n{message}\n🐵🙈🙉\n")
    };
    let asked = record(1, 0, "GET /a HTTP/1.1\r\nHost: h.example\r\n\r\n");
    let file = asked + &record(1, 9, "HEAD /b HTTP/1.1\r\nHost: h.example\r\n\r\n");
    for words in ["", "--log-format gor"] {
        let files = with_files(&[("a.gor", &file)]);
        let ran = in_folder(files, &format!("capture {{}}/a.gor --check --keep path {words}"));
        // The second has the id of the first, which has no answer any more.
        let ran = ran.ended_with(0);
        assert!(
            ran.stdout.contains("a.gor: format gor") && ran.stdout.contains("GET //h.example/a 200"),
            "{}",
            ran.stdout
        );
    }
    in_folder(with_files(&[("a.log", &ten(0))]), "capture {}/a.log --check --log-format gor")
        .refused_with(1, &["nothing to replay: 1 line"]);
}

#[test]
fn formats_are_named_found_and_printed() {
    let configuration =
        "http { log_format mine '$msec $status $body_bytes_sent \"$request\" $request_time'; }";
    let log = "1795746709.677 200 73016 \"GET /a HTTP/1.1\" 0.500\n1795746709.900 200 5 \"GET /b HTTP/1.1\" 0.001\n";
    let files = || with_files(&[("nginx.conf", configuration), ("mine.log", log)]);
    let line = "capture {}/mine.log --log-format @{}/nginx.conf:mine --check";
    let ran = in_folder(files(), line).ended_with(0);
    // The begin is the end less the duration.
    assert!(ran.stdout.contains("2026-11-27T02:31:49.177Z  GET /a 200 73.0 kB in 500 ms"), "{}", ran.stdout);
    in_folder(files(), "capture {}/mine.log --log-format @{}/nginx.conf:yours --check")
        .refused_with(2, &["it has mine"]);
    in_folder(files(), "capture {}/mine.log --check")
        .refused_with(2, &["mine.log: no known format fits its first line"]);
    let printed = in_folder(folder(), "capture --print-format nginx").ended_with(0).stdout;
    assert!(printed.contains("log_format wringer") && printed.contains("--log-format '$msec"), "{printed}");
    in_folder(folder(), "capture --print-format iis").refused_with(2, &["one of nginx, apache"]);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let bad = ten(0) + "x\nx\n";
    let files = || {
        with_files(&[("access.log", &ten(0)), ("empty.log", ""), ("ats.blog", "\u{0}"), ("bad.log", &bad)])
    };
    for (line, code, said) in [
        ("capture {}/access.log", 2, "--output <FILE>"),
        ("capture {}/access.log -o -", 2, "a recording is read in any order"),
        ("capture {}/access.log -o /dev/null", 2, "is no file"),
        ("capture {}/missing.log -o {}/x.rec", 2, "missing.log cannot be read"),
        ("capture {}/empty.log -o {}/x.rec", 1, "nothing to replay: 0 lines"),
        ("capture {}/bad.log -o {}/x.rec --log-format combined", 1, "2 of 12 lines"),
        ("capture {}/access.log -o {}/x.rec --zone Mars", 2, "'Mars' is no zone"),
        ("capture {}/access.log -o {}/x.rec --keep all", 2, "'all' is nothing that is kept"),
        ("capture {}/access.log -o {}/x.rec --user-by connection", 2, "no line tells it"),
        ("capture {}/access.log -o {}/x.rec --user-by name", 2, "ip+agent, ip, connection"),
        ("capture {}/access.log -o {}/x.rec --key {}/access.log", 2, "it holds no key"),
        ("capture {} -o {}/x.rec", 2, "is a folder"),
    ] {
        let ran = in_folder(files(), line).refused_with(code, &[said]);
        assert!(!ran.folder.path().join("x.rec").exists(), "{line}");
    }
    let folder = folder();
    std::fs::write(folder.path().join("ats.blog"), [0xce, 0xfa, 0xce, 0x0a, 2, 0, 0, 0]).unwrap();
    in_folder(folder, "capture {}/ats.blog -o {}/x.rec").refused_with(1, &["traffic_logcat reads this"]);
}

#[test]
fn recordings_under_one_key_agree_on_who_is_who() {
    let files = with_files(&[("access.log", &ten(0))]);
    let at = files.path().display().to_string();
    let both = "for i in 1 2; do $WRINGER capture access.log -o $i.rec --key key.txt -q; done; cmp 1.rec 2.rec && stat -c %a key.txt";
    let ran = shell(&format!("cd {at} && {both}")).ended_with(0);
    assert!(ran.stdout.ends_with("600\n"), "{}", ran.stdout);
    let other = "for i in 3 4; do $WRINGER capture access.log -o $i.rec -q; done; cmp -s 3.rec 4.rec";
    shell(&format!("cd {at} && {other}")).ended_with(1);
}

/// Mirrored requests are answered with 204 at once, and each is in the recording; a signal ends the capture with a whole one.
#[test]
fn mirrored_requests_are_answered_at_once_and_recorded() {
    let ran = shell(
        "set -e; at=$(mktemp -d); cd $at; $WRINGER capture --listen 127.0.0.1:0 -o live.rec --keep query,path 2> told & pid=$!
         for _ in $(seq 600); do grep -q 'listening at' told 2> /dev/null && break; sleep 0.1; done
         url=$(sed -n 's/.*listening at \\(http:[^ ]*\\) .*/\\1/p' told)
         for n in $(seq 5); do curl -s -o /dev/null -w '%{http_code} ' -H 'Host: shop.invalid-shadow' -H 'X-Forwarded-For: 192.0.2.7' $url/o/$n; done
         curl -s -o /dev/null -w '%{http_code}\\n' -d body $url/posted
         kill -INT $pid; wait $pid; echo ended $?
         $WRINGER replay live.rec http://127.0.0.1:9 --real-origin --show-plan | grep -o 'http://shop.invalid/o/[0-9]' | sort -u | wc -l
         cd /; rm -r $at",
    )
    .ended_with(0);
    assert!(ran.stdout.contains("204 204 204 204 204 204\n"), "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("6 requests over") && ran.stdout.contains("ended 0\n5\n"), "{}", ran.stdout);
}

/// Each construct of a replay file of proxy-verifier's is read, passed by and counted, or left out with its line.
#[test]
fn replay_files_of_proxy_verifier_are_read() {
    let file = "meta: {version: '1.0'}\nsessions:\n- transactions:\n  - client-request: {method: GET, url: /a, version: '1.1', headers: {fields: [[Host, h.invalid]]}}\n    \
                proxy-request: {expect: absent}\n    server-response: {status: 200, content: {size: 32}}\n  - client-request:\n      frames:\n      - RST_STREAM: {error-code: CANCEL}\n";
    let files = with_files(&[("a.replay.yaml", file)]);
    let at = files.path().display();
    let ran = shell(&format!("$WRINGER capture {at}/a.replay.yaml -o {at}/a.rec")).ended_with(0);
    for told in [
        "1 request over",
        "line 9: a frame RST_STREAM",
        "format proxy-verifier",
        "proxy-request is passed by, 1 time",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
}

/// Packets of loopback, while nginx's place is taken by our origin: each request once, with status, size and time.
#[test]
fn packets_of_an_interface_become_a_recording() {
    let ran = shell(
        "at=$(mktemp -d); cd $at; $WRINGER origin --listen 127.0.0.1:0 -q > origin 2>&1 & origin=$!
         for _ in $(seq 600); do grep -q 'listens at' origin 2> /dev/null && break; sleep 0.1; done
         port=$(sed -n 's/.*127.0.0.1:\\([0-9]*\\).*/\\1/p' origin | head -1)
         $WRINGER capture --interface lo --port $port -o live.rec --json told.json --keep path > said 2> told & pid=$!
         for _ in $(seq 600); do grep -q 'are read' told 2> /dev/null && break; kill -0 $pid 2> /dev/null || break; sleep 0.1; done
         $WRINGER http http://127.0.0.1:$port/w/1/3000 -n 300 -c 3 -q > /dev/null
         sleep 1; kill -INT $pid 2> /dev/null; wait $pid; code=$?; kill $origin; cat told said; echo \"ended $code\"
         cat told.json 2> /dev/null; cd /; rm -r $at",
    );
    if ran.stdout.contains("for those who have the right") {
        skip!("packets are only read with CAP_NET_RAW");
    }
    assert!(ran.stdout.contains("ended 0\n") && ran.stdout.contains("300 requests over"), "{}", ran.stdout);
    let told: Value =
        serde_json::from_str(ran.stdout.split_once("ended 0\n").expect("an end").1).expect("JSON");
    fits_schema("capture", &told);
    assert_eq!(told["summary"]["objects"], json!(1), "{told}");
    assert_eq!(told["lost_share"], json!(0.0), "{told}");
}

#[test]
fn an_interface_that_cannot_be_heard_is_said() {
    let line = "capture --interface nosuch0 -o {}/x.rec";
    in_folder(with_files(&[]), line).refused_with(1, &["there is no such interface, there are", "lo"]);
    let line = "capture --interface lo --port 0 -o {}/x.rec";
    in_folder(with_files(&[]), line).refused_with(2, &["0 is not in 1..=65535"]);
    let line = "capture --interface lo --listen 127.0.0.1:0 -o {}/x.rec";
    in_folder(with_files(&[]), line).refused_with(2, &["cannot be used with"]);
}

/// As logs are just after they were rotated; one that is alone tells nothing.
#[test]
fn an_empty_log_among_others_is_a_note() {
    let folder = with_files(&[("a.log", &ten(0)), ("b.log", ""), ("c.log", "\n \n")]);
    let ran = in_folder(folder, "capture {}/a.log {}/b.log {}/c.log -o {}/x.rec").ended_with(0);
    assert!(ran.stderr.contains("b.log is empty") && ran.stderr.contains("c.log is empty"), "{}", ran.stderr);
    let ran = in_folder(with_files(&[("b.log", "")]), "capture {}/b.log -o {}/x.rec").ended_with(1);
    assert!(ran.stderr.contains("nothing to replay"), "{}", ran.stderr);
}

/// A pipe that says nothing and does not end holds no capture up that is to end.
#[test]
fn a_signal_ends_a_capture_of_a_silent_pipe() {
    let script = format!(
        "mkfifo p; timeout 60 $WRINGER capture - -o x.rec < p & pid=$!; exec 3> p; printf '%s' '{}' >&3
         sleep 1; kill -TERM $pid; wait $pid; echo \"ended with $?\"; exec 3>&-",
        ten(0)
    );
    let ran = shell(&script).ended_with(0);
    assert!(ran.stdout.contains("ended with 143"), "{}{}", ran.stdout, ran.stderr);
}
