//! Tips behind the refusal of an option: what users of other tools may have meant. Start at [`tip`].

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use std::ffi::OsString;

/// Options of other tools (ab, autocannon, bombardier, curl, hey, k6, oha, vegeta, wrk), and what they are called here.
const CALLED: [(&str, &str); 53] = [
    ("-z", "-d DURATION"),
    ("--test-duration", "-d DURATION"),
    ("--qps", "--rate RATE"),
    ("--rps", "--rate RATE"),
    ("--arrival-rate", "--rate RATE"),
    ("-r", "--rate RATE"),
    ("--concurrency", "-c USERS"),
    ("--connections", "-c USERS"),
    ("--clients", "-c USERS"),
    ("--vus", "-c USERS"),
    ("--iterations", "-n REQUESTS"),
    ("--amount", "-n REQUESTS"),
    ("--num-requests", "-n REQUESTS"),
    ("--total-requests", "-n REQUESTS"),
    ("-i", "-n REQUESTS"),
    ("--stage", "--stages 30s:100,1m:100..1k (requests/s)"),
    ("--workers", "-t THREADS"),
    ("--cpus", "-t THREADS"),
    ("-m", "-X METHOD"),
    ("--request", "-X METHOD"),
    ("-I", "-X HEAD"),
    ("--head", "-X HEAD"),
    ("-L", "--follow"),
    ("--location", "--follow"),
    ("--redirect", "--redirects N"),
    ("-D", "--body-file FILE"),
    ("--body", "--data TEXT, or --body-file FILE"),
    ("--data-raw", "--data TEXT"),
    ("--data-binary", "--body-file FILE"),
    ("--json-body", "--data TEXT -H 'Content-Type: application/json'"),
    ("-F", "--multipart NAME=VALUE"),
    ("-T", "--timeout DURATION, or -H 'Content-Type: TYPE'"),
    ("--max-time", "--timeout DURATION"),
    ("-A", "--user-agent TEXT, or -H 'Accept: TYPE'"),
    ("-a", "--user NAME:PASSWORD"),
    ("--auth", "--user NAME:PASSWORD"),
    ("-b", "--cookie 'NAME=VALUE'"),
    ("-x", "--proxy HOST:PORT"),
    ("--cacert", "--ca FILE"),
    ("--root-certs", "--ca FILE"),
    ("--disable-keepalive", "--keep-alive 1"),
    ("--no-keepalive", "--keep-alive 1"),
    ("--keepalive", "nothing: connections are kept unless --keep-alive says otherwise"),
    ("--disable-compression", "nothing: bodies come compressed only with --compressed"),
    ("--latency", "nothing: percentiles are always in the report"),
    ("--latencies", "nothing: percentiles are always in the report"),
    ("--no-tui", "-q"),
    ("--targets", "--urls FILE"),
    ("-f", "--urls FILE"),
    ("-s", "'wringer wrk -s SCRIPT' for wrk's scripts, or -q for fewer lines"),
    ("--script", "'wringer wrk -s SCRIPT' for wrk's scripts"),
    ("-o", "--json FILE, --html FILE or > FILE"),
    ("--output", "--json FILE, --html FILE or > FILE"),
];

/// Tools whose command lines are not read here.
const OTHERS: [&str; 12] = [
    "autocannon",
    "bombardier",
    "cassowary",
    "curl",
    "drill",
    "gatling",
    "hey",
    "k6",
    "locust",
    "oha",
    "plow",
    "vegeta",
];

/// Adds to a refusal what was probably meant. `words`: the command line.
pub(super) fn add(error: &mut Error, command: &Command, words: &[OsString]) {
    let Some(tip) = tip(error, command, words) else { return };
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

fn tip(error: &Error, command: &Command, words: &[OsString]) -> Option<String> {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let Some(command) = words.get(1).and_then(|name| command.find_subcommand(name)) else {
        return without_command(&words);
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let typed = text(error, ContextKind::InvalidArg)?;
            long_with_one_dash(command, &words, |word| word.starts_with(typed))
                .or_else(|| called(command, typed))
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let (of, value) =
                (text(error, ContextKind::InvalidArg)?, text(error, ContextKind::InvalidValue)?);
            let attached = |word: &str| word.ends_with(value) && word.len() > value.len() + 1;
            long_with_one_dash(command, &words, attached).or_else(|| of_value(command, &words, of, value))
        }
        _ => None,
    }
}

/// Other tools have one thing to do.
fn without_command(words: &[&str]) -> Option<String> {
    if let Some(tool) = words.get(1).filter(|word| OTHERS.contains(word)) {
        return Some(format!(
            "{tool}'s command line is not read here: 'wringer http URL' presses a web server, see 'wringer http --help'"
        ));
    }
    let url = words.iter().skip(1).find(|word| word.contains("://") || word.starts_with("localhost"))?;
    Some(format!(
        "begin with what to do: 'wringer http {url}' presses a web server, 'wringer cache HOST:PORT' a proxy"
    ))
}

fn text(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

fn called(command: &Command, typed: &str) -> Option<String> {
    let (_, here) = CALLED.iter().find(|(there, _)| *there == typed)?;
    // Not every command has it.
    let option = here.split([' ', ',']).next().unwrap_or_default();
    (!option.starts_with('-') || has(command, option)).then(|| format!("here that is {here}"))
}

/// `-rate=50`, as Go's programs have it, which is read as `-r ate=50`.
fn long_with_one_dash(command: &Command, words: &[&str], is_it: impl Fn(&str) -> bool) -> Option<String> {
    let single =
        |word: &&&str| word.len() > 2 && word.starts_with('-') && !word.starts_with("--") && is_it(word);
    let word = words.iter().find(single)?;
    let name = word.split('=').next().unwrap_or_default();
    let long = format!("-{name}");
    match has(command, &long) {
        true => Some(format!("long options have two dashes: -{word}")),
        false => called(command, &long),
    }
}

fn has(command: &Command, option: &str) -> bool {
    command.get_arguments().any(|arg| match option.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| option[1..].starts_with(short)),
    })
}

/// Returns a tip on what a value was meant for that its option does not take.
fn of_value(command: &Command, words: &[&str], of: &str, value: &str) -> Option<String> {
    let behind = |option: &str| words.windows(2).any(|two| two == [option, value]);
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && behind("-q") && has(command, "--rate") {
        return Some(format!("-q is --quiet here: a rate is --rate {value}"));
    }
    let is_time = of.starts_with("--duration") && has(command, "--data");
    (is_time && value.contains(['=', '{', '@']))
        .then(|| format!("-d is --duration here: a body is --data '{value}'"))
}

#[cfg(test)]
mod tests {
    use crate::native::Cli;

    fn said(line: &str) -> String {
        Cli::read(line.split(' ')).unwrap_err().to_string()
    }

    #[test]
    fn options_of_other_tools_are_told_by_their_name_here() {
        for (line, tip) in [
            ("wringer http -z 10s h", "-d DURATION"),
            ("wringer http --qps 100 h", "--rate RATE"),
            ("wringer http --concurrency 10 h", "-c USERS"),
            ("wringer cache --connections 10", "-c USERS"),
            ("wringer http -q 100 h", "--rate 100"),
            ("wringer http h -q 100", "--rate 100"),
            ("wringer http -rate=50 h", "two dashes: --rate=50"),
            ("wringer http -duration=5s h", "two dashes: --duration=5s"),
            ("wringer http -targets=x", "--urls FILE"),
            ("wringer http -vus 5 h", "-c USERS"),
            ("wringer http -d a=1 h", "--data 'a=1'"),
            ("wringer http --latency h", "percentiles are always"),
            ("wringer http -L h", "--follow"),
            ("wringer http --cacert x https://h", "--ca FILE"),
            ("wringer http://h/", "'wringer http http://h/'"),
            ("wringer -c 10 -n 100 http://h/", "'wringer http http://h/'"),
            ("wringer hey -n 100 http://h/", "hey's command line is not read here: 'wringer http URL'"),
            ("wringer vegeta attack", "'wringer http URL'"),
            ("wringer k6 run script.js", "'wringer http URL'"),
        ] {
            let said = said(line);
            assert!(said.contains("tip: ") && said.contains(tip), "{line}: {said}");
            assert_eq!(said.matches("tip:").count(), 1, "{line}: {said}");
        }
        for line in ["wringer cache -L", "wringer http --nonsense h", "wringer cache -d soon", "wringer"] {
            assert!(!said(line).contains("here that is"), "{line}");
        }
        for line in ["wringer http -t2 -c4 -d3s h", "wringer http -n=5 h"] {
            assert!(Cli::read(line.split(' ')).is_ok(), "{line}");
        }
    }

    /// The option that a tip names is one of `wringer http`, and the one that it replaces is none.
    #[test]
    fn tips_name_what_there_is() {
        let command = <Cli as clap::CommandFactory>::command();
        let http = command.find_subcommand("http").unwrap();
        for (there, here) in super::CALLED {
            assert!(!super::has(http, there), "{there} is an option here");
            assert!(super::called(http, there).is_some(), "{here}");
        }
    }
}
