//! `String`: what texts are asked and converted to. Their parts are in `string_part`, changed texts in `string_change`; Groovy's
//! texts are lists of their characters, and JavaScript's have names of their own.

use super::string_change as change;
use super::string_part as part;
use super::{char_sequence, object};
use crate::coding;
use crate::model::abrupt::Run;
use crate::model::class::{Kind, MANY, row, rows};
use crate::model::library::javascript::string as javascript;
use crate::model::library::security::digest;
use crate::model::library::util::iterable;
use crate::model::machine::Machine;
use crate::model::meaning::convert::parse_number;
use crate::model::meaning::patterns;
use crate::model::tree::Type;
use crate::model::value::{Value, text};
use crate::number::Decimal;
use std::rc::Rc;

pub(crate) static KIND: Kind = Kind::new("java.lang", "String")
    .extends(&char_sequence::KIND)
    .mixes_in(&iterable::KIND)
    .converts(|| Type::Text)
    .creates(create)
    .javascript(javascript::METHODS)
    .statics(&[
        row("valueOf", 1, value_of),
        row("copyValueOf", 1, value_of),
        rows("format", 1, MANY, |m, _, args| {
            let text = crate::model::meaning::format::format(m, args)?;
            m.new_text(text)
        }),
        rows("join", 1, MANY, change::join),
        rows("fromCharCode", 0, MANY, |m, _, codes| {
            let text: String =
                codes.iter().filter_map(|code| char::from_u32(code.to_long()? as u32)).collect();
            m.new_text(text)
        }),
    ])
    .methods(&[
        // Questions.
        row("length", 0, length),
        row("size", 0, length),
        row("contains", 1, contains),
        row("includes", 1, contains),
        rows("startsWith", 1, 2, starts_with),
        row("endsWith", 1, |m, of, args| {
            let text = receiver(m, of)?;
            Ok(Value::Bool(text.ends_with(&*m.text(&args[0])?)))
        }),
        row("equals", 1, |m, of, args| {
            let text = receiver(m, of)?;
            Ok(Value::Bool(matches!(&args[0], Value::Text(other) if *other == text)))
        }),
        row("contentEquals", 1, |m, of, args| Ok(Value::Bool(m.text(of)? == m.text(&args[0])?))),
        row("equalsIgnoreCase", 1, |m, of, args| {
            let text = receiver(m, of)?;
            Ok(Value::Bool(!args[0].is_null() && m.text(&args[0])?.to_lowercase() == text.to_lowercase()))
        }),
        row("compareTo", 1, |m, of, args| Ok(Value::Int(difference(&m.text(of)?, &m.text(&args[0])?)))),
        row("compareToIgnoreCase", 1, |m, of, args| {
            Ok(Value::Int(difference(&m.text(of)?.to_lowercase(), &m.text(&args[0])?.to_lowercase())))
        }),
        row("isEmpty", 0, |m, of, _| Ok(Value::Bool(m.text(of)?.is_empty()))),
        row("isBlank", 0, is_blank),
        row("isAllWhitespace", 0, is_blank),
        rows("indexOf", 1, 2, index_of),
        rows("lastIndexOf", 1, 2, last_index_of),
        row("count", 1, count),
        row("hashCode", 0, |m, of, _| Ok(Value::Int(text::hash(&receiver(m, of)?)))),
        row("isNumber", 0, is_decimal),
        row("isBigDecimal", 0, is_decimal),
        row("isDouble", 0, is_double),
        row("isFloat", 0, is_double),
        row("isInteger", 0, |m, of, _| {
            let long = text::parse_long(m.text(of)?.trim(), 10);
            Ok(Value::Bool(long.is_some_and(|long| i32::try_from(long).is_ok())))
        }),
        row("isLong", 0, |m, of, _| Ok(Value::Bool(text::parse_long(m.text(of)?.trim(), 10).is_some()))),
        row("isBigInteger", 0, |m, of, _| {
            let text = receiver(m, of)?;
            let digits = text.trim().trim_start_matches('-');
            Ok(Value::Bool(!digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())))
        }),
        // Parts.
        row("charAt", 1, part::char_at),
        row("codePointAt", 1, part::code_point_at),
        rows("substring", 1, 2, part::substring_of),
        row("subSequence", 2, part::substring_of),
        row("getAt", 1, |m, of, args| crate::model::meaning::items::element(m, of, &args[0])),
        row("take", 1, |m, of, args| part::taken(m, of, args, |length, count| 0..count.min(length))),
        row("drop", 1, |m, of, args| part::taken(m, of, args, |length, count| count.min(length)..length)),
        row("takeRight", 1, |m, of, args| {
            part::taken(m, of, args, |length, count| length - count.min(length)..length)
        }),
        row("dropRight", 1, |m, of, args| {
            part::taken(m, of, args, |length, count| 0..length - count.min(length))
        }),
        rows("tokenize", 0, 1, part::tokenize),
        row("readLines", 0, part::lines),
        row("lines", 0, part::lines),
        row("toList", 0, part::characters),
        row("chars", 0, part::characters),
        row("iterator", 0, |m, of, _| {
            let list = part::characters(m, of, &[])?;
            crate::model::meaning::items::iterator(m, &list)
        }),
        row("toSet", 0, part::set_of_characters),
        row("toCharArray", 0, part::array_of_characters),
        row("getChars", 0, part::array_of_characters),
        row("eachLine", 1, part::each_line),
        row("substringBefore", 1, |m, of, args| {
            part::around(m, of, args, |of, part| of.find(part).map_or(of, |at| &of[..at]))
        }),
        row("substringAfter", 1, |m, of, args| {
            part::around(m, of, args, |of, part| of.find(part).map_or("", |at| &of[at + part.len()..]))
        }),
        row("substringBeforeLast", 1, |m, of, args| {
            part::around(m, of, args, |of, part| of.rfind(part).map_or(of, |at| &of[..at]))
        }),
        row("substringAfterLast", 1, |m, of, args| {
            part::around(m, of, args, |of, part| of.rfind(part).map_or("", |at| &of[at + part.len()..]))
        }),
        row("takeBetween", 2, part::between),
        row("substringBetween", 2, part::between),
        // Changed texts.
        rows("toLowerCase", 0, 1, |m, of, _| change::changed(m, of, |text| text.to_lowercase())),
        rows("toUpperCase", 0, 1, |m, of, _| change::changed(m, of, |text| text.to_uppercase())),
        row("trim", 0, |m, of, _| change::trimmed(m, of, |text| text.trim_matches(|c| c <= ' '))),
        row("strip", 0, |m, of, _| change::trimmed(m, of, str::trim)),
        row("stripLeading", 0, |m, of, _| change::trimmed(m, of, str::trim_start)),
        row("trimStart", 0, |m, of, _| change::trimmed(m, of, str::trim_start)),
        row("stripTrailing", 0, |m, of, _| change::trimmed(m, of, str::trim_end)),
        row("trimEnd", 0, |m, of, _| change::trimmed(m, of, str::trim_end)),
        row("reverse", 0, |m, of, _| change::changed(m, of, |text| text.chars().rev().collect())),
        row("capitalize", 0, |m, of, _| {
            change::changed(m, of, |text| change::with_first(text, char::to_uppercase))
        }),
        row("uncapitalize", 0, |m, of, _| {
            change::changed(m, of, |text| change::with_first(text, char::to_lowercase))
        }),
        row("concat", 1, change::plus),
        row("plus", 1, change::plus),
        row("minus", 1, change::minus),
        row("multiply", 1, change::multiply),
        row("repeat", 1, change::multiply),
        rows("padLeft", 1, 2, |m, of, args| change::padded(m, of, args, |missing| missing)),
        rows("padStart", 1, 2, |m, of, args| change::padded(m, of, args, |missing| missing)),
        rows("padRight", 1, 2, |m, of, args| change::padded(m, of, args, |_| 0)),
        rows("padEnd", 1, 2, |m, of, args| change::padded(m, of, args, |_| 0)),
        rows("center", 1, 2, |m, of, args| change::padded(m, of, args, |missing| missing / 2)),
        row("replace", 2, change::replace),
        row("replaceAll", 2, |m, of, args| change::replace_pattern(m, of, args, usize::MAX)),
        row("replaceFirst", 2, |m, of, args| change::replace_pattern(m, of, args, 1)),
        row("stripIndent", 0, |m, of, _| change::changed(m, of, change::strip_indent)),
        row("stripMargin", 0, |m, of, _| change::changed(m, of, change::strip_margin)),
        row("intern", 0, |m, of, _| m.text(of).map(Value::Text)),
        row("toString", 0, |m, of, _| m.text(of).map(Value::Text)),
        rows("formatted", 0, MANY, change::formatted),
        rows("split", 0, 2, change::split),
        // By patterns.
        row("matches", 1, |m, of, args| Ok(Value::Bool(patterns::matches(m, of, &args[0])?))),
        rows("find", 0, 2, part::find),
        rows("findAll", 0, 2, part::find_all),
        row("eachMatch", 2, part::each_match),
        // As something else.
        row("toInteger", 0, |m, of, _| number(m, of, Type::Int)),
        row("toLong", 0, |m, of, _| number(m, of, Type::Long)),
        row("toDouble", 0, |m, of, _| number(m, of, Type::Double)),
        row("toFloat", 0, |m, of, _| number(m, of, Type::Float)),
        row("toShort", 0, |m, of, _| number(m, of, Type::Short)),
        row("toBigDecimal", 0, |m, of, _| number(m, of, Type::Decimal)),
        row("toBigInteger", 0, |m, of, _| number(m, of, Type::Big)),
        row("toBoolean", 0, |m, of, _| {
            Ok(Value::Bool(matches!(m.text(of)?.trim().to_ascii_lowercase().as_str(), "true" | "y" | "1")))
        }),
        row("toCharacter", 0, |m, of, _| Ok(Value::Char(m.text(of)?.chars().next().unwrap_or('\0')))),
        rows("getBytes", 0, 1, get_bytes),
        rows("decodeBase64", 0, 1, digest::decode_base64),
        row("decodeBase64Url", 0, digest::decode_base64_url),
        row("decodeHex", 0, digest::decode_hex),
        row("md5", 0, |m, of, _| digest::hex_digest(m, "MD5", of)),
        row("sha256", 0, |m, of, _| digest::hex_digest(m, "SHA256", of)),
        row("digest", 1, |m, of, args| {
            let algorithm = m.text(&args[0])?;
            digest::hex_digest(m, &algorithm, of)
        }),
        row("toURI", 0, |_, _, _| object::refused("a script may not use the network")),
        row("toURL", 0, |_, _, _| object::refused("a script may not use the network")),
        rows("execute", 0, 2, |_, _, _| object::refused("a script may not start programs")),
    ]);

/// The text that a method is called on. Each call counts the work that a look through it is.
pub(crate) fn receiver(m: &mut Machine<'_>, of: &Value) -> Run<Rc<str>> {
    let text = m.text(of)?;
    m.work(text.len() / 256)?;
    Ok(text)
}

fn create(m: &mut Machine<'_>, _: &'static Kind, args: &[Value]) -> Run {
    match args {
        [] => Ok(Value::text("")),
        [Value::Bytes(content), rest @ ..] => {
            let charset = match rest.first() {
                Some(charset) => m.text(charset)?,
                None => Rc::from("UTF-8"),
            };
            m.new_text(coding::decoded(&content.get(), &charset))
        }
        [Value::List(list), ..] => {
            let text = joined(m, &list.to_vec())?;
            m.new_text(text)
        }
        // A text of its own, even where it says the same.
        [of, ..] => {
            let text = m.text(of)?;
            m.new_text(text.to_string())
        }
    }
}

fn joined(m: &mut Machine<'_>, parts: &[Value]) -> Run<String> {
    let mut out = String::new();
    for part in parts {
        out.push_str(&m.text(part)?);
    }
    Ok(out)
}

fn value_of(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    match &args[0] {
        Value::List(list) => {
            let text = joined(m, &list.to_vec())?;
            m.new_text(text)
        }
        value => m.text(value).map(Value::Text),
    }
}

fn length(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let text = receiver(m, of)?;
    Ok(m.number_of(text::len(&text)))
}

fn contains(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    Ok(Value::Bool(text.contains(&*m.text(&args[0])?)))
}

fn starts_with(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    let part = m.text(&args[0])?;
    let from = args.get(1).map_or(0, |from| from.to_long().unwrap_or(0).max(0) as usize);
    Ok(Value::Bool(text::byte_of(&text, from).is_some_and(|at| text[at..].starts_with(&*part))))
}

fn is_blank(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    Ok(Value::Bool(receiver(m, of)?.trim().is_empty()))
}

/// The text that is looked for: a character may be given by its number.
fn wanted(m: &mut Machine<'_>, value: &Value) -> Run<Rc<str>> {
    match value {
        Value::Int(code) => Ok(Rc::from(char::from_u32(*code as u32).unwrap_or('\0').to_string())),
        value => m.text(value),
    }
}

fn place(m: &Machine<'_>, text: &str, byte: Option<usize>) -> Value {
    let unit = byte.map_or(-1, |at| text::unit_of(text, at) as i32);
    if m.dialect.has_only_doubles() { Value::Double(f64::from(unit)) } else { Value::Int(unit) }
}

fn from_place(args: &[Value]) -> Option<usize> {
    args.get(1).and_then(Value::to_long).map(|from| from.max(0) as usize)
}

fn index_of(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    let part = wanted(m, &args[0])?;
    let start = from_place(args).map_or(Some(0), |from| text::byte_of(&text, from));
    let found = start.and_then(|start| text[start..].find(&*part).map(|at| at + start));
    Ok(place(m, &text, found))
}

fn last_index_of(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    let part = wanted(m, &args[0])?;
    let end = from_place(args)
        .and_then(|from| text::byte_of(&text, from))
        .map_or(text.len(), |at| (at + part.len()).min(text.len()));
    let found = text.get(..end).unwrap_or(&text).rfind(&*part);
    Ok(place(m, &text, found))
}

fn count(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    if let Value::Closure(_) = args[0] {
        return iterable::count(m, of, args);
    }
    let text = receiver(m, of)?;
    let part = m.text(&args[0])?;
    Ok(Value::count(if part.is_empty() { 0 } else { text.matches(&*part).count() }))
}

fn is_decimal(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    Ok(Value::Bool(Decimal::parse(receiver(m, of)?.trim()).is_some()))
}

fn is_double(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    Ok(Value::Bool(text::parse_double(&receiver(m, of)?).is_some()))
}

fn number(m: &mut Machine<'_>, of: &Value, kind: Type) -> Run {
    parse_number(receiver(m, of)?.trim(), &kind)
}

fn get_bytes(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    m.take(text.len())?;
    let charset = match args.first() {
        Some(charset) => m.text(charset)?,
        None => Rc::from("UTF-8"),
    };
    Ok(Value::bytes(coding::encoded(&text, &charset)))
}

/// The result of `compareTo`: the difference of the first units that differ, or of the lengths.
pub(crate) fn difference(a: &str, b: &str) -> i32 {
    let mut left = a.encode_utf16();
    let mut right = b.encode_utf16();
    loop {
        match (left.next(), right.next()) {
            (Some(a), Some(b)) if a != b => return i32::from(a) - i32::from(b),
            (Some(_), Some(_)) => {}
            (None, _) | (_, None) => return text::len(a) as i32 - text::len(b) as i32,
        }
    }
}
