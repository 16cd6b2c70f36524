//! Regular expressions: Java's syntax, run by an engine whose time is linear in the text. What needs backtracking
//! (back-references, looking around, possessive quantifiers) is refused with a message.

use super::items::list_of_kind;
use crate::model::abrupt::{Run, thrown};
use crate::model::library::regex::pattern::Pattern;
use crate::model::machine::Machine;
use crate::model::value::{Closure, ListKind, Value};
use regex::{Captures, Regex, RegexBuilder};
use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Patterns that a script keeps compiled.
const MOST_KEPT: usize = 64;
/// Bytes of a compiled pattern.
const LARGEST: usize = 1 << 20;

/// Compiled patterns by their text and flags.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    known: RefCell<Known>,
}

type Known = HashMap<(Rc<str>, i64), Rc<Pattern>>;

impl Patterns {
    fn get(&self, text: &Rc<str>, flags: i64) -> Result<Rc<Pattern>, String> {
        let key = (text.clone(), flags);
        if let Some(pattern) = self.known.borrow().get(&key) {
            return Ok(pattern.clone());
        }
        let pattern = Rc::new(Pattern { text: text.clone(), regex: compile(text, flags)? });
        let mut known = self.known.borrow_mut();
        if known.len() >= MOST_KEPT {
            known.clear();
        }
        known.insert(key, pattern.clone());
        Ok(pattern)
    }
}

/// A pattern of Java's; in error, why it is none here. Flags as in `java.util.regex.Pattern`.
pub(crate) fn compile(text: &str, flags: i64) -> Result<Regex, String> {
    let literal = flags & 16 != 0;
    let translated = if literal { regex::escape(text) } else { translated(text)? };
    let mut builder = RegexBuilder::new(&translated);
    builder.case_insensitive(flags & 2 != 0).multi_line(flags & 8 != 0).dot_matches_new_line(flags & 32 != 0);
    builder.ignore_whitespace(flags & 4 != 0).size_limit(LARGEST).nest_limit(100);
    builder.build().map_err(|problem| match problem {
        regex::Error::CompiledTooBig(_) => "the pattern is too large".to_owned(),
        problem => {
            let text = problem.to_string();
            let last = text.lines().last().expect("an error says something");
            last.trim_start_matches("error: ").to_owned()
        }
    })
}

/// Java's syntax as that of the engine: classes like `\d` know ASCII only.
fn translated(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut in_class = 0_usize;
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(&mut chars, &mut out, in_class > 0)?,
            '[' => {
                in_class += 1;
                out.push('[');
            }
            ']' => {
                in_class = in_class.saturating_sub(1);
                out.push(']');
            }
            '(' if in_class == 0 && chars.peek() == Some(&'?') => group(&mut chars, &mut out)?,
            '*' | '+' | '?' | '}' if in_class == 0 && chars.peek() == Some(&'+') => {
                return Err(format!(
                    "a possessive quantifier {c}+ needs backtracking, which is not available: leave the + away"
                ));
            }
            '}' if in_class == 0 && !closes_quantifier(&out) => out.push_str("\\}"),
            c => out.push(c),
        }
    }
    Ok(out)
}

/// True if a brace closes one that is open; a single one is a sign in Java.
fn closes_quantifier(before: &str) -> bool {
    before.rfind('{').is_some_and(|open| !before[open..].contains('}'))
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn escape(chars: &mut Chars<'_>, out: &mut String, in_class: bool) -> Result<(), String> {
    let Some(c) = chars.next() else { return Err("a backslash at the end".to_owned()) };
    let class = match c {
        'd' => "0-9",
        'w' => "a-zA-Z_0-9",
        's' => r" \t\n\x0B\f\r",
        'h' => r" \t\u{A0}",
        'D' => return push(out, "[^0-9]"),
        'W' => return push(out, "[^a-zA-Z_0-9]"),
        'S' => return push(out, r"[^ \t\n\x0B\f\r]"),
        'R' => return push(out, r"(?:\r\n|[\n\x0B\f\r\u{85}\u{2028}\u{2029}])"),
        'Z' => return push(out, r"\n?\z"),
        'e' => return push(out, r"\x1B"),
        'u' => {
            let digits: String = chars.by_ref().take(4).collect();
            return push(out, &format!("\\u{{{digits}}}"));
        }
        'Q' => return quoted(chars, out),
        'p' | 'P' => return property(chars, out, c),
        '1'..='9' | 'k' => {
            return Err(format!("the back-reference \\{c} needs backtracking, which is not available"));
        }
        'G' => return Err("\\G is not available".to_owned()),
        'A' | 'z' | 'b' | 'B' | 't' | 'n' | 'r' | 'f' | 'a' | 'x' => return push(out, &format!("\\{c}")),
        '0' => return push(out, r"\x00"),
        c if c.is_ascii_alphabetic() => return Err(format!("\\{c} is no escape")),
        c if c.is_ascii_punctuation() => return push(out, &format!("\\{c}")),
        c => return push(out, &c.to_string()),
    };
    push(out, &if in_class { class.to_owned() } else { format!("[{class}]") })
}

fn push(out: &mut String, part: &str) -> Result<(), String> {
    out.push_str(part);
    Ok(())
}

/// `\Q…\E`.
fn quoted(chars: &mut Chars<'_>, out: &mut String) -> Result<(), String> {
    let rest: String = chars.clone().collect();
    let (inner, taken) = match rest.find("\\E") {
        Some(end) => (&rest[..end], rest[..end].chars().count() + 2),
        None => (rest.as_str(), rest.chars().count()),
    };
    out.push_str(&regex::escape(inner));
    for _ in 0..taken {
        chars.next();
    }
    Ok(())
}

/// `\p{Alpha}`: Java's names of POSIX classes are ASCII.
fn property(chars: &mut Chars<'_>, out: &mut String, letter: char) -> Result<(), String> {
    if chars.peek() != Some(&'{') {
        let name = chars.next().unwrap_or('L');
        return push(out, &format!("\\{letter}{name}"));
    }
    let name: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
    let posix = match name.as_str() {
        "Lower" | "Upper" | "Alpha" | "Digit" | "Alnum" | "Punct" | "Graph" | "Print" | "Blank" | "Cntrl"
        | "XDigit" | "Space" | "ASCII" => name.to_ascii_lowercase(),
        _ => return push(out, &format!("\\{letter}{{{}}}", name.trim_start_matches("Is"))),
    };
    push(out, &format!("[{}[:{posix}:]]", if letter == 'P' { "^" } else { "" }))
}

/// Translates a group that begins with `(?`.
fn group(chars: &mut Chars<'_>, out: &mut String) -> Result<(), String> {
    let rest: String = chars.clone().take(4).collect();
    for (start, name) in [("?=", "(?="), ("?!", "(?!"), ("?<=", "(?<="), ("?<!", "(?<!"), ("?>", "(?>")] {
        if rest.starts_with(start) {
            return Err(format!(
                "{name} needs backtracking, which is not available: match what is around it and take a group"
            ));
        }
    }
    out.push('(');
    Ok(())
}

/// True if the whole text fits.
pub(crate) fn matches_whole(pattern: &Pattern, text: &str) -> bool {
    let mut locations = pattern.regex.capture_locations();
    let first = pattern.regex.captures_read(&mut locations, text);
    if first.is_some_and(|found| found.start() == 0 && found.end() == text.len()) {
        return true;
    }
    if first.is_none() {
        return false;
    }
    // The leftmost match may be shorter than another that takes all.
    whole(pattern).is_some_and(|regex| regex.is_match(text))
}

/// The pattern between the ends of the text.
pub(crate) fn whole(pattern: &Pattern) -> Option<Regex> {
    RegexBuilder::new(&format!(r"\A(?:{})\z", pattern.regex.as_str())).size_limit(LARGEST).build().ok()
}

/// Where a group begins and ends, in bytes; `None` where it took no part.
pub(crate) type Place = Option<(usize, usize)>;

/// The places of a match and its groups.
pub(crate) fn places(captures: &Captures<'_>) -> Vec<Place> {
    captures.iter().map(|group| group.map(|group| (group.start(), group.end()))).collect()
}

/// The text at a place; null where there is none.
pub(crate) fn part(text: &str, place: Place) -> Value {
    place.map_or(Value::Null, |(start, end)| Value::from(&text[start..end]))
}

/// The texts of a match and its groups.
pub(crate) fn parts(text: &str, places: &[Place]) -> Vec<Value> {
    places.iter().map(|place| part(text, *place)).collect()
}

/// A match as scripts see it: its text, or where there are groups a list of the text and the groups.
fn found(text: &str, places: &[Place]) -> Value {
    let mut texts = parts(text, places);
    if texts.len() == 1 { texts.swap_remove(0) } else { Value::list(texts) }
}

/// A compiled pattern.
pub(crate) fn pattern(m: &mut Machine<'_>, text: &Rc<str>, flags: i64) -> Run<Rc<Pattern>> {
    m.work(text.len() / 8)?;
    match m.patterns.get(text, flags) {
        Ok(pattern) => Ok(pattern),
        Err(reason) => thrown("PatternSyntaxException", format!("{reason} near index 0\n{text}")),
    }
}

/// The pattern that a value is, or that its text says.
pub(crate) fn pattern_of(m: &mut Machine<'_>, value: &Value) -> Run<Rc<Pattern>> {
    if let Value::Object(object) = value {
        let any: Rc<dyn Any> = object.clone();
        if let Ok(pattern) = any.downcast::<Pattern>() {
            return Ok(pattern);
        }
    }
    let text = m.text(value)?;
    pattern(m, &text, 0)
}

/// Counts a search through a text.
pub(crate) fn search(m: &mut Machine<'_>, text: &str) -> Run<()> {
    m.work(1 + text.len() / 64)
}

/// `text ==~ pattern`.
pub(crate) fn matches(m: &mut Machine<'_>, left: &Value, right: &Value) -> Run<bool> {
    if left.is_null() {
        return Ok(false);
    }
    let pattern = pattern_of(m, right)?;
    let text = m.text(left)?;
    search(m, &text)?;
    Ok(matches_whole(&pattern, &text))
}

/// Each match: its text, or a list of the text and the groups.
pub(crate) fn all_matches(m: &mut Machine<'_>, pattern: &Pattern, text: &str) -> Run<Vec<Value>> {
    search(m, text)?;
    let mut all = Vec::new();
    for captures in pattern.regex.captures_iter(text) {
        m.work(1 + captures.len() / 2)?;
        m.take(64 * captures.len())?;
        all.push(found(text, &places(&captures)));
    }
    Ok(all)
}

/// Replaces matches; `$1` and `\$` in the replacement as in Java.
pub(crate) fn replaced(m: &mut Machine<'_>, pattern: &Pattern, text: &str, to: &str, most: usize) -> Run {
    search(m, text)?;
    let mut out = String::new();
    let mut at = 0;
    for captures in pattern.regex.captures_iter(text).take(most) {
        let Some(found) = captures.get(0) else { continue };
        m.step()?;
        out.push_str(&text[at..found.start()]);
        expand(to, &captures, &mut out)?;
        at = found.end();
        if out.len() > m.limits.text {
            break;
        }
    }
    out.push_str(&text[at..]);
    m.new_text(out)
}

fn expand(to: &str, captures: &Captures<'_>, out: &mut String) -> Run<()> {
    let mut chars = to.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            '$' if chars.peek() == Some(&'{') => {
                let name: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                match captures.name(&name) {
                    Some(group) => out.push_str(group.as_str()),
                    None => {
                        return thrown("IllegalArgumentException", format!("No group with name {{{name}}}"));
                    }
                }
            }
            '$' => {
                let Some(mut number) = chars.next().and_then(|c| c.to_digit(10)) else {
                    return thrown("IllegalArgumentException", "Illegal group reference");
                };
                if number as usize >= captures.len() {
                    return thrown("IndexOutOfBoundsException", format!("No group {number}"));
                }
                // More digits belong to it while such a group is there.
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    if (number * 10 + digit) as usize >= captures.len() {
                        break;
                    }
                    number = number * 10 + digit;
                    chars.next();
                }
                out.push_str(captures.get(number as usize).map_or("", |group| group.as_str()));
            }
            c => out.push(c),
        }
    }
    Ok(())
}

/// Replaces matches by what a closure gives for them.
pub(crate) fn replaced_by(
    m: &mut Machine<'_>,
    pattern: &Pattern,
    text: &str,
    closure: &Rc<Closure>,
    most: usize,
) -> Run {
    search(m, text)?;
    let found: Vec<_> =
        pattern.regex.captures_iter(text).take(most).map(|captures| places(&captures)).collect();
    let mut out = String::new();
    let mut at = 0;
    for places in found {
        let Some(Some((start, end))) = places.first().copied() else { continue };
        out.push_str(&text[at..start]);
        let parts = parts(text, &places);
        let args = if parts.len() == 1 { parts } else { vec![Value::list(parts)] };
        let value = m.call_closure(closure, &args)?;
        out.push_str(&m.text(&value)?);
        at = end;
    }
    out.push_str(&text[at..]);
    m.new_text(out)
}

/// Java's `split`: a limit of 0 drops empty texts at the end.
pub(crate) fn split(m: &mut Machine<'_>, text: &str, pattern: &Pattern, limit: i64) -> Run {
    search(m, text)?;
    m.take(text.len())?;
    let mut parts: Vec<&str> = Vec::new();
    let mut at = 0;
    for found in pattern.regex.find_iter(text) {
        if limit > 0 && parts.len() as i64 >= limit - 1 {
            break;
        }
        // An empty match at the beginning, or at the end, splits nothing.
        if found.is_empty() && (found.start() == 0 || found.start() == text.len()) || found.end() == 0 {
            continue;
        }
        parts.push(&text[at..found.start()]);
        at = found.end();
    }
    parts.push(&text[at..]);
    while limit == 0 && parts.len() > 1 && parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    if limit == 0 && !text.is_empty() && parts.iter().all(|part| part.is_empty()) {
        parts.clear();
    }
    let parts = parts.into_iter().map(Value::from).collect();
    list_of_kind(m, ListKind::Array, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_java() {
        for (pattern, text, expected) in [
            (r"\d+", "a12", true),
            (r"\d+", "٣", false),
            (r"[\w-]+@\w+", "a-b@c", true),
            (r"\Qa.b\E", "axb", false),
            (r"\p{Alpha}\p{Punct}", "a!", true),
            (r#"{"a":(\d)}"#.trim_start_matches('{'), r#""a":1}"#, true),
            (r"x{2}", "xx", true),
            (r"\/a\-b\_c", "/a-b_c", true),
        ] {
            assert_eq!(
                compile(pattern, 0).unwrap_or_else(|problem| panic!("{pattern}: {problem}")).is_match(text),
                expected,
                "{pattern}"
            );
        }
        for pattern in [r"(a)\1", "(?=a)", "(?<!a)b", "a*+", "(", r"\q", "[a", "(a{1000}){1000}"] {
            assert!(compile(pattern, 0).is_err(), "{pattern}");
        }
    }
}
