//! Formats of Apache's mod_log_config, and of varnishncsa, which has taken them over.

use super::dialect::Compiled;
use super::field::{AbortForm, Field, TimeForm, Unit};
use super::strftime::Strftime;
use super::template::FormatPiece;
use crate::entry::{Edge, Escape};

/// Compiles a LogFormat.
///
/// # Errors
/// In words.
pub fn compile(format: &str) -> Result<Compiled, String> {
    let mut compiled = Compiled::new(Escape::Backslash, Edge::Begin);
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        compiled.literal(&unquoted(&rest[..at]));
        let directive = Directive::read(&rest[at + 1..])
            .ok_or_else(|| format!("'{}' is no directive of a LogFormat", shown(&rest[at..])))?;
        rest = &rest[at + 1 + directive.length..];
        push(&mut compiled, &directive)?;
    }
    compiled.literal(&unquoted(rest));
    Ok(compiled)
}

/// In a configuration file quotes are written `\"`; the log has them bare.
fn unquoted(text: &str) -> String {
    text.replace("\\\"", "\"").replace("\\t", "\t")
}

fn shown(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or(text)
}

/// `%`, conditions and `<` or `>`, an argument in braces, and letters.
struct Directive<'a> {
    argument: Option<&'a str>,
    letters: &'a str,
    length: usize,
}

impl<'a> Directive<'a> {
    fn read(text: &'a str) -> Option<Directive<'a>> {
        let conditions = text.len()
            - text
                .trim_start_matches(['!', ',', '<', '>', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
                .len();
        let mut at = conditions;
        let mut argument = None;
        if let Some(inner) = text[at..].strip_prefix('{') {
            let end = inner.find('}')?;
            argument = Some(&inner[..end]);
            at += end + 2;
            // The final or the original request, after the argument as well.
            at += text[at..].len() - text[at..].trim_start_matches(['<', '>']).len();
        }
        let letters = match &text[at..] {
            // ^FB, ^FU, ^ti, ^to.
            more if more.starts_with('^') => more.get(..3)?,
            more => more.get(..1)?,
        };
        Some(Directive { argument, letters, length: at + letters.len() })
    }
}

fn push(compiled: &mut Compiled, directive: &Directive<'_>) -> Result<(), String> {
    let name = match directive.argument {
        Some(argument) => format!("%{{{argument}}}{}", directive.letters),
        None => format!("%{}", directive.letters),
    };
    let argument = directive.argument.unwrap_or("");
    let field = match directive.letters {
        "%" => {
            compiled.literal("%");
            return Ok(());
        }
        "t" if directive.argument.is_none() => {
            // The brackets are part of what %t writes.
            compiled.literal("[");
            compiled.push(FormatPiece::field(Field::Time(TimeForm::Clf), name));
            compiled.literal("]");
            return Ok(());
        }
        "t" => time(compiled, argument)?,
        "h" | "a" if argument.is_empty() => Field::Address,
        "a" => Field::Skip,
        "r" => Field::Line,
        "s" => Field::Status,
        "b" | "B" => Field::BodyBytes,
        "O" => Field::SentBytes,
        "D" => Field::Duration(Unit::Micros),
        "T" => Field::Duration(match argument {
            "us" => Unit::Micros,
            "ms" => Unit::Millis,
            _ => Unit::Seconds,
        }),
        "i" => Field::of_request(argument),
        "o" => Field::of_answer(argument),
        "C" | "l" | "u" | "I" | "S" | "p" | "P" | "L" | "R" | "f" | "A" | "n" | "k" | "^ti" | "^to" => {
            Field::Skip
        }
        "e" if argument.contains("cache") => Field::Cache,
        "e" => Field::Skip,
        "m" => Field::Method,
        "U" => Field::Path,
        "q" => Field::Query,
        "H" => Field::Protocol,
        "v" | "V" => Field::Host,
        "X" => Field::Aborted(AbortForm::Connection),
        "^FB" => Field::FirstByte(Unit::Micros),
        "^FU" => Field::Skip,
        "x" => varnish(argument),
        other => return Err(format!("%{other} is no directive of a LogFormat")),
    };
    compiled.push(FormatPiece::field(field, name));
    Ok(())
}

/// varnishncsa's own.
fn varnish(argument: &str) -> Field {
    match argument {
        "Varnish:hitmiss" | "Varnish:handling" => Field::Cache,
        "Varnish:time_firstbyte" => Field::FirstByte(Unit::Seconds),
        _ => Field::Skip,
    }
}

/// `%{…}t`.
fn time(compiled: &mut Compiled, argument: &str) -> Result<Field, String> {
    let (edge, format) = match (argument.strip_prefix("begin:"), argument.strip_prefix("end:")) {
        (Some(format), _) => (Edge::Begin, format),
        (_, Some(format)) => (Edge::End, format),
        (None, None) => (Edge::Begin, argument),
    };
    let form = match format {
        "sec" => TimeForm::Seconds,
        "msec" => TimeForm::Millis,
        "usec" => TimeForm::Micros,
        "msec_frac" | "usec_frac" => TimeForm::Below,
        format => {
            let own =
                Strftime::compile(format).map_err(|letter| format!("%{letter} of a time is not read"))?;
            compiled.own_time(own)
        }
    };
    // The edge is that of the time that counts, the finer of two.
    let is_fine = |form: TimeForm| matches!(form, TimeForm::Millis | TimeForm::Micros | TimeForm::Below);
    let has_finer = compiled.pieces.iter().any(|piece| match piece {
        FormatPiece::Field { field: Field::Time(before), .. } => is_fine(*before),
        FormatPiece::Field { .. } | FormatPiece::Literal(_) => false,
    });
    if is_fine(form) || !has_finer {
        compiled.edge = edge;
    }
    Ok(Field::Time(form))
}
