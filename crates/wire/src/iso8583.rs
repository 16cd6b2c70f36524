//! ISO 8583 messages (1987 edition, ASCII): message type, bitmap and fields by number, as payment systems speak them.
//!
//! How messages are told apart on a connection is [`crate::message`]'s business, usually a length of two bytes or four digits.
//! Character fields are ASCII, lengths of variable fields two or three digits. Installations differ from the standard:
//! a field that one of them uses otherwise makes the rest unreadable, and that is told.

use std::ops::Range;

/// How the bitmap is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bitmap {
    /// 8 bytes.
    Binary,
    /// 16 hexadecimal digits.
    Hex,
}

/// How long a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// So many characters.
    Fixed(usize),
    /// So many bytes of bits; written as twice as many hexadecimal digits where the bitmap is.
    Bits(usize),
    /// Two digits say how many characters, at most this many.
    Two(usize),
    /// Three digits do.
    Three(usize),
}

use Length::{Bits, Fixed, Three, Two};

/// The fields 2 to 128 (ISO 8583:1987 section 4).
const FIELDS: [Length; 127] = [
    Two(19),   // 2: primary account number
    Fixed(6),  // 3: processing code
    Fixed(12), // 4: amount
    Fixed(12),
    Fixed(12),
    Fixed(10), // 7: date and time of transmission
    Fixed(8),
    Fixed(8),
    Fixed(8), // 10
    Fixed(6), // 11: trace number
    Fixed(6),
    Fixed(4),
    Fixed(4),
    Fixed(4),
    Fixed(4),
    Fixed(4),
    Fixed(4),
    Fixed(3),
    Fixed(3), // 20
    Fixed(3),
    Fixed(3),
    Fixed(3),
    Fixed(3),
    Fixed(2),
    Fixed(2),
    Fixed(1),
    Fixed(9),
    Fixed(9),
    Fixed(9), // 30
    Fixed(9),
    Two(11),
    Two(11),
    Two(28),
    Two(37), // 35: track 2
    Three(104),
    Fixed(12), // 37: retrieval reference number
    Fixed(6),
    Fixed(2), // 39: response code
    Fixed(3), // 40
    Fixed(8), // 41: terminal
    Fixed(15),
    Fixed(40),
    Two(25),
    Two(76),
    Three(999),
    Three(999),
    Three(999),
    Fixed(3), // 49: currency
    Fixed(3), // 50
    Fixed(3),
    Bits(8), // 52: PIN
    Fixed(16),
    Three(120),
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999), // 60
    Three(999),
    Three(999),
    Three(999),
    Bits(8), // 64: message authentication code
    Bits(8),
    Fixed(1),
    Fixed(2),
    Fixed(3),
    Fixed(3),
    Fixed(3), // 70: network management
    Fixed(4),
    Fixed(4),
    Fixed(6),
    Fixed(10),
    Fixed(10),
    Fixed(10),
    Fixed(10),
    Fixed(10),
    Fixed(10),
    Fixed(10), // 80
    Fixed(10),
    Fixed(12),
    Fixed(12),
    Fixed(12),
    Fixed(12),
    Fixed(16),
    Fixed(16),
    Fixed(16),
    Fixed(16),
    Fixed(42), // 90: original data
    Fixed(1),
    Fixed(2),
    Fixed(5),
    Fixed(7),
    Fixed(42),
    Bits(8),
    Fixed(17),
    Fixed(25),
    Two(11),
    Two(11), // 100
    Two(17),
    Two(28),
    Two(28),
    Three(100),
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999), // 110
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999), // 120
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Three(999),
    Bits(8), // 128: message authentication code
];

/// Why bytes are no message, or fields make none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The message type is not four digits.
    #[error("the message type is not four digits")]
    Kind,
    /// The bitmap ends early or holds no hexadecimal digits.
    #[error("the bitmap is broken")]
    Bitmap,
    /// The message ends within a field, or its length is no number, or greater than the field may be.
    #[error("field {0} is broken")]
    Field(u8),
    /// There is no such field, or it is given twice or not in order.
    #[error("there is no field {0} at this place")]
    NoField(u8),
    /// Bytes follow the last field.
    #[error("{0} bytes follow the last field")]
    Rest(usize),
}

/// A message, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    bytes: &'a [u8],
    fields: Vec<(u8, Range<usize>)>,
}

/// Reads one message.
///
/// # Errors
/// The first thing that is not as the standard has it.
pub fn read(bytes: &[u8], bitmap: Bitmap) -> Result<Message<'_>, Error> {
    let kind = bytes.get(..4).ok_or(Error::Kind)?;
    if !kind.iter().all(u8::is_ascii_digit) {
        return Err(Error::Kind);
    }
    let mut at = 4;
    let mut bits = u128::from(read_bits(bytes, bitmap, &mut at)?) << 64;
    if bits >> 127 == 1 {
        bits |= u128::from(read_bits(bytes, bitmap, &mut at)?);
    }
    let mut fields = Vec::new();
    for number in (2..=128u8).filter(|number| bits >> (128 - number) & 1 == 1) {
        let size = field_size(number, bytes, bitmap, &mut at).ok_or(Error::Field(number))?;
        if bytes.len() - at < size {
            return Err(Error::Field(number));
        }
        fields.push((number, at..at + size));
        at += size;
    }
    if at < bytes.len() { Err(Error::Rest(bytes.len() - at)) } else { Ok(Message { bytes, fields }) }
}

/// One field by its number, 2 to 128, or the message type for 0: as [`read`], without the others and without allocating.
/// `None`: the message has no such field. What stands behind it is not looked at.
///
/// # Errors
/// As [`read`], of what stands before the field.
pub fn find(bytes: &[u8], bitmap: Bitmap, wanted: u8) -> Result<Option<&[u8]>, Error> {
    let kind = bytes.get(..4).filter(|kind| kind.iter().all(u8::is_ascii_digit)).ok_or(Error::Kind)?;
    if wanted == 0 {
        return Ok(Some(kind));
    }
    let mut at = 4;
    let mut bits = u128::from(read_bits(bytes, bitmap, &mut at)?) << 64;
    if bits >> 127 == 1 {
        bits |= u128::from(read_bits(bytes, bitmap, &mut at)?);
    }
    for number in (2..=wanted.min(128)).filter(|number| bits >> (128 - number) & 1 == 1) {
        let size = field_size(number, bytes, bitmap, &mut at).ok_or(Error::Field(number))?;
        let field = bytes.get(at..at + size).ok_or(Error::Field(number))?;
        if number == wanted {
            return Ok(Some(field));
        }
        at += size;
    }
    Ok(None)
}

fn read_bits(bytes: &[u8], bitmap: Bitmap, at: &mut usize) -> Result<u64, Error> {
    let size = bits_size(8, bitmap);
    let field = bytes.get(*at..*at + size).ok_or(Error::Bitmap)?;
    *at += size;
    match bitmap {
        Bitmap::Binary => Ok(field.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte))),
        Bitmap::Hex => field.iter().try_fold(0, |bits, digit| {
            let digit = char::from(*digit).to_digit(16).ok_or(Error::Bitmap)?;
            Ok(bits << 4 | u64::from(digit))
        }),
    }
}

fn bits_size(bytes: usize, bitmap: Bitmap) -> usize {
    match bitmap {
        Bitmap::Binary => bytes,
        Bitmap::Hex => 2 * bytes,
    }
}

fn length_of(number: u8) -> Length {
    FIELDS[usize::from(number) - 2]
}

/// Bytes of the field that begins at `at`, which moves behind its length.
fn field_size(number: u8, bytes: &[u8], bitmap: Bitmap, at: &mut usize) -> Option<usize> {
    let mut announced = |digits: usize, most: usize| {
        let text = std::str::from_utf8(bytes.get(*at..*at + digits)?).ok()?;
        *at += digits;
        let all_digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|size| all_digits && *size <= most)
    };
    match length_of(number) {
        Fixed(size) => Some(size),
        Bits(size) => Some(bits_size(size, bitmap)),
        Two(most) => announced(2, most),
        Three(most) => announced(3, most),
    }
}

impl<'a> Message<'a> {
    /// The message type, four digits.
    pub fn kind(&self) -> &'a [u8] {
        &self.bytes[..4]
    }

    /// A field by its number, 2 to 128, without its length.
    pub fn field(&self, number: u8) -> Option<&'a [u8]> {
        let (_, range) = self.fields.iter().find(|(present, _)| *present == number)?;
        Some(&self.bytes[range.clone()])
    }

    /// All fields, in order.
    pub fn fields(&self) -> impl Iterator<Item = (u8, &'a [u8])> + '_ {
        self.fields.iter().map(|(number, range)| (*number, &self.bytes[range.clone()]))
    }
}

/// Appends a message of these fields, in ascending order, to `out`.
///
/// # Errors
/// [`Error::Kind`], [`Error::NoField`], or [`Error::Field`] where a value does not have its field's size.
pub fn write(kind: &[u8], fields: &[(u8, &[u8])], bitmap: Bitmap, out: &mut Vec<u8>) -> Result<(), Error> {
    if kind.len() != 4 || !kind.iter().all(u8::is_ascii_digit) {
        return Err(Error::Kind);
    }
    let mut bits = 0u128;
    let mut before = 1;
    for (number, value) in fields {
        if *number <= before || *number > 128 {
            return Err(Error::NoField(*number));
        }
        before = *number;
        bits |= 1 << (128 - number);
        let fits = match length_of(*number) {
            Fixed(size) => value.len() == size,
            Bits(size) => value.len() == bits_size(size, bitmap),
            Two(most) | Three(most) => value.len() <= most,
        };
        if !fits {
            return Err(Error::Field(*number));
        }
    }
    if bits as u64 != 0 {
        bits |= 1 << 127;
    }
    out.extend_from_slice(kind);
    write_bits((bits >> 64) as u64, bitmap, out);
    if bits as u64 != 0 {
        write_bits(bits as u64, bitmap, out);
    }
    for (number, value) in fields {
        match length_of(*number) {
            Two(_) => out.extend_from_slice(format!("{:02}", value.len()).as_bytes()),
            Three(_) => out.extend_from_slice(format!("{:03}", value.len()).as_bytes()),
            Fixed(_) | Bits(_) => {}
        }
        out.extend_from_slice(value);
    }
    Ok(())
}

fn write_bits(bits: u64, bitmap: Bitmap, out: &mut Vec<u8>) {
    match bitmap {
        Bitmap::Binary => out.extend_from_slice(&bits.to_be_bytes()),
        Bitmap::Hex => out.extend_from_slice(format!("{bits:016X}").as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sizes(number: u8, bitmap: Bitmap) -> std::ops::RangeInclusive<usize> {
        match length_of(number) {
            Fixed(size) => size..=size,
            Bits(size) => bits_size(size, bitmap)..=bits_size(size, bitmap),
            Two(most) | Three(most) => 0..=most.min(30),
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            numbers in prop::collection::btree_set(2u8..=128, 0..20),
            seed in any::<usize>(),
            hex in any::<bool>(),
        ) {
            let bitmap = if hex { Bitmap::Hex } else { Bitmap::Binary };
            let values: Vec<(u8, Vec<u8>)> = numbers.iter().map(|number| {
                let sizes = sizes(*number, bitmap);
                let size = sizes.start() + seed % (sizes.end() - sizes.start() + 1);
                (*number, vec![b'0' + number % 10; size])
            }).collect();
            let fields: Vec<(u8, &[u8])> = values.iter().map(|(n, value)| (*n, &value[..])).collect();
            let mut out = Vec::new();
            write(b"0200", &fields, bitmap, &mut out).unwrap();
            let message = read(&out, bitmap).unwrap();
            prop_assert_eq!(message.kind(), b"0200");
            for number in 2..=128 {
                prop_assert_eq!(find(&out, bitmap, number), Ok(message.field(number)));
            }
            prop_assert_eq!(message.fields().collect::<Vec<_>>(), fields);
        }

        #[test]
        fn nothing_that_arrives_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), hex in any::<bool>()) {
            let whole = [b"0200", &bytes[..]].concat();
            let bitmap = if hex { Bitmap::Hex } else { Bitmap::Binary };
            let _ = (read(&whole, bitmap), find(&whole, bitmap, 128));
        }
    }

    #[test]
    fn an_answer_as_it_is_sent() {
        // Fields 3, 11 and 39.
        let binary = b"0210\x20\x20\x00\x00\x02\x00\x00\x0000000000012300";
        let hex = b"0210202000000200000000000000012300";
        for (bytes, bitmap) in [(&binary[..], Bitmap::Binary), (hex, Bitmap::Hex)] {
            let message = read(bytes, bitmap).unwrap();
            let fields = [3, 4, 11, 39].map(|number| message.field(number));
            assert_eq!(message.kind(), b"0210");
            assert_eq!(fields, [Some(&b"000000"[..]), None, Some(b"000123"), Some(b"00")]);
            let mut written = Vec::new();
            write(b"0210", &message.fields().collect::<Vec<_>>(), bitmap, &mut written).unwrap();
            assert_eq!(written, bytes);
        }
        assert_eq!(read(&hex[..33], Bitmap::Hex).unwrap_err(), Error::Field(39));
        assert_eq!(read(&hex[..20], Bitmap::Hex).unwrap_err(), Error::Field(3));
    }

    #[test]
    fn what_is_broken_is_named() {
        for (bytes, error) in [
            (&b"02"[..], Error::Kind),
            (b"02x0", Error::Kind),
            (b"0200\x40", Error::Bitmap),
            (b"0200\x80\0\0\0\0\0\0\0", Error::Bitmap),
            (b"0200\x40\0\0\0\0\0\0\0\x31", Error::Field(2)),
            (b"0200\x40\0\0\0\0\0\0\0+1x", Error::Field(2)),
            (b"0200\x40\0\0\0\0\0\0\x0020xxxxxxxxxxxxxxxxxxxx", Error::Field(2)),
            (b"0200\x40\0\0\0\0\0\0\x0002xxy", Error::Rest(1)),
        ] {
            assert_eq!(read(bytes, Bitmap::Binary).unwrap_err(), error, "{bytes:?}");
        }
        let mut out = Vec::new();
        for (fields, error) in [
            (&[(39u8, &b"000"[..])][..], Error::Field(39)),
            (&[(1, b"")], Error::NoField(1)),
            (&[(39, b"00"), (39, b"00")], Error::NoField(39)),
            (&[(129, b"")], Error::NoField(129)),
        ] {
            assert_eq!(write(b"0200", fields, Bitmap::Binary, &mut out), Err(error));
        }
        assert!(out.is_empty());
    }
}
