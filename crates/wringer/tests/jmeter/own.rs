//! The project's own plans, with what JMeter 5.6.3 did with them (`plans/NAME.json`, made by running it).

use super::compare::{Comparison, Masks};
use super::differences::check;
use super::run::run;
use serde_json::Value;

fn compare(name: &str, plan: &str, rules: &str, wanted: &str) {
    let wanted: Value = serde_json::from_str(wanted).expect("JSON");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |_| std::fs::write(folder.path().join("plan.jmx"), plan).expect("the folder is ours");
    let ran = run(folder.path(), rules, &["-Jport=27000".to_owned()], write);
    let found = Comparison::differences(&ran, &wanted, &Masks::new(), false);
    check(name, "own", &found, &ran.output);
}

macro_rules! plans {
    ($($test:ident)*) => { $(
        #[test]
        fn $test() {
            compare(
                stringify!($test),
                include_str!(concat!("plans/", stringify!($test), ".jmx")),
                include_str!(concat!("plans/", stringify!($test), ".rules.json")),
                include_str!(concat!("plans/", stringify!($test), ".json")),
            );
        }
    )* };
}

plans! {
    scripts
    journey
    edits
    extract
    jmespath
    clients
}
