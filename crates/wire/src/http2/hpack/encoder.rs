//! Fields → field blocks (RFC 7541 section 6).

use super::table::Table;
use super::{DEFAULT_TABLE_SIZE, huffman, integer};

/// Use of the peer's table for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    /// Inserted once, an index from then on: for what is the same in each message.
    Insert,
    /// Never inserted: for what changes. Not Huffman-coded, which would cost more than it saves.
    Literal,
    /// Never inserted, by this side or any proxy on the way (section 7.1.3): for secrets.
    Never,
}

/// Writes the field blocks of one direction of a connection.
#[derive(Debug)]
pub struct Encoder {
    table: Table,
    /// The largest table that this side wants, whatever the peer allows.
    wanted: usize,
    /// The smallest size since the last block, and whether it is to be told (section 4.2).
    update: Option<usize>,
}

impl Encoder {
    /// An encoder at the start of a connection, which uses at most `wanted` bytes of table.
    pub fn new(wanted: usize) -> Encoder {
        let update = (wanted < DEFAULT_TABLE_SIZE).then_some(wanted);
        Encoder { table: Table::new(wanted.min(DEFAULT_TABLE_SIZE)), wanted, update }
    }

    /// The peer's SETTINGS_HEADER_TABLE_SIZE.
    pub fn allow(&mut self, size: usize) {
        let size = size.min(self.wanted);
        if size != self.table.max_size() {
            self.table.resize(size);
            self.update = Some(self.update.map_or(size, |least| least.min(size)));
        }
    }

    /// A number that changes whenever the table does: bytes of a block written at an equal number, without anything inserted, mean
    /// the same again.
    pub fn version(&self) -> u64 {
        self.table.version()
    }

    /// True if the next block tells the peer of a changed table.
    pub fn has_news(&self) -> bool {
        self.update.is_some()
    }

    /// Begins a block: tells the peer of a changed table.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if let Some(least) = self.update.take() {
            integer::write(least, 5, 0x20, out);
            if least != self.table.max_size() {
                integer::write(self.table.max_size(), 5, 0x20, out);
            }
        }
    }

    /// Appends a field.
    pub fn field(&mut self, name: &[u8], value: &[u8], indexing: Indexing, out: &mut Vec<u8>) {
        let found = self.table.find(name, value);
        if let (Some((index, true)), Indexing::Insert | Indexing::Literal) = (found, indexing) {
            return integer::write(index, 7, 0x80, out);
        }
        let (bits, first) = match indexing {
            Indexing::Insert => (6, 0x40),
            Indexing::Literal => (4, 0x00),
            Indexing::Never => (4, 0x10),
        };
        match found {
            Some((index, _)) => integer::write(index, bits, first, out),
            None => {
                integer::write(0, bits, first, out);
                string(name, indexing == Indexing::Insert, out);
            }
        }
        string(value, indexing == Indexing::Insert, out);
        if indexing == Indexing::Insert {
            self.table.insert(name, value);
        }
    }
}

/// Appends a string literal, Huffman-coded where that is asked for and shorter.
fn string(text: &[u8], short: bool, out: &mut Vec<u8>) {
    let coded = if short { huffman::encoded_len(text) } else { usize::MAX };
    if coded < text.len() {
        integer::write(coded, 7, 0x80, out);
        huffman::encode(text, out);
    } else {
        integer::write(text.len(), 7, 0x00, out);
        out.extend_from_slice(text);
    }
}
