//! The codes that answers carried and how often: what a service says of a request, beside what the network says.
//!
//! Bounded: so many codes of so many bytes; what is beyond that is counted as other.

use serde::{Deserialize, Serialize};

/// One code.
#[derive(Debug, Clone)]
struct CodeEntry {
    length: u8,
    bytes: [u8; Codes::LONGEST],
    good: bool,
    count: u64,
}

impl CodeEntry {
    fn text(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Codes seen and how often.
#[derive(Debug, Clone, Default)]
pub struct Codes {
    entries: Vec<CodeEntry>,
    /// Good ones that found no room, and bad ones.
    other: [u64; 2],
    /// Answers in which there was none, good and bad.
    missing: [u64; 2],
}

/// How often a code was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedCode<'a> {
    /// The code as it came; of [`CodeKind::Other`] and [`CodeKind::Missing`], nothing.
    pub text: &'a [u8],
    /// True if it is one code.
    pub kind: CodeKind,
    /// True if it means success.
    pub good: bool,
    /// How often.
    pub count: u64,
}

/// Subject of a line about codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CodeKind {
    /// One code.
    #[default]
    Seen,
    /// All that found no room.
    Other,
    /// Answers without a code.
    Missing,
}

impl Codes {
    /// Codes told apart at most.
    pub const LIMIT: usize = 256;
    /// Bytes of the longest.
    pub const LONGEST: usize = 64;

    /// None yet; all memory that will be needed is taken here.
    pub fn new() -> Codes {
        Codes { entries: Vec::with_capacity(Codes::LIMIT), ..Codes::default() }
    }

    /// Counts an answer by its code; `None`: it held none.
    #[inline]
    pub fn count(&mut self, code: Option<&[u8]>, good: bool) {
        match code {
            Some(code) => self.add(code, good, 1),
            None => self.missing[usize::from(!good)] += 1,
        }
    }

    fn add(&mut self, code: &[u8], good: bool, count: u64) {
        let known = self.entries.iter_mut().find(|entry| entry.good == good && entry.text() == code);
        if let Some(entry) = known {
            entry.count += count;
        } else if code.len() > Codes::LONGEST || self.entries.len() >= Codes::LIMIT {
            self.other[usize::from(!good)] += count;
        } else {
            let mut bytes = [0; Codes::LONGEST];
            bytes[..code.len()].copy_from_slice(code);
            self.entries.push(CodeEntry { length: code.len() as u8, bytes, good, count });
        }
    }

    /// Adds what was counted before: of one code, of all others, or of none.
    pub(crate) fn add_counted(&mut self, code: &[u8], kind: CodeKind, good: bool, count: u64) {
        match kind {
            CodeKind::Seen => self.add(code, good, count),
            CodeKind::Other => self.other[usize::from(!good)] += count,
            CodeKind::Missing => self.missing[usize::from(!good)] += count,
        }
    }

    /// Adds another part's codes.
    pub fn merge(&mut self, other: &Codes) {
        other.entries.iter().for_each(|entry| self.add(entry.text(), entry.good, entry.count));
        for (mine, theirs) in self.other.iter_mut().zip(other.other) {
            *mine += theirs;
        }
        for (mine, theirs) in self.missing.iter_mut().zip(other.missing) {
            *mine += theirs;
        }
    }

    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        (self.other, self.missing) = ([0; 2], [0; 2]);
    }

    /// Returns the codes that were seen, the most frequent first.
    pub fn list(&self) -> Vec<CountedCode<'_>> {
        let seen = |entry: &CodeEntry| (entry.good, entry.count);
        let mut list: Vec<CountedCode<'_>> = self
            .entries
            .iter()
            .map(|entry| {
                let (good, count) = seen(entry);
                CountedCode { text: entry.text(), kind: CodeKind::Seen, good, count }
            })
            .collect();
        list.sort_by(|a, b| b.count.cmp(&a.count).then(a.text.cmp(b.text)));
        for (kind, counts) in [(CodeKind::Other, self.other), (CodeKind::Missing, self.missing)] {
            let lines = [(true, counts[0]), (false, counts[1])].into_iter().filter(|(_, count)| *count > 0);
            list.extend(lines.map(|(good, count)| CountedCode { text: b"", kind, good, count }));
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(codes: &Codes) -> Vec<(String, CodeKind, bool, u64)> {
        let list = codes.list().into_iter();
        list.map(|code| (String::from_utf8_lossy(code.text).into_owned(), code.kind, code.good, code.count))
            .collect()
    }

    #[test]
    fn codes_are_counted_and_bounded() {
        let mut codes = Codes::new();
        for _ in 0..3 {
            codes.count(Some(b"00"), true);
        }
        codes.count(Some(b"51"), false);
        codes.count(Some(&[b'x'; 65]), false);
        codes.count(None, false);
        let line = |text: &str, kind, good, count| (text.to_owned(), kind, good, count);
        assert_eq!(
            shown(&codes),
            [
                line("00", CodeKind::Seen, true, 3),
                line("51", CodeKind::Seen, false, 1),
                line("", CodeKind::Other, false, 1),
                line("", CodeKind::Missing, false, 1),
            ]
        );
        for nth in 0..1000 {
            codes.count(Some(format!("{nth:04}").as_bytes()), true);
        }
        assert_eq!(codes.entries.len(), Codes::LIMIT);
        assert_eq!(codes.list().iter().map(|code| code.count).sum::<u64>(), 1006);
        codes.clear();
        assert!(codes.list().is_empty());
    }

    #[test]
    fn merging_adds_up() {
        let mut a = Codes::new();
        let mut b = Codes::new();
        a.count(Some(b"1"), true);
        b.count(Some(b"1"), true);
        b.count(Some(b"2"), false);
        b.count(None, true);
        a.merge(&b);
        let counts: Vec<u64> = a.list().iter().map(|code| code.count).collect();
        assert_eq!(counts, [2, 1, 1]);
    }
}
