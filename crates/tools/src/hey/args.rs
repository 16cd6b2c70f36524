//! Stage one: what was typed. What it means is [`super::plan`]'s business.

use crate::ToolShown;
use crate::goflag::{self, Flag, Wrong, flag, is_on, number, plain, set, some_number, text, time};
use std::ffi::OsString;
use std::time::Duration;

/// The command line as typed.
#[derive(Debug, Clone)]
pub(super) struct HeyTyped {
    pub requests: u64,
    pub workers: u64,
    /// Requests per second of each worker; 0: as fast as it goes.
    pub rate: f64,
    pub duration: Option<Duration>,
    pub output: String,
    pub method: String,
    pub headers: Vec<String>,
    /// 0: none.
    pub timeout_s: u64,
    pub accept: Option<String>,
    pub body: Option<String>,
    pub body_file: Option<String>,
    pub content_type: String,
    pub user_agent: Option<String>,
    pub user: Option<String>,
    pub proxy: Option<String>,
    pub http2: bool,
    pub host: Option<String>,
    pub no_compression: bool,
    pub no_keep_alive: bool,
    pub no_redirects: bool,
    pub cpus: Option<u64>,
    /// Ours.
    pub json: Option<String>,
    pub show_plan: bool,
    pub url: String,
    /// Words behind the URL.
    pub unread: Vec<String>,
}

impl Default for HeyTyped {
    fn default() -> HeyTyped {
        HeyTyped {
            requests: 200,
            workers: 50,
            rate: 0.0,
            duration: None,
            output: String::new(),
            method: "GET".to_owned(),
            headers: Vec::new(),
            timeout_s: 20,
            accept: None,
            body: None,
            body_file: None,
            content_type: "text/html".to_owned(),
            user_agent: None,
            user: None,
            proxy: None,
            http2: false,
            host: None,
            no_compression: false,
            no_keep_alive: false,
            no_redirects: false,
            cpus: None,
            json: None,
            show_plan: false,
            url: String::new(),
            unread: Vec::new(),
        }
    }
}

/// Switches.
macro_rules! on {
    ($field:ident) => {
        |typed, text| {
            typed.$field = is_on(text);
            Ok(())
        }
    };
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate >= 0.0);
    rate.ok_or_else(|| "requests per second, such as 100".to_owned())
}

fn lasting(text: &str) -> Result<Option<Duration>, String> {
    time(text).map(|time| Some(time).filter(|time| !time.is_zero()))
}

/// Every flag, in the order of the usage text.
static FLAGS: &[Flag<HeyTyped>] = &[
    flag("n", "N", "Requests in all, shared evenly among the workers [200]", set!(requests = number)),
    flag("c", "N", "Workers, each with one request under way [50]", set!(workers = number)),
    flag("q", "RATE", "Requests per second of each worker [no limit]", set!(rate = rate)),
    flag(
        "z",
        "TIME",
        "How long it lasts, such as 10s or 3m; -n then does not count",
        set!(duration = lasting),
    ),
    flag("o", "csv", "A row for each answer, instead of the summary", set!(output = plain)),
    flag("m", "METHOD", "The method [GET]", set!(method = plain)),
    flag("H", "FIELD", "A header field, 'Name: value'; any number of times", |typed, text| {
        typed.headers.push(text.to_owned());
        Ok(())
    }),
    flag("t", "SECONDS", "Time limit of a request; 0 for none [20]", set!(timeout_s = number)),
    flag("A", "TEXT", "The Accept field", set!(accept = text)),
    flag("d", "TEXT", "The body", set!(body = text)),
    flag("D", "FILE", "The body, from a file", set!(body_file = text)),
    flag("T", "TYPE", "The Content-Type field [text/html]", set!(content_type = plain)),
    flag("U", "TEXT", "The User-Agent field; hey's own name follows it", set!(user_agent = text)),
    flag("a", "NAME:PASSWORD", "Basic authentication", set!(user = text)),
    flag("x", "HOST:PORT", "An HTTP proxy", set!(proxy = text)),
    flag("h2", "", "HTTP/2, over TLS", on!(http2)),
    flag("host", "HOST", "The Host field", set!(host = text)),
    flag("disable-compression", "", "Do not ask for gzip", on!(no_compression)),
    flag("disable-keepalive", "", "A new connection for each request", on!(no_keep_alive)),
    flag("disable-redirects", "", "Do not follow redirections", on!(no_redirects)),
    flag("cpus", "N", "Cores to use [all]", set!(cpus = some_number)),
    flag("json", "FILE", "Not in hey: write the result as JSON, too (- for stdout)", set!(json = text)),
    flag("show-plan", "", "Not in hey: print what this means, and run nothing", on!(show_plan)),
];

/// The usage text.
pub(super) fn usage() -> String {
    format!("Usage: hey [options...] <url>\n\n{}", goflag::help(FLAGS))
}

/// Why there is no test, with the usage text.
pub(super) fn refused(complaint: &str) -> ToolShown {
    goflag::refused("hey", complaint, &usage(), 1)
}

/// Reads the words after the tool's name.
///
/// # Errors
/// The usage text, and what was wrong.
pub(super) fn read(args: &[OsString]) -> Result<HeyTyped, ToolShown> {
    let mut typed = HeyTyped::default();
    let mut words = match goflag::read(FLAGS, args, &mut typed) {
        Ok(words) => words.into_iter(),
        Err(Wrong::Help) => return Err(ToolShown::told(usage())),
        Err(Wrong::Line(why)) => return Err(goflag::refused("hey", &why, &usage(), 2)),
    };
    let Some(url) = words.next() else { return Err(refused("give a URL")) };
    typed.url = url;
    typed.unread = words.collect();
    Ok(typed)
}
