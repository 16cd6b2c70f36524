//! DER (X.690), as far as certificates and keystores need it: elements with their tags, walked through and never built.

/// DER tags (X.690) of what is walked through.
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0C;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const BMP_STRING: u8 = 0x1E;

/// An object identifier as its numbers (X.690 section 8.19).
pub(super) fn dotted(id: &[u8]) -> String {
    let mut numbers = Vec::new();
    let mut number = 0_u64;
    for byte in id {
        number = number << 7 | u64::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            if numbers.is_empty() {
                let first = (number / 40).min(2);
                numbers.push(first);
                number -= first * 40;
            }
            numbers.push(number);
            number = 0;
        }
    }
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

/// The elements that stand one behind the other, each with its tag, up to one that is broken.
pub(super) fn elements(mut der: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let tag = *der.first()?;
        let (content, rest) = take(der, tag)?;
        der = rest;
        Some((tag, content))
    })
}

/// The content of the element at the front, if it has this tag, and what follows it.
pub(super) fn take(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, rest) = der.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match usize::from(*length) {
        short @ 0..0x80 => (short, rest),
        long => {
            let (bytes, rest) = rest.split_at_checked(long & 0x7F).filter(|(bytes, _)| bytes.len() <= 4)?;
            (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
    };
    (*found == tag).then(|| rest.split_at_checked(length)).flatten()
}

/// A string of two bytes a character.
pub(super) fn utf16(value: &[u8]) -> String {
    let units = value.chunks_exact(2).map(|two| u16::from_be_bytes([two[0], two[1]]));
    String::from_utf16_lossy(&units.collect::<Vec<_>>())
}

/// A number at the front that is not negative, and what follows it; at most eight bytes.
pub(super) fn unsigned(der: &[u8]) -> Option<(u64, &[u8])> {
    let (bytes, rest) = take(der, INTEGER)?;
    let bytes = bytes.strip_prefix(&[0]).unwrap_or(bytes);
    (bytes.len() <= 8).then(|| (bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)), rest))
}
