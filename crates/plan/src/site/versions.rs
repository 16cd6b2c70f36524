//! Laws by which the versions of an object differ in more than their bytes: how long each is, and whether there is one at all. Pure
//! functions of object and version, as everything that is true of an object.

use super::Site;
use crate::draw::{fraction, hash};
use serde::{Deserialize, Serialize};

const SALT_SIZE: u64 = 0x5E;
const SALT_GONE: u64 = 0x60;

/// The length of a version beside that of the object, which stands in its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum VersionSize {
    /// The same.
    Same,
    /// Half of it.
    Half,
    /// Half as much again.
    OneAndAHalf,
    /// Nothing.
    Empty,
}

impl VersionSize {
    /// All of them.
    pub const ALL: [VersionSize; 4] =
        [VersionSize::Same, VersionSize::Half, VersionSize::OneAndAHalf, VersionSize::Empty];

    /// The name on command lines and in plans.
    pub fn name(self) -> &'static str {
        match self {
            VersionSize::Same => "same",
            VersionSize::Half => "half",
            VersionSize::OneAndAHalf => "one-and-a-half",
            VersionSize::Empty => "empty",
        }
    }

    fn of(self, size: u64) -> u64 {
        match self {
            VersionSize::Same => size,
            VersionSize::Half => size / 2,
            VersionSize::OneAndAHalf => size + size / 2,
            VersionSize::Empty => 0,
        }
    }
}

/// The status that says of an object that it is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// 404: perhaps not for ever.
    NotFound,
    /// 410: for ever, as far as is known.
    Gone,
    /// 301: it is elsewhere.
    Moved,
}

impl Gone {
    /// The number.
    pub fn status(self) -> u16 {
        match self {
            Gone::NotFound => 404,
            Gone::Gone => 410,
            Gone::Moved => 301,
        }
    }
}

impl Site {
    /// Bytes of one version of an object; `size`: those that its address says.
    pub fn size_of_version(&self, object: u64, version: u64, size: u64) -> u64 {
        match self.version_sizes.as_slice() {
            [] => size,
            all => all[(hash(hash(SALT_SIZE, object), version) % all.len() as u64) as usize].of(size),
        }
    }

    /// How the object is missing in one version; `None`: it is there.
    pub fn gone(&self, object: u64, version: u64) -> Option<Gone> {
        if self.gone == 0.0 {
            return self.missing(object);
        }
        let bits = hash(hash(SALT_GONE, object), version);
        let status = [Gone::NotFound, Gone::Gone, Gone::Moved][(bits % 3) as usize];
        self.missing(object).or_else(|| (fraction(bits) < self.gone).then_some(status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_the_lengths_that_the_plan_lists_and_no_others() {
        let plain = Site::default();
        let site = Site { version_sizes: VersionSize::ALL.to_vec(), ..Site::default() };
        let mut seen = std::collections::BTreeMap::new();
        for version in 0..4_000 {
            assert_eq!(plain.size_of_version(7, version, 1_001), 1_001);
            *seen.entry(site.size_of_version(7, version, 1_001)).or_insert(0) += 1;
        }
        assert_eq!(seen.keys().copied().collect::<Vec<_>>(), [0, 500, 1_001, 1_501]);
        assert!(seen.values().all(|count| (850..1_150).contains(count)), "{seen:?}");
    }

    #[test]
    fn objects_are_gone_in_as_many_versions_as_asked_and_come_back() {
        let site = Site { gone: 0.25, ..Site::default() };
        let of = |status| (0..8_000).filter(|version| site.gone(7, *version) == Some(status)).count();
        let counts = [of(Gone::NotFound), of(Gone::Gone), of(Gone::Moved)];
        assert!(counts.iter().all(|count| (550..780).contains(count)), "{counts:?}");
        assert!((0..8_000).all(|version| Site::default().gone(7, version).is_none()));
    }
}
