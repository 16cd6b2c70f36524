//! A line without a word: help, or on a terminal three questions.

use crate::output;
use crate::problem::Exit;
use cli::{Lang, QUESTIONS, Question};
use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal};

/// The command line as it is to be read: where nothing was typed, what the answers to three questions mean.
///
/// # Errors
/// There is nobody to ask, who is told what there is; or no answer came.
pub fn line(typed: Vec<OsString>) -> Result<Vec<OsString>, Exit> {
    if cli::without_lang(&typed).len() != 1 {
        return Ok(typed);
    }
    let lang = Lang::chosen();
    if !(io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()) {
        output::aside(cli::greeting(lang));
        return Err(Exit::Usage);
    }
    output::notice(cli::invitation(lang));
    let mut words = Vec::new();
    for question in &QUESTIONS {
        words.extend(answer(question, lang, &mut io::stdin().lock()).ok_or(Exit::Usage)?);
    }
    let made: Vec<OsString> = typed.into_iter().chain(words.iter().map(OsString::from)).collect();
    output::notice(&format!("\nwringer {}", crate::arguments::shown(&words)));
    Ok(made)
}

/// Asks until an answer means something; `None`: there are no more.
fn answer(question: &Question, lang: Lang, answers: &mut dyn BufRead) -> Option<Vec<String>> {
    loop {
        output::aside(&format!("{}{}", question.text(lang), lang.of(": ", "：")));
        let mut line = String::new();
        let read = answers.read_line(&mut line).ok()?;
        if read == 0 {
            output::notice("");
            return None;
        }
        match (question.words)(line.trim(), lang) {
            Ok(words) => return Some(words),
            Err(why) => output::notice(&why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_asked_until_an_answer_means_something() {
        let mut answers = &b"hm\nlocalhost:8080\nmore\n"[..];
        let words = answer(&QUESTIONS[0], Lang::En, &mut answers).unwrap();
        assert_eq!(words, ["http", "localhost:8080"]);
        assert_eq!(answers, b"more\n");
        assert!(answer(&QUESTIONS[0], Lang::Zh, &mut &b"hm\n"[..]).is_none());
    }
}
