//! Records of runs that never were, made by the collector from invented snapshots.

use measure::outcome::{CacheResult, Failure, FailureKind, Outcome, Stage};
use measure::stream::{Controlled, EvidenceFound, MeasureEnd, Note, PhasePlan};
use measure::{Collector, Exchange, Head, Label, OriginCounts, RunEvent, Snapshot, Tally};
use std::time::Duration;

/// A whole run of so many seconds.
pub fn events(seconds: u64) -> Vec<RunEvent> {
    let plan = |name: &str, measured| PhasePlan {
        name: name.to_owned(),
        measured,
        labels: vec!["a".to_owned(), "b".to_owned()],
        ..PhasePlan::default()
    };
    let head = Head {
        id: "a run".to_owned(),
        phases: vec![plan("fill", false), plan("measure", true)],
        ..Head::default()
    };
    let mut events = vec![RunEvent::Head(Box::new(head))];
    let mut collector = Collector::new([("fill", false), ("measure", true)].into_iter(), 1);
    collector.origin_before(OriginCounts::default());
    for second in 0..seconds {
        let phase = u32::from(second > seconds / 4);
        let snapshot = Snapshot {
            worker: 0,
            phase,
            interval: second,
            tally: Box::new(tally(second)),
            in_flight: 3,
            peak: 7,
            cpu: Duration::from_millis(137),
            closes_interval: true,
            last: second + 1 == seconds,
            span: (
                Duration::from_secs(u64::from(phase) * seconds / 4),
                Duration::from_millis(second * 1000 + 1003),
            ),
            paced_until: Duration::from_millis(second * 1000 + 1001),
            due_until: Duration::from_millis(second * 1000 + 1001),
        };
        let origin = OriginCounts { requests: second * 11, full: second * 7, ..OriginCounts::default() };
        events.extend(collector.add(snapshot, Some(origin)).0);
    }
    let (rest, phases, workers) =
        collector.finish(Some(OriginCounts { requests: 999, ..OriginCounts::default() }));
    events.extend(rest);
    let took = Duration::from_millis(seconds * 1000 + 17);
    events.push(RunEvent::End(Box::new(MeasureEnd { took, phases, workers, ..MeasureEnd::default() })));
    events
}

fn tally(seed: u64) -> Tally {
    let mut tally = Tally::new();
    tally.counts.requests = 51;
    for n in 0..50u64 {
        let us = (n * 7919 + seed * 104_729) % 100_000 + 1;
        tally.exchange(&Exchange {
            label: (n % 3 < 2).then_some(Label((n % 3) as u16)),
            status: 200,
            cache: CacheResult::ALL[(n % 5) as usize],
            service: Duration::from_micros(us),
            response: Duration::from_micros(us + 5),
            lateness: Some(Duration::from_micros(5)),
            body_bytes: 30,
            ..Exchange::new(Outcome::Ok, Duration::ZERO)
        });
    }
    let failure = Failure::new(FailureKind::Reset, Stage::Body).with_errno(Some(104));
    tally.exchange(&Exchange::new(Outcome::Failed(failure), Duration::from_secs(seed)));
    tally.codes.count(Some(b"\xff\x00A"), false);
    tally.heard(Duration::from_millis(seed * 1000 + 990));
    tally
}

/// One record of each kind, as short as can be.
pub fn small() -> Vec<RunEvent> {
    let note = |text: &str| RunEvent::Note(Note { at: Duration::from_millis(5), text: text.to_owned() });
    let evidence = EvidenceFound {
        evidence: measure::Evidence {
            title: "GET /</script>\u{1b}[2J".to_owned(),
            ..measure::Evidence::default()
        },
    };
    vec![
        RunEvent::Head(Box::new(Head { id: "x".to_owned(), ..Head::default() })),
        note("one"),
        RunEvent::Evidence(Box::new(evidence)),
        RunEvent::Control(Controlled {
            by: "page".to_owned(),
            command: Some(measure::stream::Command::Rate {
                per_second: 12.5,
                phase: 1,
                since: Duration::from_millis(500),
            }),
            ..Controlled::default()
        }),
        RunEvent::Lost(measure::LostRequest {
            begun: Duration::from_millis(4),
            waited: Duration::from_secs(1),
            timed_out: true,
            title: "GET /".to_owned(),
            phase: "measure".to_owned(),
            trace_id: Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned()),
        }),
        RunEvent::Traced(Box::new(measure::TracedRequest {
            trace_id: "4bf92f3577b34da6a3ce929d0e0e4736".to_owned(),
            response: Duration::from_millis(7),
            ..measure::TracedRequest::default()
        })),
        note("two"),
        RunEvent::End(Box::default()),
    ]
}
