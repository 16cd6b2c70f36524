//! `wringer plan check` and `wringer plan convert` of a plan of JMeter's.

use super::show;
use crate::problem::{Exit, Problem};
use cli::{AgainstArgs, PrintArgs, ReadArgs};
use jmeter::Grade;
use plan::{Plan, TextForm};
use std::path::Path;
use tools::jmeter::file::{Read, properties, read};
use tools::jmeter::report::against;
use tools::jmeter::results;

/// Tells what of a plan runs exactly, differently and not at all.
pub fn check(file: &Path, args: &ReadArgs, beside: &AgainstArgs) -> Result<Exit, Problem> {
    let Read { conversion, warnings } = read(file, args)?;
    let of = |grade| conversion.findings.iter().filter(move |finding| finding.grade == grade);
    let missing = of(Grade::Missing).count();
    let different = of(Grade::Different).count();
    let mut refused = if conversion.plan.load.is_some() { conversion.plan.check() } else { Vec::new() };
    let mut told_before = std::collections::BTreeSet::new();
    refused.retain(|line| told_before.insert(line.clone()));
    let verdict = match (missing + refused.len(), different) {
        (0, 0) => "all of it runs",
        (0, _) => "all of it runs, some of it differently",
        _ => "NOT all of it runs",
    };
    show::line(&format!("{}: {verdict}", file.display()));
    let list = |title: String, lines: Vec<String>| {
        if !lines.is_empty() {
            show::line(&title);
            lines.iter().for_each(|line| show::line(&format!("  {line}")));
        }
    };
    let told = |grade| of(grade).map(ToString::to_string).collect::<Vec<_>>();
    list(format!("Cannot run ({missing}):"), told(Grade::Missing));
    list(format!("Not in this build ({}):", refused.len()), refused.clone());
    list(format!("Runs differently ({different}):"), told(Grade::Different));
    list(
        format!("Runs exactly ({} of {} elements):", conversion.exact.len(), conversion.elements),
        conversion.exact.clone(),
    );
    let endless = conversion.endless.iter().map(|path| format!("{path} never ends by itself"));
    list("Warnings:".to_owned(), warnings.into_iter().chain(endless).collect());
    let held = held_against(&conversion.plan, args, beside)?;
    Ok(if missing + refused.len() == 0 { held } else { Exit::Usage })
}

/// Tells what a plan, or a results file of ours, and a results file of JMeter's do not have in common.
fn held_against(plan: &Plan, args: &ReadArgs, beside: &AgainstArgs) -> Result<Exit, Problem> {
    let Some(file) = &beside.against else { return Ok(Exit::Ok) };
    let properties = properties(&args.jmeter)?;
    let theirs = results::of_file(file, &properties)?;
    let mut told = against::with_plan(plan, &theirs);
    let looked_at = match &beside.ours {
        Some(ours) => {
            told.extend(against::with_ours(&theirs, &results::of_file(ours, &properties)?));
            format!("labels, groups; order, codes and parts beside {}", ours.display())
        }
        None => "labels and groups only: --ours OURS.jtl, of wringer jmeter -l, adds order, codes and parts"
            .to_owned(),
    };
    show::line(&format!(
        "Against {} ({} samples of {} threads; {looked_at}): {}",
        file.display(),
        theirs.samples(),
        theirs.threads(),
        if told.is_empty() { "no difference".to_owned() } else { format!("{} differences", told.len()) }
    ));
    told.iter().for_each(|line| show::line(&format!("  {line}")));
    Ok(if told.is_empty() { Exit::Ok } else { Exit::Wrong })
}

/// Prints the plan as a native plan file.
pub fn convert(args: &PrintArgs) -> Result<Exit, Problem> {
    let file = &args.file;
    let Read { conversion, warnings } = read(file, &args.read)?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if args.to != TextForm::Json {
        show::write(&format!("# Converted from {name}.\n"));
        for finding in &conversion.findings {
            let word = if finding.grade == Grade::Missing { "left out" } else { "differs" };
            let line = finding.to_string().replace('\n', " ");
            show::write(&format!("# {word}: {line}\n"));
        }
    }
    super::plan::print(&conversion.plan, args.to)?;
    warnings.iter().for_each(|warning| show::notice(&format!("wringer: {warning}")));
    Ok(if conversion.runs_wholly() { Exit::Ok } else { Exit::Usage })
}
