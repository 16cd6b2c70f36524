//! Stage one: what was typed, read as `getopt_long` reads it for the old tools. What it means is [`super::plan`]'s business.
//!
//! One table row per option owns its names, what it takes, what it means and its help. Start at [`read`].

use super::Tool;
use crate::ToolShown;
use crate::getopt::{self, GetoptRead, GetoptRow, on, set, switch, text, value};
use crate::number::{a_count, a_time};
use cli::VersionArgs;
use std::ffi::OsString;
use std::time::Duration;

/// The command line as typed.
#[derive(Debug, Clone)]
pub(super) struct WrkTyped {
    pub connections: u64,
    pub duration: Duration,
    pub threads: u64,
    pub script: Option<String>,
    pub headers: Vec<String>,
    pub latency: bool,
    pub uncorrected: bool,
    pub timeout: Duration,
    pub batches: bool,
    pub version: bool,
    pub rate: Option<u64>,
    pub json: Option<String>,
    /// HTTP/2, and how many requests at once over a connection.
    pub protocol: VersionArgs,
    pub show_plan: bool,
    /// The URL.
    pub url: String,
    /// Words after the URL: for the script.
    pub args: Vec<String>,
}

impl Default for WrkTyped {
    fn default() -> WrkTyped {
        WrkTyped {
            connections: 10,
            duration: Duration::from_secs(10),
            threads: 2,
            script: None,
            headers: Vec::new(),
            latency: false,
            uncorrected: false,
            timeout: Duration::from_secs(2),
            batches: false,
            version: false,
            rate: None,
            json: None,
            protocol: VersionArgs::default(),
            show_plan: false,
            url: String::new(),
            args: Vec::new(),
        }
    }
}

fn rate(text: &str) -> Result<Option<u64>, String> {
    a_count(text).map(Some)
}

/// Every option, in the order of the usage text.
static OPTIONS: &[GetoptRow<WrkTyped>] = &[
    value("connections", 'c', "N", "Connections kept open [10]", set!(connections = a_count)),
    value("duration", 'd', "T", "How long the test lasts [10s]", set!(duration = a_time)),
    value("threads", 't', "N", "Worker threads [2]", set!(threads = a_count)),
    value("rate", 'R', "N", "Requests per second in all; required", set!(rate = rate)),
    value("script", 's', "FILE", "Lua script", set!(script = text)),
    value("header", 'H', "FIELD", "Header field, 'Name: value'", |typed, text| {
        typed.headers.push(text.to_owned());
        Ok(())
    }),
    switch("latency", 'L', "Show how latency is distributed", on!(latency)),
    switch("u_latency", 'U', "The service time's distribution, too", on!(uncorrected)),
    switch("batch_latency", 'B', "Time batches of pipelined requests whole", on!(batches)),
    value("timeout", 'T', "T", "Time limit of connecting and of a request [2s]", set!(timeout = a_time)),
    GetoptRow {
        ours: true,
        ..value("json", ' ', "FILE", "Write the result as JSON, too (- for stdout)", set!(json = text))
    },
    GetoptRow {
        ours: true,
        ..value("http", ' ', "VERSION", "1.1; 2, HTTP/2 over TLS; 2c, without; or 3 [1.1]", |typed, text| {
            typed.protocol.http = vec![cli::version(text)?];
            Ok(())
        })
    },
    GetoptRow {
        ours: true,
        ..value("streams", ' ', "N", "Connections that share one of HTTP/2 or 3 [1]", |typed, text| {
            typed.protocol.streams = Some(u32::try_from(a_count(text)?).map_err(|_| "too many".to_owned())?);
            Ok(())
        })
    },
    GetoptRow {
        ours: true,
        ..switch("show-plan", ' ', "Print what this means, and run nothing", on!(show_plan))
    },
    switch("version", 'v', "Show the version", on!(version)),
    // Whoever reads the options looks for it.
    switch(HELP, ' ', "Show this", |_, _| Ok(())),
];

/// The option that shows the usage text.
const HELP: &str = "help";

/// Options of wrk2 alone.
const OF_WRK2: [&str; 3] = ["rate", "u_latency", "batch_latency"];

fn known(tool: Tool) -> Vec<&'static GetoptRow<WrkTyped>> {
    OPTIONS.iter().filter(|row| tool == Tool::Wrk2 || !OF_WRK2.contains(&row.long)).collect()
}

/// The usage text.
pub(super) fn usage(tool: Tool) -> String {
    let mut usage =
        format!("Usage: {} <options> <url> [-- <arguments for the script>]\n  Options:\n", tool.name());
    for row in known(tool) {
        let short = if row.short == ' ' { "   ".to_owned() } else { format!("-{},", row.short) };
        let long = format!("--{} {}", row.long, row.shown);
        usage += &format!("    {short} {long:<22}{}\n", row.help);
    }
    usage += "\n  Counts may have a unit (1k, 1M, 1G), times too (2s, 2m, 2h)\n";
    usage
}

/// Why there is no test, with the usage text.
pub(super) fn refused(tool: Tool, complaint: String) -> ToolShown {
    ToolShown::complaint(&complaint, usage(tool))
}

/// The version line.
pub(super) fn version(tool: Tool) -> String {
    format!("{} wringer/{}\n", tool.name(), env!("CARGO_PKG_VERSION"))
}

/// Reads the words after the tool's name. Options may stand behind the URL; a lone `--` ends them.
///
/// # Errors
/// The usage text, and what was wrong.
pub(super) fn read(tool: Tool, args: &[OsString]) -> Result<WrkTyped, ToolShown> {
    let words = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (options, operands) = getopt::read(&known(tool), words);
    let mut typed = WrkTyped::default();
    let stopped = options.into_iter().try_for_each(|option| set(tool, &mut typed, option));
    let version = if typed.version { version(tool) } else { String::new() };
    let with_version = |shown: ToolShown| ToolShown { out: format!("{version}{}", shown.out), ..shown };
    stopped.map_err(|complaint| with_version(refused(tool, complaint)))?;
    let mut operands = operands.into_iter();
    match operands.next() {
        Some(url) if typed.threads > 0 && !typed.duration.is_zero() => {
            Ok(WrkTyped { url, args: operands.collect(), ..typed })
        }
        _ => Err(with_version(refused(tool, String::new()))),
    }
}

fn set(tool: Tool, typed: &mut WrkTyped, option: GetoptRead<WrkTyped>) -> Result<(), String> {
    let name = tool.name();
    match option {
        GetoptRead::Option { row, .. } if row.long == HELP => Err(String::new()),
        GetoptRead::Option { row, label, value } => {
            (row.set)(typed, &value).map_err(|wanted| format!("{name}: {label} '{value}': give {wanted}"))
        }
        GetoptRead::OptionError(wrong) => Err(format!("{name}: {}", wrong.text())),
    }
}
