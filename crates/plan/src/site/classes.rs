//! Laws of some objects in place of those of their site: an object's number names its class, so both sides know them and nothing is stored.

use super::{Gone, Site, Storage, is_one_timer};
use crate::units::duration_text_option;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Classes that a site may have: the number of one has seven bits.
pub const MAX_CLASSES: usize = 128;

/// Bits of an object's number below those of its class.
const BELOW: u32 = 56;

/// Laws that the objects of a class have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ObjectClass {
    /// For how long an answer may be kept; `None`: as the site says.
    #[serde(with = "duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub lifetime: Option<Duration>,
    /// Who may store it.
    pub storage: Storage,
    /// Each object gets a new version this often; `None`: it never changes.
    #[serde(with = "duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub change_every: Option<Duration>,
    /// The objects do not exist: 404, with a lifetime as any other answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

/// The number of an object of a class. `number` has at most 56 bits.
pub const fn object_of_class(class: u8, number: u64) -> u64 {
    ((class as u64 & 0x7F) << BELOW) | (number & ((1 << BELOW) - 1))
}

impl Site {
    /// The class of an object; `None`: the laws of the site are its own.
    pub fn class_of(&self, object: u64) -> Option<&ObjectClass> {
        if self.classes.is_empty() || is_one_timer(object) {
            return None;
        }
        self.classes.get((object >> BELOW) as usize & (MAX_CLASSES - 1))
    }

    /// How often an object changes; `None`: never.
    pub fn change_every_of(&self, object: u64) -> Option<Duration> {
        self.class_of(object).map_or(self.change_every, |class| class.change_every)
    }

    /// True if there are objects that may be missing.
    pub fn may_lack_objects(&self) -> bool {
        self.gone > 0.0 || self.classes.iter().any(|class| class.missing)
    }

    /// How an object of a class is missing, for ever.
    pub(super) fn missing(&self, object: u64) -> Option<Gone> {
        self.class_of(object).filter(|class| class.missing).map(|_| Gone::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_has_laws_of_its_own_and_other_objects_those_of_the_site() {
        let fast = ObjectClass {
            lifetime: Some(Duration::from_secs(7)),
            storage: Storage::Private,
            change_every: Some(Duration::from_secs(60)),
            missing: false,
        };
        let missing = ObjectClass { missing: true, ..ObjectClass::default() };
        let site = Site { classes: vec![ObjectClass::default(), fast, missing], ..Site::default() };
        let day = Duration::from_secs(86_400);
        let of = |class| object_of_class(class, 0xFF_FFFF_FFFF_FFFF);
        assert_eq!([0, 1, 9].map(|class| site.lifetime_of(of(class), 0)), [day, Duration::from_secs(7), day]);
        assert_eq!([0, 1].map(|class| site.storage_of(of(class))), [Storage::Shared, Storage::Private]);
        assert_eq!([0, 1, 2].map(|class| site.gone(of(class), 0)), [None, None, Some(Gone::NotFound)]);
        let minutes = |class| site.version_at(of(class), 3_600_000_000) - site.version_at(of(class), 0);
        assert_eq!([minutes(0), minutes(1)], [0, 60]);
        assert_eq!(site.class_of(super::super::one_timer(1 << 56)), None);
        assert!(site.may_lack_objects() && !Site::default().may_lack_objects());
    }
}
