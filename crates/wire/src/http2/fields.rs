//! Fields of a message, side by side in one buffer that keeps its memory.

use super::hpack::Indexing;
use crate::http1::Version;

/// Names and values in order, pseudo-fields first, names in lower case.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FieldList {
    text: Vec<u8>,
    /// Lengths of names and values in `text`.
    spans: Vec<(u32, u32, Indexing)>,
}

impl FieldList {
    /// Forgets all fields; memory is kept.
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    /// Becomes equal to another list; memory is kept.
    pub fn copy(&mut self, other: &FieldList) {
        self.clear();
        self.text.extend_from_slice(&other.text);
        self.spans.extend_from_slice(&other.spans);
    }

    /// Adds a field.
    pub fn push(&mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>, indexing: Indexing) {
        self.push_with(name, indexing, |text| text.extend_from_slice(value.as_ref()));
    }

    /// Adds a field whose value is appended by `write`.
    pub fn push_with(
        &mut self,
        name: impl AsRef<[u8]>,
        indexing: Indexing,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        self.text.extend_from_slice(name.as_ref());
        let begin = self.text.len();
        write(&mut self.text);
        self.spans.push((name.as_ref().len() as u32, (self.text.len() - begin) as u32, indexing));
    }

    /// The fields, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8], Indexing)> {
        let mut rest = self.text.as_slice();
        self.spans.iter().map(move |(name, value, indexing)| {
            let (name, after) = rest.split_at(*name as usize);
            let (value, after) = after.split_at(*value as usize);
            rest = after;
            (name, value, *indexing)
        })
    }

    /// The value of a field, the first of its name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.iter().find(|(known, ..)| *known == name.as_bytes()).map(|(_, value, _)| value)
    }

    /// Bytes of all names and values.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Appends the head of a message as text, as evidence shows it: a first line of the pseudo-fields, then a line each.
    pub fn show(&self, version: Version, out: &mut Vec<u8>) {
        let pseudo = |name: &str| self.get(name).unwrap_or_default();
        let line = match self.get(":status") {
            Some(status) => [version.as_bytes(), b" ", status].concat(),
            None => [pseudo(":method"), b" ", pseudo(":path"), b" ", version.as_bytes()].concat(),
        };
        out.extend_from_slice(&line);
        out.extend_from_slice(b"\r\n");
        for (name, value, _) in
            self.iter().filter(|(name, ..)| !name.starts_with(b":") || *name == b":authority")
        {
            [name, b": ", value, b"\r\n"].iter().for_each(|part| out.extend_from_slice(part));
        }
        out.extend_from_slice(b"\r\n");
    }
}
