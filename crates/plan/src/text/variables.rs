//! Variables of a plan file: `variables = { host = "…" }` and, in any text, `${host}`. Where a text is nothing else, it becomes the
//! variable's value with its type. A plan without variables is read as it stands.

use super::decode::meant;
use super::node::{Fault, Node, NodePlace, NodeValue};
use std::collections::BTreeMap;

/// Bytes that variables may put into a plan in all.
const MOST: usize = 64 << 20;

/// The plan's variables, with what was set instead.
pub(super) struct Variables {
    values: BTreeMap<String, Node>,
    written: usize,
}

impl Variables {
    /// Takes the variables out of a plan. `set`: values given from outside, each of a variable that the plan has.
    pub(super) fn take(plan: &mut Node, set: &[(String, String)]) -> Result<Option<Variables>, Fault> {
        let (at, values) = match plan.take("variables") {
            Some((key, node)) => (key.at, declared(node)?),
            None => (plan.at, BTreeMap::new()),
        };
        let mut variables = Variables { values, written: 0 };
        for (name, value) in set {
            variables.set(name, value, at)?;
        }
        Ok((!variables.values.is_empty()).then_some(variables))
    }

    fn set(&mut self, name: &str, value: &str, at: NodePlace) -> Result<(), Fault> {
        let unknown = || self.unknown(name);
        let Some(old) = self.values.get(name) else { return Err(Fault::new(at, unknown())) };
        let wrong = || Fault::new(old.at, format!("--set {name}={value}: {name} is {} here", old.kind()));
        let new = match old.value {
            NodeValue::Integer(_) => NodeValue::Integer(value.parse().map_err(|_| wrong())?),
            NodeValue::Float(_) => NodeValue::Float(value.parse().map_err(|_| wrong())?),
            NodeValue::Bool(_) => NodeValue::Bool(value.parse().map_err(|_| wrong())?),
            NodeValue::Null | NodeValue::Text(_) | NodeValue::List(_) | NodeValue::Table(_) => {
                NodeValue::Text(value.replace("${", "$${"))
            }
        };
        let node = Node { at: old.at, value: new };
        self.values.insert(name.to_owned(), node);
        Ok(())
    }

    fn unknown(&self, name: &str) -> String {
        let known = self.values.keys().map(String::as_str);
        match meant(name, known) {
            Some(meant) => format!("there is no variable `{name}`: did you mean `{meant}`?"),
            None if self.values.is_empty() => {
                format!("there is no variable `{name}`: this plan has no variables")
            }
            None => {
                let all: Vec<_> = self.values.keys().map(|name| format!("`{name}`")).collect();
                format!("there is no variable `{name}`: there are {}", all.join(", "))
            }
        }
    }

    /// Fills in the variables of a tree.
    pub(super) fn fill(&mut self, node: &mut Node) -> Result<(), Fault> {
        match &mut node.value {
            NodeValue::List(items) => items.iter_mut().try_for_each(|item| self.fill(item)),
            NodeValue::Table(entries) => entries.iter_mut().try_for_each(|(_, value)| self.fill(value)),
            NodeValue::Text(text) if text.contains("${") => {
                node.value = self.filled(text, node.at, &mut Vec::new())?;
                Ok(())
            }
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Integer(_)
            | NodeValue::Float(_)
            | NodeValue::Text(_) => Ok(()),
        }
    }

    /// A text with its variables. `within`: the variables that are being filled in, none of which may stand in itself.
    fn filled(&mut self, text: &str, at: NodePlace, within: &mut Vec<String>) -> Result<NodeValue, Fault> {
        if let Some(name) = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'))
            && !name.contains('}')
        {
            return self.value(name, at, within);
        }
        let mut filled = String::new();
        let mut rest = text;
        while let Some(place) = rest.find("${") {
            let (before, after) = rest.split_at(place);
            if let Some(before) = before.strip_suffix('$') {
                filled += before;
                filled += "${";
                rest = &after[2..];
                continue;
            }
            filled += before;
            let open =
                || Fault::new(at, "`${` is not closed with `}`: write `$${` where it is meant as it stands");
            let (name, behind) = after[2..].split_once('}').ok_or_else(open)?;
            filled += &shown(&self.value(name, at, within)?);
            rest = behind;
        }
        filled += rest;
        self.written += filled.len();
        if self.written > MOST {
            return Err(Fault::new(at, format!("variables put more than {MOST} bytes into this plan")));
        }
        Ok(NodeValue::Text(filled))
    }

    fn value(&mut self, name: &str, at: NodePlace, within: &mut Vec<String>) -> Result<NodeValue, Fault> {
        let name = name.trim();
        if within.iter().any(|outer| outer == name) {
            return Err(Fault::new(at, format!("the variable `{name}` stands in itself")));
        }
        let Some(node) = self.values.get(name) else { return Err(Fault::new(at, self.unknown(name))) };
        let value = node.value.clone();
        let at = node.at;
        let NodeValue::Text(text) = &value else { return Ok(value) };
        within.push(name.to_owned());
        let filled = self.filled(text, at, within);
        within.pop();
        filled
    }
}

fn declared(node: Node) -> Result<BTreeMap<String, Node>, Fault> {
    let NodeValue::Table(entries) = node.value else {
        return Err(Fault::new(node.at, "variables are a table of names and values"));
    };
    let one = |(key, value): (super::node::NodeKey, Node)| match value.value {
        NodeValue::Null | NodeValue::List(_) | NodeValue::Table(_) => {
            let why =
                format!("`{}` is {}: a variable is text, a number, true or false", key.name, value.kind());
            Err(Fault::new(value.at, why))
        }
        NodeValue::Bool(_) | NodeValue::Integer(_) | NodeValue::Float(_) | NodeValue::Text(_) => {
            Ok((key.name.into_owned(), value))
        }
    };
    entries.into_iter().map(one).collect()
}

fn shown(value: &NodeValue) -> String {
    match value {
        NodeValue::Bool(yes) => yes.to_string(),
        NodeValue::Integer(number) => number.to_string(),
        NodeValue::Float(number) => number.to_string(),
        NodeValue::Text(text) => text.clone(),
        NodeValue::Null | NodeValue::List(_) | NodeValue::Table(_) => String::new(),
    }
}
