//! Plan files: three forms, variables, includes, and the files that a plan may read.

use crate::support::{Ran, folder, shell, start_in};
use crate::web::{Asked, Web, ok};
use tempfile::TempDir;

/// A folder with these files.
pub fn with_files(files: &[(&str, &str)]) -> TempDir {
    let folder = folder();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

const YAML: &str = "version: 1
seed: 7
variables: {host: nowhere.invalid, turns: 2}
include: parts/common.toml
load:
  phases:
    - name: main
      pace: {users: 1}
      stop: {turns_per_user: \"${turns}\"}
      scenario:
        steps:
          - sequence: {include: parts/steps.json}
";
const STEPS: &str = r#"{"steps": [{"requests": {"requests": [{"url": "http://${host}/x"}]}},
 {"feed": {"file": "parts/rows.csv", "names": ["row"]}},
 {"requests": {"templates": true, "requests": [{"url": "http://${host}/{{row}}"}]}}]}"#;
const COMMON: &str = "[load.limits]\nrequest = \"9s\"\n";

fn files<'a>() -> [(&'a str, &'a str); 4] {
    [
        ("plan.yaml", YAML),
        ("parts/steps.json", STEPS),
        ("parts/common.toml", COMMON),
        ("parts/rows.csv", "a\nb\n"),
    ]
}

#[test]
fn a_plan_in_parts_runs_with_what_was_set() {
    let web = Web::start(|_| ok("x"));
    let host = format!("host={}", web.address);
    let line = ["run", "plan.yaml", "--set", &host, "--set", "turns=3", "-q", "--json", "{}/result.json"];
    let report = start_in(with_files(&files()), line).end().ended_with(0).report();
    assert_eq!(report.sum("ok"), 6);
    let targets: Vec<_> = web.seen().into_iter().map(|asked| asked.target).collect();
    assert_eq!(targets, ["/x", "/a", "/x", "/b", "/x", "/a"]);
    let shown = start_in(with_files(&files()), ["plan", "show", "plan.yaml"]).end().ended_with(0).stdout;
    assert!(shown.contains("request = \"9s\"") && shown.contains("http://nowhere.invalid/x"), "{shown}");
}

#[test]
fn a_plan_is_printed_in_each_form_and_reads_back_the_same() {
    let forms = "for form in toml json yaml; do $WRINGER cache 127.0.0.1:8080 --seed 7 --show-plan > a.toml
                 $WRINGER plan convert a.toml --to $form > b.$form && $WRINGER plan check b.$form &&
                 $WRINGER plan show b.$form > c.toml && cmp a.toml c.toml || exit 1; done; head -c 25 b.yaml";
    let folder = with_files(&[]);
    let ran = shell(&format!("cd {}; {forms}", folder.path().display())).ended_with(0);
    assert!(ran.stdout.ends_with("version: 1\nseed: 7\nload:\n"), "{}", ran.stdout);
}

#[test]
fn a_plan_reads_no_files_outside_its_folder_unless_allowed() {
    let outside = with_files(&[("secret.csv", "geheim\n"), ("part.toml", "seed = 9\n")]);
    let at = |name: &str| outside.path().join(name).display().to_string();
    let plan = |extra: &str| format!("version = 1\n{extra}");
    let feed = plan(&format!(
        "seed = 7\n[[load.phases]]\nname = 'x'\nscenario = {{ steps = [ {{ feed = {{ file = '{}', names = ['a'] }} }}, \
         {{ requests = {{ requests = [ {{ url = 'http://127.0.0.1:1/' }} ] }} }} ] }}\n",
        at("secret.csv")
    ));
    let include = plan(&format!("include = '{}'\n", at("part.toml")));
    let run =
        |text: &str, words: &[&str]| start_in(with_files(&[("a/p.toml", text)]), words.iter().copied()).end();
    run(&feed, &["run", "a/p.toml"]).refused_with(1, &["outside the plan's folder", "--any-files"]);
    run(&include, &["plan", "check", "a/p.toml"])
        .refused_with(2, &["p.toml: line 2, column 11", "--any-files"]);
    let allowed = run(&include, &["plan", "show", "a/p.toml", "--any-files"]).ended_with(0);
    assert!(allowed.stdout.contains("seed = 9"), "{}", allowed.stdout);
    let missing = feed.replace("secret.csv", "missing.csv");
    run(&missing, &["run", "a/p.toml"]).refused_with(1, &["missing.csv is not there"]);
    let checked = run(&missing, &["plan", "check", "a/p.toml"]).ended_with(0);
    assert!(checked.stderr.contains("missing.csv is not there"), "{}", checked.stderr);
}

/// A plan to begin with.
fn start(kind: &str) -> String {
    shell(&format!("$WRINGER plan new {kind}")).ended_with(0).stdout
}

#[test]
fn plans_to_begin_with_are_sound() {
    for kind in ["http", "cache", "tcp", "journey"] {
        let folder = with_files(&[("plan.toml", &start(kind))]);
        let checked = start_in(folder, ["plan", "check", "plan.toml"]).end().ended_with(0);
        assert!(checked.stdout.contains("nothing wrong"), "{kind}: {}", checked.stdout);
    }
    let schema = shell("$WRINGER plan schema").ended_with(0).stdout;
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

/// The journey to begin with, whose users walk it twice and do not wait; `change` changes more of it.
fn walked_twice(web: &Web, change: impl Fn(String) -> String) -> (Ran, Vec<Asked>) {
    let mut plan = start("journey").replace("\"3s\"", "\"10ms\"");
    for share in ["share = 0.8\n", "share = 0.2\n"] {
        plan = plan.replace(share, &format!("{share}stop = {{ turns_per_user = 2 }}\n"));
    }
    for (from, to) in
        [("median = \"300ms\"", "median = \"1ms\""), ("\"200ms\"", "\"1ms\""), ("\"800ms\"", "\"2ms\"")]
    {
        plan = plan.replace(from, to);
    }
    let folder = with_files(&[("plan.toml", &change(plan))]);
    let host = format!("host={}", web.address);
    let words = ["run", "plan.toml", "--set", &host, "--set", "users=10", "-q", "--json", "{}/result.json"];
    (start_in(folder, words).end(), web.seen())
}

fn shop(asked: &Asked) -> String {
    match asked.target.as_str() {
        "/items" => ok("{\"items\":[{\"id\":\"a7\"}]}"),
        _ => ok("{}"),
    }
}

#[test]
fn groups_have_shares_of_the_phases_users_and_a_start_of_their_own() {
    let web = Web::start(shop);
    let (ran, seen) = walked_twice(&web, |plan| plan);
    ran.ended_with(0);
    let count = |target: &str| seen.iter().filter(|asked| asked.target == target).count();
    // Eight visitors and two buyers, two walks each.
    assert_eq!((count("/items"), count("/items/a7"), count("/orders")), (20, 4, 4));
}

#[test]
fn a_threshold_of_one_label_decides_over_the_run() {
    let web = Web::start(shop);
    let (ran, _) = walked_twice(&web, |plan| plan.replace("p95{buy} > 2s", "max{buy} > 1us"));
    let ran = ran.ended_with(3);
    let report = ran.report();
    assert_eq!(report.text("thresholds/1/condition"), "max{buy} > 1us");
    let (ran, _) = walked_twice(&web, |plan| plan.replace("p95{buy}", "p95{buyy}"));
    ran.refused_with(2, &["fail_if 'p95{buyy} > 2s'", "did you mean 'buy'?"]);
}

#[test]
fn what_is_wrong_is_told_with_the_file_it_stands_in() {
    let folder = with_files(&[
        ("p.json", "{\"version\": 1, \"seed\": 7,\n \"include\": \"q.yml\"}"),
        ("q.yml", "load:\n  phases:\n    - nam: x\n"),
        ("latin.toml", ""),
        ("self.toml", "version = 1\nseed = 7\ninclude = 'self.toml'\n"),
    ]);
    std::fs::write(folder.path().join("latin.toml"), b"version = 1 # \xe9\n").unwrap();
    let at = folder.path().display().to_string();
    for (line, said) in [
        ("plan check p.json", "q.yml: line 3, column 7: unknown field `nam`: did you mean `name`?"),
        ("plan check latin.toml", "latin.toml: it is not UTF-8 from byte 14 on"),
        ("plan check self.toml", "line 3, column 11: the include self.toml: it includes itself"),
        ("plan show p.json --to xml", "'xml' is no form of plan files"),
        ("plan check p.json --set a", "'a' is not NAME=VALUE"),
    ] {
        shell(&format!("cd {at}; $WRINGER {line}")).refused_with(2, &[said]);
    }
    shell(&format!("cd {at}; touch a.jmx; $WRINGER run a.jmx --set a=1")).refused_with(2, &["-Ja=1"]);
}
