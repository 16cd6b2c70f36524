//! Objects that the cache was given, so that it can be told which requests were due to be hits (see `measure::stored`). Each worker
//! remembers what it saw itself, in a table of 16 bytes a place; what finds no place there is due less often, and nothing is made up.

use super::Judge;
use super::beside::LastFetches;
use super::purged::Purges;
use super::remembered::MomentsByNumber;
use super::told::Aging;
use crate::request::asked::{RequestAsked, What};
use measure::seen::CacheSeen;
use measure::stored::{MissedObject, MissedObjects, SizeClass, size_class};
use measure::{CacheResult, Failure, FailureKind, Outcome, Stage};
use plan::draw::hash;
use plan::site::{SiteForm, StampKind, Storage, is_one_timer};
use plan::{Load, Part, Site, Step};

/// Bytes that a cache is taken to keep where nobody says how many it does.
const ASSUMED_MEMORY: u64 = 8 << 20;
/// Bytes that an entry of a cache takes beside its body.
const OVERHEAD: u64 = 512;
/// The memory is divided into so many parts, and time into epochs in each of which as many bytes are asked for.
const EPOCHS: u64 = 8;
/// A request is due if its object was asked for at most so many epochs ago: half of the memory.
const DUE_EPOCHS: u16 = 3;
/// It speaks of a dead object if it was at most so many ago: a quarter of it.
const DEAD_EPOCHS: u16 = 1;
/// Times in a row that an object must be missed until it is written down.
const MISSED: u8 = 8;
/// Objects that a worker writes down.
const MOST_MISSED: usize = 1_024;
/// A cache that counts its age in whole seconds may give an object up so much before its lifetime is over.
const ROUNDING_US: u64 = 1_000_000;
/// Time that a cache may take to store what it has passed on.
const SETTLED_US: u64 = 200_000;
/// Places of the table, of which there is one for each object and variant of the hot set: at least, and at most.
const PLACES: (u64, u64) = (1 << 10, 1 << 16);
/// Places among which an object has its own: a cache line.
const WAYS: usize = 4;
/// One in so many objects that find their places taken takes one all the same, so that none stays for ever.
const TAKES: u64 = 16;

/// An object and variant, as far as a worker remembers it.
#[derive(Clone, Copy, Default)]
struct DuePlace {
    /// A part of the hash of object and variant; 0: nothing stands here.
    tag: u32,
    /// When its lifetime is over, in milliseconds since the table was made; 0: it has not been delivered whole.
    fresh_until_ms: u32,
    /// When it was delivered first in this lifetime, in the same unit.
    since_ms: u32,
    /// The epoch in which it was asked for last.
    epoch: u16,
    /// How often it was due to be a hit, and none, since it was one last.
    missed: u8,
    /// See [`BROKEN_OFF`], [`CUT`] and [`WAS_HIT`].
    before: u8,
}

const BROKEN_OFF: u8 = 1;
const CUT: u8 = 2;
/// It was a hit once.
const WAS_HIT: u8 = 4;

const _: () = assert!(size_of::<DuePlace>() == 16);

/// How a request stands to what the cache had been given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DueHit {
    /// It was due to be a hit, and was one.
    Hit,
    /// It was due to be one, and was none.
    Missed,
    /// It was not due, or nothing is known.
    NotDue,
}

/// How an answer stands to those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Past {
    pub due: DueHit,
    /// It is a hit of an older version than one that had come before it was asked for.
    pub older: bool,
}

impl Past {
    const UNKNOWN: Past = Past { due: DueHit::NotDue, older: false };
}

/// Stored answers that broke off, as far as they are remembered.
const MOST_BROKEN: usize = 256;

/// A stored answer that broke off: the number of the origin's answer, the bytes that came, and when that was.
struct DueBroken {
    serial: u64,
    bytes: u64,
    ended_us: u64,
}

/// The table of one worker.
pub(crate) struct Given {
    places: Box<[DuePlace]>,
    began_us: u64,
    /// Bytes of an epoch.
    epoch_bytes: u64,
    epoch: u16,
    /// Bytes of the objects that were asked for in this epoch, each once.
    asked_bytes: u64,
    seen: MissedObjects,
    broken: Vec<DueBroken>,
    fetches: LastFetches,
    /// When own requests that were no hits had been sent, by nonce.
    asked_for: MomentsByNumber,
    /// Clients have stored answers confirmed or fetched anew.
    refreshes: bool,
    /// Objects that the cache was told to forget.
    pub purges: Purges,
}

impl Given {
    /// Of the worker that has this part of a load, in front of a cache that may keep so many bytes; none: nobody knows.
    pub fn of_load(load: &Load, site: &Site, memory: Option<u64>, part: Part, now_us: u64) -> Given {
        let steps = load.phases.iter().flat_map(|phase| &phase.scenario.steps);
        let hot = steps.filter_map(|step| {
            let Step::Object(object) = step else { return None };
            let is_listed = !object.asked.is_empty();
            let variants = u64::from(site.variant_count());
            Some(if is_listed { object.asked.objects() } else { object.popularity.hot * variants })
        });
        let mut steps_that_purge = load.phases.iter().flat_map(|phase| &phase.scenario.steps);
        let purges = steps_that_purge.any(|step| matches!(step, Step::Object(one) if one.purge.is_some()));
        // Of what other workers have purged a worker does not know, so nothing is due then.
        let hot = hot.max().filter(|_| site.form == SiteForm::Native).unwrap_or(0);
        let due = if purges { 0 } else { hot };
        let mut given = Given::new(memory.unwrap_or(ASSUMED_MEMORY) / u64::from(part.of.max(1)), due, now_us);
        given.asked_for = MomentsByNumber::for_numbers(hot);
        given.purges = Purges::of(part.of);
        if purges {
            given.purges.expect();
        }
        let mut steps = load.phases.iter().flat_map(|phase| &phase.scenario.steps);
        given.refreshes = steps.any(|step| matches!(step, Step::Object(one) if one.may_refresh()));
        given
    }

    /// A request has ended that was first sent then. A hit is left out: of what a cache fetches beside it, it is not known when that began.
    pub fn asked(&mut self, asked: &RequestAsked, judge: &Judge<'_>, sent_us: u64) {
        if judge.cache() != CacheResult::Hit {
            self.asked_for.add(asked.nonce, sent_us);
        }
    }

    /// Facts about the age that a hit may tell. A cache counts it from when it asked (RFC 9111 section 4.2.3), and it cannot have asked before the
    /// client did that the answer was made for.
    pub fn aging(&self, judge: &Judge<'_>, lifetime_us: u64) -> Aging {
        let made_for = judge.head.stamp.map(|stamp| stamp.asked_by);
        Aging {
            refreshes: self.refreshes,
            asked_for_us: made_for.and_then(|nonce| self.asked_for.get(nonce)),
            sent_us: judge.sent_us,
            head_us: judge.head.came_us,
            lifetime_us,
            stood_still_us: match (judge.standstills, judge.head.stamp) {
                (Some(standstills), Some(stamp)) => standstills.since(stamp.made_at_us),
                _ => 0,
            },
        }
    }

    /// True if a hit that broke off now had broken off before it was asked for, at the same byte: what is stored lacks its end. A transfer
    /// that breaks off by chance, or with the proxy, does so elsewhere.
    pub fn broke_off_before(&mut self, judge: &Judge<'_>, failure: Failure) -> bool {
        let Some(stamp) = judge.head.stamp.filter(|stamp| stamp.kind == StampKind::Full) else {
            return false;
        };
        let breaks = matches!(
            failure.kind,
            FailureKind::ClosedEarly | FailureKind::Reset | FailureKind::StreamReset | FailureKind::Timeout
        );
        if !breaks || failure.stage != Stage::Body || judge.cache() != CacheResult::Hit {
            return false;
        }
        let bytes = judge.body_bytes;
        let serial = stamp.serial;
        if let Some(known) = self.broken.iter_mut().find(|known| known.serial == serial) {
            let again = known.bytes == bytes && known.ended_us < judge.sent_us;
            known.bytes = bytes;
            return again;
        }
        if self.broken.len() < MOST_BROKEN {
            self.broken.push(DueBroken { serial, bytes, ended_us: judge.now_us });
        }
        false
    }

    /// For a cache of so many bytes, and a hot set of so many entries.
    fn new(memory: u64, hot: u64, now_us: u64) -> Given {
        let (least, most) = PLACES;
        // Nothing is remembered for what keeps nothing, or where no objects are asked for.
        let places = match memory.min(hot) {
            0 => 0,
            _ => hot.clamp(least, most) / WAYS as u64 * WAYS as u64,
        };
        Given {
            places: vec![DuePlace::default(); places as usize].into(),
            began_us: now_us,
            epoch_bytes: (memory / EPOCHS).max(1),
            epoch: 1,
            asked_bytes: 0,
            seen: MissedObjects {
                classes: vec![SizeClass::default(); u64::BITS as usize],
                ..MissedObjects::default()
            },
            broken: Vec::new(),
            fetches: LastFetches::default(),
            purges: Purges::of(1),
            asked_for: MomentsByNumber::for_numbers(hot),
            refreshes: false,
        }
    }

    /// Takes in how a request has ended.
    pub fn ended(&mut self, site: &Site, asked: &RequestAsked, judge: &Judge<'_>, outcome: Outcome) -> Past {
        let What::Native { object } = asked.what else { return Past::UNKNOWN };
        if outcome == Outcome::Ok {
            self.fetches.ended(asked, judge);
        }
        if self.places.is_empty() {
            return Past::UNKNOWN;
        }
        // For the head alone a cache may fetch all of an object, or none of it.
        if is_one_timer(object) || asked.head {
            self.ask(asked.size);
            return Past::UNKNOWN;
        }
        let key = hash(object, u64::from(asked.variant));
        let tag = tag(key);
        let Some(place) = self.place_of(key, asked.nonce, self.millis(judge.sent_us)) else {
            self.ask(asked.size);
            return Past::UNKNOWN;
        };
        let mut entry = match self.places[place] {
            known if known.tag == tag => known,
            _ => DuePlace { tag, ..DuePlace::default() },
        };
        let epochs_ago = match entry.epoch {
            0 => u16::MAX,
            then => self.epoch.wrapping_sub(then),
        };
        if epochs_ago > 0 {
            self.ask(asked.size);
        }
        let cache = judge.cache();
        let due = self.judge(&mut entry, asked, judge.sent_us, cache, epochs_ago);
        match due {
            DueHit::Hit => self.hit(&mut entry, object, asked),
            DueHit::Missed => self.missed(&mut entry, object, asked, epochs_ago),
            // A hit that was not due is one all the same.
            DueHit::NotDue if cache == CacheResult::Hit => self.not_missed(&mut entry, object, asked),
            DueHit::NotDue => {}
        }
        let older = outcome == Outcome::Ok && self.is_older(&entry, site, object, judge);
        match outcome {
            Outcome::Ok => self.deliver(&mut entry, site, object, asked, judge),
            Outcome::Aborted => entry.before |= BROKEN_OFF,
            Outcome::Injected | Outcome::Failed(_) => entry.before |= CUT,
            Outcome::CheckFailed(_) | Outcome::Unfinished => {}
        }
        entry.epoch = self.epoch;
        self.places[place] = entry;
        Past { due, older }
    }

    /// True if a version newer than that of this hit had been made, and come whole, well before it was asked for.
    fn is_older(&self, entry: &DuePlace, site: &Site, object: u64, judge: &Judge<'_>) -> bool {
        let known = entry.fresh_until_ms != 0 && entry.fresh_until_ms != u32::MAX;
        let Some(stamp) = judge.head.stamp.filter(|_| known && judge.cache() == CacheResult::Hit) else {
            return false;
        };
        // When it was made follows from when it expires; at the earliest, where that depends on the moment.
        let lifetime_us = site.longest_lifetime_of(object).as_micros() as u64;
        let since_began_us = (u64::from(entry.fresh_until_ms) * 1_000 + ROUNDING_US).checked_sub(lifetime_us);
        let newest_us = since_began_us.map_or(0, |since| self.began_us + since);
        let version_at = |unix_us| site.version_at(object, unix_us);
        site.change_every_of(object).is_some()
            && newest_us > stamp.made_at_us
            && newest_us + SETTLED_US < judge.sent_us
            && version_at(newest_us) > version_at(stamp.made_at_us)
    }

    /// Takes the facts that are told when the worker has ended.
    pub fn seen(&mut self) -> CacheSeen {
        CacheSeen {
            missed: std::mem::take(&mut self.seen),
            late: self.purges.late(),
            fetches: self.fetches.seen(),
        }
    }

    /// The place of an object, by its hash: its own, one that is free, or one of whose object nothing is to be told any more. `chance`: any number.
    fn place_of(&self, key: u64, chance: u64, now_ms: u32) -> Option<usize> {
        let sets = (self.places.len() / WAYS) as u64;
        let first = ((u64::from(key as u32) * sets) >> 32) as usize * WAYS;
        let ways = first..first + WAYS;
        let find = |is: &dyn Fn(&DuePlace) -> bool| ways.clone().find(|place| is(&self.places[*place]));
        let is_over = |place: &DuePlace| {
            place.fresh_until_ms <= now_ms || self.epoch.wrapping_sub(place.epoch) > DUE_EPOCHS
        };
        find(&|place| place.tag == tag(key))
            .or_else(|| find(&|place| place.tag == 0))
            .or_else(|| find(&is_over))
            .or_else(|| chance.is_multiple_of(TAKES).then(|| first + (chance / TAKES) as usize % WAYS))
    }

    /// Counts bytes that the cache must make room for.
    fn ask(&mut self, size: u64) {
        self.asked_bytes += size + OVERHEAD;
        if self.asked_bytes >= self.epoch_bytes {
            self.asked_bytes = 0;
            // 0 means never.
            self.epoch = self.epoch.checked_add(1).unwrap_or(1);
        }
    }

    fn judge(
        &self,
        entry: &mut DuePlace,
        asked: &RequestAsked,
        sent_us: u64,
        cache: CacheResult,
        epochs_ago: u16,
    ) -> DueHit {
        // What a proxy does with a range, a validator or a reload is its policy.
        let plain = asked.range.is_none() && asked.has_version.is_none() && !asked.reload;
        let sent_ms = self.millis(sent_us);
        let due = plain
            && epochs_ago <= DUE_EPOCHS
            && sent_ms < entry.fresh_until_ms
            && sent_ms > entry.since_ms.saturating_add((SETTLED_US / 1_000) as u32);
        match cache {
            CacheResult::Unknown | CacheResult::NotAsked => DueHit::NotDue,
            _ if !due => DueHit::NotDue,
            CacheResult::Hit | CacheResult::Revalidated | CacheResult::Collapsed => DueHit::Hit,
            CacheResult::Miss => DueHit::Missed,
        }
    }

    fn not_missed(&mut self, entry: &mut DuePlace, object: u64, asked: &RequestAsked) {
        if entry.missed >= MISSED {
            self.seen.objects.retain(|one| (one.object, one.variant) != (object, asked.variant));
        }
        (entry.missed, entry.before) = (0, WAS_HIT);
    }

    fn hit(&mut self, entry: &mut DuePlace, object: u64, asked: &RequestAsked) {
        self.not_missed(entry, object, asked);
        let class = &mut self.seen.classes[size_class(asked.size)];
        class.due += 1;
        class.hits += 1;
        class.largest_hit = class.largest_hit.max(asked.size);
    }

    fn missed(&mut self, entry: &mut DuePlace, object: u64, asked: &RequestAsked, epochs_ago: u16) {
        self.seen.classes[size_class(asked.size)].due += 1;
        if epochs_ago > DEAD_EPOCHS {
            return;
        }
        entry.missed = entry.missed.saturating_add(1);
        if entry.missed == MISSED {
            if self.seen.objects.len() == MOST_MISSED {
                self.seen.untold += 1;
            } else {
                self.seen.objects.push(MissedObject {
                    object,
                    variant: asked.variant,
                    size: asked.size,
                    missed: u64::from(MISSED),
                    broken_off: entry.before & BROKEN_OFF != 0,
                    cut: entry.before & CUT != 0,
                    never: entry.before & WAS_HIT == 0,
                });
            }
        } else if entry.missed > MISSED {
            let same = |one: &&mut MissedObject| (one.object, one.variant) == (object, asked.variant);
            if let Some(one) = self.seen.objects.iter_mut().find(same) {
                one.missed += 1;
            }
        }
    }

    /// A whole good answer: the cache has the object from here on, if it may.
    fn deliver(
        &self,
        entry: &mut DuePlace,
        site: &Site,
        object: u64,
        asked: &RequestAsked,
        judge: &Judge<'_>,
    ) {
        let Some(stamp) = judge.head.stamp else { return };
        let storable = match stamp.kind {
            StampKind::Full | StampKind::Unchanged => {
                !stamp.sets_cookie && site.storage_of(object) == Storage::Shared
            }
            StampKind::Part
            | StampKind::Error
            | StampKind::Cut
            | StampKind::Refused
            | StampKind::Gone
            | StampKind::Accepted => false,
        };
        if !storable || judge.head.status != 200 || asked.range.is_some() {
            return;
        }
        let lifetime = site.lifetime_of(object, stamp.made_at_us).as_micros() as u64;
        let fresh_until = self.millis((stamp.made_at_us + lifetime).saturating_sub(ROUNDING_US));
        let now = self.millis(judge.now_us);
        if entry.fresh_until_ms <= now {
            entry.since_ms = now;
        }
        entry.fresh_until_ms = entry.fresh_until_ms.max(fresh_until);
    }

    /// A moment in milliseconds since the table was made, as far as they go: 49 days.
    fn millis(&self, unix_us: u64) -> u32 {
        u32::try_from(unix_us.saturating_sub(self.began_us) / 1_000).unwrap_or(u32::MAX)
    }
}

/// The part of an object's hash that stands in its place.
fn tag(key: u64) -> u32 {
    (key >> 32) as u32 | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::site::Stamp;
    use plan::{Check, site::hot_object};

    const NOW_US: u64 = 1_800_000_000_000_000;
    const SECOND_US: u64 = 1_000_000;

    struct World {
        given: Given,
        site: Site,
        now_us: u64,
        nonce: u64,
    }

    impl World {
        /// A cache of so many bytes, objects of 1,000 bytes that live for `lifetime_s`.
        fn new(memory: u64, lifetime_s: u64) -> World {
            let max_age = std::time::Duration::from_secs(lifetime_s);
            let site = Site { lifetime: plan::site::Lifetime::Fixed { max_age }, ..Site::default() };
            World { given: Given::new(memory, 100, NOW_US), site, now_us: NOW_US, nonce: 1 }
        }

        /// Asks for an object, a second after the last request. `hit`: the cache answers; otherwise the origin does.
        fn ask(&mut self, rank: u64, hit: bool) -> DueHit {
            self.ask_as(rank, hit, Outcome::Ok, |_| {})
        }

        fn ask_as(
            &mut self,
            rank: u64,
            hit: bool,
            outcome: Outcome,
            change: impl Fn(&mut RequestAsked),
        ) -> DueHit {
            self.now_us += SECOND_US;
            self.nonce += 1;
            let mut asked = RequestAsked {
                what: What::Native { object: hot_object(0, 0, rank) },
                size: 1_000,
                variant: 0,
                range: None,
                second_range: None,
                reload: false,
                has_version: None,
                abort_at: None,
                head: false,
                purge: false,
                slow: false,
                nonce: self.nonce,
                kind: 0,
            };
            change(&mut asked);
            let check = Check::default();
            let mut judge = Judge::new(&self.site, &check, &asked, b"", self.now_us, None);
            judge.now_us = self.now_us + 1_000;
            judge.head.status = 200;
            let (asked_by, made_at_us) =
                if hit { (1, self.now_us - 500) } else { (self.nonce, self.now_us + 10) };
            judge.head.stamp = Some(Stamp {
                serial: 1,
                asked_by,
                made_at_us,
                kind: StampKind::Full,
                sets_cookie: false,
                foreign: None,
            });
            self.given.ended(&self.site, &asked, &judge, outcome).due
        }
    }

    #[test]
    fn a_request_is_due_after_a_whole_answer_within_its_lifetime() {
        let mut world = World::new(1 << 20, 10);
        assert_eq!(world.ask(1, false), DueHit::NotDue, "nothing was delivered before");
        assert_eq!(world.ask(1, true), DueHit::Hit);
        assert_eq!(world.ask(1, false), DueHit::Missed);
        assert_eq!(world.ask(2, false), DueHit::NotDue, "another object");
        assert_eq!(world.ask_as(1, false, Outcome::Ok, |asked| asked.variant = 1), DueHit::NotDue);
        assert_eq!(world.ask_as(1, false, Outcome::Ok, |asked| asked.reload = true), DueHit::NotDue);
        assert_eq!(world.ask_as(1, false, Outcome::Ok, |asked| asked.range = Some((0, 9))), DueHit::NotDue);
        world.now_us += 20 * SECOND_US;
        assert_eq!(world.ask(1, false), DueHit::NotDue, "its lifetime is over");
        assert_eq!(world.ask(1, true), DueHit::Hit, "and it was delivered again");
    }

    #[test]
    fn nothing_is_due_that_was_broken_off_or_may_not_be_stored() {
        let mut world = World::new(1 << 20, 10);
        world.ask_as(1, false, Outcome::Aborted, |_| {});
        assert_eq!(world.ask(1, false), DueHit::NotDue);
        world.site.no_store = 1.0;
        world.ask(2, false);
        assert_eq!(world.ask(2, false), DueHit::NotDue);
        let mut nothing_kept = World::new(0, 10);
        nothing_kept.ask(1, false);
        assert_eq!(nothing_kept.ask(1, false), DueHit::NotDue);
    }

    #[test]
    fn what_the_cache_had_no_room_for_is_not_due() {
        // Room for 32 objects; half of that is surely there.
        let mut world = World::new(32 * (1_000 + OVERHEAD), 1_000);
        world.ask(0, false);
        for rank in 1..8 {
            world.ask(rank, false);
        }
        assert_eq!(world.ask(0, true), DueHit::Hit, "eight objects later");
        for rank in 10..50 {
            world.ask(rank, false);
        }
        assert_eq!(world.ask(0, false), DueHit::NotDue, "forty objects later");
    }

    #[test]
    fn an_object_that_is_missed_again_and_again_is_written_down_until_it_is_a_hit() {
        let mut world = World::new(1 << 20, 1_000);
        world.ask_as(1, false, Outcome::Aborted, |_| {});
        for _ in 0..21 {
            world.ask(1, false);
        }
        for _ in 0..31 {
            world.ask(2, true);
        }
        for _ in 0..9 {
            world.ask(3, false);
        }
        let seen = world.given.seen.clone();
        let told: Vec<_> =
            seen.objects.iter().map(|one| (one.object & 0xFF, one.missed, one.broken_off)).collect();
        assert_eq!(told, [(1, 20, true), (3, 8, false)]);
        let class = seen.classes[size_class(1_000)];
        assert_eq!((class.due, class.hits, class.largest_hit), (20 + 30 + 8, 30, 1_000));
        world.ask(3, true);
        assert_eq!(world.given.seen().missed.objects.len(), 1);
    }

    /// A hit of what the origin made at `made_s`, asked for at `at_s`; it breaks off after so many bytes, or comes whole.
    fn hit(given: &mut Given, site: &Site, made_s: u64, at_s: u64, broken: Option<u64>) -> (bool, bool) {
        let asked = RequestAsked {
            what: What::Native { object: hot_object(0, 0, 1) },
            size: 1_000,
            variant: 0,
            range: None,
            second_range: None,
            reload: false,
            has_version: None,
            abort_at: None,
            head: false,
            purge: false,
            slow: false,
            nonce: 7,
            kind: 0,
        };
        let check = Check::default();
        let mut judge = Judge::new(site, &check, &asked, b"", NOW_US + at_s * SECOND_US, None);
        (judge.head.status, judge.body_bytes) = (200, broken.unwrap_or(1_000));
        judge.now_us += 1_000;
        judge.head.stamp = Some(Stamp {
            serial: made_s + 1,
            asked_by: 1,
            made_at_us: NOW_US + made_s * SECOND_US,
            kind: StampKind::Full,
            sets_cookie: false,
            foreign: None,
        });
        let failure = Failure::new(FailureKind::ClosedEarly, Stage::Body);
        match broken {
            Some(_) => (given.broke_off_before(&judge, failure), false),
            None => (false, given.ended(site, &asked, &judge, Outcome::Ok).older),
        }
    }

    #[test]
    fn a_hit_that_breaks_off_twice_at_the_same_byte_lacks_its_end() {
        let mut given = Given::new(1 << 20, 100, NOW_US);
        let site = Site::default();
        let mut breaks = |made_s, at_s, bytes| hit(&mut given, &site, made_s, at_s, Some(bytes)).0;
        assert!(!breaks(1, 5, 400), "once may be chance");
        assert!(!breaks(1, 5, 400), "both were under way at the same time");
        assert!(breaks(1, 6, 400) && breaks(1, 7, 400));
        assert!(!breaks(1, 8, 500) && !breaks(2, 9, 500), "elsewhere, and another answer");
    }

    #[test]
    fn a_version_that_is_older_than_one_before_is_noticed() {
        let site = Site {
            change_every: Some(std::time::Duration::from_secs(10)),
            lifetime: plan::site::Lifetime::Fixed { max_age: std::time::Duration::from_secs(60) },
            ..Site::default()
        };
        let mut given = Given::new(1 << 20, 100, NOW_US);
        let mut older = |made_s, at_s| hit(&mut given, &site, made_s, at_s, None).1;
        assert!(!older(1, 2) && !older(30, 31) && !older(30, 40), "none before, a newer one, the same");
        assert!(older(1, 41) && older(15, 42));
        assert!(!older(30, 43), "the same answer again");
    }

    #[test]
    fn an_object_of_the_hot_set_takes_sixteen_bytes_at_most() {
        for hot in [1_024, 1_025, 1_500, 4_096, 10_000, 65_536, 1 << 32] {
            let given = Given::new(1 << 30, hot, 0);
            let bytes = (given.places.len() * size_of::<DuePlace>()) as u64;
            assert!(bytes <= 16 * hot && bytes <= 1 << 20, "{bytes} bytes for {hot} objects");
            assert!(given.places.len() as u64 > PLACES.0 - WAYS as u64, "{hot}");
        }
        assert_eq!(Given::new(0, 5_000, 0).places.len(), 0);
    }

    #[test]
    fn most_of_a_hot_set_finds_a_place_and_keeps_it() {
        let hot = 4_096;
        let mut given = Given::new(1 << 30, hot, 0);
        let mut draw = plan::draw::Draw::new(7, 0);
        for _ in 0..40 {
            for object in 0..hot {
                let key = hash(object, 0);
                let Some(place) = given.place_of(key, draw.bits(), 1_000) else { continue };
                given.places[place] =
                    DuePlace { tag: tag(key), fresh_until_ms: 9_000, epoch: 1, ..DuePlace::default() };
            }
        }
        let known = |object: &u64| given.places.iter().any(|place| place.tag == tag(hash(*object, 0)));
        let known = (0..hot).filter(known).count();
        assert!(known > 3_000, "{known} of {hot}");
    }
}
