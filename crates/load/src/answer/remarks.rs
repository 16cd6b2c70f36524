//! Remarkable things about an answer that are no fault of it: fields that are missing, were added, or say of it what is not so.

use super::Judge;
use super::oracle::STALE_ALLOWANCE_US;
use measure::{CacheResult, Counts};
use plan::Site;
use plan::site::StampKind;

/// Remarkable things about an answer, none of them a fault.
#[derive(Default, PartialEq, Eq)]
pub(crate) struct Remarks {
    ageless: bool,
    redated: bool,
    claims: bool,
    false_claim: bool,
    cookie_lost: bool,
    cookie_added: bool,
    fields_lost: bool,
    renewed: bool,
    renewed_lost: bool,
    renewed_changed: bool,
    lengthless: bool,
}

impl Remarks {
    /// On an answer that came whole.
    pub fn of(judge: &Judge<'_>, site: &Site) -> Remarks {
        let head = &judge.head;
        let told = &judge.head.told;
        let Some(stamp) = head.stamp else { return Remarks::default() };
        let cache = judge.cache();
        let of_object = matches!(head.status, 200 | 206) && stamp.kind != StampKind::Error;
        let ageless = cache == CacheResult::Hit && of_object && !told.has_age();
        let validates = !judge.is_for_one_request();
        let lost = validates
            && (head.etag.is_none() && site.etag || !told.has_modified() && site.last_modified)
            || !told.has_type;
        let renewed = Some(stamp).filter(|stamp| stamp.kind == StampKind::Unchanged && head.status == 200);
        let varies = site.always_varies() && !told.has_vary;
        Remarks {
            ageless,
            redated: ageless
                && told.date_us().is_some_and(|date| date > stamp.made_at_us + STALE_ALLOWANCE_US),
            claims: told.hit.is_some(),
            false_claim: matches!(
                (told.hit, cache),
                (Some(true), CacheResult::Miss) | (Some(false), CacheResult::Hit)
            ),
            cookie_lost: of_object && stamp.sets_cookie && !head.sets_cookie,
            cookie_added: of_object && !stamp.sets_cookie && head.sets_cookie,
            fields_lost: head.status == 200 && of_object && lost,
            renewed: renewed.is_some(),
            renewed_lost: renewed.is_some_and(|stamp| {
                lost || varies || told.unchanged.is_none() || stamp.sets_cookie && !head.sets_cookie
            }),
            renewed_changed: renewed.is_some_and(|stamp| {
                told.unchanged.is_some_and(|serial| serial != stamp.serial)
                    || told.has_type && !told.is_of_object
                    || !stamp.sets_cookie && head.sets_cookie
                    || judge.of_another_moment(told)
            }),
            lengthless: judge.asks_for_head()
                && cache == CacheResult::Hit
                && head.status == 200
                && head.content_length.is_none(),
        }
    }

    /// True if there is nothing to be counted.
    pub fn is_empty(&self) -> bool {
        *self == Remarks::default()
    }

    /// Counts them.
    pub fn count(&self, counts: &mut Counts) {
        counts.ageless += u64::from(self.ageless);
        counts.redated += u64::from(self.redated);
        counts.claims += u64::from(self.claims);
        counts.false_claims += u64::from(self.false_claim);
        counts.cookies_lost += u64::from(self.cookie_lost);
        counts.cookies_added += u64::from(self.cookie_added);
        counts.fields_lost += u64::from(self.fields_lost);
        counts.renewed += u64::from(self.renewed);
        counts.renewed_lost += u64::from(self.renewed_lost);
        counts.renewed_changed += u64::from(self.renewed_changed);
        counts.lengthless += u64::from(self.lengthless);
    }
}
