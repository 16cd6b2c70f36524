//! Runs that are kept: the report made later is the one that was printed, also of a run that was killed.

use crate::support::{Ran, folder, shell, start, start_in};
use crate::web::{Web, ok};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What follows the lines while a run went on.
fn report_of(stdout: &str) -> &str {
    let begins = stdout.find("\nwringer ").expect("a report");
    &stdout[begins..]
}

fn runs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.expect("a file").path()).collect()
}

/// Runs wringer again in the folder of a run.
fn again(ran: &Ran, words: &str) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_wringer"));
    command.args(words.split_whitespace()).current_dir(ran.folder.path());
    let output = command.env("XDG_STATE_HOME", ran.folder.path().join("state")).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_report_made_later_is_the_one_that_was_printed() {
    let ran = start(
        "cache -d 1s -t 1 --seed 3 --json live.json --html live.html --fail-if p99>1us --label build=4711"
            .split_whitespace(),
    )
    .end();
    assert_eq!(ran.code(), 3, "{}", ran.stderr);
    let kept = runs(&ran.folder.path().join("state/wringer/runs"));
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::metadata(&kept[0]).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(again(&ran, "report"), report_of(&ran.stdout));
    for (layout, file) in [("json", "live.json"), ("html", "live.html")] {
        let live = fs::read_to_string(ran.folder.path().join(file)).unwrap();
        assert_eq!(again(&ran, &format!("report latest --as {layout}")), live, "{layout}");
    }
    let events = again(&ran, "report --as events");
    assert!(events.lines().count() >= 4 && events.contains("\"build\":\"4711\""));
    assert!(again(&ran, "report --as csv").starts_with("at_s,seconds,phase,in_flight,p50_us,"));
    let listed = again(&ran, "runs list build=4711");
    assert!(listed.contains("cache") && listed.contains("build=4711"), "{listed}");
    assert!(!again(&ran, "runs list build=4712").contains("4711"));
}

/// A figure of the JSON report.
fn figure(json: &str, pointer: &str) -> u64 {
    let read: serde_json::Value = serde_json::from_str(json).unwrap();
    read.pointer(pointer).and_then(serde_json::Value::as_u64).unwrap_or_else(|| panic!("{pointer} in {json}"))
}

#[test]
fn single_requests_are_kept_and_laid_out_where_all_were_or_a_sample_will_do() {
    let ran = start("cache -n 400 -t 1 --seed 3 --keep exchanges".split_whitespace()).end();
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
    let total = again(&ran, "report --as openmetrics");
    let begun = total.lines().filter(|line| line.starts_with("wringer_requests_begun_total{"));
    let begun: u64 = begun.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() as u64).sum();
    let jtl = again(&ran, "report --as jtl");
    assert!(jtl.starts_with("timeStamp,elapsed,label,responseCode,"), "{jtl}");
    assert_eq!(jtl.lines().count() as u64, begun + 1);
    assert_eq!(again(&ran, "report --as requests.csv").lines().count() as u64, begun + 1);
    assert_eq!(again(&ran, "report --as jtl.xml").matches("<httpSample ").count() as u64, begun);
    assert_eq!(figure(&again(&ran, "report --as statistics.json"), "/Total/sampleCount"), begun);
    let hlog = again(&ran, "report --as hlog");
    assert!(
        hlog.contains("#[Histogram log format version 1.3]") && hlog.contains("\nTag=service,"),
        "{hlog}"
    );

    let ran = start("cache -n 2000 -t 1 --seed 3 --keep 1/10 --keep-in here".split_whitespace()).end();
    let refused = start_in(ran.folder, "report --keep-in here --as jtl".split_whitespace()).end();
    assert_eq!(refused.code(), 2);
    assert!(refused.stderr.contains("kept 1/10 of the requests only: --sampled"), "{}", refused.stderr);
    let sampled =
        start_in(refused.folder, "report --keep-in here --as jtl --sampled".split_whitespace()).end();
    let lines = sampled.stdout.lines().count();
    assert!((100..600).contains(&lines), "{lines}");
    assert!(sampled.stderr.contains("a sample: 1/10"), "{}", sampled.stderr);

    let ran = start("cache -n 100 -t 1 --keep-in here".split_whitespace()).end();
    let refused = start_in(ran.folder, "report --keep-in here --as jtl --sampled".split_whitespace()).end();
    assert!(refused.stderr.contains("run it with --keep exchanges"), "{}", refused.stderr);
}

#[test]
fn an_old_tools_run_is_kept_where_the_environment_says_so() {
    let web = Web::start(|_| ok("x"));
    let url = format!("http://{}/", web.address);
    let ran = shell(&format!(
        "WRINGER_KEEP_IN=here $WRINGER ab -n 20 {url} > ab.txt && $WRINGER report --keep-in here --as ab > again.txt && \
         $WRINGER runs --keep-in here"
    ));
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("kept: wringer report here/"), "{}", ran.stderr);
    assert!(ran.stdout.contains(" ab "), "{}", ran.stdout);
    assert!(ran.file("again.txt").contains("Complete requests:      20"), "{}", ran.file("again.txt"));
}

#[test]
fn a_run_that_was_killed_still_reports_what_it_had_told() {
    let mut running = start("cache -d 30s -t 1 --users 4".split_whitespace());
    // The line of the third second: what came before is in the file, or on its way.
    running.wait_for("\n     3 ");
    std::thread::sleep(Duration::from_millis(300));
    let seen = running.lines_of_seconds();
    running.signal_all(Signal::KILL);
    let ran = running.end();
    let text = again(&ran, "report");
    assert!(text.contains("ended without a word"), "{text}");
    let events = again(&ran, "report --as events");
    let seconds = events.lines().filter(|line| line.starts_with("{\"kind\":\"second\"")).count();
    assert!(seconds >= seen, "{seconds} of {seen} seconds");
}

#[test]
fn nothing_is_kept_where_nobody_wants_it_and_a_missing_folder_is_told() {
    let ran = start("cache -d 200ms -t 1 --no-keep".split_whitespace()).end();
    assert_eq!((ran.code(), runs(&ran.folder.path().join("state")).len()), (0, 0), "{}", ran.stderr);
    let ran = start("cache -d 200ms -t 1 --keep-in /proc/nowhere".split_whitespace()).end();
    assert_eq!(ran.code(), 1);
    assert!(ran.stderr.contains("the run cannot be written to /proc/nowhere/"), "{}", ran.stderr);
    let ran = shell("XDG_STATE_HOME=/proc/nowhere $WRINGER cache -d 200ms -t 1");
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("choose another place with --keep-in, or --no-keep"), "{}", ran.stderr);
}

#[test]
fn a_file_that_is_no_run_is_told_in_a_line() {
    let place = folder();
    fs::write(place.path().join("bad.wrun"), b"nothing of ours").unwrap();
    let ran = start_in(place, ["report", "bad.wrun"]).end();
    assert_eq!(ran.code(), 2);
    assert_eq!(ran.stderr, "wringer: bad.wrun cannot be shown: it is no run file: no record is in it\n");
}
