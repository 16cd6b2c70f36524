//! A Python wheel: the binary, its manual pages and completions, for `pip install`. It holds no Python (binary distribution
//! format, version 1.0).

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::debian::Glibc;
use super::{PACKAGE, layout};
use crate::Result;

/// Makes it in `folder` of the files below `stage`. `glibc`: the version that the binary needs.
pub fn package(stage: &Path, folder: &Path, version: &str, glibc: Option<Glibc>) -> Result<PathBuf> {
    let tag = tag(glibc, std::env::consts::ARCH);
    let data = format!("{PACKAGE}-{version}.data");
    let info = format!("{PACKAGE}-{version}.dist-info");
    let mut wheel = Wheel::new();
    for file in layout::files_below(stage)? {
        let path = stage.join(&file);
        let bytes = fs::read(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        let name = file.to_string_lossy();
        if name == layout::BINARY {
            wheel.add(&format!("{data}/scripts/{PACKAGE}"), &bytes, 0o755)?;
        } else if let Some(licence) = name.strip_prefix(layout::DOCS).and_then(licence) {
            wheel.add(&format!("{info}/licenses/{licence}"), &bytes, 0o644)?;
        } else if let Some(shared) = name.strip_prefix("usr/share/") {
            wheel.add(&format!("{data}/data/share/{shared}"), &bytes, 0o644)?;
        }
    }
    wheel.add(&format!("{info}/METADATA"), metadata(version).as_bytes(), 0o644)?;
    wheel.add(&format!("{info}/WHEEL"), about(&tag).as_bytes(), 0o644)?;
    let file = folder.join(format!("{PACKAGE}-{version}-{tag}.whl"));
    layout::put(&file, &wheel.finish(&format!("{info}/RECORD"))?, 0o644)?;
    Ok(file)
}

/// Any Python 3, and a system with that C library or a later one.
fn tag(glibc: Option<Glibc>, architecture: &str) -> String {
    let system = glibc.map_or("linux".to_owned(), |(major, minor)| format!("manylinux_{major}_{minor}"));
    format!("py3-none-{system}_{architecture}")
}

/// The name of a file of the documentation that says how the program may be used.
fn licence(file: &str) -> Option<&str> {
    let name = file.strip_prefix('/')?;
    (name != "changelog.gz").then_some(name)
}

fn metadata(version: &str) -> String {
    format!(
        "Metadata-Version: 2.1\n\
         Name: {PACKAGE}\n\
         Version: {version}\n\
         Summary: Load tester for proxies, caches and servers\n\
         License: Apache-2.0\n\
         Requires-Python: >=3.7\n"
    )
}

fn about(tag: &str) -> String {
    format!("Wheel-Version: 1.0\nGenerator: cargo-xtask-dist\nRoot-Is-Purelib: false\nTag: {tag}\n")
}

/// Files of a wheel, and the record of them.
struct Wheel {
    zip: ZipWriter<Cursor<Vec<u8>>>,
    record: String,
}

impl Wheel {
    fn new() -> Wheel {
        Wheel { zip: ZipWriter::new(Cursor::default()), record: String::new() }
    }

    fn add(&mut self, name: &str, bytes: &[u8], mode: u32) -> Result<()> {
        let digest = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        self.record += &format!("{name},sha256={digest},{}\n", bytes.len());
        self.pack(name, bytes, mode)
    }

    /// All files have one date, so that the same files give the same bytes.
    fn pack(&mut self, name: &str, bytes: &[u8], mode: u32) -> Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(mode);
        self.zip.start_file(name, options).map_err(|error| failed(name, error))?;
        self.zip.write_all(bytes).map_err(|error| failed(name, error))
    }

    /// `record`: the name of the record, which has no digest of itself.
    fn finish(mut self, record: &str) -> Result<Vec<u8>> {
        self.record += &format!("{record},,\n");
        let lines = std::mem::take(&mut self.record);
        self.pack(record, lines.as_bytes(), 0o644)?;
        let archive = self.zip.finish().map_err(|error| failed("the wheel", error))?;
        Ok(archive.into_inner())
    }
}

fn failed(name: &str, error: impl std::fmt::Display) -> String {
    format!("{name} cannot be packed: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_says_what_the_binary_needs() {
        assert_eq!(tag(Some((2, 34)), "x86_64"), "py3-none-manylinux_2_34_x86_64");
        assert_eq!(tag(None, "aarch64"), "py3-none-linux_aarch64");
    }

    #[test]
    fn the_record_has_digests_of_all_but_itself() {
        let mut wheel = Wheel::new();
        wheel.add("a", b"hello", 0o644).unwrap();
        assert_eq!(wheel.record, "a,sha256=LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ,5\n");
    }

    #[test]
    fn the_same_files_give_the_same_bytes_and_keep_their_rights() {
        let made = || {
            let mut wheel = Wheel::new();
            wheel.add("bin/tool", b"#!/bin/sh\n", 0o755).unwrap();
            wheel.finish("a.dist-info/RECORD").unwrap()
        };
        assert_eq!(made(), made());
        let mut read = zip::ZipArchive::new(Cursor::new(made())).unwrap();
        assert_eq!(read.by_name("bin/tool").unwrap().unix_mode().unwrap() & 0o777, 0o755);
        assert!(read.by_name("a.dist-info/RECORD").is_ok());
    }
}
