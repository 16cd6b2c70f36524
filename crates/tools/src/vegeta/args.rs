//! Stage one: what was typed. What it means is [`super::plan`]'s business, or [`super::report`]'s.

use crate::ToolShown;
use crate::goflag::{self, Flag, Wrong, flag, plain, set, some_number, switch, text, time};
use std::ffi::OsString;
use std::time::Duration;

/// A command of vegeta's.
pub(super) enum Typed {
    Attack(Box<Attack>),
    Report(Report),
}

/// `attack` as typed.
#[derive(Debug, Clone)]
pub(super) struct Attack {
    pub body: Option<String>,
    pub certificate: Option<String>,
    pub key: Option<String>,
    pub duration: Duration,
    pub format: String,
    pub h2c: bool,
    pub http2: bool,
    pub headers: Vec<String>,
    pub insecure: bool,
    pub keep_alive: bool,
    pub sources: Vec<String>,
    pub max_workers: Option<u64>,
    pub name: String,
    pub output: Option<String>,
    /// Requests per second; `None`: as fast as it goes.
    pub rate: Option<f64>,
    pub redirects: i64,
    pub roots: Option<String>,
    pub targets: Option<String>,
    pub timeout: Duration,
    pub cpus: Option<u64>,
    /// Ours.
    pub json: Option<String>,
    pub show_plan: bool,
    /// Flags that have no effect here, and why.
    pub without_effect: Vec<String>,
}

impl Default for Attack {
    fn default() -> Attack {
        Attack {
            body: None,
            certificate: None,
            key: None,
            duration: Duration::ZERO,
            format: "http".to_owned(),
            h2c: false,
            http2: true,
            headers: Vec::new(),
            insecure: false,
            keep_alive: true,
            sources: Vec::new(),
            max_workers: None,
            name: String::new(),
            output: None,
            rate: Some(50.0),
            redirects: 10,
            roots: None,
            targets: None,
            timeout: Duration::from_secs(30),
            cpus: None,
            json: None,
            show_plan: false,
            without_effect: Vec::new(),
        }
    }
}

/// `report` as typed.
#[derive(Debug, Clone, Default)]
pub(super) struct Report {
    pub kind: String,
    pub buckets: String,
    pub files: Vec<String>,
}

fn whole(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "a whole number, such as 10 or -1".to_owned())
}

/// `100`, `100/s`, `6000/1m`; 0 or `infinity`: as fast as it goes.
fn rate(text: &str) -> Result<Option<f64>, String> {
    let wrong = || "requests per time, such as 100, 100/s or 6000/1m".to_owned();
    let (count, per) = text.split_once('/').unwrap_or((text, "1s"));
    if count == "infinity" {
        return Ok(None);
    }
    let count: u64 = count.parse().map_err(|_| wrong())?;
    let per =
        if per.starts_with(|one: char| one.is_ascii_digit()) { per.to_owned() } else { format!("1{per}") };
    let per = time(&per).ok().filter(|per| !per.is_zero()).ok_or_else(wrong)?;
    Ok((count > 0).then(|| count as f64 / per.as_secs_f64()))
}

fn no_effect(typed: &mut Attack, why: &str) -> Result<(), String> {
    typed.without_effect.push(why.to_owned());
    Ok(())
}

fn refuse(why: &str) -> Result<(), String> {
    Err(why.to_owned())
}

/// Flags of `attack`.
static ATTACK: &[Flag<Attack>] = &[
    flag("body", "FILE", "The body of targets that have none", set!(body = text)),
    flag("cert", "FILE", "The client's certificate", set!(certificate = text)),
    flag("chunked", "", "Refused: bodies are not sent in chunks here", |_, on| match on {
        "true" => refuse("no -chunked: bodies have their length here"),
        _ => Ok(()),
    }),
    flag("connect-to", "A:P:B:Q", "Refused: wringer http has --connect-to", |_, _| {
        refuse("no -connect-to: wringer http has --connect-to")
    }),
    flag(
        "connections",
        "N",
        "No effect: connections stay open as long as the target lets them",
        |typed, _| no_effect(typed, "-connections has no effect: no connection is given up that can be used"),
    ),
    flag("dns-ttl", "TIME", "No effect: names are looked up once", |typed, _| {
        no_effect(typed, "-dns-ttl has no effect: names are looked up once, before the attack")
    }),
    flag(
        "duration",
        "TIME",
        "How long requests are sent; 0: until it is interrupted [0]",
        set!(duration = time),
    ),
    flag("format", "FORM", "Form of the targets: http or json [http]", set!(format = plain)),
    flag("h2c", "", "HTTP/2 without TLS", set!(h2c = switch)),
    flag("header", "FIELD", "A field of every request, 'Name: value'; any number of times", |typed, text| {
        typed.headers.push(text.to_owned());
        Ok(())
    }),
    flag("http2", "", "HTTP/2 over TLS: only with -http2 typed", set!(http2 = switch)),
    flag("insecure", "", "Do not verify servers' certificates", set!(insecure = switch)),
    flag("keepalive", "", "Keep connections [true]", set!(keep_alive = switch)),
    flag("key", "FILE", "The key of -cert", set!(key = text)),
    flag("laddr", "ADDRESS", "Local address", |typed, text| {
        typed.sources.push(text.to_owned());
        Ok(())
    }),
    flag("lazy", "", "No effect: targets are read before the attack", |typed, _| {
        no_effect(typed, "-lazy has no effect: targets are read before the attack")
    }),
    flag("max-body", "N", "No effect: bodies are not among the results", |typed, _| {
        no_effect(typed, "-max-body has no effect: bodies are not among the results")
    }),
    flag("max-connections", "N", "Refused: -max-workers bounds them", |_, text| match text {
        "0" => Ok(()),
        _ => refuse("no -max-connections: -max-workers bounds connections, too"),
    }),
    flag("max-workers", "N", "Requests under way at most [10000]", set!(max_workers = some_number)),
    flag("name", "TEXT", "Name of the attack, in each result", set!(name = plain)),
    flag("output", "FILE", "Where results go [stdout]", set!(output = text)),
    flag("prometheus-addr", "ADDRESS", "Refused: wringer http has --prometheus", |_, _| {
        refuse("no -prometheus-addr: wringer http has --prometheus")
    }),
    flag("proxy-header", "FIELD", "Refused: wringer http has --proxy", |_, _| {
        refuse("no -proxy-header: wringer http has --proxy")
    }),
    flag("rate", "N/TIME", "Requests per time; 0: as fast as -max-workers go [50/1s]", set!(rate = rate)),
    flag("redirects", "N", "Redirections to follow; -1: none [10]", set!(redirects = whole)),
    flag("resolvers", "LIST", "Refused: the system looks up names", |_, _| {
        refuse("no -resolvers: the system looks up names")
    }),
    flag("root-certs", "FILE", "Certificates to trust", set!(roots = text)),
    flag("session-tickets", "", "No effect: sessions are resumed as TLS has it here", |typed, _| {
        no_effect(typed, "-session-tickets has no effect")
    }),
    flag("targets", "FILE", "The targets [stdin]", set!(targets = text)),
    flag("timeout", "TIME", "Time limit of a request; 0: none [30s]", set!(timeout = time)),
    flag("unix-socket", "FILE", "Refused: wringer http has --unix-socket", |_, _| {
        refuse("no -unix-socket: wringer http has --unix-socket")
    }),
    flag("workers", "N", "No effect: as many requests are under way as are due", |typed, _| {
        no_effect(typed, "-workers has no effect: as many requests are under way as are due")
    }),
    flag("result-json", "FILE", "Not in vegeta: write wringer's result as JSON, too", set!(json = text)),
    flag("show-plan", "", "Not in vegeta: print what this means, and run nothing", set!(show_plan = switch)),
];

/// Flags of `report`.
static REPORT: &[Flag<Report>] = &[
    flag("type", "TYPE", "text, json or hist[0,1ms,10ms] [text]", set!(kind = plain)),
    flag("buckets", "LIST", "Bounds of the histogram: [0,1ms,10ms]", set!(buckets = plain)),
    flag("every", "TIME", "Refused: wringer has --live", |_, _| refuse("no -every: results are read whole")),
    flag("output", "FILE", "Refused: redirect standard output", |_, _| {
        refuse("no -output: redirect standard output")
    }),
];

/// Flags in front of the command.
static GLOBAL: &[Flag<Global>] = &[
    flag("cpus", "N", "Cores to use [all]", set!(cpus = some_number)),
    flag("profile", "WHAT", "Refused", |_, _| refuse("no -profile")),
    flag("version", "", "Print the version", set!(version = switch)),
    flag("show-plan", "", "Not in vegeta: as behind attack", set!(show_plan = switch)),
];

#[derive(Default)]
struct Global {
    cpus: Option<u64>,
    version: bool,
    show_plan: bool,
}

/// The usage text.
pub(super) fn usage() -> String {
    format!(
        "Usage: vegeta [global flags] attack|report [command flags]\n\nglobal flags:\n{}\n\
         attack: reads targets, sends them, and writes a result for each as JSON\n{}\n\
         report: reads results, from files or standard input\n{}",
        goflag::help(GLOBAL),
        goflag::help(ATTACK),
        goflag::help(REPORT)
    )
}

/// Why there is no attack.
pub(super) fn refused(complaint: &str) -> ToolShown {
    ToolShown::refused(format!("vegeta: {complaint}\n"), 1)
}

fn wrong(wrong: Wrong) -> ToolShown {
    match wrong {
        Wrong::Help => ToolShown::told(usage()),
        Wrong::Line(why) => goflag::refused("vegeta", &why, "See vegeta -h\n", 1),
    }
}

/// Reads the words after the tool's name.
///
/// # Errors
/// The usage text, the version, or what was wrong.
pub(super) fn read(args: &[OsString]) -> Result<Typed, ToolShown> {
    let mut global = Global::default();
    let words = goflag::read(GLOBAL, args, &mut global).map_err(wrong)?;
    if global.version {
        return Err(ToolShown::told(format!("Version: wringer {}\n", env!("CARGO_PKG_VERSION"))));
    }
    let Some((command, rest)) = words.split_first() else {
        return Err(ToolShown::refused(usage(), 1));
    };
    let rest: Vec<OsString> = rest.iter().map(OsString::from).collect();
    match command.as_str() {
        "attack" => {
            let mut attack = Attack { cpus: global.cpus, show_plan: global.show_plan, ..Attack::default() };
            let more = goflag::read(ATTACK, &rest, &mut attack).map_err(wrong)?;
            match more.first() {
                Some(word) => Err(refused(&format!(
                    "attack takes no '{word}': targets come from -targets or standard input"
                ))),
                None => Ok(Typed::Attack(Box::new(attack))),
            }
        }
        "report" => {
            let mut report = Report { kind: "text".to_owned(), ..Report::default() };
            report.files = goflag::read(REPORT, &rest, &mut report).map_err(wrong)?;
            Ok(Typed::Report(report))
        }
        "encode" | "plot" | "dump" => Err(refused(&format!(
            "{command} is not spoken here: results of attack are JSON, a line each, which vegeta's own {command} reads"
        ))),
        other => Err(refused(&format!("unknown command: {other}: give attack or report"))),
    }
}
