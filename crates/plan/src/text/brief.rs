//! Plans without what they would mean anyway: of a tree, entries are left out without which it reads back as the same plan.

use super::node::{Node, NodeKey, NodeValue};
use crate::Plan;
use serde::Deserialize;

/// Values of one entry that are tried, the most frequent first: at most one of them is its default.
const TRIED: usize = 4;

/// Times that all entries are looked at: what has become empty may be left out, too.
const PASSES: usize = 3;

/// Entries of a tree that is looked at; a larger one stays as it is, since each look reads all of it.
const LARGEST: usize = 50_000;

/// Values of the entries of one path, list items aside, and how often each stands there.
type Values<'t> = Vec<(&'t Node, usize)>;

/// The tree of a plan without entries that say nothing.
pub(super) fn tree(plan: &Plan, full: Node) -> Node {
    if size(&full) > LARGEST {
        return full;
    }
    let mut tree = full;
    for _ in 0..PASSES {
        let before = size(&tree);
        let mut depth = 1;
        while leave_out(plan, &mut tree, depth) {
            depth += 1;
        }
        if size(&tree) == before {
            break;
        }
    }
    tree
}

/// Leaves out what it may of the entries so deep in the tree; false where there are none.
fn leave_out(plan: &Plan, tree: &mut Node, depth: usize) -> bool {
    let mut paths = Vec::new();
    collect(tree, depth, &mut Vec::new(), &mut paths);
    let paths: Vec<(Vec<String>, Vec<Node>)> = paths
        .into_iter()
        .map(|(path, mut values)| {
            values.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            (path, values.into_iter().take(TRIED).map(|(value, _)| value.clone()).collect())
        })
        .collect();
    for (path, values) in &paths {
        for value in values {
            let mut less = tree.clone();
            without(&mut less, path, value);
            match Plan::deserialize(&less) {
                Ok(same) if same == *plan => {
                    *tree = less;
                    break;
                }
                // Another value may be the default.
                Ok(_) => {}
                // It must be there, whatever it is.
                Err(_) => break,
            }
        }
    }
    !paths.is_empty()
}

/// Entries of tables in a tree.
fn size(of: &Node) -> usize {
    match &of.value {
        NodeValue::List(items) => items.iter().map(size).sum(),
        NodeValue::Table(entries) => entries.iter().map(|(_, node)| 1 + size(node)).sum(),
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Integer(_)
        | NodeValue::Float(_)
        | NodeValue::Text(_) => 0,
    }
}

/// The entries so deep below a node, by their paths.
fn collect<'t>(of: &'t Node, depth: usize, path: &mut Vec<String>, to: &mut Vec<(Vec<String>, Values<'t>)>) {
    match &of.value {
        NodeValue::List(items) => items.iter().for_each(|item| collect(item, depth, path, to)),
        NodeValue::Table(entries) => {
            for (NodeKey { name, .. }, node) in entries {
                path.push(name.to_string());
                if depth > 1 {
                    collect(node, depth - 1, path, to);
                } else {
                    count(path, node, to);
                }
                path.pop();
            }
        }
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Integer(_)
        | NodeValue::Float(_)
        | NodeValue::Text(_) => {}
    }
}

fn count<'t>(path: &[String], node: &'t Node, to: &mut Vec<(Vec<String>, Values<'t>)>) {
    let at = to.iter().position(|(known, _)| known == path).unwrap_or_else(|| {
        to.push((path.to_vec(), Vec::new()));
        to.len() - 1
    });
    let values = &mut to[at].1;
    match values.iter().position(|(known, _)| *known == node) {
        Some(at) => values[at].1 += 1,
        // Of texts that are all different none is a default.
        None if values.len() < TRIED * TRIED => values.push((node, 1)),
        None => {}
    }
}

/// Takes the entries of a path that have a value out of a tree.
fn without(tree: &mut Node, path: &[String], value: &Node) {
    let Some((name, rest)) = path.split_first() else { return };
    match &mut tree.value {
        NodeValue::List(items) => items.iter_mut().for_each(|item| without(item, path, value)),
        NodeValue::Table(entries) if rest.is_empty() => {
            entries.retain(|(key, node)| key.name != *name || node != value);
        }
        NodeValue::Table(entries) => {
            let below = entries.iter_mut().filter(|(key, _)| key.name == *name);
            below.for_each(|(_, node)| without(node, rest, value));
        }
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Integer(_)
        | NodeValue::Float(_)
        | NodeValue::Text(_) => {}
    }
}
