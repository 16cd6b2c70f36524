//! The licences of all crates that the program is built with, as their own files say them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::Result;
use crate::crates::Crate;

/// Beginnings of the names of files that say how a crate may be used.
const NAMES: [&str; 5] = ["LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

const LINE: &str = "--------------------------------------------------------------------------------";

/// A text for people: which crates, then each licence once, with the crates that have it.
pub fn text(crates: &[Crate]) -> Result<String> {
    let used: Vec<&Crate> = crates.iter().filter(|one| one.in_program).collect();
    let mut shared: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for one in &used {
        let named = format!("{} {}", one.name, one.version);
        let texts = texts(&one.folder)?;
        if texts.is_empty() {
            without.push(format!("{named}: {}", one.licence));
        }
        for text in texts {
            shared.entry(text).or_default().push(named.clone());
        }
    }
    let mut all =
        format!("wringer is built with {} crates of others. These are their licences.\n", used.len());
    for one in &used {
        all += &format!("  {} {}: {}\n", one.name, one.version, one.licence);
    }
    if !without.is_empty() {
        all += "\nThese have no file with their licence; their manifests name it:\n";
        without.iter().for_each(|line| all += &format!("  {line}\n"));
    }
    for (text, crates) in shared {
        all += &format!("\n{LINE}\n{}\n{LINE}\n\n{}\n", crates.join(", "), text.trim_end());
    }
    Ok(all)
}

/// The texts of a crate's files, those that differ in line ends alone as one.
fn texts(folder: &Path) -> Result<Vec<String>> {
    let cannot = |error: std::io::Error| format!("{} cannot be read: {error}", folder.display());
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if NAMES.iter().any(|beginning| name.starts_with(beginning)) && entry.path().is_file() {
            let bytes = fs::read(entry.path()).map_err(cannot)?;
            texts.push(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"));
        }
    }
    texts.sort();
    texts.dedup();
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_folder(folder: &Path, name: &str, licence: Option<&str>, in_program: bool) -> Crate {
        let folder = folder.join(name);
        fs::create_dir(&folder).unwrap();
        licence.into_iter().for_each(|text| fs::write(folder.join("LICENSE-MIT"), text).unwrap());
        Crate {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: "MIT".to_owned(),
            source: None,
            folder,
            in_program,
        }
    }

    #[test]
    fn each_text_stands_once_with_the_crates_that_have_it() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name, licence, in_program| in_folder(folder.path(), name, licence, in_program);
        let crates = [
            make("a", Some("Copyright A\n"), true),
            make("b", Some("Copyright A\r\n"), true),
            make("c", None, true),
            make("d", Some("Copyright D"), false),
        ];
        let text = text(&crates).unwrap();
        assert!(text.starts_with("wringer is built with 3 crates"), "{text}");
        assert_eq!(text.matches("Copyright A").count(), 1, "{text}");
        assert!(text.contains(&format!("{LINE}\na 1.0.0, b 1.0.0\n{LINE}")), "{text}");
        assert!(text.contains("manifests name it:\n  c 1.0.0: MIT\n"), "{text}");
        assert!(!text.contains("Copyright D"), "{text}");
    }
}
