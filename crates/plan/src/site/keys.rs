//! Addresses that look alike: sixteen objects of one family have addresses that differ in nothing but how something is spelled, and are none
//! the less different (RFC 3986 section 6.2: what no normalisation makes equal names different resources). A cache whose key joins two of
//! them gives one out for the other. Spellings that mean the same, as `%77` for `w` or `/./` for `/`, may be joined, and are not used.

use super::{Site, read_hex, write_hex, write_number};
use crate::site::numbers::leading_number;
use serde::{Deserialize, Serialize};

/// How the addresses of objects are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Keys {
    /// Each object has a number of its own.
    #[default]
    Plain,
    /// Sixteen objects have one number and size, and are spelled in sixteen ways.
    LookAlike,
}

/// A spelling: what stands before the laws, between them and the number, and behind the size.
struct Spelling {
    begin: &'static [u8],
    gap: &'static [u8],
    end: &'static [u8],
}

const fn ends_with(end: &'static [u8]) -> Spelling {
    Spelling { begin: b"/w/", gap: b"/", end }
}

/// Spellings of one family; the last four bits of an object's number choose one.
const SPELLINGS: [Spelling; 16] = [
    ends_with(b""),
    Spelling { begin: b"/w/", gap: b"//", end: b"" },
    Spelling { begin: b"/w/", gap: b"%2F", end: b"" },
    Spelling { begin: b"/W/", gap: b"/", end: b"" },
    ends_with(b"?"),
    ends_with(b"?a=1&b=2"),
    ends_with(b"?b=2&a=1"),
    ends_with(b"/"),
    ends_with(b":"),
    ends_with(b"::"),
    ends_with(b"?a=2"),
    ends_with(b"?a=1"),
    ends_with(b"?a=1&a=1"),
    ends_with(b"?A=1"),
    ends_with(b"?a=%2B"),
    ends_with(b"?a=+"),
];

const FAMILY: u64 = SPELLINGS.len() as u64 - 1;

impl Keys {
    /// Both.
    pub const ALL: [Keys; 2] = [Keys::Plain, Keys::LookAlike];

    /// The name on command lines and in plans.
    pub fn name(self) -> &'static str {
        match self {
            Keys::Plain => "plain",
            Keys::LookAlike => "look-alike",
        }
    }

    /// True if it is the usual one.
    pub(super) fn is_plain(&self) -> bool {
        *self == Keys::Plain
    }

    /// The number that stands in the address of an object, and on which its size depends.
    pub(super) fn written(self, object: u64) -> u64 {
        match self {
            Keys::Plain => object,
            Keys::LookAlike => object & !FAMILY,
        }
    }
}

impl Site {
    /// True if the addresses of two objects differ in spelling alone.
    pub fn look_alike(&self, one: u64, other: u64) -> bool {
        one != other && self.keys.written(one) == self.keys.written(other)
    }
}

/// Appends the path of an object that has look-alikes.
pub(super) fn write(out: &mut Vec<u8>, laws: &[u8], object: u64, size: u64) {
    let Spelling { begin, gap, end } = &SPELLINGS[(object & FAMILY) as usize];
    [begin, laws, gap].iter().for_each(|part| out.extend_from_slice(part));
    write_hex(out, object & !FAMILY);
    out.push(b'/');
    write_number(out, size);
    out.extend_from_slice(end);
}

/// Reads such a path into object and size.
pub(super) fn read(path: &[u8], laws: &[u8]) -> Option<(u64, u64)> {
    let (begin, rest) = path.split_at_checked(3)?;
    let rest = rest.strip_prefix(laws)?;
    let gap = rest.iter().position(u8::is_ascii_hexdigit)?;
    // `%2F` has hexadecimal digits itself, in either case (RFC 3986 section 6.2.2.1).
    let gap = if rest.starts_with(b"%") { 3 } else { gap };
    let (gap, rest) = rest.split_at_checked(gap)?;
    let slash = rest.iter().position(|byte| *byte == b'/')?;
    let family = read_hex(&rest[..slash])?;
    let rest = &rest[slash + 1..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let size = leading_number(&rest[..digits])?;
    let end = &rest[digits..];
    let is_this =
        |one: &Spelling| begin == one.begin && is_end(end, one.end) && gap.eq_ignore_ascii_case(one.gap);
    let spelling = SPELLINGS.iter().position(is_this)? as u64;
    (family & FAMILY == 0 && size <= super::MAX_SIZE).then_some((family | spelling, size))
}

/// True if an end is the one that is wanted, with escapes in either case.
fn is_end(end: &[u8], wanted: &[u8]) -> bool {
    end == wanted || wanted.contains(&b'%') && end == wanted.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::Paths;

    #[test]
    fn a_family_has_sixteen_addresses_of_one_size_and_each_is_read_as_itself() {
        let site = Site { keys: Keys::LookAlike, ..Site::default() };
        let paths = Paths::new(&site);
        let mut seen = std::collections::HashSet::new();
        for object in 0x120..0x130 {
            let mut path = Vec::new();
            paths.write(&mut path, object, site.size_of(object));
            let text = String::from_utf8(path.clone()).unwrap();
            assert_eq!(paths.read(&path), Ok((object, site.size_of(0x120))), "{text}");
            let lower = text.replace("%2F", "%2f").replace("%2B", "%2b");
            assert_eq!(paths.read(lower.as_bytes()), Ok((object, site.size_of(0x120))), "{lower}");
            assert!(seen.insert(text));
            assert_eq!(site.look_alike(object, 0x121), object != 0x121);
        }
        assert!(!site.look_alike(0x12F, 0x130) && !Site::default().look_alike(1, 2));
    }

    #[test]
    fn what_is_spelled_otherwise_is_no_object() {
        let site = Site { keys: Keys::LookAlike, ..Site::default() };
        let paths = Paths::new(&site);
        let mut path = Vec::new();
        paths.write(&mut path, 0x120, 100);
        let plain = String::from_utf8(path).unwrap();
        for (from, to) in
            [("/100", "/100?c=3"), ("/w/", "/v/"), ("120", "121"), ("/100", "/1e2"), ("/w/", "/w//")]
        {
            assert!(paths.read(plain.replacen(from, to, 1).as_bytes()).is_err(), "{from} {to}");
        }
        assert!(paths.read(b"/w").is_err() && paths.read(b"/w/").is_err());
    }
}
