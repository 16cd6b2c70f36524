//! Requests that a cache should have answered by itself, and conclusions from them. A request is due to be a hit where an earlier
//! one for the same object and variant was delivered whole, its lifetime is not over, and so little else was asked for in between that
//! the cache had room for it.
//!
//! Start reading at [`storing`] (the cache stopped storing) and [`MissedObjects::dead`] (single objects that are never a hit).

use crate::shares::ratio;
use crate::timeline::Row;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Pieces of a run that are compared, and how many of them make the end and the best time.
const PIECES: usize = 10;
/// Fewer pieces tell no beginning from an end.
const FEWEST_PIECES: usize = 4;
/// Share of the pieces that are its end, and of those that are its best time.
const PART: f64 = 0.3;
/// Due requests in either part below which nothing is said.
const ENOUGH: u64 = 200;
/// Share of what it was to which the share of hits must have fallen.
const FALLEN: f64 = 0.5;
/// Standard deviations between both shares: one in 10⁶ by chance, where the best 3 pieces of 10 are chosen among 120 sets.
const SURELY: f64 = 5.7;

/// The cache stopped storing: requests that were due to be hits were hits no more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decay {
    /// Since when, in seconds since the start of the run.
    pub since_s: f64,
    /// Requests from then on that were due to be hits.
    pub due: u64,
    /// Those of them that were hits.
    pub hits: u64,
    /// Share of hits among due requests in the best three tenths of the run.
    pub before: f64,
    /// Share of them in its last three tenths.
    pub after: f64,
}

/// Due requests of a stretch of the run, and the hits among them.
#[derive(Debug, Clone, Copy, Default)]
struct StoredDue {
    due: u64,
    hits: u64,
}

impl StoredDue {
    fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> StoredDue {
        rows.into_iter().fold(StoredDue::default(), |sum, row| StoredDue {
            due: sum.due + row.counts.due,
            hits: sum.hits + row.counts.due_hits,
        })
    }

    fn share(self) -> f64 {
        ratio(self.hits, self.due).unwrap_or(0.0)
    }
}

/// How the hits among due requests went through a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Storing {
    /// Too few requests were due to say anything.
    Unknown,
    /// The share of hits did not fall so far that it cannot be chance.
    Kept,
    /// It fell.
    Stopped(Decay),
}

/// Compares the end of the measured rows with their best part.
pub fn storing(rows: &[&Row]) -> Storing {
    let pieces = pieces(rows);
    if pieces.len() < FEWEST_PIECES {
        return Storing::Unknown;
    }
    let part = (pieces.len() as f64 * PART).ceil() as usize;
    let dues: Vec<StoredDue> =
        pieces.iter().map(|piece| StoredDue::of(rows[piece.clone()].iter().copied())).collect();
    let sum = |chosen: &[StoredDue]| {
        chosen.iter().fold(StoredDue::default(), |sum, one| StoredDue {
            due: sum.due + one.due,
            hits: sum.hits + one.hits,
        })
    };
    let end = sum(&dues[dues.len() - part..]);
    let mut by_share: Vec<StoredDue> = dues.iter().copied().filter(|one| one.due > 0).collect();
    by_share.sort_by(|a, b| b.share().total_cmp(&a.share()));
    by_share.truncate(part);
    let best = sum(&by_share);
    if end.due < ENOUGH || best.due < ENOUGH {
        return Storing::Unknown;
    }
    if end.share() >= FALLEN * best.share() || deviations(best, end) < SURELY {
        return Storing::Kept;
    }
    // The fall began with the first of the pieces from which on all are low.
    let is_low = |one: &StoredDue| one.share() < FALLEN * best.share();
    let first = dues.iter().rposition(|one| one.due > 0 && !is_low(one)).map_or(0, |last| last + 1);
    let rows_after = &rows[pieces[first].start..];
    let after = StoredDue::of(rows_after.iter().copied());
    let since_s = rows_after.first().map_or(0.0, |row| row.at_s - row.seconds);
    Storing::Stopped(Decay {
        since_s,
        due: after.due,
        hits: after.hits,
        before: best.share(),
        after: end.share(),
    })
}

/// Pieces of about equal time, each of whole rows.
pub(crate) fn pieces(rows: &[&Row]) -> Vec<Range<usize>> {
    let all: f64 = rows.iter().map(|row| row.seconds).sum();
    let mut pieces = Vec::new();
    let mut begin = 0;
    let mut passed = 0.0;
    for (at, row) in rows.iter().enumerate() {
        passed += row.seconds;
        let wanted = all * (pieces.len() + 1) as f64 / PIECES as f64;
        if passed >= wanted - 1e-9 || at + 1 == rows.len() {
            pieces.push(begin..at + 1);
            begin = at + 1;
            // A row longer than a tenth is a piece, and the next one begins behind it.
            if pieces.len() == PIECES {
                break;
            }
        }
    }
    // What rounding has left over belongs to the last one.
    if let Some(last) = pieces.last_mut() {
        last.end = rows.len();
    }
    pieces
}

/// How many standard deviations lie between two shares, if both had the same chance.
fn deviations(best: StoredDue, end: StoredDue) -> f64 {
    let all = (best.hits + end.hits) as f64 / (best.due + end.due) as f64;
    let spread = (all * (1.0 - all) * (1.0 / best.due as f64 + 1.0 / end.due as f64)).sqrt();
    if spread > 0.0 { (best.share() - end.share()) / spread } else { 0.0 }
}

/// An object that was due to be a hit several times in a row and was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissedObject {
    /// Number of the object.
    pub object: u64,
    /// The variant.
    pub variant: u32,
    /// Its size in bytes.
    pub size: u64,
    /// How often, since it was a hit last.
    pub missed: u64,
    /// A client had broken an answer about it off before.
    pub broken_off: bool,
    /// An answer about it had failed, or been cut by the origin, before.
    pub cut: bool,
    /// It was never a hit, as far as is remembered.
    #[serde(default)]
    pub never: bool,
}

/// Due requests for objects whose sizes have the same binary logarithm.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeClass {
    /// How many were due to be hits.
    pub due: u64,
    /// How many were.
    pub hits: u64,
    /// Size of the largest object that was a hit.
    pub largest_hit: u64,
}

/// Objects that were missed, and what the others of their size were, as far as one worker or all of them saw.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissedObjects {
    /// The objects.
    pub objects: Vec<MissedObject>,
    /// Objects that found no room in the list.
    pub untold: u64,
    /// Due requests by the binary logarithm of the size.
    pub classes: Vec<SizeClass>,
}

/// Binary logarithm of a size, the place of its class.
pub fn size_class(size: u64) -> usize {
    size.max(1).ilog2() as usize
}

/// Share of hits among the others of their size from which on it says something that an object is none.
const OTHERS: f64 = 0.5;
/// Objects that would be missed so often by chance, at most.
const BY_CHANCE: f64 = 0.01;
/// Names that are told.
const NAMES: usize = 3;

/// Objects that the cache does not serve although it was given them, while it serves others of their size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DeadObjects {
    /// How many; an object counts once for each of its variants.
    pub objects: u64,
    /// Least number of times that one of them was due to be a hit and was none.
    pub missed: u64,
    /// How many of them a client had broken off before.
    pub broken_off: u64,
    /// How many of them had failed, or been cut by the origin, before.
    pub cut: u64,
    /// How many of them were never a hit at all: their entries are blocked.
    pub never: u64,
    /// Share of hits among due requests for the others of their size.
    pub others: f64,
    /// The first of them.
    pub names: Vec<String>,
}

impl MissedObjects {
    /// Adds what another worker saw.
    pub fn merge(&mut self, other: &MissedObjects) {
        for theirs in &other.objects {
            let same =
                |mine: &&mut MissedObject| (mine.object, mine.variant) == (theirs.object, theirs.variant);
            match self.objects.iter_mut().find(same) {
                Some(mine) => {
                    mine.missed += theirs.missed;
                    mine.broken_off |= theirs.broken_off;
                    mine.cut |= theirs.cut;
                    mine.never &= theirs.never;
                }
                None => self.objects.push(*theirs),
            }
        }
        self.untold += other.untold;
        self.classes.resize(self.classes.len().max(other.classes.len()), SizeClass::default());
        for (mine, theirs) in self.classes.iter_mut().zip(&other.classes) {
            mine.due += theirs.due;
            mine.hits += theirs.hits;
            mine.largest_hit = mine.largest_hit.max(theirs.largest_hit);
        }
    }

    /// The objects that are missed so often that it is no chance. `name` gives the name of an object. What is larger than the largest hit
    /// may be too large for the cache, and is left out.
    pub fn dead(&self, name: impl Fn(&MissedObject) -> String) -> Option<DeadObjects> {
        let largest = self.classes.iter().map(|class| class.largest_hit).max()?;
        let mut dead: Vec<(&MissedObject, f64)> = Vec::new();
        for object in self.objects.iter().filter(|object| object.size <= largest) {
            let Some(others) = self.others(object) else { continue };
            let class = self.classes.get(size_class(object.size)).copied().unwrap_or_default();
            let by_chance = class.due as f64 * (1.0 - others).powf(object.missed as f64);
            if others > OTHERS && by_chance < BY_CHANCE {
                dead.push((object, others));
            }
        }
        dead.sort_by_key(|(object, _)| std::cmp::Reverse(object.missed));
        let least = dead.last()?;
        let count =
            |is: fn(&MissedObject) -> bool| dead.iter().filter(|(object, _)| is(object)).count() as u64;
        Some(DeadObjects {
            objects: dead.len() as u64,
            missed: least.0.missed,
            broken_off: count(|object| object.broken_off),
            cut: count(|object| object.cut),
            never: count(|object| object.never),
            others: dead.iter().map(|(_, others)| *others).fold(1.0, f64::min),
            names: dead.iter().take(NAMES).map(|(object, _)| name(object)).collect(),
        })
    }

    /// Share of hits among the due requests for objects of this one's size that are not missed themselves.
    fn others(&self, object: &MissedObject) -> Option<f64> {
        let class = self.classes.get(size_class(object.size))?;
        let alike = self.objects.iter().filter(|one| size_class(one.size) == size_class(object.size));
        let missed: u64 = alike.map(|one| one.missed).sum();
        ratio(class.hits, class.due.saturating_sub(missed).max(class.hits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Counts;

    fn rows(shares: &[(u64, u64)]) -> Vec<Row> {
        let row = |(at, (due, hits)): (usize, &(u64, u64))| Row {
            at_s: at as f64 + 1.0,
            seconds: 1.0,
            counts: Counts { due: *due, due_hits: *hits, ..Counts::default() },
            ..Row::default()
        };
        shares.iter().enumerate().map(row).collect()
    }

    fn judged(shares: &[(u64, u64)]) -> Storing {
        let rows = rows(shares);
        storing(&rows.iter().collect::<Vec<_>>())
    }

    /// The hits per second that a cache with a leak had, of a hundred that were due.
    #[test]
    fn a_cache_that_stops_storing_is_told_with_its_moment() {
        let hits = [92, 88, 91, 80, 85, 77, 41, 18, 1, 0, 0];
        let Storing::Stopped(decay) = judged(&hits.map(|hits| (300, hits * 3))) else { panic!("not found") };
        assert_eq!(decay.since_s, 6.0, "{decay:?}");
        assert_eq!((decay.due, decay.hits), (1_500, 180));
        assert!((0.88..0.92).contains(&decay.before) && decay.after < 0.1, "{decay:?}");
    }

    #[test]
    fn nothing_is_said_of_a_cache_that_keeps_storing_or_of_few_requests() {
        assert_eq!(judged(&[(300, 270); 10]), Storing::Kept);
        assert_eq!(
            judged(&[(300, 0); 10]),
            Storing::Kept,
            "it never stored anything, which is said elsewhere"
        );
        assert_eq!(judged(&[(0, 0); 10]), Storing::Unknown);
        assert_eq!(judged(&[(20, 20), (20, 20), (20, 20), (20, 20), (20, 0), (20, 0)]), Storing::Unknown);
        assert_eq!(judged(&[(300, 300), (300, 0), (300, 0)]), Storing::Unknown, "three pieces");
        // It falls to more than half.
        let fallen = [(300, 290); 5].into_iter().chain([(300, 150); 5]).collect::<Vec<_>>();
        assert_eq!(judged(&fallen), Storing::Kept);
        // A dip in the middle is over at the end.
        assert_eq!(
            judged(&[(300, 290), (300, 280), (300, 0), (300, 0), (300, 290), (300, 290)]),
            Storing::Kept
        );
    }

    #[test]
    fn a_cache_that_stores_a_constant_share_is_never_accused() {
        let mut draw = plan_free_draw(7);
        for share in [2, 10, 50, 90, 99] {
            for _ in 0..2_000 {
                let shares: Vec<(u64, u64)> =
                    (0..10).map(|_| (80, (0..80).filter(|_| draw() % 100 < share).count() as u64)).collect();
                assert!(!matches!(judged(&shares), Storing::Stopped(_)), "{share} %: {shares:?}");
            }
        }
    }

    /// A stream of numbers without a crate (splitmix64).
    fn plan_free_draw(mut state: u64) -> impl FnMut() -> u64 {
        move || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ (mixed >> 31)
        }
    }

    #[test]
    fn pieces_hold_every_row_once() {
        for count in [1, 4, 9, 10, 11, 37, 7_200] {
            let rows = rows(&vec![(1, 1); count]);
            let pieces = pieces(&rows.iter().collect::<Vec<_>>());
            assert!(pieces.len() <= PIECES && pieces.len() >= count.min(PIECES / 2), "{count}: {pieces:?}");
            assert_eq!((pieces[0].start, pieces[pieces.len() - 1].end), (0, count));
            assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start), "{pieces:?}");
        }
    }

    fn missed(object: u64, size: u64, missed: u64, broken_off: bool) -> MissedObject {
        MissedObject { object, variant: 0, size, missed, broken_off, cut: false, never: missed > 20 }
    }

    fn seen(objects: Vec<MissedObject>, due: u64, hits: u64, largest_hit: u64) -> MissedObjects {
        let mut classes = vec![SizeClass::default(); 20];
        classes[size_class(300_000)] = SizeClass { due, hits, largest_hit };
        MissedObjects { objects, untold: 0, classes }
    }

    #[test]
    fn objects_that_are_never_a_hit_are_dead_where_others_of_their_size_are() {
        let objects = vec![missed(3, 300_000, 30, true), missed(9, 300_000, 12, true)];
        let dead = seen(objects.clone(), 1_042, 990, 310_000).dead(|one| one.object.to_string()).unwrap();
        let told = (dead.objects, dead.missed, dead.broken_off, dead.cut, dead.never);
        assert_eq!((told, dead.names), ((2, 12, 2, 0, 1), vec!["3".to_owned(), "9".to_owned()]));
        assert!((dead.others - 0.99).abs() < 1e-9, "{}", dead.others);
        let name = |one: &MissedObject| one.object.to_string();
        assert_eq!(
            seen(objects.clone(), 1_042, 400, 310_000).dead(name),
            None,
            "the others are missed as well"
        );
        assert_eq!(seen(objects, 1_042, 990, 290_000).dead(name), None, "they may be too large");
        let by_chance = vec![missed(3, 300_000, 8, false)];
        assert_eq!(
            seen(by_chance.clone(), 1_000, 700, 310_000).dead(name),
            None,
            "0.3 to the eighth, a thousand times"
        );
        assert!(seen(by_chance, 1_000, 950, 310_000).dead(name).is_some());
        assert_eq!(MissedObjects::default().dead(name), None);
    }

    #[test]
    fn workers_see_parts_of_the_same_objects() {
        let mut sum = seen(vec![missed(3, 300_000, 9, false)], 100, 90, 300_000);
        sum.merge(&seen(vec![missed(3, 300_000, 8, true), missed(4, 300_000, 8, false)], 100, 80, 310_000));
        assert_eq!(sum.objects, [missed(3, 300_000, 17, true), missed(4, 300_000, 8, false)]);
        let class = sum.classes[size_class(300_000)];
        assert_eq!((class.due, class.hits, class.largest_hit), (200, 170, 310_000));
    }
}
