//! The tree that all three text forms are read into and written from: values, each with its place.

use crate::violation::ViolationPart;
use std::borrow::Cow;

/// A place in one of the files that a plan is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodePlace {
    /// The number of the file.
    pub(super) file: u32,
    /// Where in it: bytes or characters from its beginning, as its form counts.
    pub(super) offset: u32,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) at: NodePlace,
    pub(super) value: NodeValue,
}

/// A value, as TOML, JSON and YAML have them in common.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeValue {
    /// Nothing: the same as not being there. TOML has none.
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<(NodeKey, Node)>),
}

/// The name of an entry of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NodeKey {
    pub(super) at: NodePlace,
    pub(super) name: Cow<'static, str>,
}

/// Tables and lists in each other at most.
pub(super) const DEEPEST: usize = 100;

/// The reason why a file is no tree, in words, and its place.
#[derive(Debug)]
pub(super) struct Fault {
    /// `None`: not known yet.
    pub(super) at: Option<NodePlace>,
    pub(super) why: String,
    /// A name that nobody knows: the rest can be read without it.
    pub(super) unknown_name: bool,
}

impl Fault {
    pub(super) fn new(at: NodePlace, why: impl Into<String>) -> Fault {
        Fault { at: Some(at), why: why.into(), unknown_name: false }
    }

    /// With a place, where it has none.
    pub(super) fn or_at(self, at: NodePlace) -> Fault {
        Fault { at: self.at.or(Some(at)), ..self }
    }
}

impl Node {
    /// The value's kind, in words.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            NodeValue::Null => "nothing",
            NodeValue::Bool(_) => "true or false",
            NodeValue::Integer(_) => "a whole number",
            NodeValue::Float(_) => "a number",
            NodeValue::Text(_) => "text",
            NodeValue::List(_) => "a list",
            NodeValue::Table(_) => "a table",
        }
    }

    /// The value at the end of a path, or the last on the way that is there.
    pub(super) fn along(&self, path: &[ViolationPart]) -> &Node {
        let Some((part, rest)) = path.split_first() else { return self };
        let next = match (part, &self.value) {
            (ViolationPart::Field(name), NodeValue::Table(entries)) => {
                entries.iter().find(|(key, _)| key.name == *name).map(|(_, node)| node)
            }
            (ViolationPart::Item(number), NodeValue::List(items)) => items.get(*number),
            (ViolationPart::Choice, NodeValue::Table(entries)) => entries.first().map(|(_, node)| node),
            _ => None,
        };
        next.map_or(self, |next| next.along(rest))
    }

    /// The name by which a number is reached that is infinite or none at all; empty for one without a name.
    pub(super) fn not_finite(&self) -> Option<String> {
        match &self.value {
            NodeValue::Float(number) => (!number.is_finite()).then(String::new),
            NodeValue::List(items) => items.iter().find_map(Node::not_finite),
            NodeValue::Table(entries) => entries.iter().find_map(|(key, node)| {
                let found = node.not_finite()?;
                Some(if found.is_empty() { key.name.clone().into_owned() } else { found })
            }),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Integer(_) | NodeValue::Text(_) => None,
        }
    }

    /// Takes an entry out of a table.
    pub(super) fn take(&mut self, name: &str) -> Option<(NodeKey, Node)> {
        let NodeValue::Table(entries) = &mut self.value else { return None };
        let place = entries.iter().position(|(key, _)| key.name == name)?;
        Some(entries.remove(place))
    }

    /// Takes out the entry whose name stands at a place, wherever in the tree.
    pub(super) fn take_at(&mut self, at: NodePlace) -> Option<Node> {
        match &mut self.value {
            NodeValue::List(items) => items.iter_mut().find_map(|item| item.take_at(at)),
            NodeValue::Table(entries) => match entries.iter().position(|(key, _)| key.at == at) {
                Some(place) => Some(entries.remove(place).1),
                None => entries.iter_mut().find_map(|(_, node)| node.take_at(at)),
            },
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Integer(_)
            | NodeValue::Float(_)
            | NodeValue::Text(_) => None,
        }
    }
}

/// A table of these entries; a name that stands twice is refused.
pub(super) fn table(at: NodePlace, entries: Vec<(NodeKey, Node)>) -> Result<Node, Fault> {
    let mut names = std::collections::HashSet::new();
    match entries.iter().find(|(key, _)| !names.insert(key.name.as_ref())) {
        Some((key, _)) => Err(Fault::new(key.at, format!("`{}` stands twice in one table", key.name))),
        None => Ok(Node { at, value: NodeValue::Table(entries) }),
    }
}
