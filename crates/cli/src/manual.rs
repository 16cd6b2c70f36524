//! Completions and manual pages, made of the description that reads the command line.

use super::{Around, Cli};
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io;

/// The proxies that wringer starts.
const RIGS: &[&str] =
    &["ats", "nginx", "varnish", "vinyl", "squid", "haproxy", "httpd", "envoy", "souin", "h2o", "caddy"];

/// Values that shells offer, by the long name of the option. Its own parser says which of them it takes, and takes others, too.
const OFFERED: &[(&str, &[&str])] = &[
    ("arrivals", &["even", "poisson", "each-second"]),
    ("check", &["all", "prefix", "nothing"]),
    ("close", &["fin", "reset"]),
    ("form", &["reverse", "forward", "transparent"]),
    (
        "freshness",
        &["max-age", "s-maxage", "expires", "mixed", "huge", "stale-while-revalidate", "stale-if-error"],
    ),
    ("http", &["1.1", "2", "2c", "3"]),
    ("io", &["auto", "uring", "epoll"]),
    ("keep", &["failures", "exchanges"]),
    ("keys", &["plain", "look-alike", "same-hash"]),
    ("order", &["loop", "random", "weighted", "per-user", "slices"]),
    ("origin-resumption", &["off", "on", "0-rtt"]),
    ("origin-tls-versions", &["1.2", "1.3"]),
    ("quic", &["real", "lab"]),
    ("resend", &["never", "goaway", "idle", "safe"]),
    ("resumption", &["off", "on", "0-rtt"]),
    ("rig", RIGS),
    ("tls-versions", &["1.2", "1.3"]),
    ("to", &["toml", "json", "yaml"]),
    ("vary-form", &["one-line", "lines", "mixed-case", "changing"]),
];

/// A manual page.
#[derive(Debug)]
pub struct Page {
    /// Its file's name, such as `wringer-cache.1`.
    pub file: String,
    /// It, as roff.
    pub text: Vec<u8>,
}

/// The completions for a shell, as a script of that shell: of the native commands and their options, and the old tools' names.
pub fn completions(shell: Shell, around: &Around<'_>) -> Vec<u8> {
    let mut script = Vec::new();
    let rigs = || PossibleValuesParser::new(RIGS.iter().copied());
    let command = with_values(around.told(shown()));
    let mut command =
        command.mut_subcommand("rig", |rig| rig.mut_arg("name", |name| name.value_parser(rigs())));
    clap_complete::generate(shell, &mut command, "wringer", &mut script);
    script
}

/// A command whose options say which values shells offer. It takes no others, which is enough for completions.
fn with_values(command: Command) -> Command {
    command
        .mut_args(|arg| {
            let values = offered(&arg);
            if values.is_empty() { arg } else { arg.value_parser(PossibleValuesParser::new(values)) }
        })
        .mut_subcommands(with_values)
}

/// Values of an option that has none by itself: those of the table that it takes.
fn offered(arg: &Arg) -> Vec<&'static str> {
    let has_own = !arg.get_action().takes_values() || !arg.get_possible_values().is_empty();
    let values = OFFERED.iter().find(|(long, _)| arg.get_long() == Some(*long) && !has_own);
    let is_taken = |value: &&&str| {
        let value_alone = Arg::new("value").value_parser(arg.get_value_parser().clone());
        Command::new("value").no_binary_name(true).arg(value_alone).try_get_matches_from([**value]).is_ok()
    };
    values.iter().flat_map(|(_, values)| *values).filter(is_taken).copied().collect()
}

/// The manual pages of wringer, of each of its commands, and of each old tool, whose usages stand as they are.
///
/// # Errors
/// None where memory can be written to.
pub fn pages(usages: &[(&str, String)], around: &Around<'_>) -> io::Result<Vec<Page>> {
    let mut command = around.told(shown()).disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, usages, &mut pages)?;
    Ok(pages)
}

/// The command line without what wringer only says to itself.
fn shown() -> Command {
    let whole = Cli::command();
    let commands: Vec<Command> =
        whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let about = whole.get_about().cloned().unwrap_or_default();
    let after = whole.get_after_help().cloned().unwrap_or_default();
    Command::new("wringer")
        .version(env!("CARGO_PKG_VERSION"))
        .about(about)
        .after_help(after)
        .subcommand_required(true)
        .subcommands(commands)
}

fn add_pages(command: &Command, usages: &[(&str, String)], pages: &mut Vec<Page>) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let usage = usages.iter().find(|(tool, _)| command.get_name() == *tool);
    let man = Man::new(command.clone()).title(&name).manual("wringer");
    let mut text = Vec::new();
    match usage {
        Some((_, usage)) => {
            man.render_title(&mut text)?;
            man.render_name_section(&mut text)?;
            as_it_stands(usage).to_writer(&mut text)?;
        }
        None => man.render(&mut text)?,
    }
    pages.push(Page { file: format!("{name}.1"), text });
    command.get_subcommands().try_for_each(|command| add_pages(command, usages, pages))
}

/// A usage whose lines stay as they are.
fn as_it_stands(usage: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["DESCRIPTION"]).control("nf", []);
    for line in usage.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    const TOOLS: &[(&str, &str)] = &[("ab", "ApacheBench"), ("http_load", "ACME's")];

    fn page<'a>(pages: &'a [Page], file: &str) -> std::borrow::Cow<'a, str> {
        let files: Vec<&str> = pages.iter().map(|page| page.file.as_str()).collect();
        let found = pages.iter().find(|page| page.file == file);
        String::from_utf8_lossy(&found.unwrap_or_else(|| panic!("no {file} in {files:?}")).text)
    }

    #[test]
    fn every_command_has_its_page() {
        let usage = "Usage: ab\n    -n requests  'all' \\ of them\n".to_owned();
        let around = Around { tools: TOOLS, exits: "Exit codes:\n  3  Failed.\n", ..Around::default() };
        let pages = pages(&[("ab", usage)], &around).unwrap();
        for file in ["wringer.1", "wringer-http.1"] {
            let text = page(&pages, file);
            assert!(text.contains("Exit codes:") && text.contains("docs/src/ci.md"), "{file}: {text}");
        }
        let cache = page(&pages, "wringer-cache.1");
        assert!(cache.contains(".SH OPTIONS") && cache.contains("fail\\-if"), "{cache}");
        for file in ["wringer.1", "wringer-plan-show.1", "wringer-http_load.1"] {
            assert!(page(&pages, file).contains(".SH NAME\nwringer"), "{file}");
        }
        let old = page(&pages, "wringer-ab.1");
        assert!(
            old.contains(".nf\nUsage: ab\n    \\-n requests  \\*(Aqall\\*(Aq \\\\ of them\n.fi\n"),
            "{old}"
        );
        assert!(!pages.iter().any(|page| page.file.contains("guard") || page.file.contains("help")));
    }

    /// The values of an option of a command, as shells offer them.
    fn values(command: &str, option: &str) -> Vec<String> {
        let whole = with_values(shown());
        let command = whole.find_subcommand(command).unwrap();
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(option)).unwrap();
        arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
    }

    #[test]
    fn values_are_offered_where_they_are_fixed() {
        for (command, option, offered) in [
            ("http", "http", "1.1 2 2c 3"),
            ("origin", "http", "1.1 2 3"),
            ("http", "io", "auto uring epoll"),
            ("http", "order", "loop random weighted per-user slices"),
            ("http", "close", "fin reset"),
            ("http", "resend", "never goaway idle safe"),
            ("http", "tls-versions", "1.2 1.3"),
            ("http", "resumption", "off on 0-rtt"),
            ("http", "quic", "real lab"),
            ("http", "arrivals", "even poisson each-second"),
            ("find", "arrivals", "even poisson"),
            ("http", "keep", "failures exchanges"),
            ("cache", "rig", "ats nginx varnish vinyl squid haproxy httpd envoy souin h2o caddy"),
            ("cache", "form", "reverse forward transparent"),
            ("http", "form", ""),
            ("http", "urls", ""),
        ] {
            assert_eq!(values(command, option).join(" "), offered, "{command} --{option}");
        }
        let around = Around { tools: TOOLS, ..Around::default() };
        let bash = String::from_utf8(completions(Shell::Bash, &around)).unwrap();
        assert!(bash.contains("compgen -W \"auto uring epoll\""), "{bash}");
    }

    /// An entry that no option takes any more is a mistake.
    #[test]
    fn every_value_that_is_offered_is_taken() {
        fn gather(command: &Command, found: &mut Vec<(String, String)>) {
            for arg in command.get_arguments() {
                let long = arg.get_long().unwrap_or_default();
                found.extend(offered(arg).into_iter().map(|value| (long.to_owned(), value.to_owned())));
            }
            command.get_subcommands().for_each(|command| gather(command, found));
        }
        let mut found = Vec::new();
        gather(&shown(), &mut found);
        for (long, values) in OFFERED {
            for value in *values {
                let entry = ((*long).to_owned(), (*value).to_owned());
                assert!(found.contains(&entry), "--{long} {value}");
            }
        }
    }

    #[test]
    fn every_shell_completes_commands_and_options() {
        for shell in Shell::value_variants() {
            let around = Around { tools: TOOLS, ..Around::default() };
            let script = String::from_utf8(completions(*shell, &around)).unwrap();
            assert!(["doctor", "http_load", "fail-if"].iter().all(|word| script.contains(word)), "{shell}");
            assert!(!script.contains("rig-guard"), "{shell}");
        }
    }
}
