//! The page with a run in it: one file, small, that holds what the records hold and lets nothing foreign act.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use measure::stream::{BoundBy, Command, Controlled, MeasureEnd, Note, PhaseBegun, PhasePlan};
use measure::{Buckets, Digits, Head, Histogram, Reporting, RunEvent, Second, TimeMetric};
use report::page::{self, GatherPlace, Gathered, MOST_BYTES};
use serde_json::{Value, json};
use std::time::Duration;

const EVIL: &str =
    "</pre></noscript></template><script>alert(1)</script><img src=x onerror=alert(2)>\u{1b}[2J\u{202e}";

fn head() -> RunEvent {
    let phase = |name: &str, measured| PhasePlan {
        name: name.to_owned(),
        measured,
        open: true,
        labels: vec!["GET /a".to_owned()],
        lasts: measured.then_some(Duration::from_secs(48)),
    };
    let labels = [("build".to_owned(), EVIL.to_owned())].into();
    RunEvent::Head(Box::new(Head {
        id: "0193551f-7c2e-7000-8000-00007f3a4d1c".to_owned(),
        target: Some(EVIL.to_owned()),
        plan: EVIL.to_owned(),
        seed: u64::MAX,
        phases: vec![phase("fill", false), phase(EVIL, true)],
        labels,
        ..Head::default()
    }))
}

/// A second with some spread of times; all drawn from its number.
fn second(n: u64, phase: u32) -> RunEvent {
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000, 3).unwrap();
    (0..60).for_each(|k| histogram.record(200 + (n * 7919 + k * k * 104_729) % 90_000).unwrap());
    let mut second = Second {
        at: Duration::from_secs(n + 1),
        took: Duration::from_secs(1),
        phase,
        asked_per_s: Some(100.0),
        worker_cpu: vec![0.3, 0.9],
        ..Second::default()
    };
    second.clients.counts.requests = 100 + n % 7;
    second.clients.counts.ok = 100;
    second.clients.counts.failed = u64::from(n % 50 == 3);
    second.clients.statuses = vec![(200, 100), (503, n % 3)];
    for metric in [
        TimeMetric::Service,
        TimeMetric::Response,
        TimeMetric::FirstByte,
        TimeMetric::Hit,
        TimeMetric::Miss,
        TimeMetric::Lateness,
    ] {
        second.metrics.insert(metric, Buckets::of(&histogram, Digits::Two));
    }
    if n.is_multiple_of(10) {
        second.bound = vec![BoundBy::Cpu];
    }
    RunEvent::Second(Box::new(second))
}

fn run(seconds: u64, filling: u64) -> Gathered {
    let mut gathered = Gathered::default();
    let begun = |phase, at| {
        RunEvent::Phase(PhaseBegun { phase, at: Duration::from_secs(at), ..PhaseBegun::default() })
    };
    gathered.apply(&head());
    gathered.apply(&begun(0, 0));
    for n in 0..seconds {
        if n == filling {
            gathered.apply(&begun(1, n));
        }
        gathered.apply(&second(n, u32::from(n >= filling)));
    }
    gathered.apply(&RunEvent::Note(Note { text: EVIL.to_owned(), ..Note::default() }));
    let command = Some(Command::Mark { text: EVIL.to_owned() });
    gathered.apply(&RunEvent::Control(Controlled {
        at: Duration::from_secs(1),
        command,
        ..Controlled::default()
    }));
    gathered.apply(&RunEvent::End(Box::new(MeasureEnd {
        took: Duration::from_secs(seconds),
        ..MeasureEnd::default()
    })));
    gathered
}

/// The run that a report holds.
fn inlined(page: &str) -> Value {
    block(page, "run")
}

/// The block of this name, unpacked.
fn block(page: &str, name: &str) -> Value {
    let begin = format!("<template id=\"{name}\">");
    let (_, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("a {name} is in it"));
    let (block, _) = rest.split_once("</template>").unwrap();
    serde_json::from_reader(GzDecoder::new(&STANDARD.decode(block).unwrap()[..])).unwrap()
}

/// A column as numbers; gaps are left out.
fn column(run: &Value, name: &str) -> Vec<f64> {
    let column = &run["columns"][name];
    let scale = 10f64.powi(column["e"].as_i64().unwrap_or(0) as i32);
    let differences = column["d"]
        .as_array()
        .unwrap_or_else(|| panic!("{name} is a column"))
        .iter()
        .filter_map(Value::as_i64);
    differences
        .scan(0, |sum, difference| {
            *sum += difference;
            Some(*sum as f64 * scale)
        })
        .collect()
}

/// Figures of an agent that was silent: they are added to the second that was told without them, which followers are told again.
#[test]
fn late_figures_are_added_to_their_second() {
    let changed = |n: u64, change: &dyn Fn(&mut Second)| {
        let mut event = second(n, 0);
        if let RunEvent::Second(second) = &mut event {
            change(second);
        }
        event
    };
    let part = |second: &mut Second| second.agents = Some(Reporting { told: 1, of: 2 });
    let late = |second: &mut Second| (second.late, second.took) = (true, Duration::ZERO);
    let mut gathered = Gathered::default();
    gathered.apply(&head());
    [second(0, 0), changed(1, &part), changed(2, &part)].iter().for_each(|event| gathered.apply(event));
    let place = gathered.place();
    assert_eq!(place.to_string(), "1-1");
    gathered.apply(&changed(1, &late));
    assert_eq!(gathered.place().to_string(), "1-2");
    let change = serde_json::to_value(gathered.change(place)).unwrap();
    assert_eq!((&change["first_row"], &change["rows"]), (&json!(1), &json!(3)));
    assert_eq!(column(&change, "requests"), [202.0, 102.0]);
}

#[test]
fn a_decision_stands_in_the_page_as_it_was_written() {
    let decision = serde_json::json!({
        "schema": "wringer.comparison", "a": EVIL, "outcome": { "figures": [0.1, 1e-7, null] }, "files": ["</template>"],
    });
    let page = page::decision(&decision, EVIL).unwrap();
    assert_eq!(block(&page, "decision"), decision);
    assert!(!page.contains("<template id=\"run\">") && !page.contains(EVIL), "what is foreign is text");
    // It is one file, which asks for nothing.
    assert!(
        page.contains("connect-src 'none'") && !page.contains("src=\"http") && !page.contains("href=\"http")
    );
    assert!(!page.contains("<link rel=\"stylesheet\"") && !page.contains("@import"));
}

#[test]
fn a_report_holds_what_its_records_hold() {
    let page = page::report(&run(60, 12), "as text").unwrap();
    let run = inlined(&page);
    let requests = |seconds: std::ops::Range<u64>| seconds.map(|n| 100 + n % 7).sum::<u64>();
    assert_eq!(column(&run, "requests").iter().sum::<f64>(), requests(0..60) as f64);
    assert_eq!(column(&run, "status.503").iter().sum::<f64>(), 60.0);
    assert_eq!(run["phases"][1]["counts"]["requests"], requests(12..60));
    assert_eq!((&run["rows"], &run["state"]), (&60.into(), &"ended".into()));
    assert_eq!(run["metrics"]["service"]["bits"], 7, "a short run keeps two digits");
    assert_eq!(column(&run, "service.p99").len(), 60);
    assert_eq!(run["bound"].as_array().unwrap().len(), 6);
    assert_eq!(run["marks"][0]["text"], EVIL);
    assert_eq!(run["head"]["seed"], u64::MAX.to_string(), "a number of JavaScript would round it");
    let kept: u64 =
        run["metrics"]["service"]["spans"].as_array().unwrap().iter().map(|span| counted(&span[1])).sum();
    assert_eq!(kept, 60 * 60, "no time is lost");
}

/// Counts of runs of buckets, the gaps left out.
fn counted(runs: &Value) -> u64 {
    let runs = runs.as_array().unwrap().iter().map(|run| run.as_array().unwrap());
    runs.flat_map(|run| &run[1..]).filter_map(Value::as_u64).sum()
}

#[test]
fn what_others_said_is_text_in_a_report() {
    let page = page::report(&run(3, 1), EVIL).unwrap();
    assert!(
        !page.contains("<script>alert") && !page.contains("<img"),
        "in the text it is escaped, elsewhere packed"
    );
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(page.contains("&lt;script&gt;alert(1)"), "those without scripts read it");
    let policy = page.split_once("Content-Security-Policy").unwrap().1;
    assert!(policy.contains("connect-src 'none'") && policy.contains("default-src 'none'"));
    for foreign in ["src=\"http", "href=\"http", "url(http", "@import", "fetch(\"http"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}

#[test]
fn a_long_run_stays_small_and_loses_no_request() {
    let seconds = 20_000;
    let page = page::report(&run(seconds, 100), "as text").unwrap();
    assert!(page.len() < MOST_BYTES, "{} bytes", page.len());
    let run = inlined(&page);
    let rows = run["rows"].as_u64().unwrap();
    assert!((300..=3_600).contains(&rows), "{rows} rows");
    let sent: u64 = (0..seconds).map(|n| 100 + n % 7).sum();
    let told = column(&run, "requests").iter().sum::<f64>();
    // Counts of long runs have four digits.
    assert!((told - sent as f64).abs() <= sent as f64 * 1e-3, "{told} of {sent}");
    let kept: u64 =
        run["metrics"]["service"]["spans"].as_array().unwrap().iter().map(|span| counted(&span[1])).sum();
    assert_eq!(kept, 60 * seconds);
    assert_eq!(run["phases"][1]["counts"]["failed"], (100..seconds).filter(|n| n % 50 == 3).count());
}

#[test]
fn a_run_without_records_and_one_that_was_cut_are_shown() {
    let nothing = inlined(&page::report(&Gathered::default(), "").unwrap());
    assert_eq!((&nothing["rows"], &nothing["state"]), (&0.into(), &"live".into()));
    let mut cut = Gathered::default();
    cut.apply(&head());
    cut.apply(&second(0, 0));
    let run = serde_json::to_value(cut.kept_model("", page::Room::AMPLE, false)).unwrap();
    assert_eq!((&run["state"], &run["rows"]), (&"cut".into(), &1.into()));
    assert_eq!(run["verdict"], Value::Null, "nobody judged it");
}

/// A reader of changes who puts rows in place of those it knows holds what the whole holds, also where rows had to be joined.
#[test]
fn changes_put_in_place_give_the_whole() {
    let mut gathered = Gathered::default();
    gathered.apply(&head());
    let mut place = GatherPlace::default();
    let mut rows: Vec<f64> = Vec::new();
    let mut told_whole = 0;
    for n in 0..8_000 {
        gathered.apply(&second(n, u32::from(n >= 12)));
        if n % 97 == 0 || (7_190..7_210).contains(&n) || n == 7_999 {
            let change = serde_json::to_value(gathered.change(place)).unwrap();
            let first = change["first_row"].as_u64().unwrap() as usize;
            told_whole += usize::from(first == 0);
            rows.truncate(first);
            rows.extend(column(&change, "requests"));
            assert_eq!(rows.len() as u64, change["rows"].as_u64().unwrap());
            place = change["next"].as_str().unwrap().parse().unwrap();
        }
    }
    assert_eq!(told_whole, 3, "at first, where the only row grows, and when rows were joined");
    assert_eq!(rows.iter().sum::<f64>(), (0..8_000).map(|n| 100 + n % 7).sum::<u64>() as f64);
}

#[test]
fn a_phase_that_goes_on_says_when_it_is_to_end_and_nothing_of_being_cut_off() {
    let mut gathered = Gathered::default();
    gathered.apply(&head());
    gathered.apply(&RunEvent::Phase(PhaseBegun { phase: 1, ..PhaseBegun::default() }));
    gathered.apply(&second(0, 1));
    let live = serde_json::to_value(gathered.change(GatherPlace::default())).unwrap();
    let phase = live["phases"].as_array().unwrap().last().unwrap();
    assert_eq!((&phase["planned_end_s"], phase.get("ended_s")), (&48.0.into(), None));
    assert_eq!((&live["state"], &live["notes"]), (&"live".into(), &Value::Array(Vec::new())));
    let cut = serde_json::to_value(gathered.kept_model("", page::Room::AMPLE, false)).unwrap();
    assert_eq!((&cut["state"], cut["notes"].as_array().unwrap().len()), (&"cut".into(), 1));
}
