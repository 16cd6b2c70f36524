//! Notes of an ELF file that name its build: the number that a linker gave it, and the package that it came in. Pure; the file
//! is read by whoever has it, a few pieces of it at places that are told.

use serde::Deserialize;

/// Most program headers and bytes of notes that are read: what has more is no program that we know how to read.
const MOST_HEADERS: u16 = 256;
const MOST_NOTES: u64 = 64 << 10;

/// `PT_NOTE`.
const NOTE: u32 = 4;
/// `NT_GNU_BUILD_ID` of "GNU"; the number that Go's linker gives, of "Go"; and systemd's note of a package, of "FDO".
const GNU_BUILD: u32 = 3;
const GO_BUILD: u32 = 4;
const PACKAGE: u32 = 0xcafe_1a7e;

/// Notes of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Build {
    /// In hexadecimal digits; of a program of Go as Go writes it.
    pub id: Option<String>,
    /// Version of its package.
    pub version: Option<String>,
}

/// Sizes and order of the numbers of a file.
#[derive(Debug, Clone, Copy)]
struct Layout {
    wide: bool,
    big: bool,
}

impl Layout {
    fn number(self, bytes: &[u8], at: usize, length: usize) -> Option<u64> {
        let bytes = bytes.get(at..at + length)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if self.big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) })
    }

    /// A number as long as an address.
    fn address(self, bytes: &[u8], [narrow, wide]: [usize; 2]) -> Option<u64> {
        if self.wide { self.number(bytes, wide, 8) } else { self.number(bytes, narrow, 4) }
    }
}

/// Reads the notes of a program. `read`: so many bytes at a place of the file; `None` where they are not there. Nothing for what is
/// no ELF file.
pub fn build(read: impl Fn(u64, usize) -> Option<Vec<u8>>) -> Build {
    notes(&read).map(|(layout, notes)| named(layout, &notes)).unwrap_or_default()
}

/// All notes of a file, one behind the other.
fn notes(read: &impl Fn(u64, usize) -> Option<Vec<u8>>) -> Option<(Layout, Vec<u8>)> {
    let head = read(0, 52)?;
    if head.get(..4)? != b"\x7fELF" {
        return None;
    }
    let layout = Layout { wide: head[4] == 2, big: head[5] == 2 };
    // The head of a file with long addresses is a little longer.
    let head = if layout.wide { read(0, 64)? } else { head };
    let headers_at = layout.address(&head, [28, 32])?;
    let numbers = if layout.wide { 54 } else { 42 };
    let size = usize::try_from(layout.number(&head, numbers, 2)?).ok()?;
    let count = usize::try_from(layout.number(&head, numbers + 2, 2)?).ok()?.min(MOST_HEADERS.into());
    let headers = read(headers_at, size * count)?;
    let mut notes = Vec::new();
    for header in headers.chunks_exact(size.max(1)) {
        if layout.number(header, 0, 4)? != u64::from(NOTE) {
            continue;
        }
        let at = layout.address(header, [4, 8])?;
        let length = layout.address(header, [16, 32])?;
        if length <= MOST_NOTES {
            notes.extend(read(at, length as usize).unwrap_or_default());
        }
    }
    Some((layout, notes))
}

/// A note: lengths of its name and its content, its kind, then both, each filled up to four bytes.
fn named(layout: Layout, mut notes: &[u8]) -> Build {
    let mut build = Build::default();
    while let Some((name, kind, content, rest)) = first(layout, notes) {
        match (name, kind) {
            (b"GNU\0", GNU_BUILD) => {
                build.id = Some(content.iter().map(|byte| format!("{byte:02x}")).collect());
            }
            (b"Go\0", GO_BUILD) | (b"Go\0\0", GO_BUILD) if build.id.is_none() => {
                build.id = std::str::from_utf8(content).ok().map(str::to_owned);
            }
            (b"FDO\0", PACKAGE) => build.version = package_version(content),
            _ => {}
        }
        notes = rest;
    }
    build
}

type Note<'a> = (&'a [u8], u32, &'a [u8], &'a [u8]);

fn first(layout: Layout, notes: &[u8]) -> Option<Note<'_>> {
    let length = |at| layout.number(notes, at, 4).and_then(|length| usize::try_from(length).ok());
    let name = length(0)?;
    let content = length(4)?;
    let kind = layout.number(notes, 8, 4)? as u32;
    let content_at = 12 + name.checked_next_multiple_of(4)?;
    let end = content_at.checked_add(content)?;
    let rest = notes.get(end.checked_next_multiple_of(4)?..).unwrap_or_default();
    Some((notes.get(12..12 + name)?, kind, notes.get(content_at..end)?, rest))
}

/// The version in a package's note, which is JSON.
fn package_version(content: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Package {
        version: Option<String>,
    }
    let text = content.strip_suffix(b"\0").unwrap_or(content);
    serde_json::from_slice::<Package>(text).ok()?.version
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(layout: Layout, name: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
        let number = |number: u32| if layout.big { number.to_be_bytes() } else { number.to_le_bytes() };
        let mut bytes = [name.len() as u32, content.len() as u32, kind].map(number).concat();
        for part in [name, content] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    /// A file of a head, one program header and notes.
    fn file(layout: Layout, notes: &[u8]) -> Vec<u8> {
        let put = |bytes: &mut [u8], at: usize, length: usize, value: u64| {
            let all = if layout.big { value.to_be_bytes() } else { value.to_le_bytes() };
            let part = if layout.big { &all[8 - length..] } else { &all[..length] };
            bytes[at..at + length].copy_from_slice(part);
        };
        let (head, header, long) = if layout.wide { (64, 56, 8) } else { (52, 32, 4) };
        let mut bytes = vec![0; head + header];
        bytes[..4].copy_from_slice(b"\x7fELF");
        (bytes[4], bytes[5]) = (1 + u8::from(layout.wide), 1 + u8::from(layout.big));
        put(&mut bytes, if layout.wide { 32 } else { 28 }, long, head as u64);
        let numbers = if layout.wide { 54 } else { 42 };
        put(&mut bytes, numbers, 2, header as u64);
        put(&mut bytes, numbers + 2, 2, 1);
        put(&mut bytes, head, 4, NOTE.into());
        put(&mut bytes, head + if layout.wide { 8 } else { 4 }, long, (head + header) as u64);
        put(&mut bytes, head + if layout.wide { 32 } else { 16 }, long, notes.len() as u64);
        bytes.extend(notes);
        bytes
    }

    fn read(file: &[u8]) -> Build {
        build(|at, length| file.get(at as usize..at as usize + length).map(<[u8]>::to_vec))
    }

    #[test]
    fn builds_are_read_in_all_four_layouts() {
        for (wide, big) in [(true, false), (true, true), (false, false), (false, true)] {
            let layout = Layout { wide, big };
            let package = br#"{"type":"deb","name":"nginx","version":"1.24.0-2","architecture":"amd64"}"#;
            let notes = [
                note(layout, b"GNU\0", 1, &[0; 16]),
                note(layout, b"FDO\0", PACKAGE, package),
                note(layout, b"GNU\0", GNU_BUILD, &[0xab, 0xcd, 1]),
            ]
            .concat();
            let found = Build { id: Some("abcd01".to_owned()), version: Some("1.24.0-2".to_owned()) };
            assert_eq!(read(&file(layout, &notes)), found, "{layout:?}");
        }
        let layout = Layout { wide: true, big: false };
        let go = note(layout, b"Go\0\0", GO_BUILD, b"x/y");
        assert_eq!(read(&file(layout, &go)).id.as_deref(), Some("x/y"));
    }

    #[test]
    fn what_is_cut_or_no_program_says_nothing() {
        let layout = Layout { wide: true, big: false };
        let whole = file(layout, &note(layout, b"GNU\0", GNU_BUILD, &[1, 2, 3, 4]));
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length]).id, None, "{length}");
        }
        assert_eq!(
            read(b"#!/bin/sh\necho a script, which is longer than a head of ELF would be"),
            Build::default()
        );
        // Lengths beyond the end.
        let huge =
            note(layout, b"GNU\0", GNU_BUILD, &[]).into_iter().map(|byte| byte | 0xF0).collect::<Vec<_>>();
        assert_eq!(read(&file(layout, &huge)), Build::default());
    }

    #[test]
    fn our_own_program_can_be_read() {
        let program = std::fs::read("/proc/self/exe").unwrap();
        let length = program.len();
        let asked = std::cell::Cell::new(0);
        build(|at, length| {
            asked.set(asked.get() + length);
            program.get(at as usize..at as usize + length).map(<[u8]>::to_vec)
        });
        assert!(asked.get() > 64 && asked.get() < length.min(1 << 20), "{} of {length} bytes", asked.get());
    }
}
