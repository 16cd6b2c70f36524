//! The memory of the last head: answers that are alike are decoded once.

use super::fields::FieldList;
use super::hpack::Indexing;

/// The last head that was decoded without a change of the table: an equal block at an equal version means the same.
#[derive(Debug, Default)]
pub(crate) struct BlockMemo {
    block: Vec<u8>,
    /// The decoder's version, and what the block means; `None`: nothing is known.
    known: Option<(u64, u16, Option<u64>)>,
    /// All but pseudo-fields.
    pub fields: FieldList,
    /// Bytes of names and values, pseudo-fields among them.
    pub bytes: u64,
}

impl BlockMemo {
    /// Returns the meaning of a block that is equal to the last, where nothing has changed since.
    #[inline]
    pub fn find(&self, block: &[u8], version: u64) -> Option<(u16, Option<u64>)> {
        let (known, status, content_length) = self.known?;
        (known == version && self.block == block).then_some((status, content_length))
    }

    /// Another block is decoded.
    pub fn begin(&mut self, block: &[u8]) {
        self.known = None;
        self.bytes = 0;
        self.fields.clear();
        self.block.clear();
        self.block.extend_from_slice(block);
    }

    /// A field of it.
    pub fn learn(&mut self, name: &[u8], value: &[u8]) {
        self.bytes += (name.len() + value.len()) as u64;
        if name[0] != b':' {
            self.fields.push(name, value, Indexing::Literal);
        }
    }

    /// It is whole, and means this as long as the decoder has this version.
    pub fn keep(&mut self, version: u64, status: u16, content_length: Option<u64>) {
        self.known = Some((version, status, content_length));
    }
}
