use super::report::{FortioWords, begin, json, text};
use super::*;
use crate::tests;
use crate::wrk::report::tests::{exchange, result};
use ::plan::{Arrivals, Pace, Phase, Protocol, Request};
use measure::{Failure, FailureKind, Outcome, PhaseResult, Stage};

fn parse_line(line: &str) -> Result<Run, ToolShown> {
    parse(&tests::words(line), 7, &tests::read_file)
}

fn run(line: &str) -> Run {
    let run = parse_line(line).unwrap_or_else(|shown| panic!("{line}: {shown:?}"));
    assert_eq!(run.plan.check(), Vec::<String>::new(), "{line}");
    run
}

fn phase(run: &Run) -> &Phase {
    tests::phase(&run.plan)
}

fn request(run: &Run) -> Request {
    tests::request(&run.plan)
}

#[test]
fn paces_and_ends() {
    let timetable = |users, per_second| Pace::Timetable { users, per_second };
    let rate = |per_second, arrivals| Pace::Rate { per_second, arrivals, in_flight: 2 };
    for (line, pace, after, requests) in [
        ("load h", timetable(4, 8.0), None, Some(40)),
        ("load -qps 20 -t 2s -c 2 h", timetable(2, 20.0), None, Some(40)),
        ("-qps 7 load -t 1s -c 3 h", timetable(3, 7.0), None, Some(6)),
        ("load -qps 0 -t 2s -c 2 h", Pace::Users(2), Some(2), None),
        ("load -qps 0 -n 10 -c 2 h", Pace::Users(2), None, Some(10)),
        ("load -qps 20 -t 2s -c 2 -nocatchup -uniform h", rate(20.0, Arrivals::Even), Some(2), None),
        ("load -qps 20 -t 2s -c 2 -nocatchup -jitter h", rate(20.0, Arrivals::Jitter(10)), Some(2), None),
    ] {
        let run = run(line);
        let stop = phase(&run).stop;
        assert_eq!(
            (&phase(&run).pace, stop.after, stop.requests),
            (&pace, after.map(Duration::from_secs), requests),
            "{line}"
        );
    }
}

#[test]
fn requests_are_those_of_fortio() {
    let agent = "User-Agent: fortio.org/fortio-1.66.0|";
    for (line, method, expected) in [
        ("load h/a", "GET", format!("Host: h|{agent}")),
        (
            "load -H A:~b -payload x=1 -content-type text/plain h",
            "POST",
            format!("Host: h|A: b|Content-Length: 3|Content-Type: text/plain|{agent}"),
        ),
        (
            "load -X PUT -payload-file body -user me:pw h",
            "PUT",
            format!("Host: h|Authorization: Basic bWU6cHc=|Content-Length: 9|{agent}"),
        ),
        (
            "load -keepalive=false -compression -H Host:x h",
            "GET",
            format!("Host: x|{agent}Accept-Encoding: gzip|Connection: close|"),
        ),
    ] {
        let run = run(line);
        let fields = request(&run).fields;
        let told: String =
            fields.iter().map(|field| format!("{}: {}|", field.name, field.value.text())).collect();
        assert_eq!((request(&run).method.as_str(), told), (method, expected), "{line}");
    }
    let secure = run("load -k -h2 https://h/");
    let Protocol::Http(http) = &secure.plan.load.as_ref().unwrap().protocol else { panic!() };
    assert!(http.h2.is_some() && !http.tls.as_ref().unwrap().verify);
}

#[test]
fn what_is_otherwise_is_told_and_what_cannot_be_meant_refused() {
    for (line, said) in [
        ("load h -c 5", "words behind the URL are not read: -c 5"),
        ("load -jitter h", "-jitter has no effect without -nocatchup"),
        ("load -stdclient h", "-stdclient has no effect"),
    ] {
        let notices = run(line).notices;
        assert!(notices.iter().any(|notice| notice.starts_with(said)), "{line}: {notices:?}");
    }
    for (line, said) in [
        ("", "Usage: fortio load"),
        ("load", "give a URL"),
        ("server", "server is not spoken here"),
        ("load -c 0 h", "-c 0: give 1 to"),
        ("load -grpc h", "no -grpc: wringer http has --grpc"),
        ("load -a h", "-json FILE: names of files are not made up here"),
        ("load -p 50,x h", "give percentiles with commas"),
        ("load -nope h", "flag provided but not defined: -nope"),
        ("load -http1.0 -h2 h", "exclude each other"),
        ("load -payload a -payload-file body h", "both give the body"),
        ("load -H nothing h", "give KEY:VALUE"),
    ] {
        let shown = parse_line(line).unwrap_err();
        assert!(shown.exit == 1 && shown.err.contains(said), "{line}: {shown:?}");
    }
}

fn some(phase: &mut PhaseResult) {
    for (status, service_us) in [(200, 500), (200, 1500), (200, 40_500)] {
        phase.tally.exchange(&exchange(Outcome::Ok, status, service_us));
    }
    let failed = |kind, stage| Outcome::Failed(Failure { kind, stage, reason: None });
    phase.tally.exchange(&exchange(failed(FailureKind::BadStatus, Stage::Body), 404, 700));
    phase.tally.exchange(&exchange(failed(FailureKind::Refused, Stage::Connect), 0, 100));
}

#[test]
fn a_report() {
    let view = run("load -n 5 -c 2 -qps 0 h").view;
    let text = text(&result(some), &view);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "Ended after 2s : 5 calls. qps=2.5");
    assert!(
        lines[1].starts_with("Aggregated Function Time : count 5 avg 0.008")
            && lines[1].contains(" min 0.0001 "),
        "{text}"
    );
    assert_eq!(lines[2], "# range, mid point, percentile, count");
    assert!(lines[3].starts_with(">= 0.0001 <= 0.001 , 0.00055 , 60.00, 3"), "{text}");
    assert!(lines[4].starts_with("> 0.001 <= 0.002 , 0.0015 , 80.00, 1"), "{text}");
    assert!(lines[5].starts_with("> 0.04 <= 0.04") && lines[5].ends_with(", 100.00, 1"), "{text}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("# target ")).count(), 5, "{text}");
    for words in [
        "Error cases : count 2 avg ",
        "Code 200 : 3 (60.0 %)\n",
        "Code 404 : 1 (20.0 %)\n",
        "Code  -1 : 1 (20.0 %)\n",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.ends_with(" qps\n") && text.contains("All done 5 calls (plus 0 warmup) 8."), "{text}");
    let quiet = run("load -quiet h").view;
    let short = super::report::text(&result(|_| {}), &quiet);
    assert!(
        short.starts_with("Aggregated Function Time : count 0 avg 0 ")
            && short.contains("Error cases : count 0 avg 0"),
        "{short}"
    );
}

#[test]
fn a_result_as_json() {
    let view = run("load -qps 20 -t 2s -c 2 -labels mine -p 50,99.9 -json - h/a").view;
    assert!(
        begin(&view).ends_with(" running at 20 queries per second, for 2s: http://h/a\n"),
        "{}",
        begin(&view)
    );
    let told = FortioWords { view: &view, started_unix_s: 1_795_765_292.5, threads: 2 };
    let told: serde_json::Value = serde_json::from_str(&json(&result(some), &told)).unwrap();
    for (place, expected) in [
        ("/RunType", "\"HTTP\""),
        ("/Labels", "\"mine\""),
        ("/StartTime", "\"2026-11-27T07:41:32.5Z\""),
        ("/RequestedQPS", "\"20\""),
        ("/RequestedDuration", "\"2s\""),
        ("/ActualDuration", "2000000000"),
        ("/NumThreads", "2"),
        ("/DurationHistogram/Count", "5"),
        ("/DurationHistogram/Data/0/Count", "3"),
        ("/DurationHistogram/Percentiles/1/Percentile", "99.9"),
        ("/ErrorsDurationHistogram/Count", "2"),
        ("/RetCodes/200", "3"),
        ("/RetCodes/-1", "1"),
        ("/HTTPReqTimeOut", "3000000000"),
    ] {
        assert_eq!(
            told.pointer(place).map(ToString::to_string).as_deref(),
            Some(expected),
            "{place}: {told}"
        );
    }
    assert!(told.pointer("/ConnectionStats/Data").is_some_and(serde_json::Value::is_null), "{told}");
}
