//! JSON or YAML as one kind of value.

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput};
use serde_json::{Map, Number, Value};
use std::collections::HashMap;

/// How deep values may lie.
const DEEPEST: usize = 64;
/// Values at most: what stands for another one counts as often as it stands.
const MOST: usize = 500_000;

/// Reads a document: JSON, and otherwise YAML.
///
/// # Errors
/// A sentence that says what is wrong, and where.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) if text.trim_start().starts_with(['{', '[']) => Err(format!("it is not JSON: {error}")),
        Err(_) => ForeignReader { parser: Parser::new_from_str(text), anchors: HashMap::new(), values: 0 }
            .document(),
    }
}

struct ForeignReader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Value>,
    values: usize,
}

impl<'a> ForeignReader<'a> {
    fn next(&mut self) -> Result<Event<'a>, String> {
        loop {
            match self.parser.next_event() {
                Some(Ok((Event::Nothing | Event::StreamStart | Event::DocumentStart(_), _))) => {}
                Some(Ok((event, _))) => return Ok(event),
                Some(Err(error)) => {
                    return Err(format!("it is not YAML: line {}: {}", error.marker().line(), error.info()));
                }
                None => return Ok(Event::StreamEnd),
            }
        }
    }

    fn document(&mut self) -> Result<Value, String> {
        let event = self.next()?;
        self.value(event, 0)
    }

    fn value(&mut self, event: Event<'a>, depth: usize) -> Result<Value, String> {
        self.values += 1;
        if depth > DEEPEST || self.values > MOST {
            return Err("it is nested too deeply, or too long".to_owned());
        }
        match event {
            Event::Scalar(text, style, anchor, _) => Ok(self.remembered(anchor, scalar(&text, style))),
            Event::SequenceStart(anchor, _) => {
                let mut all = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break,
                        event => all.push(self.value(event, depth + 1)?),
                    }
                }
                Ok(self.remembered(anchor, Value::Array(all)))
            }
            Event::MappingStart(anchor, _) => {
                let mut all = Map::new();
                loop {
                    let key = match self.next()? {
                        Event::MappingEnd => break,
                        event => self.value(event, depth + 1)?,
                    };
                    let event = self.next()?;
                    let value = self.value(event, depth + 1)?;
                    all.insert(text_of(&key), value);
                }
                Ok(self.remembered(anchor, Value::Object(all)))
            }
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned().unwrap_or(Value::Null);
                self.values += size(&value);
                Ok(value)
            }
            _ => Ok(Value::Null),
        }
    }

    fn remembered(&mut self, anchor: usize, value: Value) -> Value {
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        value
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Array(all) => 1 + all.iter().map(size).sum::<usize>(),
        Value::Object(all) => 1 + all.values().map(size).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

/// A number as it is written: what would be written otherwise, such as a version `1.10` or a code `007`, is text.
fn number(text: &str) -> Option<Number> {
    let whole = text.parse::<i64>().ok().map(Number::from);
    let number = whole.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64))?;
    (number.to_string() == text).then_some(number)
}

/// A value as text: texts as they are, others as JSON has them.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The members of a list.
pub(crate) fn array<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}
