//! Header fields as they are typed.

use plan::Field;
use plan::secret::shown_line;

/// True if a name and a value may be a field of HTTP (RFC 9110 section 5): a token, and no control character but the tab.
pub(crate) fn is_field(name: &str, value: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_plain = !value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t');
    !name.is_empty() && name.bytes().all(token) && is_plain
}

/// Fields of lines `NAME: VALUE`.
///
/// # Errors
/// The line that is none, its value masked.
pub(crate) fn typed(lines: &[String]) -> Result<Vec<Field>, String> {
    let field = |line: &String| {
        let parts = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
        let found = parts.filter(|(name, value)| is_field(name, value));
        found.map(|(name, value)| Field::typed(name, value)).ok_or_else(|| shown_line(line))
    };
    lines.iter().map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_tokens_and_values_have_no_control_characters() {
        for (name, value, is) in [
            ("X-A", "b\tc", true),
            ("X A", "b", false),
            ("", "b", false),
            ("X", "a\rb", false),
            ("X", "", true),
            ("X", "\u{e9}", true),
        ] {
            assert_eq!(is_field(name, value), is, "{name:?}: {value:?}");
        }
    }
}
