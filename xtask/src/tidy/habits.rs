//! Habits that hide faults, counted over the code of the crates, tests left out: tuples that pass a limit of arguments, two bindings
//! in one `let` that are not one thing, `unwrap_or_default()` where an assertion may be meant, and names that more than three types share.
//! How many of each are still there stands in a list whose numbers may only fall.

use std::collections::BTreeMap;

use super::{File, lengths, source};
use crate::Result;

/// The list.
pub const CEILINGS: &str = "xtask/tidy-habits.txt";

/// Types that may share a name.
const NAMESAKES: usize = 3;

/// A habit: its name in the list, how often it is in a text of code, and what to do instead.
struct Habit {
    name: &'static str,
    count: fn(&str) -> usize,
    instead: &'static str,
}

const HABITS: [Habit; 3] = [
    Habit {
        name: "tuple parameters",
        count: tuple_parameters,
        instead: "give each part a name of its own, or make them a struct if they are one thing",
    },
    Habit { name: "pairs bound at once", count: pairs, instead: "write a let for each" },
    Habit {
        name: "unwrap_or_default",
        count: |code| code.matches("unwrap_or_default()").count(),
        instead: "say what the default means, or assert with expect(\"why\") what must be there",
    },
];

/// The name of the fourth habit in the list.
const SHARED_NAMES: &str = "names of more than three types";

/// How often each habit is in these files.
pub fn counted(files: &[File]) -> BTreeMap<&'static str, usize> {
    let texts: Vec<String> =
        files.iter().filter(|file| is_judged(file)).map(|file| outside_tests(&file.text)).collect();
    let of = |habit: &Habit| texts.iter().map(|text| (habit.count)(text)).sum();
    let mut found: BTreeMap<&str, usize> = HABITS.iter().map(|habit| (habit.name, of(habit))).collect();
    let mut types: BTreeMap<&str, usize> = BTreeMap::new();
    texts.iter().flat_map(|text| types_of(text)).for_each(|name| *types.entry(name).or_default() += 1);
    found.insert(SHARED_NAMES, types.values().filter(|count| **count > NAMESAKES).count());
    found
}

fn is_judged(file: &File) -> bool {
    file.name.starts_with("crates/") && file.name.contains("/src/") && !lengths::is_test(&file.name)
}

/// The code of a file, without that of its tests.
fn outside_tests(text: &str) -> String {
    let code = source::code_only(text);
    let tests = source::test_lines(&code);
    let kept = (1..).zip(code.lines()).filter(|(line, _)| !tests.iter().any(|test| test.contains(line)));
    kept.map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// Parameters of functions that are tuples, whatever they are called.
fn tuple_parameters(code: &str) -> usize {
    let starts = code
        .match_indices("fn ")
        .filter(|(at, _)| *at == 0 || !code.as_bytes()[at - 1].is_ascii_alphanumeric());
    starts
        .map(|(at, _)| parameters(&code[at..]).into_iter().filter(|parameter| is_tuple(parameter)).count())
        .sum()
}

/// The parameters of the function that a text begins with.
fn parameters(code: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut found = Vec::new();
    let mut from = None;
    let mut angles = 0_usize;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'<' if from.is_none() => angles += 1,
            b'>' if from.is_none() && !code[..at].ends_with('-') => angles = angles.saturating_sub(1),
            b'(' if from.is_none() && angles == 0 => (depth, from) = (1, Some(at + 1)),
            b'(' | b'[' | b'<' if from.is_some() => depth += 1,
            // The arrow of a closure's type closes nothing.
            b'>' if code[..at].ends_with('-') => {}
            b')' | b']' | b'>' if from.is_some() => {
                depth -= 1;
                if depth == 0 {
                    found.extend(from.map(|from| &code[from..at]));
                    return found;
                }
            }
            b',' if depth == 1 => {
                found.extend(from.map(|from| &code[from..at]));
                from = Some(at + 1);
            }
            b'{' | b';' if from.is_none() => return found,
            _ => {}
        }
    }
    found
}

/// True if a parameter's pattern or type is a tuple.
fn is_tuple(parameter: &str) -> bool {
    let opens = |text: &str| {
        let inner = text.trim_start().trim_start_matches(['&', ' ']).trim_start_matches("mut ");
        inner.strip_prefix('(').is_some_and(|inner| {
            let inner = inner.trim_start();
            !inner.starts_with("impl ") && !inner.starts_with("dyn ") && inner.contains(',')
        })
    };
    let (pattern, typed) = parameter.split_once(": ").unwrap_or((parameter, ""));
    opens(pattern) || opens(typed)
}

/// Bindings of a tuple that is written out beside them. A pattern that may fail is a question about two things at once, and no such pair.
fn pairs(code: &str) -> usize {
    let starts = code.match_indices("let (");
    starts
        .filter(|(at, _)| {
            let line = code[at + "let ".len()..].lines().next().unwrap_or("");
            let pair = line.split_once(" = ").filter(|(_, value)| value.starts_with('('));
            pair.is_some_and(|(pattern, _)| {
                pattern.chars().all(|letter| letter == ' ' || is_of_names(letter))
            })
        })
        .count()
}

/// True for letters of a pattern that binds names and asks nothing.
fn is_of_names(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '_' | ',' | '(' | ')')
}

/// The names of the types that a text declares.
fn types_of(code: &str) -> Vec<&str> {
    let declared = |line: &'_ str| {
        let mut words =
            source::words(line).skip_while(|word| matches!(*word, "pub" | "crate" | "super" | "in"));
        let kind = words.next();
        (matches!(kind, Some("struct" | "enum"))).then(|| words.next()).flatten().map(str::len)
    };
    // A name is cut from the line itself, so that it lives as long as the text.
    code.lines()
        .filter_map(|line| {
            let long = declared(line)?;
            let at = line.find("struct ").map(|at| at + 7).or_else(|| line.find("enum ").map(|at| at + 5))?;
            line.get(at..at + long)
        })
        .collect()
}

/// The list: a habit and a number each line.
///
/// # Errors
/// A line that is neither, or a habit that nobody counts.
pub fn parse_ceilings(text: &str) -> Result<BTreeMap<String, usize>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let mut found = BTreeMap::new();
    for line in lines {
        let entry =
            line.rsplit_once(": ").and_then(|(name, most)| Some((name.to_owned(), most.parse().ok()?)));
        let (name, most) = entry.ok_or_else(|| format!("{CEILINGS}: '{line}' is not 'HABIT: NUMBER'"))?;
        found.insert(name, most);
    }
    Ok(found)
}

/// Habits that have grown, and numbers that can fall.
pub fn judge(counted: &BTreeMap<&str, usize>, ceilings: &BTreeMap<String, usize>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, count) in counted {
        let most = ceilings.get(*name).copied().unwrap_or(0);
        if *count > most {
            let habit = HABITS.iter().find(|habit| habit.name == *name);
            let instead = habit.map_or("find a name that says more", |habit| habit.instead);
            problems.push(format!("{name}: {count}, and {CEILINGS} allows {most}: {instead}"));
        } else if *count < most {
            problems.push(format!(
                "{name}: {count} are left: write that number into {CEILINGS} in place of {most}"
            ));
        }
    }
    let unknown = ceilings.keys().filter(|name| !counted.contains_key(name.as_str()));
    problems.extend(unknown.map(|name| format!("{CEILINGS}: nobody counts '{name}'")));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_among_parameters_are_found_and_nothing_else() {
        for (code, count) in [
            ("fn a(b: u8, (c, d): (u8, u8)) {}", 1),
            ("fn a(b: (u8, u8), c: &(u8, u8)) -> (u8, u8) {}", 2),
            (
                "fn a(&mut self, f: impl Fn(u8, u8) -> (u8, u8), x: &(impl A + B), y: &(dyn A + Send), u: ()) {}",
                0,
            ),
            ("fn a<T: Fn((u8, u8))>(b: Vec<(u8, u8)>, Some(c): Option<(u8, u8)>) {}", 0),
            ("type A = fn(u8, (u8, u8));", 0),
            ("let when = 1; const fn a(\n    (b,\n c): (u8,\n u8),\n) {}", 1),
        ] {
            assert_eq!(tuple_parameters(code), count, "{code}");
        }
    }

    #[test]
    fn pairs_are_those_that_are_written_out() {
        for (code, count) in [
            ("let (a, b) = (1, 2);", 1),
            ("let (mut a, (_, b2)) = (x, f());", 1),
            ("let (a, b) = f();", 0),
            ("if let (Some(a), b) = (x, y) {", 0),
        ] {
            assert_eq!(pairs(code), count, "{code}");
        }
    }

    #[test]
    fn tests_and_comments_do_not_count() {
        let text = "// x.unwrap_or_default()\nfn a() { x.unwrap_or_default() }\n#[cfg(test)]\nmod tests {\n fn b() { x.unwrap_or_default() }\n}\n";
        let file = |name: &str| File { name: name.to_owned(), text: text.to_owned() };
        let files = [
            file("crates/x/src/a.rs"),
            file("crates/x/tests/a.rs"),
            file("crates/x/src/tests.rs"),
            file("xtask/src/a.rs"),
        ];
        assert_eq!(counted(&files)["unwrap_or_default"], 1);
    }

    #[test]
    fn names_count_where_more_than_three_types_share_them() {
        let text = "pub struct Error;\npub(crate) enum Error {\n}\nstruct Error {}\n struct Other;\nstruct Error<'a>(&'a u8);\n";
        let file = File { name: "crates/x/src/a.rs".to_owned(), text: text.to_owned() };
        assert_eq!(counted(&[file])[SHARED_NAMES], 1);
    }

    #[test]
    fn numbers_may_only_fall() {
        let counted = BTreeMap::from([("a", 2), ("b", 1), ("c", 3)]);
        let ceilings = parse_ceilings("# why\na: 1\nb: 2\nc: 3\nd: 4\n").expect("a list");
        let said = judge(&counted, &ceilings);
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(
            said[0].starts_with("a: 2, and")
                && said[1].starts_with("b: 1 are left")
                && said[2].contains("'d'")
        );
        assert!(parse_ceilings("a 1").is_err());
    }
}
