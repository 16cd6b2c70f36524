//! `wringer completions SHELL`, and the manual pages of packages.

use crate::problem::{Exit, Problem};
use crate::{layout, output};
use clap_complete::Shell;
use cli::{Around, Lang};
use std::path::Path;

/// Has something done with what others know of the command line: old tools, exit codes, layouts.
pub fn with_around<T>(lang: Lang, does: impl FnOnce(&Around<'_>) -> T) -> T {
    let layouts: Vec<_> = layout::all().map(|layout| (layout.name, layout.about)).collect();
    does(&Around {
        tools: &tools::lines(),
        exits: &report::exits::table(layout::language_of(lang)),
        layouts: &layouts,
        lang,
    })
}

/// Prints the completions for a shell.
pub fn completions(shell: Shell) -> Exit {
    output::write_bytes(&with_around(Lang::En, |around| cli::completions(shell, around)));
    Exit::Ok
}

/// Writes a manual page for each command, the old tools' included, into a folder: in English, as packages have them.
///
/// # Errors
/// A file that cannot be written.
pub fn pages(dir: &Path) -> Result<Exit, Problem> {
    let cannot = |error| Problem::impossible(format!("no manual pages in {}: {error}", dir.display()));
    let usages: Vec<_> = tools::ALL.iter().map(|tool| (tool.name, (tool.usage)())).collect();
    for page in with_around(Lang::En, |around| cli::pages(&usages, around)).map_err(cannot)? {
        std::fs::write(dir.join(page.file), page.text).map_err(cannot)?;
    }
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cli::{Cli, CliSettings};

    #[test]
    fn layouts_and_old_tools_have_chinese() {
        let said = |line: &str| {
            let read = |around: &Around<'_>| Cli::read_with(line.split(' '), around, &CliSettings::default());
            with_around(Lang::Zh, read).unwrap_err().to_string()
        };
        let is_chinese = |line: &str| line.chars().any(|letter| letter > '\u{2e80}');
        let report = said("wringer report --help");
        let layouts: Vec<&str> = report.lines().filter(|line| line.trim_start().starts_with("- ")).collect();
        assert_eq!(layouts.len(), layout::all().count(), "{report}");
        let english: Vec<_> = layouts.into_iter().filter(|line| !is_chinese(line)).collect();
        assert!(english.is_empty(), "{english:?}");
        let whole = said("wringer --help");
        for tool in tools::ALL {
            let begin = format!("  {} ", tool.name);
            let line = whole.lines().find(|line| line.starts_with(&begin));
            assert!(line.is_some_and(is_chinese), "{line:?}");
        }
        assert!(whole.contains("退出码"), "{whole}");
    }
}
