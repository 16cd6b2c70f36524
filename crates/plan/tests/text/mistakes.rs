//! Mistakes are told with line, column and the name that was probably meant, in each form alike.

use super::{FORMS, read};
use plan::{Plan, Source, TextForm, Written};

#[track_caller]
fn refused(name: &str, text: &str, said: &[&str]) {
    let told = read(name, text).expect_err(text);
    said.iter().for_each(|part| assert!(told.contains(part), "{part} is not in: {told}"));
}

#[test]
fn a_misspelt_name_is_told_with_its_place_and_the_one_that_was_meant() {
    let meant = "unknown field `stpos`: did you mean `stop`?";
    refused(
        "a.toml",
        "version = 1\nseed = 7\n[[load.phases]]\nname = 'x'\nstpos = {}\n",
        &["a.toml: line 5, column 1:", meant],
    );
    refused(
        "a.json",
        "{\"version\": 1, \"seed\": 7,\n \"load\": {\"phases\": [{\"name\": \"x\",\n  \"stpos\": {}}]}}",
        &["a.json: line 3, column 3:", meant],
    );
    refused(
        "a.yaml",
        "version: 1\nseed: 7\nload:\n  phases:\n    - name: ä\n      stpos: {}\n",
        &["a.yaml: line 6, column 7:", meant],
    );
}

#[test]
fn steps_and_choices_are_names_as_well() {
    let step = "version = 1\nseed = 7\n[[load.phases]]\nname = 'x'\nscenario = { steps = [\n  { reqests = {} } ] }\n";
    refused("a.toml", step, &["line 6, column 5", "unknown name `reqests`: did you mean `requests`?"]);
    let two = step.replace("{ reqests = {} }", "{ flow = 'stop-user', log = { text = 'x' } }");
    refused("a.toml", &two, &["line 6, column 3", "this table has 2 entries, and must have one of"]);
    let io = "version: 1\nseed: 7\nio: uringg\n";
    refused("a.yml", io, &["line 3, column 5", "unknown name `uringg`: did you mean `uring`?"]);
}

#[test]
fn types_are_told_in_words_and_without_what_stands_there() {
    refused(
        "a.toml",
        "version = 1\nseed = 'geheim'\n",
        &["line 2, column 8: here stands a text, and it must be a whole number from 0"],
    );
    assert!(!read("a.toml", "version = 1\nseed = 'geheim'\n").unwrap_err().contains("geheim"));
    refused("a.json", "{\"version\": 1, \"seed\": []}", &["column 24: here stands a list"]);
    refused("a.yaml", "version: 1\n", &["line 1, column 1: `seed` is missing here"]);
    refused("a.json", "{\"version\": 1, \"seed\": -5}", &["column 24", "a whole number from 0"]);
}

#[test]
fn several_names_that_nobody_knows_are_told_at_once() {
    let told = read("a.toml", "version = 1\nseed = 7\nspeed = 9\nlaod = {}\n").unwrap_err();
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert!(told.contains("did you mean `seed`") && told.contains("did you mean `load`"), "{told}");
}

#[test]
fn broken_files_are_refused_in_a_line() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(5000), close.repeat(5000));
    let bomb: String = std::iter::once("a0: &a0 x\n".to_owned())
        .chain((1..40).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1)))
        .collect();
    for (name, text, said) in [
        ("a.json", "", "the file is empty"),
        ("a.yaml", "", "the file is empty"),
        ("a.json", "{\"version\": 1,}", "column 14"),
        ("a.json", "{\"version\": 1} {}", "more than one"),
        ("a.json", "{\"version\": 1, // one\n}", "column 16"),
        ("a.json", "{\"version\": 1, \"version\": 2}", "`version` stands twice"),
        ("a.json", "{\"version\": 1e999}", "too large"),
        ("a.json", &deep("[", "]"), "epth"),
        ("a.yaml", "version: 1\nversion: 2\n", "line 2, column 1: `version` stands twice"),
        ("a.yaml", "version: 1\n---\nversion: 1\n", "one document"),
        ("a.yaml", "a: *b\n", "line 1"),
        ("a.yaml", "a: &a [*a]\n", "holds it"),
        ("a.yaml", "? [a]\n: b\n", "names of a table are text"),
        ("a.yaml", "a: [\n", "line"),
        ("a.yaml", &deep("[", "]"), "line 1"),
        ("a.yaml", &deep("- ", ""), "too deep"),
        ("a.yaml", &bomb, "too many"),
        ("a.toml", "version = 1\nversion = 2\n", "line 2"),
        ("a.toml", &format!("version = 1\nx = {}", deep("[", "]")), "line 2"),
        ("a.toml", "version = 2026-11-22\n", "dates are text"),
    ] {
        let told = read(name, text).unwrap_err();
        assert!(told.contains(said) && told.lines().count() == 1, "{name} {said}: {told}");
    }
}

#[test]
fn yaml_has_the_types_of_its_core_schema() {
    let plan = read("a.yaml", "version: 0x1\nseed: 0o7\nsite: {etag: yes}\n").unwrap_err();
    assert!(plan.contains("line 3") && plan.contains("true or false"), "{plan}");
    let plan = read("a.yaml", "\u{feff}version: 1\nseed: 7\nsite: ~\norigin:\n  listen: \"1:2\"\n").unwrap();
    assert_eq!(plan.origin.unwrap().listen, "1:2");
}

/// Each violation of a plan that reads well, as `line, column: text`.
fn violations(name: &str, text: &str) -> Vec<String> {
    let none = |path: &str, _: &str| Err(format!("there is no {path}"));
    let written = Written::read(Source::new(name.to_owned(), text.to_owned()), &[], &none);
    written
        .unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
        .check()
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[track_caller]
fn stands_at(name: &str, text: &str, line: usize, column: usize, said: &str) {
    let found = violations(name, text);
    let begins = format!("{name}: line {line}, column {column}: ");
    assert!(
        found.iter().any(|one| one.starts_with(&begins) && one.contains(said)),
        "{begins}{said}: {found:#?}"
    );
}

#[test]
fn what_a_plan_violates_is_told_with_the_place_of_the_value() {
    let plan = "version = 1\nseed = 7\nthreads = 0\n[site]\nprivate = 1.5\n[load]\ntarget = 'nowhere'\n\
                fail_if = ['p99>1s', 'p99{who}>1s']\n[load.limits]\nconnect = '0s'\nrequest = '1s'\n\
                [load.protocol.http]\npipeline = 0\n\
                [[load.phases]]\nname = 'a'\npace = { users = 5 }\nstop = { requests = 0 }\nscenario = { steps = [\n\
                {requests = {requests = [{ url = 'http://h/' },\n { url = 'ftp://h/' }]}},\n\
                {choice = {by = 'weight', branches = [{weight = 1, steps = [\n {log = {text = '{{nobody}}'}}]}]}}]}\n\
                [[load.phases]]\nname = 'b'\npace = { rate = { per_second = 0.0, arrivals = 'even', in_flight = 5 } }\nstop = {}\n\
                [origin]\nlisten = 'x'\n[origin.tls]\nnames = []\n";
    for (line, column, said) in [
        (3, 11, "threads is 0"),
        (5, 11, "private is 1.5"),
        (7, 10, "'nowhere'"),
        (8, 22, "is called 'who'"),
        (10, 11, "connect is 0"),
        (13, 12, "pipeline is 0"),
        (17, 8, "stops before it begins"),
        (20, 10, "'ftp://h/'"),
        (22, 17, "nobody"),
        (25, 32, "per_second is 0"),
        (23, 1, "has no step"),
        (28, 10, "listen 'x'"),
        (30, 9, "names is empty"),
    ] {
        stands_at("a.toml", plan, line, column, said);
    }
}

#[test]
fn each_form_knows_its_places() {
    let json = "{\"version\": 1, \"seed\": 7,\n \"origin\": {\"listen\": \"1:2\",\n  \"errors\": 2}}";
    stands_at("a.json", json, 3, 13, "errors is 2");
    stands_at("a.yaml", "version: 1\nseed: 7\norigin:\n  listen: 1:2\n  errors: 2\n", 5, 11, "errors is 2");
}

#[test]
fn numbers_without_end_are_kept_or_refused() {
    let plan = "version = 1\nseed = 7\n[site.size.heavy]\nmedian = 1\nsigma = 1.0\ntail = 0.1\nshape = inf\nmax = 9\n";
    let read_plan = Plan::from_text(plan).unwrap();
    for (form, name) in FORMS {
        match read_plan.to_text_as(form) {
            Ok(text) => assert_eq!(read(name, &text), Ok(read_plan.clone()), "{text}"),
            Err(why) => assert!(form == TextForm::Json && why.contains("`shape`"), "{why}"),
        }
    }
    stands_at("a.toml", plan, 3, 7, "shape must be positive and finite");
}
