//! Rules for manifests: the table of who may use whom (design.md section 3), and a line of why for each dependency.

use super::File;
use crate::Result;

/// Who may use which of ours; a crate exists only where there is a rule the compiler should keep, and this is half of it.
const MAY_USE: &[(&str, &[&str])] = &[
    ("breach", &[]),
    ("markup", &[]),
    ("plan", &["markup"]),
    ("measure", &["breach"]),
    ("wire", &["breach"]),
    ("net", &[]),
    ("transport", &["wire", "net"]),
    ("load", &["breach", "plan", "markup", "measure", "wire", "net", "transport"]),
    ("jmscript", &["markup"]),
    ("script", &["plan", "measure", "wire", "load"]),
    ("origin", &["breach", "plan", "measure", "wire", "net", "transport"]),
    ("cli", &["plan"]),
    ("jmeter", &["plan", "markup"]),
    ("har", &["plan"]),
    ("foreign", &["plan"]),
    ("report", &["breach", "plan", "measure"]),
    ("record", &["measure"]),
    ("recording", &["plan"]),
    ("decide", &["breach", "plan", "measure"]),
    ("fleet", &["plan", "measure"]),
    (
        "session",
        &[
            "plan",
            "measure",
            "fleet",
            "wire",
            "net",
            "transport",
            "load",
            "script",
            "origin",
            "report",
            "record",
        ],
    ),
    ("proxies", &["plan", "wire", "net", "transport", "har"]),
    ("console", &["plan", "measure", "net", "report", "session"]),
    (
        "tools",
        &["plan", "foreign", "measure", "load", "jmeter", "jmscript", "report", "session", "cli", "console"],
    ),
    (
        "wringer",
        &[
            "plan",
            "measure",
            "wire",
            "net",
            "origin",
            "cli",
            "tools",
            "console",
            "decide",
            "jmeter",
            "har",
            "foreign",
            "report",
            "record",
            "recording",
            "fleet",
            "session",
            "proxies",
        ],
    ),
];

/// Dependencies of one of our crates on another against the table. What only its tests use is free.
pub fn forbidden(manifest: &File) -> Result<Vec<String>> {
    let table: toml::Table = manifest.text.parse().map_err(|error| format!("{}: {error}", manifest.name))?;
    let Some(name) =
        table.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str)
    else {
        return Ok(Vec::new());
    };
    if name == "xtask" {
        return Ok(uses(&table).iter().filter(|used| is_ours(used)).map(|used| xtask_uses(used)).collect());
    }
    let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| *known == name) else {
        return Ok(vec![format!(
            "{}: the crate {name} is not in the table of xtask/src/tidy/manifest.rs",
            manifest.name
        )]);
    };
    let uses = uses(&table);
    let wrong = uses.iter().filter(|used| is_ours(used) && !allowed.contains(&used.as_str()));
    Ok(wrong.map(|used| against_the_table(name, used, allowed)).collect())
}

fn is_ours(name: &str) -> bool {
    MAY_USE.iter().any(|(ours, _)| *ours == name)
}

fn xtask_uses(used: &str) -> String {
    format!(
        "xtask/Cargo.toml: xtask uses {used}, but it should build fast and judge the product from outside"
    )
}

fn against_the_table(name: &str, used: &str, allowed: &[&str]) -> String {
    let allowed = if allowed.is_empty() { "none of ours".to_owned() } else { allowed.join(", ") };
    format!(
        "crates/{name}/Cargo.toml: {name} uses {used}, but may use {allowed} (the table of crates in ARCHITECTURE.md)"
    )
}

/// Names of the packages that the code of a crate can import, those of single platforms included.
fn uses(table: &toml::Table) -> Vec<String> {
    let platforms = table.get("target").and_then(toml::Value::as_table);
    let tables = std::iter::once(table)
        .chain(platforms.into_iter().flat_map(|all| all.values().filter_map(toml::Value::as_table)));
    let mut names = Vec::new();
    for table in tables {
        for section in ["dependencies", "build-dependencies"] {
            let entries = table.get(section).and_then(toml::Value::as_table);
            names.extend(entries.into_iter().flatten().map(|(key, value)| package_of(key, value)));
        }
    }
    names
}

/// A dependency may be renamed: `other = { package = "net" }`.
fn package_of(key: &str, value: &toml::Value) -> String {
    value.get("package").and_then(toml::Value::as_str).unwrap_or(key).to_owned()
}

/// Libraries without a line of why above their group. Ours need none, and what the workspace declares has its line there.
pub fn unreasoned(manifest: &File) -> Vec<String> {
    let mut problems = Vec::new();
    let mut in_dependencies = false;
    let mut has_reason = false;
    for (number, line) in (1..).zip(manifest.text.lines()) {
        if line.starts_with('[') {
            (in_dependencies, has_reason) = (line.contains("dependencies"), false);
        } else if line.starts_with('#') {
            has_reason = true;
        } else if line.trim().is_empty() {
            has_reason = false;
        } else if in_dependencies && !has_reason && declares_library(line) {
            let name = line.split(['=', '.', ' ']).next().unwrap_or(line);
            problems.push(format!(
                "{}:{number}: {name} has no comment above its group that says why",
                manifest.name
            ));
        }
    }
    problems
}

fn declares_library(line: &str) -> bool {
    let starts_entry = line.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '"');
    let declared_elsewhere = line.contains("workspace = true") || line.contains("path = ");
    starts_entry && line.contains('=') && !declared_elsewhere
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str, text: &str) -> File {
        File { name: name.to_owned(), text: text.to_owned() }
    }

    fn check_uses(text: &str, expected: &[&str]) {
        let said = forbidden(&manifest("crates/x/Cargo.toml", text)).expect("a manifest");
        assert_eq!(said.len(), expected.len(), "{said:?}");
        for (said, part) in said.iter().zip(expected) {
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn crates_keep_to_the_table() {
        let cli = "[package]\nname = \"cli\"\n";
        check_uses(&format!("{cli}[dependencies]\nplan.workspace = true\nclap.workspace = true"), &[]);
        check_uses(
            &format!("{cli}[dependencies]\nload.workspace = true"),
            &["cli uses load, but may use plan"],
        );
        check_uses(&format!("{cli}[dependencies]\nx = {{ package = \"net\" }}"), &["cli uses net"]);
        check_uses(
            &format!("{cli}[target.'cfg(unix)'.dependencies]\nwire.workspace = true"),
            &["cli uses wire"],
        );
        check_uses(&format!("{cli}[dev-dependencies]\nload.workspace = true"), &[]);
        check_uses(
            "[package]\nname = \"markup\"\n[dependencies]\nmeasure.workspace = true",
            &["may use none of ours"],
        );
        check_uses("[package]\nname = \"unknown\"", &["unknown is not in the table"]);
        check_uses(
            "[package]\nname = \"xtask\"\n[dependencies]\nplan.workspace = true",
            &["xtask uses plan"],
        );
        check_uses("[workspace]\nmembers = []", &[]);
    }

    #[test]
    fn libraries_have_a_reason() {
        let text = "[workspace.dependencies]\nplan = { path = \"crates/plan\" }\n\n# Why.\nserde = \"1\"\nurl = \"2\"\n\nslab = \"0.4\"\n";
        let said = unreasoned(&manifest("Cargo.toml", text));
        assert_eq!(said, ["Cargo.toml:8: slab has no comment above its group that says why"]);
        let text = "[package]\nname = \"x\"\n[dependencies]\nserde.workspace = true\n[dev-dependencies]\nrand = \"1\"";
        assert_eq!(unreasoned(&manifest("x", text)).len(), 1);
    }
}
