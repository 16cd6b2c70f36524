//! Bad input of `wringer capture` and `wringer replay` from outside: what cannot be meant ends with 2, what cannot start or finish with 1,
//! and each says what is wrong, where, and what to try.

use crate::plans::with_files;
use crate::support::{Ran, Report, shell};
use crate::web::{Web, ok};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

const FORMAT: &str = "json:time=t,method=m,path=p,status=s,bytes=b";

fn line(ms: u128, method: &str, path: &str) -> String {
    format!("{{\"t\":{ms},\"m\":\"{method}\",\"p\":\"{path}\",\"s\":200,\"b\":1}}\n")
}

/// A folder with a recording of so many requests, `day.rec`.
fn recorded(method: &str, requests: u128) -> TempDir {
    let lines: String =
        (0..requests).map(|nth| line(1_795_746_709_000 + nth, method, &format!("/{nth}"))).collect();
    let files = with_files(&[("app.log", &lines)]);
    run(files.path(), &format!("capture app.log --log-format '{FORMAT}' -o day.rec -q")).ended_with(0);
    files
}

fn run(at: &Path, words: &str) -> Ran {
    shell(&format!("cd {}; $WRINGER {words}", at.display()))
}

/// Squid's lines and Traffic Server's look alike, and mean different times.
#[test]
fn two_formats_that_fit_are_asked_for() {
    let line = "971211336.250 125 192.0.2.1 TCP_MISS/200 1500 GET http://h.example/a - DIRECT/198.51.100.7 text/html\n";
    let files =
        with_files(&[("a.log", line), ("odd.log", "192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] GET /\n")]);
    run(files.path(), "capture a.log -o a.rec")
        .refused_with(2, &["fit squid and ats", "--log-format one of them"]);
    run(files.path(), "capture a.log -o a.rec --log-format ats -q").ended_with(0);
    run(files.path(), "capture odd.log -o a.rec").refused_with(
        2,
        &[
            "no known format fits its first line, '192.0.2.1 - -",
            "(vhost_combined fits up to column 48, where %u should be",
        ],
    );
}

#[test]
fn a_log_of_posts_alone_has_nothing_to_replay() {
    let files = recorded("POST", 20);
    let ran = run(files.path(), "replay day.rec http://127.0.0.1:9 --real-origin");
    let ran = ran.refused_with(1, &["nothing to replay: 20 requests of day.rec not sent: 20 of a method that --methods does not name\n"]);
    assert!(!ran.stderr.contains("LRU"), "nothing is told of requests that are not there: {}", ran.stderr);
}

/// Damage is named with its block and the place in the file; what is whole is only read where that is asked for.
#[test]
fn damaged_and_newer_recordings_are_refused_with_the_place() {
    let files = recorded("GET", 400);
    let at = files.path();
    let bytes = std::fs::read(at.join("day.rec")).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(at.join(name), bytes).unwrap();
    let block = bytes.windows(5).position(|window| window == b"\xf7rs\nR").expect("a block");
    let mut damaged = bytes.clone();
    damaged[block + 60] ^= 1;
    write("damaged.rec", &damaged);
    let mut newer = bytes.clone();
    newer[8] = 9;
    write("newer.rec", &newer);
    let to = "http://127.0.0.1:9 --real-origin";
    run(at, &format!("replay damaged.rec {to}"))
        .refused_with(1, &[&format!("damaged.rec: its block 0 at byte {block} is damaged"), "--salvage"]);
    run(at, &format!("replay newer.rec {to}")).refused_with(1, &["version 9", "a newer one is needed"]);
    run(at, &format!("replay damaged.rec {to} --salvage")).refused_with(1, &["400 requests missing"]);
    run(at, "fit damaged.rec").refused_with(1, &["its block 0 at byte"]);
}

#[test]
fn more_requests_than_memory_holds_are_refused_before_the_start() {
    let files = recorded("GET", 20);
    run(files.path(), "replay day.rec http://127.0.0.1:9 --real-origin --loop 30000000")
        .refused_with(1, &["more than 20000000 requests would be sent", "--sample-users"]);
    for words in ["--speed 0", "--speed NaN", "--multiply inf"] {
        run(files.path(), &format!("replay day.rec http://127.0.0.1:9 --real-origin {words}"))
            .refused_with(2, &["is no factor"]);
    }
    // The objects of an origin are asked for under its own name.
    run(files.path(), "replay day.rec 127.0.0.1:9 --as-origin -H host:a")
        .refused_with(2, &["one Host field", "--as-origin"]);
}

/// Each user has a connection of its own, and here are more users than descriptors.
#[test]
fn a_replay_for_which_this_machine_has_too_little_is_refused_before_the_start() {
    let web = Web::start(|_| ok("x"));
    let visit = |nth: u64, ms: u64| {
        let at = 1_795_746_709_000 + ms + nth;
        format!("{{\"t\":{at},\"p\":\"/{nth}\",\"a\":\"10.0.{}.{}\"}}\n", nth / 250, nth % 250)
    };
    let lines: String =
        (0..300).map(|nth| visit(nth, 0)).chain((0..300).map(|nth| visit(nth, 2_000))).collect();
    let files = with_files(&[("app.log", &lines)]);
    let format = "json:time=t,path=p,address=a";
    run(files.path(), &format!("capture app.log --log-format {format} -o day.rec -q")).ended_with(0);
    let words = format!("replay day.rec http://{} --real-origin --gaps think -t 1", web.address);
    shell(&format!("cd {}; ulimit -n 100; $WRINGER {words}", files.path().display())).refused_with(
        1,
        &["300 connections at once need more file descriptors than the 100 allowed", "ulimit -n"],
    );
    assert!(web.seen().is_empty(), "nothing was sent");
}

/// Two recordings in one file are none: what the second one has would be passed by without a word.
#[test]
fn a_recording_with_something_behind_it_is_refused_with_the_place() {
    let files = recorded("GET", 40);
    let at = files.path();
    let end = std::fs::metadata(at.join("day.rec")).unwrap().len();
    shell(&format!("cd {}; cat day.rec day.rec > both.rec", at.display())).ended_with(0);
    run(at, "replay both.rec http://127.0.0.1:9 --real-origin").refused_with(
        1,
        &[&format!("both.rec: {end} bytes stand behind its end at byte {end}"), "--salvage"],
    );
}

/// Whoever may not hear packets is told how to be allowed to.
#[test]
fn packets_are_refused_without_the_right_to_them() {
    let ran = shell(
        "at=$(mktemp -d); chmod 777 $at; cd $at
         setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all $WRINGER --version > version 2>&1 || echo cannot
         setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all $WRINGER capture --interface lo -o x.rec; echo ended $?
         ls; cd /; rm -r $at",
    );
    if ran.stdout.contains("cannot") {
        skip!("nobody else can be asked to run the program");
    }
    assert!(ran.stdout.contains("ended 1\n") && !ran.stdout.contains("x.rec"), "{}", ran.stdout);
    assert!(ran.stderr.contains("setcap cap_net_raw+ep"), "{}", ran.stderr);
}

/// A target that is slower than the log: what finds no place is counted as not sent, and nothing waits for it.
#[test]
fn a_live_copy_of_more_than_its_target_answers_overflows() {
    let web = Web::start(|_| {
        sleep(Duration::from_millis(300));
        ok("x")
    });
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let lines: String = (0..20).map(|nth| line(now + nth * 20, "GET", &format!("/{nth}"))).collect();
    let files = with_files(&[("lines", &lines)]);
    let words = format!(
        "replay --follow - http://{} --real-origin --ignore-exit -q --json result.json --no-keep --log-format '{FORMAT}' --lag 1s \
         --max-lag 1h --max-cpu 9000% --in-flight 1 -t 1 < lines",
        web.address
    );
    run(files.path(), &words).ended_with(3);
    let report = Report::of(&std::fs::read_to_string(files.path().join("result.json")).unwrap());
    let sent = report.sum("requests");
    let over = report.sum("overflow");
    assert_eq!((sent + over, sent), (20, web.seen().len() as u64));
    assert!(over > 0, "{sent} were sent");
}
