//! Stage one: what was typed. What it means is [`super::plan`]'s business.

use super::Generator;
use super::report::{H1loadForm, Overhead};
use crate::ToolShown;
use crate::getopt::{self, GetoptRead, GetoptRow, GetoptValue, on, set, switch, text, value};
use ::plan::{HttpProtocol, TlsVersion};
use std::ffi::OsString;
use std::time::Duration;

/// The command line as typed.
#[derive(Debug, Clone)]
pub(super) struct H1loadTyped {
    pub tool: Generator,
    /// Connections of h1load, users of haload.
    pub users: u64,
    /// Requests under way on a connection at once.
    pub streams: u64,
    /// `None` for those that follow: no limit.
    pub duration: Option<Duration>,
    pub requests: Option<u64>,
    pub per_connection: Option<u64>,
    pub rate: Option<u64>,
    pub ramp: Duration,
    pub think: Duration,
    pub threads: Option<u64>,
    pub timeout: Option<Duration>,
    pub headers: Vec<String>,
    pub overhead: Option<Overhead>,
    pub form: H1loadForm,
    /// The first request of a connection has no part in the times.
    pub reused_only: bool,
    pub percentiles: bool,
    pub stops_at_error: bool,
    pub head: bool,
    pub statuses: bool,
    pub protocol: Option<HttpProtocol>,
    pub cipher_list: Option<String>,
    pub cipher_suites: Option<String>,
    pub resumes: bool,
    pub tls_version: Option<TlsVersion>,
    /// Options that have no effect.
    pub passed_over: Vec<&'static str>,
    /// Ours.
    pub json: Option<String>,
    pub show_plan: bool,
    pub urls: Vec<String>,
}

impl H1loadTyped {
    fn new(tool: Generator) -> H1loadTyped {
        H1loadTyped {
            tool,
            users: 1,
            streams: 1,
            duration: None,
            requests: None,
            per_connection: None,
            rate: None,
            ramp: Duration::ZERO,
            think: Duration::ZERO,
            threads: (tool == Generator::H1load).then_some(1),
            timeout: None,
            headers: Vec::new(),
            overhead: None,
            form: H1loadForm::Short,
            reused_only: false,
            percentiles: false,
            stops_at_error: false,
            head: false,
            statuses: false,
            protocol: None,
            cipher_list: None,
            cipher_suites: None,
            resumes: false,
            tls_version: None,
            passed_over: Vec::new(),
            json: None,
            show_plan: false,
            urls: Vec::new(),
        }
    }

    /// Why there is no test.
    pub fn refused(&self, complaint: &str) -> ToolShown {
        refused(self.tool, complaint)
    }
}

fn positive(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("'{text}': give a whole number above 0"))
}

/// A limit, where -1 and 0 are none.
fn limit(text: &str) -> Result<Option<u64>, String> {
    let number = text.parse::<i64>().ok().filter(|number| *number >= -1);
    let number = number.ok_or_else(|| format!("'{text}': give a whole number, or -1 for no limit"))?;
    Ok(u64::try_from(number).ok().filter(|number| *number > 0))
}

fn some_positive(text: &str) -> Result<Option<u64>, String> {
    positive(text).map(Some)
}

fn lasting(text: &str) -> Result<Option<Duration>, String> {
    let seconds =
        text.parse::<u32>().map_err(|_| format!("'{text}': give whole seconds, or 0 for no limit"))?;
    Ok(Some(Duration::from_secs(seconds.into())).filter(|time| !time.is_zero()))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=1e6).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("'{text}': give seconds, such as 3 or 0.5"))
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    let time = text.parse::<u32>().map(|ms| Duration::from_millis(ms.into()));
    time.map_err(|_| format!("'{text}': give milliseconds, such as 500"))
}

fn timeout(text: &str) -> Result<Option<Duration>, String> {
    let time = milliseconds(text)?;
    Some(time)
        .filter(|time| !time.is_zero())
        .map(Some)
        .ok_or_else(|| "0: nobody answers within that: give milliseconds above 0".to_owned())
}

fn overhead(text: &str) -> Result<Option<Overhead>, String> {
    let read = || {
        let (extra, payload) = text.split_once('/')?;
        let payload = payload.parse().ok().filter(|payload| *payload > 0)?;
        Some(Overhead { extra: extra.parse().ok()?, payload })
    };
    read().map(Some).ok_or_else(|| format!("'{text}': give EXTRA/PAYLOAD in bytes, such as 66/1448"))
}

fn tls_version(text: &str) -> Result<Option<TlsVersion>, String> {
    match text {
        "TLS1.2" => Ok(Some(TlsVersion::Tls12)),
        "TLS1.3" => Ok(Some(TlsVersion::Tls13)),
        "SSL3" | "TLS1.0" | "TLS1.1" => {
            Err(format!("'{text}': versions before 1.2 are not spoken here: give TLS1.2 or TLS1.3"))
        }
        _ => Err(format!("'{text}': give TLS1.2 or TLS1.3")),
    }
}

/// The protocol behind -h or, without its letter, alone; a second one is another.
fn protocol(typed: &mut H1loadTyped, name: &str) -> Result<(), String> {
    let named = match name {
        "1" => HttpProtocol::One,
        "2" => HttpProtocol::Two,
        "2c" => HttpProtocol::TwoClear,
        "3" => HttpProtocol::Three,
        "0" => return Err("is HTTP/0.9 over QUIC, which is not spoken here: give -h3".to_owned()),
        _ => return Err(format!("'{name}': give -h1, -h2, -h2c or -h3")),
    };
    if typed.protocol.is_some_and(|before| before != named) {
        return Err("is a second protocol: all URLs have one here: run haload once for each".to_owned());
    }
    typed.protocol = Some(named);
    Ok(())
}

/// An option that has no place here, and why.
macro_rules! refuse {
    ($why:literal) => {
        |_, _| Err($why.to_owned())
    };
}

/// Options that both have.
static SHARED: &[GetoptRow<H1loadTyped>] = &[
    value("", 'd', "SECONDS", "How long it lasts [0: no limit]", set!(duration = lasting)),
    value("", 'n', "N", "Requests in all [-1: no limit]", set!(requests = limit)),
    value("", 'r', "N", "Requests per connection [-1: no limit]", set!(per_connection = limit)),
    value("", 's', "SECONDS", "In which all come, one after the other [0]", set!(ramp = seconds)),
    value("", 'w', "MS", "How long nothing may come or go [10000]", set!(timeout = timeout)),
    value("", 'H', "'K: V'", "A header field; any number of times", |typed, text| {
        typed.headers.push(text.to_owned());
        Ok(())
    }),
    switch("", 'l', "Long lines; twice: with raw values", |typed, _| {
        typed.form = if typed.form == H1loadForm::Short { H1loadForm::Long } else { H1loadForm::Raw };
        Ok(())
    }),
    switch("", 'e', "Stop at the first error", on!(stops_at_error)),
    switch("", 'I', "HEAD instead of GET", on!(head)),
    GetoptRow {
        ours: true,
        ..value("json", ' ', "FILE", "Write wringer's result as JSON, too", set!(json = text))
    },
    GetoptRow {
        ours: true,
        ..switch("show-plan", ' ', "Print what this means, and run nothing", on!(show_plan))
    },
    switch(HELP, ' ', "Show this", |_, _| Ok(())),
];

/// Options of h1load alone.
static OF_H1LOAD: &[GetoptRow<H1loadTyped>] = &[
    value("", 'c', "N", "Connections at once [1]", set!(users = positive)),
    value("", 't', "N", "Threads [1]", set!(threads = some_positive)),
    value("", 'T', "MS", "Think time after an answer [0]", set!(think = milliseconds)),
    value("", 'R', "N", "Requests per second in all [0: no limit]", set!(rate = limit)),
    value(
        "",
        'O',
        "EXTRA/PAYLOAD",
        "Bytes that each packet has beside its payload",
        set!(overhead = overhead),
    ),
    switch("", 'A', "Times without the first request of each connection", on!(reused_only)),
    switch("", 'P', "Percentiles at the end", on!(percentiles)),
    switch("", 'S', "Statuses in the lines", on!(statuses)),
    switch(
        "",
        'F',
        "Send with the connection's ACK: refused here",
        refuse!("leaves out an ACK of the handshake, which is the kernel's here: leave it out"),
    ),
    switch("", 'v', "No effect, as in h1load", |typed, _| {
        typed.passed_over.push("-v");
        Ok(())
    }),
    switch("", 'h', "Show this", |_, _| Ok(())),
    value("cipher-list", ' ', "LIST", "Cipher suites of TLS 1.2", set!(cipher_list = text)),
    value("cipher-suites", ' ', "LIST", "Cipher suites of TLS 1.3", set!(cipher_suites = text)),
    switch("tls-reuse", ' ', "Resume TLS sessions", on!(resumes)),
    value("tls-ver", ' ', "VERSION", "TLS1.2 or TLS1.3", set!(tls_version = tls_version)),
];

const SECTION: &str = "adds to HAProxy's configuration, and there is none here: leave it out; wringer haload --help lists what there is";

/// Options of haload alone.
static OF_HALOAD: &[GetoptRow<H1loadTyped>] = &[
    value("", 'u', "N", "Users, each with a connection [1]", set!(users = positive)),
    value("", 'm', "N", "Requests under way on a connection at once [1]", set!(streams = positive)),
    value("", 't', "N", "Threads [one per core]", set!(threads = some_positive)),
    GetoptRow {
        value: GetoptValue::May,
        ..value("", 'h', "VERSION", "1, 2, 2c or 3: the protocol [1]", protocol)
    },
    switch("", '0', "As -h0: refused here", |typed, _| protocol(typed, "0")),
    switch("", '1', "As -h1", |typed, _| protocol(typed, "1")),
    GetoptRow {
        value: GetoptValue::May,
        ..value("", '2', "c", "As -h2; -2c: as -h2c", |typed, text| protocol(typed, &format!("2{text}")))
    },
    switch("", '3', "As -h3", |typed, _| protocol(typed, "3")),
    switch(
        "",
        'C',
        "HAProxy's configuration: refused here",
        refuse!(
            "prints HAProxy's configuration, and there is none here: --show-plan prints what will be done"
        ),
    ),
    switch(VERSION, 'v', "Show the version", |_, _| Ok(())),
    value("defaults", ' ', "LINES", "Refused here", |_, _| Err(SECTION.to_owned())),
    value("global", ' ', "LINES", "Refused here", |_, _| Err(SECTION.to_owned())),
    value("server", ' ', "OPTIONS", "Refused here", |_, _| Err(SECTION.to_owned())),
    switch("show-status-codes", ' ', "Statuses in the lines", on!(statuses)),
    switch(
        "traces",
        ' ',
        "Refused here",
        refuse!("shows HAProxy's inside, which is not here: wringer http -v URL shows requests and answers"),
    ),
    value("tls-ciphers", ' ', "LIST", "Cipher suites of TLS 1.2", set!(cipher_list = text)),
    value("tls-ciphersuites", ' ', "LIST", "Cipher suites of TLS 1.3", set!(cipher_suites = text)),
    value(
        "tls-curves",
        ' ',
        "LIST",
        "Refused here",
        refuse!("chooses groups of the key exchange, which cannot be chosen here: leave it out"),
    ),
];

const HELP: &str = "help";
const VERSION: &str = "version";

fn options(tool: Generator) -> Vec<&'static GetoptRow<H1loadTyped>> {
    let own = match tool {
        Generator::H1load => OF_H1LOAD,
        Generator::Haload => OF_HALOAD,
    };
    own.iter().chain(SHARED).collect()
}

/// The usage text.
pub(super) fn usage(tool: Generator) -> String {
    let name = tool.name();
    let urls = match tool {
        Generator::H1load => "URL",
        Generator::Haload => "URL...",
    };
    let line = |row: &&'static GetoptRow<H1loadTyped>| {
        let label = match (row.short, row.long) {
            (' ', long) => format!("    --{long} {}", row.shown),
            (short, "") => format!("-{short} {}", row.shown),
            (short, long) => format!("-{short}, --{long} {}", row.shown),
        };
        let ours = if row.ours { format!("Not in {name}: ") } else { String::new() };
        format!("  {label:<28}{ours}{}\n", row.help)
    };
    let options: String = options(tool).iter().map(line).collect();
    format!("Usage: {name} [option]* {urls}\n\n{options}")
}

fn refused(tool: Generator, complaint: &str) -> ToolShown {
    ToolShown::refused(format!("{}: {complaint}\n", tool.name()), 1)
}

/// Reads the words after the tool's name, options anywhere among them.
///
/// # Errors
/// The usage text, the version, or what was wrong.
pub(super) fn read(tool: Generator, args: &[OsString]) -> Result<H1loadTyped, ToolShown> {
    let words = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (options, urls) = getopt::read(&options(tool), words);
    let mut typed = H1loadTyped::new(tool);
    for option in options {
        match option {
            GetoptRead::Option { row, .. }
                if row.long == HELP || (tool, row.short) == (Generator::H1load, 'h') =>
            {
                return Err(ToolShown::told(usage(tool)));
            }
            GetoptRead::Option { row, .. } if row.long == VERSION => {
                let version = env!("CARGO_PKG_VERSION");
                return Err(ToolShown::told(format!("haload, as wringer {version} speaks it\n")));
            }
            GetoptRead::Option { row, label, value } => {
                (row.set)(&mut typed, &value).map_err(|why| refused(tool, &format!("{label} {why}")))?;
            }
            GetoptRead::OptionError(wrong) => {
                return Err(refused(tool, &format!("{}, try --help", wrong.text())));
            }
        }
    }
    match (tool, urls.as_slice()) {
        (_, []) => Err(refused(tool, "give a URL, try --help")),
        (Generator::H1load, [_, more, ..]) => {
            Err(refused(tool, &format!("'{more}' is a second URL: one is pressed")))
        }
        (_, _) => Ok(H1loadTyped { urls, ..typed }),
    }
}
