//! Plans of our own: what becomes of each stands beside it as a plan file, with what was found amiss as comments.
//! `UPDATE=1 cargo test --workspace --test convert` writes those files anew.

use jmeter::{Conversion, Settings, TestPlan};
use plan::Plan;
use std::fs;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plans"))
}

fn convert(bytes: &[u8]) -> Conversion {
    let settings = Settings { seed: 7, ..Settings::default() };
    TestPlan::read(bytes, &settings).unwrap().convert(&settings)
}

fn text(conversion: &Conversion) -> String {
    let mut text = String::new();
    for finding in &conversion.findings {
        text += &format!("# {:?}: {finding}\n", finding.grade);
    }
    for path in &conversion.endless {
        text += &format!("# never ends: {path}\n");
    }
    text + &conversion.plan.to_text()
}

#[test]
fn plans_become_what_stands_beside_them() {
    for name in ["one", "scope", "controllers", "arrivals", "listeners", "tcp", "unsupported"] {
        let conversion = convert(&fs::read(folder().join(format!("{name}.jmx"))).unwrap());
        let file = folder().join(format!("{name}.toml"));
        let made = text(&conversion);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&file, &made).unwrap();
        }
        assert_eq!(made, fs::read_to_string(&file).unwrap(), "{name}");
        assert_eq!(Plan::from_text(&made).unwrap(), conversion.plan, "{name} reads back");
    }
}

#[test]
fn one_plain_request_is_no_journey() {
    let conversion = convert(&fs::read(folder().join("one.jmx")).unwrap());
    let load = conversion.plan.load.as_ref().unwrap();
    assert!(conversion.findings.is_empty() && conversion.runs_wholly());
    assert!(!load.phases[0].scenario.is_journey(), "the engine's plain path serves it");
    assert_eq!(conversion.plan.check(), Vec::<String>::new());
}

#[test]
fn what_cannot_run_is_listed_and_the_rest_is_kept() {
    let conversion = convert(&fs::read(folder().join("unsupported.jmx")).unwrap());
    assert!(!conversion.runs_wholly());
    let told: Vec<String> = conversion.findings.iter().map(ToString::to_string).collect();
    for (path, why) in [
        ("/Plan/Unknown group", "not known"),
        ("/Plan/Users/Unknown config", "not known"),
        ("/Plan/Users/Query", "databases"),
        ("/Plan/Users/Lookaround/Backtracks", "linear time"),
        ("/Plan/Users/No host", "its host is ''"),
        ("/Plan/Users/Fine ${__threadNum}/Check of JSON", "is no JMESPath"),
        ("/Plan/Users/Fine ${__threadNum}/Open call", "JMeter does not begin the test"),
        ("/Plan/Influx", "another system"),
    ] {
        assert!(told.iter().any(|line| line.starts_with(path) && line.contains(why)), "{path}: {told:#?}");
    }
    assert_eq!(conversion.endless, ["/Plan/Users"]);
    let load = conversion.plan.load.as_ref().unwrap();
    assert_eq!(load.phases[0].scenario.sends().len(), 2);
    assert!(conversion.exact.contains(&"/Plan/Users/Random wait".to_owned()));
}
