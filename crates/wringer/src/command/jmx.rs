//! `wringer plan check` and `wringer plan convert` of a plan of JMeter's.

use super::show;
use crate::problem::{Exit, Problem};
use cli::{PrintArgs, ReadArgs};
use jmeter::Grade;
use plan::TextForm;
use std::path::Path;
use tools::jmeter::file::{Read, read};

/// Tells what of a plan runs exactly, differently and not at all.
pub fn check(file: &Path, args: &ReadArgs) -> Result<Exit, Problem> {
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
    Ok(if missing + refused.len() == 0 { Exit::Ok } else { Exit::Usage })
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
