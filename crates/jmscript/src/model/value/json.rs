//! JSON as Groovy reads and writes it: whole numbers by their size, decimals with their zeros, `/` unescaped and whatever is
//! not ASCII as `\u….`.

use super::{List, ListKind, Map, MapKind, Style, Value};
use crate::number::Decimal;
use num_bigint::BigInt;
use std::fmt::Write;
use std::rc::Rc;

/// Arrays and objects within each other.
const DEEPEST: usize = 200;

/// Reads a JSON text. In error, the message and the byte.
pub fn parse(text: &str) -> Result<Value, (&'static str, usize)> {
    let mut reader = JsonReader { text, at: 0, depth: 0 };
    reader.blanks();
    let value = reader.value()?;
    reader.blanks();
    if reader.at < text.len() { Err(("A value that is followed by more", reader.at)) } else { Ok(value) }
}

struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

type Read<T = Value> = Result<T, (&'static str, usize)>;

impl JsonReader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn fault<T>(&self, message: &'static str) -> Read<T> {
        Err((message, self.at))
    }

    fn value(&mut self) -> Read {
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => self.fault(
                "Unable to determine the current character, it is not a string, number, array, or object",
            ),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Read) -> Read {
        if self.depth >= DEEPEST {
            return self.fault("It is nested too deeply");
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn word(&mut self, word: &str, value: Value) -> Read {
        if !self.text[self.at..].starts_with(word) {
            return self.fault(
                "Unable to determine the current character, it is not a string, number, array, or object",
            );
        }
        self.at += word.len();
        Ok(value)
    }

    fn array(&mut self) -> Read {
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::list(items));
        }
        loop {
            self.blanks();
            items.push(self.value()?);
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::List(Rc::new(List::new(ListKind::List, items))));
                }
                _ => return self.fault("expecting a ',' or a ']'"),
            }
        }
    }

    fn object(&mut self) -> Read {
        let mut entries = Vec::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Map(Rc::new(Map::new(MapKind::Json, entries))));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return self.fault("expecting a key in quotes");
            }
            let key = self.string()?;
            self.blanks();
            if self.peek() != Some(b':') {
                return self.fault("expecting a ':'");
            }
            self.at += 1;
            self.blanks();
            entries.push((Value::text(key), self.value()?));
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Map(Rc::new(Map::new(MapKind::Json, entries))));
                }
                _ => return self.fault("expecting a ',' or a '}'"),
            }
        }
    }

    fn string(&mut self) -> Read<Rc<str>> {
        let start = self.at + 1;
        let rest = &self.text.as_bytes()[start..];
        let Some(end) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) else {
            return self.fault("a text without its end");
        };
        if rest[end] == b'"' {
            self.at = start + end + 1;
            return Ok(Rc::from(&self.text[start..start + end]));
        }
        self.escaped(start, end)
    }

    fn escaped(&mut self, start: usize, end: usize) -> Read<Rc<str>> {
        let mut out = self.text[start..start + end].to_owned();
        self.at = start + end;
        loop {
            let rest = &self.text[self.at..];
            match rest.chars().next() {
                None => return self.fault("a text without its end"),
                Some('"') => {
                    self.at += 1;
                    return Ok(Rc::from(out));
                }
                Some('\\') => self.escape(&mut out)?,
                Some(c) => {
                    out.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Read<()> {
        let Some(code) = self.text.as_bytes().get(self.at + 1).copied() else {
            return self.fault("a text without its end");
        };
        out.push(match code {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(code),
            b'u' => return self.unicode(out),
            _ => return self.fault("an escape that JSON does not know"),
        });
        self.at += 2;
        Ok(())
    }

    fn unicode(&mut self, out: &mut String) -> Read<()> {
        let unit =
            |at: usize| self.text.get(at..at + 4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let Some(first) = unit(self.at + 2) else { return self.fault("an escape without its four digits") };
        let low = self
            .text
            .get(self.at + 6..self.at + 8)
            .filter(|next| *next == "\\u")
            .and_then(|_| unit(self.at + 8));
        let is_pair = (0xd800..0xdc00).contains(&first);
        let units: Vec<u16> = std::iter::once(first).chain(low.filter(|_| is_pair)).collect();
        self.at += units.len() * 6;
        out.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        Ok(())
    }

    fn number(&mut self) -> Read {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let text = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let value = if text.contains(['.', 'e', 'E']) {
            Decimal::parse(text).map(|decimal| Value::Decimal(Rc::new(decimal)))
        } else if text.len() < 10 {
            text.parse().ok().map(Value::Int)
        } else {
            text.parse::<BigInt>().ok().filter(|_| text.len() < 1_000).map(Value::whole)
        };
        match value {
            Some(value) => {
                self.at += text.len();
                Ok(value)
            }
            None => self.fault("a malformed number"),
        }
    }
}

/// A value as JSON without blanks; numbers as the style has them.
pub fn to_json(value: &Value, style: Style) -> String {
    to_json_by(value, Writing { style, quote: write_text })
}

/// How JSON is written: numbers as a style has them, and texts by a function that puts them into quotes.
#[derive(Clone, Copy)]
pub(crate) struct Writing {
    pub style: Style,
    pub quote: fn(&str, &mut String),
}

/// A value as JSON without blanks.
pub(crate) fn to_json_by(value: &Value, by: Writing) -> String {
    let mut out = String::new();
    write(value, &mut out, by, 0);
    out
}

fn write(value: &Value, out: &mut String, by: Writing, depth: usize) {
    match value {
        _ if depth > DEEPEST => out.push_str("null"),
        Value::Null | Value::Void => out.push_str("null"),
        Value::Bool(_) => value.write(out, by.style, 0),
        number if number.is_number() => number.write(out, by.style, 0),
        Value::List(list) => {
            let items = list.to_vec();
            write_list(items.iter(), out, by, depth);
        }
        Value::Range(range) => {
            let items: Vec<Value> = (0..range.len().min(1 << 16)).map(|at| range.at(at)).collect();
            write_list(items.iter(), out, by, depth);
        }
        Value::Map(map) => write_map(&map.to_vec(), out, by, depth),
        Value::Object(object) => match object.json() {
            Some(value) => write(&value, out, by, depth + 1),
            None => (by.quote)(&value.shown(Style::Groovy), out),
        },
        other => (by.quote)(&other.shown(Style::Groovy), out),
    }
}

fn write_list<'a>(items: impl Iterator<Item = &'a Value>, out: &mut String, by: Writing, depth: usize) {
    out.push('[');
    for (at, item) in items.enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        write(item, out, by, depth + 1);
    }
    out.push(']');
}

fn write_map(entries: &[(Value, Value)], out: &mut String, by: Writing, depth: usize) {
    out.push('{');
    for (at, (key, value)) in entries.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        (by.quote)(&key.shown(Style::Groovy), out);
        out.push(':');
        write(value, out, by, depth + 1);
    }
    out.push('}');
}

/// A text in quotes.
pub fn write_text(text: &str, out: &mut String) {
    write_quoted(text, out, |c, out| match c {
        ' '..='~' => out.push(c),
        c => {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    });
}

/// A text in quotes; `other` writes the characters that have no short escape.
pub fn write_quoted(text: &str, out: &mut String, other: impl Fn(char, &mut String)) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c => other(c, out),
        }
    }
    out.push('"');
}

/// JSON with a line per element, indented by four blanks, as `JsonOutput.prettyPrint`.
pub fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut in_text = false;
    let mut is_escaped = false;
    for c in json.chars() {
        if in_text {
            out.push(c);
            in_text = c != '"' || is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            continue;
        }
        match c {
            '"' => {
                in_text = true;
                out.push(c);
            }
            '{' | '[' => {
                depth += 1;
                out.push(c);
                break_line(&mut out, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.push_str(&"    ".repeat(depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_and_written() {
        for (text, expected) in [
            (r#"{"a":1.50,"b":[true,null,"é\n/"]}"#, r#"{"a":1.50,"b":[true,null,"\u00e9\n/"]}"#),
            (" [ 9876543210 , {} ] ", "[9876543210,{}]"),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
        ] {
            assert_eq!(to_json(&parse(text).expect(text), Style::Groovy), expected);
        }
        for text in ["<html>", "", "{", "[1,]", "\"", "{\"a\" 1}", "tru", "1 2", "\"\\u12\""] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
