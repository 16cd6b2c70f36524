//! The layouts, against what the old tool prints; and what is told of one exchange.

use super::*;
use crate::wrk::report::tests::{exchange, result};
use measure::event::RequestErrorKind;
use measure::{Counts, Failure, FailureKind, Fault, Outcome, RequestError, Row, Stage, Talk, TalkEvent};

fn failed(kind: FailureKind, stage: Stage, errno: Option<i32>) -> Failure {
    Failure::new(kind, stage).with_errno(errno)
}

fn some(phase: &mut PhaseResult) {
    for (outcome, service_us) in
        [(Outcome::Ok, 100), (Outcome::Ok, 200), (Outcome::CheckFailed(Fault::BadCode), 300)]
    {
        phase.tally.exchange(&exchange(outcome, 0, service_us));
    }
    phase.tally.codes.count(Some(b"000000"), true);
    phase.tally.codes.count(Some(b"999999"), false);
    phase.rates.record(1, Duration::from_millis(1_700));
    phase.rates.record(20, Duration::from_millis(100));
}

#[test]
fn the_banner_names_the_file() {
    assert_eq!(
        banner("127.0.0.1:8000", "dir/a b.ini", 2, 8, Duration::from_secs(3)),
        "Running 3s loadtest @ 127.0.0.1:8000 using dir/a b.ini\n  2 threads and 8 connections\n"
    );
}

#[test]
fn a_run_with_answers_of_both_kinds() {
    let expected = "  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   200.00us  100.00us 300.00us  100.00%
    Req/Sec   100.25    141.07   200.00    100.00%
  Latency Distribution
     50%  200.00us
     75%  300.00us
     90%  300.00us
     99%  300.00us
  3 requests in 2.00s, 462.00B read
  Failure responses: 1
Requests/sec:      1.50    (Success:1.00/Failure:0.50)
Transfer/sec:     231.00B
";
    assert_eq!(report(&result(some), true), expected);
    assert!(!report(&result(some), false).contains("Distribution"));
}

#[test]
fn rates_below_one_per_second_are_told_to_a_tenth() {
    let text = report(&result(|phase| phase.rates.record(2, Duration::from_millis(3_100))), false);
    assert!(text.contains("    Req/Sec     0.60      0.00     0.60    100.00%\n"), "{text}");
}

#[test]
fn a_run_that_only_failed_prints_what_the_old_tool_prints() {
    let result = result(|phase| {
        for failure in [
            failed(FailureKind::Refused, Stage::Connect, Some(111)),
            failed(FailureKind::BadFrame, Stage::Body, None),
            failed(FailureKind::TooLong, Stage::Body, None),
            failed(FailureKind::Unwritable, Stage::Send, None),
            failed(FailureKind::Timeout, Stage::Head, None),
        ] {
            phase.tally.exchange(&exchange(Outcome::Failed(failure), 0, 10));
        }
    });
    let text = report(&result, false);
    let expected = "  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     0.00us    0.00us   0.00us    -nan%
    Req/Sec     0.00      0.00     0.00      -nan%
  0 requests in 2.00s, ";
    assert!(text.starts_with(expected), "{text}");
    assert!(
        text.contains("\n  Socket errors: connect 1, read 2, write 1, timeout 1\nRequests/sec:"),
        "{text}"
    );
    assert!(text.contains("\nRequests/sec:      0.00    (Success:0.00/Failure:0.00)\n"), "{text}");
    let lines = failures(&result);
    assert!(lines.contains(&"1 x connection refused (errno 111), connecting".to_owned()), "{lines:?}");
}

#[test]
fn bad_codes_are_named_and_good_ones_are_not() {
    assert_eq!(failures(&result(some)), ["1 x code 999999"]);
    let many = result(|phase| {
        (0..13).for_each(|code| phase.tally.codes.count(Some(format!("{code}").as_bytes()), false));
        (0..20).for_each(|_| phase.tally.codes.count(None, false));
    });
    let lines = failures(&many);
    assert_eq!((lines.len(), &*lines[0]), (11, "20 x an answer without a code"));
    assert_eq!(lines[10], "4 x one of 4 codes more");
}

fn second(at_s: f64, seconds: f64, (ok, check_failed, failed): (u64, u64, u64), mean_us: f64) -> Row {
    let body_bytes = 21 * ok;
    Row {
        at_s,
        seconds,
        mean_us,
        counts: Counts { ok, check_failed, failed, body_bytes, ..Counts::default() },
        ..Row::default()
    }
}

#[test]
fn the_live_line_averages_since_the_start_and_shows_the_latest_latency() {
    let mut live = Live::new(Duration::from_secs(3));
    for (row, line) in [
        (
            second(1.0002, 1.0, (5_000, 0, 0), 1_730.0),
            "\r  Time:1s TPS:4999.00/0.00 Latency:1.73ms BPS:102.52KB Error:0  ",
        ),
        (
            second(2.0, 1.0, (4_000, 1_000, 2), 472.0),
            "\r  Time:2s TPS:4500.00/500.00 Latency:472.00us BPS:92.29KB Error:2  ",
        ),
        (
            second(2.5, 0.5, (0, 0, 1), 0.0),
            "\r  Time:3s TPS:3600.00/400.00 Latency:472.00us BPS:73.83KB Error:3  ",
        ),
        (
            second(4.0, 1.5, (0, 0, 0), 0.0),
            "\r  Time:3s TPS:2250.00/250.00 Latency:472.00us BPS:46.14KB Error:3  ",
        ),
    ] {
        assert_eq!(live.row(&row), line);
    }
    let late = Live::new(Duration::from_secs(3)).row(&second(1.25, 1.25, (5_000, 0, 0), 1_730.0));
    assert!(late.starts_with("\r  Time:1s TPS:4000.00/0.00 "), "{late}");
    let short = Live::new(Duration::from_secs(10)).row(&second(0.0004, 0.0004, (1, 0, 0), 284.0));
    assert_eq!(short, "\r  Time:1s TPS:1.00/0.00 Latency:284.00us BPS:21.00B Error:0  ");
}

#[test]
fn the_trace_tells_what_each_second_was_like_by_itself() {
    let rows = [
        second(1.25, 1.25, (5_000, 0, 0), 2_980.0),
        second(2.0, 0.75, (0, 10, 0), 1_000.0),
        second(3.0, 1.0, (0, 0, 4), 0.0),
        second(4.0, 1.0, (7, 0, 0), 1_500_000.0),
        second(4.01, 0.01, (0, 0, 0), 0.0),
    ];
    let expected = "  Trace Details:
   Time      Tps        Latency
     1s    4000.00      2.98ms
     2s       0.00      1.00ms
     3s       0.00      0.00us
     4s       6.93       1.50s
";
    assert_eq!(trace(&rows, Duration::from_secs(4)), expected);
}

#[test]
fn a_long_trace_has_a_hundred_points_at_most() {
    for (lasts, points, first, last) in
        [(100, 100, "1s", "100s"), (101, 51, "2s", "101s"), (1_001, 91, "11s", "1001s")]
    {
        let rows: Vec<Row> = (1..=lasts).map(|at| second(at as f64 + 0.002, 1.0, (6, 0, 0), 50.0)).collect();
        let table = trace(&rows, Duration::from_secs(lasts));
        let lines: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(lines.len(), points, "{lasts} s");
        let time = |line: &str| line.split_whitespace().next().unwrap().to_owned();
        assert_eq!((&*time(lines[0]), &*time(lines[points - 1])), (first, last));
        assert!(lines.iter().all(|line| line.contains("      6.00  ")), "{table}");
    }
}

fn told(log: &mut Log, said: TalkEvent) -> String {
    String::from_utf8(log.talk(&Talk { connection: 10_001, said })).unwrap()
}

fn received(head: &str, body: &str) -> TalkEvent {
    let bytes = format!("{head}{body}").into_bytes();
    TalkEvent::Received { head: head.into(), body: body.into(), bytes }
}

#[test]
fn a_good_exchange_is_told_in_the_old_tools_lines() {
    let mut log = Log::new("127.0.0.1:8000", "000000");
    let steps = [
        TalkEvent::Connecting,
        TalkEvent::Connected,
        TalkEvent::Sent(b"00000005hello".to_vec()),
        received("00000008", "000000OK"),
        TalkEvent::Judged { code: Some(b"000000".to_vec()), fault: None },
    ];
    let text: String = steps.map(|said| told(&mut log, said)).concat();
    let expected = "[test][src/wrktcp.c][226]CONNECTING:[127.0.0.1:8000],cno[10001]
[test][src/wrktcp.c][317]CONNECTED:[127.0.0.1:8000],cno[10001]
[test][src/wrktcp.c][381]SENDMSG:[00000005hello][13],cno[10001]
[test][src/wrktcp.c][408]WHILE READ:[00000008000000OK],cno[10001]
[test][src/wrktcp.c][638]RESPONSE_HEAD:[00000008],RESPONSE_BODY[000000OK],cno[10001]
[test][src/wrktcp.c][274]TESTMODE, THEN STOP,cno[10001]
";
    assert_eq!(text, expected);
    assert!(log.end().is_empty());
}

#[test]
fn a_wrong_code_a_failure_and_a_silence_are_named() {
    let stop = "[test][src/wrktcp.c][274]TESTMODE, THEN STOP,cno[10001]\n";
    for (code, fault, line) in [
        (Some("999999"), Fault::BadCode, "[test][src/tcpini.c][1005]rsp_code[999999] != [000000] \n"),
        (None, Fault::NoCode, "[test][src/tcpini.c][1005]rsp_code[] != [000000] \n"),
    ] {
        let mut log = Log::new("h:1", "000000");
        let said = TalkEvent::Judged { code: code.map(|code| code.into()), fault: Some(fault) };
        assert_eq!(told(&mut log, said), format!("{line}{stop}"));
    }
    let mut log = Log::new("h:1", "000000");
    told(&mut log, TalkEvent::Connecting);
    assert!(log.end().ends_with(b"UNFINISHED:[the test ended before there was an answer],cno[10001]\n"));
    let error = RequestError {
        what: RequestErrorKind::Failed(failed(FailureKind::Refused, Stage::Connect, Some(111))),
        request: String::new(),
        status_line: String::new(),
        range: (0, 0),
        after: Duration::ZERO,
        connection: 0,
        reused: false,
    };
    let text = String::from_utf8(log.error(&error)).unwrap();
    let failed = "[error][src/net.c][037]FAILED:[connection refused (errno 111), connecting],cno[10001]\n";
    assert_eq!(text, format!("{failed}{stop}"));
    assert!(log.end().is_empty());
}

#[test]
fn bytes_are_shown_as_they_are_and_of_very_many_the_first() {
    let mut log = Log::new("h:1", "");
    let line = log.talk(&Talk { connection: 10_001, said: TalkEvent::Sent(vec![0xd5, 0xc5, 0]) });
    assert!(line.windows(6).any(|part| part == b"[\xd5\xc5\0]["), "{line:?}");
    let long = told(&mut log, TalkEvent::Sent(vec![b'x'; 20_000]));
    assert!(long.contains("xxx... 3616 bytes more][20000],cno[10001]\n") && long.len() < 17_000);
}
