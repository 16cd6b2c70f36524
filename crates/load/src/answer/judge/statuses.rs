//! Answers that are not a whole object: parts, heads that were asked for alone, objects that are gone, and "what you have is right".

use super::{Finding, Judge};
use crate::answer::purged::Outdated;
use crate::answer::told::AnswerTold;
use crate::request::asked::What;
use measure::Fault;
use plan::Purge;
use plan::site::{Stamp, StampKind};

impl Judge<'_> {
    /// An answer to HEAD has the fields of one to GET (RFC 9110 section 9.3.2): its ETag names what a body would be held to.
    pub(super) fn judge_head_alone(&mut self) {
        let What::Native { object } = self.asked.what else { return };
        let Some((named, version, variant)) = self.head.etag else { return };
        let wanted = self.named_variant(object, version);
        if named != object {
            self.found(self.anothers());
        } else if variant != wanted && !self.site.codes() {
            let text = format!("asked for variant {wanted}, the ETag of the head names variant {variant}");
            self.found((Fault::WrongVariant, text));
        } else if let Err(finding) = self.truth(object).timely(version) {
            self.found(finding);
        } else if let Some(finding) = self.of_another_moment_than(object, version) {
            self.found(finding);
        }
    }

    /// The variant that the ETag of a version must name.
    fn named_variant(&self, object: u64, version: u64) -> u32 {
        let variant = self.site.variant_in(object, version, self.asked.variant);
        self.site.named_variant(variant, self.asked.size)
    }

    pub(super) fn judge_range(&mut self, first: u64, last: u64) {
        let total = self.head.content_range.map(|(_, _, total)| total);
        let size = self.whole_size().or(total).unwrap_or(self.asked.size);
        let last = last.min(size.saturating_sub(1)).max(first);
        self.offset = first;
        self.expected_bytes = Some(last - first + 1);
        let wanted = (first, last, size);
        if self.head.content_range != Some(wanted) && self.of_another_object() {
            self.found(self.anothers());
        } else if self.head.content_range != Some(wanted) {
            let text = match self.head.content_range {
                Some((a, b, n)) => format!("asked for {first}-{last}/{size}, got {a}-{b}/{n}"),
                None => "206 without a Content-Range that can be read".to_owned(),
            };
            self.found((Fault::WrongRange, text));
        }
    }

    /// True if a 301, 404 or 410 is to be held to the laws: the origin meant nothing else by it, an error or a refusal.
    pub(super) fn tells_gone(&self) -> bool {
        let of_object = |stamp: Stamp| !matches!(stamp.kind, StampKind::Error | StampKind::Refused);
        self.site.may_lack_objects() && self.head.stamp.is_none_or(of_object)
    }

    /// An object that is gone must be gone in a version that may be served.
    pub(super) fn judge_gone(&mut self) {
        let What::Native { object } = self.asked.what else { return };
        let finding = self.judge_owner().or_else(|| {
            self.truth(object).gone(self.head.status, self.head.stamp.map(|stamp| stamp.made_at_us)).err()
        });
        match finding {
            Some(finding) => self.found(finding),
            None => self.good_without_body = true,
        }
    }

    /// A range that no byte of a version lies in may be refused.
    pub(super) fn judge_unsatisfied(&mut self) {
        let (What::Native { object }, Some((first, _))) = (self.asked.what, self.asked.range) else { return };
        self.good_without_body = self.truth(object).may_end_before(first);
    }

    /// A 304 is right if the client has said which version it has, and that one may still be served.
    pub(super) fn judge_unchanged(&mut self) {
        let What::Native { object } = self.asked.what else { return };
        if self.of_another_object() {
            return self.found(self.anothers());
        }
        let Some(version) = self.asked.has_version else {
            if !self.conditional {
                self.found((Fault::UnaskedUnchanged, "the request carries no validator".to_owned()));
            }
            return;
        };
        let held = self.named_variant(object, version);
        let named = self.head.etag.filter(|_| self.site.etag).map(|(_, named, variant)| (named, variant));
        if let Err((_, text)) = self.truth(object).timely(version) {
            self.found((Fault::WrongUnchanged, text));
        } else if let Some((named, variant)) = named.filter(|named| *named != (version, held)) {
            let text = format!(
                "the client has version {version}, variant {held}; the ETag of the 304 names version {named}, variant {variant}"
            );
            self.found((Fault::WrongUnchanged, text));
        }
    }

    /// True if the Last-Modified of the answer is not that of the version that its ETag names.
    pub fn of_another_moment(&self, told: &AnswerTold) -> bool {
        let What::Native { object } = self.asked.what else { return false };
        let Some((_, version, _)) = self.head.etag else { return false };
        self.is_of_another_moment(told, object, version)
    }

    fn is_of_another_moment(&self, told: &AnswerTold, object: u64, version: u64) -> bool {
        let began_s = self.site.version_began(object, version) / 1_000_000;
        self.site.last_modified && told.modified_us().is_some_and(|us| us / 1_000_000 != began_s)
    }

    /// A Last-Modified that is not that of this version. Fields that a 304 has brought are counted as such.
    pub(super) fn of_another_moment_than(&self, object: u64, version: u64) -> Option<Finding> {
        let is_renewed = self.head.stamp.is_some_and(|stamp| stamp.kind == StampKind::Unchanged);
        let is_of_another = !is_renewed && self.is_of_another_moment(&self.head.told, object, version);
        let text = || format!("the Last-Modified is not that of version {version}, which came");
        is_of_another.then(|| (Fault::TornVersion, text()))
    }

    /// To be called where what the cache was told to forget is served all the same.
    pub fn was_purged(&mut self, outdated: Outdated, method: &str) {
        let seconds = |us: u64| us as f64 / 1e6;
        let text = format!(
            "made {:.1} s before its {}, which was acknowledged {:.1} s before this request",
            seconds(outdated.made_before_us),
            if method == Purge::METHOD { "purge" } else { method },
            seconds(outdated.after_us)
        );
        self.found((Fault::NotPurged, text));
    }
}
