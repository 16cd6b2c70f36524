//! Stage one: what was typed, read as `getopt_long` reads it for the old tools. What it means is [`super::plan`]'s business.
//!
//! One table row per option feeds the parser and the usage text. Start at [`read`].

use super::{Shown, Tool};
use crate::number;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::time::Duration;

/// What was typed.
#[derive(Debug, Clone)]
pub(super) struct Typed {
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
    pub show_plan: bool,
    /// The URL.
    pub url: String,
    /// What follows it: for the script.
    pub args: Vec<String>,
}

impl Default for Typed {
    fn default() -> Typed {
        Typed {
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
            show_plan: false,
            url: String::new(),
            args: Vec::new(),
        }
    }
}

/// How an option is written down in [`Typed`].
enum Slot {
    Count(fn(&mut Typed, u64)),
    Time(fn(&mut Typed) -> &mut Duration),
    Text(fn(&mut Typed, String)),
    On(fn(&mut Typed)),
    /// Usage.
    Help,
}

/// One option.
struct Switch {
    name: &'static str,
    short: Option<char>,
    /// Known to wrk2 alone.
    only_wrk2: bool,
    slot: Slot,
    value: &'static str,
    help: &'static str,
}

const fn switch(
    name: &'static str,
    short: char,
    slot: Slot,
    value: &'static str,
    help: &'static str,
) -> Switch {
    Switch { name, short: if short == ' ' { None } else { Some(short) }, only_wrk2: false, slot, value, help }
}

/// Every option, in the order of the usage text.
static SWITCHES: &[Switch] = &[
    switch(
        "connections",
        'c',
        Slot::Count(|typed, n| typed.connections = n),
        "N",
        "Connections kept open [10]",
    ),
    switch("duration", 'd', Slot::Time(|typed| &mut typed.duration), "T", "How long the test lasts [10s]"),
    switch("threads", 't', Slot::Count(|typed, n| typed.threads = n), "N", "Worker threads [2]"),
    Switch {
        only_wrk2: true,
        ..switch(
            "rate",
            'R',
            Slot::Count(|typed, n| typed.rate = Some(n)),
            "N",
            "Requests per second in all; required",
        )
    },
    switch("script", 's', Slot::Text(|typed, file| typed.script = Some(file)), "FILE", "Lua script"),
    switch(
        "header",
        'H',
        Slot::Text(|typed, field| typed.headers.push(field)),
        "FIELD",
        "Header field, 'Name: value'",
    ),
    switch("latency", 'L', Slot::On(|typed| typed.latency = true), "", "Show how latency is distributed"),
    Switch {
        only_wrk2: true,
        ..switch(
            "u_latency",
            'U',
            Slot::On(|typed| typed.uncorrected = true),
            "",
            "The service time's distribution, too",
        )
    },
    Switch {
        only_wrk2: true,
        ..switch(
            "batch_latency",
            'B',
            Slot::On(|typed| typed.batches = true),
            "",
            "Time batches of pipelined requests whole",
        )
    },
    switch(
        "timeout",
        'T',
        Slot::Time(|typed| &mut typed.timeout),
        "T",
        "Time limit of connecting and of a request [2s]",
    ),
    switch(
        "json",
        ' ',
        Slot::Text(|typed, file| typed.json = Some(file)),
        "FILE",
        "Write the result as JSON, too (- for stdout)",
    ),
    switch(
        "show-plan",
        ' ',
        Slot::On(|typed| typed.show_plan = true),
        "",
        "Print what this means, and run nothing",
    ),
    switch("version", 'v', Slot::On(|typed| typed.version = true), "", "Show the version"),
    switch("help", ' ', Slot::Help, "", "Show this"),
];

fn known(tool: Tool) -> impl Iterator<Item = &'static Switch> {
    SWITCHES.iter().filter(move |switch| tool == Tool::Wrk2 || !switch.only_wrk2)
}

/// The usage text.
pub(super) fn usage(tool: Tool) -> String {
    let mut text =
        format!("Usage: {} <options> <url> [-- <arguments for the script>]\n  Options:\n", tool.name());
    for switch in known(tool) {
        let short = switch.short.map_or("   ".to_owned(), |short| format!("-{short},"));
        let long = format!("--{} {}", switch.name, switch.value);
        text += &format!("    {short} {long:<22}{}\n", switch.help);
    }
    text += "\n  Counts may have a unit (1k, 1M, 1G), times too (2s, 2m, 2h)\n";
    text
}

/// Why there is no test, with the usage text.
pub(super) fn refused(tool: Tool, complaint: String) -> Shown {
    Shown { complaint, text: usage(tool) }
}

/// The version line.
pub(super) fn version(tool: Tool) -> String {
    format!("{} wringer/{}\n", tool.name(), env!("CARGO_PKG_VERSION"))
}

/// Reads the words after the tool's name. Options may stand behind the URL; a lone `--` ends them.
///
/// # Errors
/// The usage text, and what was wrong.
pub(super) fn read(tool: Tool, args: &[OsString]) -> Result<Typed, Shown> {
    let mut typed = Typed::default();
    let mut words: VecDeque<String> = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut rest = Vec::new();
    let stopped = read_words(tool, &mut typed, &mut words, &mut rest);
    let version = if typed.version { version(tool) } else { String::new() };
    let with_version = |shown: Shown| Shown { text: format!("{version}{}", shown.text), ..shown };
    stopped.map_err(|complaint| with_version(refused(tool, complaint)))?;
    let mut rest = rest.into_iter();
    match rest.next() {
        Some(url) if typed.threads > 0 && !typed.duration.is_zero() => {
            Ok(Typed { url, args: rest.collect(), ..typed })
        }
        _ => Err(with_version(refused(tool, String::new()))),
    }
}

/// Options into `typed`, everything else into `rest`.
fn read_words(
    tool: Tool,
    typed: &mut Typed,
    words: &mut VecDeque<String>,
    rest: &mut Vec<String>,
) -> Result<(), String> {
    while let Some(word) = words.pop_front() {
        if word == "--" {
            rest.extend(words.drain(..));
        } else if let Some(long) = word.strip_prefix("--") {
            read_long(tool, typed, long, words)?;
        } else if word.len() > 1 && word.starts_with('-') {
            read_cluster(tool, typed, &word[1..], words)?;
        } else {
            rest.push(word);
        }
    }
    Ok(())
}

fn read_long(tool: Tool, typed: &mut Typed, word: &str, words: &mut VecDeque<String>) -> Result<(), String> {
    let (name, attached) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    };
    let switch = long(tool, name)?;
    let label = format!("--{}", switch.name);
    let value = match (takes_value(switch), attached) {
        (true, attached) => Some(value(tool, &label, attached, words)?),
        (false, None) => None,
        (false, Some(_)) => return Err(format!("{}: option '{label}' takes no value", tool.name())),
    };
    set(tool, typed, switch, &label, value)
}

/// The option of this name, or the only one whose name begins so.
fn long(tool: Tool, name: &str) -> Result<&'static Switch, String> {
    if let Some(exact) = known(tool).find(|switch| switch.name == name) {
        return Ok(exact);
    }
    let mut candidates = known(tool).filter(|switch| switch.name.starts_with(name));
    match (candidates.next(), candidates.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(format!("{}: option '--{name}' is ambiguous", tool.name())),
        _ => Err(format!("{}: unknown option '--{name}'", tool.name())),
    }
}

fn read_cluster(
    tool: Tool,
    typed: &mut Typed,
    cluster: &str,
    words: &mut VecDeque<String>,
) -> Result<(), String> {
    for (at, letter) in cluster.char_indices() {
        let label = format!("-{letter}");
        let switch = known(tool)
            .find(|switch| switch.short == Some(letter))
            .ok_or_else(|| format!("{}: unknown option '{label}'", tool.name()))?;
        if !takes_value(switch) {
            set(tool, typed, switch, &label, None)?;
            continue;
        }
        let attached = &cluster[at + letter.len_utf8()..];
        let attached = (!attached.is_empty()).then(|| attached.to_owned());
        let value = value(tool, &label, attached, words)?;
        return set(tool, typed, switch, &label, Some(value));
    }
    Ok(())
}

fn takes_value(switch: &Switch) -> bool {
    matches!(switch.slot, Slot::Count(_) | Slot::Time(_) | Slot::Text(_))
}

fn value(
    tool: Tool,
    label: &str,
    attached: Option<String>,
    words: &mut VecDeque<String>,
) -> Result<String, String> {
    attached
        .or_else(|| words.pop_front())
        .ok_or_else(|| format!("{}: option '{label}' needs a value", tool.name()))
}

fn set(
    tool: Tool,
    typed: &mut Typed,
    switch: &Switch,
    label: &str,
    value: Option<String>,
) -> Result<(), String> {
    let value = value.unwrap_or_default();
    let wrong = |wanted: &str| format!("{}: {label} '{value}': give {wanted}", tool.name());
    match switch.slot {
        Slot::Count(set) => {
            set(typed, number::count(&value).ok_or_else(|| wrong("a whole number, such as 100 or 10k"))?);
        }
        Slot::Time(slot) => {
            *slot(typed) = number::time(&value)
                .ok_or_else(|| wrong("whole seconds, minutes or hours, such as 30s or 2m"))?;
        }
        Slot::Text(set) => set(typed, value),
        Slot::On(set) => set(typed),
        Slot::Help => return Err(String::new()),
    }
    Ok(())
}
