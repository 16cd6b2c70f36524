//! Command lines and what they mean.

use super::*;
use ::plan::{Dialect, Field, Pace, Plan, RequestStep, ScriptStep, Step};

const URL: &str = "http://localhost:18080/";

fn command(tool: Tool, line: &str) -> Result<Run, ToolShown> {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let read = |file: &Path| match file.to_str() {
        Some("x.lua") => Ok(b"-- a script".to_vec()),
        Some("bytes.lua") => Ok(vec![0x1b, 0xff]),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    parse(tool, &words, 7, &read)
}

fn run_of(tool: Tool, line: &str) -> Run {
    match command(tool, line) {
        Ok(run) => {
            assert_eq!(run.plan.check(), Vec::<String>::new(), "{line}");
            assert_eq!(Plan::from_text(&run.plan.to_text()).unwrap(), run.plan, "{line}");
            run
        }
        Err(shown) => panic!("{line}: {shown:?}"),
    }
}

fn refused(tool: Tool, line: &str) -> ToolShown {
    match command(tool, line) {
        Err(shown) => shown,
        Ok(run) => panic!("{line}: {run:?}"),
    }
}

fn requests(run: &Run) -> &RequestStep {
    match &run.plan.load.as_ref().unwrap().phases[0].scenario.steps[0] {
        Step::Requests(step) => step,
        other => panic!("{other:?}"),
    }
}

fn script(run: &Run) -> &ScriptStep {
    match &run.plan.load.as_ref().unwrap().phases[0].scenario.steps[0] {
        Step::Script(step) => step,
        other => panic!("{other:?}"),
    }
}

/// Connections, threads, duration and timeout in seconds.
fn sizes(run: &Run) -> (u64, u64, u64, u64) {
    let load = run.plan.load.as_ref().unwrap();
    let (users, _) = load.phases[0].pace.closed().unwrap();
    assert_eq!(
        (u64::from(users), u64::from(run.plan.threads.unwrap())),
        (run.view.connections, run.view.threads)
    );
    assert_eq!(load.phases[0].stop.after, Some(run.view.duration));
    (run.view.connections, run.view.threads, run.view.duration.as_secs(), load.limits.request.as_secs())
}

#[test]
fn options_are_read_as_getopt_reads_them() {
    for (line, expected) in [
        ("", (10, 2, 10, 2)),
        ("-t1 -c 2 -d3s", (2, 1, 3, 2)),
        ("--threads 1 --connections=1k --duration 2m --timeout=1h", (1000, 1, 120, 3600)),
        ("-Lt4 -c4 -T5", (4, 4, 10, 5)),
        ("--conn 5 --thr=1 --lat", (5, 1, 10, 2)),
        ("-c 5 -c 6", (6, 2, 10, 2)),
    ] {
        assert_eq!(sizes(&run_of(Tool::Wrk, &format!("{line} {URL}"))), expected, "{line}");
        assert_eq!(sizes(&run_of(Tool::Wrk, &format!("{URL} {line}"))), expected, "{line} behind the URL");
    }
    assert!(run_of(Tool::Wrk, &format!("-Lt4 -c4 {URL}")).view.latency);
    assert!(!run_of(Tool::Wrk, URL).view.latency);
}

#[test]
fn what_cannot_be_meant_is_told_with_the_usage() {
    for (line, complaint) in [
        ("", ""),
        ("-t0 http://h/", ""),
        ("-d0 http://h/", ""),
        ("--help", ""),
        ("-d500ms http://h/", "wrk: -d '500ms': give whole seconds, minutes or hours, such as 30s or 2m"),
        ("-c2x http://h/", "wrk: -c '2x': give a whole number, such as 100 or 10k"),
        ("-c", "wrk: option '-c' needs a value"),
        ("-r http://h/", "wrk: unknown option '-r'"),
        ("-U http://h/", "wrk: unknown option '-U'"),
        ("--latency=1 http://h/", "wrk: option '--latency' takes no value"),
        ("--t 1 http://h/", "wrk: option '--t' is ambiguous"),
        ("--nothing http://h/", "wrk: unknown option '--nothing'"),
        ("-t4 -c2 http://h/", "number of connections must be >= threads"),
        ("-c0 -t1 http://h/", "number of connections must be >= threads"),
        ("localhost:18080", "invalid URL: localhost:18080"),
        ("ftp://h/", "invalid URL: ftp://h/"),
        ("-c5000k http://h/", "wrk: -c 5000000: give at most 4000000"),
        ("-t99k -c99k http://h/", "wrk: -t 99000: give at most 65535"),
    ] {
        let shown = refused(Tool::Wrk, line);
        assert_eq!(
            (shown.err.trim_end_matches('\n'), shown.out.as_str()),
            (complaint, help(Tool::Wrk).as_str()),
            "{line}"
        );
    }
    let shown = refused(Tool::Wrk, "-v");
    assert!(shown.out.starts_with("wrk wringer/") && shown.out.ends_with(&help(Tool::Wrk)), "{}", shown.out);
}

#[test]
fn the_usage_lists_the_options_of_each_tool() {
    for option in ["--connections N", "-L, --latency", "--show-plan"] {
        assert!(help(Tool::Wrk).contains(option) && help(Tool::Wrk2).contains(option), "{option}");
    }
    for option in ["-R, --rate N", "-U, --u_latency", "-B, --batch_latency"] {
        assert!(!help(Tool::Wrk).contains(option) && help(Tool::Wrk2).contains(option), "{option}");
    }
}

#[test]
fn a_line_that_is_no_field_is_left_out_and_not_repeated() {
    let run = run_of(Tool::Wrk, "-H X_Api\u{1}:geheim -H geheim -H X-Api-Key:env:KEY http://h/");
    assert_eq!(run.notices.len(), 2, "{:?}", run.notices);
    assert!(!run.notices.concat().contains("geheim"), "{:?}", run.notices);
    let fields = &requests(&run).requests.kinds()[0].fields;
    assert!(fields.iter().any(|field| field.shown() == "X-Api-Key: env:KEY"), "{fields:?}");
}

#[test]
fn the_request_is_the_url_as_it_was_typed() {
    for (url, host, target, service) in [
        ("http://h", "h", "/", "http"),
        ("http://h:80/a/../b?c=d#e", "h:80", "/a/../b?c=d#e", "80"),
        ("https://h?x", "h", "/?x", "https"),
        ("http://[::1]:8080/", "[::1]:8080", "/", "8080"),
    ] {
        let run = run_of(Tool::Wrk, url);
        let request = &requests(&run).requests.kinds()[0];
        assert_eq!(request.target.as_deref(), Some(target));
        assert_eq!(request.fields, [Field::new("Host", host)]);
        assert_eq!(run.view.service, service);
    }
    assert_eq!(run_of(Tool::Wrk, "http://[::1]:8080/").view.host, "::1");
}

#[test]
fn fields_replace_each_other_by_name_and_broken_ones_are_told() {
    let words = ["-H", "A: 1", "-H", "B:2", "-H", "A: 3", "-H", "Host: other", "-H", "no colon", URL];
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let Ok(run) = parse(Tool::Wrk, &words, 7, &|_| unreachable!()) else { panic!("refused") };
    let fields = requests(&run).requests.kinds()[0].fields.iter();
    let fields: Vec<String> = fields.map(|field| format!("{}={}", field.name, field.value.text())).collect();
    assert_eq!(fields, ["A=3", "B=2", "Host=other"]);
    assert_eq!(run.notices, ["-H 'no ***' is left out: give a field as 'Name: value'"]);
}

#[test]
fn scripts_are_part_of_the_plan() {
    let run = run_of(Tool::Wrk, "-s x.lua http://h:81/p -H A:b one -- -two --three");
    let step = script(&run);
    assert_eq!(
        (step.file.as_str(), step.text.as_str(), step.dialect),
        ("x.lua", "-- a script", Dialect::Wrk)
    );
    assert_eq!(step.args, ["one", "-two", "--three"]);
    assert_eq!((step.url.as_str(), step.port(), step.time_batches), ("http://h:81/p", Some("81"), true));
    for (file, why) in [("none.lua", "none.lua: cannot be read"), ("bytes.lua", "bytes.lua: is not UTF-8")] {
        let shown = refused(Tool::Wrk, &format!("-s {file} {URL}"));
        assert!(shown.err.contains(why) && shown.out.is_empty(), "{shown:?}");
    }
}

#[test]
fn wrk2_needs_a_rate_and_keeps_a_timetable() {
    for line in ["http://h/", "-R0 http://h/"] {
        assert_eq!(
            refused(Tool::Wrk2, line).err,
            "Throughput MUST be specified with the --rate or -R option\n"
        );
    }
    let run = run_of(Tool::Wrk2, "-R 2k -U -c8 http://h/");
    let pace = &run.plan.load.as_ref().unwrap().phases[0].pace;
    assert_eq!(*pace, Pace::Timetable { users: 8, per_second: 2000.0 });
    assert!(run.view.latency && run.view.uncorrected);
    let batches = |line| script(&run_of(Tool::Wrk2, line)).time_batches;
    assert_eq!([batches("-R1 -s x.lua http://h/"), batches("-R1 -B -s x.lua http://h/")], [false, true]);
}

#[test]
fn nobody_is_asked_for_a_certificate() {
    let load = run_of(Tool::Wrk, "https://h/").plan.load.unwrap();
    let ::plan::Protocol::Http(http) = load.protocol else { panic!() };
    assert!(!http.tls.unwrap().verify);
}

#[test]
fn no_time_at_all_is_still_a_limit() {
    let load = run_of(Tool::Wrk, "-T0 http://h/").plan.load.unwrap();
    assert_eq!(load.limits.request, Duration::from_millis(1));
}
