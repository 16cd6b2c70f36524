//! Regular expressions: Java's syntax, run by an engine whose time is linear in the text. What needs backtracking
//! (back-references, looking around, possessive quantifiers) is refused with a message.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::method::Method;
use crate::value::{Matches, Object, Pattern, Value, text};
use regex::{Captures, Regex, RegexBuilder};
use std::cell::{Cell, RefCell};
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
            problem.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
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
pub(super) fn matches_whole(pattern: &Pattern, text: &str) -> bool {
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
fn whole(pattern: &Pattern) -> Option<Regex> {
    RegexBuilder::new(&format!(r"\A(?:{})\z", pattern.regex.as_str())).size_limit(LARGEST).build().ok()
}

fn new_matches(pattern: Rc<Pattern>, text: Rc<str>) -> Matches {
    Matches { pattern, text, groups: RefCell::new(None), next: Cell::new(0) }
}

fn groups_of(captures: &Captures<'_>) -> Vec<Option<(usize, usize)>> {
    captures.iter().map(|group| group.map(|group| (group.start(), group.end()))).collect()
}

impl Machine<'_> {
    /// A compiled pattern.
    pub(super) fn pattern(&mut self, text: &Rc<str>, flags: i64) -> Run<Rc<Pattern>> {
        self.work(text.len() / 8)?;
        match self.patterns.get(text, flags) {
            Ok(pattern) => Ok(pattern),
            Err(reason) => thrown("PatternSyntaxException", format!("{reason} near index 0\n{text}")),
        }
    }

    fn pattern_of(&mut self, value: &Value) -> Run<Rc<Pattern>> {
        if let Value::Object(object) = value
            && let Object::Pattern(pattern) = &**object
        {
            return Ok(pattern.clone());
        }
        let text = self.text(value)?;
        self.pattern(&text, 0)
    }

    /// Counts a search through a text.
    fn search(&mut self, text: &str) -> Run<()> {
        self.work(1 + text.len() / 64)
    }

    /// `text =~ pattern`.
    pub(super) fn find(&mut self, left: &Value, right: &Value) -> Run {
        let (pattern, text) = (self.pattern_of(right)?, self.text(left)?);
        self.search(&text)?;
        Ok(Value::object(Object::Matcher(new_matches(pattern, text))))
    }

    /// `text ==~ pattern`.
    pub(super) fn matches(&mut self, left: &Value, right: &Value) -> Run<bool> {
        if left.is_null() {
            return Ok(false);
        }
        let (pattern, text) = (self.pattern_of(right)?, self.text(left)?);
        self.search(&text)?;
        Ok(matches_whole(&pattern, &text))
    }

    pub(super) fn text_pattern_method(
        &mut self,
        of: &Rc<str>,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let text = Value::Text(of.clone());
        Ok(Some(match (method, args) {
            (Method::matches, [pattern]) => Value::Bool(self.matches(&text, pattern)?),
            (Method::replaceAll | Method::replaceFirst, [pattern, to]) => {
                let pattern = self.pattern_of(pattern)?;
                let is_all = method == Method::replaceAll;
                match to {
                    Value::Closure(closure) => self.replaced_by(&pattern, of, &closure.clone(), is_all)?,
                    to => {
                        let to = self.text(to)?;
                        self.replaced(&pattern, of, &to, is_all)?
                    }
                }
            }
            (Method::replace, [Value::Object(_), _]) => {
                return self.text_pattern_method(of, Method::replaceAll, args);
            }
            (Method::split, _) => self.split(of, args)?,
            (Method::find, [pattern, ..]) => {
                let pattern = self.pattern_of(pattern)?;
                self.search(of)?;
                let found = pattern.regex.captures(of).map(|captures| groups_of(&captures));
                match (found, args.get(1)) {
                    (None, _) => Value::Null,
                    (Some(groups), Some(Value::Closure(closure))) => {
                        let parts = self.group_texts(of, &groups);
                        self.call_closure(&closure.clone(), &parts)?
                    }
                    (Some(groups), _) => part_of(of, groups[0]),
                }
            }
            (Method::findAll | Method::eachMatch, [pattern, ..]) => {
                self.find_all(of, method, pattern, args.get(1))?
            }
            _ => return Ok(None),
        }))
    }

    fn find_all(&mut self, of: &Rc<str>, method: Method, pattern: &Value, closure: Option<&Value>) -> Run {
        let pattern = self.pattern_of(pattern)?;
        let matches = new_matches(pattern, of.clone());
        let mut found = Vec::new();
        for item in self.all_matches(&matches)? {
            match closure {
                Some(Value::Closure(closure)) => found.push(self.call_closure(&closure.clone(), &[item])?),
                _ => found.push(match item {
                    Value::List(groups) => groups.get(0).unwrap_or_default(),
                    item => item,
                }),
            }
        }
        if method == Method::eachMatch { Ok(Value::Text(of.clone())) } else { self.new_list(found) }
    }

    fn group_texts(&self, of: &str, groups: &[Option<(usize, usize)>]) -> Vec<Value> {
        groups.iter().map(|group| part_of(of, *group)).collect()
    }

    /// Replaces matches; `$1` and `\$` in the replacement as in Java.
    fn replaced(&mut self, pattern: &Rc<Pattern>, of: &str, to: &str, is_all: bool) -> Run {
        self.search(of)?;
        let mut out = String::new();
        let mut at = 0;
        for captures in pattern.regex.captures_iter(of).take(if is_all { usize::MAX } else { 1 }) {
            let Some(found) = captures.get(0) else { continue };
            self.step()?;
            out.push_str(&of[at..found.start()]);
            self.expand(to, &captures, &mut out)?;
            at = found.end();
            if out.len() > self.limits.text {
                break;
            }
        }
        out.push_str(&of[at..]);
        self.new_text(out)
    }

    fn expand(&mut self, to: &str, captures: &Captures<'_>, out: &mut String) -> Run<()> {
        let mut chars = to.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' => out.extend(chars.next()),
                '$' if chars.peek() == Some(&'{') => {
                    let name: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    match captures.name(&name) {
                        Some(group) => out.push_str(group.as_str()),
                        None => {
                            return thrown(
                                "IllegalArgumentException",
                                format!("No group with name {{{name}}}"),
                            );
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

    fn replaced_by(
        &mut self,
        pattern: &Rc<Pattern>,
        of: &str,
        closure: &Rc<crate::value::Closure>,
        is_all: bool,
    ) -> Run {
        self.search(of)?;
        let found: Vec<_> = pattern
            .regex
            .captures_iter(of)
            .take(if is_all { usize::MAX } else { 1 })
            .map(|c| groups_of(&c))
            .collect();
        let mut out = String::new();
        let mut at = 0;
        for groups in found {
            let Some(Some((start, end))) = groups.first().copied() else { continue };
            out.push_str(&of[at..start]);
            let parts = self.group_texts(of, &groups);
            let args = if parts.len() == 1 { parts } else { vec![Value::list(parts)] };
            let value = self.call_closure(closure, &args)?;
            out.push_str(&self.text(&value)?);
            at = end;
        }
        out.push_str(&of[at..]);
        self.new_text(out)
    }

    /// Java's `split`: a limit of 0 drops empty texts at the end.
    fn split(&mut self, of: &Rc<str>, args: &[Value]) -> Run {
        let limit = args.get(1).and_then(Value::to_long).unwrap_or(0);
        let Some(by) = args.first() else {
            // Groovy's `split()` goes by blanks.
            let parts = of.split_whitespace().map(Value::from).collect();
            return self.list_of_kind(crate::value::ListKind::Array, parts);
        };
        let pattern = self.pattern_of(by)?;
        self.search(of)?;
        self.take(of.len())?;
        let mut parts: Vec<&str> = Vec::new();
        let mut at = 0;
        for found in pattern.regex.find_iter(of) {
            if limit > 0 && parts.len() as i64 >= limit - 1 {
                break;
            }
            // An empty match at the beginning, or at the end, splits nothing.
            if found.is_empty() && (found.start() == 0 || found.start() == of.len()) || found.end() == 0 {
                continue;
            }
            parts.push(&of[at..found.start()]);
            at = found.end();
        }
        parts.push(&of[at..]);
        while limit == 0 && parts.len() > 1 && parts.last().is_some_and(|last| last.is_empty()) {
            parts.pop();
        }
        let parts = if parts.iter().all(|part| part.is_empty()) && limit == 0 && !of.is_empty() {
            Vec::new()
        } else {
            parts
        };
        let parts = parts.into_iter().map(Value::from).collect();
        self.list_of_kind(crate::value::ListKind::Array, parts)
    }

    // Matchers.

    /// Each match: its text, or a list of the text and the groups.
    pub(super) fn all_matches(&mut self, matches: &Matches) -> Run<Vec<Value>> {
        self.search(&matches.text)?;
        let mut found = Vec::new();
        for captures in matches.pattern.regex.captures_iter(&matches.text) {
            self.work(1 + captures.len() / 2)?;
            self.take(64 * captures.len())?;
            found.push(self.match_value(&matches.text, &groups_of(&captures)));
        }
        Ok(found)
    }

    fn match_value(&self, text: &str, groups: &[Option<(usize, usize)>]) -> Value {
        let mut texts = self.group_texts(text, groups);
        if texts.len() == 1 { texts.swap_remove(0) } else { Value::list(texts) }
    }

    pub(super) fn match_at(&mut self, matches: &Matches, index: &Value) -> Run {
        let all = self.all_matches(matches)?;
        let wanted = index.to_long().unwrap_or(0);
        let place = if wanted < 0 { wanted + all.len() as i64 } else { wanted };
        match usize::try_from(place).ok().and_then(|place| all.get(place).cloned()) {
            Some(found) => Ok(found),
            None => thrown(
                "IndexOutOfBoundsException",
                format!("index is out of range {}..{} (index = {wanted})", 0, all.len() as i64 - 1),
            ),
        }
    }

    pub(super) fn matcher_method(
        &mut self,
        of: &Value,
        matches: &Matches,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::find, []) => {
                let at = matches.next.get();
                self.search(&matches.text)?;
                let found = if at > matches.text.len() {
                    None
                } else {
                    matches.pattern.regex.captures_at(&matches.text, at)
                };
                let groups = found.map(|captures| groups_of(&captures));
                if let Some(Some((start, end))) = groups.as_ref().and_then(|groups| groups.first()) {
                    let step = matches.text[*end..].chars().next().map_or(1, char::len_utf8);
                    matches.next.set(if start == end { end + step } else { *end });
                }
                let has_found = groups.is_some();
                matches.groups.replace(groups);
                Value::Bool(has_found)
            }
            (Method::matches | Method::lookingAt, []) => {
                self.search(&matches.text)?;
                let is_whole = method == Method::matches;
                let found = whole(&matches.pattern)
                    .filter(|_| is_whole)
                    .unwrap_or_else(|| matches.pattern.regex.clone());
                let groups = found.captures(&matches.text).map(|captures| groups_of(&captures));
                let groups = groups.filter(|groups| groups[0].is_some_and(|(start, _)| start == 0));
                let fits = groups.is_some();
                matches.groups.replace(groups);
                Value::Bool(fits)
            }
            (Method::group | Method::start | Method::end, _) => self.group(matches, method, args.first())?,
            (Method::groupCount, []) => Value::count(matches.pattern.regex.captures_len() - 1),
            (Method::hasGroup, []) => Value::Bool(matches.pattern.regex.captures_len() > 1),
            (Method::size | Method::getCount, []) => Value::count(self.all_matches(matches)?.len()),
            (Method::getAt, [index]) => self.element(of, index)?,
            (Method::replaceAll | Method::replaceFirst, [to]) => {
                let to = self.text(to)?;
                self.replaced(&matches.pattern, &matches.text, &to, method == Method::replaceAll)?
            }
            (Method::reset, _) => {
                matches.next.set(0);
                matches.groups.replace(None);
                of.clone()
            }
            _ => {
                let all = self.all_matches(matches)?;
                let list = self.new_list(all)?;
                return self.collection_method(&list, method, args);
            }
        }))
    }

    fn group(&mut self, matches: &Matches, method: Method, which: Option<&Value>) -> Run {
        let groups = matches.groups.borrow();
        let Some(groups) = groups.as_ref() else { return thrown("IllegalStateException", "No match found") };
        let index = match which {
            None => Some(0),
            Some(name) if name.as_text().is_some() => {
                let name = self.text(name)?;
                matches.pattern.regex.capture_names().position(|known| known == Some(&name))
            }
            Some(index) => index.to_long().and_then(|index| usize::try_from(index).ok()),
        };
        let Some(group) = index.and_then(|index| groups.get(index)) else {
            let which = which.and_then(Value::to_long).unwrap_or(0);
            return thrown("IndexOutOfBoundsException", format!("No group {which}"));
        };
        Ok(match (method, group) {
            (Method::group, group) => part_of(&matches.text, *group),
            (Method::start, Some((start, _))) => Value::count(text::unit_of(&matches.text, *start)),
            (Method::end, Some((_, end))) => Value::count(text::unit_of(&matches.text, *end)),
            _ => Value::Int(-1),
        })
    }

    pub(super) fn pattern_method(
        &mut self,
        pattern: &Rc<Pattern>,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let this = Value::object(Object::Pattern(pattern.clone()));
        Ok(Some(match (method, args) {
            (Method::matcher, [text]) => self.find(text, &this)?,
            (Method::pattern, []) => Value::Text(pattern.text.clone()),
            (Method::test, [text]) => {
                let text = self.text(text)?;
                self.search(&text)?;
                Value::Bool(pattern.regex.is_match(&text))
            }
            (Method::split, [text]) => {
                let text = self.text(text)?;
                self.split(&text, &[this])?
            }
            (Method::isCase, [text]) => Value::Bool(self.matches(text, &this)?),
            (Method::exec, [text]) => {
                let text = self.text(text)?;
                self.search(&text)?;
                let groups = pattern.regex.captures(&text).map(|captures| groups_of(&captures));
                groups.map_or(Value::Null, |groups| Value::list(self.group_texts(&text, &groups)))
            }
            _ => return Ok(None),
        }))
    }
}

fn part_of(text: &str, place: Option<(usize, usize)>) -> Value {
    place.map_or(Value::Null, |(start, end)| Value::from(&text[start..end]))
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
