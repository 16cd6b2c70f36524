use super::*;
use measure::{Exchange, Failure, PhaseResult, Tally};
use std::time::Duration;

fn exchange(status: u16, outcome: Outcome) -> Exchange {
    Exchange {
        status,
        service: Duration::from_millis(500),
        response: Duration::from_millis(500),
        body_bytes: 1 << 19,
        ..Exchange::new(outcome, Duration::ZERO)
    }
}

fn failed(kind: FailureKind) -> Outcome {
    Outcome::Failed(Failure::new(kind, Stage::Head))
}

fn figures_of(exchanges: &[Exchange], layout: SiegeReportLayout) -> Figures {
    let mut phase = PhaseResult::new("siege", true);
    let mut tally = Tally::new();
    exchanges.iter().for_each(|one| tally.exchange(one));
    (phase.tally, phase.took) = (tally, Duration::from_secs(2));
    let result = RunResult {
        thresholds: Vec::new(),
        lost: Vec::new(),
        slowest: Vec::new(),
        dead: None,
        tolerated: 0.0,
        agents: Vec::new(),
        origins: Vec::new(),
        phases: vec![phase],
        timeline: Default::default(),
        took: Duration::from_secs(2),
        workers: Vec::new(),
        origin: None,
        evidence: Vec::new(),
        self_check: Default::default(),
        watched: Vec::new(),
        processes: measure::TargetProcesses::default(),
        interrupted: false,
        backend: "epoll".to_owned(),
        notes: Vec::new(),
    };
    Figures::of(&result, layout)
}

#[test]
fn what_counts_as_what() {
    let ok = |status| exchange(status, Outcome::Ok);
    let bad = |status| exchange(status, failed(FailureKind::BadStatus));
    let lost = |kind| exchange(0, failed(kind));
    for (exchanges, counts) in [
        (vec![ok(200), ok(301)], (2, 2, 0)),
        (vec![ok(404), ok(401)], (2, 1, 0)),
        (vec![bad(404)], (1, 0, 0)),
        (vec![bad(500), bad(408)], (0, 0, 2)),
        (vec![lost(FailureKind::Refused), lost(FailureKind::ClosedEarly)], (0, 0, 2)),
        (vec![lost(FailureKind::NotHttp)], (0, 0, 1)),
        (vec![exchange(200, failed(FailureKind::ClosedEarly))], (0, 0, 1)),
    ] {
        let figures = figures_of(&exchanges, SiegeReportLayout::V40);
        assert_eq!((figures.transactions, figures.successful, figures.failed), counts, "{exchanges:?}");
    }
    let newer = figures_of(&[ok(200), ok(403), ok(401)], SiegeReportLayout::V41);
    assert_eq!((newer.transactions, newer.successful, newer.failed), (1, 2, 2));
}

fn sample(layout: SiegeReportLayout) -> Figures {
    let ok = exchange(200, Outcome::Ok);
    figures_of(&[ok, ok, exchange(500, failed(FailureKind::BadStatus)), ok], layout)
}

#[test]
fn the_report_of_4_0() {
    let wanted = "Transactions:\t\t           3 hits\n\
                  Availability:\t\t       75.00 %\n\
                  Elapsed time:\t\t        2.00 secs\n\
                  Data transferred:\t        2.00 MB\n\
                  Response time:\t\t        0.67 secs\n\
                  Transaction rate:\t        1.50 trans/sec\n\
                  Throughput:\t\t        1.00 MB/sec\n\
                  Concurrency:\t\t        1.00\n\
                  Successful transactions:           3\n\
                  HTTP OK received:\t           3\n\
                  Failed transactions:\t           1\n\
                  Longest transaction:\t        0.50\n\
                  Shortest transaction:\t        0.50\n \n";
    assert_eq!(report(&sample(SiegeReportLayout::V40), SiegeReportLayout::V40, true), wanted);
}

#[test]
fn the_report_of_4_1() {
    let text = report(&sample(SiegeReportLayout::V41), SiegeReportLayout::V41, false);
    for line in [
        "Transactions:\t\t        3    hits\n",
        "Response time:\t\t      666.67 ms\n",
        "Successful transactions:        3\n",
        "Failed transactions:\t        1\n",
        // Histograms have three digits.
        "Longest transaction:\t      500.22 ms\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    assert!(!text.contains("HTTP OK"));
}

#[test]
fn json_is_sound_and_in_order() {
    for (layout, debug) in [(SiegeReportLayout::V40, false), (SiegeReportLayout::V41, true)] {
        let text = json(&sample(layout), layout, debug);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((value["transactions"].as_u64(), value["availability"].as_f64()), (Some(3), Some(75.0)));
        assert_eq!(value.as_object().unwrap().len(), 12 + usize::from(debug));
        assert_eq!(value["longest_transaction"].as_f64(), Some(0.5), "seconds in both layouts");
    }
    assert!(
        json(&sample(SiegeReportLayout::V40), SiegeReportLayout::V40, false)
            .starts_with("{\t\"transactions\":\t\t\t           3,\n")
    );
    assert!(
        json(&sample(SiegeReportLayout::V41), SiegeReportLayout::V41, false)
            .starts_with("{\n\t\"transactions\"")
    );
}

#[test]
fn rows_of_the_log_stand_under_its_header() {
    let row = log_row(&sample(SiegeReportLayout::V40), "2026-11-21 10:00:00");
    assert_eq!(
        row,
        "2026-11-21 10:00:00,      3,       2.00,           2,       0.67,        1.50,        1.00,        1.00,       3,       1\n"
    );
    assert_eq!(row.matches(',').count(), LOG_HEADER.matches(',').count());
    let nothing = log_row(&Figures::default(), "x");
    assert!(!nothing.contains("inf") && !nothing.contains("NaN"), "{nothing}");
}

fn record(method: &str, status: u16) -> Record {
    Record {
        number: 5,
        user: 2,
        place: 1,
        connection: 1,
        version: Some("HTTP/1.1"),
        status,
        method: method.to_owned().into(),
        url: "http://h:8/p?q".into(),
        connect: Some(Duration::from_millis(10)),
        service: Duration::from_millis(1000),
        body_bytes: 35,
        ..Record::new(Outcome::Ok)
    }
}

#[test]
fn lines_of_requests() {
    let now = Now { weekday: "Fri".to_owned(), date: "2026-11-20 23:59:10".to_owned() };
    let plain = LineOptions::default();
    let of = |options: &LineOptions, method| line(&record(method, 200), options, &now).unwrap();
    assert_eq!(of(&plain, "GET"), "HTTP/1.1 200     1.01 secs:      35 bytes ==> GET  /p?q\n");
    assert_eq!(of(&plain, "POST"), "HTTP/1.1 200     1.01 secs:      35 bytes ==> POST http://h:8/p?q\n");
    let stamped = LineOptions { timestamp: true, full_url: true, ..plain.clone() };
    assert_eq!(
        of(&stamped, "GET"),
        "[Fri, 2026-11-20 23:59:10] HTTP/1.1 200     1.01 secs:      35 bytes ==> GET  http://h:8/p?q\n"
    );
    let numbered = LineOptions { display_id: true, ..plain.clone() };
    assert_eq!(of(&numbered, "GET"), "   2) HTTP/1.1 200   1.01 secs:      35 bytes ==> GET  /p?q\n");
    let values = LineOptions {
        csv: true,
        display_id: true,
        timestamp: true,
        mark: Some("m".to_owned()),
        ..plain.clone()
    };
    assert_eq!(
        of(&values, "GET"),
        "[Fri, 2026-11-20 23:59:10]    2,m,HTTP/1.1,200,  1.01,     35,/p?q,1,2026-11-20 23:59:10\n"
    );
    let colored = LineOptions { color: true, ..plain };
    for (status, colour) in [(204, 4), (301, 6), (404, 5), (500, 1)] {
        let text = line(&record("GET", status), &colored, &now).unwrap();
        assert!(
            text.starts_with(&format!("\u{1b}[0;3{colour}mHTTP")) && text.ends_with("\u{1b}[0m\n"),
            "{text}"
        );
    }
}

#[test]
fn failures_have_lines_of_their_own() {
    let now = Now::default();
    let options = LineOptions::default();
    let of = |kind, status, body_bytes| Record { outcome: failed(kind), body_bytes, ..record("GET", status) };
    assert_eq!(line(&of(FailureKind::Refused, 0, 0), &options, &now), None);
    assert!(line(&of(FailureKind::NotHttp, 0, 0), &options, &now).unwrap().starts_with("HTTP/1.1 418 "));
    assert!(line(&of(FailureKind::BadStatus, 500, 4), &options, &now).unwrap().starts_with("HTTP/1.1 500 "));
    let refused = Outcome::Failed(Failure::new(FailureKind::Refused, Stage::Connect));
    assert_eq!(error_line(&refused, false).unwrap(), "[error] socket: unable to connect: connection refused");
    assert_eq!(error_line(&failed(FailureKind::BadStatus), false), None);
}
