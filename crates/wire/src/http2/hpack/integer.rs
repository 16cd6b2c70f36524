//! Integers with a prefix of N bits (RFC 7541 section 5.1).

/// Octets after the prefix; one more is refused. Five hold all of 32 bits.
const CONTINUATION_LIMIT: usize = 5;

/// The integer whose prefix is the low `bits` of the first byte of `input`, and the bytes it takes. `None`: cut off, too long, or
/// beyond 32 bits.
pub(crate) fn read(input: &[u8], bits: u32) -> Option<(usize, usize)> {
    let mask = (1u32 << bits) - 1;
    let prefix = u32::from(*input.first()?) & mask;
    if prefix < mask {
        return Some((prefix as usize, 1));
    }
    let mut value = u64::from(mask);
    for (at, byte) in input[1..].iter().take(CONTINUATION_LIMIT).enumerate() {
        value += u64::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            let value = u32::try_from(value).ok()?;
            return Some((value as usize, at + 2));
        }
    }
    None
}

/// Appends an integer with a prefix of `bits`; `first` holds what stands before the prefix.
pub(crate) fn write(mut value: usize, bits: u32, first: u8, out: &mut Vec<u8>) {
    let mask = (1usize << bits) - 1;
    if value < mask {
        return out.push(first | value as u8);
    }
    out.push(first | mask as u8);
    value -= mask;
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
