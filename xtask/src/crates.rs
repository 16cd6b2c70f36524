//! The crates that the workspace is built from, as `cargo metadata` tells them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Result, shell};

/// A crate that is not ours.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crate {
    pub name: String,
    pub version: String,
    /// The SPDX expression of its manifest; empty where it has none.
    pub licence: String,
    /// Where it comes from: a registry, or a repository of git; `None`: a folder.
    pub source: Option<String>,
    /// Where its files are.
    pub folder: PathBuf,
    /// The program is built with it, and not only tests and tools.
    pub in_program: bool,
}

/// All crates that are not ours, for this system. `package`: the program.
pub fn all(package: &str) -> Result<Vec<Crate>> {
    let target = shell::output(std::process::Command::new("rustc").args(["--print", "host-tuple"]))?;
    let mut metadata = shell::cargo(["metadata", "--format-version", "1", "--locked", "--filter-platform"]);
    let text = shell::output(metadata.arg(target.trim()))?;
    let metadata = serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
    read(&metadata, package)
}

fn read(metadata: &Value, package: &str) -> Result<Vec<Crate>> {
    let packages = list(metadata, "packages");
    let ours = list(metadata, "workspace_members");
    let root = packages.iter().find(|one| text(one, "name") == package && ours.contains(&one["id"]));
    let root = root.ok_or_else(|| format!("cargo metadata knows no {package}"))?;
    let in_program = reached(metadata, text(root, "id"));
    let foreign = packages.iter().filter(|one| !ours.contains(&one["id"]));
    let mut crates: Vec<Crate> = foreign
        .map(|one| Crate {
            name: text(one, "name").to_owned(),
            version: text(one, "version").to_owned(),
            licence: text(one, "license").to_owned(),
            source: one["source"].as_str().map(ToOwned::to_owned),
            folder: Path::new(text(one, "manifest_path")).parent().map(Path::to_owned).unwrap_or_default(),
            in_program: in_program.contains(text(one, "id")),
        })
        .collect();
    crates.sort();
    Ok(crates)
}

/// Ids of the packages that one is built with: its dependencies and theirs, without those of tests and of build scripts.
fn reached<'a>(metadata: &'a Value, root: &'a str) -> BTreeSet<&'a str> {
    let nodes = list(&metadata["resolve"], "nodes");
    let by_id: BTreeMap<&str, &Value> = nodes.iter().map(|node| (text(node, "id"), node)).collect();
    let mut found = BTreeSet::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        if !found.insert(id) {
            continue;
        }
        let used = by_id.get(id).map_or(&[][..], |node| list(node, "deps"));
        // The kind of an ordinary dependency is null.
        let is_ordinary = |used: &&Value| list(used, "dep_kinds").iter().any(|kind| kind["kind"].is_null());
        open.extend(used.iter().filter(is_ordinary).map(|used| text(used, "pkg")));
    }
    found
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_only_tests_need_is_not_in_the_program() {
        let package = |name: &str| {
            json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT", "source": "registry+x",
                   "manifest_path": format!("/crates/{name}/Cargo.toml")})
        };
        let uses = |id: &str, used: &[(&str, Value)]| {
            let deps: Vec<Value> =
                used.iter().map(|(pkg, kind)| json!({"pkg": pkg, "dep_kinds": [{"kind": kind}]})).collect();
            json!({"id": id, "deps": deps})
        };
        let metadata = json!({
            "packages": [package("tool"), package("a"), package("b"), package("c"), package("d")],
            "workspace_members": ["tool"],
            "resolve": {"nodes": [
                uses("tool", &[("a", Value::Null), ("c", json!("dev")), ("d", json!("build"))]),
                uses("a", &[("b", Value::Null)]), uses("b", &[]), uses("c", &[]), uses("d", &[]),
            ]},
        });
        let crates = read(&metadata, "tool").unwrap();
        let told: Vec<(&str, bool)> = crates.iter().map(|one| (one.name.as_str(), one.in_program)).collect();
        assert_eq!(told, [("a", true), ("b", true), ("c", false), ("d", false)]);
        assert_eq!(crates[0].folder, Path::new("/crates/a"));
        assert!(read(&metadata, "other").is_err());
    }
}
