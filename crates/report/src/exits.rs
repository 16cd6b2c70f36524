//! The table of exit codes, as help has it.

use crate::language::Language;
use crate::show;
use measure::ExitCode;

/// Line above the table.
const TITLE: &str = "Exit codes, of which the first holds that can:";

/// The same and each meaning in Chinese, in the order of the table.
const CHINESE_TITLE: &str = "退出码，自上而下，第一条成立的算：";
const CHINESE: [&str; 6] = [
    "命令行或计划有误。什么都没有发送。",
    "有人提前结束了运行：Ctrl-C、网页或终端；--fail-if 与 --require 不评估。SIGTERM 时为 143，SIGHUP 时为 129。",
    "--fail-if 或 --stop-if 的条件成立，--require 的条件不成立，或无法得知。",
    "没有运行或没有结果：无人监听、端口被占、文件写不了；什么都没有发送，或至少一半的请求在本机没有端口或描述符；没有一个响应带有预期的\
     状态码或业务码（只是未通过检查的不在此列）；目标最后停止响应或退出；丢失了一个 agent（--agents），而 --tolerate-loss 不允许；或丢失了一个源站（--origin-agents）。",
    "目标失败：离开本机的请求至少 1 % 没有得到正确的响应，或有响应内容不对。您自己的条件提到失败（errors、failed、unfinished、\
     check-failed、ok-rate）时不适用：只由该条件决定。",
    "运行完成，以上都不成立。",
];

/// The table, a line or two for each code: the first of them that holds.
pub fn table(language: Language) -> String {
    let meanings: Vec<&str> = match language {
        Language::English => ExitCode::table().map(|(_, meaning)| meaning).collect(),
        Language::Chinese => CHINESE.to_vec(),
    };
    let title = match language {
        Language::English => TITLE,
        Language::Chinese => CHINESE_TITLE,
    };
    let mut text = format!("{title}\n");
    for ((number, _), meaning) in ExitCode::table().zip(meanings) {
        for (nth, line) in show::wrap(meaning, show::WIDTH - 5).into_iter().enumerate() {
            let left = if nth == 0 { number.to_string() } else { " ".to_owned() };
            text += &format!("  {left}  {line}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A code that is added has Chinese, in its place.
    #[test]
    fn each_code_is_in_both_languages() {
        assert_eq!(ExitCode::table().count(), CHINESE.len());
        let codes = |language| {
            let table = table(language);
            let first = |line: &str| line.split_whitespace().next().and_then(|word| word.parse::<u8>().ok());
            table.lines().skip(1).filter(|line| !line.starts_with("     ")).map(first).collect::<Vec<_>>()
        };
        assert_eq!(codes(Language::English), codes(Language::Chinese));
        let options = "--fail-if --require --stop-if --agents --tolerate-loss 143 129 ok-rate";
        for named in options.split(' ') {
            assert!(CHINESE.concat().contains(named), "{named}");
        }
    }

    /// The docs have the same table.
    #[test]
    fn the_docs_have_the_table() {
        let page = include_str!("../../../docs/src/exit-codes.md");
        for (number, meaning) in ExitCode::table() {
            let row = format!("| {number} | {meaning} |");
            assert!(page.contains(&row), "docs/src/exit-codes.md lacks: {row}");
        }
    }
}
