//! Answers that are odd: each is counted as what it is, and none hangs, floods or crashes.

use crate::mock::{Mock, Peer, Serve};
use crate::refusing::Refusing;
use crate::{assert_has, before, common, ini, plain, test, wrktcp};
use std::io;

/// Checks the outcome of one exchange: the log's line that says so, and the line of socket errors or of failures.
#[track_caller]
fn one(serve: Serve, log: &str, report: &str) {
    let ran = test(&plain(&Mock::new(serve)));
    assert_has(&ran.stdout, log);
    assert_has(&ran.stdout, report);
    assert!(ran.stdout.len() < 4_000 && ran.stderr.len() < 400, "{}\n{}", ran.stdout, ran.stderr);
}

fn answered_by(peer: &mut Peer, bytes: &[u8]) -> io::Result<()> {
    peer.message()?;
    peer.say(bytes)
}

const STOP: &str = "[test][src/wrktcp.c][274]TESTMODE, THEN STOP,cno[10001]\n";

#[test]
fn a_wrong_code_is_a_failure_of_the_business() {
    let log = format!("[test][src/tcpini.c][1005]rsp_code[999999] != [000000] \n{STOP}");
    one(|peer| answered_by(peer, b"00000009999999BAD"), &log, "  Failure responses: 1\n");
}

#[test]
fn an_answer_that_is_too_short_for_a_code_holds_none() {
    one(|peer| answered_by(peer, b"00000003000"), "rsp_code[000] != [000000] \n", "  Failure responses: 1\n");
    one(|peer| answered_by(peer, b"00000000"), "rsp_code[] != [000000] \n", "  Failure responses: 1\n");
}

#[test]
fn lengths_that_are_none_or_too_long_are_read_errors() {
    let read = "  Socket errors: connect 0, read 1, write 0, timeout 0\n";
    for serve in [(|peer: &mut Peer| answered_by(peer, b"ABCDEFGH000000OK")) as Serve, |peer| {
        answered_by(peer, b"99999999000000OK")
    }] {
        one(serve, "[error][src/net.c][037]FAILED:[", read);
    }
}

#[test]
fn a_close_without_an_answer_and_one_within_it_are_read_errors() {
    let read = "  Socket errors: connect 0, read 1, write 0, timeout 0\n";
    let closed = "FAILED:[closed before the answer was complete, ";
    for serve in
        [Peer::message as Serve, |peer| answered_by(peer, b"0000"), |peer| answered_by(peer, b"00000008000")]
    {
        one(serve, closed, read);
    }
}

#[test]
fn a_peer_that_always_closes_does_not_make_the_client_spin() {
    let mock = Mock::new(Peer::message);
    let ran = wrktcp(&plain(&mock), "-d1s t.ini");
    assert_has(&ran.stdout, "\n  0 requests in ");
    // Each next try waits longer, up to a tenth of a second.
    assert!((2..60).contains(&mock.connections()), "{}", mock.connections());
    assert!(ran.stderr.lines().count() == 1 && ran.stdout.len() < 1_000, "{}", ran.stderr);
}

#[test]
fn a_refused_port_costs_a_line_and_few_tries() {
    let mock = Mock::new(|_| Ok(()));
    let nobody = Refusing::new();
    let text = plain(&mock).replace(&mock.address.port().to_string(), &nobody.address.port().to_string());
    let ran = wrktcp(&text, "-d1s --json result.json t.ini");
    let refused = ran.stdout.split("Socket errors: connect ").nth(1).unwrap().split(',').next().unwrap();
    assert!((2..60).contains(&refused.parse::<u64>().unwrap()), "{}", ran.stdout);
    assert_eq!(ran.stderr, format!("wrktcp: {refused} x connection refused (errno 111), connecting\n"));
    assert!(ran.stdout.len() < 1_000, "{}", ran.stdout);
    let log = test(&text).stdout;
    assert_has(&log, "FAILED:[connection refused (errno 111), connecting],cno[10001]\n");
    assert!(!log.contains("CONNECTED"), "{log}");
}

#[test]
fn a_silent_peer_times_out_and_is_counted() {
    let mock = Mock::new(|peer| {
        peer.message()?;
        peer.wait()
    });
    let ran = wrktcp(&plain(&mock), "-d2s -T1s -c2 t.ini");
    assert_has(&ran.stdout, "\n  0 requests in 2.0");
    let late = before(&ran.stderr, "x timed out");
    // Those of the second round are due when the run ends.
    assert!((2..=4).contains(&late), "{late}");
    assert_has(&ran.stdout, &format!("  Socket errors: connect 0, read 0, write 0, timeout {late}\n"));
    assert_has(&ran.stdout, &format!("Latency:0.00us BPS:0.00B Error:{late}  \n"));
    assert_eq!(ran.stderr, format!("wrktcp: {late} x timed out, waiting for the answer\n"));
}

#[test]
fn an_answer_that_comes_too_late_is_a_timeout_and_nothing_else() {
    let mock = Mock::new(|peer| {
        peer.message()?;
        std::thread::sleep(std::time::Duration::from_millis(1_500));
        peer.answer(b"000000OK")
    });
    let ran = wrktcp(&plain(&mock), "--test -T1s t.ini");
    assert_has(&ran.stdout, "FAILED:[timed out, waiting for the answer],cno[10001]\n");
    assert_has(&ran.stdout, "\n  0 requests in 1.0");
}

#[test]
fn a_test_that_nobody_answers_ends_with_its_duration() {
    let mock = Mock::new(|peer| {
        peer.message()?;
        peer.wait()
    });
    let ran = wrktcp(&plain(&mock), "--test -d1s t.ini");
    assert_has(&ran.stdout, "UNFINISHED:[the test ended before there was an answer],cno[10001]\n");
}

#[test]
fn a_reset_is_a_read_error() {
    let mock = Mock::new(|peer| {
        peer.message()?;
        peer.reset()
    });
    let ran = test(&plain(&mock));
    assert_has(&ran.stdout, "  Socket errors: connect 0, read 1, write 0, timeout 0\n");
    assert_has(&ran.stderr, "1 x connection reset by peer (errno 104), waiting for the answer\n");
}

#[test]
fn answers_in_pieces_large_ones_and_those_with_nul_bytes_are_whole() {
    let read: [(Serve, u64); 4] = [
        (
            |peer| {
                peer.message()?;
                peer.say_in_pieces(&[b"0000", b"0008", b"000", b"000OK"])
            },
            16,
        ),
        (|peer| answered_by(peer, &[b"00020006000000", &[b'x'; 20_000][..]].concat()), 20_014),
        (|peer| answered_by(peer, &[b"00008184000000", &[b'x'; 8_178][..]].concat()), 8_192),
        (|peer| answered_by(peer, b"00000010000000\0\0OK"), 18),
    ];
    for (serve, bytes) in read {
        let mock = Mock::new(serve);
        let ran = wrktcp(&plain(&mock), "--test --json result.json t.ini");
        assert_has(&ran.stdout, "(Success:");
        let report = ran.report();
        assert_eq!((report.sum("ok"), report.sum("head_bytes") + report.sum("body_bytes")), (1, bytes));
    }
}

#[test]
fn bytes_behind_an_answer_do_not_spoil_the_next_one() {
    let mock = Mock::new(|peer| answered_by(peer, b"00000008000000OKEXTRA"));
    let ran = wrktcp(&plain(&mock), "-d1s --json result.json t.ini");
    let report = ran.report();
    assert_eq!(
        (report.sum("check_failed"), report.sum("failed") + report.sum("ok")),
        (0, report.sum("requests") - report.sum("unfinished"))
    );
    assert!(ran.stdout.len() < 1_000 && ran.stderr.len() < 400, "{}\n{}", ran.stdout, ran.stderr);
}

#[test]
fn connections_are_kept_where_the_file_says_so() {
    let mock = Mock::new(|peer| {
        loop {
            peer.message()?;
            peer.answer(b"000000OK")?;
        }
    });
    let ran = wrktcp(&common(&mock, "keep_alive = yes", "req_body = x"), "-d1s -c2 t.ini");
    assert!(before(&ran.stdout, "requests in") > 2);
    assert_eq!(mock.connections(), 2);
    let ran = wrktcp(&ini(&mock, "req_body = x"), "-d1s t.ini");
    assert!(mock.connections() as u64 >= before(&ran.stdout, "requests in"));
}

#[test]
fn codes_are_found_wherever_the_file_says() {
    for (body, rule, code) in [
        (
            "<a><retCode>000000</retCode></a>",
            "rsp_code_type = xml\nrsp_code_location_tag = <retCode>",
            "000000",
        ),
        (r#"{"rspCd":"0000"}"#, "rsp_code_type = json\nrsp_code_location_tag = \"rspCd\"", "0000"),
        (r#"{"rspCd":0,"rspMsg":"ok"}"#, "rsp_code_type = json\nrsp_code_location_tag = \"rspCd\"", "0"),
        ("ab000000c", "rsp_code_location_tag = 3 6", "000000"),
        ("000000abc", "rsp_code_location = head\nrsp_code_location_tag = 7 2", "09"),
    ] {
        let mock = Mock::new(move |peer: &mut Peer| {
            peer.message()?;
            peer.answer(body.as_bytes())
        });
        for (wanted, told) in [(code, "TPS:1.00/0.00"), (&"7".repeat(code.len()), "TPS:0.00/1.00")] {
            let text = format!("req_body = x\n[response]\n{rule}\nrsp_code_success = {wanted}");
            let ran = test(&ini(&mock, &text));
            assert_has(&ran.stdout, told);
            let bad = format!("wrktcp: 1 x code {code}\n");
            assert_eq!(ran.stderr, if wanted == code { "" } else { &bad });
        }
    }
}
