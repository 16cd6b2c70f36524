//! Ways in which an answer says for how long it may be kept. All of them mean the same lifetime (RFC 9111 section 4.2.1), so whatever is
//! true of an object stays true in each.

use super::Site;
use crate::draw::hash;
use serde::{Deserialize, Serialize};

const SALT: u64 = 0xF2;

/// The way of all objects of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Freshness {
    /// `Cache-Control: max-age=N`.
    #[default]
    MaxAge,
    /// `Cache-Control: s-maxage=N`.
    SMaxage,
    /// `Expires`, and no Cache-Control.
    Expires,
    /// Each object one of these, or two that differ and of which one counts.
    Mixed,
    /// `max-age` beyond what 64 bits hold: for as long as a cache can count.
    Huge,
}

/// The way of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreshnessForm {
    /// `max-age=N`.
    MaxAge,
    /// `s-maxage=N`.
    SMaxage,
    /// `max-age=0, s-maxage=N`: the second one counts for shared caches.
    SMaxageOverMaxAge,
    /// `Expires`.
    Expires,
    /// `max-age=N`, and an `Expires` that is over: the first one counts.
    MaxAgeOverExpires,
    /// `public` in one line of Cache-Control, `max-age=N` in another.
    TwoLines,
    /// A number that has no end in sight.
    Huge,
}

impl Freshness {
    /// All of them.
    pub const ALL: [Freshness; 5] =
        [Freshness::MaxAge, Freshness::SMaxage, Freshness::Expires, Freshness::Mixed, Freshness::Huge];

    /// The name on command lines and in plans.
    pub fn name(self) -> &'static str {
        match self {
            Freshness::MaxAge => "max-age",
            Freshness::SMaxage => "s-maxage",
            Freshness::Expires => "expires",
            Freshness::Mixed => "mixed",
            Freshness::Huge => "huge",
        }
    }

    pub(super) fn is_usual(&self) -> bool {
        *self == Freshness::MaxAge
    }
}

impl Site {
    /// How an answer about this object says for how long it may be kept.
    pub fn freshness_of(&self, object: u64) -> FreshnessForm {
        const MIXED: [FreshnessForm; 6] = [
            FreshnessForm::MaxAge,
            FreshnessForm::SMaxage,
            FreshnessForm::SMaxageOverMaxAge,
            FreshnessForm::Expires,
            FreshnessForm::MaxAgeOverExpires,
            FreshnessForm::TwoLines,
        ];
        match self.freshness {
            Freshness::MaxAge => FreshnessForm::MaxAge,
            Freshness::SMaxage => FreshnessForm::SMaxage,
            Freshness::Expires => FreshnessForm::Expires,
            Freshness::Mixed => MIXED[(hash(SALT, object) % MIXED.len() as u64) as usize],
            Freshness::Huge => FreshnessForm::Huge,
        }
    }
}
