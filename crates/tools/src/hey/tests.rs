use super::report::{CsvRows, HeyAsked, redirected, summary};
use super::*;
use crate::tests;
use crate::wrk::report::tests::{exchange, result};
use ::plan::{Pace, Phase, Request, RequestForm, Step};
use measure::{Failure, FailureKind, Outcome, PhaseResult, Record, RequestTimes, Stage};
use std::time::Duration;

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

fn fields(run: &Run) -> String {
    let fields = request(run).fields;
    fields.iter().map(|field| format!("{}: {}|", field.name, field.value.text())).collect()
}

#[test]
fn paces_and_ends() {
    let timetable = |users, per_second| Pace::Timetable { users, per_second };
    for (line, pace, after, requests) in [
        ("http://h/", Pace::Users(50), None, Some(200)),
        ("-n 21 -c 4 http://h/", Pace::Users(4), None, Some(20)),
        ("-z 90s -c 4 -n 1 http://h/", Pace::Users(4), Some(90), None),
        ("-z=1m30s -c=4 http://h/", Pace::Users(4), Some(90), None),
        ("-n 10 -c 2 -q 5.5 http://h/", timetable(2, 11.0), None, Some(10)),
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
fn requests_are_those_of_hey() {
    let plain = "Host: h|User-Agent: hey/0.0.1|Content-Type: text/html|Accept-Encoding: gzip|";
    for (line, method, expected) in [
        ("http://h/", "GET", plain),
        (
            "-m post -d x=1 -T text/plain -A a/b -H B:~c http://h/",
            "POST",
            "Host: h|User-Agent: hey/0.0.1|Content-Length: 3|Accept: a/b|B: c|Content-Type: text/plain|Accept-Encoding: gzip|",
        ),
        (
            "-D body -host x.test -U me -disable-compression -disable-keepalive http://h:81/",
            "GET",
            "Host: x.test|User-Agent: me hey/0.0.1|Content-Length: 9|Content-Type: text/html|Connection: close|",
        ),
        (
            "-a me:pw http://h/",
            "GET",
            "Host: h|User-Agent: hey/0.0.1|Authorization: Basic bWU6cHc=|Content-Type: text/html|Accept-Encoding: gzip|",
        ),
    ] {
        let run = run(line);
        assert_eq!((request(&run).method.as_str(), fields(&run).as_str()), (method, expected), "{line}");
    }
    assert_eq!(http(&run("-disable-keepalive http://h/")).requests_per_connection, Some(1));
    assert_eq!(http(&run("-x p:3128 http://h/")).h1.form, RequestForm::Forward);
    let secure = run("-h2 https://h/");
    assert!(http(&secure).h2.is_some() && !http(&secure).tls.as_ref().unwrap().verify);
    assert!(http(&run("-x http://p:3128 https://h/")).tunnel);
    let plain = run("http://h/");
    let Step::Requests(step) = &phase(&plain).scenario.steps[0] else { panic!() };
    assert!(step.session.redirects.is_some() && step.expect.any_status);
}

#[test]
fn what_is_otherwise_than_in_hey_is_told_and_what_cannot_be_meant_refused() {
    for (line, said) in [
        ("-n 21 -c 4 http://h/", "-n 21: each worker sends the same number, so 20 are sent"),
        ("-n 4 -c 2 http://h/ -z 1s", "words behind the URL are not read, as in hey: -z 1s"),
        ("-h2 http://h/", "-h2 is for https:// URLs"),
        ("-H Host:x http://h/", "-H Host is not sent"),
    ] {
        let notices = run(line).notices;
        assert!(notices.iter().any(|notice| notice.starts_with(said)), "{line}: {notices:?}");
    }
    for (line, exit, said) in [
        ("-n 2 -c 4 http://h/", 1, "-n cannot be less than -c"),
        ("-n 5", 1, "give a URL"),
        ("-n five http://h/", 2, "invalid value 'five' for flag -n"),
        ("-nope http://h/", 2, "flag provided but not defined: -nope"),
        ("-o xml http://h/", 1, "-o xml is not known"),
        ("-H nothing http://h/", 1, "could not parse the provided input"),
        ("-d a -D body http://h/", 1, "both give the body"),
        ("-D none http://h/", 1, "-D none:"),
        ("foo", 1, "'foo' is no URL"),
        ("-x me:pw@p:1 http://h/", 1, "name and password of a proxy"),
    ] {
        let shown = parse_line(line).unwrap_err();
        assert!(
            shown.exit == exit && shown.err.contains(said) && shown.err.contains("Usage: hey"),
            "{line}: {shown:?}"
        );
    }
    assert_eq!(parse_line("-h").unwrap_err(), ToolShown::told(help()));
}

fn add(phase: &mut PhaseResult, outcome: Outcome, status: u16, ms: u64) {
    phase.tally.exchange(&exchange(outcome, status, ms * 500));
    let processing = Duration::from_micros(ms * 500);
    phase.tally.gather(&RequestTimes {
        connect: processing,
        processing,
        waiting: processing / 2,
        kept: true,
        ended: Duration::from_millis(ms),
    });
}

#[test]
fn a_summary() {
    let result = result(|phase| {
        [1, 2, 3, 11].into_iter().for_each(|ms| add(phase, Outcome::Ok, 200, ms));
        let failure = Failure { kind: FailureKind::Refused, stage: Stage::Connect, reason: None };
        phase.tally.exchange(&exchange(Outcome::Failed(failure), 0, 10));
    });
    let expected = "
Summary:
  Total:\t2.0000 secs
  Slowest:\t0.0110 secs
  Fastest:\t0.0010 secs
  Average:\t0.0043 secs
  Requests/sec:\t2.5000
  
  Total data:\t270 bytes
  Size/request:\t67 bytes

Response time histogram:
  0.001 [1]\t|■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
  0.002 [1]\t|■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
  0.003 [1]\t|■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
  0.004 [0]\t|
  0.005 [0]\t|
  0.006 [0]\t|
  0.007 [0]\t|
  0.008 [0]\t|
  0.009 [0]\t|
  0.010 [0]\t|
  0.011 [1]\t|■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■


Latency distribution:
  10%% in 0.0020 secs
  25%% in 0.0030 secs
  50%% in 0.0110 secs
  0%% in 0.0000 secs
  0%% in 0.0000 secs
  0%% in 0.0000 secs
  0%% in 0.0000 secs

Details (average, fastest, slowest):
  DNS+dialup:\t0.0021 secs, 0.0005 secs, 0.0055 secs
  DNS-lookup:\t0.0000 secs, 0.0000 secs, 0.0000 secs
  req write:\t-, -, -
  resp wait:\t0.0011 secs, 0.0003 secs, 0.0027 secs
  resp read:\t0.0011 secs, -, -

Status code distribution:
  [200]\t4 responses

Error distribution:
  [1]\tconnection refused, connecting

";
    let text = summary(&result, &HeyAsked::default());
    let differs = text.lines().zip(expected.lines()).find(|(is, was)| is != was && !is.contains("refused"));
    assert_eq!(differs, None, "{text}");
    assert_eq!(text.lines().count(), expected.lines().count(), "{text}");
}

#[test]
fn a_summary_of_nothing() {
    let text = summary(&result(|_| {}), &HeyAsked::default());
    assert!(
        text.contains(
            "  Average:\t NaN secs\n  Requests/sec:\t0.0000\n  \n\nResponse time histogram:\n\n\nLatency"
        ),
        "{text}"
    );
    assert!(text.ends_with("\nStatus code distribution:\n\n\n\n"), "{text}");
}

#[test]
fn redirections_are_told() {
    let some = result(|phase| add(phase, Outcome::Ok, 302, 1));
    assert!(redirected(&some).unwrap().starts_with("1 answers were redirections"));
    assert_eq!(redirected(&result(|phase| add(phase, Outcome::Ok, 304, 1))), None);
}

#[test]
fn rows_have_the_parts_of_each_answer() {
    let mut rows = CsvRows::default();
    let record = |outcome, status| Record {
        status,
        connect: Some(Duration::from_millis(2)),
        first_byte: Some(Duration::from_millis(3)),
        service: Duration::from_millis(5),
        began: Duration::from_millis(100),
        ..Record::new(outcome)
    };
    rows.add(&record(Outcome::Ok, 404));
    let failure = Failure { kind: FailureKind::Refused, stage: Stage::Connect, reason: None };
    rows.add(&record(Outcome::Failed(failure), 0));
    let text = rows.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1..], ["0.0070,0.0020,0.0000,0.0000,0.0030,0.0020,404,0.1000"]);
}
