//! Stage one: what was typed, read as ab reads it: short options only, in clusters, values attached or apart, and the first
//! word that is no option ends them. What it means is [`super::plan`]'s business, but for what depends on the order of the
//! options.
//!
//! One table row per option owns what it takes, what it means and its help. Start at [`read`].

use super::shown;
use super::tls::Versions;
use crate::ToolShown;
use crate::reads::Reads;
use ::plan::{Body, Credentials, FieldValue, Secret};
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

/// Requests of a run that has a time limit and, after it, no number of its own.
const REQUESTS_OF_TIMED: i64 = 50_000;

/// One option: its letter, what it takes, what it means, and its help.
struct Opt {
    letter: char,
    /// Name of its value in the usage; empty for a switch.
    value: &'static str,
    help: &'static str,
    meaning: Meaning,
}

/// Effect of an option on what has been read so far.
enum Meaning {
    Switch(fn(&mut AbReader<'_>) -> Result<(), ToolShown>),
    Value(fn(&mut AbReader<'_>, &str) -> Result<(), ToolShown>),
}

const fn switch(letter: char, help: &'static str, on: fn(&mut AbReader<'_>) -> Result<(), ToolShown>) -> Opt {
    Opt { letter, value: "", help, meaning: Meaning::Switch(on) }
}

const fn value(
    letter: char,
    value: &'static str,
    help: &'static str,
    set: fn(&mut AbReader<'_>, &str) -> Result<(), ToolShown>,
) -> Opt {
    Opt { letter, value, help, meaning: Meaning::Value(set) }
}

/// Writes a value down.
macro_rules! set {
    ($field:ident = $read:expr) => {
        |reader, text| {
            reader.typed.$field = $read(text);
            Ok(())
        }
    };
}

/// Switches on.
macro_rules! on {
    ($field:ident) => {
        |reader| {
            reader.typed.$field = true;
            Ok(())
        }
    };
}

/// Every option, in the order of the usage text.
static OPTIONS: &[Opt] = &[
    value('n', "requests", "Requests to send [default: 1]", |reader, text| {
        reader.typed.requests = number(text);
        if reader.typed.requests > 0 { Ok(()) } else { Err(shown::refused("Invalid number of requests")) }
    }),
    value('c', "concurrency", "Connections at once [default: 1]", set!(concurrency = number)),
    value(
        't',
        "seconds",
        "Time limit; sets -n to 50000, so a -n of your own comes after it",
        |reader, text| {
            reader.typed.time_limit = Some(number(text));
            reader.typed.requests = REQUESTS_OF_TIMED;
            Ok(())
        },
    ),
    value('s', "seconds", "Time limit of each request [default: 30]", set!(timeout = number)),
    value('b', "bytes", "Size of the kernel's send and receive buffers", set!(window = number)),
    value('B', "addresses", "Local addresses to connect from, in turn: A,A,…", sources),
    value('p', "file", "POST this file; -T says what it is", |reader, file| {
        reader.body("POST", AbMethod::Post, file)
    }),
    value('u', "file", "PUT this file; -T says what it is", |reader, file| {
        reader.body("PUT", AbMethod::Put, file)
    }),
    value('T', "type", "Content-type of the file [default: text/plain]", set!(content_type = text)),
    value('v', "level", "2: request and header blocks, 3: statuses, too", set!(verbosity = number)),
    switch('w', "Report as an HTML table", on!(html)),
    switch('i', "HEAD instead of GET", |reader| {
        reader.first_method("HEAD")?;
        reader.typed.method = AbMethod::Head;
        Ok(())
    }),
    value('x', "attributes", "Of the HTML table", |reader, text| reader.attribute(0, text)),
    value('y', "attributes", "Of its rows", |reader, text| reader.attribute(1, text)),
    value('z', "attributes", "Of its cells", |reader, text| reader.attribute(2, text)),
    value('C', "name=value", "Cookie; of several, the last is sent", |reader, text| {
        reader.typed.cookies.push(text.to_owned());
        Ok(())
    }),
    value('H', "name: value", "Header field; may be repeated", |reader, text| {
        reader.typed.fields.push(text.to_owned());
        Ok(())
    }),
    value('A', "user:password", "Basic authentication", |reader, text| reader.auth("Authorization", text)),
    value('P', "user:password", "Basic authentication towards the proxy", |reader, text| {
        reader.auth("Proxy-Authorization", text)
    }),
    value('X', "host:port", "Proxy [port: 80]", set!(proxy = text)),
    switch('V', "Version", |_| Err(ToolShown::told(super::banner(false)))),
    switch('k', "Keep connections (HTTP keep-alive)", on!(keep_alive)),
    switch('d', "No table of percentiles", on!(no_percentiles)),
    switch('S', "No deviations, medians and warnings", on!(no_confidence)),
    switch('q', "No progress lines", on!(quiet)),
    switch('l', "Bodies may differ in length", on!(any_length)),
    value('g', "file", "Write a row per request, for gnuplot", set!(gnuplot = path)),
    value('e', "file", "Write the percentiles as CSV", set!(csv = path)),
    switch('r', "Failed connections do not change the exit code", on!(survives)),
    value('m', "method", "Method", |reader, text| {
        reader.typed.method = AbMethod::Custom(text.to_owned());
        Ok(())
    }),
    switch('h', "This text", |_| Err(shown::usage(""))),
    switch('I', "TLS asks for no server name (SNI)", on!(no_server_name)),
    value('Z', "suites", "TLS cipher suites, by their OpenSSL names", set!(suites = text)),
    value('f', "version", "TLS version: TLS1.2, TLS1.3 or ALL", |reader, text| {
        // ab takes a word that it does not know for none.
        reader.typed.versions = Versions::read(text).unwrap_or(reader.typed.versions);
        Ok(())
    }),
    value('E', "file", "Client certificate, its chain and key (PEM)", set!(certificate = text)),
    value('W', "workers", "Worker threads [default: one for each core]", |reader, text| {
        reader.typed.workers = Some(number(text));
        Ok(())
    }),
    value('R', "ms", "Time between the first connections", set!(ramp_ms = number)),
    value('o', "address", "As -B", sources),
    switch('Q', "No banner", on!(no_banner)),
    switch('D', "Taken, without effect", |_| Ok(())),
];

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

fn path(value: &str) -> Option<PathBuf> {
    Some(PathBuf::from(value))
}

fn sources(reader: &mut AbReader<'_>, text: &str) -> Result<(), ToolShown> {
    reader.typed.sources.extend(text.split(',').map(str::to_owned));
    Ok(())
}

/// Words of ours, which ab would have taken for the end of the options.
const OURS: [(&str, &str); 4] = [
    ("--help", "This text, on standard output"),
    ("--show-plan", "Print the plan instead of running it"),
    ("--json=FILE", "Write the result as JSON"),
    ("--threads=N", "As -W"),
];

/// How a request's method was chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum AbMethod {
    /// It was not: GET.
    #[default]
    None,
    /// `-i`.
    Head,
    /// `-p`.
    Post,
    /// `-u`.
    Put,
    /// `-m`.
    Custom(String),
}

/// The command line as typed.
#[derive(Debug, Clone, Default)]
pub(super) struct AbTyped {
    pub requests: i64,
    pub concurrency: i64,
    pub time_limit: Option<i64>,
    pub timeout: i64,
    pub window: i64,
    pub sources: Vec<String>,
    pub method: AbMethod,
    /// The file of `-p` or `-u`.
    pub body: Option<Body>,
    pub content_type: Option<String>,
    pub verbosity: i64,
    pub html: bool,
    pub attributes: [Option<String>; 3],
    pub cookies: Vec<String>,
    pub fields: Vec<String>,
    /// Names and values of authentication, in the order of the options.
    pub auth: Vec<(&'static str, FieldValue)>,
    pub proxy: Option<String>,
    pub keep_alive: bool,
    pub no_percentiles: bool,
    pub no_confidence: bool,
    pub quiet: bool,
    pub any_length: bool,
    pub gnuplot: Option<PathBuf>,
    pub csv: Option<PathBuf>,
    pub survives: bool,
    pub no_server_name: bool,
    pub suites: Option<String>,
    pub versions: Versions,
    pub certificate: Option<String>,
    pub workers: Option<i64>,
    pub ramp_ms: i64,
    pub no_banner: bool,
    pub json: Option<PathBuf>,
    pub show_plan: bool,
    /// Words after the options.
    pub words: Vec<String>,
    /// As they are to be printed.
    pub notices: Vec<String>,
}

/// Reads the words after the program's name.
///
/// # Errors
/// The text shown instead: usage, version, or why a value cannot be meant.
pub(super) fn read(words: &[String], files: &dyn Reads) -> Result<AbTyped, ToolShown> {
    let mut reader =
        AbReader { typed: AbTyped { requests: 1, concurrency: 1, timeout: 30, ..AbTyped::default() }, files };
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let Some(cluster) = word.strip_prefix('-').filter(|cluster| !cluster.is_empty()) else { break };
        at += 1;
        if cluster.starts_with('-') {
            if reader.ours(word)? {
                continue;
            }
            // ab takes any other for the end of the options, and passes over it.
            break;
        }
        if reader.cluster(cluster, words, &mut at)?.is_none() {
            break;
        }
    }
    reader.typed.words = words[at..].to_vec();
    Ok(reader.typed)
}

struct AbReader<'a> {
    typed: AbTyped,
    files: &'a dyn Reads,
}

impl AbReader<'_> {
    /// The options of one word; `at` is the place of the next word, which may be a value. `None`: one is not known, which
    /// ends the options.
    fn cluster(&mut self, cluster: &str, words: &[String], at: &mut usize) -> Result<Option<()>, ToolShown> {
        let mut rest = cluster;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let Some(option) = OPTIONS.iter().find(|option| option.letter == letter) else {
                self.typed.notices.push(format!("ab: illegal option -- {letter}"));
                // What is left of the word is what ab comes to next.
                *at -= usize::from(!rest.is_empty());
                return Ok(None);
            };
            let set = match option.meaning {
                Meaning::Switch(on) => {
                    on(self)?;
                    continue;
                }
                Meaning::Value(set) => set,
            };
            let value = if rest.is_empty() {
                let Some(value) = words.get(*at) else {
                    self.typed.notices.push(format!("ab: option requires an argument -- {letter}"));
                    return Ok(None);
                };
                *at += 1;
                value
            } else {
                rest
            };
            set(self, value)?;
            break;
        }
        Ok(Some(()))
    }

    /// True if it is a word of ours.
    fn ours(&mut self, word: &str) -> Result<bool, ToolShown> {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "--help" => return Err(ToolShown::told(usage())),
            "--show-plan" => self.typed.show_plan = true,
            "--json" if !value.is_empty() => self.typed.json = Some(PathBuf::from(value)),
            "--threads" if !value.is_empty() => self.typed.workers = Some(number(value)),
            "--json" | "--threads" => {
                return Err(shown::failed(&format!("ab: {name} needs a value, attached: {name}=VALUE")));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// An attribute of the HTML report, which it asks for.
    fn attribute(&mut self, place: usize, text: &str) -> Result<(), ToolShown> {
        self.typed.html = true;
        self.typed.attributes[place] = Some(text.to_owned());
        Ok(())
    }

    fn auth(&mut self, field: &'static str, login: &str) -> Result<(), ToolShown> {
        self.typed.auth.push((field, basic(login)));
        Ok(())
    }

    fn body(&mut self, name: &str, method: AbMethod, file: &str) -> Result<(), ToolShown> {
        self.first_method(name)?;
        self.typed.method = method;
        let body = self.files.body(Path::new(file)).map_err(|error| {
            let why = reason(&error);
            shown::failed(&format!("ab: Could not open POST data file ({file}): {why}"))
        })?;
        self.typed.body = Some(body);
        Ok(())
    }

    fn first_method(&self, name: &str) -> Result<(), ToolShown> {
        match self.typed.method {
            AbMethod::None => Ok(()),
            _ => Err(shown::refused(&format!("Cannot mix {name} with other methods"))),
        }
    }
}

/// Returns the system's description of an error, without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().expect("a split has a first part").to_owned()
}

/// `NAME:PASSWORD` as ab reads it, whatever it holds; or with the name of a secret in place of the password, or of both.
fn basic(value: &str) -> FieldValue {
    let value = value.trim_start();
    let named = Credentials::parse(value).filter(|read| !read.password.is_typed());
    FieldValue::basic(named.unwrap_or_else(|| Credentials::of_pair(Secret::typed(value))))
}

/// A number as C's `atoi` reads it: what is none is 0, and what follows one is passed over.
pub(super) fn number(text: &str) -> i64 {
    let text = text.trim_start();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 {
        return 0;
    }
    // Longer ones cannot be meant either way.
    let number = digits[..end].parse::<i64>().unwrap_or(i64::from(i32::MAX)).min(i64::from(i32::MAX));
    if text.starts_with('-') { -number } else { number }
}

/// The usage text.
pub(super) fn usage() -> String {
    let mut text = "Usage: ab [options] [http[s]://]hostname[:port]/path\nOptions are:\n".to_owned();
    for Opt { letter, value, help, .. } in OPTIONS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    -{letter} {value:<13} {help}");
    }
    for (word, help) in OURS {
        let _ = writeln!(text, "    {word:<16} {help}");
    }
    text
}
