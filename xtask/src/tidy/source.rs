//! Source text without what is not code, and the words that must not stand in code, or begin a doc comment.

use std::ops::Range;

use super::File;

/// Words that must not stand in this file.
pub fn unwanted(file: &File) -> Vec<String> {
    let code = code_only(&file.text);
    let mut problems = Vec::new();
    for (number, line) in (1..).zip(code.lines()) {
        if line.contains("#[allow(") || line.contains("#![allow(") {
            problems.push(format!(
                "{}:{number}: write #[expect(…, reason = \"…\")], which ends with its cause",
                file.name
            ));
        }
        // Of ours, only net may have any: it is where the sockets and their buffers are.
        if !file.name.starts_with("crates/net/") && words(line).any(|word| word == "unsafe") {
            problems.push(format!("{}:{number}: unsafe is for crates/net alone", file.name));
        }
    }
    problems.extend(memory_as_a_file(file));
    problems.extend(vague_comments(file));
    problems
}

/// Memory written to as if it were a file: unsafe code that does not say so.
fn memory_as_a_file(file: &File) -> Vec<String> {
    let file_of_memory = concat!("/proc/", "self/mem");
    let lines = (1..).zip(file.text.lines()).filter(|(_, line)| line.contains(file_of_memory));
    lines
        .map(|(number, _)| {
            format!(
                "{}:{number}: {file_of_memory} is unsafe code by another name: see net::command_line",
                file.name
            )
        })
        .collect()
}

/// Doc comments whose first word says nothing of the item.
fn vague_comments(file: &File) -> Vec<String> {
    let mut problems = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1..).zip(file.text.lines().map(str::trim_start)) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let first = comment.and_then(|comment| words(comment).next());
        if !goes_on && matches!(first, Some("What" | "Whether")) {
            problems.push(format!(
                "{}:{number}: begin the doc comment with the noun or verb that matters (True if …, Bytes of …)",
                file.name
            ));
        }
        goes_on = first.is_some();
    }
    problems
}

/// The words of a line of code.
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// The same text, of the same length in bytes and lines, with blanks for comments and for what is quoted.
pub fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        match end_of_text(bytes, at) {
            Some(end) => {
                blank(&mut code[at..end]);
                at = end;
            }
            None => at += 1,
        }
    }
    String::from_utf8_lossy(&code).into_owned()
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// Where the comment or literal ends that begins at `at`, if one does.
fn end_of_text(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let length = match rest {
        [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment(rest),
        [b'"', ..] => string(rest),
        [b'\'', ..] => character(rest)?,
        [b'r' | b'b' | b'c', ..] if !(at > 0 && is_word(bytes[at - 1])) => raw_string(rest)?,
        _ => return None,
    };
    Some(at + length)
}

fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// A character in quotes; a lifetime has no second quote.
fn character(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        let end = rest.iter().skip(3).position(|byte| *byte == b'\'')?;
        return Some(end + 4);
    }
    let length = match rest.get(1)? {
        0..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    };
    (rest.get(1 + length) == Some(&b'\'')).then_some(length + 2)
}

fn raw_string(rest: &[u8]) -> Option<usize> {
    let prefix = rest.iter().take_while(|byte| matches!(byte, b'b' | b'c')).count().min(1);
    if rest.get(prefix) != Some(&b'r') {
        return None;
    }
    let hashes = rest[prefix + 1..].iter().take_while(|byte| **byte == b'#').count();
    let begin = prefix + 1 + hashes;
    if rest.get(begin) != Some(&b'"') {
        return None;
    }
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let end = rest[begin + 1..].windows(close.len()).position(|window| window == close);
    Some(end.map_or(rest.len(), |end| begin + 1 + end + close.len()))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Line numbers, from 1, of modules that are compiled for tests only.
pub fn test_lines(code: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = code[from..].find("#[cfg(test)]").map(|at| from + at) {
        from = at + 1;
        let Some(open) = code[at..].find(['{', ';']).map(|open| at + open) else { continue };
        if code.as_bytes()[open] == b'{' {
            let end = closing(code, open);
            found.push(line_of(code, at)..line_of(code, end) + 1);
            from = end;
        }
    }
    found
}

/// Where the brace at `open` is closed.
pub fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at;
        }
    }
    code.len()
}

/// The number, from 1, of the line that holds this byte.
pub fn line_of(code: &str, at: usize) -> usize {
    code.as_bytes()[..at.min(code.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_code(text: &str, expected: &str) {
        assert_eq!(code_only(text).split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
        assert_eq!(code_only(text).len(), text.len());
    }

    #[test]
    fn comments_and_literals_are_blanked() {
        check_code("a // b {\nc", "a c");
        check_code("a /* b /* c */ d */ e", "a e");
        check_code(r#"a("b \" {", c)"#, "a( , c)");
        check_code("a = r#\"b \" {\"#; c", "a = ; c");
        check_code("a = br\"b{\"; c", "a = ; c");
        check_code("a('{', '\\'', '\\u{1f}', 'ß', b'}')", "a( , , , , b )");
        check_code("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
        check_code("for x in bar {}", "for x in bar {}");
    }

    fn check_unwanted(name: &str, text: &str, expected: usize) {
        let file = File { name: name.to_owned(), text: text.to_owned() };
        assert_eq!(unwanted(&file).len(), expected, "{text}");
    }

    #[test]
    fn words_that_must_not_be() {
        check_unwanted("crates/load/src/a.rs", "unsafe { x() }", 1);
        check_unwanted("crates/net/src/a.rs", "unsafe { x() }", 0);
        check_unwanted("crates/net/src/a.rs", concat!("open(\"/proc/", "self/mem\")"), 1);
        check_unwanted("crates/load/src/a.rs", "// unsafe\n#![forbid(unsafe_code)]\nlet x = \"unsafe\";", 0);
        check_unwanted("crates/net/src/a.rs", "#[allow(dead_code)]\nfn f() {}", 1);
        check_unwanted("crates/net/src/a.rs", "#[expect(dead_code, reason = \"x\")]\nfn f() {}", 0);
    }

    #[test]
    fn doc_comments_begin_with_the_word_that_matters() {
        check_unwanted("crates/net/src/a.rs", "//! What this is.\n\n/// Whether it is.\nfn f() {}", 2);
        check_unwanted("crates/net/src/a.rs", "/// True if it is.\n/// What else.\nfn f() {} // What", 0);
    }

    #[test]
    fn test_modules_are_found() {
        let code =
            "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod more;\n";
        assert_eq!(test_lines(code), std::slice::from_ref(&(2..6)));
    }
}
