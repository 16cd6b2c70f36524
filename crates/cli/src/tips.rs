//! Tips behind the refusal of an option: what users of other tools may have meant. Start at [`tip`].

use super::words::{CALLED, OTHERS};
use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use std::ffi::OsString;

/// Adds to a refusal what was probably meant. `words`: the command line.
pub(super) fn add(error: &mut Error, command: &Command, words: &[OsString]) {
    match tip(error, command, words) {
        Some(tip) => {
            take_back(error, command, words);
            error.remove(ContextKind::SuggestedSubcommand);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
        None if error.kind() == ErrorKind::UnknownArgument && !is_close(error) => {
            take_back(error, command, words);
        }
        None => {}
    }
}

/// Takes back what clap suggests, and the usage that names it.
fn take_back(error: &mut Error, whole: &Command, words: &[OsString]) {
    error.remove(ContextKind::Suggested);
    if error.remove(ContextKind::SuggestedArg).is_none() {
        return;
    }
    let named = words.get(1).and_then(|word| whole.find_subcommand(word));
    if let Some(command) = named {
        let name = format!("{} {}", whole.get_name(), command.get_name());
        let usage = command.clone().bin_name(name).render_usage();
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    }
}

/// True if the option that clap suggests is so much like what was typed that it may be meant.
fn is_close(error: &Error) -> bool {
    let typed = text(error, ContextKind::InvalidArg);
    let both = typed.zip(text(error, ContextKind::SuggestedArg));
    both.is_some_and(|(typed, meant)| strsim::normalized_damerau_levenshtein(typed, meant) >= CLOSE)
}

/// How much a word that was typed must be like the one that was meant, of 1.
const CLOSE: f64 = 0.75;

/// The same for a long option of another tool: one letter in ten.
const MISTYPED: f64 = 0.9;

/// `-host NAME`, as Go's programs have it, asks for no help. `words`: the command line.
pub(super) fn no_help(error: Error, command: &Command, words: &[OsString]) -> Error {
    let is_long = |word: &&OsString| {
        word.to_str().is_some_and(|word| word.starts_with("-h") && word.len() > 2 && word != "-help")
    };
    let (ErrorKind::DisplayHelp, Some(word)) = (error.kind(), words.iter().find(is_long)) else {
        return error;
    };
    let mut error = Error::new(ErrorKind::UnknownArgument).with_cmd(command);
    error.insert(ContextKind::InvalidArg, ContextValue::String(word.to_string_lossy().into_owned()));
    error
}

fn tip(error: &Error, whole: &Command, words: &[OsString]) -> Option<String> {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let Some(command) = words.get(1).and_then(|name| whole.find_subcommand(name)) else {
        return without_command(whole, &words);
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let typed = text(error, ContextKind::InvalidArg)?;
            let mistyped = || if is_close(error) { None } else { called_like(command, typed) };
            long_with_one_dash(command, &words, |word| word.starts_with(typed))
                .or_else(|| called(command, typed))
                .or_else(|| of_plans(whole, command, typed))
                .or_else(|| of_other_commands(whole, typed))
                .or_else(mistyped)
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
fn without_command(command: &Command, words: &[&str]) -> Option<String> {
    if words.get(1) == Some(&"curl") {
        return Some("a line of curl's goes behind --curl: wringer http --curl 'curl …'".to_owned());
    }
    if let Some(tool) = words.get(1).filter(|word| OTHERS.contains(word)) {
        return Some(format!(
            "{tool}'s command line is not read here: 'wringer http URL' presses a web server, see 'wringer http --help'"
        ));
    }
    if let Some(option) = words.get(1).filter(|word| word.starts_with('-') && word.len() > 1) {
        let http = command
            .find_subcommand("http")
            .filter(|http| has(http, option.split('=').next().expect("a split has a first part")));
        return http.map(|_| {
            format!("'wringer http {option} …' presses a web server; 'wringer --help' lists the commands")
        });
    }
    let file = words.get(1).filter(|word| super::implied::is_file(word))?;
    Some(format!("'wringer run {file}' runs a plan file"))
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
    let option = here.split([' ', ',']).next().expect("a split has a first part");
    (!option.starts_with('-') || has(command, option)).then(|| format!("here that is {here}"))
}

/// A long option of another tool that was mistyped.
fn called_like(command: &Command, typed: &str) -> Option<String> {
    let alike = |there: &str| strsim::normalized_damerau_levenshtein(typed, there);
    let (meant, _) = CALLED.iter().find(|(there, _)| there.starts_with("--") && alike(there) >= MISTYPED)?;
    called(command, meant)
}

/// An option of load behind `run`, whose plans have their own.
fn of_plans(whole: &Command, command: &Command, typed: &str) -> Option<String> {
    let http =
        whole.find_subcommand("http").filter(|http| command.get_name() == "run" && has(http, typed))?;
    Some(format!(
        "a plan says its load itself; 'wringer {} --urls FILE {typed} …' presses the requests of a list, of OpenAPI or of Postman",
        http.get_name()
    ))
}

/// An option that other commands have.
fn of_other_commands(whole: &Command, typed: &str) -> Option<String> {
    let commands = whole.get_subcommands().filter(|one| !one.is_hide_set() && has(one, typed));
    let mut names: Vec<&str> = commands.map(Command::get_name).collect();
    names.sort_unstable();
    let long = typed.starts_with("--");
    (long && !names.is_empty()).then(|| format!("{typed} is an option of {}", names.join(", ")))
}

/// vegeta's list of requests, which is something else than `--targets` here.
const VEGETAS_TARGETS: (&str, &str) = ("-targets", "--urls");

/// `-rate=50`, as Go's programs have it, which is read as `-r ate=50`.
fn long_with_one_dash(command: &Command, words: &[&str], is_it: impl Fn(&str) -> bool) -> Option<String> {
    let single =
        |word: &&&str| word.len() > 2 && word.starts_with('-') && !word.starts_with("--") && is_it(word);
    let word = words.iter().find(single)?;
    let name = word.split('=').next().expect("a split has a first part");
    let (targets, list) = VEGETAS_TARGETS;
    if name == targets && has(command, list) {
        return Some(format!("here that is {list} FILE"));
    }
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
    let is = |long: &str| of.starts_with(long) && has(command, long);
    if is("--duration") && has(command, "--rate") && value.ends_with("rps") {
        return Some(format!("-d is --duration here: a rate is --rate {value}"));
    }
    let begins_with_digit = value.starts_with(|first: char| first.is_ascii_digit());
    if is("--duration") && has(command, "--data") && !value.is_empty() && !begins_with_digit {
        return Some(format!("-d is --duration here: a body is --data '{value}'"));
    }
    if is("--threads") && plan::units::duration(value).is_ok() {
        return Some(format!(
            "-t is --threads here: a time limit is --timeout {value}, the length of a run -d {value}"
        ));
    }
    if is("--user") && is_number {
        return Some(format!("-u is --user here: {value} users are -c {value}"));
    }
    if is("--users") && !is_number && !begins_with_digit {
        return Some(
            "-c is --users here: --cookies keeps what servers set, and --cookie 'NAME=VALUE' sends one"
                .to_owned(),
        );
    }
    if is("--method") && value.contains(':') {
        return Some(format!("-X is --method here: a proxy is --proxy {}", plan::Masked::address(value)));
    }
    if is("--header") && value.contains("://") {
        return Some("-H is --header here: the URL is given by itself, without an option".to_owned());
    }
    (is("--json") && value.starts_with(['{', '[', '"'])).then(|| {
        "--json is the file of the result here: a body is --data TEXT -H 'Content-Type: application/json'"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use crate::Cli;

    fn said(line: &str) -> String {
        Cli::read(line.split(' ')).unwrap_err().to_string()
    }

    #[test]
    fn options_of_other_tools_are_told_by_their_name_here() {
        for (line, tip) in [
            ("wringer http -z 10s h", "-d DURATION"),
            ("wringer http --qps 100 h", "--rate RATE"),
            ("wringer http --concurrency 10 h", "-c USERS"),
            ("wringer http -t 5s h", "a time limit is --timeout 5s, the length of a run -d 5s"),
            ("wringer http -u 100 h", "100 users are -c 100"),
            ("wringer http -c jar.txt h", "--cookies keeps what servers set"),
            ("wringer http -X localhost:3128 http://h/", "a proxy is --proxy localhost:3128"),
            ("wringer http -H http://h/ h", "the URL is given by itself"),
            ("wringer http --json {\"a\":1} h", "a body is --data TEXT"),
            ("wringer http -d hello h", "--data 'hello'"),
            ("wringer http -lat h", "percentiles are always"),
            ("wringer http -h2c h", "--http 2c"),
            ("wringer http -header=A:b h", "two dashes: --header=A:b"),
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
            ("wringer -z 10s http://h/", "-d DURATION"),
            ("wringer plan.toml", "'wringer run plan.toml'"),
            ("wringer k6 run script.js", "'wringer http URL'"),
            ("wringer curl http://h/", "wringer http --curl"),
            ("wringer --urls list.txt", "'wringer http --urls"),
            ("wringer tcp h:1 --traceparent 1%", "--traceparent is an option of cache, "),
            ("wringer http -d 10rps h", "--rate 10rps"),
            ("wringer run api.yaml -c 4", "'wringer http --urls FILE -c …'"),
            ("wringer run api.yaml --rate 4", "'wringer http --urls FILE --rate …'"),
            ("wringer http --durations 3s h", "'--duration'"),
        ] {
            let said = said(line);
            assert!(said.contains("tip: ") && said.contains(tip), "{line}: {said}");
            assert_eq!(said.matches("tip:").count(), 1, "{line}: {said}");
        }
        for line in [
            "wringer cache -L",
            "wringer origin --vus 5",
            "wringer http --nonsense h",
            "wringer cache -d soon",
            "wringer",
        ] {
            assert!(!said(line).contains("here that is"), "{line}");
        }
        // An option that only looks alike is not named in the usage either.
        for line in ["wringer http --batch 3 h", "wringer http --vus 5 h", "wringer http --no-tls h"] {
            assert!(
                said(line).contains("Usage: wringer http [OPTIONS] [URL]...\n"),
                "{line}: {}",
                said(line)
            );
        }
        // What is like nothing gets no tip at all.
        for line in ["wringer http --nonsense h", "wringer http --disable-everything h"] {
            assert!(!said(line).contains("tip:"), "{line}: {}", said(line));
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
        let mut words: Vec<&str> = super::CALLED.iter().map(|(there, _)| *there).collect();
        for (there, here) in super::CALLED {
            assert!(!super::has(http, there), "{there} is an option here");
            assert!(super::called(http, there).is_some(), "{there}: {here}");
            // Options behind the first exist, too.
            let words = here.split([' ', ',', '(', ':', ';', '\'', ')']);
            let options = words.filter(|word| word.starts_with('-') && word.len() > 1);
            let of_others = ["--as", "--version", "--client-speed", "-s"];
            options.filter(|option| !of_others.contains(option)).for_each(|option| {
                assert!(super::has(http, option), "{there}: {option}");
            });
        }
        words.sort_unstable();
        assert!(words.windows(2).all(|two| two[0] != two[1]), "a word stands there twice: {words:?}");
    }

    /// Lines of people who come from another tool: each has a tip, and one that fits.
    #[test]
    fn everyday_lines_of_other_tools_have_a_tip_that_fits() {
        for (line, tip) in [
            ("-z 30s -q 100 h", "-d DURATION"),
            ("--vus 10 -d 30s h", "-c USERS"),
            ("--slowest 10 h", "--keep exchanges"),
            ("--tls-skip-verify https://h", "-k"),
            ("--iterations 100 h", "-n REQUESTS"),
            ("--rps 50 h", "--rate RATE"),
            ("--stage 5s:10 h", "--stages"),
            ("-s 10s:5 h", "--stages"),
            ("--out json=f h", "--json FILE"),
            ("--insecure-skip-tls-verify h", "-k"),
            ("--no-connection-reuse h", "--keep-alive 1"),
            ("--tag a=b h", "--label NAME=VALUE"),
            ("--http-debug h", "-v"),
            ("-e A=b h", "--var NAME=SOURCE"),
            ("--latency-correction h", "--rate RATE"),
            ("--urls-from-file f", "--urls FILE"),
            ("--burst-rate 5 h", "--arrivals bursts:N"),
            ("--rand-regex-url h", "{{text:8}}"),
            ("-m POST h", "-X METHOD"),
            ("-D body h", "--body-file FILE"),
            ("-T text/plain h", "-H 'Content-Type: TYPE'"),
            ("-host name h", "-H 'Host: NAME'"),
            ("-disable-redirects h", "only with --follow"),
            ("-cpus 2 h", "-t THREADS"),
            ("-p body h", "--body-file FILE"),
            ("-C a=b h", "--cookie"),
            ("-P a:b h", "--proxy-user"),
            ("-g out h", "--keep exchanges"),
            ("-r h", "errors end no run"),
            ("-i h", "-X HEAD (ab)"),
            ("--request POST h", "-X METHOD"),
            ("--data-raw x h", "--data TEXT"),
            ("--location h", "--follow"),
            ("--max-time 5 h", "--timeout DURATION"),
            ("--resolve h:80:127.0.0.1 h", "--connect-to"),
            ("--interface 127.0.0.2 h", "--source"),
            ("--http2 h", "--http 2"),
            ("-F a=b h", "--multipart"),
            ("-rate=100/1s h", "two dashes: --rate=100/1s"),
            ("-targets=f", "--urls FILE"),
            ("-laddr=127.0.0.2 h", "--source ADDRESS"),
            ("-max-workers=5 h", "--in-flight N"),
            ("-connections=5 h", "-c USERS"),
            ("-l h", "percentiles are always"),
            ("--print r h", "-q"),
            ("--headless h", "only with --live"),
            ("--run-time 1m h", "-d DURATION"),
            ("--spawn-rate 5 h", "--stages"),
            ("--host http://h/", "the URL itself"),
            ("--csv f h", "--as csv"),
            ("--pipelining 4 h", "--pipeline N"),
            ("--bailout 5 h", "--stop-if"),
            ("--stop-timeout 5 h", "--grace DURATION"),
            ("--processes 4 h", "-t THREADS"),
            ("--tags a=b h", "--label NAME=VALUE"),
            ("--discard-response-bodies h", "not kept"),
            ("--disable-color h", "NO_COLOR=1"),
            ("--no-progress-meter h", "-q"),
            ("--traces-output otel h", "--traceparent SHARE"),
            ("-resolvers 192.0.2.1 h", "--connect-to"),
            ("--socks5 h:1 h", "speaks HTTP alone"),
        ] {
            let said = said(&format!("wringer http {line}"));
            assert!(said.contains("tip: ") && said.contains(tip), "{line}: {said}");
            assert_eq!(said.matches("tip:").count(), 1, "{line}: {said}");
        }
    }
}
