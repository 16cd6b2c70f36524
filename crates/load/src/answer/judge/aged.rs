//! The age that a hit tells of itself.

use super::Judge;
use crate::answer::Given;
use crate::request::asked::What;
use measure::CacheResult;

impl Judge<'_> {
    /// To be called of an answer that came whole: a wrong age is a fault where nothing else is.
    pub fn judge_age(&mut self, given: &Given) {
        let (What::Native { object }, Some(stamp)) = (self.asked.what, self.head.stamp) else { return };
        let is_judged = self.finding.is_none()
            && self.cache() == CacheResult::Hit
            && matches!(self.head.status, 200 | 206 | 304);
        if is_judged {
            let lifetime_us = self.site.lifetime_of(object, stamp.made_at_us).as_micros() as u64;
            self.finding = self.head.told.wrong_age(&stamp, &given.aging(self, lifetime_us));
        }
    }
}
