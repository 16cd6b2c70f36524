use super::*;
use measure::Digits;
use measure::stream::{PhaseBegun, PhasePlan};

fn run(hostile: bool) -> Watched {
    let mut run = Watched::default();
    let target =
        if hostile { "\u{1b}[2J\u{1b}]0;x\u{7}</script>\u{202e}目标" } else { "nginx on 127.0.0.1:8080" };
    let phases = vec![
        PhasePlan { name: "fill".to_owned(), ..PhasePlan::default() },
        PhasePlan {
            name: "measure".to_owned(),
            measured: true,
            labels: vec!["home".to_owned()],
            ..PhasePlan::default()
        },
    ];
    let head = Head { door: "cache".to_owned(), target: Some(target.to_owned()), phases, ..Head::default() };
    run.take(&RunEvent::Head(Box::new(head)));
    run.take(&RunEvent::Phase(PhaseBegun { phase: 1, ..PhaseBegun::default() }));
    for at in 1..=70u64 {
        let mut times = measure::Histogram::new(3).unwrap();
        (0..1000u64).for_each(|n| times.record(300 + n * n % 5_000 + at * 10).unwrap());
        let mut second = Second {
            at: Duration::from_secs(at),
            took: Duration::from_secs(1),
            phase: 1,
            asked_per_s: Some(1000.0),
            p50_us: 400 + at,
            p99_us: 2_900,
            max_us: 31_000,
            in_flight: 12,
            worker_cpu: vec![0.41, 0.39],
            ..Second::default()
        };
        second.metrics.insert(TimeMetric::Service, Buckets::of(&times, Digits::Two));
        second.clients.counts =
            Counts { ended: 1000, ok: 990, failed: 10, hits: 850, misses: 150, ..Counts::default() };
        second.clients.statuses = vec![(200, 990), (503, 10)];
        run.take(&RunEvent::Second(Box::new(second)));
    }
    run.mark("a note\nof two lines".to_owned());
    run
}

fn look(size: (usize, usize)) -> Look {
    Look {
        size,
        pane: Pane::Outcomes,
        metric: TimeMetric::Service,
        colour: false,
        ascii: false,
        paused: false,
        prompt: None,
        help: false,
        planned: Some(Duration::from_secs(300)),
    }
}

#[test]
fn the_picture_fits_every_terminal_and_tells_the_figures() {
    let run = run(false);
    for size in [(80, 24), (100, 30), (200, 60)] {
        for pane in [Pane::Outcomes, Pane::Steps, Pane::Statuses, Pane::Generator] {
            let lines = frame(&run, &Look { pane, ..look(size) });
            assert_eq!(lines.len(), size.1);
            assert!(lines.iter().all(|line| line.chars().count() <= size.0), "{lines:#?}");
        }
    }
    let narrow = frame(&run, &look((80, 24))).join("\n");
    for piece in [
        "wringer cache → nginx on 127.0.0",
        "requests/s",
        "p50",
        "p99",
        "max",
        "hits 85",
        "failed 700",
        "check failed 0",
    ] {
        assert!(narrow.contains(piece), "{piece} has room in 80 columns:\n{narrow}");
    }
    let lines = frame(&run, &look((120, 30)));
    let text = lines.join("\n");
    for piece in [
        "wringer cache → nginx on 127.0.0.1:8080",
        "measure 2/2  01:10/05:00 ██▍",
        "valid",
        "requests/s",
        "asked 1.00k",
        "hits 85",
        "failed 700",
        "service time, last 70 s",
        "69,300",
        "▲ a note of two lines",
        "? help",
    ] {
        assert!(text.contains(piece), "{piece} in\n{text}");
    }
    assert!(frame(&run, &Look { pane: Pane::Statuses, ..look((120, 30)) }).join("\n").contains("503"));
    assert!(frame(&run, &Look { help: true, ..look((80, 24)) }).join("\n").contains("mark the moment"));
    let prompt = Some("stop the run? y".to_owned());
    assert!(frame(&run, &Look { prompt, ..look((80, 24)) }).last().unwrap().contains("stop the run? y"));
}

#[test]
fn without_colour_and_beyond_ascii_it_says_the_same() {
    let plain = frame(&run(false), &Look { ascii: true, ..look((100, 30)) });
    assert!(plain.iter().all(|line| line.is_ascii()), "{plain:#?}");
    assert!(plain.join("\n").contains("failed 700"));
    let coloured = frame(&run(false), &Look { colour: true, ..look((100, 30)) }).join("\n");
    assert!(coloured.contains("\u{1b}[1;31m700\u{1b}[0m"));
    assert!(!frame(&run(false), &look((100, 30))).join("\n").contains('\u{1b}'));
}

#[test]
fn what_others_sent_steers_no_terminal() {
    for colour in [false, true] {
        let text = frame(&run(true), &Look { colour, ..look((100, 30)) }).join("\n");
        for sequence in text.split('\u{1b}').skip(1) {
            assert!(
                sequence.starts_with('[')
                    && sequence[1..]
                        .find(|c: char| !c.is_ascii_digit() && c != ';')
                        .is_some_and(|end| sequence[1 + end..].starts_with('m')),
                "{sequence:?}"
            );
        }
        assert!(!text.contains('\u{7}') && !text.contains('\u{202e}'));
    }
}

#[test]
fn nothing_yet_is_a_picture_too() {
    let lines = frame(&Watched::default(), &look((80, 24)));
    assert_eq!(lines.len(), 24);
    assert!(lines[0].contains("wringer"));
}
