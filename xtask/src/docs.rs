//! The docs hang together: links to files lead somewhere, the summary lists each page, and each command does what stands
//! there ([`commands`]).

mod commands;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::Result;

/// Tries the commands of all pages.
///
/// # Errors
/// Those that do not do what stands there.
pub fn try_commands(root: &Path) -> Result<()> {
    let mut pages = markdown_in(&root.join("docs/src"))?;
    pages.extend(markdown_directly_in(root)?.into_iter().filter(|page| !page.ends_with("CHANGELOG.md")));
    let name = |page: &PathBuf| page.strip_prefix(root).unwrap_or(page).display().to_string();
    let texts: Result<Vec<_>> = pages.iter().map(|page| Ok((name(page), read(page)?))).collect();
    commands::run(root, &texts?)
}

/// Fails with all that is wrong, one line each.
pub fn run(root: &Path) -> Result<()> {
    let book = root.join("docs/src");
    let mut pages = markdown_in(&book)?;
    let mut problems = unlisted(&book, &pages)?;
    pages.extend(markdown_directly_in(root)?);
    for page in &pages {
        problems.extend(broken_links(root, page)?);
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!("docs: {} problems\n{}", problems.len(), problems.join("\n")))
}

/// Pages that the summary does not list.
fn unlisted(book: &Path, pages: &[PathBuf]) -> Result<Vec<String>> {
    let summary = book.join("SUMMARY.md");
    if !summary.exists() {
        return Ok(vec!["docs/src/SUMMARY.md is missing: mdBook makes the book of it".into()]);
    }
    let listed: BTreeSet<PathBuf> =
        links(&read(&summary)?).iter().map(|link| plain(&book.join(without_anchor(link).0))).collect();
    let unlisted = pages.iter().filter(|page| **page != summary && !listed.contains(*page));
    Ok(unlisted.map(|page| format!("{} is not listed in docs/src/SUMMARY.md", page.display())).collect())
}

fn broken_links(root: &Path, page: &Path) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let text = read(page)?;
    let name = page.strip_prefix(root).unwrap_or(page).display();
    for link in links(&text).iter().filter(|link| !is_elsewhere(link)) {
        let (file, anchor) = without_anchor(link);
        let target = if file.is_empty() { page.to_owned() } else { page.with_file_name("").join(file) };
        if !target.exists() {
            problems.push(format!("{name}: the link to {link} leads nowhere"));
        } else if let Some(anchor) = anchor
            && target.extension().is_some_and(|extension| extension == "md")
            && !anchors(&read(&target)?).contains(anchor)
        {
            problems.push(format!("{name}: {link}: there is no such heading"));
        }
    }
    Ok(problems)
}

/// Targets of the links and images in a page, code left out.
fn links(text: &str) -> Vec<String> {
    let text = without_code(text);
    let mut found = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("](") {
        rest = &rest[at + 2..];
        let end = rest.find([')', '\n']).unwrap_or(rest.len());
        // A title may follow the target.
        if let Some(target) = rest[..end].split_whitespace().next() {
            found.push(target.trim_matches(['<', '>']).to_owned());
        }
        rest = &rest[end..];
    }
    found
}

/// Fenced blocks and `spans` of code hold examples, not links.
fn without_code(text: &str) -> String {
    let mut kept = String::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // Every second part of a line stands between backticks.
            kept.extend(line.split('`').step_by(2));
            kept.push('\n');
        }
    }
    kept
}

/// The anchors of a page's headings, made as mdBook and GitHub make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if !fenced && line.starts_with('#') {
            found.insert(anchor(line.trim_start_matches('#').trim()));
        }
    }
    found
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

fn without_anchor(link: &str) -> (&str, Option<&str>) {
    link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)))
}

fn is_elsewhere(link: &str) -> bool {
    link.contains("://") || link.starts_with("mailto:")
}

fn markdown_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = markdown_directly_in(folder)?;
    for inner in entries(folder)?.into_iter().filter(|entry| entry.is_dir()) {
        found.extend(markdown_in(&inner)?);
    }
    Ok(found)
}

fn markdown_directly_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_markdown = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    Ok(entries(folder)?.into_iter().filter(is_markdown).collect())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = |error: std::io::Error| format!("{} cannot be read: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        found.push(entry.map_err(cannot)?.path());
    }
    found.sort();
    Ok(found)
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

/// The path without `.` and `..`, so that two paths to one file are equal.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "See [a](a.md), ![b](img/b.png \"title\") and `[no](no.md)`.\n```\n[no](no.md)\n```\n[c](<c.md#x>)";
        assert_eq!(links(text), ["a.md", "img/b.png", "c.md#x"]);
    }

    #[test]
    fn headings_become_anchors() {
        let text = "# The JSON report\n```\n# no\n```\n## `counts`: the clients' counters\n## 运行 一次";
        let expected = ["the-json-report", "counts-the-clients-counters", "运行-一次"];
        assert_eq!(anchors(text), expected.iter().map(ToString::to_string).collect());
    }

    /// A book of two pages, a README, and what is said of them.
    fn check(summary: &str, page: &str, readme: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let book = folder.path().join("docs/src");
        fs::create_dir_all(&book).expect("created");
        fs::write(book.join("SUMMARY.md"), summary).expect("written");
        fs::write(book.join("page.md"), page).expect("written");
        fs::write(folder.path().join("README.md"), readme).expect("written");
        let said = run(folder.path()).err().unwrap_or_default();
        assert_eq!(said.lines().skip(1).count(), expected.len(), "{said}");
        for part in expected {
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        check("[Page](./page.md)", "# One", "[p](docs/src/page.md#one) [w](https://example.com/none)", &[]);
        check("", "", "", &["page.md is not listed"]);
        check(
            "[Page](page.md)",
            "[x](gone.md)",
            "",
            &["docs/src/page.md: the link to gone.md leads nowhere"],
        );
        check("[Page](page.md)", "# One", "[p](docs/src/page.md#two)", &["README.md: docs/src/page.md#two"]);
    }
}
