//! Stage one: what was typed, read as `getopt_long` reads it for the old tool. What it means is [`super::plan`]'s business.
//!
//! One table row per option owns its names, what it takes, what it means and its help. Start at [`read`].

use crate::ToolShown;
use crate::getopt::{self, GetoptRead, GetoptRow, GetoptValue, Set, on, set, switch};
use crate::number::{a_count, a_time};
use std::ffi::OsString;
use std::time::Duration;

/// The command line as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrktcpTyped {
    pub connections: u64,
    pub duration: Duration,
    pub threads: u64,
    /// As typed; the ini file may have one, too.
    pub timeout: Option<Duration>,
    pub latency: bool,
    pub trace: bool,
    pub html: Html,
    pub test: bool,
    pub version: bool,
    pub strict: bool,
    pub compat_counter: bool,
    pub utc: bool,
    pub json: Option<String>,
    pub show_plan: bool,
    /// The ini file.
    pub file: String,
}

/// File of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Html {
    No,
    /// To a file named after the ini file and the time.
    ByTime,
    To(String),
}

impl Default for WrktcpTyped {
    fn default() -> WrktcpTyped {
        WrktcpTyped {
            connections: 1,
            duration: Duration::from_secs(10),
            threads: 1,
            timeout: None,
            latency: false,
            trace: false,
            html: Html::No,
            test: false,
            version: false,
            strict: false,
            compat_counter: false,
            utc: false,
            json: None,
            show_plan: false,
            file: String::new(),
        }
    }
}

/// Under which words of the usage text an option stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WrktcpGroup {
    Needed,
    Usual,
    /// Not in the old tool.
    New,
}

const fn value(
    long: &'static str,
    short: char,
    shown: &'static str,
    help: &'static str,
    set: Set<WrktcpTyped>,
) -> GetoptRow<WrktcpTyped> {
    GetoptRow { ours: short == ' ', ..getopt::value(long, short, shown, help, set) }
}

/// A switch that the old tool does not have.
const fn new(long: &'static str, help: &'static str, set: Set<WrktcpTyped>) -> GetoptRow<WrktcpTyped> {
    GetoptRow { ours: true, ..switch(long, ' ', help, set) }
}

/// Every option, in the order of the usage text.
static OPTIONS: &[GetoptRow<WrktcpTyped>] = &[
    value("connections", 'c', "<N>", "Connections in all [1]", set!(connections = a_count)),
    value("duration", 'd', "<T>", "How long the test lasts [10s]", set!(duration = a_time)),
    value("threads", 't', "<N>", "Worker threads [1]", set!(threads = a_count)),
    value("timeout", 'T', "<T>", "Time limit of an answer [5s]", |typed, text| {
        typed.timeout = Some(a_time(text)?);
        Ok(())
    }),
    switch("latency", 'L', "Show how latency is distributed", on!(latency)),
    switch("trace", ' ', "Show rate and latency over time", on!(trace)),
    GetoptRow {
        value: GetoptValue::MayLong,
        ..value("html", 'H', "[=<F>]", "Write the result as a page, too", |typed, file| {
            typed.html = if file.is_empty() { Html::ByTime } else { Html::To(file.to_owned()) };
            Ok(())
        })
    },
    switch("test", 'I', "One exchange, told step by step", on!(test)),
    switch("version", 'v', "Show the version", on!(version)),
    // Whoever reads the options looks for it.
    switch(HELP, '?', "Show this", |_, _| Ok(())),
    new("strict", "Exit code 3 where answers were wrong", on!(strict)),
    new("compat-counter", "COUNTER wraps as it used to", on!(compat_counter)),
    new("utc", "DATETIME is UTC, not the local time", on!(utc)),
    value("json", ' ', "<F>", "Write the result as JSON, too (- for stdout)", |typed, file| {
        typed.json = Some(file.to_owned());
        Ok(())
    }),
    new("show-plan", "Print what this means, and run nothing", on!(show_plan)),
];

/// The option that shows the usage text.
const HELP: &str = "help";

fn group(row: &GetoptRow<WrktcpTyped>) -> WrktcpGroup {
    match row.long {
        "connections" | "duration" | "threads" => WrktcpGroup::Needed,
        _ if row.ours => WrktcpGroup::New,
        _ => WrktcpGroup::Usual,
    }
}

/// The usage text.
pub(super) fn usage() -> String {
    let mut text = "Usage: wrktcp <options> filename\n".to_owned();
    for (group, title) in [
        (WrktcpGroup::Needed, "Necessary Options:"),
        (WrktcpGroup::Usual, "Condition Options:"),
        (WrktcpGroup::New, "New Options:"),
    ] {
        text += &format!("  {title}\n");
        for row in OPTIONS.iter().filter(|row| self::group(row) == group) {
            let short = if row.short == ' ' { "   ".to_owned() } else { format!("-{},", row.short) };
            let name = format!("--{}", row.long);
            text += &format!("    {short} {name:<16} {:<6} {}\n", row.shown, row.help);
        }
    }
    text +=
        "\n  The file has .ini in its name; counts may have a unit (1k, 1M, 1G), times too (2s, 2m, 2h)\n";
    text += "  for example:\n    wrktcp -t4 -c200 -d30s sample_tiny.ini\n";
    text
}

/// Why there is no test, with the usage text.
pub(super) fn refused(complaint: impl Into<String>) -> ToolShown {
    ToolShown::complaint(&complaint.into(), usage())
}

/// The version line.
pub(super) fn version() -> String {
    format!("wrktcp wringer/{}\n", env!("CARGO_PKG_VERSION"))
}

/// Reads the words after the tool's name. Options may stand behind the file; a lone `--` ends them.
///
/// # Errors
/// The usage text, and what was wrong.
pub(super) fn read(args: &[OsString]) -> Result<WrktcpTyped, ToolShown> {
    let words = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (options, operands) = getopt::read(&OPTIONS.iter().collect::<Vec<_>>(), words);
    let mut typed = WrktcpTyped::default();
    let stopped = options.into_iter().try_for_each(|option| set(&mut typed, option));
    let version = if typed.version { version() } else { String::new() };
    let with_version = |shown: ToolShown| ToolShown { out: format!("{version}{}", shown.out), ..shown };
    stopped.map_err(|complaint| with_version(refused(complaint)))?;
    match operands.into_iter().next() {
        // As the old tool: a file without a name, no thread and no time are answered by the usage alone.
        Some(file) if typed.threads > 0 && !typed.duration.is_zero() => Ok(WrktcpTyped { file, ..typed }),
        _ => Err(with_version(refused(String::new()))),
    }
}

fn set(typed: &mut WrktcpTyped, option: GetoptRead<WrktcpTyped>) -> Result<(), String> {
    match option {
        // In the old tool's words: help was an error there.
        GetoptRead::Option { row, .. } if row.long == HELP => {
            Err("command is error, input the illegal character:[h]".to_owned())
        }
        GetoptRead::Option { row, label, value } => {
            (row.set)(typed, &value).map_err(|wanted| format!("wrktcp: {label} '{value}': give {wanted}"))
        }
        GetoptRead::OptionError(wrong) => Err(format!("wrktcp: {}", wrong.text())),
    }
}
