//! Ways in which an answer says for how long it may be kept. All of them mean the same lifetime (RFC 9111 section 4.2.1), so whatever is
//! true of an object stays true in each.

use super::Site;
use crate::draw::hash;
use serde::{Deserialize, Serialize};
use std::time::Duration;

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
    /// `max-age=N, stale-while-revalidate=N`: for as long again it may be served while it is fetched anew (RFC 5861 section 3).
    StaleWhileRevalidate,
    /// `max-age=N, stale-if-error=N`: for as long again it may be served where the origin fails (RFC 5861 section 4).
    StaleIfError,
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
    /// `max-age=N, stale-while-revalidate=N`.
    StaleWhileRevalidate,
    /// `max-age=N, stale-if-error=N`.
    StaleIfError,
}

impl Freshness {
    /// All of them.
    pub const ALL: [Freshness; 7] = [
        Freshness::MaxAge,
        Freshness::SMaxage,
        Freshness::Expires,
        Freshness::Mixed,
        Freshness::Huge,
        Freshness::StaleWhileRevalidate,
        Freshness::StaleIfError,
    ];

    /// The name on command lines and in plans.
    pub fn name(self) -> &'static str {
        match self {
            Freshness::MaxAge => "max-age",
            Freshness::SMaxage => "s-maxage",
            Freshness::Expires => "expires",
            Freshness::Mixed => "mixed",
            Freshness::Huge => "huge",
            Freshness::StaleWhileRevalidate => "stale-while-revalidate",
            Freshness::StaleIfError => "stale-if-error",
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
            Freshness::StaleWhileRevalidate => FreshnessForm::StaleWhileRevalidate,
            Freshness::StaleIfError => FreshnessForm::StaleIfError,
        }
    }

    /// For how much longer than its lifetime an answer of that lifetime may be served. Which failures of the origin a cache has met nobody outside
    /// knows: its connections may fail where the origin does not.
    pub fn stale_for(&self, lifetime: Duration) -> Duration {
        match self.freshness {
            Freshness::StaleWhileRevalidate | Freshness::StaleIfError => lifetime,
            Freshness::MaxAge
            | Freshness::SMaxage
            | Freshness::Expires
            | Freshness::Mixed
            | Freshness::Huge => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_be_stale_as_its_form_says_and_no_longer() {
        const LIFETIME: Duration = Duration::from_secs(7);
        for freshness in Freshness::ALL {
            let site = Site { freshness, ..Site::default() };
            let expected = match freshness {
                Freshness::StaleWhileRevalidate | Freshness::StaleIfError => 7,
                Freshness::MaxAge
                | Freshness::SMaxage
                | Freshness::Expires
                | Freshness::Mixed
                | Freshness::Huge => 0,
            };
            assert_eq!(site.stale_for(LIFETIME).as_secs(), expected, "{freshness:?}");
        }
    }
}
