//! Facts about objects: sizes and their changes, status, kind of content, lifetimes. Sixteen bytes an object, in two passes over
//! the sorted requests: the first learns what an object is, the second says what it was at each moment.

use super::row::Row;
use crate::file::{Class, Known};
use crate::request::{UNTOLD, UNTOLD_BYTES};
use crate::words::{Cache, Kind, Media, Method, Storage};
use std::collections::{BTreeMap, HashMap};

/// Classes that there can be: their number has seven bits in an object's id.
const CLASSES: usize = 127;
/// Requests without a hit after which an object is taken for one that nobody may store.
const NEVER_HIT: u8 = 10;
/// Seconds that these must span.
const NEVER_HIT_SPAN_S: u32 = 60;

const COMPLETE: u8 = 0x10;
const VARIANT: u8 = 0x20;
const GUESSED: u8 = 0x40;
const STARTED: u8 = 0x80;
const MEDIA: u8 = 0x0f;

/// Facts about an object.
#[derive(Debug, Clone, Copy, Default)]
struct ObjectSlot {
    /// Its size now, plus one; 0: unknown.
    size: [u8; 5],
    /// That of its other form, plus one.
    other: [u8; 5],
    /// Requests, as far as it counts.
    count: u8,
    /// Flags above the kind of content.
    flags: u8,
    /// First its status; in the second pass its version.
    first: [u8; 2],
    /// First the number of its lifetime; in the second pass its class.
    second: [u8; 2],
}

fn get(bytes: [u8; 5]) -> Option<u64> {
    let [a, b, c, d, e] = bytes;
    u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]).checked_sub(1)
}

fn packed(size: u64) -> [u8; 5] {
    let bytes = (size.min((1 << 40) - 2) + 1).to_le_bytes();
    [bytes[0], bytes[1], bytes[2], bytes[3], bytes[4]]
}

impl ObjectSlot {
    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// When an object was fetched last, and what hits and expiries say of its lifetime, in seconds.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    first_s: u32,
    fetched_s: u32,
    least_s: u32,
    most_s: u32,
    hit: bool,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { first_s: UNTOLD, fetched_s: UNTOLD, least_s: 0, most_s: UNTOLD, hit: false }
    }
}

/// State of an object at the moment of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObjectState {
    /// Its size in bytes.
    pub size: u64,
    /// How often it has changed.
    pub version: u16,
    /// Which of two forms.
    pub variant: u8,
    /// Its class.
    pub class: u8,
    /// Nobody asks for it a second time.
    pub once: bool,
}

/// Result of the first pass.
#[derive(Debug, Default)]
pub struct Learnt {
    /// Classes of objects.
    pub classes: Vec<Class>,
    /// Objects whose size was guessed.
    pub guessed: u64,
    /// Objects that are asked for once.
    pub once: u64,
    /// Bytes of all objects together.
    pub footprint: u64,
    /// Objects whose lifetime is known, by how.
    pub lifetimes: BTreeMap<Known, u64>,
    /// Mean of the upper bound of inferred lifetimes over the lower.
    pub width: Option<f64>,
}

/// All objects.
#[derive(Debug)]
pub struct Objects {
    slots: Vec<ObjectSlot>,
    /// Empty where no cache told anything.
    bounds: Vec<Bounds>,
    lifetimes: Lifetimes,
    sizes: Sizes,
    begin_us: i64,
    changes: u64,
}

/// Lifetimes that occurred, by number.
#[derive(Debug, Default)]
struct Lifetimes {
    known: Vec<(u32, Storage)>,
    numbers: HashMap<(u32, Storage), u16>,
}

impl Lifetimes {
    /// The number of a lifetime, from 1; when there are too many to number, that of one nearby.
    fn number(&mut self, lifetime_s: u32, storage: Storage) -> u16 {
        let coarse = if self.known.len() < 50_000 { lifetime_s } else { rounded(lifetime_s) };
        if let Some(number) = self.numbers.get(&(coarse, storage)) {
            return *number;
        }
        let number = u16::try_from(self.known.len() + 1).unwrap_or(u16::MAX);
        if number < u16::MAX {
            self.known.push((coarse, storage));
            self.numbers.insert((coarse, storage), number);
        }
        number
    }
}

/// To two and a half digits, roughly: the upper eight bits stay.
fn rounded(value: u32) -> u32 {
    let drop = 32_u32.saturating_sub(value.leading_zeros()).saturating_sub(8);
    value >> drop << drop
}

/// Sizes by kind of content, for the median where a size is not told.
#[derive(Debug)]
struct Sizes {
    counts: Vec<[u32; 512]>,
}

impl Sizes {
    fn new() -> Sizes {
        Sizes { counts: vec![[0; 512]; 17] }
    }

    fn add(&mut self, media: u8, size: u64) {
        for at in [usize::from(media), 16] {
            let count = &mut self.counts[at][bucket(size)];
            *count = count.saturating_add(1);
        }
    }

    /// The median of a kind; where none of it is known, that of all.
    fn median(&self, media: u8) -> u64 {
        let of = |counts: &[u32; 512]| {
            let all: u64 = counts.iter().map(|count| u64::from(*count)).sum();
            let mut sum = 0;
            let at = counts.iter().position(|count| {
                sum += u64::from(*count);
                sum * 2 >= all
            });
            at.filter(|_| all > 0).map(size_of_bucket)
        };
        of(&self.counts[usize::from(media)]).or(of(&self.counts[16])).unwrap_or(0)
    }
}

/// Eight buckets for each doubling.
fn bucket(size: u64) -> usize {
    if size < 8 {
        return size as usize;
    }
    let log = 63 - size.leading_zeros();
    ((log - 2) * 8 + ((size >> (log - 3)) & 7) as u32) as usize
}

fn size_of_bucket(bucket: usize) -> u64 {
    if bucket < 8 {
        return bucket as u64;
    }
    let log = bucket as u32 / 8 + 2;
    // The middle of the bucket.
    ((8 + bucket as u64 % 8) << (log - 3)) + (1 << (log - 3)) / 2
}

impl Objects {
    /// So many objects, of requests that begin at this moment.
    pub fn new(count: u64, begin_us: i64, caches_tell: bool) -> Objects {
        let count = count as usize;
        Objects {
            slots: vec![ObjectSlot::default(); count],
            bounds: vec![Bounds::default(); if caches_tell { count } else { 0 }],
            lifetimes: Lifetimes::default(),
            sizes: Sizes::new(),
            begin_us,
            changes: 0,
        }
    }

    /// First pass: learns from a request.
    pub fn learn(&mut self, row: &Row) {
        let kind = Kind::unpack(row.kind);
        let slot = &mut self.slots[row.object as usize];
        slot.count = slot.count.saturating_add(1);
        let status = u16::from_le_bytes(slot.first);
        if rank(row.status) > rank(status) {
            slot.first = row.status.to_le_bytes();
            if !slot.has(COMPLETE) || row.status == 200 {
                // The size of an error is not that of the object.
                slot.flags &= !COMPLETE;
                slot.size = [0; 5];
            }
        }
        if slot.flags & MEDIA == Media::Untold as u8 {
            slot.flags |= row.media & MEDIA;
        }
        if slot.second == [0; 2] && (row.lifetime_s != UNTOLD || row.storage != 0) {
            slot.second =
                self.lifetimes.number(row.lifetime_s, Storage::of(u32::from(row.storage))).to_le_bytes();
        }
        match whole(row, kind, u16::from_le_bytes(slot.first)) {
            Some(size) if slot.has(COMPLETE) => {
                if get(slot.other) == Some(size) && get(slot.size) != Some(size) {
                    slot.flags |= VARIANT;
                }
                if get(slot.size) != Some(size) {
                    (slot.other, slot.size) = (slot.size, packed(size));
                }
            }
            Some(size) => {
                slot.size = packed(size);
                slot.flags |= COMPLETE;
                self.sizes.add(slot.flags & MEDIA, size);
            }
            None if !slot.has(COMPLETE) => {
                let least = at_least(row);
                if least > get(slot.size).unwrap_or(0) {
                    slot.size = packed(least);
                }
            }
            None => {}
        }
        if let Some(bounds) = self.bounds.get_mut(row.object as usize) {
            let seconds = u32::try_from((row.begin_us - self.begin_us) / crate::moment::SECOND).unwrap_or(0);
            bounds.learn(kind, row.status, seconds);
        }
    }

    /// Ends the first pass.
    pub fn learnt(&mut self) -> Learnt {
        let mut learnt = Learnt::default();
        let mut counts: HashMap<Class, u64> = HashMap::new();
        let mut classes = Vec::with_capacity(self.slots.len().min(1));
        let mut widths = (0.0, 0_u64);
        for at in 0..self.slots.len() {
            let class = self.class(at, &mut widths);
            *counts.entry(class).or_default() += 1;
            *learnt.lifetimes.entry(class.known).or_default() += 1;
        }
        classes.extend(counts.into_iter().map(|(class, count)| (count, class)));
        // The most frequent first, and of equal ones in an order of their own, so that the same input gives the same table.
        classes.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        learnt.classes = classes.into_iter().take(CLASSES).map(|(_, class)| class).collect();
        learnt.width = (widths.1 > 0).then(|| widths.0 / widths.1 as f64);
        let numbers: HashMap<Class, u8> = learnt.classes.iter().copied().zip(0..).collect();
        for at in 0..self.slots.len() {
            let class = self.class(at, &mut (0.0, 0));
            let number = numbers.get(&class).copied().unwrap_or_else(|| nearest(&learnt.classes, &class));
            self.settle(at, number, &mut learnt);
        }
        self.bounds = Vec::new();
        learnt
    }

    fn settle(&mut self, at: usize, class: u8, learnt: &mut Learnt) {
        let slot = &mut self.slots[at];
        if !slot.has(COMPLETE) {
            let least = get(slot.size).unwrap_or(0);
            let guess = self.sizes.median(slot.flags & MEDIA).max(least);
            slot.size = packed(guess);
            slot.flags |= GUESSED;
            learnt.guessed += 1;
        }
        learnt.once += u64::from(slot.count == 1);
        learnt.footprint += get(slot.size).unwrap_or(0);
        slot.other = [0; 5];
        slot.first = [0; 2];
        slot.second = [class, 0];
    }

    /// The class of an object after the first pass.
    fn class(&self, at: usize, widths: &mut (f64, u64)) -> Class {
        let slot = &self.slots[at];
        let number = u16::from_le_bytes(slot.second);
        let mut storage = Storage::Shared;
        let mut lifetime_s = None;
        let mut known = Known::Unknown;
        if let Some((seconds, told)) =
            number.checked_sub(1).and_then(|at| self.lifetimes.known.get(usize::from(at)))
        {
            (storage, known) = (*told, Known::Logged);
            lifetime_s = (*seconds != UNTOLD).then_some(*seconds);
        } else if let Some(bounds) = self.bounds.get(at) {
            let inferred = bounds.inferred(slot.count);
            (storage, lifetime_s, known) = (inferred.0, inferred.1, inferred.2);
            if known == Known::Inferred && bounds.most_s != UNTOLD {
                widths.0 += f64::from(bounds.most_s.max(1)) / f64::from(bounds.least_s.max(1));
                widths.1 += 1;
            }
        }
        let status = match u16::from_le_bytes(slot.first) {
            0 | 206 | 304 => 200,
            status => status,
        };
        Class {
            status,
            storage,
            lifetime_s,
            known,
            media: Media::of(u32::from(slot.flags & MEDIA)),
            variants: slot.has(VARIANT),
        }
    }

    /// Second pass: what the object of a request is at this moment.
    pub fn state(&mut self, row: &Row) -> ObjectState {
        let slot = &mut self.slots[row.object as usize];
        let kind = Kind::unpack(row.kind);
        // The status that a class names is not at hand here; a 200 is always of the object's own.
        let complete = if slot.has(GUESSED) { None } else { whole(row, kind, 200) };
        if let Some(size) = complete {
            if !slot.has(STARTED) {
                slot.flags = (slot.flags | STARTED) & !VARIANT;
                slot.size = packed(size);
            } else if get(slot.size) != Some(size) {
                if get(slot.other) == Some(size) {
                    slot.flags ^= VARIANT;
                } else {
                    let version = u16::from_le_bytes(slot.first).saturating_add(1);
                    slot.first = version.to_le_bytes();
                    slot.flags &= !VARIANT;
                    self.changes += 1;
                }
                (slot.other, slot.size) = (slot.size, packed(size));
            }
        }
        ObjectState {
            size: get(slot.size).unwrap_or(0),
            version: u16::from_le_bytes(slot.first),
            variant: u8::from(slot.has(STARTED) && slot.has(VARIANT)),
            class: slot.second[0],
            once: slot.count == 1,
        }
    }

    /// Changes that the second pass has seen.
    pub fn changes(&self) -> u64 {
        self.changes
    }
}

/// How much a status says of what an object is: 200 most, failures of a server least.
fn rank(status: u16) -> u8 {
    match status {
        0 | 206 | 304 | 499 | 412 | 416 => 0,
        500.. => 1,
        200 => 4,
        201..=299 => 3,
        _ => 2,
    }
}

/// The size of the object, if this request tells it: all of it was sent.
fn whole(row: &Row, kind: Kind, own_status: u16) -> Option<u64> {
    if row.size != UNTOLD_BYTES {
        return Some(row.size);
    }
    let told = row.sent != UNTOLD_BYTES && !kind.aborted && kind.method == Method::Get;
    (told && row.status == own_status && row.status != 0).then_some(row.sent)
}

/// The size that an object has at least, by a request that tells a part of it.
fn at_least(row: &Row) -> u64 {
    match (row.sent, row.status) {
        (UNTOLD_BYTES, _) => 0,
        (sent, 206) => row.range.from.saturating_add(sent),
        (sent, 200) => sent,
        (_, _) => 0,
    }
}

impl Bounds {
    fn learn(&mut self, kind: Kind, status: u16, seconds: u32) {
        if self.first_s == UNTOLD {
            self.first_s = seconds;
        }
        let age = (self.fetched_s != UNTOLD).then(|| seconds.saturating_sub(self.fetched_s));
        match kind.cache {
            Cache::Hit => {
                self.hit = true;
                self.least_s = self.least_s.max(age.unwrap_or(0));
            }
            Cache::Expired | Cache::Revalidated | Cache::Stale => {
                self.hit |= kind.cache != Cache::Expired;
                self.most_s = self.most_s.min(age.unwrap_or(UNTOLD));
                self.fetched_s = seconds;
            }
            Cache::Miss | Cache::Reload if matches!(status, 200..=299 | 304) => self.fetched_s = seconds,
            Cache::Untold | Cache::Miss | Cache::Reload | Cache::Bypass | Cache::Error => {}
        }
    }

    fn inferred(&self, count: u8) -> (Storage, Option<u32>, Known) {
        let span =
            if self.fetched_s == UNTOLD { 0 } else { self.fetched_s - self.first_s.min(self.fetched_s) };
        if !self.hit && count >= NEVER_HIT && span >= NEVER_HIT_SPAN_S {
            return (Storage::NoStore, None, Known::NeverHit);
        }
        if self.most_s == UNTOLD {
            // Hits alone bound it from one side: how long it lives is not known.
            return (Storage::Shared, None, Known::Unknown);
        }
        // A shorter age at expiry than at a hit: an object whose lifetime varies.
        let least = self.least_s.min(self.most_s);
        let most = self.least_s.max(self.most_s);
        let middle = ((f64::from(least.max(1)) * f64::from(most.max(1))).sqrt()) as u32;
        (Storage::Shared, Some(rounded(middle)), Known::Inferred)
    }
}

/// The class that is nearest: same storage and status first, then the lifetime.
fn nearest(classes: &[Class], wanted: &Class) -> u8 {
    let distance = |class: &Class| {
        let apart = |one: Option<u32>, other: Option<u32>| match (one, other) {
            (Some(one), Some(other)) => (f64::from(one.max(1)) / f64::from(other.max(1))).ln().abs(),
            (None, None) => 0.0,
            (Some(_), None) | (None, Some(_)) => 20.0,
        };
        f64::from(u8::from(class.storage != wanted.storage)) * 1000.0
            + f64::from(u8::from(class.status != wanted.status)) * 200.0
            + apart(class.lifetime_s, wanted.lifetime_s) * 4.0
            + f64::from(u8::from(class.media != wanted.media))
    };
    let best = (0..classes.len()).min_by(|a, b| distance(&classes[*a]).total_cmp(&distance(&classes[*b])));
    best.map_or(0, |at| at as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(begin_s: i64, status: u16, sent: u64, cache: Cache) -> Row {
        let kind = Kind { cache, ..Kind::default() };
        Row { begin_us: begin_s * crate::moment::SECOND, status, sent, kind: kind.pack(), ..Row::default() }
    }

    /// Sizes, versions and variants of one object's requests, and what was learnt.
    fn run(rows: &[Row]) -> (Vec<(u64, u16, u8)>, Learnt) {
        let mut objects = Objects::new(1, 0, true);
        rows.iter().for_each(|row| objects.learn(row));
        let learnt = objects.learnt();
        let states = rows.iter().map(|row| objects.state(row));
        (states.map(|state| (state.size, state.version, state.variant)).collect(), learnt)
    }

    #[test]
    fn a_change_of_size_is_a_new_version_and_a_return_is_a_variant() {
        let get = |sent| row(0, 200, sent, Cache::Untold);
        let (states, learnt) =
            run(&[row(0, 304, 0, Cache::Untold), get(100), get(100), get(300), get(100), get(300), get(7)]);
        assert_eq!(
            states,
            [(7, 0, 0), (100, 0, 0), (100, 0, 0), (300, 1, 0), (100, 1, 1), (300, 1, 0), (7, 2, 0)]
        );
        assert!(learnt.classes[0].variants);
        assert_eq!((learnt.guessed, learnt.once), (0, 0));
    }

    #[test]
    fn what_was_broken_off_is_no_size() {
        let aborted = Kind { aborted: true, ..Kind::default() }.pack();
        let short = Row { kind: aborted, ..row(0, 200, 40, Cache::Untold) };
        let (states, _) = run(&[row(0, 200, 100, Cache::Untold), short, row(1, 200, 100, Cache::Untold)]);
        assert!(states.iter().all(|state| *state == (100, 0, 0)), "{states:?}");
        let (states, learnt) = run(&[short, Row { sent: 60, ..short }]);
        assert_eq!((states[0].0, learnt.guessed), (60, 1));
    }

    #[test]
    fn sizes_that_nobody_told_are_the_median_of_their_kind() {
        let mut objects = Objects::new(12, 0, false);
        let of = |object, status, sent, media| Row { object, media, ..row(0, status, sent, Cache::Untold) };
        for object in 0..10 {
            objects.learn(&of(object, 200, 1_000 + u64::from(object), Media::Image as u8));
        }
        objects.learn(&of(10, 304, 0, Media::Image as u8));
        objects.learn(&of(11, 206, 9_000, Media::Image as u8));
        let learnt = objects.learnt();
        assert_eq!(learnt.guessed, 2);
        let guessed = objects.state(&of(10, 304, 0, 5)).size;
        assert!((900..1_100).contains(&guessed), "{guessed}");
        assert_eq!(objects.state(&of(11, 206, 9_000, 5)).size, 9_000);
    }

    #[test]
    fn lifetimes_are_bounded_by_hits_and_expiries() {
        let at = |seconds, cache| row(seconds, 200, 10, cache);
        let (_, learnt) = run(&[
            at(0, Cache::Miss),
            at(50, Cache::Hit),
            at(70, Cache::Expired),
            at(130, Cache::Revalidated),
        ]);
        let class = learnt.classes[0];
        assert_eq!((class.known, class.lifetime_s), (Known::Inferred, Some(54)));
        assert!((learnt.width.unwrap() - 60.0 / 50.0).abs() < 1e-9);
        let (_, never) = run(&(0..10).map(|n| at(n * 10, Cache::Miss)).collect::<Vec<_>>());
        assert_eq!((never.classes[0].storage, never.classes[0].known), (Storage::NoStore, Known::NeverHit));
        let logged = Row { lifetime_s: 3600, ..at(0, Cache::Miss) };
        let (_, learnt) = run(&[logged, at(50, Cache::Expired)]);
        assert_eq!((learnt.classes[0].known, learnt.classes[0].lifetime_s), (Known::Logged, Some(3600)));
    }

    #[test]
    fn an_object_is_its_best_answer() {
        let (states, learnt) = run(&[
            row(0, 500, 50, Cache::Untold),
            row(1, 404, 70, Cache::Untold),
            row(2, 200, 900, Cache::Untold),
        ]);
        assert_eq!(learnt.classes[0].status, 200);
        assert_eq!(states[2].0, 900);
        let (states, learnt) = run(&[row(0, 404, 70, Cache::Untold)]);
        assert_eq!((learnt.classes[0].status, states[0].0), (404, 70));
    }

    #[test]
    fn sixteen_bytes_an_object() {
        assert_eq!(size_of::<ObjectSlot>(), 16);
        for size in [0, 1, 7, 8, 9, 1000, 123_456, 1 << 39] {
            let middle = size_of_bucket(bucket(size));
            assert!(middle.abs_diff(size) <= size / 8 + 1, "{size} {middle}");
        }
    }

    #[test]
    fn more_classes_than_numbers_share_them() {
        let mut objects = Objects::new(300, 0, false);
        for object in 0..300 {
            let lifetime_s = if object < 150 { object * 10 } else { 5 };
            objects.learn(&Row { object, lifetime_s, ..row(0, 200, 10, Cache::Untold) });
        }
        let learnt = objects.learnt();
        assert_eq!(learnt.classes.len(), CLASSES);
        let state = objects.state(&Row { object: 149, ..row(0, 200, 10, Cache::Untold) });
        let lifetime = learnt.classes[usize::from(state.class)].lifetime_s.unwrap();
        assert!(lifetime.abs_diff(1490) <= 400, "{lifetime}");
    }
}
