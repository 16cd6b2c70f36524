//! `RandomStringUtils` of Commons Lang.

use crate::model::abrupt::Run;
use crate::model::class::{Kind, row, rows};
use crate::model::library::lang::object;
use crate::model::library::util::collection::count;
use crate::model::machine::Machine;
use crate::model::value::Value;

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";
const BOTH: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

pub(crate) static KIND: Kind =
    Kind::new("org.apache.commons.lang3", "RandomStringUtils").extends(&object::KIND).statics(&[
        row("randomAlphanumeric", 1, |m, _, args| drawn(m, BOTH, &args[0])),
        row("randomAlphabetic", 1, |m, _, args| drawn(m, LETTERS, &args[0])),
        row("randomNumeric", 1, |m, _, args| drawn(m, DIGITS, &args[0])),
        row("random", 1, |m, _, args| drawn(m, BOTH, &args[0])),
        rows("random", 3, 3, |m, _, args| {
            let signs = match (args[1].is_true(), args[2].is_true()) {
                (true, false) => LETTERS,
                (false, true) => DIGITS,
                (true, true) | (false, false) => BOTH,
            };
            drawn(m, signs, &args[0])
        }),
        row("random", 2, |m, _, args| {
            let signs = m.text(&args[1])?;
            drawn(m, &signs, &args[0])
        }),
    ]);

fn drawn(m: &mut Machine<'_>, signs: &str, length: &Value) -> Run {
    let length = count(length);
    m.take_text(length)?;
    let signs: Vec<char> = signs.chars().collect();
    let mut out = String::with_capacity(length);
    for _ in 0..if signs.is_empty() { 0 } else { length } {
        let at = m.host.random() % signs.len() as u64;
        out.push(signs[at as usize]);
    }
    Ok(Value::text(out))
}
