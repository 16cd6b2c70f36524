//! The JSON Schema: plans fit it, and what is misspelt does not.

use super::draw;
use jsonschema::Validator;
use plan::{Plan, TextForm};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(Plan::schema()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
fn fits(validator: &Validator, name: &str, plan: &Value) {
    let wrong: Vec<_> =
        validator.iter_errors(plan).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
}

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

/// The plans of the docs and those that `wringer plan new` prints, each with where it stands.
fn written() -> Vec<(String, String)> {
    let read = |path: PathBuf| (path.display().to_string(), std::fs::read_to_string(&path).unwrap());
    let mut found: Vec<_> = files("crates/wringer/src/command/start", "toml").into_iter().map(read).collect();
    assert_eq!(found.len(), 4);
    for (page, text) in files("docs/src", "md").into_iter().map(read) {
        let blocks = text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
        found.extend(blocks.filter(|block| block.contains("version = ")).map(|block| (page.clone(), block)));
    }
    assert!(found.len() > 6, "the docs have plans");
    found
}

#[test]
fn the_plans_of_the_docs_and_those_to_begin_with_fit() {
    let validator = validator();
    for (name, text) in written() {
        let plan: Value = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        fits(&validator, &name, &plan);
        assert_eq!(super::read("a.toml", &text).map(|plan| plan.check()), Ok(Vec::new()), "{name}");
    }
}

#[test]
fn drawn_plans_fit() {
    let validator = validator();
    let mut runner = TestRunner::deterministic();
    for _ in 0..100 {
        let text = draw::plan().new_tree(&mut runner).unwrap().current().to_text_as(TextForm::Json).unwrap();
        fits(&validator, &text, &serde_json::from_str(&text).unwrap());
    }
}

#[test]
fn what_is_misspelt_or_of_another_type_does_not_fit() {
    let validator = validator();
    let plan = "{\"version\": 1, \"seed\": 7, \"load\": {\"phases\": [{\"name\": \"x\", \"pace\": {\"users\": 5}, \"stop\": \
                {\"after\": \"10s\"}, \"scenario\": {\"steps\": [{\"flow\": \"stop-user\"}]}}]}}";
    fits(&validator, plan, &serde_json::from_str(plan).unwrap());
    for (from, to, is_good) in [
        ("\"seed\"", "\"sed\"", false),
        ("\"phases\"", "\"phase\"", false),
        ("\"users\"", "\"user\"", false),
        ("\"flow\"", "\"flwo\"", false),
        ("stop-user", "stop-usr", false),
        ("10s", "10 parsecs", false),
        ("\"after\"", "\"aftr\"", false),
        (": 5", ": true", false),
        (": 5", ": \"${users}\"", true),
        ("\"seed\": 7", "\"include\": \"base.toml\"", true),
        ("\"seed\": 7", "\"seed\": 7, \"variables\": {\"a\": []}", false),
        ("\"seed\": 7", "\"seed\": 7, \"variables\": {\"a\": 1}", true),
        ("\"steps\": [{\"flow\": \"stop-user\"}]", "\"include\": [\"a.toml\"]", true),
    ] {
        let changed = plan.replace(from, to);
        assert_eq!(validator.is_valid(&serde_json::from_str(&changed).unwrap()), is_good, "{changed}");
    }
}
