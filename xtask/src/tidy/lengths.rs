//! Long functions and long files, against the list of those that are known.
//!
//! Long functions are what hurts: one should be seen whole. Tests are free, for they are tables and stories.

use std::collections::BTreeMap;
use std::path::Path;

use super::{EXCEPTIONS, File, source};
use crate::Result;

const FUNCTION_LINES: usize = 70;
const FILE_LINES: usize = 700;

/// Something too long: `file NAME` or `function NAME::FUNCTION`, and its lines.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong {
    what: String,
    lines: usize,
}

/// Finds what is too long in this file. Files of tests may have functions of any length, which mostly are tables.
pub fn too_long(file: &File) -> Vec<TooLong> {
    if is_test(&file.name) {
        let lines = file.text.lines().count();
        let what = format!("file {}", file.name);
        return if lines > FILE_LINES { vec![TooLong { what, lines }] } else { Vec::new() };
    }
    let code = source::code_only(&file.text);
    let tests = source::test_lines(&code);
    let lines = code.lines().count() - tests.iter().map(ExactSizeIterator::len).sum::<usize>();
    let mut found = Vec::new();
    if lines > FILE_LINES {
        found.push(TooLong { what: format!("file {}", file.name), lines });
    }
    for function in functions(&code) {
        let in_test = tests.iter().any(|test| test.contains(&function.line));
        if function.lines > FUNCTION_LINES && !in_test {
            found.push(TooLong {
                what: format!("function {}::{}", file.name, function.name),
                lines: function.lines,
            });
        }
    }
    found
}

/// True if a file holds tests alone.
pub fn is_test(name: &str) -> bool {
    let path = Path::new(name);
    path.components().any(|part| part.as_os_str() == "tests")
        || path.file_name().is_some_and(|file| file == "tests.rs")
}

struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

/// Each function that has a body, from its `fn` to its closing brace.
fn functions(code: &str) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let is_word =
            at == 0 || !code.as_bytes()[at - 1].is_ascii_alphanumeric() && code.as_bytes()[at - 1] != b'_';
        let name = source::words(&code[at + 3..]).next();
        if let (true, Some(name), Some(open)) = (is_word, name, body(code, at)) {
            let line = source::line_of(code, at);
            let lines = source::line_of(code, source::closing(code, open)) - line + 1;
            found.push(Function { name, line, lines });
        }
    }
    found
}

/// Where the body begins of the function whose `fn` is at `at`; a semicolon ends one that has none.
fn body(code: &str, at: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, byte) in code.bytes().enumerate().skip(at) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return Some(at),
            b';' if depth == 0 => return None,
            _ => {}
        }
        // `fn` as a type, in the list of another's parameters.
        if depth < 0 {
            return None;
        }
    }
    None
}

/// The list: one `file NAME LINES` or `function NAME::FUNCTION LINES` each line; `#` begins a comment.
pub fn parse_exceptions(text: &str) -> Result<BTreeMap<String, usize>> {
    let mut found = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let entry =
            line.rsplit_once(' ').and_then(|(what, lines)| Some((what.to_owned(), lines.parse().ok()?)));
        let (what, lines) =
            entry.ok_or_else(|| format!("{EXCEPTIONS}: '{line}' does not end with a number of lines"))?;
        found.insert(what, lines);
    }
    Ok(found)
}

/// Lists what is too long and not excused, and excuses that are no longer needed.
pub fn judge(too_long: &[TooLong], exceptions: &BTreeMap<String, usize>) -> Vec<String> {
    let limit = |what: &str| if what.starts_with("file") { FILE_LINES } else { FUNCTION_LINES };
    let mut longest: BTreeMap<&str, usize> = BTreeMap::new();
    for found in too_long {
        let lines = longest.entry(&found.what).or_default();
        *lines = found.lines.max(*lines);
    }
    let mut problems = Vec::new();
    for (what, lines) in &longest {
        match exceptions.get(*what) {
            None => problems.push(format!("{what} has {lines} lines, more than {}: split it", limit(what))),
            Some(known) if lines > known => {
                problems.push(format!(
                    "{what} has grown from {known} to {lines} lines; it should become shorter"
                ));
            }
            Some(_) => {}
        }
    }
    let stale = exceptions.keys().filter(|what| !longest.contains_key(what.as_str()));
    problems.extend(stale.map(|what| format!("{what} is short enough now: remove it from {EXCEPTIONS}")));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long_function(name: &str, lines: usize) -> String {
        format!("fn {name}(x: [u8; 4]) {{\n{}}}\n", "x();\n".repeat(lines - 2))
    }

    fn check(name: &str, text: &str, expected: &[(&str, usize)]) {
        let file = File { name: name.to_owned(), text: text.to_owned() };
        let found: Vec<_> = too_long(&file).into_iter().map(|found| (found.what, found.lines)).collect();
        let expected: Vec<_> = expected.iter().map(|(what, lines)| ((*what).to_owned(), *lines)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn long_functions_and_files() {
        check("a.rs", &long_function("f", 70), &[]);
        check("a.rs", &long_function("f", 71), &[("function a.rs::f", 71)]);
        check("a/tests/a.rs", &long_function("f", 90), &[]);
        check("a/tests/a.rs", &"use x;\n".repeat(701), &[("file a/tests/a.rs", 701)]);
        check("a/tests.rs", &"use x;\n".repeat(700), &[]);
        check("a.rs", &format!("#[cfg(test)]\nmod tests {{\n{}}}\n", long_function("f", 90)), &[]);
        check("a.rs", &"use x;\n".repeat(701), &[("file a.rs", 701)]);
        check("a.rs", &format!("{}#[cfg(test)]\nmod t {{\n}}\n", "use x;\n".repeat(700)), &[]);
    }

    #[test]
    fn functions_without_body_and_as_types() {
        let code = "trait T { fn a(&self) -> [u8; 2]; fn b(x: fn (u8) -> u8) {} }\nimpl F { fn c() where A: B {\n} }";
        let found: Vec<_> = functions(code).iter().map(|function| (function.name, function.lines)).collect();
        assert_eq!(found, [("b", 1), ("c", 2)]);
    }

    fn check_judged(lines: usize, exceptions: &str, expected: &[&str]) {
        let exceptions = parse_exceptions(exceptions).expect("a list");
        let found =
            if lines > 70 { vec![TooLong { what: "function a.rs::f".into(), lines }] } else { Vec::new() };
        let said = judge(&found, &exceptions);
        assert_eq!(said.len(), expected.len(), "{said:?}");
        assert!(said.iter().zip(expected).all(|(said, part)| said.contains(part)), "{said:?}");
    }

    #[test]
    fn the_list_may_only_get_shorter() {
        check_judged(80, "", &["more than 70"]);
        check_judged(80, "# known\nfunction a.rs::f 80\n", &[]);
        check_judged(81, "function a.rs::f 80", &["has grown from 80 to 81"]);
        check_judged(60, "function a.rs::f 80", &["remove it"]);
        assert!(parse_exceptions("function a.rs::f many").is_err());
    }
}
