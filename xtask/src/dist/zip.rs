//! Zip archives, as wheels are: files deflated, all with one date, so that the same files give the same bytes (APPNOTE 6.3,
//! sections 4.3.7, 4.3.12 and 4.3.16). No file of 4 GiB, and no more than 65,535 of them.

use std::io::Write as _;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use crate::Result;

/// 1980-01-01, the first date that there is.
const DATE: u16 = 0x21;
/// Version 2.0 reads it, made by Unix, so that rights are kept.
const MADE_BY: u16 = 3 << 8 | 20;
const NEEDED: u16 = 20;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
const DEFLATED: u16 = 8;
/// A regular file.
const REGULAR: u32 = 0o100_000;

/// An archive that is written.
#[derive(Default)]
pub struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    files: u16,
}

impl Zip {
    /// Adds a file with these rights.
    pub fn add(&mut self, name: &str, bytes: &[u8], mode: u32) -> Result<()> {
        let failed = |error: std::io::Error| format!("{name} cannot be packed: {error}");
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).map_err(failed)?;
        let packed = encoder.finish().map_err(failed)?;
        let mut crc = Crc::new();
        crc.update(bytes);
        let begin = small(self.bytes.len(), name)?;
        let mut common = Vec::new();
        [NEEDED, FLAGS, DEFLATED, 0, DATE].iter().for_each(|number| common.extend(number.to_le_bytes()));
        for number in [crc.sum(), small(packed.len(), name)?, small(bytes.len(), name)?] {
            common.extend(number.to_le_bytes());
        }
        // The length of the name, and of what is none of ours.
        [short(name.len(), name)?, 0].iter().for_each(|number| common.extend(number.to_le_bytes()));
        for part in [b"PK\x03\x04", &common[..], name.as_bytes(), &packed] {
            self.bytes.extend_from_slice(part);
        }
        let made_by = MADE_BY.to_le_bytes();
        // No comment, disk 0, no attributes of its own.
        let nothing = [0; 6];
        let (mode, begin) = (((REGULAR | mode) << 16).to_le_bytes(), begin.to_le_bytes());
        for part in [b"PK\x01\x02", &made_by[..], &common, &nothing, &mode, &begin, name.as_bytes()] {
            self.directory.extend_from_slice(part);
        }
        self.files = self.files.checked_add(1).ok_or("too many files for a zip archive")?;
        Ok(())
    }

    /// The whole archive.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        let begin = small(self.bytes.len(), "the archive")?;
        let length = small(self.directory.len(), "the directory")?;
        self.bytes.append(&mut self.directory);
        self.bytes.extend(b"PK\x05\x06\0\0\0\0");
        [self.files; 2].iter().for_each(|number| self.bytes.extend(number.to_le_bytes()));
        [length, begin].iter().for_each(|number| self.bytes.extend(number.to_le_bytes()));
        self.bytes.extend([0, 0]);
        Ok(self.bytes)
    }
}

fn small(length: usize, name: &str) -> Result<u32> {
    u32::try_from(length).map_err(|_| format!("{name} is too large for a zip archive"))
}

fn short(length: usize, name: &str) -> Result<u16> {
    u16::try_from(length).map_err(|_| format!("{name} is too long a name for a zip archive"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    #[test]
    fn it_is_the_same_each_time_and_unzip_reads_it() {
        let made = || {
            let mut zip = Zip::default();
            zip.add("bin/tool", b"#!/bin/sh\necho hello\n", 0o755).unwrap();
            zip.add("text/ä.txt", "hello ".repeat(1000).as_bytes(), 0o644).unwrap();
            zip.finish().unwrap()
        };
        assert_eq!(made(), made());
        if shell::find("unzip").is_none() {
            eprintln!("skipped: unzip is not installed");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.zip"), made()).unwrap();
        shell::output(Command::new("unzip").args(["-q", "a.zip"]).current_dir(folder.path())).unwrap();
        let tool = folder.path().join("bin/tool");
        assert_eq!(tool.metadata().unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(shell::output(&mut Command::new(&tool)).unwrap(), "hello\n");
        assert_eq!(fs::read_to_string(folder.path().join("text/ä.txt")).unwrap().len(), 6_000);
    }
}
