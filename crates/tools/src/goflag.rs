//! Command lines as Go's `flag` package reads them: `-name value`, `-name=value`, one dash or two; the first word that is no flag ends
//! them. And times as Go writes them: `1m30s`, `1.5ms`.

use crate::ToolShown;
use std::ffi::OsString;
use std::time::Duration;

/// A flag: its name, its value, its help, and where the value goes.
pub(crate) struct Flag<S: 'static> {
    pub name: &'static str,
    /// Name of its value in the help; empty for a switch.
    pub value: &'static str,
    pub help: &'static str,
    pub set: Set<S>,
}

/// Action of a flag; a switch has `true` or `false`.
///
/// # Errors
/// What to give instead.
pub(crate) type Set<S> = fn(&mut S, &str) -> Result<(), String>;

pub(crate) const fn flag<S>(
    name: &'static str,
    value: &'static str,
    help: &'static str,
    set: Set<S>,
) -> Flag<S> {
    Flag { name, value, help, set }
}

/// The action that writes a value down: `set!(field = reader)`.
macro_rules! set {
    ($field:ident = $value:expr) => {
        |typed, text| {
            typed.$field = $value(text)?;
            Ok(())
        }
    };
}
pub(crate) use set;

/// A command line that cannot be read, or that asks for help.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    Help,
    Line(String),
}

/// Reads flags into `to`; returns the words behind them.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn read<S>(flags: &[Flag<S>], words: &[OsString], to: &mut S) -> Result<Vec<String>, Wrong> {
    let mut words = words.iter().map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = words.next() {
        let Some(named) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            return Ok(std::iter::once(word).chain(words).collect());
        };
        let named = named.strip_prefix('-').unwrap_or(named);
        if named.is_empty() {
            break;
        }
        let (name, attached) =
            named.split_once('=').map_or((named, None), |(name, value)| (name, Some(value.to_owned())));
        let Some(flag) = flags.iter().find(|flag| flag.name == name) else {
            return Err(match name {
                "h" | "help" => Wrong::Help,
                _ => Wrong::Line(format!("flag provided but not defined: -{name}")),
            });
        };
        let is_switch = flag.value.is_empty();
        let value = match attached {
            None if is_switch => "true".to_owned(),
            None => words.next().ok_or_else(|| Wrong::Line(format!("flag needs an argument: -{name}")))?,
            Some(value) if is_switch && !matches!(value.as_str(), "true" | "false") => {
                return Err(Wrong::Line(format!(
                    "-{name} is a switch: give -{name}=true or -{name}=false, not '{value}'"
                )));
            }
            Some(value) => value,
        };
        let wrong = |why: String| {
            Wrong::Line(format!("invalid value '{}' for flag -{name}: give {why}", shown(name, &value)))
        };
        (flag.set)(to, &value).map_err(wrong)?;
    }
    Ok(words.collect())
}

/// A value in a message; those of fields and credentials are nobody's business.
fn shown(name: &str, value: &str) -> String {
    match name {
        "H" | "header" => plan::secret::shown_line(value),
        "a" | "user" => plan::secret::MASK.to_owned(),
        _ => plan::secret::without_secrets(value).clone(),
    }
}

/// The flags as help shows them, a line or two each.
pub(crate) fn help<S>(flags: &[Flag<S>]) -> String {
    let line = |flag: &Flag<S>| {
        let named = format!("-{} {}", flag.name, flag.value);
        format!("  {:<26}{}\n", named.trim_end(), flag.help)
    };
    flags.iter().map(line).collect()
}

/// A text, given or not.
pub(crate) fn text(text: &str) -> Result<Option<String>, String> {
    Ok(Some(text.to_owned()))
}

/// A text.
pub(crate) fn plain(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// A switch.
pub(crate) fn switch(text: &str) -> Result<bool, String> {
    Ok(is_on(text))
}

/// A whole number, given or not.
pub(crate) fn some_number(text: &str) -> Result<Option<u64>, String> {
    number(text).map(Some)
}

/// A whole number, or what to give instead.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "a whole number, such as 100".to_owned())
}

/// True for `true`.
pub(crate) fn is_on(text: &str) -> bool {
    text == "true"
}

/// A time such as `10s`, `1m30s` or `500ms`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "a time with its unit, such as 10s, 1m30s or 500ms".to_owned();
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = text;
    let mut whole = Duration::ZERO;
    while !rest.is_empty() {
        let end = rest.find(|one: char| !one.is_ascii_digit() && one != '.').ok_or_else(wrong)?;
        let number: f64 = rest[..end].parse().map_err(|_| wrong())?;
        rest = &rest[end..];
        let end = rest.find(|one: char| one.is_ascii_digit() || one == '.').unwrap_or(rest.len());
        let seconds = match &rest[..end] {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        whole = Duration::try_from_secs_f64(number * seconds)
            .ok()
            .and_then(|part| whole.checked_add(part))
            .ok_or_else(wrong)?;
        rest = &rest[end..];
    }
    if text.is_empty() { Err(wrong()) } else { Ok(whole) }
}

/// A time as Go writes it: `1m30s`, `1.5s`, `950.228ms`, `12µs`, `0s`.
pub(crate) fn written(time: Duration) -> String {
    let plain = |number: f64, digits: usize| {
        let text = format!("{number:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    let ns = time.as_nanos();
    let seconds = time.as_secs();
    match ns {
        0 => "0s".to_owned(),
        1..1_000 => format!("{ns}ns"),
        1_000..1_000_000 => format!("{}µs", plain(ns as f64 / 1e3, 3)),
        1_000_000..1_000_000_000 => format!("{}ms", plain(ns as f64 / 1e6, 6)),
        _ => {
            let part = format!("{}s", plain((seconds % 60) as f64 + f64::from(time.subsec_nanos()) / 1e9, 9));
            match (seconds / 3600, seconds / 60 % 60) {
                (0, 0) => part,
                (0, minutes) => format!("{minutes}m{part}"),
                (hours, minutes) => format!("{hours}h{minutes}m{part}"),
            }
        }
    }
}

/// A complaint and the usage on standard error.
pub(crate) fn refused(name: &str, complaint: &str, usage: &str, exit: u8) -> ToolShown {
    ToolShown::refused(format!("{name}: {complaint}\n\n{usage}"), exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct Typed {
        n: u64,
        on: bool,
        texts: Vec<String>,
    }

    const FLAGS: &[Flag<Typed>] = &[
        flag("n", "N", "a number", |typed, text| {
            typed.n = number(text)?;
            Ok(())
        }),
        flag("on", "", "a switch", |typed, text| {
            typed.on = is_on(text);
            Ok(())
        }),
        flag("t", "TEXT", "texts", |typed, text| {
            typed.texts.push(text.to_owned());
            Ok(())
        }),
    ];

    fn read_line(line: &str) -> Result<(Typed, Vec<String>), Wrong> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let mut typed = Typed::default();
        read(FLAGS, &words, &mut typed).map(|rest| (typed, rest))
    }

    #[test]
    fn flags_end_at_the_first_other_word() {
        let (typed, rest) = read_line("-n 5 --on -t a=b -t=c=d url -n 6").unwrap();
        assert_eq!(typed, Typed { n: 5, on: true, texts: vec!["a=b".to_owned(), "c=d".to_owned()] });
        assert_eq!(rest, ["url", "-n", "6"]);
        let (typed, rest) = read_line("-on=false -- -n").unwrap();
        assert_eq!((typed.on, rest.as_slice()), (false, &["-n".to_owned()][..]));
        assert_eq!(read_line("- x").unwrap().1, ["-", "x"]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (line, said) in [
            ("-x", "flag provided but not defined: -x"),
            ("-n", "flag needs an argument: -n"),
            ("-n five", "invalid value 'five' for flag -n: give a whole number"),
            ("-on=1", "-on is a switch"),
        ] {
            let Err(Wrong::Line(text)) = read_line(line) else { panic!("{line}") };
            assert!(text.starts_with(said), "{line}: {text}");
        }
        assert_eq!(read_line("-h"), Err(Wrong::Help));
    }

    #[test]
    fn times_are_read_and_written() {
        for (text, ms) in [
            ("10s", 10_000.0),
            ("1m30s", 90_000.0),
            ("500ms", 500.0),
            ("1.5h", 5_400_000.0),
            ("0", 0.0),
            ("250us", 0.25),
        ] {
            assert_eq!(time(text).map(|time| time.as_secs_f64() * 1e3), Ok(ms), "{text}");
        }
        for text in ["", "10", "s", "1d", "-1s", "1 s"] {
            assert!(time(text).is_err(), "{text}");
        }
        for (ns, text) in [
            (0, "0s"),
            (900, "900ns"),
            (797_448, "797.448µs"),
            (1_500_000, "1.5ms"),
            (950_228_117, "950.228117ms"),
            (2_000_000_000, "2s"),
            (90_250_000_000, "1m30.25s"),
            (3_600_000_000_000, "1h0m0s"),
        ] {
            assert_eq!(written(Duration::from_nanos(ns)), text);
        }
    }
}
