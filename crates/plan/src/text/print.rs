//! Trees as YAML.

use super::node::{Node, Value};

/// YAML in block style. Texts that are not plain words stand in double quotes, as in JSON.
pub(super) fn yaml(node: &Node) -> String {
    let mut text = String::new();
    match &node.value {
        Value::Table(entries) if !entries.is_empty() => block(node, 0, &mut text),
        _ => flow(node, &mut text),
    }
    text.trim_start_matches('\n').to_owned() + "\n"
}

/// A value behind `:` or `-`.
fn behind(node: &Node, indent: usize, text: &mut String) {
    let is_block = match &node.value {
        Value::Table(entries) => !entries.is_empty(),
        Value::List(items) => !items.is_empty(),
        _ => false,
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
        Value::Table(entries) => {
            for (key, value) in entries {
                line(text);
                scalar(&key.name, text);
                text.push(':');
                behind(value, indent + 2, text);
            }
        }
        Value::List(items) => {
            for item in items {
                line(text);
                text.push('-');
                item_behind_dash(item, indent + 2, text);
            }
        }
        _ => {}
    }
}

/// The first entry of a table stands on the line of its dash.
fn item_behind_dash(item: &Node, indent: usize, text: &mut String) {
    let begin = text.len();
    behind(item, indent, text);
    if matches!(item.value, Value::Table(_)) && text[begin..].starts_with('\n') {
        text.replace_range(begin..begin + 1 + indent, " ");
    }
}

fn flow(node: &Node, text: &mut String) {
    match &node.value {
        Value::Null => text.push_str("null"),
        Value::Bool(yes) => text.push_str(if *yes { "true" } else { "false" }),
        Value::Integer(number) => text.push_str(&number.to_string()),
        Value::Float(number) => text.push_str(&float(*number)),
        Value::Text(words) => scalar(words, text),
        Value::List(_) => text.push_str("[]"),
        Value::Table(_) => text.push_str("{}"),
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
