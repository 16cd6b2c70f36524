//! `wringer capture`: access logs become a recording.

mod interface;
mod listen;
pub mod logs;
mod sample;
mod told;

pub use told::note;

use crate::output;
use crate::problem::{Exit, Problem};
use cli::CaptureArgs;
use recording::file::Header;
use recording::format::print;
use recording::import::Finished;
use session::files::cannot_keep;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

const RECORDING: &str = "the recording";
const RESULT: &str = "the result";

/// Runs the command.
pub fn run(args: &CaptureArgs) -> Result<Exit, Problem> {
    if let Some(server) = &args.print_format {
        return print_format(server);
    }
    args.json.as_deref().map_or(Ok(()), |file| output::can_keep(RESULT, file))?;
    match &args.output {
        Some(file) => write(args, file),
        None => check(args),
    }
}

/// Prints the format that we would ask an operator for.
fn print_format(server: &str) -> Result<Exit, Problem> {
    let Some(printed) = print::of(server) else {
        let names: Vec<&str> = print::ALL.iter().map(|printed| printed.server).collect();
        return Err(Problem::Usage(format!(
            "'{server}' is no server whose log format is known: --print-format takes one of {}",
            names.join(", ")
        )));
    };
    output::write(printed.configuration);
    output::line(&format!("\n# wringer capture LOG -o out.rec --log-format '{}'", printed.format));
    Ok(Exit::Ok)
}

/// Imports into a file that takes the recording's name when it is whole.
fn write(args: &CaptureArgs, file: &Path) -> Result<Exit, Problem> {
    if output::is_stdout(file) {
        return Err(Problem::Usage(
            "-o - cannot be: a recording is read in any order, so give a file".to_owned(),
        ));
    }
    if std::fs::metadata(file).is_ok_and(|about| !about.is_file()) {
        return Err(Problem::Usage(format!(
            "-o {} is no file: a recording is read in any order, so give the name of a file",
            file.display()
        )));
    }
    output::can_keep(RECORDING, file)?;
    let cannot = |error: std::io::Error| Problem::from(cannot_keep(RECORDING, file, &error));
    let temporary = NamedTempFile::new_in(folder(file)).map_err(cannot)?;
    let finished = logs::import(logs::Task {
        logs: &args.logs,
        listen: bounds(args),
        interface: heard(args),
        read: &args.read,
        quiet: args.quiet,
        folder: folder(file),
        to: BufWriter::new(temporary.as_file()),
    });
    let Finished { to, header, summary, bytes, left_out, .. } = finished?;
    drop(to);
    temporary.persist(file).map_err(|error| cannot(error.error))?;
    let about =
        told::About { file: Some(file), bytes, header: &header, summary: &summary, left_out: &left_out };
    show(args, &about, &[])?;
    Ok(exit(&header))
}

/// Bounds of mirrored requests, where they are asked for.
fn bounds(args: &CaptureArgs) -> Option<listen::Bounds> {
    args.listen.map(|listen| listen::Bounds { listen, lasts: args.duration, requests: args.requests })
}

/// The interface whose packets are read, where one is asked for.
fn heard(args: &CaptureArgs) -> Option<interface::HeardInterface<'_>> {
    args.interface.as_deref().map(|interface| interface::HeardInterface {
        interface,
        ports: if args.ports.is_empty() { &[80] } else { &args.ports },
        lasts: args.duration,
    })
}

/// Exit code of a capture: packets that the kernel dropped are requests that are missing.
fn exit(header: &Header) -> Exit {
    if interface::is_lossy(header) { Exit::Wrong } else { Exit::Ok }
}

/// Imports into a file without a name, and says what came of it.
fn check(args: &CaptureArgs) -> Result<Exit, Problem> {
    let nowhere = |error: std::io::Error| {
        Problem::impossible(format!("no temporary file can be written: {error}; TMPDIR names another folder"))
    };
    let file = tempfile::tempfile().map_err(nowhere)?;
    let read = cli::LogArgs { tolerate: 1.0, ..args.read.clone() };
    let finished = logs::import(logs::Task {
        logs: &args.logs,
        listen: bounds(args),
        interface: heard(args),
        read: &read,
        quiet: args.quiet,
        folder: std::env::temp_dir(),
        to: BufWriter::new(&file),
    });
    let Finished { to, header, summary, bytes, left_out, .. } = finished?;
    drop(to);
    let examples = sample::lines(&file)?;
    let about = told::About { file: None, bytes, header: &header, summary: &summary, left_out: &left_out };
    show(args, &about, &examples)?;
    let lost = about.lost_share();
    if lost <= args.read.tolerate {
        return Ok(exit(&header));
    }
    Err(Problem::impossible(format!(
        "{} of the lines could not be read, more than --tolerate {}: nothing would be written",
        report::show::percent(lost),
        report::show::percent(args.read.tolerate),
    )))
}

fn show(args: &CaptureArgs, about: &told::About<'_>, examples: &[String]) -> Result<(), Problem> {
    let aside = args.json.as_deref().is_some_and(output::is_stdout);
    if !aside {
        super::show::page(&told::text(about, examples));
    }
    args.json.as_deref().map_or(Ok(()), |file| output::keep(RESULT, file, told::json(about).as_bytes()))
}

/// The folder of a file.
fn folder(file: &Path) -> PathBuf {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}
