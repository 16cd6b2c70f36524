//! Output, and when it is printed: banner, live line, report, trace, page; interrupts and exit codes.

use crate::mock::Mock;
use crate::support::Ran;
use crate::{assert_has, before, begin, plain, test, wrktcp};
use rustix::process::Signal;

fn good(peer: &mut crate::mock::Peer) -> std::io::Result<()> {
    peer.message()?;
    peer.answer(b"000000OK")
}

/// Text without its figures: each number with its unit is `#`, and blanks are one.
fn shape(text: &str, mock: &Mock) -> String {
    let text = text.replace(&mock.address.to_string(), "ADDRESS").replace("-nan", "0");
    let mut shape = String::new();
    let mut number = false;
    for letter in text.chars() {
        let begins = letter.is_ascii_digit() && !shape.ends_with(|before: char| before.is_ascii_alphabetic());
        let goes_on = number && (letter.is_ascii_alphanumeric() || ".%".contains(letter));
        let blank_again = letter == ' ' && (shape.ends_with([' ', '\n']));
        if begins && !number {
            shape.push('#');
        } else if !goes_on && !blank_again {
            shape.push(letter);
        }
        number = begins || goes_on;
    }
    shape.replace(" \n", "\n")
}

#[test]
fn a_run_prints_banner_live_line_report_and_trace() {
    let mock = Mock::new(good);
    let ran =
        wrktcp(&plain(&mock), "-t2 -c4 -d2s --latency --trace --html=page.html --json result.json t.ini");
    let expected = "Running # loadtest @ ADDRESS using t.ini
# threads and # connections
\r Time:# TPS:#/# Latency:# BPS:# Error:# \r Time:# TPS:#/# Latency:# BPS:# Error:#
Thread Stats Avg Stdev Max +/- Stdev
Latency # # # #
Req/Sec # # # #
Latency Distribution
# #
# #
# #
# #
# requests in #, # read
Requests/sec: # (Success:#/Failure:#)
Transfer/sec: #
Trace Details:
Time Tps Latency
# # #
# # #
Result html : page.html
";
    assert_eq!(shape(&ran.stdout, &mock), expected, "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
    let report = ran.report();
    let requests = before(&ran.stdout, "requests in");
    assert_eq!(report.sum("ok"), requests);
    // A connection for each request; those under way at the end are more.
    assert!(mock.connections() as u64 >= requests && mock.connections() as u64 <= requests + 8);
    let rows = report.list("timeline");
    assert!((2..=3).contains(&rows.len()), "a row for each second, not for each sample: {}", rows.len());
}

#[test]
fn the_page_has_all_that_a_reader_looks_for() {
    let mock = Mock::new(|peer| {
        peer.message()?;
        let nth = peer.nth;
        if nth % 5 == 0 {
            return Ok(());
        }
        peer.answer(if nth % 3 == 0 { b"000051NO" } else { b"000000OK" })
    });
    let ran = wrktcp(&plain(&mock), "-c2 -d2s --html t.ini");
    let name = ran.stdout.lines().last().unwrap().strip_prefix("Result html :   ").unwrap().to_owned();
    assert!(name.starts_with("t.2") && name.len() == "t.20260101000000.html".len(), "{name}");
    let page = ran.file(&name);
    for part in [
        "requests/s",
        "<template id=\"run\">",
        "<noscript>",
        "Codes",
        "000051",
        "closed before the answer was complete",
        "code of failure",
    ] {
        assert_has(&page, part);
    }
    assert!(page.contains("connect-src 'none'") && page.matches("<script").count() == 1);
}

#[test]
fn a_test_tells_one_exchange_step_by_step() {
    let mock = Mock::new(good);
    let ran = test(&plain(&mock));
    let (head, report) = ran.stdout.split_once("  Time:1s").expect("a live line");
    let at = mock.address;
    let expected = format!(
        "Running 10s loadtest @ {at} using t.ini
  1 threads and 1 connections

----TEST MODE, connect once and more log----
[test][src/wrktcp.c][226]CONNECTING:[{at}],cno[10001]
[test][src/wrktcp.c][317]CONNECTED:[{at}],cno[10001]
[test][src/wrktcp.c][381]SENDMSG:[00000014this is a test][22],cno[10001]
[test][src/wrktcp.c][408]WHILE READ:[00000008000000OK],cno[10001]
[test][src/wrktcp.c][638]RESPONSE_HEAD:[00000008],RESPONSE_BODY[000000OK],cno[10001]
[test][src/wrktcp.c][274]TESTMODE, THEN STOP,cno[10001]
\r"
    );
    assert_eq!(head, expected);
    assert!(report.starts_with(" TPS:1.00/0.00 Latency:"), "{report}");
    assert_has(
        report,
        " BPS:16.00B Error:0  \n----TEST MODE, connect once and more log----\n\n  Thread Stats ",
    );
    assert_has(report, "\n  1 requests in ");
    assert_eq!(mock.seen(), [b"00000014this is a test"]);
}

#[test]
fn an_interrupt_ends_the_run_with_its_report_over_the_real_time() {
    let mock = Mock::new(good);
    let mut running = begin(&plain(&mock), "-d30s -c2 t.ini");
    running.wait_for("Time:1s");
    running.signal(Signal::INT);
    let ran = running.end().ended_with(0);
    assert!(before(&ran.stdout, "requests in") > 0);
    let took = ran.stdout.split("requests in ").nth(1).unwrap().split("s,").next().unwrap();
    assert!(took.parse::<f64>().is_ok_and(|seconds| seconds < 20.0), "{}", ran.stdout);
}

#[test]
fn only_strict_runs_fail_when_answers_do() {
    let good = Mock::new(good);
    let bad = Mock::new(|peer| {
        peer.message()?;
        peer.answer(b"999999NO")
    });
    let gone = Mock::new(|_| Ok(()));
    for (mock, strict) in [(&good, 0), (&bad, 3), (&gone, 3)] {
        let ran: Ran = begin(&plain(mock), "--test t.ini").end().ended_with(0);
        assert_has(&ran.stdout, "Requests/sec:");
        begin(&plain(mock), "--test --strict t.ini").end().ended_with(strict);
    }
    assert!(test(&plain(&bad)).stderr.contains("wrktcp: 1 x code 999999\n"));
}

#[test]
fn a_target_that_goes_away_is_counted_and_the_run_goes_on() {
    let mock = Mock::new(|peer| {
        if peer.nth > 20 {
            return peer.reset();
        }
        good(peer)
    });
    let ran = wrktcp(&plain(&mock), "-d1s t.ini");
    assert_has(&ran.stdout, "\n  20 requests in ");
    assert_has(&ran.stdout, "Socket errors: connect 0, read ");
    assert_has(&ran.stderr, "connection reset by peer");
    assert!(mock.connections() < 200, "{}", mock.connections());
}

#[test]
fn show_plan_prints_a_plan_that_runs() {
    let mock = Mock::new(good);
    let plan = wrktcp(&plain(&mock), "--test --show-plan t.ini").stdout;
    assert_eq!(mock.connections(), 0);
    let folder = crate::support::folder();
    std::fs::write(folder.path().join("plan.toml"), plan).unwrap();
    let ran = crate::support::start_in(folder, ["run", "-q", "plan.toml"]).end().ended_with(0);
    assert_has(&ran.stdout, "00000014this is a test");
    assert_eq!(mock.seen(), [b"00000014this is a test"]);
}
