//! Stage one: what was typed. What it means is [`super::plan`]'s business.

use super::{BombardierClient, BombardierParts};
use crate::ToolShown;
use crate::getopt::{self, GetoptRead, GetoptRow, on, set, switch, text, value};
use crate::goflag::time;
use std::ffi::OsString;
use std::time::Duration;

/// The command line as typed.
#[derive(Debug, Clone)]
pub(super) struct BombardierTyped {
    pub connections: u64,
    pub timeout: Duration,
    pub latencies: bool,
    pub method: String,
    pub body: Option<String>,
    pub body_file: Option<String>,
    pub stream: bool,
    pub certificate: Option<String>,
    pub key: Option<String>,
    pub insecure: bool,
    pub no_keep_alive: bool,
    pub headers: Vec<String>,
    pub requests: Option<u64>,
    pub duration: Option<Duration>,
    pub rate: Option<u64>,
    pub client: BombardierClient,
    pub parts: BombardierParts,
    pub format: BombardierFormat,
    /// Ours.
    pub json: Option<String>,
    pub show_plan: bool,
    pub url: String,
}

/// The form of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BombardierFormat {
    Text,
    Json,
}

impl Default for BombardierTyped {
    fn default() -> BombardierTyped {
        BombardierTyped {
            connections: 125,
            timeout: Duration::from_secs(2),
            latencies: false,
            method: "GET".to_owned(),
            body: None,
            body_file: None,
            stream: false,
            certificate: None,
            key: None,
            insecure: false,
            no_keep_alive: false,
            headers: Vec::new(),
            requests: None,
            duration: None,
            rate: None,
            client: BombardierClient::default(),
            parts: BombardierParts { intro: true, progress: true, result: true },
            format: BombardierFormat::Text,
            json: None,
            show_plan: false,
            url: String::new(),
        }
    }
}

fn positive(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "a whole number above 0".to_owned())
}

fn some_positive(text: &str) -> Result<Option<u64>, String> {
    positive(text).map(Some)
}

fn lasting(text: &str) -> Result<Option<Duration>, String> {
    let time = time(text).ok().filter(|time| *time >= Duration::from_secs(1));
    time.map(Some).ok_or_else(|| "at least 1s, such as 10s or 1m30s".to_owned())
}

fn parts(text: &str) -> Result<BombardierParts, String> {
    let mut parts = BombardierParts { intro: false, progress: false, result: false };
    for part in text.split(',') {
        match part.trim() {
            "i" | "intro" => parts.intro = true,
            "p" | "progress" => parts.progress = true,
            "r" | "result" => parts.result = true,
            _ => return Err("some of intro, progress and result, with commas".to_owned()),
        }
    }
    Ok(parts)
}

fn format(text: &str) -> Result<BombardierFormat, String> {
    match text {
        "pt" | "plain-text" => Ok(BombardierFormat::Text),
        "j" | "json" => Ok(BombardierFormat::Json),
        _ => Err("plain-text or json: templates of Go's are not read here".to_owned()),
    }
}

fn client(typed: &mut BombardierTyped, client: BombardierClient) -> Result<(), String> {
    typed.client = client;
    Ok(())
}

/// Every option, in the order of the usage text.
static OPTIONS: &[GetoptRow<BombardierTyped>] = &[
    value("connections", 'c', "N", "Connections at once [125]", set!(connections = positive)),
    value("timeout", 't', "TIME", "Time limit of connecting and of a request [2s]", set!(timeout = time)),
    switch("latencies", 'l', "Tell percentiles of the times", on!(latencies)),
    value("method", 'm', "METHOD", "The method [GET]", |typed, text| {
        text.clone_into(&mut typed.method);
        Ok(())
    }),
    value("body", 'b', "TEXT", "The body", set!(body = text)),
    value("body-file", 'f', "FILE", "The body, from a file", set!(body_file = text)),
    switch("stream", 's', "The body in chunks: refused here", on!(stream)),
    value("cert", ' ', "FILE", "The client's certificate", set!(certificate = text)),
    value("key", ' ', "FILE", "Its key", set!(key = text)),
    switch("insecure", 'k', "Do not verify the server's certificate", on!(insecure)),
    switch("disableKeepAlives", 'a', "A new connection for each request", on!(no_keep_alive)),
    value("header", 'H', "'K: V'", "A header field; any number of times", |typed, text| {
        typed.headers.push(text.to_owned());
        Ok(())
    }),
    value("requests", 'n', "N", "End after so many requests", set!(requests = some_positive)),
    value("duration", 'd', "TIME", "End after so long [10s]", set!(duration = lasting)),
    value("rate", 'r', "N", "Requests per second in all [no limit]", set!(rate = some_positive)),
    switch("fasthttp", ' ', "Fields as of the client fasthttp [the default]", |typed, _| {
        client(typed, BombardierClient::FastHttp)
    }),
    switch("http1", ' ', "Fields as of Go's client, over HTTP/1.1", |typed, _| {
        client(typed, BombardierClient::Http1)
    }),
    switch("http2", ' ', "Fields as of Go's client, over HTTP/2", |typed, _| {
        client(typed, BombardierClient::Http2)
    }),
    value(
        "print",
        'p',
        "PARTS",
        "Parts of the output: intro, progress, result, or i, p, r [all]",
        set!(parts = parts),
    ),
    switch("no-print", 'q', "Print nothing", |typed, _| {
        typed.parts = BombardierParts { intro: false, progress: false, result: false };
        Ok(())
    }),
    value("format", 'o', "FORM", "The result's form: plain-text or json [plain-text]", set!(format = format)),
    GetoptRow {
        ours: true,
        ..value("result-json", ' ', "FILE", "Write wringer's result as JSON, too", set!(json = text))
    },
    GetoptRow {
        ours: true,
        ..switch("show-plan", ' ', "Print what this means, and run nothing", on!(show_plan))
    },
    // Whoever reads the options looks for them.
    switch(VERSION, ' ', "Show the version", |_, _| Ok(())),
    switch(HELP, ' ', "Show this", |_, _| Ok(())),
];

const HELP: &str = "help";
const VERSION: &str = "version";

/// The usage text.
pub(super) fn usage() -> String {
    let line = |row: &GetoptRow<BombardierTyped>| {
        let short = if row.short == ' ' { "    ".to_owned() } else { format!("-{}, ", row.short) };
        let long = format!("--{} {}", row.long, row.shown);
        let ours = if row.ours { "Not in bombardier: " } else { "" };
        format!("  {short}{long:<24}{ours}{}\n", row.help)
    };
    let options: String = OPTIONS.iter().map(line).collect();
    format!("usage: bombardier [<flags>] <url>\n\nFlags:\n{options}")
}

/// Why there is no test.
pub(super) fn refused(complaint: &str) -> ToolShown {
    ToolShown::refused(format!("bombardier: {complaint}\n"), 1)
}

/// Reads the words after the tool's name, options anywhere among them.
///
/// # Errors
/// The usage text, the version, or what was wrong.
pub(super) fn read(args: &[OsString]) -> Result<BombardierTyped, ToolShown> {
    let words = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (options, operands) = getopt::read(&OPTIONS.iter().collect::<Vec<_>>(), words);
    let mut typed = BombardierTyped::default();
    for option in options {
        match option {
            GetoptRead::Option { row, .. } if row.long == HELP => return Err(ToolShown::told(usage())),
            GetoptRead::Option { row, .. } if row.long == VERSION => {
                return Err(ToolShown::told(format!(
                    "bombardier, as wringer {} speaks it\n",
                    env!("CARGO_PKG_VERSION")
                )));
            }
            GetoptRead::Option { row, label, value } => {
                let shown =
                    if row.long == "header" { plan::secret::shown_line(&value) } else { value.clone() };
                (row.set)(&mut typed, &value)
                    .map_err(|wanted| refused(&format!("{label} '{shown}': give {wanted}")))?;
            }
            GetoptRead::OptionError(wrong) => return Err(refused(&format!("{}, try --help", wrong.text()))),
        }
    }
    match operands.as_slice() {
        [url] => Ok(BombardierTyped { url: url.clone(), ..typed }),
        [] => Err(refused("required argument 'url' not provided, try --help")),
        [_, more, ..] => Err(refused(&format!("unexpected {more}, try --help"))),
    }
}
