//! The command line of this process: what was typed, as reports show it, and as other users of the machine see it in lists of
//! processes.

use plan::Plan;
use plan::secret::content_without_secrets;
use report::show::quoted;
use session::mask::Mask;
use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

/// The command line as typed, from before secrets were overwritten in it.
static TYPED: OnceLock<Vec<OsString>> = OnceLock::new();

fn typed() -> &'static [OsString] {
    TYPED.get_or_init(|| std::env::args_os().collect())
}

/// The command line as it is to be told: with what was left out, the answers to questions, and the defaults that hold.
pub fn made(words: Vec<OsString>) {
    // Nobody asks for it before it is read.
    let _ = TYPED.set(words);
}

/// Words as a shell reads them.
pub fn shown(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The command line that repeats a run: what was typed, without secrets, with the seed.
pub fn repeat(plan: &Plan, seed_option: Option<&'static str>) -> String {
    // A word that is no text is shown as well as it can be.
    let mut words: Vec<String> = typed().iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(program) = words.first_mut() {
        *program = Path::new(program.as_str())
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    }
    if let Some(option) = seed_option {
        add(&mut words, option, plan.seed);
    }
    line(&words, plan)
}

/// Adds an option: before `--`, behind which no word is one.
fn add(words: &mut Vec<String>, option: &str, value: u64) {
    let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.splice(at..at, [option.to_owned(), value.to_string()]);
}

/// Words as a shell reads them, without the secrets of the plan that they mean.
pub fn line(words: &[String], plan: &Plan) -> String {
    let mask = Mask::of(plan);
    let of_form = |nth: usize| is_form(nth.checked_sub(1).and_then(|before| words.get(before)));
    let shown = |(nth, word): (usize, &String)| quoted(&mask.text(&without_form_secrets(word, of_form(nth))));
    words.iter().enumerate().map(shown).collect::<Vec<_>>().join(" ")
}

/// Options whose value is a form, or a field of one.
const FORMS: [&str; 3] = ["--form", "--multipart", "--data"];

fn is_form(word: Option<&String>) -> bool {
    word.is_some_and(|word| FORMS.contains(&word.as_str()))
}

/// A word without the secrets of the form that it is, or that stands behind an option's equals sign.
fn without_form_secrets(word: &str, is_form: bool) -> String {
    let (option, form) = match word.split_once('=') {
        _ if is_form => ("", word),
        Some((option, _)) if FORMS.contains(&option) => word.split_at(option.len() + 1),
        _ => return word.to_owned(),
    };
    content_without_secrets(form).map_or_else(|| word.to_owned(), |shown| format!("{option}{shown}"))
}

/// A seed where none was given.
pub fn seed_from_clock() -> u64 {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    plan::draw::mix(time.as_nanos() as u64) >> 32
}

/// The seed of a plan, of a number that was drawn: a plan in TOML holds numbers of 63 bits.
pub fn plan_seed(drawn: u64) -> u64 {
    drawn >> 1
}

/// Overwrites secrets among the words of the command line, so that lists of processes no longer show them. Where the system
/// does not allow it they stay visible, as they were until now: `env:` and `file:` are the safe way.
pub fn hide(mask: &Mask) {
    typed();
    net::command_line::overwrite(|words| mask.places(words));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_stands_before_the_dashes_that_end_options() {
        let added = |line: &str| {
            let mut words = line.split(' ').map(str::to_owned).collect();
            add(&mut words, "--seed", 7);
            words.join(" ")
        };
        assert_eq!(added("wringer http -n 5 -- h"), "wringer http -n 5 --seed 7 -- h");
        assert_eq!(added("wringer http h"), "wringer http h --seed 7");
    }

    #[test]
    fn forms_lose_their_secrets_and_other_words_stay() {
        for (word, is_form, shown) in [
            ("password=p", true, "password=***"),
            ("--form=password=p", false, "--form=password=***"),
            ("--data=a=1&token=t", false, "--data=a=1&token=***"),
            ("token=json:$.token", false, "token=json:$.token"),
            ("user=me", true, "user=me"),
        ] {
            assert_eq!(without_form_secrets(word, is_form), shown);
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, shown) in [("a=b", "a=b"), ("", "''"), ("a b", "'a b'"), ("it's", r"'it'\''s'")] {
            assert_eq!(quoted(word), shown);
        }
    }
}
