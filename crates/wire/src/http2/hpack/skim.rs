//! A field block that is longer than is taken: it is read for the table's sake alone, in pieces, so that its connection goes on.
//!
//! Bounded in memory, however long the block or a single field of it: a field that is longer than is kept is larger than the table, and
//! so only empties it (RFC 7541 section 4.4).

use super::decoder::Decoder;
use super::integer;
use breach::Hpack;

/// Bytes of a field that are kept until it is whole, where the table is not larger.
const KEPT: usize = 16_384;
/// Bits of the longest Huffman code, for each of which a byte of text may stand.
const LONGEST_CODE: usize = 30;
/// Bytes of the longest integer that is read.
const LONGEST_INTEGER: usize = 6;

/// A block that is read so.
#[derive(Debug, Default)]
pub struct Skim {
    /// The beginning of a field.
    held: Vec<u8>,
    /// The rest of a field that is too long to be kept.
    rest: Option<SkimRest>,
}

/// The rest of a long field.
#[derive(Debug, Clone, Copy)]
struct SkimRest {
    /// Bytes of a string that are still to come.
    left: usize,
    /// A value follows the string, which is a name.
    value_follows: bool,
    /// It is inserted into the table.
    inserts: bool,
}

impl Skim {
    /// Takes the next piece of the block.
    ///
    /// # Errors
    /// It cannot be decoded.
    pub fn piece(&mut self, decoder: &mut Decoder, piece: &[u8]) -> Result<(), Hpack> {
        self.held.extend_from_slice(piece);
        while self.skip_rest(decoder)? {
            let taken = self.whole_fields(decoder)?;
            self.held.drain(..taken);
            if self.held.len() <= most_kept(decoder) {
                return Ok(());
            }
            self.begin_rest()?;
        }
        Ok(())
    }

    /// The block is whole.
    ///
    /// # Errors
    /// It ends within a field.
    pub fn end(self) -> Result<(), Hpack> {
        if self.held.is_empty() && self.rest.is_none() { Ok(()) } else { Err(Hpack::String) }
    }

    /// Passes over the rest of a long field; `false`: more of it is to come.
    fn skip_rest(&mut self, decoder: &mut Decoder) -> Result<bool, Hpack> {
        while let Some(rest) = &mut self.rest {
            let here = rest.left.min(self.held.len());
            self.held.drain(..here);
            rest.left -= here;
            if rest.left > 0 {
                return Ok(false);
            }
            if rest.value_follows {
                let Some((length, taken)) = integer::read(&self.held, 7) else {
                    return if self.held.len() < LONGEST_INTEGER { Ok(false) } else { Err(Hpack::Integer) };
                };
                self.held.drain(..taken);
                *rest = SkimRest { left: length, value_follows: false, ..*rest };
                continue;
            }
            if rest.inserts {
                decoder.insert_too_large();
            }
            self.rest = None;
        }
        Ok(true)
    }

    /// Decodes the fields that are whole; the bytes that they take.
    fn whole_fields(&self, decoder: &mut Decoder) -> Result<usize, Hpack> {
        let mut taken = 0;
        while taken < self.held.len() {
            match decoder.skim_field(&self.held[taken..]) {
                Ok(length) => taken += length,
                // The rest of it is to come.
                Err(Hpack::Integer | Hpack::String) => break,
                Err(broken) => return Err(broken),
            }
        }
        Ok(taken)
    }

    /// Begins a field that is too long to be kept, with what is held.
    fn begin_rest(&mut self) -> Result<(), Hpack> {
        let first = self.held[0];
        if !matches!(first, 0..0x20 | 0x40..0x80) {
            return Err(Hpack::Integer);
        }
        let inserts = first & 0x40 != 0;
        let (index, mut at) = integer::read(&self.held, if inserts { 6 } else { 4 }).ok_or(Hpack::Integer)?;
        let value_follows = index == 0;
        let (length, taken) = integer::read(&self.held[at..], 7).ok_or(Hpack::Integer)?;
        at += taken;
        let here = length.min(self.held.len() - at);
        self.held.drain(..at + here);
        self.rest = Some(SkimRest { left: length - here, value_follows, inserts });
        Ok(())
    }
}

/// Bytes that are kept of a field: more of them than any entry of the table can have been made of.
fn most_kept(decoder: &Decoder) -> usize {
    KEPT.max(decoder.table_limit() * LONGEST_CODE / 8)
}
