//! Canaries: a field of a request, or of its answer, of which there is no second one. Where it turns up in another message, a proxy has
//! put fields of one message into another.
//!
//! A value is the number of its message and letters that follow from that, so that each has a length of its own, and one that is cut or
//! joined from two is known.

use crate::draw::hash;
use crate::site::{read_hex, write_hex};

/// The field, in requests with the nonce as its number, and in answers to these with that of the answer.
pub const CANARY_FIELD: &str = "Wringer-Canary";

const SALT: u64 = 0x6361_6E61_7279;
/// Letters at most.
const LETTERS: u64 = 48;

/// Appends the value of the message with this number.
pub fn write(out: &mut Vec<u8>, number: u64) {
    write_hex(out, number);
    out.push(b'-');
    out.extend(letters(number));
}

/// The number of the message that a value belongs to; `None`: it is no whole canary.
pub fn read(value: &[u8]) -> Option<u64> {
    let dash = value.iter().position(|byte| *byte == b'-')?;
    let number = read_hex(&value[..dash])?;
    letters(number).eq(value[dash + 1..].iter().copied()).then_some(number)
}

fn letters(number: u64) -> impl Iterator<Item = u8> {
    let bits = hash(SALT, number);
    let letter = move |place: u64| b'a' + (bits.rotate_left(place as u32 * 5) % 26) as u8;
    (0..=bits % LETTERS).map(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_and_no_other_does() {
        let value = |number| {
            let mut out = Vec::new();
            write(&mut out, number);
            out
        };
        let mut lengths = std::collections::BTreeSet::new();
        for number in [1, 2, 77, u64::MAX, 1 << 40] {
            let whole = value(number);
            assert_eq!(read(&whole), Some(number));
            assert_eq!(read(&whole[..whole.len() - 1]), None);
            assert_eq!(read(&[whole.as_slice(), b", ", &value(5)].concat()), None);
            lengths.insert(whole.len());
        }
        assert!(lengths.len() > 3, "{lengths:?}");
        for text in ["", "-", "x-a", "5"] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }
}
