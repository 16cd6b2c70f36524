//! Methods of texts and characters.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::dialect::Dialect;
use crate::method::Method;
use crate::number::Decimal;
use crate::tree::Type;
use crate::value::{Object, Value, text};
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn text_method(&mut self, of: &Rc<str>, method: Method, args: &[Value]) -> Run<Option<Value>> {
        self.work(of.len() / 256)?;
        if self.dialect == Dialect::JavaScript
            && let Some(value) = self.javascript_text_method(of, method, args)?
        {
            return Ok(Some(value));
        }
        if let Some(value) = self.text_question(of, method, args)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.text_part(of, method, args)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.text_change(of, method, args)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.text_conversion(of, method, args)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.text_pattern_method(of, method, args)? {
            return Ok(Some(value));
        }
        // Groovy's texts are lists of their characters.
        let chars = Value::Text(of.clone());
        if let (Some(Value::Closure(_)), true) = (args.last(), self.dialect == Dialect::Groovy) {
            self.each_method(&chars, method, args)
        } else {
            Ok(None)
        }
    }

    /// Methods that ask something of a text.
    fn text_question(&mut self, of: &Rc<str>, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let is = |found: &str, test: fn(char) -> bool| !found.is_empty() && found.chars().all(test);
        Ok(Some(match (method, args) {
            (Method::length | Method::size, []) => self.number_of(text::len(of)),
            (Method::contains | Method::includes, [part]) => Value::Bool(of.contains(&*self.text(part)?)),
            (Method::startsWith, [part]) => Value::Bool(of.starts_with(&*self.text(part)?)),
            (Method::startsWith, [part, from]) => {
                let at = text::byte_of(of, from.to_long().unwrap_or(0).max(0) as usize);
                let part = self.text(part)?;
                Value::Bool(at.is_some_and(|at| of[at..].starts_with(&*part)))
            }
            (Method::endsWith, [part]) => Value::Bool(of.ends_with(&*self.text(part)?)),
            (Method::equals, [other]) => Value::Bool(matches!(other, Value::Text(other) if other == of)),
            (Method::contentEquals, [other]) => Value::Bool(*self.text(other)? == **of),
            (Method::equalsIgnoreCase, [other]) => {
                Value::Bool(!other.is_null() && self.text(other)?.to_lowercase() == of.to_lowercase())
            }
            (Method::compareTo, [other]) => Value::Int(difference(of, &self.text(other)?)),
            (Method::compareToIgnoreCase, [other]) => {
                Value::Int(difference(&of.to_lowercase(), &self.text(other)?.to_lowercase()))
            }
            (Method::isEmpty, []) => Value::Bool(of.is_empty()),
            (Method::isBlank | Method::isAllWhitespace, []) => Value::Bool(of.trim().is_empty()),
            (Method::indexOf | Method::lastIndexOf, _) => self.place_of(of, method, args)?,
            (Method::count, [part]) => {
                let part = self.text(part)?;
                Value::count(if part.is_empty() { 0 } else { of.matches(&*part).count() })
            }
            (Method::isNumber | Method::isBigDecimal, []) => Value::Bool(Decimal::parse(of.trim()).is_some()),
            (Method::isDouble | Method::isFloat, []) => Value::Bool(text::parse_double(of).is_some()),
            (Method::isInteger, []) => {
                Value::Bool(text::parse_long(of.trim(), 10).is_some_and(|long| i32::try_from(long).is_ok()))
            }
            (Method::isLong, []) => Value::Bool(text::parse_long(of.trim(), 10).is_some()),
            (Method::isBigInteger, []) => {
                Value::Bool(is(of.trim().trim_start_matches('-'), |c| c.is_ascii_digit()))
            }
            (Method::hashCode, []) => Value::Int(text::hash(of)),
            _ => return Ok(None),
        }))
    }

    fn place_of(&mut self, of: &str, method: Method, args: &[Value]) -> Run {
        let Some(part) = args.first() else { return Ok(Value::Int(-1)) };
        let part = match part {
            Value::Int(code) => Rc::from(char::from_u32(*code as u32).unwrap_or('\0').to_string()),
            part => self.text(part)?,
        };
        let from = args.get(1).and_then(Value::to_long).map(|from| from.max(0) as usize);
        let found = if method == Method::indexOf {
            let start = from.map_or(Some(0), |from| text::byte_of(of, from));
            start.and_then(|start| of[start..].find(&*part).map(|at| at + start))
        } else {
            let end = from
                .and_then(|from| text::byte_of(of, from))
                .map_or(of.len(), |at| (at + part.len()).min(of.len()));
            of.get(..end).unwrap_or(of).rfind(&*part)
        };
        let unit = found.map_or(-1, |at| text::unit_of(of, at) as i32);
        Ok(if self.dialect.has_only_doubles() { Value::Double(f64::from(unit)) } else { Value::Int(unit) })
    }

    /// Methods that give a part of a text, or parts.
    fn text_part(&mut self, of: &Rc<str>, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let number = |at: usize| args.get(at).and_then(Value::to_long);
        Ok(Some(match (method, args) {
            (Method::charAt | Method::codePointAt, [at]) => {
                let unit = at.to_long().and_then(|at| usize::try_from(at).ok());
                let found =
                    unit.filter(|unit| *unit < text::len(of)).and_then(|unit| text::char_at(of, unit));
                match found {
                    Some(c) if method == Method::codePointAt => Value::Int(u32::from(c) as i32),
                    Some(c) => Value::Char(c),
                    None => return self.out_of_text(of, at),
                }
            }
            (Method::substring | Method::subSequence, [_]) => self.substring(of, number(0), None)?,
            (Method::substring | Method::subSequence, [_, _]) => self.substring(of, number(0), number(1))?,
            (Method::getAt, [index]) => self.element(&Value::Text(of.clone()), index)?,
            (Method::take | Method::drop | Method::takeRight | Method::dropRight, [_]) => {
                self.taken(of, method, number(0).unwrap_or(0))?
            }
            (Method::tokenize, _) => self.tokens(of, args)?,
            (Method::readLines | Method::lines, []) => {
                let lines = of.lines().map(Value::from).collect();
                self.new_list(lines)?
            }
            (Method::toList | Method::chars | Method::iterator, []) => {
                self.take(of.len() * 32)?;
                let items = of.chars().map(|c| Value::text(c.to_string())).collect();
                let list = self.new_list(items)?;
                if method == Method::iterator { self.iterator(&list)? } else { list }
            }
            (Method::toSet, []) => {
                let items = of.chars().map(|c| Value::text(c.to_string())).collect();
                self.list_of_kind(crate::value::ListKind::Set, items)?
            }
            (Method::toCharArray | Method::getChars, []) => {
                self.take_items(of.len())?;
                Value::array(of.chars().map(Value::Char).collect())
            }
            (Method::eachLine, [Value::Closure(closure)]) => {
                let mut last = Value::Null;
                for line in of.lines() {
                    last = self.call_closure(closure, &[Value::from(line)])?;
                }
                last
            }
            (Method::substringBefore, [part]) => {
                self.around(of, part, |of, part| of.find(part).map_or(of, |at| &of[..at]))?
            }
            (Method::substringAfter, [part]) => {
                self.around(of, part, |of, part| of.find(part).map_or("", |at| &of[at + part.len()..]))?
            }
            (Method::substringBeforeLast, [part]) => {
                self.around(of, part, |of, part| of.rfind(part).map_or(of, |at| &of[..at]))?
            }
            (Method::substringAfterLast, [part]) => {
                self.around(of, part, |of, part| of.rfind(part).map_or("", |at| &of[at + part.len()..]))?
            }
            (Method::takeBetween | Method::substringBetween, [from, to]) => {
                let (from, to) = (self.text(from)?, self.text(to)?);
                let inner =
                    of.split_once(&*from).and_then(|(_, rest)| rest.split_once(&*to)).map(|(inner, _)| inner);
                inner.map_or(Value::from(""), Value::from)
            }
            _ => return Ok(None),
        }))
    }

    fn around(&mut self, of: &str, part: &Value, cut: for<'t> fn(&'t str, &str) -> &'t str) -> Run {
        let part = self.text(part)?;
        self.new_text(cut(of, &part))
    }

    fn out_of_text<T>(&mut self, of: &str, at: &Value) -> Run<T> {
        let (at, length) = (at.to_long().unwrap_or(0), text::len(of));
        let message = match self.dialect {
            Dialect::Groovy => format!("index {at}, length {length}"),
            _ => format!("String index out of range: {at}"),
        };
        thrown("StringIndexOutOfBoundsException", message)
    }

    pub(super) fn substring(&mut self, of: &str, from: Option<i64>, to: Option<i64>) -> Run {
        let length = text::len(of) as i64;
        let (from, end) = (from.unwrap_or(0), to.unwrap_or(length));
        let places = usize::try_from(from).ok().zip(usize::try_from(end).ok());
        match places.and_then(|(from, to)| text::slice(of, from, to)) {
            Some(part) => self.new_text(part),
            None => {
                thrown("StringIndexOutOfBoundsException", format!("begin {from}, end {end}, length {length}"))
            }
        }
    }

    fn taken(&mut self, of: &str, method: Method, count: i64) -> Run {
        let length = text::len(of);
        let count = usize::try_from(count).unwrap_or(0).min(length);
        let (from, to) = match method {
            Method::take => (0, count),
            Method::drop => (count, length),
            Method::takeRight => (length - count, length),
            _ => (0, length - count),
        };
        self.new_text(text::slice(of, from, to).unwrap_or_default())
    }

    fn tokens(&mut self, of: &str, args: &[Value]) -> Run {
        let signs = match args.first() {
            Some(signs) => self.text(signs)?,
            None => Rc::from(" \t\n\r\u{c}"),
        };
        let found: Vec<Value> =
            of.split(|c| signs.contains(c)).filter(|part| !part.is_empty()).map(Value::from).collect();
        self.take(of.len())?;
        self.new_list(found)
    }

    /// Methods that give a changed text.
    fn text_change(&mut self, of: &Rc<str>, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let changed = match (method, args) {
            (Method::toLowerCase, _) => of.to_lowercase(),
            (Method::toUpperCase, _) => of.to_uppercase(),
            (Method::trim, []) => return self.trimmed(of, of.trim_matches(|c| c <= ' ')),
            (Method::strip, []) => return self.trimmed(of, of.trim()),
            (Method::stripLeading | Method::trimStart, []) => of.trim_start().to_owned(),
            (Method::stripTrailing | Method::trimEnd, []) => of.trim_end().to_owned(),
            (Method::reverse, []) => of.chars().rev().collect(),
            (Method::capitalize, []) => with_first(of, |c| c.to_uppercase().collect()),
            (Method::uncapitalize, []) => with_first(of, |c| c.to_lowercase().collect()),
            (Method::concat | Method::plus, [other]) => {
                return self.joined(&Value::Text(of.clone()), other).map(Some);
            }
            (Method::minus, [_]) => {
                return self
                    .operate(crate::tree::Binary::Subtract, &Value::Text(of.clone()), &args[0])
                    .map(Some);
            }
            (Method::multiply | Method::repeat, [times]) => {
                return self
                    .operate(crate::tree::Binary::Multiply, &Value::Text(of.clone()), times)
                    .map(Some);
            }
            (Method::padLeft | Method::padRight | Method::center | Method::padStart | Method::padEnd, _) => {
                return self.padded(of, method, args).map(Some);
            }
            (Method::replace, [from, to]) => {
                let (from, to) = (self.text(from)?, self.text(to)?);
                if from.is_empty() {
                    self.work(of.len())?;
                }
                let times = if from.is_empty() { of.len() + 1 } else { of.matches(&*from).count() };
                self.take_text(of.len() + times.saturating_mul(to.len()))?;
                return Ok(Some(Value::text(of.replace(&*from, &to))));
            }
            (Method::stripIndent, []) => strip_indent(of),
            (Method::stripMargin, []) => of
                .lines()
                .map(|line| line.trim_start().strip_prefix('|').unwrap_or(line))
                .collect::<Vec<_>>()
                .join("\n"),
            (Method::intern | Method::toString, []) => return Ok(Some(Value::Text(of.clone()))),
            (Method::next | Method::previous, []) => return Ok(None),
            (Method::formatted, _) => {
                let all: Vec<Value> =
                    std::iter::once(Value::Text(of.clone())).chain(args.iter().cloned()).collect();
                self.format(&all)?
            }
            _ => return Ok(None),
        };
        self.new_text(changed).map(Some)
    }

    /// The same text where there was nothing to take away.
    fn trimmed(&mut self, of: &Rc<str>, found: &str) -> Run<Option<Value>> {
        if found.len() == of.len() {
            Ok(Some(Value::Text(of.clone())))
        } else {
            self.new_text(found).map(Some)
        }
    }

    fn padded(&mut self, of: &str, method: Method, args: &[Value]) -> Run {
        let width = args.first().and_then(Value::to_long).unwrap_or(0);
        let sign = match args.get(1) {
            Some(sign) => self.text(sign)?,
            None => Rc::from(" "),
        };
        let missing = usize::try_from(width).unwrap_or(0).saturating_sub(text::len(of));
        self.take_text(of.len().saturating_add(missing.saturating_mul(4)))?;
        let pad = |count: usize| {
            sign.chars().cycle().take(if sign.is_empty() { 0 } else { count }).collect::<String>()
        };
        let (left, right) = match method {
            Method::padLeft | Method::padStart => (missing, 0),
            Method::center => (missing / 2, missing - missing / 2),
            _ => (0, missing),
        };
        Ok(Value::text(format!("{}{of}{}", pad(left), pad(right))))
    }

    fn text_conversion(&mut self, of: &Rc<str>, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let trimmed = of.trim();
        Ok(Some(match method {
            Method::toInteger => self.parse_number(trimmed, &Type::Int)?,
            Method::toLong => self.parse_number(trimmed, &Type::Long)?,
            Method::toDouble => self.parse_number(trimmed, &Type::Double)?,
            Method::toFloat => self.parse_number(trimmed, &Type::Float)?,
            Method::toBigDecimal => self.parse_number(trimmed, &Type::Decimal)?,
            Method::toBigInteger => self.parse_number(trimmed, &Type::Big)?,
            Method::toShort => self.parse_number(trimmed, &Type::Short)?,
            Method::toBoolean => {
                Value::Bool(matches!(trimmed.to_ascii_lowercase().as_str(), "true" | "y" | "1"))
            }
            Method::toCharacter => Value::Char(of.chars().next().unwrap_or('\0')),
            Method::getBytes => {
                self.take(of.len())?;
                let charset = match args.first() {
                    Some(charset) => self.text(charset)?,
                    None => Rc::from("UTF-8"),
                };
                Value::Bytes(super::bytes::encoded(of, &charset))
            }
            Method::encodeBase64 | Method::encodeHex => return Ok(None),
            Method::decodeBase64
            | Method::decodeBase64Url
            | Method::decodeHex
            | Method::md5
            | Method::sha256
            | Method::digest => self.text_digest(of, method, args)?,
            Method::toURI | Method::toURL => {
                return thrown("UnsupportedOperationException", "a script may not use the network");
            }
            Method::execute => {
                return thrown("UnsupportedOperationException", "a script may not start programs");
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn char_method(&mut self, c: char, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::charValue, []) => Value::Char(c),
            (Method::toString, []) => Value::text(c.to_string()),
            (Method::isDigit, []) => Value::Bool(c.is_numeric()),
            (Method::isLetter, []) => Value::Bool(c.is_alphabetic()),
            (Method::isLetterOrDigit, []) => Value::Bool(c.is_alphanumeric()),
            (Method::isUpperCase, []) => Value::Bool(c.is_uppercase()),
            (Method::isLowerCase, []) => Value::Bool(c.is_lowercase()),
            (Method::isWhitespace, []) => Value::Bool(c.is_whitespace()),
            (Method::toUpperCase, []) => Value::Char(c.to_uppercase().next().unwrap_or(c)),
            (Method::toLowerCase, []) => Value::Char(c.to_lowercase().next().unwrap_or(c)),
            (Method::toInteger, []) => {
                Value::Int(c.to_digit(10).map_or(u32::from(c) as i32, |digit| digit as i32))
            }
            (Method::equals, [other]) => Value::Bool(matches!(other, Value::Char(other) if *other == c)),
            (Method::compareTo, [Value::Char(other)]) => {
                Value::Int(u32::from(c) as i32 - u32::from(*other) as i32)
            }
            (Method::intValue, []) => Value::Int(u32::from(c) as i32),
            _ => return Ok(None),
        }))
    }

    pub(super) fn builder_method(
        &mut self,
        of: &Value,
        object: &Rc<Object>,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let Object::Builder(content) = &**object else { return Ok(None) };
        match (method, args) {
            (Method::append | Method::leftShift, [part]) => {
                let part = self.text(part)?;
                self.check_builder(content.borrow().len(), part.len())?;
                content.borrow_mut().push_str(&part);
            }
            (Method::append, [part, from, to]) => {
                let part = self.text(part)?;
                let part = self.substring(&part, from.to_long(), to.to_long())?;
                return self.builder_method(of, object, Method::append, &[part]);
            }
            (Method::insert, [at, part]) => {
                let part = self.text(part)?;
                self.check_builder(content.borrow().len(), content.borrow().len() + part.len())?;
                let place =
                    at.to_long().and_then(|at| text::byte_of(&content.borrow(), usize::try_from(at).ok()?));
                let Some(place) = place else { return self.out_of_text(&content.borrow().clone(), at) };
                content.borrow_mut().insert_str(place, &part);
            }
            (Method::reverse, []) => {
                let reversed: String = content.borrow().chars().rev().collect();
                *content.borrow_mut() = reversed;
            }
            (Method::setLength, [length]) => {
                let place = length
                    .to_long()
                    .and_then(|at| text::byte_of(&content.borrow(), usize::try_from(at).ok()?));
                content.borrow_mut().truncate(place.unwrap_or(usize::MAX));
            }
            (Method::deleteCharAt, [at]) => {
                let from = at.to_long().unwrap_or(-1);
                return self.cut(of, content, from, from + 1).map(Some);
            }
            (Method::delete, [from, to]) => {
                let length = text::len(&content.borrow()) as i64;
                let to = to.to_long().unwrap_or(0).min(length);
                return self.cut(of, content, from.to_long().unwrap_or(-1), to).map(Some);
            }
            (Method::setCharAt, [at, Value::Char(c)]) => {
                let from = at.to_long().unwrap_or(-1);
                self.cut(of, content, from, from + 1)?;
                let place = text::byte_of(&content.borrow(), from.max(0) as usize).unwrap_or(0);
                content.borrow_mut().insert(place, *c);
                return Ok(Some(Value::Null));
            }
            _ => {
                self.take_text(content.borrow().len())?;
                let text: Rc<str> = Rc::from(content.borrow().as_str());
                return self.text_method(&text, method, args);
            }
        }
        Ok(Some(of.clone()))
    }

    fn check_builder(&mut self, now: usize, more: usize) -> Run<()> {
        if now + more > self.limits.text {
            return self.take_text(now + more);
        }
        self.take(more)
    }

    fn cut(&mut self, of: &Value, content: &std::cell::RefCell<String>, from: i64, to: i64) -> Run {
        let places = {
            let text = content.borrow();
            let byte = |at: i64| usize::try_from(at).ok().and_then(|at| text::byte_of(&text, at));
            byte(from).zip(byte(to)).filter(|(from, to)| from <= to)
        };
        let Some((from, to)) = places else {
            return self.out_of_text(&content.borrow().clone(), &Value::Long(from));
        };
        self.work(content.borrow().len() / 256)?;
        content.borrow_mut().replace_range(from..to, "");
        Ok(of.clone())
    }
}

/// Returns the result of `compareTo`: the difference of the first units that differ, or of the lengths.
fn difference(a: &str, b: &str) -> i32 {
    let (mut left, mut right) = (a.encode_utf16(), b.encode_utf16());
    loop {
        match (left.next(), right.next()) {
            (Some(a), Some(b)) if a != b => return i32::from(a) - i32::from(b),
            (Some(_), Some(_)) => {}
            _ => return text::len(a) as i32 - text::len(b) as i32,
        }
    }
}

fn with_first(of: &str, change: fn(char) -> String) -> String {
    let mut chars = of.chars();
    chars.next().map_or_else(String::new, |first| change(first) + chars.as_str())
}

fn strip_indent(of: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let least = of.lines().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    of.lines().map(|line| line.get(least..).unwrap_or("")).collect::<Vec<_>>().join("\n")
}
