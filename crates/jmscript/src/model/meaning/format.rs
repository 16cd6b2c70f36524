//! `String.format`, and `DecimalFormat`.

use crate::dialect::Dialect;
use crate::model::abrupt::{Run, thrown};
use crate::model::library::constant::Constant;
use crate::model::library::util::{date, locale};
use crate::model::machine::Machine;
use crate::model::value::Value;
use crate::number::{Decimal, Rounding};
use num_bigint::BigInt;

/// One placeholder: `%[index$][flags][width][.precision]letter`.
#[derive(Debug, Default)]
struct Spec {
    index: Option<usize>,
    flags: String,
    width: usize,
    precision: Option<usize>,
    letter: char,
    /// The second letter of dates.
    part: char,
}

/// The text that a format and its values make; the format is the first of them.
pub(crate) fn format(m: &mut Machine<'_>, args: &[Value]) -> Run<String> {
    let Some((mut first, mut values)) = args.split_first() else { return Ok(String::new()) };
    if let [format, rest @ ..] = values
        && Constant::name_of(first, &locale::KIND).is_some()
    {
        first = format;
        values = rest;
    }
    let spread: Vec<Value>;
    if let [Value::List(list)] = values {
        spread = list.to_vec();
        values = &spread;
    }
    let format = m.text(first)?;
    format_with(m, &format, values)
}

fn format_with(m: &mut Machine<'_>, format: &str, values: &[Value]) -> Run<String> {
    let mut out = String::new();
    let mut rest = format;
    let mut next = 0;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let (spec, length) = match spec(&rest[at..]) {
            Some(found) => found,
            None => return thrown("IllegalArgumentException", "Conversion = '%'"),
        };
        rest = &rest[at + length..];
        match spec.letter {
            '%' => out.push('%'),
            'n' => out.push('\n'),
            _ => {
                let index = spec.index.unwrap_or(next);
                next += usize::from(spec.index.is_none());
                let Some(value) = values.get(index) else {
                    return thrown(
                        "MissingFormatArgumentException",
                        format!("Format specifier '%{}'", spec.letter),
                    );
                };
                let text = formatted(m, &spec, value)?;
                pad(&mut out, &text, &spec);
            }
        }
        m.take_text(out.len())?;
    }
    out.push_str(rest);
    Ok(out)
}

fn formatted(m: &mut Machine<'_>, spec: &Spec, value: &Value) -> Run<String> {
    let text = match spec.letter.to_ascii_lowercase() {
        's' => {
            let text = m.text(value)?;
            text.chars().take(spec.precision.unwrap_or(usize::MAX)).collect()
        }
        'b' => match value {
            Value::Bool(value) => value.to_string(),
            value => (!value.is_null()).to_string(),
        },
        'c' => match value {
            Value::Int(code) => char::from_u32(*code as u32).unwrap_or('?').to_string(),
            value => m.text(value)?.to_string(),
        },
        _ if value.is_null() => "null".to_owned(),
        'd' | 'x' | 'o' => whole(m, spec, value)?,
        'f' | 'e' | 'g' => decimal(m, spec, value)?,
        'h' => format!("{:x}", crate::model::value::hash_code(value)),
        't' => formatted_date(m, spec.part, value)?,
        other => return thrown("IllegalArgumentException", format!("Conversion = '{other}'")),
    };
    Ok(if spec.letter.is_ascii_uppercase() && spec.letter != 'T' { text.to_uppercase() } else { text })
}

fn whole(m: &mut Machine<'_>, spec: &Spec, value: &Value) -> Run<String> {
    let is_whole = matches!(value, Value::Int(_) | Value::Long(_) | Value::Big(_));
    if !is_whole && !m.dialect.has_only_doubles() {
        let class = value.class_name();
        return thrown("IllegalArgumentException", format!("{} != {class}", spec.letter));
    }
    let number = value.to_big().unwrap_or(BigInt::ZERO);
    let digits = match (spec.letter.to_ascii_lowercase(), value) {
        ('d', _) => {
            let digits = number.magnitude().to_string();
            return Ok(signed(
                spec,
                number.sign() == num_bigint::Sign::Minus,
                if spec.flags.contains(',') { grouped(&digits) } else { digits },
            ));
        }
        ('x', Value::Int(value)) => format!("{value:x}"),
        ('x', Value::Long(value)) => format!("{value:x}"),
        ('x', _) => number.to_str_radix(16),
        (_, Value::Int(value)) => format!("{value:o}"),
        _ => number.to_str_radix(8),
    };
    Ok(signed(spec, false, digits))
}

fn decimal(m: &mut Machine<'_>, spec: &Spec, value: &Value) -> Run<String> {
    if matches!(value, Value::Int(_) | Value::Long(_)) && m.dialect != Dialect::JavaScript {
        let class = value.class_name();
        return thrown("IllegalArgumentException", format!("{} != {class}", spec.letter));
    }
    let digits = spec.precision.unwrap_or(6).min(300);
    let Some(decimal) = value.to_decimal() else {
        return Ok(crate::number::double_text(value.to_double().unwrap_or(f64::NAN)));
    };
    let is_negative = decimal < Decimal::new(0, 0);
    if spec.letter.eq_ignore_ascii_case(&'e') {
        let text = format!("{:.digits$e}", value.to_double().unwrap_or(0.0).abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        return Ok(signed(
            spec,
            is_negative,
            format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
        ));
    }
    let text = decimal.with_scale(digits as i32, Rounding::HalfUp).unwrap_or(decimal).plain_text();
    let text = text.trim_start_matches('-');
    let text = match text.split_once('.') {
        Some((whole, fraction)) if spec.flags.contains(',') => format!("{}.{fraction}", grouped(whole)),
        None if spec.flags.contains(',') => grouped(text),
        _ => text.to_owned(),
    };
    Ok(signed(spec, is_negative, text))
}

/// `DecimalFormat`'s text of a number: `0`, `#`, `,`, `.` and text around them.
pub(crate) fn decimal_format(m: &mut Machine<'_>, pattern: &str, value: &Value) -> Run {
    let is_sign = |c: char| matches!(c, '0' | '#' | ',' | '.');
    let start = pattern.find(is_sign).unwrap_or(pattern.len());
    let end = pattern.rfind(is_sign).map_or(start, |end| end + 1);
    let (whole, fraction) = pattern[start..end].split_once('.').unwrap_or((&pattern[start..end], ""));
    let least = fraction.matches('0').count();
    let most = fraction.len();
    let percent = if pattern.contains('%') { 2 } else { 0 };
    let Some(decimal) = value.to_decimal() else {
        return m.new_text(crate::number::double_text(value.to_double().unwrap_or(f64::NAN)));
    };
    let decimal = Decimal::new(decimal.unscaled().clone(), decimal.scale() - percent);
    let rounded = decimal.with_scale(most as i32, Rounding::HalfEven).unwrap_or(decimal).plain_text();
    let is_negative = rounded.starts_with('-');
    let rounded = rounded.trim_start_matches('-').to_owned();
    let (before, after) = rounded.split_once('.').unwrap_or((&rounded, ""));
    let mut after = after.to_owned();
    while after.len() > least && after.ends_with('0') {
        after.pop();
    }
    let digits = whole.matches('0').count();
    let before = if digits == 0 && before == "0" && !after.is_empty() {
        String::new()
    } else {
        format!("{before:0>digits$}")
    };
    let before = if whole.contains(',') { grouped(&before) } else { before };
    let point = if after.is_empty() { "" } else { "." };
    let sign = if is_negative { "-" } else { "" };
    m.new_text(format!(
        "{sign}{}{before}{point}{after}{}",
        &pattern[..start].replace('\'', ""),
        &pattern[end..].replace('\'', "")
    ))
}

fn formatted_date(m: &mut Machine<'_>, part: char, value: &Value) -> Run<String> {
    let pattern = match part {
        'Y' => "yyyy",
        'm' => "MM",
        'd' => "dd",
        'H' => "HH",
        'M' => "mm",
        'S' => "ss",
        'L' => "SSS",
        'F' => "yyyy-MM-dd",
        'T' => "HH:mm:ss",
        'B' => "MMMM",
        'b' => "MMM",
        'A' => "EEEE",
        'y' => "yy",
        other => return thrown("IllegalArgumentException", format!("Conversion = 't{other}'")),
    };
    date::formatted(m, value, pattern).map(|text| text.to_string())
}

fn signed(spec: &Spec, is_negative: bool, digits: String) -> String {
    let sign = match (is_negative, spec.flags.contains('+')) {
        (true, _) => "-",
        (false, true) => "+",
        (false, false) => "",
    };
    let missing =
        if spec.flags.contains('0') { spec.width.saturating_sub(digits.len() + sign.len()) } else { 0 };
    format!("{sign}{}{digits}", "0".repeat(missing.min(10_000)))
}

fn pad(out: &mut String, text: &str, spec: &Spec) {
    let missing = spec.width.saturating_sub(text.chars().count());
    if spec.flags.contains('-') {
        out.push_str(text);
        out.extend(std::iter::repeat_n(' ', missing));
    } else {
        out.extend(std::iter::repeat_n(' ', missing));
        out.push_str(text);
    }
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The placeholder at the beginning, and its length.
fn spec(text: &str) -> Option<(Spec, usize)> {
    let bytes = text.as_bytes();
    let mut spec = Spec::default();
    let mut at = 1;
    let digits = |at: usize| text[at..].bytes().take_while(u8::is_ascii_digit).count();
    let index = digits(at);
    if index > 0 && bytes.get(at + index) == Some(&b'$') {
        spec.index = text[at..at + index].parse::<usize>().ok()?.checked_sub(1);
        at += index + 1;
    }
    while let Some(flag) = bytes.get(at).filter(|byte| b"-#+ 0,(".contains(byte)) {
        spec.flags.push(char::from(*flag));
        at += 1;
    }
    let width = digits(at);
    if width > 0 {
        spec.width = text[at..at + width].parse().ok().filter(|width| *width <= 1_000_000)?;
        at += width;
    }
    if bytes.get(at) == Some(&b'.') {
        let precision = digits(at + 1);
        spec.precision = Some(text[at + 1..at + 1 + precision].parse().ok()?);
        at += 1 + precision;
    }
    spec.letter = text[at..].chars().next()?;
    at += spec.letter.len_utf8();
    if spec.letter.eq_ignore_ascii_case(&'t') {
        spec.part = text[at..].chars().next()?;
        at += spec.part.len_utf8();
    }
    Some((spec, at))
}
