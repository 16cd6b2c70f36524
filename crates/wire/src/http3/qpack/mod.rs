//! QPACK: field compression of HTTP/3 (RFC 9204), with the static table alone.
//!
//! [`begin`] and [`encode`] write a field section; [`decode`] reads one, strictly. Since no table changes, equal blocks hold equal
//! fields. Must not know frames, streams or what a field means.

mod statics;

use crate::http2::hpack::{ENTRY_OVERHEAD, FieldSink, Indexing, huffman, integer};
use breach::Qpack;
use statics::TABLE;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The entries of a name: their places, in order.
static NAMES: LazyLock<HashMap<&'static [u8], Vec<u8>>> = LazyLock::new(|| {
    let mut names: HashMap<&'static [u8], Vec<u8>> = HashMap::new();
    for (at, (name, _)) in (0..).zip(&TABLE) {
        names.entry(name).or_default().push(at);
    }
    names
});

/// Appends what a field section begins with: no entry of the dynamic table is needed (section 4.5.1).
pub(super) fn begin(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0]);
}

/// Appends a field (section 4.5). Those that are never to be indexed say so, for whoever passes them on.
pub(super) fn encode(name: &[u8], value: &[u8], indexing: Indexing, out: &mut Vec<u8>) {
    let never = indexing == Indexing::Never;
    let places = NAMES.get(name);
    let exact = places.and_then(|places| places.iter().find(|at| TABLE[usize::from(**at)].1 == value));
    match (exact, places) {
        (Some(at), _) if !never => integer::write(usize::from(*at), 6, 0xC0, out),
        (_, Some(places)) => {
            integer::write(usize::from(places[0]), 4, if never { 0x70 } else { 0x50 }, out);
            string(value, 7, 0, out);
        }
        (_, None) => {
            string(name, 3, if never { 0x30 } else { 0x20 }, out);
            string(value, 7, 0, out);
        }
    }
}

/// Appends a string, as it is.
fn string(text: &[u8], bits: u32, first: u8, out: &mut Vec<u8>) {
    integer::write(text.len(), bits, first, out);
    out.extend_from_slice(text);
}

/// Decodes a whole field section; `text` is memory for names and values that came Huffman-coded. Returns whether all fields
/// were handed over: those beyond `limit` bytes, each with 32 more, are not.
pub(super) fn decode(
    block: &[u8],
    limit: usize,
    text: &mut Vec<u8>,
    sink: &mut impl FieldSink,
) -> Result<bool, Qpack> {
    let (required, taken) = integer::read(block, 8).ok_or(Qpack::Integer)?;
    let rest = &block[taken..];
    let (_, taken) = integer::read(rest, 7).ok_or(Qpack::Integer)?;
    // Without a dynamic table, nothing of it is required, and a sign would make the base a negative one (section 4.5.1.2).
    if required != 0 {
        return Err(Qpack::Dynamic);
    }
    if rest[0] & 0x80 != 0 {
        return Err(Qpack::Base);
    }
    let mut rest = &rest[taken..];
    let mut list = 0;
    while let [first, ..] = rest {
        text.clear();
        let (name, value, taken): (&[u8], &[u8], usize) = match *first {
            0xC0.. => {
                let (at, taken) = integer::read(rest, 6).ok_or(Qpack::Integer)?;
                let (name, value) = TABLE.get(at).ok_or(Qpack::Index)?;
                (name, value, taken)
            }
            0x40..0x80 if first & 0x10 != 0 => {
                let (at, name_taken) = integer::read(rest, 4).ok_or(Qpack::Integer)?;
                let (name, _) = TABLE.get(at).ok_or(Qpack::Index)?;
                let value_taken = read_string(&rest[name_taken..], 7, text)?;
                (name, &text[..], name_taken + value_taken)
            }
            0x20..0x40 => {
                let name_taken = read_string(rest, 3, text)?;
                let split = text.len();
                let value_taken = read_string(rest.get(name_taken..).ok_or(Qpack::Integer)?, 7, text)?;
                let (name, value) = text.split_at(split);
                (name, value, name_taken + value_taken)
            }
            _ => return Err(Qpack::Dynamic),
        };
        list += name.len() + value.len() + ENTRY_OVERHEAD;
        if list <= limit {
            sink.field(name, value);
        }
        rest = &rest[taken..];
    }
    Ok(list <= limit)
}

/// Appends a string whose length has a prefix of `bits`, with the mark of Huffman code before it; the bytes it took.
fn read_string(input: &[u8], bits: u32, text: &mut Vec<u8>) -> Result<usize, Qpack> {
    let (length, taken) = integer::read(input, bits).ok_or(Qpack::Integer)?;
    let end = taken.checked_add(length).ok_or(Qpack::String)?;
    let bytes = input.get(taken..end).ok_or(Qpack::String)?;
    if input[0] & (1 << bits) == 0 {
        text.extend_from_slice(bytes);
    } else {
        huffman::decode(bytes, text).ok_or(Qpack::Huffman)?;
    }
    Ok(end)
}
