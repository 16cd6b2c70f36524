//! Command lines as GNU `getopt_long` reads them: clusters of short options, attached and separate values, abbreviated long
//! names, and operands anywhere. What an option means stands in its row, in the door whose option it is.

use std::collections::VecDeque;

/// Value that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GetoptValue {
    No,
    Must,
    /// Only where it is attached: `-lFILE`, `--log=FILE`.
    May,
    /// Only behind the `=` of the long form; the short form must have one.
    MayLong,
}

/// One option: its names, what it takes, what it does to `S`, and its help.
pub(crate) struct GetoptRow<S> {
    /// A blank where there is no short form.
    pub short: char,
    pub long: &'static str,
    pub value: GetoptValue,
    /// How the help shows the value.
    pub shown: &'static str,
    pub help: &'static str,
    /// Not in the old tool; beginnings of long names mean what they meant there.
    pub ours: bool,
    pub set: Set<S>,
}

/// Action of an option; a value is empty where there is none.
///
/// # Errors
/// A complaint about the value, in the form that the door wants.
pub(crate) type Set<S> = fn(&mut S, &str) -> Result<(), String>;

/// An option that takes a value.
pub(crate) const fn value<S>(
    long: &'static str,
    short: char,
    shown: &'static str,
    help: &'static str,
    set: Set<S>,
) -> GetoptRow<S> {
    GetoptRow { short, long, value: GetoptValue::Must, shown, help, ours: false, set }
}

/// An option that takes none.
pub(crate) const fn switch<S>(
    long: &'static str,
    short: char,
    help: &'static str,
    set: Set<S>,
) -> GetoptRow<S> {
    GetoptRow { short, long, value: GetoptValue::No, shown: "", help, ours: false, set }
}

/// Action that writes a value down.
macro_rules! set {
    ($field:ident = $value:expr) => {
        |typed, text| {
            typed.$field = $value(text)?;
            Ok(())
        }
    };
}
pub(crate) use set;

/// Action that switches on.
macro_rules! on {
    ($field:ident) => {
        |typed, _| {
            typed.$field = true;
            Ok(())
        }
    };
}
pub(crate) use on;

/// A value as it was typed.
pub(crate) fn text(text: &str) -> Result<Option<String>, String> {
    Ok(Some(text.to_owned()))
}

/// An option that was read, or an error, in order.
pub(crate) enum GetoptRead<S: 'static> {
    Option {
        row: &'static GetoptRow<S>,
        /// As it was typed, such as `-c` or `--connections`.
        label: String,
        value: String,
    },
    OptionError(OptionError),
}

/// Errors of options that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OptionError {
    /// `-x`
    UnknownShort(char),
    /// `--name`, without the dashes.
    UnknownLong(String),
    /// The beginning of several names.
    Ambiguous(String),
    /// This label needs a value.
    NeedsValue(String),
    /// This one takes none.
    TakesNoValue(String),
}

impl OptionError {
    /// In words.
    pub fn text(&self) -> String {
        match self {
            OptionError::UnknownShort(letter) => format!("unknown option '-{letter}'"),
            OptionError::UnknownLong(name) => format!("unknown option '--{name}'"),
            OptionError::Ambiguous(name) => format!("option '--{name}' is ambiguous"),
            OptionError::NeedsValue(label) => format!("option '{label}' needs a value"),
            OptionError::TakesNoValue(label) => format!("option '{label}' takes no value"),
        }
    }

    /// In the words of GNU's library.
    pub fn gnu_text(&self) -> String {
        match self {
            OptionError::UnknownShort(letter) => format!("invalid option -- '{letter}'"),
            OptionError::UnknownLong(name) => format!("unrecognized option '--{name}'"),
            OptionError::Ambiguous(name) => format!("option '--{name}' is ambiguous"),
            OptionError::NeedsValue(label) => match label.strip_prefix("--") {
                Some(_) => format!("option '{label}' requires an argument"),
                None => format!("option requires an argument -- '{}'", &label[1..]),
            },
            OptionError::TakesNoValue(label) => format!("option '{label}' doesn't allow an argument"),
        }
    }
}

/// Reads words: options, with what cannot be read among them, and operands.
pub(crate) fn read<S>(
    table: &[&'static GetoptRow<S>],
    words: Vec<String>,
) -> (Vec<GetoptRead<S>>, Vec<String>) {
    let mut reader = GetoptReader { table, read: Vec::new(), operands: Vec::new(), words: words.into() };
    while let Some(word) = reader.words.pop_front() {
        if word == "--" {
            reader.operands.extend(reader.words.drain(..));
        } else if let Some(long) = word.strip_prefix("--") {
            reader.long(long);
        } else if let Some(cluster) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            reader.cluster(cluster);
        } else {
            reader.operands.push(word);
        }
    }
    (reader.read, reader.operands)
}

struct GetoptReader<'a, S: 'static> {
    table: &'a [&'static GetoptRow<S>],
    read: Vec<GetoptRead<S>>,
    operands: Vec<String>,
    words: VecDeque<String>,
}

impl<S> GetoptReader<'_, S> {
    fn long(&mut self, word: &str) {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        let row = match self.find(name) {
            Ok(row) => row,
            Err(wrong) => return self.read.push(GetoptRead::OptionError(wrong)),
        };
        let label = format!("--{}", row.long);
        match (row.value, attached) {
            (GetoptValue::No, Some(_)) => {
                self.read.push(GetoptRead::OptionError(OptionError::TakesNoValue(label)))
            }
            (GetoptValue::Must, None) => self.next_word(row, label),
            (_, attached) => self.option(row, label, attached.unwrap_or_default()),
        }
    }

    fn cluster(&mut self, cluster: &str) {
        for (at, letter) in cluster.char_indices() {
            let known = self.table.iter().find(|row| row.short == letter && letter != ' ');
            let Some(row) = known.copied() else {
                self.read.push(GetoptRead::OptionError(OptionError::UnknownShort(letter)));
                continue;
            };
            let label = format!("-{letter}");
            if row.value == GetoptValue::No {
                self.option(row, label, String::new());
                continue;
            }
            let attached = &cluster[at + letter.len_utf8()..];
            match row.value {
                GetoptValue::Must | GetoptValue::MayLong if attached.is_empty() => self.next_word(row, label),
                _ => self.option(row, label, attached.to_owned()),
            }
            return;
        }
    }

    fn option(&mut self, row: &'static GetoptRow<S>, label: String, value: String) {
        self.read.push(GetoptRead::Option { row, label, value });
    }

    fn next_word(&mut self, row: &'static GetoptRow<S>, label: String) {
        match self.words.pop_front() {
            Some(value) => self.option(row, label, value),
            None => self.read.push(GetoptRead::OptionError(OptionError::NeedsValue(label))),
        }
    }

    /// The row of a long name, or of an unambiguous beginning of one.
    fn find(&self, name: &str) -> Result<&'static GetoptRow<S>, OptionError> {
        if let Some(row) = self.table.iter().find(|row| row.long == name && !name.is_empty()) {
            return Ok(row);
        }
        let begins = |row: &&&'static GetoptRow<S>| !name.is_empty() && row.long.starts_with(name);
        let all: Vec<_> = self.table.iter().filter(begins).collect();
        let theirs: Vec<_> = all.iter().filter(|row| !row.ours).collect();
        match (theirs.as_slice(), all.as_slice()) {
            ([only], _) => Ok(only),
            ([], [only]) => Ok(only),
            (_, []) => Err(OptionError::UnknownLong(name.to_owned())),
            _ => Err(OptionError::Ambiguous(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(short: char, long: &'static str, value: GetoptValue, ours: bool) -> GetoptRow<Vec<String>> {
        GetoptRow { short, long, value, shown: "", help: "", ours, set: |_, _| Ok(()) }
    }

    fn read_line(line: &str) -> (Vec<(String, String)>, Vec<OptionError>, Vec<String>) {
        let table: Vec<&'static GetoptRow<Vec<String>>> = vec![
            Box::leak(Box::new(row('b', "benchmark", GetoptValue::No, false))),
            Box::leak(Box::new(row('q', "quiet", GetoptValue::No, false))),
            Box::leak(Box::new(row('c', "concurrent", GetoptValue::Must, false))),
            Box::leak(Box::new(row('l', "log", GetoptValue::May, false))),
            Box::leak(Box::new(row('H', "html", GetoptValue::MayLong, false))),
            Box::leak(Box::new(row(' ', "no-parser", GetoptValue::No, false))),
            Box::leak(Box::new(row(' ', "no-follow", GetoptValue::No, false))),
            Box::leak(Box::new(row(' ', "layout", GetoptValue::Must, true))),
            Box::leak(Box::new(row(' ', "strict", GetoptValue::No, true))),
        ];
        let (read, operands) = read(&table, line.split_whitespace().map(str::to_owned).collect());
        let mut options = Vec::new();
        let mut wrong = Vec::new();
        for one in read {
            match one {
                GetoptRead::Option { label, value, .. } => options.push((label, value)),
                GetoptRead::OptionError(what) => wrong.push(what),
            }
        }
        (options, wrong, operands)
    }

    #[test]
    fn words_are_read_as_getopt_reads_them() {
        for (line, options, operands) in [
            ("-bc4 x", vec![("-b", ""), ("-c", "4")], vec!["x"]),
            ("x -c 10", vec![("-c", "10")], vec!["x"]),
            ("-l x", vec![("-l", "")], vec!["x"]),
            ("-lx.log --log=y --log z", vec![("-l", "x.log"), ("--log", "y"), ("--log", "")], vec!["z"]),
            ("--html x -H y --html=z", vec![("--html", ""), ("-H", "y"), ("--html", "z")], vec!["x"]),
            ("--conc=5 --benchmark -- -x", vec![("--concurrent", "5"), ("--benchmark", "")], vec!["-x"]),
            // A name of ours does not make a beginning ambiguous.
            ("--l=1 --st -", vec![("--log", "1"), ("--strict", "")], vec!["-"]),
        ] {
            let (found, wrong, rest) = read_line(line);
            let found: Vec<(&str, &str)> = found.iter().map(|(l, v)| (l.as_str(), v.as_str())).collect();
            assert_eq!(
                (found, rest),
                (options, operands.iter().map(|w| (*w).to_owned()).collect()),
                "{line}"
            );
            assert_eq!(wrong, [], "{line}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_in_its_place() {
        for (line, wrong) in [
            ("--bogus", OptionError::UnknownLong("bogus".to_owned())),
            ("-9", OptionError::UnknownShort('9')),
            ("-c", OptionError::NeedsValue("-c".to_owned())),
            ("--conc", OptionError::NeedsValue("--concurrent".to_owned())),
            ("--no", OptionError::Ambiguous("no".to_owned())),
            ("--quiet=1", OptionError::TakesNoValue("--quiet".to_owned())),
        ] {
            assert_eq!(read_line(line).1, [wrong], "{line}");
        }
    }
}
