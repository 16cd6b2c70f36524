//! `wringer` and nothing else: twenty lines of help, and on a terminal three questions that make a command.
//!
//! Pure: who asks and who answers is the binary's affair. Start at [`QUESTIONS`].

use super::{Lang, implied};
use plan::units;
use std::ffi::OsStr;

/// The help of a line without a word.
pub fn greeting(lang: Lang) -> &'static str {
    lang.of(GREETING, CHINESE_GREETING)
}

const GREETING: &str = "\
wringer presses web servers, caches and proxies, and says what came of it.

  wringer URL                        50 users for 10 s; the same as wringer http URL
  wringer URL -c 200 -d 1m           200 users for a minute
  wringer URL --rate 1000/s          a thousand requests per second, sent when they are due
  wringer URL --require 'p99<50ms'   exit code 3 unless that holds
  wringer http -v URL                one request, told from its beginning to its end
  wringer find URL --slo 'p99<50ms'  the highest rate that keeps it
  wringer compare URL_A URL_B        is B slower than A, and by how much?
  wringer cache HOST:PORT            a proxy or cache, from both sides; alone: a demonstration
  wringer run plan.yaml              a plan file; also JMeter's .jmx and browsers' .har
  wringer ab -n 1000 URL             command lines of ab, siege, wrk, h2load, jmeter and others
  wringer report --as html           the last run again, in another layout
  wringer doctor                     what limits this machine

`wringer --help` lists all commands, `wringer COMMAND --help` its options.
";

const CHINESE_GREETING: &str = "\
wringer 压测 Web 服务器、缓存与代理，并说明结果。

  wringer URL                        50 个用户，10 秒；同 wringer http URL
  wringer URL -c 200 -d 1m           200 个用户，一分钟
  wringer URL --rate 1000/s          每秒一千个请求，到点就发
  wringer URL --require 'p99<50ms'   除非成立，否则退出码 3
  wringer http -v URL                一个请求，从头到尾逐步显示
  wringer find URL --slo 'p99<50ms'  满足它的最高速率
  wringer compare URL_A URL_B        B 比 A 慢吗，慢多少？
  wringer cache HOST:PORT            从两侧压代理或缓存；不给地址时是演示
  wringer run plan.yaml              计划文件；也可以是 JMeter 的 .jmx、浏览器的 .har
  wringer ab -n 1000 URL             ab、siege、wrk、h2load、jmeter 等工具的命令行
  wringer report --as html           以另一种格式再看上一次运行
  wringer doctor                     本机的瓶颈

`wringer --help` 列出所有命令，`wringer COMMAND --help` 列出其选项。
";

/// A question, and what its answer adds to the command.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    text: &'static str,
    chinese: &'static str,
    /// Words that an answer means, or why it means none, in a language.
    pub words: fn(&str, Lang) -> Result<Vec<String>, String>,
}

impl Question {
    /// It, in a line, with the answer that an empty line gives.
    pub fn text(&self, lang: Lang) -> &'static str {
        lang.of(self.text, self.chinese)
    }
}

/// The line before the questions.
pub fn invitation(lang: Lang) -> &'static str {
    lang.of(
        "Three questions make a command; Enter takes what stands in brackets, Ctrl-C leaves.",
        "三个问题得出一条命令；回车取方括号中的值，Ctrl-C 离开。",
    )
}

/// The three: what, how hard, how long.
pub const QUESTIONS: [Question; 3] = [
    Question {
        text: "What is to be pressed? A URL, or 'cache HOST:PORT' for a proxy or cache [cache: a demonstration]",
        chinese: "压什么？URL；代理或缓存写 'cache HOST:PORT' [cache：演示]",
        words: target,
    },
    Question {
        text: "How hard? Users, such as 50, or requests per second, such as 1000/s [50 users]",
        chinese: "压多大？用户数，如 50；或每秒请求数，如 1000/s [50 个用户]",
        words: pressure,
    },
    Question {
        text: "How long? A time, such as 30s, or a number of requests, such as 5000 [10s]",
        chinese: "压多久？时长，如 30s；或请求数，如 5000 [10s]",
        words: length,
    },
];

/// Words as they are.
fn owned<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn target(answer: &str, lang: Lang) -> Result<Vec<String>, String> {
    let words: Vec<&str> = answer.split_whitespace().collect();
    match words.as_slice() {
        [] | ["cache"] => Ok(owned(["cache"])),
        ["cache", address] => Ok(owned(["cache", address])),
        [url] | ["http", url] if implied::is_url(OsStr::new(url)) => Ok(owned(["http", url])),
        [file] if implied::is_file(file) => {
            let why = lang.of("a plan has its own answers to the other questions", "计划自带其余问题的答案");
            Err(format!("{why}{}wringer run {file}", lang.of(": ", "：")))
        }
        _ => Err(match lang {
            Lang::En => {
                format!("'{answer}' is no URL: such as http://localhost:8080/, or 'cache localhost:8080'")
            }
            Lang::Zh => format!("'{answer}' 不是 URL：如 http://localhost:8080/，或 'cache localhost:8080'"),
        }),
    }
}

fn pressure(answer: &str, lang: Lang) -> Result<Vec<String>, String> {
    let answer = answer.trim();
    let users =
        ["users", "个用户"].into_iter().find_map(|word| answer.strip_suffix(word)).map_or(answer, str::trim);
    match users {
        "" => Ok(owned(["-c", "50"])),
        "0" => Err(lang
            .of("nobody would send anything: give 1 or more", "那样就没有人发送：请给 1 或更多")
            .to_owned()),
        _ if users.parse::<u32>().is_ok() => Ok(owned(["-c", users])),
        _ => match units::rate(users) {
            Ok(rate) if rate > 0.0 => Ok(owned(["--rate", users])),
            Ok(_) | Err(_) => Err(match lang {
                Lang::En => format!(
                    "'{answer}' is neither: give users, such as 50, or requests per second, such as 1000/s"
                ),
                Lang::Zh => {
                    format!("'{answer}' 两者都不是：请给用户数，如 50，或每秒请求数，如 1000/s")
                }
            }),
        },
    }
}

fn length(answer: &str, lang: Lang) -> Result<Vec<String>, String> {
    let answer = answer.trim();
    match answer {
        "" => Ok(owned(["-d", "10s"])),
        "0" => Err(lang
            .of(
                "that would be nothing: give a time, such as 30s, or a number of requests",
                "那样什么都没有：请给时长，如 30s，或请求数",
            )
            .to_owned()),
        _ if answer.parse::<u64>().is_ok() => Ok(owned(["-n", answer])),
        _ => match units::duration(answer) {
            Ok(time) if !time.is_zero() => Ok(owned(["-d", answer])),
            Ok(_) | Err(_) => Err(match lang {
                Lang::En => format!(
                    "'{answer}' is neither: give a time, such as 30s, or a number of requests, such as 5000"
                ),
                Lang::Zh => {
                    format!("'{answer}' 两者都不是：请给时长，如 30s，或请求数，如 5000")
                }
            }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;

    fn made(answers: [&str; 3], lang: Lang) -> Result<String, String> {
        let said = QUESTIONS.iter().zip(answers).map(|(question, answer)| (question.words)(answer, lang));
        let words: Result<Vec<Vec<String>>, String> = said.collect();
        words.map(|words| words.concat().join(" "))
    }

    #[test]
    fn three_answers_make_a_command_that_is_understood() {
        for (answers, command) in [
            (["", "", ""], "cache -c 50 -d 10s"),
            (["localhost:8080", "7", "3s"], "http localhost:8080 -c 7 -d 3s"),
            (["http http://h/", "100/s", "500"], "http http://h/ --rate 100/s -n 500"),
            ([" cache localhost:80 ", " 5 users ", " 1m "], "cache localhost:80 -c 5 -d 1m"),
            (["https://h/a?b=c", "1k/s", "10"], "http https://h/a?b=c --rate 1k/s -n 10"),
        ] {
            for lang in [Lang::En, Lang::Zh] {
                assert_eq!(made(answers, lang).as_deref(), Ok(command));
            }
            let words = std::iter::once("wringer").chain(command.split(' '));
            assert!(Cli::read(words).is_ok(), "{command}");
        }
    }

    #[test]
    fn answers_that_mean_nothing_are_asked_again() {
        for (answers, said) in [
            (["hm", "", ""], "'hm' is no URL"),
            (["plan.yaml", "", ""], "wringer run plan.yaml"),
            (["h.example", "hard", ""], "'hard' is neither"),
            (["h.example", "0", ""], "1 or more"),
            (["h.example", "", "soon"], "'soon' is neither"),
            (["h.example", "", "0"], "would be nothing"),
        ] {
            assert!(made(answers, Lang::En).unwrap_err().contains(said), "{answers:?}");
            let chinese = made(answers, Lang::Zh).unwrap_err();
            assert!(!chinese.contains(" is ") && !chinese.contains("give "), "{chinese}");
        }
        assert_eq!(
            made(["h.example", "7 个用户", ""], Lang::Zh).as_deref(),
            Ok("http h.example -c 7 -d 10s")
        );
    }

    #[test]
    fn the_greeting_has_at_most_twenty_lines() {
        assert!(GREETING.lines().count() <= 20 && GREETING.lines().all(|line| line.chars().count() <= 100));
        let commands = |text: &str| -> Vec<String> {
            let examples = text.lines().filter(|line| line.starts_with("  wringer "));
            examples.map(|line| line.chars().take(37).collect()).collect()
        };
        assert_eq!(commands(GREETING), commands(CHINESE_GREETING));
        assert_eq!(GREETING.lines().count(), CHINESE_GREETING.lines().count());
    }
}
