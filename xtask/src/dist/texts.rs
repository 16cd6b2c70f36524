//! Texts that package managers read elsewhere: a formula of Homebrew, a package of Nix, and the digests of all files.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

use super::{layout, project};
use crate::Result;

/// Texts with places to fill, and their names in the folder of packages.
const TEXTS: [(&str, &str); 2] =
    [("packaging/homebrew/wringer.rb", "wringer.rb"), ("packaging/nix/package.nix", "wringer.nix")];

/// Digests of the files beside it, as `sha256sum --check` reads them.
pub const SUMS: &str = "SHA256SUMS";

/// Fills the texts in: version, and digest and address of the archive.
pub fn fill(folder: &Path, archive: &Path, version: &str) -> Result<Vec<PathBuf>> {
    let digest = digest(archive)?;
    let sri = format!("sha256-{}", BASE64_STANDARD.encode(&digest));
    let name = archive.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let values = [("@VERSION@", version), ("@SHA256@", &hex(&digest)), ("@SRI@", &sri), ("@ARCHIVE@", &name)];
    let mut made = Vec::new();
    for (from, to) in TEXTS {
        let file = project(from);
        let text = fs::read_to_string(&file).map_err(|error| format!("{from} cannot be read: {error}"))?;
        let text = filled(&text, &values).map_err(|place| format!("{from}: nothing is known of {place}"))?;
        let to = folder.join(to);
        layout::put(&to, text.as_bytes(), 0o644)?;
        made.push(to);
    }
    Ok(made)
}

/// The text with its places filled, or the first place that has no value.
fn filled(text: &str, values: &[(&str, &str)]) -> std::result::Result<String, String> {
    let text = values.iter().fold(text.to_owned(), |text, (place, value)| text.replace(place, value));
    let is_place = |word: &&str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    let left = text.split('@').skip(1).find(is_place);
    match left {
        Some(place) => Err(format!("@{place}@")),
        None => Ok(text),
    }
}

/// Writes the digests of files that lie in `folder`.
pub fn sums(folder: &Path, files: &[PathBuf]) -> Result<PathBuf> {
    let mut text = String::new();
    for file in files {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        text += &format!("{}  {name}\n", hex(&digest(file)?));
    }
    let to = folder.join(SUMS);
    layout::put(&to, text.as_bytes(), 0o644)?;
    Ok(to)
}

fn digest(file: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    Ok(Sha256::digest(bytes).to_vec())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_without_a_value_are_told() {
        assert_eq!(filled("a @VERSION@ b@c", &[("@VERSION@", "1")]), Ok("a 1 b@c".to_owned()));
        assert_eq!(filled("a @SHA256@", &[("@VERSION@", "1")]), Err("@SHA256@".to_owned()));
    }

    #[test]
    fn digests_are_those_of_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "hello").unwrap();
        let sums = fs::read_to_string(sums(folder.path(), &[file]).unwrap()).unwrap();
        assert_eq!(sums, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824  a\n");
    }
}
