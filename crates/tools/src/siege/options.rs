//! Every option of siege, and ours: a row owns its names, what it takes, what it means and its help.

use super::SiegeLayout;
use super::settings::{SiegeSettings, Single, delay, header, number, reps, time};
use crate::getopt::{self, GetoptRead, GetoptRow, GetoptValue, Set};
use std::path::PathBuf;

/// An option of siege.
pub(super) type Opt = GetoptRow<SiegeSettings>;

const fn switch(short: char, long: &'static str, help: &'static str, set: Set<SiegeSettings>) -> Opt {
    GetoptRow { short, long, value: GetoptValue::No, shown: "", help, ours: short == ' ', set }
}

const fn value(
    short: char,
    long: &'static str,
    shown: &'static str,
    help: &'static str,
    set: Set<SiegeSettings>,
) -> Opt {
    GetoptRow { short, long, value: GetoptValue::Must, shown, help, ours: short == ' ', set }
}

/// Switches something on or off.
macro_rules! is {
    ($field:ident = $value:literal) => {
        |settings, _| {
            settings.$field = $value;
            Ok(())
        }
    };
}

/// Asks for something that is not a setting: whoever reads the options looks for it by name.
fn elsewhere(_: &mut SiegeSettings, _: &str) -> Result<(), String> {
    Ok(())
}

/// In the order of the help.
static TABLE: &[Opt] = &[
    switch('V', "version", "prints the version", elsewhere),
    switch('h', "help", "prints this", elsewhere),
    switch('C', "config", "prints the settings as they are understood", elsewhere),
    switch('v', "verbose", "a line for each request", is!(verbose = true)),
    switch('q', "quiet", "prints nothing but what goes wrong before the test", is!(quiet = true)),
    switch('g', "get", "sends one request and shows the heads of it and of its answer", |settings, _| {
        settings.shown = Some(Single::Heads);
        Ok(())
    }),
    switch('p', "print", "sends one GET and shows it with the page", |settings, _| {
        settings.shown = Some(Single::Page);
        Ok(())
    }),
    value('c', "concurrent", "=NUM", "users [default: 25]", |settings, text| {
        settings.users = number(text).max(1);
        Ok(())
    }),
    value('r', "reps", "=NUM|once", "requests of each user; once: the whole list once", |settings, text| {
        settings.reps = Some(reps(text)?);
        Ok(())
    }),
    value('t', "time", "=NUMm", "how long; m is S, M or H: --time=30S", |settings, text| {
        settings.time = Some(time(text)?);
        Ok(())
    }),
    value('d', "delay", "=NUM", "users wait up to so many seconds between requests", |settings, text| {
        settings.delay_s = delay(text)?;
        Ok(())
    }),
    switch('b', "benchmark", "users do not wait", is!(benchmark = true)),
    switch('i', "internet", "each user takes URLs at random", is!(internet = true)),
    value('f', "file", "=FILE", "list of URLs", |settings, text| {
        (settings.file, settings.url) = (text.to_owned(), None);
        Ok(())
    }),
    value('R', "rc", "=FILE", "configuration [default: $SIEGERC, then ~/.siege/siege.conf]", elsewhere),
    GetoptRow {
        short: 'l',
        long: "log",
        value: GetoptValue::May,
        shown: "[=FILE]",
        help: "adds a line of the result to FILE [default: /var/log/siege.log]",
        ours: false,
        set: |settings, text| {
            settings.logging = true;
            if !text.is_empty() {
                settings.logfile = text.to_owned();
            }
            Ok(())
        },
    },
    value('m', "mark", "=\"text\"", "adds a mark to that file", |settings, text| {
        (settings.mark, settings.logging) = (Some(text.to_owned()), true);
        Ok(())
    }),
    value(
        'H',
        "header",
        "=\"text\"",
        "adds a field to each request (may be given several times)",
        |settings, text| {
            settings.headers.push(header(text)?);
            Ok(())
        },
    ),
    value('A', "user-agent", "=\"text\"", "sets User-Agent", |settings, text| {
        settings.user_agent = Some(text.to_owned());
        Ok(())
    }),
    value('T', "content-type", "=\"text\"", "sets Content-Type of requests with a body", |settings, text| {
        settings.content_type = Some(text.to_owned());
        Ok(())
    }),
    switch('j', "json-output", "the result as JSON on standard output", is!(json = true)),
    switch('N', "no-parser", "images, styles and scripts of pages are not fetched", is!(parser = false)),
    switch('F', "no-follow", "redirections are not followed", is!(follow = false)),
    switch('D', "debug", "the heads of all requests and answers", is!(debug = true)),
    switch(' ', "text", "the report as text, whatever the configuration says of JSON", is!(json = false)),
    value(' ', "layout", "=4.0|4.1", "whose report and rules [default: 4.0]", |settings, text| {
        settings.layout = SiegeLayout::parse(text)?;
        Ok(())
    }),
    switch(' ', "strict", "exit 1 where a transaction failed", is!(strict = true)),
    switch(' ', "statuses", "a table of statuses behind the report", is!(statuses = true)),
    switch(' ', "verify", "certificates of servers must be valid", is!(verify = true)),
    value(' ', "seed", "=N", "the same seed asks in the same random order", |settings, text| {
        let wrong = |_| format!("--seed '{text}' is no number: give 0 to 2^64-1");
        settings.seed = text.parse().map_err(wrong)?;
        Ok(())
    }),
    value(' ', "result-json", "=FILE", "the whole result, in wringer's form", |settings, text| {
        settings.result_json = Some(PathBuf::from(text));
        Ok(())
    }),
    switch(' ', "show-plan", "prints the plan instead of running it", is!(show_plan = true)),
];

/// The command line as typed, in order.
pub(super) struct SiegeTyped {
    /// Options with their values; those without one have an empty value, `-l` alone too.
    pub options: Vec<(&'static Opt, String)>,
    /// Words that are no options.
    pub operands: Vec<String>,
    /// Complaints about options that could not be read; the original says so and goes on.
    pub complaints: Vec<String>,
}

/// Reads the words after the command's name.
pub(super) fn read(words: Vec<String>) -> SiegeTyped {
    let (read, operands) = getopt::read(&TABLE.iter().collect::<Vec<_>>(), words);
    let mut typed = SiegeTyped { options: Vec::new(), operands, complaints: Vec::new() };
    for one in read {
        match one {
            GetoptRead::Option { row, value, .. } => typed.options.push((row, value)),
            GetoptRead::OptionError(wrong) => typed.complaints.push(wrong.gnu_text()),
        }
    }
    typed
}

impl SiegeTyped {
    /// The last value of an option, by its long name.
    pub fn last(&self, long: &str) -> Option<&str> {
        self.options.iter().rev().find(|(given, _)| given.long == long).map(|(_, value)| value.as_str())
    }

    /// True if an option was given.
    pub fn has(&self, long: &str) -> bool {
        self.last(long).is_some()
    }
}

/// The help.
pub(super) fn help() -> String {
    let lines = |ours| TABLE.iter().filter(|row| row.ours == ours).map(line).collect::<String>();
    format!(
        "Usage: siege [options]\n       siege [options] URL\n       siege -g URL\nOptions:\n{}\nNot in the original:\n{}\n",
        lines(false),
        lines(true)
    )
}

fn line(row: &Opt) -> String {
    let short = if row.short == ' ' { "   ".to_owned() } else { format!("-{},", row.short) };
    let label = format!("  {short} --{}{}", row.long, row.shown);
    format!("{label:<28}{}\n", row.help)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let typed = read(line.split_whitespace().map(str::to_owned).collect());
            assert_eq!(typed.complaints, [complaint]);
        }
    }
}
