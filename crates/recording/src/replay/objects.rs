//! Objects of an origin that is built from a recording: sizes, lifetimes, storage and changes are those of the log, addresses and bytes are made.
//!
//! An object's number at that origin holds its class, how often it was renewed, which of its forms it is, and its number in the recording.

use super::sent::label;
use super::{Choice, Due, Made, Renew, Why};
use crate::entry::Range as Bytes;
use crate::file::{Block, Class, Known};
use crate::request::Request;
use crate::words::{Cache, Condition, Method, Storage, Version};
use plan::site::{self, MAX_CLASSES, MAX_SIZE, object_of_class};
use plan::{AskedKind, AskedLine, AskedList, ListLine};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::time::Duration;

/// Facts of a recording that an origin has to be told, and counts of what it does otherwise.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OfOrigin {
    /// Laws of its objects, by class.
    pub classes: Vec<site::ObjectClass>,
    /// Requests for objects whose lifetime is known, by how it is.
    pub lifetimes: BTreeMap<Known, u64>,
    /// Requests that the log has with another status than the origin will answer.
    pub statuses: u64,
    /// Requests for objects whose size has changed: each has its last one.
    pub sizes: u64,
    /// Requests for a part that the log does not tell: they ask for the whole object.
    pub parts: u64,
    /// Requests for objects whose laws were rounded, since there are more than the number of an object can name.
    pub rounded: u64,
}

/// Traits that requests have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ObjectKind {
    head: bool,
    reload: bool,
    validates: bool,
    range: Option<Bytes>,
    cache: Cache,
}

/// Facts that have been seen of an object.
#[derive(Debug, Clone, Copy, Default)]
struct SeenObject {
    /// The last size of each of its forms.
    sizes: [u64; 2],
    /// How often it has changed.
    changes: u16,
    /// Its size was another one before.
    resized: bool,
}

impl Made {
    /// True if a request asks for another object in each pass.
    pub(super) fn renews(self, request: &Request) -> bool {
        match self.renew {
            Renew::All => true,
            Renew::OneTimers => request.once,
            Renew::None => false,
        }
    }
}

/// All that has been found out of a recording's objects.
pub(super) struct Objects<'a> {
    choice: &'a Choice,
    made: Made,
    classes: Vec<Class>,
    objects: Vec<SeenObject>,
    kinds: HashMap<ObjectKind, u32>,
    described: Vec<AskedKind>,
    /// Objects that are left out.
    pub excluded: HashMap<u32, Why>,
}

/// Laws of an object before there are too many of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Laws {
    pub lifetime_s: Option<u32>,
    pub storage: Storage,
    pub missing: bool,
    /// Logarithm of the seconds between two changes.
    pub changes: Option<u8>,
}

impl<'a> Objects<'a> {
    pub fn new(choice: &'a Choice, made: Made, classes: &[Class]) -> Objects<'a> {
        let classes = classes.to_vec();
        Objects {
            choice,
            made,
            classes,
            objects: Vec::new(),
            kinds: HashMap::new(),
            described: Vec::new(),
            excluded: HashMap::new(),
        }
    }

    /// The line of a block's row.
    ///
    /// # Errors
    /// The reason for which it is not sent.
    pub fn line(&mut self, block: &Block, row: usize) -> Result<ListLine, Why> {
        let request = &block.rows[row];
        if !matches!(request.kind.method, Method::Get | Method::Head) {
            return Err(Why::Method);
        }
        if let Some(why) = self.excluded.get(&request.object) {
            return Err(*why);
        }
        self.see(request);
        let kind = ObjectKind {
            head: request.kind.method == Method::Head,
            reload: request.kind.reload,
            validates: request.status == 304,
            range: block.range(row),
            cache: request.kind.cache,
        };
        let described = &mut self.described;
        let place = *self.kinds.entry(kind).or_insert_with(|| {
            described.push(AskedKind {
                head: kind.head,
                reload: kind.reload,
                validates: kind.validates,
                range: kind.range.map(|range| [range.from, range.length]),
                name: if kind.cache == Cache::Untold { String::new() } else { label(kind.cache) },
            });
            described.len() as u32 - 1
        });
        Ok(ListLine { url: request.object, kind: place })
    }

    fn see(&mut self, request: &Request) {
        let place = request.object as usize;
        if self.objects.len() <= place {
            self.objects.resize(place + 1, SeenObject::default());
        }
        let object = &mut self.objects[place];
        let form = usize::from(request.variant & 1);
        object.resized |= object.sizes[form] != 0 && object.sizes[form] != request.size;
        object.sizes[form] = request.size.min(MAX_SIZE);
        object.changes = object.changes.max(request.version);
    }

    /// The requests that are due, with the laws of their objects. `span_us`: length of the recording.
    pub fn list(self, due: &[Due], requests: &[Request], span_us: u64) -> DueList {
        let mut of_origin = OfOrigin::default();
        let laws = |request: &Request| self.laws(request, span_us);
        let numbers = numbered(requests.iter().map(laws));
        let mut lines = Vec::with_capacity(due.len());
        for due in due {
            let request = &requests[due.seen as usize];
            let found = laws(request);
            let class = numbers.of(&found);
            of_origin.rounded += u64::from(numbers.laws[class] != found);
            self.count(&mut of_origin, request, found, &self.described[due.line.kind as usize]);
            lines.push(self.line_of(due, request, class as u8));
        }
        of_origin.classes = numbers.laws.iter().map(|laws| laws.class()).collect();
        DueList { lines, kinds: self.described, of_origin }
    }

    /// The class of a request in the recording; one that was cut tells none.
    fn class(&self, request: &Request) -> Class {
        let untold = Class { status: 200, ..Class::default() };
        self.classes.get(usize::from(request.class)).copied().unwrap_or(untold)
    }

    /// Laws of a request's object.
    fn laws(&self, request: &Request, span_us: u64) -> Laws {
        let class = self.class(request);
        let scale = if self.made.scale_lifetimes { self.choice.speed } else { 1.0 };
        let lifetime_s = class.lifetime_s.map(|seconds| (f64::from(seconds) / scale).round() as u32);
        let object = self.objects[request.object as usize];
        let every_s = |changes: u16| span_us as f64 / 1e6 / self.choice.speed / f64::from(changes);
        let changes = Some(object.changes).filter(|changes| *changes > 0);
        Laws {
            lifetime_s,
            storage: class.storage,
            missing: matches!(class.status, 404 | 410),
            changes: changes.map(|changes| every_s(changes).max(1.0).log2().round() as u8),
        }
    }

    fn count(&self, of_origin: &mut OfOrigin, request: &Request, laws: Laws, kind: &AskedKind) {
        let class = self.class(request);
        *of_origin.lifetimes.entry(class.known).or_default() += 1;
        let as_recorded = match request.status {
            404 | 410 => laws.missing,
            200..=299 | 304 => !laws.missing,
            // Nothing was answered, or nobody knows.
            0 => true,
            _ => false,
        };
        of_origin.statuses += u64::from(!as_recorded);
        of_origin.sizes += u64::from(self.objects[request.object as usize].resized);
        of_origin.parts += u64::from(request.status == 206 && kind.range.is_none());
    }

    fn line_of(&self, due: &Due, request: &Request, class: u8) -> AskedLine {
        let generation = if self.made.renews(request) { u64::from(due.pass) } else { 0 };
        let form = request.variant & 1;
        let number = generation << 33 | u64::from(form) << 32 | u64::from(request.object);
        let size = self.objects[request.object as usize].sizes[usize::from(form)];
        AskedLine {
            object: object_of_class(class, number),
            size,
            kind: due.line.kind,
            broken_off: broken_off(request, size),
        }
    }
}

/// The requests that are due, of which lists are made.
pub(super) struct DueList {
    /// The requests.
    pub lines: Vec<AskedLine>,
    kinds: Vec<AskedKind>,
    /// Laws of their objects.
    pub of_origin: OfOrigin,
}

impl DueList {
    /// A list of some of the lines.
    pub fn list(&self, some: Range<usize>) -> AskedList {
        AskedList::new(self.kinds.clone(), self.lines[some].to_vec())
    }

    /// Counts of what is asked for otherwise than it was.
    pub fn changed(requests: &[&Request]) -> super::Changed {
        let count = |is: &dyn Fn(&Request) -> bool| requests.iter().filter(|request| is(request)).count();
        let lost = |request: &Request| request.kind.condition != Condition::None && request.status != 304;
        let version = |request: &Request| matches!(request.kind.version, Version::Http2 | Version::Http3);
        super::Changed {
            conditions: count(&lost) as u64,
            versions: count(&version) as u64,
            ..super::Changed::default()
        }
    }
}

/// Where the client went away, in ten thousandths of the body; 0: it did not, or nobody knows where.
pub(super) fn broken_off(request: &Request, size: u64) -> u16 {
    match request.sent().filter(|sent| request.kind.aborted && *sent < size) {
        Some(sent) => ((sent as f64 / size as f64 * 1e4) as u16).clamp(1, 9_999),
        None => 0,
    }
}

/// Laws with their numbers.
struct Numbered {
    laws: Vec<Laws>,
    /// Of laws that have none of their own: the number of those that are nearest.
    places: HashMap<Laws, usize>,
}

impl Numbered {
    fn of(&self, laws: &Laws) -> usize {
        self.places.get(laws).copied().unwrap_or(0)
    }
}

/// Numbers laws. Where there are too many, lifetimes are rounded to powers of two; where there still are, the rarest ones become what is
/// stored alike and lives nearly as long.
fn numbered(of_requests: impl Iterator<Item = Laws>) -> Numbered {
    let mut counts: BTreeMap<Laws, u64> = BTreeMap::new();
    of_requests.for_each(|laws| *counts.entry(laws).or_default() += 1);
    let rounded = |laws: &Laws| match counts.len() <= MAX_CLASSES {
        true => *laws,
        false => Laws { lifetime_s: laws.lifetime_s.map(nearest_power), ..*laws },
    };
    let mut kept: BTreeMap<Laws, u64> = BTreeMap::new();
    counts.iter().for_each(|(laws, count)| *kept.entry(rounded(laws)).or_default() += count);
    let mut kept: Vec<(Laws, u64)> = kept.into_iter().collect();
    kept.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    kept.truncate(MAX_CLASSES);
    let all: Vec<Laws> = kept.into_iter().map(|(laws, _)| laws).collect();
    let places = counts.keys().map(|laws| (*laws, nearest(&all, &rounded(laws)))).collect();
    Numbered { laws: all, places }
}

pub(super) fn nearest_power(seconds: u32) -> u32 {
    if seconds < 2 { seconds } else { 1 << (f64::from(seconds).log2().round() as u32).min(31) }
}

/// Place of the laws that are nearest to these.
fn nearest(all: &[Laws], laws: &Laws) -> usize {
    let log = |seconds: Option<u32>| seconds.map_or(0.0, |seconds| (f64::from(seconds) + 1.0).log2());
    let apart = |one: &Laws| {
        let alike = [
            one.storage == laws.storage,
            one.missing == laws.missing,
            one.lifetime_s.is_some() == laws.lifetime_s.is_some(),
        ];
        let unlike = alike.into_iter().filter(|is| !is).count() as f64;
        let changes = |laws: &Laws| f64::from(laws.changes.unwrap_or(32));
        unlike * 1e3
            + (log(one.lifetime_s) - log(laws.lifetime_s)).abs()
            + (changes(one) - changes(laws)).abs()
    };
    let order = (0..all.len()).min_by(|one, other| apart(&all[*one]).total_cmp(&apart(&all[*other])));
    order.unwrap_or(0)
}

impl Laws {
    pub fn class(&self) -> site::ObjectClass {
        site::ObjectClass {
            lifetime: self.lifetime_s.map(|seconds| Duration::from_secs(seconds.into())),
            storage: match self.storage {
                Storage::Shared => site::Storage::Shared,
                Storage::Private => site::Storage::Private,
                Storage::NoStore => site::Storage::NoStore,
            },
            change_every: self.changes.map(|log| Duration::from_secs(1 << log.min(31))),
            missing: self.missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laws(lifetime_s: Option<u32>, storage: Storage) -> Laws {
        Laws { lifetime_s, storage, missing: false, changes: None }
    }

    #[test]
    fn laws_have_numbers_of_their_own_until_there_are_too_many() {
        let few: Vec<Laws> = (0..100).map(|seconds| laws(Some(seconds), Storage::Shared)).collect();
        let numbers = numbered(few.iter().copied());
        assert!(few.iter().all(|one| numbers.laws[numbers.of(one)] == *one));
        let stored =
            |seconds: u32| if seconds.is_multiple_of(2) { Storage::Shared } else { Storage::Private };
        let many: Vec<Laws> = (0..5_000).map(|seconds| laws(Some(seconds * 7), stored(seconds))).collect();
        let numbers = numbered(many.iter().copied());
        assert!(numbers.laws.len() <= MAX_CLASSES);
        for one in &many[1..] {
            let found = numbers.laws[numbers.of(one)];
            assert_eq!(found.storage, one.storage);
            let factor = f64::from(found.lifetime_s.unwrap()) / f64::from(one.lifetime_s.unwrap());
            assert!((0.7..1.5).contains(&factor), "{one:?}: {found:?}");
        }
    }

    #[test]
    fn the_rarest_laws_become_others_that_are_stored_alike() {
        let of = |changes: u8, missing| Laws {
            lifetime_s: Some(60),
            storage: if missing { Storage::Private } else { Storage::Shared },
            missing,
            changes: Some(changes),
        };
        let many: Vec<Laws> = (0..=200).map(|log| of(log, log % 2 == 0)).collect();
        let numbers = numbered(many.iter().copied());
        assert_eq!(numbers.laws.len(), MAX_CLASSES);
        assert!(many.iter().all(|one| {
            let found = numbers.laws[numbers.of(one)];
            (found.storage, found.missing) == (one.storage, one.missing)
        }));
    }

    #[test]
    fn who_went_away_goes_again_at_the_same_part_of_the_body() {
        let mut request = Request { size: 1_000, sent: 250, ..Request::default() };
        assert_eq!(broken_off(&request, 1_000), 0);
        request.kind.aborted = true;
        assert_eq!(broken_off(&request, 1_000), 2_500);
        request.sent = 0;
        assert_eq!(broken_off(&request, 1_000), 1);
        request.sent = 1_000;
        assert_eq!(broken_off(&request, 1_000), 0);
    }
}
