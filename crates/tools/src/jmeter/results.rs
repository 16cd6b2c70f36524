//! Results files as files: a report of one (`-g`), and one beside a plan.

use super::report::Sample;
use super::report::against::Results;
use super::report::jtl::Csv;
use super::report::read;
use super::report::statistics::{Apdex, Statistics};
use crate::outcome::ToolShown;
use console::problem::Problem;
use jmeter::arguments::Arguments;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The folder of a report where none is named, as JMeter has it.
const FOLDER: &str = "report-output";

/// Makes the report of a results file: [`Arguments::report_only`].
pub(super) fn report(asked: &Arguments, file: &Path, properties: &BTreeMap<String, String>) -> ToolShown {
    match write(asked, file, properties) {
        Ok(samples) => {
            let folder = folder(asked).display();
            ToolShown::told(format!(
                "{samples} samples of {}: {folder}/index.html, {folder}/statistics.json\n",
                file.display()
            ))
        }
        Err(problem) => ToolShown::refused(format!("jmeter: {problem}\n"), 1),
    }
}

/// The report's folder.
pub(super) fn folder(asked: &Arguments) -> &Path {
    asked.folder.as_deref().unwrap_or(Path::new(FOLDER))
}

/// Makes the report's folder, which must be empty unless `-f` is given.
pub(super) fn make_folder(asked: &Arguments) -> Result<(), Problem> {
    let folder = folder(asked);
    let filled = folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if filled && !asked.force {
        let why = format!("the folder {} is not empty: empty it, or give -f", folder.display());
        return Err(Problem::impossible(why));
    }
    let wrong = |error| Problem::impossible(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(wrong)
}

fn write(asked: &Arguments, file: &Path, properties: &BTreeMap<String, String>) -> Result<u64, Problem> {
    let mut statistics = Statistics::new(Apdex::of(properties).map_err(Problem::Usage)?);
    let mut samples = 0;
    each(file, properties, &mut |sample| {
        samples += 1;
        statistics.add(sample);
    })?;
    make_folder(asked)?;
    let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    keep(&folder(asked).join("statistics.json"), &statistics.text())?;
    keep(&folder(asked).join("index.html"), &statistics.page(&name))?;
    Ok(samples)
}

/// Writes a file of a report.
pub(super) fn keep(file: &Path, text: &str) -> Result<(), Problem> {
    std::fs::write(file, text)
        .map_err(|error| Problem::impossible(format!("{} cannot be written: {error}", file.display())))
}

fn each(
    file: &Path,
    properties: &BTreeMap<String, String>,
    take: &mut dyn FnMut(&Sample),
) -> Result<(), Problem> {
    let wrong = |why: String| Problem::Usage(format!("the results {}: {why}", file.display()));
    let opened = File::open(file).map_err(|error| wrong(format!("they cannot be read: {error}")))?;
    let property = |name: &str| properties.get(&format!("jmeter.save.saveservice.{name}")).cloned();
    read::each(BufReader::with_capacity(1 << 18, opened), &Csv::of(&property), take).map_err(wrong)
}

/// Reads a results file for a comparison.
///
/// # Errors
/// A file that cannot be read, or is no results file.
pub fn of_file(file: &Path, properties: &BTreeMap<String, String>) -> Result<Results, Problem> {
    let mut results = Results::default();
    each(file, properties, &mut |sample| results.add(sample))?;
    Ok(results)
}
