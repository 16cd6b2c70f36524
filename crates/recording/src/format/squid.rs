//! Squid's logformat.

use super::dialect::Compiled;
use super::field::{Field, TimeForm, Unit};
use super::strftime::Strftime;
use super::template::{FormatPiece, Shape};
use crate::entry::{Edge, Escape};

/// Squid's native format, called `squid`.
pub const NATIVE: &str = "%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/%<a %mt";

/// Codes, the longer of two that begin alike first.
const CODES: [(&str, Field); 52] = [
    ("ts", Field::Time(TimeForm::Seconds)),
    ("tu", Field::Time(TimeForm::Below)),
    ("tl", Field::Time(TimeForm::Clf)),
    ("tg", Field::Time(TimeForm::Clf)),
    ("tr", Field::Duration(Unit::Millis)),
    ("tS", Field::Skip),
    ("dt", Field::Skip),
    (">a", Field::Address),
    (">A", Field::Address),
    (">p", Field::Skip),
    (">eui", Field::Skip),
    (">la", Field::Skip),
    (">lp", Field::Skip),
    ("la", Field::Skip),
    ("lp", Field::Skip),
    ("<a", Field::Skip),
    ("<A", Field::Skip),
    ("<p", Field::Skip),
    ("<la", Field::Skip),
    ("<lp", Field::Skip),
    ("un", Field::Skip),
    ("ul", Field::Skip),
    ("ue", Field::Skip),
    ("us", Field::Skip),
    ("ui", Field::Skip),
    (">Hs", Field::Status),
    ("<Hs", Field::Skip),
    ("Hs", Field::Status),
    ("Ss", Field::Cache),
    ("Sh", Field::Skip),
    ("mt", Field::ContentType),
    (">rm", Field::Method),
    ("rm", Field::Method),
    (">ru", Field::Target),
    ("<ru", Field::Skip),
    ("ru", Field::Target),
    (">rd", Field::Host),
    (">rp", Field::Path),
    ("rp", Field::Path),
    (">rv", Field::Protocol),
    ("rv", Field::Protocol),
    (">rs", Field::Skip),
    ("<st", Field::SentBytes),
    (">st", Field::Skip),
    ("<sH", Field::HeadBytes),
    ("<sh", Field::HeadBytes),
    (">sh", Field::Skip),
    ("st", Field::Skip),
    ("<tt", Field::Upstream(Unit::Millis)),
    ("<pt", Field::Upstream(Unit::Millis)),
    ("ea", Field::Skip),
    ("et", Field::Skip),
];

/// Compiles a logformat.
///
/// # Errors
/// In words.
pub fn compile(format: &str) -> Result<Compiled, String> {
    let mut compiled = Compiled::new(Escape::None, Edge::End);
    // Seconds and the digits behind them are one number.
    let joined = format.replace("%ts.%03tu", "%ts");
    let mut rest = joined.as_str();
    while let Some(at) = rest.find('%') {
        compiled.literal(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(more) = rest.strip_prefix('%') {
            compiled.literal("%");
            rest = more;
            continue;
        }
        let (piece, taken) = directive(&mut compiled, rest)?;
        compiled.push(piece);
        rest = &rest[taken..];
    }
    compiled.literal(rest);
    Ok(compiled)
}

/// One directive after its `%`, and its length.
fn directive(compiled: &mut Compiled, text: &str) -> Result<(FormatPiece, usize), String> {
    let unknown = || format!("'%{}' is no code of a logformat", text.split_whitespace().next().unwrap_or(""));
    let marks = text.trim_start_matches(['"', '[', '#', '\'', '/']);
    let numbers = marks.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
    let padded = numbers.len() < marks.len();
    let (argument, code) = match numbers.strip_prefix('{') {
        Some(inner) => {
            let (argument, rest) = inner.split_once('}').ok_or_else(unknown)?;
            (argument, rest)
        }
        None => ("", numbers),
    };
    let mut header = None;
    for (prefix, request) in [(">ha", true), (">h", true), ("<h", false)] {
        if let Some(after) = code.strip_prefix(prefix)
            && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            let field = if request { Field::of_request(argument) } else { Field::of_answer(argument) };
            header = Some((prefix, field));
            break;
        }
    }
    let (name, field) = match header {
        Some(found) => found,
        None => *CODES.iter().find(|(name, _)| code.starts_with(name)).ok_or_else(unknown)?,
    };
    let field = match (name, argument) {
        ("tl" | "tg", format) if !format.is_empty() => {
            let own =
                Strftime::compile(format).map_err(|letter| format!("%{letter} of a time is not read"))?;
            Field::Time(compiled.own_time(own))
        }
        _ => field,
    };
    let shape = if padded { Shape::Padded } else { Shape::Plain };
    let taken = text.len() - code.len() + name.len();
    Ok((FormatPiece::shaped(field, format!("%{name}"), shape), taken))
}
