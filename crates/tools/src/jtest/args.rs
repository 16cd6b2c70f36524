//! Stage one: what was typed, read as the old tool reads it. What it means is [`super::plan`]'s business.
//!
//! One table row per switch feeds the environment, the parser, the usage text and the default. Start at [`read`].

use super::number;
use super::shown;
use crate::ToolShown;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fmt::Write;

/// URLs on the command line at most.
pub(super) const MAX_URLS: usize = 100;

/// Where a switch's value lives in [`Typed`], and so how it is written.
pub(super) enum JtestSlot {
    Int(fn(&mut Typed) -> &mut i64),
    Real(fn(&mut Typed) -> &mut f64),
    /// A text, kept whole (the old tool cut hosts after 79 bytes and files after 255).
    Text(fn(&mut Typed) -> &mut String),
    /// A switch that sets true.
    On(fn(&mut Typed) -> &mut bool),
    /// A switch that sets false.
    Off(fn(&mut Typed) -> &mut bool),
}

/// In which mode a switch has an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JtestScope {
    /// With the synthetic documents and with URLs.
    Both,
    /// Only with the synthetic documents.
    Documents,
    /// Only with URLs.
    Urls,
}

/// One switch: a row of the table.
pub(super) struct Switch {
    pub name: &'static str,
    /// A blank where there is no short form.
    pub short: char,
    pub slot: JtestSlot,
    /// Empty for our additions, which have none.
    pub env: &'static str,
    pub scope: JtestScope,
    help: &'static str,
}

impl Switch {
    fn takes_value(&self) -> bool {
        !matches!(self.slot, JtestSlot::On(_) | JtestSlot::Off(_))
    }

    fn is_ours(&self) -> bool {
        self.env.is_empty()
    }

    /// How messages name the switch.
    pub fn label(&self) -> String {
        if self.short == ' ' { format!("--{}", self.name) } else { format!("-{}", self.short) }
    }
}

macro_rules! switches {
    (@type int) => { i64 };
    (@type dbl) => { f64 };
    (@type on) => { bool };
    (@type off) => { bool };
    (@type str) => { String };
    (@slot int $field:ident) => { JtestSlot::Int(|typed| &mut typed.$field) };
    (@slot dbl $field:ident) => { JtestSlot::Real(|typed| &mut typed.$field) };
    (@slot on $field:ident) => { JtestSlot::On(|typed| &mut typed.$field) };
    (@slot off $field:ident) => { JtestSlot::Off(|typed| &mut typed.$field) };
    (@slot str $field:ident) => { JtestSlot::Text(|typed| &mut typed.$field) };
    ($($name:literal $short:literal $field:ident: $kind:tt = $default:expr,
        $env:literal, $scope:ident, $help:literal;)+) => {
        /// The command line as typed: a value per switch, and the words after the last one.
        #[derive(Debug, Clone)]
        pub(super) struct Typed {
            $(pub $field: switches!(@type $kind),)+
            /// Names of the switches that were given, in the environment or as arguments.
            pub given: BTreeSet<&'static str>,
            /// The first word that is no switch, and everything after it.
            pub urls: Vec<String>,
            /// Notices about values read differently than they may have been meant.
            pub notices: Vec<String>,
        }

        impl Default for Typed {
            fn default() -> Typed {
                Typed {
                    $($field: $default.into(),)+
                    given: BTreeSet::new(),
                    urls: Vec::new(),
                    notices: Vec::new(),
                }
            }
        }

        /// Every switch, in the order of the usage text.
        pub(super) static SWITCHES: &[Switch] = &[$(Switch {
            name: $name,
            short: $short,
            slot: switches!(@slot $kind $field),
            env: $env,
            scope: JtestScope::$scope,
            help: $help,
        },)+];
    };
}

switches! {
    "proxy_port"        'p' proxy_port: int = 8080, "JTEST_PROXY_PORT", Both, "Proxy Port";
    "proxy_host"        'P' proxy_host: str = "localhost", "JTEST_PROXY_HOST", Both, "Proxy Host";
    "server_port"       's' server_port: int = 0, "JTEST_SERVER_PORT", Documents, "Server Port (0:auto select)";
    "server_host"       'S' server_host: str = "", "JTEST_SERVER_HOST", Both, "Server Host (null:localhost)";
    "server_speed"      'r' server_speed: int = 0, "JTEST_SERVER_SPEED", Documents, "Server Bytes Per Second (0:unlimit)";
    "server_delay"      'w' server_delay: int = 0, "JTEST_SERVER_INITIAL_DELAY", Documents, "Server Initial Delay (msec)";
    "clients"           'c' clients: int = 100, "JTEST_CLIENTS", Both, "Clients";
    "client_speed"      'R' client_speed: int = 0, "JTEST_CLIENT_SPEED", Documents, "Client Bytes Per Second (0:unlimit)";
    "sbuffersize"       'b' sbuffersize: int = 4096, "JTEST_SERVER_BUFSIZE", Both, "Server Buffer Size";
    "cbuffersize"       'B' cbuffersize: int = 2048, "JTEST_CLIENT_BUFSIZE", Both, "Client Buffer Size";
    "average_over"      'a' average_over: int = 5, "JTEST_AVERAGE_OVER", Both, "Seconds to Average Over";
    "hitrate"           'z' hitrate: dbl = 0.4, "JTEST_HITRATE", Documents, "Hit Rate";
    "hotset"            'Z' hotset: int = 1000, "JTEST_HOTSET", Documents, "Hotset Size";
    "interval"          'i' interval: int = 1, "JTEST_INTERVAL", Both, "Reporting Interval (seconds)";
    "keepalive"         'k' keepalive: int = 4, "JTEST_KEEPALIVE", Both, "Keep-Alive Length";
    "keepalive_cons"    'K' keepalive_cons: int = 4, "JTEST_KEEPALIVE_CONNECTIONS", Urls, "# Keep-Alive Connections (0:unlimit)";
    "docsize"           'L' docsize: int = -1, "JTEST_DOCSIZE", Documents, "Document Size (-1:varied)";
    "skeepalive"        'j' skeepalive: int = 4, "JTEST_SERVER_KEEPALIVE", Documents, "Server Keep-Alive (0:unlimit)";
    "show_urls"         'x' show_urls: on = false, "JTEST_SHOW_URLS", Both, "Show URLs before they are accessed";
    "show_headers"      'X' show_headers: on = false, "JTEST_SHOW_HEADERS", Both, "Show Headers";
    "ftp"               'f' ftp: on = false, "JTEST_FTP", Both, "FTP Requests";
    "ftp_mdtm_err_rate" ' ' ftp_mdtm_err_rate: dbl = 0.0, "JTEST_FTP_MDTM_ERR_RATE", Both, "FTP MDTM 550 Error Rate";
    "ftp_mdtm_rate"     ' ' ftp_mdtm_rate: int = 0, "JTEST_FTP_MDTM_RATE", Both, "FTP MDTM Update Rate (sec, 0:never)";
    "fullpage"          'l' fullpage: on = false, "JTEST_FULLPAGE", Urls, "Full Page (Images)";
    "follow"            'F' follow: on = false, "JTEST_FOLLOW", Urls, "Follow Links";
    "same_host"         'J' same_host: on = false, "JTEST_FOLLOW_SAME", Urls, "Only follow URLs on same host";
    "test_time"         't' test_time: int = 0, "TEST_TIME", Both, "run for N seconds (0:unlimited)";
    "urls"              'u' url_file: str = "", "JTEST_URLS", Both, "URLs from File";
    "urlsdump"          'U' urlsdump: str = "", "JTEST_URLS_DUMP", Urls, "URLs to File";
    "hostrequest"       'H' hostrequest: int = 0, "JTEST_HOST_REQUEST", Documents, "Host Request(1=yes,2=transparent)";
    "check_content"     'C' check_content: on = false, "JTEST_CHECK_CONTENT", Both, "Check returned content";
    "nocheck_length"    ' ' nocheck_length: on = false, "JTEST_NOCHECK_LENGTH", Both, "Don't check returned length";
    "obey_redirects"    'm' obey_redirects: off = true, "JTEST_OBEY_REDIRECTS", Urls, "Obey Redirects";
    "embed URL"         'M' embed_url: off = true, "JTEST_EMBED_URL", Documents, "Embed URL in synth docs";
    "url_hash_entries"  'q' url_hash_entries: int = 1_000_000, "JTEST_URL_HASH_ENTRIES", Urls, "URL Hash Table Size (-1:use file size)";
    "url_hash_filename" 'Q' url_hash_filename: str = "", "JTEST_URL_HASH_FILENAME", Urls, "URL Hash Table Filename";
    "only_clients"      'y' only_clients: on = false, "JTEST_ONLY_CLIENTS", Both, "Only Clients";
    "only_server"       'Y' only_server: on = false, "JTEST_ONLY_SERVER", Documents, "Only Server";
    "bandwidth_test"    'A' bandwidth_test: int = 0, "JTEST_BANDWIDTH_TEST", Both, "Bandwidth Test";
    "drop_after_CL"     'T' drop_after_cl: on = false, "JTEST_DROP", Both, "Drop after Content-Length";
    "verbose"           'v' verbose: on = false, "JTEST_VERBOSE", Both, "Verbose Flag";
    "verbose_errors"    'E' verbose_errors: off = true, "JTEST_VERBOSE_ERRORS", Both, "Verbose Errors Flag";
    "drand"             'D' drand: int = 0, "JTEST_DRAND", Both, "Random Number Seed";
    "ims_rate"          'I' ims_rate: dbl = 0.5, "JTEST_IMS_RATE", Documents, "IMS Not-Changed Rate";
    "client_abort_rate" 'g' client_abort_rate: dbl = 0.0, "JTEST_CLIENT_ABORT_RATE", Documents, "Client Abort Rate";
    "server_abort_rate" 'G' server_abort_rate: dbl = 0.0, "JTEST_SERVER_ABORT_RATE", Documents, "Server Abort Rate";
    "extra_headers"     'n' extra_headers: int = 0, "JTEST_EXTRA_HEADERS", Both, "Number of Extra Headers";
    "alternates"        'N' alternates: int = 0, "JTEST_ALTERNATES", Documents, "Number of Alternates";
    "client_rate"       'e' client_rate: int = 0, "JTEST_CLIENT_RATE", Both, "Clients Per Sec";
    "abort_retry_speed" 'o' abort_retry_speed: int = 0, "JTEST_ABORT_RETRY_SPEED", Documents, "Abort/Retry Speed";
    "abort_retry_bytes" ' ' abort_retry_bytes: int = 0, "JTEST_ABORT_RETRY_THRESHHOLD_BYTES", Documents, "Abort/Retry Threshold (bytes)";
    "abort_retry_secs"  ' ' abort_retry_secs: int = 5, "JTEST_ABORT_RETRY_THRESHHOLD_SECS", Documents, "Abort/Retry Threshold (secs)";
    "reload_rate"       'W' reload_rate: dbl = 0.0, "JTEST_RELOAD_RATE", Both, "Reload Rate";
    "compd_port"        'O' compd_port: int = 0, "JTEST_COMPD_PORT", Both, "Compd port";
    "compd_suite"       '1' compd_suite: on = false, "JTEST_COMPD_SUITE", Both, "Compd Suite";
    "vary_user_agent"   '2' vary_user_agent: int = 0, "JTEST_VARY_ON_USER_AGENT", Both, "Vary on User-Agent (use w/ alternates)";
    "content_type"      '3' content_type: int = 0, "JTEST_CONTENT_TYPE", Documents, "Server Content-Type (1 html, 2 jpeg)";
    "request_extension" '4' request_extension: int = 0, "JTEST_REQUEST_EXTENSION", Documents, "Request Extn (1\".html\" 2\".jpeg\" 3\"/\")";
    "no_cache"          '5' no_cache: int = 0, "JTEST_NO_CACHE", Documents, "Send Server no-cache";
    "zipf_bucket"       '7' zipf_bucket: int = 1, "JTEST_ZIPF_BUCKET_SIZE", Both, "Bucket size (of 1M buckets) for Zipf";
    "zipf"              '8' zipf: dbl = 0.0, "JTEST_ZIPF", Documents, "Use a Zipf distribution with this alpha (say 1.2)";
    "evo_rate"          '9' evo_rate: dbl = 0.0, "JTEST_EVOLVING_HOTSET_RATE", Documents, "Evolving Hotset Rate (evolutions/hour)";
    "debug"             'd' debug: on = false, "JTEST_DEBUG", Both, "Debug Flag";
    "range_mode"        ' ' range_mode: int = 0, "JTEST_RANGE_MODE", Documents, "Range Mode";
    "post_support"      ' ' post_support: int = 0, "JTEST_POST_MODE", Documents, "POST Mode (0 disable(default), 1 random, 2 specified size by post_size)";
    "post_size"         ' ' post_size: int = 0, "JTEST_POST_SIZE", Documents, "POST SIZE";
    // Ours.
    "threads"           ' ' threads: int = 0, "", Both, "Threads (0: one for each core)";
    "io"                ' ' io: str = "auto", "", Both, "auto, uring or epoll";
    "timeout"           ' ' timeout: str = "30s", "", Both, "A request that takes longer is an error";
    "urls-order"        ' ' urls_order: str = "once", "", Urls, "once, loop or random";
    "old-averages"      ' ' old_averages: on = false, "", Both, "Average over -a intervals, starting at zero, as jtest did";
    "json"              ' ' json: str = "", "", Both, "Result as JSON to File";
    "show-plan"         ' ' show_plan: on = false, "", Both, "Print what this command line means, and end";
}

/// The words still to be read.
type Words = VecDeque<String>;

/// Reads the environment, then the arguments.
///
/// # Errors
/// The text to be shown instead of a run: usage, version, or one line about a value that is none.
pub(super) fn read(args: &[OsString], env: &dyn Fn(&str) -> Option<String>) -> Result<Typed, ToolShown> {
    let mut typed = Typed::default();
    read_environment(&mut typed, env)?;
    let mut words = args.iter().map(text_of).collect::<Result<Words, ToolShown>>()?;
    while let Some(word) = words.pop_front() {
        match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) if long.starts_with("run-root") => {}
            (Some(long), _) => read_long(&mut typed, long, &mut words)?,
            (None, Some(cluster)) if !cluster.is_empty() => read_cluster(&mut typed, cluster, &mut words)?,
            _ => {
                typed.urls.push(word);
                typed.urls.extend(words.drain(..));
            }
        }
    }
    match typed.urls.len() {
        0..=MAX_URLS => Ok(typed),
        count => Err(shown::failed(format!(
            "{count} URLs as arguments, at most {MAX_URLS} are taken: write them into a file and give it with -u"
        ))),
    }
}

fn text_of(word: &OsString) -> Result<String, ToolShown> {
    let refuse = || shown::refused(format!("argument '{}' is not UTF-8", word.to_string_lossy()));
    word.to_str().map(str::to_owned).ok_or_else(refuse)
}

/// An empty variable counts as one that is not set.
fn read_environment(typed: &mut Typed, env: &dyn Fn(&str) -> Option<String>) -> Result<(), ToolShown> {
    for switch in SWITCHES.iter().filter(|switch| !switch.is_ours()) {
        if let Some(value) = env(switch.env).filter(|value| !value.is_empty()) {
            put(typed, switch, switch.env, &value)?;
        }
    }
    Ok(())
}

fn read_long(typed: &mut Typed, word: &str, words: &mut Words) -> Result<(), ToolShown> {
    match word {
        "help" => return Err(shown::usage(usage(typed))),
        "version" => return Err(shown::version()),
        _ => {}
    }
    let (name, attached) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    };
    let Some(switch) = SWITCHES.iter().find(|switch| switch.name == name) else {
        return Err(misuse(typed, &format!("unknown switch '--{word}'")));
    };
    match attached {
        // The old tool knew no attached values; ours are not to be stricter than people expect today.
        Some(_) if !switch.is_ours() => {
            Err(misuse(typed, &format!("'--{word}': the value is a word of its own, as in '--{name} VALUE'")))
        }
        Some(_) if !switch.takes_value() => Err(misuse(typed, &format!("--{name} takes no value"))),
        Some(value) => put(typed, switch, &format!("--{name}"), &value),
        None => read_value(typed, switch, &format!("--{name}"), "", words).map(|_| ()),
    }
}

/// Reads `yC` or `yc10`: a value takes the rest of the word, or else the next word as it is.
fn read_cluster(typed: &mut Typed, cluster: &str, words: &mut Words) -> Result<(), ToolShown> {
    let mut letters = cluster.chars();
    while let Some(letter) = letters.next() {
        match letter {
            'h' => return Err(shown::usage(usage(typed))),
            'V' => return Err(shown::version()),
            _ => {}
        }
        let known = SWITCHES.iter().find(|switch| switch.short == letter && letter != ' ');
        let Some(switch) = known else {
            return Err(misuse(typed, &format!("unknown switch '-{letter}'")));
        };
        if read_value(typed, switch, &format!("-{letter}"), letters.as_str(), words)? {
            break;
        }
    }
    Ok(())
}

/// Reads what belongs to a switch; true where it took a value, and with it the rest of the word.
fn read_value(
    typed: &mut Typed,
    switch: &'static Switch,
    label: &str,
    rest: &str,
    words: &mut Words,
) -> Result<bool, ToolShown> {
    typed.given.insert(switch.name);
    match switch.slot {
        JtestSlot::On(flag) => *flag(typed) = true,
        JtestSlot::Off(flag) => *flag(typed) = false,
        _ if !rest.is_empty() => put(typed, switch, label, rest)?,
        _ => match words.pop_front() {
            Some(value) => put(typed, switch, label, &value)?,
            None => return Err(misuse(typed, &format!("{label} needs a value"))),
        },
    }
    Ok(switch.takes_value())
}

/// Stores a value; `label` says in messages where it came from.
fn put(typed: &mut Typed, switch: &'static Switch, label: &str, text: &str) -> Result<(), ToolShown> {
    typed.given.insert(switch.name);
    match switch.slot {
        JtestSlot::Int(place) => *place(typed) = whole_number(typed, label, text)?,
        JtestSlot::Real(place) => {
            let read = number::real(text).ok_or_else(|| no_number(label, text))?;
            if !read.whole {
                typed.notices.push(format!("{label} '{text}' is taken as {}", read.value));
            }
            *place(typed) = read.value;
        }
        JtestSlot::Text(place) => *place(typed) = text.to_owned(),
        // Only the environment gives a value to these, and it is the value itself even for those that switch off.
        JtestSlot::On(place) | JtestSlot::Off(place) => {
            *place(typed) = whole_number(typed, label, text)? != 0
        }
    }
    Ok(())
}

fn whole_number(typed: &mut Typed, label: &str, text: &str) -> Result<i64, ToolShown> {
    let read = number::int(text).ok_or_else(|| no_number(label, text))?;
    if !read.whole {
        typed.notices.push(format!("{label} '{text}' is taken as {}", read.value));
    }
    Ok(read.value)
}

fn no_number(label: &str, text: &str) -> ToolShown {
    shown::refused(format!("{label} '{text}': that is not a number"))
}

/// The usage text and, under it, why it is shown.
fn misuse(typed: &Typed, why: &str) -> ToolShown {
    shown::usage(format!("{}jtest: {why}\n", usage(typed)))
}

/// The usage text; the "default" of each switch is what has been read so far, as in the old tool.
pub(super) fn usage(typed: &Typed) -> String {
    let (ours, theirs): (Vec<_>, Vec<_>) = SWITCHES.iter().partition(|switch| switch.is_ours());
    let mut text = String::from("Usage: jtest [--SWITCH [ARG]]\n");
    text += "  switch__________________type__default___description\n";
    theirs.iter().for_each(|switch| usage_row(&mut text, switch, typed));
    text += "  -h, --help                              Print usage information\n";
    text += "  -V, --version                           Print version string\n";
    text += "  added here______________type__default___description\n";
    ours.iter().for_each(|switch| usage_row(&mut text, switch, typed));
    text
}

fn usage_row(text: &mut String, switch: &Switch, typed: &Typed) {
    let mut typed = typed.clone();
    let (kind, value) = match switch.slot {
        JtestSlot::Int(place) => ("int", place(&mut typed).to_string()),
        JtestSlot::Real(place) => ("dbl", format!("{:.3}", place(&mut typed))),
        JtestSlot::Text(place) => ("str", place(&mut typed).clone()),
        JtestSlot::On(place) => ("on", place(&mut typed).to_string()),
        JtestSlot::Off(place) => ("off", place(&mut typed).to_string()),
    };
    let Switch { short, name, help, .. } = switch;
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  -{short}, --{name:<17} {kind:<5} {value:<9} {help}");
}
