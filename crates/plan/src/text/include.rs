//! Includes: a table that has `include = "FILE"` takes what the file says and it does not say itself.

use super::node::{Fault, Node, NodeKey, NodePlace, NodeValue};
use super::{Source, renamed};

/// Files of a plan at most, each counted as often as it is included.
const MOST: usize = 200;
/// Files that include each other, one within the other, at most.
const DEEPEST: usize = 16;

/// Tables whose fields are joined one by one; all else is taken whole.
const JOINED: [&str; 11] = [
    "",
    "variables",
    "site",
    "origin",
    "load",
    "load.protocol",
    "load.protocol.http",
    "load.protocol.http.h1",
    "load.check",
    "load.limits",
    "load.trace",
];

/// Finds what a plan includes: the path as it stands there, and the name of the file in which it does.
pub type Find<'a> = &'a dyn Fn(&str, &str) -> Result<Source, String>;

/// The files of a plan: those read so far, and the way to others.
pub(super) struct Files<'a> {
    pub(super) read: Vec<Source>,
    find: Find<'a>,
    /// The numbers of the files that are being included.
    within: Vec<usize>,
}

impl<'a> Files<'a> {
    pub(super) fn new(find: Find<'a>) -> Files<'a> {
        Files { read: Vec::new(), find, within: Vec::new() }
    }

    /// The tree of a file, with all that it includes.
    pub(super) fn tree(&mut self, source: Source) -> Result<Node, Fault> {
        let number = self.read.len();
        self.read.push(source);
        let mut node = self.read[number].tree(u32::try_from(number).unwrap_or(u32::MAX))?;
        // Before it is joined with others, which may have the names of today.
        renamed::rename(&mut node);
        self.within.push(number);
        self.resolve(&mut node, "")?;
        self.within.pop();
        Ok(node)
    }

    fn resolve(&mut self, node: &mut Node, path: &str) -> Result<(), Fault> {
        match &mut node.value {
            NodeValue::List(items) => items.iter_mut().try_for_each(|item| self.resolve(item, "*"))?,
            NodeValue::Table(entries) => entries.iter_mut().try_for_each(|(key, value)| {
                let dot = if path.is_empty() { "" } else { "." };
                self.resolve(value, &format!("{path}{dot}{}", key.name))
            })?,
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Integer(_)
            | NodeValue::Float(_)
            | NodeValue::Text(_) => {
                return Ok(());
            }
        }
        let Some((_, include)) = node.take("include") else { return Ok(()) };
        for (name, at) in paths(include)?.into_iter().rev() {
            let included = self.included(&name, at)?;
            join(node, included, path);
        }
        Ok(())
    }

    fn included(&mut self, path: &str, at: NodePlace) -> Result<Node, Fault> {
        let wrong = |why: String| Fault::new(at, format!("the include {path}: {why}"));
        let from = &self.read[at.file as usize].name;
        let source = (self.find)(path, from).map_err(wrong)?;
        if self.within.iter().any(|&number| self.read[number].name == source.name) {
            return Err(wrong("it includes itself, by way of the files between".to_owned()));
        }
        if self.within.len() >= DEEPEST || self.read.len() >= MOST {
            return Err(wrong("too many files include each other".to_owned()));
        }
        let node = self.tree(source)?;
        if !matches!(node.value, NodeValue::Table(_)) {
            return Err(wrong(format!("it is {}, and must be a table", node.kind())));
        }
        Ok(node)
    }
}

fn paths(include: Node) -> Result<Vec<(String, NodePlace)>, Fault> {
    let one = |node: Node| {
        let NodeValue::Text(path) = node.value else {
            return Err(Fault::new(node.at, "include names a file, or a list of files"));
        };
        Ok((path, node.at))
    };
    if let NodeValue::List(items) = include.value {
        return items.into_iter().map(one).collect();
    }
    Ok(vec![one(include)?])
}

/// Lays a table beneath another: what that one says itself stays.
fn join(over: &mut Node, under: Node, path: &str) {
    let (NodeValue::Table(entries), NodeValue::Table(more)) = (&mut over.value, under.value) else { return };
    for (key, value) in more {
        let Some((_, own)) = entries.iter_mut().find(|(own, _)| own.name == key.name) else {
            entries.push((NodeKey { at: key.at, name: key.name }, value));
            continue;
        };
        let within = if path.is_empty() { key.name.into_owned() } else { format!("{path}.{}", key.name) };
        if JOINED.contains(&within.as_str()) {
            join(own, value, &within);
        }
    }
}
