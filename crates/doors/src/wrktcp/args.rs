//! Stage one: what was typed, read as `getopt_long` reads it for the old tool. What it means is [`super::plan`]'s business.
//!
//! One table row per option feeds the parser and the usage text. Start at [`read`].

use super::Shown;
use crate::number;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::time::Duration;

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Typed {
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

/// Whether a page is written, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Html {
    No,
    /// To a file named after the ini file and the time.
    ByTime,
    To(String),
}

impl Default for Typed {
    fn default() -> Typed {
        Typed {
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

/// How an option is written down in [`Typed`].
enum Slot {
    Count(fn(&mut Typed, u64)),
    Time(fn(&mut Typed, Duration)),
    Text(fn(&mut Typed, String)),
    /// A value only behind `=`; the short form needs one.
    Html,
    On(fn(&mut Typed)),
    /// Usage.
    Help,
}

/// Under which words of the usage text an option stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Needed,
    Usual,
    /// Not in the old tool. Its short forms of long names mean what they always meant.
    New,
}

/// One option.
struct Switch {
    name: &'static str,
    short: Option<char>,
    group: Group,
    slot: Slot,
    value: &'static str,
    help: &'static str,
}

/// `short`: a blank where there is none.
const fn switch(
    name: &'static str,
    short: char,
    group: Group,
    slot: Slot,
    value: &'static str,
    help: &'static str,
) -> Switch {
    Switch { name, short: if short == ' ' { None } else { Some(short) }, group, slot, value, help }
}

/// Every option, in the order of the usage text.
static SWITCHES: &[Switch] = &[
    switch(
        "connections",
        'c',
        Group::Needed,
        Slot::Count(|typed, n| typed.connections = n),
        "<N>",
        "Connections in all [1]",
    ),
    switch(
        "duration",
        'd',
        Group::Needed,
        Slot::Time(|typed, time| typed.duration = time),
        "<T>",
        "How long the test lasts [10s]",
    ),
    switch(
        "threads",
        't',
        Group::Needed,
        Slot::Count(|typed, n| typed.threads = n),
        "<N>",
        "Worker threads [1]",
    ),
    switch(
        "timeout",
        'T',
        Group::Usual,
        Slot::Time(|typed, time| typed.timeout = Some(time)),
        "<T>",
        "Time limit of an answer [5s]",
    ),
    switch(
        "latency",
        'L',
        Group::Usual,
        Slot::On(|typed| typed.latency = true),
        "",
        "Show how latency is distributed",
    ),
    switch(
        "trace",
        ' ',
        Group::Usual,
        Slot::On(|typed| typed.trace = true),
        "",
        "Show rate and latency over time",
    ),
    switch("html", 'H', Group::Usual, Slot::Html, "[=<F>]", "Write the result as a page, too"),
    switch(
        "test",
        'I',
        Group::Usual,
        Slot::On(|typed| typed.test = true),
        "",
        "One exchange, told step by step",
    ),
    switch("version", 'v', Group::Usual, Slot::On(|typed| typed.version = true), "", "Show the version"),
    switch("help", '?', Group::Usual, Slot::Help, "", "Show this"),
    switch(
        "strict",
        ' ',
        Group::New,
        Slot::On(|typed| typed.strict = true),
        "",
        "Exit code 3 where answers were wrong",
    ),
    switch(
        "compat-counter",
        ' ',
        Group::New,
        Slot::On(|typed| typed.compat_counter = true),
        "",
        "COUNTER wraps as it used to",
    ),
    switch(
        "utc",
        ' ',
        Group::New,
        Slot::On(|typed| typed.utc = true),
        "",
        "DATETIME is UTC, not the local time",
    ),
    switch(
        "json",
        ' ',
        Group::New,
        Slot::Text(|typed, file| typed.json = Some(file)),
        "<F>",
        "Write the result as JSON, too (- for stdout)",
    ),
    switch(
        "show-plan",
        ' ',
        Group::New,
        Slot::On(|typed| typed.show_plan = true),
        "",
        "Print what this means, and run nothing",
    ),
];

/// The usage text.
pub(super) fn usage() -> String {
    let mut text = "Usage: wrktcp <options> filename\n".to_owned();
    for (group, title) in [
        (Group::Needed, "Necessary Options:"),
        (Group::Usual, "Condition Options:"),
        (Group::New, "New Options:"),
    ] {
        text += &format!("  {title}\n");
        for switch in SWITCHES.iter().filter(|switch| switch.group == group) {
            let short = switch.short.map_or("   ".to_owned(), |short| format!("-{short},"));
            let name = format!("--{}", switch.name);
            text += &format!("    {short} {name:<16} {:<6} {}\n", switch.value, switch.help);
        }
    }
    text +=
        "\n  The file has .ini in its name; counts may have a unit (1k, 1M, 1G), times too (2s, 2m, 2h)\n";
    text += "  for example:\n    wrktcp -t4 -c200 -d30s sample_tiny.ini\n";
    text
}

/// Why there is no test, with the usage text.
pub(super) fn refused(complaint: impl Into<String>) -> Shown {
    Shown { complaint: complaint.into(), text: usage() }
}

/// The version line.
pub(super) fn version() -> String {
    format!("wrktcp wringer/{}\n", env!("CARGO_PKG_VERSION"))
}

/// Reads the words after the tool's name. Options may stand behind the file; a lone `--` ends them.
///
/// # Errors
/// The usage text, and what was wrong.
pub(super) fn read(args: &[OsString]) -> Result<Typed, Shown> {
    let mut typed = Typed::default();
    let mut words: VecDeque<String> = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut rest = Vec::new();
    let stopped = read_words(&mut typed, &mut words, &mut rest);
    let version = if typed.version { version() } else { String::new() };
    let with_version = |shown: Shown| Shown { text: format!("{version}{}", shown.text), ..shown };
    stopped.map_err(|complaint| with_version(refused(complaint)))?;
    match rest.into_iter().next() {
        // As the old tool: a file without a name, no thread and no time are answered by the usage alone.
        Some(file) if typed.threads > 0 && !typed.duration.is_zero() => Ok(Typed { file, ..typed }),
        _ => Err(with_version(refused(String::new()))),
    }
}

/// Options into `typed`, everything else into `rest`.
fn read_words(typed: &mut Typed, words: &mut VecDeque<String>, rest: &mut Vec<String>) -> Result<(), String> {
    while let Some(word) = words.pop_front() {
        if word == "--" {
            rest.extend(words.drain(..));
        } else if let Some(long) = word.strip_prefix("--") {
            read_long(typed, long, words)?;
        } else if word.len() > 1 && word.starts_with('-') {
            read_cluster(typed, &word[1..], words)?;
        } else {
            rest.push(word);
        }
    }
    Ok(())
}

fn read_long(typed: &mut Typed, word: &str, words: &mut VecDeque<String>) -> Result<(), String> {
    let (name, attached) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    };
    let switch = long(name)?;
    let label = format!("--{}", switch.name);
    let value = match (&switch.slot, attached) {
        (Slot::Html, attached) => attached,
        (Slot::On(_) | Slot::Help, None) => None,
        (Slot::On(_) | Slot::Help, Some(_)) => {
            return Err(illegal(&format!("option '{label}' takes no value")));
        }
        (_, attached) => Some(value(&label, attached, words)?),
    };
    set(typed, switch, &label, value)
}

/// The option of this name, or the only one whose name begins so; of several, the only one that the old tool had.
fn long(name: &str) -> Result<&'static Switch, String> {
    if let Some(exact) = SWITCHES.iter().find(|switch| switch.name == name) {
        return Ok(exact);
    }
    let candidates: Vec<&Switch> = SWITCHES.iter().filter(|switch| switch.name.starts_with(name)).collect();
    let old: Vec<&Switch> = candidates.iter().copied().filter(|switch| switch.group != Group::New).collect();
    match (old.as_slice(), candidates.as_slice()) {
        ([only], _) | ([], [only]) => Ok(only),
        (_, []) => Err(illegal(&format!("unknown option '--{name}'"))),
        _ => Err(illegal(&format!("option '--{name}' is ambiguous"))),
    }
}

fn read_cluster(typed: &mut Typed, cluster: &str, words: &mut VecDeque<String>) -> Result<(), String> {
    for (at, letter) in cluster.char_indices() {
        let label = format!("-{letter}");
        let switch = SWITCHES
            .iter()
            .find(|switch| switch.short == Some(letter))
            .ok_or_else(|| illegal(&format!("unknown option '{label}'")))?;
        if matches!(switch.slot, Slot::On(_) | Slot::Help) {
            set(typed, switch, &label, None)?;
            continue;
        }
        let attached = &cluster[at + letter.len_utf8()..];
        let attached = (!attached.is_empty()).then(|| attached.to_owned());
        let value = value(&label, attached, words)?;
        return set(typed, switch, &label, Some(value));
    }
    Ok(())
}

fn value(label: &str, attached: Option<String>, words: &mut VecDeque<String>) -> Result<String, String> {
    attached.or_else(|| words.pop_front()).ok_or_else(|| illegal(&format!("option '{label}' needs a value")))
}

fn illegal(what: &str) -> String {
    format!("wrktcp: {what}")
}

fn set(typed: &mut Typed, switch: &Switch, label: &str, value: Option<String>) -> Result<(), String> {
    let text = value.clone().unwrap_or_default();
    let wrong = |wanted: &str| illegal(&format!("{label} '{text}': give {wanted}"));
    match switch.slot {
        Slot::Count(set) => {
            set(typed, number::count(&text).ok_or_else(|| wrong("a whole number, such as 100 or 10k"))?);
        }
        Slot::Time(set) => {
            let time = number::time(&text);
            set(typed, time.ok_or_else(|| wrong("whole seconds, minutes or hours, such as 30s or 2m"))?);
        }
        Slot::Text(set) => set(typed, text),
        Slot::Html => typed.html = value.filter(|file| !file.is_empty()).map_or(Html::ByTime, Html::To),
        Slot::On(set) => set(typed),
        // In the old tool's words: help was an error there.
        Slot::Help => return Err("command is error, input the illegal character:[h]".to_owned()),
    }
    Ok(())
}
