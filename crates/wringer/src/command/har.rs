//! A browser's recording (`.har`) as a plan: `wringer run`, `wringer plan check` and `wringer plan convert` of one.

use super::plan::print;
use super::show;
use crate::problem::{Exit, Problem};
use cli::{PrintArgs, ReadArgs, RecordingArgs, Statics};
use har::{Choice, Converted, Recording, Static};
use plan::TextForm;
use session::files;
use std::path::Path;

/// Bytes of a recording at most.
const LONGEST: u64 = 1 << 30;

/// True if a file is a browser's recording, by its name.
pub fn is_har(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("har"))
}

/// The plan of a recording; what it does not say is told.
pub fn read(file: &Path, args: &ReadArgs) -> Result<Converted, Problem> {
    let converted = converted(file, args)?;
    let left_out =
        converted.notes.iter().filter(|note| note.starts_with("left out") || note.contains("entries"));
    left_out.for_each(|note| show::notice(&format!("wringer: {}: {note}", file.display())));
    Ok(converted)
}

fn converted(file: &Path, args: &ReadArgs) -> Result<Converted, Problem> {
    let name = file.display();
    let bytes = files::read(file, LONGEST)
        .map_err(|error| Problem::Usage(format!("the recording {name} cannot be read: {error}")))?;
    let recording = Recording::from_har(&bytes).map_err(|why| Problem::Usage(format!("{name}: {why}")))?;
    Ok(recording.journey(&choice(&args.recording, args.jmeter.seed)))
}

/// Returns the treatment of a recording that the options choose.
pub fn choice(args: &RecordingArgs, seed: Option<u64>) -> Choice {
    Choice {
        hosts: args.hosts.clone(),
        statics: match args.statics {
            Statics::Group => Static::Group,
            Statics::Keep => Static::Keep,
            Statics::Drop => Static::Drop,
        },
        pauses: !args.no_pauses,
        seed: seed.unwrap_or_else(crate::arguments::seed_from_clock),
    }
}

/// Tells what of a recording becomes what.
pub fn check(file: &Path, args: &ReadArgs) -> Result<Exit, Problem> {
    let Converted { plan, notes } = converted(file, args)?;
    let found = plan.check();
    found.iter().for_each(|line| show::notice(&format!("{}: {line}", file.display())));
    if found.is_empty() {
        show::line(&format!("{}: nothing wrong", file.display()));
    }
    notes.iter().for_each(|note| show::line(&format!("  {note}")));
    Ok(if found.is_empty() { Exit::Ok } else { Exit::Usage })
}

/// Prints the plan of a recording.
pub fn convert(args: &PrintArgs) -> Result<Exit, Problem> {
    let name = args.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let converted = converted(&args.file, &args.read)?;
    if args.to != TextForm::Json {
        show::write(&comments(&name, &converted.notes));
    }
    print(&converted.plan, args.to)
}

/// The head of a plan that was made of a recording, or of another file. `notes`: what it does not say.
pub fn comments(name: &str, notes: &[String]) -> String {
    let notes = notes.iter().map(|note| format!("# {}\n", note.replace(|one: char| one.is_control(), " ")));
    format!("# Converted from {name}.\n{}", notes.collect::<String>())
}
