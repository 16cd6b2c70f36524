//! YAML 1.2 as a tree, with the types of its core schema: `no` and `on` are text, as people mean them.

use super::node::{DEEPEST, Fault, Node, NodeKey, NodePlace, NodeValue, table};
use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use std::borrow::Cow;
use std::collections::HashMap;

/// Values of a file at most: what stands for another value (`*name`) counts as often as it stands.
const MOST: usize = 4_000_000;

/// Reads one document; offsets are characters.
pub(super) fn read(text: &str, file: u32) -> Result<Node, Fault> {
    let mut reader =
        YamlReader { parser: Parser::new_from_str(text), file, anchors: HashMap::new(), values: 0 };
    let (event, at) = reader.content()?;
    if matches!(event, Event::StreamEnd | Event::DocumentEnd) {
        return Err(Fault::new(at, "the file is empty"));
    }
    let node = reader.node(event, at, 0)?;
    match reader.content()? {
        (Event::StreamEnd, _) => Ok(node),
        (_, at) => Err(Fault::new(at, "a plan is one document: there is more behind it")),
    }
}

type Source<'a> = saphyr_parser::StrInput<'a>;

struct YamlReader<'a> {
    parser: Parser<'a, Source<'a>>,
    file: u32,
    anchors: HashMap<usize, Node>,
    values: usize,
}

impl<'a> YamlReader<'a> {
    fn place(&self, span: &Span) -> NodePlace {
        NodePlace { file: self.file, offset: u32::try_from(span.start.index()).unwrap_or(u32::MAX) }
    }

    fn next(&mut self) -> Result<(Event<'a>, NodePlace), Fault> {
        let end = NodePlace { file: self.file, offset: 0 };
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, self.place(&span))),
            Some(Err(error)) => {
                let offset = u32::try_from(error.marker().index()).unwrap_or(u32::MAX);
                Err(Fault::new(NodePlace { file: self.file, offset }, error.info().to_owned()))
            }
            None => Ok((Event::StreamEnd, end)),
        }
    }

    /// The next event that is about content or the end of the stream.
    fn content(&mut self) -> Result<(Event<'a>, NodePlace), Fault> {
        loop {
            match self.next()? {
                (Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd, _) => {}
                found => return Ok(found),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, at: NodePlace, depth: usize) -> Result<Node, Fault> {
        self.values += 1;
        if depth > DEEPEST || self.values > MOST {
            let what = if depth > DEEPEST { "stand too deep in each other" } else { "are too many" };
            return Err(Fault::new(at, format!("tables and lists {what}")));
        }
        let (anchor, node) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = style != ScalarStyle::Plain || tag.is_some_and(|tag| tag.suffix == "str");
                let value = if is_text { NodeValue::Text(text.into_owned()) } else { scalar(text) };
                (anchor, Node { at, value })
            }
            Event::SequenceStart(anchor, _) => (anchor, self.list(at, depth)?),
            Event::MappingStart(anchor, _) => (anchor, self.table(at, depth)?),
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor);
                let node =
                    known.cloned().ok_or_else(|| Fault::new(at, "this stands for a value that holds it"))?;
                self.values += count(&node);
                return Ok(node);
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(Fault::new(at, "a value is missing")),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn list(&mut self, at: NodePlace, depth: usize) -> Result<Node, Fault> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Node { at, value: NodeValue::List(items) }),
                (event, at) => items.push(self.node(event, at, depth + 1)?),
            }
        }
    }

    fn table(&mut self, at: NodePlace, depth: usize) -> Result<Node, Fault> {
        let mut entries = Vec::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, _) => return table(at, entries),
                (Event::Scalar(name, ..), at) => NodeKey { at, name: name.into_owned().into() },
                (_, at) => return Err(Fault::new(at, "names of a table are text")),
            };
            let (event, at) = self.next()?;
            entries.push((key, self.node(event, at, depth + 1)?));
        }
    }
}

fn count(node: &Node) -> usize {
    match &node.value {
        NodeValue::List(items) => 1 + items.iter().map(count).sum::<usize>(),
        NodeValue::Table(entries) => 1 + entries.iter().map(|(_, node)| count(node)).sum::<usize>(),
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Integer(_)
        | NodeValue::Float(_)
        | NodeValue::Text(_) => 1,
    }
}

/// A plain scalar by the core schema (YAML 1.2.2 section 10.3.2).
fn scalar(text: Cow<'_, str>) -> NodeValue {
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => NodeValue::Null,
        "true" | "True" | "TRUE" => NodeValue::Bool(true),
        "false" | "False" | "FALSE" => NodeValue::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" => NodeValue::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => NodeValue::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => NodeValue::Float(f64::NAN),
        plain => number(plain).unwrap_or_else(|| NodeValue::Text(plain.to_owned())),
    }
}

fn number(text: &str) -> Option<NodeValue> {
    let based = |prefix, radix| i128::from_str_radix(text.strip_prefix(prefix)?, radix).ok();
    if let Some(whole) = based("0x", 16).or_else(|| based("0o", 8)).or_else(|| text.parse().ok()) {
        return Some(NodeValue::Integer(whole));
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
        && text.bytes().any(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number).map(NodeValue::Float)
}
