//! ISO 8583 messages (1987 edition): message type, bitmap and fields by number, as payment systems speak them.
//!
//! How messages are told apart on a connection is [`crate::message`]'s business, usually a length of two bytes or four digits.
//! Character fields are ASCII or EBCDIC; numbers may be packed, two digits a byte. Lengths of variable fields are two or
//! three digits. Installations differ from the standard:
//! a field that one of them uses otherwise makes the rest unreadable, and that is told.

use std::borrow::Cow;
use std::ops::Range;

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iso8583Form {
    /// How bitmaps are.
    pub bitmap: Bitmap,
    /// How all else is.
    pub coding: Coding,
}

/// How the message type and the fields are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// Characters of ASCII.
    Ascii,
    /// Characters of EBCDIC, code page 037.
    Ebcdic,
    /// Numbers and lengths two digits a byte, other characters ASCII. What has an odd number of digits begins with a zero, and
    /// ends with a filler where its length varies.
    Bcd,
}

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

/// The characters of code page 037, as those of ISO 8859-1.
#[rustfmt::skip]
const EBCDIC: [u8; 256] = [
    0x00, 0x01, 0x02, 0x03, 0x9c, 0x09, 0x86, 0x7f, 0x97, 0x8d, 0x8e, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
    0x10, 0x11, 0x12, 0x13, 0x9d, 0x85, 0x08, 0x87, 0x18, 0x19, 0x92, 0x8f, 0x1c, 0x1d, 0x1e, 0x1f,
    0x80, 0x81, 0x82, 0x83, 0x84, 0x0a, 0x17, 0x1b, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x05, 0x06, 0x07,
    0x90, 0x91, 0x16, 0x93, 0x94, 0x95, 0x96, 0x04, 0x98, 0x99, 0x9a, 0x9b, 0x14, 0x15, 0x9e, 0x1a,
    0x20, 0xa0, 0xe2, 0xe4, 0xe0, 0xe1, 0xe3, 0xe5, 0xe7, 0xf1, 0xa2, 0x2e, 0x3c, 0x28, 0x2b, 0x7c,
    0x26, 0xe9, 0xea, 0xeb, 0xe8, 0xed, 0xee, 0xef, 0xec, 0xdf, 0x21, 0x24, 0x2a, 0x29, 0x3b, 0xac,
    0x2d, 0x2f, 0xc2, 0xc4, 0xc0, 0xc1, 0xc3, 0xc5, 0xc7, 0xd1, 0xa6, 0x2c, 0x25, 0x5f, 0x3e, 0x3f,
    0xf8, 0xc9, 0xca, 0xcb, 0xc8, 0xcd, 0xce, 0xcf, 0xcc, 0x60, 0x3a, 0x23, 0x40, 0x27, 0x3d, 0x22,
    0xd8, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0xab, 0xbb, 0xf0, 0xfd, 0xfe, 0xb1,
    0xb0, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f, 0x70, 0x71, 0x72, 0xaa, 0xba, 0xe6, 0xb8, 0xc6, 0xa4,
    0xb5, 0x7e, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0xa1, 0xbf, 0xd0, 0xdd, 0xde, 0xae,
    0x5e, 0xa3, 0xa5, 0xb7, 0xa9, 0xa7, 0xb6, 0xbc, 0xbd, 0xbe, 0x5b, 0x5d, 0xaf, 0xa8, 0xb4, 0xd7,
    0x7b, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0xad, 0xf4, 0xf6, 0xf2, 0xf3, 0xf5,
    0x7d, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f, 0x50, 0x51, 0x52, 0xb9, 0xfb, 0xfc, 0xf9, 0xfa, 0xff,
    0x5c, 0xf7, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0xb2, 0xd4, 0xd6, 0xd2, 0xd3, 0xd5,
    0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0xb3, 0xdb, 0xdc, 0xd9, 0xda, 0x9f,
];

/// Why bytes are no message, or fields make none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Iso8583Error {
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
pub struct Iso8583Message<'a> {
    bytes: &'a [u8],
    fields: Vec<(u8, Range<usize>)>,
}

/// Reads one message.
///
/// # Errors
/// The first thing that is not as the standard has it.
pub fn read(bytes: &[u8], bitmap: Bitmap) -> Result<Iso8583Message<'_>, Iso8583Error> {
    let kind = bytes.get(..4).ok_or(Iso8583Error::Kind)?;
    if !kind.iter().all(u8::is_ascii_digit) {
        return Err(Iso8583Error::Kind);
    }
    let mut at = 4;
    let mut bits = u128::from(read_bits(bytes, bitmap, &mut at)?) << 64;
    if bits >> 127 == 1 {
        bits |= u128::from(read_bits(bytes, bitmap, &mut at)?);
    }
    let mut fields = Vec::new();
    for number in (2..=128u8).filter(|number| bits >> (128 - number) & 1 == 1) {
        let size = field_size(number, bytes, bitmap, &mut at).ok_or(Iso8583Error::Field(number))?;
        if bytes.len() - at < size {
            return Err(Iso8583Error::Field(number));
        }
        fields.push((number, at..at + size));
        at += size;
    }
    if at < bytes.len() {
        Err(Iso8583Error::Rest(bytes.len() - at))
    } else {
        Ok(Iso8583Message { bytes, fields })
    }
}

/// One field by its number, 2 to 128, or the message type for 0, as characters of ASCII: as [`read`], without the others.
/// `None`: the message has no such field. What stands behind it is not looked at. Nothing is allocated for what is ASCII already.
///
/// # Errors
/// As [`read`], of what stands before the field.
pub fn find(bytes: &[u8], form: Iso8583Form, wanted: u8) -> Result<Option<Cow<'_, [u8]>>, Iso8583Error> {
    let size = if form.coding == Coding::Bcd { 2 } else { 4 };
    let kind =
        bytes.get(..size).map(|kind| form.coding.text(kind, Digits::Even)).ok_or(Iso8583Error::Kind)?;
    if !kind.iter().all(u8::is_ascii_digit) {
        return Err(Iso8583Error::Kind);
    }
    if wanted == 0 {
        return Ok(Some(kind));
    }
    let mut at = size;
    let mut bits = u128::from(read_bits(bytes, form.bitmap, &mut at)?) << 64;
    if bits >> 127 == 1 {
        bits |= u128::from(read_bits(bytes, form.bitmap, &mut at)?);
    }
    for number in (2..=wanted.min(128)).filter(|number| bits >> (128 - number) & 1 == 1) {
        let extent = extent(number, bytes, form, &mut at).ok_or(Iso8583Error::Field(number))?;
        let field = bytes.get(at..at + extent.bytes).ok_or(Iso8583Error::Field(number))?;
        if number == wanted {
            return Ok(Some(match length_of(number) {
                Bits(_) => Cow::Borrowed(field),
                _ if form.coding == Coding::Bcd && is_signed(number) => {
                    [&field[..1], &form.coding.text(&field[1..], Digits::Even)].concat().into()
                }
                _ => form.coding.text(field, extent.digits),
            }));
        }
        at += extent.bytes;
    }
    Ok(None)
}

/// How the digits of a packed number fill its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    /// It is no packed number.
    None,
    Even,
    /// A zero comes first.
    After,
    /// A filler comes last.
    Before,
}

/// Space that a field takes.
struct Extent {
    bytes: usize,
    digits: Digits,
}

impl Coding {
    /// The characters of a field.
    fn text(self, field: &[u8], digits: Digits) -> Cow<'_, [u8]> {
        match (self, digits) {
            (Coding::Ascii, _) | (Coding::Bcd, Digits::None) => Cow::Borrowed(field),
            (Coding::Ebcdic, _) => field.iter().map(|byte| EBCDIC[usize::from(*byte)]).collect(),
            (Coding::Bcd, digits) => {
                // The half byte D is the separator of a track.
                let digit = |half: u8| b"0123456789ABC=EF"[usize::from(half)];
                let halves = field.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
                let skipped = halves.skip(usize::from(digits == Digits::After));
                let mut text: Vec<u8> = skipped.collect();
                text.truncate(text.len() - usize::from(digits == Digits::Before));
                text.into()
            }
        }
    }

    /// A number of so many digits that stands at `at`, which moves behind it.
    fn number(self, bytes: &[u8], digits: usize, at: &mut usize) -> Option<usize> {
        let size = if self == Coding::Bcd { digits.div_ceil(2) } else { digits };
        let text = self.text(bytes.get(*at..*at + size)?, Digits::Even);
        *at += size;
        let all_digits = text.iter().all(u8::is_ascii_digit);
        std::str::from_utf8(&text).ok().filter(|_| all_digits)?.parse().ok()
    }
}

/// Bytes of the field that begins at `at`, which moves behind its length.
fn extent(number: u8, bytes: &[u8], form: Iso8583Form, at: &mut usize) -> Option<Extent> {
    let announced = |digits: usize, most: usize, at: &mut usize| {
        form.coding.number(bytes, digits, at).filter(|size| *size <= most)
    };
    let (size, varies) = match length_of(number) {
        Bits(size) => return Some(Extent { bytes: bits_size(size, form.bitmap), digits: Digits::None }),
        Fixed(size) => (size, false),
        Two(most) => (announced(2, most, at)?, true),
        Three(most) => (announced(3, most, at)?, true),
    };
    Some(match form.coding {
        Coding::Bcd if is_signed(number) => Extent { bytes: size.div_ceil(2), digits: Digits::None },
        Coding::Bcd if is_numeric(number) => {
            let digits = match (size % 2, varies) {
                (0, _) => Digits::Even,
                (_, true) => Digits::Before,
                (_, false) => Digits::After,
            };
            Extent { bytes: size.div_ceil(2), digits }
        }
        _ => Extent { bytes: size, digits: Digits::None },
    })
}

/// True if a field holds nothing but digits, or the digits of a track (ISO 8583:1987 section 4, attributes n and z).
fn is_numeric(number: u8) -> bool {
    matches!(number, 2..=27 | 32 | 33 | 35 | 36 | 53 | 66..=90 | 99 | 100)
}

/// True if a field has a letter before its digits (attribute x+n).
fn is_signed(number: u8) -> bool {
    matches!(number, 28..=31 | 97)
}

fn read_bits(bytes: &[u8], bitmap: Bitmap, at: &mut usize) -> Result<u64, Iso8583Error> {
    let size = bits_size(8, bitmap);
    let field = bytes.get(*at..*at + size).ok_or(Iso8583Error::Bitmap)?;
    *at += size;
    match bitmap {
        Bitmap::Binary => Ok(field.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte))),
        Bitmap::Hex => field.iter().try_fold(0, |bits, digit| {
            let digit = char::from(*digit).to_digit(16).ok_or(Iso8583Error::Bitmap)?;
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

impl<'a> Iso8583Message<'a> {
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
pub fn write(
    kind: &[u8],
    fields: &[(u8, &[u8])],
    bitmap: Bitmap,
    out: &mut Vec<u8>,
) -> Result<(), Iso8583Error> {
    if kind.len() != 4 || !kind.iter().all(u8::is_ascii_digit) {
        return Err(Iso8583Error::Kind);
    }
    let mut bits = 0u128;
    let mut before = 1;
    for (number, value) in fields {
        if *number <= before || *number > 128 {
            return Err(Iso8583Error::NoField(*number));
        }
        before = *number;
        bits |= 1 << (128 - number);
        let fits = match length_of(*number) {
            Fixed(size) => value.len() == size,
            Bits(size) => value.len() == bits_size(size, bitmap),
            Two(most) | Three(most) => value.len() <= most,
        };
        if !fits {
            return Err(Iso8583Error::Field(*number));
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
                let form = Iso8583Form { bitmap, coding: Coding::Ascii };
                prop_assert_eq!(find(&out, form, number), Ok(message.field(number).map(Cow::Borrowed)));
            }
            prop_assert_eq!(message.fields().collect::<Vec<_>>(), fields);
        }

        #[test]
        fn nothing_that_arrives_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), hex in any::<bool>()) {
            let whole = [b"0200", &bytes[..]].concat();
            let bitmap = if hex { Bitmap::Hex } else { Bitmap::Binary };
            let _ = read(&whole, bitmap);
            for coding in [Coding::Ascii, Coding::Ebcdic, Coding::Bcd] {
                let _ = [&whole, &bytes].map(|bytes| find(bytes, Iso8583Form { bitmap, coding }, 128));
            }
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
        assert_eq!(read(&hex[..33], Bitmap::Hex).unwrap_err(), Iso8583Error::Field(39));
        assert_eq!(read(&hex[..20], Bitmap::Hex).unwrap_err(), Iso8583Error::Field(3));
    }

    #[test]
    fn packed_numbers_and_ebcdic_are_read() {
        let found = |bytes: &[u8], coding, number| {
            let field = find(bytes, Iso8583Form { bitmap: Bitmap::Binary, coding }, number).unwrap();
            field.map(|field| String::from_utf8(field.into_owned()).unwrap())
        };
        // Fields 2, 3, 11, 22, 28, 35, 39 and 41.
        let mut packed = b"\x02\x10\x60\x20\x04\x10\x22\x80\0\0".to_vec();
        packed.extend(b"\x19\x62\x22\x02\x12\x34\x56\x78\x90\x12\x3f\x19\0\0\0\x12\x34\x00\x21D\0\0\x01\x50");
        packed.extend(b"\x07\x12\x34\xd9\x9f00TERM0001");
        for (number, value) in [
            (0, "0210"),
            (2, "6222021234567890123"),
            (3, "190000"),
            (11, "001234"),
            (22, "021"),
            (28, "D00000150"),
            (35, "1234=99"),
            (39, "00"),
            (41, "TERM0001"),
        ] {
            assert_eq!(found(&packed, Coding::Bcd, number).as_deref(), Some(value), "{number}");
        }
        assert_eq!(found(&packed, Coding::Bcd, 4), None);
        // Fields 2, 39 and 41.
        let mut ebcdic = b"\xf0\xf2\xf1\xf0\x40\0\0\0\x02\x80\0\0".to_vec();
        ebcdic.extend(b"\xf0\xf4\xf1\xf2\xf3\xf4\xf5\xf1\xe3\xc5\xd9\xd4\x40\x40\x40\xf1");
        for (number, value) in [(0, "0210"), (2, "1234"), (39, "51"), (41, "TERM   1")] {
            assert_eq!(found(&ebcdic, Coding::Ebcdic, number).as_deref(), Some(value), "{number}");
        }
    }

    #[test]
    fn what_is_broken_is_named() {
        for (bytes, error) in [
            (&b"02"[..], Iso8583Error::Kind),
            (b"02x0", Iso8583Error::Kind),
            (b"0200\x40", Iso8583Error::Bitmap),
            (b"0200\x80\0\0\0\0\0\0\0", Iso8583Error::Bitmap),
            (b"0200\x40\0\0\0\0\0\0\0\x31", Iso8583Error::Field(2)),
            (b"0200\x40\0\0\0\0\0\0\0+1x", Iso8583Error::Field(2)),
            (b"0200\x40\0\0\0\0\0\0\x0020xxxxxxxxxxxxxxxxxxxx", Iso8583Error::Field(2)),
            (b"0200\x40\0\0\0\0\0\0\x0002xxy", Iso8583Error::Rest(1)),
        ] {
            assert_eq!(read(bytes, Bitmap::Binary).unwrap_err(), error, "{bytes:?}");
        }
        let mut out = Vec::new();
        for (fields, error) in [
            (&[(39u8, &b"000"[..])][..], Iso8583Error::Field(39)),
            (&[(1, b"")], Iso8583Error::NoField(1)),
            (&[(39, b"00"), (39, b"00")], Iso8583Error::NoField(39)),
            (&[(129, b"")], Iso8583Error::NoField(129)),
        ] {
            assert_eq!(write(b"0200", fields, Bitmap::Binary, &mut out), Err(error));
        }
        assert!(out.is_empty());
    }
}
