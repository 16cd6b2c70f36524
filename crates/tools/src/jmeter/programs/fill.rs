//! The `${…}` of a program text, replaced before it is compiled, as JMeter does it.

use super::ProgramWorker;
use super::functions::Functions;
use super::memory::Memory;
use jmeter::Text;
use load::code::CodeContext;
use plan::Code;

/// The text with its values; what has none stays as it is written.
pub(super) fn filled(
    worker: &ProgramWorker,
    code: &Code,
    context: &mut CodeContext<'_>,
    memory: &mut Memory,
) -> String {
    let Ok(parsed) = Text::parse(&code.text, &jmeter::function::is_known) else { return code.text.clone() };
    let mut functions = Functions { worker, code, context, memory };
    match jmeter::function::compute(&parsed, &mut functions) {
        Ok(text) => text,
        Err(why) => {
            context.user.lines.push((true, format!("{}: {why}", code.name)));
            code.text.clone()
        }
    }
}

/// The text with one value for all of them, so that it can be looked at before the run.
pub(super) fn with(text: &str, value: &str) -> String {
    let mut found = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let inside = &rest[at + 2..];
        let end = closing(inside);
        found.push_str(&rest[..at]);
        match end {
            Some(end) if names_value(&inside[..end]) => {
                found.push_str(value);
                rest = &inside[end + 1..];
            }
            _ => {
                found.push_str("${");
                rest = inside;
            }
        }
    }
    found + rest
}

/// Where the brace closes that was opened before.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, one) in text.char_indices() {
        match one {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A variable or a function of JMeter's, rather than an expression of Groovy's.
fn names_value(inside: &str) -> bool {
    let word = |one: char| one.is_alphanumeric() || "_-".contains(one);
    inside.starts_with("__") || !inside.is_empty() && inside.chars().all(word)
}

#[cfg(test)]
mod tests {
    use super::with;

    #[test]
    fn values_are_put_where_variables_stand() {
        for (text, filled) in [
            ("int a = ${n};", "int a = 1;"),
            ("\"${a.b()} ${c}\"", "\"${a.b()} 1\""),
            ("x(${__P(a,${b})})", "x(1)"),
            ("${", "${"),
            ("a ${open", "a ${open"),
        ] {
            assert_eq!(with(text, "1"), filled, "{text}");
        }
    }
}
