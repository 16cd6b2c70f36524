//! Help in Chinese: the texts of a table, put in place of English ones where help is printed. What the table lacks stays English.
//! Start at [`help`].

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};
use std::collections::HashMap;
use std::ffi::OsString;
use unicode_width::UnicodeWidthChar;

/// A text a line, behind its key: `COMMAND`, `COMMAND.OPTION`, `*.OPTION` of all commands that have it, or `=HEADING`. A word that is no
/// option stands in capitals, and a value behind its option, `COMMAND.OPTION=VALUE`.
const TABLE: &str = include_str!("zh/help.tsv");

const TEMPLATE: &str = "{before-help}{about-with-newline}\n用法：{usage}\n\n{all-args}{after-help}";

/// The line that clap itself says of its command `help`.
const OF_HELP: &str = "Print this message or the help of the given subcommand(s)";

/// Words that clap itself says of values, and between which no line ends.
const OF_VALUES: [(&str, &str); 2] = [("[default:", "[默认："), ("Possible values:", "可选值：")];

/// How values are typed.
pub(super) const UNITS: &str = "时长 500ms 2s 3m · 大小 4KiB 1MB · 速率 10k/s · 比例 0.25 或 25%";

/// Files that others want beside a command.
pub(super) const BESIDE: &str =
    "CI：docs/src/ci.md 有 GitHub 的 action 和 GitLab 的 job · 容器：docs/src/install.md";

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
    let printed = again.render().ansi().to_string();
    let printed = OF_VALUES.iter().fold(listed(&printed), |text, &(of, chinese)| text.replace(of, chinese));
    let text = closed_up(&printed).replace(OF_HELP, of_help);
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
        let about = of(texts, name, &named(&arg)).map(apart);
        let arg = under.into_iter().fold(arg, |arg, under| arg.help_heading(under));
        let arg = about.into_iter().fold(arg, |arg, about| arg.help(about.clone()).long_help(about));
        with_values(arg, name, texts)
    };
    let flag = |id: &'static str, short, action| {
        let arg = Arg::new(id).long(id).short(short).action(action).display_order(998);
        told(arg)
    };
    // Headings follow each other as their first options do: those of everybody first, as in English.
    let mut command = with_end_apart(command).disable_help_flag(true).help_template(TEMPLATE);
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

/// A command whose help ends with lines that can be wrapped.
fn with_end_apart(command: Command) -> Command {
    let after = command.get_after_help().map(ToString::to_string);
    let after_long = command.get_after_long_help().map(ToString::to_string);
    let command = after.iter().fold(command, |command, after| command.after_help(apart(after)));
    after_long.iter().fold(command, |command, after| command.after_long_help(apart(after)))
}

/// An option of a command whose values speak Chinese. It takes them as text, which is enough for help.
fn with_values(arg: Arg, command: &str, texts: &Texts) -> Arg {
    let values = shown_values(&arg);
    if values.is_empty() {
        return arg;
    }
    let option = named(&arg);
    let told = |value: PossibleValue| {
        let about = of(texts, command, &format!("{option}={}", value.get_name())).map(apart);
        about.into_iter().fold(value, |value, about| value.help(about))
    };
    arg.value_parser(PossibleValuesParser::new(values.into_iter().map(told)))
}

/// Values of an option, where help says something of one of them.
fn shown_values(arg: &Arg) -> Vec<PossibleValue> {
    let values = arg.get_possible_values();
    let is_told = values.iter().any(|value| value.get_help().is_some());
    if is_told && !arg.is_hide_possible_values_set() { values } else { Vec::new() }
}

/// Printed text whose lists of values begin in Chinese; clap may end a line between the two words.
fn listed(text: &str) -> String {
    const BEGIN: &str = "[possible";
    let first = text.find(BEGIN).unwrap_or(text.len());
    text[first..].split(BEGIN).skip(1).fold(text[..first].to_owned(), |said, part| {
        let words = part.trim_start_matches([' ', '\n']);
        let gap = &part[..part.len() - words.len()];
        match words.strip_prefix("values:") {
            Some(values) => said + "[可选值：" + gap + values.trim_start_matches(' '),
            None => said + BEGIN + part,
        }
    })
}

/// The name of an option in the table; a word that is none has capitals, as an option may have the same name.
fn named(arg: &Arg) -> String {
    arg.get_long().map_or_else(|| arg.get_id().as_str().to_uppercase(), str::to_owned)
}

/// The text of an option or a value of a command.
fn of(texts: &Texts, command: &str, option: &str) -> Option<&'static str> {
    let keys = [format!("{command}.{option}"), format!("*.{option}")];
    keys.iter().find_map(|key| texts.get(key.as_str()).copied())
}

/// True for a letter of two columns.
fn is_wide(letter: char) -> bool {
    letter.width() == Some(2)
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
        } else if !"（「《“".contains(letter) && !"，。；：、）」》？！”…[".contains(next)
        {
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
    use crate::{Around, Cli, CliSettings, Lang};
    use std::collections::BTreeSet;

    /// Keys of the command line of nothing but `wringer`, and of what is told when it is read: old tools, and layouts.
    const OTHERS: &str = "help =Arguments =Options =Commands *.help .version jtest ab siege h1load haload h2load http_load hey \
                          bombardier vegeta fortio wrk wrk2 wrktcp jmeter";

    fn said(line: &str) -> String {
        let around = Around { lang: Lang::Zh, ..Around::default() };
        Cli::read_with(line.split(' '), &around, &CliSettings::default()).unwrap_err().to_string()
    }

    /// Keys that a command and those below it ask for: its own, and that of all commands.
    fn keys(command: &Command, name: &str, found: &mut Vec<(String, String)>) {
        let both = |option: &str| (format!("{name}.{option}"), format!("*.{option}"));
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let option = named(arg);
            found.push(both(&option));
            let told = shown_values(arg).into_iter().filter(|value| value.get_help().is_some());
            found.extend(told.map(|value| both(&format!("{option}={}", value.get_name()))));
            found.extend(arg.get_help_heading().map(|of| (format!("={of}"), format!("={of}"))));
        }
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            let name = [name, below.get_name()].join(" ").trim_start().to_owned();
            found.push((name.clone(), name.clone()));
            keys(below, &name, found);
        }
    }

    #[test]
    fn everything_that_help_says_has_chinese_and_no_line_names_nothing() {
        let texts = texts();
        let mut asked = vec![(String::new(), String::new())];
        keys(&crate::whole(), "", &mut asked);
        let has = |key: &str| texts.contains_key(key);
        let missing: BTreeSet<_> =
            asked.iter().filter(|(own, shared)| !has(own) && !has(shared)).map(|(own, _)| own).collect();
        assert!(missing.is_empty(), "without Chinese: {missing:?}");
        let others: Vec<&str> = OTHERS.split_whitespace().collect();
        let is_asked = |key: &str| {
            let is_other = others.contains(&key) || key.starts_with("report.as=");
            is_other || asked.iter().any(|(one, all)| one == key || all == key)
        };
        let vain: BTreeSet<_> = texts.keys().filter(|key| !is_asked(key)).collect();
        assert!(vain.is_empty(), "of nothing: {vain:?}");
        assert_eq!(TABLE.lines().count(), texts.len(), "a line without a key, or a key twice");
        let mut headings = texts.iter().filter(|(key, _)| key.starts_with('='));
        assert!(
            headings.all(|(_, text)| closed_up(text) == *text),
            "a heading is not wrapped, and loses blanks"
        );
    }

    #[test]
    fn values_defaults_and_the_end_are_chinese() {
        let long = said("wringer compare --help");
        assert!(long.contains("[默认：64]") && !long.contains("default:"), "{long}");
        assert!(said("wringer plan show -h").contains("[默认：toml]"));
        let schema = said("wringer schema --help");
        assert!(schema.contains("可选值：\n") && schema.contains("计划文件"), "{schema}");
        assert!(said("wringer completions -h").contains("[可选值：bash, "));
        let broken = listed("x [possible\n   values: a, b] [possible values: c]");
        assert_eq!(closed_up(&broken), "x [可选值：\n   a, b] [可选值：c]");
        let around = Around {
            lang: Lang::Zh,
            exits: "退出码：\n  0  运行完成 了\n",
            layouts: &[("text", "As it was printed")],
            ..Around::default()
        };
        let said = |line: &str| {
            Cli::read_with(line.split(' '), &around, &CliSettings::default()).unwrap_err().to_string()
        };
        let whole = said("wringer --help");
        assert!(whole.contains("时长 500ms 2s 3m · 大小 4KiB 1MB"), "{whole}");
        assert!(whole.contains("\n退出码：\n  0  运行完成 了"), "{whole}");
        for line in ["wringer --help", "wringer run --help"] {
            assert!(said(line).contains(BESIDE), "{}", said(line));
        }
        assert!(said("wringer http --help").contains("\n退出码：\n  0  运行完成 了"));
        let report = said("wringer report --help");
        assert!(report.contains("- text: 结束时打印的全文"), "{report}");
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
