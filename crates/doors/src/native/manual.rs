//! What shells and manuals say of the command line, made of its own description.

use super::Cli;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::io;

/// A manual page.
#[derive(Debug)]
pub struct Page {
    /// Its file's name, such as `wringer-cache.1`.
    pub file: String,
    /// It, as roff.
    pub text: Vec<u8>,
}

/// The completions for a shell, a script of that shell.
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "wringer", &mut script);
    script
}

/// The manual pages: of wringer, and of each of its commands.
///
/// # Errors
/// None where memory can be written to.
pub fn pages() -> io::Result<Vec<Page>> {
    let mut command = Cli::command();
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, &mut pages)?;
    Ok(pages)
}

fn add_pages(command: &Command, pages: &mut Vec<Page>) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).title(&name).manual("wringer").render(&mut text)?;
    pages.push(Page { file: format!("{name}.1"), text });
    let shown = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    command.get_subcommands().filter(shown).try_for_each(|command| add_pages(command, pages))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_command_has_its_page() {
        let pages = pages().unwrap();
        let files: Vec<&str> = pages.iter().map(|page| page.file.as_str()).collect();
        for file in ["wringer.1", "wringer-cache.1", "wringer-plan-show.1", "wringer-http_load.1"] {
            assert!(files.contains(&file), "{files:?}");
        }
        assert!(!files.iter().any(|file| file.contains("guard") || file.contains("help")), "{files:?}");
        let cache = pages.iter().find(|page| page.file == "wringer-cache.1").unwrap();
        let text = String::from_utf8(cache.text.clone()).unwrap();
        assert!(text.contains(".SH OPTIONS") && text.contains("fail\\-if"), "{text}");
    }

    #[test]
    fn every_shell_completes_commands_and_options() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(completions(*shell)).unwrap();
            assert!(script.contains("doctor") && script.contains("fail-if"), "{shell}");
        }
    }
}
