//! Field blocks → fields (RFC 7541 section 6).

use super::table::Table;
use super::{DEFAULT_TABLE_SIZE, huffman, integer};
use breach::Hpack;
use thiserror::Error;

/// Where the fields of a block go, in order. Slices live for the call only.
pub trait FieldSink {
    /// A field, as it was encoded: its name may hold anything.
    fn field(&mut self, name: &[u8], value: &[u8]);
}

impl<F: FnMut(&[u8], &[u8])> FieldSink for F {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self(name, value);
    }
}

/// Why a block is not decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// It is broken: COMPRESSION_ERROR for the connection (RFC 9113 section 4.3).
    #[error("{}", .0.entry().text)]
    Broken(Hpack),
    /// The fields are longer than was announced (`SETTINGS_MAX_HEADER_LIST_SIZE`).
    #[error("the fields of a block are longer than {0} bytes")]
    TooLong(usize),
}

impl From<Hpack> for DecodeError {
    fn from(breach: Hpack) -> DecodeError {
        DecodeError::Broken(breach)
    }
}

/// Reads the field blocks of one direction of a connection, in order, none left out.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// Largest table that the peer may choose: the announced SETTINGS_HEADER_TABLE_SIZE.
    limit: usize,
    /// Bytes of all fields of a block, each with 32 more (RFC 9113 section 6.5.2).
    pub(super) list_limit: usize,
    /// Names and values that came Huffman-coded.
    text: Vec<u8>,
}

impl Decoder {
    /// A decoder at the start of a connection. `table_size` is what SETTINGS_HEADER_TABLE_SIZE announces, `list_limit` the bytes
    /// that the fields of a block may have, each with 32 more.
    pub fn new(table_size: usize, list_limit: usize) -> Decoder {
        let table = Table::new(table_size.min(DEFAULT_TABLE_SIZE));
        Decoder { table, limit: table_size, list_limit, text: Vec::new() }
    }

    /// A number that changes whenever the dynamic table does: an equal block at an equal number holds equal fields.
    pub fn version(&self) -> u64 {
        self.table.version()
    }

    /// Decodes a whole block. After an error the decoder is of no use.
    ///
    /// Fields beyond the list's limit are decoded, for the table's sake, and not handed over.
    ///
    /// # Errors
    /// [`DecodeError`], each of them for the connection but for [`DecodeError::TooLong`], which is the message's alone.
    pub fn decode(&mut self, block: &[u8], sink: &mut impl FieldSink) -> Result<(), DecodeError> {
        let mut rest = self.size_updates(block)?;
        let mut list = 0;
        while let [first, ..] = rest {
            let (bytes, taken) = self.field(*first, rest, list, sink)?;
            list += bytes;
            rest = &rest[taken..];
        }
        if list > self.list_limit { Err(DecodeError::TooLong(self.list_limit)) } else { Ok(()) }
    }

    /// Decodes the field that begins with the byte `first`: bytes that it counts for, and bytes that it took.
    #[inline]
    fn field(
        &mut self,
        first: u8,
        input: &[u8],
        list: usize,
        sink: &mut impl FieldSink,
    ) -> Result<(usize, usize), Hpack> {
        match first {
            0x80.. => self.indexed(input, list, sink),
            0x40..0x80 => self.literal(input, 6, list, sink),
            0x20..0x40 => Err(Hpack::TableSizeLate),
            0..0x20 => self.literal(input, 4, list, sink),
        }
    }

    /// Decodes a field, or a change of size, for the table's sake; the bytes that it took.
    pub(super) fn skim_field(&mut self, input: &[u8]) -> Result<usize, Hpack> {
        if matches!(input[0], 0x20..0x40) {
            let (size, taken) = integer::read(input, 5).ok_or(Hpack::Integer)?;
            if size > self.limit {
                return Err(Hpack::TableSize);
            }
            self.table.resize(size);
            return Ok(taken);
        }
        // Beyond the limit nothing is handed over.
        let (_, taken) = self.field(input[0], input, self.list_limit, &mut |_: &[u8], _: &[u8]| {})?;
        Ok(taken)
    }

    /// A field was inserted that is larger than the table.
    pub(super) fn insert_too_large(&mut self) {
        self.table.insert_too_large();
    }

    /// The largest table that the peer may choose.
    pub(super) fn table_limit(&self) -> usize {
        self.limit
    }

    /// Size updates stand before the first field (section 4.2).
    fn size_updates<'b>(&mut self, mut block: &'b [u8]) -> Result<&'b [u8], Hpack> {
        while let [0x20..0x40, ..] = block {
            let (size, taken) = integer::read(block, 5).ok_or(Hpack::Integer)?;
            if size > self.limit {
                return Err(Hpack::TableSize);
            }
            self.table.resize(size);
            block = &block[taken..];
        }
        Ok(block)
    }

    /// The same of an indexed field.
    fn indexed(&self, input: &[u8], list: usize, sink: &mut impl FieldSink) -> Result<(usize, usize), Hpack> {
        let (index, taken) = integer::read(input, 7).ok_or(Hpack::Integer)?;
        let (name, value) = self.table.get(index).ok_or(Hpack::Index)?;
        Ok((self.hand_over(name, value, list, sink), taken))
    }

    /// A literal, whose name's index has `bits`; with six of them it is inserted.
    fn literal(
        &mut self,
        input: &[u8],
        bits: u32,
        list: usize,
        sink: &mut impl FieldSink,
    ) -> Result<(usize, usize), Hpack> {
        let (index, mut taken) = integer::read(input, bits).ok_or(Hpack::Integer)?;
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        if index == 0 {
            taken += string(&input[taken..], &mut text)?;
        } else {
            text.extend_from_slice(self.table.get(index).ok_or(Hpack::Index)?.0);
        }
        let split = text.len();
        taken += string(&input[taken..], &mut text)?;
        let (name, value) = text.split_at(split);
        let bytes = self.hand_over(name, value, list, sink);
        if bits == 6 {
            self.table.insert(name, value);
        }
        self.text = text;
        Ok((bytes, taken))
    }

    fn hand_over(&self, name: &[u8], value: &[u8], list: usize, sink: &mut impl FieldSink) -> usize {
        let bytes = name.len() + value.len() + super::ENTRY_OVERHEAD;
        if list + bytes <= self.list_limit {
            sink.field(name, value);
        }
        bytes
    }
}

/// Appends a string literal (section 5.2) to `text`; the bytes it took.
fn string(input: &[u8], text: &mut Vec<u8>) -> Result<usize, Hpack> {
    let (length, taken) = integer::read(input, 7).ok_or(Hpack::Integer)?;
    let end = taken.checked_add(length).ok_or(Hpack::String)?;
    let bytes = input.get(taken..end).ok_or(Hpack::String)?;
    if input[0] & 0x80 == 0 {
        text.extend_from_slice(bytes);
    } else {
        huffman::decode(bytes, text).ok_or(Hpack::Huffman)?;
    }
    Ok(end)
}
