//! Help in Chinese: the texts of a table, put in place of English ones where help is printed. What the table lacks stays English.
//! Start at [`help`].

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};
use std::collections::HashMap;
use std::ffi::OsString;

/// A text a line, behind its key: `COMMAND`, `COMMAND.OPTION`, `*.OPTION` of all commands that have it, or `=HEADING`.
const TABLE: &str = include_str!("zh/help.tsv");

const TEMPLATE: &str = "{before-help}{about-with-newline}\n用法：{usage}\n\n{all-args}{after-help}";

/// The line that clap itself says of its command `help`.
const OF_HELP: &str = "Print this message or the help of the given subcommand(s)";

type Texts = HashMap<&'static str, &'static str>;

fn texts() -> Texts {
    TABLE.lines().filter_map(|line| line.split_once('\t')).collect()
}

/// Help in Chinese in place of what was said in English; a refusal stays as it is. `whole`: the command line, not yet read with.
pub(super) fn help(said: clap::Error, whole: Command, words: &[OsString]) -> clap::Error {
    let is_missing = said.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if said.kind() != ErrorKind::DisplayHelp && !is_missing {
        return said;
    }
    let texts = texts();
    let again = match spoken(whole, "", &texts).try_get_matches_from(words) {
        Err(again) if again.kind() == said.kind() => again,
        Ok(_) | Err(_) => return said,
    };
    let of_help = texts.get("help").copied().unwrap_or(OF_HELP);
    let text = closed_up(&again.render().ansi().to_string()).replace(OF_HELP, of_help);
    let printing = Command::new("wringer").override_help(text).arg_required_else_help(is_missing);
    let asks: &[&str] = if is_missing { &["wringer"] } else { &["wringer", "--help"] };
    printing.try_get_matches_from(asks).err().unwrap_or(said)
}

/// A command, reached by the words `name`, that speaks Chinese.
fn spoken(command: Command, name: &str, texts: &Texts) -> Command {
    let text = |key: &str| texts.get(key).map(|text| apart(text));
    let heading = |english: &str| texts.get(format!("={english}").as_str()).copied();
    let rank = |arg: &Arg| match (arg.get_help_heading(), arg.is_positional()) {
        (None, true) => 0,
        (None, false) => 1,
        (Some(_), _) => 2,
    };
    let mut args: Vec<(u8, String)> =
        command.get_arguments().map(|arg| (rank(arg), arg.get_id().to_string())).collect();
    args.sort_by_key(|(rank, _)| *rank);
    let (plain, headed): (Vec<_>, Vec<_>) = args.into_iter().partition(|(rank, _)| *rank < 2);
    let told = |arg: Arg| {
        let own = if arg.is_positional() { "Arguments" } else { "Options" };
        let under = heading(arg.get_help_heading().unwrap_or(own));
        let about = of_option(texts, name, &arg).map(apart);
        let arg = under.into_iter().fold(arg, |arg, under| arg.help_heading(under));
        about.into_iter().fold(arg, |arg, about| arg.help(about.clone()).long_help(about))
    };
    let flag = |id: &'static str, short, action| {
        let arg = Arg::new(id).long(id).short(short).action(action).display_order(998);
        told(arg)
    };
    // Headings follow each other as their first options do: those of everybody first, as in English.
    let mut command = command.disable_help_flag(true).help_template(TEMPLATE);
    command = plain.iter().fold(command, |command, (_, id)| command.mut_arg(id, told));
    command = command.arg(flag("help", 'h', ArgAction::Help));
    if name.is_empty() {
        command = command.disable_version_flag(true).arg(flag("version", 'V', ArgAction::Version));
    }
    command = headed.iter().fold(command, |command, (_, id)| command.mut_arg(id, told));
    command = text(name).into_iter().fold(command, |command, about| command.about(about));
    command =
        heading("Commands").into_iter().fold(command, |command, of| command.subcommand_help_heading(of));
    command.mut_subcommands(|below| {
        let name = [name, below.get_name()].join(" ").trim_start().to_owned();
        spoken(below, &name, texts)
    })
}

/// The text of an option, or of a word that is none, of a command.
fn of_option(texts: &Texts, command: &str, arg: &Arg) -> Option<&'static str> {
    let option = arg.get_long().unwrap_or(arg.get_id().as_str());
    let keys = [format!("{command}.{option}"), format!("*.{option}")];
    keys.iter().find_map(|key| texts.get(key.as_str()).copied())
}

/// True for a letter of two columns.
fn is_wide(letter: char) -> bool {
    letter >= '\u{2e80}'
}

/// Stands for a space that was there, where one is added behind it.
const SPACE: char = '\u{a0}';

/// A text with a space behind each wide letter, where a line may end: so clap, which counts a column for each letter, wraps it.
fn apart(text: &str) -> String {
    let mut apart = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        apart.push(letter);
        let Some(next) = letters.peek().copied().filter(|_| is_wide(letter)) else { continue };
        if next == ' ' {
            apart.push(SPACE);
        } else if !"（「《“".contains(letter) && !"，。；：、）」》？！”…".contains(next) {
            apart.push(' ');
        }
    }
    apart
}

/// Printed text without the spaces of [`apart`], and with the signs that stand behind wide letters.
fn closed_up(text: &str) -> String {
    let mut closed = String::new();
    let mut letters = text.chars().peekable();
    let mut before = '\n';
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or('\n');
        let kept = match letter {
            ' ' if before == SPACE || is_wide(before) && next != '[' => None,
            SPACE if next == '\n' => None,
            SPACE => Some(' '),
            ':' if is_wide(before) && (next == '\n' || next == '\u{1b}') => Some('：'),
            other => Some(other),
        };
        closed.extend(kept);
        before = letter;
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Around, Cli, Lang, Settings};
    use std::collections::BTreeSet;

    /// Commands of which every option has Chinese.
    const WHOLE: [&str; 1] = ["http"];

    fn said(line: &str) -> String {
        let around = Around { lang: Lang::Zh, ..Around::default() };
        Cli::read_with(line.split(' '), &around, &Settings::default()).unwrap_err().to_string()
    }

    /// Keys that a command and those below it ask for.
    fn keys(command: &Command, name: &str, found: &mut Vec<(String, String)>) {
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let option = arg.get_long().unwrap_or(arg.get_id().as_str());
            found.push((format!("{name}.{option}"), format!("*.{option}")));
            found.extend(arg.get_help_heading().map(|of| (format!("={of}"), String::new())));
        }
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            let name = [name, below.get_name()].join(" ").trim_start().to_owned();
            found.push((name.clone(), String::new()));
            keys(below, &name, found);
        }
    }

    #[test]
    fn commands_headings_and_whole_commands_have_chinese_and_no_line_names_nothing() {
        let (texts, mut asked) = (texts(), Vec::new());
        keys(&crate::whole(), "", &mut asked);
        let is_wanted = |key: &str| {
            let command = key.split_once('.').map(|(command, _)| command);
            key.starts_with('=') || command.is_none_or(|command| WHOLE.contains(&command))
        };
        let has = |key: &str| texts.contains_key(key);
        let missing: BTreeSet<_> = asked
            .iter()
            .filter(|(own, shared)| is_wanted(own) && !has(own) && !has(shared))
            .map(|(own, _)| own)
            .collect();
        assert!(missing.is_empty(), "without Chinese: {missing:?}");
        let own = ["", "help", "=Arguments", "=Options", "=Commands", "*.help", ".version"];
        let is_asked =
            |key: &str| own.contains(&key) || asked.iter().any(|(one, all)| one == key || all == key);
        let vain: Vec<_> = texts.keys().filter(|key| !is_asked(key)).collect();
        assert!(vain.is_empty(), "of nothing: {vain:?}");
    }

    #[test]
    fn help_is_chinese_in_its_lines_and_headings() {
        for line in ["wringer http --help", "wringer http -h", "wringer help http"] {
            let said = said(line);
            assert!(said.starts_with("压 Web 服务器\n\n用法：wringer http [OPTIONS] [URL]..."), "{said}");
            assert!(said.contains("\n参数：\n") && said.contains("\n选项：\n"), "{said}");
            assert!(
                said.contains("--rate <") && !said.contains(SPACE) && !said.contains("Options:"),
                "{said}"
            );
        }
        let whole = said("wringer --help");
        assert!(whole.contains("\n命令：\n") && !whole.contains(OF_HELP), "{whole}");
        assert!(said("wringer http h --rate soon").starts_with("error: "));
    }

    #[test]
    fn spaces_that_were_added_go_and_others_stay() {
        for text in ["压 Web 服务器", "用户（闭环），每个 1 个", "a b：c", "中文"] {
            assert_eq!(closed_up(&apart(text)), text);
        }
        assert_eq!(closed_up("中\u{a0}\n x"), "中\n x");
    }
}
