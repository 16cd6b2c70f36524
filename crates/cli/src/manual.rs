//! Completions and manual pages, made of the description that reads the command line.

use super::{Around, Cli};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io;

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
    clap_complete::generate(shell, &mut around.told(shown()), "wringer", &mut script);
    script
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
