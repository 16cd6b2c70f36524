//! The command line of this process: what was typed, as reports show it, and as other users of the machine see it in lists of
//! processes.

use plan::Plan;
use session::mask::Mask;
use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

/// The command line as typed, from before secrets were overwritten in it.
static TYPED: OnceLock<Vec<OsString>> = OnceLock::new();

fn typed() -> &'static [OsString] {
    TYPED.get_or_init(|| std::env::args_os().collect())
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
        words.push(option.to_owned());
        words.push(plan.seed.to_string());
    }
    line(&words, plan)
}

/// Words as a shell reads them, without the secrets of the plan that they mean.
pub fn line(words: &[String], plan: &Plan) -> String {
    let mask = Mask::of(plan);
    words.iter().map(|word| quoted(&mask.text(word))).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A seed where none was given.
pub fn seed_from_clock() -> u64 {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    plan::draw::mix(time.as_nanos() as u64) >> 32
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
    fn words_are_quoted_for_a_shell() {
        for (word, shown) in [("a=b", "a=b"), ("", "''"), ("a b", "'a b'"), ("it's", r"'it'\''s'")] {
            assert_eq!(quoted(word), shown);
        }
    }
}
