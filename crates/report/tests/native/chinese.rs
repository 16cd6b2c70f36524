//! The text in Chinese: nothing of ours is left in English, tables are aligned, and what others wrote stays.

use super::{check_golden, live_rows_in, sample};
use measure::notes;
use measure::{FailureKind, Fault, SelfCheck, Stage};
use report::Language;
use report::show::{WIDTH, columns};
use std::collections::BTreeSet;

#[test]
fn text_in_chinese_is_as_in_the_golden_files() {
    for (name, sample) in sample::all() {
        if ["plain", "trouble", "all_failed"].contains(&name) {
            check_golden(&format!("{name}.zh"), &sample.chinese());
        }
    }
    check_golden("live.zh", &live_rows_in(Language::Chinese));
}

#[test]
fn text_in_chinese_keeps_to_the_width() {
    for (name, sample) in sample::all() {
        // The title names what was pressed, and where evidence lies is told in a line, however long they are.
        for line in sample.chinese().lines().skip(1).filter(|line| !line.contains("保存了")) {
            assert!(columns(line) <= WIDTH, "{name}: {line}");
            assert!(!line.ends_with(' '), "{name}: '{line}'");
        }
    }
}

/// Words of English that stay, beside what is in capitals or has a digit: names of programs, units, and text of others.
const STAY: &[&str] = &["agent", "reset", "worker", "nginx", "ulimit", "wringer", "stderr"];

/// Words in small letters that are left in Chinese text; what is quoted or an option is no word.
fn left_in_english(text: &str) -> BTreeSet<String> {
    let is_word = |word: &&str| word.len() > 2 && word.chars().all(|letter| letter.is_ascii_lowercase());
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && !"-_./`:\\".contains(letter));
    words.filter(is_word).map(str::to_owned).collect()
}

/// Each kind, fault, stage, note and breach is known, so none of them is left in English within a report.
#[test]
fn every_name_and_note_has_chinese() {
    let kinds = FailureKind::ALL.iter().map(|kind| kind.text());
    let faults = Fault::ALL.iter().map(|fault| fault.text());
    let stages = Stage::ALL.iter().map(|stage| stage.text());
    let breaches = breach::Breach::all().map(|breach| breach.entry().text);
    let templates = notes::ALL.iter().map(|note| note.0.replace("{}", "7"));
    let texts = kinds.chain(faults).chain(stages).chain(breaches).map(str::to_owned).chain(templates);
    let unknown: Vec<String> = texts.filter(|text| Language::Chinese.say(text) == *text).collect();
    assert_eq!(unknown, Vec::<String>::new());
}

/// Notes of agents on themselves, and of others on them.
#[test]
fn notes_of_agents_have_chinese() {
    for (note, said) in [
        (
            "agent a1: its wall clock is 3600.0 s behind this machine's: no figure depends on it, and dates that it judges or sends do; let \
             both follow one time server",
            "agent a1：它的系统时钟比本机慢 3600.0 秒",
        ),
        (
            "agent a1: its wall clock was set 2 times during the run, and is 3.0 s ahead of where it would be: no figure depends on it, and \
             dates that it judges or sends do",
            "agent a1：它的系统时钟在运行中被改过（2 次），比应有的快 3.0 秒",
        ),
        (
            "in measure, agents a2, a3 had nothing to do: there are 2 requests for 5 workers of all agents, and each worker needs one: ask \
             for more, or for fewer workers (--threads)",
            "在 measure 中，agent a2, a3 无事可做：全部 agent 的 5 个工作线程只有 2 个请求",
        ),
        (
            "agent a4 had nothing to do: there is 1 user or connection for 4 workers of all agents, and each worker needs one: ask for more, \
             or for fewer workers (--threads)",
            "agent a4 无事可做：全部 agent 的 4 个工作线程只有 1 个用户或连接",
        ),
    ] {
        let chinese = Language::Chinese.say(note);
        assert!(chinese.starts_with(said), "{chinese}");
    }
}

#[test]
fn reasons_of_verdicts_have_chinese() {
    let check = SelfCheck {
        worker_cpu: vec![0.97],
        overflow: 3,
        starved: 5,
        no_port: 3,
        requests: 10,
        lateness_p99_us: Some(8_000),
        panics: vec!["7".to_owned()],
        ..SelfCheck::default()
    };
    let idle = SelfCheck { worker_cpu: vec![0.1], ..check.clone() };
    let reasons = check.limits(false).into_iter().chain(idle.disturbances());
    for reason in reasons {
        let said = Language::Chinese.say(&reason);
        let left: Vec<String> =
            left_in_english(&said).into_iter().filter(|word| !STAY.contains(&word.as_str())).collect();
        assert!(said != reason && left.is_empty(), "{left:?} in {said}");
    }
}

/// Pages as decisions print them, each with the words that stay in it: names of scenarios, events, programs and units.
const PAGES: [(&str, &str, &[&str]); 8] = [
    (
        "arena",
        include_str!("pages/arena.txt"),
        &["arena", "decay", "memory", "purge", "speed", "stampede", "truth"],
    ),
    ("compare", include_str!("pages/compare.txt"), &["box", "compare", "http", "min", "pid"]),
    ("doctor", include_str!("pages/doctor.txt"), &["doctor", "prlimit", "sudo", "sysctl", "tsc"]),
    ("find", include_str!("pages/find.txt"), &["min"]),
    ("probe", include_str!("pages/probe.txt"), &["min"]),
    ("recordings", include_str!("pages/recordings.txt"), &["cache", "combined", "min", "sigma"]),
    ("size", include_str!("pages/size.txt"), &["min"]),
    (
        "stress",
        include_str!("pages/stress.txt"),
        &["files", "grep", "malformed", "min", "mpstat", "nstat", "perf", "top"],
    ),
];

#[test]
fn pages_of_decisions_leave_nothing_of_ours_in_english() {
    for (name, page, names) in PAGES {
        let said = Language::Chinese.say_page(page);
        for line in said.lines() {
            let mut left = left_in_english(line);
            left.retain(|word| !STAY.contains(&word.as_str()) && !names.contains(&word.as_str()));
            assert!(left.is_empty(), "{name}: {left:?} in {line}");
        }
        assert_eq!(Language::English.say_page(page), page);
    }
}

/// Rows that begin with the names given have their second cells at one column.
fn is_aligned(said: &str, names: &[&str]) -> bool {
    let starts = said.lines().filter(|line| names.iter().any(|name| line.starts_with(name)));
    let second = |line: &str| {
        let first = line.find("  ").unwrap_or(line.len());
        let gap = line[first..].len() - line[first..].trim_start().len();
        columns(&line[..first]) + gap
    };
    starts.map(second).collect::<BTreeSet<usize>>().len() == 1
}

#[test]
fn tables_of_decisions_are_aligned_in_chinese() {
    let page = |name: &str| PAGES.iter().find(|(of, ..)| *of == name).map_or("", |(_, page, _)| page);
    let compared = Language::Chinese.say_page(page("compare"));
    assert!(
        is_aligned(&compared, &["每个响应的 CPU  A", "p50             A", "p99  ", "命中率  "]),
        "{compared}"
    );
    let stressed = Language::Chinese.say_page(page("stress"));
    assert!(
        is_aligned(&stressed, &["场景  ", "idle-herd  ", "huge-heads  ", "connection-flood  "]),
        "{stressed}"
    );
    let checked = Language::Chinese.say_page(page("doctor"));
    assert!(checked.contains("\n  正常  端口       同时需要 1,000，现有 28,232\n"), "{checked}");
    assert!(checked.lines().all(|line| columns(line) <= WIDTH), "{checked}");
}
