//! Stage one: what was typed, read as GNU `getopt_long` reads it: clusters of short options, attached and separate values,
//! abbreviated long names, and operands anywhere. What it means is [`super::settings`]'s business.

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    No,
    Must,
    /// Only where it is attached: `-lFILE`, `--log=FILE`.
    May,
}

/// One option: a row of the table.
struct Row {
    /// A blank where there is no short form.
    short: char,
    long: &'static str,
    value: Value,
    option: Opt,
}

/// The options, the original's first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opt {
    Version,
    Help,
    Config,
    Verbose,
    Quiet,
    Debug,
    Get,
    Print,
    Concurrent,
    Reps,
    Time,
    Delay,
    Benchmark,
    Internet,
    File,
    Rc,
    Log,
    Mark,
    Header,
    UserAgent,
    ContentType,
    Json,
    NoParser,
    NoFollow,
    /// From here on ours.
    Text,
    Layout,
    Strict,
    Statuses,
    Verify,
    Seed,
    ResultJson,
    ShowPlan,
}

const fn row(short: char, long: &'static str, value: Value, option: Opt) -> Row {
    Row { short, long, value, option }
}

const TABLE: &[Row] = &[
    row('V', "version", Value::No, Opt::Version),
    row('h', "help", Value::No, Opt::Help),
    row('C', "config", Value::No, Opt::Config),
    row('v', "verbose", Value::No, Opt::Verbose),
    row('q', "quiet", Value::No, Opt::Quiet),
    row('D', "debug", Value::No, Opt::Debug),
    row('g', "get", Value::No, Opt::Get),
    row('p', "print", Value::No, Opt::Print),
    row('c', "concurrent", Value::Must, Opt::Concurrent),
    row('r', "reps", Value::Must, Opt::Reps),
    row('t', "time", Value::Must, Opt::Time),
    row('d', "delay", Value::Must, Opt::Delay),
    row('b', "benchmark", Value::No, Opt::Benchmark),
    row('i', "internet", Value::No, Opt::Internet),
    row('f', "file", Value::Must, Opt::File),
    row('R', "rc", Value::Must, Opt::Rc),
    row('l', "log", Value::May, Opt::Log),
    row('m', "mark", Value::Must, Opt::Mark),
    row('H', "header", Value::Must, Opt::Header),
    row('A', "user-agent", Value::Must, Opt::UserAgent),
    row('T', "content-type", Value::Must, Opt::ContentType),
    row('j', "json-output", Value::No, Opt::Json),
    row('N', "no-parser", Value::No, Opt::NoParser),
    row('F', "no-follow", Value::No, Opt::NoFollow),
    row(' ', "text", Value::No, Opt::Text),
    row(' ', "layout", Value::Must, Opt::Layout),
    row(' ', "strict", Value::No, Opt::Strict),
    row(' ', "statuses", Value::No, Opt::Statuses),
    row(' ', "verify", Value::No, Opt::Verify),
    row(' ', "seed", Value::Must, Opt::Seed),
    row(' ', "result-json", Value::Must, Opt::ResultJson),
    row(' ', "show-plan", Value::No, Opt::ShowPlan),
];

/// What was typed, in order.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Typed {
    /// Options with their values; those without one have an empty value, `-l` alone too.
    pub options: Vec<(Opt, String)>,
    /// Words that are no options.
    pub operands: Vec<String>,
    /// What could not be read; the original says so and goes on.
    pub complaints: Vec<String>,
}

/// Reads the words after the command's name.
pub(super) fn read(args: &[String]) -> Typed {
    let mut typed = Typed::default();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            typed.operands.extend(words.by_ref().cloned());
        } else if let Some(long) = word.strip_prefix("--") {
            typed.long(long, &mut words);
        } else if let Some(cluster) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            typed.cluster(cluster, &mut words);
        } else {
            typed.operands.push(word.clone());
        }
    }
    typed
}

impl Typed {
    fn long<'a>(&mut self, word: &str, rest: &mut impl Iterator<Item = &'a String>) {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        let row = match find(name) {
            Ok(row) => row,
            Err(complaint) => return self.complaints.push(complaint),
        };
        let value = match (row.value, attached) {
            (Value::No, Some(_)) => {
                return self.complaints.push(format!("option '--{}' doesn't allow an argument", row.long));
            }
            (Value::Must, None) => match rest.next() {
                Some(value) => value.clone(),
                None => {
                    return self.complaints.push(format!("option '--{}' requires an argument", row.long));
                }
            },
            (_, attached) => attached.unwrap_or_default(),
        };
        self.options.push((row.option, value));
    }

    fn cluster<'a>(&mut self, cluster: &str, rest: &mut impl Iterator<Item = &'a String>) {
        for (at, letter) in cluster.char_indices() {
            let Some(row) = TABLE.iter().find(|row| row.short == letter && letter != ' ') else {
                self.complaints.push(format!("invalid option -- '{letter}'"));
                continue;
            };
            if row.value == Value::No {
                self.options.push((row.option, String::new()));
                continue;
            }
            let attached = &cluster[at + letter.len_utf8()..];
            match (attached.is_empty(), row.value) {
                (true, Value::Must) => match rest.next() {
                    Some(value) => self.options.push((row.option, value.clone())),
                    None => self.complaints.push(format!("option requires an argument -- '{letter}'")),
                },
                _ => self.options.push((row.option, attached.to_owned())),
            }
            return;
        }
    }

    /// The last value of an option.
    pub fn last(&self, option: Opt) -> Option<&str> {
        self.options.iter().rev().find(|(given, _)| *given == option).map(|(_, value)| value.as_str())
    }

    /// Whether an option was given.
    pub fn has(&self, option: Opt) -> bool {
        self.last(option).is_some()
    }
}

/// The row of a long name, or of an unambiguous beginning of one.
fn find(name: &str) -> Result<&'static Row, String> {
    if let Some(row) = TABLE.iter().find(|row| row.long == name) {
        return Ok(row);
    }
    let mut candidates = TABLE.iter().filter(|row| !name.is_empty() && row.long.starts_with(name));
    match (candidates.next(), candidates.next()) {
        (Some(row), None) => Ok(row),
        (Some(_), Some(_)) => Err(format!("option '--{name}' is ambiguous")),
        _ => Err(format!("unrecognized option '--{name}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(line: &str) -> Typed {
        read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn words_are_read_as_getopt_reads_them() {
        use Opt::*;
        for (line, options, operands) in [
            (
                "-bc4 -r 10 http://h/",
                vec![(Benchmark, ""), (Concurrent, "4"), (Reps, "10")],
                vec!["http://h/"],
            ),
            ("http://h/ -t1M", vec![(Time, "1M")], vec!["http://h/"]),
            ("-l http://h/", vec![(Log, "")], vec!["http://h/"]),
            ("-lx.log --log=y --log z", vec![(Log, "x.log"), (Log, "y"), (Log, "")], vec!["z"]),
            (
                "--conc=5 --json --time 5S -- -x",
                vec![(Concurrent, "5"), (Json, ""), (Time, "5S")],
                vec!["-x"],
            ),
            (
                "-qN -FDv -",
                vec![(Quiet, ""), (NoParser, ""), (NoFollow, ""), (Debug, ""), (Verbose, "")],
                vec!["-"],
            ),
        ] {
            let typed = read_line(line);
            let wanted: Vec<_> =
                options.iter().map(|(option, value)| (*option, (*value).to_owned())).collect();
            assert_eq!(
                (typed.options, typed.operands),
                (wanted, operands.iter().map(|w| (*w).to_owned()).collect()),
                "{line}"
            );
            assert_eq!(typed.complaints, Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_said_and_passed_over() {
        for (line, complaint) in [
            ("--bogus", "unrecognized option '--bogus'"),
            ("-9", "invalid option -- '9'"),
            ("-c", "option requires an argument -- 'c'"),
            ("--reps", "option '--reps' requires an argument"),
            ("--no", "option '--no' is ambiguous"),
            ("--quiet=1", "option '--quiet' doesn't allow an argument"),
        ] {
            assert_eq!(read_line(line).complaints, [complaint]);
        }
    }
}
