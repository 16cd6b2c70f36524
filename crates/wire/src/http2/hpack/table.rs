//! The dynamic table (RFC 7541 sections 2.3.2 and 4): the newest entry has the lowest index.

use super::ENTRY_OVERHEAD;
use super::statics::STATIC;
use std::collections::VecDeque;

/// Entries of one side of a connection, the static ones before them.
#[derive(Debug)]
pub(super) struct Table {
    entries: VecDeque<HpackEntry>,
    size: usize,
    max_size: usize,
    /// Entries ever inserted: with it, what a block means is known to be what it meant before.
    inserted: u64,
}

/// A field: name and value side by side.
#[derive(Debug)]
struct HpackEntry {
    bytes: Box<[u8]>,
    name: usize,
}

impl HpackEntry {
    fn size(&self) -> usize {
        self.bytes.len() + ENTRY_OVERHEAD
    }
}

impl Table {
    pub(super) fn new(max_size: usize) -> Table {
        Table { entries: VecDeque::new(), size: 0, max_size, inserted: 0 }
    }

    /// The field of an index as it stands in a block, 1 and more.
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let index = index.checked_sub(1)?;
        if let Some(entry) = STATIC.get(index) {
            return Some(*entry);
        }
        let entry = self.entries.get(index - STATIC.len())?;
        Some(entry.bytes.split_at(entry.name))
    }

    /// Inserts a field; one larger than the table empties it and is not inserted (section 4.4).
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        self.inserted += 1;
        let size = name.len() + value.len() + ENTRY_OVERHEAD;
        self.evict(self.max_size.saturating_sub(size));
        if size <= self.max_size {
            let bytes = [name, value].concat().into_boxed_slice();
            self.entries.push_front(HpackEntry { bytes, name: name.len() });
            self.size += size;
        }
    }

    /// Inserts a field that is known to be larger than the table.
    pub(super) fn insert_too_large(&mut self) {
        self.inserted += 1;
        self.evict(0);
    }

    /// Changes the size that entries may take together (section 4.3).
    pub(super) fn resize(&mut self, max_size: usize) {
        self.inserted += 1;
        self.max_size = max_size;
        self.evict(max_size);
    }

    pub(super) fn max_size(&self) -> usize {
        self.max_size
    }

    /// A number that changes whenever the table does.
    pub(super) fn version(&self) -> u64 {
        self.inserted
    }

    /// The index of a field, and whether its value fits as well as its name. The lowest index of the best fit.
    pub(super) fn find(&self, name: &[u8], value: &[u8]) -> Option<(usize, bool)> {
        let mut by_name = None;
        let all =
            STATIC.iter().copied().chain(self.entries.iter().map(|entry| entry.bytes.split_at(entry.name)));
        for (at, (known, kept)) in all.enumerate() {
            if known == name {
                if kept == value {
                    return Some((at + 1, true));
                }
                by_name = by_name.or(Some((at + 1, false)));
            }
        }
        by_name
    }

    fn evict(&mut self, room: usize) {
        while self.size > room {
            let Some(entry) = self.entries.pop_back() else { break };
            self.size -= entry.size();
        }
    }
}
