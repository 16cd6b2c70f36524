use super::results::{hit, line};
use super::*;
use crate::tests;
use ::plan::{Pace, Phase, Step};
use measure::{Failure, FailureKind, Outcome, Record, Stage};
use std::path::Path;
use std::time::Duration;

const TARGETS: &str = "GET http://h/a\nX-A: b\n\nPOST http://h:81/b\n@body\n";

fn parse_line(line: &str) -> Result<Run, ToolShown> {
    let read = |file: &Path| match file.to_str() {
        Some("-") => Ok(TARGETS.as_bytes().to_vec()),
        Some("marked") => Ok(format!("\u{feff}{TARGETS}").into_bytes()),
        Some("secure") => Ok(b"GET https://h/\n".to_vec()),
        Some("json") => Ok(b"{\"method\": \"PUT\", \"url\": \"http://h/\", \"body\": \"aGk=\"}\n".to_vec()),
        Some("results") => Ok(RESULTS.as_bytes().to_vec()),
        Some("empty") => Ok(Vec::new()),
        _ => tests::read_file(file),
    };
    parse(&tests::words(line), 7, &read)
}

fn run(line: &str) -> Run {
    let run = parse_line(line).unwrap_or_else(|shown| panic!("{line}: {shown:?}"));
    assert_eq!(run.plan.check(), Vec::<String>::new(), "{line}");
    run
}

fn phase(run: &Run) -> &Phase {
    tests::phase(&run.plan)
}

/// Method, URL, fields and body of each target.
fn requests(run: &Run) -> Vec<String> {
    let Step::Requests(step) = &phase(run).scenario.steps[0] else { panic!("{run:?}") };
    let request = |listed: ::plan::Request| {
        let fields: String =
            listed.fields.iter().map(|field| format!("{}: {}|", field.name, field.value.text())).collect();
        format!("{} {} {fields}{}", listed.method, listed.url, String::from_utf8_lossy(&listed.body))
    };
    step.requests.iter().map(|listed| request(listed.whole())).collect()
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_target() {
    let marked = run("attack -targets marked -duration 1s");
    assert_eq!(requests(&marked), requests(&run("attack -duration 1s")));
}

#[test]
fn rates_and_ends() {
    for (line, per_second, most, requests) in [
        ("attack -duration=2s", 50.0, 10_000, Some(100)),
        ("attack -rate=100 -duration=1.5s", 100.0, 10_000, Some(150)),
        ("attack -rate=6000/1m -duration=1s -max-workers 8", 100.0, 8, Some(100)),
        ("-cpus 2 attack -rate 20/s -duration 1m", 20.0, 10_000, Some(1200)),
    ] {
        let run = run(line);
        let Pace::Rate { per_second: rate, in_flight, .. } = phase(&run).pace else { panic!("{line}") };
        assert_eq!((rate, in_flight, phase(&run).stop.requests), (per_second, most, requests), "{line}");
        assert_eq!(phase(&run).stop.after, None, "the last answer is waited for: {line}");
    }
    let closed = run("attack -rate=0 -max-workers=4 -duration=2s");
    assert_eq!(
        (&phase(&closed).pace, phase(&closed).stop.after),
        (&Pace::Users(4), Some(Duration::from_secs(2)))
    );
}

#[test]
fn targets_are_sent_as_vegeta_does() {
    let go = "User-Agent: Go-http-client/1.1|";
    assert_eq!(
        requests(&run("attack -duration=1s -header B:~c -keepalive=false")),
        [
            format!("GET http://h/a Host: h|{go}B: c|X-A: b|Accept-Encoding: gzip|Connection: close|"),
            format!(
                "POST http://h:81/b Host: h:81|{go}Content-Length: 9|B: c|Accept-Encoding: gzip|Connection: close|of a file"
            ),
        ]
    );
    assert_eq!(
        requests(&run("attack -duration=1s -targets=json -format=json -header Host:x -header User-Agent:me")),
        ["PUT http://h/ Host: x|User-Agent: me|Content-Length: 2|Accept-Encoding: gzip|hi"]
    );
}

#[test]
fn what_has_no_effect_is_told_and_what_cannot_be_meant_refused() {
    for (line, said) in [
        ("attack -duration=1s -lazy -workers=4", "-workers has no effect"),
        ("attack -duration=1s -redirects=0", "-redirects 0 follows none"),
    ] {
        let notices = run(line).notices;
        assert!(notices.iter().any(|notice| notice.starts_with(said)), "{line}: {notices:?}");
    }
    for (line, said) in [
        ("", "Usage: vegeta"),
        ("fly", "unknown command: fly"),
        ("encode", "encode is not spoken here"),
        ("attack more", "attack takes no 'more'"),
        ("attack -rate=0", "-rate=0 requires setting -max-workers"),
        ("attack -rate=x", "invalid value 'x' for flag -rate"),
        ("attack -chunked", "bodies have their length here"),
        ("attack -max-connections=5", "no -max-connections"),
        ("attack -targets=none", "none cannot be read"),
        ("attack -targets=empty", "there is no target"),
        ("attack -cert=a", "-cert and -key belong together"),
        ("attack -format=x", "-format x is not known"),
        ("report -type=plot results", "-type plot is not known here"),
        ("report -type=hist[5,1] results", "give ascending times"),
        ("report none", "none cannot be read"),
        ("report body", "body, line 1: it is no JSON"),
    ] {
        let shown = parse_line(line).unwrap_err();
        assert!(shown.exit == 1 && shown.err.contains(said), "{line}: {shown:?}");
    }
}

const RESULTS: &str = concat!(
    r#"{"attack":"","seq":0,"code":200,"timestamp":"2026-11-27T07:41:32.5Z","latency":1000000,"bytes_out":2,"bytes_in":5,"#,
    r#""error":"","body":"aGVsbG8=","method":"GET","url":"http://h/","headers":{"A":["b"]}}"#,
    "\n",
    r#"{"attack":"","seq":1,"code":404,"timestamp":"2026-11-27T07:41:33Z","latency":2500000,"bytes_out":0,"bytes_in":5,"#,
    r#""error":"404 Not Found","body":null,"method":"GET","url":"http://h/","headers":null}"#,
    "\n\n",
    r#"{"attack":"","seq":2,"code":0,"timestamp":"2026-11-27T09:41:33.5+02:00","latency":500000,"bytes_out":0,"bytes_in":0,"#,
    r#""error":"refused","body":null,"method":"GET","url":"http://h/","headers":null}"#,
    "\n",
);

fn told(line: &str) -> String {
    let shown = parse_line(line).unwrap_err();
    assert_eq!((shown.exit, shown.err.as_str()), (0, ""), "{line}");
    shown.out
}

#[test]
fn a_report_adds_results_up() {
    let expected = "Requests      [total, rate, throughput]         3, 3.00, 1.00
Duration      [total, attack, wait]             1.001s, 1s, 500µs
Latencies     [min, mean, 50, 90, 95, 99, max]  500µs, 1.333ms, 1ms, 2.5ms, 2.5ms, 2.5ms, 2.5ms
Bytes In      [total, mean]                     10, 3.33
Bytes Out     [total, mean]                     2, 0.67
Success       [ratio]                           33.33%
Status Codes  [code:count]                      0:1  200:1  404:1  
Error Set:
404 Not Found
refused
";
    assert_eq!(told("report results"), expected);
    let json: serde_json::Value = serde_json::from_str(&told("report -type=json results")).unwrap();
    for (place, expected) in [
        ("/latencies/total", "4000000"),
        ("/latencies/99th", "2500000"),
        ("/latencies/min", "500000"),
        ("/duration", "1000000000"),
        ("/wait", "500000"),
        ("/requests", "3"),
        ("/status_codes/404", "1"),
        ("/errors/1", "\"refused\""),
        ("/earliest", "\"2026-11-27T07:41:32.5Z\""),
    ] {
        assert_eq!(
            json.pointer(place).map(ToString::to_string).as_deref(),
            Some(expected),
            "{place}: {json}"
        );
    }
}

#[test]
fn a_histogram_has_each_result_once() {
    let expected = "Bucket           #  %       Histogram
[0s,     1ms]    1  33.33%  #########################
[1ms,    2.5ms]  1  33.33%  #########################
[2.5ms,  +Inf]   1  33.33%  #########################
";
    assert_eq!(told("report -type=hist[0,1ms,2.5ms] results"), expected);
    assert_eq!(told("report -type=hist -buckets=[1ms,2.5ms] results"), expected);
    assert!(
        told("report empty").starts_with("Requests      [total, rate, throughput]         0, 0.00, 0.00\n")
    );
}

#[test]
fn a_result_is_read_as_it_was_written() {
    let record = |outcome, status| Record {
        number: 3,
        status,
        method: "GET".into(),
        url: "http://h/".into(),
        began: Duration::from_millis(1500),
        connect: Some(Duration::from_millis(1)),
        service: Duration::from_millis(2),
        body_bytes: 5,
        ..Record::new(outcome)
    };
    let began_ns = 1_795_765_292_000_000_001;
    let failure = Failure { kind: FailureKind::Refused, stage: Stage::Connect, reason: None };
    for (outcome, status, code, error) in [
        (Outcome::Ok, 204, 204, ""),
        (Outcome::Ok, 404, 404, "404 Not Found"),
        (Outcome::Ok, 499, 499, "499"),
        (Outcome::Failed(failure), 0, 0, "refused"),
    ] {
        let line = line(&record(outcome, status), "name", began_ns, 2);
        let read = hit(&line).unwrap();
        assert_eq!(
            (read.code, read.latency, read.bytes_in, read.bytes_out),
            (code, Duration::from_millis(3), 5, 2)
        );
        assert_eq!(read.at_ns, began_ns + 1_500_000_000);
        assert!(read.error == error || code == 0 && read.error.contains(error), "{line}");
        assert!(line.starts_with("{\"attack\":\"name\",\"seq\":3,") && line.ends_with("}\n"), "{line}");
    }
}
