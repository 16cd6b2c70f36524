//! Stage one: what was typed, read as `getopt_long` reads it for the old tool. What it means is [`super::plan`]'s business.
//!
//! One table row per option owns its names, what it takes, what it means and its help. Start at [`read`].

use super::H2loadLayout;
use crate::ToolShown;
use crate::getopt::{self, GetoptRead, GetoptRow, switch, value};
use std::ffi::OsString;
use std::time::Duration;

/// How much is sent.
#[derive(Debug, Clone)]
pub(super) struct Amount {
    /// `None`: 1, or as many as a timetable has.
    pub requests: Option<u64>,
    pub clients: u64,
    pub threads: u64,
    pub streams: u64,
    pub duration: Option<Duration>,
    pub warm_up: Duration,
    /// Clients that begin in a period; 0: all at once.
    pub rate: u64,
    pub rate_period: Duration,
    /// Requests per second of each client.
    pub rps: Option<f64>,
    /// Longest time of a request.
    pub active: Option<Duration>,
    /// Longest time in which nothing comes or goes.
    pub inactive: Option<Duration>,
}

/// Requests that are sent, and where to.
#[derive(Debug, Clone, Default)]
pub(super) struct H2loadWork {
    pub list: Option<String>,
    pub base: Option<String>,
    pub connect_to: Option<String>,
    pub headers: Vec<String>,
    pub body: Option<String>,
    pub timetable: Option<String>,
}

/// How it is spoken.
#[derive(Debug, Clone)]
pub(super) struct How {
    /// `--h1`
    pub one: bool,
    /// Protocol that is spoken without TLS.
    pub clear: String,
    /// Names for ALPN, best first.
    pub alpn: Vec<String>,
    pub window_bits: Option<u32>,
    pub connection_window_bits: Option<u32>,
    pub decoder_table: u32,
    pub encoder_table: u32,
    pub sni: Option<String>,
    /// Suites of TLS 1.2, as a list of OpenSSL.
    pub ciphers: Option<String>,
    pub tls13_ciphers: Option<String>,
    /// Bytes of a datagram's payload at most.
    pub payload: Option<u32>,
}

/// Settings of the output, shown and kept.
#[derive(Debug, Clone, Default)]
pub(super) struct Output {
    pub log: Option<String>,
    pub json: Option<String>,
    /// Measurements as 1.69 writes them.
    pub samples: Option<String>,
    pub histogram: bool,
    pub layout: Option<H2loadLayout>,
    /// An option that 1.52 has not got.
    pub newer: bool,
    pub show_plan: bool,
    pub seed: Option<u64>,
}

/// The command line as typed.
#[derive(Debug, Clone, Default)]
pub(super) struct H2loadTyped {
    pub amount: Amount,
    pub what: H2loadWork,
    pub how: How,
    pub output: Output,
    /// Options that have no effect here.
    pub passed_over: Vec<&'static str>,
    /// URIs.
    pub uris: Vec<String>,
}

impl Default for Amount {
    fn default() -> Amount {
        Amount {
            requests: None,
            clients: 1,
            threads: 1,
            streams: 1,
            duration: None,
            warm_up: Duration::ZERO,
            rate: 0,
            rate_period: Duration::from_secs(1),
            rps: None,
            active: None,
            inactive: None,
        }
    }
}

impl Default for How {
    fn default() -> How {
        How {
            one: false,
            clear: "h2c".to_owned(),
            alpn: ["h2", "http/1.1"].map(str::to_owned).to_vec(),
            window_bits: None,
            connection_window_bits: None,
            decoder_table: 4096,
            encoder_table: 4096,
            sni: None,
            ciphers: None,
            tls13_ciphers: None,
            payload: None,
        }
    }
}

/// Writes a value down.
macro_rules! set {
    ($part:ident.$field:ident = $read:expr) => {
        |typed, text| {
            typed.$part.$field = $read(text)?;
            Ok(())
        }
    };
}

/// Notes an option that has no effect here.
macro_rules! pass_over {
    ($name:literal) => {
        |typed, _| {
            typed.passed_over.push($name);
            Ok(())
        }
    };
}

/// Every option, in the order of the usage text.
static OPTIONS: &[GetoptRow<H2loadTyped>] = &[
    value("requests", 'n', "<N>", "Requests of all clients together [1]", |typed, text| {
        typed.amount.requests = Some(number(text)?);
        Ok(())
    }),
    value("clients", 'c', "<N>", "Clients: connections [1]", set!(amount.clients = one_or_more)),
    value("threads", 't', "<N>", "Threads [1]", set!(amount.threads = one_or_more)),
    value("input-file", 'i', "<PATH>", "List of URIs, a line each", set!(what.list = some)),
    value(
        "max-concurrent-streams",
        'm',
        "<N>",
        "Requests under way on a connection [1]",
        set!(amount.streams = one_or_more),
    ),
    value("max-frame-size", 'f', "<SIZE>", "", pass_over!("--max-frame-size")),
    value("window-bits", 'w', "<N>", "Window of a stream: 2^N-1 bytes [30]", set!(how.window_bits = bits)),
    value(
        "connection-window-bits",
        'W',
        "<N>",
        "Window of a connection: 2^N-1 bytes [30]",
        set!(how.connection_window_bits = bits),
    ),
    value("header", 'H', "<HEADER>", "Field of each request, 'name: value'", |typed, text| {
        typed.what.headers.push(text.to_owned());
        Ok(())
    }),
    value(
        "ciphers",
        ' ',
        "<SUITES>",
        "Suites of TLS 1.2, with colons between them",
        set!(how.ciphers = some),
    ),
    value(
        "tls13-ciphers",
        ' ',
        "<SUITES>",
        "Suites of TLS 1.3, with colons between them",
        set!(how.tls13_ciphers = some),
    ),
    value("groups", ' ', "<GROUPS>", "", pass_over!("--groups")),
    value("no-tls-proto", 'p', "<ID>", "h2c or http/1.1, for http:// [h2c]", set!(how.clear = clear)),
    value("data", 'd', "<PATH>", "POST the bytes of a file", set!(what.body = some)),
    value("rate", 'r', "<N>", "New clients in each period", set!(amount.rate = number)),
    value("rate-period", ' ', "<DURATION>", "The period [1s]", set!(amount.rate_period = time)),
    value("duration", 'D', "<DURATION>", "Measures for so long", |typed, text| {
        typed.amount.duration = Some(time(text)?).filter(|time| !time.is_zero());
        Ok(())
    }),
    value(
        "warm-up-time",
        ' ',
        "<DURATION>",
        "Sends for so long before, uncounted",
        set!(amount.warm_up = time),
    ),
    value(
        "connection-active-timeout",
        'T',
        "<DURATION>",
        "Longest time of a request",
        set!(amount.active = limit),
    ),
    value(
        "connection-inactivity-timeout",
        'N',
        "<DURATION>",
        "Longest time without anything coming or going",
        set!(amount.inactive = limit),
    ),
    value(
        "timing-script-file",
        ' ',
        "<PATH>",
        "Requests at moments: ms, tab and URI in each line",
        set!(what.timetable = some),
    ),
    value("base-uri", 'B', "<URI>", "Scheme, host and port of all; unix:PATH", set!(what.base = some)),
    value("npn-list", ' ', "<LIST>", "", set!(how.alpn = names)),
    value("alpn-list", ' ', "<LIST>", "Names for ALPN, best first [h2,http/1.1]", set!(how.alpn = names)),
    switch("h1", ' ', "HTTP/1.1, with and without TLS", |typed, _| {
        typed.how.one = true;
        Ok(())
    }),
    switch("h3", ' ', "HTTP/3 (as 1.69 has it)", |typed, _| {
        (typed.how.alpn, typed.output.newer) = (vec!["h3".to_owned()], true);
        Ok(())
    }),
    value(
        "header-table-size",
        ' ',
        "<SIZE>",
        "Table for answers' fields [4K]",
        set!(how.decoder_table = table),
    ),
    value(
        "encoder-header-table-size",
        ' ',
        "<SIZE>",
        "Table for requests' fields [4K]",
        set!(how.encoder_table = table),
    ),
    value("log-file", ' ', "<PATH>", "A line for each request", set!(output.log = some)),
    value("connect-to", ' ', "<HOST[:PORT]>", "Connects there", set!(what.connect_to = some)),
    value("rps", ' ', "<N>", "Requests per second of each client", |typed, text| {
        let rate = text.parse().ok().filter(|rate: &f64| *rate > 0.0 && *rate <= 1e6);
        typed.amount.rps = Some(rate.ok_or_else(|| "a number above 0".to_owned())?);
        Ok(())
    }),
    value("sni", ' ', "<NAME>", "Name for TLS", set!(how.sni = some)),
    switch("ktls", ' ', "", pass_over!("--ktls")),
    switch("no-udp-gso", ' ', "", pass_over!("--no-udp-gso")),
    value(
        "max-udp-payload-size",
        ' ',
        "<SIZE>",
        "Payload of a datagram at most, over HTTP/3",
        |typed, text| {
            typed.how.payload = Some(table(text)?);
            Ok(())
        },
    ),
    value("qlog-file-base", ' ', "<PATH>", "", pass_over!("--qlog-file-base")),
    switch("histogram", ' ', "Draws each row of the report (as 1.69 has it)", |typed, _| {
        (typed.output.histogram, typed.output.newer) = (true, true);
        Ok(())
    }),
    value("output-file", ' ', "<PATH>", "Writes the measurements as JSON (as 1.69 has it)", |typed, text| {
        (typed.output.samples, typed.output.newer) = (Some(text.to_owned()), true);
        Ok(())
    }),
    value("tls-session-file", ' ', "<PATH>", "", |typed, _| {
        typed.output.newer = true;
        typed.passed_over.push("--tls-session-file");
        Ok(())
    }),
    switch("verbose", 'v', "", pass_over!("-v")),
    GetoptRow {
        ours: true,
        ..value(
            "layout",
            ' ',
            "<VERSION>",
            "Whose report: 1.52 or 1.69, which 1.70 has too [1.52, or 1.69 with its options]",
            |typed, text| {
                typed.output.layout = Some(match text {
                    "1.52" => H2loadLayout::Old,
                    "1.69" | "1.70" => H2loadLayout::New,
                    _ => return Err("1.52, 1.69 or 1.70".to_owned()),
                });
                Ok(())
            },
        )
    },
    GetoptRow {
        ours: true,
        ..value("json", ' ', "<FILE>", "Writes the result as JSON, too", set!(output.json = some))
    },
    GetoptRow {
        ours: true,
        ..value("seed", ' ', "<N>", "The same seed asks in the same order", |typed, text| {
            typed.output.seed = Some(number(text)?);
            Ok(())
        })
    },
    GetoptRow {
        ours: true,
        ..switch("show-plan", ' ', "Prints what this means, and runs nothing", |typed, _| {
            typed.output.show_plan = true;
            Ok(())
        })
    },
    // Whoever reads the options looks for these.
    switch(VERSION, ' ', "Shows the version", |_, _| Ok(())),
    switch(HELP, 'h', "Shows this", |_, _| Ok(())),
];

const VERSION: &str = "version";
const HELP: &str = "help";

/// The usage text.
pub(super) fn usage() -> String {
    let mut usage = "Usage: h2load [OPTIONS]... [URI]...\nOptions:\n".to_owned();
    for row in OPTIONS.iter().filter(|row| !row.help.is_empty()) {
        let short = if row.short == ' ' { "   ".to_owned() } else { format!("-{},", row.short) };
        let equals = if row.shown.is_empty() { "" } else { "=" };
        let long = format!("--{}{equals}{}", row.long, row.shown);
        usage += &format!("  {short} {long:<38}{}\n", row.help);
    }
    let ignored: Vec<&str> = OPTIONS.iter().filter(|row| row.help.is_empty()).map(|row| row.long).collect();
    usage + &format!("Read, and without effect or refused: --{}\n", ignored.join(", --"))
}

/// One line on standard error.
pub(super) fn refused(complaint: impl Into<String>) -> ToolShown {
    ToolShown::complaint(&complaint.into(), String::new())
}

/// Reads the words after the tool's name.
///
/// # Errors
/// The text shown instead of a test.
pub(super) fn read(args: &[OsString]) -> Result<H2loadTyped, ToolShown> {
    let words = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (options, uris) = getopt::read(&OPTIONS.iter().collect::<Vec<_>>(), words);
    let mut typed = H2loadTyped { uris, ..H2loadTyped::default() };
    for option in options {
        match option {
            GetoptRead::Option { row, .. } if row.long == HELP => {
                return Err(ToolShown::told(usage()));
            }
            GetoptRead::Option { row, .. } if row.long == VERSION => {
                return Err(ToolShown::told(format!("h2load wringer/{}\n", env!("CARGO_PKG_VERSION"))));
            }
            GetoptRead::Option { row, label, value } => {
                let wrong = |wanted| refused(format!("{label} '{value}': give {wanted}"));
                (row.set)(&mut typed, &value).map_err(wrong)?;
            }
            GetoptRead::OptionError(wrong) => return Err(refused(wrong.gnu_text())),
        }
    }
    Ok(typed)
}

fn some(text: &str) -> Result<Option<String>, String> {
    Ok(Some(text.to_owned()))
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "a whole number".to_owned())
}

fn one_or_more(text: &str) -> Result<u64, String> {
    number(text).ok().filter(|number| *number > 0).ok_or_else(|| "a whole number from 1 on".to_owned())
}

fn bits(text: &str) -> Result<Option<u32>, String> {
    let bits = text.parse().ok().filter(|bits: &u32| *bits <= 30);
    bits.map(Some).ok_or_else(|| "a whole number from 0 to 30".to_owned())
}

/// Bytes with K, M or G of 1024.
fn table(text: &str) -> Result<u32, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, unit)) if unit.is_ascii_alphabetic() => (&text[..at], unit.to_ascii_uppercase()),
        _ => (text, ' '),
    };
    let shift = match unit {
        ' ' => Some(0),
        'K' => Some(10),
        'M' => Some(20),
        'G' => Some(30),
        _ => None,
    };
    let bytes = shift.and_then(|shift| digits.parse::<u32>().ok()?.checked_mul(1 << shift));
    bytes.ok_or_else(|| "bytes, such as 4096 or 4K".to_owned())
}

/// A whole number of hours, minutes, seconds or milliseconds; seconds without a unit.
fn time(text: &str) -> Result<Duration, String> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let number: Option<u64> = text[..end].parse().ok();
    let milliseconds = match text[end..].to_ascii_lowercase().as_str() {
        "ms" => Some(1),
        "" | "s" => Some(1000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let time = number.zip(milliseconds).and_then(|(number, unit)| number.checked_mul(unit));
    time.map(Duration::from_millis).ok_or_else(|| "a time such as 10, 10s, 500ms or 1m".to_owned())
}

/// A time after which something ends; 0: never.
fn limit(text: &str) -> Result<Option<Duration>, String> {
    time(text).map(|time| Some(time).filter(|time| !time.is_zero()))
}

fn clear(text: &str) -> Result<String, String> {
    match text {
        "h2c" | "http/1.1" => Ok(text.to_owned()),
        _ => Err("h2c or http/1.1".to_owned()),
    }
}

fn names(text: &str) -> Result<Vec<String>, String> {
    Ok(text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}
