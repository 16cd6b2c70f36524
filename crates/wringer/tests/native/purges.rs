//! Purges by every way, and what a run says of a cache besides faults: entries that are blocked, fetches that wait for each other, answers that
//! become dearer. Each has a switch of the tests' own proxy that provokes it.

use crate::faulty_proxy::{FaultKind, start};
use crate::support::{Ran, free_address, program, run, start as wringer_of};

/// Purges of five objects, ten a second.
const PURGES: &str = "-c 4 -d 5s --rate 200 --hot 5 --hit-ratio 1 --size 3000 --purge 10/s --purge-within 1s";

/// Presses a proxy with one fault.
fn pressed(kind: FaultKind, options: &str) -> Ran {
    let origin = free_address();
    let proxy = start(origin, kind);
    let line = format!(
        "cache {} --origin {origin} -q --ignore-exit --seed 7 --json {{}}/result.json {options}",
        proxy.address
    );
    let words: Vec<String> = line.split_whitespace().map(|word| word.replace(SPACE, " ")).collect();
    wringer_of(words.iter().map(String::as_str)).end()
}

/// Stands for a space within a word.
const SPACE: char = '~';

/// Those purges with one option more.
fn with(option: &str, value: &str) -> String {
    format!("{PURGES} {option} {}", value.replace(' ', &SPACE.to_string()))
}

#[test]
fn purges_by_another_method_and_by_a_key() {
    for options in [
        with("--purge-by BAN --purge-header", "X-Ban-Path:{path}"),
        with("--origin-header Surrogate-Key:{path} --purge-header", "Surrogate-Key:{path}"),
    ] {
        let done = pressed(FaultKind::None, &options).report();
        assert!(done.faults().is_empty(), "{options}: {:?}", done.faults());
        let [all, acknowledged] = ["purges", "purges_acknowledged"].map(|name| done.sum(name));
        assert!(
            all > 0 && all == acknowledged && done.sum("purged_hits") == 0,
            "{options}: {acknowledged} of {all}"
        );
        // What was purged is fetched again.
        assert!(done.sum("misses") > all / 2, "{options}: {} misses", done.sum("misses"));
        let ignored = pressed(FaultKind::IgnorePurge, &options).report();
        assert!(ignored.faults()["not_purged"] > 0, "{options}: {:?}", ignored.faults());
    }
}

#[test]
fn purges_that_come_late_are_told_with_the_latest() {
    let ran = pressed(FaultKind::PurgeLate { ms: 400 }, PURGES);
    let notes = ran.report().notes();
    assert!(
        notes.contains("followed by hits of what had been made before") && notes.contains("(/w/"),
        "{notes}"
    );
}

/// A command that purges as the method does, by curl.
#[test]
fn purges_by_a_command() {
    if program("curl").is_none() {
        return;
    }
    let options = with("--purge-command", "curl -sfo /dev/null -X PURGE -H 'Host: {host}' {url}");
    let done = pressed(FaultKind::None, &options).report();
    assert!(done.faults().is_empty(), "{:?}", done.faults());
    let [all, acknowledged] = ["purges", "purges_acknowledged"].map(|name| done.sum(name));
    assert!(
        acknowledged > 0 && all == acknowledged && done.sum("purged_hits") == 0,
        "{acknowledged} of {all}"
    );
    assert!(done.sum("misses") > all / 2, "{} misses", done.sum("misses"));
    let ignored = pressed(FaultKind::IgnorePurge, &options).report();
    assert!(ignored.faults()["not_purged"] > 0, "{:?}", ignored.faults());
    let refused = pressed(FaultKind::Leak, &options).report();
    assert!(
        refused.sum("purges_acknowledged") == 0 && refused.notes().contains("exit status: 22"),
        "{}",
        refused.notes()
    );
}

#[test]
fn commands_that_fail_and_commands_that_do_not_end() {
    let failing = pressed(FaultKind::None, &with("--purge-command", "echo no {path} >&2; exit 3")).report();
    let notes = failing.notes();
    assert!(failing.sum("purges") > 0 && failing.sum("purges_acknowledged") == 0, "{notes}");
    assert!(notes.contains("exit status: 3: no /w/"), "{notes}");
    let endless = pressed(FaultKind::None, &with("--purge-command", "sleep 60; : {url}")).report();
    assert!(
        endless.sum("purges") == 0 && endless.notes().contains("purges were left out"),
        "{}",
        endless.notes()
    );
}

#[test]
fn ways_that_contradict_each_other_are_refused() {
    for (options, words) in [
        ("--purge 1/s --purge-by BAN --purge-command {url}", ["--purge-by", "cannot be used with"]),
        (
            "--purge 1/s --purge-header X-Key:{path} --purge-command {url}",
            ["--purge-header", "cannot be used with"],
        ),
        ("--purge 1/s --purge-command true", ["--purge-command", "write {url} or {path}"]),
        ("--purge-command {url}", ["--purge", "required"]),
        (
            "--purge 1/s --purge-command {url} --agents local:2 --clients-only",
            ["--purge-command", "machines of others"],
        ),
    ] {
        run(&format!("cache 127.0.0.1:1 {options}")).refused_with(2, &words);
    }
}

/// Requests for one object that wait for each other.
#[test]
fn fetches_that_wait_for_each_other() {
    let options = "-n 1500 -c 16 --hot 4 --hit-ratio 1 --size 3000 --origin-delay 20ms";
    let notes = pressed(FaultKind::OneByOne, options).report().notes();
    assert!(notes.contains("requests for one object wait for each other"), "{notes}");
    let notes = pressed(FaultKind::KeepNothing, options).report().notes();
    assert!(!notes.contains("wait for each other"), "{notes}");
}

/// Objects that never become a hit are told apart from those that are none any more.
#[test]
fn entries_that_are_blocked() {
    let options = "-d 4s --rate 300 --hot 20 --hit-ratio 1 --size 3000";
    let report = pressed(FaultKind::DeadObjects, options).report();
    let findings = report.list("verdict/target/findings");
    let dead =
        findings.iter().find(|finding| finding.text("kind") == "dead_objects").expect("there are some");
    let text = dead.text("text").to_owned();
    let number = |text: &str, from: &str| {
        text.rsplit(from).next().and_then(|rest| rest.trim_end_matches(')').parse().ok())
    };
    let dead: Option<u64> = text.split(' ').next().and_then(|count| count.parse().ok());
    assert!(dead.is_some() && dead == number(&text, "blocked: "), "{text}");
}

/// On a machine that is too busy for it nothing is concluded.
#[test]
fn answers_that_become_dearer() {
    let line = "-d 21s --rate 110 --hot 20 --hit-ratio 1 --size 3000";
    let report = pressed(FaultKind::Dearer, line).report();
    let kept_pace = report.sum("ok") as f64 > 0.95 * 110.0 * 21.0;
    let undisturbed = report.text("verdict/measurement/state") == "valid";
    assert!(
        !kept_pace || !undisturbed || report.notes().contains("answers became dearer with time"),
        "{}",
        report.notes()
    );
}
