//! Keys that plan files had before HTTP was one table with a table for each version: `load.protocol.http1` held `http2`, `http3`
//! and the settings of HTTP/1 side by side. Such files are read as they always were.

use super::node::{Node, NodeKey, NodeValue};

/// Keys of the table for HTTP, then and now.
const VERSIONS: [(&str, &str); 2] = [("http2", "h2"), ("http3", "h3")];
/// Keys that stood in the table for HTTP and belong to HTTP/1 alone.
const OF_HTTP1: [&str; 6] = ["form", "version", "listed_fields_only", "bare", "pipeline", "expect_continue"];

/// Gives the keys of a plan's tree the names that they have today.
pub(super) fn rename(tree: &mut Node) {
    let Some(protocol) = entry(tree, "load").and_then(|load| entry(load, "protocol")) else { return };
    rename_key(protocol, "http1", "http");
    let Some(http) = entry(protocol, "http") else { return };
    for (then, now) in VERSIONS {
        rename_key(http, then, now);
    }
    let moved: Vec<(NodeKey, Node)> = OF_HTTP1.iter().filter_map(|name| http.take(name)).collect();
    let Some(at) = moved.first().map(|(key, _)| key.at) else { return };
    let NodeValue::Table(entries) = &mut http.value else { unreachable!("entries were taken out of it") };
    let place = entries.iter().position(|(key, _)| key.name == "h1").unwrap_or_else(|| {
        let table = Node { at, value: NodeValue::Table(Vec::new()) };
        entries.push((NodeKey { at, name: "h1".into() }, table));
        entries.len() - 1
    });
    if let NodeValue::Table(h1) = &mut entries[place].1.value {
        h1.extend(moved);
    }
}

fn entry<'a>(node: &'a mut Node, name: &str) -> Option<&'a mut Node> {
    let NodeValue::Table(entries) = &mut node.value else { return None };
    entries.iter_mut().find(|(key, _)| key.name == name).map(|(_, node)| node)
}

/// Where the table has both names, both stay, and the reader says that one is too many.
fn rename_key(node: &mut Node, then: &str, now: &'static str) {
    let NodeValue::Table(entries) = &mut node.value else { return };
    if entries.iter().any(|(key, _)| key.name == now) {
        return;
    }
    if let Some((key, _)) = entries.iter_mut().find(|(key, _)| key.name == then) {
        key.name = now.into();
    }
}
