//! Plans as text, in all three forms: what is written reads back, and what is wrong is told with its place.

mod draw;
mod files;
mod mistakes;
mod schema;

use plan::{Plan, Source, TextForm};

const FORMS: [(TextForm, &str); 3] =
    [(TextForm::Toml, "a.toml"), (TextForm::Json, "a.json"), (TextForm::Yaml, "a.yaml")];

/// Reads a plan that stands in one file.
fn read(name: &str, text: &str) -> Result<Plan, String> {
    let none = |path: &str, _: &str| Err(format!("there is no {path}"));
    let told = |mistakes: Vec<plan::TextError>| {
        mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    Plan::read(Source::new(name.to_owned(), text.to_owned()), &[], &none).map_err(told)
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]
    #[test]
    fn a_plan_reads_back_from_each_form(plan in draw::plan()) {
        for (form, name) in FORMS {
            let text = plan.to_text_as(form).unwrap();
            let back = read(name, &text);
            proptest::prop_assert_eq!(back.as_ref(), Ok(&plan), "{}", text);
            for text in [plan.to_brief_text_as(form).unwrap(), plan.to_shown_text_as(form).unwrap()] {
                let back = read(name, &text);
                proptest::prop_assert_eq!(back.as_ref(), Ok(&plan), "{}", text);
            }
        }
    }
}

/// Whoever presses a URL is not told of objects, unless something unusual was said of them.
#[test]
fn what_is_shown_of_a_url_is_nothing_of_objects() {
    let text = |scenario: &str, more: &str| {
        let text = format!(
            "version = 1\nseed = 7\n{more}\n[[load.phases]]\nname = 'a'\nstop = {{ requests = 9 }}\nscenario = {{ steps = [{scenario}] }}\n"
        );
        let plan = read("a.toml", &text).unwrap();
        let shown = plan.to_shown_text();
        assert_eq!(read("a.toml", &shown), Ok(plan), "{shown}");
        shown
    };
    const OF_OBJECTS: [&str; 5] = ["[site]", "authority", "content =", "length =", "cuts_expected"];
    let url = "{ requests = { requests = [{ url = 'http://h/' }] } }";
    let shown = text(url, "");
    assert!(OF_OBJECTS.iter().all(|word| !shown.contains(word)), "{shown}");
    assert!(shown.contains("evidence = 20") && shown.contains("[load.limits]"), "{shown}");
    for (scenario, more) in [("{ object = {} }", ""), (url, "[origin]\nlisten = '127.0.0.1:1'")] {
        let shown = text(scenario, more);
        assert!(OF_OBJECTS.iter().all(|word| shown.contains(word)), "{shown}");
    }
    assert!(text(url, "[site]\nvariants = 3").contains("variants = 3"));
}

#[test]
fn yaml_reads_as_a_person_wrote_it() {
    let plan = plan::Plan::from_text(&draw::example().to_text()).unwrap();
    let text = plan.to_text_as(TextForm::Yaml).unwrap();
    assert!(text.starts_with("version: 1\nseed: 7\n"), "{text}");
    assert!(text.contains("\n  phases:\n    - name: main\n"), "{text}");
}

#[test]
fn the_words_of_version_0_1_are_read() {
    let with = |only, distributions, failed| {
        let text = format!(
            "version = 1\nseed = 7\n[load]\ntarget = '127.0.0.1:80'\nfail_if = ['{failed}>0']\n\
             [load.protocol.http1]\n{only} = true\n[load.trace]\n{distributions} = true\n\
             [[load.phases]]\nname = 'a'\npace = {{ users = 5 }}\nstop = {{ requests = 9 }}\nscenario = {{ steps = [] }}\n"
        );
        read("a.toml", &text).unwrap()
    };
    let (old, new) =
        (with("bare", "spreads", "faulty"), with("listed_fields_only", "distributions", "check-failed"));
    let old = old.load.unwrap();
    let new = new.load.unwrap();
    assert_eq!((old.protocol, old.trace), (new.protocol.clone(), new.trace.clone()));
    assert!(new.trace.distributions && new.protocol.http().unwrap().h1.listed_fields_only);
    assert_eq!(old.fail_if[0].metric, new.fail_if[0].metric);
}

#[test]
fn one_table_for_all_versions_of_http_was_named_after_the_first() {
    let phase = "[[load.phases]]\nname = 'a'\npace = { users = 5 }\nstop = { requests = 9 }\nscenario = { steps = [] }\n";
    let then = "[load.protocol.http1]\nauthority = 'h:1'\npipeline = 3\nversion = '1.0'\nform = 'forward'\n\
                http2 = { streams = 7 }\n";
    let now = "[load.protocol.http]\nauthority = 'h:1'\nh1 = { pipeline = 3, version = '1.0', form = 'forward' }\n\
               h2 = { streams = 7 }\n";
    let [then, now] = [then, now]
        .map(|protocol| read("a.toml", &format!("version = 1\nseed = 7\n{protocol}{phase}")).unwrap());
    assert_eq!(then, now);
    let twice = format!(
        "version = 1\nseed = 7\n[load.protocol.http1]\npipeline = 3\nh1 = {{ pipeline = 4 }}\n{phase}"
    );
    let refused = read("a.toml", &twice).unwrap_err();
    assert!(refused.to_string().contains("pipeline"), "{refused:?}");
    let both = format!("version = 1\nseed = 7\n[load.protocol.http1]\n[load.protocol.http]\n{phase}");
    assert!(read("a.toml", &both).is_err());
}
