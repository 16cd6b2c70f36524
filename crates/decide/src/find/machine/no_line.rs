//! Where no line tells the knee: the rate does not decide at all, or there is a wall.

use super::{Find, FindStage, HALF_S, NO_INTERVAL, RISES, Round, Step};
use crate::find::fit::{self, Fit};
use crate::find::outcome::FindFinding;
use crate::find::trial::Purpose;
use crate::words;

impl Find {
    /// True if the share over the limit does not clearly rise with the rate, and there is time to look at half of it.
    pub(super) fn rate_may_not_decide(&self, fit: Option<&Fit>) -> bool {
        let decides = fit.is_some_and(|fit| {
            fit.rises >= RISES && fit.interval.is_some_and(|found| found.relative_width() <= NO_INTERVAL)
        });
        !decides && !self.half_tried && self.log.left_s() > HALF_S + 2.0
    }

    /// Is it the rate at all that decides?
    pub(super) fn half(&mut self, round: Round) -> Step {
        self.half_tried = true;
        let rate = round.about / 2.0;
        let why = "the share over the limit does not clearly rise with the rate: what is it at half of it?"
            .to_owned();
        self.stage = FindStage::Half(round);
        self.open(Purpose::Bracket, rate, HALF_S, why)
    }

    pub(super) fn after_half(&mut self, round: Round) -> Step {
        let rate = round.about / 2.0;
        match self.log.verdict(rate) {
            Some(verdict) if !verdict.leans_to_kept() => {
                let why = format!("{}, as much as at {}", verdict.text(), words::rate(round.about));
                self.done(FindFinding::NoRate { lowest: Some(rate), why })
            }
            Some(_) | None => self.near(round),
        }
    }

    /// Where no line tells the knee, because next to nothing is over the limits below it and much above, it is between the highest rate that is kept and the
    /// lowest that is broken. That is halved until it is as narrow as is wanted.
    pub(super) fn wall(&mut self, about: f64) -> Result<Fit, Box<Step>> {
        let Some((kept, broken)) = self.log.lower().zip(self.log.upper()) else {
            return Err(Box::new(self.partial("the trials near it do not tell where it is")));
        };
        let rate = (kept * broken).sqrt();
        let is_narrow = broken / kept - 1.0 <= self.settings.within;
        if !is_narrow && self.has_time(rate, self.near_s, self.reserve_s(rate)) {
            self.stage = FindStage::Wall(about);
            let [low, high] = [kept, broken].map(words::rate);
            let why = format!("between {low}, which was kept, and {high}: no line tells where");
            return Err(Box::new(self.open(Purpose::Bracket, rate, self.near_s, why)));
        }
        if !is_narrow {
            let why = "the trials near it do not tell where it is, and there is no time to halve that";
            return Err(Box::new(self.partial(why)));
        }
        Ok(fit::wall(kept, broken, self.log.breaks(broken)))
    }
}
