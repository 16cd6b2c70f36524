//! Addresses that look alike: sixteen objects of one family have addresses that differ in nothing but how something is spelled, and are none
//! the less different (RFC 3986 section 6.2: what no normalisation makes equal names different resources). A cache whose key joins two of
//! them gives one out for the other. Spellings that mean the same, as `%77` for `w` or `/./` for `/`, may be joined, and are not used. Or they
//! have the same hash, so that a cache which looks no further than that joins them.

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
    /// Sixteen objects have one number and size, and names of which each has the hash of another one: that of djb2, of Java's strings, of
    /// sdbm, or CRC-32, whatever stands before and behind the name.
    SameHash,
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

/// Two names with one hash of 32 bits, the same in front of equal ends and behind equal beginnings, as both are of one length.
type Twins = [&'static [u8; 8]; 2];

/// Names of one family: each bit of the last four of an object's number chooses one of two.
const TWINS: [Twins; 4] = [
    // Times 33 (djb2).
    [b"djb2--Ez", b"djb2--FY"],
    // Times 31 (Java's strings).
    [b"java--Aa", b"java--BB"],
    // Times 65,599 (sdbm).
    [b"pc08p09m", b"itvkhb9n"],
    // The CRC of zip and Ethernet.
    [b"o16ztj0g", b"yd5cous7"],
];

/// Bytes of such a name behind the size: a slash, and the four with a point behind each but the last.
const NAME: usize = 4 * 9;

const FAMILY: u64 = SPELLINGS.len() as u64 - 1;

impl Keys {
    /// All.
    pub const ALL: [Keys; 3] = [Keys::Plain, Keys::LookAlike, Keys::SameHash];

    /// The name on command lines and in plans.
    pub fn name(self) -> &'static str {
        match self {
            Keys::Plain => "plain",
            Keys::LookAlike => "look-alike",
            Keys::SameHash => "same-hash",
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
            Keys::LookAlike | Keys::SameHash => object & !FAMILY,
        }
    }
}

impl Site {
    /// Words for what the addresses of two objects have in common; nothing of any two.
    pub fn look_alike(&self, one: u64, other: u64) -> Option<&'static str> {
        let are_kin = one != other && self.keys.written(one) == self.keys.written(other);
        match self.keys {
            Keys::Plain => None,
            Keys::LookAlike => are_kin.then_some("whose address differs in spelling alone"),
            Keys::SameHash => {
                are_kin.then_some("whose name differs in nothing but syllables of the same hash")
            }
        }
    }
}

/// Appends the path of an object that has kin.
pub(super) fn write(out: &mut Vec<u8>, keys: Keys, laws: &[u8], object: u64, size: u64) {
    match keys {
        Keys::Plain | Keys::LookAlike => write_spelled(out, laws, object, size),
        Keys::SameHash => {
            [b"/w/", laws, b"/"].iter().for_each(|part| out.extend_from_slice(part));
            write_hex(out, object & !FAMILY);
            out.push(b'/');
            write_number(out, size);
            out.extend_from_slice(&name(object));
        }
    }
}

/// Reads such a path into object and size.
pub(super) fn read(path: &[u8], keys: Keys, laws: &[u8]) -> Option<(u64, u64)> {
    match keys {
        Keys::Plain | Keys::LookAlike => read_spelled(path, laws),
        Keys::SameHash => {
            let rest = path.strip_prefix(b"/w/")?.strip_prefix(laws)?.strip_prefix(b"/")?;
            let (rest, named) = rest.split_at_checked(rest.len().checked_sub(NAME)?)?;
            let slash = rest.iter().position(|byte| *byte == b'/')?;
            let family = read_hex(&rest[..slash])?;
            let digits = &rest[slash + 1..];
            let size = leading_number(digits).filter(|_| digits.iter().all(u8::is_ascii_digit))?;
            let one = (0..=FAMILY).find(|one| named == name(*one))?;
            (family & FAMILY == 0 && size <= super::MAX_SIZE).then_some((family | one, size))
        }
    }
}

/// The end of an address, by which sixteen objects are told apart.
fn name(object: u64) -> [u8; NAME] {
    let mut name = [b'.'; NAME];
    for (bit, (twins, place)) in TWINS.iter().zip(name.chunks_exact_mut(9)).enumerate() {
        place[1..].copy_from_slice(twins[(object >> bit & 1) as usize]);
    }
    name[0] = b'/';
    name
}

fn write_spelled(out: &mut Vec<u8>, laws: &[u8], object: u64, size: u64) {
    let Spelling { begin, gap, end } = &SPELLINGS[(object & FAMILY) as usize];
    [begin, laws, gap].iter().for_each(|part| out.extend_from_slice(part));
    write_hex(out, object & !FAMILY);
    out.push(b'/');
    write_number(out, size);
    out.extend_from_slice(end);
}

fn read_spelled(path: &[u8], laws: &[u8]) -> Option<(u64, u64)> {
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
            assert_eq!(site.look_alike(object, 0x121).is_some(), object != 0x121);
        }
        assert_eq!(site.look_alike(0x12F, 0x130), None);
        assert_eq!(Site::default().look_alike(1, 2), None);
    }

    /// The hashes as anybody would write them, over what is before the name and behind it.
    #[test]
    fn each_name_has_four_hashes_in_common_with_one_other() {
        let times = |factor: u32| {
            move |text: &[u8]| {
                text.iter()
                    .fold(5381, |sum: u32, byte| sum.wrapping_mul(factor).wrapping_add(u32::from(*byte)))
            }
        };
        let crc = |text: &[u8]| {
            !text.iter().fold(u32::MAX, |sum, byte| {
                (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
                    sum >> 1 ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 }
                })
            })
        };
        assert_eq!(crc(b"123456789"), 0xCBF4_3926);
        let times = [times(33), times(31), times(65_599)];
        let hash = |bit: usize, text: &[u8]| times.get(bit).map_or_else(|| crc(text), |times| times(text));
        let site = Site { keys: Keys::SameHash, ..Site::default() };
        let paths = Paths::new(&site);
        let path = |object| {
            let mut path = b"GEThttp://shop.example:8080".to_vec();
            paths.write(&mut path, object, site.size_of(object));
            path.extend_from_slice(b" HTTP/1.1");
            path
        };
        for bit in 0..4 {
            for object in 0x120..0x130 {
                let equal =
                    |other: &u64| *other != object && hash(bit, &path(*other)) == hash(bit, &path(object));
                assert_eq!(
                    (0x120..0x130).filter(equal).collect::<Vec<_>>(),
                    [object ^ 1 << bit],
                    "{object:x}"
                );
            }
        }
    }

    #[test]
    fn names_of_one_hash_are_read_as_what_was_written_and_nothing_else_is() {
        let site = Site { keys: Keys::SameHash, ..Site::default() };
        let paths = Paths::new(&site);
        for object in 0x120..0x130 {
            let mut path = Vec::new();
            paths.write(&mut path, object, site.size_of(object));
            let text = String::from_utf8(path.clone()).unwrap();
            assert_eq!(paths.read(&path), Ok((object, site.size_of(0x120))), "{text}");
            for (from, to) in [("djb2", "djb3"), ("/w/", "/v/"), ("120/", "121/"), (".java", "/java")] {
                assert!(paths.read(text.replacen(from, to, 1).as_bytes()).is_err(), "{from} {to}");
            }
            assert!(paths.read(&path[..path.len() - 1]).is_err() && paths.read(b"/w/").is_err());
        }
        let alike = site.look_alike(0x120, 0x123).unwrap();
        assert!(alike.contains("the same hash"), "{alike}");
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
