//! Objects that the cache was told to forget, as far as a worker told it so itself: what was made well before a purge may not be a hit for
//! long after the purge was acknowledged.

use super::Judge;
use super::remembered::MomentsByNumber;
use crate::control::{PurgeDone, PurgeOrder};
use crate::request::asked::{RequestAsked, What};
use measure::CacheResult;
use measure::purged::LatePurges;
use plan::Purge;
use plan::draw::hash;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Purges that a worker remembers; each has one place, and a newer one takes that of an older.
const PLACES: usize = 1_024;

/// A fetch that was under way when its object was purged may be stored afterwards. An answer of the origin is held to a purge if a client had
/// got all of it so long before: then the cache had it, too, and time to store it.
const SETTLED_US: u64 = 500_000;
/// Answers of the origin that are remembered.
const WHOLE: u64 = 1 << 14;

/// A purge that was acknowledged.
#[derive(Clone, Copy, Default)]
struct Purged {
    /// The hash of object and variant; 0: nothing stands here.
    key: u64,
    object: u64,
    size: u64,
    sent_us: u64,
    acknowledged_us: u64,
    /// From the acknowledgement to the last request that was answered with what had been there before; 0: there was none.
    last_us: u64,
}

/// How a hit stands to a purge of its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outdated {
    /// From the moment at which the origin made it to the purge.
    pub made_before_us: u64,
    /// From the purge's acknowledgement to the request.
    pub after_us: u64,
}

/// The purges of one worker.
pub(crate) struct Purges {
    places: Vec<Purged>,
    /// Workers among which the purges of a load are shared out.
    workers: u32,
    next_us: Option<u64>,
    /// When an answer of the origin first came whole.
    whole: MomentsByNumber,
    late: LatePurges,
    /// Where purges that are no requests are told to be done, once one was ordered.
    heard: Option<(Sender<PurgeDone>, Receiver<PurgeDone>)>,
}

/// Purges that were carried out by somebody outside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    pub all: u64,
    pub good: u64,
}

impl Purges {
    /// Of one of so many workers.
    pub fn of(workers: u32) -> Purges {
        Purges {
            places: Vec::new(),
            workers: workers.max(1),
            next_us: None,
            whole: MomentsByNumber::default(),
            late: LatePurges::default(),
            heard: None,
        }
    }

    /// True if the next request is to be a purge.
    pub fn are_due(&mut self, purge: &Purge, now_us: u64) -> bool {
        let every_us = (1e6 * f64::from(self.workers) / purge.per_second) as u64;
        match self.next_us {
            Some(next_us) if next_us > now_us => false,
            Some(_) => {
                // What was missed is not made up for.
                self.next_us = Some(now_us + every_us);
                true
            }
            // Something must be stored before it can be forgotten.
            None => {
                self.next_us = Some(now_us + every_us);
                false
            }
        }
    }

    /// Purges are a part of the load: what comes whole is remembered.
    pub fn expect(&mut self) {
        self.whole = MomentsByNumber::for_numbers(WHOLE);
    }

    /// A purge that was sent then is acknowledged.
    pub fn acknowledged(&mut self, asked: &RequestAsked, sent_us: u64, acknowledged_us: u64) {
        let Some(key) = key(asked) else { return };
        let What::Native { object } = asked.what else { return };
        self.put(Purged { key, object, size: asked.size, sent_us, acknowledged_us, last_us: 0 });
    }

    fn put(&mut self, purged: Purged) {
        self.places.resize(PLACES, Purged::default());
        let place = &mut self.places[purged.key as usize % PLACES];
        std::mem::replace(place, purged).tell(&mut self.late);
    }

    /// An order to purge an object, for somebody outside.
    pub fn order(&mut self, asked: &RequestAsked, command: &str, path: String) -> Option<PurgeOrder> {
        let What::Native { object } = asked.what else { return None };
        let key = key(asked)?;
        let (to, _) = self.heard.get_or_insert_with(channel);
        Some(PurgeOrder { command: command.to_owned(), path, key, object, size: asked.size, to: to.clone() })
    }

    /// Takes in what has become of such orders.
    pub fn hear(&mut self) -> Heard {
        let mut heard = Heard::default();
        while let Some(done) = self.heard.as_ref().and_then(|(_, done)| done.try_recv().ok()) {
            heard.all += 1;
            heard.good += u64::from(done.good);
            if done.good {
                let PurgeDone { key, object, size, began_us: sent_us, ended_us: acknowledged_us, .. } = done;
                self.put(Purged { key, object, size, sent_us, acknowledged_us, last_us: 0 });
            }
        }
        heard
    }

    /// Takes what was served after its purge, when the worker has ended.
    pub fn late(&mut self) -> LatePurges {
        self.places.drain(..).for_each(|place| place.tell(&mut self.late));
        std::mem::take(&mut self.late)
    }

    /// How an answer that came whole stands to the last purge of its object, where it is a hit of what had been made before that, and was asked
    /// for after its acknowledgement.
    pub fn outdated(&mut self, asked: &RequestAsked, judge: &Judge<'_>) -> Option<Outdated> {
        let stamp = judge.head.stamp?;
        let answer = hash(stamp.asked_by, stamp.serial).max(1);
        let whole_us = self.whole.get(answer);
        if whole_us.is_none() && !asked.head && !matches!(judge.head.status, 206 | 304) {
            self.whole.add(answer, judge.now_us);
        }
        if judge.cache() != CacheResult::Hit || self.places.is_empty() {
            return None;
        }
        let key = key(asked)?;
        let purged = &mut self.places[key as usize % PLACES];
        let made_before_us = purged.sent_us.checked_sub(stamp.made_at_us)?;
        let after_us = judge.sent_us.checked_sub(purged.acknowledged_us)?;
        let was_there = whole_us? + SETTLED_US < purged.sent_us;
        if purged.key != key || !was_there {
            return None;
        }
        purged.last_us = purged.last_us.max(after_us.max(1));
        Some(Outdated { made_before_us, after_us })
    }
}

impl Purged {
    /// Tells of it where something was served after it.
    fn tell(self, late: &mut LatePurges) {
        if self.last_us > 0 {
            late.add(self.object, self.size, self.last_us);
        }
    }
}

fn key(asked: &RequestAsked) -> Option<u64> {
    match asked.what {
        What::Native { object } => Some(hash(object, u64::from(asked.variant)).max(1)),
        What::Jtest(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn purges_come_at_their_rate_and_none_is_made_up_for() {
        let purge = Purge {
            per_second: 2.0,
            method: "PURGE".to_owned(),
            fields: Vec::new(),
            command: None,
            within: Duration::ZERO,
        };
        let mut purges = Purges::of(2);
        let due: Vec<u64> = (0..10_000).filter(|ms| purges.are_due(&purge, ms * 1_000)).collect();
        assert_eq!(due, [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000]);
        assert!(purges.are_due(&purge, 60_000_000) && !purges.are_due(&purge, 60_100_000));
    }

    fn asked(object: u64) -> RequestAsked {
        RequestAsked {
            what: What::Native { object },
            size: 300,
            kind: 0,
            variant: 0,
            range: None,
            second_range: None,
            reload: false,
            has_version: None,
            abort_at: None,
            head: false,
            purge: true,
            slow: false,
            nonce: 1,
        }
    }

    #[test]
    fn orders_are_heard_of_when_they_were_carried_out() {
        let mut purges = Purges::of(1);
        assert_eq!(purges.hear(), Heard::default());
        let orders = [7, 8, 9]
            .map(|object| purges.order(&asked(object), "true {path}", String::new()).expect("an object"));
        assert_eq!(purges.hear(), Heard::default());
        for (order, good) in orders.into_iter().zip([true, false, true]) {
            order.carried_out(1_000, 2_000, good);
        }
        assert_eq!(purges.hear(), Heard { all: 3, good: 2 });
        let known: Vec<u64> = purges.places.iter().map(|place| place.object).filter(|one| *one > 0).collect();
        assert!(known.len() == 2 && known.contains(&7) && known.contains(&9), "{known:?}");
    }
}
