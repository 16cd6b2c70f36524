//! Local addresses to connect from: one address and one target have room for as many connections as there are local
//! ports, two addresses for twice as many.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Most addresses that a load may connect from.
pub const MAX_SOURCES: u64 = 65_536;

/// An address, or a range of addresses of one family, both ends included; as text `A` or `A-B`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct SourceRange {
    first: IpAddr,
    last: IpAddr,
}

impl SourceRange {
    /// True if its addresses are of IPv4.
    pub fn is_ipv4(&self) -> bool {
        self.first.is_ipv4()
    }

    /// How many addresses it has, at least 1.
    pub fn count(&self) -> u64 {
        let first = number(self.first);
        let last = number(self.last);
        u64::try_from(last - first).map_or(u64::MAX, |more| more.saturating_add(1))
    }

    /// The first address that both have; nothing where they have none.
    pub fn common(&self, other: &SourceRange) -> Option<IpAddr> {
        let first = self.first.max(other.first);
        (self.is_ipv4() == other.is_ipv4() && first <= self.last.min(other.last)).then_some(first)
    }

    /// Its addresses in order.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> + use<> {
        let v4 = self.first.is_ipv4();
        let address = move |number: u128| match v4 {
            // The number of an IPv4 address has 32 bits.
            true => IpAddr::V4(Ipv4Addr::from(number as u32)),
            false => IpAddr::V6(Ipv6Addr::from(number)),
        };
        (number(self.first)..=number(self.last)).map(address)
    }
}

/// Reads `A[-B]` and several of them with commas between.
///
/// # Errors
/// A part of the text is no address or no range; the error says so in words.
pub fn parse_sources(text: &str) -> Result<Vec<SourceRange>, String> {
    text.split(',').map(str::parse).collect()
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    }
}

impl FromStr for SourceRange {
    type Err = String;

    fn from_str(text: &str) -> Result<SourceRange, String> {
        let address = |text: &str| {
            let bare = text.trim().trim_start_matches('[').trim_end_matches(']');
            bare.parse::<IpAddr>().map_err(|_| {
                format!("'{text}' is no address to connect from; give 127.0.0.2 or 127.0.0.2-127.0.0.9")
            })
        };
        let (first, last) = match text.split_once('-') {
            Some((first, last)) => (address(first)?, address(last)?),
            None => (address(text)?, address(text)?),
        };
        if first.is_ipv4() != last.is_ipv4() || number(first) > number(last) {
            return Err(format!("'{text}' is no range of addresses: give the lower one of one family first"));
        }
        Ok(SourceRange { first, last })
    }
}

crate::units::as_text!(SourceRange, str::parse);

impl fmt::Display for SourceRange {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(to, "{}", self.first),
            false => write!(to, "{}-{}", self.first, self.last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let ranges = parse_sources(text).unwrap();
        assert_eq!(ranges.iter().map(ToString::to_string).collect::<Vec<_>>().join(","), text);
        ranges.iter().flat_map(SourceRange::addresses).map(|address| address.to_string()).collect()
    }

    #[test]
    fn addresses_and_ranges_of_both_families_are_read() {
        assert_eq!(all("127.0.0.2"), ["127.0.0.2"]);
        assert_eq!(
            all("127.0.0.254-127.0.1.1,::1"),
            ["127.0.0.254", "127.0.0.255", "127.0.1.0", "127.0.1.1", "::1"]
        );
        assert_eq!(all("fd00::fffe-fd00::1:0"), ["fd00::fffe", "fd00::ffff", "fd00::1:0"]);
        assert_eq!("[::1]".parse::<SourceRange>().unwrap().to_string(), "::1");
        assert_eq!("::-ffff::".parse::<SourceRange>().unwrap().count(), u64::MAX);
    }

    #[test]
    fn what_two_ranges_have_in_common_is_found() {
        let common = |one: &str, other: &str| {
            let read = |text: &str| text.parse::<SourceRange>().unwrap();
            let found = read(one).common(&read(other));
            assert_eq!(found, read(other).common(&read(one)));
            found.map(|address| address.to_string())
        };
        assert_eq!(common("127.0.0.2-127.0.0.9", "127.0.0.9-127.0.1.1").as_deref(), Some("127.0.0.9"));
        assert_eq!(common("127.0.0.2-127.0.0.9", "127.0.0.4").as_deref(), Some("127.0.0.4"));
        assert_eq!(common("127.0.0.2-127.0.0.8", "127.0.0.9"), None);
        assert_eq!(common("::-::ff", "0.0.0.1"), None);
    }

    #[test]
    fn what_is_no_range_is_said() {
        for (text, said) in [
            ("", "no address"),
            ("localhost", "'localhost' is no address"),
            ("127.0.0.9-127.0.0.2", "the lower one"),
            ("127.0.0.2-::1", "of one family"),
            ("127.0.0.2,", "no address"),
        ] {
            let error = parse_sources(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
