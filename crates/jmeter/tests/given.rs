//! Plans of JMeter that lie in a folder which the variable `JMETER_PLANS` names: each is read and converted, and its findings
//! are printed. Without the variable nothing is tried.

use jmeter::{Settings, TestPlan};
use std::path::Path;

#[test]
fn given_plans_are_converted() {
    let Some(folder) = std::env::var_os("JMETER_PLANS") else { return };
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jmx"));
    files.sort();
    let wholly = files.iter().filter(|file| show(file)).count();
    println!("{wholly} of {} plans run wholly", files.len());
    assert!(!files.is_empty());
}

fn show(file: &Path) -> bool {
    let bytes = std::fs::read(file).unwrap();
    let folder = file.parent().unwrap();
    let included = |path: &str| std::fs::read(folder.join(path)).ok();
    let settings = Settings { included: &included, ..Settings::default() };
    let conversion = match TestPlan::read(&bytes, &settings) {
        Ok(plan) => plan.convert(&settings),
        Err(error) => panic!("{}: {error}", file.display()),
    };
    println!("== {} : {} elements, {} exact", file.display(), conversion.elements, conversion.exact.len());
    conversion.findings.iter().for_each(|finding| println!("   {:?} {finding}", finding.grade));
    conversion.endless.iter().for_each(|path| println!("   endless {path}"));
    for violation in conversion.plan.check() {
        println!("   check: {violation}");
    }
    if std::env::var_os("JMETER_TEXT").is_some() {
        println!("{}", conversion.plan.to_text());
    }
    conversion.runs_wholly()
}
