//! The tree that all three text forms are read into: values, each with its place.

/// A place in one of the files that a plan is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The number of the file.
    pub(super) file: u32,
    /// Where in it: bytes or characters from its beginning, as its form counts.
    pub(super) offset: u32,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) at: Place,
    pub(super) value: Value,
}

/// A value, as TOML, JSON and YAML have them in common.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Nothing: the same as not being there. TOML has none.
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<(Key, Node)>),
}

/// The name of an entry of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    pub(super) at: Place,
    pub(super) name: String,
}

/// Tables and lists in each other at most.
pub(super) const DEEPEST: usize = 100;

/// What a file is no tree for, in words, and where.
#[derive(Debug)]
pub(super) struct Fault {
    /// `None`: not known yet.
    pub(super) at: Option<Place>,
    pub(super) why: String,
    /// A name that nobody knows: the rest can be read without it.
    pub(super) unknown_name: bool,
}

impl Fault {
    pub(super) fn new(at: Place, why: impl Into<String>) -> Fault {
        Fault { at: Some(at), why: why.into(), unknown_name: false }
    }

    /// With a place, where it has none.
    pub(super) fn or_at(self, at: Place) -> Fault {
        Fault { at: self.at.or(Some(at)), ..self }
    }
}

impl Node {
    /// The value's kind, in words.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// Takes an entry out of a table.
    pub(super) fn take(&mut self, name: &str) -> Option<(Key, Node)> {
        let Value::Table(entries) = &mut self.value else { return None };
        let place = entries.iter().position(|(key, _)| key.name == name)?;
        Some(entries.remove(place))
    }

    /// Takes out the entry whose name stands at a place, wherever in the tree.
    pub(super) fn take_at(&mut self, at: Place) -> Option<Node> {
        match &mut self.value {
            Value::List(items) => items.iter_mut().find_map(|item| item.take_at(at)),
            Value::Table(entries) => match entries.iter().position(|(key, _)| key.at == at) {
                Some(place) => Some(entries.remove(place).1),
                None => entries.iter_mut().find_map(|(_, node)| node.take_at(at)),
            },
            _ => None,
        }
    }
}

/// A table of these entries; a name that stands twice is refused.
pub(super) fn table(at: Place, entries: Vec<(Key, Node)>) -> Result<Node, Fault> {
    let mut names = std::collections::HashSet::new();
    match entries.iter().find(|(key, _)| !names.insert(key.name.as_str())) {
        Some((key, _)) => Err(Fault::new(key.at, format!("`{}` stands twice in one table", key.name))),
        None => Ok(Node { at, value: Value::Table(entries) }),
    }
}
