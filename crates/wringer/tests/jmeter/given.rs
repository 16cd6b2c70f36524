//! Plans that lie beside the project, with what JMeter did: the folder that `JMETER_GOLDEN` names, or `../shared/jmx`. Where it is
//! not there, or Python is not, this is said and nothing is compared.

use super::compare::{Comparison, Masks};
use super::differences::check;
use super::run::run;
use regex::Regex;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variants of one user.
const ALONE: &str = "one_thread";
/// The variant of three, whose order is chance.
const THREE: &str = "three_threads";

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("JMETER_GOLDEN").map(PathBuf::from);
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/jmx"));
    let folder = named.unwrap_or(beside);
    folder.join("golden").is_dir().then_some(folder)
}

/// Makes the edited copy of a plan with its files, by the generator that lies beside the golden data, and says rules, flags and
/// masks.
fn prepared(golden: &Path, plan: &str, variant: &str, port: u16, to: &Path) -> Option<Value> {
    const PREPARE: &str = include_str!("prepare.py");
    let made = Command::new("python3")
        .args(["-B", "-c", PREPARE])
        .args([
            golden.as_os_str(),
            plan.as_ref(),
            variant.as_ref(),
            port.to_string().as_ref(),
            to.as_os_str(),
        ])
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(made.status.success(), "{plan} {variant}: {said}");
    serde_json::from_slice(&made.stdout).ok()
}

fn masks(of: &Value) -> Masks {
    let mask = |mask: &Value| {
        let pattern = Regex::new(mask[0].as_str().unwrap_or_default()).expect("a pattern");
        let put = mask[1].as_str().unwrap_or_default().replace("\\1", "${1}");
        (pattern, put)
    };
    of["masks"].as_array().into_iter().flatten().map(mask).collect()
}

/// Runs all variants of a plan beside what JMeter did.
fn compare(plan: &str) {
    let Some(folder) = folder() else {
        return println!("skipped: no golden data beside the project (JMETER_GOLDEN names their folder)");
    };
    if Command::new("python3").arg("--version").output().is_err() {
        return println!("skipped: python3 makes the edited copies of the plans, and is not here");
    }
    let golden = folder.join("golden");
    let text = std::fs::read_to_string(golden.join(format!("{plan}.json"))).expect("golden data");
    // The hour at which the trace was made.
    let hour = Regex::new(r"20\d\d-\d\d-\d\dT\d\d:\d\d:<varies>\.<varies>").expect("a pattern");
    let wanted: Value = serde_json::from_str(&hour.replace_all(&text, "<varies>")).expect("JSON");
    let variants = wanted.as_object().expect("an object").iter();
    for (variant, wanted) in variants.filter(|(name, _)| name.starts_with(ALONE) || *name == THREE) {
        let to = tempfile::tempdir().expect("a folder");
        // The plan is made twice: once for what the server is to do, and once it has a port.
        let first = prepared(&golden, plan, variant, 27000, to.path()).expect("a plan");
        let flags: Vec<String> = first["flags"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        let place = PathBuf::from(first["folder"].as_str().expect("a folder"));
        let again = |port: u16| drop(prepared(&golden, plan, variant, port, to.path()));
        let ran = run(&place, &first["rules"].to_string(), &flags, again);
        let masks = masks(&first);
        let found = match variant == THREE {
            true => Comparison::of_several(&ran, wanted, &masks),
            false => Comparison::differences(&ran, wanted, &masks, plan == "27"),
        };
        check(plan, variant, &found, &ran.output);
    }
}

macro_rules! plans {
    ($($test:ident $plan:literal)*) => { $(#[test] fn $test() { compare($plan); })* };
}

plans! {
    spring_petclinic "01"
    teastore "03"
    acmeair "05"
    maven_plugin_example "07"
    magda "09"
    apim "11"
    ehrbase "13"
    rest_api_load "15"
    wildfly_cookbook "17"
    perf_testing_talk "19"
    percentage_distribution "21"
    read_from_csv "23"
    jmeter_alternative "25"
    sunbird_analytics "27"
    journey_complete "29"
    portfolio "31"
    identity_providers "33"
    folio_request_storage "35"
}
