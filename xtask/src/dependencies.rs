//! Rules for the crates of others: licences that are allowed, no repository of git as a source, and no crate in several versions
//! but those of `xtask/duplicate-crates.txt`, a list that may only get shorter.
//!
//! Advisories are not looked up: that takes a database from elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::crates::{self, Crate};
use crate::{Result, root};

/// Licences that ask for no more than their text beside a program, and MPL-2.0, which asks for the source of changed files of its own.
const ALLOWED: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

const DUPLICATES: &str = "xtask/duplicate-crates.txt";

/// `cargo xtask dependencies`.
pub fn run() -> Result<()> {
    let text = fs::read_to_string(root().join(DUPLICATES))
        .map_err(|error| format!("{DUPLICATES} cannot be read: {error}"))?;
    let crates = crates::all("wringer")?;
    let violations = violations(&crates, &text);
    if violations.is_empty() {
        println!("dependencies: {} crates of others, each with an allowed licence", crates.len());
        return Ok(());
    }
    Err(format!("dependencies:\n  {}", violations.join("\n  ")))
}

fn violations(crates: &[Crate], listed: &str) -> Vec<String> {
    let mut found = Vec::new();
    for one in crates {
        let named = format!("{} {}", one.name, one.version);
        if one.licence.is_empty() {
            found.push(format!("{named} names no licence: take another crate"));
        } else if !is_allowed(&one.licence) {
            found.push(format!(
                "{named} has the licence {}, which xtask/src/dependencies.rs does not allow: take another crate, or allow it there",
                one.licence
            ));
        }
        match one.source.as_deref() {
            Some(source) if source.starts_with("registry+") => {}
            Some(source) => {
                found.push(format!("{named} comes from {source}: take a release of the registry"))
            }
            None => found.push(format!(
                "{named} comes from a folder outside the workspace: take a release of the registry"
            )),
        }
    }
    found.extend(duplicates(crates, listed));
    found
}

fn duplicates(crates: &[Crate], listed: &str) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in crates {
        versions.entry(&one.name).or_default().insert(&one.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let lines = listed.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let listed: BTreeSet<&str> = lines.collect();
    let new = versions.iter().filter(|(name, _)| !listed.contains(*name)).map(|(name, versions)| {
        let versions: Vec<&str> = versions.iter().copied().collect();
        format!(
            "{name} is there in versions {}: find who asks for the older one, or add it to {DUPLICATES}",
            versions.join(", ")
        )
    });
    let gone = listed.iter().filter(|name| !versions.contains_key(*name));
    new.chain(gone.map(|name| format!("{DUPLICATES}: {name} is there once: take its line out"))).collect()
}

/// True if an SPDX expression can be kept with allowed licences alone. The `/` of old manifests means OR.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    let allowed = any(&mut rest);
    allowed && rest.is_empty()
}

/// Licences with OR between them, the weakest operator (SPDX specification, annex D).
fn any(rest: &mut &[&str]) -> bool {
    let mut allowed = all(rest);
    while let ["OR", more @ ..] = *rest {
        *rest = more;
        allowed |= all(rest);
    }
    allowed
}

fn all(rest: &mut &[&str]) -> bool {
    let mut allowed = one(rest);
    while let ["AND", more @ ..] = *rest {
        *rest = more;
        allowed &= one(rest);
    }
    allowed
}

fn one(rest: &mut &[&str]) -> bool {
    match *rest {
        ["(", inner @ ..] => {
            *rest = inner;
            let allowed = any(rest);
            if let [")", more @ ..] = *rest {
                *rest = more;
                return allowed;
            }
            false
        }
        [name, "WITH", exception, more @ ..] => {
            *rest = more;
            ALLOWED.contains(&format!("{name} WITH {exception}").as_str())
        }
        [name, more @ ..] => {
            *rest = more;
            ALLOWED.contains(name)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn named(name: &str, version: &str) -> Crate {
        Crate {
            name: name.to_owned(),
            version: version.to_owned(),
            licence: "MIT".to_owned(),
            source: Some("registry+somewhere".to_owned()),
            folder: PathBuf::new(),
            in_program: true,
        }
    }

    #[test]
    fn expressions_are_judged_by_what_can_be_kept() {
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("MIT AND (GPL-3.0 OR ISC)", true),
            ("GPL-3.0 OR ISC AND OpenSSL", false),
            ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("GPL-2.0 WITH Classpath-exception-2.0", false),
            ("(MIT", false),
            ("MIT ISC", false),
            ("", false),
        ] {
            assert_eq!(is_allowed(expression), expected, "{expression}");
        }
    }

    #[test]
    fn each_violation_names_its_crate() {
        let crates = [
            Crate { licence: "GPL-3.0".to_owned(), ..named("strict", "1.0.0") },
            Crate { licence: String::new(), ..named("silent", "1.0.0") },
            Crate { source: Some("git+ssh".to_owned()), ..named("forked", "1.0.0") },
            Crate { source: None, ..named("lying", "1.0.0") },
            named("twice", "1.0.0"),
            named("twice", "2.0.0"),
            named("known", "1.0.0"),
            named("known", "2.0.0"),
        ];
        let found = violations(&crates, "# why\nknown\nonce\n");
        let expected = ["strict", "silent", "forked", "lying", "twice", "once"];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (violation, name) in found.iter().zip(expected) {
            assert!(violation.contains(name), "{violation}");
        }
        assert!(violations(&[named("good", "1.0.0")], "").is_empty());
    }
}
