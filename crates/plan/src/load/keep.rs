//! Which single requests are kept in the file of a run.

use crate::draw::hash;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::num::NonZeroU32;

/// Single requests that are kept beside the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeepRequests {
    /// None.
    #[default]
    Nothing,
    /// Those that were not good.
    Failures,
    /// One of so many, drawn from its number: the same plan keeps the same ones.
    OneOf(NonZeroU32),
}

/// Draws of the sample are no others.
const SALT: u64 = 0x6b65_6570_0000_0001;

impl KeepRequests {
    /// Reads `failures`, `exchanges` (all) or `1/N`.
    ///
    /// # Errors
    /// The accepted forms.
    pub fn parse(text: &str) -> Result<KeepRequests, String> {
        let one_of = |text: &str| text.strip_prefix("1/")?.parse().ok().map(KeepRequests::OneOf);
        match text {
            "failures" => Ok(KeepRequests::Failures),
            "exchanges" => Ok(KeepRequests::OneOf(NonZeroU32::MIN)),
            _ => one_of(text).ok_or_else(|| {
                format!("'{text}' is no choice of requests: give failures, 1/1000 (one of 1000) or exchanges (all)")
            }),
        }
    }

    /// True if the request of this number is kept that ended so.
    #[inline]
    pub fn wants(self, number: u64, is_good: bool) -> bool {
        match self {
            KeepRequests::Nothing => false,
            KeepRequests::Failures => !is_good,
            KeepRequests::OneOf(many) => hash(SALT, number).is_multiple_of(u64::from(many.get())),
        }
    }

    /// True if none is kept.
    pub fn is_nothing(&self) -> bool {
        *self == KeepRequests::Nothing
    }
}

impl fmt::Display for KeepRequests {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeepRequests::Nothing => to.write_str("nothing"),
            KeepRequests::Failures => to.write_str("failures"),
            KeepRequests::OneOf(many) if many.get() == 1 => to.write_str("exchanges"),
            KeepRequests::OneOf(many) => write!(to, "1/{many}"),
        }
    }
}

impl Serialize for KeepRequests {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeepRequests {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<KeepRequests, D::Error> {
        let text = String::deserialize(from)?;
        if text == "nothing" {
            return Ok(KeepRequests::Nothing);
        }
        KeepRequests::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_as_they_are_written() {
        for text in ["failures", "exchanges", "1/7"] {
            assert_eq!(KeepRequests::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(KeepRequests::parse("1/1").unwrap().to_string(), "exchanges");
        for wrong in ["", "1/0", "2/7", "1/x", "all", "nothing"] {
            assert!(KeepRequests::parse(wrong).unwrap_err().contains("exchanges"), "{wrong}");
        }
    }

    #[test]
    fn a_sample_is_as_large_as_it_says_and_always_the_same() {
        let of = |text: &str| {
            let keep = KeepRequests::parse(text).unwrap();
            (0..100_000).filter(|number| keep.wants(*number, true)).collect::<Vec<u64>>()
        };
        assert_eq!(of("exchanges").len(), 100_000);
        assert_eq!(of("failures").len(), 0);
        // Six standard deviations.
        assert!((4_800..5_200 + 400).contains(&of("1/20").len()), "{}", of("1/20").len());
        assert_eq!(of("1/20"), of("1/20"));
        assert!(KeepRequests::Failures.wants(5, false));
    }
}
