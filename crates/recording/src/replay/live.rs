//! A live copy: lines of a log that still grows become requests one by one, with the moment at which each began.
//!
//! Start at [`LiveLog`]. Nothing of the log is kept but a table of objects' sizes, whose room is fixed: what is forgotten of it is counted.

use super::objects::{Laws, broken_off, nearest_power};
use super::sent::{accepted, good_beside, label, text_of};
use super::{Choice, Why};
use crate::entry::{Edge, Entry, Logged, Range, WHOLE_SECONDS};
use crate::format::{Format, RecordingLine};
use crate::import::UserBy;
use crate::import::clean::{self, Clean};
use crate::left_out::{LeftOut, Reason};
use crate::moment::{self, SECOND};
use crate::private::Privacy;
use crate::request::Request;
use crate::words::{Cache, Coding, Condition, Method, Storage, Version};
use foldhash::quality::FixedState;
use plan::data::{Data, Source};
use plan::draw::{fraction, hash};
use plan::site::{MAX_SIZE, ObjectClass, object_of_class};
use plan::{Address, AskedKind, Field, LiveFeed, LiveLine, LiveText, RequestOrder, RequestStep, Status};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hasher};
use std::time::Instant;

/// Objects whose size is remembered at once.
const REMEMBERED: usize = 1 << 20;
/// Size of an object of which nothing but parts has been seen.
const GUESSED: u64 = 10_000;
/// The longest lifetime that a class of its own tells, as a logarithm of seconds.
const LONGEST: u32 = 25;

/// Counts of a live copy.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Lines that were read.
    pub lines: u64,
    /// Requests that were taken.
    pub taken: u64,
    /// Lines that tell of no request, or cannot be read.
    pub left_out: LeftOut,
    /// Requests that are not sent, by reason.
    pub not_sent: BTreeMap<Why, u64>,
    /// Those whose moment within a whole second is invented.
    pub invented: u64,
    /// Those of which only the end is told.
    pub ended: u64,
    /// Conditional ones, which go without their condition.
    pub conditions: u64,
    /// Those that came by HTTP/2 or 3.
    pub versions: u64,
    /// Those whose URL has bytes that are no text, which go percent-encoded.
    pub encoded: u64,
    /// Those whose host nobody told.
    pub hosts: u64,
    /// Those for an object of which no whole answer has been seen: its size is a guess.
    pub guessed: u64,
    /// Those for an object whose size took the place of another one's in the table of sizes.
    pub forgotten: u64,
    /// Those whose object's lifetime was rounded to a power of two seconds.
    pub rounded: u64,
    /// Those with a status in the log that the origin does not give.
    pub statuses: u64,
}

/// Description of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ReplayKind {
    head: bool,
    reload: bool,
    cache: Cache,
    of: Of,
}

/// Traits that differ by what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Of {
    Object { validates: bool },
    Url { coding: Coding, ranged: bool, good: Good, cookie: bool },
}

/// Statuses that are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Good {
    Below400,
    Also4xx,
    Also5xx,
}

/// Takes lines of a log for requests that are sent again while the log grows.
pub struct LiveLog {
    choice: Choice,
    privacy: Privacy,
    user_by: UserBy,
    hasher: FixedState,
    kinds: HashMap<ReplayKind, u32>,
    listed: Vec<ReplayKind>,
    laws: Vec<Laws>,
    places: HashMap<Laws, u8>,
    sizes: Vec<Remembered>,
    counts: Counts,
    buffer: Vec<u8>,
}

/// The size of an object.
#[derive(Debug, Clone, Copy, Default)]
struct Remembered {
    key: u64,
    size: u64,
}

/// Why a line becomes no request.
enum Left {
    Out(Reason),
    NotSent(Why),
}

impl LiveLog {
    /// By this choice; its part, speed, copies and passes have no meaning here.
    pub fn new(choice: Choice, privacy: Privacy, user_by: UserBy) -> LiveLog {
        let hasher = FixedState::with_seed(privacy.seed());
        let listed = kinds(choice.made.is_some(), privacy.keep.cookie);
        let kinds = (0..).zip(&listed).map(|(place, kind)| (*kind, place)).collect();
        let laws = laws();
        let places = (0..).zip(&laws).map(|(place, laws)| (*laws, place)).collect();
        let remembered = if choice.made.is_some() { REMEMBERED } else { 0 };
        LiveLog {
            choice,
            privacy,
            user_by,
            hasher,
            kinds,
            listed,
            laws,
            places,
            sizes: vec![Remembered::default(); remembered],
            counts: Counts::default(),
            buffer: Vec::new(),
        }
    }

    /// All that was counted until now.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Descriptions of requests for objects.
    pub fn asked_kinds(&self) -> Vec<AskedKind> {
        let asked = |kind: &ReplayKind| AskedKind {
            head: kind.head,
            reload: kind.reload,
            validates: kind.of == Of::Object { validates: true },
            range: None,
            name: name(kind.cache),
        };
        self.listed.iter().map(asked).collect()
    }

    /// Laws of the objects, by class.
    pub fn classes(&self) -> Vec<ObjectClass> {
        self.laws.iter().map(Laws::class).collect()
    }

    /// The step that asks for URLs.
    pub fn step(&self, feed: &LiveFeed) -> RequestStep {
        // The path stands in the URL, behind its slash: targets hold no placeholders.
        let url = format!("http://{}/{{{{target|raw}}}}", self.choice.authority);
        let data = [
            ("target", LiveText::Target),
            ("host", LiveText::Host),
            ("cookie", LiveText::Cookie),
            ("range", LiveText::Range),
        ];
        let data = data.map(|(name, text)| Data::of(name, Source::Live { text, feed: feed.clone() }));
        RequestStep {
            requests: self.listed.iter().map(|kind| described(kind, &url)).collect(),
            order: RequestOrder::Live,
            templates: true,
            data: data.into(),
            ..RequestStep::default()
        }
    }

    /// Reads a line that came at this moment, in microseconds since 1970. `due`: when a request is due that began at such a moment.
    pub fn line(
        &mut self,
        format: &mut Format,
        line: &[u8],
        came_us: i64,
        due: impl FnOnce(i64) -> Instant,
    ) -> Option<LiveLine> {
        self.counts.lines += 1;
        let number = self.counts.lines;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut entry = Entry::default();
        match format.read(line, &mut entry) {
            Ok(RecordingLine::Entry) => {}
            Ok(RecordingLine::Directive) => return None,
            Err(_) if line.trim_ascii().is_empty() => return None,
            Err(misfit) => {
                let reason = if memchr::memchr(0, line).is_some() { Reason::Nul } else { Reason::Unparsed };
                self.counts.left_out.add(reason, "the log", number, misfit.column, line);
                return None;
            }
        }
        match self.request(&entry, came_us, due) {
            Ok(request) => {
                self.counts.taken += 1;
                Some(request)
            }
            Err(Left::Out(reason)) => {
                self.counts.left_out.add(reason, "the log", number, 0, line);
                None
            }
            Err(Left::NotSent(why)) => {
                *self.counts.not_sent.entry(why).or_default() += 1;
                None
            }
        }
    }

    /// Counts a line that was too long to be read.
    pub fn too_long(&mut self, line: &[u8]) {
        self.counts.lines += 1;
        self.counts.left_out.add(Reason::TooLong, "the log", self.counts.lines, 0, line);
    }

    fn request(
        &mut self,
        entry: &Entry<'_>,
        came_us: i64,
        due: impl FnOnce(i64) -> Instant,
    ) -> Result<LiveLine, Left> {
        let clean = Clean::of(entry).map_err(Left::Out)?;
        let begin_us = self.begin(entry, came_us).ok_or(Left::Out(Reason::Time))?;
        if clean.number.is_some() {
            return Err(Left::Out(Reason::NoObject));
        }
        let key = self.digest(&[&clean.host, &clean.target]);
        let request = Request {
            user: self.user(entry),
            object: key as u32,
            kind: clean.kind,
            status: entry.status.unwrap_or(200),
            sent: clean.sent,
            ..Request::default()
        };
        self.choice.takes(&request).map_err(Left::NotSent)?;
        if !matches!(clean.kind.method, Method::Get | Method::Head) {
            return Err(Left::NotSent(Why::Method));
        }
        self.count(&request);
        let due = due(begin_us);
        match self.choice.made {
            Some(_) => self.object(entry, &clean, key, request, due),
            None => self.url(entry, &clean, &request, due),
        }
    }

    /// The moment at which a request began.
    fn begin(&mut self, entry: &Entry<'_>, came_us: i64) -> Option<i64> {
        let Logged { us, resolution, edge } = entry.began.or(entry.time)?;
        if !(moment::EARLIEST..moment::LATEST).contains(&us) {
            return None;
        }
        let duration_us = entry.duration_us.map_or(0, |duration| duration as i64);
        let exact = if resolution >= WHOLE_SECONDS {
            // A line is written when the answer has been sent, so the moment at which it came tells more than its second.
            let expected = match edge {
                Edge::End => came_us,
                Edge::Begin => came_us - duration_us,
            };
            self.within(us, expected)
        } else {
            us
        };
        match (edge, entry.duration_us) {
            (Edge::Begin, _) => Some(exact),
            (Edge::End, Some(_)) => Some(exact - duration_us),
            (Edge::End, None) => {
                self.counts.ended += 1;
                Some(exact)
            }
        }
    }

    /// A moment within a second: the one that is expected, or where that lies outside, one at random.
    fn within(&mut self, second_us: i64, expected_us: i64) -> i64 {
        if (second_us..second_us + SECOND).contains(&expected_us) {
            return expected_us;
        }
        self.counts.invented += 1;
        second_us + (fraction(hash(self.choice.seed, self.counts.lines)) * SECOND as f64) as i64
    }

    fn digest(&self, parts: &[&[u8]]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        parts.iter().for_each(|part| {
            hasher.write_usize(part.len());
            hasher.write(part);
        });
        hasher.finish()
    }

    /// Who asked; where nobody knows, each request is one's own.
    fn user(&self, entry: &Entry<'_>) -> u64 {
        let parts: [&[u8]; 2] = match self.user_by {
            UserBy::AddressAndAgent => [entry.address.bytes, entry.agent.bytes],
            UserBy::Address => [entry.address.bytes, b""],
            UserBy::Connection => [entry.connection.bytes, b""],
            UserBy::Field(_) => [entry.user.bytes, b""],
        };
        if parts[0].is_empty() { hash(self.choice.seed, self.counts.lines) } else { self.digest(&parts) }
    }

    fn count(&mut self, request: &Request) {
        let lost = request.kind.condition != Condition::None
            && (self.choice.made.is_none() || request.status != 304);
        self.counts.conditions += u64::from(lost);
        let by_other = matches!(request.kind.version, Version::Http2 | Version::Http3);
        self.counts.versions += u64::from(by_other);
    }

    /// A request for a URL.
    fn url(
        &mut self,
        entry: &Entry<'_>,
        clean: &Clean<'_>,
        request: &Request,
        due: Instant,
    ) -> Result<LiveLine, Left> {
        self.buffer.clear();
        self.privacy.target(&clean.target, &mut self.buffer);
        let written = text_of(&self.buffer);
        let encoded = written.1;
        let target = written.0;
        let host = text_of(&clean.host).0;
        let host = if host.is_empty() { self.choice.authority.as_str().into() } else { host };
        let shown = format!("{host}{target}");
        if self.choice.excludes(shown.as_bytes()) {
            return Err(Left::NotSent(Why::Pattern));
        }
        if Address::parse(&format!("http://{shown}")).is_none() {
            return Err(Left::NotSent(Why::Url));
        }
        self.counts.encoded += u64::from(encoded);
        self.counts.hosts += u64::from(clean.host.is_empty());
        let range = Some(clean::range(entry)).filter(|range| *range != Range::default());
        let cookie = if self.privacy.keep.cookie { text_of(entry.cookie.bytes).0 } else { "".into() };
        let of = Of::Url {
            coding: request.kind.coding,
            ranged: range.is_some(),
            good: match request.status {
                400..=499 => Good::Also4xx,
                500..=599 => Good::Also5xx,
                _ => Good::Below400,
            },
            cookie: !cookie.is_empty(),
        };
        Ok(LiveLine {
            range: range.map(|range| [range.from, range.length]),
            target: target.strip_prefix('/').unwrap_or(&target).into(),
            host: host.into(),
            cookie: cookie.into(),
            ..self.bare(request, of, due)
        })
    }

    /// A request for an object of an origin that is built from the log.
    fn object(
        &mut self,
        entry: &Entry<'_>,
        clean: &Clean<'_>,
        key: u64,
        request: Request,
        due: Instant,
    ) -> Result<LiveLine, Left> {
        if self.choice.only.is_some() || self.choice.except.is_some() {
            let shown = [&clean.host[..], &clean.target].concat();
            if self.choice.excludes(&shown) {
                return Err(Left::NotSent(Why::Pattern));
            }
        }
        let missing = matches!(request.status, 404 | 410);
        let as_recorded = missing || matches!(request.status, 0 | 200..=299 | 304 | 499);
        self.counts.statuses += u64::from(!as_recorded);
        let size = self.size(entry, key, &request);
        let (lifetime_s, storage) = clean::lifetime(entry);
        let rounded_s = lifetime_s.map(|seconds| nearest_power(seconds).min(1 << LONGEST));
        self.counts.rounded += u64::from(rounded_s != lifetime_s);
        let lifetime_s = rounded_s.filter(|_| storage != Storage::NoStore);
        let class = self.places[&Laws { lifetime_s, storage, missing, changes: None }];
        let range = Some(clean::range(entry)).filter(|range| *range != Range::default());
        let of = Of::Object { validates: request.status == 304 };
        let line = self.bare(&request, of, due);
        Ok(LiveLine {
            // What has another size is another object, as it is another answer.
            object: object_of_class(class, hash(key, size) >> 8),
            size,
            broken_off: broken_off(&request, size),
            range: range.map(|range| [range.from, range.length]),
            ..line
        })
    }

    /// The size of an object: that of its last whole answer.
    fn size(&mut self, entry: &Entry<'_>, key: u64, request: &Request) -> u64 {
        let place = &mut self.sizes[key as usize % REMEMBERED];
        let is_whole = request.kind.method == Method::Get
            && !request.kind.aborted
            && !matches!(request.status, 0 | 206 | 304);
        let told = entry.size.or_else(|| request.sent().filter(|_| is_whole));
        if let Some(size) = told.map(|size| size.min(MAX_SIZE)) {
            self.counts.forgotten += u64::from(place.key != key && place.key != 0);
            *place = Remembered { key, size };
            return size;
        }
        if place.key == key {
            return place.size;
        }
        self.counts.guessed += 1;
        let range = clean::range(entry);
        let end = range.from.saturating_add(range.length);
        GUESSED.max(end).max(request.sent().unwrap_or(0)).min(MAX_SIZE)
    }

    /// A request without what it asks for.
    fn bare(&self, request: &Request, of: Of, due: Instant) -> LiveLine {
        let kind = ReplayKind {
            head: request.kind.method == Method::Head,
            reload: request.kind.reload,
            cache: request.kind.cache,
            of,
        };
        LiveLine {
            due,
            kind: self.kinds[&kind],
            object: 0,
            size: 0,
            broken_off: 0,
            range: None,
            target: "".into(),
            host: "".into(),
            cookie: "".into(),
        }
    }
}

fn name(cache: Cache) -> String {
    if cache == Cache::Untold { String::new() } else { label(cache) }
}

/// All kinds of requests that there may be.
fn kinds(objects: bool, cookies: bool) -> Vec<ReplayKind> {
    let both = [false, true];
    let mut of: Vec<Of> = Vec::new();
    if objects {
        of.extend(both.map(|validates| Of::Object { validates }));
    } else {
        for coding in Coding::ALL {
            for good in [Good::Below400, Good::Also4xx, Good::Also5xx] {
                for ranged in both {
                    let cookie = both.into_iter().filter(|cookie| cookies || !cookie);
                    of.extend(cookie.map(|cookie| Of::Url { coding: *coding, ranged, good, cookie }));
                }
            }
        }
    }
    let mut all = Vec::new();
    for of in of {
        for cache in Cache::ALL {
            for head in both {
                all.extend(both.map(|reload| ReplayKind { head, reload, cache: *cache, of }));
            }
        }
    }
    all
}

/// Laws of objects that have classes of their own.
fn laws() -> Vec<Laws> {
    let lifetimes = || [None, Some(0)].into_iter().chain((0..=LONGEST).map(|log| Some(1 << log)));
    let mut all = Vec::new();
    for missing in [false, true] {
        for storage in [Storage::Shared, Storage::Private] {
            all.extend(lifetimes().map(|lifetime_s| Laws { lifetime_s, storage, missing, changes: None }));
        }
        all.push(Laws { lifetime_s: None, storage: Storage::NoStore, missing, changes: None });
    }
    all
}

/// Requests of a kind as a step has them.
fn described(kind: &ReplayKind, url: &str) -> plan::Request {
    let Of::Url { coding, ranged, good, cookie } = kind.of else { return plan::Request::get(url) };
    let fields = [
        Some(Field::new("Host", "{{host|raw}}")),
        accepted(coding).map(|codings| Field::new("Accept-Encoding", codings)),
        ranged.then(|| Field::new("Range", "{{range|raw}}")),
        kind.reload.then(|| Field::new("Cache-Control", "no-cache")),
        cookie.then(|| Field::new("Cookie", "{{cookie}}")),
    ];
    plan::Request {
        method: if kind.head { "HEAD" } else { "GET" }.to_owned(),
        fields: fields.into_iter().flatten().collect(),
        statuses: match good {
            Good::Below400 => Vec::new(),
            Good::Also4xx => good_beside(Status::Class(4)),
            Good::Also5xx => good_beside(Status::Class(5)),
        },
        name: name(kind.cache),
        ..plan::Request::get(url)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Made;
    use super::*;
    use crate::moment::Zone;
    use crate::private::Keep;
    use std::time::Duration;

    const SECOND_US: i64 = 1_795_746_709_000_000;

    fn live(made: Option<Made>) -> LiveLog {
        let choice = Choice { made, authority: "target.invalid".to_owned(), ..Choice::default() };
        LiveLog::new(choice, Privacy::new(&[7; 32], Keep::default()), UserBy::default())
    }

    fn format(text: &str) -> Format {
        Format::parse(text, Zone::Fixed(0)).unwrap()
    }

    fn json(method: &str, status: u16, fields: &str) -> String {
        format!("{{\"t\":1795746709500,\"m\":\"{method}\",\"h\":\"shop.invalid\",\"s\":{status},{fields}}}")
    }

    const JSON: &str = "json:time=t,method=m,host=h,path=p,status=s,bytes=b,cache=c,duration_ms=d,range=r";

    #[test]
    fn a_moment_within_a_whole_second_is_that_at_which_the_line_came() {
        let mut live = live(None);
        let mut combined = format("combined");
        let line = "192.0.2.1 - - [27/Nov/2026:02:31:49 +0000] \"GET /a HTTP/1.1\" 200 7 \"-\" \"x\"";
        let began = Instant::now();
        let mut at = |came_us: i64| {
            let due = |us: i64| began + Duration::from_micros((us - SECOND_US) as u64);
            live.line(&mut combined, line.as_bytes(), came_us, due).unwrap().due - began
        };
        assert_eq!(at(SECOND_US + 250_000), Duration::from_millis(250));
        let late = at(SECOND_US + 7_000_000);
        assert!(late < Duration::from_secs(1), "{late:?}");
        assert_eq!((live.counts().invented, live.counts().taken), (1, 2));
    }

    #[test]
    fn requests_for_urls_keep_host_range_and_what_is_good() {
        let mut live = live(None);
        let mut json_format = format(JSON);
        let due = Instant::now();
        let mut read_as = |method: &str, fields: &str| {
            live.line(&mut json_format, json(method, 200, fields).as_bytes(), 0, |_| due)
        };
        let mut read = |fields: &str| read_as("GET", fields);
        let plain = read("\"p\":\"/a?id=1\",\"b\":10,\"c\":\"HIT\"").unwrap();
        assert_eq!((&*plain.host, plain.range), ("shop.invalid", None));
        assert!(plain.target.starts_with("a?id=") && &*plain.target != "a?id=1", "values are private");
        let part = read("\"p\":\"/a\",\"b\":10,\"r\":\"bytes=5-9\"").unwrap();
        assert_eq!(part.range, Some([5, 5]));
        assert!(read("\"p\":\"-\"").is_none());
        assert!(read_as("POST", "\"p\":\"/a\"").is_none());
        let step = live.step(&LiveFeed::new());
        let kinds = step.requests.to_vec();
        assert_eq!(kinds[plain.kind as usize].name, "recorded hit");
        assert!(kinds[part.kind as usize].fields.iter().any(|field| field.name == "Range"));
        let counts = live.counts();
        assert_eq!((counts.lines, counts.taken, counts.left_out.total()), (4, 2, 1));
        assert_eq!(counts.not_sent.get(&Why::Method), Some(&1));
    }

    #[test]
    fn objects_keep_their_size_until_another_whole_answer_tells_one() {
        let mut live = live(Some(Made::default()));
        let mut json_format = format(JSON);
        let due = Instant::now();
        let mut read = |status: u16, bytes: u64| {
            let line = json("GET", status, &format!("\"p\":\"/a\",\"b\":{bytes}"));
            live.line(&mut json_format, line.as_bytes(), 0, |_| due).unwrap()
        };
        let guessed = read(304, 0);
        let first = read(200, 500);
        let again = read(304, 0);
        let other = read(200, 600);
        assert_eq!([guessed.size, first.size, again.size, other.size], [GUESSED, 500, 500, 600]);
        assert!(
            first.object == again.object && first.object != other.object && guessed.object != first.object
        );
        assert!(live.asked_kinds()[again.kind as usize].validates);
        assert_eq!((live.counts().guessed, live.counts().forgotten), (1, 0));
        assert!(live.classes().len() <= plan::site::MAX_CLASSES);
    }
}
