//! Trees as YAML, and as TOML with short tables and lists on a line.

use super::node::{Node, NodeKey, NodeValue};

/// Characters of a line of TOML, where it may be broken.
const LINE: usize = 110;

/// TOML: what fits on a line stands on one, and tables that do not have a header.
pub(super) fn toml(node: &Node) -> String {
    let mut text = String::new();
    if let NodeValue::Table(entries) = &node.value {
        section(entries, "", &mut text);
    }
    text.trim_start_matches('\n').to_owned()
}

/// The entries of a table behind its header: those of a line first, as TOML wants it.
fn section(entries: &[(NodeKey, Node)], path: &str, text: &mut String) {
    let mut below = Vec::new();
    for (key, node) in entries.iter().filter(|(_, node)| node.value != NodeValue::Null) {
        let name = bare(&key.name);
        match entry(&name, node, path.is_empty()) {
            Some(line) => text.push_str(&(line + "\n")),
            None => below.push((if path.is_empty() { name } else { format!("{path}.{name}") }, node)),
        }
    }
    for (path, node) in below {
        match &node.value {
            NodeValue::Table(entries) => {
                // The headers of what is below it say that it is there, too.
                if has_lines(entries) {
                    text.push_str(&format!("\n[{path}]\n"));
                }
                section(entries, &path, text);
            }
            NodeValue::List(items) => {
                for item in items {
                    text.push_str(&format!("\n[[{path}]]\n"));
                    if let NodeValue::Table(entries) = &item.value {
                        section(entries, &path, text);
                    }
                }
            }
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Integer(_)
            | NodeValue::Float(_)
            | NodeValue::Text(_) => {}
        }
    }
}

/// True if an entry stands behind the header of its table, and not behind one of its own.
fn has_lines(entries: &[(NodeKey, Node)]) -> bool {
    entries
        .iter()
        .any(|(key, node)| node.value != NodeValue::Null && entry(&bare(&key.name), node, false).is_some())
}

/// An entry without a header of its own; `None` where it needs one. Tables at the top have headers.
fn entry(name: &str, node: &Node, is_top: bool) -> Option<String> {
    match &node.value {
        NodeValue::Table(entries) if is_top && !entries.is_empty() => None,
        NodeValue::Table(_) => {
            fitting(node, LINE.saturating_sub(name.len() + 3)).map(|value| format!("{name} = {value}"))
        }
        NodeValue::List(items) => {
            if let Some(value) = fitting(node, LINE.saturating_sub(name.len() + 3)) {
                return Some(format!("{name} = {value}"));
            }
            let lines: Option<Vec<String>> = items.iter().map(|item| fitting(item, LINE - 5)).collect();
            let is_tables = items.iter().all(|item| matches!(item.value, NodeValue::Table(_)));
            let lines = match lines {
                Some(lines) => lines,
                None if is_tables => return None,
                None => items.iter().map(inline).collect(),
            };
            Some(format!("{name} = [\n    {},\n]", lines.join(",\n    ")))
        }
        NodeValue::Text(words) if is_literal(words) => Some(format!("{name} = '''\n{words}'''")),
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Integer(_)
        | NodeValue::Float(_)
        | NodeValue::Text(_) => Some(format!("{name} = {}", inline(node))),
    }
}

/// True for texts of several lines that TOML can hold as they are.
fn is_literal(words: &str) -> bool {
    let is_plain = |one: char| one == '\n' || one == '\t' || !one.is_control();
    words.contains('\n') && words.chars().all(is_plain) && !words.contains("''") && !words.ends_with('\'')
}

/// A value on a line, where it has so many characters at most.
fn fitting(node: &Node, most: usize) -> Option<String> {
    let line = inline(node);
    (line.chars().count() <= most).then_some(line)
}

fn inline(node: &Node) -> String {
    match &node.value {
        NodeValue::Null => String::new(),
        NodeValue::Bool(yes) => yes.to_string(),
        NodeValue::Integer(number) => number.to_string(),
        NodeValue::Float(number) if number.is_nan() => "nan".to_owned(),
        NodeValue::Float(number) if number.is_infinite() => {
            if *number > 0.0 { "inf" } else { "-inf" }.to_owned()
        }
        NodeValue::Float(number) => format!("{number:?}"),
        NodeValue::Text(words) => ::toml::Value::from(words.as_str()).to_string(),
        NodeValue::List(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        NodeValue::Table(entries) => {
            let there = entries.iter().filter(|(_, node)| node.value != NodeValue::Null);
            let entries: Vec<String> =
                there.map(|(key, node)| format!("{} = {}", bare(&key.name), inline(node))).collect();
            if entries.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", entries.join(", ")) }
        }
    }
}

/// A key, in quotes where TOML wants them.
fn bare(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    match !name.is_empty() && name.bytes().all(is_bare) {
        true => name.to_owned(),
        false => ::toml::Value::from(name).to_string(),
    }
}

/// YAML in block style. Texts that are not plain words stand in double quotes, as in JSON.
pub(super) fn yaml(node: &Node) -> String {
    let mut text = String::new();
    if matches!(&node.value, NodeValue::Table(entries) if !entries.is_empty()) {
        block(node, 0, &mut text);
    } else {
        flow(node, &mut text);
    }
    text.trim_start_matches('\n').to_owned() + "\n"
}

/// A value behind `:` or `-`.
fn behind(node: &Node, indent: usize, text: &mut String) {
    let is_block = match &node.value {
        NodeValue::Table(entries) => !entries.is_empty(),
        NodeValue::List(items) => !items.is_empty(),
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Integer(_)
        | NodeValue::Float(_)
        | NodeValue::Text(_) => false,
    };
    if is_block {
        block(node, indent, text);
    } else {
        text.push(' ');
        flow(node, text);
    }
}

fn block(node: &Node, indent: usize, text: &mut String) {
    let line = |text: &mut String| {
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', indent));
    };
    match &node.value {
        NodeValue::Table(entries) => {
            for (key, value) in entries {
                line(text);
                scalar(&key.name, text);
                text.push(':');
                behind(value, indent + 2, text);
            }
        }
        NodeValue::List(items) => {
            for item in items {
                line(text);
                text.push('-');
                item_behind_dash(item, indent + 2, text);
            }
        }
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Integer(_)
        | NodeValue::Float(_)
        | NodeValue::Text(_) => {}
    }
}

/// The first entry of a table stands on the line of its dash.
fn item_behind_dash(item: &Node, indent: usize, text: &mut String) {
    let begin = text.len();
    behind(item, indent, text);
    if matches!(item.value, NodeValue::Table(_)) && text[begin..].starts_with('\n') {
        text.replace_range(begin..begin + 1 + indent, " ");
    }
}

fn flow(node: &Node, text: &mut String) {
    match &node.value {
        NodeValue::Null => text.push_str("null"),
        NodeValue::Bool(yes) => text.push_str(if *yes { "true" } else { "false" }),
        NodeValue::Integer(number) => text.push_str(&number.to_string()),
        NodeValue::Float(number) => text.push_str(&float(*number)),
        NodeValue::Text(words) => scalar(words, text),
        NodeValue::List(_) => text.push_str("[]"),
        NodeValue::Table(_) => text.push_str("{}"),
    }
}

/// As the core schema reads it (YAML 1.2.2 section 10.3.2).
fn float(number: f64) -> String {
    match number {
        f64::INFINITY => ".inf".to_owned(),
        f64::NEG_INFINITY => "-.inf".to_owned(),
        _ if number.is_nan() => ".nan".to_owned(),
        _ => format!("{number:?}"),
    }
}

fn scalar(words: &str, text: &mut String) {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    let is_word = words.bytes().all(inside) && words.starts_with(|first: char| first.is_ascii_alphabetic());
    const MEAN_MORE: [&str; 10] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan"];
    if is_word && !MEAN_MORE.contains(&words.to_ascii_lowercase().as_str()) {
        text.push_str(words);
    } else {
        quoted(words, text);
    }
}

/// A text as JSON has it, with what YAML would take for the end of a line, or not at all, as numbers.
fn quoted(words: &str, text: &mut String) {
    let json = serde_json::Value::from(words).to_string();
    for one in json.chars() {
        let is_plain = !one.is_control()
            && !matches!(one, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
        match one as u32 {
            _ if is_plain => text.push(one),
            code @ ..=0xffff => text.push_str(&format!("\\u{code:04x}")),
            code => text.push_str(&format!("\\U{code:08x}")),
        }
    }
}
