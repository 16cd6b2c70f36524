//! Whole numbers of 1 to 10 bytes, and columns of them.

/// Appends a number, seven bits a byte.
#[inline]
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Bytes that a number takes.
#[inline]
pub const fn length(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// Takes a number off the front; `None` where there is none.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first()?;
    if *first < 0x80 {
        *bytes = rest;
        return Some(u64::from(*first));
    }
    let mut value = 0_u64;
    for (place, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f).checked_shl(7 * place as u32)?;
        if *byte < 0x80 {
            *bytes = &bytes[place + 1..];
            return Some(value);
        }
    }
    None
}

/// Takes so many bytes off the front.
pub fn take_bytes<'a>(bytes: &mut &'a [u8], count: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(count).ok()?)?;
    *bytes = rest;
    Some(taken)
}

/// All are equal.
const SAME: u8 = 0;
/// One after the other.
const DENSE: u8 = 1;
/// One value, and those that differ with the distance to the one before.
const SPARSE: u8 = 2;
/// One after the other, divided by a common divisor; 0 stays 0, others are one more than their share.
const SCALED: u8 = 3;

/// Appends a column in the form that takes the fewest bytes.
pub fn put_column(out: &mut Vec<u8>, values: &[u64]) {
    let Some(&first) = values.first() else { return };
    let usual = usual(values);
    let dense: usize = values.iter().map(|value| length(*value)).sum();
    let exceptions = || values.iter().enumerate().filter(move |(_, value)| **value != usual);
    let mut before = 0;
    let mut sparse = length(usual) + 4;
    let mut count = 0_u64;
    for (row, value) in exceptions() {
        sparse += length((row - before) as u64) + length(*value);
        (before, count) = (row, count + 1);
    }
    if count == 0 {
        out.push(SAME);
        put(out, first);
    } else if sparse < dense {
        out.push(SPARSE);
        put(out, usual);
        put(out, count);
        let mut before = 0;
        for (row, value) in exceptions() {
            put(out, (row - before) as u64);
            put(out, *value);
            before = row;
        }
    } else {
        match divisor(values) {
            1 => {
                out.push(DENSE);
                values.iter().for_each(|value| put(out, *value));
            }
            divisor => {
                out.push(SCALED);
                put(out, divisor);
                values.iter().for_each(|value| put(out, *value / divisor));
            }
        }
    }
}

/// A value that more than half of all have, if there is one; else any (Boyer and Moore's vote).
fn usual(values: &[u64]) -> u64 {
    let mut candidate = 0;
    let mut votes = 0_usize;
    for value in values {
        match votes {
            0 => (candidate, votes) = (*value, 1),
            _ if *value == candidate => votes += 1,
            _ => votes -= 1,
        }
    }
    candidate
}

/// 1,000,000, 1,000 or 1: whichever divides all.
fn divisor(values: &[u64]) -> u64 {
    let divides = |by: u64| values.iter().all(|value| value % by == 0);
    [1_000_000, 1_000].into_iter().find(|by| divides(*by)).unwrap_or(1)
}

/// Takes a column of so many values off the front and hands them over, row by row; `None` where it is damaged.
pub fn take_column(bytes: &mut &[u8], rows: usize, mut each: impl FnMut(usize, u64)) -> Option<()> {
    if rows == 0 {
        return Some(());
    }
    let (form, rest) = bytes.split_first()?;
    *bytes = rest;
    match *form {
        SAME => {
            let value = take(bytes)?;
            (0..rows).for_each(|row| each(row, value));
        }
        DENSE => {
            for row in 0..rows {
                each(row, take(bytes)?);
            }
        }
        SPARSE => {
            let usual = take(bytes)?;
            let count = take(bytes)?;
            let mut next = 0_usize;
            let mut at = 0_usize;
            for _ in 0..count {
                at = at.checked_add(usize::try_from(take(bytes)?).ok()?)?;
                if at >= rows || at < next {
                    return None;
                }
                (next..at).for_each(|row| each(row, usual));
                each(at, take(bytes)?);
                next = at + 1;
            }
            (next..rows).for_each(|row| each(row, usual));
        }
        SCALED => {
            let divisor = take(bytes)?;
            for row in 0..rows {
                each(row, take(bytes)?.checked_mul(divisor)?);
            }
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_read_back(value in any::<u64>()) {
            let mut out = Vec::new();
            put(&mut out, value);
            prop_assert_eq!(out.len(), length(value));
            let mut rest = &out[..];
            prop_assert_eq!(take(&mut rest), Some(value));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn columns_read_back(
            values in prop_oneof![
                proptest::collection::vec(any::<u64>(), 0..50),
                proptest::collection::vec(prop_oneof![9 => Just(200_u64), 1 => 0_u64..1000], 0..300),
                proptest::collection::vec((0_u64..1000).prop_map(|ms| ms * 1000), 0..50),
            ],
        ) {
            let mut out = Vec::new();
            put_column(&mut out, &values);
            let mut read = vec![u64::MAX - 1; values.len()];
            let mut rest = &out[..];
            prop_assert_eq!(take_column(&mut rest, values.len(), |row, value| read[row] = value), Some(()));
            prop_assert_eq!(read, values);
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn damage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..60), rows in 0_usize..40) {
            let mut rest = &bytes[..];
            let _ = take_column(&mut rest, rows, |row, _| assert!(row < rows));
        }
    }

    #[test]
    fn the_shortest_form_is_taken() {
        let size = |values: &[u64]| {
            let mut out = Vec::new();
            put_column(&mut out, values);
            out.len()
        };
        assert_eq!(size(&[200; 1000]), 3);
        let mut mostly = vec![200; 1000];
        mostly[500] = 404;
        assert!(size(&mostly) < 12);
        assert!(size(&(0..1000).map(|ms| ms * 1000).collect::<Vec<_>>()) < 2_000);
    }
}
