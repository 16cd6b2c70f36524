//! The layouts, against what the old tools print.

use super::*;
use measure::SelfCheck;
use measure::{Exchange, Failure, FailureKind, Outcome, Stage, Timeline};

const PLAIN: WrkOptions = WrkOptions { wrk2: false, latency: false, uncorrected: false };

pub(crate) fn exchange(outcome: Outcome, status: u16, service_us: u64) -> Exchange {
    let service = Duration::from_micros(service_us);
    Exchange {
        status,
        service,
        response: service * 2,
        reused: true,
        head_bytes: 100,
        body_bytes: 54,
        ..Exchange::new(outcome, Duration::ZERO)
    }
}

pub(crate) fn result(fill: impl FnOnce(&mut PhaseResult)) -> RunResult {
    let mut phase = PhaseResult::new("measure", true);
    phase.took = Duration::from_millis(2_000);
    fill(&mut phase);
    RunResult {
        thresholds: Vec::new(),
        lost: Vec::new(),
        slowest: Vec::new(),
        dead: None,
        tolerated: 0.0,
        agents: Vec::new(),
        origins: Vec::new(),
        phases: vec![phase],
        timeline: Timeline::default(),
        took: Duration::from_millis(2_000),
        workers: Vec::new(),
        origin: None,
        evidence: Vec::new(),
        self_check: SelfCheck::default(),
        watched: Vec::new(),
        processes: measure::TargetProcesses::default(),
        interrupted: false,
        backend: "epoll".to_owned(),
        notes: Vec::new(),
    }
}

fn some(phase: &mut PhaseResult) {
    for service_us in [100, 200, 200, 300] {
        phase.tally.exchange(&exchange(Outcome::Ok, 200, service_us));
    }
    phase.rates.record(100, Duration::from_millis(100));
    phase.rates.record(150, Duration::from_millis(100));
}

#[test]
fn the_banner_rounds_its_time() {
    assert_eq!(
        banner("http://h/#x", 2, 10, Duration::from_secs(90)),
        "Running 2m test @ http://h/#x\n  2 threads and 10 connections\n"
    );
}

#[test]
fn a_run_with_answers() {
    let text = report(&result(some), WrkOptions { latency: true, ..PLAIN });
    let expected = "  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   200.00us   81.65us 300.00us   50.00%
    Req/Sec     1.25k   353.55     1.50k   100.00%
  Latency Distribution
     50%  200.00us
     75%  200.00us
     90%  300.00us
     99%  300.00us
  4 requests in 2.00s, 616.00B read
Requests/sec:      2.00
Transfer/sec:     308.00B
";
    assert_eq!(text, expected);
}

#[test]
fn a_run_without_any_answer_prints_what_wrk_prints() {
    let text = report(&result(|_| {}), PLAIN);
    let expected = "  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     0.00us    0.00us   0.00us    -nan%
    Req/Sec     0.00      0.00     0.00      -nan%
  0 requests in 2.00s, 0.00B read
Requests/sec:      0.00
Transfer/sec:       0.00B
";
    assert_eq!(text, expected);
}

#[test]
fn errors_are_sorted_by_what_was_under_way() {
    let fill = |phase: &mut PhaseResult| {
        for (kind, stage, times) in [
            (FailureKind::Refused, Stage::Connect, 1),
            (FailureKind::Timeout, Stage::Connect, 1),
            (FailureKind::CertificateBad, Stage::Tls, 1),
            (FailureKind::Reset, Stage::Send, 4),
            (FailureKind::ClosedEarly, Stage::Head, 5),
            (FailureKind::NotHttp, Stage::Body, 1),
            (FailureKind::Timeout, Stage::Head, 7),
        ] {
            let failure = Failure::new(kind, stage).with_errno((kind == FailureKind::Reset).then_some(104));
            (0..times).for_each(|_| phase.tally.exchange(&exchange(Outcome::Failed(failure), 0, 10)));
        }
        phase.tally.exchange(&exchange(Outcome::Ok, 404, 10));
        phase.tally.exchange(&exchange(Outcome::Ok, 302, 10));
    };
    let result = result(fill);
    let text = report(&result, PLAIN);
    assert!(text.contains("\n  Socket errors: connect 3, read 6, write 4, timeout 7\n"), "{text}");
    assert!(text.contains("\n  Non-2xx or 3xx responses: 1\nRequests/sec:"), "{text}");
    assert!(text.contains("  2 requests in 2.00s"), "{text}");
    let lines = failures(&result);
    assert_eq!(lines[0], "7 x timed out, waiting for the answer");
    assert!(lines.contains(&"4 x connection reset by peer (errno 104), sending".to_owned()), "{lines:?}");
}

#[test]
fn wrk2_shows_the_time_since_a_request_was_due() {
    let text = report(&result(some), WrkOptions { wrk2: true, latency: true, uncorrected: true });
    assert!(text.starts_with(
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   400.00us  163.30us 600.00us   50.00%\n"
    ));
    let blocks: Vec<&str> = text.split("  Latency Distribution (").collect();
    assert_eq!(blocks.len(), 3, "{text}");
    assert!(
        blocks[1].starts_with("HdrHistogram - Recorded Latency)\n 50.000%  400.00us\n 75.000%  400.00us\n")
    );
    assert!(blocks[1].contains("\n100.000%  600.00us\n\n  Detailed Percentile spectrum:\n"), "{text}");
    let head = "       Value   Percentile   TotalCount 1/(1-Percentile)\n\n       0.200     0.000000            1         1.00\n";
    assert!(blocks[1].contains(head), "{text}");
    assert!(blocks[1].contains("\n       0.600     1.000000            4          inf\n#[Mean    =        0.400, StdDeviation   =        0.141]\n#[Max     =        0.600, Total count    =            4]\n#[Buckets ="));
    let rule = format!("{}\n", "-".repeat(58));
    assert!(
        blocks[1].ends_with(&format!("{rule}\n")) && text.contains(&format!("{rule}  4 requests in 2.00s"))
    );
    assert!(blocks[2].starts_with("HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))\n 50.000%  200.00us\n"));
}
