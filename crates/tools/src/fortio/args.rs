//! Stage one: what was typed. What it means is [`super::plan`]'s business.

use crate::ToolShown;
use crate::goflag::{self, Flag, Wrong, flag, number, plain, set, some_number, switch, text, time};
use std::ffi::OsString;
use std::time::Duration;

/// The command line as typed.
#[derive(Debug, Clone)]
pub(super) struct FortioTyped {
    pub qps: f64,
    pub connections: u64,
    pub lasts: Duration,
    pub exactly: u64,
    pub percentiles: Vec<f64>,
    pub resolution: f64,
    pub headers: Vec<String>,
    pub method: Option<String>,
    pub payload: Option<String>,
    pub payload_file: Option<String>,
    pub content_type: Option<String>,
    pub user: Option<String>,
    pub result: Option<String>,
    pub labels: String,
    pub keep_alive: bool,
    pub insecure: bool,
    pub ca: Option<String>,
    pub certificate: Option<String>,
    pub key: Option<String>,
    pub timeout: Duration,
    pub http10: bool,
    pub http2: bool,
    pub follow: bool,
    pub compression: bool,
    pub no_catch_up: bool,
    pub jitter: bool,
    pub quiet: bool,
    pub cores: Option<u64>,
    /// Ours.
    pub json: Option<String>,
    pub show_plan: bool,
    pub url: String,
    /// Words behind the URL.
    pub unread: Vec<String>,
    /// Flags that have no effect here, and why.
    pub without_effect: Vec<String>,
}

impl Default for FortioTyped {
    fn default() -> FortioTyped {
        FortioTyped {
            qps: 8.0,
            connections: 4,
            lasts: Duration::from_secs(5),
            exactly: 0,
            percentiles: vec![50.0, 75.0, 90.0, 99.0, 99.9],
            resolution: 0.001,
            headers: Vec::new(),
            method: None,
            payload: None,
            payload_file: None,
            content_type: None,
            user: None,
            result: None,
            labels: String::new(),
            keep_alive: true,
            insecure: false,
            ca: None,
            certificate: None,
            key: None,
            timeout: Duration::from_secs(3),
            http10: false,
            http2: false,
            follow: false,
            compression: false,
            no_catch_up: false,
            jitter: false,
            quiet: false,
            cores: None,
            json: None,
            show_plan: false,
            url: String::new(),
            unread: Vec::new(),
            without_effect: Vec::new(),
        }
    }
}

fn amount(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| "a number, such as 100 or 0.001".to_owned())
}

fn percentiles(text: &str) -> Result<Vec<f64>, String> {
    let percent =
        |text: &str| text.trim().parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
    let all: Option<Vec<f64>> = text.split(',').map(percent).collect();
    all.ok_or_else(|| "percentiles with commas, such as 50,99.9".to_owned())
}

fn no_effect(typed: &mut FortioTyped, why: &str) -> Result<(), String> {
    typed.without_effect.push(why.to_owned());
    Ok(())
}

fn refuse(why: &str) -> Result<(), String> {
    Err(why.to_owned())
}

/// Every flag of `load`, in the order of the usage text.
static FLAGS: &[Flag<FortioTyped>] = &[
    flag("qps", "RATE", "Requests per second in all; 0: as fast as it goes [8]", set!(qps = amount)),
    flag("c", "N", "Connections, each with one request under way [4]", set!(connections = number)),
    flag("t", "TIME", "How long it lasts; 0: until it is interrupted [5s]", set!(lasts = time)),
    flag("n", "N", "Exactly so many requests, instead of -t", set!(exactly = number)),
    flag("p", "LIST", "Percentiles [50,75,90,99,99.9]", set!(percentiles = percentiles)),
    flag("r", "SECONDS", "Width of the histogram's smallest buckets [0.001]", set!(resolution = amount)),
    flag("H", "KEY:VALUE", "A header field; any number of times", |typed, text| {
        typed.headers.push(text.to_owned());
        Ok(())
    }),
    flag("X", "METHOD", "The method [GET, or POST with a body]", set!(method = text)),
    flag("payload", "TEXT", "The body", set!(payload = text)),
    flag("payload-file", "FILE", "The body, from a file", set!(payload_file = text)),
    flag(
        "content-type",
        "TYPE",
        "The Content-Type field; the method is then POST",
        set!(content_type = text),
    ),
    flag("user", "NAME:PASSWORD", "Basic authentication", set!(user = text)),
    flag("json", "FILE", "The result as fortio's JSON (- for stdout)", set!(result = text)),
    flag("labels", "TEXT", "Labels in that JSON", set!(labels = plain)),
    flag("keepalive", "", "Keep connections [true]", set!(keep_alive = switch)),
    flag("k", "", "Do not verify the server's certificate", set!(insecure = switch)),
    flag("https-insecure", "", "The same", set!(insecure = switch)),
    flag("cacert", "FILE", "Certificates to trust", set!(ca = text)),
    flag("cert", "FILE", "The client's certificate", set!(certificate = text)),
    flag("key", "FILE", "Its key", set!(key = text)),
    flag("timeout", "TIME", "Time limit of connecting and of a request [3s]", set!(timeout = time)),
    flag("http1.0", "", "HTTP/1.0", set!(http10 = switch)),
    flag("h2", "", "HTTP/2, over TLS or without", set!(http2 = switch)),
    flag("L", "", "Follow redirections", set!(follow = switch)),
    flag("compression", "", "Ask for gzip", set!(compression = switch)),
    flag(
        "nocatchup",
        "",
        "What is due while all connections are busy is not sent later",
        set!(no_catch_up = switch),
    ),
    flag("jitter", "", "With -nocatchup: gaps vary by a tenth", set!(jitter = switch)),
    flag("uniform", "", "Connections do not send together; they never do here", |_, _| Ok(())),
    flag("quiet", "", "Fewer lines", set!(quiet = switch)),
    flag("gomaxprocs", "N", "Cores to use [all]", set!(cores = some_number)),
    flag("allow-initial-errors", "", "Go on after errors, as is always done here", |_, _| Ok(())),
    flag("stdclient", "", "No effect", |typed, _| {
        no_effect(typed, "-stdclient has no effect: there is one client here")
    }),
    flag("loglevel", "LEVEL", "No effect", |typed, _| {
        no_effect(typed, "-loglevel has no effect: errors are told at the end")
    }),
    flag("log-errors", "", "No effect", |typed, _| {
        no_effect(typed, "-log-errors has no effect: errors are told at the end")
    }),
    flag("a", "", "Refused: give -json FILE", |_, _| {
        refuse("-json FILE: names of files are not made up here")
    }),
    flag("abort-on", "CODE", "Refused", |_, _| refuse("no -abort-on: wringer http has --stop-if")),
    flag("connection-reuse", "MIN:MAX", "Refused", |_, _| {
        refuse("no -connection-reuse: wringer http has --keep-alive N")
    }),
    flag("grpc", "", "Refused: wringer http has --grpc", |_, _| refuse("no -grpc: wringer http has --grpc")),
    flag("payload-size", "N", "Refused: give -payload or -payload-file", |_, _| {
        refuse("-payload or -payload-file instead")
    }),
    flag("resolve", "IP", "Refused: wringer http has --connect-to", |_, _| {
        refuse("no -resolve: wringer http has --connect-to")
    }),
    flag("unix-socket", "FILE", "Refused: wringer http has --unix-socket", |_, _| {
        refuse("no -unix-socket: wringer http has --unix-socket")
    }),
    flag("result-json", "FILE", "Not in fortio: write wringer's result as JSON, too", set!(json = text)),
    flag("show-plan", "", "Not in fortio: print what this means, and run nothing", set!(show_plan = switch)),
];

/// The usage text.
pub(super) fn usage() -> String {
    format!("Usage: fortio load [flags] URL\n\n{}", goflag::help(FLAGS))
}

/// Why there is no test.
pub(super) fn refused(complaint: &str) -> ToolShown {
    ToolShown::refused(format!("fortio: {complaint}\n"), 1)
}

/// Reads the words after the tool's name. Flags may stand in front of `load`, too.
///
/// # Errors
/// The usage text, and what was wrong.
pub(super) fn read(args: &[OsString]) -> Result<FortioTyped, ToolShown> {
    let mut typed = FortioTyped::default();
    let wrong = |wrong: Wrong| match wrong {
        Wrong::Help => ToolShown::told(usage()),
        Wrong::Line(why) => goflag::refused("fortio", &why, "See fortio load -h\n", 1),
    };
    let words = goflag::read(FLAGS, args, &mut typed).map_err(wrong)?;
    match words.split_first() {
        None => Err(ToolShown::refused(usage(), 1)),
        Some((command, rest)) if command == "load" => {
            let rest: Vec<OsString> = rest.iter().map(OsString::from).collect();
            let mut operands = goflag::read(FLAGS, &rest, &mut typed).map_err(wrong)?.into_iter();
            typed.url = operands.next().ok_or_else(|| refused("give a URL: fortio load [flags] URL"))?;
            typed.unread = operands.collect();
            Ok(typed)
        }
        Some((command, _)) => Err(refused(&format!(
            "{command} is not spoken here: load is (servers are wringer origin, one request is \
             wringer http -v, kept runs are wringer serve)"
        ))),
    }
}
