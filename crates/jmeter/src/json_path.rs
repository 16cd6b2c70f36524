//! JSON paths as JMeter's library (Jayway's JsonPath) reads them, in the form of RFC 9535.

/// The path, from `$` on: names that RFC 9535 wants in brackets stand there, and a dot before a bracket goes.
pub(crate) fn standard(path: &str) -> String {
    let rooted = match path.chars().next() {
        Some('$') => path.to_owned(),
        Some('.' | '[') => format!("${path}"),
        _ => format!("$.{path}"),
    };
    let mut standard = String::new();
    let mut rest = rooted.as_str();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '[' => bracket(rest),
            '.' => member(rest, &mut standard),
            _ => first.len_utf8(),
        };
        if first != '.' {
            standard.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    standard
}

/// Bytes up to the bracket that closes the first one; quoted ones do not count.
fn bracket(text: &str) -> usize {
    let mut depth = 0usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), letter) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '[') => depth += 1,
            (None, ']') if depth == 1 => return at + 1,
            (None, ']') => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Writes what follows a dot, or two of them; the bytes that it took.
fn member(text: &str, to: &mut String) -> usize {
    let dots = if text.starts_with("..") { 2 } else { 1 };
    let name_ends = text[dots..].find(['.', '[']).map_or(text.len(), |at| dots + at);
    let name = &text[dots..name_ends];
    let plain = |name: &str| {
        let word = |letter: char| letter.is_alphanumeric() || letter == '_';
        name.chars().all(word) && !name.starts_with(|letter: char| letter.is_ascii_digit())
    };
    let dotted = if dots == 2 { ".." } else { "" };
    match name {
        "" => to.push_str(dotted),
        name if name == "*" || plain(name) || name.ends_with(')') => to.push_str(&text[..name_ends]),
        name => {
            let quoted = name.replace('\\', "\\\\").replace('\'', "\\'");
            to.push_str(&format!("{dotted}['{quoted}']"));
        }
    }
    name_ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_rfc() {
        for (theirs, rfc) in [
            ("$.a.b[0]", "$.a.b[0]"),
            ("a.b", "$.a.b"),
            (".a", "$.a"),
            ("$.app-id", "$['app-id']"),
            ("$..x-y.z", "$..['x-y'].z"),
            ("$.rows.*.[0]", "$.rows.*[0]"),
            ("$.a[?(@.b-c == 'x.y]')].d", "$.a[?(@.b-c == 'x.y]')].d"),
            ("$.1st", "$['1st']"),
            ("$.list.length()", "$.list.length()"),
            ("$", "$"),
            ("$.a[", "$.a["),
        ] {
            assert_eq!(standard(theirs), rfc, "{theirs}");
        }
    }
}
