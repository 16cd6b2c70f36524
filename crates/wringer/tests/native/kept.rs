//! Runs that are kept: the report made later is the one that was printed, also of a run that was killed.

use crate::support::{Ran, folder, shell, start, start_in};
use crate::web::{Web, ok};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Returns the report, which follows the lines printed while a run went on.
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

#[test]
fn a_run_without_an_answer_has_no_times_in_lists() {
    let web = Web::start(|_| "nonsense".to_owned());
    let ran = start(["http", "-q", "-n", "3", "-c", "1", &web.address.to_string()]).end();
    assert_eq!(ran.code(), 1, "{}", ran.stderr);
    let listed = again(&ran, "runs");
    let row: Vec<&str> = listed.lines().nth(1).unwrap_or_default().split("  ").map(str::trim).collect();
    assert_eq!(row.iter().filter(|cell| **cell == "-").count(), 2, "{listed}");
    assert_eq!(again(&ran, "runs search p99<1s"), "");
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
    let gnuplot = again(&ran, "report --as ab-g");
    assert!(gnuplot.starts_with("starttime\tseconds\tctime\tdtime\tttime\twait\n"), "{gnuplot}");
    let totals: Vec<u64> =
        gnuplot.lines().skip(1).map(|row| row.split('\t').nth(4).unwrap().parse().unwrap()).collect();
    assert!(totals.len() == 400 && totals.is_sorted(), "of the measured phase alone: {gnuplot}");
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

    let slowest =
        start_in(sampled.folder, "report --keep-in here --as slowest --sampled".split_whitespace()).end();
    let (first, table) = slowest.stdout.split_once("\n\n").expect("a table");
    assert_eq!(
        first,
        format!("The slowest of {} requests, by service time (from the send to the end):", lines - 1)
    );
    assert_eq!(table.lines().count(), 11, "{table}");

    let ran = start("cache -n 100 -t 1 --keep-in here".split_whitespace()).end();
    let percentiles = start_in(ran.folder, "report --keep-in here --as ab-e".split_whitespace()).end();
    assert!(percentiles.stdout.starts_with("Percentage served,Time in ms\n0,"), "{}", percentiles.stdout);
    assert_eq!(percentiles.stdout.lines().count(), 102);
    let mut folder = percentiles.folder;
    for layout in ["jtl --sampled", "ab-g", "statistics.json", "requests.csv", "slowest"] {
        let words = format!("report --keep-in here --as {layout}");
        let refused = start_in(folder, words.split_whitespace()).end();
        assert_eq!(refused.code(), 2, "{layout}");
        assert!(refused.stderr.contains("run it with --keep exchanges"), "{layout}: {}", refused.stderr);
        folder = refused.folder;
    }
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

/// The one run file of a folder, as soon as it is longer than this.
fn longer_than(folder: &Path, bytes: u64) -> PathBuf {
    let until = Instant::now() + PATIENCE;
    loop {
        let files = runs(folder).into_iter().filter(|file| file.extension().is_some_and(|end| end == "wrun"));
        let grown = files.into_iter().find(|file| fs::metadata(file).is_ok_and(|data| data.len() > bytes));
        if let Some(file) = grown {
            return file;
        }
        assert!(Instant::now() < until, "no file of more than {bytes} bytes in {}", folder.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Longer than a busy machine takes for anything here.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn a_run_that_is_killed_at_any_moment_still_reports_all_that_was_written() {
    // As soon as there is a head; amid the first seconds; later.
    for least in [0, 1000, 4000, 9000, 14_000] {
        let running = start("cache -d 300s -t 1 --rate 100/s --keep-in here".split_whitespace());
        let file = longer_than(&running.folder().join("here"), least);
        let before = fs::read(&file).unwrap();
        let listed =
            crate::support::run(&format!("runs --keep-in {}", running.folder().join("here").display()));
        assert!(listed.stdout.contains("  goes on"), "{}", listed.stdout);
        running.signal_all(Signal::KILL);
        let ran = running.end();
        assert!(fs::read(&file).unwrap().starts_with(&before), "what was written stays");
        let text = again(&ran, "report --keep-in here");
        assert!(text.contains("ended without a word"), "{least}: {text}");
        assert!(!text.contains("  valid: "), "{least}: {text}");
        assert!(least < 9000 || text.contains("  cut off: "), "{least}: {text}");
        assert!(again(&ran, "runs --keep-in here").contains("  cut off"), "nobody writes it");
        let events = again(&ran, "report --keep-in here --as events");
        let kind = |line: &str| figure_of(line, "/kind");
        assert_eq!(events.lines().map(kind).next().as_deref(), Some("head"), "{least}");
        let seconds = events.lines().filter(|line| kind(line) == "second").count();
        assert!(least < 9000 || seconds > 0, "{least}: {events}");
    }
}

/// A text within JSON.
fn figure_of(json: &str, pointer: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_else(|why| panic!("{why}: {json}"));
    value.pointer(pointer).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

#[test]
fn a_disk_that_is_full_ends_the_file_and_not_the_run() {
    // A limit of the shell's stands for the disk: writing beyond it fails, once nobody is killed for it. What is printed goes
    // through a pipe, which has no such limit.
    let ran = shell(
        "(trap '' XFSZ; ulimit -f 4; $WRINGER cache -d 3s -t 1 --rate 100/s --keep-in here; echo code $?) 2>&1 | cat",
    );
    let said = &ran.stdout;
    assert!(said.ends_with("code 1\n"), "it was asked for by name: {said}");
    assert!(
        said.contains("note: the run file here/") && said.contains("cannot be written: File too large"),
        "{said}"
    );
    let (_, report) = said.split_once("\nwringer ").expect("a report");
    let notes = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(notes.contains("cannot be written: File too large"), "the report has it in its notes: {notes}");
    let text = again(&ran, "report --keep-in here");
    assert!(text.contains("ended without a word"), "{text}");
}

#[test]
fn two_runs_at_once_are_two_files_and_one_whose_folder_goes_ends_well() {
    let ran = shell(
        "$WRINGER cache -n 50 -t 1 --keep-in here > a.txt & $WRINGER cache -n 50 -t 1 --keep-in here > b.txt; wait; \
         $WRINGER runs --keep-in here",
    );
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
    let files = runs(&ran.folder.path().join("here"));
    assert_eq!(files.iter().filter(|file| file.extension().is_some_and(|end| end == "wrun")).count(), 2);
    assert_eq!(ran.stdout.matches("  cache  ").count(), 2, "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("  the demonstration cache on 127.0.0.1:").count(), 2, "{}", ran.stdout);

    let running = start("cache -d 3s -t 1 --rate 100/s --keep-in here".split_whitespace());
    let folder = running.folder().join("here");
    longer_than(&folder, 0);
    fs::remove_dir_all(&folder).unwrap();
    let ran = running.end();
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
}

#[test]
fn all_layouts_tell_of_the_same_requests() {
    let place = folder();
    fs::write(place.path().join("short.wrun"), SHORT).unwrap();
    let mut place = Some(place);
    let mut told = |layout: &str| {
        let words = format!("report short.wrun --as {layout}");
        let told = start_in(place.take().unwrap(), words.split_whitespace()).end();
        assert_eq!(told.code(), 0, "{layout}: {}", told.stderr);
        place = Some(told.folder);
        told.stdout
    };
    let json = told("json");
    let ended = figure(&json, "/measured/counts/ended");
    assert!(ended > 100, "{json}");
    for (layout, words) in [
        ("text", format!("{ended}")),
        ("ab", format!("Complete requests:      {ended}")),
        ("siege", format!("Transactions:\t\t{ended:>9} hits").replace(" hits", "    hits")),
        ("http_load", format!("{ended} fetches")),
        ("wrk", format!("{ended} requests in ")),
        ("wrk2", format!("{ended} requests in ")),
        ("wrktcp", format!("{ended} requests in ")),
    ] {
        let text = told(layout);
        assert!(text.contains(&words), "{layout} does not say {words}: {text}");
    }
    let csv = told("csv");
    let column = csv.lines().next().unwrap().split(',').position(|name| name == "requests").unwrap();
    let measured = csv.lines().skip(1).filter(|line| line.contains("\"measure\""));
    let sum: u64 = measured.map(|line| line.split(',').nth(column).unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(sum, figure(&json, "/measured/counts/requests"));
    assert!(told("hlog").contains("Tag=service,") && told("html").contains("<template id=\"run\">"));
    assert!(told("openmetrics").trim_end().ends_with("# EOF") && told("ab-e").lines().count() == 102);
    assert!(!told("jtest").is_empty());
}

/// The output of a run in a layout is the same in each version to come; `UPDATE_GOLDEN=1` writes the files anew.
#[test]
fn one_run_looks_the_same_in_every_layout_for_ever() {
    let golden_files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native/layouts");
    let place = folder();
    fs::write(place.path().join("short.wrun"), SHORT).unwrap();
    for layout in LAYOUTS {
        let file = place.path().join("short.wrun").display().to_string();
        let told = start(["report", &file, "--as", layout]).end();
        assert_eq!(told.code(), 0, "{layout}: {}", told.stderr);
        let golden = golden_files.join(layout);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&golden, &told.stdout).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap();
        let differs = told.stdout.lines().zip(expected.lines()).find(|(now, then)| now != then);
        assert_eq!(differs, None, "{layout}");
        assert!(told.stdout == expected, "{layout}: the end is missing, or longer");
    }
}

/// But for the page, which has tests of its own.
const LAYOUTS: [&str; 18] = [
    "text",
    "short",
    "summary",
    "junit",
    "sarif",
    "json",
    "csv",
    "events",
    "hlog",
    "openmetrics",
    "ab",
    "ab-e",
    "siege",
    "http_load",
    "wrk",
    "wrk2",
    "wrktcp",
    "jtest",
];

/// A run of two seconds.
const SHORT: &[u8] = include_bytes!("../../../record/tests/data/short.wrun");

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
