//! The door of http_load, ACME Laboratories' tool and Traffic Server's fork of it.
//!
//! Two stages: `args.rs` reads what was typed as the originals read it, `plan.rs` says what it means. Nothing is opened or
//! printed here: files come through a function, and text goes out as [`ToolShown`].

mod args;
mod door;
mod plan;
pub mod report;

pub use door::HttpLoad;

use crate::{ToolShown, openssl};
use args::HttpLoadTyped;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A test, and how to show it.
pub type Run = crate::Run<HttpLoadView>;

/// Values and settings for the output of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpLoadView {
    /// Whose lines are printed.
    pub format: HttpLoadFormat,
    /// Bodies are compared, and not only their lengths.
    pub checksum: bool,
    /// Progress is told once a minute.
    pub verbose: bool,
    /// The report ends with what each slot carried.
    pub slots: bool,
    /// Wrong lengths are counted and not told.
    pub ignore_bytes: bool,
    /// Idle seconds after which a connection is given up.
    pub timeout_s: u64,
}

/// Whose lines are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpLoadFormat {
    /// The original's.
    Acme,
    /// Traffic Server's.
    Ats,
}

/// Why there is no test.
#[derive(Debug, Clone, PartialEq, Eq)]
enum HttpLoadRefusal {
    /// With the usage behind it.
    Usage(String),
    Value(String),
}

impl HttpLoadRefusal {
    fn text(&self) -> String {
        match self {
            HttpLoadRefusal::Usage(why) => format!("http_load: {why}\n{USAGE}"),
            HttpLoadRefusal::Value(why) => format!("http_load: {why}\n"),
        }
    }
}

const USAGE: &str = "\
usage:  http_load [-checksum] [-throttle | -Throttle BITS] [-verbose] [-timeout SECS]
            [-sip FILE] [-cipher STR] [-proxy HOST[:PORT]]
            [-sequential] [-sockets N] [-keep_alive N] [-unique_id] [-agent STR]
            [-cookie STR] [-header 'NAME: VALUE']... [-accept_gzip] [-ignore_bytes]
            [-http_version 1.0|1.1] [-max_connect_failures N]
            -parallel N | -rate N [-jitter]
            -fetches N | -seconds N
            url_file
        Not in the originals: [--format acme|ats] [--json FILE] [--seed N] [--verify]
            [--show-plan] [--help] [--version]
One start specifier, either -parallel or -rate, is required.
One end specifier, either -fetches or -seconds, is required.
";

/// The usage and all options, as `--help` prints them on standard output.
pub fn help() -> String {
    format!("{USAGE}\n{}", args::help())
}

/// Reads a command line, its name left out.
///
/// `now_seed` is the seed where none is given, and `read_file` reads the URLs and the source addresses.
///
/// # Errors
/// The text shown instead of a test.
pub fn parse(
    args: &[OsString],
    now_seed: u64,
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Run, ToolShown> {
    let words: Vec<String> = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match args::read(&words) {
        Ok(typed) if typed.help => Err(ToolShown::told(help())),
        Ok(typed) if typed.version => Err(ToolShown::told(format!(
            "http_load 12mar2006, as wringer {} speaks it\n",
            env!("CARGO_PKG_VERSION")
        ))),
        Ok(typed) => mean(typed, now_seed, read_file).map_err(|refusal| refused(&refusal)),
        Err(refusal) => Err(refused(&refusal)),
    }
}

fn refused(refusal: &HttpLoadRefusal) -> ToolShown {
    ToolShown::refused(refusal.text(), 1)
}

fn mean(
    mut typed: HttpLoadTyped,
    now_seed: u64,
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Run, HttpLoadRefusal> {
    let read = |file: &str| {
        let bytes =
            read_file(Path::new(file)).map_err(|error| HttpLoadRefusal::Value(format!("{file}: {error}")))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let file =
        typed.file.take().ok_or_else(|| HttpLoadRefusal::Usage("a file of URLs is needed".to_owned()))?;
    check(&typed)?;
    let format = format(&typed)?;
    let urls = plan::urls(&read(&file)?, &file)?;
    let sources = match &typed.sip {
        Some(file) => plan::sources(&read(file)?)?,
        None => Vec::new(),
    };
    let plan = plan::of(&typed, format, &urls, sources, now_seed)?;
    Ok(Run {
        plan,
        view: HttpLoadView {
            format,
            checksum: typed.checksum,
            verbose: typed.verbose,
            slots: plan::slots_shown(&typed, format),
            ignore_bytes: typed.ignore_bytes,
            timeout_s: typed.timeout_s.unwrap_or(60),
        },
        notices: notices(&typed),
        json: typed.json.map(PathBuf::from),
        show_plan: typed.show_plan,
    })
}

/// Checks the options that are required, and those that need another.
fn check(typed: &HttpLoadTyped) -> Result<(), HttpLoadRefusal> {
    let usage = |why: &str| Err(HttpLoadRefusal::Usage(why.to_owned()));
    if typed.parallel.is_some() == typed.rate.is_some() {
        return usage("one of -parallel and -rate is needed");
    }
    if typed.fetches.is_some() == typed.seconds.is_some() {
        return usage("one of -fetches and -seconds is needed");
    }
    if typed.jitter && typed.rate.is_none() {
        return usage("-jitter is of -rate");
    }
    Ok(())
}

/// The fork's lines where an option of the fork was given.
fn format(typed: &HttpLoadTyped) -> Result<HttpLoadFormat, HttpLoadRefusal> {
    match typed.format.as_deref() {
        Some("acme") => Ok(HttpLoadFormat::Acme),
        Some("ats") => Ok(HttpLoadFormat::Ats),
        Some(other) => {
            Err(HttpLoadRefusal::Value(format!("--format {other} is not known: give acme or ats")))
        }
        None => Ok(if typed.newer { HttpLoadFormat::Ats } else { HttpLoadFormat::Acme }),
    }
}

/// Options whose meaning cannot be given here: a line each.
fn notices(typed: &HttpLoadTyped) -> Vec<String> {
    // Its own words for strong suites name such as are offered nowhere any more.
    let strong = |list: &str| matches!(list, "highsec" | "paranoid");
    let unknown = typed.cipher.as_deref().filter(|list| openssl::listed(list).is_none() && !strong(list));
    let told =
        |list| format!("-cipher: of '{list}' no suite is known here: all of TLS 1.2 and 1.3 are offered");
    unknown.map(told).into_iter().collect()
}

#[cfg(test)]
mod tests;
