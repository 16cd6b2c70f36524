//! The Huffman code of string literals (RFC 7541 section 5.2, appendix B).
//!
//! The code is canonical, so the lengths of its words say all. Decoding looks up twelve bits at once, which hold two of the common
//! characters; only words longer than that go the slow way.

/// Bits of the word of each byte value; the last is that of EOS.
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28,
    28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6,
    6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7,
    8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7,
    15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24,
    23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23,
    23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26,
    26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20,
    21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27,
    27, 27, 26, 30,
];

const EOS: usize = 256;
const LONGEST: usize = 30;
/// Bits that one look-up takes.
const LOOK: u32 = 12;

static CODE: HuffmanCode = HuffmanCode::new();
static LOOKED_UP: [HuffmanFound; 1 << LOOK] = look_up();

/// The code, by length of its words.
struct HuffmanCode {
    /// The word of each symbol.
    words: [u32; 257],
    /// Symbols by length, then by value.
    symbols: [u16; 257],
    /// The first word of each length.
    first: [u32; LONGEST + 1],
    /// Words of each length.
    count: [u32; LONGEST + 1],
    /// Place in `symbols` of the first word of each length.
    offset: [u32; LONGEST + 1],
}

impl HuffmanCode {
    const fn new() -> HuffmanCode {
        let mut code = HuffmanCode {
            words: [0; 257],
            symbols: [0; 257],
            first: [0; LONGEST + 1],
            count: [0; LONGEST + 1],
            offset: [0; LONGEST + 1],
        };
        let mut next = 0u32;
        let mut place = 0u32;
        let mut length = 1;
        while length <= LONGEST {
            next <<= 1;
            code.first[length] = next;
            code.offset[length] = place;
            let mut symbol = 0;
            while symbol <= EOS {
                if LENGTHS[symbol] as usize == length {
                    code.words[symbol] = next;
                    code.symbols[place as usize] = symbol as u16;
                    code.count[length] += 1;
                    next += 1;
                    place += 1;
                }
                symbol += 1;
            }
            length += 1;
        }
        code
    }

    /// The symbol that begins with the highest of `have` bits of `bits` (32 of them), and the length of its word.
    const fn symbol(&self, bits: u32, have: u32) -> Option<(usize, u32)> {
        let mut length = 5;
        while length <= LONGEST as u32 && length <= have {
            let word = bits >> (32 - length);
            let at = word.wrapping_sub(self.first[length as usize]);
            if at < self.count[length as usize] {
                return Some((self.symbols[(self.offset[length as usize] + at) as usize] as usize, length));
            }
            length += 1;
        }
        None
    }
}

/// Up to two symbols that some bits begin with.
#[derive(Clone, Copy)]
struct HuffmanFound {
    symbols: [u8; 2],
    /// How many; 0: the first word is longer than what was looked up.
    count: u8,
    /// Bits that they take.
    bits: u8,
}

const fn look_up() -> [HuffmanFound; 1 << LOOK] {
    let code = HuffmanCode::new();
    let mut table = [HuffmanFound { symbols: [0; 2], count: 0, bits: 0 }; 1 << LOOK];
    let mut at = 0;
    while at < 1 << LOOK {
        let bits = (at as u32) << (32 - LOOK);
        if let Some((first, length)) = code.symbol(bits, LOOK) {
            table[at] = HuffmanFound { symbols: [first as u8, 0], count: 1, bits: length as u8 };
            if let Some((second, more)) = code.symbol(bits << length, LOOK - length) {
                table[at] = HuffmanFound {
                    symbols: [first as u8, second as u8],
                    count: 2,
                    bits: (length + more) as u8,
                };
            }
        }
        at += 1;
    }
    table
}

/// Appends the text of `input` to `out`. `None`: it holds EOS, or does not end with less than eight bits of padding, all ones.
pub(crate) fn decode(input: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut bits = 0u64;
    let mut have = 0u32;
    let mut rest = input.iter();
    loop {
        while have <= 56 {
            let Some(byte) = rest.next() else { break };
            bits |= u64::from(*byte) << (56 - have);
            have += 8;
        }
        let found = &LOOKED_UP[(bits >> (64 - LOOK)) as usize];
        if found.count > 0 && u32::from(found.bits) <= have {
            out.extend_from_slice(&found.symbols[..usize::from(found.count)]);
            bits <<= found.bits;
            have -= u32::from(found.bits);
            continue;
        }
        match CODE.symbol((bits >> 32) as u32, have) {
            Some((EOS, _)) => return None,
            Some((symbol, length)) => {
                out.push(symbol as u8);
                bits <<= length;
                have -= length;
            }
            None => return is_padding(bits, have, rest.len()),
        }
    }
}

/// Less than eight bits are left, and all are ones: the beginning of EOS.
fn is_padding(bits: u64, have: u32, unread: usize) -> Option<()> {
    (unread == 0 && have < 8 && (have == 0 || bits >> (64 - have) == (1 << have) - 1)).then_some(())
}

/// Bytes that `text` takes when encoded.
pub(crate) fn encoded_len(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum();
    bits.div_ceil(8)
}

/// Appends `text`, encoded and padded.
pub(crate) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let mut bits = 0u64;
    let mut have = 0u32;
    for byte in text {
        let length = u32::from(LENGTHS[usize::from(*byte)]);
        bits = bits << length | u64::from(CODE.words[usize::from(*byte)]);
        have += length;
        while have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    if have > 0 {
        let padding = 8 - have;
        out.push((bits << padding) as u8 | ((1u16 << padding) - 1) as u8);
    }
}
