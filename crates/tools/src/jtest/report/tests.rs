//! jtest's layout against what was recorded of the old tool.

use super::*;
use measure::SelfCheck;
use measure::Timeline;
use measure::{PhaseResult, Tally};
use std::time::Duration;

const TRUE: ViewOptions = ViewOptions { interval_s: 1, average_over: 5, old_averages: false };
const OLD: ViewOptions = ViewOptions { old_averages: true, ..TRUE };

fn second(at_s: f64, counts: Counts, origin: OriginCounts, in_flight: u64) -> Row {
    Row { at_s, seconds: 1.0, counts, origin: Some(origin), in_flight, ..Row::default() }
}

/// A second in which the line of the recorded run would have been true.
fn recorded() -> Row {
    let counts = Counts {
        connections: 2233,
        ok: 11_172,
        ended: 11_172,
        ended_us: 11_172 * 499,
        first_byte_us: 11_172 * 100,
        head_bytes: 3_000_000,
        body_bytes: 165_057_616,
        sent_bytes: 1_000_000,
        ..Counts::default()
    };
    let origin = OriginCounts {
        connections: 1799,
        requests: 7_205,
        unchanged: 6,
        received_bytes: 830_036,
        head_bytes: 1_000_000,
        body_bytes: 107_000_000,
        ..OriginCounts::default()
    };
    second(10.2, counts, origin, 10)
}

#[test]
fn a_line_has_the_recorded_format() {
    let expected = " con  new     ops   1B  lat      bytes/per     svrs  new  ops      total   time  err\n  \
                    10 2233 11172.0    0    0  168057616/16805761  1799 1799 7199  277887652   10.2    0\n";
    assert_eq!(JtestLayout::new(TRUE).row(&recorded()), expected);
}

#[test]
fn heads_come_before_every_twentieth_line() {
    let mut layout = JtestLayout::new(TRUE);
    let lines: String = (0..41).map(|_| layout.row(&recorded())).collect();
    let heads: Vec<usize> =
        lines.lines().enumerate().filter(|(_, line)| line.starts_with(" con")).map(|(n, _)| n).collect();
    assert_eq!(heads, [0, 21, 42]);
    assert_eq!(lines.lines().count(), 44);
}

#[test]
fn true_lines_round_times_count_errors_and_know_open_connections() {
    let mut layout = JtestLayout::new(TRUE);
    let counts = Counts {
        ok: 2,
        aborted: 1,
        injected: 1,
        redirects: 1,
        failed: 2,
        check_failed: 1,
        ended: 2,
        first_byte_us: 3_400,
        ended_us: 5_200,
        body_bytes: 900,
        ..Counts::default()
    };
    let origin = |connections, closed| OriginCounts { connections, closed, ..OriginCounts::default() };
    layout.row(&second(1.0, counts, origin(5, 2), 0));
    let line = layout.row(&second(2.0, counts, origin(3, 4), 4));
    assert_eq!(
        line,
        "   4    0     3.0    2    3        900/225        2    3    0        900    2.0    6\n"
    );
}

#[test]
fn the_old_averages_start_at_zero() {
    let mut layout = JtestLayout::new(OLD);
    let counts = Counts { ok: 1000, ..Counts::default() };
    let shown: Vec<String> = (1..=10)
        .map(|at| layout.row(&second(f64::from(at), counts, OriginCounts::default(), 0)))
        .map(|line| line.lines().last().unwrap()[10..17].trim().to_owned())
        .collect();
    let expected = ["200.0", "360.0", "488.0", "590.4", "672.3", "737.9", "790.3", "832.2", "865.8", "892.6"];
    assert_eq!(shown, expected);
}

/// 50 requests at the beginning of each second, all over the connections of the first one, as recorded from the
/// original with `-e 50`.
#[test]
fn the_old_averages_give_the_recorded_table() {
    let counts = Counts {
        ok: 50,
        ended: 50,
        ended_us: 10_000,
        head_bytes: 8_450,
        body_bytes: 30_000,
        sent_bytes: 4_250,
        ..Counts::default()
    };
    let origin =
        OriginCounts { requests: 50, received_bytes: 4_250, body_bytes: 38_450, ..OriginCounts::default() };
    let mut layout = JtestLayout::new(OLD);
    let mut text = layout.row(&second(0.8, Counts::default(), OriginCounts::default(), 0));
    let first = Counts { connections: 50, ..counts };
    let first_origin = OriginCounts { connections: 50, closed: 50, ..origin };
    text += &layout.row(&second(1.8, first, first_origin, 0));
    text += &layout.row(&second(2.8, counts, origin, 0));
    text += &layout.row(&second(3.8, counts, origin, 0));
    // As recorded, but for the seventh column: there it repeated the eighth.
    let expected = "   0    0     0.0    0    0          0/0          0    0    0          0    0.8    0\n   \
                    0   10    10.0    0    0       7690/0          0   10   10      17080    1.8    0\n   \
                    0    8    18.0    0    0      13842/0          0    8   18      30744    2.8    0\n   \
                    0    6    24.4    0    0      18763/0          0    6   24      41675    3.8    0\n";
    assert_eq!(text.split_once('\n').unwrap().1, expected);
}

#[test]
fn old_times_are_whole_and_rest_where_nothing_came() {
    let mut time = 0;
    let shown = [Some(200.9), Some(200.9), None, Some(202.0)].map(|ms| time_average(&mut time, ms, 5));
    assert_eq!(shown, [Some(40.0), Some(72.0), Some(72.0), Some(98.0)]);
}

#[test]
fn intervals_gather_seconds_and_the_rest_is_told() {
    let mut layout = JtestLayout::new(ViewOptions { interval_s: 3, ..TRUE });
    let counts = Counts { ok: 10, ..Counts::default() };
    let rows: Vec<String> =
        (1..=5).map(|at| layout.row(&second(f64::from(at), counts, OriginCounts::default(), 1))).collect();
    assert_eq!(rows.iter().map(|text| text.lines().count()).collect::<Vec<_>>(), [0, 0, 2, 0, 0]);
    assert!(rows[2].contains("    30.0 ") && rows[2].contains(" 3.0 "), "{}", rows[2]);
    let rest = layout.rest();
    assert!(rest.contains("    20.0 ") && rest.contains(" 5.0 "), "{rest}");
    assert_eq!(layout.rest(), "");
}

#[test]
fn a_run_without_intervals_has_one_line() {
    let mut layout = JtestLayout::new(ViewOptions { interval_s: 0, ..TRUE });
    assert_eq!(layout.row(&recorded()), "");
    assert_eq!(layout.rest().lines().count(), 2);
    assert_eq!(JtestLayout::new(TRUE).rest().lines().count(), 2, "even where nothing happened");
}

fn result(origin: Option<OriginCounts>) -> RunResult {
    let mut phase = PhaseResult::new("jtest", true);
    phase.origin = origin;
    phase.took = Duration::from_secs(1);
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
        took: Duration::from_secs(1),
        workers: Vec::new(),
        origin,
        evidence: Vec::new(),
        watched: Vec::new(),
        processes: measure::TargetProcesses::default(),
        self_check: SelfCheck { requests: 1000, ..SelfCheck::default() },
        interrupted: false,
        backend: "sim".to_owned(),
        notes: Vec::new(),
    }
}

#[test]
fn totals_are_those_recorded() {
    let origin =
        OriginCounts { head_bytes: 1690, body_bytes: 6000, received_bytes: 850, ..OriginCounts::default() };
    let mut result = result(Some(origin));
    let counts = Counts { sent_bytes: 850, head_bytes: 1691, body_bytes: 6001, ..Counts::default() };
    result.phases[0].tally.counts = counts;
    let expected = "Total Client Request Bytes:\t\t850\n\
                    Total Server Response Header Bytes:\t1690\n\
                    Total Server Response Body Bytes:\t6000\n\
                    Total Proxy Request Bytes:\t\t850\n\
                    Total Proxy Response Header Bytes:\t1691\n\
                    Total Proxy Response Body Bytes:\t6001\n";
    assert_eq!(totals(&result), expected);
    result.origin = None;
    assert!(totals(&result).contains("Total Proxy Request Bytes:\t\t0\n"));
}

#[test]
fn the_summary_joins_both_sides_and_says_how_long_answers_took() {
    let mut result = result(Some(OriginCounts { full: 500, partial: 100, ..OriginCounts::default() }));
    let mut tally = Tally::new();
    (1..=1000).for_each(|n| tally.time(TimeMetric::Service, Duration::from_micros(n * 10)));
    tally.counts = Counts { requests: 1000, ended: 1000, ok: 1000, ..Counts::default() };
    result.phases[0].tally = tally;
    result.phases[0].predicted_hit_ratio = Some(0.38);
    let text = summary(&result);
    assert_eq!(
        text,
        "Hit ratio 40.0 % (1,000 answers, 600 documents from the origin; 38.0 % expected)\n\
         Service time p50 5.00 ms, p90 9.01 ms, p99 9.90 ms, p99.9 9.99 ms, max 10.0 ms (1,000 good answers)\n"
    );
    result.phases[0].tally.time(TimeMetric::Lateness, Duration::from_micros(7));
    result.phases[0].tally.time(TimeMetric::Response, Duration::from_millis(20));
    result.self_check.overflow = 3;
    result.phases[0].tally.counts.resent = 505;
    let text = summary(&result);
    assert!(text.contains("\nSent again 505 requests: "), "{text}");
    assert!(text.contains("\nResponse time p50 20.0 ms,"), "{text}");
    assert!(text.contains("\nBound by the generator: 3 requests were due but not sent"), "{text}");
    result.phases[0].origin = None;
    assert!(summary(&result).starts_with("Service time"), "no origin here, no ratio");
    result.phases.clear();
    assert_eq!(summary(&result), "");
}
