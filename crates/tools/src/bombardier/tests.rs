use super::report::{intro, json, text};
use super::*;
use crate::tests;
use crate::wrk::report::tests::{exchange, result};
use ::plan::{Pace, Phase, Request};
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

fn http(run: &Run) -> &::plan::Http {
    tests::http(&run.plan)
}

#[test]
fn paces_and_ends() {
    for (line, pace, after, requests) in [
        ("h", Pace::Users(125), Some(10), None),
        ("-c 4 -n 21 http://h/", Pace::Users(4), None, Some(21)),
        ("http://h/ -c4 -d1m30s", Pace::Users(4), Some(90), None),
        ("--connections=4 --rate 20 h", Pace::Timetable { users: 4, per_second: 20.0 }, Some(10), None),
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
fn fields_are_those_of_the_client() {
    for (line, expected) in [
        ("h/a", "User-Agent: fasthttp|Host: h|"),
        (
            "-m POST -b x=1 -H B:~c h",
            "User-Agent: fasthttp|Host: h|Content-Type: application/octet-stream|Content-Length: 3|B: c|",
        ),
        ("-m GET -f body h", "User-Agent: fasthttp|Host: h|Content-Length: 9|"),
        ("-H Host:x -H User-Agent:y h", "User-Agent: y|Host: x|"),
        (
            "--http1 -a -m POST -b x=1 -H B:c h",
            "Host: h|User-Agent: Go-http-client/1.1|Content-Length: 3|B: c|Accept-Encoding: gzip|Connection: close|",
        ),
    ] {
        let fields = request(&run(line)).fields;
        let told: String =
            fields.iter().map(|field| format!("{}: {}|", field.name, field.value.text())).collect();
        assert_eq!(told, expected, "{line}");
    }
    assert_eq!(http(&run("-H Connection:~close h")).requests_per_connection, Some(1));
    assert!(http(&run("https://h/")).tls.as_ref().unwrap().verify);
    let secure = run("--http2 -k https://h/");
    assert!(http(&secure).h2.is_some() && !http(&secure).tls.as_ref().unwrap().verify);
}

#[test]
fn what_is_otherwise_is_told_and_what_cannot_be_meant_refused() {
    for (line, said) in [
        ("-n 5 -d 2s h", "-d does not count where -n is given"),
        ("-a h", "-a closes each connection here"),
        ("--http2 http://h/", "--http2 is for https:// URLs"),
    ] {
        let notices = run(line).notices;
        assert!(notices.iter().any(|notice| notice.starts_with(said)), "{line}: {notices:?}");
    }
    for (line, said) in [
        ("", "required argument 'url' not provided"),
        ("h more", "unexpected more"),
        ("-c 0 h", "-c '0': give a whole number above 0"),
        ("-d 500ms h", "-d '500ms': give at least 1s"),
        ("-s -b x h", "-s: bodies are not sent in chunks"),
        ("-o path:a h", "-o 'path:a': give plain-text or json"),
        ("-p x h", "-p 'x': give some of intro"),
        ("-H nothing h", "Invalid header format"),
        ("-f none h", "open none:"),
        ("--cert a h", "--cert and --key belong together"),
        ("-x h", "unknown option '-x'"),
    ] {
        let shown = parse_line(line).unwrap_err();
        assert!(shown.exit == 1 && shown.err.contains(said), "{line}: {shown:?}");
    }
    assert_eq!(parse_line("--help").unwrap_err(), ToolShown::told(help()));
}

fn some(phase: &mut PhaseResult) {
    for (status, service_us) in [(200, 500), (200, 1500), (404, 2000)] {
        phase.tally.exchange(&exchange(Outcome::Ok, status, service_us));
    }
    let failure = Failure { kind: FailureKind::Refused, stage: Stage::Connect, reason: None };
    phase.tally.exchange(&exchange(Outcome::Failed(failure), 0, 10));
    phase.rates.record(100, Duration::from_millis(100));
    phase.rates.record(150, Duration::from_millis(100));
}

#[test]
fn a_report() {
    let text = text(&result(some), true);
    let expected = "Statistics        Avg      Stdev        Max
  Reqs/sec      1249.75     353.55    1500.00
  Latency        1.33ms   763.76us     2.00ms
  Latency Distribution
     50%     1.50ms
     75%     2.00ms
     90%     2.00ms
     95%     2.00ms
     99%     2.00ms
  HTTP codes:
    1xx - 0, 2xx - 2, 3xx - 0, 4xx - 1, 5xx - 0
    others - 1
  Errors:
    refused - 1
  Throughput:     231.00/s
";
    let is_figure = |line: &str| {
        ["Reqs/sec", "Latency ", "%", "Throughput", "refused"].iter().any(|word| line.contains(word))
    };
    let differs = text.lines().zip(expected.lines()).find(|(is, was)| is != was && !is_figure(is));
    assert_eq!(differs, None, "{text}");
    // Figures stand in their columns.
    for (is, was) in
        text.lines().zip(expected.lines()).filter(|(_, was)| is_figure(was) && !was.contains("refused"))
    {
        assert_eq!(is.chars().count(), was.chars().count(), "{is}\n{was}");
    }
    assert!(
        text.contains("  Latency        1.33ms   763") && text.contains("     75%     2.00ms\n"),
        "{text}"
    );
}

#[test]
fn a_result_as_json() {
    let of = run("-c 2 -n 10 -l -o json -m POST -b hi -p r h/a");
    let told: serde_json::Value = serde_json::from_str(&json(&result(some), &of.view)).unwrap();
    for (place, expected) in [
        ("/spec/numberOfConnections", "2"),
        ("/spec/testType", "\"number-of-requests\""),
        ("/spec/numberOfRequests", "10"),
        ("/spec/url", "\"http://h/a\""),
        ("/spec/body", "\"hi\""),
        ("/spec/timeoutSeconds", "2"),
        ("/spec/client", "\"fasthttp\""),
        ("/result/req2xx", "2"),
        ("/result/req4xx", "1"),
        ("/result/others", "1"),
        ("/result/errors/0/count", "1"),
        ("/result/timeTakenSeconds", "2.0"),
    ] {
        assert_eq!(
            told.pointer(place).map(ToString::to_string).as_deref(),
            Some(expected),
            "{place}: {told}"
        );
    }
    assert!(
        told.pointer("/result/latency/percentiles/99").is_some()
            && told.pointer("/result/rps/percentiles/50").is_some()
    );
    let timed = run("-d 2s -o j h");
    assert!(json(&result(some), &timed.view).contains("\"testType\":\"timed\",\"testDurationSeconds\":2,"));
    assert_eq!(intro(&timed.view), "Bombarding http://h for 2s using 125 connection(s)\n");
    assert_eq!(intro(&of.view), "Bombarding http://h/a with 10 request(s) using 2 connection(s)\n");
}
