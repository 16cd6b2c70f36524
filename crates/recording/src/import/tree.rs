//! YAML (JSON is YAML, too) as a tree whose values know their lines.

use saphyr_parser::{Event, Parser, Span};
use std::collections::HashMap;

/// Values of a file at most; what stands for another value (`*name`) counts as often as it stands.
const MOST: usize = 8_000_000;
/// Tables and lists within each other.
const DEEPEST: usize = 64;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its line, from 1.
    pub line: u64,
    /// Its value.
    pub value: ImportValue,
}

/// A value of one of the three kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportValue {
    /// A text, a number or a word.
    Text(String),
    /// Several values.
    List(Vec<Node>),
    /// Values with names.
    Table(Vec<(String, Node)>),
}

impl Node {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entries().iter().find(|(known, _)| known == name).map(|(_, node)| node)
    }

    /// All names and values; none of what is no table.
    pub fn entries(&self) -> &[(String, Node)] {
        match &self.value {
            ImportValue::Table(entries) => entries,
            ImportValue::Text(_) | ImportValue::List(_) => &[],
        }
    }

    /// All values; none of what is no list.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            ImportValue::List(items) => items,
            ImportValue::Text(_) | ImportValue::Table(_) => &[],
        }
    }

    /// A text.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            ImportValue::Text(text) => Some(text),
            ImportValue::List(_) | ImportValue::Table(_) => None,
        }
    }

    fn count(&self) -> usize {
        1 + match &self.value {
            ImportValue::Text(_) => 0,
            ImportValue::List(items) => items.iter().map(Node::count).sum(),
            ImportValue::Table(entries) => entries.iter().map(|(_, node)| node.count()).sum(),
        }
    }
}

/// Reads the first document of a file.
///
/// # Errors
/// The line, and why it is none.
pub fn read(text: &str) -> Result<Node, String> {
    let mut reader = ImportReader { parser: Parser::new_from_str(text), anchors: HashMap::new(), values: 0 };
    loop {
        match reader.next()? {
            ImportFound { event: Event::Nothing | Event::StreamStart | Event::DocumentStart(_), .. } => {}
            ImportFound { event: Event::StreamEnd | Event::DocumentEnd, .. } => {
                return Err("it is empty".to_owned());
            }
            found => return reader.node(found, 0),
        }
    }
}

struct ImportReader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: HashMap<usize, Node>,
    values: usize,
}

struct ImportFound<'a> {
    event: Event<'a>,
    line: u64,
}

impl<'a> ImportReader<'a> {
    fn next(&mut self) -> Result<ImportFound<'a>, String> {
        let line = |span: &Span| span.start.line() as u64;
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok(ImportFound { line: line(&span), event }),
            Some(Err(error)) => Err(format!("line {}: {}", error.marker().line(), error.info())),
            None => Ok(ImportFound { line: 0, event: Event::StreamEnd }),
        }
    }

    fn node(&mut self, ImportFound { event, line }: ImportFound<'a>, depth: usize) -> Result<Node, String> {
        self.values += 1;
        if depth > DEEPEST || self.values > MOST {
            return Err(format!(
                "line {line}: there are too many values, or they stand too deep in each other"
            ));
        }
        match event {
            Event::Scalar(text, _, anchor, _) => {
                Ok(self.kept(anchor, Node { line, value: ImportValue::Text(text.into_owned()) }))
            }
            Event::SequenceStart(anchor, _) => {
                let items = self.list(depth)?;
                Ok(self.kept(anchor, Node { line, value: ImportValue::List(items) }))
            }
            Event::MappingStart(anchor, _) => {
                let entries = self.table(depth)?;
                Ok(self.kept(anchor, Node { line, value: ImportValue::Table(entries) }))
            }
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor).cloned();
                let node =
                    known.ok_or_else(|| format!("line {line}: this stands for a value that holds it"))?;
                self.values += node.count();
                Ok(Node { line, ..node })
            }
            _ => Err(format!("line {line}: a value is missing")),
        }
    }

    fn kept(&mut self, anchor: usize, node: Node) -> Node {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        node
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, String> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                ImportFound { event: Event::SequenceEnd, .. } => return Ok(items),
                found => items.push(self.node(found, depth + 1)?),
            }
        }
    }

    /// Entries; those of `<<` stand where no entry of their name is.
    fn table(&mut self, depth: usize) -> Result<Vec<(String, Node)>, String> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        let mut merged: Vec<(String, Node)> = Vec::new();
        loop {
            let name = match self.next()? {
                ImportFound { event: Event::MappingEnd, .. } => break,
                ImportFound { event: Event::Scalar(name, ..), .. } => name.into_owned(),
                ImportFound { line, .. } => return Err(format!("line {line}: names of a table are text")),
            };
            let found = self.next()?;
            let node = self.node(found, depth + 1)?;
            if name == "<<" {
                let tables = if node.items().is_empty() { std::slice::from_ref(&node) } else { node.items() };
                merged.extend(tables.iter().flat_map(|table| table.entries().iter().cloned()));
            } else {
                entries.push((name, node));
            }
        }
        for (name, node) in merged {
            if !entries.iter().any(|(known, _)| *known == name) {
                entries.push((name, node));
            }
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_lines_and_stand_for_others() {
        let node =
            read("a: &x {b: 1, c: 'two'}\nd: *x\ne:\n  <<: *x\n  c: 3\nf:\n- [ :method, GET ]\n").unwrap();
        let text =
            |path: [&str; 2]| node.get(path[0]).and_then(|node| node.get(path[1])).and_then(Node::text);
        assert_eq!(
            [text(["d", "c"]), text(["e", "b"]), text(["e", "c"])],
            [Some("two"), Some("1"), Some("3")]
        );
        let field = &node.get("f").unwrap().items()[0];
        assert_eq!((field.line, field.items()[0].text()), (7, Some(":method")));
        assert!(read("").is_err() && read("a: [").unwrap_err().starts_with("line "));
        assert_eq!(read("{\"a\": [1]}").unwrap().get("a").unwrap().items().len(), 1);
    }

    #[test]
    fn what_stands_for_too_much_is_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let before = format!("*a{}", level - 1);
            text.push_str(&format!("a{level}: &a{level} [{}]\n", [before.as_str(); 10].join(", ")));
        }
        assert!(read(&text).unwrap_err().contains("too many"));
    }
}
