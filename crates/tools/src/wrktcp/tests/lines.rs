//! Command lines and what they mean.

use super::super::{Now, Run, ToolShown, help, parse};
use ::plan::{Pace, Plan};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

const FILE: &str = "[common]\nhost = h\nport = 1\ntimeout = 7\nconnect_timeout = 3\n[request]\nreq_body = x$(C)\n\
                    [parameters]\nC = COUNTER, 5, 9, 1\n";

fn command(line: &str) -> Result<Run, ToolShown> {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let read = |file: &Path| match file.to_str() {
        Some("a.ini" | "d.ini/b.ini.old") => Ok(FILE.into()),
        Some("plain.ini") => Ok(b"[common]\nhost = ::1\nport = 80\n[request]\nreq_body = x".to_vec()),
        Some("wrong.ini") => Ok(b"[common]\nhost = h\ncolour = red\n[reqest]\n".to_vec()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let now = Now { local: "20260720110505".to_owned(), utc: "20260720090505".to_owned(), seed: 7 };
    parse(&words, &now, &read)
}

fn run_of(line: &str) -> Run {
    match command(line) {
        Ok(run) => {
            assert_eq!(run.plan.check(), Vec::<String>::new(), "{line}");
            assert_eq!(Plan::from_text(&run.plan.to_text()).unwrap(), run.plan, "{line}");
            run
        }
        Err(shown) => panic!("{line}: {shown:?}"),
    }
}

fn refused(line: &str) -> ToolShown {
    match command(line) {
        Err(shown) => shown,
        Ok(run) => panic!("{line}: {run:?}"),
    }
}

/// Connections, threads, duration, and the time limits of connecting and of an answer, in seconds.
fn sizes(run: &Run) -> (u64, u64, u64, u64, u64) {
    let load = run.plan.load.as_ref().unwrap();
    let phase = &load.phases[0];
    let Pace::Users(users) = phase.pace else { panic!("{:?}", phase.pace) };
    assert_eq!(
        (u64::from(users), run.plan.threads.map(u64::from)),
        (run.view.connections, Some(run.view.threads))
    );
    assert_eq!((phase.stop.after, load.limits.grace), (Some(run.view.duration), Duration::ZERO));
    let seconds = [run.view.duration, load.limits.connect, load.limits.request].map(|time| time.as_secs());
    (run.view.connections, run.view.threads, seconds[0], seconds[1], seconds[2])
}

#[test]
fn options_are_read_as_getopt_reads_them() {
    for (line, expected) in [
        ("plain.ini", (1, 1, 10, 5, 5)),
        ("a.ini", (1, 1, 10, 3, 7)),
        ("-t2 -c 8 -d3s -T2 a.ini", (8, 2, 3, 3, 2)),
        ("--threads 3 --connections=8 --duration 2m --timeout=1h a.ini", (8, 3, 120, 3, 3600)),
        ("-Lt4 -c4 plain.ini -T1m", (4, 4, 10, 60, 60)),
        ("--con 5 --thr=1 --lat plain.ini", (5, 1, 10, 5, 5)),
        ("--co 5 --c 6 -- plain.ini", (6, 1, 10, 5, 5)),
        ("-c1k plain.ini", (1000, 1, 10, 5, 5)),
        ("plain.ini what follows it", (1, 1, 10, 5, 5)),
        ("--test -t4 -c9 plain.ini", (1, 1, 10, 5, 5)),
    ] {
        assert_eq!(sizes(&run_of(line)), expected, "{line}");
    }
    let run = run_of("-LIv --trace --strict --utc --json j.json --show-plan a.ini");
    let view = &run.view;
    assert!(view.latency && view.test && view.trace && view.strict && run.show_plan, "{run:?}");
    assert!(view.version.as_ref().unwrap().starts_with("wrktcp wringer/"));
    assert_eq!((view.file.as_str(), view.address.as_str(), view.wanted.as_str()), ("a.ini", "h:1", "000000"));
    assert_eq!((run.json, run.view.html), (Some(PathBuf::from("j.json")), None));
    assert_eq!(run_of("plain.ini").view.address, "[::1]:80");
    let run = run_of("plain.ini");
    assert!(!(run.view.latency || run.view.test || run.view.trace || run.view.strict || run.show_plan));
}

#[test]
fn a_test_is_one_exchange_that_is_told() {
    let run = run_of("-I -c3 plain.ini");
    let load = run.plan.load.as_ref().unwrap();
    assert_eq!(load.phases[0].stop.requests, Some(1));
    assert!(load.trace.heads && load.trace.errors);
    assert!(run.notices[0].contains("-c and -t are left out"), "{:?}", run.notices);
    let load = run_of("plain.ini").plan.load.unwrap();
    assert!(load.phases[0].stop.requests.is_none() && !load.trace.heads && !load.trace.errors);
}

#[test]
fn a_page_is_named_after_the_file_and_the_time() {
    for (line, expected) in [
        ("--html a.ini", "a.20260720110505.html"),
        ("--html= a.ini", "a.20260720110505.html"),
        ("--html d.ini/b.ini.old", "d.20260720110505.html"),
        ("--html --utc a.ini", "a.20260720090505.html"),
        ("--html=x.html a.ini", "x.html"),
        ("-Hx.html a.ini", "x.html"),
        ("-H x.html a.ini", "x.html"),
    ] {
        assert_eq!(run_of(line).view.html, Some(PathBuf::from(expected)), "{line}");
    }
}

#[test]
fn what_cannot_be_meant_is_told_with_the_usage() {
    for (line, complaint) in [
        ("", ""),
        ("-t0 a.ini", ""),
        ("-d0 a.ini", ""),
        ("--help", "command is error, input the illegal character:[h]"),
        ("-? a.ini", "command is error, input the illegal character:[h]"),
        ("-d500ms a.ini", "wrktcp: -d '500ms': give whole seconds, minutes or hours, such as 30s or 2m"),
        ("-c2x a.ini", "wrktcp: -c '2x': give a whole number, such as 100 or 10k"),
        ("a.ini -c", "wrktcp: option '-c' needs a value"),
        ("-H", "wrktcp: option '-H' needs a value"),
        ("-r a.ini", "wrktcp: unknown option '-r'"),
        ("-h a.ini", "wrktcp: unknown option '-h'"),
        ("--latency=1 a.ini", "wrktcp: option '--latency' takes no value"),
        ("--t 1 a.ini", "wrktcp: option '--t' is ambiguous"),
        ("--h a.ini", "wrktcp: option '--h' is ambiguous"),
        ("--s a.ini", "wrktcp: option '--s' is ambiguous"),
        ("--nothing a.ini", "wrktcp: unknown option '--nothing'"),
        ("-t4 -c2 a.ini", "number of connections must be >= threads"),
        ("-c0 a.ini", "number of connections must be >= threads"),
        ("-c5000k a.ini", "wrktcp: -c 5000000: give at most 4000000"),
        ("-t99k -c99k a.ini", "wrktcp: -t 99000: give at most 65535"),
        ("-d99999h a.ini", "wrktcp: -d 359996400: give at most 315360000"),
    ] {
        let shown = refused(line);
        assert_eq!(
            (shown.err.trim_end_matches('\n'), shown.out.as_str()),
            (complaint, help().as_str()),
            "{line}"
        );
    }
    let shown = refused("--version");
    assert!(shown.out.starts_with("wrktcp wringer/") && shown.out.ends_with(&help()), "{}", shown.out);
}

#[test]
fn what_is_wrong_with_a_file_is_told_line_by_line() {
    for (line, complaint) in [
        ("--html foo.html a.ini", "wrktcp: 'foo.html' has no .ini in its name: give the ini file"),
        ("none.ini", "wrktcp: none.ini: cannot be read: entity not found"),
        (
            "wrong.ini",
            "wrktcp: wrong.ini: line 3: [common] has no item 'colour'; there are host, port, http_line, keep_alive, \
             connect_timeout, timeout, tls, tls_verify\n\
             wrktcp: wrong.ini: line 4: there is no section [reqest]: give common, request, response or parameters\n\
             wrktcp: wrong.ini: port is missing: give it under [common]\n\
             wrktcp: wrong.ini: req_body is missing: give it under [request]; it may be empty",
        ),
    ] {
        let shown = refused(line);
        assert_eq!((shown.err.trim_end_matches('\n'), shown.out.as_str()), (complaint, ""), "{line}");
    }
}

#[test]
fn the_usage_lists_every_option() {
    let usage = help();
    for option in [
        "-c, --connections",
        "-d, --duration",
        "-t, --threads",
        "-T, --timeout",
        "-L, --latency",
        "--trace",
        "-H, --html           [=<F>]",
        "-I, --test",
        "-v, --version",
        "--strict",
        "--compat-counter",
        "--utc",
        "--json",
        "--show-plan",
    ] {
        assert!(usage.contains(option), "{option} in {usage}");
    }
    assert!(usage.lines().all(|line| line.len() <= 100), "{usage}");
}

#[test]
fn the_old_order_of_counters_is_asked_for() {
    let text = |line| run_of(line).plan.to_text();
    assert!(text("--compat-counter a.ini").contains("wrap = \"wrktcp\""));
    assert!(!text("a.ini").contains("wrktcp"));
    let notices = run_of("a.ini").notices;
    assert!(notices.is_empty(), "5 to 9 by 1 begin at 5 in both: {notices:?}");
}
