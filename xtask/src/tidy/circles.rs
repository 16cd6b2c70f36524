//! Circles between the top-level modules of a crate: modules that cannot be understood, or changed, one without the others.
//!
//! Read from the source: what a file names by `crate::`, `super::` or `use` belongs to the top-level module where it is
//! defined; what the crate's root re-exports belongs to the module that it comes from. Tests may reach wherever they like.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, source};
use crate::Result;

pub const EXCEPTIONS: &str = "xtask/tidy-circles.txt";

/// Modules, and those that each of them uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Modules of one crate that form a circle, in the order of their names.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Circle {
    krate: String,
    modules: Vec<String>,
    /// Who uses whom among them.
    uses: Uses,
}

/// The circles of all crates.
pub fn circles(files: &[File]) -> Vec<Circle> {
    let mut crates: BTreeMap<&str, Vec<Module<'_>>> = BTreeMap::new();
    for file in files {
        if let Some((krate, module)) = Module::of(file) {
            crates.entry(krate).or_default().push(module);
        }
    }
    crates.into_iter().flat_map(|(krate, modules)| of_crate(krate, &modules)).collect()
}

/// A source file as a module of its crate.
struct Module<'a> {
    /// Its path from the root of the crate, which has none.
    path: Vec<&'a str>,
    code: String,
}

impl<'a> Module<'a> {
    /// The crate and the module that a file is; `None` for tests and what belongs to no crate.
    fn of(file: &'a File) -> Option<(&'a str, Module<'a>)> {
        let (krate, rest) = match file.name.strip_prefix("crates/") {
            Some(rest) => rest.split_once("/src/")?,
            None => ("xtask", file.name.strip_prefix("xtask/src/")?),
        };
        let mut path: Vec<&str> = rest.strip_suffix(".rs")?.split('/').collect();
        path.pop_if(|last| matches!(*last, "mod" | "lib" | "main"));
        let is_test = path.iter().any(|name| matches!(*name, "test" | "tests"));
        let code = || without_tests(&with_attributes(&file.text));
        (!is_test).then(|| (krate, Module { path, code: code() }))
    }

    /// The paths that it names, from the root of the crate.
    fn names(&self) -> Vec<Vec<String>> {
        let mut found: Vec<Vec<&str>> = Vec::new();
        for tree in statements(&self.code) {
            expand(&[], tree, &mut found);
        }
        found.extend(inline(&self.code));
        found.iter().filter_map(|path| self.absolute(path)).collect()
    }

    /// A path as it is from the root; `None` for one of another crate, or of this module's own parts.
    fn absolute(&self, path: &[&str]) -> Option<Vec<String>> {
        let ups = path.iter().take_while(|part| **part == "super").count();
        let base = match *path.first()? {
            "crate" => return Some(path[1..].iter().map(ToString::to_string).collect()),
            "super" => self.path.get(..self.path.len().checked_sub(ups)?)?,
            // In the root, a `use` may begin with a module's name alone.
            _ if self.path.is_empty() => return Some(path.iter().map(ToString::to_string).collect()),
            _ => return None,
        };
        Some(base.iter().chain(&path[ups..]).map(ToString::to_string).collect())
    }
}

/// The code, with the paths that attributes quote, as in `#[serde(with = "crate::a")]`.
fn with_attributes(text: &str) -> String {
    let mut code = source::code_only(text).into_bytes();
    for word in ["with", "default", "skip_serializing_if"] {
        for (at, found) in text.match_indices(&format!("{word} = \"")) {
            let from = at + found.len();
            // Of what is quoted or a comment, the word itself is blank.
            if code[at..].starts_with(word.as_bytes())
                && let Some(length) = text[from..].find('"')
            {
                code[from..from + length].copy_from_slice(&text.as_bytes()[from..from + length]);
            }
        }
    }
    String::from_utf8_lossy(&code).into_owned()
}

/// The code up to the first module of tests.
fn without_tests(code: &str) -> String {
    let tests = source::test_lines(code);
    let kept = (1..).zip(code.lines()).filter(|(number, _)| !tests.iter().any(|test| test.contains(number)));
    kept.flat_map(|(_, line)| [line, "\n"]).collect()
}

/// Returns the text that follows each `use`, up to its semicolon.
fn statements(code: &str) -> impl Iterator<Item = &str> {
    code.match_indices("use ").filter_map(|(at, word)| {
        let is_word = code[..at].chars().next_back().is_none_or(char::is_whitespace);
        let rest = &code[at + word.len()..];
        is_word.then(|| rest.find(';').map(|end| rest[..end].trim())).flatten()
    })
}

/// The paths of a tree as in `a::{b, c::{d, e as f}}`.
fn expand<'a>(before: &[&'a str], tree: &'a str, found: &mut Vec<Vec<&'a str>>) {
    let tree = tree.trim();
    let Some((stem, branches)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        found.push(before.iter().copied().chain(parts(path)).collect());
        return;
    };
    let before: Vec<&str> = before.iter().copied().chain(parts(stem)).collect();
    let branches = branches.trim_end().strip_suffix('}').unwrap_or(branches);
    let mut depth = 0_usize;
    let mut from = 0;
    for (at, byte) in branches.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                expand(&before, &branches[from..at], found);
                from = at + 1;
            }
            _ => {}
        }
    }
    if !branches[from..].trim().is_empty() {
        expand(&before, &branches[from..], found);
    }
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split("::").map(str::trim).filter(|part| !part.is_empty())
}

/// Paths that begin with `crate::` or `super::` anywhere in the code.
fn inline(code: &str) -> impl Iterator<Item = Vec<&str>> {
    let starts = ["crate::", "super::"].into_iter().flat_map(|word| code.match_indices(word));
    starts.filter_map(|(at, _)| {
        let is_first = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        let rest = &code[at..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':'))).unwrap_or(rest.len());
        is_first.then(|| parts(&rest[..end]).collect())
    })
}

fn of_crate(krate: &str, modules: &[Module<'_>]) -> Vec<Circle> {
    let tops: BTreeSet<&str> = modules.iter().filter_map(|module| module.path.first().copied()).collect();
    let exported = exports(modules, &tops);
    let mut uses = Uses::new();
    for module in modules {
        let Some(own) = module.path.first() else { continue };
        for path in module.names() {
            let first = path.first().map(String::as_str);
            let top = first.filter(|first| tops.contains(first));
            if let Some(top) = top.or_else(|| exported.get(first?).copied()).filter(|top| top != own) {
                uses.entry((*own).to_owned()).or_default().insert(top.to_owned());
            }
        }
    }
    circles_among(&uses).into_iter().map(|modules| Circle::new(krate, modules, &uses)).collect()
}

/// Returns the names that the root re-exports, and the module that each comes from.
fn exports<'a>(modules: &[Module<'_>], tops: &BTreeSet<&'a str>) -> BTreeMap<String, &'a str> {
    let root = modules.iter().filter(|module| module.path.is_empty());
    let paths = root.flat_map(Module::names);
    let named = paths.filter_map(|path| Some((path.last()?.clone(), *tops.get(path.first()?.as_str())?)));
    named.collect()
}

/// The sets of modules of which each leads to each other.
fn circles_among(uses: &Uses) -> Vec<Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        uses.keys().map(|from| (from, reachable(from, uses))).collect();
    let leads = |from: &String, to: &String| reach.get(from).is_some_and(|all| all.contains(to));
    let mut found: Vec<Vec<String>> = Vec::new();
    for module in uses.keys().filter(|module| leads(module, module)) {
        match found.iter_mut().find(|circle| leads(module, &circle[0]) && leads(&circle[0], module)) {
            Some(circle) => circle.push(module.clone()),
            None => found.push(vec![module.clone()]),
        }
    }
    found
}

fn reachable<'a>(from: &'a String, uses: &'a Uses) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        next.extend(uses.get(module).into_iter().flatten().filter(|to| found.insert(*to)));
    }
    found
}

impl Circle {
    fn new(krate: &str, modules: Vec<String>, uses: &Uses) -> Circle {
        let among = |from: &String| {
            let to = uses[from].iter().filter(|to| modules.contains(to)).cloned().collect();
            (from.clone(), to)
        };
        Circle { krate: krate.to_owned(), uses: modules.iter().map(among).collect(), modules }
    }

    /// The line that excuses it.
    fn line(&self) -> String {
        format!("{}: {}", self.krate, self.modules.join(" "))
    }

    fn shown(&self) -> String {
        let uses = self.uses.iter().map(|(from, to)| {
            let to: Vec<&str> = to.iter().map(String::as_str).collect();
            format!("  {from} uses {}", to.join(", "))
        });
        uses.collect::<Vec<_>>().join("\n")
    }
}

/// The excuses: a crate and its modules each line; `#` begins a comment.
pub fn parse_exceptions(text: &str) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in lines {
        let (krate, modules) = line
            .split_once(": ")
            .ok_or_else(|| format!("{EXCEPTIONS}: '{line}' is not 'CRATE: MODULE MODULE...'"))?;
        found.entry(krate.to_owned()).or_default().extend(modules.split_whitespace().map(ToOwned::to_owned));
    }
    Ok(found)
}

/// Circles that are not excused, and excuses that are no longer needed. A circle of fewer modules is excused as well.
pub fn judge(circles: &[Circle], exceptions: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut problems = Vec::new();
    for circle in circles {
        let excused = exceptions.get(&circle.krate);
        let new = circle.modules.iter().any(|module| excused.is_none_or(|known| !known.contains(module)));
        if new {
            problems.push(format!(
                "modules of {} use each other in a circle; move what they share into a module of its own\n{}",
                circle.line(),
                circle.shown()
            ));
        }
    }
    for (krate, modules) in exceptions {
        let known = |module: &String| {
            circles.iter().any(|circle| circle.krate == *krate && circle.modules.contains(module))
        };
        let stale = modules.iter().filter(|module| !known(module));
        problems.extend(
            stale.map(|module| format!("{krate}'s {module} is in no circle: remove it from {EXCEPTIONS}")),
        );
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> Vec<File> {
        let file = |(name, text): &(&str, &str)| File { name: (*name).to_owned(), text: (*text).to_owned() };
        files.iter().map(file).collect()
    }

    fn check(sources: &[(&str, &str)], expected: &[&str]) {
        let found: Vec<_> = circles(&files(sources)).iter().map(Circle::line).collect();
        assert_eq!(found, expected, "{sources:?}");
    }

    #[test]
    fn circles_are_found_however_they_are_written() {
        let b_to_a = ("crates/x/src/b.rs", "use crate::a::A;");
        for a in [
            "use crate::b::B;",
            "use super::b;",
            "use crate::{c, b::{self, B as C}};",
            "fn f() -> crate::b::B {}",
            "use crate::B;",
            "#[cfg_attr(test, schemars(with = \"Option<crate::b::B>\"))]",
            "#[serde(serialize_with = \"super::b::write\")]",
        ] {
            let root = ("crates/x/src/lib.rs", "mod a;\nmod b;\npub use b::{B, other::C};");
            check(&[("crates/x/src/a.rs", a), b_to_a, root], &["x: a b"]);
        }
        check(
            &[
                ("crates/x/src/a/deep/er.rs", "use super::super::super::b::B;"),
                ("crates/x/src/b/mod.rs", "use crate::c::C;"),
                ("crates/x/src/c.rs", "pub(crate) use crate::a::deep;"),
                ("crates/x/src/d.rs", "use crate::a::deep;"),
            ],
            &["x: a b c"],
        );
    }

    #[test]
    fn what_is_no_circle() {
        let b = ("crates/x/src/b.rs", "use crate::a::A;");
        for a in [
            "use crate::c::C; // crate::b",
            "use other::b::B;",
            "#[cfg(test)]\nmod tests {\n use crate::b::B;\n}",
            "use super::super::b;",
            "mod b;\nuse self::b::B;\nlet text = \"crate::b\";",
            "let text = \"with = 'crate::b'\"; // with = \"crate::b\"",
        ] {
            check(&[("crates/x/src/a.rs", a), b], &[]);
        }
        check(&[("crates/x/src/a/tests.rs", "use crate::b::B;"), b], &[]);
        check(&[("crates/x/src/a.rs", ""), ("crates/y/src/b.rs", "use crate::a::A;")], &[]);
    }

    fn check_judged(exceptions: &str, expected: &[&str]) {
        let sources = [("crates/x/src/a.rs", "use crate::b;"), ("crates/x/src/b.rs", "use crate::a;")];
        let exceptions = parse_exceptions(exceptions).expect("a list");
        let said = judge(&circles(&files(&sources)), &exceptions);
        assert_eq!(said.len(), expected.len(), "{said:?}");
        for (said, part) in said.iter().zip(expected) {
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn the_list_may_only_get_shorter() {
        check_judged("# why\n\nx: a b", &[]);
        check_judged("", &["modules of x: a b use each other"]);
        check_judged("x: a c", &["  a uses b\n  b uses a", "x's c is in no circle: remove it"]);
        assert!(parse_exceptions("x").is_err());
    }
}
