//! The native reports against golden text, their own sums and their documentation.
//!
//! `UPDATE_GOLDEN=1 cargo test -p report` writes the golden files anew; read the difference before committing it.

mod chinese;
mod page;
mod sample;

use measure::{AgentUse, Exchange, LostAgent, Row};
use report::Language;
use report::live::{Known, Lines, OriginLines};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

const JSON_PAGE: &str = include_str!("../../../../docs/src/json.md");
const HTTP_PAGE: &str = include_str!("../../../../docs/src/http.md");
const REPORT_PAGE: &str = include_str!("../../../../docs/src/report.md");

fn check_golden(name: &str, text: &str) {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/native/golden").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, golden, "{name}: not as in {}", path.display());
}

#[test]
fn text_is_as_in_the_golden_files() {
    for (name, sample) in sample::all() {
        check_golden(name, &sample.text());
    }
}

#[test]
fn one_screen_is_as_in_the_golden_files() {
    for (name, sample) in sample::all() {
        if ["plain", "shift", "empty", "all_failed", "origin_only"].contains(&name) {
            let text = report::text::one_screen(&sample.result, &sample.context());
            assert!(text.lines().all(|line| !line.ends_with(' ')), "{text}");
            check_golden(&format!("{name}.short"), &text);
        }
    }
}

#[test]
fn results_for_build_servers_are_as_in_the_golden_files() {
    for (name, sample) in sample::all() {
        if ["plain", "trouble", "all_failed"].contains(&name) {
            let context = sample.context();
            check_golden(&format!("{name}.junit"), &report::junit::report(&sample.result, &context));
            check_golden(&format!("{name}.summary"), &report::summary::report(&sample.result, &context));
            check_golden(&format!("{name}.sarif"), &report::sarif::report(&sample.result, &context));
        }
    }
}

#[test]
fn text_is_neither_too_wide_nor_nonsense() {
    for (name, sample) in sample::all() {
        for (number, line) in sample.text().lines().enumerate() {
            // The title names what was pressed, however long that is.
            assert!(number == 0 || line.chars().count() <= report::show::WIDTH, "{name}: {line}");
            assert!(!line.ends_with(' '), "{name}: '{line}'");
            assert!(!line.contains("NaN") && !line.contains("inf "), "{name}: {line}");
        }
    }
}

#[test]
fn long_names_and_large_numbers_stay_within_the_width() {
    // The title names what was pressed, however long that is.
    for line in sample::large().text().lines().skip(1) {
        assert!(line.chars().count() <= report::show::WIDTH, "{line}");
    }
}

#[test]
fn the_page_shows_the_golden_report() {
    assert!(REPORT_PAGE.contains(&sample::plain().text()), "docs/src/report.md shows another report");
    let plain = sample::plain();
    let short = report::text::one_screen(&plain.result, &plain.context());
    assert!(HTTP_PAGE.contains(&short), "docs/src/http.md shows another report of one screen");
}

/// Of some that are left, the end is known to nobody: they were under way at an agent that was lost.
#[test]
fn requests_that_a_lost_agent_took_along_are_told_apart() {
    let lost = LostAgent { why: "its channel closed".to_owned(), ..LostAgent::default() };
    let waited = "no whole answer after up to 600 ms";
    let unknown = "under way when an agent was lost";
    for (waiting, untold, said) in [
        (3, 0, format!("requests: {waited}")),
        (0, 3, format!("requests: {unknown}, so nobody knows their end")),
        (1, 2, format!("requests: {waited}, or, 2, {unknown}")),
    ] {
        let mut sample = sample::plain();
        let agent = AgentUse { lost: (untold > 0).then(|| lost.clone()), ..AgentUse::default() };
        sample.result.agents.push(agent);
        let tally = &mut sample.result.phases[0].tally;
        tally.counts.requests += 3;
        let so_far = Duration::from_millis(600);
        tally.exchange(&Exchange::unfinished(Duration::from_secs(30), so_far, waiting));
        tally.counts.unfinished += untold;
        let text = sample.text();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&said), "{said:?} is missing in {text}");
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= report::show::WIDTH), "{text}");
    }
}

const ALL: Known = Known { hits: true, origin: true };

fn live_rows() -> String {
    live_rows_in(Language::English)
}

fn live_rows_in(language: Language) -> String {
    let sample = sample::shift();
    let mut lines = Lines::new(ALL, 0, language);
    let names = ["fill", "before", "after"];
    let rows = sample.result.timeline.rows.iter();
    rows.map(|row| lines.row(row, names[row.phase as usize])).collect()
}

#[test]
fn live_lines_are_as_in_the_golden_file() {
    check_golden("live", &live_rows());
}

#[test]
fn live_lines_of_an_origin_are_as_in_the_golden_file() {
    let mut lines = OriginLines::new(0, Language::English);
    let second = |at_s: f64, cpu| {
        let counts = measure::OriginCounts {
            connections: 30,
            closed: 10,
            requests: 12_000,
            unchanged: 700,
            body_bytes: 150_000_000,
            errors: 3,
            refused: 1,
            ..Default::default()
        };
        (Row { at_s, seconds: 1.0, origin: Some(counts), ..Row::default() }, cpu)
    };
    let rows = [second(1.0, Some(0.31)), second(2.0, None), (Row { at_s: 3.0, ..Row::default() }, Some(0.0))];
    let text: String = rows.iter().map(|(row, cpu)| lines.row(row, *cpu)).collect();
    check_golden("live_origin", &text);
    let narrow = OriginLines::new(50, Language::English).row(&Row::default(), None);
    assert!(narrow.lines().all(|line| line.chars().count() <= 50) && narrow.contains("errors"), "{narrow}");
}

#[test]
fn the_end_of_a_run_does_not_read_as_the_second_before_it() {
    let mut lines = Lines::new(ALL, 0, Language::English);
    let mut time = |at_s, seconds| {
        let text = lines.row(&Row { at_s, seconds, ..Row::default() }, "measure");
        text.lines().last().unwrap_or_default().split_whitespace().next().map(str::to_owned)
    };
    let times = [time(0.04, 0.04), time(1.02, 0.98), time(2.3, 1.28), time(2.5, 0.2)];
    assert_eq!(times.map(Option::unwrap), ["0", "1", "2", "2.5"]);
}

/// Results that are not good are not boasted of, and the first lines say why and what to try.
#[test]
fn a_proxy_that_stores_nothing_is_said_to_in_the_first_lines() {
    let text = sample::stores_nothing().text();
    let headline = text.split("\n\nLoad").next().unwrap();
    assert!(headline.contains("0 % hits") && headline.contains("nothing was stored"), "{headline}");
    assert!(
        text.contains("304 of the origin, passed on") && !text.contains("confirmed by the origin"),
        "{text}"
    );
    let caches = sample::plain().text();
    assert!(caches.contains("confirmed by the origin") && !caches.contains("nothing was stored"), "{caches}");
}

#[test]
fn a_run_without_a_good_answer_says_so_first() {
    for (sample, words) in [
        (sample::all_failed(), ["no good answer", "Nothing listens at 127.0.0.1:8080"]),
        (sample::bad_gateway(), ["status 502", "must fetch from 127.0.0.1:9080"]),
    ] {
        let text = sample.text();
        let headline =
            text.split("\n\nLoad").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        words.iter().for_each(|word| assert!(headline.contains(word), "{word}: {headline}"));
        assert!(headline.contains("100 % bad not one of"), "{headline}");
        assert!(!headline.contains("hits"), "{headline}");
        assert!(!text.contains("offload"), "{text}");
        let json = parsed(&sample);
        assert_eq!(json["verdict"]["target"]["state"], "no_good_answer");
        assert!(json["measured"]["cache"]["offload"].is_null(), "{}", json["measured"]["cache"]);
    }
}

#[test]
fn a_run_of_which_little_was_sent_says_so_first() {
    let sample = sample::starved();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = "70.0 % not sent this machine had no port or descriptor left for 70 of 100 requests";
    let short = report::text::one_screen(&sample.result, &sample.context());
    for text in [&sample.text(), &short] {
        let said = text.split_once("\n\n").map_or("", |(_, said)| said).trim_start();
        assert!(words(said).starts_with(first), "{text}");
    }
    assert!(words(&sample.text()).contains("see Generator below"), "{}", sample.text());
    // What has no section on the generator gives the reason itself.
    let summary = report::summary::report(&sample.result, &sample.context());
    for text in [&short, &summary] {
        let text = words(text);
        assert!(!text.contains("below") && text.contains("70 requests found no free local port"), "{text}");
    }
}

/// A server without HTTP/2 ends the handshake with an alert of its own.
#[test]
fn a_server_without_http_2_is_named() {
    let mut sample = sample::alerted(120);
    let said = |sample: &sample::Sample| sample.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said(&sample).contains("Look which TLS versions"), "HTTP/2 was not asked for");
    let load = sample.plan.load.as_mut().unwrap();
    let plan::Protocol::Http(http) = &mut load.protocol else { panic!("HTTP") };
    http.h2 = Some(plan::Http2::default());
    assert!(
        said(&sample).contains("The server does not speak HTTP/2 there: leave out --http 2."),
        "{}",
        sample.text()
    );
}

#[test]
fn live_header_comes_at_each_phase_and_every_twenty_rows() {
    let text = live_rows();
    let headers = text.lines().filter(|line| line.contains("requests")).count();
    assert_eq!(headers, 1 + 2 + 2);
    assert_eq!(text.lines().filter(|line| line.starts_with("phase ")).count(), 3);
}

#[test]
fn live_lines_fit_the_screen_and_survive_silence() {
    for width in [0, 60, 80, 100] {
        let mut lines = Lines::new(ALL, width, Language::English);
        let text = lines.row(&Row::default(), "measure");
        assert!(width == 0 || text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
        assert!(!text.contains("NaN"), "{text}");
    }
    let nothing = Known { hits: false, origin: false };
    let without = Lines::new(nothing, 0, Language::English).row(&Row::default(), "measure");
    assert!(
        !without.contains("origin") && !without.contains("hits") && without.contains("checks"),
        "{without}"
    );
}

fn parsed(sample: &sample::Sample) -> Value {
    serde_json::from_str(&sample.json()).unwrap()
}

fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer} is no whole number"))
}

fn sum(list: &Value, field: &str) -> u64 {
    list.as_array().unwrap().iter().map(|item| number(item, field)).sum()
}

/// The samples of which the page of the JSON tells.
fn documented_samples() -> Vec<sample::Sample> {
    let plain = sample::all().into_iter().map(|(_, sample)| sample);
    plain.chain([sample::codes(), sample::http2(), sample::http3(), sample::agents()]).collect()
}

#[test]
fn json_fits_its_schema() {
    let schema: Value = serde_json::from_str(report::schema::run()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let fits = |value: &Value| {
        let wrong: Vec<_> =
            validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    };
    documented_samples().iter().for_each(|sample| fits(&parsed(sample)));
    let mut older = parsed(&sample::shift());
    older["schema_version"] = 3.into();
    assert!(!validator.is_valid(&older), "a report of another version does not fit");
    let mut odd = parsed(&sample::shift());
    odd["measured"]["counts"]["ok"] = "many".into();
    assert!(!validator.is_valid(&odd), "counts are numbers");
}

#[test]
fn answers_of_several_bad_statuses_are_not_all_of_one() {
    let mixed = sample::bad_statuses(&[(401, 40), (502, 600)]);
    assert!(mixed.text().contains("600 of 640: status 502"), "{}", mixed.text());
    assert!(mixed.chinese().contains("640 个中的 600 个：状态码 502"), "{}", mixed.chinese());
}

#[test]
fn bytes_that_went_are_told_where_they_are_many_times_those_that_came() {
    let mut sample = sample::plain();
    let moved = |sample: &sample::Sample| {
        let told = sample.text().lines().find(|line| line.contains(" received")).map(str::to_owned);
        told.expect("a headline").contains(" sent, ")
    };
    assert!(!moved(&sample));
    let phase = sample.result.phases.iter_mut().find(|phase| phase.measured).expect("one counts");
    let counts = &mut phase.tally.counts;
    counts.sent_bytes = 11 * (counts.head_bytes + counts.body_bytes);
    assert!(moved(&sample), "{}", sample.text());
    assert!(sample.chinese().contains("，发送 "), "{}", sample.chinese());
}

#[test]
fn a_secret_that_was_left_out_of_a_command_line_is_told_beneath_it() {
    let sample = sample::plain();
    let told = |command, language| {
        report::text::report(&sample.result, &report::Context { command, language, ..sample.context() })
    };
    let masked = "wringer http h --bearer '***'";
    assert!(told(masked, Language::English).contains("where a secret was typed: type it anew"));
    assert!(!told("wringer http h", Language::English).contains("secret"));
    let chinese = told(masked, Language::Chinese);
    assert!(chinese.contains("重新输入") && !chinese.contains("secret"), "{chinese}");
}

#[test]
fn json_has_no_percentiles_of_nothing() {
    for sample in documented_samples() {
        let json = parsed(&sample);
        for (metric, times) in json["measured"]["latency"].as_object().unwrap() {
            let is_nothing = number(times, "/count") == 0;
            assert_eq!(times["p99_us"].is_null(), is_nothing, "{metric}: {times}");
            assert_eq!(times["mean_us"].is_null(), is_nothing, "{metric}: {times}");
        }
    }
}

#[test]
fn json_adds_up() {
    for (name, sample) in sample::all() {
        let json = parsed(&sample);
        let measured = &json["measured"];
        let at = |field: &str| number(measured, &format!("/counts/{field}"));
        let ends =
            at("ok") + at("check_failed") + at("injected") + at("aborted") + at("failed") + at("unfinished");
        assert_eq!(at("requests"), ends, "{name}");
        assert_eq!(at("failed"), sum(&measured["failures"], "/count"), "{name}");
        assert_eq!(at("check_failed"), sum(&measured["faults"], "/count"), "{name}");
        assert_eq!(at("ended"), sum(&measured["statuses"], "/count"), "{name}");
        assert_eq!(at("ok"), number(measured, "/latency/service/count"), "{name}");
    }
}

#[test]
fn json_phases_make_up_what_is_measured() {
    let json = parsed(&sample::shift());
    let phases: Vec<Value> = json["phases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|phase| phase["measured"] == true)
        .cloned()
        .collect();
    assert_eq!(phases.len(), 2);
    for field in ["requests", "hits", "body_bytes", "connections"] {
        let pointer = format!("/counts/{field}");
        assert_eq!(
            number(&json, &format!("/measured{pointer}")),
            sum(&Value::from(phases.clone()), &pointer)
        );
    }
    assert_eq!(json["timeline"].as_array().unwrap().len(), 62);
}

#[test]
fn json_holds_a_plan_that_runs_again() {
    let sample = sample::open_pace();
    let plan: plan::Plan = serde_json::from_value(parsed(&sample)["plan"].clone()).unwrap();
    assert_eq!(plan, sample.plan);
}

#[test]
fn codes_of_answers_have_a_section() {
    let text = sample::codes().text();
    let load = &text[text.find("\nLoad\n").expect("a section")..];
    assert!(!load.lines().nth(1).unwrap().contains("hits"), "{load}");
    let begin = text.find("\nCodes\n").expect("a section");
    for line in
        ["90  90.0 %  00", "9   9.0 %  5\\x01   failure", "(none)", "3 messages that nobody had asked for"]
    {
        assert!(text[begin..].contains(line), "{line} in {}", &text[begin..]);
    }
}

/// Counts under names of RFCs.
const BY_NAME: [&str; 4] = ["frames_received", "frames_sent", "resets_received", "resets_sent"];

/// Keys of objects at any depth but for the plan, which has a page of its own, and for counts under names of others.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                found.insert(key.clone());
                if key != "plan" && !BY_NAME.contains(&key.as_str()) {
                    keys(field, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

/// Names in the first column of the page's tables.
fn documented() -> BTreeSet<String> {
    let first_cells = JSON_PAGE.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    let names = first_cells.flat_map(|(cell, _)| cell.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

#[test]
fn what_quic_did_is_told_and_whose_loss_it_was() {
    let text = sample::http3().text();
    for row in [
        "HTTP/3",
        "received       85 HEADERS",
        "reset by peer  5 H3_REQUEST_REJECTED",
        "QUIC           40 datagrams sent, 100 received, 3 packets lost",
        "ECN            5 datagrams came marked CE, off on 1 connection: the path or the peer does not carry it",
        "round trip     300 µs on average, 500 µs at most",
        "transport      lab: no congestion control, no pacing, windows of 16 MB",
        "1 × GOAWAY H3_NO_ERROR.",
        "2 datagrams had no room in this machine's sockets",
    ] {
        assert!(text.contains(row), "{row}: {text}");
    }
}

#[test]
fn what_only_two_ends_can_see_is_told() {
    let text = sample::http2().text();
    let row = "fairness  Jain's index 0.75, worst 0.50 of 2 windows of 100 ms; an answer got nothing for 300 ms while others did";
    assert!(text.contains(row), "{text}");
    assert!(text.contains("Work after reset: of 3 requests that clients broke off"), "{text}");
}

/// The page of names says what the catalogue says; `UPDATE_GOLDEN=1` writes it.
#[test]
fn the_page_of_names_is_made_of_the_catalogue() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/breaches.md");
    let page = report::explain::page();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    assert!(
        page == std::fs::read_to_string(path).unwrap_or_default(),
        "docs/src/breaches.md is not as the catalogue has it: UPDATE_GOLDEN=1 cargo test -p report"
    );
}

#[test]
fn json_and_its_page_name_the_same_fields() {
    let mut found = BTreeSet::new();
    documented_samples().iter().for_each(|sample| keys(&parsed(sample), &mut found));
    let documented = documented();
    assert_eq!(
        found.difference(&documented).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "not in docs/src/json.md"
    );
    assert_eq!(
        documented.difference(&found).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "only in docs/src/json.md"
    );
}
