//! The command line of this process: what was typed, as reports show it, and as other users of the machine see it in lists of
//! processes.

use plan::Plan;
use session::mask::Mask;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
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
    // Nothing hangs on it.
    let _ = overwrite(mask);
}

fn overwrite(mask: &Mask) -> io::Result<()> {
    // Fields 48 and 49 of proc(5)'s stat say where the words are. The name of the program may hold blanks.
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>());
    let place = |nth: usize| fields.as_ref()?.get(nth - 3)?.parse::<u64>().ok();
    let (Some(begin), Some(end)) = (place(48), place(49)) else { return Ok(()) };
    let mut words = vec![0; usize::try_from(end.saturating_sub(begin)).unwrap_or(0)];
    File::open("/proc/self/mem")?.read_exact_at(&mut words, begin)?;
    let places = mask.places(&words);
    if places.is_empty() {
        return Ok(());
    }
    let memory = OpenOptions::new().write(true).open("/proc/self/mem")?;
    places.into_iter().try_for_each(|at| memory.write_all_at(&vec![b'*'; at.len()], begin + at.start as u64))
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
