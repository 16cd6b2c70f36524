//! `wringer` and nothing else: twenty lines of help, and on a terminal three questions that make a command.
//!
//! Pure: who asks and who answers is the binary's affair. Start at [`QUESTIONS`].

use super::implied;
use plan::units;
use std::ffi::OsStr;

/// The help of a line without a word.
pub const GREETING: &str = "\
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

/// A question, and what its answer adds to the command.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// It, in a line, with the answer that an empty line gives.
    pub text: &'static str,
    /// Words that an answer means, or why it means none.
    pub words: fn(&str) -> Result<Vec<String>, String>,
}

/// The three: what, how hard, how long.
pub const QUESTIONS: [Question; 3] = [
    Question {
        text: "What is to be pressed? A URL, or 'cache HOST:PORT' for a proxy or cache [cache: a demonstration]",
        words: target,
    },
    Question {
        text: "How hard? Users, such as 50, or requests per second, such as 1000/s [50 users]",
        words: pressure,
    },
    Question {
        text: "How long? A time, such as 30s, or a number of requests, such as 5000 [10s]",
        words: length,
    },
];

/// Words as they are.
fn owned<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn target(answer: &str) -> Result<Vec<String>, String> {
    let words: Vec<&str> = answer.split_whitespace().collect();
    match words.as_slice() {
        [] | ["cache"] => Ok(owned(["cache"])),
        ["cache", address] => Ok(owned(["cache", address])),
        [url] | ["http", url] if implied::is_url(OsStr::new(url)) => Ok(owned(["http", url])),
        [file] if implied::is_file(file) => {
            Err(format!("a plan has its own answers to the other questions: wringer run {file}"))
        }
        _ => Err(format!("'{answer}' is no URL: such as http://localhost:8080/, or 'cache localhost:8080'")),
    }
}

fn pressure(answer: &str) -> Result<Vec<String>, String> {
    let answer = answer.trim();
    let users = answer.strip_suffix("users").map_or(answer, str::trim);
    match users {
        "" => Ok(owned(["-c", "50"])),
        "0" => Err("nobody would send anything: give 1 or more".to_owned()),
        _ if users.parse::<u32>().is_ok() => Ok(owned(["-c", users])),
        _ => match units::rate(users) {
            Ok(rate) if rate > 0.0 => Ok(owned(["--rate", users])),
            Ok(_) | Err(_) => Err(format!(
                "'{answer}' is neither: give users, such as 50, or requests per second, such as 1000/s"
            )),
        },
    }
}

fn length(answer: &str) -> Result<Vec<String>, String> {
    let answer = answer.trim();
    match answer {
        "" => Ok(owned(["-d", "10s"])),
        "0" => Err("that would be nothing: give a time, such as 30s, or a number of requests".to_owned()),
        _ if answer.parse::<u64>().is_ok() => Ok(owned(["-n", answer])),
        _ => match units::duration(answer) {
            Ok(time) if !time.is_zero() => Ok(owned(["-d", answer])),
            Ok(_) | Err(_) => Err(format!(
                "'{answer}' is neither: give a time, such as 30s, or a number of requests, such as 5000"
            )),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;

    fn made(answers: [&str; 3]) -> Result<String, String> {
        let words: Result<Vec<Vec<String>>, String> =
            QUESTIONS.iter().zip(answers).map(|(question, answer)| (question.words)(answer)).collect();
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
            assert_eq!(made(answers).as_deref(), Ok(command));
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
            assert!(made(answers).unwrap_err().contains(said), "{answers:?}");
        }
    }

    #[test]
    fn the_greeting_has_at_most_twenty_lines() {
        assert!(GREETING.lines().count() <= 20 && GREETING.lines().all(|line| line.chars().count() <= 100));
    }
}
