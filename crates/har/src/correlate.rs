//! Values of answers in later requests: what a server said and the browser sent back, such as the token of a form.
//!
//! A candidate is a value that stands by itself in a request: of a query parameter, a form field, a member of a JSON document, a
//! step of a path or a header field. It is one where an earlier answer holds it and no request before that answer does.

use crate::Exchange;
use plan::answer::{By, Extract, Part, Selector};
use serde_json::Value;
use std::collections::BTreeMap;

/// Characters that a value has at least: shorter ones agree by chance.
const SHORTEST: usize = 6;
/// Characters of a value at most.
const LONGEST: usize = 4096;
/// Bytes of an answer in which values are looked for.
const LOOKED_AT: usize = 2 << 20;
/// Values that are looked for in a recording, at most.
const MOST: usize = 2000;

/// Where values come from and where they go.
#[derive(Debug, Default)]
pub(crate) struct Correlation {
    /// Values kept of answers, by the number of the exchange.
    pub(crate) kept: BTreeMap<usize, Vec<Extract>>,
    /// The values, with their names and the exchange that they come from.
    pub(crate) values: Vec<CorrelateKnown>,
}

/// A value that a server made up.
#[derive(Debug)]
pub(crate) struct CorrelateKnown {
    pub(crate) value: String,
    pub(crate) name: String,
    /// The number of the exchange whose answer has it.
    pub(crate) from: usize,
}

/// Finds what of answers stands in later requests.
pub(crate) fn correlate(exchanges: &[&Exchange]) -> Correlation {
    let mut found = Correlation::default();
    let mut looked_for = std::collections::HashSet::new();
    for (number, exchange) in exchanges.iter().enumerate() {
        for (hint, value) in candidates(exchange) {
            if looked_for.len() < MOST && looked_for.insert(value.clone()) {
                find(exchanges, number, &hint, &value, &mut found);
            }
        }
    }
    found
}

fn find(exchanges: &[&Exchange], sent_by: usize, hint: &str, value: &str, found: &mut Correlation) {
    let earlier = exchanges[..sent_by].iter().enumerate();
    let Some((from, at)) = earlier.filter_map(|(from, one)| Some((from, place(one, value)?))).next() else {
        return;
    };
    // What the browser said first it knows of itself.
    if exchanges[..=from].iter().any(|one| candidates(one).iter().any(|(_, other)| other == value)) {
        return;
    }
    let name = unused(hint, &found.values);
    found.kept.entry(from).or_default().push(Extract::of(&name, at, None));
    found.values.push(CorrelateKnown { value: value.to_owned(), name, from });
}

/// A name that no other value has.
fn unused(hint: &str, known: &[CorrelateKnown]) -> String {
    let plain: String = hint.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' }).collect();
    let plain = plain.trim_matches('_').to_ascii_lowercase();
    let plain = if plain.starts_with(|one: char| one.is_ascii_alphabetic()) {
        plain
    } else {
        format!("value_{plain}")
    };
    let plain: String = plain.trim_end_matches('_').chars().take(40).collect();
    let is_free = |name: &str| known.iter().all(|one| one.name != name);
    let numbered = (2..).map(|number| format!("{plain}_{number}"));
    std::iter::once(plain.clone()).chain(numbered).find(|name| is_free(name)).unwrap_or(plain)
}

/// Values of a request that a server may have made up, each with what it is called there.
pub(crate) fn candidates(exchange: &Exchange) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    found.extend(exchange.url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())));
    for step in exchange.url.path_segments().into_iter().flatten() {
        let step = percent_encoding::percent_decode_str(step).decode_utf8_lossy();
        found.push(("id".to_owned(), step.into_owned()));
    }
    let kind = exchange.field("Content-Type").unwrap_or_default();
    if kind.contains("x-www-form-urlencoded") {
        let form = url::form_urlencoded::parse(&exchange.body);
        found.extend(form.map(|(name, value)| (name.into_owned(), value.into_owned())));
    } else if let Ok(json) = serde_json::from_slice::<Value>(&exchange.body) {
        members("value", &json, &mut found);
    }
    for (name, value) in &exchange.fields {
        let lower = name.to_ascii_lowercase();
        if lower == "authorization" {
            let (_, token) = value.split_once(' ').unwrap_or(("", value));
            found.push(("token".to_owned(), token.to_owned()));
        } else if lower.starts_with("x-") || lower.contains("token") || lower.contains("csrf") {
            found.push((name.clone(), value.clone()));
        }
    }
    found.retain(|(_, value)| is_made_up(value));
    found
}

fn members(name: &str, json: &Value, found: &mut Vec<(String, String)>) {
    match json {
        Value::String(text) => found.push((name.to_owned(), text.clone())),
        Value::Number(number) => found.push((name.to_owned(), number.to_string())),
        Value::Array(items) => items.iter().for_each(|item| members(name, item, found)),
        Value::Object(all) => all.iter().for_each(|(name, value)| members(name, value, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// True if a value looks like one that nobody typed: long, without blanks, and not only letters unless it is very long.
fn is_made_up(value: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~+/=:,|!*".contains(&byte);
    let length = value.len();
    (SHORTEST..=LONGEST).contains(&length)
        && value.bytes().all(plain)
        && (value.bytes().any(|byte| byte.is_ascii_digit()) || length >= 16)
        && !value.starts_with("http")
}

/// Where a value stands in an answer.
fn place(exchange: &Exchange, value: &str) -> Option<Selector> {
    let in_field = exchange.answer_fields.iter().find(|(name, held)| {
        held == value
            && !["etag", "date", "last-modified", "set-cookie"].contains(&name.to_ascii_lowercase().as_str())
    });
    if let Some((name, _)) = in_field {
        return Some(Selector { part: Part::Head, by: By::Header(name.clone()) });
    }
    let text = std::str::from_utf8(&exchange.answer).ok().filter(|text| text.len() <= LOOKED_AT)?;
    if let Ok(json) = serde_json::from_str::<Value>(text)
        && let Some(path) = json_path(&json, value)
    {
        return Some(Selector::body(By::Json(path)));
    }
    if let Some(by) = between(text, value) {
        return Some(Selector::body(by));
    }
    let location = exchange.answer_field("Location")?;
    let (before, after) = around(location, value)?;
    let quoted = |text: &str| {
        text.chars()
            .map(|one| {
                if one.is_ascii_alphanumeric() { one.to_string() } else { format!("\\x{{{:x}}}", one as u32) }
            })
            .collect::<String>()
    };
    let after = if after.is_empty() { r"\r?\n".to_owned() } else { quoted(after) };
    let expression = format!(r"(?i:\r?\nLocation:)[^\n]*?{}([^\r\n]*?){after}", quoted(before));
    Some(Selector { part: Part::Head, by: By::Regex(expression) })
}

/// The path of the first member that is this value, as [`By::Json`] has it.
fn json_path(json: &Value, value: &str) -> Option<String> {
    let is_plain = |name: &str| !name.is_empty() && !name.contains(['.', '[', ']', '/', '"', '\'', '$']);
    match json {
        Value::String(text) => (text == value).then(String::new),
        Value::Number(number) => (number.to_string() == value).then(String::new),
        Value::Array(items) => items.iter().enumerate().find_map(|(nth, item)| {
            let rest = json_path(item, value)?;
            Some(joined(&format!("[{nth}]"), &rest))
        }),
        Value::Object(all) => all.iter().filter(|(name, _)| is_plain(name)).find_map(|(name, inner)| {
            let rest = json_path(inner, value)?;
            Some(joined(name, &rest))
        }),
        Value::Null | Value::Bool(_) => None,
    }
}

fn joined(step: &str, rest: &str) -> String {
    let dot = if rest.is_empty() || rest.starts_with('[') { "" } else { "." };
    format!("{step}{dot}{rest}")
}

/// The texts around a value, if they lead to it: what stands before it is on its line, and long enough to stand nowhere earlier.
fn between(text: &str, value: &str) -> Option<By> {
    let (before, after) = around(text, value)?;
    if after.is_empty() || before.is_empty() {
        return None;
    }
    Some(By::Between { before: before.into(), after: after.into() })
}

/// Bytes that stand before a value, at most.
const CONTEXT: usize = 60;

fn around<'a>(text: &'a str, value: &str) -> Option<(&'a str, &'a str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find(value).map(|place| from + place) {
        let end = at + value.len();
        let after = text[end..].chars().next().map_or("", |one| &text[end..end + one.len_utf8()]);
        let line = text[..at].rfind('\n').map_or(0, |place| place + 1);
        // The next character must end the value: none that it could go on with.
        let ends = !after.starts_with(|one: char| one.is_ascii_alphanumeric())
            && (after.is_empty() || !value.contains(after));
        let least = line.max(at.saturating_sub(CONTEXT));
        // From the beginning of a tag, where it is one; else some characters, as few as lead there.
        let tag = text.get(least..at).and_then(|near| near.rfind('<')).map(|place| least + place);
        let begins = tag
            .into_iter()
            .chain((least..at.saturating_sub(8)).rev())
            .chain(at.saturating_sub(8).max(least)..at.saturating_sub(2));
        for begin in begins.filter(|&begin| ends && text.is_char_boundary(begin)) {
            let before = &text[begin..at];
            let is_edge = !before.ends_with(|one: char| one.is_ascii_alphanumeric());
            if is_edge && text.find(before) == Some(begin) {
                return Some((before, after));
            }
        }
        from = end;
    }
    None
}
